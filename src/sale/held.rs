//! A sale that waits for a person, because its journal was found to be an old copy: the gateway holds transactions of
//! this terminal that this journal does not know, so it cannot know what became of the sale since. What a till was told
//! is approved there may not be reversed here (design: path of a sale, 8 to 10). It is the one
//! exception (design: invariant 2; invariant 3).
//!
//! Captures, refunds, reversals and credits are not held: they are only looked up, under references of their own, and
//! what is found is what became of them in either copy.

use super::decide::outcome_of;
use super::record::Record;
use super::{Action, Event, Now, Outcome, Reason, Sale, State, Step, Why, reversing};
use crate::transaction::PaymentId;

impl Sale {
    /// Holds it, where something would be taken back by itself.
    pub(super) fn hold(&mut self, why: Why) -> Step {
        match self.state {
            State::AtChip { .. } | State::AtSignature { .. } | State::Reversing(_) => {
                let alarm = Action::Alarm { why: why.clone() };
                Step::write([Record::Held { why }]).then([Action::Tell, alarm])
            }
            // By this journal it was never sent; the gateway holds it.
            State::Waiting if self.order.kind().is_undone_when_unknown() => {
                let alarm = Action::Alarm { why: why.clone() };
                let begun = Reason::NotSentInCopy.into();
                let reversing = Record::Reversing { why: begun, payment: None, host: None, by: None };
                Step::write([reversing, Record::Held { why }]).then([Action::Tell, alarm])
            }
            // A list that leaves it out later does not prove that it never was there: it is looked up, and never sent
            // again.
            State::Waiting => {
                let why = Why::from(Reason::NotSentInCopy);
                let mut step = self.confirm(why.clone()).alarm(why.clone());
                step.records.push(Record::Quarantined { why });
                step
            }
            _ => Step::none(),
        }
    }

    /// Nothing goes on but what a person decides.
    pub(super) fn handle_held(&mut self, event: Event, now: Now) -> Step {
        match event {
            Event::Settle { keep, by } => self.settled_by_person(keep, now).by(by),
            // The card is out of the reader's way all the same.
            Event::CardSaid { .. } | Event::ReaderLost => {
                self.volatile.card_open = false;
                Step::none()
            }
            _ => Step::none(),
        }
    }

    fn settled_by_person(&mut self, keep: bool, now: Now) -> Step {
        let settled = Record::Settled { keep, by: None };
        let mut step = match &self.state {
            // It may have been taken back since: looked up before anybody is told that it stands.
            State::AtSignature { payment } if keep => {
                let why = Reason::SignatureInCopy.into();
                let looked = Record::Reversing { why, payment: Some(payment.clone()), host: None, by: None };
                self.volatile.reversal = reversing::Timers::waiting();
                return Step::write([looked, settled]).then([Action::Tell, self.query(None)]);
            }
            State::AtSignature { payment } => {
                let payment = payment.clone();
                self.reverse(Reason::TakenBackByPerson, Some(payment), None)
            }
            State::Reversing(_) => {
                self.volatile.reversal = self.volatile.reversal.anew();
                self.look_for_reversal(now).then([Action::Tell])
            }
            _ => return Step::none(),
        };
        step.records.insert(0, settled);
        step
    }

    /// What was found stays, for a person has decided so.
    pub(super) fn kept(&mut self, id: &PaymentId, left: crate::money::Amount) -> Step {
        let host = super::HostFacts { id: Some(id.to_owned()), ..self.host.clone() };
        let outcome: Outcome = outcome_of(left, self.amount);
        self.volatile.reversal = reversing::Timers::default();
        Step::write([Record::Ended { outcome, host: Some(host), card: None, by: None, at_unix_ms: None }])
            .then([Action::Tell, Action::Print(super::Paper::Copies)])
    }
}
