//! A wish: the till's request for one transaction, after it was checked. An order is made from a wish. A repeated
//! request is recognised by comparing its wish with the stored order.
//!
//! Every protocol puts the till's request into [`WishFields`] and calls [`WishFields::judged`]. Code that has a
//! [`Wish`] need not check again that its fields fit together.

use std::ops::Deref;

use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, OnSilence, PaymentId, Reference, SaleNumber};

use crate::transaction::Order;

/// The till's request for a transaction, field by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WishFields {
    /// The kind of transaction.
    pub kind: Kind,
    /// The earlier transaction that it refers to.
    pub of: Option<EarlierName>,
    /// The stored card.
    pub registration: Option<String>,
    /// The amount before a tip. If it is absent and the request refers to an earlier transaction, it is the whole
    /// remaining amount.
    pub amount: Option<Amount>,
    /// The tip, in addition to the amount.
    pub tip: Option<WantedTip>,
    /// The way in which the card is entered; `None` leaves it to the customer.
    pub entry: Option<WantedEntry>,
    /// True if the till accepts an approval of less than the amount. Otherwise such an approval is reversed.
    pub accept_partial: Option<bool>,
    /// Set if the till must confirm that it accepts the approved amount. The value says what happens if the till does
    /// not answer.
    pub till_confirms: Option<OnSilence>,
}

/// Fields that fit together: every field that the kind needs is present, and no field that the kind does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish(WishFields);

/// The name of an earlier transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EarlierName {
    /// The reference that the transaction's till gave it.
    Reference {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
    },
    /// The transaction's number in this terminal's journal. It can name a transaction of any till.
    Number(SaleNumber),
    /// The transaction's payment id at the gateway.
    Payment(PaymentId),
}

/// A tip that is charged in addition to the amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedTip {
    /// The cardholder types a tip at the reader, before the card is presented.
    Ask,
    /// The till names this amount as the tip.
    Given(Amount),
}

/// The way in which the card is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedEntry {
    /// The card number is typed on the reader.
    Typed,
    /// The chip is inserted. Taps and swipes are refused, unless the chip fails.
    Chip,
}

/// A field that does not fit the kind. It has the name that tills write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldMisfit {
    /// The kind needs a field that the till did not send.
    #[error("{}: a {} needs it", .field.as_str(), .kind.as_str())]
    Missing {
        /// The missing field.
        field: Field,
        /// The kind.
        kind: Kind,
    },
    /// The kind has no such field, but the till sent it.
    #[error("{}: a {} has none", .field.as_str(), .kind.as_str())]
    Strange {
        /// The field that does not fit.
        field: Field,
        /// The kind.
        kind: Kind,
    },
}

/// The fields that not every kind has, in the order in which they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The earlier transaction.
    Of,
    /// The stored card.
    Registration,
    /// The amount.
    Amount,
    /// The tip.
    Tip,
    /// The way in which the card is entered.
    Entry,
    /// The till's acceptance of a partial approval.
    AcceptPartial,
    /// The till's confirmation that it accepts the approved amount.
    Confirm,
}

impl Field {
    /// Returns the name that tills write.
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

/// The rule for one field of one kind.
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
            // If the amount is absent, it is the whole remaining amount.
            Self::Amount if kind.has_earlier() && kind != Kind::Increment => Rule::Possible,
            Self::Amount => needed(kind.moves_money()),
            Self::Tip => possible(kind == Kind::Sale),
            Self::Entry => possible(kind.needs_card()),
            // An increment and a reauthorisation always accept the approved amount.
            Self::AcceptPartial => possible(kind.till_may_refuse_a_part() && !kind.has_earlier()),
            Self::Confirm => possible(kind.till_may_refuse_a_part() && kind.needs_card()),
        }
    }
}

impl WishFields {
    /// Creates fields of which only the kind is set.
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

    /// Returns the wish if the fields fit the kind.
    ///
    /// # Errors
    /// Returns the first field that is missing or that the kind does not allow.
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
    /// Returns whether the till accepts an approval of less than the amount.
    #[must_use]
    pub fn accepts_part(&self) -> bool {
        self.accept_partial.unwrap_or(false)
    }

    /// Checks whether a stored order was made from this wish. `key` is the till and the reference of the order's
    /// earlier transaction, if the journal contains it. A wish that refers to a transaction by its reference also names
    /// that till.
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
            // The terminal can demand the chip without the till's request. A repeated request without that field then
            // still matches the order.
            && (self.entry != Some(WantedEntry::Chip) || order.chip_alone)
            && self.accepts_part() == order.accept_partial
            && self.till_confirms == order.till_confirms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::money::Currency;

    /// The fields of each kind, where `!` means needed, `?` optional and `-` refused. The columns are of, registration,
    /// amount, tip, entry, acceptPartial and confirm.
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

    /// Checks every combination of fields for every kind. The error names the first field that does not fit, and a
    /// fitting set is kept unchanged.
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
