//! The parts of Miura's messages: Miura's own tags (readers: 2.4), the templates around elements, and the status word
//! at the end.

use super::status::StatusWord;
use crate::apdu;
use pos_reader_link::apdu_link;
use pos_terms::emv::{Tag, TlvError, tlv};

pub use crate::apdu::{MessageError, each, need, need_array, search};

/// A buffer for an answer or unsolicited message: body and status.
pub type MessageBody = heapless::Vec<u8, { apdu_link::MAX_MESSAGE }>;
/// A buffer for the data of a command.
pub(super) type CommandData = heapless::Vec<u8, { apdu_link::MAX_MESSAGE }>;

/// Miura's own tags (readers: 2.4).
pub mod tags {
    use pos_terms::emv::Tag;

    macro_rules! tags {
        ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => { $($(#[$doc])* pub const $name: Tag = Tag($value);)* };
    }

    tags! {
        /// Card status, two bytes.
        CARD_STATUS = 0x48;
        /// Answer to reset. Its value is not BER-TLV, although its tag says "constructed".
        ATR = 0x63;
        /// The decision that an E2 asks for.
        DECISION = 0xC0;
        /// Device status code.
        STATUS_CODE = 0xC3;
        /// Device status text.
        STATUS_TEXT = 0xC4;
        /// The number of PIN tries left at the chip.
        PIN_TRIES = 0xC5;
        /// Command data.
        COMMAND_DATA = 0xE0;
        /// Answer data.
        ANSWER_DATA = 0xE1;
        /// Device status message.
        STATUS_TEMPLATE = 0xE6;
        /// One configuration file.
        CONFIGURATION = 0xED;
        /// One piece of software.
        SOFTWARE = 0xEF;
        /// Name of a file or software.
        NAME = 0xDF0D;
        /// Version of a file or software.
        VERSION = 0xDF7F;
        /// CVM status. Its meaning is not published.
        CVM_STATUS = 0xDF28;
        /// Contactless kernel and mode.
        KERNEL_MODE = 0xDF30;
        /// Digits of a PIN entry, in one family of firmware.
        PIN_DIGITS_1 = 0xDFA101;
        /// PIN entry status, in one family of firmware.
        PIN_STATUS_1 = 0xDFA102;
        /// Digits of a PIN entry, in another family of firmware.
        PIN_DIGITS_2 = 0xDFA201;
        /// PIN entry status, in another family of firmware.
        PIN_STATUS_2 = 0xDFA202;
        /// Configures the stage of terminal risk management.
        RISK_STAGE = 0xDFA203;
        /// Configures the application selection.
        APPLICATION_SELECTION = 0xDFA204;
        /// Key pressed.
        KEY = 0xDFA205;
        /// Indices of signed prompts.
        PROMPTS = 0xDFA206;
        /// Number format: the numbers of integer and fraction digits.
        NUMBER_FORMAT = 0xDFA207;
        /// Numeric data.
        NUMERIC_DATA = 0xDFA208;
        /// Language.
        LANGUAGE = 0xDFA20C;
        /// The row of the display that shows the amount, 1 to 3.
        AMOUNT_LINE = 0xDFA20E;
        /// Secure element: the kind of data to type.
        SECURE_ELEMENT = 0xDFA210;
        /// Tip percentages.
        TIP_PERCENTAGES = 0xDFA217;
        /// Tip template.
        TIP_TEMPLATE = 0xDFA218;
        /// Printer status.
        PRINTER_STATUS = 0xDFA401;
        /// Barcode data.
        BARCODE = 0xDFAB01;
        /// USB-serial data.
        USB_SERIAL = 0xDFAB02;
        /// P2PE status.
        P2PE_STATUS = 0xDFAE01;
        /// SRED data.
        SRED_DATA = 0xDFAE02;
        /// SRED KSN.
        SRED_KSN = 0xDFAE03;
        /// Online PIN block.
        PIN_BLOCK = 0xDFAE04;
        /// PIN KSN.
        PIN_KSN = 0xDFAE05;
        /// Masked track 1 of a swipe, in ASCII.
        MASKED_TRACK1 = 0xDFAE21;
        /// Masked track 1 equivalent of a chip, in ASCII.
        MASKED_TRACK1_ICC = 0xDFAE56;
        /// Masked track 2 of a contactless card in magstripe mode, in BCD with nibble F.
        MASKED_TRACK2_MSD = 0xDFAE6B;
        /// Masked track 2, in ASCII.
        MASKED_TRACK2 = 0xDFAE22;
        /// Masked track 2 equivalent of a chip, in BCD with nibble F.
        MASKED_TRACK2_ICC = 0xDFAE57;
        /// Masked PAN, in BCD with nibble F.
        MASKED_PAN = 0xDFAE5A;
        /// Timeout in seconds.
        TIMEOUT = 0xDFFF01;
    }
}

/// Splits an answer or unsolicited message into body and status.
///
/// # Errors
/// Returns [`MessageError::Length`] if the message has fewer than two bytes.
pub fn split(message: &[u8]) -> Result<(&[u8], StatusWord), MessageError> {
    apdu::split(message).map(|(body, status)| (body, StatusWord(status)))
}

/// Builds an answer that consists only of a status.
#[must_use]
pub fn status(status: StatusWord) -> MessageBody {
    MessageBody::from_array(status.0.to_be_bytes())
}

/// Puts `body` into a template, with status 9000.
///
/// # Errors
/// Returns [`TlvError::Full`] above [`apdu_link::MAX_MESSAGE`].
pub fn wrapped(template: Tag, body: &[u8]) -> Result<MessageBody, TlvError> {
    let mut out = MessageBody::new();
    tlv::push(&mut out, template, body)?;
    out.extend_from_slice(&StatusWord::OK.0.to_be_bytes()).map_err(|_| TlvError::Full)?;
    Ok(out)
}

/// Reads DFFF01 in seconds.
pub(super) fn parse_seconds(data: &[u8]) -> Result<Option<u16>, MessageError> {
    Ok(match search(data, tags::TIMEOUT)? {
        Some(_) => Some(u16::from_be_bytes(need_array(data, tags::TIMEOUT)?)),
        None => None,
    })
}

/// Builds an answer with one element and status 9000.
pub(super) fn wrapped_element(tag: Tag, value: &[u8]) -> Result<MessageBody, TlvError> {
    let mut body = MessageBody::new();
    tlv::push(&mut body, tag, value)?;
    wrapped(tags::ANSWER_DATA, &body)
}
