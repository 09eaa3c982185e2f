//! The words on the slip of a close of day: dates, sums of any size, and why something is open.

use super::{Message, Words};
use pos_core::counter::OpenKind;

impl Words {
    /// Why something is in no sum yet.
    #[must_use]
    pub fn open(&self, is: OpenKind) -> &str {
        self.label(match is {
            OpenKind::NeedsPerson => Message::OpenNeedsPerson,
            OpenKind::Unconfirmed => Message::OpenUnconfirmed,
            OpenKind::AwaitingSignature => Message::OpenAwaitingSignature,
            OpenKind::AwaitingTill => Message::OpenAwaitingTill,
            OpenKind::UnderWay => Message::OpenUnderWay,
            OpenKind::Unreadable => Message::OpenUnreadable,
            OpenKind::PreAuthorisation => Message::OpenReserved,
        })
    }

    /// Below a list that was cut: so many more.
    #[must_use]
    pub fn and_more(&self, count: usize) -> String {
        self.say(Message::AndMore, &[("count", &count.to_string())])
    }

    /// A sum with the decimals of its currency (`-12.34`) as it is written in this language.
    #[must_use]
    pub fn sum(&self, decimal: &str, currency: &str) -> String {
        format!("{} {currency}", decimal.replace('.', self.label(Message::DecimalSeparator)))
    }

    /// A local moment with its offset (`2026-11-20T12:34:56+01:00`) as people write it, without the offset; what is
    /// none stays as it is.
    #[must_use]
    pub fn moment(&self, rfc_3339: &str) -> String {
        let local = rfc_3339.get(..19).map(|local| local.replacen('T', " ", 1));
        local.map_or_else(|| rfc_3339.to_owned(), |local| self.date_and_time(&local))
    }

    /// A date (`2026-11-20`) as people write it; what is none stays as it is.
    #[must_use]
    pub fn date(&self, day: &str) -> String {
        self.date_parts(day).map(|parts| self.say(Message::DateAlone, &parts)).unwrap_or_else(|| day.to_owned())
    }
}
