//! The reader's masked copies of the card number, and the check for card data that is neither masked nor encrypted
//! (readers: 4.4; design: invariant 7).

use zeroize::Zeroizing;

use super::attribution;
use super::block::StripeBlock;
use super::inline::{self, ElementForm, InlineElement};
use super::tags;
use crate::masked_pan::{CLEAR_DIGITS, digits, has_clear_digits, nibble};
use pos_terms::card::MaskedPan;
use pos_terms::emv::{Tag, tag, tlv};

/// The characters of a track that are read. Track 1 has at most 79, including sentinels and LRC (ISO/IEC 7813).
const MAX_TRACK: usize = 80;

/// Returns the masked PAN of an element with marker A1, or of a swipe's block. Returns `None` for every other element,
/// and for a value that is not a PAN.
#[must_use]
pub fn masked_pan(element: &InlineElement<'_>) -> Option<MaskedPan> {
    match (element.form, element.tag) {
        (ElementForm::Masked, tag::TRACK2_EQUIVALENT | tag::PAN | tag::TRACK2_CONTACTLESS_MSD) => {
            MaskedPan::new(&binary_pan(element.tag, element.value))
        }
        (ElementForm::Masked, tag) if is_text_track(tag) => MaskedPan::new(&text_pan(element.value)),
        (ElementForm::Plain, tags::STRIPE_BLOCK) => masked_block_pan(&StripeBlock::parse(element.value).ok()?),
        _ => None,
    }
}

/// Returns the masked PAN of a swiped or typed card: that of track 2, or else of track 1.
#[must_use]
pub fn masked_block_pan(block: &StripeBlock<'_>) -> Option<MaskedPan> {
    [block.masked[1], block.masked[0]].into_iter().find_map(|track| MaskedPan::new(&text_pan(track)))
}

/// Returns whether the data of a response contain unencrypted card data: tracks, 56, 57, 5A, 58, 9F6B, or the PIN data
/// 99 without a PIN's KSN. An unmasked "masked" element and an "encrypted" one that can be read count too. A damaged
/// answer is not judged, because its bytes have no meaning, and none of them is used.
///
/// This check comes before the data are read in any other way.
#[must_use]
pub fn has_clear_card_data(data: &[u8]) -> bool {
    if StripeBlock::is_framed(data) {
        return is_clear_block(data);
    }
    let (_, elements) = attribution::split(data);
    let (mut clear, mut pin_data, mut pin_ksn) = (false, false, false);
    let walked = inline::each(elements, &mut |element| {
        let is_there = !element.value.is_empty();
        match element.form {
            ElementForm::Encrypted => clear |= is_unencrypted(&element),
            ElementForm::Masked => clear |= is_unmasked(&element),
            ElementForm::Plain => match element.tag {
                tag::TRANSACTION_PIN_DATA => pin_data |= is_there,
                tags::PIN_KSN => pin_ksn |= is_there,
                tags::STRIPE_BLOCK => clear |= is_clear_block(element.value),
                tags::TRACKS => clear |= has_clear_digits(element.value.iter().copied().map(char::from)),
                tag => clear |= is_there && is_card_data(tag),
            },
        }
    });
    // The sealed PIN block of an online PIN is in 99 too. Its KSN tells it from a clear PIN.
    (clear || (pin_data && !pin_ksn)) && walked.is_ok()
}

/// Returns whether a tag's value is a card number or a track.
fn is_card_data(tag: Tag) -> bool {
    is_text_track(tag)
        || matches!(tag, tag::TRACK2_EQUIVALENT | tag::PAN | tag::TRACK2_CONTACTLESS_MSD | tags::TRACK3_EQUIVALENT)
}

/// Returns whether a tag's value is a track in ASCII.
pub(in crate::neo2) fn is_text_track(tag: Tag) -> bool {
    matches!(
        tag,
        tag::TRACK1_EQUIVALENT
            | tag::TRACK1_CLEAR
            | tag::TRACK2_CLEAR
            | tag::TRACK3_CLEAR
            | tags::MSD_TRACK1
            | tags::MSD_TRACK2
            | tags::MSD_TRACK1_OLD
            | tags::MSD_TRACK2_OLD
    )
}

/// Returns whether a swipe's block has an unmasked or unencrypted track. If the bytes are no whole block, they are
/// damaged or in another format. Then only a readable card number is clear data.
fn is_clear_block(bytes: &[u8]) -> bool {
    let is_clear = |track: &[u8]| has_clear_digits(track.iter().map(|byte| char::from(byte & 0x7F)));
    match StripeBlock::parse(bytes) {
        Ok(block) => block.masked.into_iter().chain(block.encrypted).any(is_clear),
        Err(_) if StripeBlock::is_framed(bytes) => false,
        Err(_) => is_clear(bytes),
    }
}

/// Returns whether a "masked" element has a whole card number, in ASCII or in BCD.
fn is_unmasked(element: &InlineElement<'_>) -> bool {
    let value = element.value;
    let is_binary = !is_text_track(element.tag);
    has_clear_digits(value.iter().map(|byte| char::from(byte & 0x7F))) || (is_binary && has_clear_digits(digits(value)))
}

/// Returns whether an "encrypted" element can be read: as a track in ASCII, or as the plaintext that belongs there. The
/// plaintext is the whole element with its tag and length, filled with zeros (readers: 4.4). By chance, less than one
/// ciphertext in ten million looks so.
fn is_unencrypted(element: &InlineElement<'_>) -> bool {
    let is_plaintext = || {
        let object = tlv::walk(element.value).next()?.ok().filter(|object| object.tag == element.tag)?;
        let padding = element.value.strip_prefix(object.raw)?;
        let pan = object.value.get(..CLEAR_DIGITS.div_ceil(2))?;
        (padding.iter().all(|byte| *byte == 0) && has_clear_digits(digits(pan))).then_some(())
    };
    has_clear_digits(element.value.iter().copied().map(char::from)) || is_plaintext().is_some()
}

/// Returns the PAN of a masked 57, 9F6B or 5A. It is wiped, because a reader may have left it unmasked.
///
/// UNCERTAIN: the nibble that replaces a digit. Any nibble above 9 counts, except D, which ends the PAN of 57 and 9F6B.
fn binary_pan(tag: Tag, value: &[u8]) -> Zeroizing<String> {
    let nibbles = value.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]);
    // The capacity exceeds the digits of any PAN, so the text is never reallocated and leaves no copy behind.
    let mut pan = Zeroizing::new(String::with_capacity(MAX_TRACK));
    if tag == tag::PAN {
        // The last four digits are always clear, so an F at the end is padding rather than a mask.
        let padding = nibbles.clone().rev().take_while(|nibble| *nibble == 0x0F).count();
        pan.extend(nibbles.take((value.len() * 2 - padding).min(MAX_TRACK)).map(nibble));
    } else {
        pan.extend(nibbles.take_while(|nibble| *nibble != 0x0D).take(MAX_TRACK).map(nibble));
    }
    pan
}

/// Returns the PAN of a masked track in ASCII: after `;`, or after `%` and the format code, up to `=` or `^`.
fn text_pan(track: &[u8]) -> Zeroizing<String> {
    let start = match track.first().map(|byte| byte & 0x7F) {
        Some(b';') => 1,
        Some(b'%') => 2,
        _ => 0,
    };
    let characters = track.iter().skip(start).map(|byte| char::from(byte & 0x7F));
    let mut pan = Zeroizing::new(String::with_capacity(MAX_TRACK));
    pan.extend(characters.take_while(|c| !matches!(c, '=' | '^')).take(MAX_TRACK));
    pan
}

#[cfg(test)]
mod tests {
    use super::super::block::tests::{block_of, fields};
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        hex::decode(text.replace(' ', "")).unwrap()
    }

    fn pan_of(element: &str) -> Option<String> {
        let bytes = hex(element);
        let mut pan = None;
        inline::each(&bytes, &mut |element| pan = masked_pan(&element)).unwrap();
        pan.map(|pan| pan.as_str().to_owned())
    }

    #[test]
    fn a_masked_copy_gives_first_six_and_last_four() {
        let shown = Some("4761********0119".to_owned());
        for element in [
            "57A1124761CCCCCCCC0119D2512CCCCCCCCCCCCCCC",
            "57A1124761FFFFFFFF0119D2512FFFFFFFFFFFFFFF",
            "5AA1084761CCCCCCCC0119",
            "9F6BA1124761CCCCCCCC0119D2512CCCCCCCCCCCCCCC",
        ] {
            assert_eq!(pan_of(element), shown, "{element}");
        }
        assert_eq!(pan_of("5AA10A476173CCCCCCCCC0119F"), Some("476173*********0119".to_owned()));
        let text = format!("DFEF18A112{}", hex::encode(";4761********0119="));
        assert_eq!(pan_of(&text), shown);
        let text = format!("56A113{}", hex::encode("%B4761********0119^"));
        assert_eq!(pan_of(&text), shown);
        // The digits in the middle are masked here if the reader has not done so.
        assert_eq!(pan_of("5AA1084761739001010119"), Some("476173******0119".to_owned()));
        for element in ["5A084761CCCCCCCC0119", "5AC1084761CCCCCCCC0119", "5AA1024761", "9F26A1084761CCCCCCCC0119"] {
            assert_eq!(pan_of(element), None, "{element}");
        }
        let block = block_of(&fields(false, b";4761********0119=2512***********?*"));
        assert_eq!(pan_of(&format!("DFEE2382{:04X}{}", block.len(), hex::encode(&block))), shown);
    }

    #[test]
    fn clear_card_data_are_found_wherever_they_are() {
        for (data, is_clear) in [
            ("57114761739001010119D25122011758989389", true),
            ("5A084761739001010119", true),
            ("5A00", false),
            ("560142", true),
            ("580142", true),
            ("9F6B0147", true),
            ("5F210142", true),
            ("5F220142", true),
            ("5F230142", true),
            ("DFEF170142", true),
            ("DFEF180142", true),
            ("FFEE140142", true),
            // Inside templates, and after an attribution byte.
            ("FF81050A5A084761739001010119", true),
            ("E10AFFEE01065A0447617390", true),
            ("C0DFEE250200105A084761739001010119", true),
            // Masked, and masked only in name.
            ("5AA1084761CCCCCCCC0119", false),
            ("5AA1084761739001010119", true),
            ("57A1124761CCCCCCCC0119D2512CCCCCCCCCCCCCCC", false),
            ("57A1124761739001010119D2512CCCCCCCCCCCCCCC", true),
            ("57A1124761CCCCCCCC0119D251220117589893890F", true),
            ("DFEF18A11034373631373339303031303130313139", true),
            // Encrypted, and encrypted only in name.
            ("5AC1084761739001010119", false),
            ("5AC1105A084761739001010119000000000000", true),
            ("57C11857114761739001010119D251220117589893890000000000", true),
            ("57C11858114761739001010119D251220117589893890000000000", false),
            ("5F22C1103B343736313733393030313031303131", true),
            // A PIN block with its KSN is sealed, and without it is not.
            ("99081122334455667788", true),
            ("99081122334455667788DFEE510AFFFF0102628D12000001", false),
            ("99081122334455667788DFEE5100", true),
            ("9900", false),
            // Tracks in DFEF4D are clear if a card number can be read.
            ("DFEF4D1034373631373339303031303130313139", true),
            ("DFEF4D10343736312A2A2A2A2A2A2A2A30313139", false),
            ("9F0206000000001000", false),
            ("", false),
            // A damaged answer is not judged.
            ("5A0847617390010101199F02", false),
        ] {
            assert_eq!(has_clear_card_data(&hex(data)), is_clear, "{data}");
        }
    }

    #[test]
    fn a_block_with_a_clear_track_is_clear() {
        for (track2, is_clear) in [
            (&b";4761********0119=2512***********?*"[..], false),
            (&b";4761739001010119=25122011758989389?"[..], true),
            (&b";4761********0119=25122011758989389?"[..], true),
        ] {
            let block = block_of(&fields(false, track2));
            let length = u16::try_from(block.len()).unwrap().to_be_bytes();
            let in_element = [&hex("E8DFEE25020011DFEE2382"), &length[..], &block].concat();
            assert_eq!(has_clear_card_data(&block), is_clear);
            assert_eq!(has_clear_card_data(&in_element), is_clear);
            let mut damaged = block.clone();
            damaged[60] ^= 1;
            assert!(!has_clear_card_data(&damaged), "a damaged block is not judged");
        }
        // Bytes without a block's frame, in which a card number can be read.
        assert!(has_clear_card_data(&hex("DFEE231034373631373339303031303130313139")));
    }
}
