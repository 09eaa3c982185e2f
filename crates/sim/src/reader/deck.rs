//! A virtual card: its data and its behaviour. `deck::cards` contains all cards. This module does not depend on the
//! reader.

pub use self::cards::DECK;

mod cards;

/// A virtual card.
#[derive(Debug, PartialEq, Eq)]
pub struct Card {
    /// The card's name for people, such as `chip-pin`.
    pub name: &'static str,
    /// Primary account number.
    pub pan: &'static str,
    /// PAN sequence number.
    pub psn: u8,
    /// Expiry, YYMM.
    pub expiry: &'static str,
    /// The service code of the stripe and of the track 2 equivalent data.
    pub service_code: &'static str,
    /// The discretionary data of track 2, ten digits.
    pub discretionary: &'static str,
    /// The PIN that the issuer knows and the cardholder types.
    pub pin: &'static str,
    /// The cardholder name, as on track 1 and in tag 5F20.
    pub holder: &'static str,
    /// Application label (tag 50).
    pub label: &'static str,
    /// Application identifier (tags 4F, 84, 9F06).
    pub aid: &'static [u8],
    /// The additional applications on the chip.
    pub applications: Applications,
    /// How many times the cardholder types a wrong PIN before the right one, in each transaction.
    pub mistakes: u8,
    /// The initial number of PIN tries (9F17) for a chip that checks the PIN.
    pub tries: u8,
    /// The issuer country code (5F28), BCD; `None` means the terminal's country.
    pub country: Option<[u8; 2]>,
    /// The application currency code (9F42), BCD; `None` if the card has none.
    pub currency: Option<[u8; 2]>,
    /// The cardholder's languages (5F2D), codes of two letters; `None` if the card names none.
    pub languages: Option<&'static str>,
    /// The card's special behaviour, in a few words.
    pub about: &'static str,
    /// The contact interface.
    pub chip: Chip,
    /// The contactless interface.
    pub tap: Tap,
    /// True if the card has a magnetic stripe.
    pub stripe: bool,
}

/// An application of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Application {
    /// Application identifier (tags 4F, 84, 9F06).
    pub aid: &'static [u8],
    /// Application label (tag 50).
    pub label: &'static str,
}

/// The applications that a reader can find on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applications {
    /// One application.
    One,
    /// Two applications: the cardholder chooses between the card's main application and this one.
    Choice(Application),
    /// The card's main application is blocked (SELECT answers 6283; EMV Book 1, 12.4), so this is the only one left.
    OnlyOther(Application),
}

/// The chip of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    /// No contacts, so the slot finds no chip.
    None,
    /// A chip that works.
    Works {
        /// The cardholder verification method.
        cvm: Cvm,
        /// The first cryptogram.
        first: First,
        /// The chip's reaction to the issuer's answer.
        second: Second,
    },
    /// No answer to reset; the reader reports 9F30, card read error.
    Mute,
    /// No application that the reader supports; the reader reports 9F28, unsupported card.
    Foreign,
    /// Blocked by its issuer, so SELECT answers 6A81 (EMV Book 1, 12.3.2). The reader reports 9F25, bad card, no swipe
    /// allowed.
    Blocked,
}

/// Cardholder verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cvm {
    /// No verification.
    None,
    /// The issuer checks the PIN.
    OnlinePin,
    /// The chip checks the PIN.
    OfflinePin,
    /// The cardholder signs the receipt.
    Signature,
    /// The cardholder's device (a phone) has verified the cardholder.
    OwnDevice,
}

/// The first cryptogram of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Requests the issuer's decision (ARQC, template E4).
    Asks,
    /// Approves without the issuer (TC, template E3).
    Approves,
    /// Declines without the issuer (AAC, template E5).
    Declines,
}

/// The second cryptogram of a chip. It is always an AAC if the ARC is not `00`, tag 91 is wrong, or a card status
/// update does not approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// TC for ARC `00` with a right tag 91; AAC without tag 91 (issuer authentication is mandatory).
    NeedsIssuer,
    /// TC for ARC `00`, with a right tag 91 or without tag 91 (issuer authentication is optional, as on many real
    /// cards).
    TakesNoIssuer,
    /// Always AAC.
    Refuses,
}

/// The contactless interface of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tap {
    /// No antenna, so a tap has no effect.
    None,
    /// EMV mode.
    Emv(Cvm),
    /// Magstripe mode, with track 2 and no cryptogram.
    Magstripe,
    /// The card requires its contacts, and the reader reports 9FC3.
    Insert,
}

/// A way to present a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum CardEntry {
    /// By insertion into the slot.
    Insert,
    /// By a tap on the antenna.
    Tap,
    /// By a swipe through the stripe reader.
    Swipe,
}

/// Returns the card with this name.
#[must_use]
pub fn card(name: &str) -> Option<&'static Card> {
    DECK.iter().find(|card| card.name == name)
}

/// Returns the card with this name.
///
/// # Errors
///
/// Fails if there is none. The message lists the cards.
pub fn named(name: &str) -> Result<&'static Card, String> {
    card(name).ok_or_else(|| {
        let names: Vec<_> = DECK.iter().map(|card| card.name).collect();
        format!("no such card; the deck has {}", names.join(", "))
    })
}

impl Card {
    /// Returns every way to present this card, including those that the reader will refuse.
    #[must_use]
    pub fn ways(&self) -> Vec<CardEntry> {
        let all = [
            (CardEntry::Insert, self.chip != Chip::None),
            (CardEntry::Tap, self.tap != Tap::None),
            (CardEntry::Swipe, self.stripe),
        ];
        all.into_iter().filter_map(|(entry, there)| there.then_some(entry)).collect()
    }

    /// Returns the ways to present the card that the reader accepts as the beginning of a transaction. The card or its
    /// issuer may still decline. A blocked card has none. For a way that the reader refuses, see [`Self::after`].
    #[must_use]
    pub fn entries(&self) -> &'static [CardEntry] {
        match (self.chip, self.tap) {
            (Chip::Blocked, _) => &[],
            (Chip::None, Tap::None) => &[CardEntry::Swipe],
            (Chip::None, _) => &[CardEntry::Tap],
            (_, Tap::None) => &[CardEntry::Insert],
            _ => &[CardEntry::Insert, CardEntry::Tap],
        }
    }

    /// Returns the cardholder's next action if the reader refuses this way of presenting the card. The chip failed, the
    /// tap requires contacts, or a chip card was swiped. `None` if the way is accepted.
    #[must_use]
    pub fn after(&self, entry: CardEntry) -> Option<CardEntry> {
        match entry {
            CardEntry::Insert if matches!(self.chip, Chip::Mute | Chip::Foreign) => Some(CardEntry::Swipe),
            CardEntry::Tap if self.tap == Tap::Insert => Some(CardEntry::Insert),
            CardEntry::Swipe if self.service_code.starts_with(['2', '6']) => Some(CardEntry::Insert),
            _ => None,
        }
    }

    /// Returns the applications that can be chosen, in the card's order.
    #[must_use]
    pub fn candidates(&self) -> Vec<Application> {
        let own = Application { aid: self.aid, label: self.label };
        match self.applications {
            Applications::One => vec![own],
            Applications::Choice(other) => vec![own, other],
            Applications::OnlyOther(other) => vec![other],
        }
    }

    /// Returns a wrong PIN.
    #[must_use]
    pub fn wrong_pin(&self) -> &'static str {
        if self.pin == "9999" { "0000" } else { "9999" }
    }

    /// Returns track 1 with its sentinels. The only known capture of a swipe (readers: 8.4, M1) has no LRC character
    /// here. Its tag 5F21 has 70 bytes, which end with the `?`.
    #[must_use]
    pub fn track1(&self) -> String {
        let Self { pan, holder, expiry, service_code, discretionary, .. } = self;
        format!("%B{pan}^{holder}^{expiry}{service_code}{discretionary}000000?")
    }

    /// Returns track 2 with its sentinels and LRC character. By ISO 7811, it has 5-bit characters from 30, and the LRC
    /// makes their exclusive-or zero.
    #[must_use]
    pub fn track2(&self) -> String {
        let Self { pan, expiry, service_code, discretionary, .. } = self;
        let mut track = format!(";{pan}={expiry}{service_code}{discretionary}?");
        track.push(char::from(0x30 + track.bytes().fold(0, |lrc, c| lrc ^ (c & 0x0F))));
        track
    }

    /// Returns track 2 as a reader shows it (DFAE22). The first six and last four digits of the PAN, the expiry and the
    /// service code are in clear. All other characters are `*`, including the LRC.
    #[must_use]
    pub fn masked_track2(&self) -> String {
        let Self { expiry, service_code, discretionary, .. } = self;
        format!(";{}={expiry}{service_code}{}?*", self.masked_pan('*'), "*".repeat(discretionary.len()))
    }

    /// Returns tag 57 as hexadecimal digits, padded with F to whole bytes.
    #[must_use]
    pub fn track2_equivalent(&self) -> String {
        let Self { pan, expiry, service_code, discretionary, .. } = self;
        padded(format!("{pan}D{expiry}{service_code}{discretionary}"))
    }

    /// Returns tag 5A as hexadecimal digits, padded with F to whole bytes.
    #[must_use]
    pub fn pan_digits(&self) -> String {
        padded(self.pan.to_owned())
    }

    /// Returns the PAN with its first six and last four digits in clear, and `mask` for all others.
    #[must_use]
    pub fn masked_pan(&self, mask: char) -> String {
        let last = self.pan.len() - 4;
        self.pan.chars().enumerate().map(|(n, c)| if (6..last).contains(&n) { mask } else { c }).collect()
    }
}

pub(super) fn padded(mut digits: String) -> String {
    if digits.len() % 2 == 1 {
        digits.push('F');
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::cards::PLAIN;
    use super::*;
    use pos_terms::emv::luhn;

    #[test]
    fn every_card_has_a_name_and_a_number_of_its_own() {
        let names: std::collections::HashSet<_> = DECK.iter().map(|card| card.name).collect();
        let pans: std::collections::HashSet<_> = DECK.iter().map(|card| card.pan).collect();
        assert_eq!((names.len(), pans.len()), (DECK.len(), DECK.len()));
        for card in DECK {
            assert!(luhn::is_valid(card.pan), "{}", card.name);
            assert!(card.track1().len() <= 80 && card.track2().len() <= 41, "{}", card.name);
            assert_eq!(card.entries().is_empty(), card.name == "blocked");
            assert!(!card.about.is_empty() && card.wrong_pin() != card.pin, "{}", card.name);
            assert!(card.candidates().iter().all(|application| application.label.len() <= 16));
        }
    }

    // Copied by hand from documents (readers: 8.4, M1). Never edit these bytes to make a test pass. Their track 1
    // differs from ours only in the discretionary data.
    #[test]
    fn the_tracks_are_built_as_a_real_swipe() {
        let card = Card {
            pan: "4761739001010010",
            holder: "VISA ACQUIRER TEST CARD 05",
            expiry: "1512",
            discretionary: "1143857589",
            ..PLAIN
        };
        assert_eq!(card.track2(), ";4761739001010010=15122011143857589?<");
        assert_eq!(card.track1(), "%B4761739001010010^VISA ACQUIRER TEST CARD 05^15122011143857589000000?");
        assert_eq!(card.masked_track2(), ";476173******0010=1512201**********?*");
    }

    // Copied by hand from documents (readers: 2.13): the captured E4 of a UK contact card.
    #[test]
    fn tag_57_and_the_masks_are_those_of_a_real_chip() {
        let card = Card { pan: "4761739001010119", expiry: "1512", ..PLAIN };
        assert_eq!(card.track2_equivalent(), "4761739001010119D15122011758989389");
        assert_eq!(card.masked_pan('F'), "476173FFFFFF0119");
    }
}
