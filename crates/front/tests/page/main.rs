//! The cashier's page in a real Chromium, with the real programs and simulated devices.
//!
//! | | content |
//! |---|---|
//! | `pairs` | each pair of values of several factors in few rows |
//! | `plays` | each kind and each outcome, disturbed pairwise: the page's last word is the gateway's |
//! | `again` | the same transaction again; one amount on every screen; a refusal stays; the close names its content |
//! | `line` | a cut connection is reported, and old data is never shown as new |
//! | `screens` | each main screen in each language and size, measured and checked by axe-core; screenshots |
//! | `search` | a payment is found by amount, card or reference; older ones come page by page |
//! | `training` | training is marked and changes nothing outside; a chosen tip is charged |
//! | `words` | each language has the same texts, including one for each reason of the agent |
//! | `counter` | the programs and the simulators; Chromium is `pos_test_kit::browser` |
//!
//! A plain `cargo test` skips the tests that need Chromium and reports this. `bash crates/front/tests/page/run`
//! installs what is missing and runs them.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{browser, within};

mod again;
mod counter;
mod line;
mod pairs;
mod plays;
mod screens;
mod search;
mod training;
mod words;
