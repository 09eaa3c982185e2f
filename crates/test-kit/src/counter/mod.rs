//! A complete counter: a simulated shop with real connections (pty, TLS, TCP), and the real agent in this process.
//! Tests send requests over the agent's Unix socket, as a till does.

use std::future::Future;

use pos_agent::agent::AgentEnd;
use pos_agent::config;
use pos_agent::till::{ReaderState, SaleState, SaleView, StatusView};
use pos_sim::reader::{Card, CardEntry, WaitsFor, card};
use pos_sim::shop::{Options, Shop};
use pos_terms::transaction::OutcomeWord;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::within;

pub mod audit;
pub mod till;

pub struct Counter {
    pub shop: Shop,
    http: reqwest::Client,
    agent: Option<Running>,
}

struct Running {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<AgentEnd, pos_agent::agent::Error>>,
}

impl Counter {
    /// Opens a shop with the default options, and waits until the agent is ready for a transaction.
    pub async fn open() -> Self {
        Self::open_with(Options::default()).await
    }

    /// Opens a shop with these options, and waits until the agent is ready, regardless of the gateway.
    pub async fn open_with(options: Options) -> Self {
        let mut counter = Self::closed(options).await;
        counter.start_agent();
        counter.until_free().await;
        counter
    }

    /// Opens the shop without an agent.
    pub async fn closed(options: Options) -> Self {
        // With RUST_LOG set, a failing test shows the agent's log. Without it, the global subscriber stays free for a
        // test that records the process's log.
        if let Some(filter) = std::env::var("RUST_LOG").ok().and_then(|level| level.parse::<Targets>().ok()) {
            let lines = tracing_subscriber::fmt::layer().with_test_writer();
            let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
        }
        // An error means that another test in this program has already installed a provider, which also works.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let shop = Shop::open(options).await.unwrap();
        // No connection is kept for reuse, because the agent may close a connection just before its next use.
        let http =
            reqwest::Client::builder().unix_socket(shop.socket()).no_proxy().pool_max_idle_per_host(0).build().unwrap();
        Self { shop, http, agent: None }
    }

    pub fn start_agent(&mut self) {
        let config = config::load(&self.shop.config()).unwrap();
        // While another test starts a program, that program briefly holds the locks of this process.
        for _ in 0..10_000 {
            if !pos_journal::is_held(&config.journal.path) {
                break;
            }
            std::thread::yield_now();
        }
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(pos_agent::agent::run(config, async move { drop(stopped.await) }));
        self.agent = Some(Running { stop, task });
    }

    /// Changes the terminal's currency. A terminal has only one currency at a time.
    pub async fn change_currency(&mut self, currency: &str) {
        self.stop_agent().await;
        let text = std::fs::read_to_string(self.shop.config()).unwrap();
        let kept = text.lines().filter(|line| !line.starts_with("max-credit-amount"));
        let changed = kept.map(|line| match line.starts_with("currency = ") {
            true => format!("currency = \"{currency}\"\n"),
            false => format!("{line}\n"),
        });
        std::fs::write(self.shop.config(), changed.collect::<String>()).unwrap();
        self.start_agent();
        self.until_ready().await;
    }

    /// Stops the agent gracefully.
    pub async fn stop_agent(&mut self) {
        let running = self.agent.take().unwrap();
        drop(running.stop);
        running.task.await.unwrap().unwrap();
    }

    /// Waits until the agent ends by itself, and returns how.
    pub async fn agents_end(&mut self) -> AgentEnd {
        let Running { stop, task } = self.agent.take().unwrap();
        let end = task.await.unwrap().unwrap();
        drop(stop);
        end
    }

    /// Ends the agent as a power cut does, between two of its steps and without cleaning up.
    pub async fn cut_power(&mut self) {
        let running = self.agent.take().unwrap();
        running.task.abort();
        assert!(running.task.await.unwrap_err().is_cancelled());
        // The journal's thread releases the file a little later.
        let lock = std::fs::File::open(self.shop.folder().join("journal.lock")).unwrap();
        lock.lock().unwrap();
    }

    /// Waits until the agent is ready for a transaction, and no transaction uses the reader.
    pub async fn until_ready(&self) {
        self.until_status("ready", |status| status.ready && !status.busy).await;
    }

    /// Waits until a transaction can begin, regardless of the gateway's state.
    pub async fn until_free(&self) {
        let free = |status: &StatusView| status.reader.state == ReaderState::Ready && !status.busy;
        self.until_status("the reader", free).await;
    }

    pub async fn until_status(&self, what: &str, wanted: impl Fn(&StatusView) -> bool) -> StatusView {
        let asked = async {
            loop {
                if let Ok(answer) = self.http.get("http://till/v1/status").send().await {
                    let status: StatusView = answer.json_of().await;
                    if wanted(&status) {
                        return status;
                    }
                }
                tokio::task::yield_now().await;
            }
        };
        within(what, asked).await
    }

    pub async fn status(&self) -> StatusView {
        self.http.get("http://till/v1/status").send().await.unwrap().json_of().await
    }

    /// Begins a sale, and returns the status code and the body.
    pub async fn begin(&self, reference: &str, amount: &str) -> (u16, Value) {
        self.begin_in(reference, amount, "EUR").await
    }

    pub async fn begin_in(&self, reference: &str, amount: &str, currency: &str) -> (u16, Value) {
        let body = json!({"reference": reference, "amount": amount, "currency": currency});
        let request =
            self.http.post("http://till/v1/sales").header("content-type", "application/json").body(body.to_string());
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json_of().await)
    }

    pub async fn post(&self, path: &str) -> (u16, Value) {
        let request = self.http.post(format!("http://till{path}")).header("content-type", "application/json");
        let answer = request.body("").send().await.unwrap();
        (answer.status().as_u16(), answer.json_of().await)
    }

    /// Sends the till's confirmation of an approved amount, and returns the status code and the answer.
    pub async fn confirm(&self, reference: &str, said: Value) -> (u16, Value) {
        let url = format!("http://till/v1/sales/{reference}/confirm");
        let request = self.http.post(url).header("content-type", "application/json");
        let answer = request.body(said.to_string()).send().await.unwrap();
        (answer.status().as_u16(), answer.json_of().await)
    }

    /// Sends the cashier's decision about the signature.
    pub async fn sign(&self, reference: &str, accepted: bool) -> SaleView {
        let url = format!("http://till/v1/sales/{reference}/signature");
        let request = self.http.post(url).header("content-type", "application/json");
        request.body(json!({ "accepted": accepted }).to_string()).send().await.unwrap().json_of().await
    }

    pub async fn show(&self, reference: &str) -> SaleView {
        self.http.get(format!("http://till/v1/sales/{reference}")).send().await.unwrap().json_of().await
    }

    pub async fn receipt(&self, reference: &str, copy: &str) -> String {
        let url = format!("http://till/v1/sales/{reference}/receipt?copy={copy}");
        self.http.get(url).header("accept", "text/plain").send().await.unwrap().text().await.unwrap()
    }

    /// Waits until a transaction has this state.
    pub async fn until(&self, reference: &str, what: &str, wanted: impl Fn(&SaleView) -> bool) -> SaleView {
        let asked = async {
            loop {
                let view = self.show(reference).await;
                if wanted(&view) {
                    return view;
                }
                tokio::task::yield_now().await;
            }
        };
        within(what, asked).await
    }

    pub async fn until_ended(&self, reference: &str) -> SaleView {
        self.until(reference, "the sale's end", |view| view.state == SaleState::Ended).await
    }

    /// Acts as the customer, who presents the card when the reader asks for one, and follows the reader's further
    /// requests.
    pub async fn present(&self, card: &'static Card, entry: CardEntry) {
        within("the reader asking for a card", self.shop.reader.waits_for(WaitsFor::Card)).await;
        self.shop.reader.present(card, entry);
        if let Some(next) = card.after(entry) {
            let word = match next {
                CardEntry::Insert => "insert",
                CardEntry::Swipe => "swipe",
                CardEntry::Tap => "tap",
            };
            if entry == CardEntry::Insert {
                self.until_display("remove").await;
                self.shop.reader.remove();
            }
            self.until_display(word).await;
            self.shop.reader.present(card, next);
        }
    }

    pub async fn until_display(&self, word: &str) {
        let shows = |lines: &[String]| lines.iter().any(|line| line.to_lowercase().contains(word));
        within(&format!("display {word:?}"), self.shop.reader.until(|screen| shows(&screen.lines))).await;
    }

    /// Runs a sale until the card is read.
    pub async fn sell(&self, reference: &str, amount: &str, name: &str, entry: CardEntry) {
        let (status, body) = self.begin(reference, amount).await;
        assert_eq!(status, 201, "{body}");
        self.present(card(name).unwrap(), entry).await;
    }

    /// Returns the next receipt of the printer.
    pub async fn paper(&mut self) -> String {
        within("a receipt", self.shop.printer.next_receipt()).await
    }

    /// Returns the commands that the reader received. The clock command (D010) is omitted, because the agent reads and
    /// sets the clock automatically.
    pub fn told_to_reader(&self) -> Vec<u16> {
        self.shop.reader.counters().commands.into_iter().filter(|command| *command != 0xD010).collect()
    }

    /// Returns all amounts that the gateway has charged.
    pub fn charged(&self) -> Vec<String> {
        self.shop.gateway.ledger().all_charged().map(|entry| format!("{} {}", entry.amount, entry.currency)).collect()
    }
}

/// Parses the JSON of an answer, because reqwest is built without its JSON parser.
pub trait JsonOf {
    fn json_of<T: serde::de::DeserializeOwned>(self) -> impl Future<Output = T>;
}

impl JsonOf for reqwest::Response {
    async fn json_of<T: serde::de::DeserializeOwned>(self) -> T {
        let text = self.text().await.unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

pub fn ended(view: &SaleView) -> Option<OutcomeWord> {
    assert_eq!(view.state, SaleState::Ended, "{view:?}");
    view.outcome
}
