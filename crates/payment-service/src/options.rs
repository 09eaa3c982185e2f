//! The start options of a gateway.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::certificate::{Certificate, Demand};
use super::host_rules::HostRules;
use pos_terms::money::Currency;

/// The start options of a gateway.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen on; port 0 selects a free port.
    pub listen: SocketAddr,
    /// The access token; all others are refused.
    pub token: String,
    /// The served `entityId`, 32 lower-case hex digits; all others are refused.
    pub entity_id: String,
    /// The fault of the server's certificate.
    pub certificate: Certificate,
    /// An additional name or address in the server's certificate, for access from another machine.
    pub name: Option<String>,
    /// The additional requirements for a client.
    pub demand: Demand,
    /// The authority (PEM) that must have signed the shops' certificates, for HTTPS calls to them.
    pub shop_ca: Option<String>,
    /// The amount of work for each answer.
    pub mode: Mode,
    /// The strictness of the checks, and the form of the answers.
    pub host_rules: HostRules,
    /// The file of the books; without it, the books are in memory.
    pub ledger: Option<PathBuf>,
    /// The number of requests allowed per second of the gateway's clock; further requests are throttled.
    pub throttle: Option<u32>,
    /// The start time of the gateway's clock; without it, the system time.
    pub clock: Option<DateTime<Utc>>,
    /// The delay before each answer.
    pub delay: Duration,
    /// The currency of the merchant's account, used for settlement.
    pub settlement_currency: Currency,
    /// An existing folder for the settlement files, one for each date. Each file is written at the end of the day
    /// before.
    pub settlement_folder: Option<PathBuf>,
    /// The URLs that get webhooks.
    pub webhooks: Vec<String>,
    /// The key that encrypts the webhooks' notifications, 64 hex digits; without it, they are plain JSON.
    pub webhook_key: Option<String>,
    /// The authorities (PEM) for the certificates of webhook servers; without them, the system's authorities.
    pub webhook_ca: Option<String>,
    /// The time-out for the answer of a webhook server.
    pub webhook_timeout: Duration,
    /// The accepted values of `pos.terminalId`; an empty list accepts all.
    pub terminals: Vec<String>,
    /// The accepted currencies; an empty list accepts all.
    pub currencies: Vec<Currency>,
    /// The names of the card schemes in `threeDSecure.v2.<scheme>`, at most [`MOST_SCHEMES`]. With an empty list, the
    /// document's placeholder is the only name.
    pub schemes: Vec<String>,
    /// The time of the call to a shop if the checkout's id expires earlier.
    pub late_shop_call: LateShopCall,
}

/// The maximum number of card schemes with 3-D Secure requestors (data-model: 3D Secure).
pub const MOST_SCHEMES: usize = 6;

/// The time of the call to `shopperResultUrl` if the checkout's id expires earlier. The call is due 29 minutes after
/// the submission, and the id expires 30 minutes after the checkout was made. The interface is silent about this case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateShopCall {
    /// When it is due, after the id has expired.
    #[default]
    After,
    /// In the last minute before the id expires, or immediately if that minute has begun.
    Before,
    /// Never.
    Never,
}

impl LateShopCall {
    /// All possible times.
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

/// The amount of work for each answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Full processing: the gateway decrypts, verifies, and chooses an outcome.
    #[default]
    Checked,
    /// For benchmarks: the gateway parses the form, approves, and answers the chip with 8A alone, without keys and
    /// outcomes.
    Fast,
    /// For benchmarks: the gateway reads the request and sends the same bytes every time. This measures the minimum
    /// time of this HTTP server.
    Constant,
}
