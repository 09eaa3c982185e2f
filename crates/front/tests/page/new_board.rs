//! A board at its first boot: the real programs of both halves, and then of the terminal, with a simulated reader,
//! printer and gateway. This module is the board's systemd: it starts and stops the programs as the units do.
//!
//! The programs use a board's own ports and places, as the configuration that they write says. So each test runs again
//! as a process with its own network, `/run`, `/var/lib` and `/dev`, which `new_board.sh` makes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pos_first_boot::{Step, TRIES};
use pos_sim::gateway::{self, Gateway};
use pos_sim::printer::{self, Printer, PrinterAddress};
use pos_sim::reader::{self, CardEntry, Reader, WaitsFor, card};
use rcgen::PublicKeyData as _;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::browser::{Browser, Driver};
use crate::within;

const FRONT: &str = env!("CARGO_BIN_EXE_pos-front");
const WORLD: &str = include_str!("new_board.sh");
/// The variable that is set in a process on the board.
const ON_BOARD: &str = "POS_FRONT_PAGE_ON_BOARD";

/// The number of the user that runs all programs.
const USER: &str = "4711";
/// The address of the page.
pub(crate) const URL: &str = "https://192.168.1.50:8443";
/// The folder of the configuration. The usual one is the computer's own.
const CONFIGURATION: &str = "/run/board/pos-agent";
/// The folder of the board's other settings.
const ETC: &str = "/run/board/etc";
const CONSOLE: &str = "/run/board/console";
const LOG: &str = "/run/board/log";
const TRIES_AND_HOUR: &str = "/run/pos-first-boot";
/// The folders that systemd makes for the units.
const RUN: [&str; 4] = [TRIES_AND_HOUR, "/run/pos-agent", "/run/pos-front", "/run/systemd/timesync"];
pub(crate) const READER: &str = "/dev/pos/reader";
pub(crate) const PRINTER: &str = "/dev/pos/printer";

/// Runs a test of the module `first_boot` on a board.
pub(crate) fn on_a_board(test: &str, steps: impl Future<Output = ()>) {
    if std::env::var_os(ON_BOARD).is_some() {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(steps);
        return;
    }
    let mut again = std::process::Command::new("unshare");
    again.args(["--user", "--map-root-user", "--mount", "--net", "sh", "-c", WORLD, "new_board.sh"]);
    again.arg(std::env::current_exe().unwrap()).arg(format!("first_boot::{test}"));
    again
        .args(["--exact", "--include-ignored", "--nocapture"])
        .env(ON_BOARD, "yes")
        .env("BOARD_USER", USER)
        .env("TMPDIR", "/tmp");
    let ended = again.status().expect("unshare runs: it is in util-linux");
    assert!(ended.success(), "{test} has failed on the board: see above");
}

/// The board and its devices. Its programs end with this value.
pub(crate) struct NewBoard {
    pub(crate) gateway: Gateway,
    pub(crate) printer: Printer,
    pub(crate) reader: Reader,
    root: Option<Child>,
    page: Option<Child>,
    terminal: Vec<Child>,
}

impl NewBoard {
    /// Switches on a board that has no data yet.
    pub(crate) async fn start() -> Self {
        // The agent's folder is there, so that its journal belongs to the one user of the board.
        for folder in ["/run/board", ETC, "/var/lib/pos-agent", "/var/lib/pos-front"] {
            let _ = fs::remove_dir_all(folder);
            fs::create_dir(folder).unwrap();
        }
        let link = Some(READER.into());
        let reader = reader::start(reader::Options { link, removes_card: true, ..Default::default() }).await.unwrap();
        let place = PrinterAddress::Pty(Some(PRINTER.into()));
        let printer = Printer::open(printer::Options { place, ..Default::default() }).await.unwrap();
        let gateway = gateway::start(gateway::Options::default()).await.unwrap();
        let mut board = Self { gateway, printer, reader, root: None, page: None, terminal: Vec::new() };
        board.boot().await;
        board
    }

    /// Starts what the units start: the first boot without a configuration, or else the terminal.
    pub(crate) async fn boot(&mut self) {
        for folder in RUN {
            let _ = fs::remove_dir_all(folder);
            fs::create_dir_all(folder).unwrap();
        }
        // Its clock is right.
        File::create("/run/systemd/timesync/synchronized").unwrap();
        if self.is_set_up() {
            self.start_terminal();
            return;
        }
        self.start_root();
        let mut page = program(Path::new(FRONT));
        page.args(["first-boot", "--configuration", CONFIGURATION]);
        self.page = Some(page.spawn().unwrap());
        self.code().await;
    }

    /// Cuts the power.
    pub(crate) async fn cut_power(&mut self) {
        for program in self.root.take().into_iter().chain(self.page.take()).chain(self.terminal.drain(..)) {
            end(program).await;
        }
    }

    /// Ends root's half with `kill -9`, and starts it again, as its socket does.
    pub(crate) async fn restart_root(&mut self) {
        end(self.root.take().expect("it runs")).await;
        self.start_root();
    }

    /// Lets the hour end after this time, and starts root's half again, which reads its mark.
    pub(crate) async fn hour_ends_in(&mut self, left: Duration) {
        let age = fs::read_to_string("/proc/uptime").unwrap();
        let age: u64 = age.split('.').next().unwrap().parse().unwrap();
        fs::write(Path::new(TRIES_AND_HOUR).join("ends"), format!("{}\n", age + left.as_secs())).unwrap();
        self.restart_root().await;
    }

    fn start_root(&mut self) {
        let socket = pos_first_boot::SOCKET;
        let _ = fs::remove_file(socket);
        File::create(CONSOLE).unwrap();
        let mut root = program(&PathBuf::from(FRONT).with_file_name("pos-agent"));
        root.args(["first-boot", "--config"]).arg(in_configuration("config.toml"));
        root.args(["--socket", socket, "--console", CONSOLE, "--etc", ETC]);
        root.args(["--front-user", USER, "--board", "generic-aarch64"]);
        self.root = Some(root.spawn().unwrap());
    }

    /// Waits until the files are written, and starts the terminal.
    pub(crate) async fn becomes_terminal(&mut self) {
        for half in [self.root.take(), self.page.take()] {
            let ended = within("the end of a half", half.expect("it runs").wait()).await.unwrap();
            assert!(ended.success(), "{}", log());
        }
        self.start_terminal();
    }

    fn start_terminal(&mut self) {
        for (name, config) in [("pos-agent", "config.toml"), ("pos-front", "front.toml")] {
            let mut runs = program(&PathBuf::from(FRONT).with_file_name(name));
            self.terminal.push(runs.args(["run", "--config"]).arg(in_configuration(config)).spawn().unwrap());
        }
    }

    /// Cuts the power when the writing has come to this step.
    pub(crate) async fn cut_power_at(&mut self, step: Step) {
        self.until_step(step).await;
        self.cut_power().await;
    }

    /// Waits until the front has heard of this step of a writing.
    pub(crate) async fn until_step(&self, step: Step) {
        let word = format!("step={step:?}");
        let seen = || log().matches(&word).count();
        let before = seen();
        within(&word, async {
            while seen() == before {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
    }

    pub(crate) fn is_set_up(&self) -> bool {
        in_configuration("config.toml").exists()
    }

    /// Waits until the console shows a code, and returns it. Each start of root's half empties the console.
    pub(crate) async fn code(&self) -> String {
        let shown = || {
            let console = fs::read_to_string(CONSOLE).unwrap();
            let code: String = console.split_once("The code: ")?.1.split_whitespace().collect();
            (code.len() == pos_first_boot::CODE_DIGITS).then_some(code)
        };
        within("the code", async {
            loop {
                match shown() {
                    Some(code) => return code,
                    None => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        })
        .await
    }

    /// Returns a code that is wrong.
    pub(crate) async fn wrong_code(&self) -> &'static str {
        if self.code().await == "00000000" { "00000001" } else { "00000000" }
    }

    /// Returns the number of tries that are left.
    pub(crate) fn tries_left(&self) -> u32 {
        let used = fs::read_to_string(Path::new(TRIES_AND_HOUR).join("tries"));
        TRIES - used.map_or(0, |used| used.trim().parse().unwrap())
    }

    /// Returns a file of the configuration.
    pub(crate) fn written(&self, name: &str) -> String {
        fs::read_to_string(in_configuration(name)).unwrap()
    }

    /// Opens a browser that trusts this board's certificate, as a person does after a look at its fingerprint.
    pub(crate) async fn browser(&self, driver: &Driver) -> Browser {
        let entries = fs::read_dir("/var/lib/pos-front").unwrap().map(|entry| entry.unwrap().path());
        let keys = entries.filter_map(|path| {
            let kept: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
            let key = rcgen::KeyPair::from_pem(kept["key"].as_str()?).unwrap().subject_public_key_info();
            Some(STANDARD.encode(ring::digest::digest(&ring::digest::SHA256, &key)))
        });
        let keys = keys.collect::<Vec<_>>().join(",");
        driver.browser_with(&[&format!("--ignore-certificate-errors-spki-list={keys}")]).await
    }

    /// Presents a card as soon as the reader asks for one.
    pub(crate) async fn present(&self, name: &str) {
        within("the reader asks for a card", self.reader.waits_for(WaitsFor::Card)).await;
        self.reader.present(card(name).unwrap(), CardEntry::Tap);
    }
}

fn in_configuration(name: &str) -> PathBuf {
    Path::new(CONFIGURATION).join(name)
}

/// Ends a program and those that it runs with `kill -9`.
async fn end(mut program: Child) {
    let id = program.id().expect("it runs").try_into().unwrap();
    kill_process_group(Pid::from_raw(id).unwrap(), Signal::KILL).unwrap();
    program.wait().await.unwrap();
}

fn program(program: &Path) -> Command {
    let log = File::options().create(true).append(true).open(LOG).unwrap();
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    command.process_group(0).kill_on_drop(true);
    for variable in ["CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "RUST_LOG"] {
        command.env_remove(variable);
    }
    command
}

/// Returns what the programs have said.
pub(crate) fn log() -> String {
    let said = fs::read(LOG)
        .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(Vec::new()) } else { Err(error) });
    String::from_utf8_lossy(&said.unwrap()).into_owned()
}
