//! Values in request bodies that need more than their Rust type: amounts are strings, and whole numbers may have the
//! form of a fraction.

use std::fmt;

use serde::de::value::U64Deserializer;
use serde::de::{DeserializeOwned, Error, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Number;

use pos_terms::transaction::SaleNumber;
use pos_till_api::GREATEST_NUMBER;

/// Accepts only a string, because a JSON number such as 12.34 may become an inexact binary fraction.
pub(super) fn amount_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    struct Text;

    impl Visitor<'_> for Text {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string such as \"12.34\" (a number could be rounded)")
        }

        fn visit_str<E>(self, text: &str) -> Result<Option<String>, E> {
            Ok(Some(text.to_owned()))
        }
    }

    deserializer.deserialize_any(Text)
}

/// Accepts a transaction's number up to [`GREATEST_NUMBER`], because the answer repeats it.
pub(super) fn exact_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SaleNumber, D::Error> {
    let number = SaleNumber::deserialize(deserializer)?;
    match number.get() {
        0..=GREATEST_NUMBER => Ok(number),
        _ => Err(D::Error::custom(format_args!("must be at most {GREATEST_NUMBER}"))),
    }
}

/// Accepts `17`, `17.0` and `null`. For JSON Schema, 17.0 is an integer (validation, 6.1.1), and languages whose only
/// number is a float write it.
pub(super) fn whole_number<'de, D: Deserializer<'de>, N: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<N>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else { return Ok(None) };
    let whole = number.as_u64().or_else(|| number.as_f64().and_then(whole)).ok_or_else(|| {
        D::Error::custom(format_args!("invalid value: number `{number}`, expected a whole number that is not negative"))
    })?;
    let whole: U64Deserializer<D::Error> = whole.into_deserializer();
    N::deserialize(whole).map(Some)
}

fn whole(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && number >= 0.0;
    // `abs` removes the sign of -0.0.
    is_whole.then(|| format!("{:.0}", number.abs()).parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use pos_terms::transaction::SaleNumber;

    use super::*;

    #[derive(Deserialize)]
    struct Body {
        #[serde(default, deserialize_with = "whole_number")]
        number: Option<SaleNumber>,
    }

    fn number(text: &str) -> Result<Option<SaleNumber>, String> {
        let body: Result<Body, _> = serde_json::from_str(text);
        body.map(|body| body.number).map_err(|error| error.to_string())
    }

    #[test]
    fn a_whole_number_may_be_written_as_a_float() {
        for (text, expected) in [
            (r"{}", None),
            (r#"{"number": null}"#, None),
            (r#"{"number": 17}"#, Some(17)),
            (r#"{"number": 17.0}"#, Some(17)),
            (r#"{"number": 1.7e1}"#, Some(17)),
            (r#"{"number": -0.0}"#, Some(0)),
            (r#"{"number": 18446744073709551615}"#, Some(u64::MAX)),
        ] {
            assert_eq!(number(text), Ok(expected.map(SaleNumber::new)), "{text}");
        }
    }

    #[test]
    fn any_other_value_is_refused_by_name() {
        for (text, expected) in [
            (r#"{"number": 1.5}"#, "number `1.5`, expected a whole number that is not negative"),
            (r#"{"number": -1}"#, "number `-1`, expected a whole number that is not negative"),
            (r#"{"number": -1.0}"#, "number `-1.0`, expected a whole number that is not negative"),
            (r#"{"number": 1e300}"#, "expected a whole number that is not negative"),
            (r#"{"number": "17"}"#, "invalid type: string \"17\", expected a JSON number"),
            (r#"{"number": true}"#, "invalid type: boolean `true`, expected a JSON number"),
        ] {
            let error = number(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
