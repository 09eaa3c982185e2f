//! Whose turn it is: who has much to say must not keep the others from being heard.
//!
//! What is ready is taken in the order of importance, but each source has so many turns in a round only; a round is
//! over when nobody who is ready has one left, so that each moment of rest begins a new one. So a source that is ready
//! waits for a bounded number of turns, whatever the others do.

/// Turns of a source in a round. A sale has a handful of events on its way at one time: it never waits for this.
pub(super) const EACH: u8 = 8;

/// The sources of the loop, the most important one first. The watchdog has no part in it: it is due a few times a
/// minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Answers of tasks of our own: the gateway's among them.
    Tasks,
    /// The reader.
    Reader,
    /// Deadlines.
    Time,
    /// Tills.
    Tills,
    /// Printers.
    Printers,
}

/// How many turns each source has taken in this round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Round([u8; 5]);

impl Round {
    /// Whether the source has a turn left.
    pub(super) fn has(self, source: Source) -> bool {
        self.0[source as usize] < EACH
    }

    /// It takes one.
    pub(super) fn take(&mut self, source: Source) {
        self.0[source as usize] += 1;
    }

    /// Whether anybody has had a turn.
    pub(super) fn is_used(self) -> bool {
        self != Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Source; 5] = [Source::Tasks, Source::Reader, Source::Time, Source::Tills, Source::Printers];

    /// The turns that are taken while these sources are always ready.
    fn turns(ready: &[Source], count: usize) -> Vec<Source> {
        let mut round = Round::default();
        let mut taken = Vec::new();
        while taken.len() < count {
            match ready.iter().find(|source| round.has(**source)) {
                Some(source) => {
                    round.take(*source);
                    taken.push(*source);
                }
                None => {
                    assert!(round.is_used());
                    round = Round::default();
                }
            }
        }
        taken
    }

    #[test]
    fn nobody_who_is_ready_waits_longer_than_the_others_turns() {
        let most = usize::from(EACH) * (ALL.len() - 1);
        for source in ALL {
            let taken = turns(&ALL, 10_000);
            let waits = taken.split(|taken| *taken == source).map(<[Source]>::len).max().unwrap();
            assert!(waits <= most, "{source:?} waited for {waits} turns");
        }
        // A reader that floods, and a till.
        let taken = turns(&[Source::Reader, Source::Tills], 100);
        assert_eq!(taken.iter().position(|taken| *taken == Source::Tills), Some(usize::from(EACH)));
    }

    #[test]
    fn the_more_important_one_is_first() {
        assert_eq!(turns(&ALL, 1), [Source::Tasks]);
        assert_eq!(turns(&[Source::Reader, Source::Tills], 3), [Source::Reader; 3]);
    }
}
