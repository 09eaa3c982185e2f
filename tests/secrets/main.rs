//! Data of the cardholder or the shop that no output may contain. The log of the whole process is kept at its finest
//! level and searched, so this program contains no other tests.
//!
//! | | what it shows |
//! |---|---|
//! | `card_data` | log, disk, paper, answers and `Debug` outputs of sales with all test cards |
//! | `bank_answers` | card numbers that a gateway writes into its texts |
//! | `support_archive` | `pos-agent doctor --bundle` after a day of sales |
//! | `operator_pins` | the PINs of operators, and the data that is kept about them |
//! | `wiping` | dropped secrets are gone from memory; a separate program, because no other code may allocate memory in it |
//! | `leak` | every way in which bytes get into a text |
//! | `log` | the log of the whole process |
//! | `overheard` | the data that the reader sealed, from its own line |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{counter, https};

mod bank_answers;
mod card_data;
mod leak;
mod log;
mod operator_pins;
mod overheard;
mod support_archive;
