//! A message as one line for a technician: its kind and outcome, without texts from the till and without card data.

use super::enums::Words;
use super::envelope::Message;
use super::request::RequestBody;
use super::response::ResponseBody;
use super::shared::Outcome;

/// Writes a message as one line.
#[must_use]
pub fn line(message: &Message) -> String {
    let header = message.header();
    let id = header.service_id();
    let about = match message {
        Message::Request(request) => of_request(&request.body),
        Message::Response(response) => of_response(&response.body),
    };
    let head = format!("{} {} {id}", header.message_category, header.message_type);
    if about.is_empty() { head } else { format!("{head} {about}") }
}

fn of_request(body: &RequestBody) -> String {
    match body {
        RequestBody::Payment(payment) => {
            let amounts = &payment.payment_transaction.amounts_req;
            let amount = amounts.requested_amount.map_or_else(|| "all".to_owned(), |amount| amount.to_string());
            // A currency has three letters. Any other content of the field is not shown.
            let currency: String = amounts.currency.chars().filter(char::is_ascii_uppercase).take(3).collect();
            format!("{} {amount} {currency}", payment.payment_type())
        }
        RequestBody::Reversal(reversal) => {
            reversal.reversed_amount.map_or_else(|| "all".to_owned(), |it| it.to_string())
        }
        RequestBody::Abort(abort) => {
            format!("of {}", abort.message_reference.service_id.as_deref().map_or_else(String::new, short))
        }
        RequestBody::TransactionStatus(status) => {
            let named = status.message_reference.as_ref().and_then(|it| it.service_id.as_deref());
            named.map_or_else(|| "of the last one".to_owned(), |id| format!("of {}", short(id)))
        }
        RequestBody::Event(event) => event.event_to_notify.as_str().to_owned(),
        RequestBody::Reconciliation(wanted) => wanted.reconciliation_type.as_str().to_owned(),
        _ => String::new(),
    }
}

/// Shortens a ServiceID to the maximum length of ten characters.
fn short(id: &str) -> String {
    id.chars().filter(|c| !c.is_control()).take(10).collect()
}

fn of_response(body: &ResponseBody) -> String {
    let said = |outcome: &Outcome| match outcome.error_condition {
        Some(condition) => format!("{} {condition}", outcome.result),
        None => outcome.result.to_string(),
    };
    match body {
        ResponseBody::Payment(it) => said(&it.outcome),
        ResponseBody::Reversal(it) => said(&it.outcome),
        ResponseBody::TransactionStatus(it) => {
            let repeated = it.repeated_message_response.as_ref().map(|it| &it.repeated_response_message_body);
            let repeated = repeated.and_then(|body| {
                let payment = body.payment_response.as_ref().map(|it| &it.outcome);
                payment.or(body.reversal_response.as_ref().map(|it| &it.outcome))
            });
            repeated.map_or_else(|| said(&it.outcome), |of| format!("{}: {}", said(&it.outcome), said(of)))
        }
        ResponseBody::Diagnosis(it) => said(&it.outcome),
        ResponseBody::Login(it) => said(&it.outcome),
        ResponseBody::Print(it) => said(&it.outcome),
        ResponseBody::Display(it) => it.output_result.first().map(|it| said(&it.outcome)).unwrap_or_default(),
        ResponseBody::Input(it) => said(&it.input_result.outcome),
        ResponseBody::Reconciliation(it) => said(&it.outcome),
        ResponseBody::GetTotals(it) => said(&it.outcome),
        ResponseBody::Logout(it) | ResponseBody::EnableService(it) | ResponseBody::Unserved(_, it) => said(&it.outcome),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nexo::envelope::Envelope;

    #[test]
    fn a_line_says_what_it_is_and_nothing_of_a_card() {
        let text = r#"{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service",
            "MessageCategory":"Payment","MessageType":"Request","ServiceID":"7","SaleID":"till","POIID":"A-1"},
            "PaymentRequest":{"SaleData":{"SaleTransactionID":{"TransactionID":"4761739001010119","TimeStamp":"t"}},
            "PaymentTransaction":{"AmountsReq":{"Currency":"EUR4761739001010119","RequestedAmount":12.50}},
            "PaymentData":{"PaymentInstrumentData":{"PaymentInstrumentType":"Card","CardData":{"MaskedPan":
            "4761739001010119"}}}}}}"#;
        let Ok(Envelope::Plain(message)) = Envelope::read(text.as_bytes()) else { panic!("not read") };
        assert_eq!(line(&message), "Payment Request 7 Normal 12.5 EUR");
    }

    /// Returns the line of a request with this category and this body.
    fn request(category: &str, body: &str) -> String {
        let name = if category == "Event" { "EventNotification".to_owned() } else { format!("{category}Request") };
        let text = format!(
            r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"ProtocolVersion":"3.0","MessageClass":"Service",
            "MessageCategory":"{category}","MessageType":"Request","ServiceID":"7","SaleID":"till","POIID":"A-1"}},
            "{name}":{body}}}}}"#
        );
        match Envelope::read(text.as_bytes()) {
            Ok(Envelope::Plain(message)) => line(&message),
            other => panic!("{category}: {other:?}"),
        }
    }

    #[test]
    fn each_request_is_told_by_what_it_asks_for() {
        const CARD: &str = "4761739001010119";
        let original = r#"{"POITransactionID":{"TransactionID":"4761739001010119","TimeStamp":"t"}}"#;
        for (category, body, told) in [
            ("Reversal", format!(r#"{{"OriginalPOITransaction":{original},"ReversalReason":"CustCancel"}}"#), "all"),
            (
                "Reversal",
                format!(
                    r#"{{"OriginalPOITransaction":{original},"ReversalReason":"CustCancel","ReversedAmount":4.50}}"#
                ),
                "4.5",
            ),
            // A ServiceID is cut to its maximum length.
            (
                "Abort",
                format!(
                    r#"{{"MessageReference":{{"ServiceID":"{CARD}","MessageCategory":"Payment"}},"AbortReason":"{CARD}"}}"#
                ),
                "of 4761739001",
            ),
            ("TransactionStatus", r#"{"MessageReference":{"ServiceID":"31"}}"#.to_owned(), "of 31"),
            ("TransactionStatus", "{}".to_owned(), "of the last one"),
            ("Reconciliation", r#"{"ReconciliationType":"SaleReconciliation"}"#.to_owned(), "SaleReconciliation"),
            ("Diagnosis", "{}".to_owned(), ""),
            ("GetTotals", "{}".to_owned(), ""),
            ("Logout", "{}".to_owned(), ""),
            ("Login", format!(r#"{{"DateTime":"{CARD}","OperatorID":"{CARD}"}}"#), ""),
        ] {
            let expected = format!("{category} Request 7 {told}");
            assert_eq!(request(category, &body), expected.trim_end(), "{body}");
        }
        let all = r#"{"SaleData":{"SaleTransactionID":{"TransactionID":"1","TimeStamp":"t"}},
            "PaymentTransaction":{"AmountsReq":{"Currency":"EUR"}},"PaymentData":{"PaymentType":"Completion"}}"#;
        assert_eq!(request("Payment", all), "Payment Request 7 Completion all EUR");
    }
}
