//! `POST /v1/checkouts`: the merchant's server states what is to be paid, and gets an id for the widget.
//! `POST /v1/checkouts/{id}` adds or changes fields until the shopper submits the form (data-model: overrideHolder, "at
//! prepare/update checkout").

use serde_json::json;

use super::{CREATED, Checkout, Purpose, USED_UP, origin};
use crate::delivery::Delivery;
use crate::envelope::{self, result};
use crate::form::{self, Form};
use crate::host::{Host, money};
use crate::included;
use crate::invalid::Invalid;
use crate::refusal::{self, Refusal};
use crate::widget;

/// The prefix of the parameters that override the payment type for one brand.
pub(super) const OVERRIDE: &str = "overridePaymentType[";

/// The result of a changed checkout.
const UPDATED: (&str, &str) = ("000.200.101", "successfully updated checkout");

impl Host {
    /// Handles `POST /v1/checkouts`.
    pub(crate) fn create_checkout(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::CHECKOUT)?;
        let purpose = self.checked(&form)?;
        let new = Checkout {
            id: new_id(),
            purpose,
            created: self.clock.now(),
            pairs: form.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            submitted: None,
        };
        let mut answer = json!({ "id": new.id, "result": result(CREATED.0, CREATED.1) });
        if form.is_true("integrity") {
            answer["integrity"] = json!(widget::integrity());
        }
        let now = self.clock.now();
        Ok(if self.checkouts.keep(new, now) { Delivery::Answer(200, answer) } else { refusal::throttled() })
    }

    /// Handles `POST /v1/checkouts/{id}`: it changes the fields in the request and keeps all others.
    pub(crate) fn update_checkout(&mut self, id: &str, body: &[u8]) -> Result<Delivery, Refusal> {
        let more = self.form(body, form::CHECKOUT)?;
        // data-model: overridePaymentType[brand], "accepted only when creating a checkout".
        if let Some(name) = more.first_under(OVERRIDE) {
            return Err(Invalid::new(name, "it is set when the checkout is created and does not change").into());
        }
        let checkout = self.checkouts.find(id).ok_or(Refusal::NotFound)?;
        let known = checkout.purpose;
        self.checkout(id, known)?;
        if checkout.submitted.is_some() {
            return Err(USED_UP);
        }
        let kept = checkout.pairs.iter().filter(|(name, _)| more.get(name).is_none()).cloned();
        let named = more.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let pairs: Vec<(String, String)> = kept.chain(named).collect();
        let form = Form::from_pairs(pairs.clone(), form::CHECKOUT, self.reading())?;
        if self.checked(&form)? != known {
            let why = "a checkout cannot change between paying and storing payment data";
            return Err(Invalid::new("createRegistration", why).into());
        }
        if !self.checkouts.replace(id, pairs) {
            return Ok(refusal::throttled());
        }
        Ok(Delivery::Answer(200, json!({ "id": id, "result": result(UPDATED.0, UPDATED.1) })))
    }

    /// Checks that the fields of a checkout are consistent, and returns its purpose.
    fn checked(&self, form: &Form) -> Result<Purpose, Refusal> {
        let purpose = purpose(form)?;
        if purpose == Purpose::Payment {
            form.complete(form::CHECKOUT)?;
            let amount = money(form)?;
            if !self.host_rules().books_all() {
                included::check(form, amount)?;
            }
        }
        for (name, kind) in form.iter().filter(|(name, _)| is_type(name)) {
            if !["DB", "PA", "CD"].contains(&kind) {
                return Err(Invalid::new(name, "must be DB, PA or CD; CP, RV and RF refer to a payment").into());
            }
        }
        if let Some(url) = form.get("shopperResultUrl") {
            origin::of(url).ok_or_else(|| Invalid::new("shopperResultUrl", origin::MUST_BE))?;
        }
        Ok(purpose)
    }
}

fn is_type(name: &str) -> bool {
    name == "paymentType" || name.starts_with(OVERRIDE)
}

/// Returns the purpose. A checkout without amount, currency and type stores payment data. If only some of the three are
/// sent, the error names a missing one.
fn purpose(form: &Form) -> Result<Purpose, Invalid> {
    let pays = ["amount", "currency", "paymentType"].into_iter().any(|name| form.get(name).is_some());
    if pays || !form.is_true("createRegistration") {
        return Ok(Purpose::Payment);
    }
    match form.iter().find(|(name, _)| is_type(name)) {
        Some((name, _)) => Err(Invalid::new(name, "a checkout that stores payment data pays nothing")),
        None => Ok(Purpose::Registration),
    }
}

/// Makes an id of 41 characters. It includes a dot and a hyphen, because the interface allows both.
fn new_id() -> String {
    format!("{}.sim-tx01", envelope::new_id().to_uppercase())
}
