//! The commands: CMD, SUB, data (readers: 4.2).

use super::answer::KeySlot;
use super::error::Neo2MessageError;
use super::transaction::{Activation, ContactStart, DataField, HostResponse, extend};
use crate::LocalTime;
use pos_reader_link::neo2_link::{EncodedFrame, HeaderKind, Neo2Direction, Neo2Frame, encode_frame};

/// A command to the reader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Neo2Command<'a> {
    /// 18-01.
    Ping,
    /// 29-00: the firmware's version.
    FirmwareVersion,
    /// 29-06: the version of the EMV kernel.
    KernelVersion,
    /// 12-01: the serial number.
    SerialNumber,
    /// 01-01: whether the reader waits for a tap only after 02-40 (01), or always (00).
    PollMode {
        /// `true` for "only after 02-40".
        on_demand: bool,
    },
    /// 01-02: one of the reader's own texts, and a sound.
    ShowMessage {
        /// The number of the text.
        message: StandardMessage,
        /// The sound: 00 none, 01 to 04 short beeps.
        beep: u8,
    },
    /// 02-40: wait for a card.
    Activate(Activation),
    /// 03-40: the result of a transaction that the reader began by itself.
    GetResult,
    /// 05-01: end the running transaction. It may be sent while 02-xx runs.
    Cancel,
    /// 60-10: start with the chip in the slot.
    StartContact(ContactStart),
    /// 60-11: go on with the chip, up to its first cryptogram.
    ///
    /// UNCERTAIN: the data of the command. It may name the seconds that the reader waits for 60-12, in the form of
    /// 60-10. Without them it has no data.
    Authenticate {
        /// The seconds.
        next_command_s: Option<u16>,
    },
    /// 60-12: pass the gateway's answer to the chip.
    ApplyHostResponse(HostResponse<'a>),
    /// 61-01 as the answer to a call-back.
    ///
    /// UNCERTAIN: the layout. Here it is the mode, the length of the choice with its low byte first, and the chosen
    /// line.
    Displayed {
        /// The mode of the call-back.
        mode: u8,
        /// The chosen line, or `None` for a cancellation.
        choice: Option<u8>,
    },
    /// 61-02 as the answer to a call-back: there is no other keypad (NEO 2 Interface Developer's Guide 2019, 8.4.26).
    RefusePin,
    /// 62-00: end the running PIN entry.
    CancelKeypad,
    /// 62-01: enter a PIN for the card that was read last.
    EncryptedPin {
        /// Maximum number of digits, at most 12.
        most: u8,
        /// Minimum number of digits, at least 4.
        least: u8,
        /// The text for the display, in ASCII.
        message: &'a [u8],
    },
    /// 83-41: type a card number.
    ManualPan {
        /// The seconds to wait. 0 means no limit.
        timeout_s: u16,
        /// What is asked for.
        flags: ManualFlags,
    },
    /// 81-0A: the KSN of a key, by its old slot number.
    KsnOfSlot {
        /// The slot, 02 for card data.
        slot: u8,
    },
    /// 81-0B: the KSN of a key.
    Ksn(KeySlot),
    /// 81-0C: the keys that the reader has.
    KeyInfo,
    /// 81-0D: the header of a key.
    KeyHeader(KeySlot),
    /// C7-37: whether the reader encrypts.
    EncryptionSwitch,
    /// C7-A3: the attribution of the key for card data. UNCERTAIN: the answer's layout (readers: 4.2).
    KeyAttribution,
    /// 25-01: set the time, HHMM.
    SetTime(LocalTime),
    /// 25-02: read the time.
    GetTime,
    /// 25-03: set the date, YYYYMMDD.
    SetDate(LocalTime),
    /// 25-04: read the date.
    GetDate,
}

// The command shows only its name.
impl std::fmt::Debug for Neo2Command<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The reader's own texts (NEO 2 Interface Developer's Guide 2019, 8.2.4). Other texts need the maker's signature
/// (62-05), so the agent cannot show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandardMessage(pub u8);

impl StandardMessage {
    /// "Welcome".
    pub const IDLE: Self = Self(0x00);
    /// "Please present card".
    pub const PRESENT_CARD: Self = Self(0x01);
    /// "No card".
    pub const NO_CARD: Self = Self(0x02);
    /// "Processing".
    pub const PROCESSING: Self = Self(0x03);
    /// "Thank you".
    pub const APPROVED: Self = Self(0x04);
    /// "Fail".
    pub const DECLINED: Self = Self(0x05);
    /// "Use chip and PIN".
    pub const INSERT_OR_SWIPE: Self = Self(0x08);
    /// "Try again".
    pub const TRY_AGAIN: Self = Self(0x09);
    /// "Present one card only".
    pub const ONE_CARD: Self = Self(0x0A);
    /// "Wait".
    pub const WAIT: Self = Self(0x0B);
}

/// What is asked for with a typed card (NEO 2 Interface Developer's Guide 2019, 8.24.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManualFlags(pub [u8; 2]);

impl ManualFlags {
    /// The card number, checked with its Luhn digit, and the expiry date.
    pub const PAN_AND_EXPIRY: Self = Self([0b0010_0101, 0]);
    /// The same with the card verification value.
    pub const WITH_VERIFICATION_VALUE: Self = Self([0b0010_0111, 0]);
}

/// The header of every command. UNCERTAIN: whether 83-41 needs the newer one. The manual draws it so, but its example
/// frames of the group 83 have the usual one.
const HEADER: HeaderKind = HeaderKind::Vivotech2;

/// Key type of 62-01: DUKPT, with the card number that the reader holds. Type 11, with a clear card number from the
/// host, is never used, because the agent has none (design: invariant 7).
const PIN_FOR_OWN_PAN: u8 = 0x01;
/// LED fields of 01-02 (number FF, status 00). UNCERTAIN: that every reader accepts them without a change of its
/// lights.
const LIGHTS: [u8; 2] = [0xFF, 0x00];

impl<'a> Neo2Command<'a> {
    /// Returns the command's name, for a trace.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::FirmwareVersion => "firmware version",
            Self::KernelVersion => "kernel version",
            Self::SerialNumber => "serial number",
            Self::PollMode { .. } => "poll mode",
            Self::ShowMessage { .. } => "show message",
            Self::Activate(_) => "activate",
            Self::GetResult => "get result",
            Self::Cancel => "cancel",
            Self::StartContact(_) => "start contact",
            Self::Authenticate { .. } => "authenticate",
            Self::ApplyHostResponse(_) => "apply host response",
            Self::Displayed { .. } => "displayed",
            Self::RefusePin => "refuse PIN",
            Self::CancelKeypad => "cancel keypad",
            Self::EncryptedPin { .. } => "encrypted PIN",
            Self::ManualPan { .. } => "manual PAN",
            Self::KsnOfSlot { .. } | Self::Ksn(_) => "KSN",
            Self::KeyInfo => "key info",
            Self::KeyHeader(_) => "key header",
            Self::EncryptionSwitch => "encryption switch",
            Self::KeyAttribution => "key attribution",
            Self::SetTime(_) => "set time",
            Self::GetTime => "get time",
            Self::SetDate(_) => "set date",
            Self::GetDate => "get date",
        }
    }

    /// Returns CMD and SUB. A response repeats CMD.
    #[must_use]
    pub fn code(&self) -> [u8; 2] {
        match self {
            Self::Ping => [0x18, 0x01],
            Self::FirmwareVersion => [0x29, 0x00],
            Self::KernelVersion => [0x29, 0x06],
            Self::SerialNumber => [0x12, 0x01],
            Self::PollMode { .. } => [0x01, 0x01],
            Self::ShowMessage { .. } => [0x01, 0x02],
            Self::Activate(_) => [0x02, 0x40],
            Self::GetResult => [0x03, 0x40],
            Self::Cancel => [0x05, 0x01],
            Self::StartContact(_) => [0x60, 0x10],
            Self::Authenticate { .. } => [0x60, 0x11],
            Self::ApplyHostResponse(_) => [0x60, 0x12],
            Self::Displayed { .. } => [0x61, 0x01],
            Self::RefusePin => [0x61, 0x02],
            Self::CancelKeypad => [0x62, 0x00],
            Self::EncryptedPin { .. } => [0x62, 0x01],
            Self::ManualPan { .. } => [0x83, 0x41],
            Self::KsnOfSlot { .. } => [0x81, 0x0A],
            Self::Ksn(_) => [0x81, 0x0B],
            Self::KeyInfo => [0x81, 0x0C],
            Self::KeyHeader(_) => [0x81, 0x0D],
            Self::EncryptionSwitch => [0xC7, 0x37],
            Self::KeyAttribution => [0xC7, 0xA3],
            Self::SetTime(_) => [0x25, 0x01],
            Self::GetTime => [0x25, 0x02],
            Self::SetDate(_) => [0x25, 0x03],
            Self::GetDate => [0x25, 0x04],
        }
    }

    /// Returns the frame to send.
    ///
    /// # Errors
    /// Fails if the data are longer than [`MAX_COMMAND_DATA`](super::MAX_COMMAND_DATA).
    pub fn encode(&self) -> Result<EncodedFrame, Neo2MessageError> {
        let [command, sub_or_status] = self.code();
        let data = self.data()?;
        Ok(encode_frame(Neo2Direction::Command, &Neo2Frame { header: HEADER, command, sub_or_status, data: &data })?)
    }

    fn data(&self) -> Result<DataField, Neo2MessageError> {
        let mut data = DataField::new();
        let out = &mut data;
        match *self {
            Self::PollMode { on_demand } => extend(out, &[u8::from(on_demand)])?,
            Self::ShowMessage { message, beep } => extend(out, &[message.0, beep, LIGHTS[0], LIGHTS[1]])?,
            Self::Activate(activation) => activation.push(out)?,
            Self::StartContact(start) => start.push(out)?,
            Self::Authenticate { next_command_s: Some(seconds) } => extend(out, &seconds.to_be_bytes())?,
            Self::ApplyHostResponse(response) => response.push(out)?,
            Self::Displayed { mode, choice: Some(line) } => extend(out, &[mode, 1, 0, line])?,
            Self::Displayed { mode, choice: None } => extend(out, &[mode, 0, 0])?,
            Self::RefusePin => extend(out, &[0x00])?,
            Self::EncryptedPin { most, least, message } => {
                let length =
                    u8::try_from(message.len()).map_err(|_| Neo2MessageError::Field("text for the display"))?;
                // The length of a card number is 0, because the reader has it.
                extend(out, &[PIN_FOR_OWN_PAN, 0, most, least, length])?;
                extend(out, message)?;
            }
            Self::ManualPan { timeout_s, flags } => {
                extend(out, &timeout_s.to_be_bytes())?;
                extend(out, &flags.0)?;
            }
            Self::KsnOfSlot { slot } => extend(out, &[slot])?,
            Self::Ksn(KeySlot { key, slot }) | Self::KeyHeader(KeySlot { key, slot }) => {
                extend(out, &[key])?;
                extend(out, &slot.to_be_bytes())?;
            }
            Self::SetTime(at) => extend(out, &at.time_bcd()[..2])?,
            Self::SetDate(at) => {
                extend(out, &[CENTURY])?;
                extend(out, &at.date_bcd())?;
            }
            _ => {}
        }
        Ok(data)
    }

    /// Reads a command's frame, as the reverse of [`Self::encode`]. Ignores unknown elements. A date or time that the
    /// frame does not have is that of 2000-01-01, 00:00.
    ///
    /// # Errors
    /// Fails if the frame is not one of these commands with the data that it has here.
    pub fn parse(frame: &Neo2Frame<'a>) -> Result<Self, Neo2MessageError> {
        let data = frame.data;
        let length = Neo2MessageError::Length { bytes: data.len() };
        Ok(match ([frame.command, frame.sub_or_status], data) {
            ([0x18, 0x01], []) => Self::Ping,
            ([0x29, 0x00], []) => Self::FirmwareVersion,
            ([0x29, 0x06], []) => Self::KernelVersion,
            ([0x12, 0x01], []) => Self::SerialNumber,
            ([0x01, 0x01], [mode @ (0 | 1)]) => Self::PollMode { on_demand: *mode == 1 },
            ([0x01, 0x02], [message, beep, _, _]) => {
                Self::ShowMessage { message: StandardMessage(*message), beep: *beep }
            }
            ([0x02, 0x40], _) => Self::Activate(Activation::parse(data)?),
            ([0x03, 0x40], []) => Self::GetResult,
            ([0x05, 0x01], []) => Self::Cancel,
            ([0x60, 0x10], _) => Self::StartContact(ContactStart::parse(data)?),
            ([0x60, 0x11], []) => Self::Authenticate { next_command_s: None },
            ([0x60, 0x11], [high, low]) => {
                Self::Authenticate { next_command_s: Some(u16::from_be_bytes([*high, *low])) }
            }
            ([0x60, 0x12], _) => Self::ApplyHostResponse(HostResponse::parse(data)?),
            ([0x61, 0x01], [mode, 0, 0]) => Self::Displayed { mode: *mode, choice: None },
            ([0x61, 0x01], [mode, 1, 0, line]) => Self::Displayed { mode: *mode, choice: Some(*line) },
            ([0x61, 0x02], [0]) => Self::RefusePin,
            ([0x62, 0x00], []) => Self::CancelKeypad,
            ([0x62, 0x01], [PIN_FOR_OWN_PAN, 0, most, least, length, message @ ..])
                if usize::from(*length) == message.len() =>
            {
                Self::EncryptedPin { most: *most, least: *least, message }
            }
            ([0x83, 0x41], [high, low, flags @ ..]) => Self::ManualPan {
                timeout_s: u16::from_be_bytes([*high, *low]),
                flags: ManualFlags(flags.try_into().map_err(|_| length)?),
            },
            ([0x81, 0x0A], [slot]) => Self::KsnOfSlot { slot: *slot },
            ([0x81, 0x0B], &[key, high, low]) => Self::Ksn(KeySlot { key, slot: u16::from_be_bytes([high, low]) }),
            ([0x81, 0x0C], []) => Self::KeyInfo,
            ([0x81, 0x0D], &[key, high, low]) => {
                Self::KeyHeader(KeySlot { key, slot: u16::from_be_bytes([high, low]) })
            }
            ([0xC7, 0x37], []) => Self::EncryptionSwitch,
            ([0xC7, 0xA3], []) => Self::KeyAttribution,
            ([0x25, 0x01], &[hour, minute]) => Self::SetTime(date_and_time([0, 1, 1], [hour, minute, 0])?),
            ([0x25, 0x02], []) => Self::GetTime,
            ([0x25, 0x03], &[CENTURY, year, month, day]) => Self::SetDate(date_and_time([year, month, day], [0; 3])?),
            ([0x25, 0x04], []) => Self::GetDate,
            // An unknown command, or a known one with data of a wrong length.
            (code, _) => return Err(Neo2MessageError::UnknownCommand(u16::from_be_bytes(code))),
        })
    }
}

/// The first two digits of the year in 25-03 and 25-04.
const CENTURY: u8 = 0x20;

fn date_and_time(date: [u8; 3], time: [u8; 3]) -> Result<LocalTime, Neo2MessageError> {
    LocalTime::from_bcd(date, time).ok_or(Neo2MessageError::Field("date and time"))
}
