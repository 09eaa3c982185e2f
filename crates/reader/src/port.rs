//! The connection to the reader. One task owns the tty or TCP stream, runs the reader's `Session`, and reopens a lost
//! port. It knows no family of readers.
//!
//! The agent may await the handle without reading events, because the task never waits for the agent. Events that do
//! not fit their channel are kept, and the task reads no bytes until the agent has taken them. If there is much to
//! read, orders, deadlines and the agent's other tasks get their turn after a few reads.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_serial::{
    ClearBuffer, DataBits, FlowControl, Parity, SerialPort as _, SerialPortBuilderExt, SerialStream, StopBits,
};
use zeroize::Zeroize;

use super::driver::{Frame, PortAction, ReaderFamily};
use super::session::ReaderSession;
use super::{ReaderEvent, ReaderOrder, ReaderSettings};
use crate::config::{LISTEN, ReaderFlowControl};
use pos_daemon::wire::{self, Stream};

/// The size of the channel for orders. A transaction has three.
const ORDERS: usize = 8;
/// The size of the channel for events. A transaction has about twenty, most of them PIN digits.
const EVENTS: usize = 64;
/// The number of bytes in one read. A whole E4 arrives in one or two reads.
const READ: usize = 1024;
/// The number of reads after which orders and deadlines take precedence.
const READS: u32 = 8;
/// The time within which a TCP reader must accept the connection. It is on the same network.
const CONNECT: Duration = Duration::from_secs(5);
/// The time to wait for a reader that opens the connection, before its absence is reported. The wait begins again.
const ACCEPT: Duration = Duration::from_secs(10);
/// The time within which the port must take a packet. 258 bytes take 22 ms at 115200 baud.
const WRITE: Duration = Duration::from_secs(2);

/// The agent's handle for giving orders to the reader.
#[derive(Clone, Debug)]
pub struct ReaderHandle(mpsc::Sender<ReaderOrder>);

/// The error after the reader's task has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reader's task has ended")]
pub struct ReaderGone;

impl ReaderHandle {
    /// Gives an order. Waits a moment if the channel is full of orders.
    ///
    /// # Errors
    /// Returns [`ReaderGone`] if the task has ended, which happens only if its events have no receiver.
    pub async fn order(&self, order: ReaderOrder) -> Result<(), ReaderGone> {
        self.0.send(order).await.map_err(|_| ReaderGone)
    }

    /// Gives an order without waiting.
    ///
    /// # Errors
    /// Returns [`ReaderGone`] if the task has ended. Also returns it if more orders wait than any transaction has,
    /// because then the task no longer takes them.
    pub fn order_now(&self, order: ReaderOrder) -> Result<(), ReaderGone> {
        self.0.try_send(order).map_err(|_| ReaderGone)
    }
}

/// Creates a handle without a reader. It takes no order and sends no event.
#[must_use]
pub fn nobody() -> (ReaderHandle, mpsc::Receiver<ReaderEvent>) {
    (ReaderHandle(mpsc::channel(1).0), mpsc::channel(1).1)
}

/// Creates a handle whose orders a test receives.
#[must_use]
pub fn tested() -> (ReaderHandle, mpsc::Receiver<ReaderOrder>) {
    let (handle, orders) = mpsc::channel(ORDERS);
    (ReaderHandle(handle), orders)
}

/// Starts the task that owns the reader. It ends when every [`ReaderHandle`] or the receiver of the events is dropped.
///
/// # Panics
/// Panics outside a Tokio runtime.
#[must_use]
pub fn spawn(settings: ReaderSettings, family: ReaderFamily) -> (ReaderHandle, mpsc::Receiver<ReaderEvent>) {
    let (handle, orders) = mpsc::channel(ORDERS);
    let (events, receiver) = mpsc::channel(EVENTS);
    let driver = family.session(settings.clone());
    let task =
        PortTask { settings, driver, orders, events, unsent: VecDeque::new(), start: Instant::now(), listener: None };
    tokio::spawn(task.run());
    (ReaderHandle(handle), receiver)
}

struct PortTask {
    settings: ReaderSettings,
    driver: ReaderSession,
    orders: mpsc::Receiver<ReaderOrder>,
    events: mpsc::Sender<ReaderEvent>,
    /// Events that did not fit into the channel.
    unsent: VecDeque<ReaderEvent>,
    /// The start of the driver's clock.
    start: Instant,
    /// The listener of a reader that opens the connection.
    listener: Option<Arc<TcpListener>>,
}

/// The agent has dropped the handle or the receiver of the events.
struct AgentGone;

/// The driver's remaining work at the port, after its events have been sent.
#[allow(clippy::large_enum_variant, reason = "moved once, from the driver to the write")]
enum PortWork {
    Write(Frame),
    Reopen(Duration),
}

impl PortTask {
    async fn run(mut self) {
        // The loop ends only after the agent has gone.
        let Err(AgentGone) = self.keep_open().await;
    }

    async fn keep_open(&mut self) -> Result<std::convert::Infallible, AgentGone> {
        let mut after = Duration::ZERO;
        loop {
            self.meanwhile(sleep(after)).await?;
            let settings = self.settings.clone();
            let listener = self.listener(&settings).await;
            after = match self.meanwhile(open(&settings, listener)).await? {
                Ok(OpenPort::Tty(stream)) => self.serve(stream).await?,
                Ok(OpenPort::Tcp(stream)) => self.serve(stream).await?,
                Ok(OpenPort::Given(stream)) => self.serve(stream).await?,
                Err(error) => self.closed(&error),
            };
        }
    }

    /// Returns the listener at which the reader opens the connection, if the settings say so. It stays open between two
    /// connections, so that a reader which connects meanwhile is not refused.
    async fn listener(&mut self, settings: &ReaderSettings) -> io::Result<Option<Arc<TcpListener>>> {
        let Some(address) = settings.port.strip_prefix(LISTEN) else { return Ok(None) };
        if self.listener.is_none() {
            self.listener = Some(Arc::new(TcpListener::bind(address).await?));
        }
        Ok(self.listener.clone())
    }

    /// Waits for `future`. Meanwhile takes orders and sends events.
    async fn meanwhile<F: Future>(&mut self, future: F) -> Result<F::Output, AgentGone> {
        tokio::pin!(future);
        loop {
            tokio::select! {
                output = &mut future => return Ok(output),
                order = self.orders.recv() => {
                    let now = self.now();
                    self.driver.order(order.ok_or(AgentGone)?, now);
                    // While the port is closed, a driver has only events.
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

    /// Runs the driver on an open port. Returns the time after which to open the port again.
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
                // A reader that always has more data must not block the processor, or delay orders and deadlines.
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
                        // After a full buffer there is probably more to read.
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

    /// Carries out all actions of the driver. If the port must be closed, returns the time after which to open it
    /// again.
    async fn act(&mut self, stream: &mut (impl AsyncWrite + Unpin)) -> Result<Option<Duration>, AgentGone> {
        loop {
            match self.port_work()? {
                None => return Ok(None),
                Some(PortWork::Reopen(after)) => return Ok(Some(after)),
                Some(PortWork::Write(frame)) => {
                    // The whole frame is written in one call, because a reader may take a pause inside a frame for its
                    // end.
                    let written = timeout(WRITE, stream.write_all(&frame)).await;
                    if let Err(error) = written.map_err(io::Error::from).and_then(|written| written) {
                        return Ok(Some(self.closed(&error)));
                    }
                }
            }
        }
    }

    /// Reports the lost port to the driver. Returns the time after which to open the port again.
    fn closed(&mut self, cause: &io::Error) -> Duration {
        self.driver.closed(&cause.to_string());
        loop {
            match self.port_work() {
                Ok(Some(PortWork::Reopen(after))) => return after,
                Ok(Some(PortWork::Write(_))) => {}
                // `closed` always requests a time. If the agent has gone, the next wait ends the task.
                Ok(None) | Err(AgentGone) => return CONNECT,
            }
        }
    }

    /// Sends events until the driver has work for the port.
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

    /// Sends the oldest event that did not fit into the channel.
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

/// An open connection.
enum OpenPort {
    Tty(SerialStream),
    Tcp(TcpStream),
    Given(Box<dyn Stream>),
}

async fn open(settings: &ReaderSettings, listener: io::Result<Option<Arc<TcpListener>>>) -> io::Result<OpenPort> {
    if let Some(way) = &settings.way {
        return way().await.map(OpenPort::Given);
    }
    if let Some(listener) = listener? {
        let accepted = timeout(ACCEPT, listener.accept()).await;
        let (stream, _) =
            accepted.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "no reader has connected"))??;
        stream.set_nodelay(true)?;
        return Ok(OpenPort::Tcp(stream));
    }
    if let Some(address) = settings.port.strip_prefix("tcp://") {
        let stream = timeout(CONNECT, TcpStream::connect(address)).await??;
        stream.set_nodelay(true)?;
        return Ok(OpenPort::Tcp(stream));
    }
    // The port is raw 8N1 (readers: 2.1, 3.1), for exclusive use.
    let mut stream = tokio_serial::new(settings.port.as_str(), settings.baud)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(match settings.flow_control {
            ReaderFlowControl::None => FlowControl::None,
            ReaderFlowControl::RtsCts => FlowControl::Hardware,
            ReaderFlowControl::XonXoff => FlowControl::Software,
        })
        .open_native_async()
        .map_err(|error| wire::refused(error.into()))?;
    stream.set_exclusive(true)?;
    // Data sent before the port was open is useless. After a flood, there may be much of it.
    stream.clear(ClearBuffer::Input)?;
    Ok(OpenPort::Tty(stream))
}
