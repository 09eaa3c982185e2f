//! The acts of a cashier that several tests need: sign-in, a charge, a whole sale.

use pos_sim::reader::CardEntry;

use crate::browser::{Browser, By, ESCAPE};
use crate::counter::Counter;

pub(crate) const PIN: &str = "2580";

/// Signs an operator in, on the screen with the names.
pub(crate) async fn sign_in(page: &Browser, name: &str) {
    page.press(&format!("[data-operator={name}]"), By::Pointer).await;
    page.until("document.querySelector('.pin')").await;
    page.keys(PIN).await;
    page.until("document.body.dataset.screen !== 'sign-in'").await;
    page.until_link("up").await;
}

/// Types an amount and begins the transaction.
pub(crate) async fn charge(page: &Browser, digits: &str) {
    page.until_screen("pay").await;
    page.keys(&format!("{ESCAPE}{digits}\u{e007}")).await;
    page.until_screen("sale-card").await;
}

/// Charges an amount with a tap. Returns the reference.
pub(crate) async fn sell(page: &Browser, counter: &Counter, digits: &str) -> String {
    page.until_link("up").await;
    charge(page, digits).await;
    let reference = page.run("return JSON.parse(localStorage.getItem('pos.sale')).reference").await;
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-approved").await;
    page.press("#new", By::Pointer).await;
    page.until_screen("pay").await;
    reference.as_str().unwrap().to_owned()
}
