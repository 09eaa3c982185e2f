//! Settings and command keys that a fleet gave, as an overlay over the terminal's own configuration.
//!
//! The overlay is in the folder `fleet` beside the journal, because the configuration's folder may be read-only. Each
//! start checks it again: signatures, terminal, permitted settings, values. A faulty overlay never stops the terminal,
//! which then starts with its own configuration. A person removes the overlay by removing the folder.
//!
//! | file | content |
//! |---|---|
//! | `own` | the terminal's own settings, and the check of the fleet's in their place |
//! | `keys` | the command keys in force |
//! | `standing` | waiting, trial, kept, returned: decides each change |
//! | `given` | the overlay of the running agent: takes documents, and writes each change |
//! | `store` | the files |
//! | `refusal` | the reasons for a refusal |

mod given;
mod keys;
mod own;
mod refusal;
mod standing;
mod store;
#[cfg(test)]
mod tests;

pub use given::{CommitError, FleetGiven, GivenTrouble};
pub use keys::KeyChain;
pub use refusal::FleetRefusal;
pub use standing::{SettingsMove, TRIAL_LASTS, ThenDo, TrialFacts};
pub use store::OverlayFolder;

use std::path::Path;

use pos_fleet_terms::SettingsState;

use crate::config::{self, Config, OwnConfig};
use keys::{KeptKeys, KeyChain as Chain};
use own::OwnSettings;
use refusal::fault;
use standing::SettingsStanding;
use store::OverlayFile;

/// The configuration with which the agent runs, and the overlay from which a part of it comes.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The overlay. Absent if the terminal belongs to no fleet.
    pub given: Option<FleetGiven>,
}

impl From<Config> for Loaded {
    /// Uses a configuration without an overlay.
    fn from(config: Config) -> Self {
        Self { config, given: None }
    }
}

/// Loads the terminal's own configuration and the overlay, and counts no start.
///
/// # Errors
/// Fails if the terminal's own configuration cannot be loaded.
pub fn shown(path: &Path) -> Result<Loaded, config::Error> {
    config::load_own(path).map(shown_over)
}

/// Lays the overlay over a configuration that was read, and counts no start.
#[must_use]
pub fn shown_over(own: OwnConfig) -> Loaded {
    assembled(own, false)
}

/// Lays the overlay over the terminal's own configuration, for a start of the agent. The start of a trial is counted on
/// the disk before anything of the trial can fail.
#[must_use]
pub fn begin(own: OwnConfig) -> Loaded {
    assembled(own, true)
}

fn assembled(OwnConfig { config, text }: OwnConfig, counts: bool) -> Loaded {
    let Some(fleet) = config.fleet.clone() else { return config.into() };
    let folder = OverlayFolder::beside(&config.journal.path);
    let mut trouble = Vec::new();
    let read = folder.read::<SettingsStanding>(OverlayFile::Settings);
    let mut standing = read.unwrap_or_else(|why| {
        trouble.push(GivenTrouble::Settings(why));
        None
    });
    let mut may_try = true;
    if let Some(trial) = standing.as_ref().filter(|standing| counts && standing.is_trial()) {
        let counted = trial.started().unwrap_or_else(|| {
            let text = format!("{} starts failed", standing::MOST_STARTS);
            trial.back(SettingsState::Returned, fault("failed-starts", text))
        });
        // A start that cannot be counted does not try the settings, because nothing would then lead back.
        match folder.write(OverlayFile::Settings, &counted) {
            Ok(()) => standing = Some(counted),
            Err(error) => {
                trouble.push(GivenTrouble::Settings(format!("a start cannot be counted: {error}")));
                may_try = false;
            }
        }
    }
    let chain = match folder.read::<Vec<KeptKeys>>(OverlayFile::Keys) {
        Ok(documents) => Chain::verified(&fleet, &documents.unwrap_or_default()),
        Err(why) => Err(why),
    };
    let chain = chain.unwrap_or_else(|why| {
        trouble.push(GivenTrouble::Keys(why));
        Chain::closed()
    });
    let own = OwnSettings::of(&text);
    let given = FleetGiven::new(folder, fleet, own, chain, standing.unwrap_or_default(), trouble);
    given.over(config, counts, may_try)
}
