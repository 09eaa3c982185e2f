//! The overlay on real files, with the agent's loop left out: time and devices are facts of the test.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use pos_fleet_terms::{
    CommandKey, DocumentKind, DocumentSignature, Envelope, KeyKind, KeysDocument, Reported, SETTINGS, SettingsDocument,
    SettingsState, write,
};
use pos_journal::{FleetChange, FleetStep};
use proptest::prelude::*;
use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::config;

mod keys;
mod settings;

/// The keys of the tests by their seeds: two config keys and a third that no file names, a desk key, a till key.
const CONFIG_A: u8 = 1;
const CONFIG_B: u8 = 2;
const CONFIG_C: u8 = 3;
const DESK: u8 = 4;
const WEB: u8 = 5;
const STRANGER: u8 = 9;

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

fn public(seed: u8) -> String {
    hex::encode(pair(seed).public_key())
}

/// Signs a document with these keys.
fn signed(kind: DocumentKind, document: Vec<u8>, by: &[u8]) -> Vec<u8> {
    let bytes = kind.signed_bytes(&document);
    let signature = |seed: &u8| DocumentSignature {
        key: hex::encode(digest(&SHA256, pair(*seed).public_key().as_ref())),
        bytes: pair(*seed).sign(&bytes).as_ref().to_vec(),
    };
    Envelope { kind, document, signatures: by.iter().map(signature).collect() }.write()
}

fn document(version: u64, settings: Value) -> SettingsDocument {
    SettingsDocument {
        v: 1,
        org: "corner-shops".parse().unwrap(),
        terminal: "shop-17-1".parse().unwrap(),
        version,
        settings: settings.as_object().unwrap().clone().into_iter().collect(),
        over_local: Vec::new(),
        author: "ann".to_owned(),
    }
}

/// Signed settings of this version.
fn settings(version: u64, settings: Value) -> Vec<u8> {
    signed(DocumentKind::Settings, write(&document(version, settings)).unwrap(), &[CONFIG_A])
}

fn key(name: &str, kind: KeyKind, seed: u8) -> CommandKey {
    CommandKey {
        name: name.to_owned(),
        kind,
        public: public(seed),
        till: (kind == KeyKind::Till).then(|| "web".into()),
    }
}

/// The keys of the terminal's own configuration.
fn own_keys() -> Vec<CommandKey> {
    vec![
        key("config a", KeyKind::Config, CONFIG_A),
        key("config b", KeyKind::Config, CONFIG_B),
        key("desk", KeyKind::Desk, DESK),
        key("web", KeyKind::Till, WEB),
    ]
}

fn keys_document(version: u64, keys: Vec<CommandKey>) -> KeysDocument {
    KeysDocument {
        v: 1,
        org: "corner-shops".parse().unwrap(),
        terminal: "shop-17-1".parse().unwrap(),
        version,
        keys,
        author: "ben".to_owned(),
    }
}

fn keys(version: u64, keys: Vec<CommandKey>, by: &[u8]) -> Vec<u8> {
    signed(DocumentKind::Keys, write(&keys_document(version, keys)).unwrap(), by)
}

/// A board: its files, and the marks of its journal. A start makes a process of it.
struct Board {
    folder: TempDir,
    marks: Vec<FleetChange>,
}

impl Board {
    fn new() -> Self {
        let board = Self { folder: tempfile::tempdir().unwrap(), marks: Vec::new() };
        let path = |name: &str| board.folder.path().join(name).display().to_string();
        fs::write(path("token"), "token-of-the-gateway").unwrap();
        fs::set_permissions(path("token"), fs::Permissions::from_mode(0o600)).unwrap();
        let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = authority.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap();
        fs::write(path("ca.pem"), authority.pem()).unwrap();
        let mut text = format!(
            "[terminal]\nid = \"12345678\"\nmerchant = [\"Corner Shop\"]\ncurrency = \"EUR\"\ncard-timeout-s = 60\n\
             [reader]\nprotocol = \"miura-mpi\"\nport = \"/dev/ttyACM0\"\nbaud = 115200\n\
             [gateway]\nurl = \"https://gateway.example/\"\nentity-id = \"8ac7a4c779e44f7d0179e45e4b7f0c3c\"\n\
             token-file = \"{}\"\nca-file = \"{}\"\n[journal]\npath = \"{}\"\n\
             [fleet]\norg = \"corner-shops\"\nterminal = \"shop-17-1\"\n",
            path("token"),
            path("ca.pem"),
            path("journal.db"),
        );
        for key in own_keys() {
            text += &format!(
                "[[fleet.key]]\nname = \"{}\"\nkind = \"{}\"\npublic = \"{}\"\n",
                key.name,
                key.kind.word(),
                key.public
            );
            text += &key.till.map_or_else(String::new, |till| format!("till = \"{till}\"\n"));
        }
        fs::write(board.config(), text).unwrap();
        board
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("fleet").join(name)
    }

    /// Edits the file as a technician does.
    fn edit(&self, what: &str, with: &str) {
        let text = fs::read_to_string(self.config()).unwrap();
        assert!(text.contains(what), "{what}");
        fs::write(self.config(), text.replace(what, with)).unwrap();
    }

    fn start(&self) -> Process {
        let Loaded { config, given } = begin(config::load_own(&self.config()).unwrap());
        let mut given = given.unwrap();
        given.journal_knows(self.marks.last());
        Process { config, given, now: Duration::ZERO }
    }
}

/// A running agent, as far as it is about the overlay.
struct Process {
    config: config::Config,
    given: FleetGiven,
    now: Duration,
}

/// A terminal that works, except for the acknowledgement.
fn well() -> TrialFacts {
    TrialFacts { may_begin: true, is_healthy: true, reader: true, gateway: true, ..TrialFacts::default() }
}

impl Process {
    /// Commits the changes that are due at this time, and returns what the agent does then.
    fn look(&mut self, board: &mut Board, facts: TrialFacts) -> ThenDo {
        while let Some(moved) = self.given.look(TrialFacts { now: self.now, ..facts }) {
            let then = self.commit(board, moved).unwrap();
            if then != ThenDo::Nothing {
                return then;
            }
        }
        ThenDo::Nothing
    }

    fn commit(&mut self, board: &mut Board, moved: SettingsMove) -> Result<ThenDo, CommitError> {
        let marks = &mut board.marks;
        self.given.commit(moved, self.now, |change| {
            marks.push(change.clone());
            Ok(("journal".to_owned(), i64::try_from(marks.len()).unwrap()))
        })
    }

    fn comes(&mut self, board: &mut Board, bytes: &[u8]) -> Reported {
        if let Some(moved) = self.given.settings_came(bytes).unwrap() {
            self.commit(board, moved).unwrap();
        }
        self.report()
    }

    fn keys_come(&mut self, board: &mut Board, bytes: &[u8]) -> Reported {
        let marks = &mut board.marks;
        let taken = self.given.keys_came(bytes, |change| {
            marks.push(change.clone());
            Ok(())
        });
        taken.unwrap().unwrap();
        self.report()
    }

    fn report(&self) -> Reported {
        self.given.report("2026-11-30T10:00:00Z".to_owned())
    }

    fn baud(&self) -> u32 {
        self.config.reader.baud.unwrap()
    }

    fn state(&self) -> (SettingsState, u64) {
        let report = self.report();
        (report.state, report.version)
    }
}

impl Board {
    fn steps(&self) -> Vec<(FleetStep, u64)> {
        self.marks.iter().map(|mark| (mark.step, mark.version)).collect()
    }
}
