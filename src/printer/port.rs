//! The wire to the printer: a task that owns it, and the handle to give it receipts.
//!
//! Giving a receipt never waits, and each one is answered by one [`Event`]. A connection is made for each receipt, so a
//! printer may be switched off, moved and shared as it likes.
//!
//! ```text
//!  connect ──fails──▶ wait, try again (a few times) ──▶ Failed
//!     │
//!   write, wait until it has left ──fails──▶ Failed, not tried again: part of it may be on paper
//!     │
//!  Printed
//! ```
//!
//! What it is not: proof of paper. That a printer took every byte is all that can be known here.

use std::fmt;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_serial::{ClearBuffer, SerialPort, SerialPortBuilderExt, SerialStream};

use crate::config;
use crate::sale::{Copy, Receipt};

use super::{escpos, lay_out};

/// Receipts that may wait: both copies of 32 sales, more than are made while a paper roll is changed.
pub const QUEUE: usize = 64;

/// The deadlines of one receipt.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Opening the connection.
    pub connect: Duration,
    /// Handing over all bytes.
    pub write: Duration,
    /// For the printer to close a TCP connection after the last byte; without that it counts as printed all the same.
    pub close: Duration,
    /// What is waited before each further try to connect; after the last one the receipt has failed.
    pub back_off: Vec<Duration>,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            // A printer stands in the same network: three lost SYNs (1 s, 2 s apart) still fit.
            connect: Duration::from_secs(5),
            // 2 KB at 9600 baud take 2 s, and printing 60 lines about as long; the rest is for a printer that is still
            // busy with the receipt before and has stopped the flow.
            write: Duration::from_secs(20),
            // Many printers close at once, some only when the paper is out, some never.
            close: Duration::from_secs(3),
            // 15 s in all: a printer that was just switched on is ready by then, and the customer still waits.
            back_off: [1, 2, 4, 8].map(Duration::from_secs).to_vec(),
        }
    }
}

/// A receipt as bytes for the printer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Sequence number of the sale.
    pub sale: u64,
    /// Whose copy.
    pub copy: Copy,
    /// ESC/POS, from the initialisation to the cut.
    pub bytes: Vec<u8>,
}

/// What became of a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The printer took all of it.
    Printed {
        /// Sequence number of the sale.
        sale: u64,
        /// Whose copy.
        copy: Copy,
    },
    /// It was not printed, or not as a whole. The sale stands as it is; the receipt can be printed again.
    Failed {
        /// Sequence number of the sale.
        sale: u64,
        /// Whose copy.
        copy: Copy,
        /// What happened and what to do, for a person.
        why: String,
    },
}

/// More than [`QUEUE`] receipts wait; this one was not taken and nothing was dropped for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{QUEUE} receipts wait for the printer already; see to the printer, then print sale {sale} again")]
pub struct QueueFull {
    /// Sequence number of the sale.
    pub sale: u64,
    /// Whose copy.
    pub copy: Copy,
}

/// Starts the task that owns the printer; it ends when the last handle is dropped and all receipts are done. `merchant` are
/// the lines at the head of each receipt. `events` tells what became of each; while nobody reads them the printer waits.
#[must_use]
pub fn spawn(config: config::Printer, merchant: Vec<String>, events: mpsc::Sender<Event>) -> Handle {
    spawn_with(config, merchant, events, Timing::default())
}

/// [`spawn`] with other deadlines.
#[must_use]
pub fn spawn_with(
    config: config::Printer,
    merchant: Vec<String>,
    events: mpsc::Sender<Event>,
    timing: Timing,
) -> Handle {
    let (jobs, queue) = mpsc::channel(QUEUE);
    let (state, seen) = watch::channel("not used yet".to_owned());
    let owner = Owner { port: Port::from(&config), timing, state, given_up: false };
    tokio::spawn(owner.run(queue, events));
    Handle { jobs, state: seen, paper: Paper { config, merchant } }
}

/// The way to the printer's task.
#[derive(Clone, Debug)]
pub struct Handle {
    jobs: mpsc::Sender<Job>,
    state: watch::Receiver<String>,
    paper: Paper,
}

#[derive(Clone, Debug)]
struct Paper {
    config: config::Printer,
    merchant: Vec<String>,
}

impl Handle {
    /// Lays out a copy of a receipt for this printer and puts it at the end of the queue. Never waits.
    ///
    /// # Errors
    /// [`QueueFull`]; no event follows then.
    pub fn print(&self, receipt: &Receipt, copy: Copy) -> Result<(), QueueFull> {
        let Paper { config, merchant } = &self.paper;
        let lines = lay_out(receipt, merchant, copy, config.columns);
        self.print_job(Job { sale: receipt.number, copy, bytes: escpos::encode(&lines, config.code_page) })
    }

    /// Puts ready bytes at the end of the queue. Never waits.
    ///
    /// # Errors
    /// [`QueueFull`]; no event follows then.
    pub fn print_job(&self, job: Job) -> Result<(), QueueFull> {
        self.jobs.try_send(job).map_err(|error| {
            let (mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) = error;
            QueueFull { sale: job.sale, copy: job.copy }
        })
    }

    /// The printer for the terminal's status: `ok`, `not used yet`, or what is wrong and what to do.
    #[must_use]
    pub fn state(&self) -> String {
        self.state.borrow().clone()
    }
}

/// Why a receipt was not printed.
#[derive(Debug, thiserror::Error)]
enum Fault {
    /// Nothing was written: it may be tried again.
    #[error("unreachable: {port}: {source}; see to its power, cable and address")]
    Unreachable { port: String, source: io::Error },
    /// Part of it may be on paper.
    #[error("stopped in the middle of a receipt: {port}: {source}; look at the paper before printing it again")]
    Stopped { port: String, source: io::Error },
}

/// The task's own.
struct Owner {
    port: Port,
    timing: Timing,
    /// For [`Handle::state`].
    state: watch::Sender<String>,
    /// The receipt before could not be printed because the printer was not there.
    given_up: bool,
}

impl Owner {
    async fn run(mut self, mut queue: mpsc::Receiver<Job>, events: mpsc::Sender<Event>) {
        while let Some(Job { sale, copy, bytes }) = queue.recv().await {
            let result = self.print(&bytes).await;
            self.given_up = matches!(result, Err(Fault::Unreachable { .. }));
            let event = match result {
                Ok(()) => {
                    self.state.send_replace("ok".to_owned());
                    Event::Printed { sale, copy }
                }
                Err(fault) => {
                    let why = fault.to_string();
                    tracing::warn!(sale, ?copy, why, "receipt not printed");
                    self.state.send_replace(why.clone());
                    Event::Failed { sale, copy, why }
                }
            };
            if events.send(event).await.is_err() {
                return;
            }
        }
    }

    /// Connects, with patience, and writes once. A printer that was given up gets one try for each further receipt, so that a
    /// full queue does not take half an hour to fail while it stays dead.
    async fn print(&self, bytes: &[u8]) -> Result<(), Fault> {
        let mut waits = if self.given_up { [].iter() } else { self.timing.back_off.iter() };
        let line = loop {
            match self.port.open(&self.timing).await {
                Ok(line) => break line,
                Err(source) => {
                    let fault = Fault::Unreachable { port: self.port.to_string(), source };
                    let Some(wait) = waits.next() else { return Err(fault) };
                    self.state.send_replace(fault.to_string());
                    sleep(*wait).await;
                }
            }
        };
        line.write(bytes, &self.timing).await.map_err(|source| Fault::Stopped { port: self.port.to_string(), source })
    }
}

/// Where the printer is.
#[derive(Debug)]
enum Port {
    Tcp(String),
    Tty { path: String, baud: u32 },
}

impl From<&config::Printer> for Port {
    fn from(config: &config::Printer) -> Self {
        match config.port.strip_prefix("tcp://") {
            Some(address) => Self::Tcp(address.to_owned()),
            None => Self::Tty { path: config.port.clone(), baud: config.baud },
        }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Tcp(place) | Self::Tty { path: place, .. }) = self;
        f.write_str(place)
    }
}

impl Port {
    async fn open(&self, timing: &Timing) -> io::Result<Line> {
        match self {
            Self::Tcp(address) => in_time(timing.connect, TcpStream::connect(address)).await.map(Line::Tcp),
            Self::Tty { path, baud } => Ok(Line::Tty(tokio_serial::new(path, *baud).open_native_async()?)),
        }
    }
}

/// An open connection for one receipt.
enum Line {
    Tcp(TcpStream),
    Tty(SerialStream),
}

impl Line {
    async fn write(self, bytes: &[u8], timing: &Timing) -> io::Result<()> {
        match self {
            Self::Tcp(mut stream) => {
                let written = in_time(timing.write, stream.write_all(bytes)).await;
                let done = match written {
                    Ok(()) => until_closed(&mut stream, timing.close).await,
                    failed => failed,
                };
                if done.is_err() {
                    // What the kernel still holds must not come out later, when the receipt counts as failed.
                    let _ = stream.set_zero_linger();
                }
                done
            }
            Self::Tty(mut tty) => {
                let written = in_time(timing.write, async {
                    tty.write_all(bytes).await?;
                    until_sent(&tty).await
                });
                let done = written.await;
                if done.is_err() {
                    // As above; and closing a tty with bytes left would stop the whole program for up to 30 s.
                    let _ = tty.clear(ClearBuffer::Output);
                }
                done
            }
        }
    }
}

/// Says "end of job" and reads what the printer has to say until it closes, to learn of a connection that breaks.
async fn until_closed(stream: &mut TcpStream, limit: Duration) -> io::Result<()> {
    let mut ignored = [0; 64];
    let closed = async {
        stream.shutdown().await?;
        while stream.read(&mut ignored).await? > 0 {}
        Ok(())
    };
    timeout(limit, closed).await.unwrap_or(Ok(()))
}

/// Waits until the tty has sent everything. `flush` would do so with a system call that blocks the thread.
async fn until_sent(tty: &SerialStream) -> io::Result<()> {
    // A line of 42 characters at 9600 baud takes 44 ms.
    const LOOK_AGAIN: Duration = Duration::from_millis(10);
    while tty.bytes_to_write()? > 0 {
        sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

async fn in_time<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = || io::Error::new(io::ErrorKind::TimedOut, format!("no progress within {} s", limit.as_secs()));
    timeout(limit, work).await.unwrap_or_else(|_| Err(late()))
}
