//! Checks any bytes as what a terminal sends: a topic in the first line, then a message. A topic is written again as it
//! was read. A message that is read keeps its bounds, and is read the same when it is written again.

use pos_fleet_terms::{Batch, Info, MessageError, Metrics, State, Topic, read, write};
use serde_json::to_value;

use super::is_same;

/// The bounds of a message, in entries and in characters. The crate's own tests check the exact ones.
const MOST: usize = 32;
const LONGEST: usize = 500;

/// Reads the bytes as a message, checks its bounds, and reads it again.
macro_rules! holds_as {
    ($message:ty, $bytes:expr, $is_bounded:expr) => {
        if let Ok(first) = read::<$message>($bytes) {
            let is_bounded: fn(&$message) -> bool = $is_bounded;
            assert!(is_bounded(&first), "{first:?}");
            match write(&first) {
                Ok(written) => {
                    let second = read::<$message>(&written).expect("what was written can be read");
                    let (first, second) = (to_value(first).expect("JSON"), to_value(second).expect("JSON"));
                    assert!(is_same(&first, &second), "{first} became {second}");
                }
                // The fields that were absent have made it longer.
                Err(error) => assert!(matches!(error, MessageError::TooLong(_)), "{error}"),
            }
        }
    };
}

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (topic, message) = end.map_or((bytes, bytes), |end| (&bytes[..end], &bytes[end + 1..]));
    if let Some((text, topic)) = str::from_utf8(topic).ok().and_then(|text| Some((text, text.parse::<Topic>().ok()?))) {
        assert_eq!(topic.to_string(), text);
    }
    holds_as!(State, message, |state| {
        let texts = state.faults.iter().flat_map(|fault| [&fault.code, &fault.text]).chain([&state.boot, &state.hash]);
        state.faults.len() <= MOST && is_short(texts)
    });
    holds_as!(Info, message, |info| {
        let texts = [&info.uplink, &info.agent, &info.terminal_id, &info.currency, &info.reader_serial];
        info.merchant.len() <= MOST && is_short(texts.into_iter().chain(&info.merchant))
    });
    holds_as!(Metrics, message, |metrics| metrics.values.len() <= MOST && is_short(metrics.values.keys()));
    holds_as!(Batch, message, |batch| {
        let numbers = || batch.entries.iter().map(|entry| entry.entry);
        (1..=Batch::MOST).contains(&batch.entries.len())
            && batch.after >= 0
            && std::iter::once(batch.after).chain(numbers()).is_sorted_by(|one, next| one < next)
            && numbers().next_back() == Some(batch.last())
            && batch.entries.iter().all(|entry| entry.hash.len() == 64)
    });
}

fn is_short<'a>(texts: impl IntoIterator<Item = &'a String>) -> bool {
    texts.into_iter().all(|text| text.chars().count() <= LONGEST)
}
