//! Checks any bytes at the port of cloud tills: as the body of a request, and as a terminal's result and an entry of
//! its journal. A body that is read has a reference that a terminal takes, and one content. A reference begins again
//! only if nothing was begun. An ended transaction is never open again. A cancel is in time only if the transaction
//! was cancelled.

use pos_fleet::tills::answer::{Judgement, KnownCommand, judge, with_cancel};
use pos_fleet::tills::asked::{SaleAsked, checked_reference};
use serde_json::Value;

/// The words of results, and one of a later version.
const CODES: [Option<&str>; 9] = [
    None,
    Some("running"),
    Some("done"),
    Some("refused"),
    Some("expired"),
    Some("not-begun"),
    Some("failed"),
    Some("id-taken"),
    Some("later"),
];

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    if let Ok(asked) = SaleAsked::read(bytes) {
        assert!(checked_reference(&asked.reference).is_ok());
        let written = Value::Object(asked.body.clone());
        let again = SaleAsked::read(written.to_string().as_bytes()).expect("what was read is read again");
        assert!(has_fraction(&written) || again.content() == asked.content());
    }
    let Ok(said) = serde_json::from_slice::<Value>(bytes) else { return };
    let (body, entry) = match said.get("entry") {
        Some(entry) => (said.get("body").cloned().unwrap_or_default(), Some(entry)),
        None => (said.clone(), None),
    };
    for code in CODES {
        for is_final in [false, true] {
            let command = KnownCommand { code: code.map(str::to_owned), text: None, body: body.clone(), is_final };
            checks(&command, entry);
        }
    }
}

/// The JSON parser may read a fraction with another last bit than it wrote.
fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(values) => values.iter().any(has_fraction),
        Value::Object(fields) => fields.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn checks(command: &KnownCommand, entry: Option<&Value>) {
    let judgement = judge(command, entry);
    if judgement.proves_nothing_began() {
        assert!(command.is_final, "only a final result proves it");
        assert!(!matches!(command.code.as_deref(), None | Some("running" | "done" | "failed" | "id-taken" | "later")));
        assert!(judgement.ends_a_wait() && !judgement.has_ended());
    }
    let Judgement::Sale(sale) = judgement else { return };
    let state = sale.get("state").and_then(Value::as_str).expect("a transaction has a state").to_owned();
    let outcome = sale.get("outcome").and_then(Value::as_str).map(str::to_owned);
    if let Some(standing) = entry.and_then(|entry| entry.pointer("/facts/standing")).and_then(Value::as_str)
        && standing == "ended"
        && matches!(judge(&KnownCommand::default(), entry), Judgement::Sale(_))
    {
        assert_eq!(state, "ended", "the journal has the outcome");
    }
    let had_word = sale.get("cancel").is_some_and(Value::is_string);
    let cancelled = with_cancel(sale);
    let is_in_time = cancelled.get("cancel").and_then(Value::as_str) == Some("in-time");
    assert!(had_word || is_in_time == (state == "ended" && outcome.as_deref() == Some("cancelled")));
}
