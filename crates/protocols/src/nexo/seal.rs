//! Sealed messages: the key from a passphrase, and encryption and authentication with it. This is Adyen's `NexoBlob`,
//! `AdyenCryptoVersion` 1, checked in both directions against `@adyen/api-library` 32.1.0.
//!
//! PBKDF2-HMAC-SHA1 gives 80 bytes: 32 for HMAC-SHA256, 32 for AES-256, and 16 that are combined with the nonce. The
//! plaintext is first authenticated and then encrypted, in CBC mode with PKCS#7. This order allows a padding oracle: an
//! attacker who can distinguish wrong padding from a wrong HMAC can decrypt the message. So all errors in a blob return
//! the same error here, after the same amount of work.
//!
//! The scheme does not protect against replay. The session handles a repeated ServiceID.

use std::fmt;
use std::num::NonZeroU32;

use aes::Aes256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cbc::cipher::block_padding::{NoPadding, Pkcs7};
use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use ring::{hmac, pbkdf2};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// `AdyenCryptoVersion`.
const VERSION: u32 = 1;
const SALT: &[u8] = b"AdyenNexoV1Salt";
const ROUNDS: NonZeroU32 = NonZeroU32::new(4000).expect("above zero");
const BLOCK: usize = 16;
/// The length of an HMAC-SHA256 in bytes.
const HMAC: usize = 32;

/// The nonce of a message: random, and different for every message.
pub type Nonce = [u8; BLOCK];

/// The error of a sealed message that cannot be opened. It intentionally gives no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sealed message cannot be opened")]
pub struct BlobError;

/// The reason why a passphrase gives no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The passphrase is empty.
    #[error("the passphrase is empty")]
    Empty,
    /// The passphrase has a character outside ASCII. The tills' libraries would derive different keys from it: Node's
    /// uses Latin-1, Java's UTF-8.
    #[error("the passphrase has non-ASCII characters, from which tills derive different keys")]
    NotAscii,
    /// The key has no name.
    #[error("the key identifier is empty")]
    NoIdentifier,
}

/// A key that a till and the terminal share. Its memory is cleared when it is dropped, and it is never printed.
#[derive(Clone)]
pub struct Key {
    identifier: String,
    version: u32,
    hmac: Zeroizing<[u8; 32]>,
    cipher: Zeroizing<[u8; 32]>,
    iv: Zeroizing<[u8; BLOCK]>,
}

impl Key {
    /// Derives the key from a passphrase and names it. This takes 4000 rounds, so do it once per key rather than once
    /// per message.
    ///
    /// # Errors
    /// Returns [`KeyError`].
    pub fn derive(passphrase: &str, identifier: &str, version: u32) -> Result<Self, KeyError> {
        if passphrase.is_empty() {
            return Err(KeyError::Empty);
        }
        if !passphrase.is_ascii() {
            return Err(KeyError::NotAscii);
        }
        if identifier.is_empty() {
            return Err(KeyError::NoIdentifier);
        }
        let mut material = Zeroizing::new([0; 80]);
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA1, ROUNDS, SALT, passphrase.as_bytes(), &mut *material);
        let mut key = Self {
            identifier: identifier.to_owned(),
            version,
            hmac: Zeroizing::default(),
            cipher: Zeroizing::default(),
            iv: Zeroizing::default(),
        };
        let (hmac, rest) = material.split_at(32);
        let (cipher, iv) = rest.split_at(32);
        key.hmac.copy_from_slice(hmac);
        key.cipher.copy_from_slice(cipher);
        key.iv.copy_from_slice(iv);
        Ok(key)
    }

    /// Returns the name of the key.
    #[must_use]
    pub fn identifier(&self) -> &str {
        &self.identifier
    }

    /// Returns the version of the key with this name.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Seals a message. The nonce must be random and must not be used again with this key, because the initialisation
    /// vector depends on it.
    #[must_use]
    pub fn seal(&self, plaintext: &[u8], nonce: Nonce) -> Blob {
        let encryptor = cbc::Encryptor::<Aes256>::new(&(*self.cipher).into(), &self.vector(nonce).into());
        // The buffer has room for the padding, so it is not reallocated and no copy is left in memory.
        let mut buffer = vec![0; plaintext.len() + BLOCK];
        buffer[..plaintext.len()].copy_from_slice(plaintext);
        let sealed = encryptor.encrypt_padded::<Pkcs7>(&mut buffer, plaintext.len()).expect("room for a block");
        Blob {
            sealed: STANDARD.encode(sealed),
            trailer: SecurityTrailer {
                adyen_crypto_version: VERSION,
                key_identifier: self.identifier.clone(),
                key_version: self.version,
                nonce: STANDARD.encode(nonce),
                hmac: STANDARD.encode(hmac::sign(&self.authentication(), plaintext)),
            },
        }
    }

    /// Opens a sealed message.
    ///
    /// # Errors
    /// Returns [`BlobError`] for any error.
    pub fn open(&self, blob: &Blob) -> Result<Zeroizing<Vec<u8>>, BlobError> {
        let Blob { sealed, trailer } = blob;
        let (mut buffer, mut right) = match STANDARD.decode(sealed) {
            Ok(bytes) => (Zeroizing::new(bytes), true),
            // An invalid blob causes as much work as a valid one.
            Err(_) => (Zeroizing::new(vec![0; sealed.len() / 4 * 3]), false),
        };
        let whole = buffer.len() / BLOCK * BLOCK;
        right &= whole == buffer.len() && whole > 0;
        buffer.resize(whole.max(BLOCK), 0);
        let nonce = array::<BLOCK>(&trailer.nonce);
        let hmac = array::<HMAC>(&trailer.hmac);
        right &= nonce.is_some() & hmac.is_some();

        let vector = self.vector(nonce.unwrap_or_default());
        let decryptor = cbc::Decryptor::<Aes256>::new(&(*self.cipher).into(), &vector.into());
        right &= decryptor.decrypt_padded::<NoPadding>(&mut buffer).is_ok();
        let padding = padding(&buffer);
        // Depending on the padding, the HMAC covers at most one block more or less. The time of the answer does not
        // reveal this.
        let length = buffer.len() - padding.unwrap_or(1);
        buffer.truncate(length);
        let authentic = hmac::verify(&self.authentication(), &buffer, &hmac.unwrap_or_default()).is_ok();
        right &= authentic & padding.is_some();
        // This check comes after the HMAC, so the answer does not reveal the name of a key.
        right &= trailer.adyen_crypto_version == VERSION
            && trailer.key_identifier == self.identifier
            && trailer.key_version == self.version;
        if right { Ok(buffer) } else { Err(BlobError) }
    }

    fn vector(&self, nonce: Nonce) -> [u8; BLOCK] {
        let mut vector = *self.iv;
        vector.iter_mut().zip(nonce).for_each(|(byte, nonce)| *byte ^= nonce);
        vector
    }

    fn authentication(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &*self.hmac)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:?}, version {})", self.identifier, self.version)
    }
}

/// Returns the length of the PKCS#7 padding: 1 to 16 bytes, each with this length as its value. Checks every byte of
/// the last block.
fn padding(bytes: &[u8]) -> Option<usize> {
    let last = *bytes.last()?;
    let length = usize::from(last);
    let wrong = bytes.iter().rev().take(BLOCK).enumerate().fold(0, |wrong, (at, byte)| {
        let counts = u8::from(at < length) * 0xFF;
        wrong | ((byte ^ last) & counts)
    });
    ((1..=BLOCK).contains(&length) & (wrong == 0)).then_some(length)
}

fn array<const N: usize>(text: &str) -> Option<[u8; N]> {
    STANDARD.decode(text).ok()?.try_into().ok()
}

/// A sealed message inside an envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// `NexoBlob`: base64.
    pub sealed: String,
    /// `SecurityTrailer`.
    pub trailer: SecurityTrailer,
}

/// `SecurityTrailer`: the parameters of the sealing. A field that is missing, or has the wrong type, is handled like a
/// wrong value and found at the same point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SecurityTrailer {
    /// `AdyenCryptoVersion`: 1.
    pub adyen_crypto_version: u32,
    /// `KeyIdentifier`.
    pub key_identifier: String,
    /// `KeyVersion`.
    pub key_version: u32,
    /// `Nonce`: base64 of 16 bytes.
    pub nonce: String,
    /// `Hmac`: base64 of 32 bytes, over the plaintext.
    pub hmac: String,
}

impl SecurityTrailer {
    /// Creates a trailer that opens no message.
    pub(super) fn wrong() -> Self {
        let nothing = String::new;
        Self { adyen_crypto_version: 0, key_identifier: nothing(), key_version: 0, nonce: nothing(), hmac: nothing() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Derives the key once, because the derivation is slow without compiler optimisation.
    fn key() -> Key {
        static KEY: std::sync::LazyLock<Key> =
            std::sync::LazyLock::new(|| Key::derive("mypassphrase", "mykey", 1).unwrap());
        KEY.clone()
    }

    /// Compares the key with values from Python's hashlib. Adyen's client opens and seals with the same key.
    #[test]
    fn a_passphrase_is_this_key() {
        let key = key();
        assert_eq!(hex::encode(*key.hmac), "cf7e99cf1feb743037cf74b5926d7f1860f45fb5f18d6603a4abb4137188143d");
        assert_eq!(hex::encode(*key.cipher), "382da4f7c408f511c509e04d2e8f38cedf4641e132dce8e07350bd33ba0ccd84");
        assert_eq!(hex::encode(*key.iv), "12ecd9de01f69868b3e99e62fda5bf96");
    }

    #[test]
    fn a_key_shows_and_keeps_nothing_of_itself() {
        assert_eq!(format!("{:?}", key()), "Key(\"mykey\", version 1)");
        fn wiped(_: &impl zeroize::ZeroizeOnDrop) {}
        let key = key();
        wiped(&key.hmac);
        wiped(&key.cipher);
        wiped(&key.iv);
        assert_eq!(Key::derive("", "a", 1).err(), Some(KeyError::Empty));
        assert_eq!(Key::derive("pässword", "a", 1).err(), Some(KeyError::NotAscii));
        assert_eq!(Key::derive("a", "", 1).err(), Some(KeyError::NoIdentifier));
    }

    #[test]
    fn what_is_wrong_with_a_blob_is_one_error() {
        let (key, right) = (key(), key().seal(b"{\"SaleToPOIRequest\":{}}", [7; 16]));
        assert!(key.open(&right).is_ok());
        type Change = fn(&mut Blob);
        let changes: &[Change] = &[
            |it| it.sealed.clear(),
            |it| it.sealed.push('='),
            |it| it.sealed.truncate(16),
            |it| it.sealed.insert(0, '\u{e4}'),
            |it| it.sealed = STANDARD.encode([0; 16]),
            |it| it.sealed = STANDARD.encode([0; 17]),
            |it| it.trailer.nonce.clear(),
            |it| it.trailer.nonce = STANDARD.encode([7; 15]),
            |it| it.trailer.nonce = STANDARD.encode([8; 16]),
            |it| it.trailer.hmac.clear(),
            |it| it.trailer.hmac = STANDARD.encode([0; 31]),
            |it| it.trailer.hmac = STANDARD.encode([0; 32]),
            |it| it.trailer.key_identifier.push('x'),
            |it| it.trailer.key_version = 2,
            |it| it.trailer.adyen_crypto_version = 2,
            |it| it.trailer = SecurityTrailer::wrong(),
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut wrong = right.clone();
            change(&mut wrong);
            assert_eq!(key.open(&wrong), Err(BlobError), "change {at}");
        }
        let other = Key::derive("another", "mykey", 1).unwrap();
        assert_eq!(other.open(&right), Err(BlobError));
    }

    #[test]
    fn padding_is_one_to_sixteen_equal_bytes() {
        let block = |tail: &[u8]| {
            let mut block = vec![0x55; BLOCK - tail.len()];
            block.extend_from_slice(tail);
            padding(&block)
        };
        assert_eq!((block(&[1]), block(&[2, 2]), block(&[16; 16])), (Some(1), Some(2), Some(16)));
        assert_eq!((block(&[0]), block(&[1, 2]), block(&[17; 16]), block(&[0xFF; 16])), (None, None, None, None));
        assert_eq!((block(&[15; 16]), padding(&[])), (Some(15), None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_sealed_is_opened(plain in prop::collection::vec(any::<u8>(), 0..200), nonce in any::<[u8; 16]>()) {
            let key = key();
            let opened = key.open(&key.seal(&plain, nonce));
            prop_assert_eq!(opened.as_deref(), Ok(&plain));
        }

        #[test]
        fn a_flipped_bit_anywhere_is_the_one_error(
            plain in prop::collection::vec(any::<u8>(), 0..100),
            nonce in any::<[u8; 16]>(),
            at in any::<prop::sample::Index>(),
        ) {
            let key = key();
            let mut blob = key.seal(&plain, nonce);
            let texts = [&mut blob.sealed, &mut blob.trailer.nonce, &mut blob.trailer.hmac];
            let mut bytes: Vec<Vec<u8>> = texts.iter().map(|text| STANDARD.decode(text.as_str()).unwrap()).collect();
            let bit = at.index(bytes.iter().map(Vec::len).sum::<usize>() * 8);
            let mut left = bit / 8;
            for (text, bytes) in texts.into_iter().zip(&mut bytes) {
                if left < bytes.len() {
                    bytes[left] ^= 1 << (bit % 8);
                    *text = STANDARD.encode(bytes);
                    break;
                }
                left -= bytes.len();
            }
            prop_assert_eq!(key.open(&blob), Err(BlobError));
        }

        #[test]
        fn any_blob_is_refused(
            sealed in "\\PC*|[A-Za-z0-9+/]{0,64}={0,2}", nonce in "\\PC*", hmac in "\\PC*",
        ) {
            let trailer = SecurityTrailer { nonce, hmac, ..key().seal(b"", [0; 16]).trailer };
            prop_assert_eq!(key().open(&Blob { sealed, trailer }), Err(BlobError));
        }
    }
}
