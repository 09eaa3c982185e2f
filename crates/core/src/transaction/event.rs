//! What can happen to a sale, when, and how long it may wait for it.

use std::time::Duration;

use pos_terms::card::{CardFacts, FirstAnswer};
use pos_terms::money::Amount;
use pos_terms::transaction::Who;

use super::{Answer, Cause, Inquiry, ReversalAnswer};

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
        why: Cause,
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
        why: Cause,
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
        reversal: ReversalAnswer,
    },
    /// Somebody at the counter compared the signature.
    SignatureChecked {
        /// Whether it is the card's.
        accepted: bool,
        /// Who; nobody where the terminal accepts it by itself.
        by: Option<Who>,
    },
    /// The till said whether it takes what was approved. A part is taken by
    /// [`Transaction::take_part`](super::Sale::take_part), for a refund begins with it.
    TillAnswered {
        /// It takes all of it; otherwise the payment is reversed.
        taken: bool,
        /// Who.
        by: Option<Who>,
    },
    /// This journal was found to be an old copy of itself.
    OldCopy {
        /// How that shows.
        why: Cause,
    },
    /// A person has decided what becomes of a sale that is held.
    Resolve {
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
    RetryNow,
    /// A deadline of [`Transaction::deadline`](super::Sale::deadline) has passed.
    DeadlinePassed,
    /// The program was started anew and found this sale open.
    Restarted,
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
    /// The gateway's query shows stored cards too. Else nothing proves that one was not stored (config:
    /// `query-lists-registrations`).
    pub lists_registrations: bool,
    /// How long somebody at the counter may take to compare a signature; without an answer the payment is reversed, for
    /// an approval whose signature nobody looked at is not the shop's to keep. `None`: the slip is signed and nobody is
    /// asked (config: `confirm-signature`, `signature-timeout-s`).
    pub signature: Option<Duration>,
    /// How long a till may take to say whether it takes what was approved (config: `till-confirm-s`).
    pub till: Duration,
}
