//! Mobile wallets (data-model: Mobile-wallet payments). A request contains the token that a wallet has encrypted for
//! one payment, or the card data that the merchant has decrypted. The gateway decrypts the token (`provider`).
//!
//! Where the interface is silent, the gateway assumes the following. A token is valid for one payment with the amount
//! and currency that the customer confirmed on the phone. The phone has authenticated its owner, so no further
//! authentication follows.

use serde_json::{Value, json};

use super::answer::CheckLetters;
use super::brand;
use super::card_not_present::FOREIGN_NUMBER;
use super::declined::EXPIRED_CARD;
use super::form::Form;
use super::host::Host;
use super::invalid::Invalid;
use super::masked_card::MaskedCard;
use super::method::Method;
use super::paying::Paying;
use super::provider;
use super::refusal::Refusal;
use super::secure;
use super::test_card;

impl Host {
    /// Reads a wallet's token.
    pub(super) fn wallet_token(&mut self, form: &Form, prefix: &str) -> Result<Paying, Refusal> {
        let name = format!("{prefix}.paymentToken");
        let wrong = |why: &str| Err(Invalid::new(name.as_str(), why).into());
        let Some(clear) = provider::open_wallet(prefix, form.required(&name)?) else {
            return wrong("is not a token of this wallet, or is damaged");
        };
        let card = test_card::find(&clear.number).ok_or(FOREIGN_NUMBER)?;
        if form.get("amount") != Some(&clear.amount) || form.get("currency") != Some(&clear.currency) {
            return wrong("the customer has agreed to another amount or currency");
        }
        let brand = brand::of(card.number);
        for network in ["paymentBrand".to_owned(), format!("{prefix}.cardNetwork")] {
            if form.get(&network).is_some_and(|named| !brand.is_some_and(|brand| brand.eq_ignore_ascii_case(named))) {
                return Err(Invalid::new(network, "does not belong to the wallet's card").into());
            }
        }
        if !self.books.use_once(&format!("wallet {}", clear.once))? {
            return wrong("was used before");
        }
        let this_month = self.clock.now().format("%y%m").to_string();
        let ended = (clear.expiry < this_month).then_some(EXPIRED_CARD);
        let mut shown = json!({ "card": card.facts() });
        shown["threeDSecure"] = secure::proof(card.number, 'Y');
        Ok(Paying {
            masked_card: Some(MaskedCard::of_number(card.number, Some(&clear.expiry))),
            declined: self.issuer.decide(card.number, None, None).err().or(ended),
            ..Paying::new(Method::Wallet, shown, CheckLetters::default())
        })
    }

    /// Reads card data that the merchant has decrypted, with the wallet's proof.
    pub(super) fn decrypted_wallet(&mut self, form: &Form) -> Result<Paying, Refusal> {
        let proof: Value = secure::external(form)?;
        let mut paying = self.typed_card(form)?;
        paying.shown["threeDSecure"] = proof;
        paying.method = Method::Wallet;
        paying.secure = None;
        Ok(paying)
    }
}
