//! The last events of a webhook and what became of them, for a person at the terminal. They are kept in memory since
//! the front's start. They contain neither an address, which may contain a secret, nor a receipt.

use std::collections::VecDeque;

use serde::Serialize;
use serde_json::{Value, json};

/// The number of kept events of one webhook.
const MOST: usize = 50;
/// The largest number of characters of an error or an id. The receiver's system may choose the text.
const LONGEST: usize = 200;
/// The width of a line for people.
const WIDTH: usize = 79;

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DeliveryOutcome {
    /// The receiver has accepted it.
    Delivered,
    /// The front sends it, or sends it again.
    Retrying,
    /// The front has dropped it.
    GivenUp,
}

/// An event that was sent to one address.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SentEvent {
    at: String,
    #[serde(rename = "type")]
    step: String,
    id: String,
    /// True if the till named the address.
    callback: bool,
    attempts: u32,
    outcome: DeliveryOutcome,
    error: Option<String>,
    answered_at: Option<String>,
}

/// The last events of one webhook.
#[derive(Debug, Default)]
pub(crate) struct Deliveries(VecDeque<SentEvent>);

impl Deliveries {
    /// Adds an event before its first attempt.
    pub(crate) fn begin(&mut self, at: String, step: &str, id: &str, callback: bool) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        let [step, id] = [step, id].map(|text| text.chars().take(LONGEST).collect());
        let (attempts, outcome, error, answered_at) = (0, DeliveryOutcome::Retrying, None, None);
        self.0.push_back(SentEvent { at, step, id, callback, attempts, outcome, error, answered_at });
    }

    /// Notes an attempt of the newest event. `answered` is the time of the receiver's answer.
    pub(crate) fn tried(&mut self, outcome: DeliveryOutcome, answered: Option<String>, error: Option<&str>) {
        let Some(newest) = self.0.back_mut() else { return };
        newest.attempts += 1;
        newest.outcome = outcome;
        newest.answered_at = answered.or(newest.answered_at.take());
        if let Some(error) = error {
            newest.error = Some(error.chars().take(LONGEST).collect());
        }
    }

    /// Notes that the newest event is given up.
    pub(crate) fn give_up(&mut self) {
        if let Some(newest) = self.0.back_mut() {
            newest.outcome = DeliveryOutcome::GivenUp;
        }
    }

    /// Returns the events for programs, the newest last.
    pub(crate) fn shown(&self) -> Value {
        json!(self.0)
    }
}

/// Returns the front's list of events as lines for a person. Each event has one line, and one with its id and error.
pub(crate) fn lines(said: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for webhook in said["webhooks"].as_array().into_iter().flatten() {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let deliveries = webhook["deliveries"].as_array().map(Vec::as_slice).unwrap_or_default();
        let of = format!("{}: {} events since the front's start", text(&webhook["name"]), deliveries.len());
        lines.push(of);
        if !deliveries.is_empty() {
            lines.push(row(["when", "type", "outcome", "tries", "answered"]));
        }
        for one in deliveries {
            let attempts = one["attempts"].to_string();
            let [at, step, outcome, answered] = ["at", "type", "outcome", "answeredAt"].map(|name| text(&one[name]));
            lines.push(row([&at, &step, &outcome, &attempts, &answered]));
            let to = if one["callback"] == true { "to the till's address" } else { "" };
            let more = [text(&one["id"]), to.to_owned(), text(&one["error"])];
            let more: Vec<String> = more.into_iter().filter(|part| !part.is_empty()).collect();
            lines.push(format!("  {}", more.join("  ")));
        }
    }
    if lines.is_empty() {
        lines.push("front.toml has no webhook".to_owned());
    }
    lines.iter().map(|line| shortened(line.trim_end(), WIDTH)).collect()
}

/// Returns the columns of one event, 79 characters wide at most.
fn row([at, step, outcome, attempts, answered]: [&str; 5]) -> String {
    let step = shortened(step, 20);
    format!("{at:<20} {step:<20} {outcome:<9} {attempts:>5} {answered:<20}")
}

fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_fifty_are_kept_with_their_last_error_and_answer() {
        let mut all = Deliveries::default();
        for n in 0..MOST + 3 {
            all.begin("2026-11-30T10:00:00Z".to_owned(), "ended", &format!("evt_{n}"), false);
            all.tried(DeliveryOutcome::Retrying, Some("10:00".to_owned()), Some("500"));
            all.tried(DeliveryOutcome::Retrying, None, Some(&"x".repeat(9999)));
        }
        all.tried(DeliveryOutcome::Delivered, Some("10:07".to_owned()), None);
        all.begin(String::new(), "ended", "evt_last", true);
        all.tried(DeliveryOutcome::Retrying, None, Some("500"));
        all.give_up();
        let shown = all.shown();
        let shown = shown.as_array().unwrap();
        assert_eq!((shown.len(), &shown[0]["id"]), (MOST, &json!("evt_4")));
        let [before, last] = [&shown[MOST - 2], &shown[MOST - 1]];
        assert_eq!(
            (&before["attempts"], &before["outcome"], &before["answeredAt"]),
            (&json!(3), &json!("delivered"), &json!("10:07"))
        );
        assert_eq!(before["error"].as_str().unwrap().len(), LONGEST);
        assert_eq!((&shown[0]["answeredAt"], &shown[0]["attempts"]), (&json!("10:00"), &json!(2)));
        assert_eq!(
            (&last["outcome"], &last["callback"], &last["answeredAt"]),
            (&json!("given-up"), &json!(true), &Value::Null)
        );
    }

    #[test]
    fn the_list_fits_80_columns_whatever_a_receiver_says() {
        let mut all = Deliveries::default();
        let (at, long) = ("2026-11-30T10:00:00Z", "ü".repeat(300));
        all.begin(at.to_owned(), &long, &long, true);
        all.tried(DeliveryOutcome::Retrying, Some(at.to_owned()), Some(&long));
        all.begin(at.to_owned(), "ended", "evt_1", false);
        all.tried(DeliveryOutcome::Delivered, Some(at.to_owned()), None);
        let lines = lines(&json!({ "webhooks": [{ "name": "books", "deliveries": all.shown() }] }));
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
        assert_eq!(lines[1], "when                 type                 outcome   tries answered");
        assert_eq!(lines[4], "2026-11-30T10:00:00Z ended                delivered     1 2026-11-30T10:00:00Z");
        assert_eq!(lines[5], "  evt_1");
        assert_eq!(super::lines(&json!({ "webhooks": [] })), ["front.toml has no webhook"]);
    }
}
