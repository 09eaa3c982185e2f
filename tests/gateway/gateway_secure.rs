//! 3-D Secure at the simulated gateway: without a question, with one, refused, exempt, and made elsewhere. The
//! challenge page's form is posted as a browser posts it.

use chrono::TimeDelta;
use pos_sim::gateway::{HostRules, Options, State};
use serde_json::Value;

use crate::gateway_counter::{INVALID, at, text};
use crate::page_shop::{Browser, CARD, PageShop};

/// What version 2 wants to know of a browser and of whoever pays.
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
    // A card that takes no part goes without, whatever is known of the browser.
    let answer = page.paid("10.00", &[CARD, SHOPPER]).await;
    assert!(answer.get("threeDSecure").is_none());
    // A card in an app; what the cents decline is declined after the authentication.
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
        // Wrong once, then right.
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
        (&[&[("action", "expire")]], "100.396.103", "Its time is over"),
        (&[], "100.396.103", "Its time is over"),
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
    // Bypassed: by a word, and by what the merchant starts.
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
    // Installments with 3-D Secure say how many; the customer is not the merchant.
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
    // A challenge is wished all the same.
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
async fn a_proof_from_elsewhere_is_held_against_itself_and_passed_through() {
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
    for (name, value, broken) in [
        ("threeDSecure.eci", "", "threeDSecure.eci"),
        ("threeDSecure.eci", "02", "threeDSecure.eci"),
        ("threeDSecure.eci", "06", "threeDSecure.authenticationStatus"),
        ("threeDSecure.eci", "09", "threeDSecure.eci"),
        ("threeDSecure.verificationId", "", "threeDSecure.verificationId"),
        ("threeDSecure.verificationId", "AAECAwQFBgcICQoLDA0ODxAREhMU", "threeDSecure.verificationId"),
        ("threeDSecure.verificationId", "short", "threeDSecure.verificationId"),
        ("threeDSecure.dsTransactionId", "", "threeDSecure.dsTransactionId"),
        ("threeDSecure.dsTransactionId", "d65e93c3x35ab-41ba-b307-767bfc19eae3", "threeDSecure.dsTransactionId"),
        ("threeDSecure.authenticationStatus", "A", "threeDSecure.authenticationStatus"),
        ("threeDSecure.version", "3.0.0", "threeDSecure.version"),
    ] {
        page.refused(&[CARD, &card(CHALLENGE), &proof, &[(name, value)]], INVALID, broken).await;
    }
    // Not authenticated elsewhere: not paid here.
    let no =
        [("threeDSecure.authenticationStatus", "N"), ("threeDSecure.eci", "07"), ("threeDSecure.verificationId", "")];
    let (status, answer) = page.pay("10.00", &[CARD, &proof, &no]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "100.380.401"));
    let unavailable = [("threeDSecure.authenticationStatus", "U")];
    page.paid("10.00", &[CARD, &proof, &no, &unavailable]).await;
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
