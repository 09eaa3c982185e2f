//! The shop's staff and tills. A cashier at the socket makes card sales, and a till with a token uses stored cards.
//! Both make refunds. The customer is at the reader. Each amount belongs to one payment, so the payment can be found in
//! the gateway's ledger.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pos_agent::till::{SaleState, SaleView};
use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::TILL_TOKEN;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Until;
use super::terminal::Terminal;

/// The interval between retries while the terminal is busy, starting, or without a reader.
const AGAIN: Duration = Duration::from_millis(50);
/// The time without an answer after which a till would call the technician.
const PATIENCE: Duration = Duration::from_secs(60);
/// The reason for an unconfirmed transaction that the gateway does not list. It ends a day later
/// (`absence-final-after-h`).
const NOT_THERE: &str = "not-listed-yet";

/// The gateway's behaviour, chosen by the cents of the amount (`pos-sim gateway --help`). Most payments are approved.
const CENTS: &[u64] = &[10, 11, 12, 13, 14, 15, 16, 17, 51, 55, 60, 61, 65, 67, 71, 73, 75];
const CARDS: &[(&str, CardEntry)] = &[
    ("chip-no-cvm", CardEntry::Insert),
    ("chip-pin", CardEntry::Insert),
    ("tap", CardEntry::Tap),
    ("chip-refuses", CardEntry::Insert),
    ("tap-pin", CardEntry::Tap),
];

/// A transaction in a till's record.
#[derive(Clone, Debug)]
pub struct Deal {
    pub reference: String,
    /// The reference of the refunded payment.
    pub of: Option<String>,
    pub minor: u64,
    /// The last message to the till.
    pub view: Option<SaleView>,
    /// The fault, if there were two outcomes or an outcome changed.
    pub changed: Option<String>,
    /// The reason why the terminal did not begin the transaction.
    pub refused: Option<String>,
    by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Socket,
    Token,
}

pub struct Tills {
    socket: reqwest::Client,
    token: reqwest::Client,
    loopback: String,
    deals: Mutex<Vec<Deal>>,
    next: AtomicU64,
}

impl Tills {
    pub fn new(terminal: &Terminal) -> Self {
        let client =
            || reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).timeout(Duration::from_secs(20));
        Self {
            socket: client().unix_socket(terminal.shop.socket()).build().unwrap(),
            token: client().build().unwrap(),
            loopback: terminal.loopback.clone(),
            deals: Mutex::default(),
            next: AtomicU64::new(1000),
        }
    }

    fn book(&self) -> MutexGuard<'_, Vec<Deal>> {
        self.deals.lock().unwrap()
    }

    pub fn deals(&self) -> Vec<Deal> {
        self.book().clone()
    }

    /// Returns the transactions that wait for something other than the end of the day.
    pub fn open(&self) -> Vec<String> {
        let deals = self.book();
        let open = deals.iter().filter(|deal| !deal.is_settled());
        open.map(|deal| format!("{}: {:?}", deal.reference, deal.view.as_ref().map(|view| &view.text))).collect()
    }

    /// Makes sales with a card, and refunds of some of them.
    pub async fn cashier(&self, until: Until) {
        let mut count = 0;
        while !until.is_over(count) {
            let paid = self.pays(By::Socket, json!({ "kind": "sale" })).await;
            if count % 4 == 3 {
                self.gives_back(By::Socket, &paid).await;
            }
            count += 1;
        }
    }

    /// Makes payments with a stored card, and refunds of some of them.
    pub async fn stored_cards(&self, until: Until) {
        let stored = self.kept_card().await;
        let mut count = 0;
        while !until.is_over(count) {
            let repeated = json!({ "standingInstruction.type": "UNSCHEDULED", "standingInstruction.mode": "REPEATED",
                "standingInstruction.source": "MIT" });
            let body = json!({ "kind": "by-registration", "registration": stored, "parameters": repeated });
            let paid = self.pays(By::Token, body).await;
            if count % 3 == 2 {
                self.gives_back(By::Token, &paid).await;
            }
            count += 1;
        }
    }

    /// Stores the card of an approved sale at the gateway.
    async fn kept_card(&self) -> String {
        loop {
            let body = json!({ "kind": "sale", "parameters": { "createRegistration": "true",
                "standingInstruction.type": "UNSCHEDULED", "standingInstruction.mode": "INITIAL", "standingInstruction.source": "CIT" } });
            let paid = self.pays(By::Socket, body).await;
            if let Some(kept) = paid.view.and_then(|view| view.registration) {
                return kept;
            }
        }
    }

    async fn pays(&self, by: By, mut body: Value) -> Deal {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let cents = CENTS[usize::try_from(number).unwrap() % CENTS.len()];
        let minor = number * 200 + cents;
        let reference = format!("S{number}");
        body["reference"] = reference.as_str().into();
        body["amount"] = decimal(minor).into();
        self.carry_out(Deal { reference, of: None, minor, view: None, changed: None, refused: None, by }, &body).await
    }

    /// Refunds a part of the approved amount.
    async fn gives_back(&self, by: By, paid: &Deal) {
        let approved = paid.view.as_ref().is_some_and(|view| view.approved_amount.is_some());
        if !approved {
            return;
        }
        let (reference, minor) = (format!("R{}", paid.reference), paid.minor / 4 / 100 * 100 + 10);
        let body = json!({ "kind": "refund", "reference": reference, "of": paid.reference, "amount": decimal(minor) });
        let of = Some(paid.reference.clone());
        self.carry_out(Deal { reference, of, minor, view: None, changed: None, refused: None, by }, &body).await;
    }

    /// Sends the request until the agent reports the outcome, or until only time can bring it.
    async fn carry_out(&self, deal: Deal, body: &Value) -> Deal {
        let (reference, by) = (deal.reference.clone(), deal.by);
        self.book().push(deal);
        let mut heard = Instant::now();
        loop {
            let said = self.send(by, reqwest::Method::POST, "sales", Some(body)).await;
            let waits = match said {
                Ok((200 | 201, view)) => {
                    heard = Instant::now();
                    self.hears(&reference, view)
                }
                Ok((403 | 422, said)) => {
                    self.at(&reference, |deal| deal.refused = Some(said.to_string()));
                    false
                }
                Ok((401 | 404 | 415, said)) => panic!("{reference}: {said}"),
                // The terminal is busy, not ready, or has too many requests, so no transaction was begun.
                Ok(_) | Err(_) => {
                    assert!(heard.elapsed() < PATIENCE, "{reference} had no answer for {PATIENCE:?}: {said:?}");
                    true
                }
            };
            if !waits {
                let deals = self.book();
                return deals.iter().rfind(|deal| deal.reference == reference).unwrap().clone();
            }
            sleep(AGAIN).await;
        }
    }

    /// Records the message. Returns whether the transaction goes on.
    fn hears(&self, reference: &str, view: Value) -> bool {
        let view: SaleView = serde_json::from_value(view).unwrap();
        let mut goes_on = true;
        self.at(reference, |deal| {
            if let Some(before) = deal.view.as_ref().filter(|before| before.outcome.is_some())
                && (before.outcome, &before.approved_amount) != (view.outcome, &view.approved_amount)
            {
                deal.changed = Some(format!("was told {:?}, then {:?}", before.text, view.text));
            }
            deal.view = Some(view);
            goes_on = !deal.is_settled();
        });
        goes_on
    }

    fn at(&self, reference: &str, change: impl FnOnce(&mut Deal)) {
        change(self.book().iter_mut().rfind(|deal| deal.reference == reference).unwrap());
    }

    /// Queries every open transaction until it has ended.
    pub async fn until_settled(&self) {
        loop {
            let open: Vec<(String, By)> = {
                let deals = self.book();
                // The gateway may meanwhile have received a transaction that it did not know.
                let open = deals.iter().filter(|deal| deal.refused.is_none() && !deal.has_ended());
                open.map(|deal| (deal.reference.clone(), deal.by)).collect()
            };
            let mut all_heard = true;
            for (reference, by) in &open {
                match self.send(*by, reqwest::Method::GET, &format!("sales/{reference}"), None).await {
                    Ok((200, view)) => {
                        self.hears(reference, view);
                    }
                    _ => all_heard = false,
                }
            }
            if all_heard && self.open().is_empty() {
                return;
            }
            sleep(AGAIN).await;
        }
    }

    /// Measures the status query at the socket and with a token.
    pub async fn ask_for_status(&self) -> [Option<Duration>; 2] {
        let ask = async |by| {
            let begun = Instant::now();
            let said = self.send(by, reqwest::Method::GET, "status", None).await;
            matches!(said, Ok((200, _))).then(|| begun.elapsed())
        };
        let (socket, token) = tokio::join!(ask(By::Socket), ask(By::Token));
        [socket, token]
    }

    async fn send(
        &self,
        by: By,
        method: reqwest::Method,
        path: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<(u16, Value)> {
        let mut request = match by {
            By::Socket => self.socket.request(method, format!("http://till/v1/{path}")),
            By::Token => {
                self.token.request(method, format!("http://{}/v1/{path}", self.loopback)).bearer_auth(TILL_TOKEN)
            }
        };
        if let Some(body) = body {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        Ok((status, serde_json::from_slice(&answer.bytes().await?).unwrap_or_default()))
    }
}

impl Deal {
    fn has_ended(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.state == SaleState::Ended)
    }

    /// Returns whether the transaction has ended, was refused, or waits for the end of the day or for a person.
    fn is_settled(&self) -> bool {
        let waits = |view: &SaleView| {
            view.state.is_unconfirmed() && (view.needs_person.is_some() || view.unsettled.as_deref() == Some(NOT_THERE))
        };
        self.refused.is_some() || self.has_ended() || self.view.as_ref().is_some_and(waits)
    }
}

/// Presents a card whenever the reader asks for one.
pub async fn customer(terminal: Arc<Terminal>) {
    let reader = &terminal.shop.reader;
    for (name, entry) in CARDS.iter().cycle() {
        reader.waits_for(WaitsFor::Card).await;
        reader.present(card(name).unwrap(), *entry);
        reader.until(|screen| screen.waits_for != WaitsFor::Card).await;
    }
}

fn decimal(minor: u64) -> String {
    format!("{}.{:02}", minor / 100, minor % 100)
}
