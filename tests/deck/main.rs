//! The whole terminal with every card and every fault, in many shops at once: long tests that fill the machine, and so
//! a program of their own.
//!
//! | | what it shows |
//! |---|---|
//! | `deck` | every card in every way, every fault at every step of it |
//! | `hotplug` | the reader's cable, pulled and put back at random moments |
//! | `row` | a row of their tables, played |

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and tells its rows and its seed")]

use pos_test_kit::counter;

mod deck;
mod hotplug;
mod row;
