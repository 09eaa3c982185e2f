//! What is on the screen, as plain data: what the shop has said so far, and what the keys have changed. It does nothing itself:
//! a key that means something for the shop comes out as an [`Act`].

use std::collections::VecDeque;

use super::super::till::{Sale, Status};
use super::super::wallet;
use super::super::ways;
use super::amount::AmountEntry;
use super::keys::{Intent, Over};
use crate::sim::gateway::Entry as Booking;
use crate::sim::reader::{Card, Entry, Screen, WaitsFor, deck};

/// Steps that are remembered; no screen shows more.
const STEPS: usize = 500;

/// What a key does to the shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// The card meets the reader.
    Present(&'static Card, Entry),
    /// The card is taken out.
    Remove,
    /// The reader's red key.
    RedKey,
    /// The next PIN is wrong (or right after all).
    WrongPin(bool),
    /// A sale with this reference and amount.
    Sale(String, String),
    /// The till cancels this reference.
    Cancel(String),
    /// The signature of this reference is the card's, or it is not.
    Signature(String, bool),
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
/// [`Self::word`], and what is done to the simulator in `hands`.
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
    fn next(self) -> Self {
        match self {
            Self::Ready => Self::PaperOut,
            Self::PaperOut => Self::CoverOpen,
            Self::CoverOpen => Self::Off,
            Self::Off => Self::Ready,
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
            ("unconfirmed", _) => Self::Doubt,
            (_, Some("approved" | "partially-approved")) => Self::Good,
            (_, Some("declined")) => Self::Bad,
            (_, Some(_)) => Self::Trouble,
            _ => Self::Plain,
        }
    }
}

/// A line of the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// What it means.
    pub(super) tone: Tone,
    /// What it says.
    pub(super) text: String,
    /// A line that the next one of its kind replaces: the PIN's stars.
    pub(super) passing: bool,
}

/// What the person has broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
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
    pub(super) ledger: Vec<Booking>,
    /// The agent's steps and the person's, oldest first.
    pub(super) steps: VecDeque<Told>,
    /// The terminal's state, when the agent has said one.
    pub(super) status: Option<Status>,
    /// The agent is heard.
    pub(super) connected: bool,
    /// The latest sale, as it stands.
    pub(super) sale: Option<Sale>,
    /// How many sales were started here.
    pub(super) sales: usize,
    /// What is broken.
    pub(super) faults: Faults,
    /// What lies over the screen.
    pub(super) over: Over,
    /// The amount that is being typed.
    pub(super) amount: AmountEntry,
    /// Where there is room for one of them: the ledger instead of the receipts.
    pub(super) ledger_shown: bool,
    /// Where everything is, for the help.
    pub(super) places: Vec<String>,
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
        self.push(Told { tone, text: text.into(), passing: false });
    }

    pub(super) fn push(&mut self, told: Told) {
        if told.passing && self.steps.back().is_some_and(|last| last.passing) {
            self.steps.pop_back();
        }
        if self.steps.len() == STEPS {
            self.steps.pop_front();
        }
        self.steps.push_back(told);
    }

    /// A key was pressed: the screen is changed here, the shop by whoever carries out the act.
    pub(super) fn press(&mut self, intent: Intent) -> Option<Act> {
        match intent {
            Intent::Quit => return Some(Act::Quit),
            Intent::Help => self.over = Over::Help,
            Intent::Close => self.over = Over::Nothing,
            Intent::Turn => self.ledger_shown = !self.ledger_shown,
            Intent::Scroll(lines) => self.rolled = self.rolled.saturating_add_signed(lines).min(self.paper_lines()),
            Intent::Hold(place) => self.held = place,
            Intent::HoldNext(by) => self.held = self.held.saturating_add_signed(by).min(deck::DECK.len() - 1),
            Intent::Type(key) => self.amount.type_key(key),
            Intent::Erase => self.amount.erase(),
            Intent::Pick(by) => self.amount.pick(by),
            Intent::Enter => return self.enter_amount(),
            Intent::NewSale => self.ask_amount(),
            Intent::Again => return self.again(),
            Intent::Cancel => return self.cancel(),
            Intent::Present(entry) => return self.present(entry),
            Intent::Remove if self.display.card_in_slot => return self.act("take the card out", Act::Remove),
            Intent::Remove => self.tell(Tone::You, "no card is in the slot"),
            Intent::RedKey => return self.act("press the red key", Act::RedKey),
            Intent::WrongPin => {
                self.wrong_pin = !self.wrong_pin;
                let words = if self.wrong_pin { "will type a wrong PIN" } else { "will type the right PIN" };
                return self.act(words, Act::WrongPin(self.wrong_pin));
            }
            Intent::Signature(accepted) => return self.compare(accepted),
            Intent::Cable | Intent::Printer | Intent::Network | Intent::Slow | Intent::Power => {
                return self.break_or_mend(intent);
            }
        }
        None
    }

    fn act(&mut self, words: &str, act: Act) -> Option<Act> {
        self.tell(Tone::You, words);
        Some(act)
    }

    fn break_or_mend(&mut self, intent: Intent) -> Option<Act> {
        let faults = &mut self.faults;
        let toggled = |fault: &mut bool| {
            *fault = !*fault;
            *fault
        };
        let (words, act) = match intent {
            Intent::Cable => match toggled(&mut faults.cable) {
                true => ("pull out the reader's cable", Act::Cable(true)),
                false => ("put the reader's cable back", Act::Cable(false)),
            },
            Intent::Network => match toggled(&mut faults.network) {
                true => ("cut the network", Act::Network(true)),
                false => ("put the network back", Act::Network(false)),
            },
            Intent::Slow => match toggled(&mut faults.slow) {
                true => ("make the gateway's line slow", Act::Slow(true)),
                false => ("make the gateway's line quick again", Act::Slow(false)),
            },
            Intent::Power if toggled(&mut faults.power) => {
                ("cut the agent's power (kill -9); it comes back by itself", Act::Power(false))
            }
            Intent::Power => {
                // By a key or by itself.
                self.tell(Tone::Plain, "the agent has its power back");
                return Some(Act::Power(true));
            }
            _ => {
                faults.printer = faults.printer.next();
                let words = format!("turn the printer: {}", faults.printer.word());
                let act = Act::Printer(faults.printer);
                return self.act(&words, act);
            }
        };
        self.act(words, act)
    }

    fn present(&mut self, entry: Entry) -> Option<Act> {
        let card = self.card();
        if !ways(card).contains(&entry) {
            self.tell(Tone::You, format!("{} can only do this: {}", card.name, wallet::words(card)));
            return None;
        }
        if let Some(other) = self.in_slot().filter(|_| entry == Entry::Insert) {
            self.tell(Tone::You, format!("{} is in the slot: r takes it out", other.name));
            return None;
        }
        if entry == Entry::Insert {
            self.inserted = Some(card);
        }
        self.act(&format!("{} the card {}", wallet::word(entry), card.name), Act::Present(card, entry))
    }

    fn ask_amount(&mut self) {
        if let Some(sale) = self.under_way() {
            let busy = format!("{} is not over: x cancels it", sale.reference);
            return self.tell(Tone::You, busy);
        }
        self.amount = AmountEntry::default();
        self.over = Over::Amount;
    }

    fn enter_amount(&mut self) -> Option<Act> {
        let amount = self.amount.checked().ok()?;
        self.over = Over::Nothing;
        self.sales += 1;
        let reference = format!("demo-{}", self.sales);
        Some(self.sell(reference, amount))
    }

    fn compare(&mut self, accepted: bool) -> Option<Act> {
        let Some(sale) = self.sale.as_ref().filter(|sale| sale.waits_for_signature()) else {
            self.tell(Tone::You, "no signature is waited for");
            return None;
        };
        let reference = sale.reference.clone();
        let words = if accepted { "accept the signature" } else { "refuse the signature" };
        self.act(words, Act::Signature(reference, accepted))
    }

    /// The same reference and amount: what a till does that has lost its answer.
    fn again(&mut self) -> Option<Act> {
        let Some(sale) = self.sale.clone() else {
            self.tell(Tone::You, "there was no sale yet: n starts one");
            return None;
        };
        Some(self.sell(sale.reference, sale.amount))
    }

    fn sell(&mut self, reference: String, amount: String) -> Act {
        self.tell(Tone::You, format!("ask for {amount} as {reference}"));
        if self.sale.as_ref().is_none_or(|sale| sale.reference != reference) {
            let (reference, amount) = (reference.clone(), amount.clone());
            self.sale = Some(Sale { reference, amount, text: "Asked".to_owned(), ..Sale::default() });
        }
        Act::Sale(reference, amount)
    }

    fn cancel(&mut self) -> Option<Act> {
        match self.under_way().map(|sale| sale.reference.clone()) {
            Some(reference) => self.act(&format!("cancel {reference} at the till"), Act::Cancel(reference)),
            None => {
                self.tell(Tone::You, "no sale is under way");
                None
            }
        }
    }

    /// Lines of all receipts.
    fn paper_lines(&self) -> usize {
        self.receipts.iter().map(|receipt| receipt.lines().count() + 1).sum()
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
