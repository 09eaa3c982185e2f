//! The actions of a transaction: the commands to its devices, and the messages to the till.

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::Cause;

/// An action to carry out after the step is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Makes the reader ask for a tip.
    AskTip,
    /// Makes the reader wait for a card.
    Arm,
    /// Makes the reader stop waiting.
    StopReader,
    /// Sends the request. A transaction repeats this action in two cases only: the gateway said that it did not process
    /// the request (800.120.100), or a look-up did not find a capture, refund or reversal.
    Ask,
    /// Asks about a pending payment.
    Poll {
        /// The payment id.
        payment: PaymentId,
    },
    /// Gives the card its answer.
    AnswerCard(Box<CardAnswer>),
    /// Looks up these references at the gateway, including linked transactions. The transaction's own reference is
    /// first.
    Query {
        /// The gateway references.
        references: Vec<String>,
    },
    /// Reverses a payment, or the remaining part of it.
    Reverse {
        /// The payment id.
        payment: PaymentId,
        /// The amount to reverse.
        amount: Amount,
        /// The reversal's own gateway reference.
        reference: String,
    },
    /// Alarms a person, because the gateway did something that it should not do, or because nothing continues
    /// automatically.
    Alarm {
        /// The cause.
        why: Cause,
    },
    /// Prints the receipt.
    Print(Paper),
    /// Tells the till the current state of the transaction.
    Tell,
}

/// The papers to print for a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Every copy that the terminal prints automatically.
    Copies,
    /// The merchant's copy, for the cardholder to sign. It is printed no matter which copies the terminal prints
    /// automatically.
    SignatureSlip,
    /// The remaining copies after the signature slip.
    AfterSignature,
}

/// The gateway's answer for the card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardAnswer {
    /// Authorisation response code (8A).
    pub arc: [u8; 2],
    /// Issuer authentication data (91).
    pub issuer_authentication: Option<heapless::Vec<u8, 16>>,
    /// Issuer scripts (71, 72).
    pub scripts: heapless::Vec<u8, 512>,
}

/// 8A "Z1": declined offline, unable to go online. Z3 and Y3 are never used, because the card might then approve
/// offline.
const ARC_DECLINE: [u8; 2] = *b"Z1";
/// 8A "00": approved.
pub(super) const ARC_APPROVE: [u8; 2] = *b"00";

impl CardAnswer {
    pub(super) fn decline() -> Self {
        Self { arc: ARC_DECLINE, issuer_authentication: None, scripts: heapless::Vec::new() }
    }
}
