//! The events of a transaction, their times, and the deadlines.

use std::time::Duration;

use pos_terms::card::{CardFacts, FirstAnswer};
use pos_terms::money::Amount;
use pos_terms::transaction::Who;

use super::{Answer, Cause, Inquiry, ReversalAnswer};

/// An event of a transaction.
#[derive(Clone, Debug)]
pub enum Event {
    /// The transaction is recorded and can continue, because it needs no card.
    Proceed,
    /// The cardholder typed a tip at the reader, or chose not to give one.
    TipTyped {
        /// The tip.
        tip: Option<Amount>,
    },
    /// The reader read a card for this transaction.
    CardRead {
        /// The card data.
        facts: CardFacts,
        /// The chip's first answer.
        first_answer: FirstAnswer,
    },
    /// The reader stopped without reading a card, so there is nothing to send.
    NoCard {
        /// The cause.
        why: Cause,
    },
    /// The connection to the reader was lost.
    ReaderLost,
    /// The card gave its final answer.
    CardSaid {
        /// True if the card confirmed (TC), or does not have to confirm.
        confirmed: bool,
        /// The card data with the last cryptogram.
        facts: Option<Box<CardFacts>>,
    },
    /// The request could not be built, because the interface does not allow one of its values.
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
        /// True if the signature matches the card.
        accepted: bool,
        /// The person; `None` if the terminal accepts the signature automatically.
        by: Option<Who>,
    },
    /// The till answered whether it accepts the approved amount. If the till accepts only a part,
    /// [`Transaction::take_part`](super::Transaction::take_part) is used instead, because that begins a refund.
    TillAnswered {
        /// True if the till accepts the full amount; otherwise the payment is reversed.
        taken: bool,
        /// The person or program.
        by: Option<Who>,
    },
    /// This journal turned out to be an outdated copy.
    OldCopy {
        /// The evidence for this.
        why: Cause,
    },
    /// A person resolved a held transaction.
    Resolve {
        /// True if the payment is kept; otherwise it is reversed.
        keep: bool,
        /// The person.
        by: Option<Who>,
    },
    /// The till asks to cancel the transaction.
    CancelAsked {
        /// The person or program; `None` if the terminal is being stopped.
        by: Option<Who>,
    },
    /// A good moment to retry an open reversal has come: the network is back, or the next transaction begins.
    RetryNow,
    /// A deadline of [`Transaction::deadline`](super::Transaction::deadline) has passed.
    DeadlinePassed,
    /// The program was restarted and found this transaction open.
    Restarted,
}

/// The time of an event: a monotonic time for deadlines, and the wall clock for data that outlives the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The time since a fixed moment in this process.
    pub monotonic: Duration,
    /// Milliseconds since 1970, UTC. The order of events never depends on this value (design: invariant 8).
    pub unix_ms: i64,
}

/// The deadlines that the core uses, and the properties of the gateway that affect them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// The time for which the agent asks about a pending payment before its outcome is unknown (config:
    /// `answer-timeout-ms`).
    pub pending: Duration,
    /// The time during which a payment that is not listed may still appear (config: `absence-final-after-h`; design:
    /// path of a sale, 9).
    pub absence_final: Duration,
    /// The time for which a reversal without an answer must stay unlisted before it is sent again. It is longer than a
    /// gateway may take to carry out a request (config: `resend-after-s`).
    pub resend: Duration,
    /// True if the gateway refuses a reference that it has already received. A capture or refund is then sent again as
    /// early as a reversal. Otherwise it is sent again only when its absence is final (config:
    /// `refuses-repeated-references`; design: invariant 11).
    pub refuses_repeats: bool,
    /// True if the gateway's query lists stored cards too. Otherwise no look-up can prove that a card was not stored
    /// (config: `query-lists-registrations`).
    pub lists_registrations: bool,
    /// The time that a person has to compare a signature. Without an answer the payment is reversed, because the shop
    /// may not keep an approval with an unchecked signature. If `None`, the slip is signed and no person is asked
    /// (config: `confirm-signature`, `signature-timeout-s`).
    pub signature: Option<Duration>,
    /// The time that a till has to answer whether it accepts the approved amount (config: `till-confirm-s`).
    pub till: Duration,
}
