//! `pos-agent cancel`: cancels a sale that waits for a card.

use clap::Args;

use super::exit::{Exit, Stop, and_of_faults};
use super::out;
use super::reference::Meant;
use crate::till::{CancelView, Cancelled};

/// Arguments.
#[derive(Debug, Args)]
#[command(
    after_help = and_of_faults("\
The sale can be cancelled until its request is sent to the gateway. The answer
says whether it was cancelled in time.

Exit codes:
   0  The sale is cancelled
   1  Too late: the sale continues, or has already ended")
)]
pub(super) struct Cancel {
    #[command(flatten)]
    of: Meant,
}

impl Cancel {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let of = self.of.found().await?;
        let cancelled: CancelView = of.daemon.post(&of.path("/cancel"), &serde_json::json!({})).await?;
        if self.of.json {
            out::say_json(&cancelled);
        } else {
            out::say(&cancelled.cancel_text);
        }
        Ok(if cancelled.cancel == Cancelled::InTime { Exit::Success } else { Exit::Declined })
    }
}
