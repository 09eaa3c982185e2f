//! The reader's settings, from the configuration.

use std::sync::Arc;

use crate::config::{self, Config};
use crate::reader;

use super::clock::Clock;

/// The reader's settings from the configuration.
pub(super) fn reader_settings(config: &Config, clock: &Clock) -> reader::Settings {
    let clock = clock.clone();
    let section = &config.reader;
    let command = match section.manual_entry_command {
        config::ManualEntryCommand::D2E0 => reader::ManualCommand::SecureData,
        config::ManualEntryCommand::D25A => reader::ManualCommand::SecurePan,
    };
    let verification_value = section.manual_entry_verification_value;
    let prompts = &section.prompts;
    reader::Settings {
        port: section.port.clone(),
        baud: section.baud,
        icc_masked_tags: config.gateway.send_masked_tags,
        clock: Arc::new(move || clock.for_the_reader()),
        manual_entry: section.manual_entry.then_some(reader::ManualEntry { command, verification_value }),
        // The check has refused every other code.
        language: reader::Language::from_code(&section.language).unwrap_or_default(),
        serials: section.serials.clone(),
        extended_apdu_capability: section.extended_apdu_capability.clone(),
        prompts: reader::Prompts {
            amount: prompts.amount,
            tip_template: prompts.tip_template,
            pan: prompts.card_number,
            expiry: prompts.expiry,
            verification_value: prompts.verification_value,
        },
        tip_entry: match section.tip_entry {
            config::TipEntry::Tip => reader::TipEntry::Tip,
            config::TipEntry::Total => reader::TipEntry::Total,
        },
        ..reader::Settings::new("")
    }
}
