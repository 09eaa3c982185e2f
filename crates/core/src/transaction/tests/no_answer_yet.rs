//! Tests the time before a request has its answer: the agent waits for a card, the gateway has too many requests, or a
//! payment is pending.

use super::*;
use pos_terms::transaction::Who;

fn read(first_answer: FirstAnswer) -> Event {
    Event::CardRead { facts: facts(EntryMode::Icc), first_answer }
}

fn refund_sent_again() -> Trace {
    let mut refund = without_card(Operation::Refund { of: of() });
    let _ = refund.on(unknown());
    let _ = refund.on(listed(Vec::new()));
    assert_eq!(refund.on_at(Event::DeadlinePassed, 10), [query()]);
    assert_eq!(refund.on_at(listed(Vec::new()), 10), [Action::Ask]);
    refund
}

#[test]
fn a_reader_that_goes_away_before_a_card_ends_the_sale_unsent() {
    let mut sale = Trace::begin();
    assert_eq!(sale.on(Event::ReaderLost), [Action::Tell]);
    assert_eq!(sale.outcome(), Some(&Outcome::NotSent { why: Reason::ReaderLost.into() }));
}

#[test]
fn a_sale_by_card_is_not_sent_without_one() {
    let mut sale = Trace::begin();
    assert_eq!(sale.on(Event::Proceed), []);
    assert!(!sale.sale.was_asked());
}

#[test]
fn no_card_is_taken_while_the_cardholder_types_a_tip() {
    let (sale, step) = Transaction::begin(Order { ask_tip: true, ..order() });
    let mut trace = Trace { sale, written: Vec::new() };
    let _ = trace.commit(step);
    assert_eq!(trace.on(read(FirstAnswer::GoOnline)), [], "the amount is not known yet");
    let _ = trace.on(Event::TipTyped { tip: Some(eur(166)) });
    assert_eq!(trace.on(read(FirstAnswer::GoOnline)), [Action::Ask, Action::Tell]);
    assert_eq!(trace.sale.amount(), eur(1400));
}

#[test]
fn a_card_that_declines_by_itself_is_not_sent() {
    let mut sale = Trace::begin();
    let actions = sale.on(read(FirstAnswer::Declined));
    assert!(matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell]), "{actions:?}");
    assert_eq!(sale.outcome(), Some(&Outcome::Declined { why: Reason::CardDeclined.into() }));
    assert!(!sale.sale.was_asked());
}

#[test]
fn the_first_who_cancels_is_the_one_and_a_terminal_that_stops_says_so() {
    let by = |uid| Some(Who { uid: Some(uid), ..Who::default() });
    let mut twice = Trace::begin();
    assert_eq!(twice.on(Event::CancelAsked { by: by(1) }), [Action::StopReader]);
    assert_eq!(twice.on(Event::CancelAsked { by: by(2) }), [], "the reader is stopping already");
    let _ = twice.on(Event::NoCard { why: Reason::TillCancelled.into() });
    let Some(Record::Ended { outcome, by: ended_by, .. }) = twice.written.last().and_then(|step| step.last()) else {
        panic!("{:?}", twice.written)
    };
    assert_eq!((outcome, ended_by), (&Outcome::Cancelled { why: Reason::TillCancelled.into() }, &by(1)));

    let mut stopped = Trace::begin();
    assert_eq!(stopped.on(Event::CancelAsked { by: None }), [Action::StopReader]);
    let _ = stopped.on(Event::NoCard { why: Reason::TillCancelled.into() });
    assert_eq!(stopped.outcome(), Some(&Outcome::Cancelled { why: Reason::TerminalStopped.into() }));
}

#[test]
fn a_request_that_cannot_be_made_is_not_sent() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let why = || Reason::RequestNotPossible.with("too long");
    let actions = sale.on(Event::CannotAsk { why: why() });
    assert!(matches!(actions.as_slice(), [Action::AnswerCard(_), Action::Tell]), "{actions:?}");
    assert_eq!(sale.outcome(), Some(&Outcome::NotSent { why: why() }));
}

#[test]
fn a_throttled_request_waits_half_a_second_and_twice_as_long_each_time() {
    let mut sale = Trace::asked(EntryMode::Icc);
    let mut now = at(1);
    let mut handle = |event, now| {
        let step = sale.sale.handle(event, now, DEADLINES);
        (sale.commit(step), sale.sale.deadline())
    };
    for try_ in 0..4 {
        let (_, due) = handle(busy(), now);
        let due = due.expect("it is made again");
        let least = Duration::from_millis(500 << try_);
        let wait = due - now.monotonic;
        // An additional delay of up to a second makes terminals differ.
        assert!(wait >= least && wait < least + Duration::from_secs(1), "try {try_}: {wait:?}");
        now.monotonic = due - Duration::from_nanos(1);
        assert_eq!(handle(Event::DeadlinePassed, now).0, [], "try {try_}: too early");
        now.monotonic = due;
        assert_eq!(handle(Event::DeadlinePassed, now).0, [Action::Ask], "try {try_}");
    }
    let asked = sale.written.iter().flatten().filter(|record| matches!(record, Record::Asked { .. })).count();
    assert_eq!(asked, 5, "each is written down before");
}

#[test]
fn a_pending_payment_is_not_asked_for_before_its_time() {
    let mut sale = Trace::asked(EntryMode::NfcIcc);
    let pending = || Event::Answered(Answer::Pending { id: PaymentId::new("p1"), redirect: None });
    let _ = sale.on_at(pending(), 1);
    assert_eq!(sale.on_at(Event::DeadlinePassed, 1), []);
    assert_eq!(sale.on_at(Event::DeadlinePassed, 2), [Action::Poll { payment: PaymentId::new("p1") }]);
}

#[test]
fn looks_after_a_second_request_come_as_seldom_as_before() {
    let mut refund = refund_sent_again();
    // One look-up after the first request had no result. The waits after the second request continue from there.
    let _ = refund.on_at(unknown(), 11);
    let _ = refund.on_at(Event::Inquired(Inquiry::CannotAsk { why: "no network".into() }), 11);
    let wait = refund.sale.deadline().unwrap() - Duration::from_secs(11);
    assert!(wait >= Duration::from_secs(2), "{wait:?}");
    // The cashier already has the receipt "not confirmed".
    assert_eq!(refund.on_at(Event::DeadlinePassed, 20), [query()]);
    assert_eq!(refund.on_at(listed(Vec::new()), 20), []);
}

fn not_reached() -> Event {
    Event::Inquired(Inquiry::NotReached { why: Reason::GatewayCannotBeAsked.with("no-route") })
}

fn no_list() -> Event {
    Event::Inquired(Inquiry::CannotAsk { why: Reason::GatewayCannotBeAsked.with("no-route") })
}

/// Returns a sale and a refund without an answer, after a restart of the board.
fn open_at_boot() -> [Trace; 2] {
    [Trace::asked(EntryMode::NfcIcc), without_card(Operation::Refund { of: of() })].map(|mut open| {
        let _ = open.on(unknown());
        assert_eq!(open.cut(), [query()]);
        open
    })
}

/// Checks the first minutes after a boot without a network.
#[test]
fn a_gateway_that_is_not_reached_alarms_after_a_minute_and_once() {
    for mut open in open_at_boot() {
        let mut alarms_at = |event: fn() -> Event, seconds: &[u64]| -> Vec<u64> {
            let mut alarmed = Vec::new();
            for second in seconds {
                let actions = open.on_at(event(), *second);
                alarmed.extend((0..alarms(&actions)).map(|_| *second));
                assert_eq!(open.on_at(Event::RetryNow, *second), [query()], "it is looked up as before");
            }
            alarmed
        };
        assert_eq!(alarms_at(not_reached, &[2, 10, 61, 62, 90, 4000]), [62]);
        // An answer that is no list alarms immediately, and the next minute counts from the next failure.
        assert_eq!(alarms_at(|| Event::Inquired(Inquiry::CannotAsk { why: "HTTP 404".into() }), &[4001, 4002]), [4001]);
        assert_eq!(alarms_at(not_reached, &[4003, 4062, 4063]), [4063]);
        assert_eq!(alarms_at(|| listed(Vec::new()), &[4064]), [0; 0]);
        assert_eq!(alarms_at(not_reached, &[4065, 4124]), [0; 0]);
        // The same words from an open connection are another fault.
        assert_eq!(alarms_at(no_list, &[4125, 4126]), [4125]);
    }
}

#[test]
fn a_gateway_that_is_not_reached_is_asked_again_as_often_as_one_that_gives_no_list() {
    for (mut unreached, mut unlisted) in open_at_boot().into_iter().zip(open_at_boot()) {
        let mut second = 2;
        for _ in 0..12 {
            let _ = (unreached.on_at(not_reached(), second), unlisted.on_at(no_list(), second));
            let due = unreached.sale.deadline().unwrap();
            assert_eq!(Some(due), unlisted.sale.deadline(), "after {second} s");
            second = due.as_secs() + 1;
            let asked = [&mut unreached, &mut unlisted].map(|open| open.on_at(Event::DeadlinePassed, second));
            assert_eq!(asked, [[query()], [query()]]);
        }
    }
}

#[test]
fn a_declined_try_says_nothing_of_the_other_one() {
    let mut refund = refund_sent_again();
    let _ = refund.on_at(unknown(), 11);
    let declined = || listed(vec![found("RF", "rf1", ListedState::Declined, None)]);
    for seconds in [11, 20, 60, 3000] {
        assert!(!refund.on_at(declined(), seconds).contains(&Action::Ask), "{seconds} s: two are on their way");
        assert!(refund.is_unconfirmed(), "{seconds} s");
        let _ = refund.on_at(Event::DeadlinePassed, seconds + 1000);
    }
    let both = vec![found("RF", "rf1", ListedState::Declined, None), found("RF", "rf2", ListedState::Declined, None)];
    let _ = refund.on_at(listed(both), 5000);
    assert!(matches!(refund.outcome(), Some(Outcome::Declined { .. })));
}

#[test]
fn a_late_approval_carries_a_refund_out() {
    let mut refund = without_card(Operation::Refund { of: of() });
    let _ = refund.on(unknown());
    assert_eq!(refund.on_at(approved(), 2), [Action::Tell, Action::Print(Paper::Copies)]);
    assert_eq!(refund.outcome(), Some(&Outcome::Approved));
    assert_eq!(refund.sale.host().id.as_ref().map(PaymentId::as_str), Some(KNOWN));
}

#[test]
fn a_request_leaves_again_only_when_looks_in_a_row_and_the_time_between_say_so() {
    let patient = Deadlines { resend: Duration::from_secs(60), ..DEADLINES };
    let mut refund = without_card(Operation::Refund { of: of() });
    let _ = refund.on(unknown());
    let mut look = |seconds| {
        let step = refund.sale.handle(listed(Vec::new()), at(seconds), patient);
        refund.commit(step).contains(&Action::Ask)
    };
    assert!(!look(2) && !look(10) && !look(61), "two looks, but not for long enough");
    assert!(look(62));
}

#[test]
fn a_reversal_in_part_that_was_asked_for_is_an_alarm() {
    let part = || answered_amount(ApprovedAmount::Said(eur(600)));
    let as_listed = |kind: &str| {
        let amount = ApprovedAmount::Said(eur(600));
        listed(vec![ListedTransaction { amount, ..found(kind, KNOWN, ListedState::Approved, Some("p0")) }])
    };
    let mut reversal = without_card(Operation::Reversal { of: of() });
    assert_eq!(alarms(&reversal.on(part())), 0, "it is looked up first");
    assert_eq!(alarms(&reversal.on(as_listed("RV"))), 1);
    assert_eq!(reversal.outcome(), Some(&Outcome::PartiallyApproved { amount: eur(600) }));
    let mut late = without_card(Operation::Reversal { of: of() });
    let _ = late.on(unknown());
    let _ = late.on(part());
    assert_eq!(alarms(&late.on(as_listed("RV"))), 1);
    let mut refund = without_card(Operation::Refund { of: of() });
    let _ = refund.on(part());
    assert_eq!(alarms(&refund.on(as_listed("RF"))), 0, "a refund in part is the till's to see");
}
