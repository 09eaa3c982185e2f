//! The stored form of operators' secrets: the digests of PINs and of the tokens of sessions and approvals.
//!
//! The core contains the rules: the form of a PIN, the number of iterations, and the number of attempts
//! (`counter/pin.rs`, `counter/attempts.rs`). Only the computation is here, so that the core contains no cryptography.
//!
//! ```text
//! digest of a PIN   = PBKDF2-HMAC-SHA-256( HMAC-SHA-256(key, PIN), salt of 16 bytes, ITERATIONS )
//! id of a key       = SHA-256( "pos-agent pin key", key ), its first 8 bytes
//! digest of a token = SHA-256( token )
//! ```

use std::num::NonZeroU32;

use ring::{digest, hmac, pbkdf2};
use zeroize::Zeroizing;

use pos_core::counter::{Pin, PinDigest, PinKey, TokenDigest};

/// Computes the digest of a PIN that is being set. This is slow on purpose, so do not call it on a thread for which
/// others wait.
#[must_use]
pub fn digest_of_pin(pin: &Pin, key: &PinKey, salt: [u8; 16], iterations: NonZeroU32) -> PinDigest {
    let mut hash = [0; 32];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, &*keyed(pin, key), &mut hash);
    PinDigest { salt, iterations, key: id_of_key(key), hash }
}

/// Checks a PIN, in the same time whether it is right or wrong. This is slow on purpose, like [`digest_of_pin`].
#[must_use]
pub fn is_the_pin(pin: &Pin, key: &PinKey, kept: &PinDigest) -> bool {
    let keyed = keyed(pin, key);
    let same = pbkdf2::verify(pbkdf2::PBKDF2_HMAC_SHA256, kept.iterations, &kept.salt, &*keyed, &kept.hash);
    same.is_ok() && kept.key == id_of_key(key)
}

/// Computes the digest of a token, in the form in which it was given out.
#[must_use]
pub fn digest_of_token(token: &[u8]) -> TokenDigest {
    let mut kept = [0; 32];
    kept.copy_from_slice(digest::digest(&digest::SHA256, token).as_ref());
    TokenDigest::new(kept)
}

/// Returns the id of a key, which reveals nothing about the key.
#[must_use]
pub fn id_of_key(key: &PinKey) -> [u8; 8] {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(b"pos-agent pin key");
    context.update(key.bits());
    let mut id = [0; 8];
    id.copy_from_slice(&context.finish().as_ref()[..8]);
    id
}

fn keyed(pin: &Pin, key: &PinKey) -> Zeroizing<[u8; 32]> {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.bits()), pin.digits());
    let mut keyed = Zeroizing::new([0; 32]);
    keyed.copy_from_slice(tag.as_ref());
    keyed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(digits: &str) -> Pin {
        Pin::parse(Zeroizing::new(digits.to_owned())).unwrap()
    }

    fn key(byte: u8) -> PinKey {
        PinKey::new(Zeroizing::new([byte; 32]))
    }

    const ONCE: NonZeroU32 = NonZeroU32::MIN;

    #[test]
    fn only_the_pin_matches_and_only_with_the_key() {
        let digest = digest_of_pin(&pin("8624"), &key(1), [7; 16], ONCE);
        assert!(is_the_pin(&pin("8624"), &key(1), &digest));
        assert!(!is_the_pin(&pin("8625"), &key(1), &digest) && !is_the_pin(&pin("86240"), &key(1), &digest));
        assert!(!is_the_pin(&pin("8624"), &key(2), &digest));
        let more = NonZeroU32::new(2).unwrap();
        for (salt, iterations) in [([8; 16], ONCE), ([7; 16], more)] {
            let other = PinDigest { salt, iterations, ..digest };
            assert!(!is_the_pin(&pin("8624"), &key(1), &other));
        }
        let of_another_key = PinDigest { key: [0; 8], ..digest };
        assert!(!is_the_pin(&pin("8624"), &key(1), &of_another_key));
    }

    // Digests on a board's disk must stay valid, so another program computed each of these values.
    #[test]
    fn the_digests_are_the_ones_that_another_program_reckons() {
        // Python: hashlib.pbkdf2_hmac("sha256", hmac.digest(bytes([1] * 32), b"8624", "sha256"), bytes([7] * 16), 1000)
        let digest = digest_of_pin(&pin("8624"), &key(1), [7; 16], NonZeroU32::new(1000).unwrap());
        assert_eq!(hex::encode(digest.hash), "93cae6a375206728c0ec2671a024d25788a7c200f841fcb6c57c21c31cb032f4");
        // Python: hashlib.sha256(b"pos-agent pin key" + bytes([1] * 32)).hexdigest()[:16]
        assert_eq!(hex::encode(digest.key), "549d76c670271b87");
    }

    #[test]
    fn a_token_is_kept_as_its_sha_256() {
        // Python: hashlib.sha256(b"a token").digest()
        let mut sha_256 = [0; 32];
        hex::decode_to_slice("e3316e2bafebb6103a3418e8778c0adc960d40213a03a7e7f4fcd3426ed807bf", &mut sha_256).unwrap();
        assert!(digest_of_token(b"a token") == TokenDigest::new(sha_256));
    }

    #[test]
    fn nobody_has_a_pin() {
        assert!(!is_the_pin(&pin("8624"), &key(1), &PinDigest { iterations: ONCE, ..PinDigest::of_nobody() }));
    }
}
