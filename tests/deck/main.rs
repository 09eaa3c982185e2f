//! The whole terminal with every card and every fault, in many shops at the same time. These long tests use the whole
//! machine, so they are a separate program.
//!
//! | | what it shows |
//! |---|---|
//! | `deck` | every card in every way, every fault at every step of it |
//! | `hotplug` | the reader's cable, pulled and put back at random moments |
//! | `row` | one row of their tables, played |

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and tells its rows and its seed")]

use pos_test_kit::counter;

mod deck;
mod hotplug;
mod row;
