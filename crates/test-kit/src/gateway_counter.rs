//! A counter of the shop: its reader, and its cashier's requests to the simulated gateway, one payment after the other.

use chrono::{DateTime, Utc};
use pos_sim::gateway::Options;
use serde_json::Value;

use crate::card_reader::Reader;
use crate::shop_client::{Sales, Shop, with};

/// The code for a parameter that is not as documented.
pub const INVALID: &str = "200.300.404";

/// A shop with its reader, and a counter for its references.
pub struct Counter {
    pub shop: Shop,
    pub reader: Reader,
    pub count: u32,
}

impl Counter {
    pub async fn open() -> Self {
        Self::with(Options::default()).await
    }

    pub async fn with(options: Options) -> Self {
        Self { shop: Shop::with(options).await, reader: Reader::new(), count: 0 }
    }

    pub fn reference(&mut self) -> String {
        self.count += 1;
        format!("life-{:04}", self.count)
    }

    /// Pays with the chip, and returns the id of the approved payment.
    pub async fn paid(&mut self, kind: &str, amount: &str, more: &[(&str, &str)]) -> String {
        let (status, answer) = self.pay(kind, amount, more).await;
        assert_eq!(status, 200, "{answer}");
        text(&answer, "/id")
    }

    pub async fn pay(&mut self, kind: &str, amount: &str, more: &[(&str, &str)]) -> (u16, Value) {
        let reference = self.reference();
        let form = with(self.reader.chip_sale(amount, &reference), &[("paymentType", kind)]);
        self.shop.pay(&with(form, more)).await
    }

    /// Sends CP, RV or RF. Without an amount, the request is for the whole remaining amount.
    pub async fn follow(&self, id: &str, kind: &str, amount: Option<&str>, more: &[(&str, &str)]) -> (u16, Value) {
        let entity = self.shop.gateway.entity_id().to_owned();
        let mut form = vec![("entityId", entity.as_str()), ("paymentType", kind)];
        form.extend(amount.map(|amount| ("amount", amount)));
        form.extend(amount.map(|_| ("currency", "EUR")));
        form.extend(more);
        self.shop.post(&format!("v1/payments/{id}"), &form).await
    }

    pub async fn followed(&self, id: &str, kind: &str, amount: Option<&str>) -> String {
        let (status, answer) = self.follow(id, kind, amount, &[]).await;
        assert_eq!(status, 200, "{answer}");
        // Only webhooks name the payment of a follow-up, but the books contain it.
        assert!(answer.get("referencedId").is_none(), "{answer}");
        let ledger = self.shop.gateway.ledger();
        let booked = ledger.entries().iter().find(|entry| answer["id"] == entry.id.as_str()).unwrap();
        assert_eq!((text(&answer, "/paymentType").as_str(), booked.refers_to.as_deref()), (kind, Some(id)));
        text(&answer, "/id")
    }

    /// Checks that a follow-up is refused with this code and parameter, and that nothing has changed.
    pub async fn refused(&self, id: &str, kind: &str, amount: Option<&str>, code: &str, name: &str) {
        let before = self.shop.gateway.ledger().entries().to_vec();
        let (status, answer) = self.follow(id, kind, amount, &[]).await;
        assert_eq!(
            (status, refusal(&answer)),
            (400, (code.to_owned(), name.to_owned())),
            "{kind} {amount:?}: {answer}"
        );
        assert_eq!(self.shop.gateway.ledger().entries(), before, "{kind} {amount:?}");
    }

    /// Raises or replaces a pre-authorisation by its reference.
    pub async fn by_reference(
        &mut self,
        id: &str,
        practice: &str,
        amount: &str,
        more: &[(&str, &str)],
    ) -> (u16, Value) {
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
    pub async fn with_stored(&mut self, id: &str, amount: &str, more: &[(&str, &str)]) -> (u16, Value) {
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

    pub async fn delete(&self, id: &str) -> (u16, Value) {
        let path = format!("v1/registrations/{id}?entityId={}", self.shop.gateway.entity_id());
        let response = self.shop.asked("DELETE", &path, None).await;
        let status = response.status().as_u16();
        (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
    }

    pub fn left(&self, id: &str) -> Option<String> {
        self.shop.gateway.ledger().left(id)
    }

    pub async fn found(&self, query: &str) -> Vec<String> {
        let (status, answer) =
            self.shop.get(&format!("v1/query?entityId={}&{query}", self.shop.gateway.entity_id())).await;
        assert_eq!(status, 200, "{answer}");
        answer["payments"].as_array().unwrap().iter().map(|payment| text(payment, "/id")).collect()
    }
}

pub fn text(answer: &Value, pointer: &str) -> String {
    answer.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}: {answer}")).to_owned()
}

/// Returns the result code and the parameter of a refusal.
pub fn refusal(answer: &Value) -> (String, String) {
    (text(answer, "/result/code"), text(answer, "/result/parameterErrors/0/name"))
}

pub fn at(time: &str) -> DateTime<Utc> {
    time.parse().unwrap()
}

pub async fn read(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}
