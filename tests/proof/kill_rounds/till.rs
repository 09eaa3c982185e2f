//! A till as a separate program. It uses HTTP on the agent's Unix socket, the event stream, and a record of its
//! requests and all messages to it. After a lost connection, it asks for the same reference again and never uses
//! another one.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use pos_agent::till::{Progress, SaleState, SaleView, StatusView};
use pos_sim::gateway::HostRules;
use pos_sim::shop::{Shop, TILL_TOKEN};
use pos_terms::transaction::{Kind, OutcomeWord};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::checker::{self, Books};
use super::plan::{By, Named, Wish, decimal};
use super::scenario::Scenario;

/// The interval at which a till asks again if no event arrives.
const ASK_AGAIN: Duration = Duration::from_millis(10);

/// The reason for an unconfirmed transaction that the gateway does not list. After a day, a payment ends as declined
/// (`absence-final-after-h`, 1 at least), and a capture or refund is sent again. One process must have watched for an
/// hour of that day, which is too long for a test. A reversal is sent again immediately. So is a capture or a refund,
/// if the gateway accepts each reference only once.
pub const NOT_THERE: &str = "not-listed-yet";
/// The reason for an unconfirmed transaction whose request was sent twice and declined once. The other request may
/// still arrive, so the agent
/// also waits for the end of the day.
const DECLINED_ONCE: &str = "earlier-try-open";

/// One transaction in the till's record.
#[derive(Clone, Debug)]
pub struct Deal {
    pub reference: String,
    pub wish: Wish,
    /// The reference of the earlier transaction.
    pub of: Option<String>,
    /// The reason why the terminal did not begin the transaction, where a refusal is allowed.
    pub refused: Option<String>,
    /// The messages to the till that differed from the previous one.
    pub told: Vec<TillResult>,
}

/// A message to the till, and the number of entries in the gateway's ledger at that moment.
#[derive(Clone, Debug)]
pub struct TillResult {
    pub view: SaleView,
    pub entries: usize,
}

impl Deal {
    /// Returns the message with the outcome, if there was one.
    pub fn end(&self) -> Option<&SaleView> {
        self.told.iter().map(|told| &told.view).rfind(|view| view.outcome.is_some())
    }

    /// Returns whether the transaction waits for a person.
    pub fn needs_a_person(&self) -> bool {
        self.told.last().is_some_and(|told| told.view.needs_person.is_some())
    }

    /// Returns whether the transaction may need a person. The gateway approves a euro more than requested
    /// (`pos-sim gateway --help`, .79). If a look-up finds this, a person must decide.
    pub fn may_need_a_person(&self) -> bool {
        self.of.is_none() && self.wish.amount.is_some_and(|minor| minor % 100 == 79)
    }

    /// Returns the outcome as the till received it, for the counts.
    pub fn ended_as(&self) -> &'static str {
        if self.refused.is_some() {
            return "refused at the terminal";
        }
        if self.needs_a_person() {
            return "not confirmed: needs a person";
        }
        let Some(last) = self.end() else { return "not confirmed: the gateway does not know it" };
        match last.outcome.unwrap() {
            OutcomeWord::Approved => "approved",
            OutcomeWord::PartiallyApproved => "partially approved",
            OutcomeWord::Declined => "declined",
            OutcomeWord::Cancelled => "cancelled",
            OutcomeWord::NotSent => "not sent",
            OutcomeWord::Reversed => "reversed",
        }
    }
}

/// The record that every listener of the till writes to.
pub struct Book {
    shop: Arc<Shop>,
    scenario: Arc<Scenario>,
    deals: Mutex<Vec<Deal>>,
    /// The reference of the transaction whose moments trigger the kills.
    followed: Mutex<String>,
    wrong: Mutex<Option<String>>,
    news: Notify,
}

impl Book {
    pub fn deals(&self) -> MutexGuard<'_, Vec<Deal>> {
        self.deals.lock().unwrap()
    }

    /// Returns the first untrue message as an error.
    pub fn wrong(&self) -> Result<(), String> {
        self.wrong.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    /// Records a message and checks the gateway's ledger at the same moment.
    fn hears(&self, view: SaleView, how: &str) {
        let ledger = self.shop.gateway.ledger();
        let mut deals = self.deals();
        let Some(at) = deals.iter().position(|deal| view.reference == deal.reference.as_str()) else {
            let text = format!("the till was told of {}, for which it never asked", view.reference);
            self.wrong.lock().unwrap().get_or_insert(text);
            return;
        };
        let what = |view: &SaleView| (view.state, view.outcome, view.needs_person.is_some());
        let is_news = |last: &TillResult| what(&last.view) != what(&view);
        if deals[at].told.last().is_none_or(is_news) {
            let (outcome, text) = (view.outcome, &view.text);
            self.scenario
                .note(format!("the till hears ({how}) {}: {:?} {outcome:?}: {text}", view.reference, view.state));
            deals[at].told.push(TillResult { view: view.clone(), entries: ledger.entries().len() });
        }
        if let Err(why) = checker::told(&Books::of(&ledger), &deals, at, &view) {
            self.wrong.lock().unwrap().get_or_insert(why);
        }
        drop(deals);
        if view.reference == self.followed.lock().unwrap().as_str() {
            self.scenario.told(view.state);
        }
        self.news.notify_waiters();
    }
}

/// The reason why the till has no answer.
#[derive(Debug)]
pub enum Failed {
    /// The connection is lost, because the agent was killed.
    Lost,
    /// The terminal refuses to begin the transaction. The earlier transaction's rest or owner does not permit it.
    Refused(String),
    /// The answer is wrong.
    Wrong(String),
}

/// Whether the terminal may refuse a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The terminal has no reason to refuse.
    Never,
    /// It may refuse, because another till sends a request for the same transaction at the same time.
    May,
    /// It must refuse, because the request refers to another till's transaction and this till has no right to that.
    Must,
}

type Answer<T> = Result<T, Failed>;

pub struct Till {
    pub book: Arc<Book>,
    /// True if the gateway accepts each reference only once and the agent knows this.
    sends_again: bool,
    http: reqwest::Client,
    /// The HTTP client and the address for the till with a token.
    loopback: (reqwest::Client, String),
    ears: Mutex<Option<JoinHandle<()>>>,
}

impl Till {
    pub fn new(shop: &Arc<Shop>, scenario: &Arc<Scenario>, loopback: String) -> Self {
        let http =
            reqwest::Client::builder().unix_socket(shop.socket()).no_proxy().pool_max_idle_per_host(0).build().unwrap();
        let book = Book {
            shop: Arc::clone(shop),
            scenario: Arc::clone(scenario),
            deals: Mutex::default(),
            followed: Mutex::default(),
            wrong: Mutex::default(),
            news: Notify::new(),
        };
        let own = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
        let sends_again = shop.gateway.host_rules() == HostRules::Literal;
        Self { book: Arc::new(book), sends_again, http, loopback: (own, loopback), ears: Mutex::new(None) }
    }

    /// Makes the kills wait for the moments of this transaction.
    pub fn follows(&self, reference: &str) {
        reference.clone_into(&mut self.book.followed.lock().unwrap());
    }

    /// Sends this request and waits until the transaction is resolved, across all restarts.
    pub async fn carry_out(
        &self,
        wish: &Wish,
        reference: &str,
        of: Option<&str>,
        twice: bool,
        refusal: Refusal,
    ) -> Result<(), String> {
        self.book.scenario.note(format!("a till asks for {reference}: {}", wish.told()));
        let (named, of) = (reference.to_owned(), of.map(str::to_owned));
        let deal = Deal { reference: named, wish: wish.clone(), of, refused: None, told: Vec::new() };
        self.book.deals().push(deal);
        // The first time, the agent cannot know the reference, so a query would be useless.
        let mut is_new = true;
        loop {
            let life = async {
                if is_new || self.find(reference).await?.is_none() {
                    self.begin(reference, twice).await?;
                }
                if refusal == Refusal::Must {
                    return Err(Failed::Wrong(format!(
                        "STRANGER: {reference} was begun, of another till's transaction"
                    )));
                }
                self.until_settled(reference).await
            };
            match life.await {
                Ok(()) => {
                    self.book.scenario.settled();
                    return self.book.wrong();
                }
                Err(Failed::Lost) => is_new = false,
                Err(Failed::Refused(why)) if refusal != Refusal::Never => {
                    self.book.scenario.note(format!("{reference} is refused: {why}"));
                    let mut deals = self.book.deals();
                    deals.iter_mut().find(|deal| deal.reference == reference).unwrap().refused = Some(why);
                    return Ok(());
                }
                Err(Failed::Refused(why) | Failed::Wrong(why)) => return Err(format!("{reference}: {why}")),
            }
            tokio::time::sleep(ASK_AGAIN).await;
            self.until_serving().await;
        }
    }

    /// Returns the number of sales that wait for the end of the day (see [`NOT_THERE`]).
    pub fn waiting(&self) -> usize {
        self.book.deals().iter().filter(|deal| deal.end().is_none() && deal.refused.is_none()).count()
    }

    /// Waits until the terminal can begin a sale and has no receipts left to print.
    pub async fn until_idle(&self) {
        loop {
            let waits = |status: &StatusView| status.printers.iter().any(|printer| printer.waiting > 0);
            match self.get::<StatusView>("status").await {
                Ok(Some(status)) if status.ready && !status.busy && !waits(&status) => return,
                _ => tokio::time::sleep(ASK_AGAIN).await,
            }
        }
    }

    /// Waits until the agent serves tills, then follows its events.
    pub async fn until_serving(&self) {
        while !self.listen().await {
            tokio::time::sleep(ASK_AGAIN).await;
        }
        self.book.scenario.serving();
    }

    /// Queries this transaction until it is resolved, across all restarts.
    pub async fn look_again(&self, reference: &str) -> Result<(), String> {
        loop {
            match self.until_settled(reference).await {
                Ok(()) => return self.book.wrong(),
                Err(Failed::Lost) => self.until_serving().await,
                Err(Failed::Refused(why) | Failed::Wrong(why)) => return Err(why),
            }
        }
    }

    /// Sends the same request again. The terminal answers it, and it has no other effect.
    pub async fn ask_again(&self, reference: &str) -> Result<(), String> {
        let before = self.book.shop.gateway.ledger().entries().len();
        let known = self.book.deals().iter().find(|deal| deal.reference == reference).and_then(Deal::end).cloned();
        let (status, view) = match self.post(reference).await {
            Ok(said) => said,
            Err(failed) => return Err(format!("{reference} asked again: {failed:?}")),
        };
        let view: SaleView =
            serde_json::from_value(view.clone()).map_err(|why| format!("{reference}: {why}: {view}"))?;
        let same = known.is_none_or(|known| known.outcome == view.outcome && known.payment_id == view.payment_id);
        let entries = self.book.shop.gateway.ledger().entries().len();
        if (status, view.replayed, same, entries) != (200, true, true, before) {
            return Err(format!("{reference} asked again: {status}, {view:?}, {} new entries", entries - before));
        }
        self.book.hears(view, "asked again");
        self.book.wrong()
    }

    /// Returns the sale if the agent knows it.
    async fn find(&self, reference: &str) -> Answer<Option<SaleView>> {
        let found: Option<SaleView> =
            self.get(&format!("sales/{reference}?till={}", self.by(reference).till())).await?;
        if let Some(view) = &found {
            self.book.hears(view.clone(), "by asking");
        }
        Ok(found)
    }

    /// Begins the transaction. A new request is allowed only if the agent has answered that it recorded nothing, and
    /// then with the same reference.
    async fn begin(&self, reference: &str, twice: bool) -> Answer<()> {
        loop {
            let (status, said) = if twice {
                let (one, two) = tokio::join!(self.post(reference), self.post(reference));
                let (one, two) = (one?, two?);
                if one.0 <= two.0 { one } else { two }
            } else {
                self.post(reference).await?
            };
            match (status, said["code"].as_str()) {
                (200 | 201, _) => {
                    let view = serde_json::from_value(said).map_err(|why| Failed::Wrong(why.to_string()))?;
                    self.book.hears(view, "by asking");
                    self.book.scenario.accepted();
                    return Ok(());
                }
                // The reader of a terminal that has just started is not open yet.
                (503, Some("not-ready")) => tokio::time::sleep(ASK_AGAIN).await,
                (403 | 422, Some("forbidden" | "not-possible" | "amount")) => {
                    return Err(Failed::Refused(format!("{status} {said}")));
                }
                _ => return Err(Failed::Wrong(format!("{reference} is refused: {status} {said}"))),
            }
        }
    }

    async fn until_settled(&self, reference: &str) -> Answer<()> {
        loop {
            let Some(view) = self.find(reference).await? else {
                return Err(Failed::Wrong(format!("{reference} was accepted, and is not known any more")));
            };
            if self.is_settled(&view) {
                return Ok(());
            }
            if view.state == SaleState::AwaitingTill {
                let taken = {
                    let deals = self.book.deals();
                    deals.iter().find(|deal| deal.reference == reference).unwrap().wish.taken
                };
                let taken = if taken == Some(true) { "all" } else { "nothing" };
                self.book.scenario.note(format!("the till takes {taken}"));
                let path = format!("sales/{reference}/confirm?till={}", self.by(reference).till());
                let (status, said) = self.send(By::Socket, &path, &json!({ "taken": taken })).await?;
                let view = serde_json::from_value(said).map_err(|why| Failed::Wrong(format!("{status}: {why}")))?;
                self.book.hears(view, "by asking");
                continue;
            }
            if view.state == SaleState::AwaitingSignature {
                let accepted = {
                    let deals = self.book.deals();
                    deals.iter().find(|deal| deal.reference == reference).unwrap().wish.signature
                };
                self.book.scenario.note(format!("the signature is {}", if accepted { "accepted" } else { "refused" }));
                let body = json!({ "accepted": accepted });
                let path = format!("sales/{reference}/signature?till={}", self.by(reference).till());
                let (status, said) = self.send(By::Socket, &path, &body).await?;
                let view = serde_json::from_value(said).map_err(|why| Failed::Wrong(format!("{status}: {why}")))?;
                self.book.hears(view, "by asking");
                continue;
            }
            // An event announces news. If none arrives, the till asks again.
            let _ = tokio::time::timeout(ASK_AGAIN, self.book.news.notified()).await;
        }
    }

    /// Returns whether the transaction has ended or waits only for a person. A transaction that the gateway does not
    /// list may also wait for the end of the day (see [`NOT_THERE`]).
    fn is_settled(&self, view: &SaleView) -> bool {
        match view.state {
            SaleState::Ended => true,
            state if state.is_unconfirmed() && view.needs_person.is_some() => {
                let deals = self.book.deals();
                let deal = deals.iter().find(|deal| view.reference == deal.reference.as_str()).unwrap();
                let books = Books::of(&self.book.shop.gateway.ledger());
                deal.may_need_a_person() || books.is_residual(&deals, deal)
            }
            state if state.is_unconfirmed() && matches!(view.unsettled.as_deref(), Some(NOT_THERE | DECLINED_ONCE)) => {
                let deals = self.book.deals();
                let deal = deals.iter().find(|deal| view.reference == deal.reference.as_str()).unwrap();
                let goes_on = match deal.wish.kind {
                    _ if view.unsettled.as_deref() == Some(DECLINED_ONCE) => false,
                    Kind::Reversal => true,
                    Kind::Capture | Kind::Refund => self.sends_again,
                    _ => false,
                };
                !goes_on && checker::holds(&Books::of(&self.book.shop.gateway.ledger()), &deals, deal).is_empty()
            }
            _ => false,
        }
    }

    async fn post(&self, reference: &str) -> Answer<(u16, Value)> {
        let (by, body) = {
            let deals = self.book.deals();
            let deal = deals.iter().find(|deal| deal.reference == reference).unwrap();
            let first = deals.iter().find(|first| Some(&first.reference) == deal.of.as_ref());
            let earlier = first.and_then(Deal::end);
            let mut body = json!({ "reference": reference, "kind": deal.wish.kind.as_str() });
            if let Some(amount) = deal.wish.amount {
                body["amount"] = decimal(amount).into();
                body["currency"] = "EUR".into();
            }
            if deal.wish.taken.is_some() {
                body["confirm"] = "till".into();
            }
            if deal.wish.stores {
                body["parameters"] = json!({ "createRegistration": "true" });
            }
            match (first, earlier, deal.wish.named) {
                (None, ..) => {}
                (Some(first), _, Named::Reference) => {
                    body["of"] = first.reference.as_str().into();
                    if first.wish.by != deal.wish.by {
                        body["till"] = first.wish.by.till().into();
                    }
                }
                (_, earlier, Named::Payment) => {
                    body["payment"] = earlier.and_then(|view| view.payment_id.clone()).map(|id| id.to_string()).into()
                }
                (_, earlier, Named::StoredCard) => {
                    body["registration"] = earlier.and_then(|view| view.registration.clone()).into();
                }
            }
            (deal.wish.by, body)
        };
        self.send(by, "sales", &body).await
    }

    /// Returns the till that began this transaction.
    fn by(&self, reference: &str) -> By {
        self.book.deals().iter().find(|deal| deal.reference == reference).unwrap().wish.by
    }

    async fn send(&self, by: By, path: &str, body: &Value) -> Answer<(u16, Value)> {
        let (client, address) = &self.loopback;
        let request = match by {
            By::Socket => self.http.post(format!("http://till/v1/{path}")),
            By::Token => client.post(format!("http://{address}/v1/{path}")).bearer_auth(TILL_TOKEN),
        };
        let answer = request
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
            .await
            .map_err(|_| Failed::Lost)?;
        let status = answer.status().as_u16();
        let text = answer.text().await.map_err(|_| Failed::Lost)?;
        let said = serde_json::from_str(&text).map_err(|why| Failed::Wrong(format!("{path}: {why}: {text}")))?;
        Ok((status, said))
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Answer<Option<T>> {
        let answer = self.http.get(format!("http://till/v1/{path}")).send().await.map_err(|_| Failed::Lost)?;
        let status = answer.status().as_u16();
        let text = answer.text().await.map_err(|_| Failed::Lost)?;
        match status {
            200 => serde_json::from_str(&text).map(Some).map_err(|why| Failed::Wrong(format!("{why}: {text}"))),
            404 => Ok(None),
            _ => Err(Failed::Wrong(format!("{path}: {status} {text}"))),
        }
    }

    /// Begins to listen to all events. Returns false while no agent serves.
    async fn listen(&self) -> bool {
        let Ok(mut stream) = self.http.get("http://till/v1/events").send().await else { return false };
        // The first message confirms that no later event is missed.
        let Ok(Some(first)) = stream.chunk().await else { return false };
        let book = Arc::clone(&self.book);
        let mut text = String::from_utf8(first.to_vec()).unwrap();
        let ears = tokio::spawn(async move {
            loop {
                while let Some((event, rest)) = text.split_once("\n\n") {
                    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                    let step = data.and_then(|data| serde_json::from_str::<Progress>(data).ok());
                    text = rest.to_owned();
                    if let Some(view) = step.and_then(|step| step.sale) {
                        book.hears(*view, "by event");
                    }
                }
                let Ok(Some(chunk)) = stream.chunk().await else { return };
                text.push_str(std::str::from_utf8(&chunk).unwrap());
            }
        });
        if let Some(old) = self.ears.lock().unwrap().replace(ears) {
            old.abort();
        }
        true
    }
}
