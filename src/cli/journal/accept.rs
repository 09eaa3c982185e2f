//! `pos-agent journal accept`: a person says that this journal is the terminal's, although it has sold on another one.

use clap::Args;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::{Which, name, stop};
use pos_journal::SoldMark;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
A terminal that has sold keeps a mark of it outside the journal ([journal] mark-folder). Beside a journal that the mark does not name,
nothing is charged: the journal may have been lost, and what was sold on it is not known here. If it can be found, put it back, or take it
over (pos-agent journal adopt). Only when it is lost: look in the gateway's back office for payments of this terminal that no till knows,
stop the agent (systemctl stop pos-agent.socket pos-agent), say it as its user, and start it:

  runuser -u pos-agent -- pos-agent journal accept --by 'J. Doe'

From then on a till that repeats an old reference is charged again. The journal's chain keeps who said it, and when.

Exit codes: 0 done; 65 it need not be; 74 the journal or the mark cannot be used, or the agent runs.")]
pub(super) struct Accept {
    /// Who says so, for the book
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
        out::say(&format!("{} is the journal of terminal {} from now on", path.display(), config.terminal.id));
        out::say(&format!("head {}:{}", head.entry, head.hex()));
        Ok(Exit::Success)
    }
}
