//! Tests the rules of the core with traces: an event, the written records, and the actions.

use std::time::Duration;

use super::*;
use pos_terms::card::{Cryptogram, CryptogramKind, EntryMode, FirstAnswer, MaskedPan};
use pos_terms::money::Currency;
use pos_terms::transaction::{Earlier, Operation, PaymentId, Reference, SaleNumber};

const DEADLINES: Deadlines = Deadlines {
    resend: Duration::from_secs(1),
    refuses_repeats: true,
    lists_registrations: true,
    pending: Duration::from_secs(40),
    absence_final: Duration::from_secs(24 * 3600),
    signature: Some(Duration::from_secs(180)),
    till: Duration::from_secs(60),
};
const STARTED_MS: i64 = 1_800_000_000_000;

fn at(seconds: u64) -> Now {
    let unix_ms = STARTED_MS + i64::try_from(seconds * 1000).unwrap();
    Now { monotonic: Duration::from_secs(seconds), unix_ms }
}

fn eur(minor: u64) -> Amount {
    Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap()
}

fn order() -> Order {
    Order {
        operation: Operation::Sale,
        parameters: Vec::new(),
        number: SaleNumber::new(7),
        till: "till-1".to_owned(),
        reference: Reference::parse("R1").unwrap(),
        by: None,
        amount: eur(1234),
        ask_tip: false,
        manual: false,
        chip_alone: false,
        accept_partial: false,
        till_confirms: None,
        gives_rest: false,
        till_prints: false,
        till_data: Default::default(),
        tip: None,
        training: None,
        terminal_id: "12345678".to_owned(),
        account: None,
        merchant_transaction_id: "12345678-7-00112233445566778899aabbccddeeff".to_owned(),
        started_unix_ms: STARTED_MS,
        local_time: "2027-01-15 09:00:00".to_owned(),
    }
}

fn facts(entry: EntryMode) -> CardFacts {
    CardFacts {
        entry,
        pan: MaskedPan::new("476173******0119"),
        pan_sequence_number: Some(1),
        aid: Some("A0000000031010".to_owned()),
        label: Some("VISA CREDIT".to_owned()),
        cvm: None,
        cryptogram: Some(Cryptogram { kind: CryptogramKind::Arqc, value: [1; 8] }),
        tvr: None,
        tsi: None,
        iad: None,
    }
}

fn approval(amount: ApprovedAmount) -> Approval {
    Approval {
        id: PaymentId::new("8ac7a4a1000000000000000000000001"),
        amount,
        for_chip: ForChip { arc: Some(*b"00"), ..ForChip::default() },
        facts: HostFacts { id: Some(PaymentId::new("8ac7a4a1000000000000000000000001")), ..HostFacts::default() },
    }
}

fn approved() -> Event {
    Event::Answered(Answer::Approved(Box::new(approval(ApprovedAmount::Said(eur(1234))))))
}

fn unknown() -> Event {
    Event::Answered(Answer::Unknown { why: "no answer in time".into() })
}

/// A transaction and all its records. After each step is committed, a replay of all records must give the same
/// transaction.
struct Trace {
    sale: Transaction,
    written: Vec<Vec<Record>>,
}

impl Trace {
    fn begin() -> Self {
        let (sale, step) = Transaction::begin(order());
        let mut trace = Self { sale, written: Vec::new() };
        assert_eq!(trace.commit(step), [Action::Arm, Action::Tell]);
        trace
    }

    fn asked(entry: EntryMode) -> Self {
        Self::asked_by(order(), entry)
    }

    fn asked_by(order: Order, entry: EntryMode) -> Self {
        let (sale, step) = Transaction::begin(order);
        let mut trace = Self { sale, written: Vec::new() };
        assert_eq!(trace.commit(step), [Action::Arm, Action::Tell]);
        let read = Event::CardRead { facts: facts(entry), first_answer: FirstAnswer::GoOnline };
        assert_eq!(trace.on(read), [Action::Ask, Action::Tell]);
        trace
    }

    fn commit(&mut self, step: Step) -> Vec<Action> {
        if !step.records().is_empty() {
            self.written.push(step.records().to_vec());
        }
        let actions = step.give_out(&mut self.sale);
        let replayed = Transaction::replay(&self.written).expect("begins with Started");
        assert_eq!(replayed.standing().without_trouble(), self.sale.standing().without_trouble());
        assert_eq!((replayed.card(), replayed.host()), (self.sale.card(), self.sale.host()));
        actions
    }

    fn on(&mut self, event: Event) -> Vec<Action> {
        self.on_at(event, 1)
    }

    fn on_at(&mut self, event: Event, seconds: u64) -> Vec<Action> {
        let step = self.sale.handle(event, at(seconds), DEADLINES);
        self.commit(step)
    }

    /// Simulates a power cut, which erases everything that was not written.
    fn cut(&mut self) -> Vec<Action> {
        self.sale = Transaction::replay(&self.written).expect("begins with Started");
        self.on(Event::Restarted)
    }

    fn outcome(&self) -> Option<&Outcome> {
        match self.sale.standing() {
            Standing::Ended(outcome) => Some(outcome),
            _ => None,
        }
    }

    fn is_unconfirmed(&self) -> bool {
        matches!(self.sale.standing(), Standing::Unconfirmed { .. })
    }
}

impl Standing<'_> {
    fn without_trouble(self) -> Self {
        match self {
            Self::Unconfirmed { why, quarantined, trouble: _ } => Self::Unconfirmed { why, quarantined, trouble: None },
            other => other,
        }
    }
}

fn reverse_known() -> Action {
    reverse("8ac7a4a1000000000000000000000001", 1234, 1)
}

/// Returns the reference of a reversal.
fn own(nth: u32) -> String {
    format!("{}-r{nth}", order().merchant_transaction_id)
}

fn reverse(payment: &str, minor: u64, nth: u32) -> Action {
    Action::Reverse { payment: PaymentId::new(payment), amount: eur(minor), reference: own(nth) }
}

/// Returns the look-up of the transaction only.
fn query() -> Action {
    Action::Query { references: vec![order().merchant_transaction_id] }
}

/// Returns the look-up of the transaction and of the reversal without an answer.
fn query_with(nth: u32) -> Action {
    Action::Query { references: vec![order().merchant_transaction_id, own(nth)] }
}

/// Returns the answer to the reversal of the approved payment.
fn reversal_answered(reversal: ReversalAnswer) -> Event {
    Event::ReversalAnswered { reference: own(1), reversal }
}

fn said(confirmed: bool) -> Event {
    let mut last = facts(EntryMode::Icc);
    last.cryptogram =
        Some(Cryptogram { kind: if confirmed { CryptogramKind::Tc } else { CryptogramKind::Aac }, value: [2; 8] });
    Event::CardSaid { confirmed, facts: Some(Box::new(last)) }
}

fn found(kind: &str, id: &str, state: ListedState, refers_to: Option<&str>) -> ListedTransaction {
    ListedTransaction {
        id: PaymentId::new(id),
        payment_type: kind.to_owned(),
        amount: ApprovedAmount::Said(eur(1234)),
        state,
        reference: Some(order().merchant_transaction_id),
        refers_to: refers_to.map(PaymentId::new),
    }
}

#[test]
fn chip_approved_and_confirmed_by_the_card() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let answered = sale.on(approved());
    let [Action::AnswerCard(answer)] = answered.as_slice() else { panic!("{answered:?}") };
    assert_eq!(answer.arc, *b"00");
    assert!(matches!(sale.written.last().unwrap().as_slice(), [Record::HostApproved { .. }]));
    assert_eq!(sale.outcome(), None);
    assert_eq!(sale.on(said(true)), [Action::Tell, Action::Print(Paper::Copies)]);
    assert_eq!(sale.outcome(), Some(&Outcome::Approved));
    assert_eq!(sale.sale.card().unwrap().cryptogram.unwrap().kind, CryptogramKind::Tc);
    assert!(sale.sale.is_settled());
}

#[test]
fn a_tap_is_final_with_the_hosts_approval() {
    for entry in [EntryMode::NfcIcc, EntryMode::NfcMagstripe, EntryMode::Magstripe, EntryMode::MagstripeAsFallback] {
        let mut sale = Trace::asked(entry);
        let actions = sale.on(approved());
        assert!(matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell]), "{actions:?}");
        assert_eq!(sale.outcome(), Some(&Outcome::Approved));
        // The card's refusal after a tap cannot change the outcome.
        assert_eq!(sale.on(Event::CardSaid { confirmed: false, facts: None }), [Action::Print(Paper::Copies)]);
        assert_eq!(sale.outcome(), Some(&Outcome::Approved));
    }
}

#[test]
fn the_chip_refuses_after_approval_and_the_payment_is_reversed() {
    for event in [said(false), Event::ReaderLost] {
        let mut sale = Trace::asked(EntryMode::Icc);
        let _ = sale.on(approved());
        assert_eq!(sale.on(event), [Action::Tell, reverse_known()]);
        assert!(sale.is_unconfirmed(), "never declined while the gateway may hold an approval");
        let amount = ApprovedAmount::Said(eur(1234));
        let done = reversal_answered(ReversalAnswer::Done { id: PaymentId::new("rv1"), amount });
        assert_eq!(sale.on(done), [Action::Tell, Action::Print(Paper::Copies)]);
        assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })));
    }
}

#[test]
fn a_signature_is_compared_before_the_sale_is_approved() {
    let signed = |entry| CardFacts { cvm: Some(pos_terms::card::Cvm::Signature), ..facts(entry) };
    let asked = |entry| {
        let mut trace = Trace::begin();
        let _ = trace.on(Event::CardRead { facts: signed(entry), first_answer: FirstAnswer::GoOnline });
        let _ = trace.on(approved());
        trace
    };
    let check = |accepted| Event::SignatureChecked { accepted, by: None };
    let slip = Action::Print(Paper::SignatureSlip);

    // The chip confirms first, and the slip to sign is printed afterwards.
    let mut chip = asked(EntryMode::Icc);
    assert_eq!(chip.on(check(true)), [], "not before the card has confirmed");
    let tc = Event::CardSaid { confirmed: true, facts: Some(Box::new(signed(EntryMode::Icc))) };
    assert_eq!(chip.on(tc), [Action::Tell, slip.clone()]);
    assert_eq!((chip.sale.standing(), chip.outcome()), (Standing::AtSignature, None));
    assert_eq!(chip.on(Event::CancelAsked { by: None }), [], "the money has moved");
    assert_eq!(chip.cut(), [Action::Tell, slip.clone()]);
    assert_eq!(chip.on(check(true)), [Action::Tell, Action::Print(Paper::AfterSignature)]);
    assert_eq!(chip.outcome(), Some(&Outcome::Approved));

    // After a swipe, the slip is printed when the reader has finished.
    let mut swipe = asked(EntryMode::Magstripe);
    assert_eq!(swipe.sale.standing(), Standing::AtSignature);
    assert_eq!(swipe.on(Event::CardSaid { confirmed: true, facts: None }), [slip]);
    assert_eq!(swipe.on(check(false)), [Action::Tell, reverse_known()]);
    assert!(swipe.is_unconfirmed(), "never declined while the gateway may hold an approval");

    // The signature is not checked in time.
    let mut forgotten = asked(EntryMode::Magstripe);
    let _ = forgotten.on(Event::CardSaid { confirmed: true, facts: None });
    assert_eq!(forgotten.on_at(Event::DeadlinePassed, 180), []);
    assert_eq!(forgotten.on_at(Event::DeadlinePassed, 181), [Action::Tell, reverse_known()]);
}

#[test]
fn a_tip_is_charged_on_top_and_asked_for_before_the_card() {
    let begin = || {
        let (sale, step) = Transaction::begin(Order { ask_tip: true, ..order() });
        let mut trace = Trace { sale, written: Vec::new() };
        assert_eq!(trace.commit(step), [Action::AskTip, Action::Tell]);
        trace
    };
    let mut tipped = begin();
    assert_eq!(tipped.on(Event::TipTyped { tip: Some(eur(166)) }), [Action::Arm, Action::Tell]);
    assert_eq!(
        (tipped.sale.amount(), tipped.sale.tip(), tipped.sale.order().amount),
        (eur(1400), Some(eur(166)), eur(1234))
    );
    assert_eq!(tipped.on(Event::TipTyped { tip: Some(eur(1)) }), [], "once");

    let mut none = begin();
    assert_eq!(none.on(Event::TipTyped { tip: None }), [Action::Arm, Action::Tell]);
    assert_eq!((none.sale.amount(), none.sale.tip()), (eur(1234), None));

    let mut cancelled = begin();
    assert_eq!(cancelled.on(Event::CancelAsked { by: None }), [Action::StopReader]);
    assert_eq!(cancelled.on(Event::TipTyped { tip: Some(eur(166)) }), [Action::Tell]);
    assert!(matches!(cancelled.outcome(), Some(Outcome::Cancelled { .. })));

    let mut other_currency = begin();
    let jpy = Amount::from_minor(100, Currency::from_code("JPY").unwrap()).unwrap();
    assert_eq!(other_currency.on(Event::TipTyped { tip: Some(jpy) }), [Action::Tell]);
    assert!(matches!(other_currency.outcome(), Some(Outcome::Cancelled { .. })));
}

#[test]
fn power_cuts_find_the_state_that_the_disk_says() {
    let mut waiting = Trace::begin();
    assert_eq!(waiting.cut(), [Action::Tell]);
    assert_eq!(waiting.outcome(), Some(&Outcome::NotSent { why: Reason::TerminalRestarted.into() }));

    let mut asked = Trace::asked(EntryMode::Icc);
    assert_eq!(asked.cut(), [Action::Tell, query()]);
    assert!(asked.is_unconfirmed());

    let mut at_chip = Trace::asked(EntryMode::Icc);
    let _ = at_chip.on(approved());
    assert_eq!(at_chip.cut(), [Action::Tell, reverse_known()]);

    let mut tap = Trace::asked(EntryMode::NfcIcc);
    let _ = tap.on(approved());
    assert_eq!(tap.cut(), []);
    assert_eq!(tap.outcome(), Some(&Outcome::Approved));

    // A reversal that was about to be sent is looked up before it is sent again.
    let mut reversing = Trace::asked(EntryMode::Icc);
    let _ = reversing.on(approved());
    let _ = reversing.on(said(false));
    assert_eq!(reversing.cut(), [query_with(1)]);
}

#[test]
fn unknown_is_looked_up_and_reversed_never_sent_again() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let actions = sale.on(unknown());
    assert!(matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell, Action::Query { .. }]), "{actions:?}");
    assert!(sale.is_unconfirmed());
    let list = vec![found("DB", "p1", ListedState::Approved, None)];
    let reverse = reverse("p1", 1234, 1);
    assert_eq!(sale.on(Event::Inquired(Inquiry::Payments(list.clone()))), [reverse]);
    // Another look-up follows the reversal, because every approved match must be reversed.
    let done = Event::ReversalAnswered {
        reference: own(1),
        reversal: ReversalAnswer::Done { id: PaymentId::new("rv1"), amount: ApprovedAmount::NotSaid },
    };
    assert_eq!(sale.on(done), [query()]);
    assert_eq!(sale.on(Event::Inquired(Inquiry::Payments(list))), [Action::Tell]);
    assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })));
    assert_eq!(sale.on(Event::CardSaid { confirmed: false, facts: None }), [Action::Print(Paper::Copies)]);
}

#[test]
fn only_an_answered_empty_list_means_absent_and_only_after_a_day() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let cannot = Event::Inquired(Inquiry::CannotAsk { why: "HTTP 404".into() });
    let first = sale.on(cannot.clone());
    let [Action::Print(Paper::Copies), Action::Alarm { why }] = first.as_slice() else { panic!("{first:?}") };
    assert!(
        why.to_string().contains("HTTP 404"),
        "once: the receipt says not confirmed, and a person hears why: {why}"
    );
    for day in 1..5 {
        let _ = sale.on_at(Event::DeadlinePassed, day * 90_000);
        assert_eq!(sale.on_at(cannot.clone(), day * 90_000), []);
        assert!(sale.is_unconfirmed());
    }
    let empty = || Event::Inquired(Inquiry::Payments(Vec::new()));
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let _ = sale.on_at(empty(), 5);
    assert!(sale.is_unconfirmed());
    assert_eq!(sale.on_at(Event::DeadlinePassed, 86_300), [query()]);
    let _ = sale.on_at(empty(), 86_300);
    assert!(sale.is_unconfirmed(), "a late approval can still come");
    assert_eq!(sale.on_at(Event::DeadlinePassed, 87_000), [query()]);
    let _ = sale.on_at(empty(), 87_000);
    assert_eq!(sale.outcome(), Some(&Outcome::Reversed { why: Reason::NeverReceived.into() }));
}

#[test]
fn a_clock_that_jumps_ahead_does_not_make_an_absence_final() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let jumped = Now { unix_ms: STARTED_MS + 400 * 24 * 3600 * 1000, ..at(5) };
    let step = sale.sale.handle(Event::Inquired(Inquiry::Payments(Vec::new())), jumped, DEADLINES);
    let _ = sale.commit(step);
    assert!(sale.is_unconfirmed());
}

#[test]
fn a_sale_that_began_under_a_clock_gone_wrong_does_not_stay_open_for_ever() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    // The clock was a year ahead at the beginning, and is correct afterwards.
    let right = |s: u64| Now { unix_ms: STARTED_MS - 365 * 24 * 3600 * 1000, ..at(s) };
    let absent = || Event::Inquired(Inquiry::Payments(Vec::new()));
    for s in [5, 7200, 24 * 3600] {
        let step = sale.sale.handle(absent(), right(s), DEADLINES);
        let _ = sale.commit(step);
        assert!(sale.is_unconfirmed(), "{s} s");
    }
    let step = sale.sale.handle(absent(), right(5 + 24 * 3600), DEADLINES);
    let _ = sale.commit(step);
    assert_eq!(sale.outcome(), Some(&Outcome::Reversed { why: Reason::NeverReceived.into() }));
}

#[test]
fn a_sale_from_before_the_clock_was_set_back_counts_as_no_older_and_no_younger() {
    const YEAR_MS: i64 = 365 * 24 * 3600 * 1000;
    let absent = || Event::Inquired(Inquiry::Payments(Vec::new()));
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    // The transaction began under a clock that was a year ahead. A minute later, that clock is set back.
    let right = |s: u64| Now { unix_ms: STARTED_MS - YEAR_MS + 60_000 + i64::try_from(s * 1000).unwrap(), ..at(s) };
    sale.sale.clock_was_set_back(right(0).unix_ms);
    // The terminal is switched off each night, so no process runs for a whole day.
    let mut ended = None;
    for morning in [0, 14 * 3600, 24 * 3600 - 10 * 3600, 24 * 3600 + 4 * 3600] {
        let step = sale.sale.handle(Event::Restarted, right(morning), DEADLINES);
        let _ = sale.commit(step);
        sale.sale.volatile = Volatile::default();
        if let State::Reversing(reversing) = &mut sale.sale.state {
            reversing.volatile = reversing::VolatileReversing::default();
        }
        for s in [0, 3599, 3600] {
            let now = right(morning + s);
            let step = sale.sale.handle(absent(), now, DEADLINES);
            let _ = step.give_out(&mut sale.sale);
            if sale.sale.is_settled() {
                ended = ended.or(Some(morning + s));
            }
        }
    }
    assert_eq!(ended, Some(24 * 3600 + 4 * 3600 + 3600), "a day by the right clock, and an hour of watching");
    assert_eq!(sale.outcome(), Some(&Outcome::Reversed { why: Reason::NeverReceived.into() }));
}

#[test]
fn a_request_that_is_made_again_after_the_clock_was_set_back_is_as_young_as_it_is() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    sale.sale.clock_was_set_back(STARTED_MS - 1_000_000);
    let again = |unix_ms| vec![Record::Asked { card: None, again_unix_ms: Some(unix_ms) }];
    assert_eq!(sale.sale.asked_unix_ms, STARTED_MS - 1_000_000);
    let sale = sale.sale.replay_on(&[again(STARTED_MS - 5)]);
    assert_eq!((sale.asked_unix_ms, sale.begun_unix_ms), (STARTED_MS - 5, STARTED_MS - 1_000_000));
    assert_eq!(sale.order().started_unix_ms, STARTED_MS, "what the receipt says stays");
}

#[test]
fn a_late_approval_is_found_and_reversed() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let _ = sale.on_at(Event::Inquired(Inquiry::Payments(Vec::new())), 5);
    assert_eq!(sale.on_at(Event::DeadlinePassed, 60), [query()]);
    let late = vec![found("DB", "p1", ListedState::Approved, None)];
    let actions = sale.on_at(Event::Inquired(Inquiry::Payments(late)), 60);
    assert_eq!(actions, [reverse("p1", 1234, 1)]);
}

#[test]
fn a_reversal_of_unknown_fate_is_looked_up_and_a_linked_one_counts() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.on(said(false));
    let _ = sale.on(reversal_answered(ReversalAnswer::Unknown { why: "cut".into() }));
    assert_eq!(sale.on_at(Event::DeadlinePassed, 100), [query_with(1)]);
    let id = "8ac7a4a1000000000000000000000001";
    let list = vec![found("DB", id, ListedState::Approved, None), found("RV", "r1", ListedState::Approved, Some(id))];
    let _ = sale.on_at(Event::Inquired(Inquiry::Payments(list)), 100);
    assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })));

    // A reversal that certainly was not sent is sent again without a look-up.
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.on(said(false));
    let _ = sale.on(reversal_answered(ReversalAnswer::NotSent { why: "no network".into() }));
    assert_eq!(sale.on_at(Event::RetryNow, 2), [reverse_known()]);
}

#[test]
fn look_ups_before_their_time_do_not_lengthen_the_wait() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.on(said(false));
    let _ = sale.on(reversal_answered(ReversalAnswer::Unknown { why: "cut".into() }));
    // Twenty sales within a second fail on a dead network. Each also triggers a look-up of this transaction.
    for _ in 0..20 {
        assert_eq!(sale.on_at(Event::RetryNow, 0), [query_with(1)]);
        let _ = sale.on_at(Event::Inquired(Inquiry::CannotAsk { why: "no network".into() }), 0);
    }
    assert_eq!(sale.on_at(Event::DeadlinePassed, 2), [query_with(1)], "the first wait is one second and a quarter");
    let _ = sale.on_at(Event::Inquired(Inquiry::CannotAsk { why: "no network".into() }), 2);
    assert_eq!(sale.on_at(Event::DeadlinePassed, 3), [], "the wait after its time is twice as long");
    assert_eq!(sale.on_at(Event::DeadlinePassed, 5), [query_with(1)]);
}

#[test]
fn a_refused_reversal_is_quarantined_after_a_look_and_retried_daily() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.on(said(false));
    let refused = reversal_answered(ReversalAnswer::Refused { why: "not allowed".into() });
    assert_eq!(sale.on(refused), [query_with(1)]);
    let list = vec![found("DB", "8ac7a4a1000000000000000000000001", ListedState::Approved, None)];
    let actions = sale.on(Event::Inquired(Inquiry::Payments(list)));
    // The alarm contains the payment id.
    let why = Reason::ReversalRefused.with("8ac7a4a1000000000000000000000001, not allowed");
    assert_eq!(actions, [Action::Tell, Action::Alarm { why }, Action::Print(Paper::Copies)]);
    assert!(matches!(sale.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }));
    assert_eq!(sale.on_at(Event::RetryNow, 10), [], "the next sale does not hammer it");
    assert_eq!(sale.on_at(Event::DeadlinePassed, 86_400), []);
    assert_eq!(sale.on_at(Event::DeadlinePassed, 86_401), [query_with(1)]);
}

#[test]
fn tries_come_less_and_less_often_and_never_stop() {
    type Begin = fn() -> Trace;
    let reversal: Begin = reversal_unknown;
    let looked_up: Begin = || {
        let mut sale = Trace::asked(EntryMode::NfcIcc);
        let _ = sale.on(unknown());
        sale
    };
    let refund: Begin = || {
        let mut refund = without_card(Operation::Refund { of: of() });
        let _ = refund.on(unknown());
        refund
    };
    for begin in [reversal, looked_up, refund] {
        let mut sale = begin();
        let mut now = at(1);
        let mut waits = Vec::new();
        for _ in 0..40 {
            let cannot = Event::Inquired(Inquiry::CannotAsk { why: "no network".into() });
            let due = match sale.sale.deadline() {
                Some(due) => due,
                None => {
                    let step = sale.sale.handle(cannot, now, DEADLINES);
                    let _ = sale.commit(step);
                    sale.sale.deadline().expect("it is tried again, always")
                }
            };
            waits.push(due - now.monotonic);
            // A moment before the deadline, nothing happens. At the deadline, a look-up comes first.
            now.monotonic = due - Duration::from_millis(1);
            let step = sale.sale.handle(Event::DeadlinePassed, now, DEADLINES);
            assert_eq!(sale.commit(step), []);
            now.monotonic = due;
            let step = sale.sale.handle(Event::DeadlinePassed, now, DEADLINES);
            assert!(matches!(sale.commit(step).as_slice(), [Action::Query { .. }]));
        }
        for (n, wait) in waits.iter().enumerate() {
            let least = Duration::from_secs(1 << n.min(16)).min(Duration::from_secs(300));
            assert!(*wait >= least && *wait <= least + least / 4, "try {n}: {wait:?}");
        }
    }
}

#[test]
fn a_found_payment_whose_code_no_rule_knows_is_reversed_or_shown_to_a_person() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let list = || Event::Inquired(Inquiry::Payments(vec![found("DB", "p1", ListedState::Unclear, None)]));
    assert_eq!(sale.on(list()), [reverse("p1", 1234, 1)]);
    let reversal = ReversalAnswer::Refused { why: "not an approved payment".into() };
    let refused = Event::ReversalAnswered { reference: own(1), reversal };
    assert_eq!(sale.on(refused), [query_with(1)]);
    let _ = sale.on(list());
    assert!(matches!(sale.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }));
}

#[test]
fn a_found_payment_with_another_amount_is_not_ours_to_reverse() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let _ = sale.on(unknown());
    let mut other = found("DB", "p9", ListedState::Approved, None);
    other.amount = ApprovedAmount::Said(eur(9999));
    let actions = sale.on(Event::Inquired(Inquiry::Payments(vec![other])));
    assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
    assert!(matches!(sale.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }));
}

#[test]
fn declined_and_not_sent_tell_the_card_z1_and_charge_nothing() {
    let refusal = || {
        Box::new(Refusal {
            why: Reason::BankDeclined.with("insufficient funds"),
            for_chip: ForChip::default(),
            facts: HostFacts::default(),
        })
    };
    for (answer, outcome) in
        [(Answer::Declined(refusal()), "declined"), (Answer::NotSent { why: "connection refused".into() }, "not-sent")]
    {
        let mut sale = Trace::asked(EntryMode::Icc);
        let actions = sale.on(Event::Answered(answer));
        let [Action::AnswerCard(card), Action::Tell] = actions.as_slice() else { panic!("{actions:?}") };
        assert_eq!(card.arc, *b"Z1");
        let is = serde_json::to_value(sale.outcome().unwrap()).unwrap();
        assert_eq!(is["is"], outcome);
        assert_eq!(sale.on(said(false)), [Action::Print(Paper::Copies)]);
        assert_eq!(sale.sale.card().unwrap().cryptogram.unwrap().kind, CryptogramKind::Aac);
    }
}

#[test]
fn contradictions_between_result_and_chip_are_unknown() {
    let mut approval = approval(ApprovedAmount::NotSaid);
    approval.for_chip.arc = Some(*b"05");
    let mut sale = Trace::asked(EntryMode::Icc);
    let actions = sale.on(Event::Answered(Answer::Approved(Box::new(approval))));
    assert!(actions.contains(&reverse_known()) && sale.is_unconfirmed(), "{actions:?}");

    let refusal = Refusal {
        why: Reason::BankDeclined.with("declined"),
        for_chip: ForChip { arc: Some(*b"00"), ..ForChip::default() },
        facts: HostFacts::default(),
    };
    let mut sale = Trace::asked(EntryMode::Icc);
    let actions = sale.on(Event::Answered(Answer::Declined(Box::new(refusal))));
    assert!(actions.contains(&query()) && sale.is_unconfirmed(), "{actions:?}");
}

fn answered_amount(amount: ApprovedAmount) -> Event {
    Event::Answered(Answer::Approved(Box::new(approval(amount))))
}

fn alarms(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Alarm { .. })).count()
}

#[test]
fn more_than_asked_another_currency_or_something_unreadable_is_unknown_and_an_alarm() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let actions = sale.on(answered_amount(ApprovedAmount::Said(eur(1235))));
    assert!(actions.contains(&query()) && sale.is_unconfirmed(), "{actions:?}");
    assert_eq!(alarms(&actions), 1, "{actions:?}");
    let more = ListedTransaction {
        amount: ApprovedAmount::Said(eur(1235)),
        ..found("DB", KNOWN, ListedState::Approved, None)
    };
    assert_eq!(sale.on(listed(vec![more])), [reverse(KNOWN, 1235, 1)], "the list says the same");

    let usd = Amount::from_minor(1234, Currency::from_code("USD").unwrap()).unwrap();
    for amount in [ApprovedAmount::Said(usd), ApprovedAmount::Unreadable] {
        let mut sale = Trace::asked_by(Order { accept_partial: true, ..order() }, EntryMode::NfcIcc);
        let actions = sale.on(answered_amount(amount));
        assert!(sale.is_unconfirmed() && alarms(&actions) == 1, "{amount:?}: {actions:?}");
    }
    // A missing field proves nothing.
    let mut silent = Trace::asked(EntryMode::NfcIcc);
    let _ = silent.on(answered_amount(ApprovedAmount::NotSaid));
    assert_eq!(silent.outcome(), Some(&Outcome::Approved));
}

#[test]
fn an_answer_about_another_payment_is_unknown_and_an_alarm() {
    let other = || "8ac7a4a1000000000000000000000002".to_owned();
    let declined = |id: Option<PaymentId>| {
        let facts = HostFacts { id, ..HostFacts::default() };
        Answer::Declined(Box::new(Refusal {
            why: Reason::BankDeclined.with("no"),
            for_chip: ForChip::default(),
            facts,
        }))
    };
    let polled = || {
        let mut sale = Trace::asked(EntryMode::Icc);
        let _ = sale.on(Event::Answered(Answer::Pending { id: PaymentId::new(KNOWN), redirect: None }));
        assert_eq!(sale.on_at(Event::DeadlinePassed, 2), [Action::Poll { payment: PaymentId::new(KNOWN) }]);
        sale
    };
    let approval = Approval { id: PaymentId::new(other()), ..approval(ApprovedAmount::NotSaid) };
    for answer in [
        Answer::Approved(Box::new(approval)),
        Answer::Pending { id: PaymentId::new(other()), redirect: None },
        declined(Some(PaymentId::new(other()))),
    ] {
        let mut sale = polled();
        let actions = sale.on_at(Event::Answered(answer.clone()), 3);
        let [Action::AnswerCard(card), Action::Tell, Action::Query { .. }, Action::Alarm { why }] = actions.as_slice()
        else {
            panic!("{answer:?}: {actions:?}")
        };
        assert_eq!(card.arc, *b"Z1");
        assert_eq!(*why, Reason::AnotherPaymentAnswered.with(other()));
        assert!(sale.is_unconfirmed());
    }
    let mut nameless = polled();
    let _ = nameless.on_at(Event::Answered(declined(None)), 3);
    assert!(matches!(nameless.outcome(), Some(Outcome::Declined { .. })), "an absent id proves nothing");

    // A look-up shows another payment with the transaction's reference. It is reversed too, and a person is alarmed.
    let mut reversing = reversal_unknown();
    let list = vec![found("DB", &other(), ListedState::Approved, None)];
    let actions = reversing.on(listed(list));
    assert!(actions.contains(&reverse(&other(), 1234, 2)), "under a reference of its own: {actions:?}");
    assert_eq!(alarms(&actions), 1, "{actions:?}");
}

#[test]
fn cancel_wins_before_the_request_left_and_loses_after() {
    let mut sale = Trace::begin();
    assert_eq!(sale.on(Event::CancelAsked { by: None }), [Action::StopReader]);
    assert_eq!(sale.on(Event::NoCard { why: "cancelled at the till".into() }), [Action::Tell]);
    assert!(matches!(sale.outcome(), Some(Outcome::Cancelled { .. })));

    // The card was read at the same moment. It is declined, and nothing is sent.
    let mut sale = Trace::begin();
    let _ = sale.on(Event::CancelAsked { by: None });
    let read = Event::CardRead { facts: facts(EntryMode::Icc), first_answer: FirstAnswer::GoOnline };
    let actions = sale.on(read);
    assert!(matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell]), "{actions:?}");
    assert!(matches!(sale.outcome(), Some(Outcome::Cancelled { .. })));

    let mut sale = Trace::asked(EntryMode::Icc);
    assert_eq!(sale.on(Event::CancelAsked { by: None }), []);
}

#[test]
fn pending_is_asked_for_until_the_deadline_and_then_unknown() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let pending = || Event::Answered(Answer::Pending { id: PaymentId::new("p1"), redirect: None });
    assert_eq!(sale.on_at(pending(), 1), [Action::Tell]);
    assert_eq!(sale.sale.deadline(), Some(Duration::from_secs(2)));
    assert_eq!(sale.on_at(Event::DeadlinePassed, 2), [Action::Poll { payment: PaymentId::new("p1") }]);
    // A failed query says nothing about the payment.
    let not_sent = Event::Answered(Answer::NotSent { why: "no network".into() });
    assert_eq!(sale.on_at(not_sent, 3), []);
    assert!(sale.outcome().is_none());
    assert_eq!(sale.on_at(Event::DeadlinePassed, 4), [Action::Poll { payment: PaymentId::new("p1") }]);
    let actions = sale.on_at(pending(), 41);
    assert!(actions.contains(&query()) && sale.is_unconfirmed(), "{actions:?}");
}

#[test]
fn the_card_gone_while_the_host_was_asked_cannot_confirm() {
    let mut sale = Trace::asked(EntryMode::Icc);
    assert_eq!(sale.on(Event::ReaderLost), []);
    assert_eq!(sale.on(approved()), [Action::Tell, reverse_known()]);
    let mut tap = Trace::asked(EntryMode::NfcIcc);
    assert_eq!(tap.on(Event::ReaderLost), []);
    assert_eq!(tap.on(approved()), [Action::Tell, Action::Print(Paper::Copies)]);
    assert_eq!(tap.outcome(), Some(&Outcome::Approved));
}

#[test]
fn no_schedule_of_events_asks_twice() {
    // No pair of events after the first `Ask`, with a power cut between them, leads to a second `Ask`.
    let events = || {
        vec![
            approved(),
            unknown(),
            said(true),
            said(false),
            Event::ReaderLost,
            Event::CancelAsked { by: None },
            Event::RetryNow,
            Event::DeadlinePassed,
            Event::Restarted,
            Event::CardRead { facts: facts(EntryMode::Icc), first_answer: FirstAnswer::GoOnline },
            Event::Answered(Answer::Pending { id: PaymentId::new("p1"), redirect: None }),
            Event::Answered(Answer::NotSent { why: "x".into() }),
            Event::Inquired(Inquiry::Payments(Vec::new())),
            reversal_answered(ReversalAnswer::Unknown { why: "x".into() }),
        ]
    };
    for first in events() {
        for second in events() {
            let mut sale = Trace::asked(EntryMode::Icc);
            let mut actions = sale.on(first.clone());
            actions.extend(sale.cut());
            actions.extend(sale.on_at(second.clone(), 500));
            assert!(!actions.contains(&Action::Ask), "{first:?} then {second:?}");
        }
    }
}

#[test]
fn records_hold_nothing_that_card_rules_forbid() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.on(said(true));
    let text = serde_json::to_string(&sale.written).unwrap().to_lowercase();
    for forbidden in ["expiry", "track", "ksn", "pinblock", "sred", "476173900101"] {
        assert!(!text.contains(forbidden), "{forbidden} in {text}");
    }
    let back: Vec<Vec<Record>> = serde_json::from_str(&serde_json::to_string(&sale.written).unwrap()).unwrap();
    assert_eq!(back, sale.written);
}

#[test]
fn payments_in_records_keep_their_form() {
    // Journals of earlier versions must stay readable, so this line is never edited.
    let line = r#"{"kind":"reversal-asked","payment":{"id":"p1","amount":{"minor":1234,"currency":"EUR"}}}"#;
    let record =
        Record::ReversalAsked { payment: Payment { id: PaymentId::new("p1"), amount: eur(1234) }, reference: None };
    assert_eq!(serde_json::from_str::<Record>(line).unwrap(), record);
    assert_eq!(serde_json::to_string(&record).unwrap(), line);
}

const KNOWN: &str = "8ac7a4a1000000000000000000000001";

/// Returns a transaction that the gateway approved and the chip refused, and whose reversal has an unknown result.
fn reversal_unknown() -> Trace {
    let mut sale = Trace::asked(EntryMode::Icc);
    let _ = sale.on(approved());
    let _ = sale.on(said(false));
    let _ = sale.on(reversal_answered(ReversalAnswer::Unknown { why: "no answer in time".into() }));
    sale
}

#[test]
fn what_the_gateway_approved_is_never_absent() {
    const DAY: u64 = 24 * 3600;
    let other = || found("DB", "other", ListedState::Declined, None);
    for list in [vec![], vec![other()]] {
        let mut sale = reversal_unknown();
        let _ = sale.on_at(Event::Inquired(Inquiry::Payments(list.clone())), DAY - 4000);
        assert!(sale.is_unconfirmed() && sale.outcome().is_none());
        let _ = sale.on_at(Event::Inquired(Inquiry::Payments(list)), DAY + 1);
        assert!(matches!(sale.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }), "{:?}", sale.sale);
        // The list finally shows the reversal of the payment.
        let reversal = found("RV", "r1", ListedState::Approved, Some(KNOWN));
        let _ = sale.on_at(Event::Inquired(Inquiry::Payments(vec![reversal])), 2 * DAY);
        assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })));
    }
}

#[test]
fn somebody_elses_refund_is_not_reversed() {
    let mut sale = reversal_unknown();
    let list = vec![
        found("DB", KNOWN, ListedState::Approved, None),
        found("RV", "r1", ListedState::Approved, Some(KNOWN)),
        found("RF", "f1", ListedState::Approved, Some(KNOWN)),
    ];
    let actions = sale.on(Event::Inquired(Inquiry::Payments(list)));
    assert!(!actions.iter().any(|action| matches!(action, Action::Reverse { .. })), "{actions:?}");
    assert!(matches!(sale.outcome(), Some(Outcome::Reversed { .. })));
}

/// Returns a transaction without a card whose request was sent.
fn without_card(transaction: Operation) -> Trace {
    without_card_by(Order { operation: transaction, ..order() })
}

fn without_card_by(order: Order) -> Trace {
    let (sale, step) = Transaction::begin(order);
    let mut trace = Trace { sale, written: Vec::new() };
    assert_eq!(trace.commit(step), [Action::Tell]);
    assert_eq!(trace.on(Event::Proceed), [Action::Ask, Action::Tell]);
    trace
}

fn of() -> Earlier {
    Earlier { payment: PaymentId::new("8ac7a4a1000000000000000000000009"), number: Some(SaleNumber::new(3)) }
}

fn listed(found: Vec<ListedTransaction>) -> Event {
    Event::Inquired(Inquiry::Payments(found))
}

fn busy() -> Event {
    let why = Reason::GatewayThrottles.with("busy");
    let refusal = Refusal { why, for_chip: ForChip::default(), facts: HostFacts::default() };
    Event::Answered(Answer::Throttled(Box::new(refusal)))
}

#[test]
fn a_throttled_request_alone_is_sent_again_and_written_down_before() {
    let mut sale = Trace::asked(EntryMode::Icc);
    assert_eq!(sale.on_at(busy(), 1), []);
    let due = sale.sale.deadline().unwrap();
    assert!(due > Duration::from_secs(1) && due < Duration::from_secs(3), "{due:?}");
    assert_eq!(sale.on_at(Event::DeadlinePassed, 3), [Action::Ask]);
    assert!(matches!(sale.written.last().unwrap().as_slice(), [Record::Asked { card: Some(_), .. }]));
    assert_eq!(sale.on_at(Event::DeadlinePassed, 4), [], "it is on its way");
    // The power fails while the request is on its way, so the outcome is unknown.
    assert_eq!(sale.cut(), [Action::Tell, query()]);

    let mut impatient = Trace::asked(EntryMode::Icc);
    let mut seconds = 1;
    let mut asked = 0;
    while impatient.outcome().is_none() {
        let _ = impatient.on_at(busy(), seconds);
        seconds += 20;
        asked += usize::from(impatient.on_at(Event::DeadlinePassed, seconds) == [Action::Ask]);
        assert!(asked < 10);
    }
    assert!(matches!(impatient.outcome(), Some(Outcome::NotSent { .. })), "{:?}", impatient.outcome());
    assert!(asked > 0);

    let mut pulled = Trace::asked(EntryMode::Icc);
    let _ = pulled.on(busy());
    assert_eq!(pulled.on(Event::ReaderLost), [Action::Print(Paper::Copies), Action::Tell]);
    assert!(matches!(pulled.outcome(), Some(Outcome::NotSent { .. })));
}

#[test]
fn a_cancel_while_a_throttled_request_is_on_its_way_keeps_it_from_being_sent_another_time() {
    let on_its_way_again = || {
        let mut sale = Trace::asked(EntryMode::Icc);
        assert_eq!(sale.on_at(busy(), 1), []);
        assert_eq!(sale.on_at(Event::DeadlinePassed, 3), [Action::Ask]);
        assert!(sale.sale.can_be_cancelled());
        assert_eq!(sale.on_at(Event::CancelAsked { by: None }, 4), [], "its answer decides");
        sale
    };
    let mut throttled = on_its_way_again();
    let _ = throttled.on_at(busy(), 5);
    assert!(matches!(throttled.outcome(), Some(Outcome::Cancelled { .. })), "{:?}", throttled.outcome());
    // As without a cancel, a carried-out payment is kept and an unknown one is reversed.
    let mut carried_out = on_its_way_again();
    let _ = carried_out.on_at(approved(), 5);
    assert!(carried_out.outcome().is_none());
    let _ = carried_out.on_at(said(true), 6);
    assert_eq!(carried_out.outcome(), Some(&Outcome::Approved));
    let mut lost = on_its_way_again();
    let _ = lost.on_at(unknown(), 5);
    assert!(lost.is_unconfirmed());
    // A request that was never throttled cannot be cancelled.
    let mut first = Trace::asked(EntryMode::Icc);
    assert!(!first.sale.can_be_cancelled());
    assert_eq!(first.on(Event::CancelAsked { by: None }), []);
    assert_eq!(first.on(busy()), []);
    assert!(first.outcome().is_none(), "it is sent again");
}

#[test]
fn a_refund_without_an_answer_is_looked_up_and_carried_out() {
    let kind = || Operation::Refund { of: of() };
    let mut refund = without_card(kind());
    assert_eq!(refund.on(unknown()), [Action::Tell, query()]);
    assert!(refund.is_unconfirmed());
    // Only the earlier payment is listed, and not the refund. After two such look-ups, the refund is sent again.
    let earlier = || {
        listed(vec![ListedTransaction {
            reference: Some("other".to_owned()),
            ..found("DB", "p0", ListedState::Approved, None)
        }])
    };
    assert_eq!(refund.on(earlier()), [Action::Print(Paper::Copies)]);
    assert_eq!(refund.on_at(Event::DeadlinePassed, 10), [query()]);
    assert_eq!(refund.on_at(earlier(), 10), [Action::Ask]);
    assert!(matches!(refund.written.last().unwrap().as_slice(), [Record::Asked { card: None, .. }]));
    assert_eq!(refund.cut(), [Action::Tell, query()], "after a power cut it is looked up again");
    let done = listed(vec![found("RF", "rf1", ListedState::Approved, Some("p0"))]);
    assert_eq!(refund.on(done), [Action::Tell, Action::Print(Paper::Copies)]);
    assert_eq!(
        (refund.outcome(), refund.sale.host().id.as_ref().map(PaymentId::as_str)),
        (Some(&Outcome::Approved), Some("rf1"))
    );

    // A refund of the same payment by another sender does not count as this one.
    let mut other = without_card(kind());
    let _ = other.on(unknown());
    let theirs =
        ListedTransaction { reference: Some("other".to_owned()), ..found("RF", "rf2", ListedState::Approved, None) };
    assert_eq!(other.on(listed(vec![theirs])), [Action::Print(Paper::Copies)]);
    assert!(other.is_unconfirmed());

    // The refund was carried out twice because an answer was late, so a person must decide.
    let mut twice = without_card(kind());
    let _ = twice.on(unknown());
    let both = vec![found("RF", "rf1", ListedState::Approved, None), found("RF", "rf2", ListedState::Approved, None)];
    let actions = twice.on(listed(both));
    assert!(matches!(actions.as_slice(), [Action::Tell, Action::Alarm { .. }]), "{actions:?}");
    assert!(matches!(twice.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }));

    // A decline is an outcome. A failed query proves nothing.
    let mut declined = without_card(kind());
    let _ = declined.on(unknown());
    let cannot = declined.on(Event::Inquired(Inquiry::CannotAsk { why: "404".into() }));
    assert!(matches!(cannot.as_slice(), [Action::Print(Paper::Copies), Action::Alarm { .. }]), "{cannot:?}");
    let _ = declined.on_at(Event::DeadlinePassed, 10);
    let _ = declined.on_at(listed(vec![found("RF", "rf1", ListedState::Declined, None)]), 10);
    assert!(matches!(declined.outcome(), Some(Outcome::Declined { .. })));
}

#[test]
fn what_reserves_or_charges_without_a_card_is_reversed_when_unknown() {
    for kind in [
        Operation::Increment { of: of() },
        Operation::Reauthorisation { of: of() },
        Operation::ByRegistration { registration: "8ac7a4a1000000000000000000000007".to_owned() },
    ] {
        let mut sale = without_card(kind.clone());
        assert_eq!(sale.on(unknown()), [Action::Tell, query()], "{kind:?}");
        let list = vec![found(kind.kind().payment_type(), "p1", ListedState::Approved, None)];
        assert_eq!(sale.on(listed(list)), [reverse("p1", 1234, 1)]);

        let mut approved_at_once = without_card(kind);
        assert_eq!(approved_at_once.on(approved()), [Action::Tell, Action::Print(Paper::Copies)]);
        assert_eq!(approved_at_once.outcome(), Some(&Outcome::Approved));
    }
}

#[test]
fn the_card_of_a_credit_has_no_say() {
    let begin = || {
        let (sale, step) = Transaction::begin(Order { operation: Operation::Credit, ..order() });
        let mut trace = Trace { sale, written: Vec::new() };
        let _ = trace.commit(step);
        trace
    };
    // The AAC of a credit is the normal answer, both as the first and as the final one (design: path of a sale, 7).
    for first_answer in [FirstAnswer::Declined, FirstAnswer::GoOnline] {
        let mut credit = begin();
        let read = Event::CardRead { facts: facts(EntryMode::Icc), first_answer };
        assert_eq!(credit.on(read), [Action::Ask, Action::Tell]);
        let answered = credit.on(approved());
        assert!(matches!(answered.as_slice(), [Action::AnswerCard(_), Action::Tell]), "{answered:?}");
        assert_eq!(credit.on(said(false)), [Action::Print(Paper::Copies)]);
        assert_eq!(credit.outcome(), Some(&Outcome::Approved));
    }
}

#[test]
fn what_was_in_doubt_once_is_not_ended_by_an_answer_that_says_nothing_of_the_first_request() {
    let kind = || Operation::Refund { of: of() };
    let sent_again = || {
        let mut refund = without_card(kind());
        let _ = refund.on(unknown());
        let _ = refund.on(listed(Vec::new()));
        let _ = refund.on_at(Event::DeadlinePassed, 10);
        assert_eq!(refund.on_at(listed(Vec::new()), 10), [Action::Ask]);
        refund
    };
    let refusal =
        || Refusal { why: Reason::BankDeclined.with("no"), for_chip: ForChip::default(), facts: HostFacts::default() };
    for answer in [
        Answer::NotSent { why: "no connection".into() },
        Answer::Throttled(Box::new(refusal())),
        // The gateway may answer "more than is left" because the first request was carried out.
        Answer::Declined(Box::new(refusal())),
    ] {
        let mut refund = sent_again();
        assert_eq!(refund.on(Event::Answered(answer.clone())), [Action::Tell, query()], "{answer:?}");
        assert!(refund.is_unconfirmed(), "{answer:?}");
        let late = listed(vec![found("RF", "rf1", ListedState::Approved, None)]);
        let _ = refund.on(late);
        assert_eq!(refund.outcome(), Some(&Outcome::Approved), "{answer:?}");
    }
    let mut lost = sent_again();
    assert_eq!(lost.on(Event::CannotAsk { why: "too long".into() }), [Action::Tell, query()]);
}

#[test]
fn what_a_person_must_look_at_is_never_sent_again() {
    let mut refund = without_card(Operation::Refund { of: of() });
    let more = Box::new(approval(ApprovedAmount::Said(eur(9999))));
    let _ = refund.on(Event::Answered(Answer::Approved(more)));
    assert!(matches!(refund.sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }));
    for day in 1..5 {
        assert!(!refund.on_at(listed(Vec::new()), day * 90_000).contains(&Action::Ask));
        let _ = refund.on_at(Event::DeadlinePassed, day * 90_000);
    }
    let _ = refund.cut();
    assert!(!refund.on(listed(Vec::new())).contains(&Action::Ask));
    assert!(!refund.on(listed(Vec::new())).contains(&Action::Ask));
}

#[test]
fn what_needs_no_card_and_was_not_asked_for_is_not_sent_after_a_power_cut() {
    let (sale, step) = Transaction::begin(Order { operation: Operation::Refund { of: of() }, ..order() });
    let mut refund = Trace { sale, written: Vec::new() };
    assert_eq!(refund.commit(step), [Action::Tell]);
    let _ = refund.cut();
    assert_eq!(refund.outcome(), Some(&Outcome::NotSent { why: Reason::TerminalRestarted.into() }));
}

mod awaiting_till;
mod declined;
mod given_back;
mod listed;
mod no_answer_yet;
mod part;
mod reversal_answers;
mod standing;
mod stored_card;
mod who;
