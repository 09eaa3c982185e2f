//! The terminal's status for tills and programs. Each device has a code of a closed list, fields with facts, and one
//! sentence.
//!
//! The codes are for programs and never change their meaning. The manual lists them ("The words of the status"). The
//! sentences are for people, in the terminal's language. The agent and the devices make them, because they know the
//! facts.

use serde::{Deserialize, Serialize};

use super::{HealthView, LogView, PortView, SaleView};
use pos_terms::transaction::Kind;

/// Defines a closed list of codes: the enumeration, its codes in the interface, and the list of all values.
macro_rules! words {
    ($(#[$head:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$head])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All values.
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
    /// The shop's name and address, as at the top of a receipt. Absent if the agent is an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merchant: Vec<String>,
    /// The terminal's currency (ISO 4217). Absent if the agent is an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The currency's number, such as 978. Absent if the agent is an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency_number: Option<u16>,
    /// The number of decimals of the currency, such as 2. Absent if the agent is an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency_decimals: Option<u8>,
    /// The language of the terminal's texts (ISO 639-1). Absent if the agent is an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The tips that a page should offer. Absent if it should offer none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tips: Option<TipsView>,
    /// True if training transactions may begin here (`"training"` in `POST /v1/sales`).
    #[serde(default)]
    pub may_train: bool,
    /// The kinds of transactions that the caller may begin. Absent if the agent is an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_begin: Vec<Kind>,
    /// The tills for which the caller acts. Absent if the agent is an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tills: Vec<String>,
    /// The terminal's longest waits. Absent if the agent is an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitsView>,
    /// True if the terminal can work, which means that no fault prevents all card transactions from being approved. A
    /// busy terminal can work.
    pub ready: bool,
    /// True if a transaction is at the reader, or an amount is being typed there. The next transaction must wait.
    /// [`Self::current`] has the current one.
    pub busy: bool,
    /// Faults that prevent the terminal from working, or soon will, and tasks for a person.
    pub attention: Vec<AttentionView>,
    /// The reader.
    pub reader: ReaderView,
    /// The gateway.
    pub gateway: GatewayView,
    /// The printers. Empty if receipts are stored but not printed.
    pub printers: Vec<PrinterView>,
    /// The clock.
    pub clock: ClockView,
    /// The journal.
    pub journal: JournalView,
    /// The port for tills with a token. Absent if no till has a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<PortView>,
    /// The changed log level. Absent if the usual level applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logging: Option<LogView>,
    /// The health after an update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<HealthView>,
    /// The transaction at the reader. Absent if there is none, or if it is another till's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<SaleView>,
    /// The unconfirmed transactions.
    pub unconfirmed: Vec<SaleView>,
}

/// The tips from the settings in `[tips]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TipsView {
    /// The tips to choose from, in percent.
    pub presets: Vec<u8>,
    /// True if the customer may type another tip at the reader (`"tip":"ask"`).
    pub custom: bool,
    /// The tip if the customer does not choose in time, in percent. 0 means no tip.
    pub default: u8,
    /// The time that the customer has to choose, in seconds.
    pub timeout_s: u64,
}

impl StatusView {
    /// Returns whether the status contains this attention code.
    #[must_use]
    pub fn needs(&self, code: Attention) -> bool {
        self.attention.iter().any(|one| one.code == code)
    }
}

/// The terminal's longest waits, in seconds, for a countdown on a page.
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
    /// The reference of the transaction that the entry concerns.
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
        /// The reader has few unused keys left (`warn-keys-left`).
        ReaderKeysLow = "reader-keys-low",
        /// See [`GatewayState::Unreachable`].
        GatewayUnreachable = "gateway-unreachable",
        /// See [`GatewayState::NoAnswer`].
        GatewayNoAnswer = "gateway-no-answer",
        /// See [`GatewayState::OutOfOrder`].
        GatewayOutOfOrder = "gateway-out-of-order",
        /// See [`GatewayState::Throttles`].
        GatewayThrottles = "gateway-throttles",
        /// The gateway refused the last transaction as an invalid request. Another card does not help.
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
        /// See [`GatewayState::NotUsable`].
        GatewayNotUsable = "gateway-not-usable",
        /// A certificate of the gateway expires soon, or has expired.
        GatewayCertificateEnds = "gateway-certificate-ends",
        /// The last CA certificate in `ca-file` expires soon, or has expired.
        CaCertificateEnds = "ca-certificate-ends",
        /// The terminal's certificate expires soon, or has expired.
        OwnCertificateEnds = "own-certificate-ends",
        /// The terminal's token expires soon, or has expired.
        TokenEnds = "token-ends",
        /// Changed files (CA, certificate, key, token) do not match, so the earlier ones are used.
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
        /// A transaction is unconfirmed, and the agent resolves it automatically.
        SaleUnconfirmed = "sale-unconfirmed",
        /// A transaction is unconfirmed, and a person must resolve it.
        SaleNeedsPerson = "sale-needs-person",
        /// A signature must be compared.
        SignatureAwaited = "signature-awaited",
        /// A till must confirm how much of a payment it accepts.
        ConfirmationAwaited = "confirmation-awaited",
        /// Tills with a token cannot connect.
        TillPortClosed = "till-port-closed",
        /// A message from the fleet, for the people at the terminal.
        FleetMessage = "fleet-message",
        /// The terminal tries settings that the fleet gave, and goes back by itself unless they are confirmed in time.
        FleetSettingsTrial = "fleet-settings-trial",
        /// The terminal went back from settings that the fleet gave.
        FleetSettingsReturned = "fleet-settings-returned",
        /// Settings were edited at the terminal after the fleet had given others. The local ones are used.
        FleetSettingsDrift = "fleet-settings-drift",
        /// The settings from the fleet cannot be used, for example because a file was changed by hand.
        FleetSettingsUnusable = "fleet-settings-unusable",
        /// The command keys from the fleet cannot be used, so the terminal takes no command.
        FleetKeysUnusable = "fleet-keys-unusable",
    }
}

words! {
    /// The reader's state.
    ReaderState {
        /// A card can be read.
        Ready = "ready",
        /// The reader's port is being opened, or the reader is starting up.
        Opening = "opening",
        /// No reader is connected at the port.
        Absent = "absent",
        /// The device at the port is not a supported reader.
        OtherDevice = "other-device",
        /// The setting `[reader] serials` does not list the reader.
        NotListed = "not-listed",
        /// The reader has no key for encryption, because none was ever injected or all are used up.
        NoKeys = "no-keys",
        /// The reader sent card data in clear.
        ClearData = "clear-data",
        /// The reader did not encrypt a card, or used a key twice.
        NotEncrypting = "not-encrypting",
        /// The reader sends without end, and its data is ignored.
        Flooding = "flooding",
        /// The reader is being restarted after a fault.
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
    /// The model and serial number, or the reason why the reader cannot be used, with the remedy.
    pub text: String,
    /// The serial number. This field and the following ones are present only while the reader is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The version of the firmware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// The configuration files or programs. Empty if the reader does not report them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configuration: Vec<ConfigFileView>,
    /// The protocol, as `[reader] protocol` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// True if no sale with a real reader of this protocol is known yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub experimental: bool,
    /// What a till may ask for and this reader cannot do, such as "ask for a tip".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cannot: Vec<String>,
    /// True if the reader says that it was opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tampered: bool,
    /// The time when the agent last found a changed reader or configuration (UTC, RFC 3339). Absent if it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<String>,
    /// The difference that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// The number of unused keys, which is known after the first card since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_left: Option<KeysView>,
    /// True if the card of the last payment is still in the reader. The next payment waits until it is removed.
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
            protocol: None,
            experimental: false,
            cannot: Vec::new(),
            tampered: false,
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
    /// The name of the file.
    pub name: String,
    /// The version of the file.
    pub version: String,
}

/// The numbers of unused keys in the reader. Each payment uses one or two keys, and without keys no payment is possible
/// (readers: 2.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct KeysView {
    /// The number of card-data keys (SRED).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<u64>,
    /// The number of PIN keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<u64>,
}

words! {
    /// The gateway's state, according to the last request.
    GatewayState {
        /// The gateway answered.
        Answers = "answers",
        /// A connection to the gateway is open, but nothing was requested yet.
        Connected = "connected",
        /// Nothing was requested yet.
        NotAskedYet = "not-asked-yet",
        /// The gateway answered that it has too many requests.
        Throttles = "throttles",
        /// The gateway could not be reached, for the reason in `cause`.
        Unreachable = "unreachable",
        /// The gateway received a request but sent no complete answer.
        NoAnswer = "no-answer",
        /// The gateway answers with a server error (HTTP 5xx).
        OutOfOrder = "out-of-order",
        /// The gateway refuses the terminal's access token.
        RefusesToken = "refuses-token",
        /// The gateway's certificate is not trusted, because of another CA, another host, or a revocation.
        UntrustedCertificate = "untrusted-certificate",
        /// The gateway's certificate has expired.
        CertificateExpired = "certificate-expired",
        /// The gateway demands a certificate from the terminal, or a different one.
        OwnCertificateRefused = "own-certificate-refused",
        /// The gateway refuses the terminal's certificate, which has expired.
        OwnCertificateExpired = "own-certificate-expired",
        /// The server is not the expected gateway, or the settings name none.
        NotUsable = "not-usable",
    }
}

impl GatewayState {
    /// Returns whether every card transaction fails until a person has acted. An unreachable gateway does not count,
    /// because a network that is down may work again for the next transaction.
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
            | Self::NotUsable => true,
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
    /// Facts about the gateway, or the fault with the remedy.
    pub text: String,
    /// The gateway's address.
    pub url: String,
    /// The exact cause of the failure: `name-not-resolved`, `connection-refused`, `no-route`, `connect-timed-out`, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

words! {
    /// A printer's state.
    PrinterState {
        /// The printer can print.
        Ready = "ready",
        /// The printer was not used yet.
        NotUsedYet = "not-used-yet",
        /// The printer has no paper.
        NoPaper = "no-paper",
        /// The paper is nearly used up.
        PaperLow = "paper-low",
        /// The printer's cover is open.
        CoverOpen = "cover-open",
        /// Paper is stuck in the cutter.
        PaperJam = "paper-jam",
        /// The printer has an error that needs a repair or a restart.
        Error = "error",
        /// The print head is too hot, or the power supply is too weak. The printer continues automatically.
        Pausing = "pausing",
        /// The printer is off-line and reports no reason.
        Offline = "offline",
        /// The printer cannot be reached.
        Absent = "absent",
        /// The printer stopped in the middle of a receipt.
        Interrupted = "interrupted",
        /// The printer does not report its state, although it should.
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
    /// The word `ok`, `not used yet`, or the fault with the remedy and the number of waiting receipts.
    pub text: String,
    /// The number of receipts that wait for the printer.
    pub waiting: usize,
}

words! {
    /// The clock in use.
    ClockState {
        /// The board's clock.
        Ready = "ready",
        /// The reader's clock, because the board's cannot be right.
        ReaderServes = "reader-serves",
        /// A clock that differs too much from the gateway's.
        Differs = "differs",
        /// No clock, because none can be right. The terminal begins no transaction.
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
    /// The terminal's local time (RFC 3339). Absent if no clock can be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

words! {
    /// The journal's state.
    JournalState {
        /// The journal can be written.
        Ready = "ready",
        /// The journal's disk has little space left, but transactions still begin.
        NearlyFull = "nearly-full",
        /// The journal's disk is full, so the terminal begins no transaction.
        Full = "full",
        /// The journal cannot be written, so the terminal begins no transaction.
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
    /// The free space on the journal's disk, in bytes. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the codes of each list, as they are in the interface.
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
