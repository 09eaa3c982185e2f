//! Sales and steps in the words of the till: what a cashier reads and a program branches on.

use std::collections::BTreeMap;

use chrono::{SecondsFormat, TimeZone, Utc};

use crate::card::Cryptogram;
use crate::printer;
use crate::reader::Step;
use crate::sale::{self, Copy, Kind, Outcome, Sale, Standing};
use crate::till::{self, CardView, Progress, ReceiptCopy, Refused, SaleView, State, Who};

use super::Agent;

impl From<ReceiptCopy> for Copy {
    fn from(copy: ReceiptCopy) -> Self {
        match copy {
            ReceiptCopy::Customer => Self::Customer,
            ReceiptCopy::Merchant => Self::Merchant,
        }
    }
}

/// Who it was, for the journal.
pub(super) fn recorded(who: &Who) -> sale::Who {
    sale::Who { token: who.token.clone(), uid: who.uid }
}

impl Agent {
    /// The sale as tills see it.
    pub(super) fn view_of(&self, sale: &Sale) -> SaleView {
        let order = sale.order();
        let stuck = self.sales.get(&order.number).is_some_and(|active| active.stuck);
        let kind = kind_of(&order.kind);
        let of = order.kind.of().map(|of| match of.number {
            Some(number) => match self.journal.key(number) {
                Ok(Some((till, reference))) if till == order.till => reference,
                // Another till's reference, and its payment's id, are that till's.
                _ => format!("number {number}"),
            },
            None => of.payment.clone(),
        });
        let (state, outcome, text) = if stuck {
            let text = "UNCONFIRMED: the journal cannot be written; it is settled as soon as it can be";
            (unconfirmed(sale), None, text.to_owned())
        } else if self.old_copy.holds_up(order.number) {
            let text = "UNCONFIRMED: the terminal was restarted before the sale was sent; the gateway is being asked whether it holds it";
            (unconfirmed(sale), None, text.to_owned())
        } else {
            standing(sale)
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
            by: order.by.as_ref().map(|by| Who { token: by.token.clone(), uid: by.uid }),
            number: order.number,
            kind,
            of,
            left: None,
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
                Standing::Unconfirmed { quarantined: Some(why), .. } => Some(why.to_string()),
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
    pub(super) fn tell(&mut self, number: u64) {
        let Some(active) = self.sales.get(&number) else {
            return;
        };
        let view = self.view_of(&active.sale);
        let step = match view.state {
            State::InProgress => "authorising",
            state => state.as_str(),
        };
        self.log_step(number, step, &view);
        self.answer_cancels(number);
        let progress = Progress {
            till: view.till.clone(),
            reference: view.reference.clone(),
            step: step.to_owned(),
            text: view.text.clone(),
            sale: Some(Box::new(view)),
        };
        // Nobody listening is no fault.
        let _ = self.progress.send(progress);
    }

    /// One line for each step. An end that a technician can do something about is a warning, with what he looks for.
    fn log_step(&self, number: u64, step: &str, view: &SaleView) {
        let fault = match self.sales.get(&number).map(|active| active.sale.standing()) {
            Some(Standing::Ended(outcome)) => outcome.why().filter(|why| why.reason.is_terminals_fault()),
            _ => None,
        };
        let (till, reference) = (&view.till, &view.reference);
        let reason = view.reason.as_deref().unwrap_or_default();
        match (view.outcome.map(till::Outcome::as_str), fault) {
            (Some(outcome), Some(why)) => {
                let detail = why.detail.as_deref().unwrap_or_default();
                tracing::warn!(sale = number, step, outcome, reason, reference, till, detail, "sale");
            }
            (Some(outcome), None) => tracing::info!(sale = number, step, outcome, reason, "sale"),
            (None, _) => tracing::info!(sale = number, step, reason, "sale"),
        }
    }

    /// A step of the reader, for the cashier.
    pub(super) fn announce_step(&self, number: u64, step: &Step) {
        let Some(active) = self.sales.get(&number) else {
            return;
        };
        let (word, text) = step_words(step);
        let order = active.sale.order();
        let progress = Progress {
            till: order.till.clone(),
            reference: order.reference.clone(),
            step: word.to_owned(),
            text,
            sale: None,
        };
        let _ = self.progress.send(progress);
    }

    /// Something that a person must hear of: in the log as an error, and as a step `alarm` for whoever listens. As long as the
    /// sale is open it stands in the status as well.
    pub(super) fn alarm(&self, number: u64, why: &str) {
        let Some(active) = self.sales.get(&number) else {
            return;
        };
        let order = active.sale.order();
        tracing::error!(sale = number, reference = order.reference, %why, "ALARM");
        let progress = Progress {
            till: order.till.clone(),
            reference: order.reference.clone(),
            step: "alarm".to_owned(),
            text: format!("ALARM: {why}"),
            sale: None,
        };
        let _ = self.progress.send(progress);
    }

    /// A word about a sale that may be over, to its till alone.
    pub(super) fn announce_to(&self, number: u64, step: &str, text: &str) {
        let live = self.sales.get(&number).map(|active| active.sale.order());
        let key = live.map(|order| (order.till.clone(), order.reference.clone()));
        let Some((till, reference)) = key.or_else(|| self.journal.key(number).ok().flatten()) else {
            return;
        };
        let _ =
            self.progress.send(Progress { till, reference, step: step.to_owned(), text: text.to_owned(), sale: None });
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

    /// A receipt as text, for the screen or a till's own printer.
    pub(super) fn receipt_text(&self, sale: &Sale, copy: ReceiptCopy) -> String {
        let columns = self.config.printer.first().map_or(42, |printer| printer.columns);
        let lines = printer::layout::lay_out(&sale.receipt(), &self.config.terminal.merchant, copy.into(), columns);
        printer::text::plain(&lines, columns)
    }

    /// What the printer reports is shown, and changes no sale.
    pub(super) fn printer_says(&mut self, event: printer::Event) {
        match event {
            printer::Event::Printed { sale, copy, duplicate } => {
                tracing::debug!(sale, copy = copy.as_str(), duplicate, "receipt printed");
            }
            printer::Event::Waits { sale, why, .. } => {
                let text = format!("The receipt of sale {sale} waits: the printer is {why}");
                self.announce_to(sale, "printer-waits", &text);
            }
            printer::Event::Failed { sale, why, .. } => {
                tracing::warn!(sale, %why, "receipt not printed");
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
    if sale.order().kind.is_undone_when_unknown() { State::Unconfirmed } else { State::UnconfirmedFinishing }
}

/// How a sale stands: state, outcome, and one sentence for the cashier.
fn standing(sale: &Sale) -> (State, Option<till::Outcome>, String) {
    let amount = sale.amount();
    match sale.standing() {
        Standing::Waiting if !sale.order().kind.needs_card() => {
            (State::InProgress, None, "Recorded, being sent".to_owned())
        }
        Standing::Waiting => (State::WaitingForCard, None, format!("Waiting for a card to pay {amount}")),
        Standing::InProgress => (State::InProgress, None, "Authorising, please wait".to_owned()),
        Standing::AtSignature => {
            let text =
                format!("APPROVED {amount}, SIGNATURE NEEDED: compare it with the card, then accept or refuse it");
            (State::AwaitingSignature, None, text)
        }
        Standing::Unconfirmed { why, trouble, quarantined } => {
            let doing = if sale.order().kind.is_undone_when_unknown() { "reversing" } else { "looking it up" };
            let text = match (quarantined, trouble) {
                (Some(quarantined), _) => format!("UNCONFIRMED, needs a person: {quarantined} (first: {why})"),
                (None, Some(trouble)) => format!("UNCONFIRMED, {doing}: {why}; last try: {trouble}"),
                (None, None) => format!("UNCONFIRMED, {doing}: {why}"),
            };
            (unconfirmed(sale), None, text)
        }
        Standing::Ended(outcome) => {
            let (word, text) = outcome_words(kind_of(&sale.order().kind), outcome, amount);
            (State::Ended, Some(word), text)
        }
    }
}

fn outcome_words(kind: till::Kind, outcome: &Outcome, amount: crate::money::Amount) -> (till::Outcome, String) {
    let (name, nothing) = match kind {
        till::Kind::Sale | till::Kind::ByRegistration => ("", "not charged"),
        till::Kind::PreAuthorisation => ("PRE-AUTHORISATION ", "nothing reserved"),
        till::Kind::Credit => ("CREDIT ", "nothing paid out"),
        till::Kind::Capture => ("CAPTURE ", "nothing captured"),
        till::Kind::Refund => ("REFUND ", "nothing refunded"),
        till::Kind::Reversal => ("REVERSAL ", "nothing reversed"),
        till::Kind::Increment => ("INCREMENT ", "nothing more reserved"),
        till::Kind::Reauthorisation => ("REAUTHORISATION ", "nothing reserved anew"),
    };
    match outcome {
        Outcome::Approved => (till::Outcome::Approved, format!("{name}APPROVED {amount}")),
        Outcome::PartiallyApproved { amount: part } => {
            (till::Outcome::PartiallyApproved, format!("{name}PARTIALLY APPROVED: only {part} of {amount}"))
        }
        Outcome::Declined { why } => (till::Outcome::Declined, format!("{name}DECLINED, {nothing}: {why}")),
        Outcome::Cancelled { why } => (till::Outcome::Cancelled, format!("{name}CANCELLED, {nothing}: {why}")),
        Outcome::NotSent { why } => (till::Outcome::NotSent, format!("{name}NOT SENT, {nothing}: {why}")),
        Outcome::Reversed { why } => (till::Outcome::Reversed, format!("{name}REVERSED, {nothing}: {why}")),
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

/// A kind in the till's words.
pub(super) fn kind_of(kind: &Kind) -> till::Kind {
    match kind {
        Kind::Sale => till::Kind::Sale,
        Kind::PreAuthorisation => till::Kind::PreAuthorisation,
        Kind::Credit => till::Kind::Credit,
        Kind::ByRegistration { .. } => till::Kind::ByRegistration,
        Kind::Capture { .. } => till::Kind::Capture,
        Kind::Refund { .. } => till::Kind::Refund,
        Kind::Reversal { .. } => till::Kind::Reversal,
        Kind::Increment { .. } => till::Kind::Increment,
        Kind::Reauthorisation { .. } => till::Kind::Reauthorisation,
    }
}

/// What a transaction is, for a till that used its reference again for something else.
pub(super) fn what_it_is(sale: &Sale) -> String {
    match kind_of(&sale.order().kind) {
        till::Kind::Sale => sale.order().amount.to_string(),
        kind => format!("{} ({})", sale.order().amount, kind.as_str()),
    }
}

fn step_words(step: &Step) -> (&'static str, String) {
    let plain = |word: &'static str, text: &str| (word, text.to_owned());
    match step {
        Step::PresentCard => plain("present-card", "Insert, tap or swipe the card"),
        Step::InsertCard => plain("insert-card", "Insert the card"),
        Step::SwipeCard => plain("swipe-card", "The chip cannot be read: take the card out and swipe it"),
        Step::TryAgain => plain("try-again", "Try again with one card"),
        Step::TypeCard => plain("type-card", "The card number is typed on the reader"),
        Step::ChoosingApplication => plain("choosing-application", "The customer chooses how to pay"),
        Step::ReadingCard => plain("reading-card", "Reading the card, leave it in"),
        Step::PinEntry { digits: Some(digits @ 1..) } => {
            ("pin-entry", format!("PIN {}", "*".repeat(usize::from((*digits).min(12)))))
        }
        Step::PinEntry { digits: None | Some(0) } => plain("pin-entry", "The customer enters the PIN"),
        Step::PinWrong { tries_left: None } => plain("pin-wrong", "Wrong PIN"),
        Step::PinWrong { tries_left: Some(0) } => plain("pin-wrong", "Wrong PIN, no tries left"),
        Step::PinWrong { tries_left: Some(1) } => plain("pin-wrong", "Wrong PIN, 1 try left"),
        Step::PinWrong { tries_left: Some(tries) } => ("pin-wrong", format!("Wrong PIN, {tries} tries left")),
        Step::PinDone => plain("pin-done", "PIN entered"),
        Step::ReaderText(text) => ("reader-text", text.chars().filter(|c| !c.is_control()).collect()),
        Step::RemoveCard => plain("remove-card", "Remove the card"),
    }
}
