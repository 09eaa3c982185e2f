//! How a sale stands: what may be asked of it without changing it.

use std::time::Duration;

use pos_terms::money::Amount;
use pos_terms::transaction::Taken;

use super::decide::outcome_of;
use super::state::State;
use super::{Cause, Outcome, Reason, Receipt, ReceiptOutcome, Transaction};
use pos_terms::transaction::Who;

/// How a sale stands, for the till and for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing<'a> {
    /// Waiting for a card.
    Waiting,
    /// Asked, or the chip has its say.
    InProgress,
    /// Approved; the cardholder's signature is to be compared.
    AtSignature,
    /// Approved; the till is to say whether it takes it.
    AwaitingTill {
        /// What was approved.
        approved: Amount,
    },
    /// The gateway may hold an approval; why it is not known.
    Unconfirmed {
        /// What happened.
        why: &'a Cause,
        /// Why the last try to settle it did not.
        trouble: Option<&'a Cause>,
        /// Retrying cannot mend it; a person must look.
        quarantined: Option<&'a Cause>,
    },
    /// Ended.
    Ended(&'a Outcome),
}

impl Transaction {
    /// How it stands.
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

    /// Whether nothing can happen to it any more.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(self.state, State::Ended(_)) && !self.volatile.card_open
    }

    /// Whether a person has decided what becomes of it.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.decided
    }

    /// What somebody at the counter has said of the signature; `None` when nobody has, or nobody was asked.
    #[must_use]
    pub fn signature_was(&self) -> Option<bool> {
        self.signature
    }

    /// What the till has said of it, when it was asked whether it takes it; `None` when it has not, or was not asked.
    #[must_use]
    pub fn till_said(&self) -> Option<Taken> {
        self.till_said
    }

    /// Whether its request was, or was about to be, sent.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.tries > 0
    }

    /// Whether it waits for a person to decide what becomes of it ([`Event::Resolve`](super::Event::Resolve)).
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.is_some() && !matches!(self.state, State::Ended(_))
    }

    /// Whether a card was read and has not been answered yet.
    #[must_use]
    pub fn card_waits(&self) -> bool {
        let has_no_answer = match &self.state {
            State::Waiting(_) | State::Asked(_) => true,
            State::AtChip(chip) => chip.in_doubt,
            _ => false,
        };
        self.volatile.card_open && has_no_answer
    }

    /// Whether a cancel may still come in time: nothing has left, or what left was certainly not processed. One that is
    /// on its way once more is not sent another time then.
    #[must_use]
    pub fn can_be_cancelled(&self) -> bool {
        match &self.state {
            _ if self.order.gives_rest => false,
            State::Waiting(_) => true,
            State::Asked(asked) => asked.volatile.throttled.is_some(),
            _ => false,
        }
    }

    /// Whether the request may have to be sent again: it was asked for, and has no answer.
    #[must_use]
    pub fn may_ask_again(&self) -> bool {
        matches!(self.state, State::Asked(_))
    }

    /// When [`Event::DeadlinePassed`](super::Event::DeadlinePassed) is due, as
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

    /// Whether the gateway declined it in an unusual way, and a look showed that it had declined.
    #[must_use]
    pub fn was_a_doubted_decline(&self) -> bool {
        self.decline_was_doubted && matches!(self.state, State::Ended(Outcome::Declined { .. }))
    }

    /// The receipt as things stand.
    #[must_use]
    pub fn receipt(&self) -> Receipt {
        let outcome = match &self.state {
            State::Waiting(_) | State::Asked(_) | State::AtChip(_) => {
                ReceiptOutcome::Unconfirmed(Reason::NotDecidedYet.into())
            }
            State::AwaitingTill(_) => ReceiptOutcome::Unconfirmed(Reason::TillNotHeard.into()),
            // The slip that is signed says what the host said.
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
