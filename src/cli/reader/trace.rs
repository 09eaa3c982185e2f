//! `pos-agent reader trace`: runs the configured reader without the agent, and prints a recording of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::Local;
use clap::{Args, ValueEnum};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

use super::super::exit::{Exit, Stop};
use super::super::out;
use crate::agent::clock;
use crate::config::{self, Config, DEFAULT_PATH};
use crate::overlay;
use pos_reader::{
    Arm, CardVerdict, Completion, EntryRequest, FamilyLeftOut, LocalTime, ReaderEvent, ReaderFamily, ReaderHandle,
    ReaderOrder, ReaderProgress, ReaderSettings, Unready, spawn,
};
use pos_terms::card::EntryMode;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;

/// The time for the start-up and for each later step without an event, in addition to the wait for a card.
const PATIENCE: Duration = Duration::from_secs(180);
/// The authorisation response codes that approve and decline (EMV Book 4, A6).
const APPROVED: [u8; 2] = *b"00";
const DECLINED: [u8; 2] = *b"Z1";
/// EMV transaction type (9C) of a purchase.
const PURCHASE: u8 = 0x00;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
The reader starts up, reads one card, and gets an answer for it. Nothing is
sent to a gateway and no money moves. By default the answer declines.

Standard output has each frame with its meaning. Card data, sealed or clear,
are zeros of the same length there, and KSNs stay. So the output may go to the
makers of pos-agent. As a file in tests/reader/recordings it is a test.

Stop the agent first, because it uses the reader's port.

Examples:
  systemctl stop pos-agent
  pos-agent reader trace > tap.trace
  pos-agent reader trace --entry none             only the start-up
  pos-agent reader trace --amount 0.50 --entry manual")]
pub(super) struct Trace {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_PATH)]
    config: PathBuf,
    /// The amount for which the card is read
    #[arg(long, default_value = "1.00")]
    amount: String,
    /// How the card is entered
    #[arg(long, value_enum, default_value_t = TracedEntry::Card)]
    entry: TracedEntry,
    /// Answer the card with an approval, for a test card
    #[arg(long)]
    approve: bool,
}

/// The ways in which a card is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TracedEntry {
    /// Insert, tap or swipe the card
    Card,
    /// Insert the card, or swipe it after its chip has failed
    Chip,
    /// Type the card number on the reader
    Manual,
    /// Read no card
    None,
}

impl Trace {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let config = overlay::shown(&self.config)?.config;
        let arm = self.arm(&config)?;
        out::say("# Recording of a card reader by pos-agent. Card data are zeros.");
        out::say_lines(&config::reader_section(&self.config)?);
        out::say("---");
        let settings = ReaderSettings {
            clock: Arc::new(local_time),
            recording: Some(Arc::new(|line: &str| out::say_lines(line))),
            ..ReaderSettings::of(&config.reader)
        };
        let left_out = |error: FamilyLeftOut| Stop::new(Exit::Config, error.to_string());
        let (handle, events) = spawn(settings, ReaderFamily::of(&config.reader).map_err(left_out)?);
        let patience = PATIENCE + Duration::from_secs(config.terminal.card_timeout_s);
        let mut traced = TracedReader { handle, events, port: config.reader.port.clone(), patience };
        let result = tokio::select! {
            result = traced.follow(arm, if self.approve { APPROVED } else { DECLINED }) => result,
            _ = tokio::signal::ctrl_c() => Err(Stop::new(Exit::NotSent, "stopped before the end")),
        };
        traced.close().await;
        result
    }

    /// Returns the order for the reader, or `None` if no card is read.
    fn arm(&self, config: &Config) -> Result<Option<Arm>, Stop> {
        let entry = match self.entry {
            TracedEntry::Card => EntryRequest::Card,
            TracedEntry::Chip => EntryRequest::Chip,
            TracedEntry::Manual => EntryRequest::Manual,
            TracedEntry::None => return Ok(None),
        };
        let usage = |error: &dyn std::fmt::Display| Stop::new(Exit::Usage, format!("--amount: {error}"));
        let currency = Currency::from_code(&config.terminal.currency).map_err(|error| usage(&error))?;
        let amount = Amount::parse(&self.amount, currency).map_err(|error| usage(&error))?;
        let at = local_time().ok_or_else(|| {
            Stop::new(Exit::NotSent, "the board's clock is wrong; set it, for example with timedatectl set-time")
        })?;
        let card_timeout = Duration::from_secs(config.terminal.card_timeout_s);
        Ok(Some(Arm { sale: SaleNumber::new(1), amount, transaction_type: PURCHASE, at, card_timeout, entry }))
    }
}

/// Returns the board's local time, or `None` before the build of this program (design: invariant 8).
fn local_time() -> Option<LocalTime> {
    let now = Local::now();
    (now.timestamp_millis() >= clock::built_unix_ms()).then(|| clock::for_reader(&now))
}

/// The reader while it is recorded.
struct TracedReader {
    handle: ReaderHandle,
    events: Receiver<ReaderEvent>,
    port: String,
    patience: Duration,
}

impl TracedReader {
    /// Follows the reader up to the end of one transaction.
    async fn follow(&mut self, arm: Option<Arm>, arc: [u8; 2]) -> Result<Exit, Stop> {
        out::aside(&format!("Waiting for the reader at {}.", self.port));
        self.ready().await?;
        let Some(arm) = arm else {
            out::aside("The reader is ready.");
            return Ok(Exit::Success);
        };
        let what = if arm.entry == EntryRequest::Manual { "Type a card number" } else { "Present a card" };
        out::aside(&format!("{what} for {}. Nothing is charged.", arm.amount));
        let sale = arm.sale;
        self.order(ReaderOrder::Arm(arm)).await?;
        let (mut is_chip, mut result) = (false, Ok(Exit::Success));
        loop {
            match self.next().await? {
                ReaderEvent::Card { presented, .. } => {
                    is_chip = presented.facts.entry == EntryMode::Icc;
                    let number = presented.facts.pan.as_ref().map_or("a card", |pan| pan.as_str());
                    out::aside(&format!("The reader has read {number}."));
                    let completion = Completion { arc, issuer_authentication: None, scripts: heapless::Vec::default() };
                    self.order(ReaderOrder::Complete { sale, completion }).await?;
                }
                // A tap and a swipe have no further answer.
                ReaderEvent::Completed { verdict, .. } if is_chip => out::aside(match verdict {
                    CardVerdict::Approved => "The card approves.",
                    CardVerdict::Refused => "The card declines.",
                    CardVerdict::Lost => "The card gave no last answer.",
                }),
                ReaderEvent::NoCard { why, .. } => {
                    result = Err(Stop::new(Exit::NotSent, format!("no card was read: {why}")));
                }
                ReaderEvent::Progress { progress: ReaderProgress::RemoveCard, .. } => out::aside("Remove the card."),
                ReaderEvent::Progress { progress: ReaderProgress::InsertCard, .. } => out::aside("Insert the card."),
                ReaderEvent::Progress { progress: ReaderProgress::SwipeCard, .. } => out::aside("Swipe the card."),
                ReaderEvent::Unready(why) => {
                    out::aside(&why.to_string());
                    // The recording shows how the reader comes back.
                    self.ready().await?;
                    return Err(Stop::new(Exit::NotSent, format!("the transaction ended early: {why}")));
                }
                ReaderEvent::Idle => return result,
                _ => {}
            }
        }
    }

    /// Waits until the reader is ready.
    async fn ready(&mut self) -> Result<(), Stop> {
        loop {
            match self.next().await? {
                ReaderEvent::Ready(_) => return Ok(()),
                ReaderEvent::Unready(why @ Unready::Absent { .. }) => {
                    let hint = "if the agent runs, stop it first: systemctl stop pos-agent";
                    return Err(Stop::new(Exit::NotSent, format!("{why}; {hint}")));
                }
                ReaderEvent::Unready(why) => out::aside(&why.to_string()),
                _ => {}
            }
        }
    }

    async fn order(&self, order: ReaderOrder) -> Result<(), Stop> {
        self.handle.order(order).await.map_err(|error| Stop::new(Exit::Software, error.to_string()))
    }

    async fn next(&mut self) -> Result<ReaderEvent, Stop> {
        let event = timeout(self.patience, self.events.recv()).await;
        let silent = || Stop::new(Exit::NotSent, format!("the reader did nothing for {} s", self.patience.as_secs()));
        event.map_err(|_| silent())?.ok_or_else(|| Stop::new(Exit::Software, "the reader's task has ended"))
    }

    /// Closes the port. It is free once the reader's task has ended, which the end of its events shows.
    async fn close(self) {
        let Self { handle, mut events, .. } = self;
        drop(handle);
        while events.recv().await.is_some() {}
    }
}
