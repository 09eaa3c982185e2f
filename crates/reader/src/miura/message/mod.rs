//! The content of Miura's packets (readers: 2.2 to 2.11): commands, answers, and unsolicited messages. This module
//! handles bytes and their meaning. It does not wait, decide or store anything.
//!
//! ```text
//! status · element ◀── sealed · masked · transaction · typed ◀── command · answer · transaction_answer · unsolicited …
//! ```
//!
//! Each message can be read and written. The driver needs only one direction of each, but captured frames are compared
//! with both. The simulated reader has a separate codec, so that one misreading cannot go unnoticed on both sides.

mod answer;
mod capability;
mod command;
mod configuration;
mod element;
mod masked;
mod sealed;
mod status;
mod transaction;
mod transaction_answer;
mod typed;
mod unsolicited;

pub use crate::card_answer::{
    AnswerTemplate, ApplicationChoice, CardElements, PinBlock, SignedElement, TransactionAnswer,
};
pub use crate::family::TransactionData;
pub use crate::typed_amount::{MAX_INTEGER_DIGITS, minor_units, prompts_of};
pub use answer::{
    ClockAnswer, OnlinePinAnswer, P2peStatus, ResetAnswer, SoftwareVersion, encode_numeric, parse_numeric,
};
pub use capability::DeviceInfoAnswer;
pub use command::{MpiCommand, ResetKind};
pub use configuration::ConfigurationAnswer;
pub use element::{MessageBody, MessageError, each, need, need_array, search, split, status, tags, wrapped};
pub(super) use masked::{has_clear_card_data, masked_pan};
pub use sealed::{SredBlock, last_sealed};
pub use status::StatusWord;
pub use transaction::ContinueData;
pub use typed::{AMOUNT_LINE, GetDynamicTip, GetNumericData, GetSecureData, ShownAmount, TypedCardAnswer};
pub use unsolicited::{CardStatus, DeviceStatus, KEY_CANCEL, UnsolicitedMessage};
