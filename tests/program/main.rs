//! The programs as a person or a service manager starts them: output, exit codes, files and logs.
//!
//! | Module | Subject |
//! |---|---|
//! | `cli` | output and exit codes of `pos-agent`, and a sale with an agent that follows a script |
//! | `closes` | `pos-agent close`, and its exit codes for scripts |
//! | `config` | examples that must be accepted, and mistakes that must be reported with their remedy |
//! | `setup` | `pos-agent setup`, at a terminal and unattended |
//! | `doctor` | `pos-agent doctor` in a shop with one fault |
//! | `fleet_settings` | settings and keys from a fleet, with the real program and its restarts |
//! | `first_boot` | `pos-agent first-boot` as the front meets it |
//! | `health` | `pos-agent health` after an update |
//! | `help` | width of the help |
//! | `logging` | destination and level of the log |
//! | `starts` | a start that fails again and again, or as the wrong user |
//! | `operator` | `pos-agent operator`, and verbs that need an operator's sign-in |
//! | `reader_trace` | `pos-agent reader trace` with each family of readers |
//! | `memory` | another process of the same user cannot read the agent's memory |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{counter, fake_agent, program};

mod cli;
mod closes;
mod config;
mod doctor;
mod first_boot;
mod fleet_settings;
mod health;
mod help;
mod logging;
mod memory;
mod operator;
mod reader_trace;
mod setup;
mod starts;
