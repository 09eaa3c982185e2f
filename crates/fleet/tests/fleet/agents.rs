//! Real terminals: the agent's program with simulated devices, and the uplink's program.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use pos_sim::reader::deck::card;
use pos_sim::shop::{Options, Shop};
use serde_json::Value;

use crate::pki::Pki;
use crate::process::{Process, built, until};

const LIMIT: Duration = Duration::from_secs(60);

pub(crate) struct Agent {
    pub(crate) name: String,
    folder: PathBuf,
    taps: mpsc::Sender<()>,
    sold: u32,
    _agent: Process,
    uplink: Process,
}

impl Agent {
    /// Opens a shop, and starts its agent and its uplink.
    pub(crate) fn start(name: &str, pki: &Pki, port: u16, org: &str) -> Self {
        let (folder, taps) = open_shop();
        let log = fs::File::create(folder.join("agent.log")).unwrap();
        let agent = Process::start(
            Command::new(built("pos-agent"))
                .args(["run", "--config"])
                .arg(folder.join("config.toml"))
                .env_remove("CREDENTIALS_DIRECTORY")
                .env_remove("NOTIFY_SOCKET")
                .env_remove("RUST_LOG")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log),
        );
        // The state folder as the enrolment leaves it.
        let state = folder.join("uplink");
        fs::create_dir(&state).unwrap();
        let (certificate, key) = pki.make(name, false);
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
        let agent = Self { name: name.to_owned(), folder, taps, sold: 0, _agent: agent, uplink };
        until("agent with its reader", LIMIT, || {
            let status = agent.get("/v1/status")?;
            (status["reader"]["state"] == "ready").then_some(())
        });
        agent
    }

    /// Sells something for a tapped card.
    pub(crate) fn sell(&mut self) {
        self.sold += 1;
        let body = format!("{{\"amount\":\"12.34\",\"reference\":\"order-{}\"}}", self.sold);
        let request = format!(
            "POST /v1/sales HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.ask(&request).expect("an answer");
        let sale = format!("/v1/sales/order-{}", self.sold);
        // A reader that asks for no card yet does not see one.
        until("request for a card", LIMIT, || {
            let asks = self.get(&sale)?["step"] == "present-card";
            asks.then_some(())
        });
        self.taps.send(()).unwrap();
        until("end of a sale", LIMIT, || {
            let sale = self.get(&format!("{sale}?wait-s=30"))?;
            (sale["outcome"] == "approved").then_some(())
        });
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

    /// Returns every log of the terminal.
    pub(crate) fn said(&self) -> String {
        let said = |name: &str| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        said("agent.log") + &said("uplink.log")
    }

    fn get(&self, target: &str) -> Option<Value> {
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

/// Opens a shop in a thread of its own, which taps a card each time it is told to.
fn open_shop() -> (PathBuf, mpsc::Sender<()>) {
    let (tell, told) = mpsc::channel();
    let (taps, tapped) = mpsc::channel::<()>();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let shop = Shop::open(Options::default()).await.unwrap();
            tell.send(shop.folder().to_owned()).unwrap();
            loop {
                match tapped.try_recv() {
                    Ok(()) => shop.reader.tap(card("tap").unwrap()),
                    Err(mpsc::TryRecvError::Disconnected) => return,
                    Err(mpsc::TryRecvError::Empty) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        });
    });
    (told.recv().unwrap(), taps)
}
