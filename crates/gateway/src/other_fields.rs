//! The other fields of a payment's answer that may be kept, as flat names and short texts. They are for the journal,
//! and for people who look up a payment (interface: Payment response fields).
//!
//! Some data is left out: data that card rules forbid (holder, expiry date), people's names and addresses, data for
//! browsers only, and the fields that `HostFacts` has. A number that could be a card number is masked everywhere.

use std::collections::BTreeMap;

use serde_json::Value;

use super::answer::is_payment_id;
use super::text::{self, LineFeeds};
use pos_terms::card::mask_pans;

/// The maximum number of values that are kept from one answer. A real answer has about twenty.
const MOST: usize = 64;
/// The maximum length of a kept value, in characters. A longer value is cut.
const LONGEST: usize = 512;
/// The maximum length of a kept name, in characters.
const LONGEST_NAME: usize = 128;
/// The maximum nesting depth that is read.
const MAX_DEPTH: usize = 6;

/// Structures and fields that no one may see: card data, other people's accounts, personal data, and data for browsers.
const FORBIDDEN: [&str; 21] = [
    "card.holder",
    "card.expiryMonth",
    "card.expiryYear",
    "card.number",
    "cvv",
    "bankAccount",
    "merchant.bankAccount",
    "tokenAccount",
    "virtualAccount",
    "giftCard",
    "threeDSecure",
    "customer",
    "billing",
    "shipping",
    "sender",
    "recipient",
    "cart",
    "airline",
    "redirect",
    "pos.iccDataResponse",
    "pos.iccDataRequest",
];
/// Fields that `HostFacts` has.
const ELSEWHERE: [&str; 9] = [
    "id",
    "result.code",
    "result.description",
    "paymentBrand",
    "card.bin",
    "card.last4Digits",
    "pos",
    "timestamp",
    "ndc",
];

/// Checks whether a name is one of these, or is below one.
fn is_below(name: &str, names: &[&str]) -> bool {
    names
        .iter()
        .any(|above| name.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])))
}

/// Checks whether a name is one of these or below one, at any depth. In a list of payments, the same fields are one
/// level deeper.
fn is_anywhere_below(name: &str, names: &[&str]) -> bool {
    let starts = name.match_indices('.').map(|(dot, _)| dot + 1);
    std::iter::once(0).chain(starts).any(|start| is_below(&name[start..], names))
}

/// Checks for an id of the gateway, which is not a card number even if its digits look like one. With masked digits,
/// the id could not be used for a payment (interface: identifiers).
fn is_id(name: &str, text: &str) -> bool {
    matches!(name, "id" | "registrationId" | "registration.id") && is_payment_id(text)
}

/// Returns the other fields of an answer.
pub(super) fn rest(body: &Value) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    collect("", body, 0, &|name| is_anywhere_below(name, &FORBIDDEN) || is_below(name, &ELSEWHERE), &mut kept);
    kept
}

/// Returns all fields of an answer that a person may see: the other fields and those of `HostFacts`.
pub(super) fn shown(body: &Value) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    collect("", body, 0, &|name| is_anywhere_below(name, &FORBIDDEN), &mut kept);
    kept
}

fn collect(
    name: &str,
    value: &Value,
    depth: usize,
    left_out: &impl Fn(&str) -> bool,
    kept: &mut BTreeMap<String, String>,
) {
    if depth > MAX_DEPTH || kept.len() >= MOST || (depth > 0 && left_out(name)) {
        return;
    }
    let mut keep = |text: &str| {
        let clean =
            if is_id(name, text) { Some(text.to_owned()) } else { text::clean(&mask_pans(text), LineFeeds::Join) };
        // A name is also text from outside.
        if let Some((name, clean)) = text::clean(name, LineFeeds::Join).zip(clean) {
            kept.insert(name.chars().take(LONGEST_NAME).collect(), clean.chars().take(LONGEST).collect());
        }
    };
    match value {
        Value::String(text) => keep(text),
        Value::Number(number) => keep(&number.to_string()),
        Value::Bool(yes) => keep(if *yes { "true" } else { "false" }),
        Value::Null => {}
        Value::Array(values) => {
            for (n, value) in values.iter().enumerate() {
                collect(&format!("{name}[{n}]"), value, depth + 1, left_out, kept);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                collect(&name, value, depth + 1, left_out, kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_kept_without_people_and_without_card_data() {
        let body = serde_json::json!({
            "id": "8ac7a4a08f0c1d2e018f0c3b5a6b7c8d",
            "registrationId": "8ac7a4a08f0c1d2e018f0c3b5a6b7c8e",
            "descriptor": "Corner Shop\u{1b}[2J",
            "card": { "bin": "476173", "holder": "A B", "expiryMonth": "12", "type": "CREDIT" },
            "customer": { "givenName": "A" },
            "billing.city": "Springfield",
            "threeDSecure": { "verificationId": "x" },
            "customParameters": { "table": "7", "note": "card 4761739001010119" },
            "resultDetails": { "AcquirerResponse": "00" },
            "result": { "code": "000.100.110", "cvvResponse": "M" },
            "redirect": { "url": "https://x" },
        });
        let kept = rest(&body);
        let names: Vec<_> = kept.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "card.type",
                "customParameters.note",
                "customParameters.table",
                "descriptor",
                "registrationId",
                "result.cvvResponse",
                "resultDetails.AcquirerResponse"
            ]
        );
        assert_eq!(kept["customParameters.note"], "card 476173******0119");
        assert!(!kept["descriptor"].contains('\u{1b}'));
        let shown = shown(&body);
        assert!(shown.contains_key("result.code") && shown.contains_key("card.bin"));
        assert!(!shown.contains_key("card.holder") && !shown.contains_key("customer.givenName"));
    }

    #[test]
    fn what_nobody_may_see_is_left_out_at_any_depth() {
        let one = serde_json::json!({ "card": { "bin": "476173", "holder": "A B", "cvv": "123" }, "cvv": "123" });
        let list = serde_json::json!({ "payments": [one], "0": one });
        let names: Vec<_> = shown(&list).into_keys().collect();
        assert_eq!(names, ["0.card.bin", "payments[0].card.bin"]);
        assert_eq!(shown(&serde_json::json!([{ "card": { "expiryYear": "2026", "bin": "476173" } }])).len(), 1);
    }

    #[test]
    fn a_card_number_is_masked_in_a_name_and_however_it_is_written() {
        let body = serde_json::json!({
            "card 4761739001010119": "a name",
            "customParameters": { "4761-7390-0101-0119": "x", "note": "4761 7390 0101 0119", "track": "4761739001010119=25122011234" },
        });
        let kept = rest(&body);
        let names: Vec<_> = kept.keys().map(String::as_str).collect();
        let masked = "customParameters.4761-73**-****-0119";
        assert_eq!(names, ["card 476173******0119", masked, "customParameters.note", "customParameters.track"]);
        assert_eq!(kept["customParameters.note"], "4761 73** **** 0119");
        assert_eq!(kept["customParameters.track"], "476173******0119************");
    }

    #[test]
    fn an_id_is_kept_whole_whatever_digits_stand_in_it() {
        // Sixteen of its digits are a test card's number.
        let id = "ab4761739001010119cdef0123456789";
        let body = serde_json::json!({"registrationId": id, "registration": {"id": id}, "note": id, "id2": id});
        let kept = rest(&body);
        assert_eq!((kept["registrationId"].as_str(), kept["registration.id"].as_str()), (id, id));
        assert!(!kept["note"].contains("4761739001010119"), "{kept:?}");
        let long = serde_json::json!({"registrationId": "4761739001010119"});
        assert!(!rest(&long)["registrationId"].contains("4761739001010119"), "a card number is no id");
    }

    #[test]
    fn a_hostile_answer_is_bounded() {
        let wide: Value = (0..10_000)
            .map(|n| (format!("n{n}"), Value::from("x".repeat(10_000))))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let kept = rest(&wide);
        assert_eq!(kept.len(), MOST);
        assert!(kept.values().all(|value| value.chars().count() == LONGEST));
    }
}
