//! The configuration: a TOML file for the technician, and [`Config`] for the program.
//!
//! Unknown keys are refused, and the key names contain the units. [`load()`] returns a configuration only if it has no
//! fault. Otherwise it reports all faults at once. A fault is never only a warning. The file never contains secrets,
//! only the paths where they are stored.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

mod check;
mod close;
mod counter;
mod daily_window;
mod files;
mod fleet;
mod form;
mod load;
mod operators;
mod receipts;
mod rights;
mod socket;

pub use close::CloseOfDay;
pub use counter::{Tips, Training};
pub use daily_window::{DailyWindow, NoDailyWindow};
pub use fleet::{Fleet, FleetKey};
pub use load::{Error, OwnConfig, checked, load, load_own, parse, read, reader_section};
pub use operators::{Amounts, Operators};
pub use pos_daemon::secret::{SecretError, key_credential, key_file, secret_credential, secret_file, secret_line};
pub use pos_daemon::settings::ConfigFault;
pub use pos_gateway::config::{Assumptions, Gateway, ID, Location, NotFound, PointOfSale, QueryMethod, TestMode, Zone};
pub use pos_printer::config::{CodePage, Copies, Cut, FlowControl, Printer};
pub use pos_printer::logo::{Logo, LogoError, logo_file};
pub use pos_printer::template::Template;
pub use pos_reader::config::{ManualEntryCommand, Reader, ReaderPrompts, ReaderProtocol, TipEntry};
pub use receipts::{CustomerCopy, Receipts};
pub use rights::{Right, RightSet, Rights, sets as right_sets};
pub use socket::{LOCAL, Socket, is_nameless};

/// The path of the configuration, unless another is given.
pub const DEFAULT_PATH: &str = "/etc/pos-agent/config.toml";

/// The whole configuration file, by default `/etc/pos-agent/config.toml`.
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
    /// The receipt printers, at most two. Without a printer, receipts are stored, and `pos-agent receipt` shows them.
    #[serde(default, deserialize_with = "pos_printer::config::one_or_several")]
    pub printer: Vec<Printer>,
    /// The customers' receipts.
    #[serde(default)]
    pub receipts: Receipts,
    /// The connections for tills.
    #[serde(default)]
    pub till: Till,
    /// The settings of the journal.
    #[serde(default)]
    pub journal: Journal,
    /// The settings for closes of day.
    #[serde(default)]
    pub close: CloseOfDay,
    /// The tips that are offered with a sale. Without this section, tills offer none. If a till asks for a tip anyway,
    /// the reader offers the `tip-percentages` of `[reader]`. If the customer then does not choose in time, nothing is
    /// paid.
    pub tips: Option<Tips>,
    /// The settings for training, whose transactions read no card and move no money.
    #[serde(default)]
    pub training: Training,
    /// The operators at the counter.
    #[serde(default)]
    pub operators: Operators,
    /// The fleet from which the terminal takes commands and settings. Without this section, it takes none.
    pub fleet: Option<Fleet>,
    /// The file from which it was loaded.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// The shop and its terminal.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Terminal {
    /// The terminal id that the acquirer has assigned, with up to 32 digits (interface: `pos.terminalId`).
    pub id: String,
    /// The one to six lines at the top of each receipt, such as name, street and town.
    pub merchant: Vec<String>,
    /// The up to six last lines of each receipt, such as opening hours and the conditions for returns.
    #[serde(default)]
    pub footer: Vec<String>,
    /// The language of the cashier's texts, the refusals, the status and the receipts: `en`, `de`, `fr`, `it`,
    /// `es`, `nl` or `pl`.
    #[serde(default = "defaults::language")]
    pub language: String,
    /// The shop's country (ISO 3166-1), such as `FR`. Its law decides the default of `customer` in `[receipts]`.
    pub country: Option<String>,
    /// The only currency of the terminal's transactions (ISO 4217), such as `EUR`.
    pub currency: String,
    /// The largest amount of one sale, reservation or credit in `currency`, including the tip, such as `5000.00`.
    /// Without it, the gateway's maximum applies: `9999999999.99`. It does not limit captures, refunds and reversals.
    pub max_amount: Option<String>,
    /// The largest amount in `currency` that may be paid out without an earlier payment that this terminal knows. This
    /// is a credit, or a refund of a payment that is not in the journal. Without the setting, nothing may be paid out
    /// in this way. There is no value for "no limit".
    pub max_credit_amount: Option<String>,
    /// The time that a customer has to present a card, in seconds.
    #[serde(default = "defaults::card_timeout_s")]
    pub card_timeout_s: u64,
    /// True if a transaction with a signature waits until an operator has compared the signature. Set `false` if the
    /// tills cannot report the result. The slip is then signed, but the transaction is approved immediately.
    #[serde(default = "defaults::yes")]
    pub confirm_signature: bool,
    /// The time that an operator has to compare the signature, in seconds. After that, the payment is reversed.
    #[serde(default = "defaults::signature_timeout_s")]
    pub signature_timeout_s: u64,
    /// The time that a till has to confirm how much it accepts (`"confirm":"till"`), in seconds, from 20. After that,
    /// the payment is reversed or kept, as the request demands.
    #[serde(default = "defaults::till_confirm_s")]
    pub till_confirm_s: u64,
    /// The location of the terminal (interface: `pos.location.*`).
    pub location: Option<Location>,
}

impl Terminal {
    /// Returns the data about the terminal that is sent with each payment.
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
    /// The socket for the command line and for tills on the board. Its path alone may replace the table.
    #[cfg_attr(feature = "docs", schemars(with = "socket::Table"))]
    pub socket: Socket,
    /// The loopback address for tills over HTTP. Without `token` entries, it is closed.
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub http: SocketAddr,
    /// The tills that connect over HTTP, one entry for each.
    pub token: Vec<TillToken>,
    /// The programs at the socket that have their own rights or tills.
    pub peer: Vec<TillPeer>,
    /// True to serve the metrics also over HTTP, to tokens with the right `totals`. On the socket, they are always
    /// served.
    pub metrics: bool,
}

/// A till that may connect over HTTP.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TillToken {
    /// The till's name, with up to 32 letters, digits, `-` and `_`. Each till has its own references.
    pub till: String,
    /// The file with the till's bearer token, which only its owner can read.
    pub token_file: PathBuf,
    /// The till's rights. The default is the set `till`.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    #[serde(default = "Rights::till")]
    pub rights: Rights,
    /// True if an operator must be signed in when `[operators] required` demands it. Set `false` for a till that has
    /// its own cashiers and may state their names.
    #[serde(default = "defaults::yes")]
    pub operator: bool,
}

/// A program on the board with its own tills, such as a till's server or a translator for another till protocol.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TillPeer {
    /// The number of the user that runs the program. The system reports the user at the other end of the socket.
    pub uid: u32,
    /// The only tills for which the program may act. If there are several, each request must name one.
    #[serde(default = "defaults::local_till")]
    pub tills: Vec<String>,
    /// The program's rights for these tills. The default is the set `several-tills`.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    #[serde(default = "Rights::several_tills")]
    pub rights: Rights,
    /// Like `operator` of a `[[till.token]]`, for all tills of the program. `false` exempts every user of the program,
    /// including users of a page who are not signed in.
    #[serde(default = "defaults::yes")]
    pub operator: bool,
    /// The program's tills at which no operator can sign in, such as a ZVT or nexo till. They need no operator, and may
    /// state the names of their cashiers.
    #[serde(default)]
    pub without_operator: Vec<String>,
}

/// The settings of the journal: its file, and how long it keeps transactions.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Journal {
    /// The SQLite file. Its folder must be writable, and on storage that survives a power cut.
    pub path: PathBuf,
    /// The number of days for which the journal keeps transactions. Older, completed transactions are removed while no
    /// transaction is in progress. If a till repeats the reference of a removed transaction, a new one begins.
    pub keep_days: u32,
    /// The folder of the mark that this terminal has taken payments. The mark prevents the agent from mistaking the
    /// terminal for a new one if the journal is lost. The folder should be on another file system. The default is
    /// `/var/lib/pos-agent-sold` for a journal in `/var/lib/pos-agent`, and the journal's folder for any other journal.
    pub mark_folder: Option<PathBuf>,
}

impl Journal {
    /// Returns the folder of the mark that this terminal has taken payments.
    #[must_use]
    pub fn mark_folder(&self) -> PathBuf {
        let own = self.path.parent().unwrap_or(Path::new("/"));
        let usual = if own == Path::new(STATE_FOLDER) { Path::new(MARK_FOLDER) } else { own };
        self.mark_folder.clone().unwrap_or_else(|| usual.to_owned())
    }
}

/// The folders that the package creates.
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
        // This is a business year and about a month. Later disputes and refunds are rare.
        Self { path: Path::new(STATE_FOLDER).join("journal.db"), keep_days: 400, mark_folder: None }
    }
}

/// The default values, with their reasons.
mod defaults {
    /// Returns the name of the terminal's own till.
    pub(super) fn local_till() -> Vec<String> {
        vec![super::LOCAL.to_owned()]
    }

    /// Returns a time that is long enough to find a card, and so short that a forgotten transaction ends before the
    /// next customer comes.
    pub(super) fn card_timeout_s() -> u64 {
        60
    }

    /// Returns true, for settings that are on by default.
    pub(super) fn yes() -> bool {
        true
    }

    /// Returns a time that is long enough to print, sign and compare. It is so short that a forgotten slip is noticed
    /// before the customer has gone.
    pub(super) fn signature_timeout_s() -> u64 {
        180
    }

    /// Returns a time for the confirmation. A till answers immediately, and a vending machine after it has given out
    /// the goods, while the customer waits for the receipt.
    pub(super) fn till_confirm_s() -> u64 {
        60
    }

    /// Returns the language that every reader supports, which is also the program's own.
    pub(super) fn language() -> String {
        "en".to_owned()
    }
}
