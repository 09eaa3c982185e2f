//! The terms that every module uses for a transaction: its kind, its request, its ids, its callers and its outcomes.
//! This module makes no decisions. The properties of a kind are in one table, in [`Kind`].
//!
//! Names such as [`SaleNumber`] cover every kind of transaction.

mod ids;
mod kind;
mod taken;
mod training_result;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use ids::{OperatorName, OperatorNameError, PaymentId, Reference, ReferenceError, SaleNumber};
pub use kind::Kind;
pub use taken::{OnSilence, Taken};
pub use training_result::TrainingResult;

/// A kind of transaction in its stored form, with the stored card or the earlier transaction that it refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Operation {
    /// See [`Kind::Sale`].
    #[default]
    Sale,
    /// See [`Kind::PreAuthorisation`].
    PreAuthorisation,
    /// See [`Kind::Credit`].
    Credit,
    /// See [`Kind::ByRegistration`].
    ByRegistration {
        /// The id of the stored card.
        registration: String,
    },
    /// See [`Kind::PreAuthorisationByRegistration`].
    PreAuthorisationByRegistration {
        /// The id of the stored card.
        registration: String,
    },
    /// See [`Kind::StoreCard`].
    StoreCard,
    /// See [`Kind::ForgetCard`].
    ForgetCard {
        /// The id of the stored card.
        registration: String,
    },
    /// See [`Kind::Capture`].
    Capture {
        /// The pre-authorisation.
        of: Earlier,
    },
    /// See [`Kind::Refund`].
    Refund {
        /// The payment.
        of: Earlier,
    },
    /// See [`Kind::Reversal`].
    Reversal {
        /// The transaction.
        of: Earlier,
    },
    /// See [`Kind::Increment`].
    Increment {
        /// The pre-authorisation.
        of: Earlier,
    },
    /// See [`Kind::Reauthorisation`].
    Reauthorisation {
        /// The pre-authorisation.
        of: Earlier,
    },
}

impl Operation {
    /// Returns the operation of a kind, with the earlier transaction or the stored card. Returns `None` if a value that
    /// the kind needs is missing.
    #[must_use]
    pub fn new(kind: Kind, of: Option<Earlier>, registration: Option<String>) -> Option<Self> {
        Some(match kind {
            Kind::Sale => Self::Sale,
            Kind::PreAuthorisation => Self::PreAuthorisation,
            Kind::Credit => Self::Credit,
            Kind::ByRegistration => Self::ByRegistration { registration: registration? },
            Kind::PreAuthorisationByRegistration => {
                Self::PreAuthorisationByRegistration { registration: registration? }
            }
            Kind::StoreCard => Self::StoreCard,
            Kind::ForgetCard => Self::ForgetCard { registration: registration? },
            Kind::Capture => Self::Capture { of: of? },
            Kind::Refund => Self::Refund { of: of? },
            Kind::Reversal => Self::Reversal { of: of? },
            Kind::Increment => Self::Increment { of: of? },
            Kind::Reauthorisation => Self::Reauthorisation { of: of? },
        })
    }

    /// Returns its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Sale => Kind::Sale,
            Self::PreAuthorisation => Kind::PreAuthorisation,
            Self::Credit => Kind::Credit,
            Self::ByRegistration { .. } => Kind::ByRegistration,
            Self::PreAuthorisationByRegistration { .. } => Kind::PreAuthorisationByRegistration,
            Self::StoreCard => Kind::StoreCard,
            Self::ForgetCard { .. } => Kind::ForgetCard,
            Self::Capture { .. } => Kind::Capture,
            Self::Refund { .. } => Kind::Refund,
            Self::Reversal { .. } => Kind::Reversal,
            Self::Increment { .. } => Kind::Increment,
            Self::Reauthorisation { .. } => Kind::Reauthorisation,
        }
    }

    /// Returns the earlier transaction, for the kinds that refer to one.
    #[must_use]
    pub fn of(&self) -> Option<&Earlier> {
        match self {
            Self::Sale
            | Self::PreAuthorisation
            | Self::Credit
            | Self::ByRegistration { .. }
            | Self::PreAuthorisationByRegistration { .. }
            | Self::StoreCard
            | Self::ForgetCard { .. } => None,
            Self::Capture { of }
            | Self::Refund { of }
            | Self::Reversal { of }
            | Self::Increment { of }
            | Self::Reauthorisation { of } => Some(of),
        }
    }

    /// Returns the id of the stored card, for the kinds that use one.
    #[must_use]
    pub fn registration(&self) -> Option<&str> {
        match self {
            Self::ByRegistration { registration }
            | Self::PreAuthorisationByRegistration { registration }
            | Self::ForgetCard { registration } => Some(registration),
            _ => None,
        }
    }

    /// Returns whether this is the most common kind, which the journal omits.
    #[must_use]
    pub fn is_sale(&self) -> bool {
        *self == Self::Sale
    }
}

/// An earlier transaction that a later one refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Earlier {
    /// The payment id at the gateway.
    pub payment: PaymentId,
    /// The number in this journal, if the transaction is in it. Its remaining amount is then known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<SaleNumber>,
}

/// The caller of a request, and the person at the counter. The caller is a till, identified by its token, or a program
/// at the socket, identified by its user. Old records do not have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Who {
    /// The till to which the token belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The number of the user, as the system reports it (`SO_PEERCRED`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// The signed-in operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<OperatorName>,
    /// The supervisor who confirmed the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supervisor: Option<OperatorName>,
    /// The till's own cashier, as named by the till. No PIN was checked here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_operator: Option<String>,
    /// The fleet's command that made the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetAuthor>,
}

/// The origin of a command of the fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetAuthor {
    /// The name of the key that signed the command.
    pub key: String,
    /// The person or program that gave the command, as the command states.
    pub author: String,
}

impl Who {
    /// Returns only the till or the user, without the person.
    #[must_use]
    pub fn without_person(&self) -> Self {
        Self { token: self.token.clone(), uid: self.uid, fleet: self.fleet.clone(), ..Self::default() }
    }

    /// Returns the name of the person at the counter: the operator, or else the cashier that the till names.
    #[must_use]
    pub fn person(&self) -> Option<&str> {
        self.operator.as_ref().map(OperatorName::as_str).or(self.stated_operator.as_deref())
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.fleet, &self.token, self.uid) {
            (Some(FleetAuthor { key, author }), ..) => write!(f, "{author} with the fleet's key {key}"),
            (None, Some(till), _) => write!(f, "the token of till {till}"),
            (None, None, Some(uid)) => write!(f, "user {uid}"),
            (None, None, None) => f.write_str("a user that the system did not name"),
        }?;
        if let Some(operator) = &self.operator {
            write!(f, ", operator {operator}")?;
        }
        if let Some(supervisor) = &self.supervisor {
            write!(f, ", supervisor {supervisor}")?;
        }
        match &self.stated_operator {
            Some(stated) => write!(f, ", operator {stated} by the till's word"),
            None => Ok(()),
        }
    }
}

/// The outcome of a transaction, as programs write it. `transaction::Outcome` of the core also has the data that the
/// journal keeps with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeWord {
    /// Charged in full.
    Approved,
    /// Charged in part; see `approvedAmount`.
    PartiallyApproved,
    /// Not charged: the issuer or the card declined.
    Declined,
    /// Not charged: the customer or the till cancelled before anything was sent.
    Cancelled,
    /// Not charged, and no payment exists: nothing left the terminal, or the gateway did not process it.
    NotSent,
    /// Not charged: the payment was approved, or may have been approved, and was reversed.
    Reversed,
}

impl OutcomeWord {
    /// Returns the word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::PartiallyApproved => "partially-approved",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::NotSent => "not-sent",
            Self::Reversed => "reversed",
        }
    }
}

/// The copy of a receipt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptCopy {
    /// The copy for the customer.
    #[default]
    Customer,
    /// The copy for the shop, with the signature line.
    Merchant,
}

impl ReceiptCopy {
    /// Returns the word that programs use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Merchant => "merchant",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asked_is_kept_as_it_was_before_there_were_operators() {
        for kept in ["{}", r#"{"token":"till-1"}"#, r#"{"uid":1001}"#] {
            let who: Who = serde_json::from_str(kept).unwrap();
            assert_eq!((who.operator.as_ref(), who.person()), (None, None));
            assert_eq!(serde_json::to_string(&who).unwrap(), kept, "the chain hashes these bytes");
        }
    }

    #[test]
    fn who_asked_is_told_with_the_person() {
        let name = |text| OperatorName::parse(text).ok();
        let who =
            Who { token: Some("till-1".to_owned()), operator: name("Anna"), supervisor: name("Ben"), ..Who::default() };
        assert_eq!(who.to_string(), "the token of till till-1, operator Anna, supervisor Ben");
        let kept = r#"{"token":"till-1","operator":"Anna","supervisor":"Ben"}"#;
        assert_eq!(serde_json::to_string(&who).unwrap(), kept);
        assert_eq!(serde_json::from_str::<Who>(kept).unwrap(), who);
        assert_eq!(who.without_person().to_string(), "the token of till till-1");
        let stated = Who { uid: Some(7), stated_operator: Some("12".to_owned()), ..Who::default() };
        assert_eq!(stated.to_string(), "user 7, operator 12 by the till's word");
        assert_eq!(stated.person(), Some("12"));
    }

    #[test]
    fn words_are_written_as_serde_writes_them() {
        use OutcomeWord::{Approved, Cancelled, Declined, NotSent, PartiallyApproved, Reversed};
        for word in [Approved, PartiallyApproved, Declined, Cancelled, NotSent, Reversed] {
            assert_eq!(serde_json::to_value(word).unwrap(), word.as_str());
        }
        for copy in [ReceiptCopy::Customer, ReceiptCopy::Merchant] {
            assert_eq!(serde_json::to_value(copy).unwrap(), copy.as_str());
        }
    }

    #[test]
    fn a_sale_and_no_other_kind_is_left_out_of_records() {
        let of = Earlier { payment: PaymentId::new("p1"), number: None };
        let registration = "8ac7a4a1000000000000000000000007".to_owned();
        assert!(Operation::Sale.is_sale());
        for other in [
            Operation::PreAuthorisation,
            Operation::Credit,
            Operation::ByRegistration { registration },
            Operation::Capture { of: of.clone() },
            Operation::Refund { of: of.clone() },
            Operation::Reversal { of: of.clone() },
            Operation::Increment { of: of.clone() },
            Operation::Reauthorisation { of },
        ] {
            assert!(!other.is_sale(), "{other:?}");
            assert_eq!(serde_json::to_value(&other).unwrap()["is"], other.kind().as_str());
        }
    }

    #[test]
    fn whoever_asked_is_named_by_token_or_by_user() {
        let said =
            |token: Option<&str>, uid| Who { token: token.map(str::to_owned), uid, ..Who::default() }.to_string();
        assert_eq!(said(Some("till-1"), Some(0)), "the token of till till-1");
        assert_eq!(said(None, Some(1001)), "user 1001");
        assert_eq!(said(None, None), "a user that the system did not name");
    }
}
