//! The reader's display: four rows of text, and the amount that the cardholder is asked to pay.

use super::message::CommandMoney;

/// Rows of the display (readers: 2.2, D201).
const ROWS: usize = 4;
/// Characters of a row.
const COLUMNS: usize = 21;

/// What a person standing at the reader sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The lines of the display.
    pub lines: Vec<String>,
    /// What the cardholder is asked to pay, as `12.34 EUR`: the amount that the agent sent, on the display's first row.
    pub amount: Option<String>,
    /// What the reader waits for.
    pub waits_for: WaitsFor,
    /// A card is in the slot.
    pub card_in_slot: bool,
}

/// What the reader waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitsFor {
    /// The agent.
    #[default]
    Agent,
    /// A card: START CONTACTLESS is running.
    Card,
    /// A PIN.
    Pin,
    /// A choice among applications.
    Choice,
    /// A number.
    Number,
}

/// The display's contents.
pub(super) struct Display {
    pub(super) lines: Vec<String>,
    /// The amount that the last command carried, in the form in which it came: shown until its sale is over and the
    /// display changes.
    pub(super) amount: Option<CommandMoney>,
}

impl Display {
    pub(super) fn new() -> Self {
        Self { lines: vec!["WELCOME".to_owned()], amount: None }
    }

    /// Shows text, lines separated by LF, cut to the display.
    pub(super) fn show(&mut self, text: &str) {
        self.lines = text.split('\n').take(ROWS).map(|line| line.chars().take(COLUMNS).collect()).collect();
    }

    /// Shows the first line again, and this text below it.
    pub(super) fn show_below_question(&mut self, text: &str) {
        let question = self.lines.first().cloned().unwrap_or_default();
        self.show(&format!("{question}\n{text}"));
    }

    pub(super) fn go_dark(&mut self) {
        self.lines.clear();
    }
}
