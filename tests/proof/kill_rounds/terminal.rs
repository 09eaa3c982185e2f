//! A terminal on the desk: the simulators, which stay, and the real program in a process of its own, which is killed
//! and started again.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::collections::VecDeque;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pos_sim::reader::{WaitsFor, card};
use pos_sim::shop::{Options, Shop};
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::plan::Kill;
use super::scene::Scene;
use pos_sim::gateway::HostRules;

pub struct Terminal {
    pub shop: Arc<Shop>,
    pub scene: Arc<Scene>,
    /// What is still to come with the next restarts.
    pub later: Arc<Mutex<VecDeque<Restart>>>,
    /// Where the till with a token asks.
    pub loopback: String,
    child: Child,
    printer_line: JoinHandle<()>,
    /// How long the log was when the round began.
    log_at: usize,
}

/// What one start of the agent meets.
#[derive(Clone, Copy, Debug)]
pub struct Restart {
    /// The next kill.
    pub kill: Option<Kill>,
    /// The gateway is away at the start, and comes back.
    pub away: bool,
}

/// How long the gateway is away: longer than the agent takes to start, and than its first question.
const AWAY: Duration = Duration::from_millis(400);

impl Terminal {
    pub async fn open(host_rules: HostRules) -> Self {
        let mut options = Options::default();
        options.reader.removes_card = true;
        options.gateway.host_rules = host_rules;
        let loopback = own_address();
        let mut changes = vec![
            ("answer-timeout-ms = 10000", "answer-timeout-ms = 700".to_owned()),
            // The amounts of a round are its name.
            ("max-credit-amount = \"1000.00\"", "max-credit-amount = \"9999999.00\"".to_owned()),
            ("http = \"127.0.0.1:0\"", format!("http = \"{loopback}\"")),
            // The till pays out too.
            ("till = \"till-1\"", "till = \"till-1\"\nrights = [\"till\", \"credit\"]".to_owned()),
        ];
        if host_rules == HostRules::Literal {
            let letter = "[gateway.assumptions]\nrefuses-repeated-references = true\nquery-method = \"POST\"";
            changes.push(("[gateway.brand-by-aid]", format!("{letter}\n\n[gateway.brand-by-aid]")));
        }
        options.config.extend(changes.into_iter().map(|(what, with)| (what.to_owned(), with)));
        let shop = Arc::new(Shop::open(options).await.unwrap());
        let scene = Scene::new();
        let (at_gateway, at_reader) = (Arc::clone(&scene), Arc::clone(&scene));
        assert!(shop.gateway.watch(move |seen| at_gateway.gateway(seen)));
        assert!(shop.reader.at_continue(move || at_reader.continued()));
        let printer_line = watched_printer(&shop, &scene).await;
        let child = start(&shop, &scene);
        Self { shop, scene, later: Arc::default(), loopback, child, printer_line, log_at: 0 }
    }

    pub fn round_begins(&mut self) {
        self.scene.round_begins();
        self.log_at = self.log().len();
    }

    /// Starts the agent again each time it was killed. Returns only when it ended by itself.
    pub async fn keep_running(&mut self) -> String {
        loop {
            let status = self.child.wait().await.unwrap();
            let is_ours = match self.scene.ended_by() {
                Some(Signal::TERM) => status.success(),
                Some(signal) => status.signal() == Some(signal.as_raw()),
                None => false,
            };
            if !is_ours {
                return format!("the agent ended by itself: {status}");
            }
            // The terminal is dark: the customer takes the card.
            self.shop.reader.remove();
            let next = self.later.lock().unwrap().pop_front();
            if next.is_some_and(|next| next.away) {
                self.gateway_goes_away().await;
            }
            self.child = start(&self.shop, &self.scene);
            if let Some(moment) = next.and_then(|next| next.kill) {
                self.scene.arm(moment, self.scene.recovery());
            }
        }
    }

    /// Kills the agent by hand, and not because a moment has come.
    pub async fn killed(&mut self) {
        self.child.kill().await.unwrap();
        self.shop.reader.remove();
    }

    /// Starts the agent after that.
    pub fn started_again(&mut self) {
        self.child = start(&self.shop, &self.scene);
    }

    /// It is there again a while later.
    async fn gateway_goes_away(&self) {
        self.shop.gateway.set_offline(true).await.unwrap();
        self.scene.gateway_away();
        let (shop, scene) = (Arc::clone(&self.shop), Arc::clone(&self.scene));
        tokio::spawn(async move {
            tokio::time::sleep(AWAY).await;
            shop.gateway.set_offline(false).await.unwrap();
            scene.note("the gateway is there again");
        });
    }

    fn log(&self) -> String {
        fs::read_to_string(self.shop.folder().join("agent.log")).unwrap_or_default()
    }

    /// What the agent logged in this round, for a person; the checks never look at it.
    pub fn log_of_round(&self) -> String {
        self.log().split_off(self.log_at)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.printer_line.abort();
    }
}

/// Where the agent can listen after each of its starts: on a loopback address that no other terminal has, so that
/// nothing takes the port while the agent is down, as connections do that go out from 127.0.0.1.
fn own_address() -> String {
    static TERMINALS: AtomicU32 = AtomicU32::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let [.., terminal] = TERMINALS.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    format!("127.{}.{low}.{}:8480", 1 + high % 254, 1 + terminal % 254)
}

fn start(shop: &Shop, scene: &Scene) -> Child {
    let log = fs::OpenOptions::new().create(true).append(true).open(shop.folder().join("agent.log")).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_pos-agent"))
        .args(["run", "--config"])
        .arg(shop.config())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .env_remove("CREDENTIALS_DIRECTORY")
        .env_remove("NOTIFY_SOCKET")
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    scene.started(child.id().expect("it was not waited for"));
    child
}

/// The customer: comes when the till has asked, and presents the card when the reader asks for it.
pub async fn customer(shop: &Shop, scene: &Scene, wish: (&'static str, pos_sim::reader::CardEntry)) {
    loop {
        scene.until_presentable().await;
        shop.reader.waits_for(WaitsFor::Card).await;
        scene.presented(wish.0);
        shop.reader.present(card(wish.0).unwrap(), wish.1);
        shop.reader.until(|screen| screen.waits_for != WaitsFor::Card).await;
    }
}

/// The agent's line to the printer, with somebody who sees the first byte of a receipt before the printer does.
async fn watched_printer(shop: &Shop, scene: &Arc<Scene>) -> JoinHandle<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let (place, watched) = (shop.printer.place(), format!("tcp://{}", listener.local_addr().unwrap()));
    let text = fs::read_to_string(shop.config()).unwrap();
    assert!(text.contains(&place));
    fs::write(shop.config(), text.replace(&place, &watched)).unwrap();
    let (printer, scene) = (place.trim_start_matches("tcp://").to_owned(), Arc::clone(scene));
    tokio::spawn(async move {
        // One at a time, as the printer itself.
        while let Ok((agent, _)) = listener.accept().await {
            let Ok(printer) = TcpStream::connect(&printer).await else { continue };
            carry(agent, printer, &scene).await;
        }
    })
}

async fn carry(agent: TcpStream, printer: TcpStream, scene: &Scene) {
    let (mut from_agent, mut to_agent) = agent.into_split();
    let (mut from_printer, mut to_printer) = printer.into_split();
    let prints = async {
        let (mut bytes, mut begun) = ([0; 512], false);
        while let Ok(count @ 1..) = from_agent.read(&mut bytes).await {
            // Questions about its state (DLE EOT n) are no receipt.
            let is_paper = !bytes[..count].chunks(3).all(|three| three.starts_with(&[0x10, 0x04]));
            if is_paper && !begun {
                begun = true;
                scene.prints();
            }
            if to_printer.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
        // The agent has no more to say, and may still listen.
        let _ = to_printer.shutdown().await;
        std::future::pending().await
    };
    let answers = async {
        let mut bytes = [0; 64];
        while let Ok(count @ 1..) = from_printer.read(&mut bytes).await {
            if to_agent.write_all(&bytes[..count]).await.is_err() {
                break;
            }
        }
    };
    tokio::select! { () = prints => {}, () = answers => {} }
}
