//! TLS to the gateway: versions 1.2 and 1.3 with the `ring` provider, a private root store, no 0-RTT.
//!
//! Only the CAs in `ca-file` may sign the gateway's certificate; the system's root certificates are not used. The file
//! may contain several CAs, so the gateway can change its CA without work at the terminal. The next CA is added in
//! advance, and the old one is removed some time after the change. If the settings name our own certificate, it is
//! shown to a gateway that asks for one.

use std::path::Path;
use std::sync::Arc;

use rustls::{CertificateError, ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::Error;
use super::certificate::Certificate;
use super::clock::CertificateClock;
use super::fault::{Alert, Fault};
use super::token::credential;
use super::verifier::{NotPinned, Seen, Verifier};
use pos_daemon::secret::{key_credential, key_file};

use crate::config;

/// The maximum size of a certificate file, in bytes. The bundle of all public CAs is 250 KiB.
const MAX_FILE: u64 = 1024 * 1024;

/// The settings of every connection, with data about the files that they were read from.
#[derive(Debug)]
pub(super) struct Tls {
    pub(super) config: Arc<ClientConfig>,
    /// The CAs in `ca-file`.
    pub(super) anchors: Vec<Certificate>,
    /// Our own certificate.
    pub(super) client: Option<Certificate>,
}

/// Reads the files that the settings name. Certificates are checked at the time of `clock`. `seen` stores the
/// certificates that the gateway shows.
pub(super) fn load(
    gateway: &config::Gateway,
    credentials: Option<&Path>,
    clock: CertificateClock,
    seen: Seen,
) -> Result<Tls, Error> {
    let setup = |error: rustls::Error| Error::Setup { why: error.to_string() };
    let (roots, anchors) = roots(&gateway.ca_file)?;
    let pins =
        anchors.iter().map(|anchor| anchor.as_ref().map(|anchor| anchor.pin.clone()).unwrap_or_default()).collect();
    let verifier = Verifier::new(roots, pins, gateway.ca_pins.clone(), clock.clone(), seen).map_err(setup)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_details(provider, Arc::new(clock))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(setup)?
        // This verifier uses webpki's own verifier with a clock that can be right and adds pins, so it is equally
        // strict.
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let (mut config, client) = match &gateway.client_certificate_file {
        None => (builder.with_no_client_auth(), None),
        Some(file) => {
            let (chain, key) = (certificates(file)?, private_key(gateway, credentials)?);
            let client = chain.first().and_then(|der| Certificate::read(der));
            let config = builder.with_client_auth_cert(chain, key).map_err(|error| Error::ClientCertificate {
                path: file.clone(),
                why: match error {
                    rustls::Error::InconsistentKeys(_) => "the key does not belong to the certificate".to_owned(),
                    error => error.to_string(),
                },
            })?;
            (config, client)
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // 0-RTT can be replayed (design: Decisions). It is off by default and set explicitly here, so that it stays off.
    config.enable_early_data = false;
    Ok(Tls { config: Arc::new(config), anchors: anchors.into_iter().flatten().collect(), client })
}

/// Returns the fault for a failed handshake.
pub(super) fn explain(error: &rustls::Error) -> Fault {
    use CertificateError as C;
    let rustls::Error::InvalidCertificate(fault) = error else {
        return match error {
            rustls::Error::AlertReceived(alert) => refused(*alert),
            rustls::Error::PeerIncompatible(_) => Fault::TlsVersion,
            _ => Fault::TlsFailed,
        };
    };
    match fault {
        C::Other(other) if other.0.is::<NotPinned>() => Fault::CaNotPinned,
        C::Expired | C::ExpiredContext { .. } => Fault::CertificateExpired,
        C::NotValidYet | C::NotValidYetContext { .. } => Fault::CertificateNotValidYet,
        C::NotValidForName | C::NotValidForNameContext { .. } => Fault::CertificateOfAnotherHost,
        C::UnknownIssuer | C::BadSignature => Fault::CaNotTrusted,
        C::Revoked => Fault::CertificateRevoked,
        _ => Fault::CertificateNotAcceptable,
    }
}

/// Returns the fault for the gateway's refusal.
fn refused(alert: rustls::AlertDescription) -> Fault {
    use rustls::AlertDescription as A;
    match alert {
        A::CertificateRequired => Fault::OwnCertificateMissing,
        A::CertificateExpired => Fault::OwnCertificateExpired,
        A::BadCertificate
        | A::UnsupportedCertificate
        | A::CertificateRevoked
        | A::CertificateUnknown
        | A::UnknownCA
        | A::DecryptError
        | A::AccessDenied => Fault::OwnCertificateRefused { alert: Alert(alert) },
        A::ProtocolVersion => Fault::TlsVersion,
        _ => Fault::TlsRefused { alert: Alert(alert) },
    }
}

/// Returns the CAs in `ca-file`, and their data as far as it can be read.
fn roots(ca_file: &Path) -> Result<(RootCertStore, Vec<Option<Certificate>>), Error> {
    let unfit = |why: String| Error::CaUnfit { path: ca_file.to_owned(), why };
    let mut roots = RootCertStore::empty();
    let mut anchors = Vec::new();
    for der in certificates(ca_file)? {
        anchors.push(Certificate::read(&der));
        roots.add(der).map_err(|error| unfit(error.to_string()))?;
    }
    Ok((roots, anchors))
}

/// Reads the certificates of a PEM file, which must contain at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let unreadable = |source| Error::CaUnreadable { path: file.to_owned(), source };
    let unfit = |why: String| Error::CaUnfit { path: file.to_owned(), why };
    let size = std::fs::metadata(file).map_err(unreadable)?.len();
    if size > MAX_FILE {
        return Err(unfit(format!("it has {size} bytes")));
    }
    let pem = std::fs::read(file).map_err(unreadable)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found.map_err(|error| unfit(error.to_string()))? {
        none if none.is_empty() => Err(unfit("it holds no certificate".to_owned())),
        found => Ok(found),
    }
}

/// Reads the key of our certificate, from a file or from systemd.
fn private_key(gateway: &config::Gateway, credentials: Option<&Path>) -> Result<PrivateKeyDer<'static>, Error> {
    let (path, pem) = match (&gateway.client_key_file, &gateway.client_key_credential) {
        (Some(file), None) => (file.clone(), key_file(file)),
        (None, Some(name)) => {
            let path = credential("client-key-credential", name, credentials)?;
            let pem = key_credential(&path);
            (path, pem)
        }
        _ => return Err(Error::ClientKeyPlace),
    };
    PrivateKeyDer::from_pem_slice(&pem?).map_err(|error| Error::ClientKey { path, why: error.to_string() })
}
