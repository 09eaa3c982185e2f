//! The fleet's server, as a program.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::broker::Broker;
use crate::pki::Pki;
use crate::process::Process;

/// The organisation.
pub(crate) const ORG: &str = "corner-shops";

pub(crate) struct Server {
    config: PathBuf,
    log: PathBuf,
    process: Process,
}

impl Server {
    pub(crate) fn start(pki: &Pki, broker: &Broker, database: &str) -> Self {
        let (certificate, key) = pki.make("pos-fleet-consumer", false);
        let (config, log) = (pki.folder().join("fleet.toml"), pki.folder().join("consumer.log"));
        let text = format!(
            "org = \"{ORG}\"\n[database]\nurl = \"{}\"\n[broker]\nhost = \"localhost\"\nport = {}\nca = \"{}\"\n\
             certificate = \"{}\"\nkey = \"{}\"\n",
            database,
            broker.port,
            pki.ca().display(),
            certificate.display(),
            key.display(),
        );
        fs::write(&config, text).unwrap();
        let process = run(&config, &log);
        Self { config, log, process }
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    pub(crate) fn again(&mut self) {
        self.process = run(&self.config, &self.log);
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

fn run(config: &PathBuf, log: &PathBuf) -> Process {
    let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
    Process::start(
        Command::new(env!("CARGO_BIN_EXE_pos-fleet"))
            .args(["consume", "--config"])
            .arg(config)
            .env_remove("NOTIFY_SOCKET")
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log),
    )
}
