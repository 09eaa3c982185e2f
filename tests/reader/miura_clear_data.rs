//! Clear card data that a reader sends ends the sale, wherever it is in the answer: inside templates, after an empty or
//! masked field with the same tag, and with every length of a card number. An amount that occurs twice must be correct
//! both times.

use crate::trace::*;

/// The trace of a chip in the slot and a reader armed for 12.34 EUR, up to the chip's answer.
const READ: &str = "
             9  * {CARD_IN}
             10 arm 1
                ! 1 PresentCard
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978
             11 < {E4}
                ";

/// Card numbers with 13, 15, 16 and 19 digits as in tag 5A, padded to whole bytes.
const PANS: [&str; 4] = ["4222222222222F", "374245001751006F", "4761739001010119", "6799998900000074316F"];

fn in_e4(more: &str, then: &str) {
    play(&format!("{}{then}", READ.replace("{E4}", &e4(more))));
}

fn is_distrusted(more: &str) {
    in_e4(
        more,
        "> ABORT
         ! unready clear-card-data 04000203
         < 9000
      20 arm 2
         ! 2 no-card NotReady",
    );
}

/// Checks that the session finds no clear card data and reads the card as usual.
fn is_read(more: &str) {
    in_e4(more, "! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature");
}

/// Nests the value in this many templates.
fn nested(depth: usize, value: &str) -> String {
    ["70", "77", "E1", "BF0C", "61", "A5"]
        .iter()
        .cycle()
        .take(depth)
        .fold(value.to_owned(), |value, tag| t(tag, &value))
}

#[test]
fn every_length_at_every_depth() {
    for pan in PANS {
        let digits = pan.trim_end_matches('F');
        let padded = |text: String| if text.len() % 2 == 1 { text + "F" } else { text };
        let ascii = |text: &str| hex::encode(text);
        for clear in [
            t("5A", pan),
            t("57", &padded(format!("{digits}D25122011234567890"))),
            t("9F6B", &padded(format!("{digits}D25122011234567890"))),
            t("56", &ascii(&format!("B{digits}^POE/ADA^2512201"))),
            // Only the names of these copies say that they are masked.
            t("DFAE5A", pan),
            t("DFAE57", &padded(format!("{digits}D2512201"))),
            t("DFAE6B", &padded(format!("{digits}D2512201"))),
            t("DFAE56", &ascii(&format!("B{digits}^POE/ADA^2512201"))),
            t("DFAE21", &ascii(&format!("%B{digits}^POE/ADA^2512201?"))),
            t("DFAE22", &ascii(&format!(";{digits}=2512201?"))),
            // Only the name of this block says that it is sealed.
            t("DFAE02", &t("57", &padded(format!("{digits}D25122011234567890")))),
            t("DFAE02", &ascii(&format!(";{digits}=2512201?"))),
        ] {
            for depth in [0, 1, 5] {
                is_distrusted(&nested(depth, &clear));
            }
        }
    }
}

#[test]
fn a_tag_that_is_repeated_is_looked_at_each_time() {
    let masked = |tag: &str| t(tag, "476173FFFFFF0119");
    for tag in ["5A", "DFAE5A", "DFAE57"] {
        let (empty, clear) = (t(tag, ""), t(tag, PANS[2]));
        // The clear field follows an empty field, precedes it, or follows a masked field.
        is_distrusted(&format!("{empty}{clear}"));
        is_distrusted(&format!("{clear}{empty}"));
        if tag != "5A" {
            is_distrusted(&format!("{}{clear}", masked(tag)));
            is_distrusted(&format!("{}{clear}", nested(2, &masked(tag))));
            is_distrusted(&format!("{clear}{}", masked(tag)));
        }
    }
}

#[test]
fn what_is_masked_or_empty_is_no_card_data() {
    for pan in PANS {
        let digits = pan.trim_end_matches('F');
        let masked =
            |mask: &str| format!("{}{}{}", &digits[..6], mask.repeat(digits.len() - 10), &digits[digits.len() - 4..]);
        let padded = |text: String| if text.len() % 2 == 1 { text + "F" } else { text };
        is_read(&t("DFAE5A", &padded(masked("F"))));
        is_read(&nested(3, &t("DFAE6B", &padded(format!("{}D2512201", masked("F"))))));
        is_read(&t("DFAE56", &hex::encode(format!("B{}^^2512201", masked("*")))));
        is_read(&t("DFAE21", &hex::encode(format!("%B{}^^2512201?", masked("*")))));
    }
    for empty in ["5A00", "5700", "DFAE5A00", "DFAE2100", "DFAE5600", "DFAE6B00"] {
        is_read(&nested(1, empty));
    }
}

/// Checks that a second tag 9F02 or 5F2A, at any depth, must match the request.
#[test]
fn an_amount_or_currency_that_is_said_twice_must_be_right_twice() {
    for (again, is_right) in [
        ("9F0206000000001234", true),
        ("9F0206000000001235", false),
        ("9F02050000001234", false),
        ("5F2A020978", true),
        ("5F2A020840", false),
    ] {
        for depth in [0, 1, 4] {
            let again = nested(depth, again);
            if is_right {
                is_read(&again);
                continue;
            }
            // Neither a correct last value nor a correct first value makes up for a wrong one.
            let then_right = format!("{again}9F02060000000012345F2A020978");
            for again in [again, then_right] {
                in_e4(
                    &again,
                    "> CONTINUE TRANSACTION E0048A025A31
                     < {E5}
                     ! 1 no-card AmountDiffers
                     > DISPLAY TEXT REMOVE CARD
                     ! 1 RemoveCard",
                );
            }
        }
    }
}
