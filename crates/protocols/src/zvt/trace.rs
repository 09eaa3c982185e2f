//! An APDU as a readable line with its name and fields, without card data and passwords.

use super::apdu::{Apdu, Control};
use super::bmp;
use super::code;
use super::text::Charset;

/// Length of the longest value that is shown in full, in bytes.
const LONGEST: usize = 40;
/// A sequence of this many digits may be a card number, or part of one that was cut off.
const MANY_DIGITS: usize = 11;
/// Maximum number of fields in one line.
const MOST_FIELDS: usize = 40;

/// Writes an APDU as one line.
#[must_use]
pub fn line(apdu: &Apdu) -> String {
    let control = apdu.control;
    let name = control.name().unwrap_or("unknown");
    let about = match control {
        // The answer may contain a typed key.
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

/// Returns whether the command begins with the till's password.
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

/// Decodes a text for display and hides every long sequence of digits, because it may be a card number. Spaces,
/// hyphens, dots and asterisks do not interrupt a sequence.
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
                    // The content of a container is unknown, so only its length is shown.
                    0x06 | 0x60 => format!("{} bytes", value.len()),
                    _ if value.len() > LONGEST => format!("{} bytes", value.len()),
                    _ => value.iter().map(|byte| format!("{byte:02X}")).collect(),
                };
                line.push_str(&format!(", {name} {value}"));
            }
            // The unreadable byte may be a digit of a password, so it is not shown.
            Err(_) => {
                line.push_str(", and unreadable data");
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
        assert_eq!(shown("06 01 02 99 00"), "06 01 authorisation, and unreadable data");
        assert_eq!(shown("06 50 04 3D 12 34 56"), "06 50 end of day: password …, and unreadable data");
        assert_eq!(shown("80 00 04 31 32 33 34"), "80 00 positive answer");
        let text = |text: &str| line(&Apdu::new(Control::PRINT_LINE, [&[0x40], text.as_bytes()].concat()));
        for number in ["4711008005757038", "4711 0080 0575 7038", "4711-008005-75703", "card 471100800575703"] {
            let line = text(number);
            assert!(!line.contains("0080") && line.ends_with("…\""), "{line}");
        }
        assert_eq!(text("Total 12.34 EUR 20.11.2026"), "06 D1 print line: 40 \"Total 12.34 EUR 20.11.2026\"");
        assert!(text(&"x".repeat(60_000)).len() < 100);
    }

    /// Returns all commands that have a name.
    fn controls() -> impl Iterator<Item = Control> {
        let all = (0..=u8::MAX).flat_map(|class| (0..=u8::MAX).map(move |instruction| Control(class, instruction)));
        all.filter(|control| control.name().is_some())
    }

    #[test]
    fn no_line_of_any_command_has_the_tills_password() {
        for control in controls() {
            // The password as the first three bytes, as a field, and in front of an amount.
            for data in ["194837", "3D194837", "1948370400000000100019", "3D1948370400000000100019"] {
                let line = line(&Apdu::new(control, hex::decode(data).unwrap()));
                let digits: String = line.chars().filter(char::is_ascii_digit).collect();
                assert!(!digits.contains("194837"), "{line}");
            }
        }
        // With the amount after the password.
        for control in [
            Control::REVERSAL,
            Control::REFUND,
            Control::TELEPHONE,
            Control::REPEAT_RECEIPT,
            Control::TOTALS,
            Control::END_OF_DAY,
            Control::INITIALISATION,
            Control::SET_TIME,
            Control::REPRINT,
            Control::STATUS_ENQUIRY,
        ] {
            let line = line(&Apdu::new(control, hex::decode("19483704000000001000").unwrap()));
            assert!(line.ends_with(": password …, amount 000000001000"), "{line}");
        }
    }

    #[test]
    fn no_line_has_what_stands_on_a_card_and_each_has_the_rest() {
        // Tracks, number, expiry and check value. One of the lengths below fits each field.
        let of_card = [0x0E, 0x22, 0x23, 0x24, 0x2D, 0x3A];
        for bmp in (0..=u8::MAX).filter(|bmp| bmp::name(*bmp).is_some() && *bmp != 0x3D) {
            let mut data = Vec::new();
            for length in 1..=9 {
                data.clear();
                bmp::push(&mut data, bmp, &vec![0x47; length]);
                if bmp::walk(&data).next().is_some_and(|field| field == Ok((bmp, &vec![0x47; length][..]))) {
                    break;
                }
            }
            let line = line(&Apdu::new(Control::STATUS, data));
            let name = bmp::name(bmp).unwrap();
            if of_card.contains(&bmp) {
                assert_eq!(line, format!("04 0F status information, {name} …"), "{bmp:02X}");
            } else {
                assert!(!line.contains('…') && line.contains(&format!(", {name} ")), "{bmp:02X}: {line}");
            }
        }
    }

    #[test]
    fn what_ended_it_and_how_it_goes_on_is_in_the_line() {
        for (text, expected) in [
            ("06 1E 05 6C 04 00 00 00", "06 1E aborted: 6C cancelled, or no card in time, and unreadable data"),
            ("06 1E 03 B8 87 00", "06 1E aborted: B8 no such reservation, and unreadable data"),
            ("06 1E 04 B8 87 00 17", "06 1E aborted: B8 no such reservation, receipt 0017"),
            ("06 1E 00", "06 1E aborted"),
            ("04 FF 01 0A", "04 FF intermediate status: 0A"),
            ("04 FF 04 0A 03 22 47", "04 FF intermediate status: 0A"),
            ("04 FF 00", "04 FF intermediate status: 00"),
            ("04 0F 02 27 05", "04 0F status information, result 05 declined by the bank"),
            ("84 00 00", "84 00 positive answer"),
            ("84 9D 07 04 00 00 00 00 08 00", "84 9D negative answer: only a part was dispensed"),
            ("06 D1 03 40 48 69", "06 D1 print line: 40 \"Hi\""),
            ("06 D1 00", "06 D1 print line"),
            ("06 00 04 12 34 56 DE", "06 00 registration: password …, config DE"),
            ("06 00 06 12 34 56 DE 03 00", "06 00 registration: password …, config DE, service byte 00"),
            (
                "06 00 08 12 34 56 DE 09 78 06 00",
                "06 00 registration: password …, config DE, currency 09 78, TLV 0 bytes",
            ),
            ("06 00 06 12 34 56 DE 06 00", "06 00 registration: password …, config DE, TLV 0 bytes"),
            ("06 00 03 12 34 56", "06 00 registration"),
            ("06 C0 02 1E 47", "06 C0 read card, and unreadable data"),
            ("0F F0 00", "0F F0 unknown"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        // Values that are too long are replaced by their length.
        let text = |length: usize| {
            let mut data = Vec::new();
            bmp::push(&mut data, 0x60, &vec![0x47; length]);
            bmp::push(&mut data, 0x9A, &vec![0x47; length]);
            line(&Apdu::new(Control::STATUS, data))
        };
        assert!(text(40).contains("40 bytes, ") && text(40).ends_with(&"47".repeat(40)), "{}", text(40));
        assert!(text(41).contains("41 bytes, ") && text(41).ends_with(" 41 bytes"), "{}", text(41));
        // Ten digits are not a card number. Eleven may be one, or part of one.
        let printed = |text: &str| line(&Apdu::new(Control::PRINT_LINE, [&[0x40], text.as_bytes()].concat()));
        assert!(printed("no 4711008005").contains("4711008005"));
        for row in ["47110080057", "4711*0080*057", "4711.008.0057", "4711 0080057", "47110-080057"] {
            assert!(!printed(&format!("no {row}x")).contains("0080"), "{row}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(class: u8, instruction: u8, data in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = line(&Apdu::new(Control(class, instruction), data));
        }
    }
}
