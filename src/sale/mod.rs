//! THE CORE: what a sale is and what may happen next. Pure: no clock, no I/O, no async.

mod answer;
mod receipt;

pub use answer::{Answer, Approval, ApprovedAmount, ForChip, Found, FoundState, HostFacts, Inquiry, Refusal, Reversal};
pub use receipt::{Copy, Receipt, ReceiptOutcome};
