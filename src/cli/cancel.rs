//! `pos-agent cancel`: stop a sale that waits for a card.

use clap::Args;

use super::daemon::in_path;
use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::till::{Outcome, SaleView, State};

/// Arguments.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the sale is cancelled; 1 it is not (too late: it goes on, or it has ended already)."
)]
pub(super) struct Cancel {
    /// The sale's reference
    reference: String,
    #[command(flatten)]
    daemon: Where,
}

impl Cancel {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let path = format!("/v1/sales/{}/cancel", in_path(&self.reference));
        let sale: SaleView = self.daemon.daemon()?.post(&path, &serde_json::json!({})).await?;
        out::say(&format!("{}: {}", out::standing(&sale), sale.text));
        let cancelled = sale.state == State::Ended && sale.outcome == Some(Outcome::Cancelled);
        Ok(if cancelled { Exit::Success } else { Exit::Declined })
    }
}
