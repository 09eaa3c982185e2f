//! The settings and the command keys that a fleet gives to its terminals, and what a terminal reports about them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Bounded, MessageError, at_most, short};
use crate::{Fault, Id, KeyKind};

/// The version of the form of settings and keys.
pub const DOCUMENT_VERSION: u32 = 1;
/// The settings that a fleet may give, by their place in the terminal's configuration. No other can be changed from
/// outside the board.
///
/// Gateway, CA, entity, token, terminal id, currency, limits, rights, tills, operators, the journal and the reader's
/// port are not among them.
pub const SETTINGS: &[&str] = &[
    "terminal.merchant",
    "terminal.footer",
    "terminal.language",
    "terminal.card-timeout-s",
    "reader.baud",
    "reader.language",
    "reader.warn-keys-left",
    "receipts.customer",
    "tips.presets",
    "tips.custom",
    "tips.default",
    "tips.timeout-s",
    "close.day-ends-at",
    "close.time-zone",
];
/// The greatest number of settings in a document.
const MOST_SETTINGS: usize = 64;
/// The greatest number of keys of a terminal.
pub const MOST_KEYS: usize = 16;

/// The settings that the terminal shall use, all of them: a setting that is absent is the terminal's own again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SettingsDocument {
    /// [`DOCUMENT_VERSION`].
    pub v: u32,
    /// The organisation.
    pub org: Id,
    /// The terminal.
    pub terminal: Id,
    /// The version, which rises. A terminal never takes one twice, and none below its last one.
    pub version: u64,
    /// The settings by their names, of which [`SETTINGS`] lists all.
    pub settings: BTreeMap<String, Value>,
    /// The settings that replace a local edit. Without its name here, a local edit stays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_local: Vec<String>,
    /// The person who gave it.
    pub author: String,
}

impl Bounded for SettingsDocument {
    fn check(&self) -> Result<(), MessageError> {
        at_most(MOST_SETTINGS, "settings", self.settings.len())?;
        at_most(MOST_SETTINGS, "overLocal", self.over_local.len())?;
        short([&self.author].into_iter().chain(self.settings.keys()).chain(&self.over_local))
    }
}

/// A command key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandKey {
    /// The key's name for people.
    pub name: String,
    /// The kind.
    pub kind: KeyKind,
    /// The 32 bytes of the Ed25519 key in hexadecimal.
    pub public: String,
    /// The till of a till key. A fleet cannot give a till rights: it can only remove or replace the key of a till that
    /// the terminal's own configuration names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
}

/// The command keys that the terminal shall use, all of them. Two config keys sign it that it does not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeysDocument {
    /// [`DOCUMENT_VERSION`].
    pub v: u32,
    /// The organisation.
    pub org: Id,
    /// The terminal.
    pub terminal: Id,
    /// The version, which rises.
    pub version: u64,
    /// The keys.
    pub keys: Vec<CommandKey>,
    /// The person who gave it.
    pub author: String,
}

impl Bounded for KeysDocument {
    fn check(&self) -> Result<(), MessageError> {
        at_most(MOST_KEYS, "keys", self.keys.len())?;
        let texts = self.keys.iter().flat_map(|key| [&key.name, &key.public].into_iter().chain(&key.till));
        short([&self.author].into_iter().chain(texts))
    }
}

/// How a terminal stands to the settings that its fleet gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingsState {
    /// It uses its own settings alone.
    #[default]
    Local,
    /// It waits until no card and no till waits, to begin the trial.
    Waiting,
    /// It tries them, and goes back by itself if they are not confirmed in time.
    Trial,
    /// It keeps them.
    Kept,
    /// It went back to those before, and never tries this version again.
    Returned,
    /// It went back because the server did not acknowledge. It tries the version again later.
    Unheard,
    /// It refuses them, and never tried them.
    Refused,
}

/// What a terminal reports about its settings and keys. Its document is signed with the key of its certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reported {
    /// The version of the settings in use, 0 for the terminal's own alone.
    #[serde(default)]
    pub version: u64,
    /// The version that came last.
    #[serde(default)]
    pub tried: u64,
    /// SHA-256 of that document, in hexadecimal. Two documents with one version are thus told apart.
    #[serde(default)]
    pub sha256: String,
    /// How the terminal stands to the version that came last.
    #[serde(default)]
    pub state: SettingsState,
    /// The reason for `returned`, `unheard` and `refused`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Fault>,
    /// The settings that were edited at the terminal, which then keeps its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<String>,
    /// The journal's entry about the begin of the trial. The trial needs an acknowledgement of it.
    #[serde(default)]
    pub entry: i64,
    /// The version of the keys in use, 0 for those of the terminal's own configuration.
    #[serde(default)]
    pub keys_version: u64,
    /// The keys in use.
    #[serde(default)]
    pub keys: Vec<CommandKey>,
    /// The reason why the last keys were refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_refused: Option<Fault>,
    /// The time in UTC (RFC 3339).
    #[serde(default)]
    pub at: String,
}

impl Bounded for Reported {
    fn check(&self) -> Result<(), MessageError> {
        at_most(MOST_SETTINGS, "drift", self.drift.len())?;
        at_most(MOST_KEYS, "keys", self.keys.len())?;
        let faults = self.reason.iter().chain(&self.keys_refused).flat_map(|fault| [&fault.code, &fault.text]);
        let keys = self.keys.iter().flat_map(|key| [&key.name, &key.public].into_iter().chain(&key.till));
        short([&self.at, &self.sha256].into_iter().chain(&self.drift).chain(faults).chain(keys))
    }
}
