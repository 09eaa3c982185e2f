//! The decrypted card data: TLVs of a chip, tracks of a magnetic stripe, or typed data. All other data are refused.

use super::invalid::Invalid;
use super::sealed_forms::{ClearObject, SEALED_TAGS, SRED_DATA, TYPED_CODE, TYPED_EXPIRY, TYPED_PAN};
use pos_terms::emv::track2::{ServiceCode, Track2};
use pos_terms::emv::{Tag, luhn, tag};

/// The card data in clear, from test cards only.
pub(super) struct ClearCard {
    pub pan: String,
    /// The expiry as YYMM.
    pub expiry: Option<String>,
    pub service_code: Option<ServiceCode>,
    /// The security code, if it was typed.
    pub code: Option<String>,
}

/// Reads the card from its decrypted elements, which have Miura's tags.
pub(super) fn read_card(objects: &[ClearObject], entry_mode: &str) -> Result<ClearCard, Invalid> {
    if let Some(other) = objects.iter().find(|object| !SEALED_TAGS.contains(&object.tag.0)) {
        return Err(Invalid::new(SRED_DATA, format!("holds tag {}, which no reader encrypts", other.tag)));
    }
    let find = |tag| objects.iter().find(|object| object.tag == tag).map(|object| &object.value[..]);
    let missing = |what: &str| Err(Invalid::new(SRED_DATA, format!("holds no {what}, which {entry_mode} needs")));
    let stripe = match (find(tag::TRACK1_CLEAR), find(tag::TRACK2_CLEAR)) {
        (_, None) => None,
        (track1, Some(track2)) => Some(from_stripe(track1, track2)?),
    };
    let chip = from_chip(find(tag::TRACK2_EQUIVALENT), find(tag::PAN))?;
    let typed = from_keys(find(Tag(TYPED_PAN)), find(Tag(TYPED_EXPIRY)), find(Tag(TYPED_CODE)))?;
    match entry_mode {
        "ICC" | "NFC_ICC" => chip.map_or_else(|| missing("57 or 5A"), Ok),
        "MAGSTRIPE" | "MAGSTRIPE_AS_FALLBACK" => stripe.map_or_else(|| missing("5F22"), Ok),
        "NFC_MAGSTRIPE" => chip
            .or(stripe)
            .or(from_chip(find(tag::TRACK2_CONTACTLESS_MSD), None)?)
            .map_or_else(|| missing("57, 5F22 or 9F6B"), Ok),
        _ => typed.or(chip).map_or_else(|| missing("DFA211 or 5A"), Ok),
    }
}

/// Returns the card from tags 57 and 5A. Either may be missing; if both are present, they must agree.
fn from_chip(track2: Option<&[u8]>, pan: Option<&[u8]>) -> Result<Option<ClearCard>, Invalid> {
    let pan = pan.map(pan_of_5a).transpose()?;
    let card = match track2 {
        Some(track2) => {
            let track2 = Track2::from_tag57(track2).map_err(|why| Invalid::new(SRED_DATA, format!("57: {why}")))?;
            Some(ClearCard::from_track2(&track2))
        }
        None => pan.clone().map(|pan| ClearCard { pan, expiry: None, service_code: None, code: None }),
    };
    match (&card, pan) {
        (Some(card), Some(pan)) if card.pan != pan => {
            Err(Invalid::new(SRED_DATA, "57 and 5A belong to different cards"))
        }
        _ => Ok(card),
    }
}

/// Returns a typed card from number, expiry and security code as ASCII digits. The number alone is enough.
fn from_keys(pan: Option<&[u8]>, expiry: Option<&[u8]>, code: Option<&[u8]>) -> Result<Option<ClearCard>, Invalid> {
    let wrong = |what: &str| Invalid::new(SRED_DATA, what);
    let digits = |value: &[u8], what: &str| match std::str::from_utf8(value) {
        Ok(text) if !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit()) => Ok(text.to_owned()),
        _ => Err(wrong(what)),
    };
    let Some(pan) = pan else {
        return if expiry.or(code).is_some() { Err(wrong("DFA214 or DFA216 without DFA211")) } else { Ok(None) };
    };
    let pan = digits(pan, "DFA211 is not digits")?;
    if !(8..=19).contains(&pan.len()) || !luhn::is_valid(&pan) {
        return Err(wrong("DFA211 is not a PAN with a valid check digit"));
    }
    let expiry = expiry.map(|value| digits(value, "DFA214 is not digits")).transpose()?;
    if expiry.as_ref().is_some_and(|yymm| yymm.len() != 4 || !("01"..="12").contains(&&yymm[2..])) {
        return Err(wrong("DFA214 is not a month as YYMM"));
    }
    let code = code.map(|value| digits(value, "DFA216 is not digits")).transpose()?;
    if code.as_ref().is_some_and(|code| !(3..=4).contains(&code.len())) {
        return Err(wrong("DFA216 does not have 3 or 4 digits"));
    }
    Ok(Some(ClearCard { pan, expiry, service_code: None, code }))
}

/// Returns the digits of tag 5A, which is padded with F (EMV Book 3, Annex A). Also verifies the check digit.
fn pan_of_5a(value: &[u8]) -> Result<String, Invalid> {
    let hex = hex::encode_upper(value);
    let digits = hex.strip_suffix('F').unwrap_or(&hex);
    if (8..=19).contains(&digits.len()) && luhn::is_valid(digits) {
        Ok(digits.to_owned())
    } else {
        Err(Invalid::new(SRED_DATA, "5A is not a PAN with a valid check digit"))
    }
}

/// Returns the card of a swipe. Each track must have both sentinels, and track 2 also its LRC character (readers: 8.1).
fn from_stripe(track1: Option<&[u8]>, track2: &[u8]) -> Result<ClearCard, Invalid> {
    let wrong = |what: &str| Invalid::new(SRED_DATA, what);
    let text = std::str::from_utf8(track2).map_err(|_| wrong("5F22: not text"))?;
    if !is_framed(track2, b';', 0x30, 0x0F) {
        return Err(wrong("5F22: sentinels or LRC missing or wrong"));
    }
    let track2 = Track2::from_magstripe(text).map_err(|why| Invalid::new(SRED_DATA, format!("5F22: {why}")))?;
    if let Some(track1) = track1 {
        // The captured track 1 (readers: 8.4, M1) has 70 bytes and ends with its sentinel, so the LRC may be missing
        // here.
        if !(track1.ends_with(b"?") || is_framed(track1, b'%', 0x20, 0x3F)) {
            return Err(wrong("5F21: sentinels missing or LRC wrong"));
        }
        let names_card = std::str::from_utf8(track1)
            .is_ok_and(|text| text.strip_prefix("%B").and_then(|rest| rest.split('^').next()) == Some(track2.pan()));
        if !names_card {
            return Err(wrong("5F21 and 5F22 belong to different cards"));
        }
    }
    Ok(ClearCard::from_track2(&track2))
}

/// Returns whether a track starts with its sentinel and ends with `?` and the LRC. The LRC is the XOR of all characters
/// before it in the track's code, which is ASCII minus `base` (ISO/IEC 7811).
fn is_framed(track: &[u8], start: u8, base: u8, mask: u8) -> bool {
    let [rest @ .., lrc] = track else { return false };
    let sum = rest.iter().fold(0, |sum, c| sum ^ (c.wrapping_sub(base) & mask));
    rest.first() == Some(&start) && rest.last() == Some(&b'?') && base.wrapping_add(sum) == *lrc
}

impl ClearCard {
    fn from_track2(track2: &Track2) -> Self {
        Self {
            pan: track2.pan().to_owned(),
            expiry: Some(track2.expiry_yymm().to_owned()),
            service_code: Some(track2.service_code()),
            code: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sealed_forms;
    use super::*;

    /// Reads decrypted data in Miura's form (readers: 8.1).
    fn read_card(clear: &[u8], entry_mode: &str, block: usize) -> Result<ClearCard, Invalid> {
        let objects = sealed_forms::zero_padded(clear, block).ok_or_else(sealed_forms::garbled)?;
        super::read_card(&objects, entry_mode)
    }

    #[test]
    fn the_clear_data_must_be_exactly_what_a_reader_seals() {
        let says = |clear: &str| match read_card(&hex::decode(clear).unwrap(), "ICC", 8) {
            Ok(card) => card.pan,
            Err(invalid) => invalid.why,
        };
        let pan = "4761739001010119";
        // Made for the simulator (readers: 8.4): tag 5A, then tag 57, then zeros.
        assert_eq!(says("5A08476173900101011957114761739001010119D15122011758989389000000"), pan);
        assert!(says("5A08476173900101012757114761739001010119D15122011758989389").contains("different cards"));
        assert!(says("5A084761739001010118").contains("check digit"));
        assert!(says("5A0847617390010101195F2403311231").contains("tag 5F24"));
        assert!(says("5A0847617390010101190F00").contains("tag F,"), "{}", says("5A0847617390010101190F00"));
        for garbled in [
            "",
            "0000000000000000",
            "5A0847617390010101190000000000000000",
            "5A084761739001010119005600",
            "5A0947617390010101",
        ] {
            assert!(says(garbled).starts_with("does not decrypt"), "{garbled}");
        }
    }

    #[test]
    fn a_typed_card_is_its_three_elements() {
        let read = |clear: &str| read_card(&hex::decode(clear).unwrap(), "MANUAL", 8);
        // 4761739001010119, 2612 and 123 in ASCII, then zeros.
        let typed = "DFA2111034373631373339303031303130313139DFA2140432363132DFA21603313233";
        let card = read(&format!("{typed}0000000000")).map_err(|why| why.to_string()).unwrap();
        let ClearCard { pan, expiry, service_code, code } = card;
        assert_eq!((pan.as_str(), expiry.as_deref(), code.as_deref()), ("4761739001010119", Some("2612"), Some("123")));
        assert!(service_code.is_none());
        for (clear, why) in [
            (typed.replace("DFA2140432363132", "DFA2140432363133"), "DFA214 is not a month"),
            (typed.replace("DFA21603313233", "DFA216023132"), "DFA216 does not have 3 or 4"),
            (typed.replace("3139DFA214", "3138DFA214"), "valid check digit"),
            (typed.replace("3139DFA214", "3141DFA214"), "DFA211 is not digits"),
            ("DFA2140432363132".to_owned(), "without DFA211"),
            ("5F2207".to_owned() + &hex::encode(";1=1?<0"), "5F22"),
        ] {
            let said = read(&clear).err().map(|why| why.to_string()).unwrap_or_default();
            assert!(said.contains(why), "{clear}: {said}");
        }
        // Typed data are refused when chip data are expected.
        assert!(read_card(&hex::decode(typed).unwrap(), "ICC", 8).is_err());
    }
}
