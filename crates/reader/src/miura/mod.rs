//! Miura MPI (readers: 2): M006, M007, M010, M020, M021, POSzle.
//!
//! The files in order. Each uses only those above it:
//!
//! | file | content |
//! |---|---|
//! | `settings` | the settings that only Miura readers have |
//! | `message` | the content of the packets of [`pos_reader_link::apdu_link`]: bytes and their meaning |
//! | `speaker` | the session's questions as commands |
//! | `listener` | the reader's messages as the session hears them |
//!
//! The rules for a card are those of every family, in [`crate::session`]. `tests/rules/layers.rs` checks that the files
//! have no circular dependency.

mod listener;
pub mod message;
mod recording;
mod settings;
mod speaker;

use crate::apdu_framing::ApduFraming;
use crate::family::{Family, FamilyParts};
use pos_reader_link::apdu_link::Profile;

pub use crate::session::ReaderSession as MiuraSession;
pub(crate) use recording::RECORDING;
pub use settings::{ManualEntry, MiuraSettings};
pub use speaker::CAPABILITIES;

impl Family for MiuraSettings {
    fn parts(self) -> FamilyParts {
        FamilyParts {
            recording: &RECORDING,
            framing: Box::new(ApduFraming::new(Profile::Miura)),
            listener: Box::new(listener::MiuraListener::new(&self)),
            speaker: Box::new(speaker::MiuraSpeaker(self)),
        }
    }
}
