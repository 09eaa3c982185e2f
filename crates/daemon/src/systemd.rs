//! Messages to systemd: READY=1, STATUS=, WATCHDOG=1, STOPPING=1 (sd_notify(3)); and the sockets that systemd passes
//! (sd_listen_fds(3)).
//!
//! A message is one datagram to the Unix socket named in `NOTIFY_SOCKET`, so no library is needed. Without systemd
//! there is no such socket, and every call does nothing. There is no watchdog thread: the service's own loop sends
//! `watchdog()`. For the agent, only a ping from the loop that handles transactions proves that transactions are
//! handled (security: 4.1).

use std::env;
use std::ffi::OsStr;
use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::time::Duration;

use listenfd::ListenFd;

/// The sockets that systemd opened before the service ran (systemd.socket(5)). No other program can take them. A client
/// that connects while the service restarts waits and is not refused.
#[derive(Debug, Default)]
pub struct Sockets {
    /// The Unix socket.
    pub unix: Option<UnixListener>,
    /// The TCP socket.
    pub tcp: Option<TcpListener>,
}

/// The reason why a socket from systemd cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SocketsError {
    /// A second socket of the same kind.
    #[error(
        "systemd passed a second {kind} socket; keep one ListenStream= in pos-agent.socket and one in \
         pos-agent-http.socket"
    )]
    Second {
        /// The kind: `Unix` or `TCP`.
        kind: &'static str,
    },
    /// A socket that is neither a Unix nor an IPv4 stream socket.
    #[error(
        "systemd passed something other than a Unix socket or an IPv4 TCP socket (number {number}): {cause}; correct \
         ListenStream= in pos-agent.socket and pos-agent-http.socket"
    )]
    Strange {
        /// The number of the socket, counted from 1.
        number: usize,
        /// The error of the conversion.
        cause: io::Error,
    },
}

impl Sockets {
    /// Takes the sockets that are meant for this process (`LISTEN_PID`). It works only once, because it removes the
    /// variables. Returns no sockets if systemd did not start the process.
    ///
    /// # Errors
    /// Returns an error if there is a second socket of one kind, or a socket of another kind.
    pub fn from_env() -> Result<Self, SocketsError> {
        let mut given = Self::default();
        // Without `LISTEN_PID`, the sockets may belong to another process, whose variables this process has inherited.
        if env::var_os("LISTEN_PID").is_none() {
            return Ok(given);
        }
        let mut passed = ListenFd::from_env();
        for at in 0..passed.len() {
            if let Ok(unix) = passed.take_unix_listener(at) {
                if given.unix.is_some() {
                    return Err(SocketsError::Second { kind: "Unix" });
                }
                given.unix = unix;
                continue;
            }
            let tcp = passed.take_tcp_listener(at);
            let tcp = tcp.map_err(|cause| SocketsError::Strange { number: at + 1, cause })?;
            if given.tcp.is_some() {
                return Err(SocketsError::Second { kind: "TCP" });
            }
            given.tcp = tcp;
        }
        Ok(given)
    }
}

/// The connection to the service manager. It does nothing if there is no service manager.
#[derive(Debug)]
pub struct Notify(Option<(UnixDatagram, SocketAddr)>);

impl Notify {
    /// Opens the socket named in `NOTIFY_SOCKET`. If the variable is absent, systemd did not start the process. A name
    /// that cannot be used is logged and then ignored.
    #[must_use]
    pub fn from_env() -> Self {
        let Some(name) = env::var_os("NOTIFY_SOCKET") else { return Self(None) };
        Self::to(&name).unwrap_or_else(|error| {
            tracing::warn!(%error, "NOTIFY_SOCKET cannot be used, so systemd will not learn that the service is ready");
            Self(None)
        })
    }

    /// Creates a connection that sends nothing.
    #[must_use]
    pub fn nobody() -> Self {
        Self(None)
    }

    /// Opens the socket called `name`: a path, or `@name` in the abstract namespace.
    ///
    /// # Errors
    /// Returns an error if no socket can be made, or if `name` is not a Unix address. For example, it may be `vsock:…`,
    /// which a board does not have.
    pub fn to(name: &OsStr) -> io::Result<Self> {
        let address = match name.as_bytes() {
            [b'@', rest @ ..] => SocketAddr::from_abstract_name(rest)?,
            [b'/', ..] => SocketAddr::from_pathname(name)?,
            _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "neither a path nor an abstract name")),
        };
        let socket = UnixDatagram::unbound()?;
        // A manager that reads slowly must not delay a transaction.
        socket.set_nonblocking(true)?;
        Ok(Self(Some((socket, address))))
    }

    /// Reports that start-up is over: the journal is replayed and tills are served.
    pub fn ready(&self) {
        self.send("READY=1");
    }

    /// Sets the status line of `systemctl status`. Control bytes become spaces, because a line feed would start another
    /// assignment.
    pub fn status(&self, text: &str) {
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.send(&format!("STATUS={line}"));
    }

    /// Asks for this much time for the rest of the start.
    pub fn start_takes(&self, time: Duration) {
        self.send(&format!("EXTEND_TIMEOUT_USEC={}", time.as_micros()));
    }

    /// Reports that the main loop is alive. Call it every [`watchdog_interval`].
    pub fn watchdog(&self) {
        self.send("WATCHDOG=1");
    }

    /// Reports that the service ends because it was asked to.
    pub fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// Sends a message. A failure does not stop the service: if the manager receives no message, its watchdog acts.
    fn send(&self, message: &str) {
        let Some((socket, address)) = &self.0 else { return };
        if let Err(error) = socket.send_to_addr(message.as_bytes(), address) {
            tracing::warn!(%error, message, "systemd could not be notified");
        }
    }
}

/// Checks whether a unit of the system has a process. Returns `None` if systemd does not run the system.
#[must_use]
pub fn unit_runs(unit: &str) -> Option<bool> {
    // sd_booted(3) makes the same check.
    if !Path::new("/run/systemd/system").is_dir() {
        return None;
    }
    let processes = Path::new("/sys/fs/cgroup/system.slice").join(unit).join("cgroup.procs");
    Some(std::fs::read_to_string(processes).is_ok_and(|processes| !processes.trim().is_empty()))
}

/// Returns how often to call [`Notify::watchdog`]: half of `WatchdogSec=`, as sd_watchdog_enabled(3) advises. Returns
/// `None` if no watchdog is set, or if it is meant for another process.
#[must_use]
pub fn watchdog_interval() -> Option<Duration> {
    let var = |name| env::var(name).ok();
    interval(var("WATCHDOG_USEC").as_deref(), var("WATCHDOG_PID").as_deref(), std::process::id())
}

fn interval(usec: Option<&str>, pid: Option<&str>, own_pid: u32) -> Option<Duration> {
    if pid.is_some_and(|pid| pid.parse() != Ok(own_pid)) {
        return None;
    }
    let usec: u64 = usec?.parse().ok()?;
    (usec > 0).then(|| Duration::from_micros(usec) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 256];
        let n = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..n].to_vec()).unwrap()
    }

    #[test]
    fn speaks_to_a_socket_with_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        let notify = Notify::to(path.as_os_str()).unwrap();
        notify.ready();
        notify.watchdog();
        notify.stopping();
        assert_eq!(received(&manager), "READY=1");
        assert_eq!(received(&manager), "WATCHDOG=1");
        assert_eq!(received(&manager), "STOPPING=1");
    }

    #[test]
    fn speaks_to_an_abstract_socket() {
        let name = format!("pos-agent-test-{}", std::process::id());
        let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        Notify::to(format!("@{name}").as_ref()).unwrap().status("waiting for a sale");
        assert_eq!(received(&manager), "STATUS=waiting for a sale");
    }

    #[test]
    fn a_status_text_cannot_add_an_assignment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        Notify::to(path.as_os_str()).unwrap().status("reader lost\nMAINPID=1\u{1b}[2J");
        assert_eq!(received(&manager), "STATUS=reader lost MAINPID=1 [2J");
    }

    #[test]
    fn a_manager_that_is_gone_or_absent_does_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        Notify::to(folder.path().join("gone").as_os_str()).unwrap().ready();
        Notify(None).ready();
    }

    #[test]
    fn refuses_what_is_no_unix_address() {
        assert_eq!(Notify::to("vsock:2:1234".as_ref()).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(Notify::to("".as_ref()).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn pings_at_half_the_time_that_is_set() {
        assert_eq!(interval(Some("10000000"), None, 7), Some(Duration::from_secs(5)));
        assert_eq!(interval(Some("10000000"), Some("7"), 7), Some(Duration::from_secs(5)));
        assert_eq!(interval(Some("10000000"), Some("8"), 7), None, "meant for another process");
        assert_eq!(interval(None, Some("7"), 7), None);
        assert_eq!(interval(Some("0"), None, 7), None);
        assert_eq!(interval(Some("soon"), None, 7), None);
    }
}
