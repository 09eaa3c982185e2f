//! `pos-agent confirm`: tells the agent, in place of the till, how much of a waiting sale the till accepts.

use clap::Args;

use super::exit::{Exit, Stop, and_of_faults};
use super::out;
use super::reference::Meant;
use crate::till::{SaleState, SaleView};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = and_of_faults("\
After its approval, a sale begun with --confirm till waits until the till says
how much of the amount it accepts. This verb answers instead of the till.
Without an answer in time, the payment is reversed, or kept with --on-silence
keep.

Examples:
  pos-agent confirm order-4711 --taken all
  pos-agent confirm order-4711 --taken part --amount 8.00
  pos-agent confirm order-4711 --taken nothing

With part, the rest is refunded under its own reference. With nothing, the
payment is reversed. A repeated answer changes nothing.

Exit codes:
   0  Done: approved, or not accepted and being reversed"))]
pub(super) struct Confirm {
    /// The part of the sale that the till accepts
    #[arg(long, value_enum, value_name = "HOW-MUCH")]
    taken: HowMuchTaken,
    /// The accepted amount, for example 8.00; required with --taken part
    #[arg(long, value_name = "AMOUNT", required_if_eq("taken", "part"))]
    amount: Option<String>,
    #[command(flatten)]
    of: Meant,
}

/// The part of the sale that the till accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum HowMuchTaken {
    /// The whole approved amount
    All,
    /// Part of the amount; the rest is refunded
    Part,
    /// None of it; the payment is reversed
    Nothing,
}

impl Confirm {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let of = self.of.found().await?;
        let taken = match self.taken {
            HowMuchTaken::All => "all",
            HowMuchTaken::Part => "part",
            HowMuchTaken::Nothing => "nothing",
        };
        let mut said = serde_json::json!({ "taken": taken });
        if let Some(amount) = &self.amount {
            said["amount"] = amount.as_str().into();
        }
        let sale: SaleView = of.daemon.post(&of.path("/confirm"), &said).await?;
        if self.of.json {
            out::say_json(&sale);
        } else {
            out::say(&format!("{}: {}", out::standing(&sale), sale.text));
            for later in &sale.later {
                let name = later.reference.as_ref().map_or_else(|| later.number.to_string(), ToString::to_string);
                out::say(&format!("{} of {} {}: {name}", later.kind.as_str(), later.amount, later.currency));
            }
        }
        // An unfinished reversal also counts as success, because the caller asked for it.
        let done = matches!(sale.state, SaleState::Ended | SaleState::Unconfirmed);
        Ok(if done { Exit::Success } else { Exit::of(&sale) })
    }
}
