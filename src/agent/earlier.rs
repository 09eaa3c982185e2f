//! Transactions that refer to an earlier one. This module finds the earlier transaction in the journal and checks the
//! till's rights. The core's module `follow_up` decides which follow-up is allowed, for how much, and the message to
//! the till. It considers every transaction in the journal that refers to the earlier one, by number or by payment id.
//!
//! A till names an earlier transaction by its reference, by its number in this journal, or by its payment id at the
//! gateway. If this journal knows the payment id, the id means that transaction, with its remaining amount and its
//! till. Following another till's transaction needs the right `any-till`. A payment id that this journal does not know
//! needs the right `unknown-payment`. A refund of such a payment is limited by `max-credit-amount`, as a credit is.

use crate::config::Right;
use crate::till::{Refused, Wanted};
use pos_core::follow_up::{self, CannotFollow, GivenById, History, Left, NoFollowUp};
use pos_core::transaction::{Cause, Order, Outcome, Reason, Standing, Transaction};
use pos_core::wish::EarlierName;
use pos_gateway::till_parameters;
use pos_journal::Journal;
use pos_terms::money::Amount;
use pos_terms::transaction::{Earlier, Kind, Operation, PaymentId, Reference, SaleNumber, Taken};
use pos_words::Message;

use super::engine::open_transactions::{OpenTransaction, OpenTransactions};
use super::identity::Identity;
use super::journal_writer::refused_by_journal;
use super::limits::Limits;
use super::old_copy::OldCopy;

/// The longest time in which the same amount counts as the same customer's. A different amount never does.
const CHIP_DUE_MS: u64 = 10 * 60 * 1000;

/// An earlier transaction, as far as this journal knows it.
pub(super) enum EarlierFound {
    /// One in the journal.
    Here(Box<Transaction>),
    /// One that only the gateway knows.
    Elsewhere(PaymentId),
}

impl EarlierFound {
    fn here(sale: Transaction) -> Self {
        Self::Here(Box::new(sale))
    }
}

/// The transactions to search: the open ones and those in the journal.
#[derive(Clone, Copy)]
pub(super) struct KnownTransactions<'a> {
    pub(super) sales: &'a OpenTransactions,
    pub(super) journal: &'a Journal,
    pub(super) limits: &'a Limits,
    pub(super) identity: &'a Identity,
    pub(super) old_copy: &'a OldCopy,
}

/// A transaction, all transactions that refer to it, and the reservation that it captured.
pub(super) struct Histories {
    of: History,
    root: Option<History>,
}

impl Histories {
    /// Returns the amount that a follow-up of this kind may still have.
    pub(super) fn left(&self, follow: Kind) -> Result<Left, CannotFollow> {
        self.of.left(follow, self.root.as_ref())
    }
}

impl KnownTransactions<'_> {
    /// Finds a transaction in its current state: among the open ones, or else in the journal.
    pub(super) fn find(&self, till: &str, reference: &Reference) -> Result<Transaction, Refused> {
        if let Some(live) = self.sales.find(till, reference) {
            return Ok(live.clone());
        }
        let kept = self.journal.find(till, reference).map_err(refused_by_journal)?;
        kept.ok_or_else(|| Refused::NoSuchSale { till: till.to_owned(), reference: reference.clone() })
    }

    /// Returns the till and the reference of a transaction.
    pub(super) fn key(&self, number: SaleNumber) -> Option<(String, Reference)> {
        let live = self.sales.get(number).map(|active| (active.order().till.clone(), active.order().reference.clone()));
        live.or_else(|| self.journal.key(number).ok().flatten())
    }

    /// Resolves a request to an operation and an amount. Finds the earlier transaction, if the request names one.
    pub(super) fn transaction_and_amount(&self, wanted: &Wanted) -> Result<(Operation, Amount), Refused> {
        let wish = &wanted.wish;
        let registration = wish.registration.as_deref().map(|id| checked_id("registration", id)).transpose()?;
        let (of, amount) = match &wish.of {
            Some(of) => {
                let (of, amount) = self.earlier_and_amount(of, wish.amount, wanted)?;
                (Some(of), amount)
            }
            None => (None, wish.amount.unwrap_or_else(|| Amount::nothing(self.limits.currency()))),
        };
        if wish.kind == Kind::Credit {
            self.old_copy.is_whole_for(None)?;
            self.limits.may_give(amount, 0)?;
        }
        let transaction = Operation::new(wish.kind, of, registration);
        Ok((
            transaction.ok_or_else(|| Refused::not_possible(Message::NeedsMore.with("kind", wish.kind.as_str())))?,
            amount,
        ))
    }

    /// Returns the earlier transaction and the amount. If the till gives no amount, it is all that is left of the
    /// earlier one.
    fn earlier_and_amount(
        &self,
        of: &EarlierName,
        amount: Option<Amount>,
        wanted: &Wanted,
    ) -> Result<(Earlier, Amount), Refused> {
        match self.earlier(of)? {
            EarlierFound::Here(sale) => self.of_known(&sale, amount, wanted),
            EarlierFound::Elsewhere(payment) => {
                let amount = self.of_unknown(&payment, amount, wanted)?;
                Ok((Earlier { payment, number: None }, amount))
            }
        }
    }

    /// Finds the earlier transaction.
    pub(super) fn earlier(&self, of: &EarlierName) -> Result<EarlierFound, Refused> {
        let number = match of {
            EarlierName::Reference { till, reference } => {
                return self.find(till, reference).map(EarlierFound::here);
            }
            EarlierName::Number(number) => *number,
            EarlierName::Payment(payment) => {
                let payment = PaymentId::new(checked_id("payment", payment.as_str())?);
                self.identity.has_payment(&payment)?;
                match self.journal.of_payment(&payment).map_err(refused_by_journal)? {
                    Some(number) => number,
                    None => return self.not_a_reversal_of_ours(payment).map(EarlierFound::Elsewhere),
                }
            }
        };
        let sale = self.journal.number(number).map_err(refused_by_journal)?;
        sale.map(EarlierFound::here)
            .ok_or_else(|| Refused::not_possible(Message::NoTransactionNumber.with("number", number.to_string())))
    }

    /// Returns the payment id, unless it belongs to an automatic reversal in this journal. No transaction may follow a
    /// reversal.
    fn not_a_reversal_of_ours(&self, payment: PaymentId) -> Result<PaymentId, Refused> {
        match self.journal.of_reversal(&payment).map_err(refused_by_journal)? {
            None => Ok(payment),
            Some(number) => {
                let why = Message::IsReversal.with("payment", payment.as_str()).with("number", number.to_string());
                Err(Refused::not_possible(why))
            }
        }
    }

    fn of_known(
        &self,
        sale: &Transaction,
        amount: Option<Amount>,
        wanted: &Wanted,
    ) -> Result<(Earlier, Amount), Refused> {
        let number = sale.order().number;
        if follow_up::is_another_tills(sale.order(), &wanted.till) {
            wanted.caller.needs(Right::AnyTill, Message::ForEarlierOfOtherTill)?;
        }
        self.identity.has_transaction(sale)?;
        self.old_copy.is_whole_for(Some(number))?;
        let kind = wanted.wish.kind;
        let left = self.histories(sale)?.left(kind);
        follow_up::follow_up(kind, sale, left, amount, &wanted.till).map_err(|why| match why {
            NoFollowUp::TooMuch { .. } => Refused::Amount { why: why.to_string().into() },
            why => Refused::not_possible(why.to_string()),
        })
    }

    fn of_unknown(&self, payment: &PaymentId, amount: Option<Amount>, wanted: &Wanted) -> Result<Amount, Refused> {
        self.old_copy.is_whole_for(None)?;
        wanted.caller.needs(Right::UnknownPayment, Message::ForUnknownPayment)?;
        let amount = amount.ok_or_else(|| Refused::not_possible(Message::AmountNeeded))?;
        if wanted.wish.kind.gives_back() {
            // Earlier amounts that may have been refunded for this payment count towards the limit.
            let earlier = self.journal.referring_to(payment).map_err(refused_by_journal)?;
            self.limits.may_give(amount, GivenById::of(&earlier).sum())?;
        }
        Ok(amount)
    }

    /// Returns the known history of a transaction, from which its possible follow-ups are decided.
    pub(super) fn histories(&self, sale: &Transaction) -> Result<Histories, Refused> {
        let root = follow_up::reservation_behind(sale.order());
        let root = root.map(|number| self.journal.number(number)).transpose().map_err(refused_by_journal)?.flatten();
        let history = |sale: &Transaction| History::read(sale, &|one| self.later_than_this(one));
        let root = root.as_ref().map(history).transpose()?;
        Ok(Histories { of: history(sale)?, root })
    }

    /// Returns the transactions that refer to this one.
    pub(super) fn later_than_this(&self, sale: &Transaction) -> Result<Vec<Transaction>, Refused> {
        let mut sales = self.journal.later(sale.order().number).map_err(refused_by_journal)?;
        if let Some(id) = &sale.host().id {
            // These referred to its payment id before this journal knew the id.
            sales.extend(self.journal.referring_to(id).map_err(refused_by_journal)?);
        }
        Ok(sales)
    }

    /// Returns a till's latest transaction.
    pub(super) fn latest(&self, till: &str) -> Result<Transaction, Refused> {
        let reference = self.journal.latest(till).map_err(refused_by_journal)?;
        let reference = reference.ok_or_else(|| Refused::NoneYet { till: till.to_owned() })?;
        self.find(till, &reference)
    }

    /// Returns whether the issuer demanded chip and PIN when this till tried the same shortly before. The new attempt
    /// then accepts only the chip.
    pub(super) fn chip_is_due(&self, wanted: &Wanted, unix_ms: i64) -> bool {
        let wish = &wanted.wish;
        let Some(before) = self.latest(&wanted.till).ok().filter(|_| wish.kind.needs_card()) else { return false };
        let wants_chip = |why: &Cause| why.reason == Reason::InsertAndPin;
        let order = before.order();
        matches!(before.standing(), Standing::Ended(Outcome::Declined { why }) if wants_chip(why))
            && (order.kind(), Some(order.amount)) == (wish.kind, wish.amount)
            && order.started_unix_ms.abs_diff(unix_ms) <= CHIP_DUE_MS
    }

    /// Returns the amount that can still be captured or refunded, as a decimal for the till.
    pub(super) fn told_as_left(&self, sale: &Transaction) -> Option<String> {
        let follow = follow_up::told_follow_up(sale.order().kind())?;
        let may_follow =
            || self.identity.has_transaction(sale).and(self.old_copy.is_whole_for(Some(sale.order().number)));
        if !matches!(sale.standing(), Standing::Ended(_)) || may_follow().is_err() {
            return None;
        }
        match self.histories(sale).ok()?.left(follow) {
            Ok(Left::UpTo(left)) => Some(left.decimal()),
            Err(CannotFollow::HoldsNothing) => None,
            Ok(_) | Err(_) => Some("0".to_owned()),
        }
    }

    /// Returns the reference for the refund of the rest. It is derived from the sale's reference, or from its number if
    /// the till has already used that reference.
    pub(super) fn reference_for_rest(&self, order: &Order) -> Result<Reference, Refused> {
        let names = [format!("{}-rest", order.reference), format!("rest-of-{}", order.number)];
        for reference in names.into_iter().filter_map(|name| Reference::parse(name).ok()) {
            if self.journal.find(&order.till, &reference).map_err(refused_by_journal)?.is_none() {
                return Ok(reference);
            }
        }
        Err(Refused::not_possible(Message::RestReferencesUsed))
    }

    /// Returns the refund of the rest of a sale that its till accepted only in part.
    pub(super) fn refund_of_rest(&self, sale: &Transaction) -> Option<Transaction> {
        let Taken::Part { .. } = sale.till_said()? else { return None };
        let number = sale.order().number;
        let gives_it = |one: &Transaction| {
            one.order().gives_rest && one.order().operation.of().is_some_and(|of| of.number == Some(number))
        };
        let live = self.sales.iter().map(OpenTransaction::sale).find(|one| gives_it(one));
        live.cloned().or_else(|| self.journal.later(number).ok()?.into_iter().find(|one| gives_it(one)))
    }

    /// Returns whether a request repeats the stored transaction, which is then the answer.
    pub(super) fn is_the_same(&self, wanted: &Wanted, sale: &Transaction) -> Result<bool, Refused> {
        let order = sale.order();
        let by_reference = matches!(wanted.wish.of, Some(EarlierName::Reference { .. }));
        let earlier = order.operation.of().filter(|_| by_reference).and_then(|of| of.number);
        let key = earlier.map(|number| self.journal.key(number)).transpose().map_err(refused_by_journal)?;
        Ok(wanted.wish.is_of(order, key.flatten().as_ref())
            && order.training == wanted.training
            && till_parameters::are_the_same(&wanted.parameters, &order.parameters))
    }
}

fn checked_id(name: &str, id: &str) -> Result<String, Refused> {
    let right = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if right { Ok(id.to_owned()) } else { Err(Refused::not_possible(Message::NoId.with("name", name))) }
}
