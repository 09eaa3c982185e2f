//! A stand-in for the agent. It serves the part of the agent's interface that the front uses, on a Unix socket, as in
//! the manual (`docs/src/till-http.md`). It records the requests.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::process::Running;

/// The session of the operator with the right PIN.
pub(crate) const SESSION: &str = "5e5510n";
/// The tills that the front may act for.
const TILLS: [&str; 2] = ["local", "kasse-2"];

/// Starts the front with a new stand-in.
pub(crate) async fn front(more: &str) -> (Running, StandIn) {
    let folder = tempfile::tempdir().unwrap();
    let agent = StandIn::begin(folder.path());
    (Running::begin(folder, more).await, agent)
}

/// One request as received.
#[derive(Clone, Debug)]
pub(crate) struct HeardRequest {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The stand-in, which runs until it is dropped or stopped.
pub(crate) struct StandIn {
    pub(crate) socket: PathBuf,
    state: Arc<State>,
    served: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct State {
    heard: Mutex<Vec<HeardRequest>>,
    /// The events with their ids, from 1.
    events: watch::Sender<Vec<String>>,
    operators: Mutex<bool>,
    /// The number of streams so far. Each further stream sends a smaller `leftS`, as the agent does.
    streams: std::sync::atomic::AtomicUsize,
    /// The number of requests for a receipt that fail first.
    receipts_fail: Mutex<usize>,
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

impl StandIn {
    pub(crate) fn begin(folder: &Path) -> Self {
        Self::begin_again(folder, Arc::default())
    }

    fn begin_again(folder: &Path, state: Arc<State>) -> Self {
        let socket = folder.join("till.sock");
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let kept = Arc::clone(&state);
        let served = tokio::spawn(async move {
            // The connections end with this task.
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let state = Arc::clone(&kept);
                let service = service_fn(move |request| {
                    let state = Arc::clone(&state);
                    async move { Ok::<_, Infallible>(answer(state, request).await) }
                });
                connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { socket, state, served }
    }

    /// Stops as if by `kill -9`: connections break off, and the socket has no listener.
    pub(crate) fn stop(self) -> Stopped {
        self.served.abort();
        std::fs::remove_file(&self.socket).unwrap();
        Stopped { folder: self.socket.parent().unwrap().to_owned(), state: Arc::clone(&self.state) }
    }

    pub(crate) fn has_operators(&self) {
        *self.state.operators.lock().unwrap() = true;
    }

    /// Returns the requests of callers, without the front's own requests.
    pub(crate) fn heard(&self) -> Vec<HeardRequest> {
        let own = ["/v1/events", "/v1/operators", "/v1/sessions/current"];
        let heard = self.state.heard.lock().unwrap();
        // The front itself asks which tills the agent names. A request from the page has a mark, and a request from a
        // till names the till.
        let of_itself = |it: &&HeardRequest| it.target == "/v1/status" && !it.headers.contains_key("pos-page");
        let others = heard.iter().filter(|it| !own.contains(&it.target.as_str()) && !of_itself(it));
        others.cloned().collect()
    }

    /// Returns the number of all requests, including the front's own.
    pub(crate) fn asked(&self) -> usize {
        self.state.heard.lock().unwrap().len()
    }

    /// Lets this many requests for a receipt fail.
    pub(crate) fn fails_receipts(&self, times: usize) {
        *self.state.receipts_fail.lock().unwrap() = times;
    }

    /// Adds an event of a till.
    pub(crate) fn event(&self, till: &str, step: &str) {
        self.event_of(till, step, json!({ "till": till, "leftS": 9999 }));
    }

    /// Adds an event of a till with this transaction.
    pub(crate) fn event_of(&self, till: &str, step: &str, sale: Value) {
        self.push(step, |number| json!({ "till": till, "reference": number.to_string(), "step": step, "sale": sale }));
    }

    /// Adds an event that changes a transaction.
    pub(crate) fn sale(&self, sale: &Value) {
        let step = sale["state"].as_str().unwrap();
        self.push(
            step,
            |_| json!({ "till": sale["till"], "reference": sale["reference"], "step": step, "sale": sale }),
        );
    }

    fn push(&self, step: &str, data: impl FnOnce(usize) -> Value) {
        self.state.events.send_modify(|events| {
            let number = events.len() + 1;
            events.push(format!("id: e-{number}\nevent: {step}\ndata: {}\n\n", data(number)));
        });
    }

    /// Waits until this many streams of events are open.
    pub(crate) async fn is_listened_to(&self, times: usize) {
        while self.state.events.receiver_count() < times {
            tokio::task::yield_now().await;
        }
    }
}

/// A stand-in that was stopped.
pub(crate) struct Stopped {
    folder: PathBuf,
    state: Arc<State>,
}

impl Stopped {
    pub(crate) fn begin(self) -> StandIn {
        StandIn::begin_again(&self.folder, self.state)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.served.abort();
    }
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let target = head.uri.to_string();
    let heard = HeardRequest { method: head.method.clone(), target, headers: head.headers.clone(), body: body.clone() };
    state.heard.lock().unwrap().push(heard);
    let session = head.headers.get("pos-session");
    let path = head.uri.path();
    if session.is_some_and(|session| session != SESSION) {
        return problem(401, "session-ended");
    }
    let till = form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes()).find(|(name, _)| name == "till");
    if till.is_some_and(|(_, till)| !TILLS.contains(&till.as_ref())) {
        return problem(403, "forbidden");
    }
    match (head.method.as_str(), path) {
        ("GET", "/v1/events") => events(&state, &head.headers),
        ("GET", "/v1/operators") if *state.operators.lock().unwrap() => json_of(
            200,
            &json!({ "required": true, "operators": [{ "name": "Anna", "role": "cashier", "lockedS": 0 }] }),
        ),
        ("POST", "/v1/sessions") => {
            let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
            match asked["pin"].as_str() {
                Some("1234") => {
                    let said = json!({ "session": SESSION, "operator": "Anna", "role": "cashier", "idleLockS": 300 });
                    json_of(201, &said)
                }
                _ => problem(401, "wrong-pin"),
            }
        }
        ("GET", "/v1/sessions/current") if session.is_some() => {
            json_of(200, &json!({ "operator": "Anna", "role": "cashier" }))
        }
        ("DELETE", "/v1/sessions/current") => Response::builder().status(204).body(whole("")).unwrap(),
        ("GET", "/v1/status") => {
            let of = |till: &str| json!({ "till": till });
            json_of(
                200,
                &json!({ "terminalId": "T-1", "currency": "EUR", "current": of("local"), "unconfirmed": [of("local"), of("kasse-2")],
                         "attention": [] }),
            )
        }
        ("POST", "/v1/sales") => {
            let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
            if asked["reference"] == "busy" {
                return problem(409, "busy");
            }
            json_of(201, &json!({ "reference": asked["reference"], "state": "waiting-for-card" }))
        }
        ("POST", path) if path.ends_with("/cancel") => {
            // It accepts the request and never answers it.
            std::future::pending().await
        }
        ("GET", _) if head.uri.query().is_some_and(|query| query.contains("wait-s")) => {
            // The transaction never changes.
            std::future::pending().await
        }
        ("GET", path) if path.ends_with("/receipt") => {
            let mut fails = state.receipts_fail.lock().unwrap();
            if *fails > 0 {
                *fails -= 1;
                return problem(503, "journal");
            }
            json_of(200, &json!({ "copy": "customer", "text": "CUSTOMER COPY\n", "rows": [] }))
        }
        ("GET", "/v1/sales/paid%2F1") => json_of(200, &json!({ "receiptUrl": "https://shop.example/r/1" })),
        ("GET", "/v1/sales/acts") => json_of(200, &json!({ "redirectUrl": "https://bank.example/3ds?id=1" })),
        ("GET", "/v1/sales/unknown") => problem(404, "no-such-sale"),
        (_, path) if path.starts_with("/v1/sales") || path == "/v1/latest" => json_of(200, &json!({ "sales": [] })),
        _ => problem(404, "not-found"),
    }
}

fn whole(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed_unsync()
}

fn json_of(status: u16, value: &Value) -> Response<Body> {
    let head = Response::builder().status(status).header("content-type", "application/json").header("x-inside", "1");
    head.body(whole(value.to_string())).unwrap()
}

fn problem(status: u16, code: &str) -> Response<Body> {
    let head = Response::builder().status(status).header("content-type", "application/problem+json");
    head.body(whole(json!({ "code": code, "status": status, "detail": code }).to_string())).unwrap()
}

/// Streams the events after `Last-Event-ID`, or all events from this moment on. The first message names the position.
fn events(state: &Arc<State>, headers: &HeaderMap) -> Response<Body> {
    let mut all = state.events.subscribe();
    let after = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.strip_prefix("e-")?.parse().ok());
    let mut next: usize = after.unwrap_or_else(|| all.borrow().len());
    let (sender, receiver) = mpsc::channel::<Bytes>(1);
    let left = format!("\"leftS\":{}", 9999 - state.streams.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    tokio::spawn(async move {
        if sender.send(Bytes::from(format!(": listening\nid: e-{next}\n\n"))).await.is_err() {
            return;
        }
        loop {
            let waiting: Vec<String> = all.borrow_and_update().iter().skip(next).cloned().collect();
            for event in waiting {
                next += 1;
                if sender.send(Bytes::from(event.replace("\"leftS\":9999", &left))).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                changed = all.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
        }
    });
    let body = BodyExt::boxed_unsync(Stream(receiver));
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}

struct Stream(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
