//! The configuration file `/etc/pos-fleet/fleet.toml`.

use std::path::{Path, PathBuf};

use pos_daemon::config_file::{self, ConfigFileError};
use pos_fleet_terms::Id;
use serde::Deserialize;

use crate::database::Database;
use crate::enrol::Enrol;
use crate::serve::Serve;
use crate::tills::CloudTills;

/// The content of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FleetConfig {
    /// The organisation, the third level of every topic.
    pub org: Id,
    /// How PostgreSQL is reached.
    pub database: Database,
    /// How the broker is reached, for `consume` and `desk`.
    pub broker: Option<Broker>,
    /// The pages and the metrics, for `serve`.
    #[serde(default)]
    pub serve: Serve,
    /// The port for certificates, for `enrol`.
    pub enrol: Option<Enrol>,
    /// The port for cloud tills, for `tills`.
    pub tills: Option<CloudTills>,
}

/// How the broker is reached.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Broker {
    /// The host's name, which its certificate must contain.
    pub host: String,
    /// The port.
    #[serde(default = "usual_port")]
    pub port: u16,
    /// The fleet's CA (PEM).
    pub ca: PathBuf,
    /// The consumer's certificate (PEM).
    pub certificate: PathBuf,
    /// Its key (PEM).
    pub key: PathBuf,
    /// The desk's certificate (PEM).
    #[serde(default = "usual_desk_certificate")]
    pub desk_certificate: PathBuf,
    /// Its key (PEM).
    #[serde(default = "usual_desk_key")]
    pub desk_key: PathBuf,
}

fn usual_desk_certificate() -> PathBuf {
    "/etc/pos-fleet/desk.pem".into()
}

fn usual_desk_key() -> PathBuf {
    "/etc/pos-fleet/desk-key.pem".into()
}

fn usual_port() -> u16 {
    8883
}

/// The reason why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file itself, or a key in it.
    #[error(transparent)]
    File(#[from] ConfigFileError),
    /// A section is missing that the command needs.
    #[error("{}: the section [{section}] is missing, which pos-fleet {verb} needs", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// The section.
        section: &'static str,
        /// The command.
        verb: &'static str,
    },
}

impl FleetConfig {
    /// Reads the file.
    ///
    /// # Errors
    /// Fails if it cannot be read, or names the place and the error.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        Ok(config_file::load(file)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_wrong_key_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("fleet.toml");
        assert!(FleetConfig::load(&file).unwrap_err().to_string().contains("cannot be read"));
        for (text, why) in [
            ("org = \"Corner\"\n[database]\nurl = \"\"", "\"Corner\" is not 1 to 64 of a-z, 0-9 and -"),
            ("org = \"corner\"\n[database]\nurl = \"\"\npassword = 1", "unknown field `password`"),
            ("org = \"corner\"", "missing field `database`"),
        ] {
            fs::write(&file, text).unwrap();
            let said = FleetConfig::load(&file).unwrap_err().to_string();
            assert!(said.contains(why) && said.contains("fleet.toml"), "{said}");
        }
        fs::write(&file, "org = \"corner\"\n[database]\nurl = \"host=/run/postgresql\"").unwrap();
        assert!(FleetConfig::load(&file).unwrap().broker.is_none());
    }
}
