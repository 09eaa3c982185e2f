//! The command line of `pos-front`, defined with clap. `pos-docs` generates the man pages and the completions from it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// The default path of the configuration.
const DEFAULT_CONFIG: &str = "/etc/pos-agent/front.toml";

const AFTER_HELP: &str = "\
Examples:
  pos-front check                   show all faults of the configuration
  pos-front certificate             show the fingerprints for browsers
  pos-front pair open               let tills ask for a token, for five minutes
  pos-front pair list               list these tills, with their codes
  pos-front pair approve 482915     give the till with this code a token
  pos-front pair browser open       show a QR code that pairs a phone
  pos-front status                  show the agent, the tills and the webhooks
  pos-front webhook test books      send a test message to a webhook
  pos-front webhook list books      show what became of its events
  pos-front trace zvt.log           write the messages of the tills
  systemctl enable --now pos-front  serve now and after each start of the board

Files: /etc/pos-agent/front.toml (an example is in
/usr/share/doc/pos-agent/examples), /var/lib/pos-front. The agent's
configuration must name the tills of the user pos-front in a [[till.peer]]. The
manual says how, in \"The front\".

Exit codes: 0 done, 64 wrong usage, 65 refused, 69 the front is not running, or
this user has no permission, 74 a file or an address cannot be used, 78 the
configuration is wrong.";

/// The part of a payment terminal that faces the shop's network: cashier's page, HTTPS, pairing of tills, webhooks.
#[derive(Debug, Parser)]
#[command(name = "pos-front", version, after_help = AFTER_HELP, term_width = 80)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Serve until SIGTERM or SIGINT
    Run(Run),
    /// Check a configuration and the files that it names
    Check(Where),
    /// Pair tills and browsers on the network: open pairing, list, approve or refuse a code, revoke
    Pair(Pair),
    /// Show the certificate: fingerprints, names, end date; with --pem, print the CA for tills and browsers
    Certificate(CertificateVerb),
    /// Show the state of the running front: agent, webhooks, paired tills, tills that speak a till protocol
    Status(Where),
    /// Write the messages of tills that speak a till protocol until Ctrl-C, in readable form and without card data
    Trace(Trace),
    /// Test a webhook, list its last events, or print a new secret
    Webhook(WebhookArguments),
    /// Serve the page that sets up a terminal without a configuration; ends after an hour, or when it is set up
    FirstBoot(FirstBootVerb),
}

/// The option that selects the front.
#[derive(Debug, Args)]
pub(crate) struct Where {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_CONFIG, global = true)]
    pub(crate) config: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Trace {
    /// The file to create or append to; `-` for standard output
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) at: Where,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) at: Where,
    #[command(flatten)]
    pub(crate) log: Log,
}

#[derive(Debug, Args)]
pub(crate) struct FirstBootVerb {
    /// The address of the page
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8443")]
    pub(crate) listen: SocketAddr,
    /// The folder of the front's own files
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/pos-front")]
    pub(crate) state: PathBuf,
    /// The socket of root's half, `pos-agent first-boot`
    #[arg(long, value_name = "PATH", default_value = "/run/pos-first-boot/setup.sock", hide = true)]
    pub(crate) root_socket: PathBuf,
    /// The folder of the configurations, which are absent during the first boot
    #[arg(long, value_name = "FOLDER", default_value = "/etc/pos-agent", hide = true)]
    pub(crate) configuration: PathBuf,
    /// The agent's socket, which is absent during the first boot
    #[arg(long, value_name = "PATH", default_value = "/run/pos-agent/till.sock", hide = true)]
    pub(crate) agent: PathBuf,
    #[command(flatten)]
    pub(crate) log: Log,
}

/// The options of the log.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Log level on standard error: error, warn, info, debug, trace, or as in RUST_LOG [default: RUST_LOG, else info]
    #[arg(long = "log", value_name = "LEVEL")]
    pub(crate) level: Option<String>,
    /// The socket of systemd's journal, which is used if standard error is connected to the journal
    #[arg(long, value_name = "PATH", hide = true)]
    pub(crate) journal_socket: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Pair {
    #[command(flatten)]
    pub(crate) at: Where,
    #[command(subcommand)]
    pub(crate) verb: PairVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PairVerb {
    /// Open pairing: tills can ask for a token during the next five minutes
    Open,
    /// Show the waiting tills with their codes, and the paired tills
    List,
    /// Give a token to the till with this code
    Approve {
        /// The six digits that `list` shows
        code: String,
        /// The name of the till, from `tills` in front.toml [default: the name that the till sends]
        #[arg(long, value_name = "NAME")]
        till: Option<String>,
    },
    /// Refuse the till with this code
    Refuse {
        /// The six digits that `list` shows
        code: String,
    },
    /// Revoke the token of a till
    Revoke {
        /// The name of the till
        till: String,
    },
    /// Pair browsers that may use the page without an operator (`without-sign-in = "paired"`)
    Browser {
        #[command(subcommand)]
        verb: BrowserVerb,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum BrowserVerb {
    /// Print a link and its QR code, which pair one browser during the next five minutes
    Open,
    /// List the paired browsers with their ids
    List,
    /// Remove a browser immediately
    Revoke {
        /// The id that `list` shows
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WebhookArguments {
    #[command(flatten)]
    pub(crate) at: Where,
    #[command(subcommand)]
    pub(crate) verb: WebhookVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookVerb {
    /// Send one message of type `test` to a webhook, and show the answer
    Test {
        /// The name of the webhook in front.toml
        name: String,
        /// Send it to this address, which `callbacks` must permit, instead of `url`
        #[arg(long, value_name = "ADDRESS")]
        callback: Option<String>,
    },
    /// Show the last 50 events of each webhook since the front's start, newest last
    List {
        /// The name of one webhook in front.toml
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a new secret for a webhook
    Secret,
}

#[derive(Debug, Args)]
pub(crate) struct CertificateVerb {
    #[command(flatten)]
    pub(crate) at: Where,
    /// Print the CA in PEM form
    #[arg(long)]
    pub(crate) pem: bool,
}
