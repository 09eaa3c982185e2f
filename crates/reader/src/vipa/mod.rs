//! Verifone VIPA (readers: 3): UX300, UX301, P200, P400, M400, e-series.
//!
//! The files in order. Each uses only those above it:
//!
//! | file | content |
//! |---|---|
//! | `settings` | the settings that only VIPA readers have |
//! | `message` | the content of the packets of [`pos_reader_link::apdu_link`]: bytes and their meaning |
//! | `speaker` | the session's questions as commands |
//! | `listener` | the reader's messages as the session hears them |
//!
//! The rules for a card are those of every family, in [`crate::session`].

mod listener;
pub mod message;
mod recording;
mod settings;
mod speaker;

use crate::apdu_framing::ApduFraming;
use crate::family::{Family, FamilyParts};
use pos_reader_link::apdu_link::Profile;

pub use crate::session::ReaderSession as VipaSession;
pub(crate) use recording::RECORDING;
pub use settings::{SredForm, VipaSettings};
pub use speaker::CAPABILITIES;

impl Family for VipaSettings {
    fn parts(self) -> FamilyParts {
        FamilyParts {
            recording: &RECORDING,
            framing: Box::new(ApduFraming::new(Profile::Vipa)),
            listener: Box::new(listener::VipaListener::new(self.sred_form)),
            speaker: Box::new(speaker::VipaSpeaker(self)),
        }
    }
}
