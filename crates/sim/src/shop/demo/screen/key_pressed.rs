//! The effect of a pressed key: the change on the screen, its sentence, and the action in the shop.

use super::super::card_menu;
use super::super::till::{Asked, Sale, Wanted};
use super::amount::{AmountEntry, Purpose};
use super::keys::{Intent, Page};
use super::model::{Model, ShopAction, Tone};
use crate::reader::{CardEntry, Key, deck};

/// The sentence for a network that is off, by a key or from the start.
pub(in crate::shop::demo) const NETWORK_CUT: &str = "You cut the network.";

impl Model {
    /// Changes the screen, and returns the action that the caller must carry out in the shop.
    pub(super) fn press(&mut self, intent: Intent) -> Option<ShopAction> {
        match intent {
            Intent::Quit => return Some(ShopAction::Quit),
            Intent::Help => self.page = Page::Keys,
            Intent::Next if self.page == Page::Keys => self.page = Page::Places,
            Intent::Next | Intent::Close => self.page = Page::None,
            Intent::Turn => self.ledger_shown = !self.ledger_shown,
            Intent::Scroll(lines) => self.rolled = self.rolled.saturating_add_signed(lines).min(self.paper_lines()),
            Intent::Hold(place) => self.held = place,
            Intent::HoldNext(by) => self.held = self.held.saturating_add_signed(by).min(deck::DECK.len() - 1),
            Intent::Type(key) => self.amount.type_key(key),
            Intent::Erase => self.amount.erase(),
            Intent::Pick(by) if self.page != Page::Amount(Purpose::Refund) => self.amount.pick(by),
            Intent::Pick(_) => {}
            Intent::Enter => return self.enter_amount(),
            Intent::Ask(purpose) => self.ask_amount(purpose),
            Intent::Void => return self.void(),
            Intent::Totals => {
                (self.page, self.totals) = (Page::Totals, None);
                return Some(ShopAction::Totals);
            }
            Intent::Again => return self.again(),
            Intent::Cancel => return self.cancel(),
            Intent::Signature(accepted) => return self.compare(accepted),
            Intent::Present(entry) => return self.present(entry),
            Intent::Remove if self.display.card_in_slot => return self.act(card_menu::TAKEN_OUT, ShopAction::Remove),
            Intent::Remove => self.tell(Tone::You, "No card is in the slot. Press i to insert the card in your hand."),
            Intent::Reader(Key::Cancel) => {
                return self.act("You press the reader's red key.", ShopAction::Key(Key::Cancel));
            }
            Intent::Reader(key) => return Some(ShopAction::Key(key)),
            Intent::WrongPin => {
                self.wrong_pin = !self.wrong_pin;
                let words = if self.wrong_pin { "wrong" } else { "right" };
                return self
                    .act(&format!("You will type the {words} PIN next time."), ShopAction::WrongPin(self.wrong_pin));
            }
            Intent::Cable | Intent::Printer | Intent::Network | Intent::Slow | Intent::Power => {
                return self.break_or_mend(intent);
            }
        }
        None
    }

    fn act(&mut self, words: &str, act: ShopAction) -> Option<ShopAction> {
        self.tell(Tone::You, words);
        Some(act)
    }

    /// Explains why the key has no effect.
    fn in_vain(&mut self, why: impl Into<String>) -> Option<ShopAction> {
        self.tell(Tone::You, why);
        None
    }

    fn break_or_mend(&mut self, intent: Intent) -> Option<ShopAction> {
        let faults = &mut self.faults;
        let toggled = |fault: &mut bool| {
            *fault = !*fault;
            *fault
        };
        let (words, act) = match intent {
            Intent::Cable => match toggled(&mut faults.cable) {
                true => ("You pull out the reader's cable.", ShopAction::Cable(true)),
                false => ("You put the reader's cable back.", ShopAction::Cable(false)),
            },
            Intent::Network => match toggled(&mut faults.network) {
                true => (NETWORK_CUT, ShopAction::Network(true)),
                false => ("You restore the network.", ShopAction::Network(false)),
            },
            Intent::Slow => match toggled(&mut faults.slow) {
                true => ("You make the line to the gateway slow.", ShopAction::Slow(true)),
                false => ("You make the line to the gateway fast again.", ShopAction::Slow(false)),
            },
            Intent::Power if toggled(&mut faults.power) => (
                "You cut the agent's power. It comes back after 4 seconds, or when you press k.",
                ShopAction::Power(false),
            ),
            Intent::Power => {
                // This happens by a key or automatically.
                self.tell(Tone::Plain, "The agent has power again.");
                return Some(ShopAction::Power(true));
            }
            _ => {
                faults.printer = faults.printer.next();
                (faults.printer.done(), ShopAction::Printer(faults.printer))
            }
        };
        self.act(words, act)
    }

    fn present(&mut self, entry: CardEntry) -> Option<ShopAction> {
        let card = self.card();
        if !card.ways().contains(&entry) {
            let (word, can) = (card_menu::word(entry), card_menu::words(card));
            return self.in_vain(format!("You cannot {word} {}. You can {can} it.", card.name));
        }
        if let Some(other) = self.in_slot().filter(|_| entry == CardEntry::Insert) {
            return self.in_vain(format!("The card {} is in the slot. Press r to take it out first.", other.name));
        }
        if entry == CardEntry::Insert {
            self.inserted = Some(card);
        }
        self.act(&card_menu::presented(card, entry), ShopAction::Present(card, entry))
    }

    /// Returns whether a transaction can begin. If not, shows the reason.
    fn is_free(&mut self) -> bool {
        let busy = self
            .under_way()
            .map(|sale| format!("{} has not ended yet. Wait, or press x to cancel it.", sale.reference));
        let free = busy.is_none();
        if let Some(busy) = busy {
            self.tell(Tone::You, busy);
        }
        free
    }

    /// Returns the last sale, for a refund or void. If there is none, shows a sentence about it.
    fn last_sale(&mut self, what: &str) -> Option<String> {
        let last = self.sold.last().cloned();
        if last.is_none() {
            self.tell(Tone::You, format!("There is no sale to {what} yet. Press n to start one."));
        }
        last
    }

    fn ask_amount(&mut self, purpose: Purpose) {
        if !self.is_free() || (purpose == Purpose::Refund && self.last_sale("refund").is_none()) {
            return;
        }
        self.amount = AmountEntry::of(purpose);
        self.page = Page::Amount(purpose);
    }

    fn enter_amount(&mut self) -> Option<ShopAction> {
        let Page::Amount(purpose) = self.page else { return None };
        let amount = self.amount.checked(purpose).ok()?;
        self.page = Page::None;
        let reference = self.next_reference();
        let wanted = match (purpose, amount) {
            (Purpose::Refund, amount) => Wanted::refund(reference, self.last_sale("refund")?, amount),
            (_, amount) => Wanted::sale(reference, amount?, purpose == Purpose::SaleWithTip),
        };
        Some(self.begin(wanted))
    }

    fn void(&mut self) -> Option<ShopAction> {
        let of = if self.is_free() { self.last_sale("void")? } else { return None };
        let wanted = Wanted::void(self.next_reference(), of);
        Some(self.begin(wanted))
    }

    fn next_reference(&mut self) -> String {
        self.begun += 1;
        format!("demo-{}", self.begun)
    }

    /// Repeats the same reference and amount, like a till that has lost its answer.
    fn again(&mut self) -> Option<ShopAction> {
        match self.asked.clone() {
            Some(wanted) => Some(self.begin(wanted)),
            None => self.in_vain("There is nothing to ask for again. Press n to start a sale."),
        }
    }

    fn begin(&mut self, wanted: Wanted) -> ShopAction {
        self.tell(Tone::You, in_words(&wanted));
        let (reference, kind) = (wanted.reference.clone(), wanted.kind.to_owned());
        if self.sale.as_ref().is_none_or(|sale| sale.reference != reference) {
            let (amount, text) = (wanted.amount.clone().unwrap_or_default(), "The agent is asked.".to_owned());
            self.before = self.sale.replace(Sale { reference, kind, amount, text, ..Sale::default() });
        }
        self.asked = Some(wanted.clone());
        ShopAction::Till(Asked::Begin(wanted))
    }

    fn compare(&mut self, accepted: bool) -> Option<ShopAction> {
        let Some(sale) = self.sale.as_ref().filter(|sale| sale.waits_for_signature()) else {
            return self.in_vain("No sale is waiting for a signature check.");
        };
        let asked = Asked::Signature(sale.reference.clone(), accepted);
        let words = if accepted {
            "You accept the signature: it is the one on the card."
        } else {
            "You refuse the signature: it is not the one on the card."
        };
        self.act(words, ShopAction::Till(asked))
    }

    fn cancel(&mut self) -> Option<ShopAction> {
        match self.under_way().map(|sale| sale.reference.clone()) {
            Some(reference) => {
                self.act(&format!("You cancel {reference} at the till."), ShopAction::Till(Asked::Cancel(reference)))
            }
            None => self.in_vain("There is nothing to cancel: no sale is under way."),
        }
    }
}

/// Describes the till's request in a sentence.
fn in_words(wanted: &Wanted) -> String {
    let Wanted { reference, amount, of, tip, .. } = wanted;
    match (of, amount) {
        (Some(of), None) if wanted.kind == "reversal" => format!("You void {of}; the void is {reference}."),
        (Some(of), None) => format!("You refund all that is left of {of}; the refund is {reference}."),
        (Some(of), Some(amount)) => format!("You refund {amount} EUR of {of}; the refund is {reference}."),
        (None, amount) => {
            let tip = if tip.is_some() { " and a tip" } else { "" };
            format!("You ask for {} EUR{tip}; the sale is {reference}.", amount.as_deref().unwrap_or("?"))
        }
    }
}
