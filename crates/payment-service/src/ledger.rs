//! The gateway's record for tests and people who ask where the money is: a copy of its books at one moment.

use pos_terms::money::Amount;

use super::balance::Balance;
use super::entry::{Kind, LedgerEntry, State};

/// Everything that was charged, declined, left pending or reversed, in booking order.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(super) entries: Vec<LedgerEntry>,
    pub(super) refusals: Vec<String>,
}

impl Ledger {
    /// Returns all entries. A request that was refused as invalid has none.
    #[must_use]
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// Returns the payments of one `merchantTransactionId` for which the customer has paid and not got the money back.
    /// Two of them are a double charge.
    #[must_use]
    pub fn charged(&self, merchant_transaction_id: &str) -> Vec<&LedgerEntry> {
        self.all_charged()
            .filter(|entry| entry.merchant_transaction_id.as_deref() == Some(merchant_transaction_id))
            .collect()
    }

    /// Returns all payments for which a customer has paid and not got all of the money back: sales and captures.
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

    /// Returns what is left of a payment, in the gateway's form: of a pre-authorisation what can be captured, of a sale
    /// or capture what can be refunded. `None` when nothing is left, or the payment is unknown.
    #[must_use]
    pub fn left(&self, id: &str) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.id == id)?;
        let left = Amount::from_minor(self.standing(entry).left, entry.currency()?).ok()?;
        left.to_gateway().ok()
    }

    /// Returns why requests were answered with HTTP 400 before they became a payment, in their order:
    /// `parameter: what is wrong`.
    #[must_use]
    pub fn refusals(&self) -> &[String] {
        &self.refusals
    }

    fn standing(&self, entry: &LedgerEntry) -> Balance {
        Balance::of(entry, self.entries.iter().filter(|other| other.refers_to.as_deref() == Some(&entry.id)))
    }
}
