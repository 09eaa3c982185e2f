//! The gateway over HTTP: one connection kept warm, each request sent at most once, every wait with a deadline.
//!
//! Why no request is ever sent twice:
//! - reqwest follows no redirect, has no retry policy, and cannot copy the body it is given ([`super::sending`]);
//! - below it hyper-util does retry, but only a request that hyper hands back whole (`TrySendError::take_message`). hyper
//!   1.12 does that in one place: when a kept connection is found dead while the request still lies in its queue. From the
//!   moment the request is taken out of the queue, which is before its first byte is encoded, an error no longer carries it
//!   (`proto/h1/dispatch.rs`, `recv_msg`), and hyper-util gives up. So what is sent again was never written. This is wanted:
//!   it is how a sale survives that the gateway closed the idle connection. The body would be a second guard: it is handed
//!   out once;
//! - the one 307 is followed here, by hand, after a complete answer said that nothing was done.

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Body, Response, Url};
use tokio::time::{Instant, sleep, timeout};

use super::answer::{self, Reply};
use super::request::{self, PreparedPayment};
use super::sending;
use super::{Error, Payment, Token, inquiry, tls};
use crate::config;
use crate::money::Amount;
use crate::sale::{Answer, Inquiry, Reversal};

/// Largest answer, in bytes: the interface's longest response is below 32 KiB; a query of 100 entries fits.
const MAX_ANSWER: usize = 256 * 1024;
/// How long the warm connection is trusted: load balancers close idle connections after 60 s, mobile networks forget them
/// later. A card that comes after it costs a new handshake, whose failure is a clean "not sent".
const IDLE: Duration = Duration::from_secs(50);

/// The gateway. Cheap to clone; clones share the connection.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    http: reqwest::Client,
    base: String,
    token: Token,
    gateway: config::Gateway,
    terminal: config::Terminal,
}

/// Why there is no whole answer.
enum Failure {
    NotSent(String),
    Unknown(String),
}

impl Client {
    /// A client by the settings; reads `ca-file`, opens nothing yet. Certificates are checked at the later of the system's
    /// time and `clock_floor` (build time, last record).
    ///
    /// # Errors
    /// [`Error`], a mistake in the settings.
    pub fn new(
        gateway: &config::Gateway,
        terminal: &config::Terminal,
        token: Token,
        clock_floor: SystemTime,
    ) -> Result<Self, Error> {
        let base = base(&gateway.url)?;
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config(&gateway.ca_file, clock_floor)?)
            .https_only(true)
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .referer(false)
            .connect_timeout(Duration::from_millis(gateway.connect_timeout_ms))
            .pool_max_idle_per_host(1)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true)
            .user_agent(concat!("pos-agent/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Error::Setup { why: error.without_url().to_string() })?;
        let (gateway, terminal) = (gateway.clone(), terminal.clone());
        Ok(Self(Arc::new(Inner { http, base, token, gateway, terminal })))
    }

    /// Opens the connection, or makes sure that the open one is alive, so that a payment needs one round trip. Whatever is
    /// answered serves; whatever fails is only traced.
    pub async fn warm(&self) {
        // A kept connection may have died in silence: its loss shows at the first try, the second opens a new one.
        for attempt in 1..=2 {
            let deadline = self.connect_timeout();
            match self.get("warm", &self.0.gateway.assumptions.warm_path, &[], deadline).await {
                Ok(reply) if matches!(reply.status, 401 | 403) => {
                    tracing::warn!(
                        status = reply.status,
                        "the gateway refuses our access token; check [gateway] token-file"
                    );
                    return;
                }
                Ok(_) => return,
                Err(Failure::NotSent(why) | Failure::Unknown(why)) => {
                    tracing::info!(attempt, why, "the connection to the gateway could not be opened ahead");
                }
            }
        }
    }

    /// Packs a payment into its request. Nothing is sent: this comes before the journal is written.
    ///
    /// # Errors
    /// A value that does not fit the interface; the sale must end as "not sent".
    pub fn prepare(&self, payment: &Payment<'_>) -> Result<PreparedPayment, request::Error> {
        request::payment(&self.0.gateway, &self.0.terminal, payment)
    }

    /// Sends a payment, once. From this call on the money may move.
    pub async fn pay(&self, prepared: PreparedPayment) -> Answer {
        match self.post("pay", "/v1/payments", &prepared.body).await {
            Ok(reply) => answer::payment(&reply, &prepared.asked, &self.0.gateway.assumptions),
            Err(Failure::NotSent(why)) => Answer::NotSent { why },
            Err(Failure::Unknown(why)) => Answer::Unknown { why },
        }
    }

    /// What became of a pending payment: `GET /v1/payments/{id}`. Everything but a clear answer is unknown.
    pub async fn payment(&self, id: &str) -> Answer {
        if !answer::is_payment_id(id) {
            return Answer::Unknown { why: "the payment's id is not one of the gateway".to_owned() };
        }
        match self.get("retrieve", &format!("/v1/payments/{id}"), &[], self.whole_timeout()).await {
            Ok(reply) => answer::retrieval(&reply, id, &self.0.gateway.assumptions),
            Err(Failure::NotSent(why) | Failure::Unknown(why)) => Answer::Unknown { why },
        }
    }

    /// What the gateway knows under our reference, linked transactions included.
    pub async fn query(&self, merchant_transaction_id: &str) -> Inquiry {
        let assumptions = &self.0.gateway.assumptions;
        let parameters = [
            ("entityId", self.0.gateway.entity_id.as_str()),
            ("merchantTransactionId", merchant_transaction_id),
            ("includeLinkedTransactions", "true"),
        ];
        match self.get("query", &assumptions.query_path, &parameters, self.whole_timeout()).await {
            Ok(reply) => inquiry::read(&reply, merchant_transaction_id, assumptions),
            Err(Failure::NotSent(why) | Failure::Unknown(why)) => Inquiry::CannotAsk { why },
        }
    }

    /// Reverses a payment: `POST /v1/payments/{id}` with paymentType RV, once. `merchant_transaction_id` is the reversal's
    /// own reference.
    pub async fn reverse(&self, payment_id: &str, amount: Amount, merchant_transaction_id: &str) -> Reversal {
        if !answer::is_payment_id(payment_id) {
            return Reversal::Refused { why: "not reversed: the payment's id is not one of the gateway".to_owned() };
        }
        let prepared = match request::reversal(&self.0.gateway, amount, merchant_transaction_id) {
            Ok(prepared) => prepared,
            Err(error) => return Reversal::Refused { why: format!("not reversed: {error}") },
        };
        match self.post("reverse", &format!("/v1/payments/{payment_id}"), &prepared.body).await {
            Ok(reply) => answer::reversal(&reply, &prepared.asked, &self.0.gateway.assumptions),
            Err(Failure::NotSent(why)) => Reversal::NotSent { why },
            Err(Failure::Unknown(why)) => Reversal::Unknown { why },
        }
    }

    /// One POST, and a second one to the same host when the first was answered with 307 (interface: Errors).
    async fn post(&self, what: &'static str, path: &str, body: &Bytes) -> Result<Reply, Failure> {
        let url = self.url(path, &[])?;
        let reply = self.post_once(what, url.clone(), body.clone()).await?;
        if reply.status != 307 {
            return Ok(reply);
        }
        let target = reply.location.as_deref().and_then(|location| same_host(&url, location));
        let Some(target) = target else {
            return Err(Failure::Unknown(
                "the gateway redirects to another host (HTTP 307), which is not followed".to_owned(),
            ));
        };
        match self.post_once(what, target, body.clone()).await {
            Ok(reply) if reply.status == 307 => {
                Err(Failure::Unknown("the gateway redirects twice (HTTP 307)".to_owned()))
            }
            // The request has been on the wire once: from here nothing is "not sent" any more.
            Err(Failure::NotSent(why)) => Err(Failure::Unknown(format!("after a redirect (HTTP 307): {why}"))),
            other => other,
        }
    }

    /// One POST with its two deadlines: until the body is asked for (the connection stands), and from there to the end of
    /// the answer.
    async fn post_once(&self, what: &'static str, url: Url, body: Bytes) -> Result<Reply, Failure> {
        let (body, sending) = sending::watch(body);
        let request = self.request(self.0.http.post(url)).header(CONTENT_TYPE, FORM).body(Body::wrap(body));
        let exchange = async { whole(request.send().await?).await };
        tokio::pin!(exchange);
        let started = Instant::now();
        let early = tokio::select! {
            biased;
            done = &mut exchange => Some(done),
            () = sending.begun() => None,
            () = sleep(self.connect_timeout()) => {
                if sending.forbid() {
                    tracing::info!(what, total_us = micros(started.elapsed()), "no connection to the gateway");
                    return Err(Failure::NotSent(self.no_connection_in_time()));
                }
                None
            }
        };
        let outcome = match early {
            Some(done) => Ok(done),
            None => timeout(Duration::from_millis(self.0.gateway.answer_timeout_ms), exchange).await,
        };
        let begun = sending.begun_at();
        trace(what, started, begun, &outcome);
        match outcome {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) => Err(self.failure(error, begun.is_some())),
            Err(_) => Err(Failure::Unknown(format!(
                "the gateway did not answer within {} ms",
                self.0.gateway.answer_timeout_ms
            ))),
        }
    }

    /// One GET. Nothing moves by it, so one deadline for all of it will do.
    async fn get(
        &self,
        what: &'static str,
        path: &str,
        parameters: &[(&str, &str)],
        deadline: Duration,
    ) -> Result<Reply, Failure> {
        let request = self.request(self.0.http.get(self.url(path, parameters)?));
        let started = Instant::now();
        let outcome = timeout(deadline, async { whole(request.send().await?).await }).await;
        trace(what, started, None, &outcome);
        match outcome {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) => Err(self.failure(error, false)),
            Err(_) => Err(Failure::Unknown(format!("the gateway did not answer within {} ms", deadline.as_millis()))),
        }
    }

    fn request(&self, builder: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        builder.header(AUTHORIZATION, self.0.token.header()).header(ACCEPT, JSON)
    }

    fn url(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Url, Failure> {
        let not_sent = |_| Failure::NotSent(format!("{path} is not a path of an address; check [gateway.assumptions]"));
        let mut url = Url::parse(&format!("{}/{}", self.0.base, path.trim_start_matches('/'))).map_err(not_sent)?;
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        Ok(url)
    }

    fn failure(&self, error: Exchange, begun: bool) -> Failure {
        let error = match error {
            Exchange::TooLong => {
                return Failure::Unknown(format!("the gateway's answer is longer than {MAX_ANSWER} bytes"));
            }
            Exchange::Http(error) => error.without_url(),
        };
        if error.is_connect() && !begun {
            return Failure::NotSent(if error.is_timeout() {
                self.no_connection_in_time()
            } else {
                no_connection(&error)
            });
        }
        Failure::Unknown("the gateway's answer did not arrive whole".to_owned())
    }

    fn no_connection_in_time(&self) -> String {
        format!("no connection to the gateway within {} ms; check the network", self.0.gateway.connect_timeout_ms)
    }

    fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.0.gateway.connect_timeout_ms)
    }

    fn whole_timeout(&self) -> Duration {
        self.connect_timeout() + Duration::from_millis(self.0.gateway.answer_timeout_ms)
    }
}

/// interface: What the service does.
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded; charset=UTF-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What went wrong between a request and its whole answer.
enum Exchange {
    Http(reqwest::Error),
    TooLong,
}

impl From<reqwest::Error> for Exchange {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error)
    }
}

/// The answer with its body, of which no more than [`MAX_ANSWER`] bytes are ever held.
async fn whole(mut response: Response) -> Result<Reply, Exchange> {
    if response.content_length().is_some_and(|length| length > MAX_ANSWER as u64) {
        return Err(Exchange::TooLong);
    }
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(Exchange::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Reply { status, location, body })
}

/// One line for each exchange: names, times and sizes, no content.
fn trace(
    what: &'static str,
    started: Instant,
    begun: Option<Instant>,
    outcome: &Result<Result<Reply, Exchange>, tokio::time::error::Elapsed>,
) {
    let now = Instant::now();
    let total_us = micros(now - started);
    // From the start to the moment the body was asked for: the connection stood.
    let connected_us = begun.map(|at| micros(at - started));
    match outcome {
        Ok(Ok(reply)) => {
            tracing::info!(
                what,
                status = reply.status,
                bytes = reply.body.len(),
                connected_us,
                total_us,
                "gateway answered"
            );
        }
        Ok(Err(_)) => tracing::info!(what, connected_us, total_us, "gateway exchange failed"),
        Err(_) => tracing::info!(what, connected_us, total_us, "gateway silent"),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Why no connection came about, for a technician.
fn no_connection(error: &reqwest::Error) -> String {
    if error.is_dns() {
        return "the gateway's host name cannot be resolved; check the network and [gateway] url".to_owned();
    }
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(fault) = cause.downcast_ref::<rustls::Error>() {
            return tls::explain(fault);
        }
        let io = cause.downcast_ref::<std::io::Error>();
        // An I/O error hides what it carries from `source`.
        let carried = io.and_then(std::io::Error::get_ref).map(|inner| inner as &(dyn std::error::Error + 'static));
        match io {
            Some(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => {
                return "the gateway refused the connection; check [gateway] url".to_owned();
            }
            Some(io) if carried.is_none() => return format!("no connection to the gateway: {io}; check the network"),
            _ => next = carried.or_else(|| cause.source()),
        }
    }
    "no connection to the gateway; check the network and [gateway] url".to_owned()
}

/// The base address without the slash at its end.
fn base(url: &str) -> Result<String, Error> {
    let wrong = |why: &str| Error::Url { why: why.to_owned() };
    let parsed = Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
    match () {
        () if parsed.scheme() != "https" => Err(wrong("it does not begin with https://")),
        () if parsed.host().is_none() => Err(wrong("it names no host")),
        () if parsed.query().is_some() || parsed.fragment().is_some() => Err(wrong("it has a query or a fragment")),
        () if !parsed.username().is_empty() || parsed.password().is_some() => {
            Err(wrong("it holds a user name or a password"))
        }
        () => Ok(parsed.as_str().trim_end_matches('/').to_owned()),
    }
}

/// Where a 307 leads, when it stays on the same scheme, host and port.
fn same_host(from: &Url, location: &str) -> Option<Url> {
    let to = from.join(location).ok()?;
    let place = |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default());
    (place(from) == place(&to) && to.username().is_empty() && to.password().is_none()).then_some(to)
}
