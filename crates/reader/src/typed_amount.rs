//! The digits that a person types on a reader, as an amount (readers: 2.10).

/// Maximum number of integer digits that may be typed: as many as the gateway accepts (interface: amount10.2).
pub const MAX_INTEGER_DIGITS: u8 = 10;
/// Maximum number of decimals of any currency.
const MAX_FRACTION_DIGITS: u8 = 3;

/// Encodes three indices for DFA206.
#[must_use]
pub fn prompts_of([a, b, c]: [u16; 3]) -> [u8; 6] {
    let ([a1, a2], [b1, b2], [c1, c2]) = (a.to_be_bytes(), b.to_be_bytes(), c.to_be_bytes());
    [a1, a2, b1, b2, c1, c2]
}

/// Returns the typed amount in minor units of a currency with `exponent` decimals, or `None` if it is not an amount.
///
/// It is UNCERTAIN whether the reader sends only digits ("123") or also a decimal point ("1.23") (readers: 2.10).
/// Digits without a point count as minor units, which is the smaller of the two readings. With a point, the number of
/// decimals must be exactly that of the currency.
#[must_use]
pub fn minor_units(typed: &[u8], exponent: u8) -> Option<u64> {
    let text = std::str::from_utf8(typed).ok()?;
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    let with_point = text.contains('.');
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    // "1." and ".23" are typing errors, not amounts.
    let well_formed = !integer.is_empty()
        && digits(integer)
        && digits(fraction)
        && (!with_point || (exponent > 0 && fraction.len() == usize::from(exponent)))
        && integer.len() + fraction.len() <= usize::from(MAX_INTEGER_DIGITS + MAX_FRACTION_DIGITS);
    if !well_formed {
        return None;
    }
    format!("{integer}{fraction}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_taken_and_nothing_is_guessed() {
        for (typed, exponent, minor) in [
            ("123", 2, Some(123)),
            ("1.23", 2, Some(123)),
            ("0.05", 2, Some(5)),
            ("000", 2, Some(0)),
            ("0", 0, Some(0)),
            ("1200", 0, Some(1200)),
            ("1.230", 3, Some(1230)),
            ("1230", 3, Some(1230)),
            ("9999999999.99", 2, Some(999_999_999_999)),
            // Not an amount.
            ("", 2, None),
            (".", 2, None),
            ("1.", 2, None),
            (".23", 2, None),
            ("1.2", 2, None),
            ("1.234", 2, None),
            ("1.0", 0, None),
            ("1,23", 2, None),
            ("1.2.3", 2, None),
            ("-1", 2, None),
            ("+1", 2, None),
            (" 1", 2, None),
            ("1e3", 2, None),
            ("12345678901234", 2, None),
            ("\u{661}", 2, None),
        ] {
            assert_eq!(minor_units(typed.as_bytes(), exponent), minor, "{typed}");
        }
        assert_eq!(minor_units(&[0xFF], 2), None);
    }
}
