//! The values in the fields for an operator's name or PIN. No refusal and no log repeats them, because a PIN may have
//! been typed into the field for the name.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use zeroize::Zeroizing;

use super::failure::Failure;
use crate::till::ProblemType;
use pos_core::counter::{Pin, PinError};
use pos_terms::transaction::OperatorName;

/// The greatest length of the name of a till's own cashier, in characters.
const LONGEST_STATED: usize = 40;

/// Checks the name of a till's own cashier, as the till states it.
pub(super) fn stated(name: &str) -> Result<String, Failure> {
    let name = name.trim();
    if (1..=LONGEST_STATED).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
        Ok(name.to_owned())
    } else {
        let wrong = format!("operator: must be 1 to {LONGEST_STATED} characters, without control characters");
        Err(Failure::new(ProblemType::Operator, wrong).field("operator"))
    }
}

/// The value of a field for a PIN or a name. Refusals never repeat it, because a PIN may be sent as a number or in the
/// field for the name.
pub(super) struct Unrepeated(Zeroizing<String>);

impl<'de> Deserialize<'de> for Unrepeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        const WANTED: &str = "must be a string in quotes";

        impl<'de> Visitor<'de> for Text {
            type Value = Unrepeated;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Unrepeated, E> {
                Ok(Unrepeated(Zeroizing::new(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Unrepeated, E> {
                Ok(Unrepeated(Zeroizing::new(text)))
            }

            fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_unit<E: serde::de::Error>(self) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Unrepeated, A::Error> {
                Err(serde::de::Error::custom(WANTED))
            }

            fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Unrepeated, A::Error> {
                Err(serde::de::Error::custom(WANTED))
            }
        }

        deserializer.deserialize_any(Text)
    }
}

impl Unrepeated {
    pub(super) fn name(self) -> Result<OperatorName, Failure> {
        name(self.0.as_str())
    }

    pub(super) fn pin(self) -> Result<Pin, Failure> {
        Pin::parse(self.0).map_err(no_pin)
    }

    pub(super) fn new_pin(self) -> Result<Pin, Failure> {
        Pin::to_be_set(self.0).map_err(no_pin)
    }
}

fn no_pin(error: PinError) -> Failure {
    Failure::new(ProblemType::Pin, error.to_string()).field("pin")
}

/// Parses an operator's name from a path or a body.
pub(super) fn name(text: &str) -> Result<OperatorName, Failure> {
    OperatorName::parse(text).map_err(|error| Failure::new(ProblemType::Operator, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tills_own_cashier_is_some_text() {
        assert_eq!(stated(" 12 ").unwrap(), "12");
        assert!(stated(&"a".repeat(LONGEST_STATED)).is_ok());
        for wrong in ["", "  ", "a\u{1b}[2J", "a\nb", &"a".repeat(LONGEST_STATED + 1)] {
            assert_eq!(stated(wrong).unwrap_err().code(), "operator", "{wrong:?}");
        }
    }
}
