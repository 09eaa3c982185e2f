//! The commands: CLA INS P1 P2 [Lc data] (readers: 2.1, 2.2, 2.5 to 2.10). The order of the elements is the vendor's.

use super::message::{MessageError, need_array, search, tags};
use crate::emv::{tag, tlv};
use crate::money::Amount;
use crate::reader::link::{self, MAX_COMMAND_DATA, Packet};
use crate::reader::{Arm, LocalTime};

/// A command to the reader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Command<'a> {
    /// D000 RESET DEVICE.
    Reset(Reset),
    /// D001 GET CONFIGURATION.
    GetConfiguration,
    /// D002 GET DEVICE INFO.
    GetDeviceInfo,
    /// D010 SYSTEM CLOCK, read.
    ClockGet,
    /// D010 SYSTEM CLOCK, set.
    ClockSet(LocalTime),
    /// D060 CARD STATUS: bit 0 unsolicited messages, 1 ATR, 2 to 4 tracks. Its answer is an unsolicited message.
    CardStatus {
        /// The bits; 1F all on, 00 off.
        flags: u8,
    },
    /// D061 KEYBOARD STATUS.
    Keyboard {
        /// 00 off, 01 on, FF unchanged.
        keys: u8,
        /// Backlight: 00 off, 01 on, FF unchanged.
        light: u8,
    },
    /// D062 BATTERY STATUS, query.
    BatteryStatus,
    /// D0FF ABORT.
    Abort,
    /// D201 DISPLAY TEXT: four rows of 21 characters.
    DisplayText {
        /// Backlight on.
        light: bool,
        /// The text is UTF-8.
        utf8: bool,
        /// Lines separated by LF.
        text: &'a [u8],
    },
    /// D204 GET NUMERIC DATA.
    GetNumeric {
        /// Backlight on.
        light: bool,
        /// Three indices into the signed prompts.
        prompts: [u8; 6],
        /// Integer and fraction digits.
        format: [u8; 2],
    },
    /// DED1 START TRANSACTION with the chip in the slot.
    StartTransaction(Terms),
    /// DEC1 START CONTACTLESS TRANSACTION.
    StartContactless {
        /// The terms.
        terms: Terms,
        /// Seconds until 9F42; the reader's own default when absent.
        timeout: Option<u16>,
    },
    /// DED2 CONTINUE TRANSACTION.
    Continue(Continue<'a>),
    /// DED6 ONLINE PIN for the card that was swiped last.
    OnlinePin {
        /// 9F02.
        amount: [u8; 6],
        /// 5F2A.
        currency: [u8; 2],
        /// What the cardholder is shown (50).
        label: &'a [u8],
        /// DFAE22 as it came.
        masked_track2: &'a [u8],
    },
    /// EEE0 P2PE STATUS.
    P2peStatus,
}

// It may hold a masked track with its expiry date: name only.
impl std::fmt::Debug for Command<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How to reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// The application only.
    Soft,
    /// Reboot.
    Hard,
}

/// What a card is asked to take part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// 9C.
    pub transaction_type: u8,
    /// 9F02.
    pub amount: [u8; 6],
    /// 5F2A.
    pub currency: [u8; 2],
    /// 9A and 9F21.
    pub at: LocalTime,
}

impl Terms {
    /// The terms of an amount.
    #[must_use]
    pub fn new(transaction_type: u8, amount: Amount, at: LocalTime) -> Self {
        Self { transaction_type, amount: amount.to_bcd(), currency: amount.currency().to_bcd(), at }
    }
}

impl From<&Arm> for Terms {
    fn from(arm: &Arm) -> Self {
        Self::new(arm.transaction_type, arm.amount, arm.at)
    }
}

/// What CONTINUE TRANSACTION carries (readers: 2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue<'a> {
    /// The answer to an E2 without a choice: C0.
    Decision(u8),
    /// The host's answer.
    Host {
        /// 8A.
        arc: [u8; 2],
        /// 91.
        authentication: Option<&'a [u8]>,
        /// 71 and 72, whole objects one after another; empty when there are none.
        scripts: &'a [u8],
    },
}

/// DFA204: the application is selected on the reader (readers: 2.5).
const SELECT_ON_READER: u8 = 0x01;
/// DFA203: stage of terminal risk management, as the vendor sends it.
const RISK_STAGE: u8 = 0x00;
/// ONLINE PIN's P1.
const ONLINE_PIN_P1: u8 = 0x01;

type Data = heapless::Vec<u8, { link::MAX_MESSAGE }>;

impl<'a> Command<'a> {
    /// Its name, for a trace.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reset(_) => "RESET DEVICE",
            Self::GetConfiguration => "GET CONFIGURATION",
            Self::GetDeviceInfo => "GET DEVICE INFO",
            Self::ClockGet | Self::ClockSet(_) => "SYSTEM CLOCK",
            Self::CardStatus { .. } => "CARD STATUS",
            Self::Keyboard { .. } => "KEYBOARD STATUS",
            Self::BatteryStatus => "BATTERY STATUS",
            Self::Abort => "ABORT",
            Self::DisplayText { .. } => "DISPLAY TEXT",
            Self::GetNumeric { .. } => "GET NUMERIC DATA",
            Self::StartTransaction(_) => "START TRANSACTION",
            Self::StartContactless { .. } => "START CONTACTLESS TRANSACTION",
            Self::Continue(_) => "CONTINUE TRANSACTION",
            Self::OnlinePin { .. } => "ONLINE PIN",
            Self::P2peStatus => "P2PE STATUS",
        }
    }

    /// The packet to send.
    ///
    /// # Errors
    /// When the data are more than [`MAX_COMMAND_DATA`] bytes.
    pub fn encode(&self) -> Result<Packet, MessageError> {
        let head: [u8; 4] = match *self {
            Self::Reset(Reset::Soft) => [0xD0, 0x00, 0x00, 0x00],
            Self::Reset(Reset::Hard) => [0xD0, 0x00, 0x01, 0x00],
            Self::GetConfiguration => [0xD0, 0x01, 0x00, 0x00],
            Self::GetDeviceInfo => [0xD0, 0x02, 0x00, 0x00],
            Self::ClockGet | Self::ClockSet(_) => [0xD0, 0x10, 0x00, 0x00],
            Self::CardStatus { flags } => [0xD0, 0x60, flags, 0x00],
            Self::Keyboard { keys, light } => [0xD0, 0x61, keys, light],
            Self::BatteryStatus => [0xD0, 0x62, 0x00, 0x00],
            Self::Abort => [0xD0, 0xFF, 0x00, 0x00],
            Self::DisplayText { light, utf8, .. } => [0xD2, 0x01, 0x00, u8::from(light) | (u8::from(utf8) << 7)],
            Self::GetNumeric { light, .. } => [0xD2, 0x04, 0x00, u8::from(light)],
            Self::StartTransaction(_) => [0xDE, 0xD1, 0x00, 0x00],
            Self::StartContactless { .. } => [0xDE, 0xC1, 0x00, 0x00],
            Self::Continue(_) => [0xDE, 0xD2, 0x00, 0x00],
            Self::OnlinePin { .. } => [0xDE, 0xD6, ONLINE_PIN_P1, 0x00],
            Self::P2peStatus => [0xEE, 0xE0, 0x00, 0x00],
        };
        let data = self.data()?;
        let lc = u8::try_from(data.len()).ok().filter(|lc| usize::from(*lc) <= MAX_COMMAND_DATA);
        let lc = lc.ok_or(link::EncodeError::TooLong { bytes: data.len() })?;
        let mut apdu = heapless::Vec::<u8, { link::MAX_APDU }>::from_array(head);
        // Lc and data are left out together (readers: 2.1).
        if lc > 0 {
            apdu.push(lc).expect("CLA INS P1 P2 Lc and MAX_COMMAND_DATA fill an APDU");
            apdu.extend_from_slice(&data).expect("CLA INS P1 P2 Lc and MAX_COMMAND_DATA fill an APDU");
        }
        Ok(link::command(&apdu)?)
    }

    fn data(&self) -> Result<Data, MessageError> {
        let mut inner = Data::new();
        let out = &mut inner;
        match *self {
            Self::ClockSet(at) => {
                tlv::push(out, tag::TRANSACTION_DATE, &at.date_bcd())?;
                tlv::push(out, tag::TRANSACTION_TIME, &at.time_bcd())?;
            }
            Self::DisplayText { text, .. } => {
                return Data::from_slice(text).map_err(|_| link::EncodeError::TooLong { bytes: text.len() }.into());
            }
            Self::GetNumeric { prompts, format, .. } => {
                tlv::push(out, tags::PROMPTS, &prompts)?;
                tlv::push(out, tags::NUMBER_FORMAT, &format)?;
            }
            Self::StartTransaction(terms) => {
                terms.push_head(out)?;
                tlv::push(out, tags::APPLICATION_SELECTION, &[SELECT_ON_READER])?;
                tlv::push(out, tags::RISK_STAGE, &[RISK_STAGE])?;
                tlv::push(out, tag::CURRENCY_CODE, &terms.currency)?;
            }
            Self::StartContactless { terms, timeout } => {
                terms.push_head(out)?;
                tlv::push(out, tag::CURRENCY_CODE, &terms.currency)?;
                if let Some(seconds) = timeout {
                    tlv::push(out, tags::TIMEOUT, &seconds.to_be_bytes())?;
                }
            }
            Self::Continue(Continue::Decision(decision)) => tlv::push(out, tags::DECISION, &[decision])?,
            Self::Continue(Continue::Host { arc, authentication, scripts }) => {
                tlv::push(out, tag::AUTHORISATION_RESPONSE_CODE, &arc)?;
                if let Some(value) = authentication {
                    tlv::push(out, tag::ISSUER_AUTHENTICATION_DATA, value)?;
                }
                out.extend_from_slice(scripts).map_err(|_| link::EncodeError::TooLong { bytes: scripts.len() })?;
            }
            Self::OnlinePin { amount, currency, label, masked_track2 } => {
                tlv::push(out, tag::AMOUNT_AUTHORISED, &amount)?;
                tlv::push(out, tag::APPLICATION_LABEL, label)?;
                tlv::push(out, tag::CURRENCY_CODE, &currency)?;
                tlv::push(out, tags::MASKED_TRACK2, masked_track2)?;
            }
            _ => return Ok(Data::new()),
        }
        let mut data = Data::new();
        tlv::push(&mut data, tags::COMMAND_DATA, &inner)?;
        Ok(data)
    }

    /// Reads a command's message: the simulated reader's side. Elements it does not know are ignored.
    ///
    /// # Errors
    /// When it is none of these commands, or its data are not what it needs.
    pub fn parse(apdu: &'a [u8]) -> Result<Self, MessageError> {
        let length = MessageError::Length { bytes: apdu.len() };
        let (&[cla, ins, p1, p2], rest) = apdu.split_first_chunk().ok_or(length)?;
        let data = match rest {
            [] => rest,
            [lc, data @ ..] if usize::from(*lc) == data.len() => data,
            _ => return Err(length),
        };
        Ok(match [cla, ins] {
            [0xD0, 0x00] => Self::Reset(if p1 == 1 { Reset::Hard } else { Reset::Soft }),
            [0xD0, 0x01] => Self::GetConfiguration,
            [0xD0, 0x02] => Self::GetDeviceInfo,
            [0xD0, 0x10] if data.is_empty() => Self::ClockGet,
            [0xD0, 0x10] => Self::ClockSet(parse_time(data)?),
            [0xD0, 0x60] => Self::CardStatus { flags: p1 },
            [0xD0, 0x61] => Self::Keyboard { keys: p1, light: p2 },
            [0xD0, 0x62] => Self::BatteryStatus,
            [0xD0, 0xFF] => Self::Abort,
            [0xD2, 0x01] => Self::DisplayText { light: p2 & 1 != 0, utf8: p2 & 0x80 != 0, text: data },
            [0xD2, 0x04] => Self::GetNumeric {
                light: p2 & 1 != 0,
                prompts: need_array(data, tags::PROMPTS)?,
                format: need_array(data, tags::NUMBER_FORMAT)?,
            },
            [0xDE, 0xD1] => Self::StartTransaction(Terms::parse(data)?),
            [0xDE, 0xC1] => Self::StartContactless {
                terms: Terms::parse(data)?,
                timeout: match search(data, tags::TIMEOUT)? {
                    Some(_) => Some(u16::from_be_bytes(need_array(data, tags::TIMEOUT)?)),
                    None => None,
                },
            },
            [0xDE, 0xD2] => Self::Continue(Continue::parse(data)?),
            [0xDE, 0xD6] => Self::OnlinePin {
                amount: need_array(data, tag::AMOUNT_AUTHORISED)?,
                currency: need_array(data, tag::CURRENCY_CODE)?,
                label: super::message::need(data, tag::APPLICATION_LABEL)?,
                masked_track2: super::message::need(data, tags::MASKED_TRACK2)?,
            },
            [0xEE, 0xE0] => Self::P2peStatus,
            other => return Err(MessageError::UnknownCommand(u16::from_be_bytes(other))),
        })
    }
}

impl Terms {
    fn push_head(&self, out: &mut Data) -> Result<(), MessageError> {
        tlv::push(out, tag::TRANSACTION_TYPE, &[self.transaction_type])?;
        tlv::push(out, tag::AMOUNT_AUTHORISED, &self.amount)?;
        tlv::push(out, tag::TRANSACTION_DATE, &self.at.date_bcd())?;
        tlv::push(out, tag::TRANSACTION_TIME, &self.at.time_bcd())?;
        Ok(())
    }

    fn parse(data: &[u8]) -> Result<Self, MessageError> {
        let [transaction_type] = need_array(data, tag::TRANSACTION_TYPE)?;
        Ok(Self {
            transaction_type,
            amount: need_array(data, tag::AMOUNT_AUTHORISED)?,
            currency: need_array(data, tag::CURRENCY_CODE)?,
            at: parse_time(data)?,
        })
    }
}

fn parse_time(data: &[u8]) -> Result<LocalTime, MessageError> {
    LocalTime::from_bcd(need_array(data, tag::TRANSACTION_DATE)?, need_array(data, tag::TRANSACTION_TIME)?)
        .ok_or(MessageError::Malformed(tag::TRANSACTION_DATE))
}

impl<'a> Continue<'a> {
    /// Looks at one level only: what is inside of a script is for the card.
    fn parse(data: &'a [u8]) -> Result<Self, MessageError> {
        let template = tlv::walk(data).next().ok_or(MessageError::Missing(tags::COMMAND_DATA))??;
        let body = template.value;
        let (mut arc, mut authentication, mut scripts, mut at) = (None, None, None, 0);
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
                // Scripts are handed on as they stand, so they must stand together, after everything else.
                other if scripts.is_some() => return Err(MessageError::Malformed(other)),
                tag::AUTHORISATION_RESPONSE_CODE => arc = object.value.try_into().ok(),
                tag::ISSUER_AUTHENTICATION_DATA => authentication = Some(object.value),
                _ => {}
            }
            at += object.raw.len();
        }
        let arc = arc.ok_or(MessageError::Missing(tag::AUTHORISATION_RESPONSE_CODE))?;
        Ok(Self::Host { arc, authentication, scripts: scripts.map_or(&[], |at| &body[at..]) })
    }
}
