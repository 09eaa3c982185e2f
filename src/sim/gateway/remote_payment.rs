//! Payments that are not made at the counter: `POST /v1/payments` with the payment data in the form, and whatever else
//! brings such a form, as a checkout. One way in: [`Host::pay_remotely`].
//!
//! Checked: that everything required is there, one means of payment, amounts that fit together, the means' own rules.
//! Then the cents of the amount choose, as at the counter. `merchantTransactionId` may be missing here.

use serde_json::Value;

use super::answer::CheckLetters;
use super::booking::{Booked, Draft, chosen};
use super::books::MaskedCard;
use super::form::{self, Form, Invalid};
use super::host::{Delivery, Host, money};
use super::included;
use super::issuer::Declined;
use super::ledger::Kind;
use super::means::{Means, Method};
use super::refusal::Refusal;
use super::standing_instruction;

/// Where a form comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    /// The path of the request, to be asked again when it is redirected.
    pub path: &'a str,
}

/// What became of it.
pub(super) struct RemotePayment {
    /// The payment; `None` when it was not processed.
    #[allow(dead_code, reason = "asked for by what is not a payment request itself")]
    pub id: Option<String>,
    /// What goes out on the line to whoever sent the form.
    pub delivery: Delivery,
}

/// What a means of payment comes to: what may be shown of it, and whether it pays.
pub(super) struct Paying {
    pub method: Method,
    pub masked_card: Option<MaskedCard>,
    /// What an answer shows beside the card's digits.
    pub shown: Value,
    pub checks: CheckLetters,
    pub declined: Option<Declined>,
}

/// Whether a form is for [`Host::pay_remotely`]: it has payment data of its own, or nothing of a terminal.
pub(super) fn is_remote(form: &Form) -> Result<bool, Invalid> {
    let from_reader = form.first_under("pos.");
    match (Means::first_field(form), from_reader) {
        (Some(field), Some(from_reader)) => {
            Err(Invalid::new(field, format!("a payment has one means, and {from_reader} is of a card at the counter")))
        }
        (means, None) => Ok(means.is_some()),
        (None, Some(_)) => Ok(false),
    }
}

impl Host {
    /// Pays with what the form brings. The form was parsed as [`form::PAYMENT`] and is of our entity.
    pub(super) fn pay_remotely(&mut self, form: &Form, origin: &Origin<'_>) -> Result<RemotePayment, Refusal> {
        let means =
            Means::of(form)?.ok_or_else(|| Invalid::new("card.number", "required: nothing to pay with was sent"))?;
        form.complete(form::PAYMENT)?;
        let kind = kind(form)?;
        let amount = money(form)?;
        if !self.host_rules().books_all() {
            included::check(form, amount)?;
        }
        let instruction = standing_instruction::typed(form)?;
        let outcome = self.outcome(form.get("amount"));
        let reference = form.get("merchantTransactionId").unwrap_or_default();
        if let Some(delivery) = self.instead_of_processing(outcome, reference, origin.path) {
            return Ok(RemotePayment { id: None, delivery });
        }
        let paying = self.paying(&means, form)?;
        let draft = Draft {
            masked_card: paying.masked_card,
            declined: paying.declined.or(chosen(outcome)),
            checks: paying.checks,
            stores: form.is_true("createRegistration"),
            instruction,
            method: paying.method,
            shown: Some(paying.shown),
            at_the_counter: false,
            ..Draft::new(form, kind, amount)
        };
        let Booked { id, delivery } = self.enter(draft, outcome)?;
        Ok(RemotePayment { id: Some(id), delivery })
    }

    fn paying(&mut self, means: &Means, form: &Form) -> Result<Paying, Refusal> {
        match means {
            Means::Card => self.typed_card(form),
            Means::Bank | Means::Token | Means::Virtual | Means::Wallet { .. } | Means::Gift => {
                let field = Means::first_field(form).unwrap_or_default();
                Err(Invalid::new(field, "this gateway does not take this means").into())
            }
        }
    }
}

/// What is asked for; what belongs to some kinds only.
fn kind(form: &Form) -> Result<Kind, Invalid> {
    let kind = match form.required("paymentType")? {
        "DB" => Kind::Debit,
        "PA" => Kind::PreAuthorisation,
        "CD" => Kind::Credit,
        _ => return Err(Invalid::new("paymentType", "must be DB, PA or CD; CP, RV and RF refer to a payment")),
    };
    if kind == Kind::Credit && form.is_true("createRegistration") {
        return Err(Invalid::new("createRegistration", "payment data are stored with DB or PA"));
    }
    Ok(kind)
}
