//! The conversion of device reports to the core's reasons. Other modules turn a reason into a sentence for people.

use pos_core::transaction::{Cause, Reason};
use pos_reader::{NoAmount, NoCard, Unready};

/// Returns the reason why no card was read.
pub(in crate::agent) fn no_card(why: &NoCard) -> Cause {
    match why {
        NoCard::CancelledByTill => Reason::TillCancelled.into(),
        NoCard::CancelledAtReader => Reason::CustomerCancelled.into(),
        NoCard::TimedOut => Reason::CardTimeout.into(),
        NoCard::Unreadable { cause } => Reason::CardUnreadable.with(cause),
        NoCard::AmountDiffers => Reason::ReaderAmountDiffers.into(),
        NoCard::PinMissing => Reason::ReaderPinMissing.into(),
        NoCard::NoKeyLeft => Reason::ReaderNoKeys.into(),
        NoCard::ManualEntryOff => Reason::TypingNotPossible.with("[reader] manual-entry"),
        NoCard::ManualEntryUnknown => Reason::TypingNotPossible.with("[reader] manual-entry-command"),
        NoCard::NotReady => Reason::ReaderNotReady.into(),
    }
}

/// Returns the reason why no tip was typed. Without a tip, the agent does not ask for a card.
pub(in crate::agent) fn no_tip(why: &NoAmount) -> Cause {
    match why {
        NoAmount::CancelledByTill => Reason::TillCancelled.into(),
        NoAmount::CancelledAtReader => Reason::CustomerCancelled.into(),
        NoAmount::TimedOut => Reason::TipTimeout.into(),
        other => Reason::TipNotPossible.with(other),
    }
}

/// Returns the reason why a transaction that waits for its card has lost the reader.
pub(in crate::agent) fn unready(why: &Unready) -> Cause {
    match why {
        Unready::Absent { port, cause } => Reason::ReaderAbsent.with(format_args!("{port}: {cause}")),
        Unready::WrongDevice { port, cause, .. } => Reason::ReaderOtherDevice.with(format_args!("{port}: {cause}")),
        Unready::Restarting { cause } => Reason::ReaderRestarting.with(cause),
        Unready::Flooding { port, .. } => Reason::ReaderFlooding.with(port),
        Unready::NoCardKey { serial } => Reason::ReaderNoKeys.with(serial),
        Unready::NotListed { serial } => Reason::ReaderNotListed.with(serial),
        Unready::ClearCardData { serial } => Reason::ReaderClearData.with(serial),
        Unready::NotEncrypting { serial, .. } => Reason::ReaderNotEncrypting.with(serial),
    }
}
