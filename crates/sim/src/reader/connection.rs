//! The reader's connection to the host, a pty or TCP, which is read and written without blocking.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::Options;

/// What arrives instead of each byte if the two ends use different line speeds.
const GARBLED: u8 = 0xF0;

/// A pty or TCP listener that is open and not yet served.
pub(super) enum OpenLine {
    Pty {
        master: OwnedFd,
        slave: OwnedFd,
        place: PathBuf,
        /// The only line speed that the reader understands.
        baud: Option<u32>,
    },
    Tcp(std::net::TcpListener),
    /// The reader is the client, and the host listens at this address.
    Client(SocketAddr),
}

impl OpenLine {
    pub(super) fn open(options: &Options) -> io::Result<Self> {
        if let Some(host) = options.connect {
            return Ok(Self::Client(host));
        }
        let Some(address) = options.tcp else { return Self::pty(options.link.as_ref(), options.baud) };
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self::Tcp(listener))
    }

    /// Opens a pty with a raw slave. The slave stays open here too, so the other side can close it and open it again.
    pub(super) fn pty(link: Option<&PathBuf>, baud: Option<u32>) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let path = PathBuf::from(name.to_str().map_err(io::Error::other)?);
        let slave =
            rustix::fs::open(&path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, rustix::fs::Mode::empty())?;
        let mut settings = tcgetattr(&slave)?;
        settings.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &settings)?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        let place = match link {
            Some(link) => {
                match std::fs::remove_file(link) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    Ok(()) | Err(_) => std::os::unix::fs::symlink(&path, link)?,
                }
                link.clone()
            }
            None => path,
        };
        Ok(Self::Pty { master, slave, place, baud })
    }

    pub(super) fn place(&self) -> io::Result<String> {
        Ok(match self {
            Self::Pty { place, .. } => place.to_string_lossy().into_owned(),
            Self::Tcp(listener) => listener.local_addr()?.to_string(),
            Self::Client(host) => host.to_string(),
        })
    }
}

/// An open connection to the agent.
pub(super) enum Connection {
    Pty { master: AsyncFd<OwnedFd>, slave: OwnedFd, baud: Option<u32> },
    Tcp(tokio::net::TcpStream),
}

impl Connection {
    /// Returns whether host and reader use different line speeds. A pty itself passes on all bytes at any speed.
    fn is_garbled(&self) -> bool {
        let Self::Pty { slave, baud: Some(baud), .. } = self else { return false };
        tcgetattr(slave).is_ok_and(|settings| settings.output_speed() != *baud)
    }

    /// Reads the available bytes. Cancelling the call loses nothing.
    pub(super) async fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pty { master, .. } => {
                let count = master.async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut *into)?)).await?;
                if self.is_garbled() {
                    into[..count].fill(GARBLED);
                }
                Ok(count)
            }
            Self::Tcp(stream) => stream.async_io(Interest::READABLE, || stream.try_read(into)).await,
        }
    }

    /// Writes as many bytes as possible. A cancelled call has written nothing.
    pub(super) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pty { master, .. } => {
                let garbled;
                let bytes = match self.is_garbled() {
                    true => {
                        garbled = vec![GARBLED; bytes.len()];
                        &garbled
                    }
                    false => bytes,
                };
                master.async_io(Interest::WRITABLE, |fd| Ok(rustix::io::write(fd, bytes)?)).await
            }
            Self::Tcp(stream) => stream.async_io(Interest::WRITABLE, || stream.try_write(bytes)).await,
        }
    }
}
