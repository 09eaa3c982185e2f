//! What commands are answered with: identity, keys, clock, the card's decision, the online PIN (readers: 2.2, 2.5 to
//! 2.9).
//!
//! `parse` takes a body that came with status 9000; `encode` is the simulated reader's side and adds the status.

use super::message::{Body, MessageError, Status, each, need, need_array, search, status, tags, wrapped};
use crate::emv::{Tag, TlvError, tag, tlv};
use crate::reader::LocalTime;

/// Answer to RESET DEVICE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetAnswer {
    /// 9F1E.
    pub serial: String,
    /// The application first, then the operating system.
    pub software: Vec<Software>,
}

/// A name and a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Software {
    /// DF0D, as `M000-MPI`.
    pub name: String,
    /// DF7F, as `1-51`.
    pub version: String,
}

/// Most pieces of software of one answer; two are known.
const MAX_SOFTWARE: usize = 8;

impl ResetAnswer {
    /// Reads the body.
    ///
    /// # Errors
    /// When the serial number is missing.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        let mut software = Vec::new();
        each(body, &mut |object| {
            if object.tag == tags::SOFTWARE && software.len() < MAX_SOFTWARE {
                software.push(Software::parse(object.value));
            }
        })?;
        Ok(Self { serial: text(need(body, tag::IFD_SERIAL_NUMBER)?), software })
    }

    /// The answer.
    ///
    /// # Errors
    /// [`TlvError::Full`] when it is too long.
    pub fn encode(&self) -> Result<Body, TlvError> {
        let mut body = Body::new();
        tlv::push(&mut body, tag::IFD_SERIAL_NUMBER, self.serial.as_bytes())?;
        for Software { name, version } in &self.software {
            let mut inner = Body::new();
            tlv::push(&mut inner, tags::NAME, name.as_bytes())?;
            tlv::push(&mut inner, tags::VERSION, version.as_bytes())?;
            tlv::push(&mut body, tags::SOFTWARE, &inner)?;
        }
        wrapped(tags::ANSWER_DATA, &body)
    }
}

impl Software {
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
        // Quirk: RPI 1-1 firmware gives the version a second DF0D (readers: 2.13).
        let version = version.or_else(|| (names.len() == 2).then(|| names.remove(1)));
        Self { name: names.into_iter().next().unwrap_or_default(), version: version.unwrap_or_default() }
    }
}

/// Text from outside as text: printable ASCII, at most 32 characters.
pub(super) fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).filter(|c| matches!(c, ' '..='~')).take(32).collect()
}

/// Answer to P2PE STATUS (DFAE01).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct P2peStatus(pub u8);

impl P2peStatus {
    /// Everything is there.
    pub const ALL: Self = Self(0x07);

    /// Reads the body.
    ///
    /// # Errors
    /// When DFAE01 is missing or not one byte.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        need_array(body, tags::P2PE_STATUS).map(|[bits]| Self(bits))
    }

    /// The answer.
    ///
    /// # Errors
    /// None in practice.
    pub fn encode(self) -> Result<Body, TlvError> {
        one(tags::P2PE_STATUS, &[self.0])
    }

    /// Bit 0.
    #[must_use]
    pub fn initialised(self) -> bool {
        self.0 & 1 != 0
    }

    /// Bit 1: it can encrypt a PIN.
    #[must_use]
    pub fn pin_key(self) -> bool {
        self.0 & 2 != 0
    }

    /// Bit 2: it can encrypt card data.
    #[must_use]
    pub fn card_key(self) -> bool {
        self.0 & 4 != 0
    }
}

/// Answer to SYSTEM CLOCK without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(pub LocalTime);

impl Clock {
    /// Reads the body.
    ///
    /// # Errors
    /// When date or time is missing or no date or time.
    pub fn parse(body: &[u8]) -> Result<Self, MessageError> {
        LocalTime::from_bcd(need_array(body, tag::TRANSACTION_DATE)?, need_array(body, tag::TRANSACTION_TIME)?)
            .map(Self)
            .ok_or(MessageError::Malformed(tag::TRANSACTION_DATE))
    }

    /// The answer.
    ///
    /// # Errors
    /// None in practice.
    pub fn encode(self) -> Result<Body, TlvError> {
        let mut body = Body::new();
        tlv::push(&mut body, tag::TRANSACTION_DATE, &self.0.date_bcd())?;
        tlv::push(&mut body, tag::TRANSACTION_TIME, &self.0.time_bcd())?;
        wrapped(tags::ANSWER_DATA, &body)
    }
}

/// Answer to START, START CONTACTLESS and CONTINUE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome<'a> {
    /// What it is.
    pub template: Template,
    tlvs: Elements<'a>,
}

/// Elements without a `Debug` of their content.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Elements<'a>(&'a [u8]);

impl std::fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{} bytes]", self.0.len())
    }
}

/// The template around the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// E2: a decision is asked for.
    Decision,
    /// E3: approved.
    Approved,
    /// E4: go online.
    Online,
    /// E5: declined.
    Declined,
}

impl Template {
    fn tag(self) -> Tag {
        match self {
            Self::Decision => Tag(0xE2),
            Self::Approved => Tag(0xE3),
            Self::Online => Tag(0xE4),
            Self::Declined => Tag(0xE5),
        }
    }
}

impl<'a> Outcome<'a> {
    /// `tlvs` in `template`.
    #[must_use]
    pub fn new(template: Template, tlvs: &'a [u8]) -> Self {
        Self { template, tlvs: Elements(tlvs) }
    }

    /// Reads the body: one template, which must fill it. A packet lost from a chain is found here.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        let mut objects = tlv::walk(body);
        let object = objects.next().ok_or(MessageError::Length { bytes: body.len() })??;
        if objects.next().is_some() {
            return Err(MessageError::Length { bytes: body.len() });
        }
        let template = [Template::Decision, Template::Approved, Template::Online, Template::Declined]
            .into_iter()
            .find(|template| template.tag() == object.tag)
            .ok_or(MessageError::Malformed(object.tag))?;
        Ok(Self::new(template, object.value))
    }

    /// Its elements.
    #[must_use]
    pub fn tlvs(&self) -> &'a [u8] {
        self.tlvs.0
    }

    /// The answer.
    ///
    /// # Errors
    /// [`TlvError::Full`] when it is too long.
    pub fn encode(&self) -> Result<Body, TlvError> {
        wrapped(self.template.tag(), self.tlvs.0)
    }
}

/// Sealed card data as they came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sealed<'a> {
    /// DFAE02.
    pub data: &'a [u8],
    /// DFAE03.
    pub ksn: &'a [u8],
}

impl std::fmt::Debug for Sealed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { data, ksn } = self;
        write!(f, "Sealed({} and {} bytes)", data.len(), ksn.len())
    }
}

/// Answer to ONLINE PIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnlinePinAnswer<'a> {
    /// The PIN.
    Entered(Entered<'a>),
    /// One byte 08: cancelled, or no entry in time.
    Cancelled,
    /// One byte 0C: the cardholder went on without a PIN.
    Bypassed,
    /// One byte 09, 0A or 0B: internal error.
    Failed(u8),
}

/// A sealed PIN as it came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entered<'a> {
    /// DFAE04.
    pub block: &'a [u8],
    /// DFAE05.
    pub ksn: &'a [u8],
}

impl std::fmt::Debug for Entered<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { block, ksn } = self;
        write!(f, "Entered({} and {} bytes)", block.len(), ksn.len())
    }
}

impl<'a> OnlinePinAnswer<'a> {
    /// Reads the body.
    ///
    /// # Errors
    /// When it is neither one known byte nor block and KSN.
    pub fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        Ok(match *body {
            [0x08] => Self::Cancelled,
            [0x0C] => Self::Bypassed,
            [error @ 0x09..=0x0B] => Self::Failed(error),
            [_] => return Err(MessageError::Length { bytes: 1 }),
            _ => Self::Entered(Entered { block: need(body, tags::PIN_BLOCK)?, ksn: need(body, tags::PIN_KSN)? }),
        })
    }

    /// The answer.
    ///
    /// # Errors
    /// None in practice.
    pub fn encode(&self) -> Result<Body, TlvError> {
        let byte = match *self {
            Self::Entered(Entered { block, ksn }) => {
                let mut body = Body::new();
                tlv::push(&mut body, tags::PIN_BLOCK, block)?;
                tlv::push(&mut body, tags::PIN_KSN, ksn)?;
                return wrapped(tags::ANSWER_DATA, &body);
            }
            Self::Cancelled => 0x08,
            Self::Bypassed => 0x0C,
            Self::Failed(error) => error,
        };
        let mut body = status(Status::OK);
        body.insert(0, byte).map_err(|_| TlvError::Full)?;
        Ok(body)
    }
}

/// The digits of GET NUMERIC DATA and GET DYNAMIC TIP (DFA208), ASCII.
///
/// # Errors
/// When they are missing.
pub fn parse_numeric(body: &[u8]) -> Result<&[u8], MessageError> {
    need(body, tags::NUMERIC_DATA)
}

/// The answer to GET NUMERIC DATA.
///
/// # Errors
/// [`TlvError::Full`] when it is too long.
pub fn encode_numeric(digits: &[u8]) -> Result<Body, TlvError> {
    one(tags::NUMERIC_DATA, digits)
}

/// The sealed card data (DFAE02, DFAE03) of an answer or a card event.
///
/// They may stand twice, with consecutive KSNs and the same content (readers: 2.5): always the last pair is taken.
///
/// # Errors
/// When the body is not BER-TLV.
pub fn last_sealed(body: &[u8]) -> Result<Option<Sealed<'_>>, TlvError> {
    let (mut data, mut pair) = (None, None);
    each(body, &mut |object| match object.tag {
        tags::SRED_DATA => data = Some(object.value),
        tags::SRED_KSN => pair = data.take().map(|data| Sealed { data, ksn: object.value }).or(pair),
        _ => {}
    })?;
    Ok(pair)
}

/// The sealed PIN (DFAE04, DFAE05) of an E4.
///
/// # Errors
/// When the body is not BER-TLV.
pub fn sealed_pin(body: &[u8]) -> Result<Option<Entered<'_>>, TlvError> {
    let pair = (search(body, tags::PIN_BLOCK)?, search(body, tags::PIN_KSN)?);
    Ok(match pair {
        (Some(block), Some(ksn)) if !block.is_empty() && !ksn.is_empty() => Some(Entered { block, ksn }),
        _ => None,
    })
}

fn one(tag: Tag, value: &[u8]) -> Result<Body, TlvError> {
    let mut body = Body::new();
    tlv::push(&mut body, tag, value)?;
    wrapped(tags::ANSWER_DATA, &body)
}
