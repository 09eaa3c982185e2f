//! What the cashier reads of a transaction: how it stands, how it ended, and what happens at the reader.
//!
//! The rule for "unconfirmed", the same everywhere: what is undone when unknown (payments, reservations) is never kept,
//! so the shop may begin a new one under a new reference at once. What is finished when unknown (captures, refunds,
//! reversals, credits) is not to be repeated. Only what needs a person means wait and call.

use super::kind::messages;
use super::{Message, Words};
use pos_core::transaction::{Cause, Outcome};
use pos_terms::money::Amount;
use pos_terms::transaction::Kind;

/// A step at the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderStep {
    /// Before a card is asked for.
    ChoosingTip,
    /// Any way of presenting the card.
    PresentCard,
    /// The slot only.
    InsertCard,
    /// The chip failed.
    SwipeCard,
    /// Several cards, or none that works.
    TryAgain,
    /// By hand.
    TypeCard,
    /// Of several applications.
    ChoosingApplication,
    /// The card must stay.
    ReadingCard,
    /// So many digits of a PIN; none yet, or nobody knows.
    PinEntry(Option<u8>),
    /// The chip says so; so many tries are left.
    PinWrong(Option<u8>),
    /// It was typed.
    PinDone,
    /// The sale is over.
    RemoveCard,
}

/// Most stars for the digits of a PIN (ISO 9564-1: at most twelve).
const MOST_DIGITS: u8 = 12;
/// Characters of an address in a sentence.
const LONGEST_ADDRESS: usize = 120;

impl Words {
    /// A card is waited for.
    #[must_use]
    pub fn waiting_for_card(&self, amount: Amount) -> String {
        self.say(Message::WaitingForCard, &[("amount", &self.amount(amount))])
    }

    /// The signature is to be compared; what its till confirms after that is not called approved before.
    #[must_use]
    pub fn compare_signature(&self, amount: Amount, till_confirms: bool) -> String {
        let message = if till_confirms { Message::CompareSignatureFirst } else { Message::CompareSignature };
        self.say(message, &[("amount", &self.amount(amount))])
    }

    /// The till is to confirm that it takes it.
    #[must_use]
    pub fn till_confirms(&self, amount: Amount) -> String {
        self.say(Message::TillConfirms, &[("amount", &self.amount(amount))])
    }

    /// Nobody knows what became of it: what is done about it, and what the shop may do. `trouble` is why the last try
    /// did not settle it, `needs_person` why no other try will.
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

    /// The gateway decides when the customer has acted there. Of a long address only its host stands here.
    #[must_use]
    pub fn customer_acts(&self, url: &str) -> String {
        let end = url.match_indices('/').nth(2).map_or(url.len(), |(end, _)| end);
        let shown = if url.len() > LONGEST_ADDRESS { &url[..end] } else { url };
        self.say(Message::CustomerActs, &[("url", shown)])
    }

    /// How it ended. `amount` is what was asked for, the tip included.
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

    /// What a person must hear of at once.
    #[must_use]
    pub fn alarm(&self, why: &Cause) -> String {
        self.say(Message::Alarm, &[("why", &self.cashier(why))])
    }

    /// What happens at the reader.
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

    /// What it is called in front of an outcome; a payment needs no name.
    fn called(&self, kind: Kind) -> String {
        messages(kind).called.map_or_else(String::new, |called| format!("{} ", self.label(called)))
    }
}
