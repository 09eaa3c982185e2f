//! Tests of retries, amounts, refusals and the close of day. A retried transaction has the data of the first one. Every
//! screen shows the same amount for the customer. A refusal stays on the screen until it is closed. The close of day
//! shows its total and its number of transactions. The gateway's ledger and the agent confirm the results.

use pos_sim::gateway::{Kind, Outcome};
use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;
use serde_json::{Value, json};

use crate::browser::{Browser, By, Driver, ESCAPE, NUMPAD_ENTER};
use crate::counter::Counter;
use crate::training::taught;
use crate::within;

const LARGE: (u32, u32) = (1024, 600);

/// A transaction that ends without a payment and is retried.
struct Trial {
    kind: &'static str,
    booked: Kind,
    /// The amount as typed on the keypad, and as the agent reports it.
    amount: (&'static str, &'static str),
    /// The tip in per cent. Only a sale has one.
    tip: Option<&'static str>,
    /// The amount that the customer pays.
    pays: &'static str,
    /// The outcome of the first transaction. Its cents make the gateway decline it, or the cashier cancels it.
    ends: &'static str,
    button: &'static str,
}

const TRIALS: [Trial; 4] = [
    Trial {
        kind: "pre-authorisation",
        booked: Kind::PreAuthorisation,
        amount: ("5051", "50.51"),
        tip: None,
        pays: "50.51",
        ends: "declined",
        button: "Try again: Reserve €50.51",
    },
    Trial {
        kind: "credit",
        booked: Kind::Credit,
        amount: ("300", "3.00"),
        tip: None,
        pays: "3.00",
        ends: "cancelled",
        button: "Try again: Pay out €3.00",
    },
    Trial {
        kind: "sale",
        booked: Kind::Debit,
        amount: ("4000", "40.00"),
        tip: Some("10"),
        pays: "44.00",
        ends: "cancelled",
        button: "Try again: Charge €44.00",
    },
    Trial {
        kind: "sale",
        booked: Kind::Debit,
        amount: ("4137", "41.37"),
        tip: Some("10"),
        pays: "45.51",
        ends: "declined",
        button: "Try again: Charge €45.51",
    },
];

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn what_is_tried_again_is_what_was_tried() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    for trial in TRIALS {
        // Each trial begins with an empty ledger.
        let counter = Counter::open(taught()).await;
        open(&page, &counter).await;
        trial.play(&counter, &page).await;
        assert_eq!(page.complaints().await, Vec::<String>::new());
    }
    page.close().await;
}

impl Trial {
    async fn play(&self, counter: &Counter, page: &Browser) {
        if self.kind != "sale" {
            page.press("#kind", By::Pointer).await;
            page.press(&format!("[data-kind={}]", self.kind), By::Pointer).await;
            page.until("!document.querySelector('dialog[open]')").await;
        }
        page.press("#reference", By::Pointer).await;
        page.fill("#reference-field", "Table-7").await;
        page.press("#ok", By::Pointer).await;
        page.until("!document.querySelector('dialog[open]')").await;
        if let Some(tip) = self.tip {
            page.press(&format!("[data-tip='{tip}']"), By::Pointer).await;
        }
        page.keys(&format!("{}{NUMPAD_ENTER}", self.amount.0)).await;
        page.until_screen("sale-card").await;
        let first = reference(page).await;
        if self.ends == "declined" {
            counter.present("tap", CardEntry::Tap).await;
        } else {
            page.press("#cancel", By::Pointer).await;
        }
        page.until_screen(&format!("sale-{}", self.ends)).await;
        assert_eq!(shown(page, "#retry").await, self.button);

        counter.shop.gateway.force(Outcome::Approve);
        page.press("#retry", By::Pointer).await;
        page.until_screen("sale-card").await;
        // An amount that leaves the shop has a minus sign.
        let sign = if self.kind == "credit" { "− " } else { "" };
        assert_eq!(shown(page, ".sale .sum").await, format!("{sign}€{}", self.pays));
        let second = reference(page).await;
        assert_ne!(first, second, "a transaction of its own");
        counter.present("tap", CardEntry::Tap).await;
        page.until_screen("sale-approved").await;

        for (reference, outcome) in [(&first, self.ends), (&second, "approved")] {
            assert!(reference.starts_with("Table-7-"), "{reference} has lost what the cashier noted");
            let sale = counter.get(&format!("/v1/sales/{reference}")).await;
            assert_eq!((&sale["kind"], &sale["amount"]), (&json!(self.kind), &json!(self.amount.1)), "{sale}");
            assert_eq!((&sale["outcome"], sale["tip"].is_string()), (&json!(outcome), self.tip.is_some()), "{sale}");
        }
        let ledger = counter.shop.gateway.ledger();
        let entries = ledger.entries();
        // A cancelled transaction was never sent.
        assert_eq!(entries.len(), if self.ends == "declined" { 2 } else { 1 }, "{entries:?}");
        assert!(entries.iter().all(|entry| entry.kind == self.booked && entry.amount == self.pays), "{entries:?}");
        assert_eq!(counter.moved(self.booked), 1, "{entries:?}");
    }
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn with_a_tip_each_screen_names_what_the_customer_pays() {
    const PAYS: &str = "€52.80";
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(taught()).await;
    open(&page, &counter).await;
    page.press("[data-tip='10']", By::Pointer).await;
    page.keys("4800").await;
    assert_eq!(shown(&page, "#charge").await, format!("Charge {PAYS}"));
    page.press("#charge", By::Pointer).await;
    page.until_screen("sale-card").await;
    assert_eq!(shown(&page, ".sale .sum").await, PAYS, "while the card is waited for");
    page.press("[data-view=sales]", By::Pointer).await;
    page.until("document.querySelector('.bar') && document.querySelector('.entry')").await;
    let bar = shown(&page, ".bar").await;
    assert!(bar.contains(PAYS), "beside another screen: {bar}");
    assert_eq!(shown(&page, ".entry .sum").await, PAYS, "in the list");
    page.press(".bar button", By::Pointer).await;
    page.until_screen("sale-card").await;
    // The cents of the amount would cause another outcome.
    counter.shop.gateway.force(Outcome::Approve);
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-approved").await;
    assert_eq!(shown(&page, ".sale .sum").await, PAYS, "when it has ended");
    let ledger = counter.shop.gateway.ledger();
    let charged: Vec<_> = ledger.all_charged().map(|entry| entry.amount.as_str()).collect();
    assert_eq!(charged, ["52.80"]);
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_refusal_stays_when_a_till_beside_it_is_approved() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(Options::default()).await;
    open(&page, &counter).await;
    page.keys(&format!("1251{NUMPAD_ENTER}")).await;
    page.until_screen("sale-card").await;
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-declined").await;
    let mine = reference(&page).await;
    counter.begin_beside(json!({ "reference": "tills", "amount": "21.00" })).await;
    // The page shows that the terminal is busy, but it still shows its own transaction.
    page.until("document.getElementById('link').dataset.link === 'busy'").await;
    assert_eq!(page.screen().await, "sale-declined");
    counter.present("tap", CardEntry::Tap).await;
    let ended = counter.get("/v1/sales/tills?wait-s=60").await;
    assert_eq!(ended["outcome"], "approved", "{ended}");
    page.until("document.getElementById('link').dataset.link !== 'busy'").await;
    assert_eq!(page.screen().await, "sale-declined");
    assert!(shown(&page, ".sale .sum").await.contains("12.51"));
    assert_eq!(reference(&page).await, mine);
    page.press("#new", By::Pointer).await;
    page.until_screen("pay").await;

    // After the screen is closed, the page shows the other till's transaction and names that till.
    counter.begin_beside(json!({ "reference": "tills-2", "amount": "22.00" })).await;
    page.until_screen("sale-card").await;
    assert!(shown(&page, ".sale .whose").await.starts_with("Started at till "));
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn the_close_names_what_it_closes_before_and_after() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(Options::default()).await;
    counter.sold(json!({})).await;
    for (reference, amount) in [("cake", "12.00"), ("tea", "5.51")] {
        counter.beside(json!({ "reference": reference, "amount": amount }), Some(("tap", CardEntry::Tap))).await;
    }
    let back = json!({ "kind": "refund", "of": "before", "reference": "back", "amount": "7.50" });
    assert_eq!(counter.beside(back, None).await["outcome"], "approved");
    // The shop receives 50.00 and 12.00 and pays 7.50 back. The declined transaction is not counted.
    let (net, count) = ("€54.50", "transactions: 3");
    open(&page, &counter).await;
    page.press("[data-view=day]", By::Pointer).await;
    page.until("document.querySelector('.net strong')").await;
    assert_eq!(shown(&page, ".net strong").await, net);
    page.press("#close-day", By::Pointer).await;
    page.until("document.querySelector('#close-what')").await;
    let question = shown(&page, "#close-what").await;
    assert!(question.contains(net) && question.contains(count), "the question: {question}");
    // If the cashier declines the question, nothing is closed.
    page.keys(&ESCAPE.to_string()).await;
    page.until("!document.querySelector('dialog[open]')").await;
    assert_eq!(counter.get("/v1/closes").await["closes"], json!([]));
    // The preview shows the sums as a slip, and closes nothing either.
    let slip = slip(&page, "#preview").await;
    assert!(slip.contains("54.50"), "the preview: {slip}");
    assert_eq!(counter.get("/v1/closes").await["closes"], json!([]));

    page.press("#close-day", By::Pointer).await;
    page.press("#do", By::Pointer).await;
    page.until("document.querySelector('.day > .hint').textContent.startsWith('Close 1 is recorded')").await;
    let answer = shown(&page, ".day > .hint").await;
    assert!(answer.contains(net) && answer.contains(count), "the answer: {answer}");
    let written = counter.get("/v1/closes").await["closes"][0].clone();
    assert_eq!((&written["net"][0]["net"], &written["net"][0]["count"]), (&json!("54.50"), &json!(3)), "{written}");
    // The next day begins with zero.
    assert_eq!(shown(&page, ".net strong").await, "€0.00");
    // The close is shown as it was printed, and is saved as the table that other programs read.
    let folder = tempfile::tempdir().unwrap();
    page.saves_in(folder.path()).await;
    let slip = self::slip(&page, "[data-close='1']").await;
    assert!(slip.contains("54.50"), "the slip: {slip}");
    page.press("#csv", By::Pointer).await;
    let file = folder.path().join("close-1.csv");
    let saved = async {
        loop {
            // Before it renames its file to this one, the browser reserves the name with an empty file.
            if let Some(table) = std::fs::read_to_string(&file).ok().filter(|table| !table.is_empty()) {
                break table;
            }
            tokio::task::yield_now().await;
        }
    };
    let table = within("the saved close", saved).await;
    assert!(table.starts_with("close,") && table.contains("54.50"), "the table: {table}");
    page.press("#print", By::Pointer).await;
    page.until("document.querySelector('dialog .hint').textContent").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

/// Opens the slip of a close and returns its text. The dialog of a preview is closed again.
async fn slip(page: &Browser, button: &str) -> String {
    page.press(button, By::Pointer).await;
    page.until("document.querySelector('dialog .paper').textContent.length > 40").await;
    let text = shown(page, "dialog .paper").await;
    if button == "#preview" {
        page.press("#close", By::Pointer).await;
    }
    text
}

/// The shop's logo is an SVG that contains a style sheet, and its colour is readable in both themes.
#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn the_shops_logo_and_colour_are_on_the_page() {
    const PICTURE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\">\
        <style>rect { fill: #e2001a }</style><rect width=\"40\" height=\"20\"/></svg>";
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("logo.svg");
    std::fs::write(&file, PICTURE).unwrap();
    let more = format!("[page]\naccent = \"#e2001a\"\nlogo = {file:?}\n");
    let counter = Counter::open_with(Options::default(), &more).await;
    open(&page, &counter).await;
    page.until("document.querySelector('#shop img')?.naturalWidth").await;
    let pixel = page
        .run(
            "const canvas = Object.assign(document.createElement('canvas'), { width: 40, height: 20 }); \
             const picture = canvas.getContext('2d'); picture.drawImage(document.querySelector('#shop img'), 0, 0, 40, 20); \
             return [...picture.getImageData(20, 10, 1, 1).data]",
        )
        .await;
    assert_eq!(pixel, json!([226, 0, 26, 255]));
    let accent = "return getComputedStyle(document.documentElement).getPropertyValue('--accent')";
    assert_eq!(page.run(accent).await, "#e2001a");
    page.scheme("dark").await;
    page.until("getComputedStyle(document.documentElement).getPropertyValue('--accent') !== '#e2001a'").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

async fn open(page: &Browser, counter: &Counter) {
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    page.until_screen("pay").await;
}

/// Returns the text that a person reads at this element.
async fn shown(page: &Browser, selector: &str) -> String {
    let text = page.run(&format!("return document.querySelector({selector:?})?.innerText ?? null")).await;
    text.as_str().unwrap_or_else(|| panic!("nothing is at {selector}")).trim().to_owned()
}

/// Returns the reference of the current transaction, as the page stores it.
async fn reference(page: &Browser) -> String {
    let memory: Value = page.run("return JSON.parse(localStorage.getItem('pos.sale'))?.reference ?? null").await;
    memory.as_str().expect("the page remembers what it has begun").to_owned()
}
