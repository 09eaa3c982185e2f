//! Documents that a fleet signs, with the keys of one terminal: two config keys, a desk key and a till key.

use pos_fleet_terms::{
    CommandKey, DocumentKind, DocumentSignature, Envelope, KeyKind, KeysDocument, SettingsDocument, write,
};
use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::Value;

/// The seeds of the keys.
pub const CONFIG_A: u8 = 1;
pub const CONFIG_B: u8 = 2;
pub const DESK: u8 = 4;
pub const WEB: u8 = 5;

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

/// Returns the public bytes of a key in hexadecimal.
pub fn public(seed: u8) -> String {
    hex::encode(pair(seed).public_key())
}

/// Signs a document with these keys.
pub fn signed(kind: DocumentKind, document: Vec<u8>, by: &[u8]) -> Vec<u8> {
    let bytes = kind.signed_bytes(&document);
    let signature = |seed: &u8| DocumentSignature {
        key: hex::encode(digest(&SHA256, pair(*seed).public_key().as_ref())),
        bytes: pair(*seed).sign(&bytes).as_ref().to_vec(),
    };
    Envelope { kind, document, signatures: by.iter().map(signature).collect() }.write()
}

/// Returns the keys of the terminal's own configuration.
pub fn own_keys() -> Vec<CommandKey> {
    let key = |name: &str, kind, seed, till: Option<&str>| CommandKey {
        name: name.to_owned(),
        kind,
        public: public(seed),
        till: till.map(str::to_owned),
    };
    vec![
        key("config a", KeyKind::Config, CONFIG_A, None),
        key("config b", KeyKind::Config, CONFIG_B, None),
        key("desk", KeyKind::Desk, DESK, None),
        key("web", KeyKind::Till, WEB, Some("web")),
    ]
}

/// Returns the section `[fleet]` of the terminal's configuration.
pub fn section() -> String {
    let mut text = "[fleet]\norg = \"corner-shops\"\nterminal = \"shop-17-1\"\n".to_owned();
    for CommandKey { name, kind, public, till } in own_keys() {
        let kind = kind.word();
        text += &format!("[[fleet.key]]\nname = \"{name}\"\nkind = \"{kind}\"\npublic = \"{public}\"\n");
        text += &till.map_or_else(String::new, |till| format!("till = \"{till}\"\n"));
    }
    text
}

/// Returns settings of this version, signed by a config key.
pub fn settings(version: u64, settings: Value) -> Vec<u8> {
    let document = SettingsDocument {
        v: 1,
        org: "corner-shops".parse().unwrap(),
        terminal: "shop-17-1".parse().unwrap(),
        version,
        settings: settings.as_object().unwrap().clone().into_iter().collect(),
        over_local: Vec::new(),
        author: "ann".to_owned(),
    };
    signed(DocumentKind::Settings, write(&document).unwrap(), &[CONFIG_A])
}

/// Returns keys of this version, signed by these keys.
pub fn keys(version: u64, keys: Vec<CommandKey>, by: &[u8]) -> Vec<u8> {
    let document = KeysDocument {
        v: 1,
        org: "corner-shops".parse().unwrap(),
        terminal: "shop-17-1".parse().unwrap(),
        version,
        keys,
        author: "ben".to_owned(),
    };
    signed(DocumentKind::Keys, write(&document).unwrap(), by)
}
