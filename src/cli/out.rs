//! The output of the program. Text from outside is cleaned here, so it cannot control the terminal window (design:
//! invariant 9).
//!
//! A failed write is ignored, because the outcome of a sale does not depend on whether the output is read.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde::Serialize;

use crate::till::{CardView, SaleState, SaleView};
use pos_daemon::logging;
use pos_terms::transaction::{Kind, OutcomeWord};

/// Writes one line to standard output.
pub(super) fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{}", cleaned(line));
}

/// Writes a question to standard output without a line end, so the answer is typed on the same line.
pub(super) fn prompt(question: &str) {
    let mut out = io::stdout().lock();
    let _ = write!(out, "{}", cleaned(question));
    let _ = out.flush();
}

/// Writes several lines to standard output, with their line breaks.
pub(super) fn say_lines(text: &str) {
    text.lines().for_each(say);
}

/// Writes one JSON value as a line to standard output.
pub(super) fn say_json(value: &impl Serialize) {
    let json = serde_json::to_string(value).expect("views hold only text and numbers");
    let _ = writeln!(io::stdout(), "{json}");
}

/// Writes one line to standard error, preceded by the program's name.
pub(super) fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{}pos-agent: {}", logging::error_prefix(), cleaned(line));
}

/// Writes one additional line to standard error. With `--json`, standard output contains only JSON.
pub(super) fn aside(line: &str) {
    let _ = writeln!(io::stderr(), "{}", cleaned(line));
}

/// Returns the amount, with a minus sign if the shop pays the customer or the amount is reversed.
pub(super) fn signed(kind: Kind, amount: &str) -> String {
    if kind.gives_money() { format!("-{amount}") } else { amount.to_owned() }
}

/// Returns a transaction as one line.
pub(super) fn sale_line(sale: &SaleView) -> String {
    let training = if sale.training { "TRAINING " } else { "" };
    let mut line = format!("{training}{} {}", signed(sale.kind, &sale.amount), sale.currency);
    if let Some(tip) = &sale.tip {
        let _ = write!(line, " and {tip} tip");
    }
    if let (Some(OutcomeWord::PartiallyApproved), Some(approved)) = (sale.outcome, &sale.approved_amount) {
        line = format!("{approved} of {line}");
    }
    if let Some(CardView { entry_mode, brand, last4, .. }) = &sale.card {
        let (brand, last4) = (brand.as_deref().unwrap_or("card"), last4.as_deref().unwrap_or("????"));
        let _ = write!(line, ", {brand} …{last4} ({entry_mode})");
    }
    line
}

/// Returns the state of a transaction in one or two words.
pub(super) fn standing(sale: &SaleView) -> &'static str {
    match (sale.state, sale.outcome) {
        (SaleState::WaitingForCard, _) => "waiting for card",
        (SaleState::InProgress, _) => "in progress",
        (SaleState::AwaitingSignature, _) => "awaiting signature",
        (SaleState::AwaitingTill, _) => "awaiting the till",
        (SaleState::Unconfirmed | SaleState::UnconfirmedFinishing, _) if sale.needs_person.is_some() => {
            "needs a person"
        }
        (SaleState::Unconfirmed, _) | (SaleState::Ended, None) => "unconfirmed, reversing",
        (SaleState::UnconfirmedFinishing, _) => "unconfirmed, completing",
        (SaleState::Ended, Some(OutcomeWord::Approved)) => "approved",
        (SaleState::Ended, Some(OutcomeWord::PartiallyApproved)) => "partially approved",
        (SaleState::Ended, Some(OutcomeWord::Declined)) => "declined",
        (SaleState::Ended, Some(OutcomeWord::Cancelled)) => "cancelled",
        (SaleState::Ended, Some(OutcomeWord::NotSent)) => "not sent",
        (SaleState::Ended, Some(OutcomeWord::Reversed)) => "reversed",
    }
}

/// Replaces control characters, and characters that change the direction of text, with a visible character.
fn cleaned(text: &str) -> String {
    let harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
    };
    text.chars().map(|c| if harmful(c) { '\u{FFFD}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_commands_the_terminal() {
        assert_eq!(cleaned("Grüße 東京 …"), "Grüße 東京 …");
        assert_eq!(
            cleaned("a\u{1b}[2Jb\u{7}\r\n\u{9b}\u{202e}"),
            "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"
        );
    }
}
