//! Is: the contract of the agent's interface for tills, as data: its routes, and how long an answer may take.
//! Is not: a server or a client of it, a wire or a clock.
//! Invariant: every caller waits longer than the agent may take.

// How long the agent takes for an answer, and how long others wait for it.
pub mod deadlines;
// Every method of every path.
pub mod routes;
