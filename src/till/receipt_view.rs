//! A receipt for a till or a page: its rows as composed, and the same as lines of text.

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
    /// The merchant's or the customer's copy.
    pub copy: ReceiptCopy,
    /// The language of its texts, ISO 639-1.
    pub language: String,
    /// Characters per line of `text`.
    pub width: u8,
    /// The receipt as lines of text.
    pub text: String,
    /// Its parts from the top, independent of a width: texts are not wrapped.
    pub rows: Vec<ReceiptRowView>,
}

/// A part of a receipt. Values may be added to `is`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReceiptRowView {
    /// How to show it.
    pub is: ReceiptRowIs,
    /// The text; for a `pair`, the label. Lines of `status` end with a line feed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The value of a `pair`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
}

/// How to show a part of a receipt.
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
    /// The issuer's lines.
    Status,
    /// Space for a signature, below a label.
    SignatureLine,
}
