//! PIN entry: prompt, keys, their events, and the result (readers: 2.3, 2.5, 2.9).
//!
//! The simulated cardholder types the card's PIN at the prompt, unless a [`PinPlan`] says otherwise. A person can press
//! keys at any time.
//!
//! The PIN is sent in encrypted form to the issuer, or it is sent to the chip, which counts the remaining tries. If the
//! chip checks the PIN, the reader asks again after a wrong PIN.

use super::cardholder::{Key, PinPlan};
use super::deck::Card;
use super::device::Device;
use super::emv_transaction::{EmvTransaction, Verified, WantsPin};
use super::family::{Failure, LonePin, PinNews};
use super::kernel::Running;
use super::keys::NoKey;
use super::script::ScriptEvent;

/// A PIN entry in progress.
pub(super) struct PinEntry {
    typed: String,
    plan: PinPlan,
    purpose: PinPurpose,
}

/// The purpose of the PIN.
pub(super) enum PinPurpose {
    /// For a chip or a tap: a PIN for the issuer is part of E4, and a PIN for the chip is not sent.
    Operation(EmvTransaction),
    /// For the issuer, outside a transaction. The cardholder knows the PIN of `card`, and the block is for `pan`.
    Alone { card: &'static Card, pan: String },
}

impl PinEntry {
    fn card(&self) -> &'static Card {
        match &self.purpose {
            PinPurpose::Operation(transaction) => transaction.card,
            PinPurpose::Alone { card, .. } => card,
        }
    }

    /// Returns the transaction of the PIN; `None` outside a transaction.
    pub(super) fn transaction(&self) -> Option<&EmvTransaction> {
        match &self.purpose {
            PinPurpose::Operation(transaction) => Some(transaction),
            PinPurpose::Alone { .. } => None,
        }
    }

    /// Returns whether the chip checks the PIN, not the issuer.
    fn is_offline(&self) -> bool {
        self.transaction().is_some_and(|transaction| transaction.wants_pin() == WantsPin::Offline)
    }

    /// Returns the PIN that the cardholder types. Some cardholders first type a wrong one.
    fn known_pin(&self) -> &'static str {
        let so_far = self.transaction().map_or(0, |transaction| transaction.mistakes);
        let card = self.card();
        if so_far < card.mistakes { card.wrong_pin() } else { card.pin }
    }

    /// Returns the next key of the plan; `None` if the cardholder waits.
    fn next_key(&self) -> Option<Key> {
        let digits = match &self.plan {
            PinPlan::Right => self.known_pin(),
            PinPlan::Wrong => self.card().wrong_pin(),
            PinPlan::Digits(digits) => digits,
            PinPlan::Cancel => return Some(Key::Cancel),
            PinPlan::Bypass => return Some(Key::Enter),
            PinPlan::Hesitate => return None,
        };
        Some(digits.as_bytes().get(self.typed.len()).map_or(Key::Enter, |digit| Key::Digit(digit.wrapping_sub(b'0'))))
    }
}

impl Device {
    /// Asks for the PIN.
    pub(super) fn ask_for_pin(&mut self, purpose: PinPurpose) {
        let plan = std::mem::take(&mut self.cardholder.pin_plan);
        let entry = PinEntry { typed: String::new(), plan, purpose };
        self.display.show("ENTER PIN");
        self.kernel.due = entry.next_key().map(|_| self.now + self.options.pace.key);
        self.kernel.running = Running::Pin(Box::new(entry));
        self.pin_asked(0);
        self.happens(ScriptEvent::Pin);
    }

    /// Changes the cardholder's plan while the prompt is shown.
    pub(super) fn change_pin_plan(&mut self, plan: PinPlan) {
        if let Running::Pin(entry) = &mut self.kernel.running {
            entry.plan = plan;
            self.kernel.due = entry.next_key().map(|_| self.now + self.options.pace.key);
        }
    }

    /// Presses the next key of the plan.
    pub(super) fn cardholder_types_pin(&mut self, entry: Box<PinEntry>) {
        let key = entry.next_key();
        self.kernel.running = Running::Pin(entry);
        if let Some(key) = key {
            self.pin_key(key);
        }
    }

    /// Presses all keys of the plan.
    pub(super) fn type_pin_to_the_end(&mut self) {
        while let Running::Pin(entry) = &self.kernel.running
            && let Some(key) = entry.next_key()
        {
            self.pin_key(key);
        }
    }

    /// Handles a key during PIN entry.
    pub(super) fn pin_key(&mut self, key: Key) {
        let Running::Pin(entry) = &mut self.kernel.running else { return };
        match key {
            Key::Digit(digit) if entry.typed.len() < 12 => entry.typed.push(char::from(b'0' + digit % 10)),
            Key::Digit(_) => {}
            Key::Clear => {
                entry.typed.pop();
            }
            Key::Cancel => return self.pin_given_up(Failure::Cancelled),
            // With too few digits, the key has no effect, and the cardholder waits.
            Key::Enter if (1..4).contains(&entry.typed.len()) => entry.plan = PinPlan::Hesitate,
            Key::Enter => return self.pin_entered(),
        }
        let count = entry.typed.len();
        self.kernel.due = entry.next_key().map(|_| self.now + self.options.pace.key);
        self.display.show(&format!("ENTER PIN\n{}", "*".repeat(count)));
        self.pin_asked(u8::try_from(count).unwrap_or(u8::MAX));
    }

    /// Ends PIN entry after cancel or a time-out.
    pub(super) fn pin_given_up(&mut self, why: Failure) {
        let Some(entry) = self.take_pin() else { return };
        self.display.show("CANCELLED");
        match entry.purpose {
            PinPurpose::Operation(_) => self.fail(why),
            PinPurpose::Alone { .. } => self.protocol().lone_pin(self, LonePin::GivenUp),
        }
    }

    /// Ends PIN entry without a PIN, as the enter key without digits does.
    pub(super) fn bypass_pin(&mut self) {
        if let Running::Pin(entry) = &mut self.kernel.running {
            entry.typed.clear();
            self.pin_entered();
        }
    }

    fn pin_entered(&mut self) {
        let Some(entry) = self.take_pin() else { return };
        let (card, offline) = (entry.card(), entry.is_offline());
        let PinEntry { typed, purpose, .. } = *entry;
        let mut transaction = match purpose {
            PinPurpose::Operation(transaction) => transaction,
            PinPurpose::Alone { .. } if typed.is_empty() => return self.protocol().lone_pin(self, LonePin::Bypassed),
            PinPurpose::Alone { pan, .. } => return self.lone_pin_entered(&pan, &typed),
        };
        if typed.is_empty() {
            transaction.verified(Verified::PinBypassed);
            return self.card_will_decide(transaction, None);
        }
        if offline {
            return self.chip_tries_pin(transaction, &typed);
        }
        let random = self.random_bytes();
        let sealed = match self.keys.seal_pin(card, &typed, random) {
            Ok(sealed) => sealed,
            Err(NoKey) => return self.fail(Failure::NoPinKey),
        };
        self.pin_accepted();
        transaction.verified(Verified::PinEntered);
        self.card_will_decide(transaction, Some(sealed));
    }

    fn lone_pin_entered(&mut self, pan: &str, typed: &str) {
        let random = self.random_bytes();
        let sealed = match self.keys.seal_pin_for(pan, typed, random) {
            Ok(sealed) => sealed,
            Err(NoKey) => return self.protocol().lone_pin(self, LonePin::NoKey),
        };
        self.pin_accepted();
        self.protocol().lone_pin(self, LonePin::Entered(sealed));
    }

    /// Carries out VERIFY at the chip (EMV Book 3, 6.5.12). The PIN is right, wrong with tries left, or wrong at the
    /// last try.
    fn chip_tries_pin(&mut self, mut transaction: EmvTransaction, typed: &str) {
        let card = transaction.card;
        if typed == card.pin {
            *self.kernel.pin_tries(card) = card.tries;
            self.pin_accepted();
            transaction.verified(Verified::PinRight);
            return self.card_will_decide(transaction, None);
        }
        let tries = self.kernel.pin_tries(card);
        *tries = tries.saturating_sub(1);
        let left = *tries;
        transaction.mistakes = transaction.mistakes.saturating_add(1);
        self.protocol().pin_news(self, PinNews::Wrong { tries: left });
        if left == 0 {
            transaction.verified(Verified::PinTriesExceeded);
            return self.card_will_decide(transaction, None);
        }
        self.ask_for_pin(PinPurpose::Operation(transaction));
    }

    fn pin_accepted(&mut self) {
        self.protocol().pin_news(self, PinNews::Accepted);
        self.display.show("PIN OK");
    }

    pub(super) fn random_bytes(&mut self) -> [u8; 8] {
        let [a, b, c, d] = self.next_random().to_be_bytes();
        let [e, f, g, h] = self.next_random().to_be_bytes();
        [a, b, c, d, e, f, g, h]
    }

    fn take_pin(&mut self) -> Option<Box<PinEntry>> {
        self.kernel.due = None;
        match std::mem::replace(&mut self.kernel.running, Running::Nothing) {
            Running::Pin(entry) => Some(entry),
            other => {
                self.kernel.running = other;
                None
            }
        }
    }

    /// Reports the number of digits. If the chip checks the PIN, the report includes the remaining tries.
    fn pin_asked(&mut self, digits: u8) {
        let chip = match &self.kernel.running {
            Running::Pin(entry) if entry.is_offline() => Some(entry.card()),
            _ => None,
        };
        let tries = chip.map(|card| *self.kernel.pin_tries(card));
        self.protocol().pin_news(self, PinNews::Asked { digits, tries });
    }
}
