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

/// Returns orders of this many events. Each event directly follows each other event in at least one order. The same
/// number always gives the same orders.
pub(crate) fn all_orders(events: usize) -> Vec<Row> {
    let mut missing: BTreeSet<(usize, usize)> =
        (0..events).flat_map(|a| (0..events).filter(move |b| a != *b).map(move |b| (a, b))).collect();
    let mut orders = Vec::new();
    while let Some(&(first, second)) = missing.first() {
        let mut order = vec![first, second];
        let mut last = second;
        loop {
            // The event with the most missing followers is taken before it is at the end of an order.
            let followers = |event: usize| missing.iter().filter(|(a, b)| *a == event && !order.contains(b)).count();
            let left = (0..events).filter(|event| !order.contains(event));
            let Some(next) = left.max_by_key(|next| (missing.contains(&(last, *next)), followers(*next), *next)) else {
                break;
            };
            order.push(next);
            last = next;
        }
        missing.retain(|pair| !follows(&order, *pair));
        orders.push(order);
    }
    orders
}

fn follows(order: &[usize], (first, second): (usize, usize)) -> bool {
    order.windows(2).any(|pair| pair == [first, second])
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

#[test]
fn each_event_follows_each_other_one_and_there_are_few_orders() {
    for events in 2..12 {
        let orders = all_orders(events);
        for (a, b) in (0..events).flat_map(|a| (0..events).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            assert!(orders.iter().any(|order| follows(order, (a, b))), "{events}: {b} after {a}");
        }
        for order in &orders {
            let all: BTreeSet<_> = order.iter().copied().collect();
            assert_eq!((order.len(), all), (events, (0..events).collect()), "each event is once in an order");
        }
        // No set of orders can be smaller than the number of events.
        assert!(orders.len() < 2 * events, "{} orders of {events}", orders.len());
    }
}
