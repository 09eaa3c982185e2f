//! The protocols of tills that exist: ZVT and nexo (Terminal API), as bytes and rules, without wires and clocks.
//!
//! What this is not: a way to the agent, a listener, or a store. `pos-front` has those; the simulated tills of
//! `pos-sim` speak the other side with the same code, and clients that nobody here wrote hold both to the documents.

// Points in time as they stand in messages.
pub mod clock;
// Texts in lines of paper.
mod lines;
pub mod nexo;
pub mod zvt;
