//! The meaning of a `result.code`, according to the configured lists (design: Reading the interface documents).
//!
//! The interface does not show the catalogue of codes, only their form: two to eleven digits and dots. A code that is
//! on no list has no meaning at any HTTP status. The default lists cover only codes of the form `000.000.000`.

use crate::config::Assumptions;

/// The meaning of a code, which its list defines. The module that reads the answer decides which HTTP status the code
/// needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Not processed: too many requests.
    Throttled,
    /// Pending, uncertain or a system error: the gateway may have carried out the request.
    Uncertain,
    /// Approved.
    Approved,
    /// Not decided yet.
    Pending,
    /// Declined or refused.
    Declined,
}

/// Returns the class of the first list that contains `code`. The order is throttled, uncertain, approved, pending,
/// declined.
pub(super) fn class(code: &str, assumptions: &Assumptions) -> Option<Class> {
    let lists = [
        (&assumptions.throttled, Class::Throttled),
        (&assumptions.uncertain, Class::Uncertain),
        (&assumptions.approved, Class::Approved),
        (&assumptions.pending, Class::Pending),
        (&assumptions.declined, Class::Declined),
    ];
    let known = |list: &[String]| is_code(code) && Assumptions::is_listed(list, code);
    lists.into_iter().find(|(list, _)| known(list)).map(|(_, class)| class)
}

/// Checks whether a code with HTTP 400 means that the request itself is invalid and was not processed. The lists that
/// say more about the money take precedence.
pub(super) fn is_invalid_request(code: &str, assumptions: &Assumptions) -> bool {
    let goes_first = class(code, assumptions).is_some_and(|class| class != Class::Declined);
    !goes_first && is_code(code) && Assumptions::is_listed(&assumptions.invalid_request, code)
}

/// Checks whether a code that is on no other list means "declined" when HTTP 400 comes with it.
pub(super) fn is_declined_at_400(code: &str, assumptions: &Assumptions) -> bool {
    class(code, assumptions).is_none() && is_code(code) && Assumptions::is_listed(&assumptions.declined_at_400, code)
}

/// Checks that a code consists of two to eleven digits and dots (interface: Errors).
fn is_code(code: &str) -> bool {
    (2..=11).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
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
            // A chargeback's code (behaviour: Errors) is not an approval.
            ("000.100.201", None),
            ("000.400.000", None),
            ("100.100.101", Some(Class::Declined)),
            ("700.400.580", Some(Class::Declined)),
            ("800.100.152", Some(Class::Declined)),
            ("900.100.100", Some(Class::Uncertain)),
            ("100.400.500", Some(Class::Uncertain)),
            ("800.500.110", Some(Class::Uncertain)),
            ("800.800.400", Some(Class::Uncertain)),
            ("800.800.300", Some(Class::Declined)),
            ("810.100.100", None),
            ("", None),
            ("000.000.0", None),
            ("000.000.0000", None),
            ("000-000-000", None),
            ("000.000.00x", None),
            ("000.000.٠0", None),
            ("00", None),
            ("1", None),
            ("10", None),
            ("000.000.", None),
            ("100.400", None),
            ("12345678901", None),
        ] {
            assert_eq!(class(code, &assumptions), expected, "{code}");
        }
    }

    #[test]
    fn an_invalid_request_is_told_by_its_list() {
        let default = Assumptions::default();
        let invalid = |code: &str, assumptions: &Assumptions| is_invalid_request(code, assumptions);
        for (code, expected) in
            [("200.300.404", true), ("200.100.101", true), ("100.100.303", false), ("200", false), ("2", false)]
        {
            assert_eq!(invalid(code, &default), expected, "{code}");
        }
        // The lists that say more about the money take precedence.
        let listed = Assumptions { invalid_request: vec!["9".to_owned(), "000.".to_owned()], ..default };
        assert!(!invalid("900.100.100", &listed) && !invalid("000.000.000", &listed));
        assert!(!invalid("200.300.404", &listed));
    }

    #[test]
    fn an_empty_entry_matches_nothing() {
        let assumptions = Assumptions { approved: vec![String::new()], ..Assumptions::default() };
        assert_eq!(class("810.100.100", &assumptions), None);
        assert_eq!(class("", &assumptions), None);
    }

    #[test]
    fn an_unusual_code_is_known_when_it_is_listed_whole() {
        let list = |codes: &[&str]| codes.iter().map(|code| (*code).to_owned()).collect();
        let assumptions = Assumptions {
            approved: list(&["00", "12.34", "000.000."]),
            declined: list(&["05", "1"]),
            declined_at_400: list(&["05", "96", "800.120.100"]),
            ..Assumptions::default()
        };
        for (code, expected) in [
            ("00", Some(Class::Approved)),
            ("12.34", Some(Class::Approved)),
            ("05", Some(Class::Declined)),
            ("000", None),
            ("00.", None),
            ("100.100.100", Some(Class::Declined)),
            ("001.100.100", None),
        ] {
            assert_eq!(class(code, &assumptions), expected, "{code}");
        }
        // The code keeps the meaning from the other list.
        let at_400 = ["05", "96", "800.120.100"].map(|code| is_declined_at_400(code, &assumptions));
        assert_eq!(at_400, [false, true, false]);
    }
}
