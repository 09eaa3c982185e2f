//! The settings that readers of all families have, with their defaults.

use std::fmt;
use std::sync::Arc;

use super::LocalTime;
use crate::config::{self, ReaderFlowControl};
use crate::recording::RecordingSink;
use pos_daemon::wire::Connector;
use pos_terms::emv::Tag;

/// The settings that readers of all families have.
#[derive(Clone)]
pub struct ReaderSettings {
    /// A tty such as `/dev/serial/by-id/…`, or `tcp://host:6543`.
    pub port: String,
    /// Line speed of a tty, in baud. A USB port does not use it.
    pub baud: u32,
    /// Flow control of a tty.
    pub flow_control: ReaderFlowControl,
    /// Serial numbers (9F1E) of the readers that may be used. If the list is empty, every connected reader is used.
    pub serials: Vec<String>,
    /// `true` if the reader's masked card data stays inside `pos.iccDataRequest`.
    pub icc_masked_tags: bool,
    /// The vendor's own tags that go into `pos.iccDataRequest`. Other vendor tags are left out.
    pub icc_private_tags: Vec<Tag>,
    /// The board's local time.
    pub clock: ClockSource,
    /// The shop's language, for the reader's texts until a card names another.
    pub language: ReaderLanguage,
    /// `true` to ask only for identity and keys, and to set nothing.
    pub identity_only: bool,
    /// Takes a recording of the session, if one is wanted ([`crate::recording`]).
    pub recording: Option<RecordingSink>,
    /// The stream, if the caller provides it instead of a `port`.
    pub way: Option<Connector>,
}

/// A source of the board's local time. It returns `None` while the clock is not trusted (design: invariant 8).
pub type ClockSource = Arc<dyn Fn() -> Option<LocalTime> + Send + Sync>;

/// A language of the driver's texts on the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReaderLanguage {
    /// en
    #[default]
    English,
    /// de
    German,
    /// fr
    French,
    /// es
    Spanish,
    /// it
    Italian,
    /// nl
    Dutch,
    /// pl
    Polish,
}

impl ReaderLanguage {
    const ALL: [(Self, &'static str); 7] = [
        (Self::English, "en"),
        (Self::German, "de"),
        (Self::French, "fr"),
        (Self::Spanish, "es"),
        (Self::Italian, "it"),
        (Self::Dutch, "nl"),
        (Self::Polish, "pl"),
    ];

    /// Returns the language with this ISO 639 code, in lower or upper case.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| code.eq_ignore_ascii_case(known)).map(|(language, _)| language)
    }

    /// Returns the ISO 639 code, in lower case.
    #[must_use]
    pub fn code(self) -> &'static str {
        let found = Self::ALL.into_iter().find(|(language, _)| *language == self);
        found.map_or("en", |(_, code)| code)
    }

    /// Returns the first known language of a card's preference (5F2D: one to four codes of two letters; EMV Book 4,
    /// 11.1).
    #[must_use]
    pub fn preferred(preference: &[u8]) -> Option<Self> {
        preference.chunks_exact(2).take(4).find_map(|code| Self::from_code(std::str::from_utf8(code).ok()?))
    }
}

impl ReaderSettings {
    /// Creates settings from the configuration's section. The clock is not trusted.
    #[must_use]
    pub fn of(section: &config::Reader) -> Self {
        Self {
            baud: section.baud(),
            flow_control: section.flow_control,
            // The check of the configuration refuses all other codes.
            language: ReaderLanguage::from_code(&section.language).unwrap_or_default(),
            serials: section.serials.clone(),
            ..Self::new(section.port.as_str())
        }
    }

    /// Creates settings with the defaults: 115200 baud, masked data left out, an untrusted clock, and English.
    #[must_use]
    pub fn new(port: impl Into<String>) -> Self {
        Self {
            port: port.into(),
            baud: 115_200,
            flow_control: ReaderFlowControl::None,
            serials: Vec::new(),
            icc_masked_tags: false,
            icc_private_tags: Vec::new(),
            clock: Arc::new(|| None),
            language: ReaderLanguage::default(),
            identity_only: false,
            recording: None,
            way: None,
        }
    }
}

impl fmt::Debug for ReaderSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { port, baud, icc_masked_tags, clock: _, language, .. } = self;
        write!(f, "ReaderSettings({port}, {baud} baud, masked tags {icc_masked_tags}, {language:?})")
    }
}
