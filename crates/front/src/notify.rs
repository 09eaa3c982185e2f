//! Messages to systemd: READY=1, WATCHDOG=1, STOPPING=1 (sd_notify(3)). Without systemd, no messages are sent.

use std::env;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

/// Sends one message. A failure does not stop the front.
pub(crate) fn tell(message: &str) {
    let Some(path) = env::var_os("NOTIFY_SOCKET") else { return };
    let told = UnixDatagram::unbound().and_then(|socket| {
        socket.set_nonblocking(true)?;
        socket.send_to(message.as_bytes(), &path)
    });
    if let Err(error) = told {
        tracing::warn!(%error, message, "systemd could not be notified");
    }
}

/// Returns the interval at which to send `WATCHDOG=1`, which is half of `WatchdogSec=`.
pub(crate) fn watchdog_interval() -> Option<Duration> {
    let usec: u64 = env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
    (usec > 0).then(|| Duration::from_micros(usec) / 2)
}
