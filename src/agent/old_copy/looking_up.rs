//! A transaction of before that something is to follow, while the gateway's list by date is not complete: its own
//! payment is looked up, with all that is linked to it. It may go on when this journal knows each of those.

use tokio::sync::oneshot;

use crate::agent::earlier::{EarlierFound, Known};
use crate::agent::journal_desk::refused_by_journal;
use crate::till::{Refused, SaleView, Wanted};
use pos_core::sale::{Inquiry, ListedState, ListedTransaction, Sale};
use pos_journal::Journal;
use pos_terms::transaction::{PaymentId, SaleNumber};

use super::{Comparison, OldCopy};

/// A wish that waits for the look-up of the transaction that it follows.
pub(in crate::agent) struct WaitingWish {
    pub(in crate::agent) wanted: Wanted,
    pub(in crate::agent) of: SaleNumber,
    pub(in crate::agent) reply: oneshot::Sender<Result<SaleView, Refused>>,
}

/// What the gateway has linked to one payment, itself included.
pub(in crate::agent) struct Linked {
    number: SaleNumber,
    payment: PaymentId,
    list: Vec<ListedTransaction>,
}

impl OldCopy {
    /// The transaction that is to be looked up before this wish may begin.
    pub(in crate::agent) fn to_be_looked_up(&self, wanted: &Wanted, known: Known<'_>) -> Option<Sale> {
        let is_open =
            self.lists_no_more && !self.is_new && matches!(self.comparison, Comparison::Due(_) | Comparison::Asking);
        let of = wanted.wish.of.as_ref().filter(|_| is_open && known.find(&wanted.till, &wanted.reference).is_err())?;
        let EarlierFound::Here(earlier) = known.earlier(of).ok()? else { return None };
        (earlier.order().number <= self.before).then_some(*earlier)
    }

    /// What of this transaction may be followed for the moment: it was looked up, and the journal knows all of it.
    pub(in crate::agent) fn vouches_for(&mut self, of: Option<SaleNumber>) {
        self.vouched_for = of;
    }
}

impl Linked {
    /// The look-up of a transaction, when it shows its payment.
    pub(in crate::agent) fn of(number: SaleNumber, inquiry: Inquiry, journal: &Journal) -> Result<Self, Refused> {
        let not_ready = |why: &str| Refused::NotReady {
            why: format!(
                "nobody knows whether this journal is an old copy, and transaction {number} cannot be looked up ({why}); try again later"
            ),
        };
        let list = match inquiry {
            Inquiry::Payments(list) => list,
            Inquiry::CannotAsk { why } => return Err(not_ready(&why.to_string())),
        };
        let sale = journal.number(number).map_err(refused_by_journal)?;
        let payment = sale.as_ref().and_then(|sale| sale.host().id.clone());
        match payment.filter(|payment| list.iter().any(|one| one.id == *payment)) {
            Some(payment) => Ok(Self { number, payment, list }),
            None => Err(not_ready("the gateway does not list it")),
        }
    }

    /// The references under which they were sent.
    pub(in crate::agent) fn references(&self) -> Vec<String> {
        self.list.iter().filter_map(|one| one.reference.clone()).collect()
    }

    /// Whether this journal knows each of them.
    pub(in crate::agent) fn are_known(&self, journal: &Journal) -> Result<(), Refused> {
        let mut unknown = 0;
        for one in self.list.iter().filter(|one| one.id != self.payment && one.state != ListedState::Declined) {
            let known = one.reference.as_ref().map(|reference| journal.knows(reference)).transpose();
            unknown += usize::from(known.map_err(refused_by_journal)? != Some(true));
        }
        if unknown == 0 {
            return Ok(());
        }
        let number = self.number;
        let why = format!(
            "the gateway holds {unknown} transactions linked to transaction {number} that this journal does not know; see to it in the \
             gateway's back office"
        );
        Err(Refused::NotPossible { why })
    }
}
