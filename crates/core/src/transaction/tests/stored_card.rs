//! Tests storing and deleting a card, where no payment exists and nothing is reversed. Also tests a pending payment
//! whose customer must act elsewhere.

use super::*;

const DAY: u64 = 24 * 3600;
const STORED: &str = "8ac7a4a1000000000000000000000007";

fn order_of(transaction: Operation) -> Order {
    Order { operation: transaction, amount: Amount::nothing(eur(1).currency()), ..order() }
}

fn storing() -> Trace {
    let (sale, step) = Transaction::begin(order_of(Operation::StoreCard));
    let mut trace = Trace { sale, written: Vec::new() };
    let _ = trace.commit(step);
    trace
}

fn store_without_answer() -> Trace {
    let mut store = storing();
    let read = Event::CardRead { facts: facts(EntryMode::Icc), first_answer: FirstAnswer::GoOnline };
    assert_eq!(store.on(read), [Action::Ask, Action::Tell]);
    let actions = store.on(unknown());
    let expected = matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell, Action::Query { .. }]);
    assert!(expected, "looked up, and nothing is reversed: {actions:?}");
    let _ = store.on(said(false));
    store
}

#[test]
fn a_card_is_stored_whatever_the_chip_says_of_it_afterwards() {
    let mut store = storing();
    let read = Event::CardRead { facts: facts(EntryMode::Icc), first_answer: FirstAnswer::GoOnline };
    let _ = store.on(read);
    // An amount in the answer is ignored.
    let approval = Approval { amount: ApprovedAmount::Unreadable, ..approval(ApprovedAmount::NotSaid) };
    let actions = store.on(Event::Answered(Answer::Approved(Box::new(approval))));
    assert!(matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell]), "{actions:?}");
    assert_eq!(store.on(said(false)), [Action::Print(Paper::Copies)]);
    assert_eq!(store.outcome(), Some(&Outcome::Approved));
    // If the card refuses before anything was sent, it is not stored.
    let mut refused = storing();
    let _ = refused.on(Event::CardRead { facts: facts(EntryMode::Icc), first_answer: FirstAnswer::Declined });
    assert!(matches!(refused.outcome(), Some(Outcome::Declined { .. })));
}

#[test]
fn a_card_to_store_is_never_sent_again_and_what_was_stored_is_told() {
    let mut found_later = store_without_answer();
    for seconds in [5, 600, 3600, DAY - 10] {
        let actions = found_later.on_at(listed(Vec::new()), seconds);
        assert!(!actions.contains(&Action::Ask) && found_later.is_unconfirmed(), "after {seconds} s: {actions:?}");
    }
    let stored =
        ListedTransaction { amount: ApprovedAmount::NotSaid, ..found("RG", STORED, ListedState::Approved, None) };
    let _ = found_later.on_at(listed(vec![stored]), DAY - 5);
    assert_eq!(found_later.outcome(), Some(&Outcome::Approved));
    assert_eq!(found_later.sale.host().id, Some(PaymentId::new(STORED)), "its id is in the journal");

    let mut absent = store_without_answer();
    let _ = absent.on_at(listed(Vec::new()), 5);
    let _ = absent.on_at(listed(Vec::new()), DAY + 10);
    assert_eq!(absent.outcome(), Some(&Outcome::NotSent { why: Reason::NeverReceived.into() }));
}

#[test]
fn where_no_list_shows_stored_cards_an_absence_proves_nothing() {
    let deadlines = Deadlines { lists_registrations: false, ..DEADLINES };
    let mut store = store_without_answer();
    for seconds in [5, DAY + 10] {
        let step = store.sale.handle(listed(Vec::new()), at(seconds), deadlines);
        let _ = store.commit(step);
        assert!(store.is_unconfirmed());
    }
    assert!(matches!(store.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }), "a person is told");
    // A decline in an unusual form does not prove either that the card was not stored.
    let mut doubted = storing();
    let _ = doubted.on(Event::CardRead { facts: facts(EntryMode::Icc), first_answer: FirstAnswer::GoOnline });
    let (why, facts) = (Reason::BankDeclined.into(), HostFacts::default());
    let refusal = Refusal { why, for_chip: ForChip::default(), facts };
    let _ = doubted.on(Event::Answered(Answer::DeclinedInDoubt(Box::new(refusal))));
    for seconds in [5, DAY + 10] {
        let step = doubted.sale.handle(listed(Vec::new()), at(seconds), deadlines);
        let _ = doubted.commit(step);
        assert!(doubted.is_unconfirmed(), "after {seconds} s");
    }
}

#[test]
fn a_card_to_forget_is_sent_again_until_it_is_forgotten() {
    let (sale, step) = Transaction::begin(order_of(Operation::ForgetCard { registration: STORED.to_owned() }));
    let mut forget = Trace { sale, written: Vec::new() };
    let _ = forget.commit(step);
    let _ = forget.on(Event::Proceed);
    let _ = forget.on(unknown());
    assert!(!forget.on_at(listed(Vec::new()), 5).contains(&Action::Ask));
    assert_eq!(forget.on_at(listed(Vec::new()), 60), [Action::Ask]);
    let _ = forget.on_at(approved(), 61);
    assert_eq!(forget.outcome(), Some(&Outcome::Approved));
}

#[test]
fn where_the_customer_must_act_stays_known_while_it_is_pending() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let pending = |redirect: Option<&str>| {
        Event::Answered(Answer::Pending { id: PaymentId::new(KNOWN), redirect: redirect.map(str::to_owned) })
    };
    assert_eq!(sale.on_at(pending(Some("https://bank.test/3ds")), 1), [Action::Tell]);
    assert_eq!(sale.sale.standing(), Standing::InProgress, "neither approved nor declined");
    let _ = sale.on_at(Event::DeadlinePassed, 2);
    let _ = sale.on_at(pending(None), 3);
    assert_eq!(sale.sale.customer_acts_at(), Some("https://bank.test/3ds"));
    let _ = sale.on_at(pending(None), 41);
    assert_eq!(sale.sale.customer_acts_at(), None);
    assert!(sale.is_unconfirmed());
}
