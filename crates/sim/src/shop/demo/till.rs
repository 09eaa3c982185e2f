//! The demo's till. Like any till, it begins sales, refunds and voids over the agent's socket, and receives each step.
//!
//! Its code follows only the documents of the interface. Unlike the command line, it sends each request once, and
//! reports a lost answer. The person at the keyboard decides whether to repeat the request.

use std::path::PathBuf;
use std::time::Duration;

use hyper::{HeaderMap, Method};
use pos_till_api::client::{Client, Event, Events, Listened, Question};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::{encoded, find};
use serde::{Deserialize, Deserializer, Serialize};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// The time-out for connecting; the socket is on this machine.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The time-out for routes without their own time-out.
const ANSWER_WITHIN: Duration = AnswerDeadline::AtOnce.caller();
/// The time without a step after which the till requests the terminal's state.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The pause between two attempts to connect to an agent that is not running.
const CALL_AGAIN: Duration = Duration::from_millis(20);
/// The longest accepted answer; a state is shorter than 100 kB.
const MAX_ANSWER: usize = 1 << 20;

/// A step, as in `/v1/events`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Step {
    /// The reference; empty for a step of the terminal itself.
    pub(super) reference: String,
    /// The name of the step, for programs.
    pub(super) step: String,
    /// The text of the step, for people.
    pub(super) text: String,
    /// The transaction, if the step changes it.
    pub(super) sale: Option<Sale>,
}

/// A transaction, with the fields that the screen shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Sale {
    /// The till's reference.
    pub(super) reference: String,
    /// `sale`, `refund`, `reversal`, …
    #[serde(default)]
    pub(super) kind: String,
    /// The requested amount, as `12.34`.
    pub(super) amount: String,
    /// `waiting-for-card`, `in-progress`, `awaiting-signature`, `unconfirmed`, `ended`, …
    pub(super) state: String,
    /// `approved`, `declined`, …; only if the transaction has ended.
    pub(super) outcome: Option<String>,
    /// The text for people.
    pub(super) text: String,
    /// True if the agent already knew the reference.
    #[serde(default)]
    pub(super) replayed: bool,
}

impl Sale {
    /// Returns whether the till is busy with this transaction, so that the next one must wait.
    pub(super) fn is_under_way(&self) -> bool {
        self.waits_for_card() || self.state == "in-progress"
    }

    /// Returns whether the cashier must check the signature.
    pub(super) fn waits_for_signature(&self) -> bool {
        self.state == "awaiting-signature"
    }

    /// Returns whether the customer must act.
    pub(super) fn waits_for_card(&self) -> bool {
        self.state == "waiting-for-card"
    }
}

/// The terminal's state, with the fields that the screen shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Status {
    /// True if the terminal is ready for transactions.
    pub(super) ready: bool,
    /// True if a transaction uses the reader.
    pub(super) busy: bool,
    /// The messages that need a person.
    #[serde(deserialize_with = "sentences")]
    pub(super) attention: Vec<String>,
    /// The transaction that uses the reader.
    pub(super) current: Option<Sale>,
}

/// Reads the sentence of each message.
fn sentences<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    struct Attention {
        text: String,
    }
    Ok(Vec::<Attention>::deserialize(deserializer)?.into_iter().map(|one| one.text).collect())
}

/// The sums since the journal began, with the fields that the screen shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Totals {
    /// Transactions without an outcome, which are in no sum.
    pub(super) open: Vec<Sale>,
    /// The sums by kind.
    pub(super) kinds: Vec<Sum>,
    /// The sums by kind and card scheme.
    pub(super) schemes: Vec<Sum>,
    /// Tips, which are also in the sums of the sales.
    pub(super) tips: Vec<Sum>,
    /// The number of declined transactions.
    pub(super) declined: u64,
    /// The number of transactions that the terminal reversed automatically.
    pub(super) taken_back: u64,
    /// The number of cancelled transactions.
    pub(super) cancelled: u64,
    /// The number of transactions that were not sent.
    pub(super) not_sent: u64,
}

/// One line of the totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Sum {
    /// `sale`, `refund`, `reversal`, …
    pub(super) kind: String,
    /// The card's brand.
    pub(super) scheme: Option<String>,
    /// The currency as ISO 4217 letters.
    pub(super) currency: String,
    /// The number of transactions.
    pub(super) count: u64,
    /// The sum, as `12.34`.
    pub(super) sum: String,
}

/// A transaction, with the fields of `POST /v1/sales`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wanted {
    /// The till's reference.
    pub(super) reference: String,
    /// The kind.
    pub(super) kind: &'static str,
    /// The amount as `12.34`; without it, the whole remaining amount of the earlier transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) amount: Option<String>,
    /// `ask` if the customer types a tip on the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tip: Option<&'static str>,
    /// True if the till accepts a partial approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accept_partial: Option<bool>,
    /// The reference of the earlier transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<String>,
}

impl Wanted {
    /// Makes a sale. The demo's cashier takes cash for the rest, so a partial approval is accepted.
    pub(super) fn sale(reference: String, amount: String, with_tip: bool) -> Self {
        let tip = with_tip.then_some("ask");
        Self { reference, kind: "sale", amount: Some(amount), tip, accept_partial: Some(true), of: None }
    }

    /// Makes a refund of a part of a sale, or of the whole remaining amount.
    pub(super) fn refund(reference: String, of: String, amount: Option<String>) -> Self {
        Self { reference, kind: "refund", amount, of: Some(of), ..Self::default() }
    }

    /// Makes a reversal of the whole sale.
    pub(super) fn void(reference: String, of: String) -> Self {
        Self { reference, kind: "reversal", of: Some(of), ..Self::default() }
    }
}

/// A request to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Begin a transaction, or repeat a known one.
    Begin(Wanted),
    /// Cancel a transaction.
    Cancel(String),
    /// Accept or refuse the signature.
    Signature(String, bool),
    /// Look up a transaction's state.
    Show(String),
}

/// News from the till.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The till is connected to the agent.
    Connected,
    /// The connection was lost.
    Lost,
    /// A step.
    Step(Step),
    /// The terminal's state.
    Status(Status),
    /// An answer, or the reason why there is no answer.
    Answer(Asked, Result<Sale, Failed>),
    /// The sums, or the reason why they are missing.
    Totals(Result<Totals, Failed>),
}

/// The reason for a missing answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failed {
    /// The agent refused, and nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// It is unknown whether the agent has received the request.
    #[error("{0}")]
    Lost(String),
}

fn lost(error: impl ToString) -> Failed {
    Failed::Lost(error.to_string())
}

/// The till's side of the connection. All clones are the same till.
#[derive(Clone)]
pub(super) struct Till {
    agent: Client,
    news: mpsc::Sender<News>,
}

impl Till {
    /// Makes a till for this socket, and the channel for its news. The till connects when the agent is running, and
    /// reconnects after every loss.
    pub(super) fn open(socket: PathBuf) -> (Self, mpsc::Receiver<News>) {
        let (news, heard) = mpsc::channel(64);
        let till = Self { agent: Client::at(socket, CONNECT_WITHIN), news };
        tokio::spawn(till.clone().listen());
        (till, heard)
    }

    /// Sends a request. The answer arrives as news.
    pub(super) fn ask(&self, asked: Asked) {
        let till = self.clone();
        tokio::spawn(async move {
            let answer = till.answer(&asked).await;
            // The receiver no longer exists when the demo ends.
            let _ = till.news.send(News::Answer(asked, answer)).await;
        });
    }

    /// Requests the sums, which arrive as news.
    pub(super) fn ask_totals(&self) {
        let till = self.clone();
        tokio::spawn(async move {
            let sums = till.json(Method::GET, "/v1/totals", String::new()).await;
            let _ = till.news.send(News::Totals(sums)).await;
        });
    }

    async fn answer(&self, asked: &Asked) -> Result<Sale, Failed> {
        let (method, path, body) = match asked {
            Asked::Begin(wanted) => {
                (Method::POST, "/v1/sales".to_owned(), serde_json::to_string(wanted).map_err(lost)?)
            }
            Asked::Cancel(reference) => {
                (Method::POST, format!("/v1/sales/{}/cancel", encoded(reference)), "{}".to_owned())
            }
            Asked::Signature(reference, accepted) => {
                let body = serde_json::json!({ "accepted": accepted });
                (Method::POST, format!("/v1/sales/{}/signature", encoded(reference)), body.to_string())
            }
            Asked::Show(reference) => (Method::GET, format!("/v1/sales/{}", encoded(reference)), String::new()),
        };
        self.json(method, &path, body).await
    }

    /// Passes on every step until the receiver is dropped.
    async fn listen(self) {
        while !self.news.is_closed() {
            if self.listen_once().await.is_ok_and(|()| self.news.is_closed()) {
                return;
            }
            sleep(CALL_AGAIN).await;
        }
    }

    async fn listen_once(&self) -> Result<(), Failed> {
        let mut events = match self.agent.listen(HeaderMap::new(), ANSWER_WITHIN).await.map_err(lost)? {
            Listened::Events(events) => events,
            Listened::Refused { body, .. } => return Err(refusal(&body)),
        };
        // The first message is a comment. After it, no step is missed.
        events.next().await.map_err(lost)?;
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
            let news = match timeout(LOOK_EVERY, next_step(events)).await {
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
        let patience = find(method.as_str(), path).map_or(ANSWER_WITHIN, |route| route.deadline.caller());
        let question = Question { method, body: body.into(), ..Question::get(path, patience) };
        let (status, body) = self.agent.ask(question, MAX_ANSWER).await.map_err(lost)?;
        if status.is_success() { serde_json::from_slice(&body).map_err(lost) } else { Err(refusal(&body)) }
    }
}

/// Returns the next step. Dropping the future loses no data.
async fn next_step(events: &mut Events) -> Result<Step, Failed> {
    loop {
        let event = events.next().await.map_err(lost)?.ok_or_else(|| lost("the agent closed the event stream"))?;
        if let Some(step) = step(&event) {
            return Ok(step);
        }
    }
}

/// Reads a step, and ignores comments and words of a newer agent.
fn step(event: &Event) -> Option<Step> {
    serde_json::from_str(&event.data).ok()
}

/// Reads the text of a refusal from its problem details (RFC 9457).
fn refusal(bytes: &[u8]) -> Failed {
    let said: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    match (said["code"].as_str(), said["detail"].as_str()) {
        // Only this refusal leaves it open whether the agent has received the request.
        (Some("no-answer"), Some(detail)) => lost(detail),
        (_, Some(detail)) => Failed::Refused(detail.to_owned()),
        _ => lost("the answer gives no reason"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_written_as_the_interface_documents_it() {
        let json = |wanted| serde_json::to_string(&wanted).unwrap();
        let (first, second) = (|| "demo-1".to_owned(), || "demo-2".to_owned());
        let sale = r#"{"reference":"demo-1","kind":"sale","amount":"12.34","tip":"ask","acceptPartial":true}"#;
        assert_eq!(json(Wanted::sale(first(), "12.34".to_owned(), true)), sale);
        let refund = r#"{"reference":"demo-2","kind":"refund","of":"demo-1"}"#;
        assert_eq!(json(Wanted::refund(second(), first(), None)), refund);
        let void = r#"{"reference":"demo-2","kind":"reversal","of":"demo-1"}"#;
        assert_eq!(json(Wanted::void(second(), first())), void);
    }

    #[test]
    fn what_needs_a_person_is_told_by_its_sentence() {
        let attention =
            r#"[{"code":"printer-no-paper","text":"no paper"},{"code":"reader-absent","text":"no reader"}]"#;
        let json = format!(r#"{{"ready":false,"busy":false,"attention":{attention},"current":null}}"#);
        let status: Status = serde_json::from_str(&json).unwrap();
        assert_eq!(status.attention, ["no paper", "no reader"]);
    }

    #[test]
    fn a_step_is_read_and_a_comment_is_not() {
        let step = |text: &'static str| step(&Event::read(text.as_bytes().into()));
        // This is the documented format of the interface, in `till/http/events.rs`.
        let block = "event: pin-entry\ndata: {\"till\":\"local\",\"reference\":\"r\",\"step\":\"pin-entry\",\"text\":\"PIN *\"}\n\n";
        let read = step(block).unwrap();
        assert_eq!((read.reference.as_str(), read.text.as_str(), read.sale), ("r", "PIN *", None));
        for nothing in [": listening\n\n", ":\n\n", "id: 7-1\n\n"] {
            assert_eq!(step(nothing), None);
        }
    }

    #[test]
    fn a_refusal_is_its_detail() {
        let refused = |json: &str| refusal(json.as_bytes());
        let busy =
            refused(r#"{"type":"urn:pos-agent:problem:busy","status":409,"code":"busy","detail":"wait for it"}"#);
        assert_eq!(busy, Failed::Refused("wait for it".to_owned()));
        let unknown = refused(r#"{"code":"no-answer","detail":"ask again"}"#);
        assert_eq!(unknown, Failed::Lost("ask again".to_owned()), "it may have been carried out");
        assert!(matches!(refused("<html>"), Failed::Lost(_)));
    }
}
