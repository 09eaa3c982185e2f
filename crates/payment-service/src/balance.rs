//! The balance of a payment: its follow-ups, the remaining amount, and whether a follow-up is allowed. The functions
//! are pure: they read entries and return sums.
//!
//! An approved or pending amount counts as used. A pending capture may still be approved, and the money can be captured
//! only once. A pending entry never adds to the balance.

use super::entry::{Kind, LedgerEntry, State};

/// The sums of a payment's follow-ups, in minor units of its currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Balance {
    /// The amount of a pre-authorisation with its increments.
    pub authorised: u64,
    /// The sum of the refunds of a sale or capture.
    pub given_back: u64,
    /// The amount that can still be captured or refunded.
    pub left: u64,
    /// The number of captures so far.
    pub captures: usize,
    /// True if a capture or refund was sent with `sequence` FINAL.
    pub is_final: bool,
    /// The sum of the approved and pending reversals.
    pub reversed: u64,
    /// True if the whole amount is reversed, or its reversal is pending.
    pub is_reversed: bool,
    /// True if a reversal was sent with `sequence` FINAL: the shop keeps the rest.
    pub was_last_reversal: bool,
    /// True if another pre-authorisation replaces this one.
    pub is_renewed: bool,
}

impl Balance {
    /// Computes the balance of `payment` from the entries that refer to it.
    pub(super) fn of<'a>(payment: &LedgerEntry, following: impl Iterator<Item = &'a LedgerEntry>) -> Self {
        let mut is = Self { authorised: payment.minor(), ..Self::default() };
        let mut taken = 0;
        for entry in following {
            let counts = matches!(entry.state, State::Approved | State::Pending);
            match entry.kind {
                Kind::PreAuthorisation if entry.is_increment() && entry.state == State::Approved => {
                    is.authorised += entry.minor();
                }
                Kind::PreAuthorisation if !entry.is_increment() && counts => is.is_renewed = true,
                Kind::Capture if counts => {
                    taken += entry.minor();
                    is.captures += 1;
                    is.is_final |= entry.is_last;
                }
                Kind::Refund if counts => {
                    taken += entry.minor();
                    is.given_back += entry.minor();
                    is.is_final |= entry.is_last;
                }
                Kind::Reversal if counts && entry.currency == payment.currency => {
                    is.reversed += entry.minor();
                    is.was_last_reversal |= entry.is_last;
                }
                _ => {}
            }
        }
        is.is_reversed = payment.state == State::Reversed || is.reversed > 0 && is.reversed >= is.authorised;
        let open = payment.state == State::Approved && !is.is_reversed && !is.is_renewed && !is.is_final;
        is.left = if open { is.authorised.saturating_sub(taken).saturating_sub(is.reversed) } else { 0 };
        is
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: Kind, amount: &str, state: State) -> LedgerEntry {
        LedgerEntry {
            id: "1".to_owned(),
            kind,
            merchant_transaction_id: None,
            amount: amount.to_owned(),
            currency: "EUR".to_owned(),
            state,
            code: String::new(),
            refers_to: None,
            entry_mode: None,
            parameters: Vec::new(),
            method: crate::Method::Card,
            details: Vec::new(),
            practice: None,
            is_last: false,
            captures: None,
        }
    }

    fn left(payment: &LedgerEntry, following: &[LedgerEntry]) -> u64 {
        Balance::of(payment, following.iter()).left
    }

    #[test]
    fn what_is_left_counts_what_may_still_be_approved() {
        use State::{Approved, Declined, Pending, Reversed};
        let held = entry(Kind::PreAuthorisation, "100.00", Approved);
        let more = LedgerEntry { practice: Some("INCREMENTAL_AUTH".to_owned()), ..held.clone() };
        let later = LedgerEntry { state: Pending, ..more.clone() };
        let renewed = LedgerEntry { practice: Some("REAUTHORIZATION".to_owned()), ..held.clone() };
        let capture = |state| entry(Kind::Capture, "30.00", state);
        let last = LedgerEntry { is_last: true, ..capture(Approved) };
        assert_eq!(left(&held, &[]), 10_000);
        assert_eq!(left(&held, &[more, later, capture(Approved), capture(Pending)]), 14_000);
        assert_eq!(left(&held, &[capture(Declined), capture(Reversed)]), 10_000);
        assert_eq!(left(&held, &[last]), 0);
        assert_eq!(left(&held, &[renewed]), 0);
        assert_eq!(left(&held, &[entry(Kind::Reversal, "100.00", Pending)]), 0);
        assert_eq!(left(&held, &[entry(Kind::Reversal, "100.00", Declined)]), 10_000);
        // The reversed part cannot be used; the rest can.
        assert_eq!(left(&held, &[entry(Kind::Reversal, "40.00", Approved)]), 6_000);
        let parts = [entry(Kind::Reversal, "40.00", Approved), entry(Kind::Reversal, "60.00", Approved)];
        assert!(Balance::of(&held, parts.iter()).is_reversed);
        let sale = entry(Kind::Debit, "10.00", Approved);
        assert_eq!(left(&sale, &[entry(Kind::Refund, "3.33", Approved), entry(Kind::Refund, "1.00", Pending)]), 567);
        assert_eq!(left(&entry(Kind::Debit, "10.00", Declined), &[]), 0);
    }
}
