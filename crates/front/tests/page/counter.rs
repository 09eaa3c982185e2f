//! A counter in a shop. The programs `pos-agent` and `pos-front` run as processes, with a simulated reader, gateway and
//! printer on real connections.

use std::fs::Permissions;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

use pos_sim::gateway::{Kind, State};
use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::{Options, Shop};
use reqwest::{Client, RequestBuilder};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UnixStream};
use tokio::process::{Child, Command};

use crate::within;

/// The path of the front, which cargo builds for this test.
const FRONT: &str = env!("CARGO_BIN_EXE_pos-front");

/// The front's user, if root runs the test.
const FRONT_USER: u32 = 60_003;

/// All parts of the counter except the browser.
pub(crate) struct Counter {
    pub(crate) shop: Shop,
    agent: Option<Child>,
    front: Option<Child>,
    /// The address of the page.
    pub(crate) url: String,
    address: String,
    client: Client,
    /// The user that runs the front, if it is not the user of this test.
    front_user: Option<u32>,
}

impl Counter {
    /// Starts a counter, and returns when a transaction can begin.
    pub(crate) async fn open(options: Options) -> Self {
        Self::open_with(options, "").await
    }

    /// Starts a counter with this text at the end of the front's configuration.
    pub(crate) async fn open_with(options: Options, front: &str) -> Self {
        Self::begin(options, front, None).await
    }

    /// Starts a counter whose front may also act for tills on the network. The agent does not restrict root, so if root
    /// runs the test, the front runs as another user.
    pub(crate) async fn open_for_tills(mut options: Options, front: &str) -> Self {
        let own = rustix::process::getuid().as_raw();
        let uid = if own == 0 { FRONT_USER } else { own };
        let tills = r#"["local", "kasse-2", "kasse-3", "caisse-1"]"#;
        let rights =
            r#"["sale", "pre-authorise", "capture", "refund", "reverse", "credit", "totals", "close", "read"]"#;
        let peer = format!(
            "[[till.peer]]\nuid = {uid}\ntills = {tills}\nrights = {rights}\nwithout-operator = [\"caisse-1\"]\n\n\
             [journal]"
        );
        options.config.push(("[journal]".to_owned(), peer));
        Self::begin(options, front, (own == 0).then_some(uid)).await
    }

    async fn begin(mut options: Options, front: &str, front_user: Option<u32>) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
        options.reader.removes_card = true;
        let shop = Shop::open(options).await.unwrap();
        let address = own_address();
        let folder = shop.folder();
        let at = |name: &str| folder.join(name).display().to_string();
        let config = format!(
            "tills = [\"kasse-2\", \"kasse-3\"]\nagent = {:?}\nstate = {:?}\ncontrol = {:?}\ndoctor = {:?}\n[listen]\nhttp = [{address:?}]\n{front}",
            shop.socket().display().to_string(),
            at("front/state"),
            at("front/front.sock"),
            at("front/doctor.sock"),
        );
        std::fs::create_dir(folder.join("front")).unwrap();
        if front_user.is_some() {
            std::os::unix::fs::chown(folder.join("front"), front_user, None).unwrap();
            may(folder, 0o711);
            // The user may not reach the program where cargo has built it. Another process makes the copy, because a
            // program that is open for writing cannot be run.
            let copied = Command::new("cp").arg(FRONT).arg(folder.join("pos-front")).status().await.unwrap();
            assert!(copied.success(), "the front is not copied");
        }
        std::fs::write(folder.join("front.toml"), config).unwrap();
        let client = Client::builder().no_proxy().build().unwrap();
        let url = format!("http://{address}");
        let mut counter = Self { shop, agent: None, front: None, url, address, client, front_user };
        counter.start_agent().await;
        counter.start_front().await;
        counter.until_ready().await;
        counter
    }

    fn program(&self, program: &Path, config: &str, user: Option<u32>) -> Child {
        let log = std::fs::File::options().create(true).append(true).open(self.shop.folder().join("log")).unwrap();
        let mut command = Command::new(program);
        if let Some(user) = user {
            command.uid(user);
        }
        command
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

    /// Returns the agent's program. `cargo build` of the whole workspace puts it next to the front.
    pub(crate) fn agent_program(&self) -> PathBuf {
        PathBuf::from(FRONT).with_file_name("pos-agent")
    }

    /// Runs a verb of `pos-front`, and returns what it says.
    pub(crate) fn front_verb(&self, arguments: &[&str]) -> String {
        let config = self.shop.folder().join("front.toml");
        let ran = std::process::Command::new(FRONT).args(arguments).arg("--config").arg(config).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    }

    /// Runs `pos-agent operator add`.
    pub(crate) async fn add_operator(&self, name: &str, role: &str, pin: &str) {
        let mut adds = Command::new(self.agent_program())
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
        self.agent = Some(self.program(&self.agent_program(), "config.toml", None));
        let socket = self.shop.socket();
        let answers = async {
            while UnixStream::connect(&socket).await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        within("the agent's socket", answers).await;
        if self.front_user.is_some() {
            may(&socket, 0o666);
        }
    }

    pub(crate) async fn start_front(&mut self) {
        let program = self.front_user.map_or_else(|| PathBuf::from(FRONT), |_| self.shop.folder().join("pos-front"));
        self.front = Some(self.program(&program, "front.toml", self.front_user));
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

    /// Asks to be paired, as a till on the network does. Pairing must be open. Returns the front's answer.
    pub(crate) async fn asks_to_be_paired(&self, name: &str) -> Value {
        let (status, answer) = self.post("/front/pair", None, json!({ "name": name })).await.unwrap();
        assert_eq!(status, 202, "{name}");
        answer
    }

    /// Pairs a till on the network. Returns its value of the header `Authorization`.
    pub(crate) async fn paired(&self, name: &str) -> String {
        self.pair(&["open"]).await;
        let asked = self.asks_to_be_paired(name).await;
        let list = self.pair(&["list"]).await;
        let line = list.lines().find(|line| line.contains(&format!("{name} at"))).unwrap();
        let code = line.split(' ').next().unwrap();
        self.pair(&["approve", code]).await;
        let path = format!("/front/pair/{}", asked["request"].as_str().unwrap());
        let (_, answer) = self.post(&path, None, json!({ "code": code })).await.unwrap();
        format!("Bearer {}", answer["token"].as_str().unwrap())
    }

    /// Runs `pos-front pair`, and returns its output.
    async fn pair(&self, arguments: &[&str]) -> String {
        let mut program = Command::new(FRONT);
        program.args(["pair", "--config"]).arg(self.shop.folder().join("front.toml")).args(arguments);
        let output = program.output().await.unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Sends a request with this value of `Authorization`, if any. Returns the status and the body; `None` if the
    /// answer was lost.
    pub(crate) async fn post(&self, path: &str, authorization: Option<&str>, body: Value) -> Option<(u16, Value)> {
        let mut request = self.client.post(format!("{}{path}", self.url)).header("content-type", "application/json");
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        answered(request.body(body.to_string())).await
    }

    /// Gets an answer with this value of `Authorization`; `None` if it was lost.
    pub(crate) async fn get_as(&self, authorization: &str, path: &str) -> Option<(u16, Value)> {
        answered(self.client.get(format!("{}{path}", self.url)).header("authorization", authorization)).await
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

async fn answered(request: RequestBuilder) -> Option<(u16, Value)> {
    let answer = request.send().await.ok()?;
    let status = answer.status().as_u16();
    Some((status, serde_json::from_str(&answer.text().await.ok()?).ok()?))
}

fn may(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Returns an address that no other program uses, so a restarted front can use it again.
fn own_address() -> String {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let ip = Ipv4Addr::new(127, 1 + high % 254, low, NEXT.fetch_add(1, Ordering::Relaxed));
    format!("{ip}:8651")
}
