//! The port at which a terminal gets its certificate: with a one-time code, or with the certificate that it has.
//!
//! ```text
//! POST /v1/enrol {"code", "request"}  → 201 {"certificate", "ca"}
//! POST /v1/renew {"request"}          → 201 {"certificate", "ca"}   with the terminal's certificate in TLS
//! ```
//!
//! The port faces the internet. It has nothing else to offer: one request in each connection, with limits of size, time
//! and number. A code and its certificate are one transaction, so a code gives one certificate even when the power
//! fails. A lost answer is given again to the same key, because only the terminal has that key.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request as HttpRequest, Response, StatusCode};
use hyper_util::rt::TokioIo;
use pos_broker::tls::{self, Own, TlsError};
use pos_fleet_terms::Id;
use ring::digest::{SHA256, digest};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring as provider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, RootCertStore, ServerConfig, SignatureScheme,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_postgres::{Client, Transaction};
use tokio_rustls::TlsAcceptor;

use crate::ca::{self, Ca, CaError, DAYS, DAYS_ALLOWED, Request, RequestError, Shown, Signed, date};
use crate::database::{self, Database, DatabaseError};
use crate::store::{Store, StoreError};
use crate::wrong_tries::WrongTries;

/// The largest request in bytes. A certificate request has less than 1 kB.
const LARGEST_BODY: usize = 16 * 1024;
/// The greatest number of connections at once.
const CONNECTIONS: usize = 32;
/// The time for the handshake, and for the request with its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The wrong codes in a minute from one address, and from all.
const WRONG_CODES: (u32, u32) = (10, 100);
/// The greatest number of renewals of one terminal in a day. More would only fill the database.
const RENEWALS: i64 = 10;
const DAY: Duration = Duration::from_secs(24 * 3600);
/// A renewal whose answer was lost is asked again within this time.
const ANSWERED_AGAIN: Duration = Duration::from_secs(7 * 24 * 3600);
/// The characters of a code: 32 that are not mistaken for each other.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// A code has four groups of five characters: 100 bits.
const CODE: usize = 20;
const GROUP: usize = 5;
/// The greatest lifetime of a code in hours.
const LONGEST_CODE: u32 = 30 * 24;

/// The settings of the port.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Enrol {
    /// The address and port.
    pub listen: SocketAddr,
    /// The port's own certificate (PEM).
    pub certificate: PathBuf,
    /// Its key (PEM).
    pub key: PathBuf,
    /// The CA (PEM). During a change of the CA, the file contains both.
    pub ca_certificate: PathBuf,
    /// The CA's key (PEM), which only this program's user can read.
    pub ca_key: PathBuf,
    /// The lifetime of a terminal's certificate in days.
    #[serde(default = "default_days")]
    pub days: u32,
}

fn default_days() -> u32 {
    DAYS
}

impl Enrol {
    /// Checks what the types do not say.
    ///
    /// # Errors
    /// Names the wrong key.
    pub fn check(&self) -> Result<(), EnrolError> {
        match DAYS_ALLOWED.contains(&self.days) {
            true => Ok(()),
            false => Err(EnrolError::Days(self.days)),
        }
    }
}

/// The reason why the port does not work.
#[derive(Debug, thiserror::Error)]
pub enum EnrolError {
    /// The lifetime of certificates.
    #[error("enrol.days: {0} is not allowed; write {least} to {most}", least = DAYS_ALLOWED.start(), most = DAYS_ALLOWED.end())]
    Days(u32),
    /// The lifetime of a code.
    #[error("a code lasts 1 to {LONGEST_CODE} hours, not {0}")]
    Hours(u32),
    /// The CA.
    #[error(transparent)]
    Ca(#[from] CaError),
    /// A certificate.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The certificate cannot be served.
    #[error("the certificate of the enrol port cannot be served: {0}")]
    Served(String),
    /// The database.
    #[error(transparent)]
    Connect(#[from] DatabaseError),
    /// The shape of the database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database refuses.
    #[error("the database: {0}")]
    Database(#[from] tokio_postgres::Error),
    /// The address cannot be used.
    #[error("enrol.listen: {0}")]
    Listen(#[from] std::io::Error),
}

/// Makes a code with which this terminal gets a certificate once, and stores its digest. Only the returned text has the
/// code itself.
///
/// # Errors
/// Fails if the name belongs to a server, if the time is not allowed, or if the database refuses.
pub async fn new_code(client: &Client, terminal: &Id, hours: u32, now: SystemTime) -> Result<String, EnrolError> {
    if !(1..=LONGEST_CODE).contains(&hours) {
        return Err(EnrolError::Hours(hours));
    }
    if ca::is_reserved(terminal) {
        return Err(CaError::Reserved(terminal.clone()).into());
    }
    let mut random = [0; CODE];
    getrandom::fill(&mut random).map_err(|_| CaError::NoRandom)?;
    let characters: Vec<_> = random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect();
    let groups: Vec<String> = characters.chunks(GROUP).map(|group| group.iter().collect()).collect();
    let code = groups.join("-");
    let expires = now + Duration::from_secs(3600) * hours;
    let insert = "insert into enrolment_code (digest, terminal, created, expires) values ($1, $2, $3, $4)";
    client.execute(insert, &[&code_digest(&code), &terminal.as_str(), &date(now), &date(expires)]).await?;
    Ok(code)
}

/// Returns the SHA-256 of a code, as a person types it: in any case, with or without hyphens and blanks. The database
/// compares digests, so the time of its answer tells nothing about a code.
fn code_digest(typed: &str) -> Vec<u8> {
    let meant = typed.chars().filter(|it| !it.is_whitespace() && *it != '-').map(|it| match it.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    });
    digest(&SHA256, meant.collect::<String>().as_bytes()).as_ref().to_vec()
}

/// Serves the port until `stopped` is true. `ready` is called as soon as it accepts connections.
///
/// # Errors
/// Fails if a file cannot be used, or if the database or the address is not there at the start.
pub async fn run(
    settings: Enrol,
    database: Database,
    now: fn() -> SystemTime,
    ready: impl FnOnce(),
    stopped: watch::Receiver<bool>,
) -> Result<(), EnrolError> {
    let listener = TcpListener::bind(settings.listen).await?;
    ready();
    serve(settings, database, now, listener, stopped).await
}

/// Serves the port at a listener that is open already.
///
/// # Errors
/// The same as [`run`].
pub async fn serve(
    settings: Enrol,
    database: Database,
    now: fn() -> SystemTime,
    listener: TcpListener,
    mut stopped: watch::Receiver<bool>,
) -> Result<(), EnrolError> {
    settings.check()?;
    let ca = Ca::open(Own { certificate: &settings.ca_certificate, key: &settings.ca_key })?;
    let acceptor = TlsAcceptor::from(Arc::new(server_tls(&settings, now)?));
    // The shape of the database is a matter of the start. Each later connection finds it.
    Store::open(database::connect(&database, "pos-fleet enrol").await?).await?;
    let tries = StdMutex::new(WrongTries::new(WRONG_CODES.0, Some(WRONG_CODES.1), Instant::now()));
    let desk = Arc::new(Desk { ca, days: settings.days, database, client: Mutex::new(None), tries, now });
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections: JoinSet<()> = JoinSet::new();
    let is_stopped = async move {
        // A closed channel means that no one can stop the port any more, which is an end too.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    tokio::pin!(is_stopped);
    loop {
        let accepted = async {
            // The semaphore is never closed, so there is a permit sooner or later.
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        tokio::select! {
            () = &mut is_stopped => break,
            (permit, accepted) = accepted => match accepted {
                Ok((stream, peer)) => {
                    let (acceptor, desk) = (acceptor.clone(), Arc::clone(&desk));
                    connections.spawn(async move {
                        connection(&acceptor, desk, stream, peer.ip()).await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    // The system has no room for a connection now. Asking again at once would not help.
                    tracing::warn!(%error, "the enrol port cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
        }
        while connections.try_join_next().is_some() {}
    }
    // A code that is being used gets its answer.
    let _ = timeout(PATIENCE, async { while connections.join_next().await.is_some() {} }).await;
    Ok(())
}

fn server_tls(settings: &Enrol, now: fn() -> SystemTime) -> Result<ServerConfig, EnrolError> {
    let served = |error: String| EnrolError::Served(error);
    let mut roots = RootCertStore::empty();
    for certificate in tls::certificates(&settings.ca_certificate)? {
        roots.add(certificate).map_err(|error| served(error.to_string()))?;
    }
    let provider = Arc::new(provider::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| served(error.to_string()))?;
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = builder
        .map_err(|error| served(error.to_string()))?
        .with_client_cert_verifier(Arc::new(AlsoExpired { verifier, now }))
        .with_single_cert(tls::certificates(&settings.certificate)?, tls::private_key(&settings.key)?)
        .map_err(|error| served(error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // Each connection has one request, so there is nothing to resume.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Verifies a terminal's certificate, but lets an expired one in. The desk then refuses it by name, and a person at the
/// terminal reads that a code is needed.
#[derive(Debug)]
struct AlsoExpired {
    verifier: Arc<dyn ClientCertVerifier>,
    now: fn() -> SystemTime,
}

impl ClientCertVerifier for AlsoExpired {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.verifier.root_hint_subjects()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.verifier.client_auth_mandatory()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        let at = |time: SystemTime| UnixTime::since_unix_epoch(time.duration_since(UNIX_EPOCH).unwrap_or_default());
        let verified = self.verifier.verify_client_cert(certificate, between, at((self.now)()));
        let is_expired = matches!(
            verified,
            Err(rustls::Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }))
        );
        match Shown::read(certificate).filter(|_| is_expired) {
            Some(shown) => {
                let last = at(shown.not_after - Duration::from_secs(1));
                self.verifier.verify_client_cert(certificate, between, last)
            }
            None => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// Serves one request, within its deadlines.
async fn connection(acceptor: &TlsAcceptor, desk: Arc<Desk>, stream: TcpStream, peer: IpAddr) {
    let tls = match timeout(PATIENCE, acceptor.accept(stream)).await {
        Ok(Ok(tls)) => tls,
        // Anyone can begin a handshake and leave it, so this is no warning.
        Ok(Err(error)) => return tracing::debug!(%error, %peer, "no TLS at the enrol port"),
        Err(_) => return tracing::debug!(%peer, "no TLS in time at the enrol port"),
    };
    let certificate = tls.get_ref().1.peer_certificates().and_then(<[_]>::first).and_then(|der| Shown::read(der));
    let certificate = Arc::new(certificate);
    let service = service_fn(move |request| {
        let (desk, certificate) = (Arc::clone(&desk), Arc::clone(&certificate));
        async move { Ok::<_, Infallible>(desk.answer(request, peer, certificate.as_ref().as_ref()).await) }
    });
    let mut http = http1::Builder::new();
    // The deadline below contains the one for the head of the request.
    http.keep_alive(false).max_buf_size(LARGEST_BODY).header_read_timeout(None);
    let served = http.serve_connection(TokioIo::new(tls), service);
    match timeout(PATIENCE, served).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, %peer, "a request at the enrol port ended early"),
        Err(_) => tracing::debug!(%peer, "a request at the enrol port took too long"),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ByCode {
    code: String,
    request: String,
}

/// The reason why a body asks for no certificate.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is not the expected JSON.
    #[error("the request is not the expected JSON")]
    Malformed,
    /// The certificate request in it.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Reads the body of `/v1/enrol`: the digest of the code, and the certificate request.
///
/// # Errors
/// Fails if it is not the expected JSON, or if the certificate request is wrong.
pub fn read_body(body: &[u8]) -> Result<(Vec<u8>, Request), BodyError> {
    let ByCode { code, request } = serde_json::from_slice(body).map_err(|_| BodyError::Malformed)?;
    Ok((code_digest(&code), Request::read(&request)?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ByCertificate {
    request: String,
}

#[derive(Serialize)]
struct Given<'a> {
    certificate: &'a str,
    ca: &'a str,
}

#[derive(Serialize)]
struct Refused<'a> {
    error: &'a str,
    text: &'a str,
}

/// What signs certificates, and what it needs for that.
struct Desk {
    ca: Ca,
    days: u32,
    database: Database,
    /// The connection, which is made again when it has ended.
    client: Mutex<Option<Client>>,
    tries: StdMutex<WrongTries>,
    now: fn() -> SystemTime,
}

impl Desk {
    async fn answer(
        &self,
        request: HttpRequest<Incoming>,
        peer: IpAddr,
        shown: Option<&Shown>,
    ) -> Response<Full<Bytes>> {
        let path = request.uri().path().to_owned();
        if !["/v1/enrol", "/v1/renew"].contains(&path.as_str()) {
            return refusal(&Refusal::NoSuchPath);
        }
        if request.method() != Method::POST {
            let mut response = refusal(&Refusal::NoSuchMethod);
            response.headers_mut().insert(ALLOW, const { hyper::header::HeaderValue::from_static("POST") });
            return response;
        }
        let is_code = path == "/v1/enrol";
        let given = match Limited::new(request.into_body(), LARGEST_BODY).collect().await {
            Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(Refusal::TooLarge),
            Err(_) => Err(Refusal::Malformed),
            Ok(body) if is_code => self.by_code(&body.to_bytes(), peer).await,
            Ok(body) => self.by_certificate(&body.to_bytes(), shown).await,
        };
        match given {
            Ok(certificate) => {
                let given = Given { certificate: &certificate, ca: self.ca.certificates() };
                json(StatusCode::CREATED, &given)
            }
            Err(refused) => {
                let name = refused.name();
                match &refused {
                    Refusal::Database(error) => tracing::error!(%error, "the enrol port has no database"),
                    Refusal::Ca(error) => tracing::error!(%error, "the enrol port cannot sign"),
                    _ => tracing::warn!(%peer, path, reason = name, "the enrol port refused a request"),
                }
                refusal(&refused)
            }
        }
    }

    /// Gives a certificate for a code. The code, its use and the certificate are one transaction.
    async fn by_code(&self, body: &[u8], peer: IpAddr) -> Result<String, Refusal> {
        let (code, request) = read_body(body)?;
        if !self.tries().may_try(peer, Instant::now()) {
            return Err(Refusal::TooMany);
        }
        let mut client = self.client.lock().await;
        let change = self.connected(&mut client).await?.transaction().await?;
        let given = self.exchange(&change, &code, &request).await;
        match &given {
            Ok(_) => change.commit().await?,
            Err(Refusal::WrongCode | Refusal::UsedCode | Refusal::ExpiredCode) => {
                self.tries().count(peer, Instant::now());
            }
            Err(_) => {}
        }
        given
    }

    async fn exchange(&self, change: &Transaction<'_>, digest: &[u8], request: &Request) -> Result<String, Refusal> {
        let now = (self.now)();
        let select = "select terminal, expires, serial from enrolment_code where digest = $1 for update";
        let row = change.query_opt(select, &[&digest]).await?.ok_or(Refusal::WrongCode)?;
        if SystemTime::from(row.get::<_, OffsetDateTime>(1)) <= now {
            return Err(Refusal::ExpiredCode);
        }
        if let Some(serial) = row.get::<_, Option<String>>(2) {
            let select = "select pem from certificate where serial = $1 and key = $2 and revoked is null";
            let row = change.query_opt(select, &[&serial, &request.digest()]).await?;
            return row.map(|row| row.get(0)).ok_or(Refusal::UsedCode);
        }
        let terminal: Id = row.get::<_, String>(0).parse().map_err(|_| Refusal::WrongCode)?;
        let signed = self.sign(change, &terminal, request, now).await?;
        let update = "update enrolment_code set used = $2, serial = $3 where digest = $1";
        change.execute(update, &[&digest, &date(now), &signed.serial]).await?;
        Ok(signed.pem)
    }

    /// Gives a certificate to a terminal that shows one.
    async fn by_certificate(&self, body: &[u8], shown: Option<&Shown>) -> Result<String, Refusal> {
        let now = (self.now)();
        let shown = shown.ok_or(Refusal::NoCertificate)?;
        if shown.not_after <= now {
            return Err(Refusal::ExpiredCertificate);
        }
        let ByCertificate { request } = serde_json::from_slice(body).map_err(|_| Refusal::Malformed)?;
        let request = Request::read(&request)?;
        let mut client = self.client.lock().await;
        let change = self.connected(&mut client).await?.transaction().await?;
        // The lock lets only one of two requests with the same certificate sign.
        let select = "select terminal, revoked is not null from certificate where serial = $1 for update";
        let row = change.query_opt(select, &[&shown.serial]).await?.ok_or(Refusal::UnknownCertificate)?;
        if row.get(1) {
            return Err(Refusal::RevokedCertificate);
        }
        let terminal: Id = row.get::<_, String>(0).parse().map_err(|_| Refusal::UnknownCertificate)?;
        if terminal.as_str() != shown.name {
            return Err(Refusal::UnknownCertificate);
        }
        let select = "select pem from certificate where terminal = $1 and key = $2 and serial <> $3
            and revoked is null and issued > $4 and not_after > $5 order by issued desc limit 1";
        let since = date(now - ANSWERED_AGAIN);
        let again: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
            [&terminal.as_str(), &request.digest(), &shown.serial, &since, &date(now)];
        if let Some(row) = change.query_opt(select, &again).await? {
            return Ok(row.get(0));
        }
        let select = "select count(*) from certificate where terminal = $1 and issued > $2";
        let count: i64 = change.query_one(select, &[&terminal.as_str(), &date(now - DAY)]).await?.get(0);
        if count >= RENEWALS {
            return Err(Refusal::TooMany);
        }
        let signed = self.sign(&change, &terminal, &request, now).await?;
        change.commit().await?;
        Ok(signed.pem)
    }

    async fn sign(
        &self,
        change: &Transaction<'_>,
        terminal: &Id,
        request: &Request,
        now: SystemTime,
    ) -> Result<Signed, Refusal> {
        let signed = self.ca.sign(terminal, request, self.days, now)?;
        let insert = "insert into certificate (serial, terminal, key, pem, not_after, issued)
            values ($1, $2, $3, $4, $5, $6)";
        let Signed { serial, pem, not_after } = &signed;
        let ends = date(*not_after);
        change.execute(insert, &[serial, &terminal.as_str(), &request.digest(), pem, &ends, &date(now)]).await?;
        tracing::info!(%terminal, serial, "a certificate was signed");
        Ok(signed)
    }

    async fn connected<'a>(&self, client: &'a mut Option<Client>) -> Result<&'a mut Client, Refusal> {
        let open = match client.take().filter(|client| !client.is_closed()) {
            Some(open) => open,
            None => database::connect(&self.database, "pos-fleet enrol").await?,
        };
        Ok(client.insert(open))
    }

    fn tries(&self) -> std::sync::MutexGuard<'_, WrongTries> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reason why a terminal gets no certificate.
#[derive(Debug)]
enum Refusal {
    NoSuchPath,
    NoSuchMethod,
    TooLarge,
    Malformed,
    Request(RequestError),
    TooMany,
    WrongCode,
    UsedCode,
    ExpiredCode,
    NoCertificate,
    ExpiredCertificate,
    RevokedCertificate,
    UnknownCertificate,
    Database(String),
    Ca(CaError),
}

impl Refusal {
    fn name(&self) -> &'static str {
        self.parts().1
    }

    /// Returns the status, the name for a program, and the text for a person.
    fn parts(&self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::NoSuchPath => (StatusCode::NOT_FOUND, "no-such-path", "this port has /v1/enrol and /v1/renew"),
            Self::NoSuchMethod => (StatusCode::METHOD_NOT_ALLOWED, "no-such-method", "only POST is allowed"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too-large", "the request is too large"),
            Self::Malformed => (StatusCode::BAD_REQUEST, "malformed", "the request is not the expected JSON"),
            Self::Request(RequestError::Malformed) => {
                (StatusCode::BAD_REQUEST, "request-malformed", "the certificate request is not PKCS#10 in PEM form")
            }
            Self::Request(RequestError::Kind) => {
                (StatusCode::BAD_REQUEST, "request-kind", "the key of the certificate request is not on P-256")
            }
            Self::Request(RequestError::Signature) => {
                (StatusCode::BAD_REQUEST, "request-signature", "the signature of the certificate request is wrong")
            }
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, "too-many", "too many tries; wait, then try again"),
            Self::WrongCode => (StatusCode::FORBIDDEN, "code-wrong", "there is no such code; read it again"),
            Self::UsedCode => (StatusCode::FORBIDDEN, "code-used", "the code was used already; make a new one"),
            Self::ExpiredCode => (StatusCode::FORBIDDEN, "code-expired", "the code has expired; make a new one"),
            Self::NoCertificate => {
                (StatusCode::UNAUTHORIZED, "certificate-missing", "a renewal needs the terminal's certificate")
            }
            Self::ExpiredCertificate => {
                (StatusCode::FORBIDDEN, "certificate-expired", "the certificate has expired; enrol with a new code")
            }
            Self::RevokedCertificate => {
                (StatusCode::FORBIDDEN, "certificate-revoked", "the certificate was revoked; enrol with a new code")
            }
            Self::UnknownCertificate => (
                StatusCode::FORBIDDEN,
                "certificate-unknown",
                "no terminal has this certificate; enrol with a new code",
            ),
            Self::Database(_) => (StatusCode::SERVICE_UNAVAILABLE, "database", "the server has no database now"),
            Self::Ca(_) => (StatusCode::INTERNAL_SERVER_ERROR, "ca", "the server cannot sign; its log says why"),
        }
    }
}

impl From<BodyError> for Refusal {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Malformed => Self::Malformed,
            BodyError::Request(error) => Self::Request(error),
        }
    }
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

impl From<CaError> for Refusal {
    fn from(error: CaError) -> Self {
        Self::Ca(error)
    }
}

impl From<tokio_postgres::Error> for Refusal {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error.to_string())
    }
}

impl From<DatabaseError> for Refusal {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error.to_string())
    }
}

fn refusal(refused: &Refusal) -> Response<Full<Bytes>> {
    let (status, error, text) = refused.parts();
    json(status, &Refused { error, text })
}

fn json(status: StatusCode, value: &impl Serialize) -> Response<Full<Bytes>> {
    // Texts always become JSON.
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(Full::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, const { hyper::header::HeaderValue::from_static("application/json") });
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_a_person_types_it() {
        let meant = code_digest("01ABC-DEFGH-JKMNP-QRSTV");
        for typed in ["01abcdefghjkmnpqrstv", " oIabc defgh jkmnp qrstv\n", "OlABC-DEFGH-JKMNP-QRSTV"] {
            assert_eq!(code_digest(typed), meant, "{typed}");
        }
        assert_ne!(code_digest("01ABC-DEFGH-JKMNP-QRSTW"), meant);
    }

    #[test]
    fn settings_have_no_unknown_key_and_no_short_life() {
        let text = |more: &str| {
            format!(
                r#"{{"listen": "127.0.0.1:0", "certificate": "c", "key": "k", "ca-certificate": "a", "ca-key": "b"{more}}}"#
            )
        };
        let read = |more: &str| serde_json::from_str::<Enrol>(&text(more));
        let settings = read("").unwrap();
        assert_eq!(settings.days, DAYS);
        settings.check().unwrap();
        read(r#", "days": 30"#).unwrap().check().unwrap();
        let short = read(r#", "days": 29"#).unwrap().check().unwrap_err();
        assert!(short.to_string().starts_with("enrol.days: 29"), "{short}");
        assert!(read(r#", "hours": 1"#).unwrap_err().to_string().contains("unknown field `hours`"));
    }
}
