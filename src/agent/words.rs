//! Sales and steps in the words of the till: what a cashier reads and a program branches on.

use std::collections::BTreeMap;

use chrono::{SecondsFormat, TimeZone, Utc};

use crate::card::Cryptogram;
use crate::printer;
use crate::reader::ReaderProgress;
use crate::sale::{Outcome, Sale, Standing, Why};
use crate::till::{CardView, Progress, Refused, SaleView, State};
use crate::transaction::{Kind, OutcomeWord, SaleNumber};
use crate::words::{self, Message, Words};

use super::Agent;

const FAULT: &str = "the sale ended because of a fault of the terminal's side";

impl Agent {
    /// The sale as tills see it.
    pub(super) fn view_of(&self, sale: &Sale) -> SaleView {
        let order = sale.order();
        let stuck = self.sales.get(&order.number).is_some_and(|active| active.stuck);
        let of = order.transaction.of().map(|of| match of.number {
            Some(number) => match self.journal.key(number) {
                Ok(Some((till, reference))) if till == order.till => reference.to_string(),
                // Another till's reference, and its payment's id, are that till's.
                _ => format!("number {number}"),
            },
            None => of.payment.to_string(),
        });
        let words = &self.letterhead.words;
        let (state, outcome, text) = if stuck {
            (unconfirmed(sale), None, words.label(Message::JournalCannotBeWritten).to_owned())
        } else if self.old_copy.holds_up(order.number) {
            (unconfirmed(sale), None, words.label(Message::AskingWhetherSent).to_owned())
        } else {
            standing(words, sale)
        };
        let approved = match sale.standing() {
            Standing::Ended(Outcome::Approved) => Some(sale.amount()),
            Standing::Ended(Outcome::PartiallyApproved { amount }) => Some(*amount),
            _ => None,
        };
        let host = sale.host();
        let (why, unsettled) = match sale.standing() {
            Standing::Ended(outcome) => (outcome.why(), None),
            Standing::Unconfirmed { why, trouble, quarantined } => (Some(why), quarantined.or(trouble)),
            _ => (None, None),
        };
        SaleView {
            till: order.till.clone(),
            reference: order.reference.clone(),
            by: order.by.clone(),
            number: order.number,
            kind: order.kind(),
            of,
            left: None,
            later: Vec::new(),
            amount: order.amount.decimal(),
            tip: sale.tip().map(crate::money::Amount::decimal),
            currency: order.amount.currency().code().to_owned(),
            state,
            outcome,
            approved_amount: approved.map(crate::money::Amount::decimal),
            reason: why.map(|why| why.reason.as_str().to_owned()),
            unsettled: unsettled.map(|why| why.reason.as_str().to_owned()),
            text,
            needs_person: match sale.standing() {
                Standing::Unconfirmed { quarantined: Some(why), .. } => Some(words.technician(why)),
                _ => None,
            },
            started_at: utc(order.started_unix_ms),
            ended_at: sale.ended_unix_ms().map(utc),
            replayed: false,
            payment_id: host.id.clone(),
            code: host.code.clone(),
            approval_code: host.issuer_code.clone(),
            card: sale.card().map(|card| CardView {
                aid: card.aid.clone(),
                cryptogram: card.cryptogram.map(shown_cryptogram),
                entry_mode: card.entry.as_str().to_owned(),
                brand: host.brand.clone().or_else(|| card.label.clone()),
                last4: card.pan.as_ref().map(|pan| pan.last4().to_owned()).or_else(|| host.last4.clone()),
            }),
            status_text: host.status_text.clone(),
            registration: host.more.get("registrationId").or_else(|| host.more.get("registration.id")).cloned(),
            answer: BTreeMap::new(),
        }
    }

    /// Tells the till how the sale stands, and answers who waits for a cancel.
    pub(super) fn tell(&mut self, number: SaleNumber) {
        let Some(active) = self.sales.get(&number) else {
            return;
        };
        let view = self.view_of(&active.sale);
        let step = match view.state {
            State::InProgress => "authorising",
            state => state.as_str(),
        };
        let outcome = view.outcome.map(OutcomeWord::as_str);
        tracing::info!(sale = number.get(), step, outcome, reason = view.reason, "sale");
        self.answer_cancels(number);
        let progress = Progress {
            till: view.till.clone(),
            reference: view.reference.to_string(),
            step: step.to_owned(),
            text: view.text.clone(),
            sale: Some(Box::new(view)),
        };
        // Nobody listening is no fault.
        let _ = self.progress.send(progress);
    }

    /// A sale ended because of a fault of the terminal's side, that of the gateway and of the way to it included: once,
    /// what a technician looks for.
    pub(super) fn warn_of_end(&self, number: SaleNumber) {
        let Some(active) = self.sales.get(&number) else { return };
        let Standing::Ended(outcome @ (Outcome::NotSent { why } | Outcome::Reversed { why })) = active.sale.standing()
        else {
            return;
        };
        if why.reason.is_somebodys_wish() {
            return;
        }
        let order = active.sale.order();
        let (reason, detail) = (why.reason.as_str(), why.detail.as_deref().unwrap_or_default());
        let (outcome, reference, till) = (outcome.word().as_str(), order.reference.as_str(), &order.till);
        tracing::warn!(sale = number.get(), outcome, reason, reference, till, detail, "{}", FAULT);
    }

    /// A step of the reader, for the cashier.
    pub(super) fn announce_step(&self, number: SaleNumber, step: &ReaderProgress) {
        let Some(active) = self.sales.get(&number) else {
            return;
        };
        let (word, text) = step_words(&self.letterhead.words, step);
        let order = active.sale.order();
        let progress = Progress {
            till: order.till.clone(),
            reference: order.reference.to_string(),
            step: word.to_owned(),
            text,
            sale: None,
        };
        let _ = self.progress.send(progress);
    }

    /// Something that a person must hear of: in the log as an error, and as a step `alarm` for whoever listens. As long
    /// as the sale is open it stands in the status as well.
    pub(super) fn alarm(&self, number: SaleNumber, why: &Why) {
        let Some(active) = self.sales.get(&number) else {
            return;
        };
        let order = active.sale.order();
        let reason = why.reason.as_str();
        let detail = why.detail.as_deref().unwrap_or_default();
        tracing::error!(
            sale = number.get(),
            reference = order.reference.as_str(),
            till = order.till,
            reason,
            detail,
            "ALARM"
        );
        let progress = Progress {
            till: order.till.clone(),
            reference: order.reference.to_string(),
            step: "alarm".to_owned(),
            text: self.letterhead.words.alarm(why),
            sale: None,
        };
        let _ = self.progress.send(progress);
    }

    /// A word about a sale that may be over, to its till alone.
    pub(super) fn announce_to(&self, number: SaleNumber, step: &str, text: &str) {
        let live = self.sales.get(&number).map(|active| active.sale.order());
        let key = live.map(|order| (order.till.clone(), order.reference.clone()));
        let Some((till, reference)) = key.or_else(|| self.journal.key(number).ok().flatten()) else {
            return;
        };
        let (reference, step, text) = (reference.to_string(), step.to_owned(), text.to_owned());
        let _ = self.progress.send(Progress { till, reference, step, text, sale: None });
    }

    /// Something about the terminal itself: every till hears it, so it names no sale.
    pub(super) fn announce(&self, step: &str, text: &str) {
        let progress = Progress {
            till: String::new(),
            reference: String::new(),
            step: step.to_owned(),
            text: text.to_owned(),
            sale: None,
        };
        let _ = self.progress.send(progress);
    }

    /// What the printer reports is shown, and changes no sale.
    pub(super) fn printer_says(&mut self, event: printer::Event) {
        match event {
            printer::Event::Printed { sale, copy, duplicate } => {
                tracing::debug!(sale = sale.get(), copy = copy.as_str(), duplicate, "receipt printed");
            }
            printer::Event::Waits { sale, why, .. } => {
                let text = format!("The receipt of sale {sale} waits: the printer is {why}");
                self.announce_to(sale, "printer-waits", &text);
            }
            printer::Event::Failed { sale, why, .. } => {
                tracing::warn!(sale = sale.get(), %why, "receipt not printed");
                let text = format!("The receipt of sale {sale} is not printed: the printer is {why}");
                self.announce_to(sale, "printer-failed", &text);
            }
        }
    }
}

fn utc(unix_ms: i64) -> String {
    Utc.timestamp_millis_opt(unix_ms).single().unwrap_or_default().to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn shown_cryptogram(cryptogram: Cryptogram) -> String {
    format!("{} {}", cryptogram.kind.as_str(), hex::encode_upper(cryptogram.value))
}

/// What nobody knows yet is taken back, or finished.
fn unconfirmed(sale: &Sale) -> State {
    if sale.order().kind().is_undone_when_unknown() { State::Unconfirmed } else { State::UnconfirmedFinishing }
}

/// How a sale stands: state, outcome, and one sentence for the cashier.
fn standing(words: &Words, sale: &Sale) -> (State, Option<OutcomeWord>, String) {
    let (amount, kind) = (sale.amount(), sale.order().kind());
    match sale.standing() {
        Standing::Waiting if !kind.needs_card() => {
            (State::InProgress, None, words.label(Message::BeingSent).to_owned())
        }
        Standing::Waiting => (State::WaitingForCard, None, words.waiting_for_card(amount)),
        Standing::InProgress => (State::InProgress, None, words.label(Message::Authorising).to_owned()),
        Standing::AtSignature => (State::AwaitingSignature, None, words.compare_signature(amount)),
        Standing::Unconfirmed { why, trouble, quarantined } => {
            (unconfirmed(sale), None, words.unconfirmed(kind, why, trouble, quarantined))
        }
        Standing::Ended(outcome) => (State::Ended, Some(outcome.word()), words.ended(kind, outcome, amount)),
    }
}

/// Whether there is a receipt to be had: not before the gateway has answered.
///
/// # Errors
/// With how the sale stands.
pub(super) fn has_a_receipt(view: &SaleView) -> Result<(), Refused> {
    let stands = match view.state {
        State::WaitingForCard => "is waiting for a card",
        State::InProgress => "is being authorised",
        State::AwaitingSignature | State::Unconfirmed | State::UnconfirmedFinishing | State::Ended => return Ok(()),
    };
    Err(Refused::NoReceiptYet { stands })
}

/// What a transaction is, for a till that used its reference again for something else.
pub(super) fn what_it_is(sale: &Sale) -> String {
    match sale.order().kind() {
        Kind::Sale => sale.order().amount.to_string(),
        kind => format!("{} ({})", sale.order().amount, kind.as_str()),
    }
}

/// A step of the reader: its word for programs, and its sentence for the cashier. A text of the reader's own is shown
/// as it is.
fn step_words(words: &Words, step: &ReaderProgress) -> (&'static str, String) {
    let (word, step) = match step {
        ReaderProgress::PresentCard => ("present-card", words::Step::PresentCard),
        ReaderProgress::InsertCard => ("insert-card", words::Step::InsertCard),
        ReaderProgress::SwipeCard => ("swipe-card", words::Step::SwipeCard),
        ReaderProgress::TryAgain => ("try-again", words::Step::TryAgain),
        ReaderProgress::TypeCard => ("type-card", words::Step::TypeCard),
        ReaderProgress::ChoosingApplication => ("choosing-application", words::Step::ChoosingApplication),
        ReaderProgress::ReadingCard => ("reading-card", words::Step::ReadingCard),
        ReaderProgress::PinEntry { digits } => ("pin-entry", words::Step::PinEntry(*digits)),
        ReaderProgress::PinWrong { tries_left } => ("pin-wrong", words::Step::PinWrong(*tries_left)),
        ReaderProgress::PinDone => ("pin-done", words::Step::PinDone),
        ReaderProgress::ReaderText(text) => return ("reader-text", text.chars().filter(|c| !c.is_control()).collect()),
        ReaderProgress::RemoveCard => ("remove-card", words::Step::RemoveCard),
    };
    (word, words.step(step))
}
