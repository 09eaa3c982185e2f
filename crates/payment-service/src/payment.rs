//! `POST /v1/payments`: payments with a card at a terminal. Follow-ups are in `follow_up`, `increment`, `registration`
//! and `query`. `remote_payment` handles payment data in the form.

use super::address_and_code;
use super::answer::CheckLetters;
use super::booking::{Draft, chosen};
use super::clear_card_data::ClearCard;
use super::declined::Declined;
use super::delivery::Delivery;
use super::encrypted_data::EncryptedData;
use super::entry::Kind;
use super::follow_up;
use super::form::{self, Form};
use super::host::{Host, money, not_in_clear};
use super::invalid::Invalid;
use super::issuer::{self, ChipData};
use super::masked_card::MaskedCard;
use super::options::Mode;
use super::outcomes::Outcome;
use super::refusal::Refusal;
use super::registration_book::Registration;
use super::remote_payment::{self, Origin};
use super::schedule::job;
use super::secure;
use super::standing_instruction;
use pos_terms::emv::track2::PinRule;
use pos_terms::money::Amount;

/// A payment request that has passed the checks so far.
struct PaymentRequest {
    form: Form,
    kind: Kind,
    amount: Amount,
    entry_mode: String,
}

impl Host {
    /// Handles `POST /v1/payments`.
    pub(super) fn payment(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        if follow_up::follows_by_reference(&form::decoded(body)?) {
            return self.follow_up_by_reference(body);
        }
        let form = self.form(body, form::PAYMENT)?;
        if form.get("referenceUuid").is_some() || standing_instruction::renews_or_adds(&form) {
            return self.increment(&form, "/v1/payments");
        }
        if remote_payment::is_remote(&form)? && job::is_asked(&form) {
            let new = self.typed(&form)?;
            return self.schedule_with(&new, &form);
        }
        if remote_payment::is_remote(&form)? {
            return self
                .pay_remotely(&form, &Origin { path: "/v1/payments", resource: None })
                .map(|paid| paid.delivery);
        }
        let request = check_payment(form)?;
        let PaymentRequest { form, kind, amount, .. } = &request;
        if self.options().mode == Mode::Fast {
            let draft = Draft { icc: Some("8A023030".to_owned()), ..Draft::new(form, *kind, *amount) };
            return self.book(draft, Outcome::Approve);
        }
        let stores = form.is_true("createRegistration");
        let instruction = standing_instruction::at_the_counter(form)?;
        let chip = check_reader(&request)?;
        let sealed = EncryptedData::from_form(form)?;
        if chip.as_ref().is_some_and(|chip| chip.wants_online_pin) && !sealed.has_pin() {
            return Err(Invalid::new(
                "pos.encryptedPin.data",
                "9F34 shows a PIN entry for the issuer, but no PIN was sent",
            )
            .into());
        }
        if job::is_asked(form) {
            let new = self.read(form)?;
            return self.schedule_with(&new, form);
        }
        let outcome = self.outcome(form.get("amount"));
        let reference = form.required("merchantTransactionId")?;
        if let Some(instead) = self.instead_of_processing(outcome, reference, "/v1/payments") {
            return Ok(instead);
        }
        let card = self.key_sets.open(&sealed, &request.entry_mode)?;
        check_card(&card, &request, sealed.has_pin())?;
        let verdict = self.issuer.decide(&card.pan, sealed.pin(&card.pan), chip.as_ref());
        let (checks, wrong) = self.check_address_and_code(&card, form);
        let declined = verdict.err().or(wrong).or(chosen(outcome, form));
        let draft = Draft {
            icc: chip.as_ref().and_then(|chip| self.icc_data_response(&card, chip, declined, outcome)),
            masked_card: Some(MaskedCard::of(&card)),
            declined,
            checks,
            stores,
            instruction,
            ..Draft::new(form, *kind, *amount)
        };
        self.book(draft, outcome)
    }

    /// Sets up a schedule, and stores the payment data that were read or typed for it.
    fn schedule_with(&mut self, new: &Registration, form: &Form) -> Result<Delivery, Refusal> {
        let answer = self.schedule(&new.id, form)?;
        self.books.store(new, None)?;
        Ok(answer)
    }

    /// Checks address, security code and expiry if they were sent.
    fn check_address_and_code(&self, card: &ClearCard, form: &Form) -> (CheckLetters, Option<Declined>) {
        let code = card.code.as_deref().map(|code| address_and_code::code_check(&card.pan, code));
        let this_month = self.clock.now().format("%y%m").to_string();
        let typed_expiry = card.expiry.as_deref().filter(|_| card.service_code.is_none());
        let letters = CheckLetters {
            address: address_and_code::address_check(form.get("billing.street1"), form.get("billing.postcode")),
            code: code.map(|(letter, _)| letter),
        };
        let expired = typed_expiry.and_then(|expiry| address_and_code::expiry_check(expiry, &this_month));
        (letters, code.and_then(|(_, wrong)| wrong).or(expired))
    }

    /// Makes `pos.iccDataResponse`. The outcome decides whether it is correct.
    fn icc_data_response(
        &self,
        card: &ClearCard,
        chip: &ChipData,
        declined: Option<Declined>,
        outcome: Outcome,
    ) -> Option<String> {
        let arc = declined.map_or(*b"00", |declined| declined.arc);
        match outcome {
            Outcome::NoIccResponse if declined.is_none() => None,
            Outcome::MalformedIcc if declined.is_none() => Some("8A0230309110ABCD".to_owned()),
            Outcome::LongScripts if declined.is_none() => {
                let response = self.issuer.icc_response(&card.pan, chip, arc, true);
                Some(response + &self.issuer.more_scripts(&card.pan, chip))
            }
            Outcome::Contradiction if declined.is_none() => {
                Some(self.issuer.icc_response(&card.pan, chip, *b"05", false))
            }
            _ => Some(self.issuer.icc_response(&card.pan, chip, arc, declined.is_none())),
        }
    }
}

/// Makes all checks that need no keys.
fn check_payment(form: Form) -> Result<PaymentRequest, Invalid> {
    let kind = match form.required("paymentType")? {
        "DB" => Kind::Debit,
        "PA" => Kind::PreAuthorisation,
        "CD" => Kind::Credit,
        _ => {
            return Err(Invalid::new(
                "paymentType",
                "must be DB, PA or CD with a card; CP, RV and RF refer to a payment",
            ));
        }
    };
    let amount = money(&form)?;
    // This gateway requires it (data-model: merchantTransactionId, "Required by some receivers").
    form.required("merchantTransactionId")?;
    form.required("pos.terminalId")?;
    let entry_mode = form.required("pos.entryMode")?.to_owned();
    if kind != Kind::PreAuthorisation && form.get("numberOfCaptures").is_some() {
        return Err(Invalid::new("numberOfCaptures", "belongs to a pre-authorisation (PA)"));
    }
    if secure::is_alone(&form) {
        return Err(Invalid::new(secure::NPA, "a card at the counter is not authenticated by 3-D Secure"));
    }
    if kind == Kind::Credit && form.get("createRegistration") == Some("true") {
        return Err(Invalid::new("createRegistration", "a card can be stored only with paymentType DB or PA"));
    }
    Ok(PaymentRequest { form, kind, amount, entry_mode })
}

/// Checks that the entry mode fits the chip data, and that the chip has signed this amount. A card that receives money
/// signs nothing.
fn check_reader(request: &PaymentRequest) -> Result<Option<ChipData>, Invalid> {
    const ICC: &str = "pos.iccDataRequest";
    let tlvs = request.form.hex(ICC)?;
    if let Some(tlvs) = &tlvs {
        issuer::check_tlvs(tlvs)?;
    }
    let (amount, gets) = (request.amount, request.kind == Kind::Credit);
    let psn = request.form.get("pos.panSequenceNumber");
    match (request.entry_mode.as_str(), tlvs) {
        ("ICC" | "NFC_ICC", Some(tlvs)) => {
            ChipData::read(tlvs, amount.minor(), amount.currency().numeric(), psn, gets).map(Some)
        }
        ("ICC" | "NFC_ICC", None) if !gets => Err(Invalid::new(ICC, format!("{} needs it", request.entry_mode))),
        (mode, Some(_)) if mode != "NFC_MAGSTRIPE" => Err(Invalid::new(ICC, format!("{mode} has no chip data"))),
        _ => Ok(None),
    }
}

/// Checks the decrypted card against the rest of the request.
fn check_card(card: &ClearCard, request: &PaymentRequest, has_pin: bool) -> Result<(), Invalid> {
    let has_chip = card.service_code.is_some_and(|code| code.has_chip());
    if request.entry_mode == "MAGSTRIPE" && has_chip {
        return Err(Invalid::new("pos.entryMode", "the card has a chip: insert it, or send MAGSTRIPE_AS_FALLBACK"));
    }
    let must_sign = request.entry_mode.starts_with("MAGSTRIPE") && request.kind != Kind::Credit;
    if must_sign && !has_pin && card.service_code.is_some_and(|code| code.wants_pin() == PinRule::Required) {
        return Err(Invalid::new("pos.encryptedPin.data", "the service code of this stripe demands a PIN"));
    }
    not_in_clear(card, &request.form)
}
