//! PIN blocks (ISO 9564-1): format 0 under triple DES, format 4 under AES-128. The reader encodes them, and the issuer
//! decodes them.
//!
//! Every unreadable block gives the same error, [`Malformed`]. If an issuer said *why* a block is wrong, it would
//! reveal information about the PIN (security: 1.4).

use std::fmt;

use aes::Aes128;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::tdes::{Key, xor};

/// The error of a malformed PIN block, PIN or PAN. It intentionally does not say which of them is wrong, or why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed PIN block")]
pub struct Malformed;

/// A PIN of 4 to 12 digits. It is wiped when dropped, and never printed.
#[derive(Clone)]
pub struct Pin(heapless::Vec<u8, 12>);

impl Pin {
    /// Creates a PIN from its digits.
    ///
    /// # Errors
    /// Fails if the PIN has fewer than 4 or more than 12 digits, or other characters than digits.
    pub fn new(digits: &str) -> Result<Self, Malformed> {
        let fits = (4..=12).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
        let nibbles = digits.bytes().map(|c| c.wrapping_sub(b'0'));
        if fits { Ok(Self(nibbles.collect())) } else { Err(Malformed) }
    }

    /// Returns whether both PINs are the same, in constant time.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        bool::from(self.0.as_slice().ct_eq(&other.0))
    }

    /// Builds the PIN field: `control`, length, digits, then `filler` up to a length of eight bytes.
    fn field(&self, control: u8, filler: u8) -> [u8; 8] {
        let mut nibbles = [filler; 16];
        nibbles[0] = control;
        nibbles[1] = u8::try_from(self.0.len()).expect("at most twelve digits");
        nibbles[2..2 + self.0.len()].copy_from_slice(&self.0);
        packed(nibbles)
    }

    /// Reads a PIN field, as the inverse of [`Self::field`].
    fn from_field(field: [u8; 8], control: u8, filler: u8) -> Result<Self, Malformed> {
        let mut nibbles = unpacked(field);
        let length = usize::from(nibbles[1]);
        let pin = nibbles.get(2..2 + length).unwrap_or_default();
        let rest = nibbles.get(2 + length..).unwrap_or_default();
        let fits = nibbles[0] == control
            && (4..=12).contains(&length)
            && pin.iter().all(|digit| *digit <= 9)
            && rest.iter().all(|nibble| *nibble == filler);
        let pin = if fits { Ok(Self(pin.iter().copied().collect())) } else { Err(Malformed) };
        nibbles.zeroize();
        pin
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.0.as_mut_slice().zeroize();
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[PIN]")
    }
}

/// Builds the clear block of format 0 for a PIN: `0 length PIN F…` XOR the PAN field.
///
/// # Errors
/// Fails if `pan` is not a PAN.
pub fn clear_0(pin: &Pin, pan: &str) -> Result<[u8; 8], Malformed> {
    Ok(xor(pin.field(0, 0xF), pan_field_0(pan)?))
}

/// Reads the PIN from a clear block of format 0.
///
/// # Errors
/// Fails if the block is not eight bytes of format 0 for this PAN, or if `pan` is not a PAN.
pub fn read_clear_0(block: &[u8], pan: &str) -> Result<Pin, Malformed> {
    let block = block.try_into().map_err(|_| Malformed)?;
    Pin::from_field(xor(block, pan_field_0(pan)?), 0, 0xF)
}

/// Builds a block of format 0 under a PIN key (`Usage::Pin` of TDES DUKPT).
///
/// # Errors
/// Fails if `pan` is not a PAN.
pub fn encrypt_0(key: &Key, pin: &Pin, pan: &str) -> Result<[u8; 8], Malformed> {
    Ok(key.encrypt_block(clear_0(pin, pan)?))
}

/// Decrypts a block of format 0 and returns the PIN.
///
/// # Errors
/// Fails if the result is not a block of format 0 for this PAN. The cause is another key, another PAN, or another kind
/// of data.
pub fn decrypt_0(key: &Key, block: &[u8], pan: &str) -> Result<Pin, Malformed> {
    let block = block.try_into().map_err(|_| Malformed)?;
    read_clear_0(&key.decrypt_block(block), pan)
}

/// Builds the plain PIN field of format 4: `4 length PIN A…`, then eight random bytes.
#[must_use]
pub fn pin_field_4(pin: &Pin, random: [u8; 8]) -> [u8; 16] {
    let mut field = [0; 16];
    field[..8].copy_from_slice(&pin.field(4, 0xA));
    field[8..].copy_from_slice(&random);
    field
}

/// Builds the plain PAN field of format 4: the number of digits above 12, the PAN, and zeros. A PAN of fewer than 12
/// digits is right-justified in 12.
///
/// # Errors
/// Fails if `pan` does not have 1 to 19 digits.
pub fn pan_field_4(pan: &str) -> Result<[u8; 16], Malformed> {
    let digits = pan_digits(pan)?;
    let length = digits.len().max(12);
    let mut nibbles = [0; 32];
    nibbles[0] = u8::try_from(length - 12).expect("at most nineteen digits");
    nibbles[1 + length - digits.len()..=length].copy_from_slice(&digits);
    Ok(packed(nibbles))
}

/// Builds a block of format 4 under an AES-128 PIN key: the encrypted PIN field XOR the PAN field, encrypted again.
///
/// # Errors
/// Fails if `pan` is not a PAN.
pub fn encrypt_4(key: &Key, pin: &Pin, pan: &str, random: [u8; 8]) -> Result<[u8; 16], Malformed> {
    let pan = pan_field_4(pan)?;
    let cipher = Aes128::new(&Array(*key.expose()));
    let mut block = Array(pin_field_4(pin, random));
    cipher.encrypt_block(&mut block);
    block.iter_mut().zip(pan).for_each(|(byte, pan)| *byte ^= pan);
    cipher.encrypt_block(&mut block);
    Ok(block.0)
}

/// Decrypts a block of format 4 and returns the PIN.
///
/// # Errors
/// Fails if the result is not a block of format 4 for this PAN. The cause is another key, another PAN, or another kind
/// of data.
pub fn decrypt_4(key: &Key, block: &[u8], pan: &str) -> Result<Pin, Malformed> {
    let pan = pan_field_4(pan)?;
    let cipher = Aes128::new(&Array(*key.expose()));
    let mut block = Array(<[u8; 16]>::try_from(block).map_err(|_| Malformed)?);
    cipher.decrypt_block(&mut block);
    block.iter_mut().zip(pan).for_each(|(byte, pan)| *byte ^= pan);
    cipher.decrypt_block(&mut block);
    read_field_4(&block)
}

/// Reads the PIN from a plain PIN field of format 4. Its second half is random and ignored.
///
/// # Errors
/// Fails if the field is not sixteen bytes of format 4.
pub fn read_field_4(field: &[u8]) -> Result<Pin, Malformed> {
    let field: [u8; 16] = field.try_into().map_err(|_| Malformed)?;
    let [a, b, c, d, e, f, g, h, ..] = field;
    Pin::from_field([a, b, c, d, e, f, g, h], 4, 0xA)
}

/// Builds the PAN field: four zeros, and the twelve rightmost digits of the PAN without its check digit.
fn pan_field_0(pan: &str) -> Result<[u8; 8], Malformed> {
    let digits = pan_digits(pan)?;
    let without_check = &digits[..digits.len() - 1];
    let last = &without_check[without_check.len().saturating_sub(12)..];
    let mut nibbles = [0; 16];
    nibbles[16 - last.len()..].copy_from_slice(last);
    Ok(packed(nibbles))
}

fn pan_digits(pan: &str) -> Result<heapless::Vec<u8, 19>, Malformed> {
    let fits = (1..=19).contains(&pan.len()) && pan.bytes().all(|c| c.is_ascii_digit());
    if fits { Ok(pan.bytes().map(|c| c - b'0').collect()) } else { Err(Malformed) }
}

/// Packs two nibbles into each byte. `N` nibbles give `M` = N / 2 bytes.
fn packed<const N: usize, const M: usize>(nibbles: [u8; N]) -> [u8; M] {
    std::array::from_fn(|n| (nibbles[2 * n] << 4) | nibbles[2 * n + 1])
}

fn unpacked(bytes: [u8; 8]) -> [u8; 16] {
    std::array::from_fn(|n| if n % 2 == 0 { bytes[n / 2] >> 4 } else { bytes[n / 2] & 0x0F })
}
