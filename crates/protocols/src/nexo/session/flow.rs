//! The context of a request while it handles one event.

use super::{Action, Now, Settings};
use pos_till_api::{Ask, Status};

/// The facts about the terminal, from its latest status.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) terminal_id: String,
    pub(super) merchant: String,
    pub(super) currency: String,
    pub(super) decimals: u8,
}

impl Facts {
    pub(super) fn of(status: &Status) -> Option<Self> {
        Some(Self {
            terminal_id: status.terminal_id.clone(),
            merchant: status.merchant.first().unwrap_or(&status.terminal_id).clone(),
            currency: status.currency.clone()?,
            decimals: status.currency_decimals.unwrap_or(2),
        })
    }
}

pub(super) struct Flow<'a> {
    pub(super) now: Now,
    pub(super) actions: Vec<Action>,
    pub(super) settings: &'a Settings,
    pub(super) facts: Option<&'a Facts>,
    pub(super) logged_in: &'a mut bool,
    pub(super) tickets: &'a mut u64,
    pub(super) rejected: &'a mut u32,
}

impl Flow<'_> {
    /// Asks the terminal and returns the number of the question.
    pub(super) fn ask(&mut self, ask: Ask) -> u64 {
        *self.tickets += 1;
        self.actions.push(Action::Ask { ticket: *self.tickets, ask });
        *self.tickets
    }
}
