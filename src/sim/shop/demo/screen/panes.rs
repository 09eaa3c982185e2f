//! The panes: the reader's display, the cards, the steps, the ledger, the paper. Each fills the place that it is given.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph};

use super::super::till::Sale;
use super::super::{wallet, ways};
use super::model::{Model, Tone};
use super::view::colour;
use crate::money::{Amount, Currency};
use crate::sim::gateway::{Entry as Booking, Kind, State};
use crate::sim::reader::{Card, Entry, WaitsFor, deck};

/// Characters of a row of the reader's display.
const DISPLAY: usize = 21;
/// Rows of the display.
const DISPLAY_ROWS: usize = 4;
/// Rows below the cards for what is special about the one in hand.
const ABOUT: usize = 2;
/// Columns of the paper.
const PAPER: u16 = 42;

/// An empty pane.
pub(super) fn pane() -> Block<'static> {
    Block::bordered().border_type(BorderType::Rounded).border_style(Style::new().dim())
}

/// A pane with its name.
pub(super) fn titled(title: impl Into<String>) -> Block<'static> {
    pane().title_top(Line::from(format!(" {} ", title.into())).bold())
}

/// The reader: its display as it stands, and what it waits for.
pub(super) fn reader(frame: &mut Frame, area: Rect, model: &Model) {
    let waits = match model.display.waits_for {
        _ if model.faults.cable => "its cable is out",
        WaitsFor::Agent if model.under_way().is_some_and(Sale::waits_for_card) => "waits for the customer",
        WaitsFor::Agent => "waits for the agent",
        WaitsFor::Card => "waits for a card",
        WaitsFor::Pin => "waits for the PIN",
        WaitsFor::Number => "waits for a number",
        WaitsFor::Choice => "waits for a choice",
    };
    let mine = model.display.waits_for != WaitsFor::Agent && !model.faults.cable;
    let block = titled("Reader");
    let block = if mine { block.border_style(Style::new().fg(Color::Cyan).bold()) } else { block };
    let glass = Style::new().fg(Color::Black).bg(if model.faults.cable { Color::DarkGray } else { Color::Gray });
    let row = |n: usize| {
        let text = model.display.lines.get(n).map_or("", String::as_str);
        Line::from(Span::styled(format!(" {text:^DISPLAY$} "), glass))
    };
    let mut lines: Vec<Line> = (0..DISPLAY_ROWS).map(row).collect();
    lines.push(Line::from(waits).style(if mine { Style::new().fg(Color::Cyan).bold() } else { Style::new() }));
    lines.push(Line::from(match model.in_slot() {
        Some(card) => format!("in the slot: {}", card.name),
        None if model.display.card_in_slot => "a card is in the slot".to_owned(),
        None => "the slot is empty".to_owned(),
    }));
    frame.render_widget(Paragraph::new(lines).alignment(Alignment::Center).block(block), area);
}

/// The deck, with the card in hand, and below what it is.
pub(super) fn cards(frame: &mut Frame, area: Rect, model: &Model) {
    let block = titled("Cards").title_top(Line::from(" insert tap swipe ").right_aligned().dim());
    let (width, height) = inside(area);
    let card = model.card();
    let about = wrap(wallet::nature(card), width.saturating_sub(2));
    let rows = height.saturating_sub(ABOUT);
    let first = window(model.held, deck::DECK.len(), rows);
    let mut lines: Vec<Line> = wallet::CARD_KEYS
        .chars()
        .zip(deck::DECK)
        .enumerate()
        .skip(first)
        .take(rows)
        .map(|(n, (key, card))| card_line(key, card, n == model.held, width))
        .collect();
    lines.extend(about.into_iter().take(ABOUT).map(|line| Line::from(format!(" {line}")).style(colour(Tone::You))));
    let block = match model.wrong_pin {
        true => block.title_bottom(Line::from(" next PIN: wrong ").style(colour(Tone::Trouble).bold())),
        false => block,
    };
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn card_line(key: char, card: &Card, held: bool, width: usize) -> Line<'static> {
    let ways = ways(card);
    let letter = |entry, letter| if ways.contains(&entry) { letter } else { "·" };
    let letters = [letter(Entry::Insert, "i"), letter(Entry::Tap, "t"), letter(Entry::Swipe, "s")].join(" ");
    let name = format!(" {key} {}", card.name);
    let room = width.saturating_sub(letters.chars().count() + 1);
    let line = Line::from(format!("{name:<room$}{letters}"));
    if held { line.bold().reversed() } else { line }
}

/// The steps, the newest at the bottom.
pub(super) fn steps(frame: &mut Frame, area: Rect, model: &Model) {
    let (width, height) = inside(area);
    let mut lines = Vec::new();
    for told in model.steps.iter().rev() {
        let mark = if told.tone == Tone::You { "you " } else { "  › " };
        let parts = wrap(&told.text, width.saturating_sub(5));
        for (n, part) in parts.into_iter().enumerate().rev() {
            let mark = if n == 0 { mark } else { "    " };
            lines.push(Line::from(vec![Span::from(mark).dim(), Span::styled(part, colour(told.tone))]));
        }
        if lines.len() >= height {
            break;
        }
    }
    lines.truncate(height);
    lines.reverse();
    frame.render_widget(Paragraph::new(lines).block(titled("Steps of the agent, and you")), area);
}

/// What the gateway has booked, the newest at the bottom, and what is charged in all.
pub(super) fn ledger(frame: &mut Frame, area: Rect, block: Block<'static>, model: &Model) {
    let (_, height) = inside(area);
    let skip = model.ledger.len().saturating_sub(height);
    let lines: Vec<Line> = match model.ledger.is_empty() {
        true => vec![Line::from(" the gateway has booked nothing").dim()],
        false => model.ledger.iter().skip(skip).map(|booking| booking_line(booking, &model.ledger)).collect(),
    };
    let total = Line::from(format!(" charged in all: {} ", total(&model.ledger))).right_aligned().bold();
    frame.render_widget(Paragraph::new(lines).block(block.title_bottom(total)), area);
}

fn booking_line(booking: &Booking, all: &[Booking]) -> Line<'static> {
    let Booking { amount, currency, .. } = booking;
    if booking.kind == Kind::Reversal {
        let payment = booking.refers_to.as_ref().and_then(|id| all.iter().find(|other| other.id == *id));
        let of = payment.map_or_else(String::new, |payment| format!(" of sale {}", sale_number(payment)));
        return Line::from(format!(" {amount:>9} {currency}  └ reversal{of}")).dim();
    }
    let (word, style) = match booking.state {
        State::Approved => (moved(booking.kind), colour(Tone::Good)),
        State::Declined => ("declined", colour(Tone::Bad)),
        State::Pending => ("pending", colour(Tone::Doubt)),
        State::Reversed => ("reversed", Style::new()),
    };
    let rest = format!("  sale {} {}", sale_number(booking), booking.entry_mode.as_deref().unwrap_or_default());
    Line::from(vec![
        Span::from(format!(" {amount:>9} {currency}  ")),
        Span::styled(format!("{word:<8}"), style.bold()),
        Span::from(rest),
    ])
}

/// What an approval has done with the money.
fn moved(kind: Kind) -> &'static str {
    match kind {
        Kind::Debit => "charged",
        Kind::PreAuthorisation => "held",
        Kind::Capture => "captured",
        Kind::Refund | Kind::Credit => "refunded",
        Kind::Reversal => "reversed",
    }
}

/// The journal's number, which the agent puts into the middle of its reference for the gateway.
fn sale_number(booking: &Booking) -> &str {
    booking.merchant_transaction_id.as_deref().and_then(|id| id.split('-').nth(1)).unwrap_or("?")
}

fn total(ledger: &[Booking]) -> String {
    let sum = |kinds: [Kind; 2]| -> u64 {
        let moved = |booking: &&Booking| kinds.contains(&booking.kind) && booking.state == State::Approved;
        ledger.iter().filter(moved).filter_map(minor).sum()
    };
    let minor = sum([Kind::Debit, Kind::Capture]).saturating_sub(sum([Kind::Refund, Kind::Credit]));
    format!("{}.{:02} EUR", minor / 100, minor % 100)
}

fn minor(booking: &Booking) -> Option<u64> {
    let currency = Currency::from_code(&booking.currency).ok()?;
    Amount::from_gateway(&booking.amount, currency).ok().map(Amount::minor)
}

/// The paper as it comes out, the newest at the bottom unless it was rolled back.
pub(super) fn paper(frame: &mut Frame, area: Rect, block: Block<'static>, model: &Model) {
    let (width, height) = inside(area);
    let block = match printer_trouble(model) {
        Some(trouble) => {
            block.title_bottom(Line::from(format!(" {} ", cut(trouble, width / 2))).style(colour(Tone::Trouble)))
        }
        None => block,
    };
    if model.receipts.is_empty() {
        return frame.render_widget(Paragraph::new(Line::from(" nothing is printed yet").dim()).block(block), area);
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
    let block = if first > 0 || first < last {
        let below = if first < last { " ▼ more below " } else { "" };
        let above = if first > 0 { " ▲ PgUp " } else { "" };
        block.title_bottom(Line::from(format!("{above}{below}")).right_aligned().dim())
    } else {
        block
    };
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// What the agent says of a printer that does not print, without its address and what the system said.
fn printer_trouble(model: &Model) -> Option<&str> {
    let mut printers = model.status.as_ref()?.printers.iter();
    let trouble = printers.find(|printer| !["ready", "not-used-yet"].contains(&printer.state.as_str()))?;
    trouble.text.split(": ").next()
}

/// Columns and rows within the border.
pub(super) fn inside(area: Rect) -> (usize, usize) {
    (usize::from(area.width.saturating_sub(2)), usize::from(area.height.saturating_sub(2)))
}

/// At most `width` characters; a text that is longer ends with `…`.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// The first of `rows` rows of a list of `length` so that the chosen one is seen.
pub(super) fn window(chosen: usize, length: usize, rows: usize) -> usize {
    chosen.saturating_sub(rows / 2).min(length.saturating_sub(rows))
}

/// Breaks a text into lines of at most `width` characters, between words where there are any.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        while !word.is_empty() {
            let line = lines.last_mut().expect("there is always a line");
            let used = line.chars().count();
            let blank = usize::from(used > 0);
            if used + blank + word.len() <= width {
                if blank == 1 {
                    line.push(' ');
                }
                line.extend(word.drain(..));
            } else if used > 0 {
                lines.push(String::new());
            } else {
                line.extend(word.drain(..width));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_loses_nothing() {
        assert_eq!(wrap("Insert, tap or swipe the card", 12), ["Insert, tap", "or swipe the", "card"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("ab", 0), ["a", "b"]);
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!((cut("abc", 3), cut("abcd", 3), cut("üüüü", 3)), ("abc".into(), "ab…".into(), "üü…".into()));
    }

    #[test]
    fn the_chosen_one_is_in_the_window() {
        for chosen in 0..14 {
            let first = window(chosen, 14, 5);
            assert!((first..first + 5).contains(&chosen) && first + 5 <= 14, "{chosen}: {first}");
        }
        assert_eq!(window(3, 4, 10), 0);
    }
}
