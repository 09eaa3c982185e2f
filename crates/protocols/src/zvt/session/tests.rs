//! Tests of the session against a timetable of frames, questions and their times. The terminal's answers are JSON texts
//! of the agent's interface, so the tests read them as from the network.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::zvt::answer::TerminalMessage;
use pos_till_api::{Ask, Copy, PrintLine, Taken};

const LINE: Line = 1;

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

struct Stage {
    session: Session,
    now: Duration,
    /// The open questions.
    asked: Vec<(u64, Ask)>,
    sent: Vec<Apdu>,
}

impl Stage {
    fn with(settings: Settings, registration: &str) -> Self {
        let data = hex::decode(registration.replace(' ', "")).unwrap();
        let mut session = Session::new(settings, Some(&data));
        assert!(session.line_opened(LINE).is_empty());
        Self { session, now: s(0), asked: Vec::new(), sent: Vec::new() }
    }

    /// Creates a till that prints its own receipts and gets no intermediate statuses.
    fn quiet() -> Self {
        Self::with(settings(OnSilence::Reverse), "00 00 00 06")
    }

    fn take(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send { line, apdu } => {
                    assert_eq!(line, LINE);
                    self.sent.push(apdu);
                }
                Action::Ask { ticket, ask } => self.asked.push((ticket, ask)),
                Action::Hang { .. } | Action::Remember(_) | Action::Note(_) => {}
            }
        }
    }

    fn till(&mut self, text: &str) {
        let apdu = Apdu::decode(&hex::decode(text.replace(' ', "")).unwrap()).unwrap();
        let actions = self.session.heard(LINE, &apdu, self.now);
        self.take(actions);
    }

    /// Returns the frames sent since the last call, none of them acknowledged.
    fn told(&mut self) -> Vec<TerminalMessage> {
        self.sent.drain(..).map(|apdu| TerminalMessage::read(&apdu).unwrap()).collect()
    }

    fn question(&self) -> &Ask {
        &self.asked.last().expect("a question").1
    }

    fn terminal(&mut self, status: u16, body: &Value) {
        let (ticket, ask) = self.asked.pop().expect("a question");
        let actions = self.session.said(ticket, Said::read(&ask, status, body.to_string().as_bytes()), self.now);
        self.take(actions);
    }

    fn silence(&mut self) {
        let (ticket, _) = self.asked.pop().expect("a question");
        let actions = self.session.said(ticket, Said::NoAnswer { may_be_done: true }, self.now);
        self.take(actions);
    }

    /// Moves to the next deadline.
    fn wait(&mut self) -> Duration {
        self.now = self.session.next_deadline().expect("a deadline");
        let actions = self.session.tick(self.now);
        self.take(actions);
        self.now
    }

    /// Runs a payment up to the issuer's approval, which the till has received.
    fn sells(&mut self, command: &str) {
        self.till(command);
        assert_eq!(self.told(), [TerminalMessage::Ok]);
        self.terminal(200, &status());
        self.terminal(201, &sale("waiting-for-card", json!({})));
        self.terminal(
            200,
            &sale(
                "awaiting-till",
                json!({
                    "toConfirm": { "amount": "10.00", "until": "2026-11-20T12:36:56Z", "onSilence": "reverse" },
                }),
            ),
        );
    }
}

fn settings(unacknowledged: OnSilence) -> Settings {
    Settings {
        password: Some(123_456),
        credit: false,
        unacknowledged,
        order: Order::Table,
        status_containers: true,
        needed_frames_only: false,
        own_sums: None,
        references: "zvt-test".to_owned(),
    }
}

fn status() -> Value {
    json!({
        "version": "1", "terminalId": "4711", "currency": "EUR", "currencyNumber": 978, "currencyDecimals": 2,
        "ready": true, "busy": false, "reader": { "state": "ready" }, "gateway": { "state": "answers" }, "printers": [],
        "clock": { "state": "board", "time": "2026-11-20T13:34:56+01:00" },
    })
}

fn sale(state: &str, more: Value) -> Value {
    let mut sale = json!({
        "till": "zvt-1", "reference": "zvt-test-1", "number": 17, "receiptNumber": 17, "kind": "sale",
        "amount": "10.00", "currency": "EUR", "state": state, "text": "…", "startedAt": "2026-11-20T12:34:56Z",
        "replayed": false,
    });
    sale.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    sale
}

fn approved() -> Value {
    sale("ended", json!({ "outcome": "approved", "approvedAmount": "10.00", "endedAt": "2026-11-20T12:35:00Z" }))
}

const PAY: &str = "06 01 07 04 00 00 00 00 10 00";

fn statuses(told: &[TerminalMessage]) -> usize {
    told.iter().filter(|it| matches!(it, TerminalMessage::Status(_))).count()
}

#[test]
fn an_approval_is_confirmed_when_it_was_acknowledged_and_no_sooner() {
    let mut stage = Stage::quiet();
    stage.sells(PAY);
    assert_eq!(statuses(&stage.told()), 1);
    assert!(stage.asked.is_empty(), "nothing is confirmed yet");
    stage.till("80 00 00");
    assert_eq!(stage.question(), &Ask::Confirm { reference: "zvt-test-1".to_owned(), taken: Taken::All });
    stage.terminal(200, &approved());
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Completion(_)]));
    stage.till("80 00 00");
    assert!(!stage.session.is_busy());
}

#[test]
fn without_an_acknowledgement_it_is_said_three_times_and_then_taken_back_or_kept() {
    for (unacknowledged, command, taken) in [
        (OnSilence::Reverse, PAY, Taken::Nothing),
        (OnSilence::Keep, PAY, Taken::All),
        // A till that names the last receipt detects the loss itself.
        (OnSilence::Reverse, "06 01 0C 04 00 00 00 00 10 00 06 03 1F 1F 00", Taken::All),
    ] {
        let mut stage = Stage::with(settings(unacknowledged), "00 00 00 06");
        stage.sells(command);
        assert_eq!([stage.wait(), stage.wait()], [s(5), s(10)]);
        assert_eq!(statuses(&stage.told()), 3);
        assert!(stage.asked.is_empty());
        assert_eq!(stage.wait(), s(15));
        assert_eq!(stage.question(), &Ask::Confirm { reference: "zvt-test-1".to_owned(), taken });
    }
}

#[test]
fn a_till_that_says_later_for_ever_is_asked_a_bounded_number_of_times() {
    let mut stage = Stage::quiet();
    stage.sells("06 01 09 04 00 00 00 00 10 00 02 05");
    for _ in 0..5 {
        stage.till("84 9C 00");
        stage.wait();
    }
    assert_eq!(statuses(&stage.told()), 6);
    stage.till("84 9C 00");
    assert_eq!(stage.question(), &Ask::Confirm { reference: "zvt-test-1".to_owned(), taken: Taken::Nothing });
}

#[test]
fn all_waits_together_stay_below_the_tills_when_it_hears_nothing() {
    // No customer presents a card, and the terminal would wait longer than the till does.
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    while stage.now < s(160) {
        stage.wait();
    }
    while !matches!(stage.question(), Ask::Cancel(_)) {
        stage.wait();
    }
    assert!(stage.now < s(170), "{:?}", stage.now);
    stage.terminal(200, &{
        let mut cancelled = sale("ended", json!({ "outcome": "cancelled" }));
        cancelled["cancel"] = json!("in-time");
        cancelled
    });
    stage.told();
    stage.till("80 00 00");
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x6C, .. }]));
    // The gateway does not answer in time. The outcome is unknown and is never reported as declined.
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.terminal(201, &sale("in-progress", json!({})));
    stage.told();
    while stage.sent.is_empty() {
        stage.wait();
    }
    assert!(stage.now < s(170), "{:?}", stage.now);
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x7D, .. }]));
}

#[test]
fn a_till_that_hears_is_told_at_least_every_ten_seconds() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 0E");
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    let mut last = s(0);
    for _ in 0..40 {
        stage.wait();
        if stage.told().iter().any(|it| matches!(it, TerminalMessage::Intermediate(0x0A))) {
            assert!(stage.now - last <= s(10), "{last:?} {:?}", stage.now);
            last = stage.now;
            stage.till("80 00 00");
        }
    }
    assert!(last > s(200), "T4 begins anew with each of them");
}

#[test]
fn a_terminal_that_does_not_answer_is_asked_again_with_the_same_reference_and_then_nobody_knows() {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    let Ask::Begin(first) = stage.question().clone() else { panic!("{:?}", stage.question()) };
    let mut tries = 0;
    while stage.told().iter().all(|it| *it == TerminalMessage::Ok) {
        match stage.question() {
            Ask::Begin(again) => assert_eq!(again.reference, first.reference),
            other => panic!("{other:?}"),
        }
        tries += 1;
        stage.silence();
        if stage.session.is_busy() && stage.asked.is_empty() && stage.sent.is_empty() {
            stage.wait();
        }
    }
    assert!(tries > 10 && stage.now < s(60), "{tries} in {:?}", stage.now);
}

#[test]
fn a_till_that_is_one_receipt_behind_has_the_last_approval_taken_back_first() {
    // The till's own previous transaction is number 14. Numbers 15 and 16 belong to another till.
    for (heard, undone) in [("00 14", true), ("00 17", false), ("00 16", false)] {
        let mut stage = Stage::quiet();
        stage.till(&format!("06 01 0E 04 00 00 00 00 10 00 06 05 1F 1F 02 {heard}"));
        stage.terminal(200, &status());
        assert_eq!(stage.question(), &Ask::Newest(2));
        let mut before = approved();
        (before["number"], before["receiptNumber"], before["reference"]) = (json!(14), json!(14), json!("before"));
        stage.terminal(200, &json!({ "sales": [approved(), before] }));
        let Ask::Begin(begin) = stage.question() else { panic!("{:?}", stage.question()) };
        assert_eq!(begin.kind == pos_till_api::Kind::Reversal, undone, "{heard}");
        assert_eq!(begin.of.as_deref(), undone.then_some("zvt-test-1"));
    }
}

#[test]
fn the_present_truth_is_repeated() {
    let unknown = sale("unconfirmed", json!({}));
    let waits = sale("awaiting-till", json!({}));
    let back = sale("ended", json!({ "outcome": "reversed" }));
    for (truth, result, code) in
        [(approved(), Some(0), 0), (back, Some(0xB4), 0), (unknown, None, 0x9B), (waits, None, 0x9B)]
    {
        let mut stage = Stage::quiet();
        stage.till("06 20 05 12 34 56 03 03");
        stage.terminal(200, &status());
        assert_eq!(stage.question(), &Ask::Latest);
        stage.told();
        stage.terminal(200, &truth);
        let mut told = stage.told();
        if result.is_some() {
            let TerminalMessage::Status(fields) = told.remove(0) else { panic!("{told:?}") };
            assert_eq!(fields.byte(0x27), result);
            stage.till("80 00 00");
            told = stage.told();
        }
        match told.as_slice() {
            [TerminalMessage::Completion(_)] => assert_eq!(code, 0),
            [TerminalMessage::Aborted { code: said, .. }] => assert_eq!(*said, code),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_repeat_of_a_named_receipt_is_of_that_one_and_no_other() {
    let begin = |numbers: &str| {
        let mut stage = Stage::quiet();
        let container = format!("06 {:02X} {numbers}", numbers.len().div_ceil(3));
        let data = format!("12 34 56 03 03 {container}");
        stage.till(&format!("06 20 {:02X} {data}", data.len().div_ceil(3)));
        stage.told();
        stage.terminal(200, &status());
        stage
    };
    let mut stage = begin("1F 02 02 00 16");
    assert_eq!(stage.question(), &Ask::Newest(1));
    stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 10_020 }))] }));
    assert_eq!(stage.question(), &Ask::Number(10_015));
    let mut named = approved();
    (named["number"], named["receiptNumber"]) = (json!(10_015), json!(16));
    stage.terminal(200, &json!({ "sales": [named] }));
    let told = stage.told();
    let [TerminalMessage::Status(fields)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((fields.byte(0x27), fields.number(0x87)), (Some(0), Ok(Some(16))));
    stage.till("80 00 00");
    assert_eq!(stage.told(), [TerminalMessage::Completion(Vec::new())]);
    // The outcome is not known yet.
    let mut stage = begin("1F 02 02 00 16");
    stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 16 }))] }));
    stage.terminal(200, &json!({ "sales": [sale("unconfirmed", json!({ "number": 16 }))] }));
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x9B, .. }]));
    // The receipt is missing, or the numbers are unreadable.
    let mut stage = begin("1F 02 02 00 16");
    stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 16 }))] }));
    stage.terminal(200, &json!({ "sales": [] }));
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x66, .. }]));
    for numbers in ["1F 02 02 00 00", "1F 02 02 00 0A", "1F 03 02 00 16", "1F 02 02 00 16 1F 03 02 00 15"] {
        let mut stage = begin(numbers);
        assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x83, .. }]), "{numbers}");
        assert!(stage.asked.is_empty());
    }
}

#[test]
fn a_repeat_that_the_terminal_cannot_print_says_so() {
    let repeat = || {
        let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 08");
        stage.till("06 20 03 12 34 56");
        stage.terminal(200, &status());
        stage.terminal(200, &approved());
        stage.till("80 00 00");
        assert!(matches!(stage.question(), Ask::PrintAgain { copy: Copy::Customer, .. }), "{:?}", stage.asked);
        stage
    };
    let ends = |mut stage: Stage| stage.told().pop();
    let mut stage = repeat();
    stage.terminal(202, &json!({}));
    assert_eq!(ends(stage), Some(TerminalMessage::Completion(Vec::new())));
    let mut stage = repeat();
    stage.terminal(503, &json!({ "status": 503, "code": "printer", "detail": "no printer" }));
    assert!(matches!(ends(stage), Some(TerminalMessage::Aborted { code: 0xCC, .. })));
    // The receipt is not printed a second time.
    let mut stage = repeat();
    stage.silence();
    assert!(stage.asked.is_empty());
    assert!(matches!(ends(stage), Some(TerminalMessage::Aborted { code: 0x7D, .. })));
}

#[test]
fn a_repeat_without_paper_sends_none() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 86 09 78 06 06 26 04 0A 02 06 D3");
    stage.till("06 20 05 12 34 56 03 03");
    stage.terminal(200, &status());
    stage.terminal(200, &approved());
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Ok, TerminalMessage::Status(_)]));
    stage.till("80 00 00");
    assert_eq!(stage.told(), [TerminalMessage::Completion(Vec::new())]);
    assert!(stage.asked.is_empty(), "{:?}", stage.asked);
}

#[test]
fn a_status_enquiry_tells_in_tlvs_what_it_is_asked_for_in_them() {
    let mut stage = Stage::quiet();
    let mut about = status();
    about["reader"]["model"] = json!("M020");
    for (service, told) in [
        ("", "06 0F 05 F0 F0 F1 31 00"),
        (" 03 02", "06 0F 01 00"),
        // This is like a real terminal with the number 52523535 (EVerest/zvt, 1680728219.054216000_pt_ecr.blob).
        (
            " 03 06",
            "06 0F 26 00 06 23 1F 44 04 00 00 47 11 E4 0B 1F 40 04 4D 30 32 30 1F 41 01 31
             34 0D 1F 0E 04 20 26 11 20 1F 0F 03 13 34 56",
        ),
    ] {
        stage.till(&format!("05 01 {:02X} 12 34 56{service}", 3 + service.len() / 3));
        stage.terminal(200, &about);
        let sent: Vec<String> = stage.sent.drain(..).map(|apdu| hex::encode_upper(apdu.encode())).collect();
        let told: String = told.split_whitespace().collect();
        assert_eq!(sent, ["800000".to_owned(), told], "{service}");
        stage.till("80 00 00");
    }
}

#[test]
fn a_payment_with_a_list_of_cards_is_refused_for_the_list_is_not_kept() {
    let mut stage = Stage::quiet();
    stage.till("06 01 0E 04 00 00 00 00 10 00 06 05 30 03 41 01 05");
    stage.terminal(200, &status());
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Ok, TerminalMessage::Aborted { code: 0x83, .. }]));
    assert!(stage.asked.is_empty());
}

#[test]
fn a_void_that_the_bank_declines_becomes_a_refund_and_one_that_nobody_knows_does_not() {
    for (state, more, refunds) in [
        ("ended", json!({ "outcome": "declined", "kind": "reversal" }), true),
        ("unconfirmed-finishing", json!({ "kind": "reversal" }), false),
    ] {
        let mut stage = Stage::quiet();
        stage.till("06 30 06 12 34 56 87 00 17");
        stage.terminal(200, &status());
        stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 20 }))] }));
        stage.terminal(
            404,
            &json!({ "type": "x", "title": "t", "status": 404, "detail": "d", "code": "no-such-close" }),
        );
        assert_eq!(stage.question(), &Ask::Number(17));
        stage.terminal(200, &json!({ "sales": [approved()] }));
        stage.terminal(200, &approved());
        let Ask::Begin(begin) = stage.question() else { panic!("{:?}", stage.question()) };
        assert_eq!((begin.kind, begin.of.as_deref()), (pos_till_api::Kind::Reversal, Some("zvt-test-1")));
        stage.terminal(201, &sale(state, more));
        let next = stage.asked.last().map(|(_, ask)| ask.clone());
        assert_eq!(matches!(next, Some(Ask::Begin(begin)) if begin.kind == pos_till_api::Kind::Refund), refunds);
    }
}

#[test]
fn a_void_with_another_amount_is_none() {
    for (amount, fits) in [("00 00 00 00 10 00", true), ("00 00 00 00 10 01", false), ("00 00 00 00 09 99", false)] {
        let mut stage = Stage::quiet();
        stage.till(&format!("06 30 0D 12 34 56 87 00 17 04 {amount}"));
        stage.terminal(200, &status());
        stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 20 }))] }));
        let no_close = json!({ "type": "x", "title": "t", "status": 404, "detail": "d", "code": "no-such-close" });
        stage.terminal(404, &no_close);
        stage.told();
        stage.terminal(200, &json!({ "sales": [approved()] }));
        match stage.told().as_slice() {
            [] => assert!(fits && matches!(stage.question(), Ask::Show { .. }), "{amount}"),
            told => {
                assert!(!fits && matches!(told, [TerminalMessage::Aborted { code: 0xB5, .. }]), "{amount}: {told:?}")
            }
        }
    }
}

#[test]
fn money_goes_out_only_with_password_and_right() {
    for (right, password, begins) in [(true, "12 34 56", true), (true, "12 34 57", false), (false, "12 34 56", false)] {
        let mut stage = Stage::with(Settings { credit: right, ..settings(OnSilence::Reverse) }, "00 00 00 06");
        stage.till(&format!("06 31 0A {password} 04 00 00 00 00 10 00"));
        assert_eq!(stage.told(), [TerminalMessage::Ok]);
        stage.terminal(200, &status());
        match stage.told().as_slice() {
            [] => {
                assert!(matches!(stage.question(), Ask::Begin(begin) if begin.kind == pos_till_api::Kind::Credit));
                assert!(begins, "{right} {password}");
            }
            told => {
                assert!(
                    !begins && matches!(told, [TerminalMessage::Aborted { code: 0x83, .. }]),
                    "{right} {password}: {told:?}"
                )
            }
        }
    }
}

#[test]
fn a_range_of_receipts_is_printed_again_and_what_is_not_there_is_left_out() {
    // The till prints text blocks, one for each receipt.
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 86 09 78 06 06 26 04 0A 02 06 D3");
    stage.till("06 12 07 12 34 56 00 16 00 18");
    assert_eq!(stage.told(), [TerminalMessage::Ok]);
    stage.terminal(200, &status());
    stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 20_100 }))] }));
    let receipt = json!({ "copy": "customer", "text": "", "rows": [{ "is": "left", "text": "x" }] });
    let mut printed = 0;
    for (number, there) in [(20_014, true), (20_015, false), (20_016, true)] {
        assert_eq!(stage.question(), &Ask::Number(number));
        let other = if there { number } else { number + 1 };
        stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": other, "outcome": "approved" }))] }));
        for _ in 0..if there { 2 } else { 0 } {
            assert!(matches!(stage.question(), Ask::Receipt { duplicate: true, .. }), "{number}");
            stage.terminal(200, &receipt);
            printed += 1;
        }
    }
    let mut told = stage.told();
    for _ in 0..printed {
        assert!(matches!(told.pop(), Some(TerminalMessage::Block(_, true))), "{told:?}");
        stage.till("80 00 00");
        told = stage.told();
    }
    assert_eq!((printed, told), (4, vec![TerminalMessage::Completion(Vec::new())]));
    // The terminal's own printer prints both copies of each receipt.
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 08");
    stage.till("06 12 05 12 34 56 00 16");
    stage.terminal(200, &status());
    stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 16 }))] }));
    stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 16, "outcome": "approved" }))] }));
    for copy in [Copy::Merchant, Copy::Customer] {
        assert!(matches!(stage.question(), Ask::PrintAgain { copy: asked, .. } if *asked == copy), "{:?}", stage.asked);
        stage.terminal(202, &json!({}));
    }
    assert_eq!(stage.told(), [TerminalMessage::Ok, TerminalMessage::Completion(Vec::new())]);
    // The session refuses a wrong password, a reversed range, a range from zero, and a range that is too long.
    for command in ["12 34 57 00 16", "12 34 56 00 18 00 16", "12 34 56 00 00", "12 34 56 00 01 00 51"] {
        let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 08");
        let data = command.replace(' ', "");
        stage.till(&format!("06 12 {:02X} {command}", data.len() / 2));
        stage.told();
        stage.terminal(200, &status());
        assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x83, .. }]), "{command}");
    }
    // No receipt is sent to a till that composes its receipts, or to a till whose terminal prints them.
    let mut stage = Stage::quiet();
    stage.till("06 12 05 12 34 56 00 16");
    stage.told();
    stage.terminal(200, &status());
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x83, .. }]));
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 08");
    stage.till("06 12 05 12 34 56 00 16");
    stage.told();
    stage.terminal(200, &status());
    stage.terminal(200, &json!({ "sales": [] }));
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x66, .. }]));
}

#[test]
fn what_was_declined_is_one_slip_and_what_was_approved_is_two_and_neither_is_a_duplicate() {
    let declined = sale("ended", json!({ "outcome": "declined" }));
    for (ended, copies) in [(declined, vec![Copy::Customer]), (approved(), vec![Copy::Merchant, Copy::Customer])] {
        let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 86 09 78 06 06 26 04 0A 02 06 D3");
        stage.till(PAY);
        stage.terminal(200, &status());
        stage.terminal(201, &ended);
        stage.till("80 00 00");
        for copy in copies {
            let Ask::Receipt { copy: asked, duplicate, .. } = stage.question() else { panic!("{:?}", stage.asked) };
            assert_eq!((*asked, *duplicate), (copy, false));
            stage.terminal(200, &json!({ "copy": "customer", "text": "", "rows": [{ "is": "left", "text": "x" }] }));
        }
        assert!(stage.asked.is_empty());
    }
}

#[test]
fn a_step_is_told_with_its_own_text_and_a_new_text_is_told_too() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 0E 09 78 06 00");
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.terminal(201, &sale("waiting-for-card", json!({ "text": "CARD" })));
    let says = |stage: &mut Stage, text: &str| {
        let sent = std::mem::take(&mut stage.sent);
        sent.iter().any(|apdu| apdu.data.windows(text.len()).any(|part| part == text.as_bytes()))
    };
    assert!(says(&mut stage, "CARD"));
    stage.till("80 00 00");
    stage.terminal(200, &sale("in-progress", json!({ "step": "pin-entry", "text": "PIN" })));
    assert!(says(&mut stage, "PIN"));
    stage.till("80 00 00");
    // The till gets no text about typed digits of the PIN, even much later.
    stage.now += s(1);
    stage.terminal(200, &sale("in-progress", json!({ "step": "pin-entry", "text": "PIN*" })));
    assert!(!says(&mut stage, "PIN*"));
    stage.terminal(200, &sale("in-progress", json!({ "text": "BANK" })));
    assert!(says(&mut stage, "BANK"));
    stage.till("80 00 00");
    // Another text of the same step is sent, but not immediately.
    stage.terminal(200, &sale("in-progress", json!({ "text": "LATER" })));
    assert!(!says(&mut stage, "LATER"));
    stage.now += s(1);
    stage.terminal(200, &sale("in-progress", json!({ "text": "LATER STILL" })));
    assert!(says(&mut stage, "LATER STILL"));
}

#[test]
fn containers_are_left_out_of_a_status_where_the_till_stumbles_over_them() {
    let card = json!({ "card": { "entryMode": "NFC_ICC", "aid": "A0000000031010", "brand": "VISA", "last4": "0119" } });
    for status_containers in [true, false] {
        let settings = Settings { status_containers, ..settings(OnSilence::Reverse) };
        let mut stage = Stage::with(settings, "00 00 00 06 09 78 06 00");
        stage.till(PAY);
        stage.terminal(200, &status());
        let mut ended = approved();
        ended.as_object_mut().unwrap().extend(card.as_object().unwrap().clone());
        stage.terminal(201, &ended);
        let told = stage.told();
        let [TerminalMessage::Ok, TerminalMessage::Status(fields)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!(fields.get(0x06).is_some(), status_containers);
        assert!(fields.get(0x8B).is_some(), "nothing else is left out");
    }
}

#[test]
fn a_card_that_was_left_in_the_reader_is_said() {
    let mut stage = Stage::quiet();
    let mut left = status();
    left["reader"]["cardLeft"] = json!(true);
    // The transaction with this card still uses the reader.
    left["busy"] = json!(true);
    stage.till("05 01 00");
    stage.told();
    stage.terminal(200, &left);
    let told = stage.told();
    assert!(matches!(told.as_slice(), [TerminalMessage::Completion(data)] if data.last() == Some(&0xDC)), "{told:?}");
    stage.till("06 70 00");
    stage.told();
    stage.terminal(200, &left);
    assert!(matches!(stage.told().as_slice(), [.., TerminalMessage::Aborted { code: 0xDC, .. }]));
}

#[test]
fn a_till_that_the_terminal_refuses_is_told_when_it_registers_or_asks_how_it_stands() {
    for command in ["06 00 06 12 34 56 00 09 78", "05 01 00", "06 70 00"] {
        let mut stage = Stage::quiet();
        stage.till(command);
        stage.told();
        stage.terminal(403, &json!({ "status": 403, "code": "forbidden", "detail": "no [[till.peer]] names it" }));
        let told = stage.told();
        assert!(
            matches!(told.as_slice(), [.., TerminalMessage::Aborted { code: code::NOT_POSSIBLE, .. }]),
            "{command}: {told:?}"
        );
    }
}

#[test]
fn the_tills_printer_shows_how_the_terminal_stands() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 86 09 78 06 06 26 04 0A 02 06 D3");
    stage.till("06 70 00");
    stage.told();
    stage.terminal(200, &status());
    let told = stage.told();
    let [TerminalMessage::Block(lines, true)] = told.as_slice() else { panic!("{told:?}") };
    assert!(lines.iter().any(|line| line.starts_with(b"Terminal") && line.ends_with(b"4711")), "{lines:?}");
    stage.till("80 00 00");
    assert_eq!(stage.told(), [TerminalMessage::Completion(Vec::new())]);
}

#[test]
fn the_terminals_printer_shows_how_it_stands_where_it_prints_what_is_of_administration() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 02 09 78");
    stage.till("06 1A 00");
    stage.told();
    stage.terminal(200, &status());
    let Ask::Print(lines) = stage.question() else { panic!("{:?}", stage.asked) };
    assert!(lines.iter().any(|line| line.text.starts_with("Terminal") && line.text.ends_with("4711")), "{lines:?}");
    assert_eq!(stage.told(), [TerminalMessage::Completion(Vec::new())]);
}

#[test]
fn the_tills_own_lines_are_printed_as_one_slip_and_it_hears_whether_they_are() {
    let mut stage = Stage::quiet();
    let slip = |stage: &mut Stage| {
        for line in ["06 D1 02 40 41", "06 D1 02 00 42"] {
            stage.till(line);
            assert_eq!(stage.told(), [TerminalMessage::Ok]);
            assert!(stage.asked.is_empty(), "{:?}", stage.asked);
        }
        stage.till("06 D1 01 81");
        assert_eq!(stage.told(), [], "not before they are on paper");
        let Ask::Print(lines) = stage.question() else { panic!("{:?}", stage.asked) };
        assert_eq!(lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["A", "B"]);
    };
    slip(&mut stage);
    stage.terminal(200, &json!({}));
    assert_eq!(stage.told(), [TerminalMessage::Ok]);

    slip(&mut stage);
    // Other commands are refused meanwhile.
    stage.till("06 70 00");
    assert_eq!(stage.told(), [TerminalMessage::Refused(code::BUSY)]);
    stage.terminal(503, &json!({ "status": 503, "code": "printer", "detail": "out of paper" }));
    assert_eq!(stage.told(), [TerminalMessage::Refused(code::PRINTER)]);

    // The outcome is unknown, so the lines are not printed a second time.
    slip(&mut stage);
    stage.silence();
    assert_eq!(stage.told(), [TerminalMessage::Refused(code::PRINTER)]);
    assert!(stage.asked.is_empty() && stage.session.next_deadline().is_none());

    // Even with a slow printer, the till gets its answer within T3.
    slip(&mut stage);
    let began = stage.now;
    assert!(stage.wait() < began + s(5));
    assert_eq!(stage.told(), [TerminalMessage::Ok]);
    stage.terminal(503, &json!({ "status": 503, "code": "printer", "detail": "out of paper" }));
    assert_eq!(stage.told(), []);
}

#[test]
fn a_tills_text_is_shown_between_its_commands() {
    let mut stage = Stage::quiet();
    stage.till("06 E0 06 F1 F0 F3 6F 6E 65");
    assert_eq!((stage.told(), stage.question().clone()), (vec![TerminalMessage::Ok], Ask::ShowText("one".to_owned())));
    stage.terminal(204, &json!({}));
    stage.sells("06 01 07 04 00 00 00 00 10 00");
    stage.told();
    let asked = stage.asked.len();
    stage.till("06 E0 06 F1 F0 F3 6F 6E 65");
    assert_eq!((stage.told(), stage.asked.len()), (vec![TerminalMessage::Ok], asked), "the display is the terminal's");
}

#[test]
fn lines_without_a_last_one_are_printed_when_the_till_goes_on_or_says_no_more() {
    let mut stage = Stage::quiet();
    stage.till("06 D1 02 00 41");
    assert_eq!(stage.wait(), s(2));
    assert_eq!(*stage.question(), Ask::Print(vec![PrintLine::plain("A")]));
    stage.terminal(200, &json!({}));
    stage.till("06 D1 02 00 42");
    stage.till("06 B0 00");
    assert_eq!(*stage.question(), Ask::Print(vec![PrintLine::plain("B")]));
    assert_eq!(stage.told(), [TerminalMessage::Ok, TerminalMessage::Ok, TerminalMessage::Ok]);
    assert_eq!(stage.session.next_deadline(), None);
}

#[test]
fn two_receipts_that_fit_are_none() {
    let at = |number: u64| {
        let mut sale = approved();
        (sale["number"], sale["receiptNumber"]) = (json!(number), json!(17));
        sale
    };
    let mut stage = Stage::quiet();
    stage.till("06 30 06 12 34 56 87 00 17");
    stage.terminal(200, &status());
    stage.terminal(200, &json!({ "sales": [at(10_020)] }));
    stage.terminal(404, &json!({ "type": "x", "title": "t", "status": 404, "detail": "d", "code": "no-such-close" }));
    assert_eq!(stage.question(), &Ask::Number(10_016));
    stage.terminal(200, &json!({ "sales": [at(10_016)] }));
    assert_eq!(stage.question(), &Ask::Number(17));
    stage.told();
    stage.terminal(200, &json!({ "sales": [at(17)] }));
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0xB5, .. }]));
}

#[test]
fn a_line_that_breaks_while_it_begins_stops_it_as_soon_as_it_has() {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    let lost = stage.session.line_lost(LINE, stage.now);
    stage.take(lost);
    assert!(matches!(stage.question(), Ask::Begin(_)), "it may be on its way: {:?}", stage.question());
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    assert_eq!(stage.question(), &Ask::Cancel("zvt-test-1".to_owned()));
    // The cancellation comes too late, so a later approval is reversed.
    let mut late = sale("in-progress", json!({}));
    late["cancel"] = json!("too-late");
    stage.terminal(200, &late);
    stage.terminal(
        200,
        &sale(
            "awaiting-till",
            json!({
                "toConfirm": { "amount": "10.00", "until": "2026-11-20T12:36:56Z", "onSilence": "reverse" },
            }),
        ),
    );
    assert_eq!(stage.question(), &Ask::Confirm { reference: "zvt-test-1".to_owned(), taken: Taken::Nothing });
    stage.terminal(200, &sale("unconfirmed", json!({})));
    assert!(!stage.session.is_busy());
}

#[test]
fn a_signature_is_waited_for_without_haste_where_the_terminal_prints_and_else_is_not_compared() {
    for (registration, waits) in [("00 00 00 0C", true), ("00 00 00 0E", false), ("00 00 00 04", false)] {
        let mut stage = Stage::with(settings(OnSilence::Reverse), registration);
        stage.till(PAY);
        stage.terminal(200, &status());
        stage.terminal(201, &sale("awaiting-signature", json!({})));
        if waits {
            assert!(stage.asked.is_empty(), "the terminal would answer at once");
            let began = stage.now;
            while stage.asked.is_empty() {
                stage.wait();
            }
            assert!(stage.now > began);
            assert!(matches!(stage.question(), Ask::Show { .. }));
        } else {
            assert_eq!(stage.question(), &Ask::Sign { reference: "zvt-test-1".to_owned(), accepted: true });
        }
    }
}

#[test]
fn a_till_that_goes_on_without_the_last_acknowledgement_is_served() {
    let mut stage = Stage::quiet();
    stage.till("06 70 00");
    stage.terminal(200, &status());
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Ok, TerminalMessage::Completion(_)]));
    stage.till("06 70 00");
    assert_eq!(stage.told(), [TerminalMessage::Ok]);
}

#[test]
fn what_is_taken_and_not_recorded_is_said_again_and_no_end_is_told_until_it_is() {
    for recorded in [true, false] {
        let mut stage = Stage::quiet();
        stage.sells(PAY);
        stage.told();
        stage.till("80 00 00");
        for _ in 0..3 {
            stage.terminal(200, &sale("unconfirmed", json!({})));
            assert_eq!(stage.told(), []);
            stage.wait();
            assert_eq!(stage.question(), &Ask::Confirm { reference: "zvt-test-1".to_owned(), taken: Taken::All });
        }
        if recorded {
            stage.terminal(200, &approved());
            assert!(matches!(stage.told().as_slice(), [TerminalMessage::Completion(_)]));
        } else {
            while stage.sent.is_empty() {
                stage.terminal(200, &sale("unconfirmed", json!({})));
                if stage.sent.is_empty() {
                    stage.wait();
                }
            }
            assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x7D, .. }]));
        }
    }
}

mod aborted;
mod again;
mod commands;
mod money;
mod owed;
mod sums;
mod wishes;
