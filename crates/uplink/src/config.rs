//! The configuration file `/etc/pos-agent/uplink.toml`.

use std::path::{Path, PathBuf};

use pos_daemon::config_file::{self, ConfigFileError};
use pos_fleet_terms::Id;
use serde::Deserialize;

use crate::choose::Kinds;

/// The content of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct UplinkConfig {
    /// The organisation, as the fleet's server names it.
    pub org: Id,
    /// The terminal's name in the fleet. The code of the enrolment is for this name.
    pub terminal: Id,
    /// The entries that leave the terminal with their content.
    #[serde(default)]
    pub kinds: Kinds,
    /// The fleet's CA (PEM).
    pub ca: PathBuf,
    /// The agent's socket.
    #[serde(default = "usual_agent")]
    pub agent: PathBuf,
    /// The folder of the certificates.
    #[serde(default = "usual_state")]
    pub state: PathBuf,
    /// The broker.
    pub broker: Broker,
    /// The port for certificates.
    pub enrol: EnrolPort,
}

/// The broker.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Broker {
    /// The host's name, which its certificate must contain.
    pub host: String,
    /// The port.
    #[serde(default = "usual_broker_port")]
    pub port: u16,
    /// The seconds after which a silent connection is asked.
    #[serde(default = "usual_keep_alive")]
    pub keep_alive_s: u16,
    /// The longest wait between two connections, in seconds. The waits are random, so that a fleet does not come back
    /// at once.
    #[serde(default = "usual_longest_wait")]
    pub longest_wait_s: u64,
}

/// The port for certificates.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EnrolPort {
    /// The host's name, which its certificate must contain.
    pub host: String,
    /// The port.
    #[serde(default = "usual_enrol_port")]
    pub port: u16,
}

fn usual_agent() -> PathBuf {
    "/run/pos-agent/till.sock".into()
}

fn usual_state() -> PathBuf {
    "/var/lib/pos-uplink".into()
}

fn usual_broker_port() -> u16 {
    8883
}

fn usual_enrol_port() -> u16 {
    8884
}

fn usual_longest_wait() -> u64 {
    300
}

fn usual_keep_alive() -> u16 {
    120
}

impl UplinkConfig {
    /// Reads the file.
    ///
    /// # Errors
    /// Fails if it cannot be read, or names the place and the error.
    pub fn load(file: &Path) -> Result<Self, ConfigFileError> {
        let config: Self = config_file::load(file)?;
        // A broker refuses longer ones.
        if !(5..=300).contains(&config.broker.keep_alive_s) {
            return Err(ConfigFileError::wrong(file, "broker.keep-alive-s: write 5 to 300"));
        }
        if !(5..=3600).contains(&config.broker.longest_wait_s) {
            return Err(ConfigFileError::wrong(file, "broker.longest-wait-s: write 5 to 3600"));
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_wrong_key_is_named_and_a_short_file_is_enough() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("uplink.toml");
        assert!(UplinkConfig::load(&file).unwrap_err().to_string().contains("cannot be read"));
        let short =
            "org = \"corner\"\nterminal = \"t-1\"\nca = \"/c\"\nbroker = { host = \"b\" }\nenrol = { host = \"e\" }\n";
        fs::write(&file, short).unwrap();
        let config = UplinkConfig::load(&file).unwrap();
        assert_eq!((config.kinds, config.broker.port, config.enrol.port), (Kinds::Outcomes, 8883, 8884));
        for (wrong, why) in [
            (short.replace("\"t-1\"", "\"T 1\""), "\"T 1\" is not 1 to 64 of a-z, 0-9 and -"),
            (format!("password = 1\n{short}"), "unknown field `password`"),
            (short.replace("host = \"b\"", "host = \"b\", keep-alive-s = 900"), "write 5 to 300"),
            (short.replace("host = \"b\"", "host = \"b\", longest-wait-s = 0"), "write 5 to 3600"),
            (format!("kinds = \"some\"\n{short}"), "expected `outcomes` or `all`"),
        ] {
            fs::write(&file, wrong).unwrap();
            let said = UplinkConfig::load(&file).unwrap_err().to_string();
            assert!(said.contains(why) && said.contains("uplink.toml"), "{said}");
        }
    }
}
