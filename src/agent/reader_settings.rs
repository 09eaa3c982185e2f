//! The reader's settings, from the configuration.

use std::sync::Arc;

use crate::config::Config;

use super::clock::Clock;

/// The reader's settings from the configuration; what only its family needs is [`pos_reader::ReaderFamily::of`].
pub(super) fn reader_settings(config: &Config, clock: &Clock) -> pos_reader::ReaderSettings {
    let clock = clock.clone();
    let section = &config.reader;
    pos_reader::ReaderSettings {
        baud: section.baud,
        icc_masked_tags: config.gateway.send_masked_tags,
        clock: Arc::new(move || clock.for_the_reader()),
        // The check has refused every other code.
        language: pos_reader::ReaderLanguage::from_code(&section.language).unwrap_or_default(),
        serials: section.serials.clone(),
        ..pos_reader::ReaderSettings::new(section.port.as_str())
    }
}
