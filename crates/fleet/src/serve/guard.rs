//! Who may read what. The pages contain sales, so a request is refused before the database is asked.

use std::net::{IpAddr, SocketAddr};

use hyper::header::{self, HeaderMap};
use hyper::{Method, StatusCode};

use super::Serve;

/// The names under which a loopback address is known.
const NEAR: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Another method than GET.
    Method,
    /// A request with a body.
    Body,
    /// A name that this server does not have. A page of another site may have sent the browser here.
    Name,
    /// The page comes from a peer that is no proxy.
    Peer,
    /// The proxy names no user.
    User,
    /// The metrics are asked by a peer that is not allowed.
    Scraper,
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Body => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Name => StatusCode::MISDIRECTED_REQUEST,
            Self::Peer | Self::User | Self::Scraper => StatusCode::FORBIDDEN,
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Method => "This server only shows. It answers GET and nothing else.",
            Self::Body => "A request to this server has no body.",
            Self::Name => "This server is not known by that name. The setting `names` lists its names.",
            Self::Peer => "Pages are served to the reverse proxy only. The setting `proxies` lists its addresses.",
            Self::User => "The reverse proxy has named no user. The setting `user-header` names the header.",
            Self::Scraper => "Metrics are not for this address. The setting `scrapers` lists the allowed ones.",
        }
    }
}

/// The parts of a request that decide.
pub(super) struct Asked<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    /// The host in the request's target, if the target is absolute.
    pub(super) authority: Option<&'a str>,
    pub(super) headers: &'a HeaderMap,
    pub(super) peer: SocketAddr,
}

impl Serve {
    /// Checks a request.
    pub(super) fn allow(&self, asked: &Asked<'_>) -> Result<(), Refusal> {
        if asked.method != Method::GET {
            return Err(Refusal::Method);
        }
        let length = asked.headers.get(header::CONTENT_LENGTH).map(header::HeaderValue::as_bytes);
        if asked.headers.contains_key(header::TRANSFER_ENCODING) || !matches!(length, None | Some(b"0")) {
            return Err(Refusal::Body);
        }
        if self.listen.ip().is_loopback() && !self.is_named(asked) {
            return Err(Refusal::Name);
        }
        let peer = asked.peer.ip().to_canonical();
        let is_near = peer.is_loopback() || is_among(&self.proxies, peer);
        if asked.path == super::METRICS {
            return if is_near || is_among(&self.scrapers, peer) { Ok(()) } else { Err(Refusal::Scraper) };
        }
        let Some(name) = &self.user_header else { return Ok(()) };
        // A header proves something only if it comes from the proxy.
        if !is_near {
            return Err(Refusal::Peer);
        }
        let user = asked.headers.get(name).map(header::HeaderValue::as_bytes).unwrap_or_default();
        if user.trim_ascii().is_empty() { Err(Refusal::User) } else { Ok(()) }
    }

    /// Returns whether every name in the request is one of this server's.
    fn is_named(&self, asked: &Asked<'_>) -> bool {
        let mut hosts =
            asked.headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default()).peekable();
        let known = |host: &str| {
            let name = without_port(host);
            NEAR.iter().copied().chain(self.names.iter().map(String::as_str)).any(|it| it.eq_ignore_ascii_case(name))
        };
        hosts.peek().is_some() && hosts.all(known) && asked.authority.is_none_or(known)
    }
}

fn is_among(addresses: &[IpAddr], peer: IpAddr) -> bool {
    addresses.iter().any(|address| address.to_canonical() == peer)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR_PEER: &str = "127.0.0.1:5000";
    const FAR_PEER: &str = "192.0.2.7:5000";

    fn ask(settings: &Serve, peer: &str, path: &str, headers: &[(&'static str, &str)]) -> Result<(), Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let peer = peer.parse().unwrap();
        settings.allow(&Asked { method: &Method::GET, path, authority: None, headers: &map, peer })
    }

    fn behind_proxy() -> Serve {
        let proxies = vec!["10.0.0.1".parse().unwrap()];
        let scrapers = vec!["10.0.0.9".parse().unwrap()];
        let user_header = Some("x-user".to_owned());
        Serve { listen: "0.0.0.0:8490".parse().unwrap(), user_header, proxies, scrapers, ..Serve::default() }
    }

    #[test]
    fn only_get_without_a_body_is_answered() {
        let (settings, mut headers) = (Serve::default(), HeaderMap::new());
        headers.insert("host", "localhost".parse().unwrap());
        let peer = NEAR_PEER.parse().unwrap();
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::HEAD, Method::OPTIONS, Method::PATCH] {
            let asked = Asked { method: &method, path: "/", authority: None, headers: &headers, peer };
            assert_eq!(settings.allow(&asked), Err(Refusal::Method), "{method}");
        }
        let host = ("host", "localhost");
        assert_eq!(ask(&settings, NEAR_PEER, "/", &[host, ("content-length", "0")]), Ok(()));
        assert_eq!(ask(&settings, NEAR_PEER, "/", &[host, ("content-length", "7")]), Err(Refusal::Body));
        assert_eq!(ask(&settings, NEAR_PEER, "/", &[host, ("transfer-encoding", "chunked")]), Err(Refusal::Body));
    }

    #[test]
    fn a_site_that_points_its_name_at_this_host_reads_nothing() {
        let settings = Serve { names: vec!["fleet.example".to_owned()], ..Serve::default() };
        for host in ["localhost", "LOCALHOST:8490", "127.0.0.1:8490", "[::1]:8490", "[::1]", "fleet.example:443"] {
            assert_eq!(ask(&settings, NEAR_PEER, "/", &[("host", host)]), Ok(()), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "localhost:x", "::1"] {
            for path in ["/", super::super::METRICS] {
                assert_eq!(ask(&settings, NEAR_PEER, path, &[("host", host)]), Err(Refusal::Name), "{host}");
            }
        }
        assert_eq!(ask(&settings, NEAR_PEER, "/", &[]), Err(Refusal::Name));
        let two = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(ask(&settings, NEAR_PEER, "/", &two), Err(Refusal::Name));
    }

    #[test]
    fn a_user_counts_only_if_the_proxy_names_it() {
        let settings = behind_proxy();
        let user = ("x-user", "anna");
        assert_eq!(ask(&settings, "10.0.0.1:9", "/", &[user]), Ok(()));
        assert_eq!(ask(&settings, "[::ffff:10.0.0.1]:9", "/", &[user]), Ok(()));
        assert_eq!(ask(&settings, NEAR_PEER, "/", &[user]), Ok(()));
        assert_eq!(ask(&settings, FAR_PEER, "/", &[user]), Err(Refusal::Peer));
        assert_eq!(ask(&settings, "10.0.0.9:9", "/", &[user]), Err(Refusal::Peer));
        for headers in [&[][..], &[("x-user", "")], &[("x-user", "  ")], &[("x-users", "anna")]] {
            assert_eq!(ask(&settings, "10.0.0.1:9", "/closes", headers), Err(Refusal::User));
        }
    }

    #[test]
    fn metrics_are_for_the_proxy_the_scrapers_and_this_host() {
        let settings = behind_proxy();
        for peer in ["10.0.0.1:9", "10.0.0.9:9", NEAR_PEER, "[::1]:9"] {
            assert_eq!(ask(&settings, peer, "/metrics", &[]), Ok(()), "{peer}");
        }
        assert_eq!(ask(&settings, FAR_PEER, "/metrics", &[("x-user", "anna")]), Err(Refusal::Scraper));
    }
}
