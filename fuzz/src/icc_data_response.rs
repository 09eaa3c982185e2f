//! Checks any text as `pos.iccDataResponse`. There is no panic. If the field is unreadable, no part of it goes to the
//! chip. The parts for the chip occur in the field, consist of whole objects, and fit in the command to the reader.

use pos_core::transaction::ForChip;
use pos_gateway::any_answer::for_chip;
use pos_terms::emv::{Tag, tag, tlv};

/// Checks that the conditions above hold for these bytes, unchanged and as the hex digits of the field.
pub fn holds(bytes: &[u8]) {
    if let Ok(field) = std::str::from_utf8(bytes) {
        is_sound(&for_chip(field), hex::decode(field).ok().as_deref());
        assert_eq!(for_chip(&field.to_ascii_uppercase()), for_chip(&field.to_ascii_lowercase()));
    }
    is_sound(&for_chip(&hex::encode(bytes)), Some(bytes));
    // A template around the bytes changes nothing, unless the bytes are a template themselves.
    if bytes.len() < 128 && for_chip(&hex::encode(bytes)) != ForChip::default() && !is_wrapped(bytes) {
        let length = u8::try_from(bytes.len()).expect("below 128");
        let wrapped = [&[0xE0, length], bytes].concat();
        assert_eq!(for_chip(&hex::encode(wrapped)), for_chip(&hex::encode(bytes)));
    }
}

fn is_wrapped(bytes: &[u8]) -> bool {
    // Padding may precede the template.
    matches!(tlv::walk(bytes).next(), Some(Ok(object)) if matches!(object.tag, Tag(0xE0 | 0x77)))
}

fn is_sound(chip: &ForChip, field: Option<&[u8]>) {
    let ForChip { arc, issuer_authentication, scripts, malformed } = chip;
    let Some(field) = field else {
        assert_eq!(*chip, ForChip { malformed: true, ..ForChip::default() });
        return;
    };
    let stands_there = |what: &[u8]| what.is_empty() || field.windows(what.len()).any(|window| window == what);
    if let Some(arc) = arc {
        assert!(stands_there(arc));
    }
    if let Some(data) = issuer_authentication {
        assert!((8..=16).contains(&data.len()) && stands_there(data));
    }
    assert!(!*malformed || scripts.is_empty(), "half an answer");
    for script in tlv::walk(scripts) {
        let script = script.expect("scripts are whole");
        assert!(matches!(script.tag, tag::ISSUER_SCRIPT_1 | tag::ISSUER_SCRIPT_2) && stands_there(script.raw));
        assert!(tlv::walk(script.value).all(|command| command.is_ok()));
    }
}
