//! A wish: what a till wants of one transaction, judged once. An order begins with it, and the same wish again is told
//! from another one by it.
//!
//! Every way in says what a till told it as [`WishFields`] and has them judged, by [`WishFields::judged`]. Who holds a
//! [`Wish`] need not ask again whether its parts go together.

use std::ops::Deref;

use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, OnSilence, PaymentId, Reference, SaleNumber};

use crate::transaction::Order;

/// What a till says of a transaction, field by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WishFields {
    /// What kind.
    pub kind: Kind,
    /// What it refers to.
    pub of: Option<EarlierName>,
    /// The stored card data.
    pub registration: Option<String>,
    /// How much, before a tip; of what refers to an earlier transaction, all that is left when absent.
    pub amount: Option<Amount>,
    /// The tip on top of it.
    pub tip: Option<WantedTip>,
    /// How the card comes to the terminal, where that is not left to the customer.
    pub entry: Option<WantedEntry>,
    /// Whether an approval of less than the amount can be taken; otherwise it is reversed.
    pub accept_partial: Option<bool>,
    /// The till confirms that it takes what was approved; and what becomes of it when the till says nothing.
    pub till_confirms: Option<OnSilence>,
}

/// Fields that go together: each that the kind needs is there, and no other than it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish(WishFields);

/// The earlier transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EarlierName {
    /// By its till's reference.
    Reference {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
    },
    /// By its number in this terminal's journal, whichever till's it is.
    Number(SaleNumber),
    /// By its payment id at the gateway.
    Payment(PaymentId),
}

/// A tip that is charged on top of the amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedTip {
    /// The cardholder types one at the reader, before the card.
    Ask,
    /// The till knows it already: this much.
    Given(Amount),
}

/// How the card comes to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedEntry {
    /// Its number is typed on the reader.
    Typed,
    /// Its chip is inserted: neither a tap nor a swipe is taken, unless the chip fails.
    Chip,
}

/// A field that a kind needs and the till did not say, or said and the kind has none. The words are those of tills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldMisfit {
    /// It is needed.
    #[error("{}: a {} needs it", .field.as_str(), .kind.as_str())]
    Missing {
        /// Which.
        field: Field,
        /// The kind.
        kind: Kind,
    },
    /// There is none.
    #[error("{}: a {} has none", .field.as_str(), .kind.as_str())]
    Strange {
        /// Which.
        field: Field,
        /// The kind.
        kind: Kind,
    },
}

/// The fields of which some kinds have none, in the order in which they are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The earlier transaction.
    Of,
    /// The stored card data.
    Registration,
    /// How much.
    Amount,
    /// The tip.
    Tip,
    /// How the card comes to the terminal.
    Entry,
    /// Whether a part can be taken.
    AcceptPartial,
    /// Whether the till confirms what it takes.
    Confirm,
}

impl Field {
    /// As tills write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Of => "of",
            Self::Registration => "registration",
            Self::Amount => "amount",
            Self::Tip => "tip",
            Self::Entry => "entry",
            Self::AcceptPartial => "acceptPartial",
            Self::Confirm => "confirm",
        }
    }
}

/// Whether a kind has a field.
#[derive(Clone, Copy)]
enum Rule {
    Needed,
    Possible,
    Strange,
}

impl Field {
    const ALL: [Self; 7] =
        [Self::Of, Self::Registration, Self::Amount, Self::Tip, Self::Entry, Self::AcceptPartial, Self::Confirm];

    fn rule(self, kind: Kind) -> Rule {
        let needed = |it: bool| if it { Rule::Needed } else { Rule::Strange };
        let possible = |it: bool| if it { Rule::Possible } else { Rule::Strange };
        match self {
            Self::Of => needed(kind.has_earlier()),
            Self::Registration => needed(kind.has_stored_card()),
            // All that is left.
            Self::Amount if kind.has_earlier() && kind != Kind::Increment => Rule::Possible,
            Self::Amount => needed(kind.moves_money()),
            Self::Tip => possible(kind == Kind::Sale),
            Self::Entry => possible(kind.needs_card()),
            // An increment and a reauthorisation take what they get.
            Self::AcceptPartial => possible(kind.till_may_refuse_a_part() && !kind.has_earlier()),
            Self::Confirm => possible(kind.till_may_refuse_a_part() && kind.needs_card()),
        }
    }
}

impl WishFields {
    /// Nothing but the kind.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            of: None,
            registration: None,
            amount: None,
            tip: None,
            entry: None,
            accept_partial: None,
            till_confirms: None,
        }
    }

    /// The wish, when what was said is what its kind needs.
    ///
    /// # Errors
    /// The first field that is missing, or is none of this kind's.
    pub fn judged(self) -> Result<Wish, FieldMisfit> {
        let kind = self.kind;
        for field in Field::ALL {
            match (field.rule(kind), self.has(field)) {
                (Rule::Needed, false) => return Err(FieldMisfit::Missing { field, kind }),
                (Rule::Strange, true) => return Err(FieldMisfit::Strange { field, kind }),
                (Rule::Needed, true) | (Rule::Strange, false) | (Rule::Possible, _) => {}
            }
        }
        Ok(Wish(self))
    }

    fn has(&self, field: Field) -> bool {
        match field {
            Field::Of => self.of.is_some(),
            Field::Registration => self.registration.is_some(),
            Field::Amount => self.amount.is_some(),
            Field::Tip => self.tip.is_some(),
            Field::Entry => self.entry.is_some(),
            Field::AcceptPartial => self.accept_partial.is_some(),
            Field::Confirm => self.till_confirms.is_some(),
        }
    }
}

impl Deref for Wish {
    type Target = WishFields;

    fn deref(&self) -> &WishFields {
        &self.0
    }
}

impl Wish {
    /// Whether an approval of less than the amount can be taken.
    #[must_use]
    pub fn accepts_part(&self) -> bool {
        self.accept_partial.unwrap_or(false)
    }

    /// Whether this is what a stored order was made of. `key` is the till and the reference of the order's earlier
    /// transaction, where the journal knows it: that till is part of what the wish is.
    #[must_use]
    pub fn is_of(&self, order: &Order, key: Option<&(String, Reference)>) -> bool {
        let is_its_earlier = match (&self.of, order.operation.of()) {
            (None, None) => true,
            (Some(EarlierName::Payment(payment)), Some(of)) => of.payment == *payment,
            (Some(EarlierName::Number(number)), Some(of)) => of.number == Some(*number),
            (Some(EarlierName::Reference { till, reference }), Some(_)) => {
                key.is_some_and(|(its_till, its_reference)| its_till == till && its_reference == reference)
            }
            (Some(_), None) | (None, Some(_)) => false,
        };
        let tip = match self.tip {
            Some(WantedTip::Given(tip)) => (false, Some(tip)),
            asked => (asked.is_some(), None),
        };
        self.kind == order.kind()
            && is_its_earlier
            && self.registration.as_deref() == order.operation.registration()
            && self.amount.is_none_or(|amount| amount == order.amount)
            && tip == (order.ask_tip, order.tip)
            && (self.entry == Some(WantedEntry::Typed)) == order.manual
            // The terminal may ask for the chip by itself, and the same order without that word is the same order.
            && (self.entry != Some(WantedEntry::Chip) || order.chip_alone)
            && self.accepts_part() == order.accept_partial
            && self.till_confirms == order.till_confirms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::money::Currency;

    /// Which fields a kind has: `!` needs it, `?` may have it, `-` has none; of, registration, amount, tip, entry,
    /// acceptPartial, confirm.
    const TABLE: [(Kind, &str); 12] = [
        (Kind::Sale, "--!????"),
        (Kind::PreAuthorisation, "--!-???"),
        (Kind::Credit, "--!-?--"),
        (Kind::ByRegistration, "-!!--?-"),
        (Kind::PreAuthorisationByRegistration, "-!!--?-"),
        (Kind::StoreCard, "----?--"),
        (Kind::ForgetCard, "-!-----"),
        (Kind::Capture, "!-?----"),
        (Kind::Refund, "!-?----"),
        (Kind::Reversal, "!-?----"),
        (Kind::Increment, "!-!----"),
        (Kind::Reauthorisation, "!-?----"),
    ];
    const FIELDS: [Field; 7] =
        [Field::Of, Field::Registration, Field::Amount, Field::Tip, Field::Entry, Field::AcceptPartial, Field::Confirm];

    /// Every combination of fields, for every kind: the first that does not fit is named, and what fits is kept whole.
    #[test]
    fn what_each_kind_needs() {
        let amount = Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap();
        for (kind, row) in TABLE {
            for said in 0..128_u8 {
                let is_said = |nth: usize| said & (1 << nth) != 0;
                let fields = WishFields {
                    kind,
                    of: is_said(0).then_some(EarlierName::Number(SaleNumber::new(1))),
                    registration: is_said(1).then(|| "r".to_owned()),
                    amount: is_said(2).then_some(amount),
                    tip: is_said(3).then_some(WantedTip::Ask),
                    entry: is_said(4).then_some(WantedEntry::Typed),
                    accept_partial: is_said(5).then_some(true),
                    till_confirms: is_said(6).then_some(OnSilence::Keep),
                };
                let wrong = row.chars().zip(FIELDS).enumerate().find_map(|(nth, (rule, field))| match rule {
                    '!' if !is_said(nth) => Some(FieldMisfit::Missing { field, kind }),
                    '-' if is_said(nth) => Some(FieldMisfit::Strange { field, kind }),
                    _ => None,
                });
                match fields.clone().judged() {
                    Ok(wish) => {
                        assert_eq!(wrong, None, "{fields:?}");
                        assert_eq!(*wish, fields);
                    }
                    Err(misfit) => assert_eq!(Some(misfit), wrong, "{fields:?}"),
                }
            }
        }
    }

    #[test]
    fn a_till_reads_which_field_it_is() {
        let texts = [
            (WishFields::new(Kind::Capture), "of: a capture needs it"),
            (WishFields { tip: Some(WantedTip::Ask), ..WishFields::new(Kind::Refund) }, "of: a refund needs it"),
            (
                WishFields { registration: Some("r".to_owned()), ..WishFields::new(Kind::Sale) },
                "registration: a sale has none",
            ),
            (WishFields::new(Kind::PreAuthorisation), "amount: a pre-authorisation needs it"),
        ];
        for (fields, text) in texts {
            assert_eq!(fields.judged().unwrap_err().to_string(), text);
        }
    }
}
