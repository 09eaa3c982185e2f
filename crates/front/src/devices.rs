//! Requests about paired browsers: making a link, pairing, listing and removing. `browsers` keeps them.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::SET_COOKIE;
use hyper::{HeaderMap, Method, Request, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::browsers::{self, BrowserError};
use crate::certificate::page_origins;
use crate::config::WithoutSignIn;
use crate::control::rfc3339;
use crate::front::{Front, Token, fields};
use crate::guard::{Asker, Way, browser_cookie, cookie};
use crate::problem::{Answer, Problem, empty_answer, json_answer};
use crate::writing::until;
use crate::{qr, session};

/// The path that pairs a browser. The paths with which users of the page do the rest begin with it.
pub(crate) const BROWSER: &str = "/front/browser";
/// The path of a paired browser, followed by its id.
const ONE: &str = "/front/browsers/";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairBrowser {
    token: String,
    name: String,
}

impl Front {
    /// Answers a request about paired browsers.
    pub(crate) async fn for_browsers(
        &self,
        request: Request<Incoming>,
        way: Way,
        asker: &Asker,
    ) -> Result<Answer, Problem> {
        let (method, path) = (request.method(), request.uri().path());
        if (method, path) == (&Method::POST, BROWSER) {
            return self.pair_browser(request, way).await;
        }
        self.caller(request.headers(), way, (asker, Token::None))?;
        match (method, path) {
            (&Method::POST, "/front/browser/open") => {
                let own = self.guard.origin(request.headers(), way)?;
                Ok(json_answer(StatusCode::CREATED, &self.browser_link(Some((own, way)))?))
            }
            (&Method::GET, "/front/browsers") => {
                let said = json!({ "browsers": self.browsers.list(browser_cookie(request.headers())) });
                Ok(json_answer(StatusCode::OK, &said))
            }
            (&Method::DELETE, path) if path.starts_with(ONE) => {
                self.browsers.remove(&path[ONE.len()..])?;
                Ok(empty_answer(StatusCode::NO_CONTENT))
            }
            _ => Err(Problem::not_found()),
        }
    }

    /// Checks whether paired browsers may use the page without an operator.
    pub(crate) fn browsers_are_on(&self) -> bool {
        self.config.page.without_sign_in == WithoutSignIn::Paired
    }

    /// Returns the cookie of the paired browser that sends a request.
    pub(crate) fn paired_browser<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        browser_cookie(headers).filter(|cookie| self.browsers_are_on() && self.browsers.is_paired(cookie))
    }

    /// Makes a link that pairs a browser, with its QR code. The link has the origin at which its page was reached. For
    /// a page on this board, or without a page, it has the first address that other devices can reach.
    pub(crate) fn browser_link(&self, page: Option<(String, Way)>) -> Result<Value, Problem> {
        if !self.browsers_are_on() || !self.config.page.on {
            let detail = "browsers are not paired here; set without-sign-in = \"paired\" in [page] of front.toml";
            return Err(Problem::forbidden(detail));
        }
        let origins = page_origins(&self.config.names, &self.config.https);
        // Without TLS, only browsers on this board reach the page.
        let own = page.filter(|(_, way)| way.tls && !way.is_local() || origins.is_empty()).map(|(own, _)| own);
        let origin = own.as_ref().or(origins.first()).or(self.urls.first()).cloned().unwrap_or_default();
        let (token, good_for) = self.browsers.open(Instant::now());
        let address = format!("{origin}/#pair={token}");
        let code = qr::drawn(&address).map_err(Problem::malformed)?;
        let certificate = self.certificate.as_ref().map(|certificate| certificate.borrow().ca_fingerprint());
        Ok(json!({ "address": address, "code": code, "goodForS": good_for.as_secs(), "origins": origins,
                   "fingerprint": certificate.and_then(Result::ok) }))
    }

    /// Pairs the browser that sends the token of a link. Only wrong tokens are counted.
    async fn pair_browser(&self, request: Request<Incoming>, way: Way) -> Result<Answer, Problem> {
        let former = browser_cookie(request.headers()).map(str::to_owned);
        let PairBrowser { token, name } = fields(request).await?;
        let at = (Instant::now(), rfc3339((self.now)()));
        let cookie = self.browsers.pair((&token, &name), former.as_deref(), at).map_err(|error| match error {
            BrowserError::Link => self.wrong(way, error.into()),
            error => error.into(),
        })?;
        let mut answer = empty_answer(StatusCode::NO_CONTENT);
        answer.headers_mut().insert(SET_COOKIE, browsers::cookie(&cookie, way.tls));
        Ok(answer)
    }

    /// Returns who uses the page. A paired browser gets its cookie again, so that it stays paired.
    pub(crate) async fn session_answer(&self, headers: &HeaderMap, way: Way) -> Result<Answer, Problem> {
        let paired = self.paired_browser(headers);
        let without = match self.may_do_without(headers, way) {
            true => session::Without::Permitted,
            false if self.browsers_are_on() => session::Without::OnlyPaired,
            false => session::Without::Refused,
        };
        let mut answer = session::current(&self.agent, cookie(headers).as_ref(), without).await?;
        if let Some(paired) = paired {
            answer.headers_mut().insert(SET_COOKIE, browsers::cookie(paired, way.tls));
        }
        Ok(answer)
    }

    /// Ends a wait or a stream when the browser with this cookie is removed.
    pub(crate) async fn while_paired(
        &self,
        cookie: String,
        answer: impl Future<Output = Result<Answer, Problem>>,
    ) -> Answer {
        let answer = tokio::select! {
            answer = answer => answer.unwrap_or_else(Answer::from),
            () = self.browsers.removed(&cookie) => return Problem::unauthorized("sign-in", session::NOT_PAIRED).into(),
        };
        let browsers = Arc::clone(&self.browsers);
        until(async move { browsers.removed(&cookie).await }, answer)
    }
}

impl From<BrowserError> for Problem {
    fn from(error: BrowserError) -> Self {
        let of = |status, code| Self::new(status, code, "The browser is not paired", error.to_string());
        match &error {
            BrowserError::Name => Self::malformed(error.to_string()),
            BrowserError::Link => of(StatusCode::FORBIDDEN, "wrong-link"),
            BrowserError::Full => of(StatusCode::FORBIDDEN, "too-many-browsers"),
            BrowserError::Unknown => of(StatusCode::NOT_FOUND, "no-such-browser"),
            BrowserError::State(_) => of(StatusCode::SERVICE_UNAVAILABLE, "state"),
        }
    }
}
