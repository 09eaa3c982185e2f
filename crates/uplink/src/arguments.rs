//! The command line of `pos-uplink`, defined with clap. `pos-docs` generates the man pages and the completions from it.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// The default path of the configuration.
const DEFAULT_CONFIG: &str = "/etc/pos-agent/uplink.toml";

const AFTER_HELP: &str = "\
Examples:
  pos-uplink check                  show the faults of the configuration
  pos-uplink enrol K7QF2-…          get the terminal's certificate with a code
  pos-uplink status                 show whether the server has everything
  systemctl start pos-uplink        show the terminal to the fleet's server

Files: /etc/pos-agent/uplink.toml (an example is in
/usr/share/doc/pos-agent/examples), /var/lib/pos-uplink. The agent's
configuration must give the user pos-uplink the rights \"read\", \"totals\" and
\"journal\" in a [[till.peer]]. The manual says how, in \"A fleet in an hour\".

Exit codes: 0 done, 64 wrong usage, 65 refused, 69 not reached, 74 a file
cannot be used, 78 the configuration is wrong.";

/// Shows a payment terminal to the server of its fleet. It can read the terminal, and do nothing else.
#[derive(Debug, Parser)]
#[command(name = "pos-uplink", version, after_help = AFTER_HELP, term_width = 80)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_CONFIG, global = true)]
    pub(crate) config: PathBuf,
    /// The level of the log, for example info, or debug
    #[arg(long, value_name = "LEVEL", global = true)]
    pub(crate) log: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show the terminal until SIGTERM or SIGINT
    Run,
    /// Check the configuration and the files that it names
    Check,
    /// Get a certificate with a one-time code of the fleet's desk
    Enrol {
        /// The code
        code: String,
    },
    /// Show what the running uplink does, and the certificate
    Status,
}
