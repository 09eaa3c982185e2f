//! The owner of a shop at the page of a real board: from the code on the console to a sale, in a Chromium. The board is
//! that of `tests/board/run -i`, which starts this program and does what a person does beside the page.
//!
//! ```text
//! cargo test -p pos-front --test board -- straight|cuts PORT     with POS_BOARD, the folder of tests/board/run
//! ```
//!
//! `straight` goes through the page once, and measures it. `cuts` loses the power in each step and in the writing. Each
//! line in `page.ask` is a request to the script, and each line in `page.told` an answer:
//!
//! | request | the script | answer |
//! |---|---|---|
//! | `console` | waits for the code on the console | the page's address and the code |
//! | `cut` | cuts the power, and starts the board again | the seconds until a page answers |
//! | `card` | taps a card when the reader asks for one | `tapped` |
//! | `booked AMOUNT STATE` | waits until the gateway's ledger has it | `booked` |

#![allow(clippy::unwrap_used, reason = "a fault ends the program, and the test of the board with it")]

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pos_test_kit::browser::{Browser, By, Driver, ESCAPE, NUMPAD_ENTER};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe;

use self::steps::STEPS;

#[path = "page/steps.rs"]
mod steps;

/// The longest time for a step of an emulated board, with a start of it.
const PATIENCE: Duration = Duration::from_secs(400);
const SIZE: (u32, u32) = (800, 900);
/// The operator's PIN, which is nowhere else on the board.
const PIN: &str = "918273";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(way), Some(port)) = (arguments.next(), arguments.next()) else {
        panic!("straight|cuts PORT; tests/board/run -i starts this program");
    };
    let folder = PathBuf::from(std::env::var_os("POS_BOARD").expect("POS_BOARD is the folder of tests/board/run"));
    let driver = Driver::start().await;
    let mut owner = Owner::open(&driver, folder, &port).await;
    match way.as_str() {
        "straight" => owner.goes_straight().await,
        "cuts" => owner.loses_the_power().await,
        _ => panic!("{way} is neither straight nor cuts"),
    }
    assert_eq!(owner.page.complaints().await, Vec::<String>::new());
}

struct Owner {
    page: Browser,
    /// The folder of the board's test.
    folder: PathBuf,
    asks: File,
    told: tokio::io::Lines<BufReader<pipe::Receiver>>,
    /// The number of a person's acts: each press, and each field with its text or its choice.
    acts: u32,
    /// The time in which the script did something for the owner, such as a start of the board.
    aside: Duration,
}

impl Owner {
    async fn open(driver: &Driver, folder: PathBuf, port: &str) -> Self {
        let asks = File::options().write(true).open(folder.join("page.ask")).unwrap();
        let told = pipe::OpenOptions::new().open_receiver(folder.join("page.told")).unwrap();
        let told = BufReader::new(told).lines();
        // The board is in the network of QEMU, of which one port leads here.
        let rule = format!("--host-resolver-rules=MAP *.local:8443 127.0.0.1:{port}");
        let page = driver.browser_with(&[&rule]).await;
        page.resize(SIZE).await;
        Self { page, folder, asks, told, acts: 0, aside: Duration::ZERO }
    }

    async fn ask(&mut self, words: &str) -> String {
        let begun = Instant::now();
        writeln!(self.asks, "{words}").unwrap();
        let line = self.told.next_line().await.unwrap().expect("the script has left");
        self.aside += begun.elapsed();
        line
    }

    async fn until(&self, what: &str) {
        self.page.until_within(PATIENCE, what).await;
    }

    async fn until_screen(&self, name: &str) {
        self.until(&format!("document.body.dataset.screen === {name:?}")).await;
    }

    async fn press(&mut self, selector: &str) {
        self.until(&format!("document.querySelector({selector:?})?.offsetParent")).await;
        self.page.press(selector, By::Pointer).await;
        self.acts += 1;
    }

    async fn fill(&mut self, id: &str, text: &str) {
        self.page.fill(&format!("#{id}"), text).await;
        self.acts += 1;
    }

    /// Goes past the browser's warning about a certificate that the board has made itself.
    async fn go_past_the_warning(&mut self, address: &str) {
        self.page.go(address).await;
        self.acts += 1;
        self.press("#details-button").await;
        self.press("#proceed-link").await;
        self.until_screen("code").await;
    }

    /// Reads the code on the console, and types it.
    async fn enter_the_code(&mut self) {
        let said = self.ask("console").await;
        let code = said.split_once(' ').unwrap().1.to_owned();
        self.until_screen("code").await;
        self.fill("code", &code).await;
        self.press("#next").await;
        // A board that starts may still be busy with the code. Then the code stays, and a person presses again.
        let said = "document.querySelector('#said')?.innerText";
        while self.is_refused(said).await {
            self.press("#next").await;
        }
    }

    /// Waits for what becomes of a code, and returns true if the front asks for another attempt.
    async fn is_refused(&self, said: &str) -> bool {
        let judged = format!("document.body.dataset.busy !== 'true' && {said}");
        self.until(&format!("document.body.dataset.screen !== 'code' || ({judged})")).await;
        let words = self.page.run(&format!("return {said} ?? ''")).await;
        assert!(!words.as_str().unwrap().contains("wrong"), "{words}");
        self.page.screen().await == "code"
    }

    async fn begin(&mut self) {
        let said = self.ask("console").await;
        let address = said.split_once(' ').unwrap().0.to_owned();
        self.go_past_the_warning(&address).await;
        self.enter_the_code().await;
        self.until_screen("place").await;
    }

    /// Answers a step.
    async fn answer(&mut self, step: &str) {
        let hand = self.folder.join("hand");
        match step {
            "network" => self.until("document.querySelectorAll('.findings [data-good]').length > 1").await,
            "bank" => {
                let config = std::fs::read_to_string(hand.join("config.toml")).unwrap();
                self.fill("gateway-url", &value(&config, "url")).await;
                self.fill("gateway-entity-id", &value(&config, "entity-id")).await;
                self.page.choose_file("#gateway-ca-file", &hand.join("gateway-ca.pem")).await;
                self.until("document.querySelector('#gateway-ca').value.includes('BEGIN CERTIFICATE')").await;
                self.fill("gateway-token", read(&hand.join("gateway-token")).trim()).await;
                self.press("#gateway-mode-external").await;
                self.acts += 1;
            }
            "devices" => {
                self.until("document.querySelectorAll('.findings [data-good=true]').length === 2").await;
                for (device, done) in [("reader", "shows the text"), ("printer", "is printed")] {
                    self.press(&format!("#try-{device}")).await;
                    self.until(&format!("document.querySelector('#content').textContent.includes({done:?})")).await;
                }
            }
            "shop" => {
                self.fill("terminal-id", "12345678").await;
                self.fill("merchant", "Corner Shop\n1 Market Street").await;
                self.page.run("const c = document.getElementById('currency'); c.value = 'EUR'; c.dispatchEvent(new Event('change'))").await;
                self.acts += 1;
            }
            "people" => {
                self.press("#add").await;
                self.fill("operator-0-name", "Ada").await;
                self.fill("operator-0-pin", PIN).await;
                self.fill("operator-0-again", PIN).await;
            }
            _ => {}
        }
    }

    async fn go_on(&mut self, then: &str) {
        self.press("#next").await;
        let is_there = format!("document.body.dataset.screen === {then:?}");
        self.until(&format!("{is_there} || document.querySelector('#anyway')")).await;
        // No time server answers in the network of QEMU, so the page doubts the board's clock.
        if self.page.screen().await != then {
            let doubts = "return [...document.querySelectorAll('#more-findings [data-good=false] strong')].map((e) => e.innerText)";
            assert_eq!(self.page.run(doubts).await, serde_json::json!(["The clock is not right yet."]));
            self.press("#anyway").await;
        }
        self.until_screen(then).await;
    }

    async fn goes_straight(&mut self) {
        let begun = Instant::now();
        self.aside = Duration::ZERO;
        self.begin().await;
        for (step, then) in STEPS {
            let begun = Instant::now();
            self.answer(step).await;
            self.go_on(then).await;
            println!("   {step}: {:.0} s", begun.elapsed().as_secs_f32());
        }
        let writes = Instant::now();
        self.go_on("sale").await;
        self.until("document.querySelector('#first-real')").await;
        println!("   writing, until the terminal can take a sale: {:.0} s", writes.elapsed().as_secs_f32());
        self.press("#first-training").await;
        self.until("document.querySelector('[data-part=training] [data-outcome=approved]')").await;
        self.press("#first-real").await;
        self.ask("card").await;
        self.until("document.querySelector('[data-back=true]')").await;
        let took = begun.elapsed().as_secs_f32();
        println!("   from the address to the reversed payment: {} acts, {took:.0} s of the machine", self.acts);
        // The power fails in another real payment, after the bank has approved it.
        self.press("#first-real").await;
        self.ask("card").await;
        self.ask("booked 0.01 DB reversed, RV approved, DB approved").await;
        self.ask("cut").await;
        // The session has ended. The page says so, and that the payment is not given back yet.
        self.until("document.querySelector('[data-part=real] [data-outcome=unconfirmed]')").await;
        self.until("document.querySelector('[data-part=real] [data-back=false]')").await;
        self.press("#open").await;
        self.signs_in().await;
        // The approval was recorded before the cut, or the terminal takes the payment back.
        let outcome = self.outcome_of_the_newest().await;
        let last = match outcome.as_str() {
            "approved" => "DB approved",
            "reversed" => "DB reversed, RV approved",
            other => panic!("the bank has approved the payment, and the terminal says: {other}"),
        };
        self.ask(&format!("booked 0.01 DB reversed, RV approved, {last}")).await;
        println!("   after the cut in a payment: {outcome} at the terminal, {last} at the bank");
        self.sells("1401").await;
    }

    /// Loses the power in each step, and gives the new code each time.
    async fn loses_the_power(&mut self) {
        self.begin().await;
        for (step, then) in STEPS {
            self.answer(step).await;
            self.is_back_after_a_cut(step).await;
            if step == "devices" {
                self.answer(step).await;
            }
            self.go_on(then).await;
        }
        self.is_back_after_a_cut("review").await;
        // Before each step of the writing. Until the configuration is there, the board begins again.
        for step in 0.. {
            self.press("#next").await;
            let done = "document.querySelectorAll('#content .steps [data-done=true]').length";
            self.until(&format!("document.body.dataset.screen !== 'writing' ? document.body.dataset.screen === 'sale' : {done} >= {step}")).await;
            let seconds = self.ask("cut").await;
            self.until("['code', 'configured', 'sale'].includes(document.body.dataset.screen)").await;
            let screen = self.page.screen().await;
            println!("   cut before step {step} of the writing; a page after {seconds} s, which asks: {screen}");
            if screen != "code" {
                break;
            }
            self.enter_the_code().await;
            self.until_screen("review").await;
        }
        if self.page.screen().await == "configured" {
            self.press("a.primary").await;
        } else {
            self.press("#open").await;
        }
        self.sells("1402").await;
    }

    async fn is_back_after_a_cut(&mut self, step: &str) {
        let seconds = self.ask("cut").await;
        self.until_screen("code").await;
        self.enter_the_code().await;
        self.until_screen(step).await;
        println!("   {step}: cut; a page after {seconds} s, and the step is back");
    }

    /// Signs in at the terminal's own page. A restart of the board has signed everyone out.
    async fn signs_in(&mut self) {
        let shown = "['pay', 'sign-in'].includes(document.body.dataset.screen)";
        self.until(&format!("{shown} || document.body.dataset.screen?.startsWith('sale-')")).await;
        if self.page.screen().await == "sign-in" {
            self.press("[data-operator=Ada]").await;
            self.until("document.querySelector('.pin')").await;
            self.page.keys(&format!("{PIN}{NUMPAD_ENTER}")).await;
            self.until("!['sign-in', ''].includes(document.body.dataset.screen ?? '')").await;
        }
    }

    /// Waits until the newest transaction has ended, and returns its outcome.
    async fn outcome_of_the_newest(&self) -> String {
        let newest = "fetch('/v1/sales?order=newest&limit=1').then((a) => a.json()).then((list) => list.sales[0])";
        let ended = async {
            loop {
                let sale = self.page.promised(newest).await;
                if sale["state"] == "ended" {
                    return sale["outcome"].as_str().unwrap().to_owned();
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, ended).await.expect("the newest transaction ends")
    }

    /// Makes a sale on the terminal's own page, which this browser may use, and opens its receipt.
    async fn sells(&mut self, digits: &str) {
        self.signs_in().await;
        // The page shows a payment that a cut has interrupted, until a person has seen it.
        if self.page.screen().await != "pay" {
            self.page.keys(&ESCAPE.to_string()).await;
        }
        self.until_screen("pay").await;
        // After a start of the board, the page says that the reader is not ready yet.
        self.until("document.querySelector('#charge')?.dataset.off === 'false'").await;
        self.page.keys(&format!("{ESCAPE}{digits}{NUMPAD_ENTER}")).await;
        self.until_screen("sale-card").await;
        self.ask("card").await;
        self.until_screen("sale-approved").await;
        println!(
            "   the terminal's own page sells: {}",
            self.page.run("return document.querySelector('main').innerText.split('\\n')[0]").await
        );
    }
}

/// Returns the value of a key in the configuration by hand.
fn value(config: &str, key: &str) -> String {
    let line = config.lines().find(|line| line.starts_with(&format!("{key} = "))).unwrap();
    line.split('"').nth(1).unwrap().to_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
