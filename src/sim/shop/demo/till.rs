//! The demo's till: starts and cancels sales over the agent's own socket and hears each step, as any till would.
//!
//! It knows the interface by its words alone and shares no type with the agent. What this is not: the command line. It asks
//! once and says so when the answer is lost; whether to ask again is up to the person at the keyboard.

use std::future::poll_fn;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, header};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// The agent answers within one write of its journal.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);
/// Without a step for so long, the terminal's state is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Between two calls for an agent that is not there.
const CALL_AGAIN: Duration = Duration::from_millis(20);
/// A state is below 100 kB.
const MAX_ANSWER: usize = 1 << 20;

/// A step, as on `/v1/events`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Step {
    /// Empty for the terminal itself.
    pub(super) reference: String,
    /// For programs.
    pub(super) step: String,
    /// For people.
    pub(super) text: String,
    /// With steps that change the sale.
    pub(super) sale: Option<Sale>,
}

/// A sale, as far as the screen shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Sale {
    /// The till's name for it.
    pub(super) reference: String,
    /// What was asked for, as `12.34`.
    pub(super) amount: String,
    /// `waiting-for-card`, `in-progress`, `awaiting-signature`, `unconfirmed`, `ended`.
    pub(super) state: String,
    /// `approved`, `declined`, …; only when ended.
    pub(super) outcome: Option<String>,
    /// For people.
    pub(super) text: String,
    /// Known before it was asked for.
    #[serde(default)]
    pub(super) replayed: bool,
}

impl Sale {
    /// Whether it holds the reader: the next one has to wait.
    pub(super) fn is_under_way(&self) -> bool {
        self.waits_for_card() || self.state == "in-progress"
    }

    /// Whether the slip lies on the counter, signed.
    pub(super) fn waits_for_signature(&self) -> bool {
        self.state == "awaiting-signature"
    }

    /// Whether it is the customer's turn.
    pub(super) fn waits_for_card(&self) -> bool {
        self.state == "waiting-for-card"
    }
}

/// The terminal's state, as far as the screen shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Status {
    /// The terminal can work.
    pub(super) ready: bool,
    /// A sale is at the reader.
    pub(super) busy: bool,
    /// What a person should see to.
    pub(super) attention: Vec<Attention>,
    /// The printers.
    pub(super) printers: Vec<PrinterState>,
    /// The sale at the reader.
    pub(super) current: Option<Sale>,
}

/// What a person should see to, as far as the screen shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Attention {
    /// One sentence.
    pub(super) text: String,
}

/// A printer, as far as the screen shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct PrinterState {
    /// A word.
    pub(super) state: String,
    /// What is wrong.
    pub(super) text: String,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A sale, new or known.
    Sale {
        /// Its name.
        reference: String,
        /// As `12.34`.
        amount: String,
    },
    /// To cancel it.
    Cancel(String),
    /// To accept or refuse the signature.
    Signature(String, bool),
    /// What became of it.
    Show(String),
}

/// What the till has to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The agent listens and is heard.
    Connected,
    /// It does not any more.
    Lost,
    /// A step.
    Step(Step),
    /// The terminal's state.
    Status(Status),
    /// An answer, or why there is none.
    Answer(Asked, Result<Sale, Failed>),
}

/// Why there is no answer to use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failed {
    /// The agent says no; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// Nobody knows whether the agent has heard.
    #[error("{0}")]
    Lost(String),
}

fn lost(error: impl ToString) -> Failed {
    Failed::Lost(error.to_string())
}

/// The till's end of the wire. Clones are the same till.
#[derive(Clone)]
pub(super) struct Till {
    socket: PathBuf,
    news: mpsc::Sender<News>,
}

impl Till {
    /// A till at this socket, and what it will tell. It calls until the agent is there, and again whenever it was lost.
    pub(super) fn open(socket: PathBuf) -> (Self, mpsc::Receiver<News>) {
        let (news, heard) = mpsc::channel(64);
        let till = Self { socket, news };
        tokio::spawn(till.clone().listen());
        (till, heard)
    }

    /// Asks; the answer is among the news.
    pub(super) fn ask(&self, asked: Asked) {
        let till = self.clone();
        tokio::spawn(async move {
            let answer = till.answer(&asked).await;
            // Nobody listens any more when the demo ends.
            let _ = till.news.send(News::Answer(asked, answer)).await;
        });
    }

    async fn answer(&self, asked: &Asked) -> Result<Sale, Failed> {
        let in_path = |reference: &str| form_urlencoded::byte_serialize(reference.as_bytes()).collect::<String>();
        let (method, path, body) = match asked {
            Asked::Sale { reference, amount } => {
                // The demo's cashier has cash for the rest, so that a partial approval can be seen.
                let body = serde_json::json!({ "reference": reference, "amount": amount, "acceptPartial": true });
                (Method::POST, "/v1/sales".to_owned(), body.to_string())
            }
            Asked::Cancel(reference) => {
                (Method::POST, format!("/v1/sales/{}/cancel", in_path(reference)), "{}".to_owned())
            }
            Asked::Signature(reference, accepted) => {
                let body = serde_json::json!({ "accepted": accepted });
                (Method::POST, format!("/v1/sales/{}/signature", in_path(reference)), body.to_string())
            }
            Asked::Show(reference) => (Method::GET, format!("/v1/sales/{}", in_path(reference)), String::new()),
        };
        self.json(method, &path, body).await
    }

    /// Tells every step until nobody wants to hear any more.
    async fn listen(self) {
        while !self.news.is_closed() {
            if self.listen_once().await.is_ok_and(|()| self.news.is_closed()) {
                return;
            }
            sleep(CALL_AGAIN).await;
        }
    }

    async fn listen_once(&self) -> Result<(), Failed> {
        let mut events =
            Events { body: self.send(Method::GET, "/v1/events", String::new()).await?.into_body(), buffer: Vec::new() };
        // The first thing sent is a comment: from here on nothing is missed.
        events.more().await?;
        if self.news.send(News::Connected).await.is_err() {
            return Ok(());
        }
        let told = self.tell(&mut events).await;
        let _ = self.news.send(News::Lost).await;
        told
    }

    async fn tell(&self, events: &mut Events) -> Result<(), Failed> {
        let mut known = None;
        loop {
            let news = match timeout(LOOK_EVERY, events.next()).await {
                Ok(step) => News::Step(step?),
                Err(_) => {
                    let status: Status = self.json(Method::GET, "/v1/status", String::new()).await?;
                    if known.as_ref() == Some(&status) {
                        continue;
                    }
                    known = Some(status.clone());
                    News::Status(status)
                }
            };
            if self.news.send(news).await.is_err() {
                return Ok(());
            }
        }
    }

    async fn json<T: serde::de::DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<T, Failed> {
        let answered = async {
            let answer = self.send(method, path, body).await?;
            let good = answer.status().is_success();
            let bytes = to_bytes(Body::new(answer.into_body()), MAX_ANSWER).await.map_err(lost)?;
            if good { serde_json::from_slice(&bytes).map_err(lost) } else { Err(refusal(&bytes)) }
        };
        timeout(ANSWER_WITHIN, answered).await.unwrap_or_else(|_| Err(lost("it does not answer")))
    }

    async fn send(&self, method: Method, path: &str, body: String) -> Result<Response<Incoming>, Failed> {
        let stream = UnixStream::connect(&self.socket).await.map_err(lost)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
        // Ends with the answer's body.
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "localhost")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body))
            .map_err(lost)?;
        sender.send_request(request).await.map_err(lost)
    }
}

/// The message of `{"error":{"code","message"}}`.
fn refusal(bytes: &[u8]) -> Failed {
    let said: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    match (said["error"]["code"].as_str(), said["error"]["message"].as_str()) {
        // The one refusal that does not know whether the agent has heard.
        (Some("no-answer"), Some(message)) => lost(message),
        (_, Some(message)) => Failed::Refused(message.to_owned()),
        _ => lost("an answer without a reason"),
    }
}

/// The stream of events.
struct Events {
    body: Incoming,
    /// What has arrived of the next event; it survives a caller that stops waiting.
    buffer: Vec<u8>,
}

impl Events {
    /// The next step. Dropping the future loses nothing.
    async fn next(&mut self) -> Result<Step, Failed> {
        loop {
            while let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
                if let Some(step) = step(&String::from_utf8_lossy(&block)) {
                    return Ok(step);
                }
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<(), Failed> {
        let frame = poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx)).await;
        let frame = frame.ok_or_else(|| lost("it ended the stream of events"))?.map_err(lost)?;
        self.buffer.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
        if self.buffer.len() > MAX_ANSWER { Err(lost("an event without an end")) } else { Ok(()) }
    }
}

/// Comments, and words of a newer agent, are nothing.
fn step(block: &str) -> Option<Step> {
    serde_json::from_str(block.lines().find_map(|line| line.strip_prefix("data: "))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_read_and_a_comment_is_not() {
        // As the interface documents it in `till/http/events.rs`.
        let block = "event: pin-entry\ndata: {\"till\":\"local\",\"reference\":\"r\",\"step\":\"pin-entry\",\"text\":\"PIN *\"}\n\n";
        let read = step(block).unwrap();
        assert_eq!((read.reference.as_str(), read.text.as_str(), read.sale), ("r", "PIN *", None));
        for nothing in [": listening\n\n", ":\n\n", "event: lagged\ndata: {\"missed\":6}\n\n"] {
            assert_eq!(step(nothing), None);
        }
    }

    #[test]
    fn a_refusal_is_its_message() {
        let refused = |json: &str| refusal(json.as_bytes());
        let busy = refused(r#"{"error":{"code":"busy","message":"wait for it"}}"#);
        assert_eq!(busy, Failed::Refused("wait for it".to_owned()));
        let unknown = refused(r#"{"error":{"code":"no-answer","message":"ask again"}}"#);
        assert_eq!(unknown, Failed::Lost("ask again".to_owned()), "it may have been carried out");
        assert!(matches!(refused("<html>"), Failed::Lost(_)));
    }
}
