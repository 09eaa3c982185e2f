//! The reasons that a reader gives the agent: why it cannot be used, why it read no card, or why no amount was typed.
//! The facts are fields, and a sentence tells people how to react.

/// The reason why no payments can be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unready {
    /// The port cannot be opened or has disappeared.
    #[error("no reader at {port}: {cause}; check the cable and port in [reader]")]
    Absent {
        /// The port's name.
        port: String,
        /// The system's error text.
        cause: String,
    },
    /// The device does not answer, or is not a reader of this kind.
    #[error(
        "the device at {port} does not answer as a {protocol} reader ({cause}); check port and protocol in [reader]"
    )]
    WrongDevice {
        /// The port's name.
        port: String,
        /// The expected protocol.
        protocol: &'static str,
        /// The problem.
        cause: String,
    },
    /// `[reader] serials` does not name this reader.
    #[error(
        "reader {serial} is not in serials in [reader] and is not used; connect the right reader, or add this serial \
         number"
    )]
    NotListed {
        /// The serial number.
        serial: String,
    },
    /// The reader has no SRED key and would not encrypt card data.
    #[error("reader {serial} holds no card-data key (SRED) and must not be used; have keys injected")]
    NoCardKey {
        /// The serial number.
        serial: String,
    },
    /// The reader sent clear card data.
    #[error(
        "reader {serial} sends unencrypted card data and must not be used; the data was not kept; have the reader \
         replaced"
    )]
    ClearCardData {
        /// The serial number.
        serial: String,
    },
    /// The reader no longer encrypts, or reused a key. Nothing was sent. Its keys are checked again before it is ready.
    #[error(
        "reader {serial} {fault}; no data was sent or kept; its keys are being checked; have it replaced if this \
         happens again"
    )]
    NotEncrypting {
        /// The serial number.
        serial: String,
        /// The fault.
        fault: NotEncrypting,
    },
    /// The reader sends more data than any reader needs to.
    #[error(
        "the reader at {port} sends data without end and is ignored; next attempt in {wait_s} s; check its cable and \
         power; have it replaced if this happens again"
    )]
    Flooding {
        /// The port's name.
        port: String,
        /// The time until the next try, in seconds.
        wait_s: u64,
    },
    /// The reader is being restarted after a fault.
    #[error("the reader is restarting; the cause: {cause}")]
    Restarting {
        /// The fault.
        cause: String,
    },
}

/// How the reader failed to encrypt correctly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEncrypting {
    /// A card was read without sealed data.
    #[error("read a card without encrypting it")]
    Nothing,
    /// A sealed block contains only zeros.
    #[error("gave an empty block for encrypted data")]
    Zeros,
    /// The KSN was seen before in this process, or precedes the latest one of its key set.
    #[error("used a key a second time")]
    KeyAgain,
}

/// The reason why no card was read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCard {
    /// [`ReaderOrder::Cancel`](super::ReaderOrder::Cancel) was carried out.
    #[error("cancelled at the till")]
    CancelledByTill,
    /// The customer pressed the cancel key or cancelled the PIN entry.
    #[error("cancelled at the reader")]
    CancelledAtReader,
    /// No card came in time.
    #[error("no card was presented in time")]
    TimedOut,
    /// The card could not be read on any interface that it allows.
    #[error("the card could not be read ({cause}); try another card")]
    Unreadable {
        /// The reader's description, without card data.
        cause: String,
    },
    /// The reader's 9F02 or 5F2A differs from the request, so nothing may be sent.
    #[error("the reader signed a different amount or currency; nothing was charged; have the reader checked")]
    AmountDiffers,
    /// The cardholder's verification method is an online PIN, but no PIN block came. Nothing may be sent.
    #[error("the reader reports a PIN entry but sent no PIN; nothing was charged; try again")]
    PinMissing,
    /// The reader has no key left for card data or for a PIN. The agent then asks which one. Without a key for card
    /// data, [`Unready::NoCardKey`] follows.
    #[error("the reader has no encryption keys left; have new keys injected")]
    NoKeyLeft,
    /// [`EntryRequest::Manual`](super::EntryRequest::Manual) was requested, but the settings do not allow it.
    #[error("typing card numbers is switched off; see manual-entry in [reader]")]
    ManualEntryOff,
    /// The reader does not know the commands for typing a card number.
    #[error("this reader cannot take a typed card number; see manual-entry-command in [reader]")]
    ManualEntryUnknown,
    /// The reader was not ready.
    #[error("the reader is not ready")]
    NotReady,
}

/// The reason why no amount was typed. The agent never guesses an amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAmount {
    /// [`ReaderOrder::Cancel`](super::ReaderOrder::Cancel) was carried out.
    #[error("cancelled at the till")]
    CancelledByTill,
    /// The cancel key was pressed.
    #[error("cancelled at the reader")]
    CancelledAtReader,
    /// Nothing was typed in time.
    #[error("no amount was typed in time")]
    TimedOut,
    /// The input is not an amount of the currency, or is zero. Only a tip may be zero.
    #[error("the typed value is not an amount; ask again")]
    NotAnAmount,
    /// The tip is above the bill, or the total is below it.
    #[error("the typed amount does not fit the bill; ask again")]
    DoesNotFit,
    /// The reader cannot offer the percentages of the order: more than four, zero, or above 100.
    #[error("the reader can offer one to four percentages from 1 to 100")]
    WrongPercentages,
    /// The reader has no such command.
    #[error("this reader cannot ask for an amount; type the amount at the till")]
    Unknown,
    /// The reader refused the command.
    #[error("the reader could not ask for an amount ({cause}); type the amount at the till and check [reader.prompts]")]
    Refused {
        /// The reader's description.
        cause: String,
    },
    /// The reader was not ready.
    #[error("the reader is not ready")]
    NotReady,
}
