//! THE CORE: what a sale is and what may happen next. Pure: no clock, no I/O, no async.
//!
//! **Every transition says what to write, then what to do; the doing cannot be had without the writing.**
//! [`Sale::handle`] looks at the sale and an event and gives a [`Step`]: records to write and actions to carry out. The
//! actions come out of a step only against [`Written`], which the journal alone can make, and only `Sale::apply` moves
//! the sale from state to state, so that replaying the journal after a power cut is the live path.
//!
//! | state | entered by the record | the till hears | after a power cut |
//! |---|---|---|---|
//! | Waiting | `Started` | waiting for the card | cancelled: nothing was sent |
//! | Asked | `Asked`, on the disk before the request leaves | in progress | unknown: `Reversing` |
//! | AtChip | `HostApproved`, on the disk before the chip hears it | in progress | `Reversing` the known payment |
//! | AtSignature | `SignatureAsked`: approved, the cardholder signs | check the signature | goes on waiting for it |
//! | Reversing | `Reversing` | unconfirmed, reversing | goes on, looking up before it sends anything again |
//! | Confirming | `Confirming`: a capture, refund, reversal or credit without an answer | unconfirmed | goes on, looking up before it sends anything again |
//! | Ended | `Ended` | the outcome | nothing to do |
//!
//! In each state but the first and the last a sale can be held (`Held`): then nothing goes on until a person has
//! decided.
//!
//! What needs no card (captures, refunds, …) is `Asked` as soon as it is recorded. A tap, a swipe and a typed card
//! never enter AtChip: the host's approval is final and `HostApproved` and `Ended` (or `SignatureAsked`) are written
//! together. Times are arguments; what a power cut may forget (timers, what is in flight) is in `Volatile`.

mod answer;
mod back_off;
mod confirming;
mod decide;
mod held;
mod look_up;
mod reason;
mod receipt;
mod record;
mod reversing;
mod signature;

use std::time::Duration;

pub use answer::{Answer, Approval, ApprovedAmount, ForChip, Found, FoundState, HostFacts, Inquiry, Refusal, Reversal};
pub use reason::{Reason, Why};
pub use receipt::{Original, Receipt, ReceiptOutcome};
pub use record::{Order, Outcome, Payment, Record};
pub use reversing::FRESH;

use crate::card::{CardFacts, FirstAnswer};
use crate::money::Amount;
use crate::transaction::{PaymentId, Who};
use confirming::Confirming;
use reversing::Reversing;

/// One sale, from the till's wish to the end of every doubt about its money.
#[derive(Clone, Debug)]
pub struct Sale {
    order: Order,
    /// What is charged: the order's amount, and the tip once it was typed.
    amount: Amount,
    tip: Option<Amount>,
    state: State,
    /// A request of this transaction once had no answer: no later answer can say that nothing happened.
    doubted: bool,
    /// The gateway has had it without a decision, as it answered or as a look showed: it is not "never received".
    was_listed: bool,
    /// How often the request was sent, and may have been read: once, and again each time its absence was believed.
    tries: u32,
    /// When the request was last sent, milliseconds since 1970, UTC; at the latest, when the clock was set back since.
    asked_unix_ms: i64,
    /// When it began, at the latest.
    begun_unix_ms: i64,
    /// Why a person must decide before anything goes on.
    held: Option<Why>,
    /// A person has decided.
    decided: bool,
    /// What a person said of the signature: whether it is the card's.
    signature: Option<bool>,
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

/// A struct for each state, so that a field exists only when it means something.
#[derive(Clone, Debug)]
enum State {
    Waiting,
    Asked,
    AtChip { payment: PaymentId, approved: Amount },
    AtSignature { payment: Payment },
    Reversing(Reversing),
    Confirming(Confirming),
    Ended(Outcome),
}

/// What a power cut may forget. Only this may change outside of `Sale::apply`.
#[derive(Clone, Debug, Default)]
struct Volatile {
    /// The till asked to cancel, and the reader was told to stop.
    cancelling: bool,
    /// Who asked to cancel.
    cancelled_by: Option<Who>,
    /// The cardholder is asked for a tip; the card comes after it.
    typing: bool,
    /// Until when the signature must have been checked.
    signature_until: Option<Duration>,
    /// The card waits for its answer, or was given it and has not confirmed: the receipt waits for the last cryptogram.
    card_open: bool,
    /// A pending payment to ask for again: its id, when, and until when.
    poll: Option<Poll>,
    /// The gateway had too many requests: when to ask again.
    throttled: Option<Throttled>,
    /// Timers of what is looked up and carried out.
    confirming: confirming::Timers,
    /// Timers of a reversal.
    reversal: reversing::Timers,
}

#[derive(Clone, Debug)]
struct Poll {
    payment: PaymentId,
    at: Duration,
    until: Duration,
}

/// A request that the gateway certainly did not process, to be made again.
#[derive(Clone, Debug)]
struct Throttled {
    tries: u32,
    /// `None` while it is on its way again.
    at: Option<Duration>,
    until: Duration,
}

/// The moment something happens: a monotonic time for deadlines, the wall clock for what outlives the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Since some fixed moment of this process.
    pub monotonic: Duration,
    /// Milliseconds since 1970, UTC; never used for order (design: invariant 8).
    pub unix_ms: i64,
}

/// The deadlines of the core, each with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// How long a pending payment is asked for before its outcome is unknown (config: `answer-timeout-ms`).
    pub pending: Duration,
    /// How long an absent payment may still appear (config: `absence-final-after-h`; design: path of a sale, 9).
    pub absence_final: Duration,
    /// How long a reversal without an answer must have been absent before it is sent again: longer than a gateway may
    /// take to carry out what it has read (config: `resend-after-s`).
    pub resend: Duration,
    /// The gateway refuses a reference that it has seen before. Then a capture or refund is sent again as soon as a
    /// reversal; else only when its absence is final (config: `refuses-repeated-references`; design: invariant 11).
    pub refuses_repeats: bool,
    /// How long somebody at the counter may take to compare a signature; without an answer the payment is reversed, for
    /// an approval whose signature nobody looked at is not the shop's to keep. `None`: the slip is signed and nobody is
    /// asked (config: `confirm-signature`, `signature-timeout-s`).
    pub signature: Option<Duration>,
}

/// What can happen to a sale.
#[derive(Clone, Debug)]
pub enum Event {
    /// It is recorded and needs no card: go on.
    Proceed,
    /// The cardholder typed a tip at the reader, or wants to give none.
    TipTyped {
        /// The tip.
        tip: Option<Amount>,
    },
    /// The reader read a card for this sale.
    CardRead {
        /// Its facts.
        facts: CardFacts,
        /// What the chip wants.
        first_answer: FirstAnswer,
    },
    /// The reader gave up; no card was read and nothing needs to be sent.
    NoCard {
        /// Why.
        why: Why,
    },
    /// The reader went away.
    ReaderLost,
    /// The card had its say.
    CardSaid {
        /// Whether it confirmed (TC, or a card without a say).
        confirmed: bool,
        /// Its facts with the last cryptogram.
        facts: Option<Box<CardFacts>>,
    },
    /// The request for the payment could not be made from the data (a value the interface does not take).
    CannotAsk {
        /// Why.
        why: Why,
    },
    /// The gateway answered the payment, or a question for a pending one.
    Answered(Answer),
    /// The gateway answered a query.
    Inquired(Inquiry),
    /// The gateway answered a reversal.
    ReversalAnswered {
        /// The reversal's own reference.
        reference: String,
        /// What became of it.
        reversal: Reversal,
    },
    /// Somebody at the counter compared the signature.
    SignatureChecked {
        /// Whether it is the card's.
        accepted: bool,
        /// Who; nobody where the terminal accepts it by itself.
        by: Option<Who>,
    },
    /// This journal was found to be an old copy of itself.
    OldCopy {
        /// How that shows.
        why: Why,
    },
    /// A person has decided what becomes of a sale that is held.
    Settle {
        /// What was paid stays; otherwise it is reversed.
        keep: bool,
        /// Who.
        by: Option<Who>,
    },
    /// The till wants to cancel.
    CancelAsked {
        /// Who; nobody when the terminal is being stopped.
        by: Option<Who>,
    },
    /// A good moment to try an open reversal again: the network is back, or the next sale begins.
    Nudged,
    /// A deadline of [`Sale::deadline`] has passed.
    DeadlinePassed,
    /// The program was started anew and found this sale open.
    Restarted,
}

/// What to do, once the step is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Let the reader ask for a tip.
    AskTip,
    /// Let the reader wait for a card.
    Arm,
    /// Let the reader stop waiting.
    StopReader,
    /// Send the request. It comes out of a sale again only after the gateway said that it did not process it
    /// (800.120.100), or, for a capture, refund or reversal, after it was looked up and not found.
    Ask,
    /// Ask what became of a pending payment.
    Poll {
        /// Its id.
        payment: PaymentId,
    },
    /// Give the card its answer.
    AnswerCard(Box<CardAnswer>),
    /// Look up what the gateway knows under these references, the sale's own first, with all that is linked to it.
    Query {
        /// Our references at the gateway.
        references: Vec<String>,
    },
    /// Reverse a payment, or what is left of it.
    Reverse {
        /// Its id.
        payment: PaymentId,
        /// How much of it.
        amount: Amount,
        /// The reversal's own reference.
        reference: String,
    },
    /// A person must hear of it: what no gateway should do was done, or nothing goes on by itself.
    Alarm {
        /// What.
        why: Why,
    },
    /// Print the receipt.
    Print(Paper),
    /// Tell the till how the sale stands now.
    Tell,
}

/// Which paper of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Every copy that the terminal prints by itself.
    Copies,
    /// The merchant's copy, for the cardholder to sign; printed whatever copies the terminal prints by itself.
    SignatureSlip,
    /// What is left of the copies after the signature slip.
    AfterSignature,
}

/// The host's answer for the card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardAnswer {
    /// Authorisation response code (8A).
    pub arc: [u8; 2],
    /// Issuer authentication data (91).
    pub issuer_authentication: Option<heapless::Vec<u8, 16>>,
    /// Issuer scripts (71, 72).
    pub scripts: heapless::Vec<u8, 512>,
}

/// 8A "Z1": declined offline, unable to go online. Never Z3 or Y3: the card might approve by itself.
const ARC_DECLINE: [u8; 2] = *b"Z1";
/// 8A "00": approved.
const ARC_APPROVE: [u8; 2] = *b"00";

impl CardAnswer {
    fn decline() -> Self {
        Self { arc: ARC_DECLINE, issuer_authentication: None, scripts: heapless::Vec::new() }
    }
}

/// What to write and then to do.
#[must_use = "a step that is dropped loses what it should have written and done"]
#[derive(Debug)]
pub struct Step {
    records: Vec<Record>,
    actions: Vec<Action>,
}

/// Proof that a step's records are on the disk. Only `journal` makes one (kept by `tests/rules/layers.rs`).
#[derive(Debug)]
pub struct Written(());

impl Written {
    /// Called by the journal after the sync, and by nobody else.
    pub(crate) fn after_sync() -> Self {
        Self(())
    }
}

impl Step {
    /// What must be written, in order; may be nothing.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Moves the sale and gives out the actions. The journal calls it after the sync.
    #[must_use]
    pub fn commit(self, sale: &mut Sale, _: Written) -> Vec<Action> {
        sale.apply_step(&self.records);
        self.actions
    }

    fn none() -> Self {
        Self { records: Vec::new(), actions: Vec::new() }
    }

    fn act(actions: impl IntoIterator<Item = Action>) -> Self {
        Self { records: Vec::new(), actions: actions.into_iter().collect() }
    }

    fn write(records: impl IntoIterator<Item = Record>) -> Self {
        Self { records: records.into_iter().collect(), actions: Vec::new() }
    }

    fn then(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.actions.extend(actions);
        self
    }

    /// A person caused it.
    fn by(mut self, who: Option<Who>) -> Self {
        for record in &mut self.records {
            if let Record::Reversing { by, .. } | Record::Settled { by, .. } | Record::Ended { by, .. } = record {
                by.clone_from(&who);
            }
        }
        self
    }

    /// An end says when it was.
    fn at(mut self, now: Now) -> Self {
        for record in &mut self.records {
            if let Record::Ended { at_unix_ms, .. } = record {
                *at_unix_ms = Some(now.unix_ms);
            }
        }
        self
    }

    /// A person must hear of it too.
    fn alarm(self, why: impl Into<Why>) -> Self {
        self.then([Action::Alarm { why: why.into() }])
    }
}

/// How a sale stands, for the till and for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing<'a> {
    /// Waiting for a card.
    Waiting,
    /// Asked, or the chip has its say.
    InProgress,
    /// Approved; the cardholder's signature is to be compared.
    AtSignature,
    /// The gateway may hold an approval; why it is not known.
    Unconfirmed {
        /// What happened.
        why: &'a Why,
        /// Why the last try to settle it did not.
        trouble: Option<&'a Why>,
        /// Retrying cannot mend it; a person must look.
        quarantined: Option<&'a Why>,
    },
    /// Ended.
    Ended(&'a Outcome),
}

impl Sale {
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
        sale.volatile.typing = sale.order.ask_tip;
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
        Self {
            amount: order.amount,
            tip: None,
            begun_unix_ms: order.started_unix_ms,
            order,
            state: State::Waiting,
            doubted: false,
            was_listed: false,
            tries: 0,
            asked_unix_ms: 0,
            held: None,
            decided: false,
            signature: None,
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

    /// The tip that was typed at the reader.
    #[must_use]
    pub fn tip(&self) -> Option<Amount> {
        self.tip
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

    /// How it stands.
    #[must_use]
    pub fn standing(&self) -> Standing<'_> {
        if let (Some(held), false) = (&self.held, matches!(self.state, State::Ended(_))) {
            let why = match &self.state {
                State::Reversing(reversing) => &reversing.why,
                _ => held,
            };
            return Standing::Unconfirmed { why, trouble: None, quarantined: Some(held) };
        }
        match &self.state {
            State::Waiting => Standing::Waiting,
            State::Asked | State::AtChip { .. } => Standing::InProgress,
            State::AtSignature { .. } => Standing::AtSignature,
            State::Reversing(reversing) => Standing::Unconfirmed {
                why: &reversing.why,
                trouble: self.volatile.reversal.trouble.as_ref(),
                quarantined: reversing.quarantined.as_ref(),
            },
            State::Confirming(confirming) => Standing::Unconfirmed {
                why: &confirming.why,
                trouble: self.volatile.confirming.trouble(),
                quarantined: confirming.quarantined.as_ref(),
            },
            State::Ended(outcome) => Standing::Ended(outcome),
        }
    }

    /// Whether nothing can happen to it any more.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(self.state, State::Ended(_)) && !self.volatile.card_open
    }

    /// Whether a person has decided what becomes of it.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.decided
    }

    /// What somebody at the counter has said of the signature; `None` when nobody has, or nobody was asked.
    #[must_use]
    pub fn signature_was(&self) -> Option<bool> {
        self.signature
    }

    /// Whether its request was, or was about to be, sent.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.tries > 0
    }

    /// Whether it waits for a person to decide what becomes of it ([`Event::Settle`]).
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.is_some() && !matches!(self.state, State::Ended(_))
    }

    /// Whether a card was read and has not been answered yet.
    #[must_use]
    pub fn card_waits(&self) -> bool {
        self.volatile.card_open && matches!(self.state, State::Waiting | State::Asked)
    }

    /// Whether a cancel may still come in time: nothing has left, or what left was certainly not processed. One that is
    /// on its way once more is not sent another time then.
    #[must_use]
    pub fn can_be_cancelled(&self) -> bool {
        matches!(self.state, State::Waiting)
            || (matches!(self.state, State::Asked) && self.volatile.throttled.is_some())
    }

    /// Whether the request may have to be sent again: it was asked for, and has no answer.
    #[must_use]
    pub fn may_ask_again(&self) -> bool {
        matches!(self.state, State::Asked)
    }

    /// When [`Event::DeadlinePassed`] is due, as [`Now::monotonic`].
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        match &self.state {
            _ if self.held.is_some() => None,
            State::Asked => {
                let throttled = self.volatile.throttled.as_ref().and_then(|throttled| throttled.at);
                self.volatile.poll.as_ref().map(|poll| poll.at).into_iter().chain(throttled).min()
            }
            State::AtSignature { .. } => self.volatile.signature_until,
            State::Reversing(_) => self.volatile.reversal.due(),
            State::Confirming(_) => self.volatile.confirming.due(),
            State::Waiting | State::AtChip { .. } | State::Ended(_) => None,
        }
    }

    /// The receipt as things stand.
    #[must_use]
    pub fn receipt(&self) -> Receipt {
        let outcome = match &self.state {
            State::Waiting | State::Asked | State::AtChip { .. } => {
                ReceiptOutcome::Unconfirmed(Reason::NotDecidedYet.into())
            }
            // The slip that is signed says what the host said.
            State::AtSignature { payment } => decide::outcome_of(payment.amount, self.amount).on_receipt(),
            State::Reversing(reversing) => ReceiptOutcome::Unconfirmed(reversing.why.clone()),
            State::Confirming(confirming) => ReceiptOutcome::Unconfirmed(confirming.why.clone()),
            State::Ended(outcome) => outcome.on_receipt(),
        };
        Receipt {
            kind: self.order.kind(),
            terminal_id: self.order.terminal_id.clone(),
            local_time: self.order.local_time.clone(),
            number: self.order.number,
            reference: self.order.reference.clone(),
            amount: self.amount,
            tip: self.tip,
            outcome,
            card: self.card.clone(),
            host: self.host.clone(),
            original: None,
        }
    }

    fn apply_step(&mut self, records: &[Record]) {
        self.steps += u32::from(!records.is_empty());
        for record in records {
            self.apply(record);
        }
    }

    /// Moves the sale: the only place that changes its state, live and in replay alike.
    fn apply(&mut self, record: &Record) {
        match record {
            // The first record made the sale.
            Record::Started { .. } => {}
            Record::TipTyped { tip, total } => {
                self.tip = *tip;
                self.amount = *total;
            }
            Record::Asked { card, again_unix_ms } => {
                if let Some(card) = card {
                    self.card = Some(card.clone());
                }
                // One that the gateway did not process (throttled) is the same try.
                if self.tries == 0 || matches!(self.state, State::Confirming(_)) {
                    self.tries += 1;
                }
                self.asked_unix_ms = again_unix_ms.unwrap_or(self.begun_unix_ms);
                self.state = State::Asked;
            }
            Record::HostApproved { payment, approved, host } => {
                self.host = host.clone();
                self.state = State::AtChip { payment: payment.clone(), approved: *approved };
            }
            Record::SignatureAsked { payment, card } => {
                if let Some(card) = card {
                    self.card = Some(card.clone());
                }
                self.state = State::AtSignature { payment: payment.clone() };
            }
            Record::Reversing { why, payment, host, by } => {
                if matches!(self.state, State::AtSignature { .. }) && by.is_some() {
                    self.signature = Some(false);
                }
                if let Some(host) = host {
                    self.host = host.clone();
                }
                self.state = State::Reversing(Reversing::new(why.clone(), payment.clone()));
            }
            Record::Confirming { why } => {
                self.doubted = true;
                self.state = State::Confirming(Confirming::new(why.clone()));
            }
            Record::ReversalAsked { .. } | Record::ReversalDone { .. } | Record::Quarantined { .. } => {
                match &mut self.state {
                    State::Reversing(reversing) => reversing.apply(record, &self.order.merchant_transaction_id),
                    State::Confirming(confirming) => confirming.apply(record),
                    _ => {}
                }
            }
            // It is known by this id.
            Record::Pending { .. } => self.was_listed = true,
            Record::Held { why } => self.held = Some(why.clone()),
            Record::Settled { keep, by: _ } => {
                self.held = None;
                self.decided = true;
                if let State::Reversing(reversing) = &mut self.state {
                    reversing.keep = *keep;
                }
            }
            Record::CardFinal { card } => self.card = Some(card.clone()),
            Record::Ended { outcome, host, card, by, at_unix_ms } => {
                self.ended_unix_ms = *at_unix_ms;
                if matches!(self.state, State::AtSignature { .. }) && by.is_some() {
                    self.signature = Some(true);
                }
                if let Some(host) = host {
                    self.host = host.clone();
                }
                if let Some(card) = card {
                    self.card = Some(card.clone());
                }
                self.state = State::Ended(outcome.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
