//! The sums that determine the remaining amount: the amounts that are certainly held, and those that may be held. All
//! sums are in minor units of the transaction's currency.

use super::{CannotFollow, Held, History};
use pos_terms::transaction::Kind;

impl History {
    /// Returns the transactions of one kind that refer to this one.
    pub(super) fn those(&self, kind: Kind) -> impl Iterator<Item = &Self> {
        self.later.iter().filter(move |later| later.kind == kind)
    }

    /// Returns the amount that is certainly held, excluding any amount that may have been reversed.
    fn certain_net(&self) -> u64 {
        let reversed = self.those(Kind::Reversal).map(Self::possible).sum();
        self.certain().saturating_sub(reversed)
    }

    /// Returns the amount that may be held: everything except what was certainly reversed.
    pub(super) fn possible_net(&self) -> u64 {
        let reversed = self.those(Kind::Reversal).map(Self::certain).sum();
        self.possible().saturating_sub(reversed)
    }

    fn certain(&self) -> u64 {
        if self.held == Held::Certainly { self.amount.minor() } else { 0 }
    }

    /// Returns the amount of this transaction that may be held, ignoring the transactions that refer to it.
    #[must_use]
    pub fn possible(&self) -> u64 {
        if self.held == Held::Not { 0 } else { self.amount.minor() }
    }

    /// Returns the amount that is certainly reserved, before captures and refunds. It is the amount plus the approved
    /// increments, minus every reversal that may have been carried out. An increment in another currency adds nothing.
    pub(super) fn certainly_reserved(&self) -> u64 {
        let same = |more: &&Self| more.amount.currency() == self.amount.currency();
        let more: u64 = self.those(Kind::Increment).filter(same).map(Self::certain_net).sum();
        let reversed: u64 = self.those(Kind::Reversal).map(Self::possible).sum();
        self.amount.minor().saturating_add(more).saturating_sub(reversed)
    }

    /// Returns the sum that may be held by the transactions of one kind that refer to this one.
    pub(super) fn possibly(&self, kind: Kind) -> Result<u64, CannotFollow> {
        let mut sum: u64 = 0;
        for one in self.those(kind) {
            let net = one.possible_net();
            if net > 0 && one.amount.currency() != self.amount.currency() {
                return Err(CannotFollow::OtherCurrency);
            }
            sum = sum.saturating_add(net);
        }
        Ok(sum)
    }

    pub(super) fn possibly_renewed(&self) -> bool {
        self.those(Kind::Reauthorisation).any(|renewed| renewed.possible_net() > 0)
    }

    pub(super) fn has_open_reversal(&self) -> bool {
        self.those(Kind::Reversal).any(|reversal| reversal.held == Held::Perhaps)
    }
}
