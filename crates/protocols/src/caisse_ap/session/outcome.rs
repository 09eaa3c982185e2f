//! The outcome of a transaction as the till hears it.
//!
//! | state or outcome | answer |
//! |---|---|
//! | approved, with the full amount | `AE` 10 |
//! | declined, or refused by the chip | 04 |
//! | no card or no tip in time; cancelled at second 110 | 08 |
//! | cancelled at the terminal's page; signature refused | 11 |
//! | cancelled at the reader; not sent; reversed for another reason | 06 |
//! | not known | none |

use crate::caisse_ap::failure::Failure;
use pos_till_api::{Outcome, Problem, ProblemType, Sale, State};

/// What the till hears about a transaction that is over for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Paid,
    NotDone(Failure),
    /// No answer, because the outcome is not known.
    Unknown,
}

/// Returns the answer for a transaction with an outcome. `late` is `true` if the session cancelled it at its time
/// limit.
pub(super) fn told(sale: &Sale, late: bool) -> Told {
    let reason = sale.reason.as_deref().unwrap_or_default();
    match (sale.state, sale.outcome) {
        (State::Ended, Some(Outcome::Approved)) => Told::Paid,
        (State::Ended, Some(Outcome::Declined)) => Told::NotDone(Failure::Declined),
        (State::Ended, Some(Outcome::Cancelled)) => Told::NotDone(match reason {
            "card-timeout" | "tip-timeout" => Failure::TimeOut,
            "till-cancelled" if late => Failure::TimeOut,
            "till-cancelled" => Failure::Operator,
            _ => Failure::GivenUp,
        }),
        (State::Ended, Some(Outcome::NotSent)) => Told::NotDone(Failure::GivenUp),
        (State::Ended, Some(Outcome::Reversed)) => Told::NotDone(match reason {
            "card-refused" => Failure::Declined,
            "signature-refused" => Failure::Operator,
            _ => Failure::GivenUp,
        }),
        _ => Told::Unknown,
    }
}

/// Returns the answer for a refusal. After a refusal, nothing was done.
pub(super) fn of_refusal(problem: &Problem) -> Failure {
    use ProblemType as P;
    match problem.known() {
        Some(P::Currency) => Failure::Currency,
        Some(
            P::Amount
            | P::Forbidden
            | P::OperatorRequired
            | P::OperatorRole
            | P::SupervisorNeeded
            | P::NotApproved
            | P::NoSupervisor
            | P::NotPossible,
        ) => Failure::Forbidden,
        _ => Failure::GivenUp,
    }
}
