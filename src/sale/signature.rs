//! The signature: the host approved, the cardholder signs the slip, and somebody at the counter compares it with the
//! card.
//!
//! The money has moved already, so nothing is unknown here: refused, or not looked at in time, the payment is reversed;
//! accepted, the sale ends as approved. A power cut asks again. What this is not: how the slip looks (`printer`), or
//! who may answer (`till`).

use crate::card::{CardFacts, Cvm};

use super::decide::{outcome_of, with_card};
use super::{Action, Deadlines, Event, Now, Paper, Payment, Reason, Record, Sale, State, Step};

impl Sale {
    /// Host and card are content: the end, or first the signature.
    pub(super) fn charged(
        &mut self,
        payment: Payment,
        card: Option<CardFacts>,
        now: Now,
        deadlines: Deadlines,
    ) -> Step {
        // A credit has nothing to sign for: the cardholder gets money.
        let signs = self.order.kind().card_has_a_say() && card.as_ref().or(self.card.as_ref()).is_some_and(signs);
        match deadlines.signature.filter(|_| signs) {
            Some(patience) => {
                self.volatile.signature_until = Some(now.monotonic + patience);
                let asked = Record::SignatureAsked { payment, card };
                Step::write([asked]).then([Action::Tell, Action::Print(Paper::SignatureSlip)])
            }
            None => {
                let outcome = outcome_of(payment.amount, self.amount);
                let ended = Record::Ended { outcome, host: None, card, by: None, at_unix_ms: None };
                Step::write([ended]).then([Action::Tell, Action::Print(Paper::Copies)])
            }
        }
    }

    pub(super) fn handle_signature(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        let State::AtSignature { payment } = &self.state else {
            return Step::none();
        };
        let payment = payment.clone();
        match event {
            Event::SignatureChecked { accepted: true, by } => {
                let outcome = outcome_of(payment.amount, self.amount);
                let step = Step::write([Record::Ended { outcome, host: None, card: None, by, at_unix_ms: None }])
                    .then([Action::Tell]);
                // A card that has not had its last word prints all of it then.
                if self.volatile.card_open { step } else { step.then([Action::Print(Paper::AfterSignature)]) }
            }
            Event::SignatureChecked { accepted: false, by } => {
                self.reverse(Reason::SignatureRefused, Some(payment), None).by(by)
            }
            Event::DeadlinePassed if self.volatile.signature_until.is_some_and(|until| until <= now.monotonic) => {
                self.reverse(Reason::SignatureNotChecked, Some(payment), None)
            }
            // The slip may have been lost with the power.
            Event::Restarted => {
                self.volatile.signature_until = deadlines.signature.map(|patience| now.monotonic + patience);
                match deadlines.signature {
                    Some(_) => Step::act([Action::Tell, Action::Print(Paper::SignatureSlip)]),
                    // The shop no longer asks for it: the slip is signed, as with every other sale.
                    None => self.handle_signature(Event::SignatureChecked { accepted: true, by: None }, now, deadlines),
                }
            }
            Event::CardSaid { facts, .. } if self.volatile.card_open => {
                self.volatile.card_open = false;
                with_card(Step::none(), facts).then([Action::Print(Paper::SignatureSlip)])
            }
            Event::ReaderLost if self.volatile.card_open => {
                self.volatile.card_open = false;
                Step::act([Action::Print(Paper::SignatureSlip)])
            }
            _ => Step::none(),
        }
    }
}

fn signs(card: &CardFacts) -> bool {
    matches!(card.cvm, Some(Cvm::Signature | Cvm::OfflinePinAndSignature))
}
