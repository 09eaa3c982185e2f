//! Tests of the session against a timetable of bytes, questions and their times. The terminal's answers are JSON texts
//! of the agent's interface.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::caisse_ap::answer::Paid;
use pos_till_api::{Kind, Taken};

const LINE: Line = 1;
const PAYS: &[u8] = b"CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041250";
const REFERENCE: &str = "caisse-test-1";

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// What a line got.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Got {
    Answer(Result<Paid, Failure>),
    Nothing,
}

struct Stage {
    session: Session,
    now: Duration,
    asked: Vec<(u64, Ask)>,
    got: Vec<(Line, Got)>,
    supervisor: Option<(u64, String, String)>,
    notes: Vec<String>,
}

impl Stage {
    fn new(settings: Settings) -> Self {
        let session = Session::new(settings);
        let mut stage =
            Self { session, now: s(0), asked: Vec::new(), got: Vec::new(), supervisor: None, notes: Vec::new() };
        stage.opens(LINE);
        stage
    }

    fn take(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Answer { line, bytes, .. } => {
                    self.got.push((line, Got::Answer(Answer::read(&bytes).expect("an answer").result)));
                }
                Action::Hang { line } => self.got.push((line, Got::Nothing)),
                Action::Ask { ticket, ask } => self.asked.push((ticket, ask)),
                Action::WaitForSupervisor { ticket, amount, currency, .. } => {
                    self.supervisor = Some((ticket, amount, currency));
                }
                Action::Note(note) => self.notes.push(note),
            }
        }
    }

    fn opens(&mut self, line: Line) {
        let actions = self.session.line_opened(line, self.now);
        self.take(actions);
    }

    fn says(&mut self, line: Line, bytes: &[u8]) {
        let actions = self.session.heard(line, bytes, self.now);
        self.take(actions);
    }

    /// Moves to this time, with all deadlines before it.
    fn until(&mut self, at: Duration) {
        while let Some(next) = self.session.next_deadline().filter(|next| *next <= at) {
            self.now = self.now.max(next);
            let actions = self.session.tick(self.now);
            self.take(actions);
        }
        self.now = at;
    }

    fn loses(&mut self) {
        let actions = self.session.line_lost(LINE, self.now);
        self.take(actions);
    }

    fn taken(&mut self, taken: bool) {
        let actions = self.session.taken(LINE, taken, self.now);
        self.take(actions);
    }

    fn question(&self) -> &Ask {
        &self.asked.last().expect("a question").1
    }

    fn terminal(&mut self, status: u16, body: &Value) {
        let (ticket, ask) = self.asked.pop().expect("a question");
        let actions = self.session.said(ticket, Said::read(&ask, status, body.to_string().as_bytes()), self.now);
        self.take(actions);
    }

    fn silence(&mut self, may_be_done: bool) {
        let (ticket, _) = self.asked.pop().expect("a question");
        let actions = self.session.said(ticket, Said::NoAnswer { may_be_done }, self.now);
        self.take(actions);
    }

    /// Asks for a payment, and gets as far as the question for a card.
    fn begins(&mut self) {
        self.says(LINE, PAYS);
        self.until(self.now + ms(200));
        assert_eq!(*self.question(), Ask::Status);
        self.terminal(200, &status());
        self.terminal(201, &sale("waiting-for-card", json!({})));
        assert!(matches!(self.question(), Ask::Show { .. }));
    }

    fn approves(&mut self) {
        self.terminal(200, &to_confirm("12.50"));
    }

    fn got(&mut self) -> Vec<(Line, Got)> {
        std::mem::take(&mut self.got)
    }
}

fn settings() -> Settings {
    Settings { credit: false, unacknowledged: OnSilence::Reverse, references: "caisse-test".to_owned() }
}

fn quiet() -> Stage {
    Stage::new(settings())
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
        "till": "caisse-1", "reference": REFERENCE, "number": 17, "receiptNumber": 17, "kind": "sale",
        "amount": "12.50", "currency": "EUR", "state": state, "text": "…", "startedAt": "2026-11-20T12:34:56Z",
        "replayed": false,
        "card": { "entryMode": "NFC_ICC", "brand": "VISA", "last4": "1111", "aid": "A0000000031010" },
    });
    sale.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    sale
}

fn to_confirm(amount: &str) -> Value {
    let to_confirm = json!({ "amount": amount, "until": "2026-11-20T12:36:56Z", "onSilence": "reverse" });
    sale("awaiting-till", json!({ "toConfirm": to_confirm }))
}

/// The terminal's answer to a cancellation that comes too late.
fn too_late(mut sale: Value) -> Value {
    sale["cancel"] = json!("too-late");
    sale
}

fn approved() -> Value {
    sale("ended", json!({ "outcome": "approved", "approvedAmount": "12.50" }))
}

fn ended(outcome: &str, reason: &str) -> Value {
    sale("ended", json!({ "outcome": outcome, "reason": reason }))
}

fn problem(code: &str) -> Value {
    let status = pos_till_api::ProblemType::of_code(code).unwrap().status();
    json!({ "type": "x", "title": "t", "status": status, "detail": "d", "code": code })
}

fn cancel() -> Ask {
    Ask::Cancel(REFERENCE.to_owned())
}

fn confirm(taken: Taken) -> Ask {
    Ask::Confirm { reference: REFERENCE.to_owned(), taken }
}

fn not_done(failure: Failure) -> Vec<(Line, Got)> {
    vec![(LINE, Got::Answer(Err(failure)))]
}

#[test]
fn a_payment_is_confirmed_only_after_tcp_has_delivered_the_answer() {
    let mut stage = quiet();
    stage.says(LINE, PAYS);
    stage.until(ms(199));
    assert!(stage.asked.is_empty(), "the line is not quiet yet");
    stage.until(ms(200));
    stage.terminal(200, &status());
    let Ask::Begin(begin) = stage.question() else { panic!("{:?}", stage.asked) };
    assert_eq!((begin.kind, begin.amount.as_deref(), begin.accept_partial), (Kind::Sale, Some("12.50"), false));
    assert_eq!((begin.confirm, begin.till_prints), (Some(OnSilence::Reverse), false));
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    assert!(!stage.session.is_settling());
    stage.approves();
    assert!(stage.session.is_settling());
    let got = stage.got();
    let [(LINE, Got::Answer(Ok(paid)))] = got.as_slice() else { panic!("{got:?}") };
    assert_eq!((paid.application.as_deref(), paid.entry.as_deref()), (Some("00B"), Some("2")));
    assert!(stage.asked.is_empty(), "the till may not have it");
    stage.taken(true);
    assert!(stage.session.is_settling(), "the terminal has not recorded it");
    assert_eq!(*stage.question(), confirm(Taken::All));
    stage.terminal(200, &approved());
    assert!(!stage.session.is_busy());
    assert_eq!((stage.session.lines(), stage.session.next_deadline()), (0, None));
    assert!(!stage.session.is_settling());
}

#[test]
fn a_session_that_stops_begins_nothing_and_records_what_the_till_took() {
    let mut stage = quiet();
    stage.begins();
    stage.approves();
    stage.taken(true);
    stage.opens(LINE + 1);
    stage.got();
    stage.session.stop();
    stage.says(LINE + 1, PAYS);
    stage.until(stage.now + ms(200));
    assert_eq!(stage.got(), [(LINE + 1, Got::Answer(Err(Failure::GivenUp)))]);
    assert_eq!(stage.notes, ["a request was refused: the service stops"]);
    let [(_, question)] = stage.asked.as_slice() else { panic!("{:?}", stage.asked) };
    assert_eq!(*question, confirm(Taken::All));
    stage.terminal(200, &approved());
    assert!(!stage.session.is_busy());
}

#[test]
fn an_answer_without_its_acknowledgement_is_taken_back_or_kept_as_set() {
    for (unacknowledged, taken) in [(OnSilence::Reverse, Taken::Nothing), (OnSilence::Keep, Taken::All)] {
        for loses in [true, false] {
            let mut stage = Stage::new(Settings { unacknowledged, ..settings() });
            stage.begins();
            stage.approves();
            if loses {
                stage.loses();
            } else {
                stage.taken(false);
            }
            assert_eq!(*stage.question(), confirm(taken.clone()));
        }
        // The caller never reports.
        let mut stage = Stage::new(Settings { unacknowledged, ..settings() });
        stage.begins();
        stage.approves();
        stage.until(s(60));
        assert_eq!(*stage.question(), confirm(taken));
    }
}

#[test]
fn each_outcome_without_a_charge_has_its_answer() {
    for (outcome, reason, failure) in [
        ("declined", "bank-declined", Failure::Declined),
        ("cancelled", "card-timeout", Failure::TimeOut),
        ("cancelled", "tip-timeout", Failure::TimeOut),
        ("cancelled", "customer-cancelled", Failure::GivenUp),
        ("cancelled", "till-cancelled", Failure::Operator),
        ("not-sent", "gateway-unreachable", Failure::GivenUp),
        ("reversed", "card-refused", Failure::Declined),
        ("reversed", "signature-refused", Failure::Operator),
        ("reversed", "till-silent", Failure::GivenUp),
    ] {
        let mut stage = quiet();
        stage.begins();
        stage.terminal(200, &ended(outcome, reason));
        assert_eq!(stage.got(), not_done(failure), "{outcome} {reason}");
        assert!(!stage.session.is_busy());
    }
}

#[test]
fn what_is_not_known_gets_no_answer() {
    for state in [
        sale("unconfirmed", json!({})),
        sale("unconfirmed-finishing", json!({})),
        sale("ended", json!({ "outcome": "an outcome of later" })),
        sale("ended", json!({ "outcome": "partially-approved", "approvedAmount": "5.00" })),
        sale("ended", json!({ "outcome": "approved", "approvedAmount": "5.00" })),
    ] {
        let mut stage = quiet();
        stage.begins();
        stage.terminal(200, &state);
        assert_eq!(stage.got(), [(LINE, Got::Nothing)], "{state}");
        assert!(stage.asked.is_empty() && !stage.session.is_busy());
    }
}

#[test]
fn an_approval_of_another_amount_is_taken_back_even_if_approvals_are_kept() {
    let mut stage = Stage::new(Settings { unacknowledged: OnSilence::Keep, ..settings() });
    stage.begins();
    stage.terminal(200, &to_confirm("5.00"));
    assert_eq!(stage.got(), [(LINE, Got::Nothing)]);
    assert_eq!(*stage.question(), confirm(Taken::Nothing));
}

#[test]
fn a_refused_begin_is_answered_because_nothing_was_begun() {
    for (code, failure) in [
        ("busy", Failure::GivenUp),
        ("not-ready", Failure::GivenUp),
        ("journal", Failure::GivenUp),
        ("amount", Failure::Forbidden),
        ("operator-required", Failure::Forbidden),
        ("currency", Failure::Currency),
    ] {
        let mut stage = quiet();
        stage.says(LINE, PAYS);
        stage.until(s(1));
        stage.terminal(200, &status());
        let body = problem(code);
        stage.terminal(u16::try_from(body["status"].as_u64().unwrap()).unwrap(), &body);
        assert_eq!(stage.got(), not_done(failure), "{code}");
    }
}

#[test]
fn a_request_with_a_fault_begins_nothing() {
    let with = |old: &str, new: &str| String::from_utf8(PAYS.to_vec()).unwrap().replace(old, new);
    for (bytes, failure) in [
        (with("1250", "0000"), Failure::Format),
        (with("CD0010", "CD0019"), Failure::Action),
        (with("CD0010", "CD0011"), Failure::Forbidden),
        (with("CE003978", "CE003840"), Failure::Currency),
        (with("CB0041250", "CB0041250CC00300C"), Failure::Selection),
        (with("CB0041250", ""), Failure::Format),
        (with("CB0041250", "CB99"), Failure::Format),
        ("x".repeat(65_536), Failure::Format),
        (String::new(), Failure::Format),
        (with("1250", "1250\nCC00300C"), Failure::Format),
    ] {
        let mut stage = quiet();
        for chunk in bytes.as_bytes().chunks(700) {
            stage.says(LINE, chunk);
        }
        stage.until(s(5));
        if let Some((_, Ask::Status)) = stage.asked.last() {
            stage.terminal(200, &status());
        }
        assert_eq!(stage.got(), not_done(failure), "{bytes:.80}");
        assert!(stage.asked.is_empty() && !stage.session.is_busy(), "{bytes:.80}");
        assert_eq!(stage.notes.len(), 1, "{:?}", stage.notes);
    }
}

#[test]
fn a_cheque_in_another_segment_is_still_a_part_of_the_request() {
    let mut stage = quiet();
    stage.says(LINE, PAYS);
    stage.until(ms(150));
    stage.says(LINE, b"CC0");
    stage.until(ms(400));
    stage.says(LINE, b"0300C");
    stage.until(ms(599));
    assert!(stage.got.is_empty() && stage.asked.is_empty());
    stage.until(ms(600));
    assert_eq!(stage.got(), not_done(Failure::Selection));
}

#[test]
fn a_line_end_ends_the_request_and_what_follows_it_takes_the_payment_back() {
    for unacknowledged in [OnSilence::Reverse, OnSilence::Keep] {
        let mut stage = Stage::new(Settings { unacknowledged, ..settings() });
        stage.says(LINE, &[PAYS, b"\r"].concat());
        stage.terminal(200, &status());
        stage.says(LINE, b"\n");
        stage.terminal(201, &sale("waiting-for-card", json!({})));
        stage.says(LINE, b"CC00300C");
        assert_eq!(stage.got(), [(LINE, Got::Nothing)]);
        assert!(stage.notes.iter().any(|note| note.contains("sent more after its request")), "{:?}", stage.notes);
        assert_eq!(*stage.question(), cancel());
        stage.terminal(200, &too_late(to_confirm("12.50")));
        assert_eq!(*stage.question(), confirm(Taken::Nothing), "{unacknowledged:?}");
    }
    // Before the transaction has begun, the refusal is true.
    let mut stage = quiet();
    stage.says(LINE, &[PAYS, b"\n"].concat());
    stage.says(LINE, b"CC00300C");
    assert_eq!(stage.got(), not_done(Failure::Format));
    stage.terminal(200, &status());
    assert!(stage.asked.is_empty());
}

#[test]
fn after_second_110_no_request_to_the_gateway_begins() {
    let mut stage = quiet();
    stage.begins();
    stage.until(s(110) - ms(1));
    assert!(matches!(stage.question(), Ask::Show { .. }));
    stage.until(s(110));
    assert_eq!(*stage.question(), cancel());
    // The agent does not answer, so the cancellation is repeated.
    for second in 111..115 {
        stage.silence(true);
        stage.until(s(second));
        assert_eq!(*stage.question(), cancel());
    }
    let mut cancelled = ended("cancelled", "till-cancelled");
    cancelled["cancel"] = json!("in-time");
    stage.terminal(200, &cancelled);
    assert_eq!(stage.got(), not_done(Failure::TimeOut));
}

#[test]
fn what_began_before_second_110_goes_on_until_second_170() {
    for approves in [true, false] {
        let mut stage = quiet();
        stage.begins();
        stage.terminal(200, &sale("in-progress", json!({})));
        stage.until(s(110));
        assert_eq!(*stage.question(), cancel());
        stage.terminal(200, &too_late(sale("in-progress", json!({}))));
        stage.until(s(170) - ms(1));
        assert!(matches!(stage.question(), Ask::Show { .. }));
        if approves {
            stage.approves();
            assert!(matches!(stage.got().as_slice(), [(LINE, Got::Answer(Ok(_)))]));
            continue;
        }
        stage.until(s(170));
        assert_eq!(stage.got(), [(LINE, Got::Nothing)]);
        stage.approves();
        assert_eq!(*stage.question(), confirm(Taken::Nothing));
    }
}

#[test]
fn a_begin_request_is_not_repeated_after_second_110() {
    for may_be_done in [true, false] {
        let mut stage = quiet();
        stage.says(LINE, PAYS);
        stage.until(s(1));
        stage.terminal(200, &status());
        stage.until(s(120));
        assert!(matches!(stage.question(), Ask::Begin(_)));
        stage.silence(may_be_done);
        if may_be_done {
            assert_eq!(*stage.question(), cancel(), "it may have begun");
            assert_eq!(stage.got(), []);
            // The agent knows no such transaction yet. It may still get the begin request.
            stage.terminal(404, &problem("no-such-sale"));
            assert!(matches!(stage.question(), Ask::Show { .. }));
            stage.terminal(200, &sale("waiting-for-card", json!({})));
            stage.until(s(122));
            assert_eq!(*stage.question(), cancel());
        } else {
            assert_eq!(stage.got(), not_done(Failure::TimeOut));
            assert!(!stage.session.is_busy());
        }
    }
    // No question about the terminal is open for so long, but a begin request that waits would be.
    let mut stage = quiet();
    stage.says(LINE, PAYS);
    stage.until(s(1));
    stage.until(s(110));
    assert_eq!(stage.got(), not_done(Failure::TimeOut));
}

#[test]
fn an_agent_that_is_silent_for_too_long_leaves_the_outcome_open() {
    let mut stage = quiet();
    stage.begins();
    while stage.got.is_empty() {
        stage.silence(false);
        let at = stage.now + s(1);
        stage.until(at);
    }
    assert_eq!(stage.got(), [(LINE, Got::Nothing)]);
    // The session still cancels it as soon as the agent answers.
    stage.silence(true);
    let at = stage.now + s(1);
    stage.until(at);
    assert_eq!(*stage.question(), cancel());
    stage.terminal(200, &too_late(to_confirm("12.50")));
    assert_eq!(*stage.question(), confirm(Taken::Nothing));
    // Nothing was begun if the agent was never reached.
    let mut stage = quiet();
    stage.says(LINE, PAYS);
    stage.until(s(1));
    stage.terminal(200, &status());
    while stage.got.is_empty() {
        stage.silence(false);
        let at = stage.now + s(1);
        stage.until(at);
    }
    assert_eq!(stage.got(), not_done(Failure::GivenUp));
}

#[test]
fn a_till_that_is_gone_before_its_answer_has_its_payment_cancelled_or_taken_back() {
    let mut stage = quiet();
    stage.begins();
    stage.loses();
    assert_eq!(*stage.question(), cancel());
    stage.terminal(200, &too_late(sale("in-progress", json!({}))));
    stage.approves();
    assert_eq!(*stage.question(), confirm(Taken::Nothing));
    stage.terminal(200, &sale("unconfirmed", json!({})));
    assert!(!stage.session.is_busy());
    assert_eq!(stage.got(), []);
    // The begin request is on its way, so the cancellation follows its answer.
    let mut stage = quiet();
    stage.says(LINE, PAYS);
    stage.until(s(1));
    stage.terminal(200, &status());
    stage.loses();
    assert!(matches!(stage.question(), Ask::Begin(_)));
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    assert_eq!(*stage.question(), cancel());
    // Nothing has begun.
    let mut stage = quiet();
    stage.says(LINE, PAYS);
    stage.until(s(1));
    stage.loses();
    stage.terminal(200, &status());
    assert!(stage.asked.is_empty() && !stage.session.is_busy());
}

#[test]
fn a_second_connection_is_busy_while_the_first_pays_and_a_repeated_request_is_new_afterwards() {
    let mut stage = quiet();
    stage.begins();
    stage.opens(2);
    stage.says(2, PAYS);
    stage.until(s(2));
    assert_eq!(stage.got(), [(2, Got::Answer(Err(Failure::GivenUp)))]);
    stage.approves();
    stage.got();
    stage.loses();
    assert_eq!(*stage.question(), confirm(Taken::Nothing));
    // The till has lost its answer and repeats the request, while the terminal takes the first payment back.
    stage.opens(3);
    stage.says(3, PAYS);
    stage.until(s(3));
    stage.terminal(200, &status());
    let Ask::Begin(begin) = stage.question() else { panic!("{:?}", stage.asked) };
    assert_eq!(begin.reference, "caisse-test-2");
}

#[test]
fn connections_are_limited() {
    let mut stage = quiet();
    for line in 2..=4 {
        stage.opens(line);
    }
    assert_eq!(stage.got(), []);
    stage.opens(5);
    assert_eq!(stage.got(), [(5, Got::Nothing)]);
    stage.until(s(5));
    assert_eq!(stage.got().len(), 4, "none of them said anything");
    assert_eq!(stage.session.lines(), 0);
}

fn credit() -> Stage {
    let mut stage = Stage::new(Settings { credit: true, ..settings() });
    stage.says(LINE, b"CZ0040300CJ012012345678901CA00201CE003978CD0011CB0041250");
    stage.until(s(1));
    stage.terminal(200, &status());
    assert!(stage.asked.is_empty(), "no supervisor has confirmed it");
    stage
}

#[test]
fn a_credit_needs_a_supervisor() {
    let mut stage = credit();
    let (ticket, amount, currency) = stage.supervisor.take().unwrap();
    assert_eq!((amount.as_str(), currency.as_str()), ("12.50", "EUR"));
    let actions = stage.session.supervisor_said(ticket, true, stage.now);
    stage.take(actions);
    let Ask::Begin(begin) = stage.question() else { panic!("{:?}", stage.asked) };
    assert_eq!((begin.kind, begin.confirm), (Kind::Credit, None));
    stage.terminal(201, &sale("waiting-for-card", json!({ "kind": "credit" })));
    stage.terminal(200, &approved());
    assert!(matches!(stage.got().as_slice(), [(LINE, Got::Answer(Ok(_)))]));
    stage.taken(true);
    assert!(stage.asked.is_empty() && !stage.session.is_busy());
}

#[test]
fn a_credit_without_a_supervisor_is_forbidden() {
    for case in ["refused", "late", "gone"] {
        let mut stage = credit();
        let (ticket, ..) = stage.supervisor.take().unwrap();
        match case {
            "refused" => {
                let actions = stage.session.supervisor_said(ticket, false, stage.now);
                stage.take(actions);
            }
            "late" => stage.until(s(62)),
            _ => stage.loses(),
        }
        let told = if case == "gone" { Vec::new() } else { not_done(Failure::Forbidden) };
        assert_eq!(stage.got(), told, "{case}");
        let actions = stage.session.supervisor_said(ticket, true, stage.now);
        assert!(actions.is_empty() && stage.asked.is_empty(), "{case}");
    }
}

#[test]
fn a_confirmation_is_repeated_until_the_terminal_has_recorded_it() {
    let mut stage = quiet();
    stage.begins();
    stage.approves();
    stage.taken(true);
    for _ in 0..60 {
        stage.silence(true);
        let at = stage.now + s(1);
        stage.until(at);
        assert_eq!(*stage.question(), confirm(Taken::All));
    }
    // The terminal cannot write its journal.
    for state in [sale("unconfirmed", json!({})), to_confirm("12.50"), problem("journal")] {
        stage.terminal(if state["code"] == "journal" { 503 } else { 200 }, &state);
        let at = stage.now + s(1);
        stage.until(at);
        assert_eq!(*stage.question(), confirm(Taken::All), "{state}");
    }
    stage.terminal(409, &problem("no-confirmation-awaited"));
    assert!(stage.notes.iter().any(|note| note.contains("does not confirm")), "{:?}", stage.notes);
    assert!(!stage.session.is_busy());
}
