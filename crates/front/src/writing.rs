//! Bodies that are written piece by piece, and bodies that may end early.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;

use crate::problem::{Answer, Body, BodyError};

/// A body whose pieces come from a channel.
pub(crate) struct Stream(pub(crate) mpsc::Receiver<Bytes>);

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// Returns the answer with a body that ends when `end` does.
pub(crate) fn until(end: impl Future<Output = ()> + Send + 'static, answer: Answer) -> Answer {
    answer.map(|body| Until { body, end: Box::pin(end) }.boxed_unsync())
}

struct Until {
    body: Body,
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl hyper::body::Body for Until {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
