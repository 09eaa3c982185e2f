//! How far the fleet's settings are. This module decides and does not act: each change names the mark for the journal
//! and the new content of the file, and [`super::FleetGiven::commit`] writes the first before the second.
//!
//! ```text
//! waiting ──idle──▶ trial ──all was reached──▶ kept
//!    ▲                │
//!    │                ├──ten minutes, or three starts that failed──▶ returned, and never again
//!    └──later──unheard┴──ten minutes, and only the acknowledgement was missing
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use pos_fleet_terms::{Fault, SettingsDocument, SettingsState};
use pos_journal::{FleetChange, FleetStep};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::refusal::fault;

/// The time within which a trial must be confirmed, since the start of its process.
pub const TRIAL_LASTS: Duration = Duration::from_secs(600);
/// The time after which a start of a trial has not failed.
pub(super) const RAN_WELL: Duration = Duration::from_secs(120);
/// The number of starts of a trial that may fail.
pub(super) const MOST_STARTS: u32 = 3;
/// The pause before a version without an acknowledgement is tried again, as uptime of one process. It doubles each
/// time.
const FIRST_PAUSE: Duration = Duration::from_secs(3600);
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// Settings that were taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GivenSettings {
    /// The envelope, as JSON.
    pub(super) envelope: String,
    /// The file's values of these settings when they were taken. `null` means that the file had none.
    pub(super) local: BTreeMap<String, Value>,
}

/// The version that came last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct LastSettings {
    pub(super) version: u64,
    pub(super) sha256: String,
    pub(super) author: String,
    /// The names of the keys that signed it.
    pub(super) signers: Vec<String>,
    pub(super) state: SettingsState,
    pub(super) reason: Option<Fault>,
    /// The journal and its entry about the begin of the trial.
    pub(super) journal: String,
    pub(super) entry: i64,
    /// The starts of the trial that have not run well yet.
    pub(super) starts: u32,
    /// The number of trials without an acknowledgement.
    pub(super) tries: u32,
    /// True if the journal has no mark about the state yet.
    pub(super) owed: bool,
    /// The settings, as long as they may be used.
    pub(super) given: Option<GivenSettings>,
}

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SettingsStanding {
    /// The greatest version that came. No lower one is taken, and none twice.
    pub(super) floor: u64,
    /// The settings that are kept, with their version.
    pub(super) kept: Option<GivenSettings>,
    pub(super) kept_version: u64,
    pub(super) last: Option<LastSettings>,
    /// The envelope of a version that came during a trial.
    pub(super) next: Option<String>,
}

/// What the agent does after a change is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThenDo {
    /// Nothing.
    Nothing,
    /// It restarts. No card and no till waits.
    Restart,
    /// It restarts as soon as no card and no till waits, and in any case as soon as a stop would.
    GoBack,
}

/// A change of the standing.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsMove {
    /// The mark for the journal.
    pub(super) mark: Option<FleetStep>,
    pub(super) standing: SettingsStanding,
    pub(super) then: ThenDo,
}

/// What the agent knows about the running trial.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrialFacts {
    /// The age of the process.
    pub now: Duration,
    /// True if a trial may begin: no card and no till waits, and the fleet's window is open.
    pub may_begin: bool,
    /// True if the journal can be written, and each device answers that answered before.
    pub is_healthy: bool,
    /// True if the reader has answered this process.
    pub reader: bool,
    /// True if the gateway has answered this process.
    pub gateway: bool,
    /// True if the server has acknowledged the mark about the begin to this process.
    pub acknowledged: bool,
}

impl LastSettings {
    /// Returns the facts for the journal's mark.
    pub(super) fn change(&self, step: FleetStep) -> FleetChange {
        FleetChange {
            step,
            version: self.version,
            sha256: self.sha256.clone(),
            author: self.author.clone(),
            keys: self.signers.clone(),
            why: self.reason.as_ref().map(|reason| reason.code.clone()),
        }
    }

    /// Returns the mark that the journal must have for the state.
    fn step(&self) -> Option<FleetStep> {
        match self.state {
            SettingsState::Local | SettingsState::Waiting => None,
            SettingsState::Trial => Some(FleetStep::Begun),
            SettingsState::Kept => Some(FleetStep::Kept),
            SettingsState::Returned => Some(FleetStep::Returned),
            SettingsState::Unheard => Some(FleetStep::Unheard),
            SettingsState::Refused => Some(FleetStep::Refused),
        }
    }

    /// Returns the pause before the version is tried again.
    fn pause(&self) -> Duration {
        FIRST_PAUSE.saturating_mul(1 << self.tries.saturating_sub(1).min(5)).min(LONGEST_PAUSE)
    }
}

impl SettingsStanding {
    /// Returns the settings to use, with their version.
    pub(super) fn in_use(&self) -> Option<(&GivenSettings, u64)> {
        match &self.last {
            Some(LastSettings { state: SettingsState::Trial, given: Some(given), version, .. }) => {
                Some((given, *version))
            }
            _ => self.kept.as_ref().map(|given| (given, self.kept_version)),
        }
    }

    pub(super) fn is_trial(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.state == SettingsState::Trial)
    }

    /// Returns the standing after a document came that is good, or that is refused for this reason.
    pub(super) fn with(
        &self,
        document: &SettingsDocument,
        (sha256, signers): (String, Vec<String>),
        given: Result<GivenSettings, Fault>,
    ) -> SettingsMove {
        let (state, given, reason) = match given {
            Ok(given) => (SettingsState::Waiting, Some(given), None),
            Err(reason) => (SettingsState::Refused, None, Some(reason)),
        };
        let last = LastSettings {
            version: document.version,
            sha256,
            author: document.author.clone(),
            signers,
            state,
            reason,
            journal: String::new(),
            entry: 0,
            starts: 0,
            tries: 0,
            owed: false,
            given,
        };
        let mark = last.step();
        let standing = Self { floor: document.version, last: Some(last), next: None, ..self.clone() };
        SettingsMove { mark, standing, then: ThenDo::Nothing }
    }

    /// Returns the standing after the terminal went back.
    pub(super) fn back(&self, state: SettingsState, why: Fault) -> Self {
        let mut back = self.clone();
        if let Some(last) = &mut back.last {
            last.state = state;
            last.reason = Some(why);
            last.starts = 0;
            last.owed = true;
            match state {
                SettingsState::Unheard => last.tries = last.tries.saturating_add(1),
                _ => last.given = None,
            }
        }
        back
    }

    /// Counts a start of a trial. Returns `None` if too many have failed.
    pub(super) fn started(&self) -> Option<Self> {
        let mut started = self.clone();
        let last = started.last.as_mut()?;
        last.starts = last.starts.checked_add(1).filter(|starts| *starts <= MOST_STARTS)?;
        Some(started)
    }

    /// Returns the next change, if one is due. `tries_this` is true if this process is one of the trial.
    pub(super) fn next(&self, facts: TrialFacts, tries_this: bool) -> Option<SettingsMove> {
        let last = self.last.as_ref()?;
        let with = |change: &dyn Fn(&mut LastSettings)| {
            let mut standing = self.clone();
            standing.last.as_mut().into_iter().for_each(change);
            standing
        };
        let moved = |mark, standing, then| Some(SettingsMove { mark, standing, then });
        if last.owed {
            return moved(last.step(), with(&|last| last.owed = false), ThenDo::Nothing);
        }
        match last.state {
            SettingsState::Waiting if facts.may_begin => {
                let standing = with(&|last| last.state = SettingsState::Trial);
                moved(Some(FleetStep::Begun), standing, ThenDo::Restart)
            }
            SettingsState::Trial if tries_this => {
                if facts.is_healthy && facts.reader && facts.gateway && facts.acknowledged {
                    let mut standing = with(&|last| {
                        last.state = SettingsState::Kept;
                        last.starts = 0;
                    });
                    (standing.kept, standing.kept_version) = (last.given.clone(), last.version);
                    standing.last.iter_mut().for_each(|last| last.given = None);
                    return moved(Some(FleetStep::Kept), standing, ThenDo::Nothing);
                }
                if facts.now >= TRIAL_LASTS {
                    let (state, why) = missing(facts);
                    let standing = self.back(state, why);
                    return moved(standing.last.as_ref().and_then(LastSettings::step), standing, ThenDo::GoBack);
                }
                let ran_well = last.starts > 0 && facts.now >= RAN_WELL;
                ran_well
                    .then(|| with(&|last| last.starts = 0))
                    .and_then(|standing| moved(None, standing, ThenDo::Nothing))
            }
            SettingsState::Unheard if facts.now >= last.pause() => {
                let standing = with(&|last| (last.state, last.reason) = (SettingsState::Waiting, None));
                moved(None, standing, ThenDo::Nothing)
            }
            _ => None,
        }
    }

    /// Returns the age of the process at which the next change may be due.
    pub(super) fn due(&self, now: Duration, tries_this: bool) -> Option<Duration> {
        let last = self.last.as_ref()?;
        let times = match last.state {
            SettingsState::Trial if tries_this => [RAN_WELL, TRIAL_LASTS],
            SettingsState::Unheard => [last.pause(); 2],
            _ => return None,
        };
        times.into_iter().find(|time| *time > now)
    }
}

/// Returns what a trial lacked at its end. Without the acknowledgement alone, the settings may still be good.
fn missing(facts: TrialFacts) -> (SettingsState, Fault) {
    let within = "within ten minutes";
    let (code, text) = match facts {
        TrialFacts { reader: false, .. } => ("no-reader", format!("the reader did not answer {within}")),
        TrialFacts { gateway: false, .. } => ("no-gateway", format!("the gateway did not answer {within}")),
        TrialFacts { is_healthy: false, .. } => ("not-healthy", format!("the terminal was not healthy {within}")),
        _ => {
            let text = format!("the server did not acknowledge {within}");
            return (SettingsState::Unheard, fault("no-acknowledgement", text));
        }
    };
    (SettingsState::Returned, fault(code, text))
}
