//! The refusals of the first boot. Each names the remedy.

use hyper::StatusCode;
use pos_first_boot::{Refusal, Reply};

use super::root::RootError;
use crate::problem::Problem;

/// Returns the refusal of a body that root could not read.
pub(super) fn no_json() -> Problem {
    Problem::malformed("the body is not one JSON value")
}

/// Returns the refusal of a browser that has not given the code.
pub(super) fn not_entered() -> Problem {
    let detail = "type the code that the console and the printer's paper show";
    Problem::unauthorized("not-entered", detail)
}

/// Returns the refusal of a code from a browser that keeps no cookie. It would not be known again.
pub(super) fn no_cookie() -> Problem {
    let detail = "this browser sends no cookie of this page; permit cookies, then load the page again";
    Problem::new(StatusCode::FORBIDDEN, "no-cookie", "The browser sends no cookie", detail)
}

/// Returns the refusal of a second browser.
pub(super) fn taken() -> Problem {
    let detail = "another browser has given the code; go on there, or start the board again to get a new code";
    Problem::new(StatusCode::FORBIDDEN, "taken", "Another browser sets up this terminal", detail)
}

/// Returns the refusal of a request while root works on another one.
pub(super) fn busy() -> Problem {
    let detail = "another request is being worked on; wait a moment and repeat this one";
    Problem::new(StatusCode::CONFLICT, "busy", "Another request is being worked on", detail).again_in(1)
}

/// Returns the refusal of a request that root's half did not answer.
pub(super) fn root_down(error: RootError) -> Problem {
    tracing::warn!(%error, "root's half of the first boot gave no answer");
    let remedy = "wait a moment and try again; if it stays so, start the board again (pos-first-boot.service)";
    let (status, code) = match error {
        RootError::Garbage => (StatusCode::BAD_GATEWAY, "root-wrong"),
        RootError::Away(_) | RootError::Silent(_) => (StatusCode::SERVICE_UNAVAILABLE, "root-down"),
    };
    Problem::new(status, code, "The setup does not answer", format!("the setup does not answer: {error}; {remedy}"))
}

/// Returns root's refusal. A reply that does not fit the request is not understood.
pub(super) fn refused(reply: Reply) -> Problem {
    let Reply::Refused(refusal) = reply else { return root_down(RootError::Garbage) };
    match refusal {
        Refusal::Closed => {
            let detail = "too many codes were wrong, or the hour is over; start the board again to get a new code";
            Problem::new(StatusCode::FORBIDDEN, "closed", "The first boot is closed", detail)
        }
        Refusal::Configured => {
            let detail = "this terminal is set up; load this page again to open the cashier's page";
            Problem::new(StatusCode::CONFLICT, "configured", "The terminal is set up", detail)
        }
        Refusal::NotEntered => not_entered(),
        Refusal::Busy => busy(),
        Refusal::Malformed(detail) => Problem::malformed(detail),
        // Only a code is refused so, and `enter` has answered it.
        Refusal::WrongCode { .. } => root_down(RootError::Garbage),
    }
}
