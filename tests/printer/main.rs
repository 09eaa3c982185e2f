//! Printing, from a receipt's data to the printer's paper.
//!
//! | Module | Subject |
//! |---|---|
//! | `printer` | the printer's task on TCP, a pty and a device that is not a tty |
//! | `receipts` | receipts as a person reads them |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod printer;
mod receipts;
