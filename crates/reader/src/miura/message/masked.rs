//! The reader's masked copies of the card number, and the check for card data that is neither masked nor sealed
//! (readers: 2.3, 2.4; design: invariant 7).

use zeroize::Zeroizing;

use super::element::{each, tags};
use crate::masked_pan::{MAX_TRACK2, is_clear_pan, is_readable};
use pos_terms::card::MaskedPan;
use pos_terms::emv::{Tag, tag};

/// Returns the masked PAN of DFAE57, DFAE5A or DFAE22. Returns `None` for every other element, and for a value that is
/// not a PAN.
pub(in crate::miura) fn masked_pan(tag: Tag, value: &[u8]) -> Option<MaskedPan> {
    pan_text(tag, value).and_then(|text| MaskedPan::new(&text))
}

/// Returns whether a message contains unencrypted card data: the tracks, 56, 57, 5A, 9F6B, the PIN data 99, or an
/// unmasked "masked" element, or "sealed" data that can be read. If a message is not BER-TLV to its end, it is part of
/// a damaged message. Its bytes have no meaning, and none of them is used.
///
/// This check comes before the message is read in any other way.
pub(in crate::miura) fn has_clear_card_data(body: &[u8]) -> bool {
    let mut clear = false;
    let walked = each(body, &mut |object| {
        let card_data = matches!(
            object.tag,
            tag::TRACK1_CLEAR
                | tag::TRACK2_CLEAR
                | tag::TRACK3_CLEAR
                | tag::TRACK1_EQUIVALENT
                | tag::TRACK2_EQUIVALENT
                | tag::PAN
                | tag::TRACK2_CONTACTLESS_MSD
                | tag::TRANSACTION_PIN_DATA
        );
        clear |= card_data && !object.value.is_empty();
        clear |= object.tag == tags::SRED_DATA && is_readable(object.value);
        clear |= pan_text(object.tag, object.value).is_some_and(|pan| is_clear_pan(&pan));
        clear |= other_copy(object.tag, object.value).is_some_and(|pan| is_clear_pan(&pan));
    });
    clear && walked.is_ok()
}

/// Returns the PAN part of a masked element. In BCD these are the nibbles up to D or the padding F, and in ASCII the
/// characters between `;` and `=`. The part is wiped, because a reader may have left it unmasked.
fn pan_text(tag: Tag, value: &[u8]) -> Option<Zeroizing<String>> {
    /// The capacity exceeds the digits of any PAN, so the text is never reallocated and leaves no copy behind.
    const PLACES: usize = 40;
    let mut pan = Zeroizing::new(String::with_capacity(PLACES));
    let nibbles = value.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]);
    let digits = nibbles.filter_map(|nibble| char::from_digit(u32::from(nibble), 16)).map(|c| c.to_ascii_uppercase());
    match tag {
        tags::MASKED_TRACK2_ICC => pan.extend(digits.take_while(|c| *c != 'D').take(PLACES)),
        tags::MASKED_PAN => {
            pan.extend(digits.take(PLACES));
            // The last four digits are always clear, so an F at the end is padding rather than a mask.
            let places = pan.trim_end_matches('F').len();
            pan.truncate(places);
        }
        tags::MASKED_TRACK2 => {
            let characters = value.iter().map(|byte| char::from(byte & 0x7F)).skip_while(|c| *c == ';');
            pan.extend(characters.take_while(|c| *c != '=').take(PLACES));
        }
        _ => return None,
    }
    Some(pan)
}

/// Returns the PAN part of a masked element that no receipt uses: both kinds of track 1, and track 2 of a contactless
/// card in magstripe mode.
fn other_copy(tag: Tag, value: &[u8]) -> Option<Zeroizing<String>> {
    match tag {
        tags::MASKED_TRACK2_MSD => pan_text(tags::MASKED_TRACK2_ICC, value),
        tags::MASKED_TRACK1 | tags::MASKED_TRACK1_ICC => {
            let characters = value.iter().map(|byte| char::from(byte & 0x7F)).skip_while(|c| matches!(c, '%' | 'B'));
            let mut pan = Zeroizing::new(String::with_capacity(MAX_TRACK2));
            pan.extend(characters.take_while(|c| *c != '^').take(MAX_TRACK2));
            Some(pan)
        }
        _ => None,
    }
}
