//! The enrol port and its client: real TLS, a real database, and a real broker that judges the certificates.
#![allow(clippy::disallowed_methods, reason = "the port and the broker run in real time")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use pos_broker::tls::{self, Own};
use pos_broker::{Connection, Endpoint, Heard};
use pos_fleet::ca::{self, Ca};
use pos_fleet::database::{Database, connect};
use pos_fleet::enrol::{self, Enrol};
use pos_fleet::store::Store;
use pos_fleet_terms::Id;
use pos_test_kit::free_port;
use pos_uplink::certificate::{Folder, Need, Which};
use pos_uplink::enrol::{EnrolError, Port, enrol, renew};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio_postgres::Client;

use crate::postgres::Cluster;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The days by which the server's clock is ahead.
static AHEAD: AtomicU64 = AtomicU64::new(0);

fn now() -> SystemTime {
    SystemTime::now() + DAY * u32::try_from(AHEAD.load(Ordering::SeqCst)).unwrap()
}

fn id(text: &str) -> Id {
    text.parse().unwrap()
}

/// A fleet: its CA, its database, and its enrol port.
struct Fleet {
    _cluster: Cluster,
    folder: TempDir,
    client: Client,
    ca: Ca,
    port: u16,
    stop: watch::Sender<bool>,
    served: tokio::task::JoinHandle<Result<(), enrol::EnrolError>>,
}

impl Fleet {
    async fn start() -> Self {
        AHEAD.store(0, Ordering::SeqCst);
        let cluster = Cluster::start();
        let database = Database { url: cluster.create_database("fleet"), ca: None };
        Store::open(connect(&database, "test").await.unwrap()).await.unwrap();
        let client = connect(&database, "test").await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (certificate, key) = (path("ca.pem"), path("ca-key.pem"));
        let ca = Ca::create(Own { certificate: &certificate, key: &key }, &path("crl.pem"), now(), false).unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        for server in ["enrol", "broker"] {
            let (certificate, key) = (path(&format!("{server}.pem")), path(&format!("{server}-key.pem")));
            ca.server(Own { certificate: &certificate, key: &key }, &names, 800, now(), false).unwrap();
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let settings = Enrol {
            listen: listener.local_addr().unwrap(),
            certificate: path("enrol.pem"),
            key: path("enrol-key.pem"),
            ca_certificate: certificate,
            ca_key: key,
            days: 400,
        };
        let (stop, stopped) = watch::channel(false);
        let served = tokio::spawn(enrol::serve(settings, database, now, listener, stopped));
        Self { _cluster: cluster, folder, client, ca, port, stop, served }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn terminal(&self, folder: &str, name: &str) -> Folder {
        Folder::open(&self.path(folder), &id(name)).unwrap()
    }

    async fn code(&self, terminal: &str) -> String {
        enrol::new_code(&self.client, &id(terminal), 24, now()).await.unwrap()
    }

    async fn enrol(&self, folder: &Folder, code: &str) -> Result<(), String> {
        let ca = self.path("ca.pem");
        enrol(Port { host: "localhost", port: self.port, ca: &ca }, folder, code).await.map(drop).map_err(named)
    }

    async fn renew(&self, folder: &Folder) -> Result<(), String> {
        let ca = self.path("ca.pem");
        renew(Port { host: "localhost", port: self.port, ca: &ca }, folder).await.map(drop).map_err(named)
    }

    /// Sends bytes over TLS, and returns the answer's status and body.
    async fn send(&self, bytes: &[u8]) -> (u16, String) {
        let config = tls::client(&self.path("ca.pem"), None).unwrap();
        let stream = tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let name = "localhost".try_into().unwrap();
        let mut stream = tokio_rustls::TlsConnector::from(config).connect(name, stream).await.unwrap();
        // The server may answer and close before it has read all.
        let _ = stream.write_all(bytes).await;
        let _ = stream.flush().await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(15), stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.get(9..12).and_then(|it| it.parse().ok()).unwrap_or_default();
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    async fn post(&self, path: &str, body: &str) -> (u16, String) {
        let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
        self.send(format!("{head}{body}").as_bytes()).await
    }

    async fn stop(self) {
        self.stop.send(true).unwrap();
        self.served.await.unwrap().unwrap();
    }
}

/// Returns the server's name of a refusal, or the error.
fn named(error: EnrolError) -> String {
    match error {
        EnrolError::Refused { name, .. } => name,
        other => other.to_string(),
    }
}

fn certificate(folder: &Folder, which: Which) -> String {
    fs::read_to_string(folder.pair(which).unwrap().unwrap().certificate).unwrap()
}

fn request(name: &str) -> String {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    params.serialize_request(&key).unwrap().pem().unwrap()
}

fn by_code(code: &str, request: &str) -> String {
    serde_json::json!({ "code": code, "request": request }).to_string()
}

fn verifies(ca: &Path, certificate: &Path) -> bool {
    let mut openssl = Command::new("openssl");
    openssl.args(["verify", "-x509_strict", "-purpose", "sslclient", "-CAfile"]).arg(ca).arg(certificate);
    openssl.output().unwrap().status.success()
}

/// One test after the other: they share the server's clock.
static ONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[tokio::test]
#[ignore = "needs PostgreSQL and mosquitto: .ci/run fleet"]
async fn a_code_gives_one_certificate_to_one_key() {
    let _one = ONE.lock().await;
    let fleet = Fleet::start().await;
    let (first, other) = (fleet.terminal("first", "shop-0042"), fleet.terminal("other", "shop-0042"));
    let code = fleet.code("shop-0042").await;
    // The server's answer is lost: the terminal asks again, with the same key.
    let request = first.request().unwrap();
    let (status, lost) = fleet.post("/v1/enrol", &by_code(&code, &request)).await;
    assert_eq!(status, 201, "{lost}");
    fleet.enrol(&first, &code.to_lowercase().replace('-', " ")).await.unwrap();
    let lost: serde_json::Value = serde_json::from_str(&lost).unwrap();
    assert_eq!(certificate(&first, Which::Next), lost["certificate"].as_str().unwrap());
    assert_eq!(lost["ca"].as_str().unwrap(), fleet.ca.certificates());
    assert!(verifies(&fleet.path("ca.pem"), &first.pair(Which::Next).unwrap().unwrap().certificate));
    let count: i64 = fleet.client.query_one("select count(*) from certificate", &[]).await.unwrap().get(0);
    assert_eq!(count, 1);
    assert_eq!(fleet.enrol(&other, &code).await.unwrap_err(), "code-used");
    assert!(other.pair(Which::Next).unwrap().is_none());
    assert_eq!(fleet.enrol(&other, "ABCDE-FGHJK-MNPQR-STVWX").await.unwrap_err(), "code-wrong");
    // The code of another terminal gives a certificate that this terminal does not take.
    let foreign = fleet.code("shop-0043").await;
    assert!(fleet.enrol(&other, &foreign).await.unwrap_err().contains("not for the terminal shop-0042"));
    assert!(other.pair(Which::Next).unwrap().is_none());
    let late = fleet.code("shop-0042").await;
    AHEAD.store(1, Ordering::SeqCst);
    assert_eq!(fleet.enrol(&other, &late).await.unwrap_err(), "code-expired");
    assert_eq!(fleet.enrol(&first, &code).await.unwrap_err(), "code-expired");
    assert!(enrol::new_code(&fleet.client, &id("pos-fleet-consumer"), 24, now()).await.is_err());
    assert!(enrol::new_code(&fleet.client, &id("shop-0042"), 0, now()).await.is_err());
    // The database contains no code.
    let select = "select count(*) from enrolment_code c where c::text like '%' || $1 || '%'";
    let found: i64 = fleet.client.query_one(select, &[&code]).await.unwrap().get(0);
    assert_eq!(found, 0);
    fleet.stop().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL and mosquitto: .ci/run fleet"]
async fn a_hostile_request_gets_a_short_refusal_and_uses_no_code() {
    let _one = ONE.lock().await;
    let fleet = Fleet::start().await;
    let code = fleet.code("shop-0042").await;
    let good = request("shop-0042");
    let expect = async |path: &str, body: &str, status: u16, name: &str| {
        let (got, text) = fleet.post(path, body).await;
        assert!(got == status && text.contains(name) && text.len() < 300, "{path} {name}: {got} {text}");
    };
    expect("/v1/enrol", &"x".repeat(16 * 1024 + 1), 413, "too-large").await;
    expect("/v1/enrol", "\u{0}\u{1}garbage", 400, "malformed").await;
    expect("/v1/enrol", &"[".repeat(10_000), 400, "malformed").await;
    let deep = format!(r#"{{"code": "{code}", "request": {}1{}}}"#, r#"{"a":"#.repeat(2_000), "}".repeat(2_000));
    expect("/v1/enrol", &deep, 400, "malformed").await;
    let more = serde_json::json!({ "code": code, "request": good, "terminal": "shop-0043" }).to_string();
    expect("/v1/enrol", &more, 400, "malformed").await;
    expect("/v1/enrol", &by_code(&code, "no PEM"), 400, "request-malformed").await;
    let middle = good.len() - 60;
    let broken = |with: char| format!("{}{with}{}", &good[..middle], &good[middle + 1..]);
    let broken = ['A', 'B'].map(broken).into_iter().find(|it| *it != good).unwrap();
    let (status, text) = fleet.post("/v1/enrol", &by_code(&code, &broken)).await;
    assert!(status == 400 && text.contains("request-"), "{status} {text}");
    expect("/v1/renew", &serde_json::json!({ "request": good }).to_string(), 401, "certificate-missing").await;
    expect("/v1/other", "{}", 404, "no-such-path").await;
    expect("/", "", 404, "no-such-path").await;
    for method in ["GET", "PUT", "DELETE", "OPTIONS"] {
        let (status, _) = fleet.send(format!("{method} /v1/enrol HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes()).await;
        assert_eq!(status, 405, "{method}");
    }
    let endless = "POST /v1/enrol HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n".to_owned()
        + &format!("1000\r\n{}\r\n", "x".repeat(0x1000)).repeat(8);
    assert_eq!(fleet.send(endless.as_bytes()).await.0, 413);
    let (status, _) = fleet.send(format!("GET / HTTP/1.1\r\na: {}\r\n\r\n", "x".repeat(40_000)).as_bytes()).await;
    assert!(status == 431 || status == 0, "{status}");
    // A request without an end, and a connection without a handshake, end after the deadline.
    let began = Instant::now();
    let mut silent = tokio::net::TcpStream::connect(("127.0.0.1", fleet.port)).await.unwrap();
    assert_eq!(fleet.send(b"POST /v1/enrol HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{").await.0, 0);
    let _ = silent.read_to_end(&mut Vec::new()).await;
    assert!((9..14).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    // The code is still good, and the name in the request means nothing.
    let (status, text) = fleet.post("/v1/enrol", &by_code(&code, &request("pos-fleet-consumer"))).await;
    assert_eq!(status, 201);
    let file = fleet.path("given.pem");
    let given: serde_json::Value = serde_json::from_str(&text).unwrap();
    fs::write(&file, given["certificate"].as_str().unwrap()).unwrap();
    let subject = Command::new("openssl").args(["x509", "-noout", "-subject", "-in"]).arg(&file).output().unwrap();
    assert_eq!(String::from_utf8(subject.stdout).unwrap().trim(), "subject=CN = shop-0042");
    // Ten wrong codes in a minute, then none is looked at.
    let code = fleet.code("shop-0044").await;
    let answers = async |code: &str| fleet.post("/v1/enrol", &by_code(code, &good)).await.0;
    for _ in 0..10 {
        assert_eq!(answers("ABCDE-FGHJK-MNPQR-STVWX").await, 403);
    }
    assert_eq!(answers(&code).await, 429);
    fleet.stop().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL and mosquitto: .ci/run fleet"]
async fn a_renewal_needs_a_present_certificate_of_this_ca() {
    let _one = ONE.lock().await;
    let fleet = Fleet::start().await;
    let terminal = fleet.terminal("first", "shop-0042");
    assert!(fleet.renew(&terminal).await.unwrap_err().contains("enrol it with a code"));
    fleet.enrol(&terminal, &fleet.code("shop-0042").await).await.unwrap();
    terminal.has_connected(Which::Next).unwrap();
    let first = certificate(&terminal, Which::Present);
    AHEAD.store(260, Ordering::SeqCst);
    assert_eq!(terminal.need(now()), Need::Nothing);
    AHEAD.store(310, Ordering::SeqCst);
    assert_eq!(terminal.need(now()), Need::Renew);
    fleet.renew(&terminal).await.unwrap();
    let second = certificate(&terminal, Which::Next);
    assert_ne!(first, second);
    assert_eq!(certificate(&terminal, Which::Present), first, "the old one stays until the new one has connected");
    assert_eq!(terminal.need(now()), Need::Nothing);
    terminal.has_connected(Which::Next).unwrap();
    // The certificate of another CA with the same name, and one that no terminal was given.
    let path = |name: &str| fleet.path(name);
    let (other, key) = (path("other-ca.pem"), path("other-ca-key.pem"));
    let other = Ca::create(Own { certificate: &other, key: &key }, &path("other-crl.pem"), now(), false).unwrap();
    let foreign = fleet.terminal("foreign", "shop-0042");
    let sign = |ca: &Ca, folder: &Folder| {
        let request = ca::Request::read(&folder.request().unwrap()).unwrap();
        folder.store_next(&ca.sign(&id("shop-0042"), &request, 400, now()).unwrap().pem).unwrap();
        folder.has_connected(Which::Next).unwrap();
    };
    sign(&other, &foreign);
    let error = fleet.renew(&foreign).await.unwrap_err();
    assert!(error.starts_with("the enrol port cannot be reached"), "{error}");
    sign(&fleet.ca, &foreign);
    assert_eq!(fleet.renew(&foreign).await.unwrap_err(), "certificate-unknown");
    // A terminal that asks again and again does not fill the database.
    for _ in 0..9 {
        fleet.renew(&terminal).await.unwrap();
    }
    assert_eq!(fleet.renew(&terminal).await.unwrap_err(), "too-many");
    // A shop that was closed for longer than the certificate: only a code helps.
    AHEAD.store(310 + 400, Ordering::SeqCst);
    assert_eq!(fleet.renew(&terminal).await.unwrap_err(), "certificate-expired");
    assert_eq!(terminal.need(now() + DAY), Need::Code);
    fleet.enrol(&terminal, &fleet.code("shop-0042").await).await.unwrap();
    terminal.has_connected(Which::Next).unwrap();
    fleet.renew(&terminal).await.unwrap();
    fleet.stop().await;
}

/// A broker of the test's own, which asks for certificates.
struct Broker {
    child: Child,
    port: u16,
}

impl Broker {
    fn start(fleet: &Fleet) -> Self {
        let port = free_port();
        let path = |name: &str| fleet.path(name).display().to_string();
        let config = format!(
            "user root\nallow_anonymous false\nlistener {port} 127.0.0.1\ncafile {}\ncertfile {}\nkeyfile {}\n\
            crlfile {}\nrequire_certificate true\nuse_identity_as_username true\n",
            path("ca.pem"),
            path("broker.pem"),
            path("broker-key.pem"),
            path("crl.pem")
        );
        fs::write(fleet.path("mosquitto.conf"), config).unwrap();
        let mut command = Command::new("/usr/sbin/mosquitto");
        command.arg("-c").arg(fleet.path("mosquitto.conf")).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        for _ in 0..100 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { child, port }
    }

    async fn accepts(&self, ca: &Path, folder: &Folder) -> bool {
        let pair = folder.pair(Which::Present).unwrap().unwrap();
        let endpoint = Endpoint {
            host: "localhost".to_owned(),
            port: self.port,
            tls: tls::client(ca, Some(pair.own())).unwrap(),
            name: "shop".to_owned(),
            keep_alive_s: 30,
            unacknowledged: 20,
            most_unread: 100_000,
        };
        let mut connection = Connection::open(&endpoint, None);
        let heard = tokio::time::timeout(Duration::from_secs(10), connection.heard()).await;
        matches!(heard, Ok(Ok(Heard::Connected)))
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL and mosquitto: .ci/run fleet"]
async fn a_revoked_terminal_is_refused_by_the_broker_and_by_the_port() {
    let _one = ONE.lock().await;
    let mut fleet = Fleet::start().await;
    let (lost, kept) = (fleet.terminal("lost", "shop-0042"), fleet.terminal("kept", "shop-0043"));
    for (folder, name) in [(&lost, "shop-0042"), (&kept, "shop-0043")] {
        fleet.enrol(folder, &fleet.code(name).await).await.unwrap();
        folder.has_connected(Which::Next).unwrap();
    }
    let ca = fleet.path("ca.pem");
    let broker = Broker::start(&fleet);
    assert!(broker.accepts(&ca, &lost).await && broker.accepts(&ca, &kept).await);
    let unused = fleet.code("shop-0042").await;
    let crl = fleet.path("crl.pem");
    let count = ca::revoke(&mut fleet.client, &fleet.ca, &id("shop-0042"), &crl, now()).await.unwrap();
    assert_eq!(count, 1);
    // The broker reads its list again, and needs no restart.
    Command::new("kill").args(["-HUP", &broker.child.id().to_string()]).status().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!broker.accepts(&ca, &lost).await);
    assert!(broker.accepts(&ca, &kept).await);
    assert_eq!(fleet.renew(&lost).await.unwrap_err(), "certificate-revoked");
    fleet.renew(&kept).await.unwrap();
    assert_eq!(fleet.enrol(&lost, &unused).await.unwrap_err(), "code-expired");
    // A code that is made afterwards brings the terminal back.
    fleet.enrol(&lost, &fleet.code("shop-0042").await).await.unwrap();
    lost.has_connected(Which::Next).unwrap();
    assert!(broker.accepts(&ca, &lost).await);
    fleet.stop().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL and mosquitto: .ci/run fleet"]
async fn a_database_that_was_away_is_found_again() {
    let _one = ONE.lock().await;
    let fleet = Fleet::start().await;
    let terminal = fleet.terminal("first", "shop-0042");
    fleet.enrol(&terminal, &fleet.code("shop-0042").await).await.unwrap();
    terminal.has_connected(Which::Next).unwrap();
    let kill = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pos-fleet enrol'";
    fleet.client.execute(kill, &[]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    fleet.renew(&terminal).await.unwrap();
    fleet.stop().await;
}
