//! The till protocols ZVT and nexo (Terminal API): their bytes and rules, without sockets and clocks.
//!
//! Is not: a connection to the agent, a listener, or a store. `pos-front` has those. The simulated tills of `pos-sim`
//! speak the other side with the same code. Independent third-party clients check both sides against the documents.

// Points in time in messages.
pub mod clock;
// Wrapping of texts for paper.
mod lines;
pub mod nexo;
pub mod zvt;
