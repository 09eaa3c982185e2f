//! The origin of the page that sends a widget request. The browser states the origin, and no script in the page can
//! change it.
//!
//! The card fields are in a frame that the gateway serves, so the shop's page cannot read them. Requests from the frame
//! have the gateway's origin. The browser tells the frame the shop's origin, and the frame sends it in
//! [`WIDGET_ORIGIN`].

use hyper::Uri;
use hyper::header::{HOST, HeaderMap, ORIGIN};

use crate::invalid::Invalid;

/// The header with the shop's origin, in requests from the frame of the card fields.
pub(super) const WIDGET_ORIGIN: &str = "widget-origin";

/// The rule for `shopperResultUrl`.
pub(super) const MUST_BE: &str = "must be an absolute http or https address without a user name";

/// Returns the origin of an address as a browser writes it; `None` for an address without an origin.
pub(super) fn of(url: &str) -> Option<String> {
    let url = url.split_once('#').map_or(url, |(url, _)| url);
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?;
    let usual = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
    let host = authority.host().to_ascii_lowercase();
    Some(match authority.port_u16().filter(|port| *port != usual) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    })
}

/// Returns the gateway's origin as a browser writes it, for example `https://localhost:8443`.
pub(super) fn own(headers: &HeaderMap) -> Result<String, Invalid> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.and_then(|host| of(&format!("https://{host}"))).ok_or_else(|| Invalid::new("Host", "required and not sent"))
}

/// Returns the origin of the shop's page.
pub(super) fn shop(headers: &HeaderMap) -> Result<String, Invalid> {
    let said = |name: &str| {
        let mut all = headers.get_all(name).iter();
        let only = all.next().filter(|_| all.next().is_none());
        only.and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let origin = said(ORIGIN.as_str()).ok_or_else(|| {
        Invalid::new("Origin", "required and not sent: a checkout is paid by the widget in a browser")
    })?;
    if origin != own(headers)? {
        return Ok(origin);
    }
    said(WIDGET_ORIGIN).ok_or_else(|| Invalid::new(WIDGET_ORIGIN, "required and not sent: the page around the frame"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_a_port_that_is_not_the_usual_one() {
        for (url, origin) in [
            ("https://shop.test/result?a=1#b", Some("https://shop.test")),
            ("https://Shop.Test:443/", Some("https://shop.test")),
            ("http://shop.test:8080", Some("http://shop.test:8080")),
            ("https://[::1]:8443/x", Some("https://[::1]:8443")),
            ("https://shop.test@evil.test/", None),
            ("ftp://shop.test/", None),
            ("/result", None),
            ("myapp://result", None),
        ] {
            assert_eq!(of(url).as_deref(), origin, "{url}");
        }
    }
}
