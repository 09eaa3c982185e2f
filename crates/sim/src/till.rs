//! Simulated tills: `pos-sim till` speaks to a terminal as a shop's till does, and shows the messages that it gets.

use std::io;

use clap::Subcommand;

use pos_terms::money::Currency;

mod nexo;
mod zvt;

/// `pos-sim till`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    protocol: Protocol,
}

#[derive(Debug, Subcommand)]
enum Protocol {
    /// A till that speaks ZVT, to the port of `[[zvt]]` in front.toml
    Zvt(zvt::Args),
    /// A till that speaks the Terminal API (nexo), to the port of `[nexo]` in front.toml
    Nexo(nexo::Args),
}

/// Carries out the request; the exit code is 0 when it was approved or done, 1 when it was not.
///
/// # Errors
/// When the terminal cannot be reached, or its answer violates the protocol.
pub async fn run(args: Args) -> io::Result<u8> {
    match args.protocol {
        Protocol::Zvt(args) => zvt::run(args).await,
        Protocol::Nexo(args) => nexo::run(args).await,
    }
}

fn currency(code: &str) -> Result<Currency, String> {
    Currency::from_code(code).map_err(|error| error.to_string())
}
