//! The checks of the files that a configuration names: certificates, keys, tokens, the logo, and the devices' ports.

use std::fs;
use std::path::PathBuf;

use pos_daemon::secret::{in_words, secret_file};
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
