//! A card's answer: one template around its elements (readers: 3.3 to 3.5). E2 asks for a decision, E3 approves, E4
//! goes online, E5 declines, and E7 is a tap in magnetic stripe mode.

use super::masked::masked_pan;
use super::tags;
use crate::apdu::{MessageError, each};
use crate::card_answer::{AnswerTemplate, CardElements, FirstApplication, PinBlock, SealedBlock, TransactionAnswer};
use crate::vipa::settings::SredForm;
use pos_terms::emv::{Tag, TlvError, tag, tlv};

/// A card's answer before its elements are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CardTemplate<'a> {
    /// The decision.
    pub template: AnswerTemplate,
    /// `true` for E7.
    pub magstripe_mode: bool,
    /// The elements.
    pub tlvs: &'a [u8],
}

impl<'a> CardTemplate<'a> {
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
        let (template, magstripe_mode) = match object.tag {
            Tag(0xE2) => (AnswerTemplate::Decision, false),
            Tag(0xE3) => (AnswerTemplate::Approved, false),
            Tag(0xE4) => (AnswerTemplate::Online, false),
            Tag(0xE5) => (AnswerTemplate::Declined, false),
            Tag(0xE7) => (AnswerTemplate::Online, true),
            other => return Err(MessageError::Malformed(other)),
        };
        Ok(Self { template, magstripe_mode, tlvs: object.value })
    }
}

/// Reads the elements of a card's answer. `earlier` has the elements of the same card's E2, which are not repeated.
pub fn parse_card<'a>(card: CardTemplate<'a>, earlier: &'a [u8], form: SredForm) -> TransactionAnswer<'a> {
    let CardTemplate { template, magstripe_mode, tlvs } = card;
    let elements = parse_elements(tlvs, earlier, form).map(|mut found| {
        found.magstripe_mode = magstripe_mode;
        found
    });
    TransactionAnswer { template, elements, tlvs }
}

fn parse_elements<'a>(tlvs: &'a [u8], earlier: &'a [u8], form: SredForm) -> Result<CardElements<'a>, TlvError> {
    let mut found = CardElements::default();
    let mut applications = FirstApplication::default();
    let (mut pin_block, mut pin_ksn) = (None, None);
    let mut see = |object: tlv::Tlv<'a>, is_earlier: bool| {
        // The card has not signed an E2. So its amount and currency may contradict those of the answer, and never
        // replace missing ones.
        let is_missing = match object.tag {
            tag::AMOUNT_AUTHORISED => found.amount.is_missing(),
            tag::CURRENCY_CODE => found.currency.is_missing(),
            _ => false,
        };
        if !(is_earlier && is_missing) {
            found.see(object);
        }
        if !is_earlier {
            applications.see(object);
        }
        match object.tag {
            tags::PIN_BLOCK if !is_earlier => pin_block = pin_block.or(Some(object.value)),
            tags::PIN_KSN if !is_earlier => pin_ksn = pin_ksn.or(Some(object.value)),
            other if found.masked_pan.is_none() => found.masked_pan = masked_pan(other, object.value),
            _ => {}
        }
    };
    each(tlvs, &mut |object| see(object, false))?;
    each(earlier, &mut |object| see(object, true))?;
    found.sealed = match sealed_of(tlvs, form)? {
        Some(sealed) => Some(sealed),
        None => sealed_of(earlier, form)?,
    };
    found.take_applications(applications);
    found.pin = PinBlock::of(pin_block, pin_ksn);
    Ok(found)
}

/// Returns the last sealed block (FF7F) whose status says that it was encrypted.
///
/// # Errors
/// Fails if the bytes are not BER-TLV.
pub fn sealed_of(tlvs: &[u8], form: SredForm) -> Result<Option<SealedBlock<'_>>, TlvError> {
    let mut last = None;
    each(tlvs, &mut |object| {
        if object.tag == tags::SEALED {
            last = sealed_block(object.value, form).or(last.take());
        }
    })?;
    Ok(last)
}

/// Returns the sealed data in the form that the gateway takes. UNCERTAIN: the gateway has no parameter for the initial
/// value, so the settings decide whether it precedes the data (readers: 10, point 7).
fn sealed_block(template: &[u8], form: SredForm) -> Option<SealedBlock<'_>> {
    let (mut iv, mut ksn, mut data, mut good) = (None, None, None, true);
    for object in tlv::walk(template).flatten() {
        match object.tag {
            tags::SRED_IV => iv = Some(object.value),
            tags::SRED_KSN => ksn = Some(object.value),
            tags::SRED_DATA => data = Some(object.value),
            tags::SEALED_STATUS => good = object.value.iter().all(|byte| *byte == 0),
            _ => {}
        }
    }
    let (data, ksn) = (data.filter(|data| good && !data.is_empty())?, ksn?);
    let head = match form {
        SredForm::IvFirst => iv.filter(|iv| iv.len() == IV)?,
        SredForm::DataOnly => &[],
        // The check of the configuration refuses this form for VIPA.
        SredForm::Elements => return None,
    };
    let mut block = SealedBlock::new(&[], ksn)?;
    block.push(head, data).then_some(block)
}

/// The length of the initial value: one block of TDES.
const IV: usize = 8;
