//! The search in a list by amount, time, card, reference, kind, state and outcome. It compares only the data of a
//! transaction that the till may see, so a search reveals nothing else.

use chrono::{DateTime, FixedOffset};

use super::failure::Failure;
use crate::till::{SaleState, SaleView};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, OutcomeWord};

/// The conditions of a search, all of which must apply.
#[derive(Debug, Default)]
pub(super) struct SalesFilter {
    pub(super) amount: Option<String>,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) last4: Option<String>,
    pub(super) reference: Option<String>,
    pub(super) kind: Option<Kind>,
    pub(super) state: Option<SaleState>,
    pub(super) outcome: Option<OutcomeWord>,
}

/// The same conditions, parsed.
#[derive(Debug)]
pub(super) struct WantedSales {
    amount: Option<String>,
    from: Option<DateTime<FixedOffset>>,
    to: Option<DateTime<FixedOffset>>,
    last4: Option<String>,
    reference: Option<String>,
    kind: Option<Kind>,
    state: Option<SaleState>,
    outcome: Option<OutcomeWord>,
}

impl SalesFilter {
    /// Parses the conditions. `currency` is the terminal's currency.
    pub(super) fn read(self, currency: Currency) -> Result<WantedSales, Failure> {
        let Self { amount, from, to, last4, reference, kind, state, outcome } = self;
        if let Some(amount) = &amount {
            Amount::parse(amount, currency)
                .map_err(|error| Failure::malformed(format!("amount: {error}")).field("amount"))?;
        }
        if last4.as_ref().is_some_and(|last4| last4.len() != 4 || !last4.bytes().all(|b| b.is_ascii_digit())) {
            return Err(Failure::malformed("last4: must be the last four digits of the card").field("last4"));
        }
        let (from, to) = (time("from", from)?, time("to", to)?);
        let reference = reference.map(|part| part.to_ascii_lowercase());
        Ok(WantedSales { amount, from, to, last4, reference, kind, state, outcome })
    }
}

fn time(field: &str, text: Option<String>) -> Result<Option<DateTime<FixedOffset>>, Failure> {
    let read = text.map(|text| DateTime::parse_from_rfc3339(&text)).transpose();
    read.map_err(|_| {
        let detail = format!("{field}: must be a time, for example 2026-11-20T12:00:00Z; write + as %2B");
        Failure::malformed(detail).field(field)
    })
}

impl WantedSales {
    /// Returns whether every transaction matches.
    pub(super) fn is_for_all(&self) -> bool {
        let Self { amount, from, to, last4, reference, kind, state, outcome } = self;
        let of_text = amount.is_none() && last4.is_none() && reference.is_none();
        of_text && from.is_none() && to.is_none() && kind.is_none() && state.is_none() && outcome.is_none()
    }

    /// Returns the text that the reference must contain, in lower case.
    pub(super) fn reference(&self) -> Option<&str> {
        self.reference.as_deref()
    }

    pub(super) fn wants(&self, sale: &SaleView) -> bool {
        let card = sale.card.as_ref().and_then(|card| card.last4.as_ref());
        self.amount.as_ref().is_none_or(|amount| is_of(sale, amount))
            && self.began(sale)
            && self.last4.as_ref().is_none_or(|last4| card == Some(last4))
            && self.reference.as_ref().is_none_or(|part| sale.reference.as_str().to_ascii_lowercase().contains(part))
            && self.kind.is_none_or(|kind| kind == sale.kind)
            && self.state.is_none_or(|state| state == sale.state)
            && self.outcome.is_none_or(|outcome| Some(outcome) == sale.outcome)
    }

    /// Returns whether the transaction began at or after `from` and before `to`.
    fn began(&self, sale: &SaleView) -> bool {
        if self.from.is_none() && self.to.is_none() {
            return true;
        }
        DateTime::parse_from_rfc3339(&sale.started_at)
            .is_ok_and(|began| self.from.is_none_or(|from| from <= began) && self.to.is_none_or(|to| began < to))
    }
}

/// Returns whether this amount was requested or approved.
fn is_of(sale: &SaleView, amount: &str) -> bool {
    let in_its_currency = Currency::from_code(&sale.currency).and_then(|currency| Amount::parse(amount, currency));
    in_its_currency.is_ok_and(|amount| {
        let amount = amount.decimal();
        sale.amount == amount || sale.approved_amount.as_ref() == Some(&amount)
    })
}
