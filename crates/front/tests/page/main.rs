//! The cashier's page in a real Chromium, before the real programs with simulated devices.
//!
//! | | what it shows |
//! |---|---|
//! | `pairs` | each pair of values of several factors in few rows |
//! | `plays` | each kind and each outcome, disturbed pairwise: the page's last word is the gateway's |
//! | `again` | what is begun again is what was tried; one number on every screen; a refusal stays; the close names what it closes |
//! | `line` | a connection that is cut is said, and nothing old is shown as if it were new |
//! | `screens` | each main screen in each language and size, measured and by axe-core; pictures to look at |
//! | `search` | a payment is found by amount, card or reference; older ones come page by page |
//! | `training` | what is trained is marked and reaches nobody; a tip that is chosen is charged |
//! | `words` | the page's words are the same in each language, and there are some for each reason of the agent |
//! | `counter` | the programs and the simulators; Chromium is `pos_test_kit::browser` |
//!
//! What needs Chromium is left out by a plain `cargo test`, which says so. `bash crates/front/tests/page/run` installs
//! what is missing and runs it.

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
