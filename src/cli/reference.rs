//! The transaction that a verb is about. The word `last` in the place of a reference is the latest one of a till.

use clap::Args;
use pos_till_api::routes::encoded;

use super::daemon::{Daemon, of_sale};
use super::exit::Stop;
use super::{Where, out};
use crate::till::SaleView;

/// The word. Where it stands for a transaction, no transaction of that name can be meant.
const LAST: &str = "last";

/// Arguments that name a transaction, and how it is told.
#[derive(Debug, Args)]
pub(super) struct Meant {
    /// The transaction's reference, or `last`
    reference: String,
    /// The till that began it [default: the till of this user, usually local]
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// The transaction is a training transaction
    #[arg(long)]
    training: bool,
    /// Print one JSON object, as tills get it
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    daemon: Where,
}

/// The daemon, and a transaction that it may know.
pub(super) struct Found {
    pub(super) daemon: Daemon,
    path: String,
    till: Option<String>,
    training: bool,
}

impl Meant {
    /// The transaction; with `last` the daemon is asked for its reference.
    pub(super) async fn found(&self) -> Result<Found, Stop> {
        let daemon = self.daemon.daemon()?;
        let reference = meant(&daemon, &self.reference, self.till.as_deref(), self.training).await?;
        let path = format!("/v1/sales/{}", encoded(&reference));
        Ok(Found { daemon, path, till: self.till.clone(), training: self.training })
    }
}

impl Found {
    /// The path of what lies below the transaction; `""` is the transaction itself.
    pub(super) fn path(&self, below: &str) -> String {
        format!("{}{below}{}", self.path, of_sale('?', self.till.as_deref(), self.training))
    }

    /// As [`Self::path`], with a parameter of its own.
    pub(super) fn path_with(&self, below: &str, parameter: &str) -> String {
        format!("{}{below}?{parameter}{}", self.path, of_sale('&', self.till.as_deref(), self.training))
    }
}

/// The reference that is meant. Which one `last` is, is said on standard error; what follows is about that one,
/// whatever begins meanwhile.
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
    out::aside(&format!("last is {} of till {}: {kind}, {standing}, {sold}", sale.reference, sale.till));
    Ok(sale.reference.to_string())
}

/// A name for a new transaction: one that has this name could never be asked for.
pub(super) fn new(reference: &str) -> Result<String, &'static str> {
    if reference == LAST {
        return Err("the word stands for the latest transaction; choose another name");
    }
    Ok(reference.to_owned())
}
