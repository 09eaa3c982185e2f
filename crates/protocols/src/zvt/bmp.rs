//! The fields of an APDU: BMPs and their digits. The number of a BMP determines how its length is written (ZVT
//! PA00P015, chapter 3 and its list of BMPs).
//!
//! Card data that a till sends (tracks, card number, expiry, check value) are recognised and dropped. Only the fact
//! that they were present is kept.

use std::fmt;

use super::tlv;

/// The length of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// A fixed number of bytes.
    Fixed(usize),
    /// A length prefix of this many digits, each in a byte `Fx`.
    Digits(usize),
    /// A length prefix in the form of TLVs.
    Container,
}

/// All known fields, with their human-readable names.
#[rustfmt::skip]
const TABLE: &[(u8, Length, &str)] = &[
    (0x01, Length::Fixed(1),  "timeout"),           (0x02, Length::Fixed(1),  "status information limit"),
    (0x03, Length::Fixed(1),  "service byte"),      (0x04, Length::Fixed(6),  "amount"),
    (0x05, Length::Fixed(1),  "pump"),              (0x06, Length::Container, "TLV"),
    (0x0B, Length::Fixed(3),  "trace"),             (0x0C, Length::Fixed(3),  "time"),
    (0x0D, Length::Fixed(2),  "date"),              (0x0E, Length::Fixed(2),  "expiry"),
    (0x17, Length::Fixed(2),  "card sequence"),     (0x19, Length::Fixed(1),  "payment type"),
    (0x22, Length::Digits(2), "card number"),       (0x23, Length::Digits(2), "track 2"),
    (0x24, Length::Digits(3), "track 3"),           (0x27, Length::Fixed(1),  "result"),
    (0x29, Length::Fixed(4),  "terminal"),          (0x2A, Length::Fixed(15), "merchant"),
    (0x2D, Length::Digits(2), "track 1"),           (0x37, Length::Fixed(3),  "original trace"),
    (0x3A, Length::Fixed(2),  "check value"),       (0x3B, Length::Fixed(8),  "approval code"),
    (0x3C, Length::Digits(3), "text"),              (0x3D, Length::Fixed(3),  "password"),
    (0x49, Length::Fixed(2),  "currency"),          (0x4C, Length::Digits(2), "blocked goods"),
    (0x60, Length::Digits(3), "totals"),            (0x87, Length::Fixed(2),  "receipt"),
    (0x88, Length::Fixed(3),  "turnover"),          (0x8A, Length::Fixed(1),  "card type"),
    (0x8B, Length::Digits(2), "card name"),         (0x8C, Length::Fixed(1),  "network card type"),
    (0x92, Length::Digits(3), "purse record"),      (0x9A, Length::Digits(3), "purse record"),
    (0xA0, Length::Fixed(1),  "host result"),       (0xA7, Length::Digits(2), "EF_ID"),
    (0xAA, Length::Fixed(3),  "date"),              (0xBA, Length::Fixed(5),  "AID parameter"),
    (0xD2, Length::Fixed(1),  "card output"),       (0xF0, Length::Fixed(1),  "display seconds"),
    (0xF1, Length::Digits(2), "line 1"),            (0xF2, Length::Digits(2), "line 2"),
    (0xF3, Length::Digits(2), "line 3"),            (0xF4, Length::Digits(2), "line 4"),
    (0xF5, Length::Digits(2), "line 5"),            (0xF6, Length::Digits(2), "line 6"),
    (0xF7, Length::Digits(2), "line 7"),            (0xF8, Length::Digits(2), "line 8"),
    (0xF9, Length::Fixed(1),  "beeps"),             (0xFA, Length::Fixed(1),  "reader"),
    (0xFB, Length::Fixed(1),  "confirmation"),      (0xFC, Length::Fixed(1),  "dialog control"),
    (0xFD, Length::Fixed(1),  "display"),
];

/// The fields with card data: tracks, card number, expiry and check value. An operator typed them, or the till's own
/// reader read them.
const CARD: [u8; 6] = [0x0E, 0x22, 0x23, 0x24, 0x2D, 0x3A];
/// BMP 06: a container of TLVs.
pub const CONTAINER: u8 = 0x06;
/// The BMP of a till's password.
const PASSWORD: u8 = 0x3D;

/// The order of the specification's table for `04 0F`, which old tills rely on. The exception is BMP 37, which is last
/// because some old tills stop reading there.
const TABLE_ORDER: [u8; 27] = [
    0x27, 0x04, 0x0B, 0x0C, 0x0D, 0x0E, 0x17, 0x19, 0x22, 0x29, 0x3B, 0x49, 0x4C, 0x87, 0x8A, 0x8C, 0x9A, 0xBA, 0x2A,
    0x3C, 0x60, 0xAA, 0xA0, 0x88, 0x8B, 0x06, 0x37,
];

/// The order in which fields are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The order of the specification's table.
    #[default]
    Table,
    /// The result first, then the fields by number, and the container last. Many terminals use this order.
    Ascending,
}

/// The reason why bytes are not fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BmpError {
    /// The length of this BMP is unknown, so the rest cannot be read.
    #[error("BMP {bmp:02X} at byte {at} is unknown")]
    Unknown {
        /// The number of the BMP.
        bmp: u8,
        /// The offset of the BMP in bytes.
        at: usize,
    },
    /// The field is incomplete.
    #[error("BMP {bmp:02X} at byte {at} is incomplete")]
    Short {
        /// The number of the BMP.
        bmp: u8,
        /// The offset of the BMP in bytes.
        at: usize,
    },
    /// The length contains a byte other than a digit `Fx`.
    #[error("the length of BMP {bmp:02X} at byte {at} is not in digits")]
    Length {
        /// The number of the BMP.
        bmp: u8,
        /// The offset of the BMP in bytes.
        at: usize,
    },
    /// The value contains digits A to F.
    #[error("BMP {bmp:02X} has a digit above 9")]
    Digits {
        /// The number of the BMP.
        bmp: u8,
    },
    /// The field occurs twice.
    #[error("BMP {bmp:02X} occurs twice")]
    Twice {
        /// The number of the BMP.
        bmp: u8,
    },
    /// The container cannot be read.
    #[error("BMP 06: {0}")]
    Tlv(#[from] tlv::TlvError),
}

/// Returns the human-readable name of a field.
#[must_use]
pub fn name(bmp: u8) -> Option<&'static str> {
    TABLE.iter().find(|(known, ..)| *known == bmp).map(|(_, _, name)| *name)
}

/// Returns the numbers of all known fields.
pub fn known() -> impl Iterator<Item = u8> {
    TABLE.iter().map(|(bmp, ..)| *bmp)
}

/// Returns whether the value of a field may be shown in a log.
#[must_use]
pub fn may_be_shown(bmp: u8) -> bool {
    !CARD.contains(&bmp) && bmp != PASSWORD
}

/// Iterates over the fields in order, until the end or the first unreadable byte.
pub fn walk(bytes: &[u8]) -> impl Iterator<Item = Result<(u8, &[u8]), BmpError>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (bmp, rest) = bytes.get(at..)?.split_first()?;
        let read = one(*bmp, rest, at);
        at = match &read {
            Ok((_, length)) => at + 1 + length,
            Err(_) => bytes.len(),
        };
        Some(read.map(|(value, _)| (*bmp, value)))
    })
}

fn length_of(bmp: u8) -> Option<Length> {
    TABLE.iter().find(|(known, ..)| *known == bmp).map(|(_, length, _)| *length)
}

fn one(bmp: u8, rest: &[u8], at: usize) -> Result<(&[u8], usize), BmpError> {
    let short = BmpError::Short { bmp, at };
    let (head, length) = match length_of(bmp).ok_or(BmpError::Unknown { bmp, at })? {
        Length::Fixed(length) => (0, length),
        Length::Digits(count) => {
            let digits = rest.get(..count).ok_or(short)?;
            let length = digits.iter().try_fold(0, |sum: usize, byte| {
                let digit = byte & 0x0F;
                (byte & 0xF0 == 0xF0 && digit < 10).then(|| sum * 10 + usize::from(digit))
            });
            (count, length.ok_or(BmpError::Length { bmp, at })?)
        }
        Length::Container => return tlv::container(rest).ok_or(short),
    };
    Ok((rest.get(head..head + length).ok_or(short)?, head + length))
}

/// The fields of an APDU. `Debug` shows only their numbers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Fields {
    list: Vec<(u8, Vec<u8>)>,
    /// Card data were present and have been dropped.
    had_card: bool,
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|(bmp, _)| format!("{bmp:02X}"))).finish()
    }
}

impl Fields {
    /// Reads the fields that a till sends, and drops card data.
    ///
    /// # Errors
    /// Returns the first [`BmpError`].
    pub fn read(bytes: &[u8]) -> Result<Self, BmpError> {
        let mut fields = Self::of_terminal(bytes)?;
        let before = fields.list.len();
        fields.list.retain(|(bmp, _)| !CARD.contains(bmp));
        fields.had_card = fields.list.len() < before;
        Ok(fields)
    }

    /// Reads the fields that a terminal sends. A card number is kept, because the terminal has masked it.
    ///
    /// # Errors
    /// Returns the first [`BmpError`].
    pub fn of_terminal(bytes: &[u8]) -> Result<Self, BmpError> {
        let mut fields = Self::default();
        for field in walk(bytes) {
            let (bmp, value) = field?;
            if fields.get(bmp).is_some() {
                return Err(BmpError::Twice { bmp });
            }
            if bmp == 0x06 {
                tlv::check(value)?;
            }
            fields.list.push((bmp, value.to_vec()));
        }
        Ok(fields)
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, bmp: u8) -> Option<&[u8]> {
        self.list.iter().find(|(known, _)| *known == bmp).map(|(_, value)| value.as_slice())
    }

    /// Returns the value of a field of one byte.
    #[must_use]
    pub fn byte(&self, bmp: u8) -> Option<u8> {
        self.get(bmp)?.first().copied()
    }

    /// Returns the digits of a field as a number.
    ///
    /// # Errors
    /// Returns [`BmpError::Digits`].
    pub fn number(&self, bmp: u8) -> Result<Option<u64>, BmpError> {
        self.get(bmp).map(|digits| number(digits).ok_or(BmpError::Digits { bmp })).transpose()
    }

    /// Returns the fields in their order.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.list.iter().map(|(bmp, value)| (*bmp, value.as_slice()))
    }

    /// Returns a data object of the container.
    #[must_use]
    pub fn tlv(&self, path: &[tlv::Tag]) -> Option<&[u8]> {
        tlv::find(self.get(0x06)?, path)
    }

    /// Returns whether card data were present.
    #[must_use]
    pub fn had_card(&self) -> bool {
        self.had_card
    }

    /// Returns whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Sets a field and replaces an earlier value.
    pub fn set(&mut self, bmp: u8, value: impl Into<Vec<u8>>) {
        self.list.retain(|(known, _)| *known != bmp);
        self.list.push((bmp, value.into()));
    }

    /// Sets a field to a number with as many digits as the field has. Omits a number with more digits, because a part
    /// of it would be a different number.
    pub fn set_number(&mut self, bmp: u8, value: u64) {
        if let Some(Length::Fixed(bytes)) = length_of(bmp)
            && number(&digits(value, bytes)) == Some(value)
        {
            self.set(bmp, digits(value, bytes));
        }
    }

    /// Removes a field and returns its value.
    pub fn take(&mut self, bmp: u8) -> Option<Vec<u8>> {
        let at = self.list.iter().position(|(known, _)| *known == bmp)?;
        Some(self.list.remove(at).1)
    }

    /// Appends a data object to the container.
    pub fn set_tlv(&mut self, tag: tlv::Tag, value: &[u8]) {
        let mut container = self.get(0x06).unwrap_or_default().to_vec();
        tlv::push(&mut container, tag, value);
        self.set(0x06, container);
    }

    /// Removes a field.
    pub fn remove(&mut self, bmp: u8) {
        self.list.retain(|(known, _)| *known != bmp);
    }

    /// Encodes the fields in the given order.
    #[must_use]
    pub fn write(&self, order: Order) -> Vec<u8> {
        let mut sorted: Vec<&(u8, Vec<u8>)> = self.list.iter().collect();
        let place = |bmp: u8| TABLE_ORDER.iter().position(|known| *known == bmp).unwrap_or(TABLE_ORDER.len() - 3);
        match order {
            Order::Table => sorted.sort_by_key(|(bmp, _)| place(*bmp)),
            Order::Ascending => sorted.sort_by_key(|(bmp, _)| (*bmp != 0x27, *bmp == 0x37, *bmp == 0x06, *bmp)),
        }
        let mut out = Vec::new();
        for (bmp, value) in sorted {
            push(&mut out, *bmp, value);
        }
        out
    }
}

/// Writes one field. Cuts a longer value to the field's length, and pads a shorter one with zero bytes.
pub fn push(out: &mut Vec<u8>, bmp: u8, value: &[u8]) {
    let Some(length) = length_of(bmp) else { return };
    out.push(bmp);
    match length {
        Length::Fixed(bytes) => out.extend(value.iter().copied().chain(std::iter::repeat(0)).take(bytes)),
        Length::Digits(count) => {
            let most = 10_usize.pow(u32::try_from(count).unwrap_or(0)) - 1;
            let value = &value[..value.len().min(most)];
            out.extend(format!("{:0count$}", value.len()).bytes().map(|digit| 0xF0 | digit & 0x0F));
            out.extend_from_slice(value);
        }
        Length::Container => {
            let value = &value[..value.len().min(usize::from(u16::MAX))];
            tlv::push_length(out, value.len());
            out.extend_from_slice(value);
        }
    }
}

/// Decodes a number with two digits per byte. Returns `None` if a digit is not 0 to 9, or if the number is too large.
#[must_use]
pub fn number(bcd: &[u8]) -> Option<u64> {
    bcd.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]).try_fold(0_u64, |sum, digit| {
        (digit < 10).then_some(())?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Encodes the last digits of a number in `bytes` bytes, two digits per byte.
#[must_use]
pub fn digits(mut value: u64, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    for byte in out.iter_mut().rev() {
        *byte = u8::try_from(((value % 100 / 10) << 4) | (value % 10)).unwrap_or(0);
        value /= 100;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bmps() -> impl Strategy<Value = u8> {
        let open = |bmp: &u8| *bmp != 6 && !CARD.contains(bmp);
        prop::sample::select(TABLE.iter().map(|row| row.0).filter(open).collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = Fields::read(&bytes);
            prop_assert!(walk(&bytes).count() <= bytes.len());
        }

        #[test]
        fn what_is_written_is_what_is_read(
            values in prop::collection::btree_map(bmps(), prop::collection::vec(any::<u8>(), 0..90), 0..8),
        ) {
            let mut fields = Fields::default();
            for (bmp, value) in &values {
                fields.set(*bmp, value.clone());
            }
            for order in [Order::Table, Order::Ascending] {
                let read = Fields::read(&fields.write(order)).unwrap();
                prop_assert_eq!(read.list.len(), values.len());
                // The first write pads fixed fields to their length. A second write changes nothing.
                prop_assert_eq!(Fields::read(&read.write(order)), Ok(read));
            }
        }

        #[test]
        fn numbers_are_what_they_were(value in 0..1_000_000_000_000_u64) {
            prop_assert_eq!(number(&digits(value, 6)), Some(value));
        }
    }

    #[test]
    fn fields_of_the_table_stand_in_its_order() {
        let mut fields = Fields::default();
        for bmp in [0x06, 0x88, 0xA0, 0x8B, 0x04, 0x27] {
            fields.set(bmp, []);
        }
        let in_order = |order| walk(&fields.write(order)).map(|field| field.unwrap().0).collect::<Vec<_>>();
        assert_eq!(in_order(Order::Table), [0x27, 0x04, 0xA0, 0x88, 0x8B, 0x06]);
        assert_eq!(in_order(Order::Ascending), [0x27, 0x04, 0x88, 0x8B, 0xA0, 0x06]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (bytes, error) in [
            (&[0x04, 0, 0][..], BmpError::Short { bmp: 4, at: 0 }),
            (&[0x27, 0, 0x99], BmpError::Unknown { bmp: 0x99, at: 2 }),
            (&[0x3C, 0xF0, 0xF0, 0x39], BmpError::Length { bmp: 0x3C, at: 0 }),
            (&[0x3C, 0xF0, 0xF0, 0xFA], BmpError::Length { bmp: 0x3C, at: 0 }),
            (&[0x27, 0, 0x27, 0], BmpError::Twice { bmp: 0x27 }),
            (&[0x06, 0x82, 0], BmpError::Short { bmp: 6, at: 0 }),
        ] {
            assert_eq!(Fields::read(bytes), Err(error));
        }
        let fields = Fields::read(&[0x04, 0, 0, 0, 0, 0x0A, 0]).unwrap();
        assert_eq!(fields.number(0x04), Err(BmpError::Digits { bmp: 4 }));
    }

    #[test]
    fn nothing_is_kept_of_a_card() {
        let mut bytes = Vec::new();
        push(&mut bytes, 0x22, &[0x41, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11]);
        push(&mut bytes, 0x0E, &[0x30, 0x12]);
        let fields = Fields::read(&bytes).unwrap();
        assert!(fields.had_card() && fields.is_empty(), "{fields:?}");
    }
}
