//! Tests of a till that answers `04 FF` late. Such an answer never counts for `04 0F`.

use super::*;

/// Creates a till that wants `04 FF` and has answered the first one.
fn hears() -> Stage {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 0E");
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    assert_eq!(stage.told(), [TerminalMessage::Ok, TerminalMessage::Intermediate(0x0A)]);
    stage.till("80 00 00");
    stage
}

/// Creates a till that has not answered the status "waiting for the bank" within T3.
fn owes() -> Stage {
    let mut stage = hears();
    stage.terminal(200, &sale("in-progress", json!({})));
    assert_eq!(stage.told(), [TerminalMessage::Intermediate(0x04)]);
    assert_eq!(stage.wait(), s(5));
    stage
}

fn awaits() -> Value {
    let to_confirm = json!({ "amount": "10.00", "until": "2026-11-20T12:36:56Z", "onSilence": "reverse" });
    sale("awaiting-till", json!({ "toConfirm": to_confirm }))
}

fn confirmed(stage: &Stage) -> Option<Taken> {
    stage.asked.iter().find_map(|(_, ask)| match ask {
        Ask::Confirm { taken, .. } => Some(taken.clone()),
        _ => None,
    })
}

const YES: &str = "80 00 00";
const NO: &str = "84 66 00";

#[test]
fn a_late_answer_to_an_intermediate_status_decides_nothing() {
    for (late, second, taken) in
        [(YES, YES, Taken::All), (YES, NO, Taken::Nothing), (NO, YES, Taken::All), (NO, NO, Taken::Nothing)]
    {
        let mut stage = owes();
        stage.terminal(200, &awaits());
        assert_eq!(statuses(&stage.told()), 1);
        stage.till(late);
        assert_eq!(confirmed(&stage), None, "{late} may be the answer to 04 FF");
        assert_eq!(statuses(&stage.told()), 1, "04 0F once more");
        stage.till(second);
        assert_eq!(confirmed(&stage), Some(taken), "{late}, then {second}");
    }
}

#[test]
fn an_answer_that_comes_before_the_approval_pays_what_is_owed() {
    let mut stage = owes();
    stage.till(YES);
    assert_eq!(stage.wait(), s(8));
    assert_eq!(stage.told(), [TerminalMessage::Intermediate(0x04)]);
    stage.till(YES);
    stage.terminal(200, &awaits());
    assert_eq!(statuses(&stage.told()), 1);
    stage.till(YES);
    assert_eq!(confirmed(&stage), Some(Taken::All));
}

#[test]
fn no_other_intermediate_status_goes_out_while_an_answer_is_owed_and_the_till_is_not_kept_beyond_its_patience() {
    let mut stage = owes();
    let heard_last = s(0);
    while !stage.sent.iter().any(|apdu| apdu.control == Control::ABORT) {
        stage.wait();
        let intermediate = stage.sent.iter().filter(|apdu| apdu.control == Control::INTERMEDIATE).count();
        assert_eq!(intermediate, 0, "{:?}", stage.now);
    }
    assert!(stage.now - heard_last < s(170), "{:?}", stage.now);
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: 0x7D, .. }]));
    // The terminal stops waiting for a card that the customer has not presented.
    let mut stage = hears();
    stage.terminal(200, &sale("waiting-for-card", json!({})));
    while !matches!(stage.question(), Ask::Cancel(_)) {
        stage.wait();
        let count = stage.told().len();
        assert!(count < 2 && stage.now < s(180), "{count} {:?}", stage.now);
    }
}

#[test]
fn a_till_that_answers_no_intermediate_status_is_believed_at_its_first_answer() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 0E");
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    stage.told();
    let mut heard = 0;
    while stage.now < s(300) {
        stage.wait();
        heard += stage.told().len();
    }
    assert!(heard > 30, "{heard}");
    stage.terminal(200, &awaits());
    while statuses(&stage.told()) == 0 {
        stage.wait();
    }
    stage.till(YES);
    assert_eq!(confirmed(&stage), Some(Taken::All));
}

#[test]
fn a_till_that_wakes_late_in_its_first_payment_owes_an_answer_to_each_status() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 0E");
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    // Two statuses are not answered within T3, and a third is on its way.
    for at in [5, 8, 13, 16] {
        assert_eq!(stage.wait(), s(at));
    }
    assert_eq!(stage.told().iter().filter(|it| matches!(it, TerminalMessage::Intermediate(_))).count(), 3);
    stage.till(YES);
    stage.terminal(200, &awaits());
    assert_eq!(statuses(&stage.told()), 1);
    for _ in 0..2 {
        stage.till(YES);
        assert_eq!((confirmed(&stage), statuses(&stage.told())), (None, 1));
    }
    stage.till(NO);
    assert_eq!(confirmed(&stage), Some(Taken::Nothing));
}

#[test]
fn what_cannot_be_the_owed_answer_is_taken_and_later_pays_nothing() {
    // Only `84 9D` has an amount.
    let mut stage = owes();
    stage.terminal(200, &awaits());
    stage.till("84 9D 07 04 00 00 00 00 08 00");
    assert_eq!(confirmed(&stage), Some(Taken::Part { amount: "8.00".to_owned() }));
    // `84 9C` may answer either frame, so the next answer may still be the owed one.
    let mut stage = owes();
    stage.terminal(200, &awaits());
    stage.till("84 9C 00");
    assert_eq!(stage.wait(), s(7));
    assert_eq!(statuses(&stage.told()), 2);
    stage.till(YES);
    assert_eq!((confirmed(&stage), statuses(&stage.told())), (None, 1));
    stage.till(NO);
    assert_eq!(confirmed(&stage), Some(Taken::Nothing));
}

#[test]
fn an_abort_or_a_broken_line_between_the_two_answers_acknowledges_nothing() {
    let mut stage = owes();
    stage.terminal(200, &awaits());
    stage.told();
    stage.till(YES);
    stage.till("06 B0 00");
    assert_eq!(confirmed(&stage), None);
    assert!(stage.told().contains(&TerminalMessage::Refused(0x83)));
    let lost = stage.session.line_lost(LINE, stage.now);
    stage.take(lost);
    assert_eq!(confirmed(&stage), Some(Taken::Nothing));
    // If the till stays silent after that, its earlier answer does not confirm the payment.
    let mut stage = owes();
    stage.terminal(200, &awaits());
    stage.till(YES);
    while confirmed(&stage).is_none() {
        stage.wait();
    }
    assert_eq!((confirmed(&stage), stage.now), (Some(Taken::Nothing), s(20)));
}

#[test]
fn what_is_known_of_a_till_holds_for_its_next_payment_and_not_for_another_till() {
    // In the next payment, the till answers the first status late.
    let next = |stage: &mut Stage| {
        stage.till(PAY);
        stage.terminal(200, &status());
        stage.terminal(201, &sale("waiting-for-card", json!({})));
        stage.wait();
        stage.terminal(200, &awaits());
        stage.told();
        stage.till(YES);
        confirmed(stage)
    };
    let over = || {
        let mut stage = hears();
        stage.terminal(200, &sale("ended", json!({ "outcome": "declined" })));
        stage.till(YES);
        stage.till(YES);
        assert!(!stage.session.is_busy());
        stage.told();
        stage
    };
    assert_eq!(next(&mut over()), None);
    for (registration, believed) in [("06 00 04 00 00 00 0E", None), ("06 00 04 00 00 00 0C", Some(Taken::All))] {
        let mut stage = over();
        stage.till(registration);
        stage.terminal(200, &status());
        stage.till(YES);
        stage.told();
        assert_eq!(next(&mut stage), believed, "{registration}");
    }
}

#[test]
fn that_a_till_answers_is_kept_over_a_restart() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 0E");
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    let apdu = Apdu::decode(&[0x80, 0, 0]).unwrap();
    let actions = stage.session.heard(LINE, &apdu, s(1));
    assert_eq!(actions, [Action::Remember(Some(vec![0, 0, 0, 0x0E]))]);
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 0E");
    stage.session.set_answers_intermediate(true);
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.terminal(201, &sale("waiting-for-card", json!({})));
    assert_eq!(stage.wait(), s(5));
    stage.terminal(200, &awaits());
    stage.till(YES);
    assert_eq!(confirmed(&stage), None);
}
