//! The unsolicited messages of a VIPA reader: card status, device status, keys (readers: 3.1 to 3.4). A card's answer
//! to a tap is unsolicited too, but it answers a command (`card`).

use super::card::sealed_of;
use super::tags;
use crate::apdu::{MessageError, need_array, search};
use crate::card_answer::SealedBlock;
use crate::vipa::settings::SredForm;

/// An unsolicited message.
#[allow(clippy::large_enum_variant, reason = "one at a time, and read where it is made")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VipaUnsolicited<'a> {
    /// A card was inserted, removed or swiped.
    Card(VipaCardStatus<'a>),
    /// A step that the cardholder sees.
    Device(VipaDeviceStatus<'a>),
    /// A key was pressed: 0D enter, 1B cancel, 08 correction, or a digit in ASCII.
    Key(u8),
    /// A message that the agent does not use.
    Other,
}

/// E0 with 48, and the elements of a swipe.
#[derive(Clone, PartialEq, Eq)]
pub struct VipaCardStatus<'a> {
    /// 48, first byte: bit 0 a card is in the slot.
    pub slot: u8,
    /// 48, second byte: bit 0 a card was swiped, bits 1 to 3 its tracks.
    pub stripe: u8,
    /// DFDB06: the masked track 2.
    pub masked_track2: Option<&'a [u8]>,
    /// FF7F.
    pub sealed: Option<SealedBlock<'a>>,
}

// This is card data, although masked or sealed, so `Debug` shows only whether it is there.
impl std::fmt::Debug for VipaCardStatus<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { slot, stripe, masked_track2, sealed } = self;
        let (masked, sealed) = (masked_track2.is_some(), sealed.is_some());
        write!(f, "VipaCardStatus({slot:02X}{stripe:02X}, masked {masked}, sealed {sealed})")
    }
}

/// E6 with C3 and C4: the device status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VipaDeviceStatus<'a> {
    /// C3: 02 PIN entry, 03 several applications, 0C a PIN is wanted, 0E the holder confirms the bypass.
    pub code: u8,
    /// C4: the text.
    pub text: &'a [u8],
    /// C5: the number of PIN tries left at the chip.
    pub tries_left: Option<u8>,
    /// DFA20A: 0 completed, 1 time is over, 2 cancelled, 3 correct, 4 bypassed.
    pub pin_result: Option<u8>,
}

impl VipaDeviceStatus<'_> {
    /// A PIN entry is handed to the reader.
    pub const PIN_ENTRY: u8 = 0x02;
    /// The cardholder chooses an application.
    pub const APPLICATION_SELECTION: u8 = 0x03;
    /// The chip wants a PIN.
    pub const PIN_WANTED: u8 = 0x0C;
    /// The cardholder is asked whether to continue without a PIN.
    pub const PIN_BYPASS: u8 = 0x0E;
}

impl<'a> VipaUnsolicited<'a> {
    /// Reads the body. Its elements determine its kind.
    ///
    /// # Errors
    /// Fails if the body is not BER-TLV, or an element has a wrong length.
    pub fn parse(body: &'a [u8], form: SredForm) -> Result<Self, MessageError> {
        if search(body, tags::CARD_STATUS)?.is_some() {
            let [slot, stripe] = need_array(body, tags::CARD_STATUS)?;
            let masked_track2 = search(body, tags::MASKED_TRACK2)?;
            return Ok(Self::Card(VipaCardStatus { slot, stripe, masked_track2, sealed: sealed_of(body, form)? }));
        }
        let byte = |tag| search(body, tag).map(|value| value.and_then(|value| value.first().copied()));
        if let Some(code) = byte(tags::STATUS_CODE)? {
            return Ok(Self::Device(VipaDeviceStatus {
                code,
                text: search(body, tags::STATUS_TEXT)?.unwrap_or_default(),
                tries_left: byte(tags::PIN_TRIES)?,
                pin_result: byte(tags::PIN_RESULT)?,
            }));
        }
        Ok(byte(tags::KEY)?.map_or(Self::Other, Self::Key))
    }
}
