//! Data of the cardholder or the shop that must not appear in any output. The tests record the whole process's log at
//! its finest level and search it, so this program contains no other tests.
//!
//! | Module | Subject |
//! |---|---|
//! | `card_data` | log, disk, paper, answers and `Debug` output of sales with all test cards |
//! | `bank_answers` | card numbers that a gateway writes into its texts |
//! | `support_archive` | `pos-agent doctor --bundle` after a day of sales |
//! | `operator_pins` | operators' PINs, and the stored data about them |
//! | `wiping` | dropped secrets are gone from memory (a separate program, in which no other code may allocate memory) |
//! | `leak` | every way in which bytes can be written in a text |
//! | `log` | the log of the whole process |
//! | `overheard` | the data that the reader sealed, recorded on its connection |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{counter, https};

mod bank_answers;
mod card_data;
mod leak;
mod log;
mod operator_pins;
mod overheard;
mod support_archive;
