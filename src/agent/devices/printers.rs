//! Receipts: their content from the journal, for the printers and as text.

use std::collections::BTreeSet;

use tokio::sync::oneshot;

use crate::config::{self, Config, Copies, CustomerCopy, Template, Terminal};
use crate::till::{
    LineAlign, LineCode, LineStyle, LineToPrint, PrintView, ReceiptRowIs, ReceiptRowView, ReceiptView, Refused,
};
use pos_core::counter::Close;
use pos_core::transaction::{Original, Paper, Receipt, Standing, Transaction};
use pos_journal::Journal;
use pos_printer::layout::{Align, ReceiptRow, Style};
use pos_printer::{Code, CodeKind, Letterhead, NotPrinted, Page, QrLevel, TillLine};
use pos_terms::transaction::{ReceiptCopy, SaleNumber};
use pos_words::{Language, Message, Words};

use crate::agent::views::sale::Offered;
use crate::agent::views::states::state_of_printer;

/// The copies, in the order in which they are printed.
const COPIES: [ReceiptCopy; 2] = [ReceiptCopy::Merchant, ReceiptCopy::Customer];
/// The number of sales whose first print on demand is no duplicate: the latest ones. Customers ask at the counter, soon
/// after the sale.
const MOST_ON_DEMAND: usize = 100;

/// Returns the texts of the terminal's language.
pub(in crate::agent) fn words(terminal: &Terminal) -> Words {
    // The configuration check refuses all other codes.
    Words::new(Language::from_code(&terminal.language).unwrap_or_default())
}

/// Returns the configured parts of each receipt.
fn letterhead(terminal: &Terminal) -> Letterhead {
    Letterhead { merchant: terminal.merchant.clone(), footer: terminal.footer.clone(), words: words(terminal) }
}

/// The printers, and the parts that are the same on each receipt.
pub(in crate::agent) struct PrinterControl {
    /// The printers, in the order of the configuration.
    printers: Vec<(config::Printer, pos_printer::Handle)>,
    /// The number of characters per line, unless a caller gives another width.
    pub(in crate::agent) columns: u8,
    /// The language code of the receipts, in the form that tills use.
    language: String,
    /// True in training mode, where receipts are shown but never printed.
    in_training: bool,
    /// The way to give a customer the copy of an approved sale.
    customer: CustomerCopy,
    /// The address of a receipt on the shop's server.
    receipt_url: Option<Template>,
    /// The sales whose customer's copy was not printed yet. Its first print is no duplicate. A restart empties this
    /// set: every later print is then a duplicate, so there are never two originals.
    on_demand: BTreeSet<SaleNumber>,
    /// The shop's lines on each receipt, and the language of all texts for cashier and customer.
    pub(in crate::agent) letterhead: Letterhead,
}

impl PrinterControl {
    pub(in crate::agent) fn new(
        config: &Config,
        printers: Vec<(config::Printer, pos_printer::Handle)>,
        in_training: bool,
    ) -> Self {
        Self {
            printers,
            columns: config.printer.first().map_or(42, |printer| printer.columns),
            language: config.terminal.language.clone(),
            in_training,
            customer: config.customer_copy(),
            receipt_url: config.receipts.receipt_url.clone(),
            on_demand: BTreeSet::new(),
            letterhead: letterhead(&config.terminal),
        }
    }

    /// Returns the printers with their configurations.
    pub(in crate::agent) fn each(&self) -> impl Iterator<Item = (&config::Printer, &pos_printer::Handle)> {
        self.printers.iter().map(|(config, handle)| (config, handle))
    }

    /// Prints a receipt again, marked as a duplicate, or a customer's copy for the first time. Uses the printer that
    /// prints this copy automatically, or else the first printer.
    pub(in crate::agent) fn print_on_demand(
        &mut self,
        journal: &Journal,
        sale: &Transaction,
        copy: ReceiptCopy,
    ) -> Result<PrintView, Refused> {
        if self.in_training {
            // On the shop's paper, a training receipt could be mistaken for a real one.
            return Err(Refused::Printer { why: Message::TrainingNotPrinted.into() });
        }
        let (receipt, page) = self.page_of(journal, sale, copy);
        let number = receipt.number;
        let is_first = copy == ReceiptCopy::Customer && self.on_demand.contains(&number);
        let printed = self.on_the_usual_printer(copy, |printer| printer.print(receipt, page, copy, !is_first))?;
        if is_first {
            self.on_demand.remove(&number);
        }
        Ok(printed)
    }

    /// Prints a close of day on the printer of the merchant's copies.
    pub(in crate::agent) fn print_close(&self, close: &Close, duplicate: bool) -> Result<PrintView, Refused> {
        let page = pos_printer::compose_close(close, &self.letterhead);
        let print = |printer: &pos_printer::Handle| printer.print_close(close.number, page, duplicate);
        self.on_the_usual_printer(ReceiptCopy::Merchant, print)
    }

    /// Prints on [`Self::usual_printer`] and describes the result.
    fn on_the_usual_printer(
        &self,
        copy: ReceiptCopy,
        print: impl FnOnce(&pos_printer::Handle) -> Result<(), pos_printer::QueueFull>,
    ) -> Result<PrintView, Refused> {
        let (config, printer) = self.usual_printer(copy)?;
        print(printer).map_err(|full| Refused::Printer { why: full.to_string().into() })?;
        Ok(print_view(&self.letterhead.words, config, printer))
    }

    /// Prints a till's own lines on the printer of the merchant's copies, and answers when they are on paper. The lines
    /// are no receipt. The agent does not store them, and training mode may also print them.
    pub(in crate::agent) fn print_till_lines(
        &self,
        lines: Vec<LineToPrint>,
        reply: oneshot::Sender<Result<PrintView, Refused>>,
    ) {
        let usual = match self.usual_printer(ReceiptCopy::Merchant) {
            Ok((config, printer)) => (config.clone(), printer.clone()),
            Err(refused) => return drop(reply.send(Err(refused))),
        };
        let (columns, words) = (usual.0.columns, self.letterhead.words.clone());
        let judged = |(at, line)| till_line(line, columns).map_err(|why| Refused::Line { at, why });
        let lines = match lines.into_iter().enumerate().map(judged).collect() {
            Ok(lines) => lines,
            Err(refused) => return drop(reply.send(Err(refused))),
        };
        match usual.1.print_till_lines(lines) {
            Err(why) => drop(reply.send(Err(Refused::Printer { why: why.to_string().into() }))),
            Ok(becomes) => drop(tokio::spawn(answer_when_printed(words, usual, becomes, reply))),
        }
    }

    /// Returns the printer that prints this copy automatically, or else the first printer.
    fn usual_printer(&self, copy: ReceiptCopy) -> Result<(&config::Printer, &pos_printer::Handle), Refused> {
        let usual = self.each().find(|(config, _)| prints(config, copy)).or_else(|| self.each().next());
        usual.ok_or_else(|| Refused::Printer { why: Message::NoPrinter.into() })
    }

    /// Returns a receipt for the cashier's page or for a till's own printer.
    pub(in crate::agent) fn receipt_view(
        &self,
        journal: &Journal,
        sale: &Transaction,
        copy: ReceiptCopy,
        width: Option<u8>,
        duplicate: bool,
    ) -> ReceiptView {
        let width = width.unwrap_or(self.columns).max(pos_printer::layout::MIN_COLUMNS);
        let (_, page) = self.page_of(journal, sale, copy);
        let page = if duplicate { page.as_duplicate() } else { page };
        let order = sale.order();
        ReceiptView {
            till: order.till.clone(),
            reference: order.reference.clone(),
            number: order.number,
            copy,
            language: self.language.clone(),
            width,
            text: pos_printer::plain(&page.lines(width), width),
            rows: page.rows().into_iter().map(row_view).collect(),
        }
    }

    /// Returns one copy of a receipt: the stored page, or a newly composed one.
    fn page_of(&self, journal: &Journal, sale: &Transaction, copy: ReceiptCopy) -> (Receipt, Page) {
        let (receipt, number) = (receipt_of(journal, sale), sale.order().number);
        let kept = match sale.standing() {
            Standing::Ended(_) => journal.receipt(number, copy),
            _ => Ok(None),
        };
        let kept = kept.unwrap_or_else(|error| {
            tracing::warn!(sale = number.get(), %error, "the stored receipt cannot be read; it is composed again");
            None
        });
        // A page that a later version of the program stored in another format is also composed again.
        let kept = kept.and_then(|page| serde_json::from_str(&page).ok());
        let page = kept.unwrap_or_else(|| pos_printer::compose(&receipt, &self.letterhead, copy));
        (receipt, page)
    }
}

/// The result of passing a transaction's receipts to the printers.
pub(in crate::agent) struct Handed {
    /// The reasons from the printers that did not accept a receipt.
    pub(in crate::agent) not_printed: Vec<String>,
    /// The copies to store. A later print of a copy uses the stored content.
    pub(in crate::agent) to_keep: Vec<(ReceiptCopy, String)>,
}

impl PrinterControl {
    /// Passes the receipts to the printers and returns the result. A failed printer or a full queue does not affect the
    /// transaction, and the receipts can be printed again.
    pub(in crate::agent) fn hand_out(&mut self, journal: &Journal, sale: &Transaction, paper: Paper) -> Handed {
        let mut handed = Handed { not_printed: Vec::new(), to_keep: Vec::new() };
        let has_ended = matches!(sale.standing(), Standing::Ended(_));
        let (receipt, number) = (receipt_of(journal, sale), sale.order().number);
        let on_demand = self.customer != CustomerCopy::Print && receipt.is_of_approved_sale();
        if on_demand && paper != Paper::SignatureSlip && !sale.order().till_prints {
            self.on_demand.insert(number);
            if self.on_demand.len() > MOST_ON_DEMAND {
                self.on_demand.pop_first();
            }
        }
        let pages = COPIES.map(|copy| (copy, pos_printer::compose(&receipt, &self.letterhead, copy)));
        for (copy, page) in &pages {
            // The slip for the signature is printed even if no printer prints copies automatically: then the first
            // printer prints it.
            let slip = self.each().find(|(config, _)| prints(config, ReceiptCopy::Merchant)).or(self.each().next());
            let printers: Vec<_> = match (paper, copy) {
                // If the till prints the receipts, the terminal prints only the slip to sign.
                (Paper::Copies | Paper::AfterSignature, _) if sale.order().till_prints => Vec::new(),
                (Paper::Copies | Paper::AfterSignature, ReceiptCopy::Customer) if on_demand => Vec::new(),
                (Paper::Copies, _) | (Paper::AfterSignature, ReceiptCopy::Customer) => {
                    self.each().filter(|(config, _)| prints(config, *copy)).collect()
                }
                (Paper::SignatureSlip, ReceiptCopy::Merchant) => slip.into_iter().collect(),
                (Paper::SignatureSlip, ReceiptCopy::Customer) | (Paper::AfterSignature, ReceiptCopy::Merchant) => {
                    Vec::new()
                }
            };
            for (config, printer) in printers {
                if let Err(why) = printer.print(receipt.clone(), page.clone(), *copy, false) {
                    tracing::warn!(sale = number.get(), printer = config.name, %why, "receipt not printed");
                    handed.not_printed.push(why.to_string());
                }
            }
        }
        for (copy, page) in pages.iter().filter(|_| has_ended) {
            match serde_json::to_string(page) {
                Ok(page) => handed.to_keep.push((*copy, page)),
                Err(error) => tracing::warn!(sale = number.get(), %error, "the receipt could not be stored"),
            }
        }
        handed
    }

    /// Returns the ways to get the receipt. No training receipt leaves the terminal.
    pub(in crate::agent) fn offered(&self, sale: &Transaction) -> Offered {
        let asks = self.customer == CustomerCopy::Ask && !self.printers.is_empty() && !sale.order().till_prints;
        if self.in_training || !matches!(sale.standing(), Standing::Ended(_)) || !(asks || self.receipt_url.is_some()) {
            return Offered::default();
        }
        let receipt = sale.receipt();
        let url = self.receipt_url.as_ref().map(|template| template.fill(&receipt));
        Offered { on_demand: asks && receipt.is_of_approved_sale(), url }
    }
}

/// Returns the receipt, including the transaction that it refers to.
pub(in crate::agent) fn receipt_of(journal: &Journal, sale: &Transaction) -> Receipt {
    Receipt { original: original_of(journal, sale), ..sale.receipt() }
}

/// Returns the journal's data of the transaction that this one refers to. Another till's reference is omitted.
fn original_of(journal: &Journal, sale: &Transaction) -> Option<Original> {
    let order = sale.order();
    let number = order.operation.of()?.number.filter(|number| *number < order.number)?;
    let earlier = match journal.number(number) {
        Ok(earlier) => earlier?,
        Err(error) => {
            tracing::warn!(sale = order.number.get(), %error, "the receipt does not name the original transaction");
            return None;
        }
    };
    let original = Original::of(receipt_of(journal, &earlier));
    let is_theirs = earlier.order().till == order.till;
    Some(Original { reference: original.reference.filter(|_| is_theirs), ..original })
}

/// Answers when the lines are printed. If the till disconnects first, its lines are removed from the queue.
async fn answer_when_printed(
    words: Words,
    (config, printer): (config::Printer, pos_printer::Handle),
    becomes: oneshot::Receiver<Result<(), NotPrinted>>,
    mut reply: oneshot::Sender<Result<PrintView, Refused>>,
) {
    let becomes = tokio::select! {
        () = reply.closed() => return,
        becomes = becomes => becomes,
    };
    // The agent is stopping and does not know whether the lines were printed, so it sends no answer.
    let Ok(becomes) = becomes else { return };
    let printed = becomes.map(|()| print_view(&words, &config, &printer));
    let _ = reply.send(printed.map_err(|error| Refused::Printer { why: error.to_string().into() }));
}

fn print_view(words: &Words, config: &config::Printer, printer: &pos_printer::Handle) -> PrintView {
    PrintView {
        printer: config.name.clone(),
        state: state_of_printer(&printer.standing()),
        text: words.tell(&printer.state()),
        waiting: printer.waiting(),
    }
}

/// Converts a till's line to the layout of a printer with this number of columns. If that is impossible, returns the
/// reason.
fn till_line(line: LineToPrint, columns: u8) -> Result<TillLine, String> {
    let LineToPrint { text, value, align, style, code } = line;
    let kind = code.map(|code| match code {
        LineCode::Ean8 => CodeKind::Ean8,
        LineCode::Ean13 => CodeKind::Ean13,
        LineCode::UpcA => CodeKind::UpcA,
        LineCode::Code25 => CodeKind::Code25,
        LineCode::Code128 => CodeKind::Code128,
        LineCode::Pdf417 => CodeKind::Pdf417,
        LineCode::Qr => CodeKind::Qr(QrLevel::Medium),
        LineCode::QrLow => CodeKind::Qr(QrLevel::Low),
        LineCode::QrQuartile => CodeKind::Qr(QrLevel::Quartile),
        LineCode::QrHigh => CodeKind::Qr(QrLevel::High),
    });
    let code = match kind {
        Some(_) if !value.is_empty() => return Err("a line with a code cannot have a value; omit value".to_owned()),
        Some(kind) => Some(Code::new(kind, &text, columns).map_err(|error| error.to_string())?),
        None => None,
    };
    let align = match align {
        LineAlign::Left => Align::Left,
        LineAlign::Centre => Align::Centre,
        LineAlign::Right => Align::Right,
    };
    let style = match style {
        LineStyle::Plain => Style::Plain,
        LineStyle::Bold => Style::Bold,
        LineStyle::Tall => Style::Tall,
        LineStyle::Big => Style::Big,
    };
    Ok(TillLine { text, value, align, style, code })
}

/// Converts a row to the form for tills and for the cashier's page.
fn row_view(row: ReceiptRow) -> ReceiptRowView {
    let of = |is, text| ReceiptRowView { is, text, value: String::new() };
    match row {
        ReceiptRow::Rule => of(ReceiptRowIs::Rule, String::new()),
        ReceiptRow::Left(text) => of(ReceiptRowIs::Left, text),
        ReceiptRow::Centred(text) => of(ReceiptRowIs::Centred, text),
        ReceiptRow::Bold(text) => of(ReceiptRowIs::Bold, text),
        ReceiptRow::Large(text) => of(ReceiptRowIs::Large, text),
        ReceiptRow::Amount(text) => of(ReceiptRowIs::Amount, text),
        ReceiptRow::Pair(label, value) => ReceiptRowView { is: ReceiptRowIs::Pair, text: label, value },
        ReceiptRow::Status(text) => of(ReceiptRowIs::Status, text),
        ReceiptRow::SignatureLine(word) => of(ReceiptRowIs::SignatureLine, word),
    }
}

/// Returns whether a printer prints a copy automatically.
fn prints(config: &config::Printer, copy: ReceiptCopy) -> bool {
    match config.copies {
        Copies::Both => true,
        Copies::Merchant => copy == ReceiptCopy::Merchant,
        Copies::Customer => copy == ReceiptCopy::Customer,
        Copies::None => false,
    }
}
