//! How much may be charged at once, and how much may be given without an earlier payment, as the configuration says.

use crate::config::Terminal;
use crate::money::{Amount, Currency, MoneyError};
use crate::till::Refused;

use super::Error;

/// The limits of the terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    currency: Currency,
    /// The most that is charged at once.
    amount: Option<Amount>,
    /// The most that is given without an earlier payment; nothing without it.
    credit: Option<Amount>,
}

impl Limits {
    pub(super) fn new(terminal: &Terminal) -> Result<Self, Error> {
        let wrong = |key: &'static str| move |cause: MoneyError| Error::Money { key, cause };
        let currency = Currency::from_code(&terminal.currency).map_err(wrong("currency"))?;
        let limit = |text: Option<&str>| text.map(|text| Amount::parse(text, currency)).transpose();
        Ok(Self {
            currency,
            amount: limit(terminal.max_amount.as_deref()).map_err(wrong("max-amount"))?,
            credit: limit(terminal.max_credit_amount.as_deref()).map_err(wrong("max-credit-amount"))?,
        })
    }

    /// The terminal's currency.
    pub(super) fn currency(&self) -> Currency {
        self.currency
    }

    /// Whether the gateway and the terminal's limit allow `amount`; also asked when a tip was added.
    pub(super) fn may_charge(&self, amount: Amount) -> Result<(), String> {
        amount.to_gateway().map_err(|error| error.to_string())?;
        match self.amount {
            Some(max) if max.currency() != amount.currency() => {
                Err(format!("the terminal has a limit of {max} and takes no other currency; see [terminal] max-amount"))
            }
            Some(max) if amount.minor() > max.minor() => {
                Err(format!("{amount} is above the terminal's limit of {max}; see [terminal] max-amount"))
            }
            _ => Ok(()),
        }
    }

    /// The tip that a till named, when amount and tip can be charged. One above the bill is a typing error, as at the
    /// reader.
    pub(super) fn may_tip(&self, amount: Amount, tip: Amount) -> Result<Amount, Refused> {
        let refused = |why: String| Refused::Tip { why };
        let total = amount.plus(tip).map_err(|error| refused(error.to_string()))?;
        if tip.minor() > amount.minor() {
            return Err(refused(format!(
                "a tip of {tip} is more than the amount itself, {amount}; see what was typed"
            )));
        }
        self.may_charge(total).map_err(|why| refused(format!("amount and tip together: {why}")))?;
        Ok(tip)
    }

    /// Whether money may be given without an earlier payment that this journal knows; `given` was given for the same
    /// one.
    pub(super) fn may_give(&self, amount: Amount, given: u64) -> Result<(), Refused> {
        let refused = |why: String| Err(Refused::Amount { why });
        match self.credit {
            None => refused(
                "no money is given without an earlier payment that this terminal knows; to allow it, set [terminal] max-credit-amount"
                    .to_owned(),
            ),
            Some(max) if max.currency() != amount.currency() => {
                refused(format!("money is given in {} only; see [terminal] max-credit-amount", max.currency()))
            }
            Some(max) if amount.minor().saturating_add(given) > max.minor() => {
                refused(format!("{amount} is above the limit of {max} for money that is given; see [terminal] max-credit-amount"))
            }
            Some(_) => Ok(()),
        }
    }
}
