//! The training ground: an agent of its own beside the shop's, with a journal of its own and the trainer in the place
//! of reader and gateway.
//!
//! It is the same agent: the same core, views, receipts and rules of what may follow what, so that a cashier learns the
//! real thing. What differs stands here and in `start.rs`: what the core asks of a device goes to the trainer
//! ([`pos_core::training`]), no reader and no printer is opened, and the gateway's client has a wire that opens nothing
//! and a token that is none. So a sale of training that the power has cut is taken up again like a real one, and still
//! reaches nobody.
//!
//! A real sale never waits for one of training. One of training is refused as long as a real one is at the reader.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::till::{Command, Refused, Wanted};
use pos_core::sale::{Action, Order, Sale};
use pos_core::training::{self, Scene, Timed, Trainer};
use pos_daemon::systemd;
use pos_reader::ReaderProgress;
use pos_terms::transaction::{PaymentId, SaleNumber};

use super::journal_desk::refused_by_journal;
use super::recovery::ANOTHER_ACCOUNT;
use super::{Agent, COMMANDS_WAITING, Error, TaskResult};

/// Where training's journal lies: beside the real one.
pub(super) const JOURNAL: &str = "training.db";
/// So many days of training are kept.
pub(super) const KEEP_DAYS: u32 = 30;

/// What this agent works for.
pub(super) enum Ground {
    /// The shop; with the way to its training ground, once somebody has trained.
    Shop(Option<TrainingGround>),
    /// Training.
    Training(TrainingDesk),
}

/// The way to the agent that trains. It ends when this is dropped.
pub(super) struct TrainingGround {
    commands: mpsc::Sender<Command>,
    _open: oneshot::Sender<()>,
}

/// What only an agent that trains has.
#[derive(Default)]
pub(super) struct TrainingDesk {
    trainer: Trainer,
    /// What is being played at the place of the reader.
    at_reader: Option<AbortHandle>,
}

impl Agent {
    /// Whether this is the agent that trains.
    pub(super) fn trains(&self) -> bool {
        matches!(self.ground, Ground::Training(_))
    }

    /// A transaction of training is for the agent that trains, and no other is.
    pub(super) fn is_on_its_ground(&self, wanted: &Wanted) -> Result<(), Refused> {
        if wanted.training.is_some() == self.trains() {
            return Ok(());
        }
        Err(Refused::NotPossible { why: "a transaction of training, and none but that, is for the trainer".to_owned() })
    }

    /// The payments of training are the trainer's, and all others the gateway's.
    pub(super) fn is_of_its_ground(&self, payment: &PaymentId) -> Result<(), Refused> {
        match (self.trains(), training::is_of_training(payment)) {
            (true, false) => Err(Refused::NotPossible { why: format!("{payment} is no payment of training") }),
            (false, true) => {
                let why = format!("{payment} is a payment of training, which never was; say \"training\" with it");
                Err(Refused::NotPossible { why })
            }
            _ => Ok(()),
        }
    }

    /// Nothing follows a transaction of the other ground, or of another account at the gateway, however it came into
    /// this journal.
    pub(super) fn is_transaction_of_its_ground(&self, sale: &Sale) -> Result<(), Refused> {
        let order = sale.order();
        if order.training.is_some() != self.trains() {
            let what = if self.trains() { "is none of training" } else { "is one of training, which never was" };
            return Err(Refused::NotPossible { why: format!("transaction {} {what}", order.number) });
        }
        if self.is_of_another_account(order) {
            let why = format!("transaction {} {ANOTHER_ACCOUNT}: nothing of this one's can follow it", order.number);
            return Err(Refused::NotPossible { why });
        }
        sale.host().id.as_ref().map_or(Ok(()), |payment| self.is_of_its_ground(payment))
    }

    /// Whether a transaction is one of training, or follows one, and this agent is not the one that trains: then
    /// nothing of it may be sent.
    pub(super) fn was_trained(&self, order: &Order) -> bool {
        let follows = order.transaction.of().is_some_and(|of| training::is_of_training(&of.payment));
        !self.trains() && (order.training.is_some() || follows)
    }

    /// Hands a till's command to the training ground.
    pub(super) fn train(&mut self, command: Command) {
        if !self.config.training.allowed {
            return command.refuse(Refused::TrainingOff);
        }
        if let Some(busy) = self.busy_with_a_real_sale(&command) {
            return command.refuse(busy);
        }
        let sent = match self.training_ground() {
            Ok(ground) => ground.commands.try_send(command),
            Err(refused) => return command.refuse(refused),
        };
        if let Err(mpsc::error::TrySendError::Full(command) | mpsc::error::TrySendError::Closed(command)) = sent {
            command.refuse(Refused::NotReady { why: "the training ground has too much to do; ask again".to_owned() });
        }
    }

    /// Whoever trains must not take the end of the sale at the reader for that of the lesson.
    fn busy_with_a_real_sale(&self, command: &Command) -> Option<Refused> {
        let Command::Begin { wanted, .. } = command else { return None };
        let number = self.reader.in_use_by.filter(|_| wanted.wish.kind.needs_card())?;
        let order = self.sales.open.get(&number)?.sale.order();
        Some(Refused::Busy { till: order.till.clone(), reference: order.reference.clone() })
    }

    /// The way there; it is opened for the first who trains.
    fn training_ground(&mut self) -> Result<&TrainingGround, Refused> {
        let opened = match &self.ground {
            Ground::Shop(None) => Some(self.open_training_ground()),
            _ => None,
        };
        if let Some(opened) = opened {
            let ground = opened.map_err(|error| match error {
                Error::Journal(error) => refused_by_journal(error),
                error => Refused::NotReady { why: error.to_string() },
            })?;
            self.ground = Ground::Shop(Some(ground));
        }
        match &self.ground {
            Ground::Shop(Some(ground)) => Ok(ground),
            _ => Err(Refused::NotReady { why: "there is no training within training".to_owned() }),
        }
    }

    fn open_training_ground(&self) -> Result<TrainingGround, Error> {
        let (commands, receiver) = mpsc::channel(COMMANDS_WAITING);
        let (agent, ends) = self.start_training(receiver)?;
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
        Ok(TrainingGround { commands, _open: open })
    }

    /// In training the trainer takes what is for a device; what is left over is carried out as always.
    pub(super) fn left_by_the_trainer(&mut self, number: SaleNumber, action: Action) -> Option<Action> {
        let Ground::Training(desk) = &mut self.ground else { return Some(action) };
        let active = self.sales.open.get(&number)?;
        let Some(scenes) = desk.trainer.plays(&active.sale, &action) else { return Some(action) };
        let at_reader = matches!(action, Action::AskTip | Action::Arm | Action::StopReader | Action::AnswerCard(_));
        let playing = tokio::spawn(play(number, scenes, self.tasks.clone())).abort_handle();
        if let Some(before) = at_reader.then(|| desk.at_reader.replace(playing)).flatten() {
            before.abort();
        }
        None
    }

    /// A scene is played.
    pub(super) fn played(&mut self, number: SaleNumber, scene: Scene) {
        match scene {
            Scene::PresentCard => self.announce_step(number, &ReaderProgress::PresentCard),
            Scene::PinEntry => self.announce_step(number, &ReaderProgress::PinEntry { digits: None }),
            Scene::RemoveCard => self.announce_step(number, &ReaderProgress::RemoveCard),
            Scene::Heard(event) => self.advance(number, event),
            Scene::Free => drop(self.reader.in_use_by.take_if(|at_reader| *at_reader == number)),
        }
    }
}

async fn play(sale: SaleNumber, scenes: Vec<Timed>, done: mpsc::Sender<TaskResult>) {
    for (after, scene) in scenes {
        if after > Duration::ZERO {
            sleep(after).await;
        }
        if done.send(TaskResult::Played { sale, scene }).await.is_err() {
            return;
        }
    }
}
