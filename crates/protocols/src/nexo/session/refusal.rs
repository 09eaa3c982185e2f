//! Refusals in nexo's terms.

use std::fmt;

use crate::nexo::additional;
use crate::nexo::enums::ErrorCondition;
use crate::nexo::shared::Outcome;
use pos_till_api::{Problem, ProblemType};

/// Builds a failure with its reason.
pub(super) fn because(condition: ErrorCondition, why: &dyn fmt::Display) -> Outcome {
    Outcome::failure(condition).with(additional::write([("message", why.to_string().as_str())]))
}

/// Builds the failure for a refusal by the terminal. After a refusal, nothing was done.
pub(super) fn refused(problem: &Problem) -> Outcome {
    use ProblemType as P;
    let condition = match problem.known() {
        Some(P::Busy | P::ListUnderWay | P::TooManyRequests | P::NoPlace) => ErrorCondition::Busy,
        Some(P::NoSuchSale | P::NoSuchClose) => ErrorCondition::NotFound,
        Some(
            P::Amount
            | P::Currency
            | P::NotPossible
            | P::Forbidden
            | P::OperatorRequired
            | P::OperatorRole
            | P::SessionEnded
            | P::SupervisorNeeded
            | P::NotApproved,
        ) => ErrorCondition::NotAllowed,
        Some(P::Parameter | P::Reference | P::Operator | P::Malformed | P::TooLarge) => ErrorCondition::MessageFormat,
        Some(P::NotReady | P::Journal | P::Printer) => ErrorCondition::UnavailableDevice,
        _ => ErrorCondition::UnavailableService,
    };
    because(condition, &problem.detail)
}
