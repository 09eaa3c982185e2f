//! Transactions that refer to an earlier one: this asks the journal which it is, and holds the till to its rights. What
//! may follow, how much of it, and what the till hears of it, `follow_up` decides from what the journal knows:
//! everything that refers to the earlier one, by whatever name.
//!
//! An earlier transaction is named by its till's reference, by its number in this journal, or by its payment id at the
//! gateway. An id that this journal knows is that transaction, with its rest and its owner. Another till's needs the
//! right `any-till`; an id that this journal does not know needs the right `unknown-payment`, and money is given for it
//! only within `max-credit-amount`, as for a credit.

use crate::config::Right;
use crate::till::{LaterView, Refused, SaleView, Wanted};
use pos_core::follow_up::{self, CannotFollow, GivenById, History, Left, NoFollowUp};
use pos_core::sale::{Sale, Standing};
use pos_core::wish::EarlierName;
use pos_gateway::till_parameters;
use pos_terms::money::Amount;
use pos_terms::transaction::{Earlier, Kind, PaymentId, Transaction};

use super::Agent;
use super::journal_desk::refused_by_journal;

/// An earlier transaction, as far as this journal knows it.
pub(super) enum EarlierFound {
    /// In the journal.
    Here(Box<Sale>),
    /// At the gateway alone.
    Elsewhere(PaymentId),
}

impl EarlierFound {
    fn here(sale: Sale) -> Self {
        Self::Here(Box::new(sale))
    }
}

impl Agent {
    /// What a wish comes to: with the earlier transaction found, and its amount.
    pub(super) fn transaction_and_amount(&self, wanted: &Wanted) -> Result<(Transaction, Amount), Refused> {
        let wish = &wanted.wish;
        let registration = wish.registration.as_deref().map(|id| checked_id("registration", id)).transpose()?;
        let (of, amount) = match &wish.of {
            Some(of) => {
                let (of, amount) = self.earlier_and_amount(of, wish.amount, wanted)?;
                (Some(of), amount)
            }
            None => (None, wish.amount.unwrap_or_else(|| Amount::nothing(self.limits.currency()))),
        };
        if wish.kind == Kind::Credit {
            self.is_whole_for(None)?;
            self.limits.may_give(amount, 0)?;
        }
        let transaction = Transaction::new(wish.kind, of, registration);
        Ok((transaction.ok_or_else(|| not_possible(format!("a {} needs more", wish.kind.as_str())))?, amount))
    }

    /// The earlier transaction, and how much of it; all that is left of it when the till named no amount.
    fn earlier_and_amount(
        &self,
        of: &EarlierName,
        amount: Option<Amount>,
        wanted: &Wanted,
    ) -> Result<(Earlier, Amount), Refused> {
        match self.earlier(of)? {
            EarlierFound::Here(sale) => self.of_known(&sale, amount, wanted),
            EarlierFound::Elsewhere(payment) => {
                let amount = self.of_unknown(&payment, amount, wanted)?;
                Ok((Earlier { payment, number: None }, amount))
            }
        }
    }

    /// The earlier transaction.
    pub(super) fn earlier(&self, of: &EarlierName) -> Result<EarlierFound, Refused> {
        let number = match of {
            EarlierName::Reference { till, reference } => {
                return self.find(till, reference).map(|(sale, _)| EarlierFound::here(sale));
            }
            EarlierName::Number(number) => *number,
            EarlierName::Payment(payment) => {
                let payment = PaymentId::new(checked_id("payment", payment.as_str())?);
                self.is_of_its_ground(&payment)?;
                match self.journal.book().of_payment(&payment).map_err(refused_by_journal)? {
                    Some(number) => number,
                    None => return self.not_a_reversal_of_ours(payment).map(EarlierFound::Elsewhere),
                }
            }
        };
        let sale = self.journal.book().number(number).map_err(refused_by_journal)?;
        sale.map(EarlierFound::here)
            .ok_or_else(|| not_possible(format!("this terminal has no transaction of the number {number}")))
    }

    /// The id of a payment that this journal does not know. What it reversed by itself it knows, and nothing follows
    /// that.
    fn not_a_reversal_of_ours(&self, payment: PaymentId) -> Result<PaymentId, Refused> {
        match self.journal.book().of_reversal(&payment).map_err(refused_by_journal)? {
            None => Ok(payment),
            Some(number) => Err(not_possible(format!(
                "{payment} is the reversal of transaction {number}, which this terminal took back: nothing follows a reversal"
            ))),
        }
    }

    fn of_known(&self, sale: &Sale, amount: Option<Amount>, wanted: &Wanted) -> Result<(Earlier, Amount), Refused> {
        let number = sale.order().number;
        if follow_up::is_another_tills(sale.order(), &wanted.till) {
            wanted.caller.needs(Right::AnyTill, "to refer to another till's transaction")?;
        }
        self.is_transaction_of_its_ground(sale)?;
        self.is_whole_for(Some(number))?;
        let kind = wanted.wish.kind;
        let left = self.left(kind, sale)?;
        follow_up::follow_up(kind, sale, left, amount, &wanted.till).map_err(|why| match why {
            NoFollowUp::TooMuch { .. } => Refused::Amount { why: why.to_string() },
            why => not_possible(why.to_string()),
        })
    }

    fn of_unknown(&self, payment: &PaymentId, amount: Option<Amount>, wanted: &Wanted) -> Result<Amount, Refused> {
        self.is_whole_for(None)?;
        wanted.caller.needs(Right::UnknownPayment, "to refer to a payment that this terminal does not know")?;
        let amount = amount
            .ok_or_else(|| not_possible("an amount is needed: this terminal does not know the payment".to_owned()))?;
        if wanted.wish.kind.gives_back() {
            // What may have been given for it already counts.
            let earlier = self.journal.book().referring_to(payment).map_err(refused_by_journal)?;
            self.limits.may_give(amount, GivenById::of(&earlier).sum())?;
        }
        Ok(amount)
    }

    /// How much of a transaction may follow in this way.
    fn left(&self, follow: Kind, sale: &Sale) -> Result<Result<Left, CannotFollow>, Refused> {
        let root = follow_up::reservation_behind(sale.order());
        let root =
            root.map(|number| self.journal.book().number(number)).transpose().map_err(refused_by_journal)?.flatten();
        let history = |sale: &Sale| History::read(sale, &|one| self.later_than_this(one));
        let root = root.as_ref().map(history).transpose()?;
        Ok(history(sale)?.left(follow, root.as_ref()))
    }

    /// What refers to a transaction.
    fn later_than_this(&self, sale: &Sale) -> Result<Vec<Sale>, Refused> {
        let mut sales = self.journal.book().later(sale.order().number).map_err(refused_by_journal)?;
        if let Some(id) = &sale.host().id {
            // Referred to by its id when this journal did not know it.
            sales.extend(self.journal.book().referring_to(id).map_err(refused_by_journal)?);
        }
        Ok(sales)
    }

    /// A till's latest transaction.
    pub(super) fn latest(&self, till: &str) -> Result<SaleView, Refused> {
        let reference = self.journal.book().latest(till).map_err(refused_by_journal)?;
        let reference = reference.ok_or_else(|| Refused::NoneYet { till: till.to_owned() })?;
        self.find(till, &reference).map(|(_, view)| view)
    }

    /// The view of one sale: with what refers to it, what can still be captured or refunded, and all that the gateway
    /// said.
    pub(super) fn with_what_is_left(&self, sale: &Sale, mut view: SaleView) -> SaleView {
        view.answer.clone_from(&sale.host().more);
        let later = self.later_than_this(sale).unwrap_or_default();
        view.later = later.iter().map(|one| self.view_of(one)).map(|one| later_view(one, &view.till)).collect();
        view.later.sort_by_key(|one| one.number);
        let Some(follow) = follow_up::told_follow_up(sale.order().kind()) else { return view };
        let may_follow = || self.is_transaction_of_its_ground(sale).and(self.is_whole_for(Some(sale.order().number)));
        if matches!(sale.standing(), Standing::Ended(_)) && may_follow().is_ok() {
            match self.left(follow, sale) {
                Ok(Ok(Left::UpTo(left))) => view.left = Some(left.decimal()),
                Ok(Err(CannotFollow::HoldsNothing)) | Err(_) => {}
                Ok(_) => view.left = Some("0".to_owned()),
            }
        }
        view
    }

    /// Whether a wish is the stored transaction: then it is answered again.
    pub(super) fn is_the_same(&self, wanted: &Wanted, sale: &Sale) -> Result<bool, Refused> {
        let order = sale.order();
        let by_reference = matches!(wanted.wish.of, Some(EarlierName::Reference { .. }));
        let earlier = order.transaction.of().filter(|_| by_reference).and_then(|of| of.number);
        let key = earlier.map(|number| self.journal.book().key(number)).transpose().map_err(refused_by_journal)?;
        Ok(wanted.wish.is_of(order, key.flatten().as_ref())
            && order.training == wanted.training
            && till_parameters::are_the_same(&wanted.parameters, &order.parameters))
    }
}

/// As the earlier transaction's till may hear of it: another till's reference is that till's business.
pub(super) fn later_view(view: SaleView, till: &str) -> LaterView {
    let SaleView { number, reference, kind, amount, approved_amount, currency, state, outcome, .. } = view;
    let (reference, amount) = ((view.till == till).then_some(reference), approved_amount.unwrap_or(amount));
    LaterView { number, reference, kind, amount, currency, state, outcome }
}

fn checked_id(name: &str, id: &str) -> Result<String, Refused> {
    let right = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if right { Ok(id.to_owned()) } else { Err(not_possible(format!("{name} must be 32 letters and digits"))) }
}

fn not_possible(why: String) -> Refused {
    Refused::NotPossible { why }
}
