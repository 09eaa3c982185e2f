//! The framing of NEO2 ([`neo2_link`](pos_reader_link::neo2_link)).

use crate::family::{Framed, Framing, RawMessage};
use pos_reader_link::neo2_link::{MIN_FRAME, Neo2Decoder, Neo2Direction, Neo2LinkFault, Neo2Received};

/// The framing of a reader's responses.
pub(super) struct Neo2Framing(Neo2Decoder);

impl Default for Neo2Framing {
    fn default() -> Self {
        Self(Neo2Decoder::new(Neo2Direction::Response))
    }
}

impl Framing for Neo2Framing {
    fn feed(&mut self, bytes: &[u8], on: &mut dyn FnMut(Framed<'_>)) {
        self.0.feed(bytes, |received| framed(&received, on));
    }

    fn silence(&mut self, on: &mut dyn FnMut(Framed<'_>)) {
        self.0.silence(|received| framed(&received, on));
    }

    fn is_unfinished(&self) -> bool {
        self.0.is_unfinished()
    }

    fn forget(&mut self) {
        *self = Self::default();
    }
}

fn framed(received: &Neo2Received<'_>, on: &mut dyn FnMut(Framed<'_>)) {
    on(match received {
        Neo2Received::Frame(frame) => Framed::Message(RawMessage {
            unsolicited: false,
            codes: [frame.command, frame.sub_or_status],
            bytes: frame.data,
        }),
        // Fewer bytes than the shortest frame are noise, with which no message can be lost.
        Neo2Received::Fault(fault @ Neo2LinkFault::Garbage { bytes }) => {
            Framed::Fault { fault, may_be_a_message: *bytes >= MIN_FRAME }
        }
    });
}
