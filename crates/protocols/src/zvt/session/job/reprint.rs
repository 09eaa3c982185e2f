//! `06 12`: reprints the receipts in a range of numbers. Also prints the terminal's state. No command here moves money.

use super::super::earlier::number_of;
use super::super::flow::Flow;
use super::super::{is_right_where_asked, paper};
use super::till::Frame;
use super::{Job, Slip, Stage, Then};
use crate::zvt::bmp::{Fields, number};
use crate::zvt::code;
use crate::zvt::command::{Command, Password};
use pos_till_api::{Ask, Copy, PrintLine, Said, Sale, State, Status};

/// Maximum number of receipts for one command. The queue of the terminal's printer has room for both copies of each,
/// and the till gets them within T4.
const MOST: u16 = 20;

/// Transaction numbers that are still to be printed.
#[derive(Debug)]
pub(super) struct Range {
    next: u64,
    last: u64,
    /// At least one receipt was found.
    found: bool,
    /// The command names a single receipt.
    is_one: bool,
}

impl Job {
    pub(super) fn reprint(&mut self, password: Password, receipts: (u16, u16), flow: &mut Flow<'_>) {
        let (from, to) = receipts;
        // A till that composes its receipts from `04 0F` cannot print a copy.
        let printable = flow.prints_payments() || flow.sends_receipts();
        let is_range = from > 0 && from <= to && to - from < MOST;
        if !is_right_where_asked(flow.settings, password) || !printable || !is_range {
            return self.end_with(code::NOT_POSSIBLE, flow);
        }
        self.ask(Ask::Newest(1), Stage::Newest { from, to }, flow);
    }

    /// Handles `06 20`: the latest transaction, or the receipts with the given numbers (1F02, 1F03). A till that asks
    /// for a lost result must not get another transaction.
    pub(super) fn repeat(&mut self, fields: &Fields, flow: &mut Flow<'_>) {
        let named = |tag| fields.tlv(&[tag]).map(|bcd| number(bcd).and_then(|number| u16::try_from(number).ok()));
        let (from, to) = match (named(0x1F02), named(0x1F03)) {
            (None, None) => return self.ask(Ask::Latest, Stage::Latest, flow),
            (Some(Some(from)), None) => (from, from),
            (Some(Some(from)), Some(Some(to))) => (from, to),
            _ => return self.end_with(code::NOT_POSSIBLE, flow),
        };
        if from == 0 || to < from || to - from >= MOST {
            return self.end_with(code::NOT_POSSIBLE, flow);
        }
        self.ask(Ask::Newest(1), Stage::Newest { from, to }, flow);
    }

    /// Begins the reprint in the latest round of numbers.
    pub(super) fn newest(&mut self, (from, to): (u16, u16), said: Said, flow: &mut Flow<'_>) {
        let newest = match said {
            Said::Sales { sales, .. } => sales.first().map_or(0, |sale| sale.number),
            _ => 0,
        };
        let next = number_of(from, newest);
        // Numbers above the newest one have not been issued yet.
        let last = (next + u64::from(to - from)).min(newest);
        let range = Range { next, last, found: false, is_one: from == to };
        if next == 0 { self.end_with(code::PROCESSING, flow) } else { self.next_receipt(range, flow) }
    }

    pub(super) fn next_receipt(&mut self, mut range: Range, flow: &mut Flow<'_>) {
        let number = range.next;
        if number <= range.last {
            range.next += 1;
            return self.ask(Ask::Number(number), Stage::Again { number, range }, flow);
        }
        if range.found { self.end(flow) } else { self.end_with(code::PROCESSING, flow) }
    }

    /// Reprints one of the receipts if the number belongs to this till.
    pub(super) fn again(&mut self, number: u64, mut range: Range, said: Said, flow: &mut Flow<'_>) {
        // A till that names one receipt gets its state, even while the transaction is in progress.
        let truth = matches!(self.command, Command::RepeatReceipt(_)) && range.is_one;
        let of_it = |sale: &Sale| sale.number == number && (truth || sale.state == State::Ended);
        let sale = match said {
            Said::Sales { sales, .. } => sales.into_iter().find(of_it),
            _ => None,
        };
        let Some(sale) = sale else { return self.next_receipt(range, flow) };
        range.found = true;
        if truth {
            self.repeated(&sale, flow);
        } else if flow.prints_payments() {
            self.print_again(
                Slip { reference: sale.reference, copy: Copy::Merchant, again: true, then: Then::Next(range) },
                flow,
            );
        } else if flow.sends_receipts() {
            self.ask_receipts(&sale, Then::Next(range), true, flow);
        } else {
            self.next_receipt(range, flow);
        }
    }

    pub(super) fn print_again(&mut self, slip: Slip, flow: &mut Flow<'_>) {
        let ask = Ask::PrintAgain { reference: slip.reference.clone(), copy: slip.copy };
        self.ask(ask, Stage::PrintAgain(slip), flow);
    }

    /// Handles the answer of the terminal's printer. Without an answer it does not try again, because the slip may be
    /// printing.
    pub(super) fn printed_again(&mut self, slip: Slip, said: &Said, flow: &mut Flow<'_>) {
        match said {
            Said::Done if slip.copy == Copy::Merchant => {
                self.print_again(Slip { copy: Copy::Customer, ..slip }, flow);
            }
            Said::Done => self.go_on(slip.then, flow),
            Said::Refused(_) => self.end_with(code::PRINTER, flow),
            _ => self.end_with(code::COMMUNICATION, flow),
        }
    }

    /// Prints the terminal's state on the printer of administration.
    pub(super) fn print_state(&mut self, status: &Status, flow: &mut Flow<'_>) {
        if flow.prints_administration() {
            let lines = paper::of_terminal(status, paper::width(flow)).into_iter().map(PrintLine::plain).collect();
            // The answer to this request has no effect on the till.
            flow.ask(Ask::Print(lines));
        } else if flow.sends_administration() {
            let lines = paper::of_terminal(status, paper::width(flow));
            self.till.frames.extend(paper::of_administration(&lines, flow).into_iter().map(Frame::Print));
        }
    }
}
