//! Checks any lines as what an uplink reads: cursors of the server, and answers of the agent. The uplink never asks for
//! what is after the last entry. Whatever the agent answers, the messages about it can be sent.

use std::time::{Duration, Instant};

use pos_fleet_terms::{Ack, Batch, LARGEST, Metrics, State, VALUES, read, write};
use pos_till_api::Entries;
use pos_uplink::choose::Kinds;
use pos_uplink::cursor::{Cursor, Next};
use pos_uplink::shown;
use serde_json::{Value, from_slice, to_vec};

/// The journal of the terminal, as the seeds name it.
const JOURNAL: &str = "5f0c7d1e";
/// The greatest number of lines. More would only be slow.
const MOST_LINES: usize = 100;

/// Checks that the conditions above hold for these bytes.
#[allow(clippy::disallowed_methods, reason = "any time will do")]
pub fn holds(bytes: &[u8]) {
    let mut now = Instant::now();
    let mut cursor = Cursor::connected(JOURNAL, now);
    let mut last = 0;
    for line in bytes.split(|byte| *byte == b'\n').take(MOST_LINES) {
        // Time passes and the journal grows with each line, by a number that the fuzzer chooses.
        let size = line.len() % 400;
        now += Duration::from_secs(size as u64);
        last += size as i64 % 20;
        if let Ok(ack) = read::<Ack>(line) {
            cursor.heard(&ack, now);
            assert!(cursor.acked().is_none_or(|acked| acked >= 0));
        }
        match cursor.next(last, now) {
            Next::Send { after } => {
                assert!((0..last).contains(&after), "after {after} of {last}");
                cursor.sent(last.min(after + 10), now);
            }
            Next::Wait(until) => assert!(until.is_none_or(|until| until > now)),
            Next::Reconnect => cursor = Cursor::connected(JOURNAL, now),
        }
        if let Ok(entries) = from_slice::<Entries>(line) {
            batches(&entries);
        }
        if let Ok(status) = from_slice::<Value>(line) {
            let (state, info) = (shown::with_status(State::default(), &status), shown::info(&status));
            assert_eq!(read(&write(&state).expect("a state")), Ok(state));
            assert_eq!(read(&write(&info).expect("an info")), Ok(info));
        }
    }
    if let Ok(text) = str::from_utf8(bytes) {
        let values = shown::values(text);
        assert!(values.iter().all(|(name, value)| VALUES.contains(&name.as_str()) && *value >= 0.0));
        let metrics = Metrics { at: String::new(), values };
        assert_eq!(read(&write(&metrics).expect("metrics")), Ok(metrics));
    }
}

/// Checks that a batch has the first of the entries, and that the broker takes it.
fn batches(entries: &Entries) {
    for kinds in [Kinds::Outcomes, Kinds::All] {
        let batch = kinds.batch(0, entries.clone());
        assert!(batch.entries.len() <= Batch::MOST && batch.entries.is_empty() == entries.entries.is_empty());
        for (sent, had) in batch.entries.iter().zip(&entries.entries) {
            assert_eq!((sent.entry, &sent.hash), (had.entry, &had.hash));
        }
        let is_plain = batch.journal.len() <= 64 && batch.entries.iter().all(|entry| entry.hash.len() <= 64);
        assert!(!is_plain || to_vec(&batch).expect("JSON").len() <= LARGEST);
    }
}
