//! The command line of `pos-fleet`, defined with clap. `pos-docs` generates the man pages and the completions from it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use pos_fleet_terms::Id;

/// The default path of the configuration.
const DEFAULT_CONFIG: &str = "/etc/pos-fleet/fleet.toml";

const AFTER_HELP: &str = "\
Examples:
  pos-fleet ca --name fleet.example.org
                                    make the fleet's CA and certificates
  pos-fleet check                   show the faults of the configuration
  pos-fleet consume                 store what the terminals send
  pos-fleet serve                   show the terminals: pages and metrics
  pos-fleet enrol                   give terminals their certificates
  pos-fleet code shop-17-1          print a code for a terminal, for a day
  pos-fleet revoke shop-17-1        revoke the certificates of a terminal
  pos-fleet seen shop-17-1          record that you have looked at its alarms

Files: /etc/pos-fleet/fleet.toml (an example is in
/usr/share/doc/pos-fleet/examples). The manual describes the rest in \"A fleet
in an hour\".

Exit codes: 0 done, 64 wrong usage, 69 the database or an address cannot be
used, 74 a file cannot be used, 78 the configuration is wrong.";

/// The server of a fleet of payment terminals. It shows them, and can act on none.
#[derive(Debug, Parser)]
#[command(name = "pos-fleet", version, after_help = AFTER_HELP, term_width = 80)]
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
    /// Store what the terminals send, until SIGTERM or SIGINT
    Consume,
    /// Serve the pages and the metrics, until SIGTERM or SIGINT
    Serve,
    /// Give terminals their certificates, until SIGTERM or SIGINT
    Enrol,
    /// Check the configuration and the files that it names
    Check,
    /// Print a one-time code with which a terminal gets its certificate
    Code(Code),
    /// Revoke the certificates and unused codes of a terminal; afterwards reload the broker
    Revoke(Revoke),
    /// Record that a person has looked at the alarms of a terminal; the pages then show them as seen
    Seen(Seen),
    /// Make the fleet's CA, and the certificates of broker, consumer and enrol port
    Ca(CaVerb),
}

#[derive(Debug, Args)]
pub(crate) struct Code {
    /// The terminal's name in the fleet: a-z, 0-9 and -
    pub(crate) terminal: Id,
    /// The hours for which the code can be used
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    pub(crate) hours: u32,
}

#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// The terminal's name in the fleet
    pub(crate) terminal: Id,
    /// The list that the broker reads
    #[arg(long, value_name = "FILE", default_value = "/etc/pos-fleet/crl.pem")]
    pub(crate) crl: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Seen {
    /// The terminal's name in the fleet
    pub(crate) terminal: Id,
    /// The person's name, as the pages show it [default: the user's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CaVerb {
    /// A host name or address of this server, as terminals and the consumer reach it
    #[arg(long = "name", value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// The folder of the files
    #[arg(long, value_name = "FOLDER", default_value = "/etc/pos-fleet")]
    pub(crate) folder: PathBuf,
}
