//! The content of VIPA's packets (readers: 3.2 to 3.6): commands, answers, and unsolicited messages. This module
//! handles bytes and their meaning. It does not wait, decide or store anything. The simulated reader has a separate
//! codec, so that one misreading cannot go unnoticed on both sides.

mod answer;
mod card;
mod command;
mod masked;
mod status;
pub mod tags;
mod unsolicited;

pub use answer::{VipaIdentity, VipaKeys, VipaPinAnswer, VipaTypedCard, parse_time};
pub use card::{CardTemplate, parse_card, sealed_of};
pub(super) use command::NO_CASHBACK;
pub use command::{ContinueTerms, OnlinePinTerms, VipaCommand};
pub use masked::{has_clear_card_data, masked_pan};
pub use status::VipaStatus;
pub use unsolicited::{VipaCardStatus, VipaDeviceStatus, VipaUnsolicited};
