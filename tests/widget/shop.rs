//! A shop on the internet. Its server creates checkouts with its token, serves a page with the widget, and retrieves
//! the result when the customer returns. The browser trusts only the keys of the two servers.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use pos_sim::gateway::{Gateway, HostRules, Options, start};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};

use crate::browser::{Browser, By, Driver};
use crate::https::Authority;

/// A nonce for the shop's page. In a real shop, it changes with each page.
pub(crate) const NONCE: &str = "dGVzdC1ub25jZQ";

/// The state of the shop's server.
struct Inside {
    gateway_url: String,
    token: String,
    entity_id: String,
    client: reqwest::Client,
    /// The page at `/pay`, and its content security policy.
    page: Mutex<(String, Option<String>)>,
    /// The content of `/script.js`.
    script: Mutex<String>,
    /// The parameters of the next checkouts, in addition to amount, currency and type.
    more: Mutex<Vec<(String, String)>>,
    amount: Mutex<String>,
    /// Every request with its head and body.
    requests: Mutex<Vec<String>>,
    results: Mutex<Vec<Value>>,
}

/// The shop, its gateway and its customer.
pub(crate) struct Shop {
    pub(crate) gateway: Gateway,
    pub(crate) browser: Browser,
    pub(crate) url: String,
    inside: Arc<Inside>,
    _driver: Driver,
}

/// The variable parts of a shop's page. The rest is always the same.
#[derive(Default)]
pub(crate) struct Page<'a> {
    pub(crate) brands: &'a str,
    /// The JavaScript code of `wpwlOptions`.
    pub(crate) options: &'a str,
    /// The content of the merchant's form.
    pub(crate) fields: &'a str,
    /// Additional attributes of the script element.
    pub(crate) attributes: &'a str,
    /// The script's address. Without it, the page uses the gateway's script with a new checkout.
    pub(crate) script: Option<&'a str>,
    pub(crate) policy: Option<String>,
    /// The element around the merchant's form, such as `<form>`.
    pub(crate) around: &'a str,
}

impl Shop {
    pub(crate) async fn open() -> Self {
        Self::at(HostRules::Checked).await
    }

    /// Opens a shop whose gateway has these rules.
    pub(crate) async fn at(host_rules: HostRules) -> Self {
        let gateway = start(Options { host_rules, ..Options::default() }).await.unwrap();
        let authority = Authority::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(trusting(gateway.ca_pem()))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::limited(1))
            .build()
            .unwrap();
        let inside = Arc::new(Inside {
            gateway_url: gateway.base_url(),
            token: gateway.token().to_owned(),
            entity_id: gateway.entity_id().to_owned(),
            client,
            page: Mutex::default(),
            script: Mutex::default(),
            more: Mutex::default(),
            amount: Mutex::new("92.00".to_owned()),
            requests: Mutex::default(),
            results: Mutex::default(),
        });
        let tls = TlsAcceptor::from(Arc::new(authority.server("localhost", (2020, 2099))));
        tokio::spawn(serve(listener, tls, Arc::clone(&inside)));
        let keys =
            [key_of(gateway.address().port(), gateway.ca_pem()).await, key_of(port, authority.pem()).await].join(",");
        let driver = Driver::start().await;
        let browser = driver.browser_with(&[&format!("--ignore-certificate-errors-spki-list={keys}")]).await;
        Self { gateway, browser, url: format!("https://localhost:{port}"), inside, _driver: driver }
    }

    /// Sets the amount of the next checkouts.
    pub(crate) fn costs(&self, amount: &str) {
        amount.clone_into(&mut self.inside.amount.lock().unwrap());
    }

    /// Sets the additional parameters that the shop's server sends.
    pub(crate) fn says(&self, more: &[(&str, &str)]) {
        *self.inside.more.lock().unwrap() =
            more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    }

    pub(crate) async fn checkout(&self) -> String {
        self.inside.checkout().await
    }

    /// Returns the URL of the gateway's script, with this checkout or without one.
    pub(crate) fn script_url(&self, checkout: Option<&str>) -> String {
        let query = checkout.map_or_else(String::new, |id| format!("?checkoutId={id}"));
        format!("{}v1/paymentWidgets.js{query}", self.gateway.base_url())
    }

    /// Returns the bytes of the script.
    pub(crate) async fn script(&self) -> String {
        self.inside.client.get(self.script_url(None)).send().await.unwrap().text().await.unwrap()
    }

    /// Returns the hash that the gateway gives for its script.
    pub(crate) async fn integrity(&self) -> String {
        let url = format!("{}v1/fastcheckout/integrity", self.gateway.base_url());
        let answer = self.inside.client.get(url).bearer_auth(self.gateway.token()).send().await.unwrap();
        let answer: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        answer["integrity"].as_str().unwrap().to_owned()
    }

    /// Serves this script from the shop's own `/script.js`.
    pub(crate) fn serve_script(&self, script: String) {
        *self.inside.script.lock().unwrap() = script;
    }

    /// Opens the page as the customer.
    pub(crate) async fn show(&self, page: Page<'_>) {
        let script = match page.script {
            Some(script) => script.to_owned(),
            None => self.script_url(Some(&self.checkout().await)),
        };
        let Page { brands, options, fields, attributes, policy, around, .. } = page;
        let html = format!(
            "<!doctype html><html lang=en><head><meta charset=utf-8><title>Shop</title>\
             <script nonce={NONCE}>window.violations = []; window.failed = 0;\
             document.addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective + ' ' + e.blockedURI));\
             addEventListener('error', (e) => {{ if (e.target !== window) failed += 1 }}, true);\
             var wpwlOptions = {{ {options} }};</script>\
             <script nonce={NONCE} src=\"{script}\" {attributes}></script></head><body>{around}\
             <form action=\"/result\" class=\"paymentWidgets\" data-brands=\"{brands}\">{fields}</form></body></html>"
        );
        *self.inside.page.lock().unwrap() = (html, policy);
        self.browser.go(&format!("{}/pay", self.url)).await;
    }

    /// Types a card into the widget's frame.
    pub(crate) async fn types_card(&self, number: &str) {
        self.types_card_of(number, "Jane Jones").await;
    }

    pub(crate) async fn types_card_of(&self, number: &str, holder: &str) {
        self.browser.enter(Some("iframe.wpwl-frame-card")).await;
        for (field, text) in [("#cardNumber", number), ("#expiry", "12/34"), ("#cardHolder", holder), ("#cvv", "123")] {
            self.browser.fill(field, text).await;
        }
        self.browser.enter(None).await;
    }

    pub(crate) async fn presses_pay(&self) {
        self.browser.until("!document.querySelector('.wpwl-button-pay')?.disabled").await;
        self.browser.press(".wpwl-button-pay", By::Pointer).await;
    }

    /// Waits until the customer has returned. Returns the result code that the shop's server got.
    pub(crate) async fn comes_back(&self) -> String {
        self.browser.until("location.pathname === '/result' && document.querySelector('#code')").await;
        self.browser.run("return document.querySelector('#code').textContent").await.as_str().unwrap().to_owned()
    }

    /// Waits until the widget shows these words below its fields.
    pub(crate) async fn is_told(&self, words: &str) {
        self.browser.until(&format!("document.querySelector('.wpwl-message')?.textContent.includes({words:?})")).await;
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.inside.requests.lock().unwrap().clone()
    }

    /// Returns the gateway's answers to the shop's server.
    pub(crate) fn results(&self) -> Vec<Value> {
        self.inside.results.lock().unwrap().clone()
    }

    pub(crate) fn paid(&self) -> usize {
        self.gateway.ledger().all_charged().count()
    }

    pub(crate) async fn close(self) {
        self.browser.close().await;
    }
}

impl Inside {
    async fn checkout(&self) -> String {
        let mut form = vec![
            ("entityId".to_owned(), self.entity_id.clone()),
            ("amount".to_owned(), self.amount.lock().unwrap().clone()),
            ("currency".to_owned(), "EUR".to_owned()),
            ("paymentType".to_owned(), "DB".to_owned()),
        ];
        form.extend(self.more.lock().unwrap().clone());
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let url = format!("{}v1/checkouts", self.gateway_url);
        let kind = "application/x-www-form-urlencoded; charset=UTF-8";
        let request = self.client.post(url).bearer_auth(&self.token).header("Content-Type", kind).body(body);
        let answer: Value = serde_json::from_slice(&request.send().await.unwrap().bytes().await.unwrap()).unwrap();
        answer["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Returns the result from the path that the browser brings back.
    async fn result(&self, query: &str) -> Value {
        let brought: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let path = brought.iter().find(|(name, _)| name == "resourcePath").map_or("", |(_, path)| path.as_str());
        assert!(path.starts_with("/v1/checkouts/"), "{query}");
        let url = format!("{}{}", self.gateway_url, path.trim_start_matches('/'));
        let answer = self.client.get(url).bearer_auth(&self.token).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<String> {
        let (head, body) = request.into_parts();
        let body = whole(body).await;
        self.requests.lock().unwrap().push(format!("{head:?}\n{}", String::from_utf8_lossy(&body)));
        let html = |html: String| Response::builder().header("content-type", "text/html; charset=utf-8").body(html);
        let answer = match (head.method.as_str(), head.uri.path()) {
            ("GET", "/pay") => {
                let (page, policy) = self.page.lock().unwrap().clone();
                let mut answer = html(page).unwrap();
                if let Some(policy) = policy {
                    answer.headers_mut().insert("content-security-policy", policy.parse().unwrap());
                }
                return answer;
            }
            ("GET", "/script.js") => {
                let script = self.script.lock().unwrap().clone();
                Response::builder().header("content-type", "text/javascript").body(script)
            }
            ("POST", "/checkout") => Response::builder().body(self.checkout().await),
            ("GET", "/result") => {
                let result = self.result(head.uri.query().unwrap_or_default()).await;
                let code = result["result"]["code"].as_str().unwrap_or_default().to_owned();
                self.results.lock().unwrap().push(result);
                html(format!("<!doctype html><title>Result</title><p id=code>{code}</p>"))
            }
            _ => Response::builder().status(404).body(String::new()),
        };
        answer.unwrap()
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, inside: Arc<Inside>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, inside) = (tls.clone(), Arc::clone(&inside));
        tokio::spawn(async move {
            let Ok(stream) = tls.accept(stream).await else { return };
            let answer = service_fn(move |request| {
                let inside = Arc::clone(&inside);
                async move { Ok::<_, Infallible>(inside.answer(request).await) }
            });
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

async fn whole(mut body: Incoming) -> Vec<u8> {
    let mut kept = Vec::new();
    while let Some(Ok(frame)) = std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)).await {
        kept.extend_from_slice(&frame.into_data().unwrap_or_else(|_| Bytes::new()));
    }
    kept
}

fn trusting(ca: &str) -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).unwrap()).unwrap();
    rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Returns the key of a server's certificate in Chromium's form: base64 of its SHA-256.
async fn key_of(port: u16, ca: &str) -> String {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(trusting(ca))).connect(name, stream).await.unwrap();
    let leaf = &stream.get_ref().1.peer_certificates().unwrap()[0];
    let key = Certificate::from_der(leaf).unwrap().tbs_certificate().subject_public_key_info().to_der().unwrap();
    STANDARD.encode(ring::digest::digest(&ring::digest::SHA256, &key))
}
