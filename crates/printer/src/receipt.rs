//! The content of a receipt: its parts, their order and their words. This module is pure. [`super::layout`] turns the
//! parts into lines that fit the paper.
//!
//! | part | copy |
//! |---|---|
//! | shop, terminal, merchant ID, date, number, reference | both |
//! | the training mark at both ends, in training mode | both |
//! | kind, amounts, outcome with its reason, after a failure a note of what was not done | both |
//! | brand, application, AID, last four digits, entry, cardholder verification, authorisation code | both |
//! | operator, supervisor | the merchant's |
//! | reason word, cryptogram, TVR, TSI, IAD, codes and IDs of the gateway | the merchant's |
//! | the transaction to which a refund or a void refers | both |
//! | the gateway's own lines, the shop's last lines | both |
//! | the text to sign, and the line for the signature | the merchant's |
//!
//! The receipt contains no expiry date, and of a card number only the last four digits (schemes' rules).

use pos_core::transaction::{Cause, HostFacts, Original, Reason, Receipt, ReceiptOutcome};
use pos_terms::card::{CardFacts, CryptogramKind, Cvm};
use pos_terms::transaction::{PaymentId, ReceiptCopy, Reference};
use pos_words::{Message, Words};

use super::layout::{Page, ReceiptRow};

/// The shop's texts for each receipt, and their language.
#[derive(Clone, Debug, Default)]
pub struct Letterhead {
    /// Name, street and town. The first line is large.
    pub merchant: Vec<String>,
    /// The last lines, such as opening hours or conditions for returns.
    pub footer: Vec<String>,
    /// The language.
    pub words: Words,
}

/// Composes one copy of a receipt.
#[must_use]
pub fn compose(receipt: &Receipt, letterhead: &Letterhead, copy: ReceiptCopy) -> Page {
    let words = &letterhead.words;
    let mut page = Composing { page: Page::new(words.label(Message::Duplicate)), receipt, copy, words };
    page.training();
    page.head(&letterhead.merchant);
    page.what_happened();
    page.card();
    page.original();
    page.host();
    page.last_lines(&letterhead.footer);
    page.foot();
    page.training();
    page.page
}

struct Composing<'a> {
    page: Page,
    receipt: &'a Receipt,
    copy: ReceiptCopy,
    words: &'a Words,
}

/// The parts, in order.
impl Composing<'_> {
    fn head(&mut self, merchant: &[String]) {
        for (nth, line) in merchant.iter().enumerate() {
            self.page.push(if nth == 0 { ReceiptRow::Large(line.clone()) } else { ReceiptRow::Centred(line.clone()) });
        }
        let receipt = self.receipt;
        self.page.push(ReceiptRow::Rule);
        self.pair(Message::Terminal, &receipt.terminal_id);
        self.pair_if(Message::MerchantId, receipt.host.merchant_id.as_deref());
        self.pair(Message::Date, &self.words.date_and_time(&receipt.local_time));
        self.pair(Message::SaleNumber, &receipt.number.to_string());
        self.pair(Message::Reference, receipt.reference.as_str());
        if self.copy == ReceiptCopy::Merchant {
            self.pair_if(Message::Operator, receipt.operator.as_deref());
            self.pair_if(Message::Supervisor, receipt.supervisor.as_deref());
        }
    }

    /// Adds the training mark. It is at both ends, so that neither half can be mistaken for a receipt.
    fn training(&mut self) {
        if self.receipt.training {
            self.page.push(ReceiptRow::Large(self.words.label(Message::Training).to_owned()));
            self.bold(self.words.label(Message::TrainingNoPayment));
        }
    }

    /// Adds kind, amount and outcome. The big amount is the one that was charged, or would have been.
    fn what_happened(&mut self) {
        let (receipt, words) = (self.receipt, self.words);
        self.page.push(ReceiptRow::Rule);
        self.centred(words.title(receipt.kind));
        if let Some(tip) = receipt.tip
            && let Some(base) = receipt.charged().less(tip)
        {
            self.pair(Message::Amount, &words.amount(base));
            self.pair(Message::Tip, &words.amount(tip));
            self.bold(words.label(Message::Total));
        }
        if receipt.kind.moves_money() {
            self.page.push(ReceiptRow::Amount(words.amount(receipt.charged())));
        }
        self.outcome();
    }

    fn outcome(&mut self) {
        let (receipt, words) = (self.receipt, self.words);
        let (kind, nothing) = (receipt.kind, words.nothing_happened(receipt.kind));
        match &receipt.outcome {
            ReceiptOutcome::Approved => self.bold(words.approved(kind)),
            ReceiptOutcome::PartiallyApproved(part) => {
                self.bold(words.label(Message::PartiallyApproved));
                self.pair(Message::Requested, &words.amount(receipt.amount));
                self.pair(Message::ApprovedPart, &words.amount(*part));
            }
            ReceiptOutcome::Declined(why) => self.nothing_happened(Message::Declined, why, &nothing),
            ReceiptOutcome::Cancelled(why) => self.nothing_happened(Message::Cancelled, why, &nothing),
            ReceiptOutcome::NotSent(why) => self.nothing_happened(Message::NotCarriedOut, why, &nothing),
            ReceiptOutcome::Reversed(why) => self.nothing_happened(Message::Reversed, why, &words.taken_back(kind)),
            ReceiptOutcome::Unconfirmed(why) if kind.is_undone_when_unknown() => {
                self.nothing_happened(Message::UnconfirmedTakenBack, why, words.until_taken_back(kind));
            }
            ReceiptOutcome::Unconfirmed(why) => {
                self.bold(words.label(Message::UnconfirmedFinished));
                self.centred(&self.customers_reason(why));
            }
        }
    }

    fn nothing_happened(&mut self, outcome: Message, why: &Cause, nothing: &str) {
        self.bold(self.words.label(outcome));
        self.centred(&self.customers_reason(why));
        self.bold(nothing);
    }

    /// Returns the reason for the customer. A sentence that an earlier version recorded is meant for the shop, unless
    /// it comes from the issuer.
    fn customers_reason(&self, why: &Cause) -> String {
        let of_bank = why.detail.as_deref().filter(|_| why.reason == Reason::Recorded);
        match of_bank.filter(|said| self.receipt.host.description.as_deref() == Some(said)) {
            Some(said) => self.words.customer(&Reason::BankDeclined.with(said)),
            None => self.words.customer(why),
        }
    }

    fn card(&mut self) {
        let (receipt, words) = (self.receipt, self.words);
        let (card, original) = (receipt.card.as_ref(), receipt.original.as_ref());
        let brand = receipt.host.brand.as_deref().or_else(|| original?.brand.as_deref());
        let last4 = last4(card, &receipt.host).or_else(|| four_digits(original?.last4.as_deref()));
        let charged = receipt.outcome.is_charged();
        let code = receipt.host.issuer_code.as_deref().or(receipt.host.acquirer_code.as_deref()).filter(|_| charged);
        if card.is_some() || last4.is_some() || code.is_some() {
            self.page.push(ReceiptRow::Rule);
        }
        if card.is_some() || last4.is_some() {
            self.pair_if(Message::Brand, brand);
        }
        self.pair_if(Message::Application, card.and_then(|card| card.label.as_deref()));
        self.pair_if(Message::Aid, card.and_then(|card| card.aid.as_deref()));
        if let Some(last4) = last4 {
            self.pair(Message::Card, &format!("**** **** **** {last4}"));
        }
        if let Some(card) = card {
            self.pair(Message::Entry, words.entry(card.entry));
        }
        if let Some(cvm) = card.and_then(|card| card.cvm) {
            self.centred(words.verification(cvm, charged));
        }
        self.pair_if(Message::AuthCode, code);
        if let (Some(card), ReceiptCopy::Merchant) = (card, self.copy) {
            self.chip(card);
        }
    }

    /// Adds the chip data for a dispute about the card. In every language the names are those of EMV.
    fn chip(&mut self, card: &CardFacts) {
        let mut fact = |name: &str, value: &str| self.page.push(ReceiptRow::Pair(name.to_owned(), value.to_owned()));
        if let Some(cryptogram) = card.cryptogram {
            let kind = match cryptogram.kind {
                CryptogramKind::Aac => "AAC",
                CryptogramKind::Tc => "TC",
                CryptogramKind::Arqc => "ARQC",
            };
            fact(kind, &hex::encode_upper(cryptogram.value));
        }
        for (name, value) in [("TVR", &card.tvr), ("TSI", &card.tsi), ("IAD", &card.iad)] {
            if let Some(value) = value {
                fact(name, value);
            }
        }
    }

    /// Adds the transaction to which a refund, a void or another later transaction refers.
    fn original(&mut self) {
        let Some(Original { number, reference, local_time, brand: _, last4: _ }) = &self.receipt.original else {
            return;
        };
        self.page.push(ReceiptRow::Rule);
        self.centred(self.words.label(Message::Original));
        self.pair(Message::SaleNumber, &number.to_string());
        self.pair_if(Message::Reference, reference.as_ref().map(Reference::as_str));
        self.pair(Message::Date, &self.words.date_and_time(local_time));
    }

    /// Adds the data with which the transaction can be found at the gateway, or the cause of a failure.
    fn host(&mut self) {
        if self.copy == ReceiptCopy::Customer {
            return;
        }
        let host = &self.receipt.host;
        let reason = why(&self.receipt.outcome).map(ToString::to_string);
        // If there is no issuer's code, the acquirer's code is already printed as the authorisation code.
        let acquirer = host.acquirer_code.as_ref().filter(|_| host.issuer_code.is_some());
        let id_is = if self.receipt.kind.moves_money() { Message::PaymentId } else { Message::RegistrationId };
        let facts = [
            (Message::ReasonWord, reason.as_deref()),
            (Message::ResultCode, host.code.as_deref()),
            (Message::AcquirerCode, acquirer.map(String::as_str)),
            (Message::ClearingId, host.clearing_identifier.as_deref()),
            (id_is, host.id.as_ref().map(PaymentId::as_str)),
        ];
        if facts.iter().any(|(_, value)| value.is_some()) {
            self.page.push(ReceiptRow::Rule);
        }
        for (label, value) in facts {
            self.pair_if(label, value);
        }
    }

    /// Adds `pos.statusText` on separate lines (interface: Point of sale), and the shop's last lines.
    fn last_lines(&mut self, footer: &[String]) {
        if let Some(text) = &self.receipt.host.status_text {
            self.page.push(ReceiptRow::Status(text.clone()));
        }
        if !footer.is_empty() {
            self.page.push(ReceiptRow::Rule);
        }
        for line in footer {
            self.centred(line);
        }
    }

    fn foot(&mut self) {
        let (receipt, words) = (self.receipt, self.words);
        let cvm = receipt.card.as_ref().and_then(|card| card.cvm);
        let signed = receipt.kind.moves_money()
            && matches!(cvm, Some(Cvm::Signature | Cvm::OfflinePinAndSignature))
            && receipt.outcome.is_charged();
        self.page.push(ReceiptRow::Rule);
        match self.copy {
            ReceiptCopy::Merchant => {
                if signed {
                    self.page.push(ReceiptRow::Left(words.agreement(receipt.kind).to_owned()));
                    self.page.push(ReceiptRow::SignatureLine(words.label(Message::Signature).to_owned()));
                }
                self.bold(words.label(Message::MerchantCopy));
            }
            ReceiptCopy::Customer => {
                self.centred(words.label(Message::KeepReceipt));
                self.bold(words.label(Message::CustomerCopy));
            }
        }
    }
}

/// The functions that add a row.
impl Composing<'_> {
    fn centred(&mut self, text: &str) {
        self.page.push(ReceiptRow::Centred(text.to_owned()));
    }

    fn bold(&mut self, text: &str) {
        self.page.push(ReceiptRow::Bold(text.to_owned()));
    }

    fn pair(&mut self, label: Message, value: &str) {
        self.page.push(ReceiptRow::Pair(self.words.label(label).to_owned(), value.to_owned()));
    }

    fn pair_if(&mut self, label: Message, value: Option<&str>) {
        if let Some(value) = value {
            self.pair(label, value);
        }
    }
}

fn why(outcome: &ReceiptOutcome) -> Option<&Cause> {
    match outcome {
        ReceiptOutcome::Approved | ReceiptOutcome::PartiallyApproved(_) => None,
        ReceiptOutcome::Declined(why)
        | ReceiptOutcome::Cancelled(why)
        | ReceiptOutcome::NotSent(why)
        | ReceiptOutcome::Reversed(why)
        | ReceiptOutcome::Unconfirmed(why) => Some(why),
    }
}

/// Returns the last four digits from the reader, otherwise from the gateway.
fn last4<'a>(card: Option<&'a CardFacts>, host: &'a HostFacts) -> Option<&'a str> {
    let of_reader = card.and_then(|card| card.pan.as_ref()).map(pos_terms::card::MaskedPan::last4);
    four_digits(of_reader).or_else(|| four_digits(host.last4.as_deref()))
}

/// Returns the text if it consists of four digits.
fn four_digits(text: Option<&str>) -> Option<&str> {
    text.filter(|text| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::card::{EntryMode, MaskedPan};

    #[test]
    fn only_four_digits_are_shown_of_a_card() {
        let card = CardFacts {
            entry: EntryMode::Magstripe,
            pan: MaskedPan::new("************FFFF"),
            pan_sequence_number: None,
            aid: None,
            label: None,
            cvm: None,
            cryptogram: None,
            tvr: None,
            tsi: None,
            iad: None,
        };
        let host = |last4: &str| HostFacts { last4: Some(last4.to_owned()), ..HostFacts::default() };
        assert_eq!(last4(Some(&card), &host("0119")), Some("0119"));
        assert_eq!(last4(Some(&card), &host("4761739001010119")), None);
    }
}
