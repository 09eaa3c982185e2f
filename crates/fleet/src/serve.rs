//! Pages for people and metrics for Prometheus. It only shows: it has a read-only connection, and no way to a terminal.
//!
//! | file | content |
//! |---|---|
//! | `guard` | who may read what |
//! | `database` | read-only connections |
//! | `queries` | the SQL |
//! | `asked` | what a request's query asks for |
//! | `pages` | the pages, without scripts |
//! | `steered` | a terminal's commands, settings and keys |
//! | `rollouts` | the page of the roll-outs |
//! | `table` | the closes as CSV |
//! | `metrics` | the metrics |
//!
//! A page shows texts of terminals. Any of them may be hostile, so the templates escape each text, and the browser is
//! told to run no script at all.

mod asked;
mod database;
mod guard;
mod metrics;
mod pages;
mod queries;
mod rollouts;
mod steered;
mod table;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use pos_fleet_terms::Id;
use serde::Deserialize;
use time::OffsetDateTime;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::database::Database;
use crate::pool::NoDatabase;
use crate::rollout_run;
use asked::{Asked, NotAsked};
use database::{Reader, read};

/// The path of the metrics.
const METRICS: &str = "/metrics";
/// The greatest number of connections. Further ones wait for a place.
const CONNECTIONS: usize = 64;
/// The time for a request's header, and for the next request of a connection.
const HEADER_DEADLINE: Duration = Duration::from_secs(15);
/// The time for an answer. It is longer than the database's own limit, so the answer says what happened.
const ANSWER_DEADLINE: Duration = Duration::from_secs(20);
/// The life of a connection. A peer that reads slowly holds its place no longer.
const CONNECTION_LIFE: Duration = Duration::from_secs(120);
/// The time in which a connection ends after a signal.
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(5);
/// The wait after a failed `accept`, for example without a free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// The longest name of a time zone, in bytes.
const LONGEST_ZONE: usize = 64;
/// The room for a request's header.
const READ_BUFFER: usize = 16 * 1024;
/// No script, no frame, nothing from another place.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Where the pages are served, and to whom.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Serve {
    /// The address. Without `user-header`, only a loopback address is allowed.
    pub listen: SocketAddr,
    /// The header in which a reverse proxy names the user. A page request without it is refused.
    pub user_header: Option<String>,
    /// The addresses of reverse proxies, in addition to this host.
    pub proxies: Vec<IpAddr>,
    /// The addresses that may read the metrics, in addition to this host and the proxies.
    pub scrapers: Vec<IpAddr>,
    /// The names of this server, in addition to `localhost`, `127.0.0.1` and `[::1]`.
    pub names: Vec<String>,
    /// The time zone of days and of shown times, as IANA names it. The database converts them.
    pub time_zone: String,
}

impl Default for Serve {
    fn default() -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 8490));
        let time_zone = "UTC".to_owned();
        Self { listen, user_header: None, proxies: Vec::new(), scrapers: Vec::new(), names: Vec::new(), time_zone }
    }
}

impl Serve {
    /// Checks what the types alone do not.
    ///
    /// # Errors
    /// Fails if the pages would be open to a network, or if the name of the header or of the time zone is none.
    pub fn check(&self) -> Result<(), ServeError> {
        match &self.user_header {
            None if !self.listen.ip().is_loopback() => Err(ServeError::Open(self.listen)),
            Some(name) if HeaderName::try_from(name.as_str()).is_err() => Err(ServeError::Header(name.clone())),
            _ if !is_zone(&self.time_zone) => Err(ServeError::Zone(self.time_zone.clone())),
            _ => Ok(()),
        }
    }
}

/// Returns whether a text has the form of a time zone's name. Only the database knows which ones there are.
fn is_zone(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
    (1..=LONGEST_ZONE).contains(&name.len()) && name.bytes().all(is_plain)
}

/// The reason why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Anybody in the network could read the pages.
    #[error(
        "serve.listen: {0} is no loopback address, so anybody could read the pages: set serve.user-header, and let a \
        reverse proxy sign the users in"
    )]
    Open(SocketAddr),
    /// The header's name.
    #[error("serve.user-header: {0:?} is no name of a header")]
    Header(String),
    /// The time zone.
    #[error("serve.time-zone: {0:?} is no time zone that the database knows: write a name such as Europe/Berlin")]
    Zone(String),
    /// The address cannot be used.
    #[error("serve.listen: {0}: {1}")]
    Listen(SocketAddr, io::Error),
}

/// What every answer needs.
struct Shared {
    settings: Serve,
    reader: Reader,
    now: fn() -> SystemTime,
}

impl Shared {
    fn now(&self) -> OffsetDateTime {
        (self.now)().into()
    }

    fn zone(&self) -> &str {
        &self.settings.time_zone
    }
}

type App = State<Arc<Shared>>;

/// Serves until it is stopped. A database that is gone is asked again with the next request. `ready` is called as soon
/// as the address accepts connections.
///
/// # Errors
/// Fails if a setting is wrong, or if the address is in use.
pub async fn run(
    settings: Serve,
    database: Database,
    now: fn() -> SystemTime,
    ready: impl FnOnce(),
    stopped: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    settings.check()?;
    let address = settings.listen;
    let listener = TcpListener::bind(address).await.map_err(|error| ServeError::Listen(address, error))?;
    ready();
    run_on(listener, settings, database, now, stopped).await
}

/// Serves on an open socket, whose address counts instead of `listen`.
///
/// # Errors
/// Fails if a setting is wrong.
pub async fn run_on(
    listener: TcpListener,
    mut settings: Serve,
    database: Database,
    now: fn() -> SystemTime,
    mut stopped: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    settings.listen = listener.local_addr().map_err(|error| ServeError::Listen(settings.listen, error))?;
    settings.check()?;
    let reader = Reader::of(database, settings.time_zone.clone());
    match reader.knows_zone().await {
        Ok(true) => {}
        Ok(false) => return Err(ServeError::Zone(settings.time_zone)),
        // The database may come later. Each connection sets the zone, so a wrong one shows no page.
        Err(error) => tracing::error!(%error, "the database does not answer yet"),
    }
    tracing::info!(address = %settings.listen, "the pages are served");
    let router = router(Arc::new(Shared { settings, reader, now }));
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let (mut served, signal) = (JoinSet::new(), stopped.clone());
    loop {
        tokio::select! {
            accepted = accept(&listener, &places) => match accepted {
                Ok((stream, peer, place)) => {
                    served.spawn(connection(stream, peer, router.clone(), signal.clone(), place));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection is not accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = served.join_next() => {}
            () = ended(&mut stopped) => break,
        }
    }
    drop(listener);
    let _ = timeout(SHUTDOWN_DEADLINE, async { while served.join_next().await.is_some() {} }).await;
    Ok(())
}

/// Waits for the signal to stop. A sender that is gone is one too.
async fn ended(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// Accepts a connection as soon as one has a place.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((stream, peer, place))
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    mut stopped: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_DEADLINE)
        .max_buf_size(READ_BUFFER)
        .serve_connection(TokioIo::new(stream), from_peer(peer, router));
    tokio::pin!(connection);
    let end = tokio::select! {
        end = connection.as_mut() => end,
        () = async {
            tokio::select! {
                () = sleep(CONNECTION_LIFE) => {}
                () = ended(&mut stopped) => {}
            }
        } => {
            connection.as_mut().graceful_shutdown();
            timeout(SHUTDOWN_DEADLINE, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = end {
        tracing::debug!(%error, %peer, "a connection ended early");
    }
}

/// Adds the peer's address to each request.
fn from_peer(
    peer: SocketAddr,
    router: Router,
) -> impl Service<hyper::Request<hyper::body::Incoming>, Response = Response, Error = Infallible, Future: Send> {
    let router = TowerToHyperService::new(router);
    service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    })
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(terminals))
        .route("/terminal/{id}", get(terminal))
        .route("/open", get(open))
        .route("/closes", get(closes))
        .route("/rollouts", get(all_rollouts))
        .route(METRICS, get(numbers))
        .route("/style.css", get(style))
        .fallback(async || Failure::Unknown)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guarded))
        .with_state(shared)
}

/// Refuses what is not allowed, limits the time, and adds the headers that protect the reader.
async fn guarded(State(shared): App, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<SocketAddr>().copied();
    let allowed = peer.ok_or(guard::Refusal::Peer).and_then(|peer| {
        shared.settings.allow(&guard::Asked {
            method: request.method(),
            path: request.uri().path(),
            authority: request.uri().authority().map(axum::http::uri::Authority::as_str),
            headers: request.headers(),
            peer,
        })
    });
    let mut response = match allowed {
        Ok(()) => match timeout(ANSWER_DEADLINE, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Failure::Gone.into_response(),
        },
        Err(refusal) => Failure::Refused(refusal).into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The reason why there is no page.
#[derive(Debug)]
enum Failure {
    /// The guard refuses.
    Refused(guard::Refusal),
    /// The query asks for what is not there.
    Asked(NotAsked),
    /// There is no such page or terminal.
    Unknown,
    /// The database does not answer.
    Gone,
}

impl From<NoDatabase> for Failure {
    fn from(gone: NoDatabase) -> Self {
        tracing::error!(error = %gone, "the database does not answer a page");
        Self::Gone
    }
}

impl From<NotAsked> for Failure {
    fn from(not: NotAsked) -> Self {
        Self::Asked(not)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, title, text) = match &self {
            Self::Refused(refusal) => (refusal.status(), "Refused", refusal.text().to_owned()),
            Self::Asked(not) => (StatusCode::BAD_REQUEST, "Not understood", not.to_string()),
            Self::Unknown => (StatusCode::NOT_FOUND, "Not found", "There is no such page or terminal.".to_owned()),
            Self::Gone => {
                let text =
                    "The database does not answer. The terminals go on without it. Load the page again in a minute.";
                (StatusCode::SERVICE_UNAVAILABLE, "No database", text.to_owned())
            }
        };
        let mut response = (status, Html(pages::plain(title, &text).into_string())).into_response();
        let headers = response.headers_mut();
        match self {
            Self::Refused(guard::Refusal::Method) => headers.insert(header::ALLOW, HeaderValue::from_static("GET")),
            Self::Gone => headers.insert(header::RETRY_AFTER, HeaderValue::from_static("30")),
            _ => None,
        };
        response
    }
}

type Page = Result<Html<String>, Failure>;

async fn terminals(State(shared): App, Asked(asked): Asked) -> Page {
    let (filter, page) = asked.terminals()?;
    let now = shared.now();
    let mut lease = shared.reader.lease().await?;
    let read = read(&mut lease).await?;
    let (found, choices) = (queries::terminals(&read, &filter, page, now).await?, queries::choices(&read).await?);
    let alarms = queries::alarms(&read, None, now).await?;
    Ok(Html(pages::terminals(&filter, page, &found, &choices, &alarms, now).into_string()))
}

async fn terminal(State(shared): App, Path(id): Path<String>) -> Page {
    let id: Id = id.parse().map_err(|_| Failure::Unknown)?;
    let now = shared.now();
    let mut lease = shared.reader.lease().await?;
    let read = read(&mut lease).await?;
    let terminal = queries::terminal(&read, &id).await?.ok_or(Failure::Unknown)?;
    let detail = queries::detail(&read, &id, now).await?;
    Ok(Html(pages::terminal(&terminal, &detail, shared.zone(), now).into_string()))
}

async fn all_rollouts(State(shared): App) -> Page {
    let mut lease = shared.reader.lease().await?;
    let read = read(&mut lease).await?;
    let shown = rollout_run::show(&read, None).await.map_err(NoDatabase::from)?;
    Ok(Html(rollouts::rollouts(&shown).into_string()))
}

async fn open(State(shared): App, Asked(asked): Asked) -> Page {
    let page = asked.page()?;
    let now = shared.now();
    let mut lease = shared.reader.lease().await?;
    let read = read(&mut lease).await?;
    let (counted, sales) = (queries::counted(&read).await?, queries::open(&read, page).await?);
    Ok(Html(pages::open(&counted, page, &sales, shared.zone(), now).into_string()))
}

async fn closes(State(shared): App, Asked(asked): Asked) -> Result<Response, Failure> {
    let (day, page) = (asked.day()?, asked.page()?);
    let mut lease = shared.reader.lease().await?;
    let read = read(&mut lease).await?;
    if !asked.is_table()? {
        let closes = queries::closes(&read, day, queries::Part::page(page)).await?;
        let sums = queries::day_of_fleet(&read, day, shared.now()).await?;
        return Ok(Html(pages::closes(day, page, &closes, &sums, shared.zone()).into_string()).into_response());
    }
    let closes = queries::closes(&read, day, queries::Part::whole()).await?;
    if closes.more {
        return Err(NotAsked::TooMany.into());
    }
    let name = day.map_or_else(|| "closes.csv".to_owned(), |day| format!("closes-{day}.csv"));
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, table::closes(&closes.rows)).into_response())
}

async fn numbers(State(shared): App) -> Result<Response, Failure> {
    let now = shared.now();
    let mut lease = shared.reader.lease().await?;
    let read = read(&mut lease).await?;
    let fleet = queries::fleet(&read, now).await?;
    let text = metrics::text(fleet, now).map_err(|_| Failure::Gone)?;
    Ok(([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response())
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("serve/style.css")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_open_to_a_network_only_behind_a_proxy() {
        let with = |listen: &str, header: Option<&str>| {
            let serve =
                Serve { listen: listen.parse().unwrap(), user_header: header.map(str::to_owned), ..Serve::default() };
            serve.check().map_err(|error| error.to_string())
        };
        assert_eq!(Serve::default().listen.to_string(), "127.0.0.1:8490");
        for listen in ["127.0.0.1:8490", "127.9.9.9:1", "[::1]:8490"] {
            assert_eq!(with(listen, None), Ok(()), "{listen}");
        }
        for listen in ["0.0.0.0:8490", "[::]:8490", "192.0.2.1:8490"] {
            assert!(with(listen, None).unwrap_err().contains("set serve.user-header"), "{listen}");
            assert_eq!(with(listen, Some("X-Remote-User")), Ok(()), "{listen}");
        }
        for zone in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+3"] {
            assert!(Serve { time_zone: zone.to_owned(), ..Serve::default() }.check().is_ok(), "{zone}");
        }
        for zone in ["", "Europe Berlin", "'", &"x".repeat(65)] {
            let wrong = Serve { time_zone: zone.to_owned(), ..Serve::default() };
            assert!(wrong.check().unwrap_err().to_string().starts_with("serve.time-zone: "), "{zone}");
        }
        for name in ["", "x user", "x:user"] {
            assert!(with("127.0.0.1:1", Some(name)).unwrap_err().contains("is no name of a header"), "{name}");
        }
    }

    #[test]
    fn settings_have_their_names_and_no_others() {
        let read = |text: &str| serde_json::from_str::<Serve>(text);
        let serve =
            read(r#"{ "user-header": "x-user", "proxies": ["10.0.0.1"], "names": ["fleet.example"] }"#).unwrap();
        assert_eq!(serve.time_zone, "UTC");
        assert_eq!(read(r#"{ "time-zone": "Europe/Berlin" }"#).unwrap().time_zone, "Europe/Berlin");
        assert_eq!((serve.user_header.as_deref(), serve.proxies.len(), serve.listen.port()), (Some("x-user"), 1, 8490));
        assert!(read(r#"{ "user_header": "x-user" }"#).is_err());
    }
}
