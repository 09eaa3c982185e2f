//! Limits the number of requests (behaviour: Limits): the requests per second of the gateway's clock, or a number of
//! next requests at any time. A throttled request is not processed. Requests with the same operation name are counted
//! together.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

/// The counter of requests.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    per_second: Option<u32>,
    second: i64,
    taken: HashMap<&'static str, u32>,
    next: u32,
}

impl Throttle {
    pub(super) fn new(per_second: Option<u32>) -> Self {
        Self { per_second, ..Self::default() }
    }

    /// Throttles the next requests, regardless of the rate.
    pub(super) fn next(&mut self, requests: u32) {
        self.next = requests;
    }

    /// Counts a request to `operation`, and returns whether it exceeds the limit.
    pub(super) fn refuses(&mut self, operation: &'static str, now: DateTime<Utc>) -> bool {
        if self.next > 0 {
            self.next -= 1;
            return true;
        }
        let Some(most) = self.per_second else { return false };
        if self.second != now.timestamp() {
            self.second = now.timestamp();
            self.taken.clear();
        }
        let taken = self.taken.entry(operation).or_default();
        *taken = taken.saturating_add(1);
        *taken > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_has_its_share_and_the_next_ones_can_be_named() {
        let at = |second| DateTime::from_timestamp(second, 0).unwrap();
        let mut throttle = Throttle::new(Some(2));
        let refused: Vec<bool> =
            [5, 5, 5, 6, 6, 6].into_iter().map(|second| throttle.refuses("all", at(second))).collect();
        assert_eq!(refused, [false, false, true, false, false, true]);
        assert!(!throttle.refuses("query", at(6)), "another operation has its own count");
        let mut throttle = Throttle::new(None);
        assert!((0..1000).all(|_| !throttle.refuses("all", at(5))));
        throttle.next(2);
        assert_eq!([0; 3].map(|_| throttle.refuses("all", at(5))), [true, true, false]);
    }
}
