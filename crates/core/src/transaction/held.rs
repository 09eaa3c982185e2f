//! A sale that waits for a person, because its journal was found to be an old copy: the gateway holds transactions of
//! this terminal that this journal does not know, so it cannot know what became of the sale since. What a till was told
//! is approved there may not be reversed here (design: path of a sale, 8 to 10). It is the one
//! exception (design: invariant 2; invariant 3).
//!
//! Captures, refunds, reversals and credits are not held: they are only looked up, under references of their own, and
//! what is found is what became of them in either copy. None of them is sent again by a copy: its till may have heard
//! in the other one that it was not carried out, and have wished it anew. A card to forget goes on: what is forgotten
//! already is not forgotten again.

use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, PaymentId};

use super::awaiting_till::AwaitingTill;
use super::decide::outcome_of;
use super::signature::AtSignature;
use super::state::State;
use super::{Action, Cause, Event, HostFacts, Paper, Reason, Record, Step, Transaction};

impl Transaction {
    /// Holds it, where something would be taken back by itself.
    pub(super) fn hold(&mut self, why: Cause) -> Step {
        match self.state {
            State::AtChip(_) | State::AtSignature(_) | State::AwaitingTill(_) | State::Reversing(_) => {
                let alarm = Action::Alarm { why: why.clone() };
                Step::write([Record::Held { why }]).then([Action::Tell, alarm])
            }
            // By this journal it was never sent; the gateway holds it.
            State::Waiting(_) if self.order.kind().is_undone_when_unknown() => {
                let alarm = Action::Alarm { why: why.clone() };
                let begun = Reason::NotSentInCopy.into();
                let reversing = Record::Reversing { why: begun, payment: None, host: None, by: None };
                Step::write([reversing, Record::Held { why }]).then([Action::Tell, alarm])
            }
            // A list that leaves it out later does not prove that it never was there: it is looked up, and never sent
            // again.
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

    /// Nothing goes on but what a person decides.
    pub(super) fn handle_held(&mut self, event: Event) -> Step {
        match event {
            Event::Resolve { keep, by } => self.settled_by_person(keep).by(by),
            // The card is out of the reader's way all the same.
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
                    // It may have been taken back since: looked up before anybody is told that it stands.
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

    /// What was found stays, for a person has decided so.
    pub(super) fn stays_charged(&self, id: &PaymentId, left: Amount) -> Step {
        let host = HostFacts { id: Some(id.clone()), ..self.host.clone() };
        let outcome = outcome_of(left, self.amount);
        Step::write([Record::Ended { outcome, host: Some(host), card: None, by: None, at_unix_ms: None }])
            .then([Action::Tell, Action::Print(Paper::Copies)])
    }
}
