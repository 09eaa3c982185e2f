//! The context of a job during one event: the time, the till, and the list of actions.

use std::time::Duration;

use super::{Action, Facts, Line, Settings, charset};
use crate::zvt::apdu::Apdu;
use crate::zvt::command::Registration;
use crate::zvt::text::Charset;
use pos_till_api::{Ask, OnSilence};

pub(super) struct Flow<'a> {
    pub(super) now: Duration,
    pub(super) actions: Vec<Action>,
    pub(super) settings: &'a Settings,
    pub(super) registration: Option<&'a Registration>,
    pub(super) facts: &'a Facts,
    /// The registration that the till has just sent.
    pub(super) registered: Option<Registration>,
    pub(super) tickets: &'a mut u64,
    pub(super) references: &'a mut u64,
    /// The till has answered a `04 FF`.
    pub(super) answers_intermediate: &'a mut bool,
}

impl Flow<'_> {
    /// Asks the terminal and returns the ticket of the question.
    pub(super) fn ask(&mut self, ask: Ask) -> u64 {
        *self.tickets += 1;
        self.actions.push(Action::Ask { ticket: *self.tickets, ask });
        *self.tickets
    }

    pub(super) fn send(&mut self, line: Line, apdu: Apdu) {
        self.actions.push(Action::Send { line, apdu });
    }

    /// Creates a reference that no transaction uses yet.
    pub(super) fn new_reference(&mut self) -> String {
        *self.references += 1;
        format!("{}-{}", self.settings.references, self.references)
    }

    /// Returns how to handle an approval that the till does not acknowledge. A till that sends its last receipt with
    /// each command, or numbers its messages, detects the loss itself. For such a till the approval is kept (ZVT
    /// PA00P015, 2.2.8 and 4).
    pub(super) fn unacknowledged(&self, says_last_receipt: bool) -> OnSilence {
        let numbers = self.registration.is_some_and(Registration::wants_message_numbers);
        if says_last_receipt || numbers { OnSilence::Keep } else { self.settings.unacknowledged }
    }

    /// Returns whether the till wants intermediate statuses of a transaction.
    pub(super) fn hears_intermediate(&self) -> bool {
        !self.settings.needed_frames_only && self.registration.is_some_and(Registration::hears_intermediate)
    }

    pub(super) fn has_tlv(&self) -> bool {
        self.registration.is_some_and(Registration::has_tlv)
    }

    pub(super) fn charset(&self) -> Charset {
        charset(self.registration)
    }

    /// Returns whether the terminal prints a payment's receipts. For an unregistered till, config byte 86 applies, so
    /// it prints them itself.
    pub(super) fn prints_payments(&self) -> bool {
        self.registration.is_some_and(|it| !it.till_prints_payments())
    }

    /// Returns whether the terminal prints the receipts of administration.
    pub(super) fn prints_administration(&self) -> bool {
        self.registration.is_some_and(|it| !it.till_prints_administration())
    }

    /// Returns whether receipts go to the till's printer as print commands.
    pub(super) fn sends_receipts(&self) -> bool {
        !self.settings.needed_frames_only
            && self.registration.is_none_or(|it| it.gets_print_commands() && it.till_prints_payments())
    }

    /// Returns whether receipts of administration go to the till's printer as print commands.
    pub(super) fn sends_administration(&self) -> bool {
        !self.settings.needed_frames_only
            && self.registration.is_none_or(|it| it.gets_print_commands() && it.till_prints_administration())
    }
}
