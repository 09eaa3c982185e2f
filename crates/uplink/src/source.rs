//! Where the entries and the status come from: the agent's socket.

use std::path::PathBuf;
use std::time::Duration;

use hyper::Method;
use pos_till_api::Entries;
use pos_till_api::client::{Client, ClientError, Question};
use serde_json::Value;

use crate::steer::Steering;

/// The wait for the connection to the socket.
const CONNECT: Duration = Duration::from_secs(2);
/// The wait for an answer. A list of entries waits for other lists.
const ANSWER: Duration = Duration::from_secs(30);
/// The largest answer in bytes. 50 entries with all of the gateway's data are smaller.
const LARGEST: usize = 4 * 1024 * 1024;
/// The number of entries of a request. They are one batch, if their content is left out or small.
const ENTRIES: usize = 50;

/// What the uplink reads of a terminal.
pub trait Source: Send {
    /// Reads the entries after this one, some of them.
    fn entries(&mut self, after: i64) -> impl Future<Output = Result<Entries, SourceError>> + Send;
    /// Reads the terminal's status.
    fn status(&mut self) -> impl Future<Output = Result<Value, SourceError>> + Send;
    /// Reads the terminal's metrics (OpenMetrics).
    fn metrics(&mut self) -> impl Future<Output = Result<String, SourceError>> + Send;

    /// The way for signed documents.
    type Steered: Steering;
    /// Returns the way for signed documents, if there is one.
    fn steering(&self) -> Option<Self::Steered>;
}

/// The reason why the terminal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// No answer.
    #[error("the agent cannot be asked: {0}")]
    Client(#[from] ClientError),
    /// A refusal, in the agent's words.
    #[error("the agent refuses to be read: {0}")]
    Refused(String),
    /// An answer that this version cannot read.
    #[error("the agent's answer cannot be read: {0}")]
    Unreadable(String),
}

impl SourceError {
    /// Returns whether the agent may have started again since the answer before.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        matches!(self, Self::Client(error) if may_have_restarted(error))
    }
}

/// Returns whether an agent that did not answer may have started again. One that is only slow has not.
pub(crate) fn may_have_restarted(error: &ClientError) -> bool {
    matches!(error, ClientError::Unreachable(_) | ClientError::Broken(_))
}

/// The agent of this board.
#[derive(Clone, Debug)]
pub struct Agent {
    client: Client,
}

impl Agent {
    /// Creates the source of the agent at this socket.
    #[must_use]
    pub fn at(socket: PathBuf) -> Self {
        Self { client: Client::at(socket, CONNECT) }
    }

    async fn get(&self, target: String) -> Result<Vec<u8>, SourceError> {
        let (status, body) = self.client.ask(Question::get(target, ANSWER), LARGEST).await?;
        if status.is_success() {
            return Ok(body.to_vec());
        }
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        let why = problem["detail"].as_str().or(problem["title"].as_str()).unwrap_or(status.as_str());
        Err(SourceError::Refused(why.to_owned()))
    }
}

fn read<A: serde::de::DeserializeOwned>(body: &[u8]) -> Result<A, SourceError> {
    serde_json::from_slice(body).map_err(|error| SourceError::Unreadable(error.to_string()))
}

impl Source for Agent {
    async fn entries(&mut self, after: i64) -> Result<Entries, SourceError> {
        read(&self.get(format!("/v1/journal?after={}&limit={ENTRIES}", after.max(0))).await?)
    }

    async fn status(&mut self) -> Result<Value, SourceError> {
        read(&self.get("/v1/status".to_owned()).await?)
    }

    async fn metrics(&mut self) -> Result<String, SourceError> {
        let text = self.get("/v1/metrics".to_owned()).await?;
        String::from_utf8(text).map_err(|error| SourceError::Unreadable(error.to_string()))
    }

    type Steered = Self;

    fn steering(&self) -> Option<Self> {
        Some(self.clone())
    }
}

impl Steering for Agent {
    async fn ask(
        &self,
        target: String,
        body: Option<Vec<u8>>,
        patience: Duration,
    ) -> Result<(u16, Vec<u8>), ClientError> {
        let mut question = Question::get(target, patience);
        if let Some(body) = body {
            (question.method, question.body) = (Method::POST, body.into());
        }
        let (status, body) = self.client.ask(question, LARGEST).await?;
        Ok((status.as_u16(), body.to_vec()))
    }
}
