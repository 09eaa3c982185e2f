//! The transaction that a verb works on. The word `last` in place of a reference means the till's latest transaction.

use clap::Args;
use pos_till_api::routes::encoded;

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
        let path = format!("/v1/sales/{}", encoded(&reference));
        Ok(Found { daemon, path, till: self.till.clone(), training: self.training })
    }
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
    let (kind, standing, sold) = (sale.kind.as_str(), out::standing(&sale), out::sale_line(&sale));
    out::aside(&format!("\"last\" is {} from till {}: {kind}, {standing}, {sold}", sale.reference, sale.till));
    Ok(sale.reference.to_string())
}

/// Checks the reference of a new transaction. Refuses `last`, because that word always means the latest transaction.
pub(super) fn new(reference: &str) -> Result<String, &'static str> {
    if reference == LAST {
        return Err("this word means the latest transaction; choose a different reference");
    }
    Ok(reference.to_owned())
}
