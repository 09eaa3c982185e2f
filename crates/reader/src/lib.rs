//! Is: the card reader. What the agent may ask of one, and what it hears from it, whatever protocol is behind.
//! Is not: what decides about a sale. No family knows a gateway or a till.
//! Invariant: whatever a reader says about a sale carries that sale's number.
//!
//! A task owns the port; the agent holds a [`ReaderHandle`] and a stream of [`ReaderEvent`]s. The reader never hears of
//! a gateway or a till, and everything it says about a sale carries that sale's number, so that a card read for one
//! sale cannot be mistaken for another's (design: invariant 5).
//!
//! The order of events for one sale:
//!
//! ```text
//! Arm ─▶ Progress… ─▶ NoCard ──────────────────────────────────────────▶ [Progress RemoveCard] ─▶ Idle
//!                   └▶ Card ─▶ KeysLeft ─▶ (the agent: Complete) ─▶ Completed ─▶ [Progress RemoveCard] ─▶ Idle
//! TypeAmount ─▶ [Progress ChoosingTip] ─▶ Typed, and the reader waits for the next order: no Idle
//!
//! Unready at any moment ends the sale for the reader: no other event about it follows, no Idle
//! Arm while not ready or not idle: NoCard(NotReady), no Idle; TypeAmount then: Typed with NotReady
//! ```
//!
//! A reader that is asked for nothing is asked each minute whether it is still there, and gets the board's clock when
//! that was set, has jumped, or a day has passed.
//!
//! ```text
//! port (tty or TCP, the only one with a clock) ─▶ driver (which family) ─▶ miura (Miura MPI)
//! ```
//!
//! Beside them stands what every family may use: `outbox` (what goes out), `apdu_link` (the packets of Miura MPI and
//! VIPA), `keys` (KSNs are used once), `flood` (a reader that sends without end), `clock_setting`, `local_time`.

use std::time::Duration;

use pos_terms::card::{CardFacts, Presented};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;

mod clock_setting;
pub mod config;
pub mod driver;
mod flood;
pub mod keys;
mod local_time;
pub mod miura;
mod outbox;
pub mod port;
mod reasons;
mod settings;

pub use driver::ReaderFamily;
pub use local_time::LocalTime;
pub use port::{ReaderGone, ReaderHandle, nobody, spawn, tested};
pub use reasons::{NoAmount, NoCard, NotEncrypting, Unready};
pub use settings::{ClockSource, ReaderLanguage, ReaderSettings};

/// What the agent asks of the reader. At most one sale is under way; an order for another number is ignored.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "one or two orders for each sale; a box would only hide where the scripts are"
)]
pub enum ReaderOrder {
    /// Wait for a card on every interface, or for a card number to be typed. Answered by [`ReaderEvent::Card`] or
    /// [`ReaderEvent::NoCard`].
    Arm(Arm),
    /// Have an amount typed on the reader. Answered by [`ReaderEvent::Typed`].
    TypeAmount(TypeAmount),
    /// Show a text until the reader shows something else. Only between sales, and answered by nothing: at any other
    /// time the reader shows its own.
    Show {
        /// Lines of it end with a line feed; what does not fit the display is cut. Without control characters.
        text: String,
    },
    /// Set the reader's clock, when the settings' clock now gives a time: at once between two sales, else after the
    /// next.
    SetClock,
    /// Give the host's answer to the card. Answered by [`ReaderEvent::Completed`]. For a card that never went to a chip
    /// (swipe) it only changes the display.
    Complete {
        /// The sale of the card.
        sale: SaleNumber,
        /// What to tell the card.
        completion: Completion,
    },
    /// Stop waiting for a card or an amount. Answered by [`ReaderEvent::NoCard`] or [`ReaderEvent::Typed`]; a card that
    /// was read in the same moment is refused at the reader, wiped, and never reported, and a number that was typed
    /// then is not used.
    Cancel {
        /// The sale to stop.
        sale: SaleNumber,
    },
}

/// One sale at the reader: what is asked of its card.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The sale's number, repeated in every event about it.
    pub sale: SaleNumber,
    /// What the customer is shown and the card signs (9F02, 5F2A).
    pub amount: Amount,
    /// EMV transaction type (9C): 00 purchase, 20 refund.
    pub transaction_type: u8,
    /// Local date and time for the card (9A, 9F21).
    pub at: LocalTime,
    /// How long to wait for a card; for each part of a typed one.
    pub card_timeout: Duration,
    /// How the card is to be entered.
    pub entry: EntryRequest,
}

/// How a card is to be entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryRequest {
    /// Insert, tap or swipe.
    #[default]
    Card,
    /// Insert alone; a swipe is taken once the chip has failed.
    Chip,
    /// Its number and expiry date are typed on the reader, which seals them; only where the reader's settings
    /// allow it.
    Manual,
}

/// An amount to be typed on the reader by the customer or the cashier.
#[derive(Clone, Debug)]
pub struct TypeAmount {
    /// The number of the sale it is for, repeated in [`ReaderEvent::Typed`].
    pub sale: SaleNumber,
    /// What to ask for.
    pub what: AmountToType,
    /// How long to wait.
    pub timeout: Duration,
}

/// What is to be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AmountToType {
    /// An amount above zero.
    Amount {
        /// Its currency.
        currency: Currency,
    },
    /// A tip; none is a good answer.
    Tip {
        /// The bill without the tip.
        base: Amount,
        /// Up to four percentages to choose from, 1 to 100.
        percentages: heapless::Vec<u8, 4>,
        /// The customer may type another; offered where the percentages leave room.
        other: bool,
    },
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
pub enum ReaderEvent {
    /// Start-up is done; payments can be taken.
    Ready(ReaderIdentity),
    /// No payments can be taken until the next [`ReaderEvent::Ready`]. A sale that was under way is over for the
    /// reader: no other event about it follows.
    Unready(Unready),
    /// Something the cashier should see.
    Progress {
        /// The sale.
        sale: SaleNumber,
        /// What happens.
        progress: ReaderProgress,
    },
    /// The card was read. Its amount and currency are those asked for: the session has compared them.
    Card {
        /// The sale.
        sale: SaleNumber,
        /// The sealed card.
        presented: Box<Presented>,
    },
    /// How many keys the reader has left before its key sets are used up, once for each card that was read, after
    /// [`ReaderEvent::Card`]. `None`: no block of that kind was seen yet. A tap may take more than one.
    KeysLeft {
        /// For card data (SRED).
        card: Option<u64>,
        /// For PINs.
        pin: Option<u64>,
    },
    /// The answer to [`ReaderOrder::TypeAmount`]. The reader waits for the next order; no [`ReaderEvent::Idle`]
    /// follows.
    Typed {
        /// The sale.
        sale: SaleNumber,
        /// The amount, `None` for a tip of zero; or why there is none.
        amount: Result<Option<Amount>, NoAmount>,
    },
    /// No card was read and none will be; nothing needs to be sent.
    NoCard {
        /// The sale.
        sale: SaleNumber,
        /// Why.
        why: NoCard,
    },
    /// The card has had its say (or has none).
    Completed {
        /// The sale.
        sale: SaleNumber,
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
pub struct ReaderIdentity {
    /// Serial number (9F1E).
    pub serial: String,
    /// Model, as `M010-MPI`.
    pub model: String,
    /// Firmware version.
    pub firmware: String,
    /// Its configuration files, as far as it tells.
    pub configuration: Vec<ConfigFile>,
    /// Whether it holds a PIN key.
    pub pin_key: bool,
    /// The reader's own clock when it was read at start-up and the board's clock is not trusted (design: invariant 8).
    pub clock: Option<LocalTime>,
}

/// A configuration file of a reader: AIDs, limits, CA keys, prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What a cashier sees while the reader works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReaderProgress {
    /// The cardholder chooses a tip on the reader, before a card is asked for.
    ChoosingTip,
    /// Waiting for a card on every interface.
    PresentCard,
    /// Insert the card (the tap or the swipe was not accepted).
    InsertCard,
    /// Swipe the card (its chip failed).
    SwipeCard,
    /// Present one card only, or another one: the tap was not accepted.
    TryAgain,
    /// The card's number is typed on the reader.
    TypeCard,
    /// The cardholder chooses one of the card's applications on the reader.
    ChoosingApplication,
    /// The chip is being read.
    ReadingCard,
    /// The cardholder enters the PIN; so many digits so far, when the reader tells.
    PinEntry {
        /// Digits entered.
        digits: Option<u8>,
    },
    /// The chip found the PIN wrong; so many more it will try, when the reader tells. With any left it is asked for
    /// again.
    PinWrong {
        /// PINs that the chip still takes.
        tries_left: Option<u8>,
    },
    /// The reader accepted a PIN entry.
    PinDone,
    /// A text of the reader itself.
    ReaderText(String),
    /// Take the card out.
    RemoveCard,
}

impl ReaderProgress {
    /// A card, or its number, has come: the reader no longer waits for one.
    #[must_use]
    pub fn has_a_card(&self) -> bool {
        match self {
            Self::ChoosingTip
            | Self::PresentCard
            | Self::InsertCard
            | Self::SwipeCard
            | Self::TryAgain
            | Self::ReaderText(_) => false,
            Self::TypeCard
            | Self::ChoosingApplication
            | Self::ReadingCard
            | Self::PinEntry { .. }
            | Self::PinWrong { .. }
            | Self::PinDone
            | Self::RemoveCard => true,
        }
    }
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
