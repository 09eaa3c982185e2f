//! The port of cloud tills: TLS, limits of connections, header, body and time, and the routes.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use pos_broker::tls;
use pos_fleet_terms::{CommandKind, Id};
use pos_till_api::{ProblemType, routes};
use rustls::ServerConfig;
use rustls::crypto::ring as provider;
use rustls::server::NoServerSessionStorage;
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_rustls::TlsAcceptor;

use super::answer::{Judgement, Refusal, with_cancel};
use super::asked::{LARGEST_BODY, SaleAsked, checked_reference, object, wait_s};
use super::connections::{PROGRAM, hear_results, pool};
use super::sales::{self, CloudSale, NotDone, SalePlace};
use super::tokens::{self, CloudCaller};
use super::{CloudTills, CloudTillsError, status};
use crate::database::{Database, connect};
use crate::pool::{ClientLease, ClientPool};
use crate::signing::SigningKey;
use crate::store;
use crate::wrong_tries::{WrongTries, network};

/// The greatest number of connections, in all and from one address. Further ones wait, or are closed.
const CONNECTIONS: (usize, u32) = (512, 64);
/// The wrong tokens in a minute from one address.
const WRONG_TOKENS: u32 = 10;
/// The requests of one token at once.
const REQUESTS: u32 = 32;
/// The time for the handshake, and for a body.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time for a request's header, and for the next request of a connection.
const HEADER_DEADLINE: Duration = Duration::from_secs(15);
/// The life of a connection. The request that is answered then is answered to its end.
const CONNECTION_LIFE: Duration = Duration::from_secs(300);
/// The time for the last answer of a connection: the longest wait, and a little more.
const LAST_ANSWER: Duration = Duration::from_secs(150);
/// The time in which a connection ends after a signal.
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(5);
/// The wait after a failed `accept`.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// The room for a request's header.
const READ_BUFFER: usize = 16 * 1024;
/// The wait for the terminal's first word about a command. A client repeats its request after 15 s.
const FIRST_WORD: Duration = Duration::from_secs(8);
/// The time between two looks without news: an entry of a journal is no news, and a token may be revoked.
const LOOK: Duration = Duration::from_secs(2);
/// The pause before the next look, if news were missed.
const PAUSE: Duration = Duration::from_millis(100);
/// The number of results that may wait for a request that is slow.
const NEWS: usize = 1024;

/// What every answer needs.
struct CloudShared {
    org: Id,
    keys: HashMap<String, SigningKey>,
    pool: ClientPool,
    /// The ids of the commands with a new result.
    results: broadcast::Sender<String>,
    wrong: Mutex<WrongTries>,
    /// The requests of each token, and the connections of each address.
    busy: Mutex<HashMap<String, u32>>,
    peers: Mutex<HashMap<IpAddr, u32>>,
    now: fn() -> SystemTime,
}

type Cloud = State<Arc<CloudShared>>;

/// Serves cloud tills until it is stopped. `ready` is called as soon as the address accepts connections.
///
/// # Errors
/// Fails if a setting or a file is wrong, or if the address or the database cannot be used.
pub async fn run(
    settings: CloudTills,
    (org, database): (Id, Database),
    now: fn() -> SystemTime,
    ready: impl FnOnce(),
    stopped: watch::Receiver<bool>,
) -> Result<(), CloudTillsError> {
    let address = settings.listen;
    let listener = TcpListener::bind(address).await.map_err(|error| CloudTillsError::Listen(address, error))?;
    run_on(listener, &settings, (org, database), now, ready, stopped).await
}

/// Serves on an open socket, whose address counts instead of `listen`.
///
/// # Errors
/// The same as [`run`].
pub async fn run_on(
    listener: TcpListener,
    settings: &CloudTills,
    (org, database): (Id, Database),
    now: fn() -> SystemTime,
    ready: impl FnOnce(),
    mut stopped: watch::Receiver<bool>,
) -> Result<(), CloudTillsError> {
    let acceptor = TlsAcceptor::from(Arc::new(server_tls(settings)?));
    let keys = settings.load_keys()?;
    // This service does not own the database, so another one gives it its shape.
    store::check_shape(&connect(&database, PROGRAM).await?).await?;
    let (results, _) = broadcast::channel(NEWS);
    let news = tokio::spawn(hear_results(database.clone(), results.clone()));
    let shared = Arc::new(CloudShared {
        org,
        keys,
        pool: pool(database),
        results,
        wrong: Mutex::new(WrongTries::new(WRONG_TOKENS, None, Instant::now())),
        busy: Mutex::default(),
        peers: Mutex::default(),
        now,
    });
    let router = router(Arc::clone(&shared));
    tracing::info!(tills = shared.keys.len(), "cloud tills are served");
    ready();
    let places = Arc::new(Semaphore::new(CONNECTIONS.0));
    let (mut served, signal) = (JoinSet::new(), stopped.clone());
    loop {
        let accepted = async {
            // The semaphore is never closed, so there is a permit sooner or later.
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        tokio::select! {
            (place, accepted) = accepted => match (place, accepted) {
                (Ok(place), Ok((stream, peer))) => {
                    let (shared, acceptor, router) = (Arc::clone(&shared), acceptor.clone(), router.clone());
                    served.spawn(connection(shared, (stream, peer), acceptor, router, signal.clone(), place));
                }
                (_, Err(error)) => {
                    tracing::warn!(%error, "a connection of a cloud till is not accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
                (Err(_), _) => break,
            },
            Some(_) = served.join_next() => {}
            () = ended(&mut stopped) => break,
        }
    }
    drop(listener);
    let _ = timeout(SHUTDOWN_DEADLINE, async { while served.join_next().await.is_some() {} }).await;
    news.abort();
    Ok(())
}

fn server_tls(settings: &CloudTills) -> Result<ServerConfig, CloudTillsError> {
    let served = |error: rustls::Error| CloudTillsError::Served(error.to_string());
    let builder = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(served)?;
    let (certificates, key) = (tls::certificates(&settings.certificate)?, tls::private_key(&settings.key_file)?);
    let mut config = builder.with_no_client_auth().with_single_cert(certificates, key).map_err(served)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(config)
}

/// Waits for the signal to stop. A sender that is gone is one too.
async fn ended(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// One of several equal things in use by one caller, until it is dropped.
struct Share<'a, K: std::hash::Hash + Eq + Clone> {
    of: &'a Mutex<HashMap<K, u32>>,
    key: K,
}

impl<'a, K: std::hash::Hash + Eq + Clone> Share<'a, K> {
    fn take(of: &'a Mutex<HashMap<K, u32>>, key: K, most: u32) -> Option<Self> {
        let mut counts = locked(of);
        let count = counts.entry(key.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Self { of, key })
    }
}

impl<K: std::hash::Hash + Eq + Clone> Drop for Share<'_, K> {
    fn drop(&mut self) {
        let mut counts = locked(self.of);
        if let Some(count) = counts.get_mut(&self.key) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn connection(
    shared: Arc<CloudShared>,
    (stream, peer): (TcpStream, SocketAddr),
    acceptor: TlsAcceptor,
    router: Router,
    mut stopped: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
) {
    let Some(_share) = Share::take(&shared.peers, network(peer.ip()), CONNECTIONS.1) else {
        return tracing::debug!(%peer, "too many connections from one address");
    };
    let tls = match timeout(PATIENCE, acceptor.accept(stream)).await {
        Ok(Ok(tls)) => tls,
        // Anyone can begin a handshake and leave it, so this is no warning.
        Ok(Err(error)) => return tracing::debug!(%error, %peer, "no TLS at the port of cloud tills"),
        Err(_) => return tracing::debug!(%peer, "no TLS in time at the port of cloud tills"),
    };
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        hyper::service::Service::call(&router, request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_DEADLINE)
        .max_buf_size(READ_BUFFER)
        .serve_connection(TokioIo::new(tls), service);
    tokio::pin!(connection);
    let end = tokio::select! {
        end = connection.as_mut() => end,
        () = sleep(CONNECTION_LIFE) => {
            connection.as_mut().graceful_shutdown();
            timeout(LAST_ANSWER, connection).await.unwrap_or(Ok(()))
        }
        () = ended(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            timeout(SHUTDOWN_DEADLINE, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = end {
        tracing::debug!(%error, %peer, "a connection of a cloud till ended early");
    }
}

fn router(shared: Arc<CloudShared>) -> Router {
    Router::new()
        .route("/terminals/{terminal}/v1/sales", post(begin))
        .route("/terminals/{terminal}/v1/sales/{reference}", get(show))
        .route("/terminals/{terminal}/v1/sales/{reference}/cancel", post(cancel))
        .route("/terminals/{terminal}/v1/sales/{reference}/confirm", post(confirm))
        .route("/terminals/{terminal}/v1/latest", get(latest))
        .route("/terminals/{terminal}/v1/status", get(shown_status))
        .fallback(other)
        .method_not_allowed_fallback(other)
        .with_state(shared)
}

/// A request with its caller, who may act at its terminal.
struct Asking {
    caller: CloudCaller,
    terminal: Id,
}

impl FromRequestParts<Arc<CloudShared>> for Asking {
    type Rejection = Failed;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<CloudShared>) -> Result<Self, Failed> {
        let peer = parts.extensions.get::<SocketAddr>().map(SocketAddr::ip);
        let peer = peer.ok_or_else(|| Failed(Refusal::of(ProblemType::Forbidden, "the caller has no address")))?;
        let token = bearer(parts).unwrap_or_default();
        if !locked(&shared.wrong).may_try(peer, Instant::now()) {
            let why = "too many wrong tokens came from this address; wait a minute";
            return Err(Failed(Refusal::of(ProblemType::TooManyRequests, why).again_in(60)));
        }
        let caller = tokens::caller(&*shared.lease().await?, token).await.map_err(NotDone::from)?;
        let Some(caller) = caller else {
            locked(&shared.wrong).count(peer, Instant::now());
            let why = "the token is missing, unknown or revoked; pos-fleet till-token makes one";
            return Err(Failed(Refusal::of(ProblemType::Unauthorized, why)));
        };
        let name = parts.uri.path().split('/').nth(2).unwrap_or_default();
        let terminal = Id::from_str(name).ok().filter(|_| caller.terminals.iter().any(|known| known == name));
        let Some(terminal) = terminal else {
            let why = format!("the token of {} is not for the terminal {}", caller.till, printable(name));
            return Err(Failed(Refusal::of(ProblemType::Forbidden, &why)));
        };
        let till = query(parts.uri.query(), "till");
        if till.is_some_and(|till| till != caller.till) {
            let why = format!("the token is for the till {}", caller.till);
            return Err(Failed(Refusal::of(ProblemType::Forbidden, &why).field("till")));
        }
        if query(parts.uri.query(), "training").is_some_and(|training| training != "false") {
            let why = "a cloud till has no training transactions";
            return Err(Failed(Refusal::of(ProblemType::TrainingOff, why).field("training")));
        }
        for name in ["pos-callback", "pos-session", "pos-supervisor"] {
            if parts.headers.contains_key(name) {
                let why = format!("the header {name} is for the terminal itself");
                return Err(Failed(Refusal::not_for_cloud_tills(&why)));
            }
        }
        Ok(Self { caller, terminal })
    }
}

fn bearer(parts: &Parts) -> Option<&str> {
    let value = parts.headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Shortens a foreign text for a sentence.
fn printable(text: &str) -> String {
    text.chars().filter(|it| it.is_ascii_graphic()).take(Id::LONGEST).collect()
}

fn query(query: Option<&str>, name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    fields.find(|(field, _)| field == name).map(|(_, value)| value.into_owned())
}

/// A refusal as an answer.
struct Failed(Refusal);

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl From<NotDone> for Failed {
    fn from(not: NotDone) -> Self {
        match not {
            NotDone::Refused(refusal) => Self(refusal),
            NotDone::NoDatabase(error) => {
                tracing::error!(%error, "the database does not answer a cloud till");
                // The commit may have been carried out, so this is no refusal.
                let why = "the server has no database now, so the request may have been carried out: ask again";
                Self(Refusal::of(ProblemType::NoAnswer, why).again_in(1))
            }
        }
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let Self(refusal) = self;
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = Response::new(Body::from(refusal.body()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = refusal.retry_after_s() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

fn json_answer(status: u16, value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl CloudShared {
    async fn lease(&self) -> Result<ClientLease, Failed> {
        self.pool.lease().await.map_err(|error| NotDone::from(error).into())
    }

    fn share(&self, caller: &CloudCaller) -> Result<Share<'_, String>, Failed> {
        Share::take(&self.busy, caller.token.clone(), REQUESTS).ok_or_else(|| {
            let why = format!("the till has {REQUESTS} requests at once");
            Failed(Refusal::of(ProblemType::TooManyRequests, &why).again_in(1))
        })
    }

    fn signer(&self, caller: &CloudCaller) -> Result<(&Id, &SigningKey), Failed> {
        let key = self.keys.get(&caller.till).ok_or_else(|| {
            let why = format!("the server has no key for the till {}", caller.till);
            Failed(Refusal::of(ProblemType::Forbidden, &why))
        })?;
        Ok((&self.org, key))
    }

    /// Looks until the answer is there, or the time has passed. Ends with the last look.
    async fn until(
        &self,
        caller: &CloudCaller,
        place: &SalePlace,
        until: Instant,
        is_enough: impl Fn(&CloudSale) -> bool,
    ) -> Result<CloudSale, Failed> {
        let mut results = self.results.subscribe();
        loop {
            let client = self.lease().await?;
            let sale = sales::show(&client, place, (self.now)()).await?;
            if is_enough(&sale) || Instant::now() >= until {
                return Ok(sale);
            }
            if !tokens::is_valid(&client, &caller.token).await.map_err(NotDone::from)? {
                return Err(Failed(Refusal::of(ProblemType::Unauthorized, "the token was revoked")));
            }
            drop(client);
            news(&mut results, sale.command.as_deref(), until).await;
        }
    }
}

/// Waits for a result of this command, or for the time of the next look.
async fn news(results: &mut broadcast::Receiver<String>, command: Option<&str>, until: Instant) {
    let told = async {
        while let Ok(id) = results.recv().await {
            if Some(id.as_str()) == command {
                return;
            }
        }
        // Some were missed, so a look tells more than they did. It still takes its time.
        sleep(PAUSE).await;
    };
    let _ = timeout_at(until.min(Instant::now() + LOOK), told).await;
}

async fn read_body(request: Request) -> Result<Vec<u8>, Failed> {
    let of_json = |value: &HeaderValue| {
        let media = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        media.eq_ignore_ascii_case("application/json")
    };
    if !request.headers().get(header::CONTENT_TYPE).is_some_and(of_json) {
        return Err(Refusal::of(ProblemType::MediaType, "the body must be application/json").into());
    }
    match timeout(PATIENCE, to_bytes(request.into_body(), LARGEST_BODY)).await {
        Ok(Ok(bytes)) => Ok(bytes.to_vec()),
        Ok(Err(error)) => {
            let is_large =
                std::error::Error::source(&error).is_some_and(|it| it.is::<http_body_util::LengthLimitError>());
            Err(match is_large {
                true => Refusal::of(ProblemType::TooLarge, &format!("a body has at most {LARGEST_BODY} bytes")),
                false => Refusal::of(ProblemType::Malformed, "the body ended early"),
            }
            .into())
        }
        Err(_) => Err(Refusal::of(ProblemType::Timeout, "the body came too slowly").into()),
    }
}

impl Asking {
    fn place(&self, reference: &str) -> Result<SalePlace, Failed> {
        let reference = checked_reference(reference)?.to_owned();
        Ok(SalePlace { till: self.caller.till.clone(), terminal: self.terminal.clone(), reference })
    }
}

async fn begin(State(shared): Cloud, asking: Asking, request: Request) -> Result<Response, Failed> {
    let _share = shared.share(&asking.caller)?;
    let asked = SaleAsked::read(&read_body(request).await?)?;
    let place = asking.place(&asked.reference)?;
    let signer = shared.signer(&asking.caller)?;
    let begun = {
        let mut client = shared.lease().await?;
        sales::begin(&mut client, signer, &place, &asked, (shared.now)()).await?
    };
    let until = Instant::now() + FIRST_WORD;
    let mut sale = shared.until(&asking.caller, &place, until, |sale| sale.judgement != Judgement::Unknown).await?;
    if sale.judgement == Judgement::Unknown {
        // What was not offered in this time is not offered any more, so the till need not wait for the expiry.
        let why = "it was not sent to the terminal in time";
        if sales::withdraw(&*shared.lease().await?, &sale, why).await? {
            sale.judgement = Judgement::NotBegun(why.to_owned());
        }
    }
    let (status, view) = sales::begun(&place, &begun, sale)?;
    Ok(json_answer(status, &Value::Object(view)))
}

async fn show(
    State(shared): Cloud,
    asking: Asking,
    Path((_, reference)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Failed> {
    let _share = shared.share(&asking.caller)?;
    let wait = wait_s(query(request.uri().query(), "wait-s").as_deref())?;
    let place = asking.place(&reference)?;
    let until = Instant::now() + Duration::from_secs(wait.into());
    let sale = shared.until(&asking.caller, &place, until, |sale| sale.judgement.ends_a_wait()).await?;
    Ok(json_answer(200, &Value::Object(sales::shown(&place, sale.judgement)?)))
}

async fn latest(State(shared): Cloud, asking: Asking) -> Result<Response, Failed> {
    let _share = shared.share(&asking.caller)?;
    let client = shared.lease().await?;
    for reference in sales::latest(&client, &asking.caller.till, &asking.terminal).await? {
        let place = asking.place(&reference)?;
        match sales::show(&client, &place, (shared.now)()).await?.judgement {
            Judgement::Refused(_) | Judgement::NotBegun(_) => {}
            judgement => return Ok(json_answer(200, &Value::Object(sales::shown(&place, judgement)?))),
        }
    }
    let why = format!("till {} has begun no transaction at {}", asking.caller.till, asking.terminal);
    Err(Refusal::of(ProblemType::NoSuchSale, &why).into())
}

async fn cancel(
    State(shared): Cloud,
    asking: Asking,
    Path((_, reference)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Failed> {
    let _share = shared.share(&asking.caller)?;
    object(&read_body(request).await?)?;
    let place = asking.place(&reference)?;
    let mut client = shared.lease().await?;
    sales::cancel_unsent(&mut client, &place, (shared.now)()).await?;
    let sale = sales::show(&client, &place, (shared.now)()).await?;
    drop(client);
    if sale.judgement.has_ended() || sale.judgement.proves_nothing_began() {
        return Ok(json_answer(200, &Value::Object(with_cancel(sales::shown(&place, sale.judgement)?))));
    }
    let view = command_about(&shared, &asking, &place, (CommandKind::Cancel, Map::new())).await?;
    Ok(json_answer(200, &Value::Object(with_cancel(view))))
}

async fn confirm(
    State(shared): Cloud,
    asking: Asking,
    Path((_, reference)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Failed> {
    let _share = shared.share(&asking.caller)?;
    let body = object(&read_body(request).await?)?;
    let place = asking.place(&reference)?;
    let client = shared.lease().await?;
    let sale = sales::show(&client, &place, (shared.now)()).await?;
    drop(client);
    if sale.judgement.proves_nothing_began() {
        return Err(sales::shown(&place, sale.judgement).err().map_or_else(|| Failed(place.no_answer()), Failed));
    }
    let view = command_about(&shared, &asking, &place, (CommandKind::Confirm, body)).await?;
    Ok(json_answer(200, &Value::Object(view)))
}

/// Gives a command about a transaction, and waits for its answer: the transaction.
async fn command_about(
    shared: &CloudShared,
    asking: &Asking,
    place: &SalePlace,
    command: (CommandKind, Map<String, Value>),
) -> Result<Map<String, Value>, Failed> {
    let signer = shared.signer(&asking.caller)?;
    let id = {
        let mut client = shared.lease().await?;
        sales::give_about(&mut client, signer, place, command, (shared.now)()).await?
    };
    let until = Instant::now() + FIRST_WORD;
    let mut results = shared.results.subscribe();
    loop {
        let client = shared.lease().await?;
        let known = sales::result_of(&client, &id).await?;
        // The journal is not asked here: its entries may be older than the command.
        match super::answer::judge(&known, None) {
            Judgement::Sale(view) if known.is_final => return Ok(view),
            Judgement::Refused(refusal) => return Err(refusal.into()),
            Judgement::NotBegun(why) => {
                let detail = format!("the transaction {} may go on: {why}", place.reference);
                let refusal = Refusal::of(ProblemType::NoAnswer, &detail).about(&place.reference);
                return Err(refusal.of_till(&place.till).again_in(1).into());
            }
            _ if Instant::now() >= until => return Err(place.no_answer().into()),
            _ => {}
        }
        drop(client);
        news(&mut results, Some(&id), until).await;
    }
}

async fn shown_status(State(shared): Cloud, asking: Asking) -> Result<Response, Failed> {
    let _share = shared.share(&asking.caller)?;
    let client = shared.lease().await?;
    let known = status::known(&client, &asking.terminal).await.map_err(NotDone::from)?.unwrap_or_default();
    let is_busy = match sales::latest(&client, &asking.caller.till, &asking.terminal).await?.first() {
        Some(reference) => {
            let sale = sales::look(&*client, &asking.place(reference)?).await?;
            sale.is_some_and(|sale| matches!(&sale.judgement, Judgement::Sale(_)) && !sale.judgement.has_ended())
        }
        None => false,
    };
    let mut shown = known.shown(&asking.caller.till, is_busy, (shared.now)());
    if shown["asOf"] == json!("") {
        shown["attention"][0]["text"] = json!("The server has never heard of this terminal.");
    }
    Ok(json_answer(200, &shown))
}

/// Refuses every other request: those of the terminal's interface by name.
async fn other(_: Asking, request: Request) -> Response {
    let path = request.uri().path();
    let at_terminal = path.strip_prefix("/terminals/").and_then(|rest| rest.find('/').map(|at| &rest[at..]));
    let known = |method: &str| at_terminal.is_some_and(|path| routes::find(method, path).is_some());
    let refusal = if known(request.method().as_str()) {
        let why = format!("{} {} is answered at the terminal only", request.method(), at_terminal.unwrap_or_default());
        Refusal::not_for_cloud_tills(&printable_line(&why))
    } else if [Method::GET, Method::POST, Method::DELETE].iter().any(|method| known(method.as_str())) {
        Refusal::of(ProblemType::MethodNotAllowed, "this path has another method")
    } else {
        Refusal::of(ProblemType::NotFound, "the paths are those of the terminal's interface, after /terminals/NAME")
    };
    Failed(refusal).into_response()
}

fn printable_line(text: &str) -> String {
    text.chars().filter(|it| it.is_ascii_graphic() || *it == ' ').take(200).collect()
}
