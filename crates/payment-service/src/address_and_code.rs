//! The issuer's further checks, in addition to PIN and cryptogram: the billing address (AVS), a typed security code
//! (CVV) and a typed expiry. A wrong address does not decline a payment. Only the street and the postcode are compared.

use super::declined::{Declined, EXPIRED_CARD};

const WRONG_CODE: Declined =
    Declined { code: "800.100.153", description: "transaction declined (invalid CVV)", arc: *b"05" };

/// The street in the billing address of every test card.
const STREET: &str = "1 Test Street";
const POSTCODE: &str = "12345";
/// The security codes: the first for all test cards except American Express, the second for American Express.
const CODES: [&str; 2] = ["123", "1234"];

/// Returns `result.avsResponse`, which says which parts of the sent address are right. `None` if no address was sent
/// (data-model: Payment response fields).
pub(super) fn address_check(street: Option<&str>, postcode: Option<&str>) -> Option<&'static str> {
    let (right_street, right_postcode) = (street == Some(STREET), postcode == Some(POSTCODE));
    match (right_street, right_postcode) {
        _ if street.or(postcode).is_none() => None,
        (true, true) => Some("F"),
        (true, false) => Some("A"),
        (false, true) => Some("Z"),
        (false, false) => Some("N"),
    }
}

/// Returns `result.cvvResponse` for a typed security code, and the decline for a wrong code. The interface does not
/// document the letters. Here M means match, and N means no match.
pub(super) fn code_check(pan: &str, code: &str) -> (&'static str, Option<Declined>) {
    let right = if matches!(pan.get(..2), Some("34" | "37")) { CODES[1] } else { CODES[0] };
    if code == right { ("M", None) } else { ("N", Some(WRONG_CODE)) }
}

/// Returns the decline for a card that expired before `yymm`.
pub(super) fn expiry_check(expiry: &str, yymm: &str) -> Option<Declined> {
    (expiry < yymm).then_some(EXPIRED_CARD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_and_code_have_their_letters() {
        let cases = [
            (None, None, None),
            (Some("1 Test Street"), Some("12345"), Some("F")),
            (Some("1 Test Street"), Some("99999"), Some("A")),
            (Some("2 Test Street"), Some("12345"), Some("Z")),
            (None, Some("1"), Some("N")),
        ];
        for (street, postcode, letter) in cases {
            assert_eq!(address_check(street, postcode), letter, "{street:?} {postcode:?}");
        }
        assert_eq!(code_check("4761739001010119", "123"), ("M", None));
        assert_eq!(code_check("374245001751006", "1234"), ("M", None));
        assert_eq!(code_check("374245001751006", "123"), ("N", Some(WRONG_CODE)));
        assert_eq!([expiry_check("2610", "2611"), expiry_check("2611", "2611")], [Some(EXPIRED_CARD), None]);
    }
}
