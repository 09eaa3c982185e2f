//! A PostgreSQL of its own for a test program: in a temporary folder, on a socket only. It is stopped on drop.

#![allow(clippy::disallowed_methods, reason = "another program is waited for")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The user that runs PostgreSQL. PostgreSQL refuses to run as root.
const USER: &str = "postgres";
/// The time in which PostgreSQL starts.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running PostgreSQL.
pub(crate) struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    server: Option<Child>,
    is_durable: bool,
}

impl Cluster {
    /// Creates an empty one and starts it. A full sync would only slow the tests down.
    pub(crate) fn start() -> Self {
        Self::create(false)
    }

    /// Creates one that writes everything to the disk before it answers.
    pub(crate) fn durable() -> Self {
        Self::create(true)
    }

    fn create(is_durable: bool) -> Self {
        // A socket's path is short, so the folder is directly below /tmp.
        let folder = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").unwrap();
        let mut cluster = Self { folder, programs: programs(), server: None, is_durable };
        if is_root() {
            run(Command::new("chown").arg(USER).arg(cluster.folder.path()));
        }
        let data = cluster.data();
        let mut initdb = cluster.program("initdb");
        initdb.args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=postgres"]);
        run(initdb.arg("--pgdata").arg(data));
        cluster.resume();
        cluster
    }

    /// Starts it again after [`Self::stop`].
    pub(crate) fn resume(&mut self) {
        let socket = self.folder.path().to_owned();
        let mut server = self.program("postgres");
        server.arg("-D").arg(self.data()).arg("-k").arg(&socket).args(["-c", "listen_addresses="]);
        server.args(["-c", "max_connections=40"]);
        if !self.is_durable {
            server.args(["-F", "-c", "full_page_writes=off", "-c", "synchronous_commit=off"]);
        }
        self.server = Some(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let end = Instant::now() + PATIENCE;
        while !self.program("pg_isready").arg("-q").arg("-h").arg(&socket).status().unwrap().success() {
            assert!(Instant::now() < end, "PostgreSQL did not start");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Stops it, as a power cut would.
    pub(crate) fn stop(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let mut stop = self.program("pg_ctl");
        stop.args(["stop", "--silent", "--mode=immediate", "--pgdata"]).arg(self.data());
        if !stop.status().is_ok_and(|status| status.success()) {
            let _ = server.kill();
        }
        let _ = server.wait();
    }

    /// The connection string of a database.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("host={} user=postgres dbname={name}", self.folder.path().display())
    }

    /// Creates an empty database.
    pub(crate) fn create_database(&self, name: &str) -> String {
        run(self.client("createdb").arg(name));
        self.url(name)
    }

    /// Returns the answer of a statement, a row for each line and `|` between columns.
    pub(crate) fn sql(&self, name: &str, statement: &str) -> String {
        let mut psql = self.client("psql");
        let output = psql.args(["-qAt", "-v", "ON_ERROR_STOP=1", "-d", name, "-c", statement]).output().unwrap();
        assert!(output.status.success(), "{statement}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs the statements of a file.
    pub(crate) fn run_file(&self, name: &str, file: &Path) {
        run(self.client("psql").args(["-qAt", "-v", "ON_ERROR_STOP=1", "-d", name, "-f"]).arg(file));
    }

    /// Writes a backup of a database.
    pub(crate) fn back_up(&self, name: &str) -> PathBuf {
        let file = self.folder.path().join("backup");
        run(self.client("pg_dump").args(["-Fc", "-d", name, "-f"]).arg(&file));
        file
    }

    /// Returns everything that a database holds, as text.
    pub(crate) fn dump(&self, name: &str) -> String {
        let output = self.client("pg_dump").args(["-a", "-d", name]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Replaces a database with a backup, while its programs are connected.
    pub(crate) fn restore(&self, name: &str, backup: &Path) {
        run(self.client("dropdb").args(["--force", name]));
        self.create_database(name);
        run(self.client("pg_restore").args(["-d", name]).arg(backup));
    }

    /// A file that the server's user can read.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The number of its first process, the parent of the others.
    pub(crate) fn id(&self) -> u32 {
        self.server.as_ref().expect("it runs").id()
    }

    fn client(&self, program: &str) -> Command {
        let mut command = self.program(program);
        command.arg("-h").arg(self.folder.path()).args(["-U", "postgres"]);
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of PostgreSQL, as a user that it accepts.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", USER, "--regid", USER, "--init-groups"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.current_dir("/");
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the folder with the programs of the newest PostgreSQL.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is not installed");
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|entry| entry.unwrap().path()).max_by_key(|path| version(path));
    newest.expect("PostgreSQL is not installed").join("bin")
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
