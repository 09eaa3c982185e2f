//! What a till asks and is told: HTTP at the socket and the port, rights, the status, lists, figures. Behind it the
//! real agent (`counter`, `program`) or one that plays a script (`fake_agent`).
//!
//! | | what it shows |
//! |---|---|
//! | `till_http` | the JSON interface, spoken byte by byte |
//! | `rights` | each verb with each right, and who did it |
//! | `status` | each fault has one word, in the status, the exit code, the table and the log |
//! | `closes` | closes of day: made, listed, shown in three forms, printed again |
//! | `confirmation` | a sale that its till confirms: every answer, silence, and a power cut before it |
//! | `listing` | long lists, many at once |
//! | `events` | server-sent events: whose they are, and going on after the last one |
//! | `searching` | lists that are looked through, page by page |
//! | `receipts` | receipts as text, as data and as a page |
//! | `waits` | what a sale waits for, and how long |
//! | `doors` | hostile neighbours at the tills' doors, and sockets that systemd hands over |
//! | `operators` | who is signed in, what that allows, and what becomes of whoever tries PINs |
//! | `supervisors` | an insider with a supervisor's word for something else |
//! | `insider` | the same over many pairs, and after a restart |
//! | `metrics` | the figures for machines |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{book, counter, fake_agent, program};

mod closes;
mod confirmation;
mod doors;
mod events;
mod insider;
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
