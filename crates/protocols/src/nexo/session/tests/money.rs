//! Tests of requested, approved, captured and refunded amounts, row by row. Each table over an enum has a `match`
//! without a wildcard, so a new variant without a row does not compile.

use super::*;
use pos_till_api::{Entry, Outcome};

/// Returns the answer to a payment with this outcome.
fn told(more: &Value) -> Value {
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "27908"));
    stage.is_new();
    let reference = stage.begun().reference;
    stage.sale(&sale(&reference, more));
    if stage.asked.last().is_some() {
        stage.no_receipts();
    }
    stage.answer()["PaymentResponse"].clone()
}

/// Returns `Result`, `ErrorCondition`, and whether the payment was carried out.
fn ended(response: &Value) -> (String, Option<String>, String) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let response = &response["Response"];
    let why = additional::read(response["AdditionalResponse"].as_str().unwrap());
    let carried_out = why.into_iter().find(|(key, _)| key == "carriedOut").expect("it is always said").1;
    (text(&response["Result"]).unwrap(), text(&response["ErrorCondition"]), carried_out)
}

fn row(result: &str, condition: Option<&str>, carried_out: &str) -> (String, Option<String>, String) {
    (result.to_owned(), condition.map(str::to_owned), carried_out.to_owned())
}

#[test]
fn each_end_is_told_as_what_it_is_and_only_an_approval_has_an_amount() {
    let of = |outcome: Outcome| match outcome {
        Outcome::Approved => ("approved", row("Success", None, "yes")),
        Outcome::PartiallyApproved => ("partially-approved", row("Partial", None, "yes")),
        Outcome::Declined => ("declined", row("Failure", Some("Refusal"), "no")),
        Outcome::Cancelled => ("cancelled", row("Failure", Some("Cancel"), "no")),
        Outcome::NotSent => ("not-sent", row("Failure", Some("Aborted"), "no")),
        Outcome::Reversed => ("reversed", row("Failure", Some("Aborted"), "no")),
        // An unknown outcome counts neither as a decline nor as an approval.
        Outcome::Other => ("a word of later", row("Failure", Some("UnreachableHost"), "unknown")),
    };
    for outcome in [
        Outcome::Approved,
        Outcome::PartiallyApproved,
        Outcome::Declined,
        Outcome::Cancelled,
        Outcome::NotSent,
        Outcome::Reversed,
        Outcome::Other,
    ] {
        let (word, expected) = of(outcome);
        let more = json!({ "outcome": word, "approvedAmount": "7.25", "approvalCode": "A1B2C3", "tip": "1.25",
            "registration": "8acda4a0" });
        let response = told(&more);
        assert_eq!(ended(&response), expected, "{word}");
        let approved = expected.2 == "yes";
        let result = &response["PaymentResult"];
        let amounts = &result["AmountsResp"];
        assert_eq!(amounts["AuthorizedAmount"], if approved { json!(7.25) } else { json!(0) }, "{word}");
        assert_eq!(amounts["Currency"], "EUR", "{word}");
        assert_eq!(amounts["TipAmount"], if approved { json!(1.25) } else { Value::Null }, "{word}");
        let acquirer = &result["PaymentAcquirerData"];
        assert_eq!(acquirer["ApprovalCode"], if approved { json!("A1B2C3") } else { Value::Null }, "{word}");
        assert_eq!(result["AuthenticationMethod"].as_array().is_some_and(|it| !it.is_empty()), approved, "{word}");
        let token = &result["PaymentInstrumentData"]["CardData"]["PaymentToken"]["TokenValue"];
        assert_eq!(*token, if approved { json!("8acda4a0") } else { Value::Null }, "{word}");
    }
}

#[test]
fn what_nobody_knows_has_no_result_and_is_carried_out_perhaps() {
    for state in ["unconfirmed", "unconfirmed-finishing"] {
        // An earlier approval does not count while the outcome is unknown.
        let response = told(&json!({ "state": state, "outcome": "approved" }));
        assert_eq!(ended(&response), row("Failure", Some("UnreachableHost"), "unknown"), "{state}");
        assert_eq!(response["PaymentResult"], Value::Null, "{state}");
        assert_eq!(response["POIData"]["POITransactionID"]["TransactionID"], "17.8ac7", "{state}");
    }
}

#[test]
fn who_stopped_it_and_why_nothing_was_sent_have_their_conditions() {
    for (outcome, reason, condition) in [
        ("cancelled", "till-cancelled", "Aborted"),
        ("cancelled", "terminal-stopped", "Aborted"),
        ("cancelled", "customer-cancelled", "Cancel"),
        ("cancelled", "no-card", "Cancel"),
        ("not-sent", "card-unreadable", "InvalidCard"),
        ("not-sent", "card-gone", "InvalidCard"),
        ("not-sent", "reader-lost", "UnavailableDevice"),
        ("not-sent", "gateway-unreachable", "UnreachableHost"),
        ("not-sent", "a reason of later", "Aborted"),
        // The reason of another outcome has no effect.
        ("declined", "gateway-unreachable", "Refusal"),
        ("reversed", "gateway-unreachable", "Aborted"),
    ] {
        let response = told(&json!({ "outcome": outcome, "reason": reason }));
        assert_eq!(ended(&response), row("Failure", Some(condition), "no"), "{outcome} {reason}");
    }
}

#[test]
fn how_the_card_came_and_who_it_was_is_told_by_its_words() {
    for (entry_mode, told_as) in [
        ("ICC", json!(["ICC"])),
        ("NFC_ICC", json!(["Contactless"])),
        ("NFC_MAGSTRIPE", json!(["Contactless"])),
        ("MAGSTRIPE", json!(["MagStripe"])),
        ("MAGSTRIPE_AS_FALLBACK", json!(["MagStripe"])),
        ("MANUAL", json!(["Keyed"])),
        ("a mode of later", Value::Null),
    ] {
        let card = json!({ "entryMode": entry_mode, "brand": "VISA", "last4": "0119" });
        let data = told(&json!({ "card": card }))["PaymentResult"]["PaymentInstrumentData"]["CardData"].clone();
        assert_eq!(data["EntryMode"], told_as, "{entry_mode}");
        assert_eq!((&data["PaymentBrand"], &data["MaskedPan"]), (&json!("VISA"), &json!("**** **** **** 0119")));
    }
    for (verification, told_as) in [
        (json!("online-pin"), json!(["OnlinePIN"])),
        (json!("offline-pin"), json!(["OfflinePIN"])),
        (json!("signature"), json!(["PaperSignature"])),
        (json!("offline-pin-and-signature"), json!(["OfflinePIN", "PaperSignature"])),
        (json!("none"), Value::Null),
        (Value::Null, Value::Null),
        (json!("own-device"), json!(["UnknownMethod"])),
    ] {
        let card = json!({ "entryMode": "ICC", "verification": verification });
        let result = told(&json!({ "card": card }))["PaymentResult"].clone();
        assert_eq!(result["AuthenticationMethod"], told_as, "{verification}");
    }
    // The host was not asked.
    assert_eq!(told(&json!({ "code": null }))["PaymentResult"]["OnlineFlag"], false);
    assert_eq!(told(&json!({}))["PaymentResult"]["OnlineFlag"], true);
}

#[test]
fn a_part_is_taken_only_by_a_till_that_wants_one_and_names_no_least() {
    let with = |data: &str, amounts: &str| {
        let body = payment("12.5", "1");
        let body = body.replace(r#""PaymentType":"Normal""#, &format!(r#""PaymentType":"Normal"{data}"#));
        body.replace(r#""RequestedAmount":12.5"#, &format!(r#""RequestedAmount":12.5{amounts}"#))
    };
    let split = r#","SplitPaymentFlag":true"#;
    for (data, amounts, takes) in [
        ("", "", false),
        (r#","SplitPaymentFlag":false"#, "", false),
        (split, "", true),
        (split, r#","MinimumAmountToDeliver":5"#, false),
        (split, r#","MinimumSplitAmount":5"#, false),
        (split, r#","MinimumAmountToDeliver":5,"MinimumSplitAmount":5"#, false),
        ("", r#","MinimumAmountToDeliver":5"#, false),
    ] {
        let mut stage = Stage::ready();
        stage.till("Payment", "1", &with(data, amounts));
        stage.is_new();
        assert_eq!(stage.begun().accept_partial, takes, "{data} {amounts}");
    }
}

#[test]
fn the_least_amount_is_one_minor_unit_and_none_is_none() {
    for (kind, begins) in
        [("Normal", Kind::Sale), ("FirstReservation", Kind::PreAuthorisation), ("Refund", Kind::Credit)]
    {
        for (amount, text) in [("0.01", Some("0.01")), ("0", None), ("0.00", None), ("0.001", None)] {
            let mut stage = Stage::ready();
            stage.session.settings.credit = true;
            stage.till("Payment", "1", &payment_of(kind, amount, "1", ""));
            match text {
                Some(text) => {
                    stage.is_new();
                    let begin = stage.begun();
                    assert_eq!((begin.kind, begin.amount.as_deref()), (begins, Some(text)), "{kind} {amount}");
                    assert_eq!((begin.currency.as_deref(), begin.of), (Some("EUR"), None), "{kind} {amount}");
                }
                None => {
                    stage.was_not_carried_out();
                    stage.failed("PaymentResponse", "MessageFormat");
                }
            }
        }
    }
}

#[test]
fn a_card_whose_number_is_typed_is_asked_for_where_a_card_is_taken() {
    for (modes, entry) in [
        (r#"["Keyed"]"#, Ok(Some(Entry::Manual))),
        (r#"["Manual"]"#, Ok(Some(Entry::Manual))),
        (r#"["ICC","Contactless"]"#, Ok(None)),
        (r#"["ICC","Tapped"]"#, Ok(None)),
        (r#"["ICC","RFID"]"#, Ok(None)),
        ("[]", Ok(None)),
        (r#"["ICC"]"#, Err(())),
        (r#"["Contactless"]"#, Err(())),
        (r#"["Tapped"]"#, Err(())),
        (r#"["RFID"]"#, Err(())),
        (r#"["MagStripe"]"#, Err(())),
    ] {
        for kind in ["Normal", "FirstReservation"] {
            let more = format!(r#","TransactionConditions":{{"ForceEntryMode":{modes}}}"#);
            let mut stage = Stage::ready();
            stage.till("Payment", "1", &payment_of(kind, "5", "1", &more));
            match entry {
                Ok(entry) => {
                    stage.is_new();
                    assert_eq!(stage.begun().entry, entry, "{kind} {modes}");
                }
                Err(()) => {
                    stage.was_not_carried_out();
                    stage.failed("PaymentResponse", "PaymentRestriction");
                }
            }
        }
    }
}

const ORIGINAL: &str = r#","OriginalPOITransaction":{"POITransactionID":{"TransactionID":"17.8ac7","TimeStamp":"t"}}"#;

/// Begins a transaction that refers to an original. Returns the begin request, or the condition of the refusal.
fn about(what: &str, amount: Option<&str>, original: &Value) -> Result<Begin, Value> {
    let mut stage = Stage::ready();
    if what == "Reversal" {
        stage.till("Reversal", "1", &reversal("17.8ac7", amount.unwrap_or_default()));
    } else {
        let body = payment_of(what, amount.unwrap_or("?"), "1", ORIGINAL).replace(r#","RequestedAmount":?"#, "");
        stage.till("Payment", "1", &body);
    }
    stage.none();
    if stage.answers.is_empty() {
        stage.list(&[]);
        if what != "Reversal" {
            stage.list(&[]);
        }
        assert_eq!(stage.asked.last().map(|(_, ask)| ask), Some(&Ask::Number(17)));
        stage.list(std::slice::from_ref(original));
        assert!(matches!(stage.asked.last(), Some((_, Ask::Show { wait_s: 0, .. }))), "{:?}", stage.asked);
        stage.sale(original);
    }
    if stage.answers.is_empty() {
        return Ok(stage.begun());
    }
    let body = if what == "Reversal" { "ReversalResponse" } else { "PaymentResponse" };
    Err(stage.answer()[body]["Response"]["ErrorCondition"].clone())
}

#[test]
fn whole_and_part_of_what_is_left_are_taken_and_given_back_to_the_minor_unit() {
    let original = |kind: &str, whole: &str, left: &str| {
        sale("nexo-original", &json!({ "kind": kind, "amount": whole, "approvedAmount": whole, "left": left }))
    };
    let sale = |left: &str| original("sale", "100.00", left);
    let held = |left: &str| original("pre-authorisation", "100.00", left);
    let stored = |left: &str| original("pre-authorisation-by-registration", "100.00", left);
    let refused = || Err(json!("NotAllowed"));
    let capture = |amount: &str| Ok((Kind::Capture, Some(amount.to_owned())));
    let refund = |amount: &str| Ok((Kind::Refund, Some(amount.to_owned())));
    let more = |amount: &str| Ok((Kind::Increment, Some(amount.to_owned())));
    let undone = || Ok((Kind::Reversal, None));
    for (what, amount, original, expected) in [
        ("Completion", None, held("100.00"), capture("100.00")),
        ("Completion", Some("100"), held("100.00"), capture("100.00")),
        ("Completion", Some("0.01"), held("100.00"), capture("0.01")),
        ("Completion", Some("100.01"), held("100.00"), refused()),
        ("Completion", Some("40.01"), held("40.00"), refused()),
        ("Completion", Some("40"), stored("40.00"), capture("40.00")),
        ("UpdateReservation", Some("100.01"), held("100.00"), more("0.01")),
        ("UpdateReservation", Some("100"), held("100.00"), refused()),
        ("UpdateReservation", Some("99.99"), held("100.00"), refused()),
        ("UpdateReservation", None, held("100.00"), Err(json!("MessageFormat"))),
        ("Refund", None, sale("100.00"), refund("100.00")),
        ("Refund", Some("100"), sale("100.00"), refund("100.00")),
        ("Refund", Some("0.01"), sale("100.00"), refund("0.01")),
        ("Refund", Some("100.01"), sale("100.00"), refused()),
        ("Refund", Some("30.01"), sale("30.00"), refused()),
        // An unused payment is reversed as a whole. A part of it, or the rest after a refund, is refunded.
        ("Reversal", None, sale("100.00"), undone()),
        ("Reversal", Some("100"), sale("100.00"), undone()),
        ("Reversal", Some("99.99"), sale("100.00"), refund("99.99")),
        ("Reversal", Some("100.01"), sale("100.00"), refused()),
        ("Reversal", None, sale("30.00"), refund("30.00")),
        ("Reversal", Some("30"), sale("30.00"), refund("30.00")),
        ("Reversal", Some("29.99"), sale("30.00"), refund("29.99")),
        ("Reversal", Some("0"), sale("100.00"), Err(json!("MessageFormat"))),
        // A reservation is reversed only as a whole.
        ("Reversal", None, held("100.00"), undone()),
        ("Reversal", None, held("40.00"), undone()),
        ("Reversal", Some("40"), stored("40.00"), undone()),
        ("Reversal", Some("99.99"), held("100.00"), refused()),
        ("Reversal", Some("39.99"), stored("40.00"), refused()),
        // No amount remains.
        ("Completion", None, held("0.00"), refused()),
        ("Refund", None, sale("0.00"), refused()),
        ("Reversal", None, sale("0.00"), refused()),
        ("UpdateReservation", Some("5"), held("0.00"), refused()),
    ] {
        let row = format!("{what} {amount:?} of {} left {}", original["kind"], original["left"]);
        let begun = about(what, amount, &original);
        let came = begun.clone().map(|begin| (begin.kind, begin.amount));
        assert_eq!(came, expected, "{row}");
        if let Ok(begin) = begun {
            assert_eq!((begin.of.as_deref(), &begin.currency), (Some("nexo-original"), &None), "{row}");
            let last = begin.parameters.get("sequence").map(String::as_str);
            assert_eq!(last, (begin.kind == Kind::Capture).then_some("FINAL"), "{row}");
            assert!(!begin.accept_partial && begin.tip.is_none() && begin.entry.is_none(), "{row}");
        }
    }
}

#[test]
fn an_original_is_meant_by_its_number_and_its_payment_or_its_time_and_by_nothing_less() {
    let time = "2026-11-23T09:00:00Z";
    for (id, at, found) in [
        ("17.8ac7", "t", true),
        ("17.8ac8", "t", false),
        ("17.8ac", "t", false),
        ("17.", "t", false),
        ("18.8ac7", "t", false),
        // Without a payment ID, the time must match.
        ("17", time, true),
        ("17", "2026-11-23T09:00:01Z", false),
        ("18", time, false),
    ] {
        let mut stage = Stage::ready();
        let original = format!(r#"{{"POITransactionID":{{"TransactionID":"{id}","TimeStamp":"{at}"}}}}"#);
        stage.till(
            "Reversal",
            "1",
            &format!(r#"{{"OriginalPOITransaction":{original},"ReversalReason":"CustCancel"}}"#),
        );
        stage.none();
        stage.list(&[]);
        stage.list(&[sale("nexo-original", &json!({}))]);
        if found {
            assert!(matches!(stage.asked.last(), Some((_, Ask::Show { .. }))), "{id} {at}");
        } else {
            stage.failed("ReversalResponse", "NotFound");
        }
    }
    // An invalid name, and names from another till or terminal.
    for (original, condition) in [
        (r#"{"POITransactionID":{"TransactionID":"x","TimeStamp":"t"}}"#, "NotFound"),
        (r#"{"SaleID":"till","POIID":"A-1","POITransactionID":{"TransactionID":"x","TimeStamp":"t"}}"#, "NotFound"),
        (r#"{"SaleID":"other","POITransactionID":{"TransactionID":"17.8ac7","TimeStamp":"t"}}"#, "NotFound"),
        (r#"{"POIID":"B-2","POITransactionID":{"TransactionID":"17.8ac7","TimeStamp":"t"}}"#, "NotFound"),
        ("{}", "MessageFormat"),
    ] {
        let mut stage = Stage::ready();
        stage.till(
            "Reversal",
            "1",
            &format!(r#"{{"OriginalPOITransaction":{original},"ReversalReason":"CustCancel"}}"#),
        );
        while !stage.asked.is_empty() {
            if let Some((_, Ask::Show { .. })) = stage.asked.last() { stage.none() } else { stage.list(&[]) }
        }
        stage.failed("ReversalResponse", condition);
    }
}

#[test]
fn a_reversal_tells_an_amount_only_when_it_is_done() {
    for (more, told) in [
        (json!({ "approvedAmount": "12.50" }), json!(12.5)),
        (json!({ "outcome": "partially-approved", "approvedAmount": "4.50" }), json!(4.5)),
        (json!({ "approvedAmount": null }), json!(12.5)),
        (json!({ "outcome": "not-sent" }), Value::Null),
        (json!({ "outcome": "reversed" }), Value::Null),
        (json!({ "state": "unconfirmed-finishing", "outcome": "approved" }), Value::Null),
    ] {
        let mut stage = Stage::ready();
        stage.till("Reversal", "1", &reversal("17.8ac7", ""));
        stage.none();
        stage.list(&[]);
        stage.list(&[sale("nexo-original", &json!({}))]);
        stage.sale(&sale("nexo-original", &json!({})));
        let reference = stage.begun().reference;
        let mut done = sale(&reference, &json!({ "kind": "reversal", "of": "nexo-original" }));
        done.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stage.sale(&done);
        if stage.asked.last().is_some() {
            stage.no_receipts();
        }
        assert_eq!(stage.answer()["ReversalResponse"]["ReversedAmount"], told, "{more}");
    }
}

#[test]
fn an_approval_in_part_is_told_with_its_own_amount_when_it_is_told_once_more() {
    let mut stage = Stage::ready();
    stage.till("Payment", "1", &payment("12.5", "27908"));
    let kept = json!({ "outcome": "partially-approved", "approvedAmount": "6.00" });
    stage.is_new();
    let reference = stage.begun().reference;
    let part = sale(&reference, &kept);
    stage.sale(&part);
    stage.no_receipts();
    let first = stage.answer()["PaymentResponse"].clone();
    stage.till("TransactionStatus", "2", r#"{"MessageReference":{"MessageCategory":"Payment","ServiceID":"1"}}"#);
    while !stage.asked.is_empty() {
        if let Some((_, Ask::Show { .. })) = stage.asked.last() {
            stage.sale(&part)
        } else {
            stage.list(std::slice::from_ref(&part))
        }
    }
    let again = stage.answer()["TransactionStatusResponse"]["RepeatedMessageResponse"]
        ["RepeatedResponseMessageBody"]["PaymentResponse"]
        .clone();
    for response in [first, again] {
        assert_eq!(ended(&response), row("Partial", None, "yes"), "{response}");
        assert_eq!(response["PaymentResult"]["AmountsResp"]["AuthorizedAmount"], 6, "{response}");
    }
}
