//! The link layer of Miura MPI and VIPA, which carries APDUs: NAD, PCB, LEN, APDU, LRC (readers: 2.1). It handles only
//! bytes. The code for each reader family interprets the messages. The simulated reader also uses this module, and
//! frozen captures check it.
//!
//! ```text
//! NAD 01 reader, 02 base or PIN pad · PCB 01 more packets follow, 02 encrypted (VIPA), 40 unsolicited · LEN 02…FE
//! · APDU · LRC, XOR of all before
//! ```
//!
//! A [`Profile`] holds the differences between the two families (readers: 3.1, 3.8).
//!
//! The link has no acknowledgements, sequence numbers or repetitions, so damaged data are lost. [`Decoder::feed`] drops
//! bytes up to the next valid packet, and reports how many it dropped. A caller that waits for an answer can then give
//! up.

use zeroize::Zeroize;

/// Maximum length of the APDU part of a packet (LEN), in bytes.
pub const MAX_APDU: usize = 0xFE;
/// Minimum length of the APDU part of a packet (LEN), in bytes.
pub const MIN_APDU: usize = 2;
/// Maximum length of a packet: NAD, PCB, LEN, APDU, LRC.
pub const MAX_PACKET: usize = HEAD + MAX_APDU + 1;
/// Minimum length of a packet.
pub const MIN_PACKET: usize = HEAD + MIN_APDU + 1;
/// Maximum length of a command's data: one packet, minus CLA INS P1 P2 and Lc (readers: 2.1).
pub const MAX_COMMAND_DATA: usize = MAX_APDU - 4 - 1;
/// Maximum length of a command to a device with extended APDUs: CLA INS P1 P2, three bytes of Lc, and the data, in
/// chained packets (readers: 2.1).
pub const MAX_EXTENDED_COMMAND: usize = 1024;
/// Maximum length of the data of such a command.
pub const MAX_EXTENDED_DATA: usize = MAX_EXTENDED_COMMAND - 4 - 3;
/// Maximum length of a message from chained packets. The longest known answer (an E4 with two encrypted blocks) has
/// about 600 bytes, and an encrypted value has at most 1024. A peer cannot make the decoder keep more than this for
/// each NAD.
pub const MAX_MESSAGE: usize = 4096;

/// Length of the bytes before the APDU part: NAD, PCB, LEN.
pub const HEAD: usize = 3;

const PCB_CHAINED: u8 = 0x01;
/// VIPA only: the payload is encrypted with a key of the line, which this agent does not hold.
const PCB_ENCRYPTED: u8 = 0x02;
const PCB_UNSOLICITED: u8 = 0x40;

/// The bytes of one packet.
pub type Packet = heapless::Vec<u8, MAX_PACKET>;
/// The packets of one command.
pub type Packets = heapless::Vec<Packet, { MAX_EXTENDED_COMMAND.div_ceil(MAX_APDU) }>;

/// The family that uses the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Miura MPI.
    #[default]
    Miura,
    /// Verifone VIPA.
    Vipa,
}

impl Profile {
    /// Returns the bits that a packet's PCB may have.
    fn pcb_bits(self) -> u8 {
        match self {
            Self::Miura => PCB_CHAINED | PCB_UNSOLICITED,
            Self::Vipa => PCB_CHAINED | PCB_ENCRYPTED | PCB_UNSOLICITED,
        }
    }
}

/// The part of the device that sends the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nad {
    /// The reader's application (PED, "MPI").
    Reader,
    /// Miura's retail base (printer, drawer, scanner; "RPI"), or VIPA's external PIN pad.
    Base,
}

/// An event from [`Decoder::feed`].
#[derive(Debug, PartialEq, Eq)]
pub enum Received<'a> {
    /// A complete message.
    Message(ApduMessage<'a>),
    /// Data were lost.
    Fault(LinkFault),
}

/// A complete message. It is a command, or an answer or unsolicited message with its two status bytes.
#[derive(PartialEq, Eq)]
pub struct ApduMessage<'a> {
    /// The sender, or for a command the receiver.
    pub nad: Nad,
    /// `true` if the reader sent the message without a preceding command.
    pub unsolicited: bool,
    /// The APDU parts of the message's packets, at most [`MAX_MESSAGE`] bytes. They are wiped after the call that
    /// delivers them.
    pub bytes: &'a [u8],
}

// The message may contain card data, so `Debug` shows only the length.
impl std::fmt::Debug for ApduMessage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { nad, unsolicited, bytes } = self;
        write!(f, "Message({nad:?}, unsolicited {unsolicited}, {} bytes)", bytes.len())
    }
}

/// The reason for a loss on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkFault {
    /// Bytes that belong to no valid packet, counted up to the next valid packet or [`Decoder::silence`]. If there are
    /// [`MIN_PACKET`] bytes or more, they may have been a packet.
    #[error("{bytes} bytes of no packet")]
    Garbage {
        /// The number of bytes.
        bytes: usize,
    },
    /// A chain of packets that was not finished, or that contained packets of another kind.
    #[error("a chain of packets was broken")]
    BrokenChain(Nad),
    /// A chain longer than [`MAX_MESSAGE`]. It is dropped up to its last packet.
    #[error("a message is longer than {MAX_MESSAGE} bytes")]
    TooLong(Nad),
    /// A packet whose payload the reader has encrypted for its line (VIPA). Its content is lost.
    #[error("the reader encrypts its line; switch off its stream encryption")]
    Encrypted(Nad),
}

/// The reason why data cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The data are longer than the device accepts: more than one packet ([`MAX_COMMAND_DATA`]), or more than
    /// [`MAX_EXTENDED_COMMAND`].
    #[error("a command of {bytes} bytes is longer than the device takes")]
    TooLong {
        /// The length in bytes.
        bytes: usize,
    },
    /// The data are shorter than [`MIN_APDU`].
    #[error("{bytes} bytes are too few for a packet")]
    TooShort {
        /// The length in bytes.
        bytes: usize,
    },
}

/// A decoder that accepts bytes in pieces of any size and delivers complete messages.
#[derive(Default)]
pub struct Decoder {
    profile: Profile,
    input: heapless::Vec<u8, MAX_PACKET>,
    /// Bytes dropped since the last valid packet but not yet reported.
    dropped: usize,
    reader: Chain,
    base: Chain,
}

impl Decoder {
    /// Creates a decoder for a family. The default is [`Profile::Miura`].
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile, input: heapless::Vec::new(), dropped: 0, reader: Chain::default(), base: Chain::default() }
    }

    /// Takes `bytes` and calls `on` for each message and fault in them, in order.
    pub fn feed(&mut self, mut bytes: &[u8], mut on: impl FnMut(Received<'_>)) {
        while !bytes.is_empty() {
            // After `scan`, the input holds less than a whole packet, so each round takes at least one byte.
            let (now, later) = bytes.split_at(bytes.len().min(MAX_PACKET - self.input.len()));
            self.input.extend_from_slice(now).expect("cut to the free space");
            bytes = later;
            self.scan(false, &mut on);
        }
    }

    /// Handles a long silence, which ends an unfinished packet or chain. Without this, a reader that failed inside a
    /// packet would also destroy its next packet.
    pub fn silence(&mut self, mut on: impl FnMut(Received<'_>)) {
        self.scan(true, &mut on);
        self.report_dropped(&mut on);
        self.break_chains(&mut on);
    }

    /// Returns whether data are unfinished. Only then does [`Self::silence`] have an effect.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        !self.input.is_empty() || self.dropped > 0 || self.reader.is_open() || self.base.is_open()
    }

    /// Delivers the packets in `input`. With `last`, also drops data that only more bytes could complete.
    fn scan(&mut self, last: bool, on: &mut impl FnMut(Received<'_>)) {
        let mut at = 0;
        while at < self.input.len() {
            match first_packet(&self.input[at..], self.profile) {
                FirstPacket::Incomplete if !last => break,
                // Only one byte is dropped, even if a whole packet has a wrong LRC. If its LEN is wrong, a valid packet
                // may begin inside it.
                FirstPacket::Incomplete | FirstPacket::Wrong => {
                    self.dropped += 1;
                    at += 1;
                }
                FirstPacket::Packet { nad, pcb, len } => {
                    if self.dropped > 0 {
                        self.report_dropped(on);
                        self.break_chains(on);
                    }
                    let chain = match nad {
                        Nad::Reader => &mut self.reader,
                        Nad::Base => &mut self.base,
                    };
                    let apdu = at + HEAD..at + HEAD + len;
                    chain.packet(nad, pcb, &self.input[apdu], on);
                    at += HEAD + len + 1;
                }
            }
        }
        let kept = self.input.len() - at;
        self.input.copy_within(at.., 0);
        self.input[kept..].zeroize();
        self.input.truncate(kept);
    }

    fn report_dropped(&mut self, on: &mut impl FnMut(Received<'_>)) {
        if self.dropped > 0 {
            on(Received::Fault(LinkFault::Garbage { bytes: self.dropped }));
            self.dropped = 0;
        }
    }

    /// Gives up all open chains. The dropped bytes may include a packet of a chain, and without that packet the chain
    /// is useless.
    fn break_chains(&mut self, on: &mut impl FnMut(Received<'_>)) {
        for (nad, chain) in [(Nad::Reader, &mut self.reader), (Nad::Base, &mut self.base)] {
            if chain.is_open() {
                chain.clear();
                on(Received::Fault(LinkFault::BrokenChain(nad)));
            }
        }
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        self.input.as_mut_slice().zeroize();
        self.reader.clear();
        self.base.clear();
    }
}

/// The start of received bytes, as [`first_packet`] finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstPacket {
    /// More bytes are needed.
    Incomplete,
    /// No packet begins here.
    Wrong,
    /// A packet with a correct LRC. Its APDU part begins after [`HEAD`] bytes.
    Packet {
        /// The part of the device.
        nad: Nad,
        /// The PCB.
        pcb: u8,
        /// The length of the APDU part.
        len: usize,
    },
}

/// Returns whether more packets of the message follow the packet with this PCB.
#[must_use]
pub const fn has_more(pcb: u8) -> bool {
    pcb & PCB_CHAINED != 0
}

/// Returns whether the packet with this PCB belongs to a message without a preceding command.
#[must_use]
pub const fn is_unsolicited(pcb: u8) -> bool {
    pcb & PCB_UNSOLICITED != 0
}

/// Finds the packet at the start of received bytes.
#[must_use]
pub fn first_packet(bytes: &[u8], profile: Profile) -> FirstPacket {
    let nad = match bytes.first() {
        Some(1) => Nad::Reader,
        Some(2) => Nad::Base,
        Some(_) => return FirstPacket::Wrong,
        None => return FirstPacket::Incomplete,
    };
    let pcb = match bytes.get(1) {
        Some(pcb) if pcb & !profile.pcb_bits() == 0 => *pcb,
        Some(_) => return FirstPacket::Wrong,
        None => return FirstPacket::Incomplete,
    };
    let len = match bytes.get(2) {
        Some(len) if (MIN_APDU..=MAX_APDU).contains(&usize::from(*len)) => usize::from(*len),
        Some(_) => return FirstPacket::Wrong,
        None => return FirstPacket::Incomplete,
    };
    match bytes.get(..HEAD + len + 1) {
        Some(packet) if lrc(packet) == 0 => FirstPacket::Packet { nad, pcb, len },
        Some(_) => FirstPacket::Wrong,
        None => FirstPacket::Incomplete,
    }
}

/// Sets the LRC of a whole packet whose APDU part was changed.
pub fn renew_lrc(packet: &mut [u8]) {
    if let Some((check, rest)) = packet.split_last_mut() {
        *check = lrc(rest);
    }
}

fn lrc(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |lrc, byte| lrc ^ byte)
}

/// The unfinished message of one NAD.
#[derive(Default)]
struct Chain {
    state: ChainState,
    bytes: heapless::Vec<u8, MAX_MESSAGE>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ChainState {
    #[default]
    Closed,
    Open {
        unsolicited: bool,
    },
    /// The chain is longer than [`MAX_MESSAGE`] and is dropped up to its last packet.
    TooLong {
        unsolicited: bool,
    },
}

impl Chain {
    fn packet(&mut self, nad: Nad, pcb: u8, apdu: &[u8], on: &mut impl FnMut(Received<'_>)) {
        let (unsolicited, more) = (is_unsolicited(pcb), has_more(pcb));
        if pcb & PCB_ENCRYPTED != 0 {
            // A message with one unreadable packet is useless.
            self.clear();
            return on(Received::Fault(LinkFault::Encrypted(nad)));
        }
        if let ChainState::Open { unsolicited: before } | ChainState::TooLong { unsolicited: before } = self.state
            && before != unsolicited
        {
            // The vendor treats a mixed chain as a broken stream. The packet that has just arrived may still be
            // complete.
            self.clear();
            on(Received::Fault(LinkFault::BrokenChain(nad)));
        }
        match self.state {
            ChainState::Closed if !more => return on(Received::Message(ApduMessage { nad, unsolicited, bytes: apdu })),
            ChainState::TooLong { .. } if more => return,
            ChainState::TooLong { .. } => return self.clear(),
            ChainState::Closed | ChainState::Open { .. } => {}
        }
        if self.bytes.extend_from_slice(apdu).is_err() {
            self.clear();
            self.state = if more { ChainState::TooLong { unsolicited } } else { ChainState::Closed };
            return on(Received::Fault(LinkFault::TooLong(nad)));
        }
        self.state = ChainState::Open { unsolicited };
        if !more {
            on(Received::Message(ApduMessage { nad, unsolicited, bytes: &self.bytes }));
            self.clear();
        }
    }

    fn is_open(&self) -> bool {
        self.state != ChainState::Closed
    }

    fn clear(&mut self) {
        self.bytes.as_mut_slice().zeroize();
        self.bytes.clear();
        self.state = ChainState::Closed;
    }
}

/// Builds a command that must fit into one packet.
///
/// # Errors
/// Returns [`EncodeError`] if `apdu` is not 2 to 254 bytes long.
pub fn command(apdu: &[u8]) -> Result<Packet, EncodeError> {
    let bytes = apdu.len();
    match bytes {
        0..MIN_APDU => Err(EncodeError::TooShort { bytes }),
        MIN_APDU..=MAX_APDU => Ok(packet(Nad::Reader, false, false, apdu)),
        _ => Err(EncodeError::TooLong { bytes }),
    }
}

/// Builds a command of more than one packet.
///
/// # Errors
/// Returns [`EncodeError`] if `apdu` is not 2 to [`MAX_EXTENDED_COMMAND`] bytes long.
pub fn extended_command(apdu: &[u8]) -> Result<Packets, EncodeError> {
    if apdu.len() > MAX_EXTENDED_COMMAND {
        return Err(EncodeError::TooLong { bytes: apdu.len() });
    }
    Ok(chain(Nad::Reader, false, apdu, MAX_APDU)?.collect())
}

/// Builds the packets of a command to a VIPA reader (readers: 3.1). No packet ends the command with exactly
/// [`MAX_APDU`] bytes, because the vendor's program marks every such packet as chained.
///
/// # Errors
/// Returns [`EncodeError`] if `apdu` is not 2 to [`MAX_EXTENDED_COMMAND`] bytes long.
pub fn vipa_command(apdu: &[u8]) -> Result<Packets, EncodeError> {
    if apdu.len() > MAX_EXTENDED_COMMAND {
        return Err(EncodeError::TooLong { bytes: apdu.len() });
    }
    let size = if apdu.len().is_multiple_of(MAX_APDU) { MAX_APDU - 1 } else { MAX_APDU };
    Ok(chain(Nad::Reader, false, apdu, size)?.collect())
}

/// Builds the packets of an answer or unsolicited message (with its status bytes), for the simulator. Each packet has
/// at most `apdu_size` bytes of it, from 3 to [`MAX_APDU`]. With a size of 2, a message of odd length would end in an
/// invalid packet of one byte.
///
/// # Errors
/// Returns [`EncodeError::TooShort`] if `message` has fewer than [`MIN_APDU`] bytes.
pub fn chain(
    nad: Nad,
    unsolicited: bool,
    message: &[u8],
    apdu_size: usize,
) -> Result<impl Iterator<Item = Packet> + '_, EncodeError> {
    let apdu_size = apdu_size.clamp(MIN_APDU + 1, MAX_APDU);
    if message.len() < MIN_APDU {
        return Err(EncodeError::TooShort { bytes: message.len() });
    }
    let mut rest = message;
    Ok(std::iter::from_fn(move || {
        let mut size = rest.len().min(apdu_size);
        if rest.len() - size == 1 {
            size -= 1;
        }
        let (now, later) = rest.split_at(size);
        rest = later;
        (size > 0).then(|| packet(nad, unsolicited, !later.is_empty(), now))
    }))
}

/// Builds one packet. `apdu` must have [`MIN_APDU`] to [`MAX_APDU`] bytes.
fn packet(nad: Nad, unsolicited: bool, more: bool, apdu: &[u8]) -> Packet {
    let nad = match nad {
        Nad::Reader => 1,
        Nad::Base => 2,
    };
    let pcb = if unsolicited { PCB_UNSOLICITED } else { 0 } | if more { PCB_CHAINED } else { 0 };
    let len = u8::try_from(apdu.len()).expect("at most MAX_APDU");
    let mut packet = Packet::from_array([nad, pcb, len]);
    packet.extend_from_slice(apdu).expect("MAX_PACKET holds MAX_APDU");
    packet.push(lrc(&packet)).expect("MAX_PACKET holds the LRC");
    packet
}
