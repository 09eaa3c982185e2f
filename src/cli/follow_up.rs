//! `pos-agent capture`, `refund`, `reverse`, `increment`, `reauthorise`: transactions that refer to an earlier one and
//! need no card. `pos-agent registration`: stores a card, charges it, reserves an amount on it, or deletes it.

use clap::{Args, Subcommand};
use serde_json::json;

use super::exit::{Exit, Stop, of_money};
use super::flow::Flow;
use super::reference;
use super::sale::{HowMuch, Partial};
use pos_terms::transaction::{Kind, SaleNumber};

/// The earlier transaction.
#[derive(Debug, Args)]
struct Earlier {
    /// The earlier transaction's reference, or `last`
    #[arg(required_unless_present_any = ["number", "payment"], conflicts_with_all = ["number", "payment"])]
    of: Option<String>,
    /// The transaction's number in this terminal's journal, for a transaction of any till (see `pos-agent journal`)
    #[arg(long, value_name = "N", conflicts_with = "payment")]
    number: Option<SaleNumber>,
    /// The payment id at the gateway, for a payment that this terminal does not know
    #[arg(long, value_name = "ID")]
    payment: Option<String>,
    /// The till that began the earlier transaction [default: this user's till, usually local]
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// The currency's ISO 4217 code [default: the terminal's currency]
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
    #[command(flatten)]
    flow: Flow,
}

/// An amount, and the earlier transaction that it concerns.
#[derive(Debug, Args)]
struct HowMuchOfIt {
    /// The amount, for example 12.34, 3.5 or 3,50 [default: all that is left]
    #[arg(long)]
    amount: Option<String>,
    #[command(flatten)]
    earlier: Earlier,
}

/// Arguments of `refund`.
#[derive(Debug, Args)]
#[command(after_help = of_money(""))]
pub(super) struct Refund {
    #[command(flatten)]
    part: HowMuchOfIt,
}

/// Arguments of `reverse`.
#[derive(Debug, Args)]
#[command(after_help = of_money(""))]
pub(super) struct Reverse {
    #[command(flatten)]
    part: HowMuchOfIt,
}

/// Arguments of `increment`.
#[derive(Debug, Args)]
#[command(after_help = of_money(INCREMENT_HELP))]
pub(super) struct Increment {
    /// The amount to add, for example 12.34, 3.5 or 3,50 (not the new total)
    #[arg(long)]
    amount: String,
    #[command(flatten)]
    earlier: Earlier,
}

const INCREMENT_HELP: &str = "\
Example:
  pos-agent preauthorise 150.00 --reference room-12  reserve 150.00
  pos-agent increment room-12 --amount 30.00         180.00 is reserved now
  pos-agent capture room-12                          charge 180.00";

/// Arguments of `reauthorise`.
#[derive(Debug, Args)]
#[command(after_help = of_money(REAUTHORISE_HELP))]
pub(super) struct Reauthorise {
    #[command(flatten)]
    part: HowMuchOfIt,
}

const REAUTHORISE_HELP: &str = "\
A bank keeps a reservation only for a few days. The new pre-authorisation has
its own reference; capture that one later. The earlier one can no longer be
captured.";

/// Arguments of `capture`.
#[derive(Debug, Args)]
#[command(after_help = of_money(""))]
pub(super) struct Capture {
    #[command(flatten)]
    part: HowMuchOfIt,
    /// Make this the last capture, which releases the rest of the reservation
    #[arg(long = "final")]
    last: bool,
}

/// Arguments of `registration`.
#[derive(Debug, Args)]
#[command(after_help = "\
The gateway stores the card data and gives an id for it. This terminal stores
only the id.

Examples:
  pos-agent registration store         store a card; the answer has its id
  pos-agent registration pay ID 12.34  charge the stored card, without the card
  pos-agent registration forget ID     delete it at the gateway
  # Charge a card and store it:
  pos-agent sale 20.00 --param createRegistration=true

Exit codes: the same as for a sale (pos-agent sale --help).")]
pub(super) struct Registration {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Charge a stored card
    Pay(Pay),
    /// Reserve an amount on a stored card; `capture` charges it later
    Preauthorise(Pay),
    /// Read a card and store it for later payments; nothing is charged
    Store(Store),
    /// Delete a stored card; nothing is charged
    Forget(Forget),
}

#[derive(Debug, Args)]
#[command(after_help = of_money(""))]
struct Store {
    /// Type the card number at the reader, if the terminal allows it
    #[arg(long)]
    manual: bool,
    #[command(flatten)]
    flow: Flow,
}

#[derive(Debug, Args)]
#[command(after_help = of_money(""))]
struct Forget {
    /// The registration's id
    id: String,
    #[command(flatten)]
    flow: Flow,
}

#[derive(Debug, Args)]
#[command(after_help = of_money(""))]
struct Pay {
    /// The registration's id, from `registration store` or from a sale with `--param createRegistration=true`
    id: String,
    #[command(flatten)]
    how_much: HowMuch,
    // (interface: Card on file)
    /// Charge under a standing instruction, which the merchant starts without the customer
    #[arg(long, value_name = "TYPE", value_parser = ["UNSCHEDULED", "INSTALLMENT", "RECURRING"])]
    repeated: Option<String>,
    #[command(flatten)]
    partial: Partial,
    #[command(flatten)]
    flow: Flow,
}

impl HowMuchOfIt {
    async fn run(self, kind: Kind) -> Result<Exit, Stop> {
        self.earlier.run(kind, self.amount).await
    }
}

impl Refund {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        self.part.run(Kind::Refund).await
    }
}

impl Reverse {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        self.part.run(Kind::Reversal).await
    }
}

impl Increment {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        self.earlier.run(Kind::Increment, Some(self.amount)).await
    }
}

impl Reauthorise {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        self.part.run(Kind::Reauthorisation).await
    }
}

impl Earlier {
    async fn run(self, kind: Kind, amount: Option<String>) -> Result<Exit, Stop> {
        let mut wanted = json!({ "kind": kind.as_str() });
        if let Some(amount) = &amount {
            wanted["amount"] = amount.as_str().into();
        }
        if let Some(currency) = &self.currency {
            wanted["currency"] = currency.as_str().into();
        }
        match (&self.of, self.number, &self.payment) {
            (Some(of), ..) => {
                let daemon = self.flow.daemon()?;
                wanted["of"] = reference::meant(&daemon, of, self.till.as_deref(), self.flow.trains()).await?.into();
                if let Some(till) = &self.till {
                    wanted["till"] = till.as_str().into();
                }
            }
            (None, Some(number), _) => wanted["number"] = number.get().into(),
            (None, None, Some(payment)) => wanted["payment"] = payment.as_str().into(),
            (None, None, None) => return Err(Stop::new(Exit::Usage, "name the earlier transaction")),
        }
        self.flow.run(wanted).await
    }
}

impl Capture {
    pub(super) async fn run(mut self) -> Result<Exit, Stop> {
        if self.last {
            self.part.earlier.flow.add("sequence", "FINAL");
        }
        self.part.run(Kind::Capture).await
    }
}

impl Registration {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let (kind, mut pay) = match self.verb {
            Verb::Pay(pay) => (Kind::ByRegistration, pay),
            Verb::Preauthorise(pay) => (Kind::PreAuthorisationByRegistration, pay),
            Verb::Store(store) => {
                let mut wanted = json!({ "kind": Kind::StoreCard.as_str() });
                if store.manual {
                    wanted["entry"] = "manual".into();
                }
                return store.flow.run(wanted).await;
            }
            Verb::Forget(forget) => {
                let wanted = json!({ "kind": Kind::ForgetCard.as_str(), "registration": forget.id });
                return forget.flow.run(wanted).await;
            }
        };
        let mut wanted = pay.how_much.wanted(kind);
        wanted["registration"] = pay.id.into();
        pay.partial.add_to(&mut wanted);
        if let Some(kind) = &pay.repeated {
            pay.flow.add("standingInstruction.type", kind);
            pay.flow.add("standingInstruction.mode", "REPEATED");
            pay.flow.add("standingInstruction.source", "MIT");
        }
        pay.flow.run(wanted).await
    }
}
