//! `pos-sim reader`: the simulated reader for a person. It prints its address, reads one command per line from the
//! keyboard, and shows the display when it changes.
#![allow(clippy::print_stdout, reason = "a person's program")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::cardholder::ChoicePlan;
use super::deck::{self, Card, CardEntry, DECK};
use super::display::{Screen, WaitsFor};
use super::handle::Reader;
use super::port::start;
use super::script::{self, Script};
use super::{Dukpt, Family, Neo2Settings, Options, Pace, VipaSettings};
use crate::typed;

/// The arguments of `pos-sim reader`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_long_help = script::help())]
pub struct Args {
    /// The family of the reader, with its own protocol
    #[arg(long, value_enum, default_value_t = Family::Miura)]
    family: Family,
    /// The connection: a pty, or TCP (see --listen)
    #[arg(long, value_enum, default_value_t = Transport::Pty)]
    transport: Transport,
    /// The TCP address to listen on [default with --transport tcp: 127.0.0.1 and the port of a real device: miura 6543,
    /// vipa 16107]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The same as --transport tcp --listen ADDRESS.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "listen")]
    tcp: Option<SocketAddr>,
    /// Connect to the terminal at this TCP address, which must listen; the reader is the client
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["tcp", "listen", "transport"])]
    connect: Option<SocketAddr>,
    /// Create this symbolic link to the pty
    #[arg(long, value_name = "PATH", conflicts_with_all = ["tcp", "listen", "connect"])]
    link: Option<PathBuf>,
    /// Serial number, 8 digits.
    #[arg(long, default_value = "30003638")]
    serial: String,
    /// Hold an SRED key; with --secured=false, send card data in clear, which a terminal must refuse
    #[arg(long, action = clap::ArgAction::Set, default_value_t = true, num_args = 0..=1, require_equals = true,
          default_missing_value = "true")]
    secured: bool,
    /// The same as --secured=false.
    #[arg(long, conflicts_with = "secured")]
    unsecured: bool,
    /// The key derivation for card data and PIN
    #[arg(long, value_enum, default_value_t = Kind::Tdes)]
    dukpt: Kind,
    /// Hold no PIN key.
    #[arg(long)]
    no_pin_key: bool,
    /// Behave as another version of the reader does; may be given several times
    #[arg(long, value_enum, value_name = "VARIANT")]
    variant: Vec<Variant>,
    /// The number of keys left in each key set, to test used-up keys
    #[arg(long, value_name = "NUMBER", conflicts_with = "counter")]
    keys_left: Option<u16>,
    /// Run the script in this file (see below)
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Sign this amount (in minor units) instead of the requested amount
    #[arg(long, value_name = "MINOR_UNITS")]
    sign_amount: Option<u64>,
    /// Act as a different device, which does not use this protocol
    #[arg(long)]
    wrong_device: bool,
    /// Send unsolicited messages before each answer
    #[arg(long)]
    chatter: bool,
    /// Maximum size of a packet in bytes; longer messages are split
    #[arg(long, default_value_t = pos_reader_link::apdu_link::MAX_APDU)]
    chain_size: usize,
    /// Maximum number of bytes per write
    #[arg(long)]
    fragment: Option<usize>,
    /// Start after this number of keys in each key set and transactions of each card; a gateway refuses a reader that
    /// starts its counters again
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    counter: u16,
    /// Answer for chips and keys without delay
    #[arg(long)]
    instant: bool,
    /// Leave the card in the slot until the command `remove`
    #[arg(long)]
    leave_card: bool,
}

/// A behaviour of other versions of a reader, for what the protocol's description leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Variant {
    /// vipa: the PIN block comes inside FF7F
    PinInFf7f,
    /// vipa: an online PIN is entered before the E4, which has its block
    PinInE4,
    /// vipa: a bypassed PIN is answered by 9000 without a body
    EmptyBypass,
    /// vipa: the value 00 of C0 approves
    C0ZeroApproves,
    /// vipa: the answer to CARD STATUS is flagged as unsolicited
    UnsolicitedStatus,
    /// neo2: a cancelled command gets a response too
    AnsweredCancel,
    /// neo2: no attribution byte stands before the elements
    NoAttribution,
    /// neo2: ACTIVATE has a first response, as START has
    TwoResponses,
    /// neo2: the masked track 2 shows the service code
    ShownServiceCode,
    /// neo2: the kernel sends a text and waits for the host's answer
    KernelTexts,
}

/// The connection on which the reader listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Transport {
    Pty,
    Tcp,
}

/// A kind of encryption keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// TDES DUKPT with KSNs of 10 bytes and PIN blocks of format 0.
    Tdes,
    /// AES DUKPT with KSNs of 12 bytes and PIN blocks of format 4.
    Aes,
}

impl TryFrom<Args> for Options {
    type Error = io::Error;

    /// Makes the options, and reads the script.
    fn try_from(args: Args) -> io::Result<Self> {
        let script = args.script.as_deref().map(read_script).transpose()?.unwrap_or_default();
        let tcp = match (args.tcp.or(args.listen), args.transport) {
            (Some(address), _) => Some(address),
            (None, Transport::Tcp) if args.link.is_some() => return Err(wrong("--link is for a pty, not for TCP")),
            (None, Transport::Tcp) => {
                let port = args.family.port();
                let port = port.ok_or_else(|| wrong("this family has no port of its own; name one with --listen"))?;
                Some(SocketAddr::from(([127, 0, 0, 1], port)))
            }
            (None, Transport::Pty) => None,
        };
        let keys = match args.dukpt {
            Kind::Tdes => Dukpt::TDES,
            Kind::Aes => Dukpt::AES,
        };
        let is = |variant| args.variant.contains(&variant);
        let vipa = VipaSettings {
            pin_in_ff7f: is(Variant::PinInFf7f),
            pin_in_e4: is(Variant::PinInE4),
            bypass_is_empty: is(Variant::EmptyBypass),
            approves: u8::from(!is(Variant::C0ZeroApproves)),
            status_is_unsolicited: is(Variant::UnsolicitedStatus),
        };
        let neo2 = Neo2Settings {
            answers_cancelled: is(Variant::AnsweredCancel),
            attributes: !is(Variant::NoAttribution),
            activate_has_two_responses: is(Variant::TwoResponses),
            shows_service_code: is(Variant::ShownServiceCode),
            sends_texts: is(Variant::KernelTexts),
        };
        Ok(Self {
            family: args.family,
            vipa,
            neo2,
            tcp,
            connect: args.connect,
            link: args.link,
            serial: args.serial,
            secured: args.secured && !args.unsecured,
            pin_key: !args.no_pin_key,
            amount_override: args.sign_amount,
            wrong_device: args.wrong_device,
            chatter: args.chatter,
            chain_size: args.chain_size,
            fragment: args.fragment,
            pace: if args.instant { Pace::INSTANT } else { Pace::HUMAN },
            removes_card: !args.leave_card,
            atc: args.counter,
            dukpt: match args.keys_left {
                Some(left) => keys.with_keys_left(left.into()),
                None => keys.with_counter(args.counter.into()),
            },
            script,
            ..Self::default()
        })
    }
}

fn wrong(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.to_string())
}

/// Reads the script from a file, up to the maximum length of a script.
///
/// # Errors
///
/// Fails if the file cannot be read, or is no script.
pub fn read_script(path: &Path) -> io::Result<Script> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("--script {}: {error}", path.display()));
    let mut bytes = Vec::new();
    let limit = u64::try_from(script::MAX_TEXT).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(named)?;
    let text = String::from_utf8(bytes).map_err(|_| named(wrong("not text (UTF-8)")))?;
    text.parse().map_err(|error: script::ScriptError| named(wrong(error)))
}

/// Runs until `quit` or the end of the input.
///
/// # Errors
///
/// Fails if the script cannot be read, the port cannot be opened, or the output is closed.
pub async fn run(args: Args) -> io::Result<()> {
    let reader = start(args.try_into()?).await?;
    println!("reader at {}", reader.place());
    println!("{HELP}");
    let mut lines = typed::lines();
    let mut screen = reader.watch();
    screen.mark_changed();
    loop {
        tokio::select! {
            line = lines.recv() => match line.as_deref() {
                None | Some("quit" | "q") => return Ok(()),
                Some(line) => match carry_out(line, &reader) {
                    Ok(()) => {}
                    Err(wrong) => println!("{wrong}"),
                },
            },
            Ok(()) = screen.changed() => println!("{}", shown(&screen.borrow_and_update())),
        }
        io::stdout().flush()?;
    }
}

const HELP: &str = "\
insert CARD, tap CARD, swipe CARD, remove      actions with a card; `cards` lists the cards
cancel, enter, clear, key DIGIT                keys
pin DIGITS|right|wrong|cancel|bypass|wait      the cardholder's action at the next PIN prompt
choose NUMBER|wait                             the cardholder's action at the next list of applications
unplug, plug, reboot                           cable and power
help, quit";

/// Carries out one line.
///
/// # Errors
///
/// Returns the mistake in the line.
pub fn carry_out(line: &str, reader: &Reader) -> Result<(), String> {
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (None, _) => {}
        (Some("help"), _) => println!("{HELP}"),
        (Some("cards"), _) => DECK.iter().for_each(|card| println!("{}", described(card))),
        (Some("insert"), name) => reader.present(named(name)?, CardEntry::Insert),
        (Some("tap"), name) => {
            let card = named(name)?;
            if reader.watch().borrow().waits_for != WaitsFor::Card {
                return Err("the reader is not waiting for a tap; start a sale first".to_owned());
            }
            reader.present(card, CardEntry::Tap);
        }
        (Some("swipe"), name) => reader.present(named(name)?, CardEntry::Swipe),
        (Some("remove"), _) => reader.remove(),
        (Some(key @ ("cancel" | "enter" | "clear")), _) | (Some("key"), Some(key)) => {
            reader.key(script::parse::key(key).map_err(|wrong| wrong.to_string())?);
        }
        (Some("pin"), Some(plan)) => {
            let plan = if plan == "wait" { "nothing" } else { plan };
            reader.plan_pin(script::parse::pin_plan(plan).map_err(|wrong| wrong.to_string())?);
        }
        (Some("choose"), Some("wait")) => reader.plan_choice(ChoicePlan::Hesitate),
        (Some("choose"), Some(number)) => {
            let number = number.parse().map_err(|_| "choose takes a number from 1, or wait")?;
            reader.plan_choice(ChoicePlan::Number(number));
        }
        (Some("reboot"), _) => reader.reboot(),
        (Some("unplug"), _) => reader.unplug(),
        (Some("plug"), _) => {
            reader.replug().map_err(|error| error.to_string())?;
            println!("reader at {}", reader.place());
        }
        (Some(other), _) => return Err(format!("\"{other}\" is unknown; try help")),
    }
    Ok(())
}

fn named(name: Option<&str>) -> Result<&'static Card, String> {
    name.and_then(deck::card).ok_or_else(|| {
        let names: Vec<_> = DECK.iter().map(|card| card.name).collect();
        format!("name a card: {}", names.join(", "))
    })
}

fn described(card: &Card) -> String {
    let entries: Vec<_> = card.entries().iter().map(|entry| format!("{entry:?}").to_lowercase()).collect();
    format!("{:17} {:19}  {:13} {}", card.name, card.masked_pan('*'), entries.join(", "), card.about)
}

fn shown(screen: &Screen) -> String {
    let lines: Vec<_> = screen.lines.iter().map(|line| format!("| {line:21} |")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Program {
        #[command(flatten)]
        args: Args,
    }

    fn parsed(words: &str) -> Result<Options, String> {
        let program = <Program as clap::Parser>::try_parse_from(words.split(' ')).map_err(|error| error.to_string())?;
        program.args.try_into().map_err(|error: io::Error| error.to_string())
    }

    fn options(words: &str) -> Options {
        parsed(words).unwrap()
    }

    #[test]
    fn arguments_become_options() {
        let plain = options("reader");
        assert!(plain.tcp.is_none() && plain.secured && plain.pin_key && plain.removes_card);
        assert_eq!((plain.pace, plain.dukpt), (Pace::HUMAN, Dukpt::TDES));
        let other =
            options("reader --tcp 127.0.0.1:6543 --unsecured --no-pin-key --instant --leave-card --counter 1023");
        assert!(other.tcp.is_some() && !other.secured && !other.pin_key && !other.removes_card);
        assert_eq!((other.pace, other.atc), (Pace::INSTANT, 1023));
        assert_eq!(other.dukpt, Dukpt::TDES.with_counter(1023));
        assert!(!options("reader --secured=false").secured && options("reader --secured").secured);
        assert_eq!(options("reader --dukpt aes").dukpt, Dukpt::AES);
        assert_eq!(options("reader --dukpt aes --keys-left 3").dukpt, Dukpt::AES.with_keys_left(3));
    }

    #[test]
    fn the_line_is_a_pty_or_tcp() {
        for (words, address) in [
            ("reader --transport pty", None),
            ("reader --transport tcp", Some("127.0.0.1:6543")),
            ("reader --transport tcp --listen 127.0.0.1:7000", Some("127.0.0.1:7000")),
            ("reader --listen 127.0.0.1:7000", Some("127.0.0.1:7000")),
            ("reader --tcp 127.0.0.1:7000", Some("127.0.0.1:7000")),
        ] {
            assert_eq!(options(words).tcp, address.map(|text| text.parse().unwrap()), "{words}");
        }
        assert_eq!(options("reader --family vipa --transport tcp").tcp, Some("127.0.0.1:16107".parse().unwrap()));
        assert!(parsed("reader --family neo2 --transport tcp").unwrap_err().contains("--listen"));
        let varied = options("reader --family vipa --variant pin-in-e4 --variant c0-zero-approves");
        assert_eq!(varied.vipa, VipaSettings { pin_in_e4: true, approves: 0, ..VipaSettings::default() });
        assert_eq!(options("reader --family neo2").neo2, Neo2Settings::default());
        assert_eq!(options("reader").vipa, VipaSettings::default());
        assert_eq!(options("reader --connect 127.0.0.1:7000").connect, Some("127.0.0.1:7000".parse().unwrap()));
        assert_eq!(options("reader --link /tmp/reader").link, Some("/tmp/reader".into()));
        for words in [
            "reader --tcp 127.0.0.1:1 --listen 127.0.0.1:2",
            "reader --tcp 127.0.0.1:1 --link x",
            "reader --tcp 127.0.0.1:1 --connect 127.0.0.1:2",
            "reader --family square",
            "reader --transport tcp --link x",
            "reader --transport usb",
            "reader --keys-left 1 --counter 1",
            "reader --secured=perhaps",
            "reader --dukpt des",
        ] {
            assert!(parsed(words).is_err(), "{words}");
        }
    }

    #[test]
    fn a_script_is_read_or_named_with_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scenario");
        let words = format!("reader --script {}", file.display());
        assert!(parsed(&words).unwrap_err().starts_with(&format!("--script {}: ", file.display())));
        std::fs::write(&file, "on waiting: tap tap\n").unwrap();
        assert_eq!(options(&words).script, "on waiting: tap tap".parse().unwrap());
        std::fs::write(&file, "on waiting: tap tap\non waitin: tap tap\n").unwrap();
        assert!(
            parsed(&words).unwrap_err().ends_with("line 2: \"waitin\" is not a known event; did you mean \"waiting\"?")
        );
        std::fs::write(&file, [0xFF, 0xFE]).unwrap();
        assert!(parsed(&words).unwrap_err().contains("not text"));
        std::fs::write(&file, " ".repeat(script::MAX_TEXT + 10)).unwrap();
        assert!(parsed(&words).unwrap_err().contains("64 KiB"));
    }

    #[tokio::test]
    async fn what_a_person_types_is_carried_out_or_explained() {
        let reader = start(Options::default()).await.unwrap();
        for line in [
            "insert chip-pin",
            "remove",
            "swipe swipe",
            "pin 9999",
            "pin wait",
            "pin wrong",
            "choose 2",
            "choose wait",
            "reboot",
            "key 5",
            "cancel",
            "",
            "unplug",
            "plug",
        ] {
            assert_eq!(carry_out(line, &reader), Ok(()), "{line}");
        }
        assert!(carry_out("insert gold", &reader).unwrap_err().contains("chip-pin"));
        for wrong in ["tap tap", "tap", "key 10", "key x", "pin blue", "choose x", "dance"] {
            assert!(carry_out(wrong, &reader).is_err(), "{wrong}");
        }
    }
}
