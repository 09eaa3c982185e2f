//! The block of a swiped or typed card, in ID TECH's "enhanced format" (readers: 4.4). The maker describes
//! it in the document 80000502-001. A swipe has it in DFEE23.
//!
//! ```text
//! 02 · LEN low, high · fields · XOR of the fields · sum of the fields · 03
//! fields: type, status, three track lengths, sent in clear, sent encrypted, [options],
//!         masked tracks, encrypted tracks, [session], hashes, [serial number], KSN
//! ```
//!
//! The two bytes "sent" say which of the later fields are there. Their bits agree with the public captures in
//! tests/golden and with the descriptions of them (developers.bluefin.com, ID TECH Augusta S and VP3350).

use super::attribution::Cipher;

const BEGIN: u8 = 0x02;
const END: u8 = 0x03;
/// Before and after the fields: 02 and LEN, then XOR, sum and 03.
const FRAME: usize = 3 + END_LENGTH;
/// XOR, sum and 03.
const END_LENGTH: usize = 3;

/// Track status: the options are there.
const STATUS_OPTIONS: u8 = 0x40;
/// Sent in clear: the data are encrypted with AES.
const CLEAR_AES: u8 = 0x10;
/// Sent in clear: the service code begins with 2 or 6, so the card has a chip.
const CLEAR_CHIP: u8 = 0x20;
/// Sent in clear: the serial number of the reader.
const CLEAR_SERIAL: u8 = 0x80;
/// Sent encrypted: the session.
const ENCRYPTED_SESSION: u8 = 0x40;
/// Sent encrypted: the KSN.
const ENCRYPTED_KSN: u8 = 0x80;
/// First option: hashes are SHA-256.
const OPTION_SHA256: u8 = 0x01;
/// First option: another cipher than that of [`CLEAR_AES`] is used.
const OPTION_OTHER_CIPHER: u8 = 0x02;
/// First option: a MAC and its KSN follow. Only they may follow the KSN.
const OPTION_MAC: u8 = 0x20;

const SESSION: usize = 8;
const SERIAL: usize = 10;

/// The fields of a block that the driver uses.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct StripeBlock<'a> {
    /// The bytes before the tracks.
    pub head: &'a [u8],
    /// The encode type, such as 80 for a bank card. UNCERTAIN: C0 for a typed card.
    pub kind: u8,
    /// The card has a chip, as its service code says.
    pub has_chip: bool,
    /// The masked tracks 1 to 3 in ASCII, with sentinels. Empty if absent.
    pub masked: [&'a [u8]; 3],
    /// The encrypted tracks 1 to 3. Empty if absent.
    pub encrypted: [&'a [u8]; 3],
    /// The KSN, 10 or 12 bytes.
    pub ksn: Option<&'a [u8]>,
    /// The cipher that the block names.
    pub is_aes: bool,
}

// This is card data, although masked or sealed, so `Debug` shows only lengths.
impl std::fmt::Debug for StripeBlock<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { head: _, kind, has_chip, masked, encrypted, ksn, is_aes } = self;
        let (masked, encrypted) = (masked.map(<[u8]>::len), encrypted.map(<[u8]>::len));
        let ksn = ksn.is_some();
        write!(f, "Block({kind:02X}, chip {has_chip}, {masked:?}, {encrypted:?}, ksn {ksn}, aes {is_aes})")
    }
}

/// The reason why bytes are not a whole block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    /// The bytes do not begin with 02, or do not end with 03 where LEN says.
    #[error("the card's block has no frame")]
    Frame,
    /// The XOR or the sum is wrong.
    #[error("the card's block has wrong check bytes")]
    Check,
    /// The fields are longer or shorter than their lengths say.
    #[error("the fields of the card's block have wrong lengths")]
    Fields,
    /// The block has a cipher without DUKPT.
    #[error("the card's block has an unknown cipher")]
    Cipher,
}

impl<'a> StripeBlock<'a> {
    /// Returns whether the bytes begin and end like a block, so that a fault in them is a damaged block.
    #[must_use]
    pub fn is_framed(bytes: &[u8]) -> bool {
        fields_of(bytes).is_ok()
    }

    /// Reads a whole block.
    ///
    /// # Errors
    /// Returns the first fault. A field is returned only if the check bytes are right.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BlockFault> {
        let (fields, check) = fields_of(bytes)?;
        if check != check_of(fields) {
            return Err(BlockFault::Check);
        }
        let mut rest = fields;
        let [kind, status, one, two, three, clear, sealed] = take_array(&mut rest)?;
        let lengths = [one, two, three].map(usize::from);
        let options = if status & STATUS_OPTIONS == 0 {
            &[][..]
        } else {
            let [count] = take_array(&mut rest)?;
            take(&mut rest, usize::from(count))?
        };
        let head = &bytes[..bytes.len() - rest.len() - END_LENGTH];
        let option = options.first().copied().unwrap_or(0);
        if option & OPTION_OTHER_CIPHER != 0 {
            return Err(BlockFault::Cipher);
        }
        let is_aes = clear & CLEAR_AES != 0;
        let cipher_block = if is_aes { Cipher::Aes } else { Cipher::Tdes }.block();
        let hash = if option & OPTION_SHA256 == 0 { 20 } else { 32 };
        let mut tracks =
            |sent: u8, length: fn(usize, usize) -> usize, other: usize| -> Result<[&'a [u8]; 3], BlockFault> {
                let mut found = [&[][..]; 3];
                for (n, found) in found.iter_mut().enumerate() {
                    if sent & 1 << n != 0 {
                        *found = take(&mut rest, length(lengths[n], other))?;
                    }
                }
                Ok(found)
            };
        let masked = tracks(clear, |length, _| length, 0)?;
        let encrypted = tracks(sealed, usize::next_multiple_of, cipher_block)?;
        if sealed & ENCRYPTED_SESSION != 0 {
            take(&mut rest, SESSION)?;
        }
        for n in 3..6 {
            if sealed & 1 << n != 0 {
                take(&mut rest, hash)?;
            }
        }
        if clear & CLEAR_SERIAL != 0 {
            take(&mut rest, SERIAL)?;
        }
        let ksn = if sealed & ENCRYPTED_KSN == 0 { None } else { Some(take_ksn(&mut rest, is_aes)?) };
        if !rest.is_empty() && option & OPTION_MAC == 0 {
            return Err(BlockFault::Fields);
        }
        Ok(Self { head, kind, has_chip: clear & CLEAR_CHIP != 0, masked, encrypted, ksn, is_aes })
    }
}

/// Returns the fields of a block and its check bytes.
fn fields_of(bytes: &[u8]) -> Result<(&[u8], [u8; 2]), BlockFault> {
    let (&[begin, low, high], rest) = bytes.split_first_chunk().ok_or(BlockFault::Frame)?;
    let (fields, &[xor, sum, end]) = rest.split_last_chunk().ok_or(BlockFault::Frame)?;
    let length = usize::from(u16::from_le_bytes([low, high]));
    if begin != BEGIN || end != END || length != fields.len() || bytes.len() != FRAME + length {
        return Err(BlockFault::Frame);
    }
    Ok((fields, [xor, sum]))
}

/// Makes the check bytes of a block again, whose fields were changed.
pub(in crate::neo2) fn renew_check(block: &mut [u8]) {
    if let Ok((fields, _)) = fields_of(block) {
        let check = check_of(fields);
        let at = block.len() - END_LENGTH;
        block[at..at + check.len()].copy_from_slice(&check);
    }
}

/// Returns XOR and sum of the fields.
fn check_of(fields: &[u8]) -> [u8; 2] {
    let xor = fields.iter().fold(0, |xor, byte| xor ^ byte);
    [xor, fields.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte))]
}

/// Takes the KSN. With AES it is the last field, so what is left tells its length. UNCERTAIN: that AES DUKPT has its 12
/// bytes here (readers: 8.2). The published format has ten.
fn take_ksn<'a>(rest: &mut &'a [u8], is_aes: bool) -> Result<&'a [u8], BlockFault> {
    take(rest, if is_aes && rest.len() == 12 { 12 } else { 10 })
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], BlockFault> {
    let (taken, later) = rest.split_at_checked(length).ok_or(BlockFault::Fields)?;
    *rest = later;
    Ok(taken)
}

fn take_array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], BlockFault> {
    take(rest, N)?.try_into().map_err(|_| BlockFault::Fields)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Builds a block from its fields.
    pub(crate) fn block_of(fields: &[u8]) -> Vec<u8> {
        let length = u16::try_from(fields.len()).unwrap().to_le_bytes();
        let xor = fields.iter().fold(0, |xor, byte| xor ^ byte);
        let sum = fields.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        [&[BEGIN][..], &length, fields, &[xor, sum, END]].concat()
    }

    /// The fields of a swipe with tracks 1 and 2, masked and encrypted, and the cipher and KSN of `is_aes`.
    pub(crate) fn fields(is_aes: bool, track2: &[u8]) -> Vec<u8> {
        let track1 = b"%*4761********0119^TEST/CARD^2512*******?*";
        let cipher_block = if is_aes { 16 } else { 8 };
        let clear = 0xA3 | if is_aes { CLEAR_AES } else { 0 };
        let sealed = |track: &[u8]| vec![0xC5; track.len().next_multiple_of(cipher_block)];
        let length = |track: &[u8]| u8::try_from(track.len()).unwrap();
        [
            &[0x80, 0x1F, length(track1), length(track2), 0, clear, 0x9B][..],
            track1,
            track2,
            &sealed(track1),
            &sealed(track2),
            &[0; 40],
            b"31T0610400",
            &vec![0xFF; if is_aes { 12 } else { 10 }],
        ]
        .concat()
    }

    const TRACK2: &[u8] = b";4761********0119=2512***********?*";

    #[test]
    fn fields_are_found_by_the_bits_that_announce_them() {
        for is_aes in [false, true] {
            let bytes = block_of(&fields(is_aes, TRACK2));
            let block = StripeBlock::parse(&bytes).unwrap();
            assert_eq!((block.kind, block.has_chip, block.is_aes), (0x80, true, is_aes));
            assert_eq!(block.masked.map(<[u8]>::len), [42, 35, 0]);
            assert_eq!(block.masked[1], TRACK2);
            assert_eq!(block.encrypted.map(<[u8]>::len), [48, if is_aes { 48 } else { 40 }, 0]);
            assert!(block.encrypted[0].iter().chain(block.encrypted[1]).all(|byte| *byte == 0xC5));
            assert_eq!(block.ksn.map(<[u8]>::len), Some(if is_aes { 12 } else { 10 }));
        }
        // Without masks, hashes, serial number and KSN.
        let bytes = block_of(&[&[0x80, 0x1F, 42, 35, 0, 0, 0x02][..], &[0xC5; 40]].concat());
        let block = StripeBlock::parse(&bytes).unwrap();
        assert_eq!((block.masked, block.ksn), ([&[][..]; 3], None));
        assert_eq!(block.encrypted.map(<[u8]>::len), [0, 40, 0]);
        // With options, a session, long hashes and a MAC.
        let options =
            [&[0x80, 0x5F, 4, 0, 0, 0, 0xC9][..], &[1, 0x21], &[0xC5; 8], &[1; 8], &[0; 32], &[0xFF; 10], &[2, 9, 9]];
        let bytes = block_of(&options.concat());
        assert_eq!(StripeBlock::parse(&bytes).unwrap().ksn, Some(&[0xFF; 10][..]));
    }

    #[test]
    fn a_damaged_block_gives_nothing() {
        let bytes = block_of(&fields(false, TRACK2));
        assert!(StripeBlock::is_framed(&bytes));
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x01;
            assert!(StripeBlock::parse(&wrong).is_err(), "{at}");
            assert!(StripeBlock::parse(&bytes[..at]).is_err(), "{at}");
        }
        let all = fields(false, TRACK2);
        assert_eq!(StripeBlock::parse(&block_of(&all[..all.len() - 1])), Err(BlockFault::Fields));
        assert_eq!(StripeBlock::parse(&block_of(&[&all[..], &[0]].concat())), Err(BlockFault::Fields));
        assert_eq!(StripeBlock::parse(&block_of(&[0x80])), Err(BlockFault::Fields));
        assert_eq!(StripeBlock::parse(&[]), Err(BlockFault::Frame));
        assert_eq!(StripeBlock::parse(&block_of(&[0x80, 0x40, 0, 0, 0, 0, 0, 1, 2])), Err(BlockFault::Cipher));
    }

    #[test]
    fn debug_shows_lengths_only() {
        let bytes = block_of(&fields(false, TRACK2));
        let shown = format!("{:?}", StripeBlock::parse(&bytes).unwrap());
        assert_eq!(shown, "Block(80, chip true, [42, 35, 0], [48, 40, 0], ksn true, aes false)");
    }
}
