//! `pos-agent signature`: tell whether the signature on the slip is the card's.

use clap::Args;

use super::daemon::{in_path, of_till};
use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::till::{SaleView, State};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done: accepted and approved, or refused and being reversed; 1 the sale did not wait for a signature.")]
pub(super) struct Signature {
    /// The sale's reference
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
    #[command(flatten)]
    daemon: Where,
}

impl Signature {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let sale = format!("/v1/sales/{}", in_path(&self.reference));
        let till = of_till('?', self.till.as_deref());
        let before: SaleView = daemon.get(&format!("{sale}{till}")).await?;
        if before.state != State::AwaitingSignature {
            out::say(&format!("{}: {}", out::standing(&before), before.text));
            return Ok(Exit::Declined);
        }
        let accepted = self.accept;
        let after: SaleView =
            daemon.post(&format!("{sale}/signature{till}"), &serde_json::json!({ "accepted": accepted })).await?;
        out::say(&format!("{}: {}", out::standing(&after), after.text));
        Ok(Exit::Success)
    }
}
