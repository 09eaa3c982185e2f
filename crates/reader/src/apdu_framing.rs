//! The framing of the families that use [`apdu_link`](pos_reader_link::apdu_link), and their commands as frames.

use crate::family::{CommandFrames, Encoded, Framed, Framing, RawMessage};
use crate::outbox::Frame;
use pos_reader_link::apdu_link::{Decoder, EncodeError, LinkFault, MIN_PACKET, Nad, Packets, Profile, Received};

/// The framing with a family's profile of the link.
pub(crate) struct ApduFraming {
    profile: Profile,
    decoder: Decoder,
}

impl ApduFraming {
    pub(crate) fn new(profile: Profile) -> Self {
        Self { profile, decoder: Decoder::new(profile) }
    }
}

impl Framing for ApduFraming {
    fn feed(&mut self, bytes: &[u8], on: &mut dyn FnMut(Framed<'_>)) {
        self.decoder.feed(bytes, |received| framed(&received, on));
    }

    fn silence(&mut self, on: &mut dyn FnMut(Framed<'_>)) {
        self.decoder.silence(|received| framed(&received, on));
    }

    fn is_unfinished(&self) -> bool {
        self.decoder.is_unfinished()
    }

    fn forget(&mut self) {
        self.decoder = Decoder::new(self.profile);
    }
}

fn framed(received: &Received<'_>, on: &mut dyn FnMut(Framed<'_>)) {
    on(match received {
        // The agent sends commands to the reader only. So an answer of the base or the external PIN pad ends none of
        // them.
        Received::Message(message) if message.nad != Nad::Reader && !message.unsolicited => return,
        Received::Message(message) => {
            Framed::Message(RawMessage { unsolicited: message.unsolicited, codes: [0; 2], bytes: message.bytes })
        }
        Received::Fault(fault) => Framed::Fault {
            fault,
            // Fewer bytes than the shortest packet are noise, with which no message can be lost.
            may_be_a_message: !matches!(fault, LinkFault::Garbage { bytes: 0..MIN_PACKET }),
        },
    });
}

/// Returns a command from its packets.
pub(crate) fn encoded(name: &'static str, packets: &Packets) -> Result<Encoded, EncodeError> {
    let mut frames = CommandFrames::new();
    for packet in packets {
        let too_long = EncodeError::TooLong { bytes: packet.len() };
        let frame = Frame::from_slice(packet).map_err(|_| too_long)?;
        frames.push(frame).map_err(|_| too_long)?;
    }
    Ok(Encoded { name, frames })
}
