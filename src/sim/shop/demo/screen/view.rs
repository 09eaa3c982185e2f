//! The view: a model and an area in, the screen out. Nothing is remembered between two drawings.
//!
//! ```text
//!  80 columns                          118 columns and more
//!  ┌ shop ─────────────────────┐      ┌ shop ───────────────────────────────┐
//!  ├ reader ┬ steps ───────────┤      ├ reader ┬ steps ─────────┬ receipts ─┤
//!  ├ cards  ┼ receipts│ledger ─┤      ├ cards  ┼ ledger ────────┤           │
//!  └ keys ──┴──────────────────┘      └ keys ──┴────────────────┴───────────┘
//! ```

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph};

use super::hints;
use super::keys::Over;
use super::model::{Model, PrinterIs, Tone};
use super::{overlay, panes};

/// Smaller than this nothing can be read.
const LEAST: (u16, u16) = (64, 20);
/// From here on the receipts have a column of their own.
const WIDE: u16 = 118;
/// From here on the ledger has room beside the receipts even in two columns.
const TALL: u16 = 38;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame, model: &Model) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let says = format!("The screen needs {} x {} characters. q quit", LEAST.0, LEAST.1);
        return frame.render_widget(Paragraph::new(says), area);
    }
    let [head, banner, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Min(0), Constraint::Length(2)])
            .areas(area);
    frame.render_widget(state_line(model), head);
    frame.render_widget(banner_line(model, banner.width), banner);
    if area.width >= WIDE {
        wide(frame, body, model)
    } else {
        narrow(frame, body, model)
    }
    frame.render_widget(Paragraph::new(hints::lines(model, has_tabs(area))), foot);
    match model.over {
        Over::Nothing => {}
        Over::Help => overlay::help(frame, body, model),
        Over::Amount => overlay::amount(frame, body, model),
    }
}

/// Whether receipts and ledger share a place.
fn has_tabs(area: Rect) -> bool {
    area.width < WIDE && area.height < TALL
}

fn wide(frame: &mut Frame, body: Rect, model: &Model) {
    let [left, middle, right] =
        Layout::horizontal([Constraint::Length(32), Constraint::Min(0), Constraint::Length(46)]).areas(body);
    customer(frame, left, model);
    let [steps, ledger] = Layout::vertical([Constraint::Fill(3), Constraint::Fill(2)]).areas(middle);
    panes::steps(frame, steps, model);
    panes::ledger(frame, ledger, panes::titled("Ledger of the gateway"), model);
    panes::paper(frame, right, panes::titled(format!("Receipts {}", model.receipts.len())), model);
}

fn narrow(frame: &mut Frame, body: Rect, model: &Model) {
    let [left, right] = Layout::horizontal([Constraint::Length(31), Constraint::Min(0)]).areas(body);
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

/// The customer's side: what he sees and what he has.
fn customer(frame: &mut Frame, area: Rect, model: &Model) {
    let [reader, cards] = Layout::vertical([Constraint::Length(8), Constraint::Min(0)]).areas(area);
    panes::reader(frame, reader, model);
    panes::cards(frame, cards, model);
}

/// What every part of the shop is like.
fn state_line(model: &Model) -> Line<'static> {
    let faults = &model.faults;
    let ready = model.status.as_ref().is_some_and(|status| status.ready);
    let agent = match () {
        () if faults.power => ("no power", Color::Red),
        () if !model.connected => ("starts", Color::Yellow),
        () if model.under_way().is_some() => ("in a sale", Color::Cyan),
        () if ready && model.status.as_ref().is_some_and(|status| status.busy) => ("busy", Color::Cyan),
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

/// The one sentence that matters now: what needs a person, else how the latest sale stands.
fn banner_line(model: &Model, width: u16) -> Line<'static> {
    let attention = model.status.as_ref().and_then(|status| status.attention.first()).map(|first| &first.text);
    let (tone, text) = match (model.under_way(), attention, &model.sale) {
        (Some(sale), ..) => (Tone::of(sale), sale_words(model, &sale.text)),
        (None, Some(attention), Some(sale)) if Tone::of(sale) == Tone::Doubt => (Tone::Doubt, attention.clone()),
        (None, Some(attention), _) => (Tone::Trouble, attention.clone()),
        (None, None, Some(sale)) => (Tone::of(sale), sale_words(model, &sale.text)),
        (None, None, None) => (Tone::You, "Press n to start a sale".to_owned()),
    };
    let text = panes::cut(&text, usize::from(width.saturating_sub(2)));
    Line::from(format!(" {text} ")).style(colour(tone).add_modifier(Modifier::BOLD | Modifier::REVERSED))
}

fn sale_words(model: &Model, text: &str) -> String {
    model.sale.as_ref().map_or_else(String::new, |sale| format!("{}: {text}", sale.reference))
}

/// The colour of what is said.
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

/// A frame around what lies over the screen.
pub(super) fn sheet(title: &'static str) -> Block<'static> {
    Block::bordered().border_type(BorderType::Double).title_top(Line::from(format!(" {title} ")).bold())
}

#[cfg(test)]
mod tests;
