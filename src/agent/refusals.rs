//! The log of the requests for a transaction that are refused. A till that repeats its request must not fill the log.
//! The same kind of refusal is therefore logged once a minute for each till, with the number of those in between.

use std::mem::{Discriminant, discriminant, take};
use std::time::Duration;

use crate::till::Refused;
use pos_terms::card::mask_pans;

/// The shortest interval between two lines about the same kind of refusal at the same till.
const AGAIN: Duration = Duration::from_secs(60);
/// The greatest number of refusals that are remembered. A terminal has few tills, and a till few faults at a time.
const REMEMBERED: usize = 8;

/// The refusals of the last minute.
#[derive(Debug, Default)]
pub(super) struct RefusalLog(Vec<LoggedRefusal>);

#[derive(Debug)]
struct LoggedRefusal {
    till: String,
    kind: Discriminant<Refused>,
    at: Duration,
    /// The number of refusals since then.
    unlogged: u32,
}

impl RefusalLog {
    /// Logs a refusal, unless the last minute had the same one. A refused reference may be a card number.
    pub(super) fn note(&mut self, (till, reference): (&str, &str), refused: &Refused, now: Duration) {
        if let Some(unlogged) = self.unlogged(till, discriminant(refused), now) {
            let [reference, why] = [reference, &refused.to_string()].map(mask_pans);
            tracing::warn!(reference, till, unlogged, why, "a transaction was refused");
        }
    }

    /// If a refusal is to be logged, returns the number of earlier ones that were not.
    fn unlogged(&mut self, till: &str, kind: Discriminant<Refused>, now: Duration) -> Option<u32> {
        let known = self.0.iter_mut().find(|logged| logged.till == till && logged.kind == kind);
        match known {
            Some(logged) if now.saturating_sub(logged.at) < AGAIN => {
                logged.unlogged = logged.unlogged.saturating_add(1);
                None
            }
            Some(logged) => {
                logged.at = now;
                Some(take(&mut logged.unlogged))
            }
            None => {
                if self.0.len() == REMEMBERED {
                    self.0.remove(0);
                }
                self.0.push(LoggedRefusal { till: till.to_owned(), kind, at: now, unlogged: 0 });
                Some(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_refusal_is_logged_once_a_minute_for_each_till() {
        let mut log = RefusalLog::default();
        let [busy, off] = [Refused::BusyElsewhere, Refused::TrainingOff].map(|refused| discriminant(&refused));
        let mut said = |till: &str, kind, s| log.unlogged(till, kind, Duration::from_secs(s));
        assert_eq!(said("local", busy, 5), Some(0));
        assert_eq!((said("local", busy, 6), said("local", busy, 64)), (None, None));
        assert_eq!((said("local", off, 64), said("till-1", busy, 64)), (Some(0), Some(0)));
        assert_eq!(said("local", busy, 65), Some(2), "a minute has passed");
        assert_eq!((said("local", busy, 66), said("local", busy, 125)), (None, Some(1)));
        // More tills than are remembered cannot fill the memory.
        for till in 0..100 {
            assert_eq!(said(&till.to_string(), busy, 126), Some(0));
        }
        assert_eq!(log.0.len(), REMEMBERED);
    }
}
