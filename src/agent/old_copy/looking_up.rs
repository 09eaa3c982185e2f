//! A transaction of before that something is to follow, while the gateway's list by date is not complete: its own
//! payment is looked up, with all that is linked to it. It may go on when this journal knows each of those.

use crate::agent::journal_writer::refused_by_journal;
use crate::till::Refused;
use pos_core::transaction::{Inquiry, ListedState, ListedTransaction};
use pos_journal::Journal;
use pos_terms::transaction::{PaymentId, SaleNumber};

use super::{Comparison, OldCopy};

/// What the gateway has linked to one payment, itself included.
pub(in crate::agent) struct Linked {
    number: SaleNumber,
    payment: PaymentId,
    list: Vec<ListedTransaction>,
}

impl OldCopy {
    /// Whether what is to follow a transaction of this number waits for a look-up of that transaction.
    pub(in crate::agent) fn asks_to_look_up(&self, number: SaleNumber) -> bool {
        self.looks_up() && number <= self.before
    }

    /// Whether any transaction is to be looked up before something follows it.
    pub(in crate::agent) fn looks_up(&self) -> bool {
        self.lists_no_more && !self.is_new && matches!(self.comparison, Comparison::Due(_) | Comparison::Asking)
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
