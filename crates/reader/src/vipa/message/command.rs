//! The commands: CLA INS P1 P2 [Lc data] (readers: 3.1 to 3.4). A command may have several packets.

use super::answer::parse_time;
use super::tags;
use crate::LocalTime;
use crate::apdu::{MessageError, need, need_array, search};
use crate::card_answer::ApplicationChoice;
use crate::family::{HostAnswer, TransactionData};
use pos_reader_link::apdu_link::{self, EncodeError, Packets};
use pos_terms::emv::{tag, tlv};

/// A command to the reader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum VipaCommand<'a> {
    /// D000 RESET with P2 01: soft, and answer with the identity.
    Reset,
    /// D060 CARD STATUS with P1 1D: events and tracks. P2 03: keys too.
    CardStatus,
    /// DD10 DATE AND TIME, read.
    ClockGet,
    /// DD10 DATE AND TIME, set.
    ClockSet(LocalTime),
    /// D0FF ABORT.
    Abort,
    /// D201 DISPLAY of a prepared text.
    ShowPrepared {
        /// The text's number.
        index: u8,
    },
    /// D201 DISPLAY of a text.
    Show {
        /// The text. Its lines end with a line feed.
        text: &'a [u8],
    },
    /// D204 NUMERIC.
    Numeric {
        /// Three indices of prompts.
        prompts: [u8; 6],
        /// The numbers of integer and fraction digits.
        format: [u8; 2],
    },
    /// D214 MANUAL PAN.
    ManualPan {
        /// Bits: 0 number, 1 expiry date.
        parts: u8,
        /// DFAA01: the name of the reader's screen.
        screen: &'a [u8],
    },
    /// C411 GET SECURITY CONFIGURATION.
    SecurityConfiguration {
        /// The slot of the encryption.
        slot: u8,
        /// The host's number.
        host: u8,
    },
    /// C000 CONTACTLESS STATUS.
    ContactlessStatus,
    /// C001 CONTACTLESS OPEN.
    ContactlessOpen,
    /// C0A0 START CONTACTLESS.
    StartContactless {
        /// The transaction's data.
        transaction: TransactionData,
        /// 9F03: the cashback. The document lists it, but its computed frame has none.
        other: Option<[u8; 6]>,
        /// 9F1A: the terminal's country.
        country: [u8; 2],
    },
    /// C0A1 CONTINUE CONTACTLESS.
    ContinueContactless(ContinueTerms<'a>),
    /// C0C0 CANCEL CONTACTLESS.
    CancelContactless,
    /// DED1 START.
    Start {
        /// The transaction's data.
        transaction: TransactionData,
        /// 9F1A: the terminal's country.
        country: [u8; 2],
    },
    /// DED2 CONTINUE.
    Continue(ContinueTerms<'a>),
    /// DED6 ONLINE PIN.
    OnlinePin(OnlinePinTerms<'a>),
    /// D2D0 GET LANGUAGE.
    Language,
}

// The command may contain a card number, so only its name is shown.
impl std::fmt::Debug for VipaCommand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The data of CONTINUE and CONTINUE CONTACTLESS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContinueTerms<'a> {
    /// 9F02, 5F2A, and 9F1A.
    pub money: Option<([u8; 6], [u8; 2], [u8; 2])>,
    /// 50 and 9F06: the chosen application.
    pub choice: Option<ApplicationChoice<'a>>,
    /// 8A, 91, 71 and 72: the gateway's answer.
    pub host: Option<HostAnswer<'a>>,
    /// C0: the decision.
    pub decision: Option<u8>,
    /// C2: the acquirer's index, in ASCII.
    pub acquirer: Option<&'a [u8]>,
}

/// The data of ONLINE PIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnlinePinTerms<'a> {
    /// P1: the host's number, which selects the key.
    pub host: u8,
    /// DFED04: minimum number of digits. The document lists it, but its computed frame has none.
    pub min: Option<u8>,
    /// DFED05: maximum number of digits.
    pub max: u8,
    /// DFDF17: the amount.
    pub amount: [u8; 6],
    /// DFDF24: the currency's letters.
    pub currency: &'a [u8],
    /// DFDF1C: the decimals.
    pub exponent: u8,
    /// 5A: the card. The agent never sends it, so the PIN is about the card that was read last.
    pub pan: Option<&'a [u8]>,
}

/// P1 of DATE AND TIME. UNCERTAIN: the document gives the values without a proof (readers: 3.2, DD10).
const CLOCK_SET: u8 = 0x00;
const CLOCK_GET: u8 = 0x01;
/// P1 of CONTACTLESS STATUS: with the reader's name and version.
const CONTACTLESS_DETAILS: u8 = 0x01;
/// P1 of START CONTACTLESS: a payment.
const PAYMENT: u8 = 0x01;
/// DFEC05: the first try.
const FIRST_TRY: u8 = 0x00;
/// DFA214: the reader suppresses its own display, and DFA218: the style of its PIN entry, both as captured.
const DISPLAY_IS_SUPPRESSED: u8 = 0x01;
const PIN_STYLE: u8 = 0x00;
/// 9F03: the agent gives no cashback.
pub(in crate::vipa) const NO_CASHBACK: [u8; 6] = [0; 6];

type CommandData = heapless::Vec<u8, { apdu_link::MAX_EXTENDED_COMMAND }>;

impl<'a> VipaCommand<'a> {
    /// Returns the command's name, for a trace.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reset => "RESET",
            Self::CardStatus => "CARD STATUS",
            Self::ClockGet | Self::ClockSet(_) => "DATE AND TIME",
            Self::Abort => "ABORT",
            Self::ShowPrepared { .. } | Self::Show { .. } => "DISPLAY",
            Self::Numeric { .. } => "NUMERIC",
            Self::ManualPan { .. } => "MANUAL PAN",
            Self::SecurityConfiguration { .. } => "GET SECURITY CONFIGURATION",
            Self::ContactlessStatus => "CONTACTLESS STATUS",
            Self::ContactlessOpen => "CONTACTLESS OPEN",
            Self::StartContactless { .. } => "START CONTACTLESS",
            Self::ContinueContactless(_) => "CONTINUE CONTACTLESS",
            Self::CancelContactless => "CANCEL CONTACTLESS",
            Self::Start { .. } => "START TRANSACTION",
            Self::Continue(_) => "CONTINUE TRANSACTION",
            Self::OnlinePin(_) => "ONLINE PIN",
            Self::Language => "GET LANGUAGE",
        }
    }

    /// Returns the packets to send.
    ///
    /// # Errors
    /// Fails if the data are longer than [`apdu_link::MAX_EXTENDED_COMMAND`] allows.
    pub fn packets(&self) -> Result<Packets, MessageError> {
        let data = self.data()?;
        let mut apdu = CommandData::from_array(self.head());
        let too_long = EncodeError::TooLong { bytes: data.len() };
        if !data.is_empty() {
            // Lc has one byte, and stays FF for more data (readers: 3.1).
            apdu.push(u8::try_from(data.len()).unwrap_or(u8::MAX)).map_err(|_| too_long)?;
            apdu.extend_from_slice(&data).map_err(|_| too_long)?;
        }
        Ok(apdu_link::vipa_command(&apdu)?)
    }

    fn head(&self) -> [u8; 4] {
        match *self {
            Self::Reset => [0xD0, 0x00, 0x00, 0x01],
            Self::CardStatus => [0xD0, 0x60, 0x1D, 0x03],
            Self::ClockGet => [0xDD, 0x10, CLOCK_GET, 0x00],
            Self::ClockSet(_) => [0xDD, 0x10, CLOCK_SET, 0x00],
            Self::Abort => [0xD0, 0xFF, 0x00, 0x00],
            Self::ShowPrepared { index } => [0xD2, 0x01, index, 0x01],
            Self::Show { .. } => [0xD2, 0x01, 0x00, 0x01],
            Self::Numeric { .. } => [0xD2, 0x04, 0x00, 0x01],
            Self::ManualPan { parts, .. } => [0xD2, 0x14, parts, 0x01],
            Self::SecurityConfiguration { slot, host } => [0xC4, 0x11, slot, host],
            Self::ContactlessStatus => [0xC0, 0x00, CONTACTLESS_DETAILS, 0x00],
            Self::ContactlessOpen => [0xC0, 0x01, 0x00, 0x00],
            Self::StartContactless { .. } => [0xC0, 0xA0, PAYMENT, 0x00],
            Self::ContinueContactless(_) => [0xC0, 0xA1, 0x00, 0x00],
            Self::CancelContactless => [0xC0, 0xC0, 0x00, 0x00],
            Self::Start { .. } => [0xDE, 0xD1, 0x00, 0x00],
            Self::Continue(_) => [0xDE, 0xD2, 0x00, 0x00],
            Self::OnlinePin(OnlinePinTerms { host, .. }) => [0xDE, 0xD6, host, 0x00],
            Self::Language => [0xD2, 0xD0, 0x00, 0x00],
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
            Self::Show { text } => {
                return CommandData::from_slice(text).map_err(|_| EncodeError::TooLong { bytes: text.len() }.into());
            }
            Self::Numeric { prompts, format } => {
                tlv::push(out, tags::PROMPTS, &prompts)?;
                tlv::push(out, tags::NUMBER_FORMAT, &format)?;
            }
            Self::ManualPan { screen, .. } => tlv::push(out, tags::SCREEN, screen)?,
            Self::StartContactless { transaction, other, country } => {
                tlv::push(out, tag::AMOUNT_AUTHORISED, &transaction.amount)?;
                if let Some(other) = other {
                    tlv::push(out, tag::AMOUNT_OTHER, &other)?;
                }
                tlv::push(out, tag::TRANSACTION_DATE, &transaction.at.date_bcd())?;
                tlv::push(out, tag::TRANSACTION_TYPE, &[transaction.transaction_type])?;
                tlv::push(out, tag::TRANSACTION_TIME, &transaction.at.time_bcd())?;
                tlv::push(out, tag::CURRENCY_CODE, &transaction.currency)?;
                tlv::push(out, tag::TERMINAL_COUNTRY_CODE, &country)?;
            }
            Self::Start { transaction, country } => {
                tlv::push(out, tag::TRANSACTION_TYPE, &[transaction.transaction_type])?;
                tlv::push(out, tag::AMOUNT_AUTHORISED, &transaction.amount)?;
                tlv::push(out, tag::AMOUNT_OTHER, &NO_CASHBACK)?;
                tlv::push(out, tag::TRANSACTION_DATE, &transaction.at.date_bcd())?;
                tlv::push(out, tag::TRANSACTION_TIME, &transaction.at.time_bcd())?;
                tlv::push(out, tag::TERMINAL_COUNTRY_CODE, &country)?;
                tlv::push(out, tag::CURRENCY_CODE, &transaction.currency)?;
                tlv::push(out, tags::SUPPRESS_DISPLAY, &[DISPLAY_IS_SUPPRESSED])?;
                tlv::push(out, tags::PIN_STYLE, &[PIN_STYLE])?;
            }
            Self::ContinueContactless(terms) | Self::Continue(terms) => terms.push(out)?,
            Self::OnlinePin(terms) => terms.push(out)?,
            _ => return Ok(CommandData::new()),
        }
        let mut data = CommandData::new();
        tlv::push(&mut data, tags::COMMAND_DATA, &inner)?;
        Ok(data)
    }

    /// Reads a command's message from captured frames, as the reverse of [`Self::packets`]. Ignores unknown elements.
    ///
    /// # Errors
    /// Fails if the message is not one of these commands, or if its data do not fit the command. Also fails if the
    /// command is too long to be written again.
    pub fn parse(apdu: &'a [u8]) -> Result<Self, MessageError> {
        let command = Self::parse_any_length(apdu)?;
        command.packets().map(|_| command)
    }

    fn parse_any_length(apdu: &'a [u8]) -> Result<Self, MessageError> {
        let length = MessageError::Length { bytes: apdu.len() };
        let (&[cla, ins, p1, p2], rest) = apdu.split_first_chunk().ok_or(length)?;
        let data = match rest {
            [] => rest,
            [lc, data @ ..] if usize::from(*lc) == data.len() || (*lc == u8::MAX && data.len() > 0xFF) => data,
            _ => return Err(length),
        };
        Ok(match [cla, ins] {
            [0xD0, 0x00] if p2 & 1 != 0 => Self::Reset,
            [0xD0, 0x60] => Self::CardStatus,
            [0xDD, 0x10] if p1 == CLOCK_GET => Self::ClockGet,
            [0xDD, 0x10] => Self::ClockSet(parse_time(data)?),
            [0xD0, 0xFF] => Self::Abort,
            [0xD2, 0x01] if p1 != 0 => Self::ShowPrepared { index: p1 },
            [0xD2, 0x01] => Self::Show { text: data },
            [0xD2, 0x04] => Self::Numeric {
                prompts: need_array(data, tags::PROMPTS)?,
                format: need_array(data, tags::NUMBER_FORMAT)?,
            },
            [0xD2, 0x14] => Self::ManualPan { parts: p1, screen: need(data, tags::SCREEN)? },
            [0xC4, 0x11] => Self::SecurityConfiguration { slot: p1, host: p2 },
            [0xC0, 0x00] => Self::ContactlessStatus,
            [0xC0, 0x01] => Self::ContactlessOpen,
            [0xC0, 0xA0] => Self::StartContactless {
                transaction: parse_transaction(data)?,
                other: search(data, tag::AMOUNT_OTHER)?.and_then(|other| other.try_into().ok()),
                country: need_array(data, tag::TERMINAL_COUNTRY_CODE)?,
            },
            [0xC0, 0xA1] => Self::ContinueContactless(ContinueTerms::parse(data)?),
            [0xC0, 0xC0] => Self::CancelContactless,
            [0xDE, 0xD1] => Self::Start {
                transaction: parse_transaction(data)?,
                country: need_array(data, tag::TERMINAL_COUNTRY_CODE)?,
            },
            [0xDE, 0xD2] => Self::Continue(ContinueTerms::parse(data)?),
            [0xDE, 0xD6] => Self::OnlinePin(OnlinePinTerms::parse(p1, data)?),
            [0xD2, 0xD0] => Self::Language,
            _ => return Err(MessageError::UnknownCommand(u16::from_be_bytes([cla, ins]))),
        })
    }
}

fn parse_transaction(data: &[u8]) -> Result<TransactionData, MessageError> {
    let [transaction_type] = need_array(data, tag::TRANSACTION_TYPE)?;
    Ok(TransactionData {
        transaction_type,
        amount: need_array(data, tag::AMOUNT_AUTHORISED)?,
        currency: need_array(data, tag::CURRENCY_CODE)?,
        at: parse_time(data)?,
    })
}

impl<'a> ContinueTerms<'a> {
    fn push(&self, out: &mut CommandData) -> Result<(), MessageError> {
        if let Some(ApplicationChoice { aid, label }) = self.choice {
            if let Some(label) = label {
                tlv::push(out, tag::APPLICATION_LABEL, label)?;
            }
            tlv::push(out, tag::AID_TERMINAL, aid)?;
        }
        if let Some((amount, currency, country)) = &self.money {
            tlv::push(out, tag::AMOUNT_AUTHORISED, amount)?;
            tlv::push(out, tag::AMOUNT_OTHER, &NO_CASHBACK)?;
            tlv::push(out, tag::CURRENCY_CODE, currency)?;
            tlv::push(out, tag::TERMINAL_COUNTRY_CODE, country)?;
        }
        if let Some(HostAnswer { arc, authentication, scripts }) = self.host {
            tlv::push(out, tag::AUTHORISATION_RESPONSE_CODE, &arc)?;
            if let Some(value) = authentication {
                tlv::push(out, tag::ISSUER_AUTHENTICATION_DATA, value)?;
            }
            out.extend_from_slice(scripts).map_err(|_| EncodeError::TooLong { bytes: scripts.len() })?;
        }
        if let Some(decision) = self.decision {
            tlv::push(out, tags::DECISION, &[decision])?;
        }
        if let Some(acquirer) = self.acquirer {
            tlv::push(out, tags::ACQUIRER, acquirer)?;
        }
        Ok(())
    }

    /// Only one level is read, because the content of a script is for the card.
    fn parse(data: &'a [u8]) -> Result<Self, MessageError> {
        let template = tlv::walk(data).next().ok_or(MessageError::Missing(tags::COMMAND_DATA))??;
        let body = template.value;
        let (mut terms, mut arc, mut authentication, mut label, mut aid) = (Self::default(), None, None, None, None);
        let (mut amount, mut currency, mut country, mut scripts) = (None, None, None, None);
        let mut at = 0;
        for object in tlv::walk(body) {
            let object = object?;
            match object.tag {
                tag::APPLICATION_LABEL => label = Some(object.value),
                tag::AID_TERMINAL => aid = Some(object.value),
                tag::AMOUNT_AUTHORISED => amount = object.value.try_into().ok(),
                tag::CURRENCY_CODE => currency = object.value.try_into().ok(),
                tag::TERMINAL_COUNTRY_CODE => country = object.value.try_into().ok(),
                tag::AUTHORISATION_RESPONSE_CODE => arc = object.value.try_into().ok(),
                tag::ISSUER_AUTHENTICATION_DATA => authentication = Some(object.value),
                tags::DECISION => terms.decision = object.value.first().copied(),
                tags::ACQUIRER => terms.acquirer = Some(object.value),
                tag::ISSUER_SCRIPT_1 | tag::ISSUER_SCRIPT_2 => {
                    let (from, to) = scripts.unwrap_or((at, at));
                    // Scripts are passed on unchanged, so they must be contiguous.
                    if to != at {
                        return Err(MessageError::Malformed(object.tag));
                    }
                    scripts = Some((from, at + object.raw.len()));
                }
                _ => {}
            }
            at += object.raw.len();
        }
        terms.choice = aid.map(|aid| ApplicationChoice { aid, label });
        terms.money =
            amount.zip(currency).zip(country).map(|((amount, currency), country)| (amount, currency, country));
        terms.host = arc.map(|arc| HostAnswer {
            arc,
            authentication,
            scripts: scripts.map_or(&[][..], |(from, to)| &body[from..to]),
        });
        Ok(terms)
    }
}

impl<'a> OnlinePinTerms<'a> {
    fn push(&self, out: &mut CommandData) -> Result<(), MessageError> {
        tlv::push(out, tags::PIN_TRY, &[FIRST_TRY])?;
        if let Some(min) = self.min {
            tlv::push(out, tags::PIN_MIN, &[min])?;
        }
        tlv::push(out, tags::PIN_MAX, &[self.max])?;
        tlv::push(out, tags::PIN_AMOUNT, &self.amount)?;
        tlv::push(out, tags::PIN_CURRENCY, self.currency)?;
        tlv::push(out, tags::PIN_EXPONENT, &[self.exponent])?;
        if let Some(pan) = self.pan {
            tlv::push(out, tag::PAN, pan)?;
        }
        Ok(())
    }

    fn parse(host: u8, data: &'a [u8]) -> Result<Self, MessageError> {
        Ok(Self {
            host,
            min: search(data, tags::PIN_MIN)?.and_then(|min| min.first().copied()),
            max: need_array::<1>(data, tags::PIN_MAX)?[0],
            amount: need_array(data, tags::PIN_AMOUNT)?,
            currency: need(data, tags::PIN_CURRENCY)?,
            exponent: need_array::<1>(data, tags::PIN_EXPONENT)?[0],
            pan: search(data, tag::PAN)?,
        })
    }
}
