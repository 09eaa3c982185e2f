//! Card numbers that a reader must have masked or sealed, in every family.

use zeroize::Zeroizing;

use pos_terms::card::MaskedPan;
use pos_terms::emv::{tag, tlv};

/// Maximum length of a masked track that is read. Track 2 has at most 40 characters (ISO/IEC 7813), including sentinels
/// and LRC.
pub(crate) const MAX_TRACK2: usize = 48;

/// Returns whether a PAN is clear. In a PAN of 13 or more digits, the digits between the sixth and the last four are
/// masked.
pub(crate) fn is_clear_pan(pan: &str) -> bool {
    pan.len() >= CLEAR_DIGITS && pan.bytes().all(|byte| byte.is_ascii_digit())
}

/// So many digits in a row are a card number or more. A masked copy shows at most the first six and the last four, or
/// an expiry date with a service code.
pub(crate) const CLEAR_DIGITS: usize = 13;

/// Returns whether a text has so many digits in a row as a card number.
pub(crate) fn has_clear_digits(mut characters: impl Iterator<Item = char>) -> bool {
    let mut digits = 0;
    characters.any(|c| {
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
        digits >= CLEAR_DIGITS
    })
}

/// Returns the digits of a value in BCD, with `*` for each other nibble.
pub(crate) fn digits(value: &[u8]) -> impl Iterator<Item = char> {
    value.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]).map(nibble)
}

/// Returns a digit, or the sign of a masked one.
pub(crate) fn nibble(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 10).unwrap_or('*')
}

/// Returns whether sealed data can be read: as a track in ASCII, or as a list that begins with a card number or a track
/// 2 (readers: 8.4). By chance, less than one ciphertext in ten million looks so.
pub(crate) fn is_readable(sealed: &[u8]) -> bool {
    let begins_clear = || {
        let object = tlv::walk(sealed).next()?.ok()?;
        let is_card_data = matches!(object.tag, tag::PAN | tag::TRACK2_EQUIVALENT);
        let pan = object.value.get(..CLEAR_DIGITS.div_ceil(2))?;
        (is_card_data && has_clear_digits(digits(pan))).then_some(())
    };
    has_clear_digits(sealed.iter().copied().map(char::from)) || begins_clear().is_some()
}

/// Returns the masked PAN of a typed card.
pub(crate) fn masked_typed_pan(value: &[u8]) -> Option<MaskedPan> {
    MaskedPan::new(&typed_pan(value))
}

/// Returns whether the PAN of a typed card came back unmasked.
pub(crate) fn is_clear_typed_pan(value: &[u8]) -> bool {
    is_clear_pan(&typed_pan(value))
}

/// Returns the text of a typed card's PAN. It is wiped, because a reader may have left it unmasked.
fn typed_pan(value: &[u8]) -> Zeroizing<String> {
    let mut pan = Zeroizing::new(String::with_capacity(MAX_TRACK2));
    pan.extend(value.iter().take(MAX_TRACK2).map(|byte| char::from(byte & 0x7F)));
    pan
}
