//! The request fields that an answer returns (data-model: Payment response fields, "any of the request data structures
//! above"). Names with dots and indexes become nested JSON.
//!
//! Card data, account data and tokens never reach this module, because `Form::open_pairs` omits them. A terminal needs
//! only two of these fields, so its answer stays small.

use serde_json::{Value, json};

use super::form::Form;

/// Names that are not returned. The answer has its own field for each of them, or they were only for the gateway.
const NOT_GIVEN_BACK: [&str; 13] = [
    "entityId",
    "amount",
    "currency",
    "paymentType",
    "paymentBrand",
    "createRegistration",
    "integrity",
    "referenceUuid",
    "testMode",
    "sequence",
    "overrideHolder",
    "notificationUrl",
    "shopperResultUrl",
];
/// Prefixes of further names that are not returned.
const GROUPS_NOT_GIVEN_BACK: [&str; 5] = ["pos.", "card.", "threeDSecure.", "standingInstruction.", "job."];
/// The names that an answer to a terminal returns.
const AT_THE_COUNTER: [&str; 2] = ["descriptor", "merchantInvoiceId"];

/// Adds the returned request fields to an answer. A field that is already in the answer stays unchanged.
pub(super) fn echo(answer: &mut Value, form: &Form, at_the_counter: bool) {
    for (name, value) in form.open_pairs() {
        let back = if at_the_counter {
            AT_THE_COUNTER.contains(&name) || name.starts_with("customParameters[")
        } else {
            !NOT_GIVEN_BACK.contains(&name) && !GROUPS_NOT_GIVEN_BACK.iter().any(|group| name.starts_with(group))
        };
        if back {
            put(answer, name, value);
        }
    }
}

/// The list of the cart. Its limit is documented (behaviour: Limits); the limit of the other lists is our choice. Items
/// above the limit are stored in the books but not returned, so no parameter can create a list of unlimited length.
const CART: &str = "cart.items";
const LONGEST_CART: usize = 1001;
const LONGEST_LIST: usize = 100;

/// Puts a value where its name says: `cart.items[0].name` into a list, `customParameters[a.b]` under a key. An existing
/// field stays unchanged, and a name that does not fit has no effect.
fn put(answer: &mut Value, name: &str, value: &str) {
    let mut place = answer;
    let last = name.len();
    let parts = name.split_inclusive(']').scan(0, |end, part| {
        *end += part.len();
        Some((part, *end == last))
    });
    for word in parts.flat_map(|(part, is_last)| words(part, is_last)) {
        place = match word {
            Word::Index(index) => {
                let most = if name.starts_with(CART) { LONGEST_CART } else { LONGEST_LIST };
                if place.is_null() {
                    *place = json!([]);
                }
                if index >= most {
                    return;
                }
                let Some(list) = place.as_array_mut() else { return };
                // Missing items become empty objects, so the largest index sets the list's length.
                while list.len() <= index {
                    list.push(json!({}));
                }
                &mut list[index]
            }
            Word::Key(key) => {
                if place.is_null() {
                    *place = json!({});
                }
                let Some(object) = place.as_object_mut() else { return };
                object.entry(key.to_owned()).or_insert(Value::Null)
            }
        };
    }
    if place.is_null() {
        *place = json!(value);
    }
}

enum Word<'a> {
    Key(&'a str),
    Index(usize),
}

/// Splits a name at its brackets. The text in brackets is an index if more of the name follows; otherwise it is the key
/// of a pair.
fn words(part: &str, is_last: bool) -> Vec<Word<'_>> {
    let (path, inside) = match part.strip_suffix(']').and_then(|part| part.split_once('[')) {
        Some((path, inside)) => (path, Some(inside)),
        None => (part, None),
    };
    let mut words: Vec<Word<'_>> = path.split('.').filter(|word| !word.is_empty()).map(Word::Key).collect();
    words.extend(inside.map(|inside| match inside.parse() {
        Ok(index) if !is_last => Word::Index(index),
        _ => Word::Key(inside),
    }));
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::form::{PAYMENT, Spelling};

    /// Returns the name of an airline field and the position of its value in the answer.
    fn place(passenger: usize, leg: Option<usize>) -> (String, String) {
        match leg {
            Some(leg) => (
                format!("airline.passengers[{passenger}].legs[{leg}].flightNumber"),
                format!("/airline/passengers/{passenger}/legs/{leg}/flightNumber"),
            ),
            None => (format!("airline.passengers[{passenger}].name"), format!("/airline/passengers/{passenger}/name")),
        }
    }

    proptest! {
        #[test]
        fn every_value_stands_where_its_name_says(
            places in prop::collection::vec((0..120_usize, prop::option::of(0..120_usize), "[a-z]{1,8}"), 0..20),
        ) {
            let (mut answer, mut first) = (json!({}), std::collections::BTreeMap::new());
            for (passenger, leg, value) in &places {
                let (name, pointer) = place(*passenger, *leg);
                put(&mut answer, &name, value);
                let is_given_back = *passenger < LONGEST_LIST && leg.is_none_or(|leg| leg < LONGEST_LIST);
                first.entry(pointer).or_insert((value.clone(), is_given_back));
            }
            for (pointer, (value, is_given_back)) in first {
                let stands = answer.pointer(&pointer).and_then(Value::as_str);
                prop_assert_eq!(stands, is_given_back.then_some(value.as_str()), "{}", pointer);
            }
        }
    }

    #[test]
    fn names_become_nested_again_and_no_card_is_given_back() {
        let body = "amount=1.00&card.number=4111111111111111&card.holder=Jane+Jones&shipping.city=Bonn\
            &cart.items[1].name=Tea&cart.items[1].recipient.city=Ulm&merchant.data[a.b]=x&customParameters[123]=1\
            &airline.passengers[0].legs[0].flightNumber=LH1&descriptor=Shop&shopperResultUrl=https://shop.test/r\
            &giftCard.message=Hello";
        let form = Form::parse(body.as_bytes(), PAYMENT, Spelling::Usual).unwrap();
        let mut answer = json!({ "descriptor": "as it was" });
        echo(&mut answer, &form, false);
        assert_eq!(
            answer,
            json!({
                "descriptor": "as it was",
                "shipping": { "city": "Bonn" },
                "cart": { "items": [{}, { "name": "Tea", "recipient": { "city": "Ulm" } }] },
                "merchant": { "data": { "a.b": "x" } },
                "customParameters": { "123": "1" },
                "airline": { "passengers": [{ "legs": [{ "flightNumber": "LH1" }] }] },
                "giftCard": { "message": "Hello" },
            })
        );
        let mut answer = json!({});
        echo(&mut answer, &form, true);
        assert_eq!(answer, json!({ "customParameters": { "123": "1" }, "descriptor": "Shop" }));
    }
}
