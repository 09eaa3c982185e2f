//! Tokens that replace a card number (data-model: Token account). `provider` makes them from test cards.
//!
//! Where the interface is silent, the gateway assumes the following. With a network token, each payment that the
//! customer starts needs a proof: a cryptogram that is valid once, or its short code. A payment that the merchant
//! starts (MIT) and a payout to the token need no proof. An external token needs none either, but a proof that is sent
//! is checked.

use serde_json::json;

use super::address_and_code;
use super::answer::CheckLetters;
use super::brand;
use super::declined::{Declined, EXPIRED_CARD};
use super::entry::Kind;
use super::form::Form;
use super::host::Host;
use super::invalid::Invalid;
use super::masked_card::MaskedCard;
use super::method::Method;
use super::paying::Paying;
use super::provider::{self, TokenType};
use super::refusal::{Refusal, rule};

const NUMBER: &str = "tokenAccount.number";
const PROOF: &str = "tokenAccount.cryptogram";
const CODE: &str = "tokenAccount.dtvc";

const FOREIGN: Refusal = rule(NUMBER, "100.100.101", "invalid token: not one of the test provider of this gateway");
const WRONG_PROOF: Declined = Declined {
    code: "800.100.158",
    description: "transaction declined (the token's cryptogram is wrong)",
    arc: *b"05",
};
const USED_PROOF: Declined = Declined {
    code: "800.100.158",
    description: "transaction declined (the token's cryptogram was used before)",
    arc: *b"05",
};
const WRONG_CODE: Declined =
    Declined { code: "800.100.153", description: "transaction declined (wrong token verification code)", arc: *b"05" };

impl Host {
    /// Reads the token from a form.
    pub(super) fn token_account(&mut self, form: &Form, kind: Kind) -> Result<Paying, Refusal> {
        let (of, method) = match form.required("tokenAccount.type")? {
            "NETWORK" => (TokenType::Network, Method::NetworkToken),
            _ => (TokenType::External, Method::ExternalToken),
        };
        let token = form.required(NUMBER)?;
        let card = provider::card_of(of, token).ok_or(FOREIGN)?;
        if form.get("paymentBrand").is_some_and(|brand| Some(brand) != brand::of(card.number)) {
            return Err(Invalid::new("paymentBrand", "does not belong to the token's card").into());
        }
        let (proof, code) = (form.get(PROOF), form.get(CODE));
        let by_merchant = form.get("standingInstruction.source") == Some("MIT") || kind == Kind::Credit;
        if method == Method::NetworkToken && proof.or(code).is_none() && !by_merchant {
            return Err(Invalid::new(PROOF, "a network's token needs it, or tokenAccount.dtvc").into());
        }
        let wrong_proof = match proof {
            Some(proof) if !provider::is_of(token, proof) => Some(WRONG_PROOF),
            Some(proof) if !self.books.use_once(&format!("cryptogram {proof}"))? => Some(USED_PROOF),
            _ => None,
        };
        let wrong_code = code.filter(|code| provider::verification_code(token) != *code).map(|_| WRONG_CODE);
        let expiry = match (form.get("tokenAccount.expiryYear"), form.get("tokenAccount.expiryMonth")) {
            (Some(year), Some(month)) => Some(format!("{year}{month}")),
            (None, None) => None,
            (year, _) => {
                let name = if year.is_none() { "tokenAccount.expiryYear" } else { "tokenAccount.expiryMonth" };
                return Err(Invalid::new(name, "a token's year and month must be sent together").into());
            }
        };
        let this_month = self.clock.now().format("%Y%m").to_string();
        let ended = expiry.as_ref().filter(|expiry| **expiry < this_month).map(|_| EXPIRED_CARD);
        let address = address_and_code::address_check(form.get("billing.street1"), form.get("billing.postcode"));
        let shown = json!({ "card": card.facts(), "tokenAccount": { "type": form.get("tokenAccount.type") } });
        Ok(Paying {
            masked_card: Some(MaskedCard::of_number(card.number, expiry.as_deref().and_then(|all| all.get(2..)))),
            declined: self.issuer.decide(card.number, None, None).err().or(wrong_proof).or(wrong_code).or(ended),
            ..Paying::new(method, shown, CheckLetters { address, code: None })
        })
    }
}
