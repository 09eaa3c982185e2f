//! The words on the slip of a close of day: dates, sums of any size, and the reasons why items are open.

use super::{Message, Words};
use pos_core::counter::OpenKind;

impl Words {
    /// Returns the reason why no sum includes an item yet.
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

    /// Returns the line below a shortened list: the number of further items.
    #[must_use]
    pub fn and_more(&self, count: usize) -> String {
        self.say(Message::AndMore, &[("count", &count.to_string())])
    }

    /// Converts a sum with the decimals of its currency (`-12.34`) to its written form in this language.
    #[must_use]
    pub fn sum(&self, decimal: &str, currency: &str) -> String {
        format!("{} {currency}", decimal.replace('.', self.label(Message::DecimalSeparator)))
    }

    /// Converts a local time with its offset (`2026-11-20T12:34:56+01:00`) to its written form, without the offset. A
    /// text that is not a time stays unchanged.
    #[must_use]
    pub fn moment(&self, rfc_3339: &str) -> String {
        let local = rfc_3339.get(..19).map(|local| local.replacen('T', " ", 1));
        local.map_or_else(|| rfc_3339.to_owned(), |local| self.date_and_time(&local))
    }

    /// Converts a date (`2026-11-20`) to its written form; a text that is not a date stays unchanged.
    #[must_use]
    pub fn date(&self, day: &str) -> String {
        self.date_parts(day).map(|parts| self.say(Message::DateAlone, &parts)).unwrap_or_else(|| day.to_owned())
    }
}
