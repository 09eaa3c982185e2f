//! The panes: the reader's display, the cards, the steps, the ledger and the paper. Each pane fills its area.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph};

use super::super::card_menu;
use super::model::{Model, Tone};
use super::text::{window, wrap, wrap_within};
use super::view::colour;
use crate::gateway::{Kind, LedgerEntry, State};
use crate::reader::{Card, CardEntry, Screen, WaitsFor, deck};
use pos_terms::money::{Amount, Currency};

/// The number of characters in a row of the reader's display.
const DISPLAY: usize = 21;
/// The number of rows on the display.
const DISPLAY_ROWS: usize = 4;
/// The number of rows below the cards for the description of the selected card.
const ABOUT: usize = 3;
/// The number of columns on the paper.
const PAPER: u16 = 42;

/// Makes an empty pane.
pub(super) fn pane() -> Block<'static> {
    Block::bordered().border_type(BorderType::Rounded).border_style(Style::new().dim())
}

/// Makes a pane with a title.
pub(super) fn titled(title: impl Into<String>) -> Block<'static> {
    pane().title_top(Line::from(format!(" {} ", title.into())).bold())
}

/// Returns the text on the reader's display: first the amount from the agent, then the lines.
pub(super) fn reader_display(model: &Model) -> Vec<String> {
    let Screen { amount, lines, .. } = &model.display;
    amount.iter().chain(lines).cloned().collect()
}

/// Describes in a sentence what the reader waits for.
pub(super) fn waiting(model: &Model) -> &'static str {
    match model.display.waits_for {
        _ if model.faults.cable => "Its cable is out.",
        WaitsFor::Agent if model.under_way().is_some_and(|sale| sale.kind == "sale") => "Do what the display says.",
        WaitsFor::Agent if model.display.card_in_slot => "Take the card out.",
        WaitsFor::Agent => "It is idle.",
        WaitsFor::Card => "It is waiting for a card.",
        WaitsFor::Pin => "The customer types the PIN.",
        WaitsFor::Number => "Type the tip on the reader.",
        WaitsFor::Choice => "The customer chooses.",
    }
}

/// Returns the number of rows in the reader's pane, including its border.
pub(super) fn reader_rows(model: &Model) -> u16 {
    u16::try_from(reader_display(model).len().max(DISPLAY_ROWS)).unwrap_or(u16::MAX).saturating_add(4)
}

/// Draws the reader's display and the input that the reader waits for.
pub(super) fn reader(frame: &mut Frame, area: Rect, model: &Model) {
    let mine = model.display.waits_for != WaitsFor::Agent && !model.faults.cable;
    let block = titled("Reader");
    let block = if mine { block.border_style(Style::new().fg(Color::Cyan).bold()) } else { block };
    let style = Style::new().fg(Color::Black).bg(if model.faults.cable { Color::DarkGray } else { Color::Gray });
    let reader_display = reader_display(model);
    let row = |n: usize| {
        let text = reader_display.get(n).map_or("", String::as_str);
        Line::from(Span::styled(format!(" {text:^DISPLAY$} "), style))
    };
    let mut lines: Vec<Line> = (0..reader_display.len().max(DISPLAY_ROWS)).map(row).collect();
    let tone = if mine { Style::new().fg(Color::Cyan).bold() } else { Style::new() };
    lines.push(Line::from(waiting(model)).style(tone));
    lines.push(Line::from(match model.in_slot() {
        Some(card) => format!("It holds {}.", card.name),
        None if model.display.card_in_slot => "A card is in the slot.".to_owned(),
        None => "The slot is empty.".to_owned(),
    }));
    frame.render_widget(Paragraph::new(lines).alignment(Alignment::Center).block(block), area);
}

/// Draws the deck with the selected card and, below it, the card's description.
pub(super) fn cards(frame: &mut Frame, area: Rect, model: &Model) {
    let block = titled("Cards").title_top(Line::from(" insert tap swipe ").right_aligned().dim());
    let (width, height) = inside(area);
    let about = wrap(card_menu::description(model.card()), width.saturating_sub(2));
    let rows = height.saturating_sub(ABOUT);
    let first = window(model.held, deck::DECK.len(), rows);
    let mut lines: Vec<Line> = card_menu::CARD_KEYS
        .chars()
        .zip(deck::DECK)
        .enumerate()
        .skip(first)
        .take(rows)
        .map(|(n, (key, card))| card_line(key, card, n == model.held, width))
        .collect();
    lines.extend(about.into_iter().take(ABOUT).map(|line| Line::from(format!(" {line}")).style(colour(Tone::You))));
    let block = block.title_bottom(more(first, deck::DECK.len().saturating_sub(first + rows)));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Returns the counts of list items above and below the visible part: ` ▲ 3 more  ▼ 18 more `.
pub(super) fn more(above: usize, below: usize) -> Line<'static> {
    let side = |sign: char, count: usize| if count > 0 { format!(" {sign} {count} more ") } else { String::new() };
    Line::from(side('▲', above) + &side('▼', below)).right_aligned().dim()
}

fn card_line(key: char, card: &Card, held: bool, width: usize) -> Line<'static> {
    let ways = card.ways();
    let letter = |entry, letter| if ways.contains(&entry) { letter } else { "·" };
    let letters =
        [letter(CardEntry::Insert, "i"), letter(CardEntry::Tap, "t"), letter(CardEntry::Swipe, "s")].join(" ");
    let name = format!(" {key} {}", card.name);
    let room = width.saturating_sub(letters.chars().count() + 1);
    let line = Line::from(format!("{name:<room$}{letters}"));
    if held { line.bold().reversed() } else { line }
}

/// Draws the steps as whole sentences, with the newest at the bottom.
pub(super) fn steps(frame: &mut Frame, area: Rect, model: &Model) {
    let (width, height) = inside(area);
    let mut lines: Vec<Line> = Vec::new();
    let mut shown = 0;
    for told in model.steps.iter().rev() {
        let parts = wrap_within(&told.text, width.saturating_sub(3), height);
        if lines.len() + parts.len() > height {
            break;
        }
        shown += 1;
        for (n, part) in parts.into_iter().enumerate().rev() {
            let mark = if n == 0 && told.tone != Tone::You { "› " } else { "  " };
            let mark = if n == 0 && told.tone == Tone::You { "" } else { mark };
            lines.push(Line::from(vec![Span::from(mark).dim(), Span::styled(part, colour(told.tone))]));
        }
    }
    lines.reverse();
    let block = match &model.page_at {
        Some(url) => titled("What happens").title_bottom(Line::from(format!(" open {url} ")).style(colour(Tone::You))),
        None => titled("What happens"),
    };
    let block = match model.steps.len().saturating_sub(shown) {
        0 => block,
        earlier => block.title_top(Line::from(format!(" {earlier} earlier ")).right_aligned().dim()),
    };
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Draws the gateway's entries, with the newest at the bottom, and the total amount charged.
pub(super) fn ledger(frame: &mut Frame, area: Rect, block: Block<'static>, model: &Model) {
    let (width, height) = inside(area);
    let mut lines: Vec<Line> = Vec::new();
    let mut shown = 0;
    for booking in model.ledger.iter().rev() {
        let booked = booking_lines(booking, &model.ledger, width);
        if lines.len() + booked.len() > height {
            break;
        }
        shown += 1;
        lines.extend(booked.into_iter().rev());
    }
    lines.reverse();
    if model.ledger.is_empty() {
        lines.push(Line::from(" The gateway has booked nothing yet.").dim());
    }
    let total = Line::from(format!(" charged in all: {} ", total(&model.ledger))).right_aligned().bold();
    let block = match model.ledger.len().saturating_sub(shown) {
        0 => block,
        earlier => block.title_bottom(Line::from(format!(" {earlier} earlier ")).dim()),
    };
    frame.render_widget(Paragraph::new(lines).block(block.title_bottom(total)), area);
}

/// Returns the lines of one entry: the amount and then the words, on further lines if necessary.
fn booking_lines(booking: &LedgerEntry, all: &[LedgerEntry], width: usize) -> Vec<Line<'static>> {
    let payment = booking.refers_to.as_ref().and_then(|id| all.iter().find(|other| other.id == *id));
    let what = match payment {
        Some(payment) => format!("{} of sale {}", noun(booking.kind), sale_number(payment)),
        None => format!("sale {}{}", sale_number(booking), way(booking)),
    };
    let (end, style) = match booking.state {
        State::Approved if payment.is_some() => ("", colour(Tone::Good)),
        State::Approved if booking.kind == Kind::PreAuthorisation => (": reserved", colour(Tone::Good)),
        State::Approved => (": charged", colour(Tone::Good)),
        State::Declined => (": declined", colour(Tone::Bad)),
        State::Pending => (": not decided", colour(Tone::Doubt)),
        State::Reversed => (": reversed", Style::new()),
    };
    let amount = format!(" {:>8} {}  ", booking.amount, booking.currency);
    let indent = amount.chars().count();
    let lines = wrap(&format!("{what}{end}"), width.saturating_sub(indent));
    lines
        .into_iter()
        .enumerate()
        .map(|(n, line)| {
            let head = if n == 0 { amount.clone() } else { " ".repeat(indent) };
            Line::from(vec![Span::from(head), Span::styled(line, style)])
        })
        .collect()
}

/// Describes how the card was presented.
fn way(booking: &LedgerEntry) -> &'static str {
    match booking.entry_mode.as_deref() {
        Some("ICC") => " by chip",
        Some("MAGSTRIPE" | "MAGSTRIPE_AS_FALLBACK") => " by stripe",
        Some("NFC_ICC" | "NFC_MAGSTRIPE") => " by tapping",
        Some("MANUAL") => " by typing",
        _ => "",
    }
}

/// Returns the noun for a follow-up.
fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Debit => "charge",
        Kind::PreAuthorisation => "reservation",
        Kind::Capture => "capture",
        Kind::Refund | Kind::Credit => "refund",
        Kind::Reversal => "void",
        Kind::RiskCheck => "risk check",
    }
}

/// Returns the number of the journal, which is the middle part of the agent's gateway reference.
fn sale_number(booking: &LedgerEntry) -> &str {
    booking.merchant_transaction_id.as_deref().and_then(|id| id.split('-').nth(1)).unwrap_or("?")
}

fn total(ledger: &[LedgerEntry]) -> String {
    let sum = |kinds: [Kind; 2]| -> u64 {
        let moved = |booking: &&LedgerEntry| kinds.contains(&booking.kind) && booking.state == State::Approved;
        ledger.iter().filter(moved).filter_map(minor).sum()
    };
    let minor = sum([Kind::Debit, Kind::Capture]).saturating_sub(sum([Kind::Refund, Kind::Credit]));
    format!("{}.{:02} EUR", minor / 100, minor % 100)
}

fn minor(booking: &LedgerEntry) -> Option<u64> {
    let currency = Currency::from_code(&booking.currency).ok()?;
    Amount::from_gateway(&booking.amount, currency).ok().map(Amount::minor)
}

/// Draws the paper, with the newest receipt at the bottom unless the paper was scrolled back.
pub(super) fn paper(frame: &mut Frame, area: Rect, block: Block<'static>, model: &Model) {
    let (width, height) = inside(area);
    if model.receipts.is_empty() {
        return frame.render_widget(Paragraph::new(Line::from(" Nothing is printed yet.").dim()).block(block), area);
    }
    let tear = "- ".repeat(usize::from(PAPER) / 2);
    let text = |receipt: &String| receipt.trim_end().lines().map(str::to_owned).collect::<Vec<_>>();
    let all: Vec<String> =
        model.receipts.iter().flat_map(|receipt| [text(receipt), vec![tear.clone()]].concat()).collect();
    let last = all.len().saturating_sub(height);
    let first = last.saturating_sub(model.rolled);
    let left = width.saturating_sub(usize::from(PAPER)) / 2;
    let lines: Vec<Line> = all
        .into_iter()
        .skip(first)
        .take(height)
        .map(|line| Line::from(vec![Span::from(" ".repeat(left)), Span::from(line)]))
        .collect();
    let block = block.title_bottom(more(first, last - first));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Returns the columns and rows inside the border.
pub(super) fn inside(area: Rect) -> (usize, usize) {
    (usize::from(area.width.saturating_sub(2)), usize::from(area.height.saturating_sub(2)))
}
