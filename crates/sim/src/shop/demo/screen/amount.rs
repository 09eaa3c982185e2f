//! The amount of a sale or a refund, typed or selected from a list. The cents choose the gateway's outcome.

use super::text::sentence;
use crate::gateway::outcomes;
use pos_terms::money::{Amount, Currency};

/// The initial amount, which is approved.
const EVERYDAY: &str = "12.34";
/// The outcome of this amount, and of all cents that are not listed.
const APPROVED: &str = "It is approved.";
/// The length of the field; the largest amount is 9999999999.99.
const LONGEST: usize = 13;

/// The purpose of an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A sale.
    Sale,
    /// A sale to which the customer adds a tip on the reader.
    SaleWithTip,
    /// A refund of the last sale; without an amount, the whole remaining amount is refunded.
    Refund,
}

/// The amount field, and the position in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AmountEntry {
    /// The text in the field.
    pub(super) typed: String,
    /// The list position of the selected amount.
    pub(super) picked: usize,
    /// True if the first key will replace the text, because nothing was typed.
    fresh: bool,
}

impl Default for AmountEntry {
    fn default() -> Self {
        Self { typed: EVERYDAY.to_owned(), picked: 0, fresh: true }
    }
}

/// Returns the listed amounts and their outcomes.
pub(super) fn ready_made() -> impl Iterator<Item = (String, &'static str)> {
    let outcomes = outcomes::TABLE.iter().map(|(cents, ..)| (format!("5.{cents:02}"), plainly(*cents)));
    std::iter::once((EVERYDAY.to_owned(), APPROVED)).chain(outcomes)
}

/// Describes the outcome of these cents for people who do not know gateways.
fn plainly(cents: u8) -> &'static str {
    match cents {
        51 => "It is declined: there is not enough money in the account.",
        52 => "It is declined: the card was reported lost.",
        53 => "It is declined: the card has expired.",
        54 => "It is declined: the bank gives no reason.",
        55 => "It is declined: the gateway finds the risk too high.",
        56 => "It is approved; the customer's address was not checked.",
        57 => "It is approved, with long scripts for a chip that takes any.",
        60 => "Half of it is approved; the customer pays the rest in cash.",
        61 => "It is pending at first, and approved when asked again.",
        62 => "It is never decided.",
        63 => "The gateway is too busy; nothing is charged.",
        64 => "The gateway has a fault; nothing is charged.",
        65 => "The gateway has a fault, but has charged it.",
        66 => "It is approved, but the answer cannot be read.",
        67 => "It is approved, but only half of the answer arrives.",
        68 => "It is approved, but the answer is far too long.",
        69 => "It is approved, with an unknown code.",
        70 => "No answer comes; nothing is charged.",
        71 => "It is approved, but no answer comes.",
        72 => "The line is cut before the answer; nothing is charged.",
        73 => "It is approved, but the line is cut before the answer.",
        74 => "It is approved, with control bytes in the answer.",
        75 => "It is approved, but there is no answer for the chip.",
        76 => "It is approved, but the chip's answer cannot be read.",
        77 => "It is approved, but the answer makes the chip decline.",
        78 => "The gateway redirects the terminal once, then approves.",
        79 => "More is approved than was asked for.",
        80 => "It is approved, the line is cut; it is found only later.",
        81 => "It is approved, the line is cut; its reversal fails once.",
        82 => "It is approved, the line is cut; its reversal has no answer.",
        83 => "The gateway redirects elsewhere; nothing is charged.",
        93 => "It is declined when tapped: the card must be inserted.",
        84..=92 | 95 | 96 => "It is approved; its first void has a fault.",
        _ => APPROVED,
    }
}

impl AmountEntry {
    /// Makes the initial field for this purpose.
    pub(super) fn of(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Sale | Purpose::SaleWithTip => Self::default(),
            Purpose::Refund => Self { typed: String::new(), ..Self::default() },
        }
    }

    /// Types a key into the field.
    pub(super) fn type_key(&mut self, key: char) {
        if std::mem::take(&mut self.fresh) {
            self.typed.clear();
        }
        if self.typed.len() < LONGEST {
            self.typed.push(key);
        }
    }

    /// Removes the last character.
    pub(super) fn erase(&mut self) {
        self.fresh = false;
        self.typed.pop();
    }

    /// Selects the amount that is `by` positions further in the list.
    pub(super) fn pick(&mut self, by: isize) {
        let last = ready_made().count() - 1;
        self.picked = self.picked.saturating_add_signed(by).min(last);
        if let Some((amount, _)) = ready_made().nth(self.picked) {
            self.typed = amount;
        }
        self.fresh = true;
    }

    /// Returns the amount for the till, or a sentence about its fault. For a refund, `None` means the whole remaining
    /// amount.
    pub(super) fn checked(&self, purpose: Purpose) -> Result<Option<String>, String> {
        if purpose == Purpose::Refund && self.typed.is_empty() {
            return Ok(None);
        }
        let euro = Currency::from_code("EUR").map_err(|error| sentence(&error.to_string()))?;
        let amount = Amount::parse(&self.typed, euro).map_err(|error| sentence(&error.to_string()))?;
        Ok(Some(amount.decimal()))
    }

    /// Returns a sentence about the outcome of the amount, or about its fault.
    pub(super) fn meaning(&self, purpose: Purpose) -> Result<&'static str, String> {
        let amount = self.checked(purpose)?;
        if purpose == Purpose::Refund {
            return Ok(if amount.is_none() {
                "All that is left of it is refunded."
            } else {
                "This amount is refunded."
            });
        }
        let cents = amount.as_deref().and_then(|amount| amount.split_once('.')?.1.parse().ok());
        Ok(cents.map_or(APPROVED, plainly))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALE: Purpose = Purpose::Sale;

    #[test]
    fn what_is_typed_replaces_what_stood_there_and_is_explained() {
        let mut amount = AmountEntry::default();
        assert_eq!((amount.checked(SALE), amount.meaning(SALE)), (Ok(Some("12.34".to_owned())), Ok(APPROVED)));
        "7.51".chars().for_each(|key| amount.type_key(key));
        assert_eq!((amount.typed.as_str(), amount.meaning(SALE)), ("7.51", Ok(plainly(51))));
        amount.erase();
        assert!(amount.meaning(SALE).is_err(), "7.5 has a decimal too few");
        amount.typed = "51".to_owned();
        assert_eq!(amount.meaning(SALE), Ok(APPROVED), "51.00");
        "0000000000000000".chars().for_each(|key| amount.type_key(key));
        assert_eq!(amount.typed.len(), LONGEST);
    }

    #[test]
    fn every_ready_made_amount_can_be_charged_and_says_what_comes_of_it() {
        for (typed, what) in ready_made() {
            let amount = AmountEntry { typed, ..AmountEntry::default() };
            assert_eq!(amount.meaning(SALE), Ok(what), "{amount:?}");
            assert_eq!(what == APPROVED, amount.typed == EVERYDAY, "{amount:?} needs a sentence of its own");
        }
        let mut amount = AmountEntry::default();
        amount.pick(1);
        assert_eq!(amount.typed, "5.51");
        amount.pick(1000);
        assert_eq!(amount.typed, ready_made().last().unwrap().0);
        amount.pick(-1000);
        assert_eq!(amount.typed, EVERYDAY);
    }

    #[test]
    fn a_refund_without_an_amount_is_of_all_that_is_left() {
        let mut amount = AmountEntry::of(Purpose::Refund);
        assert_eq!(amount.checked(Purpose::Refund), Ok(None));
        assert!(amount.checked(SALE).is_err(), "a sale has an amount");
        amount.type_key('5');
        assert_eq!(amount.checked(Purpose::Refund), Ok(Some("5.00".to_owned())));
        amount.type_key('.');
        assert!(amount.checked(Purpose::Refund).is_err());
    }
}
