//! Tests the standing that tills and people see, and that printing waits for the card's final answer.

use super::*;
use pos_terms::card::Cvm;

fn signed(entry: EntryMode) -> CardFacts {
    CardFacts { cvm: Some(Cvm::Signature), ..facts(entry) }
}

fn at_signature(entry: EntryMode) -> Trace {
    let mut trace = Trace::begin();
    let _ = trace.on(Event::CardRead { facts: signed(entry), first_answer: FirstAnswer::GoOnline });
    let _ = trace.on(approved());
    if entry == EntryMode::Icc {
        let _ = trace.on(Event::CardSaid { confirmed: true, facts: Some(Box::new(signed(entry))) });
    }
    trace
}

fn held_at_signature() -> Trace {
    let mut trace = at_signature(EntryMode::Magstripe);
    let _ = trace.on(Event::OldCopy { why: "old copy".into() });
    trace
}

fn card_said() -> Event {
    Event::CardSaid { confirmed: true, facts: None }
}

#[test]
fn what_may_be_done_with_a_sale_follows_from_where_it_stands() {
    /// A row of the table: its name, the transaction, and three properties of the transaction. They say whether it can
    /// be cancelled, whether its card waits for an answer, and whether it may have to be sent again.
    type Row = (&'static str, fn() -> Trace, bool, bool, bool);
    let rows: [Row; 8] = [
        ("waiting", Trace::begin, true, false, false),
        ("asked", || Trace::asked(EntryMode::Icc), false, true, true),
        ("asked without a card", || without_card(Operation::Refund { of: of() }), false, false, true),
        (
            "throttled",
            || {
                let mut trace = Trace::asked(EntryMode::Icc);
                let _ = trace.on(busy());
                trace
            },
            true,
            true,
            true,
        ),
        (
            "at the chip",
            || {
                let mut trace = Trace::asked(EntryMode::Icc);
                let _ = trace.on(approved());
                trace
            },
            false,
            false,
            false,
        ),
        ("at the signature", || at_signature(EntryMode::Magstripe), false, false, false),
        ("reversing", reversal_unknown, false, false, false),
        (
            "ended",
            || {
                let mut trace = Trace::asked(EntryMode::NfcIcc);
                let _ = trace.on(approved());
                trace
            },
            false,
            false,
            false,
        ),
    ];
    for (name, begin, cancelled, waits, again) in rows {
        let Trace { sale, .. } = begin();
        assert_eq!(
            (sale.can_be_cancelled(), sale.card_waits(), sale.may_ask_again()),
            (cancelled, waits, again),
            "{name}"
        );
        assert_eq!(sale.was_asked(), name != "waiting", "{name}");
        assert!(!sale.is_decided() && !sale.is_held(), "{name}");
        assert_eq!(sale.whole_to_reverse(), (name == "reversing").then(|| eur(1234)), "{name}");
    }
}

#[test]
fn a_doubt_is_told_with_what_keeps_it_from_being_settled() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let _ = sale.on(Event::Inquired(Inquiry::CannotAsk { why: "no network".into() }));
    let mut refund = without_card(Operation::Refund { of: of() });
    let _ = refund.on(unknown());
    let _ = refund.on(Event::Inquired(Inquiry::CannotAsk { why: "no network".into() }));
    let (began, trouble) = (Cause::from("no answer in time"), Cause::from("no network"));
    let expected = Standing::Unconfirmed { why: &began, trouble: Some(&trouble), quarantined: None };
    assert_eq!((sale.sale.standing(), refund.sale.standing()), (expected, expected));
}

#[test]
fn one_that_is_held_is_told_with_its_own_doubt_and_why_it_is_held() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let _ = sale.on(Event::Inquired(Inquiry::CannotAsk { why: "no network".into() }));
    assert!(sale.sale.deadline().is_some());
    let _ = sale.on(Event::OldCopy { why: "old copy".into() });
    let (began, held) = (Cause::from("no answer in time"), Cause::from("old copy"));
    assert_eq!(sale.sale.standing(), Standing::Unconfirmed { why: &began, trouble: None, quarantined: Some(&held) });
    assert_eq!(sale.sale.deadline(), None, "nothing goes on until a person has decided");
    let _ = sale.on(Event::Resolve { keep: false, by: None });
    assert!(sale.sale.is_decided() && !sale.sale.is_held());
}

#[test]
fn what_was_said_of_a_signature_is_known_and_nothing_where_nobody_was_asked() {
    let by = || Some(pos_terms::transaction::Who { uid: Some(1), ..Default::default() });
    for entry in [EntryMode::Icc, EntryMode::Magstripe] {
        for accepted in [true, false] {
            let mut sale = at_signature(entry);
            assert_eq!(sale.sale.signature_was(), None);
            let _ = sale.on(Event::SignatureChecked { accepted, by: by() });
            assert_eq!(sale.sale.signature_was(), Some(accepted), "{entry:?}");
        }
    }
    let mut unsigned = Trace::asked(EntryMode::NfcIcc);
    let _ = unsigned.on(approved());
    let mut forgotten = at_signature(EntryMode::Icc);
    let _ = forgotten.on_at(Event::DeadlinePassed, 1000);
    let mut cancelled = Trace::begin();
    let _ = cancelled.on(Event::CancelAsked { by: by() });
    let _ = cancelled.on(Event::NoCard { why: Reason::TillCancelled.into() });
    for nobody in [unsigned, forgotten, cancelled] {
        assert_eq!(nobody.sale.signature_was(), None, "{:?}", nobody.sale.standing());
    }
}

#[test]
fn the_moment_of_the_end_is_written_and_comes_back() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on_at(approved(), 7);
    let replayed = Transaction::replay(&sale.written).unwrap();
    assert_eq!((sale.sale.ended_unix_ms(), replayed.ended_unix_ms()), (Some(at(7).unix_ms), Some(at(7).unix_ms)));
    assert_eq!(Trace::asked(EntryMode::NfcIcc).sale.ended_unix_ms(), None);
}

#[test]
fn an_outcome_says_why_nothing_is_charged() {
    let why = || Cause::from(Reason::CardGone);
    for charged in [Outcome::Approved, Outcome::PartiallyApproved { amount: eur(1) }] {
        assert_eq!(charged.why(), None);
    }
    for not_charged in [
        Outcome::Declined { why: why() },
        Outcome::Cancelled { why: why() },
        Outcome::NotSent { why: why() },
        Outcome::Reversed { why: why() },
    ] {
        assert_eq!(not_charged.why(), Some(&why()));
    }
}

#[test]
fn the_receipt_is_printed_once_with_the_last_word_of_the_card() {
    for last in [card_said(), Event::ReaderLost] {
        let mut tap = Trace::asked(EntryMode::NfcIcc);
        assert!(!tap.on(approved()).contains(&Action::Print(Paper::Copies)), "the card is still open");
        assert!(!tap.sale.is_settled());
        assert_eq!(tap.on(last.clone()), [Action::Print(Paper::Copies)], "{last:?}");
        assert!(tap.sale.is_settled());
        assert_eq!((tap.on(card_said()), tap.on(Event::ReaderLost)), (vec![], vec![]), "once");
    }
}

#[test]
fn the_slip_is_printed_once_when_the_reader_is_done_with_the_card() {
    let slip = Action::Print(Paper::SignatureSlip);
    for last in [card_said(), Event::ReaderLost] {
        let mut swipe = at_signature(EntryMode::Magstripe);
        assert_eq!(swipe.on(last.clone()), std::slice::from_ref(&slip), "{last:?}");
        assert_eq!((swipe.on(card_said()), swipe.on(Event::ReaderLost)), (vec![], vec![]), "once");
    }
}

/// In any state, a card that the reader has released neither delays a receipt nor keeps a transaction open.
#[test]
fn a_card_that_is_gone_is_waited_for_by_nothing() {
    for last in [card_said(), Event::ReaderLost] {
        // The card is removed while the payment is being reversed.
        let mut sale = Trace::asked(EntryMode::NfcIcc);
        let _ = sale.on(unknown());
        assert_eq!(sale.on(last.clone()), []);
        let ended = sale.on(listed(vec![found("DB", "p1", ListedState::Declined, None)]));
        assert_eq!(ended, [Action::Tell, Action::Print(Paper::Copies)], "{last:?}");
        assert!(sale.sale.is_settled());

        // The card is removed while a person must decide.
        let mut held = held_at_signature();
        assert_eq!(held.on(last.clone()), []);
        let _ = held.on(Event::Resolve { keep: true, by: None });
        let _ = held.on(listed(vec![found("DB", KNOWN, ListedState::Approved, None)]));
        assert_eq!(held.outcome(), Some(&Outcome::Approved));
        assert!(held.sale.is_settled(), "{last:?}");
    }
}

#[test]
fn scripts_of_an_issuer_that_declines_reach_the_card() {
    let script = heapless::Vec::from_slice(&[0x71, 0x01, 0x00]).unwrap();
    let mut sale = Trace::asked(EntryMode::Icc);
    let refusal = Refusal {
        why: Reason::BankDeclined.into(),
        for_chip: ForChip { scripts: script.clone(), ..ForChip::default() },
        facts: HostFacts::default(),
    };
    let actions = sale.on(Event::Answered(Answer::Declined(Box::new(refusal))));
    let [Action::AnswerCard(answer), Action::Tell] = actions.as_slice() else { panic!("{actions:?}") };
    assert_eq!((answer.arc, &answer.scripts), (*b"Z1", &script));
}

#[test]
fn what_somebody_wanted_so_is_no_trouble_of_the_terminal() {
    let wished = [
        Reason::CardGone,
        Reason::CardRefused,
        Reason::PartialNotTaken,
        Reason::SignatureRefused,
        Reason::SignatureNotChecked,
        Reason::NotTaken,
        Reason::TillSilent,
        Reason::TakenBackByPerson,
    ];
    for reason in Reason::ALL {
        assert_eq!(reason.is_somebodys_wish(), wished.contains(reason), "{reason}");
        assert!(!(reason.is_somebodys_wish() && reason.is_terminals_fault()), "{reason}");
    }
}
