//! The configuration: one TOML file for a technician, [`Config`] for the program.
//!
//! Unknown keys are refused, units stand in the key names, and [`load()`] gives a configuration only when nothing is
//! wrong with it, and tells all faults at once: there is no "warns and goes on". Secrets are never in the file itself,
//! only the place they are in.

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

/// Where the configuration is when nobody says otherwise.
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
    /// The receipt printers, at most two; without one receipts are kept and can be read by `pos-agent receipt`.
    #[serde(default, deserialize_with = "pos_printer::config::one_or_several")]
    pub printer: Vec<Printer>,
    /// Where tills connect.
    #[serde(default)]
    pub till: Till,
    /// Where the journal lies.
    #[serde(default)]
    pub journal: Journal,
    /// Closes of day.
    #[serde(default)]
    pub close: CloseOfDay,
    /// Tips that are offered with a sale. Without the section a till's screen offers none; where a till asks for one,
    /// the reader offers `tip-percentages` of `[reader]`, and a customer who types none in time has not paid.
    pub tips: Option<Tips>,
    /// Training: transactions that read no card and move no money.
    #[serde(default)]
    pub training: Training,
    /// The people at the counter.
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
    /// Language of the cashier's texts and of the receipts: `en` or `de`.
    #[serde(default = "defaults::language")]
    pub language: String,
    /// The currency of its sales, ISO 4217, as `EUR`: it takes none in another.
    pub currency: String,
    /// Largest amount of one sale, reservation or credit in `currency`, tip included, as `5000.00`; without it what the
    /// gateway can take: `9999999999.99`. It limits no capture, refund or reversal.
    pub max_amount: Option<String>,
    /// Largest amount in `currency` that may be given without an earlier payment that this terminal knows: a credit, or
    /// a refund of a payment that its journal does not have. Absent: nothing may be given so, and no value means "no
    /// limit".
    pub max_credit_amount: Option<String>,
    /// How long a customer may take to present a card, in seconds.
    #[serde(default = "defaults::card_timeout_s")]
    pub card_timeout_s: u64,
    /// When the cardholder signs, the sale waits until somebody at the counter has compared the signature. `false`
    /// where tills cannot answer: the slip is signed, and the sale is approved at once.
    #[serde(default = "defaults::yes")]
    pub confirm_signature: bool,
    /// How long that may take, in seconds; then the payment is reversed.
    #[serde(default = "defaults::signature_timeout_s")]
    pub signature_timeout_s: u64,
    /// How long a till that confirms what it takes (`"confirm":"till"`) may take to say so, in seconds; then the
    /// payment is reversed, or kept, as its request said.
    #[serde(default = "defaults::till_confirm_s")]
    pub till_confirm_s: u64,
    /// Where the terminal stands (interface: `pos.location.*`).
    pub location: Option<Location>,
}

impl Terminal {
    /// The data of it that each payment sends.
    #[must_use]
    pub fn point_of_sale(&self) -> PointOfSale {
        PointOfSale { terminal_id: self.id.clone(), location: self.location.clone() }
    }
}

/// Where tills connect.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Till {
    /// For the command line and tills on the board; its path may be written instead of the table.
    #[cfg_attr(feature = "docs", schemars(with = "socket::Table"))]
    pub socket: Socket,
    /// Loopback address for tills over HTTP; without `token` entries nothing listens there.
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub http: SocketAddr,
    /// One entry per till.
    pub token: Vec<TillToken>,
    /// Programs at the socket that have rights or tills of their own.
    pub peer: Vec<TillPeer>,
    /// Serve the figures for machines over HTTP too, to tokens with the right `totals`; at the socket they always are.
    pub metrics: bool,
}

/// A till that may connect over HTTP.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TillToken {
    /// The till's name: letters, digits, `-`, `_`, up to 32. Its references are its own.
    pub till: String,
    /// File with its bearer token, readable by its owner alone.
    pub token_file: PathBuf,
    /// What it may do; without it the set `till`.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    #[serde(default = "Rights::till")]
    pub rights: Rights,
    /// Whether somebody must be signed in where `[operators] required` asks for it; `false` for a till that has
    /// cashiers of its own, and may state who they are.
    #[serde(default = "defaults::yes")]
    pub operator: bool,
}

/// A program on the board that stands for tills of its own: a till's server, or a translator of another till protocol.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TillPeer {
    /// The number of the user that it runs as; the system says who is at the other end of the socket.
    pub uid: u32,
    /// The tills that it may speak for, and no others; with several it names one with each request.
    #[serde(default = "defaults::local_till")]
    pub tills: Vec<String>,
    /// What it may do for them; without it the set `several-tills`.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    #[serde(default = "Rights::several_tills")]
    pub rights: Rights,
    /// As `operator` of a `[[till.token]]`, for all of its tills: `false` exempts everybody for whom it speaks, guests
    /// of a page too.
    #[serde(default = "defaults::yes")]
    pub operator: bool,
    /// Those of its tills where nobody can sign in, as a ZVT or nexo till. They need no operator, and may state who
    /// theirs are.
    #[serde(default)]
    pub without_operator: Vec<String>,
}

/// Where the journal lies, and how long it keeps.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Journal {
    /// The SQLite file; its folder must be writable and on storage that survives the power.
    pub path: PathBuf,
    /// How many days on which it took a transaction the journal keeps. What is older and settled is taken out between
    /// sales; a till that repeats such an old reference begins a new transaction.
    pub keep_days: u32,
    /// The folder of the mark that this terminal has sold, so that a journal that was lost is not taken for a new
    /// terminal's; on another file system best. Without it `/var/lib/pos-agent-sold` for a journal in
    /// `/var/lib/pos-agent`, and the journal's own folder for any other.
    pub mark_folder: Option<PathBuf>,
}

impl Journal {
    /// Where the mark that this terminal has sold lies.
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
        // A year of books and a month: a dispute or a refund that comes later than that is rare.
        Self { path: Path::new(STATE_FOLDER).join("journal.db"), keep_days: 400, mark_folder: None }
    }
}

/// Defaults with their reasons.
mod defaults {
    /// The till of the terminal itself.
    pub(super) fn local_till() -> Vec<String> {
        vec![super::LOCAL.to_owned()]
    }

    /// Long enough to find a card, short enough that a forgotten sale ends before the next customer.
    pub(super) fn card_timeout_s() -> u64 {
        60
    }

    /// A setting that is on.
    pub(super) fn yes() -> bool {
        true
    }

    /// Long enough to print, sign and compare, short enough that a forgotten slip is noticed with the customer near.
    pub(super) fn signature_timeout_s() -> u64 {
        180
    }

    /// A till answers at once, a machine when it has given out the goods; the customer waits for the receipt.
    pub(super) fn till_confirm_s() -> u64 {
        60
    }

    /// The language that every reader has, and the program's own.
    pub(super) fn language() -> String {
        "en".to_owned()
    }
}
