//! Checks the masking of card numbers in any text. There is no panic, and only stars are inserted. A remaining sequence
//! of 13 to 19 digits is not a card number, unless it is part of an exempt text (an id, a time).

use pos_terms::card::mask_pans;
use pos_terms::emv::luhn;

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let masked = mask_pans(text);
    assert_eq!(masked.chars().count(), text.chars().count());
    assert!(masked.chars().zip(text.chars()).all(|(now, before)| now == before || now == '*'));
    if text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.len() == 32) {
        // A gateway reference begins with a number that is not a card number.
        return;
    }
    for word in masked.split(|c: char| !c.is_ascii_alphanumeric()) {
        for digits in word.split(|c: char| !c.is_ascii_digit()).filter(|digits| (15..=19).contains(&digits.len())) {
            assert!(!luhn::is_valid(digits), "{digits} is shown");
        }
    }
}
