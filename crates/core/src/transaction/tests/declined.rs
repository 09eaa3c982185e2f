//! Tests which declines in an unusual form and which invalid requests are trusted.

use super::*;

fn in_doubt() -> Event {
    let facts = HostFacts { description: Some("insufficient funds".to_owned()), ..HostFacts::default() };
    let why = Reason::BankDeclined.with("insufficient funds");
    Event::Answered(Answer::DeclinedInDoubt(Box::new(Refusal { why, for_chip: ForChip::default(), facts })))
}

fn invalid() -> Event {
    Event::Answered(Answer::NotSent { why: Reason::RequestNotPossible.with("entityId") })
}

fn declined(kind: &str) -> Event {
    listed(vec![found(kind, "x1", ListedState::Declined, None)])
}

fn no() -> Outcome {
    Outcome::Declined { why: Reason::BankDeclined.with("insufficient funds") }
}

#[test]
fn a_decline_in_doubt_is_looked_up_while_the_chip_hears_z1_and_the_till_unconfirmed() {
    for entry in [EntryMode::Icc, EntryMode::NfcIcc, EntryMode::Magstripe] {
        let doubted = || {
            let mut sale = Trace::asked(entry);
            let actions = sale.on(in_doubt());
            let [Action::AnswerCard(card), Action::Tell, look] = actions.as_slice() else { panic!("{actions:?}") };
            assert_eq!((card.arc, look), (*b"Z1", &query()));
            assert!(sale.is_unconfirmed(), "nothing is told that may not be so");
            let _ = sale.on(said(false));
            sale
        };
        let mut found_declined = doubted();
        let _ = found_declined.on(declined("DB"));
        assert_eq!(found_declined.outcome(), Some(&no()), "{entry:?}");
        assert!(found_declined.sale.was_a_doubted_decline());

        let mut booked = doubted();
        let approved = listed(vec![found("DB", "p1", ListedState::Approved, None)]);
        assert_eq!(booked.on(approved), [reverse("p1", 1234, 1)], "never kept");
        assert!(booked.is_unconfirmed() && !booked.sale.was_a_doubted_decline());

        let mut empty = doubted();
        let _ = empty.on(listed(Vec::new()));
        assert!(empty.is_unconfirmed());
        // The power fails. The transaction is looked up anyway.
        assert_eq!(empty.cut(), [query()]);
    }
}

#[test]
fn what_was_decided_before_is_looked_up_too_and_not_sent_again() {
    type Made = fn() -> Operation;
    let kinds: [(&str, Made); 3] = [
        ("CP", || Operation::Capture { of: of() }),
        ("RF", || Operation::Refund { of: of() }),
        ("RV", || Operation::Reversal { of: of() }),
    ];
    for (kind, transaction) in kinds {
        let doubted = || {
            let mut later = without_card(transaction());
            assert_eq!(later.on(in_doubt()), [Action::Tell, query()], "{kind}");
            assert!(later.is_unconfirmed());
            later
        };
        let mut found_declined = doubted();
        let _ = found_declined.on(declined(kind));
        assert_eq!(found_declined.outcome(), Some(&no()), "{kind}");
        assert!(found_declined.sale.was_a_doubted_decline());

        let mut booked = doubted();
        let _ = booked.on(listed(vec![found(kind, "x1", ListedState::Approved, None)]));
        assert_eq!(booked.outcome(), Some(&Outcome::Approved), "{kind}");

        // The gateway declined. The request is not repeated, and the decline becomes final after the full time.
        let mut empty = doubted();
        for seconds in [1, 10, 1000] {
            let asked = empty.on_at(listed(Vec::new()), seconds);
            assert!(!asked.contains(&Action::Ask) && empty.is_unconfirmed(), "{kind} {asked:?}");
        }
        let _ = empty.on_at(listed(Vec::new()), 2 * 24 * 3600);
        assert_eq!(empty.outcome(), Some(&no()), "{kind}");
    }
}

#[test]
fn an_invalid_request_was_not_sent_and_one_that_was_in_doubt_before_is_looked_up() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let actions = sale.on(invalid());
    assert!(matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell]), "{actions:?}");
    assert_eq!(sale.outcome(), Some(&Outcome::NotSent { why: Reason::RequestNotPossible.with("entityId") }));

    let mut refund = without_card(Operation::Refund { of: of() });
    let _ = refund.on(unknown());
    let _ = refund.on(listed(Vec::new()));
    let _ = refund.on_at(Event::DeadlinePassed, 10);
    assert_eq!(refund.on_at(listed(Vec::new()), 10), [Action::Ask]);
    assert!(refund.on_at(invalid(), 11).contains(&query()) && refund.is_unconfirmed(), "the first may have been done");

    // A refund that is owed to the customer is not sent again unchanged. A person must refund it.
    let refund = Operation::Refund { of: of() };
    let mut rest = without_card_by(Order { operation: refund, gives_rest: true, ..order() });
    let actions = rest.on(invalid());
    assert_eq!(alarms(&actions), 1, "{actions:?}");
    assert!(matches!(rest.outcome(), Some(Outcome::NotSent { .. })));
}

/// If the issuer asks for the chip, only a customer who tapped is asked to insert the card.
#[test]
fn who_has_inserted_the_card_is_not_asked_to_insert_it() {
    for (entry, told) in [
        (EntryMode::NfcIcc, Reason::InsertAndPin),
        (EntryMode::NfcMagstripe, Reason::InsertAndPin),
        (EntryMode::Icc, Reason::BankDeclined),
        (EntryMode::MagstripeAsFallback, Reason::BankDeclined),
    ] {
        let mut sale = Trace::asked(entry);
        let (why, facts) = (Reason::InsertAndPin.with("no"), HostFacts::default());
        let refusal = Refusal { why, for_chip: ForChip::default(), facts };
        let _ = sale.on(Event::Answered(Answer::Declined(Box::new(refusal))));
        assert_eq!(sale.outcome(), Some(&Outcome::Declined { why: told.with("no") }), "{entry:?}");
    }
}
