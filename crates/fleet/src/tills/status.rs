//! The status of a terminal, in the form of its own interface. The server knows only what the terminal has sent, and
//! says when that was.

use std::time::SystemTime;

use pos_fleet_terms::{Fault, Id, Info, Metrics, State};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio_postgres::{Client, Row};

use super::answer::rfc3339;

/// A terminal repeats its state each 600 s. After this time it is silent.
const SILENT_S: u64 = 900;
/// The states of a reader that begin with the same word as a fault.
const READER: [&str; 4] = ["absent", "other-device", "not-listed", "no-keys"];

/// What is known of a terminal.
#[derive(Debug, Default)]
pub(super) struct KnownTerminal {
    online: bool,
    seen: Option<SystemTime>,
    state: State,
    info: Info,
    metrics: Metrics,
}

/// Reads what is known of a terminal, `None` if nothing is.
pub(super) async fn known(client: &Client, terminal: &Id) -> Result<Option<KnownTerminal>, tokio_postgres::Error> {
    let select = "select online, seen, state, info, metrics from terminal where terminal = $1";
    let row = client.query_opt(select, &[&terminal.as_str()]).await?;
    Ok(row.map(|row| KnownTerminal {
        online: row.get(0),
        seen: row.get::<_, Option<OffsetDateTime>>(1).map(SystemTime::from),
        state: value(&row, 2),
        info: value(&row, 3),
        metrics: value(&row, 4),
    }))
}

/// Reads a value that the store has written. A later version's may be another one, and is then left out.
fn value<V: DeserializeOwned + Default>(row: &Row, at: usize) -> V {
    row.get::<_, Option<Value>>(at).and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

impl KnownTerminal {
    /// Returns the status for a till. `busy` is true if the till itself has a transaction there.
    pub(super) fn shown(&self, till: &str, is_busy: bool, now: SystemTime) -> Value {
        let Self { online, seen, state, info, metrics } = self;
        let age = seen.map(|seen| now.duration_since(seen).unwrap_or_default().as_secs());
        let is_here = *online && age.is_some_and(|age| age < SILENT_S);
        let takes = is_here && state.nonce.is_some();
        let mut attention: Vec<Value> =
            state.faults.iter().map(|Fault { code, text }| json!({ "code": code, "text": text })).collect();
        if !is_here {
            let text = "The terminal is not connected to the server. The rest is what was known last.";
            attention.push(json!({ "code": "terminal-offline", "text": text }));
        } else if !takes {
            let text = "The terminal takes no commands of a server.";
            attention.push(json!({ "code": "no-commands", "text": text }));
        }
        let faulty = |begin: &str| state.faults.iter().find_map(|fault| fault.code.strip_prefix(begin));
        let reader = faulty("reader-").filter(|state| READER.contains(state));
        let gateway = match metrics.values.get("gateway_reachable") {
            Some(value) if *value > 0.0 => "answers",
            Some(_) => "unreachable",
            None => "not-asked-yet",
        };
        let as_of = seen.map(rfc3339).unwrap_or_default();
        let text = format!("as the terminal said at {as_of}");
        json!({
            "version": info.agent, "terminalId": info.terminal_id, "currency": info.currency,
            "merchant": info.merchant, "mayTrain": false, "ready": takes && state.ready == Some(true),
            "busy": is_busy, "attention": attention,
            "reader": { "state": reader.unwrap_or("ready"), "text": text, "model": info.reader_model,
                        "serial": info.reader_serial, "firmware": info.reader_firmware },
            "gateway": { "state": gateway, "text": text, "url": "" },
            "printers": [], "clock": { "state": "ready", "text": text }, "journal": { "state": "ready", "text": text },
            "unconfirmed": [], "tills": [till],
            "online": is_here, "asOf": as_of, "ageS": age, "unconfirmedCount": state.unconfirmed,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn an_old_state_is_not_ready() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let state = State { ready: Some(true), nonce: Some("n".to_owned()), ..State::default() };
        let known = |online, age, state: &State| KnownTerminal {
            online,
            seen: Some(now - Duration::from_secs(age)),
            state: state.clone(),
            ..KnownTerminal::default()
        };
        let shown = known(true, 7, &state).shown("web", false, now);
        assert_eq!(
            (&shown["ready"], &shown["ageS"], &shown["asOf"]),
            (&json!(true), &json!(7), &json!("1970-01-12T13:46:33Z"))
        );
        for (known, code) in [
            (known(false, 7, &state), "terminal-offline"),
            (known(true, SILENT_S, &state), "terminal-offline"),
            (known(true, 7, &State { nonce: None, ..state.clone() }), "no-commands"),
        ] {
            let shown = known.shown("web", false, now);
            assert_eq!((&shown["ready"], &shown["attention"][0]["code"]), (&json!(false), &json!(code)));
        }
        let absent = Fault { code: "reader-absent".to_owned(), text: String::new() };
        let state = State { ready: Some(false), faults: vec![absent], ..state };
        let shown = known(true, 7, &state).shown("web", true, now);
        assert_eq!((&shown["reader"]["state"], &shown["busy"]), (&json!("absent"), &json!(true)));
    }
}
