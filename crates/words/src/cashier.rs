//! The cashier's texts about a transaction: its state, its outcome, and the steps at the reader.
//!
//! All texts about "unconfirmed" follow one rule. Payments and reservations with an unknown outcome are reversed and
//! never kept, so the shop may immediately begin a new one under a new reference. Captures, refunds, reversals and
//! credits with an unknown outcome are finished and must not be repeated. The cashier is asked to wait and call the
//! technician only when a person is needed.

use super::kind::messages;
use super::{Message, Words};
use pos_core::transaction::{Cause, Outcome};
use pos_terms::money::Amount;
use pos_terms::transaction::Kind;

/// A step at the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderStep {
    /// The choice of a tip, before a card is asked for.
    ChoosingTip,
    /// The request for a card, which may be presented in any way.
    PresentCard,
    /// The request to insert a card.
    InsertCard,
    /// The request to swipe the card, because the chip failed.
    SwipeCard,
    /// The request to try again, because there are several cards or no card that works.
    TryAgain,
    /// The request to type the card number.
    TypeCard,
    /// The choice of one of several applications.
    ChoosingApplication,
    /// The reading of the card, which must stay in place.
    ReadingCard,
    /// The entry of the PIN, with this many digits so far; `None` if there is no digit yet or the number is unknown.
    PinEntry(Option<u8>),
    /// A wrong PIN according to the chip, with this many attempts left.
    PinWrong(Option<u8>),
    /// The end of the PIN entry.
    PinDone,
    /// The request to remove the card after the transaction.
    RemoveCard,
}

/// The maximum number of stars for the digits of a PIN (ISO 9564-1: at most twelve).
const MOST_DIGITS: u8 = 12;
/// The maximum length of an address in a sentence, in characters.
const LONGEST_ADDRESS: usize = 120;

impl Words {
    /// Returns the text for a transaction that waits for a card.
    #[must_use]
    pub fn waiting_for_card(&self, amount: Amount) -> String {
        self.say(Message::WaitingForCard, &[("amount", &self.amount(amount))])
    }

    /// Returns the text of a transaction in progress that a till of the fleet began, so that the cashier sees who asks.
    #[must_use]
    pub fn asked_by_fleet(&self, till: &str, text: &str) -> String {
        self.say(Message::AskedByFleet, &[("till", till), ("text", text)])
    }

    /// Returns the text for a signature that must be compared. If the till confirms afterwards, the text does not call
    /// the transaction approved.
    #[must_use]
    pub fn compare_signature(&self, amount: Amount, till_confirms: bool) -> String {
        let message = if till_confirms { Message::CompareSignatureFirst } else { Message::CompareSignature };
        self.say(message, &[("amount", &self.amount(amount))])
    }

    /// Returns the text for a transaction that the till must confirm.
    #[must_use]
    pub fn till_confirms(&self, amount: Amount) -> String {
        self.say(Message::TillConfirms, &[("amount", &self.amount(amount))])
    }

    /// Returns the text for an unknown outcome: the agent's action, and the shop's options. `trouble` is the reason why
    /// the last attempt gave no outcome. `needs_person` is the reason why no further attempt will give one.
    #[must_use]
    pub fn unconfirmed(
        &self,
        kind: Kind,
        why: &Cause,
        trouble: Option<&Cause>,
        needs_person: Option<&Cause>,
    ) -> String {
        let message = match (needs_person, kind) {
            (Some(_), _) => Message::NeedsPerson,
            (None, kind) if !kind.is_undone_when_unknown() => Message::BeingFinished,
            (None, kind) if kind.reserves_money() => Message::ReservationBeingTakenBack,
            (None, _) => Message::BeingTakenBack,
        };
        let why = self.cashier(needs_person.unwrap_or(why));
        let mut text = self.say(message, &[("what", &self.called(kind)), ("why", &why)]);
        if let (Some(trouble), None) = (trouble, needs_person) {
            text.push(' ');
            text.push_str(&self.say(Message::LastTry, &[("why", &self.cashier(trouble))]));
        }
        text
    }

    /// Returns the text for a gateway that decides after the customer has acted at `url`. Only the host of a long
    /// address is shown.
    #[must_use]
    pub fn customer_acts(&self, url: &str) -> String {
        let end = url.match_indices('/').nth(2).map_or(url.len(), |(end, _)| end);
        let shown = if url.len() > LONGEST_ADDRESS { &url[..end] } else { url };
        self.say(Message::CustomerActs, &[("url", shown)])
    }

    /// Returns the text for an outcome. `amount` is the requested amount, including the tip.
    #[must_use]
    pub fn ended(&self, kind: Kind, outcome: &Outcome, amount: Amount) -> String {
        let (what, amount) = (self.called(kind), self.amount(amount));
        let (message, why) = match outcome {
            Outcome::Approved if !kind.moves_money() => return self.approved(kind).to_owned(),
            Outcome::Approved => return self.say(Message::EndedApproved, &[("what", &what), ("amount", &amount)]),
            Outcome::PartiallyApproved { amount: part } => {
                let arguments = [("what", &*what), ("amount", &amount), ("part", &self.amount(*part))];
                return self.say(Message::EndedPartiallyApproved, &arguments);
            }
            Outcome::Declined { why } => (Message::EndedDeclined, why),
            Outcome::Cancelled { why } => (Message::EndedCancelled, why),
            Outcome::NotSent { why } => (Message::EndedNotSent, why),
            Outcome::Reversed { why } => (Message::EndedReversed, why),
        };
        let nothing = self.label(messages(kind).nothing);
        self.say(message, &[("what", &what), ("nothing", nothing), ("why", &self.cashier(why))])
    }

    /// Returns the text of an alarm.
    #[must_use]
    pub fn alarm(&self, why: &Cause) -> String {
        self.say(Message::Alarm, &[("why", &self.cashier(why))])
    }

    /// Returns the text of a step at the reader.
    #[must_use]
    pub fn step(&self, step: ReaderStep) -> String {
        let message = match step {
            ReaderStep::ChoosingTip => Message::ChoosingTip,
            ReaderStep::PresentCard => Message::PresentCard,
            ReaderStep::InsertCard => Message::InsertCard,
            ReaderStep::SwipeCard => Message::SwipeCard,
            ReaderStep::TryAgain => Message::TryAgain,
            ReaderStep::TypeCard => Message::TypeCard,
            ReaderStep::ChoosingApplication => Message::ChoosingApplication,
            ReaderStep::ReadingCard => Message::ReadingCard,
            ReaderStep::PinEntry(None | Some(0)) => Message::PinEntry,
            ReaderStep::PinEntry(Some(digits)) => {
                let stars = "*".repeat(usize::from(digits.min(MOST_DIGITS)));
                return self.say(Message::PinDigits, &[("digits", &stars)]);
            }
            ReaderStep::PinWrong(None) => Message::PinWrong,
            ReaderStep::PinWrong(Some(0)) => Message::PinNoTries,
            ReaderStep::PinWrong(Some(1)) => Message::PinOneTry,
            ReaderStep::PinWrong(Some(tries)) => return self.say(Message::PinTries, &[("tries", &tries.to_string())]),
            ReaderStep::PinDone => Message::PinDone,
            ReaderStep::RemoveCard => Message::RemoveCard,
        };
        self.label(message).to_owned()
    }

    /// Returns the name of the kind before an outcome. A payment needs no name.
    fn called(&self, kind: Kind) -> String {
        messages(kind).called.map_or_else(String::new, |called| format!("{} ", self.label(called)))
    }
}
