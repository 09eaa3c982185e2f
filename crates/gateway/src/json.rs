//! Parses JSON without converting any amount to a binary fraction. An `amount` that is a number becomes the same text
//! as an `amount` in a string, digit by digit, or stays unreadable. The name on a card (`card.holder`) is wiped as it
//! is read.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};
use zeroize::Zeroize;

/// The only field whose digits must stay exact.
const AMOUNT: &str = "amount";
/// The only group that contains a person's name.
const CARD: &str = "card";
const HOLDER: &str = "holder";

/// Parses the whole of `body` as one JSON value with nothing after it.
pub(super) fn read(body: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Exact>(body).ok().map(|exact| exact.0)
}

struct Exact(Value);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, yes: bool) -> Result<Value, E> {
        Ok(Value::Bool(yes))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Exact(value)) = sequence.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = if name == AMOUNT {
                amount(&members.next_value::<Box<RawValue>>()?)
            } else {
                let mut value = members.next_value::<Exact>()?.0;
                if name == CARD {
                    without_holder(&mut value);
                }
                value
            };
            // A field that occurs twice with different values has no meaning: neither value can be preferred.
            if object.get(&name).is_some_and(|before| *before != value) {
                return Err(serde::de::Error::custom("a field twice with different values"));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

/// Wipes the name on a card as soon as it is read, because the agent does not need it.
fn without_holder(card: &mut Value) {
    if let Some(mut holder) = card.as_object_mut().and_then(|fields| fields.remove(HOLDER)) {
        wipe(&mut holder);
    }
}

fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(values) => values.iter_mut().for_each(wipe),
        Value::Object(fields) => fields.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns an amount as text. A string or null stays unchanged. A number with at most two decimals is written with two.
/// Of any other value, only its presence is kept, because it cannot be an amount.
fn amount(raw: &RawValue) -> Value {
    let text = raw.get();
    if text == "null" {
        return Value::Null;
    }
    let written = serde_json::from_str::<String>(text).ok().or_else(|| two_decimals(text));
    written.map_or_else(|| Value::Object(Map::new()), Value::String)
}

/// Writes `12` as `12.00` and `12.3` as `12.30`; returns `None` for a sign, an exponent, or a third decimal.
fn two_decimals(number: &str) -> Option<String> {
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = !integer.is_empty() && digits(integer) && digits(fraction) && fraction.len() <= 2;
    fits.then(|| format!("{integer}.{fraction:0<2}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_name_on_a_card_is_not_kept() {
        for holder in [r#""Jane Doe""#, r#""J\u0061ne Doe""#, r#"["Jane Doe"]"#, r#"{"x":"Jane Doe"}"#, "null"] {
            for body in [
                format!(r#"{{"card":{{"bin":"476173","holder":{holder}}}}}"#),
                format!(r#"{{"payments":[{{"card":{{"holder":{holder},"bin":"476173"}}}}]}}"#),
            ] {
                let found = read(body.as_bytes()).unwrap();
                let shown = format!("{found:?}");
                assert!(!shown.contains("Doe") && !shown.contains("holder") && shown.contains("476173"), "{shown}");
            }
        }
        let mut name = Value::from("Jane Doe");
        wipe(&mut name);
        assert_eq!(name, "");
        // The holder of the receiving account is the shop itself.
        let other = read(br#"{"merchant":{"bankAccount":{"holder":"Corner Shop"}}}"#).unwrap();
        assert_eq!(other.pointer("/merchant/bankAccount/holder").unwrap(), "Corner Shop");
    }

    #[test]
    fn an_amount_keeps_its_digits() {
        for (number, expected) in [
            ("12.34", Some("12.34")),
            ("12.3", Some("12.30")),
            ("12", Some("12.00")),
            ("10.00", Some("10.00")),
            ("0", Some("0.00")),
            ("99999999999999.99", Some("99999999999999.99")),
            // Each of these has the same binary fraction as 12.34, 12 or 0.3.
            ("12.340", None),
            ("12.340000000000000001", None),
            ("1.234e1", None),
            ("12e0", None),
            ("12E0", None),
            ("0.30000000000000004", None),
            ("-12.34", None),
            ("-0", None),
            ("true", None),
            ("[12.34]", None),
            (r#"{"value":12.34}"#, None),
        ] {
            let body = format!(r#"{{"n":{{"amount": {number} }}}}"#);
            let found = read(body.as_bytes()).unwrap();
            let found = found.pointer("/n/amount").unwrap();
            assert_eq!(found.as_str(), expected, "{number}");
            assert!(expected.is_some() || found.is_object(), "{number}: it is there, and no amount");
        }
        let body = br#"[{"amount":"12.3"},{"amount":null},{"amount":"1\u0032.00"}]"#;
        assert_eq!(read(body).unwrap(), serde_json::json!([{"amount":"12.3"},{"amount":null},{"amount":"12.00"}]));
    }

    #[test]
    fn the_rest_is_read_as_ever() {
        for text in [
            r#"{"a":[1,-2,3.5,1e300,true,null,"x\n"],"b":{"c":{}},"d":2}"#,
            r#"{"a":[1],"a":[1]}"#,
            "[]",
            "3",
            "",
            "{",
            "{} {}",
            "[1,]",
            "\u{feff}{}",
        ] {
            assert_eq!(read(text.as_bytes()), serde_json::from_str(text).ok(), "{text}");
        }
        assert_eq!(read(b"{\"a\":\"\xFF\"}"), None);
        assert_eq!(read(b"{\"amount\":\"\xFF\"}"), None);
        // The depth is limited, with and without the field that is read separately.
        assert_eq!(read("[".repeat(100_000).as_bytes()), None);
        assert_eq!(read(r#"{"a":"#.repeat(100_000).as_bytes()), None);
        let deep = r#"{"amount":"#.repeat(20_000) + "1" + &"}".repeat(20_000);
        assert_eq!(read(deep.as_bytes()), Some(serde_json::json!({"amount":{}})));
    }

    #[test]
    fn a_field_that_contradicts_itself_makes_the_whole_unreadable() {
        for body in [
            r#"{"result":{"code":"000.100.110"},"result":{"code":"800.100.152"}}"#,
            r#"{"result":{"code":"000.100.110","code":"800.100.152"}}"#,
            r#"{"payments":[{"id":"a","id":"b"}]}"#,
            r#"{"amount":"10.00","amount":"9.00"}"#,
            r#"{"id":"a","id":null}"#,
        ] {
            assert_eq!(read(body.as_bytes()), None, "{body}");
        }
        assert!(read(br#"{"amount":"10.00","amount":10}"#).is_some(), "the same amount");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(body in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = read(&body);
        }

        #[test]
        fn cents_are_exact(cents in 0_u64..1_000_000_000_000) {
            let (whole, part) = (cents / 100, cents % 100);
            let body = format!(r#"{{"amount":{whole}.{part:02}}}"#);
            let found = read(body.as_bytes()).unwrap();
            prop_assert_eq!(found["amount"].as_str().unwrap(), format!("{whole}.{part:02}"));
        }
    }
}
