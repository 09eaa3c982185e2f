//! Simulated tills: `pos-sim till` talks to a terminal as a shop's till does, and shows the messages that it receives.

use std::io;

use clap::Subcommand;

use pos_terms::money::Currency;

mod caisse_ap;
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
    /// A till that uses ZVT, for the port of `[[zvt]]` in front.toml
    Zvt(zvt::Args),
    /// A till that uses Caisse-AP over IP, for the port of `[[caisse-ap]]` in front.toml
    CaisseAp(caisse_ap::Args),
    /// A till that uses the Terminal API (nexo), for the port of `[nexo]` in front.toml
    Nexo(nexo::Args),
}

/// Carries out the request. The exit code is 0 if it was approved or done, and 1 if it was not.
///
/// # Errors
///
/// Fails if the terminal cannot be reached, or if its answer violates the protocol.
pub async fn run(args: Args) -> io::Result<u8> {
    match args.protocol {
        Protocol::Zvt(args) => zvt::run(args).await,
        Protocol::CaisseAp(args) => caisse_ap::run(args).await,
        Protocol::Nexo(args) => nexo::run(args).await,
    }
}

fn currency(code: &str) -> Result<Currency, String> {
    Currency::from_code(code).map_err(|error| error.to_string())
}
