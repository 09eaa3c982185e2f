//! The wire: one task owns the tty or TCP stream, drives the reader's `Driver`, and opens the port again when it is
//! lost. It knows no family of readers.
//!
//! The agent may await the handle without reading events: the task never waits for the agent. Events that do not fit
//! their channel are kept, and no more bytes are read from the reader until the agent has taken them. After each read
//! the others have their turn, when there is much to read: orders and deadlines come before more bytes then, and
//! everybody else of the program too.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_serial::{
    ClearBuffer, DataBits, FlowControl, Parity, SerialPort as _, SerialPortBuilderExt, SerialStream, StopBits,
};
use zeroize::Zeroize;

use super::driver::{Driver, Frame, PortAction, ReaderFamily};
use super::{ReaderEvent, ReaderOrder, ReaderSettings};
use pos_daemon::wire::{self, Stream};

/// Orders on their way: a sale has three.
const ORDERS: usize = 8;
/// Events on their way: a sale has some twenty, most of them PIN digits.
const EVENTS: usize = 64;
/// Bytes of one read; a whole E4 arrives in one or two.
const READ: usize = 1024;
/// Reads after which orders and deadlines are looked at first.
const READS: u32 = 8;
/// Until a TCP reader must have accepted: it is on the same network.
const CONNECT: Duration = Duration::from_secs(5);
/// Until a packet must have been taken by the port: 258 bytes take 22 ms at 115200 baud.
const WRITE: Duration = Duration::from_secs(2);

/// Gives orders to the reader.
#[derive(Clone, Debug)]
pub struct ReaderHandle(mpsc::Sender<ReaderOrder>);

/// The reader's task has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reader's task has ended")]
pub struct ReaderGone;

impl ReaderHandle {
    /// Gives an order; waits for a moment when many are on their way.
    ///
    /// # Errors
    /// [`ReaderGone`] when the task has ended, which it only does when nobody takes its events.
    pub async fn order(&self, order: ReaderOrder) -> Result<(), ReaderGone> {
        self.0.send(order).await.map_err(|_| ReaderGone)
    }

    /// Gives an order without waiting.
    ///
    /// # Errors
    /// [`ReaderGone`] also when more orders wait than any sale has: then nothing takes them any more.
    pub fn order_now(&self, order: ReaderOrder) -> Result<(), ReaderGone> {
        self.0.try_send(order).map_err(|_| ReaderGone)
    }
}

/// A reader that is nobody: it takes no order and says nothing.
#[must_use]
pub fn nobody() -> (ReaderHandle, mpsc::Receiver<ReaderEvent>) {
    (ReaderHandle(mpsc::channel(1).0), mpsc::channel(1).1)
}

/// A reader whose orders a test takes.
#[must_use]
pub fn tested() -> (ReaderHandle, mpsc::Receiver<ReaderOrder>) {
    let (handle, orders) = mpsc::channel(ORDERS);
    (ReaderHandle(handle), orders)
}

/// Starts the task that owns the reader. It ends when every [`ReaderHandle`] or the events' receiver is dropped.
///
/// # Panics
/// Outside of a tokio runtime.
#[must_use]
pub fn spawn(settings: ReaderSettings, family: ReaderFamily) -> (ReaderHandle, mpsc::Receiver<ReaderEvent>) {
    let (handle, orders) = mpsc::channel(ORDERS);
    let (events, receiver) = mpsc::channel(EVENTS);
    let driver = Driver::new(settings.clone(), family);
    let task = PortTask { settings, driver, orders, events, unsent: VecDeque::new(), start: Instant::now() };
    tokio::spawn(task.run());
    (ReaderHandle(handle), receiver)
}

struct PortTask {
    settings: ReaderSettings,
    driver: Driver,
    orders: mpsc::Receiver<ReaderOrder>,
    events: mpsc::Sender<ReaderEvent>,
    /// Events that did not fit the channel.
    unsent: VecDeque<ReaderEvent>,
    /// The moment that the driver's time counts from.
    start: Instant,
}

/// The agent is gone.
struct AgentGone;

/// What is left for the port of what the driver asks, once its events are on their way.
#[allow(clippy::large_enum_variant, reason = "moved once, from the driver to the write")]
enum PortWork {
    Write(Frame),
    Reopen(Duration),
}

impl PortTask {
    async fn run(mut self) {
        // The only way out is that the agent is gone.
        let Err(AgentGone) = self.keep_open().await;
    }

    async fn keep_open(&mut self) -> Result<std::convert::Infallible, AgentGone> {
        let mut after = Duration::ZERO;
        loop {
            self.meanwhile(sleep(after)).await?;
            let settings = self.settings.clone();
            after = match self.meanwhile(open(&settings)).await? {
                Ok(OpenPort::Tty(stream)) => self.serve(stream).await?,
                Ok(OpenPort::Tcp(stream)) => self.serve(stream).await?,
                Ok(OpenPort::Given(stream)) => self.serve(stream).await?,
                Err(error) => self.closed(&error),
            };
        }
    }

    /// Waits for `future` and takes orders and gives events meanwhile.
    async fn meanwhile<F: Future>(&mut self, future: F) -> Result<F::Output, AgentGone> {
        tokio::pin!(future);
        loop {
            tokio::select! {
                output = &mut future => return Ok(output),
                order = self.orders.recv() => {
                    let now = self.now();
                    self.driver.order(order.ok_or(AgentGone)?, now);
                    // A driver whose port is closed has events only.
                    self.port_work()?;
                }
                space = space_for_event(&self.events), if !self.unsent.is_empty() => {
                    space?;
                    self.send_oldest_event()?;
                }
                () = self.events.closed() => return Err(AgentGone),
            }
        }
    }

    /// Drives the driver over an open port; gives the time after which to open it again.
    async fn serve(&mut self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<Duration, AgentGone> {
        let mut buffer = [0; READ];
        let mut reads = 0;
        self.driver.opened(self.now());
        loop {
            if let Some(after) = self.act(&mut stream).await? {
                return Ok(after);
            }
            if reads >= READS {
                reads = 0;
                // A reader that always has more to say must not have the whole processor, nor keep orders and deadlines
                // waiting.
                tokio::task::yield_now().await;
                let now = self.now();
                if let Ok(order) = self.orders.try_recv() {
                    self.driver.order(order, now);
                }
                if self.driver.deadline().is_some_and(|at| at <= now) {
                    self.driver.timeout(now);
                }
                if let Some(after) = self.act(&mut stream).await? {
                    return Ok(after);
                }
            }
            let deadline = self.driver.deadline().map(|at| self.start + at);
            tokio::select! {
                biased;
                read = stream.read(&mut buffer), if self.unsent.is_empty() => match read {
                    Ok(0) => return Ok(self.closed(&io::ErrorKind::UnexpectedEof.into())),
                    Ok(count) => {
                        // A full one has more behind it.
                        reads = if count == READ { READS } else { reads + 1 };
                        let now = self.now();
                        self.driver.bytes(&buffer[..count], now);
                        buffer[..count].zeroize();
                    }
                    Err(error) => return Ok(self.closed(&error)),
                },
                order = self.orders.recv() => {
                    let now = self.now();
                    self.driver.order(order.ok_or(AgentGone)?, now);
                }
                () = sleep_until(deadline.unwrap_or(self.start)), if deadline.is_some() => {
                    let now = self.now();
                    self.driver.timeout(now);
                }
                space = space_for_event(&self.events), if !self.unsent.is_empty() => {
                    space?;
                    self.send_oldest_event()?;
                }
                () = self.events.closed() => return Err(AgentGone),
            }
        }
    }

    /// Does everything the driver wants; the time after which to open the port again, when it is to be closed.
    async fn act(&mut self, stream: &mut (impl AsyncWrite + Unpin)) -> Result<Option<Duration>, AgentGone> {
        loop {
            match self.port_work()? {
                None => return Ok(None),
                Some(PortWork::Reopen(after)) => return Ok(Some(after)),
                Some(PortWork::Write(frame)) => {
                    // One write for a whole frame: a reader may take a pause inside of one for its end.
                    let written = timeout(WRITE, stream.write_all(&frame)).await;
                    if let Err(error) = written.map_err(io::Error::from).and_then(|written| written) {
                        return Ok(Some(self.closed(&error)));
                    }
                }
            }
        }
    }

    /// The port is lost: the time after which to open it again.
    fn closed(&mut self, cause: &io::Error) -> Duration {
        self.driver.closed(&cause.to_string());
        loop {
            match self.port_work() {
                Ok(Some(PortWork::Reopen(after))) => return after,
                Ok(Some(PortWork::Write(_))) => {}
                // `closed` always gives a time; that the agent is gone is found by the next wait.
                Ok(None) | Err(AgentGone) => return CONNECT,
            }
        }
    }

    /// Hands out events up to the next thing that the port must do.
    fn port_work(&mut self) -> Result<Option<PortWork>, AgentGone> {
        loop {
            match self.driver.poll() {
                None => return Ok(None),
                Some(PortAction::Write(frame)) => return Ok(Some(PortWork::Write(frame))),
                Some(PortAction::Reopen { after }) => return Ok(Some(PortWork::Reopen(after))),
                Some(PortAction::Report(event)) if !self.unsent.is_empty() => self.unsent.push_back(event),
                Some(PortAction::Report(event)) => match self.events.try_send(event) {
                    Ok(()) => {}
                    Err(mpsc::error::TrySendError::Full(event)) => self.unsent.push_back(event),
                    Err(mpsc::error::TrySendError::Closed(_)) => return Err(AgentGone),
                },
            }
        }
    }

    /// Sends the oldest event that did not fit.
    fn send_oldest_event(&mut self) -> Result<(), AgentGone> {
        match self.unsent.pop_front().map(|event| self.events.try_send(event)) {
            Some(Err(mpsc::error::TrySendError::Full(event))) => self.unsent.push_front(event),
            Some(Err(mpsc::error::TrySendError::Closed(_))) => return Err(AgentGone),
            Some(Ok(())) | None => {}
        }
        Ok(())
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Waits until the agent has taken an event.
async fn space_for_event(events: &mpsc::Sender<ReaderEvent>) -> Result<(), AgentGone> {
    events.reserve().await.map(|_| ()).map_err(|_| AgentGone)
}

/// The open wire.
enum OpenPort {
    Tty(SerialStream),
    Tcp(TcpStream),
    Given(Box<dyn Stream>),
}

async fn open(settings: &ReaderSettings) -> io::Result<OpenPort> {
    if let Some(way) = &settings.way {
        return way().await.map(OpenPort::Given);
    }
    if let Some(address) = settings.port.strip_prefix("tcp://") {
        let stream = timeout(CONNECT, TcpStream::connect(address)).await??;
        stream.set_nodelay(true)?;
        return Ok(OpenPort::Tcp(stream));
    }
    // Raw 8N1 without flow control (readers: 2.1), and nobody else's while we have it.
    let mut stream = tokio_serial::new(settings.port.as_str(), settings.baud)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(FlowControl::None)
        .open_native_async()
        .map_err(|error| wire::refused(error.into()))?;
    stream.set_exclusive(true)?;
    // What a reader said while nobody listened is for nobody, and after a flood there may be much of it.
    stream.clear(ClearBuffer::Input)?;
    Ok(OpenPort::Tty(stream))
}
