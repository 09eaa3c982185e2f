//! Tests a transaction that its till must confirm. The approval is never reported before the till has confirmed,
//! whatever the gateway answers and in whichever state the power fails.

use super::*;
use pos_terms::card::Cvm;
use pos_terms::transaction::{Kind, OnSilence, Taken, Who};

const KNOWN: &str = "8ac7a4a1000000000000000000000001";

fn till() -> Option<Who> {
    Some(Who { token: Some("till-1".to_owned()), ..Who::default() })
}

fn confirmed(on_silence: OnSilence) -> Order {
    Order { till_confirms: Some(on_silence), ..order() }
}

/// Returns a transaction that the gateway approved and the chip confirmed.
fn at_till(order: Order) -> Trace {
    let mut trace = Trace::asked_by(order, EntryMode::Icc);
    let _ = trace.on(approved());
    assert_eq!(trace.on(said(true)), [Action::Tell], "nothing is printed before the till has said something");
    assert_waits(&trace, 1234);
    trace
}

fn assert_waits(trace: &Trace, minor: u64) {
    assert_eq!(trace.sale.standing(), Standing::AwaitingTill { approved: eur(minor) });
    assert!(!matches!(trace.sale.receipt().outcome, ReceiptOutcome::Approved | ReceiptOutcome::PartiallyApproved(_)));
}

fn answer(taken: bool) -> Event {
    Event::TillAnswered { taken, by: till() }
}

/// Returns the number, the references and the times that the agent gives to a refund.
fn names() -> Order {
    Order {
        number: SaleNumber::new(8),
        reference: Reference::parse("R1-rest").unwrap(),
        merchant_transaction_id: "12345678-8-ffeeddccbbaa99887766554433221100".to_owned(),
        ..confirmed(OnSilence::Reverse)
    }
}

#[test]
fn taken_it_ends_as_approved_and_no_deadline_takes_it_back() {
    for on_silence in [OnSilence::Reverse, OnSilence::Keep] {
        let mut sale = at_till(confirmed(on_silence));
        assert_eq!(sale.on(answer(true)), [Action::Tell, Action::Print(Paper::Copies)]);
        assert_eq!((sale.outcome(), sale.sale.till_said()), (Some(&Outcome::Approved), Some(Taken::All)));
        let last: Vec<_> = sale.written.last().unwrap().iter().map(Record::name).collect();
        assert_eq!(last, ["till-said", "ended"]);
        assert!(matches!(&sale.written.last().unwrap()[0], Record::TillSaid { by, .. } if *by == till()));
        assert_eq!(sale.sale.deadline(), None);
        for event in [Event::DeadlinePassed, answer(false), Event::Restarted] {
            assert_eq!(sale.on_at(event, 10_000), []);
        }
        assert_eq!(sale.outcome(), Some(&Outcome::Approved));
    }
}

#[test]
fn not_taken_the_payment_is_reversed() {
    let mut sale = at_till(confirmed(OnSilence::Keep));
    assert_eq!(sale.on(answer(false)), [Action::Tell, reverse_known()]);
    assert_eq!(sale.sale.till_said(), Some(Taken::Nothing));
    let Standing::Unconfirmed { why, .. } = sale.sale.standing() else { panic!("{:?}", sale.sale.standing()) };
    assert_eq!(why.reason, Reason::NotTaken);
    let done = ReversalAnswer::Done {
        id: PaymentId::new("8ac7a4a1000000000000000000000009"),
        amount: ApprovedAmount::Said(eur(1234)),
    };
    let _ = sale.on(reversal_answered(done));
    assert_eq!(sale.outcome(), Some(&Outcome::Reversed { why: Reason::NotTaken.into() }));
}

#[test]
fn a_silent_till_has_it_reversed_or_kept_as_its_request_said() {
    let mut sale = at_till(confirmed(OnSilence::Reverse));
    assert_eq!(sale.on_at(Event::DeadlinePassed, 60), [], "it is not over yet");
    assert_eq!(sale.on_at(Event::DeadlinePassed, 61), [Action::Tell, reverse_known()]);
    assert!(sale.is_unconfirmed());
    assert_eq!(sale.sale.till_said(), None);

    let mut sale = at_till(confirmed(OnSilence::Keep));
    assert_eq!(sale.on_at(Event::DeadlinePassed, 61), [Action::Tell, Action::Print(Paper::Copies)]);
    assert_eq!((sale.outcome(), sale.sale.till_said()), (Some(&Outcome::Approved), None));
}

/// After each power cut, the till again has the full time.
#[test]
fn a_power_cut_lets_it_wait_again() {
    let mut sale = at_till(confirmed(OnSilence::Reverse));
    for _ in 0..3 {
        sale.sale = Transaction::replay(&sale.written).unwrap();
        assert_eq!(sale.sale.deadline(), None, "nothing is due before it is taken up");
        assert_waits(&sale, 1234);
        assert_eq!(sale.on_at(Event::Restarted, 1000), [Action::Tell]);
        assert_eq!(sale.sale.deadline(), Some(Duration::from_secs(1060)));
    }
    assert_eq!(sale.on_at(answer(true), 1001), [Action::Tell, Action::Print(Paper::Copies)]);
}

#[test]
fn taken_in_part_the_rest_is_refunded() {
    let mut sale = at_till(confirmed(OnSilence::Reverse));
    let (ends, back, begins) = sale.sale.take_part(eur(1000), names(), till(), at(2)).unwrap();
    let written = begins.records().to_vec();
    assert_eq!(sale.commit(ends), [Action::Tell, Action::Print(Paper::Copies)]);
    assert_eq!(sale.outcome(), Some(&Outcome::Approved));
    assert_eq!(sale.sale.till_said(), Some(Taken::Part { amount: eur(1000) }));

    let mut refund = Trace { sale: back, written: Vec::new() };
    assert_eq!(refund.commit(begins), [Action::Tell]);
    let order = refund.sale.order();
    assert_eq!((order.kind(), order.amount, order.gives_rest, &order.by), (Kind::Refund, eur(234), true, &till()));
    let of = order.operation.of().unwrap();
    assert_eq!((of.payment.as_str(), of.number), (KNOWN, Some(SaleNumber::new(7))));
    assert_eq!(order.till_confirms, None);
    assert_eq!(written.len(), 1);
}

#[test]
fn what_is_no_part_is_refused() {
    let mut sale = at_till(confirmed(OnSilence::Reverse));
    let usd = Amount::from_minor(100, Currency::from_code("USD").unwrap()).unwrap();
    for part in [eur(1234), eur(1235), usd] {
        let refused = sale.sale.take_part(part, names(), None, at(2)).unwrap_err();
        assert_eq!(refused, PartMisfit::NoPart { part, approved: eur(1234) });
    }
    assert_waits(&sale, 1234);
    let _ = sale.on(answer(true));
    assert_eq!(sale.sale.rest_of(eur(1000)), Err(PartMisfit::NotAwaited));

    let reserved = Order { operation: Operation::PreAuthorisation, ..confirmed(OnSilence::Reverse) };
    let sale = at_till(reserved);
    assert_eq!(sale.sale.rest_of(eur(1000)), Err(PartMisfit::NotOfReservation));
}

/// The till accepts a part of a partial approval.
#[test]
fn a_partial_approval_is_confirmed_too() {
    let order = Order { accept_partial: true, ..confirmed(OnSilence::Reverse) };
    let mut sale = Trace::asked_by(order, EntryMode::Icc);
    let _ = sale.on(Event::Answered(Answer::Approved(Box::new(approval(ApprovedAmount::Said(eur(800)))))));
    let part = found("DB", KNOWN, ListedState::Approved, None);
    let _ = sale.on(listed(vec![ListedTransaction { amount: ApprovedAmount::Said(eur(800)), ..part }]));
    let _ = sale.on(said(true));
    assert_waits(&sale, 800);
    assert_eq!(sale.sale.rest_of(eur(500)), Ok(eur(300)));
    let _ = sale.on(answer(true));
    assert_eq!(sale.outcome(), Some(&Outcome::PartiallyApproved { amount: eur(800) }));
}

#[test]
fn a_tap_waits_for_the_till_and_for_its_own_last_word_in_either_order() {
    let tapped = || {
        let mut sale = Trace::asked_by(confirmed(OnSilence::Reverse), EntryMode::NfcIcc);
        let actions = sale.on(approved());
        assert!(matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell]), "{actions:?}");
        assert_waits(&sale, 1234);
        let last: Vec<_> = sale.written.last().unwrap().iter().map(Record::name).collect();
        assert_eq!(last, ["host-approved", "till-asked"]);
        sale
    };
    let mut sale = tapped();
    assert_eq!(sale.on(said(true)), []);
    assert_eq!(sale.on(answer(true)), [Action::Tell, Action::Print(Paper::Copies)]);
    let mut sale = tapped();
    assert_eq!(sale.on(answer(true)), [Action::Tell]);
    assert_eq!(sale.on(said(true)), [Action::Print(Paper::Copies)]);
    let mut sale = tapped();
    assert_eq!(sale.on(Event::ReaderLost), []);
    assert_eq!(sale.on(answer(false)), [Action::Tell, reverse_known()]);
}

/// The signature comes first, then the till. The till cannot accept a payment whose signature is unchecked.
#[test]
fn the_signature_comes_first() {
    let signing = || {
        let (sale, step) = Transaction::begin(confirmed(OnSilence::Reverse));
        let mut trace = Trace { sale, written: Vec::new() };
        let _ = trace.commit(step);
        let facts = CardFacts { cvm: Some(Cvm::Signature), ..facts(EntryMode::Magstripe) };
        let _ = trace.on(Event::CardRead { facts, first_answer: FirstAnswer::GoOnline });
        let _ = trace.on(approved());
        let _ = trace.on(said(true));
        assert_eq!(trace.sale.standing(), Standing::AtSignature);
        trace
    };
    let mut sale = signing();
    assert_eq!(sale.on(answer(true)), [], "its till is not asked yet");
    assert_eq!(sale.on(Event::SignatureChecked { accepted: true, by: till() }), [Action::Tell]);
    assert_waits(&sale, 1234);
    let _ = sale.cut();
    assert_eq!(sale.sale.signature_was(), Some(true));
    assert_eq!(sale.on(answer(true)), [Action::Tell, Action::Print(Paper::AfterSignature)]);

    let mut sale = signing();
    assert_eq!(sale.on(Event::SignatureChecked { accepted: false, by: till() }), [Action::Tell, reverse_known()]);
    assert_eq!(sale.on(answer(true)), [], "and nobody takes it any more");
}

/// If the chip refused, or the power failed before it confirmed, the till is never asked.
#[test]
fn what_the_chip_did_not_confirm_is_never_offered_to_the_till() {
    let mut sale = Trace::asked_by(confirmed(OnSilence::Keep), EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.on(said(false));
    assert!(sale.is_unconfirmed());
    let mut sale = Trace::asked_by(confirmed(OnSilence::Keep), EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.cut();
    assert!(sale.is_unconfirmed());
}

/// The till may have answered after the copy was made, so a person decides.
#[test]
fn an_old_copy_waits_for_a_person() {
    for keep in [true, false] {
        let mut sale = at_till(confirmed(OnSilence::Reverse));
        let _ = sale.on(Event::OldCopy { why: "old copy".into() });
        assert_eq!((sale.on(answer(true)), sale.sale.rest_of(eur(1))), (Vec::new(), Err(PartMisfit::NotAwaited)));
        let actions = sale.on(Event::Resolve { keep, by: till() });
        assert_eq!(actions.contains(&reverse_known()), !keep, "{actions:?}");
        assert_eq!(actions.contains(&query()), keep, "{actions:?}");
    }
}

/// Returns a refund of the rest that was begun and sent.
fn rest() -> Trace {
    let mut sale = at_till(confirmed(OnSilence::Reverse));
    let (_, back, begins) = sale.sale.take_part(eur(1000), names(), till(), at(2)).unwrap();
    let mut refund = Trace { sale: back, written: Vec::new() };
    let _ = refund.commit(begins);
    refund
}

#[test]
fn the_rest_is_given_back_whatever_comes_between() {
    // The power fails before the refund was sent. Unlike a till's own refund, it continues.
    let mut refund = rest();
    assert!(!refund.sale.can_be_cancelled());
    assert_eq!(refund.on(Event::CancelAsked { by: till() }), []);
    assert_eq!(refund.cut(), [Action::Ask, Action::Tell]);
    // The gateway cannot be reached. The refund is retried, and looked up if the retries take too long.
    let unsent = || Event::Answered(Answer::NotSent { why: Reason::GatewayUnreachable.with("no route") });
    assert_eq!(refund.on_at(unsent(), 2), []);
    assert_eq!(refund.on_at(Event::DeadlinePassed, 5), [Action::Ask]);
    assert_eq!(refund.on_at(Event::CancelAsked { by: till() }, 6), []);
    let actions = refund.on_at(unsent(), 60);
    assert!(matches!(actions.as_slice(), [Action::Tell, Action::Query { .. }]), "{actions:?}");
    assert!(refund.is_unconfirmed());
    // If the refund is declined, it ends, and a person is alarmed.
    let mut refund = rest();
    let _ = refund.on(Event::Proceed);
    let refusal =
        Refusal { why: Reason::BankDeclined.with("no"), for_chip: ForChip::default(), facts: HostFacts::default() };
    let actions = refund.on(Event::Answered(Answer::Declined(Box::new(refusal))));
    let alarm = Action::Alarm { why: Reason::RestNotGivenBack.with("bank-declined: no") };
    assert!(actions.contains(&alarm), "{actions:?}");
    assert!(matches!(refund.outcome(), Some(Outcome::Declined { .. })));
    // A person is also alarmed if the gateway refunds only a part.
    let mut refund = rest();
    let _ = refund.on(Event::Proceed);
    let _ = refund.on(Event::Answered(Answer::Approved(Box::new(approval(ApprovedAmount::Said(eur(100)))))));
    assert!(refund.is_unconfirmed(), "looked up first");
    let part = ListedTransaction {
        amount: ApprovedAmount::Said(eur(100)),
        reference: Some(names().merchant_transaction_id),
        ..found("RF", KNOWN, ListedState::Approved, None)
    };
    let actions = refund.on(listed(vec![part]));
    let alarm = Action::Alarm { why: Reason::RestGivenBackInPart.with(eur(100)) };
    assert!(actions.contains(&alarm), "{actions:?}");
    assert_eq!(refund.outcome(), Some(&Outcome::PartiallyApproved { amount: eur(100) }));
}

/// A record made by an earlier version has no confirming till, and is written back unchanged.
#[test]
fn records_of_before_are_read_and_written_as_they_were() {
    let text = serde_json::to_string(&Record::Started { order: order() }).unwrap();
    assert!(!text.contains("tillConfirms") && !text.contains("givesRest"), "{text}");
    for (text, name) in [
        (
            r#"{"kind":"till-asked","payment":{"id":"8ac7a4a1000000000000000000000001","amount":{"minor":1234,"currency":"EUR"}}}"#,
            "till-asked",
        ),
        (r#"{"kind":"till-said","taken":{"is":"all"},"by":{"uid":1001}}"#, "till-said"),
        (r#"{"kind":"till-said","taken":{"is":"part","amount":{"minor":800,"currency":"EUR"}}}"#, "till-said"),
    ] {
        let record: Record = serde_json::from_str(text).unwrap();
        assert_eq!((record.name(), serde_json::to_string(&record).unwrap().as_str()), (name, text));
    }
}
