//! The settings for a fleet: its name, this terminal's name in it, and the keys that may sign commands and settings.
//!
//! Only root writes this section. A fleet can remove or replace a key by a signed document, but cannot give a right.

use std::collections::BTreeSet;

use pos_daemon::settings::{FaultList, check as ensure_that, ensure, fault};
use pos_fleet_terms::{Id, KeyKind, MOST_KEYS};
use serde::Deserialize;

use super::socket::till_name;
use super::{Config, DailyWindow, LOCAL, Right, Rights};

/// The number of bytes of an Ed25519 public key.
const KEY_BYTES: usize = 32;
/// The greatest length of a key's name, in characters.
const LONGEST_NAME: usize = 64;
/// The rights that no command uses, so that a key which lists one shows a mistake.
const OF_NO_COMMAND: [Right; 5] = [Right::Totals, Right::Close, Right::Journal, Right::Service, Right::Fleet];

/// The fleet, from which the terminal takes commands and settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fleet {
    /// The organisation's name, as in the configuration of `pos-uplink`.
    pub org: String,
    /// This terminal's name in the organisation, as in the configuration of `pos-uplink`.
    pub terminal: String,
    /// The local time of day in which the fleet may restart the terminal or change its settings, such as
    /// `02:00-05:00`. Without it, the fleet may do so whenever the terminal is idle.
    #[cfg_attr(feature = "docs", schemars(with = "Option<String>"))]
    pub window: Option<DailyWindow>,
    /// The keys that may sign commands and settings, at most 16.
    #[serde(default)]
    pub key: Vec<FleetKey>,
}

/// A key that may sign commands or settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FleetKey {
    /// The key's name for people. The journal has it.
    pub name: String,
    /// The commands that the key may sign: `till` signs sales, `desk` messages, archives, restarts and the log level,
    /// and `config` settings. Two keys with `config` together sign a change of the keys.
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub kind: KeyKind,
    /// The 32 bytes of the Ed25519 public key, as 64 hexadecimal digits (`pos-fleet key`).
    pub public: String,
    /// The till whose transactions a key with `till` begins. No other program may have the same till.
    pub till: Option<String>,
    /// The rights of a key with `till`. The default is `sale` and `read`.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    #[serde(default = "usual")]
    pub rights: Rights,
    /// Like `operator` of a `[[till.token]]`. No operator can sign in for a command, so a key with `till` needs `false`
    /// if `[operators] required` is set.
    #[serde(default = "yes")]
    pub operator: bool,
}

/// Returns the rights of a till of the fleet: to charge a card, and to learn the outcome.
fn usual() -> Rights {
    Rights::from_iter([Right::Sale, Right::Read])
}

fn yes() -> bool {
    true
}

impl FleetKey {
    /// Returns the key's bytes.
    #[must_use]
    pub fn bytes(&self) -> Option<[u8; KEY_BYTES]> {
        let mut bytes = [0; KEY_BYTES];
        hex::decode_to_slice(&self.public, &mut bytes).is_ok().then_some(bytes)
    }
}

/// Checks the section. The tills of other callers come from the whole configuration.
pub(super) fn check(found: &mut FaultList, fleet: &Fleet, whole: &Config) {
    for (key, name) in [("fleet.org", &fleet.org), ("fleet.terminal", &fleet.terminal)] {
        let wrong =
            |_| fault(key, "must be 1 to 64 of a-z, 0-9 and -", "write the name from pos-uplink's configuration");
        found.add(name.parse::<Id>().map_err(wrong));
    }
    let few = fleet.key.len() <= MOST_KEYS;
    found.add(ensure(few, "fleet.key", || {
        (format!("there are more than {MOST_KEYS} keys"), "remove the keys that are no longer used".to_owned())
    }));
    let (mut names, mut known, mut tills) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (n, key) in fleet.key.iter().enumerate() {
        let at = |field: &str| format!("fleet.key[{n}].{field}");
        let length = key.name.chars().count();
        let plain = (1..=LONGEST_NAME).contains(&length) && !key.name.chars().any(char::is_control);
        let wrong = "must be 1 to 64 characters without control characters";
        found.add(ensure_that(plain, &at("name"), wrong, "write a name such as \"desk 2026\""));
        let wrong = "two keys have the same name";
        found.add(ensure_that(names.insert(&key.name), &at("name"), wrong, "give each key a different name"));
        let wrong = "must be 64 hexadecimal digits";
        let remedy = "write the public key that pos-fleet key prints";
        if let Some(bytes) = found.add(key.bytes().ok_or_else(|| fault(&at("public"), wrong, remedy))) {
            let wrong = "two keys have the same bytes";
            found.add(ensure_that(known.insert(bytes), &at("public"), wrong, "make a key of its own for each purpose"));
        }
        match (key.kind, &key.till) {
            (KeyKind::Till, Some(till)) => {
                let own = !is_of_another(till, whole) && tills.insert(till);
                found.add(till_name(&at("till"), till).and_then(|()| {
                    let wrong = "is also the till of another key or program";
                    ensure_that(own, &at("till"), wrong, "choose a name that no other entry has")
                }));
                till_key(found, key, whole, &at);
            }
            (KeyKind::Till, None) => {
                let remedy = "write till = \"web\", with a name that no other entry has";
                found.add::<()>(Err(fault(&at("till"), "a key of kind till needs a till", remedy)));
            }
            (KeyKind::Desk | KeyKind::Config, till) => {
                let wrong = "only a key of kind till has a till, rights and operator";
                let plain = till.is_none() && key.rights == usual() && key.operator;
                found.add(ensure_that(plain, &at("till"), wrong, "remove these keys from the entry"));
            }
        }
    }
}

fn till_key(found: &mut FaultList, key: &FleetKey, whole: &Config, at: &impl Fn(&str) -> String) {
    for right in OF_NO_COMMAND {
        found.add(ensure(!key.rights.has(right), &at("rights"), || {
            let wrong = format!("no command uses the right {}", right.as_str());
            (wrong, "list only rights for transactions".to_owned())
        }));
    }
    let wrong = "[operators] required is set, and no operator can sign in for a command";
    let remedy = "write operator = false, or remove the key";
    found.add(ensure_that(!(whole.operators.required && key.operator), &at("operator"), wrong, remedy));
}

/// Returns whether the socket, a token or a program at the socket has this till.
fn is_of_another(till: &str, whole: &Config) -> bool {
    till == LOCAL
        || whole.till.token.iter().any(|token| token.till == till)
        || whole.till.peer.iter().any(|peer| peer.tills.iter().any(|one| one == till))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_may_charge_and_read_unless_its_entry_says_more() {
        let public = "ab".repeat(32);
        let read = |more: &str| {
            let text = format!("name = \"web\"\nkind = \"till\"\npublic = \"{public}\"\ntill = \"web\"\n{more}");
            toml::from_str::<FleetKey>(&text)
        };
        let key = read("").unwrap();
        assert_eq!(key.bytes(), Some([0xab; 32]));
        for right in Right::ALL {
            assert_eq!(key.rights.has(right), matches!(right, Right::Sale | Right::Read), "{right:?}");
        }
        assert!(read("rights = [\"refund\"]").unwrap().rights.has(Right::Refund));
        assert!(read("right = []").is_err(), "an unknown key is refused");
        assert!(toml::from_str::<FleetKey>("name = \"x\"\nkind = \"root\"\npublic = \"\"").is_err());
    }
}
