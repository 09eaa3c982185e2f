//! The front's log in systemd's journal. `process.rs` reads the same log as lines of text.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::process::config;

/// A front that ends with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts the front with its standard error in the file `log`, which the environment calls systemd's journal.
fn started(folder: &Path, environment: &[(&str, &str)]) -> Child {
    let stderr = File::options().create(true).append(true).open(folder.join("log")).unwrap();
    let facts = stderr.metadata().unwrap();
    let mut front = Command::new(env!("CARGO_BIN_EXE_pos-front"));
    front.args(["run", "--log", "info", "--config"]).arg(config(folder));
    front.arg("--journal-socket").arg(folder.join("journal"));
    front.env("JOURNAL_STREAM", format!("{}:{}", facts.dev(), facts.ino())).env_remove("NOTIFY_SOCKET");
    front.envs(environment.iter().copied()).stderr(stderr).spawn().unwrap()
}

/// Returns a field in the form of the journal: the name, the length of the value, and the value.
fn field(name: &str, value: &str) -> String {
    let length = char::from(u8::try_from(value.len()).unwrap());
    format!("{name}\n{length}{}{value}\n", "\0".repeat(7))
}

/// Checks what `journalctl -u pos-front -p warning` finds, and that the log says which version has started.
#[test]
fn in_systemds_journal_each_event_has_the_fronts_name_and_its_own_priority() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let journal = UnixDatagram::bind(at("journal")).unwrap();
    journal.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let text = format!(
        "agent = {:?}\nstate = {:?}\ncontrol = {:?}\n[listen]\nhttp = [\"127.0.0.1:0\"]\n",
        at("no-agent.sock"),
        at("state"),
        at("control.sock")
    );
    fs::write(config(folder.path()), text).unwrap();
    let _front = Started(started(folder.path(), &[]));
    let next = || {
        let mut datagram = vec![0; 64 * 1024];
        let length = journal.recv(&mut datagram).unwrap();
        String::from_utf8_lossy(&datagram[..length]).into_owned()
    };
    assert_eq!(next(), "", "the question whether a journal listens");
    let first = next();
    assert!(first.contains("pos-front starts version="), "{first:?}");
    assert!(
        first.contains(&field("POS_VERSION", env!("CARGO_PKG_VERSION"))) && first.contains("POS_CONFIG\n"),
        "{first:?}"
    );
    let mut events = vec![first];
    while !events.last().unwrap().contains("the agent is not running") {
        events.push(next());
    }
    for event in &events {
        let priority = if event.contains("the agent is not running") { "4" } else { "6" };
        assert!(event.contains(&field("PRIORITY", priority)), "{event:?}");
        assert!(event.contains(&field("SYSLOG_IDENTIFIER", "pos-front")), "{event:?}");
    }
    assert_eq!(fs::read_to_string(at("log")).unwrap(), "");
}

#[test]
fn the_cause_of_a_failed_start_is_an_error_in_the_journal_and_is_logged_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (etc, run) = (at("etc"), at("run"));
    fs::create_dir(&etc).unwrap();
    fs::create_dir(&run).unwrap();
    let _journal = UnixDatagram::bind(etc.join("journal")).unwrap();
    let manager = UnixDatagram::bind(at("notify")).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    fs::write(config(&etc), "colour = \"red\"\n").unwrap();
    let notify = at("notify");
    let environment = [("RUNTIME_DIRECTORY", run.to_str().unwrap()), ("NOTIFY_SOCKET", notify.to_str().unwrap())];
    assert_eq!(started(&etc, &environment).wait().unwrap().code(), Some(78));
    let log = || fs::read_to_string(etc.join("log")).unwrap();
    let first = log();
    assert!(first.starts_with("<3>pos-front: ") && first.contains("colour"), "{first}");
    let mut again = started(&etc, &environment);
    let told = || {
        let mut datagram = [0; 4096];
        let length = manager.recv(&mut datagram).unwrap();
        String::from_utf8_lossy(&datagram[..length]).into_owned()
    };
    assert_eq!(told(), "EXTEND_TIMEOUT_USEC=12000000");
    let status = told();
    assert!(status.starts_with("STATUS=cannot start: ") && status.contains("colour"), "{status}");
    assert_eq!(again.wait().unwrap().code(), Some(78));
    assert_eq!(log(), first, "the cause is logged once");
    // The third start would wait four seconds, and a stop does not.
    let mut third = started(&etc, &environment);
    assert_eq!(told(), "EXTEND_TIMEOUT_USEC=14000000");
    kill_process(Pid::from_child(&third), Signal::TERM).unwrap();
    assert_eq!(third.wait().unwrap().code(), Some(0));
    assert_eq!(log(), first);
}
