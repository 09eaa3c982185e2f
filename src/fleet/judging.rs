//! The order in which a signed command is checked. The signature comes before everything here.
//!
//! | check | refusal |
//! |---|---|
//! | organisation and terminal | `wrong-terminal` |
//! | id: the same document again gets the stored answer | `id-taken` |
//! | kind of the key | `key-not-allowed` |
//! | kind and form of the command | `unsupported` |
//! | expiry | `expired`, `expires-too-late`, `clock-unknown` |
//! | nonce of the present connection, if money can move | `stale-connection` |
//! | counter of the key | `used-counter` |
//!
//! The content is checked last, by the part that acts.

use chrono::DateTime;
use pos_core::fleet::{JudgedCommand, UsedCounters};
use pos_fleet_terms::{COMMAND_VERSION, CommandCode, CommandKind, FleetCommand, Id};

use super::keys::CommandSigner;
use super::window::taking;

/// This terminal in its fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPlace {
    /// The organisation.
    pub org: Id,
    /// The terminal.
    pub terminal: Id,
}

/// A command with the SHA-256 of its exact bytes, in hexadecimal.
#[derive(Clone, Debug)]
pub struct AskedCommand {
    /// The command.
    pub command: FleetCommand,
    /// The hash.
    pub sha256: String,
}

/// The present, as far as a command depends on it.
#[derive(Clone, Copy, Debug)]
pub struct JudgingNow<'a> {
    /// The time in milliseconds since 1970, if a clock can be trusted.
    pub unix_ms: Option<i64>,
    /// The nonce of the present connection.
    pub nonce: Option<&'a str>,
}

/// What becomes of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandVerdict<'k> {
    /// It is for another terminal, which is not stored.
    Elsewhere,
    /// It came before.
    Known(Box<JudgedCommand>),
    /// Another command has its id, which stays.
    IdTaken,
    /// It is refused.
    Refused(CommandCode),
    /// It is accepted, if its content is right.
    Accepted {
        /// The kind.
        kind: CommandKind,
        /// The key that signed it.
        key: &'k CommandSigner,
        /// The key's counters afterwards.
        used: UsedCounters,
    },
}

/// Judges a command that these keys have signed. `known` is the command that has its id.
///
/// # Errors
/// Returns the error of `used`, which reads the counters of a key.
pub fn judge<'k, E>(
    AskedCommand { command, sha256 }: &AskedCommand,
    signers: &[&'k CommandSigner],
    own: &OwnPlace,
    known: Option<JudgedCommand>,
    now: JudgingNow<'_>,
    used: impl Fn(&str) -> Result<UsedCounters, E>,
) -> Result<CommandVerdict<'k>, E> {
    if (&command.org, &command.terminal) != (&own.org, &own.terminal) {
        return Ok(CommandVerdict::Elsewhere);
    }
    match known {
        Some(known) if known.sha256 == *sha256 => return Ok(CommandVerdict::Known(Box::new(known))),
        Some(_) => return Ok(CommandVerdict::IdTaken),
        None => {}
    }
    let refused = |code| Ok(CommandVerdict::Refused(code));
    let kind = CommandKind::of(&command.kind);
    let key = signers.iter().find(|key| kind.is_none_or(|kind| kind.key() == key.kind));
    let Some(key) = key else { return refused(CommandCode::KeyNotAllowed) };
    let Some(kind) = kind.filter(|_| command.v == COMMAND_VERSION) else {
        return refused(CommandCode::Unsupported);
    };
    let is_of_this_connection = now.nonce.is_some() && command.nonce.as_deref() == now.nonce;
    match in_time(command, kind, now.unix_ms) {
        Ok(()) => {}
        // The nonce replaces the clock, if no money can move.
        Err(CommandCode::ClockUnknown) if !kind.is_about_money() && is_of_this_connection => {}
        Err(code) => return refused(code),
    }
    if kind.is_about_money() && !is_of_this_connection {
        return refused(CommandCode::StaleConnection);
    }
    match taking(used(&key.id)?, command.counter) {
        Some(used) => Ok(CommandVerdict::Accepted { kind, key, used }),
        None => refused(CommandCode::UsedCounter),
    }
}

/// Checks the expiry.
fn in_time(command: &FleetCommand, kind: CommandKind, unix_ms: Option<i64>) -> Result<(), CommandCode> {
    let expires = DateTime::parse_from_rfc3339(&command.expires).map_err(|_| CommandCode::Malformed)?;
    let now = unix_ms.ok_or(CommandCode::ClockUnknown)?;
    let left_ms = expires.timestamp_millis().saturating_sub(now);
    let longest_ms = i64::try_from(kind.longest_s()).unwrap_or(i64::MAX).saturating_mul(1000);
    match left_ms {
        ..=0 => Err(CommandCode::Expired),
        left if left > longest_ms => Err(CommandCode::ExpiresTooLate),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use serde_json::{Value, json};

    use super::*;
    use crate::config::Fleet;
    use crate::fleet::FleetKeys;

    /// 2026-11-30, 10:00:00 UTC.
    const NOW: i64 = 1_796_032_800_000;
    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn keys() -> FleetKeys {
        let key = |name: &str, kind: &str, byte: &str, till: &str| {
            format!("[[key]]\nname = \"{name}\"\nkind = \"{kind}\"\npublic = \"{}\"\n{till}\n", byte.repeat(32))
        };
        let text = "org = \"o\"\nterminal = \"t\"\n".to_owned()
            + &key("web", "till", "01", "till = \"web\"")
            + &key("desk", "desk", "02", "")
            + &key("config", "config", "03", "");
        FleetKeys::own(&toml::from_str::<Fleet>(&text).unwrap())
    }

    fn command(kind: &str, change: Value) -> AskedCommand {
        let mut json = json!({
            "v": 1, "id": "c-1", "org": "o", "terminal": "t", "counter": 1, "kind": kind, "body": {},
            "expires": "2026-11-30T10:00:30Z", "nonce": NONCE, "author": "anna",
        });
        for (name, value) in change.as_object().unwrap() {
            json[name] = value.clone();
        }
        AskedCommand { command: serde_json::from_value(json).unwrap(), sha256: "aa".repeat(32) }
    }

    fn known(sha256: &str) -> JudgedCommand {
        JudgedCommand {
            id: "c-1".to_owned(),
            sha256: sha256.to_owned(),
            kind: "sale".to_owned(),
            key: String::new(),
            counter: 1,
            till: None,
            reference: None,
            answer: None,
            unix_ms: 0,
        }
    }

    /// Returns the refusal's code, or `done` for an accepted command.
    fn said(asked: &AskedCommand, by: usize, stored: Option<JudgedCommand>, now: JudgingNow<'_>) -> CommandCode {
        let own = OwnPlace { org: "o".parse().unwrap(), terminal: "t".parse().unwrap() };
        let keys = keys();
        let used = |key: &str| {
            assert_eq!(key, keys.all()[by].id, "the counters of the key that signed");
            Ok::<_, Infallible>(UsedCounters { highest: 9, bits: 1 })
        };
        match judge(asked, &[&keys.all()[by]], &own, stored, now, used).unwrap() {
            CommandVerdict::Elsewhere => CommandCode::WrongTerminal,
            CommandVerdict::Known(_) => CommandCode::Running,
            CommandVerdict::IdTaken => CommandCode::IdTaken,
            CommandVerdict::Refused(code) => code,
            CommandVerdict::Accepted { kind, key, .. } => {
                assert_eq!(kind.key(), key.kind);
                CommandCode::Done
            }
        }
    }

    const FINE: JudgingNow<'static> = JudgingNow { unix_ms: Some(NOW), nonce: Some(NONCE) };
    const NO_CLOCK: JudgingNow<'static> = JudgingNow { unix_ms: None, nonce: Some(NONCE) };

    /// Each command has its fault and all later ones, so the earlier fault is the one that is told.
    #[test]
    fn each_refusal_comes_before_the_later_ones() {
        use CommandCode as C;
        let mut change = json!({ "counter": 9, "nonce": "old", "expires": "2026-11-30T10:30:00Z" });
        let mut judged = vec![];
        judged.push(said(&command("restart", json!({ "counter": 9 })), 1, None, FINE));
        judged.push(said(&command("sale", json!({ "counter": 9, "nonce": "old" })), 0, None, FINE));
        judged.push(said(&command("sale", change.clone()), 0, None, FINE));
        change["expires"] = "2026-11-30T09:59:59Z".into();
        judged.push(said(&command("sale", change.clone()), 0, None, FINE));
        change["v"] = 2.into();
        judged.push(said(&command("sale", change.clone()), 0, None, FINE));
        judged.push(said(&command("shell", change.clone()), 2, None, FINE));
        judged.push(said(&command("sale", change.clone()), 1, None, FINE));
        judged.push(said(&command("sale", change.clone()), 1, Some(known("bb")), FINE));
        judged.push(said(&command("sale", change.clone()), 1, Some(known(&"aa".repeat(32))), FINE));
        change["terminal"] = "other".into();
        judged.push(said(&command("sale", change), 1, Some(known("bb")), FINE));
        judged.push(said(&command("sale", json!({ "org": "other" })), 0, None, FINE));
        assert_eq!(
            judged,
            [
                C::UsedCounter,
                C::StaleConnection,
                C::ExpiresTooLate,
                C::Expired,
                C::Unsupported,
                C::Unsupported,
                C::KeyNotAllowed,
                C::IdTaken,
                C::Running,
                C::WrongTerminal,
                C::WrongTerminal,
            ]
        );
    }

    #[test]
    fn only_the_kind_of_key_signs_its_kinds() {
        for kind in CommandKind::ALL {
            for (by, key) in keys().all().iter().enumerate() {
                let said = said(&command(kind.word(), json!({ "counter": 10 })), by, None, FINE);
                let expected = if key.kind == kind.key() { CommandCode::Done } else { CommandCode::KeyNotAllowed };
                assert_eq!(said, expected, "{kind} by {}", key.name);
            }
        }
    }

    #[test]
    fn money_needs_clock_and_nonce_and_the_rest_one_of_them() {
        use CommandCode as C;
        for kind in CommandKind::ALL {
            let by = if kind.is_about_money() { 0 } else { 1 };
            let judged = |change: Value, now| {
                let mut change = change;
                change["counter"] = 10.into();
                said(&command(kind.word(), change), by, None, now)
            };
            let (money, old) = (kind.is_about_money(), json!({ "nonce": "old" }));
            let not_begun = JudgingNow { nonce: None, ..FINE };
            assert_eq!(judged(json!({}), NO_CLOCK), if money { C::ClockUnknown } else { C::Done }, "{kind}");
            assert_eq!(judged(old.clone(), NO_CLOCK), C::ClockUnknown, "{kind}");
            assert_eq!(judged(old, FINE), if money { C::StaleConnection } else { C::Done }, "{kind}");
            assert_eq!(judged(json!({ "nonce": null }), not_begun), if money { C::StaleConnection } else { C::Done });
            assert_eq!(judged(json!({ "nonce": null }), JudgingNow { unix_ms: None, nonce: None }), C::ClockUnknown);
            assert_eq!(judged(json!({ "expires": "tomorrow" }), FINE), C::Malformed, "{kind}");
            assert_eq!(judged(json!({ "expires": "2026-11-30T10:00:00Z" }), FINE), C::Expired, "{kind}");
            let limit = NOW / 1000 + i64::try_from(kind.longest_s()).unwrap();
            let at = |unix_s: i64| DateTime::from_timestamp(unix_s, 0).unwrap().to_rfc3339();
            assert_eq!(judged(json!({ "expires": at(limit) }), FINE), C::Done, "{kind}");
            assert_eq!(judged(json!({ "expires": at(limit + 1) }), FINE), C::ExpiresTooLate, "{kind}");
        }
    }
}
