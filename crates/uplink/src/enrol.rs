//! Asks the fleet's server for a certificate: with a code, or with the certificate that the terminal has.
//!
//! Only the fleet's CA is trusted here. The answer is stored as the next pair, which the broker must accept before it
//! replaces the present one.

use std::path::Path;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use pos_broker::tls::{self, Own, TlsError};
use rustls_pki_types::ServerName;
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use zeroize::Zeroizing;

use crate::certificate::{CertificateError, Folder, Validity, Which};

/// The time for the connection, and for all.
const CONNECTS: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(30);
/// The largest answer in bytes.
const LARGEST: usize = 64 * 1024;
/// The longest text of the server that is shown, in characters.
const LONGEST_TEXT: usize = 200;

/// The enrol port of the fleet's server.
#[derive(Clone, Copy, Debug)]
pub struct Port<'a> {
    /// The host's name, which its certificate must contain.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// The file with the fleet's CA (PEM). During a change of the CA it contains two.
    pub ca: &'a Path,
}

/// The reason why there is no new certificate. The files of the present one have not changed.
#[derive(Debug, thiserror::Error)]
pub enum EnrolError {
    /// The fleet's CA, or the own certificate.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The own files, or the certificate in the answer.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// A renewal needs a certificate.
    #[error("the terminal has no certificate: enrol it with a code")]
    NoCertificate,
    /// The host's name in the settings.
    #[error("{0} is not a host name or an address")]
    Host(String),
    /// The network, the server's certificate, or a deadline.
    #[error("the enrol port cannot be reached: {0}; check the address, the CA and the clock")]
    Unreached(String),
    /// The server refuses.
    #[error("the server refuses ({name}): {text}")]
    Refused {
        /// The reason, for a program.
        name: String,
        /// The reason, for a person.
        text: String,
    },
    /// The answer is not from an enrol port.
    #[error("the answer is not that of an enrol port (HTTP {0})")]
    Answer(u16),
}

impl EnrolError {
    /// True if only a new code helps: another try with the same certificate or code would fail too.
    #[must_use]
    pub fn needs_code(&self) -> bool {
        match self {
            Self::NoCertificate => true,
            Self::Refused { name, .. } => name.starts_with("certificate-") || name.starts_with("code-"),
            _ => false,
        }
    }
}

#[derive(Serialize)]
struct Asked<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    request: &'a str,
}

#[derive(Deserialize)]
struct Given {
    certificate: String,
    /// The CA's certificates at the server.
    ca: String,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
    text: String,
}

/// A new certificate, stored as the next pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrolled {
    /// The time of the certificate.
    pub validity: Validity,
    /// The certificates in the server's CA file (PEM). During a change of the CA they differ from the own file.
    pub ca: String,
}

/// Gets a certificate with a code. The same code can be tried again after a lost answer.
///
/// # Errors
/// Fails if the server cannot be reached or refuses, or if its certificate is not for this terminal.
pub async fn enrol(port: Port<'_>, folder: &Folder, code: &str) -> Result<Enrolled, EnrolError> {
    let request = folder.request()?;
    let given = ask(port, "/v1/enrol", &Asked { code: Some(code), request: &request }, None).await?;
    Ok(Enrolled { validity: folder.store_next(&given.certificate)?, ca: given.ca })
}

/// Gets a certificate with the present one.
///
/// # Errors
/// Fails if the terminal has no certificate, and for the same reasons as [`enrol`].
pub async fn renew(port: Port<'_>, folder: &Folder) -> Result<Enrolled, EnrolError> {
    // The next pair is newer, but only the present one has connected. Without a present one, the next one must do.
    let pair = match folder.pair(Which::Present)? {
        Some(pair) => pair,
        None => folder.pair(Which::Next)?.ok_or(EnrolError::NoCertificate)?,
    };
    let request = folder.request()?;
    let given = ask(port, "/v1/renew", &Asked { code: None, request: &request }, Some(pair.own())).await?;
    Ok(Enrolled { validity: folder.store_next(&given.certificate)?, ca: given.ca })
}

async fn ask(port: Port<'_>, path: &str, asked: &Asked<'_>, own: Option<Own<'_>>) -> Result<Given, EnrolError> {
    let config = tls::client(port.ca, own)?;
    let name = ServerName::try_from(port.host.to_owned()).map_err(|_| EnrolError::Host(port.host.to_owned()))?;
    // The body contains the code.
    let body = Zeroizing::new(serde_json::to_vec(asked).map_err(unreached)?);
    let request = Request::post(path)
        .header(HOST, port.host)
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::copy_from_slice(&body)))
        .map_err(|_| EnrolError::Host(port.host.to_owned()))?;
    let exchange = async {
        let stream = TcpStream::connect((port.host, port.port));
        let stream = timeout(CONNECTS, stream).await.map_err(unreached)?.map_err(unreached)?;
        let tls = TlsConnector::from(config).connect(name, stream).await.map_err(unreached)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(tls)).await.map_err(unreached)?;
        // The connection ends with the set, also at the deadline.
        let mut task = JoinSet::new();
        task.spawn(connection);
        let response = sender.send_request(request).await.map_err(unreached)?;
        let status = response.status();
        let body = Limited::new(response.into_body(), LARGEST).collect().await.map_err(unreached)?.to_bytes();
        Ok::<_, EnrolError>((status, body))
    };
    let (status, body) = timeout(PATIENCE, exchange).await.map_err(unreached)??;
    if status == hyper::StatusCode::CREATED {
        return serde_json::from_slice(&body).map_err(|_| EnrolError::Answer(status.as_u16()));
    }
    let Refused { error, text } = serde_json::from_slice(&body).map_err(|_| EnrolError::Answer(status.as_u16()))?;
    Err(EnrolError::Refused { name: shown(&error), text: shown(&text) })
}

/// Returns a foreign text as a line that a log or a page can show.
fn shown(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).take(LONGEST_TEXT).collect()
}

/// Returns the whole chain of causes: "connection error" alone says nothing.
fn unreached(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> EnrolError {
    let error = error.into();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    EnrolError::Unreached(shown(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_whether_a_code_helps() {
        let refused = |name: &str| EnrolError::Refused { name: name.to_owned(), text: String::new() };
        for name in ["certificate-expired", "certificate-revoked", "certificate-unknown", "code-used"] {
            assert!(refused(name).needs_code(), "{name}");
        }
        for error in [refused("database"), refused("too-many"), unreached("no route"), EnrolError::Answer(502)] {
            assert!(!error.needs_code(), "{error}");
        }
    }

    #[test]
    fn a_foreign_text_is_one_short_line() {
        let text = shown(&format!("a\nb\u{1b}[31m{}", "x".repeat(1_000)));
        assert!(text.starts_with("ab[31mx") && text.chars().count() == LONGEST_TEXT, "{text}");
    }
}
