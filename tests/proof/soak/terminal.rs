//! The shop on a desk, and the real program in a separate process, which is killed and started again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use pos_sim::shop::{Options, Shop};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

/// The paths of Debian's library that gives a program another clock.
const FAKETIME: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/arm-linux-gnueabihf/faketime/libfaketime.so.1",
];

pub struct Terminal {
    pub shop: Shop,
    /// The address for tills with a token.
    pub loopback: String,
    /// The number of starts.
    pub starts: AtomicU32,
    pid: AtomicU32,
    /// True for a long run, in which clocks jump and events come at their written intervals.
    long: bool,
    child: Mutex<Option<Child>>,
}

/// The token of a neighbour's program. It has separate limits.
pub const NOISY_TOKEN: &str = "bm9pc3ktbmVpZ2hib3Vycy10b2tlbg";

fn second_token(shop: &Shop) {
    let file = shop.folder().join("noisy-token");
    fs::write(&file, NOISY_TOKEN).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let text = fs::read_to_string(shop.config()).unwrap();
    let entry = format!("[[till.token]]\ntill = \"noisy\"\ntoken-file = \"{}\"\n\n[journal]", file.display());
    assert!(text.contains("[journal]"));
    fs::write(shop.config(), text.replace("[journal]", &entry)).unwrap();
}

impl Terminal {
    pub async fn open(long: bool) -> Self {
        let mut options = Options::default();
        options.reader.removes_card = true;
        let [.., high, low] = std::process::id().to_be_bytes();
        let loopback = format!("127.{}.{low}.200:8480", 1 + high % 254);
        options.config = [
            ("answer-timeout-ms = 10000", "answer-timeout-ms = 700".to_owned()),
            ("http = \"127.0.0.1:0\"", format!("http = \"{loopback}\"")),
        ]
        .map(|(what, with)| (what.to_owned(), with))
        .to_vec();
        let shop = Shop::open(options).await.unwrap();
        fs::write(shop.folder().join("clock"), "+0").unwrap();
        second_token(&shop);
        let (starts, pid) = (AtomicU32::new(0), AtomicU32::new(0));
        let terminal = Self { shop, loopback, starts, pid, long, child: Mutex::default() };
        terminal.start();
        terminal
    }

    fn start(&self) {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.log()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
        command.args(["run", "--config"]).arg(self.shop.config());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        command.env_remove("CREDENTIALS_DIRECTORY").env_remove("NOTIFY_SOCKET");
        if self.long {
            let library = FAKETIME.iter().find(|path| Path::new(path).exists());
            command
                .env("LD_PRELOAD", library.expect("the clocks of a soak need libfaketime: apt install libfaketime"))
                .env("FAKETIME_TIMESTAMP_FILE", self.shop.folder().join("clock"))
                .env("FAKETIME_NO_CACHE", "1")
                .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let child = command.spawn().unwrap();
        self.pid.store(child.id().unwrap(), Ordering::SeqCst);
        self.starts.fetch_add(1, Ordering::SeqCst);
        *self.child.lock().unwrap() = Some(child);
    }

    /// Starts the agent again after each kill. Panics if the agent ends without a kill.
    pub async fn keep_running(&self, over: &AtomicBool) {
        loop {
            let mut child = self.child.lock().unwrap().take().unwrap();
            let status = child.wait().await.unwrap();
            let killed = self.pid.swap(0, Ordering::SeqCst) == 0;
            assert!(killed || over.load(Ordering::SeqCst), "the agent ended by itself: {status}\n{}", self.log_end());
            // The terminal is off, so the customer takes the card out.
            self.shop.reader.remove();
            self.start();
        }
    }

    /// Returns the time to wait for an event with this interval.
    pub fn every(&self, often: Duration) -> Duration {
        if self.long { often } else { often / 60 }
    }

    /// Returns the process id, unless the process was just killed.
    pub fn pid(&self) -> Option<u32> {
        Some(self.pid.load(Ordering::SeqCst)).filter(|pid| *pid != 0)
    }

    /// Kills the process with SIGKILL.
    pub fn kill(&self) {
        let pid = self.pid.swap(0, Ordering::SeqCst);
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Sets the board's clock this many seconds ahead.
    pub fn set_clock(&self, ahead_s: i64) {
        let fresh = self.shop.folder().join("clock.new");
        fs::write(&fresh, format!("{ahead_s:+}")).unwrap();
        fs::rename(fresh, self.shop.folder().join("clock")).unwrap();
    }

    pub async fn everything_is_well_again(&self) {
        self.set_clock(0);
        let _ = self.shop.reader.replug();
        self.shop.gateway.set_offline(false).await.unwrap();
        self.shop.gateway.set_delay(Duration::ZERO);
    }

    fn log(&self) -> std::path::PathBuf {
        self.shop.folder().join("agent.log")
    }

    /// Returns the last lines of the agent's log for a person.
    pub fn log_end(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}
