//! The one client of the interface: HTTP over the agent's Unix socket, and its stream of events.
//!
//! Each request has a connection of its own, which costs some fifty microseconds on a Unix socket and needs no mending
//! after a restart of either side. The client never asks twice by itself: what a lost answer means depends on the
//! question.

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

/// One event holds one sale with everything that the gateway said of it.
const MOST_EVENT: usize = 256 * 1024;

/// One question.
#[derive(Clone, Debug)]
pub struct Question {
    /// Verb.
    pub method: Method,
    /// Path and query, encoded.
    pub target: String,
    /// Beside `Host` and `Content-Type`, which the client writes.
    pub headers: HeaderMap,
    /// JSON; empty where there is none.
    pub body: Bytes,
    /// How long the head of the answer may take.
    pub patience: Duration,
}

impl Question {
    /// A question without a body; its answer may take so long.
    #[must_use]
    pub fn get(target: impl Into<String>, patience: Duration) -> Self {
        Self { method: Method::GET, target: target.into(), headers: HeaderMap::new(), body: Bytes::new(), patience }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody is there: nothing was asked.
    #[error("{0}")]
    Unreachable(io::Error),
    /// The connection broke: it may have been asked.
    #[error("{0}")]
    Broken(hyper::Error),
    /// It was asked, and the deadline passed.
    #[error("it does not answer")]
    Silent,
    /// The answer is larger than its reader allows.
    #[error("an answer of more than {0} bytes")]
    TooLong(usize),
    /// The target or a header cannot be written.
    #[error("{0}")]
    Unwritable(hyper::http::Error),
}

impl ClientError {
    /// Whether the agent may have carried out what it was asked.
    #[must_use]
    pub fn may_have_been_heard(&self) -> bool {
        !matches!(self, Self::Unreachable(_) | Self::Unwritable(_))
    }
}

/// The agent, behind its socket.
#[derive(Clone, Debug)]
pub struct Client {
    socket: PathBuf,
    connect: Duration,
}

impl Client {
    /// A client of the agent at this socket; a connection may take `connect`.
    #[must_use]
    pub fn at(socket: PathBuf, connect: Duration) -> Self {
        Self { socket, connect }
    }

    /// Where the agent listens.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Asks, and waits for the head of the answer.
    ///
    /// # Errors
    /// When there is no head within the question's patience.
    pub async fn head(&self, question: Question) -> Result<Response<Incoming>, ClientError> {
        let connecting = timeout(self.connect, UnixStream::connect(&self.socket)).await;
        let stream = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let stream = stream.map_err(ClientError::Unreachable)?;
        let Question { method, target, headers, body, patience } = question;
        // The agent takes no command in another form, be it empty.
        let is_command = method != Method::GET;
        let request = Request::builder().method(method).uri(target).header(HOST, HeaderValue::from_static("localhost"));
        let request = match is_command {
            true => request.header(CONTENT_TYPE, HeaderValue::from_static("application/json")),
            false => request,
        };
        let mut request = request.body(Full::new(body)).map_err(ClientError::Unwritable)?;
        request.headers_mut().extend(headers);
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(ClientError::Broken)?;
        // Ends when the answer was read, or is wanted no more.
        tokio::spawn(connection);
        let answered = timeout(patience, sender.send_request(request)).await;
        answered.map_err(|_| ClientError::Silent)?.map_err(ClientError::Broken)
    }

    /// Asks, and reads the whole answer of at most `most` bytes within the question's patience.
    ///
    /// # Errors
    /// When it is not there by then, or larger.
    pub async fn ask(&self, question: Question, most: usize) -> Result<(StatusCode, Bytes), ClientError> {
        let patience = question.patience;
        let whole = async {
            let (head, body) = self.head(question).await?.into_parts();
            Ok((head.status, whole(body, most).await?))
        };
        timeout(patience, whole).await.unwrap_or(Err(ClientError::Silent))
    }

    /// Opens the stream of events. `more` are headers of the request.
    ///
    /// # Errors
    /// When there is no head within `patience`.
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

/// The rest of an answer, of at most `most` bytes.
///
/// # Errors
/// When it is longer, or breaks off.
pub async fn whole(body: Incoming, most: usize) -> Result<Bytes, ClientError> {
    match Limited::new(body, most).collect().await {
        Ok(all) => Ok(all.to_bytes()),
        Err(error) => Err(error
            .downcast::<hyper::Error>()
            .map_or(ClientError::TooLong(most), |error| ClientError::Broken(*error))),
    }
}

/// What somebody hears who asks for the events.
#[derive(Debug)]
pub enum Listened {
    /// The stream.
    Events(Events),
    /// Why there is none, in the agent's words.
    Refused {
        /// HTTP status.
        status: StatusCode,
        /// A problem details object.
        body: Bytes,
    },
}

/// One event, or a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// As it came, with the empty line at its end.
    pub raw: Bytes,
    /// What `Last-Event-ID` would name.
    pub id: Option<String>,
    /// The step's word; `None` for a comment.
    pub step: Option<String>,
    /// What it says.
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

    /// Whether steps were missed: what stands now has to be asked.
    #[must_use]
    pub fn is_reset(&self) -> bool {
        self.step.as_deref() == Some("reset")
    }
}

/// A stream of events, one after the other.
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    /// What has arrived of the next event; it survives a caller that stops waiting.
    waiting: BytesMut,
}

impl Events {
    /// The next one, a comment too; `None` at the end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the stream breaks, or an event has no end.
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
