//! What the messages of Miura MPI and VIPA share: a status word at the end, BER-TLV elements before it, and the search
//! for elements at any depth.

use pos_reader_link::apdu_link::EncodeError;
use pos_terms::emv::{Tag, TlvError, tlv};

/// Answer to reset. Its value is not BER-TLV, although its tag says "constructed".
pub(crate) const ATR: Tag = Tag(0x63);
/// Maximum length of a text from a reader, in characters.
const MAX_TEXT: usize = 32;

/// The reason why bytes are not the expected message, or why a message cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The message is shorter than its fixed part, or Lc does not match.
    #[error("a message of {bytes} bytes has a wrong length")]
    Length {
        /// The number of bytes.
        bytes: usize,
    },
    /// The command is not one of the family's.
    #[error("unknown command {0:04X}")]
    UnknownCommand(u16),
    /// The bytes are not BER-TLV.
    #[error(transparent)]
    Tlv(#[from] TlvError),
    /// A required tag is missing.
    #[error("tag {0} is missing")]
    Missing(Tag),
    /// A tag's value has a wrong length or content.
    #[error("tag {0} is malformed")]
    Malformed(Tag),
    /// The message is too long to be sent.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// Splits an answer or unsolicited message into body and status.
///
/// # Errors
/// Returns [`MessageError::Length`] if the message has fewer than two bytes.
pub(crate) fn split(message: &[u8]) -> Result<(&[u8], u16), MessageError> {
    let (body, status) = message.split_last_chunk().ok_or(MessageError::Length { bytes: message.len() })?;
    Ok((body, u16::from_be_bytes(*status)))
}

/// Returns the first value of `tag`, at any depth (readers: 2.3, note).
///
/// # Errors
/// Fails if the body is not BER-TLV.
pub fn search(body: &[u8], tag: Tag) -> Result<Option<&[u8]>, TlvError> {
    let mut found = None;
    each(body, &mut |object| {
        if found.is_none() && object.tag == tag {
            found = Some(object.value);
        }
    })?;
    Ok(found)
}

/// Searches like [`search`], but fails if the tag is missing.
///
/// # Errors
/// Fails if the body is not BER-TLV, or does not contain the tag.
pub fn need(body: &[u8], tag: Tag) -> Result<&[u8], MessageError> {
    search(body, tag)?.ok_or(MessageError::Missing(tag))
}

/// Searches like [`need`], for a value of fixed length.
///
/// # Errors
/// Fails like [`need`], and if the value has a different length.
pub fn need_array<const N: usize>(body: &[u8], tag: Tag) -> Result<[u8; N], MessageError> {
    need(body, tag)?.try_into().map_err(|_| MessageError::Malformed(tag))
}

/// Calls `see` with every object at every depth. Unlike [`tlv::visit`], it does not enter the content of an ATR.
///
/// # Errors
/// Returns the first fault. `see` has received the objects before it.
pub fn each<'a>(body: &'a [u8], see: &mut impl FnMut(tlv::Tlv<'a>)) -> Result<(), TlvError> {
    fn level<'a>(bytes: &'a [u8], depth: usize, see: &mut impl FnMut(tlv::Tlv<'a>)) -> Result<(), TlvError> {
        if depth == tlv::MAX_DEPTH {
            return Err(TlvError::TooDeep);
        }
        for object in tlv::walk(bytes) {
            let object = object?;
            see(object);
            if has_objects(object.tag) {
                level(object.value, depth + 1, see)?;
            }
        }
        Ok(())
    }
    level(body, 0, see)
}

/// Returns whether the value of the tag is a list of objects.
pub(crate) fn has_objects(tag: Tag) -> bool {
    tag.is_constructed() && tag != ATR
}

/// Returns a text from outside as printable ASCII, at most 32 characters.
pub(crate) fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).filter(|c| matches!(c, ' '..='~')).take(MAX_TEXT).collect()
}
