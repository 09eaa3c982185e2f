//! `pos-sim reader`: the simulated reader for a person. Prints where it is, takes what hands do from the keyboard, a line
//! each, and shows the display when it changes.
#![allow(clippy::print_stdout, reason = "a person's program")]

use std::io::{self, BufRead, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::sync::mpsc;

use super::deck::{self, Card, DECK, Entry};
use super::device::{Key, PinPlan, Screen, WaitsFor};
use super::port::{Reader, start};
use super::{Options, Pace};
use crate::sim::keys::{TEST_KSN_PIN, TEST_KSN_SRED};

/// Arguments of `pos-sim reader`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Listen on this TCP address (a real device uses port 6543) instead of a pty.
    #[arg(long)]
    tcp: Option<SocketAddr>,
    /// Make this symbolic link to the pty.
    #[arg(long, conflicts_with = "tcp")]
    link: Option<PathBuf>,
    /// Serial number, 8 digits.
    #[arg(long, default_value = "30003638")]
    serial: String,
    /// Hold no SRED key: offer card data in clear, as a terminal must refuse it.
    #[arg(long)]
    unsecured: bool,
    /// Hold no PIN key.
    #[arg(long)]
    no_pin_key: bool,
    /// Sign this amount in minor units instead of the one asked for.
    #[arg(long, value_name = "MINOR_UNITS")]
    sign_amount: Option<u64>,
    /// Be another device that does not speak this protocol.
    #[arg(long)]
    wrong_device: bool,
    /// Send unsolicited messages before every answer.
    #[arg(long)]
    chatter: bool,
    /// Cut messages into packets of so many bytes.
    #[arg(long, default_value_t = crate::reader::link::MAX_APDU)]
    chain_size: usize,
    /// Write at most so many bytes at once.
    #[arg(long)]
    fragment: Option<usize>,
    /// Go on after so many keys of each key set and transactions of each card: a gateway refuses a reader that counts anew.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    counter: u16,
    /// Take no time for chips and keys.
    #[arg(long)]
    instant: bool,
    /// Leave the card in the slot until `remove`.
    #[arg(long)]
    leave_card: bool,
}

impl From<Args> for Options {
    fn from(args: Args) -> Self {
        Self {
            tcp: args.tcp,
            link: args.link,
            serial: args.serial,
            secured: !args.unsecured,
            pin_key: !args.no_pin_key,
            amount_override: args.sign_amount,
            wrong_device: args.wrong_device,
            chatter: args.chatter,
            chain_size: args.chain_size,
            fragment: args.fragment,
            pace: if args.instant { Pace::INSTANT } else { Pace::HUMAN },
            removes_card: !args.leave_card,
            atc: args.counter,
            card_ksn: TEST_KSN_SRED.with_counter(args.counter.into()),
            pin_ksn: TEST_KSN_PIN.with_counter(args.counter.into()),
            ..Self::default()
        }
    }
}

/// Runs until `quit` or the end of the input.
///
/// # Errors
/// When the port cannot be opened or the output is gone.
pub async fn run(args: Args) -> io::Result<()> {
    let reader = start(args.into()).await?;
    println!("reader at {}", reader.place());
    println!("{HELP}");
    let mut lines = keyboard();
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
insert CARD, tap CARD, swipe CARD, remove      what hands do; `cards` lists the cards
cancel, enter, clear, key DIGIT                keys
pin DIGITS, pin cancel|bypass|wait|right       what the cardholder does at the next PIN prompt
unplug, plug                                   the cable
help, quit";

/// Carries out one line.
///
/// # Errors
/// What a person did wrong.
pub fn carry_out(line: &str, reader: &Reader) -> Result<(), String> {
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (None, _) => {}
        (Some("help"), _) => println!("{HELP}"),
        (Some("cards"), _) => DECK.iter().for_each(|card| println!("{}", described(card))),
        (Some("insert"), name) => reader.present(named(name)?, Entry::Insert),
        (Some("tap"), name) => {
            let card = named(name)?;
            if reader.watch().borrow().waits_for != WaitsFor::Card {
                return Err("the reader does not wait for a tap; start a sale first".to_owned());
            }
            reader.present(card, Entry::Tap);
        }
        (Some("swipe"), name) => reader.present(named(name)?, Entry::Swipe),
        (Some("remove"), _) => reader.remove(),
        (Some("cancel"), _) => reader.key(Key::Cancel),
        (Some("enter"), _) => reader.key(Key::Enter),
        (Some("clear"), _) => reader.key(Key::Clear),
        (Some("key"), Some(digit)) => {
            reader.key(Key::Digit(digit.parse().ok().filter(|digit| *digit <= 9).ok_or("a key is one digit")?));
        }
        (Some("pin"), Some(plan)) => reader.plan_pin(match plan {
            "cancel" => PinPlan::Cancel,
            "bypass" => PinPlan::Bypass,
            "wait" => PinPlan::Hesitate,
            "right" => PinPlan::Right,
            digits if digits.bytes().all(|c| c.is_ascii_digit()) => PinPlan::Digits(digits.to_owned()),
            _ => return Err("pin takes digits, cancel, bypass, wait or right".to_owned()),
        }),
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
    format!("{:17} {}  {}", card.name, card.masked_pan('*'), entries.join(", "))
}

fn shown(screen: &Screen) -> String {
    let lines: Vec<_> = screen.lines.iter().map(|line| format!("| {line:21} |")).collect();
    lines.join("\n")
}

/// Lines of standard input, read on a thread of their own that ends with the program.
fn keyboard() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(8);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Program {
        #[command(flatten)]
        args: Args,
    }

    fn options(words: &str) -> Options {
        <Program as clap::Parser>::try_parse_from(words.split(' ')).unwrap().args.into()
    }

    #[test]
    fn arguments_become_options() {
        let plain = options("reader");
        assert!(plain.tcp.is_none() && plain.secured && plain.pin_key && plain.removes_card);
        assert_eq!(plain.pace, Pace::HUMAN);
        let other =
            options("reader --tcp 127.0.0.1:6543 --unsecured --no-pin-key --instant --leave-card --counter 1023");
        assert!(other.tcp.is_some() && !other.secured && !other.pin_key && !other.removes_card);
        assert_eq!((other.pace, other.atc), (Pace::INSTANT, 1023));
        assert_eq!(other.card_ksn.counter(), 1023);
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
            "key 5",
            "cancel",
            "",
            "unplug",
            "plug",
        ] {
            assert_eq!(carry_out(line, &reader), Ok(()), "{line}");
        }
        assert!(carry_out("insert gold", &reader).unwrap_err().contains("chip-pin"));
        for wrong in ["tap tap", "tap", "key 10", "key x", "pin blue", "dance"] {
            assert!(carry_out(wrong, &reader).is_err(), "{wrong}");
        }
    }
}
