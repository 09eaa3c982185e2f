//! The unsolicited messages of the reader: device status, card status, keys (readers: 2.3).

use super::element::{MessageBody, MessageError, each, need_array, search, tags, wrapped};
use super::sealed::{LastSredBlock, SredBlock};
use pos_terms::emv::{Tag, TlvError, tag, tlv};

/// An unsolicited message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsolicitedMessage<'a> {
    /// The reader's status: powered on, PIN entry, texts.
    Device(DeviceStatus<'a>),
    /// A card was inserted, removed or swiped.
    Card(CardStatus<'a>),
    /// A key was pressed: 0D enter, 1B cancel, 7F clear, or a digit in ASCII.
    Key(u8),
    /// The printer's state.
    Printer(u8),
    /// A barcode was read, or bytes came on the base's USB-serial line. The agent does not use them.
    Other,
}

/// The cancel key.
pub const KEY_CANCEL: u8 = 0x1B;

/// E6 with C3 and C4: the device status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceStatus<'a> {
    /// C3: 01 powered on, 02 PIN entry, 03 application selection, 0A powering off, 0B rebooting, 0C restarting.
    pub code: u8,
    /// C4: the text.
    pub text: &'a [u8],
    /// The number of PIN digits entered so far, if the reader is set to send it.
    pub digits: Option<u8>,
    /// The status of the PIN entry.
    pub pin_status: Option<u8>,
    /// C5: the number of PIN tries left, if the chip checks the PIN itself.
    pub tries_left: Option<u8>,
}

impl DeviceStatus<'_> {
    /// The reader has started or restarted.
    pub const POWERED_ON: u8 = 0x01;
    /// The status of a PIN entry.
    pub const PIN_ENTRY: u8 = 0x02;
    /// The cardholder chooses an application.
    pub const APPLICATION_SELECTION: u8 = 0x03;
    /// The reader switches itself off.
    pub const POWERING_OFF: u8 = 0x0A;
    /// The reader reboots.
    pub const REBOOTING: u8 = 0x0B;
    /// The reader's application restarts.
    pub const RESTARTING: u8 = 0x0C;
}

/// E1 with 48, and the elements of a swipe.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CardStatus<'a> {
    /// 48, first byte: bit 0 a card is in the slot, bit 1 it answers as a chip card.
    pub slot: u8,
    /// 48, second byte: bit 0 a card was swiped, bits 1 to 3 its tracks.
    pub stripe: u8,
    /// 63: the answer to reset.
    pub atr: Option<&'a [u8]>,
    /// DFAE02 and DFAE03.
    pub sealed: Option<SredBlock<'a>>,
    /// DFAE22: the masked track 2.
    pub masked_track2: Option<&'a [u8]>,
    /// `true` if 5F21, 5F22 or 5F23 is present, so the reader does not encrypt. The tracks themselves are not passed
    /// on.
    pub clear_tracks: bool,
}

// This is card data, although masked or sealed, so `Debug` shows only lengths.
impl std::fmt::Debug for CardStatus<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { slot, stripe, atr, sealed, masked_track2, clear_tracks } = self;
        let (atr, sealed, masked) = (atr.is_some(), sealed.is_some(), masked_track2.is_some());
        write!(
            f,
            "CardStatus({slot:02X}{stripe:02X}, atr {atr}, sealed {sealed}, masked {masked}, clear {clear_tracks})"
        )
    }
}

impl CardStatus<'_> {
    /// Checks whether a card is in the slot.
    #[must_use]
    pub fn card_in(&self) -> bool {
        self.slot & 1 != 0
    }

    /// Checks whether a card was swiped.
    #[must_use]
    pub fn swiped(&self) -> bool {
        self.stripe != 0
    }
}

impl<'a> UnsolicitedMessage<'a> {
    /// Returns the message's name for a trace. The name does not reveal the key.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Device(_) => "device status",
            Self::Card(_) => "card status",
            Self::Key(_) => "key",
            Self::Printer(_) => "printer status",
            Self::Other => "other",
        }
    }

    /// Reads the body of an unsolicited message. Its elements determine its kind, because E1 is also the template of
    /// answers.
    ///
    /// # Errors
    /// Fails if the body is not BER-TLV, or an element has a wrong length.
    pub fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        if search(body, tags::CARD_STATUS)?.is_some() {
            return CardStatus::parse(body).map(Self::Card);
        }
        if search(body, tags::STATUS_CODE)?.is_some() {
            return DeviceStatus::parse(body).map(Self::Device);
        }
        let byte = |tag: Tag| search(body, tag).map(|value| value.and_then(|value| value.first().copied()));
        Ok(match (byte(tags::KEY)?, byte(tags::PRINTER_STATUS)?) {
            (Some(key), _) => Self::Key(key),
            (_, Some(status)) => Self::Printer(status),
            _ => Self::Other,
        })
    }

    /// Writes the message. [`Self::Other`] becomes an empty barcode.
    ///
    /// # Errors
    /// Returns [`TlvError::Full`] if it is too long.
    pub fn encode(&self) -> Result<MessageBody, TlvError> {
        let mut body = MessageBody::new();
        let out = &mut body;
        match *self {
            Self::Card(status) => {
                tlv::push(out, tags::CARD_STATUS, &[status.slot, status.stripe])?;
                if let Some(atr) = status.atr {
                    tlv::push(out, tags::ATR, atr)?;
                }
                if let Some(SredBlock { data, ksn }) = status.sealed {
                    tlv::push(out, tags::SRED_DATA, data)?;
                    tlv::push(out, tags::SRED_KSN, ksn)?;
                }
                if let Some(track) = status.masked_track2 {
                    tlv::push(out, tags::MASKED_TRACK2, track)?;
                }
                wrapped(tags::ANSWER_DATA, &body)
            }
            Self::Device(status) => {
                tlv::push(out, tags::STATUS_CODE, &[status.code])?;
                tlv::push(out, tags::STATUS_TEXT, status.text)?;
                for (tag, value) in [
                    (tags::PIN_DIGITS_1, status.digits),
                    (tags::PIN_STATUS_1, status.pin_status),
                    (tags::PIN_TRIES, status.tries_left),
                ] {
                    if let Some(value) = value {
                        tlv::push(out, tag, &[value])?;
                    }
                }
                wrapped(tags::STATUS_TEMPLATE, &body)
            }
            Self::Key(key) => {
                tlv::push(out, tags::KEY, &[key])?;
                wrapped(tags::COMMAND_DATA, &body)
            }
            Self::Printer(status) => {
                tlv::push(out, tags::PRINTER_STATUS, &[status])?;
                wrapped(tags::STATUS_TEMPLATE, &body)
            }
            Self::Other => {
                tlv::push(out, tags::BARCODE, &[])?;
                wrapped(tags::ANSWER_DATA, &body)
            }
        }
    }
}

impl<'a> CardStatus<'a> {
    fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        let [slot, stripe] = need_array(body, tags::CARD_STATUS)?;
        let (mut atr, mut masked_track2, mut clear_tracks) = (None, None, false);
        let mut sealed = LastSredBlock::default();
        each(body, &mut |object| {
            sealed.see(object);
            match object.tag {
                tags::ATR => atr = atr.or(Some(object.value)),
                tags::MASKED_TRACK2 => masked_track2 = masked_track2.or(Some(object.value)),
                tag::TRACK1_CLEAR | tag::TRACK2_CLEAR | tag::TRACK3_CLEAR => clear_tracks |= !object.value.is_empty(),
                _ => {}
            }
        })?;
        Ok(Self { slot, stripe, atr, sealed: sealed.block, masked_track2, clear_tracks })
    }
}

impl<'a> DeviceStatus<'a> {
    fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        let [code] = need_array(body, tags::STATUS_CODE)?;
        // Two families of firmware use different pairs of tags (readers: 2.4, collision warning).
        let either = |one: Tag, other: Tag| -> Result<Option<u8>, TlvError> {
            let value = match search(body, one)? {
                Some(value) => Some(value),
                None => search(body, other)?,
            };
            Ok(value.and_then(|value| value.first().copied()))
        };
        Ok(Self {
            code,
            text: search(body, tags::STATUS_TEXT)?.unwrap_or_default(),
            digits: either(tags::PIN_DIGITS_1, tags::PIN_DIGITS_2)?,
            pin_status: either(tags::PIN_STATUS_1, tags::PIN_STATUS_2)?,
            tries_left: search(body, tags::PIN_TRIES)?.and_then(|value| value.first().copied()),
        })
    }
}
