//! `pos-agent reconcile`: compares the gateway's reconciliation file with the journal, whether or not the agent runs.
//!
//! The verb reads both and changes neither. It uses its own read-only connection to the journal.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use clap::Args;

use super::exit::{Exit, Stop};
use super::out;
use crate::config::{self, Config, DEFAULT_PATH};
use crate::till::ProblemType;
use pos_journal::Reading;
use pos_reconcile::{Difference, HeaderError, Ledger, MOST_SALES, Matching, Period, SettlementFile, Summary, date};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
A sale of the period without a settled row is missing at the gateway. Without
--from and --to, the period is that of the file's settled rows, by
TxRequestTime or, without it, by SettlementDate.

Exit codes: 0 everything agrees; 65 differences, chargebacks or malformed
lines, or a different kind of file; 74 the file or the journal cannot be read;
77 not permitted; 78 the configuration is wrong.")]
pub(super) struct Reconcile {
    /// The gateway's reconciliation file (CSV with semicolons and a header); or a folder, whose .csv files are read
    /// once each, in the order of their names
    file: PathBuf,
    /// The first local date of the sales that should be settled
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    from: Option<NaiveDate>,
    /// The last local date of the sales that should be settled
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    to: Option<NaiveDate>,
    /// Print one JSON object per line: first the findings, then the summary
    #[arg(long)]
    json: bool,
    /// The agent's configuration, which gives the journal and the terminal's id [default: /etc/pos-agent/config.toml if
    /// it can be read]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The journal [default: the one that the configuration names]
    #[arg(long, value_name = "PATH")]
    journal: Option<PathBuf>,
}

/// The last line of the `--json` output.
#[derive(serde::Serialize)]
struct Last<'a> {
    summary: &'a Summary,
}

impl Reconcile {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from > to
        {
            return Err(Stop::new(
                Exit::Usage,
                format!("--from {from} is after --to {to}; give the earlier date to --from"),
            ));
        }
        let config = self.config()?;
        let journal = self.journal.clone().or(config.as_ref().map(|config| config.journal.path.clone()));
        let journal = journal.unwrap_or_else(|| config::Journal::default().path);
        // The file is opened first, so that a wrong file is noticed before a long journal is read.
        let files = self.files()?;
        let in_folder = files != [self.file.clone()];
        let mut opened = if in_folder { None } else { Some(open(&self.file).map_err(|error| self.stop(&error))?) };
        let mut progress = Progress { is_wanted: io::stderr().is_terminal(), shown: false };
        let ledger = ledger(&journal, config.map(|config| config.terminal.id), &mut progress)?;
        let period = Period { from: self.from, to: self.to };
        let mut matching = Matching::new(ledger, period);
        let mut rows = 0_u64;
        for path in &files {
            let name = in_folder.then(|| path.file_name().unwrap_or_default().to_string_lossy().into_owned());
            let tell = |finding: Difference, progress: &mut Progress| {
                self.tell(&Difference { file: name.clone(), ..finding }, progress);
            };
            let read = opened.take().map_or_else(|| open(path), Ok).and_then(|mut file| {
                matching.next_file(file.has_transaction_ids());
                while let Some(line) = file.next()? {
                    matching.take(line, &mut |finding| tell(finding, &mut progress));
                    rows += 1;
                    progress.at(rows, "rows of the file");
                }
                matching.take_columns(file.wrong_columns(), &mut |finding| tell(finding, &mut progress));
                Ok(())
            });
            match read {
                Err(error) if in_folder => matching.unreadable(&error, &mut |finding| tell(finding, &mut progress)),
                read => read.map_err(|error| self.stop(&error))?,
            }
        }
        // For a folder, the line number is left out, because the line's file is not recorded.
        let summary = matching.finish(&mut |finding| {
            let line = finding.line.filter(|_| !in_folder);
            self.tell(&Difference { line, ..finding }, &mut progress);
        });
        progress.clear();
        if self.json {
            out::say(&json(&Last { summary: &summary }));
        } else {
            if !summary.agrees() {
                out::say("");
            }
            out::say_lines(&summary.to_string());
        }
        Ok(if summary.agrees() { Exit::Success } else { Exit::Data })
    }

    fn config(&self) -> Result<Option<Config>, Stop> {
        match &self.config {
            Some(file) => Ok(Some(config::read(file)?)),
            None => Ok(config::read(Path::new(DEFAULT_PATH)).ok()),
        }
    }

    /// Returns the file, or the folder's .csv files in the order of their names. Hidden files are left out, because
    /// another program may still be writing them.
    fn files(&self) -> Result<Vec<PathBuf>, Stop> {
        if !self.file.is_dir() {
            return Ok(vec![self.file.clone()]);
        }
        let listed = std::fs::read_dir(&self.file).and_then(|folder| folder.collect::<io::Result<Vec<_>>>());
        let listed = listed.map_err(|error| self.stop(&HeaderError::Unreadable(error)))?;
        let is_csv = |path: &PathBuf| {
            let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            !hidden && path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
        };
        let mut files: Vec<_> = listed.iter().map(std::fs::DirEntry::path).filter(is_csv).collect();
        files.sort_unstable();
        if files.is_empty() {
            let advice = "the folder has no .csv file; give the folder with the reconciliation files";
            return Err(Stop::new(Exit::Data, format!("{}: {advice}", self.file.display())));
        }
        Ok(files)
    }

    fn stop(&self, error: &HeaderError) -> Stop {
        let exit = match error {
            HeaderError::Unreadable(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Exit::NoPermission,
            HeaderError::Unreadable(_) => Exit::Io,
            _ => Exit::Data,
        };
        Stop::new(exit, format!("{}: {error}", self.file.display()))
    }

    fn tell(&self, finding: &Difference, progress: &mut Progress) {
        progress.clear();
        if self.json { out::say(&json(finding)) } else { out::say(&finding.to_string()) }
    }
}

fn open(path: &Path) -> Result<SettlementFile<BufReader<File>>, HeaderError> {
    SettlementFile::open(BufReader::with_capacity(1 << 16, File::open(path)?))
}

/// Reads the journal into the ledger for the comparison.
fn ledger(journal: &Path, terminal: Option<String>, progress: &mut Progress) -> Result<Ledger, Stop> {
    let io = |error: &dyn std::fmt::Display| Stop::coded(ProblemType::Journal, error.to_string());
    let mut ledger = Ledger::new(terminal);
    let mut reading = Reading::open(journal).map_err(|error| io(&error))?;
    let mut sales = 0_u64;
    reading
        .latest(MOST_SALES, |steps| {
            sales += 1;
            progress.at(sales, "sales of the journal");
            ledger.add(steps).map_err(|error| io(&error))
        })
        .map_err(|error| io(&error))??;
    Ok(ledger.sorted())
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("findings hold only text and numbers")
}

fn day(text: &str) -> Result<NaiveDate, &'static str> {
    date(text).filter(|_| text.len() == 10).ok_or("write the date as 2026-11-20")
}

/// A progress line in a person's terminal window.
struct Progress {
    is_wanted: bool,
    shown: bool,
}

impl Progress {
    /// The number of records between two updates of the line.
    const EVERY: u64 = 1 << 16;

    fn at(&mut self, count: u64, what: &str) {
        if self.is_wanted && count.is_multiple_of(Self::EVERY) {
            // If standard error is closed, no one can see the progress.
            let _ = write!(io::stderr(), "\r{count} {what}\x1b[K");
            self.shown = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
