//! The HTTP interface for programs that act as the customer, as the technician, or as a fault. It has no token, because
//! it listens on loopback alone and reaches only simulated devices. A page in a browser cannot use it: a change needs
//! JSON, and there is no answer to a preflight request.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HOST};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::acts;
use crate::opening::World;

/// The longest body; a script of a person is shorter.
const LONGEST_BODY: usize = 64 * 1024;
/// The time limit for a head and for a body.
const READ_WITHIN: Duration = Duration::from_secs(10);
/// The pause between two looks at the programs.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The number of connections at a time.
const MOST_CONNECTIONS: usize = 64;

/// A refusal: status, code and sentence.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
}

impl Problem {
    pub(crate) fn new(status: u16, code: &'static str, detail: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, code, detail: detail.into() }
    }

    fn malformed(detail: impl Into<String>) -> Self {
        Self::new(400, "malformed", detail)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::new(500, "fault", error.to_string())
    }
}

/// An answer: status and JSON.
pub(crate) type Answer = Result<(u16, Value), Problem>;

/// Serves until one of the programs ends without being asked, and returns its fault.
pub(crate) async fn serve(listener: &TcpListener, world: &Arc<World>) -> io::Error {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return io::ErrorKind::BrokenPipe.into() };
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => return error,
            },
            fault = fault(world) => return fault,
        };
        let world = Arc::clone(world);
        tokio::spawn(async move {
            let service = service_fn(|request| answered(request, Arc::clone(&world)));
            let mut server = hyper::server::conn::http1::Builder::new();
            let serving = server.timer(TokioTimer::new()).header_read_timeout(READ_WITHIN);
            // A client that goes away early gets no answer.
            let _ = serving.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}

/// Waits until one of the programs ends without being asked. A program that a request starts again is not looked at.
async fn fault(world: &World) -> io::Error {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        for program in [&world.agent, &world.front] {
            if let Some(fault) = program.try_lock().ok().and_then(|mut program| program.fault()) {
                return fault;
            }
        }
    }
}

async fn answered(request: Request<Incoming>, world: Arc<World>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, body, kind) = match answer(request, &world).await {
        Ok((status, body)) => (StatusCode::from_u16(status).unwrap_or_default(), body, "application/json"),
        Err(Problem { status, code, detail }) => {
            let title = status.canonical_reason();
            let body = json!({ "type": format!("urn:pos-sandbox:problem:{code}"), "title": title,
                               "status": status.as_u16(), "code": code, "detail": detail });
            (status, body, "application/problem+json")
        }
    };
    let mut response = Response::new(Full::new(match status {
        StatusCode::NO_CONTENT => Bytes::new(),
        _ => Bytes::from(format!("{body}\n")),
    }));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, hyper::header::HeaderValue::from_static("GET, POST, PUT, DELETE"));
    }
    Ok(response)
}

async fn answer(request: Request<Incoming>, world: &World) -> Answer {
    // Another name for loopback would let a web page reach this port as its own origin.
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !["127.0.0.1", "localhost"].contains(&host.split(':').next().unwrap_or_default()) {
        return Err(Problem::new(421, "host", "ask for 127.0.0.1 or localhost"));
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    match (&method, path.as_str()) {
        (&Method::GET, "/simulator") => Ok((200, acts::shop(world).await)),
        (&Method::GET, "/simulator/cards") => Ok((200, acts::deck())),
        (&Method::POST, "/simulator/card") => acts::present(world, read(request).await?).await,
        (&Method::DELETE, "/simulator/card") => acts::take_back(world),
        (&Method::PUT, "/simulator/auto") => acts::auto(world, &read(request).await?),
        (&Method::POST, "/simulator/line") => acts::line(world, &read(request).await?).await,
        (&Method::POST, "/simulator/paper") => acts::paper(world, &read(request).await?),
        (&Method::POST, "/simulator/power") => acts::power(world, &read(request).await?).await,
        (&Method::GET, "/simulator/ledger") => Ok((200, acts::ledger(world))),
        (&Method::GET, "/simulator/receipts") => Ok((200, json!(world.shop.printer.receipts()))),
        (&Method::GET, "/simulator/pairing") => acts::pairing(world).await,
        (&Method::POST, "/simulator/pairing") => acts::pair(world, &read(request).await?).await,
        (_, path) if acts::PATHS.contains(&path) => {
            Err(Problem::new(405, "method-not-allowed", format!("{path} has no {method}")))
        }
        _ => Err(Problem::new(404, "not-found", format!("there is no {path}; GET /simulator lists the paths"))),
    }
}

/// Reads the body of a change.
async fn read<T: DeserializeOwned>(request: Request<Incoming>) -> Result<T, Problem> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return Err(Problem::new(415, "media-type", "send Content-Type: application/json"));
    }
    let body = timeout(READ_WITHIN, Limited::new(request.into_body(), LONGEST_BODY).collect()).await;
    let body = body.map_err(|_| Problem::new(408, "timeout", "the body did not arrive within 10 s"))?;
    let body = body.map_err(|error| Problem::new(413, "too-large", error.to_string()))?.to_bytes();
    serde_json::from_slice(&body).map_err(|error| Problem::malformed(error.to_string()))
}
