//! Every kind of transaction over real connections, from the till to the gateway's ledger and back. The tests check the
//! till's request, the gateway's entry, the rest, and the refusals before a request is sent.

use crate::counter::{Counter, ended};
use easy_ext::ext;
use pos_agent::till::{GatewayState, SaleView};
use pos_sim::reader::CardEntry::{Insert, Tap};
use pos_sim::reader::card;
use pos_terms::transaction::{Kind, OutcomeWord, Reference};
use serde_json::{Value, json};

/// Command D010 of the reader.
const SYSTEM_CLOCK: u16 = 0xD010;

#[ext(Calls)]
impl Counter {
    /// Checks that a request is refused before it is written or sent. Returns the code and the detail.
    async fn refused(&self, body: Value) -> (u16, String, String) {
        let before = self.shop.gateway.ledger().entries().len();
        let (status, answer) = self.ask(body).await;
        assert_eq!(self.shop.gateway.ledger().entries().len(), before, "{answer}");
        let text = |field: &str| answer[field].as_str().unwrap_or_default().to_owned();
        (status, text("code"), text("detail"))
    }

    /// Makes an approved transaction with a card.
    async fn with_card(&self, body: Value) -> SaleView {
        let reference = body["reference"].as_str().unwrap().to_owned();
        let (status, answer) = self.ask(body).await;
        assert_eq!(status, 201, "{answer}");
        self.present(card("tap").unwrap(), Tap).await;
        let view = self.until_ended(&reference).await;
        assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{}", view.text);
        self.until_ready().await;
        view
    }

    fn types(&self) -> Vec<String> {
        self.shop.gateway.ledger().entries().iter().map(|entry| entry.kind.as_str().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_reservation_is_captured_in_parts_and_never_beyond_what_is_left() {
    let mut counter = Counter::open().await;
    let view = counter
        .with_card(json!({"kind": "pre-authorisation", "reference": "room", "amount": "100.00",
            "parameters": {"numberOfCaptures": "3"}}))
        .await;
    assert_eq!(view.kind, Kind::PreAuthorisation);
    assert!(counter.paper().await.contains("PRE-AUTHORISATION"));
    assert_eq!(counter.show("room").await.left.as_deref(), Some("100.00"));

    let first = counter.done(json!({"kind": "capture", "reference": "c1", "of": "room", "amount": "30.00"})).await;
    assert_eq!((ended(&first), first.of.as_deref()), (Some(OutcomeWord::Approved), Some("room")), "{}", first.text);
    assert_eq!(counter.show("room").await.left.as_deref(), Some("70.00"));
    let (status, code, message) =
        counter.refused(json!({"kind": "capture", "reference": "c2", "of": "room", "amount": "70.01"})).await;
    assert_eq!((status, code.as_str()), (422, "amount"));
    assert!(message.contains("70.00 EUR"), "{message}");

    // The reservation is increased, then the rest is captured.
    let more = counter.done(json!({"kind": "increment", "reference": "i1", "of": "room", "amount": "20.00"})).await;
    assert_eq!(ended(&more), Some(OutcomeWord::Approved), "{}", more.text);
    assert_eq!(counter.show("room").await.left.as_deref(), Some("90.00"));
    let last = counter
        .done(json!({"kind": "capture", "reference": "c3", "of": "room", "parameters": {"sequence": "FINAL"}}))
        .await;
    assert_eq!((ended(&last), last.amount.as_str()), (Some(OutcomeWord::Approved), "90.00"), "{}", last.text);
    let (status, code, _) =
        counter.refused(json!({"kind": "capture", "reference": "c4", "of": "room", "amount": "1.00"})).await;
    assert_eq!((status, code.as_str()), (422, "not-possible"));
    assert_eq!(counter.types(), ["PA", "CP", "PA", "CP"]);
}

#[tokio::test]
async fn a_reservation_is_made_anew_and_captured_then() {
    let counter = Counter::open().await;
    counter.with_card(json!({"kind": "pre-authorisation", "reference": "room", "amount": "100.00"})).await;
    let anew = counter.done(json!({"kind": "reauthorisation", "reference": "again", "of": "room"})).await;
    assert_eq!((ended(&anew), anew.amount.as_str()), (Some(OutcomeWord::Approved), "100.00"), "{}", anew.text);
    let (status, code, message) =
        counter.refused(json!({"kind": "capture", "reference": "c1", "of": "room", "amount": "1.00"})).await;
    assert_eq!((status, code.as_str()), (422, "not-possible"), "{message}");
    let taken = counter.done(json!({"kind": "capture", "reference": "c2", "of": "again"})).await;
    assert_eq!((ended(&taken), taken.amount.as_str()), (Some(OutcomeWord::Approved), "100.00"), "{}", taken.text);
    assert_eq!(counter.types(), ["PA", "PA", "CP"]);
}

#[tokio::test]
async fn a_payment_is_refunded_in_parts_and_never_beyond_itself() {
    let mut counter = Counter::open().await;
    counter.with_card(json!({"reference": "s", "amount": "12.34"})).await;
    counter.paper().await;
    counter.paper().await;
    let part = counter.done(json!({"kind": "refund", "reference": "r1", "of": "s", "amount": "5.00"})).await;
    assert_eq!((ended(&part), part.text.as_str()), (Some(OutcomeWord::Approved), "REFUND APPROVED 5.00 EUR"));
    let receipt = counter.paper().await;
    assert!(receipt.contains("REFUND") && receipt.contains("5.00 EUR") && receipt.contains("APPROVED"), "{receipt}");
    // The receipt names the card and the original sale.
    let (_, original) = receipt.split_once("ORIGINAL TRANSACTION").unwrap_or_else(|| panic!("{receipt}"));
    let ends = |line: &str, begins: &str, ends: &str| line.starts_with(begins) && line.ends_with(ends);
    assert!(original.lines().any(|line| ends(line, "Sale number", " 1")), "{receipt}");
    assert!(original.lines().any(|line| ends(line, "Reference", " s")), "{receipt}");
    assert!(original.lines().any(|line| line.starts_with("Date ")), "{receipt}");
    assert!(receipt.contains("**** **** **** ") && receipt.contains("Brand "), "{receipt}");
    let (status, code, _) =
        counter.refused(json!({"kind": "refund", "reference": "r2", "of": "s", "amount": "7.35"})).await;
    assert_eq!((status, code.as_str()), (422, "amount"));
    let rest = counter.done(json!({"kind": "refund", "reference": "r3", "of": "s"})).await;
    assert_eq!((ended(&rest), rest.amount.as_str()), (Some(OutcomeWord::Approved), "7.34"));
    for (body, code) in [
        (json!({"kind": "refund", "reference": "r4", "of": "s"}), "not-possible"),
        (json!({"kind": "refund", "reference": "r5", "of": "r1"}), "not-possible"),
        (json!({"kind": "capture", "reference": "r6", "of": "s"}), "not-possible"),
        (json!({"kind": "refund", "reference": "r7", "of": "nobody"}), "no-such-sale"),
        (json!({"kind": "refund", "reference": "r8", "of": "s", "amount": "1", "currency": "JPY"}), "not-possible"),
        (json!({"kind": "refund", "reference": "r9", "payment": "short", "amount": "1.00"}), "not-possible"),
        (json!({"kind": "refund", "reference": "r9", "amount": "1.00"}), "malformed"),
    ] {
        let refused = counter.refused(body.clone()).await;
        assert_eq!(refused.1, code, "{body}: {refused:?}");
    }
    // A repeated request returns the same refund.
    let (status, again) = counter.ask(json!({"kind": "refund", "reference": "r1", "of": "s", "amount": "5.00"})).await;
    assert_eq!((status, &again["replayed"]), (200, &true.into()), "{again}");
    assert_eq!(counter.types(), ["DB", "RF", "RF"]);
}

#[tokio::test]
async fn an_earlier_transaction_is_undone_once() {
    let counter = Counter::open().await;
    counter.with_card(json!({"reference": "s", "amount": "12.34"})).await;
    let undone = counter.done(json!({"kind": "reversal", "reference": "v1", "of": "s"})).await;
    assert_eq!((ended(&undone), undone.amount.as_str()), (Some(OutcomeWord::Approved), "12.34"), "{}", undone.text);
    assert!(counter.charged().is_empty());
    for kind in ["reversal", "refund"] {
        let (status, code, message) = counter.refused(json!({"kind": kind, "reference": "v2", "of": "s"})).await;
        assert_eq!((status, code.as_str()), (422, "not-possible"), "{message}");
    }
}

#[tokio::test]
async fn a_credit_pays_out_to_a_card_and_its_aac_is_no_refusal() {
    let mut counter = Counter::open().await;
    let (status, answer) = counter.ask(json!({"kind": "credit", "reference": "cr", "amount": "5.00"})).await;
    assert_eq!(status, 201, "{answer}");
    // This chip answers AAC to any host answer.
    counter.present(card("chip-refuses").unwrap(), Insert).await;
    let view = counter.until_ended("cr").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{}", view.text);
    counter.shop.reader.remove();
    let receipt = counter.paper().await;
    assert!(receipt.contains("CREDIT") && receipt.contains("APPROVED"), "{receipt}");
    assert_eq!(counter.types(), ["CD"]);
}

#[tokio::test]
async fn a_card_that_was_kept_pays_again_without_being_there() {
    let counter = Counter::open().await;
    let view = counter
        .with_card(json!({"reference": "s", "amount": "12.34", "parameters": {"createRegistration": true,
            "standingInstruction": {"type": "UNSCHEDULED", "mode": "INITIAL", "source": "CIT"}}}))
        .await;
    let registration = view.registration.expect("the answer names a registration");
    let again = counter
        .done(json!({"kind": "by-registration", "reference": "s2", "amount": "9.99", "registration": registration,
            "parameters": {"standingInstruction": {"type": "UNSCHEDULED", "mode": "REPEATED", "source": "MIT"}}}))
        .await;
    assert_eq!(ended(&again), Some(OutcomeWord::Approved), "{}", again.text);
    assert_eq!(counter.charged(), ["12.34 EUR", "9.99 EUR"]);
}

#[tokio::test]
async fn a_refund_whose_answer_is_lost_is_found_or_carried_out_once() {
    // The cents choose whether the gateway processes the refund before it stays silent.
    for amount in ["1.70", "1.71"] {
        let mut options = pos_sim::shop::Options::default();
        options.config.push(("answer-timeout-ms = 10000".to_owned(), "answer-timeout-ms = 1000".to_owned()));
        let counter = Counter::open_with(options).await;
        counter.with_card(json!({"reference": "s", "amount": "12.34"})).await;
        let (status, answer) =
            counter.ask(json!({"kind": "refund", "reference": "r", "of": "s", "amount": amount})).await;
        assert_eq!(status, 201, "{answer}");
        let wanted = |view: &SaleView| view.outcome.is_some() || view.unsettled.is_some();
        let view = counter.until("r", "the refund's end or doubt", wanted).await;
        let refunds = counter.types().iter().filter(|kind| *kind == "RF").count();
        assert!(refunds <= 1, "{amount}: {:?}", counter.types());
        if amount == "1.71" {
            let view = counter.until_ended("r").await;
            assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{amount}: {}", view.text);
            assert_eq!(counter.types(), ["DB", "RF"]);
        } else {
            // An unconfirmed refund counts as carried out. Until it is resolved, no more than the rest can be refunded.
            assert_ne!(view.outcome, Some(OutcomeWord::Declined));
            assert_eq!(counter.show("s").await.left.as_deref(), Some("10.64"));
        }
    }
}

#[tokio::test]
async fn a_stop_waits_for_the_answer_to_what_was_sent() {
    let mut counter = Counter::open().await;
    counter.with_card(json!({"reference": "s", "amount": "12.34"})).await;
    let (sent, mut arrived) = tokio::sync::mpsc::unbounded_channel();
    assert!(counter.shop.gateway.watch(move |seen| {
        if matches!(seen, pos_sim::gateway::WireEvent::Request { method: "POST", .. }) {
            let _ = sent.send(());
        }
    }));
    counter.shop.gateway.set_delay(std::time::Duration::from_millis(500));
    let (status, answer) = counter.ask(json!({"kind": "refund", "reference": "r", "of": "s", "amount": "1.00"})).await;
    assert_eq!(status, 201, "{answer}");
    arrived.recv().await.unwrap();
    counter.stop_agent().await;
    // No look-up is needed: the gateway is unreachable, but the outcome is known anyway.
    counter.shop.gateway.set_offline(true).await.unwrap();
    counter.start_agent();
    counter.until_status("answering", |_| true).await;
    assert_eq!(ended(&counter.show("r").await), Some(OutcomeWord::Approved));
    assert_eq!(counter.types(), ["DB", "RF"]);
}

#[tokio::test]
async fn what_a_till_adds_is_judged_before_the_card_is_asked_for() {
    let counter = Counter::open().await;
    for (parameters, says) in [
        (json!({"amount": "1.00"}), "amount: the terminal sets this parameter itself"),
        (json!({"pos.entryMode": "ICC"}), "pos.entryMode: the terminal sets this parameter itself"),
        (json!({"merchantMemmo": "a longer text"}), "did you mean merchantMemo?"),
        (json!({"cart.items[1001].name": "Tea"}), "cart.items[1001].name"),
        (json!({"customParameters": {"ab": "x"}}), "customParameters[ab]"),
        (json!({"billing": {"houseNumber2": "7"}}), "house-number"),
        (json!({"descriptor": "x".repeat(9_000)}), "descriptor"),
    ] {
        let (status, code, message) =
            counter.refused(json!({"reference": "p", "amount": "1.00", "parameters": parameters})).await;
        assert_eq!((status, code.as_str()), (422, "parameter"), "{parameters}: {message}");
        assert!(message.contains(says), "{says:?} is not in {message}");
    }
    let view = counter
        .with_card(json!({"reference": "p", "amount": "12.34", "parameters": {
            "merchantMemo": "Table seven", "customParameters": {"waiter": "Ann"},
            "cart": {"items": [{"name": "Tea", "price": "2.50", "quantity": "2"}]}}}))
        .await;
    assert_eq!(ended(&view), Some(OutcomeWord::Approved));
    let answer = counter.show("p").await.answer;
    assert_eq!(answer.get("customParameters.waiter").map(String::as_str), Some("Ann"), "{answer:?}");
}

/// Kind | the parameter | its value | the text about it. The interface knows each of these parameters but does not
/// permit it in this call.
const NOT_OF_THIS_CALL: &[(&str, &str, &str, &str)] = &[
    ("sale", "numberOfCaptures", "3", "reservations"),
    ("sale", "sequence", "FINAL", "refund of a payment"),
    ("sale", "overrideHolder", "true", "stored card"),
    ("sale", "referenceUuid", "8ac7a4a17e0b1c3a017e0b1c3a017e0b", "the terminal sets this parameter itself"),
    ("sale", "Authorization", "Bearer 4711abcdefghij", "the terminal sets this parameter itself"),
    ("sale", "card.number", "4111111111111119", "the terminal sets this parameter itself"),
    ("sale", "<wallet_a>.paymentToken", "4711abcdefghij", "only card payments"),
    ("sale", "job.hour", "8-18", "cannot set up subscriptions"),
    ("sale", "integrity", "true", "web page"),
    ("sale", "limit", "100", "of query"),
    ("sale", "date.from", "2026-01-01", "of report, query"),
    ("sale", "ReasonCode", "000.100.201", "unknown"),
    ("pre-authorisation", "sequence", "FINAL", "refund of a payment"),
    ("pre-authorisation", "overrideHolder", "true", "stored card"),
    ("credit", "numberOfCaptures", "3", "reservations"),
    ("credit", "sequence", "FINAL", "refund of a payment"),
    ("by-registration", "createRegistration", "true", "their own payment data"),
    ("by-registration", "numberOfCaptures", "3", "reservations"),
    ("by-registration", "sequence", "FINAL", "refund of a payment"),
    ("by-registration", "card.number", "4111111111111119", "the terminal sets this parameter itself"),
    ("by-registration", "referenceUuid", "8ac7a4a17e0b1c3a017e0b1c3a017e0b", "the terminal sets this parameter itself"),
    ("by-registration", "job.hour", "8-18", "cannot set up subscriptions"),
    ("capture", "createRegistration", "true", "their own payment data"),
    ("capture", "numberOfCaptures", "3", "reservations"),
    ("capture", "overrideHolder", "true", "stored"),
    ("capture", "card.holder", "Jane Jones", "the terminal sets this parameter itself"),
    ("capture", "job.hour", "8-18", "of schedule"),
    ("refund", "createRegistration", "true", "their own payment data"),
    ("refund", "referenceUuid", "8ac7a4a17e0b1c3a017e0b1c3a017e0b", "the terminal sets this parameter itself"),
    ("reversal", "createRegistration", "true", "their own payment data"),
    ("reversal", "numberOfCaptures", "3", "reservations"),
    ("increment", "createRegistration", "true", "their own payment data"),
    ("increment", "sequence", "FINAL", "refund of a payment"),
    ("increment", "referenceUuid", "8ac7a4a17e0b1c3a017e0b1c3a017e0b", "the terminal sets this parameter itself"),
    (
        "increment",
        "standingInstruction.industryPractice",
        "INCREMENTAL_AUTH",
        "the terminal sets this parameter itself",
    ),
    ("reauthorisation", "overrideHolder", "true", "stored"),
    (
        "reauthorisation",
        "standingInstruction.industryPractice",
        "REAUTHORIZATION",
        "the terminal sets this parameter itself",
    ),
];

/// Returns a transaction of one kind with one parameter, flat or nested.
fn with_parameter(kind: &str, parameter: &str, value: &str, nested: bool) -> Value {
    let parameters = match parameter.split_once('.') {
        Some((above, below)) if nested && !below.contains('.') => json!({ above: { below: value } }),
        _ => json!({ parameter: value }),
    };
    let mut body = json!({"kind": kind, "reference": "p", "amount": "1.00", "parameters": parameters});
    match kind {
        "by-registration" => body["registration"] = json!("8ac7a4a17e0b1c3a017e0b1c3a017e0b"),
        "capture" | "refund" | "reversal" | "increment" | "reauthorisation" => body["of"] = json!("earlier"),
        _ => {}
    }
    body
}

#[tokio::test]
async fn a_parameter_of_another_call_is_refused_before_anything_begins() {
    let counter = Counter::open().await;
    // The reader's clock is set once the gateway has given the time. This may happen during the test.
    let but_the_clock = |counter: &Counter| {
        let told = counter.shop.reader.counters().commands.into_iter();
        told.filter(|command| *command != SYSTEM_CLOCK).collect::<Vec<_>>()
    };
    let at_rest = but_the_clock(&counter);
    for (kind, parameter, value, says) in NOT_OF_THIS_CALL {
        for nested in [false, true] {
            let (status, code, message) = counter.refused(with_parameter(kind, parameter, value, nested)).await;
            assert_eq!((status, code.as_str()), (422, "parameter"), "{kind} {parameter}: {message}");
            let name = parameter.split('.').next().unwrap();
            assert!(message.contains(name) && message.contains(says), "{kind} {parameter}: {message}");
            assert!(value.len() < 5 || !message.contains(value), "{kind} {parameter}: {message}");
        }
    }
    assert!(counter.kept().is_empty(), "a transaction was recorded");
    assert_eq!(but_the_clock(&counter), at_rest, "the reader was told something");
    let ledger = counter.shop.gateway.ledger();
    assert!(ledger.entries().is_empty() && ledger.refusals().is_empty(), "the gateway was asked");
}

/// Checks that parameters that this gateway does not accept are refused in the same way, but not other parameters with
/// the same prefix.
#[tokio::test]
async fn a_parameter_that_this_gateway_does_not_take_is_refused_before_anything_begins() {
    let mut options = pos_sim::shop::Options::default();
    options.config.push((
        "[till]".to_owned(),
        "[gateway.assumptions]\nparameters-not-taken = [\"corporate.\", \"cart.items[n].sku\", \"customParameters[name]\", \
         \"locale\"]\n\n[till]"
            .to_owned(),
    ));
    let counter = Counter::open_with(options).await;
    // The reader's clock is set once the gateway has given the time. This may happen during the test.
    let but_the_clock = |counter: &Counter| {
        let told = counter.shop.reader.counters().commands.into_iter();
        told.filter(|command| *command != SYSTEM_CLOCK).collect::<Vec<_>>()
    };
    let at_rest = but_the_clock(&counter);
    for (kind, parameter, value) in [
        ("sale", "corporate.name", "a company of value"),
        ("sale", "cart.items[7].sku", "a number of value"),
        ("credit", "customParameters[waiter]", "a person of value"),
        ("refund", "corporate.city", "a town of value"),
        ("by-registration", "locale", "de_DE"),
    ] {
        let (status, code, message) = counter.refused(with_parameter(kind, parameter, value, false)).await;
        assert_eq!((status, code.as_str()), (422, "parameter"), "{kind} {parameter}: {message}");
        assert!(
            message.contains(parameter) && message.contains("this gateway does not accept this parameter"),
            "{message}"
        );
        assert!(!message.contains(value), "{message}");
    }
    assert!(counter.kept().is_empty(), "a transaction was recorded");
    assert_eq!(but_the_clock(&counter), at_rest, "the reader was told something");
    let ledger = counter.shop.gateway.ledger();
    assert!(ledger.entries().is_empty() && ledger.refusals().is_empty(), "the gateway was asked");
    let parameters = json!({"cart.items[7].name": "Tea", "cart.items[7].price": "1.00", "merchantMemo": "Table seven"});
    counter.with_card(json!({"reference": "p", "amount": "12.34", "parameters": parameters})).await;
}

#[tokio::test]
async fn a_throttled_sale_is_sent_again_and_charged_once() {
    let counter = Counter::open().await;
    // Without this wait, the agent's first own request could be one of the two throttled ones.
    counter.until_status("the gateway", |status| status.gateway.state == GatewayState::Answers).await;
    counter.shop.gateway.throttle_next(2);
    let (status, answer) = counter.ask(json!({"reference": "s", "amount": "12.34"})).await;
    assert_eq!(status, 201, "{answer}");
    counter.present(card("tap").unwrap(), Tap).await;
    let view = counter.until_ended("s").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{}", view.text);
    assert_eq!(counter.charged(), ["12.34 EUR"]);
    let asked = counter.kept()[0].kinds().iter().filter(|kind| **kind == "asked").count();
    assert_eq!(asked, 3, "each time it was written down before");
}

#[tokio::test]
async fn the_command_line_does_what_a_till_does() {
    let counter = Counter::open().await;
    let verb = async |arguments: &[&str]| {
        let output = pos_test_kit::within("the program", counter.verb(arguments)).await.unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let preauthorise = counter.verb(&["preauthorise", "50.00", "--reference", "room"]);
    counter.present(card("tap").unwrap(), Tap).await;
    assert_eq!(preauthorise.await.unwrap().status.code(), Some(0));
    let (code, out, err) = verb(&["capture", "room", "--amount", "20.00", "--reference", "c1"]).await;
    assert!(code == 0 && out.contains("CAPTURE APPROVED 20.00 EUR"), "{code} {out} {err}");
    let (code, out, _) = verb(&["show", "room"]).await;
    assert!(code == 0 && out.contains("left: 30.00 EUR"), "{code} {out}");
    let (code, _, err) = verb(&["capture", "room", "--amount", "30.01"]).await;
    assert!(code == 64 && err.contains("30.00 EUR"), "{code} {err}");
    let (code, _, err) = verb(&["refund", "room"]).await;
    assert!(code == 65 && err.contains("refund of a pre-authorisation is not possible"), "{code} {err}");
    let payment = counter.show("c1").await.payment_id.unwrap();
    let (code, out, err) = verb(&["payment", payment.as_str()]).await;
    assert!(
        code == 0 && out.contains("paymentType") && out.contains("CP") && !out.contains("holder"),
        "{code} {out} {err}"
    );
    let (code, _, err) = verb(&["payment", &"0".repeat(32)]).await;
    assert!(code == 69 && err.contains("no such payment"), "{code} {err}");
    let (code, out, err) =
        verb(&["query", "paymentTypes=CP", "date.from=2020-01-01 00:00:00", "date.to=2099-12-31 23:59:59"]).await;
    assert!(code == 0 && out.contains(payment.as_str()), "{code} {out} {err}");
    let (code, _, err) = verb(&["query", "limit=99"]).await;
    assert!(code == 65 && err.contains("limit"), "{code} {err}");
}

#[tokio::test]
async fn a_report_counts_by_number_and_carries_what_has_no_end() {
    let counter = Counter::open().await;
    counter.with_card(json!({"reference": "s1", "amount": "12.34"})).await;
    counter.with_card(json!({"reference": "s2", "amount": "7.00"})).await;
    counter.done(json!({"kind": "refund", "reference": "r1", "of": "s1", "amount": "2.00"})).await;
    assert_eq!(counter.ask(json!({"reference": "waits", "amount": "1.00"})).await.0, 201);
    let totals = async |arguments: &[&str]| -> (i32, Value) {
        let output = pos_test_kit::within("the program", counter.verb(arguments)).await.unwrap();
        (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
    };
    let (code, first) = totals(&["totals", "--json"]).await;
    let sums = |of: &Value| -> Vec<(Value, Value, Value)> {
        of["kinds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|sum| (sum["kind"].clone(), sum["count"].clone(), sum["sum"].clone()))
            .collect()
    };
    let expected = [("refund".into(), 1.into(), "2.00".into()), ("sale".into(), 2.into(), "19.34".into())];
    assert_eq!((code, sums(&first)), (3, expected.to_vec()), "{first}");
    assert_eq!(
        (&first["open"][0]["reference"], &first["next"], &first["carried"]),
        (&"waits".into(), &4.into(), &json!([4]))
    );
    // The next report adds only the transactions that were open in the previous one.
    counter.present(card("tap").unwrap(), Tap).await;
    counter.until_ended("waits").await;
    let (code, next) = totals(&["totals", "--json", "--since-number", "4", "--carried", "4"]).await;
    assert_eq!((code, sums(&next)), (0, vec![("sale".into(), 1.into(), "1.00".into())]), "{next}");
    assert_eq!(next["carried"], json!([]));
    let output = pos_test_kit::within("the program", counter.verb(&["totals"])).await.unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("20.34 EUR") && said.contains("next: pos-agent totals --since 4"), "{said}");
}

/// Checks the cashier's view on the command line. The list shows kind and sign, and each payment is followed by its
/// follow-up transactions.
#[tokio::test]
async fn the_command_line_shows_what_went_back() {
    let counter = Counter::open().await;
    let said = async |arguments: &[&str]| -> (Option<i32>, String, String) {
        let output = counter.verb(arguments).await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    counter.with_card(json!({"reference": "s", "amount": "12.34"})).await;
    let (code, text, aside) = said(&["refund", "last", "--amount", "3,5", "--reference", "r1"]).await;
    assert_eq!(code, Some(0), "{text}{aside}");
    assert_eq!(
        aside.lines().next(),
        Some("\"last\" is s from till local: sale, approved, 12.34 EUR, VISA …0004 (NFC_ICC)")
    );
    assert!(text.contains("approved: -3.50 EUR") && text.contains("REFUND APPROVED 3.50 EUR"), "{text}");
    counter.with_card(json!({"reference": "s2", "amount": "7.00"})).await;
    assert_eq!(said(&["reverse", "last", "--reference", "v1"]).await.0, Some(0));
    let (_, text, _) = said(&["show", "s"]).await;
    assert!(text.ends_with("refund r1: approved, -3.50 EUR\nleft: 8.84 EUR\n"), "{text}");
    let (_, json, _) = said(&["show", "s", "--json"]).await;
    let view: SaleView = serde_json::from_str(&json).unwrap();
    let later: Vec<_> = view
        .later
        .iter()
        .map(|one| (one.number.get(), one.reference.as_ref().map(Reference::as_str), one.kind))
        .collect();
    assert_eq!(later, [(2, Some("r1"), Kind::Refund)]);
    let (_, list, _) = said(&["journal"]).await;
    for (line, [reference, kind, amount]) in list.lines().zip([
        ["s ", "sale ", " 12.34 EUR"],
        ["r1 ", "refund ", " -3.50 EUR"],
        ["s2 ", "sale ", " 7.00 EUR"],
        ["v1 ", "reversal ", " -7.00 EUR"],
    ]) {
        assert!(line.contains(reference) && line.contains(kind) && line.contains(amount), "{line}");
    }
    assert_eq!(list.lines().count(), 4, "{list}");
    // No transaction refers to this refund, so none is listed.
    assert!(!said(&["show", "r1", "--json"]).await.1.contains("later"));
    // This till's latest transaction is the reversal, which can have no follow-up.
    let (code, _, aside) = said(&["refund", "last", "--amount", "1"]).await;
    assert!(
        code == Some(65) && aside.starts_with("\"last\" is v1 from till local: reversal, approved, -7.00 EUR"),
        "{aside}"
    );
}
