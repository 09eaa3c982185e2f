//! The reader's settings, from the configuration.

use std::sync::Arc;

use crate::config::Config;
use crate::reader;

use super::clock::Clock;

/// The reader's settings from the configuration; what only its family needs is [`reader::ReaderFamily::of`].
pub(super) fn reader_settings(config: &Config, clock: &Clock) -> reader::ReaderSettings {
    let clock = clock.clone();
    let section = &config.reader;
    reader::ReaderSettings {
        baud: section.baud,
        icc_masked_tags: config.gateway.send_masked_tags,
        clock: Arc::new(move || clock.for_the_reader()),
        // The check has refused every other code.
        language: reader::ReaderLanguage::from_code(&section.language).unwrap_or_default(),
        serials: section.serials.clone(),
        ..reader::ReaderSettings::new(section.port.as_str())
    }
}
