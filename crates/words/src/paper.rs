//! The customer's texts on paper and on the reader: titles, dates, card entry, verification, and failures.

use super::kind::messages;
use super::{Message, Words};
use pos_terms::card::{Cvm, EntryMode};
use pos_terms::transaction::Kind;

impl Words {
    /// Returns the title of the receipt for a kind of transaction.
    #[must_use]
    pub fn title(&self, kind: Kind) -> &str {
        self.label(messages(kind).title)
    }

    /// Returns the message for success, on paper and for the cashier: `APPROVED`, or another text for kinds without a
    /// payment.
    pub(super) fn done(kind: Kind) -> Message {
        match kind {
            Kind::StoreCard => Message::CardStored,
            Kind::ForgetCard => Message::CardForgotten,
            _ => Message::Approved,
        }
    }

    /// Returns the text for success: `APPROVED`, or that the card was stored or deleted.
    #[must_use]
    pub fn approved(&self, kind: Kind) -> &str {
        self.label(Self::done(kind))
    }

    /// Returns `NOT CHARGED`, or the corresponding text for another kind.
    #[must_use]
    pub fn nothing_happened(&self, kind: Kind) -> String {
        self.label(messages(kind).nothing).to_uppercase()
    }

    /// Returns the text for a reversal, such as `NOT CHARGED: TAKEN BACK`.
    #[must_use]
    pub fn taken_back(&self, kind: Kind) -> String {
        self.say(Message::TakenBack, &[("nothing", &self.nothing_happened(kind))])
    }

    /// Returns the note about what the customer may see until an unknown outcome is resolved: two reservations or two
    /// bookings.
    #[must_use]
    pub fn until_taken_back(&self, kind: Kind) -> &str {
        self.label(if kind.reserves_money() { Message::TwoReservations } else { Message::TwoBookings })
    }

    /// Returns the agreement that the cardholder signs.
    #[must_use]
    pub fn agreement(&self, kind: Kind) -> &str {
        self.label(match kind {
            kind if kind.reserves_money() => Message::AgreeToReserve,
            kind if kind.gives_money() => Message::AgreeToCredit,
            _ => Message::AgreeToPay,
        })
    }

    /// Returns the text for the way in which the card was read.
    #[must_use]
    pub fn entry(&self, entry: EntryMode) -> &str {
        self.label(match entry {
            EntryMode::Manual => Message::EntryManual,
            EntryMode::Magstripe => Message::EntryMagstripe,
            EntryMode::MagstripeAsFallback => Message::EntryFallback,
            EntryMode::Icc => Message::EntryChip,
            EntryMode::NfcIcc => Message::EntryContactless,
            EntryMode::NfcMagstripe => Message::EntryContactlessMagstripe,
        })
    }

    /// Returns the text for the cardholder verification. Only an approval proves that the PIN was correct. The issuer
    /// checks an online PIN. After a failed offline PIN, the data of the declined transaction still names the method.
    #[must_use]
    pub fn verification(&self, cvm: Cvm, charged: bool) -> &str {
        self.label(match (cvm, charged) {
            (Cvm::OfflinePin, true) => Message::PinVerified,
            (Cvm::OnlinePin, true) => Message::PinVerifiedOnline,
            (Cvm::OfflinePin | Cvm::OnlinePin, false) => Message::PinEntered,
            (Cvm::Signature, _) => Message::BySignature,
            (Cvm::OfflinePinAndSignature, true) => Message::PinVerifiedAndSignature,
            (Cvm::OfflinePinAndSignature, false) => Message::PinEnteredAndSignature,
            (Cvm::ConsumerDevice, true) => Message::VerifiedOnDevice,
            (Cvm::ConsumerDevice, false) => Message::OnDevice,
            (Cvm::None, _) => Message::NoVerification,
        })
    }

    /// Converts a local time of the journal (`2026-11-20 12:34:56`) to its written form; a text that is not a time
    /// stays unchanged.
    #[must_use]
    pub fn date_and_time(&self, local: &str) -> String {
        let read = || -> Option<String> {
            let (date, time) = local.split_once(' ')?;
            let parts = self.date_parts(date)?.into_iter().chain([("time", time)]).collect::<Vec<_>>();
            Some(self.say(Message::DateAndTime, &parts))
        };
        read().unwrap_or_else(|| local.to_owned())
    }

    /// Returns the parts of a date, under the names that a message may use.
    pub(super) fn date_parts<'a>(&'a self, date: &'a str) -> Option<[(&'static str, &'a str); 4]> {
        let [year, month, day] = date.split('-').collect::<Vec<_>>().try_into().ok()?;
        let name = self.label(Message::Months).split(' ').nth(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let parts = [("day", day), ("month", month), ("month-name", name), ("year", year)];
        (digits(day) && digits(year)).then_some(parts)
    }
}
