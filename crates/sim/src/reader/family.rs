//! The families of readers. A family decodes the host's bytes into commands, and says in its own bytes what happened.
//! The device, the card and the cardholder behave in the same way in every family.
//!
//! ```text
//!                 hear                          inserted, swiped, decided, …
//!   host's bytes ─────▶ family ─▶ device ─▶ card ─────────────────────────▶ family ─▶ reader's bytes
//! ```

use super::cardholder::Key;
use super::deck::{Application, Card};
use super::device::Device;
use super::emv_transaction::{Decision, EmvTransaction};
use super::flood::Flood;
use super::keys::{NoKey, Sealed};
use super::miura::{self, Miura};
use super::neo2::{self, Neo2};
use super::vipa::{self, Vipa};

/// A family of readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Family {
    /// Miura MPI (readers: 2).
    #[default]
    Miura,
    /// Verifone VIPA (readers: 3).
    Vipa,
    /// ID TECH NEO2 (readers: 4).
    Neo2,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 3] = [Self::Miura, Self::Vipa, Self::Neo2];

    /// Returns the name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Miura => "miura",
            Self::Vipa => "vipa",
            Self::Neo2 => "neo2",
        }
    }

    /// Returns each family in turn, for a test that covers all of them.
    #[must_use]
    pub fn in_turn(number: u64) -> Self {
        match number % 3 {
            0 => Self::Miura,
            1 => Self::Vipa,
            _ => Self::Neo2,
        }
    }

    /// Returns the protocol's name in the agent's configuration.
    #[must_use]
    pub fn protocol_name(self) -> &'static str {
        match self {
            Self::Miura => "miura-mpi",
            Self::Vipa => "verifone-vipa",
            Self::Neo2 => "idtech-neo2",
        }
    }

    /// Returns the section of the agent's configuration for a simulated reader of this family.
    #[must_use]
    pub fn configuration(self, port: &str) -> String {
        let own = match self {
            Self::Miura => "",
            Self::Vipa => "\nsred-form = \"iv-first\"\n\n[reader.vipa]\nterminal-country = \"276\"\nacquirer = \"65\"",
            Self::Neo2 => "\nsred-form = \"elements\"",
        };
        format!("[reader]\nprotocol = \"{}\"\nport = \"{port}\"{own}", self.protocol_name())
    }

    /// Returns the code of a command that the agent sends once at each start, and never later
    /// ([`super::device::LineCounters`]).
    #[must_use]
    pub fn start_command(self) -> u16 {
        match self {
            // RESET DEVICE.
            Self::Miura | Self::Vipa => 0xD000,
            // The serial number.
            Self::Neo2 => 0x1201,
        }
    }

    /// Returns the TCP port of a real device, if one is published (readers: 2.1, 3.1).
    pub(super) fn port(self) -> Option<u16> {
        match self {
            Self::Miura => Some(6543),
            Self::Vipa => Some(16107),
            Self::Neo2 => None,
        }
    }

    pub(super) fn protocol(self) -> &'static dyn Protocol {
        match self {
            Self::Miura => &Miura,
            Self::Vipa => &Vipa,
            Self::Neo2 => &Neo2,
        }
    }

    pub(super) fn session(self) -> FamilySession {
        match self {
            Self::Miura => FamilySession::Miura(miura::Session::default()),
            Self::Vipa => FamilySession::Vipa(vipa::Session::default()),
            Self::Neo2 => FamilySession::Neo2(Box::default()),
        }
    }
}

/// What a family keeps about the host: the unfinished input, and the switches that the host has set.
pub(super) enum FamilySession {
    Miura(miura::Session),
    Vipa(vipa::Session),
    Neo2(Box<neo2::Session>),
}

/// The reason why a running command ends without its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The slot is empty.
    NoCard,
    /// The chip does not answer. A swipe is allowed.
    UnreadableChip,
    /// The chip has no application of this reader. A swipe is allowed.
    UnsupportedCard,
    /// The card is blocked. A swipe is not allowed.
    BlockedCard,
    /// A tapped card requires its contacts.
    NeedsContacts,
    /// The cardholder has cancelled.
    Cancelled,
    /// The host has cancelled.
    Aborted,
    /// The card was taken out too early.
    CardPulled,
    /// No card and no number came in time.
    TimedOut,
    /// No PIN and no choice of an application came in time.
    NotEntered,
    /// No key for card data is left.
    NoCardKey,
    /// There is no PIN key, or none is left.
    NoPinKey,
    /// The typed card number has too few or too many digits.
    InvalidNumber,
}

impl Failure {
    /// Returns whether the transaction is over too. Otherwise, the host may continue it with another entry.
    pub(super) fn ends_sale(self) -> bool {
        matches!(self, Self::Cancelled | Self::Aborted | Self::CardPulled | Self::TimedOut | Self::NotEntered)
    }
}

/// The result of a PIN entry outside a transaction.
pub(super) enum LonePin {
    Entered(Sealed),
    Bypassed,
    /// The cardholder has cancelled, or has waited too long.
    GivenUp,
    /// There is no key for the PIN.
    NoKey,
}

/// A change during a PIN entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PinNews {
    /// The prompt is shown with this number of digits. If the chip checks the PIN, the news include its remaining
    /// tries.
    Asked { digits: u8, tries: Option<u8> },
    /// The PIN was taken, or the chip has accepted it.
    Accepted,
    /// The chip has refused the PIN. This many tries remain.
    Wrong { tries: u8 },
}

/// What every family does in its own way.
pub(super) trait Protocol: Sync {
    /// Decodes bytes from the host, and carries out the commands in them.
    fn hear(&self, device: &mut Device, bytes: &[u8]);

    /// Returns whether a packet has begun but not ended.
    fn is_mid_packet(&self, device: &Device) -> bool;

    /// Forgets an unfinished packet, when a connection begins.
    fn forget_input(&self, device: &mut Device);

    fn powering_off(&self, device: &mut Device);

    fn powered_on(&self, device: &mut Device);

    /// A card is in the slot. `waited` is true if the reader was waiting for a card.
    fn inserted(&self, device: &mut Device, waited: bool);

    /// The slot is empty again.
    fn removed(&self, device: &mut Device);

    /// Returns the text on the display after a removal; `None` leaves the text.
    fn text_after_removal(&self, _device: &mut Device) -> Option<&'static str> {
        Some("WELCOME")
    }

    /// A card was swiped. `waited` is true if the reader was waiting for a card.
    fn swiped(&self, device: &mut Device, card: &'static Card, waited: bool);

    /// Returns whether this tap starts a transaction. A reader may require a second tap.
    fn accepts_tap(&self, _device: &mut Device, _card: &'static Card) -> bool {
        true
    }

    /// The cardholder pressed a key that no step waits for.
    fn idle_key(&self, device: &mut Device, key: Key);

    /// The cardholder must choose an application.
    fn choosing(&self, device: &mut Device);

    /// The host must choose an application.
    fn offers(&self, device: &mut Device, candidates: &[Application]);

    /// The chip has been read. The family may first ask the host.
    fn chip_read(&self, device: &mut Device, transaction: EmvTransaction) {
        device.verify_or_decide(transaction);
    }

    /// Returns whether the host asks for an online PIN only after the card's first decision.
    fn asks_online_pin_later(&self, _device: &Device) -> bool {
        false
    }

    fn pin_news(&self, device: &mut Device, news: PinNews);

    /// A PIN entry outside a transaction has ended.
    fn lone_pin(&self, device: &mut Device, pin: LonePin);

    /// The card has made its first decision. Fails if its data cannot be encrypted.
    fn decided(
        &self,
        device: &mut Device,
        transaction: &EmvTransaction,
        decision: Decision,
        pin: Option<&Sealed>,
    ) -> Result<(), NoKey>;

    /// The card has made its decision after the issuer's answer.
    fn concluded(&self, device: &mut Device, transaction: &EmvTransaction, decision: Decision, arc: [u8; 2]);

    /// An amount was typed.
    fn amount_typed(&self, device: &mut Device, digits: &str);

    /// The element of a card number that the reader asked for was typed, and is in [`super::kernel::Kernel`].
    fn card_element_typed(&self, device: &mut Device);

    /// The running command ends without its result.
    fn failed(&self, device: &mut Device, failure: Failure);

    /// Appends a piece of a flood.
    fn flood(&self, device: &mut Device, flood: Flood, bytes: &mut Vec<u8>);
}
