//! How the terminal stands, as tills and programs hear it: each device with a word of a closed list, facts as fields,
//! and one sentence.
//!
//! The words are for programs and never change their meaning; the manual lists them ("The words of the status"). The
//! sentences are for people, and made where the facts are known: by the agent and the devices, not here.

use serde::{Deserialize, Serialize};

use super::{HealthView, LogView, PortView, SaleView};
use pos_terms::transaction::Kind;

/// A closed list of words: the enumeration, its words on the wire, and all of them.
macro_rules! words {
    ($(#[$head:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$head])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// As programs write it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

/// The terminal's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StatusView {
    /// Version of the program.
    pub version: String,
    /// Terminal id.
    pub terminal_id: String,
    /// The shop's name and address, as a receipt begins; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merchant: Vec<String>,
    /// Its currency, ISO 4217; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The same by its number, as 978; absent as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency_number: Option<u16>,
    /// Decimals of its minor unit, as 2; absent as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency_decimals: Option<u8>,
    /// The tips that a screen is to offer; absent when it is to offer none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tips: Option<TipsView>,
    /// Whether transactions of training may be begun here (`"training"` in `POST /v1/sales`).
    #[serde(default)]
    pub may_train: bool,
    /// Kinds of transactions that whoever asks may begin; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_begin: Vec<Kind>,
    /// The tills that whoever asks speaks for; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tills: Vec<String>,
    /// How long it waits at most; absent when the agent is an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitsView>,
    /// Whether the terminal can work: nothing is wrong that keeps every sale with a card from being approved. A
    /// terminal that is busy can.
    pub ready: bool,
    /// One sale is at the reader, or an amount is being typed there: the next one has to wait. Which, is in
    /// [`Self::current`].
    pub busy: bool,
    /// What keeps it from working, or will.
    pub attention: Vec<AttentionView>,
    /// The reader.
    pub reader: ReaderView,
    /// The gateway.
    pub gateway: GatewayView,
    /// The printers; none when receipts are kept without printing them.
    pub printers: Vec<PrinterView>,
    /// The clock.
    pub clock: ClockView,
    /// The journal.
    pub journal: JournalView,
    /// Where tills with a token connect; absent when none has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<PortView>,
    /// How much is logged; absent when that is as the program was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logging: Option<LogView>,
    /// Whether an update is good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<HealthView>,
    /// The sale at the reader; absent when there is none, or it is another till's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<SaleView>,
    /// Sales whose outcome is not known yet.
    pub unconfirmed: Vec<SaleView>,
}

/// The tips of `[tips]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TipsView {
    /// To choose from, in percent.
    pub presets: Vec<u8>,
    /// The customer may type another one at the reader (`"tip":"ask"`).
    pub custom: bool,
    /// The tip of a customer who chooses none in time, in percent; 0 is none.
    pub default: u8,
    /// How long a customer may take to choose, in seconds.
    pub timeout_s: u64,
}

impl StatusView {
    /// Whether something of this kind needs attention.
    #[must_use]
    pub fn needs(&self, code: Attention) -> bool {
        self.attention.iter().any(|one| one.code == code)
    }
}

/// How long the terminal waits at most, in seconds: for whoever shows a countdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WaitsView {
    /// For a card.
    pub card_s: u64,
    /// For the gateway's answer.
    pub answer_s: u64,
    /// For the cashier to compare the signature.
    pub signature_s: u64,
}

/// One thing that needs attention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AttentionView {
    /// What it is.
    pub code: Attention,
    /// One sentence, with what to do.
    pub text: String,
    /// The reference of the sale that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sale: Option<String>,
    /// The till of that sale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
}

impl AttentionView {
    /// One that concerns no sale.
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
    /// What needs attention.
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
        /// The card of the last payment is still in it, and the next one waits for that.
        ReaderCardLeft = "reader-card-left",
        /// It has few keys left (`warn-keys-left`).
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
        /// A certificate of the gateway ends soon, or has ended.
        GatewayCertificateEnds = "gateway-certificate-ends",
        /// The last CA of `ca-file` does.
        CaCertificateEnds = "ca-certificate-ends",
        /// Our certificate does.
        OwnCertificateEnds = "own-certificate-ends",
        /// Our token does.
        TokenEnds = "token-ends",
        /// Changed files (CA, certificate, key, token) do not fit; the earlier ones serve.
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
        /// The journal is an old copy of itself, or was found to be one.
        JournalOldCopy = "journal-old-copy",
        /// The gateway has not said yet whether it is one.
        JournalNotCompared = "journal-not-compared",
        /// The journal is new, and the gateway holds payments of this terminal from before.
        JournalBeganAnew = "journal-began-anew",
        /// A sale's outcome is not known; it is being found out by itself.
        SaleUnconfirmed = "sale-unconfirmed",
        /// A sale's outcome is not known, and nothing goes on by itself.
        SaleNeedsPerson = "sale-needs-person",
        /// A signature is to be compared.
        SignatureAwaited = "signature-awaited",
        /// A till is to confirm that it takes a sale.
        ConfirmationAwaited = "confirmation-awaited",
        /// Tills with a token cannot connect.
        TillPortClosed = "till-port-closed",
    }
}

words! {
    /// How the reader stands.
    ReaderState {
        /// A card can be read.
        Ready = "ready",
        /// Its port is being opened, or it is starting up.
        Opening = "opening",
        /// There is none at its port.
        Absent = "absent",
        /// What answers there is no such reader.
        OtherDevice = "other-device",
        /// `[reader] serials` does not name it.
        NotListed = "not-listed",
        /// It has no key to encrypt with: none was ever injected, or they are used up.
        NoKeys = "no-keys",
        /// It sent card data in clear.
        ClearData = "clear-data",
        /// It did not encrypt a card, or used a key again.
        NotEncrypting = "not-encrypting",
        /// It sends without end and is not listened to.
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
    /// How it stands.
    pub state: ReaderState,
    /// Who it is, or why it cannot be used and what to do.
    pub text: String,
    /// Serial number; this and what follows only while it is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Version of its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Its configuration files; none when it does not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configuration: Vec<ConfigFileView>,
    /// When it was last seen to be another one, or otherwise configured, UTC (RFC 3339); absent when it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<String>,
    /// What was not as before then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// How many keys it has left, known from the first card after a start on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_left: Option<KeysView>,
    /// The card of the last payment is still in it; the next payment waits until it is out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub card_left: bool,
}

impl ReaderView {
    /// One of which no more is known.
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

/// Keys that the reader has left: each payment uses one or two, and none can be taken without (readers: 2.12).
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
    /// How the gateway stands, as far as whatever it was asked last has shown.
    GatewayState {
        /// It answered.
        Answers = "answers",
        /// A line to it stands; nothing was asked yet.
        Connected = "connected",
        /// Nothing was asked yet.
        NotAskedYet = "not-asked-yet",
        /// It answered that it has too many requests.
        Throttles = "throttles",
        /// No connection: `cause` tells what failed.
        Unreachable = "unreachable",
        /// It was asked, and no whole answer came.
        NoAnswer = "no-answer",
        /// It answers with a fault of its own (HTTP 5xx).
        OutOfOrder = "out-of-order",
        /// It refuses our access token.
        RefusesToken = "refuses-token",
        /// Its certificate is not one that we may believe: another CA, another host, revoked.
        UntrustedCertificate = "untrusted-certificate",
        /// Its certificate has ended.
        CertificateExpired = "certificate-expired",
        /// It wants a certificate of ours, or another one.
        OwnCertificateRefused = "own-certificate-refused",
        /// It refuses our certificate, which has ended.
        OwnCertificateExpired = "own-certificate-expired",
        /// What is there is no such gateway, or the settings name none.
        CannotBeAsked = "cannot-be-asked",
    }
}

impl GatewayState {
    /// Whether every sale with a card fails until a person has seen to it. A network that is down may be back with the
    /// next sale, which is why an unreachable gateway keeps nobody from trying.
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
    /// How it stands.
    pub state: GatewayState,
    /// What is known of it, or what is wrong and what to do.
    pub text: String,
    /// Its address.
    pub url: String,
    /// What failed, more exactly than the state: `name-not-resolved`, `connection-refused`, `no-route`,
    /// `connect-timed-out`, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

words! {
    /// How a printer stands.
    PrinterState {
        /// It prints.
        Ready = "ready",
        /// It was not used yet.
        NotUsedYet = "not-used-yet",
        /// No paper.
        NoPaper = "no-paper",
        /// The paper ends soon.
        PaperLow = "paper-low",
        /// Its cover is open.
        CoverOpen = "cover-open",
        /// Paper is stuck in its cutter.
        PaperJam = "paper-jam",
        /// An error that needs a mechanic, or a restart.
        Error = "error",
        /// Its head is too hot or its supply weak: it goes on by itself.
        Pausing = "pausing",
        /// Off-line, for no reason that it tells.
        Offline = "offline",
        /// It cannot be reached.
        Absent = "absent",
        /// It broke off in the middle of a receipt.
        Interrupted = "interrupted",
        /// It does not answer about its state, and should.
        Silent = "silent",
    }
}

/// A printer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PrinterView {
    /// What people call it.
    pub name: String,
    /// Where it is.
    pub port: String,
    /// How it stands.
    pub state: PrinterState,
    /// `ok`, `not used yet`, or what is wrong and what to do, and how many receipts wait.
    pub text: String,
    /// How many receipts wait for it.
    pub waiting: usize,
}

words! {
    /// Which clock serves.
    ClockState {
        /// The board's.
        Ready = "ready",
        /// The reader's: the board's cannot be right.
        ReaderServes = "reader-serves",
        /// One that is far from the gateway's.
        Differs = "differs",
        /// None can be right: no sale is taken.
        Untrusted = "untrusted",
    }
}

/// The clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClockView {
    /// Which serves.
    pub state: ClockState,
    /// The same as a sentence, with what to do.
    pub text: String,
    /// The terminal's time, local, RFC 3339; absent when none can be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

words! {
    /// How the journal stands.
    JournalState {
        /// It is written.
        Ready = "ready",
        /// Its disk has little room left; sales are still taken.
        NearlyFull = "nearly-full",
        /// Its disk is full: no sale is taken.
        Full = "full",
        /// It cannot be written: no sale is taken.
        CannotBeWritten = "cannot-be-written",
    }
}

/// The journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JournalView {
    /// How it stands.
    pub state: JournalState,
    /// The same as a sentence, with what to do.
    pub text: String,
    /// Room on its disk, in bytes; absent when that cannot be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word as it goes on the wire, with the list that it is of.
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
