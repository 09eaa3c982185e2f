//! The settings for operators: whether they must sign in, how long a session lasts, and the amounts above which a
//! supervisor must confirm a cashier's transaction. The operators themselves are not listed here but added with
//! `pos-agent operator`.

use serde::Deserialize;

use pos_core::counter::{self, NeedsSupervisor, Pin};
use pos_daemon::settings::{FaultList, fault, within};
use pos_terms::money::{Amount, Currency, MoneyError};

/// The limits of the time after which an idle session ends. A customer may need half a minute to find a card, and a
/// session that is longer than a shift would give no protection.
const IDLE_LOCK_S: std::ops::RangeInclusive<u64> = 30..=28_800;

/// The words for a limit: with `any`, a supervisor confirms each transaction, and with `never`, none.
const ANY: &str = "any";
const NEVER: &str = "never";

/// The settings for the operators at the counter.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Operators {
    /// True if an operator must be signed in for anything that moves money, on every connection without
    /// `operator = false`. Before you set this, add an operator (`pos-agent operator add`).
    pub required: bool,
    /// The number of seconds without a command after which a session ends.
    pub idle_lock_s: u64,
    /// The number of digits of each PIN, 4 to 12. The cashier's page then sends a PIN after its last digit. After a
    /// change, set each PIN again.
    pub pin_digits: Option<u8>,
    /// The amounts, in the terminal's currency, above which a cashier needs a supervisor.
    pub supervisor_above: Amounts,
}

/// A limit for each kind of transaction: an amount, `any` (a supervisor confirms each transaction) or `never`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Amounts {
    /// The limit for a sale, or a charge of a stored card.
    pub sale: String,
    /// The limit for a reservation, an increment or a renewed reservation.
    pub pre_authorisation: String,
    /// The limit for a capture.
    pub capture: String,
    /// The limit for a refund.
    pub refund: String,
    /// The limit for a credit.
    pub credit: String,
    /// The limit for a reversal of a transaction from an earlier day. A cashier can reverse today's transactions
    /// without a supervisor.
    pub reversal: String,
}

impl Default for Operators {
    fn default() -> Self {
        Self { required: false, idle_lock_s: 300, pin_digits: None, supervisor_above: Amounts::default() }
    }
}

impl Default for Amounts {
    fn default() -> Self {
        let (any, never) = (|| ANY.to_owned(), || NEVER.to_owned());
        Self {
            sale: never(),
            pre_authorisation: never(),
            capture: never(),
            refund: any(),
            credit: any(),
            reversal: any(),
        }
    }
}

impl Amounts {
    /// Returns the amounts in the terminal's currency.
    ///
    /// # Errors
    /// Returns the key of the first invalid amount, and the reason.
    pub fn in_currency(&self, currency: Currency) -> Result<counter::SupervisorAbove, (&'static str, MoneyError)> {
        let read = |key: &'static str, text: &str| match text {
            ANY => Ok(NeedsSupervisor::Always),
            NEVER => Ok(NeedsSupervisor::Never),
            amount => Amount::parse(amount, currency).map(NeedsSupervisor::Above).map_err(|error| (key, error)),
        };
        Ok(counter::SupervisorAbove {
            sale: read("sale", &self.sale)?,
            pre_authorisation: read("pre-authorisation", &self.pre_authorisation)?,
            capture: read("capture", &self.capture)?,
            refund: read("refund", &self.refund)?,
            credit: read("credit", &self.credit)?,
            reversal: read("reversal", &self.reversal)?,
        })
    }
}

/// Checks the section. Without a valid currency, it does not check the amounts.
pub(super) fn check(found: &mut FaultList, operators: &Operators, currency: Option<Currency>) {
    found.add(within("operators.idle-lock-s", operators.idle_lock_s, &IDLE_LOCK_S));
    if let Some(digits) = operators.pin_digits {
        let limits = u64::from(*Pin::LENGTH.start())..=u64::from(*Pin::LENGTH.end());
        found.add(within("operators.pin-digits", u64::from(digits), &limits));
    }
    let amounts = currency.map_or(Ok(()), |currency| operators.supervisor_above.in_currency(currency).map(|_| ()));
    found.add(amounts.map_err(|(key, error)| {
        let remedy = "write an amount in the terminal's currency, \"any\" or \"never\"";
        fault(&format!("operators.supervisor-above.{key}"), &error.to_string(), remedy)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::transaction::Kind;

    #[test]
    fn without_a_word_about_it_nobody_signs_in_and_what_is_given_needs_a_supervisor() {
        let operators: Operators = toml::from_str("").unwrap();
        assert!(!operators.required && operators.idle_lock_s == 300);
        let eur = Currency::from_code("EUR").unwrap();
        let above = operators.supervisor_above.in_currency(eur).unwrap();
        let cent = Amount::parse("0.01", eur).unwrap();
        for kind in Kind::ALL {
            let gives = matches!(kind, Kind::Refund | Kind::Credit | Kind::Reversal);
            assert_eq!(above.needs_supervisor(kind, cent, false), gives, "{kind:?}");
        }
    }

    #[test]
    fn a_pin_has_4_to_12_digits() {
        for (digits, fits) in [(3, false), (4, true), (12, true), (13, false)] {
            let mut found = FaultList::default();
            check(&mut found, &Operators { pin_digits: Some(digits), ..Operators::default() }, None);
            assert_eq!(found.0.is_empty(), fits, "{digits}");
        }
    }

    #[test]
    fn an_amount_that_is_written_stands_and_the_others_stay() {
        let text = "required = true\nsupervisor-above = { refund = \"20.00\", sale = \"500.00\" }";
        let above = toml::from_str::<Operators>(text).unwrap().supervisor_above;
        let above = above.in_currency(Currency::from_code("EUR").unwrap()).unwrap();
        let eur = |text: &str| Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap();
        assert_eq!(above.refund, NeedsSupervisor::Above(eur("20.00")));
        assert_eq!((above.sale, above.credit), (NeedsSupervisor::Above(eur("500.00")), NeedsSupervisor::Always));
        assert!(toml::from_str::<Operators>("supervisor-above = { tip = \"1.00\" }").is_err());
    }
}
