//! A shop with a page: the requests of a merchant's server to the simulated gateway without a terminal, and the actions
//! of its customer's browser. The forms are built here from the interface documents.

use pos_sim::gateway::{LedgerEntry, Options};
use serde_json::Value;

use crate::gateway_counter::{refusal, text};
use crate::shop_client::Shop;

/// A card whose payments have no 3-D Secure.
pub const CARD: &[(&str, &str)] = &[
    ("card.number", "4111111111111111"),
    ("card.expiryMonth", "12"),
    ("card.expiryYear", "2034"),
    ("card.holder", "Jane Jones"),
];

/// The shop, with a counter for its references.
pub struct PageShop {
    pub shop: Shop,
    count: u32,
}

impl PageShop {
    pub async fn open() -> Self {
        Self::with(Options::default()).await
    }

    pub async fn with(options: Options) -> Self {
        Self { shop: Shop::with(options).await, count: 0 }
    }

    /// Builds the form of a payment. If several parts contain a name, the last one counts. An empty value removes the
    /// name.
    pub fn form(&mut self, amount: &str, parts: &[&[(&str, &str)]]) -> Vec<(String, String)> {
        self.count += 1;
        let reference = format!("page-{:04}", self.count);
        let basic = [
            ("entityId", self.shop.gateway.entity_id()),
            ("amount", amount),
            ("currency", "EUR"),
            ("paymentType", "DB"),
            ("merchantTransactionId", &reference),
        ];
        let mut form: Vec<(String, String)> = Vec::new();
        for (name, value) in basic.iter().chain(parts.iter().copied().flatten()) {
            form.retain(|(known, _)| known != name);
            form.push(((*name).to_owned(), (*value).to_owned()));
        }
        form.retain(|(_, value)| !value.is_empty());
        form
    }

    pub async fn pay(&mut self, amount: &str, parts: &[&[(&str, &str)]]) -> (u16, Value) {
        let form = self.form(amount, parts);
        self.shop.pay(&form).await
    }

    /// Pays, and checks that the payment is approved.
    pub async fn paid(&mut self, amount: &str, parts: &[&[(&str, &str)]]) -> Value {
        let (status, answer) = self.pay(amount, parts).await;
        assert_eq!((status, text(&answer, "/result/code").as_str()), (200, "000.100.110"), "{answer}");
        answer
    }

    /// Pays, and checks that this parameter is refused before anything is booked.
    pub async fn refused(&mut self, parts: &[&[(&str, &str)]], code: &str, name: &str) -> Value {
        let before = self.entries();
        let (status, answer) = self.pay("10.00", parts).await;
        assert_eq!(status, 400, "{name}: {answer}");
        assert_eq!(refusal(&answer), (code.to_owned(), name.to_owned()), "{answer}");
        assert_eq!(self.entries(), before, "{name}");
        answer
    }

    /// Posts a follow-up of a payment, or a request to another path.
    pub async fn post(&mut self, path: &str, parts: &[&[(&str, &str)]]) -> (u16, Value) {
        let form = self.form("1.00", parts);
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.shop.post(path, &form).await
    }

    pub fn entries(&self) -> Vec<LedgerEntry> {
        self.shop.gateway.ledger().entries().to_vec()
    }

    pub fn last_entry(&self) -> LedgerEntry {
        self.entries().pop().unwrap()
    }

    /// Returns the ids that a query finds.
    pub async fn found(&self, query: &str) -> Vec<String> {
        let path = format!("v1/query?entityId={}&{query}", self.shop.gateway.entity_id());
        let (status, answer) = self.shop.get(&path).await;
        assert_eq!(status, 200, "{answer}");
        answer["payments"].as_array().unwrap().iter().map(|payment| text(payment, "/id")).collect()
    }
}

/// The customer's browser on a page of the gateway.
pub struct Browser<'a> {
    shop: &'a Shop,
    url: String,
    hidden: Vec<(String, String)>,
}

/// The gateway's answer to the browser.
pub struct Shown {
    pub status: u16,
    pub html: String,
    /// The address to which the browser goes next.
    pub location: Option<String>,
}

impl<'a> Browser<'a> {
    /// Makes the browser that follows the redirect in an answer, with its parameters.
    pub fn sent(page: &'a PageShop, answer: &Value) -> Self {
        assert_eq!(text(answer, "/result/code"), "000.200.000", "{answer}");
        let hidden = answer["redirect"]["parameters"].as_array().unwrap().iter();
        let hidden = hidden.map(|pair| (text(pair, "/name"), text(pair, "/value"))).collect();
        Self { shop: &page.shop, url: text(answer, "/redirect/url"), hidden }
    }

    /// Makes another browser, which has never visited the shop.
    pub fn stranger(mut self) -> Self {
        self.hidden = vec![("token".to_owned(), "0".repeat(32))];
        self
    }

    /// Opens the page twice: by posting a form and by a link.
    pub async fn arrives(&self) -> Shown {
        let by_link = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.hidden).finish();
        let by_link = shown(self.shop.client.get(format!("{}?{by_link}", self.url)).send().await.unwrap()).await;
        let posted = self.acts(&[]).await;
        assert_eq!((by_link.status, &by_link.html), (posted.status, &posted.html));
        posted
    }

    /// Posts the page's form with these fields.
    pub async fn acts(&self, fields: &[(&str, &str)]) -> Shown {
        let body =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.hidden).extend_pairs(fields).finish();
        let request = self.shop.client.post(&self.url).header("Content-Type", "application/x-www-form-urlencoded");
        shown(request.body(body).send().await.unwrap()).await
    }
}

async fn shown(response: reqwest::Response) -> Shown {
    let status = response.status().as_u16();
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let location = header("location");
    if status != 303 {
        assert_eq!(header("content-type").as_deref(), Some("text/html; charset=utf-8"));
        assert_eq!(header("cache-control").as_deref(), Some("no-store"));
        assert!(header("content-security-policy").unwrap().contains("default-src 'none'"));
    }
    Shown { status, location, html: response.text().await.unwrap() }
}
