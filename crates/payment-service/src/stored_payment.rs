//! Payments with a stored account: `POST /v1/registrations/{id}/payments`.

use serde_json::json;

use super::booking::Draft;
use super::delivery::Delivery;
use super::entry::Kind;
use super::form;
use super::host::Host;
use super::invalid::Invalid;
use super::refusal::Refusal;
use super::registration::with;
use super::remote_payment::{Origin, paid_amount};
use super::schedule::job;
use super::standing_instruction;

impl Host {
    /// Handles `POST /v1/registrations/{id}/payments`.
    pub(super) fn pay_with_registration(&mut self, id: &str, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::WITH_REGISTRATION)?;
        let kind = match form.required("paymentType")? {
            "DB" => Kind::Debit,
            "PA" => Kind::PreAuthorisation,
            "CD" => Kind::Credit,
            "RI" => Kind::RiskCheck,
            _ => return Err(Invalid::new("paymentType", "must be DB, PA, CD or RI with a stored account").into()),
        };
        if kind != Kind::PreAuthorisation && form.get("numberOfCaptures").is_some() {
            return Err(Invalid::new("numberOfCaptures", "belongs to a pre-authorisation (PA)").into());
        }
        let amount = paid_amount(&form, kind)?;
        let reference = form.required("merchantTransactionId")?;
        let stored = self.usable(id)?;
        let paying = with(&stored, &form, kind)?;
        if job::is_asked(&form) {
            return self.schedule(id, &form);
        }
        let outcome = self.outcome(form.get("amount"));
        let path = format!("/v1/registrations/{id}/payments");
        if let Some(instead) = self.instead_of_processing(outcome, reference, &path) {
            return Ok(instead);
        }
        let before = self.books.with_registration(id)?;
        let kept = standing_instruction::with_stored(&form, &before, stored.first.as_ref(), self.clock.now());
        // Permissive rules do not require an agreement.
        let instruction = if self.host_rules().books_all() { kept.unwrap_or_default() } else { kept? };
        // If a card was read at a terminal, or the request has terminal fields, the payment counts as a terminal's
        // payment.
        let at_the_counter = form.first_under("pos.").is_some() || stored.shown == json!({});
        let draft =
            Draft { registration: Some(id.to_owned()), instruction, at_the_counter, ..Draft::new(&form, kind, amount) };
        let paid = self.settle_or_ask(draft, paying, outcome, &Origin { path: &path, resource: None })?;
        Ok(paid.delivery)
    }
}
