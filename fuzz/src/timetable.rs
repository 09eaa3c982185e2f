//! Checks any text as the timetable of a subscription. A text that the interface's table permits can be read. Its first
//! moment is not in the past, and the next one is later.

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use pos_gateway_model as parameter;
use pos_sim::gateway::Timetable;

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let form = parameter::find("job.expression").expect("it is a parameter of the interface").check(text);
    let mut fields: Vec<&str> = text.split(' ').collect();
    if fields.len() == 6 {
        fields.push("");
    }
    // A text that the table refuses is never read. It must still cause no panic, up to the longest field.
    let fields = <[&str; 7]>::try_from(fields).ok().filter(|fields| fields.iter().all(|field| field.len() <= 256));
    let read = fields.and_then(Timetable::read);
    assert!(form.is_err() || read.is_some(), "{text} has the right form and is no timetable");
    let from: DateTime<Utc> = DateTime::from_timestamp(1_795_000_000, 0).expect("a moment of 2026");
    let Some((table, first)) = read.and_then(|table| table.next_from(from).map(|first| (table, first))) else { return };
    assert!(first >= from && first.nanosecond() == 0);
    if let Some(second) = table.next_from(first + TimeDelta::seconds(1)) {
        assert!(second > first);
    }
}
