//! The masked form of card data. In tracks, hidden characters are bytes AA. In BCD elements, hidden digits are nibbles
//! A (readers: 3.5).

use crate::reader::deck::{Card, padded};
use crate::reader::keys::bytes;

/// A hidden character of a track.
const HIDDEN: u8 = 0xAA;

/// Appends a track's LRC character. It makes the exclusive-or of all characters zero, in the track's own code, which is
/// ASCII minus `base` (ISO 7811).
pub(super) fn with_lrc(track: &str, base: u8, mask: u8) -> String {
    let lrc = track.bytes().fold(0, |lrc, c| lrc ^ (c.wrapping_sub(base) & mask));
    format!("{track}{}", char::from(base + lrc))
}

/// Returns track 1 with its sentinels and its LRC character (readers: 8.4, V2).
pub(super) fn track1_with_lrc(card: &Card) -> String {
    with_lrc(&card.track1(), 0x20, 0x3F)
}

/// Returns the masked track 1. PAN 6 and 4, name, expiry, service code and LRC are visible.
pub(super) fn track1(card: &Card) -> Vec<u8> {
    let track = track1_with_lrc(card);
    let visible = format!("%B{}^{}^{}{}", card.pan, card.holder, card.expiry, card.service_code).len();
    hidden(&track, 2, visible, card)
}

/// Returns the masked track 2, in the same way.
pub(super) fn track2(card: &Card) -> Vec<u8> {
    let visible = format!(";{}={}{}", card.pan, card.expiry, card.service_code).len();
    hidden(&card.track2(), 1, visible, card)
}

/// Hides the middle of the PAN, which begins at `pan`, and everything from `visible` up to the end sentinel.
fn hidden(track: &str, pan: usize, visible: usize, card: &Card) -> Vec<u8> {
    let end = track.len() - 2;
    let is_hidden = |at: usize| (pan + 6..pan + card.pan.len() - 4).contains(&at) || (visible..end).contains(&at);
    track.bytes().enumerate().map(|(at, c)| if is_hidden(at) { HIDDEN } else { c }).collect()
}

/// Returns tag 57. All digits after the service code are hidden, and so is the padding.
pub(super) fn track2_equivalent(card: &Card) -> Vec<u8> {
    let whole = card.track2_equivalent().len();
    let visible = format!("{}D{}{}", card.masked_pan('A'), card.expiry, card.service_code);
    bytes(&format!("{visible:A<whole$}"))
}

/// Returns tag 5A. The padding is visible.
pub(super) fn pan(card: &Card) -> Vec<u8> {
    bytes(&padded(card.masked_pan('A')))
}

/// Returns the digits of a typed PAN, with the middle hidden.
pub(super) fn digits(pan: &str) -> Vec<u8> {
    let last = pan.len() - 4;
    pan.bytes().enumerate().map(|(at, c)| if (6..last).contains(&at) { HIDDEN } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::deck::card;

    // Copied by hand from documents (readers: 3.5). Never edit these bytes to make a test pass.
    #[test]
    fn tracks_and_elements_are_masked_as_in_a_capture() {
        let amex =
            Card { pan: "374245001751006", expiry: "2412", discretionary: "17111234500000", ..*card("tap").unwrap() };
        assert_eq!(hex::encode_upper(track2_equivalent(&amex)), "374245AAAAA1006D2412201AAAAAAAAAAAAAAA");
        assert_eq!(hex::encode_upper(pan(&amex)), "374245AAAAA1006F");
        let card = Card { pan: "4100390000009976", expiry: "2504", discretionary: "1758", ..amex };
        let shown = hex::encode_upper(track2(&card));
        assert!(shown.starts_with(&format!(
            "{}AAAAAAAAAAAA{}",
            hex::encode_upper(";410039"),
            hex::encode_upper("9976=2504201")
        )));
        assert!(shown.ends_with(&hex::encode_upper(&card.track2()[card.track2().len() - 2..])));
        assert_eq!(track1(&card).len(), track1_with_lrc(&card).len());
    }
}
