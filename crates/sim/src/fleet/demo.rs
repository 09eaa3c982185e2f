//! `cargo demo --fleet`: five terminals, a broker, a database, and the pages of their server, on one machine.
//!
//! Broker and database are Debian's programs. They and the server's programs run in a temporary folder, and end with
//! the demo. The terminals get their certificates with codes, as real ones do.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use pos_fleet_terms::Id;
use pos_uplink::certificate::{Folder as Certificates, Which};
use pos_uplink::enrol::{Port, enrol};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::shop::Folder;
use crate::shop::program;

/// The number of terminals.
const TERMINALS: u64 = 5;
/// The organisation.
const ORG: &str = "corner-shops";
/// The broker's configuration that a fleet's server installs, and its access list.
const BROKER: &str = include_str!("../../../../packages/fleet/mosquitto.conf");
const ACL: &str = include_str!("../../../../packages/fleet/mosquitto.acl");
/// The sales of a terminal in a day: one each few seconds, so that the pages change while somebody looks.
const PER_DAY: &str = "10000";
/// The time in which a program must be ready.
const READY: Duration = Duration::from_secs(60);
/// Debian's programs.
const MOSQUITTO: &str = "/usr/sbin/mosquitto";
const POSTGRESQL: &str = "/usr/lib/postgresql";
/// The user of the database. PostgreSQL refuses to run as root.
const USER: &str = "postgres";

/// The parts of a fleet. All programs end when this value is dropped.
struct Fleet {
    folder: Folder,
    programs: Vec<Child>,
}

/// Shows a fleet until `stop` ends.
///
/// # Errors
/// Fails if a program is not installed or cannot be started.
pub(crate) async fn run(stop: impl Future<Output = ()>) -> io::Result<()> {
    let postgresql = newest_postgresql().ok_or_else(|| not_installed("postgresql"))?;
    if !Path::new(MOSQUITTO).exists() {
        return Err(not_installed("mosquitto"));
    }
    say("pos-fleet is built; the first time takes two minutes");
    let server = program::build(&["pos-fleet"], &["pos-fleet"]).await?.join("pos-fleet");
    let mut fleet = Fleet { folder: Folder::make()?, programs: Vec::new() };
    let [broker, page, enrols] = [free_port()?, free_port()?, free_port()?];
    say("database, broker and server start");
    fleet.database(&postgresql).await?;
    fleet.configure(&server, [broker, page, enrols]).await?;
    fleet.start(Command::new(MOSQUITTO).arg("-c").arg(fleet.path("mosquitto.conf")))?;
    until_open(broker).await?;
    for verb in ["consume", "serve", "enrol"] {
        let mut command = fleet.server(&server);
        fleet.start(command.arg(verb))?;
    }
    until_open(page).await?;
    until_open(enrols).await?;
    for at in 1..=TERMINALS {
        fleet.enrol(&server, &format!("sim-{at:04}").parse().map_err(io::Error::other)?, enrols).await?;
    }
    let mut terminals = Command::new(std::env::current_exe()?);
    terminals
        .args(["fleet", &TERMINALS.to_string(), "--org", ORG, "--sales-per-day", PER_DAY, "--days", "1"])
        .args(["--broker", &format!("localhost:{broker}")])
        .arg("--ca")
        .arg(fleet.path("ca.pem"))
        .arg("--certificates")
        .arg(fleet.path("terminals"));
    fleet.start(terminals.stdin(Stdio::piped()).stdout(Stdio::null()))?;
    say(&format!("{TERMINALS} terminals connect and sell; Ctrl-C ends everything"));
    say(&format!("http://127.0.0.1:{page}/"));
    say(&format!("http://127.0.0.1:{page}/metrics"));
    stop.await;
    Ok(())
}

impl Fleet {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path.join(name)
    }

    fn start(&mut self, command: &mut Command) -> io::Result<()> {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.path("log"))?;
        let child = command.stderr(log).kill_on_drop(true).spawn();
        self.programs.push(child.map_err(|error| io::Error::other(format!("{command:?}: {error}")))?);
        Ok(())
    }

    /// Returns the server's program, for a verb.
    fn server(&self, server: &Path) -> Command {
        let mut command = Command::new(server);
        command.arg("--config").arg(self.path("fleet.toml")).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Makes a database and starts it, on a socket only.
    async fn database(&mut self, programs: &Path) -> io::Result<()> {
        let (data, socket) = (self.path("database"), self.path("socket"));
        for folder in [&data, &socket] {
            fs::create_dir(folder)?;
        }
        if rustix::process::getuid().is_root() {
            // The user of the database passes the folder, and sees nothing else in it.
            fs::set_permissions(&self.folder.path, fs::Permissions::from_mode(0o711))?;
            done(Command::new("chown").arg(USER).args([&data, &socket])).await?;
        }
        let mut initdb = as_user(&programs.join("initdb"));
        initdb.args(["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=fleet", "-D"]).arg(&data);
        done(&mut initdb).await?;
        let mut postgres = as_user(&programs.join("postgres"));
        postgres.args(["-c", "listen_addresses=", "-k"]).arg(&socket).arg("-D").arg(&data);
        self.start(postgres.stdin(Stdio::null()).stdout(Stdio::null()))?;
        let within = tokio::time::timeout(READY, async {
            let mut createdb = Command::new(programs.join("createdb"));
            createdb.args(["-U", "fleet", "-h"]).arg(&socket).arg("fleet");
            while done(&mut createdb).await.is_err() {
                // Each answer comes from a new process, so the only option is to wait before the next attempt.
                sleep(Duration::from_millis(100)).await;
            }
        });
        within.await.map_err(|_| io::Error::other("the database was not ready in time"))
    }

    /// Makes the certificates, and writes the configurations.
    async fn configure(&self, server: &Path, [broker, page, enrols]: [u16; 3]) -> io::Result<()> {
        fs::create_dir(self.path("terminals"))?;
        let folder = self.folder.path.display();
        let mut ca = Command::new(server);
        ca.args(["ca", "--name", "localhost", "--folder"]).arg(&self.folder.path);
        done(&mut ca).await?;
        fs::write(self.path("acl"), ACL.replace("@ORG@", ORG))?;
        let user = if rustix::process::getuid().is_root() { "user root\n" } else { "" };
        let mosquitto = BROKER
            .replace("listener 8883", &format!("listener {broker} 127.0.0.1"))
            .replace("/etc/pos-fleet", &folder.to_string())
            .replace("/etc/mosquitto/pos-fleet.acl", &format!("{folder}/acl"));
        let mosquitto = format!("{mosquitto}persistence_location {folder}/\nlog_type error\n{user}");
        fs::write(self.path("mosquitto.conf"), mosquitto)?;
        let fleet = format!(
            "org = \"{ORG}\"\n[database]\nurl = \"host={folder}/socket user=fleet dbname=fleet\"\n[broker]\n\
             host = \"localhost\"\nport = {broker}\nca = \"{folder}/ca.pem\"\ncertificate = \"{folder}/consumer.pem\"\n\
             key = \"{folder}/consumer-key.pem\"\n[serve]\nlisten = \"127.0.0.1:{page}\"\n[enrol]\n\
             listen = \"127.0.0.1:{enrols}\"\ncertificate = \"{folder}/enrol.pem\"\nkey = \"{folder}/enrol-key.pem\"\n\
             ca-certificate = \"{folder}/ca.pem\"\nca-key = \"{folder}/ca-key.pem\"\n"
        );
        fs::write(self.path("fleet.toml"), fleet)
    }

    /// Gets a terminal's certificate with a code.
    async fn enrol(&self, server: &Path, terminal: &Id, port: u16) -> io::Result<()> {
        let mut code = self.server(server);
        let code = done(code.args(["code", terminal.as_str()])).await?;
        let certificates = Certificates::open(&self.path(terminal.as_str()), terminal).map_err(io::Error::other)?;
        let ca = self.path("ca.pem");
        let port = Port { host: "localhost", port, ca: &ca };
        enrol(port, &certificates, code.trim()).await.map_err(io::Error::other)?;
        let pair = certificates.pair(Which::Next).map_err(io::Error::other)?;
        let pair = pair.ok_or_else(|| io::Error::other("the enrol port gave no certificate"))?;
        fs::copy(pair.certificate, self.path("terminals").join(format!("{terminal}.pem")))?;
        fs::copy(pair.key, self.path("terminals").join(format!("{terminal}-key.pem")))?;
        Ok(())
    }
}

/// Runs a program to its end, and returns its output.
async fn done(command: &mut Command) -> io::Result<String> {
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).output().await;
    let output = output.map_err(|error| io::Error::other(format!("{command:?}: {error}")))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

/// Returns a program of the database, as a user that it accepts.
fn as_user(program: &Path) -> Command {
    if !rustix::process::getuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]).arg(program).current_dir("/");
    command
}

fn newest_postgresql() -> Option<PathBuf> {
    let versions = fs::read_dir(POSTGRESQL).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    Some(versions.max_by_key(number)?.join("bin"))
}

fn not_installed(package: &str) -> io::Error {
    io::Error::other(format!("{package} is not installed; run: sudo apt install mosquitto postgresql"))
}

/// Returns a port that is free now.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

async fn until_open(port: u16) -> io::Result<()> {
    let opened = tokio::time::timeout(READY, async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            // Nothing tells when another program listens.
            sleep(Duration::from_millis(50)).await;
        }
    });
    opened.await.map_err(|_| io::Error::other(format!("nothing listens at port {port}")))
}

#[allow(clippy::print_stdout, reason = "the demo speaks to a person")]
fn say(line: &str) {
    println!("{line}");
}
