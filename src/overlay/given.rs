//! The overlay of the running agent: it takes documents, and writes each change.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use pos_fleet_terms::{DocumentKind, Envelope, Fault, KeyKind, Reported, SettingsDocument, SettingsState, read};
use pos_journal::{FleetChange, FleetStep};
use serde_json::Value;

use super::Loaded;
use super::keys::{KeyChain, NextKeys};
use super::own::{NotUsable, OwnSettings};
use super::refusal::{FleetRefusal, fault, for_this_terminal, names, refused, sha256};
use super::standing::{GivenSettings, SettingsMove, SettingsStanding, ThenDo, TrialFacts};
use super::store::{OverlayFile, OverlayFolder};
use crate::config::{Config, Fleet};
use crate::fleet::{CommandSigner, FleetKeys};

/// The greatest rise of the version. A stolen config key must not use up all versions with one document.
const MOST_RISE: u64 = 1_000_000;

/// The pause before a change is written again that could not be written. Each try leaves a mark in the journal.
const RETRY: Duration = Duration::from_secs(600);
/// The pause if the way back could not be written. It leaves one mark.
const RETRY_BACK: Duration = Duration::from_secs(5);

/// A part of the overlay that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenTrouble {
    /// The settings. The terminal uses its own.
    Settings(String),
    /// The keys. No command key is in force, because a revoked one must not come back.
    Keys(String),
}

/// The reason why a change was not written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// The journal's mark could not be written. Nothing has changed.
    #[error(transparent)]
    Journal(#[from] pos_journal::Error),
    /// The file could not be written.
    #[error("the folder for the fleet's settings, {folder}, cannot be written: {cause}")]
    Folder {
        /// The folder.
        folder: String,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
}

/// The fleet's settings and keys in the running agent.
#[derive(Clone, Debug)]
pub struct FleetGiven {
    folder: OverlayFolder,
    fleet: Fleet,
    own: OwnSettings,
    chain: KeyChain,
    standing: SettingsStanding,
    trouble: Vec<GivenTrouble>,
    /// The settings in use, with their version; 0 for the terminal's own alone.
    in_use: BTreeMap<String, Value>,
    version: u64,
    drift: Vec<String>,
    keys_refused: Option<Fault>,
    /// True if this process is one of the trial.
    tries_this: bool,
    /// True if the agent is about to restart, so nothing changes any more.
    restarts: bool,
    /// True if the journal has the mark about the way back already.
    is_back_marked: bool,
    retry_at: Duration,
    seen: SeenInTrial,
}

/// What this process has seen of a trial so far.
#[derive(Clone, Copy, Debug, Default)]
struct SeenInTrial {
    reader: bool,
    gateway: bool,
    acknowledged: bool,
}

impl FleetGiven {
    pub(super) fn new(
        folder: OverlayFolder,
        fleet: Fleet,
        own: OwnSettings,
        chain: KeyChain,
        standing: SettingsStanding,
        trouble: Vec<GivenTrouble>,
    ) -> Self {
        Self {
            folder,
            fleet,
            own,
            chain,
            standing,
            trouble,
            in_use: BTreeMap::new(),
            version: 0,
            drift: Vec::new(),
            keys_refused: None,
            tries_this: false,
            restarts: false,
            is_back_marked: false,
            retry_at: Duration::ZERO,
            seen: SeenInTrial::default(),
        }
    }

    /// Lays the settings over the terminal's own configuration. A trial whose settings cannot be used goes back.
    pub(super) fn over(mut self, config: Config, counts: bool, may_try: bool) -> Loaded {
        let file = config.file.clone();
        let given = self.standing.in_use().map(|(given, version)| (given.clone(), version));
        let Some((given, version)) = given else { return Loaded { config, given: Some(self) } };
        let is_trial = self.standing.is_trial();
        let used = if is_trial && !may_try { None } else { Some(self.used(&given, version)) };
        match used {
            Some(Ok(merged)) => {
                self.tries_this = is_trial;
                return Loaded { config: Config { file, ..merged }, given: Some(self) };
            }
            Some(Err(why)) if is_trial => {
                let back = self.standing.back(SettingsState::Returned, fault("not-usable", why));
                if counts && let Err(error) = self.folder.write(OverlayFile::Settings, &back) {
                    tracing::error!(%error, "the end of the trial of the fleet's settings could not be written");
                }
                self.standing = back;
            }
            Some(Err(why)) => self.trouble.push(GivenTrouble::Settings(why)),
            None => {}
        }
        if !is_trial {
            return Loaded { config, given: Some(self) };
        }
        let Some(kept) = self.standing.kept.clone() else { return Loaded { config, given: Some(self) } };
        match self.used(&kept, self.standing.kept_version) {
            Ok(merged) => Loaded { config: Config { file, ..merged }, given: Some(self) },
            Err(why) => {
                self.trouble.push(GivenTrouble::Settings(why));
                Loaded { config, given: Some(self) }
            }
        }
    }

    /// Checks stored settings as if they came now, and returns the configuration with them.
    fn used(&mut self, given: &GivenSettings, version: u64) -> Result<Config, String> {
        let envelope = Envelope::read(given.envelope.as_bytes()).map_err(|error| error.to_string())?;
        if envelope.kind != DocumentKind::Settings || !self.chain.ever_signed(&envelope) {
            return Err("no config key of this terminal signed the settings".to_owned());
        }
        let document: SettingsDocument = read(&envelope.document).map_err(|error| error.to_string())?;
        for_this_terminal(&self.fleet, document.v, &document.org, &document.terminal).map_err(
            |refusal| match refusal {
                FleetRefusal::Refused(fault) => fault.text,
                FleetRefusal::Malformed(why) => why,
                FleetRefusal::NotSigned => String::new(),
            },
        )?;
        if document.version != version {
            return Err("the settings have another version than the file says".to_owned());
        }
        let drift = self.drifted(given, &document);
        let settings = without(document.settings, &drift);
        let merged = self.own.with(&settings).map_err(|why| match why {
            NotUsable::NotAllowed(name) => format!("{name} is no setting that a fleet may give"),
            NotUsable::Value(why) => why,
        })?;
        (self.in_use, self.version, self.drift) = (settings, version, drift);
        Ok(merged)
    }

    /// Returns the settings whose value in the file differs from the one at the time when the document came.
    fn drifted(&self, given: &GivenSettings, document: &SettingsDocument) -> Vec<String> {
        let own = |name: &String| self.own.value(name).unwrap_or(Value::Null);
        let differs = |name: &&String| given.local.get(*name).is_some_and(|local| *local != own(name));
        document.settings.keys().filter(differs).cloned().collect()
    }

    /// Returns the file's values of these settings at the time that counts. A local edit stays one, unless the document
    /// names the setting as one that it replaces.
    fn local_values(&self, document: &SettingsDocument) -> BTreeMap<String, Value> {
        let before = self.standing.in_use().map(|(given, _)| &given.local);
        let value = |name: &String| {
            let now = self.own.value(name).unwrap_or(Value::Null);
            match before.and_then(|before| before.get(name)) {
                Some(then) if !document.over_local.contains(name) => then.clone(),
                _ => now,
            }
        };
        document.settings.keys().map(|name| (name.clone(), value(name))).collect()
    }

    /// Takes what the journal knows: its latest mark about settings. A version that was begun is not taken again, even
    /// if a person has removed the folder since.
    pub fn journal_knows(&mut self, latest: Option<&FleetChange>) {
        let Some(latest) = latest.filter(|latest| latest.version > self.standing.floor) else { return };
        self.standing.floor = latest.version;
    }

    /// Judges settings that came. Returns `None` if they change nothing.
    ///
    /// # Errors
    /// Fails if they are not signed by a known key, or are refused without a trace on the disk.
    pub fn settings_came(&self, bytes: &[u8]) -> Result<Option<SettingsMove>, FleetRefusal> {
        let envelope = Envelope::read(bytes).map_err(|error| FleetRefusal::Malformed(error.to_string()))?;
        if envelope.kind != DocumentKind::Settings {
            return Err(FleetRefusal::Malformed("it is no document of settings".to_owned()));
        }
        let digest = sha256(&envelope);
        let is_known = self.standing.last.as_ref().is_some_and(|last| last.sha256 == digest);
        let signers = self.chain.in_force().signers_of(&envelope);
        if signers.is_empty() {
            return if is_known { Ok(None) } else { Err(FleetRefusal::NotSigned) };
        }
        let document: SettingsDocument =
            read(&envelope.document).map_err(|error| refused("malformed", error.to_string()))?;
        for_this_terminal(&self.fleet, document.v, &document.org, &document.terminal)?;
        let signed: Vec<&CommandSigner> =
            signers.iter().copied().filter(|signer| signer.kind == KeyKind::Config).collect();
        if signed.is_empty() {
            return Err(refused("key-not-allowed", format!("{} may not sign settings", names(&signers).join(", "))));
        }
        if document.version <= self.standing.floor {
            return Ok(None);
        }
        if document.version - self.standing.floor > MOST_RISE {
            let last = self.standing.floor;
            let text = format!("the version {} is more than {MOST_RISE} above the last one, {last}", document.version);
            return Err(refused("version-too-high", text));
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        if self.standing.is_trial() || self.restarts {
            // It is judged when the trial has ended.
            let standing = SettingsStanding { next: Some(text), ..self.standing.clone() };
            let moved = SettingsMove { mark: None, standing, then: ThenDo::Nothing };
            return Ok((moved.standing != self.standing).then_some(moved));
        }
        let given = GivenSettings { envelope: text, local: self.local_values(&document) };
        let given = self.may_be_used(&document, &given).map(|()| given);
        Ok(Some(self.standing.with(&document, (digest, names(&signed)), given)))
    }

    /// Checks settings as the file is checked: all of them, and those that no local edit replaces.
    fn may_be_used(&self, document: &SettingsDocument, given: &GivenSettings) -> Result<(), Fault> {
        let drift = self.drifted(given, document);
        let effective = without(document.settings.clone(), &drift);
        for settings in [&document.settings, &effective] {
            self.own.with(settings).map_err(|why| match why {
                NotUsable::NotAllowed(name) => {
                    fault("not-allowed", format!("{name} is no setting that a fleet may give"))
                }
                NotUsable::Value(why) => fault("wrong-value", short(&why)),
            })?;
        }
        Ok(())
    }

    /// Takes keys that came. `mark` writes the journal's mark. Returns whether the keys in force have changed.
    ///
    /// # Errors
    /// Fails if the keys are not signed by a known key or cannot be written. A refusal that a known key signed is no
    /// error: the report has its reason.
    pub fn keys_came(
        &mut self,
        bytes: &[u8],
        mark: impl FnOnce(&FleetChange) -> Result<(), pos_journal::Error>,
    ) -> Result<Result<bool, CommitError>, FleetRefusal> {
        let envelope = Envelope::read(bytes).map_err(|error| FleetRefusal::Malformed(error.to_string()))?;
        let next = match self.chain.judged(&self.fleet, &envelope, false) {
            Ok(next) => next,
            Err(FleetRefusal::Refused(why)) => {
                tracing::warn!(code = why.code, why = why.text, "the fleet's keys are refused");
                self.keys_refused = Some(why);
                return Ok(Ok(false));
            }
            Err(refusal) => return Err(refusal),
        };
        let Some(next) = next else { return Ok(Ok(false)) };
        Ok(self.take_keys(next, mark))
    }

    fn take_keys(
        &mut self,
        next: NextKeys,
        mark: impl FnOnce(&FleetChange) -> Result<(), pos_journal::Error>,
    ) -> Result<bool, CommitError> {
        let change = FleetChange {
            step: FleetStep::Kept,
            version: next.version(),
            sha256: next.sha256(),
            author: next.author().to_owned(),
            keys: next.signers.clone(),
            why: None,
        };
        let mut chain = self.chain.clone();
        chain.take(&self.fleet, next);
        mark(&change)?;
        self.folder.write(OverlayFile::Keys, &chain.documents).map_err(|cause| self.unwritable(cause))?;
        tracing::info!(version = change.version, author = change.author, "the fleet's command keys are in force");
        (self.chain, self.keys_refused) = (chain, None);
        Ok(true)
    }

    fn unwritable(&self, cause: io::Error) -> CommitError {
        CommitError::Folder { folder: self.folder.path().display().to_string(), cause }
    }

    /// Returns the next change that is due.
    pub fn look(&mut self, facts: TrialFacts) -> Option<SettingsMove> {
        if self.restarts || facts.now < self.retry_at {
            return None;
        }
        self.seen.reader |= facts.reader;
        self.seen.gateway |= facts.gateway;
        let SeenInTrial { reader, gateway, acknowledged } = self.seen;
        if let Some(moved) = self.standing.next(TrialFacts { reader, gateway, acknowledged, ..facts }, self.tries_this)
        {
            return Some(moved);
        }
        // A version that came during the trial is judged now.
        let text = self.standing.next.clone().filter(|_| !self.standing.is_trial())?;
        self.standing.next = None;
        match self.settings_came(text.as_bytes()) {
            Ok(moved) => moved,
            Err(refusal) => {
                tracing::warn!(?refusal, "settings that came during a trial are not taken");
                None
            }
        }
    }

    /// Returns the age of the process at which a change may be due.
    #[must_use]
    pub fn due(&self, now: Duration) -> Option<Duration> {
        if self.restarts {
            return None;
        }
        let retry = (self.retry_at > now).then_some(self.retry_at);
        retry.or_else(|| self.standing.due(now, self.tries_this))
    }

    /// Writes a change: first the journal's mark, then the file. `mark` writes the mark, and returns the journal's
    /// identity and the entry. Only then may the agent act.
    ///
    /// # Errors
    /// Fails if the mark or the file cannot be written. The change is then due again later. The way back needs no mark
    /// first, because the journal may be what is broken.
    pub fn commit(
        &mut self,
        moved: SettingsMove,
        now: Duration,
        mark: impl FnOnce(&FleetChange) -> Result<(String, i64), pos_journal::Error>,
    ) -> Result<ThenDo, CommitError> {
        let SettingsMove { mark: step, mut standing, then } = moved;
        let goes_back = then == ThenDo::GoBack;
        if let (Some(step), Some(last)) = (step, standing.last.as_mut())
            && !(goes_back && self.is_back_marked)
        {
            match mark(&last.change(step)) {
                Ok((journal, entry)) => {
                    if step == FleetStep::Begun {
                        (last.journal, last.entry) = (journal, entry);
                    }
                    self.is_back_marked = goes_back;
                }
                Err(error) if goes_back => tracing::error!(%error, "the end of a trial could not be recorded yet"),
                Err(error) => {
                    self.retry_at = now + RETRY_BACK;
                    return Err(error.into());
                }
            }
        }
        if goes_back {
            standing.last.iter_mut().for_each(|last| last.owed = !self.is_back_marked);
        }
        if let Err(cause) = self.folder.write(OverlayFile::Settings, &standing) {
            self.retry_at = now + if goes_back { RETRY_BACK } else { RETRY };
            return Err(self.unwritable(cause));
        }
        if let (Some(step), Some(last)) = (step, &standing.last) {
            let (version, author) = (last.version, last.author.as_str());
            let why = last.reason.as_ref().map_or("", |reason| reason.text.as_str());
            tracing::info!(version, author, ?step, why, "the fleet's settings");
        }
        if standing.last.as_ref().is_some_and(|last| last.state == SettingsState::Kept) {
            self.tries_this = false;
        }
        self.trouble.retain(|trouble| !matches!(trouble, GivenTrouble::Settings(_)));
        self.restarts |= then != ThenDo::Nothing;
        self.standing = standing;
        Ok(then)
    }

    /// Takes the server's acknowledgement of a journal up to this entry.
    pub fn acknowledged(&mut self, journal: &str, number: i64) {
        let Some(last) = &self.standing.last else { return };
        let is_this = self.tries_this && last.journal == journal && number >= last.entry;
        self.seen.acknowledged |= is_this;
    }

    /// Returns the keys in force.
    #[must_use]
    pub fn keys(&self) -> &FleetKeys {
        self.chain.in_force()
    }

    /// Returns the version of the settings in use, 0 for the terminal's own alone.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the version of the command keys, 0 for those of the terminal's own configuration.
    #[must_use]
    pub fn keys_version(&self) -> u64 {
        self.chain.version()
    }

    /// Returns the settings in use that came from the fleet.
    #[must_use]
    pub fn in_use(&self) -> &BTreeMap<String, Value> {
        &self.in_use
    }

    /// Returns the settings that were edited at the terminal, which then keeps its own.
    #[must_use]
    pub fn drift(&self) -> &[String] {
        &self.drift
    }

    /// Returns the parts that cannot be used.
    #[must_use]
    pub fn trouble(&self) -> &[GivenTrouble] {
        &self.trouble
    }

    /// Returns the version of the running trial.
    #[must_use]
    pub fn trial(&self) -> Option<u64> {
        self.standing.last.as_ref().filter(|last| last.state == SettingsState::Trial).map(|last| last.version)
    }

    /// Returns the version that the terminal went back from, with the reason.
    #[must_use]
    pub fn returned(&self) -> Option<(u64, &str)> {
        let last = self.standing.last.as_ref().filter(|last| last.state == SettingsState::Returned)?;
        Some((last.version, last.reason.as_ref().map_or("", |reason| reason.text.as_str())))
    }

    /// Returns the terminal's report. `at` is the time in UTC (RFC 3339).
    #[must_use]
    pub fn report(&self, at: String) -> Reported {
        let last = self.standing.last.as_ref();
        let unusable = self.trouble.iter().find_map(|trouble| match trouble {
            GivenTrouble::Settings(why) => Some(fault("not-usable", short(why))),
            GivenTrouble::Keys(_) => None,
        });
        // Without the folder, the journal still knows which version came last.
        let cleared = (last.is_none() && self.standing.floor > 0)
            .then(|| fault("cleared", "the fleet's settings were removed at the terminal"));
        let state = match last {
            Some(last) => last.state,
            None if self.standing.floor > 0 => SettingsState::Refused,
            None => SettingsState::Local,
        };
        let keys_unusable = self.trouble.iter().find_map(|trouble| match trouble {
            GivenTrouble::Keys(why) => Some(fault("not-usable", short(why))),
            GivenTrouble::Settings(_) => None,
        });
        Reported {
            version: self.version,
            tried: last.map_or(self.standing.floor, |last| last.version),
            sha256: last.map(|last| last.sha256.clone()).unwrap_or_default(),
            state,
            reason: unusable.or(cleared).or_else(|| last.and_then(|last| last.reason.clone())),
            drift: self.drift.clone(),
            entry: last.map_or(0, |last| last.entry),
            keys_version: self.chain.version(),
            keys: self.keys().all().iter().map(CommandSigner::told).collect(),
            keys_refused: self.keys_refused.clone().or(keys_unusable),
            at,
        }
    }
}

fn without(mut settings: BTreeMap<String, Value>, names: &[String]) -> BTreeMap<String, Value> {
    settings.retain(|name, _| !names.contains(name));
    settings
}

/// Returns the beginning of a sentence that fits into a report.
fn short(text: &str) -> String {
    text.chars().take(400).collect()
}
