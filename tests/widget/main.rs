//! The hosted widget of the simulated gateway in a real Chromium, on the page of a shop with its own server. Everything
//! runs over real HTTPS.
//!
//! | Part | Subject |
//! |---|---|
//! | `cards` | card payments that are approved, declined, refused, stopped by the shop's callback, or lost |
//! | `fast_checkout` | the checkout that a click creates, and a script that was changed |
//! | `redirects` | 3-D Secure, wallets and pages in a frame, from which the shopper returns with the result |
//! | `options` | languages, labels, styles, and a content security policy with a nonce |
//! | `shop` | the shop's server (the browser is `pos_test_kit::browser`) |
//! | `run` | a script that installs missing programs and runs these tests |
//!
//! A plain `cargo test` leaves these tests out and says so. To run them, use `bash tests/widget/run`.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{browser, https};

mod cards;
mod fast_checkout;
mod options;
mod redirects;
mod shop;
