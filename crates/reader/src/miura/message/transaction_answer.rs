//! A card's answer to START, START CONTACTLESS and CONTINUE TRANSACTION: one template (E2 to E5) and its elements. One
//! walk finds all elements (readers: 2.5 to 2.7). The rules judge the elements found and never search again.

use super::element::{MessageBody, MessageError, tags, wrapped};
use super::masked::masked_pan;
use super::sealed::{LastSredBlock, PinBlock, SredBlock};
use super::transaction::{ApplicationChoice, FirstApplication};
use pos_terms::card::{ChipElements, MaskedPan};
use pos_terms::emv::{Tag, TlvError, tag, tlv};

/// The template around the elements.
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

impl AnswerTemplate {
    fn tag(self) -> Tag {
        match self {
            Self::Decision => Tag(0xE2),
            Self::Approved => Tag(0xE3),
            Self::Online => Tag(0xE4),
            Self::Declined => Tag(0xE5),
        }
    }
}

/// The answer to START, START CONTACTLESS and CONTINUE.
#[derive(Clone, PartialEq, Eq)]
pub struct TransactionAnswer<'a> {
    /// The template.
    pub template: AnswerTemplate,
    /// The elements in the template, or an error if they are not BER-TLV.
    pub elements: Result<CardElements<'a>, TlvError>,
    /// The content of the template, unchanged. It goes to the issuer, without the elements that the card's data must
    /// not contain.
    pub tlvs: &'a [u8],
}

// This is card data, so `Debug` shows only lengths and no elements.
impl std::fmt::Debug for TransactionAnswer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { template, elements, tlvs } = self;
        write!(f, "TransactionAnswer({template:?}, {} bytes, well-formed {})", tlvs.len(), elements.is_ok())
    }
}

impl<'a> TransactionAnswer<'a> {
    /// Builds an answer with `tlvs` in `template`.
    #[must_use]
    pub fn new(template: AnswerTemplate, tlvs: &'a [u8]) -> Self {
        Self { template, elements: CardElements::parse(tlvs), tlvs }
    }

    /// Reads the body. One template must fill it, so a packet lost from a chain is noticed.
    ///
    /// # Errors
    /// Fails if the body has another form.
    pub fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        let mut objects = tlv::walk(body);
        let object = objects.next().ok_or(MessageError::Length { bytes: body.len() })??;
        if objects.next().is_some() {
            return Err(MessageError::Length { bytes: body.len() });
        }
        let template =
            [AnswerTemplate::Decision, AnswerTemplate::Approved, AnswerTemplate::Online, AnswerTemplate::Declined]
                .into_iter()
                .find(|template| template.tag() == object.tag)
                .ok_or(MessageError::Malformed(object.tag))?;
        Ok(Self::new(template, object.value))
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// Returns [`TlvError::Full`] if it is too long.
    pub fn encode(&self) -> Result<MessageBody, TlvError> {
        wrapped(self.template.tag(), self.tlvs)
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
    /// DF30: contactless kernel and mode.
    pub kernel_mode: Option<&'a [u8]>,
    /// The first masked copy that is a PAN: DFAE57, DFAE5A or DFAE22.
    pub masked_pan: Option<MaskedPan>,
    /// DFAE02 and DFAE03, the last pair.
    pub sealed: Option<SredBlock<'a>>,
    /// DFAE04 and DFAE05, if both are present and not empty.
    pub pin: Option<PinBlock<'a>>,
    /// The first application of an E2.
    pub application: Option<ApplicationChoice<'a>>,
}

/// An element that must equal the request wherever it occurs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SignedElement<'a> {
    value: Option<&'a [u8]>,
    contradicted: bool,
}

impl<'a> SignedElement<'a> {
    fn see(&mut self, value: &'a [u8]) {
        self.contradicted |= *self.value.get_or_insert(value) != value;
    }

    /// Checks that the element is present and has only this value.
    pub(in crate::miura) fn is(&self, expected: &[u8]) -> bool {
        self.value == Some(expected) && !self.contradicted
    }

    /// Checks that the element is missing.
    pub(in crate::miura) fn is_missing(&self) -> bool {
        self.value.is_none()
    }
}

impl<'a> CardElements<'a> {
    fn parse(tlvs: &'a [u8]) -> Result<Self, TlvError> {
        let mut found = Self::default();
        let (mut sred, mut application) = (LastSredBlock::default(), FirstApplication::default());
        let (mut pin_block, mut pin_ksn) = (None, None);
        tlv::visit(tlvs, &mut |object| {
            let value = object.value;
            found.chip.see(object);
            sred.see(object);
            application.see(object);
            match object.tag {
                tag::AMOUNT_AUTHORISED => found.amount.see(value),
                tag::CURRENCY_CODE => found.currency.see(value),
                tag::LANGUAGE_PREFERENCE => found.language_preference = found.language_preference.or(Some(value)),
                tag::POS_ENTRY_MODE => found.pos_entry_mode = found.pos_entry_mode.or(Some(value)),
                tags::KERNEL_MODE => found.kernel_mode = found.kernel_mode.or(Some(value)),
                tags::PIN_BLOCK => pin_block = pin_block.or(Some(value)),
                tags::PIN_KSN => pin_ksn = pin_ksn.or(Some(value)),
                tag if found.masked_pan.is_none() => found.masked_pan = masked_pan(tag, value),
                _ => {}
            }
        })?;
        found.sealed = sred.block;
        found.application = application.choice();
        found.pin = match (pin_block, pin_ksn) {
            (Some(block), Some(ksn)) if !block.is_empty() && !ksn.is_empty() => Some(PinBlock { block, ksn }),
            _ => None,
        };
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_counts_and_the_last_sealed_pair() {
        let tlvs = "9F3901055F2D026465 9F390107 DFAE0201AADFAE030101 DFAE0201BBDFAE030102 DFAE0401CC 950500000080009F34031E0300";
        let tlvs = hex::decode(tlvs.replace(' ', "")).unwrap();
        let found = TransactionAnswer::new(AnswerTemplate::Online, &tlvs).elements.unwrap();
        assert_eq!(found.pos_entry_mode, Some(&[5][..]));
        assert_eq!(found.language_preference, Some(&b"de"[..]));
        assert!(found.sealed == Some(SredBlock { data: &[0xBB], ksn: &[2] }));
        assert!(found.pin.is_none(), "a PIN block without its KSN is none");
        assert_eq!(found.chip.cvm(), Some(pos_terms::card::Cvm::Signature));
        assert!(!found.chip.has_cryptogram());
    }

    #[test]
    fn a_pin_is_a_block_with_its_key_serial_number() {
        for (tlvs, is_there) in
            [("DFAE0401CCDFAE050101", true), ("DFAE0400DFAE050101", false), ("DFAE0401CCDFAE0500", false)]
        {
            let tlvs = hex::decode(tlvs).unwrap();
            let found = TransactionAnswer::new(AnswerTemplate::Online, &tlvs).elements.unwrap();
            assert_eq!(found.pin.is_some(), is_there, "{tlvs:02X?}");
        }
    }

    #[test]
    fn an_amount_that_is_contradicted_anywhere_is_not_the_one_that_was_asked_for() {
        for (tlvs, is) in
            [("9F020101", true), ("9F0201019F020101", true), ("9F020101E0049F020102", false), ("9F020102", false)]
        {
            let tlvs = hex::decode(tlvs).unwrap();
            let found = TransactionAnswer::new(AnswerTemplate::Online, &tlvs).elements.unwrap();
            assert_eq!(found.amount.is(&[1]), is, "{tlvs:02X?}");
            assert!(found.currency.is_missing() && !found.currency.is(&[]));
        }
        let dollars = TransactionAnswer::new(AnswerTemplate::Online, &[0x5F, 0x2A, 0x02, 0x08, 0x40]).elements.unwrap();
        assert!(dollars.currency.is(&[0x08, 0x40]) && !dollars.currency.is(&[0x09, 0x78]));
        assert!(!dollars.currency.is_missing(), "another currency is no missing one");
        let cut = TransactionAnswer::new(AnswerTemplate::Online, &[0x9F, 0x02, 0x06, 0x00]);
        assert!(cut.elements.is_err(), "half a list is not trusted");
    }
}
