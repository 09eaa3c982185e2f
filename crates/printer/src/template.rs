//! The template of an address or of another text for a QR code, and its filling with a transaction's values. This
//! module is pure.
//!
//! The printer draws its code itself (GS ( k), and the front draws that of the page. So this module creates no picture.

use std::fmt::Write;

use serde::Deserialize;

use pos_core::transaction::Receipt;
use pos_daemon::settings::{ConfigFault, check, ensure, fault};

/// A QR code of version 14 at level M holds 362 bytes. Its 73 modules of four dots each fit the narrowest paper (384
/// dots), and a phone reads them from a screen.
const MAX_QR: usize = 362;
/// The remedy for every fault of a template.
const REMEDY: &str = "write it as \"https://shop.example/r/{reference}\", with {reference}, {number}, {terminal}, {amount} or {currency}";

/// A text for a QR code, such as `https://shop.example/r/{reference}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Template(String);

impl Template {
    /// Checks the text.
    ///
    /// # Errors
    /// Returns the fault of the key.
    pub fn check(&self, key: &str) -> Result<(), ConfigFault> {
        let printable = !self.0.is_empty() && self.0.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        check(printable, key, "must be printable ASCII", REMEDY)?;
        let parts = parts(&self.0).map_err(|wrong| fault(key, &wrong, REMEDY))?;
        let longest: usize = parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.len(),
                Part::Value(value) => value.longest(),
            })
            .sum();
        ensure(longest <= MAX_QR, key, || {
            let wrong = format!("can be {longest} bytes long, but a QR code holds only {MAX_QR}");
            (wrong, "shorten the text".to_owned())
        })
    }

    /// Checks the text as the web address of one receipt.
    ///
    /// # Errors
    /// Returns the fault of the key.
    pub fn check_address(&self, key: &str) -> Result<(), ConfigFault> {
        self.check(key)?;
        let host = self.0.strip_prefix("https://").and_then(|rest| rest.split(['/', '?', '#']).next());
        let is_host = |host: &str| !host.is_empty() && !host.contains([' ', '@', '{']);
        check(host.is_some_and(is_host), key, "is not an address of a web server", REMEDY)?;
        check(!self.0.contains(' '), key, "contains a space", REMEDY)?;
        let names_one = self.contains(&[Value::Reference, Value::Number]);
        check(names_one, key, "is the same address for different receipts", REMEDY)
    }

    /// Returns whether the text contains the transaction's number, which is unique on a terminal.
    #[must_use]
    pub fn contains_number(&self) -> bool {
        self.contains(&[Value::Number])
    }

    fn contains(&self, values: &[Value]) -> bool {
        let is_one = |part: &Part<'_>| matches!(part, Part::Value(value) if values.contains(value));
        parts(&self.0).is_ok_and(|parts| parts.iter().any(is_one))
    }

    /// Fills in the values. They are percent-encoded as in an address (RFC 3986, 2.1), so that a till's reference
    /// cannot end a path or begin a query. Letters, digits and `-._~` stay unchanged.
    #[must_use]
    pub fn fill(&self, receipt: &Receipt) -> String {
        let mut filled = String::new();
        // The check of the configuration refuses an invalid template.
        for part in parts(&self.0).unwrap_or_default() {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Value(value) => push_value(value, receipt, &mut filled),
            }
        }
        filled
    }
}

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'a> {
    /// Fixed text.
    Text(&'a str),
    /// A value of the transaction.
    Value(Value),
}

/// The values of a transaction that a QR code can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// `{reference}`: the till's reference.
    Reference,
    /// `{number}`: the transaction's number in the journal.
    Number,
    /// `{terminal}`: the terminal's ID.
    Terminal,
    /// `{amount}`: the amount that was charged, or would have been, such as `12.34`.
    Amount,
    /// `{currency}`: the currency code.
    Currency,
}

/// The placeholders, by name.
const VALUES: [(&str, Value); 5] = [
    ("reference", Value::Reference),
    ("number", Value::Number),
    ("terminal", Value::Terminal),
    ("amount", Value::Amount),
    ("currency", Value::Currency),
];

impl Value {
    /// Returns the maximum length in an address, where one byte may become three.
    fn longest(self) -> usize {
        match self {
            Self::Reference => 3 * 64,
            Self::Number | Self::Amount => 20,
            Self::Terminal => 32,
            Self::Currency => 3,
        }
    }
}

/// Splits a template into its parts. Fails for an unknown placeholder, or a brace without its counterpart.
fn parts(template: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (text, brace) = rest.split_at(at);
        let Some((name, after)) = brace.strip_prefix('{').and_then(|inside| inside.split_once('}')) else {
            return Err("has an unmatched brace".to_owned());
        };
        let value = VALUES.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let value = value.ok_or_else(|| format!("has no placeholder {{{name}}}"))?;
        parts.extend([Part::Text(text), Part::Value(value)]);
        rest = after;
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

fn push_value(value: Value, receipt: &Receipt, filled: &mut String) {
    let charged = receipt.charged();
    let text = match value {
        Value::Reference => receipt.reference.to_string(),
        Value::Number => receipt.number.to_string(),
        Value::Terminal => receipt.terminal_id.clone(),
        Value::Amount => charged.decimal(),
        Value::Currency => charged.currency().code().to_owned(),
    };
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => filled.push(char::from(byte)),
            _ => write!(filled, "%{byte:02X}").expect("a string takes all text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_core::transaction::{HostFacts, ReceiptOutcome};
    use pos_terms::money::{Amount, Currency};
    use pos_terms::transaction::{Kind, Reference, SaleNumber};

    #[test]
    fn a_template_is_cut_at_its_placeholders() {
        assert_eq!(
            parts("https://s.example/{terminal}/{reference}?a={amount}").unwrap(),
            [
                Part::Text("https://s.example/"),
                Part::Value(Value::Terminal),
                Part::Text("/"),
                Part::Value(Value::Reference),
                Part::Text("?a="),
                Part::Value(Value::Amount),
                Part::Text(""),
            ]
        );
        assert_eq!(parts("{pan}").unwrap_err(), "has no placeholder {pan}");
        for odd in ["{", "}", "a}b", "{reference", "{re{number}"] {
            assert!(parts(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn an_address_names_a_server_and_one_receipt() {
        let told =
            |text: &str| Template(text.to_owned()).check_address("receipts.receipt-url").map_err(|fault| fault.wrong);
        for good in ["https://shop.example/r/{reference}", "https://shop.example?n={number}", "https://s:8443/{number}"]
        {
            assert_eq!(told(good), Ok(()), "{good}");
        }
        for (bad, wrong) in [
            ("http://shop.example/{reference}", "is not an address of a web server"),
            ("https:///{reference}", "is not an address of a web server"),
            ("https://{reference}", "is not an address of a web server"),
            ("https://till@shop.example/{reference}", "is not an address of a web server"),
            ("{reference}", "is not an address of a web server"),
            ("https://shop.example/a b/{reference}", "contains a space"),
            ("https://shop.example/{terminal}/{amount}", "is the same address for different receipts"),
            ("https://shop.example/{pan}", "has no placeholder {pan}"),
            ("", "must be printable ASCII"),
        ] {
            assert_eq!(told(bad), Err(wrong.to_owned()), "{bad}");
        }
    }

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
        let filled = |template: &str, receipt: &Receipt| Template(template.to_owned()).fill(receipt);
        let template = "https://shop.example/r/{reference}?n={number}&t={terminal}&a={amount}{currency}";
        assert_eq!(
            filled(template, &receipt),
            "https://shop.example/r/A%2F1%3Fx%3D2%20%C3%A9?n=17&t=12345678&a=12.34EUR"
        );
        receipt.outcome = ReceiptOutcome::PartiallyApproved(eur("10.00"));
        assert_eq!(filled("{amount}", &receipt), "10.00");
        assert_eq!(filled("plain", &receipt), "plain");
    }
}
