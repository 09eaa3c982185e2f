//! The sums for the cashier's close, as tills see them: by sequence number, never by the clock (design: invariant 8).

use serde::{Deserialize, Serialize};

use super::SaleView;
use pos_core::counter::Sum;
use pos_terms::transaction::SaleNumber;

/// Counts and sums of the transactions after a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TotalsView {
    /// Terminal id.
    pub terminal_id: String,
    /// The till whose transactions were counted; absent for every till's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
    /// Transactions without an outcome yet, of any age; no sum below includes them.
    pub open: Vec<SaleView>,
    /// The lower limit: only transactions with a greater number were counted, and those of the last `carried` that have
    /// ended since.
    pub since: SaleNumber,
    /// The greatest number that was read: the next request's `since`.
    pub next: SaleNumber,
    /// Numbers up to `next` without an outcome yet: the next request's `carried`. So no transaction is left out.
    pub carried: Vec<SaleNumber>,
    /// Sums of moved or reserved money, by kind and currency.
    pub kinds: Vec<Sum>,
    /// The same by card scheme.
    pub schemes: Vec<Sum>,
    /// Tips; the sums of the sales include them too.
    pub tips: Vec<Sum>,
    /// Declined by the issuer, the card or the gateway.
    pub declined: u64,
    /// Charged, or possibly charged, and reversed by the terminal itself.
    pub taken_back: u64,
    /// Cancelled before anything was sent.
    pub cancelled: u64,
    /// The gateway could not be reached.
    pub not_sent: u64,
}
