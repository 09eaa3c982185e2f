//! Commands of a till (ZVT PA00P015, chapter 2). The terminal reads them, and a simulated till writes them.
//!
//! This module checks no permissions. A readable command is only a request, and the session decides about it.

use std::fmt;

use super::apdu::{Apdu, Control};
use super::bmp::{BmpError, Fields, Order, digits, number};
use super::text::Charset;
use super::tlv;

/// Length of a password in bytes, with two digits per byte.
const PASSWORD: usize = 3;
/// The BMP of a password.
const FIELD: u8 = 0x3D;

/// The reason why a command cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The command ends before a mandatory part.
    #[error("{control} ends before its {what}")]
    Short {
        /// Class and instruction.
        control: Control,
        /// The missing part.
        what: &'static str,
    },
    /// A number contains a digit other than 0 to 9.
    #[error("{control}: the {what} has a digit above 9")]
    Digits {
        /// Class and instruction.
        control: Control,
        /// The part with the wrong digits.
        what: &'static str,
    },
    /// The fields cannot be read.
    #[error("{control}: {cause}")]
    Fields {
        /// Class and instruction.
        control: Control,
        /// The reason.
        cause: BmpError,
    },
}

/// A command of a till.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `06 00`.
    Registration(Registration),
    /// `06 02`.
    LogOff,
    /// `06 01`: a card payment.
    Authorisation(Fields),
    /// `06 22`: reserves an amount.
    PreAuthorisation(Fields),
    /// `06 23`: states the unused part of a reservation and captures the rest, or asks for the open reservations.
    PartialReversal(Fields),
    /// `06 24`: states the used part of a reservation and captures it.
    BookTotal(Fields),
    /// `06 25`: releases a reservation.
    PreAuthorisationReversal(Fields),
    /// `06 0C`.
    BookTip(Fields),
    /// `06 30`: reverses a payment.
    Reversal(Guarded),
    /// `06 31`: pays money to a card.
    Refund(Guarded),
    /// `06 21`.
    Telephone(Guarded),
    /// `06 20`: reprints the last receipt.
    RepeatReceipt(Guarded),
    /// `06 10`: requests the sums, without an end of day.
    Totals(Guarded),
    /// `06 50`.
    EndOfDay(Guarded),
    /// `06 93`.
    Initialisation(Guarded),
    /// `06 91`.
    SetTime(Guarded),
    /// `06 12`: reprints a range of receipts.
    Reprint {
        /// Six digits.
        password: Password,
        /// The first receipt.
        from: u16,
        /// The last receipt. Without it, only the first receipt is printed.
        to: Option<u16>,
    },
    /// `06 18`.
    Reset,
    /// `06 1A`.
    PrintConfiguration,
    /// `06 70`.
    Diagnosis(Fields),
    /// `06 79`.
    SelfTest,
    /// `06 B0`.
    Abort(Fields),
    /// `06 C0`.
    ReadCard(Fields),
    /// `06 E0`, `06 85`.
    DisplayText(Fields),
    /// `06 E1`, `06 E2`: asks for an input at the reader.
    DisplayInput(Fields),
    /// `06 D1`: a line for the terminal's printer.
    PrintLine {
        /// The attribute of the line, as in [`attribute`](super::answer::attribute).
        attribute: u8,
        /// The text in the till's character set.
        text: Vec<u8>,
    },
    /// `06 D3`: a text block for the terminal's printer.
    PrintBlock(Fields),
    /// `05 01`.
    StatusEnquiry(Fields),
    /// `08 30`, `08 50`: settings that have no effect here.
    Setting(Control),
    /// Any other command.
    Unknown(Control),
}

/// A till's six-digit password, hidden from `Debug`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Password(pub u32);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A command that begins with the till's password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// The password, or `None` if the till sends none.
    pub password: Option<Password>,
    /// The fields after the password.
    pub fields: Fields,
}

/// The registration of a till.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The password. It is not compared, because a registration moves no money.
    pub password: Password,
    /// The config byte. The methods explain its bits.
    pub config: u8,
    /// The numeric code of the currency, such as `[0x09, 0x78]`.
    pub currency: Option<[u8; 2]>,
    /// BMPs 03 and 06.
    pub fields: Fields,
}

impl Registration {
    /// Returns bit 02: the till prints the receipts of payments.
    #[must_use]
    pub fn till_prints_payments(&self) -> bool {
        self.config & 0x02 != 0
    }

    /// Returns bit 04: the till prints the receipts of administration.
    #[must_use]
    pub fn till_prints_administration(&self) -> bool {
        self.config & 0x04 != 0
    }

    /// Returns bit 08: the till wants intermediate statuses.
    #[must_use]
    pub fn hears_intermediate(&self) -> bool {
        self.config & 0x08 != 0
    }

    /// Returns bit 80: the till gets receipts as print commands. Without the bit, the till composes receipts from the
    /// status information.
    #[must_use]
    pub fn gets_print_commands(&self) -> bool {
        self.config & 0x80 != 0
    }

    /// Returns whether the till sent a container. The terminal sends containers only to such a till.
    #[must_use]
    pub fn has_tlv(&self) -> bool {
        self.fields.get(0x06).is_some()
    }

    /// Returns whether the till permits a command (TLV 26).
    #[must_use]
    pub fn permits(&self, control: Control) -> bool {
        let list = self.fields.tlv(&[0x26]).unwrap_or_default();
        tlv::walk(list).map_while(Result::ok).any(|tlv| tlv.tag == 0x0A && tlv.value == [control.0, control.1])
    }

    /// Returns the requested character set (TLV 14) if this crate supports it.
    #[must_use]
    pub fn charset(&self) -> Option<Charset> {
        Charset::from_tag14(*self.fields.tlv(&[0x14])?.first()?)
    }

    /// Returns the length of the longest APDU that the till accepts (TLV 1A), in bytes.
    #[must_use]
    pub fn longest_apdu(&self) -> Option<usize> {
        match self.fields.tlv(&[0x1A])? {
            [high, low] => Some(usize::from(u16::from_be_bytes([*high, *low]))),
            _ => None,
        }
    }

    /// Returns the width of the till's printer (TLV 12), in characters.
    #[must_use]
    pub fn printer_width(&self) -> Option<u8> {
        self.fields.tlv(&[0x12])?.first().copied().filter(|width| *width > 0)
    }

    /// Returns whether the till asks for message numbers (TLV 1F73).
    #[must_use]
    pub fn wants_message_numbers(&self) -> bool {
        self.fields.tlv(&[0x1F73]).is_some()
    }
}

/// The receipt to which a command refers (BMP 87).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptNumber {
    /// The receipt with this number.
    Is(u16),
    /// `FF FF`: any open reservation.
    Any,
}

/// Reads BMP 87 of a command.
///
/// # Errors
/// Returns [`BmpError::Digits`].
pub fn receipt_number(fields: &Fields) -> Result<Option<ReceiptNumber>, BmpError> {
    match fields.get(0x87) {
        None => Ok(None),
        Some([0xFF, 0xFF]) => Ok(Some(ReceiptNumber::Any)),
        Some(_) => {
            let number = fields.number(0x87)?.and_then(|number| u16::try_from(number).ok());
            Ok(number.map(ReceiptNumber::Is))
        }
    }
}

/// The last receipt that the till has (TLV 1F1F).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastReceipt {
    /// The till has no receipt and starts from the beginning.
    None,
    /// The receipt with this number.
    Is(u16),
}

/// Reads TLV 1F1F of a command. Returns `None` if it is missing or unreadable.
#[must_use]
pub fn last_receipt(fields: &Fields) -> Option<LastReceipt> {
    match fields.tlv(&[0x1F1F])? {
        [] => Some(LastReceipt::None),
        digits => Some(LastReceipt::Is(u16::try_from(number(digits)?).ok()?)),
    }
}

impl Command {
    /// Reads a till's APDU.
    ///
    /// # Errors
    /// Returns [`CommandError`].
    pub fn read(apdu: &Apdu) -> Result<Self, CommandError> {
        let (control, data) = (apdu.control, apdu.data.as_slice());
        let fields = |data: &[u8]| Fields::read(data).map_err(|cause| CommandError::Fields { control, cause });
        let guarded = || match data {
            [] => Ok(Guarded { password: None, fields: Fields::default() }),
            // Some tills send the password as a field.
            [FIELD, ..] => {
                let mut fields = fields(data)?;
                let digits = fields.take(FIELD).unwrap_or_default();
                let password = number(&digits).and_then(|number| u32::try_from(number).ok());
                let password = password.ok_or(CommandError::Digits { control, what: "password" })?;
                Ok(Guarded { password: Some(Password(password)), fields })
            }
            _ => {
                let (password, rest) = password(control, data)?;
                Ok(Guarded { password: Some(password), fields: fields(rest)? })
            }
        };
        Ok(match control {
            Control::REGISTRATION => Self::Registration(registration(data)?),
            Control::LOG_OFF => Self::LogOff,
            Control::AUTHORISATION => Self::Authorisation(fields(data)?),
            Control::PRE_AUTHORISATION => Self::PreAuthorisation(fields(data)?),
            Control::PARTIAL_REVERSAL => Self::PartialReversal(fields(data)?),
            Control::BOOK_TOTAL => Self::BookTotal(fields(data)?),
            Control::PRE_AUTHORISATION_REVERSAL => Self::PreAuthorisationReversal(fields(data)?),
            Control::BOOK_TIP => Self::BookTip(fields(data)?),
            Control::REVERSAL => Self::Reversal(guarded()?),
            Control::REFUND => Self::Refund(guarded()?),
            Control::TELEPHONE => Self::Telephone(guarded()?),
            Control::REPEAT_RECEIPT => Self::RepeatReceipt(guarded()?),
            Control::TOTALS => Self::Totals(guarded()?),
            Control::END_OF_DAY => Self::EndOfDay(guarded()?),
            Control::INITIALISATION => Self::Initialisation(guarded()?),
            Control::SET_TIME => Self::SetTime(guarded()?),
            Control::REPRINT => reprint(data)?,
            Control::RESET => Self::Reset,
            Control::PRINT_CONFIGURATION => Self::PrintConfiguration,
            Control::DIAGNOSIS => Self::Diagnosis(fields(data)?),
            Control::SELF_TEST => Self::SelfTest,
            // An abort is valid with any content.
            Control::TILL_ABORT => Self::Abort(Fields::read(data).unwrap_or_default()),
            Control::READ_CARD => {
                let rest = data.get(1..).ok_or(CommandError::Short { control, what: "timeout" })?;
                Self::ReadCard(fields(rest)?)
            }
            Control::DISPLAY_TEXT | Control::DISPLAY_TEXT_OLD => Self::DisplayText(fields(data)?),
            Control::DISPLAY_KEY | Control::DISPLAY_NUMBER => Self::DisplayInput(Fields::default()),
            Control::PRINT_LINE => {
                let (attribute, text) = data.split_first().ok_or(CommandError::Short { control, what: "attribute" })?;
                Self::PrintLine { attribute: *attribute, text: text.to_vec() }
            }
            Control::PRINT_BLOCK => Self::PrintBlock(fields(data)?),
            // The password is optional here and may look like the beginning of a field, so both readings are tried.
            Control::STATUS_ENQUIRY => {
                let with_password = data.get(PASSWORD..).map(fields);
                match with_password {
                    Some(Ok(fields)) => Self::StatusEnquiry(fields),
                    _ => Self::StatusEnquiry(fields(data)?),
                }
            }
            Control::LANGUAGE | Control::READER => Self::Setting(control),
            other => Self::Unknown(other),
        })
    }

    /// Encodes the command as a till sends it.
    #[must_use]
    pub fn apdu(&self) -> Apdu {
        let with = |control, fields: &Fields| Apdu::new(control, fields.write(Order::Ascending));
        let guarded = |control, Guarded { password, fields }: &Guarded| {
            let mut data = password.map(|password| digits(u64::from(password.0), PASSWORD)).unwrap_or_default();
            data.extend(fields.write(Order::Ascending));
            Apdu::new(control, data)
        };
        match self {
            Self::Registration(registration) => {
                let mut data = digits(u64::from(registration.password.0), PASSWORD);
                data.push(registration.config);
                data.extend(registration.currency.iter().flatten());
                data.extend(registration.fields.write(Order::Ascending));
                Apdu::new(Control::REGISTRATION, data)
            }
            Self::LogOff => Apdu::empty(Control::LOG_OFF),
            Self::Authorisation(fields) => with(Control::AUTHORISATION, fields),
            Self::PreAuthorisation(fields) => with(Control::PRE_AUTHORISATION, fields),
            Self::PartialReversal(fields) => with(Control::PARTIAL_REVERSAL, fields),
            Self::BookTotal(fields) => with(Control::BOOK_TOTAL, fields),
            Self::PreAuthorisationReversal(fields) => with(Control::PRE_AUTHORISATION_REVERSAL, fields),
            Self::BookTip(fields) => with(Control::BOOK_TIP, fields),
            Self::Reversal(it) => guarded(Control::REVERSAL, it),
            Self::Refund(it) => guarded(Control::REFUND, it),
            Self::Telephone(it) => guarded(Control::TELEPHONE, it),
            Self::RepeatReceipt(it) => guarded(Control::REPEAT_RECEIPT, it),
            Self::Totals(it) => guarded(Control::TOTALS, it),
            Self::EndOfDay(it) => guarded(Control::END_OF_DAY, it),
            Self::Initialisation(it) => guarded(Control::INITIALISATION, it),
            Self::SetTime(it) => guarded(Control::SET_TIME, it),
            Self::Reprint { password, from, to } => {
                let mut data = digits(u64::from(password.0), PASSWORD);
                for number in [Some(from), to.as_ref()].into_iter().flatten() {
                    data.extend(digits(u64::from(*number), 2));
                }
                Apdu::new(Control::REPRINT, data)
            }
            Self::Reset => Apdu::empty(Control::RESET),
            Self::PrintConfiguration => Apdu::empty(Control::PRINT_CONFIGURATION),
            Self::Diagnosis(fields) => with(Control::DIAGNOSIS, fields),
            Self::SelfTest => Apdu::empty(Control::SELF_TEST),
            Self::Abort(fields) => with(Control::TILL_ABORT, fields),
            Self::ReadCard(fields) => {
                Apdu::new(Control::READ_CARD, [vec![0x0F], fields.write(Order::Ascending)].concat())
            }
            Self::DisplayText(fields) => with(Control::DISPLAY_TEXT, fields),
            Self::DisplayInput(fields) => with(Control::DISPLAY_KEY, fields),
            Self::PrintLine { attribute, text } => {
                Apdu::new(Control::PRINT_LINE, [&[*attribute], text.as_slice()].concat())
            }
            Self::PrintBlock(fields) => with(Control::PRINT_BLOCK, fields),
            Self::StatusEnquiry(fields) if fields.is_empty() => Apdu::empty(Control::STATUS_ENQUIRY),
            // Without a password, the first three bytes of the fields would be read as a password.
            Self::StatusEnquiry(fields) => {
                let data = [&[0; PASSWORD][..], &fields.write(Order::Ascending)].concat();
                Apdu::new(Control::STATUS_ENQUIRY, data)
            }
            Self::Setting(control) | Self::Unknown(control) => Apdu::empty(*control),
        }
    }
}

fn password(control: Control, data: &[u8]) -> Result<(Password, &[u8]), CommandError> {
    let (password, rest) = data.split_at_checked(PASSWORD).ok_or(CommandError::Short { control, what: "password" })?;
    let password = number(password).and_then(|password| u32::try_from(password).ok());
    Ok((Password(password.ok_or(CommandError::Digits { control, what: "password" })?), rest))
}

fn registration(data: &[u8]) -> Result<Registration, CommandError> {
    let control = Control::REGISTRATION;
    let (password, rest) = password(control, data)?;
    let (config, rest) = rest.split_first().ok_or(CommandError::Short { control, what: "config byte" })?;
    // The currency is not a field, but its two bytes may look like the beginning of one. They count as the currency if
    // the rest is then readable. A lone empty container is not a currency.
    let bcd = rest.get(..2).filter(|two| number(two).is_some() && *rest != [0x06, 0x00]);
    let currency: Option<[u8; 2]> =
        bcd.and_then(|two| two.try_into().ok()).filter(|_| Fields::read(&rest[2..]).is_ok());
    let rest = if currency.is_some() { &rest[2..] } else { rest };
    let fields = Fields::read(rest).map_err(|cause| CommandError::Fields { control, cause })?;
    Ok(Registration { password, config: *config, currency, fields })
}

fn reprint(data: &[u8]) -> Result<Command, CommandError> {
    let control = Control::REPRINT;
    let (password, rest) = password(control, data)?;
    let number = |bytes: &[u8]| {
        let number = number(bytes).and_then(|number| u16::try_from(number).ok());
        number.ok_or(CommandError::Digits { control, what: "receipt number" })
    };
    match rest.len() {
        2 => Ok(Command::Reprint { password, from: number(rest)?, to: None }),
        4 => Ok(Command::Reprint { password, from: number(&rest[..2])?, to: Some(number(&rest[2..])?) }),
        _ => Err(CommandError::Short { control, what: "receipt numbers" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(hex: &str) -> Result<Command, CommandError> {
        Command::read(&Apdu::decode(&hex::decode(hex.replace(' ', "")).unwrap()).unwrap())
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_what_is_read_can_be_written(
            control in prop::sample::select(vec![
                Control::REGISTRATION, Control::AUTHORISATION, Control::REVERSAL, Control::REPRINT, Control::READ_CARD,
                Control::PRINT_LINE, Control::STATUS_ENQUIRY, Control::REPEAT_RECEIPT, Control(9, 9),
            ]),
            data in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            if let Ok(command) = Command::read(&Apdu::new(control, data)) {
                prop_assert_eq!(Command::read(&command.apdu()).map(|again| again.apdu()), Ok(command.apdu()));
            }
        }
    }

    #[test]
    fn a_registration_says_what_the_till_wants() {
        let Ok(Command::Registration(it)) = read("06 00 10 12 34 56 BE 09 78 03 01 06 06 26 04 0A 02 06 D3") else {
            panic!("no registration")
        };
        assert_eq!((it.password, it.config, it.currency), (Password(123_456), 0xBE, Some([0x09, 0x78])));
        assert!(!format!("{it:?}").contains("123456"));
        assert!(it.till_prints_payments() && it.till_prints_administration() && it.hears_intermediate());
        assert!(it.gets_print_commands() && it.has_tlv() && it.permits(Control::PRINT_BLOCK));
        assert!(!it.permits(Control::PRINT_LINE) && it.fields.byte(0x03) == Some(1));
        // One registration without a currency, and one whose currency looks like a field.
        for (data, currency, has_tlv) in [
            ("06 00 06 00 00 00 06 06 00", None, true),
            ("06 00 09 00 00 00 06 06 03 12 01 28", None, true),
            ("06 00 06 00 00 00 06 03 48", Some([0x03, 0x48]), false),
            ("06 00 06 00 00 00 06 06 43", Some([0x06, 0x43]), false),
            ("06 00 0A 00 00 00 06 03 48 03 01 06 00", Some([0x03, 0x48]), true),
        ] {
            let Ok(Command::Registration(it)) = read(data) else { panic!("no registration: {data}") };
            assert_eq!((it.currency, it.has_tlv()), (currency, has_tlv), "{data}");
        }
        assert!(read("06 00 04 00 00 00 06").is_ok());
        let short = CommandError::Short { control: Control::REGISTRATION, what: "config byte" };
        assert_eq!(read("06 00 03 00 00 00"), Err(short));
        let digits = CommandError::Digits { control: Control::REGISTRATION, what: "password" };
        assert_eq!(read("06 00 04 00 0A 00 06"), Err(digits));
    }

    #[test]
    fn receipts_are_named_or_any() {
        let number = |hex| match read(hex) {
            Ok(Command::PartialReversal(fields)) => receipt_number(&fields),
            other => panic!("{other:?}"),
        };
        assert_eq!(number("06 23 03 87 FF FF"), Ok(Some(ReceiptNumber::Any)));
        assert_eq!(number("06 23 03 87 04 91"), Ok(Some(ReceiptNumber::Is(491))));
        assert_eq!(number("06 23 03 87 04 9A"), Err(BmpError::Digits { bmp: 0x87 }));
        assert_eq!(number("06 23 00"), Ok(None));
        let last = |hex| match read(hex) {
            Ok(Command::Authorisation(fields)) => last_receipt(&fields),
            other => panic!("{other:?}"),
        };
        assert_eq!(last("06 01 07 06 05 1F 1F 02 04 71"), Some(LastReceipt::Is(471)));
        assert_eq!(last("06 01 05 06 03 1F 1F 00"), Some(LastReceipt::None));
        assert_eq!(last("06 01 00"), None);
    }

    #[test]
    fn passwords_come_in_front_as_a_field_or_not_at_all() {
        let password = |hex| match read(hex) {
            Ok(Command::EndOfDay(guarded)) => guarded.password,
            other => panic!("{other:?}"),
        };
        assert_eq!(password("06 50 03 12 34 56"), Some(Password(123_456)));
        assert_eq!(password("06 50 04 3D 12 34 56"), Some(Password(123_456)));
        assert_eq!(password("06 50 00"), None);
        for hex in ["05 01 00", "05 01 03 03 12 34", "05 01 05 06 12 34 03 02", "05 01 02 03 02"] {
            assert!(matches!(read(hex), Ok(Command::StatusEnquiry(_))), "{hex}");
        }
        // The fields are as long as a password.
        let once = read("05 01 06 0B 00 00 0D 05 05").unwrap().apdu();
        assert_eq!((Command::read(&once).unwrap().apdu(), once.data.len()), (once.clone(), 6));
        assert!(matches!(read("06 B0 02 FF FF"), Ok(Command::Abort(_))));
    }
}
