//! The sums for a cashier's shift, as tills see them. They depend on sequence numbers, never on the clock (design:
//! invariant 8).

use serde::{Deserialize, Serialize};

use super::SaleView;
use pos_core::counter::Sum;
use pos_terms::transaction::SaleNumber;

/// Counts and sums of the transactions after a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TotalsView {
    /// The terminal id.
    pub terminal_id: String,
    /// The till whose transactions were counted. Absent if all tills were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
    /// The transactions without an outcome yet, of any age. No sum includes them.
    pub open: Vec<SaleView>,
    /// The lower limit. The count covers the transactions with a greater number, and those in the last `carried` that
    /// have since ended.
    pub since: SaleNumber,
    /// The greatest number that was read, for `since` in the next request.
    pub next: SaleNumber,
    /// The numbers up to `next` without an outcome yet, for `carried` in the next request. So no transaction is left
    /// out.
    pub carried: Vec<SaleNumber>,
    /// The sums of moved or reserved money, by kind and currency.
    pub kinds: Vec<Sum>,
    /// The same sums by card scheme.
    pub schemes: Vec<Sum>,
    /// The tips, which are also included in the sums of the sales.
    pub tips: Vec<Sum>,
    /// The number of transactions that were declined by the issuer, the card or the gateway.
    pub declined: u64,
    /// The number of transactions that were charged, or possibly charged, and reversed by the terminal itself.
    pub taken_back: u64,
    /// The number of transactions that were cancelled before anything was sent.
    pub cancelled: u64,
    /// The number of transactions that ended as not sent, so that no payment exists.
    pub not_sent: u64,
}
