//! What follows an unknown outcome: look up, reverse, look again, for as long as it takes (design: path of a sale, 9).
//!
//! Nothing here ever sends a payment. Each reversal has a reference of its own, is written down before it is sent, and
//! keeps its reference when it is sent again; one whose fate is unknown is looked up before. How much is left to
//! reverse is reckoned from what the look shows (`look_up`), so that a reversal of a part is that part, and the rest
//! goes back under its own reference. "Not there" is believed only from an answered query, and only after a settable
//! time.

use std::time::Duration;

use crate::money::Amount;
use crate::transaction::PaymentId;

use super::back_off;
use super::look_up::{self, Doubt, Own, may_be_charged, payments};
use super::record::Payment;
use super::{
    Action, ApprovedAmount, CardAnswer, Deadlines, Event, Found, FoundState, HostFacts, Inquiry, Now, Outcome, Paper,
    Reason, Record, Reversal, Sale, State, Step, Why,
};

/// A quarantined reversal is retried daily: what a person mended at the gateway is then noticed.
const QUARANTINE_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Looks that must not show a reversal before it is sent again: a request may be on its way while the first look is
/// answered.
pub(super) const LOOKS_BEFORE_SENDING: u32 = 2;

/// So long what a look showed is good enough for a request that could not be sent; afterwards somebody may have given
/// it back.
pub const FRESH: Duration = Duration::from_secs(10);

/// No gateway books one request so often.
const MOST_SEEN: usize = 64;

/// How long an absence must have been watched by one process before it can be final.
const WATCHED_ABSENCE: Duration = Duration::from_secs(3600);

/// What the records say about a reversal.
#[derive(Clone, Debug)]
pub(super) struct Reversing {
    /// What happened.
    pub(super) why: Why,
    /// The payment when the gateway named it; else it must be looked up.
    pub(super) known: Option<Payment>,
    /// A reversal that was sent (or was about to be) and is not confirmed.
    pub(super) open: Option<Request>,
    /// What was sent before it, of other payments, and has no answer either.
    pub(super) unanswered: Vec<Request>,
    /// What was confirmed.
    pub(super) done: Vec<Done>,
    /// Every payment of which a reversal was asked for, with the amount of the first request.
    asked: Vec<Payment>,
    /// How many references were given to reversals.
    references: u32,
    /// A person has decided that what is found stays.
    pub(super) keep: bool,
    /// Retrying cannot mend it.
    pub(super) quarantined: Option<Why>,
}

/// A reversal under one reference.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The payment, and how much of it.
    pub(super) payment: Payment,
    /// Its own reference at the gateway.
    pub(super) reference: String,
    /// How often it was sent.
    pub(super) tries: u32,
}

/// A reversal that the gateway confirmed.
#[derive(Clone, Debug)]
pub(super) struct Done {
    /// The payment.
    pub(super) payment: PaymentId,
    /// Id of the reversal.
    pub(super) id: PaymentId,
    /// Its own reference.
    pub(super) reference: String,
    /// How much.
    pub(super) amount: Amount,
}

/// What a power cut may forget about a reversal.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    due: Option<Duration>,
    in_flight: bool,
    tries: u32,
    /// The reversal certainly did not reach the gateway, this time or before: it may be sent again without looking.
    certainly_unsent: bool,
    /// Not without a look all the same.
    look_first: bool,
    /// When the amount of the request was reckoned; without a look when it first could not be sent.
    reckoned: Option<Duration>,
    /// What the payment that is to go back was approved with, as the list or the answer said by which the rest was
    /// reckoned.
    whole: Option<Amount>,
    /// What looks showed as charged: none of it is over because a list leaves it out.
    seen: Vec<Payment>,
    /// The gateway refused the last reversal; if a look shows it still charged, retrying cannot mend it.
    refused: Option<Why>,
    /// When the gateway first said that it knows no such payment.
    first_absent: Option<Duration>,
    /// An approved payment that no look has listed since then, whatever else they listed.
    not_listed: Option<(PaymentId, Duration)>,
    /// Looks in a row that did not show the open reversal, and when the first of them was answered.
    reversal_absent: u32,
    reversal_absent_since: Option<Duration>,
    /// The receipt "not confirmed" was printed.
    printed: bool,
    /// Why the last try did not settle it.
    pub(super) trouble: Option<Why>,
}

impl Timers {
    /// Begins anew with a look; what never left has not left since.
    pub(super) fn anew(&self) -> Self {
        Self { certainly_unsent: self.certainly_unsent, look_first: true, ..Self::default() }
    }

    /// While a question is on its way.
    pub(super) fn waiting() -> Self {
        Self { in_flight: true, ..Self::default() }
    }

    pub(super) fn due(&self) -> Option<Duration> {
        if self.in_flight { None } else { self.due }
    }
}

impl Reversing {
    pub(super) fn new(why: Why, known: Option<Payment>) -> Self {
        Self {
            why,
            known,
            open: None,
            unanswered: Vec::new(),
            done: Vec::new(),
            asked: Vec::new(),
            references: 0,
            keep: false,
            quarantined: None,
        }
    }

    /// `of_sale` is the sale's own reference, under which earlier programs sent its reversals.
    pub(super) fn apply(&mut self, record: &Record, of_sale: &str) {
        match record {
            Record::ReversalAsked { payment, reference } => {
                let reference = reference.as_deref().unwrap_or(of_sale);
                match &mut self.open {
                    Some(open) if open.reference == reference => open.tries += 1,
                    _ => {
                        self.references += 1;
                        if !self.asked.iter().any(|one| one.id == payment.id) {
                            self.asked.push(payment.clone());
                        }
                        let asked = Request { payment: payment.clone(), reference: reference.to_owned(), tries: 1 };
                        let before = self.open.replace(asked);
                        // Of the same payment only what cannot come any more is followed by another request.
                        self.unanswered.extend(before.filter(|one| one.payment.id != payment.id));
                        self.unanswered.retain(|one| one.payment.id != payment.id);
                    }
                }
                self.quarantined = None;
            }
            Record::ReversalDone { payment, reversal, amount } => {
                let Some(open) = self.open.take() else { return };
                let amount = amount.unwrap_or(open.payment.amount);
                let (payment, id) = (payment.clone(), reversal.clone());
                self.done.push(Done { payment, id, reference: open.reference, amount });
            }
            Record::Quarantined { why } => self.quarantined = Some(why.clone()),
            _ => {}
        }
    }

    /// Each reversal has a reference of its own (interface: `merchantTransactionId`), made of the
    /// sale's.
    fn next_reference(&self, of_sale: &str) -> String {
        reversal_reference(of_sale, self.references + 1)
    }

    /// What is left of the payment that the answer named, by what was confirmed alone; `None` when that is nothing.
    fn known_rest(&self) -> Option<Payment> {
        let known = self.known.as_ref()?;
        let back = self.done.iter().filter(|done| done.payment == known.id).map(|done| done.amount.minor()).sum();
        let left = less(known.amount, back)?;
        Some(Payment { id: known.id.clone(), amount: left })
    }
}

fn reversal_reference(of_sale: &str, nth: u32) -> String {
    format!("{of_sale}-r{nth}")
}

/// Whether the open request is for all that is left.
fn is_whole(open: &Payment, rest: &Payment) -> bool {
    open.id == rest.id && open.amount == rest.amount
}

/// What is left of an amount; `None` when that is nothing.
pub(super) fn less(amount: Amount, minor: u64) -> Option<Amount> {
    let left = amount.minor().checked_sub(minor)?;
    Amount::from_minor(left, amount.currency()).ok().filter(|left| left.minor() > 0)
}

impl Sale {
    /// Begins to reverse: written first, then the card is declined, the till told, and the gateway asked.
    pub(super) fn reverse(&mut self, why: impl Into<Why>, payment: Option<Payment>, host: Option<HostFacts>) -> Step {
        self.volatile.poll = None;
        let whole = payment.as_ref().map(|payment| payment.amount);
        self.volatile.reversal = Timers { in_flight: true, certainly_unsent: true, whole, ..Timers::default() };
        let reversing = Record::Reversing { why: why.into(), payment: payment.clone(), host, by: None };
        let mut step = Step::write([reversing]);
        // Only a card that has not had its answer yet: at the chip it had one.
        if self.volatile.card_open && matches!(self.state, State::Asked) {
            step = step.then([Action::AnswerCard(Box::new(CardAnswer::decline()))]);
        }
        step = step.then([Action::Tell]);
        match payment {
            Some(payment) => {
                let reference = reversal_reference(self.our_reference(), 1);
                let asked = ask_reversal(payment, reference);
                step.records.extend(asked.records);
                step.then(asked.actions)
            }
            None => step.then([self.query(None)]),
        }
    }

    pub(super) fn handle_reversing(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        match event {
            Event::Restarted => self.look_for_reversal(now),
            Event::DeadlinePassed if self.volatile.reversal.due().is_some_and(|due| due <= now.monotonic) => {
                self.try_again(now)
            }
            Event::Nudged if self.volatile.reversal.due().is_some() && !self.is_quarantined() => self.try_again(now),
            Event::Inquired(inquiry) => self.inquired(inquiry, now, deadlines),
            Event::ReversalAnswered { reference, reversal } => self.reversal_answered(&reference, reversal, now),
            Event::CardSaid { facts, .. } => {
                self.volatile.card_open = false;
                match facts {
                    Some(card) => Step::write([Record::CardFinal { card: *card }]),
                    None => Step::none(),
                }
            }
            Event::ReaderLost => {
                self.volatile.card_open = false;
                Step::none()
            }
            _ => Step::none(),
        }
    }

    /// What the payment that is being reversed was approved with; `None` when that is not known since the last start.
    #[must_use]
    pub fn whole_to_reverse(&self) -> Option<Amount> {
        self.volatile.reversal.whole
    }

    /// Our reference at the gateway.
    pub(super) fn our_reference(&self) -> &str {
        &self.order.merchant_transaction_id
    }

    /// The question what became of it, and of requests of its own.
    pub(super) fn query(&self, own: Option<&str>) -> Action {
        let own = own.filter(|own| *own != self.our_reference());
        let unanswered = match &self.state {
            State::Reversing(reversing) => reversing.unanswered.as_slice(),
            _ => &[],
        };
        let unanswered = unanswered.iter().map(|one| one.reference.as_str());
        let references = [self.our_reference()].into_iter().chain(own).chain(unanswered).map(str::to_owned);
        Action::Query { references: references.collect() }
    }

    /// Takes it up where the records end. Nothing is known of a request that the power may have cut: it is looked up.
    pub(super) fn look_for_reversal(&mut self, now: Now) -> Step {
        self.volatile.reversal.due = Some(now.monotonic);
        self.try_again(now)
    }

    /// Sends the reversal when it surely has not been sent; otherwise looks first. What is left of a payment is asked
    /// for by a look alone: the one before may have shown something that is not decided, or that a person must see to.
    fn try_again(&mut self, now: Now) -> Step {
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        let timers = &mut self.volatile.reversal;
        timers.in_flight = true;
        let fresh = timers.reckoned.is_some_and(|at| now.monotonic.saturating_sub(at) <= FRESH);
        match &reversing.open {
            Some(open) if timers.certainly_unsent && fresh && !timers.look_first && !reversing.keep => {
                Step::act([asked_before(open)])
            }
            open => {
                let own = open.as_ref().map(|open| open.reference.clone());
                Step::act([self.query(own.as_deref())])
            }
        }
    }

    fn inquired(&mut self, inquiry: Inquiry, now: Now, deadlines: Deadlines) -> Step {
        let found = match inquiry {
            Inquiry::Payments(found) => found,
            Inquiry::CannotAsk { why } => return self.cannot_ask(now, why),
        };
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        if let Some(strange) = look_up::strange_kind(&found, self.our_reference()) {
            return self.quarantine(look_up::another_kind(strange), now);
        }
        let mut is = reversing.clone();
        let timers = &mut self.volatile.reversal;
        // Absent is what no look has shown for all of the time.
        if payments(&found).any(|one| one.state != FoundState::Declined) {
            timers.first_absent = None;
        }
        timers.not_listed.take_if(|(id, _)| payments(&found).any(|one| one.id == *id));
        // Unless all of this list allows that something leaves, the next thing that does is reckoned from another one.
        self.volatile.reversal.look_first = true;
        self.volatile.reversal.reckoned = Some(now.monotonic);
        let mut first = Step::none();
        // Our reference tells what became of our request.
        let own = match is.open.as_ref().map(|open| look_up::own(open, &found)).transpose() {
            Ok(own) => own,
            Err(doubt) => {
                let timers = &mut self.volatile.reversal;
                (timers.reversal_absent, timers.reversal_absent_since) = (0, None);
                return self.doubted(doubt, now);
            }
        };
        if let (Some(Own::Done(id, amount)), Some(open)) = (&own, &is.open) {
            let (payment, asked) = (open.payment.id.clone(), open.payment.amount);
            let done = Record::ReversalDone { payment, reversal: id.clone(), amount: Some(*amount) };
            is.apply(&done, self.our_reference());
            first = with_alarm_of_a_part(Step::write([done]), *amount, asked);
        }
        let mut step = self.charged_or_not(&is, own.as_ref(), &found, now, deadlines);
        if let Some(why) = look_up::told_otherwise(&is, &found).filter(|_| !step.records.is_empty()) {
            step = step.alarm(why);
        }
        first.records.extend(step.records);
        first.then(step.actions)
    }

    /// Asks for what is left of a payment under our reference; without one it is the end, or a wait.
    fn charged_or_not(
        &mut self,
        is: &Reversing,
        own: Option<&Own>,
        found: &[Found],
        now: Now,
        deadlines: Deadlines,
    ) -> Step {
        // A request without an answer comes first: its payment is still being looked after.
        let open = is.open.as_ref().filter(|_| !self.volatile.reversal.certainly_unsent);
        let is_open = |one: &Found| open.is_some_and(|open| open.payment.id == one.id);
        let mut charged: Vec<&Found> = payments(found).filter(|one| may_be_charged(one)).collect();
        for one in &charged {
            let seen = &self.volatile.reversal.seen;
            if seen.len() < MOST_SEEN
                && !seen.iter().any(|before| before.id == one.id)
                && let Some(amount) = self.amount_of(one)
            {
                self.volatile.reversal.seen.push(Payment { id: one.id.clone(), amount });
            }
        }
        charged.sort_by_key(|one| !is_open(one));
        for one in charged {
            let known = is.known.as_ref().filter(|known| known.id == one.id);
            // The answer itself named it: its own amount is what must go back.
            let Some(amount) = self.amount_of(one).or(known.map(|known| known.amount)) else {
                let why = Reason::AnotherAmountDone.with(&one.id);
                return self.quarantine(why, now);
            };
            let payment = Payment { id: one.id.clone(), amount };
            match look_up::left(is, &payment, found) {
                Ok(None) => {}
                Ok(Some(left)) if is.keep => return self.keep_the_only_one(is, &payment.id, left, found, now),
                Ok(Some(left)) => {
                    self.volatile.reversal.whole = Some(payment.amount);
                    let step = self.ask_for_the_rest(is, own, Payment { id: payment.id, amount: left }, now, deadlines);
                    return match &is.known {
                        // Another one than the answer named: it goes back like every match, and somebody must hear of
                        // it.
                        Some(known) if known.id != one.id => step.alarm(Reason::SecondPayment.with(&one.id)),
                        _ => step,
                    };
                }
                Err(doubt) => return self.doubted(doubt, now),
            }
        }
        // Another one under our reference may still be approved, whatever went back of the others.
        if let Some(one) = payments(found).find(|one| one.state == FoundState::Undecided) {
            let id = one.id.clone();
            return self.undecided(&id, now);
        }
        if let Some(step) = self.charged_and_not_shown(is, found, now, deadlines) {
            return step;
        }
        if is.known.is_some() || !is.done.is_empty() || payments(found).any(may_be_charged) {
            return self.end_reversed();
        }
        if payments(found).next().is_some() {
            return self.end_settled(Outcome::Declined { why: Reason::BankDeclined.into() });
        }
        if !self.absence_is_final(now, deadlines) {
            // A late approval would be reversed.
            return self.wait(now, Reason::NotListedYet);
        }
        if self.was_listed {
            return self.quarantine(Reason::NotListedAnyMore, now);
        }
        self.end_settled(Outcome::Reversed { why: Reason::NeverReceived.into() })
    }

    /// What a person keeps is one payment: whether there is another one must be known, and that one is for a person
    /// too.
    fn keep_the_only_one(&mut self, is: &Reversing, id: &PaymentId, left: Amount, found: &[Found], now: Now) -> Step {
        let is_back = |one: &Found| {
            let payment = self.amount_of(one).map(|amount| Payment { id: one.id.clone(), amount });
            payment.is_some_and(|payment| look_up::left(is, &payment, found) == Ok(None))
        };
        let mut others = payments(found).filter(|one| one.id != *id);
        match others.find(|one| one.state != FoundState::Declined && !is_back(one)) {
            None => self.kept(id, left),
            Some(one) if one.state == FoundState::Undecided => self.undecided(&one.id.clone(), now),
            Some(one) => self.quarantine(Reason::SecondPayment.with(&one.id), now),
        }
    }

    /// The gateway has it, and has not decided: written once, for what it has had is not absent later.
    fn undecided(&mut self, id: &PaymentId, now: Now) -> Step {
        let listed = (!self.was_listed).then(|| Record::Pending { payment: id.to_owned() });
        let mut step = self.wait(now, Reason::NotDecidedYet);
        step.records.extend(listed);
        step
    }

    /// What the gateway approved, or listed as approved, and now does not show as charged, though not all of it went
    /// back: a list without it proves nothing, however old it is.
    fn charged_and_not_shown(
        &mut self,
        is: &Reversing,
        found: &[Found],
        now: Now,
        deadlines: Deadlines,
    ) -> Option<Step> {
        let mut seen: Vec<Payment> = Vec::new();
        for payment in is.known.iter().chain(&self.volatile.reversal.seen).chain(&is.asked) {
            if !seen.iter().any(|one| one.id == payment.id) {
                seen.push(payment.clone());
            }
        }
        for payment in &seen {
            match look_up::left(is, payment, found) {
                Ok(None) => continue,
                Ok(Some(_)) => {}
                Err(doubt) => return Some(self.doubted(doubt, now)),
            }
            let id = &payment.id;
            let listed = payments(found).find(|one| one.id == *id);
            if listed.is_some_and(may_be_charged) {
                continue;
            }
            if listed.is_some_and(|one| one.state == FoundState::Undecided) {
                return Some(self.undecided(id, now));
            }
            if listed.is_some() {
                return Some(self.quarantine(Reason::ListContradicts.with(id), now));
            }
            let why = Reason::NotListedAnyMore.with(id);
            return Some(if self.is_not_listed_for_good(id, now, deadlines) {
                self.quarantine(why, now)
            } else {
                self.wait(now, why)
            });
        }
        None
    }

    /// What is left goes back: under a new reference, or, when a request for it has no answer, under that one again and
    /// only when the gateway has not known it for long enough.
    fn ask_for_the_rest(
        &mut self,
        is: &Reversing,
        own: Option<&Own>,
        rest: Payment,
        now: Now,
        deadlines: Deadlines,
    ) -> Step {
        if let Some(why) = self.volatile.reversal.refused.take() {
            // Whoever asks the gateway's operator needs the payment's id.
            let said = why.detail.unwrap_or_else(|| why.reason.to_string());
            return self.quarantine(Reason::ReversalRefused.with(format_args!("{}, {said}", rest.id)), now);
        }
        let timers = &mut self.volatile.reversal;
        let next = is.next_reference(&self.order.merchant_transaction_id);
        let Some(open) = is.open.as_ref().filter(|open| open.payment.id == rest.id) else {
            if is.unanswered.iter().any(|one| one.payment.id == rest.id) {
                let since = *timers.reversal_absent_since.get_or_insert(now.monotonic);
                if now.monotonic.saturating_sub(since) < deadlines.absence_final {
                    return self.wait(now, Reason::ReversalOnItsWay);
                }
            }
            timers.certainly_unsent = true;
            return self.ask_anew(rest, next);
        };
        if let Some(Own::Declined(times)) = own
            && *times >= open.tries
        {
            timers.certainly_unsent = true;
            return self.ask_anew(rest, next);
        }
        if timers.certainly_unsent {
            if is_whole(&open.payment, &rest) {
                timers.look_first = false;
                return Step::act([asked_before(open)]);
            }
            return self.ask_anew(rest, next);
        }
        timers.reversal_absent += 1;
        let since = *timers.reversal_absent_since.get_or_insert(now.monotonic);
        let absent = now.monotonic.saturating_sub(since);
        let quiet = timers.reversal_absent >= LOOKS_BEFORE_SENDING && absent >= deadlines.resend;
        if quiet && is_whole(&open.payment, &rest) && own == Some(&Own::Absent) {
            (timers.reversal_absent, timers.reversal_absent_since) = (0, None);
            return self.ask_anew(rest, open.reference.clone());
        }
        if absent >= deadlines.absence_final {
            // Whatever was sent under the open reference does not come any more.
            timers.certainly_unsent = true;
            return self.ask_anew(rest, next);
        }
        self.wait(now, Reason::ReversalNotListed)
    }

    fn ask_anew(&mut self, payment: Payment, reference: String) -> Step {
        self.volatile.reversal.look_first = false;
        ask_reversal(payment, reference)
    }

    fn doubted(&mut self, doubt: Doubt, now: Now) -> Step {
        match doubt {
            Doubt::Wait(why) => self.wait(now, why),
            Doubt::Person(why) => self.quarantine(why, now),
        }
    }

    /// A payment that is not there now will not come any more: it is old enough by the wall clock, and, since that
    /// clock may have jumped, it was not there for a good while of this process either. What this process itself has
    /// watched for all of the time needs no wall clock: a sale may have begun under one that was a year ahead.
    fn absence_is_final(&mut self, now: Now, deadlines: Deadlines) -> bool {
        let first_absent = *self.volatile.reversal.first_absent.get_or_insert(now.monotonic);
        is_final(first_absent, self.begun_unix_ms, now, deadlines)
    }

    /// The same of one payment, when others are listed.
    fn is_not_listed_for_good(&mut self, id: &PaymentId, now: Now, deadlines: Deadlines) -> bool {
        let before = self.volatile.reversal.not_listed.take().filter(|(before, _)| before == id);
        let since = before.map_or(now.monotonic, |(_, since)| since);
        self.volatile.reversal.not_listed = Some((id.to_owned(), since));
        is_final(since, self.begun_unix_ms, now, deadlines)
    }

    fn reversal_answered(&mut self, reference: &str, reversal: Reversal, now: Now) -> Step {
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        // The answer to an earlier request (before a restart, of another match) says nothing about this one: look.
        let Some(asked) = reversing.open.clone().filter(|asked| asked.reference == reference) else {
            return self.wait(now, Reason::StrayAnswer);
        };
        let timers = &mut self.volatile.reversal;
        match reversal {
            Reversal::Done { id, .. } if reversing.done.iter().any(|done| done.id == id) => {
                timers.certainly_unsent = false;
                self.wait(now, Reason::StrayAnswer.with(id))
            }
            Reversal::Done { id, amount } => match look_up::said(amount, asked.payment.amount) {
                Some(minor) if minor.minor() <= asked.payment.amount.minor() => {
                    self.reversed(asked, id, minor, amount != ApprovedAmount::NotSaid)
                }
                _ => {
                    timers.certainly_unsent = false;
                    let why = look_up::another_amount(&id);
                    self.quarantine(why, now)
                }
            },
            Reversal::NotSent { why } => {
                timers.reckoned.get_or_insert(now.monotonic);
                self.wait(now, why)
            }
            Reversal::HeldBack { why, for_person } => {
                timers.look_first = true;
                if for_person { self.quarantine(why, now) } else { self.wait(now, why) }
            }
            Reversal::Unknown { why } => {
                timers.certainly_unsent = false;
                self.wait(now, why)
            }
            Reversal::Refused { why } => {
                timers.certainly_unsent = false;
                timers.refused = Some(why);
                Step::act([self.query(Some(reference))])
            }
        }
    }

    /// The gateway confirmed a reversal: the end, the rest of a payment that is known, or another look. One also where
    /// the answer did not say how much it was.
    fn reversed(&mut self, asked: Request, id: PaymentId, amount: Amount, is_said: bool) -> Step {
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        let record = Record::ReversalDone { payment: asked.payment.id.clone(), reversal: id, amount: Some(amount) };
        let mut is = reversing.clone();
        is.apply(&record, self.our_reference());
        let done = with_alarm_of_a_part(Step::write([record]), amount, asked.payment.amount);
        let named = is.known.as_ref().is_some_and(|known| known.id == asked.payment.id);
        let next = match is.known_rest() {
            // Found by a look: look again, every approved match must go.
            _ if !named || !is_said => Step::act([self.query(None)]),
            None => self.end_reversed(),
            Some(rest) => {
                self.volatile.reversal.certainly_unsent = true;
                self.ask_anew(rest, is.next_reference(self.our_reference()))
            }
        };
        let mut step = done;
        step.records.extend(next.records);
        step.then(next.actions)
    }

    fn quarantine(&mut self, why: impl Into<Why>, now: Now) -> Step {
        let why = why.into();
        let timers = &mut self.volatile.reversal;
        timers.in_flight = false;
        timers.due = Some(now.monotonic + QUARANTINE_WAIT);
        let print = !std::mem::replace(&mut timers.printed, true);
        if self.quarantined_as(&why) {
            return Step::none();
        }
        Step::write([Record::Quarantined { why: why.clone() }])
            .then([Action::Tell])
            .alarm(why)
            .then(print.then_some(Action::Print(Paper::Copies)))
    }

    /// The question itself is not answered. It may never be, so somebody must hear of it; once for each reason.
    fn cannot_ask(&mut self, now: Now, why: Why) -> Step {
        let new = self.volatile.reversal.trouble.as_ref() != Some(&why);
        let step = self.wait(now, why.clone());
        if new { step.alarm(why) } else { step }
    }

    /// Tries again later, less and less often. The cashier gets a receipt that says
    /// "not confirmed" the first time.
    fn wait(&mut self, now: Now, trouble: impl Into<Why>) -> Step {
        let timers = &mut self.volatile.reversal;
        timers.in_flight = false;
        timers.trouble = Some(trouble.into());
        timers.tries = timers.tries.saturating_add(1);
        timers.due = Some(now.monotonic + back_off::wait(&self.order.merchant_transaction_id, timers.tries));
        let print = !std::mem::replace(&mut timers.printed, true);
        Step::act(print.then_some(Action::Print(Paper::Copies)))
    }

    fn end_reversed(&mut self) -> Step {
        let State::Reversing(reversing) = &self.state else {
            return Step::none();
        };
        let why = reversing.why.clone();
        self.end_settled(Outcome::Reversed { why })
    }

    fn end_settled(&mut self, outcome: Outcome) -> Step {
        self.volatile.reversal = Timers::default();
        let ended = Step::write([Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None }])
            .then([Action::Tell]);
        // A card that is still open prints with its last word.
        if self.volatile.card_open { ended } else { ended.then([Action::Print(Paper::Copies)]) }
    }

    fn is_quarantined(&self) -> bool {
        matches!(&self.state, State::Reversing(reversing) if reversing.quarantined.is_some())
    }

    fn quarantined_as(&self, why: &Why) -> bool {
        matches!(&self.state, State::Reversing(reversing) if reversing.quarantined.as_ref() == Some(why))
    }

    /// The amount to reverse, when a found payment is ours: amount and currency must match too. A partial approval is
    /// ours as well.
    fn amount_of(&self, payment: &Found) -> Option<Amount> {
        look_up::said(payment.amount, self.amount).filter(|said| said.minor() <= self.amount.minor())
    }
}

/// Whether what was first absent then, and sent at that time of the wall clock, does not come any more.
pub(super) fn is_final(first_absent: Duration, sent_unix_ms: i64, now: Now, deadlines: Deadlines) -> bool {
    let age_ms = now.unix_ms.saturating_sub(sent_unix_ms);
    let old = u128::try_from(age_ms).unwrap_or(0) >= deadlines.absence_final.as_millis();
    let watched = now.monotonic.saturating_sub(first_absent);
    watched >= deadlines.absence_final || (old && watched >= WATCHED_ABSENCE)
}

/// No gateway should reverse a part of what it was asked for.
fn with_alarm_of_a_part(step: Step, amount: Amount, asked: Amount) -> Step {
    if amount == asked {
        return step;
    }
    step.alarm(Reason::ReversedInPart.with(amount))
}

/// A request that is written down and has certainly not left: it needs no second record, and was not tried once more.
fn asked_before(open: &Request) -> Action {
    let Payment { id, amount } = open.payment.clone();
    Action::Reverse { payment: id, amount, reference: open.reference.clone() }
}

fn ask_reversal(payment: Payment, reference: String) -> Step {
    let asked = Record::ReversalAsked { payment: payment.clone(), reference: Some(reference.clone()) };
    Step::write([asked]).then([Action::Reverse { payment: payment.id, amount: payment.amount, reference }])
}
