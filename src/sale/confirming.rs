//! What follows a capture, refund, reversal or credit without an answer: look up, and carry it out if it was not, for
//! as long as it takes (design: path of a sale, 9).
//!
//! Undoing it would be no safer than finishing it, so it is finished: found approved, it is done; found declined, it is
//! declined. Not found, it is sent again under the same reference, written down before; and each is carried out **at
//! most once** (design: invariant 11), so when that may be depends on what a request that arrives late could do twice:
//!
//! | | sent again |
//! |---|---|
//! | reversal | after `resend-after-s`: what is reversed already is not reversed again |
//! | capture, refund | when its absence is final; after `resend-after-s` if the gateway refuses repeated references |
//! | credit | never: its card is gone. When its absence is final it was not carried out |
//!
//! From the first doubt on no answer to a request ends it but an approval: what is declined or not sent the second time
//! may have been carried out the first. So a listed decline is the end only when every try is listed so, or none can
//! come any more.

use std::time::Duration;

use super::back_off;
use super::decide::outcome_of;
use super::look_up;
use super::reversing::{LOOKS_BEFORE_SENDING, is_final};
use super::{
    Action, Answer, ApprovedAmount, CardAnswer, Deadlines, Event, Found, FoundState, HostFacts, Inquiry, Now, Outcome,
    Paper, Reason, Record, Sale, State, Step, Why,
};
use crate::transaction::{Kind, PaymentId};

/// What a person mended at the gateway is noticed within a day.
const QUARANTINE_WAIT: Duration = Duration::from_secs(24 * 3600);
/// What the records say.
#[derive(Clone, Debug)]
pub(super) struct Confirming {
    /// What happened.
    pub(super) why: Why,
    /// Retrying cannot mend it.
    pub(super) quarantined: Option<Why>,
}

/// What a power cut may forget.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    due: Option<Duration>,
    in_flight: bool,
    tries: u32,
    /// Looks in a row that did not find it, and when the first of them was answered.
    absent: u32,
    absent_since: Option<Duration>,
    /// The receipt "not confirmed" was printed.
    printed: bool,
    trouble: Option<Why>,
}

impl Timers {
    pub(super) fn due(&self) -> Option<Duration> {
        if self.in_flight { None } else { self.due }
    }

    pub(super) fn trouble(&self) -> Option<&Why> {
        self.trouble.as_ref()
    }
}

impl Confirming {
    pub(super) fn new(why: Why) -> Self {
        Self { why, quarantined: None }
    }

    pub(super) fn apply(&mut self, record: &Record) {
        if let Record::Quarantined { why } = record {
            self.quarantined = Some(why.clone());
        }
    }
}

impl Sale {
    /// Begins to look: written first, then the till is told and the gateway asked.
    pub(super) fn confirm(&mut self, why: impl Into<Why>) -> Step {
        self.volatile.poll = None;
        self.volatile.throttled = None;
        let timers = &mut self.volatile.confirming;
        timers.in_flight = true;
        timers.absent = 0;
        timers.absent_since = None;
        let query = self.query(None);
        let step = Step::write([Record::Confirming { why: why.into() }]);
        // The card of a credit has not had its answer yet.
        let waits = self.volatile.card_open && matches!(self.state, State::Asked);
        step.then(waits.then(|| Action::AnswerCard(Box::new(CardAnswer::decline())))).then([Action::Tell, query])
    }

    pub(super) fn handle_confirming(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        match event {
            Event::Restarted => self.look(),
            Event::DeadlinePassed if self.volatile.confirming.due().is_some_and(|due| due <= now.monotonic) => {
                self.look()
            }
            Event::Nudged if self.volatile.confirming.due().is_some() && !self.is_in_quarantine() => self.look(),
            Event::Inquired(Inquiry::CannotAsk { why }) => {
                let new = self.volatile.confirming.trouble() != Some(&why);
                let step = self.look_later(now, why.clone());
                if new { step.alarm(why) } else { step }
            }
            Event::Inquired(Inquiry::Payments(found)) => self.looked(&found, now, deadlines),
            Event::CardSaid { .. } | Event::ReaderLost => {
                self.volatile.card_open = false;
                Step::none()
            }
            // The answer to an earlier request says what became of it, however late.
            Event::Answered(Answer::Approved(approval)) => {
                self.carried_out(&approval.id, approval.amount, Some(approval.facts), now)
            }
            _ => Step::none(),
        }
    }

    fn look(&mut self) -> Step {
        self.volatile.confirming.in_flight = true;
        Step::act([self.query(None)])
    }

    fn looked(&mut self, found: &[Found], now: Now, deadlines: Deadlines) -> Step {
        let (kind, reference) = (self.order.kind().payment_type(), self.order.merchant_transaction_id.clone());
        let same_kind = || found.iter().filter(|one| one.payment_type == kind);
        if same_kind().any(|one| one.reference.is_none()) {
            return self.needs_a_person(Reason::WhoseIsNotSaid, now);
        }
        let another = |one: &&Found| one.payment_type != kind && one.state != FoundState::Declined;
        if let Some(strange) = found.iter().filter(another).find(|one| one.reference.as_ref() == Some(&reference)) {
            // It carries our reference, so it is not absent; what it did nobody can say.
            return self.needs_a_person(look_up::another_kind(strange), now);
        }
        let ours = || same_kind().filter(|one| one.reference.as_ref() == Some(&reference));
        let mut approved = ours().filter(|one| one.state == FoundState::Approved);
        let undecided = ours().any(|one| one.state == FoundState::Undecided);
        match (approved.next(), approved.next()) {
            // One more may come of it, or has, and then a person must hear of it.
            (Some(_), None) if undecided || ours().any(|one| one.state == FoundState::Unclear) => {}
            (Some(done), None) => return self.carried_out(&done.id.clone(), done.amount, None, now),
            (Some(one), Some(two)) => {
                let why = Reason::DoneTwice.with(format_args!("{}, {}", one.id, two.id));
                return self.needs_a_person(why, now);
            }
            (None, _) => {}
        }
        if ours().any(|one| one.state != FoundState::Declined) {
            // Absent is what no look has shown for all of the time.
            let timers = &mut self.volatile.confirming;
            (timers.absent, timers.absent_since) = (0, None);
        }
        if let Some(one) = ours().find(|one| one.state == FoundState::Undecided) {
            // Written once: what the gateway has had is not absent later.
            let listed = (!self.was_listed).then(|| Record::Pending { payment: one.id.clone() });
            let mut step = self.look_later(now, Reason::NotDecidedYet);
            step.records.extend(listed);
            return step;
        }
        if let Some(one) = ours().find(|one| one.state == FoundState::Unclear) {
            return self.needs_a_person(Reason::CodeUnknown.with(&one.id), now);
        }
        let timers = &mut self.volatile.confirming;
        timers.absent += 1;
        let since = *timers.absent_since.get_or_insert(now.monotonic);
        let nothing_comes = is_final(since, self.asked_unix_ms, now, deadlines);
        let declined = u32::try_from(ours().count()).unwrap_or(u32::MAX);
        if declined >= self.tries.max(1) || (declined > 0 && nothing_comes) {
            return self.confirmed(Outcome::Declined { why: Reason::BankDeclined.into() }, None);
        }
        // What a person must look at is not sent again.
        if let State::Confirming(Confirming { quarantined: Some(why), .. }) = &self.state {
            let why = why.clone();
            return self.needs_a_person(why, now);
        }
        if declined > 0 {
            return self.look_later(now, Reason::EarlierTryOpen);
        }
        if self.was_listed {
            return if nothing_comes {
                self.needs_a_person(Reason::NotListedAnyMore, now)
            } else {
                self.look_later(now, Reason::NotListedYet)
            };
        }
        // A gateway that is slow may still carry out what it has read.
        let quiet = self.volatile.confirming.absent >= LOOKS_BEFORE_SENDING
            && now.monotonic.saturating_sub(since) >= deadlines.resend;
        let may_go = match self.order.kind() {
            Kind::Reversal => quiet,
            Kind::Credit if nothing_comes => {
                return self.confirmed(Outcome::NotSent { why: Reason::NeverReceived.into() }, None);
            }
            Kind::Credit => false,
            _ => nothing_comes || (quiet && deadlines.refuses_repeats),
        };
        if !may_go {
            return self.look_later(now, Reason::NotListedYet);
        }
        Step::write([Record::Asked { card: None, again_unix_ms: Some(now.unix_ms) }]).then([Action::Ask])
    }

    fn carried_out(&mut self, id: &PaymentId, amount: ApprovedAmount, host: Option<HostFacts>, now: Now) -> Step {
        let asked = self.amount;
        let amount = match amount {
            ApprovedAmount::NotSaid => asked,
            ApprovedAmount::Said(said) if said.currency() == asked.currency() && said.minor() <= asked.minor() => said,
            ApprovedAmount::Said(_) | ApprovedAmount::Unreadable => {
                return self.needs_a_person(look_up::another_amount(id), now);
            }
        };
        let host = host.unwrap_or_else(|| HostFacts { id: Some(id.to_owned()), ..self.host.clone() });
        let step = self.confirmed(outcome_of(amount, asked), Some(host));
        self.alarm_of_a_part(step, amount)
    }

    fn confirmed(&mut self, outcome: Outcome, host: Option<HostFacts>) -> Step {
        let ended =
            Step::write([Record::Ended { outcome, host, card: None, by: None, at_unix_ms: None }]).then([Action::Tell]);
        // A card that is still open prints with its last word.
        if self.volatile.card_open { ended } else { ended.then([Action::Print(Paper::Copies)]) }
    }

    fn needs_a_person(&mut self, why: impl Into<Why>, now: Now) -> Step {
        let why = why.into();
        let timers = &mut self.volatile.confirming;
        timers.in_flight = false;
        timers.due = Some(now.monotonic + QUARANTINE_WAIT);
        match &self.state {
            State::Confirming(confirming) if confirming.quarantined.as_ref() == Some(&why) => Step::none(),
            _ => Step::write([Record::Quarantined { why: why.clone() }]).then([Action::Tell]).alarm(why),
        }
    }

    /// Looks again later, less and less often. The cashier gets a receipt that says "not confirmed" the
    /// first time.
    fn look_later(&mut self, now: Now, trouble: impl Into<Why>) -> Step {
        let timers = &mut self.volatile.confirming;
        timers.in_flight = false;
        timers.trouble = Some(trouble.into());
        timers.tries = timers.tries.saturating_add(1);
        timers.due = Some(now.monotonic + back_off::wait(&self.order.merchant_transaction_id, timers.tries));
        let print = !std::mem::replace(&mut timers.printed, true);
        Step::act(print.then_some(Action::Print(Paper::Copies)))
    }

    fn is_in_quarantine(&self) -> bool {
        matches!(&self.state, State::Confirming(confirming) if confirming.quarantined.is_some())
    }
}
