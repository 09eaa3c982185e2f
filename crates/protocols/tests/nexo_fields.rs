//! Tests of the table of fields (`pos_protocols::nexo::fields`). The table contains every documented field and agrees
//! with the manual, and the code follows it.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::collections::BTreeSet;
use std::time::Duration;

use pos_protocols::nexo::additional;
use pos_protocols::nexo::envelope::{Envelope, Message};
use pos_protocols::nexo::fields::{FOR_ACQUIRER, OBJECTS, WORDS, manual, object};
use pos_protocols::nexo::receipt::Profile;
use pos_protocols::nexo::request::{
    AmountsReq, PaymentData, PaymentRequest, PaymentTransaction, ReversalRequest, TransactionConditions,
};
use pos_protocols::nexo::session::{Action, Now, Session, Settings};
use pos_protocols::nexo::shared::{
    CardData, OriginalPoiTransaction, PaymentInstrumentData, PaymentToken, SaleData, SaleTerminalData,
    TransactionIdentification,
};
use pos_till_api::{Ask, Said};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor, value::Error};
use serde_json::{Map, Value, json};

/// Every field of the two requests, one per line. The source is `@adyen/api-library` 32.1.0
/// (`lib/src/typings/terminal`, and for `SaleToAcquirerData` also `lib/src/utils/tapi`). Fields inside a field that is
/// refused or ignored as a whole are left out.
const DOCUMENTED: &str = include_str!("nexo_fields.txt");

/// Returns the field names under which serde reads a structure.
fn names<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    struct Names<'a>(&'a mut Vec<&'static str>);

    impl<'de> Deserializer<'de> for Names<'_> {
        type Error = Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(de::Error::custom("no structure"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Error> {
            self.0.extend(fields);
            Err(de::Error::custom("only its names"))
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut found = Vec::new();
    let _ = T::deserialize(Names(&mut found));
    assert!(!found.is_empty(), "{}", std::any::type_name::<T>());
    found
}

/// Returns whether a field of an object is in the table.
fn is_listed(of: &str, field: &str) -> bool {
    let columns = object(of).map(|it| [it.obeyed, it.refused, it.harmless].concat()).unwrap_or_default();
    columns.contains(&field) || object(field).is_some()
}

#[test]
fn each_field_of_the_protocol_stands_in_the_table_once() {
    let read = [
        ("PaymentRequest", names::<PaymentRequest>()),
        ("ReversalRequest", names::<ReversalRequest>()),
        ("SaleData", names::<SaleData>()),
        ("SaleTransactionID", names::<TransactionIdentification>()),
        ("SaleTerminalData", names::<SaleTerminalData>()),
        ("PaymentTransaction", names::<PaymentTransaction>()),
        ("AmountsReq", names::<AmountsReq>()),
        ("OriginalPOITransaction", names::<OriginalPoiTransaction>()),
        ("POITransactionID", names::<TransactionIdentification>()),
        ("TransactionConditions", names::<TransactionConditions>()),
        ("PaymentData", names::<PaymentData>()),
        ("PaymentInstrumentData", names::<PaymentInstrumentData>()),
        ("CardData", names::<CardData>()),
        ("PaymentToken", names::<PaymentToken>()),
    ];
    for (of, fields) in &read {
        for field in fields {
            assert!(is_listed(of, field), "{of}.{field} is read, and stands in no column");
        }
    }
    let documented: BTreeSet<(&str, &str)> = DOCUMENTED.lines().filter_map(|line| line.split_once('.')).collect();
    assert!(documented.len() > 90, "{}", documented.len());
    for (of, field) in &documented {
        assert!(is_listed(of, field), "{of}.{field} is documented, and stands in no column");
    }
    for object in OBJECTS {
        let all = [object.obeyed, object.refused, object.harmless].concat();
        let once: BTreeSet<_> = all.iter().collect();
        assert_eq!(once.len(), all.len(), "{}: a field stands twice", object.name);
    }
}

#[test]
fn the_manual_has_the_table() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/nexo.md")).unwrap();
    assert!(page.contains(&manual()), "docs/src/nexo.md has not this table:\n{}", manual());
}

const STATUS: &str = r#"{"version":"1.0","terminalId":"T1","merchant":["Shop"],"currency":"EUR","currencyDecimals":2,
    "ready":true,"busy":false,"reader":{"state":"ready"},"gateway":{"state":"answers"},"printers":[],"clock":{}}"#;

/// Returns the question to the terminal for this request, or the reason for the refusal.
fn asks(category: &str, body: &Value) -> Result<Ask, String> {
    let message = json!({ "SaleToPOIRequest": {
        "MessageHeader": { "MessageClass": "Service", "MessageCategory": category, "MessageType": "Request",
            "ServiceID": "1", "SaleID": "till", "POIID": "A-1" },
        format!("{category}Request"): body,
    }});
    let text = message.to_string();
    let request = match Envelope::read(text.as_bytes()) {
        Ok(Envelope::Plain(Message::Request(request))) => request,
        other => return Err(format!("{other:?}")),
    };
    let mut session = Session::new(Settings {
        sale_id: "till".to_owned(),
        poi_id: "A-1".to_owned(),
        credit: false,
        terminal_prints: false,
        profile: Profile::Plain,
        width: 32,
        reserves: false,
        ignore: Vec::new(),
        own_sums: None,
    });
    let now = Now { steady: Duration::ZERO, unix_s: 1_795_430_096 };
    let mut actions = session.asked(1, request, text.into_bytes(), now);
    if let [Action::Ask { ticket, ask: Ask::Status }] = actions[..] {
        actions = session.said(ticket, Said::read(&Ask::Status, 200, STATUS.as_bytes()), now);
    }
    // The same message has not been carried out before.
    if let [Action::Ask { ticket, ask: ask @ Ask::Show { .. } }] = &actions[..] {
        let none = br#"{"status":404,"code":"no-such-sale","detail":"none"}"#;
        actions = session.said(*ticket, Said::read(ask, 404, none), now);
    }
    match actions.remove(0) {
        Action::Ask { ask, .. } => Ok(ask),
        Action::GiveUp { .. } => panic!("nothing is given up"),
        Action::Answer { message, .. } => {
            let answer: Value = serde_json::from_slice(&message.unwrap().write()).unwrap();
            let response = &answer["SaleToPOIResponse"][format!("{category}Response")]["Response"];
            let why = additional::read(response["AdditionalResponse"].as_str().unwrap_or_default());
            Err(why.into_iter().find(|(name, _)| name == "message").map(|(_, text)| text).unwrap_or_default())
        }
    }
}

/// Builds a payment or a reversal that contains the object. Returns it with the path of the object.
fn request_with(of: &str) -> (&'static str, Value, &'static str) {
    let named = json!({ "POITransactionID": { "TransactionID": "17.8ac7", "TimeStamp": "t" } });
    let sale = json!({ "SaleTransactionID": { "TransactionID": "1", "TimeStamp": "t" } });
    let payment = json!({
        "SaleData": sale, "PaymentTransaction": { "AmountsReq": { "Currency": "EUR", "RequestedAmount": 5 } },
    });
    let mut of_card = payment.clone();
    of_card["PaymentData"] = json!({ "PaymentInstrumentData": { "PaymentInstrumentType": "Card", "CardData": {} } });
    let mut of_refund = payment.clone();
    of_refund["PaymentTransaction"]["OriginalPOITransaction"] = named.clone();
    of_refund["PaymentData"] = json!({ "PaymentType": "Refund" });
    let reversal = json!({ "OriginalPOITransaction": named, "ReversalReason": "CustCancel", "SaleData": sale });
    let token = json!({ "TokenRequestedType": "Customer", "TokenValue": "x" });
    match of {
        "ReversalRequest" => ("Reversal", reversal, ""),
        "OriginalPOITransaction" => ("Payment", of_refund, "/PaymentTransaction/OriginalPOITransaction"),
        "POITransactionID" => ("Payment", of_refund, "/PaymentTransaction/OriginalPOITransaction/POITransactionID"),
        "PaymentRequest" => ("Payment", payment, ""),
        "SaleData" => ("Payment", payment, "/SaleData"),
        "SaleTransactionID" => ("Payment", payment, "/SaleData/SaleTransactionID"),
        "SaleTerminalData" | FOR_ACQUIRER => {
            let mut with = payment;
            with["SaleData"][of] = json!({});
            let at = if of == FOR_ACQUIRER { "/SaleData/SaleToAcquirerData" } else { "/SaleData/SaleTerminalData" };
            ("Payment", with, at)
        }
        "PaymentTransaction" => ("Payment", payment, "/PaymentTransaction"),
        "AmountsReq" => ("Payment", payment, "/PaymentTransaction/AmountsReq"),
        "TransactionConditions" => {
            let mut with = payment;
            with["PaymentTransaction"][of] = json!({});
            ("Payment", with, "/PaymentTransaction/TransactionConditions")
        }
        "PaymentData" => ("Payment", of_card, "/PaymentData"),
        "PaymentInstrumentData" => ("Payment", of_card, "/PaymentData/PaymentInstrumentData"),
        "CardData" => ("Payment", of_card, "/PaymentData/PaymentInstrumentData/CardData"),
        "PaymentToken" => {
            let mut with = of_card;
            with["PaymentData"]["PaymentInstrumentData"]["CardData"]["PaymentToken"] = token;
            ("Payment", with, "/PaymentData/PaymentInstrumentData/CardData/PaymentToken")
        }
        other => panic!("{other}: say where it stands"),
    }
}

/// Returns a value that this field can hold.
fn something(of: &str, field: &str) -> Value {
    match field {
        "AcquirerID" if of == "OriginalPOITransaction" => json!("x"),
        "CashBackAmount" | "PaidAmount" | "MaximumCashBackAmount" => json!(1),
        "AllowedPaymentBrand" | "AcquirerID" | "AllowedProductCode" | "AllowedLoyaltyBrand" => json!(["x"]),
        "EntryMode" => json!(["ICC"]),
        "ReuseCardDataFlag" | "DebitPreferredFlag" => json!(true),
        "HostTransactionID" | "CardAcquisitionReference" => json!({ "TransactionID": "1", "TimeStamp": "t" }),
        "SaleItem" | "SponsoredMerchant" | "LoyaltyData" => json!([{ "x": 1 }]),
        "Instalment" => json!({ "TotalNbOfPayments": 3 }),
        "ReversalReason" => json!("MerchantCancel"),
        "TokenRequestedType" => json!("Customer"),
        _ => json!("x"),
    }
}

fn with(of: &str, field: &str, value: Value) -> (&'static str, Value) {
    let (category, mut body, at) = request_with(of);
    let place = if at.is_empty() { &mut body } else { body.pointer_mut(at).unwrap() };
    place.as_object_mut().unwrap_or(&mut Map::new()).insert(field.to_owned(), value);
    (category, body)
}

#[test]
fn what_the_table_calls_refused_is_refused_by_name_and_what_it_calls_harmless_changes_nothing() {
    let (mut refused, mut harmless) = (0, 0);
    for object in OBJECTS {
        let (category, plain, _) = request_with(object.name);
        let asked = asks(category, &plain).unwrap_or_else(|why| panic!("{}: {why}", object.name));
        for field in object.refused {
            let (category, body) = with(object.name, field, something(object.name, field));
            let why = asks(category, &body).map(|ask| format!("{ask:?}"));
            assert!(why.as_ref().is_err_and(|why| why.contains(field)), "{}.{field}: {why:?}", object.name);
            for nothing in [json!(null), json!(""), json!(false), json!([]), json!({})] {
                // A field with its own type is read as that type.
                let (category, body) = with(object.name, field, nothing);
                let answer = asks(category, &body);
                let by_type = answer.as_ref().is_err_and(|why| why.contains("Field {") && why.contains(field));
                let empty = object.name == FOR_ACQUIRER;
                assert!(answer.as_ref() == Ok(&asked) || by_type || empty, "{}.{field}: {answer:?}", object.name);
            }
            refused += 1;
        }
        for field in object.harmless {
            let (category, body) = with(object.name, field, something(object.name, field));
            assert_eq!(asks(category, &body).as_ref(), Ok(&asked), "{}.{field}", object.name);
            harmless += 1;
        }
    }
    for (field, words) in WORDS {
        let of = if *field == "LoyaltyHandling" { "TransactionConditions" } else { "PaymentInstrumentData" };
        for word in words.iter().chain(&["Required", "Check", "Cash", "StoredValue", "Mobile"]) {
            let (category, body) = with(of, field, json!(word));
            let answer = asks(category, &body);
            assert_eq!(answer.is_ok(), words.contains(word), "{field} {word}: {answer:?}");
            assert!(answer.is_ok() || answer.as_ref().is_err_and(|why| why.contains(field)), "{answer:?}");
        }
    }
    assert!(refused > 30 && harmless > 20, "{refused} refused, {harmless} harmless");
}
