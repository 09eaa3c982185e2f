//! What a till asks to be done with money, as it stands in a request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A transaction that is to begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Begin {
    /// The till's own name for it: the same one again is the same transaction.
    pub reference: String,
    /// What kind.
    pub kind: Kind,
    /// As `12.34`; of what refers to an earlier one, all that is left when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// ISO 4217; the terminal's when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// On top of the amount: as `1.50`, or `ask`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// How the card comes; as the customer likes when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<Entry>,
    /// An approval of less can be taken.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accept_partial: bool,
    /// The till confirms what was approved; and what becomes of it when the till says nothing in time.
    #[serde(flatten, serialize_with = "confirms")]
    pub confirm: Option<OnSilence>,
    /// The earlier transaction's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The stored card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// The till's cashier, by its word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// The till prints the receipts.
    #[serde(rename = "receipts", skip_serializing_if = "std::ops::Not::not", serialize_with = "prints")]
    pub till_prints: bool,
    /// What comes back with the sale.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub till_data: BTreeMap<String, String>,
    /// For the gateway, by their flat names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

impl Begin {
    /// With nothing but what it is.
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

/// What kind of transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A card pays.
    Sale,
    /// An amount is reserved.
    PreAuthorisation,
    /// What was reserved is taken.
    Capture,
    /// More is reserved.
    Increment,
    /// It is reserved anew.
    Reauthorisation,
    /// What was paid goes back.
    Refund,
    /// An earlier transaction is undone.
    Reversal,
    /// Money goes to a card without an earlier payment.
    Credit,
    /// A stored card pays.
    ByRegistration,
    /// An amount is reserved on a stored card.
    PreAuthorisationByRegistration,
    /// A card is stored.
    StoreCard,
    /// A stored card is deleted.
    ForgetCard,
    /// One that this program does not know.
    #[serde(other, skip_serializing)]
    Other,
}

/// How the card comes, where that is not left to the customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// Its number is typed at the reader.
    Manual,
    /// It is inserted.
    Chip,
}

/// What becomes of an approval about which the till says nothing in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnSilence {
    /// It is taken back.
    Reverse,
    /// It stands.
    Keep,
}

/// What a till takes of what was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "taken", rename_all = "kebab-case")]
pub enum Taken {
    /// All of it.
    All,
    /// None of it: it is taken back.
    Nothing,
    /// Less: the rest is refunded.
    Part {
        /// As `8.00`.
        amount: String,
    },
}
