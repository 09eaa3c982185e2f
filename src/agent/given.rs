//! The fleet's settings and keys in the running agent. `crate::overlay` decides; this module knows the devices, writes
//! the journal's marks, and restarts.

use std::time::Duration;

use chrono::{SecondsFormat, Utc};
use pos_fleet_terms::{Fault, Reported, SettingsState};
use ring::digest::{SHA256, digest};

use super::{Agent, STOP_PATIENCE};
use crate::overlay::{
    CommitError, FleetGiven, FleetRefusal, GivenTrouble, SettingsMove, TRIAL_LASTS, ThenDo, TrialFacts,
};
use crate::till::{Attention, FleetRefused, FleetSettingsRequest, Health};
use pos_words::{Message, Sentence};

/// A restart because of the fleet's settings: as soon as no card and no till waits, and at this time of the process
/// like an orderly stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestartBy(pub(super) Duration);

impl Agent {
    /// Uses what the fleet gave.
    pub(super) fn use_given(&mut self, given: Option<FleetGiven>) {
        let Some(mut given) = given else { return };
        match self.engine.journal.book().latest_fleet_settings() {
            Ok(latest) => given.journal_knows(latest.as_ref()),
            Err(error) => tracing::warn!(%error, "the journal's marks about the fleet's settings cannot be read"),
        }
        for trouble in given.trouble() {
            match trouble {
                GivenTrouble::Settings(why) => tracing::error!(why, "the fleet's settings are not used"),
                GivenTrouble::Keys(why) => tracing::error!(why, "no command key of the fleet is in force"),
            }
        }
        if given.version() > 0 {
            let (version, drift) = (given.version(), given.drift().join(", "));
            tracing::info!(version, drift, is_trial = given.trial().is_some(), "settings of the fleet are in use");
        }
        self.fleet.use_keys(given.keys().clone());
        self.given = Some(given);
    }

    /// Begins, keeps or ends a trial of the fleet's settings, if that is due.
    pub(super) fn look_at_given(&mut self) {
        let Some(trial) = self.given.as_ref().map(FleetGiven::trial) else { return };
        let now = self.engine.clock.monotonic();
        // A write must not delay a transaction. The end of a trial is not put off for ever.
        if self.engine.devices.reader.in_use_by.is_some() && (trial.is_none() || now < TRIAL_LASTS) {
            return;
        }
        let answers = self.answers();
        let facts = TrialFacts {
            now,
            may_begin: self.is_idle() && self.is_in_window() && !self.engine.stopping,
            is_healthy: trial.is_some() && self.is_healthy(),
            reader: answers.reader,
            gateway: answers.gateway,
            acknowledged: false,
        };
        // One change may make the next one due, and no event would wake the loop for it.
        while let Some(moved) = self.given.as_mut().and_then(|given| given.look(facts)) {
            if let Err(error) = self.commit_given(moved) {
                tracing::error!(%error, "a change of the fleet's settings could not be written");
                return;
            }
        }
    }

    /// Returns whether the journal is written, and each device answers that answered before.
    fn is_healthy(&self) -> bool {
        let journal = &self.engine.journal;
        let health = self.answered.health(journal.fault.as_ref().map(|_| String::new()), self.answers());
        let is_good = |part| part != Health::Awaited;
        !journal.is_barred() && health.journal.is_none() && is_good(health.reader) && is_good(health.gateway)
    }

    /// Writes a change, and then does what follows from it.
    fn commit_given(&mut self, moved: SettingsMove) -> Result<(), CommitError> {
        let Self { given: Some(given), engine, .. } = self else { return Ok(()) };
        let (now, unix_ms) = (engine.clock.monotonic(), engine.clock.unix_ms());
        let journal = &mut engine.journal;
        let then = match given.commit(moved, now, |change| journal.mark_fleet_settings(change, unix_ms)) {
            Err(CommitError::Journal(error)) => {
                engine.journal_is_faulty(&error);
                return Err(error.into());
            }
            done => done?,
        };
        if then != ThenDo::Nothing {
            self.restart_by = Some(RestartBy(now + STOP_PATIENCE));
        }
        Ok(())
    }

    /// Answers a request about the fleet's settings and keys.
    pub(super) fn fleet_settings_asked(&mut self, request: FleetSettingsRequest) {
        match request {
            FleetSettingsRequest::Report { reply } => drop(reply.send(self.given_report())),
            FleetSettingsRequest::Settings { envelope, reply } => drop(reply.send(self.settings_came(&envelope))),
            FleetSettingsRequest::Keys { envelope, reply } => drop(reply.send(self.keys_came(&envelope))),
            FleetSettingsRequest::Acknowledged { journal, number, reply } => {
                if let Some(given) = &mut self.given {
                    given.acknowledged(&journal, number);
                }
                self.look_at_given();
                let _ = reply.send(self.given_report());
            }
        }
    }

    fn given_report(&self) -> Result<Reported, FleetRefused> {
        let given = self.given.as_ref().ok_or(FleetRefused::NoFleet)?;
        let at = self.engine.clock.local().map(|local| local.with_timezone(&Utc));
        Ok(given.report(at.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true)).unwrap_or_default()))
    }

    fn settings_came(&mut self, envelope: &[u8]) -> Result<Reported, FleetRefused> {
        let given = self.given.as_ref().ok_or(FleetRefused::NoFleet)?;
        match given.settings_came(envelope) {
            Ok(None) => {}
            Ok(Some(moved)) => self.commit_given(moved).map_err(|error| FleetRefused::Journal(error.to_string()))?,
            Err(FleetRefusal::Refused(reason)) => return self.refused_without_a_trace(envelope, reason),
            Err(refusal) => return Err(self.not_judged(refusal)),
        }
        self.look_at_given();
        self.given_report()
    }

    /// Reports settings that a known key signed, but that this terminal does not count as a version of its own.
    fn refused_without_a_trace(&self, envelope: &[u8], reason: Fault) -> Result<Reported, FleetRefused> {
        tracing::warn!(code = reason.code, why = reason.text, "the fleet's settings are refused");
        let document = pos_fleet_terms::Envelope::read(envelope).map(|envelope| envelope.document).unwrap_or_default();
        let sha256 = hex::encode(digest(&SHA256, &document));
        let report = self.given_report()?;
        Ok(Reported { tried: 0, sha256, state: SettingsState::Refused, reason: Some(reason), ..report })
    }

    fn keys_came(&mut self, envelope: &[u8]) -> Result<Reported, FleetRefused> {
        let Self { given, engine, fleet, .. } = &mut *self;
        let given = given.as_mut().ok_or(FleetRefused::NoFleet)?;
        let (unix_ms, journal) = (engine.clock.unix_ms(), &mut engine.journal);
        match given.keys_came(envelope, |change| journal.mark_fleet_keys(change, unix_ms)) {
            Ok(Ok(true)) => {
                let keys = given.keys().clone();
                fleet.use_keys(keys);
            }
            Ok(Ok(false)) => {}
            Ok(Err(error)) => {
                if let CommitError::Journal(error) = &error {
                    engine.journal_is_faulty(error);
                }
                return Err(FleetRefused::Journal(error.to_string()));
            }
            Err(refusal) => return Err(self.not_judged(refusal)),
        }
        self.given_report()
    }

    fn not_judged(&mut self, refusal: FleetRefusal) -> FleetRefused {
        match refusal {
            FleetRefusal::Malformed(why) => FleetRefused::Malformed(why),
            FleetRefusal::Refused(fault) => FleetRefused::Malformed(fault.text),
            FleetRefusal::NotSigned => {
                self.fleet.count_not_signed(self.engine.clock.monotonic());
                FleetRefused::NotSigned
            }
        }
    }

    /// Returns what a person should know about the fleet's settings and keys.
    pub(super) fn given_attention(&self) -> Vec<(Attention, Sentence)> {
        let Some(given) = &self.given else { return Vec::new() };
        let mut told = Vec::new();
        if let Some(version) = given.trial() {
            let said = Message::AttentionFleetSettingsTrial.with("version", version.to_string());
            told.push((Attention::FleetSettingsTrial, said));
        }
        if let Some((version, why)) = given.returned() {
            let said = Message::AttentionFleetSettingsReturned.with("version", version.to_string()).with("why", why);
            told.push((Attention::FleetSettingsReturned, said));
        }
        if !given.drift().is_empty() {
            let said = Message::AttentionFleetSettingsDrift.with("settings", given.drift().join(", "));
            told.push((Attention::FleetSettingsDrift, said));
        }
        told.extend(given.trouble().iter().map(|trouble| match trouble {
            GivenTrouble::Settings(why) => {
                (Attention::FleetSettingsUnusable, Message::AttentionFleetSettingsUnusable.with("why", why.as_str()))
            }
            GivenTrouble::Keys(why) => {
                (Attention::FleetKeysUnusable, Message::AttentionFleetKeysUnusable.with("why", why.as_str()))
            }
        }));
        told
    }

    /// Returns whether the agent restarts now because of the fleet's settings.
    pub(super) fn restarts_for_given(&self) -> bool {
        self.restart_by.is_some() && self.is_idle()
    }

    /// Returns whether the agent has waited long enough, and stops in order to restart.
    pub(super) fn stops_for_given(&self) -> bool {
        self.restart_by.is_some_and(|RestartBy(at)| at <= self.engine.clock.monotonic())
    }

    /// Returns the time at which the fleet's settings need the loop.
    pub(super) fn given_due(&self) -> Option<Duration> {
        let now = self.engine.clock.monotonic();
        match self.restart_by {
            Some(RestartBy(at)) => Some(at),
            None => self.given.as_ref().and_then(|given| given.due(now)),
        }
    }
}
