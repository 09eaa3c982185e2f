//! Tests answers with an amount other than the requested one. They are looked up before they are trusted, then accepted
//! or reversed.

use super::*;

fn part() -> Event {
    answered_amount(ApprovedAmount::Said(eur(600)))
}

/// Returns a listed payment of this amount.
fn booked(minor: u64) -> ListedTransaction {
    ListedTransaction { amount: ApprovedAmount::Said(eur(minor)), ..found("DB", KNOWN, ListedState::Approved, None) }
}

fn done(nth: u32, minor: u64) -> Event {
    let amount = ApprovedAmount::Said(eur(minor));
    let reversal = ReversalAnswer::Done { id: PaymentId::new(format!("rv{nth}")), amount };
    Event::ReversalAnswered { reference: own(nth), reversal }
}

fn given_back(nth: u32, minor: u64) -> ListedTransaction {
    ListedTransaction {
        amount: ApprovedAmount::Said(eur(minor)),
        reference: Some(own(nth)),
        ..found("RV", &format!("rv{nth}"), ListedState::Approved, Some(KNOWN))
    }
}

fn cannot() -> Event {
    Event::Inquired(Inquiry::CannotAsk { why: Reason::GatewayCannotBeAsked.into() })
}

fn not_reached() -> Event {
    Event::Inquired(Inquiry::NotReached { why: Reason::GatewayCannotBeAsked.into() })
}

fn taking(entry: EntryMode) -> Trace {
    let mut sale = Trace::asked_by(Order { accept_partial: true, ..order() }, entry);
    assert_eq!(sale.on(part()), [query()], "the card waits, and nobody is told yet");
    assert_eq!(sale.sale.standing(), Standing::InProgress);
    assert!(sale.sale.card_waits());
    sale
}

#[test]
fn a_part_is_taken_once_a_look_has_shown_just_this() {
    for entry in [EntryMode::Icc, EntryMode::NfcIcc, EntryMode::Magstripe] {
        let mut sale = taking(entry);
        // The payment is not listed yet, or the query failed, so the next look-up comes a moment later.
        assert_eq!(sale.on_at(listed(Vec::new()), 1), []);
        assert_eq!(sale.on_at(Event::DeadlinePassed, 1), [], "not at once");
        assert_eq!(sale.on_at(Event::DeadlinePassed, 2), [query()]);
        assert_eq!(sale.on_at(cannot(), 2), []);
        assert_eq!(sale.on_at(Event::DeadlinePassed, 3), [query()]);
        assert_eq!(sale.on_at(not_reached(), 3), []);
        assert_eq!(sale.on_at(Event::DeadlinePassed, 4), [query()]);
        let actions = sale.on_at(listed(vec![booked(600)]), 4);
        let Some(Action::AnswerCard(card)) = actions.first() else { panic!("{actions:?}") };
        assert_eq!(card.arc, *b"00");
        let _ = sale.on(said(true));
        assert_eq!(sale.outcome(), Some(&Outcome::PartiallyApproved { amount: eur(600) }), "{entry:?}");
    }
}

#[test]
fn a_part_that_a_look_has_shown_with_a_refund_never_goes_back_by_its_answer_alone() {
    let mut sale = taking(EntryMode::Icc);
    let of_others = ListedTransaction {
        amount: ApprovedAmount::Said(eur(200)),
        ..found("RF", "rf1", ListedState::Approved, Some(KNOWN))
    };
    let list = || listed(vec![booked(600), of_others.clone()]);
    assert!(sale.on(list()).contains(&query()));
    for minute in 1..10 {
        let _ = sale.on_at(cannot(), minute * 60);
        let sends = sale.on_at(Event::DeadlinePassed, minute * 60 + 59);
        assert!(!sends.iter().any(|action| matches!(action, Action::Reverse { .. })), "{sends:?}");
    }
    let _ = sale.on_at(Event::DeadlinePassed, 3600);
    assert!(sale.on_at(list(), 3600).contains(&reverse(KNOWN, 400, 1)));
}

#[test]
fn a_part_of_which_more_is_booked_goes_back_whole() {
    for list in [vec![booked(1234)], vec![booked(500)], vec![booked(600), booked_twice()]] {
        let mut sale = taking(EntryMode::NfcIcc);
        let whole = list.first().map(|one| one.amount);
        let actions = sale.on(listed(list.clone()));
        let Some(Action::AnswerCard(card)) = actions.first() else { panic!("{actions:?}") };
        assert_eq!(card.arc, *b"Z1");
        assert_eq!(alarms(&actions), 1, "never silently");
        assert!(sale.is_unconfirmed() && actions.contains(&query()), "{actions:?}");
        let Some(ApprovedAmount::Said(whole)) = whole else { panic!() };
        assert!(sale.on(listed(list)).contains(&reverse(KNOWN, whole.minor(), 1)));
    }
}

fn booked_twice() -> ListedTransaction {
    found("DB", "8ac7a4a1000000000000000000000002", ListedState::Approved, None)
}

#[test]
fn a_part_that_no_look_shows_while_the_card_waits_goes_back() {
    let mut sale = taking(EntryMode::Icc);
    assert_eq!(sale.on_at(listed(Vec::new()), 30), []);
    let actions = sale.on_at(listed(Vec::new()), 41);
    assert!(matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell, Action::Query { .. }]), "{actions:?}");
    assert!(sale.is_unconfirmed());

    let mut pulled = taking(EntryMode::Icc);
    assert_eq!(pulled.on(Event::ReaderLost), [Action::Tell, query()], "the chip cannot confirm any more");
    // A tap need not confirm.
    let mut tapped = taking(EntryMode::NfcIcc);
    assert_eq!(tapped.on(Event::ReaderLost), []);
    let _ = tapped.on(listed(vec![booked(600)]));
    assert_eq!(tapped.outcome(), Some(&Outcome::PartiallyApproved { amount: eur(600) }));

    let mut cut = taking(EntryMode::NfcIcc);
    assert_eq!(cut.cut(), [Action::Tell, query()]);
    assert!(cut.is_unconfirmed());
}

fn refusing() -> Trace {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let actions = sale.on(part());
    let [Action::AnswerCard(card), Action::Tell, look] = actions.as_slice() else { panic!("{actions:?}") };
    assert_eq!((card.arc, look), (*b"Z1", &query()));
    assert!(sale.is_unconfirmed(), "never declined while the gateway holds an approval");
    let _ = sale.on(said(false));
    sale
}

#[test]
fn a_part_that_is_not_taken_goes_back_as_it_is_booked() {
    let why = Reason::PartialNotTaken.with(eur(600));
    for whole in [600, 1234] {
        let mut sale = refusing();
        let actions = sale.on(listed(vec![booked(whole)]));
        assert!(actions.contains(&reverse(KNOWN, whole, 1)), "{actions:?}");
        assert_eq!(alarms(&actions), usize::from(whole != 600));
        assert_eq!(sale.on(done(1, whole)), [query()], "the end is a look that shows nothing left");
        let _ = sale.on(listed(vec![booked(whole), given_back(1, whole)]));
        assert_eq!(sale.outcome(), Some(&Outcome::Reversed { why: why.clone() }), "{whole}");
    }
    let registration = || Operation::ByRegistration { registration: "8ac7a4a1000000000000000000000007".to_owned() };
    let mut stored = without_card(registration());
    assert_eq!(stored.on(part()), [Action::Tell, query()]);
}

#[test]
fn what_no_look_shows_goes_back_as_it_was_answered_and_the_rest_when_it_is_found() {
    for unanswered in [cannot, || listed(Vec::new())] {
        let mut sale = refusing();
        let _ = sale.on_at(unanswered(), 1);
        // Look-ups continue for that time. Then the answered amount is reversed without a look-up.
        assert_eq!(sale.on_at(Event::DeadlinePassed, 10), [reverse(KNOWN, 600, 1)]);
        assert_eq!(sale.on_at(done(1, 600), 11), [query()]);
        let _ = sale.on_at(listed(Vec::new()), 12);
        assert!(sale.is_unconfirmed(), "more may be booked");
        assert!(matches!(sale.on_at(Event::DeadlinePassed, 60).as_slice(), [Action::Query { .. }]));
        let actions = sale.on_at(listed(vec![booked(1234), given_back(1, 600)]), 61);
        assert!(actions.contains(&reverse(KNOWN, 634, 2)), "{actions:?}");
        let _ = sale.on_at(done(2, 634), 62);
        let _ = sale.on_at(listed(vec![booked(1234), given_back(1, 600), given_back(2, 634)]), 63);
        assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })));
    }
    // The reversal never exceeds the requested amount.
    let mut more = Trace::asked(EntryMode::NfcIcc);
    let _ = more.on(answered_amount(ApprovedAmount::Said(eur(9999))));
    let _ = more.on_at(cannot(), 1);
    assert_eq!(more.on_at(Event::DeadlinePassed, 10), [reverse(KNOWN, 1234, 1)]);
}

#[test]
fn a_part_that_was_on_the_way_back_when_the_power_failed_still_goes_back() {
    let mut sale = refusing();
    let _ = sale.on(listed(vec![booked(600)]));
    assert_eq!(sale.cut(), [query_with(1)], "looked up before it is sent again");
    assert_eq!(sale.on(listed(vec![booked(600)])), [Action::Print(Paper::Copies)], "it may be on its way");
    assert_eq!(sale.on_at(Event::DeadlinePassed, 10), [query_with(1)]);
    assert_eq!(sale.on_at(listed(vec![booked(600)]), 10), [reverse(KNOWN, 600, 1)]);
}

#[test]
fn an_answered_part_that_is_lost_on_its_way_back_is_sent_again_as_it_was() {
    let mut sale = refusing();
    let _ = sale.on_at(cannot(), 1);
    assert_eq!(sale.on_at(Event::DeadlinePassed, 10), [reverse(KNOWN, 600, 1)]);
    let lost = ReversalAnswer::Unknown { why: Reason::GatewayNoAnswer.into() };
    let _ = sale.on_at(Event::ReversalAnswered { reference: own(1), reversal: lost }, 11);
    let _ = sale.on_at(listed(vec![booked(1234)]), 12);
    let _ = sale.on_at(Event::DeadlinePassed, 60);
    let actions = sale.on_at(listed(vec![booked(1234)]), 61);
    assert_eq!(actions.first(), Some(&reverse(KNOWN, 600, 1)), "the same request, and no other");
    assert_eq!(alarms(&actions), 1, "{actions:?}");
}

/// For captures, refunds and similar kinds, the till receives the booked amount.
#[test]
fn what_was_decided_before_takes_what_a_look_shows() {
    for (minor, outcome) in [(600, Outcome::PartiallyApproved { amount: eur(600) }), (1234, Outcome::Approved)] {
        let mut refund = without_card(Operation::Refund { of: of() });
        assert_eq!(refund.on(part()), [Action::Tell, query()]);
        assert!(refund.is_unconfirmed());
        // The payment id is known, so the refund is not sent again, no matter how long it is not listed.
        assert!(!refund.on_at(listed(Vec::new()), 10).contains(&Action::Ask));
        let _ = refund.cut();
        let found = found("RF", KNOWN, ListedState::Approved, Some("p0"));
        let _ = refund.on(listed(vec![ListedTransaction { amount: ApprovedAmount::Said(eur(minor)), ..found }]));
        assert_eq!(refund.outcome(), Some(&outcome));
    }
    let mut late = without_card(Operation::Refund { of: of() });
    let _ = late.on(unknown());
    assert_eq!(late.on(part()), [query()], "an answer that comes late is looked up too");
}
