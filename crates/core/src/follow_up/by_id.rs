//! Refunds, reversals and captures for which the till named only a payment id. The journal did not know then which
//! transaction the payment belongs to. This module lets limits and reversals take them into account.

use super::{Held, History};
use crate::transaction::{Reason, ReversalAnswer, Transaction};
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, PaymentId};

/// The transactions that refer to a payment by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenById {
    /// True if a capture took a part of the payment, or may have.
    is_captured: bool,
    /// True if a refund or a reversal has no outcome yet.
    is_open: bool,
    /// The amount that may have been given back, in minor units.
    sum: u64,
}

/// The reason why a reversal is not sent yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBackById {
    /// A capture by payment id took a part of the payment, or may have. A person must handle it.
    Captured,
    /// A refund or reversal by payment id has no outcome yet. The reversal is checked again once it has one.
    Open,
    /// The amount came from a list that is older than the last refund or reversal by payment id. The agent must look up
    /// again.
    NotLookedSince,
    /// The gateway does not link the refund or reversal to the payment in its list. Another look-up does not change
    /// that.
    TooMuch,
}

impl GivenById {
    /// Summarises the journal's transactions that refer to one payment by its id.
    #[must_use]
    pub fn of(referring: &[Transaction]) -> Self {
        Self::of_histories(referring.iter().map(|sale| History::of(sale, Vec::new())))
    }

    fn of_histories(referring: impl Iterator<Item = History>) -> Self {
        let mut given = Self { is_captured: false, is_open: false, sum: 0 };
        for one in referring {
            given.is_captured |= one.kind == Kind::Capture && one.possible() > 0;
            if one.kind.gives_back() {
                given.is_open |= one.held == Held::Perhaps;
                given.sum = given.sum.saturating_add(one.possible());
            }
        }
        given
    }

    /// Returns the amount that may have been given back, in minor units.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Checks whether a reversal of `amount` may be sent. `whole` is the full amount to reverse, as the last look-up
    /// showed it. `counted` holds the sum that had been given back when a look-up was last requested.
    ///
    /// # Errors
    /// Returns the reason why the reversal may not be sent.
    pub fn may_leave(
        &self,
        amount: Amount,
        whole: Option<Amount>,
        counted: &mut Option<u64>,
    ) -> Result<(), HeldBackById> {
        if self.is_captured {
            return Err(HeldBackById::Captured);
        }
        if self.is_open {
            *counted = None;
            return Err(HeldBackById::Open);
        }
        if self.sum == 0 {
            return Ok(());
        }
        // The list that showed the amount must be newer than the last refund or reversal.
        if counted.replace(self.sum) != Some(self.sum) {
            return Err(HeldBackById::NotLookedSince);
        }
        let fits = whole.is_some_and(|whole| self.sum.saturating_add(amount.minor()) <= whole.minor());
        if fits { Ok(()) } else { Err(HeldBackById::TooMuch) }
    }
}

impl HeldBackById {
    /// Returns the answer to the transaction that requested the reversal.
    #[must_use]
    pub fn answer(self, payment: &PaymentId) -> ReversalAnswer {
        let (reason, for_person) = match self {
            Self::Captured | Self::TooMuch => (Reason::GivenBackById, true),
            Self::Open | Self::NotLookedSince => (Reason::ReversalHeldBack, false),
        };
        ReversalAnswer::HeldBack { why: reason.with(payment.as_str()), for_person }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{eur, one};
    use super::*;

    fn given(referring: &[(Kind, u64, Held)]) -> GivenById {
        GivenById::of_histories(referring.iter().map(|(kind, minor, held)| one(*kind, *minor, *held)))
    }

    #[test]
    fn what_may_have_been_given_back_counts_and_nothing_else() {
        let sum = |kind, held| given(&[(kind, 300, held), (Kind::Refund, 40, Held::Certainly)]).sum();
        for kind in [Kind::Refund, Kind::Reversal] {
            assert_eq!(sum(kind, Held::Certainly), 340, "{kind:?}");
            assert_eq!(sum(kind, Held::Perhaps), 340, "{kind:?}");
            assert_eq!(sum(kind, Held::Not), 40, "{kind:?}");
        }
        assert_eq!(sum(Kind::Capture, Held::Certainly), 40);
    }

    #[test]
    fn a_reversal_leaves_when_nothing_was_given_back_by_the_id() {
        let mut counted = None;
        for referring in [&[][..], &[(Kind::Refund, 300, Held::Not)], &[(Kind::Capture, 300, Held::Not)]] {
            assert_eq!(given(referring).may_leave(eur(1000), None, &mut counted), Ok(()), "{referring:?}");
        }
        assert_eq!(counted, None);
    }

    #[test]
    fn after_a_capture_by_the_id_nothing_leaves_and_a_person_hears_of_it() {
        for held in [Held::Certainly, Held::Perhaps] {
            let taken = given(&[(Kind::Capture, 300, held), (Kind::Refund, 100, Held::Perhaps)]);
            assert_eq!(taken.may_leave(eur(1), Some(eur(1000)), &mut Some(100)), Err(HeldBackById::Captured));
        }
    }

    #[test]
    fn what_was_given_back_is_looked_at_once_more_and_then_all_together_is_within_the_whole() {
        let (refunded, whole) = (given(&[(Kind::Refund, 300, Held::Certainly)]), Some(eur(1000)));
        let mut counted = None;
        assert_eq!(refunded.may_leave(eur(700), whole, &mut counted), Err(HeldBackById::NotLookedSince));
        assert_eq!(refunded.may_leave(eur(700), whole, &mut counted), Ok(()), "to the cent");
        assert_eq!(refunded.may_leave(eur(701), whole, &mut counted), Err(HeldBackById::TooMuch));
        assert_eq!(refunded.may_leave(eur(1), None, &mut counted), Err(HeldBackById::TooMuch), "no whole is known");
        let more = given(&[(Kind::Refund, 300, Held::Certainly), (Kind::Refund, 100, Held::Certainly)]);
        assert_eq!(more.may_leave(eur(600), whole, &mut counted), Err(HeldBackById::NotLookedSince), "another since");
        assert_eq!(more.may_leave(eur(600), whole, &mut counted), Ok(()));
    }

    #[test]
    fn what_has_no_end_is_waited_for_and_asks_for_another_look() {
        let mut counted = Some(300);
        let open = given(&[(Kind::Refund, 300, Held::Perhaps)]);
        assert_eq!(open.may_leave(eur(1), Some(eur(1000)), &mut counted), Err(HeldBackById::Open));
        let ended = given(&[(Kind::Refund, 300, Held::Certainly)]);
        assert_eq!(ended.may_leave(eur(1), Some(eur(1000)), &mut counted), Err(HeldBackById::NotLookedSince));
    }

    #[test]
    fn a_person_hears_of_what_no_look_mends() {
        let payment = PaymentId::new("p".repeat(32));
        for (why, reason, for_person) in [
            (HeldBackById::Captured, Reason::GivenBackById, true),
            (HeldBackById::TooMuch, Reason::GivenBackById, true),
            (HeldBackById::Open, Reason::ReversalHeldBack, false),
            (HeldBackById::NotLookedSince, Reason::ReversalHeldBack, false),
        ] {
            let answer = ReversalAnswer::HeldBack { why: reason.with(payment.as_str()), for_person };
            assert_eq!(why.answer(&payment), answer, "{why:?}");
        }
    }
}
