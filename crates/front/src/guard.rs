//! Checks of a request before it is handled. The request must be for this host, and must not come from a foreign page.
//! The body of a POST must be JSON.
//!
//! | attack through a browser | protection |
//! |---|---|
//! | a page of another origin calls this one | `Origin`, or `Sec-Fetch-Site` if there is no `Origin` |
//! | a page points its own name at this address (DNS rebinding) | `Host`: a configured name, or the reached address |
//! | a form or a link sends a request that changes data | `Origin` and `Content-Type: application/json` are required |
//! | a request is meant for a proxy | only a path is accepted, not a URL with a scheme |
//!
//! This module also reads the token or session that identifies a caller. Only the agent knows whether a session is
//! valid.

use std::net::{IpAddr, SocketAddr};

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Method, Request, StatusCode};

use crate::attempts::Whence;
use crate::browsers;
use crate::problem::Problem;
use crate::session;
use pos_till_api::ProblemType;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The two ends of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) peer: SocketAddr,
    pub(crate) reached: SocketAddr,
    pub(crate) tls: bool,
}

impl Way {
    /// Returns the source under which the connection is counted.
    pub(crate) fn whence(&self) -> Whence {
        Whence::of(self.peer.ip(), self.reached.ip())
    }

    /// Returns the sign-in source under which the agent counts a PIN. It is `None` for a caller on this board, because
    /// no one on the network can try a PIN there.
    pub(crate) fn place(&self) -> Option<HeaderValue> {
        (!self.is_local()).then(|| HeaderValue::from_str(&self.whence().to_string()).ok()).flatten()
    }

    /// Checks whether the peer is a program on this board.
    pub(crate) fn is_local(&self) -> bool {
        self.peer.ip().to_canonical().is_loopback()
    }
}

/// The caller of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A paired till.
    Till(String),
    /// The page, with the session of the signed-in operator.
    Page {
        /// The session, as it is in the cookie.
        session: Option<HeaderValue>,
    },
}

/// The page from which a browser sends the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The request names no page. Either the caller is not a browser, or the request changes nothing.
    Unsaid,
    /// The front's own page.
    Own,
    /// A page of one of the configured origins.
    Listed(HeaderValue),
}

impl Asker {
    /// Checks whether this is a page of a configured origin. Such a page may use a till's token.
    pub(crate) fn is_listed(&self) -> bool {
        matches!(self, Self::Listed(_))
    }
}

/// The host names and the origins whose requests are answered.
#[derive(Debug)]
pub(crate) struct Guard {
    names: Vec<String>,
    origins: Vec<String>,
}

impl Guard {
    /// Creates the guard. `names` have no ports, and `origins` have the form that browsers send. Both are in lower
    /// case.
    pub(crate) fn new(names: Vec<String>, origins: Vec<String>) -> Self {
        Self { names, origins }
    }

    /// Checks a request by its target and its headers.
    pub(crate) fn judge<B>(&self, request: &Request<B>, way: Way) -> Result<Asker, Problem> {
        let (uri, headers) = (request.uri(), request.headers());
        if uri.scheme().is_some() || uri.authority().is_some() || !uri.path().starts_with('/') {
            return Err(Problem::malformed("this is not a proxy: send only a path"));
        }
        let host = self.host(headers, way)?;
        let asker = self.asker(headers, uri.path(), &host, way.tls)?;
        let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        let has_token = headers.contains_key(AUTHORIZATION);
        if changes && asker == Asker::Unsaid && !has_token && !is_pairing(uri.path()) {
            return Err(Problem::forbidden("a request that changes something must have an Origin or a till's token"));
        }
        if request.method() == Method::POST && !is_json(headers) {
            let detail = "a POST needs \"Content-Type: application/json\"";
            return Err(Problem::of(ProblemType::MediaType, detail));
        }
        Ok(asker)
    }

    /// Returns the origin of this host's page, as the request's `Host` header names the host.
    pub(crate) fn origin(&self, headers: &HeaderMap, way: Way) -> Result<String, Problem> {
        Ok(origin_of(&self.host(headers, way)?, way.tls))
    }

    /// Returns the `Host` header if there is exactly one and it names this host.
    fn host(&self, headers: &HeaderMap, way: Way) -> Result<String, Problem> {
        let strange = || {
            Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "host",
                "This is not the requested host",
                "this host does not have the requested name; add the name to names in front.toml, or use the host's \
                 address",
            )
        };
        let host = only(headers, &HOST).ok_or_else(strange)?.to_ascii_lowercase();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host.as_str(),
        };
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let known = match address.parse::<IpAddr>() {
            Ok(address) => address == way.reached.ip().to_canonical(),
            Err(_) => name == "localhost" && way.is_local(),
        };
        let known = known || self.names.iter().any(|known| known == name || known == address);
        if known { Ok(host) } else { Err(strange()) }
    }

    fn asker(&self, headers: &HeaderMap, path: &str, host: &str, tls: bool) -> Result<Asker, Problem> {
        let foreign = || {
            Problem::forbidden(
                "pages from this origin may not use the terminal; to allow them, add the origin to origins in [cors]",
            )
        };
        let Some(given) = headers.get(ORIGIN) else {
            return match headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes) {
                None | Some(b"same-origin" | b"none") => Ok(Asker::Unsaid),
                // A link to the page from another site is permitted, because the page's files are not secret.
                Some(_) if !is_interface(path) => Ok(Asker::Unsaid),
                Some(_) => Err(foreign()),
            };
        };
        let origin = only(headers, &ORIGIN).ok_or_else(foreign)?.to_ascii_lowercase();
        if origin == origin_of(host, tls) {
            return Ok(Asker::Own);
        }
        match self.origins.contains(&origin) {
            true => Ok(Asker::Listed(given.clone())),
            false => Err(foreign()),
        }
    }
}

/// Checks whether a path serves data of the terminal.
fn is_interface(path: &str) -> bool {
    ["/v1/", "/front/", "/first-boot/"].iter().any(|below| path.starts_with(below))
}

/// Checks whether a path is for pairing. A till that is not paired yet has no token, and it sends no `Origin`. A caller
/// that does not know the code gets nothing.
fn is_pairing(path: &str) -> bool {
    path == "/front/pair" || path.starts_with("/front/pair/")
}

/// Returns the value of a header that occurs exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Returns a till's token, or `Some(None)` if the header contains something else.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<Option<&str>> {
    headers.get(AUTHORIZATION)?;
    let given = only(headers, &AUTHORIZATION).and_then(|value| value.split_at_checked(7));
    Some(given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer ")).map(|(_, token)| token))
}

/// Returns the session from the cookie of a request.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<HeaderValue> {
    named_cookie(headers, session::COOKIE_NAME).and_then(|session| HeaderValue::from_str(session).ok())
}

/// Returns the value that proves a browser's pairing, from the cookie of a request.
pub(crate) fn browser_cookie(headers: &HeaderMap) -> Option<&str> {
    named_cookie(headers, browsers::COOKIE_NAME)
}

fn named_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    session::in_cookies(headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()), name)
}

fn is_json(headers: &HeaderMap) -> bool {
    let media = only(headers, &CONTENT_TYPE).unwrap_or_default();
    let media = media.split_once(';').map_or(media, |(media, _)| media);
    media.trim().eq_ignore_ascii_case("application/json")
}

fn origin_of(host: &str, tls: bool) -> String {
    let scheme = if tls { "https" } else { "http" };
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        Guard::new(vec!["kasse.local".to_owned()], vec!["https://till.example".to_owned()])
    }

    fn way(tls: bool, peer: &str) -> Way {
        let reached = "192.0.2.7:8443".parse().unwrap();
        Way { peer: peer.parse().unwrap(), reached, tls }
    }

    /// Checks a request, which is written as `METHOD target` followed by `Name: value` lines.
    fn judged(text: &str, way: Way) -> Result<Asker, StatusCode> {
        let mut lines = text.split('\n');
        let (method, target) = lines.next().unwrap().split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(target);
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let judged = guard().judge(&request.body(()).unwrap(), way);
        judged.map_err(|problem| crate::problem::Answer::from(problem).status())
    }

    #[test]
    fn only_names_of_this_host_are_answered() {
        let far = way(true, "192.0.2.99:4000");
        let near = Way { reached: "127.0.0.1:8651".parse().unwrap(), ..way(false, "127.0.0.1:4000") };
        for host in ["kasse.local", "KASSE.local:8443", "192.0.2.7", "192.0.2.7:8443"] {
            assert_eq!(judged(&format!("GET /\nHost: {host}"), far), Ok(Asker::Unsaid), "{host}");
        }
        for host in ["localhost", "127.0.0.1:8651", "LOCALHOST:8651"] {
            assert!(judged(&format!("GET /\nHost: {host}"), near).is_ok(), "{host}");
        }
        for host in [
            "evil.example",
            "kasse.local.evil.example",
            "192.0.2.8",
            "localhost",
            "127.0.0.1",
            "",
            "kasse.local:",
            "x@kasse.local",
        ] {
            assert!(judged(&format!("GET /\nHost: {host}"), far).is_err(), "{host}");
        }
        assert!(judged("GET /", far).is_err());
        assert!(judged("GET /\nHost: kasse.local\nHost: evil.example", far).is_err());
        assert!(judged("GET http://kasse.local/\nHost: kasse.local", far).is_err());
    }

    #[test]
    fn a_foreign_page_is_refused_and_a_listed_one_is_told_apart() {
        let https = way(true, "192.0.2.99:4000");
        let post = "POST /v1/sales\nHost: kasse.local:8443\nContent-Type: application/json";
        assert_eq!(judged(&format!("{post}\nOrigin: https://kasse.local:8443"), https), Ok(Asker::Own));
        let listed = judged(&format!("{post}\nOrigin: https://till.example"), https);
        assert_eq!(listed, Ok(Asker::Listed(HeaderValue::from_static("https://till.example"))));
        for origin in [
            "https://kasse.local",
            "http://kasse.local:8443",
            "https://evil.example",
            "null",
            "",
            "https://kasse.local:8443.evil.example",
            "https://till.example:444",
            "https://kasse.local:8443\nOrigin: null",
        ] {
            assert_eq!(judged(&format!("{post}\nOrigin: {origin}"), https), Err(StatusCode::FORBIDDEN), "{origin}");
        }
        assert_eq!(judged(post, https), Err(StatusCode::FORBIDDEN), "a browser that says nothing");
        assert_eq!(judged(&format!("{post}\nAuthorization: Bearer x"), https), Ok(Asker::Unsaid), "a till");
        let get = "GET /v1/sales\nHost: kasse.local:8443\nSec-Fetch-Site:";
        assert!(judged(&format!("{get} same-origin"), https).is_ok());
        assert!(judged(&format!("{get} cross-site"), https).is_err());
        assert!(
            judged("GET /\nHost: kasse.local:8443\nSec-Fetch-Site: cross-site", https).is_ok(),
            "a link to the page"
        );
    }

    #[test]
    fn what_is_sent_is_json() {
        let https = way(true, "192.0.2.99:4000");
        let post = "POST /v1/sales\nHost: kasse.local\nOrigin: https://kasse.local";
        assert!(judged(&format!("{post}\nContent-Type: Application/JSON; charset=utf-8"), https).is_ok());
        for wrong in ["", "\nContent-Type: text/plain", "\nContent-Type: application/json\nContent-Type: text/plain"] {
            assert_eq!(judged(&format!("{post}{wrong}"), https), Err(StatusCode::UNSUPPORTED_MEDIA_TYPE), "{wrong}");
        }
    }

    #[test]
    fn a_pin_from_the_network_has_a_place_and_one_from_the_board_has_none() {
        let reached = "[2001:db8:9::7]:8443".parse().unwrap();
        let place =
            |peer: &str| Way { reached, ..way(true, peer) }.place().map(|place| place.to_str().unwrap().to_owned());
        assert_eq!(place("192.0.2.99:4000").as_deref(), Some("192.0.2.99"));
        assert_eq!(place("[::ffff:192.0.2.99]:4000").as_deref(), Some("192.0.2.99"));
        assert_eq!(place("[2001:db8::1:2]:4000").as_deref(), Some("2001:db8::"), "a far network is one place");
        for board in ["127.0.0.1:4000", "[::1]:4000", "[::ffff:127.0.0.1]:4000"] {
            assert_eq!(place(board), None);
        }
    }

    #[test]
    fn what_is_no_token_is_not_taken_for_none() {
        let headers = |value: &'static str| HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(value))]);
        assert_eq!(bearer(&HeaderMap::new()), None);
        assert_eq!(bearer(&headers("bearer abc")), Some(Some("abc")));
        assert_eq!(bearer(&headers("Basic abc")), Some(None));
        assert_eq!(bearer(&headers("")), Some(None));
    }
}
