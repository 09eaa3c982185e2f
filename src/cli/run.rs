//! `pos-agent run`: be the terminal until told to stop.

use std::path::PathBuf;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::exit::{Exit, Stop};
use crate::agent;
use crate::config::{self, DEFAULT_PATH};

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_PATH)]
    config: PathBuf,
    /// What to log to standard error: error, warn, info, debug, trace, or as in RUST_LOG [default: RUST_LOG, else info]
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
}

impl Run {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        self.log_to_stderr()?;
        let config = config::load(&self.config)?;
        let failed = |error: std::io::Error| Stop::new(Exit::Software, format!("no signals: {error}"));
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

    /// systemd keeps standard error and adds the time; a person sees it at once.
    fn log_to_stderr(&self) -> Result<(), Stop> {
        let level = self.log.clone().or_else(|| std::env::var("RUST_LOG").ok()).unwrap_or_else(|| "info".to_owned());
        let filter = EnvFilter::try_new(&level).map_err(|error| {
            Stop::new(Exit::Usage, format!("--log {level}: {error}; use error, warn, info, debug or trace"))
        })?;
        // A line that cannot be written is lost: telling so would go the same way, and end the terminal.
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
        log.log_internal_errors(false).init();
        Ok(())
    }
}
