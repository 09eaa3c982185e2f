//! A mosquitto of its own, as the manual sets it up.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use pos_test_kit::free_port;
use tempfile::TempDir;

use crate::pki::Pki;
use crate::process::{Process, until};

pub(crate) struct Broker {
    dir: TempDir,
    pub(crate) port: u16,
    server: Process,
}

impl Broker {
    pub(crate) fn start(pki: &Pki, org: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let port = free_port();
        pki.make("broker", true);
        let path = |name: &str| dir.path().join(name).display().to_string();
        let mut config = include_str!("../../../../packages/fleet/mosquitto.conf")
            .replace("listener 8883", &format!("listener {port} 127.0.0.1"))
            .replace("/etc/pos-fleet", &pki.folder().display().to_string())
            .replace("/etc/mosquitto/pos-fleet.acl", &path("acl"))
            // Nothing is revoked here. The tests of enrolment revoke.
            .replace("crlfile ", "# ");
        config += &format!("persistence_location {}/\nlog_type error\nlog_dest file {}\n", path(""), path("log"));
        if rustix::process::getuid().is_root() {
            config += "user root\n";
        }
        fs::write(dir.path().join("config"), config).unwrap();
        fs::write(dir.path().join("acl"), acl(org)).unwrap();
        let server = run(&dir.path().join("config"), port);
        Self { dir, port, server }
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.server.id()
    }

    /// Kills the broker.
    pub(crate) fn cut(&mut self) {
        self.server.kill();
    }

    /// Kills the broker, and starts it again.
    pub(crate) fn restart(&mut self) {
        self.cut();
        self.again();
    }

    /// Starts the broker after [`Self::cut`].
    pub(crate) fn again(&mut self) {
        self.server = run(&self.dir.path().join("config"), self.port);
    }

    /// Kills the broker, removes what it has stored, and starts it again.
    pub(crate) fn lose_everything(&mut self) {
        self.server.kill();
        let _ = fs::remove_file(self.dir.path().join("mosquitto.db"));
        self.server = run(&self.dir.path().join("config"), self.port);
    }
}

fn run(config: &PathBuf, port: u16) -> Process {
    let server = Process::start(
        Command::new("/usr/sbin/mosquitto")
            .arg("-c")
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    );
    until("broker", Duration::from_secs(20), || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    server
}

/// The access list that the recipe installs.
fn acl(org: &str) -> String {
    include_str!("../../../../packages/fleet/mosquitto.acl").replace("@ORG@", org)
}
