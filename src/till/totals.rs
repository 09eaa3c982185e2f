//! What a cashier counts at closing time, as tills see it. By sequence number, never by the clock (design: invariant
//! 8).

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
    /// Whose transactions were counted; absent: every till's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
    /// What has no end yet, whenever it began: it is in no sum below.
    pub open: Vec<SaleView>,
    /// Only transactions with a greater number were counted, and those of the last time's `carried` that have ended
    /// since.
    pub since: SaleNumber,
    /// The greatest number that was looked at: the next time's `since`.
    pub next: SaleNumber,
    /// Numbers up to `next` without an end yet: the next time's `carried`, so that none is ever left out.
    pub carried: Vec<SaleNumber>,
    /// What moved, or was reserved, by kind and currency.
    pub kinds: Vec<Sum>,
    /// The same by card scheme.
    pub schemes: Vec<Sum>,
    /// Tips; they are in the sums of the sales too.
    pub tips: Vec<Sum>,
    /// Declined by the host, the card or the gateway.
    pub declined: u64,
    /// Charged, or perhaps charged, and taken back by the terminal itself.
    pub taken_back: u64,
    /// Cancelled before anything was sent.
    pub cancelled: u64,
    /// The gateway could not be reached.
    pub not_sent: u64,
}
