//! The only client of the interface. It uses HTTP over the agent's Unix socket, and reads the stream of events.
//!
//! Each request has its own connection. This takes about fifty microseconds on a Unix socket, and needs no recovery
//! after either side restarts. The client never repeats a request automatically, because the meaning of a lost answer
//! depends on the request.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Maximum size of an event in bytes. One event contains one transaction with all of the gateway's data.
const MOST_EVENT: usize = 256 * 1024;

/// One request.
#[derive(Clone, Debug)]
pub struct Question {
    /// The HTTP method.
    pub method: Method,
    /// The path and query, encoded.
    pub target: String,
    /// Headers in addition to `Host` and `Content-Type`, which the client writes.
    pub headers: HeaderMap,
    /// The JSON body, which is empty if there is none.
    pub body: Bytes,
    /// The maximum time until the head of the answer arrives.
    pub patience: Duration,
}

impl Question {
    /// Creates a request without a body. `patience` is the maximum time until the head of the answer arrives.
    #[must_use]
    pub fn get(target: impl Into<String>, patience: Duration) -> Self {
        Self { method: Method::GET, target: target.into(), headers: HeaderMap::new(), body: Bytes::new(), patience }
    }
}

/// The reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The agent is not reachable, so the request was not sent.
    #[error("{0}")]
    Unreachable(io::Error),
    /// The connection broke, so the request may have been sent.
    #[error("{0}")]
    Broken(hyper::Error),
    /// The request was sent, but the deadline passed.
    #[error("it does not answer")]
    Silent,
    /// The answer is larger than this number of bytes, which the caller allows.
    #[error("the answer has more than {0} bytes")]
    TooLong(usize),
    /// The target or a header cannot be encoded.
    #[error("{0}")]
    Unwritable(hyper::http::Error),
}

impl ClientError {
    /// Returns whether the agent may have carried out the request.
    #[must_use]
    pub fn may_have_been_heard(&self) -> bool {
        !matches!(self, Self::Unreachable(_) | Self::Unwritable(_))
    }
}

/// A client of the agent's socket.
#[derive(Clone, Debug)]
pub struct Client {
    socket: PathBuf,
    connect: Duration,
}

impl Client {
    /// Creates a client of the agent at this socket. `connect` is the time limit for connecting.
    #[must_use]
    pub fn at(socket: PathBuf, connect: Duration) -> Self {
        Self { socket, connect }
    }

    /// Returns the path of the agent's socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Sends the request and waits for the head of the answer.
    ///
    /// # Errors
    /// Fails if no head arrives within the request's patience.
    pub async fn head(&self, question: Question) -> Result<Response<Incoming>, ClientError> {
        let connecting = timeout(self.connect, UnixStream::connect(&self.socket)).await;
        let stream = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let stream = stream.map_err(ClientError::Unreachable)?;
        let Question { method, target, headers, body, patience } = question;
        // The agent requires `Content-Type: application/json` on every command, even without a body.
        let is_command = method != Method::GET;
        let request = Request::builder().method(method).uri(target).header(HOST, HeaderValue::from_static("localhost"));
        let request = match is_command {
            true => request.header(CONTENT_TYPE, HeaderValue::from_static("application/json")),
            false => request,
        };
        let mut request = request.body(Full::new(body)).map_err(ClientError::Unwritable)?;
        request.headers_mut().extend(headers);
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(ClientError::Broken)?;
        // The task ends when the answer has been read or is no longer needed.
        tokio::spawn(connection);
        let answered = timeout(patience, sender.send_request(request)).await;
        answered.map_err(|_| ClientError::Silent)?.map_err(ClientError::Broken)
    }

    /// Sends the request and reads the whole answer, at most `most` bytes, within the request's patience.
    ///
    /// # Errors
    /// Fails if the answer is not complete by then, or is larger.
    pub async fn ask(&self, question: Question, most: usize) -> Result<(StatusCode, Bytes), ClientError> {
        let patience = question.patience;
        let whole = async {
            let (head, body) = self.head(question).await?.into_parts();
            Ok((head.status, whole(body, most).await?))
        };
        timeout(patience, whole).await.unwrap_or(Err(ClientError::Silent))
    }

    /// Opens the stream of events. `more` are additional headers of the request.
    ///
    /// # Errors
    /// Fails if no head arrives within `patience`.
    pub async fn listen(&self, mut more: HeaderMap, patience: Duration) -> Result<Listened, ClientError> {
        more.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let question = Question { headers: more, ..Question::get("/v1/events", patience) };
        let (head, body) = self.head(question).await?.into_parts();
        if head.status == StatusCode::OK {
            return Ok(Listened::Events(Events { body, waiting: BytesMut::new() }));
        }
        let body = timeout(patience, whole(body, MOST_EVENT)).await.unwrap_or(Err(ClientError::Silent));
        Ok(Listened::Refused { status: head.status, body: body.unwrap_or_default() })
    }
}

/// Reads the rest of an answer, at most `most` bytes.
///
/// # Errors
/// Fails if the rest is longer, or breaks off.
pub async fn whole(body: Incoming, most: usize) -> Result<Bytes, ClientError> {
    match Limited::new(body, most).collect().await {
        Ok(all) => Ok(all.to_bytes()),
        Err(error) => Err(error
            .downcast::<hyper::Error>()
            .map_or(ClientError::TooLong(most), |error| ClientError::Broken(*error))),
    }
}

/// The answer to a request for the events.
#[derive(Debug)]
pub enum Listened {
    /// The stream of events.
    Events(Events),
    /// The refusal, in the agent's words.
    Refused {
        /// The HTTP status.
        status: StatusCode,
        /// The problem details object.
        body: Bytes,
    },
}

/// One event or comment of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The bytes as received, including the empty line at the end.
    pub raw: Bytes,
    /// The value to send in `Last-Event-ID`.
    pub id: Option<String>,
    /// The word of the step, or `None` for a comment.
    pub step: Option<String>,
    /// The data of the event.
    pub data: String,
}

impl Event {
    /// Reads one block of a stream, up to its empty line.
    #[must_use]
    pub fn read(raw: Bytes) -> Self {
        let text = String::from_utf8_lossy(&raw);
        let mut event = Self { raw: Bytes::new(), id: None, step: None, data: String::new() };
        for line in text.lines() {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "id" => event.id = Some(value.to_owned()).filter(|id| !id.is_empty()),
                "event" => event.step = Some(value.to_owned()),
                "data" => event.data.push_str(value),
                _ => {}
            }
        }
        Self { raw, ..event }
    }

    /// Returns whether steps were missed. If so, the caller asks for the present state.
    #[must_use]
    pub fn is_reset(&self) -> bool {
        self.step.as_deref() == Some("reset")
    }
}

/// A stream of events.
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    /// The bytes of the next event that have arrived. They are kept if a caller stops waiting.
    waiting: BytesMut,
}

impl Events {
    /// Returns the next event or comment, or `None` at the end. Dropping the future loses no data.
    ///
    /// # Errors
    /// Fails if the stream breaks, or if an event has no end.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            if let Some(event) = first(&mut self.waiting) {
                return Ok(Some(event));
            }
            if self.waiting.len() > MOST_EVENT {
                return Err(ClientError::TooLong(MOST_EVENT));
            }
            match self.body.frame().await.transpose().map_err(ClientError::Broken)? {
                Some(frame) => self.waiting.extend_from_slice(&frame.into_data().unwrap_or_default()),
                None => return Ok(None),
            }
        }
    }
}

fn first(waiting: &mut BytesMut) -> Option<Event> {
    let end = waiting.windows(2).position(|two| two == b"\n\n")?;
    Some(Event::read(waiting.split_to(end + 2).freeze()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_apart_wherever_the_bytes_are_divided() {
        let text = ": listening\n\nid: 7-1\nevent: ended\ndata: {\"till\":\"a\"}\n\n:\n\nevent: reset\ndata: {}\n\n";
        for cut in 0..text.len() {
            let (mut waiting, mut events) = (BytesMut::new(), Vec::new());
            for part in [&text[..cut], &text[cut..]] {
                waiting.extend_from_slice(part.as_bytes());
                events.extend(std::iter::from_fn(|| first(&mut waiting)));
            }
            let steps: Vec<_> = events.iter().map(|event| event.step.as_deref()).collect();
            assert_eq!(steps, [None, Some("ended"), None, Some("reset")]);
            assert_eq!((events[1].id.as_deref(), events[1].data.as_str()), (Some("7-1"), "{\"till\":\"a\"}"));
            assert_eq!(events.iter().map(Event::is_reset).collect::<Vec<_>>(), [false, false, false, true]);
            let raw: Vec<u8> = events.iter().flat_map(|event| event.raw.to_vec()).collect();
            assert_eq!(raw, text.as_bytes());
        }
    }
}
