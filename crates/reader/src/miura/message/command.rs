//! The commands: CLA INS P1 P2 [Lc data] (readers: 2.1, 2.2, 2.5 to 2.10). The elements follow the vendor's order.

use super::element::{CommandData, MessageError, need, need_array, parse_seconds, search, tags};
use super::transaction::{ContinueData, RISK_STAGE, SELECT_ON_READER, parse_time, parse_transaction, push_head};
use super::typed::{GetDynamicTip, GetNumericData, GetSecureData};
use crate::LocalTime;
use crate::family::TransactionData;
use pos_reader_link::apdu_link::{self, MAX_COMMAND_DATA, MAX_EXTENDED_DATA, Packet, Packets};
use pos_terms::emv::{tag, tlv};

/// A command to the reader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MpiCommand<'a> {
    /// D000 RESET DEVICE.
    Reset(ResetKind),
    /// D001 GET CONFIGURATION.
    GetConfiguration,
    /// D002 GET DEVICE INFO.
    GetDeviceInfo,
    /// D010 SYSTEM CLOCK, read.
    ClockGet,
    /// D010 SYSTEM CLOCK, set.
    ClockSet(LocalTime),
    /// D060 CARD STATUS. The bits: 0 unsolicited messages, 1 ATR, 2 to 4 tracks. Its answer is an unsolicited message.
    CardStatus {
        /// The bits: 1F for all, 00 for none.
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
    GetNumeric(GetNumericData),
    /// D205 GET DYNAMIC TIP.
    GetTip(GetDynamicTip),
    /// D2E0 GET SECURE DATA: for a typed card number.
    SecureData(GetSecureData),
    /// D25A GET SECURE PAN: the same on older readers.
    SecurePan {
        /// Three indices of signed prompts.
        prompts: [u8; 6],
    },
    /// DED1 START TRANSACTION, with the chip in the slot.
    StartTransaction(TransactionData),
    /// DEC1 START CONTACTLESS TRANSACTION.
    StartContactless {
        /// Amount, currency, date and type.
        transaction: TransactionData,
        /// The shop's language as two ASCII letters (DFA20C). If it is absent, the reader's own default applies.
        language: Option<[u8; 2]>,
        /// Seconds until 9F42. If absent, the reader's own default applies.
        timeout: Option<u16>,
    },
    /// DED2 CONTINUE TRANSACTION.
    Continue(ContinueData<'a>),
    /// DED6 ONLINE PIN for the card that was swiped last.
    OnlinePin {
        /// 9F02: the amount.
        amount: [u8; 6],
        /// 5F2A: the currency.
        currency: [u8; 2],
        /// The text for the cardholder (50).
        label: &'a [u8],
        /// DFAE22 unchanged.
        masked_track2: &'a [u8],
    },
    /// EEE0 P2PE STATUS.
    P2peStatus,
}

// The command may contain a masked track with its expiry date, so only its name is shown.
impl std::fmt::Debug for MpiCommand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The kind of reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetKind {
    /// Reset of the application only.
    Soft,
    /// Reboot.
    Hard,
}

/// P1 of ONLINE PIN.
const ONLINE_PIN_P1: u8 = 0x01;
/// P2 of GET SECURE PAN: backlight on, as in similar commands. UNCERTAIN: it is not published for this command.
const SECURE_PAN_P2: u8 = 0x01;

/// CLA INS P1 P2 [Lc data].
type CommandApdu = heapless::Vec<u8, { apdu_link::MAX_EXTENDED_COMMAND }>;

impl<'a> MpiCommand<'a> {
    /// Returns the command's name, for a trace.
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
            Self::GetNumeric(_) => "GET NUMERIC DATA",
            Self::GetTip(_) => "GET DYNAMIC TIP",
            Self::SecureData(_) => "GET SECURE DATA",
            Self::SecurePan { .. } => "GET SECURE PAN",
            Self::StartTransaction(_) => "START TRANSACTION",
            Self::StartContactless { .. } => "START CONTACTLESS TRANSACTION",
            Self::Continue(_) => "CONTINUE TRANSACTION",
            Self::OnlinePin { .. } => "ONLINE PIN",
            Self::P2peStatus => "P2PE STATUS",
        }
    }

    /// Returns the one packet to send.
    ///
    /// # Errors
    /// Fails if the data are longer than [`MAX_COMMAND_DATA`] bytes.
    pub fn encode(&self) -> Result<Packet, MessageError> {
        Ok(apdu_link::command(&self.apdu(false)?)?)
    }

    /// Returns the packets to send. There is one packet, or with `extended` as many as the data need, up to
    /// [`MAX_EXTENDED_DATA`] bytes.
    ///
    /// # Errors
    /// Fails if the data are longer.
    pub fn packets(&self, extended: bool) -> Result<Packets, MessageError> {
        Ok(apdu_link::extended_command(&self.apdu(extended)?)?)
    }

    fn apdu(&self, extended: bool) -> Result<CommandApdu, MessageError> {
        let data = self.data()?;
        let most = if extended { MAX_EXTENDED_DATA } else { MAX_COMMAND_DATA };
        let too_long = apdu_link::EncodeError::TooLong { bytes: data.len() };
        let length = u16::try_from(data.len()).ok().filter(|_| data.len() <= most).ok_or(too_long)?;
        let mut apdu = CommandApdu::from_array(self.head());
        // Lc and data are left out together. A command that fits one packet has the form that old devices accept
        // (readers: 2.1).
        match length.to_be_bytes() {
            [0, 0] => {}
            [0, low] if data.len() <= MAX_COMMAND_DATA => apdu.push(low).map_err(|_| too_long)?,
            [high, low] => apdu.extend_from_slice(&[0, high, low]).map_err(|_| too_long)?,
        }
        apdu.extend_from_slice(&data).map_err(|_| too_long)?;
        Ok(apdu)
    }

    fn head(&self) -> [u8; 4] {
        match *self {
            Self::Reset(ResetKind::Soft) => [0xD0, 0x00, 0x00, 0x00],
            Self::Reset(ResetKind::Hard) => [0xD0, 0x00, 0x01, 0x00],
            Self::GetConfiguration => [0xD0, 0x01, 0x00, 0x00],
            Self::GetDeviceInfo => [0xD0, 0x02, 0x00, 0x00],
            Self::ClockGet | Self::ClockSet(_) => [0xD0, 0x10, 0x00, 0x00],
            Self::CardStatus { flags } => [0xD0, 0x60, flags, 0x00],
            Self::Keyboard { keys, light } => [0xD0, 0x61, keys, light],
            Self::BatteryStatus => [0xD0, 0x62, 0x00, 0x00],
            Self::Abort => [0xD0, 0xFF, 0x00, 0x00],
            Self::DisplayText { light, utf8, .. } => [0xD2, 0x01, 0x00, u8::from(light) | (u8::from(utf8) << 7)],
            Self::GetNumeric(GetNumericData { light, .. }) => [0xD2, 0x04, 0x00, u8::from(light)],
            Self::GetTip(GetDynamicTip { total, .. }) => [0xD2, 0x05, u8::from(!total), 0x00],
            Self::SecureData(data) => data.head(),
            Self::SecurePan { .. } => [0xD2, 0x5A, 0x00, SECURE_PAN_P2],
            Self::StartTransaction(_) => [0xDE, 0xD1, 0x00, 0x00],
            Self::StartContactless { .. } => [0xDE, 0xC1, 0x00, 0x00],
            Self::Continue(_) => [0xDE, 0xD2, 0x00, 0x00],
            Self::OnlinePin { .. } => [0xDE, 0xD6, ONLINE_PIN_P1, 0x00],
            Self::P2peStatus => [0xEE, 0xE0, 0x00, 0x00],
        }
    }

    fn data(&self) -> Result<CommandData, MessageError> {
        let mut inner = CommandData::new();
        let out = &mut inner;
        match *self {
            Self::ClockSet(at) => {
                tlv::push(out, tag::TRANSACTION_DATE, &at.date_bcd())?;
                tlv::push(out, tag::TRANSACTION_TIME, &at.time_bcd())?;
            }
            Self::DisplayText { text, .. } => {
                return CommandData::from_slice(text)
                    .map_err(|_| apdu_link::EncodeError::TooLong { bytes: text.len() }.into());
            }
            Self::GetNumeric(numeric) => numeric.push(out)?,
            Self::GetTip(tip) => tip.push(out)?,
            Self::SecureData(GetSecureData::Clear | GetSecureData::Encrypt) => return Ok(CommandData::new()),
            Self::SecureData(data) => data.push(out)?,
            Self::SecurePan { prompts } => {
                tlv::push(out, tags::SECURE_ELEMENT, &[GetSecureData::PAN])?;
                tlv::push(out, tags::PROMPTS, &prompts)?;
            }
            Self::StartTransaction(transaction) => {
                push_head(out, &transaction)?;
                tlv::push(out, tags::APPLICATION_SELECTION, &[SELECT_ON_READER])?;
                tlv::push(out, tags::RISK_STAGE, &[RISK_STAGE])?;
                tlv::push(out, tag::CURRENCY_CODE, &transaction.currency)?;
            }
            Self::StartContactless { transaction, language, timeout } => {
                push_head(out, &transaction)?;
                tlv::push(out, tag::CURRENCY_CODE, &transaction.currency)?;
                if let Some(language) = language {
                    tlv::push(out, tags::LANGUAGE, &language)?;
                }
                if let Some(seconds) = timeout {
                    tlv::push(out, tags::TIMEOUT, &seconds.to_be_bytes())?;
                }
            }
            Self::Continue(it) => it.push(out)?,
            Self::OnlinePin { amount, currency, label, masked_track2 } => {
                tlv::push(out, tag::AMOUNT_AUTHORISED, &amount)?;
                tlv::push(out, tag::APPLICATION_LABEL, label)?;
                tlv::push(out, tag::CURRENCY_CODE, &currency)?;
                tlv::push(out, tags::MASKED_TRACK2, masked_track2)?;
            }
            _ => return Ok(CommandData::new()),
        }
        let mut data = CommandData::new();
        tlv::push(&mut data, tags::COMMAND_DATA, &inner)?;
        Ok(data)
    }

    /// Reads a command's message from captured frames, as the reverse of [`Self::packets`]. Ignores unknown elements.
    ///
    /// # Errors
    /// Fails if the message is not one of these commands, or if its data do not fit the command.
    pub fn parse(apdu: &'a [u8]) -> Result<Self, MessageError> {
        let length = MessageError::Length { bytes: apdu.len() };
        let (&[cla, ins, p1, p2], rest) = apdu.split_first_chunk().ok_or(length)?;
        let data = match rest {
            [] => rest,
            [lc, data @ ..] if usize::from(*lc) == data.len() => data,
            [0, high, low, data @ ..] if usize::from(u16::from_be_bytes([*high, *low])) == data.len() => data,
            _ => return Err(length),
        };
        Ok(match [cla, ins] {
            [0xD0, 0x00] => Self::Reset(if p1 == 1 { ResetKind::Hard } else { ResetKind::Soft }),
            [0xD0, 0x01] => Self::GetConfiguration,
            [0xD0, 0x02] => Self::GetDeviceInfo,
            [0xD0, 0x10] if data.is_empty() => Self::ClockGet,
            [0xD0, 0x10] => Self::ClockSet(parse_time(data)?),
            [0xD0, 0x60] => Self::CardStatus { flags: p1 },
            [0xD0, 0x61] => Self::Keyboard { keys: p1, light: p2 },
            [0xD0, 0x62] => Self::BatteryStatus,
            [0xD0, 0xFF] => Self::Abort,
            [0xD2, 0x01] => Self::DisplayText { light: p2 & 1 != 0, utf8: p2 & 0x80 != 0, text: data },
            [0xD2, 0x04] => Self::GetNumeric(GetNumericData::parse(p2, data)?),
            [0xD2, 0x05] => Self::GetTip(GetDynamicTip::parse(p1, data)?),
            [0xD2, 0x5A] => Self::SecurePan { prompts: need_array(data, tags::PROMPTS)? },
            [0xD2, 0xE0] => Self::SecureData(GetSecureData::parse(p1, p2, data)?),
            [0xDE, 0xD1] => Self::StartTransaction(parse_transaction(data)?),
            [0xDE, 0xC1] => Self::StartContactless {
                transaction: parse_transaction(data)?,
                language: match search(data, tags::LANGUAGE)? {
                    Some(_) => Some(need_array(data, tags::LANGUAGE)?),
                    None => None,
                },
                timeout: parse_seconds(data)?,
            },
            [0xDE, 0xD2] => Self::Continue(ContinueData::parse(data)?),
            [0xDE, 0xD6] => Self::OnlinePin {
                amount: need_array(data, tag::AMOUNT_AUTHORISED)?,
                currency: need_array(data, tag::CURRENCY_CODE)?,
                label: need(data, tag::APPLICATION_LABEL)?,
                masked_track2: need(data, tags::MASKED_TRACK2)?,
            },
            [0xEE, 0xE0] => Self::P2peStatus,
            other => return Err(MessageError::UnknownCommand(u16::from_be_bytes(other))),
        })
    }
}
