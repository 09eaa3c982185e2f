//! The card reader: the agent's orders and the reader's events, for every reader protocol. This crate does not decide
//! about a transaction, and no family of readers knows a gateway or a till. Invariant: every event about a transaction
//! carries the transaction's number.
//!
//! A task owns the port. The agent holds a [`ReaderHandle`] and a stream of [`ReaderEvent`]s. Because every event
//! carries its transaction's number, a card read for one transaction cannot be used for another (design: invariant 5).
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
//! An idle reader is checked each minute. It gets the time from the board's clock after that clock was set, after it
//! has jumped, or after a day.
//!
//! ```text
//! port (tty or TCP, the only one with a clock) ─▶ driver (which family) ─▶ session (the rules of every family)
//!                                                                              ▲
//!                                          family (the interface) ◀─ miura, vipa, neo2
//! ```
//!
//! The session uses the other modules. `card_answer` and `card_read` have a card's answer and the judgement about it,
//! `masked_pan` and `typed_amount` what comes in ASCII. `outbox` holds outgoing frames and events. `keys` checks that
//! each KSN is used only once, and `flood` limits endless sending. `clock_setting` decides when the reader's clock is
//! set, and `local_time` has the time for the card. `identify` finds out which family answers at a port. `recording`
//! writes what a session hears and says, without card data.

#![cfg_attr(
    not(all(feature = "miura", feature = "neo2", feature = "vipa")),
    allow(
        dead_code,
        unreachable_pub,
        reason = "some of the shared parts have only users in families that were left out"
    )
)]

use std::time::Duration;

use pos_terms::card::{CardFacts, Presented};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;

#[cfg(any(feature = "miura", feature = "vipa"))]
mod apdu;
#[cfg(any(feature = "miura", feature = "vipa"))]
mod apdu_framing;
#[cfg(any(feature = "miura", feature = "vipa"))]
mod apdu_recording;
pub mod capability;
pub mod card_answer;
pub mod card_read;
mod clock_setting;
pub mod config;
pub mod driver;
pub mod family;
mod flood;
pub mod identify;
pub mod keys;
mod local_time;
mod masked_pan;
#[cfg(feature = "miura")]
pub mod miura;
#[cfg(feature = "neo2")]
pub mod neo2;
mod outbox;
pub mod port;
mod reasons;
pub mod recording;
pub mod session;
mod settings;
mod typed_amount;
#[cfg(feature = "vipa")]
pub mod vipa;

pub use driver::{FamilyLeftOut, ReaderFamily};
pub use local_time::LocalTime;
pub use port::{ReaderGone, ReaderHandle, nobody, spawn, tested};
pub use reasons::{NoAmount, NoCard, NotEncrypting, Unready};
pub use settings::{ClockSource, ReaderLanguage, ReaderSettings};

/// An order from the agent to the reader. At most one transaction is running, and an order for any other is ignored.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "one or two orders for each sale; a box would only hide where the scripts are"
)]
pub enum ReaderOrder {
    /// Wait for a card on every interface, or for a card number to be typed. Answered by [`ReaderEvent::Card`] or
    /// [`ReaderEvent::NoCard`].
    Arm(Arm),
    /// Let an amount be typed on the reader. Answered by [`ReaderEvent::Typed`].
    TypeAmount(TypeAmount),
    /// Show a text until the reader shows another one. This works only between transactions and has no answer. At any
    /// other time the reader shows its own texts.
    Show {
        /// The text, without control characters. Its lines end with a line feed. A text that does not fit the display
        /// is cut.
        text: String,
    },
    /// Set the reader's clock if the settings' clock gives a time. Between transactions this happens immediately,
    /// otherwise after the current one.
    SetClock,
    /// Pass the gateway's answer to the card. Answered by [`ReaderEvent::Completed`]. For a card without a chip
    /// dialogue (a swipe), this changes only the display.
    Complete {
        /// The transaction of the card.
        sale: SaleNumber,
        /// The answer for the card.
        completion: Completion,
    },
    /// Stop waiting for a card or an amount. Answered by [`ReaderEvent::NoCard`] or [`ReaderEvent::Typed`]. A card that
    /// is read at the same moment is declined at the reader, wiped, and never reported. A number that is typed at the
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
    /// The time to wait for a card. For a typed card, the time for each part.
    pub card_timeout: Duration,
    /// How the card is to be entered.
    pub entry: EntryRequest,
}

/// The ways in which a card can be entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryRequest {
    /// Insert, tap or swipe the card.
    #[default]
    Card,
    /// Insert the card. A swipe is accepted after the chip has failed.
    Chip,
    /// Type the card number and the expiry date on the reader, which seals them. The reader's settings must allow this.
    Manual,
}

/// An order for an amount that the customer or the cashier types on the reader.
#[derive(Clone, Debug)]
pub struct TypeAmount {
    /// The transaction's number, repeated in [`ReaderEvent::Typed`].
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
    /// A tip, which may be zero.
    Tip {
        /// The bill without the tip.
        base: Amount,
        /// Up to four percentages to choose from, 1 to 100.
        percentages: heapless::Vec<u8, 4>,
        /// `true` if the customer may type another tip. It is offered if the percentages leave room.
        other: bool,
    },
}

/// The gateway's answer for the card (CONTINUE TRANSACTION).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Authorisation response code (8A), two ASCII characters: `00` approves, `Z1` declines.
    pub arc: [u8; 2],
    /// The issuer authentication data (91).
    pub issuer_authentication: Option<heapless::Vec<u8, 16>>,
    /// Issuer scripts (71, 72), each a whole TLV. Scripts that the reader cannot take are left out, with a note.
    pub scripts: heapless::Vec<u8, 512>,
}

/// An event from the reader to the agent.
#[derive(Debug)]
pub enum ReaderEvent {
    /// The start-up is done, and payments can be taken.
    Ready(ReaderIdentity),
    /// No payments can be taken until the next [`ReaderEvent::Ready`]. The reader ends a running transaction and sends
    /// no other event about it.
    Unready(Unready),
    /// A step that the cashier should see.
    Progress {
        /// The transaction.
        sale: SaleNumber,
        /// The step.
        progress: ReaderProgress,
    },
    /// The card names a language of the texts for the reader. The session may report it more than once.
    Language {
        /// The transaction.
        sale: SaleNumber,
        /// The cardholder's language.
        language: ReaderLanguage,
    },
    /// The card was read. The session has checked that its amount and currency are the requested ones.
    Card {
        /// The transaction.
        sale: SaleNumber,
        /// The sealed card.
        presented: Box<Presented>,
    },
    /// The number of keys that the reader has left. It is sent once for each read card, after [`ReaderEvent::Card`],
    /// and after [`ReaderEvent::Ready`] if the reader names its keys. `None` means that nothing is known of that kind.
    /// A tap may take more than one key.
    KeysLeft {
        /// The keys for card data (SRED).
        card: Option<u64>,
        /// For PINs.
        pin: Option<u64>,
    },
    /// The answer to [`ReaderOrder::TypeAmount`]. After it, the reader waits for the next order without a
    /// [`ReaderEvent::Idle`].
    Typed {
        /// The transaction.
        sale: SaleNumber,
        /// The amount, or `None` for a tip of zero. If there is no amount, the reason.
        amount: Result<Option<Amount>, NoAmount>,
    },
    /// No card was read and none will be, so the agent does not send a request.
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
        /// The facts with the final cryptogram, TVR and TSI, if the chip gave them.
        facts: Option<Box<CardFacts>>,
        /// `true` if issuer scripts were left out (design: path of a sale, 7).
        scripts_dropped: bool,
    },
    /// The slot is empty and the reader waits for the next order.
    Idle,
}

/// The reader's identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReaderIdentity {
    /// Serial number (9F1E).
    pub serial: String,
    /// The model, such as `M010-MPI`.
    pub model: String,
    /// Firmware version.
    pub firmware: String,
    /// The reader's configuration files, if it names them.
    pub configuration: Vec<ConfigFile>,
    /// `true` if the reader has a PIN key.
    pub pin_key: bool,
    /// `true` if the reader says that it was opened. UNCERTAIN: which values of a tamper state say so. Every value
    /// except zero counts (readers: 3.2).
    pub tampered: bool,
    /// The reader's own clock, if it was read at start-up because the board's clock was not trusted (design: invariant
    /// 8).
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
    /// The cardholder chooses a tip on the reader, before the reader asks for a card.
    ChoosingTip,
    /// The reader waits for a card on every interface.
    PresentCard,
    /// The customer must insert the card (the tap or the swipe was not accepted).
    InsertCard,
    /// The customer must swipe the card (its chip failed).
    SwipeCard,
    /// The customer must present only one card, or a different one, because the tap was not accepted.
    TryAgain,
    /// The card's number is being typed on the reader.
    TypeCard,
    /// The cardholder chooses one of the card's applications on the reader.
    ChoosingApplication,
    /// The chip is being read.
    ReadingCard,
    /// The cardholder enters the PIN.
    PinEntry {
        /// The number of digits entered so far, if the reader sends it.
        digits: Option<u8>,
    },
    /// The chip rejected the PIN. If tries are left, the reader asks for the PIN again.
    PinWrong {
        /// The number of PIN tries left at the chip, if the reader sends it.
        tries_left: Option<u8>,
    },
    /// The reader accepted a PIN entry.
    PinDone,
    /// The reader's own text.
    ReaderText(String),
    /// The customer must remove the card.
    RemoveCard,
}

impl ReaderProgress {
    /// Returns whether a card or its number has been entered, so that the reader no longer waits for one.
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

/// The card's decision after the gateway's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardVerdict {
    /// TC, or a card that does not decide.
    Approved,
    /// AAC.
    Refused,
    /// The card was removed or did not answer, or the reader failed, so the card's decision is unknown.
    Lost,
}
