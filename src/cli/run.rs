//! `pos-agent run`: runs the agent until a signal stops it.

use std::path::PathBuf;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::exit::{Exit, Stop};
use crate::agent;
use crate::config::{self, DEFAULT_PATH};
use pos_daemon::logging;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
This verb runs the agent, which the other verbs talk to. systemd starts it with
the board (systemctl enable --now pos-agent). Start it by hand only for tests.
It does not go into the background. SIGTERM and SIGINT (Ctrl-C) stop it: it
cancels a sale that waits for a card, and waits for the answers of requests
that it has sent to the gateway.

Exit codes: 0 stopped; 64 wrong usage, or a wrong --log; 70 a fault in the
program; 74 the journal or the socket cannot be used; 77 no permission to read
a file; 78 the configuration is wrong.")]
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
        let config = config::load(&self.config)?;
        let failed = |error: std::io::Error| Stop::new(Exit::Software, format!("signals cannot be handled: {error}"));
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let shutdown = async move {
            tokio::select! {
                _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
                _ = interrupt.recv() => tracing::info!("SIGINT: stopping"),
            }
        };
        agent::run(config, shutdown).await?;
        Ok(Exit::Success)
    }

    /// Starts the log. It goes to systemd's journal with its fields, or to standard error as text for a person.
    fn begin_log(&self) -> Result<(), Stop> {
        let level = self.log.clone().or_else(|| std::env::var("RUST_LOG").ok()).unwrap_or_else(|| "info".to_owned());
        let begun = logging::begin(&level, &self.journal_socket, env!("CARGO_PKG_NAME"));
        begun.map_err(|error| Stop::new(Exit::Usage, format!("--log {error}")))
    }
}
