//! VIPA's masked copies of the card number, and the check for card data that is neither masked nor sealed (readers:
//! 3.5; design: invariant 7).

use zeroize::Zeroizing;

use super::tags;
use crate::apdu::each;
use crate::masked_pan::{MAX_TRACK2, has_clear_digits, is_clear_pan, is_readable, nibble};
use pos_terms::card::MaskedPan;
use pos_terms::emv::{Tag, tag};

/// The byte with which VIPA masks a character of a track.
const MASKED_CHARACTER: u8 = 0xAA;

/// Returns the masked PAN of 57, 5A or DFDB06. Returns `None` for every other element, and for a value that is not a
/// PAN.
pub fn masked_pan(tag: Tag, value: &[u8]) -> Option<MaskedPan> {
    pan_text(tag, value).and_then(|text| MaskedPan::new(&text))
}

/// Returns whether a message contains unencrypted card data: the tracks, 56, 9F6B, the PIN data 99, a verification
/// value, an unmasked copy of the card number, or "sealed" data that can be read. If a message is not BER-TLV to its
/// end, it is part of a damaged message. Its bytes have no meaning, and none of them is used.
///
/// This check comes before the message is read in any other way.
pub fn has_clear_card_data(body: &[u8]) -> bool {
    let mut clear = false;
    let walked = each(body, &mut |object| {
        let card_data = matches!(
            object.tag,
            tag::TRACK1_CLEAR
                | tag::TRACK2_CLEAR
                | tag::TRACK3_CLEAR
                | tag::TRACK1_EQUIVALENT
                | tag::TRACK2_CONTACTLESS_MSD
                | tag::TRANSACTION_PIN_DATA
        );
        clear |= card_data && !object.value.is_empty();
        clear |= match object.tag {
            tags::TYPED_VERIFICATION_VALUE => object.value.iter().any(u8::is_ascii_digit),
            tags::MASKED_TRACK1 => is_clear_track(object.value) || is_verification_value(object.value),
            tags::MASKED_TRACK2 => is_clear_track(object.value),
            tags::SRED_DATA => is_readable(object.value),
            _ => false,
        };
        clear |= pan_text(object.tag, object.value).is_some_and(|pan| is_clear_pan(&pan));
    });
    clear && walked.is_ok()
}

/// Returns whether a track has as many digits in a row as a PAN, wherever they are. Expiry date and service code, which
/// stay visible, have seven.
fn is_clear_track(track: &[u8]) -> bool {
    has_clear_digits(track.iter().map(|byte| char::from(byte & 0x7F)))
}

/// Returns whether the element is no track but a verification value in clear. In older versions, the two have the same
/// tag (readers: 3.2).
fn is_verification_value(value: &[u8]) -> bool {
    matches!(value.len(), 3 | 4) && value.iter().all(u8::is_ascii_digit)
}

/// Returns the PAN part of an element, with `*` for each masked digit. The part is wiped, because a reader may have
/// left it unmasked.
fn pan_text(tag: Tag, value: &[u8]) -> Option<Zeroizing<String>> {
    /// The capacity exceeds the digits of any PAN, so the text is never reallocated and leaves no copy behind.
    const PLACES: usize = 48;
    let mut pan = Zeroizing::new(String::with_capacity(PLACES));
    let nibbles = value.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]);
    match tag {
        // D is the separator, F the padding, and A a masked digit.
        tag::TRACK2_EQUIVALENT | tag::PAN => {
            pan.extend(nibbles.take_while(|nibble| !matches!(nibble, 0x0D | 0x0F)).take(PLACES).map(nibble));
        }
        tags::MASKED_TRACK2 => pan.extend(characters(value, b';', b'=')),
        tags::MASKED_TRACK1 => pan.extend(characters(value, b'B', b'^')),
        tags::TYPED_PAN | tags::TYPED_PAN_OLDER => pan.extend(value.iter().take(MAX_TRACK2).map(|byte| shown(*byte))),
        _ => return None,
    }
    Some(pan)
}

/// Returns the characters of a track from the one after `begin` to the one before `end`.
fn characters(track: &[u8], begin: u8, end: u8) -> impl Iterator<Item = char> {
    let start = track.iter().position(|byte| *byte == begin).map_or(0, |at| at + 1);
    track[start..].iter().copied().take_while(move |byte| *byte != end).take(MAX_TRACK2).map(shown)
}

fn shown(byte: u8) -> char {
    if byte == MASKED_CHARACTER { '*' } else { char::from(byte & 0x7F) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        hex::decode(text.replace(' ', "")).unwrap()
    }

    #[test]
    fn a_masked_copy_is_a_masked_pan() {
        let pan = |tag, value: &str| masked_pan(tag, &bytes(value)).map(|pan| pan.as_str().to_owned());
        assert_eq!(
            pan(tag::TRACK2_EQUIVALENT, "374245AAAAA1006D2412201AAAAAAAAAAAAAAA"),
            Some("374245*****1006".to_owned())
        );
        assert_eq!(pan(tag::PAN, "374245AAAAA1006F"), Some("374245*****1006".to_owned()));
        let track = "3B 343130303339 AAAAAAAAAAAA 39393736 3D 32353034 323031 AAAAAAAA 3F 35";
        assert_eq!(pan(tags::MASKED_TRACK2, track), Some("410039******9976".to_owned()));
        assert_eq!(pan(tag::CURRENCY_CODE, "0840"), None);
    }

    #[test]
    fn what_is_not_masked_is_clear() {
        for (body, clear) in [
            ("57 13 374245AAAAA1006D2412201AAAAAAAAAAAAAAA", false),
            ("57 13 374245001751006D2412201171112345000000", true),
            ("5A 08 374245AAAAA1006F", false),
            ("5A 08 374245001751006F", true),
            ("5F22 05 3B31323334", true),
            ("5F22 00", false),
            ("9F6B 02 4761", true),
            ("99 01 00", true),
            ("DFDB06 16 3B 34313030333930303030303039393736 3D 32353034", true),
            ("DFDB05 16 2542 34313030333930303030303039393736 5E 415E 32", true),
            ("DFDB05 16 2542 343130303339AAAAAAAAAAAA39393736 5E 415E 32", false),
            ("DFDB01 10 3431303033392A2A2A2A2A2A39393736", false),
            ("DFDB01 10 34313030333930303030303039393736", true),
            ("DFDB02 03 313233", true),
            ("DFDB02 03 2A2A2A", false),
            ("DFDF10 10 5A08374245001751006F000000000000", true),
            ("DFDF10 10 3B343130303339303030303039393736", true),
            ("DFDF10 10 5B08374245001751006F000000000000", false),
            // Inside a template.
            ("E2 0B 5A 08 374245001751006F", false),
            ("E2 0A 5A 08 374245001751006F", true),
        ] {
            assert_eq!(has_clear_card_data(&bytes(body)), clear, "{body}");
        }
    }
}
