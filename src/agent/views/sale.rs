//! A transaction as tills see it: the text for the cashier, and the codes for programs.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{SecondsFormat, TimeZone, Utc};

use crate::till::{CardView, LaterView, Refused, SaleState, SaleView, ToConfirm};
use pos_core::transaction::{Cause, Outcome, Standing, Transaction};
use pos_terms::card::Cryptogram;
use pos_terms::transaction::{Kind, OutcomeWord};
use pos_words::{Message, ReaderStep, Words};

/// The facts for the view, apart from the transaction itself.
pub(in crate::agent) struct SaleFacts {
    /// The earlier transaction, as far as the till may see it.
    pub(in crate::agent) of: Option<String>,
    /// The reason why this agent leaves the transaction alone.
    pub(in crate::agent) alone: Option<Cause>,
    /// True if the last step could not be written.
    pub(in crate::agent) stuck: bool,
    /// True if the transaction waits for the check for an outdated journal copy.
    pub(in crate::agent) held_up: bool,
    /// The refund of the rest.
    pub(in crate::agent) rest: Option<LaterView>,
    /// The confirmation that is expected from the till.
    pub(in crate::agent) to_confirm: Option<ToConfirm>,
    /// The last step that was announced.
    pub(in crate::agent) step: Option<&'static str>,
    /// The cardholder's language.
    pub(in crate::agent) language: Option<&'static str>,
    /// The current wait, if it has a time limit.
    pub(in crate::agent) wait: Option<Wait>,
    /// The ways in which the customer can get the receipt.
    pub(in crate::agent) offered: Offered,
}

/// The code word of the step at which a tip is chosen.
pub(in crate::agent) const CHOOSING_TIP: &str = "choosing-tip";

/// A wait with a time limit.
pub(in crate::agent) struct Wait {
    /// The end of the wait, in milliseconds since 1970.
    pub(in crate::agent) until_unix_ms: i64,
    pub(in crate::agent) left: Duration,
    /// The length of the whole wait.
    pub(in crate::agent) all: Duration,
}

/// The ways in which a customer can get the receipt of a completed transaction, besides paper that was already printed.
#[derive(Default)]
pub(in crate::agent) struct Offered {
    /// True if the customer's copy is printed only on demand.
    pub(in crate::agent) on_demand: bool,
    /// The address on the shop's server.
    pub(in crate::agent) url: Option<String>,
}

/// Returns whether the transaction's steps are announced. This stops when it has an outcome or is unconfirmed.
pub(in crate::agent) fn is_running(sale: &Transaction) -> bool {
    !matches!(sale.standing(), Standing::Ended(_) | Standing::Unconfirmed { .. })
}

/// Returns the transaction as tills see it.
pub(in crate::agent) fn sale_view(words: &Words, sale: &Transaction, facts: SaleFacts) -> SaleView {
    let SaleFacts { of, alone, stuck, held_up, rest, to_confirm, step, language, wait, offered } = facts;
    let order = sale.order();
    let (state, outcome, text) = if let Some(why) = &alone {
        (unconfirmed(sale), None, words.unconfirmed(order.kind(), why, None, Some(why)))
    } else if stuck {
        (unconfirmed(sale), None, words.label(Message::JournalCannotBeWritten).to_owned())
    } else if held_up {
        (unconfirmed(sale), None, words.label(Message::AskingWhetherSent).to_owned())
    } else if step == Some(CHOOSING_TIP) && matches!(sale.standing(), Standing::Waiting) {
        // The reader is not asking for a card yet.
        (SaleState::WaitingForCard, None, words.step(ReaderStep::ChoosingTip))
    } else {
        standing(words, sale)
    };
    // Who asks stands before what happens, until the transaction has ended.
    let is_of_fleet = order.by.as_ref().is_some_and(|by| by.fleet.is_some());
    let text = if is_of_fleet && outcome.is_none() { words.asked_by_fleet(&order.till, &text) } else { text };
    let approved = match sale.standing() {
        Standing::Ended(Outcome::Approved) => Some(sale.amount()),
        Standing::Ended(Outcome::PartiallyApproved { amount }) => Some(*amount),
        _ => None,
    };
    let (host, kind) = (sale.host(), order.kind());
    let (why, unsettled) = match sale.standing() {
        _ if alone.is_some() => (alone.as_ref(), alone.as_ref()),
        Standing::Ended(outcome) => (outcome.why(), None),
        Standing::Unconfirmed { why, trouble, quarantined } => (Some(why), quarantined.or(trouble)),
        _ => (None, None),
    };
    SaleView {
        till: order.till.clone(),
        reference: order.reference.clone(),
        by: order.by.clone(),
        number: order.number,
        receipt_number: order.number.on_four_digits(),
        training: order.training.is_some(),
        kind: order.kind(),
        of,
        left: None,
        later: Vec::new(),
        rest: rest.map(Box::new),
        amount: order.amount.decimal(),
        tip: sale.tip().map(pos_terms::money::Amount::decimal),
        currency: order.amount.currency().code().to_owned(),
        state,
        outcome,
        to_confirm,
        approved_amount: approved.filter(|_| kind.moves_money()).map(pos_terms::money::Amount::decimal),
        reason: why.map(|why| why.reason.as_str().to_owned()),
        unsettled: unsettled.map(|why| why.reason.as_str().to_owned()),
        text,
        needs_person: match sale.standing() {
            _ if let Some(why) = &alone => Some(words.technician(why)),
            Standing::Unconfirmed { quarantined: Some(why), .. } => Some(words.technician(why)),
            _ => None,
        },
        started_at: utc(order.started_unix_ms),
        ended_at: sale.ended_unix_ms().map(utc),
        replayed: false,
        language: language.map(ToOwned::to_owned),
        redirect_url: sale.customer_acts_at().map(str::to_owned),
        payment_id: host.id.clone().filter(|_| kind.moves_money()),
        code: host.code.clone(),
        approval_code: host.issuer_code.clone(),
        card: sale.card().map(|card| CardView {
            aid: card.aid.clone(),
            cryptogram: card.cryptogram.map(shown_cryptogram),
            verification: card.cvm.map(|cvm| cvm.as_str().to_owned()),
            entry_mode: card.entry.as_str().to_owned(),
            brand: host.brand.clone().or_else(|| card.label.clone()),
            last4: card.pan.as_ref().map(|pan| pan.last4().to_owned()).or_else(|| host.last4.clone()),
        }),
        // The issuer's text may say that the payment is approved.
        status_text: host.status_text.clone().filter(|_| state != SaleState::AwaitingTill),
        registration: match &host.id {
            Some(id) if kind == Kind::StoreCard && approved.is_some() => Some(id.to_string()),
            _ if kind == Kind::ForgetCard => order.operation.registration().map(str::to_owned),
            _ => host.more.get("registrationId").or_else(|| host.more.get("registration.id")).cloned(),
        },
        till_data: order.till_data.clone(),
        answer: BTreeMap::new(),
        step: step.filter(|_| is_running(sale)).map(ToOwned::to_owned),
        until: wait.as_ref().map(|wait| utc(wait.until_unix_ms)),
        left_s: wait.as_ref().and_then(|wait| wait.left.as_millis().div_ceil(1000).try_into().ok()),
        wait_s: wait.map(|wait| wait.all.as_secs()),
        receipt_on_demand: offered.on_demand && state == SaleState::Ended,
        receipt_url: offered.url.filter(|_| state == SaleState::Ended),
    }
}

pub(in crate::agent) fn utc(unix_ms: i64) -> String {
    Utc.timestamp_millis_opt(unix_ms).single().unwrap_or_default().to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn shown_cryptogram(cryptogram: Cryptogram) -> String {
    format!("{} {}", cryptogram.kind.as_str(), hex::encode_upper(cryptogram.value))
}

/// Returns the state of an unconfirmed transaction, which will be either reversed or finished.
fn unconfirmed(sale: &Transaction) -> SaleState {
    if sale.order().kind().is_undone_when_unknown() { SaleState::Unconfirmed } else { SaleState::UnconfirmedFinishing }
}

/// Returns the state, the outcome, and one sentence for the cashier.
fn standing(words: &Words, sale: &Transaction) -> (SaleState, Option<OutcomeWord>, String) {
    let (amount, kind) = (sale.amount(), sale.order().kind());
    match sale.standing() {
        Standing::Waiting if !kind.needs_card() => {
            (SaleState::InProgress, None, words.label(Message::BeingSent).to_owned())
        }
        Standing::Waiting if !kind.moves_money() => {
            (SaleState::WaitingForCard, None, words.label(Message::WaitingForCardToStore).to_owned())
        }
        Standing::Waiting => (SaleState::WaitingForCard, None, words.waiting_for_card(amount)),
        Standing::InProgress if let Some(url) = sale.customer_acts_at() => {
            (SaleState::InProgress, None, words.customer_acts(url))
        }
        Standing::InProgress => (SaleState::InProgress, None, words.label(Message::Authorising).to_owned()),
        Standing::AtSignature => {
            let text = words.compare_signature(amount, sale.order().till_confirms.is_some());
            (SaleState::AwaitingSignature, None, text)
        }
        Standing::AwaitingTill { approved } => (SaleState::AwaitingTill, None, words.till_confirms(approved)),
        Standing::Unconfirmed { why, trouble, quarantined } => {
            (unconfirmed(sale), None, words.unconfirmed(kind, why, trouble, quarantined))
        }
        Standing::Ended(outcome) => (SaleState::Ended, Some(outcome.word()), words.ended(kind, outcome, amount)),
    }
}

/// Checks that there is a receipt. There is none while the transaction waits for its card, the gateway or the till.
///
/// # Errors
/// Returns a refusal that names the transaction's state.
pub(in crate::agent) fn has_a_receipt(view: &SaleView) -> Result<(), Refused> {
    match view.state {
        SaleState::WaitingForCard | SaleState::InProgress | SaleState::AwaitingTill => {
            Err(Refused::NoReceiptYet { state: view.text.clone() })
        }
        SaleState::AwaitingSignature | SaleState::Unconfirmed | SaleState::UnconfirmedFinishing | SaleState::Ended => {
            Ok(())
        }
    }
}

/// Returns a later transaction as the earlier one's till may see it. Another till's reference is omitted.
pub(in crate::agent) fn later_view(view: SaleView, till: &str) -> LaterView {
    let SaleView { number, reference, kind, amount, approved_amount, currency, state, outcome, .. } = view;
    let (reference, amount) = ((view.till == till).then_some(reference), approved_amount.unwrap_or(amount));
    LaterView { number, reference, kind, amount, currency, state, outcome }
}
