//! Where text leaves the program. What came from outside is cleaned here, so that no byte of it commands the terminal
//! that shows it (design: invariant 9).
//!
//! A write that fails is ignored: the outcome of a sale does not depend on whether somebody still reads.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde::Serialize;

use crate::till::{CardView, SaleState, SaleView};
use pos_terms::transaction::{Kind, OutcomeWord};

/// One line on standard output.
pub(super) fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{}", cleaned(line));
}

/// A question on standard output; the answer is typed behind it.
pub(super) fn prompt(question: &str) {
    let mut out = io::stdout().lock();
    let _ = write!(out, "{}", cleaned(question));
    let _ = out.flush();
}

/// Several lines on standard output, as they are divided.
pub(super) fn say_lines(text: &str) {
    text.lines().for_each(say);
}

/// One JSON value on a line of standard output.
pub(super) fn say_json(value: &impl Serialize) {
    let json = serde_json::to_string(value).expect("views hold only text and numbers");
    let _ = writeln!(io::stdout(), "{json}");
}

/// One line on standard error.
pub(super) fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "pos-agent: {}", cleaned(line));
}

/// One line on standard error, as part of what was asked for (with `--json`, standard output is for the program that
/// reads it).
pub(super) fn aside(line: &str) {
    let _ = writeln!(io::stderr(), "{}", cleaned(line));
}

/// What goes from the shop to the customer, or is undone, has a minus.
pub(super) fn signed(kind: Kind, amount: &str) -> String {
    if kind.gives_money() { format!("-{amount}") } else { amount.to_owned() }
}

/// A sale in one line.
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

/// Where a sale stands, in one or two words.
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
        (SaleState::UnconfirmedFinishing, _) => "unconfirmed, finishing",
        (SaleState::Ended, Some(OutcomeWord::Approved)) => "approved",
        (SaleState::Ended, Some(OutcomeWord::PartiallyApproved)) => "partially approved",
        (SaleState::Ended, Some(OutcomeWord::Declined)) => "declined",
        (SaleState::Ended, Some(OutcomeWord::Cancelled)) => "cancelled",
        (SaleState::Ended, Some(OutcomeWord::NotSent)) => "not sent",
        (SaleState::Ended, Some(OutcomeWord::Reversed)) => "reversed",
    }
}

/// Control characters, and those that change the direction of what follows, are replaced visibly.
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
