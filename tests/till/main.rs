//! Requests of a till and their answers: HTTP at the socket and the port, rights, the status, lists, figures. The tests
//! use the real agent (`counter`, `program`) or one that plays a script (`fake_agent`).
//!
//! | | what it shows |
//! |---|---|
//! | `till_http` | the JSON interface, byte by byte |
//! | `rights` | each verb with each right, and the operator in the journal |
//! | `status` | each fault has one word, in the status, the exit code, the table and the log |
//! | `closes` | closes of day: made, listed, shown in three forms, printed again |
//! | `confirmation` | a sale that its till confirms: every answer, silence, and a power cut before it |
//! | `listing` | many long lists at the same time |
//! | `events` | server-sent events: their recipients, and continuing after the last one |
//! | `searching` | lists that are searched, page by page |
//! | `receipts` | receipts as text, as data and as a page |
//! | `waits` | the reason and duration of a sale's waits |
//! | `doors` | hostile callers at the tills' socket and port, and sockets that systemd hands over |
//! | `operators` | sign-ins, their rights, and the handling of PIN tries |
//! | `supervisors` | an insider who uses a supervisor's approval for another command |
//! | `insider` | the same over many pairs, and after a restart |
//! | `language` | refusals and status of a terminal whose language is German |
//! | `metrics` | the figures for machines |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{book, counter, fake_agent, program};

mod closes;
mod confirmation;
mod doors;
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
