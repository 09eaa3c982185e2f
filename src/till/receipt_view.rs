//! A receipt for a till or a page, as rows and as lines of text.

use serde::{Deserialize, Serialize};

use pos_terms::transaction::{ReceiptCopy, Reference, SaleNumber};

/// One copy of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReceiptView {
    /// The till of the transaction.
    pub till: String,
    /// The reference of the transaction.
    pub reference: Reference,
    /// The number of the transaction in the journal.
    pub number: SaleNumber,
    /// The merchant's or the customer's copy.
    pub copy: ReceiptCopy,
    /// The language of the texts (ISO 639-1).
    pub language: String,
    /// The number of characters per line of `text`.
    pub width: u8,
    /// The receipt as lines of text.
    pub text: String,
    /// The parts of the receipt, from the top. They do not depend on a width, and their texts are not wrapped.
    pub rows: Vec<ReceiptRowView>,
}

/// A part of a receipt. Later versions may add values to `is`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReceiptRowView {
    /// The way to show the part.
    pub is: ReceiptRowIs,
    /// The text, or the label of a `pair`. Lines of `status` are separated by line feeds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The value of a `pair`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
}

/// The way to show a part of a receipt.
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
    /// A label at the left edge and its value at the right edge.
    Pair,
    /// The lines from the issuer.
    Status,
    /// Space for a signature, below a label.
    SignatureLine,
}
