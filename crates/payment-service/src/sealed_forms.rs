//! The forms in which the families of readers encrypt card data (readers: 8.1). A request does not name its form, so
//! each form is tried, and exactly one must fit completely with data of a card.
//!
//! | form | what is sent | plaintext |
//! |---|---|---|
//! | Miura | ciphertext with IV 0 | TLVs, then zeros to the end of the block |
//! | VIPA | the IV, then the ciphertext | TLVs, then 80 and zeros to the end of the block |
//! | NEO2 | TLVs, whose values are ciphertexts, each with IV 0 | in each, the whole TLV or a track, then zeros |
//!
//! How a gateway receives the IV of VIPA and the elements of NEO2 is not published, so the second column is UNCERTAIN
//! for them (readers: 3.5, 4.4).

use super::invalid::Invalid;
use pos_terms::emv::{Tag, tlv};

/// The parameter with the encrypted card data.
pub(super) const SRED_DATA: &str = "pos.encryptedSred.data";

pub(super) const TYPED_PAN: u32 = 0xDFA211;
pub(super) const TYPED_EXPIRY: u32 = 0xDFA214;
pub(super) const TYPED_CODE: u32 = 0xDFA216;

/// The tags that readers encrypt:
/// - for chip and tap: 5A, 57, 56, 9F6B, DFDF41 and DFDF42 (readers: 2.5, P2PEDOL.CFG);
/// - for a swipe: the tracks;
/// - for a typed card: the requested elements (readers: 2.9).
pub(super) const SEALED_TAGS: &[u32] =
    &[0x5A, 0x57, 0x56, 0x9F6B, 0xDFDF41, 0xDFDF42, 0x5F21, 0x5F22, 0x5F23, TYPED_PAN, TYPED_EXPIRY, TYPED_CODE];

const TRACK_1: u32 = 0x5F21;
const TRACK_2: u32 = 0x5F22;
/// NEO2's block of a swipe.
const MSR_BLOCK: u32 = 0xDFEE23;

/// The tags that VIPA encrypts, each with the tag of the same content in Miura's form.
const VIPA_TAGS: &[(u32, u32)] = &[
    (0x57, 0x57),
    (0x5A, 0x5A),
    (0xDFDB05, TRACK_1),
    (0xDFDB06, TRACK_2),
    (0xDFDB01, TYPED_PAN),
    (0xDFDB03, TYPED_EXPIRY),
    (0xDFDB02, TYPED_CODE),
];

/// The tags of single elements that NEO2 encrypts.
const NEO2_TAGS: &[u32] = &[0x57, 0x5A, 0x56, 0x9F6B];

/// One decrypted element, with the tag that Miura gives it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClearObject {
    pub(super) tag: Tag,
    pub(super) value: Vec<u8>,
}

/// Decrypts `sealed`, in each form that fits: at least one. By chance, an IV before other data can look like a TLV with
/// a known tag. So the caller's check of the card data decides. `decrypt` decrypts whole blocks with IV 0, and returns
/// `None` for other lengths.
pub(super) fn open(
    sealed: &[u8],
    block: usize,
    decrypt: &dyn Fn(&[u8]) -> Option<Vec<u8>>,
) -> Result<Vec<Vec<ClearObject>>, Invalid> {
    let clear = decrypt(sealed);
    let plain = clear.as_ref().and_then(|clear| zero_padded(clear, block));
    // A form fits only with known tags.
    let is_known = |objects: &Vec<ClearObject>| objects.iter().all(|object| SEALED_TAGS.contains(&object.tag.0));
    let (miura, unknown) = match plain {
        Some(objects) if is_known(&objects) => (Some(objects), None),
        other => (None, other),
    };
    let forms = [miura, clear.as_ref().and_then(|clear| after_iv(clear, block)), by_element(sealed, block, decrypt)];
    let fitting: Vec<_> = forms.into_iter().flatten().collect();
    match clear {
        _ if !fitting.is_empty() => Ok(fitting),
        // The next check names the unknown tag.
        Some(_) => unknown.map(|objects| vec![objects]).ok_or_else(garbled),
        None => Err(Invalid::new(SRED_DATA, format!("not a whole number of blocks of {block} bytes"))),
    }
}

/// The error for data that fit no form.
pub(super) fn garbled() -> Invalid {
    Invalid::new(SRED_DATA, "does not decrypt to TLVs: wrong key, wrong KSN or damaged")
}

/// Miura: TLVs without gaps, then fewer zeros than a block.
pub(super) fn zero_padded(clear: &[u8], block: usize) -> Option<Vec<ClearObject>> {
    let mut objects = Vec::new();
    let mut read = 0;
    for object in tlv::walk(clear) {
        let object = object.ok()?;
        // No padding is allowed between the objects.
        if clear.get(read..read + object.raw.len()) != Some(object.raw) {
            return None;
        }
        read += object.raw.len();
        objects.push(ClearObject { tag: object.tag, value: object.value.to_vec() });
    }
    (!objects.is_empty() && clear.len() - read < block).then_some(objects)
}

/// VIPA: the first block is the IV. With CBC, it disturbs only its own block, so the rest is decrypted correctly.
fn after_iv(clear: &[u8], block: usize) -> Option<Vec<ClearObject>> {
    let padded = clear.get(block..)?;
    let end = padded.iter().rposition(|byte| *byte != 0)?;
    let (plain, padding) = padded.split_at(end);
    if padding.first() != Some(&0x80) || padding.len() > block {
        return None;
    }
    // Without padding of its own, the plaintext consists of TLVs only.
    let objects = zero_padded(plain, 1)?;
    let renamed = objects.into_iter().map(|object| {
        let (_, tag) = VIPA_TAGS.iter().find(|(tag, _)| Tag(*tag) == object.tag)?;
        Some(ClearObject { tag: Tag(*tag), ..object })
    });
    renamed.collect()
}

/// NEO2: each element is decrypted by itself.
fn by_element(sealed: &[u8], block: usize, decrypt: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Option<Vec<ClearObject>> {
    let elements = zero_padded(sealed, 1)?;
    let mut objects = Vec::new();
    for element in elements {
        if element.value.is_empty() {
            return None;
        }
        match element.tag.0 {
            MSR_BLOCK => {
                objects.extend(tracks(&element.value, block, decrypt)?);
                continue;
            }
            TRACK_1 | TRACK_2 => {
                objects.push(track(&element.value, block, decrypt).filter(|track| track.tag == element.tag)?);
                continue;
            }
            _ => {}
        }
        let clear = zero_padded(&decrypt(&element.value)?, block)?;
        match <[ClearObject; 1]>::try_from(clear) {
            Ok([object]) if object.tag == element.tag && NEO2_TAGS.contains(&object.tag.0) => objects.push(object),
            _ => return None,
        }
    }
    Some(objects)
}

/// Decrypts a track, which has zeros to the end of its block. A published block of a swipe has room for the track
/// alone, without its tag and length (readers: 4.4).
fn track(sealed: &[u8], block: usize, decrypt: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Option<ClearObject> {
    let clear = decrypt(sealed)?;
    let end = clear.iter().rposition(|byte| *byte != 0)? + 1;
    let tag = match clear.first()? {
        b'%' => TRACK_1,
        b';' => TRACK_2,
        _ => return None,
    };
    let is_text = clear[..end].iter().all(|c| c.is_ascii_graphic() || *c == b' ') && clear.len() - end < block;
    is_text.then(|| ClearObject { tag: Tag(tag), value: clear[..end].to_vec() })
}

/// Decrypts the tracks of a swipe: one track, or two, each with IV 0. Their block may be complete.
fn tracks(sealed: &[u8], block: usize, decrypt: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Option<Vec<ClearObject>> {
    let sealed = encrypted_part(sealed).unwrap_or(sealed);
    if let Some(only) = track(sealed, block, decrypt) {
        return Some(vec![only]);
    }
    let splits = (block..sealed.len()).step_by(block);
    let mut pairs = splits.filter_map(|at| {
        let (one, two) = sealed.split_at(at);
        Some(vec![track(one, block, decrypt)?, track(two, block, decrypt)?])
    });
    match (pairs.next(), pairs.next()) {
        (Some(pair), None) => Some(pair),
        _ => None,
    }
}

/// Returns the encrypted tracks of a whole block of a swipe: 02, LEN, kind, status, three lengths, two status bytes,
/// the masked tracks, the encrypted tracks, and more (readers: 4.4).
fn encrypted_part(block: &[u8]) -> Option<&[u8]> {
    let [0x02, low, high, inside @ .., _xor, _sum, 0x03] = block else { return None };
    let [_kind, _status, one, two, three, _masked, _encrypted, rest @ ..] = inside else { return None };
    if inside.len() != usize::from(u16::from_le_bytes([*low, *high])) {
        return None;
    }
    let lengths = [one, two, three].map(|length| usize::from(*length));
    let masked: usize = lengths.iter().sum();
    let encrypted: usize = lengths.iter().map(|length| length.next_multiple_of(8)).sum();
    rest.get(masked..masked + encrypted)
}
