//! A counter in a shop. The programs `pos-agent` and `pos-front` run as processes, with a simulated reader, gateway and
//! printer on real connections.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

use pos_sim::gateway::{Kind, State};
use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::{Options, Shop};
use reqwest::Client;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UnixStream};
use tokio::process::{Child, Command};

use crate::within;

/// The path of the front, which cargo builds for this test.
const FRONT: &str = env!("CARGO_BIN_EXE_pos-front");

/// All parts of the counter except the browser.
pub(crate) struct Counter {
    pub(crate) shop: Shop,
    agent: Option<Child>,
    front: Option<Child>,
    /// The address of the page.
    pub(crate) url: String,
    address: String,
    client: Client,
}

impl Counter {
    /// Starts a counter, and returns when a transaction can begin.
    pub(crate) async fn open(options: Options) -> Self {
        Self::open_with(options, "").await
    }

    /// Starts a counter with this text at the end of the front's configuration.
    pub(crate) async fn open_with(mut options: Options, front: &str) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
        options.reader.removes_card = true;
        let shop = Shop::open(options).await.unwrap();
        let address = own_address();
        let folder = shop.folder();
        let at = |name: &str| folder.join(name).display().to_string();
        let config = format!(
            "tills = [\"kasse-2\"]\nagent = {:?}\nstate = {:?}\ncontrol = {:?}\n[listen]\nhttp = [{address:?}]\n{front}",
            shop.socket().display().to_string(),
            at("front-state"),
            at("front.sock"),
        );
        std::fs::write(folder.join("front.toml"), config).unwrap();
        let client = Client::builder().no_proxy().build().unwrap();
        let url = format!("http://{address}");
        let mut counter = Self { shop, agent: None, front: None, url, address, client };
        counter.start_agent().await;
        counter.start_front().await;
        counter.until_ready().await;
        counter
    }

    fn program(&self, program: &Path, config: &str) -> Child {
        let log = std::fs::File::options().create(true).append(true).open(self.shop.folder().join("log")).unwrap();
        Command::new(program)
            .args(["run", "--config"])
            .arg(self.shop.folder().join(config))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .env_remove("CREDENTIALS_DIRECTORY")
            .env_remove("NOTIFY_SOCKET")
            .env_remove("RUST_LOG")
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}; `cargo build` makes it", program.display()))
    }

    /// Runs `pos-agent operator add`.
    pub(crate) async fn add_operator(&self, name: &str, role: &str, pin: &str) {
        let mut adds = Command::new(PathBuf::from(FRONT).with_file_name("pos-agent"))
            .args(["operator", "add", name, "--role", role, "--pin-stdin", "--config"])
            .arg(self.shop.config())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        adds.stdin.take().unwrap().write_all(format!("{pin}\n").as_bytes()).await.unwrap();
        assert!(adds.wait().await.unwrap().success(), "{name} is not added");
    }

    pub(crate) async fn start_agent(&mut self) {
        // `cargo build` of the whole workspace puts the agent next to the front.
        self.agent = Some(self.program(&PathBuf::from(FRONT).with_file_name("pos-agent"), "config.toml"));
        let socket = self.shop.socket();
        let answers = async {
            while UnixStream::connect(&socket).await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        within("the agent's socket", answers).await;
    }

    pub(crate) async fn start_front(&mut self) {
        self.front = Some(self.program(Path::new(FRONT), "front.toml"));
        let answers = async {
            while TcpStream::connect(&self.address).await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        within("the front's address", answers).await;
    }

    /// Kills the agent with `kill -9`.
    pub(crate) async fn kill_agent(&mut self) {
        self.agent.take().expect("it runs").kill().await.unwrap();
    }

    /// Kills the front with `kill -9`.
    pub(crate) async fn kill_front(&mut self) {
        self.front.take().expect("it runs").kill().await.unwrap();
    }

    /// Pauses the front, which leaves its connections open.
    pub(crate) fn stop_front(&self) {
        self.signal_front(Signal::STOP);
    }

    /// Continues the paused front.
    pub(crate) fn continue_front(&self) {
        self.signal_front(Signal::CONT);
    }

    fn signal_front(&self, signal: Signal) {
        let id = self.front.as_ref().and_then(Child::id).expect("it runs");
        let pid = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    pub(crate) async fn until_ready(&self) {
        let ready = async {
            // When operators are required, callers that are not signed in get no status. The refusal shows that the
            // agent answers.
            loop {
                let said = self.get("/v1/status").await;
                if said["ready"] == true || said["code"] == "sign-in" {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        within("a terminal that is ready", ready).await;
    }

    /// Returns the agent's answer through the front, or `Null` if one of them does not answer.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = async { self.client.get(format!("{}{path}", self.url)).send().await?.text().await };
        answer.await.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Waits until the reader is free. A transaction ends before its card is removed, and the next one needs the
    /// reader.
    async fn until_free(&self) {
        let free = async {
            while self.get("/v1/status").await["busy"] != false {
                tokio::task::yield_now().await;
            }
        };
        within("a reader that is free", free).await;
    }

    /// Makes a transaction for another till. Returns when it has ended and the reader is free.
    pub(crate) async fn beside(&self, body: Value, with_card: Option<(&str, CardEntry)>) -> Value {
        let reference = body["reference"].as_str().unwrap().to_owned();
        self.begin_beside(body).await;
        if let Some((name, entry)) = with_card {
            self.present(name, entry).await;
        }
        let ended = self.get(&format!("/v1/sales/{reference}?wait-s=60")).await;
        self.until_free().await;
        ended
    }

    /// Begins a transaction for another till without waiting for its end.
    pub(crate) async fn begin_beside(&self, body: Value) {
        let request = self.client.post(format!("{}/v1/sales", self.url)).header("origin", &self.url);
        let answer = request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
        assert_eq!(answer.status(), 201, "{body}");
    }

    /// Asks to be paired, as a till on the network does. Pairing must be open.
    pub(crate) async fn asks_to_be_paired(&self, name: &str) {
        let request = self.client.post(format!("{}/front/pair", self.url)).header("content-type", "application/json");
        let answer = request.body(json!({ "name": name }).to_string()).send().await.unwrap();
        assert_eq!(answer.status(), 202, "{name}");
    }

    /// Presents a card as soon as the reader asks for one.
    pub(crate) async fn present(&self, name: &str, entry: CardEntry) {
        within("the reader asks for a card", self.shop.reader.waits_for(WaitsFor::Card)).await;
        self.shop.reader.present(card(name).unwrap(), entry);
    }

    /// Makes a transaction of 50.00, to which later transactions can refer. `more` contains its other fields.
    pub(crate) async fn sold(&self, mut more: Value) -> Value {
        (more["reference"], more["amount"]) = (json!("before"), json!("50.00"));
        let sale = self.beside(more, Some(("tap", CardEntry::Tap))).await;
        assert_eq!(sale["outcome"], "approved", "{sale}");
        sale
    }

    /// Returns the number of transactions of this kind that have moved money at the gateway.
    pub(crate) fn moved(&self, kind: Kind) -> usize {
        let ledger = self.shop.gateway.ledger();
        match kind {
            Kind::Debit | Kind::Capture => ledger.all_charged().filter(|entry| entry.kind == kind).count(),
            _ => ledger.entries().iter().filter(|entry| entry.kind == kind && entry.state == State::Approved).count(),
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.shop.folder().join("log")).unwrap_or_default()
    }
}

/// Returns an address that no other program uses, so a restarted front can use it again.
fn own_address() -> String {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let ip = Ipv4Addr::new(127, 1 + high % 254, low, NEXT.fetch_add(1, Ordering::Relaxed));
    format!("{ip}:8651")
}
