//! A running sandbox, and requests to it.

use std::process::Stdio;
use std::sync::Once;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

pub(crate) const SANDBOX: &str = env!("CARGO_BIN_EXE_pos-sandbox");
/// A time that no step of these tests exceeds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running sandbox. It ends when this value is dropped, because its input ends.
pub(crate) struct Sandbox {
    pub(crate) process: Child,
    pub(crate) addresses: Value,
    pub(crate) client: Client,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // The process is killed, so it cannot remove its folder itself.
        let _ = std::fs::remove_dir_all(self.text("folder"));
    }
}

impl Sandbox {
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
        let mut process = Command::new(SANDBOX)
            .arg("--json")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.expect("the shop opens").unwrap().unwrap();
        let addresses = serde_json::from_str(&line).unwrap();
        Self { process, addresses, client: Client::builder().no_proxy().build().unwrap() }
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.addresses[key].as_str().unwrap()
    }

    pub(crate) async fn simulator(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}/simulator{path}", self.text("simulator"));
        self.ask(with(self.client.request(method, url), &body)).await
    }

    pub(crate) async fn agent(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}{path}", self.text("agent"));
        let request = self.client.request(method, url).bearer_auth(self.text("token"));
        self.ask(with(request, &body)).await
    }

    pub(crate) async fn ask(&self, request: RequestBuilder) -> (u16, Value) {
        let answer = timeout(PATIENCE, request.send()).await.expect("an answer in time").unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }

    pub(crate) async fn begin(&self, reference: &str, amount: &str) {
        let body = json!({ "reference": reference, "amount": amount });
        assert_eq!(self.agent(Method::POST, "/v1/sales", body).await.0, 201);
    }

    pub(crate) async fn outcome(&self, reference: &str) -> Value {
        let (_, sale) = self.agent(Method::GET, &format!("/v1/sales/{reference}?wait-s=60"), Value::Null).await;
        sale["outcome"].clone()
    }
}

pub(crate) fn with(request: RequestBuilder, body: &Value) -> RequestBuilder {
    request.header("Content-Type", "application/json").body(body.to_string())
}
