//! Announcements: a transaction's state to its till, the terminal's events to all tills, and alarms for a person to the
//! log.

use crate::till::{Progress, ProgressLog, SaleState, SaleView};
use pos_core::transaction::{Cause, Order, Outcome, Standing};
use pos_reader::ReaderProgress;
use pos_terms::transaction::{OutcomeWord, Reference, SaleNumber};
use pos_till_api::steps::is_listed;
use pos_words::{Message, Sentence, Words};

use super::earlier::KnownTransactions;
use super::engine::open_transactions::OpenTransaction;
use super::views::sale::CHOOSING_TIP;

const FAULT: &str = "the sale ended because of a fault of the terminal";

/// The sender of announcements to tills. The caller supplies their content. An open transaction stores its latest
/// announcement.
pub(super) struct Teller {
    progress: ProgressLog,
    words: Words,
    in_training: bool,
}

impl Teller {
    pub(super) fn new(progress: ProgressLog, words: Words, in_training: bool) -> Self {
        Self { progress, words, in_training }
    }

    pub(super) fn progress(&self) -> &ProgressLog {
        &self.progress
    }

    /// Returns the language of all texts for cashier and customer.
    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// Tells the till the state of its transaction.
    pub(super) fn sale(&self, step: &str, view: SaleView) {
        let outcome = view.outcome.map(OutcomeWord::as_str);
        let (sale, reference, till) = (view.number.get(), view.reference.as_str(), &view.till);
        tracing::info!(sale, reference, till, step, outcome, reason = view.reason, "sale");
        self.send(Progress {
            till: view.till.clone(),
            reference: view.reference.to_string(),
            step: step.to_owned(),
            text: view.text.clone(),
            training: view.training,
            sale: Some(Box::new(view)),
        });
    }

    fn send(&self, progress: Progress) {
        let (carries_sale, is_of_terminal) = (progress.sale.is_some(), progress.till.is_empty());
        debug_assert!(
            is_listed(&progress.step, carries_sale, is_of_terminal),
            "the catalogue of events (pos_till_api::steps) has no such {}",
            progress.step
        );
        self.progress.send(progress);
    }

    /// Announces a step of the reader, for the cashier.
    pub(super) fn step(&self, active: &mut OpenTransaction, step: &ReaderProgress) {
        let (word, text) = step_words(&self.words, step);
        active.step = Some(word);
        if step.has_a_card() {
            active.card_until = None;
        }
        let order = active.order();
        let is_of_fleet = order.by.as_ref().is_some_and(|by| by.fleet.is_some());
        let text = if is_of_fleet { self.words.asked_by_fleet(&order.till, &text) } else { text };
        self.about((&order.till, &order.reference), word, text);
    }

    /// Raises an alarm for a person, as an error in the log and a step `alarm` for all listeners. While the transaction
    /// is open, the status also shows the alarm.
    pub(super) fn alarm(&self, order: &Order, why: &Cause) {
        let reason = why.reason.as_str();
        let detail = why.detail.as_deref().unwrap_or_default();
        let (sale, reference, till) = (order.number.get(), order.reference.as_str(), &order.till);
        tracing::error!(sale, reference, till, reason, detail, "ALARM");
        self.about((&order.till, &order.reference), "alarm", self.words.alarm(why));
    }

    /// Sends a step of a transaction, which may have ended, only to its till.
    pub(super) fn about(&self, (till, reference): (&str, &Reference), step: &str, text: String) {
        self.send(Progress {
            till: till.to_owned(),
            reference: reference.to_string(),
            step: step.to_owned(),
            text,
            training: self.in_training,
            sale: None,
        });
    }

    /// Sends a step like [`Self::about`], for the transaction with this number.
    pub(super) fn about_number(&self, known: KnownTransactions<'_>, number: SaleNumber, step: &str, text: &str) {
        if let Some((till, reference)) = known.key(number) {
            self.about((&till, &reference), step, text.to_owned());
        }
    }

    /// Announces an event of the terminal to every till. So the text must not name a transaction.
    pub(super) fn terminal(&self, step: &str, text: &str) {
        if self.in_training {
            // Events of the training journal do not concern the terminal's tills.
            return;
        }
        self.send(Progress {
            till: String::new(),
            reference: String::new(),
            step: step.to_owned(),
            text: text.to_owned(),
            training: false,
            sale: None,
        });
    }

    /// Announces an alarm of the terminal to every till.
    pub(super) fn terminal_alarm(&self, why: Sentence) {
        self.terminal("alarm", &self.words.tell(&Message::Alarm.with("why", why)));
    }

    /// Announces an event like [`Self::terminal`], with one of the terminal's own texts.
    pub(super) fn terminal_says(&self, step: &str, message: Message) {
        self.terminal(step, self.words.label(message));
    }
}

/// Returns the code word for a transaction's state, which programs read.
pub(super) fn step_of(view: &SaleView) -> &'static str {
    match view.state {
        SaleState::InProgress if view.redirect_url.is_some() => "customer-acts",
        SaleState::InProgress => "authorising",
        SaleState::AwaitingTill => "confirm-needed",
        state => state.as_str(),
    }
}

/// Logs once, for the technician, that a transaction ended because of a fault in the terminal, the network or the
/// gateway.
pub(super) fn warn_of_end(active: &OpenTransaction) {
    let Standing::Ended(outcome @ (Outcome::NotSent { why } | Outcome::Reversed { why })) = active.sale().standing()
    else {
        return;
    };
    if why.reason.is_somebodys_wish() {
        return;
    }
    let order = active.order();
    let (reason, detail) = (why.reason.as_str(), why.detail.as_deref().unwrap_or_default());
    let (outcome, reference, till) = (outcome.word().as_str(), order.reference.as_str(), &order.till);
    tracing::warn!(sale = order.number.get(), outcome, reason, reference, till, detail, "{}", FAULT);
}

/// Returns the code word of a reader's step for programs, and its sentence for the cashier. The reader's own text is
/// shown without control characters.
fn step_words(words: &Words, step: &ReaderProgress) -> (&'static str, String) {
    let (word, step) = match step {
        ReaderProgress::ChoosingTip => (CHOOSING_TIP, pos_words::ReaderStep::ChoosingTip),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pos_till_api::steps::{EventStep, RESET, STEPS, StepAbout};
    use pos_words::Language;

    use super::*;

    fn listed(which: impl Fn(&&EventStep) -> bool) -> BTreeSet<&'static str> {
        STEPS.iter().filter(which).map(|step| step.word).collect()
    }

    #[test]
    fn the_catalogue_has_every_step_of_the_reader_and_no_other() {
        let (digits, tries_left) = (None, None);
        let steps = [
            ReaderProgress::ChoosingTip,
            ReaderProgress::PresentCard,
            ReaderProgress::InsertCard,
            ReaderProgress::SwipeCard,
            ReaderProgress::TryAgain,
            ReaderProgress::TypeCard,
            ReaderProgress::ChoosingApplication,
            ReaderProgress::ReadingCard,
            ReaderProgress::PinEntry { digits },
            ReaderProgress::PinWrong { tries_left },
            ReaderProgress::PinDone,
            ReaderProgress::ReaderText(String::new()),
            ReaderProgress::RemoveCard,
        ];
        let words = Words::new(Language::default());
        let said: BTreeSet<&str> = steps.iter().map(|step| step_words(&words, step).0).collect();
        assert_eq!(said, listed(|step| step.about == StepAbout::Reader));
    }

    #[test]
    fn the_catalogue_has_every_state_of_a_sale_and_each_other_word_is_announced_somewhere() {
        // The words of two states are replaced, one of them by two words (`step_of`).
        let replaced = ["authorising", "customer-acts", "confirm-needed"];
        let states = [
            SaleState::WaitingForCard,
            SaleState::AwaitingSignature,
            SaleState::Unconfirmed,
            SaleState::UnconfirmedFinishing,
            SaleState::Ended,
        ];
        let said: BTreeSet<&str> = states.iter().map(|state| state.as_str()).chain(replaced).collect();
        assert_eq!(said, listed(|step| step.carries_sale));
        let sources = concat!(
            include_str!("../agent.rs"),
            include_str!("engine.rs"),
            include_str!("engine/hearing.rs"),
            include_str!("engine/recovery.rs"),
            include_str!("../till/http/events.rs"),
            include_str!("teller.rs")
        );
        let (sources, _) =
            sources.split_once("#[cfg(test)]\nmod tests {\n    use std::collections::BTreeSet;").unwrap();
        for word in listed(|step| !step.carries_sale && step.about != StepAbout::Reader) {
            assert!(sources.contains(&format!("\"{word}\"")), "no source announces {word}");
        }
        assert!(listed(|step| step.about == StepAbout::Terminal).contains(RESET));
    }
}
