//! The first boot: the page that sets up a terminal without a configuration.
//!
//! ```text
//!  browser ── HTTPS ──▶ listen ─▶ guard ─▶ FirstBoot ─┬▶ root      pos-agent first-boot, behind a Unix socket
//!                                          (whose     ├▶ network   the way to the gateway
//!                                          browser?)  └▶ page      the document and its files
//! ```
//!
//! | path below `/first-boot/` | caller | answered by |
//! |---|---|---|
//! | `GET state` | everyone; more for the browser that gave the code | root, at most once a second |
//! | `POST code` | everyone, until a code was right | root, which compares the code and counts the tries |
//! | `POST search`, `try-printer`, `try-reader`, `clock`, `wifi`, `check` | the browser that gave the code | root |
//! | `POST network` | the browser that gave the code | `network` |
//! | `POST write` | the browser that gave the code | root; the answer is a stream of root's replies |
//!
//! The front keeps none of the answers. A token, a PIN or a password passes through it once, in a body that is wiped
//! after use. It is in no log and in no answer. Root judges all answers; the front only checks that they are one JSON
//! value.
//!
//! One browser is let in. Its cookie is valid as long as root says that a code was right. When root's half starts
//! again, the front lets it show a new code.

mod let_in;
mod network;
mod refusal;
mod root;
mod run;
mod written;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue, SET_COOKIE, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use pos_first_boot::{LONGEST_REQUEST, Refusal, Reply, Stage, State};
use serde_json::json;
use tokio::sync::{Notify, OwnedMutexGuard, mpsc, watch};
use tokio::time::{Instant, timeout};

use self::let_in::{Known, LetIn};
use self::network::NetworkQuestion;
use self::refusal::{busy, no_cookie, no_json, not_entered, refused, root_down, taken};
use self::root::RootHalf;
pub(crate) use self::run::run;
use self::written::{WriteOutcome, written};
use crate::browsers::{self, Browsers};
use crate::certificate::HostCertificate;
use crate::control::rfc3339;
use crate::forward::{body_of, strangers_body};
use crate::front::with_usual_headers;
use crate::guard::{Asker, Guard, Way, browser_cookie};
use crate::page::Page;
use crate::problem::{Answer, Body, Problem, empty_answer, json_answer, whole};
use crate::slots::{Lasting, Owner, Slot};
use crate::task;
use crate::writing::Stream;

/// The document of the first boot among the files of the page.
pub(crate) const DOCUMENT: &str = "/first-boot";
/// The requests that root answers with one reply, and the time for it. A search asks each port for some seconds. The
/// others wait for a device, the clock or a wireless network.
const PASSED_ON: [(&str, Duration); 6] = [
    ("search", Duration::from_secs(180)),
    ("try-printer", Duration::from_secs(30)),
    ("try-reader", Duration::from_secs(60)),
    ("clock", Duration::from_secs(60)),
    ("wifi", Duration::from_secs(90)),
    ("check", Duration::from_secs(60)),
];
/// The time for root's state, and for its judgement of a code.
const AT_ONCE: Duration = Duration::from_secs(5);
/// The time between two steps of the writing. The longest one starts the agent.
const STEP: Duration = Duration::from_secs(120);
/// The time for which a request waits until the one before it is done.
const QUEUE: Duration = Duration::from_secs(5);
/// The age up to which root's state is told without a question.
const FRESH: Duration = Duration::from_secs(1);
/// The time for the body of a request of the browser that gave the code.
const BODY: Duration = Duration::from_secs(10);
/// The length of a browser's content: that of a request, without its name.
const MOST_BODY: usize = LONGEST_REQUEST - 32;

/// How far the front of the first boot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Serving,
    /// Root writes. The first boot does not end now.
    Writing,
    /// The files are written, and the browser knows it.
    Done,
}

/// The state that all requests share.
pub(crate) struct FirstBoot {
    guard: Guard,
    page: Page,
    root: RootHalf,
    browsers: Browsers,
    /// What the network calls this board.
    place: watch::Receiver<Place>,
    let_in: LetIn,
    /// Root's latest state.
    known: Mutex<Option<(State, Instant)>>,
    /// Root takes one request at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
    course: watch::Sender<Course>,
    /// Signals that root has started and has no code to show.
    needs_code: Notify,
    /// The time at which the first boot ends: root's, or the front's own hour as long as root's is not known.
    ends: watch::Sender<Instant>,
    now: fn() -> SystemTime,
}

/// The addresses of the board, and its certificate.
#[derive(Clone, Debug)]
struct Place {
    certificate: Arc<HostCertificate>,
    addresses: Vec<IpAddr>,
    /// The addresses of the page, as a person would type them.
    urls: Vec<String>,
}

impl FirstBoot {
    /// Answers a request of any kind.
    pub(crate) async fn answer(self: &Arc<Self>, request: Request<Incoming>, way: Way, slot: &Arc<Slot>) -> Answer {
        let is_mine = self.let_in.has_sent(request.headers());
        let owner = if is_mine { Owner::Page(slot.whence()) } else { Owner::Stranger(slot.whence()) };
        let answer = match slot.begin(owner, Lasting::Answer) {
            Ok(under_way) => {
                let answer = match self.guard.judge(&request, way) {
                    Ok(asker) => self.routed(request, way, &asker, is_mine).await,
                    Err(problem) => Err(problem),
                };
                under_way.until_sent(answer.unwrap_or_else(Answer::from))
            }
            Err(problem) => problem.into(),
        };
        with_usual_headers(answer)
    }

    async fn routed(
        self: &Arc<Self>,
        request: Request<Incoming>,
        way: Way,
        asker: &Asker,
        is_mine: bool,
    ) -> Result<Answer, Problem> {
        let path = request.uri().path().to_owned();
        let asked = path.strip_prefix("/first-boot/");
        match (request.method(), asked) {
            (&Method::GET, Some("state")) => self.state(request.headers(), is_mine).await,
            (&Method::GET | &Method::HEAD, None) => self.file(&path, request.headers()),
            (&Method::POST, _) if *asker != Asker::Own => {
                Err(Problem::forbidden("only the page of this terminal may send this; open the terminal's address"))
            }
            (&Method::POST, Some("code")) => self.enter(request, way, is_mine).await,
            (&Method::POST, Some(name)) => {
                let patience =
                    PASSED_ON.iter().find(|(passed_on, _)| *passed_on == name).map(|(_, patience)| *patience);
                if patience.is_none() && !matches!(name, "network" | "write") {
                    return Err(Problem::not_found());
                }
                if !is_mine {
                    return Err(not_entered());
                }
                let former = browser_cookie(request.headers()).map(str::to_owned);
                let called = called(request.headers());
                let (head, body) = request.into_parts();
                let body = body_of(body, &head.headers, (MOST_BODY, BODY)).await?;
                match (name, patience) {
                    (_, Some(patience)) => self.pass_on(name, &body, patience).await,
                    ("network", None) => self.network(&body).await,
                    _ => self.write(&body, (called, former), way).await,
                }
            }
            _ => Err(Problem::not_found()),
        }
    }

    /// Answers with a file of the page, or with the CA.
    fn file(&self, path: &str, headers: &HeaderMap) -> Result<Answer, Problem> {
        let found = match path {
            "/" => self.page.answer(DOCUMENT, headers).or_else(|| self.page.answer("/", headers)),
            "/favicon.ico" => Some(empty_answer(StatusCode::NO_CONTENT)),
            "/front/certificate.pem" => {
                let mut answer = Response::new(whole(self.place.borrow().certificate.ca_pem().to_owned()));
                answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-pem-file"));
                Some(answer)
            }
            path if path.starts_with("/assets/") => self.page.answer(path, headers),
            _ => None,
        };
        found.ok_or_else(Problem::not_found)
    }

    /// Returns root's state. While root works on a request, it is the latest known one, if there is one.
    async fn root_state(&self) -> Result<State, Problem> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_fresh = |(_, at): &(State, Instant)| at.elapsed() < FRESH;
        let turn = match (known, Arc::clone(&self.turn).try_lock_owned()) {
            (Some(known), _) if is_fresh(&known) => return Ok(known.0),
            (_, Ok(turn)) => turn,
            (Some((state, _)), Err(_)) => return Ok(state),
            (None, Err(_)) => self.turn().await?,
        };
        let reply = self.root.answer(b"\"state\"\n", AT_ONCE).await;
        drop(turn);
        match reply.map_err(root_down)? {
            Reply::State(state) => {
                self.learn(&state);
                Ok(state)
            }
            reply => Err(refused(reply)),
        }
    }

    /// Keeps root's state. A cookie ends when root has started again: root then waits for a new code.
    fn learn(&self, state: &State) {
        if matches!(state.stage, Stage::Waiting | Stage::Closed) {
            self.let_in.end();
        }
        if state.stage == Stage::Waiting && !state.has_code {
            self.needs_code.notify_one();
        }
        let ends = Instant::now() + Duration::from_secs(state.left_s);
        // The time on the way to the front adds nothing to the hour.
        self.ends.send_if_modified(|known| std::mem::replace(known, ends.min(*known)) > ends);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((state.clone(), Instant::now()));
    }

    fn forget_state(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Waits until root is free for a request.
    async fn turn(&self) -> Result<OwnedMutexGuard<()>, Problem> {
        timeout(QUEUE, Arc::clone(&self.turn).lock_owned()).await.map_err(|_| busy())
    }

    async fn state(&self, headers: &HeaderMap, is_mine: bool) -> Result<Answer, Problem> {
        let state = self.root_state().await?;
        let is_mine = is_mine && matches!(state.stage, Stage::Entered | Stage::Written);
        let place = self.place.borrow().clone();
        let mut said = json!({
            "stage": state.stage,
            "mine": is_mine,
            "code-at": state.code_at,
            "tries-left": state.tries_left,
            "left-s": self.ends.borrow().saturating_duration_since(Instant::now()).as_secs(),
            "languages": self.page.languages(),
            "urls": place.urls,
            "fingerprint": place.certificate.ca_fingerprint().unwrap_or_default(),
        });
        if is_mine {
            said["board"] = state.board.into();
            said["wifi"] = state.wifi.into();
            said["time-zone"] = state.time_zone.into();
            said["clock-is-right"] = state.clock_is_right.into();
        }
        let mut answer = json_answer(StatusCode::OK, &said);
        if Known::of(headers).is_none() {
            answer.headers_mut().insert(SET_COOKIE, let_in::offer());
        }
        Ok(answer)
    }

    /// Lets root judge a code. The browser with the right one is let in, also if it never gets this answer.
    async fn enter(&self, request: Request<Incoming>, way: Way, is_mine: bool) -> Result<Answer, Problem> {
        let (head, body) = request.into_parts();
        let body = strangers_body(body, &head.headers).await?;
        let mut state = self.root_state().await?;
        if state.stage == Stage::Waiting && !state.has_code {
            // A person can read the code before the front knows that root shows it.
            self.forget_state();
            state = self.root_state().await?;
        }
        match state.stage {
            Stage::Closed => return Err(refused(Reply::Refused(Refusal::Closed))),
            Stage::Entered | Stage::Written if is_mine => return Ok(done()),
            Stage::Entered | Stage::Written => return Err(taken()),
            // Root has started again; its new code is on the way.
            Stage::Waiting if !state.has_code => return Err(busy()),
            Stage::Waiting => {}
        }
        let browser = Known::of(&head.headers).ok_or_else(no_cookie)?;
        let turn = self.turn().await?;
        let line = root::line("enter", &body).ok_or_else(no_json)?;
        let reply = self.root.answer(&line, AT_ONCE).await;
        self.forget_state();
        match reply.map_err(root_down)? {
            Reply::Done => {
                self.let_in.begin(browser);
                drop(turn);
                tracing::info!(peer = %way.peer.ip(), "a browser has given the code");
                Ok(done())
            }
            // Between the state and the code, another browser was let in.
            Reply::Refused(Refusal::NotEntered) => Err(taken()),
            Reply::Refused(Refusal::WrongCode { left }) => {
                tracing::warn!(peer = %way.peer.ip(), left, "a wrong code");
                let detail = "this is not the code on the console or on the printer's paper; type it again";
                let problem = Problem::new(StatusCode::FORBIDDEN, "wrong-code", "The code is wrong", detail);
                Ok(problem.with(&[("tries-left", left.into())]))
            }
            reply => Err(refused(reply)),
        }
    }

    /// Passes a request on to root, and root's reply back.
    async fn pass_on(&self, name: &str, body: &[u8], patience: Duration) -> Result<Answer, Problem> {
        let line = match name {
            // This request has no content.
            "search" => zeroize::Zeroizing::new(b"\"search\"\n".to_vec()),
            _ => root::line(name, body).ok_or_else(no_json)?,
        };
        let _turn = self.turn().await?;
        match self.root.answer(&line, patience).await.map_err(root_down)? {
            Reply::Done => Ok(done()),
            Reply::Devices(devices) => Ok(json_answer(StatusCode::OK, &json!(devices))),
            Reply::Faulty(faults) => {
                let detail = "some of the answers are wrong, or a device does not answer; see faults";
                let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "faulty", "Something is wrong", detail);
                Ok(problem.with(&[("faults", json!(faults))]))
            }
            Reply::Refused(Refusal::NotEntered) => {
                // Root has started again.
                self.let_in.end();
                self.forget_state();
                Err(not_entered())
            }
            reply => Err(refused(reply)),
        }
    }

    async fn network(&self, body: &[u8]) -> Result<Answer, Problem> {
        let question: NetworkQuestion =
            serde_json::from_slice(body).map_err(|error| Problem::malformed(error.to_string()))?;
        let clock_is_right = self.root_state().await?.clock_is_right;
        let addresses = self.place.borrow().addresses.clone();
        let findings = network::check(&question, &addresses, clock_is_right).await;
        Ok(json_answer(StatusCode::OK, &json!({ "findings": findings })))
    }

    /// Lets root write, and streams its replies. The writing goes on if the browser leaves.
    async fn write(
        self: &Arc<Self>,
        body: &[u8],
        (called, former): (String, Option<String>),
        way: Way,
    ) -> Result<Answer, Problem> {
        let line = root::line("write", body).ok_or_else(no_json)?;
        let turn = self.turn().await?;
        let front = Arc::clone(self);
        let begun = tokio::spawn(async move { front.begin_to_write(&line, turn, (&called, former.as_deref())).await });
        let (stream, cookie) = begun.await.expect("the task is not ended from outside")?;
        let mut answer = Response::new(Body::new(Stream(stream)));
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
        headers.insert(SET_COOKIE, browsers::cookie(&cookie, way.tls));
        Ok(answer)
    }

    /// Pairs the browser and sends the request to root. The browser is paired before, because the first boot ends with
    /// root's last reply. Returns root's replies, and the browser's cookie.
    async fn begin_to_write(
        self: Arc<Self>,
        line: &[u8],
        turn: OwnedMutexGuard<()>,
        (called, former): (&str, Option<&str>),
    ) -> Result<(mpsc::Receiver<Bytes>, String), Problem> {
        let paired = self.browsers.pair_now(called, rfc3339((self.now)()), former);
        let (cookie, id) = paired.map_err(|error| {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "state", "The browser cannot be paired", error.to_string())
        })?;
        self.course.send_replace(Course::Writing);
        let replies = match self.root.ask(line, STEP).await {
            Ok(replies) => replies,
            Err(error) => {
                self.unpair(&id);
                self.course.send_replace(Course::Serving);
                return Err(root_down(error));
            }
        };
        let (sender, stream) = mpsc::channel(1);
        task::spawn(async move {
            let outcome = written(replies, &sender).await;
            drop((sender, turn));
            self.forget_state();
            if outcome == WriteOutcome::NotWritten {
                self.unpair(&id);
            }
            let is_done = outcome == WriteOutcome::Written;
            self.course.send_replace(if is_done { Course::Done } else { Course::Serving });
        });
        Ok((stream, cookie))
    }

    fn unpair(&self, id: &str) {
        if let Err(error) = self.browsers.remove(id) {
            tracing::error!(%error, id, "a browser stays paired although nothing was written");
        }
    }
}

/// Returns a name for the browser, which a person sees in the list of paired browsers.
fn called(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let systems = ["iPhone", "iPad", "Android", "Windows", "Macintosh", "Linux"];
    let system = systems.iter().find(|system| agent.contains(**system)).unwrap_or(&"browser");
    format!("{system} (first boot)")
}

fn done() -> Answer {
    json_answer(StatusCode::OK, &json!({}))
}
