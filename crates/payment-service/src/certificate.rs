//! The gateway's certificates, made at every start: its own certification authority (CA) and one server certificate.
//! The server certificate is either valid or has one selected fault.

use std::io;
use std::sync::Arc;

use chrono::Datelike;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The fault of the server's certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certificate {
    /// No fault. The certificate is valid for `localhost`, `127.0.0.1`, `::1` and
    /// [`Options::name`](super::Options::name), and the published CA has signed it.
    #[default]
    Good,
    /// The certificate has expired.
    Expired,
    /// The certificate is for another host, `redirect_target.test`.
    WrongName,
    /// The certificate is signed by a CA other than the published one.
    OtherCa,
    /// The certificate expires in this many days.
    EndsIn(u16),
}

/// The server's additional requirements for a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// The client needs a certificate signed by this CA (PEM).
    pub client_ca: Option<String>,
    /// The server offers TLS 1.2 only.
    pub tls12: bool,
}

/// Makes the CA that clients must trust (PEM), and the server's TLS configuration.
///
/// # Errors
///
/// Fails if no key can be made (no randomness), or if the client's CA cannot be read.
pub(super) fn make(kind: Certificate, name: Option<&str>, demand: &Demand) -> io::Result<(String, Arc<ServerConfig>)> {
    let (ca_pem, ca) = authority("pos-sim test CA").map_err(io::Error::other)?;
    let signer = match kind {
        Certificate::OtherCa => authority("pos-sim other CA").map_err(io::Error::other)?.1,
        _ => ca,
    };
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let leaf =
        server_params(kind, name).and_then(|params| params.signed_by(&key, &signer)).map_err(io::Error::other)?;
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions: &[&rustls::SupportedProtocolVersion] =
        if demand.tls12 { &[&rustls::version::TLS12] } else { &[&rustls::version::TLS13, &rustls::version::TLS12] };
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions);
    let builder = builder.map_err(io::Error::other)?;
    let builder = match &demand.client_ca {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            let ca = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(io::Error::other)?;
            roots.add(ca).map_err(io::Error::other)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(io::Error::other)?)
        }
    };
    let config = builder.with_single_cert(vec![leaf.der().clone()], private).map_err(io::Error::other)?;
    Ok((ca_pem, Arc::new(config)))
}

fn server_params(kind: Certificate, name: Option<&str>) -> Result<CertificateParams, rcgen::Error> {
    let (usual, name): (&[&str], _) = match kind {
        Certificate::WrongName => (&["elsewhere.test"], None),
        _ => (&["localhost", "127.0.0.1", "::1"], name),
    };
    let mut params = CertificateParams::new(usual.iter().copied().chain(name).map(str::to_owned).collect::<Vec<_>>())?;
    params.distinguished_name.push(DnType::CommonName, "pos-sim gateway");
    params.use_authority_key_identifier_extension = true;
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = match kind {
        Certificate::Expired => date_time_ymd(2021, 1, 1),
        Certificate::EndsIn(days) => {
            // Midnight after this many whole days.
            let end = chrono::Utc::now().date_naive() + chrono::Days::new(u64::from(days) + 1);
            let small = |number: u32| u8::try_from(number).expect("months and days are small");
            date_time_ymd(end.year(), small(end.month()), small(end.day()))
        }
        _ => date_time_ymd(2099, 12, 31),
    };
    Ok(params)
}

fn authority(name: &str) -> Result<(String, Issuer<'static, KeyPair>), rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2099, 12, 31);
    let key = KeyPair::generate()?;
    let pem = params.self_signed(&key)?.pem();
    Ok((pem, Issuer::new(params, key)))
}
