//! The whole terminal with every card and every fault, in many shops at the same time. These tests are long and use the
//! whole machine, so they are a separate program.
//!
//! | Module | Subject |
//! |---|---|
//! | `deck` | every card in every way of presenting it, cardholders, printers, and the gateway's answers |
//! | `faults` | every fault at every step of every card, with each family of readers |
//! | `hotplug` | the reader's cable, pulled and put back at random moments |
//! | `row` | one row of the tables, and its run |

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and tells its rows and its seed")]

use pos_test_kit::counter;

mod deck;
mod faults;
mod hotplug;
mod row;
