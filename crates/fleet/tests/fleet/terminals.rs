//! `pos-sim fleet`, controlled by typed lines.

use std::io::{BufRead, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::pki::Pki;
use crate::process::{Process, built, until};

pub(crate) struct Terminals {
    process: Process,
    answers: Lines<BufReader<ChildStdout>>,
    pub(crate) count: u64,
}

impl Terminals {
    pub(crate) fn start(pki: &Pki, port: u16, org: &str, count: u64, more: &[&str]) -> Self {
        let mut process = Process::start(
            Command::new(built("pos-sim"))
                .args(["fleet", &count.to_string(), "--broker", &format!("localhost:{port}"), "--org", org])
                .arg("--ca")
                .arg(pki.ca())
                .arg("--certificates")
                .arg(pki.folder())
                .args(more)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped()),
        );
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut terminals = Self { process, answers, count };
        terminals.answer();
        terminals
    }

    fn answer(&mut self) -> Value {
        serde_json::from_str(&self.answers.next().expect("the simulator ended").unwrap()).unwrap()
    }

    pub(crate) fn ask(&mut self, line: &str) -> Value {
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
        self.answer()
    }

    /// Looks until everything is done. The clock moves by these seconds whenever a look sees the same as the one
    /// before: no wait takes its time, and the terminals' days do not outrun the server.
    pub(crate) fn until(
        &mut self,
        what: &str,
        limit: Duration,
        seconds: u64,
        mut look: impl FnMut(&mut Self) -> (bool, Value),
    ) -> Value {
        let mut before = Value::Null;
        until(what, limit, || {
            let (is_done, seen) = look(self);
            if is_done {
                return Some(seen);
            }
            if seen == before {
                self.ask(&format!("clock {seconds}"));
            }
            before = seen;
            None
        })
    }

    /// Waits until the server has confirmed every entry that a journal has now.
    pub(crate) fn until_stored(&mut self, what: &str, limit: Duration) -> Value {
        self.ask("mark");
        self.until(what, limit, 5, |fleet| {
            let standing = fleet.ask("standing");
            (standing["behind"] == 0, standing)
        })
    }

    pub(crate) fn until_connected(&mut self, limit: Duration) {
        let most = self.count - 2;
        self.until("connection of each terminal", limit, 5, |fleet| {
            let connected = fleet.ask("standing")["connected"].clone();
            (connected.as_u64() >= Some(most), connected)
        });
    }

    pub(crate) fn journals(&mut self, file: &Path) {
        self.ask(&format!("journals {}", file.display()));
    }
}
