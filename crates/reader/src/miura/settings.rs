//! What only a Miura reader needs to know from the configuration, with the defaults.

use crate::config::{self, ManualEntryCommand, ReaderPrompts, TipEntry};

/// What only a Miura reader needs to know from the configuration.
#[derive(Clone, Debug, Default)]
pub struct MiuraSettings {
    /// The second byte of DF30 that means "tapped in magstripe mode". Its values are not published (readers: 10, point
    /// 3), so it is `None` until a real reader's is known; then the absence of a cryptogram, or 9F39 = 91, decides
    /// alone.
    pub magstripe_mode: Option<u8>,
    /// How a card number may be typed on the reader; `None`: not at all.
    pub manual_entry: Option<ManualEntry>,
    /// The capability of GET DEVICE INFO that stands for commands of more than one packet; `None`: the driver's own
    /// guess, for the name is not published (readers: 10, point 2).
    pub extended_apdu_capability: Option<String>,
    /// Indices into the reader's signed prompts.
    pub prompts: ReaderPrompts,
    /// What the reader asks for when a tip is wanted.
    pub tip_entry: TipEntry,
}

/// How a card number is typed on the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManualEntry {
    /// The command the reader knows.
    pub command: ManualEntryCommand,
    /// Ask for the card verification value too (D2E0 only).
    pub verification_value: bool,
}

impl MiuraSettings {
    /// As the configuration has them.
    #[must_use]
    pub fn of(section: &config::Reader) -> Self {
        let manual_entry = ManualEntry {
            command: section.manual_entry_command,
            verification_value: section.manual_entry_verification_value,
        };
        Self {
            magstripe_mode: None,
            manual_entry: section.manual_entry.then_some(manual_entry),
            extended_apdu_capability: section.extended_apdu_capability.clone(),
            prompts: section.prompts,
            tip_entry: section.tip_entry,
        }
    }
}
