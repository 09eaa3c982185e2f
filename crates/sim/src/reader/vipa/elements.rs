//! The templates of a transaction: the list of candidates and the decision request (E2), and the card's decisions (E3,
//! E4, E5, and E7 for a tap in magstripe mode) (readers: 3.3, 3.4).

use super::masked;
use crate::reader::deck::{Application, Card};
use crate::reader::emv_transaction::{Decision, EmvTransaction, Interface};
use crate::reader::keys::{Sealed, bytes};
use crate::reader::objects::{self, template};

/// C1 in an E2, as in a capture. Its meaning is UNCERTAIN.
const C1: [u8; 1] = [0x00];
/// Effective date, usage control, and version numbers of card and reader, as in a capture (readers: 3.7).
const EFFECTIVE: [u8; 3] = [0x17, 0x11, 0x01];
const USAGE: [u8; 2] = [0xFF, 0x00];
const VERSION: [u8; 2] = [0x00, 0x01];

/// The elements of an E2, in the order of the capture (readers: 3.7). FF7F comes before them, and FF7C after them.
const E2_LIST: &[u32] = &[0x50, 0x57, 0x5A, 0x5F24, 0x5F25, 0x5F28, 0x5F30, 0x5F34, 0x9F06, 0x9F07, 0x9F08, 0x9F09];
/// The elements of a decision. No list for VIPA is published, so these are the elements that a gateway needs.
const DECISION_LIST: &[u32] = &[
    0x8A, 0x4F, 0x50, 0x57, 0x5A, 0x5F20, 0x5F24, 0x5F28, 0x5F2A, 0x5F2D, 0x5F30, 0x5F34, 0x82, 0x84, 0x95, 0x9A, 0x9B,
    0x9C, 0x9F02, 0x9F03, 0x9F06, 0x9F09, 0x9F10, 0x9F1A, 0x9F1E, 0x9F26, 0x9F27, 0x9F33, 0x9F34, 0x9F35, 0x9F36,
    0x9F37, 0x9F39, 0x9F41, 0x9F42, 0x9F5B, 0xDFED6C, 0xDFED03,
];

/// 9F39, the entry mode.
const CHIP: u8 = 0x05;
const TAP: u8 = 0x07;
const TAP_MAGSTRIPE: u8 = 0x91;

/// Returns an E2 with several candidates, each as a pair 50 and 9F06.
pub(super) fn candidates(candidates: &[Application]) -> Vec<u8> {
    let mut inner = Vec::new();
    for candidate in candidates {
        objects::put(&mut inner, 0x50, candidate.label.as_bytes());
        objects::put(&mut inner, 0x9F06, candidate.aid);
    }
    objects::object(0xE2, &inner)
}

/// Returns an E2 that asks for the host's decision. `block` is the encrypted card data.
pub(super) fn decision_request(transaction: &EmvTransaction, block: &[u8], token: &Token) -> Vec<u8> {
    let all = [own(transaction), transaction.open_elements()].concat();
    let inner = [&objects::object(0xC1, &C1)[..], block, &transaction.listed(&all, E2_LIST), &token.ff7c()].concat();
    objects::object(0xE2, &inner)
}

/// Returns the template of a decision. `block` is the encrypted card data of a tap.
pub(super) fn decision(
    transaction: &EmvTransaction,
    decision: Decision,
    arc: Option<[u8; 2]>,
    block: &[u8],
    pin: Option<&Sealed>,
) -> Vec<u8> {
    let tag = match decision {
        Decision::Online if transaction.is_magstripe_mode() => 0xE7,
        Decision::Approved => 0xE3,
        Decision::Online => 0xE4,
        Decision::Declined => 0xE5,
    };
    let mut all = [own(transaction), transaction.signed(decision)].concat();
    if let Some(arc) = arc {
        objects::put(&mut all, 0x8A, &arc);
    }
    if let Some(pin) = pin {
        objects::put(&mut all, 0xDFED6C, &pin.data);
        objects::put(&mut all, 0xDFED03, &pin.ksn);
    }
    objects::object(tag, &[block, &transaction.listed(&all, DECISION_LIST)].concat())
}

/// Returns the elements that only VIPA has, and those whose values differ from the kernel's.
fn own(transaction: &EmvTransaction) -> Vec<u8> {
    let card = transaction.card;
    let mode = match transaction.interface {
        Interface::Contact => CHIP,
        Interface::Contactless if transaction.is_magstripe_mode() => TAP_MAGSTRIPE,
        Interface::Contactless => TAP,
    };
    let (track2, pan) = if transaction.is_secured() {
        (masked::track2_equivalent(card), masked::pan(card))
    } else {
        (bytes(&card.track2_equivalent()), bytes(&card.pan_digits()))
    };
    let elements: [(u32, &[u8]); 7] = [
        (0x57, &track2),
        (0x5A, &pan),
        (0x5F25, &EFFECTIVE),
        (0x9F07, &USAGE),
        (0x9F08, &VERSION),
        (0x9F09, &VERSION),
        (0x9F39, &[mode]),
    ];
    elements.into_iter().flat_map(|(tag, value)| objects::object(tag, value)).collect()
}

/// The token of a card (FF7C), by which a merchant recognises it.
pub(super) struct Token {
    hash: [u8; 32],
    key: [u8; 3],
}

impl Token {
    /// Makes the token of a card. How a real reader computes it is not published.
    pub(super) fn of(card: &Card) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, card.pan.as_bytes());
        let mut hash = [0; 32];
        hash.copy_from_slice(digest.as_ref());
        let [a, b, c, ..] = hash;
        Self { hash, key: [c, b, a] }
    }

    fn ff7c(&self) -> Vec<u8> {
        template(0xFF7C, &[(0xDF837F, &self.hash), (0xDF837E, &self.key)])
    }
}

/// The complete E2 of a real reader (readers: 3.7). Copied by hand from documents. Never edit it to make a test pass.
#[cfg(test)]
mod frozen {
    use super::super::sealed::ff7f;
    use super::*;
    use crate::reader::deck::card;
    use crate::reader::emv_transaction::{Numbers, StartTerms, Terminal};
    use pos_reader_link::apdu_link::{self, Nad};

    const E2: &str = "0100EAE281E5C10100FF7F4EDFDF1208ED02AA537757D99FDFDF110AFFFF98765432110010A4DFDF102031846E94DC3183BA6DC45E2A6AC6DEF03F93434756A4D0261572B5C23519BFC0DFDB0F0400000000DFDB0E0400000D015010414D45524943414E20455850524553535713374245AAAAA1006D2412201AAAAAAAAAAAAAAA5A08374245AAAAA1006F5F24032412315F25031711015F280208405F300202015F3401009F0606A000000025019F0702FF009F080200019F09020001FF7C2BDF837F20FDCC8BA35EE1901DE86A23AF78F5A636FC9E3E1541FB8ED46E34DF6C12ED1260DF837E03E7C4D99000ED";

    #[test]
    fn an_e2_is_that_of_a_capture() {
        let application = Application { aid: &[0xA0, 0x00, 0x00, 0x00, 0x25, 0x01], label: "AMERICAN EXPRESS" };
        let card: &'static Card = Box::leak(Box::new(Card {
            pan: "374245001751006",
            psn: 0,
            expiry: "2412",
            discretionary: "17111234500000",
            aid: application.aid,
            label: application.label,
            ..*card("chip-pin").unwrap()
        }));
        let terminal = Terminal { serial: "12345678".to_owned(), country: [0x08, 0x40], pin_key: true, secured: true };
        let terms = StartTerms {
            kind: 0,
            amount: [0, 0, 0, 0, 0x32, 0x50],
            other: [0; 6],
            date: [0x21, 0x03, 0x03],
            currency: [0x08, 0x40],
            country: None,
        };
        let numbers = Numbers { atc: 1, unpredictable: 1, sequence: 1 };
        let transaction = EmvTransaction::new(card, application, Interface::Contact, terminal, terms, &numbers);
        let sealed = Sealed {
            data: bytes("31846E94DC3183BA6DC45E2A6AC6DEF03F93434756A4D0261572B5C23519BFC0"),
            ksn: bytes("FFFF98765432110010A4"),
        };
        let token = Token {
            hash: bytes("FDCC8BA35EE1901DE86A23AF78F5A636FC9E3E1541FB8ED46E34DF6C12ED1260").try_into().unwrap(),
            key: bytes("E7C4D9").try_into().unwrap(),
        };
        let body = decision_request(&transaction, &ff7f(&bytes("ED02AA537757D99F"), &sealed), &token);
        let message = [&body[..], &[0x90, 0x00]].concat();
        let packets: Vec<u8> =
            apdu_link::chain(Nad::Reader, false, &message, apdu_link::MAX_APDU).unwrap().flatten().collect();
        assert_eq!(hex::encode_upper(packets), E2);
    }
}
