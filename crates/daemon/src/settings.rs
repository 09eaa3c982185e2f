//! Faults of a configuration file, and the checks that several sections share.
//!
//! A fault names the line, the key, what is wrong and the remedy. All faults are the answer: nobody wants to correct a
//! file ten times.

use std::fmt;
use std::path::Path;

/// One place of the file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// Where it stands, counted from 1, when that is known.
    pub line: Option<usize>,
    /// The key with its section, as `gateway.url`; empty when it is about the file itself.
    pub key: String,
    /// What is wrong with it.
    pub wrong: String,
    /// What to write instead.
    pub remedy: String,
}

impl ConfigFault {
    /// Where, and what is wrong there.
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

/// The faults that were found so far.
#[derive(Debug, Default)]
pub struct FaultList(pub Vec<ConfigFault>);

impl FaultList {
    /// What was checked, when it is good.
    pub fn add<T>(&mut self, checked: Result<T, ConfigFault>) -> Option<T> {
        checked
            .map_err(|fault| {
                // Once is enough for a list with the same mistake in several places.
                if !self.0.contains(&fault) {
                    self.0.push(fault);
                }
            })
            .ok()
    }
}

/// From the slowest dock to the fastest UART.
pub const BAUD: std::ops::RangeInclusive<u32> = 1_200..=4_000_000;

/// USB ignores it; the docks' rate is not published (readers: 10, point 1).
#[must_use]
pub fn default_baud() -> u32 {
    115_200
}

/// `/dev/…` or `tcp://host:port`; `usual` is the port of the example.
///
/// # Errors
/// The fault.
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

/// An absolute path.
///
/// # Errors
/// The fault.
pub fn absolute(key: &str, path: &Path) -> Result<(), ConfigFault> {
    check(path.is_absolute(), key, "must be an absolute path", "begin it with /")
}

/// 1 to 32 digits.
///
/// # Errors
/// The fault.
pub fn digits(key: &str, text: &str, remedy: &str) -> Result<(), ConfigFault> {
    check(is_digits(text, 32), key, "must be 1 to 32 digits", remedy)
}

/// A number between two bounds, both included.
///
/// # Errors
/// The fault.
pub fn within(key: &str, value: u64, bounds: &std::ops::RangeInclusive<u64>) -> Result<(), ConfigFault> {
    ensure(bounds.contains(&value), key, || {
        let (least, most) = (bounds.start(), bounds.end());
        (format!("{value} is not between {least} and {most}"), "leave it out for the default".to_owned())
    })
}

/// Whether it is 1 to `most` digits.
#[must_use]
pub fn is_digits(text: &str, most: usize) -> bool {
    is_made_of(text, most, |byte| byte.is_ascii_digit())
}

/// Whether it is 1 to `most` bytes that are `allowed`.
#[must_use]
pub fn is_made_of(text: &str, most: usize, allowed: impl Fn(u8) -> bool) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(allowed)
}

/// Nothing when it fits; else a fault of `key`.
///
/// # Errors
/// The fault.
pub fn check(fits: bool, key: &str, wrong: &str, remedy: &str) -> Result<(), ConfigFault> {
    if fits { Ok(()) } else { Err(fault(key, wrong, remedy)) }
}

/// As [`check`], with words that are made only when they are needed.
///
/// # Errors
/// The fault.
pub fn ensure(fits: bool, key: &str, why: impl FnOnce() -> (String, String)) -> Result<(), ConfigFault> {
    if fits {
        return Ok(());
    }
    let (wrong, remedy) = why();
    Err(fault(key, &wrong, &remedy))
}

/// A fault of `key`, whose line is not known.
#[must_use]
pub fn fault(key: &str, wrong: &str, remedy: &str) -> ConfigFault {
    ConfigFault { line: None, key: key.to_owned(), wrong: wrong.to_owned(), remedy: remedy.to_owned() }
}
