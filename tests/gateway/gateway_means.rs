//! Payments away from the counter at the simulated gateway. Each means of payment is tested separately, with its
//! answers and refusals.

use pos_sim::gateway::provider::{self, TokenType};
use pos_sim::gateway::{HostRules, Kind, Method, Options, State};

use crate::card_reader::Reader;
use crate::gateway_counter::{INVALID, at, text};
use crate::page_shop::{CARD, PageShop};
use crate::shop_client::{Sales, with};

#[tokio::test]
async fn a_typed_card_pays_and_shows_what_it_is() {
    let mut page = PageShop::open().await;
    page.shop.gateway.set_clock(at("2026-11-20T12:00:00Z"));
    for (number, code, brand) in [
        ("4111111111111111", "123", "VISA"),
        ("5555555555554444", "123", "MASTER"),
        ("378282246310005", "1234", "AMEX"),
        ("6011111111111117", "123", "DISCOVER"),
        ("30569309025904", "123", "DINERS"),
        ("3530111333300000", "123", "JCB"),
    ] {
        let card = [("card.number", number), ("card.cvv", code), ("billing.postcode", "12345")];
        let answer = page.paid("10.00", &[CARD, &card]).await;
        assert_eq!((text(&answer, "/paymentBrand"), text(&answer, "/brandResult")), (brand.into(), brand.into()));
        let last4 = &number[number.len() - 4..];
        assert_eq!(
            (text(&answer, "/card/bin"), text(&answer, "/card/last4Digits")),
            (number[..6].into(), last4.into())
        );
        assert_eq!(
            (text(&answer, "/card/holder"), text(&answer, "/card/expiryYear")),
            ("Jane Jones".into(), "2034".into())
        );
        assert_eq!(
            (text(&answer, "/result/cvvResponse"), text(&answer, "/result/avsResponse")),
            ("M".into(), "Z".into())
        );
        for fact in ["/card/issuer/bank", "/card/issuer/phone", "/card/issuer/website", "/card/type", "/card/level"] {
            assert!(!text(&answer, fact).is_empty());
        }
        assert!(answer.get("pos").is_none(), "no terminal took part: {answer}");
        assert!(!answer.to_string().contains(number), "{answer}");
        let entry = page.last_entry();
        assert_eq!((entry.kind, entry.state, entry.method), (Kind::Debit, State::Approved, Method::Card));
        assert!(entry.details.iter().all(|(name, value)| !name.starts_with("card.") && value != number), "{entry:?}");
        // The payment is found by its reference and refunded. A second refund is refused.
        let id = text(&answer, "/id");
        let reference = entry.merchant_transaction_id.unwrap();
        assert_eq!(page.found(&format!("merchantTransactionId={reference}")).await, [id.as_str()]);
        let refund = [("paymentType", "RF"), ("merchantTransactionId", "")];
        let (status, refund) = page.post(&format!("v1/payments/{id}"), &[&refund]).await;
        assert_eq!((status, text(&refund, "/card/last4Digits")), (200, last4.into()));
        assert!(refund.get("pos").is_none());
    }
    // The request names the card's brand, so the gateway does not detect it.
    let answer = page.paid("10.00", &[CARD, &[("paymentBrand", "VISA")]]).await;
    assert!(answer.get("brandResult").is_none() && text(&answer, "/paymentBrand") == "VISA");
    assert!(answer["result"].get("cvvResponse").is_none(), "no code was sent: {answer}");
    // The gateway accepts a reservation with a capture, a credit, and a payment without a reference.
    let answer = page.paid("10.00", &[CARD, &[("paymentType", "PA"), ("numberOfCaptures", "2")]]).await;
    let (status, _) = page.post(&format!("v1/payments/{}", text(&answer, "/id")), &[&[("paymentType", "CP")]]).await;
    assert_eq!(status, 200);
    page.paid("10.00", &[CARD, &[("paymentType", "CD")]]).await;
    page.paid("10.00", &[CARD, &[("merchantTransactionId", "")]]).await;
}

#[tokio::test]
async fn what_is_wrong_with_a_typed_card() {
    let mut page = PageShop::open().await;
    page.shop.gateway.set_clock(at("2026-11-20T12:00:00Z"));
    for (change, code, name) in [
        // The first number has a valid check digit but is not a test card. The second has a wrong check digit. The
        // third is too short for any card.
        (("card.number", "4539578763621486"), "100.100.101", "card.number"),
        (("card.number", "4111111111111112"), "100.100.101", "card.number"),
        (("card.number", "41111111"), "100.100.101", "card.number"),
        (("card.number", ""), INVALID, "card.number"),
        (("card.expiryMonth", ""), INVALID, "card.expiryMonth"),
        (("card.expiryYear", ""), INVALID, "card.expiryYear"),
        (("card.expiryMonth", "13"), INVALID, "card.expiryMonth"),
        (("paymentBrand", "MASTER"), INVALID, "paymentBrand"),
        (("customer.merchantReference", "4111111111111111"), INVALID, "customer.givenName"),
        (("descriptor", "card 4111111111111111"), INVALID, "descriptor"),
        (("paymentType", "CP"), INVALID, "paymentType"),
        (("amount", ""), INVALID, "amount"),
        (("overrideHolder", "true"), INVALID, "overrideHolder"),
        (("overridePaymentType[VISA]", "PA"), INVALID, "overridePaymentType[VISA]"),
        (("integrity", "yes"), INVALID, "integrity"),
    ] {
        let answer = page.refused(&[CARD, &[change]], code, name).await;
        assert!(!answer.to_string().contains("4111111111111111") && !answer.to_string().contains("4539578763621486"));
    }
    let refusals = page.shop.gateway.ledger().refusals().join("\n");
    assert!(!refusals.contains("4111111111111111") && !refusals.contains("4539578763621486"), "{refusals}");
    // A payment that the issuer declines is a failed payment.
    for (change, code) in [
        (("card.cvv", "999"), "800.100.153"),
        (("card.expiryYear", "2025"), "100.100.303"),
        (("card.number", "4761739001010036"), "800.100.165"),
        (("amount", "10.51"), "800.100.155"),
    ] {
        let (status, answer) = page.pay("10.00", &[CARD, &[change]]).await;
        assert_eq!((status, text(&answer, "/result/code").as_str()), (400, code), "{answer}");
        assert_eq!(page.last_entry().state, State::Declined);
    }
}

#[tokio::test]
async fn a_payment_has_one_means() {
    let mut page = PageShop::open().await;
    page.refused(&[], INVALID, "pos.terminalId").await;
    page.refused(&[CARD, &[("tokenAccount.type", "NETWORK")]], INVALID, "tokenAccount.type").await;
    page.refused(&[CARD, &[("giftCard.number", "12345")]], INVALID, "giftCard.number").await;
    page.refused(&[CARD, &[("<wallet_a>.paymentToken", "abc")]], INVALID, "card.number").await;
    // A request may not contain both a read card and a typed one, and an increment contains no card.
    let form = with(Reader::new().chip_sale("10.00", "two-means-1"), &[("card.number", "4111111111111111")]);
    let (status, answer) = page.shop.pay(&form).await;
    assert_eq!((status, text(&answer, "/result/parameterErrors/0/name").as_str()), (400, "card.number"), "{answer}");
    let held = page.paid("10.00", &[CARD, &[("paymentType", "PA")]]).await;
    let more = [
        ("paymentType", "PA"),
        ("referenceUuid", held["id"].as_str().unwrap()),
        ("standingInstruction.industryPractice", "INCREMENTAL_AUTH"),
    ];
    page.refused(&[CARD, &more], INVALID, "card.number").await;
    page.refused(&[&more, &[("createRegistration", "true")]], INVALID, "createRegistration").await;
    page.paid("5.00", &[&more]).await;
    // A capture or refund contains no card either.
    let path = format!("v1/payments/{}", text(&held, "/id"));
    let (status, answer) = page.post(&path, &[CARD, &[("paymentType", "CP")]]).await;
    assert_eq!(
        (status, text(&answer, "/result/parameterErrors/0/name").as_str()),
        (400, "card.expiryMonth"),
        "{answer}"
    );
}

#[tokio::test]
async fn the_faults_of_the_wire_are_those_of_the_counter() {
    let mut page = PageShop::open().await;
    let form = page.form("10.73", &[CARD]);
    assert!(page.shop.send("v1/payments", &form).await.is_err(), "approved, then the line is cut");
    assert_eq!(page.last_entry().state, State::Approved);
    let (_, answer) = page.pay("10.60", &[CARD]).await;
    assert_eq!(text(&answer, "/amount"), "5.30");
    let (status, answer) = page.pay("10.61", &[CARD]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (200, "000.200.000"));
    let path = format!("v1/payments/{}", text(&answer, "/id"));
    assert_eq!(text(&page.shop.get(&path).await.1, "/result/code"), "000.200.000");
    assert_eq!(text(&page.shop.get(&path).await.1, "/result/code"), "000.100.110");
    assert_eq!(page.pay("10.63", &[CARD]).await.1["result"]["code"], "800.120.100");
}

#[tokio::test]
async fn the_other_gateways_take_typed_cards_too() {
    // The literal gateway: a reference may be used only once, and the answer does not name the invalid parameter.
    let mut page = PageShop::with(Options { host_rules: HostRules::Literal, ..Options::default() }).await;
    let own = [("merchantTransactionId", "used-once-1")];
    let own = [&own[..], &[("card.holder", "JONES")]].concat();
    page.paid("10.00", &[CARD, &own]).await;
    let (status, answer) = page.pay("10.00", &[CARD, &own]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "700.300.700"));
    let foreign = [("card.number", "4539578763621486"), ("card.holder", "JONES")];
    let (status, answer) = page.pay("10.00", &[CARD, &foreign]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "100.100.101"));
    assert!(answer["result"].get("parameterErrors").is_none());
    let (status, _) = page.pay("10.00", &[CARD, &[("card.holder", "JONES"), ("shipping.city", "Zürich")]]).await;
    assert_eq!(status, 400, "the letters are A to Z there");
    // The permissive gateway: every readable request is booked, but a real person's card is still refused.
    let mut page = PageShop::with(Options { host_rules: HostRules::Permissive, ..Options::default() }).await;
    page.paid("10.00", &[CARD, &[("taxAmount", "99.00")]]).await;
    page.refused(&[CARD, &[("card.number", "4539578763621486")]], "100.100.101", "card.number").await;
}

const SEPA: &[(&str, &str)] = &[
    ("bankAccount.holder", "Jane Jones"),
    ("bankAccount.iban", "DE89370400440532013000"),
    ("bankAccount.bic", "COBADEFF"),
    ("bankAccount.country", "DE"),
    ("paymentBrand", "DIRECTDEBIT_SEPA"),
];

#[tokio::test]
async fn a_bank_account_is_debited_with_its_mandate() {
    let mut page = PageShop::open().await;
    page.shop.gateway.set_clock(at("2026-11-20T12:00:00Z"));
    let answer = page.paid("10.00", &[SEPA]).await;
    assert_eq!(text(&answer, "/merchant/bankAccount/holder"), "Shop of Tests", "required of each answer");
    let lower = page.paid("10.00", &[SEPA, &[("bankAccount.country", "de")]]).await;
    assert_eq!(text(&lower, "/bankAccount/country"), "de");
    let mandate = text(&answer, "/bankAccount/mandate/id");
    assert!(mandate.starts_with("SIM-") && text(&answer, "/bankAccount/mandate/dateOfSignature") == "2026-11-20");
    assert_eq!(
        (text(&answer, "/paymentBrand"), text(&answer, "/bankAccount/country")),
        ("DIRECTDEBIT_SEPA".into(), "DE".into())
    );
    assert!(!answer.to_string().contains("0532013000") && !answer.to_string().contains("Jane"), "{answer}");
    let entry = page.last_entry();
    assert_eq!((entry.method, entry.state), (Method::DirectDebit, State::Approved));
    assert!(!format!("{:?}", entry.details).contains("0532013000"));
    let own = [
        ("bankAccount.mandate.id", "MANDATE-ONE"),
        ("bankAccount.mandate.dateOfSignature", "2026-11-20"),
        ("transactionDueDate", "2026-12-01"),
    ];
    let answer = page.paid("10.00", &[SEPA, &own]).await;
    assert_eq!(
        (text(&answer, "/bankAccount/mandate/id"), text(&answer, "/transactionDueDate")),
        ("MANDATE-ONE".into(), "2026-12-01".into())
    );
    // The account is given by number and bank code. Money is also paid out to an account, and refunded.
    let by_number = [
        ("bankAccount.iban", ""),
        ("bankAccount.bic", ""),
        ("bankAccount.number", "0532013000"),
        ("bankAccount.bankCode", "37040044"),
        ("paymentBrand", "DIRECTDEBIT"),
    ];
    let answer = page.paid("10.00", &[SEPA, &by_number]).await;
    assert!(answer["bankAccount"].get("mandate").is_none());
    assert_eq!(page.post(&format!("v1/payments/{}", text(&answer, "/id")), &[&[("paymentType", "RF")]]).await.0, 200);
    page.paid("10.00", &[SEPA, &[("paymentType", "CD")]]).await;
    assert_eq!(page.last_entry().method, Method::CreditTransfer);
    for (change, code, name) in [
        (("bankAccount.iban", "DE89370400440532013001"), "100.100.101", "bankAccount.iban"),
        (("bankAccount.iban", ""), INVALID, "bankAccount.number"),
        (("bankAccount.bic", ""), INVALID, "bankAccount.bankCode"),
        (("bankAccount.holder", ""), INVALID, "bankAccount.holder"),
        (("bankAccount.country", "AT"), INVALID, "bankAccount.country"),
        (("bankAccount.mandate.id", "MANDATE-ONE"), INVALID, "bankAccount.mandate.dateOfSignature"),
        (("bankAccount.mandate.dateOfSignature", "2026-11-01"), INVALID, "bankAccount.mandate.id"),
        (("transactionDueDate", "2026-11-19"), INVALID, "transactionDueDate"),
        (("bankAccount.country", "at"), INVALID, "bankAccount.country"),
        (("billing.country", "de"), INVALID, "billing.country"),
        (("paymentType", "PA"), INVALID, "paymentType"),
        (("paymentBrand", "VISA"), INVALID, "paymentBrand"),
        (("paymentBrand", ""), INVALID, "paymentBrand"),
        (("currency", "USD"), INVALID, "currency"),
    ] {
        page.refused(&[SEPA, &[change]], code, name).await;
    }
    let later = [("bankAccount.mandate.id", "MANDATE-ONE"), ("bankAccount.mandate.dateOfSignature", "2026-11-21")];
    page.refused(&[SEPA, &later], INVALID, "bankAccount.mandate.dateOfSignature").await;
    page.refused(&[SEPA, &own, &[("paymentType", "CD")]], INVALID, "bankAccount.mandate.id").await;
    let (status, answer) = page.pay("10.00", &[SEPA, &[("bankAccount.iban", "DE02100500000054540402")]]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "800.100.152"), "it is closed");
    // The permissive gateway checks neither mandate nor due date, but accepts only test accounts.
    let mut bank = PageShop::with(Options { host_rules: HostRules::Permissive, ..Options::default() }).await;
    bank.paid("10.00", &[SEPA, &[("bankAccount.mandate.id", "ALONE"), ("transactionDueDate", "2020-01-01")]]).await;
    bank.refused(&[SEPA, &[("bankAccount.iban", "DE89370400440532013001")]], "100.100.101", "bankAccount.iban").await;
    // The literal gateway makes direct debits too.
    let mut letter = PageShop::with(Options { host_rules: HostRules::Literal, ..Options::default() }).await;
    letter.paid("10.00", &[SEPA]).await;
    assert_eq!(letter.last_entry().method, Method::DirectDebit);
}

#[tokio::test]
async fn a_token_stands_for_a_card() {
    let mut page = PageShop::open().await;
    let network = provider::account_token(TokenType::Network, "5555555555554444").unwrap();
    let outside = provider::account_token(TokenType::External, "4111111111111111").unwrap();
    let proof = provider::cryptogram(&network, 1);
    let by_network = [("tokenAccount.number", network.as_str()), ("tokenAccount.type", "NETWORK")];
    let proven = [&by_network[..], &[("tokenAccount.cryptogram", proof.as_str())]].concat();
    let answer = page.paid("10.00", &[&proven]).await;
    assert_eq!((text(&answer, "/paymentBrand"), text(&answer, "/card/last4Digits")), ("MASTER".into(), "4444".into()));
    assert_eq!(
        (page.last_entry().method, text(&answer, "/tokenAccount/type")),
        (Method::NetworkToken, "NETWORK".into())
    );
    assert!(!answer.to_string().contains(&network));
    let from_outside = [("tokenAccount.number", outside.as_str()), ("tokenAccount.type", "EXTERNAL")];
    page.paid("10.00", &[&from_outside, &[("tokenAccount.expiryMonth", "12"), ("tokenAccount.expiryYear", "2034")]])
        .await;
    assert_eq!(page.last_entry().method, Method::ExternalToken);
    page.paid("10.00", &[&by_network, &[("tokenAccount.dtvc", provider::verification_code(&network).as_str())]]).await;
    page.paid("10.00", &[&by_network, &[("paymentType", "CD")]]).await;
    // A cryptogram is valid for one payment and one token.
    for (proof, code) in [(proof.as_str(), "800.100.158"), (provider::cryptogram(&outside, 2).as_str(), "800.100.158")]
    {
        let (status, answer) = page.pay("10.00", &[&by_network, &[("tokenAccount.cryptogram", proof)]]).await;
        assert_eq!((status, text(&answer, "/result/code").as_str()), (400, code));
    }
    page.refused(&[&by_network], INVALID, "tokenAccount.cryptogram").await;
    page.refused(&[&by_network, &[("tokenAccount.type", "")]], INVALID, "tokenAccount.type").await;
    page.refused(
        &[&from_outside, &[("tokenAccount.number", "9901000000000000")]],
        "100.100.101",
        "tokenAccount.number",
    )
    .await;
    page.refused(&[&from_outside, &[("tokenAccount.type", "NETWORK")]], "100.100.101", "tokenAccount.number").await;
    page.refused(&[&from_outside, &[("tokenAccount.expiryMonth", "12")]], INVALID, "tokenAccount.expiryYear").await;
    page.refused(&[&from_outside, &[("paymentBrand", "AMEX")]], INVALID, "paymentBrand").await;
}

#[tokio::test]
async fn the_test_provider_answers_over_the_wire() {
    let mut page = PageShop::open().await;
    let asked = async |page: &PageShop, path: &str| {
        let response = page.shop.client.get(format!("{}{path}", page.shop.gateway.base_url())).send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_slice::<serde_json::Value>(&response.bytes().await.unwrap()).unwrap())
    };
    let (_, token) = asked(&page, "provider/account-token?type=NETWORK&number=4111111111111111").await;
    let (number, proof) = (text(&token, "/number"), text(&token, "/cryptogram"));
    let network = [("tokenAccount.number", number.as_str()), ("tokenAccount.type", "NETWORK")];
    page.paid("10.00", &[&network, &[("tokenAccount.cryptogram", proof.as_str())]]).await;
    let wallet =
        "provider/wallet-token?wallet=%3Cwallet_c%3E&number=5555555555554444&expiry=3412&amount=10.00&currency=EUR";
    let token = text(&asked(&page, wallet).await.1, "/paymentToken");
    page.paid("10.00", &[&[("<wallet_c>.paymentToken", token.as_str())]]).await;
    assert_eq!(asked(&page, "provider/account-token?number=4539578763621486").await.0, 400);
    assert_eq!(asked(&page, "provider/nothing").await.0, 404);
}

#[tokio::test]
async fn each_wallet_pays_by_its_token_and_decrypted() {
    let mut page = PageShop::open().await;
    for wallet in ["<wallet_a>", "<wallet_b>", "<wallet_c>"] {
        let name = format!("{wallet}.paymentToken");
        let token = provider::wallet_token(wallet, "4111111111111111", "3412", "10.00", "EUR").unwrap();
        let answer = page.paid("10.00", &[&[(name.as_str(), token.as_str())]]).await;
        assert_eq!((text(&answer, "/paymentBrand"), text(&answer, "/card/expiryYear")), ("VISA".into(), "2034".into()));
        assert_eq!(text(&answer, "/threeDSecure/eci"), "05");
        assert!(page.last_entry().method == Method::Wallet && !answer.to_string().contains(&token));
        // A token is valid once, for this amount, with this wallet.
        page.refused(&[&[(name.as_str(), token.as_str())]], INVALID, &name).await;
        let dear = provider::wallet_token(wallet, "4111111111111111", "3412", "99.00", "EUR").unwrap();
        page.refused(&[&[(name.as_str(), dear.as_str())]], INVALID, &name).await;
        page.refused(&[&[(name.as_str(), "bm8gdG9rZW4=")]], INVALID, &name).await;
        let other = if wallet == "<wallet_a>" { "<wallet_b>" } else { "<wallet_a>" };
        let other = provider::wallet_token(other, "4111111111111111", "3412", "10.00", "EUR").unwrap();
        page.refused(&[&[(name.as_str(), other.as_str())]], INVALID, &name).await;
        // A decrypted token: a card, the proof, and its source.
        let source = format!("{wallet}.source");
        let decrypted = [
            (source.as_str(), "app"),
            ("threeDSecure.eci", "05"),
            ("threeDSecure.verificationId", "AAECAwQFBgcICQoLDA0ODxAREhM="),
        ];
        let answer = page.paid("10.00", &[CARD, &decrypted]).await;
        assert_eq!(text(&answer, "/threeDSecure/verificationId"), "AAECAwQFBgcICQoLDA0ODxAREhM=");
        assert_eq!(page.last_entry().method, Method::Wallet);
        page.refused(&[CARD, &decrypted[..2]], INVALID, "threeDSecure.verificationId").await;
        page.refused(&[CARD, &decrypted, &[("threeDSecure.eci", "09")]], INVALID, "threeDSecure.eci").await;
        page.refused(&[CARD, &decrypted, &[(name.as_str(), token.as_str())]], INVALID, &source).await;
        page.refused(&[&decrypted], INVALID, "card.number").await;
    }
    let token = provider::wallet_token("<wallet_a>", "4111111111111111", "3412", "10.00", "EUR").unwrap();
    let token = ("<wallet_a>.paymentToken", token.as_str());
    page.refused(&[&[token, ("<wallet_a>.cardNetwork", "amex")]], INVALID, "<wallet_a>.cardNetwork").await;
    page.paid("10.00", &[&[token, ("<wallet_a>.cardNetwork", "visa"), ("<wallet_a>.cardType", "credit")]]).await;
}

#[tokio::test]
async fn a_gift_card_is_spent_until_nothing_is_left() {
    let mut page = PageShop::open().await;
    let card = [("giftCard.number", "GIFT-0010-0002"), ("giftCard.pin", "1234")];
    let first = page.paid("6.00", &[&card]).await;
    assert!(!first.to_string().contains("GIFT-0010") && page.last_entry().method == Method::GiftCard);
    let (status, answer) = page.pay("4.01", &[&card]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "800.100.155"));
    page.paid("4.00", &[&card]).await;
    assert_eq!(page.pay("0.01", &[&card]).await.0, 400);
    // Refunded money can be spent again.
    let (status, _) = page.post(&format!("v1/payments/{}", text(&first, "/id")), &[&[("paymentType", "RF")]]).await;
    assert_eq!(status, 200);
    page.paid("1.00", &[&card]).await;
    assert_eq!(page.pay("1.00", &[&card, &[("giftCard.pin", "9999")]]).await.1["result"]["code"], "800.100.166");
    page.refused(&[&card, &[("giftCard.number", "GIFT-9999-9999")]], "100.100.101", "giftCard.number").await;
    page.refused(&[&card[..1]], INVALID, "giftCard.pin").await;
    page.refused(&[&card, &[("paymentType", "PA")]], INVALID, "paymentType").await;
    page.refused(&[&card, &[("createRegistration", "true")]], INVALID, "createRegistration").await;
    // The permissive gateway does not check the balance.
    let mut bank = PageShop::with(Options { host_rules: HostRules::Permissive, ..Options::default() }).await;
    bank.paid("99.00", &[&card]).await;
}

#[tokio::test]
async fn the_query_tells_the_means_apart() {
    let mut page = PageShop::open().await;
    let token = provider::account_token(TokenType::External, "4111111111111111").unwrap();
    let token = [("tokenAccount.number", token.as_str()), ("tokenAccount.type", "EXTERNAL")];
    let gift = [("giftCard.number", "GIFT-0100-0001"), ("giftCard.pin", "1234")];
    let mut ids = Vec::new();
    for means in [CARD, SEPA, &token, &gift] {
        ids.push(text(&page.paid("10.00", &[means]).await, "/id"));
    }
    let (status, refund) = page.post(&format!("v1/payments/{}", ids[1]), &[&[("paymentType", "RF")]]).await;
    assert_eq!(status, 200);
    let debits = [ids[1].clone(), text(&refund, "/id")];
    let days = "date.from=2020-01-01+00:00:00&date.to=2099-01-01+00:00:00";
    for (methods, found) in
        [("CC", &ids[..1]), ("DD", &debits[..]), ("ET", &ids[2..3]), ("PP", &ids[3..]), ("OT,WA,NT,VA", &[])]
    {
        assert_eq!(page.found(&format!("{days}&paymentMethods={methods}")).await, found, "{methods}");
    }
    assert_eq!(page.found(&format!("{days}&paymentMethods=CC,PP")).await, [ids[0].clone(), ids[3].clone()]);
    assert_eq!(page.found(&format!("{days}&paymentMethods=DD&paymentTypes=RF")).await, debits[1..]);
}

#[tokio::test]
async fn a_risk_check_alone_moves_no_money() {
    let mut page = PageShop::open().await;
    let risk: &[(&str, &str)] = &[("paymentType", "RI"), ("risk.channelId", "shop")];
    for means in [CARD, SEPA] {
        for (amount, expected) in [("10.00", (200, "000.100.110", "+00100")), ("5.55", (400, "100.400.100", "-00900"))]
        {
            let (status, answer) = page.pay(amount, &[means, risk]).await;
            let (code, score) = (text(&answer, "/result/code"), text(&answer, "/risk/score"));
            assert_eq!((status, code.as_str(), score.as_str()), expected, "{answer}");
            assert_eq!(text(&answer, "/paymentType"), "RI");
            // This was not a payment, so it can have no follow-up payment.
            let id = text(&answer, "/id");
            for kind in ["RV", "RF", "CP"] {
                let (status, answer) =
                    page.post(&format!("v1/payments/{id}"), &[&[("paymentType", kind), ("amount", amount)]]).await;
                assert_eq!(status, 400, "{kind}: {answer}");
            }
        }
    }
    assert_eq!(page.shop.gateway.ledger().all_charged().count(), 0);
    assert!(page.entries().iter().all(|entry| entry.kind == Kind::RiskCheck));
    // A card enrolled in 3-D Secure is assessed without its holder. The holder pays nothing.
    let (status, answer) = page.pay("10.00", &[CARD, &[("card.number", "5555555555554444")], risk]).await;
    assert!(status == 200 && answer.get("redirect").is_none(), "{answer}");
    page.refused(&[CARD, risk, &[("createRegistration", "true")]], INVALID, "createRegistration").await;
    let gift = [("giftCard.number", "GIFT-0000-0001"), ("giftCard.pin", "1111")];
    page.refused(&[&gift, risk], INVALID, "paymentType").await;
}
