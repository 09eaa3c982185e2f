//! Tests of the session against a timetable of questions to the terminal and answers to the till. The terminal's
//! answers are JSON texts of the agent's interface, so the tests read them as from the network.

use serde_json::{Value, json};

use super::job::WATCH_S;
use super::*;
use crate::clock::rfc3339;
use crate::nexo::additional;
use crate::nexo::envelope::Envelope;
use pos_till_api::{Align, Begin, Kind, PrintCode, PrintLine, ProblemType};

mod again;
mod cloud;
mod fields;
mod money;
mod told;

const STATUS: &str = r#"{"version":"1.0","terminalId":"T1","merchant":["Shop"],"currency":"EUR","currencyDecimals":2,
    "ready":true,"busy":false,"reader":{"state":"ready","serial":"01"},"gateway":{"state":"answers"},"printers":[],
    "clock":{"time":"2026-11-23T10:00:00+01:00"}}"#;

struct Stage {
    session: Session,
    now: Now,
    asked: Vec<(u64, Ask)>,
    answers: Vec<(Exchange, Option<Value>)>,
    exchanges: Exchange,
}

fn settings() -> Settings {
    Settings {
        sale_id: "till".to_owned(),
        poi_id: "A-1".to_owned(),
        credit: false,
        terminal_prints: false,
        profile: Profile::Plain,
        width: 32,
        reserves: false,
        ignore: Vec::new(),
        own_sums: None,
    }
}

fn payment(amount: &str, transaction: &str) -> String {
    payment_of("Normal", amount, transaction, "")
}

fn payment_of(kind: &str, amount: &str, transaction: &str, more: &str) -> String {
    format!(
        r#"{{"SaleData":{{"SaleTransactionID":{{"TransactionID":"{transaction}","TimeStamp":"t"}}}},
        "PaymentTransaction":{{"AmountsReq":{{"Currency":"EUR","RequestedAmount":{amount}}}{more}}},
        "PaymentData":{{"PaymentType":"{kind}"}}}}"#
    )
}

fn reversal(original: &str, amount: &str) -> String {
    let amount = if amount.is_empty() { String::new() } else { format!(r#","ReversedAmount":{amount}"#) };
    format!(
        r#"{{"OriginalPOITransaction":{{"POITransactionID":{{"TransactionID":"{original}","TimeStamp":"t"}}}},
        "ReversalReason":"CustCancel"{amount}}}"#
    )
}

impl Stage {
    fn new(settings: Settings) -> Self {
        let now = Now { steady: Duration::ZERO, unix_s: 1_795_430_096 };
        Self { session: Session::new(settings), now, asked: Vec::new(), answers: Vec::new(), exchanges: 0 }
    }

    /// Creates a till whose terminal has sent its facts.
    fn ready() -> Self {
        let mut stage = Self::new(settings());
        stage.till("Diagnosis", "d", "{}");
        stage.says(200, STATUS);
        assert_eq!(stage.answer()["DiagnosisResponse"]["POIStatus"]["GlobalStatus"], "OK");
        stage
    }

    fn take(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Ask { ticket, ask } => self.asked.push((ticket, ask)),
                // A cancelled question gets no answer.
                Action::GiveUp { ticket } => self.asked.retain(|(asked, _)| *asked != ticket),
                Action::Answer { exchange, message } => {
                    let message = message.map(|message| serde_json::from_slice(&message.write()).unwrap());
                    self.answers.push((exchange, message));
                }
            }
        }
    }

    fn till(&mut self, category: &str, service_id: &str, body: &str) -> Exchange {
        self.exchanges += 1;
        let text = format!(
            r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"ProtocolVersion":"3.0","MessageClass":"Service",
            "MessageCategory":"{category}","MessageType":"Request","ServiceID":"{service_id}","SaleID":"till",
            "POIID":"A-1"}},"{category}Request":{body}}}}}"#
        );
        let Ok(Envelope::Plain(Message::Request(request))) = Envelope::read(text.as_bytes()) else {
            panic!("{:?}", Envelope::read(text.as_bytes()))
        };
        let actions = self.session.asked(self.exchanges, request, text.into_bytes(), self.now);
        self.take(actions);
        self.exchanges
    }

    /// Answers the last question.
    fn says(&mut self, status: u16, body: &str) {
        let (ticket, ask) = self.asked.pop().expect("a question");
        let said = Said::read(&ask, status, body.as_bytes());
        let actions = self.session.said(ticket, said, self.now);
        self.take(actions);
    }

    fn sale(&mut self, sale: &Value) {
        self.says(200, &sale.to_string());
    }

    fn none(&mut self) {
        self.says(404, &json!({ "status": 404, "code": "no-such-sale", "detail": "none" }).to_string());
    }

    fn list(&mut self, sales: &[Value]) {
        self.says(200, &json!({ "sales": sales }).to_string());
    }

    fn refuses(&mut self, code: &str) {
        let status = ProblemType::of_code(code).map_or(422, ProblemType::status);
        self.says(status, &json!({ "status": status, "code": code, "detail": "refused" }).to_string());
    }

    /// Checks that no question is asked before this time, and that one is asked then.
    fn asks_again(&mut self, at: Duration) {
        assert!(self.asked.is_empty(), "{:?}", self.asked);
        assert_eq!(self.session.next_deadline(), Some(at));
        self.now.steady = at;
        let actions = self.session.tick(self.now);
        self.take(actions);
        assert_eq!(self.asked.len(), 1, "{:?}", self.asked);
    }

    /// Answers that no transaction has this reference, ServiceID or transaction ID.
    fn is_new(&mut self) {
        self.none();
        self.list(&[]);
        self.list(&[]);
    }

    /// Checks that the terminal is asked only about the same message, and answers that the message is unknown.
    fn was_not_carried_out(&mut self) {
        assert!(matches!(self.asked.as_slice(), [(_, Ask::Show { wait_s: 0, .. })]), "{:?}", self.asked);
        assert!(self.answers.is_empty(), "{:?}", self.answers);
        self.none();
    }

    fn shown(&self) -> String {
        match self.asked.last() {
            Some((_, Ask::Show { reference, wait_s: 0 })) => reference.clone(),
            other => panic!("nothing is looked at: {other:?}"),
        }
    }

    fn begun(&self) -> Begin {
        match self.asked.last() {
            Some((_, Ask::Begin(begin))) => begin.as_ref().clone(),
            other => panic!("nothing is begun: {other:?}"),
        }
    }

    /// Answers the questions for receipts with none.
    fn no_receipts(&mut self) {
        for _ in 0..2 {
            self.says(409, &json!({ "status": 409, "code": "no-receipt-yet", "detail": "none" }).to_string());
        }
    }

    fn answer(&mut self) -> Value {
        let (_, message) = self.answers.pop().expect("an answer");
        let message = message.expect("an answer with something in it");
        let inner = message.get("SaleToPOIResponse").or_else(|| message.get("SaleToPOIRequest"));
        inner.cloned().unwrap()
    }

    fn rejected(&mut self, why: &str) {
        let event = self.answer()["EventNotification"].clone();
        assert_eq!(event["EventToNotify"], "Reject");
        let details = additional::read(event["EventDetails"].as_str().unwrap());
        assert!(details[0].1.contains(why), "{details:?}");
        assert!(self.asked.is_empty(), "{:?}", self.asked);
    }

    fn failed(&mut self, body: &str, condition: &str) {
        let answer = self.answer();
        let response = &answer[body]["Response"];
        assert_eq!(
            (&response["Result"], &response["ErrorCondition"]),
            (&json!("Failure"), &json!(condition)),
            "{answer}"
        );
    }
}

fn sale(reference: &str, more: &Value) -> Value {
    let mut sale = json!({
        "till": "t", "reference": reference, "number": 17, "kind": "sale", "amount": "12.50", "currency": "EUR",
        "state": "ended", "outcome": "approved", "approvedAmount": "12.50", "text": "APPROVED",
        "startedAt": "2026-11-23T09:00:00Z", "paymentId": "8ac7", "left": "12.50", "code": "000.000.000",
        "card": { "entryMode": "NFC_ICC", "brand": "VISA", "last4": "0119", "verification": "online-pin" },
        "tillData": { "ServiceID": "1", "MessageCategory": "Payment", "PaymentType": "Normal", "TransactionID": "27908",
            "TimeStamp": "t" },
    });
    sale.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    sale
}

#[test]
fn a_payment_is_begun_once_and_told_as_it_ended() {
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.is_new();
    let begin = stage.begun();
    assert_eq!((begin.kind, begin.amount.as_deref(), begin.till_prints), (Kind::Sale, Some("12.50"), true));
    assert_eq!(begin.till_data["ServiceID"], "1");
    stage.sale(&sale(&begin.reference, &json!({ "state": "waiting-for-card", "outcome": null })));
    assert_eq!(stage.asked.last().unwrap().1, Ask::Show { reference: begin.reference.clone(), wait_s: WATCH_S });
    stage.sale(&sale(&begin.reference, &json!({})));
    stage.no_receipts();
    let answer = stage.answer();
    let response = &answer["PaymentResponse"];
    assert_eq!(response["Response"]["Result"], "Success");
    assert_eq!(response["POIData"]["POITransactionID"]["TransactionID"], "17.8ac7");
    assert_eq!(response["PaymentResult"]["AmountsResp"]["AuthorizedAmount"], 12.5);
    assert_eq!(response["PaymentResult"]["PaymentInstrumentData"]["CardData"]["EntryMode"], json!(["Contactless"]));
    assert_eq!(response["PaymentResult"]["AuthenticationMethod"], json!(["OnlinePIN"]));
    assert_eq!(answer["MessageHeader"]["MessageType"], "Response");
    // The repeated message is looked up, but not begun again.
    stage.till("Payment", "1", &payment("12.50", "27908"));
    stage.sale(&sale(&begin.reference, &json!({})));
    stage.no_receipts();
    assert_eq!(stage.answer()["PaymentResponse"]["Response"]["Result"], "Success");
    // A message with another amount is a different message.
    stage.till("Payment", "1", &payment("12.51", "27908"));
    stage.sale(&sale(&begin.reference, &json!({})));
    stage.rejected("another amount");
}

#[test]
fn a_message_or_a_transaction_that_was_used_is_rejected() {
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "27909"));
    stage.none();
    let Some((_, Ask::Referenced { from, .. })) = stage.asked.last() else { panic!("no list") };
    assert_eq!(from.as_deref(), Some("2026-11-21T10:34:56Z"), "48 hours");
    stage.list(&[sale("nexo-other", &json!({}))]);
    stage.rejected("within 48 hours");
    for (state, outcome) in [
        ("ended", json!("approved")),
        ("ended", json!("partially-approved")),
        ("ended", json!("an outcome of a later agent")),
        ("in-progress", json!(null)),
        ("unconfirmed", json!(null)),
    ] {
        stage.till("Payment", "2", &payment("12.5", "27908"));
        stage.none();
        stage.list(&[]);
        stage.list(&[sale("nexo-other", &json!({ "state": state, "outcome": outcome }))]);
        stage.rejected("with ServiceID 1; query that ServiceID with TransactionStatus");
    }
    for outcome in ["declined", "cancelled", "not-sent", "reversed"] {
        stage.till("Payment", "2", &payment("12.5", "27908"));
        stage.none();
        stage.list(&[]);
        stage.list(&[sale("nexo-other", &json!({ "outcome": outcome }))]);
        let reference = stage.begun().reference;
        stage.sale(&sale(&reference, &json!({ "outcome": "declined", "approvedAmount": null })));
        stage.no_receipts();
        stage.failed("PaymentResponse", "Refusal");
    }
}

#[test]
fn what_nobody_knows_is_not_told_as_declined() {
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.is_new();
    let reference = stage.begun().reference;
    // The terminal does not answer the begin request, so the transaction may have begun.
    stage.says(503, r#"{"status":503,"code":"no-answer","detail":"none"}"#);
    for _ in 0..40 {
        let Some(at) = stage.session.next_deadline() else { break };
        if !stage.answers.is_empty() {
            break;
        }
        stage.now.steady = at;
        let actions = stage.session.tick(stage.now);
        stage.take(actions);
        assert_eq!(stage.begun().reference, reference, "the same again");
        stage.says(503, r#"{"status":503,"code":"no-answer","detail":"none"}"#);
    }
    stage.failed("PaymentResponse", "UnreachableHost");
    stage.till(
        "TransactionStatus",
        "2",
        r#"{"MessageReference":{"MessageCategory":"Payment","SaleID":"till","ServiceID":"1"}}"#,
    );
    let unconfirmed = sale(&reference, &json!({ "state": "unconfirmed", "outcome": null, "approvedAmount": null }));
    stage.list(std::slice::from_ref(&unconfirmed));
    stage.failed("TransactionStatusResponse", "InProgress");
    stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.sale(&unconfirmed);
    stage.failed("PaymentResponse", "UnreachableHost");
    stage.till("TransactionStatus", "3", r#"{"MessageReference":{"MessageCategory":"Payment","ServiceID":"1"}}"#);
    stage.list(&[sale(&reference, &json!({}))]);
    let answer = stage.answer();
    let repeated = &answer["TransactionStatusResponse"]["RepeatedMessageResponse"];
    assert_eq!(repeated["MessageHeader"]["ServiceID"], "1");
    let response = &repeated["RepeatedResponseMessageBody"]["PaymentResponse"];
    assert_eq!(response["SaleData"]["SaleTransactionID"]["TransactionID"], "27908");
    assert_eq!(response["Response"]["Result"], "Success");
    stage.till("TransactionStatus", "4", r#"{"MessageReference":{"MessageCategory":"Payment","ServiceID":"9"}}"#);
    stage.list(&[]);
    stage.failed("TransactionStatusResponse", "NotFound");
}

/// Checks a begin request without an answer, which may have been carried out. A refusal before the terminal has looked
/// up the reference says nothing about the outcome.
#[test]
fn a_begin_that_was_lost_is_asked_for_again_whatever_is_refused_meanwhile() {
    for code in ["journal", "too-many-requests", "no-place", "forbidden", "a-word-of-later"] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &payment("12.5", "27908"));
        stage.is_new();
        let begin = stage.begun();
        stage.says(503, r#"{"status":503,"code":"no-answer","detail":"none"}"#);
        stage.asks_again(Duration::from_secs(1));
        stage.refuses(code);
        assert!(stage.answers.is_empty(), "{code}: {:?}", stage.answers);
        stage.asks_again(Duration::from_secs(2));
        assert_eq!(stage.begun(), begin, "{code}");
        let replayed = json!({ "replayed": true, "state": "in-progress", "outcome": null,
            "tillData": begin.till_data });
        stage.sale(&sale(&begin.reference, &replayed));
        stage.sale(&sale(&begin.reference, &json!({})));
        stage.no_receipts();
        assert_eq!(stage.answer()["PaymentResponse"]["Response"]["Result"], "Success", "{code}");
    }
}

/// Checks a reference that was not looked up between the lost begin request and the next one.
#[test]
fn what_is_found_instead_of_a_lost_begin_is_its_answer_only_when_it_means_the_same() {
    for lost in [true, false] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &payment("12.5", "27908"));
        stage.is_new();
        let begin = stage.begun();
        if lost {
            stage.says(500, "?");
            stage.asks_again(Duration::from_secs(1));
        }
        let mut data = begin.till_data.clone();
        data.insert("Meaning".to_owned(), "1-of-another-message".to_owned());
        stage.sale(&sale(&begin.reference, &json!({ "replayed": true, "tillData": data })));
        stage.rejected("another amount");
    }
}

#[test]
fn a_begin_that_was_lost_is_never_told_as_refused_by_what_says_nothing_of_it() {
    for code in ["journal", "too-many-requests", "no-place", "forbidden", "a-word-of-later"] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &payment("12.5", "27908"));
        stage.is_new();
        let reference = stage.begun().reference;
        stage.says(500, "?");
        for second in 1..=30 {
            assert!(stage.answers.is_empty(), "{code} after {second} s: {:?}", stage.answers);
            stage.asks_again(Duration::from_secs(second));
            assert_eq!(stage.begun().reference, reference);
            stage.refuses(code);
        }
        stage.failed("PaymentResponse", "UnreachableHost");
        assert!(stage.asked.is_empty() && stage.session.next_deadline().is_none());
    }
    // A refusal after the look-up of the reference means that the payment was not carried out.
    for (code, condition) in [("busy", "Busy"), ("not-ready", "UnavailableDevice"), ("amount", "NotAllowed")] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &payment("12.5", "27908"));
        stage.is_new();
        stage.says(500, "?");
        stage.asks_again(Duration::from_secs(1));
        stage.refuses(code);
        stage.failed("PaymentResponse", condition);
    }
}

/// Checks a repeated message whose look-up failed. Its first attempt may have charged the customer.
#[test]
fn a_payment_that_cannot_be_looked_for_is_never_told_as_not_begun() {
    for code in ["journal", "too-many-requests", "?"] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &payment("12.5", "27908"));
        let reference = stage.shown();
        let refuses = |stage: &mut Stage| if code == "?" { stage.says(500, "?") } else { stage.refuses(code) };
        for second in 1..=30 {
            refuses(&mut stage);
            assert!(stage.answers.is_empty(), "{code} after {second} s: {:?}", stage.answers);
            stage.asks_again(Duration::from_secs(second));
            assert_eq!(stage.shown(), reference);
        }
        refuses(&mut stage);
        stage.failed("PaymentResponse", "UnreachableHost");
    }
    // This also applies to a terminal that does not report its state.
    let mut stage = Stage::new(settings());
    stage.till("Payment", "1", &payment("12.5", "27908"));
    for second in 1..=30 {
        stage.says(500, "?");
        stage.asks_again(Duration::from_secs(second));
    }
    stage.says(500, "?");
    stage.failed("PaymentResponse", "UnreachableHost");
}

#[test]
fn a_first_begin_that_is_refused_for_its_way_alone_is_asked_for_again() {
    for code in ["too-many-requests", "no-place", "timeout"] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &payment("12.5", "27908"));
        stage.is_new();
        let reference = stage.begun().reference;
        stage.refuses(code);
        stage.asks_again(Duration::from_secs(1));
        assert_eq!(stage.begun().reference, reference, "{code}");
        stage.sale(&sale(&reference, &json!({})));
        stage.no_receipts();
        assert_eq!(stage.answer()["PaymentResponse"]["Response"]["Result"], "Success", "{code}");
    }
    // After half a minute of retries the payment has not begun, and the till gets the reason.
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.is_new();
    stage.refuses("too-many-requests");
    for second in 1..=30 {
        stage.asks_again(Duration::from_secs(second));
        stage.refuses("too-many-requests");
    }
    stage.failed("PaymentResponse", "Busy");
    // Any other refusal goes to the till immediately.
    for (code, condition) in [("busy", "Busy"), ("journal", "UnavailableDevice"), ("forbidden", "NotAllowed")] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &payment("12.5", "27908"));
        stage.is_new();
        stage.refuses(code);
        stage.failed("PaymentResponse", condition);
    }
}

#[test]
fn while_a_payment_is_under_way_another_one_waits_and_its_status_is_in_progress() {
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.till("TransactionStatus", "2", r#"{"MessageReference":{"ServiceID":"1"}}"#);
    stage.failed("TransactionStatusResponse", "InProgress");
    stage.till("Payment", "3", &payment("1.5", "27909"));
    stage.failed("PaymentResponse", "Busy");
    // An abort before the begin ends the payment.
    stage.none();
    stage.list(&[]);
    let abort = r#"{"AbortReason":"cash","MessageReference":{"MessageCategory":"Payment","ServiceID":"1"}}"#;
    let aborts = stage.till("Abort", "4", abort);
    stage.list(&[]);
    assert_eq!(stage.answers.pop(), Some((aborts, None)), "an abort has no answer");
    stage.list(&[]);
    stage.failed("PaymentResponse", "Aborted");
    assert!(stage.asked.is_empty(), "nothing is begun: {:?}", stage.asked);
}

#[test]
fn an_abort_stops_the_sale_that_it_names_and_no_other() {
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.is_new();
    let reference = stage.begun().reference;
    let waiting = sale(&reference, &json!({ "state": "waiting-for-card", "outcome": null, "approvedAmount": null }));
    stage.sale(&waiting);
    let abort =
        |id| format!(r#"{{"AbortReason":"x","MessageReference":{{"MessageCategory":"Payment","ServiceID":"{id}"}}}}"#);
    stage.till("Abort", "4", &abort("2"));
    stage.list(&[]);
    assert_eq!(stage.answers.pop().unwrap().1, None);
    stage.till("Abort", "5", &abort("1"));
    stage.list(&[waiting]);
    assert_eq!(stage.asked.last().unwrap().1, Ask::Cancel(reference.clone()));
    let cancelled = json!({ "outcome": "cancelled", "reason": "till-cancelled", "approvedAmount": null });
    let mut view = sale(&reference, &cancelled);
    view["cancel"] = json!("in-time");
    stage.sale(&view);
    assert_eq!(stage.answers.pop().unwrap().1, None);
    stage.sale(&sale(&reference, &cancelled));
    stage.no_receipts();
    stage.failed("PaymentResponse", "Aborted");
}

#[test]
fn a_reversal_becomes_a_refund_only_when_it_was_declined_or_is_of_a_part() {
    let original = |left: &str| sale("nexo-original", &json!({ "left": left }));
    let find = |stage: &mut Stage, id: &str, amount: &str, left: &str| {
        stage.till("Reversal", id, &reversal("17.8ac7", amount));
        stage.none();
        stage.list(&[]);
        stage.list(&[original(left)]);
        stage.sale(&original(left));
    };
    let mut stage = Stage::ready();
    find(&mut stage, "1", "", "12.50");
    let begin = stage.begun();
    assert_eq!((begin.kind, begin.of.as_deref(), begin.amount), (Kind::Reversal, Some("nexo-original"), None));
    // The outcome is unknown, so no refund follows.
    let undone = json!({ "kind": "reversal", "of": "nexo-original", "state": "unconfirmed", "outcome": null });
    stage.sale(&sale(&begin.reference, &undone));
    stage.failed("ReversalResponse", "UnreachableHost");
    find(&mut stage, "2", "12.50", "12.50");
    let first = stage.begun().reference;
    let declined = json!({ "kind": "reversal", "of": "nexo-original", "outcome": "declined" });
    stage.sale(&sale(&first, &declined));
    let begin = stage.begun();
    assert_eq!((begin.kind, begin.reference), (Kind::Refund, format!("{first}-r")));
    stage.sale(&sale(&format!("{first}-r"), &json!({ "kind": "refund" })));
    stage.no_receipts();
    assert_eq!(stage.answer()["ReversalResponse"]["ReversedAmount"], 12.5);
    // No refund follows a reversal that failed for a reason other than a decline.
    for (id, outcome) in [("31", "not-sent"), ("32", "cancelled"), ("33", "an outcome of a later agent")] {
        find(&mut stage, id, "12.50", "12.50");
        let reference = stage.begun().reference;
        stage.sale(&sale(&reference, &json!({ "kind": "reversal", "of": "nexo-original", "outcome": outcome })));
        stage.no_receipts();
        assert_eq!(stage.answer()["ReversalResponse"]["Response"]["Result"], "Failure");
    }
    find(&mut stage, "3", "5", "12.50");
    assert_eq!((stage.begun().kind, stage.begun().amount.as_deref()), (Kind::Refund, Some("5.00")));
    stage.says(409, r#"{"status":409,"code":"busy","detail":"busy"}"#);
    stage.failed("ReversalResponse", "Busy");
    for (id, amount, left) in [("4", "12.51", "12.50"), ("5", "", "0"), ("6", "8", "7.50")] {
        find(&mut stage, id, amount, left);
        stage.failed("ReversalResponse", "NotAllowed");
    }
    // Another payment has received this number in the meantime.
    stage.till("Reversal", "7", &reversal("17.9999", ""));
    stage.none();
    stage.list(&[]);
    stage.list(&[original("12.50")]);
    stage.failed("ReversalResponse", "NotFound");
}

#[test]
fn what_follows_a_reservation() {
    let reserved = sale(
        "nexo-original",
        &json!({ "kind": "pre-authorisation", "amount": "100.00",
        "approvedAmount": "100.00", "left": "100.00" }),
    );
    let of = r#","OriginalPOITransaction":{"POITransactionID":{"TransactionID":"17.8ac7","TimeStamp":"t"}}"#;
    for (kind, amount, expected) in [
        ("Completion", "80", Some((Kind::Capture, "80.00"))),
        ("Completion", "100.01", None),
        ("UpdateReservation", "130", Some((Kind::Increment, "30.00"))),
        ("UpdateReservation", "90", None),
    ] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &payment_of(kind, amount, "1", of));
        stage.is_new();
        stage.list(std::slice::from_ref(&reserved));
        stage.sale(&reserved);
        match expected {
            None => stage.failed("PaymentResponse", "NotAllowed"),
            Some((kind, amount)) => {
                let begin = stage.begun();
                assert_eq!((begin.kind, begin.amount.as_deref()), (kind, Some(amount)));
                assert_eq!(begin.parameters.contains_key("sequence"), kind == Kind::Capture);
            }
        }
    }
}

#[test]
fn what_cannot_be_had_is_refused_by_its_name_and_nothing_is_begun() {
    let cases = [
        (payment("0", "1"), "MessageFormat"),
        (payment("1.005", "1"), "MessageFormat"),
        (payment("5", "1").replace("EUR", "USD"), "NotAllowed"),
        (payment_of("Refund", "5", "1", ""), "NotAllowed"),
        (payment_of("Instalment", "5", "1", ""), "UnavailableService"),
        (payment("5", ""), "MessageFormat"),
        (payment("5", &"9".repeat(81)), "MessageFormat"),
        (
            payment("5", "1").replace(r#""RequestedAmount":5"#, r#""RequestedAmount":5,"CashBackAmount":1"#),
            "NotAllowed",
        ),
        (payment("5", "1").replace(r#""RequestedAmount":5"#, r#""RequestedAmount":5,"TipAmount":5"#), "MessageFormat"),
        (
            payment_of("Normal", "5", "1", r#","TransactionConditions":{"AllowedPaymentBrand":["visa"]}"#),
            "PaymentRestriction",
        ),
        (
            payment_of("Normal", "5", "1", r#","TransactionConditions":{"ForceEntryMode":["MagStripe"]}"#),
            "PaymentRestriction",
        ),
    ];
    for (body, condition) in cases {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &body);
        stage.was_not_carried_out();
        stage.failed("PaymentResponse", condition);
        assert!(stage.asked.is_empty(), "{body}");
    }
    let mut stage = Stage::ready();
    for (category, body, expected) in [
        ("CardAcquisition", "{}", "UnavailableService"),
        ("EnableService", r#"{"TransactionAction":"StartTransaction"}"#, "UnavailableService"),
        ("Login", r#"{"DateTime":"t","TrainingModeFlag":true}"#, "UnavailableService"),
    ] {
        stage.till(category, "1", body);
        stage.failed(&format!("{category}Response"), expected);
    }
    let other = Stage::ready();
    let mut stage = Stage { session: Session::new(Settings { poi_id: "B-2".to_owned(), ..settings() }), ..other };
    stage.till("Payment", "1", &payment("5", "1"));
    stage.rejected("this terminal is B-2");
}

#[test]
fn a_tip_is_a_part_of_the_amount() {
    let mut stage = Stage::ready();
    let body = payment("12.5", "1").replace("12.5", r#"12.5,"TipAmount":2.5"#);
    stage.till("Payment", "1", &body);
    stage.is_new();
    assert_eq!((stage.begun().amount.as_deref(), stage.begun().tip.as_deref()), (Some("10.00"), Some("2.50")));
    let begun = stage.begun().reference;
    stage.sale(&sale(&begun, &json!({ "amount": "10.00", "tip": "2.50" })));
    stage.no_receipts();
    let answer = stage.answer();
    assert_eq!(answer["PaymentResponse"]["PaymentResult"]["AmountsResp"]["TipAmount"], 2.5);
}

#[test]
fn a_till_that_has_hung_up_before_anything_was_begun_begins_nothing() {
    let mut stage = Stage::ready();
    let exchange = stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.none();
    stage.session.gone(exchange);
    stage.list(&[]);
    stage.list(&[]);
    assert!(stage.asked.is_empty() && stage.answers.is_empty());
    // A transaction in progress continues, but no till gets an answer.
    let exchange = stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.is_new();
    let reference = stage.begun().reference;
    stage.session.gone(exchange);
    stage.sale(&sale(&reference, &json!({ "state": "in-progress", "outcome": null })));
    stage.sale(&sale(&reference, &json!({})));
    assert!(stage.asked.is_empty() && stage.answers.is_empty());
}

#[test]
fn sums_and_sessions() {
    let mut stage = Stage::ready();
    let close = json!({
        "number": 3, "period": { "to": "2026-11-23T20:00:00+01:00" },
        "schemes": [
            { "kind": "sale", "scheme": "VISA", "currency": "EUR", "count": 2, "sum": "20.00" },
            { "kind": "by-registration", "scheme": "VISA", "currency": "EUR", "count": 1, "sum": "0.50" },
            { "kind": "refund", "scheme": "VISA", "currency": "EUR", "count": 1, "sum": "5.00" },
        ],
    });
    stage.till("GetTotals", "1", "{}");
    assert_eq!(stage.asked.last().unwrap().1, Ask::OpenPeriod);
    stage.says(200, &close.to_string());
    let answer = stage.answer();
    let totals = &answer["GetTotalsResponse"]["TransactionTotals"][0];
    assert_eq!((&totals["CardBrand"], &totals["PaymentCurrency"]), (&json!("VISA"), &json!("EUR")));
    assert_eq!(
        totals["PaymentTotals"],
        json!([
            { "TransactionType": "Debit", "TransactionCount": 3, "TransactionAmount": 20.5 },
            { "TransactionType": "Credit", "TransactionCount": 1, "TransactionAmount": 5 },
        ])
    );
    stage.till("Reconciliation", "2", r#"{"ReconciliationType":"SaleReconciliation"}"#);
    let Some((_, Ask::Close { reference, .. })) = stage.asked.last() else { panic!("no close") };
    assert!(reference.starts_with("nexo-"));
    stage.says(200, &close.to_string());
    assert_eq!(stage.answer()["ReconciliationResponse"]["POIReconciliationID"], "3");
    stage.till("Login", "3", r#"{"DateTime":"t"}"#);
    stage.says(200, STATUS);
    let answer = stage.answer();
    assert_eq!(answer["LoginResponse"]["POISystemData"]["POITerminalData"]["POISerialNumber"], "01");
    stage.till("Diagnosis", "4", "{}");
    stage.says(200, STATUS);
    assert_eq!(stage.answer()["DiagnosisResponse"]["LoggedSaleID"], json!(["till"]));
    stage.till("Logout", "5", "{}");
    assert_eq!(stage.answer()["LogoutResponse"]["Response"]["Result"], "Success");
    let input = r#"{"InputData":{"Device":"CustomerInput","InfoQualify":"Input","InputCommand":"DecimalString"}}"#;
    stage.till("Input", "6", input);
    assert_eq!(stage.asked.last().unwrap().1, Ask::TypeAmount { currency: "EUR".to_owned() });
    stage.says(200, r#"{"amount":"7.50","currency":"EUR"}"#);
    assert_eq!(stage.answer()["InputResponse"]["InputResult"]["Input"]["TextInput"], "7.50");
}

/// Checks that the reader asks for the amount until the till's time-out, an abort, or a lost connection.
#[test]
fn a_till_waits_for_an_amount_no_longer_than_it_says() {
    let input = |time: &str| {
        let data = r#""Device":"CustomerInput","InfoQualify":"Input","InputCommand":"DecimalString""#;
        format!(r#"{{"InputData":{{{data}{time}}}}}"#)
    };
    let result = |stage: &mut Stage| stage.answer()["InputResponse"]["InputResult"]["Response"].clone();
    let mut stage = Stage::ready();
    stage.till("Input", "1", &input(r#","MaxInputTime":20"#));
    assert_eq!(stage.session.next_deadline(), Some(Duration::from_secs(20)));
    let early = stage.session.tick(Now { steady: Duration::from_millis(19_999), ..stage.now });
    assert!(early.is_empty(), "{early:?}");
    stage.now.steady = Duration::from_secs(20);
    let actions = stage.session.tick(stage.now);
    stage.take(actions);
    assert!(stage.asked.is_empty(), "{:?}", stage.asked);
    assert_eq!(result(&mut stage)["ErrorCondition"], "Cancel");

    stage.till("Input", "2", &input(""));
    let abort = |of: &str| {
        format!(r#"{{"AbortReason":"x","MessageReference":{{"MessageCategory":"Input","ServiceID":"{of}"}}}}"#)
    };
    let aborting = stage.till("Abort", "3", &abort("2"));
    assert!(stage.asked.is_empty(), "{:?}", stage.asked);
    assert_eq!(stage.answers.pop(), Some((aborting, None)), "an Abort has no answer");
    assert_eq!(result(&mut stage)["ErrorCondition"], "Aborted");

    let exchange = stage.till("Input", "4", &input(r#","MaxInputTime":20"#));
    let actions = stage.session.gone(exchange);
    stage.take(actions);
    assert!(stage.asked.is_empty() && stage.answers.is_empty());
    assert_eq!(stage.session.next_deadline(), None);
}

#[test]
fn a_tills_own_lines_are_printed_and_it_hears_whether_they_are_on_paper() {
    let with_printer = STATUS.replace(r#""printers":[]"#, r#""printers":[{"state":"ready"}]"#);
    let print = |format: &str| {
        format!(
            r#"{{"PrintOutput":{{"DocumentQualifier":"Document","ResponseMode":"PrintEnd","OutputContent":
            {{"OutputFormat":"{format}","OutputText":[{{"Text":"VOUCHER"}}]}}}}}}"#
        )
    };
    let response = |stage: &mut Stage| stage.answer()["PrintResponse"]["Response"].clone();
    let mut stage = Stage::new(settings());
    for (status, body, result, condition) in [
        (200, "{}", "Success", None),
        (503, r#"{"status":503,"code":"printer","detail":"out of paper"}"#, "Failure", Some("DeviceOut")),
        (400, r#"{"status":400,"code":"malformed","detail":"lines"}"#, "Failure", Some("MessageFormat")),
        (403, r#"{"status":403,"code":"forbidden","detail":"no"}"#, "Failure", Some("NotAllowed")),
        // The outcome is unknown, so the lines are not printed a second time.
        (500, "?", "Failure", Some("UnavailableDevice")),
    ] {
        stage.till("Print", "p", &print("Text"));
        stage.says(200, &with_printer);
        let Some((_, Ask::Print(lines))) = stage.asked.last() else { panic!("{:?}", stage.asked) };
        assert_eq!(lines[0].text, "VOUCHER");
        stage.says(status, body);
        let response = response(&mut stage);
        assert_eq!((response["Result"].as_str(), response["ErrorCondition"].as_str()), (Some(result), condition));
        assert!(stage.asked.is_empty() && stage.session.next_deadline().is_none());
    }
    for (status, format) in [(with_printer.as_str(), "XHTML"), (STATUS, "Text")] {
        stage.till("Print", "p", &print(format));
        stage.says(200, status);
        let response = response(&mut stage);
        assert_eq!(response["ErrorCondition"], "UnavailableDevice");
        assert!(stage.asked.is_empty());
    }
}

#[test]
fn a_till_hears_its_own_sums_where_it_wants_them() {
    let sum = |sum: &str| json!({ "kind": "sale", "scheme": "VISA", "currency": "EUR", "count": 2, "sum": sum });
    let turnover =
        json!({ "name": "kasse-1", "currency": "EUR", "count": 2, "taken": "12.34", "given": "0.00", "net": "12.34" });
    let own = json!({ "till": "kasse-1", "firstNumber": 1, "lastNumber": 2, "brands": [], "schemes": [sum("12.34")] });
    let close = json!({
        "number": 7, "period": { "to": "2026-11-20T18:00:00+01:00" }, "schemes": [sum("17.34")],
        "tills": [turnover], "own": [own],
    });
    let mut earlier = close.clone();
    earlier.as_object_mut().unwrap().remove("own");
    let asked = |category: &str, body: &str, own: Option<&str>, close: &Value| {
        let mut stage = Stage::new(Settings { own_sums: own.map(str::to_owned), ..settings() });
        stage.till(category, "1", body);
        while let Some((_, ask)) = stage.asked.last() {
            let status = *ask == Ask::Status;
            stage.says(200, &if status { STATUS.to_owned() } else { close.to_string() });
        }
        let answer = stage.answer()[format!("{category}Response")].clone();
        let sums = answer["TransactionTotals"][0]["PaymentTotals"][0]["TransactionAmount"].clone();
        (answer["Response"]["ErrorCondition"].clone(), sums, answer["POIReconciliationID"].clone())
    };
    for (category, body) in [
        ("Reconciliation", r#"{"ReconciliationType":"SaleReconciliation"}"#),
        ("Reconciliation", r#"{"ReconciliationType":"PreviousReconciliation"}"#),
        ("GetTotals", "{}"),
    ] {
        let seven = json!("7");
        assert_eq!(asked(category, body, None, &close), (Value::Null, json!(17.34), seven.clone()), "{body}");
        assert_eq!(asked(category, body, Some("kasse-1"), &close), (Value::Null, json!(12.34), seven.clone()));
        assert_eq!(asked(category, body, Some("bar"), &close), (Value::Null, Value::Null, seven));
        assert_eq!(asked(category, body, Some("kasse-1"), &earlier).0, json!("NotAllowed"));
    }
}

#[test]
fn a_code_is_printed_as_the_terminal_can_and_everything_else_about_it_is_refused_by_name() {
    let with_printer = STATUS.replace(r#""printers":[]"#, r#""printers":[{"state":"ready"}]"#);
    let print = |format: &str, more: &str| {
        format!(
            r#"{{"PrintOutput":{{"DocumentQualifier":"Voucher","ResponseMode":"PrintEnd","OutputContent":
            {{"OutputFormat":"{format}",{more}}}}}}}"#
        )
    };
    let mut stage = Stage::new(settings());
    for (kind, more, code) in [
        ("EAN8", "", PrintCode::Ean8),
        ("EAN13", "", PrintCode::Ean13),
        ("UPCA", "", PrintCode::UpcA),
        ("Code25", "", PrintCode::Code25),
        ("Code128", "", PrintCode::Code128),
        ("PDF417", "", PrintCode::Pdf417),
        ("QRCode", "", PrintCode::Qr),
        ("QRCODE", r#","QRCodeErrorCorrection":"M","QRCodeEncodingMode":"Binary""#, PrintCode::Qr),
        ("QRCode", r#","QRCodeErrorCorrection":"L""#, PrintCode::QrLow),
        ("QRCode", r#","QRCodeErrorCorrection":"Q""#, PrintCode::QrQuartile),
        ("QRCode", r#","QRCodeErrorCorrection":"H""#, PrintCode::QrHigh),
    ] {
        // The value is longer than a line of text may be, because a code cannot continue on the next line.
        let value = "1".repeat(300);
        let barcode = format!(r#""OutputBarcode":{{"BarcodeType":"{kind}","BarcodeValue":"{value}"{more}}}"#);
        stage.till("Print", "p", &print("BarCode", &barcode));
        stage.says(200, &with_printer);
        let Some((_, Ask::Print(lines))) = stage.asked.last() else { panic!("{:?}", stage.asked) };
        let line = PrintLine { align: Align::Centre, code: Some(code), ..PrintLine::plain(value) };
        assert_eq!(*lines, [line], "{kind}{more}");
        // The terminal refuses content that does not fit the code.
        stage.says(400, r#"{"status":400,"code":"malformed","detail":"lines[0]: EAN-8 takes 7 digits"}"#);
        let response = stage.answer()["PrintResponse"]["Response"].clone();
        assert_eq!(response["ErrorCondition"], "MessageFormat");
        assert!(response["AdditionalResponse"].as_str().unwrap().contains("EAN-8%20takes%207%20digits"), "{response}");
    }
    let of = |more: &str| format!(r#""OutputBarcode":{{"BarcodeType":"EAN8","BarcodeValue":"96385074"{more}}}"#);
    let text = r#""OutputText":[{"Text":"x"}]"#;
    for (format, more, named) in [
        ("BarCode", r#""OutputBarcode":{"BarcodeValue":"1"}"#.to_owned(), "BarcodeType"),
        ("BarCode", r#""OutputBarcode":{"BarcodeType":"EAN8"}"#.to_owned(), "BarcodeValue"),
        ("BarCode", text.to_owned(), "OutputBarcode"),
        ("BarCode", format!("{text},{}", of("")), "OutputText"),
        ("Text", format!("{text},{}", of("")), "OutputBarcode"),
        ("BarCode", of(r#","QRCodeErrorCorrection":"H""#), "QRCodeErrorCorrection"),
        ("BarCode", of(r#","QRCodeBinaryValue":"AA==""#), "QRCodeBinaryValue"),
        ("BarCode", of(r#","QRCodeVersion":{"Version":4}"#), "QRCodeVersion"),
        ("MessageRef", text.to_owned(), "OutputFormat"),
    ] {
        stage.till("Print", "p", &print(format, &more));
        stage.says(200, &with_printer);
        let response = stage.answer()["PrintResponse"]["Response"].clone();
        assert_eq!(response["ErrorCondition"], "UnavailableDevice", "{format} {more}");
        assert!(response["AdditionalResponse"].as_str().unwrap().contains(named), "{response}");
        assert!(stage.asked.is_empty(), "nothing is printed");
    }
}

#[test]
fn a_till_that_the_terminal_refuses_is_told_when_it_logs_in_or_asks_for_a_diagnosis() {
    let detail = "the agent refuses the till kasse-1";
    for (category, body) in [("Diagnosis", "{}"), ("Login", r#"{"DateTime":"t"}"#)] {
        let mut stage = Stage::new(settings());
        stage.till(category, "1", body);
        stage.says(403, &json!({ "status": 403, "code": "forbidden", "detail": detail }).to_string());
        let answer = stage.answer();
        let response = &answer[format!("{category}Response")]["Response"];
        assert_eq!((&response["Result"], &response["ErrorCondition"]), (&json!("Failure"), &json!("NotAllowed")));
        assert!(response["AdditionalResponse"].as_str().unwrap().contains("kasse-1"), "{answer}");
    }
}

#[test]
fn a_text_is_shown_to_the_customer_and_nothing_else_is_shown() {
    let display = |device: &str, more: &str| {
        format!(
            r#"{{"DisplayOutput":[{{"Device":"{device}","InfoQualify":"Display","OutputContent":
            {{"OutputFormat":"Text","OutputText":[{{"Text":"Total"}},{{"Text":"12,34"}}]}}{more}}}]}}"#
        )
    };
    let outcome = |stage: &mut Stage| {
        let result = stage.answer()["DisplayResponse"]["OutputResult"][0].clone();
        (result["Device"].clone(), result["Response"]["Result"].clone(), result["Response"]["ErrorCondition"].clone())
    };
    let mut stage = Stage::new(settings());
    stage.till("Display", "d", &display("CustomerDisplay", ""));
    assert_eq!(stage.asked.last().unwrap().1, Ask::ShowText("Total\n12,34".to_owned()));
    stage.says(204, "");
    assert_eq!(outcome(&mut stage), (json!("CustomerDisplay"), json!("Success"), Value::Null));
    stage.till("Display", "d", &display("CustomerDisplay", ""));
    stage.says(503, r#"{"status":503,"code":"not-ready","detail":"the reader is in use"}"#);
    assert_eq!(outcome(&mut stage), (json!("CustomerDisplay"), json!("Failure"), json!("UnavailableDevice")));
    let menu = r#","MenuEntry":[{"OutputFormat":"Text","OutputText":[{"Text":"yes"}]}]"#;
    for (device, more) in [("CashierDisplay", ""), ("CustomerDisplay", menu)] {
        stage.till("Display", "d", &display(device, more));
        assert_eq!(outcome(&mut stage), (json!(device), json!("Failure"), json!("UnavailableDevice")));
        assert!(stage.asked.is_empty());
    }
}
