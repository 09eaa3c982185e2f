//! The programs as a person or a service manager starts them: words, exit codes, files, the log.
//!
//! | | what it shows |
//! |---|---|
//! | `cli` | words and exit codes of `pos-agent`, and a sale against a daemon that plays a script |
//! | `closes` | `pos-agent close`, and the exit codes that a script goes by |
//! | `config` | examples that must be right, and mistakes that must be named with their remedy |
//! | `setup` | `pos-agent setup`, at a terminal and unattended |
//! | `doctor` | `pos-agent doctor` in a shop in which one thing is wrong |
//! | `health` | `pos-agent health` after an update |
//! | `logging` | where the log goes, and how much of it for how long |
//! | `operator` | `pos-agent operator`, and verbs that somebody signs in for |
//! | `memory` | another process of the same user reads nothing of the agent |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{counter, fake_agent, program};

mod cli;
mod closes;
mod config;
mod doctor;
mod health;
mod logging;
mod memory;
mod operator;
mod setup;
