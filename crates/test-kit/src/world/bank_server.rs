//! The bank's server: TLS with its certificates, HTTP, and the points at which the connection can be cut.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::Datelike;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls_pki_types::PrivateKeyDer;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::World;
use super::bank::{Reply, Request};
use super::cable::Link;
use super::cut_points::{Fate, Phase, PointKind};
use super::host_rules;

/// Serves one connection.
pub async fn serve(world: World, link: Arc<Link>, wire: DuplexStream) {
    let Ok(start) = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), wire).await else { return };
    if end_here(&world, PointKind::Gateway(Phase::InHandshake)) {
        return;
    }
    let certificate = world.lock().bank.certificate;
    let Ok(mut line) = start.into_stream(tls(certificate).1).await else { return };
    if end_here(&world, PointKind::Gateway(Phase::HandshakeDone)) {
        return;
    }
    while let Some(request) = read(&mut line).await {
        match world.pass(PointKind::Gateway(Phase::RequestRead)) {
            Fate::Happens => {}
            Fate::Dead => return,
            fate @ (Fate::Cut | Fate::Last) => {
                if request.moves_money() {
                    world.lock().carried_out_later(request);
                }
                if fate == Fate::Last {
                    world.die();
                }
                return;
            }
        }
        let fate = world.pass(PointKind::Gateway(Phase::Processed));
        if fate == Fate::Dead {
            return;
        }
        let (reply, now) = {
            let mut state = world.lock();
            (state.bank_answers(&request), state.now())
        };
        if fate != Fate::Happens {
            if fate == Fate::Last {
                world.die();
            }
            return;
        }
        let bytes = match reply {
            Reply::Silence => {
                // The server waits until the client closes the connection.
                let _ = line.read(&mut [0; 16]).await;
                return;
            }
            Reply::Bytes(bytes) => bytes,
            Reply::Moved(to) => http(307, &format!("location: {to}\r\n"), now, ""),
            Reply::Answer { status, body, after } => {
                tokio::time::sleep(after).await;
                answered(status, now + after, &body)
            }
        };
        if answer(&world, &link, &mut line, &bytes, request.is_wish()).await.is_none() {
            return;
        }
    }
}

async fn answer(
    world: &World,
    link: &Link,
    line: &mut TlsStream<DuplexStream>,
    bytes: &[u8],
    is_wish: bool,
) -> Option<()> {
    let mut bytes = bytes;
    if is_wish {
        let ends_after = {
            let mut state = world.lock();
            state.bank.last_answer = bytes.len();
            state.bank.answers_end_after.take()
        };
        if let Some(end) = ends_after {
            bytes = &bytes[..end.min(bytes.len())];
            line.write_all(bytes).await.ok()?;
            line.flush().await.ok()?;
            return None;
        }
    }
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    let fate = world.pass(PointKind::Gateway(Phase::AnswerHalfSent));
    if fate == Fate::Dead {
        return None;
    }
    line.write_all(first).await.ok()?;
    line.flush().await.ok()?;
    match fate {
        Fate::Happens => {}
        Fate::Last => {
            world.die();
            return None;
        }
        Fate::Cut | Fate::Dead => return None,
    }
    link.answer_is_whole();
    line.write_all(rest).await.ok()?;
    line.flush().await.ok()
}

/// Passes a point where only the connection can be cut.
fn end_here(world: &World, place: PointKind) -> bool {
    match world.pass(place) {
        Fate::Happens => false,
        Fate::Last => {
            world.die();
            true
        }
        Fate::Cut | Fate::Dead => true,
    }
}

fn answered(status: u16, now: Duration, body: &Value) -> Vec<u8> {
    http(status, "content-type: application/json\r\n", now, &body.to_string())
}

fn http(status: u16, header: &str, now: Duration, body: &str) -> Vec<u8> {
    let (date, length) = (host_rules::http_date(now), body.len());
    format!("HTTP/1.1 {status} X\r\ndate: {date}\r\n{header}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Reads one request from the agent; `None` if the connection ends.
async fn read(line: &mut TlsStream<DuplexStream>) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        if let Some(request) = whole(&bytes) {
            return Some(request);
        }
        if line.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn whole(bytes: &[u8]) -> Option<Request> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let header = |wanted: &str| {
        head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    };
    let length = header("content-length").and_then(|value| value.parse::<usize>().ok());
    let body = bytes.get(end..end + length.unwrap_or(0))?;
    let mut words = head.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let form = if matches!(method.as_str(), "GET" | "DELETE") { query.as_bytes() } else { body };
    Some(Request {
        method,
        path: host_rules::not_moved(path).to_owned(),
        token: header("authorization").and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned),
        is_form: header("content-type").is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")),
        form: form_urlencoded::parse(form).into_owned().collect(),
        target,
    })
}

/// Returns one of the bank's certificates, with its CA as PEM and the server's TLS configuration. Each certificate has
/// a different CA. All worlds share them.
pub fn tls(number: usize) -> (String, Arc<ServerConfig>) {
    static MADE: OnceLock<Vec<(String, Arc<ServerConfig>)>> = OnceLock::new();
    MADE.get_or_init(|| {
        let soon = (chrono::Utc::now() + chrono::TimeDelta::days(180)).date_naive();
        let day = |number: u32| u8::try_from(number).unwrap();
        [(2090, 1, 1), (2090, 1, 1), (soon.year(), day(soon.month()), day(soon.day()))].map(made).into()
    })[number]
        .clone()
}

/// The certificate that expires within the year; all others outlast every world.
pub const ENDS_SOON: usize = 2;

/// Makes a certificate. `ends` is its last day as year, month, day.
fn made(ends: (i32, u8, u8)) -> (String, Arc<ServerConfig>) {
    let mut ca = CertificateParams::new(Vec::<String>::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    ca.not_before = date_time_ymd(2020, 1, 1);
    ca.not_after = date_time_ymd(2090, 1, 1);
    let key = KeyPair::generate().unwrap();
    let pem = ca.self_signed(&key).unwrap().pem();
    let ca = Issuer::new(ca, key);
    let mut leaf = CertificateParams::new(vec!["bank.test".to_owned()]).unwrap();
    leaf.use_authority_key_identifier_extension = true;
    leaf.not_before = date_time_ymd(2020, 1, 1);
    leaf.not_after = date_time_ymd(ends.0, ends.1, ends.2);
    let key = KeyPair::generate().unwrap();
    let certificate = leaf.signed_by(&key, &ca).unwrap();
    // The cheapest suite, because a storm makes a dozen handshakes.
    let suites = vec![rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256];
    let provider = Arc::new(CryptoProvider { cipher_suites: suites, ..rustls::crypto::ring::default_provider() });
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    (pem, Arc::new(config))
}
