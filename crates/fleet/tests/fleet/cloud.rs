//! The port of cloud tills under test: real TLS and a real database. The terminal's part is played by hand, through the
//! database, as the desk leaves it there: so each answer can be lost, late or missing.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use pos_broker::tls::{self, Own};
use pos_fleet::ca::Ca;
use pos_fleet::database::{Database, connect};
use pos_fleet::signing::{SigningKey, is_signed_by};
use pos_fleet::store::Store;
use pos_fleet::tills::tokens::new_token;
use pos_fleet::tills::{CloudKey, CloudTills, CloudTillsError, run_on};
use pos_fleet_terms::{DocumentKind, Envelope, FleetCommand, Id, KeyKind, read};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::postgres::Cluster;

/// The terminal under test.
pub(crate) const TERMINAL: &str = "shop-17-1";
/// The nonce of its connection.
pub(crate) const NONCE: &str = "5f0c7d1e5f0c7d1e5f0c7d1e5f0c7d1e";
const LIMIT: Duration = Duration::from_secs(15);

#[allow(clippy::disallowed_methods, reason = "the port runs in real time")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

pub(crate) fn id(text: &str) -> Id {
    text.parse().unwrap()
}

/// A server with the port of cloud tills.
pub(crate) struct Cloud {
    pub(crate) cluster: Cluster,
    pub(crate) folder: TempDir,
    pub(crate) client: Client,
    pub(crate) key: SigningKey,
    pub(crate) port: u16,
    database: Database,
    stop: watch::Sender<bool>,
    served: Option<JoinHandle<Result<(), CloudTillsError>>>,
}

impl Cloud {
    pub(crate) async fn start() -> Self {
        let cluster = Cluster::start();
        let database = Database { url: cluster.create_database("fleet"), ca: None };
        Store::open(connect(&database, "test").await.unwrap()).await.unwrap();
        let client = connect(&database, "test").await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (certificate, key) = (path("ca.pem"), path("ca-key.pem"));
        let ca = Ca::create(Own { certificate: &certificate, key: &key }, &path("crl.pem"), now(), false).unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let (certificate, key) = (path("tills.pem"), path("tills-key.pem"));
        ca.server(Own { certificate: &certificate, key: &key }, &names, 800, now(), false).unwrap();
        let key = SigningKey::generate(&path("web.pem"), KeyKind::Till, "web shop").unwrap();
        let (stop, _) = watch::channel(false);
        let mut cloud = Self { cluster, folder, client, key, port: 0, database, stop, served: None };
        cloud.again().await;
        cloud.terminal(TERMINAL, true, Some(NONCE)).await;
        cloud
    }

    /// Kills the port, and starts it again.
    pub(crate) async fn again(&mut self) {
        if let Some(served) = self.served.take() {
            served.abort();
            let _ = served.await;
        }
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await.unwrap();
        self.port = listener.local_addr().unwrap().port();
        let settings = CloudTills {
            listen: listener.local_addr().unwrap(),
            certificate: self.path("tills.pem"),
            key_file: self.path("tills-key.pem"),
            key: vec![CloudKey { till: "web".to_owned(), file: self.path("web.pem") }],
        };
        let place = (id("corner-shops"), self.database.clone());
        let stopped = self.stop.subscribe();
        self.served = Some(tokio::spawn(async move { run_on(listener, &settings, place, now, || {}, stopped).await }));
    }

    pub(crate) async fn end(mut self) {
        self.stop.send_replace(true);
        self.served.take().unwrap().await.unwrap().unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Stores what a terminal has said last.
    pub(crate) async fn terminal(&self, name: &str, online: bool, nonce: Option<&str>) {
        let state = json!({ "online": true, "boot": "b", "ready": true, "nonce": nonce, "counters": {} });
        let upsert = "insert into terminal (terminal, online, state, seen) values ($1, $2, $3, now())
            on conflict (terminal) do update set online = $2, state = $3, seen = now()";
        self.client.execute(upsert, &[&name, &online, &state]).await.unwrap();
    }

    pub(crate) async fn token(&self, terminals: &[&str]) -> String {
        let terminals: Vec<Id> = terminals.iter().map(|name| id(name)).collect();
        new_token(&self.client, "web", &terminals, "anna", now()).await.unwrap()
    }

    /// Sends bytes over TLS, and returns the answer's status and body.
    pub(crate) async fn send(&self, bytes: &[u8]) -> (u16, Value) {
        let config = tls::client(&self.path("ca.pem"), None).unwrap();
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let name = "localhost".try_into().unwrap();
        let mut stream = tokio_rustls::TlsConnector::from(config).connect(name, stream).await.unwrap();
        let _ = stream.write_all(bytes).await;
        let _ = stream.flush().await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(LIMIT, stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.get(9..12).and_then(|it| it.parse().ok()).unwrap_or_default();
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> (u16, Value) {
        let head = format!(
            "GET /terminals/{TERMINAL}{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             authorization: Bearer {token}\r\n\r\n"
        );
        self.send(head.as_bytes()).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: &Value) -> (u16, Value) {
        self.post_to(TERMINAL, token, path, body).await
    }

    pub(crate) async fn post_to(&self, terminal: &str, token: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let head = format!(
            "POST /terminals/{terminal}{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             authorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.send(head.as_bytes()).await
    }

    pub(crate) async fn sell(&self, token: &str, reference: &str, amount: &str) -> (u16, Value) {
        self.post(token, "/v1/sales", &sale_body(reference, amount)).await
    }

    pub(crate) async fn count(&self, kind: &str) -> i64 {
        let select = "select count(*) from command where kind = $1";
        self.client.query_one(select, &[&kind]).await.unwrap().get(0)
    }

    /// Offers the next command to the terminal, as the desk does, and reads it as the terminal does.
    pub(crate) async fn offered(&self, kind: &str) -> FleetCommand {
        let update = "update command set offered = now() where id = (
                select id from command where kind = $1 and offered is null and not is_final order by counter limit 1)
            and not is_final returning envelope";
        let end = tokio::time::Instant::now() + LIMIT;
        loop {
            if let Some(row) = self.client.query_opt(update, &[&kind]).await.unwrap() {
                let envelope = Envelope::read(&row.get::<_, Vec<u8>>(0)).unwrap();
                assert_eq!(envelope.kind, DocumentKind::Command);
                assert!(is_signed_by(&envelope, self.key.public()));
                return read(&envelope.document).unwrap();
            }
            assert!(tokio::time::Instant::now() < end, "no command {kind}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Stores a result of the terminal, as the desk does.
    pub(crate) async fn answers(&self, command: &FleetCommand, code: &str, body: &Value) {
        let is_final = code != "running";
        let update = "update command set code = $2, body = nullif($3, 'null'::jsonb), is_final = $4, result_at = now()
            where id = $1 and not is_final";
        let id = command.id.as_str();
        self.client.execute(update, &[&id, &code, body, &is_final]).await.unwrap();
        self.client.execute("select pg_notify('result', $1)", &[&id]).await.unwrap();
    }

    /// Stores an entry of the terminal's journal.
    pub(crate) async fn books(&self, number: i64, reference: &str, standing: &str, outcome: Option<&str>) {
        let mut body = json!({
            "is": "step", "at": "2026-11-30T10:00:00Z", "number": number, "till": "web", "reference": reference,
            "facts": { "kind": "sale", "standing": standing, "amount": "12.34", "total": "12.34", "currency": "EUR",
                       "startedAt": "2026-11-30T10:00:00Z" },
        });
        if let Some(outcome) = outcome {
            body["facts"]["outcome"] = json!(outcome);
        }
        let insert = "insert into entry (terminal, journal, number, first, digest, kind, at, body)
            values ($1, 'j', $2, $2, '\\x00', 'step', now(), $3)";
        self.client.execute(insert, &[&TERMINAL, &number, &body]).await.unwrap();
    }

    /// Runs the program.
    pub(crate) fn program(&self, arguments: &[&str]) -> (bool, String) {
        let config = self.path("fleet.toml");
        let path = |name: &str| self.path(name).display().to_string();
        let text = format!(
            "org = \"corner-shops\"\n[database]\nurl = \"{}\"\n[tills]\nlisten = \"127.0.0.1:0\"\ncertificate = \"{}\"\n\
             key-file = \"{}\"\n[[tills.key]]\ntill = \"web\"\nfile = \"{}\"\n",
            self.database.url,
            path("tills.pem"),
            path("tills-key.pem"),
            path("web.pem"),
        );
        fs::write(&config, text).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_pos-fleet"))
            .args(arguments)
            .arg("--config")
            .arg(config)
            .env_remove("RUST_LOG")
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).trim().to_owned())
    }
}

pub(crate) fn sale_body(reference: &str, amount: &str) -> Value {
    json!({ "reference": reference, "amount": amount })
}

/// A transaction as the terminal's interface has it.
pub(crate) fn view(reference: &str, state: &str, outcome: Option<&str>) -> Value {
    let mut view = json!({
        "till": "web", "reference": reference, "number": 17, "receiptNumber": 17, "kind": "sale", "amount": "12.34",
        "currency": "EUR", "state": state, "text": state, "startedAt": "2099-11-30T10:00:00Z", "replayed": false,
    });
    if let Some(outcome) = outcome {
        view["outcome"] = json!(outcome);
    }
    view
}
