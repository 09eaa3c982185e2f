//! The limits in the configuration: how much one transaction may charge, and how much may be paid out without an
//! earlier payment.

use crate::config::Terminal;
use crate::till::Refused;
use pos_terms::money::{Amount, Currency, MoneyError};
use pos_terms::transaction::Kind;
use pos_words::{Message, Sentence};

use super::Error;

/// The limits of the terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    currency: Currency,
    /// The highest amount that one transaction may charge.
    amount: Option<Amount>,
    /// The highest sum paid out without an earlier payment. If it is not set, nothing is paid out.
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

    /// Returns the terminal's currency.
    pub(super) fn currency(&self) -> Currency {
        self.currency
    }

    /// Checks that this is the terminal's currency.
    pub(super) fn takes(&self, currency: Currency) -> Result<(), Refused> {
        if currency == self.currency {
            return Ok(());
        }
        Err(Refused::Currency { wanted: currency, terminal: self.currency.code().to_owned() })
    }

    /// Checks that a transaction of `amount` may begin. The terminal's limit covers charges and reservations. A
    /// capture, refund or reversal is limited by the earlier transaction's amount.
    pub(super) fn may_begin(&self, kind: Kind, amount: Amount) -> Result<(), Sentence> {
        match kind {
            Kind::Capture | Kind::Refund | Kind::Reversal => {
                amount.to_gateway().map(|_| ()).map_err(|error| error.to_string().into())
            }
            _ => self.may_charge(amount),
        }
    }

    /// Checks that the gateway and the terminal's limit allow `amount`. This is also used after a tip was added.
    pub(super) fn may_charge(&self, amount: Amount) -> Result<(), Sentence> {
        amount.to_gateway().map_err(|error| error.to_string())?;
        match self.amount {
            Some(max) if max.currency() != amount.currency() => Err(Message::LimitOfOtherCurrency.with("limit", max)),
            Some(max) if amount.minor() > max.minor() => {
                Err(Message::AboveLimit.with("amount", amount).with("limit", max))
            }
            _ => Ok(()),
        }
    }

    /// Returns the tip that a till gave, if amount and tip can be charged. A tip above the bill counts as a typing
    /// error, as it does at the reader.
    pub(super) fn may_tip(&self, amount: Amount, tip: Amount) -> Result<Amount, Refused> {
        let refused = |why: Sentence| Refused::Tip { why };
        let total = amount.plus(tip).map_err(|error| refused(error.to_string().into()))?;
        if tip.minor() > amount.minor() {
            return Err(refused(Message::TipAboveAmount.with("tip", tip).with("amount", amount)));
        }
        self.may_charge(total).map_err(|why| refused(Message::TotalNotPossible.with("why", why)))?;
        Ok(tip)
    }

    /// Checks that `amount` may be paid out without an earlier payment that this journal knows. `given` is the sum
    /// already paid out for the same payment.
    pub(super) fn may_give(&self, amount: Amount, given: u64) -> Result<(), Refused> {
        let refused = |why: Sentence| Err(Refused::Amount { why });
        match self.credit {
            None => refused(Message::NothingGiven.into()),
            Some(max) if max.currency() != amount.currency() => {
                refused(Message::GivenInOtherCurrency.with("currency", max.currency().code()))
            }
            Some(max) if amount.minor().saturating_add(given) > max.minor() => {
                refused(Message::AboveGivenLimit.with("amount", amount).with("limit", max))
            }
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str, code: &str) -> Amount {
        Amount::parse(text, Currency::from_code(code).unwrap()).unwrap()
    }

    fn limits(most: Option<&str>, credit: Option<&str>) -> Limits {
        let eur = |text: Option<&str>| text.map(|text| amount(text, "EUR"));
        Limits { currency: Currency::from_code("EUR").unwrap(), amount: eur(most), credit: eur(credit) }
    }

    #[test]
    fn as_much_as_the_limit_is_charged_and_nothing_in_a_currency_that_it_is_not_in() {
        for (most, asked, code, may) in [
            (Some("50.00"), "50.00", "EUR", true),
            (Some("50.00"), "0.01", "EUR", true),
            (Some("50.00"), "50.01", "EUR", false),
            // The limit does not allow any amount in dollars or yen.
            (Some("50.00"), "0.01", "USD", false),
            (Some("50.00"), "1", "JPY", false),
            (None, "99999.99", "EUR", true),
            (None, "99999.99", "USD", true),
            // An amount for which the gateway has no format is never charged.
            (None, "1.230", "KWD", true),
            (None, "1.234", "KWD", false),
        ] {
            let judged = limits(most, None).may_charge(amount(asked, code));
            assert_eq!(judged.is_ok(), may, "{asked} {code} with {most:?}: {judged:?}");
        }
    }

    #[test]
    fn a_tip_is_at_most_the_bill_and_both_together_at_most_the_limit() {
        for (most, bill, tip, code, may) in [
            (None, "10.00", "10.00", "EUR", true),
            (None, "10.00", "10.01", "EUR", false),
            (None, "10.00", "0.01", "EUR", true),
            (Some("12.00"), "10.00", "2.00", "EUR", true),
            (Some("12.00"), "10.00", "2.01", "EUR", false),
            (None, "10.00", "1.00", "USD", false),
        ] {
            let judged = limits(most, None).may_tip(amount(bill, "EUR"), amount(tip, code));
            assert_eq!(judged.is_ok(), may, "{tip} {code} on {bill}: {judged:?}");
            match judged {
                Ok(charged) => assert_eq!(charged, amount(tip, code)),
                Err(refused) => assert!(matches!(refused, Refused::Tip { .. }), "{refused:?}"),
            }
        }
    }

    #[test]
    fn what_the_gateway_has_no_form_for_begins_in_no_way() {
        for (text, may) in [("1.230", true), ("1.234", false)] {
            for kind in [Kind::Sale, Kind::PreAuthorisation, Kind::Credit, Kind::Capture, Kind::Refund, Kind::Reversal]
            {
                let judged = limits(None, None).may_begin(kind, amount(text, "KWD"));
                assert_eq!(judged.is_ok(), may, "{kind:?} of {text}: {judged:?}");
            }
        }
    }

    #[test]
    fn money_is_given_up_to_the_limit_with_all_that_was_given_and_in_its_currency_alone() {
        for (credit, asked, code, given, may) in [
            (None, "0.01", "EUR", 0, false),
            (Some("50.00"), "50.00", "EUR", 0, true),
            (Some("50.00"), "50.01", "EUR", 0, false),
            (Some("50.00"), "20.00", "EUR", 3000, true),
            (Some("50.00"), "20.01", "EUR", 3000, false),
            (Some("50.00"), "0.01", "EUR", u64::MAX, false),
            (Some("50.00"), "0.01", "USD", 0, false),
        ] {
            // The limit for charges has no effect on amounts paid out.
            let judged = limits(Some("0.01"), credit).may_give(amount(asked, code), given);
            assert_eq!(judged.is_ok(), may, "{asked} {code} after {given} with {credit:?}: {judged:?}");
            assert!(judged.is_ok() || matches!(judged, Err(Refused::Amount { .. })));
        }
    }
}
