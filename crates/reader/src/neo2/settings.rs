//! The settings that only NEO2 readers have.

use crate::config;

/// The settings that only NEO2 readers have.
#[derive(Clone, Debug, Default)]
pub struct Neo2Settings {
    /// `true` if a card number may be typed on the reader.
    pub manual_entry: bool,
    /// `true` to ask for the card verification value too.
    pub verification_value: bool,
}

impl Neo2Settings {
    /// Creates the settings from the configuration.
    #[must_use]
    pub fn of(section: &config::Reader) -> Self {
        Self { manual_entry: section.manual_entry, verification_value: section.manual_entry_verification_value }
    }
}
