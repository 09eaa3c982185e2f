//! The check of the signature. After the gateway's approval, the cardholder signs the slip, and a person at the counter
//! compares the signature with the card.
//!
//! The money has moved, so nothing is unknown here. If the signature is refused, or not checked in time, the payment is
//! reversed. If it is accepted, the transaction ends as approved, or waits for the till's answer (`awaiting_till`).
//! After a power cut the person is asked again. Other modules decide the layout of the slip (`printer`) and who may
//! answer (`till`).

use std::time::Duration;

use pos_terms::card::{CardFacts, Cvm};

use super::decide::with_card;
use super::state::{Entering, State};
use super::{Action, Deadlines, Event, Now, Paper, Payment, Reason, Record, Step, Transaction};

/// The state in which the signature is compared.
#[derive(Clone, Debug)]
pub(super) struct AtSignature {
    /// The approved payment. It is reversed if the signature is refused.
    pub(super) payment: Payment,
    pub(super) volatile: VolatileSignature,
}

/// The part of the state that a power cut may erase.
#[derive(Clone, Debug, Default)]
pub(super) struct VolatileSignature {
    /// The deadline for the check of the signature.
    pub(super) until: Option<Duration>,
}

impl AtSignature {
    pub(super) fn new(payment: Payment) -> Self {
        Self { payment, volatile: VolatileSignature::default() }
    }
}

impl Transaction {
    /// Continues after the gateway and the card have agreed. The signature comes first, if one is required.
    pub(super) fn charged(
        &mut self,
        payment: Payment,
        card: Option<CardFacts>,
        now: Now,
        deadlines: Deadlines,
    ) -> Step {
        // A credit needs no signature, because the cardholder receives money.
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
            // The slip may have been lost in the power cut.
            Event::Restarted => {
                volatile.until = deadlines.signature.map(|patience| now.monotonic + patience);
                match deadlines.signature {
                    Some(_) => Step::act([Action::Tell, Action::Print(Paper::SignatureSlip)]),
                    // The shop no longer checks signatures. The slip is signed and not checked, as for every other
                    // transaction.
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
