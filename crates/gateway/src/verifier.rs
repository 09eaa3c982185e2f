//! Decides whether the gateway's certificate is trusted. webpki checks it against our CAs, at a time that can be right.
//! If pins are set, a pinned CA must be in the chain.
//!
//! While no clock can be right, only the earliest possible time (the floor) is known. A certificate that had expired by
//! the floor has expired. A certificate that becomes valid after the floor may be valid now. The only reason to refuse
//! it would be the board's empty battery. The chain is therefore checked at the earliest time from the floor on at
//! which no part of it is "not valid yet" (design: invariant 8).

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, TrustAnchor, UnixTime};
use webpki::{EndEntityCert, KeyUsage, VerifiedPath};

use super::certificate::{Certificate, pin};
use super::clock::{self, CertificateClock, Time};

/// The maximum number of stored certificates in a chain, and of times that are tried. webpki follows at most six
/// intermediate certificates.
const MAX_CHAIN: usize = 8;

/// The latest chain that the gateway showed, its own certificate first, trusted or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<Vec<Certificate>>>);

impl Seen {
    pub(super) fn chain(&self) -> Vec<Certificate> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the chain once for each handshake, because every status needs it.
    fn set<'a, 'der: 'a>(&self, chain: impl IntoIterator<Item = &'a CertificateDer<'der>>) {
        let chain = chain.into_iter().filter_map(|der| Certificate::read(der)).collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = chain;
    }
}

/// None of the pinned keys is in the verified chain.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("no pinned CA is in the chain")]
pub(super) struct NotPinned;

/// Our CAs, the clock, and the pins.
#[derive(Debug)]
pub(super) struct Verifier {
    inner: Arc<WebPkiServerVerifier>,
    algorithms: WebPkiSupportedAlgorithms,
    /// Our CAs with the pins of their keys.
    anchors: Vec<(TrustAnchor<'static>, String)>,
    /// The pins. If there are none, every chain to our CAs is trusted.
    pins: Vec<String>,
    clock: CertificateClock,
    seen: Seen,
}

impl Verifier {
    /// Creates a verifier. `anchor_pins` are the pins of `roots`, in the same order.
    pub(super) fn new(
        roots: RootCertStore,
        anchor_pins: Vec<String>,
        pins: Vec<String>,
        clock: CertificateClock,
        seen: Seen,
    ) -> Result<Self, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let anchors = roots.roots.iter().cloned().zip(anchor_pins).collect();
        let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let inner = inner.map_err(|error| Error::General(error.to_string()))?;
        Ok(Self { inner, algorithms, anchors, pins, clock, seen })
    }

    /// Checks whether a chain that webpki trusts at `at` goes through a pinned key. Another chain to our CAs is not
    /// enough. A pinned certificate that is only shown is also not enough: it must have signed.
    fn is_pinned(&self, leaf: &CertificateDer<'_>, intermediates: &[CertificateDer<'_>], at: UnixTime) -> bool {
        let through_pin = |path: &VerifiedPath<'_>| {
            let anchor = self.anchors.iter().find(|(anchor, _)| anchor == path.anchor()).map(|(_, pin)| pin.clone());
            let mut pins =
                path.intermediate_certificates().map(|ca| pin(ca.subject_public_key_info().as_ref())).chain(anchor);
            if pins.any(|pin| self.pins.contains(&pin)) { Ok(()) } else { Err(webpki::Error::UnknownIssuer) }
        };
        let anchors: Vec<_> = self.anchors.iter().map(|(anchor, _)| anchor.clone()).collect();
        EndEntityCert::try_from(leaf).is_ok_and(|leaf| {
            let (all, usage) = (self.algorithms.all, KeyUsage::server_auth());
            leaf.verify_for_usage(all, &anchors, intermediates, at, usage, None, Some(&through_pin)).is_ok()
        })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown = std::iter::once(leaf).chain(intermediates).take(MAX_CHAIN);
        self.seen.set(shown);
        let time = self.clock.time();
        let mut at = clock::unix(time.earliest());
        let mut tries = MAX_CHAIN;
        loop {
            match self.inner.verify_server_cert(leaf, intermediates, server_name, ocsp_response, at) {
                Err(Error::InvalidCertificate(CertificateError::NotValidYetContext { not_before, .. }))
                    if matches!(time, Time::AtLeast(_)) && not_before > at && tries > 0 =>
                {
                    at = not_before;
                    tries -= 1;
                }
                Ok(_) if !self.pins.is_empty() && !self.is_pinned(leaf, intermediates, at) => {
                    return Err(Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(NotPinned)))));
                }
                judged => return judged,
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
