//! `cargo demo`: the shop, and the real programs as separate processes, built without the simulators. They are the
//! agent, and the front with the cashier's page.
//!
//! With `--once`, the demo runs one sale and returns its exit code. Without it, the shop stays open (`screen`): on a
//! terminal as a screen with all panes, otherwise line by line. Keys carry out the actions of the cashier and the
//! customer, and inject faults.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use self::front::Front;
use super::program::{self, Program};
use super::{Options, Shop};
use crate::fault::LineFaults;
use crate::fleet;
use crate::gateway;
use crate::gateway_args::HostRulesArgs;
use crate::reader::{self, Card, CardEntry, Family, Pace, Screen, WaitsFor, deck};

mod agent;
pub mod card_menu;
mod front;
mod screen;
mod till;

/// The arguments of `cargo demo`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo demo\n  cargo demo --fleet                                            (needs mosquitto and postgresql)\n  \
    cargo demo --once --amount 12.34 --card chip-pin --entry insert\n  \
    cargo demo --once --amount 5.51 --card tap --entry tap        (declined: the cents choose the outcome)\n\n\
    Exit codes: 0 without --once; with --once those of the sale (pos-agent sale --help);\n\
    64 wrong usage; 70 a fault; 130 interrupted.\n\n\
    The outcomes and their cents: cargo run --package pos-sim -- gateway --help"
)]
pub struct Args {
    /// Run one sale, and end with its exit code
    #[arg(long)]
    once: bool,
    /// The amount to charge; the cents choose the gateway's outcome
    #[arg(long, default_value = "12.34")]
    amount: String,
    /// The card, by its name in the deck
    #[arg(long, default_value = "chip-pin", value_parser = deck::named)]
    card: &'static Card,
    /// The way to present the card [default: the first way that the card allows]
    #[arg(long)]
    entry: Option<CardEntry>,
    /// The family of the card reader
    #[arg(long, value_enum, value_name = "FAMILY", default_value_t = Family::Miura)]
    reader: Family,
    /// Print lines instead of the screen; this is the default without a terminal window, or when TERM is dumb
    #[arg(long, conflicts_with = "once")]
    plain: bool,
    /// Show a fleet instead of a shop: five terminals, broker, database and the pages of their server
    #[arg(long, exclusive = true)]
    fleet: bool,
    /// Start without a connection to the gateway
    #[arg(long)]
    gateway_off: bool,
    #[command(flatten)]
    host_rules: HostRulesArgs,
    /// The agent to run [default: a new build, without the simulators]
    #[arg(long, value_name = "PROGRAM")]
    agent: Option<PathBuf>,
    /// The front to run [default: a new build, as for the agent]; with --agent but without --front, there is no page
    #[arg(long, value_name = "PROGRAM", requires = "agent", conflicts_with = "once")]
    front: Option<PathBuf>,
}

/// The maximum time between a transaction and its print.
const PRINTED_WITHIN: Duration = Duration::from_secs(5);
/// The wait for further receipts, because a transaction that was unconfirmed prints twice.
const MORE_WITHIN: Duration = Duration::from_millis(500);
/// The exit code of a shell for an interrupted program.
const INTERRUPTED: u8 = 130;

/// Runs the demo and returns the exit code.
///
/// # Errors
///
/// Returns `InvalidInput` if the card cannot be presented in this way. Other errors: the shop cannot be opened, or the
/// agent cannot be built or started.
pub async fn run(args: Args) -> io::Result<u8> {
    if args.fleet {
        fleet::demo::run(stopped()).await?;
        return Ok(0);
    }
    let entry = entry(&args)?;
    let (program, page) = programs(&args).await?;
    let on_screen = !args.once && !args.plain && screen::is_possible();
    let line = LineFaults::seeded(1);
    let pace = if args.once { Pace::INSTANT } else { Pace::HUMAN };
    let options = Options {
        reader: reader::Options { family: args.reader, pace, removes_card: args.once, ..reader::Options::default() },
        gateway: gateway::Options { host_rules: args.host_rules.host_rules(), ..gateway::Options::default() },
        gateway_line: (!args.once).then(|| line.clone()),
        ..Options::default()
    };
    let mut stop = pin!(stopped());
    let mut shop = Shop::open(options).await?;
    let mut agent = tokio::select! {
        agent = agent::start(program, &shop) => agent?,
        () = &mut stop => return Ok(INTERRUPTED),
    };
    if args.gateway_off {
        shop.gateway.set_offline(true).await?;
        if args.once {
            say(screen::NETWORK_CUT);
        }
    }
    let code = if args.once {
        tokio::select! {
            code = once(&args, entry, &agent, &mut shop) => code,
            () = stop => Ok(INTERRUPTED),
        }
    } else {
        let mut front = match page {
            Some(program) => Some(Front::start(program, &shop).await?),
            None => None,
        };
        let programs = (&mut agent, front.as_mut());
        let code = screen::show(&mut shop, programs, line, (on_screen, args.gateway_off), stop).await;
        if let Some(front) = front {
            front.program.stop().await;
        }
        code
    };
    agent.stop().await;
    code
}

/// Returns the agent and, unless only one sale is run, the front. They are from the command line or newly built.
async fn programs(args: &Args) -> io::Result<(PathBuf, Option<PathBuf>)> {
    if let Some(agent) = &args.agent {
        return Ok((agent.clone(), args.front.clone()));
    }
    note("the programs are built without the simulators; the first time takes a minute");
    let wanted: &[&str] = if args.once { &["pos-agent"] } else { &["pos-agent", "pos-front"] };
    // Cargo selects the features of shared crates by the named packages, so both are always named.
    let folder = program::build(&["pos-agent", "pos-front"], wanted).await?;
    Ok((folder.join("pos-agent"), (!args.once).then(|| folder.join("pos-front"))))
}

/// Returns the way to present the card.
fn entry(args: &Args) -> io::Result<CardEntry> {
    let (card, ways) = (args.card, args.card.ways());
    match args.entry {
        Some(entry) if !ways.contains(&entry) => {
            let message = format!("--entry: {} accepts only {}", card.name, card_menu::words(card));
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
        Some(entry) => Ok(entry),
        None => Ok(card.entries().first().copied().unwrap_or(CardEntry::Insert)),
    }
}

/// Runs one sale with the command line, and with a customer who follows the display.
async fn once(args: &Args, entry: CardEntry, agent: &Program, shop: &mut Shop) -> io::Result<u8> {
    let mut sale = agent.verb(&["sale", &args.amount, "--signature", "accept", "--accept-partial"]).spawn()?;
    let status = tokio::select! {
        status = sale.wait() => status?,
        never = customer(shop, args.card, entry) => match never {},
    };
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70);
    // A sale with another exit code may have ended before a card was read, without a receipt.
    let copies = if matches!(code, 0 | 1 | 3 | 4) { 2 } else { 0 };
    print_receipts(shop, copies).await;
    Ok(code)
}

/// Acts as the customer, who presents the card when the reader asks for one. If the reader refuses it, the customer
/// presents it in the next way that the reader asks for.
async fn customer(shop: &Shop, card: &'static Card, entry: CardEntry) -> Infallible {
    shop.reader.waits_for(WaitsFor::Card).await;
    present(shop, card, entry);
    let mut way = entry;
    let mut chip_failed = false;
    while let Some(next) = card.after(way) {
        // After a failed chip, the stripe is the last way.
        if chip_failed && way == CardEntry::Swipe {
            break;
        }
        chip_failed |= way == CardEntry::Insert;
        if way == CardEntry::Insert {
            until_shown(shop, "REMOVE").await;
            say(card_menu::TAKEN_OUT);
            shop.reader.remove();
        }
        // A reader may ask for the same chip several times before it allows a swipe.
        way = if until_asked(shop, next).await { next } else { CardEntry::Insert };
        present(shop, card, way);
    }
    // A phone may be needed twice: for its owner's verification, and then for the payment.
    if way != CardEntry::Tap {
        return std::future::pending().await;
    }
    loop {
        until_shown(shop, "AGAIN").await;
        shop.reader.waits_for(WaitsFor::Card).await;
        present(shop, card, way);
        shop.reader.until(|screen| !shows(screen, "AGAIN")).await;
    }
}

/// Waits until the reader asks for this way, or for the chip. Returns whether it asks for this way.
async fn until_asked(shop: &Shop, way: CardEntry) -> bool {
    let word = if way == CardEntry::Insert { "INSERT" } else { "SWIPE" };
    let mut asked = false;
    let wanted = |screen: &Screen| {
        asked = shows(screen, word);
        asked || shows(screen, "INSERT")
    };
    shop.reader.until(wanted).await;
    asked
}

fn present(shop: &Shop, card: &'static Card, entry: CardEntry) {
    say(&card_menu::presented(card, entry));
    shop.reader.present(card, entry);
}

async fn until_shown(shop: &Shop, word: &str) {
    shop.reader.until(|screen| shows(screen, word)).await;
}

fn shows(screen: &Screen, word: &str) -> bool {
    screen.lines.iter().any(|line| line.to_uppercase().contains(word))
}

/// Prints `copies` receipts, and any further receipts that the printer cuts right after them.
async fn print_receipts(shop: &mut Shop, copies: usize) {
    for n in 0.. {
        let within = if n < copies { PRINTED_WITHIN } else { MORE_WITHIN };
        match tokio::time::timeout(within, shop.printer.next_receipt()).await {
            Ok(receipt) => say(&format!("\n{}", receipt.trim_end())),
            Err(_) if n < copies => return say("\nThe printer has not printed the receipt."),
            Err(_) => return,
        }
    }
}

/// Waits until the program is asked to end, so that the agent is stopped and the shop's folder is removed.
async fn stopped() {
    let next = async |kind| match signal(kind) {
        Ok(mut signal) => _ = signal.recv().await,
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        () = next(SignalKind::interrupt()) => {}
        () = next(SignalKind::terminate()) => {}
        () = next(SignalKind::hangup()) => {}
    }
}

#[allow(clippy::print_stdout, reason = "the demo speaks to a person")]
fn say(text: &str) {
    println!("{text}");
}

/// Prints a note in addition to the demo's output.
#[allow(clippy::print_stderr, reason = "the demo speaks to a person")]
fn note(text: &str) {
    eprintln!("{text}");
}
