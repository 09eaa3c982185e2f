//! The hosted widget of the simulated gateway in a real Chromium, on the page of a shop with a server of its own: all
//! of it over real HTTPS.
//!
//! | | what it shows |
//! |---|---|
//! | `cards` | a card is paid, declined, refused, stopped by the shop's callback, lost on the way |
//! | `fast_checkout` | the checkout that is made by a click, and a script that was changed |
//! | `redirects` | 3-D Secure, wallets, pages in a frame: the shopper comes back with the result |
//! | `options` | languages, labels, styles, and a content security policy with a nonce |
//! | `shop` | the shop's server; the browser is `front/tests/page/browser.rs` |
//! | `run` | installs what is missing and runs them |
//!
//! A plain `cargo test` leaves them out, which it says: `bash tests/widget/run`.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::time::Duration;

#[path = "../../front/tests/page/browser.rs"]
mod browser;
mod cards;
mod fast_checkout;
#[path = "../support/https.rs"]
mod https;
mod options;
mod redirects;
mod shop;

/// Longer than anything here takes; a test that hangs fails by name.
const PATIENCE: Duration = Duration::from_secs(30);

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not come within {} s", PATIENCE.as_secs()),
    }
}
