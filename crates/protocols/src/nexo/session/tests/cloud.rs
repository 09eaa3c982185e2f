//! Tests of what a till in the cloud form needs: its own texts in each answer, and messages that the front accepted
//! before an interruption.

use super::*;

/// Odoo's signature, which has as many digits as a card number.
const HMAC: &str = "ba6c62413839eb32030a3ee6400af4d367b8fb889b54ea85dffcb5a13625c318";

fn with_data(body: &str, data: &Value) -> String {
    let mut body: Value = serde_json::from_str(body).unwrap();
    body["SaleData"]["SaleToAcquirerData"] = data.clone();
    body.to_string()
}

/// Returns the pairs in `AdditionalResponse`.
fn texts(response: &Value) -> Vec<(String, String)> {
    additional::read(response["Response"]["AdditionalResponse"].as_str().unwrap_or_default())
}

fn hmac_of(response: &Value) -> Vec<String> {
    texts(response).into_iter().filter(|(name, _)| name == "metadata.pos_hmac").map(|(_, text)| text).collect()
}

#[test]
fn a_tills_texts_come_back_in_each_answer_and_are_stored_with_the_transaction() {
    use base64::Engine as _;
    let object =
        json!({ "metadata": { "pos_hmac": HMAC }, "applicationInfo": { "merchantApplication": { "name": "x" } } });
    let coded = base64::engine::general_purpose::STANDARD.encode(object.to_string());
    for data in [json!(format!("tenderOption=AskGratuity&metadata.pos_hmac={HMAC}")), object, json!(coded)] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &with_data(&payment("12.5", "27908"), &data));
        stage.is_new();
        let begin = stage.begun();
        assert!(begin.till_data.len() <= 16 && begin.till_data.values().all(|text| text.len() <= 128), "{begin:?}");
        let kept = sale(&begin.reference, &json!({ "tillData": begin.till_data }));
        stage.sale(&kept);
        stage.no_receipts();
        let answer = stage.answer();
        let response = &answer["PaymentResponse"];
        let plain = format!("&metadata.pos_hmac={HMAC}");
        assert!(response["Response"]["AdditionalResponse"].as_str().unwrap().ends_with(&plain), "{answer}");
        assert_eq!(response["SaleData"]["SaleTransactionID"]["TransactionID"], "27908");
        let has = |name: &str| texts(response).into_iter().find(|(key, _)| key == name).map(|(_, text)| text);
        assert_eq!((has("pspReference").as_deref(), has("cardType").as_deref()), (Some("8ac7"), Some("VISA")));
        // The status has them from the record alone.
        let mut later = Stage::ready();
        later.till("TransactionStatus", "2", "{}");
        later.sale(&kept);
        let answer = later.answer();
        let repeated = &answer["TransactionStatusResponse"]["RepeatedMessageResponse"]["RepeatedResponseMessageBody"];
        assert_eq!(hmac_of(&repeated["PaymentResponse"]), [HMAC], "{answer}");
        assert!(texts(&answer["TransactionStatusResponse"]).is_empty());
    }
}

#[test]
fn a_refusal_and_a_reversal_have_the_tills_texts_too() {
    let data = json!(format!("metadata.pos_hmac={HMAC}"));
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &with_data(&payment("12.5", "1").replace("EUR", "USD"), &data));
    stage.none();
    let answer = stage.answer();
    assert_eq!(answer["PaymentResponse"]["Response"]["ErrorCondition"], "NotAllowed");
    assert_eq!(hmac_of(&answer["PaymentResponse"]), [HMAC], "{answer}");
    let mut body: Value = serde_json::from_str(&reversal("17.8ac7", "")).unwrap();
    body["SaleData"] = json!({ "SaleTransactionID": { "TransactionID": "2", "TimeStamp": "t" },
        "SaleToAcquirerData": format!("currency=EUR&metadata.pos_hmac={HMAC}") });
    stage.till("Reversal", "2", &body.to_string());
    stage.none();
    stage.list(&[]);
    stage.list(&[sale("nexo-1", &json!({}))]);
    stage.sale(&sale("nexo-1", &json!({ "left": "12.50" })));
    let begin = stage.begun();
    assert_eq!(begin.kind, Kind::Reversal);
    stage.sale(&sale(&begin.reference, &json!({ "kind": "reversal", "tillData": begin.till_data })));
    stage.no_receipts();
    assert_eq!(hmac_of(&stage.answer()["ReversalResponse"]), [HMAC]);
}

#[test]
fn a_card_number_and_too_many_texts_are_refused_and_begin_nothing() {
    let many: Vec<String> = (0..11).map(|n| format!("metadata.x{n}=1")).collect();
    let ignores = Settings { ignore: vec!["metadata".to_owned()], ..settings() };
    assert!(may_be_ignored("metadata") && may_be_ignored("metadata.x") && !may_be_ignored("currency"));
    for (data, why) in [
        ("metadata.pan=4111111111111111".to_owned(), "metadata.pan: looks like a card number"),
        ("metadata.4111111111111111=1".to_owned(), "…: looks like a card number"),
        ("metadata=4111-1111-1111-1111".to_owned(), "metadata: looks like a card number"),
        (many.join("&"), "metadata: at most 10 texts and 480 bytes"),
        (format!("metadata.x={}", "ü".repeat(80)), "metadata: at most 10 texts and 480 bytes"),
    ] {
        let mut stage = Stage::ready();
        let body = with_data(&payment("12.5", "1"), &json!(data));
        stage.till("Payment", "1", &body);
        stage.none();
        let answer = stage.answer();
        let response = &answer["PaymentResponse"];
        assert_eq!(response["Response"]["ErrorCondition"], "MessageFormat", "{answer}");
        assert!(texts(response)[0].1.contains(why), "{answer}");
        assert!(!answer.to_string().contains("4111") && stage.asked.is_empty(), "{answer}");
        // A till whose texts are ignored gets none back.
        let mut stage = Stage::new(ignores.clone());
        stage.till("Payment", "1", &body);
        stage.says(200, STATUS);
        stage.is_new();
        assert!(!stage.begun().till_data.keys().any(|name| name.starts_with("Metadata")));
    }
}

const AGAIN: Arrival = Arrival::Again { left: Duration::from_secs(120) };

impl Stage {
    /// Sends a payment that the front accepted before an interruption.
    fn resumes(&mut self, service_id: &str, body: &str, arrival: Arrival) -> Exchange {
        self.exchanges += 1;
        let text = format!(
            r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"MessageClass":"Service","MessageCategory":"Payment",
            "MessageType":"Request","ServiceID":"{service_id}","SaleID":"till","POIID":"A-1"}},
            "PaymentRequest":{body}}}}}"#
        );
        let Ok(Envelope::Plain(Message::Request(request))) = Envelope::read(text.as_bytes()) else { panic!("{text}") };
        let actions = self.session.arrived(self.exchanges, (request, arrival), text.into_bytes(), self.now);
        self.take(actions);
        self.exchanges
    }
}

#[test]
fn two_messages_from_before_an_interruption_are_looked_up_in_order_and_none_hears_busy() {
    let mut stage = Stage::ready();
    stage.resumes("1", &payment("12.5", "1"), AGAIN);
    let second = stage.resumes("2", &payment("5", "2"), AGAIN);
    assert_eq!(stage.asked.len(), 1, "{:?}", stage.asked);
    stage.till("TransactionStatus", "3", r#"{"MessageReference":{"ServiceID":"2"}}"#);
    stage.failed("TransactionStatusResponse", "InProgress");
    // The same message from the till joins the one that waits, and another one is not begun beside it.
    let twin = stage.till("Payment", "2", &payment("5", "2"));
    stage.till("Payment", "4", &payment("5", "4"));
    stage.failed("PaymentResponse", "Busy");
    let reference = stage.shown();
    stage.sale(&sale(&reference, &json!({ "tillData": {}, "amount": "12.50" })));
    stage.no_receipts();
    assert_eq!(stage.answer()["PaymentResponse"]["Response"]["Result"], "Success");
    assert_ne!(stage.shown(), reference);
    stage.is_new();
    assert_eq!(stage.begun().amount.as_deref(), Some("5.00"));
    let reference = stage.begun().reference;
    stage.sale(&sale(&reference, &json!({ "amount": "5.00", "outcome": "declined" })));
    stage.no_receipts();
    let heard: Vec<Exchange> = stage.answers.iter().map(|(exchange, _)| *exchange).collect();
    assert_eq!(heard, [second, twin]);
    stage.failed("PaymentResponse", "Refusal");
}

#[test]
fn a_message_that_comes_back_too_late_tells_what_became_of_it_and_begins_nothing() {
    let mut stage = Stage::ready();
    stage.resumes("1", &payment("12.5", "1"), Arrival::Late);
    stage.is_new();
    assert!(stage.asked.is_empty(), "{:?}", stage.asked);
    let answer = stage.answer();
    assert_eq!(answer["PaymentResponse"]["Response"]["ErrorCondition"], "Aborted", "{answer}");
    stage.resumes("1", &payment("12.5", "1"), Arrival::Late);
    let reference = stage.shown();
    stage.sale(&sale(&reference, &json!({ "tillData": {} })));
    stage.no_receipts();
    assert_eq!(stage.answer()["PaymentResponse"]["Response"]["Result"], "Success");
}

#[test]
fn a_message_that_waited_too_long_for_another_one_begins_nothing() {
    let mut stage = Stage::ready();
    stage.resumes("1", &payment("12.5", "1"), AGAIN);
    stage.resumes("2", &payment("5", "2"), AGAIN);
    stage.now.steady += Duration::from_secs(120);
    let reference = stage.shown();
    stage.sale(&sale(&reference, &json!({ "tillData": {}, "amount": "12.50" })));
    stage.no_receipts();
    assert_eq!(stage.answer()["PaymentResponse"]["Response"]["Result"], "Success");
    stage.is_new();
    assert!(stage.asked.is_empty(), "{:?}", stage.asked);
    stage.failed("PaymentResponse", "Aborted");
}

#[test]
fn a_copy_of_a_payment_in_progress_never_hears_busy() {
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "1"));
    for _ in 1..8 {
        stage.till("Payment", "1", &payment("12.5", "1"));
    }
    assert!(stage.answers.is_empty());
    stage.till("Payment", "1", &payment("12.5", "1"));
    stage.failed("PaymentResponse", "InProgress");
    // The eight others get one answer.
    stage.is_new();
    let reference = stage.begun().reference;
    stage.sale(&sale(&reference, &json!({ "amount": "12.50", "outcome": "declined" })));
    stage.no_receipts();
    assert_eq!(stage.answers.len(), 8);
}

#[test]
fn a_status_without_the_terminals_word_does_not_say_that_nothing_was_started() {
    let mut stage = Stage::ready();
    stage.till("TransactionStatus", "3", r#"{"MessageReference":{"ServiceID":"2"}}"#);
    stage.silent();
    stage.failed("TransactionStatusResponse", "UnreachableHost");
}

impl Stage {
    /// The terminal's program does not answer until the session gives up.
    fn silent(&mut self) {
        for _ in 0..200 {
            if !self.answers.is_empty() {
                return;
            }
            self.says(503, r#"{"status":503,"code":"no-answer","detail":"none"}"#);
            if let Some(at) = self.session.next_deadline().filter(|_| self.asked.is_empty() && self.answers.is_empty())
            {
                self.asks_again(at);
            }
        }
    }
}

#[test]
fn an_answer_without_the_terminals_word_leaves_the_outcome_open() {
    let open = |stage: &Stage| {
        let (_, message) = stage.answers.last().unwrap();
        let text = serde_json::to_vec(message.as_ref().unwrap()).unwrap();
        let Ok(Envelope::Plain(message)) = Envelope::read(&text) else { panic!("{message:?}") };
        leaves_open(&message)
    };
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "1"));
    stage.silent();
    assert!(open(&stage));
    let answer = stage.answer();
    let said = texts(&answer["PaymentResponse"]);
    assert!(said.contains(&("carriedOut".to_owned(), "unknown".to_owned())), "{answer}");
    // The terminal itself does not know the outcome yet.
    stage.till("Payment", "1", &payment("12.5", "1"));
    let reference = stage.shown();
    stage.sale(&sale(&reference, &json!({ "tillData": {}, "state": "unconfirmed", "outcome": null })));
    assert!(!open(&stage));
    stage.failed("PaymentResponse", "UnreachableHost");
}

#[test]
fn what_may_be_on_paper_is_not_printed_again() {
    let mut stage = Stage::ready();
    let text = r#"{"SaleToPOIRequest":{"MessageHeader":{"MessageClass":"Device","MessageCategory":"Print",
        "MessageType":"Request","ServiceID":"1","SaleID":"till","POIID":"A-1"},"PrintRequest":{"PrintOutput":
        {"DocumentQualifier":"Document","ResponseMode":"PrintEnd","OutputContent":{"OutputFormat":"Text",
        "OutputText":[{"Text":"x"}]}}}}}"#;
    let Ok(Envelope::Plain(Message::Request(request))) = Envelope::read(text.as_bytes()) else { panic!("{text}") };
    let actions = stage.session.arrived(9, (request, AGAIN), Vec::new(), stage.now);
    stage.take(actions);
    assert!(stage.asked.is_empty());
    stage.failed("PrintResponse", "UnavailableDevice");
}
