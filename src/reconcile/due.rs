//! What an entry of the journal should have become at the gateway. The one place that knows: a new kind of entry is
//! judged here.

use chrono::{DateTime, NaiveDate};

use crate::money::Amount;
use crate::sale::{Outcome, Record, Sale, Standing};
use crate::transaction::{Kind, PaymentId, SaleNumber, Transaction};

use super::file::date;

/// Whether money should be settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charged {
    /// The amount, once.
    Yes,
    /// Nothing: what was charged was taken back.
    Reversed,
    /// Nothing: declined, cancelled, not sent.
    No,
    /// Not known yet.
    Unsure,
}

/// What should be settled of a transaction: whether, and how much. Reservations are settled by their captures, and a
/// reversal takes from the one it refers to: [`takes_back`].
pub(super) fn due(sale: &Sale) -> (Charged, Amount) {
    let kind = sale.order().kind();
    let settles = !kind.reserves_money() && kind != Kind::Reversal;
    match sale.standing() {
        Standing::Ended(Outcome::Approved | Outcome::PartiallyApproved { .. }) if !settles => {
            (Charged::No, sale.amount())
        }
        Standing::Ended(Outcome::Approved) => (Charged::Yes, sale.amount()),
        Standing::Ended(Outcome::PartiallyApproved { amount }) => (Charged::Yes, *amount),
        Standing::Ended(Outcome::Reversed { .. }) => (Charged::Reversed, sale.amount()),
        Standing::Ended(Outcome::Declined { .. } | Outcome::Cancelled { .. } | Outcome::NotSent { .. }) => {
            (Charged::No, sale.amount())
        }
        Standing::Waiting
        | Standing::InProgress
        | Standing::AtSignature
        | Standing::AwaitingTill { .. }
        | Standing::Unconfirmed { .. } => (Charged::Unsure, sale.amount()),
    }
}

/// Whether the money goes from the shop to the customer.
pub(super) fn is_paid_out(sale: &Sale) -> bool {
    sale.order().kind().gives_money() && sale.order().kind() != Kind::Reversal
}

/// The number of the transaction that this one has taken back, and how much of it.
pub(super) fn takes_back(sale: &Sale) -> Option<(SaleNumber, Amount)> {
    let Transaction::Reversal { of } = &sale.order().transaction else {
        return None;
    };
    match sale.standing() {
        Standing::Ended(Outcome::Approved) => Some((of.number?, sale.amount())),
        Standing::Ended(Outcome::PartiallyApproved { amount }) => Some((of.number?, *amount)),
        _ => None,
    }
}

/// The payments at the gateway that a record names, reversals too: each may have rows of its own.
pub(super) fn payments(record: &Record) -> [Option<&PaymentId>; 2] {
    match record {
        Record::HostApproved { payment, .. } | Record::Pending { payment } => [Some(payment), None],
        Record::SignatureAsked { payment, .. }
        | Record::TillAsked { payment, .. }
        | Record::ReversalAsked { payment, .. } => [Some(&payment.id), None],
        Record::Reversing { payment, host, .. } => {
            let host = host.as_ref().and_then(|host| host.id.as_ref());
            [payment.as_ref().map(|payment| &payment.id), host]
        }
        Record::ReversalDone { payment, reversal, .. } => [Some(payment), Some(reversal)],
        Record::Ended { host, .. } => [host.as_ref().and_then(|host| host.id.as_ref()), None],
        Record::Started { .. }
        | Record::TipTyped { .. }
        | Record::Asked { .. }
        | Record::Confirming { .. }
        | Record::Quarantined { .. }
        | Record::Held { .. }
        | Record::Settled { .. }
        | Record::TillSaid { .. }
        | Record::CardFinal { .. } => [None, None],
    }
}

/// The sale's local date.
pub(super) fn day(sale: &Sale) -> NaiveDate {
    let order = sale.order();
    let utc = || DateTime::from_timestamp_millis(order.started_unix_ms).map(|time| time.date_naive());
    date(&order.local_time).or_else(utc).unwrap_or_default()
}
