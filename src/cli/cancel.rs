//! `pos-agent cancel`: stop a sale that waits for a card.

use clap::Args;

use pos_till_api::routes::encoded;

use super::daemon::of_sale;
use super::exit::{Exit, Stop};
use super::{Where, out, reference};
use crate::till::{CancelView, Cancelled};

/// Arguments.
#[derive(Debug, Args)]
#[command(
    after_help = "A cancel wins before the request has left for the gateway, and loses after it; the answer says which.\n\n\
        Exit codes: 0 the sale is cancelled; 1 it is not (too late: it goes on, or it has ended already)."
)]
pub(super) struct Cancel {
    /// The sale's reference, or `last`
    reference: String,
    /// The till that began it [default: this user's own, local as a rule]
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

impl Cancel {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let till = self.till.as_deref();
        let reference = reference::meant(&daemon, &self.reference, till, self.training).await?;
        let path = format!("/v1/sales/{}/cancel{}", encoded(&reference), of_sale('?', till, self.training));
        let cancelled: CancelView = daemon.post(&path, &serde_json::json!({})).await?;
        if self.json {
            out::say_json(&cancelled);
        } else {
            out::say(&cancelled.cancel_text);
        }
        Ok(if cancelled.cancel == Cancelled::InTime { Exit::Success } else { Exit::Declined })
    }
}
