//! Adyen's words ([`key`]) for each row of a receipt. Tills written for Adyen's terminals look for these words. The
//! agent's receipt has only the style of a row. The meaning of a row follows from its position, and from the
//! transaction whose value it contains.
//!
//! A row with an unknown meaning has no key. Tills print it anyway.

use crate::nexo::receipt::{Line, key};
use pos_till_api::{Copy, Outcome, Receipt, Row, RowIs, Sale};

/// Returns the rows of a copy as lines with keys. Date and time are separate lines, as on Adyen's terminals. Each value
/// has a name, because some tills skip a line without one.
pub(super) fn keyed(receipt: &Receipt, sale: &Sale, terminal_id: &str) -> Vec<Line> {
    let Receipt { rows, copy, language, .. } = receipt;
    let copy = *copy;
    let mut given: Vec<&'static str> = Vec::new();
    let last = rows.len().saturating_sub(1);
    let before_amount = rows.iter().position(|row| row.is == RowIs::Amount);
    let mut lines = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let found = match row.is {
            RowIs::Large if at == 0 => Some(key::HEADER_1),
            RowIs::Centred if at == 1 => Some(key::HEADER_2),
            _ if at == last => Some(match copy {
                Copy::Merchant => key::MERCHANT_TITLE,
                Copy::Customer => key::CARDHOLDER_HEADER,
            }),
            RowIs::Centred if at + 1 == last && copy == Copy::Customer => Some(key::RETAIN),
            RowIs::Centred if Some(at + 1) == before_amount => Some(key::TRANSACTION_TYPE),
            RowIs::Amount => Some(key::TOTAL_AMOUNT),
            RowIs::Bold if before_amount.map(|amount| amount + 1) == Some(at) && is_approved(sale) => {
                Some(key::APPROVED)
            }
            RowIs::Pair => of_pair(row, sale, terminal_id),
            _ => None,
        };
        // The rows of an earlier transaction have the same labels but come later, so the first row counts.
        let found = found.filter(|found| !given.contains(found));
        given.extend(found);
        lines.extend(lines_of(row, found, language));
    }
    lines
}

fn is_approved(sale: &Sale) -> bool {
    matches!(sale.outcome, Some(Outcome::Approved | Outcome::PartiallyApproved))
}

fn of_pair(row: &Row, sale: &Sale, terminal_id: &str) -> Option<&'static str> {
    let value = row.value.as_str();
    let card = sale.card.as_ref();
    let is = |known: Option<&str>| known.is_some_and(|known| !known.is_empty() && known == value);
    let masked = |last4: &str| value.starts_with('*') && value.ends_with(last4);
    match () {
        () if is(Some(terminal_id)) => Some(key::TERMINAL_ID),
        () if is(Some(&sale.reference)) => Some(key::MERCHANT_REFERENCE),
        () if is(sale.payment_id.as_deref()) => Some(key::TRANSACTION_REFERENCE),
        () if is(sale.approval_code.as_deref()) => Some(key::AUTH_CODE),
        () if is(card.and_then(|card| card.aid.as_deref())) => Some(key::AID),
        () if card.and_then(|card| card.last4.as_deref()).is_some_and(masked) => Some(key::PAN),
        () if is(card.and_then(|card| card.brand.as_deref())) => Some(key::PAYMENT_METHOD),
        () if date_and_time(value).is_some() => Some(key::DATE),
        () => None,
    }
}

/// Splits `24 Nov 2026 06:45:00` into date and time.
fn date_and_time(value: &str) -> Option<(&str, &str)> {
    let (date, time) = value.rsplit_once(' ')?;
    let is_time = time.len() == 8
        && time.bytes().enumerate().all(|(at, byte)| if at % 3 == 2 { byte == b':' } else { byte.is_ascii_digit() });
    is_time.then_some((date, time))
}

/// Returns the labels that the agent's receipt does not contain: those of the time and of the amount.
fn names(language: &str) -> (&'static str, &'static str) {
    if language == "de" { ("Uhrzeit", "Betrag") } else { ("Time", "Amount") }
}

fn lines_of(row: &Row, found: Option<&'static str>, language: &str) -> Vec<Line> {
    let (of_time, of_amount) = names(language);
    let keyed = |line: Line| match found {
        Some(found) => line.key(found),
        None => line,
    };
    match (row.is, found) {
        (RowIs::Pair, _) => match date_and_time(&row.value).filter(|_| found == Some(key::DATE)) {
            Some((date, time)) => {
                vec![Line::pair(&row.text, date).key(key::DATE), Line::pair(of_time, time).key(key::TIME)]
            }
            None => vec![keyed(Line::pair(&row.text, &row.value))],
        },
        (RowIs::Amount, _) => vec![keyed(Line::pair(of_amount, &row.text)).bold()],
        (RowIs::Rule, _) => vec![Line::gap()],
        (RowIs::Bold | RowIs::Large, _) => vec![keyed(Line::text(&row.text)).bold()],
        (RowIs::Status, _) => row.text.lines().map(Line::text).collect(),
        (RowIs::SignatureLine, _) => {
            vec![Line::gap(), Line::gap(), Line::text(&"_".repeat(24)), Line::text(&row.text)]
        }
        (RowIs::Left | RowIs::Centred | RowIs::Other, _) => vec![keyed(Line::text(&row.text))],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the agent's receipt for a refund. The original of the refund also has a date and a reference.
    #[test]
    fn what_a_row_is_follows_from_its_place_and_from_the_sale() {
        let sale: Sale = serde_json::from_value(json!({
            "till": "t", "reference": "R2", "number": 8, "kind": "refund", "amount": "3.00", "currency": "EUR",
            "state": "ended", "outcome": "approved", "startedAt": "2026-11-24T06:45:00Z", "paymentId": "8ac7a4a1",
            "approvalCode": "640805",
            "card": { "entryMode": "ICC", "brand": "VISA", "last4": "0004", "aid": "A0000000031010" },
        }))
        .unwrap();
        let row = |is, text: &str, value: &str| Row { is, text: text.to_owned(), value: value.to_owned() };
        let pair = |text: &str, value: &str| row(RowIs::Pair, text, value);
        let rows = [
            row(RowIs::Large, "Corner Shop", ""),
            row(RowIs::Centred, "1 Market Street", ""),
            row(RowIs::Centred, "Springfield", ""),
            row(RowIs::Rule, "", ""),
            pair("Terminal", "12345678"),
            pair("Date", "24 Nov 2026 06:45:00"),
            pair("Sale number", "8"),
            pair("Reference", "R2"),
            row(RowIs::Rule, "", ""),
            row(RowIs::Centred, "REFUND", ""),
            row(RowIs::Amount, "3.00 EUR", ""),
            row(RowIs::Bold, "APPROVED", ""),
            pair("Brand", "VISA"),
            pair("AID", "A0000000031010"),
            pair("Card", "**** **** **** 0004"),
            row(RowIs::Centred, "NO VERIFICATION REQUIRED", ""),
            pair("Auth code", "640805"),
            pair("Date", "23 Nov 2026 06:45:00"),
            pair("Payment id", "8ac7a4a1"),
            row(RowIs::Status, "SIMULATED\nTWO", ""),
            row(RowIs::Centred, "PLEASE KEEP THIS RECEIPT", ""),
            row(RowIs::Bold, "CUSTOMER COPY", ""),
        ];
        let receipt = |copy, language: &str, rows: &[Row]| Receipt {
            copy,
            language: language.to_owned(),
            text: String::new(),
            rows: rows.to_vec(),
        };
        let lines = keyed(&receipt(Copy::Customer, "en", &rows), &sale, "12345678");
        let shown: Vec<_> = lines
            .iter()
            .map(|line| {
                let value = line.value.as_deref().unwrap_or_default();
                format!("{}|{value}|{}", line.name, line.key.as_deref().unwrap_or_default())
            })
            .collect();
        let expected = [
            "Corner Shop||header1",
            "1 Market Street||header2",
            "Springfield||",
            "||filler",
            "Terminal|12345678|tid",
            "Date|24 Nov 2026|txdate",
            "Time|06:45:00|txtime",
            "Sale number|8|",
            "Reference|R2|mref",
            "||filler",
            "REFUND||txtype",
            "Amount|3.00 EUR|totalAmount",
            "APPROVED||approved",
            "Brand|VISA|paymentMethod",
            "AID|A0000000031010|aid",
            "Card|**** **** **** 0004|pan",
            "NO VERIFICATION REQUIRED||",
            "Auth code|640805|authCode",
            "Date|23 Nov 2026 06:45:00|",
            "Payment id|8ac7a4a1|txRef",
            "SIMULATED||",
            "TWO||",
            "PLEASE KEEP THIS RECEIPT||retain",
            "CUSTOMER COPY||cardholderHeader",
        ];
        assert_eq!(shown, expected);
        assert_eq!(
            keyed(&receipt(Copy::Merchant, "en", &rows), &sale, "").last().unwrap().key.as_deref(),
            Some("merchantTitle")
        );
        assert!(keyed(&receipt(Copy::Merchant, "en", &[]), &sale, "").is_empty());
        let german = keyed(&receipt(Copy::Customer, "de", &rows), &sale, "");
        assert!(german.iter().any(|line| line.name == "Uhrzeit") && german.iter().any(|line| line.name == "Betrag"));
        // Odoo's till shows only lines that have a name.
        assert!(german.iter().all(|line| line.value.is_none() || !line.name.is_empty()));
    }
}
