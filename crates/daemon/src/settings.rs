//! Faults of a configuration file, and the checks that several sections share.
//!
//! A fault names the line, the key, the error and the remedy. All faults are reported together, so that a person needs
//! to correct the file only once.

use std::fmt;
use std::path::Path;

/// One fault in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// The line, counted from 1, if it is known.
    pub line: Option<usize>,
    /// The key with its section, for example `gateway.url`; empty if the fault concerns the file itself.
    pub key: String,
    /// The error.
    pub wrong: String,
    /// The remedy: what to write instead.
    pub remedy: String,
}

impl ConfigFault {
    /// Returns the position and the error.
    #[must_use]
    pub fn seen(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!("line {line}: "));
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        format!("{line}{key}{}", self.wrong)
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.seen(), self.remedy)
    }
}

/// The faults found so far.
#[derive(Debug, Default)]
pub struct FaultList(pub Vec<ConfigFault>);

impl FaultList {
    /// Returns the checked value, or adds its fault to the list.
    pub fn add<T>(&mut self, checked: Result<T, ConfigFault>) -> Option<T> {
        checked
            .map_err(|fault| {
                // A list with the same mistake in several places is reported once.
                if !self.0.contains(&fault) {
                    self.0.push(fault);
                }
            })
            .ok()
    }
}

/// The permitted baud rates, from the slowest dock to the fastest UART.
pub const BAUD: std::ops::RangeInclusive<u32> = 1_200..=4_000_000;

/// Returns the default baud rate. USB ignores it; the rate of the docks is not published (readers: 10, point 1).
#[must_use]
pub fn default_baud() -> u32 {
    115_200
}

/// Checks a port: `/dev/…` or `tcp://host:port`. `usual` is the example port in the remedy.
///
/// # Errors
/// Returns the fault.
pub fn port(key: &str, text: &str, usual: &str) -> Result<(), ConfigFault> {
    let clean = text.chars().all(|c| !c.is_control());
    let fits = match text.strip_prefix("tcp://") {
        Some(rest) => rest.rsplit_once(':').is_some_and(|(host, port)| {
            let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
            let named = is_made_of(host, 255, |b| b.is_ascii_alphanumeric() || b".-:".contains(&b));
            named && is_digits(port, 5) && port.parse::<u16>().is_ok_and(|port| port != 0)
        }),
        None => text.len() > 1 && text.starts_with('/'),
    };
    ensure(clean && fits, key, || {
        (
            "must be the path of a serial line or tcp://host:port".to_owned(),
            format!("write it as \"/dev/serial/by-id/…\" or \"tcp://192.0.2.7:{usual}\""),
        )
    })
}

/// Checks that a path is absolute.
///
/// # Errors
/// Returns the fault.
pub fn absolute(key: &str, path: &Path) -> Result<(), ConfigFault> {
    check(path.is_absolute(), key, "must be an absolute path", "begin the path with /")
}

/// Checks that a text has 1 to 32 digits.
///
/// # Errors
/// Returns the fault.
pub fn digits(key: &str, text: &str, remedy: &str) -> Result<(), ConfigFault> {
    check(is_digits(text, 32), key, "must be 1 to 32 digits", remedy)
}

/// Checks that a number is between two bounds, including the bounds.
///
/// # Errors
/// Returns the fault.
pub fn within(key: &str, value: u64, bounds: &std::ops::RangeInclusive<u64>) -> Result<(), ConfigFault> {
    ensure(bounds.contains(&value), key, || {
        let (least, most) = (bounds.start(), bounds.end());
        (format!("{value} is not between {least} and {most}"), "omit the key to use the default".to_owned())
    })
}

/// Checks whether a text has 1 to `most` digits and nothing else.
#[must_use]
pub fn is_digits(text: &str, most: usize) -> bool {
    is_made_of(text, most, |byte| byte.is_ascii_digit())
}

/// Checks whether a text has 1 to `most` bytes that are all `allowed`.
#[must_use]
pub fn is_made_of(text: &str, most: usize, allowed: impl Fn(u8) -> bool) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(allowed)
}

/// Returns a fault of `key` unless the value fits.
///
/// # Errors
/// Returns the fault.
pub fn check(fits: bool, key: &str, wrong: &str, remedy: &str) -> Result<(), ConfigFault> {
    if fits { Ok(()) } else { Err(fault(key, wrong, remedy)) }
}

/// Does the same as [`check`], with texts that are created only if they are needed.
///
/// # Errors
/// Returns the fault.
pub fn ensure(fits: bool, key: &str, why: impl FnOnce() -> (String, String)) -> Result<(), ConfigFault> {
    if fits {
        return Ok(());
    }
    let (wrong, remedy) = why();
    Err(fault(key, &wrong, &remedy))
}

/// Creates a fault of `key` whose line is unknown.
#[must_use]
pub fn fault(key: &str, wrong: &str, remedy: &str) -> ConfigFault {
    ConfigFault { line: None, key: key.to_owned(), wrong: wrong.to_owned(), remedy: remedy.to_owned() }
}
