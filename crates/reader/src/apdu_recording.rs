//! The recorded line of the families that use [`apdu_link`].

use crate::apdu;
use crate::family::RawMessage;
use crate::recording::{FirstPiece, KnownElement, PartContent, RecordedPart, RecordedWire, known};
use pos_reader_link::apdu_link::{self, FirstPacket, HEAD, Nad, Profile};
use pos_terms::emv::{Tag, tlv};

/// The line of a family.
pub(crate) struct ApduRecording {
    /// The profile of the link.
    pub(crate) profile: Profile,
    /// The family's own elements.
    pub(crate) own: &'static [KnownElement],
    /// The family's check for clear card data.
    pub(crate) is_clear: fn(&[u8]) -> bool,
}

impl RecordedWire for ApduRecording {
    fn first(&self, bytes: &[u8]) -> FirstPiece {
        match apdu_link::first_packet(bytes, self.profile) {
            FirstPacket::Incomplete => FirstPiece::Incomplete,
            FirstPacket::Wrong => FirstPiece::Garbage,
            FirstPacket::Packet { nad, pcb, len } => FirstPiece::Frame {
                length: HEAD + len + 1,
                data: HEAD..HEAD + len,
                sender: u8::from(nad == Nad::Base),
                unsolicited: apdu_link::is_unsolicited(pcb),
                codes: [0; 2],
                more: apdu_link::has_more(pcb),
            },
        }
    }

    fn parts<'a>(&self, message: &RawMessage<'a>, see: &mut dyn FnMut(RecordedPart<'a>)) -> bool {
        let Some((body, status)) = message.bytes.split_last_chunk::<2>() else { return false };
        see(RecordedPart::of("status", status, PartContent::Kept));
        match body {
            // A PIN entry has such a result.
            [_] => {
                see(RecordedPart::of("result", body, PartContent::Kept));
                true
            }
            _ if object_parts(body, self.own, see) => true,
            // Which message is malformed, follows from its template.
            [template, ..] if Tag(u32::from(*template)).is_constructed() => {
                see(RecordedPart::of("malformed", &body[..body.len().min(2)], PartContent::Kept));
                false
            }
            _ => false,
        }
    }

    fn is_clear(&self, message: &RawMessage<'_>) -> bool {
        message.bytes.split_last_chunk::<2>().is_some_and(|(body, _)| (self.is_clear)(body))
    }

    fn renew(&self, frame: &mut [u8]) {
        apdu_link::renew_lrc(frame);
    }
}

/// Calls `see` with the elements of a message, up to the first fault. `own` is the table of the family. Returns whether
/// the message is well-formed.
fn object_parts<'a>(body: &'a [u8], own: &[KnownElement], see: &mut dyn FnMut(RecordedPart<'a>)) -> bool {
    apdu::each(body, &mut |object| see(part(&object, own, apdu::has_objects(object.tag)))).is_ok()
}

/// Returns an element as a part.
fn part<'a>(object: &tlv::Tlv<'a>, own: &[KnownElement], has_objects: bool) -> RecordedPart<'a> {
    let (name, content) = known(object.tag, own);
    let content = if has_objects { PartContent::Inside } else { content };
    let head = &object.raw[..object.raw.len() - object.value.len()];
    RecordedPart { head, tag: Some(object.tag), name, value: object.value, content }
}
