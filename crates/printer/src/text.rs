//! A receipt as plain UTF-8 text, for `pos-agent receipt` and for tills that print their own receipts. The only control
//! character is the line feed at the end of each line.

use pos_core::transaction::Receipt;
use pos_terms::transaction::ReceiptCopy;

use super::layout::{Align, PrintedLine};
use super::receipt::{Letterhead, compose};

/// Returns one copy of a receipt as text for paper of `columns` characters.
#[must_use]
pub fn text(receipt: &Receipt, letterhead: &Letterhead, copy: ReceiptCopy, columns: u8) -> String {
    plain(&compose(receipt, letterhead, copy).lines(columns), columns)
}

/// Returns the lines as text for paper of `columns` characters. The text has no bold and no sizes, but keeps the
/// alignment.
#[must_use]
pub fn plain(lines: &[PrintedLine], columns: u8) -> String {
    let mut text = String::new();
    for line in lines {
        let free = usize::from(columns).saturating_sub(line.text().chars().count());
        let indent = match line.align() {
            Align::Left => 0,
            Align::Centre if line.text().is_empty() => 0,
            Align::Centre => free / 2,
            Align::Right => free,
        };
        text.extend(std::iter::repeat_n(' ', indent));
        text.push_str(line.text());
        text.push('\n');
    }
    text
}
