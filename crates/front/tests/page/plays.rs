//! Tests of transactions from the page, each with one disturbance. Kind and outcome, disturbance, input method, size
//! and language are combined pairwise. At the end, the outcome on the page, the agent's state and the gateway's ledger
//! agree, and no customer has paid twice.

use std::time::Duration;

use pos_sim::gateway::Kind;
use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::Options;
use serde_json::{Value, json};

use crate::browser::{Browser, By, Driver, ESCAPE, NUMPAD_ENTER};
use crate::counter::Counter;
use crate::pairs::{all_pairs, every};
use crate::within;

/// The variable with a text, such as `by-registration` or `AgentKilledAtBank`. Only rows whose printed line contains
/// the text are tested.
const ONLY: &str = "POS_FRONT_PAGE_ONLY";

/// A transaction and its outcome.
#[derive(Clone, Copy, Debug)]
struct Play {
    kind: &'static str,
    /// The earlier transaction to which this one refers, if any.
    upon: Option<Before>,
    /// The amount as typed on the keypad or in the dialog.
    amount: &'static str,
    card: (&'static str, CardEntry),
    deed: Deed,
    outcome: &'static str,
}

/// An earlier transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Sale,
    PreAuthorisation,
    /// A sale whose card the gateway has stored.
    CardKept,
}

/// An action of the cashier or an event during the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Nothing,
    Cancels,
    AcceptsSignature,
    RefusesSignature,
    GatewayIsGone,
    /// The cashier types the id of the stored card instead of choosing the payment in the list.
    TypesRegistration,
    /// Another till began the transaction and must confirm it, but the cashier confirms it.
    TakesForTheTill,
    /// Another till began the transaction and must confirm it, but the cashier refuses.
    LeavesForTheTill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disturbance {
    Nothing,
    Reload,
    SecondPage,
    AgentKilled,
    FrontKilled,
    /// The agent is killed while the gateway authorises a card payment. Other transactions are not disturbed.
    AgentKilledAtBank,
    /// The agent is killed while the cashier compares a signature or the till must confirm. Other transactions are not
    /// disturbed.
    AgentKilledAtDecision,
}

const DISTURBANCES: [Disturbance; 7] = [
    Disturbance::Nothing,
    Disturbance::Reload,
    Disturbance::SecondPage,
    Disturbance::AgentKilled,
    Disturbance::FrontKilled,
    Disturbance::AgentKilledAtBank,
    Disturbance::AgentKilledAtDecision,
];
const HANDS: [By; 2] = [By::Pointer, By::Keyboard];
const SIZES: [(u32, u32); 2] = [(480, 320), (1024, 600)];
const LANGUAGES: [&str; 2] = ["en", "de"];

const TAP: (&str, CardEntry) = ("tap", CardEntry::Tap);
const SIGNED: (&str, CardEntry) = ("chip-signature", CardEntry::Insert);
/// A card that refuses what the gateway has approved.
const REFUSING: (&str, CardEntry) = ("chip-refuses", CardEntry::Insert);
/// The result when a transaction has no outcome because it needs a person, and no person acts.
const NEEDS_PERSON: &str = "needs-person";

const fn own(kind: &'static str, amount: &'static str, outcome: &'static str) -> Play {
    Play { kind, upon: None, amount, card: TAP, deed: Deed::Nothing, outcome }
}

const fn upon(kind: &'static str, upon: Before, amount: &'static str, outcome: &'static str) -> Play {
    Play { upon: Some(upon), ..own(kind, amount, outcome) }
}

/// The transactions. The cents choose the answer of the simulated gateway.
const PLAYS: &[Play] = &[
    own("sale", "1234", "approved"),
    own("sale", "1251", "declined"),
    own("sale", "1260", "partially-approved"),
    // The gateway approves, but its answer is lost. The page shows the sale as unconfirmed until the agent has looked
    // it up.
    own("sale", "1273", "reversed"),
    Play { deed: Deed::Cancels, ..own("sale", "1200", "cancelled") },
    Play { deed: Deed::GatewayIsGone, ..own("sale", "1300", "not-sent") },
    Play { card: SIGNED, deed: Deed::AcceptsSignature, ..own("sale", "4500", "approved") },
    Play { card: SIGNED, deed: Deed::RefusesSignature, ..own("sale", "4500", "reversed") },
    own("pre-authorisation", "5000", "approved"),
    own("pre-authorisation", "5051", "declined"),
    Play { deed: Deed::Cancels, ..own("pre-authorisation", "5000", "cancelled") },
    own("credit", "300", "approved"),
    own("credit", "351", "declined"),
    // The card refuses, and the gateway then refuses the reversal.
    Play { card: REFUSING, ..own("sale", "1284", NEEDS_PERSON) },
    // The gateway approves, but its answer is lost. The credit is unconfirmed until the agent finds it.
    own("credit", "373", "approved"),
    Play { deed: Deed::TakesForTheTill, ..own("sale", "2100", "approved") },
    Play { deed: Deed::LeavesForTheTill, ..own("sale", "2100", "reversed") },
    upon("capture", Before::PreAuthorisation, "40.00", "approved"),
    upon("capture", Before::PreAuthorisation, "40.51", "declined"),
    upon("capture", Before::PreAuthorisation, "40.73", "approved"),
    upon("increment", Before::PreAuthorisation, "10.00", "approved"),
    upon("reauthorisation", Before::PreAuthorisation, "30.00", "approved"),
    upon("reauthorisation", Before::PreAuthorisation, "30.51", "declined"),
    upon("refund", Before::Sale, "5.00", "approved"),
    upon("refund", Before::Sale, "5.51", "declined"),
    upon("reversal", Before::Sale, "", "approved"),
    upon("reversal", Before::PreAuthorisation, "", "approved"),
    upon("by-registration", Before::CardKept, "7.00", "approved"),
    upon("by-registration", Before::CardKept, "7.51", "declined"),
    Play { deed: Deed::TypesRegistration, ..upon("by-registration", Before::CardKept, "700", "approved") },
    Play {
        deed: Deed::TypesRegistration,
        ..upon("pre-authorisation-by-registration", Before::CardKept, "700", "approved")
    },
    own("store-card", "", "approved"),
    Play { deed: Deed::Cancels, ..own("store-card", "", "cancelled") },
    upon("forget-card", Before::CardKept, "", "approved"),
];

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn each_kind_and_end_with_each_disturbance() {
    let sizes = [PLAYS.len(), DISTURBANCES.len(), HANDS.len(), SIZES.len(), LANGUAGES.len()];
    let rows = all_pairs(&sizes);
    let driver = Driver::start().await;
    let (first, second) = (driver.browser().await, driver.browser().await);
    let only = std::env::var(ONLY).unwrap_or_default();
    let mut played = 0;
    for row in rows.iter().step_by(every()) {
        let round = Round {
            play: PLAYS[row[0]],
            disturbance: DISTURBANCES[row[1]],
            by: HANDS[row[2]],
            size: SIZES[row[3]],
            language: LANGUAGES[row[4]],
        };
        if !format!("{round:?}").contains(&only) {
            continue;
        }
        // The row is printed before it is tested, so the last line shows a failing row.
        println!("{round:?}");
        round.play(&first, &second).await;
        played += 1;
    }
    println!("{played} of {} rows", rows.len());
    first.close().await;
    second.close().await;
}

/// One row of the table.
#[derive(Debug)]
struct Round {
    play: Play,
    disturbance: Disturbance,
    by: By,
    size: (u32, u32),
    language: &'static str,
}

impl Round {
    async fn play(&self, page: &Browser, second: &Browser) {
        let mut counter = Counter::open(Options::default()).await;
        let registration = match self.play.upon {
            Some(before) => counter.sold(before.request()).await["registration"].as_str().map(ToOwned::to_owned),
            None => None,
        };
        page.open(&counter.url, self.language, self.size).await;
        page.until_link("up").await;
        page.until_screen("pay").await;
        if self.play.upon.is_some() {
            // The delay gives the disturbance time, because these transactions do not wait for a card.
            counter.shop.gateway.set_delay(Duration::from_secs(1));
            if self.disturbance == Disturbance::SecondPage {
                self.open_second(&counter, second).await;
            }
        }
        if self.play.deed == Deed::GatewayIsGone {
            counter.shop.gateway.set_offline(true).await.unwrap();
        }
        if self.disturbance == Disturbance::AgentKilledAtBank && self.play.upon.is_none() {
            counter.shop.gateway.set_delay(Duration::from_secs(2));
        }
        let reference = if self.play.deed.is_of_another_till() {
            counter.begin_beside(json!({ "reference": "tills", "amount": "21.00", "confirm": "till" })).await;
            page.until_screen("sale-card").await;
            "tills".to_owned()
        } else {
            self.begin(page, registration.as_deref()).await;
            self.reference(&counter, page).await
        };
        self.disturb(&mut counter, page, second).await;
        let ended = self.carry_on(&mut counter, page, &reference).await;
        self.judge(&counter, &ended);
        let word = match ended["outcome"].as_str() {
            Some("partially-approved") => "partial",
            Some(word) => word,
            None => NEEDS_PERSON,
        };
        shows(page, word).await;
        if self.disturbance == Disturbance::SecondPage {
            shows(second, word).await;
            assert_eq!(second.complaints().await, Vec::<String>::new(), "the second page complains");
        }
        assert_eq!(page.complaints().await, Vec::<String>::new(), "the page complains");
    }

    /// Acts as the cashier until the page has requested the transaction.
    async fn begin(&self, page: &Browser, registration: Option<&str>) {
        let Play { kind, upon, amount, .. } = self.play;
        let types = self.play.deed == Deed::TypesRegistration;
        let do_it = if upon.is_some() && !types {
            page.press("[data-view=sales]", self.by).await;
            page.press(".entry", self.by).await;
            page.press(&format!("[data-act={kind}]"), self.by).await;
            if !amount.is_empty() {
                page.until("document.activeElement?.id === 'how-much'").await;
                page.run("document.activeElement.select()").await;
                page.keys(amount).await;
            }
            "#do"
        } else {
            if kind != "sale" {
                page.press("#kind", self.by).await;
                page.press(&format!("[data-kind={kind}]"), self.by).await;
                if kind == "store-card" {
                    // This kind has no amount and begins immediately.
                    return;
                }
                if types {
                    page.until("document.activeElement?.id === 'registration-field'").await;
                    page.keys(registration.expect("the gateway has kept the card")).await;
                    page.press("#ok", self.by).await;
                }
                page.until("!document.querySelector('dialog[open]')").await;
            }
            match self.by {
                By::Keyboard => page.keys(amount).await,
                By::Pointer => {
                    for digit in amount.chars() {
                        page.press(&format!("[data-key='{digit}']"), self.by).await;
                    }
                }
            }
            "#charge"
        };
        match (self.by, do_it) {
            (By::Keyboard, "#charge") => page.keys(&NUMPAD_ENTER.to_string()).await,
            _ => page.press(do_it, self.by).await,
        }
    }

    /// Waits until the agent knows the reference that the page created, and returns it.
    async fn reference(&self, counter: &Counter, page: &Browser) -> String {
        page.until("JSON.parse(localStorage.getItem('pos.sale') ?? '{}').reference").await;
        let memory = page.run("return JSON.parse(localStorage.getItem('pos.sale')).reference").await;
        let reference = memory.as_str().unwrap().to_owned();
        let known = async {
            while counter.get(&format!("/v1/sales/{reference}")).await["reference"] != reference.as_str() {
                tokio::task::yield_now().await;
            }
        };
        within("the agent knows the transaction", known).await;
        reference
    }

    async fn open_second(&self, counter: &Counter, second: &Browser) {
        second.open(&counter.url, self.language, self.size).await;
        second.until_link("up").await;
    }

    async fn disturb(&self, counter: &mut Counter, page: &Browser, second: &Browser) {
        match self.disturbance {
            Disturbance::Nothing | Disturbance::AgentKilledAtBank | Disturbance::AgentKilledAtDecision => {}
            Disturbance::Reload => {
                page.reload().await;
                page.until_link("up").await;
            }
            Disturbance::SecondPage if self.play.upon.is_some() => {}
            Disturbance::SecondPage => self.open_second(counter, second).await,
            Disturbance::AgentKilled => kill_agent(counter, page).await,
            Disturbance::FrontKilled => {
                counter.kill_front().await;
                page.until_link("lost").await;
                counter.start_front().await;
                page.until_link("up").await;
            }
        }
    }

    /// Acts as the customer and the cashier until the transaction has ended.
    async fn carry_on(&self, counter: &mut Counter, page: &Browser, reference: &str) -> Value {
        let carried = async {
            let mut decided = false;
            let mut killed = false;
            loop {
                let sale = counter.get(&format!("/v1/sales/{reference}")).await;
                let waits_for = counter.shop.reader.watch().borrow().waits_for;
                match sale["state"].as_str() {
                    Some("ended") => return sale,
                    Some("unconfirmed") if sale["needsPerson"].is_string() => return sale,
                    // The agent was killed. It needs the gateway to find out whether its journal is an outdated copy.
                    Some("unconfirmed") if self.play.deed == Deed::GatewayIsGone => {
                        page.until_screen("sale-unconfirmed").await;
                        counter.shop.gateway.set_offline(false).await.unwrap();
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    Some(state) if !killed && self.is_killed_in(state, &sale) => {
                        page.until_screen(if state == "in-progress" { "sale-bank" } else { screen_of(state) }).await;
                        kill_agent(counter, page).await;
                        killed = true;
                    }
                    Some("waiting-for-card") if self.play.deed == Deed::Cancels && !decided => {
                        page.until_screen("sale-card").await;
                        page.until("!document.querySelector('#cancel[aria-disabled=true]')").await;
                        match self.by {
                            By::Keyboard => page.keys(&ESCAPE.to_string()).await,
                            By::Pointer => page.press("#cancel", self.by).await,
                        }
                        decided = true;
                    }
                    Some("waiting-for-card") if self.play.deed != Deed::Cancels && waits_for == WaitsFor::Card => {
                        let (name, entry) = self.play.card;
                        counter.shop.reader.present(card(name).unwrap(), entry);
                        within(
                            "the card is taken",
                            counter.shop.reader.until(|screen| screen.waits_for != WaitsFor::Card),
                        )
                        .await;
                    }
                    Some(state @ ("awaiting-signature" | "awaiting-till")) if !decided => {
                        page.until_screen(screen_of(state)).await;
                        let accepts = [Deed::AcceptsSignature, Deed::TakesForTheTill].contains(&self.play.deed);
                        page.press(if accepts { "#accept" } else { "#refuse" }, self.by).await;
                        decided = true;
                    }
                    _ => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        within("the end", carried).await
    }

    /// Checks whether the agent must be killed at this moment.
    fn is_killed_in(&self, state: &str, sale: &Value) -> bool {
        match self.disturbance {
            Disturbance::AgentKilledAtBank => {
                let asked = state == "in-progress" && sale["step"] == "authorising";
                // If the bank is unreachable, the outcome would come a day later.
                asked
                    && self.play.deed != Deed::GatewayIsGone
                    && ["sale", "pre-authorisation", "credit"].contains(&self.play.kind)
            }
            Disturbance::AgentKilledAtDecision => ["awaiting-signature", "awaiting-till"].contains(&state),
            _ => false,
        }
    }

    /// Checks that the agent's outcome is the expected one and that the gateway's ledger agrees.
    fn judge(&self, counter: &Counter, ended: &Value) {
        let outcome = ended["outcome"].as_str().unwrap_or_default();
        // An agent that was killed gives up the transaction and reverses a payment that it cannot finish.
        let gives_up = matches!(
            self.disturbance,
            Disturbance::AgentKilled | Disturbance::AgentKilledAtBank | Disturbance::AgentKilledAtDecision
        );
        let outcome = if ended["state"] == "ended" { outcome } else { NEEDS_PERSON };
        let expected =
            outcome == self.play.outcome || (gives_up && ["cancelled", "not-sent", "reversed"].contains(&outcome));
        assert!(expected, "{ended}\n{}", counter.log());
        let done = outcome == "approved" || outcome == "partially-approved";
        let (kind, before) = match self.play.kind {
            "by-registration" | "forget-card" => (Kind::Debit, 1),
            "pre-authorisation-by-registration" => (Kind::PreAuthorisation, 0),
            "sale" | "store-card" => (Kind::Debit, 0),
            "pre-authorisation" => (Kind::PreAuthorisation, 0),
            "credit" => (Kind::Credit, 0),
            "capture" => (Kind::Capture, 0),
            "increment" | "reauthorisation" => (Kind::PreAuthorisation, 1),
            "refund" => (Kind::Refund, 0),
            "reversal" => (Kind::Reversal, 0),
            other => panic!("no kind of the gateway's for {other}"),
        };
        let ledger = counter.shop.gateway.ledger();
        if outcome == NEEDS_PERSON {
            // The gateway holds the payment, and the agent informs a person.
            assert_eq!(counter.moved(kind), 1, "{ended}\n{:?}", ledger.entries());
            return;
        }
        let moves = done && !["store-card", "forget-card"].contains(&self.play.kind);
        assert_eq!(counter.moved(kind), before + usize::from(moves), "{ended}\n{:?}", ledger.entries());
        if self.play.upon == Some(Before::Sale) {
            let stands = usize::from(self.play.kind != "reversal" || !done);
            assert_eq!(counter.moved(Kind::Debit), stands, "{:?}", ledger.entries());
        }
    }
}

impl Before {
    fn request(self) -> Value {
        let kept = json!({ "createRegistration": true,
            "standingInstruction": { "type": "UNSCHEDULED", "mode": "INITIAL", "source": "CIT" } });
        match self {
            Self::Sale => json!({ "kind": "sale" }),
            Self::PreAuthorisation => json!({ "kind": "pre-authorisation" }),
            Self::CardKept => json!({ "kind": "sale", "parameters": kept }),
        }
    }
}

impl Deed {
    fn is_of_another_till(self) -> bool {
        matches!(self, Self::TakesForTheTill | Self::LeavesForTheTill)
    }
}

fn screen_of(state: &str) -> &'static str {
    match state {
        "awaiting-till" => "sale-confirm",
        _ => "sale-signature",
    }
}

/// Kills the agent and starts it again. In between, the page must mark its data as old and show no outcome.
async fn kill_agent(counter: &mut Counter, page: &Browser) {
    counter.kill_agent().await;
    page.until_link("agent-down").await;
    let marked = "document.querySelector('.sale')?.dataset.stale === 'true'";
    let end = "/^sale-(approved|partial|declined|cancelled|not-sent|reversed)$/.test(document.body.dataset.screen)";
    page.until(&format!("({marked}) && !({end})")).await;
    counter.start_agent().await;
    page.until_link("up").await;
}

/// Checks that the page shows this result and does not mark it as old.
async fn shows(page: &Browser, word: &str) {
    page.until_screen(&format!("sale-{word}")).await;
    page.until("document.querySelector('.end')?.dataset.stale === 'false'").await;
}
