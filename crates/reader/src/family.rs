//! The interface between the shared session and a family of readers. A family cuts bytes into messages ([`Framing`]),
//! reads messages ([`Listener`]) and writes commands ([`Speaker`]). The session knows only the meanings in this file.
//!
//! ```text
//! bytes ─▶ Framing ─▶ Listener ─▶ MessageMeaning ─▶ session (rules, deadlines) ─▶ ReaderQuestion ─▶ Speaker ─▶ frames
//! ```
//!
//! A family does no I/O, reads no clock, and decides nothing about a transaction. Its settings implement [`Family`].

use std::fmt;
use std::time::Duration;

use crate::capability::Capability;
use crate::card_answer::{ApplicationChoice, CardElements, TransactionAnswer};
use crate::card_read::{self, SwipedCard, UnusableSwipe};
use crate::config::TipEntry;
use crate::outbox::Frame;
use crate::recording::RecordedWire;
use crate::{Arm, ConfigFile, LocalTime, ReaderLanguage};
use pos_reader_link::apdu_link::EncodeError;
use pos_terms::card::{MAX_SEALED, MaskedPan, SealedCard, SealedPin, Wiped};
use pos_terms::emv::{Tag, TlvError};
use pos_terms::money::{Amount, Currency};

/// Maximum number of frames of one command. A command of Miura MPI has at most five packets.
const MAX_FRAMES: usize = 5;
/// The frames of one command.
pub type CommandFrames = heapless::Vec<Frame, MAX_FRAMES>;

/// A family of readers, implemented by its settings.
pub trait Family {
    /// Creates the parts of a session with one reader.
    fn parts(self) -> FamilyParts;
}

/// The parts of a family in one session.
pub struct FamilyParts {
    /// Cuts received bytes into messages.
    pub framing: Box<dyn Framing>,
    /// Reads messages.
    pub listener: Box<dyn Listener>,
    /// Writes commands.
    pub speaker: Box<dyn Speaker>,
    /// Removes card data from a recording.
    pub recording: &'static dyn RecordedWire,
}

/// Cuts received bytes into messages. It keeps unfinished messages, with a limit, and wipes them.
pub trait Framing: Send {
    /// Takes received bytes, and passes each message and fault to `on`, in order.
    fn feed(&mut self, bytes: &[u8], on: &mut dyn FnMut(Framed<'_>));
    /// Handles a silence, which ends an unfinished message.
    fn silence(&mut self, on: &mut dyn FnMut(Framed<'_>));
    /// Returns whether a message is unfinished.
    fn is_unfinished(&self) -> bool;
    /// Forgets unfinished messages, because the connection is new.
    fn forget(&mut self);
}

/// A result of [`Framing::feed`].
pub enum Framed<'a> {
    /// A complete message.
    Message(RawMessage<'a>),
    /// Bytes were lost.
    Fault {
        /// The description for the log, without received data.
        fault: &'a dyn fmt::Display,
        /// `false` if the lost bytes are too few for a message.
        may_be_a_message: bool,
    },
}

/// A complete message, not yet read.
#[derive(Clone, Copy)]
pub struct RawMessage<'a> {
    /// `true` if the reader sent the message without a preceding command.
    pub unsolicited: bool,
    /// The message's own codes, for families whose frames have them outside the data: command and status.
    pub codes: [u8; 2],
    /// The data.
    pub bytes: &'a [u8],
}

/// The session's question or instruction to the reader.
#[derive(Clone, Copy)]
pub enum ReaderQuestion<'a> {
    /// A step of the start-up.
    StartUp(StartUpStep),
    /// End the running command. The field is the purpose of that command, if one is running.
    Abort(Option<CommandPurpose>),
    /// Report the card in the slot. For readers without such events, any answer shows that the reader is there.
    CardStatus,
    /// Set the clock.
    ClockSet(LocalTime),
    /// Set the date, in a family that sets date and time by two commands.
    DateSet(LocalTime),
    /// Report the clock.
    ClockGet,
    /// Report which keys are present.
    KeyStatus,
    /// Show a text. Its lines end with a line feed.
    Show(&'a str),
    /// Wait for a card.
    AnyCard {
        /// The transaction's data.
        transaction: TransactionData,
        /// The shop's language, if it is not English.
        language: Option<ReaderLanguage>,
        /// `true` if a tap is accepted. Insertion and swipe always are.
        contactless: bool,
        /// The time until the session ends the wait.
        wait: Duration,
    },
    /// Begin the dialogue with the chip in the slot.
    Start(TransactionData),
    /// Answer the reader's request for a decision.
    Decide {
        /// The transaction's data.
        transaction: TransactionData,
        /// The decision.
        decision: Decision<'a>,
    },
    /// Pass the gateway's answer to the card.
    Host {
        /// The transaction's data.
        transaction: TransactionData,
        /// The answer.
        answer: HostAnswer<'a>,
        /// `true` if the card was tapped.
        contactless: bool,
    },
    /// Ask for the online PIN of the card that was read last.
    OnlinePin {
        /// The transaction's data.
        transaction: TransactionData,
        /// The masked track of a swiped card, unchanged.
        masked_track2: Option<&'a [u8]>,
    },
    /// Ask for an amount.
    Amount {
        /// The currency.
        currency: Currency,
        /// The time to wait.
        timeout: Duration,
    },
    /// Ask for a tip.
    Tip {
        /// The bill.
        base: Amount,
        /// Up to four percentages, 1 to 100.
        percentages: &'a [u8],
        /// `true` if the customer may type another tip.
        other: bool,
        /// The time to wait.
        timeout: Duration,
    },
    /// Ask for a part of a typed card ([`Speaker::typed_parts`]).
    TypedCard {
        /// The number of the part, from 0.
        part: usize,
        /// The amount that the cardholder pays.
        amount: Amount,
        /// The time to wait for each entry.
        timeout: Duration,
    },
    /// Delete the typed data.
    ForgetTyped,
}

/// The purpose of a command whose answer is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandPurpose {
    /// [`ReaderQuestion::StartUp`]. Its answer is awaited like that of any other command, even if the step is an abort.
    StartUp(StartUpStep),
    /// [`ReaderQuestion::CardStatus`].
    CardStatus,
    /// [`ReaderQuestion::ClockSet`].
    ClockSet,
    /// [`ReaderQuestion::DateSet`].
    DateSet,
    /// [`ReaderQuestion::ClockGet`].
    ClockGet,
    /// [`ReaderQuestion::KeyStatus`].
    KeyStatus,
    /// [`ReaderQuestion::Show`].
    Show,
    /// [`ReaderQuestion::AnyCard`].
    AnyCard,
    /// [`ReaderQuestion::Start`].
    Start,
    /// [`ReaderQuestion::Decide`].
    Decide,
    /// [`ReaderQuestion::Host`].
    Host {
        /// `true` if the card was tapped.
        contactless: bool,
    },
    /// [`ReaderQuestion::OnlinePin`].
    OnlinePin,
    /// [`ReaderQuestion::Amount`] or [`ReaderQuestion::Tip`].
    Amount,
    /// [`ReaderQuestion::TypedCard`].
    TypedCard,
    /// [`ReaderQuestion::ForgetTyped`].
    ForgetTyped,
}

impl CommandPurpose {
    /// Returns whether the command is independent of the current state. Its answer changes nothing, but a reader that
    /// does not answer it counts as lost.
    pub(crate) fn is_aside(self) -> bool {
        matches!(self, Self::ClockSet | Self::DateSet | Self::CardStatus | Self::Show | Self::ForgetTyped)
    }

    /// Returns whether the cardholder takes part in the command, so that only an abort ends it.
    pub(crate) fn has_cardholder(self) -> bool {
        matches!(
            self,
            Self::AnyCard
                | Self::Start
                | Self::Decide
                | Self::Host { .. }
                | Self::OnlinePin
                | Self::Amount
                | Self::TypedCard
        )
    }
}

impl ReaderQuestion<'_> {
    /// Returns the purpose of the command.
    #[must_use]
    pub fn purpose(&self) -> CommandPurpose {
        match self {
            Self::StartUp(step) => CommandPurpose::StartUp(*step),
            Self::Abort(_) => CommandPurpose::StartUp(StartUpStep::Abort),
            Self::CardStatus => CommandPurpose::CardStatus,
            Self::ClockSet(_) => CommandPurpose::ClockSet,
            Self::DateSet(_) => CommandPurpose::DateSet,
            Self::ClockGet => CommandPurpose::ClockGet,
            Self::KeyStatus => CommandPurpose::KeyStatus,
            Self::Show(_) => CommandPurpose::Show,
            Self::AnyCard { .. } => CommandPurpose::AnyCard,
            Self::Start(_) => CommandPurpose::Start,
            Self::Decide { .. } => CommandPurpose::Decide,
            Self::Host { contactless, .. } => CommandPurpose::Host { contactless: *contactless },
            Self::OnlinePin { .. } => CommandPurpose::OnlinePin,
            Self::Amount { .. } | Self::Tip { .. } => CommandPurpose::Amount,
            Self::TypedCard { .. } => CommandPurpose::TypedCard,
            Self::ForgetTyped => CommandPurpose::ForgetTyped,
        }
    }
}

/// A step of the start-up. A family lists its steps in order ([`Speaker::startup`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartUpStep {
    /// End a command of an earlier session.
    Abort,
    /// Ask for the reader's identity, and bring the reader to a known state.
    Identity,
    /// Ask for model and firmware, if the identity does not include them.
    Firmware,
    /// Ask which keys are present ([`ReaderQuestion::KeyStatus`]).
    Keys,
    /// Ask whether a key for PINs is present, if the keys do not include it.
    PinKey,
    /// Ask whether the encryption is switched on, if the keys do not show it.
    Encryption,
    /// Ask for the reader's capabilities.
    Capabilities,
    /// Ask for names and versions of the configuration files.
    Configuration,
    /// Set the clock, or read it while the board's clock is not trusted.
    Clock,
    /// Switch card events on ([`ReaderQuestion::CardStatus`]).
    CardEvents,
    /// Prepare the reader's contactless part.
    Contactless,
    /// Switch the keypad on.
    Keypad,
}

impl StartUpStep {
    /// Returns whether the step only finds out which reader it is, and changes nothing.
    pub(crate) fn is_of_identity(self) -> bool {
        matches!(self, Self::Abort | Self::Identity | Self::Firmware | Self::Keys | Self::PinKey)
    }
}

/// The data of a transaction for the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionData {
    /// 9C: the transaction type.
    pub transaction_type: u8,
    /// 9F02: the amount.
    pub amount: [u8; 6],
    /// 5F2A: the currency.
    pub currency: [u8; 2],
    /// 9A and 9F21: date and time.
    pub at: LocalTime,
}

impl TransactionData {
    /// Creates the data from an amount.
    #[must_use]
    pub fn new(transaction_type: u8, amount: Amount, at: LocalTime) -> Self {
        Self { transaction_type, amount: amount.to_bcd(), currency: amount.currency().to_bcd(), at }
    }
}

impl From<&Arm> for TransactionData {
    fn from(arm: &Arm) -> Self {
        Self::new(arm.transaction_type, arm.amount, arm.at)
    }
}

/// The answer to a reader's request for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<'a> {
    /// Use this application.
    Choose(ApplicationChoice<'a>),
    /// Continue with the card.
    Proceed,
    /// Do not continue.
    Refuse,
}

/// The gateway's answer for the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAnswer<'a> {
    /// 8A: the authorisation response code.
    pub arc: [u8; 2],
    /// 91: the issuer authentication data.
    pub authentication: Option<&'a [u8]>,
    /// 71 and 72: whole objects, one after another. Empty if there are none.
    pub scripts: &'a [u8],
}

/// A command, ready to send.
pub struct Encoded {
    /// The command's name, for logs and reasons.
    pub name: &'static str,
    /// The frames, in order.
    pub frames: CommandFrames,
}

/// Writes commands, and knows what the family's readers can do.
pub trait Speaker: Send {
    /// Returns the protocol's name, such as `Miura MPI`.
    fn protocol(&self) -> &'static str;

    /// Returns whether the family's readers have a capability.
    fn can(&self, capability: Capability) -> bool;

    /// Returns the steps of the start-up, in order.
    fn startup(&self) -> &'static [StartUpStep];

    /// Writes a command. `extended` is `true` if the reader has reported that it accepts long commands.
    ///
    /// # Errors
    /// Fails if the data do not fit a command.
    fn encode(&self, ask: &ReaderQuestion<'_>, extended: bool) -> Result<Encoded, EncodeError>;

    /// Returns the answer to a request for a decision, in which these elements were found.
    fn decide<'a>(&self, found: &CardElements<'a>) -> Decision<'a>;

    /// Returns the number of entries of each part of a typed card, in the order of the parts. A part without an entry
    /// is answered immediately. `None` if the settings do not allow typed cards.
    fn typed_parts(&self) -> Option<&'static [u32]>;

    /// Returns whether the reader keeps typed data until it is told to delete them.
    fn keeps_typed(&self) -> bool;

    /// Returns the amount that the customer types for a tip.
    fn tip_entry(&self) -> TipEntry;

    /// Returns the kind of one of the family's own tags.
    fn kind_of(&self, tag: Tag) -> OwnTag;

    /// Selects the elements of a card's answer for `pos.iccDataRequest` ([`card_read::for_host`]).
    ///
    /// # Errors
    /// Fails if `tlvs` are no list of elements, or if the selected ones are longer than the gateway accepts.
    fn for_host(&self, tlvs: &[u8], masked_too: bool, private: &[Tag]) -> Result<Wiped<MAX_SEALED>, TlvError> {
        card_read::for_host(tlvs, masked_too, private, &|tag| self.kind_of(tag))
    }
}

/// The kind of a family's own tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnTag {
    /// A part of the sealed card data or of the sealed PIN, which have parameters of their own.
    Sealed,
    /// A masked copy of card data.
    Masked,
    /// Any other tag.
    Other,
}

/// The commands that are outstanding when a message arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outstanding {
    /// The purpose of the command.
    pub command: Option<CommandPurpose>,
    /// `true` if the answer to an abort is outstanding.
    pub abort: bool,
}

/// Reads messages.
pub trait Listener: Send {
    /// Reads a message.
    fn read<'a>(&'a mut self, message: &RawMessage<'a>, awaited: Outstanding) -> MessageMeaning<'a>;

    /// Forgets what earlier messages have said, because the start-up begins.
    fn forget(&mut self);
}

/// The meaning of a message.
#[allow(clippy::large_enum_variant, reason = "moved once, from the family to the session")]
pub enum MessageMeaning<'a> {
    /// The message contains clear card data. Nothing else of it was read.
    ClearCardData,
    /// The answer to the abort.
    AbortDone {
        /// Whether the aborted command is answered too.
        command: AbortedCommand,
    },
    /// The answer to the awaited command.
    Answer(CommandAnswer<'a>),
    /// The reader has begun the awaited command, and its answer follows.
    Begun,
    /// The reader asks something that the family itself answers with these frames.
    Reply(CommandFrames),
    /// A message of the reader's own.
    Event(ReaderNotice<'a>),
    /// The message was not understood. The field describes why.
    NotUnderstood(&'static str),
    /// An answer that is not awaited, or a message without a meaning here.
    Nothing,
}

/// Whether an aborted command is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortedCommand {
    /// It is answered.
    Answers,
    /// It may be answered. The session waits a moment for it.
    MayAnswer,
}

/// The answer to a command.
#[allow(clippy::large_enum_variant, reason = "moved once, from the family to the session")]
pub enum CommandAnswer<'a> {
    /// The command was carried out.
    Done,
    /// The message is the answer to an earlier command. The answer to this one is still awaited.
    NotYet,
    /// The reader's identity.
    Identity {
        /// The serial number.
        serial: String,
        /// The model.
        model: String,
        /// The firmware version.
        firmware: String,
        /// The configuration files or programs, if the answer names them.
        files: Vec<ConfigFile>,
        /// `true` if the reader says that it was opened.
        tampered: bool,
    },
    /// Model and firmware.
    Firmware {
        /// The model.
        model: String,
        /// The firmware version.
        firmware: String,
    },
    /// Which keys are present.
    Keys(KeyStatus),
    /// Whether the reader can encrypt a PIN.
    PinKey {
        /// The reader can encrypt a PIN.
        present: bool,
        /// The number of keys for PINs left, if the answer has a KSN.
        left: Option<u64>,
    },
    /// Whether long commands are accepted.
    Capabilities {
        /// `true` if commands may be longer than one frame.
        extended: bool,
    },
    /// The configuration files.
    Files(Vec<ConfigFile>),
    /// The reader's clock.
    Time(LocalTime),
    /// A card's answer.
    Card(TransactionAnswer<'a>),
    /// A swipe, in the answer to a wait on every interface.
    Swiped(Result<SwipedCard, UnusableSwipe>),
    /// The answer to the request for an online PIN.
    Pin(PinAnswer),
    /// A typed card.
    Typed(TypedCard),
    /// Typed digits.
    Digits(&'a [u8]),
    /// The command has no result.
    Failed(CommandFailure),
}

/// Which keys are present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyStatus {
    /// The reader can encrypt card data.
    pub card: bool,
    /// Whether the reader can encrypt a PIN, or `None` if another answer says it.
    pub pin: Option<bool>,
    /// The number of keys for card data left, if the answer has a KSN. UNCERTAIN: whether it is that of the last key or
    /// of the next one, so the number may be off by one.
    pub card_left: Option<u64>,
    /// The same for PINs.
    pub pin_left: Option<u64>,
}

/// The result of a PIN entry.
pub enum PinAnswer {
    /// The sealed PIN, or `None` if block or KSN has a wrong length.
    Entered(Option<SealedPin>),
    /// The cardholder cancelled, or did not enter a PIN in time.
    Cancelled,
    /// The cardholder continued without a PIN.
    Bypassed,
    /// The entry failed.
    Failed,
}

/// A typed card.
pub struct TypedCard {
    /// The masked PAN.
    pub pan: Option<MaskedPan>,
    /// `true` if the PAN came back unmasked.
    pub is_clear: bool,
    /// The sealed data, if the reader has sent them.
    pub sealed: Option<SealedCard>,
}

/// The reason why a command has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandFailure {
    /// The kind, for the session's rules.
    pub kind: FailureKind,
    /// The reader's code.
    pub code: u16,
    /// The meaning of the code, for people.
    pub words: &'static str,
}

impl KeyStatus {
    /// Creates a status without a KSN.
    pub(crate) fn of(card: bool, pin: Option<bool>) -> Self {
        Self { card, pin, card_left: None, pin_left: None }
    }
}

impl CommandFailure {
    /// A well-formed success without the expected content.
    pub(crate) const DAMAGED: Self = Self { kind: FailureKind::Damaged, code: 0, words: "done" };
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The command was aborted, or the customer pressed the cancel key.
    Cancelled,
    /// The time is over.
    TimedOut,
    /// A card was inserted, which ended the wait.
    Inserted,
    /// A card was swiped, which ended the wait.
    Swiped,
    /// The card must be inserted or swiped.
    OtherInterface,
    /// The card must be tapped again, or only one card at a time.
    TapAgain,
    /// The card cannot be used here, and another card or interface may be tried.
    OtherCard,
    /// The chip cannot be used, and a swipe is allowed as its fallback.
    SwipeInstead,
    /// The chip was not read. It may be inserted again, and after some failures a swipe is its fallback.
    InsertAgain,
    /// The slot is empty.
    NoCard,
    /// A key is missing or used up.
    NoKey,
    /// The reader is in another state than expected, so it has restarted.
    StateLost,
    /// The reader does not know the command.
    UnknownCommand,
    /// The typed value is not valid.
    InvalidInput,
    /// The answer was damaged.
    Damaged,
    /// Any other reason.
    Other,
}

/// A message that the reader sends by itself.
pub enum ReaderNotice<'a> {
    /// A card was inserted, removed or swiped. It is also the answer to [`ReaderQuestion::CardStatus`].
    Card {
        /// `true` if a card is in the slot.
        card_in: bool,
        /// The swipe, if a card was swiped.
        swipe: Option<Result<SwipedCard, UnusableSwipe>>,
    },
    /// The cancel key was pressed.
    CancelKey,
    /// The cardholder sees a step, such as the PIN entry.
    Step(DeviceStep<'a>),
    /// The reader has started, or is about to restart.
    Restarted,
    /// A message that needs no reaction.
    Other,
}

impl ReaderNotice<'_> {
    /// Returns the event's name for a trace.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Card { .. } => "card status",
            Self::CancelKey => "cancel key",
            Self::Step(_) => "device status",
            Self::Restarted => "restart",
            Self::Other => "other",
        }
    }
}

/// A step that the cardholder sees.
#[derive(Clone, Copy)]
pub struct DeviceStep<'a> {
    /// The kind of step.
    pub kind: DeviceStepKind,
    /// The reader's text.
    pub text: &'a [u8],
    /// The number of PIN tries left at the chip.
    pub tries_left: Option<u8>,
}

/// The kind of a step that the cardholder sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceStepKind {
    /// The PIN is being entered.
    Pin {
        /// The number of digits so far, if the reader sends it.
        digits: Option<u8>,
    },
    /// The PIN was accepted.
    PinDone,
    /// An application is being chosen.
    ChoosingApplication,
    /// The reader shows a text.
    Text,
}
