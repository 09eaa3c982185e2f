//! What a till wants: a transaction of one kind with what that kind needs, and nothing else.
//!
//! Every way in says what a till told it as [`RequestFields`] and has them sorted once, by
//! [`RequestFields::transaction`]. Who holds a [`WantedTransaction`] need not ask again whether its parts go together.

use super::{Caller, TillSide};
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, Lesson, OnSilence, PaymentId, Reference, SaleNumber};

/// A transaction that a till wants. The word sale stands for every kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The till's name; `local` for the terminal itself.
    pub till: String,
    /// The till's own reference.
    pub reference: Reference,
    /// What is wanted.
    pub transaction: WantedTransaction,
    /// Who wants it, with its rights: what the transaction that it refers to asks for is known when that is found.
    pub caller: Caller,
    /// It is training, and so is to come out.
    pub training: Option<Lesson>,
    /// Parameters for the gateway, by their flat names or nested.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// What the till does and keeps by itself.
    pub till_side: TillSide,
}

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

/// A kind of transaction with what it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedTransaction {
    /// See [`Kind::Sale`].
    Sale {
        /// How much, before a tip.
        amount: Amount,
        /// The tip on top of it, when there is to be one.
        tip: Option<WantedTip>,
        /// The card number is typed on the reader instead of presenting the card.
        manual: bool,
        /// An approval of less than the amount can be taken; otherwise it is reversed.
        accept_partial: bool,
        /// The till confirms that it takes what was approved; and what becomes of it when the till says nothing.
        till_confirms: Option<OnSilence>,
    },
    /// See [`Kind::PreAuthorisation`].
    PreAuthorisation {
        /// How much.
        amount: Amount,
        /// As of a sale.
        manual: bool,
        /// As of a sale.
        accept_partial: bool,
        /// As of a sale.
        till_confirms: Option<OnSilence>,
    },
    /// See [`Kind::Credit`].
    Credit {
        /// How much.
        amount: Amount,
        /// As of a sale.
        manual: bool,
    },
    /// See [`Kind::ByRegistration`].
    ByRegistration {
        /// The stored card data to charge.
        registration: String,
        /// How much.
        amount: Amount,
        /// As of a sale.
        accept_partial: bool,
    },
    /// See [`Kind::PreAuthorisationByRegistration`].
    PreAuthorisationByRegistration {
        /// The stored card data to reserve of.
        registration: String,
        /// How much.
        amount: Amount,
        /// As of a sale.
        accept_partial: bool,
    },
    /// See [`Kind::StoreCard`].
    StoreCard {
        /// As of a sale.
        manual: bool,
    },
    /// See [`Kind::ForgetCard`].
    ForgetCard {
        /// The stored card data to delete.
        registration: String,
    },
    /// See [`Kind::Capture`].
    Capture {
        /// The pre-authorisation.
        of: EarlierName,
        /// How much; all that is left when absent.
        amount: Option<Amount>,
    },
    /// See [`Kind::Refund`].
    Refund {
        /// The payment.
        of: EarlierName,
        /// How much; all that is left when absent.
        amount: Option<Amount>,
    },
    /// See [`Kind::Reversal`].
    Reversal {
        /// The transaction.
        of: EarlierName,
        /// How much; all that is left when absent.
        amount: Option<Amount>,
    },
    /// See [`Kind::Increment`].
    Increment {
        /// The pre-authorisation.
        of: EarlierName,
        /// How much more.
        amount: Amount,
    },
    /// See [`Kind::Reauthorisation`].
    Reauthorisation {
        /// The pre-authorisation.
        of: EarlierName,
        /// How much; all that is left when absent.
        amount: Option<Amount>,
    },
}

impl WantedTransaction {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Sale { .. } => Kind::Sale,
            Self::PreAuthorisation { .. } => Kind::PreAuthorisation,
            Self::Credit { .. } => Kind::Credit,
            Self::ByRegistration { .. } => Kind::ByRegistration,
            Self::PreAuthorisationByRegistration { .. } => Kind::PreAuthorisationByRegistration,
            Self::StoreCard { .. } => Kind::StoreCard,
            Self::ForgetCard { .. } => Kind::ForgetCard,
            Self::Capture { .. } => Kind::Capture,
            Self::Refund { .. } => Kind::Refund,
            Self::Reversal { .. } => Kind::Reversal,
            Self::Increment { .. } => Kind::Increment,
            Self::Reauthorisation { .. } => Kind::Reauthorisation,
        }
    }

    /// The same as it was fields, for whoever compares it with another.
    #[must_use]
    pub fn fields(&self) -> RequestFields {
        let fields = RequestFields::new(self.kind());
        match self.clone() {
            Self::Sale { amount, tip, manual, accept_partial, till_confirms } => RequestFields {
                amount: Some(amount),
                tip,
                manual,
                accept_partial: Some(accept_partial),
                till_confirms,
                ..fields
            },
            Self::PreAuthorisation { amount, manual, accept_partial, till_confirms } => RequestFields {
                amount: Some(amount),
                manual,
                accept_partial: Some(accept_partial),
                till_confirms,
                ..fields
            },
            Self::Credit { amount, manual } => RequestFields { amount: Some(amount), manual, ..fields },
            Self::ByRegistration { registration, amount, accept_partial }
            | Self::PreAuthorisationByRegistration { registration, amount, accept_partial } => RequestFields {
                registration: Some(registration),
                amount: Some(amount),
                accept_partial: Some(accept_partial),
                ..fields
            },
            Self::StoreCard { manual } => RequestFields { manual, ..fields },
            Self::ForgetCard { registration } => RequestFields { registration: Some(registration), ..fields },
            Self::Capture { of, amount }
            | Self::Refund { of, amount }
            | Self::Reversal { of, amount }
            | Self::Reauthorisation { of, amount } => RequestFields { of: Some(of), amount, ..fields },
            Self::Increment { of, amount } => RequestFields { of: Some(of), amount: Some(amount), ..fields },
        }
    }
}

/// A tip that is charged on top of the amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedTip {
    /// The cardholder types one at the reader, before the card.
    Ask,
    /// The till knows it already: this much.
    Given(Amount),
}

/// What a till said of a transaction, field by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFields {
    /// What kind.
    pub kind: Kind,
    /// What it refers to.
    pub of: Option<EarlierName>,
    /// The stored card data.
    pub registration: Option<String>,
    /// How much.
    pub amount: Option<Amount>,
    /// The tip.
    pub tip: Option<WantedTip>,
    /// The card number is to be typed.
    pub manual: bool,
    /// Whether a part can be taken, when anything was said of it.
    pub accept_partial: Option<bool>,
    /// The till confirms what it takes; and what becomes of it when the till says nothing.
    pub till_confirms: Option<OnSilence>,
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

impl RequestFields {
    /// Nothing but the kind.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            of: None,
            registration: None,
            amount: None,
            tip: None,
            manual: false,
            accept_partial: None,
            till_confirms: None,
        }
    }

    /// The transaction, when what was said is what its kind needs.
    ///
    /// # Errors
    /// The first field that is missing, or is none of this kind's.
    pub fn transaction(mut self) -> Result<WantedTransaction, FieldMisfit> {
        let kind = self.kind;
        let taken = self.take();
        // What was taken is no longer there; what is left over in front of a missing field is named before it.
        match (self.left_over(), taken) {
            (Some(strange), Err(missing)) if strange < missing => Err(FieldMisfit::Strange { field: strange, kind }),
            (_, Err(missing)) => Err(FieldMisfit::Missing { field: missing, kind }),
            (Some(strange), Ok(_)) => Err(FieldMisfit::Strange { field: strange, kind }),
            (None, Ok(transaction)) => Ok(transaction),
        }
    }

    /// Takes what the kind needs, in the order of [`Field`]; the error is what is missing.
    fn take(&mut self) -> Result<WantedTransaction, Field> {
        use std::mem::take;
        Ok(match self.kind {
            Kind::Sale => WantedTransaction::Sale {
                amount: self.amount()?,
                tip: self.tip.take(),
                manual: take(&mut self.manual),
                accept_partial: self.accepts_part(),
                till_confirms: self.till_confirms.take(),
            },
            Kind::PreAuthorisation => WantedTransaction::PreAuthorisation {
                amount: self.amount()?,
                manual: take(&mut self.manual),
                accept_partial: self.accepts_part(),
                till_confirms: self.till_confirms.take(),
            },
            Kind::Credit => WantedTransaction::Credit { amount: self.amount()?, manual: take(&mut self.manual) },
            Kind::ByRegistration => WantedTransaction::ByRegistration {
                registration: self.registration()?,
                amount: self.amount()?,
                accept_partial: self.accepts_part(),
            },
            Kind::PreAuthorisationByRegistration => WantedTransaction::PreAuthorisationByRegistration {
                registration: self.registration()?,
                amount: self.amount()?,
                accept_partial: self.accepts_part(),
            },
            Kind::StoreCard => WantedTransaction::StoreCard { manual: take(&mut self.manual) },
            Kind::ForgetCard => WantedTransaction::ForgetCard { registration: self.registration()? },
            Kind::Capture => WantedTransaction::Capture { of: self.of()?, amount: self.amount.take() },
            Kind::Refund => WantedTransaction::Refund { of: self.of()?, amount: self.amount.take() },
            Kind::Reversal => WantedTransaction::Reversal { of: self.of()?, amount: self.amount.take() },
            Kind::Increment => WantedTransaction::Increment { of: self.of()?, amount: self.amount()? },
            Kind::Reauthorisation => WantedTransaction::Reauthorisation { of: self.of()?, amount: self.amount.take() },
        })
    }

    fn of(&mut self) -> Result<EarlierName, Field> {
        self.of.take().ok_or(Field::Of)
    }

    fn registration(&mut self) -> Result<String, Field> {
        self.registration.take().ok_or(Field::Registration)
    }

    fn amount(&mut self) -> Result<Amount, Field> {
        self.amount.take().ok_or(Field::Amount)
    }

    fn accepts_part(&mut self) -> bool {
        self.accept_partial.take().unwrap_or(false)
    }

    /// The first field that nobody took.
    fn left_over(&self) -> Option<Field> {
        let said = [
            (self.of.is_some(), Field::Of),
            (self.registration.is_some(), Field::Registration),
            (self.amount.is_some(), Field::Amount),
            (self.tip.is_some(), Field::Tip),
            (self.manual, Field::Entry),
            (self.accept_partial.is_some(), Field::AcceptPartial),
            (self.till_confirms.is_some(), Field::Confirm),
        ];
        said.into_iter().find_map(|(is_left, field)| is_left.then_some(field))
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
                let fields = RequestFields {
                    kind,
                    of: is_said(0).then_some(EarlierName::Number(SaleNumber::new(1))),
                    registration: is_said(1).then(|| "r".to_owned()),
                    amount: is_said(2).then_some(amount),
                    tip: is_said(3).then_some(WantedTip::Ask),
                    manual: is_said(4),
                    accept_partial: is_said(5).then_some(true),
                    till_confirms: is_said(6).then_some(OnSilence::Keep),
                };
                let wrong = row.chars().zip(FIELDS).enumerate().find_map(|(nth, (rule, field))| match rule {
                    '!' if !is_said(nth) => Some(FieldMisfit::Missing { field, kind }),
                    '-' if is_said(nth) => Some(FieldMisfit::Strange { field, kind }),
                    _ => None,
                });
                match fields.clone().transaction() {
                    Ok(transaction) => {
                        assert_eq!(wrong, None, "{fields:?}");
                        let again = transaction.fields();
                        let same = RequestFields { accept_partial: again.accept_partial, ..fields.clone() };
                        assert_eq!(again, same);
                        assert_eq!(again.accept_partial.unwrap_or(false), fields.accept_partial.unwrap_or(false));
                    }
                    Err(misfit) => assert_eq!(Some(misfit), wrong, "{fields:?}"),
                }
            }
        }
    }

    #[test]
    fn a_till_reads_which_field_it_is() {
        let texts = [
            (RequestFields::new(Kind::Capture), "of: a capture needs it"),
            (RequestFields { tip: Some(WantedTip::Ask), ..RequestFields::new(Kind::Refund) }, "of: a refund needs it"),
            (
                RequestFields { registration: Some("r".to_owned()), ..RequestFields::new(Kind::Sale) },
                "registration: a sale has none",
            ),
            (RequestFields::new(Kind::PreAuthorisation), "amount: a pre-authorisation needs it"),
        ];
        for (fields, text) in texts {
            assert_eq!(fields.transaction().unwrap_err().to_string(), text);
        }
    }
}
