//! What a `result.code` means, by the prefix lists of the settings (design: Reading the interface documents).
//!
//! The interface does not show the catalogue of codes. A code that no list knows, or that does not look like `000.000.000`,
//! means nothing.

use crate::config::Assumptions;

/// What a list says about a code; which HTTP status must come with it is decided by the reader of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Not processed: too many requests.
    Throttled,
    /// Approved.
    Approved,
    /// Not decided yet.
    Pending,
    /// Declined or refused.
    Declined,
}

/// The first list, in the order throttled, approved, pending, declined, that has a prefix of `code`.
pub(super) fn class(code: &str, assumptions: &Assumptions) -> Option<Class> {
    if !is_code(code) {
        return None;
    }
    let lists = [
        (&assumptions.throttled, Class::Throttled),
        (&assumptions.approved, Class::Approved),
        (&assumptions.pending, Class::Pending),
        (&assumptions.declined, Class::Declined),
    ];
    // An empty prefix would match everything; it is taken as a slip.
    let known = |list: &[String]| list.iter().any(|prefix| !prefix.is_empty() && code.starts_with(prefix.as_str()));
    lists.into_iter().find(|(list, _)| known(list)).map(|(_, class)| class)
}

/// Three groups of three digits with dots between.
fn is_code(code: &str) -> bool {
    code.len() == 11
        && code.bytes().enumerate().all(|(n, byte)| if n == 3 || n == 7 { byte == b'.' } else { byte.is_ascii_digit() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_matched_by_the_documented_defaults() {
        let assumptions = Assumptions::default();
        for (code, expected) in [
            ("800.120.100", Some(Class::Throttled)),
            ("800.120.101", Some(Class::Declined)),
            ("000.000.000", Some(Class::Approved)),
            ("000.100.110", Some(Class::Approved)),
            ("000.300.000", Some(Class::Approved)),
            ("000.600.000", Some(Class::Approved)),
            ("000.200.000", Some(Class::Pending)),
            // A chargeback's code (behaviour: Errors) is no approval.
            ("000.100.201", None),
            ("000.400.000", None),
            ("100.100.101", Some(Class::Declined)),
            ("700.400.580", Some(Class::Declined)),
            ("800.100.152", Some(Class::Declined)),
            ("900.100.100", None),
            ("810.100.100", None),
            ("", None),
            ("000.000.0", None),
            ("000.000.0000", None),
            ("000-000-000", None),
            ("000.000.00x", None),
            ("000.000.٠0", None),
        ] {
            assert_eq!(class(code, &assumptions), expected, "{code}");
        }
    }

    #[test]
    fn an_empty_prefix_matches_nothing() {
        let assumptions = Assumptions { approved: vec![String::new()], ..Assumptions::default() };
        assert_eq!(class("900.100.100", &assumptions), None);
    }
}
