//! A shop that sends requests to the simulated gateway over real HTTPS, with forms built here from the interface
//! documents. Every answer is checked against the table of the interface.

use std::sync::Arc;

use pos_gateway_model::form::{FormContext, judge, unknown};
use pos_gateway_model::{Call, Direction, Names};
use pos_sim::gateway::{Gateway, Options, State, start};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde_json::Value;

use crate::card_reader::{Reader, Sealed};

pub const EUR: u16 = 978;

/// A gateway and a client that trusts it.
pub struct Shop {
    pub gateway: Gateway,
    pub client: reqwest::Client,
}

pub type Form = Vec<(String, String)>;

impl Shop {
    pub async fn open() -> Self {
        Self::with(Options::default()).await
    }

    pub async fn with(options: Options) -> Self {
        let gateway = start(options).await.unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(gateway.ca_pem().as_bytes()).unwrap()).unwrap();
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .retry(reqwest::retry::never())
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { gateway, client }
    }

    pub fn request(&self, path: &str, form: &Form) -> reqwest::RequestBuilder {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.client
            .post(format!("{}{path}", self.gateway.base_url()))
            .bearer_auth(self.gateway.token())
            .header("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
            .body(body)
    }

    pub async fn send(&self, path: &str, form: &Form) -> reqwest::Result<reqwest::Response> {
        self.request(path, form).send().await
    }

    pub async fn pay(&self, form: &Form) -> (u16, Value) {
        read(self.asked("POST", "v1/payments", Some(form)).await).await
    }

    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> (u16, Value) {
        read(self.asked("POST", path, Some(&owned(form))).await).await
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        read(self.asked("GET", path, None).await).await
    }

    /// Sends a request, and follows one redirect with the same method and body.
    pub async fn asked(&self, method: &str, path: &str, form: Option<&Form>) -> reqwest::Response {
        let url = reqwest::Url::parse(&self.gateway.base_url()).unwrap().join(path).unwrap();
        let first = self.ask(method, url.clone(), form).await;
        if first.status() != 307 {
            return first;
        }
        let there = url.join(first.headers()["location"].to_str().unwrap()).unwrap();
        assert_eq!(there.origin(), url.origin());
        let second = self.ask(method, there, form).await;
        assert_ne!(second.status(), 307, "redirected twice");
        second
    }

    async fn ask(&self, method: &str, url: reqwest::Url, form: Option<&Form>) -> reqwest::Response {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(method, url).bearer_auth(self.gateway.token());
        let Some(form) = form else { return request.send().await.unwrap() };
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let kind = "application/x-www-form-urlencoded; charset=UTF-8";
        request.header("Content-Type", kind).body(body).send().await.unwrap()
    }

    /// Pays, and checks that the request is refused for this reason before a payment exists.
    pub async fn refuses(&self, form: &Form, why: &str) {
        let entries = self.gateway.ledger().entries().len();
        let (status, answer) = self.pay(form).await;
        let said = answer["result"]["description"].as_str().unwrap();
        assert_eq!((status, said.strip_prefix("invalid or missing parameter: ")), (400, Some(why)));
        assert_eq!(self.gateway.ledger().refusals().last().map(String::as_str), Some(why));
        assert_eq!(self.gateway.ledger().entries().len(), entries);
    }

    /// Pays, and checks that the payment is declined. Returns its result code and the answer to the card.
    pub async fn declines(&self, form: &Form) -> (String, String) {
        let (status, answer) = self.pay(form).await;
        assert_eq!(status, 400, "{answer}");
        assert_eq!(self.gateway.ledger().entries().last().unwrap().state, State::Declined);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&answer["result"]["code"]), text(&answer["pos"]["iccDataResponse"]))
    }
}

pub async fn read(response: reqwest::Response) -> (u16, Value) {
    read_as(Call::Payment, response).await
}

/// Parses the answer to this call, and checks it against the table of the interface.
pub async fn read_as(call: Call, response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let answer = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    is_as_documented(call, &answer);
    (status, answer)
}

/// Fields that the interface does not list for an answer ("clients must accept new fields"). They are the payment of a
/// capture, the parameter that failed, the payments of a query, and the stored card in the answer to
/// `createRegistration`. A checkout adds the script's hash for `integrity` and the shopper's return address.
const NOT_LISTED: &[&str] =
    &["referencedId", "result.parameterErrors", "payments", "padding", "integrity", "resourcePath", "shopperResultUrl"];

/// Fields whose names are in brackets.
const PAIRS: &[&str] = &["customParameters", "merchant.data", "risk.parameters", "threeDSecure.schemeData"];

/// Checks every field of an answer against the table of the interface. Only `id` is exempt, because the answer to a
/// failed request has none.
fn is_as_documented(call: Call, answer: &Value) {
    // The warm path has an empty answer. The outcome with control bytes is wrong on purpose.
    if answer == &serde_json::json!({})
        || answer["pos"]["statusText"].as_str().is_some_and(|text| text.contains('\u{1B}'))
    {
        return;
    }
    for payment in answer["payments"].as_array().into_iter().flatten() {
        is_as_documented(call, payment);
    }
    let mut fields = Vec::new();
    flatten("", answer, &mut fields);
    let names = Names::default();
    let asked = FormContext { direction: Direction::Response, call, from_client_side: false, names: &names };
    assert_eq!(unknown(&fields, &names), Vec::<String>::new(), "not in the table\n{answer}");
    let wrong: Vec<String> = judge(&fields, &asked).iter().map(ToString::to_string).collect();
    let missing_id = |line: &&String| line.starts_with("id: required") && answer["amount"].is_null();
    assert!(wrong.iter().all(|line| missing_id(&line)), "{wrong:?}\n{answer}");
}

fn flatten(name: &str, value: &Value, fields: &mut Vec<(String, String)>) {
    match value {
        _ if NOT_LISTED.contains(&name) => {}
        Value::Object(object) => {
            for (key, value) in object {
                let name = match name {
                    "" => key.clone(),
                    _ if PAIRS.contains(&name) => format!("{name}[{key}]"),
                    _ => format!("{name}.{key}"),
                };
                flatten(&name, value, fields);
            }
        }
        Value::Array(list) => {
            for (n, value) in list.iter().enumerate() {
                flatten(&format!("{name}[{n}]"), value, fields);
            }
        }
        Value::String(text) => fields.push((name.to_owned(), text.clone())),
        // The interface does not say whether amounts are text.
        Value::Number(number) if name == "amount" => {
            fields.push((name.to_owned(), format!("{:.2}", number.as_f64().unwrap())));
        }
        other => panic!("{name} is {other}: no text"),
    }
}

/// Forms with the reader's data.
pub trait Sales {
    fn chip_sale(&mut self, amount: &str, reference: &str) -> Form;
    fn chip_sale_in(&mut self, amount: &str, code: &str, numeric: u16, minor: u64, reference: &str) -> Form;
}

impl Sales for Reader {
    fn chip_sale(&mut self, amount: &str, reference: &str) -> Form {
        let minor = amount.replace('.', "").parse().unwrap();
        self.chip_sale_in(amount, "EUR", EUR, minor, reference)
    }

    fn chip_sale_in(&mut self, amount: &str, code: &str, numeric: u16, minor: u64, reference: &str) -> Form {
        let read = self.chip(minor, numeric);
        let more = [
            ("currency", code),
            ("pos.encryptedSred.data", &upper(&read.card.data)),
            ("pos.encryptedSred.ksn", &upper(&read.card.ksn)),
            ("pos.encryptedPin.data", &upper(&read.pin.data)),
            ("pos.encryptedPin.ksn", &upper(&read.pin.ksn)),
            ("pos.iccDataRequest", &upper(&read.icc)),
            ("pos.panSequenceNumber", "1"),
        ];
        with(base(amount, reference, "ICC"), &more)
    }
}

pub fn sealed_sale(amount: &str, reference: &str, entry_mode: &str, sealed: &Sealed) -> Form {
    let more = [("pos.encryptedSred.data", &*upper(&sealed.data)), ("pos.encryptedSred.ksn", &upper(&sealed.ksn))];
    with(base(amount, reference, entry_mode), &more)
}

/// Returns the parameters that every payment needs.
pub fn base(amount: &str, reference: &str, entry_mode: &str) -> Form {
    owned(&[
        ("entityId", &Options::default().entity_id),
        ("paymentType", "DB"),
        ("amount", amount),
        ("currency", "EUR"),
        ("merchantTransactionId", reference),
        ("pos.terminalId", "10000001"),
        ("pos.entryMode", entry_mode),
        ("pos.transactionSource", "POS"),
        ("pos.deviceId", "26011234"),
        ("pos.location.latitude", "+48.13513"),
        ("pos.location.longitude", "+11.58203"),
        ("pos.transactionSequenceNumber", "1"),
    ])
}

/// Sets or adds parameters.
pub fn with(mut form: Form, changes: &[(&str, &str)]) -> Form {
    for (name, value) in changes {
        form.retain(|(known, _)| known != name);
        form.push(((*name).to_owned(), (*value).to_owned()));
    }
    form
}

pub fn upper(bytes: &[u8]) -> String {
    hex::encode_upper(bytes)
}

pub fn value<'a>(form: &'a Form, name: &str) -> &'a str {
    &form.iter().find(|(known, _)| known == name).unwrap().1
}

pub fn owned(form: &[(&str, &str)]) -> Form {
    form.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
