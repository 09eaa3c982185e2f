//! Tests of repeated messages, and of different messages under the same reference. The simulated terminal stores each
//! begin and answers as the agent does.

use super::*;
use crate::nexo::number::Decimal;
use crate::nexo::reference::replaces;

/// A till, and the terminal of its session.
struct Counter {
    stage: Stage,
    /// All begun transactions, oldest first.
    journal: Vec<Value>,
    /// The reference, number and time of each close.
    closes: Vec<(String, u64, u64)>,
    /// The outcome of the next transaction.
    outcome: &'static str,
    /// The records come from an earlier version and do not contain the message's meaning.
    earlier_program: bool,
}

const DAY: u64 = 86_400;

fn cents(amount: &Value) -> i64 {
    let text = amount.as_str().unwrap_or("0");
    text.parse::<Decimal>().unwrap().to_minor(2).unwrap().try_into().unwrap()
}

fn euros(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

impl Counter {
    fn new() -> Self {
        Self::with(settings())
    }

    fn with(settings: Settings) -> Self {
        let mut stage = Stage::new(settings);
        stage.till("Diagnosis", "d", "{}");
        stage.says(200, STATUS);
        stage.answer();
        Self { stage, journal: Vec::new(), closes: Vec::new(), outcome: "approved", earlier_program: false }
    }

    fn later(&mut self, seconds: u64) {
        self.stage.now.unix_s += seconds;
        self.stage.now.steady += Duration::from_secs(seconds);
    }

    fn begin(&mut self, begin: &Begin) -> Value {
        let known = self.journal.iter().find(|sale| sale["reference"] == begin.reference.as_str()).cloned();
        if let Some(mut known) = known {
            known["replayed"] = json!(true);
            return known;
        }
        let original = self.journal.iter_mut().find(|sale| sale["reference"].as_str() == begin.of.as_deref());
        let left = original.as_ref().map(|sale| cents(&sale["left"]));
        let amount = begin.amount.as_deref().map_or_else(|| left.unwrap(), |text| cents(&json!(text)));
        let approved = self.outcome == "approved";
        if let Some(sale) = original.filter(|_| approved) {
            let less = if begin.kind == Kind::Increment { -amount } else { amount };
            sale["left"] = json!(euros(left.unwrap() - less));
        }
        let tip = begin.tip.as_deref().map_or(0, |text| cents(&json!(text)));
        let number = self.journal.len() + 17;
        let mut data = begin.till_data.clone();
        if self.earlier_program {
            data.remove("Meaning");
        }
        self.journal.push(sale(
            &begin.reference,
            &json!({
                "number": number, "kind": begin.kind, "of": begin.of, "amount": euros(amount), "tip": begin.tip,
                "outcome": self.outcome, "approvedAmount": approved.then(|| euros(amount + tip)),
                "left": euros(if approved { amount + tip } else { 0 }), "paymentId": format!("8ac{number}"),
                "startedAt": rfc3339(self.stage.now.unix_s), "tillData": data, "currency": "EUR",
            }),
        ));
        self.journal.last().unwrap().clone()
    }

    fn close(&mut self, wanted: Option<&str>) -> (u16, Value) {
        let known = match wanted {
            Some(reference) => self.closes.iter().find(|(it, ..)| it == reference),
            None => self.closes.last(),
        };
        let replayed = wanted.is_some() && known.is_some();
        let (reference, number, at) = match (known.cloned(), wanted) {
            (Some(known), _) => known,
            (None, None) => return (404, json!({ "status": 404, "code": "no-such-close", "detail": "none" })),
            (None, Some(reference)) => {
                let made = (reference.to_owned(), self.closes.len() as u64 + 1, self.stage.now.unix_s);
                self.closes.push(made.clone());
                made
            }
        };
        let to = rfc3339(at + 3600).replace('Z', "+01:00");
        let close = json!({ "number": number, "reference": reference, "replayed": replayed, "period": { "to": to } });
        (200, close)
    }

    /// Answers the question at this position, counting from the oldest.
    fn answers(&mut self, at: usize) {
        let (ticket, ask) = self.stage.asked.remove(at);
        let none = (404, json!({ "status": 404, "code": "no-such-sale", "detail": "none" }));
        let listed = |sales: Vec<&Value>| (200, json!({ "sales": sales }));
        let (status, body) = match &ask {
            Ask::Show { reference, .. } => {
                let known = self.journal.iter().find(|sale| sale["reference"] == reference.as_str());
                known.map_or(none, |sale| (200, sale.clone()))
            }
            Ask::Referenced { part, from, .. } => {
                let since = from.clone().unwrap_or_default();
                let of = |sale: &&Value| {
                    sale["reference"].as_str().unwrap().contains(part.as_str())
                        && sale["startedAt"].as_str() >= Some(&since)
                };
                listed(self.journal.iter().rev().filter(of).collect())
            }
            Ask::Number(number) => listed(self.journal.iter().filter(|sale| sale["number"] == *number).collect()),
            Ask::Begin(begin) => (200, self.begin(begin)),
            Ask::Receipt { .. } => (409, json!({ "status": 409, "code": "no-receipt-yet", "detail": "none" })),
            Ask::Close { reference, .. } => self.close(Some(reference)),
            Ask::LastClose => self.close(None),
            other => panic!("{other:?}"),
        };
        let said = Said::read(&ask, status, body.to_string().as_bytes());
        let actions = self.stage.session.said(ticket, said, self.stage.now);
        self.stage.take(actions);
    }

    /// Sends a message and returns its answer.
    fn does(&mut self, category: &str, service_id: &str, body: &str) -> Value {
        self.stage.till(category, service_id, body);
        while !self.stage.asked.is_empty() {
            self.answers(0);
        }
        self.stage.answer()
    }

    /// Returns the answer to a payment or a reversal that is carried out.
    fn done(&mut self, category: &str, service_id: &str, body: &str) -> String {
        let answer = self.does(category, service_id, body);
        let response = &answer[format!("{category}Response")];
        assert_eq!(response["Response"]["Result"], "Success", "{body}: {answer}");
        response["POIData"]["POITransactionID"]["TransactionID"].as_str().unwrap().to_owned()
    }

    fn is_rejected(&mut self, category: &str, service_id: &str, body: &str) -> String {
        let begun = self.journal.len();
        let answer = self.does(category, service_id, body);
        let event = &answer["EventNotification"];
        assert_eq!(event["EventToNotify"], "Reject", "{body}: {answer}");
        assert_eq!(self.journal.len(), begun);
        additional::read(event["EventDetails"].as_str().unwrap())[0].1.clone()
    }
}

fn of(original: &str) -> String {
    format!(r#","OriginalPOITransaction":{{"POITransactionID":{{"TransactionID":"{original}","TimeStamp":"t"}}}}"#)
}

fn reversal_in(currency: &str, original: &str, amount: &str) -> String {
    let data = format!(
        r#""SaleData":{{"SaleTransactionID":{{"TransactionID":"v","TimeStamp":"t"}},"SaleToAcquirerData":
        "currency={currency}"}},"#
    );
    reversal(original, amount).replacen('{', &format!("{{{data}"), 1)
}

fn with_tip(amount: &str, tip: &str) -> String {
    payment(&format!(r#"{amount},"TipAmount":{tip}"#), "tip")
}

/// Pairs of messages with the same ServiceID and SaleTransactionID but different effects on money. The last field says
/// whether the second one moves money once the number is free again.
fn pairs(counter: &mut Counter) -> Vec<(&'static str, &'static str, String, String, bool)> {
    let one = counter.done("Payment", "a", &payment("10", "one"));
    let two = counter.done("Payment", "b", &payment("30", "two"));
    let three = counter.done("Payment", "e", &payment("30", "seven"));
    let reserved = counter.done("Payment", "c", &payment_of("FirstReservation", "50", "three", ""));
    let refund = |of: &str| payment_of("Refund", "3", "four", of);
    let update = |amount: &str| payment_of("UpdateReservation", amount, "five", &of(&reserved));
    vec![
        ("Reversal", "another original", reversal(&one, "1"), reversal(&two, "1"), true),
        ("Reversal", "all after a part", reversal(&two, "2"), reversal(&two, ""), true),
        ("Reversal", "another part", reversal(&three, "3"), reversal(&three, "3.01"), true),
        ("Payment", "a refund of another original", refund(&of(&one)), refund(&of(&two)), false),
        ("Payment", "another tip", with_tip("12.00", "2.00"), with_tip("13.00", "3.00"), false),
        ("Payment", "another reservation", update("80"), update("200"), false),
        ("Payment", "another kind", payment("5", "six"), payment_of("FirstReservation", "5", "six", ""), false),
    ]
}

/// Checks that an earlier payment is not reported as "not allowed", because a till would then charge the customer
/// again.
#[test]
fn what_was_carried_out_is_answered_although_todays_settings_refuse_it() {
    let data = |text: &str| format!(r#""SaleData":{{"SaleToAcquirerData":"{text}","#);
    let mut counter = Counter::with(Settings { ignore: vec!["store".to_owned()], ..settings() });
    let body = payment("5", "1").replacen(r#""SaleData":{"#, &data("store=7"), 1);
    let made = counter.done("Payment", "1", &body);
    counter.stage.session.settings.ignore.clear();
    assert_eq!(counter.done("Payment", "1", &body), made);
    let answer = counter.does("Payment", "2", &body.replace("\"1\"", "\"2\""));
    assert_eq!(answer["PaymentResponse"]["Response"]["ErrorCondition"], "NotAllowed", "{answer}");
    assert_eq!(counter.journal.len(), 1);
}

#[test]
fn another_message_under_a_used_reference_is_never_answered_by_the_first() {
    for earlier_program in [false, true] {
        let mut counter = Counter { earlier_program, ..Counter::new() };
        for (n, (category, what, first, second, moves)) in pairs(&mut counter).into_iter().enumerate() {
            let id = &format!("p{n}");
            counter.done(category, id, &first);
            let said = counter.is_rejected(category, id, &second);
            assert!(said.contains("another amount") || said.contains("earlier version"), "{what}: {said}");
            // The number is free again, but the SaleTransactionID is not.
            counter.later(3 * DAY);
            let begun = counter.journal.len();
            if moves {
                let carried_out = counter.done(category, id, &second);
                assert_eq!(counter.journal.len(), begun + 1, "{what}");
                // The second message can now be repeated itself, and is found by the ServiceID of its message.
                assert_eq!(counter.done(category, id, &second), carried_out, "{what}");
                assert_eq!(counter.journal.len(), begun + 1, "{what}");
                let last = counter.journal.last().unwrap()["reference"].as_str().unwrap().to_owned();
                assert!(last.len() <= 62 && !replaces(&last), "{last}");
            } else {
                let said = counter.is_rejected(category, id, &second);
                assert!(said.contains("SaleTransactionID"), "{what}: {said}");
            }
        }
    }
}

#[test]
fn the_same_message_has_its_own_answer_at_once_and_after_months() {
    let mut counter = Counter::new();
    for (n, (category, what, first, ..)) in pairs(&mut counter).into_iter().enumerate() {
        let id = &format!("p{n}");
        let name = counter.done(category, id, &first);
        for later in [0, 1, 3 * DAY, 90 * DAY] {
            counter.later(later);
            let begun = counter.journal.len();
            assert_eq!(counter.done(category, id, &first), name, "{what} after {later} s");
            assert_eq!(counter.journal.len(), begun, "{what}");
        }
    }
}

#[test]
fn what_came_to_nothing_may_be_asked_for_otherwise_once_its_number_is_free() {
    let mut counter = Counter { outcome: "declined", ..Counter::new() };
    counter.does("Payment", "1", &payment("10", "one"));
    assert!(counter.is_rejected("Payment", "1", &payment("11", "one")).contains("another amount"));
    counter.later(3 * DAY);
    counter.outcome = "approved";
    let paid = counter.done("Payment", "1", &payment("11", "one"));
    assert_eq!(counter.done("Payment", "1", &payment("11", "one")), paid);
    // The same message gets its own outcome again.
    let answer = counter.does("Payment", "1", &payment("10", "one"));
    assert_eq!(answer["PaymentResponse"]["Response"]["ErrorCondition"], "Refusal", "{answer}");
    assert!(counter.is_rejected("Payment", "1", &payment("12", "one")).contains("48 hours"));
    assert_eq!(counter.journal.len(), 2);
}

#[test]
fn the_currency_of_a_reversal_is_the_originals_or_it_is_refused_by_name() {
    let mut counter = Counter::new();
    let paid = counter.done("Payment", "a", &payment("30", "one"));
    let answer = counter.does("Reversal", "1", &reversal_in("USD", &paid, "5"));
    let response = &answer["ReversalResponse"]["Response"];
    assert_eq!(response["ErrorCondition"], "NotAllowed", "{answer}");
    assert!(response["AdditionalResponse"].as_str().unwrap().contains("currency"), "{answer}");
    assert_eq!(counter.journal.len(), 1);
    counter.done("Reversal", "2", &reversal_in("EUR", &paid, "5"));
    let begun = counter.journal.len();
    let answer = counter.does("Reversal", "2", &reversal_in("USD", &paid, "5"));
    assert_ne!(answer["ReversalResponse"]["Response"]["Result"], "Success", "{answer}");
    assert_eq!(counter.journal.len(), begun);
}

#[test]
fn a_twin_waits_and_has_the_same_answer() {
    for (category, twin_comes_at) in [("Payment", 0), ("Payment", 1), ("Payment", 2), ("Reversal", 1)] {
        let mut counter = Counter::new();
        let paid = counter.done("Payment", "a", &payment("30", "one"));
        let body = if category == "Payment" { payment("5", "two") } else { reversal(&paid, "5") };
        counter.stage.till(category, "1", &body);
        for _ in 0..twin_comes_at {
            counter.answers(0);
        }
        counter.stage.till(category, "1", &body);
        // The first question of the repeated message is answered before the first message begins. Its other questions
        // are answered later.
        if counter.stage.asked.len() > 1 {
            counter.answers(1);
        }
        while !counter.stage.asked.is_empty() {
            counter.answers(0);
        }
        let (one, other) = (counter.stage.answers.pop().unwrap(), counter.stage.answers.pop().unwrap());
        assert_eq!(one.1, other.1, "{category} {twin_comes_at}");
        let result =
            |value: &Value| value["SaleToPOIResponse"][format!("{category}Response")]["Response"]["Result"].clone();
        assert_eq!(result(&one.1.unwrap()), "Success", "{category} {twin_comes_at}");
        assert_eq!(counter.journal.len(), 2);
    }
}

#[test]
fn a_twin_whose_first_has_hung_up_goes_on_in_its_place() {
    let mut counter = Counter::new();
    let first = counter.stage.till("Payment", "1", &payment("5", "one"));
    counter.answers(0);
    let twin = counter.stage.till("Payment", "1", &payment("5", "one"));
    counter.stage.session.gone(first);
    while !counter.stage.asked.is_empty() {
        counter.answers(0);
    }
    let (exchange, answer) = counter.stage.answers.pop().unwrap();
    assert_eq!((exchange, counter.stage.answers.len(), counter.journal.len()), (twin, 0, 1));
    assert_eq!(answer.unwrap()["SaleToPOIResponse"]["PaymentResponse"]["Response"]["Result"], "Success");
}

#[test]
fn another_message_in_a_twins_place_begins_nothing() {
    let mut counter = Counter::new();
    counter.stage.till("Payment", "1", &payment("5", "one"));
    counter.answers(0);
    counter.stage.till("Payment", "1", &payment("6", "one"));
    counter.stage.failed("PaymentResponse", "Busy");
}

#[test]
fn a_close_under_an_old_number_closes_or_is_refused_by_name() {
    let mut counter = Counter::new();
    let close = r#"{"ReconciliationType":"SaleReconciliation"}"#;
    let number = |answer: &Value| answer["ReconciliationResponse"]["POIReconciliationID"].clone();
    for later in [0, 60, DAY] {
        counter.later(later);
        let answer = counter.does("Reconciliation", "1", close);
        assert_eq!(number(&answer), "1", "soon it is the same close: {answer}");
    }
    // Another close was made since then, so neither the old nor the new sums are the right answer.
    assert_eq!(number(&counter.does("Reconciliation", "2", close)), "2");
    let answer = counter.does("Reconciliation", "1", close);
    let response = &answer["ReconciliationResponse"]["Response"];
    assert_eq!(response["ErrorCondition"], "NotAllowed", "{answer}");
    assert!(response["AdditionalResponse"].as_str().unwrap().contains("ServiceID"), "{answer}");
    // Days later the number is free again, so the message makes a close.
    for round in 3..6 {
        counter.later(3 * DAY);
        for _ in 0..2 {
            let answer = counter.does("Reconciliation", "1", close);
            assert_eq!(number(&answer), round.to_string(), "{answer}");
            counter.later(60);
        }
        assert_eq!(counter.closes.len(), round);
    }
}

#[test]
fn a_close_of_a_twin_is_one() {
    let mut counter = Counter::new();
    let close = r#"{"ReconciliationType":"SaleReconciliation"}"#;
    counter.stage.till("Reconciliation", "1", close);
    counter.stage.till("Reconciliation", "1", close);
    while !counter.stage.asked.is_empty() {
        counter.answers(0);
    }
    let (one, other) = (counter.stage.answers.pop().unwrap(), counter.stage.answers.pop().unwrap());
    assert_eq!((one.1, counter.closes.len()), (other.1, 1));
}
