//! A card's answer as every family reports it: the card's decision, and the elements that the rules use. One walk over
//! the answer finds all elements. The rules judge the elements found and never search again.

use pos_terms::card::{ChipElements, MaskedPan, SealedCard, SealedPin, Wiped};
use pos_terms::emv::tlv::Tlv;
use pos_terms::emv::{Tag, TlvError, tag};

/// Maximum number of pieces of one sealed block. Some readers encrypt each element by itself. There are about ten kinds
/// of sensitive elements, and a tap may give some of them twice.
const MAX_PIECES: usize = 16;
/// Maximum length of the head of a piece: an initial value of TDES, or a tag of three bytes and a length of three.
const MAX_HEAD: usize = 8;

/// The card's decision, which a reader sends as the template around the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerTemplate {
    /// E2: the card asks for a decision.
    Decision,
    /// E3: approved.
    Approved,
    /// E4: go online.
    Online,
    /// E5: declined.
    Declined,
}

/// A card's answer.
#[derive(Clone, PartialEq, Eq)]
pub struct TransactionAnswer<'a> {
    /// The decision.
    pub template: AnswerTemplate,
    /// The elements, or an error if they are not BER-TLV.
    pub elements: Result<CardElements<'a>, TlvError>,
    /// The elements, unchanged. They go to the issuer, without those that the card's data must not contain.
    pub tlvs: &'a [u8],
}

// This is card data, so `Debug` shows only lengths and no elements.
impl std::fmt::Debug for TransactionAnswer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { template, elements, tlvs } = self;
        write!(f, "TransactionAnswer({template:?}, {} bytes, well-formed {})", tlvs.len(), elements.is_ok())
    }
}

/// The elements of a card's answer that the rules use. If an element occurs more than once, its first value counts,
/// unless its field says otherwise.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CardElements<'a> {
    /// The card's data for the receipt and the till.
    pub chip: ChipElements<'a>,
    /// 9F02: the amount.
    pub amount: SignedElement<'a>,
    /// 5F2A: the currency.
    pub currency: SignedElement<'a>,
    /// 5F2D: the language preference.
    pub language_preference: Option<&'a [u8]>,
    /// 9F39: the POS entry mode.
    pub pos_entry_mode: Option<&'a [u8]>,
    /// `true` if the family reports that the card was tapped in magstripe mode.
    pub magstripe_mode: bool,
    /// `true` if the family reports that the card was inserted, in the answer to a wait on every interface.
    pub inserted: bool,
    /// The first masked copy that is a PAN.
    pub masked_pan: Option<MaskedPan>,
    /// The sealed card data. If there are several blocks, the last one counts.
    pub sealed: Option<SealedBlock<'a>>,
    /// The sealed PIN, if block and KSN are present and not empty.
    pub pin: Option<PinBlock<'a>>,
    /// The first application of a request for a decision.
    pub application: Option<ApplicationChoice<'a>>,
    /// `true` if the request lists more than one application.
    pub several_applications: bool,
}

impl<'a> CardElements<'a> {
    /// Takes an object that has the same meaning in every family.
    pub(crate) fn see(&mut self, object: Tlv<'a>) {
        self.chip.see(object);
        let value = object.value;
        match object.tag {
            tag::AMOUNT_AUTHORISED => self.amount.see(value),
            tag::CURRENCY_CODE => self.currency.see(value),
            tag::LANGUAGE_PREFERENCE => self.language_preference = self.language_preference.or(Some(value)),
            tag::POS_ENTRY_MODE => self.pos_entry_mode = self.pos_entry_mode.or(Some(value)),
            _ => {}
        }
    }

    /// Takes the applications that were found in a request for a decision.
    pub(crate) fn take_applications(&mut self, found: FirstApplication<'a>) {
        self.several_applications = found.over;
        self.application = found.aid.map(|aid| ApplicationChoice { aid, label: found.label });
    }
}

/// An element that must equal the request wherever it occurs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SignedElement<'a> {
    value: Option<&'a [u8]>,
    contradicted: bool,
}

impl<'a> SignedElement<'a> {
    pub(crate) fn see(&mut self, value: &'a [u8]) {
        self.contradicted |= *self.value.get_or_insert(value) != value;
    }

    /// Checks that the element is present and has only this value.
    #[must_use]
    pub fn is(&self, expected: &[u8]) -> bool {
        self.value == Some(expected) && !self.contradicted
    }

    /// Checks that the element is missing.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.value.is_none()
    }
}

/// An application in a request for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplicationChoice<'a> {
    /// The identifier (4F).
    pub aid: &'a [u8],
    /// The label (50).
    pub label: Option<&'a [u8]>,
}

/// Finds the first application of a request for a decision, which has the highest priority, while the message is
/// walked. The form of the list is not published. This type accepts an identifier (4F, or 9F06) with a label (50)
/// before or after it, with or without a template around each pair.
#[derive(Default)]
pub(crate) struct FirstApplication<'a> {
    aid: Option<&'a [u8]>,
    /// The tag of the identifier.
    tag: Option<Tag>,
    label: Option<&'a [u8]>,
    /// `true` after the second application has begun.
    over: bool,
}

impl<'a> FirstApplication<'a> {
    pub(crate) fn see(&mut self, object: Tlv<'a>) {
        let Self { aid, tag, label, over } = self;
        // The same application may have two identifiers: the card's own, and the terminal's, which may be shorter (EMV
        // Book 1, 12.3.3).
        let is_same = |first: &[u8]| {
            *tag != Some(object.tag) && (first.starts_with(object.value) || object.value.starts_with(first))
        };
        match object.tag {
            _ if *over => {}
            tag::AID_CARD | tag::AID_TERMINAL if aid.is_some_and(is_same) => {}
            // EMV Book 1, 12.2.1: an identifier has 5 to 16 bytes.
            tag::AID_CARD | tag::AID_TERMINAL if (5..=16).contains(&object.value.len()) => {
                *over = aid.is_some();
                aid.get_or_insert(object.value);
                tag.get_or_insert(object.tag);
            }
            tag::APPLICATION_LABEL if (1..=16).contains(&object.value.len()) => {
                *over = label.is_some();
                label.get_or_insert(object.value);
            }
            _ => {}
        }
    }
}

/// Sealed card data in pieces, with the KSN. The pieces are joined when they are copied.
#[derive(Clone)]
pub struct SealedBlock<'a> {
    pieces: heapless::Vec<SealedPiece<'a>, MAX_PIECES>,
    /// The KSN.
    pub ksn: &'a [u8],
}

#[derive(Clone)]
struct SealedPiece<'a> {
    /// The part before the ciphertext: the initial value, or tag and length of an element that was encrypted by itself.
    head: heapless::Vec<u8, MAX_HEAD>,
    /// The ciphertext.
    data: &'a [u8],
}

/// Two blocks are equal if they have the same bytes, in whatever pieces.
impl PartialEq for SealedBlock<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.ksn == other.ksn && self.parts().flatten().eq(other.parts().flatten())
    }
}

impl Eq for SealedBlock<'_> {}

// This is card data, although sealed, so `Debug` shows only lengths.
impl std::fmt::Debug for SealedBlock<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { pieces, ksn } = self;
        write!(f, "Sealed({} pieces, KSN of {} bytes)", pieces.len(), ksn.len())
    }
}

impl<'a> SealedBlock<'a> {
    /// Joins these pieces, or returns `None` if there are more than a reader has.
    #[must_use]
    pub fn new(pieces: &[&'a [u8]], ksn: &'a [u8]) -> Option<Self> {
        let mut block = Self { pieces: heapless::Vec::new(), ksn };
        pieces.iter().all(|piece| block.push(&[], piece)).then_some(block)
    }

    /// Adds a piece with a head before it. Returns `false` if the block or the head is full.
    #[must_use]
    pub(crate) fn push(&mut self, head: &[u8], data: &'a [u8]) -> bool {
        heapless::Vec::from_slice(head).is_ok_and(|head| self.pieces.push(SealedPiece { head, data }).is_ok())
    }

    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().flat_map(|piece| [&piece.head[..], piece.data])
    }

    /// Returns whether there are no data.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.data.is_empty())
    }

    /// Creates a copy that is wiped when dropped. Returns `None` if the data are empty or too long, or if the KSN does
    /// not have 10 or 12 bytes.
    ///
    /// A ciphertext of zeros shows that the reader did not encrypt. Then it is the whole copy, because heads and other
    /// pieces would hide the zeros from the check of the keys ([`keys`](crate::keys)).
    #[must_use]
    pub fn to_card(&self) -> Option<SealedCard> {
        if self.is_empty() || !matches!(self.ksn.len(), 10 | 12) {
            return None;
        }
        let is_zeros = |data: &[u8]| !data.is_empty() && data.iter().all(|byte| *byte == 0);
        let data = match self.pieces.iter().find(|piece| is_zeros(piece.data)) {
            Some(zeros) => Wiped::copy_of(zeros.data)?,
            None => Wiped::joined(self.parts())?,
        };
        Some(SealedCard { data, ksn: Wiped::copy_of(self.ksn)? })
    }
}

/// A sealed PIN, unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PinBlock<'a> {
    /// The PIN block.
    pub block: &'a [u8],
    /// The KSN.
    pub ksn: &'a [u8],
}

// This is a PIN, although sealed, so `Debug` shows only lengths.
impl std::fmt::Debug for PinBlock<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { block, ksn } = self;
        write!(f, "PinBlock({} and {} bytes)", block.len(), ksn.len())
    }
}

impl<'a> PinBlock<'a> {
    /// Returns the PIN if both parts are present and not empty.
    pub(crate) fn of(block: Option<&'a [u8]>, ksn: Option<&'a [u8]>) -> Option<Self> {
        match (block, ksn) {
            (Some(block), Some(ksn)) if !block.is_empty() && !ksn.is_empty() => Some(Self { block, ksn }),
            _ => None,
        }
    }

    /// Creates a copy that is wiped when dropped. Returns `None` if the block does not have the length that belongs to
    /// the KSN's cipher: 8 bytes with TDES, 16 with AES (readers: 8.1 and 8.2).
    #[must_use]
    pub fn to_pin(self) -> Option<SealedPin> {
        if !matches!((self.block.len(), self.ksn.len()), (8, 10) | (16, 12)) {
            return None;
        }
        Some(SealedPin { block: Wiped::copy_of(self.block)?, ksn: Wiped::copy_of(self.ksn)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::emv::tlv;

    fn found(tlvs: &[u8]) -> CardElements<'_> {
        let mut found = CardElements::default();
        tlv::visit(tlvs, &mut |object| found.see(object)).unwrap();
        found
    }

    #[test]
    fn an_amount_that_is_contradicted_anywhere_is_not_the_one_that_was_asked_for() {
        for (tlvs, is) in
            [("9F020101", true), ("9F0201019F020101", true), ("9F020101E0049F020102", false), ("9F020102", false)]
        {
            let tlvs = hex::decode(tlvs).unwrap();
            let found = found(&tlvs);
            assert_eq!(found.amount.is(&[1]), is, "{tlvs:02X?}");
            assert!(found.currency.is_missing() && !found.currency.is(&[]));
        }
        let dollars = found(&[0x5F, 0x2A, 0x02, 0x08, 0x40]);
        assert!(dollars.currency.is(&[0x08, 0x40]) && !dollars.currency.is(&[0x09, 0x78]));
        assert!(!dollars.currency.is_missing(), "another currency is no missing one");
    }

    #[test]
    fn sealed_pieces_are_joined_or_refused() {
        let ksn = [7; 10];
        let card = SealedBlock::new(&[&[1, 2], &[3]], &ksn).unwrap().to_card().unwrap();
        assert_eq!((card.data.expose(), card.ksn.expose()), (&[1, 2, 3][..], &ksn[..]));
        assert!(SealedBlock::new(&[&[], &[]], &ksn).unwrap().to_card().is_none(), "no data");
        assert!(SealedBlock::new(&[&[1]], &ksn[..9]).unwrap().to_card().is_none(), "a KSN of nine bytes");
        assert!(
            SealedBlock::new(&[&[1; 1024], &[1]], &ksn).unwrap().to_card().is_none(),
            "more than the gateway takes"
        );
        assert!(SealedBlock::new(&[&[1][..]; MAX_PIECES + 1], &ksn).is_none());
    }

    #[test]
    fn a_ciphertext_of_zeros_is_not_hidden_by_what_is_beside_it() {
        let ksn = [7; 10];
        let sealed = |pieces: &[(&[u8], &'static [u8])]| {
            let mut block = SealedBlock::new(&[], &ksn).unwrap();
            assert!(pieces.iter().all(|(head, data)| block.push(head, data)));
            block.to_card().unwrap().data.expose().to_vec()
        };
        assert_eq!(sealed(&[(&[9; 8], &[0; 16])]), [0; 16], "after an initial value");
        assert_eq!(sealed(&[(&[0x57, 8], &[1; 8]), (&[0x5A, 8], &[0; 8])]), [0; 8], "beside a good one");
        assert_eq!(sealed(&[(&[0; 8], &[1; 8])]), [&[0; 8][..], &[1; 8]].concat(), "an initial value of zeros");
    }

    #[test]
    fn a_pin_block_fits_its_ksn() {
        for (block, ksn, fits) in [(8, 10, true), (16, 12, true), (8, 12, false), (16, 10, false), (8, 0, false)] {
            let pin = PinBlock { block: &[0xAA; 16][..block], ksn: &[0xFF; 12][..ksn] };
            assert_eq!(pin.to_pin().is_some(), fits, "{block} {ksn}");
        }
    }

    #[test]
    fn a_list_of_applications_is_told_from_one_application() {
        for (tlvs, several) in [
            ("500156 4F05A000000003", false),
            ("4F05A000000003 500156", false),
            ("4F05A000000003 500156 4F05A000000004 50014D", true),
            ("500156 4F05A000000003 50014D 4F05A000000004", true),
            ("610A4F05A0000000035001 56".trim_end(), false),
        ] {
            let tlvs = hex::decode(tlvs.replace(' ', "")).unwrap();
            let mut applications = FirstApplication::default();
            let mut found = CardElements::default();
            tlv::visit(&tlvs, &mut |object| applications.see(object)).unwrap();
            found.take_applications(applications);
            assert_eq!(found.several_applications, several, "{tlvs:02X?}");
            assert_eq!(found.application.unwrap().aid, [0xA0, 0, 0, 0, 3]);
        }
    }
}
