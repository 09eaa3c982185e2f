//! The printer's owner: a task that has the wire, and the handle to give it receipts.
//!
//! Giving a receipt never waits. A connection is made for each receipt, so a printer may be switched off, moved and
//! shared as it likes. A receipt that cannot be printed waits, and the others behind it, until it can:
//!
//! ```text
//!  connect ─▶ ask how it is ─▶ write ─▶ wait until it is on paper ─▶ Printed
//!     │            │             └──────────────┴─ fails: part of it may be on paper, the next try is a DUPLICATE
//!     └────────────┴─ fails: nothing was printed
//!                  └─▶ Waits, try again, less and less often ─▶ connect …
//! ```
//!
//! A printer that does not answer DLE EOT is taken at its silence: what it took counts as printed. With nothing to
//! print the printer is looked at now and then, so that an empty roll is known before the next customer comes.
//!
//! Lines of a till's own are tried once: they are nowhere kept, and the till, which hears what became of them, can send
//! them again.
//!
//! What it is not: proof of paper, or the place where receipts are kept. What waits here is lost when the agent ends;
//! every receipt is in the journal, and `pos-agent receipt --print` brings it out again.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::config;
use crate::logo::{self, Logo};
use pos_core::transaction::Receipt;
use pos_terms::transaction::{ReceiptCopy, SaleNumber};

use super::escpos::{self, Dialect, Sheet};
use super::layout::{PrintedLine, TillLine, till_lines};
use super::status::{self, Condition, Trouble};
use super::wire::{Port, Wire, in_time};
use super::{Page, qr};
use pos_daemon::wire::Connector;

/// Receipts that may wait: both copies of 32 sales, more than are made while a paper roll is changed.
pub const QUEUE: usize = 64;
/// Slips of tills' own lines that may wait among them: the queue is for receipts.
pub const TILL_SLIPS: usize = 4;
/// How often a receipt is begun that breaks off in the middle each time: a printer that always does so must not use up
/// the roll.
pub const TORN_TRIES: u32 = 3;

/// The deadlines and pauses of the printer's task.
#[derive(Clone, Debug)]
pub struct PrinterTiming {
    /// Opening the connection.
    pub connect: Duration,
    /// Between two bytes that the printer takes.
    pub write: Duration,
    /// For the printer to close a TCP connection after the last byte; without that it counts as printed all the same.
    pub close: Duration,
    /// For the answers to all four questions about its state.
    pub status: Duration,
    /// For a printer that answers about its state to say that a receipt is on paper; longer while it tells of no
    /// trouble is taken as printed.
    pub done: Duration,
    /// Between two questions while it is waited for the paper.
    pub ask_again: Duration,
    /// Between two looks at a printer that has nothing to do.
    pub look: Duration,
    /// What is waited before each further try; the last one counts for all that follow.
    pub back_off: Vec<Duration>,
}

impl Default for PrinterTiming {
    fn default() -> Self {
        Self {
            // A printer stands in the same network: three lost SYNs (1 s, 2 s apart) still fit.
            connect: Duration::from_secs(5),
            // Longer than any printer stops the flow while it prints what it has (4 KB, 60 lines, take some 5 s).
            write: Duration::from_secs(20),
            // Many printers close at once, some only when the paper is out, some never.
            close: Duration::from_secs(3),
            // Four bytes each way: 8 ms at 9600 baud, and printers answer at once, whatever they print.
            status: Duration::from_secs(1),
            // The slowest print 60 lines in this time.
            done: Duration::from_secs(8),
            ask_again: Duration::from_secs(1),
            // Well before the next customer, and next to nothing on the wire.
            look: Duration::from_secs(30),
            // A printer that was just switched on is ready within 15 s; after that a person is needed, who waits no
            // longer than 15 s.
            back_off: [1, 2, 4, 8, 15].map(Duration::from_secs).to_vec(),
        }
    }
}

/// What is printed, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// A copy of a receipt.
    Receipt {
        /// Sequence number of the sale.
        sale: SaleNumber,
        /// Whose copy.
        copy: ReceiptCopy,
    },
    /// A close of day.
    Close {
        /// Its number.
        number: u64,
    },
    /// Lines of a till's own.
    TillLines,
}

impl fmt::Display for Slip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receipt { sale, .. } => write!(f, "receipt of sale {sale}"),
            Self::Close { number } => write!(f, "slip of close {number}"),
            Self::TillLines => f.write_str("till's own lines"),
        }
    }
}

impl Slip {
    /// What prints it again.
    fn again(self) -> String {
        match self {
            Self::Receipt { .. } => "pos-agent receipt … --print".to_owned(),
            Self::Close { number } => format!("pos-agent close print {number}"),
            Self::TillLines => "at the till".to_owned(),
        }
    }
}

/// What became of a slip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrinterEvent {
    /// The printer took all of it, and said that it is on paper if it says such things.
    Printed {
        /// Which.
        slip: Slip,
        /// With the duplicate mark.
        duplicate: bool,
    },
    /// It cannot be printed now and is kept until it can. Told once for each reason.
    Waits {
        /// Which.
        slip: Slip,
        /// What is wrong and what to do, for a person.
        why: String,
    },
    /// It broke off in the middle [`TORN_TRIES`] times and is not tried again by itself.
    Failed {
        /// Which.
        slip: Slip,
        /// What happened and what to do, for a person.
        why: String,
    },
}

/// More than [`QUEUE`] slips wait; this one was not taken and nothing was dropped for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{QUEUE} receipts wait for the printer already; see to the printer, then print the {slip} again: {}", slip.again())]
pub struct QueueFull {
    /// Which.
    pub slip: Slip,
}

/// Why lines of a till's own are not on paper; they are not tried again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPrinted {
    /// Nothing was written.
    #[error("the printer is {0}; nothing of it was printed")]
    NotBegun(PrinterNeed),
    /// It broke off.
    #[error("the printer is {0}; a part of it may be on paper")]
    BrokeOff(PrinterNeed),
    /// [`TILL_SLIPS`] wait already, or [`QUEUE`] receipts.
    #[error("other slips wait for the printer; nothing of it was printed")]
    OthersWait,
}

/// A slip on its way.
#[derive(Debug)]
struct Job {
    slip: Slip,
    content: Content,
    /// Printed before, or perhaps: it gets the mark.
    duplicate: bool,
    /// How often it broke off in the middle.
    torn: u32,
}

/// What is to be on paper.
#[derive(Debug)]
enum Content {
    /// A copy of a receipt; the receipt is for the QR code.
    Receipt(Box<Receipt>, Page),
    /// A close of day.
    Close(Page),
    /// Lines of a till's own, where the till waits for what becomes of them, and their place among the few that may
    /// wait.
    TillLines(Vec<TillLine>, oneshot::Sender<Result<(), NotPrinted>>, OwnedSemaphorePermit),
}

/// Starts the task that owns a printer; it ends when the last handle is dropped and all receipts that can be printed
/// are. `events` tells what became of each; while nobody reads them the printer waits.
#[must_use]
pub fn spawn(config: config::Printer, events: mpsc::Sender<PrinterEvent>) -> Handle {
    spawn_with(config, events, PrinterTiming::default())
}

/// [`spawn`] over a wire that is given instead of opened at the printer's port.
#[must_use]
pub fn spawn_over(way: Connector, config: config::Printer, events: mpsc::Sender<PrinterEvent>) -> Handle {
    begin(Port::Given(way), config, events, PrinterTiming::default())
}

/// [`spawn`] with other deadlines.
#[must_use]
pub fn spawn_with(config: config::Printer, events: mpsc::Sender<PrinterEvent>, timing: PrinterTiming) -> Handle {
    begin(Port::from(&config), config, events, timing)
}

fn begin(port: Port, config: config::Printer, events: mpsc::Sender<PrinterEvent>, timing: PrinterTiming) -> Handle {
    let (jobs, queue) = mpsc::channel(QUEUE);
    let (shown, seen) = watch::channel(Shown { state: PrinterStands::NotUsedYet, in_hand: false });
    let owner = Owner { port, timing, shown, paper: Paper::new(config), answers: None, says_done: true };
    tokio::spawn(owner.run(queue, events));
    Handle { jobs, seen, till_slips: Arc::new(Semaphore::new(TILL_SLIPS)) }
}

/// Asks a printer that no task owns how it is, for the doctor; `None` when it does not answer such questions. Nothing
/// is printed.
///
/// # Errors
/// When it cannot be reached.
pub async fn condition(config: &config::Printer) -> io::Result<Option<Condition>> {
    let timing = PrinterTiming::default();
    let mut wire = Port::from(config).open(timing.connect).await?;
    if config.status == Some(false) {
        return Ok(None);
    }
    asked(&mut wire, timing.status).await
}

/// The four questions; none when it does not answer them all in time. What it says besides is passed over.
async fn asked(wire: &mut Wire, limit: Duration) -> io::Result<Option<Condition>> {
    match timeout(limit, questions(wire, &mut false)).await {
        Ok(Ok(answers)) => Ok(Some(Condition::from_answers(answers))),
        // A printer that has only a way in (usblp: EINVAL), and one that is silent.
        Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidInput => Ok(None),
        Ok(Err(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// The way to the printer's task.
#[derive(Clone, Debug)]
pub struct Handle {
    jobs: mpsc::Sender<Job>,
    seen: watch::Receiver<Shown>,
    /// Places for slips of tills' own lines.
    till_slips: Arc<Semaphore>,
}

impl Handle {
    /// Puts a copy of a receipt, as it was composed, at the end of the queue; one that was printed before with a mark
    /// that says so. Never waits.
    ///
    /// # Errors
    /// [`QueueFull`]; no event follows then.
    pub fn print(&self, receipt: Receipt, page: Page, copy: ReceiptCopy, duplicate: bool) -> Result<(), QueueFull> {
        let slip = Slip::Receipt { sale: receipt.number, copy };
        self.put(Job { slip, content: Content::Receipt(Box::new(receipt), page), duplicate, torn: 0 })
    }

    /// The same for a close of day.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub fn print_close(&self, number: u64, page: Page, duplicate: bool) -> Result<(), QueueFull> {
        self.put(Job { slip: Slip::Close { number }, content: Content::Close(page), duplicate, torn: 0 })
    }

    /// Lines of a till's own, tried once: what becomes of them is said at the other end. Those that nobody waits for
    /// any longer when their turn comes are not printed.
    ///
    /// # Errors
    /// [`NotPrinted`].
    pub fn print_till_lines(
        &self,
        lines: Vec<TillLine>,
    ) -> Result<oneshot::Receiver<Result<(), NotPrinted>>, NotPrinted> {
        // Receipts wait for this printer already: these lines would come when their till has long given up.
        if let PrinterStands::Needs(need) = self.standing()
            && self.waiting() > 0
        {
            return Err(NotPrinted::NotBegun(need));
        }
        let place = Arc::clone(&self.till_slips).try_acquire_owned().map_err(|_| NotPrinted::OthersWait)?;
        let (told, becomes) = oneshot::channel();
        let content = Content::TillLines(lines, told, place);
        let put = self.put(Job { slip: Slip::TillLines, content, duplicate: false, torn: 0 });
        put.map_err(|_| NotPrinted::OthersWait)?;
        Ok(becomes)
    }

    fn put(&self, job: Job) -> Result<(), QueueFull> {
        self.jobs.try_send(job).map_err(|error| {
            let (mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) = error;
            QueueFull { slip: job.slip }
        })
    }

    /// The printer for the terminal's status: `ok`, `not used yet`, or what is wrong and what to do; and what waits for
    /// it.
    #[must_use]
    pub fn state(&self) -> String {
        let words = match self.standing() {
            PrinterStands::NotUsedYet => "not used yet".to_owned(),
            PrinterStands::Ready => "ok".to_owned(),
            PrinterStands::Needs(need) => need.to_string(),
        };
        self.with_waiting(words)
    }

    /// How it stands.
    #[must_use]
    pub fn standing(&self) -> PrinterStands {
        self.seen.borrow().state.clone()
    }

    /// What somebody has to do; the words fit behind "the printer is".
    #[must_use]
    pub fn attention(&self) -> Option<String> {
        let PrinterStands::Needs(need) = self.standing() else { return None };
        Some(self.with_waiting(need.to_string()))
    }

    /// How many receipts wait, the one that is being printed included.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity() + usize::from(self.seen.borrow().in_hand)
    }

    fn with_waiting(&self, words: String) -> String {
        match self.waiting() {
            0 => words,
            1 => format!("{words}; 1 receipt waits"),
            many => format!("{words}; {many} receipts wait"),
        }
    }
}

/// What the handles see.
#[derive(Clone, Debug)]
struct Shown {
    state: PrinterStands,
    /// A receipt was taken from the queue and is not printed yet.
    in_hand: bool,
}

/// How a printer stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrinterStands {
    /// Nobody has printed on it or looked at it yet.
    NotUsedYet,
    /// It prints, as far as it tells.
    Ready,
    /// Somebody.
    Needs(PrinterNeed),
}

/// What somebody has to see to. The words fit behind "the printer is".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrinterNeed {
    /// It says that it cannot print.
    #[error(transparent)]
    Trouble(Trouble),
    /// It prints, and not much longer.
    #[error("almost out of paper: have a roll ready")]
    PaperNearEnd,
    /// It cannot be reached.
    #[error("unreachable: {port}: {cause}; see to its power, cable and address")]
    Unreachable {
        /// Where it should be.
        port: String,
        /// The system's words.
        cause: String,
    },
    /// It broke off.
    #[error("interrupted in the middle of a receipt: {port}: {cause}; see to its paper, cover, power and cable")]
    Interrupted {
        /// Where it is.
        port: String,
        /// The system's words.
        cause: String,
    },
    /// The settings say that it answers about its state.
    #[error("silent about its state: switch its status answers on, or set status = false")]
    Silent,
}

/// Why a receipt is not on paper.
#[derive(Debug)]
enum Fault {
    /// Nothing was written.
    NotBegun(PrinterNeed),
    /// Part of it may be on paper.
    BrokeOff(PrinterNeed),
}

/// What a receipt becomes at this printer.
struct Paper {
    config: config::Printer,
    logo: Option<Logo>,
}

impl Paper {
    fn new(config: config::Printer) -> Self {
        // It was read once already, when the configuration was checked.
        let logo = config.logo.as_deref().and_then(|file| {
            let logo = logo::logo_file(file);
            logo.inspect_err(|error| tracing::warn!(%error, "receipts are printed without the logo")).ok()
        });
        Self { config, logo }
    }

    fn bytes(&self, job: &Job) -> Vec<u8> {
        let Self { config, logo } = self;
        let of_page = |page: &Page| match job.duplicate {
            true => page.as_duplicate().lines(config.columns),
            false => page.lines(config.columns),
        };
        let (lines, receipt): (Vec<PrintedLine>, _) = match &job.content {
            Content::Receipt(receipt, page) => (of_page(page), Some(receipt.as_ref())),
            Content::Close(page) => (of_page(page), None),
            Content::TillLines(lines, ..) => (till_lines(lines, config.columns), None),
        };
        let is_customers = matches!(job.slip, Slip::Receipt { copy: ReceiptCopy::Customer, .. });
        let for_customer = config.qr.as_deref().filter(|_| is_customers).zip(receipt);
        let content = for_customer.map(|(template, receipt)| qr::content(template, receipt));
        let sheet =
            Sheet { logo: logo.as_ref(), lines: &lines, qr: content.as_deref(), after_a_torn_one: job.torn > 0 };
        let config::Printer { code_page, code_page_number, cut, .. } = *config;
        escpos::encode(&sheet, &Dialect { code_page, code_page_number, cut })
    }
}

/// The task's own.
struct Owner {
    port: Port,
    timing: PrinterTiming,
    /// For the handles.
    shown: watch::Sender<Shown>,
    paper: Paper,
    /// Whether it answered when it was last asked how it is.
    answers: Option<bool>,
    /// It has not yet failed to say when a receipt was on paper.
    says_done: bool,
}

/// Nobody is left to print for.
struct Over;

impl Owner {
    async fn run(mut self, mut queue: mpsc::Receiver<Job>, events: mpsc::Sender<PrinterEvent>) {
        let mut next_look = Instant::now();
        loop {
            // A receipt that comes while it is looked ends the look: the connection is made anew.
            let looking = async {
                tokio::time::sleep_until(next_look).await;
                self.look().await;
            };
            tokio::select! {
                biased;
                job = queue.recv() => {
                    let Some(job) = job else { return };
                    self.shown.send_modify(|shown| shown.in_hand = true);
                    let done = match job.content {
                        Content::TillLines(..) => {
                            self.once(job).await;
                            Ok(())
                        }
                        _ => self.until_done(job, &events).await,
                    };
                    if done.is_err() {
                        return;
                    }
                    self.shown.send_modify(|shown| shown.in_hand = false);
                }
                () = looking => {}
            }
            next_look = Instant::now() + self.timing.look;
        }
    }

    /// With nothing to do: is it there, and what does it say of itself? Nothing is printed by it.
    async fn look(&mut self) {
        if self.paper.config.status == Some(false) {
            // Connecting alone tells little and takes the printer away from others.
            return std::future::pending().await;
        }
        let found = match self.port.open(self.timing.connect).await {
            Ok(mut wire) => self.ask(&mut wire).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(condition) => self.show(self.state_of(condition)),
            Err(error) => self.show(PrinterStands::Needs(self.unreachable(&error))),
        }
    }

    /// A till's own lines, unless nobody waits for them any longer: the till was told, or thinks, that they are not
    /// printed.
    async fn once(&mut self, job: Job) {
        if matches!(&job.content, Content::TillLines(_, told, _) if told.is_closed()) {
            return;
        }
        let printed = self.print(&job).await;
        let state = match &printed {
            Ok(state) => state.clone(),
            Err(Fault::NotBegun(need) | Fault::BrokeOff(need)) => PrinterStands::Needs(need.clone()),
        };
        self.show(state);
        let becomes = printed.map(drop).map_err(|fault| match fault {
            Fault::NotBegun(need) => NotPrinted::NotBegun(need),
            Fault::BrokeOff(need) => NotPrinted::BrokeOff(need),
        });
        if let Content::TillLines(_, told, place) = job.content {
            // Before the till hears of it and sends the next ones.
            drop(place);
            let _ = told.send(becomes);
        }
    }

    /// Tries until the receipt is printed, or broke off too often, or nobody is left who could mend anything.
    async fn until_done(&mut self, mut job: Job, events: &mpsc::Sender<PrinterEvent>) -> Result<(), Over> {
        let slip = job.slip;
        let (mut tries, mut told) = (0, String::new());
        loop {
            let event = match self.print(&job).await {
                Ok(state) => {
                    self.show(state);
                    PrinterEvent::Printed { slip, duplicate: job.duplicate }
                }
                Err(fault) => {
                    let (Fault::NotBegun(need) | Fault::BrokeOff(need)) = &fault;
                    let why = need.to_string();
                    tracing::warn!(%slip, why, "not printed");
                    self.show(PrinterStands::Needs(need.clone()));
                    if matches!(fault, Fault::BrokeOff(_)) {
                        job.duplicate = true;
                        job.torn += 1;
                    }
                    if job.torn < TORN_TRIES {
                        if told != why {
                            told.clone_from(&why);
                            events.send(PrinterEvent::Waits { slip, why }).await.map_err(|_| Over)?;
                        }
                        self.back_off(tries).await?;
                        tries += 1;
                        continue;
                    }
                    PrinterEvent::Failed { slip, why }
                }
            };
            return events.send(event).await.map_err(|_| Over);
        }
    }

    /// Waits before the next try; not when the agent is ending: its receipts are in the journal.
    async fn back_off(&self, tries: usize) -> Result<(), Over> {
        let pauses = &self.timing.back_off;
        let pause = pauses.get(tries).or(pauses.last()).copied().unwrap_or_default();
        tokio::select! {
            () = self.shown.closed() => Err(Over),
            () = sleep(pause) => Ok(()),
        }
    }

    /// One try.
    async fn print(&mut self, job: &Job) -> Result<PrinterStands, Fault> {
        let opened = self.port.open(self.timing.connect).await;
        let mut wire = opened.map_err(|error| Fault::NotBegun(self.unreachable(&error)))?;
        let condition = if self.is_asked() {
            let asked = self.ask(&mut wire).await;
            asked.map_err(|error| Fault::NotBegun(self.unreachable(&error)))?
        } else {
            None
        };
        if let Some(Condition::Trouble(trouble)) = condition {
            return Err(Fault::NotBegun(PrinterNeed::Trouble(trouble)));
        }
        if let Err(error) = wire.write(&self.paper.bytes(job), self.timing.write).await {
            wire.drop_unsent();
            return Err(self.interrupted(&error));
        }
        let end = match condition {
            Some(_) => self.until_on_paper(&mut wire).await?,
            None => End::Taken,
        };
        if end == End::Taken {
            wire.close(self.timing.close).await.map_err(|error| self.interrupted(&error))?;
        }
        Ok(self.state_of(condition))
    }

    /// Whether a receipt is worth the question: a printer that was silent is asked again when there is nothing to
    /// print.
    fn is_asked(&self) -> bool {
        self.paper.config.status.unwrap_or(self.answers != Some(false))
    }

    /// Asks, and remembers whether it answers at all.
    async fn ask(&mut self, wire: &mut Wire) -> io::Result<Option<Condition>> {
        let said = asked(wire, self.timing.status).await?;
        self.answers = Some(said.is_some());
        Ok(said)
    }

    /// Waits until the printer says that all it got is on paper. Trouble on the way is asked for again and again: a
    /// printer that has run out of paper says nothing by itself.
    async fn until_on_paper(&mut self, wire: &mut Wire) -> Result<End, Fault> {
        if self.says_done {
            let told = in_time(self.timing.write, wire.write(&status::TELL_WHEN_DONE, self.timing.write)).await;
            told.map_err(|error| self.interrupted(&error))?;
        }
        let deadline = Instant::now() + if self.says_done { self.timing.done } else { Duration::ZERO };
        loop {
            let waited = timeout_at(deadline.min(Instant::now() + self.timing.ask_again), done(wire)).await;
            match waited {
                Ok(Ok(end)) => return Ok(end),
                Ok(Err(error)) => return Err(self.interrupted(&error)),
                Err(_) => {}
            }
            // A torn connection is found by the next reading; a printer that has fallen silent is taken at its silence.
            let mut finished = false;
            match timeout(self.timing.status, questions(wire, &mut finished)).await {
                _ if finished => return Ok(End::OnPaper),
                Ok(Ok(answers)) => {
                    if let Condition::Trouble(trouble) = Condition::from_answers(answers) {
                        return Err(Fault::BrokeOff(PrinterNeed::Trouble(trouble)));
                    }
                }
                Ok(Err(error)) => return Err(self.interrupted(&error)),
                Err(_) => {}
            }
            if Instant::now() >= deadline {
                self.says_done = false;
                return Ok(End::Taken);
            }
        }
    }

    fn state_of(&self, condition: Option<Condition>) -> PrinterStands {
        match condition {
            Some(Condition::Trouble(trouble)) => PrinterStands::Needs(PrinterNeed::Trouble(trouble)),
            Some(Condition::PaperNearEnd) => PrinterStands::Needs(PrinterNeed::PaperNearEnd),
            None if self.paper.config.status == Some(true) && self.answers == Some(false) => {
                PrinterStands::Needs(PrinterNeed::Silent)
            }
            Some(Condition::Fine) | None => PrinterStands::Ready,
        }
    }

    fn unreachable(&self, error: &io::Error) -> PrinterNeed {
        PrinterNeed::Unreachable { port: self.port.to_string(), cause: error.to_string() }
    }

    fn interrupted(&self, error: &io::Error) -> Fault {
        Fault::BrokeOff(PrinterNeed::Interrupted { port: self.port.to_string(), cause: error.to_string() })
    }

    fn show(&self, state: PrinterStands) {
        self.shown.send_if_modified(|shown| {
            let changed = shown.state != state;
            shown.state = state;
            changed
        });
    }
}

/// How the printing of a receipt ended well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It said that it is on paper.
    OnPaper,
    /// It took all bytes.
    Taken,
}

/// The four answers. That a receipt is finished may be said among them.
async fn questions(wire: &mut Wire, finished: &mut bool) -> io::Result<[u8; 4]> {
    let mut answers = [0; 4];
    for (question, answer) in status::QUESTIONS.iter().zip(&mut answers) {
        // The caller has the deadline.
        wire.write(question, Duration::MAX).await?;
        *answer = heard(wire, |byte| {
            *finished |= status::is_done(byte);
            status::is_answer(byte)
        })
        .await?
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    }
    Ok(answers)
}

async fn done(wire: &mut Wire) -> io::Result<End> {
    // One that closes the connection in good order has taken everything.
    Ok(heard(wire, status::is_done).await?.map_or(End::Taken, |_| End::OnPaper))
}

/// The next byte that is one of those wanted; others are passed over. None when the printer has closed.
async fn heard(wire: &mut Wire, mut wanted: impl FnMut(u8) -> bool) -> io::Result<Option<u8>> {
    let mut byte = [0];
    loop {
        if wire.read(&mut byte).await? == 0 {
            return Ok(None);
        }
        if wanted(byte[0]) {
            return Ok(Some(byte[0]));
        }
    }
}
