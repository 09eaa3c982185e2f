//! The bank: its bookings, and its possible answers. It is permissive and books every request, with two exceptions. It
//! refuses a reversal whose reference it has already seen, and a till's reversal of more than the remaining amount.

use pos_core::transaction::{
    Answer, Approval, ApprovedAmount, ForChip, HostFacts, Inquiry, ListedState, ListedTransaction, Reason, Refusal,
    ReversalAnswer,
};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, PaymentId};

/// A request in transit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Pay { reference: String, kind: Kind, amount: Amount, of: Option<PaymentId> },
    Poll { payment: PaymentId },
    Query { references: Vec<String> },
    Reverse { payment: PaymentId, amount: Amount, reference: String },
}

impl Request {
    /// Returns whether the request can change anything at the bank.
    pub(crate) fn moves_money(&self) -> bool {
        matches!(self, Self::Pay { .. } | Self::Reverse { .. })
    }
}

/// The bank's handling of a payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Makes {
    Approves,
    ApprovesPart,
    /// It approves more than the requested amount.
    ApprovesMore,
    Declines,
    /// It decides later.
    Ponders,
}

/// One booking.
#[derive(Clone, Debug)]
pub(crate) struct Booked {
    pub(crate) id: PaymentId,
    pub(crate) reference: String,
    pub(crate) payment_type: &'static str,
    pub(crate) amount: Amount,
    pub(crate) state: ListedState,
    pub(crate) refers_to: Option<PaymentId>,
}

/// The reference of a refund by another sender.
const STRANGERS: &str = "a stranger's";
/// The amount of a refund by another sender.
const STRANGERS_PART: u64 = 300;

/// The bank's bookings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bank {
    pub(crate) booked: Vec<Booked>,
    pub(crate) habits: Habits,
}

/// The behaviours in which gateways differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Habits {
    /// True if the gateway refuses a reference that it has already seen.
    pub(crate) refuses_repeats: bool,
    /// True if the gateway's lists omit stored cards.
    pub(crate) hides_registrations: bool,
    /// True if the gateway's lists name the transaction that another one refers to.
    pub(crate) says_what_it_refers_to: bool,
}

/// The form of the answer to a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListAs {
    /// The complete list.
    Whole,
    /// The list without the latest booking.
    WithoutTheLast,
    /// The list in which the latest booking has an unknown code.
    LastUnclear,
    /// Without references.
    WithoutReferences,
    /// Without amounts.
    WithoutAmounts,
}

pub(crate) fn eur(minor: u64) -> Amount {
    let currency = Currency::from_code("EUR").expect("EUR is a currency");
    Amount::from_minor(minor, currency).expect("a small amount")
}

/// Returns an id in the form that gateways use: 32 letters and digits.
pub(crate) fn id(nth: usize) -> PaymentId {
    PaymentId::new(format!("8ac7a4a1{nth:024}"))
}

impl Bank {
    /// Adds an earlier transaction.
    pub(crate) fn holds(&mut self, payment_type: &'static str, amount: Amount) -> PaymentId {
        self.book("earlier".to_owned(), payment_type, amount, ListedState::Approved, None)
    }

    fn book(
        &mut self,
        reference: String,
        payment_type: &'static str,
        amount: Amount,
        state: ListedState,
        refers_to: Option<PaymentId>,
    ) -> PaymentId {
        let id = id(self.booked.len() + 1);
        self.booked.push(Booked { id: id.clone(), reference, payment_type, amount, state, refers_to });
        id
    }

    /// Books the request of a transaction, and returns its answer.
    pub(crate) fn pays(
        &mut self,
        reference: &str,
        kind: Kind,
        amount: Amount,
        of: Option<PaymentId>,
        makes: Makes,
    ) -> Answer {
        let part = eur(amount.minor() * 3 / 4);
        // The bank does not reverse an amount twice, so the core may send a reversal twice.
        let is_over = kind == Kind::Reversal && of.as_ref().is_some_and(|of| self.not_reversed(of) < amount.minor());
        let is_repeated = self.habits.refuses_repeats && self.booked.iter().any(|one| one.reference == reference);
        let (state, amount) = match makes {
            _ if is_over || is_repeated => (ListedState::Declined, amount),
            Makes::Approves => (ListedState::Approved, amount),
            Makes::ApprovesPart => (ListedState::Approved, part),
            Makes::ApprovesMore => (ListedState::Approved, eur(amount.minor() * 5 / 4)),
            Makes::Declines => (ListedState::Declined, amount),
            Makes::Ponders => (ListedState::Undecided, amount),
        };
        let id = self.book(reference.to_owned(), kind.payment_type(), amount, state, of);
        self.answer(&id)
    }

    /// Returns the state of a payment, in the form of an answer to its request.
    pub(crate) fn answer(&self, id: &PaymentId) -> Answer {
        let Some(booked) = self.find(id) else { return Answer::Unknown { why: Reason::GatewayNoAnswer.into() } };
        match booked.state {
            ListedState::Approved => approval(id, ApprovedAmount::Said(booked.amount)),
            ListedState::Declined => Answer::Declined(Box::new(refusal(Some(id)))),
            ListedState::Undecided | ListedState::Unclear => Answer::Pending { id: id.clone(), redirect: None },
        }
    }

    /// Books a reversal of this amount, and returns the answer.
    pub(crate) fn reverses(&mut self, payment: &PaymentId, amount: Amount, reference: &str) -> ReversalAnswer {
        // The bank may carry out a reversal after it has refused it, when an earlier request arrives.
        let was_asked = self.approved("RV").any(|one| one.reference == reference);
        let stands = self.find(payment).is_some_and(|one| one.state == ListedState::Approved);
        // The bank checks references, but not sums. If the core uses another reference, it must calculate the sum
        // correctly.
        if was_asked || !stands {
            return self.refuses_reversal(payment, amount, reference);
        }
        let of = Some(payment.clone());
        let id = self.book(reference.to_owned(), "RV", amount, ListedState::Approved, of);
        ReversalAnswer::Done { id, amount: ApprovedAmount::Said(amount) }
    }

    /// Refuses a reversal, and books it as declined.
    pub(crate) fn refuses_reversal(&mut self, payment: &PaymentId, amount: Amount, reference: &str) -> ReversalAnswer {
        self.book(reference.to_owned(), "RV", amount, ListedState::Declined, Some(payment.clone()));
        ReversalAnswer::Refused { why: Reason::BankDeclined.into() }
    }

    /// Returns the list for these references, including all linked transactions.
    pub(crate) fn lists(&self, references: &[String], how: ListAs) -> Inquiry {
        let most = self.booked.len() - usize::from(how == ListAs::WithoutTheLast);
        let is_shown = |one: &&Booked| !(self.habits.hides_registrations && one.payment_type == "RG");
        let known = || self.booked[..most].iter().filter(is_shown);
        let named: Vec<&PaymentId> =
            known().filter(|one| references.contains(&one.reference)).map(|one| &one.id).collect();
        let linked =
            |one: &&Booked| named.contains(&&one.id) || one.refers_to.as_ref().is_some_and(|of| named.contains(&of));
        let mut found: Vec<_> = known().filter(linked).map(|one| self.listed(one)).collect();
        match how {
            ListAs::Whole | ListAs::WithoutTheLast => {}
            ListAs::LastUnclear => found.iter_mut().rev().take(1).for_each(|one| one.state = ListedState::Unclear),
            ListAs::WithoutReferences => found.iter_mut().for_each(|one| one.reference = None),
            ListAs::WithoutAmounts => found.iter_mut().for_each(|one| one.amount = ApprovedAmount::NotSaid),
        }
        Inquiry::Payments(found)
    }

    fn listed(&self, one: &Booked) -> ListedTransaction {
        ListedTransaction {
            id: one.id.clone(),
            payment_type: one.payment_type.to_owned(),
            amount: ApprovedAmount::Said(one.amount),
            state: one.state,
            reference: Some(one.reference.clone()),
            refers_to: one.refers_to.clone().filter(|_| self.habits.says_what_it_refers_to),
        }
    }

    /// Returns a payment that another sender can partly refund.
    pub(crate) fn has_paid(&self) -> Option<PaymentId> {
        let paid = self.booked.iter().filter(|one| one.refers_to.is_none() && one.payment_type == "DB");
        paid.map(|one| &one.id).find(|id| self.left_of(id) > STRANGERS_PART).cloned()
    }

    /// Returns whether the latest booking is another sender's refund.
    pub(crate) fn ends_with_a_strangers(&self) -> bool {
        self.booked.last().is_some_and(|one| one.reference == STRANGERS)
    }

    /// Books another sender's refund of a part.
    pub(crate) fn is_refunded_by_a_stranger(&mut self, payment: PaymentId) {
        let part = eur(STRANGERS_PART);
        self.book(STRANGERS.to_owned(), "RF", part, ListedState::Approved, Some(payment));
    }

    pub(crate) fn find(&self, id: &PaymentId) -> Option<&Booked> {
        self.booked.iter().find(|one| one.id == *id)
    }

    /// Returns how much of a payment was neither reversed nor refunded.
    pub(crate) fn left_of(&self, payment: &PaymentId) -> u64 {
        self.without(payment, &["RV", "RF"])
    }

    /// Returns how much of a payment was not reversed.
    fn not_reversed(&self, payment: &PaymentId) -> u64 {
        self.without(payment, &["RV"])
    }

    fn without(&self, payment: &PaymentId, kinds: &[&str]) -> u64 {
        let Some(booked) = self.find(payment).filter(|one| one.state == ListedState::Approved) else { return 0 };
        let is_back = |one: &&Booked| one.state == ListedState::Approved && one.refers_to.as_ref() == Some(payment);
        let back = self.booked.iter().filter(is_back).filter(|one| kinds.contains(&one.payment_type));
        booked.amount.minor().saturating_sub(back.map(|one| one.amount.minor()).sum())
    }

    /// Returns the returned amount and the paid amount of a payment for which the bank has returned more than was paid.
    pub(crate) fn over_given(&self) -> Option<(u64, u64)> {
        let paid = self.booked.iter().filter(|one| one.state == ListedState::Approved && one.refers_to.is_none());
        paid.map(|one| self.given_back_of(&one.id)).find(|(given, paid)| given > paid)
    }

    /// Returns how much of a payment was reversed or refunded, and the amount of the payment.
    pub(crate) fn given_back_of(&self, payment: &PaymentId) -> (u64, u64) {
        let back = self.approved("RV").chain(self.approved("RF"));
        let back = back.filter(|one| one.refers_to.as_ref() == Some(payment)).map(|one| one.amount.minor()).sum();
        (back, self.find(payment).map_or(0, |one| one.amount.minor()))
    }

    pub(crate) fn approved(&self, payment_type: &str) -> impl Iterator<Item = &Booked> {
        self.booked.iter().filter(move |one| one.payment_type == payment_type && one.state == ListedState::Approved)
    }

    /// Returns how much of each payment with this reference was neither reversed nor refunded, without zeros.
    pub(crate) fn charged(&self, reference: &str) -> Vec<u64> {
        self.sums(reference, |one| self.left_of(&one.id))
    }

    /// Returns how much of each payment with this reference was not reversed, without zeros. Refunds by other senders
    /// do not count.
    pub(crate) fn stands(&self, reference: &str) -> Vec<u64> {
        self.sums(reference, |one| self.not_reversed(&one.id))
    }

    fn sums(&self, reference: &str, left: impl Fn(&Booked) -> u64) -> Vec<u64> {
        self.booked.iter().filter(|one| one.reference == reference).map(left).filter(|left| *left > 0).collect()
    }

    /// Decides the pending transaction.
    pub(crate) fn decides(&mut self, approves: bool) {
        let Some(at) = self.booked.iter().position(|one| one.state == ListedState::Undecided) else { return };
        let Booked { payment_type, refers_to, amount, .. } = &self.booked[at];
        let is_over =
            *payment_type == "RV" && refers_to.as_ref().is_some_and(|of| self.not_reversed(of) < amount.minor());
        self.booked[at].state = if approves && !is_over { ListedState::Approved } else { ListedState::Declined };
    }

    /// Returns whether a transaction is pending.
    pub(crate) fn ponders(&self) -> bool {
        self.booked.iter().any(|one| one.state == ListedState::Undecided)
    }
}

pub(crate) fn approval(id: &PaymentId, amount: ApprovedAmount) -> Answer {
    Answer::Approved(Box::new(Approval {
        id: id.clone(),
        amount,
        for_chip: ForChip { arc: Some(*b"00"), ..ForChip::default() },
        facts: HostFacts { id: Some(id.clone()), ..HostFacts::default() },
    }))
}

pub(crate) fn refusal(id: Option<&PaymentId>) -> Refusal {
    Refusal {
        why: Reason::BankDeclined.into(),
        for_chip: ForChip::default(),
        facts: HostFacts { id: id.cloned(), ..HostFacts::default() },
    }
}
