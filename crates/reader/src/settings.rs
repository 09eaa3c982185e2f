//! What a reader of any family needs to know from the configuration, with the defaults.

use std::fmt;
use std::sync::Arc;

use super::LocalTime;
use pos_daemon::wire::Connector;
use pos_terms::emv::Tag;

/// What a reader of any family needs to know from the configuration.
#[derive(Clone)]
pub struct ReaderSettings {
    /// A tty as `/dev/serial/by-id/…`, or `tcp://host:6543`.
    pub port: String,
    /// Line speed of a tty, in baud; without meaning on USB.
    pub baud: u32,
    /// Serial numbers (9F1E) of the readers that are used; empty: whichever is connected.
    pub serials: Vec<String>,
    /// Leave the reader's masked card data inside `pos.iccDataRequest`.
    pub icc_masked_tags: bool,
    /// The maker's own tags that go into `pos.iccDataRequest`; the others stay out.
    pub icc_private_tags: Vec<Tag>,
    /// The board's local time.
    pub clock: ClockSource,
    /// The shop's language, for the reader's texts while no card has named another.
    pub language: ReaderLanguage,
    /// The wire, when it is given instead of opened at `port`.
    pub way: Option<Connector>,
}

/// Gives the board's local time, or `None` while its clock is not trusted (design: invariant 8).
pub type ClockSource = Arc<dyn Fn() -> Option<LocalTime> + Send + Sync>;

/// A language of the texts that the driver shows on the reader.
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

    /// The language of an ISO 639 code, lower or upper case.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| code.eq_ignore_ascii_case(known)).map(|(language, _)| language)
    }

    /// Its ISO 639 code, lower case.
    #[must_use]
    pub fn code(self) -> &'static str {
        let found = Self::ALL.into_iter().find(|(language, _)| *language == self);
        found.map_or("en", |(_, code)| code)
    }

    /// The first known language of a card's preference (5F2D: one to four codes of two letters; EMV Book 4, 11.1).
    #[must_use]
    pub fn preferred(preference: &[u8]) -> Option<Self> {
        preference.chunks_exact(2).take(4).find_map(|code| Self::from_code(std::str::from_utf8(code).ok()?))
    }
}

impl ReaderSettings {
    /// Settings with the defaults: 115200 baud, masked data left out, a clock that is not trusted, English.
    #[must_use]
    pub fn new(port: impl Into<String>) -> Self {
        Self {
            port: port.into(),
            baud: 115_200,
            serials: Vec::new(),
            icc_masked_tags: false,
            icc_private_tags: Vec::new(),
            clock: Arc::new(|| None),
            language: ReaderLanguage::default(),
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
