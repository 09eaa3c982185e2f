//! The answers without a card: identity, keys, clock, online PIN, and a typed card (readers: 4.2). A card's answer is
//! in `card_answer`.
//!
//! Each `parse` reads the data of a response with status 00. The state of a PIN entry also comes with status 0A.

use zeroize::Zeroizing;

use super::attribution::{self, AttributionFault};
use super::block::StripeBlock;
use super::card_answer::encrypted_tracks;
use super::error::Neo2MessageError;
use super::masked::masked_block_pan;
use super::sealed::{SealError, sred_block};
use super::{inline, tags};
use crate::LocalTime;
use crate::card_answer::{PinBlock, SealedBlock};
use pos_terms::card::{MaskedPan, SealedPin};

/// Returns the text of a firmware version or serial number: printable ASCII, at most 64 characters.
#[must_use]
pub fn text(data: &[u8]) -> String {
    let text: String = data.iter().map(|byte| char::from(*byte)).filter(|c| matches!(c, ' '..='~')).take(64).collect();
    text.trim().to_owned()
}

/// A key of the reader: its name and its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySlot {
    /// The key's name: [`Self::PIN`], [`Self::DATA`] or another.
    pub key: u8,
    /// The slot. It is 0 unless the reader holds several keys of one name.
    pub slot: u16,
}

impl KeySlot {
    /// Encrypts PINs (NEO 2 Interface Developer's Guide 2019, 8.23.1).
    pub const PIN: u8 = 0x01;
    /// Encrypts card data (the same table).
    pub const DATA: u8 = 0x02;
}

/// Maximum number of keys in one answer. Five names are published, and few of them have more than one slot.
const MAX_KEYS: usize = 32;

/// The answer to 81-0C: the keys that the reader has, three bytes for each (NEO 2 Interface Developer's Guide 2019,
/// 8.31.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfoAnswer {
    /// The keys. More than the maximum are not listed.
    pub keys: heapless::Vec<KeySlot, MAX_KEYS>,
}

impl KeyInfoAnswer {
    /// Reads the data.
    ///
    /// # Errors
    /// Fails if the length is no multiple of three.
    pub fn parse(data: &[u8]) -> Result<Self, Neo2MessageError> {
        if !data.len().is_multiple_of(3) {
            return Err(Neo2MessageError::Length { bytes: data.len() });
        }
        let (keys, _) = data.as_chunks::<3>();
        let keys = keys.iter().map(|[key, high, low]| KeySlot { key: *key, slot: u16::from_be_bytes([*high, *low]) });
        Ok(Self { keys: keys.take(MAX_KEYS).collect() })
    }

    /// Returns whether the reader has a key of this name.
    #[must_use]
    pub fn has(&self, key: u8) -> bool {
        self.keys.iter().any(|slot| slot.key == key)
    }
}

/// The state of a key (NEO 2 Interface Developer's Guide 2019, 8.23.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// There is no key in the slot.
    Unused,
    /// The key is ready.
    Valid,
    /// All keys of the slot are used up.
    Exhausted,
    /// The reader has no such slot.
    Unavailable,
}

/// The answer to 81-0A and 81-0B: the KSN of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KsnAnswer<'a> {
    /// The state.
    pub state: KeyState,
    /// The KSN of 10 or 12 bytes. It is there only if the key is valid or used up.
    pub ksn: Option<&'a [u8]>,
}

// A KSN names the device, so `Debug` shows only whether there is one.
impl std::fmt::Debug for KsnAnswer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { state, ksn } = self;
        write!(f, "Ksn({state:?}, {})", ksn.is_some())
    }
}

impl<'a> KsnAnswer<'a> {
    /// Reads the data of 81-0B: state, length, KSN. UNCERTAIN: the layout of 81-0A, which may be the KSN alone. Both
    /// are read.
    ///
    /// # Errors
    /// Fails if the state is unknown, or if the KSN does not have 10 or 12 bytes.
    pub fn parse(data: &'a [u8]) -> Result<Self, Neo2MessageError> {
        if matches!(data.len(), 10 | 12) && data.get(1).is_some_and(|length| usize::from(*length) != data.len() - 2) {
            return Ok(Self { state: KeyState::Valid, ksn: Some(data) });
        }
        let length = Neo2MessageError::Length { bytes: data.len() };
        let (state, rest) = data.split_first().ok_or(length)?;
        let state = match state {
            0x00 => KeyState::Unused,
            0x01 => KeyState::Valid,
            0x02 => KeyState::Exhausted,
            0xFF => KeyState::Unavailable,
            _ => return Err(Neo2MessageError::Field("key state")),
        };
        let ksn = match rest {
            [] | [0] => None,
            [length @ (10 | 12), ksn @ ..] if ksn.len() == usize::from(*length) => Some(ksn),
            _ => return Err(length),
        };
        Ok(Self { state, ksn })
    }
}

/// The answer to C7-37: which data the reader encrypts. SRED readers may not support the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncryptionSwitch(pub u8);

impl EncryptionSwitch {
    /// Reads the data.
    ///
    /// # Errors
    /// Fails if it is not one byte.
    pub fn parse(data: &[u8]) -> Result<Self, Neo2MessageError> {
        let &[bits] = data else { return Err(Neo2MessageError::Length { bytes: data.len() }) };
        Ok(Self(bits))
    }

    /// Returns whether the reader encrypts nothing. UNCERTAIN: the meaning of each bit, so only zero counts. Each
    /// card's answer shows whether it is encrypted.
    #[must_use]
    pub fn is_off(self) -> bool {
        self.0 == 0
    }
}

/// Reads the answers to 25-04 (date, YYYYMMDD) and 25-02 (time, HHMM), both in BCD. UNCERTAIN: that they have the
/// layout in which 25-03 and 25-01 set them.
///
/// # Errors
/// Fails if they are not a date in this century and a time.
pub fn parse_clock(date: &[u8], time: &[u8]) -> Result<LocalTime, Neo2MessageError> {
    let &[0x20, year, month, day] = date else { return Err(Neo2MessageError::Field("date")) };
    let &[hour, minute] = time else { return Err(Neo2MessageError::Field("time")) };
    LocalTime::from_bcd([year, month, day], [hour, minute, 0]).ok_or(Neo2MessageError::Field("date and time"))
}

/// The answer to 62-01 (readers: 4.2).
#[derive(Debug)]
pub enum Neo2PinAnswer {
    /// The sealed PIN.
    Entered(SealedPin),
    /// State 01: the cardholder pressed cancel.
    Cancelled,
    /// State 02: the host cancelled with 62-00.
    CancelledByHost,
    /// State 05 or 06: there is no PIN key, or it is used up.
    NoKey,
    /// Any other state.
    Failed(PinFailure),
}

/// A state of a PIN entry that gives no PIN.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PinFailure(pub u8);

impl std::fmt::Debug for PinFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = match self.0 {
            0x03 => "wrong parameters",
            0x04 => "the reader has no card number",
            0x07 => "the text for the display is wrong",
            0x10 => "a payment card is not allowed here",
            _ => "unknown state",
        };
        write!(f, "{:02X} {words}", self.0)
    }
}

/// Returns the numbers of digits of KSN and PIN block: with TDES, and with AES.
pub(in crate::neo2) fn pin_digits(both: usize) -> Option<(usize, usize)> {
    match both {
        36 => Some((20, 16)),
        56 => Some((24, 32)),
        _ => None,
    }
}

impl Neo2PinAnswer {
    /// Reads the data: state, KSN and PIN block. Both are hexadecimal digits in ASCII, 20 and 16 of them with TDES, 24
    /// and 32 with AES.
    ///
    /// # Errors
    /// Fails if the lengths do not belong together, or if a character is no digit.
    pub fn parse(data: &[u8]) -> Result<Self, Neo2MessageError> {
        let length = Neo2MessageError::Length { bytes: data.len() };
        let (state, digits) = data.split_first().ok_or(length)?;
        match state {
            0x00 => {}
            0x01 => return Ok(Self::Cancelled),
            0x02 => return Ok(Self::CancelledByHost),
            0x05 | 0x06 => return Ok(Self::NoKey),
            other => return Ok(Self::Failed(PinFailure(*other))),
        }
        let (ksn, block) = pin_digits(digits.len()).ok_or(length)?;
        let mut bytes = Zeroizing::new([0; 12 + 16]);
        let bytes = &mut bytes[..(ksn + block) / 2];
        hex::decode_to_slice(digits, bytes).map_err(|_| Neo2MessageError::Field("KSN or PIN block"))?;
        let (ksn, block) = bytes.split_at(ksn / 2);
        PinBlock { block, ksn }.to_pin().map(Self::Entered).ok_or(length)
    }
}

/// The answer to 83-41: a typed card.
#[derive(Debug)]
pub struct ManualCardAnswer<'a> {
    /// The masked PAN, if the reader shows one.
    pub masked_pan: Option<MaskedPan>,
    /// The sealed card.
    pub sealed: Result<SealedBlock<'a>, SealError>,
}

impl<'a> ManualCardAnswer<'a> {
    /// Reads the data: a block of the "enhanced format". UNCERTAIN: whether it comes alone or in DFEE23. Both are read.
    /// [`has_clear_card_data`](super::has_clear_card_data) comes before.
    ///
    /// # Errors
    /// Fails if there is no block, or if it is damaged.
    pub fn parse(data: &'a [u8]) -> Result<Self, Neo2MessageError> {
        let block = StripeBlock::parse(typed_block(data)?)?;
        let sealed = match block.ksn {
            Some(ksn) if block.is_aes != (ksn.len() == 12) => {
                Err(AttributionFault::KsnLength { bytes: ksn.len() }.into())
            }
            Some(ksn) => sred_block(&encrypted_tracks(&block), ksn),
            None => Err(SealError::NoKsn),
        };
        Ok(Self { masked_pan: masked_block_pan(&block), sealed })
    }
}

fn typed_block(data: &[u8]) -> Result<&[u8], Neo2MessageError> {
    if StripeBlock::is_framed(data) {
        return Ok(data);
    }
    let mut block = None;
    inline::each(attribution::split(data).1, &mut |element| {
        if let Some(object) = element.plain().filter(|object| object.tag == tags::STRIPE_BLOCK) {
            block.get_or_insert(object.value);
        }
    })?;
    block.ok_or(Neo2MessageError::Missing(tags::STRIPE_BLOCK))
}

#[cfg(test)]
mod tests {
    use super::super::block::tests::{block_of, fields};
    use super::*;

    #[test]
    fn identity_and_keys_are_read() {
        assert_eq!(text(b"VP5300 FW v1.01.115\0\r\n"), "VP5300 FW v1.01.115");
        assert_eq!(text(&[b'x'; 100]).len(), 64);
        let keys = KeyInfoAnswer::parse(&[0x02, 0, 0, 0x01, 0x01, 0x2C]).unwrap();
        assert_eq!(keys.keys[..], [KeySlot { key: 2, slot: 0 }, KeySlot { key: 1, slot: 300 }]);
        assert!(keys.has(KeySlot::PIN) && keys.has(KeySlot::DATA) && !keys.has(0x05));
        assert!(KeyInfoAnswer::parse(&[2, 0]).is_err());
        assert_eq!(KeyInfoAnswer::parse(&[2; 300]).unwrap().keys.len(), MAX_KEYS);
        assert!(!EncryptionSwitch::parse(&[3]).unwrap().is_off());
        assert!(EncryptionSwitch::parse(&[0]).unwrap().is_off());
        assert!(EncryptionSwitch::parse(&[]).is_err());
    }

    #[test]
    fn a_ksn_comes_with_its_state() {
        let (tdes, aes) = ([0xFF; 10], [0xFF; 12]);
        let with = |state, ksn: &[u8]| [&[state, u8::try_from(ksn.len()).unwrap()][..], ksn].concat();
        for (data, state, ksn) in [
            (with(1, &tdes), KeyState::Valid, Some(&tdes[..])),
            (with(1, &aes), KeyState::Valid, Some(&aes[..])),
            (with(2, &tdes), KeyState::Exhausted, Some(&tdes[..])),
            (vec![0], KeyState::Unused, None),
            (vec![0, 0], KeyState::Unused, None),
            (vec![0xFF], KeyState::Unavailable, None),
            (tdes.to_vec(), KeyState::Valid, Some(&tdes[..])),
            (aes.to_vec(), KeyState::Valid, Some(&aes[..])),
        ] {
            assert_eq!(KsnAnswer::parse(&data), Ok(KsnAnswer { state, ksn }), "{data:02X?}");
        }
        for wrong in [&[][..], &[3], &[1, 10, 0xFF], &[1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0]] {
            assert!(KsnAnswer::parse(wrong).is_err(), "{wrong:02X?}");
        }
        assert_eq!(format!("{:?}", KsnAnswer { state: KeyState::Valid, ksn: Some(&tdes) }), "Ksn(Valid, true)");
    }

    #[test]
    fn a_pin_is_a_state_and_digits() {
        let entered =
            |ksn: &str, block: &str| Neo2PinAnswer::parse(&[b"\0", ksn.as_bytes(), block.as_bytes()].concat());
        let Ok(Neo2PinAnswer::Entered(pin)) = entered("FFFF0102628D12000001", "8B68AF72199529B8") else {
            panic!("a PIN")
        };
        assert_eq!(hex::encode_upper(pin.ksn.expose()), "FFFF0102628D12000001");
        assert_eq!(hex::encode_upper(pin.block.expose()), "8B68AF72199529B8");
        let Ok(Neo2PinAnswer::Entered(pin)) = entered(&"0f".repeat(12), &"AB".repeat(16)) else { panic!("a PIN") };
        assert_eq!((pin.ksn.expose().len(), pin.block.expose().len()), (12, 16));
        assert_eq!(format!("{pin:?}"), "SealedPin { block: [16 sealed bytes], ksn: [12 sealed bytes] }");
        for (ksn, block) in [(20, 32), (24, 16), (20, 15), (0, 0), (20, 0)] {
            assert!(entered(&"0".repeat(ksn), &"0".repeat(block)).is_err(), "{ksn} {block}");
        }
        assert!(entered("FFFF0102628D1200000G", "8B68AF72199529B8").is_err());
        assert!(Neo2PinAnswer::parse(&[]).is_err());
        assert!(matches!(Neo2PinAnswer::parse(&[1]), Ok(Neo2PinAnswer::Cancelled)));
        assert!(matches!(Neo2PinAnswer::parse(&[2]), Ok(Neo2PinAnswer::CancelledByHost)));
        assert!(matches!(Neo2PinAnswer::parse(&[5]), Ok(Neo2PinAnswer::NoKey)));
        assert!(matches!(Neo2PinAnswer::parse(&[6]), Ok(Neo2PinAnswer::NoKey)));
        assert_eq!(format!("{:?}", Neo2PinAnswer::parse(&[4]).unwrap()), "Failed(04 the reader has no card number)");
    }

    #[test]
    fn a_clock_is_a_date_and_a_time() {
        let expected = LocalTime { year: 25, month: 1, day: 31, hour: 12, minute: 34, second: 0 };
        assert_eq!(parse_clock(&[0x20, 0x25, 0x01, 0x31], &[0x12, 0x34]), Ok(expected));
        for (date, time) in [
            (&[0x19, 0x25, 0x01, 0x31][..], &[0x12, 0x34][..]),
            (&[0x20, 0x25, 0x13, 0x31], &[0x12, 0x34]),
            (&[0x20, 0x25, 0x01, 0x31], &[0x24, 0x00]),
            (&[0x25, 0x01, 0x31], &[0x12, 0x34]),
            (&[0x20, 0x25, 0x01, 0x31], &[0x12]),
        ] {
            assert!(parse_clock(date, time).is_err(), "{date:02X?} {time:02X?}");
        }
    }

    #[test]
    fn a_typed_card_is_a_block_alone_or_in_an_element() {
        let block = block_of(&fields(false, b";4761********0119=2512***********?*"));
        let length = u16::try_from(block.len()).unwrap().to_be_bytes();
        let in_element = [&[0xC8, 0xDF, 0xEE, 0x23, 0x82][..], &length, &block].concat();
        for data in [&block, &in_element] {
            let typed = ManualCardAnswer::parse(data).unwrap();
            assert_eq!(typed.masked_pan.unwrap().as_str(), "4761********0119");
            let sealed = typed.sealed.unwrap().to_card().unwrap();
            assert_eq!((sealed.data.expose().len(), sealed.ksn.expose().len()), (3 + 48 + 3 + 40, 10));
        }
        let bare = block_of(&[&[0xC0, 0x1F, 42, 35, 0, 0, 0x02][..], &[0xC5; 40]].concat());
        let typed = ManualCardAnswer::parse(&bare).unwrap();
        assert!(typed.masked_pan.is_none());
        assert_eq!(typed.sealed.unwrap_err(), SealError::NoKsn);
        assert!(ManualCardAnswer::parse(&[]).is_err());
        assert!(ManualCardAnswer::parse(&[0x9F, 0x39, 0x01, 0x07]).is_err());
        assert!(ManualCardAnswer::parse(&block[..40]).is_err());
    }
}
