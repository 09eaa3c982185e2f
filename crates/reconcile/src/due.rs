//! The expected settlement of a journal entry. Only this module decides it, so a new kind of entry must be added here.

use chrono::{DateTime, NaiveDate};

use pos_core::transaction::{Outcome, Record, Standing, Transaction};
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, Operation, PaymentId, SaleNumber};

use super::file::date;

/// The expected settlement of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charged {
    /// The amount should be settled once.
    Yes,
    /// Nothing should be settled: the charge was reversed.
    Reversed,
    /// Nothing should be settled: the transaction was declined, cancelled or not sent.
    No,
    /// It is not known yet whether money should be settled.
    Unsure,
}

/// Returns whether a transaction should be settled, and its amount. A reservation is settled by its captures, and a
/// reversal reduces the transaction that it refers to ([`takes_back`]).
pub(super) fn due(sale: &Transaction) -> (Charged, Amount) {
    let kind = sale.order().kind();
    let settles = kind.moves_money() && !kind.reserves_money() && kind != Kind::Reversal;
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

/// Returns whether the money goes from the shop to the customer.
pub(super) fn is_paid_out(sale: &Transaction) -> bool {
    sale.order().kind().gives_money() && sale.order().kind() != Kind::Reversal
}

/// Returns the number of the transaction that this one reversed, and the reversed amount.
pub(super) fn takes_back(sale: &Transaction) -> Option<(SaleNumber, Amount)> {
    let Operation::Reversal { of } = &sale.order().operation else {
        return None;
    };
    match sale.standing() {
        Standing::Ended(Outcome::Approved) => Some((of.number?, sale.amount())),
        Standing::Ended(Outcome::PartiallyApproved { amount }) => Some((of.number?, *amount)),
        _ => None,
    }
}

/// Returns the gateway payments that a record names, including reversals. Each payment may have its own rows.
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

/// Returns the reference of another request that was sent for the transaction, such as a reversal.
pub(super) fn own_reference(record: &Record) -> Option<&str> {
    match record {
        Record::ReversalAsked { reference, .. } => reference.as_deref(),
        _ => None,
    }
}

/// Returns the local date of the transaction.
pub(super) fn day(sale: &Transaction) -> NaiveDate {
    let order = sale.order();
    let utc = || DateTime::from_timestamp_millis(order.started_unix_ms).map(|time| time.date_naive());
    date(&order.local_time).or_else(utc).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_core::transaction::{Order, Reason};
    use pos_terms::money::Currency;

    fn eur(minor: u64) -> Amount {
        Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap()
    }

    /// Returns a transaction of this kind for 10.00, with its outcome.
    fn ended(kind: Kind, outcome: Option<Outcome>) -> Transaction {
        let of = serde_json::json!({ "payment": "8ac7a4a1000000000000000000000009", "number": 3 });
        let order: Order = serde_json::from_value(serde_json::json!({
            "kind": { "is": kind.as_str(), "of": of, "registration": "8ac7a4a1000000000000000000000007" },
            "number": 7, "till": "till-1", "reference": "R1", "amount": eur(1000), "terminalId": "12345678",
            "merchantTransactionId": "12345678-7-00000000000000000000000000000001",
            "startedUnixMs": 1_794_700_800_000_i64, "localTime": "2026-11-16 01:00:00",
        }))
        .unwrap();
        let ended =
            outcome.map(|outcome| Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None });
        Transaction::replay(&[vec![Record::Started { order }], ended.into_iter().collect()]).unwrap()
    }

    fn part() -> Outcome {
        Outcome::PartiallyApproved { amount: eur(600) }
    }

    #[test]
    fn what_should_be_settled_follows_from_the_end_and_from_the_kind() {
        use Kind::{ByRegistration, Capture, Credit, Refund, Sale as Payment};
        let why = || Reason::BankDeclined.into();
        for kind in [Payment, ByRegistration, Capture, Refund, Credit] {
            for (outcome, charged, minor) in [
                (Some(Outcome::Approved), Charged::Yes, 1000),
                (Some(part()), Charged::Yes, 600),
                (Some(Outcome::Reversed { why: why() }), Charged::Reversed, 1000),
                (Some(Outcome::Declined { why: why() }), Charged::No, 1000),
                (Some(Outcome::Cancelled { why: why() }), Charged::No, 1000),
                (Some(Outcome::NotSent { why: why() }), Charged::No, 1000),
                (None, Charged::Unsure, 1000),
            ] {
                assert_eq!(due(&ended(kind, outcome.clone())), (charged, eur(minor)), "{kind:?}, {outcome:?}");
            }
        }
        // A reservation is settled by its captures, and a reversal reduces what it reversed.
        for kind in [
            Kind::PreAuthorisation,
            Kind::PreAuthorisationByRegistration,
            Kind::Increment,
            Kind::Reauthorisation,
            Kind::Reversal,
        ] {
            for outcome in [Outcome::Approved, part()] {
                assert_eq!(due(&ended(kind, Some(outcome))), (Charged::No, eur(1000)), "{kind:?}");
            }
        }
    }

    #[test]
    fn refunds_and_credits_are_paid_out_and_a_reversal_takes_from_what_it_refers_to() {
        for kind in Kind::ALL {
            let paid_out = matches!(kind, Kind::Refund | Kind::Credit);
            assert_eq!(is_paid_out(&ended(kind, Some(Outcome::Approved))), paid_out, "{kind:?}");
            let of = SaleNumber::new(3);
            for (outcome, taken) in [
                (Some(Outcome::Approved), Some((of, eur(1000)))),
                (Some(part()), Some((of, eur(600)))),
                (Some(Outcome::NotSent { why: Reason::CardGone.into() }), None),
                (None, None),
            ] {
                let taken = taken.filter(|_| kind == Kind::Reversal);
                assert_eq!(takes_back(&ended(kind, outcome.clone())), taken, "{kind:?}, {outcome:?}");
            }
        }
    }

    #[test]
    fn the_day_is_the_shops_own() {
        assert_eq!(day(&ended(Kind::Sale, None)), NaiveDate::from_ymd_opt(2026, 11, 16).unwrap());
    }
}
