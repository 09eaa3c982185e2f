//! Whether the files that a configuration names can be used: certificates, keys, tokens, the logo.

use pos_daemon::secret::{in_words, secret_file};
use pos_daemon::settings::{FaultList, check};

use super::Config;

/// Every file that is named is looked at.
pub(super) fn check_all(found: &mut FaultList, config: &Config) {
    pos_gateway::config::check_files(found, &config.gateway);
    let mut known = Vec::new();
    for (n, entry) in config.till.token.iter().enumerate() {
        let key = format!("till.token[{n}].token-file");
        found.add(in_words(&key, secret_file(&entry.token_file)).and_then(|token| {
            let other = !known.contains(&token);
            known.push(token);
            check(other, &key, "two tills have the same token", "give each till its own")
        }));
    }
    pos_printer::config::check_files(found, &config.printer);
}
