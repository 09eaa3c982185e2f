//! What a reader needs to know from the configuration, with the defaults.

use std::fmt;
use std::sync::Arc;

use super::LocalTime;
use crate::config::{ManualEntryCommand, ReaderPrompts, TipEntry};
use crate::wire::Way;

/// What a reader needs to know from the configuration.
#[derive(Clone)]
pub struct Settings {
    /// A tty as `/dev/serial/by-id/…`, or `tcp://host:6543`.
    pub port: String,
    /// Line speed of a tty, in baud; without meaning on USB.
    pub baud: u32,
    /// Serial numbers (9F1E) of the readers that are used; empty: whichever is connected.
    pub serials: Vec<String>,
    /// Leave the reader's masked card data inside `pos.iccDataRequest`.
    pub icc_masked_tags: bool,
    /// The board's local time.
    pub clock: ClockSource,
    /// The second byte of DF30 that means "tapped in magstripe mode". Its values are not published (readers: 10, point
    /// 3), so it is `None` until a real reader's is known; then the absence of a cryptogram, or 9F39 = 91, decides
    /// alone.
    pub magstripe_mode: Option<u8>,
    /// How a card number may be typed on the reader; `None`: not at all.
    pub manual_entry: Option<ManualEntry>,
    /// The shop's language, for the reader's texts while no card has named another.
    pub language: Language,
    /// The capability of GET DEVICE INFO that stands for commands of more than one packet; `None`: the driver's own
    /// guess, for the name is not published (readers: 10, point 2).
    pub extended_apdu_capability: Option<String>,
    /// Indices into the reader's signed prompts.
    pub prompts: ReaderPrompts,
    /// What the reader asks for when a tip is wanted.
    pub tip_entry: TipEntry,
    /// The wire, when it is given instead of opened at `port`.
    pub way: Option<Way>,
}

/// Gives the board's local time, or `None` while its clock is not trusted (design: invariant 8).
pub type ClockSource = Arc<dyn Fn() -> Option<LocalTime> + Send + Sync>;

/// How a card number is typed on the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManualEntry {
    /// The command the reader knows.
    pub command: ManualEntryCommand,
    /// Ask for the card verification value too (D2E0 only).
    pub verification_value: bool,
}

/// A language of the texts that the driver shows on the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
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

impl Language {
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

impl Settings {
    /// Settings with the defaults: 115200 baud, masked data left out, a clock that is not trusted, no typed card
    /// numbers, English.
    #[must_use]
    pub fn new(port: impl Into<String>) -> Self {
        Self {
            port: port.into(),
            baud: 115_200,
            serials: Vec::new(),
            icc_masked_tags: false,
            clock: Arc::new(|| None),
            magstripe_mode: None,
            manual_entry: None,
            language: Language::default(),
            extended_apdu_capability: None,
            prompts: ReaderPrompts::default(),
            tip_entry: TipEntry::default(),
            way: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { port, baud, icc_masked_tags, clock: _, manual_entry, language, .. } = self;
        write!(f, "Settings({port}, {baud} baud, masked tags {icc_masked_tags}, {manual_entry:?}, {language:?})")
    }
}
