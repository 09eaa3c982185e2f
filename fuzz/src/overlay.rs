//! Checks any bytes as a file of the overlay, and as settings and keys that the right keys have signed. A start never
//! fails because of the overlay's files, and uses the terminal's own settings unless a config key signed others. Only
//! settings of the list are taken. A change of the keys leaves the two config keys that signed it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use pos_agent::config::{self, Config, OwnConfig};
use pos_agent::overlay::{self, FleetGiven, Loaded};
use pos_fleet_terms::{DocumentKind, DocumentSignature, Envelope, SETTINGS, SettingsDocument, read};
use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair};

/// Two config keys.
static PAIRS: LazyLock<Vec<Ed25519KeyPair>> = LazyLock::new(|| {
    let pair = |seed| Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("a seed has 32 bytes");
    (1..=2).map(pair).collect()
});

/// The terminal's own file. The files that it names do not exist, which is no fault of the fleet's settings.
static TEXT: LazyLock<String> = LazyLock::new(|| {
    let key = |(pair, name): (&Ed25519KeyPair, &str)| {
        let public = hex::encode(pair.public_key());
        format!("[[fleet.key]]\nname = \"{name}\"\nkind = \"config\"\npublic = \"{public}\"\n")
    };
    let keys: String = PAIRS.iter().zip(["a", "b"]).map(key).collect();
    format!(
        "[terminal]\nid = \"1\"\nmerchant = [\"Shop\"]\ncurrency = \"EUR\"\n[reader]\nprotocol = \"miura-mpi\"\n\
         port = \"/dev/null\"\n[gateway]\nurl = \"https://gateway.test\"\nentity-id = \"{}\"\ntoken-file = \"/-\"\n\
         ca-file = \"/-\"\n[fleet]\norg = \"o\"\nterminal = \"t\"\n{keys}",
        "0".repeat(32)
    )
});

fn started(folder: &Path) -> (Config, FleetGiven) {
    let mut config = config::parse(&TEXT, Path::new("config.toml")).expect("the text is a configuration");
    config.journal.path = folder.join("journal.db");
    let Loaded { config, given } = overlay::begin(OwnConfig { config, text: TEXT.clone() });
    (config, given.expect("the terminal belongs to a fleet"))
}

fn signed(kind: DocumentKind, document: &[u8]) -> Vec<u8> {
    let bytes = kind.signed_bytes(document);
    let signature = |pair: &Ed25519KeyPair| DocumentSignature {
        key: hex::encode(digest(&SHA256, pair.public_key().as_ref())),
        bytes: pair.sign(&bytes).as_ref().to_vec(),
    };
    Envelope { kind, document: document.to_vec(), signatures: PAIRS.iter().map(signature).collect() }.write()
}

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_, mut given) = started(folder.path());
    if let Ok(Some(_)) = given.settings_came(&signed(DocumentKind::Settings, bytes)) {
        let document: SettingsDocument = read(bytes).expect("it was read");
        assert_eq!((document.org.as_str(), document.terminal.as_str()), ("o", "t"));
    }
    let keys = signed(DocumentKind::Keys, bytes);
    if let Ok(Ok(true)) = given.keys_came(&keys, |_| Ok(())) {
        for pair in PAIRS.iter() {
            let stays = |key: &pos_agent::fleet::CommandSigner| key.bytes() == pair.public_key().as_ref();
            assert!(given.keys().all().iter().any(stays), "who signs a change is not removed by it");
        }
        let (_, again) = started(folder.path());
        assert_eq!(again.keys(), given.keys(), "a start finds the same keys");
    }
    // The same bytes as a file, with and without the right sum.
    let summed = [hex::encode(digest(&SHA256, bytes)).as_bytes(), b"\n", bytes].concat();
    for file in ["settings", "keys"] {
        for content in [bytes, &summed] {
            fs::create_dir_all(folder.path().join("fleet")).expect("a folder");
            fs::write(folder.path().join("fleet").join(file), content).expect("a file");
            let (config, given) = started(folder.path());
            assert!(given.in_use().keys().all(|name| SETTINGS.contains(&name.as_str())));
            assert!(given.version() == 0 && config.terminal.language == "en", "nothing in the seeds is signed");
        }
    }
}
