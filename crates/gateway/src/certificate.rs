//! The parts of a certificate that a technician needs: subject, issuer, validity, and the pin of its key.
//!
//! This module does not judge certificates: only the verifier decides whether one is trusted. It also reads refused
//! certificates.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::der::{Decode, Encode};

/// The maximum number of characters of a name that are shown. The longest common name has 64 (RFC 5280, appendix A).
const MAX_NAME: usize = 120;
const DAY_S: i64 = 24 * 3600;

/// The data of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The subject, for example `CN=gateway.example,O=Example`.
    pub subject: String,
    /// The issuer.
    pub issuer: String,
    /// The start of its validity, in seconds since 1970.
    pub not_before: i64,
    /// The end of its validity, in seconds since 1970.
    pub not_after: i64,
    /// The pin of its key, in the form of `[gateway] ca-pins`.
    pub pin: String,
}

impl Certificate {
    /// Parses a certificate. Returns `None` if the bytes are not one.
    #[must_use]
    pub fn read(der: &[u8]) -> Option<Self> {
        // `Raw` also accepts serial numbers that are too long or negative, because such certificates are in use.
        let certificate = CertificateInner::<Raw>::from_der(der).ok()?;
        let signed = certificate.tbs_certificate();
        let seconds = |duration: std::time::Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Some(Self {
            subject: name(signed.subject()),
            issuer: name(signed.issuer()),
            not_before: seconds(signed.validity().not_before.to_unix_duration()),
            not_after: seconds(signed.validity().not_after.to_unix_duration()),
            pin: pin(&signed.subject_public_key_info().to_der().ok()?),
        })
    }
}

fn name(name: &impl fmt::Display) -> String {
    let text = name.to_string();
    if text.is_empty() { "(no name)".to_owned() } else { text.chars().take(MAX_NAME).collect() }
}

/// Returns the pin `sha256/…` of a key (SubjectPublicKeyInfo, DER), in the form of RFC 7469 and curl.
pub(super) fn pin(spki: &[u8]) -> String {
    format!("sha256/{}", STANDARD.encode(ring::digest::digest(&ring::digest::SHA256, spki)))
}

/// An item that expires, for early warnings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// The item.
    pub what: Expiring,
    /// The expiry time, in seconds since 1970.
    pub at: i64,
}

/// The items of the connection to the gateway that can expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expiring {
    /// The latest certificate that the gateway showed.
    Gateway,
    /// A certificate between the gateway's certificate and our CA.
    Intermediate,
    /// The CA in `ca-file` that expires last.
    Ca,
    /// Our own certificate.
    Client,
    /// The access token, if it contains its expiry.
    Token,
}

impl Expiry {
    /// Returns a warning with its remedy if fewer than `days` days are left.
    #[must_use]
    pub fn warning(&self, now: i64, days: u64) -> Option<String> {
        let days = i64::try_from(days).unwrap_or(i64::MAX);
        if self.at.saturating_sub(now) >= days.saturating_mul(DAY_S) {
            return None;
        }
        let (what, remedy) = match self.what {
            Expiring::Gateway => ("the gateway's certificate", "tell the gateway's operator"),
            Expiring::Intermediate => ("an intermediate certificate of the gateway", "tell the gateway's operator"),
            Expiring::Ca => (
                "the last CA certificate from ca-file in [gateway]",
                "add the gateway's next CA certificate to that file",
            ),
            Expiring::Client => (
                "the terminal's certificate, from client-certificate-file in [gateway],",
                "have a new one issued, and replace the certificate and its key",
            ),
            Expiring::Token => (
                "the terminal's access token",
                "ask the gateway's operator for a new token and replace token-file in [gateway]",
            ),
        };
        Some(format!("{what} {}; {remedy}", ends(self.at, now)))
    }
}

/// Returns `expires in 12 days (2026-12-03)` or `expired 3 days ago (…)`.
#[must_use]
pub fn ends(at: i64, now: i64) -> String {
    let date = date(at);
    let days = at.saturating_sub(now).div_euclid(DAY_S);
    match days {
        0 => format!("expires within a day ({date})"),
        1 => format!("expires in 1 day ({date})"),
        2.. => format!("expires in {days} days ({date})"),
        // The number of days is rounded down: a day and a second is "1 day ago".
        -1 => format!("expired less than a day ago ({date})"),
        _ => format!("expired {} days ago ({date})", -days - 1),
    }
}

/// Formats a day as `2026-12-03`.
#[must_use]
pub fn date(unix_s: i64) -> String {
    DateTime::<Utc>::from_timestamp(unix_s, 0)
        .map_or_else(|| "no date".to_owned(), |time| time.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn days_are_counted_as_a_person_counts_them() {
        let now = 1_800_000_000;
        for (at, text) in [
            (now + 10 * DAY_S, "expires in 10 days (2027-01-25)"),
            (now + 2 * DAY_S - 1, "expires in 1 day (2027-01-17)"),
            (now + DAY_S - 1, "expires within a day (2027-01-16)"),
            (now - 1, "expired less than a day ago (2027-01-15)"),
            (now - 3 * DAY_S - 1, "expired 3 days ago (2027-01-12)"),
        ] {
            assert_eq!(ends(at, now), text);
        }
        let expiry = Expiry { what: Expiring::Gateway, at: now + 10 * DAY_S };
        assert_eq!(expiry.warning(now, 10), None);
        assert_eq!(
            expiry.warning(now, 11).unwrap(),
            "the gateway's certificate expires in 10 days (2027-01-25); tell the gateway's operator"
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = Certificate::read(&bytes);
        }
    }
}
