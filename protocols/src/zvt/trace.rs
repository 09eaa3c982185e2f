//! An APDU as a line for people: what it is, and its fields, without card data and passwords.

use super::apdu::{Apdu, Control};
use super::bmp;
use super::code;
use super::text::Charset;

/// Longest value that is shown whole, in bytes.
const LONGEST: usize = 40;
/// So many digits in a row may be a card number, or a part of one that was cut off.
const MANY_DIGITS: usize = 11;
/// Fields of one line.
const MOST_FIELDS: usize = 40;

/// One line.
#[must_use]
pub fn line(apdu: &Apdu) -> String {
    let control = apdu.control;
    let name = control.name().unwrap_or("unknown");
    let about = match control {
        // A key that was typed may stand in it.
        Control(0x80, _) => String::new(),
        Control(0x84, code) if code != 0 => format!(": {}", code::meaning(code)),
        Control::INTERMEDIATE => format!(": {:02X}", apdu.data.first().copied().unwrap_or(0)),
        Control::ABORT => match apdu.data.split_first() {
            Some((code, rest)) => format!(": {code:02X} {}{}", code::meaning(*code), fields(rest)),
            None => String::new(),
        },
        Control::PRINT_LINE => match apdu.data.split_first() {
            Some((attribute, text)) => format!(": {attribute:02X} {:?}", shown(text)),
            None => String::new(),
        },
        Control::REGISTRATION => match apdu.data.get(3..) {
            Some([config, rest @ ..]) => {
                let (currency, rest) = match rest {
                    [high, low, rest @ ..] if !matches!(high, 0x03 | 0x06) => {
                        (format!(", currency {high:02X} {low:02X}"), rest)
                    }
                    rest => (String::new(), rest),
                };
                format!(": password …, config {config:02X}{currency}{}", fields(rest))
            }
            _ => String::new(),
        },
        _ if has_password(control) => format!(": password …{}", fields(apdu.data.get(3..).unwrap_or_default())),
        Control::READ_CARD => fields(apdu.data.get(1..).unwrap_or_default()),
        _ => fields(&apdu.data),
    };
    format!("{control} {name}{about}")
}

/// What begins with the till's password.
fn has_password(control: Control) -> bool {
    matches!(
        control,
        Control::REVERSAL
            | Control::REFUND
            | Control::TELEPHONE
            | Control::REPEAT_RECEIPT
            | Control::TOTALS
            | Control::END_OF_DAY
            | Control::INITIALISATION
            | Control::SET_TIME
            | Control::REPRINT
            | Control::STATUS_ENQUIRY
    )
}

/// A text for people, of which nothing is shown that may be a card number: a row of many digits, whatever stands
/// between them.
fn shown(text: &[u8]) -> String {
    let text = Charset::Cp437.decode(text.get(..LONGEST).unwrap_or(text));
    let mut shown = String::new();
    for part in text.split_inclusive(|c: char| !c.is_ascii_digit() && !matches!(c, ' ' | '-' | '.' | '*')) {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        if digits < MANY_DIGITS {
            shown.push_str(part);
        } else {
            shown.push('…');
            shown.extend(part.chars().last().filter(|c| !c.is_ascii_digit()));
        }
    }
    shown
}

fn fields(data: &[u8]) -> String {
    let mut line = String::new();
    for field in bmp::walk(data).take(MOST_FIELDS) {
        match field {
            Ok((number, value)) => {
                let name = bmp::name(number).unwrap_or("?");
                let value = match number {
                    number if !bmp::may_be_shown(number) => "…".to_owned(),
                    0x3C | 0x8B | 0xF1..=0xF8 | 0x2A => format!("{:?}", shown(value)),
                    0x27 => value.first().map_or_else(String::new, |it| format!("{it:02X} {}", code::meaning(*it))),
                    // A container may hold anything.
                    0x06 | 0x60 => format!("{} bytes", value.len()),
                    _ if value.len() > LONGEST => format!("{} bytes", value.len()),
                    _ => value.iter().map(|byte| format!("{byte:02X}")).collect(),
                };
                line.push_str(&format!(", {name} {value}"));
            }
            // Which byte it is may be a digit of a password.
            Err(_) => {
                line.push_str(", and what cannot be read");
                break;
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        line(&Apdu::decode(&hex::decode(text.replace(' ', "")).unwrap()).unwrap())
    }

    #[test]
    fn a_line_says_what_it_is_and_no_secret() {
        assert_eq!(shown("80 00 00"), "80 00 positive answer");
        assert_eq!(shown("84 9C 00"), "84 9C negative answer: please wait");
        assert_eq!(shown("06 1E 01 6C"), "06 1E aborted: 6C cancelled, or no card in time");
        assert_eq!(shown("06 00 06 12 34 56 DE 09 78"), "06 00 registration: password …, config DE, currency 09 78");
        let sale = shown("06 01 11 04 00 00 00 01 10 10 49 09 78 22 F0 F4 41 11 11 11");
        assert!(
            sale.contains("amount 000000011010") && sale.ends_with("card number …") && !sale.contains("4111"),
            "{sale}"
        );
        assert_eq!(shown("06 50 03 12 34 56"), "06 50 end of day: password …");
        assert_eq!(shown("06 01 02 99 00"), "06 01 authorisation, and what cannot be read");
        assert_eq!(shown("06 50 04 3D 12 34 56"), "06 50 end of day: password …, and what cannot be read");
        assert_eq!(shown("80 00 04 31 32 33 34"), "80 00 positive answer");
        let text = |text: &str| line(&Apdu::new(Control::PRINT_LINE, [&[0x40], text.as_bytes()].concat()));
        for number in ["4711008005757038", "4711 0080 0575 7038", "4711-008005-75703", "card 471100800575703"] {
            let line = text(number);
            assert!(!line.contains("0080") && line.ends_with("…\""), "{line}");
        }
        assert_eq!(text("Total 12.34 EUR 20.11.2026"), "06 D1 print line: 40 \"Total 12.34 EUR 20.11.2026\"");
        assert!(text(&"x".repeat(60_000)).len() < 100);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(class: u8, instruction: u8, data in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = line(&Apdu::new(Control(class, instruction), data));
        }
    }
}
