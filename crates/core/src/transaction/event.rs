//! The events of a transaction, their times, and the deadlines.

use std::time::Duration;

use pos_terms::card::{CardFacts, FirstAnswer};
use pos_terms::money::Amount;
use pos_terms::transaction::Who;

use super::{Answer, Cause, Inquiry, ReversalAnswer};

/// An event of a transaction.
#[derive(Clone, Debug)]
pub enum Event {
    /// The transaction is recorded and needs no card, so it can continue.
    Proceed,
    /// The cardholder typed a tip at the reader, or chose to give none.
    TipTyped {
        /// The tip.
        tip: Option<Amount>,
    },
    /// The reader read a card for this transaction.
    CardRead {
        /// The facts of the card.
        facts: CardFacts,
        /// The chip's first answer.
        first_answer: FirstAnswer,
    },
    /// The reader stopped without a card, and nothing needs to be sent.
    NoCard {
        /// The cause.
        why: Cause,
    },
    /// The connection to the reader was lost.
    ReaderLost,
    /// The card gave its final answer.
    CardSaid {
        /// True if it confirmed (TC, or a card that does not confirm).
        confirmed: bool,
        /// The facts of the card with the last cryptogram.
        facts: Option<Box<CardFacts>>,
    },
    /// The request could not be made from the data, because the interface does not take a value.
    CannotAsk {
        /// The cause.
        why: Cause,
    },
    /// The gateway answered the request, or a query about a pending payment.
    Answered(Answer),
    /// The gateway answered a query.
    Inquired(Inquiry),
    /// The gateway answered a reversal.
    ReversalAnswered {
        /// The reversal's own gateway reference.
        reference: String,
        /// The result.
        reversal: ReversalAnswer,
    },
    /// A person at the counter compared the signature.
    SignatureChecked {
        /// True if it matches the card.
        accepted: bool,
        /// The person; `None` when the terminal accepts it automatically.
        by: Option<Who>,
    },
    /// The till answered whether it takes the approved amount. To take a part,
    /// [`Transaction::take_part`](super::Transaction::take_part) is used, because that begins a refund.
    TillAnswered {
        /// True if it takes the full amount; otherwise the payment is reversed.
        taken: bool,
        /// The person or program.
        by: Option<Who>,
    },
    /// This journal turned out to be an outdated copy.
    OldCopy {
        /// The evidence.
        why: Cause,
    },
    /// A person resolved a held transaction.
    Resolve {
        /// True if the payment stays; otherwise it is reversed.
        keep: bool,
        /// The person.
        by: Option<Who>,
    },
    /// The till asks to cancel.
    CancelAsked {
        /// The person or program; `None` when the terminal is being stopped.
        by: Option<Who>,
    },
    /// A good moment to retry an open reversal: the network is back, or the next transaction begins.
    RetryNow,
    /// A deadline of [`Transaction::deadline`](super::Transaction::deadline) has passed.
    DeadlinePassed,
    /// The program was restarted and found this transaction open.
    Restarted,
}

/// The time of an event: a monotonic time for deadlines, and the wall clock for data that outlives the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The time since a fixed moment of this process.
    pub monotonic: Duration,
    /// Milliseconds since 1970, UTC. It is never used for order (design: invariant 8).
    pub unix_ms: i64,
}

/// The deadlines of the core, each with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// The time for which the agent asks about a pending payment before its outcome is unknown (config:
    /// `answer-timeout-ms`).
    pub pending: Duration,
    /// The time in which an absent payment may still appear (config: `absence-final-after-h`; design: path of a sale,
    /// 9).
    pub absence_final: Duration,
    /// The time for which a reversal without an answer must have been absent before it is sent again. It is longer than
    /// a gateway may take to carry out a request (config: `resend-after-s`).
    pub resend: Duration,
    /// True if the gateway refuses a reference that it has already received. A capture or refund is then sent again as
    /// soon as a reversal. Otherwise it is sent again only when its absence is final (config:
    /// `refuses-repeated-references`; design: invariant 11).
    pub refuses_repeats: bool,
    /// True if the gateway's query lists stored cards too. Otherwise no look-up can prove that a card was not stored
    /// (config: `query-lists-registrations`).
    pub lists_registrations: bool,
    /// The time that a person may take to compare a signature. Without an answer the payment is reversed, because the
    /// shop may not keep an approval with an unchecked signature. With `None` the slip is signed, and no one is asked
    /// (config: `confirm-signature`, `signature-timeout-s`).
    pub signature: Option<Duration>,
    /// The time that a till may take to answer whether it takes the approved amount (config: `till-confirm-s`).
    pub till: Duration,
}
