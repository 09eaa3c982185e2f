//! Card numbers in a message. The reader has the only ones that the terminal needs, and it encrypts them. So a message
//! with such a number is a mistake of the till, and the caller must not store it.

use pos_terms::emv::pan;
use serde_json::Value;

use super::additional::SaleToAcquirerData;
use super::envelope::Message;
use super::fields::FOR_ACQUIRER;
use super::request::Request;

/// The number of hexadecimal digits from which on a text is a digest or an identifier, and no card number.
const DIGEST: usize = 32;

/// Returns the name of the first field whose text looks like a card number. The numbers of transactions are not
/// examined, because any digits may occur in them by chance.
#[must_use]
pub fn field_with_card_number(request: &Request) -> Option<String> {
    // Each text of these data is examined by itself. They may be in base64, and a digest is seen only when it is
    // alone.
    let entries = request.body.sale_to_acquirer_data().and_then(SaleToAcquirerData::entries);
    let has_one = |(key, text): &(String, String)| has_card_number(key) || has_card_number(text);
    if entries.as_ref().is_some_and(|entries| entries.iter().any(has_one)) {
        return Some(FOR_ACQUIRER.to_owned());
    }
    let message = serde_json::from_slice(&Message::Request(request.clone()).write()).unwrap_or_default();
    within("", &message, entries.is_some())
}

fn within(name: &str, value: &Value, is_examined: bool) -> Option<String> {
    match value {
        _ if is_examined && name == FOR_ACQUIRER => None,
        Value::Object(fields) => fields.iter().find_map(|(name, value)| within(name, value, is_examined)),
        Value::Array(values) => values.iter().find_map(|value| within(name, value, is_examined)),
        Value::String(text) if !name.ends_with("ID") && has_card_number(text) => Some(name.to_owned()),
        _ => None,
    }
}

/// Returns whether a text contains a card number. A digest in hexadecimal digits may contain such a number by chance.
pub(super) fn has_card_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    let is_digest = text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && text.bytes().any(|byte| byte.is_ascii_alphabetic());
    pan::is_in(text) && !(is_digest && digits >= DIGEST)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::nexo::envelope::Envelope;

    #[test]
    fn a_card_number_is_seen_and_a_digest_is_none() {
        for text in ["4111111111111111", "4111 1111 1111 1111", "card 4111-1111-1111-1111.", "x5555555555554444"] {
            assert!(has_card_number(text), "{text}");
        }
        for text in [
            "ba6c62413839eb32030a3ee6400af4d367b8fb889b54ea85dffcb5a13625c318",
            "4111111111111111ba6c62413839eb32",
            "921e7aa8-36b3-400c-a416-2b9a1eaf1283",
            "2026-11-23T17:19:15.000Z",
            "4111111111111112",
            "1795430096000",
            "",
        ] {
            assert!(!has_card_number(text), "{text}");
        }
    }

    #[test]
    fn each_text_of_a_message_is_examined_except_the_numbers_of_transactions() {
        let data = STANDARD.encode(r#"{"metadata":{"a":"4111111111111111"}}"#);
        for (category, body, field) in [
            ("Payment", format!(r#""SaleData":{{"SaleToAcquirerData":"{data}",ID}}"#), Some("SaleToAcquirerData")),
            (
                "Payment",
                r#""SaleData":{"SaleToAcquirerData":"metadata.a=4111%201111%201111%201111",ID}"#.to_owned(),
                Some("SaleToAcquirerData"),
            ),
            (
                "Payment",
                r#""SaleData":{"SaleToAcquirerData":"a=b&metadata.hmac=4111111111111111ba6c62413839eb32",ID}"#
                    .to_owned(),
                None,
            ),
            (
                "Payment",
                r#""SaleData":{"OperatorLanguage":"4111111111111111",ID}"#.to_owned(),
                Some("OperatorLanguage"),
            ),
            ("Payment", r#""SaleData":{"SaleReferenceID":"4111111111111111",ID}"#.to_owned(), None),
            (
                "Print",
                r#""PrintOutput":{"DocumentQualifier":"Document","ResponseMode":"PrintEnd","OutputContent":
                {"OutputFormat":"Text","OutputText":[{"Text":"a"},{"Text":"4111111111111111"}]}}"#
                    .to_owned(),
                Some("Text"),
            ),
        ] {
            let id = r#""SaleTransactionID":{"TransactionID":"4111111111111111","TimeStamp":"t"}"#;
            let (body, class) =
                (body.replace("ID}", &format!("{id}}}")), if category == "Print" { "Device" } else { "Service" });
            let more = if category == "Payment" {
                r#","PaymentTransaction":{"AmountsReq":{"Currency":"EUR","RequestedAmount":5}}"#
            } else {
                ""
            };
            let text = format!(
                r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"MessageClass":"{class}","MessageCategory":"{category}",
                "MessageType":"Request","ServiceID":"1","SaleID":"Till","POIID":"A"}},"{category}Request":{{{body}{more}}}}}}}"#
            );
            let Ok(Envelope::Plain(Message::Request(request))) = Envelope::read_at_terminal(text.as_bytes()) else {
                panic!("{text}")
            };
            assert_eq!(field_with_card_number(&request).as_deref(), field, "{text}");
        }
    }
}
