//! The devices: reader, gateway and printers. Each has its own state, performs actions and reports events. In training
//! mode, the trainer replaces all of them.
//!
//! A device decides nothing about a transaction. The core has decided each action, the agent has written it to the
//! journal, and `engine/leaving.rs` has checked that it may be performed.

mod gateway;
mod link;
mod printers;
mod reader;
mod trainer;

use pos_core::transaction::{Action, Event};
use pos_words::Sentence;

use super::engine::open_transactions::{Gate, OpenTransaction};

pub(super) use gateway::{GatewayControl, ProbeBrought};
pub(super) use link::Link;
pub(super) use printers::PrinterControl;
#[cfg(test)]
pub(super) use printers::receipt_of;
pub(super) use printers::words;
pub(super) use reader::{
    HeardReader, NO_SALE, ReaderControl, RecordedReader, no_card, no_tip, reader_settings, unready,
};
pub(super) use trainer::TrainerControl;

/// All devices.
pub(super) struct Devices {
    pub(super) reader: ReaderControl,
    pub(super) gateway: GatewayControl,
    pub(super) printers: PrinterControl,
    /// The trainer, which replaces the other devices in training mode.
    pub(super) trainer: Option<TrainerControl>,
}

impl Devices {
    /// Returns the reason why the reader cannot be used. The trainer needs no reader.
    pub(super) fn reader_trouble(&self) -> Option<Sentence> {
        if self.trainer.is_some() { None } else { self.reader.state.trouble() }
    }

    /// Returns the reason why no request can reach the gateway at the moment.
    pub(super) fn link_trouble(&self) -> Option<Sentence> {
        self.gateway.link_fault().map(|fault| fault.to_string().into())
    }

    /// Starts one action of a transaction without waiting: answers come back through the loop. If an event is known
    /// immediately, returns it.
    pub(super) fn perform(&mut self, active: &mut OpenTransaction, action: Action) -> Option<Event> {
        if let Some(trainer) = &mut self.trainer {
            trainer.perform(active.sale(), &action);
            return None;
        }
        let number = active.number();
        let action = match self.reader.slot.lets_through(number, action) {
            Gate::Opens(action) => action,
            Gate::Holds(heard) => return heard,
        };
        let is_at_reader = self.reader.in_use_by == Some(number);
        match action {
            Action::AskTip => self.reader.ask_tip(active),
            Action::Arm => {
                let heard = self.reader.arm(active);
                if !matches!(heard, Some(Event::NoCard { .. })) {
                    self.gateway.warm();
                }
                heard
            }
            Action::StopReader => self.reader.stop(number),
            Action::Ask => self.gateway.ask(active),
            Action::Poll { payment } => {
                self.gateway.poll(active, payment);
                None
            }
            Action::AnswerCard(answer) => self.reader.answer_card(active, *answer),
            Action::Query { references } => {
                self.gateway.query(number, references, is_at_reader);
                None
            }
            Action::Reverse { payment, amount, reference } => {
                self.gateway.reverse(number, (payment, amount, reference), is_at_reader);
                None
            }
            // The engine carries these out.
            Action::Alarm { .. } | Action::Print(_) | Action::Tell => None,
        }
    }
}
