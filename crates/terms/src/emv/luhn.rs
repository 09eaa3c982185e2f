//! The Luhn check digit (ISO/IEC 7812-1, Annex B). It detects typing errors but proves nothing: it cannot tell 09 from
//! 90 (security: 1.6).

/// Returns whether the last of `digits` is the Luhn check digit of the others. Returns false if there are no digits, or
/// if a character is not a digit.
#[must_use]
pub fn is_valid(digits: &str) -> bool {
    let mut sum = 0_u32;
    for (n, c) in digits.bytes().rev().enumerate() {
        if !c.is_ascii_digit() {
            return false;
        }
        let digit = u32::from(c - b'0');
        sum += match (n % 2, digit) {
            (0, _) => digit,
            (_, 0..=4) => 2 * digit,
            _ => 2 * digit - 9,
        };
    }
    !digits.is_empty() && sum.is_multiple_of(10)
}
