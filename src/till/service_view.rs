//! The views for the technician in addition to the status: the log, the port for tokens, the health after an update,
//! and a queued receipt.

use serde::{Deserialize, Serialize};

use super::PrinterState;

/// A log level that replaces the level of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// Events of each transaction, and faults.
    Info,
    /// Messages to and from each device, without their content.
    Debug,
    /// All messages from all parts of the program.
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

/// The changed log level, with its remaining time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogView {
    /// The level.
    pub level: LogLevel,
    /// The number of seconds until the usual level applies again.
    pub left_s: u64,
}

/// The health after an update. It compares the devices that have answered this program with those that answered the
/// previous one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HealthView {
    /// The version and build time of this program.
    pub program: String,
    /// The previous program on this board. Absent if this is the first one that the journal knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The reason why the journal cannot be written, with the remedy. Absent if this program has written to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The card reader.
    pub reader: Health,
    /// The gateway.
    pub gateway: Health,
}

/// The evidence from a device for or against an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// The device has answered this program.
    Answered,
    /// The device answered the previous program, but has not yet answered this one.
    Awaited,
    /// The device did not answer the previous program either, as far as is known, so this program is not at fault.
    NotCounted,
}

/// The port to which tills with a token connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PortView {
    /// The address of the port.
    pub address: String,
    /// The reason why no till can connect there, with the remedy. The agent retries automatically.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// A receipt in a printer's queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PrintView {
    /// The printer's name.
    pub printer: String,
    /// The printer's state, as `state` in a `PrinterView`.
    pub state: PrinterState,
    /// The state as a text for people, as `text` in a `PrinterView`.
    pub text: String,
    /// The number of receipts in the queue, including this one.
    pub waiting: usize,
}
