//! Why a request to the gateway had no answer, or none that serves: a small enumeration, so that programs can tell the
//! causes apart. The sentence of each is made here and nowhere else: what is wrong, a semicolon, what to do.
//!
//! What it is not: what became of a payment. That rests on when it failed, and is [`pos_core::transaction::Answer`].

use rustls::AlertDescription;

use pos_core::transaction::{Cause, Reason};

/// Why there is no answer that serves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    // ---- Before a line stood
    /// No address for the host's name.
    #[error("the gateway's host name cannot be resolved; check the network and [gateway] url")]
    NameNotResolved,
    /// Whoever is asked for the address says nothing.
    #[error("the name server does not answer; check the network")]
    NameServerSilent,
    /// Nobody listens there.
    #[error("the gateway refused the connection; check [gateway] url")]
    ConnectionRefused,
    /// The board has no way to it: the cable, the radio or the router.
    #[error("no connection to the gateway: {cause}; check the network")]
    NoRoute {
        /// The system's words.
        cause: String,
    },
    /// Nobody answered in time.
    #[error("no connection to the gateway within {ms} ms; check the network")]
    ConnectTimedOut {
        /// How long it was waited.
        ms: u128,
    },
    /// The connection was lost while it was made.
    #[error("no connection to the gateway: {cause}; check the network")]
    ConnectionLost {
        /// The system's words.
        cause: String,
    },

    // ---- TLS
    /// Its certificate has ended.
    #[error("the gateway's certificate has expired; check the board's clock, then tell the gateway's operator")]
    CertificateExpired,
    /// Its certificate begins later.
    #[error("the gateway's certificate is not valid yet; check the board's clock")]
    CertificateNotValidYet,
    /// Its certificate names another host.
    #[error("the gateway's certificate is for another host name; check [gateway] url")]
    CertificateOfAnotherHost,
    /// No CA of ours has signed it.
    #[error(
        "the gateway's certificate is not signed by a CA of [gateway] ca-file; ask its operator for the certificate of its CA and put it \
         into that file, beside the one that is there"
    )]
    CaNotTrusted,
    /// No pinned CA has signed it.
    #[error(
        "no CA of [gateway] ca-pins signed the gateway's certificate; ask the gateway's operator whether its CA has changed, and add the \
         pin of the new one"
    )]
    CaNotPinned,
    /// It was taken back.
    #[error("the gateway's certificate has been revoked; tell the gateway's operator")]
    CertificateRevoked,
    /// It breaks another rule.
    #[error("the gateway's certificate is not acceptable; tell the gateway's operator")]
    CertificateNotAcceptable,
    /// It wants a certificate of ours, and there is none.
    #[error("the gateway asks for a certificate of ours; set [gateway] client-certificate-file and client-key-file")]
    OwnCertificateMissing,
    /// It says that our certificate has ended.
    #[error(
        "the gateway refuses our certificate, which has expired; have a new one issued and replace [gateway] client-certificate-file and \
         its key"
    )]
    OwnCertificateExpired,
    /// It does not take our certificate.
    #[error(
        "the gateway refuses our certificate (alert {alert}); have [gateway] client-certificate-file issued by the CA that the gateway \
         names"
    )]
    OwnCertificateRefused {
        /// Its alert.
        alert: Alert,
    },
    /// No version of TLS that both speak.
    #[error("the gateway does not speak TLS 1.2 or 1.3 as this program does; tell the gateway's operator")]
    TlsVersion,
    /// It ended the handshake.
    #[error("the gateway ended the TLS handshake (alert {alert}); check [gateway] url")]
    TlsRefused {
        /// Its alert.
        alert: Alert,
    },
    /// What came is no TLS.
    #[error("the TLS handshake with the gateway failed; check [gateway] url")]
    TlsFailed,

    // ---- Over a line that stood
    /// What came is no HTTP.
    #[error("the gateway speaks no HTTP; check [gateway] url")]
    NoHttp,
    /// It closed the line before a byte was sent.
    #[error("the gateway closed the connection at once")]
    ClosedAtOnce,
    /// The line was cut.
    #[error("the gateway's answer did not arrive whole")]
    AnswerNotWhole,
    /// More than any answer has.
    #[error("the gateway's answer is longer than {most} bytes")]
    AnswerTooLong {
        /// What is read at most.
        most: usize,
    },
    /// No whole answer in time.
    #[error("the gateway did not answer within {ms} ms")]
    AnswerTimedOut {
        /// How long it was waited.
        ms: u128,
    },
    /// It leads to another host.
    #[error("the gateway redirects to another host (HTTP 307), which is not followed")]
    RedirectsElsewhere,
    /// It leads on a second time.
    #[error("the gateway redirects twice (HTTP 307)")]
    RedirectsTwice,
    /// Its redirect may not be followed.
    #[error("{why}")]
    MayNotFollow {
        /// Why not.
        why: String,
    },
    /// Where it led to, nobody was.
    #[error("after a redirect (HTTP 307): {0}")]
    AfterRedirect(Box<Self>),

    // ---- Answers
    /// It does not let us in.
    #[error("the gateway refuses our access token (HTTP {status}); check [gateway] token-file")]
    TokenRefused {
        /// 401 or 403.
        status: u16,
    },
    /// It answers that it is out of order.
    #[error("the gateway answers with a fault of its own (HTTP {status}); tell its operator when it lasts")]
    OutOfOrder {
        /// 500 or above.
        status: u16,
    },

    // ---- Here
    /// The settings name no place to ask.
    #[error("{path} is not a path; check [gateway] url and assumptions")]
    NotAPath {
        /// What they name.
        path: String,
    },
    /// The settings name no host.
    #[error("[gateway] url names no host; write it as \"https://gateway.example\"")]
    NoHost,
    /// A file that the settings name cannot be used.
    #[error("{why}")]
    Files {
        /// Which, and why.
        why: String,
    },
}

impl Fault {
    /// Its word for programs; never changes its meaning.
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

    /// Why a request cannot have been read, as a reason of the core.
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
            | Self::Files { .. } => Reason::GatewayCannotBeAsked,
            _ => Reason::GatewayUnreachable,
        })
    }

    /// A reason of the core with the word of this fault, and the system's words where there are any.
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

    /// Whether a new line that stands shows that it is over.
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

/// An alert of TLS by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert(pub AlertDescription);

impl std::fmt::Display for Alert {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
