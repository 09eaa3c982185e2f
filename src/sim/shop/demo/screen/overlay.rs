//! What lies over the screen for a moment: the help, and the amount of a new sale.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::amount::ready_made;
use super::model::{Model, Tone};
use super::panes::{inside, window, wrap};
use super::view::{colour, sheet};

/// What the keys do, in the order of a sale.
const KEYS: &[(&str, &str)] = &[
    ("n", "start a sale: type an amount, or pick one by what comes of it"),
    ("x", "cancel the sale at the till"),
    ("y f", "the signature on the slip is right, or forged"),
    ("d", "ask for the same reference again, as after a lost answer"),
    ("1-9 A-E ↑ ↓", "take a card in hand"),
    ("i t s r", "insert, tap, swipe it; take it out of the slot"),
    ("c", "press the reader's red key"),
    ("w", "type a wrong PIN next time; the customer types by himself"),
    ("u", "reader's cable out, in"),
    ("p", "printer without paper, with its cover open, off, on"),
    ("g l", "network off, on; gateway's line slow, quick"),
    ("k", "the agent's power: kill -9; back after 4 s, or by k"),
    ("Tab PgUp PgDn", "receipts or ledger; roll the paper"),
    ("q", "quit"),
];

/// The keys, and where everything is.
pub(super) fn help(frame: &mut Frame, body: Rect, model: &Model) {
    let area = body.centered(Constraint::Max(92), Constraint::Max(26));
    let (width, _) = inside(area);
    let key = |(key, does): &(&str, &str)| {
        Line::from(vec![Span::from(format!(" {key:>13}  ")).cyan().bold(), Span::from(does.to_string())])
    };
    let mut lines: Vec<Line> = KEYS.iter().map(key).collect();
    for place in &model.places {
        lines.extend(wrap(place, width.saturating_sub(2)).into_iter().map(|line| Line::from(format!(" {line}")).dim()));
    }
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(sheet("Keys")), area);
}

/// The amount of a new sale.
pub(super) fn amount(frame: &mut Frame, body: Rect, model: &Model) {
    let area = body.centered(Constraint::Max(76), Constraint::Max(34));
    let (_, height) = inside(area);
    let entry = &model.amount;
    let meaning = match entry.meaning() {
        Ok(what) => Span::from(what.to_owned()),
        Err(wrong) => Span::styled(wrong, colour(Tone::Trouble)),
    };
    let field = Span::from(format!("{:>7}▏", entry.typed)).bold().cyan();
    let mut lines = vec![
        Line::from(vec![Span::from(" "), field, Span::from(" EUR  "), meaning]),
        Line::from(" The cents choose what the gateway does; any others are approved:").dim(),
    ];
    let rows = height.saturating_sub(lines.len());
    let first = window(entry.picked, ready_made().count(), rows);
    for (n, (ready, what)) in ready_made().enumerate().skip(first).take(rows) {
        let line = Line::from(format!(" {ready:>6}  {what}"));
        lines.push(if n == entry.picked { line.bold().reversed() } else { line });
    }
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(sheet("New sale")), area);
}
