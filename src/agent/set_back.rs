//! A floor that was written by a clock gone wrong, and who may take it away.
//!
//! The journal's latest time keeps an earlier clock from being believed. When the board's clock was ahead for a moment,
//! that time is one that nobody else ever said. So when the reader's clock and the gateway's `Date` agree on an earlier
//! one, that is the time: it is written into the book, and then believed. Both must say so, within five minutes of each
//! other, and neither may be before this program was built: who has the gateway's line alone, or the reader's, sets
//! nothing back. The reader's clock can only be a witness as long as it is not set by the clock that it is to bear
//! witness against: see [`Clock::for_the_reader`]. It is set as soon as the gateway confirms the board's, in whichever
//! order reader and gateway are heard: a reader whose clock was never set bears witness of nothing after a restart.
//!
//! By the false time the gateway's certificate may have ended. So the probe, which shows no token, holds it against the
//! reader's time instead ([`Clock::doubted`]); everything else goes on holding it against the floor. An impostor would
//! need the key of a certificate that has really ended, and the reader's clock as well.
//!
//! [`Clock::for_the_reader`]: super::clock::Clock::for_the_reader
//! [`Clock::doubted`]: super::clock::Clock::doubted

use super::Agent;

/// Who says so, in the book.
const BY: &str = "the reader's clock and the gateway's";

impl Agent {
    /// Sets the clock back when its witnesses agree; cheap when there is nothing to do.
    pub(super) fn look_at_the_clocks(&mut self) {
        let Some(now_unix_ms) = self.clock.agreed_earlier().filter(|_| self.journal.fault.is_none()) else { return };
        let set_back = match self.journal.set_clock_back(now_unix_ms, BY) {
            Ok(set_back) => set_back,
            // What was in the way is none of its latest any more.
            Err(pos_journal::Error::ClockStays { .. }) => return self.clock.set_back(now_unix_ms),
            Err(error) => return self.journal_is_faulty(&error),
        };
        self.clock.set_back(now_unix_ms);
        for active in self.sales.open.values_mut() {
            active.sale.clock_was_set_back(now_unix_ms);
        }
        let text = format!(
            "the journal had a record of {}, and the reader's clock and the gateway's agree that it is {}: that record was written by a clock \
             that was ahead, and is no reason any more to take no sale",
            super::clock::said(set_back.latest_unix_ms),
            super::clock::said(now_unix_ms)
        );
        tracing::warn!("{text}");
        self.announce("clock-set-back", &text);
    }
}
