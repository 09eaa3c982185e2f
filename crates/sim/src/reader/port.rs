//! The task that runs the simulated reader. It opens the connection, serves one host at a time, and gives the device
//! its bytes and the time. No other file of the reader reads the clock. `handle` contains the handle for people and
//! tests.
#![allow(clippy::disallowed_methods, reason = "a simulator's port file: it gives the time to the device")]

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;
use tokio::sync::{Notify, watch};

use super::Options;
use super::connection::{Connection, OpenLine};
use super::device::{Device, OutgoingBytes};
use super::display::Screen;
use super::faults::{Cable, ScriptEffects};
use super::handle::Reader;

/// The pause between the writes of [`Options::fragment`].
const FRAGMENT_PAUSE: Duration = Duration::from_millis(1);
/// The pause of a reader that is a TCP client before it tries again to connect.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The times of the latest transaction, for a benchmark.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    /// The time when the last byte of the card's data was written (E3, E4 or E5 of START, or the swipe event).
    pub card_written: Option<Instant>,
    /// The time when the first byte of CONTINUE TRANSACTION was read.
    pub continue_read: Option<Instant>,
}

/// Starts a reader on the current tokio runtime.
///
/// # Errors
///
/// Fails if the pty or its link cannot be made, or the TCP address cannot be bound.
pub async fn start(options: Options) -> io::Result<Reader> {
    let socket = OpenLine::open(&options)?;
    let place = socket.place()?;
    let tcp = options.tcp.or(options.connect).is_some();
    let device = Device::new(Options { says_powered_on: options.says_powered_on || tcp, ..options.clone() });
    let (screen, _) = watch::channel(device.screen());
    let (effects, _) = watch::channel(device.effects());
    let inner = Inner {
        device,
        place,
        new_socket: Some(socket),
        plugged: true,
        unplugged_times: 0,
        moments: Moments::default(),
    };
    let shared = Arc::new(Shared {
        inner: Mutex::new(inner),
        wake: Notify::new(),
        screen,
        effects,
        started: Instant::now(),
        tcp,
        link: options.link,
        baud: options.baud,
        fragment: options.fragment,
        at_continue: OnceLock::new(),
    });
    let task = tokio::spawn(own(Arc::clone(&shared)));
    Ok(Reader { shared, _task: Arc::new(EndWithHandle(task)) })
}

/// The shared state of the handles and the task. The lock is held only briefly, never across an await.
pub(super) struct Shared {
    inner: Mutex<Inner>,
    pub(super) wake: Notify,
    pub(super) screen: watch::Sender<Screen>,
    pub(super) effects: watch::Sender<ScriptEffects>,
    started: Instant,
    tcp: bool,
    link: Option<PathBuf>,
    baud: Option<u32>,
    fragment: Option<usize>,
    pub(super) at_continue: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

pub(super) struct Inner {
    pub(super) device: Device,
    pub(super) place: String,
    /// A connection that is plugged in, but not yet taken over by the task.
    new_socket: Option<OpenLine>,
    plugged: bool,
    unplugged_times: usize,
    pub(super) moments: Moments,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies an action to the device, and wakes the task.
    pub(super) fn act(&self, on: impl FnOnce(&mut Device, Duration)) {
        let mut inner = self.lock();
        on(&mut inner.device, self.started.elapsed());
        self.move_cable(&mut inner);
        self.tell(&inner.device);
        self.wake.notify_one();
    }

    /// Carries out the cable orders of the script.
    fn move_cable(&self, inner: &mut Inner) {
        while let Some(cable) = inner.device.take_cable() {
            match cable {
                Cable::Out => self.pull(inner),
                Cable::In => {
                    if let Err(error) = self.put_back(inner) {
                        tracing::warn!("reader: the cable cannot be put back: {error}");
                    }
                }
            }
        }
    }

    pub(super) fn pull(&self, inner: &mut Inner) {
        inner.plugged = false;
        inner.unplugged_times += 1;
        inner.new_socket = None;
        // Removes the link, as udev does. A link that stayed would point to the next pty with the same number, which
        // may belong to another reader.
        if let Some(link) = self.link.as_ref().filter(|_| !self.tcp) {
            let _ = std::fs::remove_file(link);
        }
    }

    /// Puts the cable back. The TCP listener stays open; without a cable, it only refuses clients.
    pub(super) fn put_back(&self, inner: &mut Inner) -> io::Result<()> {
        if !self.tcp {
            let socket = OpenLine::pty(self.link.as_ref(), self.baud)?;
            inner.place = socket.place()?;
            inner.new_socket = Some(socket);
        }
        inner.plugged = true;
        Ok(())
    }

    /// Waits until a handle acts, or until the device continues. Without a client, the device's messages are lost.
    async fn idle(&self) {
        let deadline = self.lock().device.deadline();
        let wake_at = tokio::time::Instant::from_std(self.started + deadline.unwrap_or_default());
        tokio::select! {
            () = self.wake.notified() => {}
            () = tokio::time::sleep_until(wake_at), if deadline.is_some() => self.act(|device, now| device.timer(now)),
        }
        let mut inner = self.lock();
        while inner.device.output().is_some() {}
    }

    fn tell(&self, device: &Device) {
        change(&self.screen, device.screen());
        change(&self.effects, device.effects());
    }

    /// Passes on bytes that were read at `at`. `began` is the time when their packet began.
    fn read(&self, bytes: &[u8], at: Instant, began: &mut Instant) {
        let mut inner = self.lock();
        if !inner.device.is_mid_packet() {
            *began = at;
        }
        let before = inner.device.counters().answers_of_issuer;
        inner.device.bytes(bytes, at.duration_since(self.started));
        if inner.device.counters().answers_of_issuer > before {
            inner.moments.continue_read = Some(*began);
            if let Some(told) = self.at_continue.get() {
                told();
            }
        }
        self.move_cable(&mut inner);
        self.tell(&inner.device);
    }
}

/// Passes on a value if it differs from the last one.
fn change<T: PartialEq>(channel: &watch::Sender<T>, now: T) {
    channel.send_if_modified(|before| {
        let changed = *before != now;
        *before = now;
        changed
    });
}

pub(super) struct EndWithHandle(tokio::task::JoinHandle<()>);

impl Drop for EndWithHandle {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Serves connections, one after the other.
async fn own(shared: Arc<Shared>) {
    loop {
        let socket = shared.lock().new_socket.take();
        match socket {
            Some(OpenLine::Pty { master, slave, baud, .. }) => {
                #[allow(deprecated, reason = "its successor is unsafe; an OwnedFd is what that asks for")]
                let Ok(master) = AsyncFd::new(master) else { return };
                serve(&shared, &Connection::Pty { master, slave, baud }).await;
            }
            Some(OpenLine::Tcp(listener)) => {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                loop {
                    tokio::select! {
                        Ok((stream, _)) = listener.accept() => {
                            if shared.lock().plugged {
                                let _ = stream.set_nodelay(true);
                                serve(&shared, &Connection::Tcp(stream)).await;
                            }
                        }
                        () = shared.idle() => {}
                    }
                }
            }
            Some(OpenLine::Client(host)) => loop {
                tokio::select! {
                    stream = connected(&shared, host) => serve(&shared, &Connection::Tcp(stream)).await,
                    () = shared.idle() => {}
                }
            },
            None => shared.idle().await,
        }
    }
}

/// Connects to the host, and tries until it listens and the cable is plugged in.
async fn connected(shared: &Shared, host: SocketAddr) -> tokio::net::TcpStream {
    loop {
        let plugged = shared.lock().plugged;
        if plugged && let Ok(stream) = tokio::net::TcpStream::connect(host).await {
            let _ = stream.set_nodelay(true);
            return stream;
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

/// Serves one connection, until it ends or the cable is pulled.
async fn serve(shared: &Shared, line: &Connection) {
    let unplugged_times = shared.lock().unplugged_times;
    shared.act(|device, now| device.connected(now));
    let mut input = [0; 1024];
    let mut began = shared.started;
    let mut pending: Option<(OutgoingBytes, usize)> = None;
    loop {
        let deadline = {
            let mut inner = shared.lock();
            if !inner.plugged || inner.unplugged_times != unplugged_times {
                return;
            }
            pending = pending.or_else(|| inner.device.output().map(|output| (output, 0)));
            pending = pending.or_else(|| inner.device.flood().map(|output| (output, 0)));
            inner.device.deadline()
        };
        let rest = pending.as_ref().map_or(&[][..], |(output, done)| &output.bytes[*done..]);
        let piece = &rest[..rest.len().min(shared.fragment.unwrap_or(usize::MAX))];
        let wake_at = tokio::time::Instant::from_std(shared.started + deadline.unwrap_or_default());
        tokio::select! {
            read = line.read(&mut input) => match read {
                Ok(0) | Err(_) => return,
                Ok(count) => shared.read(&input[..count], Instant::now(), &mut began),
            },
            written = line.write(piece), if !piece.is_empty() => {
                let Ok(count) = written else { return };
                pending = after_writing(shared, pending, count);
                if shared.fragment.is_some() {
                    tokio::time::sleep(FRAGMENT_PAUSE).await;
                }
            }
            () = shared.wake.notified() => {}
            () = tokio::time::sleep_until(wake_at), if deadline.is_some() => {
                shared.act(|device, now| device.timer(now));
            }
        }
    }
}

/// Counts `count` written bytes, and records the time if the card's last byte was among them.
fn after_writing(
    shared: &Shared,
    pending: Option<(OutgoingBytes, usize)>,
    count: usize,
) -> Option<(OutgoingBytes, usize)> {
    let (output, done) = pending?;
    let done = done + count;
    if done < output.bytes.len() {
        return Some((output, done));
    }
    if output.card {
        shared.lock().moments.card_written = Some(Instant::now());
    }
    None
}
