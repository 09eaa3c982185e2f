//! The reasons why bytes are not the expected message of NEO2, or why a message cannot be sent.

use super::block::BlockFault;
use pos_reader_link::neo2_link::Neo2EncodeError;
use pos_terms::emv::{Tag, TlvError};

/// The reason why bytes are not the expected message, or why a message cannot be encoded. It never holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Neo2MessageError {
    /// The data are shorter or longer than their fixed parts.
    #[error("data of {bytes} bytes have a wrong length")]
    Length {
        /// The number of bytes.
        bytes: usize,
    },
    /// The command is not in [`Neo2Command`](super::Neo2Command).
    #[error("unknown command {0:04X}")]
    UnknownCommand(u16),
    /// The data are not a list of elements.
    #[error(transparent)]
    Tlv(#[from] TlvError),
    /// The block of a swipe or of a typed card is damaged.
    #[error(transparent)]
    Block(#[from] BlockFault),
    /// A required element is missing.
    #[error("tag {0} is missing")]
    Missing(Tag),
    /// An element's value has a wrong length or content.
    #[error("tag {0} is malformed")]
    Malformed(Tag),
    /// A field without a tag has a wrong content.
    #[error("the field {0} is malformed")]
    Field(&'static str),
    /// There are more encrypted elements than any card gives.
    #[error("too many encrypted elements")]
    TooMany,
    /// The message is too long to be sent.
    #[error(transparent)]
    Encode(#[from] Neo2EncodeError),
}
