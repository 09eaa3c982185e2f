//! `pos-agent journal`: lists the transactions of all tills, as the agent sends them. Its subcommands read the journal
//! file directly.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use pos_till_api::routes::encoded;
use serde::{Deserialize, Serialize};

use self::accept::Accept;
use self::adopt::Adopt;
use self::export::Export;
use self::set_clock_back::SetClockBack;
use self::verify::Verify;
use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::config::{self, DEFAULT_PATH};
use crate::till::{ProblemType, SaleView};
use pos_journal::Error;
use pos_terms::transaction::{SaleNumber, Who};

mod accept;
mod adopt;
mod export;
mod set_clock_back;
mod verify;

/// Arguments.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Journal {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    list: List,
    /// Print one JSON object per line, in the form that tills get
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

/// The filters and the order of the list. Each option is the `GET /v1/sales` parameter with the same name.
#[derive(Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
struct List {
    /// Only transactions with a number above this
    #[arg(long, value_name = "NUMBER", default_value_t = SaleNumber::BEFORE_ALL)]
    since: SaleNumber,
    /// Maximum number of transactions [default: all]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip)]
    limit: Option<u32>,
    /// Only transactions of this till
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// Only training transactions
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    training: bool,
    /// The order: oldest or newest first
    #[arg(long, value_name = "ORDER", value_parser = ["oldest", "newest"], default_value = "oldest")]
    order: String,
    /// Only transactions with this requested or approved amount, for example 12.34
    #[arg(long)]
    amount: Option<String>,
    /// Only transactions that began at or after this time, for example 2026-11-20T12:00:00+01:00
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Only transactions that began before this time
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Only transactions with a card whose number ends with these four digits
    #[arg(long, value_name = "DIGITS")]
    last4: Option<String>,
    /// Only transactions whose reference contains this text
    #[arg(long, value_name = "PART")]
    reference: Option<String>,
    /// Only transactions of this kind, for example refund
    #[arg(long)]
    kind: Option<String>,
    /// Only transactions in this state, for example unconfirmed
    #[arg(long)]
    state: Option<String>,
    /// Only transactions with this outcome, for example declined
    #[arg(long)]
    outcome: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Check that the journal is as it was written, and show its head
    Verify(Verify),
    /// Export the facts needed for a dispute, with each transaction on one line as a JSON object
    Export(Export),
    /// Take over the journal of another board, with its open transactions; the agent must be stopped
    Adopt(Adopt),
    /// Accept this journal although the terminal has taken sales with a different one; the agent must be stopped
    Accept(Accept),
    /// Declare later times in the journal wrong, because the clock was ahead; the agent must be stopped
    SetClockBack(SetClockBack),
}

/// The journal file. The subcommands read it directly, whether or not the agent runs.
#[derive(Debug, Args)]
struct Which {
    /// The agent's configuration, which names the journal [default: /etc/pos-agent/config.toml if it can be read]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The journal [default: the one that the configuration names]
    #[arg(long, value_name = "PATH")]
    journal: Option<PathBuf>,
}

impl Which {
    /// Returns the journal's path, and the terminal's id if the configuration can be read.
    fn journal(&self) -> Result<(PathBuf, Option<String>), Stop> {
        let config = match &self.config {
            Some(file) => Some(config::read(file)?),
            None => config::read(Path::new(DEFAULT_PATH)).ok(),
        };
        let (path, terminal) = match config {
            Some(config) => (config.journal.path, Some(config.terminal.id)),
            None => (config::Journal::default().path, None),
        };
        Ok((self.journal.clone().unwrap_or(path), terminal))
    }

    /// Returns the configuration, for a verb that needs more of it than the journal's path.
    fn config(&self) -> Result<config::Config, Stop> {
        Ok(config::read(self.config.as_deref().unwrap_or(Path::new(DEFAULT_PATH)))?)
    }
}

/// The maximum length of a name, in characters. A longer name is refused, not cut.
const LONGEST_NAME: usize = 64;

/// Checks the name of a person who confirms an action. The journal records the name.
fn name(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    let fits = (1..=LONGEST_NAME).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if fits { Ok(text.to_owned()) } else { Err("give 1 to 64 letters") }
}

/// Returns the stop for a journal error.
fn stop(error: &Error) -> Stop {
    match error {
        Error::NotAdopted { .. } | Error::ClockStays { .. } | Error::OfAnotherPurpose { .. } => {
            Stop::new(Exit::Data, error.to_string())
        }
        _ => Stop::coded(ProblemType::Journal, error.to_string()),
    }
}

/// The number of transactions per request.
const PAGE: u32 = 500;

#[derive(Deserialize)]
struct Sales {
    sales: Vec<SaleView>,
    next: Option<String>,
}

impl Journal {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        match self.verb {
            Some(Verb::Verify(verb)) => verb.run(),
            Some(Verb::Export(verb)) => verb.run(),
            Some(Verb::Adopt(verb)) => verb.run(),
            Some(Verb::Accept(verb)) => verb.run(),
            Some(Verb::SetClockBack(verb)) => verb.run(),
            None => self.list().await,
        }
    }

    async fn list(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let query = self.list.query();
        let (mut left, mut cursor) = (self.list.limit.unwrap_or(u32::MAX), String::new());
        loop {
            let limit = left.min(PAGE);
            let Sales { sales, next } = daemon.get(&format!("/v1/sales?{query}&limit={limit}{cursor}")).await?;
            for sale in &sales {
                if self.json { out::say_json(sale) } else { out::say(&line(sale)) }
            }
            left = left.saturating_sub(u32::try_from(sales.len()).unwrap_or(left));
            // A cursor that does not change would cause an endless loop.
            match next.map(|next| format!("&cursor={}", encoded(&next))) {
                Some(next) if left > 0 && next != cursor => cursor = next,
                _ => return Ok(Exit::Success),
            }
        }
    }
}

impl List {
    /// Returns the given options as query parameters.
    fn query(&self) -> String {
        let fields = serde_json::to_value(self).expect("options are text and numbers");
        let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let given = fields.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        let given = given.map(|(name, value)| format!("{name}={}", encoded(&text(value))));
        given.collect::<Vec<_>>().join("&")
    }
}

fn line(sale: &SaleView) -> String {
    let SaleView { number, started_at, till, reference, .. } = sale;
    let (kind, standing, sold) = (sale.kind.as_str(), out::standing(sale), out::sale_line(sale));
    let person = sale.by.as_ref().and_then(Who::person).map_or_else(String::new, |person| format!("  by {person}"));
    format!("{number:>6}  {started_at}  {till:<8}  {reference:<24}  {kind:<17}  {standing:<18}  {sold}{person}")
}
