//! `pos-agent cancel`: cancels a sale that waits for a card.

use clap::Args;
use serde::Deserialize;

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
        let (sale, Answered { cancel, cancel_text }) =
            of.daemon.post_for_two(&of.path("/cancel"), &serde_json::json!({})).await?;
        let cancelled = CancelView { cancel, cancel_text, sale };
        if self.of.json {
            out::say_json(&cancelled);
        } else {
            out::say(&cancelled.cancel_text);
        }
        Ok(if cancelled.cancel == Cancelled::InTime { Exit::Success } else { Exit::Declined })
    }
}

/// The answer to a cancel, apart from the sale.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answered {
    pub(super) cancel: Cancelled,
    pub(super) cancel_text: String,
}
