//! `pos-agent sale`, `preauthorise`, `credit`: transactions for which the customer presents a card.

use clap::Args;
use serde_json::json;

use super::exit::{Exit, Stop, of_money};
use super::flow::{Flow, Signing};
use pos_terms::transaction::{Kind, OnSilence};

/// The amount and its currency.
#[derive(Debug, Args)]
pub(super) struct HowMuch {
    /// The amount, for example 12.34, 3.5 or 3,50
    #[arg(allow_negative_numbers = true)]
    amount: String,
    /// The currency's ISO 4217 code; only the terminal's currency is accepted [default: the terminal's currency]
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
}

/// Arguments of `sale`.
#[derive(Debug, Args)]
#[command(after_help = of_money(SALE_HELP))]
pub(super) struct Sale {
    /// The amount, for example 12.34, 3.5 or 3,50 [default: it is typed at the reader]
    #[arg(allow_negative_numbers = true)]
    amount: Option<String>,
    /// The currency's ISO 4217 code; only the terminal's currency is accepted [default: the terminal's currency]
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
    /// Type the card number at the reader, if the terminal allows it
    #[arg(long, conflicts_with = "chip")]
    manual: bool,
    /// Accept only an inserted card; if the chip fails, a swipe is possible
    #[arg(long)]
    chip: bool,
    /// A tip in addition to the amount, for example 1.50; without a value, the customer enters the tip at the reader
    #[arg(long, value_name = "TIP", num_args = 0..=1, require_equals = true, default_missing_value = "ask")]
    tip: Option<String>,
    #[command(flatten)]
    partial: Partial,
    #[command(flatten)]
    confirming: ConfirmOptions,
    #[command(flatten)]
    signing: Signing,
    #[command(flatten)]
    flow: Flow,
}

/// The option for an approval of less than the amount.
#[derive(Debug, Args)]
pub(super) struct Partial {
    /// Accept an approval of less than the amount (exit code 4); the customer pays the rest in another way. Without
    /// this option, such an approval is reversed
    #[arg(long)]
    accept_partial: bool,
}

impl Partial {
    pub(super) fn add_to(&self, wanted: &mut serde_json::Value) {
        if self.accept_partial {
            wanted["acceptPartial"] = true.into();
        }
    }
}

/// The options for a sale that waits for the till's confirmation.
#[derive(Debug, Args)]
pub(super) struct ConfirmOptions {
    /// Hold an approval until the till says how much of it the till accepts (pos-agent confirm)
    #[arg(long, value_enum, value_name = "WHO")]
    confirm: Option<ConfirmedBy>,
    /// The outcome if the till does not answer in time [default: reverse]
    #[arg(long, value_enum, value_name = "WHAT", requires = "confirm")]
    on_silence: Option<Silence>,
}

/// The party that confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ConfirmedBy {
    /// The till that began the sale
    Till,
}

/// The outcome if no confirmation comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Silence {
    /// The payment is reversed
    Reverse,
    /// The payment stays approved
    Keep,
}

impl ConfirmOptions {
    fn add_to(&self, wanted: &mut serde_json::Value) {
        if let Some(ConfirmedBy::Till) = self.confirm {
            wanted["confirm"] = "till".into();
        }
        let on_silence = self.on_silence.map(|what| match what {
            Silence::Reverse => OnSilence::Reverse,
            Silence::Keep => OnSilence::Keep,
        });
        if let Some(on_silence) = on_silence {
            wanted["onSilence"] = on_silence.as_str().into();
        }
    }
}

/// Arguments of `preauthorise`.
#[derive(Debug, Args)]
#[command(after_help = of_money("\
Example:
  pos-agent preauthorise 150.00 --reference room-12  reserve 150.00
  pos-agent capture room-12 --amount 99.50           charge 99.50 later"))]
pub(super) struct Preauthorise {
    #[command(flatten)]
    how_much: HowMuch,
    #[command(flatten)]
    partial: Partial,
    #[command(flatten)]
    confirming: ConfirmOptions,
    #[command(flatten)]
    signing: Signing,
    #[command(flatten)]
    flow: Flow,
}

/// Arguments of `credit`.
#[derive(Debug, Args)]
#[command(after_help = of_money("\
For a payment of this terminal, `pos-agent refund` is safer: it needs no card
and never refunds too much."))]
pub(super) struct Credit {
    #[command(flatten)]
    how_much: HowMuch,
    #[command(flatten)]
    flow: Flow,
}

const SALE_HELP: &str = "\
Ctrl-C cancels the sale and waits for its end; a second Ctrl-C stops the wait.

Examples:
  pos-agent sale 12.34
  pos-agent sale 3,5 --reference order-4711  3.50: a comma or a point
  pos-agent sale 48.50 --tip                 the customer enters a tip
  pos-agent sale 48.50 --tip=5.00
  pos-agent sale 12.34 --training declined   no card is read, no money moves
  pos-agent sale 48.50 --accept-partial      the rest is paid in cash
  pos-agent sale                             type the amount at the reader
  # Store the card for later payments:
  pos-agent sale 20.00 --param createRegistration=true";

impl Sale {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let amount = match self.amount {
            Some(amount) => amount,
            None if self.flow.trains() => {
                return Err(Stop::new(Exit::Usage, "give an amount: in training the reader takes no input"));
            }
            None => self.flow.typed_amount(self.currency.as_deref()).await?,
        };
        let mut wanted = HowMuch { amount, currency: self.currency }.wanted(Kind::Sale);
        if let Some(tip) = self.tip {
            wanted["tip"] = tip.into();
        }
        if self.manual {
            wanted["entry"] = "manual".into();
        }
        if self.chip {
            wanted["entry"] = "chip".into();
        }
        self.partial.add_to(&mut wanted);
        self.confirming.add_to(&mut wanted);
        self.flow.signed(self.signing).run(wanted).await
    }
}

impl Preauthorise {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let mut wanted = self.how_much.wanted(Kind::PreAuthorisation);
        self.partial.add_to(&mut wanted);
        self.confirming.add_to(&mut wanted);
        self.flow.signed(self.signing).run(wanted).await
    }
}

impl Credit {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        self.flow.run(self.how_much.wanted(Kind::Credit)).await
    }
}

impl HowMuch {
    pub(super) fn wanted(&self, kind: Kind) -> serde_json::Value {
        let mut wanted = json!({ "kind": kind.as_str(), "amount": self.amount });
        if let Some(currency) = &self.currency {
            wanted["currency"] = currency.as_str().into();
        }
        wanted
    }
}
