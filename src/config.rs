//! The configuration: one TOML file for a technician, [`Config`] for the program.
//!
//! Unknown keys are refused, and the key names contain the units. [`load()`] returns a configuration only if it has no
//! fault, and otherwise reports all faults together; it never continues with a warning. The file never contains
//! secrets, only the place where each is stored.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

mod check;
mod close;
mod counter;
mod files;
mod form;
mod load;
mod operators;
mod rights;
mod socket;

pub use close::CloseOfDay;
pub use counter::{Tips, Training};
pub use load::{Error, load, parse, read};
pub use operators::{Amounts, Operators};
pub use pos_daemon::secret::{SecretError, key_credential, key_file, secret_credential, secret_file, secret_line};
pub use pos_daemon::settings::ConfigFault;
pub use pos_gateway::config::{Assumptions, Gateway, ID, Location, NotFound, PointOfSale, QueryMethod, TestMode, Zone};
pub use pos_printer::config::{CodePage, Copies, Cut, FlowControl, Part, Printer, Value, qr_parts};
pub use pos_printer::logo::{Logo, LogoError, logo_file};
pub use pos_reader::config::{ManualEntryCommand, Reader, ReaderPrompts, ReaderProtocol, TipEntry};
pub use rights::{Right, RightSet, Rights, sets as right_sets};
pub use socket::{LOCAL, Socket, is_nameless};

/// The path of the configuration, unless another is given.
pub const DEFAULT_PATH: &str = "/etc/pos-agent/config.toml";

/// The whole file, by default `/etc/pos-agent/config.toml`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    /// The shop and its terminal.
    pub terminal: Terminal,
    /// The card reader.
    pub reader: Reader,
    /// The payment gateway.
    pub gateway: Gateway,
    /// The receipt printers, at most two. Without one, receipts are kept and can be read with `pos-agent receipt`.
    #[serde(default, deserialize_with = "pos_printer::config::one_or_several")]
    pub printer: Vec<Printer>,
    /// The connections for tills.
    #[serde(default)]
    pub till: Till,
    /// The place of the journal.
    #[serde(default)]
    pub journal: Journal,
    /// Closes of day.
    #[serde(default)]
    pub close: CloseOfDay,
    /// Tips that are offered with a sale. Without the section, a till offers none. If a till asks for a tip anyway, the
    /// reader offers `tip-percentages` of `[reader]`. A customer who then chooses none in time has not paid.
    pub tips: Option<Tips>,
    /// Training: transactions that read no card and move no money.
    #[serde(default)]
    pub training: Training,
    /// The operators at the counter.
    #[serde(default)]
    pub operators: Operators,
}

/// The shop and its terminal.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Terminal {
    /// Acquirer-assigned terminal id, digits, up to 32 (interface: `pos.terminalId`).
    pub id: String,
    /// Lines at the head of each receipt, one to six: name, street, town.
    pub merchant: Vec<String>,
    /// Last lines of each receipt, up to 6: opening hours, conditions of returns.
    #[serde(default)]
    pub footer: Vec<String>,
    /// Language of the cashier's texts, the refusals, the status and the receipts: `en` or `de`.
    #[serde(default = "defaults::language")]
    pub language: String,
    /// The currency of its transactions, ISO 4217, as `EUR`; it takes no other.
    pub currency: String,
    /// Largest amount of one sale, reservation or credit in `currency`, tip included, as `5000.00`. Without it, the
    /// gateway's maximum applies: `9999999999.99`. It limits no capture, refund or reversal.
    pub max_amount: Option<String>,
    /// Largest amount in `currency` that may be given without an earlier payment that this terminal knows: a credit, or
    /// a refund of a payment that its journal does not have. Without it, nothing may be given in this way. No value
    /// means "no limit".
    pub max_credit_amount: Option<String>,
    /// How long a customer may take to present a card, in seconds.
    #[serde(default = "defaults::card_timeout_s")]
    pub card_timeout_s: u64,
    /// If the cardholder signs, the transaction waits until an operator has compared the signature. Set `false` for
    /// tills that cannot answer: the slip is signed, and the transaction is approved immediately.
    #[serde(default = "defaults::yes")]
    pub confirm_signature: bool,
    /// How long that may take, in seconds; then the payment is reversed.
    #[serde(default = "defaults::signature_timeout_s")]
    pub signature_timeout_s: u64,
    /// How long a till that confirms what it takes (`"confirm":"till"`) may take to answer, in seconds. Then the
    /// payment is reversed or kept, as its request said.
    #[serde(default = "defaults::till_confirm_s")]
    pub till_confirm_s: u64,
    /// The location of the terminal (interface: `pos.location.*`).
    pub location: Option<Location>,
}

impl Terminal {
    /// Returns the terminal's data that each payment sends.
    #[must_use]
    pub fn point_of_sale(&self) -> PointOfSale {
        PointOfSale { terminal_id: self.id.clone(), location: self.location.clone() }
    }
}

/// The connections for tills.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Till {
    /// The socket for the command line and tills on the board; its path alone may replace the table.
    #[cfg_attr(feature = "docs", schemars(with = "socket::Table"))]
    pub socket: Socket,
    /// Loopback address for tills over HTTP; it is closed without `token` entries.
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub http: SocketAddr,
    /// One entry per till.
    pub token: Vec<TillToken>,
    /// Programs at the socket that have their own rights or tills.
    pub peer: Vec<TillPeer>,
    /// Also serve the metrics over HTTP, to tokens with the right `totals`. At the socket they are always served.
    pub metrics: bool,
}

/// A till that may connect over HTTP.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TillToken {
    /// The till's name: letters, digits, `-`, `_`, up to 32. Each till has its own references.
    pub till: String,
    /// File with its bearer token, readable by its owner only.
    pub token_file: PathBuf,
    /// Its rights; without it the set `till`.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    #[serde(default = "Rights::till")]
    pub rights: Rights,
    /// True if an operator must be signed in where `[operators] required` demands it. Set `false` for a till that has
    /// its own cashiers and may state their names.
    #[serde(default = "defaults::yes")]
    pub operator: bool,
}

/// A program on the board with its own tills: a till's server, or a translator of another till protocol.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TillPeer {
    /// The number of the user that it runs as; the system reports the user at the other end of the socket.
    pub uid: u32,
    /// The only tills that it may act for. With several, each request names one.
    #[serde(default = "defaults::local_till")]
    pub tills: Vec<String>,
    /// Its rights for these tills; without it the set `several-tills`.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    #[serde(default = "Rights::several_tills")]
    pub rights: Rights,
    /// Like `operator` of a `[[till.token]]`, for all of its tills: `false` exempts every user of the program,
    /// including guests of a page.
    #[serde(default = "defaults::yes")]
    pub operator: bool,
    /// Those of its tills where no operator can sign in, as a ZVT or nexo till. They need no operator, and may state
    /// the names of their cashiers.
    #[serde(default)]
    pub without_operator: Vec<String>,
}

/// The place of the journal, and how long it keeps transactions.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Journal {
    /// The SQLite file. Its folder must be writable, on storage that survives a power cut.
    pub path: PathBuf,
    /// The number of days with transactions that the journal keeps. Older, completed transactions are removed between
    /// transactions. A till that repeats such an old reference begins a new transaction.
    pub keep_days: u32,
    /// The folder of the mark that this terminal has sold. With the mark, a lost journal is not mistaken for that of a
    /// new terminal. Best on another file system. Without it, `/var/lib/pos-agent-sold` for a journal in
    /// `/var/lib/pos-agent`, and the journal's folder for any other.
    pub mark_folder: Option<PathBuf>,
}

impl Journal {
    /// Returns the folder of the mark that this terminal has sold.
    #[must_use]
    pub fn mark_folder(&self) -> PathBuf {
        let own = self.path.parent().unwrap_or(Path::new("/"));
        let usual = if own == Path::new(STATE_FOLDER) { Path::new(MARK_FOLDER) } else { own };
        self.mark_folder.clone().unwrap_or_else(|| usual.to_owned())
    }
}

/// The folders that the package makes.
const STATE_FOLDER: &str = "/var/lib/pos-agent";
const MARK_FOLDER: &str = "/var/lib/pos-agent-sold";

impl Default for Till {
    fn default() -> Self {
        Self {
            socket: Socket::default(),
            http: SocketAddr::from(([127, 0, 0, 1], 8650)),
            token: Vec::new(),
            peer: Vec::new(),
            metrics: false,
        }
    }
}

impl Default for Journal {
    fn default() -> Self {
        // A business year and a month: later disputes and refunds are rare.
        Self { path: Path::new(STATE_FOLDER).join("journal.db"), keep_days: 400, mark_folder: None }
    }
}

/// The defaults with their reasons.
mod defaults {
    /// Returns the till of the terminal itself.
    pub(super) fn local_till() -> Vec<String> {
        vec![super::LOCAL.to_owned()]
    }

    /// Returns a time long enough to find a card, and short enough that a forgotten transaction ends before the next
    /// customer.
    pub(super) fn card_timeout_s() -> u64 {
        60
    }

    /// Returns the value of a setting that is on.
    pub(super) fn yes() -> bool {
        true
    }

    /// Returns a time long enough to print, sign and compare, and short enough that a forgotten slip is noticed while
    /// the customer is near.
    pub(super) fn signature_timeout_s() -> u64 {
        180
    }

    /// Returns a time for the confirmation: a till answers immediately, a vending machine after giving out the goods,
    /// and the customer waits for the receipt.
    pub(super) fn till_confirm_s() -> u64 {
        60
    }

    /// Returns the language that every reader has, and that of the program itself.
    pub(super) fn language() -> String {
        "en".to_owned()
    }
}
