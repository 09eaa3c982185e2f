//! `pos-agent journal adopt`: takes over the journal of another board.

use std::path::PathBuf;

use clap::Args;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::{Which, stop};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Use this verb on a board that replaces another one. Take journal.db and, if it
exists, journal.db-wal from the old board, which must not run again. Stop the
agent here (systemctl stop pos-agent.socket pos-agent), and adopt the file as
the agent's user (runuser -u pos-agent -- pos-agent journal adopt FILE). Then
start the agent, which completes the open transactions. The tills' references
stay known, and numbers continue above those of both journals. The file is not
changed; the journal takes over the whole file or nothing.

The access to the gateway must be the same as on the old board: id in
[terminal], url and entity-id in [gateway]. Open transactions of a different
entity-id wait until that entity-id is set again.

Exit codes: 0 taken over; 65 refused: already adopted, or a reference is in
both journals, or the file was altered; 74 a file cannot be used, or the agent
is running.")]
pub(super) struct Adopt {
    /// The other board's journal.db, with its journal.db-wal in the same folder
    file: PathBuf,
    #[command(flatten)]
    which: Which,
}

impl Adopt {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let (path, terminal) = self.which.journal()?;
        let now = chrono::Utc::now().timestamp_millis();
        let adopted = pos_journal::adopt(&path, &self.file, terminal.as_deref(), now).map_err(|error| stop(&error))?;
        out::say(&format!("{} transactions were copied into {}", adopted.transactions, path.display()));
        if adopted.added > 0 {
            out::say(&format!("their numbers begin above {}, the highest number here", adopted.added));
        }
        for (till, reference) in &adopted.open {
            out::say(&format!(
                "open: {reference} of till {till}; the agent resolves this transaction when it runs with the account \
                 that began it"
            ));
        }
        if !adopted.with_wal {
            out::say(&format!(
                "there was no {}-wal; this is correct if the old agent was stopped properly. If its power was cut, the \
                 latest sales may be missing: look for that file on the old board before you start this agent",
                self.file.display()
            ));
        }
        out::say(&format!("head of the adopted journal {}:{}", adopted.theirs.entry, adopted.theirs.hex()));
        out::say(&format!("head {}:{}", adopted.head.entry, adopted.head.hex()));
        Ok(Exit::Success)
    }
}
