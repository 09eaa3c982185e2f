//! Any text through the masking of card numbers: no panic, nothing but stars is put in, and a row of 13 to 19 digits
//! that is left is no card number, unless it is part of what is spared (an id, a time).

use pos_terms::card::mask_pans;
use pos_terms::emv::luhn;

/// What must hold for any bytes.
pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let masked = mask_pans(text);
    assert_eq!(masked.chars().count(), text.chars().count());
    assert!(masked.chars().zip(text.chars()).all(|(now, before)| now == before || now == '*'));
    if text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.len() == 32) {
        // One of our references begins with a number that is none of a card.
        return;
    }
    for word in masked.split(|c: char| !c.is_ascii_alphanumeric()) {
        for digits in word.split(|c: char| !c.is_ascii_digit()).filter(|digits| (15..=19).contains(&digits.len())) {
            assert!(!luhn::is_valid(digits), "{digits} is shown");
        }
    }
}
