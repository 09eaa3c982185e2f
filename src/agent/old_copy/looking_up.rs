//! The look-up of an earlier transaction before another follows it, while the gateway's list by date is incomplete. The
//! agent looks up the earlier payment and all linked payments. The later transaction may begin if this journal knows
//! each of them.

use crate::agent::journal_writer::refused_by_journal;
use crate::till::Refused;
use pos_core::transaction::{Inquiry, ListedState, ListedTransaction};
use pos_journal::Journal;
use pos_terms::transaction::{PaymentId, SaleNumber};
use pos_words::{Message, Sentence};

use super::{Comparison, OldCopy};

/// The payments that the gateway has linked to one payment, including that payment.
pub(in crate::agent) struct Linked {
    number: SaleNumber,
    payment: PaymentId,
    list: Vec<ListedTransaction>,
}

impl OldCopy {
    /// Returns whether this transaction must be looked up before another follows it.
    pub(in crate::agent) fn asks_to_look_up(&self, number: SaleNumber) -> bool {
        self.looks_up() && number <= self.before
    }

    /// Returns whether any transaction must be looked up before another follows it.
    pub(in crate::agent) fn looks_up(&self) -> bool {
        self.lists_no_more && !self.is_new && matches!(self.comparison, Comparison::Due(_) | Comparison::Asking)
    }

    /// Records that this transaction may be followed for the moment. Its look-up has shown that the journal knows all
    /// its follow-ups.
    pub(in crate::agent) fn vouches_for(&mut self, of: Option<SaleNumber>) {
        self.vouched_for = of;
    }
}

impl Linked {
    /// Creates the list from the look-up of a transaction, if the look-up shows the payment.
    pub(in crate::agent) fn of(number: SaleNumber, inquiry: Inquiry, journal: &Journal) -> Result<Self, Refused> {
        let not_ready = |why: Sentence| Refused::NotReady {
            why: Message::CannotBeLookedUp.with("number", number.to_string()).with("why", why),
        };
        let list = match inquiry {
            Inquiry::Payments(list) => list,
            Inquiry::CannotAsk { why } | Inquiry::NotReached { why } => return Err(not_ready(why.to_string().into())),
        };
        let sale = journal.number(number).map_err(refused_by_journal)?;
        let payment = sale.as_ref().and_then(|sale| sale.host().id.clone());
        match payment.filter(|payment| list.iter().any(|one| one.id == *payment)) {
            Some(payment) => Ok(Self { number, payment, list }),
            None => Err(not_ready(Message::NotListedByGateway.into())),
        }
    }

    /// Returns the references of the linked payments.
    pub(in crate::agent) fn references(&self) -> Vec<String> {
        self.list.iter().filter_map(|one| one.reference.clone()).collect()
    }

    /// Checks that this journal knows each linked payment.
    pub(in crate::agent) fn are_known(&self, journal: &Journal) -> Result<(), Refused> {
        let mut unknown = 0;
        for one in self.list.iter().filter(|one| one.id != self.payment && one.state != ListedState::Declined) {
            let known = one.reference.as_ref().map(|reference| journal.knows(reference)).transpose();
            unknown += usize::from(known.map_err(refused_by_journal)? != Some(true));
        }
        if unknown == 0 {
            return Ok(());
        }
        let why = Message::LinkedUnknown.with("count", unknown.to_string());
        Err(Refused::NotPossible { why: why.with("number", self.number.to_string()) })
    }
}
