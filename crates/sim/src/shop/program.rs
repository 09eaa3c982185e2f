//! Runs a real program of the shop as a separate process, with its log in the shop's folder. This file also builds the
//! programs, without the simulators.
//!
//! There is no supervisor. If a program ends unexpectedly, the shop reports this with the program's log.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

/// The maximum time for a program to end.
const STOPPED_WITHIN: Duration = Duration::from_secs(5);

/// A program's file, and the words before its own arguments.
#[derive(Clone, Debug)]
pub struct ProgramFile {
    /// The file.
    pub file: PathBuf,
    /// The words that select this program, if the file contains several.
    pub words: &'static [&'static str],
    /// The user that runs it; `None` for the own one.
    pub user: Option<u32>,
}

impl ProgramFile {
    /// Names a file with one program.
    #[must_use]
    pub fn alone(file: PathBuf) -> Self {
        Self { file, words: &[], user: None }
    }

    /// Returns the program's name for people.
    fn name(&self) -> String {
        let file = self.file.file_name().unwrap_or_default().display().to_string();
        self.words.iter().fold(file, |name, word| format!("{name} {word}"))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        command.args(self.words).stdin(Stdio::null()).kill_on_drop(true);
        if let Some(user) = self.user {
            command.uid(user);
        }
        command
    }
}

/// A running program. It is killed when this value is dropped.
pub struct Program {
    file: ProgramFile,
    config: PathBuf,
    log: PathBuf,
    child: Child,
}

impl Program {
    /// Starts the program with the configuration file `config`.
    ///
    /// # Errors
    ///
    /// Fails if the process cannot be started, or the log cannot be written.
    pub fn start(file: ProgramFile, config: PathBuf, log: PathBuf) -> io::Result<Self> {
        let child = spawn(&file, &config, &log)?;
        Ok(Self { file, config, log, child })
    }

    /// Returns its file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file.file
    }

    /// Returns the command for a verb of the program in this shop.
    #[must_use]
    pub fn verb(&self, words: &[&str]) -> Command {
        let mut command = self.file.command();
        command.args(words).arg("--config").arg(&self.config);
        command
    }

    /// Runs a verb repeatedly until its answer is `wanted`.
    ///
    /// # Errors
    ///
    /// Fails if the program ends, or there is no such answer within the time.
    pub async fn until<T>(
        &mut self,
        (words, within): (&[&str], Duration),
        wanted: impl Fn(&str) -> Option<T>,
    ) -> io::Result<T> {
        let asked = async {
            loop {
                if let Some(fault) = self.fault()? {
                    return Err(fault);
                }
                let said = self.verb(words).stderr(Stdio::null()).output().await?;
                if let Some(found) = wanted(&String::from_utf8_lossy(&said.stdout)) {
                    return Ok(found);
                }
                // Each answer comes from a new process, so the only option is to wait before the next attempt.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        match tokio::time::timeout(within, asked).await {
            Ok(found) => found,
            Err(_) => Err(self.failed(&format!("was not ready within {} s", within.as_secs()))),
        }
    }

    /// Returns the fault of a program that has ended.
    ///
    /// # Errors
    ///
    /// Fails if the system does not know the process.
    pub fn fault(&mut self) -> io::Result<Option<io::Error>> {
        let ended = self.child.try_wait()?;
        Ok(ended.map(|status| self.failed(&format!("ended with {status}"))))
    }

    /// Waits until the program ends unexpectedly.
    pub async fn ended(&mut self) -> io::Error {
        match self.child.wait().await {
            Ok(status) => self.failed(&format!("ended with {status}")),
            Err(error) => error,
        }
    }

    /// Sends SIGKILL at any point of the program's work. When this function returns, the process has ended.
    ///
    /// # Errors
    ///
    /// Fails if the process cannot be killed.
    pub async fn kill(&mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// Starts a new process with the same files, without waiting until it is ready.
    ///
    /// # Errors
    ///
    /// Fails like [`Self::start`].
    pub fn start_again(&mut self) -> io::Result<()> {
        self.child = spawn(&self.file, &self.config, &self.log)?;
        Ok(())
    }

    /// Ends the program as systemd would.
    pub async fn stop(mut self) {
        if let Some(pid) = self.child.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed())) {
            // A process that has already ended needs no signal.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        if tokio::time::timeout(STOPPED_WITHIN, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
    }

    fn failed(&self, what: &str) -> io::Error {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let name = self.file.name();
        io::Error::other(format!("{name} {what}; its log:\n{log}"))
    }
}

/// Starts the process, and appends its log to an earlier one.
fn spawn(file: &ProgramFile, config: &Path, log: &Path) -> io::Result<Child> {
    let mut command = file.command();
    command
        .arg("run")
        .arg("--config")
        .arg(config)
        .stdout(Stdio::null())
        .stderr(std::fs::OpenOptions::new().create(true).append(true).open(log)?)
        .spawn()
        .map_err(|error| io::Error::other(format!("{} cannot be started: {error}", file.file.display())))
}

/// Builds programs of these packages as for an installation, and returns their folder. Cargo reports on standard error.
pub(crate) async fn build(packages: &[&str], programs: &[&str]) -> io::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml")]);
    build.args(packages.iter().flat_map(|package| ["--package", package]));
    build.args(programs.iter().flat_map(|program| ["--bin", program]));
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
        let programs = programs.join(" --bin ");
        return Err(io::Error::other(format!("cargo build --bin {programs} failed; its messages are above")));
    }
    Ok(folder.to_owned())
}

/// Returns whether `cargo run` has set this variable for the package that it runs. Another cargo must not inherit it,
/// because build scripts of dependencies read the same names and would run again at each start.
fn is_of_this_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "OUT_DIR" || name == "CARGO_PRIMARY_PACKAGE"
}
