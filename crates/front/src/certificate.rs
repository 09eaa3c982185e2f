//! The front's own certificates: a CA, and the certificates that it signs for the terminal's names and addresses.
//!
//! A technician installs the CA once in tills and browsers (`pos-front certificate --pem`) and compares its fingerprint
//! with the one that the terminal shows. The certificates that the CA signs are renewed automatically. Keys are in the
//! state folder, with mode 0600. The CA can sign only server certificates, and no other CA.
//!
//! A board without a clock starts in 1970, so a time before `EARLIEST` counts as `EARLIEST`.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256,
};
use ring::digest::{SHA256, digest};
use rustls::ServerConfig;
use rustls::server::ServerSessionMemoryCache;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::control::unix_s;
use crate::state::{StateError, StateFolder};

/// The CA's file in the state folder.
const CA_FILE: &str = "ca.json";

/// A certificate's purpose: its file and its common name.
#[derive(Clone, Debug)]
pub(crate) struct Purpose {
    file: &'static str,
    common_name: String,
}

impl Purpose {
    /// Returns the purpose for the page and for paired tills.
    pub(crate) fn page() -> Self {
        Self { file: "certificate.json", common_name: "pos-front".to_owned() }
    }

    /// Returns the purpose for tills that speak nexo. Some of these tills require a common name that their maker
    /// defines.
    pub(crate) fn nexo(common_name: Option<&str>) -> Self {
        Self { file: "nexo-certificate.json", common_name: common_name.unwrap_or("pos-front").to_owned() }
    }
}

const DAY: Duration = Duration::from_secs(24 * 3600);
/// The lifetime of the CA. It is long, because a CA is installed by hand.
const CA_LASTS: Duration = Duration::from_secs(20 * 365 * 24 * 3600);
/// The lifetime of a certificate. Some systems reject certificates that are valid for more than 825 days, regardless of
/// the signer.
const LASTS: Duration = Duration::from_secs(398 * 24 * 3600);
/// The remaining lifetime at which a certificate is renewed: a third of the whole.
const RENEWED_BEFORE: Duration = Duration::from_secs(133 * 24 * 3600);
/// The largest number of names and addresses with those that a board had earlier.
const MOST_NAMES: usize = 16;
/// 2026-01-01. A clock that shows an earlier time is wrong.
const EARLIEST: Duration = Duration::from_secs(1_767_225_600);
/// The number of stored TLS sessions, which pages and tills can resume.
const TLS_SESSIONS: usize = 32;

/// The reason why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateError {
    /// The certificate cannot be read or stored.
    #[error(transparent)]
    State(#[from] StateError),
    /// The certificate cannot be created.
    #[error("no certificate can be created: {0}; write only host names or addresses in names in front.toml")]
    NotMade(#[from] rcgen::Error),
    /// The stored certificate cannot be served.
    #[error("the certificate cannot be served: {0}; remove ca.json and certificate.json from the state folder")]
    Unusable(String),
}

/// A certificate, as stored.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// The certificate in PEM form.
    certificate: String,
    /// The key in PEM form.
    key: String,
    /// The end of validity, in seconds since 1970.
    ends: u64,
    /// The names and addresses in the certificate. Empty for a CA.
    names: Vec<String>,
    /// The fingerprint of the CA that signed the certificate.
    signed_by: String,
    /// The common name. Empty in a file from an earlier version, which used `pos-front`.
    #[serde(default)]
    common_name: String,
}

/// The certificate that is served, and its CA.
#[derive(Debug)]
pub(crate) struct HostCertificate {
    ca: Kept,
    own: Kept,
}

/// Returns the names and addresses of the terminal: the configured names, its host name, `localhost`, and its own
/// addresses.
pub(crate) fn host_names(configured: &[String], listens: &[SocketAddr]) -> Vec<String> {
    let mut names: Vec<String> = configured.to_vec();
    let own = own_name();
    let label = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
    if (1..=63).contains(&own.len()) && own.bytes().all(label) {
        names.extend([format!("{own}.local"), own]);
    }
    names.push("localhost".to_owned());
    let reached = |address: &SocketAddr| match address.ip().is_unspecified() {
        true => [IpAddr::from([127, 0, 0, 1])].into_iter().chain(outward()).collect::<Vec<_>>(),
        false => vec![address.ip()],
    };
    names.extend(listens.iter().flat_map(reached).map(|address| address.to_string()));
    names.sort();
    names.dedup();
    names
}

/// Returns the host name of the board, in lower case.
pub(crate) fn own_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().to_ascii_lowercase()
}

/// Returns the addresses at which other devices find the page: by the configured names, by the name in the local
/// network, and by number. Empty without TLS.
pub(crate) fn page_origins(configured: &[String], https: &[SocketAddr]) -> Vec<String> {
    let Some(port) = https.first().map(SocketAddr::port) else { return Vec::new() };
    let is_far = |name: &String| match name.parse::<IpAddr>() {
        Ok(address) => !address.is_loopback(),
        Err(_) => name.ends_with(".local"),
    };
    let found = host_names(&[], https).into_iter().filter(is_far).filter(|name| !configured.contains(name));
    let (numbers, names): (Vec<_>, Vec<_>) = found.partition(|name| name.parse::<IpAddr>().is_ok());
    let origin = |name: String| match name.contains(':') {
        true => format!("https://[{name}]:{port}"),
        false => format!("https://{name}:{port}"),
    };
    configured.iter().cloned().chain(names).chain(numbers).map(origin).collect()
}

/// Returns the addresses at which devices in the networks of this board reach it: those from which it would send to
/// another network, and each IPv4 address. Further IPv6 addresses of a board may change each day. Finding them sends no
/// data.
pub(crate) fn outward() -> Vec<IpAddr> {
    let ways = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];
    let way = |(from, to): (&str, &str)| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_unspecified())
    };
    let networks = if_addrs::get_if_addrs().unwrap_or_default().into_iter().map(|interface| interface.ip());
    let near = networks.filter(|address| address.is_ipv4() && !address.is_loopback());
    let all: BTreeSet<IpAddr> = ways.into_iter().filter_map(way).chain(near).collect();
    all.into_iter().collect()
}

impl HostCertificate {
    /// Reads the stored certificates, and creates those that are missing or must be renewed.
    ///
    /// A certificate with more names than the board has now stays, and a new one keeps the earlier addresses. So it
    /// does not change while a board has no network yet, and a browser does not warn a second time.
    pub(crate) fn open(
        state: &StateFolder,
        purpose: &Purpose,
        names: &[String],
        now: SystemTime,
    ) -> Result<Self, CertificateError> {
        let now = now.max(SystemTime::UNIX_EPOCH + EARLIEST);
        let second = unix_s(now);
        let ca = match state.read::<Kept>(CA_FILE)?.filter(|ca| ca.ends > second + LASTS.as_secs()) {
            Some(ca) => ca,
            None => {
                let ca = new_ca(now)?;
                state.write(CA_FILE, &ca)?;
                tracing::info!(fingerprint = ca.fingerprint()?, "a CA was created: install it in tills and browsers");
                ca
            }
        };
        let signed_by = ca.fingerprint()?;
        let names = &[names, &[network_name(&signed_by)]].concat();
        let good = |own: &Kept| {
            let called = if own.common_name.is_empty() { "pos-front" } else { &own.common_name };
            own.signed_by == signed_by
                && names.iter().all(|name| own.names.contains(name))
                && called == purpose.common_name
                && own.ends > second + RENEWED_BEFORE.as_secs()
        };
        // An unreadable certificate can be replaced, because tills know only the CA.
        let own = match state.read::<Kept>(purpose.file).ok().flatten() {
            Some(own) if good(&own) => own,
            former => {
                let earlier = former.map(|own| own.names).unwrap_or_default();
                let own = signed(&ca, &purpose.common_name, &with_earlier(names, &earlier), now)?;
                state.write(purpose.file, &own)?;
                tracing::info!(names = own.names.join(" "), "the certificate was created");
                own
            }
        };
        Ok(Self { ca, own })
    }

    /// Returns the CA in PEM form, for tills and browsers.
    pub(crate) fn ca_pem(&self) -> &str {
        &self.ca.certificate
    }

    /// Returns the SHA-256 fingerprint of the CA, as browsers show it.
    pub(crate) fn ca_fingerprint(&self) -> Result<String, CertificateError> {
        self.ca.fingerprint()
    }

    /// Returns the name by which the announcement in the network leads to this terminal, and to no other.
    pub(crate) fn network_name(&self) -> Result<String, CertificateError> {
        Ok(network_name(&self.ca.fingerprint()?))
    }

    /// Returns the SHA-256 fingerprint of the certificate itself.
    pub(crate) fn fingerprint(&self) -> Result<String, CertificateError> {
        self.own.fingerprint()
    }

    /// Returns the names and addresses in the certificate.
    pub(crate) fn names(&self) -> &[String] {
        &self.own.names
    }

    /// Returns the time at which the certificate expires.
    pub(crate) fn ends(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.own.ends)
    }

    /// Returns the TLS configuration: TLS 1.2 and 1.3, for HTTP/1.1.
    pub(crate) fn tls(&self) -> Result<Arc<ServerConfig>, CertificateError> {
        let unusable = |error: String| CertificateError::Unusable(error);
        let chain = [self.own.der()?, self.ca.der()?].to_vec();
        let key = KeyPair::from_pem(&self.own.key)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = versions.map_err(|error| unusable(error.to_string()))?.with_no_client_auth();
        let mut config = config.with_single_cert(chain, key).map_err(|error| unusable(error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.session_storage = ServerSessionMemoryCache::new(TLS_SESSIONS);
        // Early data is off, because an attacker could replay it.
        config.max_early_data_size = 0;
        Ok(Arc::new(config))
    }
}

impl Kept {
    fn der(&self) -> Result<CertificateDer<'static>, CertificateError> {
        CertificateDer::from_pem_slice(self.certificate.as_bytes())
            .map_err(|error| CertificateError::Unusable(error.to_string()))
    }

    fn fingerprint(&self) -> Result<String, CertificateError> {
        let digest = digest(&SHA256, &self.der()?);
        let pairs: Vec<String> = digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect();
        Ok(pairs.join(":"))
    }
}

/// Returns a name that no other terminal has. Boards of one image have the same host name, and the system may announce
/// its own addresses under the host name.
fn network_name(ca_fingerprint: &str) -> String {
    let digits = ca_fingerprint.chars().filter(char::is_ascii_hexdigit).take(8);
    format!("pos-{}.local", digits.collect::<String>().to_ascii_lowercase())
}

/// Adds the addresses of the earlier certificate, as far as [`MOST_NAMES`] permits.
fn with_earlier(names: &[String], earlier: &[String]) -> Vec<String> {
    let is_address = |name: &&String| name.parse::<IpAddr>().is_ok() && !names.contains(name);
    let room = MOST_NAMES.saturating_sub(names.len());
    names.iter().chain(earlier.iter().filter(is_address).take(room)).cloned().collect()
}

fn new_ca(now: SystemTime) -> Result<Kept, CertificateError> {
    let mut params = ca_params()?;
    let ends = lasts(&mut params, now, CA_LASTS);
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?)?;
    let (certificate, key) = (ca.pem(), ca.key().serialize_pem());
    Ok(Kept { certificate, key, ends, names: vec![], signed_by: String::new(), common_name: String::new() })
}

/// Returns the name and the permitted uses of a CA. The caller sets the lifetime and the key.
fn ca_params() -> Result<CertificateParams, CertificateError> {
    let mut params = CertificateParams::new(vec![])?;
    params.distinguished_name = name("pos-front CA of this terminal");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    Ok(params)
}

fn signed(ca: &Kept, common_name: &str, names: &[String], now: SystemTime) -> Result<Kept, CertificateError> {
    let issuer = Issuer::new(ca_params()?, KeyPair::from_pem(&ca.key)?);
    let mut params = CertificateParams::new(names.to_vec())?;
    params.distinguished_name = name(common_name);
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let ends = lasts(&mut params, now, LASTS);
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let certificate = params.signed_by(&key, &issuer)?.pem();
    let (names, signed_by, common_name) = (names.to_vec(), ca.fingerprint()?, common_name.to_owned());
    Ok(Kept { certificate, key: key.serialize_pem(), ends, names, signed_by, common_name })
}

fn name(text: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, text);
    name
}

/// Sets the validity period and returns its end in seconds since 1970. The period begins one day early, for devices
/// whose clocks are slow.
fn lasts(params: &mut CertificateParams, now: SystemTime, lasts: Duration) -> u64 {
    let ends = now + lasts - DAY;
    (params.not_before, params.not_after) = (OffsetDateTime::from(now - DAY), OffsetDateTime::from(ends));
    unix_s(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_ca_stays_and_the_certificate_is_renewed_in_time_and_for_other_names() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let begin = SystemTime::UNIX_EPOCH + EARLIEST + DAY;
        let open =
            |names: &[&str], now| HostCertificate::open(&state, &Purpose::page(), &self::names(names), now).unwrap();
        let first = open(&["kasse.local", "192.0.2.7"], begin);
        first.tls().unwrap();
        let print = |it: &HostCertificate| it.fingerprint().unwrap();
        let again = open(&["kasse.local", "192.0.2.7"], begin + DAY);
        assert_eq!(print(&first), print(&again), "as long as it is good it is served");
        let other = open(&["kasse.local", "192.0.2.8"], begin + DAY);
        let later = open(&["kasse.local", "192.0.2.8"], begin + DAY + (LASTS - RENEWED_BEFORE));
        assert_ne!(print(&again), print(&other), "another name");
        assert_ne!(print(&other), print(&later), "a third of its time is left");
        assert_eq!(first.ca_fingerprint().unwrap(), later.ca_fingerprint().unwrap(), "tills know the same CA");
        // A file that a faulty SD card damaged is created again.
        std::fs::write(folder.path().join(Purpose::page().file), "{").unwrap();
        assert_ne!(print(&open(&["kasse.local", "192.0.2.8"], begin)), print(&later));
    }

    #[test]
    fn a_board_that_has_fewer_names_or_an_earlier_address_keeps_its_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let now = SystemTime::UNIX_EPOCH + EARLIEST + DAY;
        let open = |names: &[&str]| HostCertificate::open(&state, &Purpose::page(), &self::names(names), now).unwrap();
        let print = |names: &[&str]| open(names).fingerprint().unwrap();
        let first = print(&["kasse.local", "192.0.2.7"]);
        assert_eq!(first, print(&["kasse.local"]), "the network is not there yet");
        let second = print(&["kasse.local", "192.0.2.8"]);
        assert_ne!(first, second);
        assert_eq!(second, print(&["kasse.local", "192.0.2.7"]), "the network gives the earlier address again");
        let network = open(&["kasse.local"]).network_name().unwrap();
        let later = open(&["pos.local"]);
        assert_eq!(later.names(), ["pos.local", &network, "192.0.2.8", "192.0.2.7"], "an earlier name goes");
        for n in 0..2 * MOST_NAMES {
            let address = format!("198.51.100.{n}");
            let names = open(&["pos.local", &address]).names().to_vec();
            assert!(names.len() <= MOST_NAMES && names[..2] == ["pos.local", &address], "{names:?}");
        }
    }

    #[test]
    fn the_page_is_found_by_its_names_before_its_numbers_and_never_by_the_boards_own() {
        let origins = |configured: &[&str], https: &str| page_origins(&names(configured), &[https.parse().unwrap()]);
        let found = origins(&["kasse.example", "2001:db8::7"], "192.0.2.7:8443");
        assert_eq!(found[..2], ["https://kasse.example:8443", "https://[2001:db8::7]:8443"]);
        assert_eq!(found.last().map(String::as_str), Some("https://192.0.2.7:8443"));
        assert!(found[2..found.len() - 1].iter().all(|origin| origin.ends_with(".local:8443")), "{found:?}");
        assert!(origins(&[], "127.0.0.1:8443").iter().all(|origin| origin.ends_with(".local:8443")));
        assert_eq!(page_origins(&names(&["kasse.example"]), &[]), names(&[]));
    }

    #[test]
    fn a_board_without_a_clock_makes_a_certificate_that_is_good_later() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let made =
            HostCertificate::open(&state, &Purpose::page(), &names(&["localhost"]), SystemTime::UNIX_EPOCH).unwrap();
        assert!(made.ends() > SystemTime::UNIX_EPOCH + EARLIEST + LASTS - 2 * DAY);
    }
}
