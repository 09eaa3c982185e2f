//! The reasons why a request to the gateway had no usable answer, as an enumeration from which programs can tell the
//! cause. Only this module writes the sentence for each: the problem, a semicolon, the remedy.
//!
//! A fault is not the outcome of a payment. The outcome depends on when the request failed; see
//! [`pos_core::transaction::Answer`].

use rustls::AlertDescription;

use pos_core::transaction::{Cause, Reason};

/// The reason why there is no usable answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    // ---- Before the connection was open
    /// The host name has no address.
    #[error("the gateway's host name cannot be resolved; check the network and url in [gateway]")]
    NameNotResolved,
    /// The name server does not answer.
    #[error("the name server does not answer; check the network")]
    NameServerSilent,
    /// The host refuses connections on this port.
    #[error("the gateway refused the connection; check url in [gateway]")]
    ConnectionRefused,
    /// The terminal has no route to the gateway: the cable, the radio or the router failed.
    #[error("no connection to the gateway: {cause}; check the network")]
    NoRoute {
        /// The system's error text.
        cause: String,
    },
    /// The host did not answer in time.
    #[error("no connection to the gateway within {ms} ms; check the network")]
    ConnectTimedOut {
        /// The waiting time in milliseconds.
        ms: u128,
    },
    /// The connection was lost while it was being opened.
    #[error("no connection to the gateway: {cause}; check the network")]
    ConnectionLost {
        /// The system's error text.
        cause: String,
    },

    // ---- TLS
    /// The gateway's certificate has expired.
    #[error("the gateway's certificate has expired; check the board's clock, then tell the gateway's operator")]
    CertificateExpired,
    /// The gateway's certificate is not valid yet.
    #[error("the gateway's certificate is not valid yet; check the board's clock")]
    CertificateNotValidYet,
    /// The gateway's certificate names another host.
    #[error("the gateway's certificate is for a different host name; check url in [gateway]")]
    CertificateOfAnotherHost,
    /// None of our CAs has signed the gateway's certificate.
    #[error(
        "the gateway's certificate is not signed by a CA from ca-file in [gateway]; ask the gateway's operator for its \
         CA certificate and add it to that file"
    )]
    CaNotTrusted,
    /// No pinned CA has signed the gateway's certificate.
    #[error(
        "no CA from ca-pins in [gateway] signed the gateway's certificate; ask the gateway's operator whether its CA \
         has changed, and add the pin of the new one"
    )]
    CaNotPinned,
    /// The gateway's certificate is revoked.
    #[error("the gateway's certificate has been revoked; tell the gateway's operator")]
    CertificateRevoked,
    /// The gateway's certificate breaks another rule.
    #[error("the gateway's certificate is not acceptable; tell the gateway's operator")]
    CertificateNotAcceptable,
    /// The gateway asks for our certificate, but we have none.
    #[error("the gateway asks for a client certificate; set client-certificate-file and client-key-file in [gateway]")]
    OwnCertificateMissing,
    /// The gateway says that our certificate has expired.
    #[error(
        "the gateway refuses the terminal's certificate, which has expired; have a new one issued, and replace \
         client-certificate-file in [gateway] and its key"
    )]
    OwnCertificateExpired,
    /// The gateway refuses our certificate.
    #[error(
        "the gateway refuses the terminal's certificate (alert {alert}); have client-certificate-file in [gateway] \
         issued by the CA that the gateway names"
    )]
    OwnCertificateRefused {
        /// The gateway's alert.
        alert: Alert,
    },
    /// The two sides have no TLS version in common.
    #[error("the gateway does not support this program's TLS 1.2 or 1.3; tell the gateway's operator")]
    TlsVersion,
    /// The gateway ended the handshake.
    #[error("the gateway ended the TLS handshake (alert {alert}); check url in [gateway]")]
    TlsRefused {
        /// The gateway's alert.
        alert: Alert,
    },
    /// The received bytes are not TLS.
    #[error("the TLS handshake with the gateway failed; check url in [gateway]")]
    TlsFailed,

    // ---- Over an open connection
    /// The received bytes are not HTTP.
    #[error("the gateway does not speak HTTP; check url in [gateway]")]
    NoHttp,
    /// The gateway closed the connection before a byte was sent.
    #[error("the gateway closed the connection immediately")]
    ClosedAtOnce,
    /// The connection was cut before the end of the answer.
    #[error("the gateway's answer is incomplete")]
    AnswerNotWhole,
    /// The answer is longer than any real answer.
    #[error("the gateway's answer is longer than {most} bytes")]
    AnswerTooLong {
        /// The maximum number of bytes that are read.
        most: usize,
    },
    /// No complete answer arrived in time.
    #[error("the gateway did not answer within {ms} ms")]
    AnswerTimedOut {
        /// The waiting time in milliseconds.
        ms: u128,
    },
    /// The gateway redirects to another host.
    #[error("the gateway redirects to a different host (HTTP 307), which the agent does not follow")]
    RedirectsElsewhere,
    /// The gateway redirects a second time.
    #[error("the gateway redirects twice (HTTP 307)")]
    RedirectsTwice,
    /// The gateway's redirect must not be followed.
    #[error("{why}")]
    MayNotFollow {
        /// The reason.
        why: String,
    },
    /// The redirect was followed, but its target could not be reached.
    #[error("after a redirect (HTTP 307): {0}")]
    AfterRedirect(Box<Self>),

    // ---- Answers
    /// The gateway refuses our token.
    #[error("the gateway refuses the terminal's access token (HTTP {status}); check token-file in [gateway]")]
    TokenRefused {
        /// The HTTP status, 401 or 403.
        status: u16,
    },
    /// The gateway answers that it is out of order.
    #[error("the gateway reports a fault (HTTP {status}); if the fault continues, tell the gateway's operator")]
    OutOfOrder {
        /// The HTTP status, 500 or above.
        status: u16,
    },

    // ---- On this terminal
    /// The settings name a path that cannot be requested.
    #[error("{path} is not a path; check url in [gateway], and [gateway.assumptions]")]
    NotAPath {
        /// The path in the settings.
        path: String,
    },
    /// The settings name no host.
    #[error("url in [gateway] names no host; write it as \"https://gateway.example\"")]
    NoHost,
    /// A file that the settings name cannot be used.
    #[error("{why}")]
    Files {
        /// The file and the reason.
        why: String,
    },
}

impl Fault {
    /// Returns the fault's word for programs. The meaning of a word never changes.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NameNotResolved => "name-not-resolved",
            Self::NameServerSilent => "name-server-silent",
            Self::ConnectionRefused => "connection-refused",
            Self::NoRoute { .. } => "no-route",
            Self::ConnectTimedOut { .. } => "connect-timed-out",
            Self::ConnectionLost { .. } => "connection-lost",
            Self::CertificateExpired => "certificate-expired",
            Self::CertificateNotValidYet => "certificate-not-valid-yet",
            Self::CertificateOfAnotherHost => "certificate-of-another-host",
            Self::CaNotTrusted => "ca-not-trusted",
            Self::CaNotPinned => "ca-not-pinned",
            Self::CertificateRevoked => "certificate-revoked",
            Self::CertificateNotAcceptable => "certificate-not-acceptable",
            Self::OwnCertificateMissing => "own-certificate-missing",
            Self::OwnCertificateExpired => "own-certificate-expired",
            Self::OwnCertificateRefused { .. } => "own-certificate-refused",
            Self::TlsVersion => "tls-version",
            Self::TlsRefused { .. } => "tls-refused",
            Self::TlsFailed => "tls-failed",
            Self::NoHttp => "no-http",
            Self::ClosedAtOnce => "closed-at-once",
            Self::AnswerNotWhole => "answer-not-whole",
            Self::AnswerTooLong { .. } => "answer-too-long",
            Self::AnswerTimedOut { .. } => "answer-timed-out",
            Self::RedirectsElsewhere => "redirects-elsewhere",
            Self::RedirectsTwice => "redirects-twice",
            Self::MayNotFollow { .. } => "may-not-follow",
            Self::AfterRedirect(_) => "after-redirect",
            Self::TokenRefused { .. } => "token-refused",
            Self::OutOfOrder { .. } => "out-of-order",
            Self::NotAPath { .. } => "not-a-path",
            Self::NoHost => "no-host",
            Self::Files { .. } => "files",
        }
    }

    /// Returns the cause of "not sent", for a request that the gateway cannot have read.
    #[must_use]
    pub fn not_sent(&self) -> Cause {
        self.of(match self {
            Self::CertificateExpired => Reason::GatewayCertificateExpired,
            Self::CertificateNotValidYet
            | Self::CertificateOfAnotherHost
            | Self::CaNotTrusted
            | Self::CaNotPinned
            | Self::CertificateRevoked
            | Self::CertificateNotAcceptable => Reason::GatewayUntrustedCertificate,
            Self::OwnCertificateMissing | Self::OwnCertificateRefused { .. } => Reason::GatewayOwnCertificateRefused,
            Self::OwnCertificateExpired => Reason::GatewayOwnCertificateExpired,
            Self::TokenRefused { .. } => Reason::GatewayRefusesToken,
            Self::TlsVersion
            | Self::TlsRefused { .. }
            | Self::TlsFailed
            | Self::NoHttp
            | Self::NotAPath { .. }
            | Self::NoHost
            | Self::Files { .. } => Reason::GatewayNotUsable,
            _ => Reason::GatewayUnreachable,
        })
    }

    /// Returns a cause with the word of this fault, and the system's error text if there is one.
    #[must_use]
    pub fn of(&self, reason: Reason) -> Cause {
        match self {
            Self::NoRoute { cause } | Self::ConnectionLost { cause } => {
                reason.with(format_args!("{}, {cause}", self.as_str()))
            }
            Self::AfterRedirect(fault) => fault.of(reason),
            Self::OutOfOrder { status } | Self::TokenRefused { status } => reason.with(format_args!("HTTP {status}")),
            _ => reason.with(self.as_str()),
        }
    }

    /// Checks whether a newly opened connection proves that the fault is over.
    pub(super) fn ends_with_a_line(&self) -> bool {
        !matches!(
            self,
            Self::AnswerNotWhole
                | Self::AnswerTooLong { .. }
                | Self::AnswerTimedOut { .. }
                | Self::RedirectsElsewhere
                | Self::RedirectsTwice
                | Self::MayNotFollow { .. }
                | Self::AfterRedirect(_)
                | Self::TokenRefused { .. }
                | Self::OutOfOrder { .. }
        )
    }
}

/// A TLS alert, shown by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert(pub AlertDescription);

impl std::fmt::Display for Alert {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
