//! Stored accounts of every means at the simulated gateway. They are stored with a payment or alone, used for payments,
//! covered by the customer's agreement, migrated and deleted.

use pos_sim::gateway::provider::{self, TokenType};
use pos_sim::gateway::{HostRules, Kind, Method, Options};

use crate::gateway_counter::{Counter, INVALID, at, refusal, text};
use crate::page_shop::{Browser, CARD, PageShop};

const STORES: (&str, &str) = ("createRegistration", "true");
const SEPA: &[(&str, &str)] = &[
    ("bankAccount.holder", "Jane Jones"),
    ("bankAccount.iban", "AT611904300234573201"),
    ("bankAccount.bic", "BKAUATWW"),
    ("paymentBrand", "DIRECTDEBIT_SEPA"),
];
/// The parameters of a request that stores an account without a payment.
const UNPAID: &[(&str, &str)] = &[("amount", ""), ("currency", ""), ("paymentType", "")];

fn instruction(mode: &'static str, source: &'static str, kind: &'static str) -> [(&'static str, &'static str); 3] {
    [("standingInstruction.mode", mode), ("standingInstruction.source", source), ("standingInstruction.type", kind)]
}

async fn refused(page: &mut PageShop, path: &str, parts: &[&[(&str, &str)]], code: &str, name: &str) {
    let before = page.entries();
    let (status, answer) = page.post(path, parts).await;
    assert_eq!((status, refusal(&answer)), (400, (code.to_owned(), name.to_owned())), "{answer}");
    assert_eq!(page.entries(), before);
}

#[tokio::test]
async fn each_means_is_stored_with_a_payment_and_pays_again() {
    let mut page = PageShop::open().await;
    let outside = provider::account_token(TokenType::External, "4111111111111111").unwrap();
    let token = [("tokenAccount.number", outside.as_str()), ("tokenAccount.type", "EXTERNAL")];
    let wallet = provider::wallet_token("<wallet_a>", "5555555555554444", "3412", "10.00", "EUR").unwrap();
    let wallet = [("<wallet_a>.paymentToken", wallet.as_str())];
    for (means, method, brand) in [
        (CARD, Method::Card, "VISA"),
        (SEPA, Method::DirectDebit, "DIRECTDEBIT_SEPA"),
        (&token[..], Method::ExternalToken, "VISA"),
        (&wallet[..], Method::Wallet, "MASTER"),
    ] {
        let answer = page.paid("10.00", &[means, &[STORES]]).await;
        let stored = text(&answer, "/registrationId");
        assert_eq!((stored.len(), text(&answer, "/registration/id")), (32, stored.clone()));
        let path = format!("v1/registrations/{stored}/payments");
        let (status, paid) = page.post(&path, &[]).await;
        assert_eq!((status, text(&paid, "/paymentBrand").as_str()), (200, brand), "{paid}");
        assert_eq!(page.last_entry().method, method);
        assert!(paid.get("registrationId").is_none() && paid.get("pos").is_none(), "{paid}");
        let (status, held) = page.post(&path, &[&[("paymentType", "PA")]]).await;
        assert_eq!(status, if method == Method::DirectDebit { 400 } else { 200 }, "{held}");
        // A stored account has its own brand, and no other payment data is allowed with it.
        for (change, name) in [
            (("card.number", "4111111111111111"), "card.number"),
            (("bankAccount.iban", "DE89370400440532013000"), "bankAccount.iban"),
            (("paymentBrand", "AMEX"), "paymentBrand"),
            (("createRegistration", "true"), "createRegistration"),
            (("paymentType", "CP"), "paymentType"),
        ] {
            let (status, answer) = page.post(&path, &[&[change]]).await;
            assert_eq!(
                (status, refusal(&answer).1.starts_with(name.split('.').next().unwrap())),
                (400, true),
                "{answer}"
            );
        }
    }
    // A virtual account is stored after its customer has signed in. It then pays without the page.
    let account = [
        ("virtualAccount.accountId", "jane@shop.test"),
        ("paymentBrand", "SIMWALLET"),
        ("shopperResultUrl", "https://shop.test/result"),
        STORES,
    ];
    let (_, answer) = page.pay("10.00", &[&account]).await;
    let path = format!("v1/registrations/{}/payments", text(&answer, "/registrationId"));
    refused(&mut page, &path, &[], "100.150.203", "id").await;
    Browser::sent(&page, &answer).acts(&[("action", "pay")]).await;
    let (status, paid) = page.post(&path, &[]).await;
    assert_eq!((status, text(&paid, "/result/code").as_str()), (200, "000.100.110"), "{paid}");
    // If the customer cancels on the page, the stored account cannot be used.
    let (_, answer) = page.pay("10.00", &[&account]).await;
    let path = format!("v1/registrations/{}/payments", text(&answer, "/registrationId"));
    Browser::sent(&page, &answer).acts(&[("action", "cancel")]).await;
    refused(&mut page, &path, &[], "100.150.203", "id").await;
}

#[tokio::test]
async fn each_means_is_stored_alone_and_deleted() {
    let mut page = PageShop::open().await;
    let network = provider::account_token(TokenType::Network, "4111111111111111").unwrap();
    let token = [("tokenAccount.number", network.as_str()), ("tokenAccount.type", "NETWORK")];
    let account = [("virtualAccount.accountId", "jane@shop.test"), ("paymentBrand", "SIMWALLET")];
    let custom = [("customParameters[customer.group]", "gold")];
    for means in [CARD, SEPA, &token, &account] {
        let (status, answer) = page.post("v1/registrations", &[means, UNPAID, &custom]).await;
        assert_eq!((status, text(&answer, "/customParameters/customer.group").as_str()), (200, "gold"), "{answer}");
        assert!(!answer.to_string().contains("4111111111111111") && !answer.to_string().contains("4573201"));
        let stored = text(&answer, "/id");
        let path = format!("v1/registrations/{stored}/payments");
        assert_eq!(page.post(&path, &[]).await.0, 200);
        let delete = format!("v1/registrations/{stored}?entityId={}", page.shop.gateway.entity_id());
        assert_eq!(page.shop.asked("DELETE", &delete, None).await.status(), 200);
        refused(&mut page, &path, &[], "100.150.202", "id").await;
    }
    assert_eq!(page.entries().len(), 4, "storing books nothing");
    for (change, code, name) in [
        (("card.number", "4539578763621486"), "100.100.101", "card.number"),
        (("card.number", "4761739001010036"), "800.100.165", "card.number"),
        (("card.cvv", "999"), "800.100.153", "card.number"),
        (("card.expiryYear", ""), INVALID, "card.expiryYear"),
        (("amount", "1.00"), INVALID, "amount"),
        (("overrideHolder", "true"), INVALID, "overrideHolder"),
        (("tokenAccount.type", "NETWORK"), INVALID, "tokenAccount.type"),
        (("pos.terminalId", "1"), INVALID, "card.number"),
    ] {
        refused(&mut page, "v1/registrations", &[CARD, UNPAID, &[change]], code, name).await;
    }
    let gift = [("giftCard.number", "GIFT-0100-0001"), ("giftCard.pin", "1234")];
    refused(&mut page, "v1/registrations", &[&gift, UNPAID], INVALID, "giftCard.number").await;
    let wallet = [("<wallet_a>.paymentToken", "abc")];
    refused(&mut page, "v1/registrations", &[&wallet, UNPAID], INVALID, "<wallet_a>.paymentToken").await;
    refused(&mut page, "v1/registrations", &[UNPAID], INVALID, "pos.terminalId").await;
}

#[tokio::test]
async fn money_goes_to_a_stored_account_and_it_is_judged_alone() {
    let mut page = PageShop::open().await;
    for (means, method) in [(CARD, Method::Card), (SEPA, Method::CreditTransfer)] {
        let (_, answer) = page.post("v1/registrations", &[means, UNPAID]).await;
        let path = format!("v1/registrations/{}/payments", text(&answer, "/id"));
        let (status, paid) = page.post(&path, &[&[("paymentType", "CD")]]).await;
        assert_eq!((status, text(&paid, "/paymentType").as_str()), (200, "CD"), "{paid}");
        let entry = page.last_entry();
        assert_eq!((entry.kind, entry.method), (Kind::Credit, method));
        let (status, judged) = page.post(&path, &[&[("paymentType", "RI")]]).await;
        assert_eq!((status, text(&judged, "/risk/score").as_str()), (200, "+00100"), "{judged}");
        assert_eq!(page.last_entry().kind, Kind::RiskCheck);
    }
    assert_eq!(page.shop.gateway.ledger().all_charged().count(), 0);
    let account = [("virtualAccount.accountId", "jane@shop.test"), ("paymentBrand", "SIMWALLET")];
    let (_, answer) = page.post("v1/registrations", &[&account, UNPAID]).await;
    let path = format!("v1/registrations/{}/payments", text(&answer, "/id"));
    refused(&mut page, &path, &[&[("paymentType", "RI")]], INVALID, "paymentType").await;
}

#[tokio::test]
async fn what_was_stored_alone_is_found_by_its_time() {
    let mut page = PageShop::open().await;
    let mut ids = Vec::new();
    for (time, means) in [("10:00:00", CARD), ("11:00:00", SEPA), ("12:00:00", CARD)] {
        page.shop.gateway.set_clock(at(&format!("2026-11-20T{time}Z")));
        let reference = [("merchantTransactionId", if time == "11:00:00" { "" } else { "stored alone" })];
        let (status, answer) = page.post("v1/registrations", &[means, UNPAID, &reference]).await;
        assert_eq!(status, 200, "{answer}");
        ids.push(text(&answer, "/id"));
    }
    let paid = text(&page.paid("10.00", &[CARD]).await, "/id");
    let frame = |from: &str, to: &str| format!("date.from=2026-11-20+{from}&date.to=2026-11-20+{to}");
    let day = frame("00:00:00", "23:00:00");
    assert_eq!(page.found(&format!("{day}&paymentTypes=RG")).await, ids);
    assert_eq!(page.found(&frame("10:30:00", "11:30:00")).await, [ids[1].as_str()]);
    assert_eq!(page.found(&format!("{}&paymentTypes=RG", frame("11:30:00", "23:00:00"))).await, [ids[2].as_str()]);
    assert_eq!(page.found(&format!("{day}&paymentTypes=RG&paymentMethods=DD")).await, [ids[1].as_str()]);
    assert_eq!(page.found(&format!("{day}&paymentTypes=DB")).await, [paid.as_str()]);
    assert_eq!(page.found("merchantTransactionId=stored+alone").await, [ids[0].as_str(), ids[2].as_str()]);
}

#[tokio::test]
async fn an_empty_holder_is_overridden_for_one_payment() {
    let mut page = PageShop::open().await;
    let answer = page.paid("10.00", &[CARD, &[STORES, ("card.holder", "")]]).await;
    let path = format!("v1/registrations/{}/payments", text(&answer, "/registrationId"));
    let holder = [("overrideHolder", "true"), ("card.holder", "Jack Jones")];
    let (status, paid) = page.post(&path, &[&holder]).await;
    assert_eq!((status, text(&paid, "/card/holder").as_str()), (200, "Jack Jones"));
    let (_, paid) = page.post(&path, &[&[("card.cvv", "123")]]).await;
    assert!(paid["card"].get("holder").is_none(), "for that payment only: {paid}");
    assert_eq!(text(&paid, "/result/cvvResponse"), "M");
    assert_eq!(page.post(&path, &[&[("card.cvv", "999")]]).await.1["result"]["code"], "800.100.153");
    refused(&mut page, &path, &[&holder[1..]], INVALID, "card.holder").await;
    refused(&mut page, &path, &[&holder[..1]], INVALID, "card.holder").await;
    // The holder of a stored account cannot be replaced.
    let answer = page.paid("10.00", &[CARD, &[STORES]]).await;
    let path = format!("v1/registrations/{}/payments", text(&answer, "/registrationId"));
    refused(&mut page, &path, &[&holder], INVALID, "card.holder").await;
    let answer = page.paid("10.00", &[SEPA, &[STORES]]).await;
    let path = format!("v1/registrations/{}/payments", text(&answer, "/registrationId"));
    let holder = [("overrideHolder", "true"), ("bankAccount.holder", "Jack Jones")];
    refused(&mut page, &path, &[&holder], INVALID, "bankAccount.holder").await;
    page.refused(&[CARD, &[("overrideHolder", "true")]], INVALID, "overrideHolder").await;
}

#[tokio::test]
async fn what_the_merchant_starts_follows_what_the_customer_has_agreed_to() {
    let mut page = PageShop::open().await;
    page.shop.gateway.set_clock(at("2026-01-01T10:00:00Z"));
    let first = [&instruction("INITIAL", "CIT", "UNSCHEDULED")[..], &[STORES]].concat();
    let answer = page.paid("20.00", &[CARD, &first]).await;
    let reference = text(&answer, "/standingInstruction/initialTransactionId");
    let path = format!("v1/registrations/{}/payments", text(&answer, "/registrationId"));
    let again = instruction("REPEATED", "MIT", "UNSCHEDULED");
    let practice = |practice: &'static str| ("standingInstruction.industryPractice", practice);
    // An approved payment may be followed, and a declined one retried with the same amount.
    for follows in ["DELAYED_CHARGES", "NO_SHOW"] {
        let (status, paid) = page.post(&path, &[&again, &[practice(follows)]]).await;
        assert_eq!(
            (status, text(&paid, "/standingInstruction/initialTransactionId")),
            (200, reference.clone()),
            "{paid}"
        );
        assert_eq!(text(&paid, "/standingInstruction/industryPractice"), follows);
        assert_eq!(page.last_entry().practice.as_deref(), Some(follows));
    }
    let name = "standingInstruction.industryPractice";
    refused(&mut page, &path, &[&again, &[practice("RESUBMISSION"), ("amount", "20.51")]], INVALID, name).await;
    assert_eq!(page.post(&path, &[&again, &[("amount", "20.51")]]).await.0, 400, "no money");
    page.shop.gateway.force(pos_sim::gateway::Outcome::Approve);
    let (status, _) = page.post(&path, &[&again, &[practice("RESUBMISSION"), ("amount", "20.51")]]).await;
    assert_eq!(status, 200);
    refused(&mut page, &path, &[&again, &[practice("RESUBMISSION"), ("amount", "20.52")]], INVALID, name).await;
    refused(&mut page, &path, &[&again, &[practice("INCREMENTAL_AUTH")]], INVALID, name).await;
    let by_customer = instruction("REPEATED", "CIT", "UNSCHEDULED");
    refused(&mut page, &path, &[&by_customer, &[practice("NO_SHOW")]], INVALID, "standingInstruction.source").await;
    // If the form contains the card, the merchant must name the customer's payment.
    page.refused(&[CARD, &again], INVALID, "standingInstruction.initialTransactionId").await;
    page.paid("5.00", &[CARD, &again, &[("standingInstruction.initialTransactionId", &reference)]]).await;
    let wrong = instruction("INITIAL", "MIT", "UNSCHEDULED");
    page.refused(&[CARD, &wrong], INVALID, "standingInstruction.source").await;
    // This card was stored without an agreement.
    let answer = page.paid("10.00", &[CARD, &[STORES]]).await;
    let path = format!("v1/registrations/{}/payments", text(&answer, "/registrationId"));
    refused(&mut page, &path, &[&again], INVALID, "standingInstruction.initialTransactionId").await;
}

#[tokio::test]
async fn an_agreement_from_elsewhere_goes_on_here() {
    let mut page = PageShop::open().await;
    page.shop.gateway.set_clock(at("2026-11-20T12:00:00Z"));
    let migrated = [
        ("recurringMigration.paymentType", "DB"),
        ("recurringMigration.amount", "12"),
        ("recurringMigration.requestTimestamp", "2025-01-01 10:00:00"),
        ("recurringMigration.connectorTxId1", "0123456789"),
    ];
    let (status, answer) = page.post("v1/registrations", &[CARD, UNPAID, &migrated]).await;
    assert_eq!((status, text(&answer, "/recurringMigration/connectorTxId1").as_str()), (200, "0123456789"), "{answer}");
    let path = format!("v1/registrations/{}/payments", text(&answer, "/id"));
    let (status, paid) = page.post(&path, &[&instruction("REPEATED", "MIT", "RECURRING")]).await;
    assert_eq!(
        (status, text(&paid, "/standingInstruction/initialTransactionId").as_str()),
        (200, "0123456789"),
        "{paid}"
    );
    let other = [("standingInstruction.initialTransactionId", "9876543210")];
    let again = instruction("REPEATED", "MIT", "RECURRING");
    refused(&mut page, &path, &[&again, &other], INVALID, "standingInstruction.initialTransactionId").await;
    for (change, name) in [
        (("recurringMigration.paymentType", ""), "recurringMigration.paymentType"),
        (("recurringMigration.paymentType", "RF"), "recurringMigration.paymentType"),
        (("recurringMigration.requestTimestamp", "2027-01-01 10:00:00"), "recurringMigration.requestTimestamp"),
    ] {
        refused(&mut page, "v1/registrations", &[CARD, UNPAID, &migrated, &[change]], INVALID, name).await;
    }
}

#[tokio::test]
async fn the_other_gateways_store_too() {
    let mut page = PageShop::with(Options { host_rules: HostRules::Permissive, ..Options::default() }).await;
    let answer = page.paid("10.00", &[SEPA, &[STORES]]).await;
    let path = format!("v1/registrations/{}/payments", text(&answer, "/registrationId"));
    // The permissive gateway requires no agreement.
    assert_eq!(page.post(&path, &[&instruction("REPEATED", "MIT", "RECURRING")]).await.0, 200);
    let mut page = PageShop::with(Options { host_rules: HostRules::Literal, ..Options::default() }).await;
    let own = [("merchantTransactionId", "stored-once"), ("card.holder", "JONES")];
    let (status, answer) = page.post("v1/registrations", &[CARD, UNPAID, &own]).await;
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = page.post("v1/registrations", &[CARD, UNPAID, &own]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "700.300.700"));
}

#[tokio::test]
async fn what_the_counter_has_stored_pays_away_from_it() {
    let mut counter = Counter::open().await;
    let (_, sale) = counter.pay("DB", "20.00", &[STORES]).await;
    let stored = text(&sale, "/registrationId");
    let holder = [("overrideHolder", "true"), ("card.holder", "Jane Jones")];
    let (status, paid) = counter.with_stored(&stored, "3.00", &holder).await;
    assert_eq!((status, text(&paid, "/card/holder").as_str()), (200, "Jane Jones"), "{paid}");
    assert!(paid.get("pos").is_some(), "a terminal's card has a terminal's answer");
}
