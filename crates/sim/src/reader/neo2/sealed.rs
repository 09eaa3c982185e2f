//! NEO2's encrypted elements. Each stands in its place, with the marker C1 before its length, and beside it stands the
//! masked element with A1. The plaintext is the whole element with its tag and length (readers: 4.4).

use crate::keys::{ZERO_IV, ZERO_IV_16};
use crate::reader::deck::{Card, padded};
use crate::reader::device::Device;
use crate::reader::keys::{Iv, Keys, NoKey, bytes};
use crate::reader::objects;

/// The markers before the length of an element.
const MASKED: u8 = 0xA1;
const ENCRYPTED: u8 = 0xC1;
/// The nibble of a hidden digit. UNCERTAIN: the description names none (readers: 4.4).
const HIDDEN: char = 'C';

/// The attribution of the data, by bits 4, 3 and 0 (readers: 4.4).
pub(super) const OF_CHIP: u8 = 0b0_0000;
pub(super) const OF_TAP: u8 = 0b0_0001;
pub(super) const OF_TAP_MAGSTRIPE: u8 = 0b1_0001;
pub(super) const OF_SWIPE: u8 = 0b0_1000;
/// Bits 2 and 1 of the attribution: AES.
const AES: u8 = 0b0_0010;
/// Bit 5, which is set in all published frames, and bits 7 and 6, which say that the data are encrypted.
const EXTENDED: u8 = 0x20;
const IS_ON: u8 = 0xC0;

/// Returns the card's elements 57 and 5A, masked and encrypted, with the KSN. Without an SRED key, they are in clear.
pub(super) fn card_elements(keys: &mut Keys, card: &Card) -> Result<Vec<u8>, NoKey> {
    let (track2, pan) = (bytes(&card.track2_equivalent()), bytes(&card.pan_digits()));
    if !keys.encrypts_card_data {
        return Ok([objects::object(0x57, &track2), objects::object(0x5A, &pan)].concat());
    }
    let sealed = keys.seal_elements(&[(0x57, &track2), (0x5A, &pan)])?;
    let mut out = sealed.ksn_element();
    for ((tag, masked), encrypted) in
        [(0x57, masked_track2(card)), (0x5A, masked_pan(card))].into_iter().zip(&sealed.values)
    {
        put_marked(&mut out, tag, MASKED, &masked);
        put_marked(&mut out, tag, ENCRYPTED, encrypted);
    }
    Ok(out)
}

/// Returns the typed PAN in the same way.
pub(super) fn typed_pan(keys: &mut Keys, pan: &str) -> Result<Vec<u8>, NoKey> {
    let digits = bytes(&padded(pan.to_owned()));
    if !keys.encrypts_card_data {
        return Ok(objects::object(0x5A, &digits));
    }
    let sealed = keys.seal_elements(&[(0x5A, &digits)])?;
    let last = pan.len() - 4;
    let masked = pan.chars().enumerate().map(|(at, c)| if (6..last).contains(&at) { HIDDEN } else { c }).collect();
    let mut out = sealed.ksn_element();
    put_marked(&mut out, 0x5A, MASKED, &bytes(&padded(masked)));
    for encrypted in &sealed.values {
        put_marked(&mut out, 0x5A, ENCRYPTED, encrypted);
    }
    Ok(out)
}

/// Appends an element with a marker before its length.
fn put_marked(out: &mut Vec<u8>, tag: u8, marker: u8, value: &[u8]) {
    let length = u8::try_from(value.len()).expect("an element of a card has at most 40 bytes");
    out.extend([tag, marker, length]);
    out.extend(value);
}

/// The digits after the service code are hidden too.
fn masked_track2(card: &Card) -> Vec<u8> {
    let whole = card.track2_equivalent().len();
    let visible = format!("{}D{}{}", card.masked_pan(HIDDEN), card.expiry, card.service_code);
    bytes(&format!("{visible:C<whole$}"))
}

fn masked_pan(card: &Card) -> Vec<u8> {
    bytes(&padded(card.masked_pan(HIDDEN)))
}

/// The encrypted values of one transaction, which share one key.
pub(super) struct SealedElements {
    pub(super) ksn: Vec<u8>,
    pub(super) values: Vec<Vec<u8>>,
}

impl SealedElements {
    pub(super) fn ksn_element(&self) -> Vec<u8> {
        objects::object(0xDFEE12, &self.ksn)
    }
}

/// Returns the attribution byte of data of this origin.
fn attribution(keys: &Keys, origin: u8) -> u8 {
    let kind = if keys.are_aes() { AES } else { 0 };
    let status = if keys.encrypts_card_data { IS_ON | kind } else { 0 };
    EXTENDED | status | origin
}

/// Puts the attribution before the elements of a response, and appends it as DFEE26 (readers: 4.4). UNCERTAIN: the
/// second byte of DFEE26. In published frames, it is 01 with encryption and 00 without.
pub(super) fn attributed(device: &Device, origin: u8, mut elements: Vec<u8>) -> Vec<u8> {
    let byte = attribution(&device.keys, origin);
    objects::put(&mut elements, 0xDFEE26, &[byte, u8::from(device.keys.encrypts_card_data)]);
    if device.options.neo2.attributes {
        elements.insert(0, byte);
    }
    elements
}

impl Keys {
    /// Encrypts whole elements, all under the next key.
    fn seal_elements(&mut self, elements: &[(u32, &[u8])]) -> Result<SealedElements, NoKey> {
        let plains: Vec<_> = elements.iter().map(|(tag, value)| objects::object(*tag, value)).collect();
        self.seal_with_one_key(&plains)
    }

    /// Encrypts several values under the next key, each by itself.
    pub(super) fn seal_with_one_key(&mut self, plains: &[Vec<u8>]) -> Result<SealedElements, NoKey> {
        let (values, ksn) = self.seal_all(Iv { tdes: ZERO_IV, aes: ZERO_IV_16 }, plains)?;
        Ok(SealedElements { ksn, values })
    }
}

/// Published plaintexts (readers: 4.4). Copied by hand from documents. Never edit them to make a test pass.
#[cfg(test)]
mod frozen {
    use super::*;
    use crate::keys::{Ksn, TEST_BDK_SRED, tdes_dukpt};
    use crate::reader::deck::card;
    use crate::reader::{Dukpt, Options};

    #[test]
    fn the_plaintext_of_an_element_is_the_element() {
        let card = Card {
            pan: "4761739001010010",
            expiry: "2012",
            discretionary: "0123456789",
            ..*card("chip-no-cvm").unwrap()
        };
        let mut keys = Keys::new(&Options::default());
        let out = card_elements(&mut keys, &card).unwrap();
        let text = hex::encode_upper(&out);
        let after = |head: &str, length: usize| {
            let at = text.find(head).unwrap() + head.len();
            bytes(&text[at..at + 2 * length])
        };
        let ksn = Ksn(after("DFEE120A", 10).try_into().unwrap());
        let key = tdes_dukpt::transaction_key(&tdes_dukpt::initial_key(&TEST_BDK_SRED, ksn), ksn).unwrap();
        let key = key.working(tdes_dukpt::Usage::DataRequest);
        let opened = |head, length| hex::encode_upper(key.cbc_decrypt(&ZERO_IV, &after(head, length)).unwrap());
        assert_eq!(opened("57C118", 0x18), format!("57114761739001010010D20122010123456789{}", "00".repeat(5)));
        assert_eq!(opened("5AC110", 0x10), format!("5A084761739001010010{}", "00".repeat(6)));
        assert_eq!(hex::encode_upper(after("5AA108", 8)), "476173CCCCCC0010");
        assert_eq!(hex::encode_upper(after("57A111", 17)), "476173CCCCCC0010D2012201CCCCCCCCCC");
        // The published attribution of a swipe under AES, and that of a tap without encryption.
        let with = |secured, dukpt| Keys::new(&Options { secured, dukpt, ..Options::default() });
        assert_eq!(attribution(&with(true, Dukpt::AES), OF_SWIPE), 0xEA);
        assert_eq!(attribution(&with(false, Dukpt::TDES), OF_TAP), 0x21);
    }
}
