//! A search for secrets in any written form.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};

/// A secret that must not be found.
#[derive(Clone)]
pub(crate) struct Secret {
    pub(crate) what: &'static str,
    bytes: Vec<u8>,
    /// The bytes in the same form as [`Kept`]'s text.
    plain: String,
    /// [`Self::plain`] again, encoded as UTF-8.
    spelled: String,
    hex: String,
    /// The digits of a secret that consists of digits. They are searched unchanged, even among other digits.
    digits: Option<String>,
    base64: Vec<String>,
}

impl Secret {
    pub(crate) fn text(what: &'static str, text: &str) -> Self {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.to_owned());
        Self { digits, ..Self::bytes(what, text.as_bytes()) }
    }

    pub(crate) fn bytes(what: &'static str, bytes: &[u8]) -> Self {
        assert!(bytes.len() >= 6, "{what}: so few bytes are found by chance");
        // The Base64 form depends on the secret's offset in the encoded bytes. Characters that also depend on
        // neighbouring bytes are left out.
        let base64 = (0..3).map(|before| {
            let shifted = [&[0; 2][..before], bytes].concat();
            let text = STANDARD_NO_PAD.encode(&shifted);
            let first = (before * 8).div_ceil(6);
            let whole = shifted.len() * 8 / 6;
            text[first..whole].to_owned()
        });
        Self {
            what,
            plain: latin(bytes),
            spelled: latin(latin(bytes).as_bytes()),
            hex: hex::encode(bytes),
            digits: None,
            base64: base64.collect(),
            bytes: bytes.to_vec(),
        }
    }
}

/// A written text in the forms that are searched.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) name: String,
    plain: String,
    /// The text with `%3B` and similar decoded.
    decoded: String,
    /// Only the hexadecimal digits, in lower case, without the characters between them.
    hex: String,
    /// The text without blanks and line ends, with the characters of the first Base64 alphabet.
    base64: String,
    /// The bytes that lists of numbers represent.
    listed: Vec<u8>,
}

/// The place where a secret was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) how: &'static str,
    pub(crate) around: String,
}

impl Kept {
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Self {
        let plain = latin(bytes);
        // JSON can write a byte as an escaped character.
        let unescaped = plain.replace("\\u00", "").replace("0x", "").replace("0X", "");
        let hex = unescaped.chars().filter(char::is_ascii_hexdigit).map(|c| c.to_ascii_lowercase()).collect();
        let letter = |c: char| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        };
        let base64 = plain.chars().filter(|c| !c.is_whitespace()).map(letter).collect();
        Self { name: name.to_owned(), decoded: decoded(&plain), hex, base64, listed: listed(&plain), plain }
    }

    /// Returns the place of the secret in this text.
    pub(crate) fn shows(&self, secret: &Secret) -> Option<Found> {
        let digits = secret.digits.as_deref();
        let texts = [
            ("as it is", &self.plain, Some(secret.plain.as_str())),
            ("as characters", &self.plain, Some(secret.spelled.as_str())),
            ("URL-encoded", &self.decoded, Some(secret.plain.as_str())),
            ("in hex", &self.hex, Some(secret.hex.as_str())),
            ("as digits", &self.hex, digits),
        ];
        let base64 = secret.base64.iter().map(|needle| ("in base64", &self.base64, Some(needle.as_str())));
        let in_text = texts.into_iter().chain(base64).find_map(|(how, text, needle)| {
            let at = text.find(needle?)?;
            Some(Found { how, around: around(text, at) })
        });
        let in_list = || {
            let at = self.listed.windows(secret.bytes.len()).position(|window| window == secret.bytes)?;
            Some(Found { how: "as a list of numbers", around: format!("number {at} of all lists") })
        };
        in_text.or_else(in_list)
    }
}

/// Turns each byte into the character with that number, so that any data can be searched as text.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn around(text: &str, at: usize) -> String {
    let from = text[..at].char_indices().rev().nth(80).map_or(0, |(from, _)| from);
    text[from..].chars().take(200).collect()
}

fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let byte = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(byte.map_or('%', char::from));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    out + rest
}

/// Returns the bytes of lists such as `[52, 55, 54]`, one list after another. This includes every number that could be
/// a byte, with any characters between numbers.
fn listed(text: &str) -> Vec<u8> {
    text.split(|c: char| !c.is_alphanumeric()).filter_map(|word| word.parse().ok()).collect()
}

/// Returns the ways in which bytes can be written in a text.
pub(crate) fn writings(bytes: &[u8]) -> Vec<String> {
    let each = |form: fn(&u8) -> String, between: &str| bytes.iter().map(form).collect::<Vec<_>>().join(between);
    let inside = |before: &[u8]| STANDARD.encode([before, bytes, b"after"].concat());
    vec![
        hex::encode(bytes),
        hex::encode_upper(bytes),
        each(|byte| format!("{byte:02x}"), " "),
        each(|byte| format!("{byte:02X}"), ":"),
        each(|byte| format!("0x{byte:02X}"), ", "),
        each(|byte| format!("\\x{byte:02x}"), ""),
        each(|byte| format!("\\u00{byte:02x}"), ""),
        each(|byte| format!("%{byte:02X}"), ""),
        format!("{bytes:?}"),
        format!("{bytes:#?}"),
        format!("{:?}", bytes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")).replace('"', ""),
        inside(b""),
        inside(b"b"),
        inside(b"be"),
        URL_SAFE.encode(bytes),
        latin(bytes),
    ]
}

/// Returns the ways in which people and programs can write a card number.
pub(crate) fn groupings(pan: &str) -> Vec<String> {
    let groups = |size: usize, between: &str| {
        let groups: Vec<_> = pan.as_bytes().chunks(size).map(|group| std::str::from_utf8(group).unwrap()).collect();
        groups.join(between)
    };
    vec![
        pan.to_owned(),
        groups(4, " "),
        groups(4, "-"),
        groups(4, "."),
        groups(1, " "),
        groups(1, ", "),
        groups(2, ":"),
    ]
}
