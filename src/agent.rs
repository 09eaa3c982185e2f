//! The agent: wires till, reader, gateway, printer and journal to the sales. The only file that knows everyone.
//!
//! One loop waits for whatever happens next, hands it to the sale it concerns, lets the journal write what the sale
//! says, and carries out what comes out of the journal. It decides nothing about money: that is `sale`'s business. What
//! it owns is the clock, the random numbers, and which sale has the reader.

mod act;
mod answered;
pub(crate) mod clock;
mod earlier;
mod expiry;
mod leaving;
mod log_level;
mod measured;
mod old_copy;
mod probing;
mod reader_change;
mod reasons;
mod receipts;
mod recovery;
mod set_back;
mod status;
mod tills;
mod totals;
mod turns;
mod typing;
mod words;

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::{Semaphore, broadcast, mpsc, oneshot};
use tokio::time::Instant;

use crate::card::FirstAnswer;
use crate::config::{self, Config};
use crate::gateway::{self, PreparedPayment};
use crate::journal::{self, Journal};
use crate::metrics::Metrics;
use crate::money::{Amount, Currency, MoneyError};
use crate::printer;
use crate::reader;
use crate::sale::{self, Answer, Deadlines, Inquiry, Now, Reversal, Sale};
use crate::systemd;
use crate::till::{self, Command, JournalState, KeysView, Progress, Refused, SaleView, Wires};
use crate::transaction::{PaymentId, SaleNumber};
use crate::wire::Way;
use crate::words::Message;

use act::Trace;
pub use answered::this_program;
use clock::Clock;
use old_copy::OldCopy;
use recovery::refused_by_journal;
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
    /// The journal.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// The gateway's client: CA file, token.
    #[error(transparent)]
    Gateway(#[from] gateway::Error),
    /// The till's wires.
    #[error(transparent)]
    Till(#[from] till::http::Error),
    /// The till's wires as systemd gives them.
    #[error(transparent)]
    Sockets(#[from] systemd::SocketsError),
}

/// Progress lines kept for a listener that is slow; a sale has about ten.
const PROGRESS_KEPT: usize = 256;
/// Commands of tills that wait while one is carried out.
const COMMANDS_WAITING: usize = 32;
/// How often a journal that failed is tried again: a technician frees space by hand.
const JOURNAL_RETRY: Duration = Duration::from_secs(5);
/// Open reversals that a new sale sets going again; many at once would crowd the line that the sale needs.
const NUDGED: usize = 3;
/// Questions and reversals of earlier sales that are on their way at one time: a handshake each is work that the sale
/// at the reader would wait for on a small board. The sale at the reader asks whenever it wants.
const AT_ONCE: usize = 3;
/// How long a stop waits for what is under way to end; longer than a host's answer takes, shorter than systemd's
/// patience (90 s).
const STOP_PATIENCE: Duration = Duration::from_secs(60);
/// Without a watchdog the loop is woken by what happens, and now and then.
const NOBODY_WATCHES: Duration = Duration::from_secs(3600);
/// How long the last answers to tills may take at the end.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// How long the last receipts may take at the end; they are kept in any case.
const LAST_PAPER: Duration = Duration::from_secs(10);

/// Gives the board's time.
pub type Board = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// Gives 128 random bits.
pub type Random = Arc<dyn Fn() -> Result<[u8; 16], getrandom::Error> + Send + Sync>;

/// What surrounds the terminal, where it is not what the system gives.
#[derive(Clone)]
pub struct Surroundings {
    /// The reader's wire.
    pub reader: Option<Way>,
    /// The gateway's, below TLS.
    pub gateway: Option<Way>,
    /// Every printer's.
    pub printer: Option<Way>,
    /// The board's clock.
    pub board: Board,
    /// What makes our references at the gateway unlike all others.
    pub random: Random,
    /// Who sees each commit of the journal.
    #[cfg(feature = "sim")]
    pub watch: Option<journal::Watch>,
}

impl Default for Surroundings {
    /// The system's.
    fn default() -> Self {
        Self {
            reader: None,
            gateway: None,
            printer: None,
            board: Arc::new(Utc::now),
            random: Arc::new(|| {
                let mut random = [0; 16];
                getrandom::fill(&mut random).map(|()| random)
            }),
            #[cfg(feature = "sim")]
            watch: None,
        }
    }
}

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
    let (progress, _) = broadcast::channel(PROGRESS_KEPT);
    let (till, settings) = (progress.clone(), config.till.clone());
    let (agent, ends) = Agent::start(config, Surroundings::default(), Wires { commands, progress })?;
    let (stop, stopped) = oneshot::channel::<()>();
    let till_ends = async move { drop(stopped.await) };
    let bound = till::http::serve(&settings, given, currency, sender, till, till_ends).await?;
    if let Some(address) = bound.http {
        tracing::info!(%address, "tills are served");
    }
    work(agent, ends, Some(TillEnd { bound, stop }), shutdown).await;
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
    work(agent, ends, None, shutdown).await;
    Ok(())
}

/// The loop.
async fn work(mut agent: Agent, mut ends: Ends, till: Option<TillEnd>, shutdown: impl Future<Output = ()>) {
    let mut shutdown = std::pin::pin!(shutdown);
    let mut stopping = None;
    let notify = systemd::Notify::from_env();
    notify.ready();
    let mut watchdog = tokio::time::interval(systemd::watchdog_interval().unwrap_or(NOBODY_WATCHES));
    watchdog.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut round = Round::default();
    loop {
        agent.settle();
        if stopping.is_some_and(|since: Instant| agent.may_stop(since)) {
            notify.stopping();
            agent.tell_and_print();
            agent.note_the_end();
            agent.keep_last_receipts();
            if let Some(till) = till {
                till.close().await;
            }
            // A printer's task ends when nobody can give it more and all it has is printed.
            drop(agent);
            let last_paper = async { while ends.printer.recv().await.is_some() {} };
            let _ = tokio::time::timeout(LAST_PAPER, last_paper).await;
            return;
        }
        let deadline = agent.next_deadline();
        tokio::select! {
            // In this order when several are ready, as long as each has turns left: what is rare and must not starve
            // comes first.
            biased;
            _ = watchdog.tick() => notify.watchdog(),
            () = &mut shutdown, if stopping.is_none() => {
                stopping = Some(agent.asks_the_clock());
                agent.stop_taking_sales();
            }
            Some(done) = ends.done.recv(), if round.has(Source::Tasks) => {
                round.take(Source::Tasks);
                agent.task_brought(done);
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
            () = std::future::ready(()), if round.is_used() || !agent.afterwards.is_empty() => {
                round = Round::default();
            }
        }
        // Devices act first, and only then people are told and paper is printed.
        tokio::task::yield_now().await;
        agent.tell_and_print();
    }
}

/// Everything the loop turns on.
struct Agent {
    config: Config,
    max_amount: Option<Amount>,
    max_credit_amount: Option<Amount>,
    deadlines: Deadlines,
    clock: Clock,
    random: Random,
    journal: Journal,
    /// The journal could not be written: no sale is taken until it can be again.
    journal_fault: Option<JournalFault>,
    last_number: SaleNumber,
    old_copy: OldCopy,
    gateway: gateway::Client,
    /// What was logged of certificates that end.
    expiry_log: expiry::Log,
    /// When the gateway is asked again whether it answers.
    probe_at: Duration,
    /// Whether the gateway answered a probe, and how often it did not before.
    was_probed: bool,
    probe_tries: u8,
    /// Why it did not the last time, as it was told.
    probe_fault: Option<&'static str>,
    done: mpsc::Sender<Done>,
    /// One place for each of [`AT_ONCE`].
    earlier_sales: Arc<Semaphore>,
    reader: reader::ReaderHandle,
    reader_state: status::Reader,
    /// The reader as the book has it.
    known_reader: reader_change::Known,
    /// Keys that the reader has left, as far as its cards have shown.
    keys_left: Option<KeysView>,
    /// In the order of the configuration.
    printers: Vec<printer::Handle>,
    /// What stands on each receipt, and the language of all that a cashier and a customer read.
    letterhead: printer::Letterhead,
    progress: broadcast::Sender<Progress>,
    metrics: Metrics,
    /// What is logged is not as the program was started.
    log_changed: Option<log_level::Changed>,
    /// What answers this program, and what did the one before.
    answered: answered::Answered,
    /// Sales that are not settled, or whose card is still in the reader.
    sales: BTreeMap<SaleNumber, Active>,
    /// The sale that has the reader.
    at_reader: Option<SaleNumber>,
    /// A till that waits for an amount to be typed at the reader.
    typing: Option<typing::Waiting>,
    /// What is to be told to sales next; filled by actions, emptied by [`Agent::settle`].
    inbox: VecDeque<(SaleNumber, sale::Event)>,
    /// Sales to tell and receipts to print, once the devices have had their turn.
    afterwards: VecDeque<(SaleNumber, Afterwards)>,
    stopping: bool,
}

/// What can wait until the devices have had their turn.
#[derive(Clone, Copy)]
enum Afterwards {
    Tell,
    Print(sale::Paper),
    LogTrace,
}

/// A sale with what the agent keeps for it in memory only.
struct Active {
    sale: Sale,
    /// The request, made from the sealed card while the journal is written; wiped when it was sent or is dropped.
    prepared: Option<Result<PreparedPayment, String>>,
    /// Its last step could not be written: how it stands is only on the disk.
    stuck: bool,
    /// Wires that asked to cancel and wait for the answer.
    cancels: Vec<oneshot::Sender<Result<SaleView, Refused>>>,
    /// Its end is in the figures, and a fault behind it in the log.
    counted: bool,
    /// What was given back of it by its payment's id when its reversal was last held against that, in minor units.
    given_by_id: Option<u64>,
    trace: Trace,
}

/// Why the journal could not be written, and when to try again.
struct JournalFault {
    state: JournalState,
    why: String,
    retry_at: Duration,
}

/// What a spawned task brought.
enum Done {
    Warmed,
    Probed {
        probed: Result<gateway::Probed, gateway::Fault>,
    },
    Paid {
        sale: SaleNumber,
        answer: Answer,
        took: Duration,
    },
    Polled {
        sale: SaleNumber,
        answer: Answer,
    },
    Inquired {
        sale: SaleNumber,
        inquiry: Inquiry,
    },
    Reversed {
        sale: SaleNumber,
        reference: String,
        reversal: Reversal,
    },
    References {
        references: Result<Vec<String>, String>,
    },
    /// References that the gateway holds: which of them does the journal not know?
    SomeReferences {
        references: Vec<String>,
        reply: oneshot::Sender<Result<Vec<String>, String>>,
    },
    Counted {
        page: Result<Vec<Sale>, journal::Error>,
        counting: Box<totals::Counting>,
    },
    Listed {
        sales: Result<Vec<Sale>, journal::Error>,
        reply: oneshot::Sender<Result<Vec<SaleView>, Refused>>,
    },
}

/// The receiving ends of the loop.
struct Ends {
    reader: mpsc::Receiver<reader::ReaderEvent>,
    done: mpsc::Receiver<Done>,
    commands: mpsc::Receiver<Command>,
    printer: mpsc::Receiver<printer::Event>,
}

/// What ends the serving of tills.
struct TillEnd {
    bound: till::http::Bound,
    stop: oneshot::Sender<()>,
}

impl TillEnd {
    /// Lets the last answers out and gives the socket's name free.
    async fn close(self) {
        drop(self.stop);
        let _ = tokio::time::timeout(LAST_ANSWERS, self.bound.done).await;
    }
}

impl Agent {
    /// Opens everything but the tills' wires and replays the open sales.
    fn start(config: Config, surroundings: Surroundings, tills: Wires) -> Result<(Self, Ends), Error> {
        let (mut journal, opened) = Journal::open(&config.journal.path)?;
        journal.keep_days(Some(config.journal.keep_days));
        #[cfg(feature = "sim")]
        journal.watched(surroundings.watch);
        let clock = Clock::new(surroundings.board, opened.last_unix_ms);
        let token = gateway::Token::load(&config.gateway)?;
        let certificates_at = clock.clone();
        let certificates_at = gateway::Clock::new(move || certificates_at.for_gateway());
        let way = surroundings.gateway;
        let gateway = gateway::Client::over(way, &config.gateway, &config.terminal, token, certificates_at)?;
        let currency =
            Currency::from_code(&config.terminal.currency).map_err(|cause| Error::Money { key: "currency", cause })?;
        let max_amount = config.terminal.max_amount.as_deref().map(|text| Amount::parse(text, currency)).transpose();
        let max_amount = max_amount.map_err(|cause| Error::Money { key: "max-amount", cause })?;
        let max = config.terminal.max_credit_amount.as_deref().map(|text| Amount::parse(text, currency)).transpose();
        let max_credit_amount = max.map_err(|cause| Error::Money { key: "max-credit-amount", cause })?;
        let way = surroundings.reader;
        let settings = reader::ReaderSettings { way, ..act::reader_settings(&config, &clock) };
        let (reader, from_reader) = reader::spawn(settings, reader::ReaderFamily::of(&config.reader));
        // The channel ends with the printers' tasks.
        let (to_us, from_printer) = mpsc::channel(64);
        let way = surroundings.printer;
        let start = |printer: &config::Printer| match &way {
            Some(way) => printer::spawn_over(way.clone(), printer.clone(), to_us.clone()),
            None => printer::spawn(printer.clone(), to_us.clone()),
        };
        let printers = config.printer.iter().map(start).collect();
        let (done, from_tasks) = mpsc::channel(64);
        let known_reader = reader_change::Known::new(journal.latest_reader()?);
        let answered = answered::Answered::begin(&mut journal);
        let mut agent = Self {
            max_amount,
            max_credit_amount,
            deadlines: deadlines(&config),
            clock,
            random: surroundings.random,
            journal,
            journal_fault: None,
            last_number: opened.last_number.max(opened.old_copy.above),
            old_copy: OldCopy::new(&opened, can_be_asked_by_date(&config.gateway.assumptions)),
            gateway,
            expiry_log: expiry::Log::default(),
            probe_at: Duration::ZERO,
            was_probed: false,
            probe_tries: 0,
            probe_fault: None,
            done,
            earlier_sales: Arc::new(Semaphore::new(AT_ONCE)),
            reader,
            reader_state: status::Reader::Opening,
            known_reader,
            keys_left: None,
            printers,
            letterhead: receipts::letterhead(&config.terminal),
            metrics: Metrics::new(),
            log_changed: None,
            answered,
            progress: tills.progress,
            sales: BTreeMap::new(),
            at_reader: None,
            typing: None,
            inbox: VecDeque::new(),
            afterwards: VecDeque::new(),
            stopping: false,
            config,
        };
        agent.resume(opened.unsettled);
        let commands = tills.commands;
        Ok((agent, Ends { reader: from_reader, done: from_tasks, commands, printer: from_printer }))
    }

    /// Hands on what actions left behind, until nothing is left; then forgets what is settled.
    fn settle(&mut self) {
        self.look_at_the_clocks();
        self.warn_of_expiry();
        self.look_for_old_copy();
        self.probe_daily();
        self.log_is_usual_again();
        self.note_what_answers();
        if self.journal_fault.as_ref().is_some_and(|fault| fault.retry_at <= self.clock.monotonic()) {
            self.retry_journal();
        }
        while let Some((number, event)) = self.inbox.pop_front() {
            self.advance(number, event);
        }
        self.mark_old_copy();
        self.journal.keep_small(self.at_reader.is_some());
    }

    /// Tells tills and prints, in the order it was asked for; then forgets the sales that are settled.
    fn tell_and_print(&mut self) {
        while let Some((number, what)) = self.afterwards.pop_front() {
            match what {
                Afterwards::Tell => self.tell(number),
                Afterwards::Print(paper) => self.print(number, paper),
                Afterwards::LogTrace => self.log_trace(number),
            }
        }
        let at_reader = self.at_reader;
        self.sales.retain(|number, active| !active.sale.is_settled() || at_reader == Some(*number));
    }

    /// One event of one sale: decide, write, and only then act.
    fn advance(&mut self, number: SaleNumber, event: sale::Event) {
        let now = self.now();
        let Some(active) = self.sales.get_mut(&number) else {
            return;
        };
        if active.stuck {
            // Nothing can be recorded of it, and it will be taken up again from the disk.
            return;
        }
        let step = active.sale.handle(event, now, self.deadlines);
        let written = self.journal.commit(&mut active.sale, step, now.unix_ms);
        self.after_writing(number, written);
    }

    /// Carries out what the journal gave out, or, when it could not write, nothing but the safe end.
    fn after_writing(&mut self, number: SaleNumber, written: Result<(Vec<sale::Action>, Duration), journal::Error>) {
        match written {
            Ok((actions, took)) => {
                if let Some(active) = self.sales.get_mut(&number) {
                    active.trace.journal += took;
                }
                for action in actions {
                    self.act(number, action);
                }
                // Once the devices are at work: figures can wait.
                self.measure_step(number, took);
                // The card's data must not outlive the one request they were read for: not a cancel, not any end.
                if let Some(active) = self.sales.get_mut(&number).filter(|active| !active.sale.may_ask_again()) {
                    active.prepared = None;
                }
            }
            Err(error) => self.journal_failed(number, &error),
        }
    }

    fn reader_says(&mut self, event: reader::ReaderEvent) {
        match event {
            reader::ReaderEvent::Ready(identity) => {
                tracing::info!(serial = %identity.serial, model = %identity.model, firmware = %identity.firmware, "reader ready");
                self.clock.reader_says(identity.clock);
                self.compare_reader(&identity);
                self.reader_state = status::Reader::Ready(identity);
                self.announce("reader-ready", self.letterhead.words.label(Message::ReaderReady));
            }
            reader::ReaderEvent::Unready(unready) => {
                let lost = reasons::unready(&unready);
                let why = unready.to_string();
                let now = status::Reader::Unready(unready);
                tracing::warn!(state = now.state().as_str(), %why, "reader not ready");
                if self.reader_state != now {
                    self.announce("reader-unready", &why);
                }
                self.reader_state = now;
                self.typing_ends(&why);
                if let Some(number) = self.at_reader.take() {
                    // Nothing was sent yet: the cashier is told what is wrong with the reader, not only that it is
                    // lost.
                    let waiting = self.sales.get(&number).map(|active| active.sale.standing());
                    let event = match waiting {
                        Some(sale::Standing::Waiting) => sale::Event::NoCard { why: lost },
                        _ => sale::Event::ReaderLost,
                    };
                    self.inbox.push_back((number, event));
                }
            }
            reader::ReaderEvent::KeysLeft { card, pin } => {
                let known = self.keys_left.unwrap_or_default();
                self.keys_left = Some(KeysView { card: card.or(known.card), pin: pin.or(known.pin) });
                if let Some(text) = self.keys_run_out() {
                    tracing::warn!(card, pin, "{text}");
                }
            }
            reader::ReaderEvent::Typed { sale, amount } => self.typed(sale, amount),
            reader::ReaderEvent::Progress { sale, progress } => self.announce_step(sale, &progress),
            reader::ReaderEvent::Card { sale, presented } => self.card_read(sale, *presented),
            reader::ReaderEvent::NoCard { sale, why } => {
                self.inbox.push_back((sale, sale::Event::NoCard { why: reasons::no_card(&why) }));
            }
            reader::ReaderEvent::Completed { sale, verdict, facts, scripts_dropped } => {
                if scripts_dropped {
                    tracing::warn!(sale = sale.get(), "issuer scripts did not fit the reader and were left out");
                }
                let confirmed = verdict == reader::CardVerdict::Approved;
                self.inbox.push_back((sale, sale::Event::CardSaid { confirmed, facts }));
            }
            reader::ReaderEvent::Idle => {
                if let Some(number) = self.at_reader.take() {
                    self.afterwards.push_back((number, Afterwards::LogTrace));
                }
                self.journal.tidy();
                self.announce("idle", self.letterhead.words.label(Message::Idle));
            }
        }
    }

    /// The hot path: between the card's last byte and the request's first there is one sync and nothing that can wait.
    /// The sealed card is wiped here whatever happens.
    fn card_read(&mut self, number: SaleNumber, presented: crate::card::Presented) {
        let now = self.now();
        let waiting = |active: &&mut Active| !active.stuck && active.sale.standing() == sale::Standing::Waiting;
        let Some(active) = self.sales.get_mut(&number).filter(waiting) else {
            // Nobody waits for it any more: it is declined, for a card left waiting would block the reader.
            self.decline_card(number);
            return;
        };
        active.trace.card_read(now.monotonic);
        let goes_online =
            presented.first_answer == FirstAnswer::GoOnline || !active.sale.order().kind().card_has_a_say();
        if goes_online {
            let identity = self.reader_state.identity();
            let order = active.sale.order();
            let payment = gateway::Payment {
                amount: active.sale.amount(),
                merchant_transaction_id: &order.merchant_transaction_id,
                sequence_number: order.number,
                device_serial: identity.map_or("", |identity| &identity.serial),
                pin_entry: identity.is_some_and(|identity| identity.pin_key),
                payment_type: order.kind().payment_type(),
                parameters: &order.parameters,
                presented: &presented,
            };
            active.prepared = Some(self.gateway.prepare(&payment).map_err(|error| error.to_string()));
        }
        let crate::card::Presented { facts, first_answer, .. } = presented;
        let step = active.sale.handle(sale::Event::CardRead { facts, first_answer }, now, self.deadlines);
        let written = self.journal.commit(&mut active.sale, step, now.unix_ms);
        self.after_writing(number, written);
    }

    fn task_brought(&mut self, done: Done) {
        let (number, event) = match done {
            Done::Paid { sale, answer, took } => {
                if let Some(active) = self.sales.get_mut(&sale) {
                    if !matches!(answer, Answer::Throttled(_)) {
                        active.prepared = None;
                    }
                    active.trace.gateway += took;
                    active.trace.answered(self.clock.monotonic());
                }
                self.probe_again_soon();
                if matches!(answer, Answer::Throttled(_)) {
                    self.announce_to(sale, "throttled", self.letterhead.words.label(Message::AskedAgain));
                }
                if matches!(answer, Answer::Approved(_) | Answer::Declined(_)) {
                    self.old_copy.nudge(self.clock.monotonic());
                    if !self.was_probed {
                        self.probe_at = self.probe_at.min(self.clock.monotonic());
                    }
                }
                (sale, sale::Event::Answered(self.with_an_id_of_its_own(sale, answer)))
            }
            Done::Warmed => {
                self.probe_again_soon();
                self.expiry_log.look_again();
                return;
            }
            Done::Polled { sale, answer } => (sale, sale::Event::Answered(self.with_an_id_of_its_own(sale, answer))),
            Done::Probed { probed } => return self.probed(probed),
            Done::Inquired { sale, inquiry } => {
                (sale, sale::Event::Inquired(self.with_payments_of_its_own(sale, inquiry)))
            }
            Done::Reversed { sale, reference, reversal } => {
                let reversal = self.with_a_reversal_of_its_own(sale, reversal);
                (sale, sale::Event::ReversalAnswered { reference, reversal })
            }
            Done::References { references } => return self.references_listed(references),
            Done::SomeReferences { references, reply } => {
                let _ = reply.send(self.strange(references).map_err(|error| error.to_string()));
                return;
            }
            Done::Counted { page, counting } => return self.counted(page, *counting),
            Done::Listed { sales, reply } => {
                let sales = sales.map_err(refused_by_journal);
                let _ = reply.send(sales.map(|sales| sales.iter().map(|sale| self.view_of(sale)).collect()));
                return;
            }
        };
        self.advance(number, event);
    }

    /// An answer with the id of another transaction is not one to this request, whatever else it says.
    fn with_an_id_of_its_own(&self, number: SaleNumber, answer: Answer) -> Answer {
        let id = match &answer {
            Answer::Approved(approval) => &approval.id,
            Answer::Pending { id } => id,
            _ => return answer,
        };
        let earlier = self.sales.get(&number).and_then(|active| active.sale.order().transaction.of());
        let of_another = earlier.is_some_and(|of| of.payment == *id) || self.is_of_another(number, id);
        if of_another {
            return Answer::NotOurs { why: another_transactions(number, id) };
        }
        answer
    }

    /// A list that shows another transaction's payment under this one's reference says nothing: what would be done by
    /// it would be done to the other one.
    fn with_payments_of_its_own(&self, number: SaleNumber, inquiry: Inquiry) -> Inquiry {
        let Inquiry::Payments(found) = &inquiry else { return inquiry };
        let Some(reference) = self.sales.get(&number).map(|active| &active.sale.order().merchant_transaction_id) else {
            return inquiry;
        };
        let named = found.iter().filter(|one| one.reference.as_ref().is_none_or(|named| named == reference));
        let mut foreign = named.filter(|one| self.is_of_another(number, &one.id));
        match foreign.next() {
            Some(one) => Inquiry::CannotAsk { why: another_transactions(number, &one.id) },
            None => inquiry,
        }
    }

    /// A reversal has an id of its own.
    fn with_a_reversal_of_its_own(&self, number: SaleNumber, reversal: Reversal) -> Reversal {
        match reversal {
            Reversal::Done { id, .. } if self.is_of_another(number, &id) => {
                Reversal::Unknown { why: another_transactions(number, &id) }
            }
            reversal => reversal,
        }
    }

    fn is_of_another(&self, number: SaleNumber, id: &PaymentId) -> bool {
        self.journal.of_payment(id).is_ok_and(|owner| owner.is_some_and(|owner| owner != number))
    }

    fn next_deadline(&self) -> Instant {
        let sales = self.sales.values().filter_map(Active::deadline).min();
        let retry = self.journal_fault.as_ref().map(|fault| fault.retry_at);
        let far = self.clock.monotonic() + Duration::from_secs(3600);
        let probe = self.at_reader.is_none().then_some(self.probe_at);
        let due = [sales, retry, self.old_copy_due(), probe, self.log_changes_at()];
        self.clock.instant(due.into_iter().flatten().fold(far, Duration::min))
    }

    fn deadline_passed(&mut self) {
        let now = self.clock.monotonic();
        let due = self.sales.iter().filter(|(_, active)| active.deadline().is_some_and(|deadline| deadline <= now));
        self.inbox.extend(due.map(|(number, _)| (*number, sale::Event::DeadlinePassed)).collect::<Vec<_>>());
    }

    fn now(&self) -> Now {
        Now { monotonic: self.clock.monotonic(), unix_ms: self.clock.unix_ms() }
    }

    #[allow(clippy::disallowed_methods, reason = "the agent is where the clock is asked")]
    fn asks_the_clock(&self) -> Instant {
        Instant::now()
    }

    fn stop_taking_sales(&mut self) {
        self.stopping = true;
        if let Some(number) = self.at_reader {
            self.inbox.push_back((number, sale::Event::CancelAsked { by: None }));
        }
    }

    /// What waits for nothing but its answer, its card or its signature is let end; what is looked up goes on after the
    /// next start.
    fn may_stop(&self, since: Instant) -> bool {
        let runs = |(number, active): (&SaleNumber, &Active)| match active.sale.standing() {
            sale::Standing::Waiting | sale::Standing::InProgress | sale::Standing::AtSignature => {
                !active.stuck && !self.old_copy.holds_up(*number)
            }
            _ => self.at_reader == Some(*number) && !active.sale.is_settled(),
        };
        !self.sales.iter().any(runs) || self.asks_the_clock().duration_since(since) > STOP_PATIENCE
    }
}

/// The gateway named another transaction's payment, which may be another till's: its id is in the log alone.
fn another_transactions(number: SaleNumber, id: &PaymentId) -> sale::Why {
    tracing::error!(
        sale = number.get(),
        payment = id.as_str(),
        "the gateway named a payment that is another transaction's"
    );
    sale::Reason::AnotherPaymentAnswered.into()
}

/// A gateway that names no references in its lists shows none by date either.
fn can_be_asked_by_date(assumptions: &config::Assumptions) -> bool {
    assumptions.query_by_date && assumptions.query_echoes_reference
}

/// The core's deadlines from the configuration.
fn deadlines(config: &Config) -> Deadlines {
    let terminal = &config.terminal;
    Deadlines {
        pending: Duration::from_millis(config.gateway.answer_timeout_ms),
        resend: Duration::from_secs(config.gateway.resend_after_s),
        refuses_repeats: config.gateway.assumptions.refuses_repeated_references,
        absence_final: Duration::from_secs(config.gateway.assumptions.absence_final_after_h * 3600),
        signature: terminal.confirm_signature.then(|| Duration::from_secs(terminal.signature_timeout_s)),
    }
}

impl Active {
    fn new(sale: Sale, now: Duration) -> Self {
        let (cancels, trace) = (Vec::new(), Trace::begin(now));
        Self { sale, prepared: None, stuck: false, cancels, counted: false, given_by_id: None, trace }
    }

    /// When it wants to be woken; what waits for the disk does not.
    fn deadline(&self) -> Option<Duration> {
        self.sale.deadline().filter(|_| !self.stuck)
    }
}

#[cfg(test)]
mod tests;
