//! The answers to commands: identity, keys, clock, online PIN and a typed card (readers: 3.2). A card's answer is in
//! `card`.

use super::card::sealed_of;
use super::tags;
use crate::apdu::{MessageError, each, need, need_array, search, text};
use crate::card_answer::{PinBlock, SealedBlock};
use crate::keys;
use crate::vipa::settings::SredForm;
use crate::{ConfigFile, LocalTime};
use pos_terms::emv::{tag, tlv};

/// Maximum number of programs in one answer. A captured answer has about ten.
const MAX_PROGRAMS: usize = 64;

/// The answer to RESET with P2 01.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VipaIdentity {
    /// 9F1E: the serial number.
    pub serial: String,
    /// EE, DF0D: the model.
    pub model: String,
    /// EE, DF7F: the version of the system.
    pub firmware: String,
    /// EE, DF8101: the tamper state, if the reader sends it.
    pub tamper: Option<u8>,
    /// Each EF: name and version of a program.
    pub programs: Vec<ConfigFile>,
}

impl VipaIdentity {
    /// Reads the body.
    ///
    /// # Errors
    /// Fails if the serial number is missing.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        let serial = text(need(body, tag::IFD_SERIAL_NUMBER)?);
        let device = search(body, tags::DEVICE)?.unwrap_or_default();
        let mut programs = Vec::new();
        each(body, &mut |object| {
            if object.tag == tags::PROGRAM && programs.len() < MAX_PROGRAMS {
                let (name, version) = name_and_version(object.value);
                programs.push(ConfigFile { name, version });
            }
        })?;
        let (model, firmware) = name_and_version(device);
        let tamper = search(device, tags::TAMPER)?.and_then(|value| value.first().copied());
        Ok(Self { serial, model, firmware, tamper, programs })
    }
}

fn name_and_version(template: &[u8]) -> (String, String) {
    let value = |tag| tlv::walk(template).flatten().find(|object| object.tag == tag).map(|object| text(object.value));
    (value(tags::NAME).unwrap_or_default(), value(tags::VERSION).unwrap_or_default())
}

/// The answer to GET SECURITY CONFIGURATION.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VipaKeys {
    /// A KSN for card data is present.
    pub card: bool,
    /// A KSN for PINs is present.
    pub pin: bool,
    /// The number of keys for card data left, by their KSN.
    pub card_left: Option<u64>,
    /// The same for PINs.
    pub pin_left: Option<u64>,
}

impl VipaKeys {
    /// Reads the body.
    ///
    /// # Errors
    /// Fails if the body is not BER-TLV, or is not in the template of such an answer.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        let first = tlv::walk(body).next().ok_or(MessageError::Missing(tags::COMMAND_DATA))??;
        if first.tag != tags::COMMAND_DATA {
            return Err(MessageError::Malformed(first.tag));
        }
        let ksn = |tag| search(body, tag).map(|value| value.filter(|value| !value.is_empty()));
        let card = ksn(tags::SRED_KSN)?;
        let pin = ksn(tags::PIN_KSN)?.or(ksn(tags::PIN_KSN_OTHER)?);
        let left = |ksn: Option<&[u8]>| ksn.and_then(keys::left);
        Ok(Self { card: card.is_some(), pin: pin.is_some(), card_left: left(card), pin_left: left(pin) })
    }
}

/// Reads the answer to DATE AND TIME.
///
/// # Errors
/// Fails if date or time is missing, or their values are not valid.
pub fn parse_time(body: &[u8]) -> Result<LocalTime, MessageError> {
    LocalTime::from_bcd(need_array(body, tag::TRANSACTION_DATE)?, need_array(body, tag::TRANSACTION_TIME)?)
        .ok_or(MessageError::Malformed(tag::TRANSACTION_DATE))
}

/// The answer to ONLINE PIN with status 9000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VipaPinAnswer<'a> {
    /// The sealed PIN.
    Entered(PinBlock<'a>),
    /// An empty body: the cardholder continued without a PIN.
    Bypassed,
}

impl<'a> VipaPinAnswer<'a> {
    /// Reads the body. In some versions, block and KSN are those of a sealed template (FF7F).
    ///
    /// # Errors
    /// Fails if a body without a block or KSN is not empty, or if its state says that the encryption failed.
    pub fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        if body.is_empty() {
            return Ok(Self::Bypassed);
        }
        let has_failed = |state: &[u8]| state.iter().any(|byte| *byte != 0);
        if search(body, tags::SEALED_STATUS)?.is_some_and(has_failed) {
            return Err(MessageError::Malformed(tags::SEALED_STATUS));
        }
        let block = PinBlock::of(search(body, tags::PIN_BLOCK)?, search(body, tags::PIN_KSN)?);
        let block = match block {
            Some(block) => Some(block),
            None => PinBlock::of(search(body, tags::SRED_DATA)?, search(body, tags::SRED_KSN)?),
        };
        block.map(Self::Entered).ok_or(MessageError::Missing(tags::PIN_BLOCK))
    }
}

/// The answer to MANUAL PAN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VipaTypedCard<'a> {
    /// The masked number, in ASCII.
    pub masked_pan: &'a [u8],
    /// The sealed data.
    pub sealed: Option<SealedBlock<'a>>,
}

impl<'a> VipaTypedCard<'a> {
    /// Reads the body. UNCERTAIN: older versions use another tag for the number (readers: 10, point 7).
    ///
    /// # Errors
    /// Fails if the masked number is missing.
    pub fn parse(body: &'a [u8], form: SredForm) -> Result<Self, MessageError> {
        let masked_pan = match search(body, tags::TYPED_PAN)? {
            Some(pan) => pan,
            None => need(body, tags::TYPED_PAN_OLDER)?,
        };
        Ok(Self { masked_pan, sealed: sealed_of(body, form)? })
    }
}
