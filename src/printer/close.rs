//! What stands on the slip of a close of day, in which order and in whose words. Pure; how it becomes lines that fit
//! the paper is [`super::layout`].
//!
//! The net sum is the big one. What is open stands below the sums, by name, so that it can be seen to; a long list ends
//! with how many there are more, and all of them are in the export.

use super::layout::{Page, ReceiptRow};
use super::receipt::Letterhead;
use crate::counter::{Close, OpenItem, OpenKind, Sum, Turnover};
use crate::words::{Message, Words};

/// Open items of one kind that are printed by name: a hand's length of paper.
const NAMED: usize = 30;

/// The slip.
#[must_use]
pub fn compose_close(close: &Close, letterhead: &Letterhead) -> Page {
    let words = &letterhead.words;
    let mut slip = ComposingClose { page: Page::new(words.label(Message::Duplicate)), close, words };
    slip.head(&letterhead.merchant);
    slip.net();
    slip.kinds();
    slip.parts(Message::ByTill, &close.tills);
    slip.parts(Message::ByOperator, &close.operators);
    slip.open();
    slip.page
}

struct ComposingClose<'a> {
    page: Page,
    close: &'a Close,
    words: &'a Words,
}

impl ComposingClose<'_> {
    fn head(&mut self, merchant: &[String]) {
        for (nth, line) in merchant.iter().enumerate() {
            self.page.push(if nth == 0 { ReceiptRow::Large(line.clone()) } else { ReceiptRow::Centred(line.clone()) });
        }
        self.page.push(ReceiptRow::Rule);
        self.bold(Message::CloseOfDay);
        let Close { number, terminal_id, day, period, .. } = self.close;
        let beginning = || self.words.label(Message::Beginning).to_owned();
        let from = period.from.as_deref().map_or_else(beginning, |from| self.words.moment(from));
        self.pair(Message::CloseNumber, &number.to_string());
        self.pair(Message::Terminal, terminal_id);
        self.pair(Message::BusinessDay, &self.words.date(day));
        self.pair(Message::PeriodFrom, &from);
        self.pair(Message::PeriodTo, &self.words.moment(&period.to));
    }

    fn net(&mut self) {
        self.page.push(ReceiptRow::Rule);
        if self.close.net.is_empty() {
            self.bold(Message::NothingMoved);
        }
        for Turnover { currency, taken, given, net, .. } in &self.close.net {
            self.pair(Message::Taken, &self.words.sum(taken, currency));
            self.pair(Message::Given, &self.words.sum(given, currency));
            self.bold(Message::Net);
            self.page.push(ReceiptRow::Amount(self.words.sum(net, currency)));
        }
    }

    /// By kind, each with its card schemes below it; then tips, and how many came to nothing.
    fn kinds(&mut self) {
        self.page.push(ReceiptRow::Rule);
        let close = self.close;
        for kind in &close.kinds {
            self.line(&format!("{} {}", self.words.title(kind.kind), kind.count), &kind.sum, &kind.currency);
            let its = |sum: &&Sum| sum.kind == kind.kind && sum.currency == kind.currency;
            for Sum { scheme, count, sum, currency, .. } in close.schemes.iter().filter(its) {
                let scheme = scheme.as_deref().unwrap_or_default();
                self.line(&format!("- {scheme} {count}"), sum, currency);
            }
        }
        for (label, sums) in [(Message::TipsInSales, &close.tips), (Message::OfUnknown, &close.of_unknown)] {
            for Sum { count, sum, currency, .. } in sums {
                self.line(&format!("{} {count}", self.words.label(label)), sum, currency);
            }
        }
        for (label, count) in [
            (Message::CountDeclined, close.declined),
            (Message::CountTakenBack, close.taken_back),
            (Message::CountCancelled, close.cancelled),
            (Message::CountNotSent, close.not_sent),
        ] {
            if count > 0 {
                self.pair(label, &count.to_string());
            }
        }
    }

    fn parts(&mut self, title: Message, parts: &[Turnover]) {
        if parts.is_empty() {
            return;
        }
        self.page.push(ReceiptRow::Rule);
        self.bold(title);
        for Turnover { name, currency, count, net, .. } in parts {
            self.line(&format!("{} {count}", name.as_deref().unwrap_or_default()), net, currency);
        }
    }

    fn open(&mut self) {
        self.page.push(ReceiptRow::Rule);
        let open = &self.close.open;
        self.bold(if open.is_empty() { Message::NothingOpen } else { Message::OpenItems });
        for is in OpenKind::ALL {
            let items: Vec<&OpenItem> = open.iter().filter(|item| item.is == is).collect();
            if items.is_empty() {
                continue;
            }
            self.page.push(ReceiptRow::Centred(self.words.open(is).to_owned()));
            for OpenItem { number, reference, amount, currency, .. } in items.iter().take(NAMED).copied() {
                let reference = reference.as_ref().map_or_else(String::new, |reference| format!(" {reference}"));
                match amount.as_deref().zip(currency.as_deref()) {
                    Some((amount, currency)) => self.line(&format!("{number}{reference}"), amount, currency),
                    None => self.page.push(ReceiptRow::Left(format!("{number}{reference}"))),
                }
            }
            if items.len() > NAMED {
                self.page.push(ReceiptRow::Left(self.words.and_more(items.len() - NAMED)));
            }
        }
        self.page.push(ReceiptRow::Rule);
    }

    fn bold(&mut self, message: Message) {
        self.page.push(ReceiptRow::Bold(self.words.label(message).to_owned()));
    }

    fn pair(&mut self, label: Message, value: &str) {
        self.page.push(ReceiptRow::Pair(self.words.label(label).to_owned(), value.to_owned()));
    }

    fn line(&mut self, label: &str, sum: &str, currency: &str) {
        self.page.push(ReceiptRow::Pair(label.to_owned(), self.words.sum(sum, currency)));
    }
}
