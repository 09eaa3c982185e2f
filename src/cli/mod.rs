//! The command line: one file for each verb that a person types.
//!
//! `run` is the daemon; `boards`, `check`, `doctor`, `parameters`, `reasons`, `reconcile`, `setup` and the verbs below
//! `journal` look for themselves; every other verb talks to the running daemon over its Unix socket, with the same
//! requests that a till would send, `operator` also to the journal when no daemon runs. Nothing here decides about
//! money.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use tokio::sync::OnceCell;

use self::daemon::{Daemon, SignIn};
use crate::config::{self, DEFAULT_PATH};

mod boards;
mod cancel;
mod check;
mod close;
mod confirm;
mod daemon;
mod doctor;
mod exit;
mod failure;
mod flow;
mod follow_up;
mod front;
mod health;
mod journal;
mod log_level;
mod memory;
mod operator;
mod out;
mod parameters;
mod payment;
mod person;
mod reasons;
mod receipt;
mod reconcile;
mod reference;
mod run;
mod sale;
mod settle;
mod setup;
mod show;
mod signature;
mod status;
mod totals;

pub use exit::{Exit, Stop};
pub use failure::Code;

/// A payment terminal from a board, a card reader and a receipt printer.
#[derive(Debug, Parser)]
#[command(version, about, after_help = after_help(), max_term_width = 120)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  pos-agent setup                              ask what a new terminal needs, find its devices, write its configuration
  pos-agent check /etc/pos-agent/config.toml   see whether the configuration is good
  pos-agent run                                run the terminal (systemd does this)
  pos-agent sale 12.34                         take a payment and show each step
  pos-agent refund last --amount 3.5           give 3.50 of the latest payment back
  pos-agent close --print                      close the day and print its sums
  pos-agent status                             see whether a sale can be taken, and what is unconfirmed
  pos-agent doctor                             see what is wrong with the board, the devices or the gateway

Exit codes:";

const FAILURES: &str = "\
With --json a failure is one object too: {\"error\":{\"code\":\"…\",\"detail\":\"…\"}}; the manual lists the codes (\"Drive it from a till\").";

fn after_help() -> String {
    format!("{EXAMPLES}\n{}\n{FAILURES}", exit::table())
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run the terminal: serve tills, reader, printers and gateway until SIGTERM or SIGINT (systemd does this)
    Run(run::Run),
    /// Take a payment: arms the reader, shows each step, ends with the outcome
    Sale(sale::Sale),
    /// Reserve an amount on a card; `capture` takes it later
    Preauthorise(sale::Preauthorise),
    /// Pay out to a card without an earlier payment
    Credit(sale::Credit),
    /// Take what was reserved, in whole or in part
    Capture(follow_up::Capture),
    /// Give back what was paid, in whole or in part
    Refund(follow_up::Refund),
    /// Undo an earlier transaction
    Reverse(follow_up::Reverse),
    /// Reserve an amount more on the card of an earlier pre-authorisation; one capture takes both
    Increment(follow_up::Increment),
    /// Replace an earlier pre-authorisation, before it lapses, by a new one on the same card
    Reauthorise(follow_up::Reauthorise),
    /// Have the gateway store a card under an id (a registration); charge it or reserve on it later, or delete it
    Registration(follow_up::Registration),
    /// Show what became of a transaction, and what is left of it
    Show(show::Show),
    /// Show a payment as the gateway knows it
    Payment(payment::Payment),
    /// Find payments at the gateway
    Query(payment::Query),
    /// Show the terminal: ready or why not, the sale under way, unconfirmed sales
    Status(status::Status),
    /// Stop a sale that waits for a card
    Cancel(cancel::Cancel),
    /// Accept or refuse the signature of a sale that waits for it
    Signature(signature::Signature),
    /// Answer for a till how much it takes of an approved sale that was begun with --confirm till
    Confirm(confirm::Confirm),
    /// Decide about one sale of a journal that is an old copy: its payment is kept, or reversed (no close of day)
    Settle(settle::Settle),
    /// Show the receipt of a sale
    Receipt(receipt::Receipt),
    /// List the sales of all tills, or look for some; verify, export or adopt the journal
    Journal(journal::Journal),
    /// Count and add up what was taken since a number: the report for the closing of a day
    Totals(totals::Totals),
    /// Close the day: count what has ended since the last close, record it, print it; list, show and export closes
    Close(close::CloseDay),
    /// Compare the gateway's reconciliation file with the journal
    Reconcile(reconcile::Reconcile),
    /// Ask what a new terminal needs, find its reader and printer, write its configuration
    Setup(Box<setup::Setup>),
    /// List the boards whose ports and devices this program knows; show one, its udev rules, unit and file
    Boards(boards::Boards),
    /// Check a configuration and the files it names, without opening any device
    Check(check::Check),
    /// Look at everything the terminal stands on, and say what to do about what is wrong
    Doctor(doctor::Doctor),
    /// After an update: say whether the new program works as the one before it did, for an updater to go by
    Health(health::Health),
    /// Change for a while how much the running agent logs, without a restart
    LogLevel(log_level::LogLevel),
    /// Add and remove the people at the counter, and give them a PIN
    Operator(operator::Operator),
    /// Every reason that a sale, the log or the status names, in words
    Reasons(reasons::Reasons),
    /// The gateway's parameters: list them, explain one, check values or a whole form
    Parameters(parameters::Parameters),
}

/// Threads beside the one that does the work, at most: for a list of the journal, for copying its WAL, and for each
/// name that a name server does not answer for. The service's unit allows twice as many (`TasksMax`).
const THREADS: usize = 14;

/// Does what the arguments ask for, the program's name being the first. What went wrong is on standard error, and with
/// `--json` on standard output too.
#[must_use]
pub fn run(arguments: Vec<OsString>) -> Exit {
    let in_json = failure::is_in_json(&arguments);
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.run().unwrap_or_else(|stop| failure::tell(&stop, in_json)),
        Err(error) => failure::tell_usage(&error, in_json),
    }
}

impl Arguments {
    fn run(self) -> Result<Exit, Stop> {
        // Before a secret is read.
        if let Err(error) = memory::keep_to_ourselves() {
            out::complain(&format!("others may look into this program's memory: {error}"));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build();
        let runtime =
            runtime.map_err(|error| Stop::new(Exit::Software, format!("the program cannot start: {error}")))?;
        match self.verb {
            Verb::Run(verb) => runtime.block_on(verb.run()),
            Verb::Sale(verb) => runtime.block_on(verb.run()),
            Verb::Preauthorise(verb) => runtime.block_on(verb.run()),
            Verb::Credit(verb) => runtime.block_on(verb.run()),
            Verb::Capture(verb) => runtime.block_on(verb.run()),
            Verb::Refund(verb) => runtime.block_on(verb.run()),
            Verb::Reverse(verb) => runtime.block_on(verb.run()),
            Verb::Increment(verb) => runtime.block_on(verb.run()),
            Verb::Reauthorise(verb) => runtime.block_on(verb.run()),
            Verb::Registration(verb) => runtime.block_on(verb.run()),
            Verb::Show(verb) => runtime.block_on(verb.run()),
            Verb::Payment(verb) => runtime.block_on(verb.run()),
            Verb::Query(verb) => runtime.block_on(verb.run()),
            Verb::Status(verb) => runtime.block_on(verb.run()),
            Verb::Cancel(verb) => runtime.block_on(verb.run()),
            Verb::Signature(verb) => runtime.block_on(verb.run()),
            Verb::Confirm(verb) => runtime.block_on(verb.run()),
            Verb::Settle(verb) => runtime.block_on(verb.run()),
            Verb::Receipt(verb) => runtime.block_on(verb.run()),
            Verb::Journal(verb) => runtime.block_on(verb.run()),
            Verb::Totals(verb) => runtime.block_on(verb.run()),
            Verb::Close(verb) => runtime.block_on(verb.run()),
            Verb::Reconcile(verb) => verb.run(),
            Verb::Setup(verb) => runtime.block_on(verb.run()),
            Verb::Boards(verb) => verb.run(),
            Verb::Check(verb) => verb.run(),
            Verb::Doctor(verb) => {
                let done = runtime.block_on(verb.run());
                // A name server that never answers must not keep a person waiting.
                runtime.shutdown_background();
                done
            }
            Verb::Health(verb) => runtime.block_on(verb.run()),
            Verb::LogLevel(verb) => runtime.block_on(verb.run()),
            Verb::Operator(verb) => runtime.block_on(verb.run()),
            Verb::Reasons(verb) => verb.run(),
            Verb::Parameters(verb) => verb.run(),
        }
    }
}

/// Which daemon to talk to, and who talks.
#[derive(Debug, Args)]
struct Where {
    /// The daemon's configuration, for the place of its socket [default: /etc/pos-agent/config.toml if it can be read]
    #[arg(long, value_name = "FILE", conflicts_with = "socket")]
    config: Option<PathBuf>,
    /// The daemon's Unix socket
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Sign in as this operator; the PIN is asked for, or is a line of standard input when nobody is there
    #[arg(long, value_name = "NAME")]
    operator: Option<String>,
    /// What came of signing in: the PIN is asked for once.
    #[arg(skip)]
    session: Arc<OnceCell<SignIn>>,
}

impl Where {
    fn daemon(&self) -> Result<Daemon, Stop> {
        let socket = match (&self.socket, &self.config) {
            (Some(socket), _) => socket.clone(),
            // Only the path is wanted: the tokens that the file names are not for every user who may take a payment.
            (None, Some(file)) => config::read(file)?.till.socket.path,
            (None, None) => {
                let till = config::read(Path::new(DEFAULT_PATH)).map_or_else(|_| config::Till::default(), |it| it.till);
                till.socket.path
            }
        };
        Ok(Daemon::at(socket).asked_by(self.operator.clone(), Arc::clone(&self.session)))
    }
}
