//! `pos-agent show`: what became of a transaction, and what is left of it.

use clap::Args;

use pos_till_api::routes::encoded;

use super::daemon::of_sale;
use super::exit::{Exit, Stop};
use super::{Where, out, reference};
use crate::till::{LaterView, SaleState, SaleView};

/// Arguments.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: as of the transaction itself (0 approved, 1 declined, …); 3 while it has not ended."
)]
pub(super) struct Show {
    /// Its reference, or `last`
    reference: String,
    /// The till that began it [default: this user's own, local as a rule]
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// The transaction is one of training
    #[arg(long)]
    training: bool,
    /// One JSON object, as tills get it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

impl Show {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let till = self.till.as_deref();
        let reference = reference::meant(&daemon, &self.reference, till, self.training).await?;
        let path = format!("/v1/sales/{}{}", encoded(&reference), of_sale('?', till, self.training));
        let sale: SaleView = daemon.get(&path).await?;
        if self.json {
            out::say_json(&sale);
        } else {
            out::say(&format!("{} {}: {}", sale.kind.as_str(), out::standing(&sale), out::sale_line(&sale)));
            out::say(&sale.text);
            if let Some(by) = &sale.by {
                out::say(&format!("asked for by {by}, at till {}", sale.till));
            }
            if let Some(of) = &sale.of {
                out::say(&format!("refers to {of}"));
            }
            sale.later.iter().for_each(|later| out::say(&line(later)));
            if let Some(left) = &sale.left {
                out::say(&format!("left: {left} {}", sale.currency));
            }
        }
        Ok(Exit::of(&sale))
    }
}

/// What was captured, refunded or reversed of it.
fn line(later: &LaterView) -> String {
    let LaterView { number, reference, kind, amount, currency, state, outcome } = later;
    let name = reference.as_ref().map_or_else(|| format!("number {number}"), ToString::to_string);
    let stands = match (state, outcome) {
        (_, Some(outcome)) => outcome.as_str(),
        (SaleState::Unconfirmed | SaleState::UnconfirmedFinishing, None) => "unconfirmed",
        (_, None) => "in progress",
    };
    format!("{} {name}: {stands}, {} {currency}", kind.as_str(), out::signed(*kind, amount))
}
