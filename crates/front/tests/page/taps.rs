//! The number of taps that a cashier needs, without a keyboard, on the screen of a 7-inch kiosk.

use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;

use crate::browser::{Browser, By, Driver};
use crate::counter::Counter;

const KIOSK: (u32, u32) = (800, 480);

/// A finger that counts its taps.
struct Finger<'a> {
    page: &'a Browser,
    taps: usize,
}

impl Finger<'_> {
    async fn tap(&mut self, selector: &str) {
        self.taps += 1;
        self.page.press(selector, By::Pointer).await;
    }

    /// Taps one key for each digit. `attribute` is that of the keypad.
    async fn digits(&mut self, attribute: &str, digits: &str) {
        for digit in digits.chars() {
            self.tap(&format!("[{attribute}='{digit}']")).await;
        }
    }

    /// Charges an amount with this card and leaves the finger on the outcome.
    async fn sells(&mut self, counter: &Counter, digits: &str, card: (&str, CardEntry)) {
        self.digits("data-key", digits).await;
        self.tap("#charge").await;
        self.page.until_screen("sale-card").await;
        counter.present(card.0, card.1).await;
    }

    /// Returns the number of taps since the last count.
    fn counted(&mut self) -> usize {
        std::mem::take(&mut self.taps)
    }
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_cashier_needs_few_taps() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let operators =
        "[operators]\nrequired = true\npin-digits = 4\nsupervisor-above = { refund = \"never\" }\n\n[gateway]";
    let options = Options { config: vec![("[gateway]".to_owned(), operators.to_owned())], ..Options::default() };
    let counter = Counter::open_with(options, "[page]\nwithout-sign-in = \"nobody\"\n").await;
    counter.add_operator("Anna", "cashier", "2580").await;
    page.open(&counter.url, "en", KIOSK).await;
    let mut finger = Finger { page: &page, taps: 0 };

    finger.tap("[data-operator=Anna]").await;
    finger.digits("data-pin", "2580").await;
    page.until_screen("pay").await;
    page.until_link("up").await;
    assert!(finger.counted() <= "2580".len() + 2, "to sign in");

    // The gateway declines an amount that ends with 51.
    finger.sells(&counter, "1251", ("tap", CardEntry::Tap)).await;
    assert!(finger.counted() <= 5, "for a sale");
    page.until_screen("sale-declined").await;
    finger.tap("#retry").await;
    page.until_screen("sale-card").await;
    assert_eq!(finger.counted(), 1, "to retry");
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-declined").await;
    finger.tap("#new").await;
    finger.sells(&counter, "1200", ("tap", CardEntry::Tap)).await;
    page.until_screen("sale-approved").await;
    finger.counted();

    finger.tap("[data-view=sales]").await;
    finger.tap("[data-refund]").await;
    finger.tap("#do").await;
    page.until_screen("sale-approved").await;
    assert_eq!(finger.counted(), 3, "to refund the last payment");

    // The payment to refund is not the newest one. Only it has a card with these last four digits.
    finger.tap("#new").await;
    finger.sells(&counter, "1300", ("chip-pin", CardEntry::Insert)).await;
    page.until_screen("sale-approved").await;
    let last4 = page.run("return document.querySelector('.lines').textContent.match(/ending in (\\d{4})/)[1]").await;
    let last4 = last4.as_str().unwrap().to_owned();
    finger.tap("#new").await;
    finger.sells(&counter, "1400", ("tap", CardEntry::Tap)).await;
    page.until_screen("sale-approved").await;
    finger.counted();
    finger.tap("[data-view=sales]").await;
    finger.tap("#digits").await;
    finger.digits("data-key", &last4).await;
    page.until("document.querySelectorAll('.entry').length === 1").await;
    finger.tap("[data-refund]").await;
    finger.tap("#do").await;
    page.until_screen("sale-approved").await;
    assert!(finger.counted() <= 8, "to refund a payment found by the last four digits");
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}
