//! Texts of the form `key=value&…`: `AdditionalResponse`, `EventDetails`, the lines of Adyen's receipts, and a till's
//! data for the acquirer.
//!
//! A space is written as `%20`, but reading also accepts `+`. Some tills decode these texts as forms and others as
//! addresses, and only the first kind reads `+` as a space. Hexadecimal digits are lower case, as Adyen's terminals
//! write them.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

use super::envelope::Fields;

/// Maximum number of pairs that are read from one text.
const MOST_PAIRS: usize = 500;
/// Maximum depth of nested objects. Adyen's libraries send three levels.
const DEEPEST: usize = 8;

/// Writes pairs.
#[must_use]
pub fn write<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::new();
    for (key, value) in pairs {
        if !out.is_empty() {
            out.push('&');
        }
        escape(&mut out, key);
        out.push('=');
        escape(&mut out, value);
    }
    out
}

fn escape(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(byte.into());
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "%{byte:02x}");
        }
    }
}

/// Reads pairs in order. A key without `=` has an empty value. A `%` without two digits is read literally. Bytes that
/// are not UTF-8 are replaced.
#[must_use]
pub fn read(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty()).take(MOST_PAIRS);
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(k, v)| (unescape(k), unescape(v))).collect()
}

fn unescape(text: &str) -> String {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let digits =
            behind.get(..2).filter(|_| *first == b'%').and_then(|two| Some(digit(two[0])? << 4 | digit(two[1])?));
        match (first, digits) {
            (_, Some(byte)) => out.push(byte),
            (b'+', _) => out.push(b' '),
            _ => out.push(*first),
        }
        rest = behind.get(if digits.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn digit(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// `SaleToAcquirerData`: the till's data for the acquirer, as pairs, as a JSON object, or as a JSON object in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SaleToAcquirerData(String);

impl SaleToAcquirerData {
    /// Returns each key with its value. A nested key has a path such as `metadata.order`. Returns `None` if the data
    /// have none of these forms, have too many entries, or contain a key twice.
    #[must_use]
    pub fn entries(&self) -> Option<Vec<(String, String)>> {
        let mut entries = Vec::new();
        match self.object() {
            Some(object) => flatten(&mut entries, "", &object)?,
            None if self.0.trim_start().starts_with('{') || self.0.matches('&').count() >= MOST_PAIRS => return None,
            None => entries = read(&self.0),
        }
        let mut names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let twice = names.windows(2).any(|pair| pair[0] == pair[1]);
        (!twice && entries.len() <= MOST_PAIRS).then_some(entries)
    }

    /// Returns the data as the text of a JSON object, if they contain one.
    fn object(&self) -> Option<String> {
        if self.0.trim_start().starts_with('{') {
            return Some(self.0.clone());
        }
        let decoded = STANDARD.decode(self.0.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        decoded.filter(|text| text.trim_start().starts_with('{'))
    }

    /// Returns the value of this key: a text, or a number, `true` or `false` as a text. Nested values are not found
    /// under their key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<String> {
        let object = self.object();
        let Some(object) = object else {
            return read(&self.0).into_iter().find(|(name, _)| name == key).map(|(_, value)| value);
        };
        let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&object).ok()?;
        match fields.get(key)? {
            serde_json::Value::String(text) => Some(text.clone()),
            value @ (serde_json::Value::Bool(_) | serde_json::Value::Number(_)) => Some(value.to_string()),
            _ => None,
        }
    }
}

/// Collects the values of an object under the path of the object. A `null` counts as absent.
fn flatten(into: &mut Vec<(String, String)>, above: &str, object: &str) -> Option<()> {
    for (name, value) in Fields::read("", object).ok()?.iter() {
        let name = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        match value.as_bytes().first() {
            Some(b'{') => flatten(into, &name, value)?,
            Some(b'"') => into.push((name, serde_json::from_str(value).ok()?)),
            _ if value == "null" => {}
            _ => into.push((name, value.to_owned())),
        }
        if into.len() > MOST_PAIRS || above.matches('.').count() > DEEPEST {
            return None;
        }
    }
    Some(())
}

impl<'de> Deserialize<'de> for SaleToAcquirerData {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(from)?;
        match raw.get().as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw.get()).map(Self).map_err(de::Error::custom),
            Some(b'{') => Ok(Self(raw.get().to_owned())),
            _ => Err(de::Error::custom("must be a text or an object")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pairs_are_written_as_terminals_write_them() {
        assert_eq!(
            write([("name", "TOTAL"), ("value", "€\u{a0}1.00"), ("key", "totalAmount")]),
            "name=TOTAL&value=%e2%82%ac%c2%a01.00&key=totalAmount"
        );
        assert_eq!(write([("message", "Did not: a&b=c+d/e")]), "message=Did%20not%3a%20a%26b%3dc%2bd%2fe");
        assert_eq!(write([]), "");
    }

    #[test]
    fn pairs_of_others_are_read() {
        let read =
            |text: &str| read(text).into_iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>();
        assert_eq!(
            read("message=Did+not+receive+a+response+from+the+POI."),
            ["message: Did not receive a response from the POI."]
        );
        assert_eq!(read("a=%E2%82%AC&&b&c=1=2&d=100%&e=%zz%4"), ["a: €", "b: ", "c: 1=2", "d: 100%", "e: %zz%4"]);
        assert_eq!(read("a=%ff"), ["a: \u{FFFD}"]);
        assert!(read("").is_empty());
        assert_eq!(read(&"a&".repeat(1000)).len(), MOST_PAIRS);
    }

    #[test]
    fn what_is_for_the_acquirer_comes_in_three_forms() {
        let object = r#"{"tenderOption":"AskGratuity","currency":"EUR","n":1,"metadata":{"a":"b"}}"#;
        for json in [
            serde_json::to_string("tenderOption=AskGratuity&currency=EUR&n=1").unwrap(),
            serde_json::to_string(&STANDARD.encode(object)).unwrap(),
            object.to_owned(),
        ] {
            let data: SaleToAcquirerData = serde_json::from_str(&json).unwrap();
            assert_eq!(data.get("tenderOption").as_deref(), Some("AskGratuity"), "{json}");
            assert_eq!((data.get("currency").as_deref(), data.get("n").as_deref()), (Some("EUR"), Some("1")), "{json}");
            assert_eq!((data.get("metadata"), data.get("x")), (None, None));
            let again: SaleToAcquirerData = serde_json::from_str(&serde_json::to_string(&data).unwrap()).unwrap();
            assert_eq!(again, data);
        }
        assert!(serde_json::from_str::<SaleToAcquirerData>("[1]").is_err());
    }

    proptest! {
        #[test]
        fn pairs_come_back(pairs in prop::collection::vec(("\\PC{1,8}", "\\PC{0,8}"), 0..8)) {
            let text = write(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())));
            prop_assert_eq!(read(&text), pairs);
        }

        #[test]
        fn any_text_is_read(text in "\\PC*|[%+&=a-f0-9]*") {
            let _ = (read(&text), SaleToAcquirerData(text).get("a"));
        }
    }
}
