//! The demo's agent: the real `pos-agent`, which takes the sales. When its power was cut here it gets it back.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use super::program::Program;
use crate::shop::Shop;

/// How long it may take to find its devices; a debug build on a slow machine needs a second.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// A running agent. It is killed when this is dropped.
pub(super) struct Agent(Program);

impl Agent {
    /// Starts the agent for this shop and waits until it can take a sale.
    pub(super) async fn start(file: PathBuf, shop: &Shop) -> io::Result<Self> {
        let mut agent = Program::start(file, shop.config(), shop.folder().join("agent.log"))?;
        let ready = |said: &str| said.contains("\"ready\":true").then_some(());
        agent.until((&["status", "--json"], READY_WITHIN), ready).await?;
        Ok(Self(agent))
    }

    /// The program's file.
    pub(super) fn file(&self) -> &Path {
        self.0.file()
    }

    /// `pos-agent VERB … --config …` for this shop.
    pub(super) fn verb(&self, words: &[&str]) -> Command {
        self.0.verb(words)
    }

    /// Returns when the agent has ended by itself, which it should not.
    pub(super) async fn ended(&mut self) -> io::Error {
        self.0.ended().await
    }

    /// The power goes, in the middle of whatever it does.
    pub(super) async fn cut_power(&mut self) -> io::Result<()> {
        self.0.kill().await
    }

    /// The power comes back: a new process with the same journal. It is not waited for.
    pub(super) fn power_on(&mut self) -> io::Result<()> {
        self.0.start_again()
    }

    /// Ends the agent as systemd would.
    pub(super) async fn stop(self) {
        self.0.stop().await;
    }
}
