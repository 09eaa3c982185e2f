//! Decryption of the card reader's encrypted data: card data (SRED) and PIN blocks. Each key is accepted at most once.
//! The length of the KSN selects the method: 10 bytes mean TDES DUKPT with PIN blocks of format 0, and 12 bytes AES
//! DUKPT with format 4.
//!
//! Every KSN must be later than all earlier KSNs of the same device and key set. A device never uses a key twice and
//! never goes back (readers: 8.1; ANSI X9.24-1, A.2; X9.24-3, 6.1). The PIN and the card data must use two different
//! key sets.

use std::collections::HashMap;

use super::clear_card_data::{self, ClearCard};
use super::form::Form;
use super::invalid::Invalid;
use super::sealed_forms::{self, ClearObject, SRED_DATA};
use pos_keys::pin_block::{self, Malformed, Pin};
use pos_keys::{
    Key, NotWholeBlocks, TEST_BDK_AES, TEST_BDK_PIN, TEST_BDK_SRED, ZERO_IV, ZERO_IV_16, aes_dukpt, tdes_dukpt,
};

const SRED_KSN: &str = "pos.encryptedSred.ksn";
const PIN_DATA: &str = "pos.encryptedPin.data";
const PIN_KSN: &str = "pos.encryptedPin.ksn";

/// A key serial number of TDES or AES DUKPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ksn {
    Tdes(tdes_dukpt::Ksn),
    Aes(aes_dukpt::Ksn),
}

impl Ksn {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let tdes = tdes_dukpt::Ksn::from_bytes(bytes).map(Self::Tdes);
        tdes.or_else(|| aes_dukpt::Ksn::from_bytes(bytes).map(Self::Aes))
    }

    /// Returns the device and key set of the KSN.
    fn initial(self) -> Self {
        match self {
            Self::Tdes(ksn) => Self::Tdes(ksn.initial()),
            Self::Aes(ksn) => Self::Aes(ksn.initial()),
        }
    }

    fn counter(self) -> u32 {
        match self {
            Self::Tdes(ksn) => ksn.counter(),
            Self::Aes(ksn) => ksn.counter(),
        }
    }

    fn is_usable(self) -> bool {
        match self {
            Self::Tdes(ksn) => ksn.is_usable(),
            Self::Aes(ksn) => ksn.is_usable(),
        }
    }

    /// Returns the cipher's block size in bytes.
    fn block(self) -> usize {
        match self {
            Self::Tdes(_) => 8,
            Self::Aes(_) => 16,
        }
    }

    /// Returns the format and length of the PIN blocks.
    fn pin_block(self) -> (&'static str, usize) {
        match self {
            Self::Tdes(_) => ("a PIN block of ISO format 0 has 8 bytes", 8),
            Self::Aes(_) => ("a PIN block of ISO format 4 has 16 bytes", 16),
        }
    }

    /// Decrypts card data. `None` if no device can have this counter value.
    fn open(self, sealed: &[u8]) -> Option<Result<Vec<u8>, NotWholeBlocks>> {
        Some(match self {
            Self::Tdes(ksn) => {
                tdes_key(&TEST_BDK_SRED, ksn, tdes_dukpt::Usage::DataRequest)?.cbc_decrypt(&ZERO_IV, sealed)
            }
            Self::Aes(ksn) => aes_key(ksn)?.data_key().cbc_decrypt(&ZERO_IV_16, sealed),
        })
    }

    /// Decrypts a PIN block.
    fn open_pin(self, block: &[u8], pan: &str) -> Result<Pin, Malformed> {
        match self {
            Self::Tdes(ksn) => {
                let key = tdes_key(&TEST_BDK_PIN, ksn, tdes_dukpt::Usage::Pin).ok_or(Malformed)?;
                pin_block::decrypt_0(&key, block, pan)
            }
            Self::Aes(ksn) => pin_block::decrypt_4(&aes_key(ksn).ok_or(Malformed)?.pin_key(), block, pan),
        }
    }
}

fn tdes_key(bdk: &Key, ksn: tdes_dukpt::Ksn, usage: tdes_dukpt::Usage) -> Option<Key> {
    Some(tdes_dukpt::transaction_key(&tdes_dukpt::initial_key(bdk, ksn), ksn)?.working(usage))
}

fn aes_key(ksn: aes_dukpt::Ksn) -> Option<aes_dukpt::TransactionKey> {
    aes_dukpt::transaction_key(&aes_dukpt::initial_key(&TEST_BDK_AES, ksn), ksn)
}

/// The highest transaction counter seen for each device and key set.
#[derive(Debug, Default)]
pub(super) struct KeySets(HashMap<Ksn, u32>);

/// The encrypted data of a request.
pub(super) struct EncryptedData {
    sred: Vec<u8>,
    sred_ksn: Ksn,
    pin: Option<(Vec<u8>, Ksn)>,
}

impl EncryptedData {
    /// Reads the four parameters. Both KSNs must be DUKPT KSNs, from two key sets.
    pub(super) fn from_form(form: &Form) -> Result<Self, Invalid> {
        let sred = form.hex(SRED_DATA)?.ok_or_else(|| Invalid::new(SRED_DATA, "required and not sent"))?;
        let sred_ksn = ksn(form, SRED_KSN)?.ok_or_else(|| Invalid::new(SRED_KSN, "required and not sent"))?;
        let pin = match (form.hex(PIN_DATA)?, ksn(form, PIN_KSN)?) {
            (None, None) => None,
            (Some(block), Some(ksn)) if block.len() == ksn.pin_block().1 => Some((block, ksn)),
            (Some(_), Some(ksn)) => return Err(Invalid::new(PIN_DATA, ksn.pin_block().0)),
            (Some(_), None) => return Err(Invalid::new(PIN_KSN, "required with pos.encryptedPin.data")),
            (None, Some(_)) => return Err(Invalid::new(PIN_DATA, "required with pos.encryptedPin.ksn")),
        };
        if pin.as_ref().is_some_and(|(_, ksn)| ksn.initial() == sred_ksn.initial()) {
            return Err(Invalid::new(PIN_KSN, "the PIN and the card data must come from one key set"));
        }
        Ok(Self { sred, sred_ksn, pin })
    }
}

impl KeySets {
    /// Marks the KSNs as used, and decrypts the card data. The data must match `entry_mode`.
    pub(super) fn open(&mut self, sealed: &EncryptedData, entry_mode: &str) -> Result<ClearCard, Invalid> {
        self.is_later(SRED_KSN, sealed.sred_ksn)?;
        if let Some((_, ksn)) = &sealed.pin {
            self.is_later(PIN_KSN, *ksn)?;
        }
        let ksn = sealed.sred_ksn;
        if ksn.open(&[]).is_none() {
            return Err(Invalid::new(SRED_KSN, "no device can have this transaction counter"));
        }
        let forms = sealed_forms::open(&sealed.sred, ksn.block(), &|blocks| ksn.open(blocks)?.ok())?;
        let card = the_only_card(&forms, entry_mode)?;
        for ksn in sealed.pin.iter().map(|(_, ksn)| *ksn).chain([sealed.sred_ksn]) {
            self.0.insert(ksn.initial(), ksn.counter());
        }
        Ok(card)
    }

    fn is_later(&self, name: &str, ksn: Ksn) -> Result<(), Invalid> {
        match self.0.get(&ksn.initial()) {
            Some(used) if *used == ksn.counter() => Err(Invalid::new(name, "this KSN was used before")),
            Some(used) if *used > ksn.counter() => Err(Invalid::new(name, "the KSN went backward")),
            _ => Ok(()),
        }
    }
}

/// Reads the card in the one form whose data are a card's. If there is none, the first form says why.
fn the_only_card(forms: &[Vec<ClearObject>], entry_mode: &str) -> Result<ClearCard, Invalid> {
    let mut found = Err(sealed_forms::garbled());
    for (number, clear) in forms.iter().enumerate() {
        match (clear_card_data::read_card(clear, entry_mode), &found) {
            (Ok(_), Ok(_)) => return Err(sealed_forms::garbled()),
            (Err(why), Err(_)) if number == 0 => found = Err(why),
            (Err(_), _) => {}
            (card, Err(_)) => found = card,
        }
    }
    found
}

impl EncryptedData {
    /// Returns whether the request has a PIN block.
    pub(super) fn has_pin(&self) -> bool {
        self.pin.is_some()
    }

    /// Returns the PIN, if the request has one. Every fault of the block gives the same error (security: 1.4).
    pub(super) fn pin(&self, pan: &str) -> Option<Result<Pin, Malformed>> {
        let (block, ksn) = self.pin.as_ref()?;
        Some(ksn.open_pin(block, pan))
    }
}

fn ksn(form: &Form, name: &str) -> Result<Option<Ksn>, Invalid> {
    let Some(bytes) = form.hex(name)? else { return Ok(None) };
    let ksn = Ksn::from_bytes(&bytes)
        .ok_or_else(|| Invalid::new(name, "a KSN has 10 bytes (TDES DUKPT) or 12 (AES DUKPT)"))?;
    if !ksn.is_usable() {
        return Err(Invalid::new(name, "no device can have this transaction counter"));
    }
    Ok(Some(ksn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{PAYMENT, Spelling};

    fn form(parameters: &[(&str, &str)]) -> Form {
        let body = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
        Form::parse(body.as_bytes(), PAYMENT, Spelling::Usual).unwrap()
    }

    fn swipe(data: &str, ksn: &str) -> EncryptedData {
        EncryptedData::from_form(&form(&[(SRED_DATA, data), (SRED_KSN, ksn)])).unwrap()
    }

    // Captures from real readers (readers: 8.4, M1, M2, P1). Never edit these bytes to make a test pass.
    const M1_KSN: &str = "00000200000055400182";
    const M1: &str = concat!(
        "72212907C9B93D919511254CA428CE061009857EC1F129D3DE63CBF9F7D5452C36C961C881A11E84EF2F7D6C223C12CF",
        "2CC55A87AFC2D097F57D07BFF787A997CA5DB3E0FE46AF9C7C37580459EE6F6065CAD8E1BDACAE01B8ED4E06D232485F",
        "3B7A72C88119E3DF27F3553284411FCC8DC25EFC8ECF4AFA"
    );
    const M2_KSN: &str = "FFFF0102628D1100005E";
    const M2: &str = "85D6E511F8844CEA0DC72883180AC081AF4593A8A3C5FDD8";
    const P1_KSN: &str = "FFFF0102628D12000001";
    const P1: &str = "8B68AF72199529B8";

    #[test]
    fn opens_the_captured_swipe() {
        let card =
            KeySets::default().open(&swipe(M1, M1_KSN), "MAGSTRIPE_AS_FALLBACK").map_err(|e| e.to_string()).unwrap();
        assert_eq!((card.pan.as_str(), card.expiry.as_deref()), ("4761739001010010", Some("1512")));
        assert!(card.service_code.unwrap().has_chip());
    }

    #[test]
    fn opens_the_captured_tap() {
        let card = KeySets::default().open(&swipe(M2, M2_KSN), "NFC_ICC").map_err(|e| e.to_string()).unwrap();
        assert_eq!(card.pan, "4761739001010012234");
    }

    #[test]
    fn opens_the_captured_pin() {
        let parameters = [(SRED_DATA, M2), (SRED_KSN, M2_KSN), (PIN_DATA, P1), (PIN_KSN, P1_KSN)];
        let sealed = EncryptedData::from_form(&form(&parameters)).unwrap();
        assert!(sealed.pin("5413330089099023").unwrap().unwrap().is(&Pin::new("4315").unwrap()));
        // With another card, the PIN block is malformed.
        assert!(sealed.pin("4761739001010119").unwrap().is_err());
    }

    #[test]
    fn a_swipe_is_not_a_chip_and_a_damaged_block_is_nothing() {
        let mut sets = KeySets::default();
        assert!(sets.open(&swipe(M1, M1_KSN), "ICC").is_err());
        assert!(sets.open(&swipe(M2, M2_KSN), "MAGSTRIPE").is_err());
        let damaged = format!("7221{}", "0".repeat(M1.len() - 4));
        assert!(sets.open(&swipe(&damaged, M1_KSN), "MAGSTRIPE_AS_FALLBACK").is_err());
        assert!(sets.open(&swipe(&M1[..M1.len() - 2], M1_KSN), "MAGSTRIPE_AS_FALLBACK").is_err());
        // The next key does not decrypt this key's data.
        assert!(sets.open(&swipe(M1, "00000200000055400183"), "MAGSTRIPE_AS_FALLBACK").is_err());
        // The failed attempts have not used up a key.
        assert!(sets.open(&swipe(M1, M1_KSN), "MAGSTRIPE_AS_FALLBACK").is_ok());
    }

    /// Encrypts like an AES reader, and returns the KSN and data of the next block.
    fn aes_block(device: &mut aes_dukpt::Device, clear: &str) -> (String, String) {
        let (ksn, key) = device.next().unwrap();
        let sealed = key.data_key().cbc_encrypt_zero_padded(&ZERO_IV_16, &hex::decode(clear).unwrap());
        (hex::encode_upper(sealed), ksn.to_string())
    }

    // Tags 5A and 57 take 29 bytes. Three zeros pad them to 32, a whole number of AES blocks.
    const CHIP: &str = "5A08476173900101011957114761739001010119D31122011758989389";

    #[test]
    fn aes_keys_open_and_are_used_once_too() {
        let injected = pos_keys::TEST_KSN_SRED_AES;
        let device = || aes_dukpt::Device::new(&aes_dukpt::initial_key(&TEST_BDK_AES, injected), injected);
        let mut reader = device();
        let (data, ksn) = aes_block(&mut reader, CHIP);
        assert_eq!((ksn.as_str(), data.len()), ("123456789012341100000001", 64));
        let mut sets = KeySets::default();
        let card = sets.open(&swipe(&data, &ksn), "ICC").map_err(|e| e.to_string()).unwrap();
        assert_eq!(card.pan, "4761739001010119");
        let says = |sets: &mut KeySets, data: &str, ksn: &str| match sets.open(&swipe(data, ksn), "ICC") {
            Ok(_) => panic!("{ksn} was taken"),
            Err(invalid) => invalid.to_string(),
        };
        assert_eq!(says(&mut sets, &data, &ksn), "pos.encryptedSred.ksn: this KSN was used before");
        let (second, third) = (aes_block(&mut reader, CHIP), aes_block(&mut reader, CHIP));
        assert!(sets.open(&swipe(&third.0, &third.1), "ICC").is_ok());
        assert_eq!(says(&mut sets, &second.0, &second.1), "pos.encryptedSred.ksn: the KSN went backward");
        // Data under another key, half a block, and a counter with seventeen one bits.
        assert!(says(&mut sets, &data, "123456789012341100000004").contains("does not decrypt"));
        assert!(says(&mut sets, &data[..48], "123456789012341100000004").contains("blocks of 16 bytes"));
        let many = [(SRED_DATA, data.as_str()), (SRED_KSN, "12345678901234110001FFFF")];
        assert!(EncryptedData::from_form(&form(&many)).is_err());
    }

    // Copied by hand from the publication (security: 1.3): the PIN block for counter 1 of that device.
    #[test]
    fn opens_the_published_pin_of_format_4() {
        let (block, ksn) = ("A912150391AB65A67E52883D81CE2D15", "123456789012345600000001");
        let parameters = [(SRED_DATA, M2), (SRED_KSN, M2_KSN), (PIN_DATA, block), (PIN_KSN, ksn)];
        let sealed = EncryptedData::from_form(&form(&parameters)).unwrap();
        assert!(sealed.pin("4111111111111111").unwrap().unwrap().is(&Pin::new("1234").unwrap()));
        assert!(sealed.pin("4761739001010119").unwrap().is_err());
        let says = |parameters: &[(&str, &str)]| EncryptedData::from_form(&form(parameters)).err().unwrap().to_string();
        // A block of the other format, and a PIN under the key set of the card data.
        assert_eq!(
            says(&[(SRED_DATA, M2), (SRED_KSN, M2_KSN), (PIN_DATA, P1), (PIN_KSN, ksn)]),
            "pos.encryptedPin.data: a PIN block of ISO format 4 has 16 bytes"
        );
        assert_eq!(
            says(&[(SRED_DATA, M2), (SRED_KSN, "123456789012345600000007"), (PIN_DATA, block), (PIN_KSN, ksn)]),
            "pos.encryptedPin.ksn: the PIN and the card data must come from one key set"
        );
    }

    // Copied by hand from documents (readers: 8.4). Never edit these bytes to make a test pass.
    #[test]
    fn opens_the_forms_of_vipa_with_the_iv_as_a_prefix() {
        let open = |sealed: &str, ksn: &str, mode: &str| {
            KeySets::default().open(&swipe(sealed, ksn), mode).map_err(|invalid| invalid.to_string())
        };
        // The captured chip (V1), and a track 2 made for the simulator, without its LRC.
        const V1: &str = "ED02AA537757D99F31846E94DC3183BA6DC45E2A6AC6DEF03F93434756A4D0261572B5C23519BFC0";
        assert_eq!(open(V1, "FFFF98765432110010A4", "ICC").unwrap().pan, "374245001751006");
        const COMPUTED: &str = concat!(
            "0102030405060708",
            "FD5A0BBEA04DAFBF1FC9CB4F7E511E3DDF810381F5659507336F7FBE0D9CB6C5B45FD9F21D83CD1E9C92E94BE7F307E1"
        );
        let said = open(COMPUTED, "FFFF9876543210E00001", "MAGSTRIPE").err().unwrap();
        assert_eq!(said, "pos.encryptedSred.data: 5F22: sentinels or LRC missing or wrong");
        // Behind this IV, the track looks like a TLV of Miura's form with the tags 34, D3 and 80.
        const LOOKS_LIKE_MIURA: &str =
            concat!("90150280D7363CA5FFA27714DEB254F1F58F4818B8D474E9", "42EFC983FF1BD7F05A22811350262906");
        assert_eq!(open(LOOKS_LIKE_MIURA, "FFFF0102628D11000001", "ICC").unwrap().pan, "4761739001010010");
        // Without the IV, with another KSN, cut, or with a changed last block.
        for (sealed, ksn) in [
            (&V1[16..], "FFFF98765432110010A4"),
            (V1, "FFFF98765432110010A5"),
            (&V1[..64], "FFFF98765432110010A4"),
            (&V1.replace("19BFC0", "19BFC1"), "FFFF98765432110010A4"),
        ] {
            assert!(open(sealed, ksn, "ICC").err().unwrap().contains("does not decrypt"), "{sealed}");
        }
        assert!(open(&V1[..62], "FFFF98765432110010A4", "ICC").err().unwrap().contains("whole number of blocks"));
    }

    const TDES_KSN: &str = "FFFF9876543210E00001";

    fn data_key() -> Key {
        let ksn = tdes_dukpt::Ksn::from_bytes(&hex::decode(TDES_KSN).unwrap()).unwrap();
        tdes_key(&TEST_BDK_SRED, ksn, tdes_dukpt::Usage::DataRequest).unwrap()
    }

    /// An IV is the first block of a CBC ciphertext. So a first block of plaintext makes the IV that decrypts to it.
    #[test]
    fn an_iv_that_decrypts_to_the_beginning_of_a_known_tag_leaves_the_card_readable() {
        let open = |first: &str, card: &str| {
            let clear = hex::decode(format!("{first}{card}")).unwrap();
            let sealed = hex::encode_upper(data_key().cbc_encrypt_zero_padded(&ZERO_IV, &clear));
            KeySets::default().open(&swipe(&sealed, TDES_KSN), "ICC").map_err(|invalid| invalid.to_string())
        };
        const CARD: &str = "57114761739001010119D311220117589893895A08476173900101011980";
        assert_eq!(open("0102030405060708", CARD).unwrap().pan, "4761739001010119");
        // Tags 5A, 57 and 56, whose values reach to the end of the card's own TLVs with 80.
        for first in ["5A24000000000000", "5724000000000000", "5624000000000000"] {
            assert_eq!(open(first, CARD).unwrap().pan, "4761739001010119", "{first}");
        }
        // What is no card in any form is refused with the reason of the first.
        let no_card = CARD.replace("0119", "0118");
        assert!(open("0102030405060708", &no_card).err().unwrap().contains("check digit"));
        assert!(open("5A24000000000000", &no_card).err().unwrap().contains("check digit"));
    }

    /// The plaintexts are published (readers: 4.4). The ciphertexts are made here.
    #[test]
    fn opens_the_elements_of_neo2() {
        let (text, key) = (TDES_KSN, data_key());
        let sealed = |plain: &[u8]| hex::encode_upper(key.cbc_encrypt_zero_padded(&ZERO_IV, plain));
        let element = |tag: &str, plain: &str| {
            let value = sealed(&hex::decode(plain).unwrap());
            format!("{tag}{:02X}{value}", value.len() / 2)
        };
        let track2 = element("57", "57114761739001010010D20122010123456789");
        let pan = element("5A", "5A084761739001010010");
        let open = |sealed: &str, mode: &str| {
            KeySets::default().open(&swipe(sealed, text), mode).map_err(|invalid| invalid.to_string())
        };
        assert_eq!(open(&format!("{track2}{pan}"), "NFC_ICC").unwrap().pan, "4761739001010010");
        assert_eq!(open(&pan, "MANUAL").unwrap().pan, "4761739001010010");
        // A swipe: one track, or both.
        let [one, two] =
            ["%B4500600000000061^TEST CARD/SWIPE^31121011758989389000000?", ";4500600000000061=31121011758989389?"];
        let two = format!("{two}{}", char::from(0x30 + two.bytes().fold(0, |lrc, c| lrc ^ (c & 0x0F))));
        for tracks in [sealed(two.as_bytes()), sealed(one.as_bytes()) + &sealed(two.as_bytes())] {
            let block = format!("DFEE23{:02X}{tracks}", tracks.len() / 2);
            assert_eq!(open(&block, "MAGSTRIPE").unwrap().pan, "4500600000000061");
        }
        // Each track with its own tag.
        let apart = |tag: &str, track: &str| {
            let value = sealed(track.as_bytes());
            format!("{tag}{:02X}{value}", value.len() / 2)
        };
        let both = apart("5F21", one) + &apart("5F22", &two);
        assert_eq!(open(&both, "MAGSTRIPE").unwrap().pan, "4500600000000061");
        assert!(open(&apart("5F21", &two), "MAGSTRIPE").is_err(), "track 2 with the tag of track 1");
        // The whole block of the swipe, with lengths of 59, 37 and 0 bytes.
        let (masked, tail) = ("2A".repeat(59 + 37), "00".repeat(60));
        let inside = format!("801F3B2500A39B{masked}{}{}{tail}", sealed(one.as_bytes()), sealed(two.as_bytes()));
        assert_eq!((one.len(), two.len()), (59, 37));
        let length = inside.len() / 2;
        let block = format!("02{:02X}{:02X}{inside}000003", length % 256, length / 256);
        let element_of_block = format!("DFEE2382{:04X}{block}", block.len() / 2);
        assert_eq!(open(&element_of_block, "MAGSTRIPE").unwrap().pan, "4500600000000061");
        // The element inside is another one, is of another card, or is not encrypted.
        for wrong in [
            element("5A", "57114761739001010010D20122010123456789"),
            "5A084761739001010010".to_owned(),
            element("5F24", "5F2403201231"),
            format!("{track2}{pan}00"),
        ] {
            assert!(open(&wrong, "ICC").is_err(), "{wrong}");
        }
        let other = element("5A", "5A084761739001010119");
        assert!(open(&format!("{track2}{other}"), "ICC").err().unwrap().contains("different cards"));
    }

    #[test]
    fn a_key_is_used_once_and_never_goes_back() {
        let mut sets = KeySets::default();
        sets.open(&swipe(M1, M1_KSN), "MAGSTRIPE_AS_FALLBACK").map_err(|e| e.to_string()).unwrap();
        let says = |sets: &mut KeySets, ksn| match sets.open(&swipe(M1, ksn), "MAGSTRIPE_AS_FALLBACK") {
            Ok(_) => panic!("{ksn} was taken"),
            Err(invalid) => invalid.to_string(),
        };
        assert_eq!(says(&mut sets, M1_KSN), "pos.encryptedSred.ksn: this KSN was used before");
        assert_eq!(says(&mut sets, "00000200000055400181"), "pos.encryptedSred.ksn: the KSN went backward");
        // Each device has its own counter.
        assert!(sets.open(&swipe(M2, M2_KSN), "NFC_ICC").is_ok());
    }

    #[test]
    fn refuses_before_any_key_what_cannot_be_right() {
        let says = |parameters: &[(&str, &str)]| match EncryptedData::from_form(&form(parameters)) {
            Ok(_) => panic!("{parameters:?} was taken"),
            Err(invalid) => invalid.to_string(),
        };
        let card = [(SRED_DATA, M2), (SRED_KSN, M2_KSN)];
        let with = |more: &[(&'static str, &'static str)]| [&card, more].concat();
        assert_eq!(says(&card[..1]), "pos.encryptedSred.ksn: required and not sent");
        assert_eq!(says(&with(&[(PIN_DATA, P1)])), "pos.encryptedPin.ksn: required with pos.encryptedPin.data");
        assert_eq!(says(&with(&[(PIN_KSN, P1_KSN)])), "pos.encryptedPin.data: required with pos.encryptedPin.ksn");
        let one_set = with(&[(PIN_DATA, P1), (PIN_KSN, "FFFF0102628D1100005F")]);
        assert_eq!(says(&one_set), "pos.encryptedPin.ksn: the PIN and the card data must come from one key set");
        assert_eq!(
            says(&with(&[(PIN_DATA, "8B68"), (PIN_KSN, P1_KSN)])),
            "pos.encryptedPin.data: a PIN block of ISO format 0 has 8 bytes"
        );
        // Counter 0, and a counter with eleven one bits.
        for ksn in ["FFFF0102628D11000000", "FFFF0102628D110007FF"] {
            assert!(says(&[(SRED_DATA, M2), (SRED_KSN, ksn)]).contains("no device can have"), "{ksn}");
        }
        assert!(says(&[(SRED_DATA, M2), (SRED_KSN, "FFFF0102628D11000000AA")]).contains("10 bytes"));
    }
}
