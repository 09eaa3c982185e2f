//! Stored accounts: creation with a payment (`createRegistration`) or without one, deletion, and use in a payment
//! (`stored_payment`). For a card or bank account, the books hold only the fields that may be shown.
//!
//! The gateway can store a card that was read without a payment. It then checks the terminal, the entry mode, the
//! decryption under a new key, and a sent PIN. It does not check cryptogram, billing address and security code, because
//! nothing is paid. It checks typed data as for a payment.
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - A wallet's token, a gift card and an online transfer are for one payment and cannot be stored without it.
//! - A stored account at a provider pays without its page.
//! - A payment may name a holder if the stored account has none.

use serde_json::{Value, json};

use super::address_and_code;
use super::answer::{self, CheckLetters};
use super::brand;
use super::delivery::Delivery;
use super::echo::echo;
use super::encrypted_data::EncryptedData;
use super::entry::{Kind, State};
use super::envelope::{self, result};
use super::form::{self, Form};
use super::host::{Host, not_in_clear};
use super::invalid::Invalid;
use super::issuer::Issuer;
use super::masked_card::MaskedCard;
use super::means::Means;
use super::method::Method;
use super::paying::Paying;
use super::redirect::PageKind;
use super::refusal::{Refusal, Rule, rule};
use super::registration_book::Registration;
use super::remote_payment;
use super::standing_instruction;
use super::test_card;
use super::webhook::queue::Action;
use pos_terms::money::{Amount, Currency};

const DELETED: Refusal = rule("id", "100.150.202", "registration is already deregistered");
const OVERRIDE: &str = "overrideHolder";
const HOLDERS: [&str; 2] = ["card.holder", "bankAccount.holder"];

impl Host {
    /// Handles `POST /v1/registrations`: stores payment data without a payment.
    pub(super) fn register(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::REGISTRATION)?;
        self.store(&form)
    }

    /// Stores the payment data of a form that was parsed as [`form::REGISTRATION`].
    pub(super) fn store(&mut self, form: &Form) -> Result<Delivery, Refusal> {
        let first = standing_instruction::migrated(form, self.clock.now())?;
        let new = if remote_payment::is_remote(form)? { self.typed(form)? } else { self.read(form)? };
        let new = Registration { first, ..new };
        self.books.store(&new, Some((form.get("merchantTransactionId"), self.clock.now().timestamp())))?;
        let (code, description, _) = envelope::approved(form.get("testMode"));
        let mut answer = json!({ "id": new.id, "result": result(code, description) });
        if let Some(card) = &new.masked_card {
            answer::card(&mut answer, card, form);
        }
        envelope::add(&mut answer, &new.shown);
        if let Some(first) = &new.first {
            answer["standingInstruction"] = first.clone();
        }
        echo(&mut answer, form, form.first_under("pos.").is_some());
        let answer = envelope::stamped(answer, self.clock.now());
        self.tell_of_registration(Action::Created, &answer);
        Ok(Delivery::Answer(200, answer))
    }

    /// Makes a stored card from the data of a reader.
    pub(super) fn read(&mut self, form: &Form) -> Result<Registration, Refusal> {
        form.required("pos.terminalId")?;
        let entry_mode = form.required("pos.entryMode")?;
        let sealed = EncryptedData::from_form(form)?;
        let card = self.key_sets.open(&sealed, entry_mode)?;
        not_in_clear(&card, form)?;
        if let Err(declined) = self.issuer.decide(&card.pan, sealed.pin(&card.pan), None) {
            return Err(rule("pos.encryptedSred.data", declined.code, declined.description));
        }
        Ok(stored(Method::Card, Some(MaskedCard::of(&card)), json!({})))
    }

    /// Makes a stored account from typed payment data.
    pub(super) fn typed(&mut self, form: &Form) -> Result<Registration, Refusal> {
        let Some(means) = Means::of(form)? else { return Err(Invalid::new("card.number", "required").into()) };
        let field = Means::first_field(form).unwrap_or_default();
        form.complete(form::REGISTRATION)?;
        // Nothing is paid, so a token is treated as one that receives money, which needs no proof.
        let kind = if means == Means::Token { Kind::Credit } else { Kind::Debit };
        let nothing = Currency::from_code("EUR").and_then(|euro| Amount::from_minor(1, euro));
        let nothing = nothing.map_err(|why| Invalid::new("amount", why.to_string()))?;
        let paying = match means {
            Means::Wallet { decrypted: false, .. } | Means::Gift => {
                return Err(Invalid::new(field, "is for one payment and is not stored").into());
            }
            _ => self.paying(&means, form, kind, nothing)?,
        };
        if paying.method == Method::OnlineTransfer {
            return Err(Invalid::new("paymentBrand", "an online transfer is for one payment and is not stored").into());
        }
        if let Some(declined) = paying.declined {
            let name = means.number_field();
            return Err(Refusal::Rule(Rule { name, code: declined.code, description: declined.description }));
        }
        let mut shown = paying.shown;
        shown.as_object_mut().map(|fields| fields.remove("threeDSecure"));
        Ok(Registration { account: paying.account, ..stored(paying.method, paying.masked_card, shown) })
    }

    /// Handles `DELETE /v1/registrations/{id}`.
    pub(super) fn deregister(&mut self, id: &str, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::DEREGISTRATION, self.reading())?, true)?;
        let stored = self.books.registration(id)?.ok_or(Refusal::NotFound)?;
        if stored.is_deleted {
            return Err(DELETED);
        }
        self.books.delete_registration(id)?;
        let (code, description, _) = envelope::approved(None);
        let answer = json!({ "id": id, "result": result(code, description) });
        let answer = envelope::stamped(answer, self.clock.now());
        self.tell_of_registration(Action::Deleted, &answer);
        Ok(Delivery::Answer(200, answer))
    }

    /// Returns a stored account that can be used: it is not deleted, and the payment that stored it was approved.
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
            return Err(rule("id", "100.150.203", "registration is not valid: its first payment is not approved"));
        }
        Ok(stored)
    }
}

fn stored(method: Method, masked_card: Option<MaskedCard>, shown: Value) -> Registration {
    let id = envelope::new_id();
    Registration { id, method, masked_card, shown, account: None, first: None, payment: None, is_deleted: false }
}

/// Returns the means of payment of a stored account in this payment.
pub(super) fn with(stored: &Registration, form: &Form, kind: Kind) -> Result<Paying, Invalid> {
    let card = stored.masked_card.as_ref();
    let brand = card.and_then(|card| brand::of(&card.bin)).or(stored.shown["paymentBrand"].as_str());
    if form.get("paymentBrand").is_some_and(|named| Some(named) != brand) {
        return Err(Invalid::new("paymentBrand", "does not belong to the stored account"));
    }
    if kind == Kind::PreAuthorisation && stored.method == Method::DirectDebit {
        return Err(Invalid::new("paymentType", "a bank account allows no reservation: use DB or CD"));
    }
    if kind == Kind::RiskCheck && !matches!(stored.method, Method::Card | Method::DirectDebit) {
        return Err(Invalid::new("paymentType", "RI assesses the risk of a card or a bank account"));
    }
    let method = match (stored.method, kind) {
        (Method::DirectDebit, Kind::Credit) => Method::CreditTransfer,
        (method, _) => method,
    };
    let shown = holder(stored, form)?;
    let known = card.and_then(|card| test_card::find_stored(&card.bin, &card.last4));
    let code = known.zip(form.get("card.cvv")).map(|(card, code)| address_and_code::code_check(card.number, code));
    let checks = CheckLetters {
        address: address_and_code::address_check(form.get("billing.street1"), form.get("billing.postcode")),
        code: code.map(|(letter, _)| letter),
    };
    let declined = card.and_then(|card| Issuer::decide_stored(&card.bin, &card.last4).err());
    let is_customers_card = stored.method == Method::Card;
    let page = (stored.method == Method::OnlineTransfer).then_some(PageKind::Account);
    Ok(Paying {
        masked_card: stored.masked_card.clone(),
        declined: declined.or(code.and_then(|(_, wrong)| wrong)),
        secure: known.filter(|_| is_customers_card),
        page,
        account: stored.account.clone(),
        ..Paying::new(method, shown, checks)
    })
}

/// Returns the fields of a stored account that may be shown. This payment may name the holder if the stored account has
/// none (data-model: Tokenization and registration parameters). Other payment data are not allowed with a stored
/// account.
fn holder(stored: &Registration, form: &Form) -> Result<Value, Invalid> {
    let overrides = form.is_true(OVERRIDE);
    let other = form
        .iter()
        .map(|(name, _)| name)
        .find(|name| Means::is_field(name) && *name != "card.cvv" && !(overrides && HOLDERS.contains(name)));
    if let Some(name) = other {
        return Err(Invalid::new(name, "the stored account pays"));
    }
    let mut shown = stored.shown.clone();
    if !overrides {
        return Ok(shown);
    }
    let Some(name) = HOLDERS.into_iter().find(|name| form.get(name).is_some()) else {
        return Err(Invalid::new(HOLDERS[0], "required with overrideHolder: card.holder or bankAccount.holder"));
    };
    if name != HOLDERS[0] || stored.masked_card.is_none() {
        return Err(Invalid::new(name, "the stored account is not a card, or already has a holder"));
    }
    if !shown["card"]["holder"].is_null() {
        return Err(Invalid::new(name, "the stored account already has a holder, which cannot be overridden"));
    }
    shown["card"]["holder"] = json!(form.get(name));
    Ok(shown)
}
