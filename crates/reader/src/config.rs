//! The configuration section `[reader]`, with its checks.

use pos_daemon::settings::{BAUD, FaultList, check, is_made_of, port, within};
use serde::Deserialize;

use crate::ReaderLanguage;
use crate::capability::Capability;

/// Maximum number of readers that a shop may use in turn.
const MAX_SERIALS: usize = 32;

/// The card reader.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reader {
    /// The protocol of the reader.
    pub protocol: ReaderProtocol,
    /// A tty such as `/dev/serial/by-id/…`, or `tcp://host:6543`. With `tcp-listen://address:port`, the reader opens
    /// the connection (`verifone-vipa` only).
    pub port: String,
    /// Line speed of a tty, in baud: 57600 for `verifone-vipa`, 115200 for others. A USB port does not use it.
    pub baud: Option<u32>,
    /// Flow control of a tty: `none`, `rts-cts` or `xon-xoff`.
    #[serde(default)]
    pub flow_control: ReaderFlowControl,
    /// Serial numbers of the readers that may be used, as `pos-agent status` shows them. The agent uses no other
    /// reader. If the list is empty, every connected reader is used.
    #[serde(default)]
    pub serials: Vec<String>,
    /// Language of the reader's texts until a card names another: `en`, `de`, `fr`, `es`, `it`, `nl` or `pl`.
    #[serde(default = "defaults::language")]
    pub language: String,
    /// Allow card numbers to be typed on the reader when a transaction asks for it.
    #[serde(default)]
    pub manual_entry: bool,
    /// The command for typed card numbers (`miura-mpi` only): `D2E0` on newer readers, which is the default, `D25A` on
    /// older ones.
    pub manual_entry_command: Option<ManualEntryCommand>,
    /// Ask for the card verification value too (`D2E0` only).
    #[serde(default)]
    pub manual_entry_verification_value: bool,
    /// The amount that the customer types for a tip: `tip` for the tip, which is the default, or `total` for the bill
    /// with the tip.
    pub tip_entry: Option<TipEntry>,
    /// Tips in percent that the reader offers if there is no section `[tips]`: one to four values of 1 to 100. The
    /// default is `[5, 10, 15]`. With fewer than four, the customer can type another tip.
    pub tip_percentages: Option<Vec<u8>>,
    /// Name of the capability with which a reader announces that it accepts commands of more than one packet. The name
    /// is not published. Without this setting, a name with the words "extended" and "APDU" counts as this capability.
    pub extended_apdu_capability: Option<String>,
    /// The form of the sealed card data for the gateway, which the acquirer decides. It must be there for
    /// `verifone-vipa` (`iv-first`, which is the initial value and then the data, or `data-only`) and for `idtech-neo2`
    /// (`elements`). `miura-mpi` has only one form.
    pub sred_form: Option<SredForm>,
    /// The settings of a VIPA reader.
    pub vipa: Option<VipaReader>,
    /// Warn when the reader has fewer keys left than this. A transaction takes one to three keys of each kind.
    #[serde(default = "defaults::warn_keys_left")]
    pub warn_keys_left: u64,
    /// Numbers of the signed texts that the reader shows while digits are typed.
    pub prompts: Option<ReaderPrompts>,
}

/// The commands for typed card numbers (readers: 2.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
pub enum ManualEntryCommand {
    /// GET SECURE DATA, for newer readers. It asks for the number and then for the expiry date.
    #[default]
    D2E0,
    /// GET SECURE PAN, for older readers. It is a single command.
    D25A,
}

/// The amount that the customer types for a tip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum TipEntry {
    /// The tip.
    #[default]
    Tip,
    /// The bill with the tip. The tip is the difference from the bill.
    Total,
}

/// Numbers of the signed texts that the reader shows while digits are typed. Each entry has three lines, and 0 is an
/// empty line. The numbers depend on the reader's prompts file (readers: 2.9, 2.10; 10, point 3). Those for a card
/// number come from the vendor's source, and the others are guesses.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ReaderPrompts {
    /// The texts for typing an amount.
    pub amount: [u16; 3],
    /// The layout of the question for a tip.
    pub tip_template: u8,
    /// The texts for typing a card number.
    pub card_number: [u16; 3],
    /// The texts for typing the expiry date.
    pub expiry: [u16; 3],
    /// The texts for typing the verification value.
    pub verification_value: [u16; 3],
}

/// The reader protocols that the agent supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum ReaderProtocol {
    /// Miura MPI (readers: 2).
    MiuraMpi,
    /// Verifone VIPA (readers: 3).
    VerifoneVipa,
    /// ID TECH NEO2 (readers: 4).
    IdtechNeo2,
}

impl ReaderProtocol {
    /// All protocols, with their names in the configuration.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::MiuraMpi, "miura-mpi"), (Self::VerifoneVipa, "verifone-vipa"), (Self::IdtechNeo2, "idtech-neo2")];

    /// Returns the name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(protocol, _)| *protocol == self).map_or("", |(_, name)| name)
    }
}

/// The protocol's name is not known. The message lists those that are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownProtocol;

impl std::fmt::Display for UnknownProtocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = ReaderProtocol::ALL.iter().map(|(_, name)| *name).collect();
        write!(f, "write {}", names.join(", "))
    }
}

impl std::str::FromStr for ReaderProtocol {
    type Err = UnknownProtocol;

    fn from_str(text: &str) -> Result<Self, UnknownProtocol> {
        Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(protocol, _)| protocol).ok_or(UnknownProtocol)
    }
}

impl Reader {
    /// Returns whether the reader opens the connection.
    #[must_use]
    pub fn is_listening(&self) -> bool {
        self.port.starts_with(LISTEN)
    }

    /// Returns the line speed in baud.
    #[must_use]
    pub fn baud(&self) -> u32 {
        self.baud.unwrap_or_else(|| self.protocol.usual_baud())
    }

    /// Returns the tips in percent that the reader offers if there is no section `[tips]`.
    #[must_use]
    pub fn tip_percentages(&self) -> Vec<u8> {
        self.tip_percentages.clone().unwrap_or_else(|| vec![5, 10, 15])
    }
}

/// Flow control of a tty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum ReaderFlowControl {
    /// None.
    #[default]
    None,
    /// By the lines RTS and CTS.
    RtsCts,
    /// By the characters XON and XOFF.
    XonXoff,
}

/// The form of sealed card data for the gateway. UNCERTAIN: the interface does not name a form, so the acquirer
/// decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum SredForm {
    /// The initial value of the cipher, then the data.
    IvFirst,
    /// Only the data.
    DataOnly,
    /// Each encrypted element with its tag and length.
    Elements,
}

/// The settings of a VIPA reader.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VipaReader {
    /// The country of the shop for the card (9F1A), three digits of ISO 3166-1, such as `276` for Germany.
    pub terminal_country: String,
    /// The slot of the reader's encryption, of which it reports the keys.
    #[serde(default = "defaults::security_slot")]
    pub security_slot: u8,
    /// The number of the host in that slot.
    #[serde(default = "defaults::security_host")]
    pub security_host: u8,
    /// The number of the host whose key seals the PIN.
    #[serde(default = "defaults::pin_host")]
    pub pin_host: u8,
    /// The index of the acquirer in the reader's set-up (C2), one to eight letters and digits, such as `65`.
    pub acquirer: String,
    /// The name of the reader's screen (HTML) for typing a card number. It must be there with `manual-entry = true`.
    pub manual_entry_screen: Option<String>,
}

impl Default for VipaReader {
    fn default() -> Self {
        Self {
            terminal_country: String::new(),
            security_slot: defaults::security_slot(),
            security_host: defaults::security_host(),
            pin_host: defaults::pin_host(),
            acquirer: String::new(),
            manual_entry_screen: None,
        }
    }
}

/// Returns a country of three digits in BCD, or `None` for another text.
#[must_use]
pub fn numeric_country(text: &str) -> Option<[u8; 2]> {
    let number: u16 =
        text.parse().ok().filter(|_| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit()))?;
    let digit = |n: u16| u8::try_from(n % 10).unwrap_or_default();
    Some([digit(number / 100), digit(number / 10) << 4 | digit(number)])
}

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

/// Checks rules that the types cannot express.
pub fn check_values(found: &mut FaultList, reader: &Reader) {
    found.add(check(
        reader.protocol.is_included(),
        "reader.protocol",
        &format!("{} is not possible: this program was built without its readers", reader.protocol.name()),
        "install the complete program, or build it with this family (packages/README.md)",
    ));
    if !reader.protocol.is_included() {
        // What its readers can do is not known.
        return;
    }
    check_port(found, reader);
    if let Some(baud) = reader.baud {
        found.add(within("reader.baud", u64::from(baud), &(u64::from(*BAUD.start())..=u64::from(*BAUD.end()))));
    }
    check_capabilities(found, reader);
    check_sealing(found, reader);
    let fits = |serial: &String| is_made_of(serial, 32, |b| b.is_ascii_graphic());
    found.add(check(
        reader.serials.len() <= MAX_SERIALS && reader.serials.iter().all(fits),
        "reader.serials",
        "must be up to 32 serial numbers of 1 to 32 letters and digits",
        "write them as pos-agent status shows them, or omit the key",
    ));
    let known = ReaderLanguage::from_code(&reader.language).is_some_and(|known| known.code() == reader.language);
    found.add(check(
        known,
        "reader.language",
        "is not a language of the reader's texts",
        "write en, de, fr, es, it, nl or pl",
    ));
    let tips = reader.tip_percentages();
    let fits = (1..=4).contains(&tips.len()) && tips.iter().all(|percent| (1..=100).contains(percent));
    found.add(check(fits, "reader.tip-percentages", "must be one to four numbers from 1 to 100", "write [5, 10, 15]"));
    if let Some(name) = &reader.extended_apdu_capability {
        let fits = is_made_of(name, 32, |b| b.is_ascii_graphic() || b == b' ');
        found.add(check(
            fits,
            "reader.extended-apdu-capability",
            "must be 1 to 32 printable ASCII characters",
            "write the name as GET DEVICE INFO gives it",
        ));
    }
    found.add(check(
        !reader.manual_entry_verification_value || reader.manual_entry_command != Some(ManualEntryCommand::D25A),
        "reader.manual-entry-verification-value",
        "is not possible with D25A",
        "omit the key, or write manual-entry-command = \"D2E0\"",
    ));
}

/// The prefix of a port at which the reader opens the connection.
pub(crate) const LISTEN: &str = "tcp-listen://";

fn check_port(found: &mut FaultList, reader: &Reader) {
    let Some(address) = reader.port.strip_prefix(LISTEN) else {
        return found.add(port("reader.port", &reader.port, "6543")).unwrap_or_default();
    };
    found.add(check(
        reader.protocol.capabilities().contains(&Capability::Connects),
        "reader.port",
        &format!("tcp-listen is not possible with {}: its readers do not open the connection", reader.protocol.name()),
        "write tcp://host:port, or the path of a serial line",
    ));
    found.add(check(
        address.parse::<std::net::SocketAddr>().is_ok_and(|address| address.port() != 0),
        "reader.port",
        "must have the terminal's own address and port after tcp-listen://",
        "write tcp-listen://192.0.2.7:16107",
    ));
}

/// Refuses settings that the family's readers cannot honour.
fn check_capabilities(found: &mut FaultList, reader: &Reader) {
    let capabilities = reader.protocol.capabilities();
    let is_set = [
        (reader.manual_entry, "manual-entry", Capability::TypedCard),
        (reader.manual_entry_command.is_some(), "manual-entry-command", Capability::ChoiceOfTypingCommand),
        (reader.manual_entry_verification_value, "manual-entry-verification-value", Capability::TypedVerificationValue),
        (reader.tip_entry.is_some(), "tip-entry", Capability::TipEntry),
        (reader.tip_percentages.is_some(), "tip-percentages", Capability::TipEntry),
        (reader.prompts.is_some(), "prompts", Capability::AmountEntry),
        (reader.extended_apdu_capability.is_some(), "extended-apdu-capability", Capability::LongCommands),
    ];
    for (is_set, key, needed) in is_set {
        found.add(check(
            !is_set || capabilities.contains(&needed),
            &format!("reader.{key}"),
            &format!("is not possible with {}: its readers cannot {}", reader.protocol.name(), needed.words()),
            "omit the key",
        ));
    }
    found.add(check(
        reader.vipa.is_none() || reader.protocol == ReaderProtocol::VerifoneVipa,
        "reader.vipa",
        "is only for protocol = \"verifone-vipa\"",
        "omit the section",
    ));
}

/// Checks the settings that only the acquirer knows.
fn check_sealing(found: &mut FaultList, reader: &Reader) {
    let forms = reader.protocol.sred_forms();
    let fits = match reader.sred_form {
        Some(form) => forms.iter().any(|(known, _)| *known == form),
        None => forms.is_empty(),
    };
    let names: Vec<_> = forms.iter().map(|(_, name)| *name).collect();
    let (wrong, remedy) = match names[..] {
        [] => {
            (format!("is not possible with {}, which has one form", reader.protocol.name()), "omit the key".to_owned())
        }
        _ => (
            format!("must be there for {}: {}", reader.protocol.name(), names.join(" or ")),
            "ask the acquirer which form its gateway decrypts".to_owned(),
        ),
    };
    found.add(check(fits, "reader.sred-form", &wrong, &remedy));
    if reader.protocol != ReaderProtocol::VerifoneVipa {
        return;
    }
    let Some(vipa) = &reader.vipa else {
        found.add(check(
            false,
            "reader.vipa",
            "must be there for verifone-vipa",
            "write [reader.vipa] with terminal-country and acquirer",
        ));
        return;
    };
    found.add(check(
        numeric_country(&vipa.terminal_country).is_some_and(|country| country != [0, 0]),
        "reader.vipa.terminal-country",
        "must be three digits of ISO 3166-1",
        "write \"276\" for Germany, \"826\" for the United Kingdom",
    ));
    found.add(check(
        is_made_of(&vipa.acquirer, 8, |b| b.is_ascii_alphanumeric()),
        "reader.vipa.acquirer",
        "must be 1 to 8 letters and digits",
        "write the index as the reader's set-up names it",
    ));
    found.add(check(
        !reader.manual_entry || vipa.manual_entry_screen.is_some(),
        "reader.vipa.manual-entry-screen",
        "must be there with manual-entry = true",
        "write the name of the screen in the reader's set-up",
    ));
    if let Some(screen) = &vipa.manual_entry_screen {
        found.add(check(
            is_made_of(screen, 64, |b| b.is_ascii_graphic()),
            "reader.vipa.manual-entry-screen",
            "must be 1 to 64 printable ASCII characters",
            "write the name of the screen in the reader's set-up",
        ));
    }
}

/// The defaults, with their reasons.
mod defaults {
    /// Returns the language that every reader has and that the agent itself uses.
    pub(super) fn language() -> String {
        "en".to_owned()
    }

    /// Returns the slot and the hosts of the only published frames (readers: 3.7). UNCERTAIN: a reader's set-up decides
    /// them, and a wrong one shows as "no keys".
    pub(super) fn security_slot() -> u8 {
        0x0B
    }

    pub(super) fn security_host() -> u8 {
        0x06
    }

    pub(super) fn pin_host() -> u8 {
        0x02
    }

    /// Returns a number of keys that gives a shop with 100 transactions a day at least a month for injecting new keys.
    pub(super) fn warn_keys_left() -> u64 {
        10_000
    }
}
