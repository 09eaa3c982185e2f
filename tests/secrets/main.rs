//! What a cardholder or the shop entrusts to the terminal is said nowhere. Here the log of the whole process is kept
//! at its finest and searched, so nothing else is tested in it.
//!
//! | | what it shows |
//! |---|---|
//! | `card_data` | log, disk, paper, answers and `Debug` outputs of a deck of sales |
//! | `bank_answers` | card numbers that a bank writes into its texts |
//! | `support_archive` | `pos-agent doctor --bundle` after a day of sales |
//! | `operator_pins` | the PINs of operators, and what is kept of them |
//! | `wiping` | what is dropped is gone from memory; a program of its own, for nothing else may take memory in it |
//! | `leak` | every way in which bytes get into a text |
//! | `log` | the log of the whole process |
//! | `overheard` | what the reader sealed, from its own line |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{counter, https};

mod bank_answers;
mod card_data;
mod leak;
mod log;
mod operator_pins;
mod overheard;
mod support_archive;
