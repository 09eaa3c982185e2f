//! The interface of cloud tills: HTTPS with the shapes of the terminal's own interface, for tills that are not in the
//! shop. Its base is `https://SERVER:8885/terminals/TERMINAL`.
//!
//! | file | content |
//! |---|---|
//! | `asked` | requests as bytes: what is read, and what is refused at once |
//! | `answer` | what a till hears: the transaction, or a problem; and how results and journal are judged |
//! | `connections` | connections to the database, and the news of results |
//! | `sales` | the transactions in the database, and their commands |
//! | `serve` | the port: TLS, limits, and the routes |
//! | `status` | the terminal's status, as the server knows it |
//! | `tokens` | the tokens of cloud tills |
//!
//! This is the only service with a key that signs. It holds one key for each till. What a till may do, the terminal's
//! own configuration decides.

pub mod answer;
pub mod asked;
mod connections;
mod sales;
mod serve;
mod status;
pub mod tokens;

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use pos_broker::tls::TlsError;
use pos_fleet_terms::KeyKind;
use serde::Deserialize;

use crate::database::DatabaseError;
use crate::signing::{SigningError, SigningKey};
use crate::store::StoreError;

pub use serve::{run, run_on};

/// The settings of the port for cloud tills.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CloudTills {
    /// The address and port.
    pub listen: SocketAddr,
    /// The port's certificate (PEM).
    pub certificate: PathBuf,
    /// Its key (PEM).
    pub key_file: PathBuf,
    /// The keys that sign for the tills.
    #[serde(default)]
    pub key: Vec<CloudKey>,
}

/// The key of one till.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CloudKey {
    /// The till, by the name that the terminals have for it.
    pub till: String,
    /// The file of the key, from `pos-fleet key new`.
    pub file: PathBuf,
}

/// The reason why no cloud till is served.
#[derive(Debug, thiserror::Error)]
pub enum CloudTillsError {
    /// Two keys for one till.
    #[error("tills.key: the till {0} has two keys")]
    TwoKeys(String),
    /// A key of another kind.
    #[error("tills.key: {}: a till needs a till key, and this is a {} key", file.display(), kind.word())]
    Kind {
        /// The file.
        file: PathBuf,
        /// The kind of its key.
        kind: KeyKind,
    },
    /// A key cannot be used.
    #[error("tills.key: {0}")]
    Key(#[from] SigningError),
    /// The certificate.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The certificate cannot be served.
    #[error("tills.certificate: it cannot be served: {0}")]
    Served(String),
    /// The database.
    #[error(transparent)]
    Connect(#[from] DatabaseError),
    /// The shape of the database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The address cannot be used.
    #[error("tills.listen: {0}: {1}")]
    Listen(SocketAddr, io::Error),
}

impl CloudTillsError {
    /// Returns whether a person must change a setting or a file.
    #[must_use]
    pub fn is_of_the_settings(&self) -> bool {
        !matches!(self, Self::Connect(_) | Self::Store(_) | Self::Listen(..))
    }
}

impl CloudTills {
    /// Checks what the types alone do not, without the files of the keys.
    ///
    /// # Errors
    /// Names the till with two keys.
    pub fn check(&self) -> Result<(), CloudTillsError> {
        let mut tills = HashSet::new();
        match self.key.iter().find(|key| !tills.insert(&key.till)) {
            Some(key) => Err(CloudTillsError::TwoKeys(key.till.clone())),
            None => Ok(()),
        }
    }

    /// Returns whether a till has a key.
    #[must_use]
    pub fn has_key(&self, till: &str) -> bool {
        self.key.iter().any(|key| key.till == till)
    }

    fn load_keys(&self) -> Result<HashMap<String, SigningKey>, CloudTillsError> {
        self.check()?;
        let loaded = |CloudKey { till, file }: &CloudKey| {
            let key = SigningKey::load(file)?;
            match key.kind() {
                KeyKind::Till => Ok((till.clone(), key)),
                kind => Err(CloudTillsError::Kind { file: file.clone(), kind }),
            }
        };
        self.key.iter().map(loaded).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_till_has_one_key_of_its_kind() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        SigningKey::generate(&file("web"), KeyKind::Till, "web shop").unwrap();
        SigningKey::generate(&file("desk"), KeyKind::Desk, "desk").unwrap();
        let settings = |keys: &[(&str, &str)]| CloudTills {
            listen: "127.0.0.1:0".parse().unwrap(),
            certificate: file("c"),
            key_file: file("k"),
            key: keys.iter().map(|(till, name)| CloudKey { till: (*till).to_owned(), file: file(name) }).collect(),
        };
        let good = settings(&[("web", "web")]);
        assert!(good.has_key("web") && !good.has_key("app"));
        assert_eq!(good.load_keys().unwrap().len(), 1);
        for (keys, why) in [
            (&[("web", "web"), ("web", "web")][..], "two keys"),
            (&[("web", "desk")], "this is a desk key"),
            (&[("web", "none")], "tills.key: "),
        ] {
            let error = settings(keys).load_keys().unwrap_err();
            assert!(error.to_string().contains(why) && error.is_of_the_settings(), "{error}");
        }
    }
}
