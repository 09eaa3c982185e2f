//! Events with their fields for systemd's journal, in its native protocol: one datagram per event
//! (systemd.io/JOURNAL_NATIVE_PROTOCOL).
//!
//! The message is the line of a text log with its fields, so that `journalctl` shows them. In addition, each field has
//! its own name: `POS_SALE`, `POS_STEP`, `POS_OUTCOME`, `POS_GATEWAY_US`. Each value is preceded by its length, so a
//! line feed in a value does not begin another field.
//!
//! A journal that does not read must not delay a transaction. The program waits for it once, for a short time
//! ([`PATIENCE`]). Until the journal reads again, events for which it has no room are lost. `tracing-journald` is not
//! used here, because it waits without limit. It also knows only one socket path, but a test needs another.

use std::fmt::{Debug, Write as _};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// The socket on which the journal listens.
pub const SOCKET: &str = "/run/systemd/journal/socket";

/// The maximum size of one value, in bytes. A longer value is cut. A datagram may have about 200 kB, and an event has
/// fewer than ten fields.
const LONGEST: usize = 8 * 1024;

/// The time to wait for a journal without room. A running journal has room again within a few milliseconds, even on a
/// slow board.
const PATIENCE: Duration = Duration::from_millis(50);

/// Checks whether standard error is connected to the journal. systemd names that file (systemd.exec(5),
/// `JOURNAL_STREAM`). If a program redirects standard error, its log must go there.
#[must_use]
pub fn is_stderr() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    let Ok(file) = rustix::fs::fstat(io::stderr()) else { return false };
    stream == format!("{}:{}", file.st_dev, file.st_ino)
}

/// The connection to the journal.
#[derive(Debug)]
pub struct Journald {
    socket: UnixDatagram,
    address: PathBuf,
    /// The program's name in the journal.
    identifier: &'static str,
    /// True if the journal had no room at the last write. The agent then does not wait for it.
    full: AtomicBool,
}

impl Journald {
    /// Connects to the journal that listens at `address`. `identifier` is the program's name in the journal.
    ///
    /// # Errors
    /// Returns an error if no journal listens there.
    pub fn to(address: &Path, identifier: &'static str) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.set_write_timeout(Some(PATIENCE))?;
        // The journal ignores an empty datagram.
        socket.send_to(&[], address)?;
        Ok(Self { socket, address: address.to_owned(), identifier, full: AtomicBool::new(false) })
    }

    /// Sends a datagram. The address is used each time, so that a restarted journal receives the next event.
    fn send(&self, datagram: &[u8]) {
        let sent = self.socket.send_to(datagram, &self.address);
        let full = sent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        if full != self.full.swap(full, Ordering::Relaxed) {
            // If the system refuses this, each event waits for [`PATIENCE`].
            let _ = self.socket.set_nonblocking(full);
        }
    }
}

impl<S: Subscriber> Layer<S> for Journald {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields { datagram: Vec::with_capacity(512), message: String::new(), line: String::new() };
        let priority = match *event.metadata().level() {
            Level::ERROR => "3",
            Level::WARN => "4",
            Level::INFO => "6",
            Level::DEBUG | Level::TRACE => "7",
        };
        fields.put("PRIORITY", priority);
        fields.put("SYSLOG_IDENTIFIER", self.identifier);
        event.record(&mut fields);
        let message = format!("{}{}", fields.message, fields.line);
        fields.put("MESSAGE", &message);
        self.send(&fields.datagram);
    }
}

/// A datagram under construction.
struct Fields {
    datagram: Vec<u8>,
    message: String,
    /// The other fields, as they appear in a line of text.
    line: String,
}

impl Fields {
    fn put(&mut self, name: &str, value: &str) {
        let value = &value[..value.floor_char_boundary(LONGEST)];
        self.datagram.extend_from_slice(name.as_bytes());
        self.datagram.push(b'\n');
        self.datagram.extend_from_slice(&(value.len() as u64).to_le_bytes());
        self.datagram.extend_from_slice(value.as_bytes());
        self.datagram.push(b'\n');
    }

    fn take(&mut self, field: &Field, value: &str, shown: &dyn Debug) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
            return;
        }
        let _ = write!(self.line, " {}={shown:?}", field.name());
        self.put(&name_of(field.name()), value);
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value, &value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.take(field, &format!("{value:?}"), value);
    }
}

/// Returns the name in the journal's form: upper-case letters, digits and underscores, with the prefix `POS_`.
fn name_of(field: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    "POS_".chars().chain(field.chars().map(fits)).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tracing_subscriber::layer::SubscriberExt;

    /// Parses a datagram by its rule: NAME, line feed, length, value, line feed.
    fn read(mut datagram: &[u8]) -> BTreeMap<String, String> {
        let mut fields = BTreeMap::new();
        while !datagram.is_empty() {
            let end = datagram.iter().position(|byte| *byte == b'\n').unwrap();
            let name = String::from_utf8(datagram[..end].to_vec()).unwrap();
            let (length, rest) = datagram[end + 1..].split_first_chunk::<8>().unwrap();
            let (value, rest) = rest.split_at(u64::from_le_bytes(*length).try_into().unwrap());
            assert_eq!(rest[0], b'\n');
            assert!(fields.insert(name.clone(), String::from_utf8(value.to_vec()).unwrap()).is_none(), "{name} twice");
            datagram = &rest[1..];
        }
        fields
    }

    #[test]
    fn an_event_is_one_datagram_with_its_fields() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let journal = UnixDatagram::bind(&path).unwrap();
        let log = tracing_subscriber::registry().with(Journald::to(&path, "pos-agent").unwrap());
        tracing::subscriber::with_default(log, || {
            let hostile = "void\nPRIORITY=0\nMESSAGE=all is well";
            tracing::warn!(sale = 42_u64, step = "ended", why = %hostile, took = ?[1, 2], "receipt not printed");
            tracing::info!(long = "é".repeat(LONGEST), r#type = 1, "long");
        });
        let mut buffer = vec![0; 64 * 1024];
        assert_eq!(journal.recv(&mut buffer).unwrap(), 0, "the question whether anybody listens");
        let n = journal.recv(&mut buffer).unwrap();
        let fields = read(&buffer[..n]);
        let said: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let message =
            "receipt not printed sale=42 step=\"ended\" why=void\nPRIORITY=0\nMESSAGE=all is well took=[1, 2]";
        assert_eq!(
            said,
            [
                ("MESSAGE", message),
                ("POS_SALE", "42"),
                ("POS_STEP", "ended"),
                ("POS_TOOK", "[1, 2]"),
                ("POS_WHY", "void\nPRIORITY=0\nMESSAGE=all is well"),
                ("PRIORITY", "4"),
                ("SYSLOG_IDENTIFIER", "pos-agent"),
            ]
        );
        let n = journal.recv(&mut buffer).unwrap();
        let fields = read(&buffer[..n]);
        assert_eq!((fields["POS_LONG"].len(), fields["POS_TYPE"].as_str()), (LONGEST, "1"));
        assert!(fields["MESSAGE"].starts_with("long long=\"éé"));
    }

    /// Checks a journal that does not read: its queue is full after some datagrams, and later events do not wait.
    #[test]
    fn a_journal_that_does_not_read_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let journal = UnixDatagram::bind(&path).unwrap();
        let log = tracing_subscriber::registry().with(Journald::to(&path, "pos-agent").unwrap());
        let (most, mut kept) = (10_000, 0);
        journal.set_nonblocking(true).unwrap();
        let empty = || std::iter::from_fn(|| journal.recv(&mut [0; 1024]).ok()).count();
        tracing::subscriber::with_default(log, || {
            (0..most).for_each(|n| tracing::info!(n, "one more"));
            kept = empty();
            // One of the next two events finds room. After it, the agent waits for the journal again.
            (0..2).for_each(|n| tracing::info!(n, "it reads again"));
            assert_eq!(empty(), 2);
        });
        assert!((2..most).contains(&kept), "{kept} were kept: it was waited for");
        drop(journal);
        std::fs::remove_file(&path).unwrap();
        assert!(Journald::to(&path, "pos-agent").is_err(), "nobody listens");
    }
}
