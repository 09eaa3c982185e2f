//! Encrypts a notification with AES-256-GCM, so that only the holder of the key can read it. The interface describes
//! neither encryption nor signature, so the gateway assumes the following:
//! - The key has 32 bytes.
//! - The body is the encrypted JSON, in hex.
//! - `X-Initialization-Vector` and `X-Authentication-Tag` contain the other values, in hex.

use std::fmt;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// The rule that a key must follow.
pub(super) const MUST_BE: &str = "must be 64 hex digits, the 32 bytes of an AES-256 key";

/// The key of one webhook.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SealingKey([u8; 32]);

/// Hides the key. It is a secret, even though it is only the simulator's.
impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(32 bytes)")
    }
}

/// An encrypted body. All fields are hex digits.
pub(super) struct Sealed {
    pub body: String,
    pub vector: String,
    pub tag: String,
}

impl SealingKey {
    /// Reads a key in hex.
    pub(crate) fn read(text: &str) -> Option<Self> {
        hex::decode(text).ok().and_then(|bytes| bytes.try_into().ok()).map(Self)
    }

    /// Encrypts a body under a new initialization vector.
    pub(super) fn seal(&self, body: &str) -> Sealed {
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &self.0).expect("the key has 32 bytes"));
        let mut vector = [0; NONCE_LEN];
        getrandom::fill(&mut vector).expect("the system has randomness");
        let mut sealed = body.as_bytes().to_vec();
        let nonce = Nonce::assume_unique_for_key(vector);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut sealed);
        let tag = tag.expect("a notification is shorter than 64 gigabytes");
        Sealed { body: hex::encode_upper(sealed), vector: hex::encode_upper(vector), tag: hex::encode_upper(tag) }
    }
}
