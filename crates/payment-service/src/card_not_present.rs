//! A card whose number is sent in clear (data-model: Card account). It was typed on a page, not read by a terminal. To
//! keep real cards out, the gateway refuses a number that `test_card` does not list before it stores any digit.
//!
//! The gateway checks the number, its brand and the expiry. If a security code or an address is sent, it checks them
//! too. A security code is not required, because stored cards and payments started by the merchant have none.

use super::address_and_code;
use super::answer::CheckLetters;
use super::brand;
use super::declined::{Declined, EXPIRED_CARD};
use super::form::Form;
use super::host::Host;
use super::invalid::Invalid;
use super::masked_card::MaskedCard;
use super::method::Method;
use super::paying::Paying;
use super::refusal::{Refusal, rule};
use super::test_card::{self, TestCard};
use pos_terms::emv::luhn;

/// The interface does not document the code for this refusal.
pub(super) const FOREIGN_NUMBER: Refusal =
    rule("card.number", "100.100.101", "invalid card number: not one of the public test numbers of this gateway");

impl Host {
    /// Reads the card from a form, and lets its issuer decide.
    pub(super) fn typed_card(&mut self, form: &Form) -> Result<Paying, Refusal> {
        let number = form.required("card.number")?;
        let card = test_card::find(number).filter(|_| luhn::is_valid(number)).ok_or(FOREIGN_NUMBER)?;
        let (year, month) = (form.required("card.expiryYear")?, form.required("card.expiryMonth")?);
        let expiry = format!("{}{month}", year.get(2..).unwrap_or_default());
        let brand = brand::of(number);
        if form.get("paymentBrand").is_some_and(|named| Some(named) != brand) {
            return Err(Invalid::new("paymentBrand", "does not belong to this card number").into());
        }
        if let Some((name, _)) = form.iter().find(|(name, value)| *name != "card.number" && value.contains(number)) {
            return Err(Invalid::new(name, "holds the card number").into());
        }
        let this_month = self.clock.now().format("%Y%m").to_string();
        let ended = (format!("{year}{month}") < this_month).then_some(EXPIRED_CARD);
        let (checks, wrong_code) = checks(form, card);
        let declined = self.issuer.decide(number, None, None).err().or(wrong_code).or(ended);
        let mut shown = serde_json::json!({ "card": card.facts() });
        if let Some(holder) = form.get("card.holder") {
            shown["card"]["holder"] = serde_json::json!(holder);
        }
        let (masked_card, secure) = (Some(MaskedCard::of_number(number, Some(&expiry))), Some(card));
        Ok(Paying { masked_card, declined, secure, ..Paying::new(Method::Card, shown, checks) })
    }
}

/// Returns the letters for address and security code, and the decline for a wrong code.
fn checks(form: &Form, card: &TestCard) -> (CheckLetters, Option<Declined>) {
    let code = form.get("card.cvv").map(|code| address_and_code::code_check(card.number, code));
    let letters = CheckLetters {
        address: address_and_code::address_check(form.get("billing.street1"), form.get("billing.postcode")),
        code: code.map(|(letter, _)| letter),
    };
    (letters, code.and_then(|(_, wrong)| wrong))
}
