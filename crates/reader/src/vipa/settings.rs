//! The settings that only VIPA readers have.

use crate::config::{self, ReaderPrompts};

pub use crate::config::SredForm;

/// The settings that only VIPA readers have.
#[derive(Clone, Debug)]
pub struct VipaSettings {
    /// The form in which the sealed card data and their initial value go to the gateway.
    pub sred_form: SredForm,
    /// 9F1A: the terminal's country, ISO 3166-1 numeric, BCD.
    pub country: [u8; 2],
    /// The slot and the host of the encryption, of which the reader reports the keys.
    pub security: (u8, u8),
    /// The host whose key seals the PIN.
    pub pin_host: u8,
    /// C2: the acquirer's index in the reader's set-up.
    pub acquirer: String,
    /// The name of the reader's screen for typing a card number, or `None` if it is not allowed.
    pub manual_entry: Option<String>,
    /// Indices of the reader's prompts.
    pub prompts: ReaderPrompts,
}

impl VipaSettings {
    /// Creates the settings from the configuration. The check of the configuration requires the section.
    #[must_use]
    pub fn of(section: &config::Reader) -> Self {
        let vipa = section.vipa.clone().unwrap_or_default();
        Self {
            sred_form: section.sred_form.unwrap_or(SredForm::IvFirst),
            country: config::numeric_country(&vipa.terminal_country).unwrap_or_default(),
            security: (vipa.security_slot, vipa.security_host),
            pin_host: vipa.pin_host,
            acquirer: vipa.acquirer,
            manual_entry: vipa.manual_entry_screen.filter(|_| section.manual_entry),
            prompts: section.prompts.unwrap_or_default(),
        }
    }
}

impl Default for VipaSettings {
    /// Returns settings with which a reader can be asked for its identity, but no card can be read.
    fn default() -> Self {
        let vipa = config::VipaReader::default();
        Self {
            sred_form: SredForm::IvFirst,
            country: [0; 2],
            security: (vipa.security_slot, vipa.security_host),
            pin_host: vipa.pin_host,
            acquirer: String::new(),
            manual_entry: None,
            prompts: ReaderPrompts::default(),
        }
    }
}
