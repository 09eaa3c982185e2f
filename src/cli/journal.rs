//! `pos-agent journal`: the sales of all tills.

use clap::Args;
use serde::Deserialize;

use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::till::SaleView;

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Journal {
    /// Only sales with a number above this
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    since: u64,
    /// One JSON object per line, as tills get it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

/// Sales of one request.
const PAGE: usize = 500;

#[derive(Deserialize)]
struct Sales {
    sales: Vec<SaleView>,
}

impl Journal {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let mut since = self.since;
        loop {
            let Sales { sales } = daemon.get(&format!("/v1/sales?since={since}&limit={PAGE}")).await?;
            for sale in &sales {
                if self.json { out::say_json(sale) } else { out::say(&line(sale)) }
            }
            match sales.last() {
                // A number that does not grow would be asked for for ever.
                Some(last) if sales.len() == PAGE && last.number > since => since = last.number,
                _ => return Ok(Exit::Success),
            }
        }
    }
}

fn line(sale: &SaleView) -> String {
    let SaleView { number, started_at, till, reference, .. } = sale;
    let (standing, sold) = (out::standing(sale), out::sale_line(sale));
    format!("{number:>6}  {started_at}  {till:<8}  {reference:<24}  {standing:<18}  {sold}")
}
