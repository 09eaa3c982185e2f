//! The hosted widget of the simulated gateway in a real Chromium, on the page of a shop with its own server. Everything
//! runs over real HTTPS.
//!
//! | | what it shows |
//! |---|---|
//! | `cards` | a card is paid, declined, refused, stopped by the shop's callback, lost on the way |
//! | `fast_checkout` | the checkout that a click creates, and a script that was changed |
//! | `redirects` | 3-D Secure, wallets, pages in a frame: the shopper comes back with the result |
//! | `options` | languages, labels, styles, and a content security policy with a nonce |
//! | `shop` | the shop's server; the browser is `pos_test_kit::browser` |
//! | `run` | installs what is missing and runs them |
//!
//! A plain `cargo test` leaves them out and says so. To run them: `bash tests/widget/run`.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{browser, https};

mod cards;
mod fast_checkout;
mod options;
mod redirects;
mod shop;
