//! Watches a request's body to know whether the request may have been written, and from when the answer is waited for.
//!
//! The HTTP library asks for the body only when it has a connection whose TLS handshake is complete, just before it writes.
//! One atomic flag settles the race with the deadline: either the body is handed out, then the outcome can be unknown; or it
//! is forbidden first, then the body never leaves (the library gets an error, closes the connection, and at most a head
//! without its body was sent, which no server can process).

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::Instant;

const WAITING: u8 = 0;
const TAKEN: u8 = 1;
const FORBIDDEN: u8 = 2;

/// The watcher's end.
#[derive(Clone)]
pub(super) struct Sending(Arc<Flag>);

/// The library's end.
pub(super) struct WatchedBody {
    bytes: Option<Bytes>,
    flag: Arc<Flag>,
}

struct Flag {
    state: AtomicU8,
    taken_at: OnceLock<Instant>,
    taken: Notify,
}

/// Both ends of one body.
pub(super) fn watch(bytes: Bytes) -> (WatchedBody, Sending) {
    let flag = Arc::new(Flag { state: AtomicU8::new(WAITING), taken_at: OnceLock::new(), taken: Notify::new() });
    (WatchedBody { bytes: Some(bytes), flag: Arc::clone(&flag) }, Sending(flag))
}

impl Sending {
    /// Returns when the body has been handed out.
    pub(super) async fn begun(&self) {
        // `notify_one` leaves a permit, so it does not matter who comes first.
        self.0.taken.notified().await;
    }

    /// When the body was handed out; `None`: not yet, so nothing can have been processed.
    pub(super) fn begun_at(&self) -> Option<Instant> {
        match self.0.state.load(Ordering::SeqCst) {
            TAKEN => self.0.taken_at.get().copied().or_else(|| Some(Instant::now())),
            _ => None,
        }
    }

    /// Forbids the sending; false when it is too late.
    pub(super) fn forbid(&self) -> bool {
        self.0.state.compare_exchange(WAITING, FORBIDDEN, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// The deadline for connecting had passed.
#[derive(Debug, thiserror::Error)]
#[error("the request was given up before it was sent")]
pub(super) struct Forbidden;

impl http_body::Body for WatchedBody {
    type Data = Bytes;
    type Error = Forbidden;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Forbidden>>> {
        let Some(bytes) = self.bytes.take() else { return Poll::Ready(None) };
        if self.flag.state.compare_exchange(WAITING, TAKEN, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return Poll::Ready(Some(Err(Forbidden)));
        }
        // The cell is empty: the flag lets one call come here.
        let _ = self.flag.taken_at.set(Instant::now());
        self.flag.taken.notify_one();
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll(body: &mut WatchedBody) -> Poll<Option<Result<Frame<Bytes>, Forbidden>>> {
        http_body::Body::poll_frame(Pin::new(body), &mut Context::from_waker(std::task::Waker::noop()))
    }

    #[tokio::test]
    async fn a_body_is_handed_out_once_and_then_cannot_be_forbidden() {
        let (mut body, sending) = watch(Bytes::from_static(b"a=1"));
        assert!(sending.begun_at().is_none());
        assert!(matches!(poll(&mut body), Poll::Ready(Some(Ok(frame))) if frame.data_ref().unwrap() == "a=1"));
        assert!(matches!(poll(&mut body), Poll::Ready(None)));
        sending.begun().await;
        assert!(sending.begun_at().is_some() && !sending.forbid());
    }

    #[test]
    fn a_forbidden_body_is_never_handed_out() {
        let (mut body, sending) = watch(Bytes::from_static(b"a=1"));
        assert!(sending.forbid());
        assert!(matches!(poll(&mut body), Poll::Ready(Some(Err(Forbidden)))));
        assert!(sending.begun_at().is_none());
    }
}
