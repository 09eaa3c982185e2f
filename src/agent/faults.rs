//! Faults of the terminal's side: one line in the log for each sale that ended because of one, with a word that can be searched for.
//!
//! What the customer, the bank or the cashier decided is no fault, and is not told here.

use crate::reader::NoCard;
use crate::sale::{self, Outcome};
use crate::till::Attention;

use super::Agent;
use super::status::{of_gateway, of_reader, state_of};

/// The reader went away, and is back or not missed otherwise.
const READER_LOST: &str = "reader-lost";
/// Nothing was sent, for no reason that shows anywhere else.
const NOT_SENT: &str = "not-sent";

impl Agent {
    /// Remembers why a sale cannot go on, for the line at its end.
    pub(super) fn fault_of(&mut self, number: u64, fault: &'static str) {
        if let Some(active) = self.sales.get_mut(&number) {
            active.fault.get_or_insert(fault);
        }
    }

    /// What is the matter with the reader.
    pub(super) fn reader_fault(&self) -> &'static str {
        of_reader(self.reader_state.state()).map_or(READER_LOST, Attention::as_str)
    }

    /// The reader gave no card: whether that is its fault.
    pub(super) fn fault_of_reader(&mut self, number: u64, why: &NoCard) {
        let fault = match why {
            NoCard::CancelledByTill
            | NoCard::CancelledAtReader
            | NoCard::TimedOut
            | NoCard::Unreadable { .. }
            | NoCard::ManualEntryOff
            | NoCard::ManualEntryUnknown => return,
            NoCard::AmountDiffers => "reader-amount-differs",
            NoCard::PinMissing => "reader-pin-missing",
            NoCard::NoKeyLeft => Attention::ReaderNoKeys.as_str(),
            NoCard::NotReady => self.reader_fault(),
        };
        self.fault_of(number, fault);
    }

    /// The sale has ended: if a fault of the terminal's side is behind it, the log has it.
    pub(super) fn log_fault(&self, number: u64) {
        let Some(active) = self.sales.get(&number) else { return };
        let sale::Standing::Ended(outcome) = active.sale.standing() else { return };
        let (reason, why) = match outcome {
            Outcome::NotSent { why } => {
                let gateway = of_gateway(state_of(&self.gateway.contact())).map_or(NOT_SENT, Attention::as_str);
                (active.fault.unwrap_or(gateway), why)
            }
            Outcome::Cancelled { why } | Outcome::Reversed { why } => match active.fault {
                Some(fault) => (fault, why),
                None => return,
            },
            Outcome::Approved | Outcome::PartiallyApproved { .. } | Outcome::Declined { .. } => return,
        };
        let order = active.sale.order();
        tracing::warn!(
            sale = number, reason, reference = order.reference, till = order.till, %why,
            "the sale ended because of a fault of the terminal's side"
        );
    }
}
