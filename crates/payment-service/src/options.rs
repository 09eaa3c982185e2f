//! The options of a gateway's start.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::certificate::{Certificate, Demand};
use super::host_rules::HostRules;
use pos_terms::money::Currency;

/// The options of a gateway's start.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The only access token that is accepted.
    pub token: String,
    /// The only `entityId` that is served, 32 lower-case hex digits.
    pub entity_id: String,
    /// The fault of the server's certificate.
    pub certificate: Certificate,
    /// A further name or address in the server's certificate, which another machine uses to reach the gateway.
    pub name: Option<String>,
    /// The extra demands on a client.
    pub demand: Demand,
    /// The authority (PEM) that signs the shops' certificates, for calls to them over HTTPS.
    pub shop_ca: Option<String>,
    /// The amount of checking.
    pub mode: Mode,
    /// The strictness of the checks, and the form of the answers.
    pub host_rules: HostRules,
    /// The file of the books; without it the books are in memory.
    pub ledger: Option<PathBuf>,
    /// The number of requests allowed in a second of the gateway's clock; more are throttled.
    pub throttle: Option<u32>,
    /// The time of the gateway's clock at the start; without it the system's time.
    pub clock: Option<DateTime<Utc>>,
    /// The delay before each answer.
    pub delay: Duration,
    /// The currency of the merchant's account, in which it settles.
    pub settlement_currency: Currency,
    /// An existing folder for the file of each settlement date, which is written at the end of the day before.
    pub settlement_folder: Option<PathBuf>,
    /// The URLs that get webhooks.
    pub webhooks: Vec<String>,
    /// The key that encrypts the notifications to them, 64 hex digits; without it they are plain JSON.
    pub webhook_key: Option<String>,
    /// The authorities that sign their servers' certificates, PEM; without it the system's authorities.
    pub webhook_ca: Option<String>,
    /// The time-out for the answer of a webhook's server.
    pub webhook_timeout: Duration,
    /// The only values of `pos.terminalId` that are accepted; an empty list accepts all.
    pub terminals: Vec<String>,
    /// The only currencies that are accepted; an empty list accepts all.
    pub currencies: Vec<Currency>,
    /// The names of the card schemes in `threeDSecure.v2.<scheme>`, [`MOST_SCHEMES`] at most; an empty list means the
    /// document's own placeholder.
    pub schemes: Vec<String>,
    /// The time of the call to a shop when the checkout's id expires earlier.
    pub late_shop_call: LateShopCall,
}

/// The number of card schemes that have 3-D Secure requestors (data-model: 3D Secure).
pub const MOST_SCHEMES: usize = 6;

/// The time of the call to `shopperResultUrl` when the checkout's id expires earlier. The call is due 29 minutes after
/// the submission, and the id expires 30 minutes after the checkout was made. The interface is silent about this case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateShopCall {
    /// The call is made when it is due, after the id has expired.
    #[default]
    After,
    /// The call is made in the last minute of the id's life, or immediately if that minute has begun.
    Before,
    /// The call is not made.
    Never,
}

impl LateShopCall {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::After, Self::Before, Self::Never];

    /// Returns the name in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::After => "after",
            Self::Before => "before",
            Self::Never => "never",
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: "c2ltdWxhdGVkLWFjY2Vzcy10b2tlbg".to_owned(),
            entity_id: "8ac7a4c97ba4e2d5017ba6b1c2d30a51".to_owned(),
            certificate: Certificate::Good,
            name: None,
            demand: Demand::default(),
            shop_ca: None,
            mode: Mode::Checked,
            host_rules: HostRules::Checked,
            ledger: None,
            throttle: None,
            clock: None,
            delay: Duration::ZERO,
            settlement_currency: Currency::from_code("EUR").expect("ISO 4217 has it"),
            settlement_folder: None,
            webhooks: Vec::new(),
            webhook_key: None,
            webhook_ca: None,
            webhook_timeout: Duration::from_secs(10),
            terminals: Vec::new(),
            currencies: Vec::new(),
            schemes: Vec::new(),
            late_shop_call: LateShopCall::default(),
        }
    }
}

/// The amount of work for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Everything: decrypts, verifies, chooses an outcome.
    #[default]
    Checked,
    /// For benchmarks: reads the form, approves, answers the chip with 8A alone. No keys, no outcomes.
    Fast,
    /// For benchmarks: reads the request and sends the same bytes every time. This is the floor of this HTTP server.
    Constant,
}
