//! The contract of the agent's interface for tills: requests, answers, refusals and deadlines. This crate is
//! neither a server nor a till protocol, and contains no rules for transactions. Invariant: every caller waits longer
//! than the agent may need, and no caller fails because of a word from a later agent version.
//!
//! The agent writes whole answers (`src/till` of the agent). A caller reads the part that it needs. Both are checked
//! against the same description, `openapi.json`.

// Requests, and the meaning of their answers.
mod asked;
// Requests to begin a transaction.
mod begin;
// The only client: HTTP over the agent's Unix socket, and the stream of events.
#[cfg(feature = "client")]
pub mod client;
// Deadlines for the agent and for all its callers.
pub mod deadlines;
// One transaction, from its begin to its outcome, for a till.
pub mod follow;
// The names of headers.
pub mod headers;
// A till's own lines on the terminal's paper.
mod print_line;
// Problem types, which are the reasons why a request is refused.
pub mod problem;
// All methods of all paths.
pub mod routes;
// The catalogue of events.
pub mod steps;
// Answers.
mod view;

#[cfg(test)]
mod description_tests;

/// The greatest number in requests and answers: the greatest that JavaScript holds exactly (2^53 - 1). No number of the
/// terminal becomes larger.
pub const GREATEST_NUMBER: u64 = (1 << 53) - 1;

/// Returns whether a text can be a till's name: 1 to 32 letters, digits, `-` and `_`.
#[must_use]
pub fn is_till_name(text: &str) -> bool {
    (1..=32).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

pub use asked::{Ask, Request, Said};
pub use begin::{Begin, Entry, Kind, OnSilence, Taken};
pub use print_line::{Align, MOST_LINES, PrintCode, PrintLine, Style};
pub use problem::ProblemType;
pub use view::{
    Card, Close, Copy, Entries, JournalEntry, LastEntry, OpenItem, Outcome, OwnSums, Printer, Problem, Receipt, Row,
    RowIs, Sale, State, Status, Sum, ToConfirm, Turnover, Typed, Waits,
};
