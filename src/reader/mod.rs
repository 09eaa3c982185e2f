//! The card reader: what the agent may ask of one, and what it hears from it, whatever protocol is behind.
//!
//! A task owns the port; the agent holds a [`Handle`] and a stream of [`Event`]s. The reader never hears of a gateway or a
//! till, and everything it says about a sale carries that sale's number, so that a card read for one sale cannot be
//! mistaken for another's (design: invariant 5).
//!
//! The order of events for one sale:
//!
//! ```text
//! Arm ─▶ Step… ─▶ NoCard ──────────────────────────────▶ [Step RemoveCard] ─▶ Idle
//!               └▶ Card ─▶ (the agent: Complete) ─▶ Completed ─▶ [Step RemoveCard] ─▶ Idle
//! Unready at any moment ends the sale for the reader; Arm while not ready or not idle: NoCard(NotReady), no Idle
//! ```
//!
//! `link` (bytes) → `message` (meaning, both directions) → `session` (rules and time, no I/O) → `port` (the wire).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::card::{CardFacts, Presented};
use crate::money::Amount;

pub mod link;
pub mod miura;
pub mod port;

pub use port::{Handle, spawn};

/// What a reader needs to know from the configuration.
#[derive(Clone)]
pub struct Settings {
    /// A tty as `/dev/serial/by-id/…`, or `tcp://host:6543`.
    pub port: String,
    /// Line speed of a tty, in baud; without meaning on USB.
    pub baud: u32,
    /// Leave the reader's masked card data inside `pos.iccDataRequest`.
    pub icc_masked_tags: bool,
    /// The board's local time.
    pub clock: ClockSource,
    /// The second byte of DF30 that means "tapped in magstripe mode". Its values are not published (readers: 10, point 3), so it
    /// is `None` until a real reader's is known; then the absence of a cryptogram, or 9F39 = 91, decides alone.
    pub magstripe_mode: Option<u8>,
}

/// Gives the board's local time, or `None` while its clock is not trusted (design: invariant 8).
pub type ClockSource = Arc<dyn Fn() -> Option<LocalTime> + Send + Sync>;

impl Settings {
    /// Settings with the defaults: 115200 baud, masked data left out, a clock that is not trusted.
    #[must_use]
    pub fn new(port: impl Into<String>) -> Self {
        Self {
            port: port.into(),
            baud: 115_200,
            icc_masked_tags: false,
            clock: Arc::new(|| None),
            magstripe_mode: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { port, baud, icc_masked_tags, clock: _, magstripe_mode: _ } = self;
        write!(f, "Settings({port}, {baud} baud, masked tags {icc_masked_tags})")
    }
}

/// What the agent asks of the reader. At most one sale is under way; an order for another number is ignored.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "one or two orders for each sale; a box would only hide where the scripts are"
)]
pub enum Order {
    /// Wait for a card on every interface. Answered by [`Event::Card`] or [`Event::NoCard`].
    Arm(Arm),
    /// Give the host's answer to the card. Answered by [`Event::Completed`]. For a card that never went to a chip (swipe) it
    /// only changes the display.
    Complete {
        /// The sale of the card.
        sale: u64,
        /// What to tell the card.
        completion: Completion,
    },
    /// Stop waiting for a card. Answered by [`Event::NoCard`]; a card that was read in the same moment is refused at the
    /// reader, wiped, and never reported.
    Cancel {
        /// The sale to stop.
        sale: u64,
    },
}

/// The terms of one sale at the reader.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The sale's number, repeated in every event about it.
    pub sale: u64,
    /// What the customer is shown and the card signs (9F02, 5F2A).
    pub amount: Amount,
    /// EMV transaction type (9C): 00 purchase, 20 refund.
    pub transaction_type: u8,
    /// Local date and time for the card (9A, 9F21).
    pub at: LocalTime,
    /// How long to wait for a card.
    pub card_timeout: Duration,
}

/// Local date and time as EMV writes it, in decimal numbers (not yet BCD).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// Year without century.
    pub year: u8,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
}

impl LocalTime {
    /// Tag 9A: YYMMDD in BCD.
    #[must_use]
    pub fn date_bcd(self) -> [u8; 3] {
        [self.year, self.month, self.day].map(to_bcd)
    }

    /// Tag 9F21: HHMMSS in BCD.
    #[must_use]
    pub fn time_bcd(self) -> [u8; 3] {
        [self.hour, self.minute, self.second].map(to_bcd)
    }

    /// From tags 9A and 9F21; `None` when they are no BCD or no date and time.
    #[must_use]
    pub fn from_bcd(date: [u8; 3], time: [u8; 3]) -> Option<Self> {
        let number = |bcd: u8| (bcd >> 4 < 10 && bcd & 0x0F < 10).then(|| (bcd >> 4) * 10 + (bcd & 0x0F));
        let [year, month, day] = date.map(number);
        let [hour, minute, second] = time.map(number);
        let time = Self { year: year?, month: month?, day: day?, hour: hour?, minute: minute?, second: second? };
        let legal = (1..=12).contains(&time.month)
            && (1..=31).contains(&time.day)
            && time.hour < 24
            && time.minute < 60
            && time.second < 60;
        legal.then_some(time)
    }
}

/// Two digits of a number below 100.
fn to_bcd(number: u8) -> u8 {
    let number = number % 100;
    (number / 10) << 4 | (number % 10)
}

/// The host's answer for the card (CONTINUE TRANSACTION).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Authorisation response code (8A), two ASCII characters: `00` approves, `Z1` declines.
    pub arc: [u8; 2],
    /// Issuer authentication data (91).
    pub issuer_authentication: Option<heapless::Vec<u8, 16>>,
    /// Issuer scripts (71, 72), each a whole TLV. Left out, and noted, when they do not fit the reader.
    pub scripts: heapless::Vec<u8, 512>,
}

/// What the agent hears from the reader.
#[derive(Debug)]
pub enum Event {
    /// Start-up is done; payments can be taken.
    Ready(Identity),
    /// No payments can be taken until the next [`Event::Ready`]. A sale that was under way is over for the reader: no other
    /// event about it follows.
    Unready(Unready),
    /// Something the cashier should see.
    Step {
        /// The sale.
        sale: u64,
        /// What happens.
        step: Step,
    },
    /// The card was read. Its amount and currency are those asked for: the session has compared them.
    Card {
        /// The sale.
        sale: u64,
        /// The sealed card.
        presented: Box<Presented>,
    },
    /// No card was read and none will be; nothing needs to be sent.
    NoCard {
        /// The sale.
        sale: u64,
        /// Why.
        why: NoCard,
    },
    /// The card has had its say (or has none).
    Completed {
        /// The sale.
        sale: u64,
        /// What it said.
        verdict: CardVerdict,
        /// The facts with the final cryptogram, TVR and TSI, when the chip gave them.
        facts: Option<Box<CardFacts>>,
        /// Whether issuer scripts had to be left out (design: path of a sale, 7).
        scripts_dropped: bool,
    },
    /// The slot is empty and the reader waits for the next order.
    Idle,
}

/// Who the reader is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Serial number (9F1E).
    pub serial: String,
    /// Model, as `M010-MPI`.
    pub model: String,
    /// Firmware version.
    pub firmware: String,
    /// Whether it holds a PIN key.
    pub pin_key: bool,
    /// The reader's own clock when it was read at start-up and the board's clock is not trusted (design: invariant 8).
    pub clock: Option<LocalTime>,
}

/// Why no payments can be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unready {
    /// The port cannot be opened or went away.
    #[error("no reader at {port}: {cause}; check the cable and [reader] port")]
    Absent {
        /// The port's name.
        port: String,
        /// The system's words.
        cause: String,
    },
    /// What answers is not this kind of reader, or nothing answers.
    #[error("the device at {port} does not answer as a {protocol} reader ({cause}); check [reader] port and protocol")]
    WrongDevice {
        /// The port's name.
        port: String,
        /// The protocol expected.
        protocol: &'static str,
        /// What was wrong.
        cause: String,
    },
    /// No SRED key: the reader would not encrypt card data.
    #[error("reader {serial} holds no card-data key (SRED) and must not be used; have keys injected")]
    NoCardKey {
        /// Its serial number.
        serial: String,
    },
    /// The reader offered card data in clear.
    #[error(
        "reader {serial} sends card data unencrypted and must not be used; nothing of it was kept; have it replaced"
    )]
    ClearCardData {
        /// Its serial number.
        serial: String,
    },
    /// It is being restarted after a fault.
    #[error("the reader is being restarted after: {cause}")]
    Restarting {
        /// What happened.
        cause: String,
    },
}

/// What a cashier sees while the reader works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Waiting for a card on every interface.
    PresentCard,
    /// Insert the card (the tap or the swipe was not accepted).
    InsertCard,
    /// Swipe the card (its chip failed).
    SwipeCard,
    /// Present one card only, or another one: the tap was not accepted.
    TryAgain,
    /// The chip is being read.
    ReadingCard,
    /// The cardholder enters the PIN; so many digits so far, when the reader tells.
    PinEntry {
        /// Digits entered.
        digits: Option<u8>,
    },
    /// The reader accepted a PIN entry.
    PinDone,
    /// A text of the reader itself.
    ReaderText(String),
    /// Take the card out.
    RemoveCard,
}

/// Why no card was read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCard {
    /// [`Order::Cancel`] was carried out.
    #[error("cancelled at the till")]
    CancelledByTill,
    /// The cancel key, or the PIN entry was cancelled.
    #[error("cancelled at the reader")]
    CancelledAtReader,
    /// No card in time.
    #[error("no card was presented in time")]
    TimedOut,
    /// The card could not be read on any interface it allows.
    #[error("the card could not be read ({cause}); try another card")]
    Unreadable {
        /// The reader's words, without card data.
        cause: String,
    },
    /// The reader's 9F02 or 5F2A is not what was asked for; nothing may be sent.
    #[error(
        "the reader signed another amount or currency than was asked for; nothing was charged; have the reader checked"
    )]
    AmountDiffers,
    /// The reader was not ready.
    #[error("the reader is not ready")]
    NotReady,
}

/// What the card said after the host's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardVerdict {
    /// TC, or a card that has no say.
    Approved,
    /// AAC.
    Refused,
    /// Pulled, mute, or the reader failed: nobody knows.
    Lost,
}
