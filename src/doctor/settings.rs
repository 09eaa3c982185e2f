//! The probe of the configuration. It reports every fault in the configuration and in the files that it names.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::{Report, is_root};
use crate::config::{self, Config, OwnConfig};
use crate::overlay::{self, GivenTrouble, Loaded};

/// Reports the faults. Returns the configuration if the other probes can use it.
pub(super) fn look(report: &mut Report<'_>, file: &Path) -> Option<Config> {
    let config = match config::read(file) {
        Ok(config) => config,
        Err(config::Error::Faulty { file, faults }) => {
            for fault in &faults {
                report.fault(format!("{}: {}", file.display(), fault.seen()), &fault.remedy);
            }
            return None;
        }
        Err(error) => {
            report.say_fault(&error.to_string());
            // If other users may write to the file, this is a fault, but the other probes can still use its settings.
            let config::Error::WorldWritable { .. } = error else { return None };
            config::parse(&std::fs::read_to_string(file).ok()?, file).ok()?
        }
    };
    let faults = config.faults();
    for fault in &faults {
        report.fault(format!("{}: {}", fault.key, fault.wrong), &fault.remedy);
    }
    foreign_secrets(report, &config);
    let open = config.open_credentials(file);
    open.iter().for_each(|error| report.say_fault(&error.to_string()));
    if faults.is_empty() && open.is_empty() {
        report.ok(format!("{}: terminal {}, {}", file.display(), config.terminal.id, config.terminal.currency));
    }
    Some(with_the_fleets(report, config, file))
}

/// Returns the configuration with the settings of the fleet, with which the agent runs.
fn with_the_fleets(report: &mut Report<'_>, config: Config, file: &Path) -> Config {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let Loaded { config, given } = overlay::shown_over(OwnConfig { config, text });
    let Some(given) = given else { return config };
    for trouble in given.trouble() {
        let (what, why) = match trouble {
            GivenTrouble::Settings(why) => ("the fleet's settings are not used", why),
            GivenTrouble::Keys(why) => ("no command key of the fleet is in force", why),
        };
        let remedy = "see Settings and keys from the fleet in the manual: stop the agent, and delete the folder fleet";
        report.fault(format!("{what}: {why}"), remedy);
    }
    if given.version() > 0 {
        let names: Vec<&str> = given.in_use().keys().map(String::as_str).collect();
        report.ok(format!("settings of the fleet, version {}: {}", given.version(), names.join(", ")));
    }
    config
}

/// Reports secrets that root can read but the agent cannot. The agent's user is the owner of the journal's folder.
fn foreign_secrets(report: &mut Report<'_>, config: &Config) {
    let owner = config.journal.path.parent().and_then(|folder| std::fs::metadata(folder).ok()).map(|facts| facts.uid());
    let Some(agent) = owner.filter(|owner| *owner != 0 && is_root()) else { return };
    let gateway = [&config.gateway.token_file, &config.gateway.client_key_file].into_iter().flatten();
    for file in gateway.chain(config.till.token.iter().map(|entry| &entry.token_file)) {
        let Ok(facts) = std::fs::metadata(file) else { continue };
        if facts.uid() != agent && facts.permissions().mode() & 0o077 == 0 {
            let seen =
                format!("{} belongs to user {}, but the agent runs as user {agent}", file.display(), facts.uid());
            report.fault(seen, format!("run: chown {agent} {}", file.display()));
        }
    }
}
