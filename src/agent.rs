//! The agent: wires till, reader, gateway, printer and journal to the sales. The only room that knows everyone.
//!
//! One loop waits for whatever happens next and hands it to whom it concerns:
//!
//! | room | what it is |
//! |---|---|
//! | `engine` | owns the open transactions, and is the only place where one changes: event, core, account book, actions |
//! | `devices` | reader, gateway and printers, each with its own state; in training the trainer |
//! | `views` | a transaction, the status and the figures, each a function of facts |
//! | `tills`, `tasks` | what tills ask, and what the agent's own tasks bring back |
//! | all others | a part for each thing that is looked after: operators, closes, clock, limits, the old copy, updates, the log |
//!
//! It decides nothing about money: that is `sale`'s business.

pub(crate) mod clock;
mod close_count;
mod closes;
mod counting;
mod devices;
mod earlier;
mod engine;
mod identity;
mod journal_writer;
mod limits;
mod log_level;
mod old_copy;
mod operators;
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

use crate::config::Config;
use crate::till::{self, ProgressLog, Served, Wires};
use pos_core::transaction::Standing;
use pos_daemon::systemd;
use pos_printer::{PrinterEvent, Slip};
use pos_terms::money::{Currency, MoneyError};

use closes::CloseControl;
use devices::Devices;
use engine::Engine;
use engine::open_transactions::OpenTransaction;
use log_level::LogControl;
use old_copy::Beside;
use start::Ends;
pub use surroundings::{AnyBook, BoardClock, BookWrapper, Random, Surroundings};
use training_mode::TrainingMode;
use turns::{Round, Source};
pub use updates::this_program;
use updates::{Answered, Answers};

/// Why the agent does not start. Each tells what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A currency or amount of the configuration; `config::load` refuses such a file before.
    #[error("[terminal] {key}: {cause}")]
    Money {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        cause: MoneyError,
    },
    /// An amount of the configuration above which a supervisor confirms; `config::load` refuses such a file before.
    #[error("[operators.supervisor-above] {key}: {cause}")]
    SupervisorAbove {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        cause: MoneyError,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] pos_journal::Error),
    /// The gateway's client: CA file, token.
    #[error(transparent)]
    Gateway(#[from] pos_gateway::Error),
    /// The till's wires.
    #[error(transparent)]
    Till(#[from] till::Error),
    /// The till's wires as systemd gives them.
    #[error(transparent)]
    Sockets(#[from] systemd::SocketsError),
}

/// Steps kept for a listener that is slow or was away for a moment; a sale has about ten, and a step some 2 KiB.
const PROGRESS_KEPT: usize = 256;
/// Commands of tills that wait while one is carried out.
const COMMANDS_WAITING: usize = 32;
/// How long a stop waits for what is under way to end; longer than a host's answer takes, shorter than systemd's
/// patience (90 s).
const STOP_PATIENCE: Duration = Duration::from_secs(60);
/// Without a watchdog the loop is woken by what happens, and now and then.
const NOBODY_WATCHES: Duration = Duration::from_secs(3600);
/// How long the last receipts may take at the end; they are kept in any case.
const LAST_PAPER: Duration = Duration::from_secs(10);

/// Runs the terminal until `shutdown` is done.
///
/// # Errors
/// Only before the first sale can be taken: see [`Error`]. Later faults are shown in the status and mended while
/// running.
pub async fn run(config: Config, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
    let currency = Currency::from_code(&config.terminal.currency);
    let currency = currency.map_err(|cause| Error::Money { key: "currency", cause })?;
    let given = systemd::Sockets::from_env()?;
    let (sender, commands) = mpsc::channel(COMMANDS_WAITING);
    let progress = ProgressLog::new(PROGRESS_KEPT);
    let (till, settings, operators) = (progress.clone(), config.till.clone(), config.operators.required);
    let (agent, ends) = start::start(config, Surroundings::default(), Wires { commands, progress })?;
    let served = till::serve(&settings, operators, given, currency, sender, till).await?;
    if let Some(address) = served.address() {
        tracing::info!(%address, "tills are served");
    }
    work(agent, ends, Some(served), systemd::Notify::from_env(), shutdown).await;
    Ok(())
}

/// [`run`] in other surroundings, for tills that are given: nothing is bound.
///
/// # Errors
/// As [`run`].
pub async fn run_in(
    surroundings: Surroundings,
    tills: Wires,
    config: Config,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let (agent, ends) = start::start(config, surroundings, tills)?;
    work(agent, ends, None, systemd::Notify::from_env(), shutdown).await;
    Ok(())
}

/// The loop.
async fn work(
    mut agent: Agent,
    mut ends: Ends,
    tills: Option<Served>,
    notify: systemd::Notify,
    shutdown: impl Future<Output = ()>,
) {
    let mut shutdown = std::pin::pin!(shutdown);
    let mut stopping = None;
    notify.ready();
    let mut watchdog = tokio::time::interval(systemd::watchdog_interval().unwrap_or(NOBODY_WATCHES));
    watchdog.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut round = Round::default();
    loop {
        agent.settle();
        if stopping.is_some_and(|since: Instant| agent.may_stop(since)) {
            notify.stopping();
            return end(agent, ends, tills).await;
        }
        let deadline = agent.next_deadline();
        tokio::select! {
            // In this order when several are ready, as long as each has turns left: what is rare and must not starve
            // comes first.
            biased;
            _ = watchdog.tick() => {
                notify.watchdog();
                agent.look_at_the_journal();
            }
            () = &mut shutdown, if stopping.is_none() => {
                stopping = Some(agent.asks_the_clock());
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
            // Nobody is ready, or nobody who has a turn left. What is to be told is told before anybody is waited for.
            () = std::future::ready(()), if round.is_used() || agent.engine.sales.has_something_to_tell() => {
                round = Round::default();
            }
        }
        // Devices act first, and only then people are told and paper is printed.
        tokio::task::yield_now().await;
        agent.engine.tell_and_print();
    }
}

/// The end: the last tellings, receipts and answers go out.
async fn end(mut agent: Agent, mut ends: Ends, tills: Option<Served>) {
    agent.engine.tell_and_print();
    agent.look_at_the_journal();
    agent.rescue_the_journal();
    agent.note_the_end();
    if let Some(tills) = tills {
        tills.close().await;
    }
    // A printer's task ends when nobody can give it more and all it has is printed.
    drop(agent);
    let last_paper = async { while ends.printer.recv().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_PAPER, last_paper).await;
}

/// Everything the loop turns on: the engine, and the parts beside it that change no transaction.
struct Agent {
    engine: Engine,
    closing: CloseControl,
    training: TrainingMode,
    log: LogControl,
    /// What answers this program, and what did the one before.
    answered: Answered,
}

impl Agent {
    /// Looks at what is beside the sales, and hands on what actions left behind, until nothing is left.
    fn settle(&mut self) {
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

    /// Asks whether the journal is in place, before anything is promised on it.
    fn look_at_the_journal(&mut self) {
        if let Err(error) = self.engine.journal.is_in_place() {
            self.engine.journal_is_faulty(&error);
        }
        // The disk of a journal of training has no word in the log of the terminal.
        if !self.engine.identity.trains() {
            self.engine.journal.look_at_the_room();
        }
    }

    /// Saves what is open in a journal that was taken away.
    fn rescue_the_journal(&mut self) {
        let Engine { journal, clock, teller, .. } = &mut self.engine;
        if let Some(told) = journal.rescue(clock.unix_ms()) {
            teller.terminal("alarm", &told);
        }
    }

    /// Takes up again what only the disk knows; when that cannot be written either, it is tried again later.
    fn retry_journal(&mut self) {
        self.rescue_the_journal();
        let engine = &mut self.engine;
        match engine.journal.try_again(&engine.sales) {
            // Nothing of it is settled before a person has decided whose journal it is.
            Ok(_) if engine.journal.is_barred() => {}
            Ok(sales) => engine.resume(sales),
            Err(error) => engine.journal_is_faulty(&error),
        }
    }

    /// What is looked at beside the sales. Training has nothing outside.
    fn look_outside(&mut self) {
        let engine = &mut self.engine;
        engine.look_at_the_clocks();
        // A sale has no time for it.
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
        if is_quiet {
            let (answers, now) = (self.answers(), self.engine.clock.monotonic());
            self.answered.note(&mut self.engine.journal, answers, now);
        }
    }

    /// What answers at this moment.
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
        clock.instant(due.into_iter().flatten().fold(far, Duration::min))
    }

    #[allow(clippy::disallowed_methods, reason = "the agent is where the clock is asked")]
    fn asks_the_clock(&self) -> Instant {
        Instant::now()
    }

    /// What waits for nothing but its answer, its card, its signature or its till is let end; what is looked up goes on
    /// after the next start.
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

    /// What the printer reports is shown, and changes no sale.
    fn printer_says(&mut self, event: PrinterEvent) {
        let engine = &self.engine;
        // Of a receipt to its till; a close is the terminal's.
        let announce = |slip: Slip, step: &str, text: &str| match slip {
            Slip::Receipt { sale, .. } => engine.teller.about_number(engine.known(), sale, step, text),
            Slip::Close { .. } => engine.teller.terminal(step, text),
            // Its till hears of it by the answer.
            Slip::TillLines => {}
        };
        match event {
            PrinterEvent::Printed { slip, duplicate } => tracing::debug!(%slip, duplicate, "printed"),
            PrinterEvent::Waits { slip, why } => {
                announce(slip, "printer-waits", &format!("The {slip} waits: the printer is {why}"));
            }
            PrinterEvent::Failed { slip, why } => {
                tracing::warn!(%slip, %why, "not printed");
                announce(slip, "printer-failed", &format!("The {slip} is not printed: the printer is {why}"));
            }
        }
    }

    /// The end of this program's run, on the disk.
    fn note_the_end(&mut self) {
        let (answers, engine) = (self.answers(), &mut self.engine);
        self.answered.note_the_end(&mut engine.journal, answers, engine.clock.monotonic());
        // What is kept with the next sale's beginning is written now.
        if let Err(error) = engine.journal.write_receipts() {
            tracing::warn!(%error, "the last receipts are not kept; a duplicate is composed anew");
        }
    }
}
