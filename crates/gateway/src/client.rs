//! The gateway over HTTP: a line kept open, each request sent at most once, every wait with a deadline.
//!
//! What a failure means rests on [`super::line`]: before the request was handed over to an open line nothing can have
//! been read, and the sale is "not sent"; from then on it is "unknown". One 307 to the same host is followed here on
//! any request, by hand, after a complete answer said that nothing was done. A request that moves money is not sent
//! elsewhere when the body of its 307 says that something was done, or names a payment: it is "unknown".

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

/// The pause before a question is asked again that the gateway had no time for; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// After it the search is given up, and begun anew later: together a minute, longer than a gateway counts requests for.
const LONGEST_PAUSE: Duration = Duration::from_secs(32);
/// The same while a till waits: three times, within seven seconds.
const LONGEST_PAUSE_OF_TILL: Duration = Duration::from_secs(4);

/// The gateway. Cheap to clone; clones share the connection.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    address: Address,
    /// The line that payments take. Questions and reversals have one of their own, so that a payment finds its line
    /// free.
    payments: GatewayLines,
    others: GatewayLines,
    files: Arc<Files>,
    /// What came of whatever was asked last.
    heard: LastContact,
    gateway: config::Gateway,
    place: config::PointOfSale,
    /// The wire below TLS, when it is given instead of opened.
    way: Option<Connector>,
}

/// Why there is no whole answer, and whether the request can have been read.
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
    /// A client by the settings; reads the certificates' files, opens nothing yet. Certificates are checked at the time
    /// of `clock`; a [`std::time::SystemTime`] stands for the system's clock, which is not believed before that time.
    ///
    /// # Errors
    /// [`Error`], a mistake in the settings.
    pub fn new(
        gateway: &config::Gateway,
        place: &config::PointOfSale,
        token: Token,
        clock: impl Into<CertificateClock>,
    ) -> Result<Self, Error> {
        Self::over(None, gateway, place, token, clock)
    }

    /// [`Self::new`] over wires that are given instead of opened.
    ///
    /// # Errors
    /// As [`Self::new`].
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

    /// The mark of the account that is asked, as the journal keeps it: it shows whether two accounts are the same. `1:`
    /// says what is hashed, the entity-id alone: a gateway may move to another address, and its accounts with it.
    #[must_use]
    pub fn account(&self) -> String {
        let hash = digest(&SHA256, self.0.gateway.entity_id.as_bytes());
        format!("1:{}", hex::encode(hash.as_ref().get(..8).unwrap_or_default()))
    }

    /// Opens the connection, TLS included, so that a payment needs one round trip. With a `warm-path` a request is made
    /// over it too, and whatever is answered serves. No sale depends on it.
    ///
    /// # Errors
    /// When no line could be opened, or, with a `warm-path`, the gateway does not answer or refuses the access token.
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
        // A kept connection may have died in silence: its loss shows at the first try, the second opens a new one.
        let reply = match self.get("warm", &self.0.payments, path).await {
            Err(_) => self.get("warm", &self.0.payments, path).await,
            answered => answered,
        };
        match reply.map_err(Failure::fault)?.status {
            status @ (401 | 403) => Err(Fault::TokenRefused { status }),
            _ => Ok(()),
        }
    }

    /// How the gateway stands, as far as whatever it was asked last has shown.
    #[must_use]
    pub fn contact(&self) -> Contact {
        self.0.heard.contact(self.0.files.edition())
    }

    /// Packs a payment into its request. Nothing is sent: this comes before the journal is written.
    ///
    /// # Errors
    /// A value that does not fit the interface; the sale must end as "not sent".
    pub fn prepare(&self, payment: &CardPayment<'_>) -> Result<PreparedPayment, request::Error> {
        request::payment(&self.0.gateway, &self.0.place, payment)
    }

    /// Packs what needs no card into its request. Nothing is sent.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn prepare_without_card(&self, asked: &WithoutCard<'_>) -> Result<PreparedPayment, request::Error> {
        request::without_card(&self.0.gateway, &self.0.place, asked)
    }

    /// Sends a request, once. From this call on the money may move.
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

    /// What became of a pending payment: `GET /v1/payments/{id}`. Everything but a clear answer is unknown, and one
    /// that is not of what was asked is not ours.
    pub async fn payment(&self, id: &PaymentId, asked: &Expected) -> Answer {
        if !answer::is_payment_id(id.as_str()) {
            return Answer::Unknown { why: Reason::AnswerUnclear.with("no id of a payment") };
        }
        match self.get("retrieve", &self.0.payments, &format!("/v1/payments/{id}")).await {
            Ok(reply) => answer::retrieval(&reply, id, asked, &self.0.gateway.assumptions),
            Err(failure) => Answer::Unknown { why: failure.fault().of(Reason::GatewayCannotBeAsked) },
        }
    }

    /// Whether a payment can have this id.
    ///
    /// # Errors
    /// When it cannot.
    pub fn judge_id(id: &PaymentId) -> Result<(), UnfitParameter> {
        let unfit = || UnfitParameter { name: "id".to_owned(), why: "must be 32 letters and digits".to_owned() };
        answer::is_payment_id(id.as_str()).then_some(()).ok_or_else(unfit)
    }

    /// A payment as the gateway knows it, for a person: its fields by their flat names, without what card rules forbid.
    ///
    /// # Errors
    /// Why there is no such answer, in a sentence. Whether it can be an id at all says [`Self::judge_id`].
    pub async fn show(&self, id: &PaymentId) -> Result<BTreeMap<String, String>, String> {
        match self.get("show", &self.0.others, &format!("/v1/payments/{id}")).await {
            Ok(reply) => reply.shown().map(|body| other_fields::shown(&body)),
            Err(failure) => Err(failure.fault().to_string()),
        }
    }

    /// Whether the interface has these filters, with these values.
    ///
    /// # Errors
    /// The first that it has not.
    pub fn judge_filters(&self, filters: &[(String, String)]) -> Result<(), UnfitParameter> {
        let assumptions = &self.0.gateway.assumptions;
        let names = Names::new(&assumptions.wallets, &assumptions.schemes);
        let asked =
            FormContext { direction: Direction::Request, call: Call::Query, from_client_side: false, names: &names };
        let wrong = form::judge(filters, &asked).into_iter().find(|violation| violation.name != "entityId");
        // These only shape what others find. The rule stands in no row of the table (interface: Query parameters).
        let is_filter = |name: &str| !matches!(name, "limit" | "includeLinkedTransactions");
        if wrong.is_none() && !filters.iter().any(|(name, _)| is_filter(name)) {
            let why = "give it, or date.from and date.to, or another filter".to_owned();
            return Err(UnfitParameter { name: "merchantTransactionId".to_owned(), why });
        }
        wrong.map_or(Ok(()), |wrong| {
            Err(UnfitParameter { why: format!("{}; {}", wrong.problem, wrong.rule), name: wrong.name })
        })
    }

    /// The payments that the gateway finds by filters (interface: Query parameters), for a person.
    ///
    /// # Errors
    /// Why there is no answer, in a sentence.
    pub async fn find(&self, filters: &[(String, String)]) -> Result<Vec<BTreeMap<String, String>>, String> {
        let assumptions = &self.0.gateway.assumptions;
        let entity = [("entityId", self.0.gateway.entity_id.as_str())];
        let parameters: Vec<(&str, &str)> =
            entity.into_iter().chain(filters.iter().map(|(name, value)| (name.as_str(), value.as_str()))).collect();
        match self.ask("find", &parameters).await {
            Ok(reply) => match inquiry::listed(&reply, assumptions) {
                Ok(entries) => Ok(entries.iter().map(other_fields::shown).collect()),
                // A refusal is told in the gateway's own words.
                Err(why) => Err(reply.shown().err().unwrap_or(why)),
            },
            Err(failure) => Err(failure.fault().to_string()),
        }
    }

    /// All `merchantTransactionId`s of these terminals that the gateway knows between two times, in milliseconds since
    /// 1970; whole seconds, both ends included. Nothing moves by it. Of each answer only those are kept that `strange`
    /// gives back: a terminal has more transactions in a year than a board has memory for.
    ///
    /// # Errors
    /// When the gateway does not answer all of it, in a sentence. What it did answer proves nothing then.
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

    /// Asks whether the gateway answers and what time it has, on a line of its own, so that the daily look is at a new
    /// handshake. Each answer serves, and none of them says whether our token is taken: the path may be open to all.
    ///
    /// # Errors
    /// When there is no answer over TLS that was verified.
    pub async fn probe(&self) -> Result<Probed, Fault> {
        self.probe_over(&self.0.others, ProbeShows::Token).await
    }

    /// [`Self::probe`], and, where nothing has shown yet whether our token is taken, a question with it on the same
    /// line: for what nobody has. Whether it is shows in [`Self::contact`].
    ///
    /// # Errors
    /// As [`Self::probe`].
    pub async fn probe_with_token(&self) -> Result<Probed, Fault> {
        self.probe_over(&self.0.others, ProbeShows::TokenToQuery).await
    }

    /// [`Self::probe`] over a line that is used for nothing else, with the certificates judged at the time of another
    /// clock. Nothing is shown there that an impostor could use: no token, no payment.
    ///
    /// # Errors
    /// As [`Self::probe`].
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

    /// Asks for what nobody has. Without an answer nothing is known, as before.
    async fn try_token(&self, mut line: GatewayLine, edition: u64) {
        let parameters = query_parameters(&self.0.gateway, NOBODYS);
        let (method, path, body) = query_of(&self.0.address, &self.0.gateway.assumptions, &parameters);
        let Ok(request) = self.request(method, &path, body.as_ref()) else { return };
        let limit = Duration::from_millis(self.0.gateway.answer_timeout_ms);
        if let Ok(Exchange::Answered(reply)) = timeout(limit, line.exchange(request)).await {
            self.0.heard.answered(reply.status, edition);
        }
    }

    /// With the status of the answer.
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

    /// What the gateway knows under our reference, linked transactions included.
    pub async fn query(&self, merchant_transaction_id: &str) -> Inquiry {
        self.query_patiently(merchant_transaction_id, Duration::ZERO).await
    }

    /// The same for a till that waits for it: asked again when the gateway has too many questions.
    pub async fn query_for_till(&self, merchant_transaction_id: &str) -> Inquiry {
        self.query_patiently(merchant_transaction_id, LONGEST_PAUSE_OF_TILL).await
    }

    async fn query_patiently(&self, merchant_transaction_id: &str, longest_pause: Duration) -> Inquiry {
        self.0.files.refresh();
        let assumptions = &self.0.gateway.assumptions;
        let parameters = query_parameters(&self.0.gateway, merchant_transaction_id);
        match self.ask_patiently("query", &parameters, longest_pause).await {
            Ok(reply) => inquiry::read(&reply, merchant_transaction_id, assumptions),
            Err(failure) => Inquiry::CannotAsk { why: failure.fault().of(Reason::GatewayCannotBeAsked) },
        }
    }

    /// What the gateway knows under the first reference, with all that is linked to it, and what carries one of the
    /// others. One question without an answer is none at all, and neither are two answers that contradict each other.
    pub async fn look_up(&self, references: &[String]) -> Inquiry {
        let mut all: Vec<ListedTransaction> = Vec::new();
        for (nth, reference) in references.iter().enumerate() {
            let found = match self.query(reference).await {
                Inquiry::Payments(found) => found,
                cannot_ask @ Inquiry::CannotAsk { .. } => return cannot_ask,
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

    /// Reverses a payment: a POST to the `follow-up-path` of the settings with paymentType RV, once.
    /// `merchant_transaction_id` is the reversal's own reference.
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

    /// One POST that moves money, or the DELETE of a stored card.
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

    /// One GET. Nothing moves by it.
    async fn get(&self, what: &'static str, lines: &GatewayLines, path: &str) -> Result<Reply, Failure> {
        self.followed(what, lines, &Method::GET, &self.0.address.path(path, &[]), None, |_| Ok(())).await
    }

    /// Asks; what the gateway has no time for again, a little later, as long as the pause is no longer than this.
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

    /// One query, by the method of the settings. Nothing moves by it.
    async fn ask(&self, what: &'static str, parameters: &[(&str, &str)]) -> Result<Reply, Failure> {
        let (method, path, body) = query_of(&self.0.address, &self.0.gateway.assumptions, parameters);
        self.followed(what, &self.0.others, &method, &path, body.as_ref(), |_| Ok(())).await
    }

    /// One request, and a second one to the same host when the first was answered with 307 (interface: Errors) and this
    /// answer `may` be followed; the error is why not.
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
            // The request has been on the wire once: from here nothing is "not sent" any more.
            Err(Failure::NotSent(fault)) => Err(Failure::Unknown(Fault::AfterRedirect(Box::new(fault)))),
            other => other,
        }
    }

    /// One request; what came of it is kept for whoever asks how the gateway stands.
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

    /// One request with its two deadlines: until a line stands, and from there to the end of the answer.
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
                // The kept line was closed by the gateway, and the request came back whole: it was never written.
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

    /// What of the way to the gateway needs attention before it fails: what ends soon, changed files that do not fit. A
    /// sentence each, with its remedy, and what it is of.
    #[must_use]
    pub fn attention(&self) -> Vec<(Soon, String)> {
        self.0.files.refresh();
        let ends = self.0.files.warnings().into_iter().map(|(what, text)| (Soon::Ends(what), text));
        ends.chain(self.0.files.trouble().map(|text| (Soon::FilesUnused, text))).collect()
    }
}

/// A reference that no terminal makes: ours hold numbers.
const NOBODYS: &str = "pos-agent-asks-whether-its-token-is-taken";

/// What a probe shows of this terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProbeShows {
    /// Nothing: the other side may be an impostor.
    Nothing,
    /// The token.
    Token,
    /// The token, and a question that tells whether it is taken.
    TokenToQuery,
}

/// What needs attention before it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soon {
    /// This ends, or has ended.
    Ends(Expiring),
    /// Changed files do not fit; the earlier ones serve.
    FilesUnused,
}

/// The query by our reference.
pub(super) fn query_parameters<'a>(gateway: &'a config::Gateway, reference: &'a str) -> [(&'static str, &'a str); 3] {
    [
        ("entityId", gateway.entity_id.as_str()),
        ("merchantTransactionId", reference),
        ("includeLinkedTransactions", "true"),
    ]
}

/// A query as it goes on the wire: method, path and body.
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

/// Where a 307 leads; `None` when the answer is none.
///
/// # Errors
/// When it leads to another host.
pub(super) fn redirect(address: &Address, reply: &Reply) -> Result<Option<String>, Fault> {
    if reply.status != 307 {
        return Ok(None);
    }
    let target = reply.location.as_deref().and_then(|location| address.same_place(location));
    target.map(Some).ok_or(Fault::RedirectsElsewhere)
}

/// One request as it goes on the wire.
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

/// How forms are sent (interface: What the service does).
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded; charset=UTF-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("pos-agent/", env!("CARGO_PKG_VERSION")));

/// One line for each exchange: names, times and sizes, no content. Faults are told to the technician; what went well is
/// told by the sale's own line.
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
