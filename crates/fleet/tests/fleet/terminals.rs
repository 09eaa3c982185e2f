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

    /// Waits until the server has confirmed every entry. The clock moves, so that no wait takes its time.
    pub(crate) fn until_stored(&mut self, what: &str, limit: Duration) -> Value {
        until(what, limit, || {
            let standing = self.ask("standing");
            if standing["behind"] == 0 && standing["entries"] == standing["stored"] {
                return Some(standing);
            }
            self.ask("clock 5");
            None
        })
    }

    pub(crate) fn until_connected(&mut self, limit: Duration) {
        until("connection of each terminal", limit, || {
            let standing = self.ask("standing");
            self.ask("clock 5");
            (standing["connected"].as_u64() >= Some(self.count - 2)).then_some(())
        });
    }

    pub(crate) fn journals(&mut self, file: &Path) {
        self.ask(&format!("journals {}", file.display()));
    }
}
