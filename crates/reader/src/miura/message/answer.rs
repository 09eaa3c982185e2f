//! The answers to commands: identity, keys, clock, online PIN and amounts (readers: 2.2, 2.9, 2.10). A card's answer to
//! START and CONTINUE is in `transaction_answer`.
//!
//! `parse` reads the body of an answer with status 9000. `encode` writes an answer with its status. The driver does not
//! use `encode`, but captured frames are compared with both.

use super::element::{MessageBody, MessageError, each, need, need_array, status, tags, wrapped, wrapped_element};
use super::status::StatusWord;
use crate::LocalTime;
use crate::apdu::text;
use crate::card_answer::PinBlock;
use pos_terms::emv::{TlvError, tag, tlv};

/// The answer to RESET DEVICE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetAnswer {
    /// 9F1E: the serial number.
    pub serial: String,
    /// The software: the application first, then the operating system.
    pub software: Vec<SoftwareVersion>,
}

/// A name and a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoftwareVersion {
    /// DF0D, such as `M000-MPI`.
    pub name: String,
    /// DF7F, such as `1-51`.
    pub version: String,
}

/// Maximum number of software entries in one answer. Two are known.
const MAX_SOFTWARE: usize = 8;

impl ResetAnswer {
    /// Reads the body.
    ///
    /// # Errors
    /// Fails if the serial number is missing.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        let mut software = Vec::new();
        each(body, &mut |object| {
            if object.tag == tags::SOFTWARE && software.len() < MAX_SOFTWARE {
                software.push(SoftwareVersion::parse(object.value));
            }
        })?;
        Ok(Self { serial: text(need(body, tag::IFD_SERIAL_NUMBER)?), software })
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// Returns [`TlvError::Full`] if it is too long.
    pub fn encode(&self) -> Result<MessageBody, TlvError> {
        let mut body = MessageBody::new();
        tlv::push(&mut body, tag::IFD_SERIAL_NUMBER, self.serial.as_bytes())?;
        for SoftwareVersion { name, version } in &self.software {
            let mut inner = MessageBody::new();
            tlv::push(&mut inner, tags::NAME, name.as_bytes())?;
            tlv::push(&mut inner, tags::VERSION, version.as_bytes())?;
            tlv::push(&mut body, tags::SOFTWARE, &inner)?;
        }
        wrapped(tags::ANSWER_DATA, &body)
    }
}

impl SoftwareVersion {
    fn parse(value: &[u8]) -> Self {
        let mut names = Vec::new();
        let mut version = None;
        for object in tlv::walk(value).flatten() {
            match object.tag {
                tags::NAME if names.len() < 2 => names.push(text(object.value)),
                tags::VERSION => version = Some(text(object.value)),
                _ => {}
            }
        }
        // Quirk: RPI 1-1 firmware gives the version in a second DF0D (readers: 2.13).
        let version = version.or_else(|| (names.len() == 2).then(|| names.remove(1)));
        Self { name: names.into_iter().next().unwrap_or_default(), version: version.unwrap_or_default() }
    }
}

/// The answer to P2PE STATUS (DFAE01).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct P2peStatus(pub u8);

impl P2peStatus {
    /// All keys are present.
    pub const ALL: Self = Self(0x07);

    /// Reads the body.
    ///
    /// # Errors
    /// Fails if DFAE01 is missing or not one byte.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        need_array(body, tags::P2PE_STATUS).map(|[bits]| Self(bits))
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// Never fails in practice.
    pub fn encode(self) -> Result<MessageBody, TlvError> {
        wrapped_element(tags::P2PE_STATUS, &[self.0])
    }

    /// Returns bit 1: the reader can encrypt a PIN.
    #[must_use]
    pub fn pin_key(self) -> bool {
        self.0 & 2 != 0
    }

    /// Returns bit 2: the reader can encrypt card data.
    #[must_use]
    pub fn card_key(self) -> bool {
        self.0 & 4 != 0
    }
}

/// The answer to SYSTEM CLOCK without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockAnswer(pub LocalTime);

impl ClockAnswer {
    /// Reads the body.
    ///
    /// # Errors
    /// Fails if date or time is missing, or their values are not valid.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        LocalTime::from_bcd(need_array(body, tag::TRANSACTION_DATE)?, need_array(body, tag::TRANSACTION_TIME)?)
            .map(Self)
            .ok_or(MessageError::Malformed(tag::TRANSACTION_DATE))
    }
}

/// The answer to ONLINE PIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnlinePinAnswer<'a> {
    /// The sealed PIN.
    Entered(PinBlock<'a>),
    /// One byte 08: the cardholder cancelled, or did not enter a PIN in time.
    Cancelled,
    /// One byte 0C: the cardholder continued without a PIN.
    Bypassed,
    /// One byte 09, 0A or 0B: an internal error.
    Failed(u8),
}

impl<'a> OnlinePinAnswer<'a> {
    /// Reads the body.
    ///
    /// # Errors
    /// Fails if the body is neither one known byte nor a block with a KSN.
    pub fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        Ok(match *body {
            [0x08] => Self::Cancelled,
            [0x0C] => Self::Bypassed,
            [error @ 0x09..=0x0B] => Self::Failed(error),
            [_] => return Err(MessageError::Length { bytes: 1 }),
            _ => Self::Entered(PinBlock { block: need(body, tags::PIN_BLOCK)?, ksn: need(body, tags::PIN_KSN)? }),
        })
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// Never fails in practice.
    pub fn encode(&self) -> Result<MessageBody, TlvError> {
        let byte = match *self {
            Self::Entered(PinBlock { block, ksn }) => {
                let mut body = MessageBody::new();
                tlv::push(&mut body, tags::PIN_BLOCK, block)?;
                tlv::push(&mut body, tags::PIN_KSN, ksn)?;
                return wrapped(tags::ANSWER_DATA, &body);
            }
            Self::Cancelled => 0x08,
            Self::Bypassed => 0x0C,
            Self::Failed(error) => error,
        };
        let mut body = status(StatusWord::OK);
        body.insert(0, byte).map_err(|_| TlvError::Full)?;
        Ok(body)
    }
}

/// Returns the digits of GET NUMERIC DATA and GET DYNAMIC TIP (DFA208), in ASCII.
///
/// # Errors
/// Fails if the digits are missing.
pub fn parse_numeric(body: &[u8]) -> Result<&[u8], MessageError> {
    need(body, tags::NUMERIC_DATA)
}

/// Writes the answer to GET NUMERIC DATA.
///
/// # Errors
/// Returns [`TlvError::Full`] if it is too long.
pub fn encode_numeric(digits: &[u8]) -> Result<MessageBody, TlvError> {
    wrapped_element(tags::NUMERIC_DATA, digits)
}
