//! `pos-agent signature`: tell whether the signature on the slip is the card's.

use clap::Args;

use pos_till_api::routes::encoded;

use super::daemon::of_sale;
use super::exit::{Exit, Stop};
use super::{Where, out, reference};
use crate::till::{SaleState, SaleView};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done: accepted and approved, or refused and being reversed; 1 the sale did not wait for a signature.")]
pub(super) struct Signature {
    /// The sale's reference, or `last`
    reference: String,
    /// The signature is the card's: the sale is approved
    #[arg(long, conflicts_with = "refuse", required_unless_present = "refuse")]
    accept: bool,
    /// It is not: the payment is reversed
    #[arg(long)]
    refuse: bool,
    /// The till that began the sale [default: this user's own, local as a rule]
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// The transaction is one of training
    #[arg(long)]
    training: bool,
    /// The sale as one JSON object, as tills get it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

impl Signature {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let reference = reference::meant(&daemon, &self.reference, self.till.as_deref(), self.training).await?;
        let sale = format!("/v1/sales/{}", encoded(&reference));
        let till = of_sale('?', self.till.as_deref(), self.training);
        let tell = |sale: &SaleView| match self.json {
            true => out::say_json(sale),
            false => out::say(&format!("{}: {}", out::standing(sale), sale.text)),
        };
        let before: SaleView = daemon.get(&format!("{sale}{till}")).await?;
        if before.state != SaleState::AwaitingSignature {
            tell(&before);
            return Ok(Exit::Declined);
        }
        let accepted = self.accept;
        let after: SaleView =
            daemon.post(&format!("{sale}/signature{till}"), &serde_json::json!({ "accepted": accepted })).await?;
        tell(&after);
        Ok(Exit::Success)
    }
}
