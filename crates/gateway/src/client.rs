//! HTTP to the gateway. A connection is kept open, each request is sent at most once, and every wait has a deadline.
//!
//! [`super::line`] determines the meaning of a failure. Until the request is handed to an open connection, the gateway
//! cannot have read any of it, so a failure means "not sent". After that, a failure means "unknown". The client follows
//! one 307 to the same host for any request, because a complete answer has said that nothing was done. There is one
//! exception: if the request moves money and the 307's body names a payment or says that something was done, the
//! outcome is "unknown".

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Request};
use ring::digest::{SHA256, digest};
use tokio::time::{Instant, sleep, timeout};

use super::address::Address;
use super::answer::{self, Reply};
use super::by_date::{Found, Search};
use super::certificate::Expiring;
use super::clock::CertificateClock;
use super::contact::{Contact, LastContact};
use super::fault::Fault;
use super::files::Files;
use super::line::{Body, Exchange, GatewayLine, GatewayLines};
use super::other_fields;
use super::probe::Probed;
use super::request::{self, Expected, PreparedPayment};
use super::till_parameters::UnfitParameter;
use super::{CardPayment, Error, Token, WithoutCard, inquiry, token};
use crate::config::{self, Assumptions, QueryMethod};
use pos_core::transaction::{Answer, Inquiry, ListedTransaction, Reason, ReversalAnswer};
use pos_daemon::wire::Connector;
use pos_gateway_model::form::{self, FormContext};
use pos_gateway_model::{Call, Direction, Names};
use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

/// The first pause before a throttled request is repeated. Each next pause is twice as long, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause, after which the search stops and starts again later. The pauses add up to a minute, which is
/// longer than the period in which a gateway counts requests.
const LONGEST_PAUSE: Duration = Duration::from_secs(32);
/// The longest pause while a till waits. It allows three pauses within seven seconds.
const LONGEST_PAUSE_OF_TILL: Duration = Duration::from_secs(4);

/// The client of the gateway. Cloning it is cheap, and clones share the connection.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    address: Address,
    /// The connection for payments. Queries and reversals use another one, so a payment finds its connection free.
    payments: GatewayLines,
    others: GatewayLines,
    files: Arc<Files>,
    /// The result of the latest request.
    heard: LastContact,
    gateway: config::Gateway,
    place: config::PointOfSale,
    /// The stream below TLS, if the caller provides it.
    way: Option<Connector>,
}

/// The reason why there is no complete answer. The variant says whether the gateway may have read the request.
enum Failure {
    NotSent(Fault),
    Unknown(Fault),
}

impl Failure {
    fn fault(self) -> Fault {
        let (Self::NotSent(fault) | Self::Unknown(fault)) = self;
        fault
    }
}

impl Client {
    /// Creates a client from the settings. It reads the certificate files, but opens no connection yet. Certificates
    /// are checked at the time of `clock`. A [`std::time::SystemTime`] means the system's clock with that time as its
    /// earliest value.
    ///
    /// # Errors
    /// Returns [`Error`] if the settings contain a mistake.
    pub fn new(
        gateway: &config::Gateway,
        place: &config::PointOfSale,
        token: Token,
        clock: impl Into<CertificateClock>,
    ) -> Result<Self, Error> {
        Self::over(None, gateway, place, token, clock)
    }

    /// Creates the same client as [`Self::new`], over streams that the caller provides.
    ///
    /// # Errors
    /// The same as for [`Self::new`].
    pub fn over(
        way: Option<Connector>,
        gateway: &config::Gateway,
        place: &config::PointOfSale,
        token: Token,
        clock: impl Into<CertificateClock>,
    ) -> Result<Self, Error> {
        let address = Address::parse(&gateway.url).map_err(|why| Error::Url { why: why.to_owned() })?;
        let files = Arc::new(Files::new(gateway, token::credentials(), Some(token), clock.into())?);
        let connect = Duration::from_millis(gateway.connect_timeout_ms);
        let lines = || GatewayLines::new(address.clone(), Arc::clone(&files), connect).over(way.clone());
        let (payments, others) = (lines(), lines());
        let (gateway, place) = (gateway.clone(), place.clone());
        let heard = LastContact::default();
        Ok(Self(Arc::new(Inner { address, payments, others, files, heard, gateway, place, way })))
    }

    /// Returns the identifier by which the journal recognises the account. The prefix `1:` means that only the
    /// entity-id is hashed, because a gateway may keep its accounts when its address changes.
    #[must_use]
    pub fn account(&self) -> String {
        let hash = digest(&SHA256, self.0.gateway.entity_id.as_bytes());
        format!("1:{}", hex::encode(hash.as_ref().get(..8).unwrap_or_default()))
    }

    /// Opens the TLS connection in advance, so that a payment needs only one round trip. With a `warm-path`, the client
    /// also sends a request over it; any answer is enough. No transaction depends on this call.
    ///
    /// # Errors
    /// Returns an error if no connection could be opened. With a `warm-path`, it also returns one if the gateway does
    /// not answer or refuses the access token.
    pub async fn warm(&self) -> Result<(), Fault> {
        self.0.files.refresh();
        let Some(path) = &self.0.gateway.assumptions.warm_path else {
            let warm = self.0.payments.warm().await;
            match &warm {
                Ok(()) => self.0.heard.connected(),
                Err(fault) => self.0.heard.failed(fault, self.0.files.edition()),
            }
            return warm;
        };
        // A kept connection may have been lost unnoticed. The first attempt then fails, and the second one opens a new
        // connection.
        let reply = match self.get("warm", &self.0.payments, path).await {
            Err(_) => self.get("warm", &self.0.payments, path).await,
            answered => answered,
        };
        match reply.map_err(Failure::fault)?.status {
            status @ (401 | 403) => Err(Fault::TokenRefused { status }),
            _ => Ok(()),
        }
    }

    /// Returns the gateway's state after the latest request.
    #[must_use]
    pub fn contact(&self) -> Contact {
        self.0.heard.contact(self.0.files.edition())
    }

    /// Builds the request for a payment. It sends nothing, because the journal is written after this call.
    ///
    /// # Errors
    /// Returns an error if a value does not fit the interface. The transaction must then end as "not sent".
    pub fn prepare(&self, payment: &CardPayment<'_>) -> Result<PreparedPayment, request::Error> {
        request::payment(&self.0.gateway, &self.0.place, payment)
    }

    /// Builds a request without a card. It sends nothing.
    ///
    /// # Errors
    /// The same as for [`Self::prepare`].
    pub fn prepare_without_card(&self, asked: &WithoutCard<'_>) -> Result<PreparedPayment, request::Error> {
        request::without_card(&self.0.gateway, &self.0.place, asked)
    }

    /// Sends a request once. From this call on, money may move.
    pub async fn pay(&self, prepared: PreparedPayment) -> Answer {
        let answer = match self.post("pay", &self.0.payments, &prepared).await {
            Ok(reply) => {
                let answer = answer::payment(&reply, &prepared.asked, &self.0.gateway.assumptions);
                match &prepared.forgets {
                    Some(id) => answer::deregistration(answer, id),
                    None => answer,
                }
            }
            Err(Failure::NotSent(fault)) => Answer::NotSent { why: fault.not_sent() },
            Err(Failure::Unknown(fault)) => Answer::Unknown { why: fault.of(Reason::GatewayNoAnswer) },
        };
        if matches!(answer, Answer::Throttled(_)) {
            self.0.heard.throttles();
        }
        answer
    }

    /// Asks for the outcome of a pending payment with `GET /v1/payments/{id}`. An unclear answer is "unknown", and an
    /// answer about another payment is "not ours".
    pub async fn payment(&self, id: &PaymentId, asked: &Expected) -> Answer {
        if !answer::is_payment_id(id.as_str()) {
            return Answer::Unknown { why: Reason::AnswerUnclear.with("no payment id") };
        }
        match self.get("retrieve", &self.0.payments, &format!("/v1/payments/{id}")).await {
            Ok(reply) => answer::retrieval(&reply, id, asked, &self.0.gateway.assumptions),
            Err(failure) => Answer::Unknown { why: failure.fault().of(Reason::GatewayCannotBeAsked) },
        }
    }

    /// Checks that a payment can have this id.
    ///
    /// # Errors
    /// Returns an error if no payment can have this id.
    pub fn judge_id(id: &PaymentId) -> Result<(), UnfitParameter> {
        let unfit = || UnfitParameter { name: "id".to_owned(), why: "must be 32 letters and digits".to_owned() };
        answer::is_payment_id(id.as_str()).then_some(()).ok_or_else(unfit)
    }

    /// Returns the gateway's data about a payment, for a person: the fields by their flat names, without the data that
    /// card rules forbid.
    ///
    /// # Errors
    /// Returns the reason, as a sentence, if there is no such answer. [`Self::judge_id`] checks the form of the id.
    pub async fn show(&self, id: &PaymentId) -> Result<BTreeMap<String, String>, String> {
        match self.get("show", &self.0.others, &format!("/v1/payments/{id}")).await {
            Ok(reply) => reply.shown().map(|body| other_fields::shown(&body)),
            Err(failure) => Err(failure.fault().to_string()),
        }
    }

    /// Checks that the interface has these filters and accepts their values.
    ///
    /// # Errors
    /// Returns the first filter or value that the interface does not accept.
    pub fn judge_filters(&self, filters: &[(String, String)]) -> Result<(), UnfitParameter> {
        let assumptions = &self.0.gateway.assumptions;
        let names = Names::new(&assumptions.wallets, &assumptions.schemes);
        let asked =
            FormContext { direction: Direction::Request, call: Call::Query, from_client_side: false, names: &names };
        let wrong = form::judge(filters, &asked).into_iter().find(|violation| violation.name != "entityId");
        // These two parameters only change what other filters find. The table does not contain this rule (interface:
        // Query parameters).
        let is_filter = |name: &str| !matches!(name, "limit" | "includeLinkedTransactions");
        if wrong.is_none() && !filters.iter().any(|(name, _)| is_filter(name)) {
            let why = "send this filter, or date.from and date.to, or a different filter".to_owned();
            return Err(UnfitParameter { name: "merchantTransactionId".to_owned(), why });
        }
        wrong.map_or(Ok(()), |wrong| {
            Err(UnfitParameter { why: format!("{}; {}", wrong.problem, wrong.rule), name: wrong.name })
        })
    }

    /// Returns the payments that the filters find at the gateway (interface: Query parameters), for a person.
    ///
    /// # Errors
    /// Returns the reason, as a sentence, if there is no answer.
    pub async fn find(&self, filters: &[(String, String)]) -> Result<Vec<BTreeMap<String, String>>, String> {
        let assumptions = &self.0.gateway.assumptions;
        let entity = [("entityId", self.0.gateway.entity_id.as_str())];
        let parameters: Vec<(&str, &str)> =
            entity.into_iter().chain(filters.iter().map(|(name, value)| (name.as_str(), value.as_str()))).collect();
        match self.ask("find", &parameters).await {
            Ok(reply) => match inquiry::listed(&reply, assumptions) {
                Ok(entries) => Ok(entries.iter().map(other_fields::shown).collect()),
                // For a refusal, the error quotes the gateway's own words.
                Err(why) => Err(reply.shown().err().unwrap_or(why)),
            },
            Err(failure) => Err(failure.fault().to_string()),
        }
    }

    /// Returns the `merchantTransactionId`s of these terminals that the gateway knows between two times, given as Unix
    /// time in milliseconds. The query uses whole seconds and includes both ends. It moves no money. The search keeps
    /// only the references that `strange` returns, because the references of a whole year exceed the terminal's memory.
    ///
    /// # Errors
    /// Returns a sentence if the gateway does not answer all queries. The answers to the others then prove nothing.
    pub async fn references_between<F>(
        &self,
        terminal_ids: &BTreeSet<String>,
        (from_unix_ms, to_unix_ms): (i64, i64),
        strange: impl Fn(Vec<String>) -> F,
    ) -> Result<Found, String>
    where
        F: Future<Output = Result<Vec<String>, String>>,
    {
        self.0.files.refresh();
        let assumptions = &self.0.gateway.assumptions;
        let mut search = Search::new(terminal_ids, from_unix_ms, to_unix_ms);
        while let Some(window) = search.next()? {
            let window_asked = window.parameters(assumptions)?;
            let mut parameters = vec![("entityId", self.0.gateway.entity_id.as_str())];
            parameters.extend(window_asked.iter().map(|(name, value)| (*name, value.as_str())));
            let reply = self.ask_patiently("query by date", &parameters, LONGEST_PAUSE).await;
            let reply = reply.map_err(|failure| failure.fault().to_string())?;
            let found = search.take(window, &inquiry::listed(&reply, assumptions)?)?;
            if !found.is_empty() {
                search.keep(strange(found).await?)?;
            }
        }
        Ok(search.finish())
    }

    /// Asks whether the gateway answers, and for its time. It uses a new connection, so that the daily probe tests a
    /// new handshake. Any answer is enough. The answer does not show whether the gateway accepts our token, because the
    /// path may be open to everyone.
    ///
    /// # Errors
    /// Returns an error if there is no answer over verified TLS.
    pub async fn probe(&self) -> Result<Probed, Fault> {
        self.probe_over(&self.0.others, ProbeShows::Token).await
    }

    /// Probes like [`Self::probe`]. Until a request has shown that the gateway accepts our token, it also looks up a
    /// reference that no terminal creates, over the same connection. [`Self::contact`] then shows whether the gateway
    /// accepts the token.
    ///
    /// # Errors
    /// The same as for [`Self::probe`].
    pub async fn probe_with_token(&self) -> Result<Probed, Fault> {
        self.probe_over(&self.0.others, ProbeShows::TokenToQuery).await
    }

    /// Probes like [`Self::probe`], over a separate connection, and checks the certificates at the time of another
    /// clock. The request contains no token and no payment, because the other side may be an impostor.
    ///
    /// # Errors
    /// The same as for [`Self::probe`].
    pub async fn probe_at(&self, clock: CertificateClock) -> Result<Probed, Fault> {
        let files = Files::new(&self.0.gateway, token::credentials(), None, clock);
        let files = files.map_err(|error| Fault::Files { why: error.to_string() })?;
        let connect = Duration::from_millis(self.0.gateway.connect_timeout_ms);
        let lines = GatewayLines::new(self.0.address.clone(), Arc::new(files), connect).over(self.0.way.clone());
        self.probe_over(&lines, ProbeShows::Nothing).await
    }

    async fn probe_over(&self, lines: &GatewayLines, shown: ProbeShows) -> Result<Probed, Fault> {
        let edition = self.0.files.edition();
        let probed = async {
            let mut line = lines.open().await?;
            let (probed, status) = self.probe_once(&mut line, shown).await?;
            self.0.heard.probed(status);
            Ok((probed, line))
        };
        let (probed, line) = probed.await.inspect_err(|fault| self.0.heard.failed(fault, edition))?;
        if shown == ProbeShows::TokenToQuery && self.0.heard.must_ask_for_token(edition) {
            self.try_token(line, edition).await;
        }
        Ok(probed)
    }

    /// Looks up a reference that no terminal creates. Without an answer, the state of the token stays unchanged.
    async fn try_token(&self, mut line: GatewayLine, edition: u64) {
        let parameters = query_parameters(&self.0.gateway, NOBODYS);
        let (method, path, body) = query_of(&self.0.address, &self.0.gateway.assumptions, &parameters);
        let Ok(request) = self.request(method, &path, body.as_ref()) else { return };
        let limit = Duration::from_millis(self.0.gateway.answer_timeout_ms);
        if let Ok(Exchange::Answered(reply)) = timeout(limit, line.exchange(request)).await {
            self.0.heard.answered(reply.status, edition);
        }
    }

    /// Probes once, and also returns the status of the answer.
    async fn probe_once(&self, line: &mut GatewayLine, shown: ProbeShows) -> Result<(Probed, u16), Fault> {
        let path = self.0.address.path(&self.0.gateway.assumptions.probe_path, &[]);
        // Each request of the interface carries the token.
        let token = self.0.files.token().filter(|_| shown != ProbeShows::Nothing);
        let request = request_of(&self.0.address, token.as_ref(), Method::GET, &path, None)?;
        let ms = self.0.gateway.answer_timeout_ms;
        let start = Instant::now();
        match timeout(Duration::from_millis(ms), line.exchange(request)).await {
            Ok(Exchange::Answered(reply)) => {
                Ok((Probed { unix_s: line.gateway_unix_s(), round_trip: start.elapsed() }, reply.status))
            }
            Ok(Exchange::HandedBack(_)) => Err(line.why_ended().unwrap_or(Fault::ClosedAtOnce)),
            Ok(Exchange::Broken(fault)) => Err(fault),
            Err(_) => Err(Fault::AnswerTimedOut { ms: ms.into() }),
        }
    }

    /// Looks up our gateway reference, including linked transactions.
    pub async fn query(&self, merchant_transaction_id: &str) -> Inquiry {
        self.query_patiently(merchant_transaction_id, Duration::ZERO).await
    }

    /// Looks up a gateway reference like [`Self::query`], for a waiting till. If the gateway throttles the look-up, it
    /// tries again.
    pub async fn query_for_till(&self, merchant_transaction_id: &str) -> Inquiry {
        self.query_patiently(merchant_transaction_id, LONGEST_PAUSE_OF_TILL).await
    }

    async fn query_patiently(&self, merchant_transaction_id: &str, longest_pause: Duration) -> Inquiry {
        self.0.files.refresh();
        let assumptions = &self.0.gateway.assumptions;
        let parameters = query_parameters(&self.0.gateway, merchant_transaction_id);
        match self.ask_patiently("query", &parameters, longest_pause).await {
            Ok(reply) => inquiry::read(&reply, merchant_transaction_id, assumptions),
            Err(Failure::NotSent(fault)) if fault.not_sent().reason == Reason::GatewayUnreachable => {
                Inquiry::NotReached { why: fault.of(Reason::GatewayCannotBeAsked) }
            }
            Err(failure) => Inquiry::CannotAsk { why: failure.fault().of(Reason::GatewayCannotBeAsked) },
        }
    }

    /// Looks up the first reference with all linked transactions, and the payments that carry one of the other
    /// references. If one query has no answer, or two answers contradict each other, the whole look-up has no answer.
    pub async fn look_up(&self, references: &[String]) -> Inquiry {
        let mut all: Vec<ListedTransaction> = Vec::new();
        for (nth, reference) in references.iter().enumerate() {
            let found = match self.query(reference).await {
                Inquiry::Payments(found) => found,
                unanswered => return unanswered,
            };
            for one in found {
                let of_it = nth == 0 || one.reference.as_ref() == Some(reference);
                match inquiry::is_known(&all, &one) {
                    Ok(false) if of_it => all.push(one),
                    Ok(_) => {}
                    Err(why) => return Inquiry::CannotAsk { why: Reason::GatewayCannotBeAsked.with(why) },
                }
            }
        }
        Inquiry::Payments(all)
    }

    /// Reverses a payment with one POST to the configured `follow-up-path`, with paymentType RV.
    /// `merchant_transaction_id` is the reversal's own gateway reference.
    pub async fn reverse(
        &self,
        payment_id: &PaymentId,
        amount: Amount,
        merchant_transaction_id: &str,
    ) -> ReversalAnswer {
        self.0.files.refresh();
        let prepared =
            match request::reversal(&self.0.gateway, &self.0.place, payment_id, amount, merchant_transaction_id) {
                Ok(prepared) => prepared,
                Err(error) => return ReversalAnswer::Refused { why: Reason::RequestNotPossible.with(error) },
            };
        match self.post("reverse", &self.0.others, &prepared).await {
            Ok(reply) => answer::reversal(&reply, payment_id, &prepared.asked, &self.0.gateway.assumptions),
            Err(Failure::NotSent(fault)) => ReversalAnswer::NotSent { why: fault.not_sent() },
            Err(Failure::Unknown(fault)) => ReversalAnswer::Unknown { why: fault.of(Reason::ReversalNotAnswered) },
        }
    }

    /// Sends one POST that moves money, or the DELETE of a stored card.
    async fn post(
        &self,
        what: &'static str,
        lines: &GatewayLines,
        prepared: &PreparedPayment,
    ) -> Result<Reply, Failure> {
        let entity = [("entityId", self.0.gateway.entity_id.as_str())];
        let (method, parameters, body) = match prepared.forgets {
            Some(_) => (Method::DELETE, entity.as_slice(), None),
            None => (Method::POST, [].as_slice(), Some(&prepared.body)),
        };
        let path = self.0.address.path(&prepared.path, parameters);
        let may_follow =
            |reply: &Reply| answer::may_be_sent_elsewhere(reply, &prepared.asked, &self.0.gateway.assumptions);
        self.followed(what, lines, &method, &path, body, may_follow).await
    }

    /// Sends one GET. It moves no money.
    async fn get(&self, what: &'static str, lines: &GatewayLines, path: &str) -> Result<Reply, Failure> {
        self.followed(what, lines, &Method::GET, &self.0.address.path(path, &[]), None, |_| Ok(())).await
    }

    /// Sends a query, and repeats it while the gateway throttles it. No pause is longer than `longest_pause`.
    async fn ask_patiently(
        &self,
        what: &'static str,
        parameters: &[(&str, &str)],
        longest_pause: Duration,
    ) -> Result<Reply, Failure> {
        let mut pause = FIRST_PAUSE;
        loop {
            let reply = self.ask(what, parameters).await?;
            if pause > longest_pause || !inquiry::is_throttled(&reply, &self.0.gateway.assumptions) {
                return Ok(reply);
            }
            sleep(pause).await;
            pause *= 2;
        }
    }

    /// Sends one query with the configured method. It moves no money.
    async fn ask(&self, what: &'static str, parameters: &[(&str, &str)]) -> Result<Reply, Failure> {
        let (method, path, body) = query_of(&self.0.address, &self.0.gateway.assumptions, parameters);
        self.followed(what, &self.0.others, &method, &path, body.as_ref(), |_| Ok(())).await
    }

    /// Sends one request. If the answer is a 307 to the same host (interface: Errors) and `may` permits it, the request
    /// is also sent there. An error of `may` is the reason against it.
    async fn followed(
        &self,
        what: &'static str,
        lines: &GatewayLines,
        method: &Method,
        path: &str,
        body: Option<&Bytes>,
        may: impl Fn(&Reply) -> Result<(), String> + Send,
    ) -> Result<Reply, Failure> {
        let reply = self.exchange(what, lines, method.clone(), path, body).await?;
        let Some(target) = redirect(&self.0.address, &reply).map_err(Failure::Unknown)? else { return Ok(reply) };
        may(&reply).map_err(|why| Failure::Unknown(Fault::MayNotFollow { why }))?;
        match self.exchange(what, lines, method.clone(), &target, body).await {
            Ok(reply) if reply.status == 307 => Err(Failure::Unknown(Fault::RedirectsTwice)),
            // The request has already been sent once, so no later failure is "not sent".
            Err(Failure::NotSent(fault)) => Err(Failure::Unknown(Fault::AfterRedirect(Box::new(fault)))),
            other => other,
        }
    }

    /// Sends one request and records its result for [`Self::contact`].
    async fn exchange(
        &self,
        what: &'static str,
        lines: &GatewayLines,
        method: Method,
        path: &str,
        body: Option<&Bytes>,
    ) -> Result<Reply, Failure> {
        let done = self.sent(what, lines, method, path, body).await;
        let edition = self.0.files.edition();
        match &done {
            Ok(reply) => self.0.heard.answered(reply.status, edition),
            Err(Failure::NotSent(fault) | Failure::Unknown(fault)) => self.0.heard.failed(fault, edition),
        }
        done
    }

    /// Sends one request with two deadlines: one for opening the connection, and one from then until the end of the
    /// answer.
    async fn sent(
        &self,
        what: &'static str,
        lines: &GatewayLines,
        method: Method,
        path: &str,
        body: Option<&Bytes>,
    ) -> Result<Reply, Failure> {
        let started = Instant::now();
        let mut line = lines.take().await.map_err(Failure::NotSent)?;
        let connected = started.elapsed();
        let answer_timeout = Duration::from_millis(self.0.gateway.answer_timeout_ms);
        let mut request = self.request(method, path, body)?;
        let done = loop {
            match timeout(answer_timeout, line.exchange(request)).await {
                // The gateway had closed the kept connection, and the whole request came back unwritten.
                Ok(Exchange::HandedBack(unsent)) if line.was_kept() => {
                    line = lines.open().await.map_err(Failure::NotSent)?;
                    request = unsent;
                }
                Ok(Exchange::HandedBack(_)) => {
                    break Err(Failure::NotSent(line.why_ended().unwrap_or(Fault::ClosedAtOnce)));
                }
                Ok(Exchange::Answered(reply)) => {
                    lines.keep(line);
                    break Ok(reply);
                }
                Ok(Exchange::Broken(fault)) => break Err(Failure::Unknown(fault)),
                Err(_) => break Err(Failure::Unknown(Fault::AnswerTimedOut { ms: answer_timeout.as_millis() })),
            }
        };
        trace(what, connected, started.elapsed(), &done);
        done
    }

    fn request(&self, method: Method, path: &str, body: Option<&Bytes>) -> Result<Request<Body>, Failure> {
        let token = self.0.files.token();
        request_of(&self.0.address, token.as_ref(), method, path, body).map_err(Failure::NotSent)
    }

    /// Returns the items that need attention before the connection to the gateway fails: those that expire soon, and
    /// changed files that do not fit. Each has a sentence with its remedy.
    #[must_use]
    pub fn attention(&self) -> Vec<(Soon, String)> {
        self.0.files.refresh();
        let ends = self.0.files.warnings().into_iter().map(|(what, text)| (Soon::Ends(what), text));
        ends.chain(self.0.files.trouble().map(|text| (Soon::FilesUnused, text))).collect()
    }
}

/// A reference that no terminal creates, because our gateway references contain numbers.
const NOBODYS: &str = "pos-agent-asks-whether-its-token-is-taken";

/// The data about this terminal that a probe reveals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProbeShows {
    /// No data, because the other side may be an impostor.
    Nothing,
    /// The token.
    Token,
    /// The token, and a query that shows whether the gateway accepts it.
    TokenToQuery,
}

/// The items that need attention before they fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soon {
    /// The item expires soon or has expired.
    Ends(Expiring),
    /// The changed files cannot be used; the earlier ones stay in use.
    FilesUnused,
}

/// Returns the query parameters for a gateway reference.
pub(super) fn query_parameters<'a>(gateway: &'a config::Gateway, reference: &'a str) -> [(&'static str, &'a str); 3] {
    [
        ("entityId", gateway.entity_id.as_str()),
        ("merchantTransactionId", reference),
        ("includeLinkedTransactions", "true"),
    ]
}

/// Returns a query's method, path and body.
pub(super) fn query_of(
    address: &Address,
    assumptions: &Assumptions,
    parameters: &[(&str, &str)],
) -> (Method, String, Option<Bytes>) {
    let path = &assumptions.query_path;
    match assumptions.query_method {
        QueryMethod::Get => (Method::GET, address.path(path, parameters), None),
        QueryMethod::Post => {
            let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
            (Method::POST, address.path(path, &[]), Some(form.into()))
        }
    }
}

/// Returns the target of a 307, or `None` if the answer is not a 307.
///
/// # Errors
/// Returns an error if the target is on another host.
pub(super) fn redirect(address: &Address, reply: &Reply) -> Result<Option<String>, Fault> {
    if reply.status != 307 {
        return Ok(None);
    }
    let target = reply.location.as_deref().and_then(|location| address.same_place(location));
    target.map(Some).ok_or(Fault::RedirectsElsewhere)
}

/// Builds one HTTP request.
pub(super) fn request_of(
    address: &Address,
    token: Option<&Token>,
    method: Method,
    path: &str,
    body: Option<&Bytes>,
) -> Result<Request<Body>, Fault> {
    let mut builder = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, address.host_header())
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, JSON);
    if let Some(token) = token {
        builder = builder.header(AUTHORIZATION, token.header());
    }
    let request = match body {
        Some(body) => builder.header(CONTENT_TYPE, FORM).body(Body::from(body.clone())),
        None => builder.body(Body::default()),
    };
    request.map_err(|_| Fault::NotAPath { path: path.to_owned() })
}

/// The content type of forms (interface: What the service does).
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded; charset=UTF-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("pos-agent/", env!("CARGO_PKG_VERSION")));

/// Writes one log line for each exchange, with names, times and sizes but no content. A fault is logged for the
/// technician. A success is covered by the transaction's own log line.
fn trace(what: &'static str, connected: Duration, total: Duration, done: &Result<Reply, Failure>) {
    let (connected_us, total_us) = (micros(connected), micros(total));
    match done {
        Ok(reply) => {
            let bytes = reply.body.len();
            tracing::debug!(what, status = reply.status, bytes, connected_us, total_us, "gateway answered");
        }
        Err(Failure::NotSent(fault) | Failure::Unknown(fault)) => {
            tracing::info!(what, fault = fault.as_str(), why = %fault, connected_us, total_us, "gateway exchange failed");
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
