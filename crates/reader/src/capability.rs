//! What the readers of a family can do. The session, the check of the configuration, the doctor and the manual use this
//! list.

/// A capability of a family of readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// A card number can be typed on the reader.
    TypedCard,
    /// The card verification value can be typed too.
    TypedVerificationValue,
    /// The customer can type an amount.
    AmountEntry,
    /// The customer can choose or type a tip.
    TipEntry,
    /// The agent can show its own texts.
    Texts,
    /// The clock can be set and read.
    Clock,
    /// The reader names its configuration files.
    ConfigurationFiles,
    /// The reader reports a card in the slot when it happens, without a command.
    SlotEvents,
    /// An inserted or swiped card ends the wait for a tap without a command.
    EndsWait,
    /// The online PIN of a chip card is asked for only after the card was read.
    PinAfterCard,
    /// A tapped card's dialogue ends with the gateway's answer.
    TellsTap,
    /// Commands may be longer than one packet if the reader says so.
    LongCommands,
}
