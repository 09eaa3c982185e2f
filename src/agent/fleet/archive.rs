//! The support archive that a command asks for. The program's own `doctor --bundle` makes it, in a process of its own:
//! a fault in it cannot end the agent, and a transaction does not wait for it. It contains what a technician would
//! send, without secrets and card data.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use pos_fleet_terms::{ARCHIVE_PART, Id, LARGEST_ARCHIVE};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::agent::task_results::TaskResult;
use crate::config::Config;

/// The longest time for the doctor's checks and the archive, like that of its service.
const DOCTOR_TAKES: Duration = Duration::from_secs(130);
/// The interval of the looks whether the doctor has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// The file, in the journal's folder. The next archive replaces it.
const FILE: &str = "fleet-archive.tar";

/// The result of making an archive.
pub(in crate::agent) struct ArchiveMade {
    pub(super) id: Id,
    pub(super) made: Result<(), String>,
}

/// The archive of the fleet.
pub(super) struct ArchiveDesk {
    /// The configuration's file, which the doctor reads.
    config: Option<PathBuf>,
    file: PathBuf,
    running: Option<Id>,
    ready: Option<Id>,
}

impl ArchiveDesk {
    pub(super) fn new(config: &Config) -> Self {
        let file = config.journal.path.with_file_name(FILE);
        Self { config: config.file.clone(), file, running: None, ready: None }
    }

    /// Begins to make an archive. Its end comes as a result of a task.
    pub(super) fn begin(&mut self, id: Id, tasks: &mpsc::Sender<TaskResult>) -> Result<(), String> {
        if let Some(running) = &self.running {
            return Err(format!("the archive of command {running} is being made"));
        }
        let config = self.config.clone().ok_or("the agent knows no configuration file")?;
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        self.ready = None;
        self.running = Some(id.clone());
        let (file, tasks) = (self.file.clone(), tasks.clone());
        tokio::spawn(async move {
            let made = tokio::task::spawn_blocking(move || make(&program, &config, &file));
            let made = made.await.unwrap_or_else(|error| Err(error.to_string()));
            let _ = tasks.send(TaskResult::ArchiveMade(ArchiveMade { id, made })).await;
        });
        Ok(())
    }

    /// Takes the end, and returns the archive's size and hash.
    pub(super) fn ended(&mut self, id: &Id, made: Result<(), String>) -> Result<Value, String> {
        self.running = None;
        made?;
        let bytes = fs::read(&self.file).map_err(|error| error.to_string())?;
        if bytes.is_empty() || bytes.len() > LARGEST_ARCHIVE {
            let _ = fs::remove_file(&self.file);
            return Err(format!("the archive has {} bytes, and at most {LARGEST_ARCHIVE} can be sent", bytes.len()));
        }
        self.ready = Some(id.clone());
        let (size, parts) = (bytes.len(), bytes.len().div_ceil(ARCHIVE_PART));
        Ok(json!({ "size": size, "sha256": hex::encode(digest(&SHA256, &bytes)), "parts": parts }))
    }

    /// Returns the file of the archive that this command has made.
    pub(super) fn file_of(&self, id: &Id) -> Option<PathBuf> {
        (self.ready.as_ref() == Some(id)).then(|| self.file.clone())
    }
}

/// Runs the doctor, and waits for its end.
fn make(program: &Path, config: &Path, file: &Path) -> Result<(), String> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.to_string()),
        _ => {}
    }
    let mut doctor = Command::new(program);
    doctor.arg("doctor").arg("--json").arg("--config").arg(config).arg("--bundle").arg(file);
    // systemd must not take the doctor for the agent.
    for name in ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] {
        doctor.env_remove(name);
    }
    doctor.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut doctor = doctor.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
    #[allow(clippy::disallowed_methods, reason = "a thread waits for another process; nothing is decided by it")]
    let until = Instant::now() + DOCTOR_TAKES;
    loop {
        // The exit code tells how bad the findings are. The file tells whether there is an archive.
        match doctor.try_wait().map_err(|error| error.to_string())? {
            Some(_) => return Ok(()),
            #[allow(clippy::disallowed_methods, reason = "a thread waits for another process")]
            None if Instant::now() >= until => {
                let _ = doctor.kill();
                let _ = doctor.wait();
                return Err(format!("the checks took more than {} s", DOCTOR_TAKES.as_secs()));
            }
            None => thread::sleep(LOOK_AGAIN),
        }
    }
}
