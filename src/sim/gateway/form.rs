//! Reading a request as strictly as the interface documents write it: percent-encoding, UTF-8, names and formats.
//!
//! Written from the documents and from nothing of the agent's: an agent that misreads the interface must fail here.
//! What is documented but has no place at the counter (customers, carts, …) is refused by name.

use std::fmt;

/// A request that is not as documented; answered with HTTP 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invalid {
    /// The parameter, or another part of the request.
    pub name: String,
    /// What is wrong with it. Never its value: it may be card data.
    pub why: String,
}

impl Invalid {
    pub(super) fn new(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self { name: name.into(), why: why.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}

/// The decoded parameters of a request, each name once, in their order.
#[derive(Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Decodes `application/x-www-form-urlencoded` and checks every name and format against `known`.
    pub(super) fn parse(encoded: &[u8], known: &[Parameter]) -> Result<Self, Invalid> {
        let mut form = Self::default();
        for pair in encoded.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            let cut = pair.iter().position(|byte| *byte == b'=');
            let cut = cut.ok_or_else(|| Invalid::new("body", "a pair without '='"))?;
            let name =
                decode(&pair[..cut]).map_err(|why| Invalid::new("body", format!("name of a parameter: {why}")))?;
            let value = decode(&pair[cut + 1..]).map_err(|why| Invalid::new(&name, why))?;
            if form.get(&name).is_some() {
                return Err(Invalid::new(name, "sent twice"));
            }
            check(&name, &value, known)?;
            form.0.push((name, value));
        }
        Ok(form)
    }

    /// The value of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter that must be there.
    pub(super) fn required(&self, name: &str) -> Result<&str, Invalid> {
        self.get(name).ok_or_else(|| Invalid::new(name, "required and not sent"))
    }

    /// The bytes of a parameter in hex, whose letters must be upper case.
    pub(super) fn hex(&self, name: &str) -> Result<Option<Vec<u8>>, Invalid> {
        let Some(value) = self.get(name) else { return Ok(None) };
        if value.bytes().any(|c| c.is_ascii_lowercase()) {
            return Err(Invalid::new(name, "hex digits A to F must be upper case"));
        }
        hex::decode(value).map(Some).map_err(|_| Invalid::new(name, "not an even number of hex digits"))
    }

    /// The names, in their order.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// All pairs.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// A parameter's name and its documented format.
pub(super) type Parameter = (&'static str, Format);

/// The formats of data-model.md, "Conventions" and the tables.
#[derive(Clone, Copy)]
pub(super) enum Format {
    /// 1 to 10 integer digits, a dot, exactly two decimals.
    Amount,
    /// `n` upper-case letters.
    Upper(usize),
    /// Digits, so many at most.
    Digits(usize),
    /// Letters and digits, from so many to so many.
    LettersAndDigits(usize, usize),
    /// Letters, digits and underscores, so many at most.
    Brand(usize),
    /// Free text without control characters, from so many to so many characters.
    Text(usize, usize),
    /// One of these.
    OneOf(&'static [&'static str]),
    /// 32 lower-case hex digits.
    EntityId,
    /// Signed decimal: so many integer digits at most, one to eight decimals.
    Coordinate(usize),
    /// A whole number from so many to so many, without leading zeros.
    Number(u32, u32),
    /// yyyy-MM-dd HH:mm:ss.
    DateTime,
    /// Items of a list, separated by commas.
    List,
}

/// What `POST /v1/payments` takes at the counter (data-model: Basic payment parameters, Authentication parameters, Point of sale).
pub(super) const PAYMENT: &[Parameter] = &[
    ("entityId", Format::EntityId),
    ("amount", Format::Amount),
    ("taxAmount", Format::Amount),
    ("discountAmount", Format::Amount),
    ("currency", Format::Upper(3)),
    ("paymentBrand", Format::Brand(32)),
    ("paymentType", Format::Upper(2)),
    ("descriptor", Format::Text(1, 127)),
    ("merchantTransactionId", Format::Text(8, 255)),
    ("merchantInvoiceId", Format::Text(8, 255)),
    ("merchantMemo", Format::Text(8, 255)),
    ("transactionCategory", Format::LettersAndDigits(1, 32)),
    ("locale", Format::Text(1, 10)),
    ("testMode", Format::OneOf(&["EXTERNAL", "INTERNAL"])),
    ("pos.deviceId", Format::Digits(32)),
    ("pos.deviceType", Format::Text(1, 32)),
    ("pos.encryptedPin.data", Format::LettersAndDigits(1, 2048)),
    ("pos.encryptedPin.ksn", Format::LettersAndDigits(1, 2048)),
    ("pos.encryptedSred.data", Format::LettersAndDigits(1, 2048)),
    ("pos.encryptedSred.ksn", Format::LettersAndDigits(1, 2048)),
    (
        "pos.entryMode",
        Format::OneOf(&["MANUAL", "MAGSTRIPE", "MAGSTRIPE_AS_FALLBACK", "ICC", "NFC_ICC", "NFC_MAGSTRIPE"]),
    ),
    ("pos.iccDataRequest", Format::LettersAndDigits(1, 2048)),
    ("pos.location.accuracy", Format::Digits(32)),
    ("pos.location.latitude", Format::Coordinate(2)),
    ("pos.location.longitude", Format::Coordinate(3)),
    ("pos.panSequenceNumber", Format::Digits(32)),
    ("pos.pinEntryCapability", Format::OneOf(&["PIN_ENTRY_AVAILABLE", "PIN_ENTRY_UNAVAILABLE"])),
    ("pos.terminalId", Format::Digits(32)),
    ("pos.transactionSequenceNumber", Format::Digits(32)),
    ("pos.transactionSource", Format::OneOf(&["POS"])),
];

/// What `POST /v1/payments/{id}` takes.
pub(super) const REFERENCING: &[Parameter] = &[
    ("entityId", Format::EntityId),
    ("amount", Format::Amount),
    ("currency", Format::Upper(3)),
    ("paymentType", Format::Upper(2)),
    ("merchantTransactionId", Format::Text(8, 255)),
    ("merchantInvoiceId", Format::Text(8, 255)),
    ("merchantMemo", Format::Text(8, 255)),
    ("descriptor", Format::Text(1, 127)),
    ("testMode", Format::OneOf(&["EXTERNAL", "INTERNAL"])),
    ("sequence", Format::OneOf(&["FINAL"])),
    ("pos.terminalId", Format::Digits(32)),
    ("pos.transactionSequenceNumber", Format::Digits(32)),
    ("pos.transactionSource", Format::OneOf(&["POS"])),
];

/// What the query takes (data-model: Query parameters).
pub(super) const QUERY: &[Parameter] = &[
    ("entityId", Format::EntityId),
    ("merchantTransactionId", Format::Text(1, 255)),
    ("limit", Format::Number(100, 500)),
    ("date.from", Format::DateTime),
    ("date.to", Format::DateTime),
    ("paymentTypes", Format::List),
    ("paymentMethods", Format::List),
    ("includeLinkedTransactions", Format::OneOf(&["true", "false"])),
    ("shortId", Format::LettersAndDigits(1, 14)),
];

/// What retrieval and the warm path take.
pub(super) const RETRIEVAL: &[Parameter] = &[("entityId", Format::EntityId)];

fn check(name: &str, value: &str, known: &[Parameter]) -> Result<(), Invalid> {
    if let Some(custom) = name.strip_prefix("customParameters[").and_then(|rest| rest.strip_suffix(']')) {
        let named = (3..=64).contains(&custom.len())
            && custom.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'.' || c == b'_');
        let fits = named && value.chars().count() <= 2048;
        return if fits { Ok(()) } else { Err(Invalid::new(name, "not a custom parameter as documented")) };
    }
    let Some((_, format)) = known.iter().find(|(known, _)| *known == name) else {
        let shown: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
        return Err(Invalid::new(shown, "not a parameter of this request"));
    };
    format.check(value).map_err(|why| Invalid::new(name, why))
}

impl Format {
    fn check(self, value: &str) -> Result<(), String> {
        let count = value.chars().count();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        let (fits, expected) = match self {
            Self::Amount => (is_amount(value), "1 to 10 digits, a dot and two decimals".to_owned()),
            Self::Upper(n) => {
                (count == n && value.bytes().all(|c| c.is_ascii_uppercase()), format!("{n} upper-case letters"))
            }
            Self::Digits(max) => (digits(value) && count <= max, format!("1 to {max} digits")),
            Self::LettersAndDigits(min, max) => (
                (min..=max).contains(&count) && value.bytes().all(|c| c.is_ascii_alphanumeric()),
                format!("{min} to {max} letters and digits"),
            ),
            Self::Brand(max) => (
                (1..=max).contains(&count) && value.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_'),
                format!("1 to {max} letters, digits and underscores"),
            ),
            Self::Text(min, max) => (
                (min..=max).contains(&count) && !value.chars().any(char::is_control),
                format!("{min} to {max} characters without control characters"),
            ),
            Self::OneOf(values) => (values.contains(&value), format!("one of {}", values.join(", "))),
            Self::EntityId => (
                count == 32 && value.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')),
                "32 lower-case hex digits".to_owned(),
            ),
            Self::Coordinate(integer) => (
                is_coordinate(value, integer),
                format!("a signed decimal, at most {integer} digits before the dot, 1 to 8 after"),
            ),
            Self::Number(min, max) => (
                digits(value) && !value.starts_with('0') && value.parse().is_ok_and(|n| (min..=max).contains(&n)),
                format!("a number from {min} to {max}"),
            ),
            Self::DateTime => (
                chrono::NaiveDateTime::parse_from_str(value, "%Y-%m-%d %H:%M:%S").is_ok() && count == 19,
                "yyyy-MM-dd HH:mm:ss".to_owned(),
            ),
            Self::List => (
                value.split(',').all(|item| item.len() == 2 && item.bytes().all(|c| c.is_ascii_alphanumeric())),
                "two-character codes, separated by commas".to_owned(),
            ),
        };
        if fits { Ok(()) } else { Err(format!("must be {expected}")) }
    }
}

fn is_amount(value: &str) -> bool {
    value.split_once('.').is_some_and(|(integer, decimals)| {
        let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        (1..=10).contains(&integer.len()) && decimals.len() == 2 && digits(integer) && digits(decimals)
    })
}

fn is_coordinate(value: &str, max_integer: usize) -> bool {
    let unsigned = value.strip_prefix(['+', '-']).unwrap_or(value);
    unsigned.split_once('.').is_some_and(|(integer, decimals)| {
        let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        (1..=max_integer).contains(&integer.len())
            && (1..=8).contains(&decimals.len())
            && digits(integer)
            && digits(decimals)
    })
}

/// Undoes the encoding of names and values: `+` is a space, `%` and two hex digits a byte, the whole UTF-8.
fn decode(encoded: &[u8]) -> Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let [first, tail @ ..] = rest {
        rest = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let nibble = |c: &u8| char::from(*c).to_digit(16).and_then(|n| u8::try_from(n).ok());
                let (high, low) = nibble(high).zip(nibble(low)).ok_or("'%' without two hex digits")?;
                bytes.push(high << 4 | low);
                tail
            }
            (b'%', _) => return Err("'%' without two hex digits"),
            (b'+', tail) => {
                bytes.push(b' ');
                tail
            }
            // Everything else that is not plain ASCII text would have to be encoded.
            (0x21..=0x7E, tail) => {
                bytes.push(*first);
                tail
            }
            _ => return Err("a byte that has to be percent-encoded"),
        };
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(body: &str) -> String {
        match Form::parse(body.as_bytes(), PAYMENT) {
            Ok(_) => panic!("{body} was taken"),
            Err(invalid) => invalid.to_string(),
        }
    }

    #[test]
    fn decodes_percent_plus_and_utf8() {
        let form = Form::parse("descriptor=Caf%C3%A9+%26+co&amount=12.34".as_bytes(), PAYMENT).unwrap();
        assert_eq!(form.get("descriptor"), Some("Café & co"));
        assert_eq!(form.names(), ["descriptor", "amount"]);
    }

    #[test]
    fn names_what_is_wrong_and_never_repeats_the_value() {
        for (body, says) in [
            ("amount=12.3", "amount: must be 1 to 10 digits, a dot and two decimals"),
            ("amount=12,34", "amount: must be"),
            ("amount=12345678901.00", "amount: must be"),
            ("amount=-1.00", "amount: must be"),
            ("currency=eur", "currency: must be 3 upper-case letters"),
            ("entityId=8AC7A4C9000000000000000000000000", "entityId: must be 32 lower-case hex digits"),
            ("merchantTransactionId=short", "merchantTransactionId: must be 8 to 255"),
            ("pos.terminalId=T1", "pos.terminalId: must be 1 to 32 digits"),
            ("pos.entryMode=CHIP", "pos.entryMode: must be one of MANUAL"),
            ("pos.location.latitude=100.1", "pos.location.latitude: must be a signed decimal"),
            ("pos.iccDataRequest=9F26-", "pos.iccDataRequest: must be 1 to 2048 letters and digits"),
            ("pos.pin=1234", "pos.pin: not a parameter of this request"),
            ("amount=1.00&amount=2.00", "amount: sent twice"),
            ("amount", "body: a pair without '='"),
            ("descriptor=%C3%28", "descriptor: not UTF-8"),
            ("descriptor=%4", "descriptor: '%' without two hex digits"),
            ("descriptor=a b", "descriptor: a byte that has to be percent-encoded"),
            ("descriptor=a%0Ab", "descriptor: must be 1 to 127 characters without control"),
        ] {
            let said = wrong(body);
            assert!(said.starts_with(says), "{body}: {said}");
        }
    }

    #[test]
    fn hex_is_upper_case_and_whole_bytes() {
        let form =
            Form::parse(b"pos.iccDataRequest=9F02&pos.encryptedSred.data=9f02&pos.encryptedSred.ksn=9F0", PAYMENT)
                .unwrap();
        assert_eq!(form.hex("pos.iccDataRequest").unwrap().unwrap(), [0x9F, 0x02]);
        assert!(form.hex("pos.encryptedSred.data").is_err());
        assert!(form.hex("pos.encryptedSred.ksn").is_err());
        assert_eq!(form.hex("pos.encryptedPin.data").unwrap(), None);
    }

    #[test]
    fn coordinates_and_limits() {
        for right in ["-33.1", "+51.50735090", "0.00000001"] {
            assert!(is_coordinate(right, 2), "{right}");
        }
        for wrong in ["51", "51.", ".5", "151.5", "1.123456789", "--1.0"] {
            assert!(!is_coordinate(wrong, 2), "{wrong}");
        }
        assert!(Form::parse(b"limit=99", QUERY).is_err());
        assert!(Form::parse(b"limit=100&date.from=2026-01-01+00:00:00", QUERY).is_ok());
    }
}
