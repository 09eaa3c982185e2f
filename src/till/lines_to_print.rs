//! Lines that a till prints on the terminal's paper, such as a voucher, a note or its own administrative slip. They are
//! no receipt of this terminal, which does not store them.

use serde::{Deserialize, Serialize};

/// One line to print. It is wrapped if it is wider than the paper.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct LineToPrint {
    /// The text. If it is empty, the line is empty.
    #[cfg_attr(feature = "docs", schemars(length(max = 256)))]
    pub text: String,
    /// The text at the right edge of the same line. `text` is then its label, and `align` and `style` have no effect.
    #[cfg_attr(feature = "docs", schemars(length(max = 256)))]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The alignment.
    pub align: LineAlign,
    /// The style.
    pub style: LineStyle,
    /// The code as which `text` is printed. `value` must then be empty. Text that the code cannot hold, or that does
    /// not fit on the paper, is refused. A wrong check digit is also refused, and a missing one is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<LineCode>,
}

impl LineToPrint {
    /// The greatest number of characters in the text, and in the value.
    pub const LONGEST: usize = 256;
}

/// The alignment of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LineAlign {
    /// At the left edge.
    #[default]
    Left,
    /// In the middle.
    Centre,
    /// At the right edge.
    Right,
}

/// The style of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LineStyle {
    /// The printer's normal style.
    #[default]
    Plain,
    /// Bold.
    Bold,
    /// Bold and double height.
    Tall,
    /// Bold, with double height and double width.
    Big,
}

/// A bar code or QR code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LineCode {
    /// EAN-8.
    #[serde(rename = "ean-8")]
    Ean8,
    /// EAN-13.
    #[serde(rename = "ean-13")]
    Ean13,
    /// UPC-A.
    UpcA,
    /// Interleaved 2 of 5, with an even number of digits.
    #[serde(rename = "code-25")]
    Code25,
    /// Code 128, with printable ASCII.
    #[serde(rename = "code-128")]
    Code128,
    /// PDF417, with at most 200 bytes.
    #[serde(rename = "pdf-417")]
    Pdf417,
    /// QR code that is readable if up to 15 % is damaged (M).
    Qr,
    /// QR code that is readable if up to 7 % is damaged (L).
    QrLow,
    /// QR code that is readable if up to 25 % is damaged (Q).
    QrQuartile,
    /// QR code that is readable if up to 30 % is damaged (H).
    QrHigh,
}
