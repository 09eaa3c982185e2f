//! Tests the gateway's possible answers to a reversal and to a look-up, and declined transactions in a list.

use super::*;
use pos_terms::transaction::PaymentId;

/// Returns a payment that must be reversed. Its answer was lost, the look-up found it, and a reversal of the full
/// amount is on its way.
fn being_reversed() -> Trace {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let charged = found("DB", "p1", ListedState::Approved, None);
    assert_eq!(sale.on(listed(vec![charged])), [reverse("p1", 1234, 1)]);
    sale
}

fn usd(minor: u64) -> Amount {
    Amount::from_minor(minor, Currency::from_code("USD").unwrap()).unwrap()
}

fn sends_a_reversal(actions: &[Action]) -> bool {
    actions.iter().any(|action| matches!(action, Action::Reverse { .. }))
}

#[test]
fn a_declined_reversal_leaves_the_payment_charged_whatever_kind_of_list_says_so() {
    let charged = || found("DB", "p1", ListedState::Approved, None);
    let mut sale = being_reversed();
    let refused = ReversalAnswer::Refused { why: "declined".into() };
    assert_eq!(sale.on(reversal_answered(refused)), [query_with(1)]);
    assert!(sale.is_unconfirmed(), "the payment is still charged");
    // A reversal and a refund by another sender were declined too. They gave nothing back, and this terminal's reversal
    // was declined.
    for (kind, id) in [("RV", "x1"), ("RF", "x2")] {
        let mut sale = being_reversed();
        let _ = sale.on(reversal_answered(ReversalAnswer::Unknown { why: "no answer in time".into() }));
        let theirs = ListedTransaction {
            reference: Some("of-another".to_owned()),
            ..found(kind, id, ListedState::Declined, None)
        };
        let ours = ListedTransaction { reference: Some(own(1)), ..found("RV", "rv1", ListedState::Declined, None) };
        let _ = sale.on_at(Event::DeadlinePassed, 10);
        let actions = sale.on_at(listed(vec![charged(), theirs.clone(), ours]), 10);
        assert!(sale.outcome().is_none(), "{kind}: {actions:?}");
        assert!(
            sends_a_reversal(&actions) || alarms(&actions) == 1,
            "{kind}: it goes on, or a person hears: {actions:?}"
        );
        // A declined transaction is the only other entry in the list for a payment whose reversal was never requested.
        let mut fresh = Trace::asked(EntryMode::NfcIcc);
        let _ = fresh.on(unknown());
        assert_eq!(fresh.on(listed(vec![charged(), theirs])), [reverse("p1", 1234, 1)], "{kind}: all of it goes back");
    }
}

#[test]
fn a_reversal_is_done_by_its_own_amount_and_currency_alone() {
    let done = |amount| reversal_answered(ReversalAnswer::Done { id: PaymentId::new("rv1"), amount });
    for whole in [ApprovedAmount::NotSaid, ApprovedAmount::Said(eur(1234))] {
        let mut sale = being_reversed();
        assert_eq!(sale.on(done(whole)), [query()], "{whole:?}: every approved match must go");
        let _ = sale.on(listed(vec![found("DB", "p1", ListedState::Approved, None)]));
        assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })), "{whole:?}");
    }
    for wrong in [
        ApprovedAmount::Said(eur(1235)),
        ApprovedAmount::Said(usd(1234)),
        ApprovedAmount::Said(usd(1)),
        ApprovedAmount::Unreadable,
    ] {
        let mut sale = being_reversed();
        let actions = sale.on(done(wrong));
        assert!(sale.outcome().is_none() && alarms(&actions) == 1, "{wrong:?}: {actions:?}");
        assert!(!sends_a_reversal(&actions), "{wrong:?}: nobody knows how much is left");
    }
}

#[test]
fn what_others_gave_back_in_another_currency_is_for_a_person() {
    for kind in ["RV", "RF"] {
        let theirs = ListedTransaction {
            amount: ApprovedAmount::Said(usd(1234)),
            reference: Some("of-another".to_owned()),
            ..found(kind, "x1", ListedState::Approved, None)
        };
        let mut sale = Trace::asked(EntryMode::NfcIcc);
        let _ = sale.on(unknown());
        let actions = sale.on(listed(vec![found("DB", "p1", ListedState::Approved, None), theirs]));
        assert!(sale.outcome().is_none() && alarms(&actions) == 1, "{kind}: {actions:?}");
        assert!(!sends_a_reversal(&actions), "{kind}: {actions:?}");
    }
}

/// Failed queries never make a payment count as absent, no matter how long and how often they fail.
#[test]
fn a_question_without_an_answer_is_never_an_empty_list() {
    const DAY: u64 = 24 * 3600;
    let cannot = || Event::Inquired(Inquiry::CannotAsk { why: "the gateway did not answer within 10000 ms".into() });
    let ages = || (1..10).map(|day| day * DAY);
    let mut unanswered = Trace::asked(EntryMode::NfcIcc);
    let _ = unanswered.on(unknown());
    for seconds in ages() {
        let _ = unanswered.on_at(cannot(), seconds);
        assert!(unanswered.is_unconfirmed(), "after {seconds} s");
        let _ = unanswered.on_at(Event::DeadlinePassed, seconds + DAY / 2);
    }
    // If the same queries are answered with an empty list, the absence is finally trusted.
    let mut absent = Trace::asked(EntryMode::NfcIcc);
    let _ = absent.on(unknown());
    for seconds in ages() {
        let _ = absent.on_at(listed(Vec::new()), seconds);
        let _ = absent.on_at(Event::DeadlinePassed, seconds + DAY / 2);
    }
    assert!(matches!(
        absent.outcome(),
        Some(Outcome::Declined { .. } | Outcome::NotSent { .. } | Outcome::Reversed { .. })
    ));
    // A reversal without an answer is not sent again because of failed queries.
    let mut lost = being_reversed();
    let _ = lost.on(reversal_answered(ReversalAnswer::Unknown { why: "no answer in time".into() }));
    for seconds in ages() {
        let _ = lost.on_at(Event::DeadlinePassed, seconds);
        let actions = lost.on_at(cannot(), seconds);
        assert!(!sends_a_reversal(&actions) && lost.is_unconfirmed(), "after {seconds} s: {actions:?}");
    }
}
