//! Printing, and the way of a receipt to the printer.
//!
//! | | what it shows |
//! |---|---|
//! | `printer` | the printer's task on TCP, a pty and a device that is no tty |
//! | `receipts` | receipts as a person reads them |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod printer;
mod receipts;
