//! The content of the QR code on a receipt: the shop's template, filled with the transaction's values. This module is
//! pure.
//!
//! The printer draws the code itself (GS ( k), so this module creates no picture.

use std::fmt::Write;

use crate::config::{Part, Value, qr_parts};
use pos_core::transaction::{Receipt, ReceiptOutcome};

/// Fills in the template. Values are percent-encoded as in an address (RFC 3986, 2.1), so that a till's reference
/// cannot end a path or begin a query. Letters, digits and `-._~` stay unchanged.
pub(super) fn content(template: &str, receipt: &Receipt) -> String {
    let mut content = String::new();
    // The check of the configuration refuses an invalid template.
    for part in qr_parts(template).unwrap_or_default() {
        match part {
            Part::Text(text) => content.push_str(text),
            Part::Value(value) => push_value(value, receipt, &mut content),
        }
    }
    content
}

fn push_value(value: Value, receipt: &Receipt, content: &mut String) {
    let charged = match &receipt.outcome {
        ReceiptOutcome::PartiallyApproved(part) => *part,
        _ => receipt.amount,
    };
    let text = match value {
        Value::Reference => receipt.reference.to_string(),
        Value::Number => receipt.number.to_string(),
        Value::Terminal => receipt.terminal_id.clone(),
        Value::Amount => charged.decimal(),
        Value::Currency => charged.currency().code().to_owned(),
    };
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => content.push(char::from(byte)),
            _ => write!(content, "%{byte:02X}").expect("a string takes all text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_core::transaction::HostFacts;
    use pos_terms::money::{Amount, Currency};
    use pos_terms::transaction::{Kind, Reference, SaleNumber};

    #[test]
    fn values_are_filled_in_and_stay_values() {
        let eur = |text| Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap();
        let mut receipt = Receipt {
            kind: Kind::Sale,
            tip: None,
            training: false,
            terminal_id: "12345678".to_owned(),
            local_time: "2026-11-20 12:34:56".to_owned(),
            number: SaleNumber::new(17),
            reference: Reference::as_kept("A/1?x=2 é".to_owned()),
            amount: eur("12.34"),
            outcome: ReceiptOutcome::Approved,
            card: None,
            host: HostFacts::default(),
            operator: None,
            supervisor: None,
            original: None,
        };
        let template = "https://shop.example/r/{reference}?n={number}&t={terminal}&a={amount}{currency}";
        assert_eq!(
            content(template, &receipt),
            "https://shop.example/r/A%2F1%3Fx%3D2%20%C3%A9?n=17&t=12345678&a=12.34EUR"
        );
        receipt.outcome = ReceiptOutcome::PartiallyApproved(eur("10.00"));
        assert_eq!(content("{amount}", &receipt), "10.00");
        assert_eq!(content("plain", &receipt), "plain");
    }
}
