//! A card's answer to START, START CONTACTLESS and CONTINUE TRANSACTION: one template (E2 to E5) around its elements
//! (readers: 2.5 to 2.7).

use super::element::{MessageBody, MessageError, tags, wrapped};
use super::masked::masked_pan;
use super::sealed::LastSredBlock;
use crate::card_answer::{AnswerTemplate, CardElements, FirstApplication, PinBlock, TransactionAnswer};
use pos_terms::emv::{Tag, TlvError, tlv};

/// Returns the tag of a template.
fn tag_of(template: AnswerTemplate) -> Tag {
    match template {
        AnswerTemplate::Decision => Tag(0xE2),
        AnswerTemplate::Approved => Tag(0xE3),
        AnswerTemplate::Online => Tag(0xE4),
        AnswerTemplate::Declined => Tag(0xE5),
    }
}

impl<'a> TransactionAnswer<'a> {
    /// Builds an answer with `tlvs` in `template`.
    #[must_use]
    pub fn new(template: AnswerTemplate, tlvs: &'a [u8]) -> Self {
        Self { template, elements: parse_elements(tlvs, None), tlvs }
    }

    /// Reads the body. One template must fill it, so a packet lost from a chain is noticed.
    ///
    /// # Errors
    /// Fails if the body has another form.
    pub fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        Self::parse_with(body, None)
    }

    /// Reads the body. `magstripe_mode` is the second byte of DF30 that means "tapped in magstripe mode", if it is
    /// known.
    pub(in crate::miura) fn parse_with(body: &'a [u8], magstripe_mode: Option<u8>) -> Result<Self, MessageError> {
        let mut objects = tlv::walk(body);
        let object = objects.next().ok_or(MessageError::Length { bytes: body.len() })??;
        if objects.next().is_some() {
            return Err(MessageError::Length { bytes: body.len() });
        }
        let template =
            [AnswerTemplate::Decision, AnswerTemplate::Approved, AnswerTemplate::Online, AnswerTemplate::Declined]
                .into_iter()
                .find(|template| tag_of(*template) == object.tag)
                .ok_or(MessageError::Malformed(object.tag))?;
        Ok(Self { template, elements: parse_elements(object.value, magstripe_mode), tlvs: object.value })
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// Returns [`TlvError::Full`] if it is too long.
    pub fn encode(&self) -> Result<MessageBody, TlvError> {
        wrapped(tag_of(self.template), self.tlvs)
    }
}

fn parse_elements(tlvs: &[u8], magstripe_mode: Option<u8>) -> Result<CardElements<'_>, TlvError> {
    let mut found = CardElements::default();
    let (mut sred, mut applications) = (LastSredBlock::default(), FirstApplication::default());
    let (mut pin_block, mut pin_ksn, mut kernel_mode) = (None, None, None);
    tlv::visit(tlvs, &mut |object| {
        let value = object.value;
        found.see(object);
        sred.see(object);
        applications.see(object);
        match object.tag {
            tags::KERNEL_MODE => kernel_mode = kernel_mode.or(Some(value)),
            tags::PIN_BLOCK => pin_block = pin_block.or(Some(value)),
            tags::PIN_KSN => pin_ksn = pin_ksn.or(Some(value)),
            tag if found.masked_pan.is_none() => found.masked_pan = masked_pan(tag, value),
            _ => {}
        }
    })?;
    let mode = kernel_mode.and_then(|value: &[u8]| value.get(1).copied());
    found.magstripe_mode = mode.is_some() && mode == magstripe_mode;
    found.sealed = sred.block.and_then(|block| block.sealed());
    found.take_applications(applications);
    found.pin = PinBlock::of(pin_block, pin_ksn);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::sealed::SredBlock;
    use super::*;

    fn online(tlvs: &[u8]) -> TransactionAnswer<'_> {
        TransactionAnswer::new(AnswerTemplate::Online, tlvs)
    }

    #[test]
    fn the_first_value_counts_and_the_last_sealed_pair() {
        let tlvs = "9F3901055F2D026465 9F390107 DFAE0201AADFAE030101 DFAE0201BBDFAE030102 DFAE0401CC 950500000080009F34031E0300";
        let tlvs = hex::decode(tlvs.replace(' ', "")).unwrap();
        let found = online(&tlvs).elements.unwrap();
        assert_eq!(found.pos_entry_mode, Some(&[5][..]));
        assert_eq!(found.language_preference, Some(&b"de"[..]));
        assert!(found.sealed == SredBlock { data: &[0xBB], ksn: &[2] }.sealed());
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
            assert_eq!(online(&tlvs).elements.unwrap().pin.is_some(), is_there, "{tlvs:02X?}");
        }
    }

    #[test]
    fn half_a_list_is_not_trusted() {
        assert!(online(&[0x9F, 0x02, 0x06, 0x00]).elements.is_err());
    }

    #[test]
    fn the_magstripe_mode_is_known_from_the_settings_alone() {
        for (mode, settings, expected) in [
            ("DF30020302", None, false),
            ("DF30020302", Some(2), true),
            ("DF30020301", Some(2), false),
            ("DF300103", Some(3), false),
        ] {
            let body = hex::decode(format!("E4{:02X}{mode}", mode.len() / 2)).unwrap();
            let answer = TransactionAnswer::parse_with(&body, settings).unwrap();
            assert_eq!(answer.elements.unwrap().magstripe_mode, expected, "{mode} {settings:?}");
        }
    }
}
