//! `pos-agent payment` and `pos-agent query`: ask the gateway about payments, through the agent.

use std::collections::BTreeMap;

use clap::Args;
use pos_till_api::routes::encoded;
use serde::Deserialize;

use super::exit::{Exit, Stop};
use super::{Where, out};

type Fields = BTreeMap<String, String>;

/// Arguments of `payment`.
#[derive(Debug, Args)]
pub(super) struct Payment {
    /// The payment's id at the gateway: 32 letters and digits
    id: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

/// Arguments of `query`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pos-agent query includeLinkedTransactions=true \\
    merchantTransactionId=12345678-17-00112233445566778899aabbccddeeff
  pos-agent query 'date.from=2026-11-20 00:00:00' \\
    'date.to=2026-11-20 23:59:59' paymentTypes=RF limit=500

`pos-agent parameters list --group query` lists all filters.")]
pub(super) struct Query {
    /// Filters of the gateway's interface, each in the form NAME=VALUE
    #[arg(required = true, value_name = "NAME=VALUE")]
    filters: Vec<String>,
    /// Print one JSON object per payment
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

impl Payment {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let path = format!("/v1/payments/{}", encoded(&self.id));
        let payment: Fields = self.daemon.daemon()?.get(&path).await?;
        tell(&payment, self.json);
        Ok(Exit::Success)
    }
}

impl Query {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        #[derive(Deserialize)]
        struct Found {
            payments: Vec<Fields>,
        }
        let mut pairs = Vec::new();
        for filter in &self.filters {
            let Some((name, value)) = filter.split_once('=') else {
                return Err(Stop::new(Exit::Usage, format!("{filter}: write it as NAME=VALUE")));
            };
            pairs.push(format!("{}={}", encoded(name), encoded(value)));
        }
        let path = format!("/v1/query?{}", pairs.join("&"));
        let Found { payments } = self.daemon.daemon()?.get(&path).await?;
        for (n, payment) in payments.iter().enumerate() {
            if n > 0 && !self.json {
                out::say("");
            }
            tell(payment, self.json);
        }
        if payments.is_empty() && !self.json {
            out::say("nothing found");
        }
        Ok(Exit::Success)
    }
}

fn tell(payment: &Fields, json: bool) {
    if json {
        return out::say_json(payment);
    }
    for (name, value) in payment {
        out::say(&format!("{name:<38} {value}"));
    }
}
