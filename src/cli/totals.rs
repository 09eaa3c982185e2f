//! `pos-agent totals`: adds up the transactions after a number, for the report of a close of day.

use clap::Args;

use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::till::TotalsView;
use pos_core::counter::Sum;
use pos_terms::transaction::SaleNumber;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Each report ends with the arguments of the next report. Each transaction counts
exactly once: a transaction that has not ended is named at the top and is in no
sum; the next report after its end counts it. The order is by number, never by
the clock.

Example:
  pos-agent totals --since 118 --carried 97,112

Exit codes: 0 everything has ended; 3 something is unconfirmed, or is waiting
for a signature or its till.")]
pub(super) struct Totals {
    /// Only transactions with a number above this; give `next` of the last report
    #[arg(long, alias = "since-number", value_name = "NUMBER", default_value_t = SaleNumber::BEFORE_ALL)]
    since: SaleNumber,
    /// Transactions that were still open in the last report; they count if they have ended since
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    carried: Vec<SaleNumber>,
    /// Print one JSON object, in the form that tills get
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

impl Totals {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let path = format!("/v1/totals?since={}&carried={}", self.since, joined(&self.carried));
        let totals: TotalsView = self.daemon.daemon()?.get(&path).await?;
        if self.json {
            out::say_json(&totals)
        } else {
            report(&totals)
        }
        Ok(if totals.open.is_empty() { Exit::Success } else { Exit::Unconfirmed })
    }
}

fn report(totals: &TotalsView) {
    let TotalsView { terminal_id, till, open, since, next, carried, .. } = totals;
    if !open.is_empty() {
        out::say(&format!("!!! {} NOT ENDED, in no sum below:", open.len()));
        for sale in open {
            let standing = out::standing(sale).to_uppercase();
            out::say(&format!(
                "!!! {} {} of {}: {standing}, {}",
                sale.number,
                sale.reference,
                sale.till,
                out::sale_line(sale)
            ));
            out::say(&format!("!!!   {}", sale.text));
        }
    }
    let till = till.as_ref().map_or(String::new(), |till| format!(", only till {till}"));
    out::say(&format!("terminal {terminal_id}{till}, numbers {} to {next}", since.saturating_add(1)));
    let line = |sum: &Sum| {
        let what = sum.scheme.as_ref().map_or(sum.kind.as_str().to_owned(), |scheme| format!("  {scheme}"));
        out::say(&format!("{what:<24}{:>6}{:>16} {}", sum.count, sum.sum, sum.currency));
    };
    for kind in &totals.kinds {
        line(kind);
        let schemes = totals.schemes.iter().filter(|sum| sum.kind == kind.kind && sum.currency == kind.currency);
        schemes.for_each(line);
    }
    for tip in &totals.tips {
        out::say(&format!("{:<24}{:>6}{:>16} {}", "tips, in the sales", tip.count, tip.sum, tip.currency));
    }
    for (what, count) in [
        ("declined", totals.declined),
        ("reversed", totals.taken_back),
        ("cancelled", totals.cancelled),
        ("not sent", totals.not_sent),
    ] {
        out::say(&format!("{what:<24}{count:>6}"));
    }
    let carried = if carried.is_empty() { String::new() } else { format!(" --carried {}", joined(carried)) };
    out::say(&format!("next: pos-agent totals --since {next}{carried}"));
}

fn joined(numbers: &[SaleNumber]) -> String {
    numbers.iter().map(SaleNumber::to_string).collect::<Vec<_>>().join(",")
}
