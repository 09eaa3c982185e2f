//! `pos-agent log-level`: changes the log level for a limited time, without a restart.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::till::LogView;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
After the time of --for, and after a restart, the agent uses its usual level:
from --log of pos-agent run, else from RUST_LOG, else info. `pos-agent
log-level usual` ends the change immediately. pos-agent status shows a changed
level. The log holds no card data at any level.

The caller needs the right service, which root and the agent's user have.

Exit codes: 0 done; 64 wrong usage; 69 no agent; 77 not permitted.")]
pub(super) struct LogLevel {
    /// The log level
    #[arg(value_name = "LEVEL")]
    level: Level,
    /// The duration, for example 90s, 10m or 2h; at most 24h
    #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = time)]
    lasts: Duration,
    /// Print the current level as one JSON object, or null for the usual level
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    /// End the change and use the level that the agent started with
    Usual,
    /// The steps of each sale, and faults
    Info,
    /// The messages of each device
    Debug,
    /// Everything
    Trace,
}

impl LogLevel {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let level = self.level.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let body = serde_json::json!({ "level": level, "forS": self.lasts.as_secs() });
        let now: Option<LogView> = self.daemon.daemon()?.post("/v1/log-level", &body).await?;
        if self.json {
            out::say_json(&now);
        } else {
            out::say(&now.as_ref().map_or_else(|| "the log level is the usual one".to_owned(), line));
        }
        Ok(Exit::Success)
    }
}

/// Returns the log level and its remaining time as a line.
pub(super) fn line(LogView { level, left_s }: &LogView) -> String {
    let left = match left_s {
        ..120 => format!("{left_s} s"),
        120..7200 => format!("{} min", left_s.div_ceil(60)),
        _ => format!("{} h", left_s.div_ceil(3600)),
    };
    format!("{} for {left}, then the usual level", level.as_str())
}

/// Parses a duration such as `90s`, `10m` or `2h`.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "must be a whole number followed by s, m or h, for example 10m, from 1s to 24h".to_owned();
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let time = number.checked_mul(seconds).filter(|time| (1..=24 * 3600).contains(time)).ok_or_else(wrong)?;
    Ok(Duration::from_secs(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::till;

    #[test]
    fn times_have_a_unit_and_bounds() {
        for (text, seconds) in [("1s", 1), ("90s", 90), ("10m", 600), ("2h", 7200), ("24h", 86_400), ("1440m", 86_400)]
        {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "s",
            "0s",
            "10",
            "10 m",
            "-1m",
            "25h",
            "86401s",
            "1d",
            "1.5h",
            "ü",
            "99999999999999999999h",
            "5124095576030431h",
        ] {
            assert!(time(text).unwrap_err().contains("for example 10m"), "{text}");
        }
    }

    #[test]
    fn what_is_left_is_told_in_a_unit_that_fits() {
        let said = |left_s| line(&LogView { level: till::LogLevel::Debug, left_s });
        assert_eq!(said(1), "debug for 1 s, then the usual level");
        assert_eq!(said(119), "debug for 119 s, then the usual level");
        assert_eq!(said(3599), "debug for 60 min, then the usual level");
        assert_eq!(said(86_400), "debug for 24 h, then the usual level");
    }
}
