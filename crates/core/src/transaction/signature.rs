//! The signature: the host approved, the cardholder signs the slip, and somebody at the counter compares it with the
//! card.
//!
//! The money has moved already, so nothing is unknown here: refused, or not looked at in time, the payment is reversed;
//! accepted, the sale ends as approved, or waits for the till's own word (`awaiting_till`). A power cut asks again.
//! What this is not: how the slip looks (`printer`), or who may answer (`till`).

use std::time::Duration;

use pos_terms::card::{CardFacts, Cvm};

use super::decide::with_card;
use super::state::{Entering, State};
use super::{Action, Deadlines, Event, Now, Paper, Payment, Reason, Record, Step, Transaction};

/// The state.
#[derive(Clone, Debug)]
pub(super) struct AtSignature {
    /// What was approved, and is reversed when the signature is refused.
    pub(super) payment: Payment,
    pub(super) volatile: VolatileSignature,
}

/// What a power cut may forget.
#[derive(Clone, Debug, Default)]
pub(super) struct VolatileSignature {
    /// Until when the signature must have been checked.
    pub(super) until: Option<Duration>,
}

impl AtSignature {
    pub(super) fn new(payment: Payment) -> Self {
        Self { payment, volatile: VolatileSignature::default() }
    }
}

impl Transaction {
    /// Host and card are content: first the signature, where there is one.
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
                let begun = VolatileSignature { until: Some(now.monotonic + patience) };
                self.volatile.entering = Some(Entering::AtSignature(begun));
                let asked = Record::SignatureAsked { payment, card };
                Step::write([asked]).then([Action::Tell, Action::Print(Paper::SignatureSlip)])
            }
            None => self.agreed(payment, card, None, now, deadlines),
        }
    }

    pub(super) fn handle_signature(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        let State::AtSignature(AtSignature { payment, volatile }) = &mut self.state else { return Step::none() };
        let payment = payment.clone();
        match event {
            Event::SignatureChecked { accepted: true, by } => self.agreed(payment, None, by, now, deadlines),
            Event::SignatureChecked { accepted: false, by } => {
                self.reverse(Reason::SignatureRefused, Some(payment), None).by(by)
            }
            Event::DeadlinePassed if volatile.until.is_some_and(|until| until <= now.monotonic) => {
                self.reverse(Reason::SignatureNotChecked, Some(payment), None)
            }
            // The slip may have been lost with the power.
            Event::Restarted => {
                volatile.until = deadlines.signature.map(|patience| now.monotonic + patience);
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
