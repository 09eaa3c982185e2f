//! The settings that only Miura readers have, with their defaults.

use crate::config::{self, ManualEntryCommand, ReaderPrompts, TipEntry};

/// The settings that only Miura readers have.
#[derive(Clone, Debug, Default)]
pub struct MiuraSettings {
    /// The second byte of DF30 that means "tapped in magstripe mode". Its values are not published (readers: 10, point
    /// 3), so it is `None` until a real reader's value is known. Until then, only the absence of a cryptogram, or 9F39
    /// = 91, decides.
    pub magstripe_mode: Option<u8>,
    /// The way to type a card number on the reader, or `None` if it is not allowed.
    pub manual_entry: Option<ManualEntry>,
    /// The capability in GET DEVICE INFO that allows commands of more than one packet. With `None` the driver guesses,
    /// because the name is not published (readers: 10, point 2).
    pub extended_apdu_capability: Option<String>,
    /// Indices of the reader's signed prompts.
    pub prompts: ReaderPrompts,
    /// The amount that the customer types for a tip.
    pub tip_entry: TipEntry,
}

/// The way to type a card number on the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManualEntry {
    /// The command that the reader knows.
    pub command: ManualEntryCommand,
    /// `true` to ask for the card verification value too (D2E0 only).
    pub verification_value: bool,
}

impl MiuraSettings {
    /// Creates the settings from the configuration.
    #[must_use]
    pub fn of(section: &config::Reader) -> Self {
        let manual_entry = ManualEntry {
            command: section.manual_entry_command.unwrap_or_default(),
            verification_value: section.manual_entry_verification_value,
        };
        Self {
            magstripe_mode: None,
            manual_entry: section.manual_entry.then_some(manual_entry),
            extended_apdu_capability: section.extended_apdu_capability.clone(),
            prompts: section.prompts.unwrap_or_default(),
            tip_entry: section.tip_entry.unwrap_or_default(),
        }
    }
}
