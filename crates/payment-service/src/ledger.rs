//! The gateway's record for tests and for people who check where the money is. It is a copy of the books at one moment.

use pos_terms::money::Amount;

use super::balance::Balance;
use super::entry::{Kind, LedgerEntry, State};

/// All charged, declined, pending and reversed entries, in booking order.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(super) entries: Vec<LedgerEntry>,
    pub(super) refusals: Vec<String>,
}

impl Ledger {
    /// Returns all entries. A request that was refused as invalid has no entry.
    #[must_use]
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// Returns the payments with this `merchantTransactionId` that were paid and not fully returned. Two of them are a
    /// double charge.
    #[must_use]
    pub fn charged(&self, merchant_transaction_id: &str) -> Vec<&LedgerEntry> {
        self.all_charged()
            .filter(|entry| entry.merchant_transaction_id.as_deref() == Some(merchant_transaction_id))
            .collect()
    }

    /// Returns all payments (sales and captures) that were paid and not fully returned.
    pub fn all_charged(&self) -> impl Iterator<Item = &LedgerEntry> {
        let paid = |entry: &&LedgerEntry| {
            let is_money = entry.minor() > 0;
            matches!(entry.kind, Kind::Debit | Kind::Capture) && entry.state == State::Approved && is_money && {
                let standing = self.standing(entry);
                standing.given_back == 0 || standing.left > 0
            }
        };
        self.entries.iter().filter(paid)
    }

    /// Returns the remaining amount of a payment, in the gateway's format. For a pre-authorisation it can be captured;
    /// for a sale or capture it can be refunded. `None` if nothing is left, or the payment is unknown.
    #[must_use]
    pub fn left(&self, id: &str) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.id == id)?;
        let left = Amount::from_minor(self.standing(entry).left, entry.currency()?).ok()?;
        left.to_gateway().ok()
    }

    /// Returns the reasons for HTTP 400 of requests that did not become a payment, in their order. Each has the form
    /// `parameter: what is wrong`.
    #[must_use]
    pub fn refusals(&self) -> &[String] {
        &self.refusals
    }

    fn standing(&self, entry: &LedgerEntry) -> Balance {
        Balance::of(entry, self.entries.iter().filter(|other| other.refers_to.as_deref() == Some(&entry.id)))
    }
}
