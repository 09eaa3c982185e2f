//! Tests of the cashier's page in a real Chromium, with the real programs and simulated devices.
//!
//! | file | content |
//! |---|---|
//! | `pairs` | a few rows that contain each pair of values of several factors |
//! | `pictures` | the pictures of the manual |
//! | `plays` | each kind and outcome with disturbances; page and gateway agree at the end |
//! | `again` | retries; the amount on every screen; refusals; the question before a close of day |
//! | `draft` | the typed amount stays on other screens and after a reload, and no other operator sees it |
//! | `line` | a lost connection is reported, old data never looks new, and a lost part of the page is loaded again |
//! | `payout` | a supervisor confirms a till's payout on the cashier's screen |
//! | `receipts` | after a sale, the receipt is printed on demand, shown as a QR code, or not offered |
//! | `screens` | each main screen in each language and size, measured and checked by axe-core; screenshots |
//! | `search` | payments are found by amount, card or reference; older ones are loaded on request |
//! | `shift` | an operator's sums agree with the gateway's ledger |
//! | `signing_in` | the connection's state, a wrong PIN and its wait at sign-in |
//! | `taps` | the number of taps that a cashier needs |
//! | `together` | two pages and two tills at once, with disturbances; no page shows another's outcome as its own |
//! | `training` | training is marked and moves no money; a chosen tip is charged |
//! | `first_boot` | the first boot: each step, restarts and lost connections, other browsers, the first payments |
//! | `steps` | the steps of the first boot, which the test of a board shares |
//! | `new_board` | a board at its first boot: its programs, devices, network and places |
//! | `devices` | paired devices, and the doctor's findings |
//! | `customer` | the customer's screen: each payment, a lost connection, each language and size |
//! | `words` | each language has the same texts, with one for each of the agent's reasons |
//! | `cashier` | a cashier's sign-in, charge and sale |
//! | `counter` | the programs and the simulators; Chromium is `pos_test_kit::browser` |
//!
//! A plain `cargo test` skips the tests that need Chromium and reports this. `bash crates/front/tests/page/run`
//! installs what is missing and runs them.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{PATIENCE, browser, within};

mod again;
mod cashier;
mod counter;
mod customer;
mod devices;
mod draft;
mod first_boot;
mod line;
mod new_board;
mod pairs;
mod payout;
mod pictures;
mod plays;
mod receipts;
mod screens;
mod search;
mod shift;
mod signing_in;
mod steps;
mod taps;
mod together;
mod training;
mod words;
