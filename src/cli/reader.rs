//! `pos-agent reader`: what a technician does with a card reader without the agent. `identify` finds out which family
//! of readers answers at a port. `trace` records a reader.

mod trace;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::exit::{Exit, Stop};
use super::out;
use super::setup::devices::{self, who};
use super::setup::questions;
use crate::board;
use pos_reader::identify::{Attempt, FoundReader};

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Reader {
    #[command(subcommand)]
    verb: ReaderVerb,
}

#[derive(Debug, Subcommand)]
enum ReaderVerb {
    /// Find out which family of readers answers at a port, and at which line speed
    Identify(Identify),
    /// Read one card without charging it, and print each frame with its meaning, without card data
    Trace(trace::Trace),
}

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
The reader is asked only for its identity and its keys: nothing is set, and no
card is read. Each family is asked at its usual line speeds, one after another.
Without a port, the ports of the board are searched in the order of setup. A
port that another program uses is left out. So is a device that calls itself a
printer, because it would print the questions.

Stop the agent first, because it uses the reader's port.

Examples:
  pos-agent reader identify                        search the board's ports
  pos-agent reader identify /dev/ttyUSB0
  pos-agent reader identify tcp://192.0.2.7:16107")]
pub(super) struct Identify {
    /// The port: a device, or tcp://host:port
    port: Option<String>,
    /// The board, as `pos-agent boards` lists it [default: the recognised one]
    #[arg(long)]
    board: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Reader {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        match self.verb {
            ReaderVerb::Identify(verb) => verb.run().await,
            ReaderVerb::Trace(verb) => verb.run().await,
        }
    }
}

/// The result of a search, for a program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IdentifiedReader<'a> {
    port: &'a str,
    protocol: &'static str,
    baud: u32,
    serial: &'a str,
    model: &'a str,
    firmware: &'a str,
    card_key: bool,
    pin_key: bool,
    experimental: bool,
}

impl Identify {
    async fn run(self) -> Result<Exit, Stop> {
        let name = self.board.as_deref().unwrap_or_else(|| questions::usual_board());
        let board = board::load(name)?;
        let ports = match &self.port {
            Some(port) => vec![port.clone()],
            None => devices::searched_ports(&board),
        };
        if ports.is_empty() {
            return Err(Stop::new(Exit::NotSent, "no serial port may have a reader; give its port"));
        }
        let mut reasons = Vec::new();
        for port in &ports {
            let told = |(protocol, baud): Attempt| {
                out::aside(&format!("{port}: asking for {} at {baud} baud", protocol.name()));
            };
            match devices::identified(port, board.reader_baud, told).await {
                Ok(found) => {
                    self.tell(port, &found);
                    return Ok(Exit::Success);
                }
                Err(why) => reasons.push(format!("{port}: {why}")),
            }
        }
        Err(Stop::new(Exit::NotSent, reasons.join("\n")))
    }

    fn tell(&self, port: &str, found: &FoundReader) {
        let FoundReader { protocol, baud, identity, card_key } = found;
        if self.json {
            return out::say_json(&IdentifiedReader {
                port,
                protocol: protocol.name(),
                baud: *baud,
                serial: &identity.serial,
                model: &identity.model,
                firmware: &identity.firmware,
                card_key: *card_key,
                pin_key: identity.pin_key,
                experimental: protocol.is_experimental(),
            });
        }
        out::say(&format!("{port}: {}", who(*protocol, identity, *card_key)));
        out::say(&format!("In [reader]: protocol = \"{}\", baud = {baud}", protocol.name()));
        if protocol.is_experimental() {
            out::say("This family is experimental: no sale with a real reader of it is known yet.");
        }
    }
}
