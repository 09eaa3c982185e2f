//! Is: the payment gateway's client. It packs a transaction into the interface's parameters, sends it once, and reads
//! the answer.
//! Is not: the decision about an unknown answer.
//! Invariant: it never answers "not sent" for a payment that may have left the terminal.
//!
//! The client never retries a request that moves money. It follows only one redirect per request: a 307 to the same
//! host. It does not follow one whose body names a requested payment or says that something was done. The client
//! answers [`Answer::NotSent`](pos_core::transaction::Answer::NotSent) only when the TLS handshake was not complete.
//! Every other failure is [`Answer::Unknown`](pos_core::transaction::Answer::Unknown) (design: path of a sale, 6). The
//! transaction decides how to handle an unknown answer, not this crate.
//!
//! ```text
//! Payment ─▶ request (a form, each value checked against parameter) ─▶ client (HTTP) ─▶ line (over tls) ─▶ wire
//!  Answer ◀─ answer, inquiry, by_date (json to meaning by code, chip, text) ◀┘
//!
//! fault, contact (why there was no answer; the latest known state of the gateway)
//! files (CA, certificate, key, token: read again when they change) ─▶ tls ─▶ verifier (webpki, clock, pins)
//! probe: the same connection, step by step, for `pos-agent doctor`
//! any_answer: the same parsing, fed with arbitrary bytes, for the fuzz targets
//! ```
//!
//! Facts that the interface documents do not show are settings; see [`crate::config::Assumptions`]. Further assumptions
//! are listed under "Assumed" in the heads of `answer`, `inquiry` and `by_date`.

mod address;
mod answer;
pub mod any_answer;
mod by_date;
pub mod certificate;
mod chip;
mod client;
mod clock;
mod code;
pub mod config;
mod contact;
mod fault;
mod files;
mod inquiry;
mod json;
mod line;
mod other_fields;
pub mod probe;
pub mod request;
mod text;
pub mod till_parameters;
mod tls;
mod token;
mod verifier;

use std::path::PathBuf;

use pos_daemon::secret::SecretError;
use pos_terms::card::Presented;
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, Operation, PaymentId, SaleNumber};

pub use by_date::Found;
pub use certificate::{Certificate, Expiry};
pub use client::{Client, Soon};
pub use clock::{CertificateClock, Time};
pub use contact::Contact;
pub use fault::{Alert, Fault};
pub use probe::Probed;
pub use request::{Expected, PreparedPayment};
pub use token::Token;

/// A payment to request.
#[derive(Debug)]
pub struct CardPayment<'a> {
    /// The amount to charge.
    pub amount: Amount,
    /// The gateway reference: terminal id, sequence number and 128 random bits; 8 to 255 characters.
    pub merchant_transaction_id: &'a str,
    /// The transaction's number in the journal (interface: `pos.transactionSequenceNumber`).
    pub sequence_number: SaleNumber,
    /// The reader's serial number. `pos.deviceId` is sent only when the serial number consists of digits.
    pub device_serial: &'a str,
    /// The ability to enter and encrypt a PIN (interface: `pos.pinEntryCapability`).
    pub pin_entry: bool,
    /// The kind of transaction: sale, pre-authorisation, credit, or storing a card.
    pub kind: Kind,
    /// The till's parameters, which were already checked.
    pub parameters: &'a [(String, String)],
    /// The card.
    pub presented: &'a Presented,
}

/// A request without a card: it refers to an earlier payment or to stored card data.
#[derive(Clone, Debug)]
pub struct WithoutCard<'a> {
    /// The kind of transaction.
    pub kind: Kind,
    /// The target of the request.
    pub on: RequestTarget<'a>,
    /// The amount.
    pub amount: Amount,
    /// The gateway reference.
    pub merchant_transaction_id: &'a str,
    /// The transaction's number in the journal. `None` for the terminal's own reversal, which carries only the required
    /// parameters.
    pub number: Option<SaleNumber>,
    /// The till's parameters, which were already checked.
    pub parameters: &'a [(String, String)],
}

/// The target of a request without a card.
#[derive(Clone, Copy, Debug)]
pub enum RequestTarget<'a> {
    /// A POST to the `follow-up-path` of the settings (design: Reading the interface documents).
    Payment(&'a PaymentId),
    /// `POST /v1/payments` with `referenceUuid` and the industry practice (interface: Card on file).
    Reference {
        /// The earlier payment's id.
        payment: &'a PaymentId,
        /// `standingInstruction.industryPractice`: INCREMENTAL_AUTH or REAUTHORIZATION.
        practice: &'a str,
    },
    /// A POST to the `registration-payment-path` of the settings.
    Registration(&'a str),
    /// A DELETE of the stored card below the `registration-path` of the settings.
    Forget(&'a str),
}

impl<'a> RequestTarget<'a> {
    /// Returns the target of a transaction, or `None` if a card is read for it.
    #[must_use]
    pub fn of(transaction: &'a Operation) -> Option<Self> {
        match transaction {
            Operation::Sale | Operation::PreAuthorisation | Operation::Credit | Operation::StoreCard => None,
            Operation::ForgetCard { registration } => Some(Self::Forget(registration)),
            Operation::Capture { of } | Operation::Refund { of } | Operation::Reversal { of } => {
                Some(Self::Payment(&of.payment))
            }
            Operation::Increment { of } => Some(Self::Reference { payment: &of.payment, practice: "INCREMENTAL_AUTH" }),
            Operation::Reauthorisation { of } => {
                Some(Self::Reference { payment: &of.payment, practice: "REAUTHORIZATION" })
            }
            Operation::ByRegistration { registration } | Operation::PreAuthorisationByRegistration { registration } => {
                Some(Self::Registration(registration))
            }
        }
    }
}

/// The reasons why the client cannot be created. Each is a mistake in the settings or in a file that they name.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The base address is not `https://host…`.
    #[error("url in [gateway] must be an https address without a query, such as https://gateway.example: {why}")]
    Url {
        /// The mistake.
        why: String,
    },
    /// The settings name no source for the token, or two.
    #[error("[gateway] needs exactly one of token-file and token-credential")]
    TokenPlace,
    /// A credential is set without systemd, or its name is a path.
    #[error("[gateway] {key} = \"{name}\": {why}")]
    Credential {
        /// The key in the settings.
        key: &'static str,
        /// The value of that key.
        name: String,
        /// The mistake and its remedy.
        why: &'static str,
    },
    /// The token cannot be read.
    #[error("the gateway's access token, or the key of the terminal's certificate: {0}")]
    Secret(#[from] SecretError),
    /// A certificate file cannot be read.
    #[error("cannot read {}: {source}; put the certificates in this file, in PEM form, readable by the agent's user", path.display())]
    CaUnreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A certificate file contains no usable certificate.
    #[error("{} cannot be used: {why}; replace it with a file of certificates in PEM form", path.display())]
    CaUnfit {
        /// The file.
        path: PathBuf,
        /// The mistake.
        why: String,
    },
    /// Our certificate and its key cannot be used.
    #[error("client-certificate-file in [gateway], {}, cannot be used: {why}; replace the certificate and its key \
        together", path.display())]
    ClientCertificate {
        /// The file.
        path: PathBuf,
        /// The mistake.
        why: String,
    },
    /// The settings name no source for the key, or two.
    #[error("client-certificate-file in [gateway] needs exactly one of client-key-file and client-key-credential")]
    ClientKeyPlace,
    /// The key file of our certificate contains no usable key.
    #[error("the key of the terminal's certificate, {}, cannot be used: {why}; replace it with one private key in PEM form", path.display())]
    ClientKey {
        /// The file.
        path: PathBuf,
        /// The mistake. It quotes no part of the key.
        why: String,
    },
    /// The TLS or HTTP library refused its settings.
    #[error("cannot set up the connection to the gateway: {why}")]
    Setup {
        /// The library's error text.
        why: String,
    },
}
