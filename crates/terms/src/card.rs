//! The data from a card reader: sealed (encrypted) card data and PIN, and the few facts that a receipt may show.
//!
//! No type here can print a PAN, a track or a PIN block. Sealed bytes have no `Clone`, do not show their content in
//! `Debug`, and are wiped when dropped. The only form of a PAN is [`MaskedPan`] (design: invariant 7; security: 3.1).

mod facts;
mod masking;

use crate::emv::Tag;
use std::fmt;

use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use crate::emv::{TlvError, tlv};

pub use facts::{CardFacts, ChipElements, Cryptogram, CryptogramKind, Cvm};
pub use masking::{is_id, mask_pans};

/// The maximum size of one sealed value, in bytes. The gateway accepts 2048 letters and digits, two for each byte
/// (interface: Point of sale).
pub const MAX_SEALED: usize = 1024;

/// Bytes in a fixed buffer that are wiped when dropped and never printed. The buffer is on the heap. A move copies only
/// the buffer's address, so it leaves no copy of the bytes.
#[derive(Default)]
pub struct Wiped<const N: usize>(Box<heapless::Vec<u8, N>>);

impl<const N: usize> Wiped<N> {
    /// Copies `bytes`, or returns `None` if there are more than `N`.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Option<Self> {
        let mut wiped = Self::default();
        wiped.0.extend_from_slice(bytes).ok()?;
        Some(wiped)
    }

    /// Copies `pieces` one after another, or returns `None` if they have more than `N` bytes.
    #[must_use]
    pub fn joined<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let mut wiped = Self::default();
        for piece in pieces {
            wiped.0.extend_from_slice(piece).ok()?;
        }
        Some(wiped)
    }

    /// Returns the bytes, for the only code that sends them.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> Drop for Wiped<N> {
    fn drop(&mut self) {
        // This wipes the whole capacity, not only the used part.
        self.0.clear();
        let _ = self.0.resize(N, 0);
        self.0.as_mut_slice().zeroize();
    }
}

impl<const N: usize> fmt::Debug for Wiped<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} sealed bytes]", self.0.len())
    }
}

/// Card data that the reader encrypted (SRED), with its key serial number.
#[derive(Debug)]
pub struct SealedCard {
    /// Ciphertext, for `pos.encryptedSred.data`.
    pub data: Wiped<MAX_SEALED>,
    /// The KSN of 10 bytes (TDES DUKPT) or 12 bytes (AES DUKPT), for `pos.encryptedSred.ksn`.
    pub ksn: Wiped<12>,
}

/// The PIN block that the reader encrypted, with its key serial number.
#[derive(Debug)]
pub struct SealedPin {
    /// The PIN block of 8 bytes (ISO format 0) or 16 bytes (ISO format 4), for `pos.encryptedPin.data`.
    pub block: Wiped<16>,
    /// The KSN of 10 or 12 bytes, for `pos.encryptedPin.ksn`.
    pub ksn: Wiped<12>,
}

/// A PAN that shows only its first six and last four digits. The others were masked earlier, or are masked here.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MaskedPan(heapless::String<19>);

impl MaskedPan {
    /// Creates a masked PAN from digits and mask characters (`*`, `F`, `f`). Every digit except the first six and the
    /// last four is masked, regardless of the source. A PAN of fewer than 13 positions shows only the last four.
    /// Returns `None` if the text is not a PAN of 8 to 19 positions.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let places = text.chars().count();
        if !(8..=19).contains(&places) {
            return None;
        }
        let mut masked = heapless::String::new();
        for (n, c) in text.chars().enumerate() {
            let open = n + 4 >= places || (n < 6 && places >= 13);
            let shown = match c {
                '0'..='9' if open => c,
                '0'..='9' | '*' | 'F' | 'f' => '*',
                _ => return None,
            };
            masked.push(shown).ok()?;
        }
        Some(Self(masked))
    }

    /// Returns the last four positions.
    #[must_use]
    pub fn last4(&self) -> &str {
        &self.0[self.0.len() - 4..]
    }

    /// Returns the masked text, for example `476173******0119`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for MaskedPan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for MaskedPan {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text).ok_or("not a masked PAN")
    }
}

impl From<MaskedPan> for String {
    fn from(pan: MaskedPan) -> Self {
        pan.as_str().to_owned()
    }
}

/// The way in which the card was read (interface: `pos.entryMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EntryMode {
    /// The PAN was typed at the reader.
    Manual,
    /// The card was swiped and has no chip.
    Magstripe,
    /// The card was swiped because its chip failed in the same transaction.
    MagstripeAsFallback,
    /// The chip was inserted.
    Icc,
    /// The chip was tapped.
    NfcIcc,
    /// The card was tapped in magstripe mode.
    NfcMagstripe,
}

impl EntryMode {
    /// Returns the value of `pos.entryMode`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "MANUAL",
            Self::Magstripe => "MAGSTRIPE",
            Self::MagstripeAsFallback => "MAGSTRIPE_AS_FALLBACK",
            Self::Icc => "ICC",
            Self::NfcIcc => "NFC_ICC",
            Self::NfcMagstripe => "NFC_MAGSTRIPE",
        }
    }

    /// Returns whether the card was tapped.
    #[must_use]
    pub fn is_contactless(self) -> bool {
        matches!(self, Self::NfcIcc | Self::NfcMagstripe)
    }

    /// Returns whether the card must still confirm the gateway's approval (design: path of a sale, 7).
    #[must_use]
    pub fn card_confirms(self) -> bool {
        self == Self::Icc
    }
}

/// The chip's first answer (design: path of a sale, 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstAnswer {
    /// E4, E3, or no chip at all: the gateway decides.
    GoOnline,
    /// E5: the card declined offline; nothing is sent.
    Declined,
}

/// A card that was read for one transaction: the sealed data for the gateway, and the facts for the receipt.
#[derive(Debug)]
pub struct Presented {
    /// Facts without secrets.
    pub facts: CardFacts,
    /// The encrypted card data.
    pub card: SealedCard,
    /// The encrypted PIN, if an online PIN was entered.
    pub pin: Option<SealedPin>,
    /// The EMV data for the issuer, without the data that [`for_host`] removes; empty for a swipe.
    pub icc: Wiped<MAX_SEALED>,
    /// The card's own first decision.
    pub first_answer: FirstAnswer,
}

/// Whether an element of a reader's answer is left out of `pos.iccDataRequest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It is sent.
    No,
    /// It is left out.
    Here,
    /// It is left out, and so is each template that contains it.
    Always,
}

/// Selects the TLVs of a reader's answer for `pos.iccDataRequest`. It removes card data in clear text, and the elements
/// that `left_out` names: those that the reader's family sends elsewhere or uses only itself.
///
/// # Errors
/// Returns an error if `tlvs` is not BER-TLV, or if more than [`MAX_SEALED`] bytes are left.
pub fn for_host(tlvs: &[u8], left_out: &dyn Fn(Tag) -> LeftOut) -> Result<Wiped<MAX_SEALED>, TlvError> {
    let mut out = Wiped::default();
    for object in tlv::walk(tlvs) {
        let object = object?;
        if left_out(object.tag) != LeftOut::No || holds_card_data(object, left_out)? {
            continue;
        }
        out.0.extend_from_slice(object.raw).map_err(|_| TlvError::Full)?;
    }
    Ok(out)
}

/// Returns whether an object is card data that must not leave the terminal, or a template with such data at any depth.
fn holds_card_data(object: tlv::Tlv<'_>, left_out: &dyn Fn(Tag) -> LeftOut) -> Result<bool, TlvError> {
    let mut holds = object.tag.is_sensitive();
    if object.tag.is_constructed() {
        tlv::visit(object.value, &mut |inner| {
            holds |= inner.tag.is_sensitive() || left_out(inner.tag) == LeftOut::Always;
        })?;
    }
    Ok(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pan_is_masked_even_when_it_comes_clear() {
        // PANs with 16, 8 and 19 positions. The middle is always masked.
        for (given, kept) in [
            ("4761739001010119", "476173******0119"),
            ("476173FFFFFF0119", "476173******0119"),
            ("12345678", "****5678"),
            ("6799998900000060919", "679999*********0919"),
        ] {
            assert_eq!(MaskedPan::new(given).unwrap().as_str(), kept);
        }
        for wrong in ["1234567", "12345678901234567890", "4761 7390", "4761é39001"] {
            assert!(MaskedPan::new(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_last_four_places_are_known_and_words_are_as_the_interface_has_them() {
        assert_eq!(MaskedPan::new("476173******0119").unwrap().last4(), "0119");
        assert_eq!(MaskedPan::new("********").unwrap().last4(), "****");
        for (mode, confirms) in [
            (EntryMode::Manual, false),
            (EntryMode::Magstripe, false),
            (EntryMode::MagstripeAsFallback, false),
            (EntryMode::Icc, true),
            (EntryMode::NfcIcc, false),
            (EntryMode::NfcMagstripe, false),
        ] {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
            assert_eq!(mode.card_confirms(), confirms, "{mode:?}: only an inserted chip has the last word");
        }
    }

    #[test]
    fn a_move_leaves_no_copy_of_the_bytes_behind() {
        let wiped = Wiped::<16>::copy_of(b"secret-bytes").unwrap();
        let place = wiped.expose().as_ptr();
        let moved = Box::new(Some(wiped));
        assert_eq!(moved.unwrap().expose().as_ptr(), place);
    }

    #[test]
    fn debug_shows_lengths_only() {
        let sealed =
            SealedCard { data: Wiped::copy_of(b"secret-bytes").unwrap(), ksn: Wiped::copy_of(&[0xAB; 10]).unwrap() };
        assert_eq!(format!("{sealed:?}"), "SealedCard { data: [12 sealed bytes], ksn: [10 sealed bytes] }");
    }

    /// Leaves out what a family of readers would: its sealed blocks DFAE02 to DFAE05, and tags that are not listed. Its
    /// masked copies DFAE57 and DFAE5A may be wanted.
    fn sent(tlvs: &str, masked_too: bool, private: &[Tag]) -> String {
        let left_out = |tag: Tag| match tag.0 {
            0xDFAE02..=0xDFAE05 => LeftOut::Always,
            0xDFAE57 | 0xDFAE5A if masked_too => LeftOut::No,
            _ if tag.is_private() && !private.contains(&tag) => LeftOut::Here,
            _ => LeftOut::No,
        };
        let tlvs = hex::decode(tlvs.replace(' ', "")).unwrap();
        hex::encode_upper(for_host(&tlvs, &left_out).unwrap().expose())
    }

    #[test]
    fn the_host_gets_neither_sealed_blocks_nor_card_data() {
        // 9F02, 57, 5A, 5F20, 5F24, DFAE02, DFAE57, DFAE5A, 95.
        let tlvs = "9F02060000000012345703476173 5A024761 5F200141 5F2403151231 DFAE0201AA DFAE570147 DFAE5A0147 95050000000000";
        assert_eq!(sent(tlvs, false, &[]), "9F020600000000123495050000000000");
        assert_eq!(sent(tlvs, true, &[]), "9F0206000000001234DFAE570147DFAE5A014795050000000000");
    }

    #[test]
    fn what_is_the_makers_own_leaves_where_it_is_listed() {
        // 9F02, DF30, DFA204, a sealed block, 95.
        let tlvs = "9F0201 01DF30020102DFA20401FFDFAE0201AA9505 0000000000";
        assert_eq!(sent(tlvs, false, &[]), "9F02010195050000000000");
        assert_eq!(sent(tlvs, false, &[Tag(0xDF30)]), "9F020101DF3002010295050000000000");
        // A sealed block has separate fields, so listing it has no effect.
        assert_eq!(sent(tlvs, false, &[Tag(0xDFAE02)]), sent(tlvs, false, &[]));
    }

    #[test]
    fn a_template_with_card_data_inside_does_not_leave() {
        assert_eq!(sent("700A5F2001415F24031512319505000000 00009F020101", true, &[]), "950500000000009F020101");
        // A sealed block inside a template.
        assert_eq!(sent("7005DFAE0201AA 9F020101", true, &[]), "9F020101");
    }
}
