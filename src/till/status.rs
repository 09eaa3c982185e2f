//! The terminal's status for tills and programs: each device with a code of a closed list, facts as fields, and one
//! sentence.
//!
//! The codes are for programs and never change their meaning; the manual lists them ("The words of the status"). The
//! sentences are for people, in the terminal's language. The agent and the devices make them, because they know the
//! facts.

use serde::{Deserialize, Serialize};

use super::{HealthView, LogView, PortView, SaleView};
use pos_terms::transaction::Kind;

/// Defines a closed list of codes: the enumeration, its codes in the interface, and all of them.
macro_rules! words {
    ($(#[$head:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$head])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the code for programs.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

/// The terminal's status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StatusView {
    /// The version of the program.
    pub version: String,
    /// The terminal id.
    pub terminal_id: String,
    /// The shop's name and address, as at the head of a receipt; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merchant: Vec<String>,
    /// Its currency, ISO 4217; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The currency's number, as 978; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency_number: Option<u16>,
    /// The decimals of its minor unit, as 2; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency_decimals: Option<u8>,
    /// The tips that a page should offer; absent when it should offer none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tips: Option<TipsView>,
    /// True if training transactions may begin here (`"training"` in `POST /v1/sales`).
    #[serde(default)]
    pub may_train: bool,
    /// The kinds of transactions that the caller may begin; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_begin: Vec<Kind>,
    /// The tills that the caller acts for; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tills: Vec<String>,
    /// The terminal's longest waits; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitsView>,
    /// True if the terminal can work: no fault prevents every card transaction from being approved. A busy terminal can
    /// work.
    pub ready: bool,
    /// True if a transaction is at the reader, or an amount is being typed there: the next one must wait.
    /// [`Self::current`] has the transaction.
    pub busy: bool,
    /// Faults that prevent it from working, or will.
    pub attention: Vec<AttentionView>,
    /// The reader.
    pub reader: ReaderView,
    /// The gateway.
    pub gateway: GatewayView,
    /// The printers; empty when receipts are kept without printing them.
    pub printers: Vec<PrinterView>,
    /// The clock.
    pub clock: ClockView,
    /// The journal.
    pub journal: JournalView,
    /// The port for tills with a token; absent when none has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<PortView>,
    /// The log level; absent when it is the one of the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logging: Option<LogView>,
    /// The health after an update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<HealthView>,
    /// The transaction at the reader; absent when there is none, or it is another till's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<SaleView>,
    /// The unconfirmed transactions.
    pub unconfirmed: Vec<SaleView>,
}

/// The tips of `[tips]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TipsView {
    /// Tips to choose from, in percent.
    pub presets: Vec<u8>,
    /// True if the customer may type another tip at the reader (`"tip":"ask"`).
    pub custom: bool,
    /// The tip of a customer who chooses none in time, in percent; 0 is none.
    pub default: u8,
    /// How long a customer may take to choose, in seconds.
    pub timeout_s: u64,
}

impl StatusView {
    /// Returns whether something of this kind needs attention.
    #[must_use]
    pub fn needs(&self, code: Attention) -> bool {
        self.attention.iter().any(|one| one.code == code)
    }
}

/// The terminal's longest waits, in seconds, for a countdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WaitsView {
    /// The wait for a card.
    pub card_s: u64,
    /// The wait for the gateway's answer.
    pub answer_s: u64,
    /// The wait for the cashier to compare the signature.
    pub signature_s: u64,
}

/// An entry that needs attention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AttentionView {
    /// The code.
    pub code: Attention,
    /// One sentence, with the remedy.
    pub text: String,
    /// The reference of the transaction that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sale: Option<String>,
    /// The till of that transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
}

impl AttentionView {
    /// Creates an entry that concerns no transaction.
    pub fn new(code: Attention, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), sale: None, till: None }
    }
}

impl std::fmt::Display for AttentionView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

words! {
    /// A fault or task that needs attention.
    Attention {
        /// See [`ReaderState::Opening`].
        ReaderOpening = "reader-opening",
        /// See [`ReaderState::Absent`].
        ReaderAbsent = "reader-absent",
        /// See [`ReaderState::OtherDevice`].
        ReaderOtherDevice = "reader-other-device",
        /// See [`ReaderState::NotListed`].
        ReaderNotListed = "reader-not-listed",
        /// See [`ReaderState::NoKeys`].
        ReaderNoKeys = "reader-no-keys",
        /// See [`ReaderState::ClearData`].
        ReaderClearData = "reader-clear-data",
        /// See [`ReaderState::NotEncrypting`].
        ReaderNotEncrypting = "reader-not-encrypting",
        /// See [`ReaderState::Flooding`].
        ReaderFlooding = "reader-flooding",
        /// See [`ReaderState::Restarting`].
        ReaderRestarting = "reader-restarting",
        /// The card of the last payment is still in the reader, and the next payment waits for its removal.
        ReaderCardLeft = "reader-card-left",
        /// The reader has few keys left (`warn-keys-left`).
        ReaderKeysLow = "reader-keys-low",
        /// See [`GatewayState::Unreachable`].
        GatewayUnreachable = "gateway-unreachable",
        /// See [`GatewayState::NoAnswer`].
        GatewayNoAnswer = "gateway-no-answer",
        /// See [`GatewayState::OutOfOrder`].
        GatewayOutOfOrder = "gateway-out-of-order",
        /// See [`GatewayState::Throttles`].
        GatewayThrottles = "gateway-throttles",
        /// The gateway refused the last transaction as an invalid request; another card does not help.
        GatewayRefusesRequest = "gateway-refuses-request",
        /// See [`GatewayState::RefusesToken`].
        GatewayRefusesToken = "gateway-refuses-token",
        /// See [`GatewayState::UntrustedCertificate`].
        GatewayUntrustedCertificate = "gateway-untrusted-certificate",
        /// See [`GatewayState::CertificateExpired`].
        GatewayCertificateExpired = "gateway-certificate-expired",
        /// See [`GatewayState::OwnCertificateRefused`].
        GatewayOwnCertificateRefused = "gateway-own-certificate-refused",
        /// See [`GatewayState::OwnCertificateExpired`].
        GatewayOwnCertificateExpired = "gateway-own-certificate-expired",
        /// See [`GatewayState::CannotBeAsked`].
        GatewayCannotBeAsked = "gateway-cannot-be-asked",
        /// A certificate of the gateway expires soon, or has expired.
        GatewayCertificateEnds = "gateway-certificate-ends",
        /// The last CA certificate of `ca-file` expires soon, or has expired.
        CaCertificateEnds = "ca-certificate-ends",
        /// Our certificate expires soon, or has expired.
        OwnCertificateEnds = "own-certificate-ends",
        /// Our token expires soon, or has expired.
        TokenEnds = "token-ends",
        /// Changed files (CA, certificate, key, token) do not match; the earlier ones are used.
        GatewayFilesUnused = "gateway-files-unused",
        /// See [`PrinterState::NoPaper`].
        PrinterNoPaper = "printer-no-paper",
        /// See [`PrinterState::PaperLow`].
        PrinterPaperLow = "printer-paper-low",
        /// See [`PrinterState::CoverOpen`].
        PrinterCoverOpen = "printer-cover-open",
        /// See [`PrinterState::PaperJam`].
        PrinterPaperJam = "printer-paper-jam",
        /// See [`PrinterState::Error`].
        PrinterError = "printer-error",
        /// See [`PrinterState::Pausing`].
        PrinterPausing = "printer-pausing",
        /// See [`PrinterState::Offline`].
        PrinterOffline = "printer-offline",
        /// See [`PrinterState::Absent`].
        PrinterAbsent = "printer-absent",
        /// See [`PrinterState::Interrupted`].
        PrinterInterrupted = "printer-interrupted",
        /// See [`PrinterState::Silent`].
        PrinterSilent = "printer-silent",
        /// See [`ClockState::Untrusted`].
        ClockUntrusted = "clock-untrusted",
        /// See [`ClockState::Differs`].
        ClocksDiffer = "clocks-differ",
        /// See [`JournalState::Full`].
        JournalFull = "journal-full",
        /// See [`JournalState::NearlyFull`].
        JournalNearlyFull = "journal-nearly-full",
        /// See [`JournalState::CannotBeWritten`].
        JournalCannotBeWritten = "journal-cannot-be-written",
        /// The journal is an outdated copy, or was found to be one.
        JournalOldCopy = "journal-old-copy",
        /// It is not known yet whether the journal is an outdated copy, because the gateway has not answered.
        JournalNotCompared = "journal-not-compared",
        /// The journal is new, and the gateway holds earlier payments of this terminal.
        JournalBeganAnew = "journal-began-anew",
        /// A transaction is unconfirmed; the agent resolves it automatically.
        SaleUnconfirmed = "sale-unconfirmed",
        /// A transaction is unconfirmed, and the agent takes no further step.
        SaleNeedsPerson = "sale-needs-person",
        /// A signature must be compared.
        SignatureAwaited = "signature-awaited",
        /// A till must confirm that it takes a payment.
        ConfirmationAwaited = "confirmation-awaited",
        /// Tills with a token cannot connect.
        TillPortClosed = "till-port-closed",
    }
}

words! {
    /// The reader's state.
    ReaderState {
        /// A card can be read.
        Ready = "ready",
        /// Its port is being opened, or it is starting up.
        Opening = "opening",
        /// No reader is at its port.
        Absent = "absent",
        /// The device at its port is not such a reader.
        OtherDevice = "other-device",
        /// `[reader] serials` does not list it.
        NotListed = "not-listed",
        /// It has no key to encrypt with: none was ever injected, or they are used up.
        NoKeys = "no-keys",
        /// It sent card data in clear.
        ClearData = "clear-data",
        /// It did not encrypt a card, or used a key again.
        NotEncrypting = "not-encrypting",
        /// It sends without end, and its data are ignored.
        Flooding = "flooding",
        /// It is being restarted after a fault.
        Restarting = "restarting",
    }
}

/// The reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReaderView {
    /// The state.
    pub state: ReaderState,
    /// The model and serial number, or why it cannot be used, with the remedy.
    pub text: String,
    /// Serial number; this and the following fields only while it is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Version of its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Its configuration files; empty when it does not report them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configuration: Vec<ConfigFileView>,
    /// When the agent last saw another reader or configuration, UTC (RFC 3339); absent when it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<String>,
    /// The difference found then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// The number of keys it has left, known after the first card since a start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_left: Option<KeysView>,
    /// True if the card of the last payment is still in it; the next payment waits until it is removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub card_left: bool,
}

impl ReaderView {
    /// Creates a view without further facts.
    pub fn new(state: ReaderState, text: impl Into<String>) -> Self {
        Self {
            state,
            text: text.into(),
            serial: None,
            model: None,
            firmware: None,
            configuration: Vec::new(),
            changed_at: None,
            changed: None,
            keys_left: None,
            card_left: false,
        }
    }
}

/// A configuration file of a reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfigFileView {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Keys that the reader has left: each payment uses one or two, and without them no payment is possible (readers:
/// 2.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct KeysView {
    /// Card-data keys (SRED).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<u64>,
    /// PIN keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<u64>,
}

words! {
    /// The gateway's state, as shown by the last request.
    GatewayState {
        /// It answered.
        Answers = "answers",
        /// A connection to it is open; nothing was requested yet.
        Connected = "connected",
        /// Nothing was requested yet.
        NotAskedYet = "not-asked-yet",
        /// It answered that it has too many requests.
        Throttles = "throttles",
        /// No connection: `cause` says what failed.
        Unreachable = "unreachable",
        /// It got a request, and no complete answer came.
        NoAnswer = "no-answer",
        /// It answers with a server error (HTTP 5xx).
        OutOfOrder = "out-of-order",
        /// It refuses our access token.
        RefusesToken = "refuses-token",
        /// Its certificate is not trusted: another CA, another host, revoked.
        UntrustedCertificate = "untrusted-certificate",
        /// Its certificate has expired.
        CertificateExpired = "certificate-expired",
        /// It demands a certificate of the terminal, or another one.
        OwnCertificateRefused = "own-certificate-refused",
        /// It refuses our certificate, which has expired.
        OwnCertificateExpired = "own-certificate-expired",
        /// The server is no such gateway, or the settings name none.
        CannotBeAsked = "cannot-be-asked",
    }
}

impl GatewayState {
    /// Returns whether every card transaction fails until a person has acted. A network that is down may be back with
    /// the next transaction, so an unreachable gateway does not stop attempts.
    #[must_use]
    pub fn stops_sales(self) -> bool {
        match self {
            Self::Answers
            | Self::Connected
            | Self::NotAskedYet
            | Self::Throttles
            | Self::Unreachable
            | Self::NoAnswer
            | Self::OutOfOrder => false,
            Self::RefusesToken
            | Self::UntrustedCertificate
            | Self::CertificateExpired
            | Self::OwnCertificateRefused
            | Self::OwnCertificateExpired
            | Self::CannotBeAsked => true,
        }
    }
}

/// The gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GatewayView {
    /// The state.
    pub state: GatewayState,
    /// Facts about it, or the fault with the remedy.
    pub text: String,
    /// Its address.
    pub url: String,
    /// The cause of the failure, more exact than the state: `name-not-resolved`, `connection-refused`, `no-route`,
    /// `connect-timed-out`, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

words! {
    /// A printer's state.
    PrinterState {
        /// It prints.
        Ready = "ready",
        /// It was not used yet.
        NotUsedYet = "not-used-yet",
        /// No paper.
        NoPaper = "no-paper",
        /// The paper is nearly used up.
        PaperLow = "paper-low",
        /// Its cover is open.
        CoverOpen = "cover-open",
        /// Paper is stuck in its cutter.
        PaperJam = "paper-jam",
        /// An error that needs a mechanic, or a restart.
        Error = "error",
        /// Its head is too hot or its supply is weak: it continues automatically.
        Pausing = "pausing",
        /// Off-line, without a reported reason.
        Offline = "offline",
        /// It cannot be reached.
        Absent = "absent",
        /// It stopped in the middle of a receipt.
        Interrupted = "interrupted",
        /// It does not report its state, although it should.
        Silent = "silent",
    }
}

/// A printer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PrinterView {
    /// The name for people.
    pub name: String,
    /// The port.
    pub port: String,
    /// The state.
    pub state: PrinterState,
    /// `ok`, `not used yet`, or the fault with the remedy, and the number of receipts that wait.
    pub text: String,
    /// The number of receipts that wait for it.
    pub waiting: usize,
}

words! {
    /// The clock in use.
    ClockState {
        /// The board's clock.
        Ready = "ready",
        /// The reader's clock: the board's cannot be right.
        ReaderServes = "reader-serves",
        /// A clock that is far from the gateway's.
        Differs = "differs",
        /// No clock can be right: the terminal takes no transaction.
        Untrusted = "untrusted",
    }
}

/// The clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClockView {
    /// The clock in use.
    pub state: ClockState,
    /// The state as a sentence, with the remedy.
    pub text: String,
    /// The terminal's time, local, RFC 3339; absent when none can be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

words! {
    /// The journal's state.
    JournalState {
        /// It can be written.
        Ready = "ready",
        /// Its disk has little space left; transactions are still taken.
        NearlyFull = "nearly-full",
        /// Its disk is full: the terminal takes no transaction.
        Full = "full",
        /// It cannot be written: the terminal takes no transaction.
        CannotBeWritten = "cannot-be-written",
    }
}

/// The journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JournalView {
    /// The state.
    pub state: JournalState,
    /// The state as a sentence, with the remedy.
    pub text: String,
    /// Free space on its disk, in bytes; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every code as used in the interface, with its list.
    fn words() -> Vec<(&'static str, Vec<&'static str>)> {
        fn of<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> Vec<&'static str> {
            all.iter().map(|one| word(*one)).collect()
        }
        vec![
            ("`reader`", of(ReaderState::ALL, ReaderState::as_str)),
            ("`gateway`", of(GatewayState::ALL, GatewayState::as_str)),
            ("`printers`", of(PrinterState::ALL, PrinterState::as_str)),
            ("`clock`", of(ClockState::ALL, ClockState::as_str)),
            ("`journal`", of(JournalState::ALL, JournalState::as_str)),
            ("`attention`", of(Attention::ALL, Attention::as_str)),
        ]
    }

    #[test]
    fn every_word_is_explained_to_the_reader() {
        let page = include_str!("../../docs/src/trouble.md");
        let (_, section) = page.split_once("## The words of the status").expect("the manual's section");
        let section = section.split("\n## ").next().unwrap_or(section);
        for (list, words) in words() {
            let row = section.lines().find(|line| line.starts_with(&format!("| {list} ")));
            let row = row.unwrap_or_else(|| panic!("no row for {list}"));
            for word in words {
                assert!(row.contains(&format!("`{word}`")), "{list}: {word}");
            }
        }
    }

    #[test]
    fn a_word_on_the_wire_is_the_word_of_the_list() {
        let json = |value: serde_json::Value| value.as_str().unwrap().to_owned();
        assert!(Attention::ALL.iter().all(|one| json(serde_json::json!(one)) == one.as_str()));
        assert!(GatewayState::ALL.iter().all(|one| json(serde_json::json!(one)) == one.as_str()));
        for (list, words) in words() {
            let kebab = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            assert!(words.iter().all(|word| kebab(word)), "{list}");
        }
    }
}
