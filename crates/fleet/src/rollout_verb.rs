//! `pos-fleet rollout`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use pos_fleet::config::FleetConfig;
use pos_fleet::documents::settings_of;
use pos_fleet::rollout_run::{self, NewRollout, RolloutError, ShownRollout, ShownWave};
use pos_fleet::signing::SigningKey;
use pos_fleet_terms::Id;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::arguments::Author;
use crate::{Stop, now, opened, say};

/// The names of the waves.
const NAMES: [&str; 5] = ["pilot", "1 %", "10 %", "50 %", "100 %"];

#[derive(Debug, Args)]
pub(crate) struct Rollouts {
    #[command(subcommand)]
    verb: RolloutVerb,
}

#[derive(Debug, Subcommand)]
enum RolloutVerb {
    /// Sign settings for all terminals, and give them in waves
    Start {
        /// All settings that the fleet gives, as in a terminal's config.toml
        #[arg(long, value_name = "FILE")]
        settings: PathBuf,
        /// A setting that replaces a local edit; repeat it for several
        #[arg(long, value_name = "SETTING")]
        over_local: Vec<String>,
        /// The first terminal
        #[arg(long, value_name = "TERMINAL")]
        pilot: Id,
        /// The file of the config key that signs; the server does not keep it
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// The time for which each wave is watched, for example 24h, 90m or 30s
        #[arg(long, value_name = "TIME", default_value = "24h", value_parser = time_of)]
        soak: Duration,
        /// Let a wave go on without a close of day of each terminal
        #[arg(long)]
        without_close: bool,
        #[command(flatten)]
        by: Author,
    },
    /// List the roll-outs
    List,
    /// Show a roll-out: its waves, its failures, and who did what
    Show {
        /// The number of the roll-out
        id: i64,
    },
    /// Stop a roll-out: no further terminal gets the settings
    Stop {
        /// The number of the roll-out
        id: i64,
        /// Also give the settings before to each terminal that has got these
        #[arg(long, requires = "key")]
        back: bool,
        /// The file of the config key that signs the settings before
        #[arg(long, value_name = "FILE", requires = "back")]
        key: Option<PathBuf>,
        #[command(flatten)]
        by: Author,
    },
    /// Let a stopped roll-out go on; its failures up to now are let pass
    GoOn {
        /// The number of the roll-out
        id: i64,
        #[command(flatten)]
        by: Author,
    },
}

/// Reads a time: a number with s, m, h or d.
fn time_of(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time: write a number with s, m, h or d, for example 24h");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let count: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    // A year is longer than any soak.
    match count.checked_mul(seconds).filter(|seconds| (1..=366 * 86_400).contains(seconds)) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err(wrong()),
    }
}

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
    use super::*;

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
