//! The log of the real program: its destination, its level, and how long a level lasts. `tests/secrets/card_data.rs`
//! checks that it contains no card data.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::process::Output;

use crate::counter::Counter;
use crate::counter::till::program;
use pos_sim::shop::Options;
use pos_test_kit::within;
use tokio::process::Child;

/// A counter whose agent is the real program. The agent's standard error goes to a file.
struct Desk {
    counter: Counter,
    _agent: Child,
}

impl Desk {
    async fn open(prepare: impl FnOnce(&mut tokio::process::Command, &File)) -> Self {
        let counter = Counter::closed(Options::default()).await;
        let file = File::create(counter.shop.folder().join("log")).unwrap();
        let config = counter.shop.config();
        let mut agent = program(&["run", "--config", config.to_str().unwrap()]);
        prepare(&mut agent, &file);
        let agent = agent.stderr(file).spawn().unwrap();
        counter.until_ready().await;
        Self { counter, _agent: agent }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.counter.shop.folder().join("log")).unwrap()
    }

    async fn verb(&self, arguments: &[&str]) -> Output {
        within("the verb", self.counter.verb(arguments)).await.unwrap()
    }
}

#[tokio::test]
async fn the_level_is_changed_while_it_runs_and_falls_back_by_itself() {
    let desk = Desk::open(|_, _| ()).await;
    assert!(!desk.log().contains("DEBUG"), "{}", desk.log());
    let output = desk.verb(&["log-level", "debug", "--for", "2h"]).await;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "debug for 2 h, then the usual level\n");
    let status = desk.counter.status().await;
    let logging = status.logging.unwrap();
    assert!(logging.level.as_str() == "debug" && (7000..=7200).contains(&logging.left_s), "{logging:?}");
    let shown = desk.verb(&["status"]).await;
    assert!(String::from_utf8_lossy(&shown.stdout).contains("log          debug for 2 h, then"), "{shown:?}");
    // A sale is cancelled, so the agent sends commands to the reader.
    desk.counter.begin("one", "12.34").await;
    desk.counter.post("/v1/sales/one/cancel").await;
    desk.counter.until_ended("one").await;
    let log = desk.log();
    assert!(log.contains("DEBUG") && log.contains("the log level was changed") && log.contains("by=user "), "{log}");
    // The level changes again. This change ends automatically.
    let output = desk.verb(&["log-level", "trace", "--for", "1s", "--json"]).await;
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"level\":\"trace\",\"leftS\":1}\n");
    desk.counter.until_status("the log as it was", |status| status.logging.is_none()).await;
    let log = desk.log();
    let (_, after) = log.split_once("the log level is the usual one again").unwrap();
    desk.counter.until_ready().await;
    desk.counter.begin("two", "12.34").await;
    desk.counter.post("/v1/sales/two/cancel").await;
    desk.counter.until_ended("two").await;
    let log = desk.log();
    assert!(!after.contains("DEBUG"), "{after}");
    let (_, after) = log.split_once("the log level is the usual one again").unwrap();
    assert!(after.contains("sale=2") && !after.contains("DEBUG") && !after.contains("TRACE"), "{after}");
    // A verb ends a level immediately.
    assert!(desk.verb(&["log-level", "info"]).await.status.success());
    assert!(desk.counter.status().await.logging.is_some());
    let output = desk.verb(&["log-level", "usual", "--json"]).await;
    assert_eq!(String::from_utf8_lossy(&output.stdout), "null\n");
    assert_eq!(desk.counter.status().await.logging, None);
}

#[tokio::test]
async fn wrong_levels_and_times_are_refused_by_name() {
    let desk = Desk::open(|_, _| ()).await;
    for wrong in [
        &["log-level"][..],
        &["log-level", "loud"],
        &["log-level", "off"],
        &["log-level", "debug", "--for", "10"],
        &["log-level", "debug", "--for", "25h"],
        &["log-level", "debug", "--for", "0s"],
    ] {
        let output = desk.verb(wrong).await;
        assert_eq!(output.status.code(), Some(64), "{wrong:?}: {output:?}");
    }
    let at = "http://till/v1/log-level";
    let client = reqwest::Client::builder().unix_socket(desk.counter.shop.socket()).no_proxy().build().unwrap();
    for (body, named) in [
        (r#"{"level":"loud"}"#, "level"),
        (r#"{"level":"debug","forS":0}"#, "forS"),
        (r#"{"level":"debug","forS":86401}"#, "forS"),
        (r#"{"level":"debug","forS":"1h"}"#, "forS"),
        (r#"{"level":"debug","target":"pos_agent"}"#, "target"),
        ("{}", "level"),
    ] {
        let answer = client.post(at).header("content-type", "application/json").body(body).send().await.unwrap();
        let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
        assert!(status == 400 && text.contains(named), "{body}: {status} {text}");
    }
    assert_eq!(desk.counter.status().await.logging, None);
    let output =
        within("the verb", program(&["log-level", "debug", "--socket", "/nonexistent"]).output()).await.unwrap();
    assert_eq!(output.status.code(), Some(69), "{output:?}");
}

#[tokio::test]
async fn the_log_names_the_program_and_its_configuration_and_why_a_sale_was_refused() {
    let desk = Desk::open(|_, _| ()).await;
    let config = desk.counter.shop.config();
    let log = desk.log();
    let [start] = log.lines().filter(|line| line.contains("has started")).collect::<Vec<_>>()[..] else {
        panic!("{log}");
    };
    for fact in [
        format!("version=\"{}", pos_agent::agent::this_program()),
        "terminal=\"12345678\"".to_owned(),
        format!("config={}", config.display()),
    ] {
        assert!(start.contains(&fact), "{fact}: {start}");
    }
    desk.counter.begin("one", "12.34").await;
    for _ in 0..3 {
        assert_eq!(desk.counter.begin("two", "1.00").await.0, 409);
    }
    assert_eq!(desk.counter.begin("4761739001010119", "1.00").await.0, 422);
    let log = desk.log();
    let refused: Vec<&str> = log.lines().filter(|line| line.contains("a transaction was refused")).collect();
    let [busy, card] = refused[..] else { panic!("{log}") };
    assert!(busy.contains("WARN") && busy.contains("reference=\"two\"") && busy.contains("till=\"local\""), "{busy}");
    assert!(busy.contains("one") && card.contains("reference=\"476173******0119\""), "{refused:?}");
    assert!(!log.contains("4761739001010119"), "{log}");
}

/// Checks the line that `systemctl status` shows.
#[tokio::test]
async fn systemd_is_told_the_terminals_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    let until = |wanted: &'static str| {
        let manager = manager.try_clone().unwrap();
        let hears = move || {
            let (mut heard, mut count) = ([0; 1024], 0);
            while heard[..count] != *wanted.as_bytes() {
                count = manager.recv(&mut heard).unwrap();
            }
        };
        within(wanted, tokio::task::spawn_blocking(hears))
    };
    let desk = Desk::open(|agent, _| {
        agent.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "20000");
    })
    .await;
    until("STATUS=ready").await.unwrap();
    desk.counter.begin("one", "12.34").await;
    until("STATUS=a transaction is at the reader").await.unwrap();
    desk.counter.post("/v1/sales/one/cancel").await;
    desk.counter.until_ended("one").await;
    desk.counter.shop.reader.unplug();
    until("STATUS=not ready: reader-absent").await.unwrap();
}

/// Checks the log when standard error does not lead to systemd's journal. systemd identifies the journal's stream in
/// `JOURNAL_STREAM`. If standard error was redirected, or the journal does not listen, the program writes lines.
#[tokio::test]
async fn without_systemds_journal_at_standard_error_it_writes_lines() {
    let elsewhere = Desk::open(|agent, file| {
        let facts = file.metadata().unwrap();
        agent.env("JOURNAL_STREAM", format!("{}:{}", facts.dev(), facts.ino() + 1));
    })
    .await;
    assert!(elsewhere.log().contains("reader ready"), "{}", elsewhere.log());
    let deaf = Desk::open(|agent, file| {
        let facts = file.metadata().unwrap();
        agent.env("JOURNAL_STREAM", format!("{}:{}", facts.dev(), facts.ino()));
        agent.args(["--journal-socket", "/nonexistent/socket"]);
    })
    .await;
    assert!(deaf.log().contains("reader ready"), "{}", deaf.log());
}

/// Checks the fields that `journalctl -u pos-agent POS_SALE=1 POS_OUTCOME=cancelled` searches.
#[tokio::test]
async fn in_systemds_journal_a_sale_is_found_by_its_fields() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let journal = UnixDatagram::bind(&path).unwrap();
    let heard = std::thread::spawn(move || {
        let (mut all, mut datagram) = (Vec::new(), vec![0; 256 * 1024]);
        loop {
            let count = journal.recv(&mut datagram).unwrap();
            let text = String::from_utf8_lossy(&datagram[..count]).into_owned();
            let last = text.contains("POS_OUTCOME");
            all.push(text);
            if last {
                return all;
            }
        }
    });
    let desk = Desk::open(|agent, file| {
        let facts = file.metadata().unwrap();
        agent.env("JOURNAL_STREAM", format!("{}:{}", facts.dev(), facts.ino())).arg("--journal-socket").arg(&path);
    })
    .await;
    desk.counter.begin("one", "12.34").await;
    desk.counter.post("/v1/sales/one/cancel").await;
    desk.counter.until_ended("one").await;
    let heard = within("the journal", tokio::task::spawn_blocking(move || heard.join().unwrap())).await.unwrap();
    let last = heard.last().unwrap();
    for (name, value) in [
        ("POS_SALE", "1"),
        ("POS_REFERENCE", "one"),
        ("POS_TILL", "local"),
        ("POS_OUTCOME", "cancelled"),
        ("POS_STEP", "ended"),
        ("PRIORITY", "6"),
    ] {
        let length = char::from(u8::try_from(value.len()).unwrap());
        let field = format!("{name}\n{length}{}{value}\n", "\0".repeat(7));
        assert!(last.contains(&field), "{field:?}: {last:?}");
    }
    assert_eq!(desk.log(), "");
}

/// A separate disk. Only root can mount it.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(options: &str) -> Option<Self> {
        let disk = Self(tempfile::tempdir().unwrap());
        disk.mounts(options).then_some(disk)
    }

    fn mounts(&self, options: &str) -> bool {
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(self.0.path()).stderr(std::process::Stdio::null());
        mount.status().is_ok_and(|status| status.success())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A folder that is still mounted cannot be removed, so a failure here is noticed.
        let _ = std::process::Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[tokio::test]
async fn a_disk_that_is_nearly_full_is_logged_when_it_begins_and_when_it_ends() {
    let Some(disk) = SmallDisk::mount("size=12m") else {
        eprintln!("no disk can be mounted here: not tested; the rule is, beside the journal's desk");
        return;
    };
    let journal = disk.0.path().join("journal.db");
    let counter = Counter::closed(Options { journal: Some(journal), ..Options::default() }).await;
    let file = File::create(counter.shop.folder().join("log")).unwrap();
    let config = counter.shop.config();
    let agent = program(&["run", "--config", config.to_str().unwrap()]).stderr(file).spawn().unwrap();
    counter.until_ready().await;
    let desk = Desk { counter, _agent: agent };
    let count = |words: &str| desk.log().matches(words).count();
    let (little, enough) = ("MiB left; free space on it", "the journal's disk has free space again");
    // The number of status queries makes no difference.
    for _ in 0..3 {
        desk.counter.status().await;
    }
    assert_eq!((count(little), count(enough)), (1, 0), "{}", desk.log());
    assert!(desk.log().contains("WARN") && desk.log().contains("journal-nearly-full"), "{}", desk.log());
    for (size, times) in [("remount,size=64m", (1, 1)), ("remount,size=12m", (2, 1)), ("remount,size=64m", (2, 2))] {
        assert!(disk.mounts(size));
        for _ in 0..3 {
            desk.counter.status().await;
        }
        assert_eq!((count(little), count(enough)), times, "{size}: {}", desk.log());
    }
    drop(desk);
}
