//! The configuration: one TOML file for a technician, [`Config`] for the program.
//!
//! Unknown keys are refused, units stand in the key names, and [`load`] gives a configuration only when nothing is
//! wrong with it, and tells all faults at once: there is no "warns and goes on". Secrets are never in the file itself,
//! only the place they are in.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

mod assumptions;
mod check;
mod close;
mod counter;
mod files;
mod form;
mod load;
mod logo;
mod operators;
mod printer;
mod rights;
mod secret;
mod socket;

pub use assumptions::{Assumptions, ID, NotFound, QueryMethod, Zone};
pub use check::ConfigFault;
pub use close::CloseOfDay;
pub use counter::{Tips, Training};
pub use load::{Error, load, parse, read};
pub use logo::{Logo, LogoError, logo_file};
pub use operators::{Amounts, Operators};
pub use printer::{CodePage, Copies, Cut, FlowControl, Part, Printer, Value, qr_parts};
pub use rights::{Right, Rights};
pub use secret::{SecretError, key_credential, key_file, secret_credential, secret_file, secret_line};
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
    #[serde(default, deserialize_with = "printer::one_or_several")]
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
    /// Largest amount of one sale or reservation in `currency`, tip included, as `5000.00`; without it what the gateway
    /// can take: `9999999999.99`. It limits no capture, refund or reversal.
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

/// Coordinates as decimal text, sent unchanged (interface: Point of sale).
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Location {
    /// Signed decimal, up to 2 integer digits, 1 to 8 decimals.
    pub latitude: String,
    /// Signed decimal, up to 3 integer digits, 1 to 8 decimals.
    pub longitude: String,
    /// Digits, up to 32.
    pub accuracy: Option<String>,
}

/// The card reader.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reader {
    /// What it speaks.
    pub protocol: ReaderProtocol,
    /// A tty as `/dev/serial/by-id/…`, or `tcp://host:6543`.
    pub port: String,
    /// Line speed of a tty, in baud; without meaning on USB.
    #[serde(default = "defaults::baud")]
    pub baud: u32,
    /// Serial numbers of the readers that may be used, as `pos-agent status` shows them: any other one is asked for no
    /// card. Empty: whichever is connected.
    #[serde(default)]
    pub serials: Vec<String>,
    /// Language of the reader's texts while no card has named another: `en`, `de`, `fr`, `es`, `it`, `nl` or `pl`.
    #[serde(default = "defaults::language")]
    pub language: String,
    /// Allow card numbers to be typed on the reader, when a sale asks for it.
    #[serde(default)]
    pub manual_entry: bool,
    /// The command for that: `D2E0` on newer readers, `D25A` on older ones.
    #[serde(default)]
    pub manual_entry_command: ManualEntryCommand,
    /// Ask for the card verification value too (`D2E0` only).
    #[serde(default)]
    pub manual_entry_verification_value: bool,
    /// What the reader asks for when a tip is wanted: `tip`, or `total` for the bill with the tip.
    #[serde(default)]
    pub tip_entry: TipEntry,
    /// Tips that the reader offers where there is no section `[tips]`, in percent: one to four of 1 to 100; with less
    /// than four the customer may type another.
    #[serde(default = "defaults::tip_percentages")]
    pub tip_percentages: Vec<u8>,
    /// Name of the capability by which a reader says that it takes commands of more than one packet. It is not
    /// published; without this a name with the words "extended" and "APDU" is taken for it.
    pub extended_apdu_capability: Option<String>,
    /// Warn when the reader has fewer keys left than this; a sale takes one to three of each kind.
    #[serde(default = "defaults::warn_keys_left")]
    pub warn_keys_left: u64,
    /// Numbers of the signed texts beside entries of digits.
    #[serde(default)]
    pub prompts: ReaderPrompts,
}

/// The commands for typed card numbers (readers: 2.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
pub enum ManualEntryCommand {
    /// GET SECURE DATA, newer readers: number and expiry date one after the other.
    #[default]
    D2E0,
    /// GET SECURE PAN, older ones: one command.
    D25A,
}

/// What the reader asks for when a tip is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum TipEntry {
    /// The tip.
    #[default]
    Tip,
    /// The bill with the tip; the tip is what it is above the bill.
    Total,
}

/// Numbers of the signed texts beside entries of digits, three lines each, 0 for an empty one. They depend on the
/// prompts file of the reader (readers: 2.9, 2.10; 10, point 3): those for a card number are seen in the vendor's
/// source, the others are guesses.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ReaderPrompts {
    /// Typing an amount.
    pub amount: [u16; 3],
    /// Layout of the question for a tip.
    pub tip_template: u8,
    /// Typing a card number.
    pub card_number: [u16; 3],
    /// Typing its expiry date.
    pub expiry: [u16; 3],
    /// Typing its verification value.
    pub verification_value: [u16; 3],
}

/// The reader protocols this program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum ReaderProtocol {
    /// Miura MPI (readers: 2).
    MiuraMpi,
}

/// The payment gateway.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Gateway {
    /// Base address, `https://…`; the paths of the interface are appended.
    pub url: String,
    /// 32 lower-case hex characters (interface: `entityId`).
    pub entity_id: String,
    /// File with the bearer token, readable by its owner alone. Give this or `token-credential`.
    pub token_file: Option<PathBuf>,
    /// Name of a systemd credential (`LoadCredential=`) that holds the bearer token.
    pub token_credential: Option<String>,
    /// PEM file with the CA certificates that may sign the gateway's certificate; no others are trusted. Several serve
    /// while the gateway changes from one to the next.
    pub ca_file: PathBuf,
    /// Keys of which one must be in the chain from a CA of `ca-file` to the gateway's certificate, as `sha256/…` (RFC
    /// 7469); `pos-agent doctor` shows them. Empty: every chain serves.
    #[serde(default)]
    pub ca_pins: Vec<String>,
    /// PEM file with our certificate (and those between it and its CA), for a gateway that asks for one.
    pub client_certificate_file: Option<PathBuf>,
    /// PEM file with the key of our certificate, readable by its owner alone. Give this or `client-key-credential`.
    pub client_key_file: Option<PathBuf>,
    /// Name of a systemd credential (`LoadCredential=`) that holds the key of our certificate.
    pub client_key_credential: Option<String>,
    /// How many days before a certificate or the token ends it is warned of.
    #[serde(default = "defaults::expiry_warning_days")]
    pub expiry_warning_days: u64,
    /// `EXTERNAL` or `INTERNAL` on a test system; leave out on a live one (interface: `testMode`).
    pub test_mode: Option<TestMode>,
    /// The terminal's model as the gateway names it (interface: `pos.deviceType`).
    pub device_type: Option<String>,
    /// Card brand by AID prefix, upper-case hex (longest prefix wins). An AID that is on no line is left to brand
    /// detection.
    #[serde(default)]
    pub brand_by_aid: BTreeMap<String, String>,
    /// Send the reader's masked card data inside `pos.iccDataRequest` too.
    #[serde(default)]
    pub send_masked_tags: bool,
    /// Deadline for connecting, TLS handshake included, in milliseconds.
    #[serde(default = "defaults::connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// Deadline for the answer to a request, in milliseconds; after it the outcome is unknown.
    #[serde(default = "defaults::answer_timeout_ms")]
    pub answer_timeout_ms: u64,
    /// How long the gateway must not know a reversal whose answer was lost before it is sent again, in seconds: longer
    /// than it may take to carry out what it has read. Captures and refunds too with `refuses-repeated-references`.
    #[serde(default = "defaults::resend_after_s")]
    pub resend_after_s: u64,
    /// What the interface does not show, with documented defaults.
    #[serde(default)]
    pub assumptions: Assumptions,
}

/// `testMode` of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "UPPERCASE")]
pub enum TestMode {
    /// Forwarded to the processor's test system.
    External,
    /// Answered by the gateway's simulators.
    Internal,
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

impl Default for ReaderPrompts {
    fn default() -> Self {
        Self {
            amount: [1, 0, 0],
            tip_template: 1,
            card_number: [4, 0, 0],
            expiry: [10, 0, 0],
            verification_value: [12, 0, 0],
        }
    }
}

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

    /// USB ignores it; the docks' rate is not published (readers: 10, point 1).
    pub(super) fn baud() -> u32 {
        115_200
    }

    /// The language that every reader has, and the program's own.
    pub(super) fn language() -> String {
        "en".to_owned()
    }

    /// What customers are used to.
    pub(super) fn tip_percentages() -> Vec<u8> {
        vec![5, 10, 15]
    }

    /// A shop of 100 sales a day has a month or more to have new keys injected.
    pub(super) fn warn_keys_left() -> u64 {
        10_000
    }

    /// TCP and a full handshake over a slow mobile line (security: 5, host timeout).
    pub(super) fn connect_timeout_ms() -> u64 {
        10_000
    }

    /// Longer than any host is waited for, several times.
    pub(super) fn resend_after_s() -> u64 {
        180
    }

    /// Issuers answer within 30 s; after this the sale is looked up and reversed (security: 5, host timeout).
    pub(super) fn answer_timeout_ms() -> u64 {
        40_000
    }

    /// Long enough to have a certificate issued by people, short enough to be heeded.
    pub(super) fn expiry_warning_days() -> u64 {
        30
    }
}
