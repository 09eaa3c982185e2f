//! Requests that the front passes on to the agent. Only the routes that `pos_till_api::routes` marks are passed on.
//!
//! A path is compared with the table of routes segment by segment. A value in place of `{…}` is decoded, checked and
//! encoded again. So the agent never receives a path or query that it could read differently from the front. Only the
//! parameters in the table are accepted. A paired till is confined to its own transactions: it cannot receive, see or
//! name those of another till.

use std::time::Duration;

use bytes::Bytes;
use form_urlencoded::Serializer;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, CACHE_CONTROL, CONNECTION, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, LINK, RETRY_AFTER,
};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use pos_till_api::routes::{ApiRoute, PassedFor, ROUTES, RouteSlot, encoded};
use pos_till_api::{ProblemType, headers};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::agent::{
    Agent, AgentError, AnswerBody, Events, Heard, LAST_EVENT_ID, PAGE, PLACE, Question, Room, SESSION, SILENCE, is_for,
};
use crate::callbacks::Callbacks;
use crate::guard::{Caller, Way};
use crate::problem::{Answer, Body, BodyError, Problem, whole};
use crate::slots::{Lasting, UnderWay};
use crate::task;

/// The largest body in bytes, which is also the agent's limit. The request for a transaction has fewer than 200 bytes.
const MOST_BODY: usize = 64 * 1024;
/// The time limit from a request's head to the end of its body.
const BODY_DEADLINE: Duration = Duration::from_secs(10);
/// The same time limit for an unidentified caller, whose name, code or PIN fits into one packet.
pub(crate) const STRANGERS_BODY: Duration = Duration::from_secs(3);
/// The largest body of an unidentified caller, in bytes.
const STRANGERS_MOST: usize = 4 * 1024;
/// The bytes of a body above its limit that the front still takes and forgets, after it has refused the body.
const MOST_FORGOTTEN: usize = 1024 * 1024;
/// The longest value of a parameter in bytes, such as a list of numbers in `carried`.
const LONGEST_VALUE: usize = 8 * 1024;
/// The longest segment of a path in bytes, which is a reference.
const LONGEST_PIECE: usize = 64;

/// The parameter that asks the agent to wait for the outcome.
const WAIT: &str = "wait-s";

/// The header with a supervisor's approval for one command.
const SUPERVISOR: HeaderName = HeaderName::from_static(headers::SUPERVISOR);

/// Returns all routes that are passed on. The manual ("The front") has the same table.
fn passed_on_routes() -> impl Iterator<Item = &'static ApiRoute> {
    ROUTES.iter().filter(|route| route.passed_for != PassedFor::Nobody)
}

/// Returns the route of a request, and the path for the agent.
fn find(method: &Method, path: &str) -> Result<(&'static ApiRoute, String), Problem> {
    let mut other_method = false;
    for row in passed_on_routes() {
        let Some(path) = fits(row.path, path) else { continue };
        if row.method == method.as_str() {
            return Ok((row, path));
        }
        other_method = true;
    }
    if other_method {
        let detail = "this path does not support the method: use GET to read, POST to change";
        return Err(Problem::of(ProblemType::MethodNotAllowed, detail));
    }
    Err(Problem::not_found())
}

/// Returns the path, encoded again, if it matches the pattern.
fn fits(pattern: &str, path: &str) -> Option<String> {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    let mut pieces = Vec::new();
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return Some(pieces.join("/")),
            (Some(wanted), Some(piece)) if wanted.starts_with('{') => pieces.push(encoded(&decoded(piece)?)),
            (Some(wanted), Some(piece)) if wanted == piece => pieces.push(piece.to_owned()),
            _ => return None,
        }
    }
}

/// Decodes a segment of a path. The result must be printable ASCII, and neither `.` nor `..`.
fn decoded(piece: &str) -> Option<String> {
    let mut bytes = piece.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    let printable = decoded.iter().all(|byte| (b' '..=b'~').contains(byte));
    let fits = (1..=LONGEST_PIECE).contains(&decoded.len()) && printable && decoded != b"." && decoded != b"..";
    String::from_utf8(decoded).ok().filter(|_| fits)
}

/// Checks the query, encodes it again, and adds the till in whose name the caller acts.
fn query(row: &ApiRoute, given: &str, caller: &Caller, page_till: &str) -> Result<String, Problem> {
    let mut query = Serializer::new(String::new());
    let (mut names, mut till) = (Vec::new(), None);
    for (name, value) in form_urlencoded::parse(given.as_bytes()) {
        if names.contains(&name) || value.len() > LONGEST_VALUE || value.chars().any(char::is_control) {
            return Err(Problem::malformed(format!("{name}: is given twice, or its value is not valid")));
        }
        if name == "till" {
            till = Some(value.into_owned());
        } else if row.parameters.contains(&name.as_ref()) {
            query.append_pair(&name, &value);
        } else {
            return Err(Problem::malformed(format!(
                "{name}: is not a parameter of this path, which has {:?}",
                row.parameters
            )));
        }
        names.push(name);
    }
    let till = match (caller, till) {
        (Caller::Till(own), Some(till)) if till != *own => {
            return Err(Problem::forbidden(format!("this token is only for the till {own}; omit till")));
        }
        (Caller::Till(own), _) => own.clone(),
        (Caller::Page { .. }, till) => till.unwrap_or_else(|| page_till.to_owned()),
    };
    if row.parameters.contains(&"till") {
        query.append_pair("till", &till);
    }
    Ok(query.finish())
}

/// Returns the till in a query that the front wrote.
fn till_in(query: &str) -> String {
    let till = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "till");
    till.map(|(_, till)| till.into_owned()).unwrap_or_default()
}

/// Reads the whole body of an unidentified caller's request.
pub(crate) async fn strangers_body(request: Incoming, headers: &HeaderMap) -> Result<Bytes, Problem> {
    body_of(request, headers, (STRANGERS_MOST, STRANGERS_BODY)).await
}

/// Reads the body of a request, limited to this number of bytes and this time.
///
/// A body above the limit is refused at once. A caller that still writes hears the refusal, because the connection
/// takes the rest until the time is over, [`MOST_FORGOTTEN`] bytes at most. A closed one would be reset.
pub(crate) async fn body_of(
    mut request: Incoming,
    headers: &HeaderMap,
    (most, deadline): (usize, Duration),
) -> Result<Bytes, Problem> {
    let too_large = || Problem::of(ProblemType::TooLarge, format!("a body may have at most {most} bytes"));
    let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > most as u64) {
        forget(request, deadline);
        return Err(too_large());
    }
    match timeout(deadline, wiped(Limited::new(&mut request, most))).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            forget(request, deadline);
            Err(too_large())
        }
        Ok(Err(_)) => Err(Problem::malformed("the body is incomplete")),
        Err(_) => Err(Problem::of(ProblemType::Timeout, format!("send the whole body within {deadline:?}"))),
    }
}

/// Takes the rest of a refused body and forgets it.
fn forget(mut body: Incoming, deadline: Duration) {
    tokio::spawn(timeout(deadline, async move {
        let mut left = MOST_FORGOTTEN;
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
    }));
}

/// Reads the whole body into memory that is wiped after use, because it may contain a PIN. The buffers of the
/// connections are not wiped, because they belong to the libraries.
async fn wiped(mut body: impl hyper::body::Body<Data = Bytes, Error = BodyError> + Unpin) -> Result<Bytes, BodyError> {
    let mut whole = Zeroizing::new(Vec::new());
    while let Some(frame) = body.frame().await {
        let data = frame?.into_data().unwrap_or_default();
        if whole.capacity() < whole.len() + data.len() {
            // A vector that reallocates leaves its earlier content in memory.
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * (whole.len() + data.len())));
            larger.extend_from_slice(&whole);
            whole = larger;
        }
        whole.extend_from_slice(&data);
    }
    Ok(Bytes::from_owner(whole))
}

/// Checks that a paired till refers only to its own transactions.
fn confined(own: &str, body: &[u8]) -> Result<(), Problem> {
    // The agent refuses a body that is not an object.
    let Ok(Value::Object(fields)) = serde_json::from_slice(body) else { return Ok(()) };
    if fields.get("till").is_some_and(|till| till.as_str() != Some(own)) {
        return Err(Problem::forbidden(format!("this token is only for transactions of the till {own}")));
    }
    match ["number", "payment"].iter().find(|name| fields.contains_key(**name)) {
        Some(name) => Err(Problem::forbidden(format!(
            "{name}: is not allowed for a paired till; refer to its own transactions with of"
        ))),
        None => Ok(()),
    }
}

/// Returns the kind of slot for a request with this method, path and query.
pub(crate) fn lasting(method: &Method, path: &str, query: Option<&str>) -> Lasting {
    let Ok((row, _)) = find(method, path) else { return Lasting::Answer };
    let is_wait = || form_urlencoded::parse(query.unwrap_or_default().as_bytes()).any(|(name, _)| name == WAIT);
    match row.slot {
        RouteSlot::Stream => Lasting::Stream,
        RouteSlot::Cancel => Lasting::Cancel,
        RouteSlot::List => Lasting::List,
        RouteSlot::MayWait if is_wait() => Lasting::Wait,
        RouteSlot::MayWait | RouteSlot::Answer => Lasting::Answer,
    }
}

/// Passes a request on to the agent and returns the answer.
pub(crate) async fn pass(
    (agent, callbacks): (&Agent, &Callbacks),
    request: Request<Incoming>,
    (caller, way): (&Caller, Way),
    page_till: &str,
    (lasting, under_way): (Lasting, &UnderWay),
) -> Result<Answer, Problem> {
    let (row, path) = find(request.method(), request.uri().path())?;
    let given = request.uri().query().unwrap_or_default();
    let asked = query(row, given, caller, page_till)?;
    if let (Caller::Till(_), PassedFor::Page) = (caller, row.passed_for) {
        return Err(Problem::forbidden(
            "this request concerns all tills; only the page and the command line may send it",
        ));
    }
    let (head, incoming) = request.into_parts();
    let callback = Callbacks::named(&head.headers, row)?;
    let mut headers = passed_on(&head.headers, caller);
    if let ("/v1/approvals", Some(place)) = (row.path, way.place()) {
        headers.insert(PLACE, place);
    }
    let of_caller = if matches!(caller, Caller::Till(_)) { Room::Tills } else { Room::Page };
    if row.slot == RouteSlot::Stream {
        return listen(agent, headers, caller, of_caller).await;
    }
    let limits = (MOST_BODY, BODY_DEADLINE);
    let body = if head.method == Method::POST { body_of(incoming, &head.headers, limits).await? } else { Bytes::new() };
    if let (Caller::Till(own), "/v1/sales") = (caller, row.path) {
        confined(own, &body)?;
    }
    let ticket = match callback {
        Some(address) => callbacks.keep(agent, (&till_in(&asked), &body), address).await?,
        None => None,
    };
    let target = if asked.is_empty() { path } else { format!("{path}?{asked}") };
    let room = match lasting {
        Lasting::Cancel => Room::Cancels,
        Lasting::Wait => Room::Waits,
        _ => of_caller,
    };
    let patience = row.deadline.caller();
    let question = Question { method: head.method, target, headers, body, patience, room };
    let answer = match lasting {
        Lasting::Wait => wait(agent, question, under_way).await,
        _ => agent.ask(question).await,
    };
    let answer = answer.map_err(Problem::from)?;
    if let Some(ticket) = ticket {
        callbacks.answered(&ticket, answer.status());
    }
    match (caller, row.path) {
        (Caller::Till(own), "/v1/status") if answer.status() == StatusCode::OK => {
            let body = answer.into_body().collect().await.map_err(|_| Problem::no_answer())?.to_bytes();
            Ok(crate::problem::json_answer(StatusCode::OK, &own_status(&body, own)))
        }
        (Caller::Till(own), _) if answer.status().is_client_error() => {
            let (head, body) = answer.into_parts();
            let body = body.collect().await.map_err(|_| Problem::no_answer())?.to_bytes();
            Ok(handed_back(Response::from_parts(head, whole(own_problem(body, own)))))
        }
        _ => Ok(handed_back(answer.map(BodyExt::boxed_unsync))),
    }
}

/// Asks the agent for a transaction, which a path of the front names by its encoded reference. The caller and the query
/// are those of the request.
pub(crate) async fn sale(
    agent: &Agent,
    request: &Request<Incoming>,
    (reference, page_till): (&str, &str),
    caller: &Caller,
) -> Result<Response<AnswerBody>, Problem> {
    let (row, path) = find(&Method::GET, &format!("/v1/sales/{reference}"))?;
    let asked = query(row, request.uri().query().unwrap_or_default(), caller, page_till)?;
    let target = without_wait(&format!("{path}?{asked}"));
    let headers = passed_on(request.headers(), caller);
    agent.ask(Question { headers, room: Room::Page, ..Question::get(&target) }).await.map_err(Problem::from)
}

/// Waits for the answer until another wait needs the slot. In that case it asks for the current state and returns it
/// instead.
async fn wait(agent: &Agent, question: Question, under_way: &UnderWay) -> Result<Response<AnswerBody>, AgentError> {
    let target = without_wait(&question.target);
    let now = Question { target, headers: question.headers.clone(), ..Question::get("") };
    let slot = agent.slot(question.room).await?;
    let head = tokio::select! {
        head = agent.head(question) => Some(head?),
        () = under_way.answer_now() => None,
    };
    let head = match head {
        Some(head) => head,
        None => agent.head(now).await?,
    };
    Ok(AnswerBody::of(head, slot))
}

/// Returns the target without the wait parameter. The front itself wrote this query.
fn without_wait(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let pairs = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != WAIT);
    format!("{path}?{}", Serializer::new(String::new()).extend_pairs(pairs).finish())
}

/// The longest value of a header that is passed on to the agent, in bytes.
pub(crate) const LONGEST_HEADER: usize = 256;

/// Returns the headers that are passed on to the agent.
fn passed_on(given: &HeaderMap, caller: &Caller) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for name in [ACCEPT, LAST_EVENT_ID, SUPERVISOR] {
        if let Some(value) = given.get(&name).filter(|value| value.len() <= LONGEST_HEADER) {
            headers.insert(name, value.clone());
        }
    }
    if let Caller::Page { session } = caller {
        // The page acts for a person, regardless of the till that the request names.
        headers.insert(PAGE, HeaderValue::from_static("1"));
        headers.extend(session.as_ref().map(|session| (SESSION, session.clone())));
    }
    headers
}

/// Returns the answer with only the headers that the page and tills read.
pub(crate) fn handed_back(answer: Response<Body>) -> Answer {
    let (head, body) = answer.into_parts();
    let mut answer = Response::new(body);
    *answer.status_mut() = head.status;
    for name in [CONTENT_TYPE, CONTENT_DISPOSITION, RETRY_AFTER, LINK] {
        if let Some(value) = head.headers.get(&name) {
            answer.headers_mut().insert(name, value.clone());
        }
    }
    answer
}

/// Returns the terminal's status without the transactions of other tills.
fn own_status(body: &[u8], own: &str) -> Value {
    let mut status: Value = serde_json::from_slice(body).unwrap_or_default();
    let of_another = |it: &Value| it.get("till").is_some_and(|till| till.as_str() != Some(own));
    if let Some(fields) = status.as_object_mut() {
        if fields.get("current").is_some_and(of_another) {
            fields.remove("current");
        }
        // This list names the other tills of the front.
        fields.remove("tills");
        for list in ["unconfirmed", "attention"] {
            if let Some(list) = fields.get_mut(list).and_then(Value::as_array_mut) {
                list.retain(|it| !of_another(it));
            }
        }
    }
    status
}

/// Removes the name and reference of another till from a refusal. A till learns only that the terminal is busy.
pub(crate) fn own_problem(body: Bytes, own: &str) -> Bytes {
    let Ok(Value::Object(mut problem)) = serde_json::from_slice(&body) else { return body };
    let of_another = problem.get("till").is_some_and(|till| till.as_str() != Some(own));
    if !of_another || problem.get("code").is_none_or(|code| code != ProblemType::Busy.code()) {
        return body;
    }
    problem.remove("till");
    problem.remove("reference");
    let detail = "another till is using the terminal; try again when its sale has ended";
    problem.insert("detail".to_owned(), detail.into());
    Value::Object(problem).to_string().into()
}

async fn listen(agent: &Agent, headers: HeaderMap, caller: &Caller, room: Room) -> Result<Answer, Problem> {
    let events = match agent.listen(headers, room).await.map_err(Problem::from)? {
        Heard::Events(events) => events,
        Heard::Refused { status, body } => return Ok(refused(status, body)),
    };
    let only = match caller {
        Caller::Till(own) => Some(own.clone()),
        Caller::Page { .. } => None,
    };
    let (sender, stream) = mpsc::channel(1);
    task::spawn(forward(events, only, sender));
    Ok(event_stream(stream))
}

/// Returns the agent's refusal of a stream.
pub(crate) fn refused(status: StatusCode, body: Bytes) -> Answer {
    let mut answer = Response::new(whole(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    answer
}

/// Forwards each event except those of other tills. Ends when the agent falls silent, so the listener notices
/// immediately.
async fn forward(mut events: Events, only: Option<String>, listener: mpsc::Sender<Bytes>) {
    loop {
        let next = tokio::select! {
            next = timeout(SILENCE, events.next()) => next,
            () = listener.closed() => return,
        };
        let Ok(Ok(Some(event))) = next else { return };
        let heard = only.as_ref().is_none_or(|till| is_for(&event, till));
        if heard && listener.send(event.raw).await.is_err() {
            return;
        }
    }
}

/// Streams server-sent events from a channel.
pub(crate) fn event_stream(events: mpsc::Receiver<Bytes>) -> Answer {
    let mut answer = Response::new(BodyExt::boxed_unsync(crate::writing::Stream(events)));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

impl From<AgentError> for Problem {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Down(_) => Self::agent_down(error.to_string()),
            AgentError::NoAnswer => Self::no_answer(),
            AgentError::Full => Self::too_many(error.to_string(), 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::fs::{File, read_to_string};
    use std::os::unix::fs::FileExt;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use hyper::body::Frame;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use pos_till_api::deadlines::AnswerDeadline;
    use tokio::net::UnixListener;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::slots::Owner;

    /// The byte that the secret repeats. No other data in this process repeats it as often.
    const SECRET: u8 = 0xA7;
    /// The secret, in the program's read-only data. The search skips that data.
    static SECRETS: [u8; 1024] = [SECRET; 1024];

    /// A body in pieces. It ends normally or breaks off after the last piece.
    struct Pieces {
        left: VecDeque<&'static [u8]>,
        breaks_off: bool,
        /// Buffers that are allocated between the pieces. They prevent any buffer from growing in place.
        between: Vec<Vec<u8>>,
    }

    impl hyper::body::Body for Pieces {
        type Data = Bytes;
        type Error = BodyError;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
            self.between.push(vec![0; 48]);
            Poll::Ready(match self.left.pop_front() {
                Some(piece) => Some(Ok(Frame::data(Bytes::from_static(piece)))),
                None => self.breaks_off.then(|| Err("it broke off".into())),
            })
        }
    }

    /// Counts the copies of the secret in this process's memory, as an attacker with a memory image would. The
    /// allocator overwrites only the first bytes of freed memory.
    fn found_in_memory() -> usize {
        let memory = File::open("/proc/self/mem").unwrap();
        let mut window = Zeroizing::new(vec![0; 4096]);
        let mut found = 0;
        for line in read_to_string("/proc/self/maps").unwrap().lines() {
            let mut columns = line.split_whitespace();
            let (Some(range), Some(rights), Some(inode)) = (columns.next(), columns.next(), columns.nth(2)) else {
                panic!("{line}")
            };
            if !rights.starts_with("rw") || inode != "0" {
                continue;
            }
            let (from, to) = range.split_once('-').unwrap();
            let [from, to] = [from, to].map(|address| u64::from_str_radix(address, 16).unwrap());
            // A page that was unmapped in the meantime cannot be read.
            for page in (from..to).step_by(4096) {
                if memory.read_exact_at(&mut window, page).is_err() {
                    continue;
                }
                found += window.chunks_exact(32).filter(|part| **part == [SECRET; 32]).count();
                window.fill(0);
            }
        }
        found
    }

    /// A body may contain a PIN, so neither the data nor an earlier buffer may stay in memory.
    #[tokio::test]
    async fn a_body_is_gone_from_memory_when_nobody_reads_it_any_more() {
        for (pieces, breaks_off) in [(1, false), (2, false), (37, false), (1, true), (37, true)] {
            let left = std::iter::repeat_n(&SECRETS[..], pieces).collect();
            let body = wiped(Pieces { left, breaks_off, between: Vec::new() }).await;
            match body {
                Ok(body) => {
                    assert!(!breaks_off && body.len() == pieces * SECRETS.len(), "{pieces}");
                    assert!(body.iter().all(|byte| *byte == SECRET));
                    assert!(found_in_memory() >= pieces, "{pieces}: or nothing would be found below");
                    let passed_on = body.clone();
                    drop(body);
                    assert!(found_in_memory() >= pieces, "{pieces}: it is still being passed on");
                    drop(passed_on);
                }
                Err(_) => assert!(breaks_off),
            }
            assert_eq!(found_in_memory(), 0, "{pieces} pieces, breaks off: {breaks_off}");
        }
    }

    #[test]
    fn each_row_of_the_table_takes_a_place_of_its_kind() {
        for ApiRoute { method, path, .. } in passed_on_routes() {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let asked = path.replace("{reference}", "r").replace("{close}", "7");
            let kind = |query| format!("{:?}", lasting(&method, &asked, query));
            let expected = match (method.as_str(), *path) {
                (_, "/v1/events") => "Stream",
                ("POST", "/v1/sales/{reference}/cancel") => "Cancel",
                ("GET", "/v1/sales" | "/v1/totals" | "/v1/closes" | "/v1/closes/{close}") => "List",
                _ => "Answer",
            };
            assert_eq!(kind(None), expected, "{method} {path}");
            let waits = matches!((method.as_str(), *path), ("GET", "/v1/sales/{reference}"));
            assert_eq!(kind(Some("wait-s=5")), if waits { "Wait" } else { expected }, "{method} {path}");
        }
        assert_eq!(format!("{:?}", lasting(&Method::GET, "/v1/nothing", None)), "Answer");
    }

    /// Serves an agent that uses all its time, both for its additional questions and for the route's own question.
    async fn slow_agent(listener: UnixListener, deadline: AnswerDeadline) {
        let beside = AnswerDeadline::AtOnce.agent() * 2;
        let takes = beside + deadline.agent();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let answer = service_fn(move |_| async move {
                sleep(takes).await;
                Ok::<_, Infallible>(Response::new(whole(Bytes::from_static(b"{}"))))
            });
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    }

    /// Returns the front's answer to this request from the page.
    async fn told(agent: Arc<Agent>, method: &str, target: &str) -> (StatusCode, Bytes) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let address = "127.0.0.1:8650".parse().unwrap();
        let way = Way { peer: address, reached: address, tls: false };
        let slots = Arc::new(crate::slots::Slots::default());
        let folder = tempfile::tempdir().unwrap();
        let state = crate::state::StateFolder::open(folder.path()).unwrap();
        let callbacks = Arc::new(Callbacks::restored(state, &[], || std::time::SystemTime::UNIX_EPOCH).unwrap());
        let answer = service_fn(move |request: Request<Incoming>| {
            let (agent, slot) = (Arc::clone(&agent), slots.enter(way.whence()).unwrap());
            let callbacks = Arc::clone(&callbacks);
            async move {
                let lasting = lasting(request.method(), request.uri().path(), request.uri().query());
                let under_way = slot.begin(Owner::Page(way.whence()), lasting).unwrap();
                let page = Caller::Page { session: None };
                let answer = pass((&agent, &callbacks), request, (&page, way), "local", (lasting, &under_way)).await;
                Ok::<_, Infallible>(answer.unwrap_or_else(Answer::from))
            }
        });
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(far), answer));
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(near)).await.unwrap();
        tokio::spawn(connection);
        let request = Request::builder().method(method).uri(target).header("host", "localhost");
        let body = http_body_util::Full::new(Bytes::from_static(b"{}"));
        let answer = sender.send_request(request.body(body).unwrap()).await.unwrap();
        let status = answer.status();
        (status, answer.into_body().collect().await.unwrap().to_bytes())
    }

    /// The page never gets `no-answer` while the agent keeps its deadline. A close of day may take more than two
    /// minutes.
    #[tokio::test(start_paused = true)]
    async fn each_answer_reaches_the_page_however_long_the_agent_may_take_for_it() {
        for row in passed_on_routes() {
            let folder = tempfile::tempdir().unwrap();
            let socket = folder.path().join("till.sock");
            let serves = tokio::spawn(slow_agent(UnixListener::bind(&socket).unwrap(), row.deadline));
            let agent = Arc::new(Agent::at(socket, std::time::SystemTime::UNIX_EPOCH));
            let path = row.path.replace("{reference}", "R-1").replace("{close}", "open");
            let query = if row.parameters.contains(&WAIT) { "?wait-s=120" } else { "" };
            let began = Instant::now();
            let (status, said) = told(agent, row.method, &format!("{path}{query}")).await;
            let name = format!("{} {} after {:?}", row.method, row.path, began.elapsed());
            assert_eq!(status, StatusCode::OK, "{name}: {said:?}");
            assert!(began.elapsed() > row.deadline.agent(), "{name}");
            serves.abort();
        }
        assert!(passed_on_routes().any(|row| row.deadline == AnswerDeadline::Closing));
    }

    fn target(path: &str) -> Option<String> {
        find(&Method::GET, path).ok().map(|(_, path)| path)
    }

    #[test]
    fn only_what_stands_in_the_table_is_passed_on_and_encoded_anew() {
        for (path, passed) in [
            ("/v1/sales", "/v1/sales"),
            ("/v1/sales/R-1", "/v1/sales/R-1"),
            ("/v1/sales/a%20b", "/v1/sales/a%20b"),
            ("/v1/sales/%41%2f%2F", "/v1/sales/A%2F%2F"),
            ("/v1/sales/a;b@c/receipt", "/v1/sales/a%3Bb%40c/receipt"),
            ("/v1/closes/last", "/v1/closes/last"),
        ] {
            assert_eq!(target(path).as_deref(), Some(passed));
        }
        for path in [
            "/v1",
            "/v1/",
            "/v1//sales",
            "//v1/sales",
            "/v1/sales/",
            "/v1/sales//receipt",
            "/v1/./sales",
            "/v1/../v1/sales",
            "/v1/sales/..",
            "/v1/sales/.",
            "/v1/sales/%2e%2e",
            "/v1/sales/%2E",
            "/v1/sales/%2e%2e/receipt",
            "/v1/%73ales",
            "/V1/sales",
            "/v1/sales/%0a",
            "/v1/sales/%00",
            "/v1/sales/%",
            "/v1/sales/%4",
            "/v1/sales/%zz",
            "/v1/sales/%c3%a9",
            "/v1/sales/a/b/receipt",
            "/v1/sales/a\\..\\b/x",
            "/v1/settle/7",
            "/v1/query",
            "/v1/payments/1",
            "/v1/metrics",
            "/v1/journal",
            "/v1/log-level",
            "/v1/sessions",
            "/v1/sessions/current",
            "/v2/sales",
            "/v1/latest/x",
        ] {
            assert_eq!(target(path), None, "{path}");
        }
        let long = format!("/v1/sales/{}", "a".repeat(LONGEST_PIECE + 1));
        assert_eq!(target(&long), None);
        assert!(find(&Method::PUT, "/v1/sales").is_err() && find(&Method::POST, "/v1/latest").is_err());
    }

    /// The routes in the agent's description that the front does not pass on. They are for technicians and programs on
    /// the terminal, or `session` uses them itself.
    const KEPT: &[&str] = &[
        "/v1/fleet/acks",
        "/v1/fleet/commands",
        "/v1/fleet/commands/{id}",
        "/v1/fleet/commands/{id}/archive",
        "/v1/fleet/connection",
        "/v1/fleet/keys",
        "/v1/fleet/settings",
        "/v1/journal",
        "/v1/log-level",
        "/v1/metrics",
        "/v1/payments/{id}",
        "/v1/query",
        "/v1/settle/{number}",
        "/v1/sessions",
        "/v1/sessions/current",
        "/v1/operators/{name}",
        "/v1/operators/{name}/pin",
        "/v1/operators/{name}/unlock",
    ];

    #[test]
    fn everything_that_the_agent_describes_is_passed_on_or_kept_on_purpose() {
        let described: Value = serde_json::from_str(include_str!("../../../src/till/http/openapi.json")).unwrap();
        for (path, methods) in described["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let method = method.to_uppercase();
                let Some(row) = passed_on_routes().find(|row| row.method == method && row.path == path) else {
                    let adds_operators = (method.as_str(), path.as_str()) == ("POST", "/v1/operators");
                    assert!(KEPT.contains(&path.as_str()) || adds_operators, "{method} {path}");
                    continue;
                };
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let names = parameters.filter(|it| it["in"] == "query").map(|it| it["name"].as_str().unwrap());
                for name in names {
                    assert!(row.parameters.contains(&name), "{method} {path}: {name}");
                }
            }
        }
        for path in KEPT {
            assert!(passed_on_routes().all(|row| row.path != *path), "{path}");
        }
    }

    #[test]
    fn the_manual_has_the_same_table() {
        let manual = include_str!("../../../docs/src/front.md");
        let row = |ApiRoute { method, path, parameters, .. }: &ApiRoute| {
            let names = parameters.iter().filter(|name| **name != "till");
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            let names = if names.is_empty() { String::new() } else { format!("{} ", names.join(", ")) };
            format!("| `{method} {path}` | {names}|")
        };
        let expected: Vec<String> = passed_on_routes().map(row).collect();
        let said: Vec<&str> = manual.lines().filter(|line| line.starts_with("| `") && line.contains(" /v1/")).collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn a_query_has_the_parameters_of_its_path_and_the_callers_till() {
        let row = |path: &str| passed_on_routes().find(|row| row.method == "GET" && row.path == path).unwrap();
        let till = Caller::Till("kasse-2".to_owned());
        let page = Caller::Page { session: None };
        let of = |path, given, caller| query(row(path), given, caller, "counter").ok();
        let show = "/v1/sales/{reference}";
        assert_eq!(of(show, "wait-s=5", &till).as_deref(), Some("wait-s=5&till=kasse-2"));
        assert_eq!(of(show, "till=kasse-2", &till).as_deref(), Some("till=kasse-2"));
        assert_eq!(of(show, "", &page).as_deref(), Some("till=counter"));
        assert_eq!(of(show, "till=other", &page).as_deref(), Some("till=other"), "the agent decides");
        assert_eq!(of("/v1/status", "", &till).as_deref(), Some(""));
        for wrong in ["till=counter", "till=", "x=1", "wait-s=1&wait-s=2", "wait-s=%0a1", "%74ill=counter"] {
            assert_eq!(of(show, wrong, &till), None, "{wrong}");
        }
        assert_eq!(of("/v1/sales", "from=a%26till%3Db", &till).as_deref(), Some("from=a%26till%3Db&till=kasse-2"));
    }

    #[test]
    fn what_a_page_asks_is_marked_as_such() {
        let marked = |caller: &Caller| passed_on(&HeaderMap::new(), caller).contains_key(PAGE);
        assert!(marked(&Caller::Page { session: None }));
        assert!(marked(&Caller::Page { session: Some(HeaderValue::from_static("x")) }));
        assert!(!marked(&Caller::Till("kasse-1".to_owned())));
    }

    #[test]
    fn a_paired_till_names_no_other_tills_transaction() {
        for good in [r#"{"reference":"1"}"#, r#"{"of":"1","till":"a"}"#, "[]", "no", r#"{"parameters":{"till":"b"}}"#] {
            assert!(confined("a", good.as_bytes()).is_ok(), "{good}");
        }
        for wrong in [
            r#"{"till":"b"}"#,
            r#"{"till":null}"#,
            r#"{"number":7}"#,
            r#"{"payment":"x"}"#,
            r#"{"till":"a","till":"b"}"#,
        ] {
            assert!(confined("a", wrong.as_bytes()).is_err(), "{wrong}");
        }
        // The front uses the last value of a member that is named twice. The agent refuses such a body.
        assert!(confined("a", br#"{"till":"b","till":"a"}"#).is_ok());
    }

    #[test]
    fn a_till_learns_of_another_ones_sale_that_the_terminal_is_busy_and_no_more() {
        let busy = r#"{"code":"busy","detail":"the terminal is busy with transaction R-9 of till b","reference":"R-9","status":409,"till":"b"}"#;
        let told = own_problem(busy.into(), "a");
        let told: Value = serde_json::from_slice(&told).unwrap();
        assert!(!told.to_string().contains("R-9") && told.get("till").is_none(), "{told}");
        assert_eq!((&told["code"], &told["status"]), (&"busy".into(), &409.into()));
        for own in [busy, r#"{"code":"malformed"}"#, "no"] {
            assert_eq!(own_problem(own.into(), "b"), own);
        }
    }

    #[test]
    fn a_paired_till_sees_its_own_in_the_status() {
        let status = br#"{"ready":true,"current":{"till":"b"},"unconfirmed":[{"till":"a"},{"till":"b"}],"attention":[{"code":"x"}],"tills":["a","b"]}"#;
        let own = own_status(status, "a").to_string();
        assert_eq!(own, r#"{"attention":[{"code":"x"}],"ready":true,"unconfirmed":[{"till":"a"}]}"#);
    }
}
