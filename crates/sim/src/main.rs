//! `pos-sim`: the simulator of the devices and services around the agent. It runs one device with its real protocol, or
//! a whole shop.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use pos_sim::{fault, fleet, gateway_args as gateway, printer, reader, shop, till};

/// The simulated world around pos-agent: reader, gateway, printer, faults on a line, or a whole shop.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    device: Device,
}

#[derive(Subcommand)]
enum Device {
    /// A whole shop with a real agent (`cargo demo`).
    Demo(shop::demo::Args),
    /// A card reader (Miura MPI) on a pty or TCP, with a deck of test cards
    Reader(reader::args::Args),
    /// The payment gateway over HTTPS, with its own CA.
    Gateway(gateway::Args),
    /// A receipt printer on TCP or a pty that shows its paper as text and as pictures
    Printer(printer::Args),
    /// A till that uses ZVT or the Terminal API to talk to a terminal
    Till(till::Args),
    /// Faults on a TCP connection: delay, loss, flipped bits, cuts.
    Fault(fault::FaultArgs),
    /// Many terminals at the broker of a fleet, each with an identity and a journal of its own.
    Fleet(fleet::FleetArgs),
}

/// `EX_USAGE` of sysexits.
const USAGE: u8 = 64;
/// `EX_SOFTWARE` of sysexits.
const SOFTWARE: u8 = 70;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // If the terminal is gone, no one can see the error.
            let _ = error.print();
            // clap's exit code 2 would mean a cancelled transaction, because `demo --once` ends with its transaction's
            // code.
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    let done = match cli.device {
        Device::Demo(args) => shop::demo::run(args).await,
        Device::Reader(args) => reader::args::run(args).await.map(|()| 0),
        Device::Gateway(args) => gateway::run(args).await.map(|()| 0),
        Device::Printer(args) => printer::run(args).await.map(|()| 0),
        Device::Till(args) => till::run(args).await,
        Device::Fault(args) => fault::run(args).await.map(|()| 0),
        Device::Fleet(args) => fleet::run(args).await.map(|()| 0),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            #[allow(clippy::print_stderr, reason = "a program speaks to a person")]
            {
                eprintln!("pos-sim: {error}");
            }
            ExitCode::from(if error.kind() == std::io::ErrorKind::InvalidInput { USAGE } else { SOFTWARE })
        }
    }
}
