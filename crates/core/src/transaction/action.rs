//! What a sale has its devices do, and tells the till.

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::Cause;

/// What to do, once the step is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Let the reader ask for a tip.
    AskTip,
    /// Let the reader wait for a card.
    Arm,
    /// Let the reader stop waiting.
    StopReader,
    /// Send the request. It comes out of a sale again only after the gateway said that it did not process it
    /// (800.120.100), or, for a capture, refund or reversal, after it was looked up and not found.
    Ask,
    /// Ask what became of a pending payment.
    Poll {
        /// Its id.
        payment: PaymentId,
    },
    /// Give the card its answer.
    AnswerCard(Box<CardAnswer>),
    /// Look up what the gateway knows under these references, the sale's own first, with all that is linked to it.
    Query {
        /// Our references at the gateway.
        references: Vec<String>,
    },
    /// Reverse a payment, or what is left of it.
    Reverse {
        /// Its id.
        payment: PaymentId,
        /// How much of it.
        amount: Amount,
        /// The reversal's own reference.
        reference: String,
    },
    /// A person must hear of it: what no gateway should do was done, or nothing goes on by itself.
    Alarm {
        /// What.
        why: Cause,
    },
    /// Print the receipt.
    Print(Paper),
    /// Tell the till how the sale stands now.
    Tell,
}

/// Which paper of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Every copy that the terminal prints by itself.
    Copies,
    /// The merchant's copy, for the cardholder to sign; printed whatever copies the terminal prints by itself.
    SignatureSlip,
    /// What is left of the copies after the signature slip.
    AfterSignature,
}

/// The host's answer for the card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardAnswer {
    /// Authorisation response code (8A).
    pub arc: [u8; 2],
    /// Issuer authentication data (91).
    pub issuer_authentication: Option<heapless::Vec<u8, 16>>,
    /// Issuer scripts (71, 72).
    pub scripts: heapless::Vec<u8, 512>,
}

/// 8A "Z1": declined offline, unable to go online. Never Z3 or Y3: the card might approve by itself.
const ARC_DECLINE: [u8; 2] = *b"Z1";
/// 8A "00": approved.
pub(super) const ARC_APPROVE: [u8; 2] = *b"00";

impl CardAnswer {
    pub(super) fn decline() -> Self {
        Self { arc: ARC_DECLINE, issuer_authentication: None, scripts: heapless::Vec::new() }
    }
}
