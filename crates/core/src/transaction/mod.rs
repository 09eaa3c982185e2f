//! THE CORE: what a sale is and what may happen next. Pure: no clock, no I/O, no async.
//!
//! **Every transition says what to write, then what to do; the doing cannot be had without the writing.**
//! [`Transaction::handle`] looks at the sale and an event and gives a [`Step`]: records to write and actions to carry out. The
//! actions come out of a step only through [`crate::book`], which writes first. Only `Transaction::apply` moves the sale from
//! state to state, so that replaying the journal after a power cut is the live path.
//!
//! | state | entered by the record | the till hears | after a power cut |
//! |---|---|---|---|
//! | Waiting | `Started` | waiting for the card | cancelled: nothing was sent |
//! | Asked | `Asked`, on the disk before the request leaves | in progress | unknown: `Reversing` |
//! | AtChip | `HostApproved`, on the disk before the chip hears it; a part is looked up first | in progress | `Reversing` the known payment |
//! | AtSignature | `SignatureAsked`: approved, the cardholder signs | check the signature | goes on waiting for it |
//! | AwaitingTill | `TillAsked`: approved, and the till is to confirm that it takes it | say whether you take it | goes on waiting for it |
//! | Reversing | `Reversing` | unconfirmed, reversing | goes on, looking up before it sends anything again |
//! | Confirming | `Finishing`: a capture, refund, reversal or credit without an answer | unconfirmed | goes on, looking up before it sends anything again |
//! | Ended | `Ended` | the outcome | nothing to do |
//!
//! In each state but the first and the last a sale can be held (`Held`): then nothing goes on until a person has
//! decided.
//!
//! What needs no card (captures, refunds, …) is `Asked` as soon as it is recorded. A tap, a swipe and a typed card
//! never enter AtChip: the host's approval is final and `HostApproved` and `Ended` (or `SignatureAsked`, or
//! `TillAsked`) are written together. Times are arguments; what a power cut may forget (timers, what is in flight) is
//! the `volatile` part of its state.

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

/// One sale, from the till's wish to the end of every doubt about its money.
#[derive(Clone, Debug)]
pub struct Transaction {
    order: Order,
    /// What is charged: the order's amount and its tip, and a tip once it was typed.
    amount: Amount,
    tip: Option<Amount>,
    state: State,
    /// A request of this transaction once had no answer: no later answer can say that nothing happened.
    doubted: bool,
    /// The gateway declined it in a way that had to be looked up.
    decline_was_doubted: bool,
    /// The gateway has had it, as it answered or as a look showed, and it is not decided what it did: it is not "never
    /// received".
    was_listed: bool,
    /// How often the request was sent, and may have been read: once, and again each time its absence was believed.
    tries: u32,
    /// When the request was last sent, milliseconds since 1970, UTC; at the latest, when the clock was set back since.
    asked_unix_ms: i64,
    /// When it began, at the latest.
    begun_unix_ms: i64,
    /// Why a person must decide before anything goes on.
    held: Option<Cause>,
    /// A person has decided.
    decided: bool,
    /// What a person said of the signature: whether it is the card's.
    signature: Option<bool>,
    /// What the till said, when it was asked whether it takes the sale.
    till_said: Option<Taken>,
    /// Facts of the card, as far as they are known: they fill the receipt.
    card: Option<CardFacts>,
    /// Facts of the host, as far as they are known.
    host: HostFacts,
    /// When it ended, milliseconds since 1970, UTC.
    ended_unix_ms: Option<i64>,
    /// Steps that wrote something, for the journal's order.
    steps: u32,
    volatile: Volatile,
}

impl Transaction {
    /// A new sale: the first record, then the reader is armed, or first asks for a tip.
    pub fn begin(order: Order) -> (Self, Step) {
        if !order.kind().needs_card() {
            // Not asked in the same breath: a till that hears that it could not be recorded must not find it carried
            // out later.
            let step = Step::write([Record::Started { order: order.clone() }]).then([Action::Tell]);
            return (Self::waiting(order), step);
        }
        let first = if order.ask_tip { Action::AskTip } else { Action::Arm };
        let step = Step::write([Record::Started { order: order.clone() }]).then([first, Action::Tell]);
        let mut sale = Self::waiting(order);
        sale.state = State::Waiting(Waiting { volatile: VolatileWaiting { typing: sale.order.ask_tip } });
        (sale, step)
    }

    /// Replays a sale from what its steps wrote. `None` when that does not begin with `Started`.
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

    /// Goes on replaying, from where the clock was set back.
    #[must_use]
    pub fn replay_on(mut self, steps: &[Vec<Record>]) -> Self {
        for records in steps {
            self.apply_step(records);
        }
        self
    }

    /// The clock was set back to this time (milliseconds since 1970, UTC): all that was done until now had been done by
    /// then, whatever a clock that was ahead has written. From then on it counts as that old, and no older: a payment
    /// that is absent is neither believed to be so too early, nor waited for until the wrong time has come.
    pub fn clock_was_set_back(&mut self, unix_ms: i64) {
        self.begun_unix_ms = self.begun_unix_ms.min(unix_ms);
        self.asked_unix_ms = self.asked_unix_ms.min(unix_ms);
    }

    fn waiting(order: Order) -> Self {
        // A sum that is too large was refused before it was ordered.
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

    /// The terms.
    #[must_use]
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// What is charged: the order's amount and the tip.
    #[must_use]
    pub fn amount(&self) -> Amount {
        self.amount
    }

    /// The tip: of the order, or typed at the reader.
    #[must_use]
    pub fn tip(&self) -> Option<Amount> {
        self.tip
    }

    /// What of an amount that was approved is a tip: it pays for the sale first, so that of a part only what is above
    /// the sale's own amount is one.
    #[must_use]
    pub fn tip_in(&self, approved: Amount) -> Option<Amount> {
        self.tip.and_then(|_| approved.less(self.order.amount))
    }

    /// How many steps were written so far: the place of the next one in the journal.
    #[must_use]
    pub fn steps_written(&self) -> u32 {
        self.steps
    }

    /// The card, as far as it is known.
    #[must_use]
    pub fn card(&self) -> Option<&CardFacts> {
        self.card.as_ref()
    }

    /// What the host said, as far as it did.
    #[must_use]
    pub fn host(&self) -> &HostFacts {
        &self.host
    }

    /// When it ended, milliseconds since 1970, UTC; `None` as long as it has not, or if an earlier program ended it.
    #[must_use]
    pub fn ended_unix_ms(&self) -> Option<i64> {
        self.ended_unix_ms
    }
}

#[cfg(test)]
mod tests;
