//! The content of the screen as plain data: the shop's reports, and the changes made by keys. The model carries out no
//! actions. A key for the shop returns a [`ShopAction`] (`key_pressed`), and `agent_news` adds the agent's reports.

use std::collections::VecDeque;

use super::super::till::{Asked, Sale, Status, Totals, Wanted};
use super::amount::AmountEntry;
use super::keys::Page;
use crate::gateway::LedgerEntry;
use crate::reader::{Card, CardEntry, Key, Screen, WaitsFor, deck};

/// The maximum number of stored steps; no screen shows more.
const STEPS: usize = 500;

/// The action that a key causes in the shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShopAction {
    /// Present the card to the reader.
    Present(&'static Card, CardEntry),
    /// Take the card out.
    Remove,
    /// Press a key of the reader.
    Key(Key),
    /// Make the next PIN wrong or right.
    WrongPin(bool),
    /// Send a request to the agent, as the till.
    Till(Asked),
    /// Request the totals from the agent, as the till.
    Totals,
    /// Pull the reader's cable (true), or put it back (false).
    Cable(bool),
    /// Set the printer's state.
    Printer(PrinterIs),
    /// Switch the network off (true) or on (false).
    Network(bool),
    /// Make the gateway's connection slow (true) or normal (false).
    Slow(bool),
    /// Restore the agent's power (true), or cut it (false).
    Power(bool),
    /// End the demo.
    Quit,
}

/// The state of the printer. A new state needs a variant here, a successor in [`Self::next`], words in [`Self::word`],
/// and an effect on the simulator in `shop_actions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PrinterIs {
    /// On, with paper.
    #[default]
    Ready,
    /// The paper roll is used up.
    PaperOut,
    /// The cover is open.
    CoverOpen,
    /// The plug is pulled.
    Off,
}

impl PrinterIs {
    /// Returns the state after the next key press.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Ready => Self::PaperOut,
            Self::PaperOut => Self::CoverOpen,
            Self::CoverOpen => Self::Off,
            Self::Off => Self::Ready,
        }
    }

    /// Describes the person's action at the printer.
    pub(super) fn done(self) -> &'static str {
        match self {
            Self::Ready => "You switch the printer on.",
            Self::PaperOut => "You take the paper out of the printer.",
            Self::CoverOpen => "You put paper in, and leave the printer's cover open.",
            Self::Off => "You close the cover, and switch the printer off.",
        }
    }

    /// Returns the word for the state.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ready => "on",
            Self::PaperOut => "empty",
            Self::CoverOpen => "open",
            Self::Off => "off",
        }
    }
}

/// The meaning of a line, which selects its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    /// Progress reported by the agent.
    #[default]
    Plain,
    /// An action of the person at the keyboard.
    You,
    /// Approved.
    Good,
    /// Declined.
    Bad,
    /// Unconfirmed.
    Doubt,
    /// No money moved, because something failed or was stopped.
    Trouble,
}

impl Tone {
    /// Returns the tone for a transaction's current state.
    pub(super) fn of(sale: &Sale) -> Self {
        match (sale.state.as_str(), sale.outcome.as_deref()) {
            (state, _) if state.starts_with("unconfirmed") => Self::Doubt,
            (_, Some("approved" | "partially-approved")) => Self::Good,
            (_, Some("declined" | "reversed")) => Self::Bad,
            (_, Some(_)) => Self::Trouble,
            _ => Self::Plain,
        }
    }
}

/// A line in the pane of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepLine {
    /// The number of the line, counted from 1.
    pub(super) number: usize,
    /// Its meaning.
    pub(super) tone: Tone,
    /// Its text.
    pub(super) text: String,
    /// True if the next line of the same kind replaces this one, as for the PIN's stars.
    pub(super) passing: bool,
}

/// The faults that the person has injected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BrokenThings {
    /// True if the reader's cable is pulled.
    pub(super) cable: bool,
    /// The printer's state.
    pub(super) printer: PrinterIs,
    /// True if the network is off.
    pub(super) network: bool,
    /// True if the gateway's connection is slow.
    pub(super) slow: bool,
    /// True if the agent has no power.
    pub(super) power: bool,
}

/// The screen.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// The reader's display.
    pub(super) display: Screen,
    /// The last inserted card; it is in the slot only while the display says so.
    pub(super) inserted: Option<&'static Card>,
    /// The deck position of the selected card.
    pub(super) held: usize,
    /// True if the next PIN will be wrong.
    pub(super) wrong_pin: bool,
    /// All receipts, the oldest first.
    pub(super) receipts: Vec<String>,
    /// The number of lines that the paper is scrolled back.
    pub(super) rolled: usize,
    /// The entries of the gateway's ledger.
    pub(super) ledger: Vec<LedgerEntry>,
    /// The steps of the agent and of the person, the oldest first.
    pub(super) steps: VecDeque<StepLine>,
    /// The number of steps so far.
    pub(super) told: usize,
    /// The terminal's state, once the agent has reported one.
    pub(super) status: Option<Status>,
    /// True if the till is connected to the agent.
    pub(super) connected: bool,
    /// The latest transaction, in its current state.
    pub(super) sale: Option<Sale>,
    /// The earlier transaction, kept until the agent has begun the latest one.
    pub(super) before: Option<Sale>,
    /// The number of transactions begun in the demo.
    pub(super) begun: usize,
    /// The latest request.
    pub(super) asked: Option<Wanted>,
    /// The references of all sales, the latest last. A refund or a void needs one.
    pub(super) sold: Vec<String>,
    /// The totals, once the agent has reported them.
    pub(super) totals: Option<Totals>,
    /// The injected faults.
    pub(super) faults: BrokenThings,
    /// The page that replaces the shop.
    pub(super) page: Page,
    /// The amount in the field.
    pub(super) amount: AmountEntry,
    /// True if the ledger is shown instead of the receipts when there is room for only one of them.
    pub(super) ledger_shown: bool,
    /// The address of the cashier's page, if it is served.
    pub(super) page_at: Option<String>,
    /// The names and paths for the help.
    pub(super) places: Vec<(String, String)>,
}

impl Model {
    /// Returns the selected card.
    pub(super) fn card(&self) -> &'static Card {
        &deck::DECK[self.held.min(deck::DECK.len() - 1)]
    }

    /// Returns the transaction that uses the reader.
    pub(super) fn under_way(&self) -> Option<&Sale> {
        self.sale.as_ref().filter(|sale| sale.is_under_way())
    }

    /// Returns the card in the slot.
    pub(super) fn in_slot(&self) -> Option<&'static Card> {
        self.inserted.filter(|_| self.display.card_in_slot)
    }

    /// Adds a line to the steps.
    pub(super) fn tell(&mut self, tone: Tone, text: impl Into<String>) {
        self.push(tone, text.into(), false);
    }

    /// Does the same as [`Self::tell`]. If the line is `passing`, the next line of the same kind replaces it.
    pub(super) fn push(&mut self, tone: Tone, text: String, passing: bool) {
        if passing && self.steps.back().is_some_and(|last| last.passing) {
            self.steps.pop_back();
        }
        if self.steps.len() == STEPS {
            self.steps.pop_front();
        }
        self.told += 1;
        self.steps.push_back(StepLine { number: self.told, tone, text, passing });
    }

    /// Counts the lines of all receipts.
    pub(super) fn paper_lines(&self) -> usize {
        self.receipts.iter().map(|receipt| receipt.lines().count() + 1).sum()
    }

    /// Returns whether the reader asks for digits, so that pressed keys go to the reader.
    pub(super) fn number_wanted(&self) -> bool {
        self.display.waits_for == WaitsFor::Number && !self.faults.cable
    }

    /// Updates the reader's display.
    pub(super) fn shows(&mut self, display: Screen) {
        if self.display.waits_for == WaitsFor::Pin && display.waits_for != WaitsFor::Pin {
            // A PIN plan applies to one PIN entry.
            self.wrong_pin = false;
        }
        self.display = display;
    }

    /// Updates the printed receipts.
    pub(super) fn printed(&mut self, receipts: Vec<String>) {
        self.rolled = 0;
        self.receipts = receipts;
    }
}

#[cfg(test)]
mod tests;
