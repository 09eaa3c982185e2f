//! Describes moves in words, for a reader who does not know the search.

use std::fmt;

use crate::bank::Makes;
use crate::disk::CutAt;
use crate::moves::{Move, Spoilt, What};

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.of_other { write!(f, "of the other: {}", self.what) } else { self.what.fmt(f) }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begins(_) => f.write_str("a till begins it"),
            Self::OtherBegins(kind) => write!(f, "a second till begins a {}", kind.as_str()),
            Self::Proceeds(_) => f.write_str("it needs no card and continues"),
            Self::ReadsCard(_) => f.write_str("a card is read"),
            Self::TypesTip { tips: true, .. } => f.write_str("the cardholder types a tip"),
            Self::TypesTip { tips: false, .. } => f.write_str("the cardholder gives no tip"),
            Self::ReadsRefusal(_) => f.write_str("a card is read and refuses immediately"),
            Self::NoCard(_) => f.write_str("no card is read"),
            Self::CardSays { confirms: true, .. } => f.write_str("the card confirms"),
            Self::CardSays { confirms: false, .. } => f.write_str("the card refuses"),
            Self::CardGoes(_) => f.write_str("the declined card leaves"),
            Self::ReaderLost(_) => f.write_str("the reader goes away"),
            Self::Answered { at, makes, .. } => write!(f, "the gateway answers{}: {makes}", nth(*at)),
            Self::Spoilt { at, makes, how, .. } => write!(f, "what was asked{}: {how} ({makes})", nth(*at)),
            Self::Arrives { at, makes } => write!(f, "an unexpected answer{} arrives: {makes}", nth(*at)),
            Self::Decides { approves: true } => f.write_str("the bank decides: approved"),
            Self::Decides { approves: false } => f.write_str("the bank decides: declined"),
            Self::Cancels(_) => f.write_str("the till cancels"),
            Self::Signed { accepted: true, .. } => f.write_str("the signature is accepted"),
            Self::Signed { accepted: false, .. } => f.write_str("the signature is refused"),
            Self::TillTakes { taken: true, .. } => f.write_str("the till confirms it"),
            Self::TillTakes { taken: false, .. } => f.write_str("the till does not confirm it"),
            Self::TakesPart { part, .. } => write!(f, "the till confirms {part} of it"),
            Self::Settles { keep: true, .. } => f.write_str("a person decides that it stays"),
            Self::Settles { keep: false, .. } => f.write_str("a person decides that it is reversed"),
            Self::Nudges(_) => f.write_str("a suitable moment comes"),
            Self::Deadline(_) => f.write_str("its deadline passes"),
            Self::Long(_) => f.write_str("more than a day passes"),
            Self::PowerFails => f.write_str("the power fails"),
            Self::Boots(_) => f.write_str("the board starts"),
            Self::PutsCopyBack { nth } => {
                write!(f, "the power fails, and the journal copy made after step {} is restored", nth + 1)
            }
            Self::DiskIsBack(_) => f.write_str("the disk accepts writes again"),
        }?;
        match self.cut() {
            CutAt::Not => Ok(()),
            CutAt::BeforeWriting => f.write_str("; the power fails before that is written"),
            CutAt::AfterWriting => f.write_str("; the power fails when that is written, but not carried out"),
            CutAt::AfterActions(done) => write!(f, "; the power fails after {done} of its actions"),
            CutAt::DiskFails => f.write_str("; the disk does not accept it"),
        }
    }
}

/// Returns the words that identify one of several requests in transit.
fn nth(at: u8) -> String {
    if at == 0 { String::new() } else { format!(" (number {at} on the wire)") }
}

impl fmt::Display for Makes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Approves => "approved, or what the bank has",
            Self::ApprovesPart => "a part is approved",
            Self::ApprovesMore => "more is approved",
            Self::Declines => "declined",
            Self::Ponders => "not decided yet",
        })
    }
}

impl fmt::Display for Spoilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RequestLost => "it is lost on the way without notice",
            Self::NotSent => "it never leaves",
            Self::CannotBeMade => "it cannot be built from the data",
            Self::Throttled => "it is refused because of too many requests",
            Self::AnswerLost => "it is carried out, and the answer is lost",
            Self::Late => "it has no answer in time, and may arrive later",
            Self::Unasked => "it is carried out with another amount",
            Self::SaysLess => "it is carried out, and the answer says less",
            Self::SaysNoAmount => "it is carried out, and the answer says no amount",
            Self::SaysStrangeAmount => "it is carried out, and the answer says an amount that cannot be read",
            Self::ContradictsChip => "it is carried out, but the answer tells the chip the contrary",
            Self::AnotherId => "it is carried out, and the answer names another transaction",
            Self::InDoubt => "it is declined in a way that must be looked up",
            Self::InDoubtUnlisted => "it is declined in a way that must be looked up, and never listed",
            Self::ListLacks => "the list lacks what was booked last",
            Self::ListUnclear => "what was booked last is listed with a code that no rule knows",
            Self::ListUnnamed => "the list names no references",
            Self::ListWithoutAmounts => "the list names no amounts",
            Self::StrangerRefunded => "it shows that a part was refunded outside this terminal",
            Self::HeldBack => "it is held back until the next look-up",
            Self::HeldBackForPerson => "it is held back for a person",
        })
    }
}
