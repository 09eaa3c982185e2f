//! A simulated receipt printer. It accepts ESC/POS on TCP (port 9100 on real printers) or on a pty, and shows its paper
//! as text and as a picture.
//!
//! It shares no code with the agent's printer module. [`paper`] parses the command language separately, with code-page
//! tables from other sources, so it reveals mistakes in that module. The printer reports its state as the manuals say
//! (DLE EOT), even while it prints. People and tests can take its paper, open its cover, or make it slow, silent or
//! dead. They can also switch it off in the middle of a receipt.

mod args;
mod bars;
mod code_page;
mod connection;
mod drawing;
mod mechanism;
pub mod paper;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

pub use args::{Args, run};
use connection::{Connection, PrinterPort};
use mechanism::{BUFFER, Mechanism};
use paper::Receipt;

/// The start options of a printer.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen on.
    pub place: PrinterAddress,
    /// The number of characters on a line.
    pub columns: u8,
    /// Its answers to status requests.
    pub status_answers: StatusAnswers,
    /// The state of the sensors.
    pub sensors: Sensors,
    /// Its speed; without it, the printer prints immediately.
    pub bytes_per_second: Option<u32>,
}

/// The address of a printer.
#[derive(Clone, Debug)]
pub enum PrinterAddress {
    /// A TCP address to listen on; port 0 selects a free port.
    Tcp(SocketAddr),
    /// A pty, and a link to it that stays when the plug is pulled and put back.
    Pty(Option<PathBuf>),
}

/// A printer's answers to status requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusAnswers {
    /// The answers that the manuals define.
    #[default]
    Answers,
    /// No answer.
    Silent,
    /// Meaningless bytes.
    Garbage,
    /// It answers status requests, but does not report when it has finished (GS r).
    AnswersStateOnly,
}

/// The state of a printer's sensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sensors {
    /// There is no paper.
    pub paper_out: bool,
    /// The paper is nearly used up.
    pub paper_near_end: bool,
    /// The cover is open.
    pub cover_open: bool,
    /// Paper is jammed in the cutter.
    pub cutter_jammed: bool,
}

impl Default for Options {
    /// Returns options for 42 columns on a free port of this machine.
    fn default() -> Self {
        Self {
            place: PrinterAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], 0))),
            columns: 42,
            status_answers: StatusAnswers::default(),
            sensors: Sensors::default(),
            bytes_per_second: None,
        }
    }
}

/// A running printer; it stops when this value is dropped.
#[derive(Debug)]
pub struct Printer {
    shared: Arc<Shared>,
    columns: u8,
    orders: mpsc::Sender<PlugOrder>,
    receipts: watch::Receiver<Vec<Receipt>>,
    /// The number of receipts that [`Self::next_receipt`] has returned.
    taken: usize,
}

/// An action at the plug, with a signal when it is complete.
#[derive(Debug)]
struct PlugOrder {
    dead: bool,
    done: oneshot::Sender<()>,
}

impl Printer {
    /// Starts a printer of 42 columns; port 0 selects a free port.
    ///
    /// # Errors
    ///
    /// Fails if it cannot listen on the address.
    pub async fn start(listen: SocketAddr) -> io::Result<Self> {
        Self::open(Options { place: PrinterAddress::Tcp(listen), ..Options::default() }).await
    }

    /// Starts a printer with these options.
    ///
    /// # Errors
    ///
    /// Fails if it cannot listen on the address, or if the pty or its link cannot be made.
    #[allow(clippy::unused_async, reason = "it starts a task and wants a runtime")]
    pub async fn open(options: Options) -> io::Result<Self> {
        let (port, name) = PrinterPort::open(&options.place)?;
        let (sender, receipts) = watch::channel(Vec::new());
        let mechanism = Mechanism::new(name, &options);
        let shared = Arc::new(Shared { mechanism: Mutex::new(mechanism), changed: Notify::new(), receipts: sender });
        let (orders, inbox) = mpsc::channel(1);
        tokio::spawn(serve(port, Arc::clone(&shared), options.bytes_per_second, inbox));
        Ok(Self { shared, columns: options.columns, orders, receipts, taken: 0 })
    }

    /// Returns its address in the form of a configuration: `tcp://…` or a path.
    #[must_use]
    pub fn place(&self) -> String {
        self.shared.mechanism().name.clone()
    }

    /// Returns the text of the receipts cut so far, the oldest first.
    #[must_use]
    pub fn receipts(&self) -> Vec<String> {
        self.receipts.borrow().iter().map(|receipt| receipt.text.clone()).collect()
    }

    /// Returns a receiver that holds the receipts cut so far, and signals each later one.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Vec<Receipt>> {
        self.receipts.clone()
    }

    /// Returns the next receipt that this method has not returned.
    pub async fn next_receipt(&mut self) -> String {
        let taken = self.taken;
        let all = self.receipts.wait_for(|all| all.len() > taken).await.expect("the sender is in `shared`");
        self.taken += 1;
        all[taken].text.clone()
    }

    /// Returns one of the receipts cut so far as a PNG file; `None` if it does not exist.
    #[must_use]
    pub fn picture(&self, number: usize) -> Option<Vec<u8>> {
        let receipt = self.receipts.borrow().get(number)?.clone();
        drawing::png(&receipt.strips, usize::from(self.columns)).ok()
    }

    /// Returns the text printed since the last cut.
    #[must_use]
    pub fn uncut(&self) -> String {
        self.shared.mechanism().paper.uncut()
    }

    /// Returns the number of unknown commands and bytes; they are on the paper as `<1B 3F>`.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.shared.mechanism().paper.errors()
    }

    /// Switches the printer off or on again. Off cuts every connection and refuses new ones.
    pub async fn set_dead(&self, dead: bool) {
        let (done, wait) = oneshot::channel();
        self.orders.send(PlugOrder { dead, done }).await.expect("the printer runs as long as its handle");
        wait.await.expect("the printer obeys each order");
    }

    /// Switches the printer off after `bytes` more bytes, like a power cut. It cuts the connection and refuses new
    /// ones.
    pub fn die_after(&self, bytes: usize) {
        self.shared.mechanism().die_after = Some(bytes);
    }

    /// Lets the paper run out after `lines` more lines.
    pub fn run_out_after(&self, lines: usize) {
        let mut mechanism = self.shared.mechanism();
        mechanism.out_after = Some(mechanism.paper.fed() + lines);
    }

    /// Returns the state of its sensors.
    #[must_use]
    pub fn sensors(&self) -> Sensors {
        self.shared.mechanism().sensors
    }

    /// Changes paper or cover. The printer then prints the waiting data, as real printers do.
    pub fn set_sensors(&self, sensors: Sensors) {
        self.shared.mechanism().sensors = sensors;
        self.shared.changed.notify_one();
    }
}

#[derive(Debug)]
struct Shared {
    mechanism: Mutex<Mechanism>,
    /// Signals that its state has changed.
    changed: Notify,
    receipts: watch::Sender<Vec<Receipt>>,
}

impl Shared {
    fn mechanism(&self) -> MutexGuard<'_, Mechanism> {
        self.mechanism.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(
    mut port: PrinterPort,
    shared: Arc<Shared>,
    bytes_per_second: Option<u32>,
    mut orders: mpsc::Receiver<PlugOrder>,
) {
    let mut pace = Pace::new(bytes_per_second);
    let mut line: Option<Connection> = None;
    loop {
        let (dead, done) = tokio::select! {
            order = orders.recv() => match order {
                None => return,
                Some(PlugOrder { dead, done }) => (dead, Some(done)),
            },
            alive = work(&mut port, &mut line, &mut pace, &shared) => match alive {
                true => continue,
                false => (true, None),
            },
        };
        if dead {
            line.take().map(Connection::cut).unwrap_or_default();
            let mut mechanism = shared.mechanism();
            mechanism.buffer.clear();
            mechanism.paper.power_off();
        }
        port = match port.switch_plug(dead).await {
            Ok((port, name)) => {
                if let Some(name) = name {
                    shared.mechanism().name = name;
                }
                port
            }
            Err(_) => return,
        };
        // The receiver no longer exists if the handle was dropped.
        let _ = done.map(|done| done.send(()));
    }
}

/// Does one step: accepts a connection, reads bytes, or prints. Returns false if the printer has died.
async fn work(port: &mut PrinterPort, line: &mut Option<Connection>, pace: &mut Pace, shared: &Shared) -> bool {
    let (can_print, room) = {
        let mechanism = shared.mechanism();
        (mechanism.can_print(), BUFFER.saturating_sub(mechanism.buffer.len()))
    };
    let mut bytes = [0; BUFFER];
    let arrives = async {
        match &line {
            None => Arrival::Connection(port.next().await),
            Some(_) if room == 0 => std::future::pending().await,
            Some(line) => Arrival::Bytes(line.read(&mut bytes[..room]).await),
        }
    };
    let arrival = tokio::select! {
        () = pace.wait(), if can_print => {
            let (answers, alive) = shared.mechanism().print(pace.take());
            let cut = shared.mechanism().paper.take_cut();
            if !cut.is_empty() {
                shared.receipts.send_modify(|receipts| receipts.extend(cut));
            }
            line.iter().for_each(|line| line.answer(&answers));
            return alive;
        }
        () = shared.changed.notified() => return true,
        arrival = arrives => arrival,
    };
    match arrival {
        Arrival::Connection(next) => *line = next.ok(),
        Arrival::Bytes(Ok(size @ 1..)) => {
            let answers = shared.mechanism().arrive(&bytes[..size]);
            line.iter().for_each(|line| line.answer(&answers));
        }
        Arrival::Bytes(_) => *line = None,
    }
    true
}

enum Arrival {
    Connection(io::Result<Connection>),
    Bytes(io::Result<usize>),
}

/// The printing speed.
struct Pace {
    bytes_per_second: Option<u32>,
    next: Instant,
}

impl Pace {
    fn new(bytes_per_second: Option<u32>) -> Self {
        Self { bytes_per_second, next: Instant::now() }
    }

    async fn wait(&self) {
        if self.bytes_per_second.is_some() {
            sleep_until(self.next).await;
        }
    }

    /// Returns how many bytes this step prints, and sets the time of the next step.
    fn take(&mut self) -> usize {
        let Some(speed) = self.bytes_per_second.map(|speed| speed.max(1)) else { return BUFFER };
        // People cannot see steps shorter than a hundredth of a second.
        let bytes = (speed / 100).max(1);
        self.next = Instant::now() + Duration::from_secs(1) * bytes / speed;
        bytes as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_printer_takes_the_time_that_its_speed_says() {
        let mut pace = Pace::new(Some(1000));
        let start = Instant::now();
        let mut printed = 0;
        while printed < 1000 {
            pace.wait().await;
            printed += pace.take();
        }
        pace.wait().await;
        assert_eq!(start.elapsed().as_millis(), 1000);
    }
}
