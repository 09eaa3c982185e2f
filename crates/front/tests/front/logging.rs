//! The front's log in systemd's journal. `process.rs` reads the same log as lines of text.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command};
use std::time::Duration;

use crate::process::config;

/// A front that ends with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
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
    std::fs::write(config(folder.path()), text).unwrap();
    let stderr = File::create(at("log")).unwrap();
    let facts = stderr.metadata().unwrap();
    let mut front = Command::new(env!("CARGO_BIN_EXE_pos-front"));
    front.args(["run", "--log", "info", "--config"]).arg(config(folder.path()));
    front.arg("--journal-socket").arg(at("journal"));
    front.env("JOURNAL_STREAM", format!("{}:{}", facts.dev(), facts.ino())).env_remove("NOTIFY_SOCKET");
    let _front = Started(front.stderr(stderr).spawn().unwrap());
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
    assert_eq!(std::fs::read_to_string(at("log")).unwrap(), "");
}
