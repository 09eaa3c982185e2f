//! The checks of the files that a configuration names: certificates, keys, tokens, the logo, and the devices' ports.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pos_daemon::secret::{SecretError, in_words, secret_file};
use pos_daemon::settings::{FaultList, check};

use super::Config;

/// Checks all named files.
pub(super) fn check_all(found: &mut FaultList, config: &Config) {
    pos_gateway::config::check_files(found, &config.gateway);
    let mut known = Vec::new();
    for (n, entry) in config.till.token.iter().enumerate() {
        let key = format!("till.token[{n}].token-file");
        found.add(in_words(&key, secret_file(&entry.token_file)).and_then(|token| {
            let other = !known.contains(&token);
            known.push(token);
            check(other, &key, "two tills have the same token", "give each till its own token")
        }));
    }
    pos_printer::config::check_files(found, &config.printer);
    ports(found, config);
}

impl Config {
    /// Returns the secrets that other users may open before systemd passes them to the agent. The unit takes each
    /// credential from the file with its name beside `file`, the configuration. The copy that the agent gets does not
    /// show the mode of that file.
    #[must_use]
    pub fn open_credentials(&self, file: &Path) -> Vec<SecretError> {
        let names = [&self.gateway.token_credential, &self.gateway.client_key_credential];
        let open = |name: &String| {
            let file = file.with_file_name(name);
            let mode = fs::metadata(&file).ok()?.permissions().mode() & 0o7777;
            (mode & 0o077 != 0).then_some(SecretError::Open { file, mode })
        };
        names.into_iter().flatten().filter_map(open).collect()
    }
}

/// Checks that each port has only one device. Two names of a port (`/dev/ttyUSB0`, and its link in
/// `/dev/serial/by-id/`) count as one.
fn ports(found: &mut FaultList, config: &Config) {
    let real = |port: &str| fs::canonicalize(port).unwrap_or_else(|_| PathBuf::from(port));
    let reader = real(&config.reader.port);
    for (n, printer) in config.printer.iter().enumerate() {
        found.add(check(
            real(&printer.port) != reader,
            &format!("printer[{n}].port"),
            "is also the port of the reader (port in [reader])",
            "write the printer's port: ls -l /dev/serial/by-id/ shows the port of each device",
        ));
    }
}
