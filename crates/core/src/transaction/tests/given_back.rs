//! Tests the rules for reversals: the amount, the number of attempts and the references. The cases are partial
//! reversals, amounts given back by other senders, repeated requests, and decisions of a person.

use super::*;
use pos_terms::transaction::PaymentId;

fn with_amount(found: ListedTransaction, minor: u64) -> ListedTransaction {
    ListedTransaction { amount: ApprovedAmount::Said(eur(minor)), ..found }
}

/// Returns a reversal or refund as listed by a gateway that names no `referencedId`.
fn linked(kind: &str, id: &str, minor: u64, reference: String) -> ListedTransaction {
    with_amount(ListedTransaction { reference: Some(reference), ..found(kind, id, ListedState::Approved, None) }, minor)
}

fn charged() -> ListedTransaction {
    found("DB", "p1", ListedState::Approved, None)
}

/// Returns a transaction whose answer was lost, whose payment was found, and whose reversal was sent.
fn being_reversed() -> Trace {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    assert_eq!(sale.on(listed(vec![charged()])), [reverse("p1", 1234, 1)]);
    sale
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

fn is_for_a_person(sale: &Trace) -> bool {
    matches!(sale.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. })
}

#[test]
fn a_reversal_of_a_part_that_a_look_shows_is_that_part_and_the_rest_goes_back_under_its_own_reference() {
    let mut sale = being_reversed();
    let _ = sale.on(answered(1, lost()));
    assert_eq!(sale.on_at(Event::DeadlinePassed, 10), [query_with(1)]);
    let part = linked("RV", "rv1", 100, own(1));
    let actions = sale.on_at(listed(vec![charged(), part.clone()]), 10);
    assert!(actions.contains(&reverse("p1", 1134, 2)), "{actions:?}");
    assert_eq!(alarms(&actions), 1, "{actions:?}");
    assert!(sale.is_unconfirmed(), "9.00 are charged: nobody is told that nothing is");

    // The same holds after a power cut, because the part is on the disk.
    assert_eq!(sale.cut(), [query_with(2)]);
    let rest = linked("RV", "rv2", 1134, own(2));
    let _ = sale.on(listed(vec![charged(), part, rest]));
    assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })));
}

#[test]
fn a_part_that_was_approved_and_whose_answer_is_lost_goes_back_with_its_own_amount() {
    let part = || with_amount(charged(), 800);
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    assert_eq!(sale.on(listed(vec![part()])), [reverse("p1", 800, 1)]);
    assert_eq!(sale.on(answered(1, done("rv1", 800))), [query()]);
    let _ = sale.on(listed(vec![part(), linked("RV", "rv1", 800, own(1))]));
    assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })), "{:?}", sale.sale.standing());
}

#[test]
fn a_reversal_answered_in_part_goes_on_with_exactly_the_rest_and_a_refused_rest_is_for_a_person() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.on(said(false));
    let actions = sale.on(answered(1, done("rv1", 100)));
    assert!(actions.contains(&reverse(KNOWN, 1134, 2)), "the payment is known: no look is needed: {actions:?}");
    assert_eq!(alarms(&actions), 1);
    // A repetition of the same answer does not answer the request for the rest.
    let _ = sale.on(answered(2, done("rv1", 1134)));
    assert!(sale.is_unconfirmed());

    let mut refused = Trace::asked(EntryMode::Icc);
    let _ = refused.on(approved());
    let _ = refused.on(said(false));
    let _ = refused.on(answered(1, done("rv1", 100)));
    assert_eq!(refused.on(answered(2, ReversalAnswer::Refused { why: "no".into() })), [query_with(2)]);
    let known = found("DB", KNOWN, ListedState::Approved, None);
    let actions = refused.on(listed(vec![known, linked("RV", "rv1", 100, own(1))]));
    assert_eq!(alarms(&actions), 1, "{actions:?}");
    assert!(is_for_a_person(&refused));
}

#[test]
fn what_others_gave_back_is_not_given_back_again() {
    for kind in ["RF", "RV"] {
        let mut sale = Trace::asked(EntryMode::NfcIcc);
        let _ = sale.on(unknown());
        let theirs = linked(kind, "x1", 200, "of-the-back-office".to_owned());
        assert_eq!(sale.on(listed(vec![charged(), theirs])), [reverse("p1", 1034, 1)], "{kind}");

        let mut all = Trace::asked(EntryMode::NfcIcc);
        let _ = all.on(unknown());
        let _ = all.on(listed(vec![charged(), linked(kind, "x1", 1234, "of-the-back-office".to_owned())]));
        assert!(matches!(all.outcome(), Some(Outcome::Reversed { .. })), "{kind}");
    }
}

/// The chip did not confirm, and the reversal was never sent. Meanwhile another sender gives a part back.
#[test]
fn what_others_gave_back_meanwhile_is_counted_after_the_rest_was_reversed_too() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    assert!(sale.on(said(false)).contains(&reverse(KNOWN, 1234, 1)));
    let _ = sale.on(answered(1, ReversalAnswer::NotSent { why: "no line".into() }));
    assert_eq!(sale.on_at(Event::DeadlinePassed, 60), [query_with(1)]);
    let paid = found("DB", KNOWN, ListedState::Approved, None);
    let of_others = linked("RF", "rf1", 300, "a stranger's".to_owned());
    let list = vec![paid, of_others];
    assert_eq!(sale.on_at(listed(list.clone()), 60), [reverse(KNOWN, 934, 2)]);
    // The 3.00 are not given back again. Only a look-up shows the remaining amount.
    assert_eq!(sale.on_at(answered(2, done("rv1", 934)), 61), [query()]);
    let _ = sale.on_at(listed([list, vec![linked("RV", "rv1", 934, own(2))]].concat()), 62);
    assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })));
}

#[test]
fn whose_reversal_it_is_must_be_known_where_several_payments_are_listed() {
    let two = || vec![charged(), found("DB", "p2", ListedState::Approved, None)];
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let _ = sale.on(listed([two(), vec![linked("RF", "x1", 200, "theirs".to_owned())]].concat()));
    assert!(is_for_a_person(&sale));

    // If the gateway names `referencedId`, the rules use it.
    let mut named = Trace::asked(EntryMode::NfcIcc);
    let _ = named.on(unknown());
    let of_second =
        ListedTransaction { refers_to: Some(PaymentId::new("p2")), ..linked("RF", "x1", 200, "theirs".to_owned()) };
    let actions = named.on(listed([two(), vec![of_second]].concat()));
    assert_eq!(actions, [reverse("p1", 1234, 1)]);
}

#[test]
fn a_reversal_of_more_or_of_another_currency_is_for_a_person_found_or_answered() {
    let usd = Amount::from_minor(1234, Currency::from_code("USD").unwrap()).unwrap();
    for amount in [ApprovedAmount::Said(eur(1235)), ApprovedAmount::Said(usd), ApprovedAmount::Unreadable] {
        let mut direct = being_reversed();
        let actions = direct.on(answered(1, ReversalAnswer::Done { id: PaymentId::new("rv1"), amount }));
        assert_eq!(alarms(&actions), 1, "{amount:?}: {actions:?}");
        assert!(is_for_a_person(&direct), "{amount:?}");

        let mut listed_so = being_reversed();
        let _ = listed_so.on(answered(1, lost()));
        let _ = listed_so.on_at(Event::DeadlinePassed, 10);
        let strange = ListedTransaction { amount, ..linked("RV", "rv1", 1, own(1)) };
        let actions = listed_so.on_at(listed(vec![charged(), strange]), 10);
        assert_eq!(alarms(&actions), 1, "{amount:?}: {actions:?}");
        assert!(is_for_a_person(&listed_so), "{amount:?}");
    }
}

#[test]
fn a_lost_reversal_is_sent_again_under_its_reference_and_only_after_looks_that_do_not_show_it() {
    let mut sale = being_reversed();
    let _ = sale.on(answered(1, lost()));
    for seconds in [10, 11] {
        assert_eq!(sale.on_at(Event::DeadlinePassed, seconds * 10), [query_with(1)]);
        let actions = sale.on_at(listed(vec![charged()]), seconds * 10);
        match seconds {
            10 => assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}"),
            _ => assert_eq!(actions, [reverse("p1", 1234, 1)], "the same reference"),
        }
    }
    // A failed look-up in between does not count.
    let _ = sale.on_at(answered(1, lost()), 111);
    let _ = sale.on_at(Event::DeadlinePassed, 200);
    let cannot = sale.on_at(Event::Inquired(Inquiry::CannotAsk { why: "HTTP 500".into() }), 200);
    assert!(!cannot.iter().any(|action| matches!(action, Action::Reverse { .. })), "{cannot:?}");
}

#[test]
fn a_reversal_that_was_held_back_has_not_left_and_the_rest_goes_at_once_after_a_look() {
    let mut sale = being_reversed();
    let held_back = |for_person| ReversalAnswer::HeldBack { why: "it is given back by its id".into(), for_person };
    let _ = sale.on(answered(1, held_back(false)));
    assert!(sale.is_unconfirmed());
    assert_eq!(sale.on_at(Event::DeadlinePassed, 10), [query_with(1)], "not without a look");
    let theirs = linked("RF", "x1", 200, "of-another-till".to_owned());
    assert_eq!(sale.on_at(listed(vec![charged(), theirs]), 10), [reverse("p1", 1034, 2)], "exactly the rest");
    // The gateway does not list the amount that was given back. A person must handle it, and the next look-up is a day
    // later.
    let _ = sale.on_at(answered(2, held_back(true)), 20);
    assert!(matches!(sale.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }));
    assert_eq!(sale.on_at(Event::DeadlinePassed, 3600), []);
    assert_eq!(sale.on_at(Event::DeadlinePassed, DAY + 20), [query_with(2)], "not without a look");
}

#[test]
fn a_listed_decline_of_the_second_try_is_not_final_while_the_first_may_come() {
    let mut sale = being_reversed();
    let _ = sale.on(answered(1, lost()));
    for seconds in [100, 110] {
        let _ = sale.on_at(Event::DeadlinePassed, seconds);
        let _ = sale.on_at(listed(vec![charged()]), seconds);
    }
    // The reversal was sent twice, and one of the two requests is listed as declined.
    let _ = sale.on_at(answered(1, lost()), 111);
    let declined = ListedTransaction { state: ListedState::Declined, ..linked("RV", "rv1", 1234, own(1)) };
    let _ = sale.on_at(Event::DeadlinePassed, 200);
    let actions = sale.on_at(listed(vec![charged(), declined.clone()]), 200);
    assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
    // Both are declined. Neither can still be carried out, so a new request is sent.
    let _ = sale.on_at(Event::DeadlinePassed, 600);
    let both = vec![charged(), declined.clone(), ListedTransaction { id: PaymentId::new("rv2"), ..declined }];
    assert_eq!(sale.on_at(listed(both), 600), [reverse("p1", 1234, 2)]);
}

const KEEPS_ALL: Deadlines = Deadlines { refuses_repeats: false, ..DEADLINES };
const DAY: u64 = 24 * 3600;

fn look(sale: &mut Trace, found: Vec<ListedTransaction>, seconds: u64) -> Vec<Action> {
    let step = sale.sale.handle(listed(found), at(seconds), KEEPS_ALL);
    sale.commit(step)
}

#[test]
fn a_capture_or_refund_is_sent_again_only_when_its_absence_is_final() {
    for kind in [Operation::Refund { of: of() }, Operation::Capture { of: of() }] {
        let mut sale = without_card(kind.clone());
        let _ = sale.on(unknown());
        for seconds in [5, 600, 3600, DAY - 3700, DAY - 10] {
            assert!(!look(&mut sale, Vec::new(), seconds).contains(&Action::Ask), "{kind:?} after {seconds} s");
        }
        assert_eq!(look(&mut sale, Vec::new(), DAY + 10), [Action::Ask], "{kind:?}");
        // The second request does not count as absent after an hour, despite the age of the first.
        let _ = sale.on_at(unknown(), DAY + 20);
        for seconds in [DAY + 30, DAY + 8000] {
            assert!(!look(&mut sale, Vec::new(), seconds).contains(&Action::Ask), "{kind:?} after {seconds} s");
        }
        // One listed decline for two attempts does not end the transaction earlier either.
        let declined = || vec![found(kind.kind().payment_type(), "x1", ListedState::Declined, None)];
        let _ = look(&mut sale, declined(), DAY + 9000);
        assert!(sale.is_unconfirmed(), "{kind:?}");
        let _ = look(&mut sale, declined(), 2 * DAY + 100);
        assert!(matches!(sale.outcome(), Some(Outcome::Declined { .. })), "{kind:?}");
    }
    // A reversal can be sent again earlier, because reversing twice does no harm.
    let mut reversal = without_card(Operation::Reversal { of: of() });
    let _ = reversal.on(unknown());
    assert!(!look(&mut reversal, Vec::new(), 5).contains(&Action::Ask));
    assert_eq!(look(&mut reversal, Vec::new(), 60), [Action::Ask]);
}

fn credit_without_answer() -> Trace {
    let (sale, step) = Transaction::begin(Order { operation: Operation::Credit, ..order() });
    let mut credit = Trace { sale, written: Vec::new() };
    let _ = credit.commit(step);
    let read = Event::CardRead { facts: facts(EntryMode::Icc), first_answer: FirstAnswer::GoOnline };
    let _ = credit.on(read);
    let actions = credit.on(unknown());
    assert!(
        matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell, Action::Query { .. }]),
        "the card is answered: {actions:?}"
    );
    let _ = credit.on(said(false));
    credit
}

#[test]
fn a_credit_is_never_sent_again_and_never_taken_back() {
    let mut absent = credit_without_answer();
    for seconds in [5, 600, 3600, DAY - 10] {
        let actions = absent.on_at(listed(Vec::new()), seconds);
        assert!(!actions.contains(&Action::Ask) && absent.is_unconfirmed(), "after {seconds} s: {actions:?}");
    }
    let _ = absent.on_at(listed(Vec::new()), DAY + 10);
    let never = Outcome::NotSent { why: Reason::NeverReceived.into() };
    assert_eq!(absent.outcome(), Some(&never), "it was not carried out");

    let mut there = credit_without_answer();
    let actions = there.on(listed(vec![found("CD", "cd1", ListedState::Approved, None)]));
    assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
    assert_eq!(
        (there.outcome(), there.sale.host().id.as_ref().map(PaymentId::as_str)),
        (Some(&Outcome::Approved), Some("cd1"))
    );

    let mut cut = credit_without_answer();
    assert_eq!(cut.cut(), [query()]);
}

#[test]
fn an_id_in_the_other_case_is_the_same_payment() {
    let upper = KNOWN.to_uppercase();
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.on(said(false));
    let _ = sale.on(answered(1, lost()));
    let _ = sale.on_at(Event::DeadlinePassed, 10);
    let listed_so = vec![found("DB", &upper, ListedState::Approved, None), linked("RV", "rv1", 1234, own(1))];
    let _ = sale.on_at(listed(listed_so), 10);
    assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })), "it is not reversed a second time");
}

#[test]
fn what_carries_our_reference_as_another_kind_is_not_absent() {
    for kind in ["RB", "CP", "VD", "CR"] {
        let ours = || ListedTransaction {
            reference: Some(order().merchant_transaction_id),
            ..found(kind, "x1", ListedState::Approved, None)
        };
        let mut sale = Trace::asked(EntryMode::NfcIcc);
        let _ = sale.on(unknown());
        for seconds in [5, DAY + 10, 2 * DAY] {
            let _ = sale.on_at(listed(vec![ours()]), seconds);
            assert!(is_for_a_person(&sale), "a sale as {kind} after {seconds} s");
        }
        let mut refund = without_card(Operation::Refund { of: of() });
        let _ = refund.on(unknown());
        for seconds in [5, DAY + 10, 2 * DAY] {
            assert!(!look(&mut refund, vec![ours()], seconds).contains(&Action::Ask), "a refund as {kind}");
            assert!(is_for_a_person(&refund), "a refund as {kind} after {seconds} s");
        }
        // A clerk made a transaction for the whole payment. It is unknown whether this gave the money back or captured
        // it.
        let mut voided = Trace::asked(EntryMode::NfcIcc);
        let _ = voided.on(unknown());
        let clerks = linked(kind, "x1", 1234, "of-the-back-office".to_owned());
        let actions = voided.on(listed(vec![charged(), clerks]));
        assert!(!actions.contains(&reverse("p1", 1234, 1)), "{kind}: {actions:?}");
        assert!(is_for_a_person(&voided), "{kind}");
    }
}

#[test]
fn a_pending_payment_is_known_by_its_id_from_then_on() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let pending = || Event::Answered(Answer::Pending { id: PaymentId::new(KNOWN), redirect: None });
    assert_eq!(sale.on(pending()), [Action::Tell]);
    assert_eq!(sale.written.last().unwrap().as_slice(), [Record::Pending { payment: PaymentId::new(KNOWN) }]);
    let steps = sale.written.len();
    let _ = sale.on_at(Event::DeadlinePassed, 2);
    let _ = sale.on_at(pending(), 2);
    assert_eq!(sale.written.len(), steps, "once");
}

/// Returns an unconfirmed transaction from an outdated journal copy, after its look-up.
fn held() -> Trace {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    assert_eq!(sale.cut(), [Action::Tell, query()]);
    let actions = sale.on(Event::OldCopy { why: "old copy".into() });
    assert!(matches!(actions.as_slice(), [Action::Tell, Action::Alarm { .. }]), "{actions:?}");
    assert!(is_for_a_person(&sale));
    sale
}

#[test]
fn what_had_not_been_sent_when_the_copy_was_made_and_is_at_the_gateway_is_not_cancelled() {
    let copied = || Event::OldCopy { why: "the gateway holds it".into() };
    let mut sale = Trace::begin();
    let actions = sale.on(copied());
    assert_eq!((alarms(&actions), is_for_a_person(&sale)), (1, true), "{actions:?}");
    assert_eq!(sale.cut(), [], "nor after a start");
    assert!(sale.on(Event::Resolve { keep: true, by: None }).contains(&query()));
    let _ = sale.on(listed(vec![charged()]));
    assert_eq!(sale.outcome(), Some(&Outcome::Approved));
    // A refund is finished and not reversed, so it is looked up.
    let copied_refund = || {
        let (refund, step) = Transaction::begin(Order { operation: Operation::Refund { of: of() }, ..order() });
        let mut refund = Trace { sale: refund, written: Vec::new() };
        let _ = refund.commit(step);
        let actions = refund.on(copied());
        assert!(
            matches!(&actions[..], [Action::Tell, asked, Action::Alarm { .. }] if *asked == query()),
            "{actions:?}"
        );
        refund
    };
    let mut refund = copied_refund();
    let reference = refund.sale.our_reference().to_owned();
    let _ = refund.on(listed(vec![linked("RF", "rf1", 1234, reference)]));
    assert_eq!(refund.outcome(), Some(&Outcome::Approved));
    // The refund is never sent again, because the gateway has received it, regardless of later lists.
    let mut refund = copied_refund();
    for seconds in [5, 3600, DAY + 10, 2 * DAY + 20, 3 * DAY + 30] {
        let actions = look(&mut refund, Vec::new(), seconds);
        assert!(!actions.contains(&Action::Ask) && is_for_a_person(&refund), "after {seconds} s: {actions:?}");
    }
    let _ = refund.cut();
    assert!(!look(&mut refund, Vec::new(), 5 * DAY).contains(&Action::Ask) && is_for_a_person(&refund));
}

#[test]
fn a_refund_that_an_old_copy_holds_as_open_is_looked_up_and_never_sent_again() {
    let mut sale = without_card(Operation::Refund { of: of() });
    let _ = sale.on(unknown());
    let actions = sale.on(Event::OldCopy { why: "old copy".into() });
    assert_eq!(alarms(&actions), 1, "{actions:?}");
    assert_eq!(sale.on(Event::OldCopy { why: "old copy".into() }), [], "once");
    for day in 1..4 {
        let actions = look(&mut sale, Vec::new(), day * 90_000);
        assert!(!actions.contains(&Action::Ask) && is_for_a_person(&sale), "day {day}: {actions:?}");
    }
    // The deletion of a stored card continues, because deleting it twice does no harm.
    let mut forget = without_card(Operation::ForgetCard { registration: "r".repeat(32) });
    let _ = forget.on(unknown());
    assert_eq!(forget.on(Event::OldCopy { why: "old copy".into() }), []);
    assert!(!look(&mut forget, Vec::new(), 5).contains(&Action::Ask));
    assert_eq!(look(&mut forget, Vec::new(), 60), [Action::Ask]);
    // The outcome is the result that the other copy of the journal obtained.
    let _ = look(&mut sale, vec![found("RF", "rf1", ListedState::Approved, None)], 400_000);
    assert_eq!(sale.outcome(), Some(&Outcome::Approved));
}

#[test]
fn a_sale_of_an_old_copy_waits_for_a_person_whatever_happens() {
    let mut sale = held();
    for event in [
        listed(vec![charged()]),
        listed(Vec::new()),
        Event::DeadlinePassed,
        Event::RetryNow,
        Event::Restarted,
        answered(1, done("rv1", 1234)),
    ] {
        assert_eq!(sale.on_at(event.clone(), 100_000), [], "{event:?}");
    }
    assert_eq!(sale.cut(), [], "also after a power cut");
    assert_eq!(sale.sale.deadline(), None);
    assert!(is_for_a_person(&sale));
}

#[test]
fn a_person_keeps_or_reverses_what_an_old_copy_does_not_know() {
    let mut kept = held();
    assert_eq!(kept.on(Event::Resolve { keep: true, by: None }), [query(), Action::Tell]);
    let actions = kept.on(listed(vec![charged()]));
    assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
    assert_eq!(
        (kept.outcome(), kept.sale.host().id.as_ref().map(PaymentId::as_str)),
        (Some(&Outcome::Approved), Some("p1"))
    );
    assert_eq!(kept.on(Event::Resolve { keep: false, by: None }), [], "once");

    // A payment that may never have been made is never reported as paid.
    let mut unclear = held();
    let _ = unclear.on(Event::Resolve { keep: true, by: None });
    let _ = unclear.on(listed(vec![ListedTransaction { state: ListedState::Unclear, ..charged() }]));
    assert!(unclear.outcome().is_none() && is_for_a_person(&unclear));

    // The amount that was given back meanwhile is not kept.
    let mut in_part = held();
    let _ = in_part.on(Event::Resolve { keep: true, by: None });
    let _ = in_part.on(listed(vec![charged(), linked("RF", "x1", 234, "theirs".to_owned())]));
    assert_eq!(in_part.outcome(), Some(&Outcome::PartiallyApproved { amount: eur(1000) }));

    let mut back = held();
    assert_eq!(back.on(Event::Resolve { keep: false, by: None }), [query(), Action::Tell]);
    assert_eq!(back.on(listed(vec![charged()])), [reverse("p1", 1234, 1)]);

    // The signature was being compared when the copy was made.
    let signed = || {
        let facts = CardFacts { cvm: Some(pos_terms::card::Cvm::Signature), ..facts(EntryMode::Magstripe) };
        let mut sale = Trace::begin();
        let _ = sale.on(Event::CardRead { facts, first_answer: FirstAnswer::GoOnline });
        let _ = sale.on(approved());
        let _ = sale.cut();
        let _ = sale.on(Event::OldCopy { why: "old copy".into() });
        assert_eq!(sale.on_at(Event::DeadlinePassed, 10_000), [], "nobody has looked at it, and it stays");
        sale
    };
    let mut sale = signed();
    assert_eq!(
        sale.on(Event::Resolve { keep: true, by: None }),
        [Action::Tell, query()],
        "it may have been taken back since"
    );
    let _ = sale.on(listed(vec![found("DB", KNOWN, ListedState::Approved, None)]));
    assert_eq!(sale.outcome(), Some(&Outcome::Approved));
    let mut sale = signed();
    let _ = sale.on(Event::Resolve { keep: true, by: None });
    let gone = linked("RV", "rv1", 1234, "theirs".to_owned());
    let _ = sale.on(listed(vec![found("DB", KNOWN, ListedState::Approved, None), gone]));
    assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })));
    let mut sale = signed();
    assert!(sale.on(Event::Resolve { keep: false, by: None }).contains(&reverse_known()));
}

#[test]
fn a_second_payment_that_is_not_decided_is_waited_for_whatever_went_back_of_the_first() {
    let undecided = || found("DB", "p2", ListedState::Undecided, None);
    let mut sale = being_reversed();
    assert_eq!(sale.on(answered(1, done("rv1", 1234))), [query()]);
    let back = || linked("RV", "rv1", 1234, own(1));
    let _ = sale.on(listed(vec![charged(), back(), undecided()]));
    assert!(sale.is_unconfirmed() && sale.outcome().is_none(), "{:?}", sale.sale.standing());
    // The undecided payment is finally approved, and is reversed too.
    let _ = sale.on_at(Event::DeadlinePassed, 100);
    let approved = ListedTransaction { state: ListedState::Approved, ..undecided() };
    let named = |id: &str, one: ListedTransaction| ListedTransaction { refers_to: Some(PaymentId::new(id)), ..one };
    let actions = sale.on_at(listed(vec![charged(), named("p1", back()), approved]), 100);
    assert_eq!(actions, [reverse("p2", 1234, 2)]);

    // The same holds for a refund, which is finished and not reversed. One attempt was carried out, and the other may
    // be.
    let mut refund = without_card(Operation::Refund { of: of() });
    let _ = refund.on(unknown());
    let tries = |state| {
        let ours =
            |id, state| ListedTransaction { state, ..linked("RF", id, 1234, refund.sale.our_reference().to_owned()) };
        vec![ours("rf1", ListedState::Approved), ours("rf2", state)]
    };
    let (both_open, one_declined) = (tries(ListedState::Undecided), tries(ListedState::Declined));
    let _ = look(&mut refund, both_open, 10);
    assert!(refund.is_unconfirmed() && refund.outcome().is_none(), "{:?}", refund.sale.standing());
    let _ = look(&mut refund, one_declined, 20);
    assert_eq!(refund.outcome(), Some(&Outcome::Approved));
}

/// The answer named the payment. A look-up shows a partial reversal of it, and also another transaction.
#[test]
fn after_a_part_the_rest_leaves_by_a_look_alone_that_allows_it() {
    let known = || found("DB", KNOWN, ListedState::Approved, None);
    let back_office = |state| ListedTransaction { state, ..linked("RF", "rf1", 1034, "of-the-back-office".to_owned()) };
    for (state, for_person) in [(ListedState::Undecided, false), (ListedState::Unclear, true)] {
        let mut sale = Trace::asked(EntryMode::Icc);
        let _ = sale.on(approved());
        let _ = sale.on(said(false));
        let _ = sale.on(answered(1, lost()));
        let _ = sale.on_at(Event::DeadlinePassed, 10);
        let found = || vec![known(), linked("RV", "rv1", 200, own(1)), back_office(state)];
        let actions = sale.on_at(listed(found()), 10);
        assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
        assert_eq!(is_for_a_person(&sale), for_person);
        let later = if for_person { 2 * DAY } else { 100 };
        assert_eq!(sale.on_at(Event::DeadlinePassed, later), [query()], "{state:?}");
        assert_eq!(sale.cut(), [query()], "{state:?}");
        // The back office's refund was carried out, so nothing is left.
        let _ = sale
            .on_at(listed(vec![known(), linked("RV", "rv1", 200, own(1)), back_office(ListedState::Approved)]), later);
        assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })), "{:?}", sale.sale.standing());
    }
}

#[test]
fn a_look_that_allows_nothing_is_followed_by_another_look() {
    let refund = |state| ListedTransaction { state, ..linked("RF", "rf1", 400, "of-another-till".to_owned()) };
    let undecided = || listed(vec![charged(), refund(ListedState::Undecided)]);
    let mut sale = being_reversed();
    let _ = sale.on(answered(1, ReversalAnswer::HeldBack { why: "given back by its id".into(), for_person: false }));
    for seconds in [10, 100] {
        assert_eq!(sale.on_at(Event::DeadlinePassed, seconds), [query_with(1)]);
        let actions = sale.on_at(undecided(), seconds);
        assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
    }
    let _ = sale.on_at(Event::DeadlinePassed, 1000);
    let given = || listed(vec![charged(), refund(ListedState::Approved)]);
    assert_eq!(sale.on_at(given(), 1000), [reverse("p1", 834, 2)], "exactly the rest");

    // A person keeps the remaining amount. Nothing is reversed, even if a look-up does not show the payment yet.
    let mut kept = being_reversed();
    let _ = kept.on(answered(1, ReversalAnswer::HeldBack { why: "given back by its id".into(), for_person: false }));
    let _ = kept.on(Event::OldCopy { why: "the gateway holds more".into() });
    assert!(kept.on(Event::Resolve { keep: true, by: None }).contains(&query_with(1)));
    let _ = kept.on_at(undecided(), 10);
    assert_eq!(kept.on_at(Event::DeadlinePassed, 100), [query_with(1)]);
    let _ = kept.on_at(given(), 100);
    assert_eq!(kept.outcome(), Some(&Outcome::PartiallyApproved { amount: eur(834) }));
}

/// The answer to a reversal named no amount, or an id other than the listed one. A look-up shows the amount.
#[test]
fn what_the_list_says_of_a_reversal_counts_and_not_what_its_answer_said() {
    let silent = || ReversalAnswer::Done { id: PaymentId::new("rv1"), amount: ApprovedAmount::NotSaid };
    for (answer, listed_id, listed_minor, rest) in [
        (silent(), "rv1", 200, Some(1034)),
        (done("rv1", 1234), "rv1", 200, Some(1034)),
        (done("none-of-its", 200), "rv1", 200, Some(1034)),
        (done("none-of-its", 1234), "rv1", 1234, None),
    ] {
        let mut sale = being_reversed();
        assert!(sale.on(answered(1, answer.clone())).contains(&query()));
        let actions = sale.on(listed(vec![charged(), linked("RV", listed_id, listed_minor, own(1))]));
        match rest {
            Some(rest) => {
                assert!(actions.contains(&reverse("p1", rest, 2)), "{answer:?}: {actions:?}");
                let agree = answer == done("none-of-its", 200);
                assert_eq!(alarms(&actions), usize::from(!agree), "{answer:?}: {actions:?}");
            }
            None => assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })), "{answer:?}"),
        }
    }
    // If the reversal is listed as declined, it was not carried out, or its result is unknown.
    let mut declined = being_reversed();
    let _ = declined.on(answered(1, done("rv1", 1234)));
    let refused = ListedTransaction { state: ListedState::Declined, ..linked("RV", "rv1", 1234, own(1)) };
    let actions = declined.on(listed(vec![charged(), refused]));
    assert!(alarms(&actions) == 1 && is_for_a_person(&declined), "{actions:?}");
    // The same holds for a payment that is known without a look-up.
    let mut known = Trace::asked(EntryMode::Icc);
    let _ = known.on(approved());
    let _ = known.on(said(false));
    assert_eq!(known.on(answered(1, silent())), [query()]);
    let _ = known.on(listed(vec![found("DB", KNOWN, ListedState::Approved, None), linked("RV", "rv1", 1234, own(1))]));
    assert!(matches!(known.outcome(), Some(Outcome::Reversed { .. })));
}

#[test]
fn what_was_listed_as_approved_is_not_declined_or_absent_later() {
    let declined = || ListedTransaction { state: ListedState::Declined, ..charged() };
    let mut sale = being_reversed();
    let _ = sale.on(answered(1, lost()));
    let _ = sale.on_at(Event::DeadlinePassed, 10);
    let actions = sale.on_at(listed(vec![declined()]), 10);
    assert_eq!((alarms(&actions), is_for_a_person(&sale)), (1, true), "{actions:?}");

    let mut absent = being_reversed();
    let _ = absent.on(answered(1, lost()));
    for (seconds, for_person) in [(10, false), (DAY - 4000, false), (DAY + 10, true)] {
        let _ = absent.on_at(listed(Vec::new()), seconds);
        assert!(absent.outcome().is_none(), "after {seconds} s");
        assert_eq!(is_for_a_person(&absent), for_person, "after {seconds} s");
    }
    // The payment is known from an answer.
    let mut known = Trace::asked(EntryMode::Icc);
    let _ = known.on(approved());
    let _ = known.on(said(false));
    let _ = known.on(answered(1, lost()));
    let _ = known.on_at(Event::DeadlinePassed, 10);
    let _ = known.on_at(listed(vec![found("DB", KNOWN, ListedState::Declined, None)]), 10);
    assert!(is_for_a_person(&known));
}

/// The gateway's list lags behind for a moment, shows the payment as undecided all day, and is then empty.
#[test]
fn what_was_listed_is_never_taken_for_never_received() {
    let undecided = || ListedTransaction { state: ListedState::Undecided, ..charged() };
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let _ = sale.on_at(listed(Vec::new()), 2);
    for seconds in [10, DAY - 5000, DAY + 10] {
        let _ = sale.on_at(listed(vec![undecided()]), seconds);
    }
    for (seconds, for_person) in [(DAY + 20, false), (2 * DAY + 30, true)] {
        let _ = sale.on_at(listed(Vec::new()), seconds);
        assert!(sale.outcome().is_none(), "after {seconds} s: {:?}", sale.sale.standing());
        assert_eq!(is_for_a_person(&sale), for_person, "after {seconds} s");
    }
    // The same holds after a restart. If the payment is finally approved, it is still reversed.
    let _ = sale.cut();
    assert!(sale.on_at(listed(vec![charged()]), 3 * DAY).contains(&reverse("p1", 1234, 1)));

    let mut refund = without_card(Operation::Refund { of: of() });
    let _ = refund.on(unknown());
    let reference = refund.sale.our_reference().to_owned();
    let pending =
        || vec![ListedTransaction { state: ListedState::Undecided, ..linked("RF", "rf1", 1234, reference.clone()) }];
    for (list, seconds) in [(Vec::new(), 2), (pending(), 10), (pending(), DAY + 10), (Vec::new(), DAY + 20)] {
        assert!(!look(&mut refund, list, seconds).contains(&Action::Ask), "after {seconds} s");
    }
    assert!(!is_for_a_person(&refund));
    assert!(!look(&mut refund, Vec::new(), 3 * DAY).contains(&Action::Ask));
    assert!(is_for_a_person(&refund), "it was there, and is not there any more");

    // If one look-up showed the reversal, its absence counts only from the next one.
    let mut reversal = being_reversed();
    let _ = reversal.on(answered(1, lost()));
    let on_its_way = || ListedTransaction { state: ListedState::Undecided, ..linked("RV", "rv1", 1234, own(1)) };
    for (seconds, shown) in [(10, false), (120, true), (130, false)] {
        let _ = reversal.on_at(Event::DeadlinePassed, seconds);
        let list = std::iter::once(charged()).chain(shown.then(on_its_way)).collect();
        let actions = reversal.on_at(listed(list), seconds);
        assert!(
            !actions.iter().any(|action| matches!(action, Action::Reverse { .. })),
            "after {seconds} s: {actions:?}"
        );
    }
}

/// A gateway booked the sale twice, and lists the two payments in a different order each time.
#[test]
fn a_reversal_without_an_answer_is_not_forgotten_over_another_payment() {
    let second = || found("DB", "p2", ListedState::Approved, None);
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    assert_eq!(sale.on(listed(vec![charged(), second()])), [reverse("p1", 1234, 1)]);
    let _ = sale.on(answered(1, lost()));
    let _ = sale.on_at(Event::DeadlinePassed, 2);
    let actions = sale.on_at(listed(vec![second(), charged()]), 2);
    assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
    // The list omits the first payment for a moment. The second is reversed, and the request for the first is still
    // remembered.
    let _ = sale.on_at(Event::DeadlinePassed, 10);
    assert!(sale.on_at(listed(vec![second()]), 10).contains(&reverse("p2", 1234, 2)));
    let of = |id: &str, nth| ListedTransaction {
        refers_to: Some(PaymentId::new(id)),
        ..linked("RV", &format!("rv{nth}"), 1234, own(nth))
    };
    let _ = sale.on_at(answered(2, done("rv2", 1234)), 11);
    let actions = sale.on_at(listed(vec![second(), charged(), of("p2", 2)]), 12);
    assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
    assert_eq!(sale.cut(), [query_with(1)], "nor after a start");
    let actions = sale.on_at(listed(vec![second(), charged(), of("p2", 2)]), 20);
    assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
    // The list shows the reversal together with its payment.
    let _ = sale.on_at(listed(vec![second(), charged(), of("p2", 2), of("p1", 1)]), 100);
    assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })), "{:?}", sale.sale.standing());
}

/// A payment that a look-up once showed as charged must be reversed, or handled by a person, even if a later list omits
/// it.
#[test]
fn what_a_look_showed_as_charged_is_not_forgotten() {
    let ends_reversed = |sale: &Trace| matches!(sale.outcome(), Some(Outcome::Reversed { .. }));
    let declined = || ListedTransaction { state: ListedState::Declined, ..charged() };
    let in_part = || linked("RV", "rv1", 400, own(1));
    // A part was reversed, and the next list no longer shows the payment, or shows it as declined.
    for (list, for_person) in [(vec![], false), (vec![in_part()], false), (vec![declined(), in_part()], true)] {
        let mut sale = being_reversed();
        let _ = sale.on(answered(1, done("rv1", 400)));
        let _ = sale.on(listed(list.clone()));
        assert!(sale.outcome().is_none() && is_for_a_person(&sale) == for_person, "{list:?}");
        // The same holds after a restart.
        let _ = sale.cut();
        let _ = sale.on_at(listed(list.clone()), 10);
        assert!(sale.outcome().is_none(), "{list:?}: {:?}", sale.sale.standing());
        let actions = sale.on_at(listed(vec![charged(), in_part()]), 20);
        assert!(actions.contains(&reverse("p1", 834, 2)), "{list:?}: {actions:?}");
    }
    // Two payments: the reversal of the first has no answer, the second was reversed, and the list omits the first.
    let second = || found("DB", "p2", ListedState::Approved, None);
    let back = |id: &str, nth| ListedTransaction {
        refers_to: Some(PaymentId::new(id)),
        ..linked("RV", &format!("rv{nth}"), 1234, own(nth))
    };
    let mut sale = being_reversed();
    let _ = sale.on(answered(1, lost()));
    let _ = sale.on_at(Event::DeadlinePassed, 10);
    assert!(sale.on_at(listed(vec![second()]), 10).contains(&reverse("p2", 1234, 2)));
    let _ = sale.on_at(answered(2, done("rv2", 1234)), 11);
    let _ = sale.on_at(listed(vec![second(), back("p2", 2)]), 12);
    assert!(sale.outcome().is_none(), "{:?}", sale.sale.standing());
    // The list omits the second payment before its reversal was requested.
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    assert_eq!(sale.on(listed(vec![charged(), second()])), [reverse("p1", 1234, 1)]);
    let _ = sale.on(answered(1, done("rv1", 1234)));
    let _ = sale.on(listed(vec![charged(), back("p1", 1)]));
    assert!(sale.outcome().is_none(), "{:?}", sale.sale.standing());
    let actions = sale.on_at(listed(vec![charged(), back("p1", 1), second()]), 100);
    assert!(actions.contains(&reverse("p2", 1234, 2)), "{actions:?}");
    let _ = sale.on_at(answered(2, done("rv2", 1234)), 101);
    let _ = sale.on_at(listed(vec![charged(), back("p1", 1), second(), back("p2", 2)]), 102);
    assert!(ends_reversed(&sale));
}

#[test]
fn a_payment_that_is_not_listed_beside_one_that_is_becomes_a_persons() {
    let second = || found("DB", "p2", ListedState::Approved, None);
    let back = || ListedTransaction { refers_to: Some(PaymentId::new("p2")), ..linked("RV", "rv2", 1234, own(2)) };
    let mut sale = being_reversed();
    let _ = sale.on(answered(1, lost()));
    let _ = sale.on_at(Event::DeadlinePassed, 10);
    assert!(sale.on_at(listed(vec![second()]), 10).contains(&reverse("p2", 1234, 2)));
    let _ = sale.on_at(answered(2, done("rv2", 1234)), 11);
    let without = || vec![second(), back()];
    for seconds in [12, 600, DAY - 10] {
        let _ = look(&mut sale, without(), seconds);
        assert!(sale.is_unconfirmed() && !is_for_a_person(&sale), "after {seconds} s");
    }
    // The payment is listed once more, and its absence counts again from then on.
    let mut shown = without();
    shown.push(ListedTransaction { state: ListedState::Undecided, ..charged() });
    let _ = look(&mut sale, shown, DAY);
    let _ = look(&mut sale, without(), DAY + 20);
    assert!(!is_for_a_person(&sale));
    let _ = look(&mut sale, without(), 2 * DAY + 30);
    assert!(is_for_a_person(&sale), "{:?}", sale.sale.standing());
}

#[test]
fn a_reversal_that_could_not_be_sent_for_a_while_is_reckoned_anew() {
    let not_sent = || ReversalAnswer::NotSent { why: "no route to host".into() };
    let mut sale = being_reversed();
    let _ = sale.on(answered(1, not_sent()));
    let written = sale.written.len();
    assert_eq!(sale.on_at(Event::DeadlinePassed, 5), [reverse("p1", 1234, 1)], "a moment later");
    assert_eq!(sale.written.len(), written, "it stands in the journal already");
    let _ = sale.on_at(answered(1, not_sent()), 6);
    assert_eq!(sale.on_at(Event::DeadlinePassed, 600), [query_with(1)], "after a night without a network");
    let back_office = linked("RF", "rf1", 400, "of-the-back-office".to_owned());
    assert_eq!(sale.on_at(listed(vec![charged(), back_office]), 600), [reverse("p1", 834, 2)]);
    // The same holds for a payment that the answer named.
    let mut known = Trace::asked(EntryMode::Icc);
    let _ = known.on(approved());
    let _ = known.on(said(false));
    let _ = known.on(answered(1, not_sent()));
    assert_eq!(known.on_at(Event::DeadlinePassed, 5), [reverse_known()]);
    let _ = known.on_at(answered(1, not_sent()), 6);
    assert_eq!(known.on_at(Event::DeadlinePassed, 600), [query_with(1)]);
}

#[test]
fn a_person_keeps_one_payment_and_hears_of_another() {
    let second = |state| found("DB", "p2", state, None);
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let _ = sale.on(Event::OldCopy { why: "the gateway holds more".into() });
    assert!(sale.on(Event::Resolve { keep: true, by: None }).contains(&query()));
    let _ = sale.on(listed(vec![charged(), second(ListedState::Undecided)]));
    assert!(sale.outcome().is_none() && !is_for_a_person(&sale));
    let actions = sale.on_at(listed(vec![charged(), second(ListedState::Approved)]), 10);
    assert!(alarms(&actions) == 1 && is_for_a_person(&sale), "{actions:?}");
    // The other payment was given back.
    let back = ListedTransaction {
        refers_to: Some(PaymentId::new("p2")),
        ..linked("RF", "rf1", 1234, "of-the-back-office".to_owned())
    };
    let _ = sale.on_at(listed(vec![charged(), second(ListedState::Approved), back]), 20);
    assert_eq!(sale.outcome(), Some(&Outcome::Approved));

    let mut refund = without_card(Operation::Refund { of: of() });
    let _ = refund.on(unknown());
    let reference = refund.sale.our_reference().to_owned();
    let ours = |id: &str, state| ListedTransaction { state, ..linked("RF", id, 1234, reference.clone()) };
    let _ = look(&mut refund, vec![ours("rf1", ListedState::Approved), ours("rf2", ListedState::Unclear)], 10);
    assert!(is_for_a_person(&refund));
}
