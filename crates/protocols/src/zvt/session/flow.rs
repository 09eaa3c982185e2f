//! What a job has at hand while something happens: the time, who the till is, and where its actions go.

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
    /// The till has registered with this.
    pub(super) registered: Option<Registration>,
    pub(super) tickets: &'a mut u64,
    pub(super) references: &'a mut u64,
    /// The till has answered a `04 FF`.
    pub(super) answers_intermediate: &'a mut bool,
}

impl Flow<'_> {
    /// Asks the terminal; the ticket of the question.
    pub(super) fn ask(&mut self, ask: Ask) -> u64 {
        *self.tickets += 1;
        self.actions.push(Action::Ask { ticket: *self.tickets, ask });
        *self.tickets
    }

    pub(super) fn send(&mut self, line: Line, apdu: Apdu) {
        self.actions.push(Action::Send { line, apdu });
    }

    /// A reference that no transaction has yet.
    pub(super) fn new_reference(&mut self) -> String {
        *self.references += 1;
        format!("{}-{}", self.settings.references, self.references)
    }

    /// What becomes of an approval that is not acknowledged: a till that says with each command what it has heard last,
    /// or numbers its messages, finds out by itself and keeps it (ZVT PA00P015, 2.2.8 and 4).
    pub(super) fn unacknowledged(&self, says_last_receipt: bool) -> OnSilence {
        let numbers = self.registration.is_some_and(Registration::wants_message_numbers);
        if says_last_receipt || numbers { OnSilence::Keep } else { self.settings.unacknowledged }
    }

    /// Whether the till wants to hear how a transaction goes on.
    pub(super) fn hears_intermediate(&self) -> bool {
        !self.settings.needed_frames_only && self.registration.is_some_and(Registration::hears_intermediate)
    }

    pub(super) fn has_tlv(&self) -> bool {
        self.registration.is_some_and(Registration::has_tlv)
    }

    pub(super) fn charset(&self) -> Charset {
        charset(self.registration)
    }

    /// Whether the terminal prints a payment's receipts. A till that is not registered prints them: config byte 86.
    pub(super) fn prints_payments(&self) -> bool {
        self.registration.is_some_and(|it| !it.till_prints_payments())
    }

    /// Whether the terminal prints what is of administration.
    pub(super) fn prints_administration(&self) -> bool {
        self.registration.is_some_and(|it| !it.till_prints_administration())
    }

    /// Whether receipts go to the till's printer as print commands.
    pub(super) fn sends_receipts(&self) -> bool {
        !self.settings.needed_frames_only
            && self.registration.is_none_or(|it| it.gets_print_commands() && it.till_prints_payments())
    }

    /// The same of what is of administration.
    pub(super) fn sends_administration(&self) -> bool {
        !self.settings.needed_frames_only
            && self.registration.is_none_or(|it| it.gets_print_commands() && it.till_prints_administration())
    }
}
