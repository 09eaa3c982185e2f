//! A transaction that waits for a person, because its journal is an outdated copy. The gateway holds transactions of
//! this terminal that this journal does not contain. The journal therefore does not know what happened to the
//! transaction later. It must not reverse a payment that the agent may have reported to a till as approved (design:
//! path of a sale, 8 to 10). This is the only exception to automatic reversal (design: invariant 2; invariant 3).
//!
//! Captures, refunds, reversals and credits are not held. They are only looked up, under their own references, and the
//! result is valid for both copies of the journal. The outdated copy sends none of them again. The till may have
//! received a failure from the other copy, and may have requested the transaction again. The deletion of a stored card
//! continues, because deleting it twice does no harm.

use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, PaymentId};

use super::awaiting_till::AwaitingTill;
use super::decide::outcome_of;
use super::signature::AtSignature;
use super::state::State;
use super::{Action, Cause, Event, HostFacts, Paper, Reason, Record, Step, Transaction};

impl Transaction {
    /// Holds the transaction if it would otherwise be reversed automatically.
    pub(super) fn hold(&mut self, why: Cause) -> Step {
        match self.state {
            State::AtChip(_) | State::AtSignature(_) | State::AwaitingTill(_) | State::Reversing(_) => {
                let alarm = Action::Alarm { why: why.clone() };
                Step::write([Record::Held { why }]).then([Action::Tell, alarm])
            }
            // According to this journal the request was never sent, but the gateway holds it.
            State::Waiting(_) if self.order.kind().is_undone_when_unknown() => {
                let alarm = Action::Alarm { why: why.clone() };
                let begun = Reason::NotSentInCopy.into();
                let reversing = Record::Reversing { why: begun, payment: None, host: None, by: None };
                Step::write([reversing, Record::Held { why }]).then([Action::Tell, alarm])
            }
            // A later list without the transaction does not prove that it never existed. It is looked up, and never
            // sent again.
            State::Waiting(_) => {
                let why = Cause::from(Reason::NotSentInCopy);
                let mut step = self.confirm(why.clone()).alarm(why.clone());
                step.records.push(Record::Quarantined { why });
                step
            }
            State::Finishing(_) if self.order.kind() == Kind::ForgetCard => Step::none(),
            State::Finishing(ref finishing) if finishing.recorded.quarantined.is_none() => {
                let why = Cause::from(Reason::OpenInCopy);
                Step::write([Record::Quarantined { why: why.clone() }]).then([Action::Tell]).alarm(why)
            }
            _ => Step::none(),
        }
    }

    /// Handles an event of a held transaction. Only a person's decision has an effect.
    pub(super) fn handle_held(&mut self, event: Event) -> Step {
        match event {
            Event::Resolve { keep, by } => self.settled_by_person(keep).by(by),
            // The step records that the card no longer keeps the reader busy.
            Event::CardSaid { .. } | Event::ReaderLost => {
                self.volatile.card_open = false;
                Step::none()
            }
            _ => Step::none(),
        }
    }

    fn settled_by_person(&mut self, keep: bool) -> Step {
        let settled = Record::Settled { keep, by: None };
        let step = match &self.state {
            State::AtSignature(AtSignature { payment, .. }) | State::AwaitingTill(AwaitingTill { payment, .. }) => {
                let payment = Some(payment.clone());
                if keep {
                    // The payment may have been reversed meanwhile. A look-up must confirm it before the agent tells
                    // the till that it is kept.
                    let at_till = matches!(self.state, State::AwaitingTill(_));
                    let why = if at_till { Reason::TillInCopy } else { Reason::SignatureInCopy }.into();
                    let looked = Record::Reversing { why, payment, host: None, by: None };
                    return Step::write([looked, settled]).then([Action::Tell, self.query(None)]);
                }
                self.reverse(Reason::TakenBackByPerson, payment, None)
            }
            State::Reversing(_) => self.reverse_anew().then([Action::Tell]),
            _ => return Step::none(),
        };
        step.after(settled)
    }

    /// Ends a transaction whose payment a person decided to keep.
    pub(super) fn stays_charged(&self, id: &PaymentId, left: Amount) -> Step {
        let host = HostFacts { id: Some(id.clone()), ..self.host.clone() };
        let outcome = outcome_of(left, self.amount);
        Step::write([Record::Ended { outcome, host: Some(host), card: None, by: None, at_unix_ms: None }])
            .then([Action::Tell, Action::Print(Paper::Copies)])
    }
}
