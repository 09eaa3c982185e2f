//! `pos-agent journal export`: exports the facts needed for a dispute about a transaction, as JSON Lines. The agent may
//! be running.

use std::io::{self, BufWriter, Write};

use clap::Args;
use serde::Serialize;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::{Which, stop};
use pos_journal::Reading;
use pos_terms::transaction::SaleNumber;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
The last line is {\"end\":true,…} with the number of transactions and the
journal's head. A file without this line was cut off. Card numbers are masked;
the journal holds no tracks, PINs or keys.

Exit codes: 0 done; 75 a later version wrote some transactions, which are named
without their contents; 74 the journal cannot be read, or the output cannot be
written.")]
pub(super) struct Export {
    /// Only transactions with a number above this
    #[arg(long, value_name = "NUMBER", default_value_t = SaleNumber::BEFORE_ALL)]
    since: SaleNumber,
    #[command(flatten)]
    which: Which,
}

impl Export {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let (path, _) = self.which.journal()?;
        let mut reading = Reading::open(&path).map_err(|error| stop(&error))?;
        // An incomplete file must not look complete.
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let cut = |error: io::Error| Stop::new(Exit::Io, format!("the export could not be written: {error}"));
        let done = reading.export(self.since, |transaction| line(&mut out, transaction));
        let closing = done.map_err(|error| stop(&error))?.map_err(cut)?;
        line(&mut out, &closing).and_then(|()| out.flush()).map_err(cut)?;
        drop(out);
        if closing.unreadable > 0 {
            out::complain(&format!(
                "{} transactions of a later version cannot be read; export them with that version",
                closing.unreadable
            ));
            return Ok(Exit::Attention);
        }
        Ok(Exit::Success)
    }
}

fn line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
