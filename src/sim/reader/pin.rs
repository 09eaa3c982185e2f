//! PIN entry: prompt, keys, the events about them, and what becomes of it (readers: 2.3, 2.5, 2.9).
//!
//! The cardholder is part of the simulation: at the prompt he types the card's PIN by himself, unless a [`PinPlan`] says
//! otherwise. Keys that a person presses work at any time.

use super::chip::{Payment, Verified};
use super::deck::Card;
use super::device::{Device, Key, PinPlan, Running};
use super::sealing::NoKey;
use super::wire::{self, Sw};

/// A PIN that is being entered.
pub(super) struct PinEntry {
    typed: String,
    plan: PinPlan,
    pub(super) purpose: Purpose,
}

/// What the PIN is for.
pub(super) enum Purpose {
    /// A chip or a tap: it comes inside E4.
    Payment(Payment),
    /// ONLINE PIN for the card that was swiped last.
    Swipe(&'static Card),
}

/// Bodies of one byte that answer ONLINE PIN (readers: 2.9).
const CANCELLED: u8 = 0x08;
const BYPASSED: u8 = 0x0C;

/// DFA102 of "PIN OK" (readers: 2.13).
const PIN_OK: u8 = 0x02;

impl PinEntry {
    fn card(&self) -> &'static Card {
        match &self.purpose {
            Purpose::Payment(payment) => payment.card,
            Purpose::Swipe(card) => card,
        }
    }

    /// The next key of the plan; `None` when the cardholder waits.
    fn next_key(&self) -> Option<Key> {
        let digits = match &self.plan {
            PinPlan::Right => self.card().pin,
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
    pub(super) fn ask_for_pin(&mut self, purpose: Purpose) {
        let entry = PinEntry { typed: String::new(), plan: std::mem::take(&mut self.pin_plan), purpose };
        self.show("ENTER PIN");
        self.pin_event("ENTER PIN", 0);
        self.due = entry.next_key().map(|_| self.now + self.options.pace.key);
        self.running = Running::Pin(Box::new(entry));
    }

    /// The cardholder presses the next key of the plan.
    pub(super) fn pin_goes_on(&mut self, entry: Box<PinEntry>) {
        let key = entry.next_key();
        self.running = Running::Pin(entry);
        if let Some(key) = key {
            self.pin_key(key);
        }
    }

    /// The whole plan at once.
    pub(super) fn type_pin_to_the_end(&mut self) {
        while let Running::Pin(entry) = &self.running
            && let Some(key) = entry.next_key()
        {
            self.pin_key(key);
        }
    }

    /// A key falls during PIN entry.
    pub(super) fn pin_key(&mut self, key: Key) {
        let Running::Pin(entry) = &mut self.running else { return };
        match key {
            Key::Digit(digit) if entry.typed.len() < 12 => entry.typed.push(char::from(b'0' + digit % 10)),
            Key::Digit(_) => {}
            Key::Clear => {
                entry.typed.pop();
            }
            Key::Cancel => return self.pin_given_up(),
            // Too few digits: the key does nothing, and the cardholder stands there.
            Key::Enter if (1..4).contains(&entry.typed.len()) => entry.plan = PinPlan::Hesitate,
            Key::Enter => return self.pin_entered(),
        }
        let count = entry.typed.len();
        self.due = entry.next_key().map(|_| self.now + self.options.pace.key);
        self.show(&format!("ENTER PIN\n{}", "*".repeat(count)));
        self.pin_event("ENTER PIN", u8::try_from(count).unwrap_or(u8::MAX));
    }

    /// Cancel, or nothing for too long.
    pub(super) fn pin_given_up(&mut self) {
        let Some(entry) = self.take_pin() else { return };
        self.show("CANCELLED");
        match entry.purpose {
            Purpose::Payment(_) => self.finish(&[], Sw::CANCELLED),
            Purpose::Swipe(_) => self.finish(&[CANCELLED], Sw::OK),
        }
    }

    fn pin_entered(&mut self) {
        let Some(entry) = self.take_pin() else { return };
        let card = entry.card();
        let PinEntry { typed, purpose, .. } = *entry;
        if typed.is_empty() {
            return match purpose {
                Purpose::Payment(mut payment) => {
                    payment.verified(Verified::PinBypassed);
                    self.card_decides(payment, None);
                }
                Purpose::Swipe(_) => self.finish(&[BYPASSED], Sw::OK),
            };
        }
        let sealed = match self.sealing.pin(card, &typed) {
            Ok(sealed) => sealed,
            Err(NoKey) => return self.finish(&[], Sw::NO_PIN_KEY),
        };
        // Bit-identical to the captured event (readers: 2.13).
        self.event(&wire::template(0xE6, &[(0xC3, &[0x02]), (0xC4, b"PIN OK"), (0xDFA102, &[PIN_OK])]));
        self.show("PIN OK");
        match purpose {
            Purpose::Payment(mut payment) => {
                payment.verified(Verified::PinEntered);
                self.card_decides(payment, Some(&sealed));
            }
            Purpose::Swipe(_) => {
                let body = wire::template(0xE1, &[(0xDFAE04, &sealed.data), (0xDFAE05, &sealed.ksn.0)]);
                self.finish(&body, Sw::OK);
            }
        }
    }

    fn take_pin(&mut self) -> Option<Box<PinEntry>> {
        self.due = None;
        match std::mem::replace(&mut self.running, Running::Nothing) {
            Running::Pin(entry) => Some(entry),
            other => {
                self.running = other;
                None
            }
        }
    }

    fn pin_event(&mut self, text: &str, digits: u8) {
        self.event(&wire::template(0xE6, &[(0xC3, &[0x02]), (0xC4, text.as_bytes()), (0xDFA201, &[digits])]));
    }
}
