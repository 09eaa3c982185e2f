//! The agent: wires till, reader, gateway, printer and journal to the sales. The only room that knows everyone.
//!
//! One loop waits for whatever happens next, hands it to the sale it concerns, lets the journal write what the sale
//! says, and carries out what comes out of the journal. It decides nothing about money: that is `sale`'s business. What
//! it owns is the clock, the random numbers, and which sale has the reader.

mod actions;
mod announcing;
mod answered;
mod card_left;
pub(crate) mod clock;
mod closing;
mod confirmation;
mod counting;
mod device_states;
mod earlier;
mod expiry;
mod gateway_desk;
mod journal_desk;
mod leaving;
mod limits;
mod log_level;
mod measured;
mod old_copy;
mod operators;
mod probing;
mod reader_change;
mod reader_desk;
mod reader_settings;
mod reasons;
mod receipts;
mod recovery;
mod sale_desk;
mod sale_times;
mod sale_view;
mod set_back;
mod shop_time;
mod start;
mod status;
mod surroundings;
mod task_results;
mod tills;
mod training;
mod turns;
mod typing;
mod waiting;

use std::future::Future;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::config::Config;
use crate::metrics::Metrics;
use crate::till::{self, ProgressLog, Served, Wires};
use pos_core::sale;
use pos_daemon::systemd;
use pos_terms::money::{Currency, MoneyError};
use pos_terms::transaction::SaleNumber;

use answered::Answered;
pub use answered::this_program;
use clock::Clock;
use closing::ClosingDesk;
use gateway_desk::GatewayDesk;
use journal_desk::JournalDesk;
use limits::Limits;
use log_level::LogDesk;
use old_copy::OldCopy;
use operators::OperatorDesk;
use reader_desk::ReaderDesk;
use receipts::PrinterDesk;
use sale_desk::{OpenSale, SaleDesk};
use start::Ends;
pub use surroundings::{AnyBook, BoardClock, BookWrapper, Random, Surroundings};
use task_results::TaskResult;
use training::Ground;
use turns::{Round, Source};

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
    let (agent, ends) = Agent::start(config, Surroundings::default(), Wires { commands, progress })?;
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
    let (agent, ends) = Agent::start(config, surroundings, tills)?;
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
                agent.stop_taking_sales();
            }
            Some(result) = ends.tasks.recv(), if round.has(Source::Tasks) => {
                round.take(Source::Tasks);
                agent.task_brought(result);
            }
            Some(event) = ends.reader.recv(), if round.has(Source::Reader) => {
                round.take(Source::Reader);
                agent.reader_says(event);
            }
            () = tokio::time::sleep_until(deadline), if round.has(Source::Time) => {
                round.take(Source::Time);
                agent.deadline_passed();
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
            () = std::future::ready(()), if round.is_used() || !agent.sales.afterwards.is_empty() => {
                round = Round::default();
            }
        }
        // Devices act first, and only then people are told and paper is printed.
        tokio::task::yield_now().await;
        agent.tell_and_print();
    }
}

/// The end: the last tellings, receipts and answers go out.
async fn end(mut agent: Agent, mut ends: Ends, tills: Option<Served>) {
    agent.tell_and_print();
    agent.look_at_the_journal();
    agent.rescue_the_journal();
    agent.note_the_end();
    agent.keep_last_receipts();
    if let Some(tills) = tills {
        tills.close().await;
    }
    // A printer's task ends when nobody can give it more and all it has is printed.
    drop(agent);
    let last_paper = async { while ends.printer.recv().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_PAPER, last_paper).await;
}

/// Everything the loop turns on: a desk for each thing that it looks after, and what all of them need.
struct Agent {
    config: Config,
    limits: Limits,
    clock: Clock,
    random: Random,
    journal: JournalDesk,
    old_copy: OldCopy,
    gateway: GatewayDesk,
    reader: ReaderDesk,
    printers: PrinterDesk,
    sales: SaleDesk,
    closing: ClosingDesk,
    /// Whether it works for the shop, or trains.
    ground: Ground,
    operators: OperatorDesk,
    /// What tasks bring back.
    tasks: mpsc::Sender<TaskResult>,
    progress: ProgressLog,
    metrics: Metrics,
    log: LogDesk,
    /// What answers this program, and what did the one before.
    answered: Answered,
    stopping: bool,
}

impl Agent {
    /// Hands on what actions left behind, until nothing is left; then forgets what is settled.
    fn settle(&mut self) {
        if !self.trains() {
            self.look_outside();
        }
        if self.journal.fault.as_ref().is_some_and(|fault| fault.retry_at <= self.clock.monotonic()) {
            self.retry_journal();
        }
        while let Some((number, event)) = self.sales.inbox.pop_front() {
            self.advance(number, event);
        }
        self.mark_old_copy();
        self.journal.keep_small(self.reader.in_use_by.is_some());
    }

    /// What is looked at beside the sales. Training has nothing outside.
    fn look_outside(&mut self) {
        self.look_at_the_clocks();
        // A sale has no time for it.
        if self.reader.in_use_by.is_none() {
            self.gateway.warn_of_expiry();
        }
        self.look_for_old_copy();
        if self.reader.in_use_by.is_none() {
            self.gateway.probe_daily();
        }
        self.log.is_usual_again();
        self.note_what_answers();
    }

    fn next_deadline(&self) -> Instant {
        let retry = self.journal.fault.as_ref().map(|fault| fault.retry_at);
        let far = self.clock.monotonic() + Duration::from_secs(3600);
        let probe = (self.reader.in_use_by.is_none() && !self.trains()).then_some(self.gateway.probing.at);
        let due = [self.sales.due(), self.reader.slot.due(), retry, self.old_copy_due(), probe, self.log.due()];
        self.clock.instant(due.into_iter().flatten().fold(far, Duration::min))
    }

    #[allow(clippy::disallowed_methods, reason = "the agent is where the clock is asked")]
    fn asks_the_clock(&self) -> Instant {
        Instant::now()
    }

    fn stop_taking_sales(&mut self) {
        self.stopping = true;
        for number in self.reader.in_use_by.into_iter().chain(self.reader.slot.next()) {
            self.sales.inbox.push_back((number, sale::Event::CancelAsked { by: None }));
        }
    }

    /// What waits for nothing but its answer, its card, its signature or its till is let end; what is looked up goes on
    /// after the next start.
    fn may_stop(&self, since: Instant) -> bool {
        let runs = |(number, active): (&SaleNumber, &OpenSale)| match active.sale.standing() {
            sale::Standing::Waiting
            | sale::Standing::InProgress
            | sale::Standing::AtSignature
            | sale::Standing::AwaitingTill { .. } => !active.stuck && !self.old_copy.holds_up(*number),
            _ => self.reader.in_use_by == Some(*number) && !active.sale.is_settled(),
        };
        !self.sales.open.iter().any(runs) || self.asks_the_clock().duration_since(since) > STOP_PATIENCE
    }
}

#[cfg(test)]
mod tests;
