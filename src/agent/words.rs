//! Sales and steps in the words of the till: what a cashier reads and a program branches on.

use std::collections::BTreeMap;

use chrono::{SecondsFormat, TimeZone, Utc};

use crate::printer;
use crate::reader::Step;
use crate::sale::{self, Answer, Copy, Kind, Outcome, Sale, Standing};
use crate::till::{self, CardView, KeysView, PrinterView, Progress, ReceiptCopy, SaleView, State, StatusView, Who};

use super::probing::{ANSWERS, THROTTLES};
use super::{Active, Agent};

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
            (State::Unconfirmed, None, text.to_owned())
        } else if self.old_copy.holds_up(order.number) {
            let text = "UNCONFIRMED: the terminal was restarted before the sale was sent; the gateway is being asked whether it holds it";
            (State::Unconfirmed, None, text.to_owned())
        } else {
            standing(sale)
        };
        let approved = match sale.standing() {
            Standing::Ended(Outcome::Approved) => Some(sale.amount()),
            Standing::Ended(Outcome::PartiallyApproved { amount }) => Some(*amount),
            _ => None,
        };
        let host = sale.host();
        let started = Utc.timestamp_millis_opt(order.started_unix_ms).single().unwrap_or_default();
        SaleView {
            till: order.till.clone(),
            reference: order.reference.clone(),
            by: order.by.as_ref().map(|by| Who { token: by.token.clone(), uid: by.uid }),
            number: order.number,
            kind,
            of,
            left: None,
            later: Vec::new(),
            amount: order.amount.decimal(),
            tip: sale.tip().map(crate::money::Amount::decimal),
            currency: order.amount.currency().code().to_owned(),
            state,
            outcome,
            approved_amount: approved.map(crate::money::Amount::decimal),
            text,
            needs_person: match sale.standing() {
                Standing::Unconfirmed { quarantined: Some(why), .. } => Some(why.to_owned()),
                _ => None,
            },
            started_at: started.to_rfc3339_opts(SecondsFormat::Secs, true),
            replayed: false,
            payment_id: host.id.clone(),
            card: sale.card().map(|card| CardView {
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
            State::WaitingForCard => "waiting-for-card",
            State::InProgress => "authorising",
            State::AwaitingSignature => "awaiting-signature",
            State::Unconfirmed => "unconfirmed",
            State::Ended => "ended",
        };
        tracing::info!(sale = number, step, outcome = view.outcome.map(till::Outcome::as_str), "sale");
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

    /// The terminal's state for somebody who `hears` of some tills: of the others' sales nothing is told.
    pub(super) fn status(&self, hears: impl Fn(&str) -> bool) -> StatusView {
        let is_theirs = |active: &&Active| hears(&active.sale.order().till);
        let current = self.at_reader.and_then(|number| self.sales.get(&number)).filter(is_theirs);
        let current = current.map(|active| self.view_of(&active.sale));
        let unconfirmed: Vec<_> = self
            .sales
            .values()
            .filter(is_theirs)
            .map(|active| self.view_of(&active.sale))
            .filter(|view| view.state == State::Unconfirmed)
            .collect();
        let mut attention: Vec<String> = Vec::new();
        attention.extend(self.reader_state.as_ref().err().cloned());
        attention.extend(self.journal_fault.as_ref().map(|fault| fault.why.clone()));
        if self.clock.local().is_none() {
            attention.push(self.clock.untrusted());
        }
        let alone = self.printers.len() == 1;
        attention.extend(self.printers().filter_map(|(config, printer)| {
            let what = printer.attention()?;
            Some(if alone {
                format!("the printer is {what}")
            } else {
                format!("the printer {} is {what}", config.name)
            })
        }));
        attention.extend(
            unconfirmed.iter().map(|view| format!("sale {} of till {}: {}", view.reference, view.till, view.text)),
        );
        attention.extend(self.old_copy.attention());
        attention.extend(self.gateway.attention());
        attention.extend(self.clocks_differ());
        let theirs = self.sales.values().filter(is_theirs);
        let signatures = theirs.filter(|active| active.sale.standing() == Standing::AtSignature);
        attention.extend(signatures.map(|active| {
            let order = active.sale.order();
            format!("sale {} of till {} waits for its signature to be compared", order.reference, order.till)
        }));
        attention.extend(self.keys_run_out());
        StatusView {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            terminal_id: self.config.terminal.id.clone(),
            currency: Some(self.config.terminal.currency.clone()),
            ready: self.reader_state.is_ok()
                && self.journal_fault.is_none()
                && self.clock.local().is_some()
                && self.at_reader.is_none(),
            attention,
            reader: match &self.reader_state {
                Ok(identity) => format!("{} {}, serial {}", identity.model, identity.firmware, identity.serial),
                Err(why) => why.clone(),
            },
            gateway: format!("{}: {}", self.config.gateway.url, self.gateway_state),
            printers: self
                .printers()
                .map(|(config, printer)| PrinterView {
                    name: config.name.clone(),
                    port: config.port.clone(),
                    state: printer.state(),
                })
                .collect(),
            // Those who serve it say how it stands.
            http: None,
            reader_details: self.reader_view(),
            keys_left: self.keys_left,
            logging: self.log_view(),
            health: Some(self.health()),
            current,
            unconfirmed,
        }
    }

    /// Keys are used up one by one, and a reader without them takes no card: warned of while there is time to inject new ones.
    pub(super) fn keys_run_out(&self) -> Option<String> {
        let KeysView { card, pin } = self.keys_left?;
        let fewest = card.into_iter().chain(pin).min()?;
        (fewest < self.config.reader.warn_keys_left)
            .then(|| format!("the reader has keys for {fewest} more payments: have new ones injected"))
    }

    /// What the printer reports is shown, and changes no sale.
    pub(super) fn printer_says(&mut self, event: printer::Event) {
        match event {
            printer::Event::Printed { sale, copy, duplicate } => {
                tracing::debug!(sale, ?copy, duplicate, "receipt printed");
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
            (State::Unconfirmed, None, text)
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
        Outcome::Reversed { why } => (till::Outcome::Declined, format!("{name}DECLINED, reversed, {nothing}: {why}")),
    }
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

/// What the status says of the gateway after an answer.
pub(super) fn gateway_state(answer: &Answer) -> String {
    match answer {
        Answer::Approved(_) | Answer::Declined(_) | Answer::Pending { .. } => ANSWERS.to_owned(),
        Answer::Throttled(_) => THROTTLES.to_owned(),
        Answer::NotSent { why } | Answer::Unknown { why } | Answer::NotOurs { why } => why.clone(),
    }
}
