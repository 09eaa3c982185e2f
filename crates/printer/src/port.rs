//! The owner of the printer: a task that has the connection, and a handle for giving it receipts.
//!
//! Giving a receipt never waits. The task connects for each receipt, so a printer may be switched off, moved and
//! shared. A receipt that cannot be printed waits, and later receipts wait for it:
//!
//! ```text
//!  connect ─▶ ask for its state ─▶ write ─▶ wait until it is on paper ─▶ Printed
//!     │            │                  └──────────────┴─ fails: part of it may be on paper, the next try is a DUPLICATE
//!     └────────────┴─ fails: nothing was printed
//!                  └─▶ Waits, retry, with growing pauses ─▶ connect …
//! ```
//!
//! A printer that does not answer DLE EOT cannot report its state, so the data that it accepted counts as printed.
//! While there is nothing to print, the task checks the printer regularly. So it discovers an empty roll before the
//! next customer comes.
//!
//! A till's own lines are tried once and not stored. The till learns the result and can send them again.
//!
//! This module gives no proof that a receipt is on paper, and does not store receipts. Waiting receipts are lost here
//! when the agent ends. Every receipt is in the journal, and `pos-agent receipt --print` prints it again.

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
use pos_words::{Message, Sentence};

use super::Page;
use super::escpos::{self, Dialect, Sheet};
use super::layout::{PrintedLine, TillLine, till_lines};
use super::status::{self, Condition, Trouble};
use super::wire::{Port, Wire, in_time};
use pos_daemon::wire::Connector;

/// Maximum number of waiting slips: both copies of 32 transactions, more than occur while a paper roll is changed.
pub const QUEUE: usize = 64;
/// Maximum number of waiting slips with tills' own lines, because the queue is for receipts.
pub const TILL_SLIPS: usize = 4;
/// Maximum number of tries of a receipt that breaks off in the middle each time. A printer that always does so must not
/// use up the roll.
pub const TORN_TRIES: u32 = 3;

/// The deadlines and pauses of the printer's task.
#[derive(Clone, Debug)]
pub struct PrinterTiming {
    /// The time for opening the connection.
    pub connect: Duration,
    /// The maximum time between two bytes that the printer accepts.
    pub write: Duration,
    /// The time for the printer to close a TCP connection after the last byte. If the printer does not close it, the
    /// slip counts as printed anyway.
    pub close: Duration,
    /// The time for the answers to all four questions about the printer's state.
    pub status: Duration,
    /// The time for a printer that reports its state to say that a receipt is on paper. After that time without a
    /// reported problem, the receipt counts as printed.
    pub done: Duration,
    /// The pause between two questions during the wait for a receipt to be on paper.
    pub ask_again: Duration,
    /// The pause between two checks of an idle printer.
    pub look: Duration,
    /// The time after the task's start in which an unreachable printer is checked at the shorter pause `look_early`.
    pub early: Duration,
    /// The pause between two checks of an idle printer that is unreachable during `early`.
    pub look_early: Duration,
    /// The pause before each further try. The last one applies to all that follow.
    pub back_off: Vec<Duration>,
}

impl Default for PrinterTiming {
    fn default() -> Self {
        Self {
            // A printer is in the same network. Three SYNs, 1 s and 2 s apart, still fit.
            connect: Duration::from_secs(5),
            // This is longer than any printer stops the flow while it prints its buffer. 4 KB, or 60 lines, take about
            // 5 s.
            write: Duration::from_secs(20),
            // Many printers close immediately, some only when the receipt is on paper, and some never.
            close: Duration::from_secs(3),
            // Four bytes each way take 8 ms at 9600 baud. Printers answer immediately, even while they print.
            status: Duration::from_secs(1),
            // The slowest printers print 60 lines in this time.
            done: Duration::from_secs(8),
            ask_again: Duration::from_secs(1),
            // This is well before the next customer, with very little traffic.
            look: Duration::from_secs(30),
            // At boot, the agent starts before the kernel has found a USB printer, which takes some seconds.
            early: Duration::from_secs(60),
            look_early: Duration::from_secs(1),
            // A printer that was just switched on is ready within 15 s. A printer that is not ready by then needs a
            // person, who afterwards waits at most 15 s.
            back_off: [1, 2, 4, 8, 15].map(Duration::from_secs).to_vec(),
        }
    }
}

/// The identity of a printed slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// A copy of a receipt.
    Receipt {
        /// The transaction's sequence number.
        sale: SaleNumber,
        /// The recipient of the copy.
        copy: ReceiptCopy,
    },
    /// A close of day.
    Close {
        /// The close's number.
        number: u64,
    },
    /// A till's own lines.
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
    /// Returns the command that prints the slip again.
    fn again(self) -> String {
        match self {
            Self::Receipt { .. } => "pos-agent receipt … --print".to_owned(),
            Self::Close { number } => format!("pos-agent close print {number}"),
            Self::TillLines => "at the till".to_owned(),
        }
    }
}

/// The result of a slip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrinterEvent {
    /// The printer accepted the whole slip and, if it reports this, said that the slip is on paper.
    Printed {
        /// The slip.
        slip: Slip,
        /// `true` if the slip has the duplicate mark.
        duplicate: bool,
    },
    /// The slip cannot be printed at present and is kept until it can. This is reported once for each reason.
    Waits {
        /// The slip.
        slip: Slip,
        /// The problem and its remedy, in human-readable form.
        why: String,
    },
    /// The slip broke off in the middle [`TORN_TRIES`] times. It is not retried automatically.
    Failed {
        /// The slip.
        slip: Slip,
        /// The problem and its remedy, in human-readable form.
        why: String,
    },
}

/// The error for more than [`QUEUE`] waiting slips. This slip was not accepted, and no other slip was dropped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{QUEUE} receipts are already waiting for the printer; check the printer, then print the {slip} again: {}", slip.again())]
pub struct QueueFull {
    /// The slip.
    pub slip: Slip,
}

/// The reason why a till's own lines are not on paper. They are not tried again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPrinted {
    /// Nothing was written.
    #[error("the printer is {0}; nothing was printed")]
    NotBegun(PrinterNeed),
    /// The printing broke off.
    #[error("the printer is {0}; a part may be on paper")]
    BrokeOff(PrinterNeed),
    /// There are already [`TILL_SLIPS`] waiting slips from tills, or [`QUEUE`] receipts.
    #[error("other slips are waiting for the printer; nothing was printed")]
    OthersWait,
}

/// A queued slip.
#[derive(Debug)]
struct Job {
    slip: Slip,
    content: Content,
    /// `true` if the slip was, or may have been, printed before. It then gets the duplicate mark.
    duplicate: bool,
    /// The number of tries in which printing broke off in the middle.
    torn: u32,
}

/// The content to print.
#[derive(Debug)]
enum Content {
    /// A copy of a receipt, with the receipt itself for the QR code.
    Receipt(Box<Receipt>, Page),
    /// A close of day.
    Close(Page),
    /// A till's own lines, the sender of the result for the till, and a permit for one of the few waiting slips.
    TillLines(Vec<TillLine>, oneshot::Sender<Result<(), NotPrinted>>, OwnedSemaphorePermit),
}

/// Starts the task that owns a printer. It ends after the last handle is dropped and all printable receipts are
/// printed. `events` gets the result of each slip. While no task reads `events`, the printer waits.
#[must_use]
pub fn spawn(config: config::Printer, events: mpsc::Sender<PrinterEvent>) -> Handle {
    spawn_with(config, events, PrinterTiming::default())
}

/// Starts the task like [`spawn`], on a stream that the caller provides.
#[must_use]
pub fn spawn_over(way: Connector, config: config::Printer, events: mpsc::Sender<PrinterEvent>) -> Handle {
    begin(Port::Given(way), config, events, PrinterTiming::default())
}

/// Starts the task like [`spawn`], with other deadlines.
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

/// Asks a printer that no task owns for its state, for the doctor. Returns `None` if the printer does not answer such
/// questions. Prints nothing.
///
/// # Errors
/// Fails if the printer is unreachable.
pub async fn condition(config: &config::Printer) -> io::Result<Option<Condition>> {
    let timing = PrinterTiming::default();
    let mut wire = Port::from(config).open(timing.connect).await?;
    if config.status == Some(false) {
        return Ok(None);
    }
    asked(&mut wire, timing.status).await
}

/// Asks the four questions. Returns `None` if the printer does not answer all of them in time. Other bytes are skipped.
async fn asked(wire: &mut Wire, limit: Duration) -> io::Result<Option<Condition>> {
    match timeout(limit, questions(wire, &mut false)).await {
        Ok(Ok(answers)) => Ok(Some(Condition::from_answers(answers))),
        // The printer has no return channel (usblp: EINVAL). A silent printer is handled below.
        Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidInput => Ok(None),
        Ok(Err(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// A handle of the printer's task.
#[derive(Clone, Debug)]
pub struct Handle {
    jobs: mpsc::Sender<Job>,
    seen: watch::Receiver<Shown>,
    /// The permits for waiting slips with tills' own lines.
    till_slips: Arc<Semaphore>,
}

impl Handle {
    /// Adds a composed copy of a receipt to the queue. A copy that was printed before gets a mark. This call never
    /// waits.
    ///
    /// # Errors
    /// Returns [`QueueFull`]. No event follows then.
    pub fn print(&self, receipt: Receipt, page: Page, copy: ReceiptCopy, duplicate: bool) -> Result<(), QueueFull> {
        let slip = Slip::Receipt { sale: receipt.number, copy };
        self.put(Job { slip, content: Content::Receipt(Box::new(receipt), page), duplicate, torn: 0 })
    }

    /// Adds the slip of a close of day to the queue, like [`Self::print`].
    ///
    /// # Errors
    /// Fails like [`Self::print`].
    pub fn print_close(&self, number: u64, page: Page, duplicate: bool) -> Result<(), QueueFull> {
        self.put(Job { slip: Slip::Close { number }, content: Content::Close(page), duplicate, torn: 0 })
    }

    /// Prints a till's own lines, with one try. The returned receiver gets the result. If it is dropped before the
    /// printer gets to the lines, they are not printed.
    ///
    /// # Errors
    /// Returns [`NotPrinted`].
    pub fn print_till_lines(
        &self,
        lines: Vec<TillLine>,
    ) -> Result<oneshot::Receiver<Result<(), NotPrinted>>, NotPrinted> {
        // Receipts already wait for this printer. These lines would be printed long after their till has stopped
        // waiting.
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

    /// Returns the printer's state for the terminal's status: `ok`, `not used yet`, or the problem and its remedy. The
    /// number of waiting receipts follows.
    #[must_use]
    pub fn state(&self) -> Sentence {
        let state = match self.standing() {
            PrinterStands::NotUsedYet => Message::PrinterNotUsedYet.into(),
            PrinterStands::Ready => Message::PrinterReady.into(),
            PrinterStands::Needs(need) => need.to_string().into(),
        };
        match self.waiting() {
            0 => state,
            1 => Message::PrinterOneWaits.with("why", state),
            many => Message::PrinterSomeWait.with("why", state).with("count", many.to_string()),
        }
    }

    /// Returns the printer's state.
    #[must_use]
    pub fn standing(&self) -> PrinterStands {
        self.seen.borrow().state.clone()
    }

    /// Returns whether a person must do something about the printer.
    #[must_use]
    pub fn needs_attention(&self) -> bool {
        matches!(self.standing(), PrinterStands::Needs(_))
    }

    /// Returns the number of waiting receipts, including the one that is being printed.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity() + usize::from(self.seen.borrow().in_hand)
    }
}

/// The state that the handles see.
#[derive(Clone, Debug)]
struct Shown {
    state: PrinterStands,
    /// `true` if a receipt was taken from the queue but is not printed yet.
    in_hand: bool,
}

/// The state of a printer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrinterStands {
    /// The printer has not been used or checked yet.
    NotUsedYet,
    /// The printer prints, as far as it reports its state.
    Ready,
    /// The printer needs help from a person.
    Needs(PrinterNeed),
}

/// The action that a person must take. The words complete the phrase "the printer is …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrinterNeed {
    /// The printer says that it cannot print.
    #[error(transparent)]
    Trouble(Trouble),
    /// The printer will soon be out of paper.
    #[error("almost out of paper: have a roll ready")]
    PaperNearEnd,
    /// The printer is unreachable.
    #[error("unreachable: {port}: {cause}; check its power, cable and address")]
    Unreachable {
        /// The configured port.
        port: String,
        /// The system's error text.
        cause: String,
    },
    /// The printing broke off.
    #[error("interrupted in the middle of a receipt: {port}: {cause}; check its paper, cover, power and cable")]
    Interrupted {
        /// The configured port.
        port: String,
        /// The system's error text.
        cause: String,
    },
    /// According to the settings the printer reports its state, but it does not answer.
    #[error("not reporting its state: switch on the printer's status answers, or set status = false")]
    Silent,
}

/// The reason why a receipt is not on paper.
#[derive(Debug)]
enum Fault {
    /// Nothing was written.
    NotBegun(PrinterNeed),
    /// Part of it may be on paper.
    BrokeOff(PrinterNeed),
}

/// A printer's own form of a receipt.
struct Paper {
    config: config::Printer,
    logo: Option<Logo>,
}

impl Paper {
    fn new(config: config::Printer) -> Self {
        // The file was already read when the configuration was checked.
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
        let for_customer = config.qr.as_ref().filter(|_| is_customers).zip(receipt);
        let content = for_customer.map(|(template, receipt)| template.fill(receipt));
        let sheet =
            Sheet { logo: logo.as_ref(), lines: &lines, qr: content.as_deref(), after_a_torn_one: job.torn > 0 };
        let config::Printer { code_page, code_page_number, cut, .. } = *config;
        escpos::encode(&sheet, &Dialect { code_page, code_page_number, cut })
    }
}

/// The state of the task.
struct Owner {
    port: Port,
    timing: PrinterTiming,
    /// The state that the handles see.
    shown: watch::Sender<Shown>,
    paper: Paper,
    /// The printer's ability to answer, according to the latest questions about its state.
    answers: Option<bool>,
    /// `true` until the printer fails to report that a receipt is on paper.
    says_done: bool,
}

/// No handle is left, or no reader of events.
struct Over;

impl Owner {
    async fn run(mut self, mut queue: mpsc::Receiver<Job>, events: mpsc::Sender<PrinterEvent>) {
        let mut next_look = Instant::now();
        let early_until = next_look + self.timing.early;
        loop {
            // A receipt that arrives during a check ends the check, and the task connects again.
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
            let now = Instant::now();
            let is_early = now < early_until && self.is_unreachable();
            next_look = now + if is_early { self.timing.look_early } else { self.timing.look };
        }
    }

    /// Checks whether an idle printer is present, and its state. Prints nothing.
    async fn look(&mut self) {
        if self.paper.config.status == Some(false) {
            // Connecting without a question reveals little and blocks the printer for other devices.
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

    /// Prints a till's own lines, unless the till no longer waits for them. Such a till already counts them as not
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
            // The permit is released before the till learns the result and sends the next lines.
            drop(place);
            let _ = told.send(becomes);
        }
    }

    /// Tries until the receipt is printed, printing has broken off too often, or the agent ends.
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

    /// Waits before the next try. Does not wait if the agent is ending, because the receipts are in the journal.
    async fn back_off(&self, tries: usize) -> Result<(), Over> {
        let pauses = &self.timing.back_off;
        let pause = pauses.get(tries).or(pauses.last()).copied().unwrap_or_default();
        tokio::select! {
            () = self.shown.closed() => Err(Over),
            () = sleep(pause) => Ok(()),
        }
    }

    /// Tries once.
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

    /// Returns whether to ask the printer before a receipt. A printer that was silent is asked again only while there
    /// is nothing to print.
    fn is_asked(&self) -> bool {
        self.paper.config.status.unwrap_or(self.answers != Some(false))
    }

    /// Asks the printer for its state, and records whether it answers at all.
    async fn ask(&mut self, wire: &mut Wire) -> io::Result<Option<Condition>> {
        let said = asked(wire, self.timing.status).await?;
        self.answers = Some(said.is_some());
        Ok(said)
    }

    /// Waits until the printer reports that all data is on paper. Asks about problems repeatedly, because a printer
    /// that has run out of paper does not report it unasked.
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
            // If the connection is broken, the next read fails. A printer that has fallen silent counts as finished at
            // the deadline.
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

    fn is_unreachable(&self) -> bool {
        matches!(self.shown.borrow().state, PrinterStands::Needs(PrinterNeed::Unreachable { .. }))
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

/// How the printing of a receipt ended successfully.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The printer reported that the receipt is on paper.
    OnPaper,
    /// The printer accepted all bytes.
    Taken,
}

/// Returns the four answers. The message that a receipt is finished may come between them.
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
    // A printer that closes the connection properly has accepted all bytes.
    Ok(heard(wire, status::is_done).await?.map_or(End::Taken, |_| End::OnPaper))
}

/// Returns the next wanted byte and skips others. Returns `None` if the printer has closed the connection.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    use pos_daemon::wire::{Connecting, Stream};

    /// Checks a USB printer at boot. The kernel finds it after some seconds. The pause of 30 s applies from then on.
    #[tokio::test(start_paused = true)]
    async fn a_printer_that_is_absent_at_the_start_is_checked_each_second_for_a_minute() {
        let found_after_3_s = vec![0, 1, 2, 3, 33, 63, 93, 123];
        let never_found = (0..=60).chain([90, 120]).collect();
        for (found_after, checks, needs_attention) in [(3, found_after_3_s, false), (1000, never_found, true)] {
            let (begun, seconds) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
            let tried = Arc::clone(&seconds);
            let way: Connector = Arc::new(move || -> Connecting {
                tried.lock().unwrap().push(begun.elapsed().as_secs());
                let is_there = begun.elapsed().as_secs() >= found_after;
                // Each byte that this printer sends is the answer "no problem".
                let printer =
                    || Box::new(tokio::io::join(tokio::io::repeat(0x12), tokio::io::sink())) as Box<dyn Stream>;
                Box::pin(async move { is_there.then(printer).ok_or_else(|| io::ErrorKind::NotFound.into()) })
            });
            let config = serde_json::json!({ "name": "printer-1", "port": "/dev/usb/lp0" });
            let (events, _heard) = mpsc::channel(4);
            let handle = spawn_over(way, serde_json::from_value(config).unwrap(), events);
            sleep(Duration::from_secs(130)).await;
            assert_eq!(*seconds.lock().unwrap(), checks);
            assert_eq!(handle.needs_attention(), needs_attention);
        }
    }
}
