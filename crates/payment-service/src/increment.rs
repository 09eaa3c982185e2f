//! Requests that raise a pre-authorisation (INCREMENTAL_AUTH) or replace it (REAUTHORIZATION). `referenceUuid` or the
//! path names the pre-authorisation.
//!
//! Where the interface is silent, the gateway assumes the following. An increment raises the amount that can be
//! captured. A reauthorisation is a new pre-authorisation of at most the remaining amount. It closes the earlier
//! pre-authorisation, which opens again if the reauthorisation is reversed.

use super::balance::Balance;
use super::booking::Draft;
use super::delivery::Delivery;
use super::entry::{Kind, LedgerEntry, State};
use super::form::{self, Form};
use super::host::{Host, money};
use super::invalid::Invalid;
use super::means::Means;
use super::refusal::{Refusal, rule};
use pos_terms::money::Amount;

/// The parameter that names the original payment if the path does not.
pub(super) const REFERENCE: &str = "referenceUuid";
/// The error for a reference that differs from the path's id.
pub(super) const NAMES_ANOTHER: &str = "differs from the payment in the path";

impl Host {
    /// Handles `POST /v1/payments/{id}`, where the path names the payment.
    pub(super) fn increment_by_path(&mut self, id: &str, body: &[u8]) -> Result<Delivery, Refusal> {
        let mut pairs = form::decoded(body)?;
        match pairs.iter().find(|(name, _)| name == REFERENCE) {
            Some((_, named)) if named != id => return Err(Invalid::new(REFERENCE, NAMES_ANOTHER).into()),
            Some(_) => {}
            None => pairs.push((REFERENCE.to_owned(), id.to_owned())),
        }
        if self.books.find(id)?.is_none() && !self.host_rules().books_all() {
            return Err(Refusal::NotFound);
        }
        let form = Form::from_pairs(pairs, form::PAYMENT, self.reading())?;
        self.increment(&self.accepted(form)?, &format!("/v1/payments/{id}"))
    }

    /// Handles `POST /v1/payments` with `referenceUuid`. A redirect points to `path`.
    pub(super) fn increment(&mut self, form: &Form, path: &str) -> Result<Delivery, Refusal> {
        if form.required("paymentType")? != "PA" {
            return Err(Invalid::new("paymentType", "must be PA with referenceUuid").into());
        }
        let adds = match form.get("standingInstruction.industryPractice") {
            Some("INCREMENTAL_AUTH") => true,
            Some("REAUTHORIZATION") => false,
            _ => {
                let why = "must be INCREMENTAL_AUTH or REAUTHORIZATION with referenceUuid";
                return Err(Invalid::new("standingInstruction.industryPractice", why).into());
            }
        };
        let reference = form.required(REFERENCE)?;
        let read = form.first_under("pos.encrypted").or_else(|| form.first_under("pos.iccDataRequest"));
        if let Some(name) = read.or_else(|| Means::first_field(form)) {
            return Err(Invalid::new(name, "a payment by reference has no card").into());
        }
        form.keeps_to(form::INCREMENT)?;
        form.required("merchantTransactionId")?;
        let amount = money(form)?;
        let of = self.books.find(reference)?;
        if of.is_none() && !self.host_rules().books_all() {
            return Err(Invalid::new(REFERENCE, "matches no payment").into());
        }
        let outcome = self.outcome(form.get("amount"));
        if let Some(instead) = self.instead_of_processing(outcome, form.required("merchantTransactionId")?, path) {
            return Ok(instead);
        }
        if let Some(of) = of.as_ref().filter(|_| !self.host_rules().books_all()) {
            self.may_follow(&of.entry, adds, amount)?;
        }
        self.book(Draft { of: of.as_ref(), ..Draft::after(form, Kind::PreAuthorisation, amount, reference) }, outcome)
    }

    /// Checks that this request may raise or replace the pre-authorisation.
    fn may_follow(&self, held: &LedgerEntry, adds: bool, amount: Amount) -> Result<(), Refusal> {
        if held.kind != Kind::PreAuthorisation
            || held.is_increment()
            || matches!(held.state, State::Declined | State::Pending)
        {
            let why = "referenced transaction is of inappropriate type (it is not an approved PA)";
            return Err(rule(REFERENCE, "700.100.700", why));
        }
        if Some(amount.currency()) != held.currency() {
            return Err(rule(
                "currency",
                "700.100.500",
                "referenced payment currency does not match with requested payment currency",
            ));
        }
        let is = Balance::of(held, self.books.following(&held.id)?.iter());
        if is.is_reversed || is.is_renewed || is.is_final || is.left == 0 {
            return Err(rule(REFERENCE, "700.300.300", "referenced tx is captured, reversed or reauthorised already"));
        }
        let too_large = rule("amount", "700.100.300", "invalid amount (probably too large)");
        let total = is.authorised.saturating_add(amount.minor());
        let fits = if adds { Amount::from_minor(total, amount.currency()).is_ok() } else { amount.minor() <= is.left };
        if fits { Ok(()) } else { Err(too_large) }
    }
}
