//! The agent. It connects the tills, the reader, the gateway, the printers and the journal with the transactions. No
//! other module knows all of them.
//!
//! One loop waits for the next event and passes it to the part that handles it:
//!
//! | module | content |
//! |---|---|
//! | `engine` | owns the open transactions and alone changes them: event, core, journal, actions |
//! | `devices` | reader, gateway and printers, each with its own state; the trainer replaces them in training mode |
//! | `views` | a transaction, the status and the metrics, each computed from facts |
//! | `tills`, `tasks` | the requests of tills, and the results of the agent's own tasks |
//! | `given` | the fleet's settings and keys: begun, kept, given back |
//! | `fleet`, `restart` | the fleet's commands, and the restart when no card and no till waits |
//! | all others | one module per subject: operators, closes, clock, limits, outdated journal copy, updates, the log |
//!
//! The agent decides nothing about money. The core's module `transaction` does.

pub(crate) mod clock;
mod close_count;
mod closes;
mod counting;
mod devices;
mod earlier;
mod engine;
mod fleet;
mod given;
mod identity;
mod journal_writer;
mod limits;
mod log_level;
mod old_copy;
mod operators;
mod refusals;
mod restart;
mod shop_time;
mod start;
mod surroundings;
mod task_results;
mod tasks;
mod teller;
mod tills;
mod training_mode;
mod turns;
mod updates;
mod views;

use std::future::Future;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::overlay::{FleetGiven, Loaded};
use crate::till::{self, Command, ProgressLog, Served, ServedTerminal, Wires};
use pos_core::transaction::Standing;
use pos_daemon::systemd;
use pos_printer::{PrinterEvent, Slip};
use pos_terms::money::{Currency, MoneyError};

use clock::ClockWatch;
use closes::CloseControl;
use devices::Devices;
use engine::Engine;
use engine::open_transactions::OpenTransaction;
use fleet::FleetControl;
use given::RestartBy;
use log_level::LogControl;
use old_copy::Beside;
use refusals::RefusalLog;
pub use restart::AgentEnd;
use restart::RestartWanted;
use start::Ends;
pub use surroundings::{AnyBook, BoardClock, BookWrapper, LinkLook, Random, Surroundings};
use training_mode::TrainingMode;
use turns::{Round, Source};
pub use updates::this_program;
use updates::{Answered, Answers};

/// The reason why the agent does not start. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An invalid currency or amount in the configuration. `config::load` normally refuses such a file first.
    #[error("[terminal] {key}: {cause}")]
    Money {
        /// The key of the setting.
        key: &'static str,
        /// The error in its value.
        cause: MoneyError,
    },
    /// An invalid limit in the configuration above which a supervisor must confirm. `config::load` normally refuses
    /// such a file first.
    #[error("[operators.supervisor-above] {key}: {cause}")]
    SupervisorAbove {
        /// The key of the setting.
        key: &'static str,
        /// The error in its value.
        cause: MoneyError,
    },
    /// A reader's family that the program was built without. `config::load` normally refuses such a file first.
    #[error("[reader] protocol: {0}")]
    Reader(#[from] pos_reader::FamilyLeftOut),
    /// A journal error.
    #[error(transparent)]
    Journal(#[from] pos_journal::Error),
    /// An error in the gateway's client, for example in its CA file or token.
    #[error(transparent)]
    Gateway(#[from] pos_gateway::Error),
    /// An error with the tills' sockets.
    #[error(transparent)]
    Till(#[from] till::Error),
    /// An error with the sockets that systemd passes.
    #[error(transparent)]
    Sockets(#[from] systemd::SocketsError),
}

/// The number of progress steps kept for a listener that is slow or briefly disconnected. A transaction has about ten
/// steps of about 2 KiB each.
const PROGRESS_KEPT: usize = 256;
/// The number of till commands that may wait while another is carried out.
const COMMANDS_WAITING: usize = 32;
/// The time that a stop waits for running transactions. It is longer than the gateway needs to answer and shorter than
/// systemd's time-out (90 s).
const STOP_PATIENCE: Duration = Duration::from_secs(60);
/// The longest sleep of the loop without a watchdog. Events wake the loop earlier.
const NOBODY_WATCHES: Duration = Duration::from_secs(3600);
/// The time allowed for printing the last receipts when the agent stops. The journal keeps them even if they are not
/// printed.
const LAST_PAPER: Duration = Duration::from_secs(10);

/// Runs the terminal until `shutdown` completes.
///
/// # Errors
/// Returns an [`Error`] only before the first transaction can begin. The agent handles later faults while it runs, and
/// the status shows them.
pub async fn run(loaded: impl Into<Loaded>, shutdown: impl Future<Output = ()>) -> Result<AgentEnd, Error> {
    let loaded = loaded.into();
    let config = &loaded.config;
    let currency = Currency::from_code(&config.terminal.currency);
    let currency = currency.map_err(|cause| Error::Money { key: "currency", cause })?;
    let (sender, commands) = mpsc::channel(COMMANDS_WAITING);
    let progress = ProgressLog::new(PROGRESS_KEPT);
    let (till, settings) = (progress.clone(), config.till.clone());
    let words = devices::words(&config.terminal);
    let terminal = ServedTerminal { operators_required: config.operators.required, currency, words };
    let (agent, ends) = start::start(loaded, Surroundings::default(), Wires { commands, progress })?;
    // If the start fails, the caller has the sockets.
    let given = systemd::Sockets::from_env()?;
    let served = till::serve(&settings, terminal, given, sender, till).await?;
    if let Some(address) = served.address() {
        tracing::info!(%address, "tills are served");
    }
    Ok(work(agent, ends, Some(served), systemd::Notify::from_env(), shutdown).await)
}

/// Runs like [`run`], but with the given surroundings and till channels. It binds no sockets.
///
/// # Errors
/// Returns the same errors as [`run`].
pub async fn run_in(
    surroundings: Surroundings,
    tills: Wires,
    loaded: impl Into<Loaded>,
    shutdown: impl Future<Output = ()>,
) -> Result<AgentEnd, Error> {
    let (agent, ends) = start::start(loaded.into(), surroundings, tills)?;
    Ok(work(agent, ends, None, systemd::Notify::from_env(), shutdown).await)
}

/// Runs the loop.
async fn work(
    mut agent: Agent,
    mut ends: Ends,
    tills: Option<Served>,
    notify: systemd::Notify,
    shutdown: impl Future<Output = ()>,
) -> AgentEnd {
    let mut shutdown = std::pin::pin!(shutdown);
    let mut stopping = None;
    // False if the agent stops in order to restart.
    let mut is_told = false;
    notify.ready();
    let mut watchdog = tokio::time::interval(systemd::watchdog_interval().unwrap_or(NOBODY_WATCHES));
    watchdog.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut round = Round::default();
    loop {
        agent.catch_up();
        if stopping.is_some_and(|since: Instant| agent.may_stop(since)) {
            notify.stopping();
            end(agent, ends, tills).await;
            return if is_told { AgentEnd::Stopped } else { AgentEnd::Restart };
        }
        if stopping.is_none() && agent.stops_for_given() {
            tracing::info!("the terminal was not idle in time, and the agent stops in order to restart");
            stopping = Some(agent.asks_the_clock());
            agent.engine.stop_taking_sales();
        }
        if stopping.is_none() && (agent.restarts_for_given() || agent.restarts_now()) {
            tracing::info!("the terminal is idle, and the agent restarts");
            notify.stopping();
            end(agent, ends, tills).await;
            return AgentEnd::Restart;
        }
        let deadline = agent.next_deadline();
        tokio::select! {
            // If several sources are ready, the first one that has turns left is served. Rare events come first because
            // they must not starve.
            biased;
            _ = watchdog.tick() => {
                notify.watchdog();
                agent.look_at_the_journal();
                // The system's files may answer late, which must not delay a transaction.
                if agent.engine.devices.reader.in_use_by.is_none() {
                    agent.engine.devices.gateway.look_at_the_link();
                }
                notify.status(&agent.status_line());
            }
            () = &mut shutdown, if !is_told => {
                is_told = true;
                stopping = stopping.or(Some(agent.asks_the_clock()));
                agent.engine.stop_taking_sales();
            }
            Some(result) = ends.tasks.recv(), if round.has(Source::Tasks) => {
                round.take(Source::Tasks);
                agent.task_brought(result);
            }
            Some(event) = ends.reader.recv(), if round.has(Source::Reader) => {
                round.take(Source::Reader);
                agent.engine.reader_says(event);
            }
            () = tokio::time::sleep_until(deadline), if round.has(Source::Time) => {
                round.take(Source::Time);
                agent.engine.deadline_passed();
            }
            Some(command) = ends.commands.recv(), if round.has(Source::Tills) => {
                round.take(Source::Tills);
                agent.till_asks(command);
            }
            Some(event) = ends.printer.recv(), if round.has(Source::Printers) => {
                round.take(Source::Printers);
                agent.printer_says(event);
            }
            // No source that has turns left is ready. Pending messages go out before the loop waits.
            () = std::future::ready(()), if round.is_used() || agent.engine.sales.has_something_to_tell() => {
                round = Round::default();
            }
        }
        // Devices act first; messages and receipts follow.
        tokio::task::yield_now().await;
        agent.tell_and_print();
    }
}

/// Sends the last messages, receipts and answers when the agent stops.
async fn end(mut agent: Agent, mut ends: Ends, tills: Option<Served>) {
    agent.tell_and_print();
    agent.look_at_the_journal();
    agent.rescue_the_journal();
    agent.note_the_end();
    if let Some(tills) = tills {
        tills.close().await;
    }
    // A printer's task ends when no sender is left and its queue is printed.
    drop(agent);
    let last_paper = async { while ends.printer.recv().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_PAPER, last_paper).await;
}

/// The parts that the loop drives: the engine, and the parts that change no transaction.
struct Agent {
    engine: Engine,
    closing: CloseControl,
    training: TrainingMode,
    log: LogControl,
    refusals: RefusalLog,
    fleet: FleetControl,
    /// The restart that waits until the terminal is idle.
    restart: Option<RestartWanted>,
    /// The fleet's settings and keys, if the terminal belongs to a fleet.
    given: Option<FleetGiven>,
    /// The restart because of the fleet's settings.
    restart_by: Option<RestartBy>,
    clock_watch: ClockWatch,
    /// The devices that answer this process, and those that answered the previous one.
    answered: Answered,
    /// The requests that wait for the gateway's list by date.
    waiting_for_list: Vec<Command>,
}

impl Agent {
    /// Checks everything outside the transactions, and then handles all queued events.
    fn catch_up(&mut self) {
        if !self.engine.identity.trains() {
            self.look_outside();
        }
        let engine = &mut self.engine;
        if engine.journal.fault.as_ref().is_some_and(|fault| fault.retry_at <= engine.clock.monotonic()) {
            self.retry_journal();
        }
        let engine = &mut self.engine;
        engine.hear_what_waits();
        engine.mark_old_copy();
        engine.journal.keep_small(engine.devices.reader.in_use_by.is_some());
    }

    /// Tells the tills and prints. Then answers the requests that waited for a complete receipt.
    fn tell_and_print(&mut self) {
        for command in self.engine.tell_and_print() {
            self.till_asks(command);
        }
    }

    /// Checks that the journal is in place before the agent promises anything that depends on it.
    fn look_at_the_journal(&mut self) {
        if let Err(error) = self.engine.journal.is_in_place() {
            self.engine.journal_is_faulty(&error);
        }
        // The terminal's log does not report on the training journal's disk.
        if !self.engine.identity.trains() {
            self.engine.journal.look_at_the_room();
        }
    }

    /// Saves the open transactions of a journal that was removed.
    fn rescue_the_journal(&mut self) {
        let Engine { journal, clock, teller, .. } = &mut self.engine;
        if let Some(why) = journal.rescue(clock.unix_ms()) {
            teller.terminal_alarm(why);
        }
    }

    /// Resumes the transactions that are only on the disk, once the journal can be written. Until then, the agent
    /// retries.
    fn retry_journal(&mut self) {
        self.rescue_the_journal();
        let engine = &mut self.engine;
        match engine.journal.try_again(&engine.sales) {
            // The agent completes none of them until a person has decided whose journal this is.
            Ok(_) if engine.journal.is_barred() => {}
            Ok(sales) => engine.resume(sales),
            Err(error) => engine.journal_is_faulty(&error),
        }
    }

    /// Checks the parts outside the transactions. Training mode has none.
    fn look_outside(&mut self) {
        let engine = &mut self.engine;
        engine.look_at_the_clocks();
        self.clock_watch.look(&engine.clock);
        // Some checks must wait while a transaction uses the reader.
        let is_quiet = engine.devices.reader.in_use_by.is_none();
        if is_quiet {
            engine.devices.gateway.warn_of_expiry();
        }
        let Engine { journal, sales, identity, clock, old_copy, devices, .. } = &mut *engine;
        let looked = old_copy.look(&devices.gateway, Beside { journal, sales, identity, clock });
        looked.unwrap_or_else(|error| engine.journal_is_faulty(&error));
        if is_quiet {
            engine.devices.gateway.probe_daily();
        }
        self.log.end_when_due();
        self.look_at_given();
        if is_quiet {
            let (answers, now) = (self.answers(), self.engine.clock.monotonic());
            self.answered.note(&mut self.engine.journal, answers, now);
        }
    }

    /// Returns the devices that are answering.
    fn answers(&self) -> Answers {
        let devices = &self.engine.devices;
        Answers { reader: devices.reader.state.is_ready(), gateway: devices.gateway.is_reached() }
    }

    fn next_deadline(&self) -> Instant {
        let Engine { clock, devices, journal, sales, old_copy, identity, .. } = &self.engine;
        let Devices { reader, gateway, .. } = devices;
        let retry = journal.fault.as_ref().map(|fault| fault.retry_at);
        let far = clock.monotonic() + Duration::from_secs(3600);
        let probe = (reader.in_use_by.is_none() && !identity.trains()).then(|| gateway.due());
        let due = [sales.due(), reader.slot.due(), retry, old_copy.due(gateway), probe, self.log.due()];
        let due = due.into_iter().chain([self.restart_due(), self.given_due()]);
        clock.instant(due.flatten().fold(far, Duration::min))
    }

    #[allow(clippy::disallowed_methods, reason = "the agent is where the clock is asked")]
    fn asks_the_clock(&self) -> Instant {
        Instant::now()
    }

    /// Returns whether the agent may stop. Transactions that wait only for an answer, a card, a signature or the till
    /// may end first. Look-ups continue after the next start.
    fn may_stop(&self, since: Instant) -> bool {
        let Engine { sales, old_copy, devices, .. } = &self.engine;
        let runs = |active: &OpenTransaction| match active.sale().standing() {
            Standing::Waiting | Standing::InProgress | Standing::AtSignature | Standing::AwaitingTill { .. } => {
                !active.is_stuck() && !old_copy.holds_up(active.number())
            }
            _ => devices.reader.in_use_by == Some(active.number()) && !active.sale().is_settled(),
        };
        !sales.iter().any(runs) || self.asks_the_clock().duration_since(since) > STOP_PATIENCE
    }

    /// Announces a printer's report. This changes no transaction.
    fn printer_says(&mut self, event: PrinterEvent) {
        let engine = &self.engine;
        // A report about a receipt goes to its till; a report about a close goes to every till.
        let announce = |slip: Slip, step: &str, text: &str| match slip {
            Slip::Receipt { sale, .. } => engine.teller.about_number(engine.known(), sale, step, text),
            Slip::Close { .. } => engine.teller.terminal(step, text),
            // The till receives the result in the answer to its request.
            Slip::TillLines => {}
        };
        match event {
            PrinterEvent::Printed { slip, duplicate } => tracing::debug!(%slip, duplicate, "printed"),
            PrinterEvent::Waits { slip, why } => {
                announce(slip, "printer-waits", &format!("The {slip} is waiting: the printer is {why}"));
            }
            PrinterEvent::Failed { slip, why } => {
                tracing::warn!(%slip, %why, "not printed");
                announce(slip, "printer-failed", &format!("The {slip} was not printed: the printer is {why}"));
            }
        }
    }

    /// Records the end of this run on the disk.
    fn note_the_end(&mut self) {
        let (answers, engine) = (self.answers(), &mut self.engine);
        self.answered.note_the_end(&mut engine.journal, answers, engine.clock.monotonic());
        // Receipts that normally wait for the next transaction's first record are written here.
        if let Err(error) = engine.journal.write_receipts() {
            tracing::warn!(%error, "the last receipts could not be stored; their duplicates will be composed again");
        }
    }
}
