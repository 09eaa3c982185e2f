//! The amount of a sale, as it is typed or picked from ready-made ones: the cents choose what the gateway does.

use crate::money::{Amount, Currency};
use crate::sim::gateway::outcomes;

/// What stands in the field at first: everything goes well.
const EVERYDAY: &str = "12.34";
/// The field's length: 9999999999.99 is the largest amount.
const LONGEST: usize = 13;

/// The field and the place in the ready-made list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AmountEntry {
    /// What stands in the field.
    pub(super) typed: String,
    /// The ready-made amount that was picked.
    pub(super) picked: usize,
    /// Nothing was typed yet: the first key begins anew.
    fresh: bool,
}

impl Default for AmountEntry {
    fn default() -> Self {
        Self { typed: EVERYDAY.to_owned(), picked: 0, fresh: true }
    }
}

/// Ready-made amounts and what comes of them.
pub(super) fn ready_made() -> impl Iterator<Item = (String, &'static str)> {
    let outcomes = outcomes::TABLE.iter().map(|(cents, _, what)| (format!("5.{cents:02}"), *what));
    std::iter::once((EVERYDAY.to_owned(), "approved")).chain(outcomes)
}

impl AmountEntry {
    /// A key of the amount.
    pub(super) fn type_key(&mut self, key: char) {
        if std::mem::take(&mut self.fresh) {
            self.typed.clear();
        }
        if self.typed.len() < LONGEST {
            self.typed.push(key);
        }
    }

    /// Takes the last character away.
    pub(super) fn erase(&mut self) {
        self.fresh = false;
        self.typed.pop();
    }

    /// The ready-made amount so many places further.
    pub(super) fn pick(&mut self, by: isize) {
        let last = ready_made().count() - 1;
        self.picked = self.picked.saturating_add_signed(by).min(last);
        if let Some((amount, _)) = ready_made().nth(self.picked) {
            self.typed = amount;
        }
        self.fresh = true;
    }

    /// The amount for the till, or why it is none.
    pub(super) fn checked(&self) -> Result<String, String> {
        let euro = Currency::from_code("EUR").map_err(|error| error.to_string())?;
        Amount::parse(&self.typed, euro).map(|_| self.typed.clone()).map_err(|error| error.to_string())
    }

    /// What comes of it, or what is wrong with it.
    pub(super) fn meaning(&self) -> Result<&'static str, String> {
        let amount = self.checked()?;
        // Without a dot there are no cents.
        let cents = amount.split_once('.').and_then(|(_, cents)| cents.parse::<u8>().ok());
        let row = outcomes::TABLE.iter().find(|(row, ..)| Some(*row) == cents);
        Ok(row.map_or("approved", |(_, _, what)| what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_replaces_what_stood_there_and_is_explained() {
        let mut amount = AmountEntry::default();
        assert_eq!((amount.checked().as_deref(), amount.meaning()), (Ok("12.34"), Ok("approved")));
        "7.51".chars().for_each(|key| amount.type_key(key));
        assert_eq!((amount.typed.as_str(), amount.meaning()), ("7.51", Ok("declined: insufficient funds")));
        amount.erase();
        assert!(amount.meaning().is_err(), "7.5 has a decimal too few");
        amount.typed = "51".to_owned();
        assert_eq!(amount.meaning(), Ok("approved"), "51.00");
        "0000000000000000".chars().for_each(|key| amount.type_key(key));
        assert_eq!(amount.typed.len(), LONGEST);
    }

    #[test]
    fn every_ready_made_amount_can_be_charged_and_says_what_comes_of_it() {
        for (typed, what) in ready_made() {
            let amount = AmountEntry { typed, ..AmountEntry::default() };
            assert_eq!(amount.meaning(), Ok(what), "{amount:?}");
        }
        let mut amount = AmountEntry::default();
        amount.pick(1);
        assert_eq!(amount.typed, "5.51");
        amount.pick(1000);
        assert_eq!(amount.typed, ready_made().last().unwrap().0);
        amount.pick(-1000);
        assert_eq!(amount.typed, EVERYDAY);
    }
}
