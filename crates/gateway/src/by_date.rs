//! The query by `date.from` and `date.to`, which finds the gateway references that the gateway knows in a period. The
//! search halves each time window until the window has fewer entries than a query may return. This module performs no
//! I/O: it names the next query and reads the answer.
//!
//! Assumed, because the interface is silent:
//! - a window includes both its ends, and its smallest step is a second;
//! - the dates are in the time zone of [`crate::config::Assumptions::query_date_zone`];
//! - a list that is shorter than `limit` is complete.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike};
use serde_json::Value;

use super::answer::text_at;
use crate::config::Assumptions;

/// The `limit` of a query. It is the interface's minimum, which keeps an answer small (interface: Query parameters).
const LIMIT: usize = 100;
/// The `limit` for a second with more entries. It is the interface's maximum.
const GREATEST_LIMIT: usize = 500;
/// The maximum number of seconds that the search may skip because they have too many entries. If there are more such
/// seconds, the gateway is assumed to ignore the dates.
const MOST_PASSED_OVER: usize = 4;
/// The maximum number of queries in one search. It is enough for a year of a busy entity, and it ends a search whose
/// answers never get shorter.
const MOST_ASKED: usize = 4096;
/// The maximum number of kept references, which are only those that the journal does not know. A terminal creates fewer
/// while its journal is lost.
const MOST_FOUND: usize = 10_000;

/// A window in seconds since 1970, including both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    from: i64,
    to: i64,
    limit: usize,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The references, without duplicates.
    pub references: Vec<String>,
    /// The reason why references may be missing: a second has more entries than a query returns.
    pub incomplete: Option<String>,
}

/// A running search.
pub(super) struct Search {
    /// The prefix of the references of each requested terminal.
    prefixes: Vec<String>,
    open: Vec<Window>,
    asked: usize,
    found: BTreeSet<String>,
    /// The seconds that were skipped.
    passed_over: Vec<i64>,
}

impl Search {
    /// Starts a search for the references of these terminals, between two times in milliseconds since 1970.
    pub(super) fn new(terminal_ids: &BTreeSet<String>, from_unix_ms: i64, to_unix_ms: i64) -> Self {
        let (from, to) = (from_unix_ms.div_euclid(1000), to_unix_ms.div_euclid(1000));
        let open = if from <= to { vec![Window { from, to, limit: LIMIT }] } else { Vec::new() };
        let prefixes = terminal_ids.iter().map(|id| format!("{id}-")).collect();
        Self { prefixes, open, asked: 0, found: BTreeSet::new(), passed_over: Vec::new() }
    }

    /// Returns the next window to query, or `None` if all windows are answered.
    ///
    /// # Errors
    /// Returns an error if the search has reached its maximum number of queries.
    pub(super) fn next(&mut self) -> Result<Option<Window>, String> {
        let Some(window) = self.open.pop() else { return Ok(None) };
        self.asked += 1;
        if self.asked > MOST_ASKED {
            return Err(format!(
                "the gateway has more transactions in this time than {MOST_ASKED} queries by date can list; check that \
                 the gateway heeds date.from and date.to at query-path in [gateway.assumptions], or set query-by-date \
                 = false"
            ));
        }
        Ok(Some(window))
    }

    /// Processes the answer for a window, and returns the references in it that belong to the terminals.
    ///
    /// # Errors
    /// Returns an error if too many windows are too short to be halved.
    pub(super) fn take(&mut self, window: Window, entries: &[Value]) -> Result<Vec<String>, String> {
        let Window { from, to, limit } = window;
        if entries.len() >= limit && from < to {
            let middle = from + (to - from) / 2;
            // The search takes the last window first, so the earlier half is next.
            self.open.extend([Window { from: middle + 1, to, limit }, Window { from, to: middle, limit }]);
            return Ok(Vec::new());
        }
        if entries.len() >= limit && limit < GREATEST_LIMIT {
            self.open.push(Window { from, to, limit: GREATEST_LIMIT });
            return Ok(Vec::new());
        }
        if entries.len() >= limit {
            self.passed_over.push(from);
        }
        if self.passed_over.len() > MOST_PASSED_OVER {
            return Err(format!(
                "the gateway answers the query by date with {limit} entries or more for each of several seconds; check \
                 that the gateway heeds date.from and date.to, or set query-by-date = false in [gateway.assumptions]"
            ));
        }
        let references = entries.iter().filter_map(|entry| text_at(entry, "/merchantTransactionId"));
        let ours = |text: &&str| self.prefixes.iter().any(|prefix| text.starts_with(prefix));
        Ok(references.filter(ours).map(str::to_owned).collect())
    }

    /// Keeps these references.
    ///
    /// # Errors
    /// Returns an error if there are too many.
    pub(super) fn keep(&mut self, references: Vec<String>) -> Result<(), String> {
        self.found.extend(references);
        if self.found.len() > MOST_FOUND {
            return Err(format!(
                "the gateway knows more than {MOST_FOUND} references of this terminal that the journal does not know"
            ));
        }
        Ok(())
    }

    /// Returns the kept references, without duplicates, and whether the list may be incomplete.
    pub(super) fn finish(self) -> Found {
        let incomplete = self.passed_over.first().map(|second| {
            let second = DateTime::from_timestamp(*second, 0).map_or_else(String::new, |at| at.to_rfc3339());
            format!(
                "the gateway has {GREATEST_LIMIT} or more transactions in the second {second} and does not list all"
            )
        });
        Found { references: self.found.into_iter().collect(), incomplete }
    }
}

impl Window {
    /// Returns the window as query parameters.
    ///
    /// # Errors
    /// Returns an error if the interface has no date for the time.
    pub(super) fn parameters(self, assumptions: &Assumptions) -> Result<[(&'static str, String); 3], String> {
        let zone = assumptions.query_date_zone.offset();
        let written = |unix_s: i64| {
            let date = DateTime::from_timestamp(unix_s, 0).map(|utc| utc.with_timezone(&zone).naive_local());
            let date = date.filter(|date| (1..=9999).contains(&date.year()));
            let date = date.ok_or_else(|| format!("{unix_s} seconds since 1970 is not a date that a query accepts"))?;
            Ok::<_, String>(date.format("%Y-%m-%d %H:%M:%S").to_string())
        };
        Ok([("date.from", written(self.from)?), ("date.to", written(self.to)?), ("limit", self.limit.to_string())])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::config::Zone;

    /// Returns the answer of a gateway with these (second, reference) pairs, at most `limit` of them.
    fn answered(bank: &[(i64, String)], window: Window) -> Vec<Value> {
        let within = bank.iter().filter(|(at, _)| (window.from..=window.to).contains(at));
        within.take(window.limit).map(|(_, reference)| json!({ "merchantTransactionId": reference })).collect()
    }

    /// Starts a search for the references of one terminal.
    fn for_one(from_ms: i64, to_ms: i64) -> Search {
        Search::new(&BTreeSet::from(["4711".to_owned()]), from_ms, to_ms)
    }

    fn searched(bank: &[(i64, String)], from_ms: i64, to_ms: i64) -> Result<Vec<String>, String> {
        let found = all_searched(bank, from_ms, to_ms)?;
        assert_eq!(found.incomplete, None);
        Ok(found.references)
    }

    fn all_searched(bank: &[(i64, String)], from_ms: i64, to_ms: i64) -> Result<Found, String> {
        let mut search = for_one(from_ms, to_ms);
        while let Some(window) = search.next()? {
            let found = search.take(window, &answered(bank, window))?;
            search.keep(found)?;
        }
        Ok(search.finish())
    }

    #[test]
    fn only_this_terminals_references_are_found_and_each_once() {
        let entries: Vec<Value> = ["4711-1-a", "4711-1-a", "47110-1-b", "4711", "x-4711-1"]
            .iter()
            .map(|reference| json!({ "merchantTransactionId": reference }))
            .chain([json!({}), json!({ "merchantTransactionId": 7 })])
            .collect();
        let mut search = for_one(0, 0);
        let window = search.next().unwrap().unwrap();
        let found = search.take(window, &entries).unwrap();
        search.keep(found).unwrap();
        assert_eq!(search.next(), Ok(None));
        assert_eq!(search.finish().references, ["4711-1-a"]);
        assert_eq!(searched(&[(1, "4711-1".to_owned())], 5000, 4000), Ok(Vec::new()), "an empty span");
        let mut of_two = Search::new(&["4711", "471"].map(str::to_owned).into(), 0, 0);
        let window = of_two.next().unwrap().unwrap();
        let list = ["4711-1-a", "471-2-b", "47-3-c"].map(|reference| json!({ "merchantTransactionId": reference }));
        assert_eq!(of_two.take(window, &list), Ok(vec!["4711-1-a".to_owned(), "471-2-b".to_owned()]));
    }

    #[test]
    fn a_second_with_more_than_the_interface_lists_is_passed_over_by_name_and_the_others_are_not() {
        let mut bank: Vec<_> = (0..500).map(|n| (7, format!("4711-{n}"))).collect();
        assert_eq!(searched(&bank[1..], 0, 100_000).map(|found| found.len()), Ok(499), "all that one answer lists");
        bank.extend([(6, "4711-before".to_owned()), (9, "4711-behind".to_owned())]);
        let found = all_searched(&bank, 0, 100_000).unwrap();
        assert_eq!(found.references.len(), 502, "what is listed counts");
        let why = found.incomplete.unwrap();
        assert!(why.contains("1970-01-01T00:00:07") && why.contains("500"), "{why}");
    }

    #[test]
    fn a_gateway_that_ignores_the_dates_is_an_error() {
        let full: Vec<Value> = (0..GREATEST_LIMIT).map(|_| json!({})).collect();
        let mut search = for_one(0, i64::MAX);
        let error = loop {
            let window = search.next().unwrap().unwrap();
            if let Err(error) = search.take(window, &full[..window.limit]) {
                break error;
            }
        };
        assert!(search.asked < 100 && error.contains("query-by-date = false"), "{error}");
    }

    #[test]
    fn there_is_an_end_to_questions_and_to_what_is_kept() {
        // Each second has a payment of another terminal.
        let mut search = for_one(0, 400_000_000);
        let error = loop {
            match search.next() {
                Ok(window) => {
                    let window = window.unwrap();
                    let seconds = usize::try_from(window.to - window.from + 1).unwrap();
                    let strangers = vec![json!({ "merchantTransactionId": "x-1" }); seconds.min(LIMIT)];
                    search.take(window, &strangers).unwrap();
                }
                Err(error) => break error,
            }
        };
        assert!(error.contains("4096 queries"), "{error}");
        let mut search = for_one(0, 400_000_000);
        let mut take = |numbers: std::ops::Range<usize>| {
            let ours: Vec<_> = numbers.map(|n| json!({ "merchantTransactionId": format!("4711-{n}") })).collect();
            let found = search.take(Window { from: 0, to: 0, limit: LIMIT }, &ours).unwrap();
            search.keep(found)
        };
        (0..100).for_each(|part| take(part * 99..part * 99 + 99).unwrap());
        assert_eq!(take(9_900..9_999).map(|()| take(9_999..10_000)), Ok(Ok(())));
        assert!(take(10_000..10_001).unwrap_err().contains("10000 references"));
    }

    /// Checks that a terminal whose clock was a year ahead asks about a whole year.
    #[test]
    fn what_the_journal_knows_is_not_kept_however_much_it_is() {
        let mut search = for_one(0, 400_000_000);
        for part in 0..1_000 {
            let ours: Vec<_> =
                (0..99).map(|n| json!({ "merchantTransactionId": format!("4711-{part}-{n}") })).collect();
            let found = search.take(Window { from: 0, to: 0, limit: LIMIT }, &ours).unwrap();
            assert_eq!(found.len(), 99);
            search.keep(found.into_iter().filter(|one| one == "4711-500-7").collect()).unwrap();
        }
        assert_eq!(search.finish().references, ["4711-500-7"]);
    }

    #[test]
    fn dates_are_written_in_the_zone_of_the_settings() {
        let window = |from, to| Window { from, to, limit: LIMIT };
        let written = |zone: &str, from, to| {
            let query_date_zone = Zone::try_from(zone.to_owned()).unwrap();
            window(from, to).parameters(&Assumptions { query_date_zone, ..Assumptions::default() })
        };
        let plain = written("+00:00", 1_714_557_599, 1_714_557_600).unwrap();
        let named = |name, text: &str| (name, text.to_owned());
        assert_eq!(
            plain,
            [named("date.from", "2024-05-01 09:59:59"), named("date.to", "2024-05-01 10:00:00"), named("limit", "100")]
        );
        assert_eq!(written("+05:30", 1_714_557_599, 1_714_557_600).unwrap()[0].1, "2024-05-01 15:29:59");
        assert_eq!(written("-10:00", 0, 0).unwrap()[0].1, "1969-12-31 14:00:00");
        assert!(written("+00:00", 0, i64::MAX).is_err());
    }

    proptest! {
        #[test]
        fn all_of_a_span_and_nothing_beside_it_is_found(
            seconds in proptest::collection::vec(-500_i64..500, 0..400),
            from_ms in -600_000_i64..600_000,
            length_ms in 0_i64..900_000,
        ) {
            let bank: Vec<_> = seconds.iter().enumerate().map(|(n, at)| (*at, format!("4711-{n}"))).collect();
            let (from, to) = (from_ms.div_euclid(1000), (from_ms + length_ms).div_euclid(1000));
            let mut expected: Vec<_> =
                bank.iter().filter(|(at, _)| (from..=to).contains(at)).map(|(_, reference)| reference.clone()).collect();
            expected.sort();
            prop_assert_eq!(searched(&bank, from_ms, from_ms + length_ms), Ok(expected));
        }
    }
}
