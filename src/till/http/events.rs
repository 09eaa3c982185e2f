//! Server-sent events: every step of the caller's sales and of the terminal, as it happens.
//!
//! A slow listener holds up nobody and costs a fixed amount: one event waits for it here, the others in the broadcast's
//! ring. When the ring has gone past it, it is told (`event: lagged`) and goes on with the newest. One that takes
//! nothing any more is closed with its connection (`writing.rs`). How many a caller may have is in `places.rs`.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::Stopped;
use super::api::{App, Route, routes};
use super::failure::Failure;
use super::places::Allowance;
use crate::till::{Caller, Permit, Progress, Verb};

/// A comment this often shows both ends that the other one lives; the command line gives up after three of them.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Every step as it happens.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/events" => listen,
        Operation::new("events", "Every step of the caller's transactions and of the terminal, as it happens")
            .text("Server-sent events: `event` is the step's word, `data` one object of the schema `Progress`.")
            .needs(Verb::Listen)
            .streams::<Progress>(200, "The events, without end.")
            .refuses(&[ProblemType::TooManyListeners]);
};

async fn listen(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Listen)?;
    let place = allowance.listener()?;
    Ok(stream(permit, app.progress.subscribe(), app.stopped.clone(), place))
}

/// The stream for whoever has this permit, from now on; `place` is one of those that it may have, and free when the
/// stream ends.
fn stream(
    permit: Permit,
    progress: broadcast::Receiver<Progress>,
    stopped: Stopped,
    place: OwnedSemaphorePermit,
) -> Response {
    let (sender, events) = mpsc::channel(1);
    tokio::spawn(async move {
        let _place = place;
        forward(permit, progress, stopped, sender).await;
    });
    let body = Body::new(Events(events));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// Ends when the listener, the agent or the program does.
async fn forward(
    permit: Permit,
    mut progress: broadcast::Receiver<Progress>,
    mut stopped: Stopped,
    listener: mpsc::Sender<Bytes>,
) {
    let mut keep_alive = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // At once, so that the listener knows that nothing will be missed from here on.
    let mut next = Some(Bytes::from_static(b": listening\n\n"));
    loop {
        if let Some(event) = next.take() {
            tokio::select! {
                sent = listener.send(event) => if sent.is_err() { return },
                () = stopped.wait() => return,
            }
        }
        next = tokio::select! {
            heard = progress.recv() => match heard {
                Ok(step) if step.till.is_empty() || permit.hears(&step.till) => Some(event(&step)),
                Ok(_) => None,
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    Some(Bytes::from(format!("event: lagged\ndata: {{\"missed\":{missed}}}\n\n")))
                }
                Err(broadcast::error::RecvError::Closed) => return,
            },
            _ = keep_alive.tick() => Some(Bytes::from_static(b":\n\n")),
            () = listener.closed() => return,
            () = stopped.wait() => return,
        };
    }
}

fn event(step: &Progress) -> Bytes {
    // A line feed in the word would begin another field; JSON holds none.
    let word: String = step.step.chars().filter(char::is_ascii_graphic).collect();
    let data = serde_json::to_string(step).expect("a step holds only text and numbers");
    Bytes::from(format!("event: {word}\ndata: {data}\n\n"))
}

struct Events(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}
