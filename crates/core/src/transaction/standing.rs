//! The standing of a transaction: everything that can be read from the transaction without changing it.

use std::time::Duration;

use pos_terms::money::Amount;
use pos_terms::transaction::Taken;

use super::decide::outcome_of;
use super::state::State;
use super::{Cause, Outcome, Reason, Receipt, ReceiptOutcome, Transaction};
use pos_terms::transaction::Who;

/// The standing of a transaction, for the till and for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing<'a> {
    /// Waiting for a card.
    Waiting,
    /// The request was sent, or the chip must confirm.
    InProgress,
    /// Approved; the cardholder's signature must be compared.
    AtSignature,
    /// Approved; the till must say whether it accepts the amount.
    AwaitingTill {
        /// The approved amount.
        approved: Amount,
    },
    /// The gateway may hold an approval.
    Unconfirmed {
        /// The cause.
        why: &'a Cause,
        /// The reason why the last attempt did not resolve the outcome.
        trouble: Option<&'a Cause>,
        /// The cause that cannot be resolved by retrying. A person must decide.
        quarantined: Option<&'a Cause>,
    },
    /// The transaction has this outcome.
    Ended(&'a Outcome),
}

impl Transaction {
    /// Returns the standing.
    #[must_use]
    pub fn standing(&self) -> Standing<'_> {
        if let (Some(held), false) = (&self.held, matches!(self.state, State::Ended(_))) {
            let why = match &self.state {
                State::Reversing(reversing) => &reversing.recorded.unconfirmed.why,
                _ => held,
            };
            return Standing::Unconfirmed { why, trouble: None, quarantined: Some(held) };
        }
        match &self.state {
            State::Waiting(_) => Standing::Waiting,
            State::Asked(_) | State::AtChip(_) => Standing::InProgress,
            State::AtSignature(_) => Standing::AtSignature,
            State::AwaitingTill(awaiting) => Standing::AwaitingTill { approved: awaiting.payment.amount },
            State::Reversing(reversing) => {
                reversing.recorded.unconfirmed.standing(reversing.volatile.resolution.trouble())
            }
            State::Finishing(finishing) => finishing.recorded.standing(finishing.volatile.trouble()),
            State::Ended(outcome) => Standing::Ended(outcome),
        }
    }

    /// Returns whether the transaction can no longer change.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(self.state, State::Ended(_)) && !self.volatile.card_open
    }

    /// Returns whether a person has resolved the transaction.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.decided
    }

    /// Returns a person's decision about the signature. Returns `None` if there was no decision, or if no person was
    /// asked.
    #[must_use]
    pub fn signature_was(&self) -> Option<bool> {
        self.signature
    }

    /// Returns the till's answer whether it accepts the amount. Returns `None` if there was no answer, or if the till
    /// was not asked.
    #[must_use]
    pub fn till_said(&self) -> Option<Taken> {
        self.till_said
    }

    /// Returns whether the request was sent, or was about to be sent.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.tries > 0
    }

    /// Returns whether the transaction waits for a person to resolve it ([`Event::Resolve`](super::Event::Resolve)).
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.is_some() && !matches!(self.state, State::Ended(_))
    }

    /// Returns whether a card was read and has not been answered yet.
    #[must_use]
    pub fn card_waits(&self) -> bool {
        let has_no_answer = match &self.state {
            State::Waiting(_) | State::Asked(_) => true,
            State::AtChip(chip) => chip.in_doubt,
            _ => false,
        };
        self.volatile.card_open && has_no_answer
    }

    /// Returns whether a cancel may still be in time: nothing was sent, or the request was certainly not processed. If
    /// the request is on its way again, a cancel prevents a further repeat.
    #[must_use]
    pub fn can_be_cancelled(&self) -> bool {
        match &self.state {
            _ if self.order.gives_rest => false,
            State::Waiting(_) => true,
            State::Asked(asked) => asked.volatile.throttled.is_some(),
            _ => false,
        }
    }

    /// Returns whether the request may have to be sent again, because it was sent and has no answer.
    #[must_use]
    pub fn may_ask_again(&self) -> bool {
        matches!(self.state, State::Asked(_))
    }

    /// Returns the time when [`Event::DeadlinePassed`](super::Event::DeadlinePassed) is due, in terms of
    /// [`Now::monotonic`](super::Now::monotonic).
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        match &self.state {
            _ if self.held.is_some() => None,
            State::Asked(asked) => asked.due(),
            State::AtSignature(signature) => signature.volatile.until,
            State::AwaitingTill(awaiting) => awaiting.volatile.until,
            State::Reversing(reversing) => reversing.volatile.resolution.due(),
            State::Finishing(finishing) => finishing.volatile.due(),
            State::AtChip(chip) => chip.volatile.due(),
            State::Waiting(_) | State::Ended(_) => None,
        }
    }

    /// Returns whether the gateway declined the transaction in an unusual way, and a look-up confirmed the decline.
    #[must_use]
    pub fn was_a_doubted_decline(&self) -> bool {
        self.decline_was_doubted && matches!(self.state, State::Ended(Outcome::Declined { .. }))
    }

    /// Returns the receipt in the current state.
    #[must_use]
    pub fn receipt(&self) -> Receipt {
        let outcome = match &self.state {
            State::Waiting(_) | State::Asked(_) | State::AtChip(_) => {
                ReceiptOutcome::Unconfirmed(Reason::NotDecidedYet.into())
            }
            State::AwaitingTill(_) => ReceiptOutcome::Unconfirmed(Reason::TillNotHeard.into()),
            // The slip to sign shows the gateway's answer.
            State::AtSignature(signature) => outcome_of(signature.payment.amount, self.amount).on_receipt(),
            State::Reversing(reversing) => ReceiptOutcome::Unconfirmed(reversing.recorded.unconfirmed.why.clone()),
            State::Finishing(finishing) => ReceiptOutcome::Unconfirmed(finishing.recorded.why.clone()),
            State::Ended(outcome) => outcome.on_receipt(),
        };
        let by = self.order.by.as_ref();
        Receipt {
            kind: self.order.kind(),
            terminal_id: self.order.terminal_id.clone(),
            local_time: self.order.local_time.clone(),
            number: self.order.number,
            training: self.order.training.is_some(),
            reference: self.order.reference.clone(),
            amount: self.amount,
            tip: match outcome {
                ReceiptOutcome::PartiallyApproved(part) => self.tip_in(part),
                _ => self.tip,
            },
            outcome,
            card: self.card.clone(),
            host: self.host.clone(),
            operator: by.and_then(Who::person).map(str::to_owned),
            supervisor: by.and_then(|by| by.supervisor.as_ref()).map(ToString::to_string),
            original: None,
        }
    }
}
