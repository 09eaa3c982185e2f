//! The fields of an APDU: BMPs, each with the length that its number says (ZVT PA00P015, chapter 3 and its list of
//! BMPs), and the digits in them.
//!
//! Card data that a till sends (tracks, card number, expiry, check value) are recognised, and not kept: that they were
//! there is all that is left of them.

use std::fmt;

use super::tlv;

/// How long a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// So many bytes.
    Fixed(usize),
    /// So many digits of length before it, each in a byte `Fx`.
    Digits(usize),
    /// A length as TLVs have it.
    Container,
}

/// Every field that is known, with its name for people.
#[rustfmt::skip]
const TABLE: &[(u8, Length, &str)] = &[
    (0x01, Length::Fixed(1),  "timeout"),           (0x02, Length::Fixed(1),  "status informations at most"),
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

/// Tracks, card number, expiry and check value: of a card that a person or a till's own reader has read.
const CARD: [u8; 6] = [0x0E, 0x22, 0x23, 0x24, 0x2D, 0x3A];
/// BMP 06: a container of TLVs.
pub const CONTAINER: u8 = 0x06;
/// A till's password.
const PASSWORD: u8 = 0x3D;

/// The order of the specification's table for `04 0F`, which old tills rely on; but for 37, where some of them stop
/// reading: it comes last.
const TABLE_ORDER: [u8; 27] = [
    0x27, 0x04, 0x0B, 0x0C, 0x0D, 0x0E, 0x17, 0x19, 0x22, 0x29, 0x3B, 0x49, 0x4C, 0x87, 0x8A, 0x8C, 0x9A, 0xBA, 0x2A,
    0x3C, 0x60, 0xAA, 0xA0, 0x88, 0x8B, 0x06, 0x37,
];

/// The order in which fields are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// That of the specification's table.
    #[default]
    Table,
    /// The result first, then by their numbers, and the container last, as many terminals do.
    Ascending,
}

/// Why bytes are no fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BmpError {
    /// No length is known for it, so that nothing behind it can be read.
    #[error("BMP {bmp:02X} at byte {at} is unknown")]
    Unknown {
        /// Its number.
        bmp: u8,
        /// Where it stands.
        at: usize,
    },
    /// It is not whole.
    #[error("BMP {bmp:02X} at byte {at} is not whole")]
    Short {
        /// Its number.
        bmp: u8,
        /// Where it stands.
        at: usize,
    },
    /// Its length is not in digits `Fx`.
    #[error("the length of BMP {bmp:02X} at byte {at} is not in digits")]
    Length {
        /// Its number.
        bmp: u8,
        /// Where it stands.
        at: usize,
    },
    /// It has digits A to F.
    #[error("BMP {bmp:02X} has other digits than 0 to 9")]
    Digits {
        /// Its number.
        bmp: u8,
    },
    /// It stands there twice.
    #[error("BMP {bmp:02X} stands there twice")]
    Twice {
        /// Its number.
        bmp: u8,
    },
    /// The container cannot be read.
    #[error("BMP 06: {0}")]
    Tlv(#[from] tlv::TlvError),
}

/// The name of a field for people.
#[must_use]
pub fn name(bmp: u8) -> Option<&'static str> {
    TABLE.iter().find(|(known, ..)| *known == bmp).map(|(_, _, name)| *name)
}

/// The number of every field that is known.
pub fn known() -> impl Iterator<Item = u8> {
    TABLE.iter().map(|(bmp, ..)| *bmp)
}

/// Whether its value may be shown in a log.
#[must_use]
pub fn may_be_shown(bmp: u8) -> bool {
    !CARD.contains(&bmp) && bmp != PASSWORD
}

/// The fields of some bytes in their order, until the end or what cannot be read.
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

/// The fields of an APDU. `Debug` shows which are there, and no value.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Fields {
    list: Vec<(u8, Vec<u8>)>,
    /// A card's data stood there too.
    had_card: bool,
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|(bmp, _)| format!("{bmp:02X}"))).finish()
    }
}

impl Fields {
    /// Reads what a till sends; a card's data are left out.
    ///
    /// # Errors
    /// [`BmpError`], the first one.
    pub fn read(bytes: &[u8]) -> Result<Self, BmpError> {
        let mut fields = Self::of_terminal(bytes)?;
        let before = fields.list.len();
        fields.list.retain(|(bmp, _)| !CARD.contains(bmp));
        fields.had_card = fields.list.len() < before;
        Ok(fields)
    }

    /// Reads what a terminal sends: there a card's number is masked, and kept.
    ///
    /// # Errors
    /// [`BmpError`], the first one.
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

    /// The value of a field.
    #[must_use]
    pub fn get(&self, bmp: u8) -> Option<&[u8]> {
        self.list.iter().find(|(known, _)| *known == bmp).map(|(_, value)| value.as_slice())
    }

    /// A field of one byte.
    #[must_use]
    pub fn byte(&self, bmp: u8) -> Option<u8> {
        self.get(bmp)?.first().copied()
    }

    /// A field of digits as a number.
    ///
    /// # Errors
    /// [`BmpError::Digits`].
    pub fn number(&self, bmp: u8) -> Result<Option<u64>, BmpError> {
        self.get(bmp).map(|digits| number(digits).ok_or(BmpError::Digits { bmp })).transpose()
    }

    /// The fields in their order.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.list.iter().map(|(bmp, value)| (*bmp, value.as_slice()))
    }

    /// A data object of the container.
    #[must_use]
    pub fn tlv(&self, path: &[tlv::Tag]) -> Option<&[u8]> {
        tlv::find(self.get(0x06)?, path)
    }

    /// Whether a card's data stood there too.
    #[must_use]
    pub fn had_card(&self) -> bool {
        self.had_card
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Puts a field in, in the place of the one before.
    pub fn set(&mut self, bmp: u8, value: impl Into<Vec<u8>>) {
        self.list.retain(|(known, _)| *known != bmp);
        self.list.push((bmp, value.into()));
    }

    /// The same, of a number with as many digits as the field has. One that has more is left out: a part of it would be
    /// another number.
    pub fn set_number(&mut self, bmp: u8, value: u64) {
        if let Some(Length::Fixed(bytes)) = length_of(bmp)
            && number(&digits(value, bytes)) == Some(value)
        {
            self.set(bmp, digits(value, bytes));
        }
    }

    /// Takes a field out.
    pub fn take(&mut self, bmp: u8) -> Option<Vec<u8>> {
        let at = self.list.iter().position(|(known, _)| *known == bmp)?;
        Some(self.list.remove(at).1)
    }

    /// The same, of a data object of the container, behind those that are there.
    pub fn set_tlv(&mut self, tag: tlv::Tag, value: &[u8]) {
        let mut container = self.get(0x06).unwrap_or_default().to_vec();
        tlv::push(&mut container, tag, value);
        self.set(0x06, container);
    }

    /// Takes a field out.
    pub fn remove(&mut self, bmp: u8) {
        self.list.retain(|(known, _)| *known != bmp);
    }

    /// As they go over a line.
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

/// Writes one field; a value that is longer than its field is cut off, and a shorter one ends with zero bytes.
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

/// Digits, two in each byte, as a number; `None` for other digits than 0 to 9, or more than fit.
#[must_use]
pub fn number(bcd: &[u8]) -> Option<u64> {
    bcd.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]).try_fold(0_u64, |sum, digit| {
        (digit < 10).then_some(())?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// The last digits of a number, two in each of so many bytes.
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
                // Fixed fields have their own length now; once more it is the same.
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
