//! The data of the commands for a card: what is paid, and the gateway's answer (readers: 4.2). The elements follow the
//! order of the published frame for 02-40.

use super::error::Neo2MessageError;
use super::tags;
use crate::LocalTime;
use pos_reader_link::neo2_link::Neo2EncodeError;
use pos_terms::emv::{Tag, TlvError, tag, tlv};

/// Maximum length of a command's data: the scripts of a gateway (512), the other host elements, and room for the fields
/// without tags.
pub const MAX_COMMAND_DATA: usize = 1024;

/// A buffer for the data of a command.
pub(super) type DataField = heapless::Vec<u8, MAX_COMMAND_DATA>;

/// Amount, currency and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionTerms {
    /// 9C: the type, 00 purchase, 20 refund.
    pub transaction_type: u8,
    /// 9F02: the amount.
    pub amount: [u8; 6],
    /// 9F03: the other amount (cashback).
    pub other_amount: Option<[u8; 6]>,
    /// 5F2A: the currency.
    pub currency: Option<[u8; 2]>,
    /// 9A and 9F21. The manual asks not to send them to SRED readers, which take the time from their own clock (NEO 2
    /// Interface Developer's Guide 2019, 8.4.18).
    pub at: Option<LocalTime>,
}

impl TransactionTerms {
    pub(super) fn push(&self, out: &mut DataField) -> Result<(), Neo2MessageError> {
        tlv::push(out, tag::TRANSACTION_TYPE, &[self.transaction_type])?;
        tlv::push(out, tag::AMOUNT_AUTHORISED, &self.amount)?;
        if let Some(other) = self.other_amount {
            tlv::push(out, tag::AMOUNT_OTHER, &other)?;
        }
        if let Some(currency) = self.currency {
            tlv::push(out, tag::CURRENCY_CODE, &currency)?;
        }
        if let Some(at) = self.at {
            tlv::push(out, tag::TRANSACTION_DATE, &at.date_bcd())?;
            tlv::push(out, tag::TRANSACTION_TIME, &at.time_bcd())?;
        }
        Ok(())
    }

    pub(super) fn parse(tlvs: &[u8]) -> Result<Self, Neo2MessageError> {
        let at = match (optional(tlvs, tag::TRANSACTION_DATE)?, optional(tlvs, tag::TRANSACTION_TIME)?) {
            (Some(date), Some(time)) => {
                Some(LocalTime::from_bcd(date, time).ok_or(Neo2MessageError::Malformed(tag::TRANSACTION_DATE))?)
            }
            _ => None,
        };
        Ok(Self {
            transaction_type: need::<1>(tlvs, tag::TRANSACTION_TYPE)?[0],
            amount: need(tlvs, tag::AMOUNT_AUTHORISED)?,
            other_amount: optional(tlvs, tag::AMOUNT_OTHER)?,
            currency: optional(tlvs, tag::CURRENCY_CODE)?,
            at,
        })
    }
}

/// The interfaces that wait for a card (DFEF37).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interfaces(pub u8);

impl Interfaces {
    /// The stripe.
    pub const STRIPE: Self = Self(0x01);
    /// A tap.
    pub const CONTACTLESS: Self = Self(0x02);
    /// The slot.
    pub const CONTACT: Self = Self(0x04);
    /// Every interface.
    pub const ALL: Self = Self(0x07);

    /// Returns both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Whether a swipe may replace a chip that fails, and how long the reader waits for the next command (DFEF3C).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// A swipe may replace the chip.
    pub is_allowed: bool,
    /// The seconds that the reader waits for the next command.
    pub next_command_s: u16,
}

impl Fallback {
    pub(super) fn bytes(self) -> [u8; 3] {
        let [high, low] = self.next_command_s.to_be_bytes();
        [u8::from(self.is_allowed), high, low]
    }

    pub(super) fn parse([allowed, high, low]: [u8; 3]) -> Self {
        Self { is_allowed: allowed != 0, next_command_s: u16::from_be_bytes([high, low]) }
    }
}

/// 02-40: wait for a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The seconds to wait.
    pub timeout_s: u8,
    /// What is paid.
    pub terms: TransactionTerms,
    /// DFEF37: the interfaces. If absent, the reader's own setting applies.
    pub interfaces: Option<Interfaces>,
    /// DFEF3C: fallback. If absent, the reader's own setting applies.
    pub fallback: Option<Fallback>,
}

impl Activation {
    pub(super) fn push(&self, out: &mut DataField) -> Result<(), Neo2MessageError> {
        extend(out, &[self.timeout_s])?;
        self.terms.push(out)?;
        if let Some(interfaces) = self.interfaces {
            tlv::push(out, tags::INTERFACES, &[interfaces.0])?;
        }
        if let Some(fallback) = self.fallback {
            tlv::push(out, tags::FALLBACK, &fallback.bytes())?;
        }
        Ok(())
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, Neo2MessageError> {
        let (timeout_s, tlvs) = data.split_first().ok_or(Neo2MessageError::Length { bytes: data.len() })?;
        Ok(Self {
            timeout_s: *timeout_s,
            terms: TransactionTerms::parse(tlvs)?,
            interfaces: optional(tlvs, tags::INTERFACES)?.map(|[bits]| Interfaces(bits)),
            fallback: optional(tlvs, tags::FALLBACK)?.map(Fallback::parse),
        })
    }
}

/// 60-10: start with the chip in the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactStart {
    /// A swipe may replace a chip that fails.
    pub fallback: bool,
    /// The seconds to wait for the card.
    pub card_s: u16,
    /// The seconds that the reader waits for 60-11.
    pub next_command_s: u16,
    /// What is paid.
    pub terms: TransactionTerms,
}

impl ContactStart {
    /// UNCERTAIN: the order of the bytes of both times. In DFEF3C and 83-41 the high byte comes first.
    pub(super) fn push(&self, out: &mut DataField) -> Result<(), Neo2MessageError> {
        extend(out, &[u8::from(self.fallback)])?;
        extend(out, &self.card_s.to_be_bytes())?;
        extend(out, &self.next_command_s.to_be_bytes())?;
        self.terms.push(out)
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, Neo2MessageError> {
        let length = Neo2MessageError::Length { bytes: data.len() };
        let (&[fallback, a, b, c, d], tlvs) = data.split_first_chunk().ok_or(length)?;
        Ok(Self {
            fallback: fallback != 0,
            card_s: u16::from_be_bytes([a, b]),
            next_command_s: u16::from_be_bytes([c, d]),
            terms: TransactionTerms::parse(tlvs)?,
        })
    }
}

/// 60-12: the gateway's answer for the chip.
///
/// UNCERTAIN: the layout of the command. Here it is a list of 8A, 91, and the scripts (readers: 4.2).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HostResponse<'a> {
    /// 8A: the authorisation response code, such as `00` or `Z1`.
    pub arc: [u8; 2],
    /// 91: the issuer authentication data.
    pub authentication: Option<&'a [u8]>,
    /// 71 and 72: whole script templates.
    pub scripts: &'a [u8],
}

impl<'a> HostResponse<'a> {
    pub(super) fn push(&self, out: &mut DataField) -> Result<(), Neo2MessageError> {
        tlv::push(out, tag::AUTHORISATION_RESPONSE_CODE, &self.arc)?;
        if let Some(data) = self.authentication {
            tlv::push(out, tag::ISSUER_AUTHENTICATION_DATA, data)?;
        }
        extend(out, self.scripts)
    }

    pub(super) fn parse(data: &'a [u8]) -> Result<Self, Neo2MessageError> {
        let mut scripts = &[][..];
        let mut at = 0;
        for object in tlv::walk(data) {
            let object = object?;
            while data.get(at) == Some(&0) {
                at += 1;
            }
            // The scripts are the last elements, so they are one piece of the data.
            if scripts.is_empty() && matches!(object.tag, Tag(0x71 | 0x72)) {
                scripts = &data[at..];
            }
            at += object.raw.len();
        }
        Ok(Self {
            arc: need(data, tag::AUTHORISATION_RESPONSE_CODE)?,
            authentication: tlv::find(data, tag::ISSUER_AUTHENTICATION_DATA)?,
            scripts,
        })
    }
}

/// Appends a field without a tag.
pub(super) fn extend(out: &mut DataField, field: &[u8]) -> Result<(), Neo2MessageError> {
    let bytes = out.len() + field.len();
    out.extend_from_slice(field).map_err(|_| Neo2EncodeError::TooLong { bytes }.into())
}

/// Returns the value of a required element of fixed length.
pub(super) fn need<const N: usize>(tlvs: &[u8], tag: Tag) -> Result<[u8; N], Neo2MessageError> {
    optional(tlvs, tag)?.ok_or(Neo2MessageError::Missing(tag))
}

/// Returns the value of an element of fixed length, if it is there.
pub(super) fn optional<const N: usize>(tlvs: &[u8], tag: Tag) -> Result<Option<[u8; N]>, Neo2MessageError> {
    let value: Result<Option<&[u8]>, TlvError> = tlv::find(tlvs, tag);
    value?.map(|value| value.try_into().map_err(|_| Neo2MessageError::Malformed(tag))).transpose()
}
