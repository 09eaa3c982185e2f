//! The transaction that a verb works on. The word `last` in place of a reference means the till's latest transaction. A
//! verb that changes nothing also accepts the number that the log shows.

use clap::Args;
use pos_terms::transaction::SaleNumber;
use pos_till_api::routes::encoded;
use serde::Deserialize;

use super::daemon::{Daemon, of_sale};
use super::exit::Stop;
use super::{Where, out};
use crate::till::SaleView;

/// The word for the latest transaction. It cannot be the reference of a transaction.
const LAST: &str = "last";

/// The arguments that name a transaction and set the form of the answer.
#[derive(Debug, Args)]
pub(super) struct Meant {
    /// The transaction's reference, or `last`
    reference: String,
    /// The till that began the transaction [default: this user's till, usually local]
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// Select a training transaction
    #[arg(long)]
    training: bool,
    /// Print one JSON object, in the form that tills get
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    daemon: Where,
}

/// The path of a transaction, and the client of the agent that may know it.
pub(super) struct Found {
    pub(super) daemon: Daemon,
    path: String,
    till: Option<String>,
    training: bool,
}

impl Meant {
    /// Finds the transaction. For `last`, it asks the agent for the reference.
    pub(super) async fn found(&self) -> Result<Found, Stop> {
        let daemon = self.daemon.daemon()?;
        let reference = meant(&daemon, &self.reference, self.till.as_deref(), self.training).await?;
        Ok(Found { daemon, path: path_of(&reference), till: self.till.clone(), training: self.training })
    }

    /// Finds the transaction like [`Self::found`], for a verb that changes nothing. If no transaction has this
    /// reference, it finds the one with this number. A typing error could otherwise change another transaction.
    pub(super) async fn found_to_read(&self) -> Result<Found, Stop> {
        let found = self.found().await?;
        let Ok(number) = self.reference.parse::<SaleNumber>() else { return Ok(found) };
        match found.daemon.get::<SaleView>(&found.path("")).await {
            Err(error) if error.is_no_such_sale() => {}
            _ => return Ok(found),
        }
        let since = number.get().saturating_sub(1);
        let below = format!("/v1/sales?since={since}&limit=1{}", of_sale('&', self.till.as_deref(), self.training));
        // A user who may not list transactions learns that there is no such reference.
        let listed = found.daemon.get(&below).await.unwrap_or(Listed { sales: Vec::new() });
        let Some(sale) = listed.sales.into_iter().find(|sale| sale.number == number) else { return Ok(found) };
        say_which(&format!("number {number}"), &sale);
        Ok(Found { path: path_of(sale.reference.as_str()), till: Some(sale.till), ..found })
    }
}

/// The transactions of a list.
#[derive(Deserialize)]
struct Listed {
    sales: Vec<SaleView>,
}

/// Returns the path of the transaction with this reference.
fn path_of(reference: &str) -> String {
    format!("/v1/sales/{}", encoded(reference))
}

impl Found {
    /// Returns the path of a resource below the transaction; `""` means the transaction itself.
    pub(super) fn path(&self, below: &str) -> String {
        format!("{}{below}{}", self.path, of_sale('?', self.till.as_deref(), self.training))
    }

    /// Returns the same path as [`Self::path`], with one more parameter.
    pub(super) fn path_with(&self, below: &str, parameter: &str) -> String {
        format!("{}{below}?{parameter}{}", self.path, of_sale('&', self.till.as_deref(), self.training))
    }
}

/// Returns the given reference, or the latest transaction's reference for `last`. For `last`, it also shows the
/// transaction on standard error. The verb keeps to this transaction even if another one begins.
pub(super) async fn meant(
    daemon: &Daemon,
    reference: &str,
    till: Option<&str>,
    training: bool,
) -> Result<String, Stop> {
    if reference != LAST {
        return Ok(reference.to_owned());
    }
    let sale: SaleView = daemon.get(&format!("/v1/latest{}", of_sale('?', till, training))).await?;
    say_which("\"last\"", &sale);
    Ok(sale.reference.to_string())
}

/// Shows on standard error which transaction was meant.
fn say_which(meant: &str, sale: &SaleView) {
    let (kind, standing, sold) = (sale.kind.as_str(), out::standing(sale), out::sale_line(sale));
    out::aside(&format!("{meant} is {} from till {}: {kind}, {standing}, {sold}", sale.reference, sale.till));
}

/// Checks the reference of a new transaction. Refuses `last`, because that word always means the latest transaction.
pub(super) fn new(reference: &str) -> Result<String, &'static str> {
    if reference == LAST {
        return Err("this word means the latest transaction; choose a different reference");
    }
    Ok(reference.to_owned())
}
