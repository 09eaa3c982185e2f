//! An APDU as a line for people: what it is, and its fields, without card data and passwords.

use super::apdu::{Apdu, Control};
use super::bmp;
use super::code;
use super::text::Charset;

/// Longest value that is shown whole, in bytes.
const LONGEST: usize = 40;

/// One line.
#[must_use]
pub fn line(apdu: &Apdu) -> String {
    let control = apdu.control;
    let name = control.name().unwrap_or("unknown");
    let about = match control {
        Control(0x84, code) if code != 0 => format!(": {}", code::meaning(code)),
        Control::INTERMEDIATE => format!(": {:02X}", apdu.data.first().copied().unwrap_or(0)),
        Control::ABORT => match apdu.data.split_first() {
            Some((code, rest)) => format!(": {code:02X} {}{}", code::meaning(*code), fields(rest)),
            None => String::new(),
        },
        Control::PRINT_LINE => match apdu.data.split_first() {
            Some((attribute, text)) => format!(": {attribute:02X} {:?}", Charset::Cp437.decode(text)),
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

fn fields(data: &[u8]) -> String {
    let mut line = String::new();
    for field in bmp::walk(data) {
        match field {
            Ok((number, value)) => {
                let name = bmp::name(number).unwrap_or("?");
                let value = match number {
                    number if !bmp::may_be_shown(number) => "…".to_owned(),
                    0x3C | 0x8B | 0xF1..=0xF8 | 0x2A => format!("{:?}", Charset::Cp437.decode(value)),
                    0x27 => value.first().map_or_else(String::new, |it| format!("{it:02X} {}", code::meaning(*it))),
                    // A container may hold anything.
                    0x06 | 0x60 => format!("{} bytes", value.len()),
                    _ if value.len() > LONGEST => format!("{} bytes", value.len()),
                    _ => value.iter().map(|byte| format!("{byte:02X}")).collect(),
                };
                line.push_str(&format!(", {name} {value}"));
            }
            Err(error) => {
                line.push_str(&format!(", and {error}"));
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
        assert!(shown("06 01 02 99 00").contains("BMP 99 at byte 0 is unknown"));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(class: u8, instruction: u8, data in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = line(&Apdu::new(Control(class, instruction), data));
        }
    }
}
