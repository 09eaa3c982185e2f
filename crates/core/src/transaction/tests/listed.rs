//! Tests the facts that a list gives about reversals: their payment, their amount, and the fields that may be missing.

use super::*;

fn listed_as(kind: &str, id: &str, minor: u64, reference: &str) -> ListedTransaction {
    ListedTransaction {
        amount: ApprovedAmount::Said(eur(minor)),
        reference: Some(reference.to_owned()),
        ..found(kind, id, ListedState::Approved, None)
    }
}

fn payment(id: &str, minor: u64) -> ListedTransaction {
    listed_as("DB", id, minor, &order().merchant_transaction_id)
}

fn answered(nth: u32, reversal: ReversalAnswer) -> Event {
    Event::ReversalAnswered { reference: own(nth), reversal }
}

fn done(id: &str, minor: u64) -> ReversalAnswer {
    ReversalAnswer::Done { id: PaymentId::new(id), amount: ApprovedAmount::Said(eur(minor)) }
}

fn lost() -> ReversalAnswer {
    ReversalAnswer::Unknown { why: "no answer in time".into() }
}

fn held_back() -> ReversalAnswer {
    ReversalAnswer::HeldBack { why: "the journal is being copied".into(), for_person: false }
}

fn is_for_a_person(sale: &Trace) -> bool {
    matches!(sale.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. })
}

fn is_reversed(sale: &Trace) -> bool {
    matches!(sale.outcome(), Some(Outcome::Reversed { .. }))
}

/// Returns a transaction that the gateway approved and the chip refused, so that the payment is reversed.
fn refused_by_the_chip() -> Trace {
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    assert_eq!(sale.on(said(false)), [Action::Tell, reverse_known()]);
    sale
}

/// Makes a look-up when it is due.
fn look(sale: &mut Trace, seconds: u64, list: Vec<ListedTransaction>) -> Vec<Action> {
    let asked = sale.on_at(Event::DeadlinePassed, seconds);
    assert!(matches!(asked.as_slice(), [Action::Query { .. }]), "{asked:?}");
    sale.on_at(listed(list), seconds)
}

#[test]
fn a_reversal_of_an_earlier_program_is_found_under_the_reference_of_its_sale() {
    let mut sale = refused_by_the_chip();
    for record in sale.written.iter_mut().flatten() {
        if let Record::ReversalAsked { reference, .. } = record {
            *reference = None;
        }
    }
    assert_eq!(sale.cut(), [query()]);
    let reference = order().merchant_transaction_id;
    let _ = sale.on(listed(vec![payment(KNOWN, 1234), listed_as("RV", "rv1", 1234, &reference)]));
    assert!(is_reversed(&sale), "{:?}", sale.sale.standing());
}

#[test]
fn whose_a_reversal_is_the_list_may_say_and_must_not_contradict() {
    let reversal =
        |of: &str| ListedTransaction { refers_to: Some(PaymentId::new(of)), ..listed_as("RV", "rv1", 1234, &own(1)) };
    let mut agrees = refused_by_the_chip();
    let _ = agrees.on(answered(1, lost()));
    let _ = look(&mut agrees, 10, vec![payment(KNOWN, 1234), reversal(KNOWN)]);
    assert!(is_reversed(&agrees));
    let mut contradicts = refused_by_the_chip();
    let _ = contradicts.on(answered(1, lost()));
    let _ = look(&mut contradicts, 10, vec![payment(KNOWN, 1234), reversal("p9")]);
    assert!(is_for_a_person(&contradicts));
}

#[test]
fn another_kind_under_the_reference_of_a_reversal_that_was_declined_did_nothing() {
    let mut sale = refused_by_the_chip();
    let _ = sale.on(answered(1, lost()));
    let strange = ListedTransaction { state: ListedState::Declined, ..listed_as("CP", "x1", 1234, &own(1)) };
    let _ = look(&mut sale, 10, vec![payment(KNOWN, 1234), strange]);
    assert!(sale.is_unconfirmed() && !is_for_a_person(&sale));
}

#[test]
fn a_reversal_that_was_answered_counts_with_its_answer_where_the_list_gives_no_amount() {
    let mut sale = refused_by_the_chip();
    let _ = sale.on(answered(1, done("rv1", 100)));
    let _ = sale.on(answered(2, lost()));
    let silent = ListedTransaction { amount: ApprovedAmount::NotSaid, ..listed_as("RV", "rv1", 1, &own(1)) };
    let rest = listed_as("RV", "rv2", 1134, &own(2));
    let _ = look(&mut sale, 10, vec![payment(KNOWN, 1234), silent, rest]);
    assert!(is_reversed(&sale), "{:?}", sale.sale.standing());
}

#[test]
fn what_others_gave_back_comes_on_top_of_what_was_confirmed_and_is_not_listed() {
    for kind in ["RV", "RF"] {
        let mut sale = refused_by_the_chip();
        let _ = sale.on(answered(1, done("rv1", 100)));
        let _ = sale.on(answered(2, held_back()));
        let actions = look(&mut sale, 10, vec![payment(KNOWN, 1234), listed_as(kind, "x1", 200, "theirs")]);
        assert!(actions.contains(&reverse(KNOWN, 934, 3)), "{kind}: {actions:?}");
    }
}

#[test]
fn each_reversal_is_reckoned_against_the_payment_that_it_was_asked_for() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let both = || vec![payment("p1", 1234), payment("p2", 800)];
    assert_eq!(sale.on(listed(both())), [reverse("p1", 1234, 1)]);
    assert_eq!(sale.on(answered(1, done("rv1", 1234))), [query()]);
    let first = || listed_as("RV", "rv1", 1234, &own(1));
    assert!(sale.on(listed([both(), vec![first()]].concat())).contains(&reverse("p2", 800, 2)));
    let _ = sale.on(answered(2, lost()));
    // After a power cut, one list that omits a request does not prove that it is absent.
    assert_eq!(sale.cut(), [query_with(2)]);
    let _ = sale.on(listed(vec![payment("p1", 1234), first()]));
    assert!(sale.is_unconfirmed(), "8.00 may still be charged");
    let _ = look(&mut sale, 100, [both(), vec![first(), listed_as("RV", "rv2", 800, &own(2))]].concat());
    assert!(is_reversed(&sale), "{:?}", sale.sale.standing());
}

#[test]
fn more_than_was_asked_for_goes_back_whole_when_the_answer_named_it() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    assert!(sale.on(answered_amount(ApprovedAmount::Said(eur(1235)))).contains(&query()));
    assert_eq!(sale.on(listed(vec![payment(KNOWN, 1235)])), [reverse(KNOWN, 1235, 1)]);
    let _ = sale.on(answered(1, held_back()));
    assert_eq!(look(&mut sale, 10, vec![payment(KNOWN, 1235)]), [reverse(KNOWN, 1235, 1)]);
}

#[test]
fn what_a_person_has_taken_back_and_never_left_leaves_after_one_look() {
    let settled = || {
        let mut sale = refused_by_the_chip();
        let _ = sale.on(answered(1, ReversalAnswer::NotSent { why: "no network".into() }));
        let _ = sale.on(Event::OldCopy { why: "old copy".into() });
        assert_eq!(sale.on_at(Event::Resolve { keep: false, by: None }, 2), [query_with(1), Action::Tell]);
        sale
    };
    assert_eq!(settled().on_at(listed(vec![payment(KNOWN, 1234)]), 3), [reverse_known()]);
    // A look-up comes first, even if the answer to the earlier request says that it was not sent.
    let mut late = settled();
    let _ = late.on_at(answered(1, ReversalAnswer::NotSent { why: "no network".into() }), 3);
    assert_eq!(late.on_at(Event::DeadlinePassed, 6), [query_with(1)]);
}
