//! Is: the contract of the agent's interface for tills: requests, answers, refusals and deadlines.
//! Is not: a server, a rule of a transaction, or a till protocol.
//! Invariant: every caller waits longer than the agent may need; a word of a later agent version breaks no caller.
//!
//! The agent writes whole answers (`src/till` of the agent); a caller reads the part that it needs. Both are checked
//! against one description, `openapi.json`.

// Requests, and the meaning of their answers.
mod asked;
// Requests to begin a transaction.
mod begin;
// The only client: HTTP over the agent's Unix socket, and the stream of events.
#[cfg(feature = "client")]
pub mod client;
// Deadlines of the agent's answers and of all callers.
pub mod deadlines;
// One transaction, from its begin to its outcome.
pub mod follow;
// A till's own lines on the terminal's paper.
mod print_line;
// Problem types: the reasons why a request is refused.
pub mod problem;
// All methods of all paths.
pub mod routes;
// Answers.
mod view;

#[cfg(test)]
mod description_tests;

pub use asked::{Ask, Request, Said};
pub use begin::{Begin, Entry, Kind, OnSilence, Taken};
pub use print_line::{Align, MOST_LINES, PrintCode, PrintLine, Style};
pub use problem::ProblemType;
pub use view::{
    Card, Close, Copy, OpenItem, Outcome, OwnSums, Printer, Problem, Receipt, Row, RowIs, Sale, State, Status, Sum,
    ToConfirm, Turnover, Typed, Waits,
};
