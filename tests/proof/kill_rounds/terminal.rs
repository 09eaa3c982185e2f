//! A terminal on a desk: the simulators, which keep running, and the real program in a separate process, which is
//! killed and started again.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::collections::VecDeque;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pos_sim::reader::{Family, WaitsFor, card};
use pos_sim::shop::{Options, Shop};
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::plan::Kill;
use super::scenario::Scenario;
use pos_sim::gateway::HostRules;

pub struct Terminal {
    pub shop: Arc<Shop>,
    pub scenario: Arc<Scenario>,
    /// The plans for the next restarts.
    pub later: Arc<Mutex<VecDeque<Restart>>>,
    /// The address of the interface for the till with a token.
    pub loopback: String,
    child: Child,
    printer_line: JoinHandle<()>,
    /// The length of the log when the round began.
    log_at: usize,
}

/// The conditions of a start of the agent.
#[derive(Clone, Copy, Debug)]
pub struct Restart {
    /// The next kill.
    pub kill: Option<Kill>,
    /// True if the gateway is unreachable at the start and returns later.
    pub away: bool,
}

/// How long the gateway is unreachable, which is longer than the agent's start and its first request.
const AWAY: Duration = Duration::from_millis(400);

impl Terminal {
    pub async fn open(host_rules: HostRules, family: Family) -> Self {
        let mut options = Options::default();
        options.reader.family = family;
        options.reader.removes_card = true;
        options.gateway.host_rules = host_rules;
        let loopback = own_address();
        let mut changes = vec![
            ("answer-timeout-ms = 10000", "answer-timeout-ms = 700".to_owned()),
            // The amounts identify a round, so the limit is high.
            ("max-credit-amount = \"1000.00\"", "max-credit-amount = \"9999999.00\"".to_owned()),
            ("http = \"127.0.0.1:0\"", format!("http = \"{loopback}\"")),
            // This till may also pay out credits.
            ("till = \"till-1\"", "till = \"till-1\"\nrights = [\"till\", \"credit\"]".to_owned()),
        ];
        if host_rules == HostRules::Literal {
            let letter = "[gateway.assumptions]\nrefuses-repeated-references = true\nquery-method = \"POST\"";
            changes.push(("[gateway.brand-by-aid]", format!("{letter}\n\n[gateway.brand-by-aid]")));
        }
        options.config.extend(changes.into_iter().map(|(what, with)| (what.to_owned(), with)));
        let shop = Arc::new(Shop::open(options).await.unwrap());
        let scenario = Scenario::new();
        let (at_gateway, at_reader) = (Arc::clone(&scenario), Arc::clone(&scenario));
        assert!(shop.gateway.watch(move |seen| at_gateway.gateway(seen)));
        assert!(shop.reader.at_continue(move || at_reader.continued()));
        let printer_line = watched_printer(&shop, &scenario).await;
        let child = start(&shop, &scenario);
        Self { shop, scenario, later: Arc::default(), loopback, child, printer_line, log_at: 0 }
    }

    pub fn round_begins(&mut self) {
        self.scenario.round_begins();
        self.log_at = self.log().len();
    }

    /// Starts the agent again after each kill. Returns only when the agent ends without a kill.
    pub async fn keep_running(&mut self) -> String {
        loop {
            let status = self.child.wait().await.unwrap();
            let is_ours = match self.scenario.ended_by() {
                Some(Signal::TERM) => status.success(),
                Some(signal) => status.signal() == Some(signal.as_raw()),
                None => false,
            };
            if !is_ours {
                return format!("the agent ended by itself: {status}");
            }
            // The terminal is off, so the customer takes the card out.
            self.shop.reader.remove();
            let next = self.later.lock().unwrap().pop_front();
            if next.is_some_and(|next| next.away) {
                self.gateway_goes_away().await;
            }
            self.child = start(&self.shop, &self.scenario);
            if let Some(moment) = next.and_then(|next| next.kill) {
                self.scenario.arm(moment, self.scenario.recovery());
            }
        }
    }

    /// Kills the agent immediately, without waiting for a moment.
    pub async fn killed(&mut self) {
        self.child.kill().await.unwrap();
        self.shop.reader.remove();
    }

    /// Starts the agent again after [`Self::killed`].
    pub fn started_again(&mut self) {
        self.child = start(&self.shop, &self.scenario);
    }

    /// Makes the gateway unreachable for a while.
    async fn gateway_goes_away(&self) {
        self.shop.gateway.set_offline(true).await.unwrap();
        self.scenario.gateway_away();
        let (shop, scenario) = (Arc::clone(&self.shop), Arc::clone(&self.scenario));
        tokio::spawn(async move {
            tokio::time::sleep(AWAY).await;
            shop.gateway.set_offline(false).await.unwrap();
            scenario.note("the gateway is there again");
        });
    }

    fn log(&self) -> String {
        fs::read_to_string(self.shop.folder().join("agent.log")).unwrap_or_default()
    }

    /// Returns the agent's log of this round for a person. The checks never read it.
    pub fn log_of_round(&self) -> String {
        self.log().split_off(self.log_at)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.printer_line.abort();
    }
}

/// Returns a loopback address that no other terminal uses, so the agent can listen on it after each start. Outgoing
/// connections from 127.0.0.1 cannot take the port while the agent is down.
fn own_address() -> String {
    static TERMINALS: AtomicU32 = AtomicU32::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let [.., terminal] = TERMINALS.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    format!("127.{}.{low}.{}:8480", 1 + high % 254, 1 + terminal % 254)
}

fn start(shop: &Shop, scenario: &Scenario) -> Child {
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
    scenario.started(child.id().expect("it was not waited for"));
    child
}

/// Acts as the customer, who comes when the till has sent its request and presents the card when the reader asks for
/// it.
pub async fn customer(shop: &Shop, scenario: &Scenario, wish: (&'static str, pos_sim::reader::CardEntry)) {
    loop {
        scenario.until_presentable().await;
        shop.reader.waits_for(WaitsFor::Card).await;
        scenario.presented(wish.0);
        shop.reader.present(card(wish.0).unwrap(), wish.1);
        shop.reader.until(|screen| screen.waits_for != WaitsFor::Card).await;
    }
}

/// Opens the agent's connection to the printer through a proxy, which sees the first byte of a receipt before the
/// printer does.
async fn watched_printer(shop: &Shop, scenario: &Arc<Scenario>) -> JoinHandle<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let (place, watched) = (shop.printer.place(), format!("tcp://{}", listener.local_addr().unwrap()));
    let text = fs::read_to_string(shop.config()).unwrap();
    assert!(text.contains(&place));
    fs::write(shop.config(), text.replace(&place, &watched)).unwrap();
    let (printer, scenario) = (place.trim_start_matches("tcp://").to_owned(), Arc::clone(scenario));
    tokio::spawn(async move {
        // There is one connection at a time, as with the printer itself.
        while let Ok((agent, _)) = listener.accept().await {
            let Ok(printer) = TcpStream::connect(&printer).await else { continue };
            carry(agent, printer, &scenario).await;
        }
    })
}

async fn carry(agent: TcpStream, printer: TcpStream, scenario: &Scenario) {
    let (mut from_agent, mut to_agent) = agent.into_split();
    let (mut from_printer, mut to_printer) = printer.into_split();
    let prints = async {
        let (mut bytes, mut begun) = ([0; 512], false);
        while let Ok(count @ 1..) = from_agent.read(&mut bytes).await {
            // Queries of the printer's state (DLE EOT n) are not part of a receipt.
            let is_paper = !bytes[..count].chunks(3).all(|three| three.starts_with(&[0x10, 0x04]));
            if is_paper && !begun {
                begun = true;
                scenario.prints();
            }
            if to_printer.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
        // The agent sends no more bytes but may still read.
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
