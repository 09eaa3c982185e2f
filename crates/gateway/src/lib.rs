//! Is: the payment gateway's client. It packs a sale into the interface's parameters, sends it once, reads the answer.
//! Is not: what decides about an unknown answer.
//! Invariant: a payment that may have left is never answered with "not sent".
//!
//! It never retries, never follows by itself (one 307 to the same host excepted, on any request, unless its body speaks
//! of a payment that was asked for), and says [`Answer::NotSent`](pos_core::transaction::Answer::NotSent) only when the TLS
//! handshake was not complete: everything else that went wrong is [`Answer::Unknown`](pos_core::transaction::Answer::Unknown)
//! (design: path of a sale, 6). What to do about an unknown is the sale's decision, not this module's.
//!
//! ```text
//! Payment ─▶ request (a form, each value checked against parameter) ─▶ client (HTTP) ─▶ line (over tls) ─▶ wire
//!  Answer ◀─ answer, inquiry, by_date (json to meaning by code, chip, text) ◀┘
//!
//! fault, contact (why there was no answer, and what is known of the gateway now)
//! files (CA, certificate, key, token: read again when they change) ─▶ tls ─▶ verifier (webpki, clock, pins)
//! probe: the same way, step by step, for `pos-agent doctor`
//! any_answer: the same readings, of bytes instead of a gateway's, for the fuzz targets
//! ```
//!
//! What the interface documents do not show is a setting, [`crate::config::Assumptions`]; what is assumed beyond it
//! stands under "Assumed" in the heads of `answer`, `inquiry` and `by_date`.

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

/// One payment to ask for.
#[derive(Debug)]
pub struct CardPayment<'a> {
    /// What to charge.
    pub amount: Amount,
    /// Our reference: terminal id, sequence number and 128 random bits; 8 to 255 characters.
    pub merchant_transaction_id: &'a str,
    /// The journal's counter (interface: `pos.transactionSequenceNumber`).
    pub sequence_number: SaleNumber,
    /// The reader's serial number; left out of `pos.deviceId` when it holds anything but digits.
    pub device_serial: &'a str,
    /// Whether a PIN can be entered and encrypted (interface: `pos.pinEntryCapability`).
    pub pin_entry: bool,
    /// What kind of transaction: a sale, a pre-authorisation, a credit, or a card that is stored.
    pub kind: Kind,
    /// Parameters of the till, checked.
    pub parameters: &'a [(String, String)],
    /// The card.
    pub presented: &'a Presented,
}

/// A request without a card: an earlier payment or stored card data stand for it.
#[derive(Clone, Debug)]
pub struct WithoutCard<'a> {
    /// What kind of transaction.
    pub kind: Kind,
    /// What it refers to.
    pub on: RequestTarget<'a>,
    /// How much.
    pub amount: Amount,
    /// Our reference.
    pub merchant_transaction_id: &'a str,
    /// The journal's counter; `None` for the terminal's own reversal, which carries nothing but what it must.
    pub number: Option<SaleNumber>,
    /// Parameters of the till, checked.
    pub parameters: &'a [(String, String)],
}

/// What a request without a card refers to.
#[derive(Clone, Copy, Debug)]
pub enum RequestTarget<'a> {
    /// A POST to the `follow-up-path` of the settings (design: Reading the interface documents).
    Payment(&'a PaymentId),
    /// `POST /v1/payments` with `referenceUuid`, and the industry practice it is (interface: Card on file).
    Reference {
        /// The earlier payment's id.
        payment: &'a PaymentId,
        /// `standingInstruction.industryPractice`: INCREMENTAL_AUTH or REAUTHORIZATION.
        practice: &'a str,
    },
    /// A POST to the `registration-payment-path` of the settings.
    Registration(&'a str),
    /// A DELETE of what is stored below the `registration-path` of the settings.
    Forget(&'a str),
}

impl<'a> RequestTarget<'a> {
    /// What a transaction refers to; `None` when a card is read for it.
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

/// Why the client cannot be made. Each is a mistake in the settings or in a file they name.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The base address is not `https://host…`.
    #[error("[gateway] url must be an https address without query, such as https://gateway.example: {why}")]
    Url {
        /// What is wrong with it.
        why: String,
    },
    /// Neither or both ways to the token are given.
    #[error("[gateway] needs exactly one of token-file and token-credential")]
    TokenPlace,
    /// A credential without systemd, or a name that is a path.
    #[error("[gateway] {key} = \"{name}\": {why}")]
    Credential {
        /// The key.
        key: &'static str,
        /// The setting.
        name: String,
        /// What is wrong and what to do.
        why: &'static str,
    },
    /// The token cannot be read.
    #[error("the gateway's access token, or the key of our certificate: {0}")]
    Secret(#[from] SecretError),
    /// A certificate file cannot be read.
    #[error("cannot read {}: {source}; put the certificates there in PEM form, readable by the agent's user", path.display())]
    CaUnreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A certificate file holds no certificate that can be used.
    #[error("{} cannot be used: {why}; it must hold certificates in PEM form", path.display())]
    CaUnfit {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Our certificate and its key cannot be used.
    #[error("[gateway] client-certificate-file {} cannot be used: {why}; replace certificate and key together", path.display())]
    ClientCertificate {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Neither or both ways to the key are given.
    #[error("[gateway] client-certificate-file needs exactly one of client-key-file and client-key-credential")]
    ClientKeyPlace,
    /// The key of our certificate is none.
    #[error("the key of our certificate, {}, cannot be used: {why}; it must hold one private key in PEM form", path.display())]
    ClientKey {
        /// The file.
        path: PathBuf,
        /// What is wrong; nothing of the key.
        why: String,
    },
    /// The TLS or HTTP library refused its settings.
    #[error("cannot set up the connection to the gateway: {why}")]
    Setup {
        /// What the library said.
        why: String,
    },
}
