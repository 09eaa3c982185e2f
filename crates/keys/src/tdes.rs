//! Two-key triple DES: block encryption, CBC, and the MAC of EMV and X9.19. Key derivation is in [`super::tdes_dukpt`].

use des::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use des::{Des, TdesEde2};
use zeroize::Zeroize;

/// The initialisation vector for readers that send none (readers: 8.1).
pub const ZERO_IV: [u8; 8] = [0; 8];

/// A double-length (16-byte) triple-DES key. It can also hold an AES-128 key. It is wiped when dropped, and never
/// printed.
#[derive(Clone)]
pub struct Key([u8; 16]);

/// The error for data that are not a whole number of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("data of {bytes} bytes is not a whole number of {block}-byte blocks; the sender did not pad it")]
pub struct NotWholeBlocks {
    /// The length of the data in bytes.
    pub bytes: usize,
    /// The length of a block in bytes.
    pub block: usize,
}

impl Key {
    /// Creates a key from its bytes. The parity bits may have any value.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn expose(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns the key check value: the first three bytes of the encryption of eight zero bytes.
    #[must_use]
    pub fn check_value(&self) -> [u8; 3] {
        let [a, b, c, ..] = self.encrypt_block([0; 8]);
        [a, b, c]
    }

    /// Encrypts one block.
    #[must_use]
    pub fn encrypt_block(&self, block: [u8; 8]) -> [u8; 8] {
        let mut block = Array(block);
        self.cipher().encrypt_block(&mut block);
        block.0
    }

    /// Decrypts one block.
    #[must_use]
    pub fn decrypt_block(&self, block: [u8; 8]) -> [u8; 8] {
        let mut block = Array(block);
        self.cipher().decrypt_block(&mut block);
        block.0
    }

    /// Encrypts whole blocks with CBC.
    ///
    /// # Errors
    /// Fails if `plaintext` is not a whole number of blocks.
    pub fn cbc_encrypt(&self, iv: &[u8; 8], plaintext: &[u8]) -> Result<Vec<u8>, NotWholeBlocks> {
        let cipher = self.cipher();
        let mut previous = *iv;
        let mut out = Vec::with_capacity(plaintext.len());
        for block in blocks(plaintext)? {
            let mut block = Array(xor(*block, previous));
            cipher.encrypt_block(&mut block);
            previous = block.0;
            out.extend_from_slice(&previous);
        }
        Ok(out)
    }

    /// Encrypts with CBC after padding the last block with zero bytes. A whole number of blocks is not padded (readers:
    /// 8.1, Miura and NEO2).
    #[must_use]
    pub fn cbc_encrypt_zero_padded(&self, iv: &[u8; 8], plaintext: &[u8]) -> Vec<u8> {
        let mut padded = plaintext.to_vec();
        padded.resize(plaintext.len().next_multiple_of(8), 0);
        let sealed = self.cbc_encrypt(iv, &padded).expect("padded to a multiple of eight");
        padded.zeroize();
        sealed
    }

    /// Decrypts a CBC ciphertext. The result includes the padding.
    ///
    /// # Errors
    /// Fails if `ciphertext` is not a whole number of blocks.
    pub fn cbc_decrypt(&self, iv: &[u8; 8], ciphertext: &[u8]) -> Result<Vec<u8>, NotWholeBlocks> {
        let cipher = self.cipher();
        let mut previous = *iv;
        let mut out = Vec::with_capacity(ciphertext.len());
        for sealed in blocks(ciphertext)? {
            let mut block = Array(*sealed);
            cipher.decrypt_block(&mut block);
            out.extend_from_slice(&xor(block.0, previous));
            previous = *sealed;
        }
        Ok(out)
    }

    /// Computes the MAC of `data` by ISO 9797-1 algorithm 3 (ANSI X9.19, EMV Book 2, A1.2) with this padding. Returns
    /// all eight bytes.
    #[must_use]
    pub fn mac(&self, data: &[u8], padding: Padding) -> [u8; 8] {
        let mut padded = data.to_vec();
        if padding == Padding::Iso80 {
            padded.push(0x80);
        }
        padded.resize(padded.len().next_multiple_of(8), 0);
        let left = des(self.halves().0);
        let mut state = Array([0; 8]);
        for block in padded.as_chunks::<8>().0 {
            state = Array(xor(state.0, *block));
            left.encrypt_block(&mut state);
        }
        des(self.halves().1).decrypt_block(&mut state);
        left.encrypt_block(&mut state);
        state.0
    }

    /// Returns the key with both halves XOR `mask`.
    pub(super) fn masked(&self, mask: [u8; 8]) -> Self {
        let (left, right) = self.halves();
        Self::from_halves(xor(left, mask), xor(right, mask))
    }

    /// Returns the left half and the right half.
    pub(super) fn halves(&self) -> ([u8; 8], [u8; 8]) {
        let [left, right] = *self.0.as_chunks::<8>().0 else { unreachable!("sixteen bytes are two halves") };
        (left, right)
    }

    pub(super) fn from_halves(left: [u8; 8], right: [u8; 8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&left);
        bytes[8..].copy_from_slice(&right);
        Self(bytes)
    }

    /// Returns the key with odd parity. The lowest bit of each byte makes its number of one bits odd.
    pub(super) fn odd_parity(&self) -> Self {
        Self(self.0.map(|byte| (byte & 0xFE) | u8::from((byte & 0xFE).count_ones().is_multiple_of(2))))
    }

    fn cipher(&self) -> TdesEde2 {
        TdesEde2::new(&Array(self.0))
    }
}

/// How a message is padded to whole blocks before its MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Zero bytes, or none for whole blocks (ISO 9797-1 method 1; Visa CVN 10, X9.19).
    Zero,
    /// `80` and zero bytes. The `80` is always added (ISO 9797-1 method 2; EMV).
    Iso80,
}

impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[key]")
    }
}

/// Creates a single-DES cipher with one half of a key.
pub(super) fn des(half: [u8; 8]) -> Des {
    Des::new(&Array(half))
}

/// Encrypts one block with single DES.
pub(super) fn des_encrypt(half: [u8; 8], block: [u8; 8]) -> [u8; 8] {
    let mut block = Array(block);
    des(half).encrypt_block(&mut block);
    block.0
}

pub(super) fn xor(a: [u8; 8], b: [u8; 8]) -> [u8; 8] {
    (u64::from_be_bytes(a) ^ u64::from_be_bytes(b)).to_be_bytes()
}

fn blocks(data: &[u8]) -> Result<&[[u8; 8]], NotWholeBlocks> {
    match data.as_chunks() {
        (blocks, []) => Ok(blocks),
        _ => Err(NotWholeBlocks { bytes: data.len(), block: 8 }),
    }
}
