//! The demo's agent: the real `pos-agent` in a process of its own, built without the simulators.
//!
//! What this is not: a supervisor. An agent that ends by itself is reported with its log; only one whose power was cut
//! here gets it back.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use crate::sim::shop::Shop;

/// How long the agent may take to find its devices; a debug build on a slow machine needs a second.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// How long the agent may take to end.
const STOPPED_WITHIN: Duration = Duration::from_secs(5);

/// A running agent. It is killed when this is dropped.
pub(super) struct Agent {
    program: PathBuf,
    log: PathBuf,
    child: Child,
}

impl Agent {
    /// Starts the agent for this shop and waits until it can take a sale.
    pub(super) async fn start(program: PathBuf, shop: &Shop) -> io::Result<Self> {
        let log = shop.folder().join("agent.log");
        let child = spawn(&program, &shop.config(), &log)?;
        let mut agent = Self { program, log, child };
        match tokio::time::timeout(READY_WITHIN, agent.until_ready(shop)).await {
            Ok(Ok(())) => Ok(agent),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(agent.failed(&format!("was not ready within {} s", READY_WITHIN.as_secs()))),
        }
    }

    /// The program's file.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// `pos-agent VERB … --config …` for this shop.
    pub(super) fn verb(&self, shop: &Shop, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--config").arg(shop.config()).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Returns when the agent has ended by itself, which it should not.
    pub(super) async fn ended(&mut self) -> io::Error {
        match self.child.wait().await {
            Ok(status) => self.failed(&format!("ended with {status}")),
            Err(error) => error,
        }
    }

    /// The power goes, in the middle of whatever it does: SIGKILL, and the process is gone when this returns.
    pub(super) async fn cut_power(&mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// The power comes back: a new process with the same journal. It is not waited for.
    pub(super) fn power_on(&mut self, shop: &Shop) -> io::Result<()> {
        self.child = spawn(&self.program, &shop.config(), &self.log)?;
        Ok(())
    }

    /// Ends the agent as systemd would.
    pub(super) async fn stop(mut self) {
        if let Some(pid) = self.child.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed())) {
            // Gone already is as good.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        if tokio::time::timeout(STOPPED_WITHIN, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
    }

    async fn until_ready(&mut self, shop: &Shop) -> io::Result<()> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Err(self.failed(&format!("ended with {status}")));
            }
            let status = self.verb(shop, &["status", "--json"]).stderr(Stdio::null()).output().await?;
            if String::from_utf8_lossy(&status.stdout).contains("\"ready\":true") {
                return Ok(());
            }
            // The answer is a process that ran: there is nothing to wait on but the next try.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn failed(&self, what: &str) -> io::Error {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        io::Error::other(format!("pos-agent {what}; its log:\n{log}"))
    }
}

/// The agent's process. Its log goes on where an earlier one's ended.
fn spawn(program: &Path, config: &Path, log: &Path) -> io::Result<Child> {
    Command::new(program)
        .arg("run")
        .arg("--config")
        .arg(config)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::OpenOptions::new().create(true).append(true).open(log)?)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| io::Error::other(format!("{} cannot be started: {error}", program.display())))
}

/// Builds `pos-agent` as it is installed: without feature `sim`. Cargo says what it does on standard error.
pub(super) async fn build() -> io::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--bin", "pos-agent", "--manifest-path"]);
    build.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    let me = std::env::current_exe()?;
    let folder = me.parent().ok_or_else(|| io::Error::other("this program has no folder"))?;
    if folder.ends_with("release") {
        build.arg("--release");
    }
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_this_package(name)) {
        build.env_remove(name);
    }
    let status = build.stdin(Stdio::null()).status().await?;
    if !status.success() {
        return Err(io::Error::other("cargo build --bin pos-agent failed; its messages are above"));
    }
    Ok(folder.join("pos-agent"))
}

/// What `cargo run` tells this program about its own package. Another cargo must not inherit it: build scripts of
/// dependencies read the same names and would run anew at each start.
fn is_of_this_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "OUT_DIR" || name == "CARGO_PRIMARY_PACKAGE"
}
