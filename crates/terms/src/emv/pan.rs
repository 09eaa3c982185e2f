//! Recognises card numbers in texts from people and tills, and distinguishes them from order numbers.
//! [`crate::card::mask_pans`] hides card numbers in texts, and prefers to hide too much. Here, a false match would
//! block a till's request, so a number must look like a card number in every respect.

use super::luhn;

/// Returns whether `text` contains a card number. Such a number has 13 to 19 digits, whole or in groups with a space or
/// a dash between them. Its first digits and its length are those of a card scheme. Its check digit is correct (ISO/IEC
/// 7812-1).
#[must_use]
pub fn is_in(text: &str) -> bool {
    let groups = text.split(|c: char| !c.is_ascii_digit() && c != ' ' && c != '-');
    groups.into_iter().any(|groups| {
        let numbers = groups.split([' ', '-']);
        let joined: String = groups.chars().filter(char::is_ascii_digit).collect();
        is_one(&joined) || numbers.into_iter().any(is_one)
    })
}

fn is_one(digits: &str) -> bool {
    is_of_a_scheme(digits) && luhn::is_valid(digits) && !is_article_number(digits)
}

/// Returns whether the first digits and the length belong to a card scheme.
fn is_of_a_scheme(digits: &str) -> bool {
    let first = |count: usize| digits.get(..count).and_then(|digits| digits.parse::<u32>().ok()).unwrap_or(0);
    match (first(1), digits.len()) {
        (4, 13 | 16 | 18 | 19) => true,
        (3, 15) => matches!(first(2), 34 | 37),
        (3, 14) => matches!(first(2), 30 | 36 | 38 | 39),
        (3, 16..=19) => matches!(first(2), 30 | 35 | 36 | 38 | 39),
        (5 | 6, 16..=19) => true,
        (2, 16) => (2221..=2720).contains(&first(4)),
        _ => false,
    }
}

/// Returns whether the 13 digits are an article number (EAN-13), according to its own check digit. A till that sends
/// its articles must not be blocked.
fn is_article_number(digits: &str) -> bool {
    let sum: u32 = digits.bytes().enumerate().map(|(n, c)| u32::from(c - b'0') * if n % 2 == 0 { 1 } else { 3 }).sum();
    digits.len() == 13 && sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_numbers_of_every_length_are_seen_wherever_they_stand() {
        for pan in [
            "4222222222222",
            "30569309025904",
            "374245001751006",
            "4761739001010119",
            "5555555555554444",
            "2223003122003222",
            "6799998900000074316",
        ] {
            for text in [pan.to_owned(), format!("order 17, card {pan}."), format!("x{pan}=2512"), format!("12 {pan}")]
            {
                assert!(is_in(&text), "{text}");
            }
            let groups: Vec<_> = pan.as_bytes().chunks(4).map(|four| std::str::from_utf8(four).unwrap()).collect();
            assert!(is_in(&groups.join(" ")) && is_in(&groups.join("-")), "{pan}");
        }
    }

    #[test]
    fn numbers_of_shops_are_no_card_numbers() {
        for text in [
            "",
            "4761739001010118",
            "476173******0119",
            "20261122123456",
            "1795312345678",
            "1795312345678901",
            // Both check digits are correct, so this is an article number.
            "4006381333931",
            "4000000000006",
            "8ac7a4a18f0c1d2e018f0c3b5a6b7c8d",
            "12345678",
            "47617390010101190000",
            "9999999999999995",
        ] {
            assert!(!is_in(text), "{text}");
        }
    }
}
