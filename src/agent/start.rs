//! The start: everything is opened but the tills' wires, and the sales that were found open are taken up.

use tokio::sync::mpsc;

use crate::config::{self, Assumptions, Config};
use crate::gateway;
use crate::journal::Journal;
use crate::metrics::Metrics;
use crate::printer;
use crate::reader::{self, ReaderFamily, ReaderSettings};
use crate::till::{Command, Wires};
use crate::wire::Connector;

use super::answered::Answered;
use super::clock::Clock;
use super::closing::ClosingDesk;
use super::gateway_desk::GatewayDesk;
use super::journal_desk::JournalDesk;
use super::limits::Limits;
use super::old_copy::OldCopy;
use super::operators::OperatorDesk;
use super::reader_change::RecordedReader;
use super::reader_desk::ReaderDesk;
use super::reader_settings::reader_settings;
use super::receipts::{PrinterDesk, letterhead};
use super::sale_desk::SaleDesk;
use super::shop_time::ShopTime;
use super::{Agent, Error, Surroundings, TaskResult};

/// The receiving ends of the loop.
pub(super) struct Ends {
    pub(super) reader: mpsc::Receiver<reader::ReaderEvent>,
    pub(super) tasks: mpsc::Receiver<TaskResult>,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) printer: mpsc::Receiver<printer::PrinterEvent>,
}

impl Agent {
    /// Opens everything but the tills' wires and replays the open sales.
    pub(super) fn start(config: Config, surroundings: Surroundings, tills: Wires) -> Result<(Self, Ends), Error> {
        let (mut journal, opened) = Journal::open(&config.journal.path)?;
        journal.keep_days(Some(config.journal.keep_days));
        #[cfg(feature = "sim")]
        journal.watched(surroundings.watch);
        let clock = Clock::new(surroundings.board, opened.last_unix_ms);
        let client = open_gateway(&config, surroundings.gateway, &clock)?;
        let limits = Limits::new(&config.terminal)?;
        let operators = OperatorDesk::new(&config.operators, limits.currency(), &journal, &clock)?;
        let way = surroundings.reader;
        let settings = ReaderSettings { way, ..reader_settings(&config, &clock) };
        let (reader, from_reader) = reader::spawn(settings, ReaderFamily::of(&config.reader));
        let (handles, from_printer) = open_printers(&config, surroundings.printer.as_ref());
        let (tasks, from_tasks) = mpsc::channel(64);
        let recorded = RecordedReader::new(journal.latest_reader()?);
        let answered = Answered::begin(&mut journal);
        let last_number = opened.last_number.max(opened.old_copy.above);
        let mut agent = Self {
            limits,
            clock,
            random: surroundings.random,
            journal: JournalDesk { book: journal, fault: None, last_number },
            old_copy: OldCopy::new(&opened, can_be_asked_by_date(&config.gateway.assumptions)),
            gateway: GatewayDesk::new(client),
            reader: ReaderDesk::new(reader, recorded),
            printers: PrinterDesk { handles, letterhead: letterhead(&config.terminal) },
            sales: SaleDesk::new(&config),
            closing: ClosingDesk::new(ShopTime::new(&config.close)),
            operators,
            tasks,
            progress: tills.progress,
            metrics: Metrics::new(),
            log_changed: None,
            answered,
            stopping: false,
            config,
        };
        agent.resume(opened.unsettled);
        let commands = tills.commands;
        Ok((agent, Ends { reader: from_reader, tasks: from_tasks, commands, printer: from_printer }))
    }
}

/// The gateway's client, over a wire that is given or the system's.
fn open_gateway(config: &Config, way: Option<Connector>, clock: &Clock) -> Result<gateway::Client, Error> {
    let token = gateway::Token::load(&config.gateway)?;
    let certificates_at = clock.clone();
    let certificates_at = gateway::CertificateClock::new(move || certificates_at.for_gateway());
    Ok(gateway::Client::over(way, &config.gateway, &config.terminal, token, certificates_at)?)
}

/// The printers, and what they say. The channel ends with their tasks.
fn open_printers(
    config: &Config,
    way: Option<&Connector>,
) -> (Vec<printer::Handle>, mpsc::Receiver<printer::PrinterEvent>) {
    let (to_us, from_printer) = mpsc::channel(64);
    let start = |printer: &config::Printer| match way {
        Some(way) => printer::spawn_over(way.clone(), printer.clone(), to_us.clone()),
        None => printer::spawn(printer.clone(), to_us.clone()),
    };
    (config.printer.iter().map(start).collect(), from_printer)
}

/// A gateway that names no references in its lists shows none by date either.
fn can_be_asked_by_date(assumptions: &Assumptions) -> bool {
    assumptions.query_by_date && assumptions.query_echoes_reference
}
