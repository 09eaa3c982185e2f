//! Lines of a till's own for the terminal's printer.

use serde::Serialize;

/// Most of them in one request.
pub const MOST_LINES: usize = 200;

/// One line, as the agent's `LineToPrint`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PrintLine {
    /// What it says; empty: an empty line.
    pub text: String,
    /// What stands at the right edge of the same line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Where it stands.
    pub align: Align,
    /// How it looks.
    pub style: Style,
}

impl PrintLine {
    /// As it is, at the left edge.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Align {
    /// At the left edge.
    #[default]
    Left,
    /// In the middle.
    Centre,
    /// At the right edge.
    Right,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
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
