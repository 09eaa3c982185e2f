//! Permission checks of requests, and the choice of the module that answers.
//!
//! | path | caller | module |
//! |---|---|---|
//! | `/`, `/customer`, `/first-boot`, `/assets/…`; `/favicon.ico`, which is empty | everyone | `page`; here |
//! | `/front/settings`, `/front/logo`, `/front/health`, `/front/certificate.pem` | everyone | here |
//! | `/front/session` | everyone; the agent checks the PIN | `session` |
//! | `/front/pair`, `/front/pair/{request}` | everyone, while pairing is open; a person must approve | `pairing` |
//! | `/front/pairing` | users of the page: opens pairing for tills | here |
//! | `/front/payouts`, `/front/payouts/{reference}` | users of the page; the agent checks the supervisor's PIN | `payouts` |
//! | `/front/events`, `/front/qr/{reference}` | users of the page | here; `qr` |
//! | `/front/browser/open`, `/front/browsers`, `/front/browsers/{id}` | users of the page | `devices` |
//! | `/front/browser` | every browser, with the token of a link | `devices` |
//! | `/front/doctor` | users of the page | `doctor` |
//! | `/front/customer/pair`, `/front/customer/leave` | users of the page: pair the customer's screen; leave an outcome | here |
//! | `GET /front/customer` | the customer's screen, which may use no other protected path | `customer` |
//! | `/v1/…` | users of the page, and paired tills | `forward` |
//!
//! A signed-in operator may use the page. `[page] without-sign-in` names the callers who may use it without an
//! operator.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderValue, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::agent::{Agent, LAST_EVENT_ID, Question, Standing};
use crate::attempts::Attempts;
use crate::browsers::Browsers;
use crate::callbacks::Callbacks;
use crate::certificate::HostCertificate;
use crate::config::{FrontConfig, WithoutSignIn};
use crate::control::rfc3339;
use crate::customer::{self, CustomersScreen, LeftTransaction};
use crate::devices::BROWSER;
use crate::doctor::Doctor;
use crate::forward;
use crate::guard::{Asker, Caller, Guard, Way, bearer, cookie};
use crate::logo::Logo;
use crate::page::Page;
use crate::pairing::{Collected, PairError, Pairings};
use crate::payouts::Payouts;
use crate::problem::{Answer, Problem, empty_answer, json_answer, whole};
use crate::qr;
use crate::seen::SeenTill;
use crate::session::{self, KnownSessions, SessionDigest};
use crate::slots::{Lasting, Owner, Slot, UnderWay};
use crate::task;
use crate::webhooks::Webhook;

/// The page loads no resources from elsewhere, and cannot be embedded in another page. A document also permits its own
/// inline code (`page`).
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
/// The limit on wrong tokens from one address. It allows for the mistakes of a person who types the token.
const WRONG_TOKENS: (u32, Duration) = (20, Duration::from_secs(60));
/// The limit on sign-ins from one address. Each sign-in takes the agent a second on a slow board. The agent also counts
/// wrong PINs by sign-in source.
const SIGN_INS: (u32, Duration) = (20, Duration::from_secs(300));
/// The path of a QR code, followed by the reference of a transaction. The agent supplies the address in the code. The
/// front draws no other text.
const QR: &str = "/front/qr/";
/// The path of a waiting payout, followed by its reference.
const PAYOUTS: &str = "/front/payouts/";
/// The interval between comments, which show the page that the front is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The state that all requests share.
pub(crate) struct Front {
    pub(crate) config: FrontConfig,
    pub(crate) agent: Arc<Agent>,
    pub(crate) pairings: Arc<Pairings>,
    pub(crate) payouts: Arc<Payouts>,
    pub(crate) customer: Arc<CustomersScreen>,
    pub(crate) browsers: Arc<Browsers>,
    pub(crate) doctor: Doctor,
    pub(crate) webhooks: Vec<Arc<Webhook>>,
    pub(crate) callbacks: Arc<Callbacks>,
    pub(crate) guard: Guard,
    pub(crate) page: Page,
    /// The certificate; `None` without TLS.
    pub(crate) certificate: Option<watch::Receiver<Arc<HostCertificate>>>,
    pub(crate) wrong_tokens: Mutex<Attempts>,
    pub(crate) sign_ins: Mutex<Attempts>,
    pub(crate) sessions: KnownSessions,
    /// The shop's logo.
    pub(crate) logo: Option<Logo>,
    /// The last settings from the agent. With them, the page can start while the agent is down.
    pub(crate) settings: Mutex<Option<Value>>,
    /// The tills that speak ZVT, Caisse-AP or nexo.
    pub(crate) tills: Vec<Arc<SeenTill>>,
    /// The addresses of the front, as a person would type them.
    pub(crate) urls: Vec<String>,
    pub(crate) now: fn() -> SystemTime,
}

/// Creates the counters of wrong tokens and of sign-ins.
pub(crate) fn counters() -> (Mutex<Attempts>, Mutex<Attempts>) {
    let of = |(most, period)| Mutex::new(Attempts::new(most, period));
    (of(WRONG_TOKENS), of(SIGN_INS))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairName {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairCode {
    code: String,
}

impl Front {
    /// Answers a request of any kind.
    pub(crate) async fn answer(&self, request: Request<Incoming>, way: Way, slot: &Arc<Slot>) -> Answer {
        let asker = self.guard.judge(&request, way);
        let listed = match &asker {
            Ok(Asker::Listed(origin)) => Some(origin.clone()),
            _ => None,
        };
        let answer = match asker {
            Ok(asker) => self.counted(request, way, asker, slot).await,
            Err(problem) => match slot.begin(Owner::Stranger(slot.whence()), Lasting::Answer) {
                Ok(under_way) => Ok(under_way.until_sent(problem.into())),
                Err(problem) => Err(problem),
            },
        };
        let mut answer = answer.unwrap_or_else(Answer::from);
        if let Some(origin) = listed {
            let headers = answer.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Retry-After, Link"));
        }
        with_usual_headers(answer)
    }

    /// Answers a request and counts it for its caller. A caller with a session that the front does not know counts as
    /// unidentified until the agent confirms the session.
    async fn counted(
        &self,
        request: Request<Incoming>,
        way: Way,
        asker: Asker,
        slot: &Arc<Slot>,
    ) -> Result<Answer, Problem> {
        let (headers, path) = (request.headers(), request.uri().path());
        let lasting = |owner: &Owner| match owner.is_stranger() {
            true => Lasting::Answer,
            false if path == "/front/events" || owner == &Owner::Customer => Lasting::Stream,
            false => forward::lasting(request.method(), path, request.uri().query()),
        };
        let token = match bearer(headers) {
            None => Token::None,
            Some(token) => self.token(token.unwrap_or_default()),
        };
        let owner = self.owner(&request, &token, &asker, way);
        let mut under_way = slot.begin(owner.clone(), lasting(&owner))?;
        if asker.is_listed() && request.method() == Method::OPTIONS {
            return Ok(under_way.until_sent(allowed_to_ask()));
        }
        let mut now = lasting(&owner);
        let is_page = self.config.page.on && matches!(token, Token::None) && !asker.is_listed();
        // The front answers paths below `/front/` without the agent, so it asks here whether the session is valid.
        let unjudged = owner.is_stranger() || path.starts_with("/front/");
        if is_page
            && unjudged
            && needs_caller(path)
            && !self.may_do_without(headers, way)
            && let Some(session) = cookie(headers)
        {
            self.session_is_good(&session, path).await?;
            let owner = Owner::Session(SessionDigest::of(session.as_bytes()));
            now = lasting(&owner);
            drop(under_way);
            under_way = slot.begin(owner, now)?;
        }
        let browser = Some(headers).filter(|_| is_page && matches!(now, Lasting::Stream | Lasting::Wait));
        let browser = browser.and_then(|headers| self.paired_browser(headers)).map(str::to_owned);
        let answer = self.routed(request, way, (&asker, token), (now, &under_way));
        let answer = match browser {
            None => answer.await.unwrap_or_else(Answer::from),
            Some(cookie) => self.while_paired(cookie, answer).await,
        };
        Ok(under_way.until_sent(answer))
    }

    /// Returns the owner of a request, as far as the request's head identifies it.
    fn owner<B>(&self, request: &Request<B>, token: &Token, asker: &Asker, way: Way) -> Owner {
        let stranger = Owner::Stranger(way.whence());
        match token {
            Token::Of(till) => return Owner::Till(till.clone()),
            Token::Customer => return Owner::Customer,
            Token::Wrong => return stranger,
            Token::None if asker.is_listed() || !self.config.page.on => return stranger,
            Token::None => {}
        }
        let session = cookie(request.headers()).map(|session| SessionDigest::of(session.as_bytes()));
        match session.filter(|session| self.sessions.knows(*session)) {
            Some(session) => Owner::Session(session),
            None if needs_caller(request.uri().path()) && self.may_do_without(request.headers(), way) => {
                Owner::Page(way.whence())
            }
            None => stranger,
        }
    }

    async fn routed(
        &self,
        request: Request<Incoming>,
        way: Way,
        (asker, token): (&Asker, Token),
        counted: (Lasting, &UnderWay),
    ) -> Result<Answer, Problem> {
        if let Token::Customer = token {
            return self.for_customer(&request, asker).await;
        }
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let is_read = matches!(method, Method::GET | Method::HEAD);
        match path.as_str() {
            path if path.starts_with("/v1/") => {
                let caller = self.caller(request.headers(), way, (asker, token))?;
                let passed_on = (&*self.agent, &*self.callbacks);
                let answer = forward::pass(passed_on, request, (&caller, way), &self.config.page.till, counted).await?;
                if let (Caller::Page { session: Some(session) }, StatusCode::UNAUTHORIZED) = (caller, answer.status()) {
                    self.sessions.forget(SessionDigest::of(session.as_bytes()));
                }
                Ok(answer)
            }
            "/front/health" if is_read => Ok(self.health(way, &token)),
            "/front/certificate.pem" if is_read => self.ca(),
            "/front/pair" if method == Method::POST => {
                let PairName { name } = fields(request).await?;
                let (request, good_for) = self.pairings.ask(&name, way, Instant::now())?;
                let said = json!({ "request": request, "goodForS": good_for.as_secs() });
                Ok(json_answer(StatusCode::ACCEPTED, &said))
            }
            path if path.starts_with("/front/pair/") && method == Method::POST => {
                let id = path["/front/pair/".len()..].to_owned();
                let PairCode { code } = fields(request).await?;
                let at = rfc3339((self.now)());
                match self.pairings.collect((&id, &code), way.whence(), Instant::now(), &at)? {
                    Collected::Waiting => {
                        Ok(json_answer(StatusCode::ACCEPTED, &json!({ "state": "waiting-for-approval" })))
                    }
                    Collected::Token { till, token } => {
                        Ok(json_answer(StatusCode::CREATED, &json!({ "till": till, "token": token })))
                    }
                }
            }
            // Browsers request this file automatically.
            "/favicon.ico" if is_read => Ok(empty_answer(StatusCode::NO_CONTENT)),
            // A till's token pairs no browser.
            BROWSER if !matches!(token, Token::None) => Err(only_for_page()),
            path if self.config.page.on => match token {
                Token::Wrong if needs_caller(path) => Err(self.wrong_token(way)),
                Token::Of(_) if needs_caller(path) => Err(only_for_page()),
                _ => self.for_page(request, way, asker, path).await,
            },
            _ => Err(Problem::not_found()),
        }
    }

    /// Answers a request with the token of the customer's screen. Every path except `GET /front/customer` refuses it.
    async fn for_customer(&self, request: &Request<Incoming>, asker: &Asker) -> Result<Answer, Problem> {
        if (request.method(), request.uri().path()) != (&Method::GET, "/front/customer") || asker.is_listed() {
            return Err(not_for_customer());
        }
        self.customer_is_on()?;
        let token = bearer(request.headers()).flatten().unwrap_or_default();
        customer::stream(&self.agent, &self.customer, (token, request.headers().get(LAST_EVENT_ID))).await
    }

    /// Checks whether the configuration permits a customer's screen.
    fn customer_is_on(&self) -> Result<(), Problem> {
        if self.config.page.customer {
            return Ok(());
        }
        Err(Problem::forbidden("the customer's screen is off; set customer = true in [page] of front.toml"))
    }

    /// Answers requests that only the page makes.
    async fn for_page(
        &self,
        request: Request<Incoming>,
        way: Way,
        asker: &Asker,
        path: &str,
    ) -> Result<Answer, Problem> {
        if asker.is_listed() {
            return Err(only_for_page());
        }
        let session = cookie(request.headers());
        match (request.method(), path) {
            (&Method::GET, "/front/settings") => self.settings_answer().await,
            (&Method::GET, "/front/logo") => self.logo.as_ref().map(Logo::answer).ok_or_else(Problem::not_found),
            (&Method::GET, "/front/session") => self.session_answer(request.headers(), way).await,
            (&Method::POST, "/front/session") => self.sign_in(request, way).await,
            (&Method::DELETE, "/front/session") => Ok(session::sign_out(&self.agent, session.as_ref(), way.tls).await),
            (&Method::GET, "/front/events") => {
                self.caller(request.headers(), way, (asker, Token::None))?;
                Ok(self.events())
            }
            (&Method::GET, path) if path.starts_with(QR) => {
                let caller = self.caller(request.headers(), way, (asker, Token::None))?;
                let (reference, page_till) = (&path[QR.len()..], &self.config.page.till);
                qr::of_sale(forward::sale(&self.agent, &request, (reference, page_till), &caller).await?).await
            }
            (&Method::GET, "/front/customer") => {
                self.customer_is_on()?;
                let detail = "only the customer's screen may use this path; open it on the page: Terminal, Customer's \
                    screen";
                Err(Problem::unauthorized("unauthorized", detail))
            }
            (&Method::POST, "/front/customer/leave") => {
                self.caller(request.headers(), way, (asker, Token::None))?;
                self.customer_is_on()?;
                self.customer.leave(fields::<LeftTransaction>(request).await?);
                Ok(empty_answer(StatusCode::NO_CONTENT))
            }
            (&Method::POST, "/front/customer/pair") => {
                self.caller(request.headers(), way, (asker, Token::None))?;
                self.customer_is_on()?;
                let page = self.guard.origin(request.headers(), way)?;
                let token = self.customer.pair(rfc3339((self.now)())).map_err(PairError::from)?;
                let address = format!("{page}/customer#{token}");
                let code = qr::drawn(&address).map_err(Problem::malformed)?;
                Ok(json_answer(StatusCode::CREATED, &json!({ "address": address, "code": code })))
            }
            (_, path) if path.starts_with(BROWSER) => self.for_browsers(request, way, asker).await,
            (&Method::GET, "/front/doctor") => {
                // The doctor is needed most while the agent is down.
                if !self.may_do_without(request.headers(), way) {
                    self.caller(request.headers(), way, (asker, Token::None))?;
                }
                self.doctor.ask().await
            }
            (&Method::GET, "/front/payouts") => {
                self.caller(request.headers(), way, (asker, Token::None))?;
                Ok(json_answer(StatusCode::OK, &self.payouts.shown(Instant::now())))
            }
            (&Method::POST, path) if path.starts_with(PAYOUTS) => {
                self.caller(request.headers(), way, (asker, Token::None))?;
                let reference = path[PAYOUTS.len()..].to_owned();
                let confirmed = async {
                    let (head, body) = request.into_parts();
                    let credentials = forward::strangers_body(body, &head.headers).await?;
                    self.payouts.confirm(&self.agent, &reference, credentials, way).await
                };
                self.counted_sign_in(way, confirmed).await
            }
            (&Method::DELETE, path) if path.starts_with(PAYOUTS) => {
                self.caller(request.headers(), way, (asker, Token::None))?;
                self.payouts.refuse(&path[PAYOUTS.len()..])
            }
            (&Method::POST, "/front/pairing") => {
                self.caller(request.headers(), way, (asker, Token::None))?;
                Ok(json_answer(StatusCode::OK, &json!({ "openForS": self.pairings.open(Instant::now()).as_secs() })))
            }
            (&Method::GET | &Method::HEAD, path) => {
                if path == "/customer" {
                    self.customer_is_on()?;
                }
                self.page.answer(path, request.headers()).ok_or_else(Problem::not_found)
            }
            _ => Err(Problem::not_found()),
        }
    }

    /// Identifies the caller of a protected request. The agent checks the session with each request that is passed on
    /// to it.
    pub(crate) fn caller(
        &self,
        headers: &HeaderMap,
        way: Way,
        (asker, token): (&Asker, Token),
    ) -> Result<Caller, Problem> {
        match token {
            Token::Of(till) => return Ok(Caller::Till(till)),
            Token::Wrong => return Err(self.wrong_token(way)),
            Token::Customer => return Err(not_for_customer()),
            Token::None => {}
        }
        if asker.is_listed() || !self.config.page.on {
            let detail = "send \"Authorization: Bearer …\" with a paired till's token; to get a token, use POST \
                /front/pair";
            return Err(Problem::unauthorized("unauthorized", detail));
        }
        page_caller(cookie(headers), self.may_do_without(headers, way), self.agent.standing())
    }

    /// Finds the owner of a token.
    fn token(&self, token: &str) -> Token {
        if self.customer.knows(token) {
            return Token::Customer;
        }
        self.pairings.whose(token, Instant::now()).map_or(Token::Wrong, Token::Of)
    }

    /// Checks whether this caller may use the page without an operator.
    pub(crate) fn may_do_without(&self, headers: &HeaderMap, way: Way) -> bool {
        match self.config.page.without_sign_in {
            WithoutSignIn::Nobody => false,
            WithoutSignIn::Board => way.is_local(),
            WithoutSignIn::Paired => self.paired_browser(headers).is_some(),
            WithoutSignIn::Network => true,
        }
    }

    /// Returns the refusal of a token that belongs to no till. Only wrong tokens are counted, so a right token is
    /// always accepted.
    fn wrong_token(&self, way: Way) -> Problem {
        let detail = "no paired till has this token; pair the till again: POST /front/pair";
        self.wrong(way, Problem::unauthorized("unauthorized", detail))
    }

    /// Counts a wrong token for its address. Returns the refusal, or the one of an address that sends too many.
    pub(crate) fn wrong(&self, way: Way, refusal: Problem) -> Problem {
        let (now, whence) = (Instant::now(), way.whence());
        let mut wrong = self.wrong_tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = wrong.must_wait(whence, now) {
            return Problem::too_many("this address has sent too many wrong tokens", left.as_secs().max(1));
        }
        wrong.count(whence, now);
        refusal
    }

    /// Asks the agent whether a session is valid.
    async fn session_is_good(&self, session: &HeaderValue, path: &str) -> Result<(), Problem> {
        let question = Question::get("/v1/sessions/current").with_session(Some(session));
        match self.agent.ask_json(question).await?.0 {
            StatusCode::OK => {
                self.sessions.learn(SessionDigest::of(session.as_bytes()));
                Ok(())
            }
            StatusCode::UNAUTHORIZED if path.starts_with("/front/") => {
                Err(Problem::unauthorized("sign-in", "the session has ended; sign in again: POST /front/session"))
            }
            StatusCode::UNAUTHORIZED => {
                Err(Problem::unauthorized("session-ended", "the session has ended; sign in again"))
            }
            _ => Err(Problem::no_answer()),
        }
    }

    async fn sign_in(&self, request: Request<Incoming>, way: Way) -> Result<Answer, Problem> {
        let signed_in = async {
            let (head, body) = request.into_parts();
            let body = forward::strangers_body(body, &head.headers).await?;
            session::sign_in(&self.agent, &self.sessions, body, way).await
        };
        self.counted_sign_in(way, signed_in).await
    }

    /// Counts an attempt with a PIN for its address, and refuses it if there are too many.
    async fn counted_sign_in(
        &self,
        way: Way,
        signed_in: impl Future<Output = Result<Answer, Problem>>,
    ) -> Result<Answer, Problem> {
        let (now, address) = (Instant::now(), way.whence());
        {
            let mut sign_ins = self.sign_ins.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(left) = sign_ins.must_wait(address, now) {
                return Err(Problem::too_many("this address has sent too many sign-ins", left.as_secs().max(1)));
            }
            sign_ins.count(address, now);
        }
        let answer = signed_in.await;
        let mut sign_ins = self.sign_ins.lock().unwrap_or_else(PoisonError::into_inner);
        match &answer {
            Ok(answer) if answer.status().is_success() => sign_ins.forget(address),
            Ok(_) => {}
            // The PIN was not checked.
            Err(_) => sign_ins.take_back(address),
        }
        answer
    }

    /// Returns the settings that the page needs to start.
    async fn settings_answer(&self) -> Result<Answer, Problem> {
        let asked = self.agent.ask_json(Question::get("/v1/status")).await;
        let kept = || self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let of_agent = match asked {
            Ok((StatusCode::OK, status)) => {
                let operators = session::operators(&self.agent).await?.is_some();
                let settings = of_status(&status, operators);
                *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = Some(settings.clone());
                settings
            }
            Ok((status, said)) => kept().ok_or_else(|| {
                let detail = said["detail"].as_str().unwrap_or_default();
                Problem::forbidden(format!("the agent refuses the front ({status}): {detail}"))
            })?,
            Err(error) => kept().ok_or_else(|| Problem::from(error))?,
        };
        let mut settings = of_agent;
        settings["version"] = self.page.version().into();
        settings["languages"] = self.page.languages().into();
        settings["customer"] = self.config.page.customer.into();
        settings["browsers"] = self.browsers_are_on().into();
        settings["mayPair"] = (!self.config.tills.is_empty()).into();
        settings["accent"] = self.config.page.accent.clone().into();
        settings["logo"] = self.logo.is_some().into();
        Ok(json_answer(StatusCode::OK, &settings))
    }

    fn health(&self, way: Way, token: &Token) -> Answer {
        let standing = self.agent.standing();
        let word = if standing.up == Some(true) { "up" } else { "down" };
        let mut said = json!({ "agent": word, "since": rfc3339(standing.since) });
        // The page asks for them when it reads this.
        match self.payouts.count() {
            0 => {}
            count => said["payouts"] = count.into(),
        }
        // Callers on this board and paired tills see the state of the webhooks. Other callers see only the state of the
        // agent.
        if way.is_local() || matches!(token, Token::Of(_)) {
            said["webhooks"] = self.webhooks.iter().map(|webhook| webhook.shown()).collect();
        }
        json_answer(StatusCode::OK, &said)
    }

    /// Returns the status for a person at the terminal.
    pub(crate) fn status(&self) -> Value {
        let standing = self.agent.standing();
        let state = match standing.up {
            Some(true) => "up",
            Some(false) => "down",
            None => "not asked yet",
        };
        let webhooks: Vec<Value> = self.webhooks.iter().map(|webhook| webhook.shown()).collect();
        let tills: Vec<Value> = self.tills.iter().map(|till| till.status()).collect();
        let agent = json!({ "state": state, "since": rfc3339(standing.since), "notNamed": self.agent.not_named() });
        json!({ "version": env!("CARGO_PKG_VERSION"), "listens": self.urls, "page": self.page.version(),
                "agent": agent, "webhooks": webhooks, "tills": tills, "paired": self.pairings.paired(Instant::now()),
                "customersScreen": self.customer.status(), "browsers": self.browsers.list(None) })
    }

    /// Returns the webhook with this name.
    pub(crate) fn webhook(&self, name: &str) -> Result<&Webhook, Problem> {
        let found = self.webhooks.iter().find(|webhook| webhook.name() == name);
        found.map(Arc::as_ref).ok_or_else(|| {
            let known: Vec<&str> = self.webhooks.iter().map(|webhook| webhook.name()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let detail = format!("front.toml has no webhook {name:?}; its webhooks: {known}");
            Problem::new(StatusCode::NOT_FOUND, "no-such-webhook", "There is no such webhook", detail)
        })
    }

    fn ca(&self) -> Result<Answer, Problem> {
        let certificate = self.certificate.as_ref().ok_or_else(Problem::not_found)?;
        let mut answer = Response::new(whole(certificate.borrow().ca_pem().to_owned()));
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-pem-file"));
        Ok(answer)
    }

    /// Streams the list of tills that wait to be paired, with their codes, after each change.
    fn events(&self) -> Answer {
        let (sender, stream) = mpsc::channel(1);
        let mut changes = self.pairings.changes();
        changes.mark_changed();
        let shown = Arc::clone(&self.pairings);
        task::spawn(async move {
            let mut keep_alive = interval(KEEP_ALIVE);
            keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                let event = tokio::select! {
                    changed = changes.changed() => match changed {
                        Ok(()) => format!("event: pairing\ndata: {}\n\n", told(&shown)),
                        Err(_) => return,
                    },
                    _ = keep_alive.tick() => ":\n\n".to_owned(),
                    () = sender.closed() => return,
                };
                if sender.send(Bytes::from(event)).await.is_err() {
                    return;
                }
            }
        });
        forward::event_stream(stream)
    }
}

/// Returns the tills that wait to be paired, and the time left for further requests.
fn told(pairings: &Pairings) -> Value {
    let now = Instant::now();
    json!({ "waiting": pairings.waiting(now), "openForS": pairings.open_for(now).map(|left| left.as_secs()) })
}

/// Checks whether a path needs an identified caller.
fn needs_caller(path: &str) -> bool {
    let of_page = [
        "/front/customer",
        "/front/customer/leave",
        "/front/customer/pair",
        "/front/doctor",
        "/front/events",
        "/front/pairing",
        "/front/payouts",
    ];
    // A browser that is not paired yet has only the token of its link.
    let of_browsers = path.starts_with(BROWSER) && path != BROWSER;
    path.starts_with("/v1/")
        || [QR, PAYOUTS].iter().any(|of| path.starts_with(of))
        || of_browsers
        || of_page.contains(&path)
}

/// The token in a request.
pub(crate) enum Token {
    None,
    Wrong,
    /// The token of this till.
    Of(String),
    /// The token of the customer's screen.
    Customer,
}

/// Returns the page as the caller, if it needs no session or sends one. The agent checks that session later.
fn page_caller(session: Option<HeaderValue>, may_do_without: bool, agent: Standing) -> Result<Caller, Problem> {
    if agent.up != Some(true) {
        return Err(Problem::agent_down("the agent is not running; run: systemctl status pos-agent"));
    }
    if may_do_without || session.is_some() {
        return Ok(Caller::Page { session });
    }
    let detail = "here the page needs a signed-in operator; sign in: POST /front/session";
    Err(Problem::unauthorized("sign-in", detail))
}

/// Extracts the settings from the agent's status.
fn of_status(status: &Value, operators: bool) -> Value {
    let currency = status["currency"].as_str().unwrap_or_default();
    json!({
        "terminal": status["terminalId"],
        "merchant": status.get("merchant").cloned().unwrap_or_else(|| json!([])),
        "currency": currency,
        "language": status.get("language").cloned().unwrap_or_default(),
        "exponent": status.get("currencyDecimals").cloned().unwrap_or(json!(2)),
        "operators": operators,
        "tips": status.get("tips").cloned().unwrap_or_default(),
        "mayTrain": status.get("mayTrain").cloned().unwrap_or(json!(false)),
        "waits": status.get("waits").cloned().unwrap_or_default(),
    })
}

/// Returns the refusal of a path that no till may use.
fn only_for_page() -> Problem {
    Problem::forbidden("only the front's own page may use this path")
}

/// Returns the refusal of a path that the customer's screen may not use.
fn not_for_customer() -> Problem {
    Problem::forbidden("this token is only for the customer's screen, which may only use GET /front/customer")
}

/// Reads the JSON body of a request.
pub(crate) async fn fields<T: serde::de::DeserializeOwned>(request: Request<Incoming>) -> Result<T, Problem> {
    let (head, body) = request.into_parts();
    let body = forward::strangers_body(body, &head.headers).await?;
    serde_json::from_slice(&body).map_err(|error| Problem::malformed(error.to_string()))
}

/// Answers a browser's preflight request for a page of a listed origin.
fn allowed_to_ask() -> Answer {
    let mut answer = empty_answer(StatusCode::NO_CONTENT);
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    let asked = "Authorization, Content-Type, Last-Event-ID, Pos-Callback, Pos-Supervisor";
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(asked));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    answer
}

/// Adds the headers that each answer has.
pub(crate) fn with_usual_headers(mut answer: Answer) -> Answer {
    let headers = answer.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.append(VARY, HeaderValue::from_static("Origin"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page has no table of currencies, so it needs the number of decimals from the agent.
    #[test]
    fn the_decimals_of_the_currency_are_the_agents() {
        for decimals in [0, 2, 3] {
            let settings = of_status(&json!({ "currency": "XYZ", "currencyDecimals": decimals }), false);
            assert_eq!(settings["exponent"], decimals);
        }
    }

    #[test]
    fn where_it_takes_an_operator_the_page_needs_a_session_that_the_agent_judges() {
        let agent = |up| Standing { up, since: SystemTime::UNIX_EPOCH };
        let cookie = || Some(HeaderValue::from_static("x"));
        let asked = |session: Option<HeaderValue>, may_do_without, agent| {
            let caller = page_caller(session.clone(), may_do_without, agent);
            caller.map(|caller| assert_eq!(caller, Caller::Page { session })).map_err(|it| Answer::from(it).status())
        };
        let up = agent(Some(true));
        assert_eq!(asked(None, false, up), Err(StatusCode::UNAUTHORIZED));
        assert_eq!(asked(cookie(), false, up), Ok(()));
        for session in [None, cookie()] {
            assert_eq!(asked(session.clone(), true, up), Ok(()), "where it may be used without one");
            for away in [agent(Some(false)), agent(None)] {
                assert_eq!(asked(session.clone(), true, away), Err(StatusCode::SERVICE_UNAVAILABLE));
            }
        }
    }
}
