//! `pos-agent setup`: asks for the settings of a new terminal, finds its devices, writes its configuration, and runs
//! the doctor.
//!
//! Setup writes nothing until the last question is answered. Each question also has an option, so setup can run without
//! a person.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};
use rustix::fs::{Access, access};
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::draft::{CA, Draft, left_behind};
use self::files::Placed;
use self::install::Install;
use self::tills::TillOptions;
use super::exit::{Exit, Stop};
use super::{doctor, out, person};
use crate::board;
use crate::config::{self, DEFAULT_PATH};
use crate::doctor::Agent;

pub(super) mod devices;
pub(super) mod draft;
pub(super) mod files;
pub(super) mod from;
pub(super) mod front_file;
pub(super) mod given;
pub(super) mod install;
pub(super) mod questions;
mod staff;
pub(super) mod system;
mod tills;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Setup asks for each setting that no option gives. With --yes, setup asks
nothing, and names the missing settings. The token is typed without being
shown, or read from a file or from standard input. It is never the value of an
option, because every user could see that value.

In the same folder, setup writes gateway-token (mode 0600) and, unless it
already exists, gateway-ca.pem. With the default --config, systemd gives the
token to the agent; with a different --config, the agent reads the file. For a
till or the cashier's page, setup also writes front.toml, and the till's
password or passphrase (mode 0600, owned by pos-front). pos-front checks its
settings, so pos-front must be installed. Setup asks for the till's settings in
the order of the options; --till zvt, nexo or page starts these questions.

Setup looks for a reader at a port only while no agent is running and no other
program is using the port, and never at the console. It takes the first reader,
and does not ask a device that calls itself a printer. Then it looks for a
printer at the ports that are left.

A file for --from holds the answers of many terminals. A secret is the path of
a file. Setup then also adds the operators, and writes the board's udev rules:

  terminal-id = \"12345678\"
  merchant = [\"Example Shop\", \"1 High Street\"]
  currency = \"EUR\"
  language = \"en\"
  time-zone = \"Europe/London\"

  [gateway]
  url = \"https://gateway.example\"
  entity-id = \"00000000000000000000000000000000\"
  ca = { file = \"ca.pem\" }
  token = { file = \"token\" }
  mode = \"live\"

  [till]
  kind = \"page\"

  [page]
  without-sign-in = \"board\"

  [[operator]]
  name = \"Anna\"
  role = \"supervisor\"
  pin = { file = \"anna.pin\" }

Other keys: board, country, max-amount, training = true, reader, journal,
printer = { port, columns }. In [till]: name, address = [\"192.168.1.20\"],
port, secret = { file }, rights, operator = true, and for nexo the options
below. In [page]: logo = { file }. In [system]: time-servers = [\"NAME\"],
wifi = { name, password = { file } }.

Examples:
  pos-agent setup
  pos-agent setup --till zvt
  pos-agent setup --from shop.toml --check
  pos-agent setup --from shop.toml --terminal-id 12345679
  pos-agent setup --yes --board raspberry-pi --terminal-id 12345678 \\
    --merchant 'Example Shop' --merchant '1 High Street' --currency EUR \\
    --gateway-url https://gateway.example \\
    --entity-id 00000000000000000000000000000000 \\
    --ca-file ./ca.pem --token-file - --mode live <token

Exit codes: 2 stopped, nothing was written; 64 an answer is missing or wrong;
74 a file cannot be read or written; 77 not permitted; 78 a configuration
already exists; else those of the doctor, which checks the result.")]
pub(super) struct Setup {
    /// The path of the configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_PATH)]
    config: PathBuf,
    /// Replace an existing configuration; the old file is kept in the same folder, and its values become the default
    /// answers
    #[arg(long)]
    replace: bool,
    /// Ask no questions
    #[arg(long)]
    yes: bool,
    /// Take the answers from this TOML file and ask nothing; an option replaces the file's answer
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// With --from: check the answers and the files that they name, name every fault, and write nothing
    #[arg(long, requires = "from")]
    check: bool,
    /// With --from: the folder for the board's udev rules, drop-in and time zone [default: /etc, with the default
    /// --config]
    #[arg(long, value_name = "DIR", requires = "from")]
    etc: Option<PathBuf>,
    /// The board, as `pos-agent boards` lists it, or the path of a board file
    #[arg(long, value_name = "NAME|FILE")]
    board: Option<String>,
    /// The terminal id from the acquirer
    #[arg(long, value_name = "DIGITS")]
    terminal_id: Option<String>,
    /// A line at the top of the receipt; repeat the option for more lines
    #[arg(long, value_name = "LINE")]
    merchant: Vec<String>,
    /// The country of the shop, for example FR: its law decides which receipts are printed [default: none]
    #[arg(long, value_name = "CODE|none")]
    country: Option<String>,
    /// The currency of sales, for example EUR
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
    /// Maximum amount of one payment, for example 5000.00, or none [default: about 5000 EUR in that currency]
    #[arg(long, value_name = "AMOUNT|none")]
    max_amount: Option<String>,
    /// The address of the gateway, https://…
    #[arg(long, value_name = "URL")]
    gateway_url: Option<String>,
    /// The gateway's id for this shop: 32 hex characters
    #[arg(long, value_name = "HEX")]
    entity_id: Option<String>,
    /// PEM file with the CA that signs the gateway's certificate; setup copies it next to the configuration
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// File with the gateway's bearer token, or - for standard input; setup copies it next to the configuration
    #[arg(long, value_name = "FILE|-")]
    token_file: Option<PathBuf>,
    /// A live system or a test system (`testMode` of the gateway)
    #[arg(long)]
    mode: Option<Mode>,
    /// The reader's port: a device, or tcp://host:6543
    #[arg(long, value_name = "PORT")]
    reader: Option<String>,
    /// The reader's protocol, if setup does not search for the reader
    #[arg(long, value_name = "PROTOCOL")]
    reader_protocol: Option<String>,
    /// The form of card data that the gateway decrypts, for protocols that need it (ask the acquirer)
    #[arg(long, value_name = "FORM")]
    sred_form: Option<String>,
    /// The country for the card, three digits of ISO 3166-1 (verifone-vipa)
    #[arg(long, value_name = "NUMBER")]
    terminal_country: Option<String>,
    /// The index of the acquirer in the reader's set-up (verifone-vipa)
    #[arg(long, value_name = "INDEX")]
    acquirer: Option<String>,
    /// The printer's port: a device, tcp://host:9100, or none
    #[arg(long, value_name = "PORT|none")]
    printer: Option<String>,
    /// Characters per line of the printer: 32, 42 or 48
    #[arg(long, value_name = "NUMBER")]
    columns: Option<String>,
    /// Do not run the doctor at the end, for example when you prepare the image of another board
    #[arg(long)]
    no_doctor: bool,
    #[command(flatten)]
    tills: TillOptions,
}

/// The system that processes the payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Real payments
    Live,
    /// The processor's test system (EXTERNAL)
    External,
    /// The gateway's own simulation (INTERNAL)
    Internal,
}

impl Setup {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        if !self.check {
            // A missing right is told later, by its own check.
            let _ = install::mend(&self.config);
        }
        if let Some(file) = &self.from {
            return self.run_from(file).await;
        }
        let earlier = self.earlier()?;
        let earlier_front = self.earlier_front()?;
        self.may_write()?;
        if !self.yes && !person::is_there() {
            return Err(Stop::new(
                Exit::Usage,
                "setup cannot ask questions here; give --yes and every answer as an option",
            ));
        }
        let agent = doctor::agent(&self.config).await;
        let mut missing = Vec::new();
        let mut draft = Draft::for_file(&self.config);
        if let Some((_, config)) = &earlier {
            draft.take_over(config);
        }
        let is_known = earlier.is_some();
        let board = self.board(&mut draft)?;
        self.shop(&mut draft, is_known, &mut missing)?;
        self.gateway(&mut draft, is_known, &mut missing)?;
        let token = self.token(&draft, &mut missing)?;
        self.mode(&mut draft, is_known, &mut missing)?;
        self.reader(&mut draft, &board, &agent, is_known, &mut missing).await?;
        let may_search = matches!(agent, Agent::Absent) && !missing.contains(&"--reader");
        self.printer(&mut draft, &board, is_known, may_search).await?;
        self.till(&mut draft, earlier_front.as_deref(), &mut missing)?;
        if !missing.is_empty() {
            let missing = missing.join(", ");
            return Err(Stop::new(
                Exit::Usage,
                format!("with --yes setup asks no questions; also give {missing}; nothing was written"),
            ));
        }
        // The board's file sets some values that no question asks for, so the whole configuration is checked.
        draft.config()?.check_values().map_err(|fault| Stop::new(Exit::Config, fault.to_string()))?;
        let mut ca = None;
        if draft.ca_file.parent() != self.config.parent() {
            ca = Some(fs::read(&draft.ca_file).map_err(|error| failed(&draft.ca_file, &error))?);
            draft.ca_file = self.config.with_file_name(CA);
        }
        let install = Install { draft, token, ca, staff: Vec::new() };
        self.write(install, (earlier.map(|(text, _)| text), earlier_front), &agent).await
    }

    /// Reads the earlier configuration, if there is one and it may be replaced.
    fn earlier(&self) -> Result<Option<(String, config::Config)>, Stop> {
        if !self.config.is_absolute() {
            return Err(Stop::new(Exit::Usage, "--config: must be an absolute path; begin the path with /"));
        }
        match fs::read_to_string(&self.config) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&self.config, &error)),
            Ok(_) if !self.replace => Err(Stop::new(Exit::Config, already_there(&self.config))),
            Ok(text) => match config::parse(&text, &self.config) {
                Ok(config) => Ok(Some((text, config))),
                Err(error) => {
                    out::aside(&format!("{error}; the values in this file are not offered"));
                    Ok(None)
                }
            },
        }
    }

    /// Checks before the first question that this user may write the files.
    fn may_write(&self) -> Result<(), Stop> {
        let there = self.config.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
        access(there, Access::WRITE_OK).map_err(|error| failed(there, &error.into()))
    }

    /// Shows what will be written, writes it, and runs the doctor.
    async fn write(
        &self,
        install: Install,
        (earlier, earlier_front): (Option<String>, Option<String>),
        agent: &Agent,
    ) -> Result<Exit, Stop> {
        let draft = &install.draft;
        let text = draft.text();
        let front = draft.front.as_ref().map(|front| (front.file.clone(), front.final_text()));
        if !self.yes && self.from.is_none() {
            out::say("");
            out::say_lines(&text);
            out::say("");
            let mut places = self.config.display().to_string();
            if let Some((file, text)) = &front {
                out::say_lines(text);
                out::say("");
                places += &format!(" and {}", file.display());
            }
            if !person::agrees(&format!("Write this configuration to {places}?"), true)? {
                return Err(person::gone());
            }
        }
        self.put(&install)?;
        let front = front.map(|(_, text)| text).filter(|_| earlier_front.is_some());
        for (earlier, new) in earlier.iter().zip([&text]).chain(earlier_front.iter().zip(&front)) {
            let left = left_behind(earlier, new);
            if !left.is_empty() {
                out::say(&format!(
                    "Not copied from the old file; add what you need to the new one: {}",
                    left.join(", ")
                ));
            }
        }
        if let Some(front) = &draft.front {
            front.prove()?;
        }
        self.next_steps(draft, agent);
        if self.no_doctor {
            return Ok(Exit::Success);
        }
        out::say("");
        prove(draft, matches!(agent, Agent::Absent)).await
    }

    /// Writes the files. Signals are held back until the end.
    fn put(&self, install: &Install) -> Result<(), Stop> {
        let _undisturbed = undisturbed()?;
        let ready = install.prepare()?;
        install.add_operators(&ready)?;
        let placed = ready.put(self.replace)?;
        placed.0.iter().for_each(|Placed { place, kept }| written(place, kept.as_deref()));
        Ok(())
    }

    fn next_steps(&self, draft: &Draft, agent: &Agent) {
        out::say("");
        out::say("Next:");
        if let (Ok(known), None) = (board::known(&draft.board), self.from.as_ref().and_then(|_| self.etc())) {
            let name = known.name;
            out::say(&format!("  pos-agent boards {name}: facts about the board"));
            out::say(&format!("  pos-agent boards {name} --write: its udev rules and drop-in, for serial ports"));
        }
        if !draft.has_credential() {
            let token = draft.token_file();
            out::say(&format!("  the agent's user must own {}", token.display()));
        }
        out::say(match agent {
            Agent::Absent => "  systemctl enable --now pos-agent, then pos-agent status",
            _ => "  systemctl restart pos-agent: the running agent is using the old configuration",
        });
        if let Some(front) = &draft.front {
            front.next_steps(!matches!(agent, Agent::Absent));
        }
    }
}

/// This program. It can be run again, also when an upgrade has replaced its file.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Runs the doctor in a separate process, whose environment names the token's folder as systemd would.
async fn prove(draft: &Draft, is_before_start: bool) -> Result<Exit, Stop> {
    let mut command = Command::new(OWN_PROGRAM);
    command.arg("doctor").arg("--config").arg(&draft.file);
    if is_before_start {
        command.arg("--before-start");
    }
    if let (true, Some(folder)) = (draft.has_credential(), draft.token_file().parent()) {
        command.env("CREDENTIALS_DIRECTORY", folder);
    }
    let ended = tokio::task::spawn_blocking(move || command.status()).await;
    let status = ended.map_err(io::Error::other).and_then(|status| status);
    let status = status.map_err(|error| Stop::new(Exit::Software, format!("the doctor cannot start: {error}")))?;
    Ok(match status.code() {
        Some(0) => Exit::Success,
        Some(75) => Exit::Attention,
        Some(74) => Exit::Io,
        Some(78) => Exit::Config,
        _ => Exit::NotSent,
    })
}

/// Holds back Ctrl-C, SIGTERM and the closing of the terminal window until the returned value is dropped.
pub(super) fn undisturbed() -> Result<[Signal; 3], Stop> {
    let hold =
        |kind| signal(kind).map_err(|error| Stop::new(Exit::Software, format!("signals cannot be handled: {error}")));
    Ok([hold(SignalKind::interrupt())?, hold(SignalKind::terminate())?, hold(SignalKind::hangup())?])
}

/// Creates a folder that the agent's user can read, regardless of this user's umask.
fn make(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

pub(super) fn written(place: &Path, kept: Option<&Path>) {
    let kept = kept.map(|kept| format!("; the old one is {}", kept.display())).unwrap_or_default();
    out::say(&format!("Written: {}{kept}", place.display()));
}

fn already_there(file: &Path) -> String {
    let file = file.display();
    format!("{file} exists and was not changed; use --replace to write a new file and keep the old one next to it")
}

pub(super) fn failed(file: &Path, error: &io::Error) -> Stop {
    let file = file.display();
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Stop::new(Exit::NoPermission, format!("{file}: {error}; run this command as root (sudo pos-agent setup)"))
        }
        io::ErrorKind::AlreadyExists => Stop::new(
            Exit::Config,
            format!(
                "{file} was created in the meantime and was not changed; check the file, then use --replace to replace \
                 it"
            ),
        ),
        _ => Stop::new(Exit::Io, format!("{file}: {error}; check the path and the disk, then start again")),
    }
}
