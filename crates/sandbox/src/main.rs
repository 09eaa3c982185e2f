//! Is: `pos-sandbox`, a payment terminal for developers in one file. It starts the real agent and the real front as
//! processes of their own, beside a simulated reader, gateway and printer. Is not: a terminal. Invariant: its agent
//! accepts only the simulated reader and gateway of its own sandbox.
//!
//! ```text
//!  pos-sandbox ──┬─ starts ─▶ pos-sandbox agent run   (the real agent) ◀── Unix socket ── front, tills
//!   reader,      └─ starts ─▶ pos-sandbox front run   (the real front) ◀── HTTPS, ZVT, nexo ── tills, browsers
//!   gateway,
//!   printer ◀──── /simulator ── programs that act as the customer, as the technician, or as a fault
//! ```
//!
//! | file | content |
//! |---|---|
//! | `opening` | the shop: its folder, its addresses, and the start of all parts |
//! | `own` | the check that a configuration belongs to a sandbox |
//! | `hands` | the customer: cards that wait for the reader, or present themselves |
//! | `simulator`, `acts` | the HTTP interface for programs, and what its requests do |

mod acts;
mod hands;
mod opening;
mod own;
mod simulator;

use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use pos_sim::reader::{Card, Family, deck};
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{SignalKind, signal};

use crate::opening::Sandbox;

const AFTER_HELP: &str = "\
Examples:
  pos-sandbox --auto                     a shop in which every card presents itself
  pos-sandbox --json --auto tap          for a test: one line of JSON when the shop is open
  curl http://127.0.0.1:8650/simulator   the addresses, and what the reader waits for
  curl http://127.0.0.1:8650/simulator/card -H 'Content-Type: application/json' -d '{\"card\":\"chip-pin\"}'

The cents of an amount choose the bank's answer; GET /simulator/cards lists the
cards. The manual explains both in \"Ten minutes to the first sale\".

Exit codes: 0 ended, 64 wrong usage, 65 not a configuration of a sandbox,
70 a fault.";

/// A payment terminal for developers: the real agent and front with a simulated reader, gateway and printer. No money
/// can move, and no other reader or gateway is accepted.
#[derive(Debug, Parser)]
#[command(name = "pos-sandbox", version, after_help = AFTER_HELP, term_width = 80, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    role: Option<Role>,
    #[command(flatten)]
    shop: ShopArguments,
}

/// The options of a shop.
#[derive(Debug, Args)]
pub(crate) struct ShopArguments {
    /// The folder for everything that is written; an empty one, or that of an earlier sandbox, which is emptied
    /// [default: a new one, removed at the end]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Print one line of JSON when the shop is open, and end with the standard input
    #[arg(long)]
    pub(crate) json: bool,
    /// Let a card present itself at every payment
    #[arg(long, value_name = "CARD", num_args = 0..=1, default_missing_value = "tap", value_parser = deck::named)]
    pub(crate) auto: Option<&'static Card>,
    /// The script of the reader, as in `pos-sim reader --help`
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// The family of the card reader
    #[arg(long, value_enum, value_name = "FAMILY", default_value_t = Family::Miura)]
    pub(crate) reader: Family,
    /// Let people and chips take their time, as in a shop
    #[arg(long)]
    pub(crate) human_pace: bool,
    /// The language of the terminal, two letters
    #[arg(long, value_name = "CODE", default_value = "en")]
    pub(crate) language: String,
    /// The address of the server that gets the webhooks: HTTPS, or plain HTTP on this machine
    #[arg(long, value_name = "URL")]
    pub(crate) webhook: Option<String>,
    /// The origin of a till that runs in a browser, with its scheme
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Vec<String>,
    /// The address for tills and browsers with TLS; everything else is on loopback alone
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) listen: IpAddr,
    /// The port of the interface for cards and faults [default: 8650; with --json a free one, as for all ports]
    #[arg(long, value_name = "PORT")]
    pub(crate) simulator_port: Option<u16>,
    /// The port of the front with TLS [default: 8443]
    #[arg(long, value_name = "PORT")]
    pub(crate) https_port: Option<u16>,
    /// The port of the front without TLS [default: 8651]
    #[arg(long, value_name = "PORT")]
    pub(crate) http_port: Option<u16>,
    /// The agent's own port, with the till's token [default: 8652]
    #[arg(long, value_name = "PORT")]
    pub(crate) agent_port: Option<u16>,
    /// The port for ZVT [default: 20007]
    #[arg(long, value_name = "PORT")]
    pub(crate) zvt_port: Option<u16>,
    /// The port for nexo [default: 8444]
    #[arg(long, value_name = "PORT")]
    pub(crate) nexo_port: Option<u16>,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Run a verb of pos-agent on this sandbox, for example: pos-sandbox agent status --config DIR/config.toml
    #[command(disable_help_flag = true)]
    Agent(Words),
    /// Run a verb of pos-front on this sandbox, for example: pos-sandbox front pair list --config DIR/front.toml
    #[command(disable_help_flag = true)]
    Front(Words),
}

#[derive(Debug, Args)]
struct Words {
    /// The verb and its options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// `EX_USAGE` of sysexits.
const USAGE: u8 = 64;
/// `EX_DATAERR` of sysexits.
const NOT_OWN: u8 = 65;
/// `EX_SOFTWARE` of sysexits.
const SOFTWARE: u8 = 70;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // If the terminal is gone, no one can see the error.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    if arguments.role.is_some() {
        ends_with_its_shop();
    }
    match arguments.role {
        Some(Role::Agent(Words { words })) => match own::checked(&words, own::Program::Agent) {
            Ok(()) => pos_agent::cli::run(with_name("pos-agent", words)).into(),
            Err(error) => complain(&error.to_string(), NOT_OWN),
        },
        Some(Role::Front(Words { words })) => match own::checked(&words, own::Program::Front) {
            Ok(()) => pos_front::run(with_name("pos-front", words)),
            Err(error) => complain(&error.to_string(), NOT_OWN),
        },
        None => match run(&arguments.shop) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => complain(&error.to_string(), USAGE),
            Err(error) => complain(&error.to_string(), SOFTWARE),
        },
    }
}

/// Lets the system end this program when the shop that started it ends in any way. Otherwise its agent would go on, and
/// open the reader of a later shop.
fn ends_with_its_shop() {
    let set = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    if let Err(error) = set {
        complain(&format!("this program may outlive its shop: {error}"), 0);
    }
}

fn with_name(name: &str, words: Vec<OsString>) -> Vec<OsString> {
    std::iter::once(name.into()).chain(words).collect()
}

fn run(arguments: &ShopArguments) -> io::Result<()> {
    // The gateway's client and the nexo till need a provider. This fails only if one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let mut stop = std::pin::pin!(stopped(arguments.json));
        let sandbox = tokio::select! {
            sandbox = Sandbox::open(arguments) => sandbox?,
            () = &mut stop => return Ok(()),
        };
        say(&if arguments.json { sandbox.addresses().to_string() } else { sandbox.words() });
        let ended = tokio::select! {
            fault = sandbox.serve() => Err(fault),
            () = stop => Ok(()),
        };
        sandbox.close().await;
        ended
    });
    // The read of the input cannot be stopped, and nothing else is left to do.
    runtime.shutdown_background();
    ended
}

/// Waits until the sandbox is asked to end: by a signal, or by the end of the input if a program has started it.
async fn stopped(by_program: bool) {
    let next = async |kind| match signal(kind) {
        Ok(mut signal) => _ = signal.recv().await,
        Err(_) => std::future::pending().await,
    };
    let input = async {
        match by_program {
            true => _ = tokio::io::stdin().read_to_end(&mut Vec::new()).await,
            false => std::future::pending().await,
        }
    };
    tokio::select! {
        () = next(SignalKind::interrupt()) => {}
        () = next(SignalKind::terminate()) => {}
        () = next(SignalKind::hangup()) => {}
        () = input => {}
    }
}

#[allow(clippy::print_stdout, reason = "the program speaks to a person, or to the program that started it")]
fn say(text: &str) {
    println!("{text}");
}

#[allow(clippy::print_stderr, reason = "the program speaks to a person")]
fn complain(text: &str, code: u8) -> ExitCode {
    eprintln!("pos-sandbox: {text}");
    ExitCode::from(code)
}
