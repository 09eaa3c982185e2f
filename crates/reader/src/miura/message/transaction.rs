//! The data that START and CONTINUE TRANSACTION carry to the card: amount, currency, date and type of a transaction, a
//! choice of application, and the gateway's answer (readers: 2.5 to 2.7).

use super::element::{CommandData, MessageError, need_array, tags};
use crate::LocalTime;
use crate::card_answer::ApplicationChoice;
use crate::family::TransactionData;
use pos_reader_link::apdu_link::EncodeError;
use pos_terms::emv::{tag, tlv};

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

/// DFA204: the application is selected on the reader (readers: 2.5).
pub(super) const SELECT_ON_READER: u8 = 0x01;
/// DFA203: the stage of terminal risk management, as the vendor sends it.
pub(super) const RISK_STAGE: u8 = 0x00;

/// Writes type, amount, date and time, with which START and START CONTACTLESS begin.
pub(super) fn push_head(out: &mut CommandData, transaction: &TransactionData) -> Result<(), MessageError> {
    tlv::push(out, tag::TRANSACTION_TYPE, &[transaction.transaction_type])?;
    tlv::push(out, tag::AMOUNT_AUTHORISED, &transaction.amount)?;
    tlv::push(out, tag::TRANSACTION_DATE, &transaction.at.date_bcd())?;
    tlv::push(out, tag::TRANSACTION_TIME, &transaction.at.time_bcd())?;
    Ok(())
}

pub(super) fn parse_transaction(data: &[u8]) -> Result<TransactionData, MessageError> {
    let [transaction_type] = need_array(data, tag::TRANSACTION_TYPE)?;
    Ok(TransactionData {
        transaction_type,
        amount: need_array(data, tag::AMOUNT_AUTHORISED)?,
        currency: need_array(data, tag::CURRENCY_CODE)?,
        at: parse_time(data)?,
    })
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
