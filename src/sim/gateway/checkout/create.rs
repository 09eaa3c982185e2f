//! `POST /v1/checkouts`: the merchant's server says what is to be paid, and gets an id for the widget.

use serde_json::json;

use super::super::answer::{self, result};
use super::super::form::{self, Form, Invalid};
use super::super::host::{Delivery, Host, money};
use super::super::refusal::Refusal;
use super::super::{included, widget};
use super::{Checkout, Purpose, origin};

/// Said of a checkout that waits for its shopper. Which code says so is not documented.
pub(super) const CREATED: (&str, &str) = ("000.200.100", "successfully created checkout");

impl Host {
    /// `POST /v1/checkouts`.
    pub(in super::super) fn create_checkout(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::CHECKOUT)?;
        let purpose = purpose(&form)?;
        if purpose == Purpose::Payment {
            form.complete(form::CHECKOUT)?;
            let amount = money(&form)?;
            if !self.host_rules().books_all() {
                included::check(&form, amount)?;
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
        Ok(if self.checkouts.keep(new, now) { Delivery::Answer(200, answer) } else { answer::throttled() })
    }
}

fn is_type(name: &str) -> bool {
    name == "paymentType" || name.starts_with("overridePaymentType[")
}

/// Without money it stores; with a part of what says how much, something is missing.
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

/// 41 characters, with the dot and the hyphen that an id may have.
fn new_id() -> String {
    format!("{}.sim-tx01", answer::new_id().to_uppercase())
}
