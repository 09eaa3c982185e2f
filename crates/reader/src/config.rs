//! The configuration section `[reader]`, with its checks.

use pos_daemon::settings::{BAUD, FaultList, check, is_made_of, port, within};
use serde::Deserialize;

use crate::ReaderLanguage;

/// Maximum number of readers that a shop may use in turn.
const MAX_SERIALS: usize = 32;

/// The card reader.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reader {
    /// The protocol of the reader.
    pub protocol: ReaderProtocol,
    /// A tty such as `/dev/serial/by-id/…`, or `tcp://host:6543`.
    pub port: String,
    /// Line speed of a tty, in baud. A USB port does not use it.
    #[serde(default = "pos_daemon::settings::default_baud")]
    pub baud: u32,
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
    /// The command for typed card numbers: `D2E0` on newer readers, `D25A` on older ones.
    #[serde(default)]
    pub manual_entry_command: ManualEntryCommand,
    /// Ask for the card verification value too (`D2E0` only).
    #[serde(default)]
    pub manual_entry_verification_value: bool,
    /// The amount that the customer types for a tip: `tip` for the tip, or `total` for the bill with the tip.
    #[serde(default)]
    pub tip_entry: TipEntry,
    /// Tips in percent that the reader offers if there is no section `[tips]`: one to four values of 1 to 100. With
    /// fewer than four, the customer can type another tip.
    #[serde(default = "defaults::tip_percentages")]
    pub tip_percentages: Vec<u8>,
    /// Name of the capability with which a reader announces that it accepts commands of more than one packet. The name
    /// is not published. Without this setting, a name with the words "extended" and "APDU" counts as this capability.
    pub extended_apdu_capability: Option<String>,
    /// Warn when the reader has fewer keys left than this. A transaction takes one to three keys of each kind.
    #[serde(default = "defaults::warn_keys_left")]
    pub warn_keys_left: u64,
    /// Numbers of the signed texts that the reader shows while digits are typed.
    #[serde(default)]
    pub prompts: ReaderPrompts,
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
    found.add(port("reader.port", &reader.port, "6543"));
    found.add(within("reader.baud", u64::from(reader.baud), &(u64::from(*BAUD.start())..=u64::from(*BAUD.end()))));
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
    let tips = &reader.tip_percentages;
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
        !reader.manual_entry_verification_value || reader.manual_entry_command == ManualEntryCommand::D2E0,
        "reader.manual-entry-verification-value",
        "is not possible with D25A",
        "omit the key, or write manual-entry-command = \"D2E0\"",
    ));
}

/// The defaults, with their reasons.
mod defaults {
    /// Returns the language that every reader has and that the agent itself uses.
    pub(super) fn language() -> String {
        "en".to_owned()
    }

    /// Returns the percentages that customers are used to.
    pub(super) fn tip_percentages() -> Vec<u8> {
        vec![5, 10, 15]
    }

    /// Returns a number of keys that gives a shop with 100 transactions a day at least a month for injecting new keys.
    pub(super) fn warn_keys_left() -> u64 {
        10_000
    }
}
