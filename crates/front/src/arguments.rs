//! The command line of `pos-front`, as clap has it. `pos-docs` makes the man pages and the completions of the same.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// The configuration, unless the command line says otherwise.
const DEFAULT_CONFIG: &str = "/etc/pos-agent/front.toml";

const AFTER_HELP: &str = "\
Examples:
  pos-front check                              say what is wrong with the configuration, all at once
  pos-front certificate                        the fingerprints to compare before a browser trusts this terminal
  pos-front pair open                          let tills in the network ask for a token, for five minutes
  pos-front pair list                          the tills in the network that want a token, with their codes
  pos-front pair approve 482915                let the till with this code have one
  pos-front status                             the agent, the webhooks, the paired tills, the last command of each ZVT till
  pos-front trace zvt.log                      what a ZVT till says and is told, a line each
  systemctl enable --now pos-front             serve, now and after each start of the board

Files: /etc/pos-agent/front.toml (an example is in /usr/share/doc/pos-agent/examples), /var/lib/pos-front. The agent's
configuration must give the user pos-front its tills: a [[till.peer]]. The manual says how, in \"The front\".

Exit codes: 0 done, 64 wrong usage, 65 refused, 69 the front is not running, or this user may not ask it, 74 a file or an
address cannot be used, 78 the configuration is wrong.";

/// What of a payment terminal faces the shop's network: the cashier's page, HTTPS, pairing of tills, webhooks.
#[derive(Debug, Parser)]
#[command(name = "pos-front", version, after_help = AFTER_HELP, max_term_width = 120)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Serve until SIGTERM or SIGINT
    Run(Run),
    /// Check a configuration and the files it names
    Check(Where),
    /// Tills in the network: let them ask, list them, approve one that shows its code, refuse or revoke one
    Pair(Pair),
    /// Show the certificate: fingerprints, names, end; with --pem the CA, to be given to tills and browsers
    Certificate(CertificateVerb),
    /// Show how the running front stands: agent, webhooks, paired tills, tills that speak ZVT
    Status(Where),
    /// Write what tills that speak ZVT say and are told, readable and without card data, until Ctrl-C
    Trace(Trace),
    /// Print a new secret for a webhook
    WebhookSecret,
}

/// Which front.
#[derive(Debug, Args)]
pub(crate) struct Where {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_CONFIG, global = true)]
    pub(crate) config: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Trace {
    /// The file, which is made or written on; `-` for standard output
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) at: Where,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) at: Where,
    /// What to log to standard error: error, warn, info, debug, trace, or as in RUST_LOG [default: RUST_LOG, else info]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
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
    /// Let tills ask for a token during the next five minutes
    Open,
    /// Show the tills that wait, with their codes, and those that are paired
    List,
    /// Let the till with this code have a token
    Approve {
        /// The six digits that `list` shows
        code: String,
        /// For which till of `tills` in front.toml [default: what it calls itself]
        #[arg(long, value_name = "NAME")]
        till: Option<String>,
    },
    /// Do not let the till with this code have a token
    Refuse {
        /// The six digits that `list` shows
        code: String,
    },
    /// End the token of a till
    Revoke {
        /// The till
        till: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CertificateVerb {
    #[command(flatten)]
    pub(crate) at: Where,
    /// Print the CA in PEM form
    #[arg(long)]
    pub(crate) pem: bool,
}
