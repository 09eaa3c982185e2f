//! The trainer, which replaces the devices in training mode. Nothing reaches a real device.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::agent::task_results::TaskResult;
use pos_core::training::{Timed, Trainer};
use pos_core::transaction::{Action, Transaction};
use pos_terms::transaction::SaleNumber;

/// The trainer and its running scenario.
pub(in crate::agent) struct TrainerControl {
    trainer: Trainer,
    /// The scenario that replaces the reader.
    at_reader: Option<AbortHandle>,
    /// The channel that returns the events of a scenario.
    tasks: mpsc::Sender<TaskResult>,
}

impl TrainerControl {
    pub(in crate::agent) fn new(tasks: mpsc::Sender<TaskResult>) -> Self {
        Self { trainer: Trainer::default(), at_reader: None, tasks }
    }

    /// Performs an action in place of the device.
    pub(super) fn perform(&mut self, sale: &Transaction, action: &Action) {
        let Some(events) = self.trainer.plays(sale, action) else { return };
        let at_reader = matches!(action, Action::AskTip | Action::Arm | Action::StopReader | Action::AnswerCard(_));
        let playing = tokio::spawn(play(sale.order().number, events, self.tasks.clone())).abort_handle();
        if let Some(before) = at_reader.then(|| self.at_reader.replace(playing)).flatten() {
            before.abort();
        }
    }
}

async fn play(sale: SaleNumber, events: Vec<Timed>, done: mpsc::Sender<TaskResult>) {
    for (after, event) in events {
        if after > Duration::ZERO {
            sleep(after).await;
        }
        if done.send(TaskResult::Played { sale, event }).await.is_err() {
            return;
        }
    }
}
