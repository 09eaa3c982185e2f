//! Digits typed on the reader: an amount, a tip, or a card number, which leaves the reader only in encrypted form
//! (readers: 2.9, 2.10). This file also passes every pressed key to the step that waits for it.

use super::cardholder::Key;
use super::device::Device;
use super::kernel::Running;
use super::keys::NoKey;
use super::message::{self, Command, StatusWord};

/// The digits typed so far.
pub(super) struct NumberEntry {
    digits: String,
    what: TypedFor,
}

/// The purpose of the digits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TypedFor {
    /// An amount or a tip.
    Amount,
    /// An element of a card number, and whether it must be encrypted immediately (D25A).
    CardNumber { element: u8, at_once: bool },
}

impl Device {
    pub(super) fn get_numeric(&mut self, command: &Command<'_>) -> Result<(), StatusWord> {
        let elements = command.elements()?;
        let _prompts: [u8; 6] = message::need(elements, 0xDFA206)?;
        let _format: [u8; 2] = message::need(elements, 0xDFA207)?;
        self.display.amount = None;
        self.ask_for_digits("ENTER AMOUNT", TypedFor::Amount);
        Ok(())
    }

    /// Handles GET DYNAMIC TIP. Returns the typed value unchanged: a tip or (P1 00) the total. Percentages are not
    /// computed.
    pub(super) fn get_tip(&mut self, command: &Command<'_>) -> Result<(), StatusWord> {
        let elements = command.elements()?;
        let _percentages: [u8; 4] = message::need(elements, 0xDFA217)?;
        self.display.amount = Some(message::CommandMoney::read(elements)?);
        self.ask_for_digits(if command.p1 == 0 { "ENTER TOTAL" } else { "ENTER TIP" }, TypedFor::Amount);
        Ok(())
    }

    pub(super) fn get_secure_pan(&mut self, command: &Command<'_>) -> Result<(), StatusWord> {
        let elements = command.elements()?;
        let [element] = message::need(elements, 0xDFA210)?;
        let _prompts: [u8; 6] = message::need(elements, 0xDFA206)?;
        self.kernel.typed_card.clear();
        self.ask_for_digits("ENTER CARD NUMBER", TypedFor::CardNumber { element, at_once: true });
        Ok(())
    }

    pub(super) fn get_secure_data(&mut self, command: &Command<'_>) -> Result<(), StatusWord> {
        match command.p1 {
            0x00 => {
                self.kernel.typed_card.clear();
                self.answer(&[], StatusWord::OK);
            }
            0x01 => {
                let elements = command.elements()?;
                let [element] = message::need(elements, 0xDFA210)?;
                let _prompts: [u8; 6] = message::need(elements, 0xDFA206)?;
                let question = match element {
                    0x01 => "ENTER CARD NUMBER",
                    0x04 => "ENTER EXPIRY YYMM",
                    0x06 => "ENTER SECURITY CODE",
                    _ => return Err(StatusWord::INVALID_PARAMETER),
                };
                self.ask_for_digits(question, TypedFor::CardNumber { element, at_once: false });
            }
            0x02 => {
                let body = self.seal_typed_card()?;
                self.answer(&body, StatusWord::OK);
            }
            _ => return Err(StatusWord::INVALID_PARAMETER),
        }
        Ok(())
    }

    /// Encrypts the typed digits and then deletes them.
    fn seal_typed_card(&mut self) -> Result<Vec<u8>, StatusWord> {
        let typed = std::mem::take(&mut self.kernel.typed_card);
        let pan = typed.iter().find(|(element, _)| *element == 0x01).map(|(_, digits)| digits.clone());
        let pan = pan.ok_or(StatusWord::NOTHING_TYPED)?;
        let (first, last) = (&pan[..6], &pan[pan.len() - 4..]);
        let masked = format!("{first}{}{last}", "*".repeat(pan.len() - 10));
        let sealed = self.keys.seal_typed(&typed).map_err(|NoKey| StatusWord::NO_KEY_LEFT)?;
        Ok(message::template(0xE1, &[(0xDFA208, masked.as_bytes()), (0xDFAE02, &sealed.data), (0xDFAE03, &sealed.ksn)]))
    }

    fn ask_for_digits(&mut self, question: &str, what: TypedFor) {
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
        match what {
            TypedFor::Amount => self.finish(&message::template(0xE1, &[(0xDFA208, digits.as_bytes())]), StatusWord::OK),
            TypedFor::CardNumber { element: 0x01, .. } if !(12..=19).contains(&digits.len()) => {
                self.finish(&[], StatusWord::INVALID_INPUT);
            }
            TypedFor::CardNumber { element, at_once } => {
                self.kernel.typed_card.push((element, digits));
                match at_once.then(|| self.seal_typed_card()) {
                    None => self.finish(&[], StatusWord::OK),
                    Some(Ok(body)) => self.finish(&body, StatusWord::OK),
                    Some(Err(sw)) => self.finish(&[], sw),
                }
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
                self.finish(&[], StatusWord::CANCELLED);
                self.display.show("CANCELLED");
            }
            (Running::Nothing, _) if self.switches.keys => {
                self.event(&message::template(0xE0, &[(0xDFA205, &[key.code()])]));
            }
            (Running::Nothing | Running::Chip(_) | Running::Tap(_) | Running::Card(_), _) => {}
        }
    }

    /// Shows the input below the question: an amount or tip as money, and a card number only as the count of digits.
    fn show_digits(&mut self) {
        let Running::Number(NumberEntry { digits, what }) = &self.kernel.running else { return };
        let typed = match (what, self.display.amount) {
            (TypedFor::Amount, Some(money)) => money.in_its_currency(digits),
            (TypedFor::Amount, None) => digits.clone(),
            (TypedFor::CardNumber { .. }, _) => "*".repeat(digits.len()),
        };
        self.display.show_below_question(&typed);
    }
}
