//! What the server shows of a terminal without its journal: the present state, and what seldom changes.

use std::collections::BTreeMap;

use pos_fleet_terms::{Fault, Info, State};
use serde::Serialize;
use serde_json::Value;

/// The greatest number of faults in a state, and of characters in a text. A message with more would be refused.
const MOST: (usize, usize) = (32, 400);
/// The room for a list in a message, in bytes. Many long texts would exceed the message, and nothing would be shown.
const ROOM: usize = 16 * 1024;

/// Adds the terminal's status to a state.
#[must_use]
pub fn with_status(mut state: State, status: &Value) -> State {
    let attention = status["attention"].as_array();
    let codes = || attention.into_iter().flatten();
    let count = |code: &str| codes().filter(|it| it["code"] == code).count().try_into().unwrap_or(u32::MAX);
    state.ready = status["ready"].as_bool();
    state.unconfirmed = count("sale-unconfirmed");
    state.held = count("sale-needs-person");
    let fault = |it: &Value| Fault { code: text(&it["code"]), text: text(&it["text"]) };
    state.faults = fitting(codes().map(fault));
    state
}

/// Returns what seldom changes.
#[must_use]
pub fn info(status: &Value) -> Info {
    let reader = &status["reader"];
    Info {
        uplink: env!("CARGO_PKG_VERSION").to_owned(),
        agent: text(&status["version"]),
        terminal_id: text(&status["terminalId"]),
        merchant: fitting(status["merchant"].as_array().into_iter().flatten().map(text)),
        currency: text(&status["currency"]),
        reader_model: text(&reader["model"]),
        reader_serial: text(&reader["serial"]),
        reader_firmware: text(&reader["firmware"]),
        commands: Vec::new(),
    }
}

/// Returns the numbers for the server: [`VALUES`](pos_fleet_terms::VALUES), from the terminal's metrics (OpenMetrics).
#[must_use]
pub fn values(metrics: &str) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    for line in metrics.lines() {
        let Some((series, value)) = line.rsplit_once(' ') else { continue };
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let known = match name {
            "pos_agent_sales_total" if labels.contains("outcome=\"approved\"") => "approved_total",
            "pos_agent_sales_total" => "not_approved_total",
            "pos_agent_gateway_reachable" => "gateway_reachable",
            "pos_agent_reader_keys_left" => "reader_keys_left",
            _ => continue,
        };
        let Ok(value) = value.parse::<u32>() else { continue };
        let sum = |sum: u32| if known == "reader_keys_left" { sum.min(value) } else { sum.saturating_add(value) };
        values.entry(known).and_modify(|before| *before = sum(*before)).or_insert(value);
    }
    values.into_iter().map(|(name, value)| (name.to_owned(), f64::from(value))).collect()
}

/// Returns the start of the agent's program in whole seconds since 1970, from its metrics.
#[must_use]
pub fn started(metrics: &str) -> Option<u64> {
    let value = metrics.lines().find_map(|line| line.strip_prefix("process_start_time_seconds "))?;
    value.split('.').next()?.trim().parse().ok()
}

/// Takes the first values that a message has room for.
fn fitting<V: Serialize>(values: impl Iterator<Item = V>) -> Vec<V> {
    let mut room = ROOM;
    let fits = |value: &V| {
        let size = serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len());
        let left = room.checked_sub(size);
        room = left.unwrap_or_default();
        left.is_some()
    };
    values.take(MOST.0).take_while(fits).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().chars().take(MOST.1).collect()
}

#[cfg(test)]
mod tests {
    use pos_fleet_terms::write;
    use serde_json::json;

    use super::*;

    #[test]
    fn open_payments_are_counted_and_a_long_list_is_cut() {
        let open = |code: &str| json!({ "code": code, "text": "x".repeat(2_000), "sale": "order-4711" });
        let mut attention = vec![open("sale-unconfirmed"), open("sale-needs-person"), open("sale-unconfirmed")];
        attention.extend((0..40).map(|_| open("printer-no-paper")));
        let state = with_status(State::default(), &json!({ "ready": false, "attention": attention }));
        assert_eq!((state.unconfirmed, state.held, state.ready, state.faults.len()), (2, 1, Some(false), 32));
        assert!(write(&state).is_ok());
        // Characters of several bytes leave room for fewer.
        let long = json!({ "attention": vec![json!({ "code": "x", "text": "\u{1}".repeat(400) }); 32] });
        let state = with_status(State::default(), &long);
        assert!(write(&state).is_ok() && state.faults.len() == 6, "{}", state.faults.len());
    }

    #[test]
    fn numbers_are_sums_without_labels_and_the_fewest_keys() {
        let text = "# TYPE pos_agent_sales counter\n\
            pos_agent_sales_total{kind=\"sale\",outcome=\"approved\",reason=\"\"} 3\n\
            pos_agent_sales_total{kind=\"refund\",outcome=\"approved\",reason=\"\"} 1\n\
            pos_agent_sales_total{kind=\"sale\",outcome=\"declined\",reason=\"by-issuer\"} 2\n\
            pos_agent_reader_keys_left{kind=\"card\"} 900\npos_agent_reader_keys_left{kind=\"pin\"} 12\n\
            pos_agent_gateway_reachable 1\npos_agent_other 7\npos_agent_gateway_reachable x\n# EOF\n";
        let values = super::values(text);
        let expected = [
            ("approved_total", 4.0),
            ("gateway_reachable", 1.0),
            ("not_approved_total", 2.0),
            ("reader_keys_left", 12.0),
        ];
        assert_eq!(values, expected.map(|(name, value)| (name.to_owned(), value)).into());
        assert_eq!(started(text), None);
        assert_eq!(started("# EOF\nprocess_start_time_seconds 1795000000.5\n"), Some(1_795_000_000));
        assert!(values.keys().all(|name| pos_fleet_terms::VALUES.contains(&name.as_str())));
    }

    #[test]
    fn an_agent_without_a_reader_is_shown_too() {
        let info =
            info(&json!({ "version": "0.1.0", "reader": { "state": "absent" }, "merchant": ["Corner Shop", 7] }));
        assert_eq!((info.agent.as_str(), info.reader_model.as_str(), info.merchant.len()), ("0.1.0", "", 2));
        assert!(write(&info).is_ok());
    }
}
