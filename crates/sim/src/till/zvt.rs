//! A ZVT till. It registers, sends one command, acknowledges the terminal's messages, and prints them to standard
//! output.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use pos_protocols::zvt::answer::TerminalMessage;
use pos_protocols::zvt::apdu::{Apdu, Control, Splitter};
use pos_protocols::zvt::bmp::Fields;
use pos_protocols::zvt::code;
use pos_protocols::zvt::command::{Command, Guarded, Password, Registration};
use pos_protocols::zvt::text::Charset;
use pos_protocols::zvt::trace;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use pos_terms::money::{Amount, Currency};

/// T4: the time that a till waits for the end of a command.
const T4: Duration = Duration::from_secs(180);
/// T3: the time that a till waits for the answer to a command.
const T3: Duration = Duration::from_secs(5);

/// `pos-sim till zvt`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ctrl-C while a payment is waiting for its card sends an abort (06 B0); a second Ctrl-C closes the connection.\n\n\
Examples:\n  \
pos-sim till zvt pay 12.50                       a payment; `repeat` shows its outcome\n  \
pos-sim till zvt --at 192.168.1.30:20007 diagnosis\n  \
pos-sim till zvt --print terminal pay 12.50      the terminal prints\n  \
pos-sim till zvt pay 12.50 --acknowledge never   the till is off when the approval comes\n  \
pos-sim till zvt void 17\n  \
pos-sim till zvt end-of-day")]
pub(super) struct Args {
    /// The address of the terminal
    #[arg(long, default_value = "127.0.0.1:20007")]
    at: SocketAddr,
    /// The password: six digits, as in the password-file of `[[zvt]]`
    #[arg(long, default_value_t = 123_456, value_parser = clap::value_parser!(u32).range(..1_000_000))]
    password: u32,
    /// ISO 4217 code; the terminal accepts only its currency
    #[arg(long, default_value = "EUR", value_parser = super::currency)]
    currency: Currency,
    /// The device that prints the receipts
    #[arg(long, value_enum, default_value_t = Print::Till)]
    print: Print,
    /// Also print each APDU as a line
    #[arg(long)]
    trace: bool,
    #[command(subcommand)]
    command: Wish,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Print {
    /// The till; the terminal sends it text blocks
    Till,
    /// The terminal
    Terminal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Acknowledge {
    /// Accept the approval
    Yes,
    /// Refuse the approval: 84 05
    No,
    /// Do not answer, and close the connection
    Never,
}

#[derive(Debug, Subcommand)]
enum Wish {
    /// 06 01
    Pay {
        amount: String,
        /// The reply to an approval
        #[arg(long, value_enum, default_value_t = Acknowledge::Yes)]
        acknowledge: Acknowledge,
    },
    /// 06 22
    Reserve { amount: String },
    /// 06 24: capture an amount of a pre-authorisation [default: the whole remaining amount]
    Capture { receipt: u16, amount: Option<String> },
    /// 06 25: release a pre-authorisation
    Release { receipt: u16 },
    /// 06 30
    Void { receipt: u16 },
    /// 06 20: the outcome of the last command
    Repeat,
    /// 06 10
    Totals,
    /// 06 50
    EndOfDay,
    /// 06 70
    Diagnosis,
    /// 05 01
    Status,
}

/// Registers, and carries out one command.
pub(super) async fn run(args: Args) -> io::Result<u8> {
    let command = command(&args)?;
    let connect = TcpStream::connect(args.at);
    let stream = timeout(T3, connect).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let stream = stream.map_err(|error| {
        io::Error::new(error.kind(), format!("{}: {error}; check that the front is running", args.at))
    })?;
    stream.set_nodelay(true)?;
    let mut till = Till { stream, splitter: Splitter::default(), waiting: Vec::new(), trace: args.trace };
    let mut fields = Fields::default();
    fields.set_tlv(0x26, &[0x0A, 2, 6, 0xD3]);
    // With bits 02, 04 and 80, the till gets the receipts. With bit 08, it gets the progress.
    let config = if args.print == Print::Till { 0x8E } else { 0x08 };
    let currency = Some(args.currency.to_bcd());
    let registration = Registration { password: Password(args.password), config, currency, fields };
    till.does(&Command::Registration(registration), Acknowledge::Yes).await?;
    let acknowledge = if let Wish::Pay { acknowledge, .. } = args.command { acknowledge } else { Acknowledge::Yes };
    till.does(&command, acknowledge).await
}

fn command(args: &Args) -> io::Result<Command> {
    let wrong = |error: &dyn std::fmt::Display| io::Error::new(io::ErrorKind::InvalidInput, error.to_string());
    let money = |amount: &str| {
        let amount = Amount::parse(amount, args.currency).map_err(|error| wrong(&error))?;
        let mut fields = Fields::default();
        fields.set_number(0x04, amount.minor());
        fields.set(0x49, args.currency.to_bcd());
        Ok::<_, io::Error>(fields)
    };
    let of = |receipt: u16, mut fields: Fields| {
        fields.set_number(0x87, u64::from(receipt));
        fields
    };
    let guarded = |fields| Guarded { password: Some(Password(args.password)), fields };
    Ok(match &args.command {
        Wish::Pay { amount, .. } => Command::Authorisation(money(amount)?),
        Wish::Reserve { amount } => Command::PreAuthorisation(money(amount)?),
        Wish::Capture { receipt, amount } => {
            let fields = amount.as_deref().map(money).transpose()?;
            Command::BookTotal(of(*receipt, fields.unwrap_or_default()))
        }
        Wish::Release { receipt } => Command::PreAuthorisationReversal(of(*receipt, Fields::default())),
        Wish::Void { receipt } => Command::Reversal(guarded(of(*receipt, Fields::default()))),
        Wish::Repeat => {
            let mut fields = Fields::default();
            fields.set(0x03, [0x01]);
            Command::RepeatReceipt(guarded(fields))
        }
        Wish::Totals => Command::Totals(guarded(Fields::default())),
        Wish::EndOfDay => Command::EndOfDay(guarded(Fields::default())),
        Wish::Diagnosis => Command::Diagnosis(Fields::default()),
        Wish::Status => Command::StatusEnquiry(Fields::default()),
    })
}

struct Till {
    stream: TcpStream,
    splitter: Splitter,
    waiting: Vec<Apdu>,
    trace: bool,
}

impl Till {
    async fn send(&mut self, apdu: &Apdu) -> io::Result<()> {
        if self.trace {
            say(&format!("▶ {}", trace::line(apdu)));
        }
        self.stream.write_all(&apdu.encode()).await
    }

    async fn hear(&mut self, until: Instant) -> io::Result<Apdu> {
        let mut chunk = [0; 4096];
        while self.waiting.is_empty() {
            let silent = || {
                io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the terminal is not answering; use `repeat` to see the outcome",
                )
            };
            let count = timeout_at(until, self.stream.read(&mut chunk)).await.map_err(|_| silent())??;
            let mut bytes = chunk.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal has closed the line"));
            }
            self.waiting.extend(std::iter::from_fn(|| self.splitter.next(&mut bytes)));
        }
        let apdu = self.waiting.remove(0);
        if self.trace {
            say(&format!("◀ {}", trace::line(&apdu)));
        }
        Ok(apdu)
    }

    /// Sends a command, and acknowledges messages until the command ends.
    async fn does(&mut self, command: &Command, acknowledge: Acknowledge) -> io::Result<u8> {
        self.send(&command.apdu()).await?;
        let answer = self.hear(Instant::now() + T3).await?;
        match answer.control {
            control if !control.is_answer() => {
                return Err(io::Error::other(format!("received {control} instead of an answer")));
            }
            Control(0x84, code) if code != 0 => {
                say(&format!("refused: {code:02X} {}", code::meaning(code)));
                return Ok(1);
            }
            _ => {}
        }
        let (mut until, mut aborts) = (Instant::now() + T4, false);
        loop {
            let apdu = tokio::select! {
                heard = self.hear(until) => heard?,
                _ = tokio::signal::ctrl_c(), if !aborts => {
                    aborts = true;
                    self.send(&Apdu::empty(Control::TILL_ABORT)).await?;
                    continue;
                }
            };
            if apdu.control.is_answer() {
                say(if apdu.control.0 == 0x80 { "the terminal is stopping the payment" } else { "too late to stop" });
                continue;
            }
            let told = TerminalMessage::read(&apdu).map_err(io::Error::other)?;
            let approval = matches!(&told, TerminalMessage::Status(fields) if fields.byte(0x27) == Some(0));
            match (approval, acknowledge) {
                (true, Acknowledge::Never) => {
                    say("04 0F has arrived; the line is cut");
                    return Ok(1);
                }
                (true, Acknowledge::No) => self.send(&Apdu::refused(code::DECLINED)).await?,
                _ => self.send(&Apdu::ok()).await?,
            }
            if matches!(apdu.control, Control::INTERMEDIATE | Control::STATUS) {
                until = Instant::now() + T4;
            }
            if let Some(code) = shown(&told) {
                return Ok(code);
            }
        }
    }
}

/// Prints a message. At the end of a command, returns the exit code.
fn shown(told: &TerminalMessage) -> Option<u8> {
    match told {
        TerminalMessage::Intermediate(status) => say(&format!("… {status:02X}")),
        TerminalMessage::Status(fields) => say(&status(fields)),
        TerminalMessage::Line(_, text) => say(&format!("  | {}", Charset::Cp437.decode(text))),
        TerminalMessage::Block(lines, _) => {
            lines.iter().for_each(|line| say(&format!("  | {}", Charset::Cp437.decode(line))))
        }
        TerminalMessage::Completion(_) => {
            say("done");
            return Some(0);
        }
        TerminalMessage::Aborted { code, fields } => {
            let receipt = fields.number(0x87).ok().flatten().map(|number| format!(", receipt {number}"));
            say(&format!("ended: {code:02X} {}{}", code::meaning(*code), receipt.unwrap_or_default()));
            return Some(1);
        }
        TerminalMessage::Ok | TerminalMessage::Refused(_) | TerminalMessage::Other(_) => {}
    }
    None
}

fn status(fields: &Fields) -> String {
    let result = fields.byte(0x27).unwrap_or(0);
    let number = |bmp| fields.number(bmp).ok().flatten();
    let mut line = format!("{result:02X} {}", code::meaning(result));
    for (name, value) in [("amount", number(0x04)), ("receipt", number(0x87)), ("trace", number(0x0B))] {
        line.extend(value.map(|value| format!(", {name} {value}")));
    }
    for (name, bmp) in [("card", 0x8B), ("", 0x3C)] {
        line.extend(fields.get(bmp).map(|text| format!(", {name} {}", Charset::Cp437.decode(text))));
    }
    line
}

/// Prints a line, and ignores a closed standard output.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
