//! The pages that temporarily replace the shop: the help, the amount of a new sale or a refund, and the totals. Each is
//! a list of lines, which the plain demo also prints.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph};

use super::super::till::{Sum, Totals};
use super::amount::{Purpose, ready_made};
use super::keys::Page;
use super::model::{Model, Tone};
use super::panes::inside;
use super::text::{window, wrap};
use super::view::colour;

/// The meaning of the keys, in the order of a transaction.
const KEYS: &[(&str, &str)] = &[
    ("n", "Start a sale: type an amount, or choose one by its outcome."),
    ("m", "Start a sale with a tip, which the customer types on the reader."),
    ("x", "Cancel the sale at the till."),
    ("y f", "Accept the signature on the slip, or refuse it as forged."),
    ("b", "Refund the last sale: all of it, or a part."),
    ("v", "Void the last sale: the whole amount is reversed."),
    ("z", "Show the totals, as a cashier counts them when the shop closes."),
    ("d", "Send the same request again, as if its answer was lost."),
    ("1-9 A-Q", "Take a card in your hand. ↑ and ↓ take the previous or next one."),
    ("i t s r", "Insert, tap or swipe the card; take it out of the slot."),
    ("0-9 Enter", "Enter the tip on the reader while it asks for it."),
    ("c", "Press the reader's red key."),
    ("w", "Type a wrong PIN next time. The customer types automatically."),
    ("u", "Pull the reader's cable out, or put it back."),
    ("g l", "Cut the network, or make it slow; the same key restores it."),
    ("p", "Take the printer's paper, open its cover, switch it off, or on."),
    ("k", "Cut the agent's power. Press k again to restore it, or wait 4 s."),
    ("Tab", "Show the gateway's ledger, or the receipts again."),
    ("PgUp PgDn", "Scroll the paper."),
    ("q", "Quit."),
];

/// Draws the open page instead of the panes.
pub(super) fn draw(frame: &mut Frame, body: Rect, model: &Model) {
    let (title, lines) = match model.page {
        Page::None => return,
        Page::Keys => ("Keys", KEYS.iter().map(key_line).collect()),
        Page::Places => ("Where everything is", plain(&places(model, inside(body).0))),
        Page::Amount(purpose) => return amount(frame, body, model, purpose),
        Page::Totals => ("Totals", plain(&totals(model))),
    };
    let lines = fitted(lines, inside(body).1);
    frame.render_widget(Paragraph::new(lines).block(page(title)), body);
}

fn key_line((key, does): &(&str, &str)) -> Line<'static> {
    Line::from(vec![Span::from(format!(" {key:>9}  ")).cyan().bold(), Span::from((*does).to_owned())])
}

fn plain(lines: &[String]) -> Vec<Line<'static>> {
    lines.iter().map(|line| Line::from(format!(" {line}"))).collect()
}

/// Counts the lines that do not fit.
fn fitted(mut lines: Vec<Line<'static>>, rows: usize) -> Vec<Line<'static>> {
    if lines.len() > rows && rows > 0 {
        let left_out = lines.len() - (rows - 1);
        lines.truncate(rows - 1);
        lines.push(Line::from(format!(" {left_out} more lines need a taller terminal.")).dim());
    }
    lines
}

/// Returns the lines about the keys.
pub(super) fn keys() -> Vec<String> {
    // Without a screen, there are no tabs to switch and no paper to scroll.
    let there = |(key, _): &&(&str, &str)| !["Tab", "PgUp PgDn"].contains(key);
    KEYS.iter().filter(there).map(|(key, does)| format!("{key:>9}  {does}")).collect()
}

/// Returns the lines with the paths and addresses.
pub(super) fn places(model: &Model, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (what, place) in &model.places {
        lines.extend(wrap(what, width.saturating_sub(2)));
        lines.extend(wrap(place, width.saturating_sub(4)).into_iter().map(|line| format!("  {line}")));
        lines.push(String::new());
    }
    lines
}

/// Returns the question for an amount, and the outcome of the amount in the field.
pub(super) fn question(model: &Model, purpose: Purpose) -> (String, Result<&'static str, String>) {
    let last = model.sold.last().map_or("the last sale", String::as_str);
    let asks = match purpose {
        Purpose::Sale => "How much is the sale?".to_owned(),
        Purpose::SaleWithTip => "How much is the sale, without the tip?".to_owned(),
        Purpose::Refund => format!("How much of {last} is refunded? Press Enter to refund all."),
    };
    (asks, model.amount.meaning(purpose))
}

fn amount(frame: &mut Frame, body: Rect, model: &Model, purpose: Purpose) {
    let area = body.centered(Constraint::Max(78), Constraint::Max(38));
    let (width, height) = inside(area);
    let entry = &model.amount;
    let (asks, meaning) = question(model, purpose);
    let (meaning, style) = match meaning {
        Ok(what) => (what.to_owned(), Style::new()),
        Err(wrong) => (wrong, colour(Tone::Trouble)),
    };
    let mut lines: Vec<Line> =
        vec![Line::from(format!(" {asks}")), Line::from(format!(" {:>7}▏ EUR", entry.typed)).bold().cyan()];
    lines.extend(
        wrap(&meaning, width.saturating_sub(2)).into_iter().map(|line| Line::from(format!(" {line}")).style(style)),
    );
    let title = match purpose {
        Purpose::Sale => "New sale",
        Purpose::SaleWithTip => "New sale with a tip",
        Purpose::Refund => "Refund",
    };
    let mut block = page(title);
    if purpose != Purpose::Refund {
        lines.push(Line::default());
        lines.push(Line::from(" The cents choose the outcome:").dim());
        let rows = height.saturating_sub(lines.len());
        let count = ready_made().count();
        let first = window(entry.picked, count, rows);
        for (n, (ready, what)) in ready_made().enumerate().skip(first).take(rows) {
            let line = Line::from(format!(" {ready:>6}  {what}"));
            lines.push(if n == entry.picked { line.bold().reversed() } else { line });
        }
        block = block.title_bottom(super::panes::more(first, count.saturating_sub(first + rows)));
    }
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Returns the totals as a cashier counts them.
pub(super) fn totals(model: &Model) -> Vec<String> {
    let Some(Totals { open, kinds, schemes, tips, declined, taken_back, cancelled, not_sent }) = &model.totals else {
        return vec!["The agent is counting.".to_owned()];
    };
    let mut lines = vec![format!("{:<28}{:>6}{:>16}", "", "count", "sum")];
    let row = |what: &str, sum: &Sum| format!("{what:<28}{:>6}{:>16} {}", sum.count, sum.sum, sum.currency);
    for sum in kinds {
        lines.push(row(kind_in_words(&sum.kind), sum));
        let same = |scheme: &&Sum| scheme.kind == sum.kind && scheme.currency == sum.currency;
        let scheme = |one: &Sum| row(&format!("  with {}", one.scheme.as_deref().unwrap_or("other")), one);
        lines.extend(schemes.iter().filter(same).map(scheme));
    }
    lines.extend(tips.iter().map(|tip| row("Tips, included in the sales", tip)));
    if kinds.is_empty() {
        lines.push("There are no amounts yet.".to_owned());
    }
    for (what, count) in
        [("Declined", declined), ("Reversed", taken_back), ("Cancelled", cancelled), ("Not sent", not_sent)]
    {
        lines.push(format!("{what:<28}{count:>6}"));
    }
    if !open.is_empty() {
        lines.push(String::new());
        lines.push("These have no outcome yet and are in no sum above:".to_owned());
        lines.extend(
            open.iter().map(|sale| format!("  {} of {} {}", kind_of_one(&sale.kind), sale.amount, sale.reference)),
        );
    }
    lines
}

fn kind_in_words(kind: &str) -> &str {
    match kind {
        "sale" => "Sales",
        "refund" => "Refunds",
        "reversal" => "Voids",
        "pre-authorisation" => "Reservations",
        "capture" => "Captures",
        "credit" => "Credits",
        other => other,
    }
}

fn kind_of_one(kind: &str) -> &str {
    match kind {
        "sale" => "Sale",
        "refund" => "Refund",
        "reversal" => "Void",
        other => other,
    }
}

/// Returns the frame of a page.
fn page(title: &'static str) -> Block<'static> {
    let border = Style::new().fg(Color::Cyan);
    Block::bordered()
        .border_type(BorderType::Double)
        .border_style(border)
        .title_top(Line::from(format!(" {title} ")).bold())
}
