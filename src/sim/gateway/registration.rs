//! Stored cards: made with a payment (`createRegistration`) or alone, paid with, deleted. Of the card only what may be
//! shown is kept.
//!
//! Checked when a card is stored alone: terminal, entry mode, card data that decrypt under a new key, and a PIN if one
//! comes. Not checked then: a cryptogram, billing address and security code, as nothing is paid.

use serde_json::json;

use super::answer::{self, result};
use super::booking::Draft;
use super::books::{MaskedCard, Registration};
use super::encrypted_data::EncryptedData;
use super::form::{self, Form, Invalid};
use super::host::{Delivery, Host, money, not_in_clear};
use super::issuer::Issuer;
use super::ledger::{Kind, State};
use super::refusal::{Refusal, rule};
use super::schedule;
use super::standing_instruction;
use super::webhook::Action;

const DELETED: Refusal = rule("id", "100.150.202", "registration is already deregistered");

impl Host {
    /// `POST /v1/registrations`: the card was read, and nothing is paid.
    pub(super) fn register(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::REGISTRATION)?;
        form.required("pos.terminalId")?;
        let entry_mode = form.required("pos.entryMode")?;
        let sealed = EncryptedData::from_form(&form)?;
        let card = self.key_sets.open(&sealed, entry_mode)?;
        not_in_clear(&card, &form)?;
        if let Err(declined) = self.issuer.decide(&card.pan, sealed.pin(&card.pan), None) {
            return Err(rule("pos.encryptedSred.data", declined.code, declined.description));
        }
        let new =
            Registration { id: answer::new_id(), masked_card: MaskedCard::of(&card), payment: None, is_deleted: false };
        self.books.store(&new, form.get("merchantTransactionId"))?;
        let (code, description, _) = answer::approved(form.get("testMode"));
        let mut answer = json!({ "id": new.id, "result": result(code, description) });
        answer::card(&mut answer, &new.masked_card, &form);
        let answer = answer::stamped(answer, self.clock.now());
        self.tell_of_registration(Action::Created, &answer);
        Ok(Delivery::Answer(200, answer))
    }

    /// `POST /v1/registrations/{id}/payments`.
    pub(super) fn pay_with_registration(&mut self, id: &str, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::WITH_REGISTRATION)?;
        let kind = match form.required("paymentType")? {
            "DB" => Kind::Debit,
            "PA" => Kind::PreAuthorisation,
            _ => return Err(Invalid::new("paymentType", "must be DB or PA with a stored card").into()),
        };
        if kind != Kind::PreAuthorisation && form.get("numberOfCaptures").is_some() {
            return Err(Invalid::new("numberOfCaptures", "belongs to a pre-authorisation (PA)").into());
        }
        let amount = money(&form)?;
        let reference = form.required("merchantTransactionId")?;
        let stored = self.usable(id)?;
        if form.get("paymentBrand").is_some_and(|brand| Some(brand) != answer::brand(&stored.masked_card.bin)) {
            return Err(Invalid::new("paymentBrand", "does not belong to the stored card").into());
        }
        if schedule::is_asked(&form) {
            return self.schedule(id, &form);
        }
        let outcome = self.outcome(form.get("amount"));
        if let Some(instead) =
            self.instead_of_processing(outcome, reference, &format!("/v1/registrations/{id}/payments"))
        {
            return Ok(instead);
        }
        let before = self.books.with_registration(id)?;
        let kept = standing_instruction::with_stored(&form, &before, self.clock.now());
        // A bank without rules asks for no agreement.
        let instruction = if self.host_rules().books_all() { kept.unwrap_or_default() } else { kept? };
        let declined = Issuer::decide_stored(&stored.masked_card.bin, &stored.masked_card.last4).err();
        let draft = Draft {
            masked_card: Some(stored.masked_card),
            declined,
            registration: Some(id.to_owned()),
            instruction,
            ..Draft::new(&form, kind, amount)
        };
        self.book(draft, outcome)
    }

    /// `DELETE /v1/registrations/{id}`.
    pub(super) fn deregister(&mut self, id: &str, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::DEREGISTRATION, self.host_rules())?, true)?;
        let stored = self.books.registration(id)?.ok_or(Refusal::NotFound)?;
        if stored.is_deleted {
            return Err(DELETED);
        }
        self.books.delete_registration(id)?;
        let (code, description, _) = answer::approved(None);
        let answer = json!({ "id": id, "result": result(code, description) });
        let answer = answer::stamped(answer, self.clock.now());
        self.tell_of_registration(Action::Deleted, &answer);
        Ok(Delivery::Answer(200, answer))
    }

    /// A stored card that may be used: not deleted, and the payment that stored it was approved.
    pub(super) fn usable(&self, id: &str) -> Result<Registration, Refusal> {
        let stored = self.books.registration(id)?.ok_or(Refusal::NotFound)?;
        if self.host_rules().books_all() {
            return Ok(stored);
        }
        if stored.is_deleted {
            return Err(DELETED);
        }
        let made_by = stored.payment.as_deref().map(|id| self.books.find(id)).transpose()?.flatten();
        if made_by.is_some_and(|payment| matches!(payment.entry.state, State::Pending | State::Declined)) {
            return Err(rule("id", "100.150.203", "registration is not valid, its first payment is not approved"));
        }
        Ok(stored)
    }
}
