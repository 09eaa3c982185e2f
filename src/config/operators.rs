//! Whether operators sign in, how long a session lasts, and above which amounts a supervisor confirms what a cashier
//! does. Who the operators are is not written here: `pos-agent operator` adds them.

use serde::Deserialize;

use super::check::{FaultList, fault, within};
use crate::counter;
use crate::money::{Amount, Currency, MoneyError};

/// Half a minute is a customer's search for a card; a session that outlasts a shift locks nothing.
const IDLE_LOCK_S: std::ops::RangeInclusive<u64> = 30..=28_800;

/// The people at the counter.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Operators {
    /// Whether somebody must be signed in for what moves money, at every way in that has not `operator = false`. Add an
    /// operator (`pos-agent operator add`) before it is set.
    pub required: bool,
    /// After how many seconds without a command a session ends.
    pub idle_lock_s: u64,
    /// Above which amounts, in the terminal's currency, a cashier needs a supervisor.
    pub supervisor_above: Amounts,
}

/// An amount for each kind of transaction; `"0.00"` is any, and without one a cashier needs nobody.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Amounts {
    /// Of a sale, or a charge of stored card data.
    pub sale: Option<String>,
    /// Of what is reserved, also later and anew.
    pub pre_authorisation: Option<String>,
    /// Of a capture.
    pub capture: Option<String>,
    /// Of a refund; any when it is left out.
    pub refund: Option<String>,
    /// Of a credit; any when it is left out.
    pub credit: Option<String>,
    /// Of a reversal of what an earlier day took; any when it is left out. What was taken today a cashier reverses
    /// alone.
    pub reversal: Option<String>,
}

impl Default for Operators {
    fn default() -> Self {
        Self { required: false, idle_lock_s: 300, supervisor_above: Amounts::default() }
    }
}

impl Default for Amounts {
    fn default() -> Self {
        let any = || Some("0".to_owned());
        Self { sale: None, pre_authorisation: None, capture: None, refund: any(), credit: any(), reversal: any() }
    }
}

impl Amounts {
    /// Each with its key.
    fn all(&self) -> [(&'static str, Option<&str>); 6] {
        [
            ("sale", self.sale.as_deref()),
            ("pre-authorisation", self.pre_authorisation.as_deref()),
            ("capture", self.capture.as_deref()),
            ("refund", self.refund.as_deref()),
            ("credit", self.credit.as_deref()),
            ("reversal", self.reversal.as_deref()),
        ]
    }

    /// As amounts of the terminal's currency.
    ///
    /// # Errors
    /// The key of one that is none, and why.
    pub fn in_currency(&self, currency: Currency) -> Result<counter::SupervisorAbove, (&'static str, MoneyError)> {
        let read = |(key, text): (&'static str, Option<&str>)| {
            text.map(|text| Amount::parse(text, currency)).transpose().map_err(|error| (key, error))
        };
        let [sale, pre_authorisation, capture, refund, credit, reversal] = self.all();
        Ok(counter::SupervisorAbove {
            sale: read(sale)?,
            pre_authorisation: read(pre_authorisation)?,
            capture: read(capture)?,
            refund: read(refund)?,
            credit: read(credit)?,
            reversal: read(reversal)?,
        })
    }
}

/// What cannot be used of the section; without a currency no amount is right or wrong.
pub(super) fn check(found: &mut FaultList, operators: &Operators, currency: Option<Currency>) {
    found.add(within("operators.idle-lock-s", operators.idle_lock_s, &IDLE_LOCK_S));
    let amounts = currency.map_or(Ok(()), |currency| operators.supervisor_above.in_currency(currency).map(|_| ()));
    found.add(amounts.map_err(|(key, error)| {
        let remedy = "write an amount of the terminal's currency, \"0\" for any";
        fault(&format!("operators.supervisor-above.{key}"), &error.to_string(), remedy)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::Kind;

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
    fn an_amount_that_is_written_stands_and_the_others_stay() {
        let text = "required = true\nsupervisor-above = { refund = \"20.00\", sale = \"500.00\" }";
        let above = toml::from_str::<Operators>(text).unwrap().supervisor_above;
        let above = above.in_currency(Currency::from_code("EUR").unwrap()).unwrap();
        assert_eq!(above.refund.map(|it| it.minor()), Some(2000));
        assert_eq!((above.sale.map(|it| it.minor()), above.credit.map(|it| it.minor())), (Some(50_000), Some(0)));
        assert!(toml::from_str::<Operators>("supervisor-above = { tip = \"1.00\" }").is_err());
    }
}
