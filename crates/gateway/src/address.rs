//! The gateway's base address: scheme, host, port, and the path before the interface's own paths.

use std::fmt::Write as _;

use hyper::Uri;
use hyper::header::HeaderValue;
use rustls_pki_types::ServerName;

/// A base address `https://host[:port][/path]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    host: String,
    port: u16,
    /// The path without a trailing slash.
    path: String,
}

const HTTPS: u16 = 443;

impl Address {
    /// Parses the setting. The error names the fault.
    pub(super) fn parse(url: &str) -> Result<Self, &'static str> {
        if url.contains(['?', '#']) {
            return Err("it has a query or a fragment");
        }
        let uri: Uri = url.parse().map_err(|_| "it is not an address")?;
        if uri.scheme_str() != Some("https") {
            return Err("it does not begin with https://");
        }
        let authority = uri.authority().ok_or("it names no host")?;
        if authority.as_str().contains('@') {
            return Err("it holds a user name or a password");
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if ServerName::try_from(host.as_str()).is_err() {
            return Err("it names no host");
        }
        let port = authority.port_u16().unwrap_or(HTTPS);
        Ok(Self { host, port, path: uri.path().trim_end_matches('/').to_owned() })
    }

    /// Returns the host without brackets, for the resolver and for TLS.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the value of the `Host` header.
    pub(super) fn host_header(&self) -> HeaderValue {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let text = if self.port == HTTPS { host } else { format!("{host}:{}", self.port) };
        HeaderValue::try_from(text).expect("a host that was parsed is a header value")
    }

    /// Returns the path of a request, with its query.
    pub(super) fn path(&self, path: &str, parameters: &[(&str, &str)]) -> String {
        let mut out = format!("{}/{}", self.path, path.trim_start_matches('/'));
        if !parameters.is_empty() {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(parameters);
            write!(out, "?{}", query.finish()).expect("a String takes everything");
        }
        out
    }

    /// Returns the path and query of a redirect that keeps the scheme, host and port.
    pub(super) fn same_place(&self, location: &str) -> Option<String> {
        let uri: Uri = location.parse().ok()?;
        if uri.scheme().is_some() || uri.authority().is_some() {
            let base = format!("{}://{}", uri.scheme_str()?, uri.authority()?);
            let there = Self::parse(&base).ok()?;
            if (&there.host, there.port) != (&self.host, self.port) {
                return None;
            }
        } else if !location.starts_with('/') || location.starts_with("//") {
            return None;
        }
        Some(uri.path_and_query()?.as_str().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_wrong_ones_refused() {
        let address = Address::parse("https://Gateway.Example:8443/test/").unwrap();
        assert_eq!((address.host(), address.port()), ("gateway.example", 8443));
        assert_eq!(address.path("/v1/payments", &[]), "/test/v1/payments");
        assert_eq!(address.path("v1/query", &[("a", "1 &")]), "/test/v1/query?a=1+%26");
        assert_eq!(address.host_header(), "gateway.example:8443");
        assert_eq!(Address::parse("https://[::1]/").unwrap().host_header(), "[::1]");
        for wrong in
            ["http://a/", "a.example", "https://", "https://u:p@a/", "https://a/?q", "https://a/#f", "https://a b/"]
        {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_the_same_place_is_gone_to() {
        let address = Address::parse("https://a.example/").unwrap();
        for (location, path) in [
            ("https://a.example/x?y=1", Some("/x?y=1")),
            ("https://A.example:443/x", Some("/x")),
            ("/x", Some("/x")),
            ("//b.example/x", None),
            ("https://b.example/x", None),
            ("http://a.example/x", None),
            ("https://a.example:444/x", None),
            ("https://u@a.example/x", None),
            ("x", None),
        ] {
            assert_eq!(address.same_place(location).as_deref(), path, "{location}");
        }
    }
}
