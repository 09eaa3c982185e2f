//! What stands on a receipt, as lines that fit the paper. Pure; the same lines go to the printer and to the screen.
//!
//! It decides order, words and width. It knows no printer command and no code page, and it never shows the expiry date
//! (the facts it is given have none).

use crate::card::{CardFacts, CryptogramKind, Cvm, EntryMode};
use crate::sale::{Copy, HostFacts, Kind, Receipt, ReceiptOutcome};

use super::clean;

/// The narrowest paper that is laid out; a smaller number is taken as this one. The narrowest real printers have 32
/// characters, a line of the big size needs half of it.
pub const MIN_COLUMNS: u8 = 24;

/// Most lines of `pos.statusText`: as many as the longest one of the interface fills on paper of 32 characters, a hand's length of it.
/// Whoever writes line feeds only must not take metres of paper.
const STATUS_LINES: usize = 64;
/// Most lines of any other text from outside: a reason, a brand, a code.
const OTHER_LINES: usize = 8;
/// What was cut ends so; printers have no `…`.
const CUT: &str = "...";

/// One line on paper. Its text has no control characters, and its width is at most the paper's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    text: String,
    align: Align,
    style: Style,
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left edge.
    Left,
    /// In the middle.
    Centre,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    Plain,
    /// Bold.
    Bold,
    /// Bold, double height.
    Tall,
    /// Bold, double height and double width: a character takes two columns.
    Big,
}

/// Lays out one copy of a receipt. `merchant` are the lines at the head, `columns` is the paper's width in characters.
#[must_use]
pub fn lay_out(receipt: &Receipt, merchant: &[String], copy: Copy, columns: u8) -> Vec<Line> {
    let mut page = Page { columns: usize::from(columns.max(MIN_COLUMNS)), lines: Vec::new() };
    page.head(receipt, merchant);
    page.what_happened(receipt);
    if let Some(card) = &receipt.card {
        page.rule();
        page.card(card, receipt);
    }
    page.host(&receipt.host);
    page.status_text(&receipt.host);
    page.foot(receipt, copy);
    page.lines
}

/// The same receipt as one that was, or may have been, printed before: it says so at both ends, so that neither can be torn off
/// unseen and nobody takes it for a second sale.
#[must_use]
pub fn duplicate(mut lines: Vec<Line>) -> Vec<Line> {
    let mark = Line::new("DUPLICATE", Align::Centre, Style::Big);
    lines.insert(0, mark.clone());
    lines.push(mark);
    lines
}

impl Line {
    /// A line of text; what may not be printed is removed. The caller sees to its width.
    pub(super) fn new(text: &str, align: Align, style: Style) -> Self {
        Self { text: clean::text(text).replace('\n', " ").trim_end().to_owned(), align, style }
    }

    /// The text, without control characters and without spaces at its end.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it stands.
    #[must_use]
    pub fn align(&self) -> Align {
        self.align
    }

    /// How it looks.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// How many columns of the paper it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        width(&self.text) * if self.style == Style::Big { 2 } else { 1 }
    }
}

/// The lines so far.
struct Page {
    columns: usize,
    lines: Vec<Line>,
}

/// The parts of a receipt, in their order.
impl Page {
    fn head(&mut self, receipt: &Receipt, merchant: &[String]) {
        for line in merchant {
            self.centred(line, Style::Plain);
        }
        self.rule();
        self.pair("Terminal", &receipt.terminal_id);
        self.pair("Date", &receipt.local_time);
        self.pair("Sale number", &receipt.number.to_string());
        self.pair("Reference", &receipt.reference);
    }

    /// Type, amount, outcome. The big amount is the one that was or would have been charged.
    fn what_happened(&mut self, receipt: &Receipt) {
        let asked = receipt.amount.to_string();
        self.rule();
        self.centred(title(&receipt.kind), Style::Plain);
        if let Some((tip, base)) = receipt.tip.and_then(|tip| Some((tip, receipt.amount.less(tip)?))) {
            self.pair("Amount", &base.to_string());
            self.pair("Tip", &tip.to_string());
        }
        match &receipt.outcome {
            ReceiptOutcome::Approved => {
                self.amount(&asked);
                self.centred("APPROVED", Style::Bold);
            }
            ReceiptOutcome::PartiallyApproved(approved) => {
                self.amount(&approved.to_string());
                self.centred("PARTIALLY APPROVED", Style::Bold);
                self.pair("Requested", &asked);
                self.pair("Approved", &approved.to_string());
            }
            ReceiptOutcome::Declined(why) => {
                self.amount(&asked);
                self.nothing_happened(&receipt.kind, "DECLINED", why);
            }
            ReceiptOutcome::Reversed(why) => {
                self.amount(&asked);
                self.nothing_happened(&receipt.kind, "REVERSED", why);
            }
            ReceiptOutcome::Cancelled(why) => {
                self.amount(&asked);
                self.nothing_happened(&receipt.kind, "CANCELLED", why);
            }
            ReceiptOutcome::Unconfirmed(why) => {
                self.amount(&asked);
                let doing = if receipt.kind.is_undone_when_unknown() { "BEING REVERSED" } else { "BEING LOOKED UP" };
                self.centred(&format!("OUTCOME NOT CONFIRMED, {doing}"), Style::Bold);
                self.centred(why, Style::Plain);
            }
        }
    }

    fn nothing_happened(&mut self, kind: &Kind, outcome: &str, why: &str) {
        self.centred(outcome, Style::Bold);
        self.centred(why, Style::Plain);
        let nothing = match kind {
            Kind::Sale | Kind::ByRegistration { .. } => "NOT CHARGED",
            Kind::PreAuthorisation | Kind::Increment { .. } | Kind::Reauthorisation { .. } => "NOTHING RESERVED",
            Kind::Credit => "NOTHING PAID OUT",
            Kind::Capture { .. } => "NOTHING CAPTURED",
            Kind::Refund { .. } => "NOTHING REFUNDED",
            Kind::Reversal { .. } => "NOTHING REVERSED",
        };
        self.centred(nothing, Style::Bold);
    }

    fn card(&mut self, card: &CardFacts, receipt: &Receipt) {
        self.pair_if("Brand", receipt.host.brand.as_deref());
        self.pair_if("Application", card.label.as_deref());
        self.pair_if("AID", card.aid.as_deref());
        if let Some(last4) = last4(card, &receipt.host) {
            self.pair("Card", &format!("**** **** **** {last4}"));
        }
        self.pair("Entry", entry(card.entry));
        if let Some(cvm) = card.cvm {
            self.centred(verification(cvm, is_charged(&receipt.outcome)), Style::Plain);
        }
        if let Some(cryptogram) = card.cryptogram {
            let kind = match cryptogram.kind {
                CryptogramKind::Aac => "AAC:",
                CryptogramKind::Tc => "TC:",
                CryptogramKind::Arqc => "ARQC:",
            };
            self.pair(kind, &hex::encode_upper(cryptogram.value));
        }
        self.pair_if("TVR", card.tvr.as_deref());
        self.pair_if("TSI", card.tsi.as_deref());
    }

    fn host(&mut self, host: &HostFacts) {
        let facts = [
            ("Acquirer code", &host.acquirer_code),
            ("Issuer code", &host.issuer_code),
            ("Clearing id", &host.clearing_identifier),
            ("Merchant id", &host.merchant_id),
            ("Payment id", &host.id),
        ];
        if facts.iter().any(|(_, value)| value.is_some()) {
            self.rule();
        }
        for (label, value) in facts {
            self.pair_if(label, value.as_deref());
        }
    }

    /// `pos.statusText` on its own lines (interface: Point of sale).
    fn status_text(&mut self, host: &HostFacts) {
        let lines = wrap_to(STATUS_LINES, &clean::text(host.status_text.as_deref().unwrap_or_default()), self.columns);
        if lines.is_empty() {
            return;
        }
        self.rule();
        self.lines.extend(lines.iter().map(|line| Line::new(line, Align::Left, Style::Plain)));
    }

    fn foot(&mut self, receipt: &Receipt, copy: Copy) {
        self.rule();
        let signed = matches!(
            receipt.card.as_ref().and_then(|card| card.cvm),
            Some(Cvm::Signature | Cvm::OfflinePinAndSignature)
        );
        match copy {
            Copy::Merchant => {
                if signed && is_charged(&receipt.outcome) {
                    self.left("Signature:");
                    self.left("");
                    self.left("");
                    self.left(&format!("X{}", "_".repeat(self.columns - 1)));
                }
                self.centred("MERCHANT COPY", Style::Bold);
            }
            Copy::Customer => self.centred("CUSTOMER COPY", Style::Bold),
        }
    }
}

/// The means to set a line.
impl Page {
    fn left(&mut self, text: &str) {
        self.lines.push(Line::new(text, Align::Left, Style::Plain));
    }

    fn rule(&mut self) {
        self.left(&"-".repeat(self.columns));
    }

    /// Text in the middle, wrapped; nothing when there is nothing to say.
    fn centred(&mut self, text: &str, style: Style) {
        for line in wrap_to(OTHER_LINES, &clean::line(text), self.columns) {
            self.lines.push(Line::new(line.trim(), Align::Centre, style));
        }
    }

    /// As big as the paper allows: an amount is never broken in two.
    fn amount(&mut self, amount: &str) {
        let style = if width(amount) * 2 <= self.columns { Style::Big } else { Style::Tall };
        self.lines.push(Line::new(amount, Align::Centre, style));
    }

    /// A label at the left edge and its value at the right one; on lines of their own when they do not fit beside each other.
    fn pair(&mut self, label: &str, value: &str) {
        let value = clean::line(value);
        let room = self.columns.saturating_sub(width(label));
        if width(&value) < room {
            return self.left(&format!("{label}{value:>room$}"));
        }
        self.left(label);
        for line in wrap_to(OTHER_LINES, &value, self.columns) {
            let right = self.columns;
            self.left(&format!("{:>right$}", line.trim()));
        }
    }

    fn pair_if(&mut self, label: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.pair(label, value);
        }
    }
}

fn title(kind: &Kind) -> &'static str {
    match kind {
        Kind::Sale | Kind::ByRegistration { .. } => "SALE",
        Kind::PreAuthorisation => "PRE-AUTHORISATION",
        Kind::Credit => "CREDIT",
        Kind::Capture { .. } => "CAPTURE",
        Kind::Refund { .. } => "REFUND",
        Kind::Reversal { .. } => "REVERSAL",
        Kind::Increment { .. } => "PRE-AUTHORISATION INCREMENT",
        Kind::Reauthorisation { .. } => "REAUTHORISATION",
    }
}

fn entry(entry: EntryMode) -> &'static str {
    match entry {
        EntryMode::Manual => "MANUAL ENTRY",
        EntryMode::Magstripe => "SWIPED",
        EntryMode::MagstripeAsFallback => "SWIPED (CHIP FAILED)",
        EntryMode::Icc => "CHIP",
        EntryMode::NfcIcc => "CONTACTLESS",
        EntryMode::NfcMagstripe => "CONTACTLESS (MAGSTRIPE)",
    }
}

/// Only an approval proves that a PIN was right: the issuer checks the online one, and of an offline one that failed the
/// facts of a declined sale still name the method.
fn verification(cvm: Cvm, charged: bool) -> &'static str {
    match (cvm, charged) {
        (Cvm::OfflinePin, true) => "PIN VERIFIED",
        (Cvm::OnlinePin, true) => "PIN VERIFIED ONLINE",
        (Cvm::OfflinePin | Cvm::OnlinePin, false) => "PIN ENTERED",
        (Cvm::Signature, _) => "SIGNATURE",
        (Cvm::OfflinePinAndSignature, true) => "PIN VERIFIED, SIGNATURE",
        (Cvm::OfflinePinAndSignature, false) => "PIN ENTERED, SIGNATURE",
        (Cvm::ConsumerDevice, true) => "VERIFIED ON CUSTOMER'S DEVICE",
        (Cvm::ConsumerDevice, false) => "CUSTOMER'S DEVICE",
        (Cvm::None, _) => "NO CARDHOLDER VERIFICATION",
    }
}

fn is_charged(outcome: &ReceiptOutcome) -> bool {
    matches!(outcome, ReceiptOutcome::Approved | ReceiptOutcome::PartiallyApproved(_))
}

/// From the reader, or else from the gateway; what is not four digits is not shown.
fn last4<'a>(card: &'a CardFacts, host: &'a HostFacts) -> Option<&'a str> {
    let four_digits = |text: &&str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let of_reader = card.pan.as_ref().map(crate::card::MaskedPan::last4).filter(four_digits);
    of_reader.or_else(|| host.last4.as_deref().filter(four_digits))
}

/// Characters; a receipt printer gives each the same room.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// As [`wrap`], at most so many lines; what is cut says so.
fn wrap_to(most: usize, text: &str, columns: usize) -> Vec<String> {
    let mut lines = wrap(text, columns);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            let kept: String = last.chars().take(columns - CUT.len()).collect();
            *last = format!("{}{CUT}", kept.trim_end());
        }
    }
    lines
}

/// Breaks text into lines of at most `columns` characters. A line that fits stays as it is, with its own spaces; a longer one
/// is broken between words, a word longer than the paper inside. Of several empty lines one is left, at the ends none: paper
/// is not spent on nothing.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for source in text.split('\n').map(str::trim_end) {
        if source.is_empty() {
            if lines.last().is_some_and(|last| !last.is_empty()) {
                lines.push(String::new());
            }
        } else if width(source) <= columns {
            lines.push(source.to_owned());
        } else {
            break_between_words(source, columns, &mut lines);
        }
    }
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn break_between_words(source: &str, columns: usize, lines: &mut Vec<String>) {
    let mut line = String::new();
    for word in source.split_whitespace() {
        if !line.is_empty() {
            if width(&line) + 1 + width(word) <= columns {
                line.push(' ');
                line.push_str(word);
                continue;
            }
            lines.push(std::mem::take(&mut line));
        }
        for c in word.chars() {
            if width(&line) == columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_long_words_inside() {
        for (text, lines) in [
            ("one two three", vec!["one two", "three"]),
            ("a  b", vec!["a  b"]),
            ("  x   12.00", vec!["x 12.00"]),
            ("abcdefghijkl", vec!["abcdefgh", "ijkl"]),
            ("ab cdefghijklm n", vec!["ab", "cdefghij", "klm n"]),
            ("\n\na\n\n\n\nb\n\n", vec!["a", "", "b"]),
            ("", vec![]),
            (" \n ", vec![]),
        ] {
            assert_eq!(wrap(text, 8), lines, "{text:?}");
        }
    }

    #[test]
    fn a_text_takes_only_so_much_paper_and_says_that_it_was_cut() {
        let status = |text: &str| {
            let mut page = Page { columns: 32, lines: Vec::new() };
            page.status_text(&HostFacts { status_text: Some(text.to_owned()), ..HostFacts::default() });
            // Without the rule above it.
            page.lines.iter().skip(1).map(|line| line.text().to_owned()).collect::<Vec<_>>()
        };
        let long = status(&"a\n".repeat(1024));
        assert_eq!((long.len(), long.last().map(String::as_str)), (STATUS_LINES, Some("a...")));
        let whole = status(&"x".repeat(2048));
        assert!(whole.len() == STATUS_LINES && whole.iter().all(|line| line.len() == 32 && !line.ends_with(CUT)));
        let wide = status(&"x".repeat(2049));
        assert!(
            wide.len() == STATUS_LINES && wide.last().is_some_and(|last| last.len() == 32 && last.ends_with("x..."))
        );

        let mut page = Page { columns: 32, lines: Vec::new() };
        page.centred(&"no ".repeat(700), Style::Plain);
        page.pair("Brand", &"x".repeat(2000));
        assert_eq!(page.lines.len(), 2 * OTHER_LINES + 1);
        assert!(page.lines.iter().all(|line| line.width() <= 32));
    }

    #[test]
    fn a_label_and_its_value_share_a_line_only_with_a_space_between() {
        let mut page = Page { columns: 10, lines: Vec::new() };
        page.pair("Name", "12345");
        page.pair("Name", "123456");
        page.pair("Name", "123456789AB");
        let text: Vec<_> = page.lines.iter().map(Line::text).collect();
        assert_eq!(text, ["Name 12345", "Name", "    123456", "Name", "123456789A", "         B"]);
    }

    #[test]
    fn the_largest_amount_is_not_broken_on_narrow_paper() {
        let mut page = Page { columns: 32, lines: Vec::new() };
        page.amount("999999999.99 EUR");
        page.amount("9999999999.99 EUR");
        let styles: Vec<_> = page.lines.iter().map(|line| (line.style(), line.width())).collect();
        assert_eq!(styles, [(Style::Big, 32), (Style::Tall, 17)]);
    }

    #[test]
    fn only_four_digits_are_shown_of_a_card() {
        let card = CardFacts {
            entry: EntryMode::Magstripe,
            pan: crate::card::MaskedPan::new("************FFFF"),
            pan_sequence_number: None,
            aid: None,
            label: None,
            cvm: None,
            cryptogram: None,
            tvr: None,
            tsi: None,
        };
        let host = |last4: &str| HostFacts { last4: Some(last4.to_owned()), ..HostFacts::default() };
        assert_eq!(last4(&card, &host("0119")), Some("0119"));
        assert_eq!(last4(&card, &host("4761739001010119")), None);
    }
}
