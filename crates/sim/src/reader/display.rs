//! The reader's display: four rows of text, and the amount that the cardholder is asked to pay.

use super::message::CommandMoney;

/// The rows of the display (readers: 2.2, D201).
const ROWS: usize = 4;
/// The characters of a row.
const COLUMNS: usize = 21;

/// The state of the reader that a person sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The lines of the display.
    pub lines: Vec<String>,
    /// The amount that the cardholder is asked to pay, as `12.34 EUR`: the agent sent it, and the display shows it in
    /// its first row.
    pub amount: Option<String>,
    /// The input for which the reader waits.
    pub waits_for: WaitsFor,
    /// True if a card is in the slot.
    pub card_in_slot: bool,
}

/// The input for which the reader waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitsFor {
    /// A command of the agent.
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
    /// The amount of the last command, in the form in which it came. It is shown until its transaction is over and the
    /// display changes.
    pub(super) amount: Option<CommandMoney>,
}

impl Display {
    pub(super) fn new() -> Self {
        Self { lines: vec!["WELCOME".to_owned()], amount: None }
    }

    /// Shows text, with lines separated by LF, cut to the display's size.
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
