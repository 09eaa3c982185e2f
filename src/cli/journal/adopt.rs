//! `pos-agent journal adopt`: another board's journal becomes part of this one.

use std::path::PathBuf;

use clap::Args;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::{Which, stop};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
For a board that replaces another one. Take journal.db and, when it is there, journal.db-wal from the old board, which must not run
again; stop the agent here (systemctl stop pos-agent.socket pos-agent), adopt as its user (runuser -u pos-agent -- pos-agent journal
adopt FILE), and start it: it settles what is open. References of tills stay known, and the numbers go on above those of both. The file
is not changed; all of it is taken over, or nothing.

The access to the gateway must be that of the old board: [terminal] id, [gateway] url and entity-id. What is open of another entity-id
waits until that entity-id is back.

Exit codes: 0 taken over; 65 it cannot be: it was already, or a reference is in both, or the file was altered; 74 a file cannot be
used, or the agent runs.")]
pub(super) struct Adopt {
    /// The other board's journal.db, with its journal.db-wal beside it
    file: PathBuf,
    #[command(flatten)]
    which: Which,
}

impl Adopt {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let (path, terminal) = self.which.journal()?;
        let now = chrono::Utc::now().timestamp_millis();
        let adopted = pos_journal::adopt(&path, &self.file, terminal.as_deref(), now).map_err(|error| stop(&error))?;
        out::say(&format!("{} transactions were taken over into {}", adopted.transactions, path.display()));
        if adopted.added > 0 {
            out::say(&format!("their numbers begin above {}, the highest that was here", adopted.added));
        }
        for (till, reference) in &adopted.open {
            out::say(&format!(
                "open: {reference} of till {till}; the agent settles it when it is started with the account that it was begun with"
            ));
        }
        if !adopted.with_wal {
            out::say(&format!(
                "there was no {}-wal: right if the old agent was stopped in order. If its power was cut, the latest sales may be missing: \
                 look for that file on the old board before this one is started",
                self.file.display()
            ));
        }
        out::say(&format!("its head was {}:{}", adopted.theirs.entry, adopted.theirs.hex()));
        out::say(&format!("head {}:{}", adopted.head.entry, adopted.head.hex()));
        Ok(Exit::Success)
    }
}
