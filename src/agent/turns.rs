//! Fair turns: a busy source must not prevent the others from being served.
//!
//! Ready sources are served in order of importance, but each has a limited number of turns per round. A round ends when
//! no ready source has a turn left, so each idle moment starts a new round. A ready source therefore waits for a
//! limited number of turns, however busy the others are.

/// The number of turns per source in a round. A transaction has only a few events at a time, so it never reaches this
/// limit.
pub(super) const EACH: u8 = 8;

/// The sources of the loop, the most important one first. The watchdog is not included because it is due only a few
/// times a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Results of the agent's own tasks, including the gateway's answers.
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

/// The turns that each source has taken in this round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Round([u8; 5]);

impl Round {
    /// Returns whether the source has a turn left.
    pub(super) fn has(self, source: Source) -> bool {
        self.0[source as usize] < EACH
    }

    /// Counts one turn of the source.
    pub(super) fn take(&mut self, source: Source) {
        self.0[source as usize] += 1;
    }

    /// Returns whether any turn was taken.
    pub(super) fn is_used(self) -> bool {
        self != Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Source; 5] = [Source::Tasks, Source::Reader, Source::Time, Source::Tills, Source::Printers];

    /// Returns the turns taken while these sources are always ready.
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
        // A reader floods the loop while a till waits.
        let taken = turns(&[Source::Reader, Source::Tills], 100);
        assert_eq!(taken.iter().position(|taken| *taken == Source::Tills), Some(usize::from(EACH)));
    }

    #[test]
    fn the_more_important_one_is_first() {
        assert_eq!(turns(&ALL, 1), [Source::Tasks]);
        assert_eq!(turns(&[Source::Reader, Source::Tills], 3), [Source::Reader; 3]);
    }
}
