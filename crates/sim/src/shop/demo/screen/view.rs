//! The view: it draws a model into an area of the screen. It keeps no state between two drawings.
//!
//! ```text
//!  80 columns                          118 columns and more
//!  ┌ shop ─────────────────────┐      ┌ shop ───────────────────────────────┐
//!  ├ reader ┬ steps ───────────┤      ├ reader ┬ steps ─────────┬ receipts ─┤
//!  ├ cards  ┼ receipts│ledger ─┤      ├ cards  ┼ ledger ────────┤           │
//!  └ keys ──┴──────────────────┘      └ keys ──┴────────────────┴───────────┘
//! ```
//!
//! A page (`pages`) replaces the panes, so no part covers another. On a screen of at least 80 x 24 characters, no word
//! is cut. Items that do not fit are counted.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::key_hints;
use super::keys::Page;
use super::model::{Model, PrinterIs, Tone};
use super::text::{sentence, wrap_within};
use super::{pages, panes};

/// The smallest screen on which everything fits.
const LEAST: (u16, u16) = (80, 24);
/// The minimum number of columns for the reader and the cards.
const CARDS: u16 = 31;
/// The maximum number of lines in the banner.
const BANNER: usize = 4;
/// The minimum width for receipts in their own column.
const WIDE: u16 = 118;
/// The minimum height for the ledger next to the receipts in two columns.
const TALL: u16 = 38;

/// Draws the whole screen.
pub(super) fn draw(frame: &mut Frame, model: &Model) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let says = format!(
            "The demo needs a terminal of {} x {} characters or more. Make this one larger, or press q to quit.",
            LEAST.0, LEAST.1
        );
        return frame.render_widget(Paragraph::new(says).wrap(Wrap { trim: true }), area);
    }
    let banner_lines = if model.page == Page::None { banner_lines(model, area.width) } else { Vec::new() };
    let hint_lines = key_hints::lines(model, has_tabs(area));
    let rows = |lines: &Vec<Line>| Constraint::Length(u16::try_from(lines.len()).unwrap_or(u16::MAX));
    let parts = [Constraint::Length(1), rows(&banner_lines), Constraint::Min(0), rows(&hint_lines)];
    let [head, banner, body, foot] = Layout::vertical(parts).areas(area);
    frame.render_widget(state_line(model), head);
    frame.render_widget(Paragraph::new(banner_lines), banner);
    match model.page {
        Page::None if area.width >= WIDE => wide(frame, body, model),
        Page::None => narrow(frame, body, model),
        _ => pages::draw(frame, body, model),
    }
    frame.render_widget(Paragraph::new(hint_lines), foot);
}

/// Returns whether receipts and ledger share an area.
fn has_tabs(area: Rect) -> bool {
    area.width < WIDE && area.height < TALL
}

fn wide(frame: &mut Frame, body: Rect, model: &Model) {
    // On a very wide screen, the cards get a fifth of the width.
    let cards = Constraint::Length((body.width / 5).max(CARDS));
    let [left, middle, right] = Layout::horizontal([cards, Constraint::Min(0), Constraint::Length(45)]).areas(body);
    customer(frame, left, model);
    let [steps, ledger] = Layout::vertical([Constraint::Fill(3), Constraint::Fill(2)]).areas(middle);
    panes::steps(frame, steps, model);
    panes::ledger(frame, ledger, panes::titled("Ledger of the gateway"), model);
    panes::paper(frame, right, panes::titled(format!("Receipts {}", model.receipts.len())), model);
}

fn narrow(frame: &mut Frame, body: Rect, model: &Model) {
    let [left, right] = Layout::horizontal([Constraint::Length(CARDS), Constraint::Min(0)]).areas(body);
    customer(frame, left, model);
    if body.height + 4 >= TALL {
        let [steps, ledger, paper] =
            Layout::vertical([Constraint::Fill(2), Constraint::Fill(1), Constraint::Fill(3)]).areas(right);
        panes::steps(frame, steps, model);
        panes::ledger(frame, ledger, panes::titled("Ledger of the gateway"), model);
        return panes::paper(frame, paper, panes::titled(format!("Receipts {}", model.receipts.len())), model);
    }
    let [steps, shared] = Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas(right);
    panes::steps(frame, steps, model);
    let tab = |text: String, shown: bool| {
        let style = if shown { Style::new().bold().reversed() } else { Style::new().dim() };
        Span::styled(format!(" {text} "), style)
    };
    let tabs = panes::pane().title_top(Line::from(vec![
        tab(format!("Receipts {}", model.receipts.len()), !model.ledger_shown),
        tab(format!("Ledger {}", model.ledger.len()), model.ledger_shown),
        Span::from(" Tab ").dim(),
    ]));
    if model.ledger_shown {
        panes::ledger(frame, shared, tabs, model);
    } else {
        panes::paper(frame, shared, tabs, model);
    }
}

/// Draws the customer's side, which is the reader and the cards.
fn customer(frame: &mut Frame, area: Rect, model: &Model) {
    let [reader, cards] =
        Layout::vertical([Constraint::Length(panes::reader_rows(model)), Constraint::Min(0)]).areas(area);
    panes::reader(frame, reader, model);
    panes::cards(frame, cards, model);
}

/// Returns the state of every part of the shop.
fn state_line(model: &Model) -> Line<'static> {
    let faults = &model.faults;
    let ready = model.status.as_ref().is_some_and(|status| status.ready);
    let agent = match () {
        () if faults.power => ("no power", Color::Red),
        () if !model.connected => ("starts", Color::Yellow),
        () if model.under_way().is_some() => ("in a sale", Color::Cyan),
        () if ready && model.status.as_ref().is_some_and(|status| status.busy) => ("in a sale", Color::Cyan),
        () if ready => ("ready", Color::Green),
        () => ("not ready", Color::Yellow),
    };
    let reader = if faults.cable { ("unplugged", Color::Red) } else { ("on", Color::Green) };
    let network = match (faults.network, faults.slow) {
        (true, _) => ("off", Color::Red),
        (_, true) => ("slow", Color::Yellow),
        _ => ("on", Color::Green),
    };
    let printer = (faults.printer.word(), if faults.printer == PrinterIs::Ready { Color::Green } else { Color::Red });
    let mut spans = vec![Span::from(" pos-agent demo ").bold().reversed()];
    for (what, (state, colour)) in [("agent", agent), ("reader", reader), ("network", network), ("printer", printer)] {
        spans.push(Span::from(format!("  {what} ")));
        spans.push(Span::styled(state, Style::new().fg(colour).bold()));
    }
    Line::from(spans)
}

/// Returns the most important lines: the state of the latest transaction, and the messages that need a person.
fn banner_lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (tone, text) in banner(model) {
        let style = colour(tone).add_modifier(Modifier::BOLD | Modifier::REVERSED);
        let parts = wrap_within(&text, usize::from(width.saturating_sub(2)), BANNER.saturating_sub(lines.len()));
        lines.extend(parts.into_iter().map(|part| Line::from(Span::styled(format!(" {part} "), style))));
    }
    lines
}

fn banner(model: &Model) -> Vec<(Tone, String)> {
    if model.faults.power {
        let text = "The agent has no power. Press k to restore it, or wait 4 seconds.";
        return vec![(Tone::Trouble, text.to_owned())];
    }
    if !model.connected {
        return vec![(Tone::Plain, "The agent is starting. Wait a moment.".to_owned())];
    }
    let attention = attention(model);
    // The transaction's text is omitted if the agent's messages contain it.
    let said_of_sale = model.sale.as_ref().filter(|sale| !attention.contains(sale.text.trim_end_matches('.')));
    let mut banner: Vec<_> =
        said_of_sale.iter().map(|sale| (Tone::of(sale), format!("{}: {}", sale.reference, sale.text))).collect();
    if model.under_way().is_none() && !attention.is_empty() {
        let doubt = model.sale.as_ref().is_some_and(|sale| Tone::of(sale) == Tone::Doubt);
        banner.push((if doubt { Tone::Doubt } else { Tone::Trouble }, attention));
    }
    if banner.is_empty() {
        banner.push((Tone::You, "Press n to start a sale. Press ? to see what all keys do.".to_owned()));
    }
    banner
}

/// Returns the agent's messages that need a person, as sentences.
pub(super) fn attention(model: &Model) -> String {
    let all = model.status.iter().flat_map(|status| &status.attention);
    all.map(|one| sentence(one)).collect::<Vec<_>>().join(" ")
}

/// Returns the colour of a tone.
pub(super) fn colour(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::You => Style::new().fg(Color::Cyan),
        Tone::Good => Style::new().fg(Color::Green),
        Tone::Bad => Style::new().fg(Color::Red),
        Tone::Doubt => Style::new().fg(Color::Yellow),
        Tone::Trouble => Style::new().fg(Color::Magenta),
    }
}

#[cfg(test)]
mod tests;
