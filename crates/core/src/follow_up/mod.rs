//! The follow-ups that a transaction allows, and how much of it is left: captures, refunds, reversals, increments,
//! reauthorisations. Pure: sums over the journal's transactions. The agent checks the rights of the caller, and the
//! gateway decides finally.
//!
//! | file | what it decides |
//! |---|---|
//! | `mod.rs`, `sums.rs` | which follow-up is allowed, and how much is left |
//! | `amount.rs` | the details of one follow-up: the till of the earlier transaction, its payment, the amount |
//! | `by_id.rs` | the amounts given back by payment id only, and when they hold back a reversal |
//!
//! Two kinds of sums (design: invariant 10):
//! - what may still be **taken** (captures, reauthorisations) counts only what is certainly reserved: an increment
//!   counts when it was approved, unless a reversal of it has no answer;
//! - what may still be **given back** (refunds, reversals) counts everything that may have been given, including
//!   requests without an answer.
//!
//! | what happened | capture, reauthorisation | increment | refund | reversal |
//! |---|---|---|---|---|
//! | nothing | what is reserved | any amount | what was paid | all of it |
//! | an increment | and the increment | any amount | – | and the increment; while it is open: wait |
//! | a capture | the rest | any amount | – | none: reverse or refund the capture |
//! | the last capture (`FINAL`) | none | none | – | none |
//! | a reauthorisation | none: refer to that | none | – | none |
//! | a refund | – | – | the rest | none: refund the rest |
//! | the last refund (`FINAL`) | – | – | none | none |
//! | a reversal of a part | the rest | any amount | the rest | the rest |
//! | a reversal without an answer | none: wait | none: wait | none: wait | none: wait |
//! | a reversal of all | none | none | none | none |
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

/// The certainty that the gateway holds the payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It was approved.
    Certainly,
    /// It has no outcome yet.
    Perhaps,
    /// It was declined, reversed, or never sent.
    Not,
}

/// The facts of a transaction that the sums need, with all transactions that refer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The kind of transaction.
    pub kind: Kind,
    /// The approved amount, or the requested amount while there is no outcome.
    pub amount: Amount,
    /// The certainty that the gateway holds the payment.
    pub held: Held,
    /// True if it was declared the last of its kind (interface: `sequence`).
    pub is_last: bool,
    /// The highest number of captures (interface: `numberOfCaptures`).
    pub most_captures: Option<usize>,
    /// The transactions that refer to it.
    pub later: Vec<Self>,
}

/// The amount that a later transaction may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// No amount.
    Nothing,
    /// Any amount up to this limit.
    UpTo(Amount),
    /// Any amount of this currency. Only the terminal's own limit applies to an increment of a reservation.
    Any(Currency),
}

/// The reason why a follow-up is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotFollow {
    /// This kind never follows a transaction of the earlier kind.
    #[error("this kind of transaction cannot follow it")]
    NeverFollows,
    /// The transaction was not approved, or was reversed.
    #[error("it holds no money: it was not approved, or was reversed")]
    HoldsNothing,
    /// The transaction has no outcome yet.
    #[error("it has not ended yet; wait for its outcome")]
    NotEnded,
    /// It was reversed.
    #[error("the earlier transaction was reversed")]
    Reversed,
    /// A reversal has no answer yet.
    #[error("the earlier transaction is being reversed; wait for the outcome")]
    BeingReversed,
    /// It was refunded in full or in part.
    #[error("the earlier transaction was or is being refunded: refund the rest instead")]
    Refunded,
    /// It was captured in full or in part.
    #[error("it was or is being captured: reverse or refund the capture instead")]
    Captured,
    /// It was reauthorised.
    #[error("it was reauthorised: refer to the reauthorisation")]
    ReservedAnew,
    /// An increment has no outcome yet.
    #[error("an increment of it has not ended yet; wait for its outcome")]
    IncrementOpen,
    /// A capture or refund was declared the last one.
    #[error("the last {} was the final one", .kind.as_str())]
    Final {
        /// Capture or refund.
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
    /// A transaction that counts is in another currency.
    #[error("a transaction that follows it is in another currency; check it at the gateway")]
    OtherCurrency,
}

impl History {
    /// Collects a transaction of the journal and those that refer to it.
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

    /// Reads a transaction with all that refer to it, directly or through others. `later` reads the transactions that
    /// refer to one.
    ///
    /// # Errors
    /// The errors of `later`.
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

    /// Returns how much a follow-up of this kind may have. `root` is the reservation of an increment.
    ///
    /// # Errors
    /// The reason why the follow-up is not allowed.
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

    /// Checks that a reservation is not reversed, not reauthorised and not closed.
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

    /// Checks that it is not reversed in full and that no reversal is without an answer.
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
