//! The payment life of the simulated gateway over real HTTPS: what follows a payment, what its state allows, and that a refusal
//! changes nothing. Every answer is held against the interface's table (`shop_client`).
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests are tests")]

#[path = "support/card_reader.rs"]
mod card_reader;
#[path = "support/shop_client.rs"]
mod shop_client;

use std::process::Stdio;
use std::time::{Duration, Instant};

use card_reader::Reader;
use chrono::{DateTime, Utc};
use pos_agent::sim::gateway::{Kind, Options, Outcome, State};
use serde_json::Value;
use shop_client::{Sales, Shop, sealed_sale, with};

/// A shop with its reader; it counts its references.
struct Counter {
    shop: Shop,
    reader: Reader,
    count: u32,
}

impl Counter {
    async fn open() -> Self {
        Self::with(Options::default()).await
    }

    async fn with(options: Options) -> Self {
        Self { shop: Shop::with(options).await, reader: Reader::new(), count: 0 }
    }

    fn reference(&mut self) -> String {
        self.count += 1;
        format!("life-{:04}", self.count)
    }

    /// Pays with the chip; the id of what was approved.
    async fn paid(&mut self, kind: &str, amount: &str, more: &[(&str, &str)]) -> String {
        let (status, answer) = self.pay(kind, amount, more).await;
        assert_eq!(status, 200, "{answer}");
        text(&answer, "/id")
    }

    async fn pay(&mut self, kind: &str, amount: &str, more: &[(&str, &str)]) -> (u16, Value) {
        let reference = self.reference();
        let form = with(self.reader.chip_sale(amount, &reference), &[("paymentType", kind)]);
        self.shop.pay(&with(form, more)).await
    }

    /// CP, RV or RF; without an amount the whole of what is left.
    async fn follow(&self, id: &str, kind: &str, amount: Option<&str>, more: &[(&str, &str)]) -> (u16, Value) {
        let entity = self.shop.gateway.entity_id().to_owned();
        let mut form = vec![("entityId", entity.as_str()), ("paymentType", kind)];
        form.extend(amount.map(|amount| ("amount", amount)));
        form.extend(amount.map(|_| ("currency", "EUR")));
        form.extend(more);
        self.shop.post(&format!("v1/payments/{id}"), &form).await
    }

    async fn followed(&self, id: &str, kind: &str, amount: Option<&str>) -> String {
        let (status, answer) = self.follow(id, kind, amount, &[]).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!((text(&answer, "/paymentType"), text(&answer, "/referencedId")), (kind.to_owned(), id.to_owned()));
        text(&answer, "/id")
    }

    /// A follow-up that is refused: this code, this parameter, and nothing has changed.
    async fn refused(&self, id: &str, kind: &str, amount: Option<&str>, code: &str, name: &str) {
        let before = self.shop.gateway.ledger().entries().to_vec();
        let (status, answer) = self.follow(id, kind, amount, &[]).await;
        assert_eq!(
            (status, refusal(&answer)),
            (400, (code.to_owned(), name.to_owned())),
            "{kind} {amount:?}: {answer}"
        );
        assert_eq!(self.shop.gateway.ledger().entries(), before, "{kind} {amount:?}");
    }

    /// More for a pre-authorisation, or again.
    async fn by_reference(&mut self, id: &str, practice: &str, amount: &str, more: &[(&str, &str)]) -> (u16, Value) {
        let reference = self.reference();
        let entity = self.shop.gateway.entity_id().to_owned();
        let mut form = vec![
            ("entityId", entity.as_str()),
            ("paymentType", "PA"),
            ("amount", amount),
            ("currency", "EUR"),
            ("merchantTransactionId", &reference),
            ("referenceUuid", id),
            ("standingInstruction.industryPractice", practice),
        ];
        form.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        form.extend(more.iter().filter(|(_, value)| !value.is_empty()));
        self.shop.post("v1/payments", &form).await
    }

    /// Pays with a stored card.
    async fn with_stored(&mut self, id: &str, amount: &str, more: &[(&str, &str)]) -> (u16, Value) {
        let reference = self.reference();
        let entity = self.shop.gateway.entity_id().to_owned();
        let mut form = vec![
            ("entityId", entity.as_str()),
            ("paymentType", "DB"),
            ("amount", amount),
            ("currency", "EUR"),
            ("merchantTransactionId", &reference),
        ];
        form.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        form.extend(more);
        self.shop.post(&format!("v1/registrations/{id}/payments"), &form).await
    }

    async fn delete(&self, id: &str) -> (u16, Value) {
        let gateway = &self.shop.gateway;
        let url = format!("{}v1/registrations/{id}?entityId={}", gateway.base_url(), gateway.entity_id());
        let response = self.shop.client.delete(url).bearer_auth(gateway.token()).send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
    }

    fn left(&self, id: &str) -> Option<String> {
        self.shop.gateway.ledger().left(id)
    }

    async fn found(&self, query: &str) -> Vec<String> {
        let (status, answer) =
            self.shop.get(&format!("v1/query?entityId={}&{query}", self.shop.gateway.entity_id())).await;
        assert_eq!(status, 200, "{answer}");
        answer["payments"].as_array().unwrap().iter().map(|payment| text(payment, "/id")).collect()
    }
}

fn text(answer: &Value, pointer: &str) -> String {
    answer.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}: {answer}")).to_owned()
}

/// Result code and parameter of a refusal.
fn refusal(answer: &Value) -> (String, String) {
    (text(answer, "/result/code"), text(answer, "/result/parameterErrors/0/name"))
}

fn at(time: &str) -> DateTime<Utc> {
    time.parse().unwrap()
}

const INVALID: &str = "200.300.404";

#[tokio::test]
async fn captures_take_what_is_left_and_no_more() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "100.00", &[]).await;
    assert_eq!(counter.left(&held).as_deref(), Some("100.00"));
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 0, "held is not charged");
    counter.followed(&held, "CP", Some("30.00")).await;
    assert_eq!(counter.left(&held).as_deref(), Some("70.00"));
    counter.refused(&held, "CP", Some("70.01"), "700.400.100", "amount").await;
    let rest = counter.followed(&held, "CP", None).await;
    assert_eq!(counter.shop.gateway.ledger().entries().last().unwrap().amount, "70.00");
    assert_eq!(counter.left(&held), None);
    counter.refused(&held, "CP", Some("0.01"), "700.300.300", "amount").await;
    counter.refused(&held, "RV", None, "700.400.300", "paymentType").await;
    counter.refused(&held, "RF", Some("1.00"), "700.400.520", "paymentType").await;

    // A capture that is taken back is there again.
    counter.followed(&rest, "RV", Some("70.00")).await;
    assert_eq!(counter.left(&held).as_deref(), Some("70.00"));
    counter.refused(&rest, "RF", Some("1.00"), "700.400.200", "paymentType").await;
    counter.followed(&held, "CP", Some("70.00")).await;

    // FINAL: the rest is given up.
    let held = counter.paid("PA", "50.00", &[]).await;
    let (status, answer) = counter.follow(&held, "CP", Some("10.00"), &[("sequence", "FINAL")]).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(counter.left(&held), None);
    counter.refused(&held, "CP", Some("1.00"), "700.300.300", "sequence").await;

    // At most so many.
    let held = counter.paid("PA", "50.00", &[("numberOfCaptures", "2")]).await;
    counter.followed(&held, "CP", Some("10.00")).await;
    counter.followed(&held, "CP", Some("10.00")).await;
    counter.refused(&held, "CP", Some("10.00"), "700.400.100", "numberOfCaptures").await;

    // What is no approved pre-authorisation, is not captured.
    let sale = counter.paid("DB", "10.00", &[]).await;
    counter.refused(&sale, "CP", Some("1.00"), "700.400.510", "paymentType").await;
    let (_, declined) = counter.pay("PA", "9.54", &[]).await;
    counter.refused(&text(&declined, "/id"), "CP", Some("1.00"), "700.400.510", "paymentType").await;
    let (_, pending) = counter.pay("PA", "9.62", &[]).await;
    counter.refused(&text(&pending, "/id"), "CP", Some("1.00"), "700.400.510", "paymentType").await;
    let gone = counter.paid("PA", "10.00", &[]).await;
    counter.followed(&gone, "RV", None).await;
    counter.refused(&gone, "CP", Some("1.00"), "700.400.100", "paymentType").await;
    // Half of it was approved, half of it is there.
    let half = counter.paid("PA", "10.60", &[]).await;
    counter.refused(&half, "CP", Some("5.31"), "700.400.100", "amount").await;
    counter.followed(&half, "CP", Some("5.30")).await;
}

#[tokio::test]
async fn refunds_give_back_what_was_paid_and_no_more() {
    let mut counter = Counter::open().await;
    let sale = counter.paid("DB", "20.00", &[]).await;
    let refund = counter.followed(&sale, "RF", Some("5.00")).await;
    assert_eq!(counter.left(&sale).as_deref(), Some("15.00"));
    counter.refused(&sale, "RF", Some("15.01"), "700.400.200", "amount").await;
    counter.refused(&sale, "RV", None, "700.400.300", "paymentType").await;
    counter.refused(&refund, "RF", Some("1.00"), "700.400.520", "paymentType").await;
    counter.refused(&refund, "RV", None, "700.400.530", "paymentType").await;
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 1);
    counter.followed(&sale, "RF", None).await;
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 0);
    counter.refused(&sale, "RF", Some("0.01"), "700.300.300", "amount").await;

    // Of a capture; FINAL; in another currency; of nothing.
    let held = counter.paid("PA", "20.00", &[]).await;
    let capture = counter.followed(&held, "CP", None).await;
    let entity = counter.shop.gateway.entity_id().to_owned();
    let other = [("entityId", entity.as_str()), ("paymentType", "RF"), ("amount", "1.00"), ("currency", "USD")];
    let (status, answer) = counter.shop.post(&format!("v1/payments/{capture}"), &other).await;
    assert_eq!((status, refusal(&answer)), (400, ("700.100.500".to_owned(), "currency".to_owned())));
    counter.refused(&capture, "RF", Some("0.00"), INVALID, "amount").await;
    assert_eq!(counter.follow(&capture, "RF", Some("1.00"), &[("sequence", "FINAL")]).await.0, 200);
    counter.refused(&capture, "RF", Some("1.00"), "700.300.300", "sequence").await;

    // Money to a card without a payment before: the chip answers with an AAC as a rule; it can be taken back.
    let credit = counter.paid("CD", "7.00", &[]).await;
    counter.refused(&credit, "RF", Some("1.00"), "700.400.520", "paymentType").await;
    counter.refused(&credit, "CP", Some("1.00"), "700.400.510", "paymentType").await;
    counter.followed(&credit, "RV", Some("7.00")).await;
    counter.refused(&credit, "RV", None, "700.300.300", "paymentType").await;
    let ledger = counter.shop.gateway.ledger();
    let credit = ledger.entries().iter().find(|entry| entry.kind == Kind::Credit).unwrap();
    assert_eq!(credit.state, State::Reversed);
}

#[tokio::test]
async fn unknown_ids_are_404_and_wrong_types_are_named() {
    let mut counter = Counter::open().await;
    let nobody = "0".repeat(32);
    for kind in ["CP", "RV", "RF"] {
        assert_eq!(counter.follow(&nobody, kind, None, &[]).await.0, 404);
    }
    let sale = counter.paid("DB", "20.00", &[]).await;
    for kind in ["DB", "PA", "CD", "XX"] {
        counter.refused(&sale, kind, None, INVALID, "paymentType").await;
    }
    for kind in ["CP", "RV", "RF"] {
        let (status, answer) = counter.pay(kind, "1.00", &[]).await;
        assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), "paymentType".to_owned())));
    }
    for (kind, name, value) in
        [("DB", "numberOfCaptures", "2"), ("PA", "numberOfCaptures", "99"), ("CD", "createRegistration", "true")]
    {
        let (status, answer) = counter.pay(kind, "1.00", &[(name, value)]).await;
        assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), name.to_owned())));
    }
    assert_eq!(counter.shop.gateway.ledger().entries().len(), 1);
}

#[tokio::test]
async fn increments_add_and_a_reauthorisation_takes_the_place() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "100.00", &[]).await;
    let (status, more) = counter.by_reference(&held, "INCREMENTAL_AUTH", "20.00", &[]).await;
    assert_eq!((status, text(&more, "/paymentType"), text(&more, "/amount")), (200, "PA".into(), "20.00".into()));
    assert_eq!((text(&more, "/referencedId"), text(&more, "/card/last4Digits")), (held.clone(), "0119".into()));
    assert_eq!(counter.left(&held).as_deref(), Some("120.00"));
    let more = text(&more, "/id");
    counter.refused(&more, "CP", Some("1.00"), "700.400.510", "paymentType").await;
    counter.refused(&held, "CP", Some("120.01"), "700.400.100", "amount").await;
    // A declined one adds nothing, nor does a pending one.
    for (amount, status) in [("9.54", 400), ("9.62", 200)] {
        assert_eq!(counter.by_reference(&held, "INCREMENTAL_AUTH", amount, &[]).await.0, status);
    }
    assert_eq!(counter.left(&held).as_deref(), Some("120.00"));
    // It can be taken back while it is not captured.
    let (_, second) = counter.by_reference(&held, "INCREMENTAL_AUTH", "5.00", &[]).await;
    counter.followed(&text(&second, "/id"), "RV", None).await;
    assert_eq!(counter.left(&held).as_deref(), Some("120.00"));
    counter.followed(&held, "CP", Some("110.00")).await;
    counter.refused(&more, "RV", None, "700.400.300", "paymentType").await;

    // A reversal takes all of it.
    let held = counter.paid("PA", "10.00", &[]).await;
    counter.by_reference(&held, "INCREMENTAL_AUTH", "5.00", &[]).await;
    counter.refused(&held, "RV", Some("10.00"), "700.100.200", "amount").await;
    counter.followed(&held, "RV", Some("15.00")).await;
    assert_eq!(counter.by_reference(&held, "INCREMENTAL_AUTH", "1.00", &[]).await.0, 400);

    // A reauthorisation: the one before is closed; reversed, it is open again.
    let held = counter.paid("PA", "50.00", &[]).await;
    let (_, again) = counter.by_reference(&held, "REAUTHORIZATION", "40.00", &[]).await;
    let again = text(&again, "/id");
    assert_eq!((counter.left(&held), counter.left(&again).as_deref()), (None, Some("40.00")));
    counter.refused(&held, "CP", Some("1.00"), "700.400.100", "paymentType").await;
    counter.refused(&held, "RV", None, "700.400.300", "paymentType").await;
    counter.followed(&again, "RV", None).await;
    assert_eq!(counter.left(&held).as_deref(), Some("50.00"));
    counter.followed(&held, "CP", Some("50.00")).await;
}

#[tokio::test]
async fn increments_that_are_refused() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "100.00", &[]).await;
    let sale = counter.paid("DB", "100.00", &[]).await;
    let large = counter.paid("PA", "9999999999.00", &[]).await;
    let (_, more) = counter.by_reference(&held, "INCREMENTAL_AUTH", "1.00", &[]).await;
    let more = text(&more, "/id");
    let before = counter.shop.gateway.ledger().entries().to_vec();
    let nobody = "f".repeat(32);
    let (add, again) = ("INCREMENTAL_AUTH", "REAUTHORIZATION");
    for (id, practice, amount, change, code, name) in [
        (&nobody, add, "1.00", ("", ""), INVALID, "referenceUuid"),
        (&sale, add, "1.00", ("", ""), "700.100.700", "referenceUuid"),
        (&more, add, "1.00", ("", ""), "700.100.700", "referenceUuid"),
        (&held, add, "1.00", ("currency", "USD"), "700.100.500", "currency"),
        (&held, add, "1.00", ("paymentType", "DB"), INVALID, "paymentType"),
        (&held, "DELAYED_CHARGES", "1.00", ("", ""), INVALID, "standingInstruction.industryPractice"),
        (
            &held,
            add,
            "1.00",
            ("standingInstruction.industryPractice", ""),
            INVALID,
            "standingInstruction.industryPractice",
        ),
        (&held, add, "1.00", ("referenceUuid", ""), INVALID, "referenceUuid"),
        (&held, add, "1.00", ("merchantTransactionId", ""), INVALID, "merchantTransactionId"),
        (&held, add, "1.00", ("pos.encryptedSred.data", "00"), INVALID, "pos.encryptedSred.data"),
        (&held, add, "0.00", ("", ""), INVALID, "amount"),
        (&large, add, "1.00", ("", ""), "700.100.300", "amount"),
        (&held, again, "101.01", ("", ""), "700.100.300", "amount"),
    ] {
        let changes: &[(&str, &str)] = if change.0.is_empty() { &[] } else { &[change] };
        let (status, answer) = counter.by_reference(id, practice, amount, changes).await;
        assert_eq!(
            (status, refusal(&answer)),
            (400, (code.to_owned(), name.to_owned())),
            "{practice} {amount} {change:?}"
        );
        assert_eq!(counter.shop.gateway.ledger().entries(), before);
    }
    counter.follow(&held, "CP", Some("1.00"), &[("sequence", "FINAL")]).await;
    let (_, answer) = counter.by_reference(&held, add, "1.00", &[]).await;
    assert_eq!(refusal(&answer), ("700.300.300".to_owned(), "referenceUuid".to_owned()));
}

#[tokio::test]
async fn a_card_is_stored_with_a_sale_paid_with_and_deleted() {
    let mut counter = Counter::open().await;
    let (status, sale) = counter.pay("DB", "20.00", &[("createRegistration", "true")]).await;
    assert_eq!(status, 200, "{sale}");
    let stored = text(&sale, "/registrationId");
    assert_eq!((stored.len(), text(&sale, "/registration/id")), (32, stored.clone()));
    let (_, plain) = counter.pay("DB", "20.00", &[("createRegistration", "false")]).await;
    assert!(plain.get("registrationId").is_none());

    let (status, paid) = counter.with_stored(&stored, "3.00", &[]).await;
    assert_eq!(
        (status, text(&paid, "/card/last4Digits"), text(&paid, "/paymentBrand")),
        (200, "0119".into(), "VISA".into())
    );
    counter.followed(&text(&paid, "/id"), "RF", None).await;
    let (_, held) = counter.with_stored(&stored, "3.00", &[("paymentType", "PA"), ("numberOfCaptures", "1")]).await;
    counter.followed(&text(&held, "/id"), "CP", Some("1.00")).await;
    // The cents choose here as well.
    assert_eq!(counter.with_stored(&stored, "3.54", &[]).await.0, 400);

    let before = counter.shop.gateway.ledger().entries().to_vec();
    for (change, name) in [
        (("paymentType", "CD"), "paymentType"),
        (("paymentBrand", "MASTER"), "paymentBrand"),
        (("numberOfCaptures", "1"), "numberOfCaptures"),
        (("pos.encryptedSred.data", "00"), "pos.encryptedSred.data"),
        (("currency", "XXY"), "currency"),
    ] {
        let (status, answer) = counter.with_stored(&stored, "1.00", &[change]).await;
        assert_eq!((status, refusal(&answer).1.as_str()), (400, name));
    }
    assert_eq!(counter.with_stored(&"0".repeat(32), "1.00", &[]).await.0, 404);

    let (status, answer) = counter.delete(&stored).await;
    assert_eq!((status, text(&answer, "/id")), (200, stored.clone()));
    let (status, answer) = counter.delete(&stored).await;
    assert_eq!((status, refusal(&answer).0.as_str()), (400, "100.150.202"));
    let (status, answer) = counter.with_stored(&stored, "1.00", &[]).await;
    assert_eq!((status, refusal(&answer).0.as_str()), (400, "100.150.202"));
    assert_eq!(counter.delete(&"0".repeat(32)).await.0, 404);
    assert_eq!(counter.shop.gateway.ledger().entries(), before);

    // What was not approved stores nothing; what is pending stores nothing that can be used yet.
    let (_, declined) = counter.pay("DB", "9.54", &[("createRegistration", "true")]).await;
    assert!(declined.get("registrationId").is_none(), "{declined}");
    let (_, pending) = counter.pay("DB", "9.61", &[("createRegistration", "true")]).await;
    let stored = text(&pending, "/registrationId");
    let (_, answer) = counter.with_stored(&stored, "1.00", &[]).await;
    assert_eq!(refusal(&answer).0, "100.150.203");
    let path = format!("v1/payments/{}", text(&pending, "/id"));
    assert_eq!(counter.shop.get(&path).await.1["result"]["code"], "000.200.000");
    assert_eq!(text(&counter.shop.get(&path).await.1, "/registrationId"), stored);
    assert_eq!(counter.with_stored(&stored, "1.00", &[]).await.0, 200);
}

#[tokio::test]
async fn a_card_is_stored_without_a_payment() {
    let mut counter = Counter::open().await;
    let tap = counter.reader.tap();
    let mut form = sealed_sale("1.00", "unused-01", "NFC_MAGSTRIPE", &tap);
    form.retain(|(name, _)| {
        !["amount", "currency", "paymentType"].contains(&name.as_str()) && !name.starts_with("pos.location")
    });
    let (status, answer) = read(counter.shop.send("v1/registrations", &form).await.unwrap()).await;
    assert_eq!((status, text(&answer, "/card/bin")), (200, "476173".into()), "{answer}");
    let stored = text(&answer, "/id");
    assert_eq!(counter.with_stored(&stored, "2.00", &[]).await.0, 200);
    // The key was used; a payment needs more than a registration.
    let (status, answer) = read(counter.shop.send("v1/registrations", &form).await.unwrap()).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "pos.encryptedSred.ksn"));
    let amount = with(form, &[("amount", "1.00"), ("currency", "EUR")]);
    let (status, answer) = read(counter.shop.send("v1/registrations", &amount).await.unwrap()).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "amount"));
}

async fn read(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}

fn instruction(mode: &'static str, source: &'static str, kind: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![("standingInstruction.mode", mode), ("standingInstruction.source", source), ("standingInstruction.type", kind)]
}

#[tokio::test]
async fn an_agreement_begins_at_the_counter_and_binds_the_merchant() {
    let mut counter = Counter::open().await;
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:00Z"));
    let terms = [
        ("createRegistration", "true"),
        ("standingInstruction.expiry", "2026-03-31"),
        ("standingInstruction.frequency", "28"),
        ("standingInstruction.numberOfInstallments", "3"),
        ("standingInstruction.agreementId", "agreement-7"),
    ];
    let first = [&terms[..], &instruction("INITIAL", "CIT", "INSTALLMENT")].concat();
    let (status, answer) = counter.pay("DB", "20.00", &first).await;
    assert_eq!(status, 200, "{answer}");
    let reference = text(&answer, "/standingInstruction/initialTransactionId");
    assert_eq!(text(&answer, "/resultDetails/CardholderInitiatedTransactionID"), reference);
    let stored = text(&answer, "/registrationId");

    let again = instruction("REPEATED", "MIT", "INSTALLMENT");
    let refused = async |counter: &mut Counter, form: &[(&str, &str)], code: &str, name: &str| {
        let before = counter.shop.gateway.ledger().entries().len();
        let (status, answer) = counter.with_stored(&stored, "20.00", form).await;
        assert_eq!((status, refusal(&answer)), (400, (code.to_owned(), name.to_owned())), "{answer}");
        assert_eq!(counter.shop.gateway.ledger().entries().len(), before);
    };
    counter.shop.gateway.set_clock(at("2026-01-29T09:59:59Z"));
    refused(&mut counter, &again, "800.100.190", "standingInstruction.frequency").await;
    counter.shop.gateway.set_clock(at("2026-01-29T10:00:00Z"));
    let (status, answer) = counter.with_stored(&stored, "20.00", &again).await;
    assert_eq!(
        (status, text(&answer, "/standingInstruction/initialTransactionId")),
        (200, reference.clone()),
        "{answer}"
    );
    assert_eq!(text(&answer, "/standingInstruction/agreementId"), "agreement-7");
    assert_eq!(text(&answer, "/timestamp"), "2026-01-29 10:00:00+0000");
    assert_eq!(text(&answer, "/pos/timestamp"), "2026-01-29 10:00:00");
    // By another name, of another type, by nobody's reference, without its source.
    refused(
        &mut counter,
        &[&again[..], &[("standingInstruction.initialTransactionId", "1")]].concat(),
        INVALID,
        "standingInstruction.initialTransactionId",
    )
    .await;
    let other = instruction("REPEATED", "MIT", "RECURRING");
    refused(&mut counter, &other, INVALID, "standingInstruction.initialTransactionId").await;
    refused(&mut counter, &again[..1], INVALID, "standingInstruction.type").await;
    refused(&mut counter, &instruction("INITIAL", "MIT", "RECURRING"), INVALID, "standingInstruction.source").await;
    // A declined one does not count; the third is the last.
    counter.shop.gateway.set_clock(at("2026-03-01T00:00:00Z"));
    assert_eq!(counter.with_stored(&stored, "20.54", &again).await.0, 400);
    let named = [&again[..], &[("standingInstruction.initialTransactionId", reference.as_str())]].concat();
    assert_eq!(counter.with_stored(&stored, "20.00", &named).await.0, 200);
    counter.shop.gateway.set_clock(at("2026-03-31T23:00:00Z"));
    refused(&mut counter, &again, "800.100.190", "standingInstruction.numberOfInstallments").await;
    counter.shop.gateway.set_clock(at("2026-04-01T00:00:00Z"));
    refused(&mut counter, &again, "800.100.190", "standingInstruction.expiry").await;

    // The merchant has no card at the counter.
    let (status, answer) = counter.pay("DB", "1.00", &again).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "standingInstruction.source"));
}

#[tokio::test]
async fn the_query_filters() {
    let mut counter = Counter::open().await;
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:00Z"));
    let held = counter.paid("PA", "100.00", &[("merchantTransactionId", "the same one")]).await;
    counter.shop.gateway.set_clock(at("2026-01-02T10:00:00Z"));
    let sale = counter.paid("DB", "10.00", &[("merchantTransactionId", "the same one")]).await;
    counter.shop.gateway.set_clock(at("2026-01-03T10:00:00Z"));
    let capture = counter.followed(&held, "CP", Some("10.00")).await;
    let refund = counter.followed(&capture, "RF", Some("1.00")).await;

    // A reference that was sent twice shows both; linked, the whole tree stands behind.
    assert_eq!(counter.found("merchantTransactionId=the+same+one").await, [&*held, &sale]);
    let linked = counter.found("merchantTransactionId=the+same+one&includeLinkedTransactions=true").await;
    assert_eq!(linked, [&*held, &sale, &capture, &refund]);
    assert_eq!(counter.found("merchantTransactionId=the+same+one&paymentTypes=DB").await, [&*sale]);
    let linked =
        counter.found("merchantTransactionId=the+same+one&paymentTypes=PA&includeLinkedTransactions=true").await;
    assert_eq!(linked, [&*held, &capture, &refund]);

    let frame = |from: &str, to: &str| format!("date.from=2026-01-{from}&date.to=2026-01-{to}");
    assert_eq!(counter.found(&frame("01+10:00:00", "01+10:00:00")).await, [&*held]);
    assert_eq!(counter.found(&frame("01+10:00:01", "02+10:00:00")).await, [&*sale]);
    let all = frame("01+00:00:00", "31+00:00:00");
    assert_eq!(counter.found(&all).await, [&*held, &sale, &capture, &refund]);
    assert_eq!(counter.found(&format!("{all}&paymentTypes=CP,RF")).await, [&*capture, &refund]);
    assert_eq!(counter.found(&format!("{all}&paymentMethods=CC,DC")).await.len(), 4);
    assert_eq!(counter.found(&format!("{all}&paymentMethods=DD")).await.len(), 0);
    let (_, answer) = counter.shop.get(&format!("v1/payments/{capture}")).await;
    let short = text(&answer, "/resultDetails/ShortId");
    assert_eq!(counter.found(&format!("{all}&shortId={short}")).await, [&*capture]);
    assert_eq!(counter.found(&format!("{all}&shortId=9999.9999.9999")).await.len(), 0);

    for n in 0..110 {
        counter
            .by_reference(&held, "INCREMENTAL_AUTH", "0.01", &[("merchantTransactionId", &format!("many-{n:04}"))])
            .await;
    }
    assert_eq!(counter.found(&all).await.len(), 100);
    assert_eq!(counter.found(&format!("{all}&limit=111")).await.len(), 111);
}

#[tokio::test]
async fn the_cents_choose_for_what_follows_as_well() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "500.00", &[]).await;
    let entries = |counter: &Counter| counter.shop.gateway.ledger().entries().len();
    // Cents, HTTP status (0: none or no JSON), booked, taken of what is left.
    for (amount, status, booked, left) in [
        ("1.51", 400, 1, "500.00"),
        ("1.62", 200, 1, "498.38"),
        ("1.63", 400, 0, "498.38"),
        ("1.64", 0, 0, "498.38"),
        ("1.65", 0, 1, "496.73"),
        ("1.66", 0, 1, "495.07"),
        ("1.67", 0, 1, "493.40"),
        ("1.72", 0, 0, "493.40"),
        ("1.73", 0, 1, "491.67"),
        ("1.60", 200, 1, "490.87"),
        ("1.79", 200, 1, "489.08"),
    ] {
        let before = entries(&counter);
        let entity = counter.shop.gateway.entity_id().to_owned();
        let form = [("entityId", entity.as_str()), ("paymentType", "CP"), ("amount", amount), ("currency", "EUR")];
        let sent = counter.shop.send(&format!("v1/payments/{held}"), &shop_client::owned(&form)).await;
        let said = match sent {
            Ok(response) => {
                let status = response.status().as_u16();
                let bytes = response.bytes().await.unwrap_or_default();
                if serde_json::from_slice::<Value>(&bytes).is_ok() { status } else { 0 }
            }
            Err(_) => 0,
        };
        assert_eq!((said, entries(&counter) - before), (status, booked), "{amount}");
        assert_eq!(counter.left(&held).as_deref(), Some(left), "{amount}");
    }
    // Silence after it was done; found all the same.
    let sale = counter.paid("DB", "100.00", &[]).await;
    let before = entries(&counter);
    let entity = counter.shop.gateway.entity_id().to_owned();
    let form = [("entityId", entity.as_str()), ("paymentType", "RF"), ("amount", "1.71"), ("currency", "EUR")];
    let waiting = tokio::spawn(counter.shop.request(&format!("v1/payments/{sale}"), &shop_client::owned(&form)).send());
    while entries(&counter) == before {
        tokio::task::yield_now().await;
    }
    assert_eq!(counter.left(&sale).as_deref(), Some("98.29"));
    assert!(!waiting.is_finished());
    waiting.abort();
    // Pending, then approved: it counts all the time.
    let (_, pending) = counter.follow(&sale, "RF", Some("1.61"), &[]).await;
    assert_eq!(text(&pending, "/result/code"), "000.200.000");
    let path = format!("v1/payments/{}", text(&pending, "/id"));
    for code in ["000.200.000", "000.100.110"] {
        assert_eq!(counter.shop.get(&path).await.1["result"]["code"], code);
        assert_eq!(counter.left(&sale).as_deref(), Some("96.68"));
    }
    counter.shop.gateway.force(Outcome::LateApproval);
    assert!(
        counter
            .shop
            .send(
                &format!("v1/payments/{held}"),
                &shop_client::owned(&[
                    ("entityId", &entity),
                    ("paymentType", "CP"),
                    ("amount", "1.00"),
                    ("currency", "EUR"),
                    ("merchantTransactionId", "late-capture"),
                ])
            )
            .await
            .is_err()
    );
    for found in [0, 0, 1] {
        assert_eq!(counter.found("merchantTransactionId=late-capture").await.len(), found);
    }
}

#[tokio::test]
async fn the_payments_cents_choose_what_its_first_reversal_meets() {
    let mut counter = Counter::open().await;
    // Cents, HTTP status of the first reversal (0: none or no JSON), reversed after it, status of the second.
    for (amount, status, reversed, second) in [
        ("1.84", 400, false, 200),
        ("1.85", 200, false, 400),
        ("1.87", 400, false, 200),
        ("1.88", 0, true, 400),
        ("1.91", 0, false, 200),
        ("1.92", 0, true, 400),
    ] {
        let sale = counter.paid("DB", amount, &[]).await;
        let entity = counter.shop.gateway.entity_id().to_owned();
        let form = shop_client::owned(&[
            ("entityId", &entity),
            ("paymentType", "RV"),
            ("amount", amount),
            ("currency", "EUR"),
            ("merchantTransactionId", &format!("reversal {amount}")),
        ]);
        let said = match counter.shop.send(&format!("v1/payments/{sale}"), &form).await {
            Ok(response) => {
                let status = response.status().as_u16();
                let bytes = response.bytes().await.unwrap_or_default();
                if serde_json::from_slice::<Value>(&bytes).is_ok() { status } else { 0 }
            }
            Err(_) => 0,
        };
        let state = |counter: &Counter| {
            let ledger = counter.shop.gateway.ledger();
            ledger.entries().iter().find(|entry| entry.id == sale).unwrap().state
        };
        assert_eq!((said, state(&counter) == State::Reversed), (status, reversed), "{amount}");
        assert_eq!(counter.follow(&sale, "RV", None, &[]).await.0, second, "{amount}");
        if amount == "1.85" {
            assert_eq!(counter.left(&sale), None, "nothing may follow while a reversal is pending");
            for _ in 0..2 {
                assert_eq!(counter.found("merchantTransactionId=reversal+1.85").await.len(), 1);
            }
        }
        assert_eq!(state(&counter), State::Reversed, "{amount}");
    }
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 0);
}

#[tokio::test]
async fn a_typed_card_gets_its_letters_and_a_risk_check_its_score() {
    let mut counter = Counter::open().await;
    counter.shop.gateway.set_clock(at("2026-11-20T12:00:00Z"));
    let typed = |expiry: &str, code: &str| {
        // DFA211, DFA214 and DFA216 as digits (readers: 2.9).
        let mut clear = hex::decode("DFA21110").unwrap();
        clear.extend(card_reader::PAN.bytes());
        for (tag, digits) in [("DFA214", expiry), ("DFA216", code)] {
            clear.extend(hex::decode(tag).unwrap());
            clear.push(u8::try_from(digits.len()).unwrap());
            clear.extend(digits.bytes());
        }
        clear
    };
    for (expiry, code, street, postcode, status, result, avs, cvv) in [
        ("2612", "123", "1 Test Street", "12345", 200, "000.100.110", "F", "M"),
        ("2611", "123", "1 Test Street", "1", 200, "000.100.110", "A", "M"),
        ("2612", "123", "Elsewhere", "12345", 200, "000.100.110", "Z", "M"),
        ("2612", "124", "Elsewhere", "1", 400, "800.100.153", "N", "N"),
        ("2610", "123", "1 Test Street", "12345", 400, "100.100.303", "F", "M"),
    ] {
        let reference = counter.reference();
        let sealed = counter.reader.seal(&typed(expiry, code));
        let form = sealed_sale("5.00", &reference, "MANUAL", &sealed);
        let form = with(form, &[("billing.street1", street), ("billing.postcode", postcode)]);
        let (said, answer) = counter.shop.pay(&form).await;
        assert_eq!((said, text(&answer, "/result/code").as_str()), (status, result), "{answer}");
        assert_eq!(text(&answer, "/result/avsResponse"), avs);
        assert_eq!(text(&answer, "/result/cvvResponse"), cvv);
        assert_eq!(text(&answer, "/card/expiryYear"), "2026");
        assert!(answer.get("risk").is_none());
    }
    let reference = counter.reference();
    let sealed = counter.reader.seal(&typed("2612", "123"));
    let form = with(sealed_sale("5.56", &reference, "MANUAL", &sealed), &[("billing.postcode", "12345")]);
    let (_, answer) = counter.shop.pay(&form).await;
    assert_eq!((text(&answer, "/result/avsResponse"), text(&answer, "/result/cvvResponse")), ("U".into(), "U".into()));

    let (_, answer) =
        counter.pay("DB", "5.00", &[("risk.channelId", "counter"), ("customParameters[a.b]", "c d")]).await;
    assert_eq!((text(&answer, "/risk/score"), text(&answer, "/customParameters/a.b")), ("+00100".into(), "c d".into()));
    assert_eq!(text(&answer, "/resultDetails/AcquirerResponse"), "00");
    let (_, answer) = counter.pay("DB", "5.55", &[]).await;
    assert_eq!((text(&answer, "/result/code"), text(&answer, "/risk/score")), ("100.400.100".into(), "-00900".into()));
    let (_, answer) = counter.pay("DB", "5.51", &[]).await;
    assert_eq!(text(&answer, "/resultDetails/AcquirerResponse"), "51");
    assert_eq!(text(&answer, "/resultDetails/MerchantAdviceCode"), "02");
}

#[tokio::test]
async fn throttled_requests_are_not_processed() {
    let mut counter = Counter::with(Options { throttle: Some(2), ..Options::default() }).await;
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:00Z"));
    let sale = counter.paid("DB", "20.00", &[]).await;
    counter.followed(&sale, "RF", Some("1.00")).await;
    let throttled = |answer: (u16, Value)| {
        let (status, answer) = answer;
        let said = (text(&answer, "/result/code"), text(&answer, "/result/description"), text(&answer, "/id").len());
        let expected = ("800.120.100".to_owned(), "Too many requests. Please try again later.".to_owned(), 32);
        assert_eq!((status, said), (400, expected));
    };
    throttled(counter.follow(&sale, "RF", Some("1.00"), &[]).await);
    throttled(counter.pay("DB", "20.00", &[]).await);
    throttled(counter.shop.get(&format!("v1/payments/{sale}")).await);
    assert_eq!(counter.shop.gateway.ledger().entries().len(), 2);
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:01Z"));
    counter.followed(&sale, "RF", Some("1.00")).await;
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:02Z"));
    counter.shop.gateway.throttle_next(1);
    throttled(counter.follow(&sale, "RF", Some("1.00"), &[]).await);
    counter.followed(&sale, "RF", Some("1.00")).await;
    assert_eq!(counter.left(&sale).as_deref(), Some("17.00"));
}

#[tokio::test]
async fn an_answer_waits_as_long_as_it_is_told() {
    let counter = Counter::open().await;
    let delay = Duration::from_millis(80);
    counter.shop.gateway.set_delay(delay);
    let before = Instant::now();
    counter.shop.get("").await;
    assert!(before.elapsed() >= delay);
}

#[tokio::test]
async fn the_ledger_survives_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.db");
    let options = || Options { ledger: Some(file.clone()), ..Options::default() };
    let mut counter = Counter::with(options()).await;
    let sale = counter.paid("DB", "20.00", &[("createRegistration", "true")]).await;
    let (_, pending) = counter.pay("DB", "9.61", &[]).await;
    let held = counter.paid("PA", "50.00", &[]).await;
    counter.followed(&held, "CP", Some("20.00")).await;
    counter.refused(&held, "CP", Some("31.00"), "700.400.100", "amount").await;
    let (_, retrieved) = counter.shop.get(&format!("v1/payments/{sale}")).await;
    let before = counter.shop.gateway.ledger();
    let Counter { shop, reader, count } = counter;
    shop.gateway.stop().await;

    let counter = Counter { shop: Shop::with(options()).await, reader, count };
    let after = counter.shop.gateway.ledger();
    assert_eq!((after.entries(), after.refusals()), (before.entries(), before.refusals()));
    let (_, again) = counter.shop.get(&format!("v1/payments/{sale}")).await;
    for field in ["id", "amount", "card", "pos", "registrationId", "result"] {
        assert_eq!(again[field], retrieved[field], "{field}");
    }
    counter.refused(&held, "CP", Some("30.01"), "700.400.100", "amount").await;
    counter.followed(&held, "CP", Some("30.00")).await;
    let path = format!("v1/payments/{}", text(&pending, "/id"));
    assert_eq!(counter.shop.get(&path).await.1["result"]["code"], "000.200.000");
    assert_eq!(counter.shop.get(&path).await.1["result"]["code"], "000.100.110");
    // No card number is in it.
    let number = card_reader::PAN.as_bytes();
    for part in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(part.unwrap().path()).unwrap();
        assert!(!bytes.windows(number.len()).any(|window| window == number));
    }
    // What is no ledger is not opened, and says so.
    let other = folder.path().join("letter.txt");
    std::fs::write(
        &other,
        "Dear Sir or Madam, this is no database at all, whatever the file's name may say about it.".repeat(9),
    )
    .unwrap();
    let refused = pos_agent::sim::gateway::start(Options { ledger: Some(other), ..Options::default() }).await;
    let said = refused.err().unwrap().to_string();
    assert!(said.contains("letter.txt cannot be used") && said.contains("name a new file"), "{said}");
}

#[tokio::test]
async fn whatever_is_no_right_request_is_refused_by_name() {
    let mut counter = Counter::open().await;
    let sale = counter.paid("DB", "20.00", &[]).await;
    let before = counter.shop.gateway.ledger().entries().to_vec();
    let entity = format!("entityId={}", counter.shop.gateway.entity_id());
    let refund = format!("v1/payments/{sale}");
    let right = format!("{entity}&paymentType=RF&amount=1.00&currency=EUR");
    let typed = "application/x-www-form-urlencoded; charset=UTF-8";
    let huge = format!("{right}&descriptor={}", "a".repeat(20 << 20));
    let cases: &[(&str, &str, Option<&str>, String, u16, &str)] = &[
        ("unknown parameter", &refund, Some(typed), format!("{right}&colour=red"), 400, "colour"),
        ("duplicate parameter", &refund, Some(typed), format!("{right}&amount=2.00"), 400, "amount"),
        (
            "no closing bracket",
            "v1/payments",
            Some(typed),
            format!("{entity}&cart.items%5B0.name=a"),
            400,
            "cart.items[0.name",
        ),
        (
            "index 1001",
            "v1/payments",
            Some(typed),
            format!("{entity}&cart.items%5B1001%5D.name=a"),
            400,
            "cart.items[1001].name",
        ),
        (
            "index with a letter",
            "v1/payments",
            Some(typed),
            format!("{entity}&cart.items%5Bx%5D.name=a"),
            400,
            "cart.items[x].name",
        ),
        ("20 MB", &refund, Some(typed), huge, 400, "body"),
        ("not UTF-8", &refund, Some(typed), format!("{right}&descriptor=%FF%FE"), 400, "descriptor"),
        ("half an escape", &refund, Some(typed), format!("{right}&descriptor=%F"), 400, "descriptor"),
        ("JSON", &refund, Some("application/json"), "{}".to_owned(), 400, "Content-Type"),
        ("no content type", &refund, None, right.clone(), 400, "Content-Type"),
        (
            "another charset",
            &refund,
            Some("application/x-www-form-urlencoded; charset=latin1"),
            right.clone(),
            400,
            "Content-Type",
        ),
        ("in the path", &format!("{refund}?{right}"), Some(typed), right.clone(), 400, "query string"),
        ("amount alone", &refund, Some(typed), format!("{entity}&paymentType=RF&amount=1.00"), 400, "amount"),
        ("no type", &refund, Some(typed), entity.clone(), 400, "paymentType"),
        ("no entity", &refund, Some(typed), "paymentType=RF".to_owned(), 400, "entityId"),
        ("card in clear", &refund, Some(typed), format!("{right}&card.number=4111111111111111"), 400, "card.number"),
        ("not FINAL", &refund, Some(typed), format!("{right}&sequence=LAST"), 400, "sequence"),
        ("nothing at all", "v1/payments", Some(typed), String::new(), 400, "entityId"),
    ];
    for (what, path, content_type, body, status, name) in cases {
        let gateway = &counter.shop.gateway;
        let request = counter
            .shop
            .client
            .post(format!("{}{path}", gateway.base_url()))
            .bearer_auth(gateway.token())
            .body(body.clone());
        let request = match content_type {
            Some(content_type) => request.header("Content-Type", *content_type),
            None => request,
        };
        let (said, answer) = read(request.send().await.unwrap_or_else(|why| panic!("{what}: {why}"))).await;
        assert_eq!((said, refusal(&answer)), (*status, (INVALID.to_owned(), (*name).to_owned())), "{what}");
        assert!(!answer.to_string().contains("4111"), "{what}");
        assert_eq!(counter.shop.gateway.ledger().entries(), before, "{what}");
    }
    for path in ["v1/payments/short", "v1/registrations", "v1/registrations/short/payments", "v2/query", "v1/query/"] {
        assert_eq!(counter.shop.get(path).await.0, 404, "{path}");
    }
    // The line is as good as before.
    assert_eq!(counter.shop.get(&refund).await.0, 200);
}

#[tokio::test]
async fn curl_captures_refunds_and_hears_why_not() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "100.00", &[]).await;
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, counter.shop.gateway.ca_pem()).unwrap();
    let token = format!("Authorization: Bearer {}", counter.shop.gateway.token());
    let entity = format!("entityId={}", counter.shop.gateway.entity_id());
    let (right, path, nobody) =
        (["-H", &token], format!("v1/payments/{held}"), format!("v1/payments/{}", "0".repeat(32)));
    let form = |kind: &str, amount: &str| {
        [entity.clone(), format!("paymentType={kind}"), format!("amount={amount}"), "currency=EUR".to_owned()]
    };
    let cases: &[(&[&str], &str, [String; 4], &str, &str)] = &[
        (&[], &path, form("CP", "1.00"), "401", "800.900.300"),
        (&["-H", "Authorization: Bearer"], &path, form("CP", "1.00"), "401", "800.900.300"),
        (&["-H", "Authorization: Basic YTpi"], &path, form("CP", "1.00"), "401", "800.900.300"),
        (&["-H", "Authorization: Bearer other"], &path, form("CP", "1.00"), "403", "800.900.300"),
        (&right, &nobody, form("CP", "1.00"), "404", "700.400.580"),
        (&right, "v1/payment", form("CP", "1.00"), "404", "700.400.580"),
        (&right, &path, form("CP", "100.01"), "400", "\"name\":\"amount\""),
        (&right, &path, form("CP", "40.00"), "200", "\"paymentType\":\"CP\""),
        (&right, &path, form("RF", "1.00"), "400", "700.400.520"),
        (&right, &path, form("CP", "60.01"), "400", "700.400.100"),
    ];
    for (arguments, path, form, status, says) in cases {
        let curl = tokio::process::Command::new("curl")
            .args(["-q", "-sS", "--noproxy", "*", "--max-time", "20", "-w", "\n%{http_code}", "--cacert"])
            .arg(&ca)
            .args(*arguments)
            .args(form.iter().flat_map(|pair| ["-d", pair]))
            .arg(format!("{}{path}", counter.shop.gateway.base_url()))
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
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.ends_with(status) && said.contains(says), "{arguments:?} {path} {form:?}: {said}");
    }
    assert_eq!(counter.left(&held).as_deref(), Some("60.00"));
}
