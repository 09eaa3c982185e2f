//! The keys that make sense now, in two lines: what a customer and a cashier do, then what breaks.

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::super::till::Sale;
use super::super::{wallet, ways};
use super::keys::Over;
use super::model::{Model, PrinterIs};
use crate::sim::reader::{Entry, WaitsFor};

/// One key: its name, its word, and whether it is pressed down, as it were.
type Hint = (&'static str, &'static str, bool);

/// The two lines at the bottom.
pub(super) fn lines(model: &Model, tabs: bool) -> Vec<Line<'static>> {
    match model.over {
        Over::Nothing => vec![line(now(model)), line(always(model, tabs))],
        Over::Help => vec![line(vec![("any key", "back", false)]), Line::default()],
        Over::Amount => {
            let keys = vec![("0-9 .", "amount", false), ("↑ ↓", "ready-made", false), ("Enter", "start", false)];
            vec![line(keys), line(vec![("Esc", "back", false)])]
        }
    }
}

/// What a customer or a cashier can do now.
pub(super) fn now(model: &Model) -> Vec<Hint> {
    let mut hints = Vec::new();
    if model.faults.power {
        hints.push(("k", "power back", false));
        return hints;
    }
    let sale = model.under_way().is_some();
    let card_wanted = model.under_way().is_some_and(Sale::waits_for_card);
    if !sale {
        hints.push(("n", "new sale", false));
        if model.sale.is_some() {
            hints.push(("d", "same reference again", false));
        }
    }
    if card_wanted && !model.faults.cable && model.display.waits_for != WaitsFor::Pin {
        for entry in ways(model.card()) {
            let key = match entry {
                Entry::Insert if model.display.card_in_slot => continue,
                Entry::Insert => "i",
                Entry::Tap => "t",
                Entry::Swipe => "s",
            };
            hints.push((key, wallet::word(entry), false));
        }
    }
    if model.display.card_in_slot {
        hints.push(("r", "remove", false));
    }
    if sale {
        hints.push(("c", "red key", false));
        hints.push(("x", "cancel", false));
    }
    if model.sale.as_ref().is_some_and(Sale::waits_for_signature) {
        hints.extend([("y", "signature ok", false), ("f", "forged", false)]);
    }
    hints.push(("w", "wrong PIN", model.wrong_pin));
    hints.push(("↑ ↓", "card", false));
    hints
}

fn always(model: &Model, tabs: bool) -> Vec<Hint> {
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
