//! The connection to the printer: TCP, a tty, or the character device of a USB printer. This module sends and receives
//! bytes, each within a deadline. It knows nothing of receipts and commands.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_serial::{ClearBuffer, SerialPort, SerialPortBuilderExt, SerialStream};

use crate::config::{self, FlowControl};
use pos_daemon::wire::{Connector, Stream};

/// The interval for checking whether the last bytes have left. A line of 42 characters takes 44 ms at 9600 baud.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// The number of bytes in one write. Even at 1200 baud (9 s), progress shows before a deadline passes.
const CHUNK: usize = 1024;

/// The address of the printer.
pub(super) enum Port {
    Tcp(String),
    /// A path. Opening it shows whether it is a tty.
    Device {
        path: String,
        baud: u32,
        flow: FlowControl,
    },
    Given(Connector),
}

/// An open connection, for one receipt.
pub(super) enum Wire {
    Tcp(TcpStream),
    Tty(SerialStream),
    /// A USB printer (usblp), or another device that can be polled.
    Device(AsyncFd<File>),
    Given(Box<dyn Stream>),
}

impl From<&config::Printer> for Port {
    fn from(config: &config::Printer) -> Self {
        match config.port.strip_prefix("tcp://") {
            Some(address) => Self::Tcp(address.to_owned()),
            None => Self::Device { path: config.port.clone(), baud: config.baud, flow: config.flow_control },
        }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp(place) | Self::Device { path: place, .. } => place,
            Self::Given(_) => "the wire it was given",
        })
    }
}

impl Port {
    pub(super) async fn open(&self, limit: Duration) -> io::Result<Wire> {
        match self {
            Self::Tcp(address) => {
                let stream = in_time(limit, TcpStream::connect(address)).await?;
                // The question at the end of a receipt is three bytes long. Without this option it would wait about 40
                // ms, until the printer has acknowledged the receipt.
                stream.set_nodelay(true)?;
                Ok(Wire::Tcp(stream))
            }
            Self::Given(way) => in_time(limit, way()).await.map(Wire::Given),
            Self::Device { path, baud, flow } => {
                let flags = i32::try_from((OFlags::NOCTTY | OFlags::NONBLOCK).bits()).expect("flags are below 2^31");
                let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
                let file = file.map_err(pos_daemon::wire::refused)?;
                if rustix::termios::isatty(&file) {
                    // The port is opened again before `file` is closed, so that a printer that watches DTR sees no
                    // change.
                    open_tty(path, *baud, *flow).map(Wire::Tty)
                } else if file.metadata()?.is_file() {
                    Err(io::Error::other("it is a file, not a printer"))
                } else {
                    #[allow(deprecated, reason = "its successor is unsafe; an owned file is what that asks for")]
                    AsyncFd::new(file).map(Wire::Device)
                }
            }
        }
    }
}

fn open_tty(path: &str, baud: u32, flow: FlowControl) -> io::Result<SerialStream> {
    let flow = match flow {
        FlowControl::None => tokio_serial::FlowControl::None,
        FlowControl::RtsCts => tokio_serial::FlowControl::Hardware,
        FlowControl::XonXoff => tokio_serial::FlowControl::Software,
    };
    let tty = tokio_serial::new(path, baud).flow_control(flow).open_native_async()?;
    // Bytes that the printer sent earlier answer no question.
    tty.clear(ClearBuffer::Input)?;
    Ok(tty)
}

impl Wire {
    /// Sends all bytes and waits until they have left. Fails if there is no progress for as long as `limit`.
    pub(super) async fn write(&mut self, bytes: &[u8], limit: Duration) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let chunk = &rest[..rest.len().min(CHUNK)];
            let size = in_time(limit, self.write_some(chunk)).await?;
            if size == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            rest = &rest[size..];
        }
        self.until_sent(limit).await
    }

    async fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes).await,
            Self::Tty(tty) => tty.write(bytes).await,
            Self::Given(stream) => stream.write(bytes).await,
            Self::Device(device) => {
                device.async_io(Interest::WRITABLE, |file| Ok(rustix::io::write(file, bytes)?)).await
            }
        }
    }

    /// Waits until the device has accepted everything. Closing earlier would lose the pending bytes (usblp), or stop
    /// the whole program until they are sent (a tty). `flush` would wait in a system call that blocks the thread.
    async fn until_sent(&self, limit: Duration) -> io::Result<()> {
        let (mut least, mut since) = (u32::MAX, Instant::now());
        loop {
            let left = match self {
                Self::Tcp(_) | Self::Given(_) => 0,
                Self::Tty(tty) => tty.bytes_to_write()?,
                Self::Device(device) => u32::from(!can_be_written(device.get_ref())?),
            };
            match left {
                0 => return Ok(()),
                left if left < least => (least, since) = (left, Instant::now()),
                _ if since.elapsed() >= limit => return Err(late(limit)),
                _ => {}
            }
            sleep(LOOK_AGAIN).await;
        }
    }

    /// Reads bytes from the printer. Returns 0 if the printer has closed the connection.
    pub(super) async fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(into).await,
            Self::Tty(tty) => tty.read(into).await,
            Self::Given(stream) => stream.read(into).await,
            Self::Device(device) => {
                device.async_io(Interest::READABLE, |file| Ok(rustix::io::read(file, &mut *into)?)).await
            }
        }
    }

    /// Signals the end of the job on TCP, and reads until the printer closes, to detect a broken connection. It is not
    /// an error if the printer does not close within `limit`.
    pub(super) async fn close(self, limit: Duration) -> io::Result<()> {
        let Self::Tcp(mut stream) = self else { return Ok(()) };
        let mut ignored = [0; 64];
        let closed = async {
            stream.shutdown().await?;
            while stream.read(&mut ignored).await? > 0 {}
            Ok(())
        };
        timeout(limit, closed).await.unwrap_or(Ok(()))
    }

    /// Drops the unsent bytes. They must not be printed later, when the receipt already counts as not printed. If a tty
    /// were closed with bytes left, the whole program would stop for up to 30 s.
    pub(super) fn drop_unsent(&self) {
        // A broken connection has no bytes left to drop.
        let _ = match self {
            Self::Tcp(stream) => stream.set_zero_linger(),
            Self::Tty(tty) => tty.clear(ClearBuffer::Output).map_err(io::Error::from),
            Self::Device(_) | Self::Given(_) => Ok(()),
        };
    }
}

/// Asks the system for the current state, because Tokio may still have an earlier one.
fn can_be_written(file: &File) -> io::Result<bool> {
    let mut asked = [PollFd::new(file, PollFlags::OUT)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&at_once))?;
    let said = asked[0].revents();
    if said.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
        return Err(io::Error::other("the printer was unplugged or reports an error"));
    }
    Ok(said.contains(PollFlags::OUT))
}

pub(super) async fn in_time<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(limit, work).await.unwrap_or_else(|_| Err(late(limit)))
}

fn late(limit: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("no progress within {} s", limit.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that small writes leave immediately. The status question after a receipt must not wait for the receipt's
    /// acknowledgement.
    #[tokio::test]
    async fn a_network_printer_is_written_to_without_delay() {
        let printer = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = Port::Tcp(printer.local_addr().expect("bound").to_string());
        let Wire::Tcp(stream) = port.open(Duration::from_secs(5)).await.expect("it listens") else {
            panic!("a network printer is reached over TCP");
        };
        assert!(stream.nodelay().expect("a socket's option"));
    }
}
