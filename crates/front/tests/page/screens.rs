//! Tests of each main screen in each language, at five sizes, in light, in dark and in the large size. No content
//! is clipped or covered, and every control is large enough for a finger. axe-core finds no violation of WCAG 2.2 AA.
//! The screenshots are for people.
//!
//! A sample (`POS_FRONT_PAGE_EVERY`) combines screens, languages, sizes and looks pairwise.

use std::path::PathBuf;

use pos_sim::reader::{CardEntry, WaitsFor};
use pos_sim::shop::Options;
use pos_words::Language;
use serde_json::json;

use crate::browser::{Browser, By, Driver, ESCAPE};
use crate::cashier;
use crate::counter::Counter;
use crate::pairs::every;
use crate::receipts::on_demand;
use crate::training::{taught, train};

/// The variable with the folder of the npm package axe-core. `crates/front/tests/page/run` creates the folder.
const NPM: &str = "POS_FRONT_PAGE_NPM";
/// The variable with the folder for the screenshots. If the variable is not set, a folder below `target/` is used.
const PICTURES: &str = "POS_FRONT_PAGE_PICTURES";

/// Themes and the larger size; "light" and "dark" have the normal size.
const LOOKS: [&str; 3] = ["light", "dark", "large"];
const SIZES: [(u32, u32); 5] = [(480, 320), (800, 480), (768, 1024), (1024, 600), (1280, 800)];
const MEASURE: &str = include_str!("measure.js");
const RULES: &str = "axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }).then((result) => result.violations.map((one) => {
    const where = one.nodes.slice(0, 3).map((node) => node.target.join(' ') + ' ' + (node.any[0]?.message ?? ''));
    return one.id + ': ' + where.join(' | ');
  }))";
/// A promise that is fulfilled when all animations have ended and their result is drawn.
pub(crate) const SETTLED: &str = "(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame();
    await frame();
    const ends = (one) => one.effect?.getComputedTiming().endTime !== Infinity;
    await Promise.all(document.getAnimations().filter(ends).map((one) => one.finished.catch(() => 0)));
    await frame();
  })()";

/// Returns the folder for the screenshots.
pub(crate) fn pictures() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/page");
    PathBuf::from(std::env::var(PICTURES).unwrap_or_else(|_| default.to_owned()))
}

/// Checks one screen after another and collects the faults.
pub(crate) struct Eye<'a> {
    pub(crate) page: &'a Browser,
    pub(crate) language: &'static str,
    sizes: &'static [(u32, u32)],
    /// The number of the language, which is added to the number of the screen to choose the sample.
    offset: usize,
    /// The number of screens looked at.
    screens: usize,
    /// True to look at each screen at each size and in each look.
    whole: bool,
    axe: String,
    pictures: PathBuf,
    pub(crate) faults: Vec<String>,
}

impl<'a> Eye<'a> {
    /// Creates the eye for a page in this language. `offset` is the number of the language.
    pub(crate) fn of(page: &'a Browser, language: &'static str, offset: usize, sizes: &'static [(u32, u32)]) -> Self {
        let npm =
            std::env::var(NPM).unwrap_or_else(|_| panic!("{NPM} names no folder: see crates/front/tests/page/run"));
        let axe = std::fs::read_to_string(PathBuf::from(npm).join("node_modules/axe-core/axe.min.js")).unwrap();
        let pictures = pictures();
        std::fs::create_dir_all(&pictures).unwrap();
        let (whole, faults) = (every() == 1, Vec::new());
        Self { page, language, sizes, offset, screens: 0, whole, axe, pictures, faults }
    }

    pub(crate) async fn look(&mut self, name: &str) {
        // With its font, the page has other sizes.
        self.page.until("document.body.dataset.complete").await;
        // After a change of screen, new controls are blocked for a moment and look blocked.
        self.page.until("!document.querySelector('main [aria-disabled=true]')").await;
        let turn = self.screens + self.offset;
        let (whole, chosen) = (
            self.whole,
            (self.sizes[turn % self.sizes.len()], LOOKS[(turn / self.sizes.len() + self.offset) % LOOKS.len()]),
        );
        self.screens += 1;
        for size in self.sizes.iter().copied().filter(|size| whole || *size == chosen.0) {
            self.page.resize(size).await;
            self.page.until(&format!("innerWidth === {} && innerHeight === {}", size.0, size.1)).await;
            self.page.promised(SETTLED).await;
            self.keep(&format!("{name}-{}", size.0)).await;
            let found = self.page.run(MEASURE).await;
            self.note(&format!("{name} {}x{}", size.0, size.1), &found);
        }
        for look in LOOKS.into_iter().filter(|look| whole || *look == chosen.1) {
            self.page.scheme(if look == "dark" { "dark" } else { "light" }).await;
            self.page.run(&format!("dispatchEvent(new CustomEvent('look', {{ detail: {{ size: {look:?} }} }}))")).await;
            self.page.promised(SETTLED).await;
            if look != "light" {
                self.keep(&format!("{name}-{look}")).await;
                let found = self.page.run(MEASURE).await;
                self.note(&format!("{name} {look}"), &found);
            }
            self.page.run(&format!("if (!window.axe) {{ {} }}", self.axe)).await;
            let found = self.page.promised(RULES).await;
            assert!(found.is_array(), "axe-core did not run: {found}");
            self.note(&format!("{name} {look}"), &found);
        }
        self.page.scheme("light").await;
        self.page.run("dispatchEvent(new CustomEvent('look', { detail: { size: 'normal' } }))").await;
    }

    async fn keep(&self, name: &str) {
        let path = self.pictures.join(format!("{}-{name}.png", self.language));
        std::fs::write(path, self.page.picture().await).unwrap();
    }

    fn note(&mut self, place: &str, found: &serde_json::Value) {
        let all = found.as_array().unwrap();
        self.faults.extend(all.iter().map(|fault| format!("{} {place}: {}", self.language, fault.as_str().unwrap())));
    }
}

async fn again(page: &Browser) {
    if page.screen().await != "pay" {
        page.press("#new, #done", By::Pointer).await;
    }
    page.until_screen("pay").await;
    page.keys(&ESCAPE.to_string()).await;
}

async fn charge(page: &Browser, digits: &str) {
    again(page).await;
    cashier::charge(page, digits).await;
}

#[tokio::test]
#[ignore = "needs Chromium and axe-core: crates/front/tests/page/run installs them"]
async fn each_screen_in_each_language_and_size() {
    let driver = Driver::start().await;
    let look = |offset: usize, language: Language| {
        let driver = &driver;
        async move {
            let page = driver.browser().await;
            let mut eye = Eye::of(&page, language.code(), offset, &SIZES);
            walk(&mut eye).await;
            let mut faults = std::mem::take(&mut eye.faults);
            faults.extend(page.complaints().await);
            page.close().await;
            faults
        }
    };
    let mut faults = Vec::new();
    for (n, pair) in Language::ALL.chunks(2).enumerate() {
        let first = look(2 * n, pair[0]);
        let (mut ours, others) = match pair.get(1) {
            Some(other) => tokio::join!(first, look(2 * n + 1, *other)),
            None => (first.await, Vec::new()),
        };
        ours.extend(others);
        faults.append(&mut ours);
    }
    println!("pictures are in {}", pictures().display());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Goes through a short version of a cashier's day.
async fn walk(eye: &mut Eye<'_>) {
    let page = eye.page;
    let mut counter = Counter::open(on_demand()).await;
    page.open(&counter.url, eye.language, SIZES[3]).await;
    page.until_link("up").await;
    page.until_screen("pay").await;
    page.keys("123456").await;
    eye.look("pay").await;
    page.keys("78").await;
    eye.look("pay-long").await;
    page.press("#kind", By::Pointer).await;
    eye.look("kind").await;
    page.keys(&ESCAPE.to_string()).await;

    charge(page, "1234").await;
    eye.look("card").await;
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-approved").await;
    eye.look("approved").await;
    page.press("#receipt", By::Pointer).await;
    page.until("document.querySelector('dialog[open] pre')").await;
    eye.look("receipt").await;
    page.press("dialog [data-copy=code]", By::Pointer).await;
    page.until("document.querySelector('dialog .picture path')").await;
    eye.look("receipt-code").await;
    page.keys(&ESCAPE.to_string()).await;

    for (digits, screen) in [("1260", "partial"), ("1251", "declined")] {
        charge(page, digits).await;
        counter.present("tap", CardEntry::Tap).await;
        page.until_screen(&format!("sale-{screen}")).await;
        eye.look(screen).await;
    }
    charge(page, "1200").await;
    page.press("#cancel", By::Pointer).await;
    page.until_screen("sale-cancelled").await;
    eye.look("cancelled").await;

    charge(page, "4500").await;
    counter.present("chip-signature", CardEntry::Insert).await;
    page.until_screen("sale-signature").await;
    eye.look("signature").await;
    page.press("#refuse", By::Pointer).await;
    page.until_screen("sale-reversed").await;
    eye.look("reversed").await;

    charge(page, "1284").await;
    counter.present("chip-refuses", CardEntry::Insert).await;
    page.until_screen("sale-needs-person").await;
    eye.look("needs-person").await;
    again(page).await;
    counter.until_ready().await;

    counter.begin_beside(json!({ "reference": "tills", "amount": "21.00", "confirm": "till" })).await;
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-confirm").await;
    eye.look("awaiting-till").await;
    page.press("#accept", By::Pointer).await;
    page.until_screen("sale-approved").await;
    again(page).await;

    // A till asks to be paired, and a transaction that begins meanwhile stays in view.
    page.press("[data-view=terminal]", By::Pointer).await;
    page.until_screen("terminal").await;
    page.press("#pair-open", By::Keyboard).await;
    page.until("document.querySelector('.pairing [role=timer]').textContent.includes('4:')").await;
    counter.asks_to_be_paired("kasse-2").await;
    counter.begin_beside(json!({ "reference": "beside-pairing", "amount": "21.00" })).await;
    page.until("document.querySelector('.pairing .code') && document.querySelector('.bar.note')").await;
    eye.look("pairing").await;
    page.press(".bar.note button", By::Pointer).await;
    page.until_screen("sale-card").await;
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-approved").await;
    again(page).await;

    page.press("#kind", By::Pointer).await;
    page.press("[data-kind=by-registration]", By::Pointer).await;
    page.until("document.activeElement?.id === 'registration-field'").await;
    eye.look("registration").await;
    page.keys("8ac7a4a08f0c1d2e018f0c3b5a6b7c8e").await;
    page.press("#ok", By::Pointer).await;
    page.keys("700").await;
    eye.look("pay-by-registration").await;
    page.press("#kind", By::Pointer).await;
    page.press("[data-kind=credit]", By::Pointer).await;
    page.keys(&format!("{ESCAPE}200000\u{e007}")).await;
    page.until_screen("sale-refused").await;
    eye.look("refused").await;
    again(page).await;

    // The page is reloaded before the agent receives its request.
    page.run("localStorage.setItem('pos.sale', JSON.stringify({ reference: 'never', request: { kind: 'sale', amount: '12.34' }, begunAt: Date.now() }))").await;
    page.reload().await;
    page.until_screen("sale-not-begun").await;
    eye.look("not-begun").await;
    page.press("#leave", By::Pointer).await;

    counter.shop.gateway.set_offline(true).await.unwrap();
    charge(page, "1300").await;
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-not-sent").await;
    eye.look("not-sent").await;
    counter.shop.gateway.set_offline(false).await.unwrap();

    charge(page, "1273").await;
    let gateway = &counter.shop.gateway;
    counter.present("tap", CardEntry::Tap).await;
    crate::within("the payment at the gateway", async {
        while !gateway.ledger().entries().iter().any(|entry| entry.amount == "12.73") {
            tokio::task::yield_now().await;
        }
    })
    .await;
    gateway.set_offline(true).await.unwrap();
    page.until("/^sale-(unconfirmed|reversed)$/.test(document.body.dataset.screen)").await;
    eye.look("unconfirmed").await;
    gateway.set_offline(false).await.unwrap();

    page.press("[data-view=sales]", By::Pointer).await;
    page.until("document.querySelector('.entry')").await;
    eye.look("sales").await;
    page.press(".entry[data-outcome=approved]", By::Pointer).await;
    page.press("[data-act=refund]", By::Pointer).await;
    page.until("document.activeElement?.id === 'how-much'").await;
    // A kiosk has no keyboard, so the first digit on the screen replaces the proposed amount.
    for digit in ["5", "0", "0"] {
        page.press(&format!("dialog [data-key='{digit}']"), By::Pointer).await;
    }
    page.until("/^5[.,]00$/.test(document.querySelector('#how-much').value)").await;
    eye.look("refund").await;
    page.keys(&ESCAPE.to_string()).await;
    eye.look("detail").await;
    for view in ["day", "terminal"] {
        page.press(&format!("[data-view={view}]"), By::Pointer).await;
        page.until_screen(view).await;
        eye.look(view).await;
    }
    page.press("[data-view=day]", By::Pointer).await;
    page.press("#close-day", By::Pointer).await;
    page.until("document.querySelector('#close-what')").await;
    eye.look("close").await;
    page.press("#do", By::Pointer).await;
    page.until("!document.querySelector('dialog[open]') && document.querySelector('.closing li')").await;
    eye.look("closed").await;
    page.press("[data-close]", By::Pointer).await;
    page.until("document.querySelector('dialog .paper').textContent.length > 40").await;
    eye.look("close-slip").await;
    page.press("#close", By::Pointer).await;
    assert_ne!(counter.shop.reader.watch().borrow().waits_for, WaitsFor::Card, "nothing waits for a card");
    counter.kill_agent().await;
    page.until_link("agent-down").await;
    eye.look("agent-down").await;
    counter.kill_front().await;
    page.until_link("lost").await;
    eye.look("lost").await;
    drop(counter);
    people(eye).await;

    let counter = Counter::open(taught()).await;
    page.open(&counter.url, eye.language, SIZES[3]).await;
    page.until_link("up").await;
    page.until_screen("pay").await;
    page.press("[data-tip='10']", By::Pointer).await;
    page.keys("1234").await;
    eye.look("tips").await;
    page.press("#kind", By::Pointer).await;
    eye.look("training-begin").await;
    page.press("#train", By::Pointer).await;
    eye.look("training-outcome").await;
    page.keys(&ESCAPE.to_string()).await;
    train(page, "approved").await;
    eye.look("training-pay").await;
    page.keys("1234\u{e007}").await;
    page.until_screen("sale-approved").await;
    eye.look("training-approved").await;
}

/// Checks the screens for operators: the names, the PIN, a wrong PIN, and a supervisor's approval.
async fn people(eye: &mut Eye<'_>) {
    let page = eye.page;
    let more =
        "[operators]\nrequired = true\npin-digits = 4\n[operators.supervisor-above]\nsale = \"100.00\"\n\n[gateway]";
    let options = Options { config: vec![("[gateway]".to_owned(), more.to_owned())], ..Options::default() };
    let counter = Counter::open_with(options, "[page]\nwithout-sign-in = \"nobody\"\n").await;
    for (name, role) in [("Anna", "cashier"), ("Bernd", "supervisor"), ("Clara", "technician")] {
        counter.add_operator(name, role, "2580").await;
    }
    page.open(&counter.url, eye.language, SIZES[3]).await;
    page.until("document.querySelector('[data-operator=Anna]')").await;
    eye.look("sign-in").await;
    page.press("[data-operator=Anna]", By::Pointer).await;
    page.keys("13").await;
    eye.look("pin").await;
    // The last digit sends the PIN.
    page.keys("79").await;
    page.until("document.querySelector('.sign-in > .wrong')?.textContent").await;
    eye.look("pin-wrong").await;
    page.keys("2580").await;
    page.until_screen("pay").await;
    page.until_link("up").await;
    page.keys("15000\u{e007}").await;
    page.until_screen("sale-refused").await;
    eye.look("supervisor-needed").await;
    page.press("#supervisor", By::Pointer).await;
    page.until("document.querySelector('#supervisor-name')").await;
    eye.look("supervisor").await;
    for digit in "2580".chars() {
        page.press(&format!("[data-pin='{digit}']"), By::Pointer).await;
    }
    page.until_screen("sale-card").await;
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-approved").await;
    page.press("[data-view=day]", By::Pointer).await;
    page.until("document.querySelector('#mine')").await;
    eye.look("shift").await;
}
