//! Opens the connection to the gateway step by step, for `pos-agent doctor`. It uses the same files, certificates and
//! connections as a payment. It sends nothing that could move money: only the probe without a token, and the query.
//!
//! This module does not judge. It reports each step's result and duration; the doctor interprets them.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use tokio::time::{Instant, timeout};

use super::address::Address;
use super::answer::Reply;
use super::client::{query_of, query_parameters, redirect, request_of};
use super::fault::Fault;
use super::files::Files;
use super::line::{Exchange, GatewayLine, GatewayLines};
use super::{Certificate, CertificateClock, Error, Expiry, Token, inquiry, json};
use crate::config;
use pos_core::transaction::Inquiry;

pub use super::line::Connection;

/// The folder in which systemd puts the credentials of a unit; root may read it.
const CREDENTIALS: &str = "/run/credentials/pos-agent.service";

/// The result of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The gateway's clock (`Date`), in seconds since 1970, if the answer has one.
    pub unix_s: Option<i64>,
    /// The time from the request to the end of its answer, on an open connection.
    pub round_trip: Duration,
}

/// The result of a query.
#[derive(Debug)]
pub struct QueryProbe {
    /// The HTTP status.
    pub status: u16,
    /// The meaning of the answer for a reversal.
    pub inquiry: Inquiry,
    /// The gateway's description, if it refuses.
    pub description: Option<String>,
}

/// A probe of one gateway.
pub struct GatewayProbe {
    address: Address,
    files: Arc<Files>,
    lines: GatewayLines,
    gateway: config::Gateway,
    line: Option<GatewayLine>,
}

/// Returns the folder of systemd's credentials: that of this process, or else that of the unit.
#[must_use]
pub fn credentials() -> Option<PathBuf> {
    super::token::credentials().or_else(|| Some(PathBuf::from(CREDENTIALS)).filter(|folder| folder.is_dir()))
}

impl GatewayProbe {
    /// Reads the certificate files, but opens no connection. Without a token, [`Self::ask`] is not available.
    ///
    /// # Errors
    /// Returns [`Error`] if the settings or a file contain a mistake.
    pub fn new(gateway: &config::Gateway, token: Option<Token>, clock: CertificateClock) -> Result<Self, Error> {
        let address = Address::parse(&gateway.url).map_err(|why| Error::Url { why: why.to_owned() })?;
        let files = Arc::new(Files::new(gateway, credentials(), token, clock)?);
        let connect = Duration::from_millis(gateway.connect_timeout_ms);
        let lines = GatewayLines::new(address.clone(), Arc::clone(&files), connect);
        Ok(Self { address, files, lines, gateway: gateway.clone(), line: None })
    }

    /// Returns the gateway's addresses.
    ///
    /// # Errors
    /// Returns the reason why there are none.
    pub async fn resolve(&self) -> Result<Vec<IpAddr>, Fault> {
        let places = timeout(Duration::from_millis(self.gateway.connect_timeout_ms), self.lines.resolve()).await;
        let places = places.map_err(|_| Fault::NameServerSilent)??;
        Ok(places.into_iter().map(|place| place.ip()).collect())
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// Returns the same fault that a transaction would get.
    pub async fn connect(&mut self) -> Result<Connection, Fault> {
        let line = self.lines.open().await?;
        let made = line.connection().clone();
        self.line = Some(line);
        Ok(made)
    }

    /// Returns the certificates that the gateway showed, its own first, even if they were refused.
    #[must_use]
    pub fn chain(&self) -> Vec<Certificate> {
        self.files.chain()
    }

    /// Returns the CAs of `ca-file`.
    #[must_use]
    pub fn anchors(&self) -> Vec<Certificate> {
        self.files.tls().0.anchors.clone()
    }

    /// Returns our own certificate.
    #[must_use]
    pub fn client(&self) -> Option<Certificate> {
        self.files.tls().0.client.clone()
    }

    /// Returns every item that expires.
    #[must_use]
    pub fn expiries(&self) -> Vec<Expiry> {
        self.files.expiries()
    }

    /// Sends the probe without our token, and returns the time until its answer. Any answer is enough.
    ///
    /// # Errors
    /// Returns an error if no complete answer arrives in time.
    pub async fn round_trip(&mut self) -> Result<Duration, String> {
        let path = self.address.path(&self.gateway.assumptions.probe_path, &[]);
        let start = Instant::now();
        self.send(None, &Method::GET, &path, None).await?;
        Ok(start.elapsed())
    }

    /// Returns the time of the gateway's clock in its latest answer, in seconds since 1970.
    #[must_use]
    pub fn gateway_unix_s(&self) -> Option<i64> {
        self.line.as_ref()?.gateway_unix_s()
    }

    /// Looks up a gateway reference.
    ///
    /// # Errors
    /// Returns an error if no complete answer arrives in time.
    pub async fn ask(&mut self, reference: &str) -> Result<QueryProbe, String> {
        let gateway = self.gateway.clone();
        let assumptions = &gateway.assumptions;
        let (method, path, body) = query_of(&self.address, assumptions, &query_parameters(&gateway, reference));
        let token = self.files.token();
        let mut reply = self.send(token.as_ref(), &method, &path, body.as_ref()).await?;
        if let Some(target) = redirect(&self.address, &reply).map_err(|fault| fault.to_string())? {
            reply = self.send(token.as_ref(), &method, &target, body.as_ref()).await?;
            if reply.status == 307 {
                let twice = Fault::RedirectsTwice;
                return Err(format!("{twice}; check url in [gateway] and query-path in [gateway.assumptions]"));
            }
        }
        let description = json::read(&reply.body).and_then(|body| {
            body.pointer("/result/description")?.as_str().map(|text| text.chars().take(160).collect())
        });
        Ok(QueryProbe { status: reply.status, inquiry: inquiry::read(&reply, reference, assumptions), description })
    }

    async fn send(
        &mut self,
        token: Option<&Token>,
        method: &Method,
        path: &str,
        body: Option<&Bytes>,
    ) -> Result<Reply, String> {
        let ms = self.gateway.answer_timeout_ms;
        let mut why = None;
        // A gateway may close an idle connection, but closing a new one immediately is a fault.
        for _ in 1..=2 {
            let request = request_of(&self.address, token, method.clone(), path, body);
            let request = request.map_err(|fault| fault.to_string())?;
            let mut line = match self.line.take() {
                Some(line) => line,
                None => self.lines.open().await.map_err(|fault| fault.to_string())?,
            };
            match timeout(Duration::from_millis(ms), line.exchange(request)).await {
                Ok(Exchange::Answered(reply)) => {
                    self.line = Some(line);
                    return Ok(reply);
                }
                Ok(Exchange::HandedBack(_)) => why = line.why_ended(),
                Ok(Exchange::Broken(fault)) => {
                    let why = fault.to_string();
                    let has_remedy = why.contains("; ");
                    return Err(if has_remedy {
                        why
                    } else {
                        format!("{why}; check the network and url in [gateway]")
                    });
                }
                Err(_) => {
                    let late = Fault::AnswerTimedOut { ms: ms.into() };
                    return Err(format!("{late}; check the network, then tell the gateway's operator"));
                }
            }
        }
        let closes = || format!("{}; tell the gateway's operator", Fault::ClosedAtOnce);
        Err(why.map_or_else(closes, |fault| fault.to_string()))
    }
}

impl std::fmt::Debug for GatewayProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GatewayProbe").field("gateway", &self.gateway.url).finish_non_exhaustive()
    }
}
