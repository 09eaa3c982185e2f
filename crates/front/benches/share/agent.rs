//! A stand-in for the agent, which answers immediately, and the front that uses it. The stand-in runs on its own
//! thread, so only the front wakes the till in this process.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::sync::oneshot;
use tokio::time::{Interval, interval, sleep};

use crate::process::Running;

/// The front and the stand-in for the agent, which run until this value is dropped.
pub(crate) struct Desk {
    agent: Arc<StandIn>,
    /// The terminal's CA in PEM form.
    ca: Vec<u8>,
    /// The address of the page, without TLS.
    page: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The moments at which the agent received the latest sale and sent its outcome.
#[derive(Clone, Copy)]
pub(crate) struct Moments {
    pub(crate) asked: Instant,
    pub(crate) answered: Instant,
}

struct StandIn {
    /// The time that the card and the bank take.
    card: Duration,
    asked: Mutex<Option<Instant>>,
    answered: Mutex<Option<Instant>>,
    number: Mutex<u64>,
    /// True when the till must confirm the latest sale. `None` before a sale begins and after its outcome was
    /// requested.
    confirms: Mutex<Option<bool>>,
}

impl Desk {
    /// Starts both, and returns when the front knows that the agent answers. `more` is added to `front.toml`, with
    /// `FOLDER` replaced by the path of a folder. That folder contains the `files`.
    pub(crate) fn begin(card: Duration, files: &'static [(&str, &str)], more: String) -> Self {
        let agent = StandIn {
            card,
            asked: Mutex::default(),
            answered: Mutex::default(),
            number: Mutex::default(),
            confirms: Mutex::default(),
        };
        let agent = Arc::new(agent);
        let (stop, stopped) = oneshot::channel();
        let (ready, begun) = mpsc::channel();
        let served = Arc::clone(&agent);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let folder = tempfile::tempdir().unwrap();
                for (name, text) in files {
                    write_secret(&folder.path().join(name), text);
                }
                tokio::spawn(serve(UnixListener::bind(folder.path().join("till.sock")).unwrap(), served));
                let more = more.replace("FOLDER", &folder.path().display().to_string());
                let front = Running::begin(folder, &more).await;
                ready.send((front.verb(&["certificate", "--pem"]).stdout, front.http_url("/"))).unwrap();
                let _ = stopped.await;
            });
        });
        let (ca, page) = begun.recv().expect("the front has begun");
        Self { agent, ca, page, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn ca(&self) -> Vec<u8> {
        self.ca.clone()
    }

    pub(crate) fn page(&self) -> &str {
        &self.page
    }

    /// Returns the moments of the latest sale.
    pub(crate) fn moments(&self) -> Moments {
        let taken = |moment: &Mutex<Option<Instant>>| moment.lock().unwrap().take().expect("the agent was asked");
        Moments { asked: taken(&self.agent.asked), answered: taken(&self.agent.answered) }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        drop(self.stop.take());
        // If the thread has failed, it has already reported the failure.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn write_secret(path: &std::path::Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

async fn serve(listener: UnixListener, agent: Arc<StandIn>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let agent = Arc::clone(&agent);
        let service = service_fn(move |request| {
            let agent = Arc::clone(&agent);
            async move { Ok::<_, Infallible>(agent.answer(request).await) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

impl StandIn {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        match (head.method.as_str(), head.uri.path()) {
            ("GET", "/v1/events") => events(),
            ("GET", "/v1/status") => json_of(200, &status()),
            ("GET", "/v1/operators") => json_of(200, &json!({ "required": false, "operators": [] })),
            ("POST", "/v1/sales") => {
                *self.asked.lock().unwrap() = Some(Instant::now());
                *self.number.lock().unwrap() += 1;
                *self.confirms.lock().unwrap() = Some(asked["confirm"] == "till");
                json_of(201, &self.sale(&asked["reference"], "waiting-for-card", &json!({})))
            }
            ("POST", path) if path.ends_with("/confirm") => {
                json_of(200, &self.sale(&reference(path), "ended", &approved()))
            }
            ("GET", path) if path.ends_with("/receipt") => json_of(200, &receipt()),
            // The list contains no earlier sale.
            ("GET", "/v1/sales") => json_of(200, &json!({ "sales": [], "next": null })),
            ("GET", path) if path.starts_with("/v1/sales/") => {
                let Some(confirms) = self.confirms.lock().unwrap().take() else {
                    return json_of(404, &json!({ "status": 404, "code": "no-such-sale", "detail": "" }));
                };
                if !self.card.is_zero() {
                    sleep(self.card).await;
                }
                let sale = if confirms {
                    let until = json!({ "amount": "12.34", "until": "2026-11-20T12:36:56Z", "onSilence": "reverse" });
                    self.sale(&reference(path), "awaiting-till", &json!({ "toConfirm": until }))
                } else {
                    self.sale(&reference(path), "ended", &approved())
                };
                let answer = json_of(200, &sale);
                *self.answered.lock().unwrap() = Some(Instant::now());
                answer
            }
            (method, path) => panic!("no answer for {method} {path}"),
        }
    }

    /// Returns a sale in the format of the agent.
    fn sale(&self, reference: &Value, state: &str, more: &Value) -> Value {
        let number = *self.number.lock().unwrap();
        let mut sale = json!({
            "till": "till-1", "reference": reference, "number": number, "receiptNumber": number, "kind": "sale",
            "amount": "12.34", "currency": "EUR", "state": state, "text": "Present the card", "replayed": false,
            "startedAt": "2026-11-20T12:34:56Z",
        });
        let card = json!({ "entryMode": "NFC_ICC", "brand": "VISA", "last4": "1234", "aid": "A0000000031010" });
        let fields = sale.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        if state != "waiting-for-card" {
            fields.insert("card".to_owned(), card);
        }
        sale
    }
}

/// Returns the reference in `/v1/sales/REFERENCE` or `/v1/sales/REFERENCE/confirm`.
fn reference(path: &str) -> Value {
    path.split('/').nth(3).unwrap().into()
}

fn approved() -> Value {
    json!({
        "outcome": "approved", "approvedAmount": "12.34", "approvalCode": "123456", "code": "000.000.000",
        "paymentId": "8ac7a4a1000000000000000000000001", "left": "12.34",
    })
}

/// Returns a receipt copy of typical length.
fn receipt() -> Value {
    let rows: Vec<Value> = (0..24).map(|_| json!({ "is": "pair", "text": "Terminal", "value": "12345678" })).collect();
    json!({ "copy": "customer", "language": "en", "text": "Terminal 12345678\n".repeat(24), "rows": rows })
}

fn status() -> Value {
    json!({
        "version": "0.1.0", "terminalId": "12345678", "merchant": [], "currency": "EUR", "currencyNumber": 978,
        "currencyDecimals": 2, "mayTrain": false, "mayBegin": ["sale"], "ready": true, "busy": false, "attention": [],
        "reader": { "state": "ready", "text": "ready" }, "gateway": { "state": "answers", "text": "answers", "url": "" },
        "printers": [], "clock": { "state": "board", "text": "", "time": "2026-11-20T13:34:56+01:00" },
        "journal": { "state": "ready", "text": "" }, "unconfirmed": [],
    })
}

fn json_of(status: u16, value: &Value) -> Answer {
    let head = Response::builder().status(status).header("content-type", "application/json");
    head.body(Full::new(Bytes::from(value.to_string())).boxed_unsync()).unwrap()
}

fn events() -> Answer {
    let body = Comments(interval(Duration::from_secs(1))).boxed_unsync();
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}

/// A stream without events. A comment each second shows that the agent is alive.
struct Comments(Interval);

impl Body for Comments {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_tick(cx).map(|_| Some(Ok(Frame::data(Bytes::from_static(b": listening\n\n")))))
    }
}
