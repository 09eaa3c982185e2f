//! The command line: one file for each verb.
//!
//! `run` is the agent. `boards`, `check`, `doctor`, `first-boot`, `parameters`, `reader`, `reasons`, `reconcile`,
//! `setup` and the verbs of `journal` work in their own process. Every other verb talks to the running agent over its
//! Unix socket, with the same requests as a till. If no agent runs, `operator` changes the journal directly. This
//! module makes no decision about money.

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
mod first_boot;
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
mod reader;
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

/// Payment terminal made of a board, a card reader and a receipt printer.
#[derive(Debug, Parser)]
#[command(version, about, after_help = after_help(), term_width = 80)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  pos-agent setup                     find the devices, write the configuration
  pos-agent check                     check the configuration
  pos-agent run                       run the terminal (systemd does this)
  pos-agent sale 12.34                take a payment and show each step
  pos-agent refund last --amount 3.5  refund 3.50 of the latest payment
  pos-agent close --print             close the day and print its sums
  pos-agent status                    show whether a sale is possible
  pos-agent doctor                    find faults, each with a remedy

Exit codes:";

const FAILURES: &str = "\
With --json, a failure is also printed as one object:
{\"error\":{\"code\":\"…\",\"detail\":\"…\"}}; the manual lists the codes
(\"Drive it from a till\").";

fn after_help() -> String {
    format!("{EXAMPLES}\n{}\n\n{FAILURES}", exit::table())
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run the terminal until SIGTERM or SIGINT: serve tills, reader, printers and gateway (systemd does this)
    Run(run::Run),
    /// Take a payment: activate the reader, show each step and then the outcome
    Sale(sale::Sale),
    /// Reserve an amount on a card; `capture` charges it later
    Preauthorise(sale::Preauthorise),
    /// Pay out to a card without an earlier payment
    Credit(sale::Credit),
    /// Charge all or part of a reserved amount
    Capture(follow_up::Capture),
    /// Refund all or part of a payment
    Refund(follow_up::Refund),
    /// Reverse an earlier transaction
    Reverse(follow_up::Reverse),
    /// Add an amount to an earlier pre-authorisation on the same card; one capture charges both
    Increment(follow_up::Increment),
    /// Replace an earlier pre-authorisation with a new one on the same card, before the earlier one lapses
    Reauthorise(follow_up::Reauthorise),
    /// Store a card at the gateway (a registration); charge it, reserve an amount on it, or delete it
    Registration(follow_up::Registration),
    /// Show a transaction's outcome and its remaining amount
    Show(show::Show),
    /// Show a payment as the gateway lists it
    Payment(payment::Payment),
    /// Find payments at the gateway
    Query(payment::Query),
    /// Show whether the terminal is ready (or why not), the current sale and the unconfirmed sales
    Status(status::Status),
    /// Cancel a sale that is waiting for a card
    Cancel(cancel::Cancel),
    /// Accept or refuse the signature that a sale is waiting for
    Signature(signature::Signature),
    /// Confirm, in place of a till, how much the till accepts of an approved sale that was begun with --confirm till
    Confirm(confirm::Confirm),
    /// Resolve a sale of an outdated journal copy: keep or reverse its payment (this is not the close of day)
    Settle(settle::Settle),
    /// Show the receipt of a sale
    Receipt(receipt::Receipt),
    /// List or search the transactions of all tills; verify, export or adopt the journal
    Journal(journal::Journal),
    /// Add up the transactions after a number, for the report of a close of day
    Totals(totals::Totals),
    /// Close the day: add up and record what ended since the last close; list, show, print and export closes
    Close(close::CloseDay),
    /// Compare the gateway's reconciliation file with the journal
    Reconcile(reconcile::Reconcile),
    /// Set up a terminal: ask for the settings, find reader and printer, write the configuration
    Setup(Box<setup::Setup>),
    /// Answer the page that sets up a new terminal (systemd does this on a board without a configuration)
    FirstBoot(Box<first_boot::FirstBoot>),
    /// Find out which card reader is connected, or record it, without the agent
    Reader(reader::Reader),
    /// List the known boards, or show a board's ports, udev rules, unit and file
    Boards(boards::Boards),
    /// Check a configuration and the files that it names, without opening any device
    Check(check::Check),
    /// Check everything that the terminal needs, and give a remedy for each fault
    Doctor(doctor::Doctor),
    /// Tell an updater whether the new version works as well as the previous one
    Health(health::Health),
    /// Change the log level of the running agent for a limited time, without a restart
    LogLevel(log_level::LogLevel),
    /// Add and remove operators, and set their PINs
    Operator(operator::Operator),
    /// Explain the reasons that appear in sales, the log and the status
    Reasons(reasons::Reasons),
    /// List the gateway's parameters, explain one, or check values or a whole form
    Parameters(parameters::Parameters),
}

/// The maximum number of threads in addition to the main thread. They list the journal, copy its WAL, and wait for name
/// servers, one thread for each unanswered name. The service's unit allows twice as many (`TasksMax`).
const THREADS: usize = 14;

/// Runs the verb in the arguments, of which the first is the program's name. Faults are shown on standard error and,
/// with `--json`, also on standard output.
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
        // The process is protected before it reads a secret.
        if let Err(error) = memory::keep_to_ourselves() {
            out::complain(&format!("other programs can read this program's memory: {error}"));
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
            Verb::FirstBoot(verb) => runtime.block_on(verb.run()),
            Verb::Reader(verb) => runtime.block_on(verb.run()),
            Verb::Boards(verb) => verb.run(),
            Verb::Check(verb) => verb.run(),
            Verb::Doctor(verb) => {
                let done = runtime.block_on(verb.run());
                // A person is waiting, so the process does not wait for a name server that never answers.
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

/// The options that select the agent and the operator.
#[derive(Debug, Args)]
struct Where {
    /// The agent's configuration, which names its socket [default: /etc/pos-agent/config.toml if it can be read]
    #[arg(long, value_name = "FILE", conflicts_with = "socket")]
    config: Option<PathBuf>,
    /// The agent's Unix socket
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Sign in as this operator; without a terminal window, the PIN is read as a line of standard input
    #[arg(long, value_name = "NAME")]
    operator: Option<String>,
    /// The result of the sign-in, which is kept so that the PIN is asked for only once.
    #[arg(skip)]
    session: Arc<OnceCell<SignIn>>,
}

impl Where {
    fn daemon(&self) -> Result<Daemon, Stop> {
        let mut is_set_up = true;
        let socket = match (&self.socket, &self.config) {
            (Some(socket), _) => socket.clone(),
            // Only the path is read, because some users who may take payments cannot read the tokens that the file
            // names.
            (None, Some(file)) => config::read(file)?.till.socket.path,
            (None, None) => {
                let read = config::read(Path::new(DEFAULT_PATH));
                is_set_up = !matches!(read, Err(config::Error::Missing { .. }));
                read.map_or_else(|_| config::Till::default(), |config| config.till).socket.path
            }
        };
        let daemon = Daemon::at(socket).set_up(is_set_up);
        Ok(daemon.asked_by(self.operator.clone(), Arc::clone(&self.session)))
    }
}
