//! The payment gateway's client: packs a sale into the interface's parameters, sends it once, reads the answer.
//!
//! It never retries, never follows by itself (one 307 to the same host excepted), and says [`Answer::NotSent`] only when the
//! TLS handshake was not complete: everything else that went wrong is [`Answer::Unknown`] (design: path of a sale, 6). What
//! to do about an unknown is the sale's decision, not this module's.
//!
//! `parameter` (names and formats) → `request` (a sale as a form) → `client` (HTTP over `tls`) → `answer` (JSON to meaning).

use crate::card::Presented;
use crate::money::Amount;
use crate::sale::Answer;

/// One payment to ask for.
#[derive(Debug)]
pub struct Payment<'a> {
    /// What to charge.
    pub amount: Amount,
    /// Our reference: terminal id, sequence number and 128 random bits; 8 to 255 characters.
    pub merchant_transaction_id: &'a str,
    /// The journal's counter (interface: `pos.transactionSequenceNumber`).
    pub sequence_number: u64,
    /// The reader's serial number; left out of `pos.deviceId` when it holds anything but digits.
    pub device_serial: &'a str,
    /// Whether a PIN can be entered and encrypted (interface: `pos.pinEntryCapability`).
    pub pin_entry: bool,
    /// The card.
    pub presented: &'a Presented,
}

/// The answer of one request with the times a trace wants.
#[derive(Debug)]
pub struct Answered {
    /// What it means.
    pub answer: Answer,
}
