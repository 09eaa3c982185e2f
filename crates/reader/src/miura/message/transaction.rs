//! The data that START and CONTINUE TRANSACTION carry to the card: amount, currency, date and type of a transaction, a
//! choice of application, and the gateway's answer (readers: 2.5 to 2.7).

use super::element::{CommandData, MessageError, need_array, tags};
use crate::{Arm, LocalTime};
use pos_reader_link::apdu_link::EncodeError;
use pos_terms::emv::tlv::Tlv;
use pos_terms::emv::{tag, tlv};
use pos_terms::money::Amount;

/// The data of a transaction for the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionData {
    /// 9C: the transaction type.
    pub transaction_type: u8,
    /// 9F02: the amount.
    pub amount: [u8; 6],
    /// 5F2A: the currency.
    pub currency: [u8; 2],
    /// 9A and 9F21: date and time.
    pub at: LocalTime,
}

impl TransactionData {
    /// Creates the data from an amount.
    #[must_use]
    pub fn new(transaction_type: u8, amount: Amount, at: LocalTime) -> Self {
        Self { transaction_type, amount: amount.to_bcd(), currency: amount.currency().to_bcd(), at }
    }
}

impl From<&Arm> for TransactionData {
    fn from(arm: &Arm) -> Self {
        Self::new(arm.transaction_type, arm.amount, arm.at)
    }
}

/// The data of CONTINUE TRANSACTION (readers: 2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContinueData<'a> {
    /// The answer to an E2 without a choice of applications (C0): 01 for yes, 00 for no.
    Decision(u8),
    /// The answer to an E2 with a list of applications: the chosen one.
    Choose(ApplicationChoice<'a>),
    /// The gateway's answer.
    Host {
        /// 8A: the authorisation response code.
        arc: [u8; 2],
        /// 91: the issuer authentication data.
        authentication: Option<&'a [u8]>,
        /// 71 and 72: whole objects, one after another. Empty if there are none.
        scripts: &'a [u8],
    },
}

/// An application in an E2's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplicationChoice<'a> {
    /// The identifier (4F).
    pub aid: &'a [u8],
    /// The label (50).
    pub label: Option<&'a [u8]>,
}

/// Finds the first application of an E2, which has the highest priority, while the message is walked. The form of the
/// list is not published. This type accepts an identifier (4F, or 9F06) with a label (50) before or after it, with or
/// without a template around each pair.
#[derive(Default)]
pub(super) struct FirstApplication<'a> {
    aid: Option<&'a [u8]>,
    label: Option<&'a [u8]>,
    /// `true` after the second application has begun.
    over: bool,
}

impl<'a> FirstApplication<'a> {
    pub(super) fn see(&mut self, object: Tlv<'a>) {
        let Self { aid, label, over } = self;
        match object.tag {
            _ if *over => {}
            // EMV Book 1, 12.2.1: an identifier has 5 to 16 bytes.
            tag::AID_CARD | tag::AID_TERMINAL if (5..=16).contains(&object.value.len()) => {
                *over = aid.is_some();
                aid.get_or_insert(object.value);
            }
            tag::APPLICATION_LABEL if (1..=16).contains(&object.value.len()) => {
                *over = label.is_some();
                label.get_or_insert(object.value);
            }
            _ => {}
        }
    }

    /// Returns the application, or `None` if the message contains none.
    pub(super) fn choice(self) -> Option<ApplicationChoice<'a>> {
        self.aid.map(|aid| ApplicationChoice { aid, label: self.label })
    }
}

/// DFA204: the application is selected on the reader (readers: 2.5).
pub(super) const SELECT_ON_READER: u8 = 0x01;
/// DFA203: the stage of terminal risk management, as the vendor sends it.
pub(super) const RISK_STAGE: u8 = 0x00;

impl TransactionData {
    pub(super) fn push_head(&self, out: &mut CommandData) -> Result<(), MessageError> {
        tlv::push(out, tag::TRANSACTION_TYPE, &[self.transaction_type])?;
        tlv::push(out, tag::AMOUNT_AUTHORISED, &self.amount)?;
        tlv::push(out, tag::TRANSACTION_DATE, &self.at.date_bcd())?;
        tlv::push(out, tag::TRANSACTION_TIME, &self.at.time_bcd())?;
        Ok(())
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, MessageError> {
        let [transaction_type] = need_array(data, tag::TRANSACTION_TYPE)?;
        Ok(Self {
            transaction_type,
            amount: need_array(data, tag::AMOUNT_AUTHORISED)?,
            currency: need_array(data, tag::CURRENCY_CODE)?,
            at: parse_time(data)?,
        })
    }
}

pub(super) fn parse_time(data: &[u8]) -> Result<LocalTime, MessageError> {
    LocalTime::from_bcd(need_array(data, tag::TRANSACTION_DATE)?, need_array(data, tag::TRANSACTION_TIME)?)
        .ok_or(MessageError::Malformed(tag::TRANSACTION_DATE))
}

impl<'a> ContinueData<'a> {
    pub(super) fn push(&self, out: &mut CommandData) -> Result<(), MessageError> {
        match *self {
            Self::Decision(decision) => tlv::push(out, tags::DECISION, &[decision])?,
            Self::Choose(ApplicationChoice { aid, label }) => {
                tlv::push(out, tag::AID_CARD, aid)?;
                if let Some(label) = label {
                    tlv::push(out, tag::APPLICATION_LABEL, label)?;
                }
            }
            Self::Host { arc, authentication, scripts } => {
                tlv::push(out, tag::AUTHORISATION_RESPONSE_CODE, &arc)?;
                if let Some(value) = authentication {
                    tlv::push(out, tag::ISSUER_AUTHENTICATION_DATA, value)?;
                }
                out.extend_from_slice(scripts).map_err(|_| EncodeError::TooLong { bytes: scripts.len() })?;
            }
        }
        Ok(())
    }

    /// Only one level is read, because the content of a script is for the card.
    pub(super) fn parse(data: &'a [u8]) -> Result<Self, MessageError> {
        let template = tlv::walk(data).next().ok_or(MessageError::Missing(tags::COMMAND_DATA))??;
        let body = template.value;
        let (mut arc, mut authentication, mut scripts, mut at) = (None, None, None, 0);
        let (mut aid, mut label) = (None, None);
        for object in tlv::walk(body) {
            let object = object?;
            match object.tag {
                tags::DECISION => {
                    return object
                        .value
                        .first()
                        .map(|it| Self::Decision(*it))
                        .ok_or(MessageError::Malformed(object.tag));
                }
                tag::ISSUER_SCRIPT_1 | tag::ISSUER_SCRIPT_2 => scripts = scripts.or(Some(at)),
                // Scripts are passed on unchanged, so they must be contiguous and follow all other elements.
                other if scripts.is_some() => return Err(MessageError::Malformed(other)),
                tag::AUTHORISATION_RESPONSE_CODE => arc = object.value.try_into().ok(),
                tag::ISSUER_AUTHENTICATION_DATA => authentication = Some(object.value),
                tag::AID_CARD => aid = Some(object.value),
                tag::APPLICATION_LABEL => label = Some(object.value),
                _ => {}
            }
            at += object.raw.len();
        }
        if let Some(aid) = aid {
            return Ok(Self::Choose(ApplicationChoice { aid, label }));
        }
        let arc = arc.ok_or(MessageError::Missing(tag::AUTHORISATION_RESPONSE_CODE))?;
        Ok(Self::Host { arc, authentication, scripts: scripts.map_or(&[], |at| &body[at..]) })
    }
}
