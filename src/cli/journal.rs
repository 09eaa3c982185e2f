//! `pos-agent journal`: the sales of all tills, as the daemon tells them; below it the verbs that read the file
//! themselves.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Deserialize;

use self::adopt::Adopt;
use self::export::Export;
use self::set_clock_back::SetClockBack;
use self::verify::Verify;
use super::daemon::of_sale;
use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::config::{self, DEFAULT_PATH};
use crate::journal::Error;
use crate::till::{ProblemType, SaleView};
use crate::transaction::{SaleNumber, Who};

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
    /// Only sales with a number above this
    #[arg(long, value_name = "NUMBER", default_value_t = SaleNumber::BEFORE_ALL)]
    since: SaleNumber,
    /// The transactions of training, and no others
    #[arg(long)]
    training: bool,
    /// One JSON object per line, as tills get it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// See whether the journal is as it was written; shows its head
    Verify(Verify),
    /// Write what a dispute needs of each transaction, one JSON object per line
    Export(Export),
    /// Take over the journal of another board, to settle what is open there; the daemon must be stopped
    Adopt(Adopt),
    /// Say that later times in the journal were written by a clock that was ahead; the daemon must be stopped
    SetClockBack(SetClockBack),
}

/// Which journal: these verbs read the file themselves, whether the daemon runs or not.
#[derive(Debug, Args)]
struct Which {
    /// The daemon's configuration, for the journal [default: /etc/pos-agent/config.toml if it can be read]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The journal [default: the one of the configuration]
    #[arg(long, value_name = "PATH")]
    journal: Option<PathBuf>,
}

impl Which {
    /// The journal, and the terminal's id when the configuration can be read.
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
}

/// What the journal says, with the number for it.
fn stop(error: &Error) -> Stop {
    match error {
        Error::NotAdopted { .. } | Error::ClockStays { .. } => Stop::new(Exit::Data, error.to_string()),
        _ => Stop::coded(ProblemType::Journal, error.to_string()),
    }
}

/// Sales of one request.
const PAGE: usize = 500;

#[derive(Deserialize)]
struct Sales {
    sales: Vec<SaleView>,
}

impl Journal {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        match self.verb {
            Some(Verb::Verify(verb)) => verb.run(),
            Some(Verb::Export(verb)) => verb.run(),
            Some(Verb::Adopt(verb)) => verb.run(),
            Some(Verb::SetClockBack(verb)) => verb.run(),
            None => self.list().await,
        }
    }

    async fn list(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let mut since = self.since;
        loop {
            let training = of_sale('&', None, self.training);
            let Sales { sales } = daemon.get(&format!("/v1/sales?since={since}&limit={PAGE}{training}")).await?;
            for sale in &sales {
                if self.json { out::say_json(sale) } else { out::say(&line(sale)) }
            }
            match sales.last() {
                // A number that does not grow would be asked for for ever.
                Some(last) if sales.len() == PAGE && last.number > since => since = last.number,
                _ => return Ok(Exit::Success),
            }
        }
    }
}

fn line(sale: &SaleView) -> String {
    let SaleView { number, started_at, till, reference, .. } = sale;
    let (kind, standing, sold) = (sale.kind.as_str(), out::standing(sale), out::sale_line(sale));
    let person = sale.by.as_ref().and_then(Who::person).map_or_else(String::new, |person| format!("  by {person}"));
    format!("{number:>6}  {started_at}  {till:<8}  {reference:<24}  {kind:<17}  {standing:<18}  {sold}{person}")
}
