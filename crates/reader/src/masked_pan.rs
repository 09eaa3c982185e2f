//! Card numbers that a reader sends in ASCII and must have masked, in every family.

use zeroize::Zeroizing;

use pos_terms::card::MaskedPan;

/// Maximum length of a masked track that is read. Track 2 has at most 40 characters (ISO/IEC 7813), including sentinels
/// and LRC.
pub(crate) const MAX_TRACK2: usize = 48;

/// Returns whether a PAN is clear. In a PAN of 13 or more digits, the digits between the sixth and the last four are
/// masked.
pub(crate) fn is_clear_pan(pan: &str) -> bool {
    pan.len() >= 13 && pan.bytes().all(|byte| byte.is_ascii_digit())
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
