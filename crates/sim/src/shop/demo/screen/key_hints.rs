//! The keys that are useful in the current state, in three lines: the till's keys, the customer's keys, and the faults.

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::super::card_menu;
use super::super::till::Sale;
use super::amount::Purpose;
use super::keys::Page;
use super::model::{Model, PrinterIs};
use crate::reader::{CardEntry, WaitsFor};

/// A key: its name, its word, and whether it appears as pressed.
type Hint = (&'static str, &'static str, bool);

/// Returns the lines at the bottom of the screen: three for the shop, one for a page.
pub(super) fn lines(model: &Model, tabs: bool) -> Vec<Line<'static>> {
    let hints = match model.page {
        Page::None => vec![till(model), customer(model), trouble(model, tabs)],
        Page::Keys => vec![vec![("any key", "next page", false), ("Esc", "back to the shop", false)]],
        Page::Places | Page::Totals => vec![vec![("any key", "back to the shop", false)]],
        Page::Amount(Purpose::Refund) => {
            vec![vec![("0-9 .", "amount", false), ("Enter", "refund", false), ("Esc", "back to the shop", false)]]
        }
        Page::Amount(_) => vec![vec![
            ("0-9 .", "amount", false),
            ("↑ ↓", "ready-made", false),
            ("Enter", "start", false),
            ("Esc", "back to the shop", false),
        ]],
    };
    hints.into_iter().map(line).collect()
}

/// Returns the keys of the cashier.
fn till(model: &Model) -> Vec<Hint> {
    if model.faults.power {
        return vec![("k", "give the agent its power back", false)];
    }
    if model.under_way().is_some() {
        return vec![("x", "cancel the sale at the till", false), ("z", "totals", false)];
    }
    let mut hints = Vec::new();
    if model.sale.as_ref().is_some_and(Sale::waits_for_signature) {
        hints.extend([("y", "signature ok", false), ("f", "forged", false)]);
    }
    hints.extend([("n", "sale", false), ("m", "sale with tip", false)]);
    if !model.sold.is_empty() {
        hints.extend([("b", "refund", false), ("v", "void", false)]);
    }
    if model.asked.is_some() && hints.len() < 5 {
        hints.push(("d", "ask again", false));
    }
    hints.push(("z", "totals", false));
    hints
}

/// Returns the keys of the customer.
fn customer(model: &Model) -> Vec<Hint> {
    let mut hints = Vec::new();
    let sale = model.under_way().is_some();
    let card_wanted = model.under_way().is_some_and(Sale::waits_for_card);
    if model.number_wanted() {
        hints.push(("0-9 Enter", "type the tip", false));
    } else if card_wanted && !model.faults.cable && model.display.waits_for != WaitsFor::Pin {
        for entry in model.card().ways() {
            let key = match entry {
                CardEntry::Insert if model.display.card_in_slot => continue,
                CardEntry::Insert => "i",
                CardEntry::Tap => "t",
                CardEntry::Swipe => "s",
            };
            hints.push((key, card_menu::word(entry), false));
        }
    }
    if model.display.card_in_slot {
        hints.push(("r", "take out", false));
    }
    if sale {
        hints.push(("c", "red key", false));
    }
    hints.extend([("w", "wrong PIN", model.wrong_pin), ("1-9 A-Q", "card", false)]);
    hints
}

/// Returns the keys for faults, and the keys that are always available.
fn trouble(model: &Model, tabs: bool) -> Vec<Hint> {
    let faults = &model.faults;
    let mut hints = vec![
        ("u", "cable", faults.cable),
        ("p", "printer", faults.printer != PrinterIs::Ready),
        ("g", "network", faults.network),
        ("l", "slow", faults.slow),
        ("k", "power", faults.power),
    ];
    if tabs {
        hints.push(("Tab", if model.ledger_shown { "receipts" } else { "ledger" }, false));
    }
    hints.extend([("?", "help", false), ("q", "quit", false)]);
    hints
}

fn line(hints: Vec<Hint>) -> Line<'static> {
    let mut spans = Vec::new();
    for (key, word, down) in hints {
        spans.push(Span::styled(format!(" {key} "), Style::new().fg(Color::Cyan).bold()));
        let style = if down { Style::new().fg(Color::Red).bold().reversed() } else { Style::new() };
        spans.push(Span::styled(word, style));
        spans.push(Span::from(" "));
    }
    Line::from(spans)
}
