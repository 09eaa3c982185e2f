//! The simulated gateway over real HTTPS, with two independent clients: `reqwest`, with forms that the tests build from
//! the interface documents, and `curl`.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests are tests")]

mod literal;
mod permissive;

use std::process::Stdio;

use crate::card_reader::{PAN, Reader, Sealed};
use crate::shop_client::{Form, Sales, Shop, base, owned, sealed_sale, upper, value, with};
use pos_sim::gateway::{Certificate, Kind, LedgerEntry, Mode, Options, Outcome, State};
use pos_sim::keys::cryptogram::Issuer;
use pos_sim::keys::issuer_script::ScriptKey;
use pos_sim::keys::{TEST_BDK_AES, TEST_IMK_AC, TEST_IMK_SMI, TEST_KSN_SRED_AES, ZERO_IV_16, aes_dukpt};
use pos_sim::reader::deck;
use pos_terms::emv::tlv;
use serde_json::Value;

#[tokio::test]
async fn a_chip_sale_with_pin_is_approved_in_the_documented_formats() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    let form = reader.chip_sale("12.34", "1234-0001-first");
    let (status, answer) = shop.pay(&form).await;
    assert_eq!(status, 200, "{answer}");
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}"));
    for (pointer, value) in [
        ("/paymentType", "DB"),
        ("/paymentBrand", "VISA"),
        ("/brandResult", "VISA"),
        ("/amount", "12.34"),
        ("/currency", "EUR"),
        ("/merchantTransactionId", "1234-0001-first"),
        ("/result/code", "000.100.110"),
        ("/card/bin", "476173"),
        ("/card/last4Digits", "0119"),
    ] {
        assert_eq!(text(pointer), value, "{pointer}");
    }
    assert!(is_shaped(text("/id"), "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
    assert!(is_shaped(text("/timestamp"), "dddd-dd-dd dd:dd:dd+0000"));
    assert!(is_shaped(text("/pos/timestamp"), "dddd-dd-dd dd:dd:dd"));
    for code in ["authorizationAcquirerCode", "authorizationIssuerCode", "identifier"] {
        assert!(text(&format!("/pos/clearing/{code}")).bytes().all(|c| c.is_ascii_alphanumeric()), "{code}");
    }
    assert!(text("/ndc").len() <= 69 && text("/ndc").bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-'));
    assert!(!text("/buildNumber").is_empty() && !text("/pos/statusText").is_empty());

    // The card accepts the issuer's answer: tag 8A with "00", then tag 91 with eight bytes.
    let icc = hex::decode(text("/pos/iccDataResponse")).unwrap();
    assert_eq!(icc[..6], [0x8A, 2, b'0', b'0', 0x91, 8]);
    assert_eq!(reader.card.accepts(&hex::decode(value(&form, "pos.iccDataRequest")).unwrap(), &icc[6..]), Ok(true));

    let ledger = shop.gateway.ledger();
    let [entry] = ledger.entries() else { panic!("{ledger:?}") };
    let LedgerEntry { id, kind: Kind::Debit, state: State::Approved, entry_mode, parameters, .. } = entry else {
        panic!("{entry:?}")
    };
    assert_eq!((id.as_str(), entry_mode.as_deref()), (text("/id"), Some("ICC")));
    assert!(parameters.iter().any(|name| name == "pos.encryptedSred.ksn"));
    assert_eq!(ledger.charged("1234-0001-first").len(), 1);
    let times = shop.gateway.last_payment().unwrap();
    assert!(times.answer_out.unwrap() >= times.request_in);
}

#[tokio::test]
async fn tap_swipe_fallback_and_magstripe_tap_are_approved_and_a_swiped_chip_is_not() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    for (n, (entry_mode, service_code, status)) in [
        ("NFC_ICC", "201", 200),
        ("MAGSTRIPE", "101", 200),
        ("MAGSTRIPE", "201", 400),
        ("MAGSTRIPE", "601", 400),
        ("MAGSTRIPE_AS_FALLBACK", "201", 200),
        ("NFC_MAGSTRIPE", "101", 200),
    ]
    .into_iter()
    .enumerate()
    {
        let reference = format!("entry-mode-{n}");
        let form = match entry_mode {
            "NFC_ICC" => with(reader.chip_sale("5.00", &reference), &[("pos.entryMode", entry_mode)]),
            "NFC_MAGSTRIPE" => sealed_sale("5.00", &reference, entry_mode, &reader.tap()),
            _ => sealed_sale("5.00", &reference, entry_mode, &reader.swipe(service_code)),
        };
        let (said, answer) = shop.pay(&form).await;
        assert_eq!(said, status, "{entry_mode} {service_code}: {answer}");
        assert_eq!(shop.gateway.ledger().charged(&reference).len(), usize::from(status == 200));
    }
}

#[tokio::test]
async fn the_issuer_knows_every_card_of_the_deck_and_its_pin() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    for card in deck::DECK {
        let stripe = reader.stripe(&card.track1(), &card.track2());
        let pin = reader.pin(card.pin, card.pan);
        let form = sealed_sale("1.00", &format!("deck-of-{}", card.name), "MAGSTRIPE_AS_FALLBACK", &stripe);
        let form =
            with(form, &[("pos.encryptedPin.data", &upper(&pin.data)), ("pos.encryptedPin.ksn", &upper(&pin.ksn))]);
        let (status, answer) = shop.pay(&form).await;
        let expected = if card.name == "expired" { 400 } else { 200 };
        assert_eq!(status, expected, "{}: {answer}", card.name);
    }
}

#[tokio::test]
async fn what_the_issuer_must_refuse() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    let paid = reader.chip_sale("1.00", "issuer-000");
    assert_eq!(shop.pay(&paid).await.0, 200);

    // The same request is sent again, so its SRED key was used before.
    shop.refuses(
        &with(paid.clone(), &[("pos.transactionSequenceNumber", "2")]),
        "pos.encryptedSred.ksn: this KSN was used before",
    )
    .await;
    // A key from before the last one.
    let earlier = Reader::new().tap();
    let skipped = reader.chip_sale("1.00", "issuer-001");
    assert_eq!(shop.pay(&skipped).await.0, 200);
    let backward = with(
        reader.chip_sale("1.00", "issuer-002"),
        &[("pos.encryptedSred.data", &upper(&earlier.data)), ("pos.encryptedSred.ksn", &upper(&earlier.ksn))],
    );
    shop.refuses(&backward, "pos.encryptedSred.ksn: the KSN went backward").await;
    // A used PIN key together with fresh card data.
    let old_pin = with(
        reader.chip_sale("1.00", "issuer-003"),
        &[
            ("pos.encryptedPin.data", value(&paid, "pos.encryptedPin.data")),
            ("pos.encryptedPin.ksn", value(&paid, "pos.encryptedPin.ksn")),
        ],
    );
    shop.refuses(&old_pin, "pos.encryptedPin.ksn: the KSN went backward").await;
    // The PIN and the card data use the same key.
    let form = reader.chip_sale("1.00", "issuer-004");
    let ksn = upper(&reader.tap().ksn);
    shop.refuses(
        &with(form, &[("pos.encryptedPin.ksn", &ksn)]),
        "pos.encryptedPin.ksn: the PIN and the card data must come from one key set",
    )
    .await;
    // The chip signed another amount or another currency.
    let other_amount = with(reader.chip_sale("1.00", "issuer-005"), &[("amount", "1.01")]);
    shop.refuses(&other_amount, "pos.iccDataRequest: 9F02 differs from amount").await;
    let other_currency = with(reader.chip_sale("1.00", "issuer-006"), &[("currency", "USD")]);
    shop.refuses(&other_currency, "pos.iccDataRequest: 5F2A differs from currency").await;
    // The form claims a PIN entry but contains no PIN.
    let mut no_pin = reader.chip_sale("1.00", "issuer-007");
    no_pin.retain(|(name, _)| !name.starts_with("pos.encryptedPin"));
    shop.refuses(&no_pin, "pos.encryptedPin.data: 9F34 shows a PIN entry for the issuer, but no PIN was sent").await;
    // Any field may reveal the card number in clear text.
    let clear = with(reader.chip_sale("1.00", "issuer-008"), &[("merchantInvoiceId", &format!("card {PAN}"))]);
    shop.refuses(&clear, "merchantInvoiceId: holds the unencrypted card number").await;

    // The issuer declines: the payment gets its own id, HTTP 400, and tag 8A for the card.
    reader.typed_pin = "1235";
    let (code, icc) = shop.declines(&reader.chip_sale("1.00", "issuer-009")).await;
    assert_eq!((code.as_str(), &icc[..8]), ("800.100.166", "8A023535"));
    reader.typed_pin = "1234";
    let changed = with_icc(reader.chip_sale("1.00", "issuer-010"), |icc| icc.replace("9A03261120", "9A03261121"));
    assert_eq!(shop.declines(&changed).await.0, "800.100.158");
    reader.atc -= 1;
    let replayed = reader.chip_sale("1.00", "issuer-011");
    // Only the ATC of an accepted cryptogram counts as used. The changed cryptogram above was not accepted.
    assert_eq!(shop.pay(&replayed).await.0, 200);
    reader.atc -= 1;
    assert_eq!(shop.declines(&reader.chip_sale("1.00", "issuer-012")).await.0, "800.100.158");
    assert_eq!(shop.gateway.ledger().all_charged().count(), 3);
}

#[tokio::test]
async fn aes_keys_are_taken_once_and_an_issuer_sends_its_card_scripts() {
    let shop = Shop::open().await;
    let injected = TEST_KSN_SRED_AES;
    let mut device = aes_dukpt::Device::new(&aes_dukpt::initial_key(&TEST_BDK_AES, injected), injected);
    let card = deck::card("chip-scripts").unwrap();
    let mut seal = || {
        let clear = format!("57{:02X}{}", card.track2_equivalent().len() / 2, card.track2_equivalent());
        let (ksn, key) = device.next().unwrap();
        let data = key.data_key().cbc_encrypt_zero_padded(&ZERO_IV_16, &hex::decode(clear).unwrap());
        Sealed { data, ksn: ksn.0.to_vec() }
    };
    let (first, second) = (seal(), seal());
    // The card's own cryptogram without a PIN.
    let mut icc = hex::decode(
        "5F2A0209785F340101820218008407A00000000310109505000000800\
         09A032611209C01009F02060000000005009F03060000000000009F100706011203A0B8009F1A0202809F2701809F34031F03029F36020001\
         9F370452BF4585",
    )
    .unwrap();
    let key = Issuer::new(TEST_IMK_AC).card_key(card.pan, card.psn).unwrap();
    let arqc = key.cryptogram(&icc).unwrap();
    icc.extend([0x9F, 0x26, 8]);
    icc.extend(arqc);
    let sale = |sealed: &Sealed, reference: &str| {
        with(sealed_sale("5.00", reference, "ICC", sealed), &[("pos.iccDataRequest", &upper(&icc))])
    };
    let (status, answer) = shop.pay(&sale(&second, "aes-keys-one")).await;
    assert_eq!(status, 200, "{answer}");
    shop.refuses(&sale(&second, "aes-keys-two"), "pos.encryptedSred.ksn: this KSN was used before").await;
    shop.refuses(&sale(&first, "aes-keys-three"), "pos.encryptedSred.ksn: the KSN went backward").await;
    // Tags 8A, 91, 71 with PIN UNBLOCK and 72 with PUT DATA, both scripts with the issuer's MAC.
    let icc_response = hex::decode(answer["pos"]["iccDataResponse"].as_str().unwrap()).unwrap();
    let at: Vec<_> = tlv::walk(&icc_response).map(|object| object.unwrap().tag.0).collect();
    assert_eq!(at, [0x8A, 0x91, 0x71, 0x72]);
    let key = ScriptKey::new(&Issuer::new(TEST_IMK_SMI), card.pan, card.psn, [0, 1], arqc).unwrap();
    let mut commands = Vec::new();
    tlv::visit(&icc_response, &mut |object| {
        if object.tag.0 == 0x86 {
            commands.push(object.value.to_vec());
        }
    })
    .unwrap();
    assert_eq!(
        commands.iter().map(|command| hex::encode_upper(&command[..4])).collect::<Vec<_>>(),
        ["84240000", "84DA9F58"]
    );
    assert!(commands.iter().all(|command| key.is_authentic(command)));
}

#[tokio::test]
async fn currencies_without_and_with_three_decimals() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    // 1200 JPY (392) is 000000001200 and amount 1200.00. 1.230 KWD (414) is 000000001230 and amount 1.23.
    for (n, (amount, code, numeric, minor)) in
        [("1200.00", "JPY", 392, 1200), ("1.23", "KWD", 414, 1230)].into_iter().enumerate()
    {
        let form = reader.chip_sale_in(amount, code, numeric, minor, &format!("currency-{n}"));
        let (status, answer) = shop.pay(&form).await;
        assert_eq!((status, answer["amount"].as_str()), (200, Some(amount)), "{answer}");
    }
    let cents = reader.chip_sale_in("1200.50", "JPY", 392, 1200, "currency-3");
    assert_eq!(shop.pay(&cents).await.0, 400);
}

#[tokio::test]
async fn a_reversal_works_once_and_for_no_more_than_was_paid() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    let (_, answer) = shop.pay(&reader.chip_sale("20.00", "reversal-1")).await;
    let id = answer["id"].as_str().unwrap().to_owned();
    let reversal = [("entityId", shop.gateway.entity_id()), ("paymentType", "RV")];
    let code = |answer: &Value| answer["result"]["code"].as_str().unwrap().to_owned();

    for (more, expected) in [
        ([("amount", "20.01"), ("currency", "EUR")], "700.100.200"),
        ([("amount", "20.00"), ("currency", "USD")], "700.100.500"),
    ] {
        let (status, answer) = shop.post(&format!("v1/payments/{id}"), &[&reversal[..], &more].concat()).await;
        assert_eq!((status, code(&answer).as_str()), (400, expected));
    }
    let unknown = format!("v1/payments/{}", "0".repeat(32));
    assert_eq!(shop.post(&unknown, &reversal).await.0, 404);
    assert_eq!(shop.post(&format!("v1/payments/{id}"), &[reversal[0], ("paymentType", "DB")]).await.0, 400);
    assert_eq!(shop.gateway.ledger().charged("reversal-1").len(), 1);

    let whole =
        [&reversal[..], &[("amount", "20.00"), ("currency", "EUR"), ("merchantTransactionId", "reversal-1-rv")]]
            .concat();
    let (status, answer) = shop.post(&format!("v1/payments/{id}"), &whole).await;
    assert_eq!((status, answer["paymentType"].as_str(), answer.get("referencedId")), (200, Some("RV"), None));
    assert!(shop.gateway.ledger().charged("reversal-1").is_empty());
    let (status, again) = shop.post(&format!("v1/payments/{id}"), &reversal).await;
    assert_eq!((status, code(&again).as_str()), (400, "700.300.300"));
    // A reversal cannot be reversed.
    let rv = answer["id"].as_str().unwrap();
    assert_eq!(shop.post(&format!("v1/payments/{rv}"), &reversal).await.0, 400);
}

#[tokio::test]
async fn retrieval_and_query() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    let entity = shop.gateway.entity_id().to_owned();
    let (_, paid) = shop.pay(&reader.chip_sale("20.00", "query me & you")).await;
    let id = paid["id"].as_str().unwrap();
    let (status, retrieved) = shop.get(&format!("v1/payments/{id}")).await;
    assert_eq!((status, &retrieved["id"], &retrieved["pos"]), (200, &paid["id"], &paid["pos"]));
    assert_eq!(shop.get(&format!("v1/payments/{}", "f".repeat(32))).await.0, 404);

    let query = format!("v1/query?entityId={entity}&merchantTransactionId=query+me+%26+you");
    let ids = |answer: &Value| -> Vec<String> {
        answer["payments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|payment| payment["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&shop.get(&query).await.1), [id]);
    let none = shop.get(&format!("v1/query?entityId={entity}&merchantTransactionId=nobody-knows")).await;
    assert_eq!((none.0, ids(&none.1).len()), (200, 0));

    let reversal = [("entityId", entity.as_str()), ("paymentType", "RV")];
    let (_, reversed) = shop.post(&format!("v1/payments/{id}"), &reversal).await;
    assert_eq!(ids(&shop.get(&query).await.1), [id], "the reversal has no reference of its own");
    let linked = shop.get(&format!("{query}&includeLinkedTransactions=true")).await.1;
    assert_eq!(ids(&linked), [id, reversed["id"].as_str().unwrap()]);
    assert!(linked["payments"][1].get("referencedId").is_none(), "of webhooks only: {linked}");

    let all = "date.from=2000-01-01+00:00:00&date.to=2099-01-01+00:00:00";
    assert_eq!(ids(&shop.get(&format!("v1/query?entityId={entity}&{all}")).await.1).len(), 2);
    assert_eq!(ids(&shop.get(&format!("v1/query?entityId={entity}&{all}&paymentTypes=RV")).await.1).len(), 1);
    for wrong in [
        format!("entityId={entity}"),
        format!("entityId={entity}&date.from=2000-01-01+00:00:00"),
        format!("entityId={entity}&date.from=2000-01-01&date.to=2099-01-01"),
        format!("entityId={entity}&merchantTransactionId=nobody-knows&{all}"),
        format!("entityId={entity}&merchantTransactionId=nobody-knows&limit=5"),
        "merchantTransactionId=nobody-knows".to_owned(),
    ] {
        assert_eq!(shop.get(&format!("v1/query?{wrong}")).await.0, 400, "{wrong}");
    }
}

#[tokio::test]
async fn the_cents_choose_answers_that_a_client_can_read() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    // Amount, HTTP status, result code, amount in the answer, charged amount.
    for (amount, status, code, said, charged) in [
        ("9.51", 400, "800.100.155", Some("9.51"), 0),
        ("9.52", 400, "800.100.165", Some("9.52"), 0),
        ("9.53", 400, "100.100.303", Some("9.53"), 0),
        ("9.60", 200, "000.100.110", Some("4.80"), 1),
        ("9.62", 200, "000.200.000", Some("9.62"), 0),
        ("9.63", 400, "800.120.100", None, 0),
        ("9.69", 200, "999.999.999", Some("9.69"), 1),
        ("9.79", 200, "000.100.110", Some("10.79"), 1),
    ] {
        let reference = format!("outcome-{amount}");
        let (said_status, answer) = shop.pay(&reader.chip_sale(amount, &reference)).await;
        assert_eq!((said_status, answer["result"]["code"].as_str()), (status, Some(code)), "{amount}: {answer}");
        assert_eq!(answer["amount"].as_str(), said, "{amount}");
        assert_eq!(shop.gateway.ledger().charged(&reference).len(), charged, "{amount}");
    }
    let icc = async |reader: &mut Reader, amount: &str| {
        let (_, answer) = shop.pay(&reader.chip_sale(amount, "outcome-icc")).await;
        answer["pos"]["iccDataResponse"].as_str().map(str::to_owned)
    };
    assert_eq!(icc(&mut reader, "9.75").await, None);
    assert_eq!(icc(&mut reader, "9.76").await.as_deref(), Some("8A0230309110ABCD"));
    assert!(icc(&mut reader, "9.77").await.unwrap().starts_with("8A023035"));
    let (_, answer) = shop.pay(&reader.chip_sale("9.74", "outcome-74")).await;
    assert!(answer["pos"]["statusText"].as_str().unwrap().contains("\u{1B}@"));
    let (_, answer) = shop.pay(&reader.chip_sale("9.68", "outcome-68")).await;
    assert!(answer["padding"].as_str().unwrap().len() > 10_000_000);
}

#[tokio::test]
async fn the_cents_choose_failures_of_the_wire() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    for (amount, charged) in [("9.64", 0), ("9.65", 1), ("9.66", 1), ("9.67", 1), ("9.72", 0), ("9.73", 1), ("9.83", 0)]
    {
        let reference = format!("failure-{amount}");
        let answered = shop.send("v1/payments", &reader.chip_sale(amount, &reference)).await;
        let body = match answered {
            Ok(response) => (response.status().as_u16(), response.bytes().await.ok()),
            Err(_) => (0, None),
        };
        let as_expected = match amount {
            "9.64" | "9.65" => body.0 == 500,
            "9.66" => body.0 == 200 && body.1.is_some_and(|bytes| serde_json::from_slice::<Value>(&bytes).is_err()),
            "9.67" => body.0 == 200 && body.1.is_none(),
            "9.83" => body.0 == 307,
            _ => body.0 == 0,
        };
        assert!(as_expected, "{amount}");
        assert_eq!(shop.gateway.ledger().charged(&reference).len(), charged, "{amount}");
    }
}

#[tokio::test]
async fn silence_comes_before_or_after_the_charge() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    for (amount, charged) in [("9.70", 0), ("9.71", 1)] {
        let reference = format!("silence-{amount}");
        let before = shop.gateway.counters().requests;
        let form = reader.chip_sale(amount, &reference);
        let waiting = tokio::spawn(shop.request("v1/payments", &form).send());
        while shop.gateway.counters().requests == before || shop.gateway.ledger().charged(&reference).len() < charged {
            tokio::task::yield_now().await;
        }
        // The gateway still serves other requests, while this one gets no answer.
        assert_eq!(shop.get("").await.0, 200);
        assert!(!waiting.is_finished());
        assert_eq!(shop.gateway.ledger().charged(&reference).len(), charged, "{amount}");
        waiting.abort();
    }
}

#[tokio::test]
async fn pending_late_redirected_and_stubborn_payments() {
    let shop = Shop::open().await;
    let mut reader = Reader::new();
    let entity = shop.gateway.entity_id().to_owned();

    let (_, pending) = shop.pay(&reader.chip_sale("9.61", "pending-1")).await;
    assert_eq!(pending["pos"].get("iccDataResponse"), None);
    let path = format!("v1/payments/{}", pending["id"].as_str().unwrap());
    assert_eq!(shop.get(&path).await.1["result"]["code"], "000.200.000");
    assert!(shop.gateway.ledger().charged("pending-1").is_empty());
    let approved = shop.get(&path).await.1;
    assert_eq!(approved["result"]["code"], "000.100.110");
    assert!(approved["pos"]["iccDataResponse"].as_str().unwrap().starts_with("8A023030"));
    assert_eq!(shop.gateway.ledger().charged("pending-1").len(), 1);

    assert!(shop.send("v1/payments", &reader.chip_sale("9.80", "late-0001")).await.is_err());
    let query = format!("v1/query?entityId={entity}&merchantTransactionId=late-0001");
    for found in [0, 0, 1, 1] {
        assert_eq!(shop.get(&query).await.1["payments"].as_array().unwrap().len(), found);
    }

    let form = reader.chip_sale("9.78", "redirect-1");
    let redirect = shop.send("v1/payments", &form).await.unwrap();
    assert_eq!((redirect.status().as_u16(), redirect.headers()["location"].to_str().unwrap()), (307, "/v1/payments"));
    assert_eq!(shop.pay(&form).await.0, 200, "the redirect has used no key up");

    for (amount, reference, charged_after_first) in [("9.81", "stubborn-1", 1), ("9.82", "stubborn-2", 0)] {
        assert!(shop.send("v1/payments", &reader.chip_sale(amount, reference)).await.is_err());
        let id = shop.gateway.ledger().charged(reference)[0].id.clone();
        let reversal = [("entityId", entity.as_str()), ("paymentType", "RV")];
        let path = format!("v1/payments/{id}");
        assert_eq!(shop.send(&path, &owned(&reversal)).await.unwrap().status().as_u16(), 500);
        assert_eq!(shop.gateway.ledger().charged(reference).len(), charged_after_first);
        assert_eq!(shop.post(&path, &reversal).await.0, if charged_after_first == 1 { 200 } else { 400 });
        assert!(shop.gateway.ledger().charged(reference).is_empty());
    }

    shop.gateway.force(Outcome::Throttle);
    let (status, answer) = shop.pay(&reader.chip_sale("1.00", "forced-01")).await;
    assert_eq!(
        (status, answer["result"]["description"].as_str()),
        (400, Some("Too many requests. Please try again later."))
    );
    assert_eq!(shop.pay(&reader.chip_sale("1.00", "forced-02")).await.0, 200);
}

#[tokio::test]
async fn only_a_right_certificate_lets_a_request_through() {
    for kind in [Certificate::Expired, Certificate::WrongName, Certificate::OtherCa] {
        let shop = Shop::with(Options { certificate: kind, ..Options::default() }).await;
        let refused = shop.client.get(shop.gateway.base_url()).send().await;
        assert!(refused.is_err(), "{kind:?}");
        assert_eq!(shop.gateway.counters().requests, 0, "{kind:?}");
    }
}

#[tokio::test]
async fn a_machine_that_calls_it_otherwise_needs_that_name_in_the_certificate() {
    let listen = "127.0.0.2:0".parse().unwrap();
    for (name, is_let_in) in [(None, false), (Some("127.0.0.2".to_owned()), true)] {
        let shop = Shop::with(Options { listen, name, ..Options::default() }).await;
        let answer = shop.client.get(format!("https://{}/", shop.gateway.address())).send().await;
        assert_eq!(answer.is_ok(), is_let_in, "{:?}", shop.gateway);
    }
}

#[tokio::test]
async fn offline_refuses_and_comes_back_on_the_same_port() {
    let shop = Shop::open().await;
    assert_eq!(shop.get("").await.0, 200);
    shop.gateway.set_offline(true).await.unwrap();
    assert!(shop.client.get(shop.gateway.base_url()).send().await.is_err());
    assert!(tokio::net::TcpStream::connect(shop.gateway.address()).await.is_err());
    shop.gateway.set_offline(false).await.unwrap();
    assert_eq!(shop.get("").await.0, 200);
    let counters = shop.gateway.counters();
    assert_eq!((counters.connections, counters.handshakes, counters.requests), (2, 2, 2));
    assert!(counters.bytes_in > 0 && counters.bytes_out > 0);
    let url = shop.gateway.base_url();
    shop.gateway.stop().await;
    // Another test's gateway may use this port by now, but it has another CA.
    assert!(shop.client.get(url).send().await.is_err());
}

#[tokio::test]
async fn the_fast_mode_approves_without_keys() {
    let shop = Shop::with(Options { mode: Mode::Fast, ..Options::default() }).await;
    let form = base("9.51", "fast-0001", "ICC");
    for _ in 0..2 {
        let (status, answer) = shop.pay(&form).await;
        assert_eq!((status, answer["pos"]["iccDataResponse"].as_str()), (200, Some("8A023030")));
    }
    assert_eq!(shop.gateway.ledger().charged("fast-0001").len(), 2, "what comes twice is charged twice");
}

#[tokio::test]
async fn curl_gets_the_documented_errors() {
    let shop = Shop::open().await;
    let directory = tempfile::tempdir().unwrap();
    let ca = directory.path().join("ca.pem");
    std::fs::write(&ca, shop.gateway.ca_pem()).unwrap();
    let token = format!("Authorization: Bearer {}", shop.gateway.token());
    let entity = format!("entityId={}", shop.gateway.entity_id());
    let unknown = format!("v1/payments/{}", "a".repeat(32));
    let right = ["-H", token.as_str()];
    let cases: &[(&[&str], &str, &str, &str)] = &[
        (&[], "v1/query", "401", "800.900.300"),
        (&["-H", "Authorization: Basic YTpi"], "v1/query", "401", "800.900.300"),
        (&["-H", "Authorization: Bearer"], "v1/query", "401", "800.900.300"),
        (&["-H", "Authorization: Bearer wrong"], "v1/query", "403", "800.900.300"),
        (&right, "v2/payments", "404", "700.400.580"),
        (&right, "v1/payments", "404", "700.400.580"),
        (&right, &unknown, "404", "700.400.580"),
        (&["-H", &token, "-d", "paymentType=RV", "-d", &entity], &unknown, "404", "700.400.580"),
        (&["-H", &token, "-d", &entity, "-d", "amount=12.3"], "v1/payments", "400", "amount: must be"),
        (
            &["-H", &token, "-d", &entity, "-d", "amount=1.00", "-d", "currency=EUR"],
            "v1/payments",
            "400",
            "paymentType: required",
        ),
        (
            &["-H", &token, "-d", "entityId=00000000000000000000000000000000"],
            "v1/payments",
            "400",
            "entityId: not an entity",
        ),
        (
            &["-H", &token, "-H", "Content-Type: application/json", "-d", "{}"],
            "v1/payments",
            "400",
            "Content-Type: must be",
        ),
        (&["-H", &token, "-d", "amount=1.00"], "v1/payments?amount=1.00", "400", "query string: "),
        (&["--tls-max", "1.2"], "", "200", "{}"),
        (&["--tlsv1.3"], "", "200", "{}"),
    ];
    for (arguments, path, status, says) in cases {
        let url = format!("{}{path}", shop.gateway.base_url());
        let curl = tokio::process::Command::new("curl")
            .args(["-q", "-sS", "--noproxy", "*", "--max-time", "20", "-w", "\n%{http_code}", "--cacert"])
            .arg(&ca)
            .args(*arguments)
            .arg(&url)
            .stdin(Stdio::null())
            .output()
            .await;
        let output = match curl {
            Ok(output) => output,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                return eprintln!("curl is not installed: nothing proved");
            }
            Err(why) => panic!("{why}"),
        };
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.ends_with(status) && text.contains(says),
            "{arguments:?} {path}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(shop.gateway.ledger().entries().is_empty());
}

/// Returns whether a text has a shape. In a shape, `d` is a digit, `x` a letter or digit, any other character itself.
fn is_shaped(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(c, shape)| match shape {
            b'd' => c.is_ascii_digit(),
            b'x' => c.is_ascii_alphanumeric(),
            exact => c == exact,
        })
}

fn with_icc(form: Form, change: impl Fn(&str) -> String) -> Form {
    let icc = change(value(&form, "pos.iccDataRequest"));
    with(form, &[("pos.iccDataRequest", &icc)])
}
