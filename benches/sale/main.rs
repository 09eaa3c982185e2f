//! One whole sale over a pty and TLS, against simulators that answer immediately. Its time is split into reader,
//! gateway, journal and agent.
//!
//! The agent's own share of a sale is measured from outside, at the simulators' ends of the connections. It is the sum
//! of two times. One runs from the card's last byte written to the request's last byte read. The other runs from the
//! answer's first byte written to CONTINUE's first byte read. The benchmark prints it next to the same measure for a
//! floor in the same run. The agent is the real program in a separate process.
//!
//! `POS_AGENT_BENCH_FAMILIES=1` compares the families of readers instead.
//!
//! `POS_AGENT_BENCH_BESIDE` is a command that runs beside the agent, for example a `pos-uplink`. Its environment names
//! the agent's socket: `POS_AGENT_SOCKET`.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures and prints")]

mod families;
mod floor;
mod full;

use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pos_sim::gateway::{self, Mode};
use pos_sim::reader::{self, CardEntry, Family, WaitsFor, card};
use pos_sim::shop::{Options, Shop};
use tokio::runtime::Runtime;

use floor::Floor;

/// The number of sales per measurement. With fewer, the median varies.
const SALES: usize = 300;
/// The number of sales that do not count, because caches and the journal's first pages affect them.
const WARM_UP: usize = 20;
/// The pause before each card, as at a real counter.
const IDLE: Duration = Duration::from_millis(3);
/// The agent's permitted time on disk, in addition to the floor and two syncs.
const ALLOWANCE: Duration = Duration::from_micros(100);
/// The numbers of frames that the journal writes to its write-ahead log for a sale's two steps between card and
/// CONTINUE. They come from `strace`. Each frame consists of a header and a page (SQLite, "File Format", 4.1).
const FRAMES: [usize; 2] = [2, 5];
const FRAME_HEAD: usize = 24;
const PAGE: usize = 4096;

fn main() {
    let bench = Bench { waiting: runtime() };
    if std::env::var_os("POS_AGENT_BENCH_FAMILIES").is_some() {
        return families::compare(&bench);
    }
    if let Ok(sales) = std::env::var("POS_AGENT_BENCH_SALES") {
        return full::compare(&bench, sales.parse().expect("POS_AGENT_BENCH_SALES is a number"));
    }
    println!("one sale, chip without PIN, {SALES} sales each, medians\n");
    let memory = bench.measure(Path::new("/dev/shm"));
    memory.print("journal in memory (/dev/shm)");
    let most = memory.floor.sum * 11 / 10;
    verdict(memory.agent.sum, most, "1.1 x floor");

    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let syncs = sync_time(disk);
    let on_disk = bench.measure(disk);
    on_disk.print(&format!("journal on disk ({})", disk.display()));
    println!("  {:<28}{:>9}", "two syncs, the same bytes", ms(syncs));
    let most = on_disk.floor.sum + syncs + ALLOWANCE;
    verdict(on_disk.agent.sum, most, "floor + two syncs + 0.1 ms");
}

struct Bench {
    /// The runtime that waits for the simulators, which run on another thread.
    waiting: Runtime,
}

struct Measured {
    agent: Share,
    floor: Share,
    split: Vec<(&'static str, u64)>,
    resident: String,
}

impl Measured {
    fn print(&self, title: &str) {
        println!("{title}");
        println!("  {:<28}{}", "agent's own share", self.agent.words());
        println!("  {:<28}{}", "floor", self.floor.words());
        let split: Vec<_> = self.split.iter().map(|(part, value)| format!("{part} {value}")).collect();
        println!("  {:<28}{}", "the agent's own split", split.join(", "));
        println!("  {:<28}{}", "idle resident memory", self.resident);
    }
}

fn verdict(agent: Duration, most: Duration, rule: &str) {
    let word = if agent <= most { "within" } else { "ABOVE" };
    println!("  {word} {rule} = {}\n", ms(most));
}

impl Bench {
    /// Measures the agent with its journal in `folder`, and the floor with the same simulators.
    fn measure(&self, folder: &Path) -> Measured {
        let folder = tempfile::tempdir_in(folder).expect("a writable folder");
        let shop = open_shop(folder.path().join("journal.db"), Family::Miura);
        let mut agent = Agent::start(&shop);
        let beside = std::env::var("POS_AGENT_BENCH_BESIDE").map(|command| beside(&command, &shop));
        let shares: Vec<_> = (0..WARM_UP + SALES).map(|n| self.sale(&shop, n)).collect();
        let resident = agent.resident();
        let split = agent.stop();
        if let Ok(mut beside) = beside {
            let _ = beside.kill();
            let _ = beside.wait();
        }
        let agent = Share::of(shares);

        let request = shop.gateway.last_request();
        let mut floor =
            Floor::open(&shop.folder().join("reader"), shop.gateway.address(), shop.gateway.ca_pem(), request);
        let shares = (0..WARM_UP + SALES).map(|_| {
            std::thread::sleep(IDLE);
            shop.reader.insert(card("chip-no-cvm").expect("in the deck"));
            floor.sale();
            shop.reader.remove();
            floor.card_is_out();
            share(&shop)
        });
        let floor = Share::of(shares.collect());
        Measured { agent, floor, split, resident }
    }

    /// Makes one sale with the agent, as a till begins it.
    fn sale(&self, shop: &Shop, n: usize) -> (Duration, Duration) {
        let body = format!(r#"{{"reference":"b{n}","amount":"12.34"}}"#);
        let answer = http(shop, "POST", "/v1/sales", &body);
        assert!(answer.contains("201 Created"), "{answer}");
        // The connection to the gateway is open and idle before the card arrives, as at a real counter. The probe at
        // the start used one connection. The first sale opens another, which all later sales use.
        while shop.gateway.counters().handshakes < 2 {
            std::thread::yield_now();
        }
        self.waiting.block_on(shop.reader.waits_for(WaitsFor::Card));
        // This request is sent before the card arrives, so that only the sale happens between card and CONTINUE.
        let mut end = ask(shop, "GET", &format!("/v1/sales/b{n}?wait-s=20"), "");
        std::thread::sleep(IDLE);
        shop.reader.present(card("chip-no-cvm").expect("in the deck"), CardEntry::Insert);
        let answer = read(&mut end);
        assert!(answer.contains(r#""outcome":"approved""#), "{answer}");
        let share = share(shop);
        shop.reader.remove();
        while !http(shop, "GET", "/v1/status", "").contains(r#""ready":true,"busy":false"#) {
            std::thread::yield_now();
        }
        share
    }
}

/// Starts a command beside the agent.
fn beside(command: &str, shop: &Shop) -> Child {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec {command}")).env("POS_AGENT_SOCKET", shop.socket());
    shell.stdin(Stdio::null()).spawn().expect("a shell")
}

/// Returns the times of the latest sale as the simulators saw them: from the card to the request, and from the answer
/// to CONTINUE.
fn share(shop: &Shop) -> (Duration, Duration) {
    let reader = shop.reader.moments();
    let gateway = shop.gateway.last_payment().expect("a payment was sent");
    let card = reader.card_written.expect("a card was read");
    let answer = gateway.answer_out.expect("it was answered");
    let told = reader.continue_read.expect("the card was told");
    (gateway.request_in - card, told - answer)
}

/// The medians of both times and of their sum.
struct Share {
    out: Duration,
    back: Duration,
    sum: Duration,
}

impl Share {
    fn of(shares: Vec<(Duration, Duration)>) -> Self {
        let middle = |part: fn(&(Duration, Duration)) -> Duration| median(shares.iter().map(part));
        Self { out: middle(|share| share.0), back: middle(|share| share.1), sum: middle(|share| share.0 + share.1) }
    }

    fn words(&self) -> String {
        format!("{:>9}   (to the request {}, to CONTINUE {})", ms(self.sum), ms(self.out), ms(self.back))
    }
}

/// Opens the simulators on a separate thread.
fn open_shop(journal: PathBuf, family: Family) -> Shop {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        runtime().block_on(async {
            let gateway = gateway::Options { mode: Mode::Fast, ..gateway::Options::default() };
            let reader = reader::Options { family, ..reader::Options::default() };
            let shop = Shop::open(Options { reader, gateway, journal: Some(journal), ..Options::default() }).await;
            // Sending cannot fail, because the receiver waits below.
            let _ = sender.send(shop);
            std::future::pending::<()>().await;
        });
    });
    receiver.recv().expect("the thread sends").expect("free ports and a writable temporary folder")
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the system has threads")
}

/// The agent, which is the real program.
struct Agent {
    child: Child,
    log: PathBuf,
}

impl Agent {
    fn start(shop: &Shop) -> Self {
        let agent = Self::spawn(shop, None);
        agent.until_ready(shop);
        agent
    }

    /// Starts the program. The program reports to this address when it is ready.
    fn spawn(shop: &Shop, manager: Option<&Path>) -> Self {
        let log = shop.folder().join("agent.log");
        let stderr = std::fs::File::create(&log).expect("the shop's own folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
        if let Some(manager) = manager {
            command.env("NOTIFY_SOCKET", manager);
        }
        let child = command
            .arg("run")
            .arg("--config")
            .arg(shop.config())
            .stdin(Stdio::null())
            .stderr(stderr)
            .spawn()
            .expect("cargo built it");
        Self { child, log }
    }

    fn until_ready(&self, shop: &Shop) {
        while UnixStream::connect(shop.socket()).is_err() {
            std::thread::yield_now();
        }
        while !http(shop, "GET", "/v1/status", "").contains(r#""ready":true,"busy":false"#) {
            std::thread::yield_now();
        }
    }

    fn resident(&self) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("Linux has it");
        line.trim_start_matches("VmRSS:").trim().to_owned()
    }

    /// Ends the program and reads its own split of each sale from its log.
    fn stop(&mut self) -> Vec<(&'static str, u64)> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
        self.child.wait().expect("it ends");
        let log = std::fs::read_to_string(&self.log).expect("written by it");
        let lines: Vec<_> = log.lines().filter(|line| line.contains("sale timing")).skip(WARM_UP).collect();
        ["gateway_us", "journal_us", "agent_us"].into_iter().map(|part| (part, middle(&lines, part))).collect()
    }
}

/// Returns the median of the values of `name=number` in log lines.
fn middle(lines: &[&str], name: &str) -> u64 {
    let value = |line: &&str| line.split(&format!("{name}=")).nth(1)?.split_whitespace().next()?.parse().ok();
    let mut values: Vec<u64> = lines.iter().filter_map(value).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// Sends one request over the till's socket. Returns the answer unchanged.
fn http(shop: &Shop, method: &str, path: &str, body: &str) -> String {
    read(&mut ask(shop, method, path, body))
}

fn ask(shop: &Shop, method: &str, path: &str, body: &str) -> UnixStream {
    let mut stream = UnixStream::connect(shop.socket()).expect("the agent listens");
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("the agent reads");
    stream
}

fn read(stream: &mut UnixStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the agent answers in UTF-8");
    answer
}

/// Returns the median time of a sale's two writes with their syncs. They write the same bytes in the same pieces, with
/// the same pause before each as in a sale. The file already exists, as the write-ahead log does after its first round.
fn sync_time(folder: &Path) -> Duration {
    let sales = WARM_UP + SALES;
    let file = tempfile::tempfile_in(folder).expect("a writable folder");
    let length: usize = FRAMES.iter().map(|frames| frames * (FRAME_HEAD + PAGE)).sum();
    (&file).write_all(&vec![0; length * sales]).expect("a disk with space");
    file.sync_all().expect("a disk that syncs");
    let mut at = 0;
    median((0..sales).map(|_| {
        FRAMES
            .iter()
            .map(|&frames| {
                std::thread::sleep(IDLE);
                let start = Instant::now();
                for piece in [FRAME_HEAD, PAGE].repeat(frames) {
                    file.write_all_at(&[0x5A; PAGE][..piece], at).expect("a disk with space");
                    at += piece as u64;
                }
                file.sync_data().expect("a disk that syncs");
                start.elapsed()
            })
            .sum::<Duration>()
    }))
}

fn median(times: impl IntoIterator<Item = Duration>) -> Duration {
    let mut times: Vec<_> = times.into_iter().skip(WARM_UP).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{}.{:03} ms", time.as_millis(), time.as_micros() % 1000)
}
