//! Signs what the terminal says about commands, settings and keys, with the key of its certificate. The broker can then
//! drop a result, but cannot invent one.

use std::fmt;

use pos_fleet_terms::{DocumentKind, DocumentSignature, Envelope};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData as _, SigningKey as _};
use ring::digest::{SHA256, digest};

/// The key of a terminal's certificate.
pub struct ResultSigner {
    pair: KeyPair,
    /// SHA-256 of the public key as the certificate has it, in hexadecimal.
    id: String,
}

impl fmt::Debug for ResultSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key {}", self.id)
    }
}

impl ResultSigner {
    /// Reads the key (PEM). Returns `None` if it is no key on P-256.
    #[must_use]
    pub fn read(pem: &str) -> Option<Self> {
        let pair = KeyPair::from_pem(pem).ok().filter(|pair| pair.algorithm() == &PKCS_ECDSA_P256_SHA256)?;
        let id = digest(&SHA256, &pair.subject_public_key_info());
        let id = id.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Self { pair, id })
    }

    /// Signs a document. Returns `None` if the system gives no random numbers.
    #[must_use]
    pub fn sign(&self, kind: DocumentKind, document: Vec<u8>) -> Option<Envelope> {
        let bytes = self.pair.sign(&kind.signed_bytes(&document)).ok()?;
        Some(Envelope { kind, document, signatures: vec![DocumentSignature { key: self.id.clone(), bytes }] })
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_signature_is_of_the_certificates_key_and_covers_the_kind() {
        let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let signer = ResultSigner::read(&pair.serialize_pem()).unwrap();
        let envelope = signer.sign(DocumentKind::Result, b"{}".to_vec()).unwrap();
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, pair.public_key_raw());
        assert!(key.verify(&envelope.signed_bytes(), &envelope.signatures[0].bytes).is_ok());
        assert!(key.verify(&DocumentKind::Report.signed_bytes(b"{}"), &envelope.signatures[0].bytes).is_err());
        assert_eq!(Envelope::read(&envelope.write()), Ok(envelope));
        let other = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        assert!(ResultSigner::read(&other.serialize_pem()).is_none() && ResultSigner::read("").is_none());
        assert!(!format!("{signer:?}").contains("KEY"));
    }
}
