//! The content of NEO2's frames (readers: 4.2 to 4.4): commands, answers, and call-backs. This module handles bytes and
//! their meaning. It does not wait, decide or store anything.
//!
//! ```text
//! tags ◀─ inline ◀─ attribution ◀─ block ◀─ masked · sealed ◀─ card_answer ◀─ answer ◀─ command ◀─ call_back
//!                   icc                     error ◀─ transaction ◀─ command
//!         status · single ◀─ card_answer
//! ```
//!
//! A response is used in this order: [`has_clear_card_data`], then its `parse`, then [`Neo2CardAnswer::seal`].
//!
//! The simulated reader has a separate codec, so that one misreading cannot go unnoticed on both sides. Both share only
//! the frames ([`pos_reader_link::neo2_link`]).

mod answer;
mod attribution;
mod block;
mod call_back;
mod card_answer;
mod command;
mod error;
mod icc;
mod inline;
mod masked;
mod sealed;
mod single;
mod status;
pub mod tags;
mod transaction;

pub(super) use answer::pin_digits;
pub use answer::{
    EncryptionSwitch, KeyInfoAnswer, KeySlot, KeyState, KsnAnswer, ManualCardAnswer, Neo2PinAnswer, PinFailure,
    parse_clock, text,
};
pub use attribution::{Attribution, AttributionFault, Cipher, Interface, split};
pub(super) use block::renew_check;
pub use block::{BlockFault, StripeBlock};
pub use call_back::{CallBack, DisplayLine, DisplayMode, DisplayRequest, LineContent};
pub use card_answer::{ErrorData, Neo2CardAnswer};
pub use command::{ManualFlags, Neo2Command, StandardMessage};
pub use error::Neo2MessageError;
pub use icc::icc_data;
pub use inline::{ElementForm, InlineElement, each};
pub(super) use masked::is_text_track;
pub use masked::{has_clear_card_data, masked_block_pan, masked_pan};
pub use sealed::{EncryptedElement, EncryptedElements, SealError, sred_block};
pub use single::SingleValue;
pub use status::{ResponseStatus, ResultCode};
pub use transaction::{
    Activation, ContactStart, Fallback, HostResponse, Interfaces, MAX_COMMAND_DATA, TransactionTerms,
};
