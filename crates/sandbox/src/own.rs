//! The check that a configuration belongs to a sandbox. The agent in this program must reach no real reader and no
//! real gateway, so that it is never taken for a terminal.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::Table;

/// The file that marks a sandbox's folder.
pub(crate) const MARK: &str = "pos-sandbox.json";

/// The program that reads the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// The agent.
    Agent,
    /// The front.
    Front,
}

/// The reason why a configuration is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotOwn {
    /// No configuration is named.
    #[error("name the sandbox: --config FOLDER/config.toml for the agent, --config FOLDER/front.toml for the front")]
    Missing,
    /// The verb is not one of a sandbox.
    #[error("{0} is no verb of a sandbox; it has {1}")]
    Verb(String, String),
    /// The words hide an option.
    #[error("a sandbox's verb takes no --")]
    Dashes,
    /// The file is not in a folder that this program has made.
    #[error("{0} is not in the folder of a sandbox; a terminal is started by pos-agent, not by pos-sandbox")]
    Elsewhere(PathBuf),
    /// The file cannot be read.
    #[error("{0}: {1}")]
    Unreadable(PathBuf, String),
    /// A key names something outside the sandbox.
    #[error("{0} = {1:?} is not this sandbox's own; pos-sandbox accepts only its simulated reader and gateway")]
    Foreign(&'static str, String),
}

/// The verbs of the agent: those that run it, and those that speak to the running one. The others would open devices,
/// or write another terminal's files.
const OF_AGENT: [&str; 26] = [
    "run",
    "sale",
    "preauthorise",
    "credit",
    "capture",
    "refund",
    "reverse",
    "increment",
    "reauthorise",
    "registration",
    "show",
    "payment",
    "query",
    "status",
    "cancel",
    "signature",
    "confirm",
    "settle",
    "receipt",
    "totals",
    "close",
    "check",
    "doctor",
    "health",
    "log-level",
    "operator",
];
/// The same for the front.
const OF_FRONT: [&str; 7] = ["run", "check", "pair", "certificate", "status", "trace", "webhook"];
/// The words that need no configuration, if they stand alone or after a verb.
const TELLING: [&str; 4] = ["--help", "-h", "--version", "-V"];

/// Checks the verb, and the configuration that these words name. Help, the version and a new secret need none.
pub(crate) fn checked(words: &[OsString], program: Program) -> Result<(), NotOwn> {
    let verbs: &[&str] = match program {
        Program::Agent => &OF_AGENT,
        Program::Front => &OF_FRONT,
    };
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => return Err(NotOwn::Missing),
        ["webhook", "secret"] if program == Program::Front => return Ok(()),
        ["help", ..] => return Ok(()),
        [word] | [_, word] if TELLING.contains(word) => return Ok(()),
        // After this word, the program would not read `--config` as an option.
        words if words.contains(&"--") => return Err(NotOwn::Dashes),
        [verb, ..] if !verbs.contains(verb) => return Err(NotOwn::Verb((*verb).to_owned(), verbs.join(", "))),
        _ => {}
    }
    let named = configs(&words);
    if named.is_empty() {
        return Err(NotOwn::Missing);
    }
    named.iter().try_for_each(|config| check(config, program))
}

/// Returns every configuration that the words name.
fn configs(words: &[&str]) -> Vec<PathBuf> {
    let after = words.iter().zip(words.iter().skip(1)).filter(|(word, _)| **word == "--config").map(|(_, file)| *file);
    let joined = words.iter().filter_map(|word| word.strip_prefix("--config="));
    after.chain(joined).map(PathBuf::from).collect()
}

fn check(file: &Path, program: Program) -> Result<(), NotOwn> {
    let unreadable = |error: &dyn std::fmt::Display| NotOwn::Unreadable(file.to_owned(), error.to_string());
    let whole = file.canonicalize().map_err(|error| unreadable(&error))?;
    let folder = whole.parent().filter(|folder| folder.join(MARK).is_file());
    let folder = folder.ok_or_else(|| NotOwn::Elsewhere(file.to_owned()))?;
    let text = std::fs::read_to_string(&whole).map_err(|error| unreadable(&error))?;
    let table: Table = text.parse().map_err(|error| unreadable(&error))?;
    let inside: &[&'static str] = match program {
        Program::Agent => &["reader.port", "gateway.ca-file", "gateway.token-file", "journal.path"],
        Program::Front => &["agent", "state", "control"],
    };
    for key in inside {
        let value = value(&table, key);
        let path = Path::new(&value);
        // The reader's port is a link to a pty, so only the link's own place counts.
        let place = path.parent().and_then(|parent| parent.canonicalize().ok());
        if !place.is_some_and(|place| place.starts_with(folder)) {
            return Err(NotOwn::Foreign(key, value));
        }
    }
    // The link to the simulated reader leads to a pty. While the cable is out, it leads nowhere.
    let port = value(&table, "reader.port");
    if program == Program::Agent && Path::new(&port).canonicalize().is_ok_and(|end| !end.starts_with("/dev/pts")) {
        return Err(NotOwn::Foreign("reader.port", port));
    }
    // Only the sandbox knows the key of the gateway's CA, which lies in its folder.
    let url = value(&table, "gateway.url");
    if program == Program::Agent && !is_here(&url) {
        return Err(NotOwn::Foreign("gateway.url", url));
    }
    Ok(())
}

/// Returns the text of a key, or nothing.
fn value(table: &Table, key: &str) -> String {
    let mut at = Some(table);
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        let value = at.and_then(|table| table.get(part));
        if parts.peek().is_none() {
            return value.and_then(toml::Value::as_str).unwrap_or_default().to_owned();
        }
        at = value.and_then(toml::Value::as_table);
    }
    String::new()
}

/// Checks that an address is on this machine.
fn is_here(url: &str) -> bool {
    let host = url.strip_prefix("https://").and_then(|rest| rest.split(['/', '?', '#']).next());
    let host = host.and_then(|host| host.rsplit_once(':')).map(|(host, _)| host);
    matches!(host, Some("localhost" | "127.0.0.1"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn folder(config: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().canonicalize().unwrap().display().to_string();
        std::fs::write(folder.path().join("config.toml"), config.replace("OWN", &own)).unwrap();
        let file = folder.path().join("config.toml");
        (folder, file)
    }

    const GOOD: &str = "[reader]\nport = \"OWN/reader\"\n[gateway]\nurl = \"https://localhost:1/\"\n\
                        ca-file = \"OWN/ca.pem\"\ntoken-file = \"OWN/t\"\n[journal]\npath = \"OWN/journal.db\"\n";

    #[test]
    fn only_a_configuration_whose_devices_are_simulated_is_accepted() {
        let agent = |config: &str, marked: bool| {
            let (folder, file) = folder(config);
            if marked {
                std::fs::write(folder.path().join(MARK), "{}").unwrap();
            }
            checked(&["run".into(), "--config".into(), file.into()], Program::Agent)
        };
        agent(GOOD, true).unwrap();
        assert!(matches!(agent(GOOD, false), Err(NotOwn::Elsewhere(_))));
        for (good, bad, key) in [
            ("OWN/reader", "/dev/ttyACM0", "reader.port"),
            ("OWN/reader", "OWN/../reader", "reader.port"),
            ("OWN/reader", "tcp://10.0.0.1:1", "reader.port"),
            ("https://localhost:1/", "https://bank.example:443/", "gateway.url"),
            ("https://localhost:1/", "https://localhost.bank.example:1/", "gateway.url"),
            ("https://localhost:1/", "https://localhost:1@bank.example:1/", "gateway.url"),
            ("OWN/ca.pem", "/etc/ssl/certs/ca.pem", "gateway.ca-file"),
        ] {
            match agent(&GOOD.replace(good, bad), true) {
                Err(NotOwn::Foreign(found, _)) => assert_eq!(found, key),
                other => panic!("{bad}: {other:?}"),
            }
        }
    }

    #[test]
    fn every_named_configuration_is_checked_and_one_must_be_named() {
        let words = |words: &[&str]| checked(&words.iter().map(OsString::from).collect::<Vec<_>>(), Program::Agent);
        assert!(matches!(words(&["sale", "1.00"]), Err(NotOwn::Missing)));
        assert!(matches!(words(&["status", "--config=/nowhere/config.toml"]), Err(NotOwn::Unreadable(..))));
        let (folder, file) = folder(GOOD);
        std::fs::write(folder.path().join(MARK), "{}").unwrap();
        let own = file.display().to_string();
        assert!(matches!(words(&["run", "--config", &own, "--config=/etc/passwd"]), Err(NotOwn::Elsewhere(_))));
        for telling in [&["--help"][..], &["sale", "--help"], &["help", "sale"], &["help"], &["-V"]] {
            words(telling).unwrap();
        }
        // A word for help that is a value, and a configuration behind dashes, which the program would not read.
        for hidden in [&["sale", "1.00", "--reference", "help"][..], &["query", "a=help", "-h"]] {
            assert!(matches!(words(hidden), Err(NotOwn::Missing)), "{hidden:?}");
        }
        assert!(matches!(words(&["query", "--", "--config", &own]), Err(NotOwn::Dashes)));
        for verb in ["reader", "setup", "first-boot", "journal", "reconcile"] {
            assert!(matches!(words(&[verb, "x", "--config", &own]), Err(NotOwn::Verb(..))), "{verb}");
        }
        words(&["run", "--config", &own]).unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("reader")).unwrap();
        assert!(matches!(words(&["run", "--config", &own]), Err(NotOwn::Foreign("reader.port", _))));
    }
}
