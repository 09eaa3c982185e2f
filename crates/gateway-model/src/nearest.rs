//! Finds the known name that is nearest to an unknown one. It is probably the intended name.

use super::{Names, all, name};

/// Returns the nearest name, if at most a third of its characters differ.
#[must_use]
pub fn nearest(given: &str, names: &Names) -> Option<String> {
    if given.len() > name::LONGEST {
        return None;
    }
    let given: Vec<char> = skeleton(given).to_lowercase().chars().collect();
    let mut best: Option<(usize, String)> = None;
    for parameter in all() {
        let known = spelled(&parameter.name(), names);
        let letters: Vec<char> = skeleton(&known).to_lowercase().chars().collect();
        let allowed = best.as_ref().map_or(letters.len().div_ceil(3), |(distance, _)| distance.saturating_sub(1));
        if letters.len().abs_diff(given.len()) > allowed {
            continue;
        }
        let distance = distance(&given, &letters);
        if distance <= allowed && best.as_ref().is_none_or(|(before, _)| distance < *before) {
            best = Some((distance, known));
        }
    }
    best.map(|(_, known)| known)
}

/// Returns the table's name, with the names of the wallets filled in.
fn spelled(known: &str, names: &Names) -> String {
    let mut out = known.to_owned();
    for (placeholder, wallet) in name::WALLETS.iter().zip(&names.wallets) {
        out = out.replace(placeholder, wallet);
    }
    out
}

/// Removes the content of brackets.
fn skeleton(name: &str) -> String {
    let mut inside = false;
    name.chars()
        .filter(|c| {
            inside = match c {
                '[' => true,
                ']' => false,
                _ => inside,
            };
            !inside || *c == '['
        })
        .collect()
}

/// Returns the number of letters to add, remove or change (Levenshtein distance).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != y)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}
