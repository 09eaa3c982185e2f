//! The cardholder: actions at the reader's slot, antenna, stripe reader and keys. The plans of the simulated cardholder
//! are for the next question: PIN, application, number, and the removal of the card.

use std::collections::VecDeque;
use std::time::Duration;

use super::deck::{Card, CardEntry};

/// An action of a person at the reader.
#[derive(Clone, Debug)]
pub enum PersonAction {
    /// Present a card by chip, tap or swipe. A tap without START CONTACTLESS has no effect.
    Present(&'static Card, CardEntry),
    /// Take the card out of the slot.
    Remove,
    /// Press a key.
    Key(Key),
    /// Let the time-out of the current wait expire immediately.
    WaitTooLong,
    /// Switch the reader off and on. Running steps and switches are lost; the connection stays.
    Reboot,
}

/// A key of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The red key.
    Cancel,
    /// The green key.
    Enter,
    /// The yellow key.
    Clear,
    /// A digit key, 0 to 9.
    Digit(u8),
}

impl Key {
    /// Returns the key's code in DFA205 (readers: 2.3).
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Enter => 0x0D,
            Self::Cancel => 0x1B,
            Self::Clear => 0x7F,
            Self::Digit(digit) => b'0' + digit % 10,
        }
    }
}

/// The cardholder's action at the next PIN prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PinPlan {
    /// Type the card's PIN.
    #[default]
    Right,
    /// Type a wrong PIN.
    Wrong,
    /// Type these digits.
    Digits(String),
    /// Press cancel.
    Cancel,
    /// Press enter without digits.
    Bypass,
    /// Wait until keys are pressed ([`PersonAction::Key`]).
    Hesitate,
}

/// The cardholder's action at the next application choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChoicePlan {
    /// Take the first application.
    #[default]
    First,
    /// Take the application with this number, counted from 1.
    Number(usize),
    /// Wait until keys are pressed.
    Hesitate,
}

/// The simulated cardholder's plans. Each plan is only for the next question. After that, the cardholder acts as usual.
#[derive(Default)]
pub(super) struct Cardholder {
    pub(super) pin_plan: PinPlan,
    pub(super) choice_plan: ChoicePlan,
    /// The digits for each of the next questions for a number.
    pub(super) number_plans: VecDeque<String>,
    /// The time when the cardholder takes the card out of the slot.
    pub(super) removes_at: Option<Duration>,
}
