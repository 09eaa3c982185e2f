//! What is on the screen, as plain data: what the shop has said so far, and what the keys have changed. It does nothing
//! itself: a key that means something for the shop comes out as a [`ShopAction`] (`key_pressed`); what the agent says
//! comes in by `agent_news`.

use std::collections::VecDeque;

use super::super::till::{Asked, Sale, Status, Totals, Wanted};
use super::amount::AmountEntry;
use super::keys::Page;
use crate::gateway::LedgerEntry;
use crate::reader::{Card, CardEntry, Key, Screen, WaitsFor, deck};

/// Steps that are remembered; no screen shows more.
const STEPS: usize = 500;

/// What a key does to the shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShopAction {
    /// The card meets the reader.
    Present(&'static Card, CardEntry),
    /// The card is taken out.
    Remove,
    /// A key of the reader is pressed.
    Key(Key),
    /// The next PIN is wrong (or right after all).
    WrongPin(bool),
    /// The till asks the agent.
    Till(Asked),
    /// The till asks the agent for the totals.
    Totals,
    /// The reader's cable is out.
    Cable(bool),
    /// The printer is like this from now on.
    Printer(PrinterIs),
    /// The network is off.
    Network(bool),
    /// The gateway's line is slow.
    Slow(bool),
    /// The agent has power.
    Power(bool),
    /// The demo ends.
    Quit,
}

/// How the printer is. What else a printer can be is another line here, its successor in [`Self::next`], its words in
/// [`Self::word`], and what is done to the simulator in `shop_actions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PrinterIs {
    /// On, with paper.
    #[default]
    Ready,
    /// Its roll is used up.
    PaperOut,
    /// Somebody left its cover open.
    CoverOpen,
    /// Its plug is pulled.
    Off,
}

impl PrinterIs {
    /// What the key makes of it.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Ready => Self::PaperOut,
            Self::PaperOut => Self::CoverOpen,
            Self::CoverOpen => Self::Off,
            Self::Off => Self::Ready,
        }
    }

    /// What the person does to it.
    pub(super) fn done(self) -> &'static str {
        match self {
            Self::Ready => "You switch the printer on.",
            Self::PaperOut => "You take the paper out of the printer.",
            Self::CoverOpen => "You put paper in, and leave the printer's cover open.",
            Self::Off => "You close the cover, and switch the printer off.",
        }
    }

    /// In a word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ready => "on",
            Self::PaperOut => "empty",
            Self::CoverOpen => "open",
            Self::Off => "off",
        }
    }
}

/// What a line means, for its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    /// The agent goes on.
    #[default]
    Plain,
    /// What the person at the keyboard did.
    You,
    /// Approved.
    Good,
    /// Declined.
    Bad,
    /// Not known yet.
    Doubt,
    /// Nothing happened to money, but something is wrong or was stopped.
    Trouble,
}

impl Tone {
    /// Of a sale as it stands.
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

/// A line of the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepLine {
    /// Its number, from 1.
    pub(super) number: usize,
    /// What it means.
    pub(super) tone: Tone,
    /// What it says.
    pub(super) text: String,
    /// A line that the next one of its kind replaces: the PIN's stars.
    pub(super) passing: bool,
}

/// What the person has broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BrokenThings {
    /// The reader's cable is out.
    pub(super) cable: bool,
    /// The printer.
    pub(super) printer: PrinterIs,
    /// The network is off.
    pub(super) network: bool,
    /// The gateway's line is slow.
    pub(super) slow: bool,
    /// The agent has no power.
    pub(super) power: bool,
}

/// The screen.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// The reader's display.
    pub(super) display: Screen,
    /// What was put into the slot last; there only while the display says that a card is in it.
    pub(super) inserted: Option<&'static Card>,
    /// The place in the deck of the card in hand.
    pub(super) held: usize,
    /// The next PIN will be wrong.
    pub(super) wrong_pin: bool,
    /// Every receipt, oldest first.
    pub(super) receipts: Vec<String>,
    /// Lines the paper was rolled back.
    pub(super) rolled: usize,
    /// What the gateway has booked.
    pub(super) ledger: Vec<LedgerEntry>,
    /// The agent's steps and the person's, oldest first.
    pub(super) steps: VecDeque<StepLine>,
    /// How many were told so far.
    pub(super) told: usize,
    /// The terminal's state, when the agent has said one.
    pub(super) status: Option<Status>,
    /// The agent is heard.
    pub(super) connected: bool,
    /// The latest sale, as it stands.
    pub(super) sale: Option<Sale>,
    /// The one before it, until the agent has begun the latest.
    pub(super) before: Option<Sale>,
    /// How many transactions were begun here.
    pub(super) begun: usize,
    /// The latest one that was asked for.
    pub(super) asked: Option<Wanted>,
    /// The references of all sales, the latest last: what a refund and a void are of.
    pub(super) sold: Vec<String>,
    /// The totals, once the agent has told them.
    pub(super) totals: Option<Totals>,
    /// What is broken.
    pub(super) faults: BrokenThings,
    /// The page that takes the shop's place.
    pub(super) page: Page,
    /// The amount that is being typed.
    pub(super) amount: AmountEntry,
    /// Where there is room for one of them: the ledger instead of the receipts.
    pub(super) ledger_shown: bool,
    /// Where the cashier's page is, when it is served.
    pub(super) page_at: Option<String>,
    /// What is where, and where, for the help.
    pub(super) places: Vec<(String, String)>,
}

impl Model {
    /// The card in hand.
    pub(super) fn card(&self) -> &'static Card {
        &deck::DECK[self.held.min(deck::DECK.len() - 1)]
    }

    /// The sale that holds the reader.
    pub(super) fn under_way(&self) -> Option<&Sale> {
        self.sale.as_ref().filter(|sale| sale.is_under_way())
    }

    /// The card in the slot.
    pub(super) fn in_slot(&self) -> Option<&'static Card> {
        self.inserted.filter(|_| self.display.card_in_slot)
    }

    /// A line for the steps.
    pub(super) fn tell(&mut self, tone: Tone, text: impl Into<String>) {
        self.push(tone, text.into(), false);
    }

    /// As [`Self::tell`]; a line that is `passing` makes place for the next one of its kind.
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

    /// Lines of all receipts.
    pub(super) fn paper_lines(&self) -> usize {
        self.receipts.iter().map(|receipt| receipt.lines().count() + 1).sum()
    }

    /// Whether the reader asks for digits, so that its keys are meant.
    pub(super) fn number_wanted(&self) -> bool {
        self.display.waits_for == WaitsFor::Number && !self.faults.cable
    }

    /// The reader shows something else.
    pub(super) fn shows(&mut self, display: Screen) {
        if self.display.waits_for == WaitsFor::Pin && display.waits_for != WaitsFor::Pin {
            // A plan is for one PIN.
            self.wrong_pin = false;
        }
        self.display = display;
    }

    /// More came out of the printer.
    pub(super) fn printed(&mut self, receipts: Vec<String>) {
        self.rolled = 0;
        self.receipts = receipts;
    }
}

#[cfg(test)]
mod tests;
