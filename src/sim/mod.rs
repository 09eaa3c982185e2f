//! The outside world on a desk: reader with a deck of test cards, gateway, printer, faults on the line. Feature `sim`
//! only.
//!
//! They speak the real wires (pty or TCP, TLS, ESC/POS) and hold the only code of the project that can decrypt; the
//! agent is built without it.

pub mod fault;
pub mod gateway;
pub mod keys;
pub mod printer;
pub mod reader;
pub mod shop;
