//! The trainer, which simulates the customer, the card, the reader and the gateway in training mode. The cashier sees
//! the real pages, but no money moves.
//!
//! It receives each [`Action`] that the core requests from a device. It returns the resulting events, each with its
//! delay ([`TrainingEvent`]). It is pure: it opens no device and no connection. It must not use the reader or the
//! gateway modules (`tests/rules/layers.rs`).
//!
//! The training result is the transaction's [`TrainingResult`]. With `by-amount` the last two digits of the amount
//! choose it:
//!
//! | digits | outcome | | digits | outcome |
//! |---|---|---|---|---|
//! | `01` | declined | | `05` | cancelled |
//! | `02` | partial | | `06` | no-card |
//! | `03` | signature | | `07` | not-sent |
//! | `04` | unconfirmed | | `08` | reversed |
//!
//! Every other amount is approved. For transactions without a card (captures, refunds, voids, …), only `declined`,
//! `unconfirmed` and `not-sent` have an effect. All other results count as `approved`. With a stored card, `partial`
//! has an effect too.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::transaction::{
    Action, Answer, Approval, ApprovedAmount, Cause, Event, ForChip, HostFacts, Inquiry, ListedState,
    ListedTransaction, Order, Reason, Refusal, ReversalAnswer, Transaction,
};
use pos_terms::card::{CardFacts, Cvm, EntryMode, FirstAnswer, MaskedPan};
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, PaymentId, TrainingResult};

/// The first characters of every training payment id. Such an id has 32 letters and digits, like a gateway's id. No
/// gateway issues an id that starts with these characters.
const ID: &str = "training";

/// The delay until the card is presented: long enough to read the page, and short enough for practice.
const CARD: Duration = Duration::from_millis(1000);
/// The delay of the gateway's answer.
const BANK: Duration = Duration::from_millis(800);
/// The delay of the chip's final answer.
const CHIP: Duration = Duration::from_millis(300);
/// The delay of a look-up. It is long enough to read the page "unconfirmed".
const LOOK: Duration = Duration::from_millis(2000);
/// The delay until the time-out if no card is presented.
const NOBODY: Duration = Duration::from_millis(3000);
/// The tip, in percent, that the customer types at the reader on request.
const TIP_PERCENT: u8 = 10;

/// An event in training mode.
#[derive(Clone, Debug)]
pub enum TrainingEvent {
    /// The customer is asked to present the card.
    PresentCard,
    /// The customer types the PIN.
    PinEntry,
    /// The customer removes the card.
    RemoveCard,
    /// The transaction receives this event.
    Heard(Event),
    /// The reader is free for the next transaction.
    Free,
}

/// An event and its delay after the previous one.
pub type Timed = (Duration, TrainingEvent);

/// The trainer. It remembers which payments were reversed, as a gateway does.
#[derive(Debug, Default)]
pub struct Trainer {
    reversed: BTreeMap<String, ListedTransaction>,
}

/// Returns whether a payment id is a training id.
#[must_use]
pub fn is_of_training(id: &PaymentId) -> bool {
    id.as_str().starts_with(ID)
}

/// Returns the training result of a transaction.
#[must_use]
pub fn training_result(order: &Order) -> TrainingResult {
    match order.training {
        Some(TrainingResult::ByAmount) => by_amount(order.amount),
        Some(result) => result,
        None => TrainingResult::Approved,
    }
}

/// Returns the training result that the last two digits of an amount choose.
#[must_use]
pub fn by_amount(amount: Amount) -> TrainingResult {
    match amount.minor() % 100 {
        1 => TrainingResult::Declined,
        2 => TrainingResult::Partial,
        3 => TrainingResult::Signature,
        4 => TrainingResult::Unconfirmed,
        5 => TrainingResult::Cancelled,
        6 => TrainingResult::NoCard,
        7 => TrainingResult::NotSent,
        8 => TrainingResult::Reversed,
        _ => TrainingResult::Approved,
    }
}

impl Trainer {
    /// Returns the events that follow this action, or `None` if the action concerns no device.
    pub fn plays(&mut self, sale: &Transaction, action: &Action) -> Option<Vec<Timed>> {
        let soon = |event| vec![(BANK, TrainingEvent::Heard(event))];
        Some(match action {
            Action::AskTip => vec![(CARD, TrainingEvent::Heard(Event::TipTyped { tip: tip(sale.order().amount) }))],
            Action::Arm => customer(sale),
            Action::StopReader => stopped(Reason::TillCancelled, Duration::ZERO),
            Action::AnswerCard(answer) => {
                let confirmed = answer.arc == *b"00" && training_result(sale.order()) != TrainingResult::Reversed;
                let said = Event::CardSaid { confirmed, facts: sale.card().cloned().map(Box::new) };
                vec![
                    (CHIP, TrainingEvent::RemoveCard),
                    (Duration::ZERO, TrainingEvent::Heard(said)),
                    (CHIP, TrainingEvent::Free),
                ]
            }
            Action::Ask | Action::Poll { .. } => soon(Event::Answered(bank(sale))),
            Action::Query { .. } => vec![(LOOK, TrainingEvent::Heard(Event::Inquired(self.listed(sale))))],
            Action::Reverse { payment, amount, reference } => soon(self.reverse(payment, *amount, reference)),
            Action::Alarm { .. } | Action::Print(_) | Action::Tell => return None,
        })
    }

    fn reverse(&mut self, payment: &PaymentId, amount: Amount, reference: &str) -> Event {
        let digits = payment.as_str().strip_prefix(ID).unwrap_or_default().trim_start_matches('0');
        let id = PaymentId::new(format!("{ID}reversal{digits:0>16}"));
        let listed = ListedTransaction {
            id: id.clone(),
            payment_type: Kind::Reversal.payment_type().to_owned(),
            amount: ApprovedAmount::Said(amount),
            state: ListedState::Approved,
            reference: Some(reference.to_owned()),
            refers_to: Some(payment.clone()),
        };
        self.reversed.insert(payment.as_str().to_owned(), listed);
        let reversal = ReversalAnswer::Done { id, amount: ApprovedAmount::Said(amount) };
        Event::ReversalAnswered { reference: reference.to_owned(), reversal }
    }

    /// Returns the result of a look-up, which shows that the gateway had received the request.
    fn listed(&self, sale: &Transaction) -> Inquiry {
        let order = sale.order();
        let own = ListedTransaction {
            id: id(order),
            payment_type: order.kind().payment_type().to_owned(),
            amount: ApprovedAmount::Said(approved(sale)),
            state: ListedState::Approved,
            reference: Some(order.merchant_transaction_id.clone()),
            refers_to: None,
        };
        let reversal = self.reversed.get(own.id.as_str()).cloned();
        Inquiry::Payments([own].into_iter().chain(reversal).collect())
    }
}

/// Returns the events of a customer who is asked for a card.
fn customer(sale: &Transaction) -> Vec<Timed> {
    let order = sale.order();
    let result = training_result(order);
    let mut events = vec![(Duration::ZERO, TrainingEvent::PresentCard)];
    match result {
        TrainingResult::Cancelled => events.extend(stopped(Reason::CustomerCancelled, CARD)),
        TrainingResult::NoCard => events.extend(stopped(Reason::CardTimeout, NOBODY)),
        result => {
            let facts = card(order, result);
            let read = Event::CardRead { facts, first_answer: FirstAnswer::GoOnline };
            if result != TrainingResult::Signature && !order.manual {
                events.push((CARD, TrainingEvent::PinEntry));
            }
            events.push((CARD, TrainingEvent::Heard(read)));
        }
    }
    events
}

fn stopped(why: Reason, after: Duration) -> Vec<Timed> {
    let why = Cause::from(why);
    vec![(after, TrainingEvent::Heard(Event::NoCard { why })), (Duration::ZERO, TrainingEvent::Free)]
}

/// Returns card data that cannot be mistaken for that of a real card.
fn card(order: &Order, result: TrainingResult) -> CardFacts {
    let cvm = match result {
        TrainingResult::Signature => Cvm::Signature,
        _ if order.manual => Cvm::None,
        _ => Cvm::OnlinePin,
    };
    CardFacts {
        entry: if order.manual { EntryMode::Manual } else { EntryMode::Icc },
        pan: MaskedPan::new("000000******0000"),
        pan_sequence_number: None,
        aid: None,
        label: Some("TRAINING".to_owned()),
        cvm: Some(cvm),
        cryptogram: None,
        tvr: None,
        tsi: None,
        iad: None,
    }
}

/// Returns the gateway's answer.
fn bank(sale: &Transaction) -> Answer {
    let facts = HostFacts { id: Some(id(sale.order())), last4: Some("0000".to_owned()), ..HostFacts::default() };
    match training_result(sale.order()) {
        TrainingResult::Declined => Answer::Declined(Box::new(Refusal {
            why: Reason::BankDeclined.into(),
            for_chip: ForChip::default(),
            facts,
        })),
        TrainingResult::NotSent => Answer::NotSent { why: Reason::GatewayUnreachable.into() },
        TrainingResult::Unconfirmed => Answer::Unknown { why: Reason::GatewayNoAnswer.into() },
        _ => Answer::Approved(Box::new(Approval {
            id: id(sale.order()),
            amount: ApprovedAmount::Said(approved(sale)),
            for_chip: ForChip::default(),
            facts: HostFacts { issuer_code: Some("TRAIN".to_owned()), ..facts },
        })),
    }
}

/// Returns the approved amount. This is half of the amount if the training result is `partial` and the kind allows a
/// partial approval. Otherwise it is the full amount.
fn approved(sale: &Transaction) -> Amount {
    let (order, whole) = (sale.order(), sale.amount());
    let kind = order.kind();
    let in_part = kind.till_may_refuse_a_part() && !kind.has_earlier();
    if training_result(order) != TrainingResult::Partial || !in_part {
        return whole;
    }
    Amount::from_minor(whole.minor() / 2, whole.currency()).unwrap_or(whole)
}

fn tip(amount: Amount) -> Option<Amount> {
    amount.percent(TIP_PERCENT)
}

/// Returns the payment id. It is the same after every restart.
fn id(order: &Order) -> PaymentId {
    PaymentId::new(format!("{ID}{:0>24}", order.number.get()))
}

#[cfg(test)]
mod tests;
