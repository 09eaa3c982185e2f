//! The amount of a follow-up to a transaction in the journal, and the payment at the gateway to which the follow-up
//! refers.

use super::{CannotFollow, Left};
use crate::transaction::{Order, Transaction};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Earlier, Kind, Operation, SaleNumber};

/// The reason why a follow-up is refused, in the words that tills see.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFollowUp {
    /// The requested kind can never follow a transaction of the earlier kind.
    #[error("{} of a {} is not possible", .follow.as_str(), .earlier.as_str())]
    NeverFollows {
        /// The requested kind.
        follow: Kind,
        /// The kind of the earlier transaction.
        earlier: Kind,
    },
    /// A later event of the earlier transaction forbids the follow-up.
    #[error("{earlier}: {why}")]
    CannotFollow {
        /// The earlier transaction's name, in a form that the till may see.
        earlier: String,
        /// The reason.
        why: CannotFollow,
    },
    /// No amount is left.
    #[error("nothing is left of the earlier transaction's amount")]
    NothingLeft,
    /// The requested amount is not in the currency of the transaction, which is given here.
    #[error("the earlier transaction is in {0}")]
    OtherCurrency(Currency),
    /// The requested amount is higher than the remaining amount.
    #[error("{asked} is more than the remaining {left}")]
    TooMuch {
        /// The requested amount.
        asked: Amount,
        /// The remaining amount.
        left: Amount,
    },
    /// The till must name an amount, because there is no limit to use as the default.
    #[error("an increment needs an amount")]
    AmountNeeded,
    /// The gateway sent no payment id for the earlier transaction.
    #[error("the payment id of {earlier} is not known")]
    PaymentUnknown {
        /// The earlier transaction's name, in a form that the till may see.
        earlier: String,
    },
}

/// Returns whether a transaction belongs to a till other than this one. A follow-up to it needs a separate right.
#[must_use]
pub fn is_another_tills(order: &Order, till: &str) -> bool {
    order.till != till
}

/// Returns the reservation of an increment, if the journal contains it. The history of the reservation limits the
/// follow-ups of the increment.
#[must_use]
pub fn reservation_behind(order: &Order) -> Option<SaleNumber> {
    match &order.operation {
        Operation::Increment { of } => of.number,
        _ => None,
    }
}

/// Returns the kind of follow-up for which a view of a transaction shows the remaining amount.
#[must_use]
pub fn told_follow_up(earlier: Kind) -> Option<Kind> {
    if earlier.is_reservation() { Some(Kind::Capture) } else { earlier.takes_money().then_some(Kind::Refund) }
}

/// Returns the earlier transaction as the gateway knows it, and the amount of the follow-up. If the till named no
/// amount, the follow-up has the whole remaining amount.
///
/// # Errors
/// Returns the reason why the follow-up is refused.
pub fn follow_up(
    follow: Kind,
    sale: &Transaction,
    left: Result<Left, CannotFollow>,
    asked: Option<Amount>,
    till: &str,
) -> Result<(Earlier, Amount), NoFollowUp> {
    let order = sale.order();
    let left = left.map_err(|why| match why {
        CannotFollow::NeverFollows => NoFollowUp::NeverFollows { follow, earlier: order.kind() },
        why => NoFollowUp::CannotFollow { earlier: named_for(order, till), why },
    })?;
    let amount = amount_of(left, asked)?;
    let payment = sale.host().id.clone();
    let payment = payment.ok_or_else(|| NoFollowUp::PaymentUnknown { earlier: named_for(order, till) })?;
    Ok((Earlier { payment, number: Some(order.number) }, amount))
}

/// Returns the amount of the follow-up, given the remaining and the requested amount.
fn amount_of(left: Left, asked: Option<Amount>) -> Result<Amount, NoFollowUp> {
    match (left, asked) {
        (Left::Nothing, _) => Err(NoFollowUp::NothingLeft),
        (Left::UpTo(left), Some(asked)) if asked.currency() != left.currency() => {
            Err(NoFollowUp::OtherCurrency(left.currency()))
        }
        (Left::Any(currency), Some(asked)) if asked.currency() != currency => Err(NoFollowUp::OtherCurrency(currency)),
        (Left::UpTo(left), Some(asked)) if asked.minor() > left.minor() => Err(NoFollowUp::TooMuch { asked, left }),
        (_, Some(asked)) => Ok(asked),
        (Left::UpTo(left), None) => Ok(left),
        (Left::Any(_), None) => Err(NoFollowUp::AmountNeeded),
    }
}

/// Returns the earlier transaction's name, in a form that the till may see. This is its reference if it belongs to the
/// till, and otherwise its number.
fn named_for(order: &Order, till: &str) -> String {
    if is_another_tills(order, till) { format!("transaction {}", order.number) } else { order.reference.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{eur, usd};
    use super::*;
    use crate::transaction::{HostFacts, Outcome, Record};
    use pos_terms::transaction::PaymentId;

    const TILL: &str = "till-1";

    fn payment() -> PaymentId {
        PaymentId::new("8ac7a4a1000000000000000000000001")
    }

    fn order() -> Order {
        serde_json::from_value(serde_json::json!({
            "number": 17, "till": TILL, "reference": "R1", "amount": eur(1000), "terminalId": "12345678",
            "merchantTransactionId": "12345678-17-00000000000000000000000000000001", "startedUnixMs": 0,
            "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap()
    }

    fn sale(id: Option<PaymentId>) -> Transaction {
        let order = order();
        let host = Some(HostFacts { id, ..HostFacts::default() });
        let ended = Record::Ended { outcome: Outcome::Approved, host, card: None, by: None, at_unix_ms: None };
        Transaction::replay(&[vec![Record::Started { order }], vec![ended]]).unwrap()
    }

    fn refund(left: Result<Left, CannotFollow>, asked: Option<Amount>, till: &str) -> Result<Amount, NoFollowUp> {
        follow_up(Kind::Refund, &sale(Some(payment())), left, asked, till).map(|(_, amount)| amount)
    }

    #[test]
    fn as_much_as_is_left_and_all_of_it_when_no_amount_is_named() {
        let up_to = |asked| refund(Ok(Left::UpTo(eur(600))), asked, TILL);
        assert_eq!(up_to(None), Ok(eur(600)));
        assert_eq!(up_to(Some(eur(600))), Ok(eur(600)));
        assert_eq!(up_to(Some(eur(1))), Ok(eur(1)));
        assert_eq!(up_to(Some(eur(601))), Err(NoFollowUp::TooMuch { asked: eur(601), left: eur(600) }));
        // An amount in another currency is neither higher nor lower, so every such request is refused.
        for asked in [1, 600, 601] {
            assert_eq!(up_to(Some(usd(asked))), Err(NoFollowUp::OtherCurrency(eur(1).currency())));
        }
    }

    #[test]
    fn of_nothing_nothing_follows_and_what_has_no_bound_needs_an_amount() {
        for asked in [None, Some(eur(1)), Some(usd(1))] {
            assert_eq!(refund(Ok(Left::Nothing), asked, TILL), Err(NoFollowUp::NothingLeft));
        }
        let any = |asked| refund(Ok(Left::Any(eur(1).currency())), asked, TILL);
        assert_eq!(any(None), Err(NoFollowUp::AmountNeeded));
        assert_eq!(any(Some(eur(99_999))), Ok(eur(99_999)));
        assert_eq!(any(Some(usd(1))), Err(NoFollowUp::OtherCurrency(eur(1).currency())));
    }

    #[test]
    fn the_earlier_one_is_named_to_the_gateway_by_its_id_and_here_by_its_number() {
        let left = || Ok(Left::UpTo(eur(600)));
        let (earlier, _) = follow_up(Kind::Refund, &sale(Some(payment())), left(), None, TILL).unwrap();
        assert_eq!(
            (earlier.payment, earlier.number.map(|number| number.to_string())),
            (payment(), Some("17".to_owned()))
        );
        let unknown = follow_up(Kind::Refund, &sale(None), left(), None, TILL).unwrap_err();
        assert_eq!(unknown.to_string(), "the payment id of R1 is not known");
    }

    #[test]
    fn only_an_increment_has_a_reservation_behind_it() {
        let number = order().number;
        let of = Earlier { payment: payment(), number: Some(number) };
        let behind = |transaction| reservation_behind(&Order { operation: transaction, ..order() });
        assert_eq!(behind(Operation::Increment { of: of.clone() }), Some(number));
        assert_eq!(behind(Operation::Increment { of: Earlier { number: None, ..of.clone() } }), None);
        assert_eq!(behind(Operation::Capture { of }), None);
        assert_eq!(behind(Operation::Sale), None);
    }

    #[test]
    fn of_what_is_reserved_the_rest_to_capture_is_told_and_of_what_was_taken_the_rest_to_refund() {
        for (earlier, told) in [
            (Kind::PreAuthorisation, Some(Kind::Capture)),
            (Kind::Reauthorisation, Some(Kind::Capture)),
            (Kind::Sale, Some(Kind::Refund)),
            (Kind::Capture, Some(Kind::Refund)),
            (Kind::Increment, None),
            (Kind::Refund, None),
            (Kind::Reversal, None),
            (Kind::Credit, None),
        ] {
            assert_eq!(told_follow_up(earlier), told, "{earlier:?}");
        }
    }

    #[test]
    fn only_its_own_till_hears_its_reference() {
        assert!(!is_another_tills(sale(None).order(), TILL) && is_another_tills(sale(None).order(), "till-2"));
        let said = |till| refund(Err(CannotFollow::Reversed), None, till).unwrap_err().to_string();
        assert_eq!(said(TILL), "R1: the earlier transaction was reversed");
        assert_eq!(said("till-2"), "transaction 17: the earlier transaction was reversed");
        let never = refund(Err(CannotFollow::NeverFollows), None, TILL).unwrap_err();
        assert_eq!(never.to_string(), "refund of a sale is not possible");
    }
}
