//! The core: the transaction and its transitions. This module is pure: it has no clock, no I/O and no async code.
//!
//! **Every transition gives the records to write and the actions to carry out. The actions are not available before the
//! records are written.** [`Transaction::handle`] takes an event and gives a [`Step`] with the records and the actions.
//! The actions come out of a step only through [`crate::book`], which writes first. Only `Transaction::apply` changes
//! the state of the transaction. A replay of the journal after a power cut therefore runs the same code as live
//! operation.
//!
//! | state | entered by the record | the till receives | after a power cut |
//! |---|---|---|---|
//! | Waiting | `Started` | waiting for the card | cancelled: nothing was sent |
//! | Asked | `Asked`, on the disk before the request leaves | in progress | unknown: `Reversing` |
//! | AtChip | `HostApproved`, on the disk before the chip receives it; a partial approval is looked up first | in progress | `Reversing` the known payment |
//! | AtSignature | `SignatureAsked`: approved, the cardholder signs | check the signature | continues to wait for it |
//! | AwaitingTill | `TillAsked`: approved, and the till must confirm that it accepts the amount | confirm whether you accept the amount | continues to wait for it |
//! | Reversing | `Reversing` | unconfirmed, reversing | continues, and looks up before it sends anything again |
//! | Finishing | `Confirming`: a capture, refund, reversal or credit without an answer | unconfirmed | continues, and looks up before it sends anything again |
//! | Ended | `Ended` | the outcome | nothing to do |
//!
//! In each state except the first and the last, a transaction can be held (`Held`). It then waits until a person has
//! decided.
//!
//! A transaction without a card (captures, refunds, …) is `Asked` as soon as it is recorded. A tap, a swipe and a typed
//! card never enter AtChip, because the gateway's approval is final. `HostApproved` and `Ended` (or `SignatureAsked`,
//! or `TillAsked`) are then written together. Times are passed as arguments. A power cut may erase the `volatile` part
//! of a state: timers, and requests in flight.

mod action;
mod answer;
mod asked;
mod awaiting_till;
mod back_off;
mod decide;
mod event;
mod finishing;
mod gateway_answer;
mod held;
mod look_up;
mod part;
mod reason;
mod receipt;
mod record;
mod resolution;
mod reversals;
mod reversing;
mod seen;
mod signature;
mod standing;
mod state;
mod step;
mod still_charged;

pub use action::{Action, CardAnswer, Paper};
pub use answer::{
    Answer, Approval, ApprovedAmount, ForChip, HostFacts, Inquiry, ListedState, ListedTransaction, Refusal,
    ReversalAnswer,
};
pub use awaiting_till::PartMisfit;
pub use event::{Deadlines, Event, Now};
pub use reason::{Cause, Reason};
pub use receipt::{Original, Receipt, ReceiptOutcome};
pub use record::{Order, Outcome, Payment, Record};
pub use reversing::FRESH;
pub use standing::Standing;
pub use step::Step;

use pos_terms::card::CardFacts;
use pos_terms::money::Amount;
use pos_terms::transaction::Taken;
use state::{State, Volatile, VolatileWaiting, Waiting};

/// One transaction, from the till's request until it is known what happened to the money.
#[derive(Clone, Debug)]
pub struct Transaction {
    order: Order,
    /// The amount to charge: the order's amount plus its tip, or plus a typed tip once it is known.
    amount: Amount,
    tip: Option<Amount>,
    state: State,
    /// True if a request of this transaction once had no answer. A later decline then does not prove that nothing was
    /// carried out.
    doubted: bool,
    /// True if the gateway declined the transaction in a way that needed a look-up.
    decline_was_doubted: bool,
    /// True if an answer or a look-up showed that the gateway has received the transaction and has not decided it. Such
    /// a transaction never counts as "never received".
    was_listed: bool,
    /// The number of times that the request was sent and may have been read. It is one, plus one for each time that the
    /// agent concluded that the request was absent.
    tries: u32,
    /// The latest possible time of the last request, in milliseconds since 1970, UTC. It is corrected if the clock is
    /// set back later.
    asked_unix_ms: i64,
    /// The latest possible time of the beginning.
    begun_unix_ms: i64,
    /// The reason why a person must decide before the transaction can continue.
    held: Option<Cause>,
    /// True if a person has decided.
    decided: bool,
    /// A person's decision about the signature: true if it matches the card.
    signature: Option<bool>,
    /// The till's answer, if it was asked whether it accepts the approved amount.
    till_said: Option<Taken>,
    /// The known card data, for the receipt.
    card: Option<CardFacts>,
    /// The known data from the gateway.
    host: HostFacts,
    /// The time of the end, in milliseconds since 1970, UTC.
    ended_unix_ms: Option<i64>,
    /// The number of steps that wrote records, for the journal's order.
    steps: u32,
    volatile: Volatile,
}

impl Transaction {
    /// Begins a transaction with its first record. The reader then asks for a tip, if one is wanted, and waits for a
    /// card.
    pub fn begin(order: Order) -> (Self, Step) {
        if !order.kind().needs_card() {
            // The request is not sent in the same step. If the till receives "could not be recorded", the transaction
            // must not be carried out later.
            let step = Step::write([Record::Started { order: order.clone() }]).then([Action::Tell]);
            return (Self::waiting(order), step);
        }
        let first = if order.ask_tip { Action::AskTip } else { Action::Arm };
        let step = Step::write([Record::Started { order: order.clone() }]).then([first, Action::Tell]);
        let mut sale = Self::waiting(order);
        sale.state = State::Waiting(Waiting { volatile: VolatileWaiting { typing: sale.order.ask_tip } });
        (sale, step)
    }

    /// Replays a transaction from the records of its steps. Returns `None` if they do not begin with `Started`.
    #[must_use]
    pub fn replay(steps: &[Vec<Record>]) -> Option<Self> {
        let Record::Started { order } = steps.first()?.first()? else {
            return None;
        };
        let mut sale = Self::waiting(order.clone());
        for records in steps {
            sale.apply_step(records);
        }
        Some(sale)
    }

    /// Continues the replay from the point where the clock was set back.
    #[must_use]
    pub fn replay_on(mut self, steps: &[Vec<Record>]) -> Self {
        for records in steps {
            self.apply_step(records);
        }
        self
    }

    /// Handles a clock that was set back to this time (milliseconds since 1970, UTC). Everything recorded so far was
    /// done before this time, even if the earlier, wrong clock gave it a later one. Each recorded time after this time
    /// is therefore replaced by this time. The agent then neither concludes too early that a payment is absent, nor
    /// waits until the wrong time is reached.
    pub fn clock_was_set_back(&mut self, unix_ms: i64) {
        self.begun_unix_ms = self.begun_unix_ms.min(unix_ms);
        self.asked_unix_ms = self.asked_unix_ms.min(unix_ms);
    }

    fn waiting(order: Order) -> Self {
        // A sum that is too large is refused before the order is made.
        let total = order.tip.and_then(|tip| order.amount.plus(tip).ok()).unwrap_or(order.amount);
        Self {
            amount: total,
            tip: order.tip,
            begun_unix_ms: order.started_unix_ms,
            order,
            state: State::Waiting(Waiting::default()),
            doubted: false,
            decline_was_doubted: false,
            was_listed: false,
            tries: 0,
            asked_unix_ms: 0,
            held: None,
            decided: false,
            signature: None,
            till_said: None,
            card: None,
            host: HostFacts::default(),
            ended_unix_ms: None,
            steps: 0,
            volatile: Volatile::default(),
        }
    }

    /// Returns the order.
    #[must_use]
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Returns the amount to charge: the order's amount and the tip.
    #[must_use]
    pub fn amount(&self) -> Amount {
        self.amount
    }

    /// Returns the tip of the order, or the tip typed at the reader.
    #[must_use]
    pub fn tip(&self) -> Option<Amount> {
        self.tip
    }

    /// Returns the tip in an approved amount. The approved amount pays the order's amount first. In a partial approval,
    /// only the part above that amount is a tip.
    #[must_use]
    pub fn tip_in(&self, approved: Amount) -> Option<Amount> {
        self.tip.and_then(|_| approved.less(self.order.amount))
    }

    /// Returns the number of written steps. It is also the position of the next step in the journal.
    #[must_use]
    pub fn steps_written(&self) -> u32 {
        self.steps
    }

    /// Returns the known card data.
    #[must_use]
    pub fn card(&self) -> Option<&CardFacts> {
        self.card.as_ref()
    }

    /// Returns the known data from the gateway.
    #[must_use]
    pub fn host(&self) -> &HostFacts {
        &self.host
    }

    /// Returns the time of the end, in milliseconds since 1970, UTC. Returns `None` before the end, or if an earlier
    /// version recorded the end.
    #[must_use]
    pub fn ended_unix_ms(&self) -> Option<i64> {
        self.ended_unix_ms
    }
}

#[cfg(test)]
mod tests;
