//! Decides which entries are sent next. It neither sends nor reads, and gets the time from its caller.
//!
//! The server's cursor is the truth: the database holds every entry up to it. It comes after each connection, moves on
//! when the server has committed, and may go back when the database comes from a backup. The terminal sends again from
//! there, and never deletes anything because of it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use pos_fleet_terms::Ack;

/// The greatest number of batches that the server has not acknowledged.
const MOST_OPEN: usize = 4;
/// The wait for the server's cursor after a connection. Without one the server knows nothing of this terminal.
const FIRST_ACK: Duration = Duration::from_secs(5);
/// The time after which a repeated cursor means that a batch is lost. The server repeats a cursor before a gap.
const REPEATED: Duration = Duration::from_secs(20);
/// The time after which the batches without an acknowledgement are sent again. The broker may have lost them.
const SILENCE: Duration = Duration::from_secs(300);
/// The number of such times after which a new connection is made: the broker may have lost the subscription.
const MOST_SILENCES: u32 = 2;

/// The position in the journal.
#[derive(Debug)]
pub struct Cursor {
    journal: String,
    /// The server's cursor, absent until it is known in this connection.
    acked: Option<i64>,
    /// The server's connection from which it came.
    server: String,
    /// The next batch begins after this entry.
    position: i64,
    /// The last entries of the batches that the server has not acknowledged.
    open: VecDeque<i64>,
    /// The time of the connection, or of the last progress.
    since: Instant,
    /// The times that passed without a word of the server.
    silences: u32,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Read the entries after this one, and send them.
    Send {
        /// The number of the entry.
        after: i64,
    },
    /// Wait for the server or for new entries, at most until this time.
    Wait(Option<Instant>),
    /// Make a new connection.
    Reconnect,
}

impl Cursor {
    /// Begins a connection.
    #[must_use]
    pub fn connected(journal: &str, now: Instant) -> Self {
        Self {
            journal: journal.to_owned(),
            acked: None,
            server: String::new(),
            position: 0,
            open: VecDeque::new(),
            since: now,
            silences: 0,
        }
    }

    /// Hears the server's cursor.
    pub fn heard(&mut self, ack: &Ack, now: Instant) {
        let is_own = ack.journal == self.journal;
        // A terminal with the same identity hears its own cursors. They say nothing about this journal.
        if !is_own && self.acked.is_some() {
            return;
        }
        self.silences = 0;
        // At first, the cursor of another journal means that the server has nothing of this one.
        let number = if is_own { ack.number.max(0) } else { 0 };
        // What was sent to an earlier connection of the server may be lost.
        let is_new = is_own && ack.server != self.server;
        self.server.clone_from(&ack.server);
        match self.acked.filter(|_| !is_new || self.open.is_empty()) {
            Some(acked) if number > acked => {
                self.acked = Some(number);
                self.position = self.position.max(number);
                self.open.retain(|end| *end > number);
                self.since = now;
            }
            // Duplicates of one message arrive together. A cursor that is repeated later stands before a gap.
            Some(acked) if number == acked && (self.open.is_empty() || now < self.since + REPEATED) => {}
            _ => self.begin(number, now),
        }
    }

    /// Returns what to do, if `last` is the journal's last entry.
    pub fn next(&mut self, last: i64, now: Instant) -> Next {
        if self.acked.is_none() {
            if now < self.since + FIRST_ACK {
                return Next::Wait(Some(self.since + FIRST_ACK));
            }
            self.begin(0, now);
        }
        let ends = self.since + SILENCE;
        if !self.open.is_empty() && now >= ends {
            self.silences += 1;
            if self.silences >= MOST_SILENCES {
                return Next::Reconnect;
            }
            self.begin(self.acked.unwrap_or_default(), now);
        }
        let waits = (!self.open.is_empty()).then_some(self.since + SILENCE);
        match self.open.len() < MOST_OPEN && self.position < last {
            true => Next::Send { after: self.position },
            false => Next::Wait(waits),
        }
    }

    /// Records that a batch was sent.
    pub fn sent(&mut self, end: i64, now: Instant) {
        if self.open.is_empty() {
            self.since = now;
        }
        self.position = end;
        self.open.push_back(end);
    }

    /// Returns the server's cursor, if it is known.
    #[must_use]
    pub fn acked(&self) -> Option<i64> {
        self.acked
    }

    /// Sends again from this cursor. The first batch repeats the entry of the cursor itself: if the server has another
    /// hash for it, the two histories differ.
    fn begin(&mut self, number: i64, now: Instant) {
        self.acked = Some(number);
        self.position = (number - 1).max(0);
        self.open.clear();
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const JOURNAL: &str = "5f0c";

    #[allow(clippy::disallowed_methods, reason = "any time will do")]
    fn start_of_test() -> Instant {
        Instant::now()
    }

    fn ack(number: i64) -> Ack {
        Ack { journal: JOURNAL.to_owned(), number, server: "s1".to_owned() }
    }

    #[test]
    fn the_first_batch_waits_for_the_servers_cursor_and_repeats_its_entry() {
        let start = start_of_test();
        let mut cursor = Cursor::connected(JOURNAL, start);
        assert_eq!(cursor.next(50, start), Next::Wait(Some(start + FIRST_ACK)));
        cursor.heard(&ack(40), start);
        assert_eq!(cursor.next(50, start), Next::Send { after: 39 });
        cursor.sent(45, start);
        assert_eq!(cursor.next(50, start), Next::Send { after: 45 });
    }

    #[test]
    fn without_a_cursor_or_with_that_of_another_journal_it_begins_at_the_first_entry() {
        let start = start_of_test();
        let mut cursor = Cursor::connected(JOURNAL, start);
        assert_eq!(cursor.next(50, start + FIRST_ACK), Next::Send { after: 0 });
        let mut cursor = Cursor::connected(JOURNAL, start);
        let other = Ack { journal: "other".to_owned(), ..ack(40) };
        cursor.heard(&other, start);
        assert_eq!(cursor.next(50, start), Next::Send { after: 0 });
        // Later it is another terminal's.
        cursor.sent(50, start);
        cursor.heard(&other, start);
        assert_eq!(cursor.next(50, start), Next::Wait(Some(start + SILENCE)));
    }

    #[test]
    fn four_batches_are_open_at_most_and_an_acknowledgement_makes_room() {
        let start = start_of_test();
        let mut cursor = Cursor::connected(JOURNAL, start);
        cursor.heard(&ack(0), start);
        for end in [10, 20, 30, 40] {
            assert_eq!(cursor.next(90, start), Next::Send { after: end - 10 });
            cursor.sent(end, start);
        }
        assert_eq!(cursor.next(90, start), Next::Wait(Some(start + SILENCE)));
        cursor.heard(&ack(20), start);
        assert_eq!(cursor.next(90, start), Next::Send { after: 40 });
    }

    #[test]
    fn a_cursor_that_goes_back_or_stands_still_is_sent_again_from_there() {
        let start = start_of_test();
        let mut cursor = Cursor::connected(JOURNAL, start);
        cursor.heard(&ack(40), start);
        cursor.sent(60, start);
        // The database comes from a backup.
        cursor.heard(&ack(10), start);
        assert_eq!(cursor.next(60, start), Next::Send { after: 9 });
        cursor.sent(60, start);
        // The same message twice is no reason to send again.
        cursor.heard(&ack(10), start);
        assert_eq!(cursor.next(60, start), Next::Wait(Some(start + SILENCE)));
        // The server repeats it because of a gap.
        cursor.heard(&ack(10), start + REPEATED);
        assert_eq!(cursor.next(60, start + REPEATED), Next::Send { after: 9 });
        cursor.sent(60, start + REPEATED);
        // The server has connected again, and what was on its way is lost.
        cursor.heard(&Ack { server: "s2".to_owned(), ..ack(10) }, start + REPEATED);
        assert_eq!(cursor.next(60, start + REPEATED), Next::Send { after: 9 });
        cursor.sent(60, start + REPEATED);
        // The broker has lost everything, and no message says so.
        let late = start + REPEATED + SILENCE;
        assert_eq!(cursor.next(60, late), Next::Send { after: 9 });
        // It has lost the subscription too.
        cursor.sent(60, late);
        assert_eq!(cursor.next(60, late + SILENCE), Next::Reconnect);
    }

    #[test]
    fn a_server_that_has_more_than_the_journal_gets_nothing_but_the_comparison_later() {
        let start = start_of_test();
        let mut cursor = Cursor::connected(JOURNAL, start);
        cursor.heard(&ack(100), start);
        assert_eq!(cursor.next(60, start), Next::Wait(None));
        // A copy of the journal has grown past the cursor: entry 100 shows that it is another one.
        assert_eq!(cursor.next(100, start), Next::Send { after: 99 });
    }

    /// What happens to the terminal, the broker and the server.
    #[derive(Clone, Debug)]
    enum Event {
        /// The journal grows.
        Grows(u8),
        /// The terminal sends one batch of at most this many entries.
        Sends(u8),
        /// The broker delivers the oldest batch.
        Delivers,
        /// The broker loses what it has.
        Loses,
        /// The terminal hears the server's cursor.
        Hears,
        /// The connection breaks, and is made again.
        Reconnects,
        /// The database is replaced by a backup with this share of the entries, in eighths.
        Restores(u8),
        /// Time passes.
        Passes(u16),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            3 => (1..20_u8).prop_map(Event::Grows),
            6 => (1..30_u8).prop_map(Event::Sends),
            4 => Just(Event::Delivers),
            1 => Just(Event::Loses),
            4 => Just(Event::Hears),
            1 => Just(Event::Reconnects),
            1 => (0..8_u8).prop_map(Event::Restores),
            1 => (1..400_u16).prop_map(Event::Passes),
        ]
    }

    struct World {
        now: Instant,
        last: i64,
        cursor: Cursor,
        broker: VecDeque<(i64, i64)>,
        stored: BTreeSet<i64>,
    }

    impl World {
        fn servers_cursor(&self) -> i64 {
            (1..).take_while(|number| self.stored.contains(number)).last().unwrap_or(0)
        }

        fn happens(&mut self, event: &Event) {
            match *event {
                Event::Grows(by) => self.last += i64::from(by),
                Event::Sends(most) => match self.cursor.next(self.last, self.now) {
                    Next::Send { after } => {
                        let end = self.last.min(after + i64::from(most).max(2));
                        self.broker.push_back((after, end));
                        self.cursor.sent(end, self.now);
                    }
                    Next::Reconnect => self.happens(&Event::Reconnects),
                    Next::Wait(_) => {}
                },
                Event::Delivers => {
                    if let Some((after, end)) = self.broker.pop_front() {
                        self.stored.extend(after + 1..=end);
                    }
                }
                Event::Loses => self.broker.clear(),
                Event::Hears => self.cursor.heard(&ack(self.servers_cursor()), self.now),
                Event::Reconnects => self.cursor = Cursor::connected(JOURNAL, self.now),
                Event::Restores(eighths) => {
                    let left = self.servers_cursor() * i64::from(eighths) / 8;
                    self.stored.retain(|number| *number <= left);
                }
                Event::Passes(seconds) => self.now += Duration::from_secs(seconds.into()),
            }
        }
    }

    proptest! {
        /// Whatever was lost, repeated or restored: when the world is quiet again, the server gets every entry.
        #[test]
        fn the_server_gets_every_entry(events in prop::collection::vec(event(), 0..200)) {
            let now = start_of_test();
            let cursor = Cursor::connected(JOURNAL, now);
            let mut world = World { now, last: 0, cursor, broker: VecDeque::new(), stored: BTreeSet::new() };
            for event in &events {
                world.happens(event);
            }
            // At most one silence passes until a lost batch is sent again. Then each round makes progress.
            for _ in 0..4 * (world.last + 2) {
                for event in [Event::Sends(30), Event::Delivers, Event::Passes(30), Event::Hears] {
                    world.happens(&event);
                }
            }
            prop_assert_eq!(world.servers_cursor(), world.last);
        }
    }
}
