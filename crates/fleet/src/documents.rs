//! Gives settings and command keys to terminals.
//!
//! A document is whole and has a version that rises. It is signed here, with keys from outside the database, and stored
//! as it is offered. `pos-fleet desk` gives each terminal its greatest version.

use std::collections::BTreeMap;

use pos_fleet_terms::{
    CommandKey, DOCUMENT_VERSION, DocumentKind, Envelope, Id, KeyKind, KeysDocument, LARGEST, MOST_KEYS, MessageError,
    SETTINGS, SettingsDocument, write,
};
use serde::Deserialize;
use serde_json::Value;
use tokio_postgres::{Client, Transaction};

use crate::signing::SigningKey;

/// The channel on which the database says that a terminal has new settings or keys.
pub const SETTINGS_CHANNEL: &str = "settings";
/// The number of keys that sign a change of the command keys.
pub const KEYS_SIGNERS: usize = 2;

/// Settings to give, all of them: a setting that is absent is the terminal's own again.
#[derive(Clone, Debug)]
pub struct NewSettings {
    /// The organisation.
    pub org: Id,
    /// The terminal.
    pub terminal: Id,
    /// The settings by their names.
    pub settings: BTreeMap<String, Value>,
    /// The settings that replace a local edit.
    pub over_local: Vec<String>,
    /// The person who gives them.
    pub author: String,
}

/// Command keys to give, all of them.
#[derive(Clone, Debug)]
pub struct NewKeys {
    /// The organisation.
    pub org: Id,
    /// The terminal.
    pub terminal: Id,
    /// The keys.
    pub keys: Vec<CommandKey>,
    /// The person who gives them.
    pub author: String,
}

/// The reason why a document was not given. Nothing is stored then.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The database does not know the terminal.
    #[error("the database has no terminal {0}")]
    NoTerminal(Id),
    /// A key of another kind.
    #[error("a {} key does not sign settings or keys: it needs a config key", .0.word())]
    Key(KeyKind),
    /// Another number of keys.
    #[error("{KEYS_SIGNERS} different config keys sign a change of the command keys")]
    Signers,
    /// A signing key that the document would change.
    #[error("the document must name the key {0:?} that signs it: two config keys sign it that it does not change")]
    Signer(String),
    /// A setting that no fleet may give.
    #[error("{0} is not among the settings that a fleet may give: {list}", list = SETTINGS.join(", "))]
    Setting(String),
    /// A key that is none, or the same key twice.
    #[error("the key {0:?} is not 64 hexadecimal digits, or it is there twice")]
    Public(String),
    /// A text is too long, or there are too many of them.
    #[error("the document cannot be written: {0}")]
    Message(#[from] MessageError),
    /// The document is too long.
    #[error("the document is too long: {0} bytes, at most {LARGEST}")]
    TooLong(usize),
    /// The database.
    #[error("the database: {0}")]
    Database(#[from] tokio_postgres::Error),
}

/// Signs settings, stores them, and tells the desk. Returns their version.
///
/// # Errors
/// Fails if a terminal would refuse them in any case, or if the database refuses. Nothing is stored then.
pub async fn give_settings(client: &mut Client, key: &SigningKey, new: NewSettings) -> Result<u64, DocumentError> {
    let change = client.transaction().await?;
    let version = give_settings_within(&change, key, new).await?;
    change.commit().await?;
    Ok(version)
}

/// The same within a transaction of the caller. The desk hears of the settings after the commit.
///
/// # Errors
/// Fails if a terminal would refuse them in any case, or if the database refuses.
pub async fn give_settings_within(
    change: &Transaction<'_>,
    key: &SigningKey,
    new: NewSettings,
) -> Result<u64, DocumentError> {
    let (terminal, author) = (new.terminal.clone(), new.author.clone());
    let (version, envelope) = sign_settings_within(change, key, new).await?;
    store(change, Kind::Settings, &terminal, version, &envelope, &author).await
}

/// Signs settings with the terminal's next version, and stores nothing. Returns the version and the envelope.
///
/// # Errors
/// Fails if a terminal would refuse them in any case, or if the database refuses.
pub(crate) async fn sign_settings_within(
    change: &Transaction<'_>,
    key: &SigningKey,
    new: NewSettings,
) -> Result<(i64, Vec<u8>), DocumentError> {
    let NewSettings { org, terminal, settings, over_local, author } = new;
    if key.kind() != KeyKind::Config {
        return Err(DocumentError::Key(key.kind()));
    }
    let unknown = settings.keys().chain(&over_local).find(|name| !SETTINGS.contains(&name.as_str()));
    if let Some(unknown) = unknown {
        return Err(DocumentError::Setting(unknown.clone()));
    }
    let version = next(change, Kind::Settings, &terminal).await?;
    let document = write(&SettingsDocument {
        v: DOCUMENT_VERSION,
        org,
        terminal: terminal.clone(),
        version: version.unsigned_abs(),
        settings,
        over_local,
        author,
    })?;
    Ok((version, checked(&key.sign(DocumentKind::Settings, document))?))
}

/// Writes an envelope that fits into a message.
fn checked(envelope: &Envelope) -> Result<Vec<u8>, DocumentError> {
    let envelope = envelope.write();
    match envelope.len() > LARGEST {
        true => Err(DocumentError::TooLong(envelope.len())),
        false => Ok(envelope),
    }
}

/// Signs command keys with two config keys, stores them, and tells the desk. Returns their version.
///
/// # Errors
/// Fails if a terminal would refuse them in any case, or if the database refuses. Nothing is stored then.
pub async fn give_keys(client: &mut Client, signers: &[SigningKey], new: NewKeys) -> Result<u64, DocumentError> {
    let NewKeys { org, terminal, keys, author } = new;
    check(signers, &keys)?;
    let change = client.transaction().await?;
    let version = next(&change, Kind::Keys, &terminal).await?;
    let document = write(&KeysDocument {
        v: DOCUMENT_VERSION,
        org,
        terminal: terminal.clone(),
        version: version.unsigned_abs(),
        keys,
        author: author.clone(),
    })?;
    let mut envelope = Envelope { kind: DocumentKind::Keys, document, signatures: Vec::new() };
    signers.iter().for_each(|signer| signer.add_to(&mut envelope));
    let version = store(&change, Kind::Keys, &terminal, version, &checked(&envelope)?, &author).await?;
    change.commit().await?;
    Ok(version)
}

/// Checks what each terminal checks, so that a mistake shows here and not at a thousand terminals.
fn check(signers: &[SigningKey], keys: &[CommandKey]) -> Result<(), DocumentError> {
    if let Some(other) = signers.iter().find(|signer| signer.kind() != KeyKind::Config) {
        return Err(DocumentError::Key(other.kind()));
    }
    // Keys are counted by their bytes: two names of one key are one key.
    let is_pair = |signers: &[SigningKey]| signers[0].public() != signers[1].public();
    if signers.len() != KEYS_SIGNERS || !is_pair(signers) {
        return Err(DocumentError::Signers);
    }
    if keys.len() > MOST_KEYS {
        return Err(MessageError::TooMany { field: "keys", most: MOST_KEYS }.into());
    }
    for (at, key) in keys.iter().enumerate() {
        let is_key = hex::decode(&key.public).is_ok_and(|bytes| bytes.len() == 32);
        if !is_key || keys[..at].iter().any(|other| other.public.eq_ignore_ascii_case(&key.public)) {
            return Err(DocumentError::Public(key.name.clone()));
        }
    }
    for signer in signers {
        let public = hex::encode(signer.public());
        if !keys.iter().any(|key| key.kind == KeyKind::Config && key.public.eq_ignore_ascii_case(&public)) {
            return Err(DocumentError::Signer(signer.name().to_owned()));
        }
    }
    Ok(())
}

/// Reads settings in the form of a terminal's configuration: `[terminal]`, `footer = …` is `terminal.footer`.
///
/// # Errors
/// Fails if the text is not TOML, or if a value stands outside of a section.
pub fn settings_of(text: &str) -> Result<BTreeMap<String, Value>, String> {
    let sections: BTreeMap<String, Value> = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut settings = BTreeMap::new();
    for (section, values) in sections {
        let Value::Object(values) = values else { return Err(format!("{section} stands outside of a section")) };
        settings.extend(values.into_iter().map(|(name, value)| (format!("{section}.{name}"), value)));
    }
    Ok(settings)
}

/// Reads command keys in the form of a terminal's configuration: `[[fleet.key]]`, each with name, kind and public key.
///
/// # Errors
/// Fails if the text has another form.
pub fn keys_of(text: &str) -> Result<Vec<CommandKey>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Text {
        fleet: Keys,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Keys {
        key: Vec<CommandKey>,
    }
    Ok(toml::from_str::<Text>(text).map_err(|error| error.to_string())?.fleet.key)
}

/// What a document is about.
#[derive(Clone, Copy)]
enum Kind {
    Settings,
    Keys,
}

/// Returns the next version for a terminal. After a restored backup, the terminal knows greater versions than the
/// database.
async fn next(change: &Transaction<'_>, kind: Kind, terminal: &Id) -> Result<i64, DocumentError> {
    let (table, waiting, reported) = match kind {
        // The documents of a roll-out wait for their wave, and have their versions already.
        Kind::Settings => (
            "settings",
            "select max(version) from rollout_document where terminal = $1",
            "greatest((report ->> 'tried')::numeric, (report ->> 'version')::numeric)",
        ),
        Kind::Keys => ("keys_document", "select 0", "(report ->> 'keysVersion')::numeric"),
    };
    let name = terminal.as_str();
    // One lock for all terminals, because a roll-out gives documents to thousands, and the database bounds the locks.
    change.execute("select pg_advisory_xact_lock(hashtextextended($1, 0))", &[&table]).await?;
    if change.query_opt("select from terminal where terminal = $1", &[&name]).await?.is_none() {
        return Err(DocumentError::NoTerminal(terminal.clone()));
    }
    let select = format!(
        "select greatest(
            coalesce((select max(version) from {table} where terminal = $1), 0),
            coalesce(({waiting}), 0),
            coalesce((select least(coalesce({reported}, 0), $2::bigint)::bigint from reported where terminal = $1), 0))"
    );
    // A terminal can say any number.
    let most = i64::MAX - 1;
    let version: i64 = change.query_one(&select, &[&name, &most]).await?.get(0);
    Ok(version.saturating_add(1))
}

async fn store(
    change: &Transaction<'_>,
    kind: Kind,
    terminal: &Id,
    version: i64,
    envelope: &[u8],
    author: &str,
) -> Result<u64, DocumentError> {
    let insert = match kind {
        Kind::Settings => "insert into settings (terminal, version, envelope, author) values ($1, $2, $3, $4)",
        Kind::Keys => "insert into keys_document (terminal, version, envelope, author) values ($1, $2, $3, $4)",
    };
    let name = terminal.as_str();
    change.execute(insert, &[&name, &version, &envelope, &author]).await?;
    change.execute("select pg_notify($1, $2)", &[&SETTINGS_CHANNEL, &name]).await?;
    Ok(version.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_and_keys_are_written_as_in_a_terminals_configuration() {
        let settings =
            settings_of("[terminal]\nfooter = [\"Thank you\"]\ncard-timeout-s = 60\n[reader]\nbaud = 9600\n");
        let expected = [
            ("reader.baud", json!(9600)),
            ("terminal.card-timeout-s", json!(60)),
            ("terminal.footer", json!(["Thank you"])),
        ];
        assert_eq!(settings, Ok(expected.map(|(name, value)| (name.to_owned(), value)).into()));
        assert!(settings_of("footer = 1").unwrap_err().contains("outside of a section"));
        let text =
            format!("[[fleet.key]]\nname = \"a\"\nkind = \"till\"\npublic = \"{}\"\ntill = \"web\"\n", "ab".repeat(32));
        let key = &keys_of(&text).unwrap()[0];
        assert_eq!((key.name.as_str(), key.kind, key.till.as_deref()), ("a", KeyKind::Till, Some("web")));
        // A fleet gives no rights.
        assert!(keys_of(&(text + "rights = [\"sale\"]\n")).unwrap_err().contains("unknown field `rights`"));
    }

    #[test]
    fn keys_that_every_terminal_would_refuse_are_refused_here() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, kind| SigningKey::generate(&folder.path().join(name), kind, name).unwrap();
        let again = |name: &str| SigningKey::load(&folder.path().join(name)).unwrap();
        let (a, b, desk) = (make("a", KeyKind::Config), make("b", KeyKind::Config), make("desk", KeyKind::Desk));
        let [for_a, for_b, for_desk] = [&a, &b, &desk].map(|key| key.for_terminals(None));
        let all = [for_a.clone(), for_b.clone(), for_desk];
        let said = |signers: &[SigningKey], keys: &[CommandKey]| check(signers, keys).map_err(|it| it.to_string());
        let both = [a, b];
        assert_eq!(said(&both, &all), Ok(()));
        assert_eq!(said(&both, &[for_a.clone(), for_b.clone()]), Ok(()));
        for (signers, keys, why) in [
            (&both[..1], &all[..], "2 different config keys"),
            (&[again("a"), again("a")], &all, "2 different config keys"),
            (&[again("a"), desk], &all, "a desk key does not sign"),
            (&both, &all[1..], "must name the key \"a\""),
            (&both, &[for_a.clone(), for_b.clone(), for_b.clone()], "it is there twice"),
            (&both, &[for_a, CommandKey { public: "00".to_owned(), ..for_b }], "64 hexadecimal digits"),
        ] {
            let said = said(signers, keys).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
