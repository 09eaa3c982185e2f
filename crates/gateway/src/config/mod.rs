//! The configuration section `[gateway]` and its check.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::till_parameters;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use pos_daemon::secret::{credential_is_there, in_words, key_file, secret_file};
use pos_daemon::settings::{ConfigFault, FaultList, absolute, check, ensure, fault, is_made_of, within};
use pos_terms::emv::Tag;
use pos_terms::transaction::Kind;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde::Deserialize;
use serde_json::{Map, Value};

mod assumptions;

pub use assumptions::{Assumptions, ID, NotFound, QueryMethod, Zone};

/// The limits of the connect deadline. A handshake over a mobile line takes longer than the lower limit. Above the
/// upper limit, the cashier believes that the terminal has failed.
const CONNECT_TIMEOUT_MS: std::ops::RangeInclusive<u64> = 100..=60_000;
/// The limits of the answer deadline. Issuers answer within 30 s (security: 5, host timeout), and a chip does not wait
/// for minutes.
const ANSWER_TIMEOUT_MS: std::ops::RangeInclusive<u64> = 500..=100_000;
/// The limits of the resend time. The lowest values are only for tests, because a gateway may take longer. The maximum
/// is a day, because a person waits for the money.
const RESEND_S: std::ops::RangeInclusive<u64> = 1..=86_400;
/// The limits of the expiry warning. The minimum is a day. With more than a year, every certificate would cause a
/// warning.
const EXPIRY_WARNING_DAYS: std::ops::RangeInclusive<u64> = 1..=365;
/// Enough for the old and the new pins of a few CAs.
const MAX_PINS: usize = 16;

/// The payment gateway.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Gateway {
    /// Base address, `https://…`; the paths of the interface are appended.
    pub url: String,
    /// The shop's id at the gateway: 32 lower-case hex characters (interface: `entityId`).
    pub entity_id: String,
    /// File with the bearer token, readable only by its owner. Set this or `token-credential`.
    pub token_file: Option<PathBuf>,
    /// Name of a systemd credential (`LoadCredential=`) that contains the bearer token.
    pub token_credential: Option<String>,
    /// PEM file with the CA certificates that may sign the gateway's certificate. The agent trusts no others. The file
    /// may contain several CAs, for the time when the gateway changes its CA.
    pub ca_file: PathBuf,
    /// Pins of keys, as `sha256/…` (RFC 7469). One of these keys must be in the chain from a CA in `ca-file` to the
    /// gateway's certificate. `pos-agent doctor` shows the pins. If the list is empty, every chain is accepted.
    #[serde(default)]
    pub ca_pins: Vec<String>,
    /// PEM file with the terminal's certificate and its intermediate certificates, for a gateway that asks for one.
    pub client_certificate_file: Option<PathBuf>,
    /// PEM file with the key of the terminal's certificate, readable only by its owner. Set this or
    /// `client-key-credential`.
    pub client_key_file: Option<PathBuf>,
    /// Name of a systemd credential (`LoadCredential=`) that contains the key of the terminal's certificate.
    pub client_key_credential: Option<String>,
    /// The agent starts to warn this number of days before a certificate or the token expires.
    #[serde(default = "defaults::expiry_warning_days")]
    pub expiry_warning_days: u64,
    /// `EXTERNAL` or `INTERNAL` on a test system; omit it on a live system (interface: `testMode`).
    pub test_mode: Option<TestMode>,
    /// The terminal's model in the gateway's format (interface: `pos.deviceType`).
    pub device_type: Option<String>,
    /// Card brand for each AID prefix, in upper-case hex. The longest matching prefix applies. If no prefix matches,
    /// the gateway detects the brand.
    #[serde(default)]
    pub brand_by_aid: BTreeMap<String, String>,
    /// `true`: the reader's masked card data is also sent, inside `pos.iccDataRequest`.
    #[serde(default)]
    pub send_masked_tags: bool,
    /// The reader's own tags that are sent inside `pos.iccDataRequest`, in upper-case hex, for example `DF30`. Its
    /// other own tags are left out, because only the manufacturer defines their meaning.
    #[serde(default)]
    pub send_private_tags: Vec<String>,
    /// The shop's own parameters, sent with each payment and its follow-ups: `merchant.…`, `descriptor` and
    /// `customParameters[…]`, by their names in `pos-agent parameters list`. If a till sends a parameter with the same
    /// name, the till's parameter takes precedence.
    #[serde(default)]
    #[cfg_attr(feature = "docs", schemars(with = "BTreeMap<String, String>"))]
    pub parameters: Map<String, Value>,
    /// The kinds of transactions without a card that also send `pos.terminalId`, `pos.transactionSequenceNumber` and
    /// `pos.transactionSource`, for example `["capture", "refund"]`. The interface then also requires `pos.entryMode`,
    /// which only a card has. A gateway that insists on it refuses such a request. The terminal's own reversals never
    /// send these parameters.
    #[serde(default)]
    pub terminal_with: Vec<Kind>,
    /// Deadline for connecting, including the TLS handshake, in milliseconds.
    #[serde(default = "defaults::connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// Deadline for the answer to a request, in milliseconds. After it, the outcome is unknown.
    #[serde(default = "defaults::answer_timeout_ms")]
    pub answer_timeout_ms: u64,
    /// Time in seconds after which a reversal is sent again if its answer was lost and the gateway does not know the
    /// reversal. It must be longer than the gateway may take to carry out a request that it has read. With
    /// `refuses-repeated-references`, the time also applies to captures and refunds.
    #[serde(default = "defaults::resend_after_s")]
    pub resend_after_s: u64,
    /// The assumptions about facts that the interface does not show. Each has a documented default.
    #[serde(default)]
    pub assumptions: Assumptions,
}

/// `testMode` of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "UPPERCASE")]
pub enum TestMode {
    /// Forwarded to the processor's test system.
    External,
    /// Answered by the gateway's simulators.
    Internal,
}

/// Coordinates as decimal text, sent unchanged (interface: Point of sale).
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Location {
    /// A signed decimal number with up to 2 integer digits and 1 to 8 decimals.
    pub latitude: String,
    /// A signed decimal number with up to 3 integer digits and 1 to 8 decimals.
    pub longitude: String,
    /// Up to 32 digits.
    pub accuracy: Option<String>,
}

/// The data about the terminal that each payment sends.
#[derive(Clone, Debug)]
pub struct PointOfSale {
    /// The terminal id from the acquirer (interface: `pos.terminalId`).
    pub terminal_id: String,
    /// The terminal's location (interface: `pos.location.*`).
    pub location: Option<Location>,
}

/// Checks rules that the types cannot express.
pub fn check_values(found: &mut FaultList, gateway: &Gateway) {
    connection(found, gateway);
    client_certificate(found, gateway);
    assumptions::check_all(found, &gateway.assumptions);
}

fn connection(found: &mut FaultList, gateway: &Gateway) {
    found.add(url(&gateway.url));
    let entity =
        gateway.entity_id.len() == 32 && gateway.entity_id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    found.add(check(
        entity,
        "gateway.entity-id",
        "must be 32 lower-case hex characters",
        "copy the id from the gateway's letter",
    ));
    found.add(check(
        gateway.token_file.is_some() != gateway.token_credential.is_some(),
        "gateway.token-file",
        "exactly one of token-file and token-credential is needed",
        "name the file, or the systemd credential, that holds the bearer token",
    ));
    if let Some(file) = &gateway.token_file {
        found.add(absolute("gateway.token-file", file));
    }
    if let Some(name) = &gateway.token_credential {
        found.add(credential("gateway.token-credential", name, "gateway-token"));
    }
    found.add(absolute("gateway.ca-file", &gateway.ca_file));
    let pin = |pin: &String| {
        pin.strip_prefix("sha256/").is_some_and(|hash| STANDARD.decode(hash).is_ok_and(|hash| hash.len() == 32))
    };
    found.add(check(
        gateway.ca_pins.len() <= MAX_PINS && gateway.ca_pins.iter().all(pin),
        "gateway.ca-pins",
        "must be up to 16 pins: \"sha256/\" and the SHA-256 of a CA's key in base64",
        "copy a pin that pos-agent doctor shows, or omit the key",
    ));
    if let Some(model) = &gateway.device_type {
        let fits = is_made_of(model, 32, |b| b.is_ascii_graphic() || b == b' ') && model.trim() == model;
        found.add(check(
            fits,
            "gateway.device-type",
            "must be 1 to 32 printable ASCII characters",
            "write the model as the gateway names it",
        ));
    }
    for (aid, brand) in &gateway.brand_by_aid {
        // An AID prefix has at least 5 bytes, the length of a scheme's RID, and at most 16, the longest AID (ISO
        // 7816-4, 8.2.1.2).
        let hex = aid.len() % 2 == 0 && aid.len() >= 10;
        let hex = hex && is_made_of(aid, 32, |b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
        let brand = is_made_of(brand, 32, |b| b.is_ascii_alphanumeric() || b == b'_');
        found.add(check(
            hex && brand,
            "gateway.brand-by-aid",
            "needs an AID of 10 to 32 upper-case hex digits and a brand of up to 32 letters, digits or underscores",
            "write it as A0000000031010 = \"VISA\"",
        ));
    }
    let are_private = gateway.send_private_tags.iter().all(|tag| private_tag(tag).is_some());
    found.add(check(
        are_private,
        "gateway.send-private-tags",
        "needs tags of the private class in upper-case hex",
        "write them as [\"DF30\"]",
    ));
    found.add(till_parameters::of_the_shop(&gateway.parameters, &gateway.assumptions).map(drop).map_err(|unfit| {
        fault("gateway.parameters", &unfit.to_string(), "write it as \"merchant.name\" = \"Corner Shop\"")
    }));
    let with_card = gateway.terminal_with.iter().find(|kind| kind.needs_card() || !kind.moves_money());
    found.add(ensure(with_card.is_none(), "gateway.terminal-with", || {
        let kind = with_card.map_or("", |kind| kind.as_str());
        (
            format!("\"{kind}\" is not a kind of transaction without a card at the reader"),
            "write kinds such as capture, refund, reversal, increment, by-registration".to_owned(),
        )
    }));
    found.add(within("gateway.expiry-warning-days", gateway.expiry_warning_days, &EXPIRY_WARNING_DAYS));
    found.add(within("gateway.connect-timeout-ms", gateway.connect_timeout_ms, &CONNECT_TIMEOUT_MS));
    found.add(within("gateway.resend-after-s", gateway.resend_after_s, &RESEND_S));
    found.add(within("gateway.answer-timeout-ms", gateway.answer_timeout_ms, &ANSWER_TIMEOUT_MS));
}

/// Parses a private-class tag in upper-case hex.
fn private_tag(text: &str) -> Option<Tag> {
    let is_hex = is_made_of(text, 8, |b| matches!(b, b'0'..=b'9' | b'A'..=b'F')) && text.len().is_multiple_of(2);
    u32::from_str_radix(text, 16).ok().filter(|_| is_hex).map(Tag).filter(|tag| tag.is_private())
}

impl Gateway {
    /// Returns the shop's own parameters for a transaction of this kind, without those that the till sends.
    pub(crate) fn shops_parameters(&self, kind: Kind, of_till: &[(String, String)]) -> Vec<(String, String)> {
        if !kind.moves_money() || self.parameters.is_empty() {
            return Vec::new();
        }
        // The parameters were checked with the settings. Between a card and its request, they are only flattened.
        let flat = till_parameters::flattened(&self.parameters).unwrap_or_default();
        flat.into_iter().filter(|(name, _)| !of_till.iter().any(|(sent, _)| sent == name)).collect()
    }

    /// Returns the reader's own tags to send.
    #[must_use]
    pub fn private_tags(&self) -> Vec<Tag> {
        self.send_private_tags.iter().filter_map(|tag| private_tag(tag)).collect()
    }
}

/// Checks that certificate and key are set together, because a gateway that asks for a certificate cannot be reached
/// without both.
fn client_certificate(found: &mut FaultList, gateway: &Gateway) {
    let Gateway { client_certificate_file: file, client_key_file: key, client_key_credential: name, .. } = gateway;
    found.add(check(
        file.is_some() == (key.is_some() || name.is_some()),
        "gateway.client-certificate-file",
        "a client certificate and its key must be set together",
        "set client-certificate-file with client-key-file or client-key-credential, or omit all of them",
    ));
    found.add(check(
        key.is_none() || name.is_none(),
        "gateway.client-key-file",
        "only one of client-key-file and client-key-credential can hold the key",
        "omit one of them",
    ));
    for (at, file) in [("gateway.client-certificate-file", file), ("gateway.client-key-file", key)] {
        if let Some(file) = file {
            found.add(absolute(at, file));
        }
    }
    if let Some(name) = name {
        found.add(credential("gateway.client-key-credential", name, "gateway-key"));
    }
}

fn credential(key: &str, name: &str, example: &str) -> Result<(), ConfigFault> {
    let fits = is_made_of(name, 255, |b| b.is_ascii_alphanumeric() || b"._-".contains(&b)) && !name.starts_with('.');
    check(fits, key, "is not a credential name", &format!("write it as \"{example}\""))
}

fn url(text: &str) -> Result<(), ConfigFault> {
    let wrong = |what: &str| fault("gateway.url", what, "write it as \"https://gateway.example\"");
    if text.starts_with("http://") {
        return Err(wrong("plain http is refused: anyone on the line could read and change payments"));
    }
    let Some(rest) = text.strip_prefix("https://") else {
        return Err(wrong("must begin with https://"));
    };
    if !rest.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(wrong("must not hold spaces or non-ASCII characters"));
    }
    if rest.split('/').next().is_some_and(|authority| authority.contains('@')) {
        return Err(wrong("must not hold a user name or password"));
    }
    if rest.contains(['?', '#']) {
        return Err(wrong("must not hold a query (?) or a fragment (#)"));
    }
    let host = text.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
    match host {
        Some(host) if !host.is_empty() => Ok(()),
        _ => Err(wrong("is not an address")),
    }
}

/// Checks every file that the settings name.
pub fn check_files(found: &mut FaultList, gateway: &Gateway) {
    let Gateway { ca_file, client_certificate_file, client_key_file, token_file, .. } = gateway;
    found.add(certificates("gateway.ca-file", ca_file, "the gateway's CA certificate"));
    if let Some(file) = client_certificate_file {
        found.add(certificates("gateway.client-certificate-file", file, "the terminal's certificate"));
    }
    if let Some(file) = client_key_file {
        found.add(in_words("gateway.client-key-file", key_file(file)).map(drop));
    }
    if let Some(file) = token_file {
        found.add(in_words("gateway.token-file", secret_file(file)).map(drop));
    }
    let Gateway { client_key_credential, token_credential, .. } = gateway;
    for (key, name) in
        [("gateway.client-key-credential", client_key_credential), ("gateway.token-credential", token_credential)]
    {
        let Some(name) = name else { continue };
        let lost = credential_is_there(name) == Some(false);
        found.add(ensure(!lost, key, || {
            (
                format!("systemd did not pass the credential \"{name}\""),
                format!(
                    "as root, write it to the file in the unit's LoadCredential={name}:… (by default \
                     /etc/pos-agent/{name}), mode 0600; then run: systemctl restart pos-agent"
                ),
            )
        }));
    }
}

fn certificates(key: &str, file: &Path, whose: &str) -> Result<(), ConfigFault> {
    let wrong = |what: &str| {
        fault(key, &format!("{}: {what}", file.display()), &format!("write {whose} to this file, in PEM form"))
    };
    let found = CertificateDer::pem_file_iter(file).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
    let mut count = 0_usize;
    for certificate in found {
        certificate.map_err(|error| wrong(&format!("is damaged ({error})")))?;
        count += 1;
    }
    if count == 0 { Err(wrong("holds no certificate")) } else { Ok(()) }
}

/// The default values, with their reasons.
mod defaults {
    /// Covers TCP and a full handshake over a slow mobile line (security: 5, host timeout).
    pub(super) fn connect_timeout_ms() -> u64 {
        10_000
    }

    /// Is several times as long as the longest wait for a gateway.
    pub(super) fn resend_after_s() -> u64 {
        180
    }

    /// Exceeds the 30 s within which issuers answer. After this time, the transaction is looked up and reversed
    /// (security: 5, host timeout).
    pub(super) fn answer_timeout_ms() -> u64 {
        40_000
    }

    /// Leaves people enough time to issue a certificate, and is short enough that the warning is taken seriously.
    pub(super) fn expiry_warning_days() -> u64 {
        30
    }
}
