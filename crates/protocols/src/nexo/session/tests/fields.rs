//! Tests of fields that change the payment. They are obeyed or refused by name, and never ignored.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;

/// Adds data for the acquirer in each possible form.
fn for_acquirer(body: &str, pairs: &str, object: &str) -> Vec<String> {
    let with = |data: &str| {
        let data = format!(r#"{{"SaleToAcquirerData":{data},"#);
        body.replacen(r#""SaleData":{"#, &format!(r#""SaleData":{data}"#), 1)
    };
    let sealed = json!(STANDARD.encode(object)).to_string();
    vec![with(&json!(pairs).to_string()), with(&sealed), with(object)]
}

fn refused(settings: &Settings, category: &str, body: &str, named: &str) {
    let mut stage = Stage::ready();
    stage.session.settings = settings.clone();
    stage.till(category, "1", body);
    stage.was_not_carried_out();
    assert!(stage.asked.is_empty(), "nothing is begun: {body}");
    let answer = stage.answer();
    let response = &answer[format!("{category}Response")]["Response"];
    assert_eq!(response["Result"], "Failure", "{body}: {answer}");
    let why = additional::read(response["AdditionalResponse"].as_str().unwrap_or_default());
    assert!(why.iter().any(|(_, text)| text.contains(named)), "{named}: {why:?}");
}

fn begun(settings: &Settings, body: &str) -> Begin {
    let mut stage = Stage::ready();
    stage.session.settings = settings.clone();
    stage.till("Payment", "1", body);
    assert!(stage.answers.is_empty(), "{body}: {:?}", stage.answers);
    stage.is_new();
    stage.begun()
}

#[test]
fn what_would_make_another_payment_of_it_is_refused_by_its_name() {
    let till = settings();
    for (pairs, object, named) in [
        ("authorisationType=PreAuth", r#"{"authorisationType":"PreAuth"}"#, "authorisationType"),
        ("manualCapture=true", r#"{"manualCapture":true}"#, "manualCapture"),
        ("manualCapture=yes", r#"{"manualCapture":"yes"}"#, "manualCapture"),
        ("authorisationType=Other", r#"{"authorisationType":"Other"}"#, "authorisationType"),
        ("tenderOption=MOTO", r#"{"tenderOption":"MOTO"}"#, "tenderOption=MOTO"),
        ("tenderOption=ReceiptHandler,BypassPin", r#"{"tenderOption":"BypassPin"}"#, "BypassPin"),
        ("split.api=1&split.item1.amount=5", r#"{"split":{"api":1}}"#, "split.api"),
        ("currency=USD", r#"{"currency":"USD"}"#, "currency"),
        ("store=7", r#"{"store":"7"}"#, "store"),
        ("additionalData.x=7", r#"{"additionalData":{"x":"7"}}"#, "additionalData.x"),
        ("somethingOfLater=1", r#"{"somethingOfLater":[1]}"#, "somethingOfLater"),
        ("authorisationtype=PreAuth", r#"{"AuthorisationType":"PreAuth"}"#, "thorisation"),
        ("metadataOther=1", r#"{"metadataOther":1}"#, "metadataOther"),
        (
            "manualCapture=false&authorisationType=PreAuth",
            r#"{"manualCapture":false,"authorisationType":"PreAuth"}"#,
            "",
        ),
        (
            "authorisationType=FinalAuth&authorisationType=PreAuth",
            r#"{"authorisationType":"FinalAuth","authorisationType":"PreAuth"}"#,
            "without duplicate keys",
        ),
    ] {
        for body in for_acquirer(&payment("5", "1"), pairs, object) {
            refused(&till, "Payment", &body, named);
        }
    }
    // A card number in a wrong place is not repeated.
    let key = format!("{}={}", "4".repeat(16), "x");
    for body in for_acquirer(&payment("5", "1"), &key, &format!(r#"{{"{}":1}}"#, "4".repeat(16))) {
        refused(&till, "Payment", &body, "…");
    }
    let many = "a=1&".repeat(600) + "split.api=1";
    refused(&till, "Payment", &for_acquirer(&payment("5", "1"), &many, "{}")[0], "SaleToAcquirerData");
    let instrument = |kind: &str| format!(r#""PaymentInstrumentData":{{"PaymentInstrumentType":"{kind}"}}"#);
    for kind in ["StoredValue", "Check", "Cash", "Mobile"] {
        let body = payment("5", "1").replacen(r#""PaymentType""#, &format!(r#"{},"PaymentType""#, instrument(kind)), 1);
        refused(&till, "Payment", &body, "PaymentInstrumentType");
    }
    let original = r#","OriginalPOITransaction":{"POITransactionID":{"TransactionID":"17.8ac7","TimeStamp":"t"}}"#;
    refused(&till, "Payment", &payment_of("Normal", "5", "1", original), "OriginalPOITransaction");
}

#[test]
fn a_reservation_is_one_for_a_till_whose_captures_come_here() {
    let till = Settings { reserves: true, ..settings() };
    for (pairs, object) in [
        ("authorisationType=PreAuth", r#"{"authorisationType":"PreAuth"}"#),
        ("manualCapture=true", r#"{"manualCapture":"true"}"#),
        ("metadata.x=1&authorisationType=PreAuth&manualCapture=true", r#"{"manualCapture":true}"#),
    ] {
        for body in for_acquirer(&payment("5", "1"), pairs, object) {
            let begin = begun(&till, &body);
            assert_eq!((begin.kind, begin.amount.as_deref()), (Kind::PreAuthorisation, Some("5.00")), "{body}");
        }
        for kind in ["Refund", "Completion"] {
            let original =
                r#","OriginalPOITransaction":{"POITransactionID":{"TransactionID":"17.8ac7","TimeStamp":"t"}}"#;
            let body = for_acquirer(&payment_of(kind, "5", "1", original), pairs, object).remove(0);
            refused(&till, "Payment", &body, "authorisationType");
        }
    }
    // A reservation by its payment type reserves for every till, and no key may contradict it.
    let body = payment_of("FirstReservation", "5", "1", "");
    let both = for_acquirer(&body, "authorisationType=PreAuth", "{}").remove(0);
    assert_eq!(begun(&settings(), &both).kind, Kind::PreAuthorisation);
    refused(&settings(), "Payment", &for_acquirer(&body, "authorisationType=FinalAuth", "{}")[0], "authorisationType");
}

#[test]
fn what_changes_nothing_is_passed_over_and_a_till_may_name_more() {
    let harmless = [
        ("metadata.pos_hmac=a&metadata.x=1", r#"{"metadata":{"pos_hmac":"a","x":"1"}}"#),
        (
            "applicationInfo.merchantApplication.name=Odoo",
            r#"{"applicationInfo":{"merchantApplication":{"name":"x"},"externalPlatform":{"name":"y","version":"1"}}}"#,
        ),
        ("shopperEmail=a%40b&shopperReference=c", r#"{"shopperEmail":"a@b","shopperReference":"c"}"#),
        ("currency=EUR&tenderOption=ReceiptHandler", r#"{"currency":"EUR","tenderOption":"ReceiptHandler"}"#),
        ("authorisationType=FinalAuth&manualCapture=false", r#"{"manualCapture":false}"#),
        ("", r#"{"additionalData":{},"split":null}"#),
    ];
    for (pairs, object) in harmless {
        for body in for_acquirer(&payment("5", "1"), pairs, object) {
            assert_eq!(begun(&settings(), &body).kind, Kind::Sale, "{body}");
        }
    }
    let till = Settings { ignore: vec!["store".to_owned(), "split".to_owned(), "x".to_owned()], ..settings() };
    for body in for_acquirer(&payment("5", "1"), "store=7&x.y=1", r#"{"store":"7","x":{"y":1}}"#) {
        begun(&till, &body);
    }
    for body in for_acquirer(&payment("5", "1"), "xy=7", r#"{"xy":7}"#) {
        refused(&till, "Payment", &body, "xy");
    }
    // A key that is obeyed, or that splits the money, is never ignored.
    for body in for_acquirer(&payment("5", "1"), "split.api=7", r#"{"split":{"api":7}}"#) {
        refused(&till, "Payment", &body, "split");
    }
    assert!(["split", "split.api", "currency", "manualCapture"].iter().all(|key| !may_be_ignored(key)));
    assert!(may_be_ignored("store"));
}

#[test]
fn options_of_the_tender_are_obeyed() {
    let body = |options: &str| for_acquirer(&payment("5", "1"), &format!("tenderOption={options}"), "{}").remove(0);
    assert_eq!(begun(&settings(), &body("AskGratuity, ReceiptHandler")).tip.as_deref(), Some("ask"));
    assert!(begun(&settings(), &body("AllowPartialAuthorisation")).accept_partial);
    let reserves = payment_of("FirstReservation", "5", "1", "");
    refused(&settings(), "Payment", &for_acquirer(&reserves, "tenderOption=AskGratuity", "{}")[0], "AskGratuity");
}
