//! The reasons that a reader gives the agent: why it cannot be used, why it read no card, why no amount was typed.
//! Facts as fields, and a sentence for a person that says what to do.

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
    /// `[reader] serials` does not name it.
    #[error(
        "reader {serial} is not one of [reader] serials and is not used; connect the right one, or add its serial number if it \
         belongs here"
    )]
    NotListed {
        /// Its serial number.
        serial: String,
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
    /// It stopped encrypting, or uses a key again: nothing was sent. Its keys are asked for again before it is ready.
    #[error(
        "reader {serial} {fault}; nothing was sent and nothing of it was kept; its keys are being checked, have it replaced if this happens again"
    )]
    NotEncrypting {
        /// Its serial number.
        serial: String,
        /// What was found.
        fault: NotEncrypting,
    },
    /// It sends more than any reader says.
    #[error(
        "the reader at {port} sends without end and is not listened to; it is tried again in {wait_s} s; check its cable and power, have it \
         replaced if this happens again"
    )]
    Flooding {
        /// The port's name.
        port: String,
        /// Until it is tried again, in seconds.
        wait_s: u64,
    },
    /// It is being restarted after a fault.
    #[error("the reader is being restarted after: {cause}")]
    Restarting {
        /// What happened.
        cause: String,
    },
}

/// How a reader was found not to encrypt as it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEncrypting {
    /// A card was read, and nothing sealed came with it.
    #[error("read a card without encrypting it")]
    Nothing,
    /// A sealed block of zeros only.
    #[error("gave an empty block for encrypted data")]
    Zeros,
    /// A KSN that was seen before in this process, or an earlier one of the same key set.
    #[error("used a key a second time")]
    KeyAgain,
}

/// Why no card was read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCard {
    /// [`ReaderOrder::Cancel`](super::ReaderOrder::Cancel) was carried out.
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
    /// The result of the cardholder's verification is an online PIN, and no PIN block came: nothing may be sent.
    #[error("the reader says that a PIN was entered but gave none; nothing was charged; try again")]
    PinMissing,
    /// The reader has no key left, for card data or for a PIN; which of them it is asked next, and without a key for
    /// card data [`Unready::NoCardKey`] follows.
    #[error("the reader has no key left to encrypt with; have new keys injected")]
    NoKeyLeft,
    /// [`EntryRequest::Manual`](super::EntryRequest::Manual) was asked for and the settings do not allow it.
    #[error("typing card numbers is switched off; see [reader] manual-entry")]
    ManualEntryOff,
    /// The reader does not know the commands for typing a card number.
    #[error("this reader cannot take a typed card number; see [reader] manual-entry-command")]
    ManualEntryUnknown,
    /// The reader was not ready.
    #[error("the reader is not ready")]
    NotReady,
}

/// Why no amount was typed; none may be guessed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAmount {
    /// [`ReaderOrder::Cancel`](super::ReaderOrder::Cancel) was carried out.
    #[error("cancelled at the till")]
    CancelledByTill,
    /// The cancel key.
    #[error("cancelled at the reader")]
    CancelledAtReader,
    /// Nothing was typed in time.
    #[error("no amount was typed in time")]
    TimedOut,
    /// What came is no amount of the currency above zero (a tip may be zero).
    #[error("what was typed is no amount; ask again")]
    NotAnAmount,
    /// A tip above the bill, or a total below it.
    #[error("the typed amount does not fit the bill; ask again")]
    DoesNotFit,
    /// The percentages of the order cannot be offered: more than four, zero, or above 100.
    #[error("the reader can offer one to four percentages from 1 to 100")]
    WrongPercentages,
    /// The reader has no such command.
    #[error("this reader cannot ask for an amount; type it at the till")]
    Unknown,
    /// The reader refused.
    #[error("the reader could not ask for an amount ({cause}); type it at the till and check [reader.prompts]")]
    Refused {
        /// The reader's words.
        cause: String,
    },
    /// The reader was not ready.
    #[error("the reader is not ready")]
    NotReady,
}
