//! `pos-fleet rollout`.

use std::fs;
use std::path::Path;

use pos_fleet::config::FleetConfig;
use pos_fleet::documents::settings_of;
use pos_fleet::rollout_run::{self, NewRollout, RolloutError, ShownRollout, ShownWave};
use pos_fleet::signing::SigningKey;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::arguments::{RolloutVerb, Rollouts};
use crate::{Stop, now, opened, say};

/// The names of the waves.
const NAMES: [&str; 5] = ["pilot", "1 %", "10 %", "50 %", "100 %"];

impl Rollouts {
    pub(crate) async fn run(&self, config: &FleetConfig) -> Result<(), Stop> {
        let key = |file: &Path| SigningKey::load(file).map_err(|error| Stop::Failed(error.to_string()));
        let failed = |error: RolloutError| match error {
            RolloutError::Database(_) => Stop::Unreachable(error.to_string()),
            other => Stop::Usage(other.to_string()),
        };
        let gone = |error: tokio_postgres::Error| Stop::Unreachable(error.to_string());
        match &self.verb {
            RolloutVerb::Start { settings: file, over_local, pilot, key: signer, soak, without_close, by } => {
                let wrong = |error: &dyn std::fmt::Display| Stop::Failed(format!("{}: {error}", file.display()));
                let text = fs::read_to_string(file).map_err(|error| wrong(&error))?;
                let new = NewRollout {
                    org: config.org.clone(),
                    settings: settings_of(&text).map_err(|error| wrong(&error))?,
                    over_local: over_local.clone(),
                    pilot: pilot.clone(),
                    soak: *soak,
                    with_close: !without_close,
                    author: by.name(),
                };
                let signer = key(signer)?;
                let mut client = opened(config).await?;
                let (id, count) = rollout_run::start(&mut client, &signer, new, now()).await.map_err(failed)?;
                say(&format!("roll-out {id}: {count} documents are signed; the desk gives the first one to {pilot}"));
            }
            RolloutVerb::List => {
                let client = opened(config).await?;
                for rollout in rollout_run::show(&client, None).await.map_err(gone)? {
                    say(&line(&rollout));
                }
            }
            RolloutVerb::Show { id } => {
                let client = opened(config).await?;
                let shown = rollout_run::show(&client, Some(*id)).await.map_err(gone)?;
                let rollout = shown.first().ok_or_else(|| failed(RolloutError::None(*id)))?;
                say(&whole(rollout));
                for (terminal, why) in rollout_run::failures(&client, *id).await.map_err(gone)? {
                    say(&format!("  failed: {terminal} {why}"));
                }
            }
            RolloutVerb::Stop { id, key: signer, by, .. } => {
                let signer = signer.as_deref().map(key).transpose()?;
                let mut client = opened(config).await?;
                let back = signer.as_ref().map(|signer| (&config.org, signer));
                let given = rollout_run::stop(&mut client, *id, &by.name(), back, now()).await.map_err(failed)?;
                match back {
                    Some(_) => say(&format!("roll-out {id} is stopped; {given} terminals get the settings before")),
                    None => say(&format!("roll-out {id} is stopped; who has the settings keeps them")),
                }
            }
            RolloutVerb::GoOn { id, by } => {
                let mut client = opened(config).await?;
                rollout_run::go_on(&mut client, *id, &by.name(), now()).await.map_err(failed)?;
                say(&format!("roll-out {id} goes on"));
            }
        }
        Ok(())
    }
}

fn time(at: &OffsetDateTime) -> String {
    at.replace_nanosecond(0).unwrap_or(*at).format(&Rfc3339).unwrap_or_default()
}

fn line(rollout: &ShownRollout) -> String {
    let sum = |count: fn(&ShownWave) -> i64| rollout.waves.iter().map(count).sum::<i64>();
    let (all, released) = (sum(|wave| wave.all), sum(|wave| wave.released));
    let (kept, failed) = (sum(|wave| wave.kept), sum(|wave| wave.failed));
    let ShownRollout { id, state, reason, started, .. } = rollout;
    let started = time(started);
    format!("{id}  {state}  {released} of {all} have it, {kept} keep it, {failed} failed; started {started}  {reason}")
}

fn whole(rollout: &ShownRollout) -> String {
    let mut lines = line(rollout);
    lines.push_str(&format!("\n  settings: {}", rollout.settings));
    for (name, wave) in NAMES.iter().zip(&rollout.waves) {
        let ShownWave { all, released, kept, failed } = wave;
        lines.push_str(&format!("\n  {name}: {released} of {all} have it, {kept} keep it, {failed} failed"));
    }
    for act in &rollout.acts {
        lines.push_str(&format!("\n  {} {} by {} {}", time(&act.at), act.act, act.by, act.text));
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::arguments::time_of;

    #[test]
    fn a_time_has_a_unit() {
        for (text, seconds) in [("24h", 86_400), ("90m", 5_400), ("30s", 30), ("2d", 172_800)] {
            assert_eq!(time_of(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "h", "24", "0s", "-1h", "1.5h", "99999999999999999999h", "999999999999d", "5ä"] {
            assert!(time_of(text).is_err(), "{text}");
        }
    }
}
