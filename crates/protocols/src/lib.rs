//! The till protocols ZVT, nexo (Terminal API) and Caisse-AP over IP: their messages and rules, without sockets and
//! clocks.
//!
//! This crate has no connection to the agent, no listener and no store. `pos-front` has those. The simulated tills of
//! `pos-sim` use the same code for the other side. Independent third-party clients check both sides against the
//! documents.

pub mod caisse_ap;
// RFC 3339 times in messages.
pub mod clock;
// Wrapping of texts for printing.
mod lines;
// Amounts in minor units.
mod minor;
pub mod nexo;
pub mod zvt;
