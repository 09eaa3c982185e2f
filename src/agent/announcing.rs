//! What is announced while things happen: to the till of a sale how it stands, to all tills what concerns the terminal,
//! and to whoever reads the log what a person must hear of.

use crate::till::{Progress, SaleState};
use pos_core::sale::{Outcome, Standing, Why};
use pos_reader::ReaderProgress;
use pos_terms::transaction::{OutcomeWord, SaleNumber};
use pos_words::Words;

use super::Agent;

const FAULT: &str = "the sale ended because of a fault of the terminal's side";

impl Agent {
    /// Tells the till how the sale stands, and answers who waits for a cancel.
    pub(super) fn tell(&mut self, number: SaleNumber) {
        let Some(active) = self.sales.open.get(&number) else {
            return;
        };
        let view = self.view_of(&active.sale);
        let step = match view.state {
            SaleState::InProgress if view.redirect_url.is_some() => "customer-acts",
            SaleState::InProgress => "authorising",
            SaleState::AwaitingTill => "confirm-needed",
            state => state.as_str(),
        };
        if let Some(active) = self.sales.open.get_mut(&number) {
            active.step = Some(step);
        }
        let view = match self.sales.open.get(&number) {
            Some(active) => self.with_its_wait(&active.sale, view),
            None => view,
        };
        let outcome = view.outcome.map(OutcomeWord::as_str);
        tracing::info!(sale = number.get(), step, outcome, reason = view.reason, "sale");
        self.answer_cancels(number);
        let progress = Progress {
            till: view.till.clone(),
            reference: view.reference.to_string(),
            step: step.to_owned(),
            text: view.text.clone(),
            training: view.training,
            sale: Some(Box::new(view)),
        };
        self.progress.send(progress);
        self.ask_for_the_card_before();
    }

    /// A sale ended because of a fault of the terminal's side, that of the gateway and of the way to it included: once,
    /// what a technician looks for.
    pub(super) fn warn_of_end(&self, number: SaleNumber) {
        let Some(active) = self.sales.open.get(&number) else { return };
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
    pub(super) fn announce_step(&mut self, number: SaleNumber, step: &ReaderProgress) {
        let Some(active) = self.sales.open.get_mut(&number) else {
            return;
        };
        let (word, text) = step_words(&self.printers.letterhead.words, step);
        active.step = Some(word);
        if step.has_a_card() {
            active.card_until = None;
        }
        let order = active.sale.order();
        let progress = Progress {
            till: order.till.clone(),
            reference: order.reference.to_string(),
            step: word.to_owned(),
            text,
            training: self.trains(),
            sale: None,
        };
        self.progress.send(progress);
    }

    /// Something that a person must hear of: in the log as an error, and as a step `alarm` for whoever listens. As long
    /// as the sale is open it stands in the status as well.
    pub(super) fn alarm(&self, number: SaleNumber, why: &Why) {
        let Some(active) = self.sales.open.get(&number) else {
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
            text: self.printers.letterhead.words.alarm(why),
            training: self.trains(),
            sale: None,
        };
        self.progress.send(progress);
    }

    /// A word about a sale that may be over, to its till alone.
    pub(super) fn announce_to(&self, number: SaleNumber, step: &str, text: &str) {
        let live = self.sales.open.get(&number).map(|active| active.sale.order());
        let key = live.map(|order| (order.till.clone(), order.reference.clone()));
        let Some((till, reference)) = key.or_else(|| self.journal.book().key(number).ok().flatten()) else {
            return;
        };
        let (reference, step, text) = (reference.to_string(), step.to_owned(), text.to_owned());
        self.progress.send(Progress { till, reference, step, text, training: self.trains(), sale: None });
    }

    /// Something about the terminal itself: every till hears it, so it names no sale.
    pub(super) fn announce(&self, step: &str, text: &str) {
        if self.trains() {
            // What becomes of training's journal is nothing that a till must know of its terminal.
            return;
        }
        let progress = Progress {
            till: String::new(),
            reference: String::new(),
            step: step.to_owned(),
            text: text.to_owned(),
            training: false,
            sale: None,
        };
        self.progress.send(progress);
    }

    /// What the printer reports is shown, and changes no sale.
    pub(super) fn printer_says(&mut self, event: pos_printer::PrinterEvent) {
        match event {
            pos_printer::PrinterEvent::Printed { slip, duplicate } => tracing::debug!(%slip, duplicate, "printed"),
            pos_printer::PrinterEvent::Waits { slip, why } => {
                self.announce_slip(slip, "printer-waits", &format!("The {slip} waits: the printer is {why}"));
            }
            pos_printer::PrinterEvent::Failed { slip, why } => {
                tracing::warn!(%slip, %why, "not printed");
                let text = format!("The {slip} is not printed: the printer is {why}");
                self.announce_slip(slip, "printer-failed", &text);
            }
        }
    }

    /// Of a receipt to its till; a close is the terminal's.
    fn announce_slip(&self, slip: pos_printer::Slip, step: &str, text: &str) {
        match slip {
            pos_printer::Slip::Receipt { sale, .. } => self.announce_to(sale, step, text),
            pos_printer::Slip::Close { .. } => self.announce(step, text),
            // Its till hears of it by the answer.
            pos_printer::Slip::TillLines => {}
        }
    }
}

/// A step of the reader: its word for programs, and its sentence for the cashier. A text of the reader's own is shown
/// as it is.
fn step_words(words: &Words, step: &ReaderProgress) -> (&'static str, String) {
    let (word, step) = match step {
        ReaderProgress::PresentCard => ("present-card", pos_words::ReaderStep::PresentCard),
        ReaderProgress::InsertCard => ("insert-card", pos_words::ReaderStep::InsertCard),
        ReaderProgress::SwipeCard => ("swipe-card", pos_words::ReaderStep::SwipeCard),
        ReaderProgress::TryAgain => ("try-again", pos_words::ReaderStep::TryAgain),
        ReaderProgress::TypeCard => ("type-card", pos_words::ReaderStep::TypeCard),
        ReaderProgress::ChoosingApplication => ("choosing-application", pos_words::ReaderStep::ChoosingApplication),
        ReaderProgress::ReadingCard => ("reading-card", pos_words::ReaderStep::ReadingCard),
        ReaderProgress::PinEntry { digits } => ("pin-entry", pos_words::ReaderStep::PinEntry(*digits)),
        ReaderProgress::PinWrong { tries_left } => ("pin-wrong", pos_words::ReaderStep::PinWrong(*tries_left)),
        ReaderProgress::PinDone => ("pin-done", pos_words::ReaderStep::PinDone),
        ReaderProgress::ReaderText(text) => return ("reader-text", text.chars().filter(|c| !c.is_control()).collect()),
        ReaderProgress::RemoveCard => ("remove-card", pos_words::ReaderStep::RemoveCard),
    };
    (word, words.step(step))
}
