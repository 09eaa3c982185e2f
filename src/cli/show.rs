//! `pos-agent show`: shows a transaction's outcome and its remaining amount.

use clap::Args;

use super::exit::{Exit, Stop};
use super::out;
use super::reference::Meant;
use crate::till::{LaterView, SaleState, SaleView};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: those of the transaction (0 approved, 1 declined, …); 3 until it
has ended.")]
pub(super) struct Show {
    #[command(flatten)]
    of: Meant,
}

impl Show {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let of = self.of.found_to_read().await?;
        let sale: SaleView = of.daemon.get(&of.path("")).await?;
        if self.of.json {
            out::say_json(&sale);
        } else {
            out::say(&format!("{} {}: {}", sale.kind.as_str(), out::standing(&sale), out::sale_line(&sale)));
            out::say(&sale.text);
            if let Some(by) = &sale.by {
                out::say(&format!("requested by {by}, at till {}", sale.till));
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

/// Returns a later capture, refund or reversal in one line.
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
