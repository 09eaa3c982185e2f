//! The guard identifies the caller of a request and its rights, or refuses the request. The rights that each verb needs
//! are in `till/rights.rs`.
//!
//! On the Unix socket, the file's mode decides who may open it, and the system reports the user. On loopback, every
//! program on the board can connect, and so can every web page in a browser on the board. So loopback needs a token,
//! and requests that come from a foreign web page are refused.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rustix::process::geteuid;
use subtle::ConstantTimeEq;
use tokio::net::{TcpStream, UnixStream};
use zeroize::Zeroizing;

use super::Error;
use super::failure::Failure;
use crate::config::{self, TillToken};
use crate::till::{Caller, ProblemType};

/// The user of the program at the other end of a connection, as reported by the system. Each request of the connection
/// carries it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) Option<u32>);

/// A stream that may know its peer's user.
pub(super) trait HasPeer {
    /// Returns the user, or `None` if the system does not report one.
    fn peer(&self) -> Peer;
}

impl HasPeer for UnixStream {
    fn peer(&self) -> Peer {
        Peer(self.peer_cred().ok().map(|credentials| credentials.uid()))
    }
}

impl HasPeer for TcpStream {
    fn peer(&self) -> Peer {
        Peer(None)
    }
}

/// An entrance for tills.
pub(super) enum Entrance {
    /// The Unix socket, with the configuration for its callers.
    Local(config::Till),
    /// Loopback TCP with these tokens.
    Loopback(Vec<Key>),
}

/// A till with its token, which is wiped when dropped and never printed.
pub(super) struct Key {
    caller: Caller,
    token: Zeroizing<String>,
}

impl Entrance {
    /// Reads the tokens of `tills`.
    pub(super) fn loopback(tills: &[TillToken]) -> Result<Self, Error> {
        let key = |entry: &TillToken| {
            let token = config::secret_file(&entry.token_file)
                .map_err(|cause| Error::Token { till: entry.till.clone(), cause })?;
            Ok(Key { caller: Caller::token(entry), token })
        };
        tills.iter().map(key).collect::<Result<_, _>>().map(Self::Loopback)
    }

    fn admit(&self, peer: Peer, headers: &HeaderMap) -> Result<Caller, Failure> {
        let keys = match self {
            Self::Local(config) => return Ok(Caller::at_socket(peer.0, geteuid().as_raw(), config)),
            Self::Loopback(keys) => keys,
        };
        no_foreign_page(headers)?;
        let given = bearer(headers).unwrap_or_default();
        let mut caller = None;
        // All tokens are compared, each in constant time, so the duration reveals only the length.
        for key in keys {
            if bool::from(key.token.as_bytes().ct_eq(given)) {
                caller = Some(key.caller.clone());
            }
        }
        caller.ok_or_else(|| {
            let message = "a valid token is required: send \"Authorization: Bearer …\" with the content of this till's \
                 token-file";
            Failure::new(ProblemType::Unauthorized, message)
        })
    }
}

/// Lets a request through with its [`Caller`], or refuses it.
pub(super) async fn guard(State(entrance): State<Arc<Entrance>>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get().copied().unwrap_or(Peer(None));
    let mut response = match entrance.admit(peer, request.headers()) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    };
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    response
}

/// Refuses any POST that is not JSON. Without permission, a web page can post a form or plain text to any address, but
/// not JSON.
pub(super) async fn in_json(request: Request, next: Next) -> Response {
    if request.method() == Method::POST && !is_json(request.headers()) {
        let message = "a POST needs \"Content-Type: application/json\"";
        return Failure::new(ProblemType::MediaType, message).into_response();
    }
    next.run(request).await
}

/// Refuses requests from foreign web pages. `Origin` reveals a page from another origin, and `Host` reveals a page
/// whose own name was redirected to this address (DNS rebinding).
fn no_foreign_page(headers: &HeaderMap) -> Result<(), Failure> {
    let forbidden = |message| Failure::new(ProblemType::Forbidden, message);
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !names_loopback(host) {
        return Err(forbidden("Host must be localhost or a loopback address"));
    }
    match headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
        Some(origin) if origin.strip_prefix("http://") != Some(host) => {
            Err(forbidden("web pages from other origins may not use the terminal"))
        }
        _ => Ok(()),
    }
}

fn names_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns the token, if the request has exactly one. A request with two tokens has no caller.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (given, None) = (all.next()?, all.next()) else { return None };
    let (scheme, token) = given.as_bytes().split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}

fn is_json(headers: &HeaderMap) -> bool {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = media.split_once(';').map_or(media, |(media, _)| media);
    media.trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_board_are_hosts() {
        for good in ["localhost", "localhost:8650", "LOCALHOST", "127.0.0.1:8650", "127.8.9.1", "[::1]:8650", "[::1]"] {
            assert!(names_loopback(good), "{good}");
        }
        for wrong in ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8650", "192.0.2.7", ":8650"]
        {
            assert!(!names_loopback(wrong), "{wrong}");
        }
    }
}
