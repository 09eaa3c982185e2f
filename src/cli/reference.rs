//! The word `last` in the place of a reference: the latest transaction of a till.

use super::daemon::{Daemon, of_sale};
use super::exit::Stop;
use super::out;
use crate::till::SaleView;

/// The word. Where it stands for a transaction, no transaction of that name can be meant.
const LAST: &str = "last";

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
