//! The operators of a new terminal. They are added by `pos-agent operator`, as the agent's user, so the journal belongs
//! to that user also before the agent's first start.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use pos_daemon::access;
use zeroize::Zeroizing;

use super::super::exit::{Exit, Stop};
use super::{OWN_PROGRAM, failed};
use crate::config;

/// The user that runs the agent.
const AGENT_USER: &str = "pos-agent";

/// An operator to add. Its values are checked.
pub(super) struct NewOperator {
    pub(super) name: String,
    pub(super) role: String,
    pub(super) pin: Zeroizing<String>,
}

impl std::fmt::Debug for NewOperator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NewOperator({}, {})", self.name, self.role)
    }
}

/// Adds the operators. An operator with the same name, from an earlier try, is replaced.
pub(super) fn add(operators: &[NewOperator], config: &Path) -> Result<(), Stop> {
    if operators.is_empty() {
        return Ok(());
    }
    let journal = config::read(config)?.journal.path;
    let folder = journal.parent().unwrap_or(Path::new("/"));
    let user = owner(folder).map_err(|error| failed(folder, &error))?;
    for NewOperator { name, role, pin } in operators {
        let add = ["add", name, "--role", role, "--pin-stdin", "--new-journal"];
        let (mut code, mut said) = run(&add, pin, config, user)?;
        if code == Some(Exit::Data as i32) {
            run(&["remove", name], "", config, user)?;
            (code, said) = run(&add, pin, config, user)?;
        }
        if code != Some(0) {
            return Err(Stop::new(Exit::Io, format!("operator {name}: {said}")));
        }
    }
    Ok(())
}

/// Makes the journal's folder if it does not exist. Returns the user that owns it, if root must become that user.
fn owner(folder: &Path) -> io::Result<Option<(u32, u32)>> {
    let is_root = rustix::process::geteuid().is_root();
    if !folder.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        if let Some((user, group)) = access::user_and_group(AGENT_USER).filter(|_| is_root) {
            std::os::unix::fs::chown(folder, Some(user), Some(group))?;
        }
    }
    let facts = fs::metadata(folder)?;
    Ok((is_root && facts.uid() != 0).then_some((facts.uid(), facts.gid())))
}

/// Runs a verb of `pos-agent operator`. Returns its exit code and what it said.
fn run(arguments: &[&str], pin: &str, config: &Path, user: Option<(u32, u32)>) -> Result<(Option<i32>, String), Stop> {
    let cannot = |error: io::Error| Stop::new(Exit::Software, format!("pos-agent operator cannot run: {error}"));
    let mut command = Command::new(OWN_PROGRAM);
    command.arg("operator").args(arguments).arg("--config").arg(config);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
    let mut child = command.spawn().map_err(cannot)?;
    // A program that has already refused does not read the PIN.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(pin.as_bytes()));
    let output = child.wait_with_output().map_err(cannot)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().trim_start_matches("pos-agent: ").to_owned();
    Ok((output.status.code(), said))
}
