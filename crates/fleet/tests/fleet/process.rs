//! Other programs, which end with the test.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// A running program.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Kills it as a power cut would.
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Deref for Process {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Asks until the answer is there.
pub(crate) fn until<T>(what: &str, limit: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = now() + limit;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(now() < end, "after {limit:?} there is no {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[allow(clippy::disallowed_methods, reason = "other programs are waited for")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns a program that `cargo test` has built beside this one.
pub(crate) fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join(name);
    assert!(program.exists(), "{} is missing; run: cargo build --package {name}", program.display());
    program
}
