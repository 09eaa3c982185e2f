//! Additional amounts of a request: parts of its amount, and amounts that come in pairs (data-model: Basic payment
//! parameters, "the only processing-relevant amount", Forex, Shipping address, Marketplace).
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - Tax, shipping and the sum of the sellers' parts must each be at most the amount.
//! - An amount in another currency needs both of its fields, and a currency other than the payment's.
//! - A payout (PAYMENT) is a payment to the card (CD). A funding (FUNDING) is a payment from the card (DB, PA).
//!
//! The permissive rules skip these checks.

use super::form::Form;
use super::invalid::Invalid;
use pos_terms::money::{Amount, Currency};

const PROCESSING: &str = "transactionProcessingCode";

/// Checks that the amounts of a form are consistent. `amount` is the amount to pay.
pub(super) fn check(form: &Form, amount: Amount) -> Result<(), Invalid> {
    for name in ["taxAmount", "shipping.cost"] {
        if minor(form, name, amount.currency())?.is_some_and(|part| part > amount.minor()) {
            return Err(Invalid::new(name, "more than the amount that includes it"));
        }
    }
    sellers(form, amount)?;
    forex(form, amount)?;
    processing(form)
}

/// Checks that the parts of a marketplace's sellers do not exceed the amount.
fn sellers(form: &Form, amount: Amount) -> Result<(), Invalid> {
    let is_part = |name: &str| name.starts_with("marketPlace.sellers[") && name.ends_with("].amount");
    let mut sum = 0_u64;
    for (name, text) in form.iter().filter(|(name, _)| is_part(name)) {
        sum = sum.saturating_add(in_minor(name, text, amount.currency())?);
        if sum > amount.minor() {
            return Err(Invalid::new(name, "the sellers get more than the amount"));
        }
    }
    Ok(())
}

fn forex(form: &Form, amount: Amount) -> Result<(), Invalid> {
    const NAMES: [&str; 2] = ["forex.amount", "forex.currency"];
    match NAMES.map(|name| form.get(name)) {
        [None, None] => Ok(()),
        [Some(_), None] => Err(Invalid::new(NAMES[1], "forex.amount and forex.currency must be sent together")),
        [None, Some(_)] => Err(Invalid::new(NAMES[0], "forex.amount and forex.currency must be sent together")),
        [Some(_), Some(code)] => {
            let other = Currency::from_code(code);
            let other = other.map_err(|_| Invalid::new(NAMES[1], "not an ISO 4217 currency"))?;
            if other == amount.currency() {
                return Err(Invalid::new(NAMES[1], "is the currency of the amount"));
            }
            minor(form, NAMES[0], other).map(|_| ())
        }
    }
}

fn processing(form: &Form) -> Result<(), Invalid> {
    let fits = match (form.get(PROCESSING), form.get("paymentType")) {
        (Some("PAYMENT"), kind) => kind == Some("CD"),
        (Some("FUNDING"), kind) => kind != Some("CD"),
        _ => true,
    };
    if fits {
        Ok(())
    } else {
        Err(Invalid::new(PROCESSING, "does not fit paymentType: PAYMENT is CD, FUNDING DB or PA"))
    }
}

/// Returns an amount of the form in minor units of the currency.
fn minor(form: &Form, name: &str, currency: Currency) -> Result<Option<u64>, Invalid> {
    form.get(name).map(|text| in_minor(name, text, currency)).transpose()
}

/// Converts an amount to minor units. The table uses two decimals for every currency, and zero is allowed here.
fn in_minor(name: &str, text: &str, currency: Currency) -> Result<u64, Invalid> {
    if text.bytes().all(|c| matches!(c, b'0' | b'.')) {
        return Ok(0);
    }
    let amount = Amount::from_gateway(text, currency).map_err(|why| Invalid::new(name, why.to_string()))?;
    Ok(amount.minor())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{PAYMENT, Spelling};

    #[test]
    fn parts_are_inside_of_the_amount_and_pairs_come_together() {
        let amount = Amount::from_minor(1000, Currency::from_code("EUR").unwrap()).unwrap();
        let says = |more: &str| {
            let form = Form::parse(more.as_bytes(), PAYMENT, Spelling::Usual).unwrap();
            check(&form, amount).map_err(|why| why.to_string())
        };
        let seller = |n: u8, amount: &str| format!("marketPlace.sellers[{n}].amount={amount}");
        for good in [
            "taxAmount=10.00&shipping.cost=0.00&discountAmount=99.00".to_owned(),
            format!("{}&{}", seller(0, "4.00"), seller(1, "6.00")),
            "forex.amount=11.50&forex.currency=USD".to_owned(),
            "transactionProcessingCode=PAYMENT&paymentType=CD".to_owned(),
            "transactionProcessingCode=FUNDING&paymentType=DB".to_owned(),
        ] {
            assert_eq!(says(&good), Ok(()), "{good}");
        }
        for (bad, name) in [
            ("taxAmount=10.01".to_owned(), "taxAmount"),
            ("shipping.cost=10.01".to_owned(), "shipping.cost"),
            (format!("{}&{}", seller(0, "4.00"), seller(1, "6.01")), "marketPlace.sellers[1].amount"),
            ("forex.amount=11.50".to_owned(), "forex.currency"),
            ("forex.currency=USD".to_owned(), "forex.amount"),
            ("forex.amount=11.50&forex.currency=XXY".to_owned(), "forex.currency"),
            ("forex.amount=11.50&forex.currency=EUR".to_owned(), "forex.currency"),
            ("forex.amount=11.50&forex.currency=JPY".to_owned(), "forex.amount"),
            ("transactionProcessingCode=PAYMENT&paymentType=DB".to_owned(), "transactionProcessingCode"),
            ("transactionProcessingCode=FUNDING&paymentType=CD".to_owned(), "transactionProcessingCode"),
        ] {
            assert!(says(&bad).unwrap_err().starts_with(&format!("{name}: ")), "{bad}");
        }
    }
}
