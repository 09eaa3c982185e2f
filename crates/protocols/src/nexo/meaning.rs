//! The effect of a message on money, as one short text. A repeated message has the same text, and a message that would
//! move other money has a different one. The reference identifies the till's message, and the meaning describes its
//! request.
//!
//! | | contents |
//! |---|---|
//! | both | category, SaleTransactionID, the original transaction, currency and reservation in SaleToAcquirerData |
//! | Payment | type, each amount, currency, payment instrument, whether partial approvals or tips are allowed |
//! | Reversal | the amount |
//!
//! The text does not include the cashier and other notes of the till. Amounts are compared by value: `12.5` equals
//! `12.50`.

use super::enums::Words;
use super::number::Decimal;
use super::reference::letters;
use super::request::{PaymentRequest, Request, RequestBody, ReversalRequest};
use super::shared::OriginalPoiTransaction;

/// The version of the text. Texts of different versions cannot be compared.
const FORM: &str = "1-";
/// Number of letters after the version: 128 bits.
const LETTERS: usize = 32;
/// The purpose of the digest, which no other digest in the code has.
const ABOUT: &str = "pos-agent nexo meaning 1";

/// The effect of a message on money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning(String);

impl Meaning {
    /// Returns the meaning of a payment or a reversal, or `None` for other requests.
    #[must_use]
    pub fn of(request: &Request) -> Option<Self> {
        let (mut parts, original, data) = match &request.body {
            RequestBody::Payment(payment) => {
                let original = payment.payment_transaction.original_poi_transaction.as_ref();
                (of_payment(payment), original, payment.sale_data.sale_to_acquirer_data.as_ref())
            }
            RequestBody::Reversal(reversal) => {
                let data = reversal.sale_data.as_ref().and_then(|data| data.sale_to_acquirer_data.as_ref());
                (of_reversal(reversal), Some(&reversal.original_poi_transaction), data)
            }
            _ => return None,
        };
        let transaction = request.body.transaction();
        parts.push(transaction.map(|it| it.transaction_id.clone()));
        parts.push(transaction.map(|it| it.time_stamp.clone()));
        parts.extend(of_original(original));
        parts.extend(["currency", "authorisationType", "manualCapture"].map(|key| data?.get(key)));
        let category = [Some(ABOUT), Some(request.header.message_category.as_str())];
        let parts = category.into_iter().chain(parts.iter().map(Option::as_deref));
        Some(Self(format!("{FORM}{}", &letters(parts)[..LETTERS])))
    }

    /// Returns the text that is stored with the transaction.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares this meaning with a stored one. Returns `None` if the stored text has another version.
    #[must_use]
    pub fn is(&self, kept: &str) -> Option<bool> {
        kept.starts_with(FORM).then(|| kept == self.0)
    }
}

fn of_payment(payment: &PaymentRequest) -> Vec<Option<String>> {
    let amounts = &payment.payment_transaction.amounts_req;
    let data = payment.payment_data.as_ref();
    let instrument = data.and_then(|data| data.payment_instrument_data.as_ref());
    let token = instrument.and_then(|it| it.card_data.as_ref()?.payment_token.as_ref());
    let modes = payment.payment_transaction.transaction_conditions.as_ref().map(|it| &it.force_entry_mode);
    let asks = |option: &str| payment.tender_options().iter().any(|it| it == option);
    let in_part = data.is_some_and(|data| data.split_payment_flag) || asks("AllowPartialAuthorisation");
    let mut parts = vec![
        Some(payment.payment_type().as_str().to_owned()),
        Some(amounts.currency.clone()),
        amounts.requested_amount.map(Decimal::plain),
    ];
    let others = [
        amounts.tip_amount,
        amounts.cash_back_amount,
        amounts.paid_amount,
        amounts.minimum_amount_to_deliver,
        amounts.maximum_cash_back_amount,
        amounts.minimum_split_amount,
    ];
    // A zero amount counts as absent.
    parts.extend(others.map(|amount| amount.filter(|it| *it != Decimal::ZERO).map(Decimal::plain)));
    parts.extend([
        instrument.map(|it| it.payment_instrument_type.as_str().to_owned()),
        token.map(|token| token.token_value.clone()),
        modes.map(|modes| modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>().join(",")),
        in_part.then(|| "in part".to_owned()),
        asks("AskGratuity").then(|| "ask".to_owned()),
    ]);
    parts
}

fn of_reversal(reversal: &ReversalRequest) -> Vec<Option<String>> {
    vec![reversal.reversed_amount.map(Decimal::plain)]
}

/// Returns the terminal's name of the original. The time counts only if the name does not identify the payment.
fn of_original(original: Option<&OriginalPoiTransaction>) -> [Option<String>; 2] {
    let named = original.and_then(|original| original.poi_transaction_id.as_ref());
    [
        named.map(|named| named.transaction_id.clone()),
        named.filter(|named| !named.transaction_id.contains('.')).map(|named| named.time_stamp.clone()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nexo::envelope::{Envelope, Message};
    use std::collections::BTreeSet;

    fn meaning(category: &str, body: &str) -> Meaning {
        let text = format!(
            r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"MessageClass":"Service","MessageCategory":"{category}",
            "MessageType":"Request","ServiceID":"1","SaleID":"till","POIID":"A-1"}},"{category}Request":{body}}}}}"#
        );
        match Envelope::read(text.as_bytes()) {
            Ok(Envelope::Plain(Message::Request(request))) => Meaning::of(&request).unwrap(),
            other => panic!("{other:?}: {body}"),
        }
    }

    const PAYMENT: &str = r#"{"SaleData":{"OperatorID":"7","SaleTransactionID":{"TransactionID":"1","TimeStamp":"t"},
        "SaleToAcquirerData":"metadata.x=1"},"PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":12.5,
        "TipAmount":2},"OriginalPOITransaction":{"POITransactionID":{"TransactionID":"17.8ac7","TimeStamp":"t"}}},
        "PaymentData":{"PaymentType":"Refund"}}"#;
    const REVERSAL: &str = r#"{"OriginalPOITransaction":{"POITransactionID":{"TransactionID":"17","TimeStamp":"t"}},
        "ReversalReason":"CustCancel","ReversedAmount":5}"#;

    #[test]
    fn whatever_decides_about_money_makes_another_meaning_and_nothing_else_does() {
        // These values are fixed, because a later version must recognise the messages of an earlier one.
        let (payment, reversal) = (meaning("Payment", PAYMENT), meaning("Reversal", REVERSAL));
        assert_eq!(payment.as_str(), "1-fcjnpjbjdadffniipkhecjeaebjkmpme");
        assert_eq!(reversal.as_str(), "1-opjllafdpbpoadggeejnopoejiknfmee");
        let mut all = BTreeSet::from([payment.as_str().to_owned(), reversal.as_str().to_owned()]);
        let payments = [
            ("\"TransactionID\":\"1\"", "\"TransactionID\":\"2\""),
            ("\"TimeStamp\":\"t\"},\n", "\"TimeStamp\":\"u\"},\n"),
            ("12.5", "12.51"),
            ("\"TipAmount\":2", "\"TipAmount\":3"),
            ("\"TipAmount\":2", "\"CashBackAmount\":2"),
            ("\"TipAmount\":2", "\"PaidAmount\":2"),
            ("\"TipAmount\":2", "\"MinimumAmountToDeliver\":2"),
            ("\"TipAmount\":2", "\"MinimumSplitAmount\":2"),
            ("EUR", "USD"),
            ("17.8ac7", "18.8ac7"),
            ("Refund", "Normal"),
            ("Refund\"", "Refund\",\"SplitPaymentFlag\":true"),
            ("metadata.x=1", "authorisationType=PreAuth"),
            ("metadata.x=1", "manualCapture=true"),
            ("metadata.x=1", "tenderOption=AskGratuity"),
            (
                "Refund\"",
                "Refund\",\"PaymentInstrumentData\":{\"PaymentInstrumentType\":\"Card\",\"CardData\":{\"PaymentToken\":
                {\"TokenRequestedType\":\"Customer\",\"TokenValue\":\"x\"}}}",
            ),
        ];
        let reversals = [
            ("\"ReversedAmount\":5", "\"ReversedAmount\":5.01"),
            (",\"ReversedAmount\":5", ""),
            ("\"17\"", "\"18\""),
            ("\"TimeStamp\":\"t\"", "\"TimeStamp\":\"u\""),
            (
                "\"ReversedAmount\":5",
                "\"ReversedAmount\":5,\"SaleData\":{\"SaleTransactionID\":{\"TransactionID\":\"1\",\"TimeStamp\":
                \"t\"},\"SaleToAcquirerData\":\"currency=USD\"}",
            ),
        ];
        for (category, body, changes) in [("Payment", PAYMENT, &payments[..]), ("Reversal", REVERSAL, &reversals)] {
            for (from, to) in changes {
                assert!(body.contains(from), "{from}");
                assert!(all.insert(meaning(category, &body.replacen(from, to, 1)).0), "{category}: {to}");
            }
        }
        for (from, to) in [
            ("\"7\"", "\"8\""),
            ("metadata.x=1", "metadata.x=2&shopperEmail=a"),
            ("12.5", "12.50"),
            ("12.5", "1250e-2"),
            ("\"TipAmount\":2", "\"TipAmount\":2.00,\"CashBackAmount\":0"),
            ("17.8ac7\",\"TimeStamp\":\"t\"", "17.8ac7\",\"TimeStamp\":\"u\""),
        ] {
            assert!(PAYMENT.contains(from), "{from}");
            assert_eq!(meaning("Payment", &PAYMENT.replacen(from, to, 1)), payment, "{to}");
        }
        assert_eq!(payment.is(payment.as_str()), Some(true));
        assert_eq!(payment.is(reversal.as_str()), Some(false));
        assert_eq!(payment.is("2-x"), None, "of a later program");
    }
}
