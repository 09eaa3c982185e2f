//! The means of payment: a payment has exactly one (data-model: Card account to Token account; Gift card).
//!
//! | means | sent as | `paymentMethods` of the query |
//! |---|---|---|
//! | card: read, typed or stored | `pos.*`, `card.*` | CC |
//! | bank account, direct debit | `bankAccount.*` | DD |
//! | bank account that receives money | `bankAccount.*`, `paymentType` CD | CT |
//! | bank account, online transfer | `bankAccount.*`, `paymentBrand` ONLINETRANSFER | OT |
//! | token of a card: external or network | `tokenAccount.*` | ET, NT |
//! | account at a provider | `virtualAccount.accountId` | VA |
//! | wallet: encrypted or decrypted | `<wallet_x>.*` | WA |
//! | gift card | `giftCard.number` | PP |
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - The codes of `paymentMethods` are as in the table.
//! - Gift card data without a number are no means of payment; they are the texts on a gift card that is bought.
//! - Decrypted wallet data belong to the wallet, although they are sent as `card.*`.

use super::form::Form;
use super::invalid::Invalid;

/// The means of payment that a form uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Means {
    Card,
    Bank,
    Token,
    Virtual,
    /// The wallet's prefix, and whether its data were sent decrypted.
    Wallet {
        prefix: &'static str,
        decrypted: bool,
    },
    Gift,
}

/// The prefixes of the wallets, which are the placeholders in the document.
pub(super) const WALLETS: [&str; 3] = ["<wallet_a>", "<wallet_b>", "<wallet_c>"];

/// The prefixes of the names that select a means of payment.
const BEGINNINGS: [(&str, Means); 5] = [
    ("card.", Means::Card),
    ("bankAccount.", Means::Bank),
    ("tokenAccount.", Means::Token),
    ("virtualAccount.", Means::Virtual),
    ("giftCard.number", Means::Gift),
];

impl Means {
    /// Returns the means of payment of a form; `None` if the form has none.
    ///
    /// # Errors
    ///
    /// Fails if the form has two means. The error names the second.
    pub(super) fn of(form: &Form) -> Result<Option<Self>, Invalid> {
        let mut found: Option<(Self, String)> = None;
        let mut add = |means: Self, name: &str| match &found {
            // Decrypted wallet data are sent as card data.
            Some((Self::Wallet { decrypted: true, .. }, _)) if means == Self::Card => Ok(()),
            Some((_, first)) => Err(Invalid::new(
                name,
                format!("a payment has one means of payment, but {first} belongs to a different one"),
            )),
            None => {
                found = Some((means, name.to_owned()));
                Ok(())
            }
        };
        for prefix in WALLETS {
            if let Some(name) = form.first_under(&format!("{prefix}.")) {
                add(Self::Wallet { prefix, decrypted: form.get(&format!("{prefix}.source")).is_some() }, name)?;
            }
        }
        for (beginning, means) in BEGINNINGS {
            if let Some(name) = form.first_under(beginning) {
                add(means, name)?;
            }
        }
        Ok(found.map(|(means, _)| means))
    }

    /// Returns the field that names the account.
    pub(super) fn number_field(&self) -> &'static str {
        match self {
            Self::Card | Self::Wallet { .. } => "card.number",
            Self::Bank => "bankAccount.iban",
            Self::Token => "tokenAccount.number",
            Self::Virtual => "virtualAccount.accountId",
            Self::Gift => "giftCard.number",
        }
    }

    /// Returns whether a name belongs to a means of payment.
    pub(super) fn is_field(name: &str) -> bool {
        let beginnings = BEGINNINGS.iter().map(|(beginning, _)| *beginning).chain(WALLETS);
        beginnings.into_iter().any(|beginning| name.starts_with(beginning))
    }

    /// Returns the first field of a means of payment, for a request that must not have one.
    pub(super) fn first_field(form: &Form) -> Option<&str> {
        let beginnings = BEGINNINGS.iter().map(|(beginning, _)| *beginning).chain(WALLETS);
        beginnings.into_iter().find_map(|beginning| form.first_under(beginning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{PAYMENT, Spelling};

    fn means(body: &str) -> Result<Option<Means>, String> {
        let form = Form::parse(body.as_bytes(), PAYMENT, Spelling::Usual).map_err(|why| why.to_string())?;
        Means::of(&form).map_err(|why| why.to_string())
    }

    #[test]
    fn a_form_has_one_means() {
        let token = "%3Cwallet_b%3E.paymentToken=abc";
        let decrypted = "%3Cwallet_a%3E.source=web&card.number=4111111111111111&card.expiryMonth=12&card.expiryYear=2030\
            &threeDSecure.eci=05&threeDSecure.verificationId=AAAAAAAAAAAAAAAAAAAAAAAAAAA%3D";
        assert_eq!(means("amount=1.00"), Ok(None));
        assert_eq!(means("card.number=4111111111111111"), Ok(Some(Means::Card)));
        assert_eq!(means(token), Ok(Some(Means::Wallet { prefix: "<wallet_b>", decrypted: false })));
        assert_eq!(means(decrypted), Ok(Some(Means::Wallet { prefix: "<wallet_a>", decrypted: true })));
        assert_eq!(means("giftCard.message=Happy+birthday&card.number=4111111111111111"), Ok(Some(Means::Card)));
        for (body, second, first) in [
            (format!("{token}&card.number=4111111111111111"), "card.number", "<wallet_b>.paymentToken"),
            (format!("{token}&%3Cwallet_c%3E.paymentToken=x"), "<wallet_c>.paymentToken", "<wallet_b>.paymentToken"),
            ("giftCard.number=12345&card.number=4111111111111111".to_owned(), "giftCard.number", "card.number"),
            (
                "virtualAccount.accountId=a&paymentBrand=X&tokenAccount.type=NETWORK".to_owned(),
                "virtualAccount.accountId",
                "tokenAccount.type",
            ),
        ] {
            let said = means(&body).unwrap_err();
            assert_eq!(
                said,
                format!("{second}: a payment has one means of payment, but {first} belongs to a different one"),
                "{body}"
            );
        }
    }
}
