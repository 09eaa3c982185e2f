//! The content of the slip of a close of day: its parts, their order and their words. This module is pure.
//! [`super::layout`] turns the parts into lines that fit the paper.
//!
//! The net sum is printed large. Open items are listed below the sums, so that staff can handle them. A long list ends
//! with the number of further items, and the export contains all of them.

use super::layout::{Page, ReceiptRow};
use super::receipt::Letterhead;
use pos_core::counter::{Close, OpenItem, OpenKind, Shift, Sum, Turnover};
use pos_words::{Message, Words, clean};

/// Maximum number of open items of one kind that are listed: about a hand's length of paper.
const NAMED: usize = 30;

/// Composes the slip.
#[must_use]
pub fn compose_close(close: &Close, letterhead: &Letterhead) -> Page {
    let words = &letterhead.words;
    let mut slip = ComposingClose { page: Page::new(words.label(Message::Duplicate)), close, words };
    slip.head(&letterhead.merchant);
    slip.net();
    slip.kinds();
    slip.parts(Message::ByTill, &close.tills, &[]);
    slip.parts(Message::ByOperator, &close.operators, &close.shifts);
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
        if let (Some(first), Some(last)) = (self.close.first_number, self.close.last_number) {
            self.pair(Message::ReceiptNumbers, &format!("{first} - {last}"));
        }
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

    /// Adds the kinds, each followed by its card schemes. Then adds the tips, and the counts of transactions without a
    /// payment.
    fn kinds(&mut self) {
        self.page.push(ReceiptRow::Rule);
        let close = self.close;
        for kind in &close.kinds {
            self.line(&format!("{} {}", self.words.title(kind.kind), kind.count), &kind.sum, &kind.currency);
            let its = |sum: &&Sum| sum.kind == kind.kind && sum.currency == kind.currency;
            for Sum { scheme, count, sum, currency, .. } in close.schemes.iter().filter(its) {
                let scheme = clean::line(scheme.as_deref().unwrap_or_default());
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

    /// Adds the parts, each followed by its shift, if it has one. A shift that moved no money is a part of its own.
    fn parts(&mut self, title: Message, parts: &[Turnover], shifts: &[Shift]) {
        let is_part = |shift: &Shift| parts.iter().any(|part| part.name.as_ref() == Some(&shift.operator));
        let others: Vec<&Shift> = shifts.iter().filter(|shift| !is_part(shift)).collect();
        if parts.is_empty() && others.is_empty() {
            return;
        }
        self.page.push(ReceiptRow::Rule);
        self.bold(title);
        for Turnover { name, currency, count, net, .. } in parts {
            self.line(&format!("{} {count}", name.as_deref().unwrap_or_default()), net, currency);
            for shift in shifts.iter().filter(|shift| Some(&shift.operator) == name.as_ref()) {
                self.shift(shift, |sum| sum.currency == *currency);
            }
        }
        for shift in others {
            self.page.push(ReceiptRow::Left(shift.operator.clone()));
            self.shift(shift, |_| true);
        }
    }

    /// Adds the chosen sums of an operator, by kind, and the tips.
    fn shift(&mut self, Shift { kinds, tips, .. }: &Shift, is_chosen: impl Fn(&Sum) -> bool) {
        let of_kinds = kinds.iter().map(|sum| (self.words.title(sum.kind), sum));
        let of_tips = tips.iter().map(|sum| (self.words.label(Message::TipsInSales), sum));
        for (label, sum) in of_kinds.chain(of_tips).filter(|(_, sum)| is_chosen(sum)) {
            self.line(&format!("- {label} {}", sum.count), &sum.sum, &sum.currency);
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
            for OpenItem { number, reference, amount, currency, .. } in items.iter().take(NAMED) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plain;
    use pos_words::Language;

    fn close() -> Close {
        let open = |is: &str, number: u64| {
            json!({ "is": is, "number": number, "till": "till-1", "reference": format!("R{number}"), "kind": "sale",
                "amount": "5.00", "currency": "EUR" })
        };
        let moved = |name: Option<&str>, net: &str| json!({ "name": name, "currency": "EUR", "count": 3, "taken": "1234.56", "given": "34.50", "net": net });
        let sum = |kind: &str, scheme: Option<&str>, sum: &str| json!({ "kind": kind, "scheme": scheme, "currency": "EUR", "count": 2, "sum": sum });
        let items: Vec<_> = (100..135).map(|number| open("pre-authorisation", number)).collect();
        let other = [json!({ "is": "unreadable", "number": 9 }), open("unconfirmed", 17)];
        serde_json::from_value(json!({
            "number": 7, "terminalId": "12345678", "day": "2026-11-20", "till": "till-1",
            "period": { "afterEntry": 1, "toEntry": 9, "from": "2026-11-19T23:01:00+01:00", "to": "2026-11-20T23:02:00+01:00" },
            "firstNumber": 1017, "lastNumber": 1042,
            "net": [moved(None, "1200.06")], "kinds": [sum("sale", None, "1234.56"), sum("reversal", None, "34.50")],
            "schemes": [sum("sale", Some("VISA\u{1b}[2J"), "1234.56")], "tips": [sum("sale", None, "4.00")],
            "tills": [moved(Some("till-1"), "1200.06")], "operators": [moved(Some("Anna"), "1200.06")],
            "shifts": [{
                "operator": "Anna", "kinds": [sum("reversal", None, "34.50"), sum("sale", None, "1234.56")],
                "tips": [sum("sale", None, "4.00")],
            }, { "operator": "Be\u{1b}n", "kinds": [sum("pre-authorisation", None, "70.00")], "tips": [] }],
            "declined": 2, "takenBack": 0, "cancelled": 0, "notSent": 0,
            "open": other.into_iter().chain(items).collect::<Vec<_>>(),
        }))
        .unwrap()
    }

    fn slip(language: Language, columns: u8) -> String {
        let letterhead = Letterhead {
            merchant: vec!["Corner Shop".to_owned()],
            words: Words::new(language),
            ..Letterhead::default()
        };
        let lines = compose_close(&close(), &letterhead).lines(columns);
        assert!(lines.iter().all(|line| line.width() <= usize::from(columns)), "{columns}");
        plain(&lines, columns)
    }

    #[test]
    fn the_slip_says_what_moved_and_names_what_is_open_on_any_paper() {
        for columns in [24, 32, 42, 48] {
            for language in Language::ALL {
                let text = slip(*language, columns);
                assert!(!text.contains('\u{1b}') && text.contains("R17"), "{text}");
            }
        }
        let text = slip(Language::English, 32);
        for line in [
            "Close                          7",
            "Day                  20 Nov 2026",
            "From        19 Nov 2026 23:01:00",
            "To          20 Nov 2026 23:02:00",
            "Receipts             1017 - 1042",
            "Taken                1234.56 EUR",
            "Returned               34.50 EUR",
            "SALE 2               1234.56 EUR",
            "- VISA[2J 2          1234.56 EUR",
            "VOID 2                 34.50 EUR",
            "Tips, in the sales 2    4.00 EUR",
            "Declined                       2",
            "till-1 3             1200.06 EUR",
            "Anna 3               1200.06 EUR",
            "- VOID 2               34.50 EUR",
            "- SALE 2             1234.56 EUR",
            "- Tips, in the sales 2  4.00 EUR",
            "Ben",
            "- PRE-AUTHORISATION 2  70.00 EUR",
            "17 R17                  5.00 EUR",
            "and 5 more",
        ] {
            assert!(text.lines().any(|known| known == line), "{line:?} in\n{text}");
        }
        assert!(text.contains("1200.06 EUR") && !text.contains("R130"), "{text}");
        assert!(slip(Language::German, 42).contains("1200,06 EUR"));
    }
}
