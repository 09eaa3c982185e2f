//! Server-sent events: all steps of the caller's transactions and of the terminal, as they happen.
//!
//! Each event has an `id`. A caller that reconnects with the last id (`Last-Event-ID`) gets the events that it missed,
//! as long as they are kept. Otherwise it first gets a `reset`, and must ask for the current state. The id also
//! advances with the events of other tills, which the caller does not get.
//!
//! A slow listener does not delay others and needs a fixed amount of memory. One event waits for the listener here, and
//! the others wait in the log, which all listeners share. If the log no longer holds the listener's next event, the
//! listener gets a `reset` and continues with the newest event. If a listener stops reading, its connection is closed
//! (`WRITE_DEADLINE`). `slots.rs` limits the number of listeners per caller.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::Stopped;
use super::api::{App, Route, routes};
use super::failure::Failure;
use super::slots::Allowance;
use crate::till::{Caller, Missed, Permit, Progress, ProgressId, ProgressListener, ProgressLog, Verb};

/// The interval between comments, which show each side that the other is alive. A page that misses two of them knows
/// within three seconds that its connection is broken.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// The text of a `reset` for people.
const RESET: &str = "steps were missed: ask for the state of the sales and the terminal again";

/// The verb for events.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/events" => listen,
        ApiOperation::new("events", "Stream each step of the caller's transactions and of the terminal")
            .text("Server-sent events: `event` is the step's word, `data` is one object of the schema `Event`.")
            .header("Last-Event-ID", "The `id` of the last event that the caller has; the stream continues after it. \
                If this is not possible, the first event is `reset`, which names no sale: ask for the current state again.", json!({ "type": "string" }))
            .needs(Verb::Listen)
            .streams::<Progress>(200, "The events; the stream does not end.")
            .refuses(&[ProblemType::TooManyListeners]);
};

async fn listen(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Listen)?;
    let position = allowance.listener()?;
    Ok(stream(permit, Position::wanted(&app.progress, &headers), app.stopped.clone(), position))
}

/// The position of a listener.
struct Position {
    progress: ProgressListener,
    /// True if the stream cannot continue from the last event that the listener got.
    reset: bool,
}

impl Position {
    /// Returns the position after `Last-Event-ID`, or else the current one.
    fn wanted(log: &ProgressLog, headers: &HeaderMap) -> Self {
        let from_now = |reset| Self { progress: log.listen(), reset };
        let Some(last) = headers.get("last-event-id").filter(|last| !last.is_empty()) else {
            return from_now(false);
        };
        match last.to_str().ok().and_then(|last| last.parse::<ProgressId>().ok()).map(|id| log.listen_after(id)) {
            Some(Ok(progress)) => Self { progress, reset: false },
            Some(Err(progress)) => Self { progress, reset: true },
            None => from_now(true),
        }
    }
}

/// Returns the stream for this permit. `slot` is one of the caller's listener slots, which is freed when the stream
/// ends.
fn stream(permit: Permit, position: Position, stopped: Stopped, slot: OwnedSemaphorePermit) -> Response {
    let (sender, events) = mpsc::channel(1);
    tokio::spawn(async move {
        let _slot = slot;
        forward(permit, position, stopped, sender).await;
    });
    let body = Body::new(Events(events));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// Forwards events until the listener, the agent or the program ends.
async fn forward(
    permit: Permit,
    Position { mut progress, reset }: Position,
    mut stopped: Stopped,
    listener: mpsc::Sender<Bytes>,
) {
    let mut keep_alive = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // This is sent immediately, so the listener knows that it will get all later events.
    let mut told = progress.heard();
    let first = if reset { missed(told) } else { format!("id: {told}\n\n") };
    let mut next = Some(Bytes::from(format!(": listening\n{first}")));
    loop {
        if let Some(event) = next.take() {
            tokio::select! {
                sent = listener.send(event) => if sent.is_err() { return },
                () = stopped.wait() => return,
            }
        }
        next = tokio::select! {
            heard = progress.next() => match heard {
                Ok(step) if step.till.is_empty() || permit.hears(&step.till) => {
                    told = progress.heard();
                    Some(event(told, &step.now()).into())
                }
                Ok(_) => None,
                Err(Missed) => {
                    told = progress.heard();
                    Some(missed(told).into())
                }
            },
            _ = keep_alive.tick() => {
                let is_new = told != progress.heard();
                told = progress.heard();
                Some(if is_new { format!(":\nid: {told}\n\n").into() } else { Bytes::from_static(b":\n\n") })
            }
            () = listener.closed() => return,
            () = stopped.wait() => return,
        };
    }
}

fn event(id: ProgressId, step: &Progress) -> String {
    // A line feed in the code would begin another field. JSON contains no line feed.
    let word: String = step.step.chars().filter(char::is_ascii_graphic).collect();
    let data = serde_json::to_string(step).expect("a step holds only text and numbers");
    format!("id: {id}\nevent: {word}\ndata: {data}\n\n")
}

fn missed(id: ProgressId) -> String {
    let (till, reference, sale) = Default::default();
    event(id, &Progress { till, reference, step: "reset".to_owned(), text: RESET.to_owned(), training: false, sale })
}

struct Events(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}
