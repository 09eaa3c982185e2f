//! The simulated issuers: the PINs and cryptograms of their cards (Visa CVN 18 and CVN 10), and the scripts that one of
//! them sends. `test_card` lists the cards.
//!
//! An issuer checks that the card is known and valid, that its cryptogram is correct and new, and that a sent PIN is
//! correct. There are no account balances: the cents decide which payments are declined for lack of money (`outcomes`).

use std::collections::HashSet;

use super::declined::{Declined, EXPIRED_CARD};
use super::invalid::Invalid;
use super::test_card::{self, CardStatus};
use pos_keys::cryptogram::{self, CSU_APPROVED, CSU_DECLINED};
use pos_keys::issuer_script::{PIN_UNBLOCK, ScriptKey};
use pos_keys::pin_block::{Malformed, Pin};
use pos_keys::{TEST_IMK_AC, TEST_IMK_SMI};
use pos_terms::emv::{Tag, tag, tlv};

const UNKNOWN_CARD: Declined =
    Declined { code: "800.100.151", description: "transaction declined (invalid card)", arc: *b"14" };
const LOST_CARD: Declined =
    Declined { code: "800.100.165", description: "transaction declined (card lost)", arc: *b"41" };
const PIN_TRIES_EXCEEDED: Declined =
    Declined { code: "800.100.161", description: "transaction declined (too many invalid tries)", arc: *b"75" };
const WRONG_PIN: Declined = Declined {
    code: "800.100.166",
    description: "transaction declined (incorrect personal identification number)",
    arc: *b"55",
};
const WRONG_CRYPTOGRAM: Declined = Declined {
    code: "800.100.158",
    description: "transaction declined (suspecting manipulation): the card's cryptogram is wrong",
    arc: *b"05",
};
const REPLAYED: Declined = Declined {
    code: "800.100.158",
    description: "transaction declined (suspecting manipulation): the card's cryptogram was used before",
    arc: *b"05",
};

/// All issuers as one value.
pub(super) struct Issuer {
    keys: cryptogram::Issuer,
    /// The PAN, PAN sequence number and ATC of every accepted cryptogram.
    used: HashSet<(String, u8, [u8; 2])>,
}

/// The chip data of a request.
pub(super) struct ChipData {
    tlvs: Vec<u8>,
    psn: u8,
    atc: [u8; 2],
    /// True if 9F34 says that a PIN was entered for online verification (EMV Book 3, C3).
    pub wants_online_pin: bool,
    /// True if the TVR says that the PIN try limit of the chip is exceeded (byte 3 bit 6; EMV Book 3, C5).
    pin_tries_exceeded: bool,
}

/// Tags that must not leave the terminal in clear (design: invariant 7), and the reader's encrypted blocks, which have
/// separate parameters.
const NOT_WANTED: &[u32] = &[
    0x56, 0x57, 0x5A, 0x5F20, 0x5F21, 0x5F22, 0x5F23, 0x5F24, 0x99, 0x9F1F, 0x9F20, 0x9F6B, 0xDFAE02, 0xDFAE03,
    0xDFAE04, 0xDFAE05,
];

const ICC: &str = "pos.iccDataRequest";

/// Checks that `tlvs` holds TLVs without card data.
pub(super) fn check_tlvs(tlvs: &[u8]) -> Result<(), Invalid> {
    let mut unwanted = None;
    tlv::visit(tlvs, &mut |object| {
        if NOT_WANTED.contains(&object.tag.0) {
            unwanted = unwanted.or(Some(object.tag));
        }
    })
    .map_err(|why| Invalid::new(ICC, why.to_string()))?;
    match unwanted {
        Some(tag) => Err(Invalid::new(ICC, format!("tag {tag:?} must not be sent here"))),
        None => Ok(()),
    }
}

impl ChipData {
    /// Reads the chip data and compares them with the request. The card has signed 9F02 and 5F2A, and the request
    /// charges `amount` and `currency`.
    ///
    /// `minor` is the amount in the currency's minor units, `numeric` its ISO 4217 number; `psn` is
    /// `pos.panSequenceNumber`. If `gets` is true, the card receives money, and it usually answers with an AAC (design:
    /// the path of a sale).
    pub(super) fn read(
        tlvs: Vec<u8>,
        minor: u64,
        numeric: u16,
        psn: Option<&str>,
        gets: bool,
    ) -> Result<Self, Invalid> {
        let value = |tag: Tag| {
            let value = tlv::find(&tlvs, tag).map_err(|why| Invalid::new(ICC, why.to_string()))?;
            value.ok_or_else(|| Invalid::new(ICC, format!("lacks tag {tag:?}")))
        };
        if value(tag::APPLICATION_CRYPTOGRAM)?.len() != 8 {
            return Err(Invalid::new(ICC, "9F26 does not have 8 bytes"));
        }
        // Accepts an ARQC (80), or a TC (40) of a card that approved offline although the terminal went online.
        if !matches!(value(tag::CRYPTOGRAM_INFORMATION)?, [cid] if matches!(cid & 0xC0, 0x80 | 0x40) || gets && cid & 0xC0 == 0)
        {
            return Err(Invalid::new(ICC, "9F27 is neither an ARQC nor a TC"));
        }
        if hex::encode(value(tag::AMOUNT_AUTHORISED)?) != format!("{minor:012}") {
            return Err(Invalid::new(ICC, "9F02 differs from amount"));
        }
        if hex::encode(value(tag::CURRENCY_CODE)?) != format!("{numeric:04}") {
            return Err(Invalid::new(ICC, "5F2A differs from currency"));
        }
        let atc = value(tag::ATC)?.try_into().map_err(|_| Invalid::new(ICC, "9F36 does not have 2 bytes"))?;
        let chip_psn = match tlv::find(&tlvs, tag::PAN_SEQUENCE_NUMBER) {
            Ok(Some([bcd])) if bcd >> 4 < 10 && bcd & 0xF < 10 => Some((bcd >> 4) * 10 + (bcd & 0xF)),
            Ok(Some(_)) => return Err(Invalid::new(ICC, "5F34 is not two decimal digits")),
            _ => None,
        };
        let said_psn =
            psn.map(|text| text.parse::<u8>().map_err(|_| Invalid::new("pos.panSequenceNumber", "above 99")));
        let psn = match (chip_psn, said_psn.transpose()?) {
            (Some(chip), Some(said)) if chip != said => {
                return Err(Invalid::new("pos.panSequenceNumber", "differs from 5F34"));
            }
            (chip, said) => chip.or(said).unwrap_or(0),
        };
        let cvm = tlv::find(&tlvs, tag::CVM_RESULTS).ok().flatten().and_then(|results| results.first().copied());
        let wants_online_pin = cvm.is_some_and(|method| method & 0x3F == 0x02);
        let tvr = tlv::find(&tlvs, tag::TVR).ok().flatten();
        let pin_tries_exceeded = tvr.and_then(|tvr| tvr.get(2)).is_some_and(|byte| byte & 0x20 != 0);
        Ok(Self { tlvs, psn, atc, wants_online_pin, pin_tries_exceeded })
    }
}

impl Issuer {
    pub(super) fn new() -> Self {
        Self { keys: cryptogram::Issuer::new(TEST_IMK_AC), used: HashSet::new() }
    }

    /// Decides about a card. The card must be known and valid, its cryptogram correct and new, and a sent PIN correct.
    pub(super) fn decide(
        &mut self,
        pan: &str,
        pin: Option<Result<Pin, Malformed>>,
        chip: Option<&ChipData>,
    ) -> Result<(), Declined> {
        let record = test_card::find(pan).ok_or(UNKNOWN_CARD)?;
        if let Some(chip) = chip {
            self.check_cryptogram(pan, chip)?;
        }
        match record.status {
            CardStatus::Lost => return Err(LOST_CARD),
            CardStatus::Expired => return Err(EXPIRED_CARD),
            CardStatus::Active | CardStatus::Scripts => {}
        }
        if chip.is_some_and(|chip| chip.pin_tries_exceeded) {
            return Err(PIN_TRIES_EXCEEDED);
        }
        match pin {
            None => Ok(()),
            Some(pin) => {
                let right = Pin::new(record.pin).expect("the table holds PINs of 4 digits");
                if pin.is_ok_and(|pin| pin.is(&right)) { Ok(()) } else { Err(WRONG_PIN) }
            }
        }
    }

    /// Decides about a stored card, for which only the first six and last four digits are known.
    pub(super) fn decide_stored(bin: &str, last4: &str) -> Result<(), Declined> {
        match test_card::find_stored(bin, last4).ok_or(UNKNOWN_CARD)?.status {
            CardStatus::Lost => Err(LOST_CARD),
            CardStatus::Expired => Err(EXPIRED_CARD),
            CardStatus::Active | CardStatus::Scripts => Ok(()),
        }
    }

    /// Returns the chip response as upper-case hex. It has tag 8A, tag 91 for a cryptogram that can be answered, and
    /// scripts for a card that must change.
    pub(super) fn icc_response(&self, pan: &str, chip: &ChipData, arc: [u8; 2], approved: bool) -> String {
        let csu = if approved { CSU_APPROVED } else { CSU_DECLINED };
        let tag_91 = self
            .keys
            .card_key(pan, chip.psn)
            .and_then(|key| key.issuer_authentication(&chip.tlvs, arc, csu))
            .map(|value| format!("91{:02X}{}", value.len(), hex::encode_upper(&value)))
            .unwrap_or_default();
        let scripts = scripts(pan, chip).unwrap_or_default();
        format!("8A02{}{tag_91}{}", hex::encode_upper(arc), hex::encode_upper(scripts))
    }

    /// Returns additional scripts for a card that must change. With the others, they exceed one packet to a reader.
    pub(super) fn more_scripts(&self, pan: &str, chip: &ChipData) -> String {
        let limits = |key: ScriptKey| {
            let one = |id| key.script(0x72, [0, 0, 0, id], [0x84, 0xDA, 0x9F, 0x58], &[5; 100]);
            hex::encode_upper([one(3), one(4)].concat())
        };
        script_key(pan, chip).map(limits).unwrap_or_default()
    }

    fn check_cryptogram(&mut self, pan: &str, chip: &ChipData) -> Result<(), Declined> {
        let verified = self.keys.card_key(pan, chip.psn).and_then(|key| key.verify(&chip.tlvs));
        if verified != Ok(true) {
            return Err(WRONG_CRYPTOGRAM);
        }
        if self.used.insert((pan.to_owned(), chip.psn, chip.atc)) { Ok(()) } else { Err(REPLAYED) }
    }
}

/// Returns the scripts for a card that must change. The script before the last cryptogram unblocks the PIN. The script
/// after it sets a limit (PUT DATA of 9F58, consecutive offline transactions).
fn scripts(pan: &str, chip: &ChipData) -> Option<Vec<u8>> {
    let key = script_key(pan, chip)?;
    let unblock = key.script(0x71, [0, 0, 0, 1], PIN_UNBLOCK, &[]);
    let limit = key.script(0x72, [0, 0, 0, 2], [0x84, 0xDA, 0x9F, 0x58], &[5]);
    Some([unblock, limit].concat())
}

/// Returns the script key for this card and transaction, if the card must change.
fn script_key(pan: &str, chip: &ChipData) -> Option<ScriptKey> {
    test_card::find(pan).filter(|record| record.status == CardStatus::Scripts)?;
    let arqc = tlv::find(&chip.tlvs, tag::APPLICATION_CRYPTOGRAM).ok()??.try_into().ok()?;
    ScriptKey::new(&cryptogram::Issuer::new(TEST_IMK_SMI), pan, chip.psn, chip.atc, arqc).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The vector e2e-field55-cvn18 of the published set, copied by hand. Never edit these bytes to make a test pass.
    const FIELD_55: &str = concat!(
        "5F2A0201245F340100820218008407A0000000031010950580000480009A031911059C01019F02060000000040009F03",
        "060000000000009F0902008C9F100706011203A0B8009F1A0201249F1E0831323334353637389F26087A788EA6B8A3E7",
        "339F2701809F3303E0F8C89F34034103029F3501229F3602001C9F370452BF45859F410400000001"
    );
    const PAN: &str = "1234567890123456";

    fn chip(tlvs: &str, minor: u64, numeric: u16) -> Result<ChipData, Invalid> {
        ChipData::read(hex::decode(tlvs).unwrap(), minor, numeric, None, false)
    }

    #[test]
    fn the_published_field_55_verifies_once() {
        // 40.00 in Canadian dollars (124).
        let chip = chip(FIELD_55, 4000, 124).unwrap();
        let mut issuer = Issuer::new();
        assert_eq!(issuer.check_cryptogram(PAN, &chip), Ok(()));
        assert_eq!(issuer.check_cryptogram(PAN, &chip), Err(REPLAYED));
        // A decline has ARC 05, and the vector's tag 91 with CSU 00000000.
        assert_eq!(issuer.icc_response(PAN, &chip, *b"05", false), "8A02303591089AF514C100000000");
    }

    #[test]
    fn every_changed_field_is_noticed() {
        let flip = |at: &str| {
            let start = FIELD_55.find(at).unwrap() + at.len();
            let last = FIELD_55.as_bytes()[start + 1];
            let other = if last == b'1' { "2" } else { "1" };
            [&FIELD_55[..=start], other, &FIELD_55[start + 2..]].concat()
        };
        for field in ["9F1A02", "9505", "9A03", "9C01", "9F3704", "8202", "9F3602", "9F1007", "9F2608", "9F0306"] {
            let chip = chip(&flip(field), 4000, 124);
            let wrong = chip.map(|chip| Issuer::new().check_cryptogram(PAN, &chip));
            assert!(!matches!(wrong, Ok(Ok(()))), "{field}");
        }
    }

    #[test]
    fn the_chip_must_have_signed_what_is_charged() {
        let says = |result: Result<ChipData, Invalid>| result.err().map(|invalid| invalid.to_string()).unwrap();
        assert_eq!(says(chip(FIELD_55, 4001, 124)), "pos.iccDataRequest: 9F02 differs from amount");
        assert_eq!(says(chip(FIELD_55, 4000, 978)), "pos.iccDataRequest: 5F2A differs from currency");
        let aac = FIELD_55.replace("9F270180", "9F270100");
        assert_eq!(says(chip(&aac, 4000, 124)), "pos.iccDataRequest: 9F27 is neither an ARQC nor a TC");
        let without = FIELD_55.replace("9F26087A788EA6B8A3E733", "");
        assert_eq!(says(chip(&without, 4000, 124)), "pos.iccDataRequest: lacks tag 9F26");
        let tlvs = hex::decode(FIELD_55).unwrap();
        let psn = ChipData::read(tlvs, 4000, 124, Some("01"), false);
        assert_eq!(says(psn), "pos.panSequenceNumber: differs from 5F34");
    }

    #[test]
    fn a_stored_card_is_one_card() {
        assert_eq!(Issuer::decide_stored("476173", "0119"), Ok(()));
        assert_eq!(Issuer::decide_stored("476173", "0036"), Err(LOST_CARD));
        assert_eq!(Issuer::decide_stored("444433", "1111"), Err(UNKNOWN_CARD));
    }

    #[test]
    fn card_data_in_clear_is_refused_at_any_depth() {
        for tlvs in ["5A084761739001010119", "70035A0147", "9F260800000000000000005F24032212 31", "DFAE020100"] {
            let bytes = hex::decode(tlvs.replace(' ', "")).unwrap();
            assert!(check_tlvs(&bytes).is_err(), "{tlvs}");
        }
        assert!(check_tlvs(&hex::decode(FIELD_55).unwrap()).is_ok());
        assert!(check_tlvs(&[0x9F]).is_err());
    }

    #[test]
    fn pins_and_cards() {
        let mut issuer = Issuer::new();
        let pin = |digits| Some(Pin::new(digits));
        assert_eq!(issuer.decide("4761739001010119", None, None), Ok(()));
        assert_eq!(issuer.decide("4761739001010119", pin("1234"), None), Ok(()));
        assert_eq!(issuer.decide("4761739001010119", pin("1235"), None), Err(WRONG_PIN));
        assert_eq!(issuer.decide("4761739001010119", Some(Err(Malformed)), None), Err(WRONG_PIN));
        assert_eq!(issuer.decide("4444333322221111", None, None), Err(UNKNOWN_CARD));
        assert_eq!(issuer.decide("4761739001010036", None, None), Err(LOST_CARD));
    }
}
