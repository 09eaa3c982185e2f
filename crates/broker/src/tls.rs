//! TLS of the fleet's connections: the trusted CA, and who this side is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// The reason why a file is of no use for TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file cannot be read, or is not PEM of the expected kind.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The certificate and the key do not belong together, or cannot be used.
    #[error("{}: the certificate cannot be used: {why}", path.display())]
    Own {
        /// The file with the certificate.
        path: PathBuf,
        /// What is wrong.
        why: rustls::Error,
    },
}

/// The files of an own certificate.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    /// The certificate, and those between it and the CA (PEM).
    pub certificate: &'a Path,
    /// Its key (PEM).
    pub key: &'a Path,
}

/// Makes the settings of a connection that trusts this CA only.
///
/// # Errors
/// Fails if a file cannot be used, and names it.
pub fn client(ca: &Path, own: Option<Own<'_>>) -> Result<Arc<ClientConfig>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(ca)? {
        roots.add(certificate).map_err(|why| TlsError::Own { path: ca.to_owned(), why })?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|why| TlsError::Own { path: ca.to_owned(), why })?
        .with_root_certificates(roots);
    let Some(Own { certificate, key }) = own else { return Ok(Arc::new(builder.with_no_client_auth())) };
    let config = builder.with_client_auth_cert(certificates(certificate)?, private_key(key)?);
    Ok(Arc::new(config.map_err(|why| TlsError::Own { path: certificate.to_owned(), why })?))
}

/// Reads the certificates of a file: at least one.
///
/// # Errors
/// Fails if the file contains none.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let wrong = |why: String| TlsError::File { path: path.to_owned(), why };
    let found = CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() { Err(wrong("the file contains no certificate (PEM)".to_owned())) } else { Ok(found) }
}

/// Reads the private key of a file.
///
/// # Errors
/// Fails if the file contains none.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| TlsError::File { path: path.to_owned(), why: error.to_string() })
}
