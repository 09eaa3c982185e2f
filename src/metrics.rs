//! The metrics for machines, and their text in the format OpenMetrics 1.0.
//!
//! Every value of a label is fixed in the program, because the types require `&'static str`. So no text from a till,
//! the gateway or a card can become a label, and the text has a maximum length. Counting takes some hundred
//! nanoseconds, allocates only a few times while the program runs, and cannot fail. `agent/views/figures.rs` does the
//! counting.
//!
//! Counters begin at zero with each start of the program, which `process_start_time_seconds` shows.

use std::time::Duration;

use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use pos_core::transaction::Outcome;
use pos_terms::transaction::Kind;

/// The bounds of all histograms, in seconds. Each is about three times the previous one, and they range from the
/// agent's own time to the longest wait for a card. All parts of a transaction share one list, because they are
/// compared with each other.
const BOUNDS_S: [f64; 13] = [0.000_1, 0.000_3, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// The printers by their position in the configuration. Their names are free text and must not become labels.
const PRINTERS: [&str; 2] = ["1", "2"];

/// The labels with their values.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// The counters, histograms and gauges.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    sales: Family<Labels<3>, Counter>,
    parts: Family<Labels<1>, Histogram, fn() -> Histogram>,
    syncs: Histogram,
    started: Gauge,
    unconfirmed: Gauge,
    reversals: Gauge,
    for_person: Gauge,
    reader: Gauge,
    keys: Family<Labels<1>, Gauge>,
    gateway: Gauge,
    journal: Gauge,
    journal_bytes: Family<Labels<1>, Gauge>,
    printers: Family<Labels<1>, Gauge>,
    receipts: Family<Labels<1>, Gauge>,
}

/// The parts of a transaction's time.
#[derive(Clone, Copy, Debug)]
pub struct SaleTiming {
    /// The time from the start until the card was read.
    pub reader: Duration,
    /// The time from passing the request to the gateway's client until the answer.
    pub gateway: Duration,
    /// The time for writes to the disk.
    pub journal: Duration,
    /// The agent's own time.
    pub agent: Duration,
}

/// The state of the terminal at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalStanding {
    /// The time when this process started, according to the best clock now, in seconds since 1970.
    pub started_unix_s: i64,
    /// The number of unconfirmed transactions.
    pub unconfirmed: usize,
    /// The number of unconfirmed transactions that are being reversed.
    pub reversals: usize,
    /// The number of unconfirmed transactions that wait for a person.
    pub for_person: usize,
    /// True if the reader can be used.
    pub reader_ready: bool,
    /// The number of unused card-data keys in the reader, if the reader has reported it.
    pub card_keys: Option<u64>,
    /// The number of unused PIN keys in the reader, if the reader has reported it.
    pub pin_keys: Option<u64>,
    /// True if the last contact reached the gateway.
    pub gateway_reached: bool,
    /// True if the last write to the journal succeeded.
    pub journal_written: bool,
    /// The size of the journal's file, in bytes.
    pub journal_bytes: u64,
    /// The size of the journal's WAL file, in bytes.
    pub wal_bytes: u64,
    /// The printers, in the order of the configuration.
    pub printers: Vec<PrinterStanding>,
}

/// The state of a printer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrinterStanding {
    /// True if the printer does not need a person.
    pub ready: bool,
    /// The number of receipts that wait for the printer.
    pub waiting: usize,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Creates metrics with all counts at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            sales: Family::default(),
            parts: Family::new_with_constructor(histogram),
            syncs: histogram(),
            started: Gauge::default(),
            unconfirmed: Gauge::default(),
            reversals: Gauge::default(),
            for_person: Gauge::default(),
            reader: Gauge::default(),
            keys: Family::default(),
            gateway: Gauge::default(),
            journal: Gauge::default(),
            journal_bytes: Family::default(),
            printers: Family::default(),
            receipts: Family::default(),
        };
        metrics.name_them();
        metrics
    }

    fn name_them(&mut self) {
        let help = "The start time of this process, by the terminal's current clock";
        self.registry.register_with_unit("process_start_time", help, Unit::Seconds, self.started.clone());
        let ours = self.registry.sub_registry_with_prefix("pos_agent");
        let build = Info::new([("version", env!("CARGO_PKG_VERSION")), ("built", env!("POS_AGENT_BUILD_UNIX_S"))]);
        ours.register("build", "The program's version and build time (seconds since 1970)", build);
        let help = "Transactions that ended, by kind, outcome and reason";
        ours.register("sales", help, self.sales.clone());
        let help = "Time of each part of a sale with a card";
        ours.register_with_unit("sale_part", help, Unit::Seconds, self.parts.clone());
        let help = "Time that the disk took for each written step";
        ours.register_with_unit("journal_sync", help, Unit::Seconds, self.syncs.clone());
        ours.register("unconfirmed_sales", "Sales with an unknown outcome", self.unconfirmed.clone());
        let help = "Unconfirmed sales that the agent is reversing";
        ours.register("open_reversals", help, self.reversals.clone());
        ours.register("sales_for_person", "Unconfirmed sales that are waiting for a person", self.for_person.clone());
        ours.register("reader_ready", "1 while the card reader can be used", self.reader.clone());
        ours.register(
            "reader_keys_left",
            "Keys left in the reader, once the reader has reported them",
            self.keys.clone(),
        );
        let help = "1 when the last request reached the gateway";
        ours.register("gateway_reachable", help, self.gateway.clone());
        let help = "1 when the last write to the journal succeeded";
        ours.register("journal_writable", help, self.journal.clone());
        let help = "Size of the journal and of the file with its latest entries";
        ours.register_with_unit("journal_size", help, Unit::Bytes, self.journal_bytes.clone());
        let help = "1 while the printer needs no attention, by its position in the configuration";
        ours.register("printer_ready", help, self.printers.clone());
        ours.register("printer_receipts_waiting", "Receipts that are waiting for the printer", self.receipts.clone());
    }

    /// Counts the end of a transaction. Only the code of its reason becomes a label, because the details may contain
    /// any text.
    pub fn ended(&self, kind: Kind, outcome: &Outcome) {
        let reason = outcome.why().map_or("", |why| why.reason.as_str());
        let labels = [("kind", kind.as_str()), ("outcome", outcome.word().as_str()), ("reason", reason)];
        self.sales.get_or_create(&labels).inc();
    }

    /// Counts the times of a completed card transaction.
    pub fn timed(&self, timing: SaleTiming) {
        let SaleTiming { reader, gateway, journal, agent } = timing;
        for (part, took) in [("reader", reader), ("gateway", gateway), ("journal", journal), ("agent", agent)] {
            self.parts.get_or_create(&[("part", part)]).observe(took.as_secs_f64());
        }
    }

    /// Counts a step that is on the disk.
    pub fn synced(&self, took: Duration) {
        self.syncs.observe(took.as_secs_f64());
    }

    /// Returns the text of the metrics, with the terminal's state.
    #[must_use]
    pub fn text(&self, now: &TerminalStanding) -> String {
        self.show(now);
        let mut text = String::with_capacity(16 * 1024);
        text::encode(&mut text, &self.registry).expect("a string takes everything");
        text
    }

    fn show(&self, now: &TerminalStanding) {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let count = |count: usize| number(count as u64);
        self.started.set(now.started_unix_s);
        self.unconfirmed.set(count(now.unconfirmed));
        self.reversals.set(count(now.reversals));
        self.for_person.set(count(now.for_person));
        self.reader.set(now.reader_ready.into());
        for (keys, left) in [("card", now.card_keys), ("pin", now.pin_keys)] {
            if let Some(left) = left {
                self.keys.get_or_create(&[("keys", keys)]).set(number(left));
            }
        }
        self.gateway.set(now.gateway_reached.into());
        self.journal.set(now.journal_written.into());
        for (file, bytes) in [("journal", now.journal_bytes), ("wal", now.wal_bytes)] {
            self.journal_bytes.get_or_create(&[("file", file)]).set(number(bytes));
        }
        for (place, printer) in PRINTERS.into_iter().zip(&now.printers) {
            self.printers.get_or_create(&[("printer", place)]).set(printer.ready.into());
            self.receipts.get_or_create(&[("printer", place)]).set(count(printer.waiting));
        }
    }
}

fn histogram() -> Histogram {
    Histogram::new(BOUNDS_S)
}
