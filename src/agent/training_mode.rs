//! The training ground: an agent of its own beside the shop's, with a journal of its own and the trainer in the place
//! of reader and gateway.
//!
//! It is the same agent: the same core, views, receipts and rules of what may follow what, so that a cashier learns the
//! real thing. What differs stands here and in `devices.rs`: what the core asks of a device goes to the trainer
//! ([`pos_core::training`]), no reader and no printer is opened, and the gateway's client has a wire that opens nothing
//! and a token that is none. So a sale of training that the power has cut is taken up again like a real one, and still
//! reaches nobody.
//!
//! A real sale never waits for one of training. One of training is refused as long as a real one is at the reader.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::till::{Command, Refused, Wires};
use pos_daemon::systemd;
use pos_daemon::wire::Connector;
use pos_journal::{Journal, Purpose};

use super::engine::Engine;
use super::identity::Ground;
use super::journal_writer::refused_by_journal;
use super::old_copy::OldCopy;
use super::start::{DeviceWires, Ends, FromBefore, assemble};
use super::{Agent, COMMANDS_WAITING, Error};

/// Where training's journal lies: beside the real one.
const JOURNAL: &str = "training.db";
/// So many days of training are kept.
const KEEP_DAYS: u32 = 30;

/// The training ground, once somebody has trained.
#[derive(Default)]
pub(super) struct TrainingMode {
    way: Option<Way>,
}

/// The way to the agent that trains. It ends when this is dropped.
struct Way {
    commands: mpsc::Sender<Command>,
    _open: oneshot::Sender<()>,
}

impl TrainingMode {
    /// Hands it a till's command.
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
            command.refuse(Refused::NotReady { why: "the training ground has too much to do; ask again".to_owned() });
        }
    }

    /// The way there; it is opened for the first who trains.
    fn way(&mut self, shop: &Engine) -> Result<&Way, Refused> {
        if shop.identity.trains() {
            return Err(Refused::NotReady { why: "there is no training within training".to_owned() });
        }
        match &mut self.way {
            Some(way) => Ok(way),
            none => {
                let way = open(shop).map_err(|error| match error {
                    Error::Journal(error) => refused_by_journal(error),
                    error => Refused::NotReady { why: error.to_string() },
                })?;
                Ok(none.insert(way))
            }
        }
    }
}

/// Whoever trains must not take the end of the sale at the reader for that of the lesson.
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
    tracing::info!("the training ground is open; its journal is {JOURNAL}");
    tokio::spawn(async move {
        let forever = std::future::pending();
        tokio::select! {
            // As in a power cut: what was open is taken up again when somebody trains the next time.
            _ = closed => {}
            () = super::work(agent, ends, None, systemd::Notify::nobody(), forever) => {}
        }
    });
    Ok(Way { commands, _open: open })
}

/// The agent that trains: with the shop's clock and configuration, a journal of its own, and no device.
fn start_training(shop: &Engine, commands: mpsc::Receiver<Command>) -> Result<(Agent, Ends), Error> {
    let mut config = shop.config.clone();
    config.journal.path = config.journal.path.with_file_name(JOURNAL);
    // Not even the shop's certificate is read.
    (config.gateway.client_certificate_file, config.gateway.client_key_file) = (None, None);
    config.gateway.client_key_credential = None;
    let (mut journal, opened) = Journal::open_for(&config.journal.path, Purpose::Training)?;
    journal.keep_days(Some(KEEP_DAYS));
    let nowhere = || std::io::Error::new(std::io::ErrorKind::NotConnected, "training reaches no gateway");
    let way: Connector = Arc::new(move || Box::pin(async move { Err(nowhere()) }));
    let client = pos_gateway::Client::over(
        Some(way),
        &config.gateway,
        &config.terminal.point_of_sale(),
        pos_gateway::Token::none(),
        std::time::SystemTime::UNIX_EPOCH,
    )?;
    let (reader, from_reader) = pos_reader::nobody();
    let wires = DeviceWires { client, reader, from_reader, printers: Vec::new(), from_printer: mpsc::channel(1).1 };
    let from_before = FromBefore { old_copy: OldCopy::new(&opened, false), journal, opened, wrapper: None };
    let tills = Wires { commands, progress: shop.teller.progress().clone() };
    let times = (shop.clock.clone(), Arc::clone(&shop.random));
    assemble(config, Ground::Training, shop.limits, times, from_before, wires, tills)
}
