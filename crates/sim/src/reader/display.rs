//! The reader's display: four rows of text, and the amount that the cardholder must pay.

use std::fmt;

use super::objects::{self, ElementFault};
use pos_terms::money::Currency;

/// The number of rows on the display (readers: 2.2, D201).
const ROWS: usize = 4;
/// The number of characters in a row.
const COLUMNS: usize = 21;

/// The visible state of the reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The lines of the display.
    pub lines: Vec<String>,
    /// The amount that the cardholder must pay, in the form `12.34 EUR`. The agent sent it, and it is in the first row
    /// of the display.
    pub amount: Option<String>,
    /// The input that the reader waits for.
    pub waits_for: WaitsFor,
    /// True if a card is in the slot.
    pub card_in_slot: bool,
}

/// The input that the reader waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitsFor {
    /// A command from the agent.
    #[default]
    Agent,
    /// A card, while START CONTACTLESS is running.
    Card,
    /// A PIN.
    Pin,
    /// The choice of an application.
    Choice,
    /// A number.
    Number,
}

/// The display's contents.
pub(super) struct Display {
    pub(super) lines: Vec<String>,
    /// The amount of the last command, in its original form. It is shown until its transaction is over and the display
    /// changes.
    pub(super) amount: Option<CommandMoney>,
}

impl Display {
    pub(super) fn new() -> Self {
        Self { lines: vec!["WELCOME".to_owned()], amount: None }
    }

    /// Shows text, with lines separated by LF, and cuts it to the size of the display.
    pub(super) fn show(&mut self, text: &str) {
        self.lines = text.split('\n').take(ROWS).map(|line| line.chars().take(COLUMNS).collect()).collect();
    }

    /// Shows the first line again, with this text below it.
    pub(super) fn show_below_question(&mut self, text: &str) {
        let question = self.lines.first().cloned().unwrap_or_default();
        self.show(&format!("{question}\n{text}"));
    }

    pub(super) fn go_dark(&mut self) {
        self.lines.clear();
    }
}

/// The amount in a command: tags 9F02 and 5F2A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommandMoney {
    pub(super) amount: [u8; 6],
    pub(super) currency: [u8; 2],
}

impl CommandMoney {
    /// Reads the two tags from a command's elements.
    pub(super) fn read(elements: &[u8]) -> Result<Self, ElementFault> {
        Ok(Self { amount: objects::need(elements, 0x9F02)?, currency: objects::need(elements, 0x5F2A)? })
    }

    /// Formats typed digits with the currency, as a cardholder reads them: `12.34 EUR`.
    pub(super) fn in_its_currency(self, digits: &str) -> String {
        let currency = Currency::from_bcd(self.currency);
        let decimals = currency.map_or(0, |currency| usize::from(currency.exponent()));
        let digits = format!("{:0>1$}", digits.trim_start_matches('0'), decimals + 1);
        let (whole, part) = digits.split_at(digits.len() - decimals);
        let dot = if part.is_empty() { "" } else { "." };
        format!("{whole}{dot}{part} {}", currency.map_or("?", Currency::code))
    }
}

impl fmt::Display for CommandMoney {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_its_currency(&hex::encode(self.amount)))
    }
}
