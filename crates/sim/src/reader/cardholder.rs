//! The cardholder: what people do with the reader's slot, antenna, stripe and keys, and what the simulated cardholder
//! will do by himself at the next question: PIN, application, number, and when he takes his card.

use std::collections::VecDeque;
use std::time::Duration;

use super::deck::{Card, CardEntry};

/// What a person does with the reader.
#[derive(Clone, Debug)]
pub enum PersonAction {
    /// Present a card one way or another. A tap without START CONTACTLESS does nothing.
    Present(&'static Card, CardEntry),
    /// Take the card out of the slot.
    Remove,
    /// Press a key.
    Key(Key),
    /// Let the time for what is being waited for run out now.
    WaitTooLong,
    /// Switch it off and on: all that was under way or switched on is lost, the line stays.
    Reboot,
}

/// A key of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Red.
    Cancel,
    /// Green.
    Enter,
    /// Yellow.
    Clear,
    /// 0 to 9.
    Digit(u8),
}

impl Key {
    /// As in DFA205 (readers: 2.3).
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Enter => 0x0D,
            Self::Cancel => 0x1B,
            Self::Clear => 0x7F,
            Self::Digit(digit) => b'0' + digit % 10,
        }
    }
}

/// What the cardholder will do at the next PIN prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PinPlan {
    /// Type the card's PIN.
    #[default]
    Right,
    /// Type a PIN that is not the card's.
    Wrong,
    /// Type these digits.
    Digits(String),
    /// Press cancel.
    Cancel,
    /// Press enter without digits.
    Bypass,
    /// Do nothing until keys are pressed ([`PersonAction::Key`]).
    Hesitate,
}

/// What the cardholder will do when he is asked for an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChoicePlan {
    /// Take the first.
    #[default]
    First,
    /// Take the one with this number, from 1.
    Number(usize),
    /// Do nothing until keys are pressed.
    Hesitate,
}

/// The simulated cardholder's plans. Each is for the next question only; then he does again what most people do.
#[derive(Default)]
pub(super) struct Cardholder {
    pub(super) pin_plan: PinPlan,
    pub(super) choice_plan: ChoicePlan,
    /// The digits for each further question for a number.
    pub(super) number_plans: VecDeque<String>,
    /// When he takes his card out of the slot by himself.
    pub(super) removes_at: Option<Duration>,
}
