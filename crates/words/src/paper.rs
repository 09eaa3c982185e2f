//! What the customer reads, on paper and on the reader: titles, dates, how a card was read, and what has not happened.

use super::kind::messages;
use super::{Message, Words};
use pos_terms::card::{Cvm, EntryMode};
use pos_terms::transaction::Kind;

impl Words {
    /// What kind of transaction it is.
    #[must_use]
    pub fn title(&self, kind: Kind) -> &str {
        self.label(messages(kind).title)
    }

    /// That it was done, on paper and for the cashier: `APPROVED`, and what is said where nothing is paid.
    pub(super) fn done(kind: Kind) -> Message {
        match kind {
            Kind::StoreCard => Message::CardStored,
            Kind::ForgetCard => Message::CardForgotten,
            _ => Message::Approved,
        }
    }

    /// The same in words: `APPROVED`, or that the card was stored or forgotten.
    #[must_use]
    pub fn approved(&self, kind: Kind) -> &str {
        self.label(Self::done(kind))
    }

    /// `NOT CHARGED`, and what the other kinds say in its place.
    #[must_use]
    pub fn nothing_happened(&self, kind: Kind) -> String {
        self.label(messages(kind).nothing).to_uppercase()
    }

    /// `NOT CHARGED: TAKEN BACK`.
    #[must_use]
    pub fn taken_back(&self, kind: Kind) -> String {
        self.say(Message::TakenBack, &[("nothing", &self.nothing_happened(kind))])
    }

    /// What the customer may see until a doubt is settled, when there is something to see.
    #[must_use]
    pub fn until_taken_back(&self, kind: Kind) -> &str {
        self.label(if kind.reserves_money() { Message::TwoReservations } else { Message::TwoBookings })
    }

    /// What the cardholder signs.
    #[must_use]
    pub fn agreement(&self, kind: Kind) -> &str {
        self.label(match kind {
            kind if kind.reserves_money() => Message::AgreeToReserve,
            kind if kind.gives_money() => Message::AgreeToCredit,
            _ => Message::AgreeToPay,
        })
    }

    /// How the card was read.
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

    /// How the cardholder was verified. Only an approval proves that a PIN was right: the issuer checks the online one,
    /// and of an offline one that failed the facts of a declined sale still name the method.
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

    /// A local time of the journal (`2026-11-20 12:34:56`) as people write it; what is none stays as it is.
    #[must_use]
    pub fn date_and_time(&self, local: &str) -> String {
        let read = || -> Option<String> {
            let (date, time) = local.split_once(' ')?;
            let parts = self.date_parts(date)?.into_iter().chain([("time", time)]).collect::<Vec<_>>();
            Some(self.say(Message::DateAndTime, &parts))
        };
        read().unwrap_or_else(|| local.to_owned())
    }

    /// The parts of a date, by the names that a message may use.
    pub(super) fn date_parts<'a>(&'a self, date: &'a str) -> Option<[(&'static str, &'a str); 4]> {
        let [year, month, day] = date.split('-').collect::<Vec<_>>().try_into().ok()?;
        let name = self.label(Message::Months).split(' ').nth(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let parts = [("day", day), ("month", month), ("month-name", name), ("year", year)];
        (digits(day) && digits(year)).then_some(parts)
    }
}
