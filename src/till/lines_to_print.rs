//! Lines that a till has printed on the terminal's paper: a voucher, a note, its own slip of administration. No receipt
//! of this terminal, and nothing that it keeps.

use serde::{Deserialize, Serialize};

/// One line. It is wrapped where it is longer than the paper is wide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct LineToPrint {
    /// What it says; empty: an empty line.
    #[cfg_attr(feature = "docs", schemars(length(max = 256)))]
    pub text: String,
    /// What stands at the right edge of the same line; `text` is its label then, and `align` and `style` say nothing.
    #[cfg_attr(feature = "docs", schemars(length(max = 256)))]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Where it stands.
    pub align: LineAlign,
    /// How it looks.
    pub style: LineStyle,
    /// `text` is printed as this code, and `value` is empty. What the code cannot hold, or the paper has no room for,
    /// is refused, and so is a wrong check digit; one that is left out is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<LineCode>,
}

impl LineToPrint {
    /// Most characters of its text, and of its value.
    pub const LONGEST: usize = 256;
}

/// Where a line stands.
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

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LineStyle {
    /// As it is.
    #[default]
    Plain,
    /// Bold.
    Bold,
    /// Bold, twice as high.
    Tall,
    /// Bold, twice as high and twice as wide.
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
    /// Interleaved 2 of 5: an even number of digits.
    #[serde(rename = "code-25")]
    Code25,
    /// Code 128: printable ASCII.
    #[serde(rename = "code-128")]
    Code128,
    /// PDF417: 200 bytes at most.
    #[serde(rename = "pdf-417")]
    Pdf417,
    /// QR code of which 15 % may be lost (M).
    Qr,
    /// QR code of which 7 % may be lost (L).
    QrLow,
    /// QR code of which 25 % may be lost (Q).
    QrQuartile,
    /// QR code of which 30 % may be lost (H).
    QrHigh,
}
