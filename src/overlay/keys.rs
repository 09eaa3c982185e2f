//! The command keys in force: those of the terminal's own configuration, and after them the fleet's key documents, each
//! of which follows from the one before.
//!
//! Two config keys sign a document together. They are counted by their bytes, and only if the document leaves them as
//! they are. So one stolen key changes nothing, and two config keys always remain: with one, no later change would be
//! possible. A key that a document leaves out stays revoked, even if the terminal's own file names it.
//!
//! Changes by root in the file count too. A key that root adds to the file after the last document is in force as well.
//! A key that root removes from the file is not in force. So each document is kept with the file's keys of its time.

use std::collections::BTreeSet;

use pos_fleet_terms::{CommandKey, DocumentKind, Envelope, KeyKind, KeysDocument, MOST_KEYS, read};
use serde::{Deserialize, Serialize};

use super::refusal::{FleetRefusal, for_this_terminal, names, refused, sha256};
use crate::config::Fleet;
use crate::fleet::{CommandSigner, FleetKeys};

/// The greatest number of key documents that follow one another. A technician then writes the keys into the terminal's
/// own configuration, and removes the fleet's file.
pub(super) const MOST_DOCUMENTS: usize = 64;

/// A key document that was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct KeptKeys {
    /// The envelope, as JSON.
    pub(super) envelope: String,
    /// The bytes of the keys in the terminal's own configuration at that time, in hexadecimal.
    own: BTreeSet<String>,
}

/// The key documents that were taken, and the keys in force.
#[derive(Clone, Debug, Default)]
pub struct KeyChain {
    /// The documents, oldest first.
    pub(super) documents: Vec<KeptKeys>,
    in_force: FleetKeys,
    /// All earlier sets. Settings that a key signed while it was in force stay.
    earlier: Vec<FleetKeys>,
    /// The bytes of the keys that the last document names, in hexadecimal.
    named: BTreeSet<String>,
    /// The bytes of the keys that a document left out.
    revoked: BTreeSet<String>,
    version: u64,
    sha256: String,
}

/// A key document that can be taken.
#[derive(Clone, Debug)]
pub(super) struct NextKeys {
    document: KeysDocument,
    envelope: Envelope,
    keys: FleetKeys,
    /// The names of the keys that signed it.
    pub(super) signers: Vec<String>,
}

impl NextKeys {
    pub(super) fn version(&self) -> u64 {
        self.document.version
    }

    pub(super) fn author(&self) -> &str {
        &self.document.author
    }

    pub(super) fn sha256(&self) -> String {
        sha256(&self.envelope)
    }
}

impl KeyChain {
    /// Returns the keys of the terminal's own configuration.
    pub(super) fn own(fleet: &Fleet) -> Self {
        Self { in_force: FleetKeys::own(fleet), ..Self::default() }
    }

    /// Returns a chain in which no key is in force, because the documents cannot be trusted. A revoked key must not
    /// come back because a file is damaged.
    pub(super) fn closed() -> Self {
        Self::default()
    }

    /// Checks stored documents again, from the terminal's own configuration on.
    pub(super) fn verified(fleet: &Fleet, documents: &[KeptKeys]) -> Result<Self, String> {
        let mut chain = Self::own(fleet);
        if documents.len() > MOST_DOCUMENTS {
            return Err("too many key documents".to_owned());
        }
        for kept in documents {
            let envelope = Envelope::read(kept.envelope.as_bytes()).map_err(|error| error.to_string())?;
            // Since the document came, a technician may have taken a till from the fleet.
            match chain.judged(fleet, &envelope, true) {
                Ok(Some(next)) => chain.follow(fleet, next, kept.own.clone()),
                Ok(None) => return Err("a key document stands twice".to_owned()),
                Err(FleetRefusal::Refused(fault)) => return Err(fault.text),
                Err(FleetRefusal::NotSigned) => return Err("no known key signed a key document".to_owned()),
                Err(FleetRefusal::Malformed(why)) => return Err(why),
            }
        }
        chain.leave_out_what_root_removed(fleet);
        Ok(chain)
    }

    /// Returns the keys in force.
    #[must_use]
    pub fn in_force(&self) -> &FleetKeys {
        &self.in_force
    }

    /// Returns the version of the keys, 0 for those of the terminal's own configuration.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Returns whether a config key, now or earlier in force, signed this document.
    pub(super) fn ever_signed(&self, envelope: &Envelope) -> bool {
        let sets = self.earlier.iter().chain([&self.in_force]);
        sets.flat_map(|set| set.signers_of(envelope)).any(|signer| signer.kind == KeyKind::Config)
    }

    /// Judges a key document. Returns `None` if it is the one in force. With `stored`, the document was taken earlier.
    pub(super) fn judged(
        &self,
        fleet: &Fleet,
        envelope: &Envelope,
        stored: bool,
    ) -> Result<Option<NextKeys>, FleetRefusal> {
        if envelope.kind != DocumentKind::Keys {
            return Err(FleetRefusal::Malformed("it is no document of keys".to_owned()));
        }
        let signers = self.in_force.signers_of(envelope);
        if signers.is_empty() {
            // The keys that signed the document in force may be gone.
            return if sha256(envelope) == self.sha256 { Ok(None) } else { Err(FleetRefusal::NotSigned) };
        }
        let document: KeysDocument =
            read(&envelope.document).map_err(|error| refused("malformed", error.to_string()))?;
        for_this_terminal(fleet, document.v, &document.org, &document.terminal)?;
        if document.version <= self.version {
            if sha256(envelope) == self.sha256 {
                return Ok(None);
            }
            let text = format!("the version {} is not above {}", document.version, self.version);
            return Err(refused("old-version", text));
        }
        if self.documents.len() >= MOST_DOCUMENTS {
            let text = format!("{MOST_DOCUMENTS} key documents follow one another; a technician must renew the keys");
            return Err(refused("too-many", text));
        }
        let keys = self.given(fleet, &document.keys, stored)?;
        self.signed_by_two(&signers, &keys)?;
        let signers = names(&signers);
        Ok(Some(NextKeys { document, envelope: envelope.clone(), keys, signers }))
    }

    /// Returns the keys of a document, if the terminal can use them.
    fn given(&self, fleet: &Fleet, keys: &[CommandKey], stored: bool) -> Result<FleetKeys, FleetRefusal> {
        if let Some(key) = keys.iter().find(|key| self.revoked.contains(&key.public.to_lowercase())) {
            return Err(refused("revoked-key", format!("the key {:?} was removed earlier", key.name)));
        }
        let is_named = |key: &CommandKey| fleet.key.iter().any(|own| own.kind == key.kind && own.till == key.till);
        let usable = keys.iter().filter(|key| !stored || key.kind != KeyKind::Till || is_named(key));
        let usable: Vec<CommandKey> = usable.cloned().collect();
        FleetKeys::given(fleet, &usable).map_err(|error| refused("malformed-keys", error.to_string()))
    }

    /// Checks that two config keys signed, which remain as they are.
    fn signed_by_two(&self, signers: &[&CommandSigner], keys: &FleetKeys) -> Result<(), FleetRefusal> {
        let (config, others): (Vec<&CommandSigner>, Vec<_>) =
            signers.iter().partition(|signer| signer.kind == KeyKind::Config);
        if config.is_empty() {
            let text = format!("{} may not sign keys", names(&others).join(", "));
            return Err(refused("key-not-allowed", text));
        }
        if config.len() < 2 {
            let text = format!("only {} signed it, and two config keys must", names(&config).join(", "));
            return Err(refused("one-signature", text));
        }
        let stays = |signer: &&CommandSigner| {
            keys.all()
                .iter()
                .any(|key| (&key.name, key.kind, key.bytes()) == (&signer.name, signer.kind, signer.bytes()))
        };
        let (staying, leaving): (Vec<&CommandSigner>, Vec<_>) = config.into_iter().partition(stays);
        if staying.len() < 2 {
            let text = format!("it removes or changes {}, which signed it", names(&leaving).join(", "));
            return Err(refused("signer-removed", text));
        }
        Ok(())
    }

    /// Puts a judged document in force.
    pub(super) fn take(&mut self, fleet: &Fleet, next: NextKeys) {
        self.follow(fleet, next, bytes_of(&FleetKeys::own(fleet)));
    }

    /// Puts a document in force that came when the file had the keys `own`.
    fn follow(&mut self, fleet: &Fleet, next: NextKeys, own: BTreeSet<String>) {
        let NextKeys { document, envelope, mut keys, .. } = next;
        let named: BTreeSet<String> = document.keys.iter().map(|key| key.public.to_lowercase()).collect();
        let before = std::mem::replace(&mut self.named, named.clone());
        self.revoked.extend(before.union(&own).filter(|bytes| !named.contains(*bytes)).cloned());
        let (all, mine) = (bytes_of(&keys), FleetKeys::own(fleet));
        let is_added = |key: &&CommandSigner| {
            let bytes = hex::encode(key.bytes());
            !all.contains(&bytes) && !own.contains(&bytes) && !self.revoked.contains(&bytes)
        };
        let added: Vec<CommandSigner> = mine.all().iter().filter(is_added).cloned().collect();
        let room = MOST_KEYS.saturating_sub(keys.all().len());
        keys = FleetKeys::of(keys.all().iter().cloned().chain(added.into_iter().take(room)));
        self.earlier.push(std::mem::replace(&mut self.in_force, keys));
        self.version = document.version;
        self.sha256 = sha256(&envelope);
        let envelope = String::from_utf8_lossy(&envelope.write()).into_owned();
        self.documents.push(KeptKeys { envelope, own });
    }

    /// Leaves out the keys that the file had when the last document came, and has no longer.
    fn leave_out_what_root_removed(&mut self, fleet: &Fleet) {
        let Some(last) = self.documents.last() else { return };
        let mine = bytes_of(&FleetKeys::own(fleet));
        let stays = |key: &&CommandSigner| {
            let bytes = hex::encode(key.bytes());
            !last.own.contains(&bytes) || mine.contains(&bytes)
        };
        let in_force = FleetKeys::of(self.in_force.all().iter().filter(stays).cloned());
        self.earlier.push(std::mem::replace(&mut self.in_force, in_force));
    }
}

/// Returns the bytes of all keys of a set, in hexadecimal.
fn bytes_of(keys: &FleetKeys) -> BTreeSet<String> {
    keys.all().iter().map(|key| hex::encode(key.bytes())).collect()
}
