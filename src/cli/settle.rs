//! `pos-agent settle`: resolves a sale that waits for a person because the journal is an outdated copy.

use clap::Args;

use super::exit::{Exit, Stop, and_of_faults};
use super::{Where, out};
use crate::till::SaleView;
use pos_terms::transaction::SaleNumber;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = and_of_faults("\
When this terminal's journal is an outdated copy, its open sales wait for a
person. They may have been paid after the copy was made, and the customer may
have left with the goods. Check in the gateway's back office, or on the
receipts, whether the customer paid. Then --keep keeps the payment, and
--reverse reverses it.

pos-agent status lists the waiting sales with their numbers. The close of day
is a different verb: pos-agent close.

Exit codes:
   0  Done: kept, or being reversed"))]
pub(super) struct Settle {
    /// The sale's number in this terminal's journal, as pos-agent status shows it
    number: SaleNumber,
    /// Keep the payment
    #[arg(long, conflicts_with = "reverse", required_unless_present = "reverse")]
    keep: bool,
    /// Reverse the payment; the agent looks it up first
    #[arg(long)]
    reverse: bool,
    /// Print the sale as one JSON object, in the form that tills get
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

impl Settle {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let path = format!("/v1/settle/{}", self.number);
        let sale: SaleView = self.daemon.daemon()?.post(&path, &serde_json::json!({ "keep": self.keep })).await?;
        if self.json {
            out::say_json(&sale);
        } else {
            out::say(&format!("{} of till {}: {}", sale.reference, sale.till, out::standing(&sale)));
            out::say(&sale.text);
        }
        Ok(Exit::Success)
    }
}
