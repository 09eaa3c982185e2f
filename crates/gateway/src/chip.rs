//! Reads `pos.iccDataResponse`: the issuer's data for the chip (design: path of a sale, 7).
//!
//! Assumed, because the interface does not show the encoding: the field is the hex form of TLVs, either bare or inside
//! one E0 or 77 template.

use pos_core::transaction::ForChip;
use pos_terms::emv::{Tag, TlvError, tag, tlv};

/// The maximum number of hex digits in the field (interface: Point of sale).
const MAX_DIGITS: usize = 2048;

/// Reads the field. If any part is malformed, the chip receives nothing, because a partial answer can do more harm than
/// a missing one.
pub(super) fn read(field: &str) -> ForChip {
    if field.len() > MAX_DIGITS {
        return malformed();
    }
    hex::decode(field).ok().and_then(|bytes| from_tlvs(&bytes)).unwrap_or_else(malformed)
}

/// Returns the result for a field that cannot be read.
pub(super) fn malformed() -> ForChip {
    ForChip { malformed: true, ..ForChip::default() }
}

fn from_tlvs(bytes: &[u8]) -> Option<ForChip> {
    let objects: Vec<_> = tlv::walk(bytes).collect::<Result<_, TlvError>>().ok()?;
    let inner = match objects.as_slice() {
        [one] if matches!(one.tag, Tag(0xE0) | Tag(0x77)) => one.value,
        _ => bytes,
    };
    let mut chip = ForChip::default();
    let mut scripts_fit = true;
    for object in tlv::walk(inner) {
        let object = object.ok()?;
        match object.tag {
            tag::AUTHORISATION_RESPONSE_CODE => {
                let value = object.value.try_into().ok()?;
                chip.arc.replace(value).is_none().then_some(())?;
            }
            tag::ISSUER_AUTHENTICATION_DATA => {
                // The value has 8 to 16 bytes (EMV Book 3, A1).
                let value = heapless::Vec::from_slice(object.value).ok().filter(|value| value.len() >= 8)?;
                chip.issuer_authentication.replace(value).is_none().then_some(())?;
            }
            tag::ISSUER_SCRIPT_1 | tag::ISSUER_SCRIPT_2 => {
                // A script consists of commands in TLVs. The chip would refuse another form halfway.
                tlv::walk(object.value).all(|command| command.is_ok()).then_some(())?;
                scripts_fit &= chip.scripts.extend_from_slice(object.raw).is_ok();
            }
            // Other tags, such as 89 (authorisation code), are not for the chip.
            _ => {}
        }
    }
    if !scripts_fit {
        // Scripts may be dropped, but tag 91 must be kept (design: path of a sale, 7).
        chip.scripts.clear();
        chip.malformed = true;
    }
    Some(chip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_and_wrapped_answers_read_the_same() {
        for field in [
            "8A023030910A1122334455667788303072079F1804AABBCCDD",
            "8a023030910a1122334455667788303072079f1804aabbccdd",
            "E0198A023030910A1122334455667788303072079F1804AABBCCDD",
            "77198A023030910A1122334455667788303072079F1804AABBCCDD",
            // Tag 89 is not for the chip.
            "89063132333435368A023030910A1122334455667788303072079F1804AABBCCDD",
        ] {
            let chip = read(field);
            assert_eq!(chip.arc, Some(*b"00"), "{field}");
            assert_eq!(hex::encode(chip.issuer_authentication.unwrap()), "11223344556677883030");
            assert_eq!(hex::encode(chip.scripts), "72079f1804aabbccdd");
            assert!(!chip.malformed);
        }
    }

    #[test]
    fn of_a_malformed_answer_nothing_is_used() {
        let long = "00".repeat(1025);
        for field in [
            "8A0230",                                         // value shorter than said
            "8A03303030",                                     // three bytes
            "8A0230308A023035",                               // twice
            "8A023030910711223344556677",                     // 7 bytes
            "8A02303091111122334455667788990011223344556677", // 17 bytes
            "8A0230307201FF",                                 // a script that is no TLV
            "8A023",                                          // half a byte
            "8A02303G",                                       // no hex
            "E0058A023030",                                   // template longer than its content
            "no hex at all",
            &long,
        ] {
            assert_eq!(read(field), malformed(), "{field}");
        }
        assert_eq!(read(""), ForChip::default());
    }

    #[test]
    fn scripts_that_do_not_fit_are_dropped_and_authentication_data_is_kept() {
        // Three scripts of 200 bytes: 71 81 C8, 86 81 C5, 197 bytes.
        let script = format!("7181C88681C5{}", "AB".repeat(197));
        let chip = read(&format!("8A02303091081122334455667788{}", script.repeat(3)));
        assert_eq!((chip.arc, chip.scripts.len(), chip.malformed), (Some(*b"00"), 0, true));
        assert!(chip.issuer_authentication.is_some());
    }
}
