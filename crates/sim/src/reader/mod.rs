//! The simulated card reader with a deck of virtual cards, on a pty or TCP. It is a reader of one of several families
//! (`family`), of which each has its own folder.
//!
//! ```text
//!  host ─▶ port ─▶ family: packets ─▶ commands ─▶ start_transaction ─▶ kernel ─▶ emv_transaction (the card's decisions)
//!  (pty, TCP)      miura, …           (codes)     continue_transaction   ▲         │
//!                                                 number_entry           │         ▼
//!    ▲                                script: actions at events ─▶ cardholder    keys (DUKPT: SRED, PIN)
//!    │                                       └─▶ faults            card_entry      │
//!    └──────── outgoing ◀── family: answers, events ◀───────────── pin_entry ◀─────┘
//! ```
//!
//! `device` connects these parts. Its inputs are bytes, people's actions and the time. Its outputs are bytes and a
//! display.
//!
//! The reader is written from the protocol's description, not from the agent's driver. It shares with the agent the
//! packets (`pos_reader_link`), the TLV parser (`emv`) and the currencies (`money`). The code for commands, answers and
//! rules is separate. Captured frames and cryptograms check both sides.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use pos_reader_link::apdu_link;

mod apdu_flood;
mod application_choice;
pub mod args;
mod card_entry;
mod cardholder;
mod connection;
mod continue_transaction;
pub mod deck;
pub mod device;
mod display;
mod emv_transaction;
mod family;
mod faults;
pub mod flood;
mod handle;
mod kernel;
mod keys;
mod miura;
mod neo2;
mod number_entry;
mod objects;
mod outgoing;
mod pin_entry;
mod port;
pub mod script;
mod start_transaction;
mod vipa;

pub use cardholder::{ChoicePlan, Key, PersonAction, PinPlan};
pub use deck::{Card, CardEntry, card};
pub use display::{Screen, WaitsFor};
pub use family::Family;
pub use faults::{AbortRace, Cable, ScriptEffects};
pub use flood::Flood;
pub use handle::Reader;
pub use keys::Dukpt;
pub use neo2::Neo2Settings;
pub use port::{Moments, start};
pub use script::{Script, ScriptEvent};
pub use vipa::VipaSettings;

/// The kind of the reader, and its behaviour.
#[derive(Clone, Debug)]
pub struct Options {
    /// The family of the reader, with its own protocol.
    pub family: Family,
    /// The behaviour of a VIPA reader that differs between versions.
    pub vipa: VipaSettings,
    /// The behaviour of a NEO2 reader that its description leaves open.
    pub neo2: Neo2Settings,
    /// The TCP address to listen on; `None` for a pty.
    pub tcp: Option<SocketAddr>,
    /// The TCP address of the host, if the reader is the client (readers: 3.1).
    pub connect: Option<SocketAddr>,
    /// A symbolic link to the pty, made again each time the cable is plugged in, so that its path stays the same.
    pub link: Option<PathBuf>,
    /// The only line speed that it understands at a pty; with `None`, it understands each one.
    pub baud: Option<u32>,
    /// The serial number (9F1E), 8 ASCII characters.
    pub serial: String,
    /// The names and versions of its configuration files (D001).
    pub configuration: Vec<(String, String)>,
    /// True if it holds an SRED key. Without one, it sends tracks, 57 and 5A in clear.
    pub secured: bool,
    /// True if it reports an SRED key even without one, as a forged or broken reader may do.
    pub claims_card_key: bool,
    /// True if it holds a PIN key.
    pub pin_key: bool,
    /// The amount (in minor units) that the card signs instead of the requested amount.
    pub amount_override: Option<u64>,
    /// The currency (ISO 4217 number) that the card signs instead of the requested currency.
    pub currency_override: Option<u16>,
    /// True if it is not a Miura reader: it answers all input with text.
    pub wrong_device: bool,
    /// True if it sends unsolicited messages before each answer, and retail-base packets between chained packets.
    pub chatter: bool,
    /// True if it sends the card event before 9F43 and 9F44 instead of after them. The protocol does not define the
    /// order.
    pub events_first: bool,
    /// True if it reports "Powered On" when a connection is opened (over TCP it always does; readers: 2.1).
    pub says_powered_on: bool,
    /// The result of an ABORT during a running command.
    pub race: AbortRace,
    /// The maximum number of APDU bytes in a packet: 254 on a real device; a smaller number splits every message.
    pub chain_size: usize,
    /// The maximum number of bytes per write, so that the other side reads in between.
    pub fragment: Option<usize>,
    /// The time that people and chips need.
    pub pace: Pace,
    /// True if the cardholder takes the card out after its final decision.
    pub removes_card: bool,
    /// True if it reports and accepts commands longer than one packet.
    pub extended_apdu: bool,
    /// The terminal country code (9F1A), BCD.
    pub country: [u8; 2],
    /// The reader's clock as 9A and 9F21. It does not run until it is set.
    pub clock: [u8; 6],
    /// The seed of the unpredictable numbers.
    pub seed: u64,
    /// The number of earlier transactions of every card.
    pub atc: u16,
    /// The kind of its keys, and the number of used keys.
    pub dukpt: Dukpt,
    /// The actions that the script carries out at events, without a person.
    pub script: Script,
}

/// The time that people and chips need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The time to read a chip.
    pub chip: Duration,
    /// The time between two key presses.
    pub key: Duration,
    /// The time until the card is taken out, with [`Options::removes_card`].
    pub removal: Duration,
    /// The duration of a reboot.
    pub boot: Duration,
}

impl Pace {
    /// No delays, for tests and benchmarks.
    pub const INSTANT: Self =
        Self { chip: Duration::ZERO, key: Duration::ZERO, removal: Duration::ZERO, boot: Duration::ZERO };
    /// The speed of a practised person, for demonstrations.
    pub const HUMAN: Self = Self {
        chip: Duration::from_millis(600),
        key: Duration::from_millis(250),
        removal: Duration::from_millis(1200),
        boot: Duration::from_secs(3),
    };
}

impl Default for Options {
    /// Returns a secured reader on a pty, without delays.
    fn default() -> Self {
        Self {
            family: Family::Miura,
            vipa: VipaSettings::default(),
            neo2: Neo2Settings::default(),
            tcp: None,
            connect: None,
            link: None,
            baud: None,
            serial: "30003638".to_owned(),
            // The protocol's description uses these names.
            configuration: ["ARQCDOL.CFG", "TCDOL.CFG", "AACDOL.CFG", "P2PEDOL.CFG"]
                .map(|name| (name.to_owned(), "1".to_owned()))
                .into(),
            secured: true,
            claims_card_key: false,
            pin_key: true,
            amount_override: None,
            currency_override: None,
            wrong_device: false,
            chatter: false,
            events_first: false,
            says_powered_on: false,
            race: AbortRace::AbortWins,
            chain_size: apdu_link::MAX_APDU,
            fragment: None,
            pace: Pace::INSTANT,
            removes_card: false,
            extended_apdu: false,
            country: [0x08, 0x26],
            clock: [0x25, 0x01, 0x31, 0x12, 0x34, 0x56],
            seed: 1,
            atc: 0,
            dukpt: Dukpt::TDES,
            script: Script::default(),
        }
    }
}
