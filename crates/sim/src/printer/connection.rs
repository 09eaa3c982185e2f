//! The connections of the simulated printer: a TCP listener or a pty, and its plug.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use pos_payment_service::kept_port;
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::PrinterAddress;

/// The maximum number of connections that wait; a real printer serves one at a time.
const BACKLOG: u32 = 8;

/// The port to which the agent connects while the printer is on.
pub(super) enum PrinterPort {
    Listening(TcpListener),
    /// The printer keeps the address: connections are refused, and no other program can use the port.
    Refusing(TcpSocket),
    /// A pty, which exists from the start; `None` while it is in use.
    Pty(Option<Connection>, Option<PathBuf>),
    Unplugged(Option<PathBuf>),
}

/// A connection.
pub(super) enum Connection {
    Tcp(TcpStream),
    /// The slave stays open here too, so the other side can close it and open it again.
    Pty {
        master: AsyncFd<OwnedFd>,
        _slave: OwnedFd,
    },
}

impl PrinterPort {
    /// Opens the port, and returns the address for the other side.
    pub(super) fn open(place: &PrinterAddress) -> io::Result<(Self, String)> {
        match place {
            PrinterAddress::Tcp(address) => {
                let listener = kept_port::bind(*address)?.listen(BACKLOG)?;
                let name = format!("tcp://{}", listener.local_addr()?);
                Ok((Self::Listening(listener), name))
            }
            PrinterAddress::Pty(link) => {
                let (line, name) = pty(link.as_deref())?;
                Ok((Self::Pty(Some(line), link.clone()), name))
            }
        }
    }

    /// Returns the next connection. While the printer is off, it never returns.
    pub(super) async fn next(&mut self) -> io::Result<Connection> {
        match self {
            Self::Listening(listener) => listener.accept().await.map(|(stream, _)| Connection::Tcp(stream)),
            Self::Pty(line @ Some(_), _) => Ok(line.take().expect("matched")),
            Self::Pty(None, _) | Self::Refusing(_) | Self::Unplugged(_) => std::future::pending().await,
        }
    }

    /// Pulls the plug or puts it back. After that, a pty has a new name unless it has a link.
    pub(super) async fn switch_plug(self, dead: bool) -> io::Result<(Self, Option<String>)> {
        match (self, dead) {
            (Self::Listening(listener), true) => Ok((Self::Refusing(kept_port::keep(listener).await?), None)),
            (Self::Refusing(socket), false) => Ok((Self::Listening(socket.listen(BACKLOG)?), None)),
            (Self::Pty(_, link), true) => Ok((Self::Unplugged(link), None)),
            (Self::Unplugged(link), false) => {
                Self::open(&PrinterAddress::Pty(link)).map(|(port, name)| (port, Some(name)))
            }
            (as_it_is, _) => Ok((as_it_is, None)),
        }
    }
}

/// Makes a raw pty, and returns the name of its slave side.
fn pty(link: Option<&Path>) -> io::Result<(Connection, String)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let path = PathBuf::from(name.to_str().map_err(io::Error::other)?);
    let slave = rustix::fs::open(&path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let mut settings = tcgetattr(&slave)?;
    settings.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &settings)?;
    fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
    if let Some(link) = link {
        match std::fs::remove_file(link) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => std::os::unix::fs::symlink(&path, link)?,
        }
    }
    #[allow(deprecated, reason = "its successor is unsafe; an OwnedFd is what that asks for")]
    let master = AsyncFd::new(master)?;
    let name = link.unwrap_or(&path).to_string_lossy().into_owned();
    Ok((Connection::Pty { master, _slave: slave }, name))
}

impl Connection {
    /// Reads the available bytes. Cancelling the call loses nothing.
    pub(super) async fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.async_io(Interest::READABLE, || stream.try_read(into)).await,
            Self::Pty { master, .. } => {
                master.async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut *into)?)).await
            }
        }
    }

    /// Writes an answer of a few bytes. If the other side does not read it, the answer is lost, as on a real
    /// connection.
    pub(super) fn answer(&self, bytes: &[u8]) {
        // The next read detects a closed connection.
        let _ = match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Pty { master, .. } => rustix::io::write(master, bytes).map_err(io::Error::from),
        };
    }

    /// Cuts the connection, as a power cut does.
    pub(super) fn cut(self) {
        if let Self::Tcp(stream) = &self {
            let _ = stream.set_zero_linger();
        }
    }
}
