//! `pos-agent journal accept`: accepts this journal for the terminal, although the terminal has taken sales with
//! another one. A person confirms this.

use clap::Args;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::{Which, name, stop};
use pos_journal::SoldMark;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
A terminal that has sold keeps a mark outside the journal (mark-folder in
[journal]). If the mark does not name the journal, the agent charges nothing:
the right journal may be lost, and its sales are unknown here. If you find the
right journal, put it back, or take it over (pos-agent journal adopt). Accept
this journal only if the other one is lost: look in the gateway's back office
for payments of this terminal that no till knows. Then stop the agent
(systemctl stop pos-agent.socket pos-agent), run this verb as the agent's user,
and start the agent:

  runuser -u pos-agent -- pos-agent journal accept --by 'J. Doe'

After that, the agent charges again if a till repeats an old reference. The
journal's chain records who accepted the journal, and when.

Exit codes: 0 done; 65 not necessary; 74 the journal or the mark cannot be
used, or the agent is running.")]
pub(super) struct Accept {
    /// The name of the person who accepts the journal, for the record
    #[arg(long, value_name = "NAME", value_parser = name)]
    by: String,
    #[command(flatten)]
    which: Which,
}

impl Accept {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let config = self.which.config()?;
        let path = self.which.journal.unwrap_or(config.journal.path.clone());
        let mark = SoldMark::of(&config.terminal.id, &config.journal.mark_folder(), &path);
        let by = format!("{} (user {})", self.by, rustix::process::getuid().as_raw());
        let now = chrono::Utc::now().timestamp_millis();
        let head = pos_journal::accept(&path, &mark, &by, now).map_err(|error| stop(&error))?;
        out::say(&format!("{} is now the journal of terminal {}", path.display(), config.terminal.id));
        out::say(&format!("head {}:{}", head.entry, head.hex()));
        Ok(Exit::Success)
    }
}
