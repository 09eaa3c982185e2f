//! The block of a swipe (DFEE23) in the enhanced format of ID TECH (readers: 4.4).
//!
//! ```text
//! 02 · LEN low, high · kind · track status · lengths of tracks 1, 2, 3 · clear/mask status · encrypted status
//! · masked tracks · encrypted tracks · hashes · serial number · KSN · XOR · sum · 03
//! ```
//!
//! The published example has LEN 0132 with tracks of 79 and 40 bytes. That fits only if the hashes have 20 bytes, the
//! serial number 10, and the encrypted tracks are the padded tracks without tag and length.

use super::responses::{OK, finish_with_card};
use super::sealed::{OF_SWIPE, SealedElements, attributed};
use super::{activate, elements, failures, session};
use crate::reader::deck::Card;
use crate::reader::device::Device;
use crate::reader::family::Failure;
use crate::reader::keys::{Keys, NoKey};
use crate::reader::objects;

/// The bytes of the published example: kind, track status, clear/mask status and encrypted status. Its card has a chip,
/// which bit 5 of the mask status says.
const KIND: u8 = 0x80;
const TRACKS_READ: u8 = 0x1F;
const MASK_STATUS: u8 = 0x83;
const HAS_CHIP: u8 = 0x20;
const ENCRYPTED_STATUS: u8 = 0x9B;
/// The length of a track's hash and of the serial number in the block.
const HASH: usize = 20;
const SERIAL: usize = 10;

/// 9F39 of a swipe, and of a swipe after a failed chip.
const SWIPE: u8 = 0x90;
const FALLBACK: u8 = 0x80;
/// DFEE30 of a swipe.
const STRIPE: u8 = 0x0C;

/// Answers the command that waits for a card.
pub(super) fn swiped(device: &mut Device, card: &'static Card) {
    if session(device).interfaces & activate::STRIPE == 0 {
        return;
    }
    let serial = device.options.serial.clone();
    let shows_code = device.options.neo2.shows_service_code;
    let (mode, result) =
        if session(device).is_fallback { (FALLBACK, elements::FALLBACK) } else { (SWIPE, elements::SWIPED) };
    match tracks(&mut device.keys, card, &serial, shows_code) {
        Ok(tracks) => {
            let mut data = objects::object(elements::RESULT, &result);
            data.extend(tracks);
            objects::put(&mut data, 0x9F39, &[mode]);
            data.extend(elements::interface_group(STRIPE));
            let data = attributed(device, OF_SWIPE, data);
            session(device).last_card = Some(card);
            finish_with_card(device, OK, &data);
        }
        Err(NoKey) => failures::failed(device, Failure::NoCardKey),
    }
}

/// Returns the block with both tracks, which has the KSN. Without an SRED key, the tracks are in clear.
fn tracks(keys: &mut Keys, card: &Card, serial: &str, shows_code: bool) -> Result<Vec<u8>, NoKey> {
    let tracks = [with_lrc(&card.track1(), 0x20, 0x3F), card.track2()];
    let mut out = Vec::new();
    if keys.encrypts_card_data {
        let plains: Vec<_> = tracks.iter().map(|track| track.as_bytes().to_vec()).collect();
        let sealed = keys.seal_with_one_key(&plains)?;
        objects::put(&mut out, 0xDFEE23, &block(card, &tracks, &sealed, (serial, shows_code)));
    } else {
        objects::put(&mut out, 0x5F21, tracks[0].as_bytes());
        objects::put(&mut out, 0x5F22, tracks[1].as_bytes());
    }
    Ok(out)
}

/// Makes the block of two tracks.
fn block(card: &Card, tracks: &[String; 2], sealed: &SealedElements, (serial, shows_code): (&str, bool)) -> Vec<u8> {
    let [one, two] = tracks;
    let length = |track: &str| u8::try_from(track.len()).expect("a track has at most 79 characters");
    let has_chip = card.service_code.starts_with(['2', '6']);
    let mask_status = if has_chip { MASK_STATUS | HAS_CHIP } else { MASK_STATUS };
    let mut inside = vec![KIND, TRACKS_READ, length(one), length(two), 0, mask_status, ENCRYPTED_STATUS];
    inside.extend(masked_track1(card, one));
    inside.extend(masked_track2(card, two, shows_code));
    inside.extend(sealed.values.iter().flatten());
    for track in tracks {
        let hash = ring::digest::digest(&ring::digest::SHA256, track.as_bytes());
        inside.extend(&hash.as_ref()[..HASH]);
    }
    inside.extend(format!("{serial:0<SERIAL$.SERIAL$}").as_bytes());
    inside.extend(&sealed.ksn);
    let [.., high, low] = inside.len().to_be_bytes();
    let xor = inside.iter().fold(0, |sum, byte| sum ^ byte);
    let sum = inside.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    [&[0x02, low, high][..], &inside, &[xor, sum, 0x03]].concat()
}

/// Appends a track's LRC character, in the track's own code, which is ASCII minus `base` (ISO 7811).
fn with_lrc(track: &str, base: u8, mask: u8) -> String {
    let lrc = track.bytes().fold(0, |lrc, c| lrc ^ (c.wrapping_sub(base) & mask));
    format!("{track}{}", char::from(base + lrc))
}

/// A masked track 1 begins with `%*`. It shows 4 and 4 digits of the PAN, the name and the expiry.
fn masked_track1(card: &Card, track: &str) -> Vec<u8> {
    let shown = format!("%*{}^{}^{}", masked_pan(card), card.holder, card.expiry);
    filled(&shown, track.len())
}

fn masked_track2(card: &Card, track: &str, shows_code: bool) -> Vec<u8> {
    let code = if shows_code { card.service_code } else { "***" };
    filled(&format!(";{}={}{code}", masked_pan(card), card.expiry), track.len())
}

fn masked_pan(card: &Card) -> String {
    let last = card.pan.len() - 4;
    card.pan.chars().enumerate().map(|(at, c)| if (4..last).contains(&at) { '*' } else { c }).collect()
}

/// Fills a masked track with `*` up to its end sentinel. Its LRC is hidden too.
fn filled(shown: &str, length: usize) -> Vec<u8> {
    let inside = length - 2;
    format!("{shown:*<inside$}?*").into_bytes()
}

/// The published example (readers: 4.5). Copied by hand from documents. Never edit it to make a test pass.
#[cfg(test)]
mod frozen {
    use super::*;
    use crate::reader::Options;
    use crate::reader::deck::card;

    #[test]
    fn the_block_begins_as_a_published_one() {
        // Track 1 has 79 bytes, and track 2 has 40.
        let card = Card {
            pan: "5413330089020011",
            holder: "TEST CARD/WITH THIRTY-ONE SIGNS",
            service_code: "201",
            discretionary: "1234567890123",
            ..*card("swipe").unwrap()
        };
        let [one, two] = [with_lrc(&card.track1(), 0x20, 0x3F), card.track2()];
        assert_eq!((one.len(), two.len()), (79, 40));
        let mut keys = Keys::new(&Options::default());
        let sealed = keys.seal_with_one_key(&[one.as_bytes().to_vec(), two.as_bytes().to_vec()]).unwrap();
        let block = block(&card, &[one, two], &sealed, ("30003638", false));
        assert_eq!(hex::encode_upper(&block[..16]), "023201801F4F2800A39B252A35343133");
        assert_eq!((block.len(), block.last()), (3 + 0x132 + 3, Some(&0x03)));
    }
}
