//! `pos-agent run`: runs the agent until a signal stops it.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::exit::{Exit, Stop};
use crate::agent::{self, AgentEnd};
use crate::config::{self, Config, DEFAULT_PATH};
use crate::overlay;
use crate::till::{ProblemType, ProblemView};
use pos_daemon::start_again::Starts;
use pos_daemon::systemd::{Notify, Sockets};
use pos_daemon::{access, logging};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
This verb runs the agent, which the other verbs talk to. systemd starts it with
the board (systemctl enable --now pos-agent). Start it by hand only for tests.
It does not go into the background. SIGTERM and SIGINT (Ctrl-C) stop it: it
cancels a sale that waits for a card, and waits for the answers of requests
that it has sent to the gateway.

If a start fails again with the same cause, it logs nothing and waits before it
ends, 60 s at most. systemctl status and each request get the cause. The wait
ends when a file next to the configuration changes.

Exit codes: 0 stopped; 64 wrong usage, or a wrong --log; 70 a fault in the
program; 74 the journal or the socket cannot be used; 77 no permission to read
a file, or started as root; 78 the configuration is wrong.")]
pub(super) struct Run {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_PATH)]
    config: PathBuf,
    /// Log level on standard error: error, warn, info, debug, trace, or a filter as in RUST_LOG [default: RUST_LOG,
    /// else info]
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    /// The socket of systemd's journal, which is used if standard error is connected to the journal
    #[arg(long, value_name = "PATH", default_value = logging::SOCKET, hide = true)]
    journal_socket: PathBuf,
}

impl Run {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        self.begin_log()?;
        let failed = |error: std::io::Error| Stop::new(Exit::Software, format!("signals cannot be handled: {error}"));
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let stopped = async move {
            tokio::select! {
                _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
                _ = interrupt.recv() => tracing::info!("SIGINT: stopping"),
            }
        };
        let mut stopped = std::pin::pin!(stopped);
        let starts = Starts::of(&self.config);
        let stop = match self.serve(&starts, stopped.as_mut()).await {
            Ok(AgentEnd::Stopped) => return Ok(Exit::Success),
            Ok(AgentEnd::Restart) => return start_again(),
            Err(stop) => stop,
        };
        let Some(again) = starts.failed(&stop.to_string()) else { return Err(stop) };
        let problem = serde_json::to_string(&cannot_start(&stop.to_string())).unwrap_or_default();
        let (notify, sockets) = (Notify::from_env(), Sockets::from_env().unwrap_or_default());
        tokio::select! {
            // The first failure with this cause is in the log.
            () = again.wait(&notify, sockets, &problem) => Ok(stop.exit()),
            () = stopped => {
                starts.forget();
                Ok(Exit::Success)
            }
        }
    }

    /// Serves until `stopped` completes. Returns an error only if the agent cannot start.
    async fn serve(&self, starts: &Starts, stopped: impl Future<Output = ()>) -> Result<AgentEnd, Stop> {
        let own = config::load_own(&self.config)?;
        self.may_write_the_journal(&own.config)?;
        let loaded = overlay::begin(own);
        let terminal = loaded.config.terminal.id.clone();
        let shutdown = async {
            // The loop of the agent runs.
            starts.forget();
            let (version, config) = (agent::this_program(), self.config.display());
            tracing::info!(version, terminal, %config, "the agent has started");
            stopped.await;
        };
        Ok(agent::run(loaded, shutdown).await?)
    }

    /// Refuses to run as root if the journal's folder belongs to another user. That user could not open root's files.
    fn may_write_the_journal(&self, config: &Config) -> Result<(), Stop> {
        let mut folders = config.journal.path.ancestors().skip(1);
        let found = folders.find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?.uid())));
        let Some((folder, owner)) = found.filter(|(_, owner)| *owner != 0 && rustix::process::geteuid().is_root())
        else {
            return Ok(());
        };
        let (folder, user, config) = (folder.display(), access::user_called(owner), self.config.display());
        let message = format!(
            "pos-agent run must not run as root: {folder} belongs to {user}, who could not open root's files; run: \
             systemctl start pos-agent, or: runuser -u {user} -- pos-agent run --config {config}"
        );
        Err(Stop::new(Exit::NoPermission, message))
    }

    /// Starts the log. It goes to systemd's journal with its fields, or to standard error as text for a person.
    fn begin_log(&self) -> Result<(), Stop> {
        let level = self.log.clone().or_else(|| std::env::var("RUST_LOG").ok()).unwrap_or_else(|| "info".to_owned());
        let begun = logging::begin(&level, &self.journal_socket, env!("CARGO_PKG_NAME"));
        begun.map_err(|error| Stop::new(Exit::Usage, format!("--log {error}")))
    }
}

/// Starts the program again. systemd does that for its service (`Restart=always`). Without systemd, the program
/// replaces itself.
fn start_again() -> Result<Exit, Stop> {
    if std::env::var_os("NOTIFY_SOCKET").is_some() {
        return Ok(Exit::Success);
    }
    let failed = |error: std::io::Error| Stop::new(Exit::Software, format!("the agent cannot start again: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    Err(failed(Command::new(program).args(std::env::args_os().skip(1)).exec()))
}

/// Returns the answer to each request while the agent cannot start. A sale that an earlier process took may stand, so
/// the answer must not say that nothing was charged.
fn cannot_start(why: &str) -> ProblemView {
    ProblemView::new(ProblemType::NoAnswer, format!("the agent cannot start: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_cannot_start_does_not_say_that_a_sale_was_not_carried_out() {
        let problem = serde_json::to_value(cannot_start("line 1: colour")).unwrap();
        let code = problem["code"].as_str().unwrap();
        let kind: ProblemType = serde_json::from_value(code.into()).unwrap();
        assert!(!kind.follows_the_look_for_the_reference(), "{problem}");
        assert_eq!(problem["detail"], "the agent cannot start: line 1: colour");
    }
}
