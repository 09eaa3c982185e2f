//! The requests of cloud tills, as bytes: what is read of them, and what is refused before anything is stored.
//!
//! The terminal alone decides about a transaction. Here only that is read which the server itself needs: the reference,
//! and the content by which two requests with one reference are compared.

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

use super::answer::Refusal;
use crate::orders::has_card_number;
use pos_terms::emv::pan;
use pos_terms::transaction::Reference;
use pos_till_api::ProblemType;

/// The greatest size of a body in bytes. It fits into a signed command.
pub const LARGEST_BODY: usize = 8 * 1024;
/// The sentence for what looks like a card number. It does not repeat the text.
pub(super) const CARD_NUMBER: &str = "a text looks like a card number; only the terminal reads cards";
/// The fields that decide whether two requests mean the same transaction, as at the terminal.
const CONTENT: [&str; 9] = ["kind", "amount", "currency", "tip", "of", "till", "number", "payment", "registration"];

/// A request to begin a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaleAsked {
    /// The till's reference.
    pub reference: String,
    /// The whole body, as the terminal gets it.
    pub body: Map<String, Value>,
}

impl SaleAsked {
    /// Reads the body of `POST /v1/sales`.
    ///
    /// # Errors
    /// Names the wrong field.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let body = object(bytes)?;
        let Some(reference) = body.get("reference").and_then(Value::as_str) else {
            return Err(Refusal::of(ProblemType::Malformed, "the body needs a reference").field("reference"));
        };
        let reference = checked_reference(reference)?.to_owned();
        if body.get("training").is_some_and(|training| !training.is_null()) {
            let why = "a cloud till begins no training transaction";
            return Err(Refusal::of(ProblemType::TrainingOff, why).field("training").about(&reference));
        }
        Ok(Self { reference, body })
    }

    /// Returns the SHA-256 of the content: two requests with the same one mean the same transaction.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        let mut content: Map<String, Value> = CONTENT
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), self.body.get(*name).filter(|it| !it.is_null())?.clone())))
            .collect();
        for name in ["amount", "tip"] {
            if let Some(Value::String(amount)) = content.get_mut(name) {
                *amount = plain_amount(amount);
            }
        }
        content.entry("kind").or_insert_with(|| json!("sale"));
        if let Some(parameters) = self.body.get("parameters").filter(|it| !it.is_null()) {
            content.insert("parameters".to_owned(), parameters.clone());
        }
        // The fields of an object have one order, so equal contents are equal bytes.
        digest(&SHA256, Value::Object(content).to_string().as_bytes()).as_ref().to_vec()
    }

    /// Returns a text of the body, empty if it is absent.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.body.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Reads a body that is an object. An empty body counts as `{}`.
///
/// # Errors
/// Fails for anything else.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    if bytes.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    let mut body: Map<String, Value> = serde_json::from_slice(bytes)
        .map_err(|error| Refusal::of(ProblemType::Malformed, &format!("the body is not a JSON object: {error}")))?;
    let whole = Value::Object(Map::clone(&body));
    if has_nul(&whole) {
        return Err(Refusal::of(ProblemType::Malformed, "a text contains the character NUL"));
    }
    // It must not reach the database, not even for a moment.
    if has_card_number(&whole) {
        return Err(Refusal::of(ProblemType::Malformed, CARD_NUMBER));
    }
    body.retain(|_, value| !value.is_null());
    Ok(body)
}

/// PostgreSQL's texts contain no NUL.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Checks a reference by the rules of the terminal.
///
/// # Errors
/// Fails if the terminal would refuse it.
pub fn checked_reference(reference: &str) -> Result<&str, Refusal> {
    match Reference::parse(reference) {
        Ok(_) if pan::is_in(reference) => Err(Refusal::of(ProblemType::Reference, CARD_NUMBER).field("reference")),
        Ok(_) => Ok(reference),
        Err(error) => Err(Refusal::of(ProblemType::Reference, &error.to_string()).field("reference")),
    }
}

/// Writes an amount in one form: 12.3, 12.30 and 012.300 are the same amount.
#[must_use]
pub fn plain_amount(amount: &str) -> String {
    let is_number = amount.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && amount.bytes().filter(|byte| *byte == b'.').count() <= 1;
    if !is_number || amount.is_empty() {
        return amount.to_owned();
    }
    let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
    let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
}

/// Returns the wait of `wait-s`, at most that of the interface.
///
/// # Errors
/// Fails if it is no such number.
pub fn wait_s(text: Option<&str>) -> Result<u8, Refusal> {
    let longest = pos_till_api::deadlines::LONGEST_WAIT_S;
    match text.unwrap_or("0").parse() {
        Ok(seconds) if seconds <= longest => Ok(seconds),
        _ => Err(Refusal::of(ProblemType::Malformed, &format!("wait-s is 0 to {longest}")).field("wait-s")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn content(body: &Value) -> Vec<u8> {
        SaleAsked::read(body.to_string().as_bytes()).unwrap().content()
    }

    fn refused(bytes: &[u8]) -> &'static str {
        SaleAsked::read(bytes).unwrap_err().code()
    }

    #[test]
    fn what_looks_like_a_card_number_is_refused_before_anything_is_stored() {
        let card = "4111 1111 1111 1111";
        for body in [
            json!({ "reference": "a", "tillData": { "note": card } }),
            json!({ "reference": "a", "tillData": { card: "note" } }),
            json!({ "reference": "a", "parameters": { "card.number": "4111111111111111" } }),
            json!({ "reference": "a", "operator": 4_111_111_111_111_111_u64 }),
            json!({ "reference": "a", "list": [[";4111111111111111=25121010000000000000?"]] }),
        ] {
            let refusal = SaleAsked::read(body.to_string().as_bytes()).unwrap_err();
            assert_eq!((refusal.code(), refusal.body().contains("4111")), ("malformed", false), "{body}");
        }
        assert_eq!(refused(json!({ "reference": card }).to_string().as_bytes()), "malformed");
        assert_eq!(checked_reference("4111-1111-1111-1111").unwrap_err().code(), "reference");
        assert!(checked_reference("order-4111111111111112").is_ok());
    }

    #[test]
    fn the_content_is_what_the_terminal_compares() {
        let first = json!({ "reference": "a", "amount": "12.30", "operator": "anna", "tillData": { "table": "7" } });
        for same in [
            json!({ "reference": "b", "amount": "12.3" }),
            json!({ "amount": "012.300", "kind": "sale", "reference": "a", "confirm": "till", "currency": null }),
        ] {
            assert_eq!(content(&first), content(&same), "{same}");
        }
        for other in [
            json!({ "reference": "a", "amount": "12.31" }),
            json!({ "reference": "a", "amount": "123" }),
            json!({ "reference": "a", "amount": "12.30", "kind": "refund" }),
            json!({ "reference": "a", "amount": "12.30", "currency": "EUR" }),
            json!({ "reference": "a", "amount": "12.30", "tip": "1" }),
            json!({ "reference": "a", "amount": "12.30", "parameters": { "a": "b" } }),
        ] {
            assert_ne!(content(&first), content(&other), "{other}");
        }
    }

    #[test]
    fn what_no_terminal_takes_is_refused_by_name() {
        for (bytes, code) in [
            (&b"[]"[..], "malformed"),
            (b"{", "malformed"),
            (b"{}", "malformed"),
            (b"{\"reference\":7}", "malformed"),
            (b"{\"reference\":\"\"}", "reference"),
            (b"{\"reference\":\"..\"}", "reference"),
            (b"{\"reference\":\"\xc3\xa4\"}", "reference"),
            (b"{\"reference\":\"a\",\"amount\":\"1\\u0000\"}", "malformed"),
            (b"{\"reference\":\"a\",\"training\":\"declined\"}", "training-off"),
        ] {
            assert_eq!(refused(bytes), code, "{}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(refused(format!("{{\"reference\":\"{}\"}}", "a".repeat(65)).as_bytes()), "reference");
        for wait in ["-1", "121", "x", ""] {
            assert_eq!(wait_s(Some(wait)).unwrap_err().code(), "malformed", "{wait}");
        }
        assert_eq!((wait_s(None).unwrap(), wait_s(Some("120")).unwrap()), (0, 120));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(asked) = SaleAsked::read(&bytes) {
                prop_assert!(checked_reference(&asked.reference).is_ok());
                prop_assert_eq!(asked.content().len(), 32);
            }
        }

        #[test]
        fn an_amount_keeps_its_value(whole in 0_u64..100_000, part in 0_u64..100, zeros in 0_usize..3) {
            let amount = format!("{}{whole}.{part:02}{}", "0".repeat(zeros), "0".repeat(zeros));
            let plain = plain_amount(&amount);
            prop_assert_eq!(plain.parse::<f64>().unwrap(), amount.parse::<f64>().unwrap());
            prop_assert_eq!(plain_amount(&plain), plain);
        }
    }
}
