//! `metadata` of SaleToAcquirerData: texts of the till that come back in `AdditionalResponse` of each answer about its
//! transaction. They are stored with the transaction, so a repeated answer has them too.
//!
//! A till can recognise its own answers by them. Odoo, for example, signs each payment in `metadata.pos_hmac` and
//! ignores an answer without it. The texts do not change the payment.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;

use super::Settings;
use super::acquirer::{is_below, named};
use super::refusal::because;
use crate::nexo::additional::{self, SaleToAcquirerData};
use crate::nexo::card_number::has_card_number;
use crate::nexo::enums::ErrorCondition;
use crate::nexo::fields::FOR_ACQUIRER;
use crate::nexo::request::Request;
use crate::nexo::shared::Outcome;

/// The key. Its texts are below it (`metadata.order`).
pub(super) const METADATA: &str = "metadata";
/// Maximum number of texts.
const MOST: usize = 10;
/// Maximum number of bytes of all keys and texts together, in the form of an address. In base64 they fill [`PARTS`]
/// values of the agent's till data.
const LONGEST: usize = 480;
/// Maximum number of characters of a value that the agent stores for a till.
const LONGEST_PART: usize = 128;
/// Number of values: 480 bytes are 640 characters in base64.
const PARTS: usize = 5;
/// The name of the first of these values, without its number.
const PART: &str = "Metadata";

/// Returns the texts of a payment or a reversal as pairs, or the refusal of one. Other requests have no pairs.
pub(super) fn of(request: &Request, settings: &Settings) -> Result<String, Outcome> {
    request.body.sale_to_acquirer_data().map_or(Ok(String::new()), |data| read(data, settings))
}

/// Reads the texts. Data that cannot be read have none: the payment itself is refused because of them.
pub(super) fn read(data: &SaleToAcquirerData, settings: &Settings) -> Result<String, Outcome> {
    let mut entries = data.entries().unwrap_or_default();
    entries.retain(|(key, _)| is_below(key, METADATA) && !settings.ignore.iter().any(|known| is_below(key, known)));
    let wrong = |why: &str| because(ErrorCondition::MessageFormat, &format!("{FOR_ACQUIRER}: {why}"));
    for (key, text) in &entries {
        if has_card_number(key) || has_card_number(text) {
            return Err(wrong(&format!("{}: looks like a card number; omit it", named(key))));
        }
    }
    let pairs = additional::write(entries.iter().map(|(key, text)| (key.as_str(), text.as_str())));
    if entries.len() > MOST || pairs.len() > LONGEST {
        let why = format!("{METADATA}: at most {MOST} texts and {LONGEST} bytes; omit some of them");
        return Err(wrong(&why));
    }
    Ok(pairs)
}

/// Returns the values that the agent stores. Their names are in order.
pub(super) fn kept(pairs: &str) -> BTreeMap<String, String> {
    let text = URL_SAFE.encode(pairs);
    let parts = text.as_bytes().chunks(LONGEST_PART).map(|part| String::from_utf8_lossy(part).into_owned());
    parts.enumerate().map(|(number, part)| (format!("{PART}{number}"), part)).collect()
}

/// Returns the pairs in stored values.
pub(super) fn unkept(till_data: &BTreeMap<String, String>) -> Option<String> {
    let text: String =
        (0..PARTS).filter_map(|number| Some(till_data.get(&format!("{PART}{number}"))?.as_str())).collect();
    Some(text).filter(|text| !text.is_empty()).and_then(|text| String::from_utf8(URL_SAFE.decode(text).ok()?).ok())
}

/// Adds the pairs to an outcome.
pub(super) fn with(outcome: Outcome, pairs: &str) -> Outcome {
    match &outcome.additional_response {
        _ if pairs.is_empty() => outcome,
        Some(text) => {
            let text = format!("{text}&{pairs}");
            outcome.with(text)
        }
        None => outcome.with(pairs.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_whole_whatever_its_length() {
        for length in [0, 1, 95, 96, 97, 300, LONGEST] {
            let pairs = "metadata.a=%c3%bc&".repeat(60)[..length].to_owned();
            let kept = kept(&pairs);
            assert!(kept.len() <= PARTS + 1 && kept.values().all(|part| part.len() <= LONGEST_PART));
            assert_eq!(unkept(&kept).unwrap_or_default(), pairs);
        }
        assert!(kept(&"x".repeat(LONGEST)).len() == PARTS);
        assert_eq!(unkept(&BTreeMap::from([("Metadata0".to_owned(), "%".to_owned())])), None);
    }
}
