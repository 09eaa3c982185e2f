//! Too many requests (behaviour: Limits): so many in each second of the gateway's clock, or the next few whatever the time.
//! A throttled request is not processed.

use chrono::{DateTime, Utc};

/// Who counts.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    per_second: Option<u32>,
    second: i64,
    taken: u32,
    next: u32,
}

impl Throttle {
    pub(super) fn new(per_second: Option<u32>) -> Self {
        Self { per_second, ..Self::default() }
    }

    /// Throttles the next requests, whatever the rate.
    pub(super) fn next(&mut self, requests: u32) {
        self.next = requests;
    }

    /// Counts a request; whether it is one too many.
    pub(super) fn refuses(&mut self, now: DateTime<Utc>) -> bool {
        if self.next > 0 {
            self.next -= 1;
            return true;
        }
        let Some(most) = self.per_second else { return false };
        if self.second != now.timestamp() {
            (self.second, self.taken) = (now.timestamp(), 0);
        }
        self.taken = self.taken.saturating_add(1);
        self.taken > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_has_its_share_and_the_next_ones_can_be_named() {
        let at = |second| DateTime::from_timestamp(second, 0).unwrap();
        let mut throttle = Throttle::new(Some(2));
        let refused: Vec<bool> = [5, 5, 5, 6, 6, 6].into_iter().map(|second| throttle.refuses(at(second))).collect();
        assert_eq!(refused, [false, false, true, false, false, true]);
        let mut throttle = Throttle::new(None);
        assert!((0..1000).all(|_| !throttle.refuses(at(5))));
        throttle.next(2);
        assert_eq!([throttle.refuses(at(5)), throttle.refuses(at(5)), throttle.refuses(at(5))], [true, true, false]);
    }
}
