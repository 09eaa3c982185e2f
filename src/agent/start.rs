//! The start of the agent, which opens everything except the tills' sockets and resumes the open transactions.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::config::{self, Assumptions, Config};
use crate::metrics::Metrics;
use crate::overlay::Loaded;
use crate::till::{Command, Wires};
use pos_daemon::wire::Connector;
use pos_journal::{Journal, Opened, SoldMark};
use pos_reader::{ReaderFamily, ReaderSettings};

use super::clock::{Clock, ClockWatch};
use super::closes::CloseControl;
use super::devices::{
    Devices, GatewayControl, Link, PrinterControl, ReaderControl, RecordedReader, TrainerControl, reader_settings,
};
use super::engine::Engine;
use super::engine::open_transactions::OpenTransactions;
use super::fleet::FleetControl;
use super::identity::{Ground, Identity};
use super::journal_writer::JournalWriter;
use super::limits::Limits;
use super::log_level::LogControl;
use super::old_copy::{OldCopy, first_request};
use super::operators::OperatorService;
use super::refusals::RefusalLog;
use super::surroundings::{BookWrapper, Random, Surroundings};
use super::task_results::TaskResult;
use super::teller::Teller;
use super::updates::Answered;
use super::{Agent, Error};

/// The receiving ends of the loop's channels.
pub(super) struct Ends {
    pub(super) reader: mpsc::Receiver<pos_reader::ReaderEvent>,
    pub(super) tasks: mpsc::Receiver<TaskResult>,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) printer: mpsc::Receiver<pos_printer::PrinterEvent>,
}

/// Opens everything except the tills' sockets, and resumes the open transactions.
pub(super) fn start(loaded: Loaded, surroundings: Surroundings, tills: Wires) -> Result<(Agent, Ends), Error> {
    let Loaded { config, given } = loaded;
    let (mut journal, opened) = Journal::open(&config.journal.path)?;
    journal.keep_days(Some(config.journal.keep_days));
    let clock = Clock::new(surroundings.board, opened.last_unix_ms);
    let link = match surroundings.gateway.is_some() && surroundings.link.is_none() {
        true => Link::not_needed(),
        false => Link::to(&config.gateway.url, surroundings.link),
    };
    let client = open_gateway(&config, surroundings.gateway, &clock)?;
    let limits = Limits::new(&config.terminal)?;
    let way = surroundings.reader;
    let settings = ReaderSettings { way, ..reader_settings(&config, &clock) };
    let (reader, from_reader) = pos_reader::spawn(settings, ReaderFamily::of(&config.reader)?);
    let (printers, from_printer) = open_printers(&config, surroundings.printer.as_ref());
    let first = can_be_asked_by_date(&config.gateway.assumptions)
        .then(|| first_request(&surroundings.random, clock.monotonic()));
    let old_copy = OldCopy::new(&opened, first);
    let wires = DeviceWires { client, link, reader, from_reader, printers, from_printer };
    let from_before = FromBefore { journal, opened, old_copy, wrapper: surroundings.book };
    let times = (clock, surroundings.random);
    let (mut agent, ends) = assemble(config, Ground::Shop, limits, times, from_before, wires, tills)?;
    agent.use_given(given);
    Ok((agent, ends))
}

/// Builds an agent from its parts.
pub(super) fn assemble(
    config: Config,
    ground: Ground,
    limits: Limits,
    (clock, random): (Clock, Random),
    FromBefore { journal, opened, old_copy, wrapper }: FromBefore,
    DeviceWires { client, link, reader, from_reader, printers, from_printer }: DeviceWires,
    Wires { commands, progress }: Wires,
) -> Result<(Agent, Ends), Error> {
    let (tasks, from_tasks) = mpsc::channel(64);
    let trains = ground == Ground::Training;
    let surrounding = (clock.clone(), Arc::clone(&random), tasks.clone());
    let operators = OperatorService::new(&config.operators, limits.currency(), &journal, trains, surrounding)?;
    let recorded = RecordedReader::new(journal.latest_reader()?);
    let last_number = opened.last_number.max(opened.old_copy.above);
    let sold =
        (!trains).then(|| SoldMark::of(&config.terminal.id, &config.journal.mark_folder(), &config.journal.path));
    let mut journal = JournalWriter::new(journal, last_number, sold, wrapper)?;
    let answered = Answered::begin(&mut journal);
    let old_copy = if journal.is_of_a_terminal_that_sold() { old_copy.of_no_new_terminal() } else { old_copy };
    let printers = PrinterControl::new(&config, printers, trains);
    let engine = Engine {
        identity: Identity::new(ground, &config.terminal.id, client.account()),
        limits,
        random,
        journal,
        old_copy,
        operators,
        sales: OpenTransactions::new(&config),
        teller: Teller::new(progress, printers.letterhead.words.clone(), trains),
        devices: Devices {
            reader: ReaderControl::new(&config, clock.clone(), reader, recorded),
            gateway: GatewayControl::new(client, link, clock.clone(), tasks.clone()),
            printers,
            trainer: trains.then(|| TrainerControl::new(tasks.clone())),
        },
        metrics: Metrics::new(),
        tasks: tasks.clone(),
        stopping: false,
        clock: clock.clone(),
        config,
    };
    let mut agent = Agent {
        closing: CloseControl::new(&engine.config, clock.clone(), tasks),
        training: Default::default(),
        log: LogControl::new(clock),
        refusals: RefusalLog::default(),
        fleet: FleetControl::new(&engine.config),
        restart: None,
        given: None,
        restart_by: None,
        clock_watch: ClockWatch::default(),
        answered,
        waiting_for_list: Vec::new(),
        engine,
    };
    if !agent.engine.journal.is_barred() {
        agent.engine.resume(opened.unsettled);
        if !trains {
            agent.recover_commands();
        }
    }
    Ok((agent, Ends { reader: from_reader, tasks: from_tasks, commands, printer: from_printer }))
}

/// The opened devices.
pub(super) struct DeviceWires {
    pub(super) client: pos_gateway::Client,
    pub(super) link: Link,
    pub(super) reader: pos_reader::ReaderHandle,
    pub(super) from_reader: mpsc::Receiver<pos_reader::ReaderEvent>,
    pub(super) printers: Vec<(config::Printer, pos_printer::Handle)>,
    pub(super) from_printer: mpsc::Receiver<pos_printer::PrinterEvent>,
}

/// The state from earlier runs.
pub(super) struct FromBefore {
    pub(super) journal: Journal,
    pub(super) opened: Opened,
    pub(super) old_copy: OldCopy,
    pub(super) wrapper: Option<BookWrapper>,
}

/// Opens the gateway's client, over the given connection or the system's network.
fn open_gateway(config: &Config, way: Option<Connector>, clock: &Clock) -> Result<pos_gateway::Client, Error> {
    let token = pos_gateway::Token::load(&config.gateway)?;
    let certificates_at = clock.clone();
    let certificates_at = pos_gateway::CertificateClock::new(move || certificates_at.for_gateway());
    Ok(pos_gateway::Client::over(way, &config.gateway, &config.terminal.point_of_sale(), token, certificates_at)?)
}

/// Opens the printers and the channel of their events. The channel closes when their tasks end.
fn open_printers(
    config: &Config,
    way: Option<&Connector>,
) -> (Vec<(config::Printer, pos_printer::Handle)>, mpsc::Receiver<pos_printer::PrinterEvent>) {
    let (to_us, from_printer) = mpsc::channel(64);
    let start = |printer: &config::Printer| match way {
        Some(way) => pos_printer::spawn_over(way.clone(), printer.clone(), to_us.clone()),
        None => pos_printer::spawn(printer.clone(), to_us.clone()),
    };
    (config.printer.iter().map(|printer| (printer.clone(), start(printer))).collect(), from_printer)
}

/// Returns whether the gateway can be asked by date. A gateway whose lists contain no references cannot return them by
/// date either.
fn can_be_asked_by_date(assumptions: &Assumptions) -> bool {
    assumptions.query_by_date && assumptions.query_echoes_reference
}
