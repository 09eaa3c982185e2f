//! What a person who looks after the terminal asks for beside its status: the log, the port for tokens, whether an
//! update is good, a receipt on its way to a printer.

use serde::{Deserialize, Serialize};

use super::PrinterState;

/// How much is logged, when it is not as the program was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// What happens to each sale, and what is wrong.
    Info,
    /// What each device says and is told, without what is in it.
    Debug,
    /// Everything that any part of the program says.
    Trace,
}

impl LogLevel {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// How much is logged, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogView {
    /// How much.
    pub level: LogLevel,
    /// After so many seconds it is again as the program was started.
    pub left_s: u64,
}

/// What shows whether an update is good: what answers under this program, and what did under the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HealthView {
    /// This program: its version, and when it was built.
    pub program: String,
    /// The one before it on this board; absent when it is the first one that the journal knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Why the journal cannot be written, with the remedy; absent when this program has written it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The card reader.
    pub reader: Health,
    /// The gateway.
    pub gateway: Health,
}

/// Whether a device speaks for an update or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// It has answered under this program.
    Answered,
    /// It answered under the program before, and has not yet under this one.
    Awaited,
    /// It did not answer under the program before either, as far as that is known: no fault of this one.
    NotCounted,
}

/// The port where tills with a token connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PortView {
    /// Its address.
    pub address: String,
    /// Why nobody can connect there, and what to do; it is tried again by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// A receipt that is on its way to a printer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PrintView {
    /// The printer's name.
    pub printer: String,
    /// Its state, as `state` of a `PrinterView`.
    pub state: PrinterState,
    /// The same as words for people, as its `text`.
    pub text: String,
    /// How many receipts wait there, this one included.
    pub waiting: usize,
}
