//! Payments without a terminal: `POST /v1/payments` with the payment data in the form, and other sources of such a
//! form, such as a checkout. [`Host::pay_remotely`] handles all of them.
//!
//! The gateway requires exactly one means of payment, all mandatory parameters, and consistent amounts, and applies the
//! rules of the means. Then the cents of the amount choose the outcome, as for a terminal. `merchantTransactionId` may
//! be missing.
//!
//! With `paymentType=RI`, the gateway only assesses a card or bank account, and the customer gets no page. The answer
//! has `risk.score`, no money moves, and no follow-up is possible.

use super::booking::{Booked, Draft, chosen};
use super::delivery::Delivery;
use super::entry::Kind;
use super::form::{self, Form};
use super::host::{Host, currency, money};
use super::included;
use super::invalid::Invalid;
use super::means::Means;
use super::outcomes::Outcome;
use super::paying::Paying;
use super::redirect::{PageKind, RedirectPlan};
use super::refusal::Refusal;
use super::secure::{self, Authentication};
use super::standing_instruction;
use super::virtual_account;
use pos_terms::money::Amount;

/// The source of a form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    /// The path of the request, to which a redirect points.
    pub path: &'a str,
    /// The id and path for the result, if the customer's page belongs to a checkout and not to the payment.
    pub resource: Option<(&'a str, &'a str)>,
}

/// The result of a payment without a terminal.
pub(super) struct RemotePayment {
    /// The payment's id; `None` if it was not processed.
    pub id: Option<String>,
    /// The delivery to the form's sender.
    pub delivery: Delivery,
}

/// Returns whether [`Host::pay_remotely`] handles a form: the form has payment data, or lacks terminal fields.
pub(super) fn is_remote(form: &Form) -> Result<bool, Invalid> {
    let from_reader = form.first_under("pos.");
    match (Means::first_field(form), from_reader) {
        (Some(field), Some(from_reader)) => Err(Invalid::new(
            field,
            format!("a payment has one means of payment, but {from_reader} belongs to a card at the counter"),
        )),
        (means, None) => Ok(means.is_some()),
        (None, Some(_)) => Ok(false),
    }
}

impl Host {
    /// Makes a payment with the data of the form. The form was parsed as [`form::PAYMENT`] and names our entity.
    pub(super) fn pay_remotely(&mut self, form: &Form, origin: &Origin<'_>) -> Result<RemotePayment, Refusal> {
        let means = Means::of(form)?
            .ok_or_else(|| Invalid::new("card.number", "required: the request contains nothing to pay with"))?;
        form.complete(form::PAYMENT)?;
        let kind = kind(form)?;
        let amount = paid_amount(form, kind)?;
        if !self.host_rules().books_all() && !secure::is_alone(form) {
            included::check(form, amount)?;
        }
        let instruction = standing_instruction::typed(form)?;
        let outcome = self.outcome(form.get("amount"));
        let reference = form.get("merchantTransactionId").unwrap_or_default();
        if let Some(delivery) = self.instead_of_processing(outcome, reference, origin.path) {
            return Ok(RemotePayment { id: None, delivery });
        }
        let paying = self.paying(&means, form, kind, amount)?;
        let draft = Draft {
            stores: form.is_true("createRegistration"),
            instruction,
            at_the_counter: false,
            ..Draft::new(form, kind, amount)
        };
        self.settle_or_ask(draft, paying, outcome, origin)
    }

    /// Books a payment with this means. If necessary, it first authenticates the holder, or sends the customer to a
    /// page.
    pub(super) fn settle_or_ask(
        &mut self,
        draft: Draft<'_>,
        mut paying: Paying,
        outcome: Outcome,
        origin: &Origin<'_>,
    ) -> Result<RemotePayment, Refusal> {
        let form = draft.form;
        if secure::is_alone(form) && paying.secure.is_none() {
            return Err(Invalid::new(secure::NPA, "authenticates the holder of a card").into());
        }
        if let Some(card) = paying.secure.filter(|_| paying.declined.is_none() && pays(draft.kind)) {
            match secure::authenticate(form, card.number, card.secure, draft.amount)? {
                Authentication::Without if secure::is_alone(form) => paying.declined = Some(secure::REJECTED),
                Authentication::Without => {}
                Authentication::Done(proof) => paying.shown["threeDSecure"] = proof,
                Authentication::Refused(proof, declined) => {
                    paying.shown["threeDSecure"] = proof;
                    paying.declined = Some(declined);
                }
                Authentication::Challenge(proof) => {
                    paying.shown["threeDSecure"] = proof;
                    let is_decoupled = form.is_true("threeDSecure.decoupled");
                    paying.page = Some(if is_decoupled { PageKind::Decoupled } else { PageKind::Challenge });
                }
            }
        }
        let page = paying.page.filter(|_| paying.declined.is_none() && draft.kind != Kind::RiskCheck);
        let draft = Draft {
            masked_card: paying.masked_card,
            declined: paying.declined.or(chosen(outcome, form)),
            checks: paying.checks,
            method: paying.method,
            shown: Some(paying.shown),
            account: paying.account,
            registration: paying.paid_from.or(draft.registration),
            redirect: page.map(|kind| RedirectPlan::new(form, kind, origin.resource)).transpose()?,
            ..draft
        };
        let Booked { id, delivery } = self.enter(draft, outcome)?;
        Ok(RemotePayment { id: Some(id), delivery })
    }

    /// Reads the means of payment from a form.
    pub(super) fn paying(&mut self, means: &Means, form: &Form, kind: Kind, amount: Amount) -> Result<Paying, Refusal> {
        if kind == Kind::RiskCheck && !matches!(means, Means::Card | Means::Bank) {
            return Err(Invalid::new("paymentType", "RI assesses the risk of a card or a bank account").into());
        }
        match means {
            Means::Card => self.typed_card(form),
            Means::Bank => self.bank_account(form, kind),
            Means::Token => self.token_account(form, kind),
            Means::Virtual => Ok(virtual_account::virtual_account(form, kind)?),
            Means::Wallet { decrypted: true, .. } => self.decrypted_wallet(form),
            Means::Wallet { prefix, .. } => self.wallet_token(form, prefix),
            Means::Gift => self.gift_card(form, kind, amount),
        }
    }
}

/// Returns the amount to pay. For an authentication without a payment it is zero, even if the form has an amount
/// (data-model: 3D Secure, threeDSecure.npa).
pub(super) fn paid_amount(form: &Form, kind: Kind) -> Result<Amount, Invalid> {
    if !secure::is_alone(form) {
        return money(form);
    }
    if !matches!(kind, Kind::Debit | Kind::PreAuthorisation) {
        return Err(Invalid::new(secure::NPA, "is only for DB and PA: it authenticates the payer"));
    }
    form.required("amount")?;
    currency(form).map(Amount::nothing)
}

/// Returns whether the holder pays, and therefore may have to authenticate.
fn pays(kind: Kind) -> bool {
    !matches!(kind, Kind::Credit | Kind::RiskCheck)
}

/// Returns the kind of the request, and refuses fields that belong to other kinds.
fn kind(form: &Form) -> Result<Kind, Invalid> {
    let kind = match form.required("paymentType")? {
        "DB" => Kind::Debit,
        "PA" => Kind::PreAuthorisation,
        "CD" => Kind::Credit,
        "RI" => Kind::RiskCheck,
        _ => return Err(Invalid::new("paymentType", "must be DB, PA, CD or RI; CP, RV and RF refer to a payment")),
    };
    if matches!(kind, Kind::Credit | Kind::RiskCheck) && form.is_true("createRegistration") {
        return Err(Invalid::new("createRegistration", "payment data can be stored only with paymentType DB or PA"));
    }
    Ok(kind)
}
