//! The command line of `pos-fleet`, defined with clap. `pos-docs` generates the man pages and the completions from it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use pos_fleet_terms::{Id, KeyKind};

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
  pos-fleet desk                    offer commands, settings and keys
  pos-fleet tills                   serve the interface of cloud tills
  pos-fleet till-token new web --terminals shop-17-1,shop-17-2
                                    print the token of a cloud till, once

  pos-fleet key new --kind desk \"desk 2026\" --out desk.pem
                                    make a key, and print the lines
                                    for each terminal's configuration
  pos-fleet command shop-17-1 --key desk.pem --wait message \"Call us\"
  pos-fleet command shop-17-1 --key desk.pem archive --out shop.tar
  pos-fleet command shop-17-1 shop-17-2 --key desk.pem --wait restart
  pos-fleet keys --all --keys keys.toml --sign a.pem --sign b.pem
                                    replace the command keys of all
                                    terminals, without a stolen one
  pos-fleet settings shop-17-1 --set settings.toml --sign a.pem
  pos-fleet rollout start --settings set.toml --pilot shop-1 --key a.pem
                                    give settings in waves

Files: the option --key or --sign names the file of a key that signs. The
database and the broker have no such key, so they can act on no terminal.

Files: /etc/pos-fleet/fleet.toml (an example is in
/usr/share/doc/pos-fleet/examples). The manual describes the rest in \"A fleet
in an hour\".

Exit codes: 0 done, 64 wrong usage, 65 a terminal did not carry out a command,
69 the database or an address cannot be used, 74 a file cannot be used, 75 a
terminal has not answered yet, 78 the configuration is wrong.";

/// The server of a fleet of payment terminals. It shows them, and offers them what your keys have signed.
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
    /// Serve cloud tills, until SIGTERM or SIGINT
    Tills,
    /// Make, list and revoke the tokens of cloud tills
    TillToken(TillTokens),
    /// Offer terminals the signed commands, settings and keys, until SIGTERM or SIGINT
    Desk,
    /// Give settings to all terminals in waves, and stop where they do harm
    Rollout(Rollouts),
    /// Check the configuration and the files that it names
    Check,
    /// Print a one-time code with which a terminal gets its certificate
    Code(Code),
    /// Revoke the certificates and unused codes of a terminal; afterwards reload the broker
    Revoke(Revoke),
    /// Record that a person has looked at the alarms of a terminal; the pages then show them as seen
    Seen(Seen),
    /// Make the fleet's CA, and the certificates of broker, consumer, desk and enrol port
    Ca(CaVerb),
    /// Make a key that signs, or show its lines for the terminals
    #[command(subcommand)]
    Key(KeyVerb),
    /// Sign a command for terminals, and wait for what becomes of it
    Command(CommandVerb),
    /// Sign the settings that a terminal shall use
    Settings(SettingsVerb),
    /// Sign the command keys that terminals shall use, with two config keys
    Keys(KeysVerb),
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
    #[command(flatten)]
    pub(crate) by: Author,
}

#[derive(Debug, Args)]
pub(crate) struct CaVerb {
    /// A host name or address of this server, as terminals and the consumer reach it
    #[arg(long = "name", value_name = "NAME", required_unless_present = "only_desk")]
    pub(crate) names: Vec<String>,
    /// Add the certificate of the desk to a CA that exists, and make nothing else
    #[arg(long, conflicts_with = "names")]
    pub(crate) only_desk: bool,
    /// Add the certificate of the port for cloud tills, port.pem, to this folder, and make nothing else
    #[arg(long, value_name = "FOLDER", conflicts_with = "only_desk")]
    pub(crate) only_tills: Option<PathBuf>,
    /// The folder of the files
    #[arg(long, value_name = "FOLDER", default_value = "/etc/pos-fleet")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyVerb {
    /// Make a key in a new file that only you can open, and print its lines for the terminals
    New {
        /// The key's name for people, for example "desk 2026"
        name: String,
        /// What the key may sign: a till's sales, a technician's commands, or settings and keys
        #[arg(long, value_name = "till|desk|config", value_parser = key_kind)]
        kind: KeyKind,
        /// The file
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Print the lines of a key for the terminals
    Show {
        /// The key's file
        file: PathBuf,
    },
}

fn key_kind(word: &str) -> Result<KeyKind, String> {
    let kinds = [KeyKind::Till, KeyKind::Desk, KeyKind::Config];
    kinds.into_iter().find(|kind| kind.word() == word).ok_or_else(|| "write till, desk or config".to_owned())
}

#[derive(Debug, Args)]
#[command(
    subcommand_precedence_over_arg = true,
    subcommand_value_name = "COMMAND",
    subcommand_help_heading = "Commands"
)]
pub(crate) struct CommandVerb {
    /// The terminals' names in the fleet
    #[arg(required = true, value_name = "TERMINAL")]
    pub(crate) terminals: Vec<Id>,
    #[command(subcommand)]
    pub(crate) order: Order,
    /// The file of the desk key that signs
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) by: Author,
    /// The time after which a terminal refuses the command, for example 10m, at most 24h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = seconds, global = true)]
    pub(crate) lasts: u64,
    /// Wait until each terminal has answered, or until the command has expired
    #[arg(long, global = true)]
    pub(crate) wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Author {
    /// The person's name, for the terminal's journal and the pages [default: the user's name]
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) by: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Order {
    /// Show a text to the cashier
    Message {
        /// The text
        text: String,
    },
    /// Make a support archive, which contains no card data and no secret
    Archive {
        /// The file for the archive of one terminal; this waits for it
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Restart the agent when no card and no till waits
    Restart,
    /// Change the level of the log for a limited time
    LogLevel {
        /// The level
        #[arg(value_parser = ["usual", "info", "debug", "trace"])]
        level: String,
        /// The time for which the level lasts, at most 24h
        #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = seconds)]
        lasts: u64,
    },
}

/// Reads a time such as `90s`, `10m` or `1h`.
fn seconds(text: &str) -> Result<u64, String> {
    let wrong = || "write a number with s, m or h, at most 24h, for example 10m".to_owned();
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(wrong()),
    };
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(wrong)?;
    if (1..=24 * 3600).contains(&seconds) { Ok(seconds) } else { Err(wrong()) }
}

#[derive(Debug, Args)]
pub(crate) struct SettingsVerb {
    /// The terminals' names in the fleet
    #[arg(required = true, value_name = "TERMINAL")]
    pub(crate) terminals: Vec<Id>,
    /// All settings that the fleet gives, as in a terminal's config.toml; the terminal uses its own for the others
    #[arg(long, value_name = "FILE")]
    pub(crate) set: PathBuf,
    /// A setting that replaces a local edit, for example terminal.footer; repeat it for several
    #[arg(long, value_name = "SETTING")]
    pub(crate) over_local: Vec<String>,
    /// The file of the config key that signs
    #[arg(long, value_name = "FILE")]
    pub(crate) sign: PathBuf,
    #[command(flatten)]
    pub(crate) by: Author,
}

#[derive(Debug, Args)]
pub(crate) struct KeysVerb {
    /// The terminals' names in the fleet
    #[arg(required_unless_present = "all", value_name = "TERMINAL")]
    pub(crate) terminals: Vec<Id>,
    /// All terminals that the database knows
    #[arg(long, conflicts_with = "terminals")]
    pub(crate) all: bool,
    /// All command keys from now on: [[fleet.key]] with name, kind, public and till, as in a terminal's config.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: PathBuf,
    /// The file of a config key that signs; two different ones are needed, and both stay among the keys
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) sign: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) by: Author,
}

/// `pos-fleet rollout`.
#[derive(Debug, Args)]
pub(crate) struct Rollouts {
    #[command(subcommand)]
    pub(crate) verb: RolloutVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RolloutVerb {
    /// Sign settings for all terminals, and give them in waves
    Start {
        /// All settings that the fleet gives, as in a terminal's config.toml
        #[arg(long, value_name = "FILE")]
        settings: PathBuf,
        /// A setting that replaces a local edit; repeat it for several
        #[arg(long, value_name = "SETTING")]
        over_local: Vec<String>,
        /// The first terminal
        #[arg(long, value_name = "TERMINAL")]
        pilot: Id,
        /// The file of the config key that signs; the server does not keep it
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// The time for which each wave is watched, for example 24h, 90m or 30s
        #[arg(long, value_name = "TIME", default_value = "24h", value_parser = time_of)]
        soak: Duration,
        /// Let a wave go on without a close of day of each terminal
        #[arg(long)]
        without_close: bool,
        #[command(flatten)]
        by: Author,
    },
    /// List the roll-outs
    List,
    /// Show a roll-out: its waves, its failures, and who did what
    Show {
        /// The number of the roll-out
        id: i64,
    },
    /// Stop a roll-out: no further terminal gets the settings
    Stop {
        /// The number of the roll-out
        id: i64,
        /// Also give the settings before to each terminal that has got these
        #[arg(long, requires = "key")]
        back: bool,
        /// The file of the config key that signs the settings before
        #[arg(long, value_name = "FILE", requires = "back")]
        key: Option<PathBuf>,
        #[command(flatten)]
        by: Author,
    },
    /// Let a stopped roll-out go on; its failures up to now are let pass
    GoOn {
        /// The number of the roll-out
        id: i64,
        #[command(flatten)]
        by: Author,
    },
}

/// Reads a time: a number with s, m, h or d.
pub(crate) fn time_of(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time: write a number with s, m, h or d, for example 24h");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let count: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    // A year is longer than any soak.
    match count.checked_mul(seconds).filter(|seconds| (1..=366 * 86_400).contains(seconds)) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err(wrong()),
    }
}

/// `pos-fleet till-token`.
#[derive(Debug, Args)]
pub(crate) struct TillTokens {
    #[command(subcommand)]
    pub(crate) verb: TokenVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenVerb {
    /// Make a token, and print it once; the database keeps only its digest
    New {
        /// The till, by its name in `[[tills.key]]` and at the terminals
        till: String,
        /// The terminals at which the till may act
        #[arg(long, value_name = "NAME,...", value_delimiter = ',', required = true)]
        terminals: Vec<Id>,
        #[command(flatten)]
        by: Author,
    },
    /// List the tokens, without their secrets
    List,
    /// Revoke a token, or all tokens of a till; it is refused at once
    Revoke {
        /// The till, or the part of a token before its dot
        which: String,
        #[command(flatten)]
        by: Author,
    },
}
