//! Digits typed on the reader: an amount, a tip, or a card number (readers: 2.9, 2.10, 3.2). This file also passes
//! every pressed key to the step that waits for it.

use super::cardholder::Key;
use super::device::Device;
use super::family::Failure;
use super::kernel::Running;

/// The elements of a typed card number, by their codes in Miura's DFA210 (readers: 2.9).
pub(super) const NUMBER: u8 = 0x01;
pub(super) const EXPIRY: u8 = 0x04;
pub(super) const CODE: u8 = 0x06;

/// The digits typed so far.
pub(super) struct NumberEntry {
    digits: String,
    what: TypedFor,
}

/// The purpose of the digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TypedFor {
    /// An amount or a tip.
    Amount,
    /// An element of a card number.
    CardElement(u8),
}

impl Device {
    pub(super) fn ask_for_digits(&mut self, question: &str, what: TypedFor) {
        self.display.show(question);
        self.kernel.running = Running::Number(NumberEntry { digits: String::new(), what });
        if !self.cardholder.number_plans.is_empty() {
            self.kernel.due = Some(self.now + self.options.pace.key);
        }
    }

    /// Lets the cardholder type the planned digits.
    pub(super) fn cardholder_types_number(&mut self, mut entry: NumberEntry) {
        let plan = self.cardholder.number_plans.pop_front();
        let is_planned = plan.is_some();
        entry.digits = plan.unwrap_or(entry.digits);
        self.kernel.running = Running::Number(entry);
        if is_planned {
            self.number_entered();
        }
    }

    fn number_entered(&mut self) {
        let Running::Number(NumberEntry { digits, what }) =
            std::mem::replace(&mut self.kernel.running, Running::Nothing)
        else {
            return;
        };
        self.kernel.end_command();
        match what {
            TypedFor::Amount => self.protocol().amount_typed(self, &digits),
            TypedFor::CardElement(NUMBER) if !(12..=19).contains(&digits.len()) => self.fail(Failure::InvalidNumber),
            TypedFor::CardElement(element) => {
                self.kernel.typed_card.push((element, digits));
                self.protocol().card_element_typed(self);
            }
        }
    }

    /// Passes a pressed key to the step that waits for it.
    pub(super) fn key_falls(&mut self, key: Key) {
        match (&mut self.kernel.running, key) {
            (Running::Pin(_), _) => self.pin_key(key),
            (Running::Number(entry), Key::Digit(digit)) => {
                entry.digits.push(char::from(b'0' + digit % 10));
                self.show_digits();
            }
            (Running::Number(entry), Key::Clear) => {
                entry.digits.pop();
                self.show_digits();
            }
            (Running::Number(_), Key::Enter) => self.number_entered(),
            (Running::Tap(_) | Running::Number(_), Key::Cancel) => {
                self.fail(Failure::Cancelled);
                self.display.show("CANCELLED");
            }
            (Running::Nothing, _) => self.protocol().idle_key(self, key),
            (Running::Chip(_) | Running::Tap(_) | Running::Card(_), _) => {}
        }
    }

    /// Shows the input below the question: an amount or tip as money, and a card number only as the count of digits.
    fn show_digits(&mut self) {
        let Running::Number(NumberEntry { digits, what }) = &self.kernel.running else { return };
        let typed = match (what, self.display.amount) {
            (TypedFor::Amount, Some(money)) => money.in_its_currency(digits),
            (TypedFor::Amount, None) => digits.clone(),
            (TypedFor::CardElement(_), _) => "*".repeat(digits.len()),
        };
        self.display.show_below_question(&typed);
    }
}
