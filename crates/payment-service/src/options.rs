//! How a gateway is started.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::certificate::{Certificate, Demand};
use super::host_rules::HostRules;
use pos_terms::money::Currency;

/// How to start a gateway.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The only access token that is let in.
    pub token: String,
    /// The only `entityId` that is served, 32 lower-case hex digits.
    pub entity_id: String,
    /// What is wrong with the server's certificate.
    pub certificate: Certificate,
    /// A name or an address more in the server's certificate, by which another machine calls it.
    pub name: Option<String>,
    /// What it asks of a client beyond the usual.
    pub demand: Demand,
    /// The authority (PEM) that shops' certificates are signed by, for calls to them over HTTPS.
    pub shop_ca: Option<String>,
    /// How much is checked.
    pub mode: Mode,
    /// How strictly it checks and answers.
    pub host_rules: HostRules,
    /// The file of the books; without one they are in memory.
    pub ledger: Option<PathBuf>,
    /// Requests in a second of its clock; more are throttled.
    pub throttle: Option<u32>,
    /// What its clock shows at the start; without it the system's time.
    pub clock: Option<DateTime<Utc>>,
    /// How long it waits before each answer.
    pub delay: Duration,
    /// The currency of the merchant's account, in which it settles.
    pub settlement_currency: Currency,
    /// Where the file of each settlement date is written at the end of the day before; it must be there.
    pub settlement_folder: Option<PathBuf>,
    /// URLs that are told what happens.
    pub webhooks: Vec<String>,
    /// The key by which the notifications to them are encrypted, 64 hex digits; without it they are plain JSON.
    pub webhook_key: Option<String>,
    /// The authorities that their servers' certificates must be of, PEM; without it the system's.
    pub webhook_ca: Option<String>,
    /// How long one of them may take to answer.
    pub webhook_timeout: Duration,
    /// The only values of `pos.terminalId` that are taken; without any, all are.
    pub terminals: Vec<String>,
    /// The only currencies that are taken; without any, all are.
    pub currencies: Vec<Currency>,
    /// The names of the card schemes in `threeDSecure.v2.<scheme>`, [`MOST_SCHEMES`] at most; without any, the
    /// document's own placeholder.
    pub schemes: Vec<String>,
    /// What becomes of the call to a shop when the checkout's id ends before it.
    pub late_shop_call: LateShopCall,
}

/// Card schemes that 3-D Secure has requestors for (data-model: 3D Secure).
pub const MOST_SCHEMES: usize = 6;

/// What becomes of the call to `shopperResultUrl`, due 29 minutes after the submission, when the checkout's id ends
/// before it, 30 minutes after the checkout was made. The interface is silent about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateShopCall {
    /// It comes when it is due; the id has ended by then.
    #[default]
    After,
    /// It comes in the last minute of the id's life, at once where that has begun.
    Before,
    /// It does not come.
    Never,
}

impl LateShopCall {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::After, Self::Before, Self::Never];

    /// In one word.
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

/// How much the gateway does for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Everything: opens, verifies, chooses an outcome.
    #[default]
    Checked,
    /// For benchmarks: reads the form, approves, answers the chip with 8A alone. No keys, no outcomes.
    Fast,
    /// For benchmarks: reads the request and answers the same bytes to all. The floor of this HTTP server.
    Constant,
}
