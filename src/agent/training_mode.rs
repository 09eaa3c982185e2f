//! Training mode: a separate agent in addition to the shop's, with its own journal. The trainer replaces the reader and
//! the gateway.
//!
//! The training agent uses the same core, views, receipts and rules for follow-ups, so a cashier learns the real
//! procedure. Only this file and `devices.rs` handle training differently. The core's actions for devices go to the
//! trainer ([`pos_core::training`]), and no reader and no printer is opened. The gateway's client has an invalid token
//! and a connection that never opens. So a training transaction is resumed after a power cut like a real one, but
//! reaches no device and no gateway.
//!
//! A real transaction never waits for a training transaction. While a real transaction is at the reader, a training
//! transaction is refused.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::till::{Command, Refused, Wires};
use pos_daemon::systemd;
use pos_daemon::wire::Connector;
use pos_journal::{Journal, Purpose};
use pos_words::Message;

use super::devices::Link;
use super::engine::Engine;
use super::identity::Ground;
use super::journal_writer::refused_by_journal;
use super::old_copy::OldCopy;
use super::start::{DeviceWires, Ends, FromBefore, assemble};
use super::{Agent, COMMANDS_WAITING, Error};

/// The file name of the training journal, in the folder of the real one.
const JOURNAL: &str = "training.db";
/// The number of days for which training transactions are kept.
const KEEP_DAYS: u32 = 30;

/// Training mode. Its agent starts at the first training request.
#[derive(Default)]
pub(super) struct TrainingMode {
    way: Option<Way>,
}

/// The channel to the training agent. The agent ends when this value is dropped.
struct Way {
    commands: mpsc::Sender<Command>,
    _open: oneshot::Sender<()>,
}

impl TrainingMode {
    /// Passes a till's command to the training agent.
    pub(super) fn train(&mut self, shop: &Engine, command: Command) {
        if !shop.config.training.allowed {
            return command.refuse(Refused::TrainingOff);
        }
        if let Some(busy) = busy_with_a_real_sale(shop, &command) {
            return command.refuse(busy);
        }
        let sent = match self.way(shop) {
            Ok(way) => way.commands.try_send(command),
            Err(refused) => return command.refuse(refused),
        };
        if let Err(mpsc::error::TrySendError::Full(command) | mpsc::error::TrySendError::Closed(command)) = sent {
            command.refuse(Refused::NotReady { why: Message::TrainingBusy.into() });
        }
    }

    /// Returns the channel to the training agent. Starts that agent at the first request.
    fn way(&mut self, shop: &Engine) -> Result<&Way, Refused> {
        if shop.identity.trains() {
            return Err(Refused::NotReady { why: Message::TrainingWithin.into() });
        }
        match &mut self.way {
            Some(way) => Ok(way),
            none => {
                let way = open(shop).map_err(|error| match error {
                    Error::Journal(error) => refused_by_journal(error),
                    error => Refused::NotReady { why: error.to_string().into() },
                })?;
                Ok(none.insert(way))
            }
        }
    }
}

/// Returns the refusal of a training transaction while a real one is at the reader. Otherwise a trainee could mistake
/// the real outcome for the training result.
fn busy_with_a_real_sale(shop: &Engine, command: &Command) -> Option<Refused> {
    let Command::Begin { wanted, .. } = command else { return None };
    let number = shop.devices.reader.in_use_by.filter(|_| wanted.wish.kind.needs_card())?;
    let order = shop.sales.get(number)?.order();
    Some(Refused::Busy { till: order.till.clone(), reference: order.reference.clone() })
}

fn open(shop: &Engine) -> Result<Way, Error> {
    let (commands, receiver) = mpsc::channel(COMMANDS_WAITING);
    let (agent, ends) = start_training(shop, receiver)?;
    let (open, closed) = oneshot::channel::<()>();
    tracing::info!("training mode is ready; its journal is {JOURNAL}");
    tokio::spawn(async move {
        let forever = std::future::pending();
        tokio::select! {
            // As after a power cut, open transactions are resumed when training starts again.
            _ = closed => {}
            _ = super::work(agent, ends, None, systemd::Notify::nobody(), forever) => {}
        }
    });
    Ok(Way { commands, _open: open })
}

/// Starts the training agent with the shop's clock and configuration, its own journal, and no device.
fn start_training(shop: &Engine, commands: mpsc::Receiver<Command>) -> Result<(Agent, Ends), Error> {
    let mut config = shop.config.clone();
    config.journal.path = config.journal.path.with_file_name(JOURNAL);
    // The training agent does not even read the shop's certificate.
    (config.gateway.client_certificate_file, config.gateway.client_key_file) = (None, None);
    config.gateway.client_key_credential = None;
    // The fleet gives no training transactions.
    config.fleet = None;
    let (mut journal, opened) = Journal::open_for(&config.journal.path, Purpose::Training)?;
    journal.keep_days(Some(KEEP_DAYS));
    let nowhere = || std::io::Error::new(std::io::ErrorKind::NotConnected, "training mode has no gateway");
    let way: Connector = Arc::new(move || Box::pin(async move { Err(nowhere()) }));
    let client = pos_gateway::Client::over(
        Some(way),
        &config.gateway,
        &config.terminal.point_of_sale(),
        pos_gateway::Token::none(),
        std::time::SystemTime::UNIX_EPOCH,
    )?;
    let (reader, from_reader) = pos_reader::nobody();
    let (link, printers, from_printer) = (Link::not_needed(), Vec::new(), mpsc::channel(1).1);
    let wires = DeviceWires { client, link, reader, from_reader, printers, from_printer };
    let from_before = FromBefore { old_copy: OldCopy::new(&opened, None), journal, opened, wrapper: None };
    let tills = Wires { commands, progress: shop.teller.progress().clone() };
    let times = (shop.clock.clone(), Arc::clone(&shop.random));
    assemble(config, Ground::Training, shop.limits, times, from_before, wires, tills)
}
