//! `pos-agent signature`: reports whether the signature on the slip matches the card.

use clap::Args;

use super::exit::{Exit, Stop, and_of_faults};
use super::out;
use super::reference::Meant;
use crate::till::{SaleState, SaleView};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = and_of_faults("\
Exit codes:
   0  Done: accepted and approved, or refused and being reversed
   1  The sale was not waiting for a signature"))]
pub(super) struct Signature {
    /// The signature matches the card: the sale is approved
    #[arg(long, conflicts_with = "refuse", required_unless_present = "refuse")]
    accept: bool,
    /// The signature does not match: the payment is reversed
    #[arg(long)]
    refuse: bool,
    #[command(flatten)]
    of: Meant,
}

impl Signature {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let of = self.of.found().await?;
        let tell = |sale: &SaleView| match self.of.json {
            true => out::say_json(sale),
            false => out::say(&format!("{}: {}", out::standing(sale), sale.text)),
        };
        let before: SaleView = of.daemon.get(&of.path("")).await?;
        if before.state != SaleState::AwaitingSignature {
            tell(&before);
            return Ok(Exit::Declined);
        }
        let said = serde_json::json!({ "accepted": self.accept });
        let after: SaleView = of.daemon.post(&of.path("/signature"), &said).await?;
        tell(&after);
        Ok(Exit::Success)
    }
}
