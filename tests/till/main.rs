//! Requests of a till and their answers: HTTP at the socket and the port, rights, status, lists and metrics. The tests
//! use the real agent (`counter`, `program`) or one that follows a script (`fake_agent`).
//!
//! | Module | Subject |
//! |---|---|
//! | `till_http` | the JSON interface, byte by byte |
//! | `rights` | each verb with each right, and the operator that the journal records |
//! | `status` | each fault has one word, in the status, the exit code, the table and the log |
//! | `closes` | closes of day: making, listing, showing in three forms, reprinting |
//! | `confirmation` | sales that a till confirms: every answer, no answer, and a power cut before the answer |
//! | `listing` | many simultaneous long lists |
//! | `events` | server-sent events: recipients, and continuation after the last event |
//! | `searching` | searches in lists, page by page |
//! | `receipts` | receipts as text, as data and as a page |
//! | `waits` | the reason for each wait of a sale, and its duration |
//! | `crowds` | hostile callers at the tills' socket and port, and sockets from systemd |
//! | `operators` | sign-ins, operators' rights, and the handling of PIN tries |
//! | `supervisors` | an insider who uses a supervisor's approval for another command |
//! | `insider` | the same with many pairs of commands, and after a restart |
//! | `language` | refusals and status of a terminal whose language is German |
//! | `metrics` | the metrics for monitoring systems |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{book, counter, fake_agent, program};

mod closes;
mod confirmation;
mod crowds;
mod events;
mod insider;
mod language;
mod listing;
mod metrics;
mod operators;
mod receipts;
mod rights;
mod searching;
mod status;
mod supervisors;
mod till_http;
mod waits;
