//! Real terminals: the agent's program with simulated devices, and the uplink's program.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use pos_sim::reader::{self, card};
use pos_sim::shop::{Options, Shop};
use serde_json::Value;

use crate::pki::Pki;
use crate::process::{Process, built, now, until};

const LIMIT: Duration = Duration::from_secs(60);
/// The time after which a reader that still asks for a card gets it again. On a busy machine, the reader may not be
/// armed at the first tap.
pub(crate) const TAP_AGAIN: Duration = Duration::from_secs(3);
/// The line speed of the readers in baud, the usual one of their family.
const BAUD: u32 = 115_200;

pub(crate) struct Agent {
    pub(crate) name: String,
    folder: PathBuf,
    shop: mpsc::Sender<Asked>,
    sold: u32,
    agent: Process,
    uplink: Process,
}

/// What a test asks of the shop around an agent.
enum Asked {
    /// Tap a card.
    Tap,
    /// Answer payments after this time.
    Delay(Duration),
    /// Say how many payments are charged.
    Charged(mpsc::Sender<usize>),
}

impl Agent {
    /// Opens a shop, and starts its agent and its uplink.
    pub(crate) fn start(name: &str, pki: &Pki, port: u16, org: &str) -> Self {
        Self::start_with(name, pki, port, org, "")
    }

    /// Does the same with more sections in the agent's configuration.
    pub(crate) fn start_with(name: &str, pki: &Pki, port: u16, org: &str, more: &str) -> Self {
        let (folder, shop) = open_shop(more);
        let agent = start_agent(&folder);
        // The state folder as the enrolment leaves it.
        let state = folder.join("uplink");
        fs::create_dir(&state).unwrap();
        let files = pki.files(name);
        let (certificate, key) = if files.0.exists() { files } else { pki.make(name, false) };
        fs::copy(certificate, state.join("certificate.pem")).unwrap();
        fs::copy(key, state.join("key.pem")).unwrap();
        let config = format!(
            "org = \"{org}\"\nterminal = \"{name}\"\nca = \"{}\"\nagent = \"{}\"\nstate = \"{}\"\n[broker]\n\
             host = \"localhost\"\nport = {port}\nkeep-alive-s = 20\nlongest-wait-s = 5\n[enrol]\nhost = \"localhost\"\n",
            pki.ca().display(),
            folder.join("till.sock").display(),
            state.display(),
        );
        fs::write(folder.join("uplink.toml"), config).unwrap();
        let uplink = start_uplink(&folder);
        let agent = Self { name: name.to_owned(), folder, shop, sold: 0, agent, uplink };
        agent.until_ready();
        agent
    }

    fn until_ready(&self) {
        until("agent with its reader", LIMIT, || {
            let status = self.get("/v1/status")?;
            (status["reader"]["state"] == "ready").then_some(())
        });
    }

    /// Returns whether the reader asks for a card.
    pub(crate) fn asks_for_a_card(&self) -> bool {
        self.get("/v1/status").is_some_and(|status| status["current"]["step"] == "present-card")
    }

    /// Taps a card as soon as the reader asks for one, until it has read it. Returns false if it asks for none in this
    /// time.
    pub(crate) fn tap_when_asked(&self, limit: Duration) -> bool {
        let end = now() + limit;
        while !self.asks_for_a_card() {
            if now() >= end {
                return false;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let end = now() + LIMIT;
        let mut next = now();
        while self.asks_for_a_card() {
            assert!(now() < end, "the reader reads no card");
            if now() >= next {
                self.tap();
                next = now() + TAP_AGAIN;
            }
            thread::sleep(Duration::from_millis(10));
        }
        true
    }

    /// Taps a card.
    pub(crate) fn tap(&self) {
        self.shop.send(Asked::Tap).unwrap();
    }

    /// Makes the bank slow.
    pub(crate) fn slow_bank(&self, delay: Duration) {
        self.shop.send(Asked::Delay(delay)).unwrap();
    }

    /// Returns the number of payments that the bank has charged and not given back.
    pub(crate) fn charged(&self) -> usize {
        let (tell, told) = mpsc::channel();
        self.shop.send(Asked::Charged(tell)).unwrap();
        told.recv().unwrap()
    }

    /// Kills the agent as a power cut would.
    pub(crate) fn agent_dies(&mut self) {
        self.agent.kill();
    }

    /// Starts the agent again.
    pub(crate) fn agent_again(&mut self) {
        self.agent_starts();
        self.until_ready();
    }

    /// Starts the agent again, which may not reach its reader.
    pub(crate) fn agent_starts(&mut self) {
        self.agent = start_agent(&self.folder);
    }

    /// Kills the uplink.
    pub(crate) fn uplink_ends(&mut self) {
        self.uplink.kill();
    }

    /// Starts the uplink again.
    pub(crate) fn uplink_again(&mut self) {
        self.uplink = start_uplink(&self.folder);
    }

    /// Copies the files that the agent keeps. It must not run.
    pub(crate) fn image(&self, to: &Path) {
        for file in self.files() {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }

    /// Puts copied files back. The agent must not run.
    pub(crate) fn restore(&self, from: &Path) {
        self.files().iter().for_each(|file| fs::remove_file(file).unwrap());
        for file in fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), self.folder.join(file.file_name())).unwrap();
        }
    }

    /// The journal, and what SQLite has beside it.
    fn files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.folder).unwrap().map(|file| file.unwrap().path());
        files.filter(|file| file.file_name().unwrap().to_string_lossy().starts_with("journal.db")).collect()
    }

    /// Begins a sale, and returns its path.
    fn begin_sale(&mut self) -> String {
        self.sold += 1;
        let body = format!("{{\"amount\":\"12.34\",\"reference\":\"order-{}\"}}", self.sold);
        let request = format!(
            "POST /v1/sales HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        // For a moment after its end, the sale before keeps the terminal busy.
        until("begin of a sale", LIMIT, || self.ask(&request).filter(|answer| answer["code"] != "busy"));
        format!("/v1/sales/order-{}", self.sold)
    }

    /// Sells something for a tapped card.
    pub(crate) fn sell(&mut self) {
        let sale = self.begin_sale();
        assert!(self.tap_when_asked(LIMIT), "the reader asks for no card");
        until("end of a sale", LIMIT, || {
            let sale = self.get(&format!("{sale}?wait-s=5"))?;
            (sale["outcome"] == "approved").then_some(())
        });
    }

    /// Does the same, and returns the seconds from the till's request to the reader's question, and from the card to
    /// the till's answer.
    pub(crate) fn sell_timed(&mut self) -> [f64; 2] {
        let begun = now();
        let sale = self.begin_sale();
        until_quickly("request for a card", || (self.get(&sale)?["step"] == "present-card").then_some(()));
        let asked = begun.elapsed();
        let tapped = now();
        self.tap();
        let ended = loop {
            let shown = self.get(&format!("{sale}?wait-s={}", TAP_AGAIN.as_secs())).expect("an answer");
            match shown["step"] == "present-card" {
                true => self.tap(),
                false if shown["outcome"].is_null() => {}
                false => break shown,
            }
            assert!(tapped.elapsed() < LIMIT, "{shown}");
        };
        assert_eq!(ended["outcome"], "approved", "{ended}");
        [asked.as_secs_f64(), tapped.elapsed().as_secs_f64()]
    }

    /// Kills the uplink, and starts it again.
    pub(crate) fn uplink_dies(&mut self) {
        self.uplink.kill();
        self.uplink = start_uplink(&self.folder);
    }

    /// Writes each entry of the journal as `pos-sim fleet` does.
    pub(crate) fn journal(&self) -> String {
        let (mut lines, mut after) = (String::new(), 0);
        loop {
            let read = self.get(&format!("/v1/journal?after={after}&limit=200")).expect("the journal");
            for entry in read["entries"].as_array().unwrap() {
                after = entry["entry"].as_i64().unwrap();
                let first = entry["first"].as_i64().unwrap_or(after);
                let (journal, hash) = (read["journal"].as_str().unwrap(), entry["hash"].as_str().unwrap());
                lines += &format!("{}\t{journal}\t{first}\t{after}\t\\\\x{hash}\n", self.name);
            }
            if after >= read["last"]["entry"].as_i64().unwrap() {
                return lines;
            }
        }
    }

    /// Returns the entries of the journal as text.
    pub(crate) fn journal_text(&self) -> String {
        let (mut text, mut after) = (String::new(), 0);
        loop {
            let read = self.get(&format!("/v1/journal?after={after}&limit=200")).expect("the journal");
            text += &read["entries"].to_string();
            after = read["entries"].as_array().and_then(|all| all.last()?["entry"].as_i64()).unwrap_or(i64::MAX);
            if after >= read["last"]["entry"].as_i64().unwrap() {
                return text;
            }
        }
    }

    /// Returns every log of the terminal.
    pub(crate) fn said(&self) -> String {
        let said = |name: &str| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        said("agent.log") + &said("uplink.log")
    }

    pub(crate) fn get(&self, target: &str) -> Option<Value> {
        self.ask(&format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    }

    fn ask(&self, request: &str) -> Option<Value> {
        let mut stream = UnixStream::connect(self.folder.join("till.sock")).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        serde_json::from_str(body).ok()
    }
}

/// Asks more often than [`until`], to measure.
fn until_quickly(what: &str, mut ask: impl FnMut() -> Option<()>) {
    let end = now() + LIMIT;
    while ask().is_none() {
        assert!(now() < end, "there is no {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn start_uplink(folder: &Path) -> Process {
    let log = fs::OpenOptions::new().create(true).append(true).open(folder.join("uplink.log")).unwrap();
    Process::start(
        Command::new(built("pos-uplink"))
            .args(["run", "--log", "debug", "--config"])
            .arg(folder.join("uplink.toml"))
            .env_remove("NOTIFY_SOCKET")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log),
    )
}

fn start_agent(folder: &Path) -> Process {
    let log = fs::OpenOptions::new().create(true).append(true).open(folder.join("agent.log")).unwrap();
    Process::start(
        Command::new(built("pos-agent"))
            .args(["run", "--config"])
            .arg(folder.join("config.toml"))
            .env_remove("CREDENTIALS_DIRECTORY")
            .env_remove("NOTIFY_SOCKET")
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log),
    )
}

/// Opens a shop in a thread of its own, with more sections in the agent's configuration. It does what it is asked.
fn open_shop(more: &str) -> (PathBuf, mpsc::Sender<Asked>) {
    let (tell, told) = mpsc::channel();
    let (ask, asked) = mpsc::channel();
    let config = vec![("[journal]".to_owned(), format!("{more}\n[journal]"))];
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            // A real reader understands one line speed.
            let reader = reader::Options { baud: Some(BAUD), ..reader::Options::default() };
            let shop = Shop::open(Options { config, reader, ..Options::default() }).await.unwrap();
            tell.send(shop.folder().to_owned()).unwrap();
            loop {
                match asked.try_recv() {
                    Ok(Asked::Tap) => shop.reader.tap(card("tap").unwrap()),
                    Ok(Asked::Delay(delay)) => shop.gateway.set_delay(delay),
                    Ok(Asked::Charged(tell)) => tell.send(shop.gateway.ledger().all_charged().count()).unwrap(),
                    Err(mpsc::TryRecvError::Disconnected) => return,
                    Err(mpsc::TryRecvError::Empty) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        });
    });
    (told.recv().unwrap(), ask)
}
