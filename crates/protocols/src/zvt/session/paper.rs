//! Receipts of the terminal as lines for the till's printer.

use super::flow::Flow;
use crate::lines::wrapped;
use crate::zvt::answer::{self, Line, ReceiptFor, attribute};
use crate::zvt::apdu::{Apdu, Control};
use crate::zvt::command::Registration;
use pos_till_api::{Copy, Receipt, Row, RowIs, Status};

/// Characters per line if the till gives no width.
const WIDTH: usize = 24;
/// Maximum APDU length if the till gives no limit, in bytes. Every till accepts a short length.
const LONGEST: usize = 254;
/// Values of TLV 1F37: approved, signature required, declined.
const APPROVED: u8 = 0x01;
const SIGNATURE: u8 = 0x02;
const DECLINED: u8 = 0x04;

/// Builds the print commands of a receipt.
pub(super) fn commands(receipt: &Receipt, approved: bool, flow: &Flow<'_>) -> Vec<Apdu> {
    let width = width(flow);
    let lines: Vec<Line> = receipt.rows.iter().flat_map(|row| of_row(row, width)).collect();
    let signed = receipt.rows.iter().any(|row| row.is == RowIs::SignatureLine);
    let about = if approved { APPROVED } else { DECLINED } | if signed { SIGNATURE } else { 0 };
    let whose = match receipt.copy {
        Copy::Merchant => ReceiptFor::Merchant,
        Copy::Customer => ReceiptFor::Customer,
    };
    in_frames(&lines, whose, about, flow)
}

/// Returns the terminal's state as lines.
pub(super) fn of_terminal(status: &Status, width: usize) -> Vec<String> {
    let reader = [status.reader.model.as_deref(), status.reader.serial.as_deref(), Some(&status.reader.state)];
    let mut pairs = vec![
        ("Terminal", status.terminal_id.clone()),
        ("Version", status.version.clone()),
        ("Reader", reader.into_iter().flatten().collect::<Vec<_>>().join(" ")),
        ("Host", status.gateway.state.clone()),
    ];
    pairs.extend(status.printers.iter().map(|printer| ("Printer", printer.state.clone())));
    pairs.extend(status.clock.time.iter().map(|time| ("Time", time.chars().take(19).collect())));
    let rows = pairs.into_iter().flat_map(|(label, value)| {
        let row = Row { is: RowIs::Pair, text: label.to_owned(), value };
        of_row(&row, width)
    });
    [vec!["-".repeat(width)], rows.map(|line| line.text).collect(), vec!["-".repeat(width)]].concat()
}

/// Builds the print commands for lines of administration.
pub(super) fn of_administration(lines: &[String], flow: &Flow<'_>) -> Vec<Apdu> {
    let lines: Vec<Line> = lines.iter().map(|text| Line { attribute: attribute::NORMAL, text: text.clone() }).collect();
    in_frames(&lines, ReceiptFor::Administration, APPROVED, flow)
}

/// Builds text blocks if the till permits them, otherwise single lines.
fn in_frames(lines: &[Line], whose: ReceiptFor, about: u8, flow: &Flow<'_>) -> Vec<Apdu> {
    match flow.registration.filter(|it| it.permits(Control::PRINT_BLOCK)) {
        Some(it) => answer::blocks(lines, flow.charset(), whose, about, it.longest_apdu().unwrap_or(LONGEST)),
        None => answer::lines(lines, flow.charset()),
    }
}

pub(super) fn width(flow: &Flow<'_>) -> usize {
    flow.registration.and_then(Registration::printer_width).map_or(WIDTH, usize::from).max(16)
}

fn of_row(row: &Row, width: usize) -> Vec<Line> {
    let lines = |attribute: u8, text: &str, width: usize| -> Vec<Line> {
        wrapped(text, width).into_iter().map(|text| Line { attribute, text }).collect()
    };
    match row.is {
        RowIs::Rule => vec![Line { attribute: attribute::NORMAL, text: "-".repeat(width) }],
        RowIs::Left | RowIs::Other => lines(attribute::NORMAL, &row.text, width),
        RowIs::Centred | RowIs::Bold => lines(attribute::CENTRE, &row.text, width),
        RowIs::Large | RowIs::Amount => lines(attribute::CENTRE | attribute::HIGH, &row.text, width),
        RowIs::Status => row.text.split('\n').flat_map(|line| lines(attribute::NORMAL, line, width)).collect(),
        RowIs::SignatureLine => {
            let line = Line { attribute: attribute::NORMAL, text: "_".repeat(width) };
            let feed = Line { attribute: attribute::NORMAL, text: String::new() };
            [lines(attribute::NORMAL, &row.text, width), vec![feed.clone(), feed, line]].concat()
        }
        RowIs::Pair => {
            let (label, value) = (row.text.chars().count(), row.value.chars().count());
            if label + value < width {
                let text = format!("{}{}{}", row.text, " ".repeat(width - label - value), row.value);
                return vec![Line { attribute: attribute::NORMAL, text }];
            }
            let value = wrapped(&row.value, width).into_iter().map(|text| {
                let indent = width.saturating_sub(text.chars().count());
                Line { attribute: attribute::NORMAL, text: format!("{}{text}", " ".repeat(indent)) }
            });
            lines(attribute::NORMAL, &row.text, width).into_iter().chain(value).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_longer_than_the_paper_is_wide() {
        let row = |is, text: &str, value: &str| Row { is, text: text.to_owned(), value: value.to_owned() };
        let pair = of_row(&row(RowIs::Pair, "Terminal", "12345678"), 24);
        assert_eq!(pair[0].text, "Terminal        12345678");
        let long = of_row(&row(RowIs::Pair, "Reference", "a-very-long-reference-4711"), 16);
        assert_eq!(long.len(), 3);
        assert!(long.iter().all(|line| line.text.chars().count() <= 16), "{long:?}");
    }
}
