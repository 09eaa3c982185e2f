//! `cargo demo`: the shop, and a real agent in a process of its own, built without the simulators.
//!
//! With `--once` one sale is run and its exit code is ours; without, the shop stays open: keys are the customer's hands, and
//! sales are started from a second terminal with `pos-agent sale`.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use crate::sim::reader::{self, Card, Entry, Pace, WaitsFor, deck};

use super::{Options, Shop};

/// What `cargo demo` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo demo\n  cargo demo --once --amount 12.34 --card chip-pin --entry insert\n  \
    cargo demo --once --amount 5.51 --card tap --entry tap        (declined: the cents choose the outcome)\n\n\
    The outcomes and their cents: cargo run --features sim --bin pos-sim -- gateway --help"
)]
pub struct Args {
    /// Run one sale and end with its exit code.
    #[arg(long)]
    once: bool,
    /// What to charge; the cents choose the gateway's outcome.
    #[arg(long, default_value = "12.34")]
    amount: String,
    /// The card, by its name in the deck.
    #[arg(long, default_value = "chip-pin", value_parser = parse_card)]
    card: &'static Card,
    /// How it is presented; by default the first way the card allows.
    #[arg(long)]
    entry: Option<Entry>,
    /// The agent to run; by default it is built first, without the simulators.
    #[arg(long, value_name = "PROGRAM")]
    agent: Option<PathBuf>,
}

/// How long the agent may take to find its devices; a debug build on a slow machine needs a second.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// How long the printer may take after a sale.
const PRINTED_WITHIN: Duration = Duration::from_secs(5);

fn parse_card(name: &str) -> Result<&'static Card, String> {
    deck::card(name).ok_or_else(|| {
        let names: Vec<_> = deck::DECK.iter().map(|card| card.name).collect();
        format!("no such card; the deck has {}", names.join(", "))
    })
}

/// Runs the demo and gives the exit code.
///
/// # Errors
/// When the shop cannot be opened or the agent cannot be built or started.
pub async fn run(args: Args) -> io::Result<u8> {
    let program = match args.agent.clone() {
        Some(program) => program,
        None => build_agent().await?,
    };
    let pace = if args.once { Pace::INSTANT } else { Pace::HUMAN };
    let options = Options {
        reader: reader::Options { pace, removes_card: args.once, ..reader::Options::default() },
        ..Options::default()
    };
    let mut shop = Shop::open(options).await?;
    let mut agent = start_agent(&program, &shop)?;
    until_ready(&program, &shop, &mut agent).await?;
    let code = if args.once { once(&args, &program, &mut shop).await } else { stay_open(&program, &mut shop).await };
    stop(&mut agent).await;
    code
}

/// Builds `pos-agent` as it is installed: without feature `sim`.
async fn build_agent() -> io::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--bin", "pos-agent", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    let me = std::env::current_exe()?;
    let folder = me.parent().ok_or_else(|| io::Error::other("this program has no folder"))?;
    if folder.ends_with("release") {
        build.arg("--release");
    }
    // What `cargo run` tells this program about its package is not meant for another cargo: build scripts would run anew.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            build.env_remove(&name);
        }
    }
    say("Building pos-agent without the simulators …");
    let status = build.stdin(Stdio::null()).status().await?;
    if !status.success() {
        return Err(io::Error::other("cargo build --bin pos-agent failed; its messages are above"));
    }
    Ok(folder.join("pos-agent"))
}

fn start_agent(program: &PathBuf, shop: &Shop) -> io::Result<Child> {
    let log = std::fs::File::create(shop.folder().join("agent.log"))?;
    Command::new(program)
        .arg("run")
        .arg("--config")
        .arg(shop.config())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| io::Error::other(format!("{} cannot be started: {error}", program.display())))
}

/// Asks the agent's status until it can take a sale.
async fn until_ready(program: &PathBuf, shop: &Shop, agent: &mut Child) -> io::Result<()> {
    let ready = async {
        loop {
            if let Some(status) = agent.try_wait()? {
                let log = std::fs::read_to_string(shop.folder().join("agent.log")).unwrap_or_default();
                return Err(io::Error::other(format!("pos-agent ended with {status}:\n{log}")));
            }
            let status = Command::new(program)
                .args(["status", "--json", "--config"])
                .arg(shop.config())
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .output()
                .await?;
            if String::from_utf8_lossy(&status.stdout).contains("\"ready\":true") {
                return Ok(());
            }
            // The answer is a process that ran: there is nothing to wait on but the next try.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    match tokio::time::timeout(READY_WITHIN, ready).await {
        Ok(result) => result,
        Err(_) => Err(io::Error::other(format!("pos-agent was not ready within {} s", READY_WITHIN.as_secs()))),
    }
}

/// One sale by the command line, with the customer's hands doing what the display asks for.
async fn once(args: &Args, program: &PathBuf, shop: &mut Shop) -> io::Result<u8> {
    let entry = args.entry.or_else(|| args.card.entries().first().copied()).unwrap_or(Entry::Insert);
    let mut sale = Command::new(program)
        .arg("sale")
        .arg(&args.amount)
        .arg("--config")
        .arg(shop.config())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let status = tokio::select! {
        status = sale.wait() => status?,
        never = customer(shop, args.card, entry) => match never {},
    };
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70);
    // Nothing was presented or sent: there is no receipt to wait for.
    if matches!(code, 0 | 1 | 3 | 4) {
        print_receipts(shop, 2).await;
    }
    Ok(code)
}

/// The customer: presents the card when the reader asks for one, and in the way it asks for next when it refuses this one.
async fn customer(shop: &Shop, card: &'static Card, entry: Entry) -> std::convert::Infallible {
    shop.reader.waits_for(WaitsFor::Card).await;
    shop.reader.present(card, entry);
    let Some(next) = card.after(entry) else {
        return std::future::pending().await;
    };
    let wanted = match next {
        Entry::Insert => "insert",
        Entry::Swipe => "swipe",
        Entry::Tap => "tap",
    };
    if entry == Entry::Insert {
        shop.reader
            .until(|screen| {
                screen
                    .lines
                    .iter()
                    .any(|line| line.to_lowercase().contains("remove") || line.to_lowercase().contains(wanted))
            })
            .await;
        shop.reader.remove();
    }
    shop.reader.until(|screen| screen.lines.iter().any(|line| line.to_lowercase().contains(wanted))).await;
    shop.reader.present(card, next);
    std::future::pending().await
}

async fn print_receipts(shop: &mut Shop, count: usize) {
    for _ in 0..count {
        match tokio::time::timeout(PRINTED_WITHIN, shop.printer.next_receipt()).await {
            Ok(receipt) => say(&format!("\n{receipt}")),
            Err(_) => say("\n(no receipt came out of the printer)"),
        }
    }
}

/// The shop with its door open: prints where everything is, shows display and receipts, and lends the customer's hands to
/// the keyboard.
async fn stay_open(program: &PathBuf, shop: &mut Shop) -> io::Result<u8> {
    say(&welcome(program, shop));
    let (mut keys, _single_keys) = keyboard();
    let mut screen = shop.reader.watch();
    let mut chosen = &deck::DECK[0];
    loop {
        tokio::select! {
            key = keys.recv() => match key {
                None | Some('q') => return Ok(0),
                Some(key) => {
                    if let Some(card) = by_digit(key) {
                        chosen = card;
                        say(&format!("card: {}", card.name));
                    } else {
                        hand(shop, chosen, key);
                    }
                }
            },
            changed = screen.changed() => {
                if changed.is_err() {
                    return Ok(0);
                }
                let lines = screen.borrow_and_update().lines.join(" | ");
                say(&format!("reader: {lines}"));
            }
            receipt = shop.printer.next_receipt() => say(&format!("\n{receipt}\n")),
            _ = tokio::signal::ctrl_c() => return Ok(0),
        }
    }
}

fn by_digit(key: char) -> Option<&'static Card> {
    let place = usize::try_from(key.to_digit(10)?).ok()?.checked_sub(1)?;
    deck::DECK.get(place)
}

fn hand(shop: &Shop, card: &'static Card, key: char) {
    match key {
        't' => shop.reader.tap(card),
        'i' => shop.reader.insert(card),
        's' => shop.reader.swipe(card),
        'r' => shop.reader.remove(),
        'c' => shop.reader.key(reader::Key::Cancel),
        _ => say("keys: 1-9 choose the card, i insert, t tap, s swipe, r remove, c cancel key, q quit"),
    }
}

fn welcome(program: &PathBuf, shop: &Shop) -> String {
    let cards: Vec<_> = deck::DECK.iter().enumerate().map(|(n, card)| format!("  {} {}", n + 1, card.name)).collect();
    format!(
        "The shop is open.\n\n  reader   {reader}\n  gateway  {gateway}\n  printer  tcp://{printer}\n  config   {config}\n  \
         agent log {log}\n\nIn a second terminal:\n\n  {program} sale 12.34 --config {config}\n\n\
         Cards:\n{cards}\n\nKeys: 1-9 choose the card, i insert, t tap, s swipe, r remove, c cancel key, q quit\n",
        reader = shop.reader.place(),
        gateway = shop.gateway.base_url(),
        printer = shop.printer.address,
        config = shop.config().display(),
        log = shop.folder().join("agent.log").display(),
        program = program.display(),
        cards = cards.join("\n"),
    )
}

/// Single keys of a terminal, or the letters of a pipe. A thread of its own reads them: a blocked read must not hold the
/// program's end.
fn keyboard() -> (mpsc::Receiver<char>, Option<SingleKeys>) {
    use std::io::Read;
    let (sender, keys) = mpsc::channel(16);
    std::thread::spawn(move || {
        for byte in io::stdin().lock().bytes() {
            match byte {
                Ok(byte) if byte.is_ascii_graphic() => {
                    if sender.blocking_send(char::from(byte)).is_err() {
                        return;
                    }
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    });
    (keys, SingleKeys::on())
}

/// The terminal gives keys without Enter and without echo as long as this lives; signals and line feeds stay as they are.
struct SingleKeys(rustix::termios::Termios);

impl SingleKeys {
    /// `None` when standard input is no terminal.
    fn on() -> Option<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin()).ok()?;
        let mut single = before.clone();
        single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &single).ok()?;
        Some(Self(before))
    }
}

impl Drop for SingleKeys {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &self.0);
    }
}

/// Ends the agent as systemd would.
async fn stop(agent: &mut Child) {
    if let Some(pid) = agent.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed())) {
        // Gone already is as good.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    if tokio::time::timeout(Duration::from_secs(5), agent.wait()).await.is_err() {
        let _ = agent.kill().await;
    }
}

#[allow(clippy::print_stdout, reason = "the demo speaks to a person")]
fn say(text: &str) {
    println!("{text}");
}
