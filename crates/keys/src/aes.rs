//! AES keys of 128, 192 and 256 bits: block encryption and CBC. Key derivation is in [`super::aes_dukpt`].

use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use zeroize::Zeroize;

use super::tdes::{Key, NotWholeBlocks};

/// The initialisation vector for readers that send none.
pub const ZERO_IV_16: [u8; 16] = [0; 16];

/// A key of 16, 24 or 32 bytes. It can also hold a key that X9.24-3 derives for another algorithm (TDEA, HMAC). It is
/// wiped when dropped, and never printed.
#[derive(Clone)]
pub struct AesKey(heapless::Vec<u8, 32>);

impl AesKey {
    /// Creates a key from its 16, 24 or 32 bytes. Returns `None` for any other number of bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        matches!(bytes.len(), 16 | 24 | 32).then(|| Self(bytes.iter().copied().collect()))
    }

    /// Returns the bytes.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Returns the length of the key in bits.
    pub(super) fn bits(&self) -> u16 {
        u16::try_from(self.0.len() * 8).expect("at most 32 bytes")
    }

    /// Returns the key as a [`Key`] of sixteen bytes, or `None` if the key is longer.
    #[must_use]
    pub fn short(&self) -> Option<Key> {
        self.0.as_slice().try_into().ok().map(Key::new)
    }

    /// Encrypts one block.
    #[must_use]
    pub fn encrypt_block(&self, block: [u8; 16]) -> [u8; 16] {
        let mut block = Array(block);
        self.cipher().encrypt(&mut block);
        block.0
    }

    /// Encrypts with CBC after padding the last block with zero bytes. A whole number of blocks is not padded.
    #[must_use]
    pub fn cbc_encrypt_zero_padded(&self, iv: &[u8; 16], plaintext: &[u8]) -> Vec<u8> {
        let mut padded = plaintext.to_vec();
        padded.resize(plaintext.len().next_multiple_of(16), 0);
        let cipher = self.cipher();
        let mut previous = *iv;
        let mut out = Vec::with_capacity(padded.len());
        for block in padded.as_chunks::<16>().0 {
            let mut block = Array(xor(*block, previous));
            cipher.encrypt(&mut block);
            previous = block.0;
            out.extend_from_slice(&previous);
        }
        padded.zeroize();
        out
    }

    /// Decrypts a CBC ciphertext. The result includes the padding.
    ///
    /// # Errors
    /// Fails if `ciphertext` is not a whole number of blocks.
    pub fn cbc_decrypt(&self, iv: &[u8; 16], ciphertext: &[u8]) -> Result<Vec<u8>, NotWholeBlocks> {
        let (blocks, []) = ciphertext.as_chunks::<16>() else {
            return Err(NotWholeBlocks { bytes: ciphertext.len(), block: 16 });
        };
        let cipher = self.cipher();
        let mut previous = *iv;
        let mut out = Vec::with_capacity(ciphertext.len());
        for sealed in blocks {
            let mut block = Array(*sealed);
            cipher.decrypt(&mut block);
            out.extend_from_slice(&xor(block.0, previous));
            previous = *sealed;
        }
        Ok(out)
    }

    fn cipher(&self) -> Cipher {
        let fits = "a key has 16, 24 or 32 bytes";
        match self.0.len() {
            16 => Cipher::Short(Aes128::new_from_slice(&self.0).expect(fits)),
            24 => Cipher::Middle(Aes192::new_from_slice(&self.0).expect(fits)),
            _ => Cipher::Long(Aes256::new_from_slice(&self.0).expect(fits)),
        }
    }
}

/// The cipher of a key length.
enum Cipher {
    Short(Aes128),
    Middle(Aes192),
    Long(Aes256),
}

impl Cipher {
    fn encrypt(&self, block: &mut aes::Block) {
        match self {
            Self::Short(cipher) => cipher.encrypt_block(block),
            Self::Middle(cipher) => cipher.encrypt_block(block),
            Self::Long(cipher) => cipher.encrypt_block(block),
        }
    }

    fn decrypt(&self, block: &mut aes::Block) {
        match self {
            Self::Short(cipher) => cipher.decrypt_block(block),
            Self::Middle(cipher) => cipher.decrypt_block(block),
            Self::Long(cipher) => cipher.decrypt_block(block),
        }
    }
}

impl Drop for AesKey {
    fn drop(&mut self) {
        self.0.as_mut_slice().zeroize();
    }
}

impl std::fmt::Debug for AesKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[key]")
    }
}

fn xor(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    (u128::from_be_bytes(a) ^ u128::from_be_bytes(b)).to_be_bytes()
}
