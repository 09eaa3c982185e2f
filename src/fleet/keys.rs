//! The keys that may sign commands, settings and keys, and the check of signatures.
//!
//! A key is known by its bytes. Its id, the SHA-256 of the bytes, only finds it: an envelope names the id of each
//! signature, and the terminal computes the ids from its own bytes. Two signatures by one key count once.

use std::collections::BTreeSet;

use pos_fleet_terms::{CommandKey, Envelope, KeyKind};
use ring::digest::{SHA256, digest};
use ring::signature::{ED25519, UnparsedPublicKey};

use crate::config::{Fleet, FleetKey, Rights};

/// A key that may sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSigner {
    /// The name for people.
    pub name: String,
    /// The kind, which decides what the key may sign.
    pub kind: KeyKind,
    /// SHA-256 of the key's bytes, in hexadecimal.
    pub id: String,
    /// The till of a key of the kind [`KeyKind::Till`].
    pub till: Option<FleetTill>,
    bytes: [u8; 32],
}

/// The till of a key, with the rights that the terminal's own configuration gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetTill {
    /// The till's name.
    pub name: String,
    /// The rights.
    pub rights: Rights,
    /// True if an operator must be signed in when operators are required.
    pub operator: bool,
}

/// The reason why keys from the fleet cannot replace those in force.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysRefused {
    /// A key's bytes are not readable.
    #[error("the key {0:?} is not 64 hexadecimal digits")]
    Bytes(String),
    /// Two keys have the same bytes or the same name.
    #[error("two keys have the name or the bytes of {0:?}")]
    Twice(String),
    /// A till that the terminal's own configuration gives to no key.
    #[error("the key {0:?} is for a till that the terminal's own configuration does not name")]
    Till(String),
}

/// The set of keys in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetKeys(Vec<CommandSigner>);

impl FleetKeys {
    /// Returns the keys of the terminal's own configuration. A configuration without a fault has no unreadable key.
    #[must_use]
    pub fn own(fleet: &Fleet) -> Self {
        let signer = |key: &FleetKey| {
            let till = till_of(fleet, key.till.as_deref());
            Some(CommandSigner::new(key.name.clone(), key.kind, key.bytes()?, till))
        };
        Self(fleet.key.iter().filter_map(signer).collect())
    }

    /// Returns the keys that the fleet gives. A key of a till has the rights that the terminal's own configuration
    /// gives that till, so the fleet gives no rights and no tills.
    ///
    /// # Errors
    /// Fails if a key is unreadable, stands twice, or has a till that the configuration does not name.
    pub fn given(fleet: &Fleet, keys: &[CommandKey]) -> Result<Self, KeysRefused> {
        let (mut names, mut known) = (BTreeSet::new(), BTreeSet::new());
        let mut signers = Vec::with_capacity(keys.len());
        for key in keys {
            let mut bytes = [0; 32];
            let decoded = hex::decode_to_slice(&key.public, &mut bytes);
            decoded.map_err(|_| KeysRefused::Bytes(key.name.clone()))?;
            if !names.insert(&key.name) || !known.insert(bytes) {
                return Err(KeysRefused::Twice(key.name.clone()));
            }
            let till = till_of(fleet, key.till.as_deref());
            if till.is_some() != (key.kind == KeyKind::Till) || key.till.is_some() != till.is_some() {
                return Err(KeysRefused::Till(key.name.clone()));
            }
            signers.push(CommandSigner::new(key.name.clone(), key.kind, bytes, till));
        }
        Ok(Self(signers))
    }

    /// Returns a set of these keys.
    pub fn of(keys: impl IntoIterator<Item = CommandSigner>) -> Self {
        Self(keys.into_iter().collect())
    }

    /// Returns the keys.
    #[must_use]
    pub fn all(&self) -> &[CommandSigner] {
        &self.0
    }

    /// Returns the keys that have signed this document, each once.
    #[must_use]
    pub fn signers_of(&self, envelope: &Envelope) -> Vec<&CommandSigner> {
        let signed = envelope.signed_bytes();
        let has_signed = |key: &&CommandSigner| {
            let mut its = envelope.signatures.iter().filter(|signature| signature.key == key.id);
            its.any(|signature| UnparsedPublicKey::new(&ED25519, &key.bytes).verify(&signed, &signature.bytes).is_ok())
        };
        let mut signers: Vec<&CommandSigner> = self.0.iter().filter(has_signed).collect();
        let mut counted = BTreeSet::new();
        signers.retain(|signer| counted.insert(signer.bytes));
        signers
    }
}

impl CommandSigner {
    fn new(name: String, kind: KeyKind, bytes: [u8; 32], till: Option<FleetTill>) -> Self {
        Self { name, kind, id: hex::encode(digest(&SHA256, &bytes)), till, bytes }
    }

    /// Returns the key's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// Returns the key in the form of the fleet's documents.
    #[must_use]
    pub fn told(&self) -> CommandKey {
        CommandKey {
            name: self.name.clone(),
            kind: self.kind,
            public: hex::encode(self.bytes),
            till: self.till.as_ref().map(|till| till.name.clone()),
        }
    }
}

/// Returns the till with this name and its rights, from the terminal's own configuration.
fn till_of(fleet: &Fleet, till: Option<&str>) -> Option<FleetTill> {
    let key = fleet.key.iter().find(|key| key.kind == KeyKind::Till && key.till.as_deref() == till)?;
    let name = key.till.clone()?;
    Some(FleetTill { name, rights: key.rights.clone(), operator: key.operator })
}

#[cfg(test)]
mod tests {
    use pos_fleet_terms::{DocumentKind, DocumentSignature};
    use ring::signature::{Ed25519KeyPair, KeyPair};

    use super::*;
    use crate::config::Right;

    fn pair(seed: u8) -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
    }

    fn public(seed: u8) -> String {
        hex::encode(pair(seed).public_key())
    }

    fn fleet() -> Fleet {
        let key = |name: &str, kind: &str, seed: u8, more: &str| {
            format!("[[key]]\nname = \"{name}\"\nkind = \"{kind}\"\npublic = \"{}\"\n{more}\n", public(seed))
        };
        let text = "org = \"o\"\nterminal = \"t\"\n".to_owned()
            + &key("web", "till", 1, "till = \"web\"\nrights = [\"sale\", \"refund\"]")
            + &key("config a", "config", 2, "")
            + &key("config b", "config", 3, "");
        toml::from_str(&text).unwrap()
    }

    fn signed(by: &[(u8, Option<String>)]) -> Envelope {
        let document = b"{\"v\":1}".to_vec();
        let bytes = DocumentKind::Keys.signed_bytes(&document);
        let signature = |(seed, id): &(u8, Option<String>)| DocumentSignature {
            key: id.clone().unwrap_or_else(|| hex::encode(digest(&SHA256, pair(*seed).public_key().as_ref()))),
            bytes: pair(*seed).sign(&bytes).as_ref().to_vec(),
        };
        Envelope { kind: DocumentKind::Keys, document, signatures: by.iter().map(signature).collect() }
    }

    fn names(keys: &FleetKeys, envelope: &Envelope) -> Vec<String> {
        keys.signers_of(envelope).into_iter().map(|signer| signer.name.clone()).collect()
    }

    #[test]
    fn who_has_signed_is_counted_once_and_by_its_bytes() {
        let keys = FleetKeys::own(&fleet());
        assert_eq!(names(&keys, &signed(&[(2, None), (3, None)])), ["config a", "config b"]);
        assert_eq!(names(&keys, &signed(&[(2, None), (2, None)])), ["config a"], "one key, twice");
        assert!(names(&keys, &signed(&[(9, None)])).is_empty(), "an unknown key");
        let id_of_b = keys.all()[2].id.clone();
        assert_eq!(names(&keys, &signed(&[(2, None), (2, Some(id_of_b.clone()))])), ["config a"], "the id of another");
        assert!(names(&keys, &signed(&[(9, Some(id_of_b))])).is_empty());
        // A set that would have one key twice, under two names, still counts it once.
        let mut doubled = keys;
        let copy = CommandSigner { name: "config c".to_owned(), ..doubled.0[1].clone() };
        doubled.0.push(copy);
        assert_eq!(names(&doubled, &signed(&[(2, None), (2, None)])), ["config a"]);
    }

    #[test]
    fn a_signature_covers_kind_and_each_byte() {
        let keys = FleetKeys::own(&fleet());
        let good = signed(&[(2, None)]);
        assert_eq!(names(&keys, &good), ["config a"]);
        assert!(names(&keys, &Envelope { kind: DocumentKind::Settings, ..good.clone() }).is_empty());
        assert!(names(&keys, &Envelope { document: b"{\"v\":2}".to_vec(), ..good.clone() }).is_empty());
        let mut other = good;
        other.signatures[0].bytes[0] ^= 1;
        assert!(names(&keys, &other).is_empty());
        other.signatures[0].bytes.pop();
        assert!(names(&keys, &other).is_empty());
    }

    #[test]
    fn given_keys_have_no_rights_but_those_of_the_terminals_own_till() {
        let given = |kind, seed, till: Option<&str>| CommandKey {
            name: format!("key {seed}"),
            kind,
            public: public(seed),
            till: till.map(str::to_owned),
        };
        let keys = FleetKeys::given(&fleet(), &[given(KeyKind::Till, 7, Some("web"))]).unwrap();
        let till = keys.all()[0].till.clone().unwrap();
        assert!(till.rights.has(Right::Refund) && !till.rights.has(Right::Credit), "the rights of the configuration");
        assert_eq!(keys.all()[0].told(), given(KeyKind::Till, 7, Some("web")));
        for (wrong, why) in [
            (vec![given(KeyKind::Till, 7, Some("other"))], "does not name"),
            (vec![given(KeyKind::Till, 7, None)], "does not name"),
            (vec![given(KeyKind::Desk, 7, Some("web"))], "does not name"),
            (vec![given(KeyKind::Desk, 7, None), given(KeyKind::Config, 7, None)], "two keys"),
            (vec![CommandKey { public: "00".to_owned(), ..given(KeyKind::Desk, 7, None) }], "64 hexadecimal"),
        ] {
            let said = FleetKeys::given(&fleet(), &wrong).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }
}
