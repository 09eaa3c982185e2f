//! Is: the card reader. It defines the agent's orders and the reader's events, for every reader protocol.
//! Is not: the decision about a transaction. No family of readers knows a gateway or a till.
//! Invariant: every event about a transaction carries the transaction's number.
//!
//! A task owns the port; the agent holds a [`ReaderHandle`] and a stream of [`ReaderEvent`]s. The reader has no contact
//! with a gateway or a till. Every event about a transaction carries its number, so that a card read for one
//! transaction cannot be used for another (design: invariant 5).
//!
//! The order of events for one transaction:
//!
//! ```text
//! Arm ─▶ Progress… ─▶ NoCard ──────────────────────────────────────────▶ [Progress RemoveCard] ─▶ Idle
//!                   └▶ Card ─▶ KeysLeft ─▶ (the agent: Complete) ─▶ Completed ─▶ [Progress RemoveCard] ─▶ Idle
//! TypeAmount ─▶ [Progress ChoosingTip] ─▶ Typed, and the reader waits for the next order: no Idle
//!
//! Unready at any moment ends the transaction for the reader: no other event about it follows, no Idle
//! Arm while not ready or not idle: NoCard(NotReady), no Idle; TypeAmount then: Typed with NotReady
//! ```
//!
//! An idle reader is checked each minute. It gets the board's clock when that clock was set, has jumped, or a day has
//! passed.
//!
//! ```text
//! port (tty or TCP, the only one with a clock) ─▶ driver (which family) ─▶ miura (Miura MPI)
//! ```
//!
//! Every family may use the other modules. `outbox` holds outgoing frames and events, and `apdu_link` the packets of
//! Miura MPI and VIPA. `keys` checks that KSNs are used once, and `flood` limits endless sending. `clock_setting` and
//! `local_time` are the other two.

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

/// An order of the agent to the reader. At most one transaction is running; an order for another number is ignored.
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
    /// Show a text until the reader shows another one. It works only between transactions and has no answer. At any
    /// other time the reader shows its own texts.
    Show {
        /// The text without control characters; its lines end with a line feed. A text that does not fit the display is
        /// cut.
        text: String,
    },
    /// Set the reader's clock, when the settings' clock gives a time: immediately between two transactions, otherwise
    /// after the current one.
    SetClock,
    /// Pass the gateway's answer to the card. Answered by [`ReaderEvent::Completed`]. For a card without a chip
    /// dialogue (swipe) it only changes the display.
    Complete {
        /// The transaction of the card.
        sale: SaleNumber,
        /// The answer for the card.
        completion: Completion,
    },
    /// Stop waiting for a card or an amount. Answered by [`ReaderEvent::NoCard`] or [`ReaderEvent::Typed`]. A card that
    /// was read at the same moment is refused at the reader, wiped, and never reported. A number that was typed at the
    /// same moment is not used.
    Cancel {
        /// The transaction to stop.
        sale: SaleNumber,
    },
}

/// The request for the card of one transaction.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The transaction's number, repeated in every event about it.
    pub sale: SaleNumber,
    /// The amount that the customer sees and the card signs (9F02, 5F2A).
    pub amount: Amount,
    /// EMV transaction type (9C): 00 purchase, 20 refund.
    pub transaction_type: u8,
    /// Local date and time for the card (9A, 9F21).
    pub at: LocalTime,
    /// The time to wait for a card; for a typed card the time for each part.
    pub card_timeout: Duration,
    /// The way in which the card is to be entered.
    pub entry: EntryRequest,
}

/// The ways in which a card can be entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryRequest {
    /// Insert, tap or swipe.
    #[default]
    Card,
    /// Insert only; a swipe is accepted after the chip has failed.
    Chip,
    /// Number and expiry date are typed on the reader, which seals them. Only when the reader's settings allow it.
    Manual,
}

/// An amount to be typed on the reader by the customer or the cashier.
#[derive(Clone, Debug)]
pub struct TypeAmount {
    /// The number of its transaction, repeated in [`ReaderEvent::Typed`].
    pub sale: SaleNumber,
    /// The amount to ask for.
    pub what: AmountToType,
    /// The time to wait.
    pub timeout: Duration,
}

/// The kind of amount to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AmountToType {
    /// An amount above zero.
    Amount {
        /// The currency.
        currency: Currency,
    },
    /// A tip; no tip is a valid answer.
    Tip {
        /// The bill without the tip.
        base: Amount,
        /// Up to four percentages to choose from, 1 to 100.
        percentages: heapless::Vec<u8, 4>,
        /// `true` when the customer may type another; offered when the percentages leave room.
        other: bool,
    },
}

/// The gateway's answer for the card (CONTINUE TRANSACTION).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Authorisation response code (8A), two ASCII characters: `00` approves, `Z1` declines.
    pub arc: [u8; 2],
    /// Issuer authentication data (91).
    pub issuer_authentication: Option<heapless::Vec<u8, 16>>,
    /// Issuer scripts (71, 72), each a whole TLV. They are left out, with a note, when they do not fit the reader.
    pub scripts: heapless::Vec<u8, 512>,
}

/// An event from the reader to the agent.
#[derive(Debug)]
pub enum ReaderEvent {
    /// Start-up is done; payments can be taken.
    Ready(ReaderIdentity),
    /// No payments can be taken until the next [`ReaderEvent::Ready`]. A running transaction is over for the reader: no
    /// other event about it follows.
    Unready(Unready),
    /// A step that the cashier should see.
    Progress {
        /// The transaction.
        sale: SaleNumber,
        /// The step.
        progress: ReaderProgress,
    },
    /// The card was read. Its amount and currency are the requested ones: the session has compared them.
    Card {
        /// The transaction.
        sale: SaleNumber,
        /// The sealed card.
        presented: Box<Presented>,
    },
    /// The number of keys that the reader has left, sent once for each read card, after [`ReaderEvent::Card`]. `None`:
    /// no block of that kind was seen yet. A tap may take more than one key.
    KeysLeft {
        /// For card data (SRED).
        card: Option<u64>,
        /// For PINs.
        pin: Option<u64>,
    },
    /// The answer to [`ReaderOrder::TypeAmount`]. The reader waits for the next order; no [`ReaderEvent::Idle`]
    /// follows.
    Typed {
        /// The transaction.
        sale: SaleNumber,
        /// The amount, `None` for a tip of zero; or the reason why there is none.
        amount: Result<Option<Amount>, NoAmount>,
    },
    /// No card was read and none will be; the agent need not send a request.
    NoCard {
        /// The transaction.
        sale: SaleNumber,
        /// The reason.
        why: NoCard,
    },
    /// The card has given its last answer, or has none to give.
    Completed {
        /// The transaction.
        sale: SaleNumber,
        /// The card's answer.
        verdict: CardVerdict,
        /// The facts with the final cryptogram, TVR and TSI, when the chip gave them.
        facts: Option<Box<CardFacts>>,
        /// `true` when issuer scripts had to be left out (design: path of a sale, 7).
        scripts_dropped: bool,
    },
    /// The slot is empty and the reader waits for the next order.
    Idle,
}

/// The reader's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderIdentity {
    /// Serial number (9F1E).
    pub serial: String,
    /// The model, as `M010-MPI`.
    pub model: String,
    /// Firmware version.
    pub firmware: String,
    /// The reader's configuration files, as far as it names them.
    pub configuration: Vec<ConfigFile>,
    /// `true` when the reader has a PIN key.
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

/// A step of the reader's work, for the cashier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReaderProgress {
    /// The cardholder chooses a tip on the reader, before it asks for a card.
    ChoosingTip,
    /// The reader waits for a card on every interface.
    PresentCard,
    /// The customer must insert the card (the tap or the swipe was not accepted).
    InsertCard,
    /// The customer must swipe the card (its chip failed).
    SwipeCard,
    /// The customer must present only one card, or another one: the tap was not accepted.
    TryAgain,
    /// The card's number is being typed on the reader.
    TypeCard,
    /// The cardholder chooses one of the card's applications on the reader.
    ChoosingApplication,
    /// The chip is being read.
    ReadingCard,
    /// The cardholder enters the PIN.
    PinEntry {
        /// The number of digits entered so far, when the reader sends it.
        digits: Option<u8>,
    },
    /// The chip found the PIN wrong. With tries left, the reader asks for the PIN again.
    PinWrong {
        /// The PIN tries that the chip still takes, when the reader sends the number.
        tries_left: Option<u8>,
    },
    /// The reader accepted a PIN entry.
    PinDone,
    /// The reader's own text.
    ReaderText(String),
    /// The customer must take the card out.
    RemoveCard,
}

impl ReaderProgress {
    /// Checks whether a card, or its number, has come, so that the reader no longer waits for one.
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

/// The card's answer after the gateway's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardVerdict {
    /// TC, or a card without a decision.
    Approved,
    /// AAC.
    Refused,
    /// The card was pulled or mute, or the reader failed: the card's decision is not known.
    Lost,
}
