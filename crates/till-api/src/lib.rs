//! Is: the contract of the agent's interface for tills: what is asked and heard, why not, and how long that may take.
//! Is not: a server, a rule of a sale, or a protocol of tills.
//! Invariant: every caller waits longer than the agent may take; a word of a later agent breaks no caller.
//!
//! The agent writes whole answers (`src/till` of the agent); a caller reads what it needs of them. Both are held to one
//! description, `openapi.json`.

// What is asked, and what an answer to it means.
mod asked;
// A transaction that is to begin.
mod begin;
// The one client: HTTP over the agent's Unix socket, and the stream of events.
#[cfg(feature = "client")]
pub mod client;
// How long the agent takes for an answer, and how long others wait for it.
pub mod deadlines;
// One transaction, from its begin to its end.
pub mod follow;
// A till's own lines on the terminal's paper.
mod print_line;
// Why a request is not carried out.
pub mod problem;
// Every method of every path.
pub mod routes;
// What is heard.
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
