//! Gift cards (data-model: Gift card). Each holds an amount in euros that the customer can spend.
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - A payment with a gift card needs its number and PIN.
//! - Sales (DB) and refunds are allowed; pre-authorisations (PA) are not.
//! - An amount above the remaining balance is declined for lack of money.
//! - With permissive rules, the balance is not checked.

use serde_json::json;

use super::answer::CheckLetters;
use super::balance::Balance;
use super::declined::Declined;
use super::entry::{Kind, State};
use super::form::Form;
use super::host::Host;
use super::invalid::Invalid;
use super::method::Method;
use super::paying::Paying;
use super::refusal::{Refusal, rule};
use pos_terms::money::Amount;

/// The number, PIN and initial amount (in cents) of each gift card.
type GiftCard = (&'static str, &'static str, u64);

const CARDS: [GiftCard; 3] =
    [("GIFT-0100-0001", "1234", 10_000), ("GIFT-0010-0002", "1234", 1_000), (EMPTY, "1234", 0)];
const EMPTY: &str = "GIFT-0000-0003";

const FOREIGN: Refusal = rule("giftCard.number", "100.100.101", "invalid gift card: not one of this gateway's");
const WRONG_PIN: Declined = Declined {
    code: "800.100.166",
    description: "transaction declined (incorrect personal identification number)",
    arc: *b"55",
};
const NOT_ENOUGH: Declined =
    Declined { code: "800.100.155", description: "transaction declined (amount exceeds the balance)", arc: *b"51" };

impl Host {
    /// Finds the gift card that a form names.
    pub(super) fn gift_card(&self, form: &Form, kind: Kind, amount: Amount) -> Result<Paying, Refusal> {
        if kind != Kind::Debit {
            return Err(Invalid::new("paymentType", "a gift card can only pay: use DB").into());
        }
        if form.is_true("createRegistration") {
            return Err(Invalid::new("createRegistration", "a gift card is not stored").into());
        }
        let number = form.required("giftCard.number")?;
        let (known, pin, sold_for) = CARDS.into_iter().find(|(known, ..)| *known == number).ok_or(FOREIGN)?;
        let declined = if form.required("giftCard.pin")? != pin {
            Some(WRONG_PIN)
        } else {
            let left = sold_for.saturating_sub(self.spent(known)?);
            let fits = amount.currency().code() == "EUR" && amount.minor() <= left;
            (!fits && !self.host_rules().books_all()).then_some(NOT_ENOUGH)
        };
        let mut paying = Paying::new(Method::GiftCard, json!({}), CheckLetters::default());
        if let Some(brand) = form.get("paymentBrand") {
            paying.shown["paymentBrand"] = json!(brand);
        }
        Ok(Paying { declined, paid_from: Some(account(known)), ..paying })
    }

    /// Returns the amount paid from a gift card and not refunded, in cents.
    fn spent(&self, number: &str) -> rusqlite::Result<u64> {
        let mut spent = 0_u64;
        for payment in self.books.with_registration(&account(number))? {
            let entry = payment.entry;
            if matches!(entry.state, State::Approved | State::Pending) {
                let is = Balance::of(&entry, self.books.following(&entry.id)?.iter());
                let back = is.given_back.saturating_add(is.reversed);
                spent = spent.saturating_add(entry.minor().saturating_sub(back));
            }
        }
        Ok(spent)
    }
}

/// Returns the key for a gift card's payments in the books.
fn account(number: &str) -> String {
    format!("gift card {number}")
}

/// Returns the gift cards as text, for `--help`.
pub(super) fn help() -> String {
    let cards =
        CARDS.map(|(number, pin, cents)| format!("  {number}  PIN {pin}, {}.{:02} EUR\n", cents / 100, cents % 100));
    format!("Gift cards (giftCard.number, giftCard.pin):\n{}", cards.concat())
}
