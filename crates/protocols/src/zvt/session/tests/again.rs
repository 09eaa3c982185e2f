//! Tests of repeated commands, after minutes or days: the customer is not charged twice, and the right transaction is
//! used.

use super::*;
use pos_till_api::Kind;

/// Builds a transaction in the till's list.
fn one(number: u64, kind: &str, outcome: &str) -> Value {
    let mut sale = approved();
    (sale["number"], sale["receiptNumber"]) = (json!(number), json!(number % 9999));
    (sale["kind"], sale["outcome"], sale["reference"]) = (json!(kind), json!(outcome), json!(format!("of-{number}")));
    sale
}

/// Begins a payment at a till that sends its last known receipt.
fn again(heard: &str) -> Stage {
    let mut stage = Stage::quiet();
    stage.till(&format!("06 01 0E 04 00 00 00 00 10 00 06 05 1F 1F 02 {heard}"));
    stage.told();
    stage.terminal(200, &status());
    assert_eq!(stage.question(), &Ask::Newest(2));
    stage
}

fn begins(stage: &Stage) -> (Kind, Option<&str>) {
    match stage.question() {
        Ask::Begin(begin) => (begin.kind, begin.of.as_deref()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_payment_whose_approval_is_lost_each_time_is_taken_back_each_time() {
    // The till knows 14. Payment 17 was lost and reversed by 18. Payment 19 was lost too.
    let mut stage = again("00 14");
    let list = [one(19, "sale", "approved"), one(18, "reversal", "approved")];
    stage.terminal(200, &json!({ "sales": list }));
    assert_eq!(stage.question(), &Ask::Newest(16));
    let mut whole = list.to_vec();
    whole.extend([one(17, "sale", "reversed"), one(15, "sale", "declined"), one(14, "sale", "approved")]);
    stage.terminal(200, &json!({ "sales": whole }));
    assert_eq!(begins(&stage), (Kind::Reversal, Some("of-19")));
    stage.terminal(201, &one(20, "reversal", "approved"));
    assert_eq!(begins(&stage), (Kind::Sale, None));
}

#[test]
fn what_it_has_heard_and_what_cannot_be_told_stands() {
    for (heard, list) in [
        // The till knows the reversal, or the last payment.
        ("00 19", vec![one(19, "reversal", "approved"), one(17, "sale", "approved")]),
        ("00 17", vec![one(17, "sale", "approved"), one(14, "sale", "approved")]),
        // Two approvals are newer than the known one, or the known one is missing.
        ("00 14", vec![one(19, "sale", "approved"), one(17, "sale", "approved")]),
        ("00 14", vec![one(19, "sale", "approved")]),
    ] {
        let mut stage = again(heard);
        stage.terminal(200, &json!({ "sales": list }));
        assert_eq!(begins(&stage), (Kind::Sale, None), "{heard}");
    }
    let mut stage = again("00 14");
    stage.terminal(200, &json!({ "sales": [one(19, "sale", "approved"), one(18, "reversal", "approved")] }));
    stage.terminal(200, &json!({ "sales": [one(19, "sale", "approved"), one(18, "reversal", "approved")] }));
    assert_eq!(begins(&stage), (Kind::Sale, None), "looked for once");
}

#[test]
fn what_cannot_be_taken_back_is_given_back_or_no_other_payment_begins() {
    let declined = || {
        let mut stage = again("00 14");
        stage.terminal(200, &json!({ "sales": [one(17, "sale", "approved"), one(14, "sale", "approved")] }));
        assert_eq!(begins(&stage), (Kind::Reversal, Some("of-17")));
        stage.terminal(201, &one(18, "reversal", "declined"));
        assert_eq!(begins(&stage), (Kind::Refund, Some("of-17")));
        stage
    };
    let mut stage = declined();
    stage.terminal(201, &one(19, "refund", "approved"));
    assert_eq!(begins(&stage), (Kind::Sale, None));
    let mut stage = declined();
    stage.terminal(201, &one(19, "refund", "declined"));
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x66, .. }]));
    assert!(stage.asked.is_empty());
}

#[test]
fn the_same_command_at_once_on_two_lines_is_one_payment() {
    let mut stage = Stage::quiet();
    stage.sells(PAY);
    stage.told();
    assert!(stage.session.line_opened(2).is_empty());
    let apdu = Apdu::decode(&hex::decode(PAY.replace(' ', "")).unwrap()).unwrap();
    for line in [2, LINE] {
        let actions = stage.session.heard(line, &apdu, stage.now);
        assert_eq!(actions, [Action::Send { line, apdu: Apdu::refused(code::BUSY) }]);
    }
    // An answer on the other line does not belong to a frame on this line.
    assert_eq!(stage.session.heard(2, &Apdu::ok(), stage.now), []);
    assert!(stage.asked.is_empty());
}

#[test]
fn a_receipt_number_that_has_come_again_is_told_by_its_trace() {
    // 17 was issued three rounds ago. Its receipt number also belongs to a newer payment of the same amount.
    for (trace, begins) in [("03 00 14", true), ("00 00 17", false)] {
        let mut stage = Stage::quiet();
        stage.till(&format!("06 30 0A 12 34 56 87 00 17 37 {trace}"));
        stage.terminal(200, &status());
        stage.terminal(200, &json!({ "sales": [one(30_020, "sale", "approved")] }));
        let no_close = json!({ "type": "x", "title": "t", "status": 404, "detail": "d", "code": "no-such-close" });
        stage.terminal(404, &no_close);
        stage.told();
        assert_eq!(stage.question(), &Ask::Number(30_014));
        stage.terminal(200, &json!({ "sales": [one(30_014, "sale", "approved")] }));
        while let Ask::Number(_) = stage.question() {
            stage.terminal(200, &json!({ "sales": [] }));
        }
        stage.terminal(200, &one(30_014, "sale", "approved"));
        if begins {
            assert!(matches!(stage.question(), Ask::Begin(begin) if begin.of.as_deref() == Some("of-30014")));
        } else {
            assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0xB5, .. }]));
        }
    }
}

#[test]
fn each_approval_by_card_that_was_not_heard_is_taken_back_and_nothing_else() {
    for (kind, outcome, undone) in [
        ("sale", "approved", true),
        ("sale", "partially-approved", true),
        ("pre-authorisation", "approved", true),
        ("pre-authorisation", "partially-approved", true),
        ("sale", "declined", false),
        ("sale", "reversed", false),
        ("capture", "approved", false),
        ("refund", "approved", false),
    ] {
        let mut stage = again("00 14");
        stage.terminal(200, &json!({ "sales": [one(17, kind, outcome), one(14, "sale", "approved")] }));
        let expected = if undone { (Kind::Reversal, Some("of-17")) } else { (Kind::Sale, None) };
        assert_eq!(begins(&stage), expected, "{kind} {outcome}");
    }
}
