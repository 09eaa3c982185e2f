//! VIPA's encrypted card data: the template FF7F with IV, KSN and data. The IV is random for each block, and the
//! padding begins with 80 (readers: 3.5, 8.1).

use super::masked::track1_with_lrc;
use crate::reader::deck::Card;
use crate::reader::device::Device;
use crate::reader::keys::{Iv, Keys, NoKey, Sealed, bytes};
use crate::reader::number_entry::{CODE, EXPIRY, NUMBER};
use crate::reader::objects;

/// DFDB0F: the status of the encryption, which was good.
const GOOD: [u8; 4] = [0, 0, 0, 0];
/// DFDB0E: the slot and version, as in a capture (readers: 3.7).
const SLOT: [u8; 4] = [0, 0, 0x0D, 0x01];

/// Encrypts the card data of a chip or a tap: track 2, then the PAN (readers: 8.4, V1).
pub(super) fn chip(device: &mut Device, card: &Card) -> Result<Vec<u8>, NoKey> {
    let mut plain = objects::object(0x57, &bytes(&card.track2_equivalent()));
    objects::put(&mut plain, 0x5A, &bytes(&card.pan_digits()));
    block(device, &plain)
}

/// Encrypts the tracks of the stripe with their sentinels and LRC characters (readers: 8.4, V2).
pub(super) fn swipe(device: &mut Device, card: &Card, tracks: (bool, bool)) -> Result<Vec<u8>, NoKey> {
    let mut plain = Vec::new();
    if tracks.0 {
        objects::put(&mut plain, 0xDFDB05, track1_with_lrc(card).as_bytes());
    }
    if tracks.1 {
        objects::put(&mut plain, 0xDFDB06, card.track2().as_bytes());
    }
    block(device, &plain)
}

/// Encrypts a typed card number. The elements inside are UNCERTAIN (readers: 10). Here they have the labels of the
/// answer: DFDB01 PAN, DFDB03 expiry YYMM, DFDB02 security code, as ASCII digits.
pub(super) fn typed(device: &mut Device, elements: &[(u8, String)]) -> Result<Vec<u8>, NoKey> {
    let mut plain = Vec::new();
    for (tag, code) in [(0xDFDB01, NUMBER), (0xDFDB03, EXPIRY), (0xDFDB02, CODE)] {
        if let Some((_, digits)) = elements.iter().find(|(element, _)| *element == code) {
            objects::put(&mut plain, tag, digits.as_bytes());
        }
    }
    block(device, &plain)
}

fn block(device: &mut Device, plain: &[u8]) -> Result<Vec<u8>, NoKey> {
    let tdes = device.random_bytes();
    let [first, second] = [device.random_bytes(), device.random_bytes()];
    let mut aes = [0; 16];
    aes[..8].copy_from_slice(&first);
    aes[8..].copy_from_slice(&second);
    let iv = Iv { tdes, aes };
    let sealed = device.keys.seal_80(iv, plain)?;
    // A KSN of 12 bytes belongs to AES, which this protocol is only expected to have (readers: 8.2).
    let used: &[u8] = if sealed.ksn.len() == 10 { &iv.tdes } else { &iv.aes };
    Ok(ff7f(used, &sealed))
}

/// Makes the template of one block.
pub(super) fn ff7f(iv: &[u8], sealed: &Sealed) -> Vec<u8> {
    objects::template(
        0xFF7F,
        &[(0xDFDF12, iv), (0xDFDF11, &sealed.ksn), (0xDFDF10, &sealed.data), (0xDFDB0F, &GOOD), (0xDFDB0E, &SLOT)],
    )
}

impl Keys {
    /// Encrypts card data after padding: one byte 80, then zeros to whole blocks.
    fn seal_80(&mut self, iv: Iv, plain: &[u8]) -> Result<Sealed, NoKey> {
        self.seal(iv, &[plain, &[0x80]].concat())
    }
}

/// The cryptograms of real readers, decrypted with the public test BDK (readers: 8.4). Copied by hand from documents.
/// Never edit them to make a test pass.
#[cfg(test)]
mod frozen {
    use super::super::masked::with_lrc;
    use super::*;
    use crate::keys::{Ksn, TEST_BDK_SRED, tdes_dukpt};
    use crate::reader::deck::card;
    use crate::reader::{Dukpt, Options};

    fn keys(card: &str, pin: &str) -> Keys {
        let ksn = |text: &str| Ksn(bytes(text).try_into().unwrap());
        Keys::new(&Options { dukpt: Dukpt::Tdes { card: ksn(card), pin: ksn(pin) }, ..Options::default() })
    }

    fn sealed(ksn_before: &str, iv: &str, plain: &[u8]) -> (String, String) {
        let iv = Iv { tdes: bytes(iv).try_into().unwrap(), aes: [0; 16] };
        let sealed = keys(ksn_before, "F876543210040B800000").seal_80(iv, plain).unwrap();
        (hex::encode_upper(sealed.ksn), hex::encode_upper(sealed.data))
    }

    fn amex() -> Card {
        Card { pan: "374245001751006", expiry: "2412", discretionary: "17111234500000", ..*card("tap").unwrap() }
    }

    #[test]
    fn v1_a_chip() {
        let card = amex();
        let mut plain = objects::object(0x57, &bytes(&card.track2_equivalent()));
        objects::put(&mut plain, 0x5A, &bytes(&card.pan_digits()));
        assert_eq!(hex::encode_upper(&plain), "5713374245001751006D241220117111234500000F5A08374245001751006F");
        assert_eq!(
            sealed("FFFF98765432110010A3", "ED02AA537757D99F", &plain),
            (
                "FFFF98765432110010A4".to_owned(),
                "31846E94DC3183BA6DC45E2A6AC6DEF03F93434756A4D0261572B5C23519BFC0".to_owned()
            )
        );
    }

    #[test]
    fn v2_a_swiped_track_1() {
        let track = with_lrc("%B5424180001234563^FDCS TEST CARD /MASTERCARD^25121010001111123456789012?", 0x20, 0x3F);
        let (_, data) =
            sealed("FFFF987654321100061F", "A79DDD0FF736B32B", &objects::object(0xDFDB05, track.as_bytes()));
        assert_eq!(
            data,
            "87A73106F57B8FBDD383A257ED8C713A62BFAE83E9B0D202C50FE1F7DA8739338C768BA61506C1D3404191C7C8C3016929A0CCE6621B\
             95191D5A006382605FB0C17963725B548ABC37FFDA146E0429E7"
        );
    }

    /// The IV was derived from the expected PAN, so only the other blocks are a check.
    #[test]
    fn v3_a_swiped_track_2() {
        let sealed_track =
            bytes(concat!("4B989D098BDFB546440317F5CDBF51D2E28E70AAD885FC0B95F8EFCD97E8D832", "284B4EB8DD03C792"));
        let ksn = Ksn(bytes("FFFF9876543211000637").try_into().unwrap());
        let key = tdes_dukpt::transaction_key(&tdes_dukpt::initial_key(&TEST_BDK_SRED, ksn), ksn).unwrap();
        let iv: [u8; 8] = bytes("3FD6DFA75E67258A").try_into().unwrap();
        let plain = key.working(tdes_dukpt::Usage::DataRequest).cbc_decrypt(&iv, &sealed_track).unwrap();
        let track = std::str::from_utf8(objects::value(&plain, 0xDFDB06).unwrap()).unwrap();
        assert!(track.starts_with(";6011000993026909="), "{track}");
        assert_eq!(with_lrc(&track[..track.len() - 1], 0x30, 0x0F), track);
        let (ksn_of_sim, data) =
            sealed("FFFF9876543211000636", "3FD6DFA75E67258A", &objects::object(0xDFDB06, track.as_bytes()));
        assert_eq!((bytes(&ksn_of_sim), bytes(&data)), (ksn.0.to_vec(), sealed_track));
    }

    #[test]
    fn v4_a_pin() {
        let mut keys = keys("FFFF9876543211000620", "F876543210040B800008");
        let sealed = keys.seal_pin_for("6799998900000074316", "4315", [0; 8]).unwrap();
        assert_eq!(hex::encode_upper(sealed.ksn), "F876543210040B800009");
        assert_eq!(hex::encode_upper(sealed.data), "B2449FABB96D4228");
    }

    /// Made for the simulator, not captured (readers: 8.4).
    #[test]
    fn computed_a_swiped_track_2() {
        let plain = objects::object(0xDFDB06, b";4761739001010119=15122011758989389?");
        assert_eq!(
            sealed("FFFF9876543210E00000", "0102030405060708", &plain),
            (
                "FFFF9876543210E00001".to_owned(),
                "FD5A0BBEA04DAFBF1FC9CB4F7E511E3DDF810381F5659507336F7FBE0D9CB6C5B45FD9F21D83CD1E9C92E94BE7F307E1"
                    .to_owned()
            )
        );
    }
}
