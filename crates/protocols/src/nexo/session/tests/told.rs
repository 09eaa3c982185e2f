//! Tests of the answers about a transaction and about the terminal, row by row.

use super::*;

/// Returns the printer status in the last answer.
fn printer(state: &str) -> Value {
    let mut status: Value = serde_json::from_str(STATUS).unwrap();
    status["printers"] = json!([{ "name": "bon", "state": state }]);
    let mut stage = Stage::new(settings());
    stage.till("Diagnosis", "d", "{}");
    stage.says(200, &status.to_string());
    stage.answer()["DiagnosisResponse"]["POIStatus"]["PrinterStatus"].clone()
}

#[test]
fn each_state_of_a_printer_has_its_word() {
    for (state, word) in [
        ("ready", "OK"),
        ("not-used-yet", "OK"),
        ("paper-low", "PaperLow"),
        ("no-paper", "NoPaper"),
        ("paper-jam", "PaperJam"),
        ("cover-open", "OutOfOrder"),
        ("a state of later", "OutOfOrder"),
    ] {
        assert_eq!(printer(state), word, "{state}");
    }
}

#[test]
fn a_status_that_names_no_message_is_of_the_latest_transaction() {
    let mut stage = Stage::ready();
    stage.till("TransactionStatus", "1", "{}");
    assert_eq!(stage.asked.last().unwrap().1, Ask::Latest);
    stage.sale(&sale("nexo-1", &json!({})));
    let answer = stage.answer();
    let repeated = &answer["TransactionStatusResponse"]["RepeatedMessageResponse"];
    let response = &repeated["RepeatedResponseMessageBody"]["PaymentResponse"];
    assert_eq!(response["POIData"]["POITransactionID"]["TransactionID"], "17.8ac7", "{answer}");
    stage.till("TransactionStatus", "2", "{}");
    stage.none();
    stage.failed("TransactionStatusResponse", "NotFound");
    // Any other refusal does not show whether a transaction exists.
    stage.till("TransactionStatus", "3", "{}");
    stage.says(403, &json!({ "status": 403, "code": "forbidden", "detail": "no" }).to_string());
    let response = stage.answer()["TransactionStatusResponse"]["Response"].clone();
    assert_eq!(response["Result"], "Failure");
    assert_ne!(response["ErrorCondition"], "NotFound", "{response}");
}

/// Returns the lines of the customer's copy of a receipt with only this row.
fn lines(row: &Value) -> Vec<(String, Value, Value)> {
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.is_new();
    let reference = stage.begun().reference;
    stage.sale(&sale(&reference, &json!({})));
    while let Some((_, Ask::Receipt { copy, .. })) = stage.asked.last() {
        let copy = if format!("{copy:?}") == "Customer" { "customer" } else { "merchant" };
        stage.says(200, &json!({ "copy": copy, "text": "", "rows": [row] }).to_string());
    }
    let answer = stage.answer();
    let receipts = answer["PaymentResponse"]["PaymentReceipt"].as_array().unwrap().clone();
    assert_eq!(receipts.len(), 2, "{answer}");
    let customer = receipts.iter().find(|one| one["DocumentQualifier"] == "CustomerReceipt").unwrap();
    let texts = customer["OutputContent"]["OutputText"].as_array().unwrap();
    texts
        .iter()
        .map(|text| {
            let shown = text["Text"].as_str().unwrap().to_owned();
            (shown, text["Alignment"].clone(), text["CharacterStyle"].clone())
        })
        .collect()
}

#[test]
fn each_row_of_a_receipt_is_on_it() {
    let none = Value::Null;
    let row = |is: &str| json!({ "is": is, "text": "Shop" });
    let plain = |text: &str| (text.to_owned(), Value::Null, Value::Null);
    assert_eq!(lines(&row("left")), [plain("Shop")]);
    assert_eq!(lines(&row("a-row-of-later")), [plain("Shop")]);
    assert_eq!(lines(&json!({ "is": "rule" })), [plain(&"-".repeat(32))]);
    assert_eq!(
        lines(&json!({ "is": "status", "text": "APPROVED\nTHANK YOU" })),
        [plain("APPROVED"), plain("THANK YOU")]
    );
    for is in ["centred", "bold", "large", "amount"] {
        let found = lines(&row(is));
        let [(text, alignment, style)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((text.as_str(), alignment), ("Shop", &json!("Centred")), "{is}");
        assert_eq!(*style, if is == "centred" { none.clone() } else { json!("Bold") }, "{is}");
    }
    let pair = |value: &str| lines(&json!({ "is": "pair", "text": "Card", "value": value }));
    for (value, expected) in [
        ("VISA", vec![format!("Card{}VISA", " ".repeat(24))]),
        (&"9".repeat(33), vec!["Card".to_owned(), "9".repeat(32), "9".to_owned()]),
    ] {
        let texts: Vec<String> = pair(value).into_iter().map(|(text, ..)| text).collect();
        assert_eq!(texts, expected, "{value}");
    }
    let texts: Vec<String> =
        lines(&row("signature-line")).into_iter().map(|(text, ..)| text.trim().to_owned()).collect();
    assert_eq!(texts, ["", "", &"_".repeat(32), "Shop"]);
}
