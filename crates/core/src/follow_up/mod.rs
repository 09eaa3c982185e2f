//! The follow-ups that a transaction allows, and the amount that is left for each. Follow-ups are captures, refunds,
//! reversals, increments and reauthorisations. This module is pure: it computes sums over the journal's transactions.
//! The agent checks the caller's rights, and the gateway makes the final decision.
//!
//! | file | content |
//! |---|---|
//! | `mod.rs`, `sums.rs` | which follow-up is allowed, and how much is left |
//! | `amount.rs` | the details of one follow-up: the till of the earlier transaction, its payment, the amount |
//! | `by_id.rs` | the amounts given back by payment id only, and when they hold back a reversal |
//!
//! There are two kinds of sums (design: invariant 10):
//! - The amount that may still be **taken** (captures, reauthorisations) includes only what is certainly reserved. An
//!   approved increment is included, unless a reversal of it has no answer.
//! - The amount that may still be **given back** (refunds, reversals) is reduced by everything that may have been given
//!   back. This includes requests without an answer.
//!
//! | history | capture, reauthorisation | increment | refund | reversal |
//! |---|---|---|---|---|
//! | nothing | the reserved amount | any amount | the paid amount | the full amount |
//! | an increment | plus the increment | any amount | – | plus the increment; wait while it is open |
//! | a capture | the rest | any amount | – | none: reverse or refund the capture |
//! | the last capture (`FINAL`) | none | none | – | none |
//! | a reauthorisation | none: refer to the reauthorisation | none | – | none |
//! | a refund | – | – | the rest | none: refund the rest |
//! | the last refund (`FINAL`) | – | – | none | none |
//! | a partial reversal | the rest | any amount | the rest | the rest |
//! | a reversal without an answer | none: wait | none: wait | none: wait | none: wait |
//! | a full reversal | none | none | none | none |
//!
//! Nothing can follow a refund or a reversal. An increment can be reversed until its reservation is captured,
//! reauthorised or reversed.

mod amount;
mod by_id;
mod sums;

pub use amount::{NoFollowUp, follow_up, is_another_tills, reservation_behind, told_follow_up};
pub use by_id::{GivenById, HeldBackById};

use crate::transaction::{Outcome, Standing, Transaction};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::Kind;

/// The degree of certainty that the gateway holds the payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The payment was approved.
    Certainly,
    /// The payment has no outcome yet.
    Perhaps,
    /// The payment was declined, reversed, or never sent.
    Not,
}

/// The data of a transaction that the sums need, and all transactions that refer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The kind of transaction.
    pub kind: Kind,
    /// The approved amount, or the requested amount while there is no outcome.
    pub amount: Amount,
    /// The degree of certainty that the gateway holds the payment.
    pub held: Held,
    /// True if the transaction was declared the last of its kind (interface: `sequence`).
    pub is_last: bool,
    /// The maximum number of captures (interface: `numberOfCaptures`).
    pub most_captures: Option<usize>,
    /// The transactions that refer to this one.
    pub later: Vec<Self>,
}

/// The amount that a later transaction may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// No amount.
    Nothing,
    /// Any amount up to this limit.
    UpTo(Amount),
    /// Any amount in this currency. An increment of a reservation is limited only by the terminal's own limit.
    Any(Currency),
}

/// The reason why a follow-up is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotFollow {
    /// The requested kind can never follow a transaction of the earlier kind.
    #[error("this kind of transaction cannot follow it")]
    NeverFollows,
    /// The transaction was not approved, or was reversed.
    #[error("it holds no money: it was not approved, or was reversed")]
    HoldsNothing,
    /// The transaction has no outcome yet.
    #[error("it has not ended yet; wait for its outcome")]
    NotEnded,
    /// The transaction was reversed in full.
    #[error("the earlier transaction was reversed")]
    Reversed,
    /// A reversal of the transaction has no answer yet.
    #[error("the earlier transaction is being reversed; wait for the outcome")]
    BeingReversed,
    /// The transaction was refunded in full or in part.
    #[error("the earlier transaction was or is being refunded: refund the rest instead")]
    Refunded,
    /// The transaction was captured in full or in part.
    #[error("it was or is being captured: reverse or refund the capture instead")]
    Captured,
    /// The transaction was reauthorised.
    #[error("it was reauthorised: refer to the reauthorisation")]
    ReservedAnew,
    /// An increment of the transaction has no outcome yet.
    #[error("an increment of it has not ended yet; wait for its outcome")]
    IncrementOpen,
    /// A capture or refund was declared the last one.
    #[error("the last {} was the final one", .kind.as_str())]
    Final {
        /// The kind of the last one: capture or refund.
        kind: Kind,
    },
    /// All allowed captures were made.
    #[error("all {most} allowed captures were made")]
    CapturesMade {
        /// The allowed number of captures.
        most: usize,
    },
    /// The reservation of an increment was captured, reauthorised or reversed.
    #[error("the pre-authorisation of this increment was captured, reauthorised or reversed")]
    ReservationUsed,
    /// A transaction that the sums include is in another currency.
    #[error("a transaction that follows it is in another currency; check it at the gateway")]
    OtherCurrency,
}

impl History {
    /// Creates the history of a transaction in the journal. `later` holds the transactions that refer to it.
    #[must_use]
    pub fn of(sale: &Transaction, later: Vec<Self>) -> Self {
        let (held, amount) = match sale.standing() {
            Standing::Ended(Outcome::Approved) => (Held::Certainly, sale.amount()),
            Standing::Ended(Outcome::PartiallyApproved { amount }) => (Held::Certainly, *amount),
            Standing::Ended(_) => (Held::Not, sale.amount()),
            _ => (Held::Perhaps, sale.amount()),
        };
        let parameter = |name: &str| {
            sale.order().parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        Self {
            kind: sale.order().kind(),
            amount,
            held,
            is_last: parameter("sequence") == Some("FINAL"),
            most_captures: parameter("numberOfCaptures").and_then(|most| most.parse().ok()),
            later,
        }
    }

    /// Reads a transaction and all transactions that refer to it, directly or indirectly. `later` reads the
    /// transactions that refer directly to a given one.
    ///
    /// # Errors
    /// Returns the errors of `later`.
    pub fn read<E>(
        sale: &Transaction,
        later: &impl Fn(&Transaction) -> Result<Vec<Transaction>, E>,
    ) -> Result<Self, E> {
        let read = |sale: &Transaction, of: &dyn Fn(&Transaction) -> Result<Self, E>| {
            let histories: Result<Vec<_>, E> = later(sale)?.iter().map(of).collect();
            histories.map(|later| Self::of(sale, later))
        };
        let last = |sale: &Transaction| Ok(Self::of(sale, Vec::new()));
        read(sale, &|one| read(one, &last))
    }

    /// Returns the amount that a follow-up of this kind may have. For an increment, `root` is its reservation.
    ///
    /// # Errors
    /// Returns the reason why the follow-up is not allowed.
    pub fn left(&self, follow: Kind, root: Option<&Self>) -> Result<Left, CannotFollow> {
        match self.held {
            Held::Not => return Err(CannotFollow::HoldsNothing),
            Held::Perhaps => return Err(CannotFollow::NotEnded),
            Held::Certainly => {}
        }
        let may_follow = match follow {
            Kind::Capture | Kind::Increment | Kind::Reauthorisation => self.kind.is_reservation(),
            Kind::Refund => self.kind.takes_money(),
            Kind::Reversal => self.kind.moves_money() && !self.kind.gives_back(),
            Kind::Sale
            | Kind::PreAuthorisation
            | Kind::Credit
            | Kind::ByRegistration
            | Kind::PreAuthorisationByRegistration
            | Kind::StoreCard
            | Kind::ForgetCard => false,
        };
        match follow {
            _ if !may_follow => Err(CannotFollow::NeverFollows),
            Kind::Increment => self.may_grow().map(|()| Left::Any(self.amount.currency())),
            Kind::Refund => self.to_refund(),
            Kind::Reversal => self.to_reverse(root),
            _ => self.to_take(follow),
        }
    }

    /// Returns the amount that is certainly reserved and certainly not taken yet.
    fn to_take(&self, follow: Kind) -> Result<Left, CannotFollow> {
        self.may_grow()?;
        if let (Kind::Capture, Some(most)) = (follow, self.most_captures)
            && self.those(Kind::Capture).filter(|capture| capture.possible_net() > 0).count() >= most
        {
            return Err(CannotFollow::CapturesMade { most });
        }
        Ok(self.up_to(self.certainly_reserved().saturating_sub(self.possibly(Kind::Capture)?)))
    }

    /// Checks that a reservation is neither reversed, reauthorised nor closed.
    fn may_grow(&self) -> Result<(), CannotFollow> {
        self.not_reversed()?;
        if self.possibly_renewed() {
            return Err(CannotFollow::ReservedAnew);
        }
        self.not_closed(Kind::Capture)
    }

    fn to_refund(&self) -> Result<Left, CannotFollow> {
        self.not_reversed()?;
        self.not_closed(Kind::Refund)?;
        let given = self.possibly(Kind::Refund)?.saturating_add(self.possibly(Kind::Reversal)?);
        Ok(self.up_to(self.amount.minor().saturating_sub(given)))
    }

    fn to_reverse(&self, root: Option<&Self>) -> Result<Left, CannotFollow> {
        self.not_reversed()?;
        if self.possibly(Kind::Refund)? > 0 {
            return Err(CannotFollow::Refunded);
        }
        if self.possibly(Kind::Capture)? > 0 {
            return Err(CannotFollow::Captured);
        }
        if self.possibly_renewed() {
            return Err(CannotFollow::ReservedAnew);
        }
        if self.those(Kind::Increment).any(|more| more.held == Held::Perhaps || more.has_open_reversal()) {
            return Err(CannotFollow::IncrementOpen);
        }
        if let (Kind::Increment, Some(root)) = (self.kind, root)
            && (root.possibly(Kind::Capture)? > 0 || root.possibly_renewed() || root.possibly(Kind::Reversal)? > 0)
        {
            return Err(CannotFollow::ReservationUsed);
        }
        Ok(self.up_to(self.certainly_reserved()))
    }

    /// Checks that the transaction is not reversed in full, and that each reversal of it has an answer.
    fn not_reversed(&self) -> Result<(), CannotFollow> {
        if self.has_open_reversal() {
            return Err(CannotFollow::BeingReversed);
        }
        if self.certainly_reserved() == 0 { Err(CannotFollow::Reversed) } else { Ok(()) }
    }

    fn not_closed(&self, kind: Kind) -> Result<(), CannotFollow> {
        let closed = self.those(kind).any(|one| one.is_last && one.possible_net() > 0);
        if closed { Err(CannotFollow::Final { kind }) } else { Ok(()) }
    }

    fn up_to(&self, minor: u64) -> Left {
        Amount::from_minor(minor, self.amount.currency()).map_or(Left::Nothing, Left::UpTo)
    }
}

#[cfg(test)]
mod tests;
