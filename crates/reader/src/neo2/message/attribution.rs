//! The attribution of an answer: how the card was read, and with which cipher the reader encrypted it (readers: 4.4).
//!
//! ```text
//! bits 4, 3, 0: 000 contact · 001 contactless · 101 contactless magstripe mode · 01x swipe
//! bits 2, 1: 00 TDES · 01 AES · bits 7, 6: encryption of chips and of stripes · bit 5: more bytes of attribution
//! ```
//!
//! It comes as DFEE26, as a byte before the first element, or both. A captured swipe has both (tests/golden).

use super::inline;
use pos_terms::card::EntryMode;

/// The attribution byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Attribution(pub u8);

/// The interface that read the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The chip was inserted.
    Contact,
    /// The chip was tapped.
    Contactless,
    /// The card was tapped, in magstripe mode.
    ContactlessMagstripe,
    /// The card was swiped.
    Swipe,
}

/// The cipher of the encrypted elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// TDES DUKPT, with a KSN of 10 bytes (readers: 8.1).
    Tdes,
    /// AES DUKPT, with a KSN of 12 bytes (readers: 8.2).
    Aes,
}

/// A contradiction between the parts of an answer that say how a card was read and encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttributionFault {
    /// Bits 2 and 1, or bits 4, 3 and 0, have a value without a meaning.
    #[error("the attribution has a reserved value")]
    Reserved,
    /// The byte before the elements and DFEE26 differ, or there are different DFEE26.
    #[error("the answer has two attributions")]
    Two,
    /// The KSN has a length for the other cipher, or for none.
    #[error("the KSN of {bytes} bytes does not fit the cipher")]
    KsnLength {
        /// The length in bytes.
        bytes: usize,
    },
    /// Attribution, 9F39, the track source and the block of a swipe name different interfaces.
    #[error("the answer names two interfaces")]
    Interface,
    /// The attribution says that nothing is encrypted, but something is.
    #[error("the attribution denies the encryption")]
    Unencrypted,
}

impl Cipher {
    /// Returns the cipher of a KSN.
    #[must_use]
    pub fn of_ksn(ksn: &[u8]) -> Option<Self> {
        match ksn.len() {
            10 => Some(Self::Tdes),
            12 => Some(Self::Aes),
            _ => None,
        }
    }

    /// Returns the length of a cipher block in bytes.
    #[must_use]
    pub const fn block(self) -> usize {
        match self {
            Self::Tdes => 8,
            Self::Aes => 16,
        }
    }
}

impl Attribution {
    /// Returns the interface, or `None` for a reserved value.
    #[must_use]
    pub fn interface(self) -> Option<Interface> {
        match (self.0 & 0x10 != 0, self.0 & 0x08 != 0, self.0 & 0x01 != 0) {
            (false, false, false) => Some(Interface::Contact),
            (false, false, true) => Some(Interface::Contactless),
            (true, false, true) => Some(Interface::ContactlessMagstripe),
            (false, true, _) => Some(Interface::Swipe),
            _ => None,
        }
    }

    /// Returns the cipher, or `None` for a reserved value.
    #[must_use]
    pub fn cipher(self) -> Option<Cipher> {
        match self.0 >> 1 & 0x03 {
            0 => Some(Cipher::Tdes),
            1 => Some(Cipher::Aes),
            _ => None,
        }
    }

    /// Returns whether encryption is off for chips and for stripes. UNCERTAIN: which of the bits 7 and 6 is which, so
    /// only "both off" has a meaning here.
    #[must_use]
    pub fn is_off(self) -> bool {
        self.0 & 0xC0 == 0
    }

    /// Checks the attribution against what is known from elsewhere.
    ///
    /// # Errors
    /// Returns the first contradiction.
    pub fn check(self, ksn: Option<&[u8]>, interface: Option<Interface>) -> Result<(), AttributionFault> {
        let (Some(own), Some(cipher)) = (self.interface(), self.cipher()) else {
            return Err(AttributionFault::Reserved);
        };
        if interface.is_some_and(|interface| interface != own) {
            return Err(AttributionFault::Interface);
        }
        match ksn {
            Some(ksn) if Cipher::of_ksn(ksn) != Some(cipher) => Err(AttributionFault::KsnLength { bytes: ksn.len() }),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Debug for Attribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02X} {:?} {:?}", self.0, self.interface(), self.cipher())
    }
}

impl Interface {
    /// Returns the interface of a POS entry mode (9F39; readers: 1 and 4.4), or `None` if the value says nothing here.
    #[must_use]
    pub fn of_entry_mode(value: &[u8]) -> Option<Self> {
        match value {
            [0x05] => Some(Self::Contact),
            [0x07] => Some(Self::Contactless),
            [0x91] => Some(Self::ContactlessMagstripe),
            [0x80 | 0x90] => Some(Self::Swipe),
            _ => None,
        }
    }

    /// Returns the gateway's word for the interface. 9F39 of a swipe says whether the chip has failed before.
    #[must_use]
    pub fn entry(self, pos_entry_mode: Option<&[u8]>) -> EntryMode {
        match self {
            Self::Contact => EntryMode::Icc,
            Self::Contactless => EntryMode::NfcIcc,
            Self::ContactlessMagstripe => EntryMode::NfcMagstripe,
            Self::Swipe if pos_entry_mode == Some(&[0x80]) => EntryMode::MagstripeAsFallback,
            Self::Swipe => EntryMode::Magstripe,
        }
    }
}

/// Splits the data of a transaction's answer into the attribution byte, if there is one, and the elements.
///
/// UNCERTAIN: which answers begin with the byte. The manual and a capture have it for 02-40, and the answers of 60-xx
/// are not published (readers: 4.2). So the bytes decide. If the second byte is no length, the first one is no tag. If
/// this does not decide, the byte is an attribution only if the data are no list with it and a list without it.
#[must_use]
pub fn split(data: &[u8]) -> (Option<Attribution>, &[u8]) {
    let Some((&first, rest)) = data.split_first() else { return (None, data) };
    // The first byte of a longer tag is no attribution, because its bits 4 and 3 are set.
    if first & 0x1F == 0x1F {
        return (None, data);
    }
    let is_list = |bytes| inline::each(bytes, &mut |_| ()).is_ok();
    let is_length = |byte: u8| matches!(byte, 0..=0x7F | 0x81..=0x83 | 0xA1 | 0xC1);
    // A zero is padding or a contact attribution, and what follows it is a tag in both cases.
    let second_is_no_length = rest.first().is_some_and(|second| !is_length(*second));
    if second_is_no_length || (!is_list(data) && is_list(rest)) {
        return (Some(Attribution(first)), rest);
    }
    (None, data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_read_as_published() {
        for (byte, interface, cipher) in [
            (0x00, Some(Interface::Contact), Some(Cipher::Tdes)),
            (0xC1, Some(Interface::Contactless), Some(Cipher::Tdes)),
            (0xC3, Some(Interface::Contactless), Some(Cipher::Aes)),
            (0xD1, Some(Interface::ContactlessMagstripe), Some(Cipher::Tdes)),
            (0xE8, Some(Interface::Swipe), Some(Cipher::Tdes)),
            (0xCB, Some(Interface::Swipe), Some(Cipher::Aes)),
            (0xC4, Some(Interface::Contact), None),
            (0xD0, None, Some(Cipher::Tdes)),
            (0xD8, None, Some(Cipher::Tdes)),
        ] {
            let attribution = Attribution(byte);
            assert_eq!((attribution.interface(), attribution.cipher()), (interface, cipher), "{byte:02X}");
        }
        assert!(Attribution(0x0A).is_off() && !Attribution(0x40).is_off() && !Attribution(0x80).is_off());
    }

    #[test]
    fn a_contradiction_has_a_name() {
        let (tdes, aes) = ([0xFF; 10], [0xFF; 12]);
        let check = |byte, ksn, interface| Attribution(byte).check(ksn, interface);
        assert_eq!(check(0xC0, Some(&tdes[..]), Some(Interface::Contact)), Ok(()));
        assert_eq!(check(0xC2, Some(&aes[..]), None), Ok(()));
        assert_eq!(check(0xC0, None, None), Ok(()));
        for (byte, ksn, bytes) in [(0xC0, &aes[..], 12), (0xC2, &tdes[..], 10), (0xC0, &tdes[..9], 9)] {
            assert_eq!(check(byte, Some(ksn), None), Err(AttributionFault::KsnLength { bytes }));
        }
        assert_eq!(check(0xC1, None, Some(Interface::Contact)), Err(AttributionFault::Interface));
        assert_eq!(check(0xC6, Some(&aes[..]), None), Err(AttributionFault::Reserved));
        assert_eq!(check(0xD0, None, None), Err(AttributionFault::Reserved));
    }

    #[test]
    fn the_byte_before_the_elements_is_found_only_where_it_is() {
        for (data, byte) in [
            ("E8DFEE25020011", Some(0xE8)),
            ("C19F3901 07", Some(0xC1)),
            ("00DFEE25020010", Some(0x00)),
            // "57 11" could be a tag and its length, and 0x57 bytes do not follow C0.
            ("C05703476173", Some(0xC0)),
            ("82025C00", None),
            ("DFEE25020011", None),
            ("9F390107", None),
            ("FF810503570147", None),
            ("57A1024761", None),
            ("5A8102476100", None),
            ("", None),
        ] {
            let bytes = hex::decode(data.replace(' ', "")).unwrap();
            let (found, rest) = split(&bytes);
            assert_eq!(found, byte.map(Attribution), "{data}");
            assert_eq!(rest.len(), bytes.len() - usize::from(found.is_some()), "{data}");
        }
    }

    #[test]
    fn the_gateway_s_word_follows_from_the_interface() {
        for (value, entry) in [
            (0x05, EntryMode::Icc),
            (0x07, EntryMode::NfcIcc),
            (0x91, EntryMode::NfcMagstripe),
            (0x90, EntryMode::Magstripe),
            (0x80, EntryMode::MagstripeAsFallback),
        ] {
            assert_eq!(Interface::of_entry_mode(&[value]).unwrap().entry(Some(&[value])), entry, "{value:02X}");
        }
        assert_eq!(Interface::of_entry_mode(&[0x01]), None);
        assert_eq!(Interface::of_entry_mode(&[0x05, 0x05]), None);
        assert_eq!(Interface::Swipe.entry(None), EntryMode::Magstripe);
    }
}
