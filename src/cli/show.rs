//! `pos-agent show`: what became of a transaction, and what is left of it.

use clap::Args;

use super::daemon::{in_path, of_till};
use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::till::SaleView;

/// Arguments.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: as of the transaction itself (0 approved, 1 declined, …); 3 while it has not ended."
)]
pub(super) struct Show {
    /// Its reference
    reference: String,
    /// The till that began it [default: this user's own, local as a rule]
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// One JSON object, as tills get it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

impl Show {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let path = format!("/v1/sales/{}{}", in_path(&self.reference), of_till('?', self.till.as_deref()));
        let sale: SaleView = self.daemon.daemon()?.get(&path).await?;
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
            if let Some(left) = &sale.left {
                out::say(&format!("left: {left} {}", sale.currency));
            }
        }
        Ok(Exit::of(&sale))
    }
}
