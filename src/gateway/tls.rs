//! TLS to the gateway: versions 1.2 and 1.3 with the `ring` provider, a private root store, no 0-RTT.
//!
//! The system's root certificates are not used: only the CAs of `ca-file` may sign the gateway's certificate.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::time_provider::TimeProvider;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, UnixTime};

use super::Error;

/// Largest CA file, in bytes: the bundle of all public CAs is 250 KiB.
const MAX_CA_FILE: u64 = 1024 * 1024;

/// The settings of every connection. Certificates are checked at the system's time or at `clock_floor`, whichever is later: a
/// board without a battery may boot in 1970 (design: invariant 8).
pub(super) fn config(ca_file: &Path, clock_floor: SystemTime) -> Result<ClientConfig, Error> {
    let setup = |error: rustls::Error| Error::Setup { why: error.to_string() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let floor = Floor(clock_floor.duration_since(UNIX_EPOCH).unwrap_or_default());
    let mut config = ClientConfig::builder_with_details(provider, Arc::new(floor))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(setup)?
        .with_root_certificates(roots(ca_file)?)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // 0-RTT can be replayed (design: Decisions). It is off by default; said here so that it stays off.
    config.enable_early_data = false;
    Ok(config)
}

/// What a failed handshake means to a technician.
pub(super) fn explain(error: &rustls::Error) -> String {
    use CertificateError as C;
    let rustls::Error::InvalidCertificate(fault) = error else {
        return match error {
            rustls::Error::AlertReceived(alert) => format!("the gateway ended the TLS handshake (alert {alert:?})"),
            rustls::Error::PeerIncompatible(_) => {
                "the gateway does not speak TLS 1.2 or 1.3 as this program does".to_owned()
            }
            _ => "the TLS handshake with the gateway failed; check [gateway] url".to_owned(),
        };
    };
    match fault {
        C::Expired | C::ExpiredContext { .. } => {
            "the gateway's certificate has expired; check the board's clock, then tell the gateway's operator"
        }
        C::NotValidYet | C::NotValidYetContext { .. } => {
            "the gateway's certificate is not valid yet; check the board's clock"
        }
        C::NotValidForName | C::NotValidForNameContext { .. } => {
            "the gateway's certificate is for another host name; check [gateway] url"
        }
        C::UnknownIssuer | C::BadSignature => "the gateway's certificate is not signed by a CA of [gateway] ca-file",
        C::Revoked => "the gateway's certificate has been revoked; tell the gateway's operator",
        _ => "the gateway's certificate is not acceptable; tell the gateway's operator",
    }
    .to_owned()
}

fn roots(ca_file: &Path) -> Result<RootCertStore, Error> {
    let unreadable = |source| Error::CaUnreadable { path: ca_file.to_owned(), source };
    let unfit = |why: String| Error::CaUnfit { path: ca_file.to_owned(), why };
    let size = std::fs::metadata(ca_file).map_err(unreadable)?.len();
    if size > MAX_CA_FILE {
        return Err(unfit(format!("it has {size} bytes")));
    }
    let pem = std::fs::read(ca_file).map_err(unreadable)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| unfit(error.to_string()))?;
        roots.add(certificate).map_err(|error| unfit(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unfit("it holds no certificate".to_owned()));
    }
    Ok(roots)
}

/// A clock that never shows a time before the floor; since 1970.
#[derive(Debug)]
struct Floor(Duration);

impl TimeProvider for Floor {
    fn current_time(&self) -> Option<UnixTime> {
        #[allow(
            clippy::disallowed_methods,
            reason = "the TLS library asks at each handshake; this is the gateway's port file"
        )]
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(UnixTime::since_unix_epoch(now.max(self.0)))
    }
}
