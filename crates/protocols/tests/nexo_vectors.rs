//! Tests of nexo messages in their form on the network. They use messages of open-source clients (`@adyen/api-library`
//! 32.1.0), examples from Adyen's documentation, and sealed messages that its client opens. If a test here fails, the
//! code is wrong.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pos_protocols::nexo::additional;
use pos_protocols::nexo::enums::*;
use pos_protocols::nexo::envelope::{Envelope, MAX_MESSAGE, Message, ReadError, header_of};
use pos_protocols::nexo::header::Header;
use pos_protocols::nexo::number::Decimal;
use pos_protocols::nexo::receipt::{self, Line, PaymentReceipt, Profile};
use pos_protocols::nexo::reject::Rejected;
use pos_protocols::nexo::request::{Request, RequestBody};
use pos_protocols::nexo::response::*;
use pos_protocols::nexo::seal::{BlobError, Key};
use pos_protocols::nexo::shared::*;
use proptest::prelude::*;
use serde_json::Value;

/// A payment from the client's own test, plus other fields that tills send.
const PAYMENT: &str = r#"{"SaleToPOIRequest":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service",
"MessageCategory":"Payment","MessageType":"Request","ServiceID":"325488592","SaleID":"POSSystemID12345",
"POIID":"P400Plus-123456789"},"PaymentRequest":{"SaleData":{"OperatorID":"7","ShiftNumber":"2","SaleTransactionID":
{"TransactionID":"999","TimeStamp":"2026-11-23T17:19:15.000Z"},"SaleReferenceID":"order 1","TokenRequestedType":
"Customer","SaleToAcquirerData":"tenderOption=AskGratuity&currency=EUR","SponsoredMerchant":null},"PaymentTransaction":
{"AmountsReq":{"Currency":"EUR","RequestedAmount":1000.10,"TipAmount":0.5,"MinimumSplitAmount":null},"SaleItem":
[{"ItemID":1,"ItemAmount":-0.30000000000000004}],"TransactionConditions":{"AllowedPaymentBrand":["mc","visa"],
"ForceEntryMode":["ICC","Tapped"],"CustomerLanguage":"de","DebitPreferredFlag":null}},"PaymentData":
{"PaymentType":"Normal","SplitPaymentFlag":true}},"Vendor":{"deep":[[[[]]]]}}}"#;

/// The same message, sealed with the key of `mypassphrase` and a nonce of 00 to 0f. This code produced it, and the
/// client opens it.
const SEALED: &str = include_str!("nexo_sealed.json");

/// The key is derived once, because the derivation is slow without compiler optimisation.
static KEY: LazyLock<Key> = LazyLock::new(|| Key::derive("mypassphrase", "mykey", 1).unwrap());

fn key() -> Key {
    KEY.clone()
}

fn nonce() -> [u8; 16] {
    std::array::from_fn(|at| u8::try_from(at).unwrap())
}

fn plain(text: &str) -> Result<Message, ReadError> {
    match Envelope::read(text.as_bytes())? {
        Envelope::Plain(message) => Ok(message),
        Envelope::Sealed(sealed) => panic!("it is sealed: {sealed:?}"),
    }
}

fn request(text: &str) -> Request {
    match plain(text).unwrap() {
        Message::Request(request) => {
            // The written message is read back as the same message.
            let written = String::from_utf8(Message::Request(request.clone()).write()).unwrap();
            assert_eq!(plain(&written), Ok(Message::Request(request.clone())), "{written}");
            request
        }
        Message::Response(response) => panic!("no request: {response:?}"),
    }
}

/// Builds a request with this category and body.
fn of(category: &str, body: &str) -> String {
    let name = match category {
        "Event" => "EventNotification".to_owned(),
        _ => format!("{category}Request"),
    };
    let kind = if category == "Event" { "Notification" } else { "Request" };
    format!(
        r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"ProtocolVersion":"3.0","MessageClass":"Service",
        "MessageCategory":"{category}","MessageType":"{kind}","ServiceID":"1","SaleID":"till","POIID":"A-1"}},
        "{name}":{body}}}}}"#
    )
}

#[test]
fn a_payment_is_read_to_the_cent() {
    let request = request(PAYMENT);
    assert_eq!(request.header.service_id.as_deref(), Some("325488592"));
    let RequestBody::Payment(payment) = &request.body else { panic!("no payment") };
    let amounts = &payment.payment_transaction.amounts_req;
    assert_eq!(amounts.requested_amount.unwrap().to_minor(2), Ok(100_010));
    assert_eq!((amounts.tip_amount.unwrap().to_minor(2), amounts.minimum_split_amount), (Ok(50), None));
    assert_eq!(amounts.requested_amount.unwrap().to_string(), "1000.1");
    assert_eq!(payment.payment_type(), PaymentType::Normal);
    assert!(payment.payment_data.as_ref().unwrap().split_payment_flag);
    let conditions = payment.payment_transaction.transaction_conditions.as_ref().unwrap();
    assert_eq!(conditions.force_entry_mode, [ForceEntryMode::Icc, ForceEntryMode::Tapped]);
    let data = &payment.sale_data;
    assert_eq!(data.sale_to_acquirer_data.as_ref().unwrap().get("tenderOption").as_deref(), Some("AskGratuity"));
    assert_eq!(data.token_requested_type, Some(TokenRequestedType::Customer));
    assert_eq!(request.body.transaction().unwrap().transaction_id, "999");
    // This value must not change, because journals contain it as the till's reference.
    assert_eq!(request.identity().reference(), "nexo-bofpjdcmihkpndlo-adcpbakfnklbocao-facofbbnjafllbdiipig");
}

#[test]
fn each_category_is_read_and_written() {
    let reference = r#"{"MessageCategory":"Payment","SaleID":"till","ServiceID":"9"}"#;
    let content = r#"{"OutputFormat":"Text","OutputText":[{"Text":"a","EndOfLineFlag":false,"CharacterStyle":"Fancy"},
        {"Text":"b"},{"Text":"c","Alignment":"Centred"}]}"#;
    let shown = format!(r#"{{"Device":"CustomerDisplay","InfoQualify":"Display","OutputContent":{content}}}"#);
    let bodies = [
        (
            "Reversal",
            r#"{"OriginalPOITransaction":{"POITransactionID":{"TransactionID":"a.b","TimeStamp":"t"}},
            "ReversalReason":"MerchantCancel","ReversedAmount":7.5,"SaleData":{"SaleTransactionID":{"TransactionID":"2",
            "TimeStamp":"t"},"SaleToAcquirerData":"currency=EUR"}}"#
                .to_owned(),
        ),
        ("Abort", format!(r#"{{"AbortReason":"MerchantAbort","MessageReference":{reference}}}"#)),
        (
            "TransactionStatus",
            format!(
                r#"{{"ReceiptReprintFlag":true,"DocumentQualifier":["CashierReceipt"],
            "MessageReference":{reference}}}"#
            ),
        ),
        ("Diagnosis", r#"{"HostDiagnosisFlag":true}"#.to_owned()),
        (
            "Login",
            r#"{"DateTime":"2026-11-23T17:19:15Z","OperatorLanguage":"de","OperatorID":"7","SaleSoftware":
            {"ManufacturerID":"m","ApplicationName":"a","SoftwareVersion":"1","CertificationCode":"c"},
            "SaleTerminalData":{"TotalsGroupID":"g","SaleCapabilities":["Something"]},"TrainingModeFlag":true}"#
                .to_owned(),
        ),
        ("Logout", r#"{"MaintenanceAllowed":true}"#.to_owned()),
        (
            "Print",
            format!(
                r#"{{"PrintOutput":{{"DocumentQualifier":"Document","ResponseMode":"PrintEnd",
            "OutputContent":{content}}}}}"#
            ),
        ),
        ("Display", format!(r#"{{"DisplayOutput":[{shown}]}}"#)),
        (
            "Input",
            format!(
                r#"{{"DisplayOutput":{shown},"InputData":{{"Device":"CustomerInput","InfoQualify":"Input",
            "InputCommand":"GetConfirmation","MaxInputTime":30}}}}"#
            ),
        ),
        ("Reconciliation", r#"{"ReconciliationType":"SaleReconciliation"}"#.to_owned()),
        ("GetTotals", r#"{"TotalDetails":["OperatorID"],"TotalFilter":{"SaleID":"till"}}"#.to_owned()),
        ("EnableService", r#"{"TransactionAction":"StartTransaction","ServicesEnabled":["Payment"]}"#.to_owned()),
        ("Event", r#"{"EventToNotify":"SaleWakeUp","TimeStamp":"t"}"#.to_owned()),
    ];
    for (category, body) in &bodies {
        let request = request(&of(category, body));
        assert_eq!(request.body.category().as_str(), *category);
        let Some(body) = request.body.answered(Outcome::failure(ErrorCondition::Busy)) else {
            assert!(matches!(request.body, RequestBody::Abort(_) | RequestBody::Event(_)), "{category}");
            continue;
        };
        let answer = Message::Response(Response { header: request.header.response(), body });
        let written = String::from_utf8(answer.write()).unwrap();
        assert!(written.contains(&format!("\"{category}Response\":{{")), "{written}");
        assert!(written.contains(r#""Result":"Failure","ErrorCondition":"Busy""#), "{written}");
        assert_eq!(plain(&written), Ok(answer));
    }
    let RequestBody::Print(print) = request(&of("Print", &bodies[6].1)).body else { panic!("no print") };
    assert_eq!(print.print_output.output_content.lines(), ["ab", "c"]);
    assert_eq!(print.print_output.output_content.output_text[0].character_style, None);
}

#[test]
fn what_is_known_and_not_served_is_told_apart_from_what_is_not_known() {
    for category in [
        "StoredValue",
        "Loyalty",
        "BalanceInquiry",
        "Batch",
        "Sound",
        "PIN",
        "CardAcquisition",
        "Transmit",
        "Admin",
        "CardReaderInit",
        "CardReaderAPDU",
        "CardReaderPowerOff",
    ] {
        let request = request(&of(category, "{}"));
        assert!(matches!(request.body, RequestBody::Unserved(_)), "{category}");
        let body = request.body.answered(Outcome::failure(ErrorCondition::UnavailableService)).unwrap();
        let answer = Message::Response(Response { header: request.header.response(), body }).write();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let outcome = &answer["SaleToPOIResponse"][format!("{category}Response")]["Response"];
        assert_eq!(outcome["ErrorCondition"], "UnavailableService", "{answer}");
    }
    let unknown = plain(&of("Teleport", "{}")).unwrap_err();
    assert_eq!(unknown.to_string(), "MessageHeader.MessageCategory: \"Teleport\" is not a value of Category");
}

#[test]
fn what_is_wrong_is_named_and_not_repeated() {
    let wrong = |from: &str, to: &str| {
        assert!(PAYMENT.contains(from), "{from}");
        plain(&PAYMENT.replacen(from, to, 1)).unwrap_err().to_string()
    };
    let field = |rest: &str| format!("PaymentRequest.{rest}");
    for (from, to, said) in [
        (
            r#""PaymentType":"Normal""#,
            r#""PaymentType":"Free""#,
            field(r#"PaymentData.PaymentType: "Free" is not a value of PaymentType"#),
        ),
        (
            r#""PaymentType":"Normal""#,
            r#""PaymentType":{"Normal":null}"#,
            field("PaymentData.PaymentType: must be a string"),
        ),
        (
            r#""PaymentType":"Normal""#,
            r#""PaymentType":"4111111111111111""#,
            field(r#"PaymentData.PaymentType: "…" is not a value of PaymentType"#),
        ),
        (
            r#"["ICC","#,
            r#"["Icc","#,
            field(
                r#"PaymentTransaction.TransactionConditions.ForceEntryMode[0]: "Icc" is not a value of ForceEntryMode"#,
            ),
        ),
        ("1000.10", "-1", field("PaymentTransaction.AmountsReq.RequestedAmount: must not be negative")),
        (
            "1000.10",
            "\"4111111111111111\"",
            field("PaymentTransaction.AmountsReq.RequestedAmount: must be a number, as 12.34 without quotes"),
        ),
        (
            "1000.10",
            "1e300",
            field("PaymentTransaction.AmountsReq.RequestedAmount: has too many digits; an amount has at most 12"),
        ),
        (r#""Currency":"EUR","#, "", field("PaymentTransaction.AmountsReq: missing field `Currency`")),
        (
            r#""Currency":"EUR""#,
            r#""Currency":"EUR","Currency":"USD""#,
            field("PaymentTransaction.AmountsReq: duplicate field `Currency`"),
        ),
        (r#""OperatorID":"7""#, r#""OperatorID":4111111111111111"#, field("SaleData.OperatorID: must be a string")),
        (
            r#""ServiceID":"325488592""#,
            r#""ServiceID":"32548859200""#,
            "MessageHeader.ServiceID must have 1 to 10 characters".to_owned(),
        ),
        (r#""POIID":"P400Plus-123456789""#, r#""POI":"x""#, "MessageHeader: missing field `POIID`".to_owned()),
        (
            r#""MessageType":"Request""#,
            r#""MessageType":"Response""#,
            "MessageHeader.MessageType does not fit this kind of message".to_owned(),
        ),
        ("\"PaymentRequest\"", "\"PaymentReq\"", "PaymentRequest is missing".to_owned()),
        ("\"Vendor\"", "\"ReversalRequest\"", "ReversalRequest is not the body of this message".to_owned()),
        ("\"Vendor\"", "\"NexoBlob\"", "PaymentRequest is not the body of this message".to_owned()),
        ("\"Vendor\"", "\"MessageHeader\"", "SaleToPOIRequest: a name occurs twice".to_owned()),
        (
            "SaleToPOIRequest",
            "SaleToPOIResponse",
            "MessageHeader.MessageType does not fit this kind of message".to_owned(),
        ),
        (
            "SaleToPOIRequest",
            "Hello",
            "the message must be an object with SaleToPOIRequest or SaleToPOIResponse".to_owned(),
        ),
    ] {
        assert_eq!(wrong(from, to), said);
    }
    assert!(matches!(plain("{"), Err(ReadError::NotJson { .. })));
    assert!(matches!(plain(&format!("{PAYMENT}x")), Err(ReadError::NotJson { .. })));
    assert_eq!(plain("[1]").unwrap_err().to_string(), "the message: must be an object");
    assert_eq!(plain(&of("Logout", "[true]")).unwrap_err().to_string(), "LogoutRequest: must be an object");
    let input_update = r#"{"SaleToPOIResponse":{"MessageHeader":{"MessageClass":"Service","MessageCategory":"Abort",
        "MessageType":"Response","ServiceID":"1","SaleID":"till","POIID":"A-1"}}}"#;
    assert_eq!(plain(input_update), Err(ReadError::NoResponse { category: Category::Abort }));
}

#[test]
fn size_and_depth_are_bounded() {
    let padded = |length: usize| {
        let body = of("Logout", "{}");
        format!("{}{body}", " ".repeat(length - body.len()))
    };
    assert!(plain(&padded(MAX_MESSAGE)).is_ok());
    assert_eq!(plain(&padded(MAX_MESSAGE + 1)), Err(ReadError::TooLarge { most: MAX_MESSAGE }));
    // The nesting is too deep for a recursive parser. It is skipped in an ignored field, and refused elsewhere.
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(plain(&of("Logout", &format!("{{\"Unknown\":{deep}}}"))).is_ok());
    assert!(plain(&of("Logout", &format!("{{\"MaintenanceAllowed\":{deep}}}"))).is_err());
    let many: String = (0..70).map(|at| format!("\"{at}\":0,")).collect();
    let many = plain(&format!("{{{many}\"SaleToPOIRequest\":{{}}}}")).unwrap_err();
    assert_eq!(many.to_string(), "the message: too many fields");
}

#[test]
fn a_sealed_message_is_this_and_is_opened() {
    let message = plain(PAYMENT).unwrap();
    let sealed = String::from_utf8(message.seal(&key(), nonce())).unwrap();
    assert_eq!(sealed, SEALED.trim_end());
    let Envelope::Sealed(sealed) = Envelope::read(SEALED.as_bytes()).unwrap() else { panic!("it is plain") };
    let other = Key::derive("another passphrase", "mykey", 1).unwrap();
    let keys = [other.clone(), key()];
    let opened = sealed.open(&keys).unwrap();
    assert_eq!((opened.key.identifier(), opened.message), ("mykey", Ok(message)));
    assert_eq!(sealed.open(&[other]).err(), Some(BlobError));
    assert_eq!(sealed.open(&[]).err(), Some(BlobError));
    assert_eq!(sealed.open(&[Key::derive("mypassphrase", "mykey", 2).unwrap()]).err(), Some(BlobError));
    assert_eq!(sealed.open(&[Key::derive("mypassphrase", "other", 1).unwrap()]).err(), Some(BlobError));
}

#[test]
fn whatever_is_wrong_with_a_sealed_message_is_one_error() {
    let open = |text: &str| match Envelope::read(text.as_bytes()) {
        Ok(Envelope::Sealed(sealed)) => sealed.open(&[key()]).map(|_| ()),
        other => panic!("it is not read as sealed: {other:?}"),
    };
    assert_eq!(open(SEALED), Ok(()));
    for (from, to) in [
        // The plain header differs from the sealed one.
        (r#""SaleID":"POSSystemID12345""#, r#""SaleID":"another till""#),
        (r#""MessageCategory":"Payment""#, r#""MessageCategory":"Abort""#),
        (r#""ServiceID":"325488592""#, r#""ServiceID":"325488593""#),
        // The value has the wrong type or form.
        (r#""NexoBlob":""#, r#""NexoBlob":7,"x":""#),
        (r#""NexoBlob":""#, r#""NexoBlob":"!"#),
        (r#""Nonce":""#, r#""Nonce":null,"x":""#),
        (r#""Hmac":""#, r#""H":""#),
        (r#""KeyVersion":1"#, r#""KeyVersion":"1""#),
        (r#""KeyVersion":1"#, r#""KeyVersion":-1"#),
        (r#""KeyVersion":1"#, r#""KeyVersion":2"#),
        (r#""KeyIdentifier":"mykey""#, r#""KeyIdentifier":"mykex""#),
        (r#""AdyenCryptoVersion":1"#, r#""AdyenCryptoVersion":0"#),
        (r#""SecurityTrailer""#, r#""Trailer""#),
        (r#""SecurityTrailer":{"#, r#""SecurityTrailer":[],"x":{"#),
    ] {
        assert!(SEALED.contains(from), "{from}");
        assert_eq!(open(&SEALED.replacen(from, to, 1)), Err(BlobError), "{to}");
    }
    // The blob is authentic, but its content is not a message, or is another sealed message.
    for plaintext in ["", "{", "[]", "{\"SaleToPOIRequest\":{}}", SEALED] {
        let blob = key().seal(plaintext.as_bytes(), nonce());
        let mut sealed: Value = serde_json::from_str(SEALED).unwrap();
        sealed["SaleToPOIRequest"]["NexoBlob"] = blob.sealed.into();
        sealed["SaleToPOIRequest"]["SecurityTrailer"]["Hmac"] = blob.trailer.hmac.into();
        assert_eq!(open(&sealed.to_string()), Err(BlobError), "{plaintext}");
    }
    // A sender that has the key learns the error in the body.
    let blob = key().seal(PAYMENT.replace("\"Normal\"", "\"Free\"").as_bytes(), nonce());
    let mut sealed: Value = serde_json::from_str(SEALED).unwrap();
    sealed["SaleToPOIRequest"]["NexoBlob"] = blob.sealed.into();
    sealed["SaleToPOIRequest"]["SecurityTrailer"]["Hmac"] = blob.trailer.hmac.into();
    let Ok(Envelope::Sealed(sealed)) = Envelope::read(sealed.to_string().as_bytes()) else { panic!("it is plain") };
    assert!(matches!(sealed.open(&[key()]).unwrap().message, Err(ReadError::Field { .. })));
}

#[test]
fn an_answer_is_written_as_terminals_write_it() {
    let request = request(PAYMENT);
    let time = |id: &str| TransactionIdentification {
        transaction_id: id.to_owned(),
        time_stamp: "2026-11-23T17:19:44.000Z".to_owned(),
    };
    let amount = |minor| Decimal::from_minor(minor, 2).unwrap();
    let Some(ResponseBody::Payment(answered)) = request.body.answered(Outcome::success()) else { panic!("no payment") };
    let lines = [Line::pair("TOTAL", "€ 1000.10").key(receipt::key::TOTAL_AMOUNT).bold()];
    let payment = PaymentResponse {
        outcome: Outcome::success().with(additional::write([("tid", "75039202"), ("cardType", "mc & co")])),
        poi_data: Some(PoiData { poi_transaction_id: time("8ha5.1"), poi_reconciliation_id: Some("1000".to_owned()) }),
        payment_result: Some(PaymentResult {
            payment_type: Some(PaymentType::Normal),
            payment_instrument_data: Some(PaymentInstrumentData {
                payment_instrument_type: PaymentInstrumentType::Card,
                card_data: Some(CardData {
                    entry_mode: vec![EntryMode::Icc],
                    masked_pan: Some("541333 **** 9999".to_owned()),
                    payment_brand: Some("mc".to_owned()),
                    ..CardData::default()
                }),
            }),
            amounts_resp: Some(AmountsResp {
                currency: Some("EUR".to_owned()),
                authorized_amount: amount(100_010),
                tip_amount: Some(amount(50)),
            }),
            online_flag: Some(true),
            authentication_method: vec![AuthenticationMethod::OnlinePin],
            payment_acquirer_data: Some(PaymentAcquirerData {
                merchant_id: "Shop".to_owned(),
                acquirer_poi_id: "P400Plus-123456789".to_owned(),
                acquirer_transaction_id: Some(time("77")),
                approval_code: Some("123456".to_owned()),
            }),
        }),
        payment_receipt: vec![PaymentReceipt::new(
            DocumentQualifier::CustomerReceipt,
            false,
            &lines,
            Profile::Adyen,
            24,
        )],
        ..*answered
    };
    let header = request.header.response();
    let answer =
        Message::Response(Response { header: header.clone(), body: ResponseBody::Payment(Box::new(payment.clone())) });
    let expected = concat!(
        r#"{"SaleToPOIResponse":{"MessageHeader":{"ProtocolVersion":"3.0","MessageClass":"Service","#,
        r#""MessageCategory":"Payment","MessageType":"Response","ServiceID":"325488592","SaleID":"POSSystemID12345","#,
        r#""POIID":"P400Plus-123456789"},"PaymentResponse":{"Response":{"Result":"Success","#,
        r#""AdditionalResponse":"tid=75039202&cardType=mc%20%26%20co"},"SaleData":{"SaleTransactionID":"#,
        r#"{"TransactionID":"999","TimeStamp":"2026-11-23T17:19:15.000Z"},"SaleReferenceID":"order 1"},"#,
        r#""POIData":{"POITransactionID":{"TransactionID":"8ha5.1","TimeStamp":"2026-11-23T17:19:44.000Z"},"#,
        r#""POIReconciliationID":"1000"},"PaymentResult":{"PaymentType":"Normal","PaymentInstrumentData":"#,
        r#"{"PaymentInstrumentType":"Card","CardData":{"PaymentBrand":"mc","MaskedPan":"541333 **** 9999","#,
        r#""EntryMode":["ICC"]}},"AmountsResp":{"Currency":"EUR","AuthorizedAmount":1000.10,"TipAmount":0.50},"#,
        r#""OnlineFlag":true,"AuthenticationMethod":["OnlinePIN"],"PaymentAcquirerData":{"MerchantID":"Shop","#,
        r#""AcquirerPOIID":"P400Plus-123456789","AcquirerTransactionID":{"TransactionID":"77","#,
        r#""TimeStamp":"2026-11-23T17:19:44.000Z"},"ApprovalCode":"123456"}},"PaymentReceipt":"#,
        r#"[{"DocumentQualifier":"CustomerReceipt","RequiredSignatureFlag":false,"OutputContent":{"#,
        r#""OutputFormat":"Text","OutputText":[{"Text":"name=TOTAL&value=%e2%82%ac%201000.10&key=totalAmount","#,
        r#""CharacterStyle":"Bold","EndOfLineFlag":true}]}}]}}}"#,
    );
    assert_eq!(String::from_utf8(answer.write()).unwrap(), expected);
    assert_eq!(plain(expected), Ok(answer));

    // A TransactionStatus gets the same answer again.
    let body = ResponseBody::TransactionStatus(Box::new(TransactionStatusResponse {
        outcome: Outcome::success(),
        message_reference: None,
        repeated_message_response: Some(RepeatedMessageResponse {
            message_header: header,
            repeated_response_message_body: RepeatedBody { payment_response: Some(payment), reversal_response: None },
        }),
    }));
    let header = Header::request(Category::TransactionStatus, "2", "till", "A-1").response();
    let repeated = Message::Response(Response { header, body });
    let written = String::from_utf8(repeated.write()).unwrap();
    assert!(written.contains(r#""RepeatedResponseMessageBody":{"PaymentResponse":{"Response":"#), "{written}");
    assert!(written.contains(r#""AuthorizedAmount":1000.10,"#), "{written}");
    assert_eq!(plain(&written), Ok(repeated));
}

#[test]
fn what_cannot_be_read_is_rejected_by_an_event() {
    let received = PAYMENT.replace("\"Normal\"", "\"Free\"");
    let error = plain(&received).unwrap_err();
    let header = header_of(received.as_bytes());
    let rejected = Rejected {
        header: header.as_ref(),
        received: received.as_bytes(),
        poi_id: "A-1",
        device_id: "666568147",
        time_stamp: "2026-11-23T17:19:44.000Z",
    };
    let written: Value = serde_json::from_slice(&rejected.notification(&error).write()).unwrap();
    let (header, event) =
        (&written["SaleToPOIRequest"]["MessageHeader"], &written["SaleToPOIRequest"]["EventNotification"]);
    assert_eq!(header["MessageClass"], "Event");
    assert_eq!((&header["MessageCategory"], &header["MessageType"]), (&"Event".into(), &"Notification".into()));
    assert_eq!((&header["ServiceID"], &header["DeviceID"]), (&"325488592".into(), &"666568147".into()));
    assert_eq!((&header["SaleID"], &header["POIID"]), (&"POSSystemID12345".into(), &"P400Plus-123456789".into()));
    assert_eq!(event["EventToNotify"], "Reject");
    let details = additional::read(event["EventDetails"].as_str().unwrap());
    assert_eq!(details, [("message".to_owned(), error.to_string())]);
    assert_eq!(STANDARD.decode(event["RejectedMessage"].as_str().unwrap()).unwrap(), received.as_bytes());
    assert!(event.get("MaintenanceRequiredFlag").is_none());

    // If the message is not JSON, its header is unknown.
    assert_eq!(header_of(b"{"), None);
    let rejected = Rejected { header: None, received: b"{", ..rejected };
    let notification = rejected.notification(&plain("{").unwrap_err());
    assert_eq!((notification.header().sale_id.as_deref(), notification.header().poi_id.as_str()), (None, "A-1"));
    let written = String::from_utf8(notification.write()).unwrap();
    assert_eq!(plain(&written), Ok(notification.clone()));
    // The client expects a sealed notification in the response frame.
    let sealed = notification.seal_as_answer(&key(), nonce());
    assert!(sealed.starts_with(b"{\"SaleToPOIResponse\":"));
    let envelope = Envelope::read(&sealed);
    let Ok(Envelope::Sealed(sealed)) = envelope else { panic!("{envelope:?}") };
    assert_eq!(sealed.open(&[key()]).unwrap().message, Ok(notification));
}

#[test]
fn what_was_typed_is_told_in_both_forms() {
    let header = r#""MessageHeader":{"MessageClass":"Device","MessageCategory":"Input","MessageType":"Response",
        "ServiceID":"1","SaleID":"till","POIID":"A-1"}"#;
    for (numbers, expected) in [("[2,3]", vec![2, 3]), ("2", vec![2]), ("null", vec![])] {
        let text = format!(
            r#"{{"SaleToPOIResponse":{{{header},"InputResponse":{{"InputResult":{{"Device":"CustomerInput",
            "InfoQualify":"Input","Response":{{"Result":"Success"}},"Input":{{"InputCommand":"GetMenuEntry",
            "MenuEntryNumber":{numbers}}}}}}}}}}}"#
        );
        let Ok(Message::Response(Response { body: ResponseBody::Input(input), .. })) = plain(&text) else {
            panic!("no input: {text}")
        };
        assert_eq!(input.input_result.input.unwrap().menu_entry_number, expected);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (Envelope::read(&bytes).is_ok(), header_of(&bytes));
    }

    #[test]
    fn a_changed_message_is_read_or_refused(
        sealed in any::<bool>(),
        at in any::<prop::sample::Index>(),
        with in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = if sealed { SEALED } else { PAYMENT };
        let mut bytes = text.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = with;
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
            match Envelope::read(bytes) {
                Ok(Envelope::Sealed(sealed)) => drop(sealed.open(std::slice::from_ref(&*KEY))),
                Ok(Envelope::Plain(message)) => prop_assert_eq!(
                    Envelope::read(&message.write()), Ok(Envelope::Plain(message)),
                ),
                Err(error) => prop_assert!(error.to_string().len() < 1000),
            }
        }
    }

    #[test]
    fn sealed_messages_are_opened(nonce in any::<[u8; 16]>(), service in "[!-~]{1,10}", sale in "[!-~äß]{1,40}") {
        let header = Header::request(Category::Logout, &service, &sale, "A-1");
        let body = RequestBody::Logout(pos_protocols::nexo::request::LogoutRequest { maintenance_allowed: true });
        let message = Message::Request(Request { header, body });
        let envelope = Envelope::read(&message.seal(&KEY, nonce)).unwrap();
        let Envelope::Sealed(sealed) = envelope else { panic!("it is plain") };
        prop_assert_eq!(sealed.open(std::slice::from_ref(&*KEY)).unwrap().message, Ok(message));
    }
}
