//! The decision after a look-up of a payment that is to be reversed. The amount that is still charged is reversed. The
//! transaction ends only when it is certain that no charge is left.

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::look_up::{self, Inconclusive, OwnReversal, may_be_charged, payments};
use super::resolution::{Absence, alarm_of_a_part};
use super::reversals::RecordedReversal;
use super::reversing::Undoing;
use super::{ApprovedAmount, Cause, ListedState, ListedTransaction, Outcome, Payment, Reason, Record, Step};

/// The maximum number of remembered payments. No gateway books this many for one request.
const MOST_SEEN: usize = 64;

impl Undoing<'_> {
    pub(super) fn looked(&mut self, found: &[ListedTransaction]) -> Step {
        if let Some(strange) = look_up::strange_kind(found, self.sale.our_reference()) {
            return self.quarantine(look_up::another_kind(strange));
        }
        let volatile = &mut *self.volatile;
        if payments(found).any(|one| one.state != ListedState::Declined) {
            volatile.payment_absence.ends();
        }
        let is_known = |one: &ListedTransaction| self.recorded.known.as_ref().is_some_and(|known| known.id == one.id);
        if payments(found).any(is_known) {
            volatile.unshown = None;
        } else {
            volatile.unshown.get_or_insert(self.now.monotonic);
        }
        volatile.not_listed.take_if(|(id, _)| payments(found).any(|one| one.id == *id));
        // Unless the evaluation of this list allows a request, the next request needs an amount from another look-up.
        volatile.look_first = true;
        volatile.reckoned = Some(self.now.monotonic);
        // The entry with the reversal's own reference shows the outcome of the reversal.
        let own = match self.recorded.open.as_ref().map(|open| look_up::own(open, found)).transpose() {
            Ok(own) => own,
            Err(inconclusive) => {
                volatile.resolution.absence.ends();
                return self.inconclusive(inconclusive);
            }
        };
        let mut is = self.recorded.clone();
        let mut first = Step::none();
        if let (Some(OwnReversal::CarriedOut { id, amount }), Some(open)) = (&own, &self.recorded.open) {
            let payment = open.payment.id.clone();
            let done = Record::ReversalDone { payment, reversal: id.clone(), amount: Some(*amount) };
            is.apply(&done, self.sale.our_reference());
            first = alarm_of_a_part(Step::write([done]), *amount, open.payment.amount);
        }
        let mut step = self.charged_or_not(&is, own.as_ref(), found);
        if let Some(why) = look_up::told_otherwise(&is, found).filter(|_| !step.records.is_empty()) {
            step = step.alarm(why);
        }
        first.and(step)
    }

    /// Requests the reversal of the remaining amount of a payment with the transaction's reference. Without such a
    /// payment, the transaction ends or waits. `is` is the recorded state after the result of this look-up is written.
    fn charged_or_not(
        &mut self,
        is: &RecordedReversal,
        own: Option<&OwnReversal>,
        found: &[ListedTransaction],
    ) -> Step {
        // A request without an answer comes first, because its payment is still being resolved.
        let open = is.open.as_ref().filter(|_| !self.volatile.certainly_unsent);
        let is_open = |one: &ListedTransaction| open.is_some_and(|open| open.payment.id == one.id);
        let mut charged: Vec<_> = payments(found).filter(|one| may_be_charged(one)).collect();
        self.remember_as_charged(&charged);
        charged.sort_by_key(|one| !is_open(one));
        for one in charged {
            let known = is.known.as_ref().filter(|known| known.id == one.id);
            let Some(amount) = self.booked(one, known) else {
                return self.quarantine(Reason::AnotherAmountDone.with(&one.id));
            };
            let payment = Payment { id: one.id.clone(), amount };
            match look_up::left(is, &payment, found) {
                Ok(None) => {}
                // The agent tells the till that a payment is kept only if it is certainly charged.
                Ok(Some(_)) if is.keep && one.state == ListedState::Unclear => {
                    return self.quarantine(Reason::CodeUnknown.with(&one.id));
                }
                Ok(Some(left)) if is.keep => return self.keep_the_only_one(is, &payment.id, left, found),
                Ok(Some(left)) => {
                    self.volatile.whole = Some(payment.amount);
                    let step = self.ask_for_the_rest(is, own, Payment { id: payment.id.clone(), amount: left });
                    return match &is.known {
                        // The answer did not name this payment. It is reversed like every match, and a person is
                        // alarmed.
                        Some(known) if known.id != one.id => step.alarm(Reason::SecondPayment.with(&one.id)),
                        // The gateway answered one amount and booked another.
                        Some(known) if known.amount != payment.amount && !step.records.is_empty() => {
                            step.alarm(Reason::AnotherAmountDone.with(&one.id))
                        }
                        _ => step,
                    };
                }
                Err(inconclusive) => return self.inconclusive(inconclusive),
            }
        }
        // Another payment with the transaction's reference may still be approved, even if the others were reversed.
        if let Some(one) = payments(found).find(|one| one.state == ListedState::Undecided) {
            return self.undecided(&one.id);
        }
        self.charged_and_not_shown(is, found).unwrap_or_else(|| self.nothing_is_charged(is, found))
    }

    /// Ends the transaction, or waits as long as the payment may still appear.
    fn nothing_is_charged(&mut self, is: &RecordedReversal, found: &[ListedTransaction]) -> Step {
        let is_listed = |known: &Payment| payments(found).any(|one| one.id == known.id);
        // The answered amount was reversed, and no list has shown yet whether more was booked.
        if is.in_doubt && !is.known.as_ref().is_some_and(is_listed) && !self.absence_is_final() {
            return self.wait(Reason::NotListedYet);
        }
        if is.known.is_some() || !is.confirmed.is_empty() || payments(found).any(may_be_charged) {
            return self.end_reversed();
        }
        if payments(found).next().is_some() {
            let said = self.sale.host.description.clone().filter(|_| self.sale.decline_was_doubted);
            return self.end(Outcome::Declined { why: Cause { reason: Reason::BankDeclined, detail: said } });
        }
        if !self.absence_is_final() {
            // An approval that appears late is reversed.
            return self.wait(Reason::NotListedYet);
        }
        if self.sale.was_listed {
            return self.quarantine(Reason::NotListedAnyMore);
        }
        self.end(Outcome::Reversed { why: Reason::NeverReceived.into() })
    }

    fn remember_as_charged(&mut self, charged: &[&ListedTransaction]) {
        for one in charged {
            let seen = &self.volatile.seen;
            if seen.len() < MOST_SEEN
                && !seen.iter().any(|before| before.id == one.id)
                && let Some(amount) = self.amount_of(one)
            {
                self.volatile.seen.push(Payment { id: one.id.clone(), amount });
            }
        }
    }

    /// Keeps the payment that a person decided to keep. First it must be known whether there is another payment. A
    /// person also decides about that one.
    fn keep_the_only_one(
        &mut self,
        is: &RecordedReversal,
        id: &PaymentId,
        left: Amount,
        found: &[ListedTransaction],
    ) -> Step {
        let is_back = |one: &ListedTransaction| {
            let payment = self.amount_of(one).map(|amount| Payment { id: one.id.clone(), amount });
            payment.is_some_and(|payment| look_up::left(is, &payment, found) == Ok(None))
        };
        let mut others = payments(found).filter(|one| one.id != *id);
        match others.find(|one| one.state != ListedState::Declined && !is_back(one)) {
            None => self.sale.stays_charged(id, left),
            Some(one) if one.state == ListedState::Undecided => self.undecided(&one.id),
            Some(one) => self.quarantine(Reason::SecondPayment.with(&one.id)),
        }
    }

    /// Waits for a payment that the gateway has not decided. This is recorded once, because a payment that the gateway
    /// has received cannot be absent later.
    fn undecided(&mut self, id: &PaymentId) -> Step {
        let listed = (!self.sale.was_listed).then(|| Record::Pending { payment: id.clone() });
        let mut step = self.wait(Reason::NotDecidedYet);
        step.records.extend(listed);
        step
    }

    /// Handles a payment that was approved but is no longer listed as charged, although it was not fully reversed. The
    /// approval was in an answer or in a list. A list without the payment proves nothing, no matter how old the payment
    /// is.
    fn charged_and_not_shown(&mut self, is: &RecordedReversal, found: &[ListedTransaction]) -> Option<Step> {
        let mut seen: Vec<Payment> = Vec::new();
        for payment in is.known.iter().chain(&self.volatile.seen).chain(&is.asked) {
            if !seen.iter().any(|one| one.id == payment.id) {
                seen.push(payment.clone());
            }
        }
        for payment in &seen {
            match look_up::left(is, payment, found) {
                Ok(None) => continue,
                Ok(Some(_)) => {}
                Err(inconclusive) => return Some(self.inconclusive(inconclusive)),
            }
            let id = &payment.id;
            let listed = payments(found).find(|one| one.id == *id);
            if listed.is_some_and(may_be_charged) {
                continue;
            }
            if listed.is_some_and(|one| one.state == ListedState::Undecided) {
                return Some(self.undecided(id));
            }
            if listed.is_some() {
                return Some(self.quarantine(Reason::ListContradicts.with(id)));
            }
            let why = Reason::NotListedAnyMore.with(id);
            return Some(if self.is_not_listed_for_good(id) { self.quarantine(why) } else { self.wait(why) });
        }
        None
    }

    /// Reverses the remaining amount under a new reference. If a request for it has no answer, it is sent again under
    /// its own reference, once look-ups have not shown it for long enough.
    fn ask_for_the_rest(&mut self, is: &RecordedReversal, own: Option<&OwnReversal>, rest: Payment) -> Step {
        if let Some(why) = self.volatile.refused.take() {
            // A person needs the payment id to ask the gateway's operator.
            let said = why.detail.unwrap_or_else(|| why.reason.to_string());
            return self.quarantine(Reason::ReversalRefused.with(format_args!("{}, {said}", rest.id)));
        }
        let (now, deadlines) = (self.now, self.deadlines);
        let volatile = &mut *self.volatile;
        let next = is.next_reference(self.sale.our_reference());
        let Some(open) = is.open.as_ref().filter(|open| open.payment.id == rest.id) else {
            let is_unanswered = is.unanswered.iter().any(|one| one.payment.id == rest.id);
            if is_unanswered && volatile.resolution.absence.lasts(now) < deadlines.absence_final {
                return self.wait(Reason::ReversalOnItsWay);
            }
            volatile.certainly_unsent = true;
            return self.ask_anew(rest, next);
        };
        if let Some(OwnReversal::Declined { times }) = own
            && *times >= open.tries
        {
            volatile.certainly_unsent = true;
            return self.ask_anew(rest, next);
        }
        if volatile.certainly_unsent {
            if open.is_whole(&rest) {
                volatile.look_first = false;
                return Step::act([open.leaves()]);
            }
            return self.ask_anew(rest, next);
        }
        let absence = &mut volatile.resolution.absence;
        absence.looked(now);
        // If more is booked than the answer named, the reversal was requested for exactly the answered amount.
        let is_the_same = if is.in_doubt { open.is_within(&rest) } else { open.is_whole(&rest) };
        if absence.is_quiet(now, deadlines) && is_the_same && own == Some(&OwnReversal::NotListed) {
            absence.ends();
            return self.ask_anew(open.payment.clone(), open.reference.clone());
        }
        if absence.lasts(now) >= deadlines.absence_final {
            // A request under the open reference can no longer arrive.
            volatile.certainly_unsent = true;
            return self.ask_anew(rest, next);
        }
        self.wait(Reason::ReversalNotListed)
    }

    fn inconclusive(&mut self, list: Inconclusive) -> Step {
        match list {
            Inconclusive::LookAgain(why) => self.wait(why),
            Inconclusive::ForPerson(why) => self.quarantine(why),
        }
    }

    /// Returns whether an absent payment can no longer appear.
    fn absence_is_final(&mut self) -> bool {
        self.volatile.payment_absence.is_final(self.sale.begun_unix_ms, self.now, self.deadlines)
    }

    /// Returns whether this payment can no longer appear, although others may be listed.
    fn is_not_listed_for_good(&mut self, id: &PaymentId) -> bool {
        let before = self.volatile.not_listed.take().filter(|(before, _)| before == id);
        let absence = before.map_or_else(Absence::default, |(_, absence)| absence);
        let (_, absence) = self.volatile.not_listed.insert((id.clone(), absence));
        absence.is_final(self.sale.begun_unix_ms, self.now, self.deadlines)
    }

    /// Returns the amount of a listed payment. If the list names none, this is the answered amount. An answered amount
    /// that is too high or in another currency counts only if the list names the same amount.
    fn booked(&self, one: &ListedTransaction, known: Option<&Payment>) -> Option<Amount> {
        match (one.amount, known) {
            (ApprovedAmount::NotSaid | ApprovedAmount::Unreadable, Some(known)) => Some(known.amount),
            (ApprovedAmount::Said(said), Some(known)) if said == known.amount => Some(said),
            _ => self.amount_of(one),
        }
    }

    /// Returns the amount to reverse, if a listed payment has the requested currency and at most the requested amount.
    /// A partial approval is included.
    fn amount_of(&self, payment: &ListedTransaction) -> Option<Amount> {
        let asked = self.sale.amount;
        look_up::said(payment.amount, asked).filter(|said| said.minor() <= asked.minor())
    }
}
