//! A receipt as a till or a page is shown it: its rows as they were composed, and the same as lines of text.

use serde::{Deserialize, Serialize};

use pos_terms::transaction::{ReceiptCopy, Reference, SaleNumber};

/// One copy of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReceiptView {
    /// The till of the transaction.
    pub till: String,
    /// Its reference.
    pub reference: Reference,
    /// Its number in the journal.
    pub number: SaleNumber,
    /// Whose copy.
    pub copy: ReceiptCopy,
    /// The language of its words, ISO 639-1.
    pub language: String,
    /// Characters of a line of `text`.
    pub width: u8,
    /// The same as lines of text.
    pub text: String,
    /// Its parts from the top, without a width: texts are not wrapped.
    pub rows: Vec<ReceiptRowView>,
}

/// A part of a receipt. Words may be added to `is`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReceiptRowView {
    /// How it is shown.
    pub is: ReceiptRowIs,
    /// What it says, of a `pair` the label; lines of `status` end with a line feed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The value of a `pair`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
}

/// How a part of a receipt is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptRowIs {
    /// A line across the paper.
    Rule,
    /// Text at the left edge.
    Left,
    /// Text in the middle.
    Centred,
    /// Bold text in the middle.
    Bold,
    /// Large text in the middle.
    Large,
    /// An amount, large and in the middle.
    Amount,
    /// A label at the left edge and its value at the right one.
    Pair,
    /// The bank's own lines.
    Status,
    /// Room for a signature, under a word.
    SignatureLine,
}
