//! Tests of two pages and two tills at once, with reloads, a killed agent, a killed front and a question for a
//! supervisor. Each event directly follows each other one in some order. No page shows another's outcome as its own.
//! Each outcome that it shows as its own has the amount and the state in the gateway's ledger.
//!
//! Each attempt has an amount of its own, so the ledger identifies it without a reference.

use std::time::Duration;

use pos_sim::gateway::{Kind, Ledger, LedgerEntry, State};
use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::Options;
use serde_json::{Value, json};

use crate::PATIENCE;
use crate::browser::{Browser, Driver};
use crate::cashier::{PIN, sell, sign_in};
use crate::counter::Counter;
use crate::pairs::{all_orders, every};

const LARGE: (u32, u32) = (1024, 600);
/// The pause between two looks at the pages, tills and reader.
const PAUSE: Duration = Duration::from_millis(50);
const ENDS: [&str; 5] = ["approved", "declined", "cancelled", "not-sent", "reversed"];

/// An event. The number is that of the page or the till.
#[derive(Clone, Copy, Debug)]
enum Event {
    PageBegins(usize),
    TillBegins(usize),
    /// A supervisor confirms the refund, if its page asks for one.
    SupervisorConfirms,
    Reload(usize),
    AgentKilled,
    FrontKilled,
}

const EVENTS: [Event; 9] = [
    Event::PageBegins(0),
    Event::PageBegins(1),
    Event::TillBegins(0),
    Event::TillBegins(1),
    Event::SupervisorConfirms,
    Event::Reload(0),
    Event::Reload(1),
    Event::AgentKilled,
    Event::FrontKilled,
];

/// Records each outcome that the page shows: its screen, its amount, and whether the page calls it another's.
const RECORD: &str = "new MutationObserver(() => {
    const sale = document.querySelector('.sale.end');
    if (!sale) return;
    const text = (part) => sale.querySelector(part)?.textContent ?? '';
    const now = JSON.stringify([sale.dataset.screen, text('.sum'), text('.lines').startsWith('Started at till')]);
    const seen = JSON.parse(sessionStorage.getItem('seen') ?? '[]');
    if (!seen.includes(now)) sessionStorage.setItem('seen', JSON.stringify([...seen, now]));
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });";

/// Functions for the scripts below. A press acts only if its button is on the screen at that moment.
const HELPERS: &str = "
  const find = (what) => [...document.querySelectorAll(what)].find((one) => one.offsetParent && one.getAttribute('aria-disabled') !== 'true');
  const press = (what) => { const one = find(what); one?.click(); return !!one; };
  const pause = () => new Promise((done) => setTimeout(done, 20));
  const until = async (test) => { for (let n = 0; n < 500 && !test(); n += 1) await pause(); return !!test(); };
  const screen = () => document.body.dataset.screen;
  const begun = () => JSON.parse(localStorage.getItem('pos.sale'))?.reference ?? null;";

/// A transaction that an actor has begun, or has tried to begin.
#[derive(Debug)]
struct Attempt {
    kind: Kind,
    minor: u64,
}

/// A cashier at a page.
struct Cashier<'a> {
    page: &'a Browser,
    name: &'static str,
    /// The earlier sale, if this cashier refunds a part of it. The refund needs a supervisor.
    refunds: Option<String>,
    attempts: Vec<Attempt>,
    /// The reference and the screen of the cashier's own outcome.
    ended: Option<(String, String)>,
}

/// A paired till.
struct Till {
    authorization: String,
    attempt: Attempt,
    ended: Option<Value>,
}

/// Both tills use the same reference, because a reference is only unique together with its till.
const TILLS_REFERENCE: &str = "order-1";

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn no_page_shows_anothers_outcome_as_its_own() {
    let driver = Driver::start().await;
    let pages = [driver.browser().await, driver.browser().await];
    for page in &pages {
        page.run_first(RECORD).await;
    }
    let orders = all_orders(EVENTS.len());
    let mut played = 0;
    for (n, order) in orders.iter().enumerate().step_by(every()) {
        let events: Vec<Event> = order.iter().map(|event| EVENTS[*event]).collect();
        // The order is printed before it is tested, so the last line shows a failing order.
        println!("{n}: {events:?}, page {} refunds", played % 2);
        Together::open(&pages, played % 2).await.play(&events).await;
        played += 1;
    }
    println!("{played} of {} orders", orders.len());
    for page in pages {
        page.close().await;
    }
}

/// Two cashiers and two tills at one terminal.
struct Together<'a> {
    counter: Counter,
    cashiers: [Cashier<'a>; 2],
    tills: [Till; 2],
}

impl<'a> Together<'a> {
    async fn open(pages: &'a [Browser; 2], refunding: usize) -> Self {
        let more = "[operators]\npin-digits = 4\nsupervisor-above = { refund = \"10.00\" }\n\n[gateway]";
        let options = Options { config: vec![("[gateway]".to_owned(), more.to_owned())], ..Options::default() };
        let counter = Counter::open_for_tills(options, "[page]\nwithout-sign-in = \"nobody\"\n").await;
        for (name, role) in [("Anna", "cashier"), ("Ben", "cashier"), ("Carl", "supervisor"), ("Dora", "supervisor")] {
            counter.add_operator(name, role, PIN).await;
        }
        let mut cashiers = [(&pages[0], "Anna"), (&pages[1], "Ben")].map(|(page, name)| Cashier {
            page,
            name,
            refunds: None,
            attempts: Vec::new(),
            ended: None,
        });
        for cashier in &cashiers {
            cashier.page.open(&counter.url, "en", LARGE).await;
            sign_in(cashier.page, cashier.name).await;
        }
        let one = &mut cashiers[refunding];
        one.attempts.push(Attempt { kind: Kind::Debit, minor: 5000 });
        let before = sell(one.page, &counter, "5000").await;
        one.refunds = Some(before);
        let mut tills = Vec::new();
        for (name, minor) in [("kasse-2", 1300), ("kasse-3", 1400)] {
            let authorization = counter.paired(name).await;
            tills.push(Till { authorization, attempt: Attempt { kind: Kind::Debit, minor }, ended: None });
        }
        let tills = tills.try_into().unwrap_or_else(|_| unreachable!("there are two"));
        Self { counter, cashiers, tills }
    }

    async fn play(mut self, events: &[Event]) {
        for event in events {
            // The customer reads the reader for the time of one event, and then taps.
            let waited = self.waits_for_card();
            self.happens(*event).await;
            if waited {
                self.tap();
            }
        }
        let ended = async {
            while !self.goes_on().await {
                tokio::time::sleep(PAUSE).await;
            }
        };
        if tokio::time::timeout(PATIENCE, ended).await.is_err() {
            panic!("never came: the end of all transactions; {}\n{}", self.shown().await, self.counter.log());
        }
        self.judge().await;
    }

    async fn happens(&mut self, event: Event) {
        match event {
            Event::PageBegins(n) => self.cashiers[n].begin().await,
            Event::TillBegins(n) => self.tills[n].begin(&self.counter).await,
            Event::SupervisorConfirms => {
                for cashier in &self.cashiers {
                    cashier.confirm().await;
                }
            }
            Event::Reload(n) => self.cashiers[n].page.reload().await,
            Event::AgentKilled => {
                self.counter.kill_agent().await;
                self.counter.start_agent().await;
            }
            Event::FrontKilled => {
                self.counter.kill_front().await;
                self.counter.start_front().await;
            }
        }
    }

    fn waits_for_card(&self) -> bool {
        self.counter.shop.reader.watch().borrow().waits_for == WaitsFor::Card
    }

    fn tap(&self) {
        if self.waits_for_card() {
            self.counter.shop.reader.present(card("tap").unwrap(), CardEntry::Tap);
        }
    }

    /// Returns the state of each actor.
    async fn shown(&self) -> String {
        let mut all = Vec::new();
        for cashier in &self.cashiers {
            let text = cashier.page.run("return document.body.dataset.screen + ': ' + document.body.innerText").await;
            all.push(format!("{} {:?}, {:?}: {text}", cashier.name, cashier.attempts, cashier.ended));
        }
        for till in &self.tills {
            let sale = self.counter.get_as(&till.authorization, &format!("/v1/sales/{TILLS_REFERENCE}")).await;
            all.push(format!("{:?}: {sale:?}", till.attempt));
        }
        all.join("\n")
    }

    /// Lets each actor act once. Returns whether each has an outcome of its own.
    async fn goes_on(&mut self) -> bool {
        self.tap();
        for cashier in &mut self.cashiers {
            cashier.goes_on().await;
        }
        for till in &mut self.tills {
            till.goes_on(&self.counter).await;
        }
        self.cashiers.iter().all(|one| one.ended.is_some()) && self.tills.iter().all(|one| one.ended.is_some())
    }

    async fn judge(&self) {
        let ledger = self.counter.shop.gateway.ledger();
        let mut known = 0;
        for cashier in &self.cashiers {
            known += cashier.attempts.iter().map(|attempt| attempt.stands(&ledger)).sum::<usize>();
            cashier.judge(&ledger).await;
        }
        for till in &self.tills {
            known += till.attempt.stands(&ledger);
            till.judge(&ledger);
        }
        let refunds = ledger.entries().iter().filter(|entry| stands(entry, Kind::Refund));
        assert_eq!(ledger.all_charged().count() + refunds.count(), known, "{:?}", ledger.entries());
    }
}

impl Attempt {
    /// Returns the number of times that the ledger has moved the money of this attempt.
    fn stands(&self, ledger: &Ledger) -> usize {
        let is_its = |amount: &str| digits(amount) == self.minor;
        match self.kind {
            Kind::Debit => ledger.all_charged().filter(|entry| is_its(&entry.amount)).count(),
            kind => ledger.entries().iter().filter(|entry| stands(entry, kind) && is_its(&entry.amount)).count(),
        }
    }

    /// Checks that the ledger agrees with this outcome.
    fn agrees(&self, ledger: &Ledger, outcome: &str) {
        assert!(ENDS.contains(&outcome), "{self:?} has the outcome {outcome}");
        let moved = usize::from(outcome == "approved");
        assert_eq!(self.stands(ledger), moved, "{self:?} is {outcome}: {:?}", ledger.entries());
    }
}

fn stands(entry: &LedgerEntry, kind: Kind) -> bool {
    entry.kind == kind && entry.state == State::Approved
}

/// Returns the digits of an amount, such as 1200 for `€12.00`.
fn digits(amount: &str) -> u64 {
    amount.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or_default()
}

impl Cashier<'_> {
    /// Runs a script with the helpers, and returns its value.
    async fn does(&self, script: &str) -> Value {
        self.page.promised(&format!("(async () => {{ {HELPERS} {script} }})()")).await
    }

    /// Signs in again if necessary, and waits for the connection.
    async fn is_ready(&self) {
        self.page.until("document.body.dataset.screen === 'sign-in' || document.body.dataset.link === 'up'").await;
        if self.page.screen().await == "sign-in" {
            self.signs_in().await;
        }
    }

    async fn signs_in(&self) {
        let name = self.name;
        let script = format!(
            "if (!await until(() => find('[data-operator={name}]') || screen() !== 'sign-in')) return; \
             press('[data-operator={name}]'); \
             for (const digit of '{PIN}') press(`.sign-in [data-pin='${{digit}}']`); \
             await until(() => screen() !== 'sign-in' || find('.sign-in > .wrong')?.innerText); \
             if (screen() === 'sign-in') press('#other')"
        );
        self.does(&script).await;
    }

    /// Begins a transaction, unless the page shows another one.
    async fn begin(&mut self) {
        self.is_ready().await;
        let nth = self.attempts.len() as u64;
        let (attempt, script) = match &self.refunds {
            Some(before) => {
                let minor = 2000 + nth;
                let script = format!(
                    "if (!press('[data-view=sales]') || !await until(() => find(\".entry[data-reference='{before}']\"))) return; \
                     press(\".entry[data-reference='{before}']\"); \
                     if (!await until(() => find('[data-act=refund]'))) return; \
                     press('[data-act=refund]'); \
                     const field = find('#how-much'); \
                     if (!field) return; \
                     field.value = '{}.{:02}'; \
                     field.dispatchEvent(new Event('input')); \
                     press('#do')",
                    minor / 100,
                    minor % 100
                );
                (Attempt { kind: Kind::Refund, minor }, script)
            }
            None => {
                let minor = 1200 + nth;
                let script = format!(
                    "if (screen() !== 'pay' || document.body.dataset.link !== 'up') return; \
                     for (let n = 0; n < 8; n += 1) press(\".pay [data-key='erase']\"); \
                     for (const digit of '{minor}') press(`.pay [data-key='${{digit}}']`); \
                     press('#charge')"
                );
                (Attempt { kind: Kind::Debit, minor }, script)
            }
        };
        self.attempts.push(attempt);
        self.does(&script).await;
    }

    /// Lets a supervisor confirm, if the page asks for one.
    async fn confirm(&self) {
        let script = format!(
            "const asks = () => find('#supervisor') || find('#new') || !['sale-asking', 'sale-refused'].includes(screen()); \
             const box = () => document.querySelector('dialog[open]'); \
             await until(asks); \
             if (!press('#supervisor') || !await until(() => find('dialog #supervisor-name'))) return; \
             press('dialog [data-operator=Dora]'); \
             for (const digit of '{PIN}') press(`dialog [data-pin='${{digit}}']`); \
             await until(() => !box() || box().querySelector('.wrong')?.innerText); \
             press('dialog > .quiet')"
        );
        self.does(&script).await;
    }

    /// Does what the screen allows, until the page shows an outcome of the cashier's own transaction.
    async fn goes_on(&mut self) {
        let look = "const sale = find('.sale.end'); \
            const stale = sale?.dataset.stale === 'true' || document.body.dataset.link !== 'up'; \
            return [screen(), !!sale?.querySelector('.lines')?.textContent.startsWith('Started at till'), stale, \
                sale?.querySelector('.sum')?.textContent ?? '', begun()]";
        let shown = self.does(look).await;
        let (screen, is_anothers) = (shown[0].as_str().unwrap_or_default(), shown[1] == true);
        match screen {
            "sign-in" => self.signs_in().await,
            _ if shown[2] == true => {}
            "pay" | "sales" if self.ended.is_none() => {
                if screen == "sales" {
                    self.does("press('[data-view=pay]')").await;
                }
                self.begin().await;
            }
            "sale-refused" if self.does("return !!find('#supervisor')").await == true => self.confirm().await,
            "sale-refused" | "sale-not-begun" => {
                self.does("press('#start-again') || press('#new')").await;
            }
            _ => {
                let Some(end) = screen.strip_prefix("sale-").filter(|end| ENDS.contains(end)) else { return };
                if is_anothers && self.ended.is_none() {
                    self.does("press('#new')").await;
                } else if !is_anothers && self.ended.is_none() {
                    let last = self.attempts.last().map(|attempt| attempt.minor);
                    assert_eq!(Some(digits(shown[3].as_str().unwrap())), last, "{}'s own outcome: {shown}", self.name);
                    self.ended = Some((shown[4].as_str().unwrap().to_owned(), end.to_owned()));
                }
            }
        }
    }

    /// Checks everything that the page has shown.
    async fn judge(&self, ledger: &Ledger) {
        let name = self.name;
        let (reference, screen) = self.ended.as_ref().unwrap();
        let last = self.attempts.last().unwrap();
        last.agrees(ledger, screen);
        // The reference on the page is that of the transaction with this amount and outcome.
        if self.page.screen().await == "sign-in" {
            self.signs_in().await;
        }
        let sale = self.page.promised(&format!("fetch('/v1/sales/{reference}').then((answer) => answer.json())")).await;
        assert_eq!(
            (digits(sale["amount"].as_str().unwrap_or_default()), &sale["outcome"]),
            (last.minor, &json!(screen)),
            "{sale}"
        );

        let seen = self.page.run("return JSON.parse(sessionStorage.getItem('seen') ?? '[]').map(JSON.parse)").await;
        let seen = seen.as_array().unwrap();
        assert!(!seen.is_empty(), "{name}'s page is not recorded");
        for one in seen {
            let (screen, minor) = (one[0].as_str().unwrap(), digits(one[1].as_str().unwrap()));
            let own = self.attempts.iter().find(|attempt| attempt.minor == minor);
            let is_anothers = one[2] == true;
            assert_eq!(own.is_none(), is_anothers, "{name}'s page shows {one}, and has begun {:?}", self.attempts);
            if let (Some(own), true) = (own, ENDS.contains(&screen)) {
                own.agrees(ledger, screen);
            }
        }
        assert_eq!(self.page.complaints().await, Vec::<String>::new(), "{name}'s page complains");
    }
}

impl Till {
    async fn begin(&self, counter: &Counter) {
        let amount = format!("{}.{:02}", self.attempt.minor / 100, self.attempt.minor % 100);
        let body = json!({ "reference": TILLS_REFERENCE, "amount": amount });
        // The till asks for the outcome later, whatever the answer is.
        let _ = counter.post("/v1/sales", Some(&self.authorization), body).await;
    }

    /// Asks for the outcome, and begins the transaction again if the terminal does not know it.
    async fn goes_on(&mut self, counter: &Counter) {
        if self.ended.is_some() {
            return;
        }
        let path = format!("/v1/sales/{TILLS_REFERENCE}");
        match counter.get_as(&self.authorization, &path).await {
            Some((404, _)) => self.begin(counter).await,
            Some((200, sale)) if sale["state"] == "ended" => self.ended = Some(sale),
            _ => {}
        }
    }

    fn judge(&self, ledger: &Ledger) {
        let sale = self.ended.as_ref().unwrap();
        assert_eq!(digits(sale["amount"].as_str().unwrap()), self.attempt.minor, "{sale}");
        self.attempt.agrees(ledger, sale["outcome"].as_str().unwrap());
    }
}
