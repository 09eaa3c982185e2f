//! A small set of rows that contains each pair of values of any two factors. The rows find faults that two conditions
//! cause together, without trying all combinations.

use std::collections::BTreeSet;

/// The variable with a number N.
const EVERY: &str = "POS_FRONT_PAGE_EVERY";

/// Returns N of `POS_FRONT_PAGE_EVERY`. Only every Nth row of a table is tested, and with an N above 1 a sample of the
/// screens. If the variable is not set, N is 1.
pub(crate) fn every() -> usize {
    std::env::var(EVERY).map_or(1, |every| every.parse().expect("a number"))
}

/// The index of one value for each factor.
pub(crate) type Row = Vec<usize>;

/// A pair: a factor and its value, and a later factor and its value.
type Pair = (usize, usize, usize, usize);

/// Returns rows for factors with these numbers of values. Each row begins with a missing pair. For each other factor,
/// it then takes the value that covers the most missing pairs. The same factors always give the same rows.
pub(crate) fn all_pairs(sizes: &[usize]) -> Vec<Row> {
    let mut missing = pairs(sizes);
    let mut rows = Vec::new();
    while let Some(&(a, x, b, y)) = missing.first() {
        let mut row: Vec<Option<usize>> = vec![None; sizes.len()];
        (row[a], row[b]) = (Some(x), Some(y));
        for factor in 0..sizes.len() {
            if row[factor].is_some() {
                continue;
            }
            let met = |value: usize| {
                let mut with = row.clone();
                with[factor] = Some(value);
                missing.iter().filter(|pair| holds(&with, pair)).count()
            };
            // Of equally good values, the next one in rotation is taken. No value is therefore preferred, and no two
            // factors change together.
            let turn = rows.len() / (factor + 1) % sizes[factor];
            let value = (0..sizes[factor]).max_by_key(|value| (met(*value), *value == turn));
            row[factor] = value;
        }
        missing.retain(|pair| !holds(&row, pair));
        rows.push(row.into_iter().flatten().collect());
    }
    rows
}

fn pairs(sizes: &[usize]) -> BTreeSet<Pair> {
    let mut all = BTreeSet::new();
    for (a, &of_a) in sizes.iter().enumerate() {
        for (b, &of_b) in sizes.iter().enumerate().skip(a + 1) {
            all.extend((0..of_a).flat_map(|x| (0..of_b).map(move |y| (a, x, b, y))));
        }
    }
    all
}

fn holds(row: &[Option<usize>], &(a, x, b, y): &Pair) -> bool {
    row[a] == Some(x) && row[b] == Some(y)
}

#[test]
fn each_pair_is_in_a_row_and_there_are_few_rows() {
    for sizes in [vec![2, 2], vec![18, 5, 2, 2, 2], vec![3, 3, 3, 3], vec![1, 7, 4]] {
        let rows = all_pairs(&sizes);
        for (a, x, b, y) in pairs(&sizes) {
            assert!(rows.iter().any(|row| row[a] == x && row[b] == y), "{sizes:?}: {a}={x} with {b}={y}");
        }
        assert!(rows.iter().all(|row| row.iter().zip(&sizes).all(|(value, size)| value < size)), "{rows:?}");
        let mut largest = sizes.clone();
        largest.sort_unstable();
        let least: usize = largest.iter().rev().take(2).product();
        assert!(rows.len() <= least + least / 2 + 2, "{} rows for {sizes:?}", rows.len());
    }
}
