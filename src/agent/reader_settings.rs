//! The reader's settings, from the configuration.

use std::sync::Arc;

use crate::config::Config;
use crate::reader;

use super::clock::Clock;

/// The reader's settings from the configuration.
pub(super) fn reader_settings(config: &Config, clock: &Clock) -> reader::Settings {
    let clock = clock.clone();
    let section = &config.reader;
    let command = section.manual_entry_command;
    let verification_value = section.manual_entry_verification_value;
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
        prompts: section.prompts,
        tip_entry: section.tip_entry,
        ..reader::Settings::new("")
    }
}
