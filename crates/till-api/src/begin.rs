//! A till's request for a transaction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A request to begin a transaction, as the agent expects it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Begin {
    /// The till's own reference. The same reference always means the same transaction.
    pub reference: String,
    /// The kind of transaction.
    pub kind: Kind,
    /// The amount, such as `12.34`. If it is absent and the transaction refers to an earlier one, it is the whole
    /// remaining amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// The currency, ISO 4217. If it is absent, the terminal's currency applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The tip in addition to the amount, such as `1.50`, or `ask`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// How the card is presented. If this is absent, the customer chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<Entry>,
    /// `true` if the till accepts an approval of a smaller amount.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accept_partial: bool,
    /// Set if the till confirms the approval. The value decides what happens if the till does not answer in time.
    #[serde(flatten, serialize_with = "confirms")]
    pub confirm: Option<OnSilence>,
    /// The earlier transaction's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The stored card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// The name of the cashier, as given by the till.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// `true` if the till prints the receipts.
    #[serde(rename = "receipts", skip_serializing_if = "std::ops::Not::not", serialize_with = "prints")]
    pub till_prints: bool,
    /// The till's data, which the agent returns with the transaction.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub till_data: BTreeMap<String, String>,
    /// Parameters for the gateway, by their flat names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

impl Begin {
    /// Creates a request with only the reference, the kind and the amount.
    #[must_use]
    pub fn new(reference: &str, kind: Kind, amount: Option<String>) -> Self {
        Self {
            reference: reference.to_owned(),
            kind,
            amount,
            currency: None,
            tip: None,
            entry: None,
            accept_partial: false,
            confirm: None,
            of: None,
            registration: None,
            operator: None,
            till_prints: false,
            till_data: BTreeMap::new(),
            parameters: BTreeMap::new(),
        }
    }
}

fn confirms<S: serde::Serializer>(on_silence: &Option<OnSilence>, to: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    let mut map = to.serialize_map(None)?;
    if let Some(on_silence) = on_silence {
        map.serialize_entry("confirm", "till")?;
        map.serialize_entry("onSilence", on_silence)?;
    }
    map.end()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn prints<S: serde::Serializer>(_: &bool, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str("till")
}

/// The kind of transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A payment by card.
    Sale,
    /// A reservation of an amount.
    PreAuthorisation,
    /// A capture of a reserved amount.
    Capture,
    /// An increase of a reserved amount.
    Increment,
    /// A renewal of a reservation.
    Reauthorisation,
    /// A refund of a payment.
    Refund,
    /// A reversal of an earlier transaction.
    Reversal,
    /// A payout to a card without an earlier payment.
    Credit,
    /// A payment by stored card.
    ByRegistration,
    /// A reservation of an amount on a stored card.
    PreAuthorisationByRegistration,
    /// The storing of a card.
    StoreCard,
    /// The deletion of a stored card.
    ForgetCard,
    /// A kind that this version does not know.
    #[serde(other, skip_serializing)]
    Other,
}

/// How the card is presented, if the customer does not choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// The card number is typed at the reader.
    Manual,
    /// The card is inserted.
    Chip,
}

/// The agent's action for an approval that the till does not confirm in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnSilence {
    /// The approval is reversed.
    Reverse,
    /// The approval is kept.
    Keep,
}

/// The part of the approved amount that the till takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "taken", rename_all = "kebab-case")]
pub enum Taken {
    /// The full amount.
    All,
    /// Nothing: the approval is reversed.
    Nothing,
    /// A smaller amount. The rest is refunded.
    Part {
        /// The amount, such as `8.00`.
        amount: String,
    },
}
