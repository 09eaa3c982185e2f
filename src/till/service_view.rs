//! The views for the technician in addition to the status: the log, the port for tokens, the health after an update, a
//! receipt on its way to a printer.

use serde::{Deserialize, Serialize};

use super::PrinterState;

/// A log level that differs from the start's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// Events of each transaction, and faults.
    Info,
    /// Messages to and from each device, without their content.
    Debug,
    /// All messages of all parts of the program.
    Trace,
}

impl LogLevel {
    /// Returns the word for the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// The log level, with its remaining time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogView {
    /// The level.
    pub level: LogLevel,
    /// The number of seconds until the level of the start applies again.
    pub left_s: u64,
}

/// The health after an update: the devices that have answered this program, compared with those that answered the
/// previous one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HealthView {
    /// This program: its version, and when it was built.
    pub program: String,
    /// The previous program on this board; absent when this is the first one that the journal knows.
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

/// The evidence of a device for or against an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// It has answered this program.
    Answered,
    /// It answered the previous program, and has not yet answered this one.
    Awaited,
    /// It did not answer the previous program either, as far as that is known: no fault of this one.
    NotCounted,
}

/// The port where tills with a token connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PortView {
    /// Its address.
    pub address: String,
    /// Why no till can connect there, with the remedy; the agent retries automatically.
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
    /// The state in words for people, as its `text`.
    pub text: String,
    /// The number of receipts that wait there, including this one.
    pub waiting: usize,
}
