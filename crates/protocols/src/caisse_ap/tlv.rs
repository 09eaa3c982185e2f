//! The fields of a message.

use std::fmt;

use super::request::RequestFault;

/// Maximum length of a message in bytes, in both directions. The till reads its answer with one `recv(1024)`.
pub const MOST_BYTES: usize = 1024;

/// Length of the tag, and of the tag with the length field.
const TAG: usize = 2;
const HEAD: usize = 5;

/// A tag: two capital letters or digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag(pub [u8; 2]);

impl Tag {
    /// Transaction result: 10 done, 01 not done.
    pub const RESULT: Self = Self(*b"AE");
    /// The reason why it was not done.
    pub const FAILURE: Self = Self(*b"AF");
    /// The masked card number.
    pub const CARD: Self = Self(*b"AA");
    /// The approval code.
    pub const APPROVAL: Self = Self(*b"AC");
    /// The application identifier.
    pub const APPLICATION_ID: Self = Self(*b"AI");
    /// Whether the till accepts a partial approval. Older tills send it.
    pub const PARTIAL: Self = Self(*b"BF");
    /// The number of the till's counter.
    pub const COUNTER: Self = Self(*b"CA");
    /// The amount in minor units.
    pub const AMOUNT: Self = Self(*b"CB");
    /// The means of payment.
    pub const MEANS: Self = Self(*b"CC");
    /// The action: 0 debit, 1 credit.
    pub const ACTION: Self = Self(*b"CD");
    /// The number of the currency.
    pub const CURRENCY: Self = Self(*b"CE");
    /// How the card was read.
    pub const ENTRY: Self = Self(*b"CI");
    /// The identifier of the Concert protocol, always the same.
    pub const PROTOCOL: Self = Self(*b"CJ");
    /// The version of the protocol.
    pub const VERSION: Self = Self(*b"CZ");
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{}", char::from(*byte)))
    }
}

/// The fields of a message, and where they end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan<'a> {
    /// The whole fields, in order. No tag occurs twice.
    pub fields: Vec<(Tag, &'a str)>,
    /// The bytes after the last whole field.
    pub rest: &'a [u8],
}

impl Scan<'_> {
    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, tag: Tag) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == tag).map(|(_, value)| *value)
    }
}

/// Reads the fields up to a line end, an incomplete field or the end of the bytes. A field that can never become a good
/// one is a fault, even if bytes of it are missing.
pub fn scan(bytes: &[u8]) -> Result<Scan<'_>, RequestFault> {
    if bytes.len() > MOST_BYTES {
        return Err(RequestFault::TooLong);
    }
    let mut scan = Scan { fields: Vec::new(), rest: bytes };
    loop {
        let tag = scan.rest.get(..TAG.min(scan.rest.len())).unwrap_or_default();
        if tag.is_empty() || matches!(tag, [b'\r' | b'\n', ..]) {
            return Ok(scan);
        }
        if !tag.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) {
            return Err(RequestFault::Tag);
        }
        let Ok(tag) = <[u8; TAG]>::try_from(tag).map(Tag) else { return Ok(scan) };
        if scan.get(tag).is_some() {
            return Err(RequestFault::Twice(tag));
        }
        let digits = scan.rest.get(TAG..HEAD.min(scan.rest.len())).unwrap_or_default();
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(RequestFault::Length(tag));
        }
        if digits.len() < HEAD - TAG {
            return Ok(scan);
        }
        let length = digits.iter().fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
        let end = HEAD + length;
        if length == 0 || bytes.len() - scan.rest.len() + end > MOST_BYTES {
            return Err(RequestFault::Length(tag));
        }
        let value = scan.rest.get(HEAD..end.min(scan.rest.len())).unwrap_or_default();
        let is_text = value.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let Some(text) = std::str::from_utf8(value).ok().filter(|_| is_text) else {
            return Err(RequestFault::Value(tag));
        };
        if value.len() < length {
            return Ok(scan);
        }
        scan.fields.push((tag, text));
        scan.rest = scan.rest.get(end..).unwrap_or_default();
    }
}

/// Appends a field. A value that is empty, too long or not printable is left out.
pub(super) fn push(message: &mut Vec<u8>, tag: Tag, value: &str) {
    let is_good = (1..=999).contains(&value.len()) && value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_good {
        message.extend_from_slice(&tag.0);
        message.extend_from_slice(format!("{:03}", value.len()).as_bytes());
        message.extend_from_slice(value.as_bytes());
    }
}
