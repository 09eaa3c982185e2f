//! The program itself, with a configuration in its own folder, and clients that use it.

use std::path::{Path, PathBuf};
use std::process::{Command as Program, ExitStatus, Output, Stdio};
use std::sync::Once;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::watch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pos-front");

/// A running front that uses a stand-in or the real agent.
pub(crate) struct Running {
    pub(crate) folder: TempDir,
    child: Child,
    /// The log so far.
    log: watch::Receiver<String>,
    /// The host and port with TLS.
    pub(crate) https: String,
    /// The host and port without TLS.
    pub(crate) http: String,
}

impl Running {
    /// Starts the front, and returns when it listens and knows the state of the agent.
    pub(crate) async fn begin(folder: TempDir, more: &str) -> Self {
        Self::begin_by(Command::new(PROGRAM), folder, more).await
    }

    /// Starts the front as another user, who becomes the owner of the folder. Only root can do this.
    #[allow(dead_code, reason = "for the tests before the real agent")]
    pub(crate) async fn begin_as(uid: u32, folder: TempDir, more: &str) -> Self {
        Self::begin_program_as(Path::new(PROGRAM), uid, folder, more).await
    }

    /// Starts a copy of this program as another user.
    #[allow(dead_code, reason = "for the tests before the real agent")]
    pub(crate) async fn begin_program_as(from: &Path, uid: u32, folder: TempDir, more: &str) -> Self {
        let program = folder.path().join("pos-front");
        // Another process makes the copy. If this process wrote the file, a program that another test starts could keep
        // it open, and the copy could not be run.
        assert!(Program::new("cp").arg(from).arg(&program).status().unwrap().success());
        std::os::unix::fs::chown(folder.path(), Some(uid), None).unwrap();
        let mut command = Command::new(program);
        command.uid(uid);
        Self::begin_by(command, folder, more).await
    }

    /// Starts the front with this command.
    pub(crate) async fn begin_by(mut command: Command, folder: TempDir, more: &str) -> Self {
        write_config(folder.path(), more);
        let mut child = command
            .args(["run", "--config", config(folder.path()).to_str().unwrap()])
            .env("RUST_LOG", "info")
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (mut https, mut http) = (None, None);
        let mut asked = false;
        let mut said = String::new();
        while https.is_none() || http.is_none() || !asked {
            let line = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("it ended: {said}"));
            let url = line.split_once("url=\"").and_then(|(_, rest)| rest.split_once('"')).map(|(url, _)| url);
            match url.and_then(|url| url.split_once("://")) {
                Some(("https", address)) => https = Some(address.to_owned()),
                Some(("http", address)) => http = Some(address.to_owned()),
                _ => {}
            }
            asked |= line.contains("the agent is running") || line.contains("the agent is not running");
            said.push_str(&line);
        }
        // The log is always read, so the front never waits for its reader.
        let (lines_of_log, log) = watch::channel(said);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                lines_of_log.send_modify(|log| log.extend([line.as_str(), "\n"]));
            }
        });
        Self { folder, child, log, https: https.unwrap(), http: http.unwrap() }
    }

    /// Waits for the first line of the log that contains these words, and returns it.
    #[allow(dead_code, reason = "for the tests with the real agent")]
    pub(crate) async fn until_logged(&self, words: &str) -> String {
        let mut log = self.log.clone();
        let found = log.wait_for(|log| log.lines().any(|line| line.contains(words)));
        let log = pos_test_kit::within(words, found).await.unwrap();
        log.lines().find(|line| line.contains(words)).unwrap().to_owned()
    }

    #[allow(dead_code, reason = "for the tests before the real agent")]
    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Kills the front with `kill -9`.
    pub(crate) async fn kill(mut self) -> Killed {
        self.child.kill().await.unwrap();
        Killed(self.folder)
    }

    /// Tells the front to end, as systemd does.
    #[allow(dead_code, reason = "for the tests with the real agent")]
    pub(crate) fn asks_to_end(&self) {
        let pid = i32::try_from(self.child.id().expect("it runs")).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::TERM)
            .unwrap();
    }

    /// Waits for the end of the front.
    #[allow(dead_code, reason = "for the tests with the real agent")]
    pub(crate) async fn ended(mut self) -> ExitStatus {
        self.child.wait().await.unwrap()
    }

    pub(crate) fn https_url(&self, path: &str) -> String {
        format!("https://{}{path}", self.https)
    }

    pub(crate) fn http_url(&self, path: &str) -> String {
        format!("http://{}{path}", self.http)
    }

    /// Returns a client that trusts only the terminal's CA.
    pub(crate) fn client(&self) -> reqwest::Client {
        let pem = self.verb(&["certificate", "--pem"]).stdout;
        let ca = reqwest::Certificate::from_pem(&pem).unwrap();
        client().tls_certs_only([ca]).build().unwrap()
    }

    /// Runs a verb of the command line with this front's configuration.
    pub(crate) fn verb(&self, arguments: &[&str]) -> Output {
        let config = config(self.folder.path());
        let mut program = Program::new(PROGRAM);
        program.args(&arguments[..1]).args(["--config", config.to_str().unwrap()]).args(&arguments[1..]);
        program.output().unwrap()
    }

    /// Runs a verb like [`Self::verb`], while the tasks of the test continue.
    #[allow(dead_code, reason = "for the tests before the real agent")]
    pub(crate) async fn verb_beside(&self, arguments: &[&str]) -> Output {
        let config = config(self.folder.path());
        let mut program = Command::new(PROGRAM);
        program.args(&arguments[..1]).args(["--config", config.to_str().unwrap()]).args(&arguments[1..]);
        program.kill_on_drop(true).output().await.unwrap()
    }

    /// Starts a verb that runs until it is dropped.
    #[allow(dead_code, reason = "for the tests before the real agent")]
    pub(crate) fn begin_verb(&self, arguments: &[&str]) -> Child {
        let config = config(self.folder.path());
        let mut program = Command::new(PROGRAM);
        program.args(&arguments[..1]).args(["--config", config.to_str().unwrap()]).args(&arguments[1..]);
        program.kill_on_drop(true).spawn().unwrap()
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.http).await.unwrap()
    }

    /// Sends these bytes, and returns the status and the answer. Either side may close the connection.
    pub(crate) async fn raw(&self, bytes: &str) -> (u16, String) {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        answer_on(&mut stream).await
    }
}

/// Reads one answer from this connection. Returns its status, its head and its body.
pub(crate) async fn answer_on(stream: &mut TcpStream) -> (u16, String) {
    let mut answer = Vec::new();
    let read = async {
        let mut piece = [0; 4096];
        while !is_whole(&String::from_utf8_lossy(&answer)) {
            match stream.read(&mut piece).await {
                Ok(0) | Err(_) => break,
                Ok(n) => answer.extend_from_slice(&piece[..n]),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), read).await.expect("an answer");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no answer: {answer:?}")), answer)
}

/// Checks whether the head and as many bytes as it announces are there.
fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return false };
    let announced =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= announced.unwrap_or(0)
}

/// The folder that a killed front left behind.
pub(crate) struct Killed(TempDir);

impl Killed {
    pub(crate) async fn begin(self, more: &str) -> Running {
        Running::begin(self.0, more).await
    }

    /// Returns the folder.
    #[allow(dead_code, reason = "for the tests before the real agent")]
    pub(crate) fn folder(self) -> TempDir {
        self.0
    }
}

/// Installs ring as the provider for all TLS in this process.
pub(crate) fn provider() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
}

pub(crate) fn client() -> reqwest::ClientBuilder {
    provider();
    // This is shorter than the front's time limit for idle connections, so no request is sent while the front closes
    // one.
    let idle = std::time::Duration::from_secs(5);
    reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).pool_idle_timeout(idle)
}

pub(crate) fn config(folder: &Path) -> PathBuf {
    folder.join("front.toml")
}

/// The additional text for a configuration in which no till may be paired.
pub(crate) const NO_TILLS: &str = "# no till may be paired\n";

fn write_config(folder: &Path, more: &str) {
    let at = |name: &str| folder.join(name).display().to_string();
    let tills: &[&str] = if more == NO_TILLS { &[] } else { &["kasse-2", "kasse-9"] };
    let text = format!(
        "names = [\"kasse.local\"]\ntills = {tills:?}\nagent = {:?}\nstate = {:?}\ncontrol = {:?}\ndoctor = {:?}\n\
         [listen]\nhttps = [\"127.0.0.1:0\"]\nhttp = [\"127.0.0.1:0\"]\n[cors]\norigins = [\"https://till.example\"]\n{more}",
        at("till.sock"),
        at("state"),
        at("control.sock"),
        at("doctor.sock")
    );
    std::fs::write(config(folder), text).unwrap();
}

/// Returns the body as JSON.
pub(crate) async fn json(answer: reqwest::Response) -> serde_json::Value {
    let text = answer.text().await.unwrap();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"))
}

/// Returns the status and the code of a problem.
pub(crate) async fn problem(answer: reqwest::Response) -> (u16, String) {
    let status = answer.status().as_u16();
    assert_eq!(answer.headers()["content-type"], "application/problem+json", "{status}");
    (status, json(answer).await["code"].as_str().unwrap().to_owned())
}
