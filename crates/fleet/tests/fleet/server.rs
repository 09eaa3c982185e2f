//! The fleet's server, as a program.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::broker::Broker;
use crate::pki::Pki;
use crate::process::{Process, until};

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
        let desk = pki.make("pos-fleet-desk", false);
        let (config, log) = (pki.folder().join("fleet.toml"), pki.folder().join("consumer.log"));
        let text = format!(
            "org = \"{ORG}\"\n[database]\nurl = \"{}\"\n[broker]\nhost = \"localhost\"\nport = {}\nca = \"{}\"\n\
             certificate = \"{}\"\nkey = \"{}\"\ndesk-certificate = \"{}\"\ndesk-key = \"{}\"\n",
            database,
            broker.port,
            pki.ca().display(),
            certificate.display(),
            key.display(),
            desk.0.display(),
            desk.1.display(),
        );
        fs::write(&config, text).unwrap();
        let process = run("consume", &config, &log);
        Self { config, log, process }
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    pub(crate) fn again(&mut self) {
        self.process = run("consume", &self.config, &self.log);
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// The desk, as a program. It uses the configuration of [`Server`].
pub(crate) struct DeskProgram {
    config: PathBuf,
    log: PathBuf,
    process: Process,
}

impl DeskProgram {
    pub(crate) fn start(pki: &Pki) -> Self {
        let (config, log) = (pki.folder().join("fleet.toml"), pki.folder().join("desk.log"));
        let process = run("desk", &config, &log);
        Self { config, log, process }
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    pub(crate) fn again(&mut self) {
        self.process = run("desk", &self.config, &self.log);
    }

    pub(crate) fn config(&self) -> &PathBuf {
        &self.config
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// The port of cloud tills, as a program.
pub(crate) struct TillsProgram {
    config: PathBuf,
    log: PathBuf,
    port: u16,
    process: Process,
}

impl TillsProgram {
    /// Starts it with a configuration that names this port.
    pub(crate) fn start(config: PathBuf, port: u16) -> Self {
        let log = config.with_extension("log");
        let process = run("tills", &config, &log);
        let tills = Self { config, log, port, process };
        tills.until_served();
        tills
    }

    fn until_served(&self) {
        let connect = || std::net::TcpStream::connect(("127.0.0.1", self.port)).ok();
        until("port of cloud tills", Duration::from_secs(20), connect);
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    pub(crate) fn again(&mut self) {
        self.process = run("tills", &self.config, &self.log);
        self.until_served();
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

fn run(verb: &str, config: &PathBuf, log: &PathBuf) -> Process {
    let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
    Process::start(
        Command::new(env!("CARGO_BIN_EXE_pos-fleet"))
            .args([verb, "--config"])
            .arg(config)
            .env_remove("NOTIFY_SOCKET")
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log),
    )
}
