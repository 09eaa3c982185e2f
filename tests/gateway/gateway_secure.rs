//! 3-D Secure at the simulated gateway: without a challenge, with a challenge, refused, exempt, and done elsewhere. The
//! test posts the challenge page's form as a browser does.

use chrono::TimeDelta;
use pos_sim::gateway::{HostRules, Options, State};
use serde_json::Value;

use crate::gateway_counter::{INVALID, at, text};
use crate::page_shop::{Browser, CARD, PageShop};

/// The data about browser and shopper that version 2 requires.
const SHOPPER: &[(&str, &str)] = &[
    ("customer.givenName", "Jane"),
    ("customer.surname", "Jones"),
    ("customer.browser.acceptHeader", "text/html"),
    ("customer.browser.language", "de-DE"),
    ("customer.browser.screenHeight", "1080"),
    ("customer.browser.screenWidth", "1920"),
    ("customer.browser.timezone", "-60"),
    ("customer.browser.userAgent", "Mozilla/5.0"),
    ("customer.browser.javaEnabled", "false"),
    ("billing.street1", "1 Test Street"),
    ("billing.city", "Bonn"),
    ("billing.postcode", "12345"),
    ("billing.country", "DE"),
];
const BACK: &[(&str, &str)] = &[("shopperResultUrl", "https://shop.test/result")];

fn card(number: &'static str) -> [(&'static str, &'static str); 1] {
    [("card.number", number)]
}

const FRICTIONLESS: &str = "4000000000001000";
const CHALLENGE: &str = "4000000000001091";

fn is_a_proof(answer: &Value, status: &str, eci: &str) {
    let secure = &answer["threeDSecure"];
    assert_eq!((text(secure, "/authenticationStatus"), text(secure, "/eci")), (status.into(), eci.into()), "{answer}");
    assert_eq!((text(secure, "/version"), text(secure, "/dsTransactionId").len()), ("2.2.0".into(), 36));
    assert_eq!(secure.get("verificationId").is_some(), matches!(status, "Y" | "A"), "{answer}");
}

#[tokio::test]
async fn a_card_says_whether_its_holder_is_asked() {
    let mut page = PageShop::open().await;
    for (number, http, code, status, eci) in [
        (FRICTIONLESS, 200, "000.100.110", "Y", "05"),
        ("5200000000001005", 200, "000.100.110", "Y", "02"),
        ("4000000000001026", 200, "000.100.110", "A", "06"),
        ("4000000000001034", 200, "000.100.110", "U", "07"),
        ("4000000000001018", 400, "100.380.401", "N", "07"),
    ] {
        let (said, answer) = page.pay("10.00", &[CARD, &card(number), SHOPPER]).await;
        assert_eq!((said, text(&answer, "/result/code").as_str()), (http, code), "{number}: {answer}");
        is_a_proof(&answer, status, eci);
        assert_eq!(text(&answer, "/billing/city"), "Bonn");
    }
    // A card that is not enrolled pays without 3-D Secure, even if the request contains the browser's data.
    let answer = page.paid("10.00", &[CARD, SHOPPER]).await;
    assert!(answer.get("threeDSecure").is_none());
    // A card in an app is authenticated too. The cents decline a payment only after the authentication.
    let app: Vec<_> = SHOPPER.iter().filter(|(name, _)| !name.contains("browser")).copied().collect();
    let app = [&app[..], &[("threeDSecure.deviceInfo", "eyJzZGsiOjF9")]].concat();
    is_a_proof(&page.paid("10.00", &[CARD, &card(FRICTIONLESS), &app]).await, "Y", "05");
    let (said, answer) = page.pay("10.51", &[CARD, &card(FRICTIONLESS), SHOPPER]).await;
    assert_eq!((said, text(&answer, "/result/code").as_str()), (400, "800.100.155"));
}

#[tokio::test]
async fn a_customer_gives_the_password() {
    let mut page = PageShop::open().await;
    for number in [CHALLENGE, "5200000000001096"] {
        let (status, answer) =
            page.pay("10.00", &[CARD, &card(number), SHOPPER, BACK, &[("risk.amount", "12.00")]]).await;
        assert_eq!(status, 200, "{answer}");
        assert!(answer.get("threeDSecure").is_none(), "nothing is proven yet: {answer}");
        let id = text(&answer, "/id");
        let browser = Browser::sent(&page, &answer);
        let shown = browser.arrives().await;
        assert!(shown.html.contains("name=\"password\"") && shown.html.contains("12.00 EUR"), "{}", shown.html);
        assert!(!shown.html.contains("value=\"pay\"") && !shown.html.contains(number), "{}", shown.html);
        // The password is first wrong, then right.
        let shown = browser.acts(&[("action", "confirm"), ("password", "0000")]).await;
        assert!(shown.status == 200 && shown.html.contains("This password is wrong"), "{}", shown.html);
        assert_eq!(page.last_entry().state, State::Pending);
        let shown = browser.acts(&[("action", "confirm"), ("password", "1234")]).await;
        let back = format!("https://shop.test/result?id={id}&resourcePath=%2Fv1%2Fpayments%2F{id}");
        assert_eq!((shown.status, shown.location), (303, Some(back)));
        let (_, answer) = page.shop.get(&format!("v1/payments/{id}")).await;
        assert_eq!(text(&answer, "/result/code"), "000.100.110");
        is_a_proof(&answer, "Y", if number == CHALLENGE { "05" } else { "02" });
        assert_eq!(browser.acts(&[("action", "confirm"), ("password", "1234")]).await.status, 409);
    }
}

#[tokio::test]
async fn a_customer_gives_no_password() {
    let mut page = PageShop::open().await;
    let begin = at("2026-11-20T12:00:00Z");
    page.shop.gateway.set_clock(begin);
    let wrong = [("action", "confirm"), ("password", "4321")];
    for (acts, end, words) in [
        (&[&wrong[..], &wrong, &wrong][..], "100.380.401", "You could not be identified"),
        (&[&[("action", "cancel")]], "100.396.101", "You have cancelled it"),
        (&[&[("action", "expire")]], "100.396.103", "It has expired"),
        (&[], "100.396.103", "It has expired"),
    ] {
        let (_, answer) = page.pay("10.00", &[CARD, &card(CHALLENGE), SHOPPER, BACK]).await;
        let (id, last) = (text(&answer, "/id"), acts.last());
        for act in acts {
            Browser::sent(&page, &answer).acts(act).await;
        }
        if last.is_none() {
            page.shop.gateway.set_clock(begin + TimeDelta::minutes(31));
        }
        let (_, settled) = page.shop.get(&format!("v1/payments/{id}")).await;
        assert_eq!(text(&settled, "/result/code"), end);
        assert_eq!(
            (page.last_entry().state, text(&settled, "/threeDSecure/authenticationStatus")),
            (State::Declined, "N".into())
        );
        let shown = Browser::sent(&page, &answer).acts(&[("action", "confirm"), ("password", "1234")]).await;
        assert!(shown.status == 409 && shown.html.contains(words), "{}", shown.html);
        page.shop.gateway.set_clock(begin);
    }
}

#[tokio::test]
async fn what_version_two_wants_to_know_is_mandatory() {
    let mut page = PageShop::open().await;
    let mandatory = SHOPPER.iter().filter(|(name, _)| name.contains("browser") || name.starts_with("billing"));
    for (name, _) in mandatory {
        page.refused(&[CARD, &card(FRICTIONLESS), SHOPPER, &[(name, "")]], INVALID, name).await;
    }
    page.refused(&[CARD, &card(FRICTIONLESS)], INVALID, "customer.browser.acceptHeader").await;
    page.refused(&[CARD, &card(CHALLENGE), SHOPPER], INVALID, "shopperResultUrl").await;
    // A parameter bypasses 3-D Secure, and so does a payment that the merchant initiates.
    let answer = page.paid("10.00", &[CARD, &card(CHALLENGE), &[("threeDSecure.disable", "true")]]).await;
    assert!(answer.get("threeDSecure").is_none());
    page.refused(
        &[CARD, &card(CHALLENGE), &[("threeDSecure.disable", "false")]],
        INVALID,
        "customer.browser.acceptHeader",
    )
    .await;
    let by_merchant = [
        ("standingInstruction.mode", "REPEATED"),
        ("standingInstruction.source", "MIT"),
        ("standingInstruction.type", "RECURRING"),
        ("standingInstruction.initialTransactionId", "0123456789"),
    ];
    page.paid("10.00", &[CARD, &card(CHALLENGE), &by_merchant]).await;
    for three_ri in [("threeDSecure.threeRIInd", "SPLIT_SHIPMENT"), ("threeDSecure.channel", "3")] {
        is_a_proof(&page.paid("10.00", &[CARD, &card(CHALLENGE), &by_merchant, &[three_ri]]).await, "Y", "05");
    }
    page.paid("10.00", &[CARD, &card(CHALLENGE), &[("paymentType", "CD")]]).await;
    // Instalments with 3-D Secure need their number. A payment that the customer initiates may not claim to be the
    // merchant's.
    let parts = [
        ("standingInstruction.mode", "INITIAL"),
        ("standingInstruction.source", "CIT"),
        ("standingInstruction.type", "INSTALLMENT"),
        ("threeDSecure.authenticationInd", "INSTALLMENT"),
    ];
    let many = "standingInstruction.numberOfInstallments";
    page.refused(&[CARD, &card(FRICTIONLESS), SHOPPER, &parts], INVALID, many).await;
    page.paid("10.00", &[CARD, &card(FRICTIONLESS), SHOPPER, &parts, &[(many, "3")]]).await;
    page.refused(&[CARD, &parts[..3], &[("threeDSecure.channel", "3")]], INVALID, "threeDSecure.channel").await;
}

#[tokio::test]
async fn an_exemption_is_flagged_twice_and_needs_version_two_two() {
    let mut page = PageShop::open().await;
    let exempt = [
        ("threeDSecure.exemptionFlag", "01"),
        ("threeDSecure.challengeIndicator", "02"),
        ("threeDSecure.version", "2.2.0"),
    ];
    let answer = page.paid("10.00", &[CARD, &card(CHALLENGE), &exempt]).await;
    assert_eq!(text(&answer, "/threeDSecure/exemptionFlag"), "01");
    for (amount, flag, http) in
        [("30.00", "01", 200), ("30.01", "01", 400), ("300.00", "02", 200), ("300.00", "04", 200)]
    {
        let flag = [("threeDSecure.exemptionFlag", flag)];
        let (status, answer) = page.pay(amount, &[CARD, &card(CHALLENGE), &exempt, &flag]).await;
        assert_eq!(status, http, "{answer}");
        if http == 400 {
            assert_eq!(text(&answer, "/result/code"), "300.100.100");
        }
    }
    // A requested challenge takes place despite the exemption.
    let wished = [("threeDSecure.challengeIndicator", "04")];
    let (_, answer) = page.pay("10.00", &[CARD, &card(FRICTIONLESS), &exempt, &wished, SHOPPER, BACK]).await;
    assert_eq!(Browser::sent(&page, &answer).acts(&[("action", "confirm"), ("password", "1234")]).await.status, 303);
    for (name, value, broken) in [
        ("threeDSecure.exemptionFlag", "", "threeDSecure.exemptionFlag"),
        ("threeDSecure.challengeIndicator", "", "threeDSecure.challengeIndicator"),
        ("threeDSecure.version", "", "threeDSecure.version"),
        ("threeDSecure.version", "2.1.0", "threeDSecure.version"),
        ("threeDSecure.exemptionFlag", "05", "threeDSecure.exemptionFlag"),
        ("threeDSecure.challengeIndicator", "10", "threeDSecure.challengeIndicator"),
    ] {
        page.refused(&[CARD, &exempt, &[(name, value)]], INVALID, broken).await;
    }
}

#[tokio::test]
async fn a_proof_from_elsewhere_is_held_to_its_lengths_and_passed_through() {
    let mut page = PageShop::open().await;
    let proof = [
        ("threeDSecure.eci", "05"),
        ("threeDSecure.verificationId", "AAECAwQFBgcICQoLDA0ODxAREhM="),
        ("threeDSecure.version", "2.1.0"),
        ("threeDSecure.dsTransactionId", "d65e93c3-35ab-41ba-b307-767bfc19eae3"),
        ("threeDSecure.authenticationStatus", "Y"),
    ];
    let answer = page.paid("10.00", &[CARD, &card(CHALLENGE), &proof]).await;
    for (name, value) in proof {
        assert_eq!(text(&answer["threeDSecure"], &format!("/{}", &name[13..])), value);
    }
    // Each eci of the document is valid for every brand. The other server decides the content of an id.
    for eci in ["01", "02", "03", "04", "05", "06", "07", "08"] {
        let answer = page.paid("10.00", &[CARD, &card(CHALLENGE), &proof, &[("threeDSecure.eci", eci)]]).await;
        assert_eq!(text(&answer, "/threeDSecure/eci"), eci);
    }
    for (name, value) in [
        ("threeDSecure.verificationId", "no base64 at all, 28 letters"),
        ("threeDSecure.dsTransactionId", "d65e93c3x35ab-41ba-b307-767bfc19eae3"),
        ("threeDSecure.dsTransactionId", ""),
        ("threeDSecure.acsTransactionId", "thirty-six characters of any kind, 36"),
    ] {
        let value = value.chars().take(36).collect::<String>();
        page.paid("10.00", &[CARD, &card(CHALLENGE), &proof, &[(name, value.as_str())]]).await;
    }
    for (name, value, broken) in [
        ("threeDSecure.eci", "", "threeDSecure.eci"),
        ("threeDSecure.eci", "00", "threeDSecure.eci"),
        ("threeDSecure.eci", "09", "threeDSecure.eci"),
        ("threeDSecure.verificationId", "", "threeDSecure.verificationId"),
        ("threeDSecure.verificationId", "short", "threeDSecure.verificationId"),
        ("threeDSecure.verificationId", "AAECAwQFBgcICQoLDA0ODxAREhMUA", "threeDSecure.verificationId"),
        ("threeDSecure.dsTransactionId", "d65e93c3-35ab-41ba-b307-767bfc19eae", "threeDSecure.dsTransactionId"),
        ("threeDSecure.authenticationStatus", "R", "threeDSecure.authenticationStatus"),
        ("threeDSecure.version", "3.0.0", "threeDSecure.version"),
    ] {
        page.refused(&[CARD, &card(CHALLENGE), &proof, &[(name, value)]], INVALID, broken).await;
    }
    // A payment whose authentication failed elsewhere is refused here.
    let no =
        [("threeDSecure.authenticationStatus", "N"), ("threeDSecure.eci", "07"), ("threeDSecure.verificationId", "")];
    let (status, answer) = page.pay("10.00", &[CARD, &proof, &no]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "100.380.401"));
    let unavailable = [("threeDSecure.authenticationStatus", "U")];
    page.paid("10.00", &[CARD, &proof, &no, &unavailable]).await;
}

#[tokio::test]
async fn a_decoupled_authentication_has_no_page_and_is_decided_later() {
    let mut page = PageShop::open().await;
    let begin = at("2026-11-20T12:00:00Z");
    let decoupled = [("threeDSecure.decoupled", "true")];
    for (amount, code, state) in [("10.00", "000.100.110", State::Approved), ("10.51", "800.100.155", State::Declined)]
    {
        page.shop.gateway.set_clock(begin);
        // The customer is not redirected, so the request needs no return address.
        let (status, answer) = page.pay(amount, &[CARD, &card(CHALLENGE), SHOPPER, &decoupled]).await;
        assert_eq!((status, text(&answer, "/result/code").as_str()), (200, "000.200.000"), "{answer}");
        assert!(answer.get("redirect").is_none() && answer.get("threeDSecure").is_none(), "{answer}");
        let path = format!("v1/payments/{}", text(&answer, "/id"));
        let (_, still) = page.shop.get(&path).await;
        assert_eq!(text(&still, "/result/code"), "000.200.000");
        assert_eq!(page.last_entry().state, State::Pending);
        page.shop.gateway.set_clock(begin + TimeDelta::minutes(3));
        assert_eq!(page.last_entry().state, state, "by the clock, and not by the question");
        let (_, settled) = page.shop.get(&path).await;
        assert_eq!(text(&settled, "/result/code"), code);
        is_a_proof(&settled, "Y", "05");
    }
    // A card without a challenge is decided immediately.
    is_a_proof(&page.paid("10.00", &[CARD, &card(FRICTIONLESS), SHOPPER, &decoupled]).await, "Y", "05");
}

#[tokio::test]
async fn an_authentication_alone_moves_no_money_whatever_the_amount() {
    let mut page = PageShop::open().await;
    let npa = [("threeDSecure.npa", "true")];
    for (amount, kind) in [("0.00", "PA"), ("0.00", "DB"), ("25.00", "DB")] {
        let kind = [("paymentType", kind)];
        let answer = page.paid(amount, &[CARD, &card(FRICTIONLESS), SHOPPER, &npa, &kind]).await;
        is_a_proof(&answer, "Y", "05");
        assert_eq!(text(&answer, "/amount"), "0.00");
        assert_eq!((page.last_entry().amount.as_str(), page.last_entry().state), ("0.00", State::Approved));
        let id = text(&answer, "/id");
        for follows in ["CP", "RF", "RV"] {
            let (status, answer) = page.post(&format!("v1/payments/{id}"), &[&[("paymentType", follows)]]).await;
            assert_eq!(status, 400, "{follows}: {answer}");
        }
    }
    assert_eq!(page.shop.gateway.ledger().all_charged().count(), 0);
    // The customer is challenged, and the card may be stored for later use.
    let stores = [("createRegistration", "true")];
    let (_, answer) = page.pay("0.00", &[CARD, &card(CHALLENGE), SHOPPER, BACK, &npa, &stores]).await;
    assert_eq!(Browser::sent(&page, &answer).acts(&[("action", "confirm"), ("password", "1234")]).await.status, 303);
    assert_eq!(page.last_entry().state, State::Approved);
    assert!(answer["registrationId"].is_string(), "{answer}");
    // A card that is not enrolled cannot be authenticated. No other request may have a zero amount.
    let (status, answer) = page.pay("0.00", &[CARD, SHOPPER, &npa]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "100.380.401"), "{answer}");
    for (parts, name) in [
        (&[CARD, &[("amount", "0.00")][..]][..], "amount"),
        (&[CARD, &card(FRICTIONLESS), SHOPPER, &[("threeDSecure.npa", "false"), ("amount", "0.00")]], "amount"),
        (&[CARD, &card(FRICTIONLESS), SHOPPER, &npa, &[("paymentType", "CD")]], "threeDSecure.npa"),
    ] {
        page.refused(parts, INVALID, name).await;
    }
}

#[tokio::test]
async fn installments_say_how_many_they_are_and_each_scheme_has_its_requestor() {
    let schemes = ["VISA", "MASTER", "AMEX", "DISCOVER", "JCB", "CARTEBANCAIRE"];
    let named = schemes.map(str::to_owned).to_vec();
    let mut page = PageShop::with(Options { schemes: named.clone(), ..Options::default() }).await;
    // The card is enrolled, so 3-D Secure takes place although the request contains no field for it.
    let parts = [
        ("standingInstruction.mode", "INITIAL"),
        ("standingInstruction.source", "CIT"),
        ("standingInstruction.type", "INSTALLMENT"),
    ];
    let many = "standingInstruction.numberOfInstallments";
    page.refused(&[CARD, &card(FRICTIONLESS), SHOPPER, &parts], INVALID, many).await;
    page.paid("10.00", &[CARD, &card(FRICTIONLESS), SHOPPER, &parts, &[(many, "3")]]).await;
    // A card that is not enrolled needs no number of instalments.
    page.paid("10.00", &[CARD, &parts]).await;
    let pair = |scheme: &str| ["requestorId", "requestorName"].map(|what| format!("threeDSecure.v2.{scheme}.{what}"));
    let all: Vec<String> = schemes.into_iter().flat_map(pair).collect();
    let all: Vec<(&str, &str)> = all.iter().map(|name| (name.as_str(), "SHOP-1")).collect();
    page.paid("10.00", &[CARD, &card(FRICTIONLESS), SHOPPER, &all]).await;
    for unknown in ["<scheme>", "visa", "OTHER"] {
        let [id, _] = pair(unknown);
        page.refused(&[CARD, &card(FRICTIONLESS), SHOPPER, &[(&id, "SHOP-1")]], INVALID, &id).await;
    }
    let seven = [named, vec!["A_SEVENTH".to_owned()]].concat();
    let error = pos_sim::gateway::start(Options { schemes: seven, ..Options::default() }).await.unwrap_err();
    assert!(error.to_string().contains("at most 6 card schemes"), "{error}");
}

#[tokio::test]
async fn a_stored_card_is_asked_as_well_and_the_other_gateways_ask() {
    for host_rules in HostRules::ALL {
        let mut page = PageShop::with(Options { host_rules, ..Options::default() }).await;
        let holder = [("card.holder", "JONES")];
        let bypassed = [("threeDSecure.disable", "true"), ("createRegistration", "true")];
        let answer = page.paid("10.00", &[CARD, &holder, &card(CHALLENGE), &bypassed]).await;
        let path = format!("v1/registrations/{}/payments", text(&answer, "/registrationId"));
        let (status, _) = page.post(&path, &[]).await;
        assert_eq!(status, 400, "{host_rules:?}: the browser is mandatory");
        let (status, answer) = page.post(&path, &[SHOPPER, BACK]).await;
        assert_eq!(status, 200, "{host_rules:?}: {answer}");
        assert_eq!(
            Browser::sent(&page, &answer).acts(&[("action", "confirm"), ("password", "1234")]).await.status,
            303
        );
        assert_eq!(page.last_entry().state, State::Approved);
    }
}
